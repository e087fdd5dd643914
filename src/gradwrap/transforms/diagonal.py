"""The first steps of a Jacobian by rows, while its rows are those of a diagonal matrix.

The cotangents that a Jacobian starts from are the unit vectors. An elementwise function keeps them
what they are but for a factor each, so one vector of factors goes back through it in place of a
matrix; and a matrix-vector product then scales the rows of its matrix. Most Jacobians end in such
steps: the last layers of what they differentiate.
"""

from __future__ import annotations

from typing import Any

from gradwrap.core.backend import backend_of
from gradwrap.core.backward import backward_pass
from gradwrap.core.dynamic import type_of
from gradwrap.core.hooks import leaf_hooks
from gradwrap.core.levels import inspecting
from gradwrap.core.node import Node
from gradwrap.transforms.batches import batch_of

__all__ = ["DiagonalStart", "diagonal_start"]


class DiagonalStart:
    """Where the rows are no longer diagonal: a node, and the factors or rows that arrive there."""

    def __init__(self, node: Any, factors: Any, rows: Any) -> None:
        self.node = node
        self.factors = factors
        self.rows = rows

    def arrived(self, first: int, last: int, level: int, *, keep: bool) -> dict[Any, Any]:
        """What arrives at the leaves for a stretch of the rows, as one batch of this level."""
        rows = batch_of(self._some_rows(first, last), level)
        found = backward_pass([(self.node, rows)], retain_graph=keep)
        leaf_hooks(found)
        return found

    def rows_at(self, leaf: Any, first: int, last: int) -> Any:
        """The rows, where they have come to this leaf already, and nobody looks at them."""
        is_there = self.rows is not None and self.node is leaf and leaf.hooks is None
        return self._some_rows(first, last) if is_there else None

    def _some_rows(self, first: int, last: int) -> Any:
        if self.rows is not None:
            is_all = first == 0 and last == self.rows.shape[0]
            return self.rows if is_all else self.rows[first:last, ...]
        factors = self.factors
        backend = backend_of(factors)
        xp = backend.xp
        size = 1
        for length in factors.shape:
            size *= length
        meta = backend.meta(factors, 0)
        unit = xp.eye(last - first, size, k=first, dtype=meta.dtype, device=meta.device)
        scaled = unit * xp.reshape(factors, (1, size))
        return xp.reshape(scaled, (last - first, *factors.shape))


def diagonal_start(output: Any) -> DiagonalStart:
    """Go back from an output through the elementwise functions of one argument it ends in."""
    node: Any = output._node
    factors = output._backend.ones_like(output._data)
    while type(node) is Node and _keeps_diagonal(
        node
    ):  # one that ran elsewhere has a class of its own
        factors = _pulled(node, factors)
        node = node.parent
    rows = _rows_of_product(node, factors) if type(node) is Node else None
    return DiagonalStart(node if rows is None else node.parent, factors, rows)


def _keeps_diagonal(node: Any) -> bool:
    """Whether an operation works on each element of one argument by itself."""
    rule = getattr(node.op, "rule", None)
    return (
        rule is not None
        and rule.kind.is_elementwise
        and not node.op.special
        and node.op.hooks is None
        and inspecting.get() is None
        and not node.more
        and not node.meta.is_complex
        and node.parent.meta.shape == node.meta.shape
        and node.parent.meta.dtype == node.meta.dtype
    )


def _pulled(node: Any, factors: Any) -> Any:
    saved = node.saved if type_of(node.saved) is tuple else (node.saved,)
    pulled = node.formula(node.op.namespaces[type(factors)], factors, *saved)
    if tuple(pulled.shape) == node.meta.shape:
        return pulled
    return node.op.namespaces[type(pulled)].broadcast_to(pulled, node.meta.shape)


def _rows_of_product(node: Any, factors: Any) -> Any:
    """The rows that leave the product of a matrix and the vector that is differentiated."""
    if node.op.name not in ("matmul", "linalg.matmul") or node.more or node.index != 1:
        return None
    if node.op.hooks is not None or node.op.watch is not None or inspecting.get() is not None:
        return None
    if node.meta.is_complex or len(node.parent.meta.shape) != 1 or len(node.meta.shape) != 1:
        return None
    matrix = node.saved[0]
    if matrix.dtype != node.parent.meta.dtype:
        return None
    return factors[:, None] * matrix
