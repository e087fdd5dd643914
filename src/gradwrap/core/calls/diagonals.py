"""Operations on batches that are diagonal matrices and are stored as their diagonals.

The columns of a Jacobian start from the unit vectors: from a matrix of which all that matters are n
numbers. Scaling keeps it diagonal, and a product with a matrix scales the rows of that matrix. Only
other operations make the matrix itself, by asking for the data.

Off the diagonal are zeros, whatever a factor is: of NaN or infinity times such a zero, which is
the derivative of one element with respect to another that it does not depend on, nothing is seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.levels.wrapper import level_of
from gradwrap.core.library.backend import PYTHON_SCALARS
from gradwrap.core.values.dynamic import type_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwrap.core.calls.bound import BoundOp


def on_diagonals(bound: BoundOp) -> Callable[..., Any] | None:
    """Make the operation on diagonal matrices; it returns None if it needs their full data.

    It takes the arrays, then the statics, by position. The row names the arguments at which zero
    gives zero, whatever the others are, or has a word for it.
    """
    said = bound.rule.diagonal
    if said is None:
        return None
    make = _WORDS.get(said)
    return _scaled(bound, frozenset(said.split())) if make is None else make(bound)


def diagonal_of(value: Any) -> Any:
    """Return the diagonal of a batch that is stored as one, or None."""
    node = getattr(value, "_node", None)
    return getattr(node, "diagonal", None)


def _kept(bound: BoundOp, like: Any, diagonal: Any) -> Any:
    """Make a batch that is stored as a diagonal, or return None if the spaces differ."""
    node = like._node
    if diagonal.shape != node.diagonal.shape or diagonal.dtype != node.diagonal.dtype:
        return None
    return bound.variable_class._of_diagonal(
        type(node)(node.meta, node.size, node.fallback, diagonal)
    )


def _made(bound: BoundOp, like: Any, data: Any) -> Any:
    """Make an ordinary batch from its full data."""
    node = like._node
    return bound.variable_class._of_batch(node.meta.level, node, data)


def _rank_of_plain(bound: BoundOp, value: Any) -> int | None:
    """Return the number of axes of a value that all examples share; None for other values."""
    kind = type_of(value)
    if value is None or kind not in bound.backend.plain_types:
        return None
    return 0 if kind in PYTHON_SCALARS else len(value.shape)


def _scaled(bound: BoundOp, names: frozenset[str]) -> Callable[..., Any]:
    """Make the operation on the diagonals alone: zeros off the diagonal stay zero."""
    arrays = bound.rule.arrays

    def scaled(*values: Any) -> Any:
        diagonals = [diagonal_of(value) for value in values]
        batch = next(v for v, d in zip(values, diagonals, strict=True) if d is not None)
        for name, value, diagonal in zip(arrays, values, diagonals, strict=True):
            if diagonal is None:
                is_scale = _rank_of_plain(bound, value) in (0, 1)
            else:
                is_scale = name in names and level_of(value) == level_of(batch)
            if not is_scale:
                return None
        pairs = zip(values, diagonals, strict=True)
        return _kept(bound, batch, bound.native(*(v if d is None else d for v, d in pairs)))

    return scaled


def _one_of(x1: Any, x2: Any) -> tuple[Any, Any, Any]:
    """Return the diagonal batch (the second if both are), its diagonal, and the other value."""
    diagonal = diagonal_of(x2)
    return (x1, diagonal_of(x1), x2) if diagonal is None else (x2, diagonal, x1)


def _add(bound: BoundOp) -> Callable[..., Any]:
    def add(x1: Any, x2: Any) -> Any:
        batch, diagonal, other = _one_of(x1, x2)
        node = getattr(other, "_node", None)
        if node is None or type(other) is not bound.variable_class:
            return None
        own = batch._node.meta
        if node.meta.level != own.level or node.meta.shape != own.shape:
            return None
        further = diagonal_of(other)
        if further is not None:
            return _kept(bound, batch, bound.native(further, diagonal))
        if node.meta.dtype != own.dtype:
            return None
        return _made(bound, batch, bound.backend.plus_diagonal(other._value, diagonal))

    return add


def _matmul(bound: BoundOp) -> Callable[..., Any]:
    """Multiply by a diagonal D: `D @ B` scales the rows of B, and `A @ D` the columns of A."""
    multiply = bound.backend.xp.multiply

    def matmul(x1: Any, x2: Any) -> Any:
        batch, diagonal, other = _one_of(x1, x2)
        is_left = batch is x1
        rank = _rank_of_plain(bound, other)
        if rank not in (1, 2) or other.shape[0 if is_left else -1] != diagonal.shape[0]:
            return None
        if rank == 1:
            return _made(bound, batch, multiply(diagonal, other))
        xp = bound.backend.xp
        rows = other if is_left else xp.matrix_transpose(other)
        if batch._node.is_unit and rows.dtype == diagonal.dtype:
            return _made(bound, batch, rows)
        return _made(bound, batch, multiply(xp.expand_dims(diagonal, axis=-1), rows))

    return matmul


def _sum(bound: BoundOp) -> Callable[..., Any]:
    def sum_of(x: Any, axis: Any, dtype: Any, keepdims: Any) -> Any:
        if axis not in (None, 0, -1) or dtype is not None or keepdims:
            return None
        return _made(bound, x, diagonal_of(x))

    return sum_of


_WORDS: dict[str, Callable[[BoundOp], Callable[..., Any]]] = {
    "add": _add,
    "matmul": _matmul,
    "sum": _sum,
}
