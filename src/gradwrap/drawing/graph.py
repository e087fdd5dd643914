"""A plain description of a picture: boxes, and arrows along the flow of data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable


class Kind(NamedTuple):
    """A kind of box, and how it is drawn."""

    name: str
    fill: str
    border: str
    dark: str
    """The fill on a dark page."""
    is_round: bool = True
    is_dashed: bool = False
    is_double: bool = False
    is_bold: bool = False


LEAF = Kind("leaf", "#d9f0d9", "#3a7d3a", "#1e4620")
FROZEN = Kind("frozen", "#e6e6e6", "#777", "#3a3a3a")
DETACHED = Kind("detached", "#f6f6f6", "#777", "#2b2b2b", is_dashed=True)
OPERATION = Kind("operation", "#dde8f7", "#4a6fa5", "#22395c", is_round=False)
GROUP = Kind("group", "#fbeed3", "#a8782a", "#553d12", is_round=False, is_double=True)
OUTPUT = Kind("output", "#fff", "#111", "#111", is_bold=True)
KINDS = (LEAF, FROZEN, DETACHED, OPERATION, GROUP, OUTPUT)
OPERATIONS = (OPERATION, GROUP)
TIMES = "\N{MULTIPLICATION SIGN}"


@dataclass(eq=False, slots=True)
class Box:
    """One box: an array, an operation, or a group of either."""

    kind: Kind
    name: str
    """The user's name for it, or the name of the operation."""
    lines: tuple[str, ...] = ()
    """The text below the name."""
    saved: dict[int, int] = field(default_factory=dict[int, int])
    """The size in bytes of each array that it keeps for backward, by the array's identity."""
    size: int = 1
    """The number of arrays or operations that a group stands for."""

    @property
    def text(self) -> tuple[str, ...]:
        """All lines, starting with the name."""
        saved = (f"saves {in_bytes(sum(self.saved.values()))}",) if self.saved else ()
        return (self.name, *self.lines, *saved)


@dataclass(eq=False, slots=True)
class Arrow:
    """An arrow from a box to one that is computed from it."""

    source: Box
    target: Box
    label: str
    """The shape of what is handed over."""
    dashed: bool = False


class Graph(NamedTuple):
    """Boxes, operations among them in the order of execution, and the arrows between them."""

    boxes: list[Box]
    arrows: list[Arrow]

    @property
    def title(self) -> str:
        """A title with the numbers of boxes, and the bytes that the graph keeps alive."""
        operations = sum(box.size for box in self.boxes if box.kind in OPERATIONS)
        leaves = sum(box.size for box in self.boxes if box.kind is LEAF)
        counted = f"{operations} operation{'' if operations == 1 else 's'}"
        counted += f", {leaves} {'leaf' if leaves == 1 else 'leaves'}"
        return f"{counted}, {in_bytes(sum(all_saved(self.boxes).values()))} saved"


def all_saved(boxes: Iterable[Box]) -> dict[int, int]:
    """Return the sizes of the arrays that boxes keep, counting each array once."""
    saved: dict[int, int] = {}
    for box in boxes:
        saved |= box.saved
    return saved


def in_bytes(size: int) -> str:
    """Write a size in bytes for people: 24 B, 1.5 kB, 3.2 MB."""
    power = next((power for power in range(3) if size < 1000 ** (power + 1)), 3)
    value = size / 1000**power
    digits = 0 if power == 0 or value >= 99.5 else 1
    return f"{value:.{digits}f} {('B', 'kB', 'MB', 'GB')[power]}"
