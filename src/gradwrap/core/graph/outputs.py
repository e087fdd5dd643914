"""Operations of several outputs: one node for all, and a selecting node for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.calls.bound import NodeOp
from gradwrap.core.graph.node import Node, make_node
from gradwrap.core.library.scatter import OutputPart

if TYPE_CHECKING:
    from gradwrap.core.values.space import Meta


class OutputsMeta(tuple[Any, ...]):
    """The descriptions of several outputs."""

    __slots__ = ()

    @property
    def is_complex(self) -> bool:
        return any(meta.is_complex for meta in self)

    @property
    def level(self) -> int:
        return int(self[0].level)


SELECT = NodeOp("output")
"""The binding of the nodes that select one of several outputs; nothing is ever called."""
SELECT.selects = SELECT.parts = True


def output_node(source: Node, index: int, meta: Meta) -> Node:
    """Make the node of one output of several."""
    return make_node(Node, source, select_output, (index,), 0, meta, SELECT)


def select_output(xp: Any, g: Any, index: int) -> OutputPart:  # noqa: ARG001  a formula's form
    """Pass the cotangent of one output to the node of all outputs."""
    return OutputPart(index, g)
