"""The recorded graph: a node per operation, a leaf per array to be differentiated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.modes import next_sequence_number

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwrap.core.meta import Meta
    from gradwrap.core.record import BoundOp

    Edge = tuple[Any, Callable[..., Any], tuple[Any, ...], int]

__all__ = ["JOINT", "Leaf", "Node"]

JOINT = -1
"""The argument index of an edge whose formula gives the cotangents of all arguments at once."""


class Node:
    """One recorded operation.

    `edges` holds, for every tracked argument, its node, the formula of its cotangent, what that
    formula saves, and the argument's index. `seq` falls with time. `meta` describes the output.
    """

    __slots__ = ("__weakref__", "edges", "meta", "op", "seq")

    def __init__(self, edges: tuple[Edge, ...], meta: Meta, op: BoundOp) -> None:
        self.seq = next_sequence_number()
        self.edges: tuple[Edge, ...] | None = edges
        self.meta = meta
        self.op = op


class Leaf:
    """An array to be differentiated: where cotangents arrive and, on the tape, accumulate."""

    __slots__ = ("__weakref__", "grad", "meta", "seq")

    def __init__(self, meta: Meta) -> None:
        self.seq = next_sequence_number()
        self.meta = meta
        self.grad: Any = None
