"""A profile as a notebook shows it: table, memory, flame graph, advice."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from gradwrap.profiling.report import HEADER, cells, summary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradwrap.profiling.memory import Moment
    from gradwrap.profiling.report import Row, Whole

ROWS = 20
WIDTH, HEIGHT = 1200, 120
POINTS = 2000
"""The most moments that a picture of the memory has."""


def page(
    found: Sequence[Row],
    whole: Whole,
    *,
    moments: Sequence[Moment],
    said: Sequence[str],
    flames: str,
) -> str:
    """Return the parts of a profile as HTML."""
    head = "".join(f"<th>{name}</th>" for name in HEADER)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in line) + "</tr>"
        for line in cells(found, ROWS, whole)
    )
    advice = "".join(f"<li>{escape(one)}</li>" for one in said)
    return (
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        f"<p>{escape(summary(whole))}</p><ul>{advice}</ul>"
        f"{memory_graph(moments, whole.wall)}{flames}"
    )


def memory_graph(moments: Sequence[Moment], wall: float) -> str:
    """Return the bytes over time as SVG: saved bytes drawn over all bytes in use."""
    top = max(moment.alive for moment in moments) or 1
    thinned = moments[:: max(1, len(moments) // POINTS)]

    def area(sizes: Sequence[int], colour: str) -> str:
        points = ["0,0"]
        before = 0.0
        for moment, size in zip(thinned, sizes, strict=True):
            x = WIDTH * moment.time / wall if wall else 0.0
            points += [f"{x:.1f},{before:.1f}", f"{x:.1f},{HEIGHT * size / top:.1f}"]
            before = HEIGHT * size / top
        points += [f"{WIDTH},{before:.1f}", f"{WIDTH},0"]
        return f'<polygon points="{" ".join(points)}" fill="{colour}"/>'

    alive = area([moment.alive for moment in thinned], "#d7dbdd")
    saved = area([moment.saved for moment in thinned], "#f0b27a")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="100%">'
        f'<g transform="matrix(1 0 0 -1 0 {HEIGHT})">{alive}{saved}</g></svg>'
    )
