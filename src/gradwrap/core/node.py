"""The recorded graph: a node per operation, a leaf per array to be differentiated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.modes import next_sequence_number

if TYPE_CHECKING:
    from collections.abc import Callable
    from weakref import ReferenceType

    from gradwrap.core.meta import Meta
    from gradwrap.core.record import BoundOp
    from gradwrap.core.variable import Variable

    Edge = tuple[Any, Callable[..., Any], tuple[Any, ...], int]

__all__ = ["EDGE", "JOINT", "Leaf", "Node"]

EDGE = 4
"""The length of an edge."""

JOINT = -1
"""The argument index of an edge whose formula gives the cotangents of all arguments at once."""


class Node:
    """One recorded operation.

    An edge leads to each tracked argument: its node, the formula of its cotangent, what that
    formula saves (a tuple, or the array alone if it is one), and the argument's index. The first
    edge lies in the node itself, further ones one after the other in `more`: the fewer containers
    a graph is made of, the less time the garbage collector spends on it. `seq` falls with time.
    `meta` describes the output.
    """

    __slots__ = (
        "__weakref__",
        "formula",
        "index",
        "meta",
        "more",
        "op",
        "parent",
        "saved",
        "seq",
    )

    def __init__(  # noqa: PLR0913  made once per operation, by position
        self,
        parent: Any,
        formula: Any,
        saved: Any,
        index: int,
        meta: Meta,
        op: BoundOp,
        more: tuple[Any, ...] | None = None,
    ) -> None:
        self.seq = next_sequence_number()
        self.parent = parent
        self.formula = formula
        self.saved = saved
        self.index = index
        self.meta = meta
        self.op = op
        self.more = more

    @property
    def edges(self) -> list[Edge]:
        """All edges; none once the graph is freed."""
        if self.formula is None:
            return []
        flat = (self.parent, self.formula, self.saved, self.index, *(self.more or ()))
        return [
            (parent, formula, saved if type(saved) is tuple else (saved,), index)
            for parent, formula, saved, index in zip(*[iter(flat)] * EDGE, strict=True)
        ]

    def name(self) -> str:
        """The operation's name as PyTorch writes it: `MultiplyBackward`."""
        words = self.op.name.replace(".", "_").split("_")
        return "".join(word.capitalize() for word in words) + "Backward"

    def free(self) -> None:
        """Let go of the arguments' nodes and of what the formulas saved."""
        self.parent = self.formula = self.saved = self.more = None


class Leaf:
    """An array to be differentiated: where cotangents arrive.

    On the tape, `owner` refers to the variable whose `grad` accumulates them. It is a weak
    reference, and the gradient is kept by the variable: with `create_graph`, a gradient leads
    back to its leaf, and a leaf that held it would be a cycle.
    """

    __slots__ = ("__weakref__", "meta", "owner", "seq")

    def __init__(self, meta: Meta, owner: ReferenceType[Variable[Any]] | None = None) -> None:
        self.seq = next_sequence_number()
        self.meta = meta
        self.owner = owner
