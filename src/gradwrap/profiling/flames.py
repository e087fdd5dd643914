"""The flame graph of a profile, as SVG."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from gradwrap.profiling.report import shown_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gradwrap.profiling.recording import Event

WIDTH, HEIGHT = 1200, 18
"""The width of the picture and the height of one bar."""
NARROW = 0.5
"""A bar narrower than this is left out."""
LETTER = 7
FORWARD, BACKWARD, CODE = "#7fb3d5", "#e59866", "#d7dbdd"


class Bar:
    """A line of code or an operation, with its time and the bars of its calls."""

    def __init__(self, label: str, colour: str = CODE) -> None:
        self.label = label
        self.colour = colour
        self.time: float = 0.0
        self.inner: dict[str, Bar] = {}

    def under(self, label: str, colour: str) -> Bar:
        """Return the bar of a call made by this bar's code."""
        return self.inner.setdefault(label, Bar(label, colour))

    @property
    def depth(self) -> int:
        """The number of bars stacked on each other."""
        return 1 + max((bar.depth for bar in self.inner.values()), default=0)


def collected(events: Iterable[Event], wall: float) -> Bar:
    """Return the bars of all events, under one bar for the whole time."""
    root = Bar("all")
    root.time = wall
    for event in events:
        bar = root
        for code, line in event.place:
            bar = bar.under(f"{code.co_name}:{line}", CODE)
            bar.time += event.own
        label = f"{event.operation}, backward" if event.backward else event.operation
        bar = bar.under(label, BACKWARD if event.backward else FORWARD)
        bar.time += event.own
    return root


def flame_graph(events: Iterable[Event], wall: float) -> str:
    """Return the picture: callers above, operations below, as wide as their time."""
    root = collected(events, wall)
    height = root.depth * HEIGHT
    scale = WIDTH / wall if wall else 0.0
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        'width="100%" font-family="monospace" font-size="11">'
    )
    return "\n".join([head, *_drawn(root, 0.0, 0, scale, wall), "</svg>"])


def _drawn(bar: Bar, x: float, row: int, scale: float, wall: float) -> Iterator[str]:
    width = bar.time * scale
    if width < NARROW:
        return
    share = f" ({bar.time / wall:.1%})" if wall else ""
    text = bar.label[: int(width // LETTER)]
    yield (
        f"<g><title>{escape(bar.label)}: {shown_time(bar.time)}{share}</title>"
        f'<rect x="{x:.1f}" y="{row * HEIGHT}" width="{width:.1f}" height="{HEIGHT - 1}" '
        f'fill="{bar.colour}"/>'
        f'<text x="{x + 2:.1f}" y="{row * HEIGHT + 13}">{escape(text)}</text></g>'
    )
    for inner in sorted(bar.inner.values(), key=lambda one: -one.time):
        yield from _drawn(inner, x, row + 1, scale, wall)
        x += inner.time * scale
