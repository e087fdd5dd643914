"""A graph as DOT text, for Graphviz."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradwrap.drawing.graph import DETACHED, FROZEN, GROUP, LEAF, OPERATION, OUTPUT

if TYPE_CHECKING:
    from gradwrap.drawing.graph import Graph

__all__ = ["to_dot"]

STYLES = {
    LEAF: 'style="rounded,filled" fillcolor="#d9f0d9" color="#3a7d3a"',
    FROZEN: 'style="rounded,filled" fillcolor="#e6e6e6" color="#777777"',
    DETACHED: 'style="rounded,filled,dashed" fillcolor="#f6f6f6" color="#777777"',
    OPERATION: 'style="filled" fillcolor="#dde8f7" color="#4a6fa5"',
    GROUP: 'style="filled" fillcolor="#fbeed3" color="#a8782a" peripheries=2',
    OUTPUT: 'style="rounded,filled" fillcolor="#ffffff" color="#111111" penwidth=2',
}
HEAD = """\
    graph [label={title} labelloc=t fontname="Helvetica" fontsize=12 ranksep=0.3 nodesep=0.25]
    node [shape=box fontname="Helvetica" fontsize=11 margin="0.12,0.06" height=0.3]
    edge [fontname="Helvetica" fontsize=9 color="#555555" fontcolor="#555555" arrowsize=0.6]"""


def to_dot(graph: Graph) -> str:
    """The text of a directed graph."""
    keys = {id(box): f"n{index}" for index, box in enumerate(graph.boxes)}
    lines = ["digraph {", HEAD.format(title=quoted(graph.title))]
    for box in graph.boxes:
        label = quoted("\n".join(box.text))
        lines.append(f"    {keys[id(box)]} [label={label} {STYLES[box.kind]}]")
    for arrow in graph.arrows:
        label = f" label={quoted(' ' + arrow.label)}" if arrow.label else ""
        dashed = " style=dashed" if arrow.dashed else ""
        options = f" [{(label + dashed).strip()}]" if label or dashed else ""
        lines.append(f"    {keys[id(arrow.source)]} -> {keys[id(arrow.target)]}{options}")
    return "\n".join([*lines, "}"])


def quoted(text: str) -> str:
    """A string of DOT."""
    coded = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    # Graphviz reads HTML entities in labels
    return f'"{coded.replace("&", "&amp;")}"'
