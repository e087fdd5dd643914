"""Elementwise operations on a batch, where its data are native arrays: the usual call, by itself.

The batched passes behind Jacobians and per-example gradients are mostly made of these, and on small
arrays what decides is the Python around them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.backend import PYTHON_SCALARS

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwrap.core.record import BoundOp

__all__ = ["fast_elementwise"]


def fast_elementwise(bound: BoundOp, general: Callable[..., Any]) -> Callable[..., Any]:
    """A quicker call of an operation, which leaves whatever is unusual to the general one."""
    rule = bound.rule
    if rule.kind != "elementwise" or rule.statics or bound.backend.depth or rule.native:
        return general
    if len(rule.arrays) == 1:
        return _unary(bound, general)
    return _binary(bound, general) if len(rule.arrays) == 2 else general


def _unary(bound: BoundOp, general: Callable[..., Any]) -> Callable[..., Any]:
    cls = bound.variable_class
    native = bound.native
    keeps_diagonal = bound.name == "negative"

    def unary(x: Any) -> Any:
        if type(x) is not cls or x._node is None:
            return general(x)
        data, node = x._data, x._node
        if node.diagonal is not None:
            node = _with_diagonal(node, native(node.diagonal) if keeps_diagonal else None)
        return _like(cls, native(data), data, node)

    return unary


def _binary(bound: BoundOp, general: Callable[..., Any]) -> Callable[..., Any]:
    cls = bound.variable_class
    native = bound.native
    plain = bound.backend.plain_types
    scale = native if bound.name == "multiply" else None

    def binary(x1: Any, x2: Any) -> Any:
        node1 = x1._node if type(x1) is cls else None
        node2 = x2._node if type(x2) is cls else None
        if node1 is not None and node2 is not None:
            one, two = x1._data, x2._data
            if node1.meta.level == node2.meta.level and len(one.shape) == len(two.shape):
                return _like(cls, native(one, two), one, _scaled(node1, None, None))
        elif node1 is not None and _fits(x2, x1, plain):
            return _like(cls, native(x1._data, x2), x1._data, _scaled(node1, scale, x2))
        elif node2 is not None and _fits(x1, x2, plain):
            return _like(cls, native(x1, x2._data), x2._data, _scaled(node2, scale, x1))
        return general(x1, x2)

    return binary


def _fits(value: Any, batched: Any, plain: frozenset[type]) -> bool:
    """Whether a plain value broadcasts against each example as it does against the whole batch."""
    kind = type(value)
    return kind in PYTHON_SCALARS or (
        kind in plain and value is not None and len(value.shape) < len(batched._data.shape)
    )


def _scaled(node: Any, scale: Callable[..., Any] | None, value: Any) -> Any:
    """The description of a batch times a value; of anything else without `scale`."""
    if node.diagonal is None:
        return node
    diagonal = None if scale is None else scale(node.diagonal, value)
    if diagonal is not None and diagonal.shape != node.diagonal.shape:
        diagonal = None
    return _with_diagonal(node, diagonal)


def _with_diagonal(node: Any, diagonal: Any) -> Any:
    return type(node)(node.meta, node.size, node.fallback, diagonal)


def _like(cls: Any, out: Any, data: Any, node: Any) -> Any:
    """A result with the batch axis first; the description of a result like an operand is reused."""
    if out.shape == data.shape and out.dtype == data.dtype:
        return cls(out, node)
    return cls._of_batch(node.meta.level, node, out)  # which knows of no diagonal
