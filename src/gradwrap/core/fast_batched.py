"""Operations on a batch whose data are native arrays: the usual call, by itself.

The batched passes behind Jacobians and per-example gradients are mostly made of these, and on small
arrays what decides is the Python around them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.backend import PYTHON_SCALARS
from gradwrap.core.diagonals import diagonal_of, on_diagonals
from gradwrap.core.kinds import type_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwrap.core.record import BoundOp

__all__ = ["fast_batched"]


def fast_batched(bound: BoundOp, general: Callable[..., Any]) -> Callable[..., Any] | None:
    """A quicker call of an operation, if there is one; it leaves the unusual to the general one."""
    rule = bound.rule
    if bound.backend.depth or rule.native:
        return None
    usual: Callable[..., Any] | None = None
    if rule.kind == "elementwise" and not rule.statics:
        if len(rule.arrays) == 1:
            usual = _unary(bound, general)
        elif len(rule.arrays) == 2:
            usual = _binary(bound, general)
    special = on_diagonals(bound)
    return usual if special is None else _with_diagonals(special, usual or general)


def _with_diagonals(special: Callable[..., Any], usual: Callable[..., Any]) -> Callable[..., Any]:
    """One of several ways for diagonal matrices, where an argument is one."""

    def call(*args: Any, **kwargs: Any) -> Any:
        for arg in args:
            if diagonal_of(arg) is not None:
                found = special(*args, **kwargs)
                return usual(*args, **kwargs) if found is None else found
        return usual(*args, **kwargs)

    return call


def _unary(bound: BoundOp, general: Callable[..., Any]) -> Callable[..., Any]:
    cls = bound.variable_class
    native = bound.native

    def unary(x: Any) -> Any:
        if type(x) is not cls or x._node is None:
            return general(x)
        data = x._data
        return _like(cls, native(data), data, x._node)

    return unary


def _binary(bound: BoundOp, general: Callable[..., Any]) -> Callable[..., Any]:
    cls = bound.variable_class
    native = bound.native
    plain = bound.backend.plain_types

    def binary(x1: Any, x2: Any) -> Any:
        node1 = x1._node if type(x1) is cls else None
        node2 = x2._node if type(x2) is cls else None
        if node1 is not None and node2 is not None:
            one, two = x1._data, x2._data
            if node1.meta.level == node2.meta.level and len(one.shape) == len(two.shape):
                return _like(cls, native(one, two), one, node1)
        elif node1 is not None and _fits(x2, x1, plain):
            return _like(cls, native(x1._data, x2), x1._data, node1)
        elif node2 is not None and _fits(x1, x2, plain):
            return _like(cls, native(x1, x2._data), x2._data, node2)
        return general(x1, x2)

    return binary


def _fits(value: Any, batched: Any, plain: frozenset[type]) -> bool:
    """Whether a plain value broadcasts against each example as it does against the whole batch."""
    kind = type_of(value)
    return kind in PYTHON_SCALARS or (
        kind in plain and value is not None and len(value.shape) < len(batched._data.shape)
    )


def _like(cls: Any, out: Any, data: Any, node: Any) -> Any:
    """A result with the batch axis first; the description of a result like an operand is reused."""
    if node.diagonal is None and out.shape == data.shape and out.dtype == data.dtype:
        return cls(out, node)
    return cls._of_batch(node.meta.level, node, out)
