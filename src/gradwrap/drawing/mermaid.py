"""A graph as Mermaid text, which GitHub, GitLab and notebooks render."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gradwrap.drawing.graph import DETACHED, FROZEN, GROUP, LEAF, OPERATION, OUTPUT

if TYPE_CHECKING:
    from gradwrap.drawing.graph import Graph

__all__ = ["to_mermaid"]

SHAPES = {
    LEAF: "([{}])",
    FROZEN: "([{}])",
    DETACHED: "([{}])",
    OPERATION: "[{}]",
    GROUP: "[[{}]]",
    OUTPUT: "([{}])",
}
STYLES = {
    LEAF: "fill:#d9f0d9,stroke:#3a7d3a,color:#111",
    FROZEN: "fill:#e6e6e6,stroke:#777,color:#111",
    DETACHED: "fill:#f6f6f6,stroke:#777,color:#111,stroke-dasharray:4 3",
    OPERATION: "fill:#dde8f7,stroke:#4a6fa5,color:#111",
    GROUP: "fill:#fbeed3,stroke:#a8782a,color:#111",
    OUTPUT: "fill:#fff,stroke:#111,color:#111,stroke-width:2px",
}
ENTITIES = {
    "#": "#35;",
    "&": "#amp;",
    '"': "#quot;",
    "<": "#lt;",
    ">": "#gt;",
    "`": "#96;",
    "*": "#42;",
    "\\": "#92;",
}
OUTER_UNDERSCORE = re.compile(r"(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
LIST_MARK = re.compile(r"^(\d+)\.|^([-+])(?= )")


def to_mermaid(graph: Graph) -> str:
    """The text of a flowchart."""
    keys = {id(box): f"n{index}" for index, box in enumerate(graph.boxes)}
    lines = ["---", f"title: {graph.title}", "---", "flowchart TD"]
    for box in graph.boxes:
        text = "<br/>".join(escaped(line) for line in box.text)
        shape = SHAPES[box.kind].format(f'"{text}"')
        lines.append(f"    {keys[id(box)]}{shape}:::{box.kind}")
    for arrow in graph.arrows:
        line = "-.->" if arrow.dashed else "-->"
        label = f'|"{escaped(arrow.label)}"|' if arrow.label else ""
        lines.append(f"    {keys[id(arrow.source)]} {line}{label} {keys[id(arrow.target)]}")
    used = {box.kind for box in graph.boxes}
    lines += [f"    classDef {kind} {style}" for kind, style in STYLES.items() if kind in used]
    return "\n".join(lines)


def escaped(text: str) -> str:
    """Text that Mermaid shows as it is: it takes some for Markdown, and quotes for the end."""
    one_line = " ".join(text.split())
    coded = "".join(ENTITIES.get(character, character) for character in one_line)
    coded = OUTER_UNDERSCORE.sub("#95;", coded)
    return LIST_MARK.sub(lambda m: f"{m[1]}#46;" if m[1] else f"#{ord(m[2])};", coded)
