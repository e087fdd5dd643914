"""The recorded graph: a node for each operation, a leaf for each array to be differentiated.

A node refers to its arguments' nodes, so a graph leads from results back to leaves. `grad_fn` shows
nodes to their users, under PyTorch's names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from gradwrap.core.graph.grad_fn import GradFn
from gradwrap.core.levels.levels import next_sequence_number
from gradwrap.core.observing.handles import Hooks
from gradwrap.core.values.dynamic import TUPLE, type_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from weakref import ReferenceType

    from gradwrap.core.calls.bound import NodeOp
    from gradwrap.core.values.space import Meta

    Edge = tuple[Any, Callable[..., Any], tuple[Any, ...], int]

EDGE = 4
"""The length of an edge."""

JOINT = -1
"""The argument index of an edge whose formula gives the cotangents of all arguments at once."""


class Node(GradFn):
    """One recorded operation.

    An edge leads to each tracked argument: its node, the formula of its cotangent, the values that
    the formula saves (a tuple, or a lone array), and the argument's index. The first edge lies in
    the node itself, further ones one after the other in `more`: the fewer containers a graph is
    made of, the less time the garbage collector spends on it. `seq` falls with time. `meta`
    describes the output.
    """

    __slots__ = ("__weakref__", "formula", "index", "meta", "more", "op", "parent", "saved", "seq")

    seq: int
    parent: Any
    formula: Any
    saved: Any
    index: int
    meta: Meta
    op: NodeOp
    more: tuple[Any, ...] | None

    @property
    def edges(self) -> list[Edge]:
        """All edges; none once the graph is freed."""
        if self.formula is None:
            return []
        flat = (self.parent, self.formula, self.saved, self.index, *(self.more or ()))
        return [
            (parent, formula, saved if type_of(saved) is tuple else (saved,), index)
            for parent, formula, saved, index in zip(*[iter(flat)] * EDGE, strict=True)
        ]

    @property
    def arity(self) -> int:
        """The number of arguments; zero once the graph is freed."""
        edges = self.edges
        if not edges or not isinstance(edges[0][0], TUPLE):
            rule = self.op.rule
            fixed = 0 if not edges or rule is None or rule.variadic else len(rule.arrays)
            return max((fixed, *(index + 1 for _, _, _, index in edges)))
        return len(edges[0][0])

    def name(self) -> str:
        words = self.op.name.replace(".", "_").split("_")
        return "".join(word[:1].upper() + word[1:] for word in words) + "Backward"

    @property
    def next_functions(self) -> tuple[tuple[GradFn | None, int], ...]:
        found: list[tuple[GradFn | None, int]] = [(None, 0)] * self.arity
        for parent, _, _, index in self.edges:
            if index == JOINT:
                found = [(None, 0) if one is None else one.shown for one in parent]
            else:
                found[index] = parent.shown
        return tuple(found)

    @property
    def shown(self) -> tuple[GradFn, int]:
        """The node that `grad_fn` shows, and the number of its output.

        A node that only selects one of several outputs is not shown.
        """
        if self.op.selects and self.formula is not None:
            return self.parent, self.saved[0]
        return self, 0

    def own_hooks(self) -> Hooks:
        """Return the hooks of this node, in a binding of its own."""
        if self.op.hooks is None:
            self.op = self.op.changed(hooks=Hooks())
        return self.op.hooks  # type: ignore[no-any-return]  # set above

    def free(self) -> None:
        """Release the arguments' nodes and the values that the formulas saved."""
        self.parent = self.formula = self.saved = self.more = None


N = TypeVar("N", bound=Node)


def make_node(  # noqa: PLR0913  the fields, by position
    kind: type[N],
    parent: Any,
    formula: Any,
    saved: Any,
    index: int,
    meta: Meta,
    op: NodeOp,
    more: tuple[Any, ...] | None = None,
) -> N:
    """Make a node and set its fields here, since calling an `__init__` would double the time."""
    node = kind()
    node.seq = next_sequence_number()
    node.parent = parent
    node.formula = formula
    node.saved = saved
    node.index = index
    node.meta = meta
    node.op = op
    node.more = more
    return node


class Leaf(GradFn):
    """An array to be differentiated: where cotangents arrive.

    On the tape, `owner` refers to the variable whose `grad` accumulates them. It is a weak
    reference, and the gradient is kept by the variable: with `create_graph`, a gradient leads
    back to its leaf, and a leaf that held it would be a cycle.
    """

    __slots__ = ("__weakref__", "hooks", "meta", "owner", "seq")

    def __init__(self, meta: Meta, owner: ReferenceType[Any] | None = None) -> None:
        self.seq: int = next_sequence_number()
        self.meta: Meta = meta
        self.owner: ReferenceType[Any] | None = owner
        self.hooks: Hooks | None = None

    def name(self) -> str:
        return "AccumulateGrad"

    def own_hooks(self) -> Hooks:
        """Return the hooks of this leaf."""
        if self.hooks is None:
            self.hooks = Hooks()
        return self.hooks

    @property
    def variable(self) -> Any:
        """The leaf variable; None if it is gone."""
        return None if self.owner is None else self.owner()

    @property
    def next_functions(self) -> tuple[tuple[GradFn | None, int], ...]:
        return ()

    @property
    def shown(self) -> tuple[GradFn, int]:
        return self, 0
