"""A graph as SVG, without another program; its colours follow the reader's light or dark scheme."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from gradwrap.drawing.graph import KINDS
from gradwrap.drawing.layout import BESIDE, CHARACTER, LINE, MARGIN, columns, laid_out

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradwrap.drawing.graph import Box, Graph
    from gradwrap.drawing.layout import Spot, Stroke

NOT_IN_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
TITLE = 28.0
# Boxes have colours of their own. Arrows have that of the text around the picture; in a file there
# is no such text, so the picture chooses a grey that can be seen on light and on dark pages.
STYLE = """\
.gradwrap-graph{font:11px ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace}
.gradwrap-graph .arrow path{fill:none;stroke:currentColor}
.gradwrap-graph .arrow .head{fill:currentColor;stroke:none}
.gradwrap-graph .arrow text,.gradwrap-graph .title{fill:currentColor;font-size:10px}
.gradwrap-graph .dashed{stroke-dasharray:4 3}
.gradwrap-graph .box text{fill:#111;text-anchor:middle}
svg.gradwrap-graph:root{color:#666}
"""
DARK = """\
.gradwrap-graph .box text{fill:#eee}
.gradwrap-graph .output rect{stroke:#eee}
svg.gradwrap-graph:root{color:#aaa}
"""


def to_svg(graph: Graph) -> str:
    """Write a graph as a picture."""
    layout = laid_out(graph)
    width = max(layout.width, CHARACTER * columns(graph.title)) + 2 * BESIDE
    height = layout.height + TITLE + BESIDE
    left = (width - layout.width) / 2
    used = {box.kind for box in graph.boxes}
    style = STYLE + "".join(
        f".gradwrap-graph .{kind.name} rect{{fill:{kind.fill};stroke:{kind.border}}}\n"
        for kind in KINDS
        if kind in used
    )
    dark = DARK + "".join(
        f".gradwrap-graph .{kind.name} rect{{fill:{kind.dark}}}\n" for kind in KINDS if kind in used
    )
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="gradwrap-graph" role="img" {size}>',
        f"<title>{escape(graph.title)}</title>",
        f"<style>{style}@media (prefers-color-scheme:dark){{{dark}}}</style>",
        f'<text class="title" x="{BESIDE:.0f}" y="16">{escape(graph.title)}</text>',
        f'<g transform="translate({left:.1f} {TITLE:.0f})">',
        *(text for stroke in layout.strokes for text in _stroke(stroke)),
        *(text for box, spot in layout.spots.items() for text in _box(box, spot)),
        "</g>",
        "</svg>\n",
    ]
    return NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", "\n".join(lines))


def _stroke(stroke: Stroke) -> Iterator[str]:
    (x1, x2), (start, y1, y2, end) = stroke.x, stroke.y
    middle = (y1 + y2) / 2
    curve = f"V{y1:.1f}C{x1:.1f} {middle:.1f} {x2:.1f} {middle:.1f} {x2:.1f} {y2:.1f}V{end:.1f}"
    dashed = ' class="dashed"' * stroke.arrow.dashed
    yield f'<g class="arrow"><path{dashed} d="M{x1:.1f} {start:.1f}{curve}"/>'
    if stroke.head:
        x, tip = (x2, end) if stroke.head > 0 else (x1, start)
        back = -6 * stroke.head
        yield f'<path class="head" d="M{x:.1f} {tip:.1f}l-3 {back}h6z"/>'
    if stroke.has_label:
        x = x1 + 0.35 * (x2 - x1) + 4
        yield f'<text x="{x:.1f}" y="{middle:.1f}">{escape(stroke.arrow.label)}</text>'
    yield "</g>"


def _box(box: Box, spot: Spot) -> Iterator[str]:
    kind = box.kind
    left, width, height = spot.middle - spot.width / 2, spot.width, spot.height
    look = f' rx="{10 if kind.is_round else 2}"'
    look += ' stroke-dasharray="4 3"' * kind.is_dashed + ' stroke-width="2"' * kind.is_bold
    yield f'<g class="box {kind.name}">'
    for inset in (0, 3)[: 1 + kind.is_double]:
        size = f'width="{width - 2 * inset:.1f}" height="{height - 2 * inset:.1f}"'
        yield f'<rect x="{left + inset:.1f}" y="{spot.top + inset:.1f}" {size}{look}/>'
    for index, line in enumerate(box.text):
        y = spot.top + MARGIN / 2 + LINE * (index + 0.75)
        text = escape(" ".join(line.split()))
        yield f'<text x="{spot.middle:.1f}" y="{y:.1f}">{text}</text>'
    yield "</g>"
