"""Nodes of calls that are not in the table: a custom function, a checkpoint.

Such a node has one formula, which returns the cotangents of all inputs of the call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.array.variable import variable_class
from gradwrap.core.calls.bound import NodeOp
from gradwrap.core.calls.record import new_node
from gradwrap.core.graph.node import JOINT
from gradwrap.core.graph.outputs import OutputsMeta, output_node
from gradwrap.core.levels.wrapper import make_wrapper
from gradwrap.core.library.backend import backend_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.core.graph.node import Leaf, Node
    from gradwrap.core.library.backend import Backend
    from gradwrap.core.table.rule import Rule
    from gradwrap.core.values.space import Meta


class OpaqueOp(NodeOp):
    """The binding of the node of a custom function, which is never called as an operation.

    The engine neither converts nor checks what its formula takes and returns. Unless
    `materializes`, the formula gets None for an output at which no cotangent arrived.
    """

    def __init__(
        self, name: str, backend: Backend, rule: Rule | None = None, *, materializes: bool = True
    ) -> None:
        super().__init__(name, backend, variable_class(backend))
        self.rule = rule
        self.materializes = materializes


def output_nodes(
    op: NodeOp,
    parents: tuple[Node | Leaf | None, ...],
    formula: Callable[..., Any],
    saved: tuple[Any, ...],
    metas: Sequence[Meta],
) -> list[Node]:
    """Make one node for a call; if it has several outputs, also a selecting node for each."""
    if len(metas) == 1:
        return [new_node([parents, formula, saved, JOINT], metas[0], op)]
    outputs: Any = OutputsMeta(metas)
    source = new_node([parents, formula, saved, JOINT], outputs, op)
    return [output_node(source, index, meta) for index, meta in enumerate(metas)]


def recorded_outputs(  # noqa: PLR0913  all there is to a call
    op: NodeOp,
    parents: tuple[Node | Leaf | None, ...],
    formula: Callable[..., Any],
    saved: tuple[Any, ...],
    outs: Sequence[Any],
    places: Sequence[int],
    level: int,
) -> list[Any]:
    """Return a call's outputs; those at `places` get nodes that record it at a level."""
    backends = [backend_of(outs[place]) for place in places]
    metas = [b.meta(outs[place], level) for b, place in zip(backends, places, strict=True)]
    wrapped = list(outs)
    nodes = output_nodes(op, parents, formula, saved, metas)
    for place, backend, node in zip(places, backends, nodes, strict=True):
        wrapped[place] = make_wrapper(variable_class(backend), outs[place], node)
    return wrapped
