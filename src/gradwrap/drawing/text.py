"""A graph as text: Mermaid, which GitHub, GitLab and notebooks render, and DOT, for Graphviz."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gradwrap.drawing.graph import KINDS

if TYPE_CHECKING:
    from gradwrap.drawing.graph import Graph, Kind

MARKUP = re.compile(r"""[#&"<>`*\\]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|^[-+](?= )""")
DOT_HEAD = """\
    graph [label={title} labelloc=t fontname="Helvetica" fontsize=12 ranksep=0.3 nodesep=0.25]
    node [shape=box fontname="Helvetica" fontsize=11 margin="0.12,0.06" height=0.3]
    edge [fontname="Helvetica" fontsize=9 color="#555555" fontcolor="#555555" arrowsize=0.6]"""


def to_mermaid(graph: Graph) -> str:
    """Write a graph as a flowchart of Mermaid."""
    keys = {box: f"n{index}" for index, box in enumerate(graph.boxes)}
    lines = ["---", f"title: {graph.title}", "---", "flowchart TD"]
    for box, key in keys.items():
        text = "<br/>".join(map(_in_mermaid, box.text))
        opening, closing = ("([", "])") if box.kind.is_round else ("[", "]")
        count = 2 if box.kind.is_double else 1
        lines.append(f'    {key}{count * opening}"{text}"{count * closing}:::{box.kind.name}')
    for arrow in graph.arrows:
        line = "-.->" if arrow.dashed else "-->"
        label = _in_mermaid(arrow.label)
        lines.append(f'    {keys[arrow.source]} {line}|"{label}"| {keys[arrow.target]}')
    used = {box.kind for box in graph.boxes}
    lines += [f"    classDef {kind.name} {_mermaid_style(kind)}" for kind in KINDS if kind in used]
    return "\n".join(lines)


def _mermaid_style(kind: Kind) -> str:
    style = f"fill:{kind.fill},stroke:{kind.border},color:#111"
    style += ",stroke-dasharray:4 3" if kind.is_dashed else ""
    return style + (",stroke-width:2px" if kind.is_bold else "")


def _in_mermaid(text: str) -> str:
    """Escape text that Mermaid would take for Markdown, or for the end of a string."""
    coded = MARKUP.sub(lambda m: f"#{ord(m[0])};", " ".join(text.split()))
    return re.sub(r"^(\d+)\.", r"\1#46;", coded)


def to_dot(graph: Graph) -> str:
    """Write a graph as a directed graph of DOT."""
    keys = {box: f"n{index}" for index, box in enumerate(graph.boxes)}
    lines = ["digraph {", DOT_HEAD.format(title=_in_dot(graph.title))]
    for box, key in keys.items():
        label = _in_dot("\n".join(box.text))
        lines.append(f"    {key} [label={label} {_dot_style(box.kind)}]")
    for arrow in graph.arrows:
        options = f"label={_in_dot(' ' + arrow.label)}" + " style=dashed" * arrow.dashed
        lines.append(f"    {keys[arrow.source]} -> {keys[arrow.target]} [{options}]")
    return "\n".join([*lines, "}"])


def _dot_style(kind: Kind) -> str:
    words = ["rounded"] * kind.is_round + ["filled"] + ["dashed"] * kind.is_dashed
    fill, border = _six_digits(kind.fill), _six_digits(kind.border)
    style = f'style="{",".join(words)}" fillcolor="{fill}" color="{border}"'
    return style + " peripheries=2" * kind.is_double + " penwidth=2" * kind.is_bold


def _six_digits(color: str) -> str:
    """Write a colour with six digits, since Graphviz does not know `#777`."""
    return "#" + "".join(2 * digit for digit in color[1:]) if len(color) == 4 else color


def _in_dot(text: str) -> str:
    """Write a string in DOT."""
    coded = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    # Graphviz reads HTML entities in labels
    return f'"{coded.replace("&", "&amp;")}"'
