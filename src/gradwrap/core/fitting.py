"""A cotangent brought into the space of the argument that it belongs to."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwrap.core.checking import check_result
from gradwrap.core.meta import same_shape, size_of
from gradwrap.core.scatter import OutputPart, Scattered

if TYPE_CHECKING:
    from gradwrap.core.meta import Meta
    from gradwrap.core.node import Node

__all__ = ["PARTS", "fit"]

PARTS = frozenset({Scattered, OutputPart})
"""What a formula may give in place of a cotangent: a part of one, that is added into the whole."""


def fit(xp: Any, cotangent: Any, meta: Meta, node: Node, index: int) -> Any:
    """Bring a cotangent into its argument's space: sum over broadcast axes, project the dtype."""
    if type(cotangent) in PARTS:
        return cotangent
    if node.op.check:
        check_result(cotangent, meta, node, index)
    if cotangent.shape != meta.shape:
        cotangent = _unbroadcast(xp, cotangent, meta.shape)
    dtype = cotangent.dtype
    if dtype != meta.dtype:
        if not meta.is_complex and _is_complex(node, dtype):
            cotangent = xp.real(cotangent)
        if cotangent.dtype != meta.dtype:
            cotangent = xp.astype(cotangent, meta.dtype)
    return cotangent


def _is_complex(node: Node, dtype: Any) -> bool:
    """Whether a dtype of the node's library is complex."""
    return bool(node.op.backend.dtype_kind(dtype)[1])


def _unbroadcast(xp: Any, cotangent: Any, shape: tuple[int, ...]) -> Any:
    """Sum over the axes along which an argument of this shape was repeated."""
    have = cotangent.shape
    extra = len(have) - len(shape)
    if extra < 0:  # a formula may leave out axes of length one
        return xp.broadcast_to(cotangent, shape)
    axes = tuple(range(extra)) + tuple(
        axis + extra for axis, length in enumerate(shape) if length == 1 and have[axis + extra] != 1
    )
    if axes:
        cotangent = xp.sum(cotangent, axis=axes, dtype=cotangent.dtype)
    if cotangent.shape == shape:
        return cotangent
    if size_of(cotangent.shape) == size_of(shape):
        return xp.reshape(cotangent, shape)
    if math.isnan(size_of(shape)):  # of a lazy array that does not know its shape
        for axis, length in enumerate(shape):
            if length == 1 and (cotangent.ndim <= axis or cotangent.shape[axis] != 1):
                cotangent = xp.expand_dims(cotangent, axis=axis)
        if same_shape(cotangent.shape, shape):
            return cotangent
    return xp.broadcast_to(cotangent, shape)
