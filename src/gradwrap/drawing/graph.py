"""A plain description of a picture: boxes, and arrows in the direction of the data."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "DETACHED",
    "FROZEN",
    "GROUP",
    "LEAF",
    "OPERATION",
    "OUTPUT",
    "TIMES",
    "Arrow",
    "Box",
    "Graph",
    "all_saved",
    "in_bytes",
]

LEAF = "leaf"
FROZEN = "frozen"
DETACHED = "detached"
OPERATION = "operation"
GROUP = "group"
OUTPUT = "output"
TIMES = "\N{MULTIPLICATION SIGN}"


class Box:
    """One box: an array, an operation, or a group of either.

    `name` is what the user calls it, or the operation's name; `lines` stand below; `saved` has the
    size in bytes of each array it keeps for backward; `size` counts what a group stands for.
    """

    __slots__ = ("kind", "lines", "name", "saved", "size")

    def __init__(
        self,
        kind: str,
        name: str,
        lines: Iterable[str] = (),
        saved: dict[int, int] | None = None,
        size: int = 1,
    ) -> None:
        self.kind: str = kind
        self.name: str = name
        self.lines: tuple[str, ...] = tuple(lines)
        self.saved: dict[int, int] = saved or {}
        self.size: int = size

    @property
    def text(self) -> tuple[str, ...]:
        """All lines, the first of which is the name."""
        saved = (f"saves {in_bytes(sum(self.saved.values()))}",) if self.saved else ()
        return (self.name, *self.lines, *saved)


class Arrow:
    """From a box to one that is computed from it; `label` is the shape of what is handed over."""

    __slots__ = ("dashed", "label", "source", "target")

    def __init__(self, source: Box, target: Box, label: str = "", *, dashed: bool = False) -> None:
        self.source: Box = source
        self.target: Box = target
        self.label: str = label
        self.dashed: bool = dashed


class Graph:
    """Boxes, operations among them in the order of execution, and the arrows between them."""

    def __init__(self, boxes: list[Box], arrows: list[Arrow]) -> None:
        self.boxes = boxes
        self.arrows = arrows

    @property
    def title(self) -> str:
        """The numbers of everything, and the bytes of the arrays that the graph keeps alive."""
        counts = {
            what: sum(box.size for box in self.boxes if box.kind in kinds)
            for what, kinds in (("operation", (OPERATION, GROUP)), ("leaf", (LEAF,)))
        }
        operations = f"{counts['operation']} operation{'' if counts['operation'] == 1 else 's'}"
        leaves = f"{counts['leaf']} {'leaf' if counts['leaf'] == 1 else 'leaves'}"
        saved = all_saved(self.boxes)
        return f"{operations}, {leaves}, {in_bytes(sum(saved.values()))} saved"


def all_saved(boxes: Iterable[Box]) -> dict[int, int]:
    """The sizes of the arrays that any of the boxes keeps; each array counts once."""
    saved: dict[int, int] = {}
    for box in boxes:
        saved |= box.saved
    return saved


def in_bytes(size: int) -> str:
    """A size in bytes for people: 24 B, 1.5 kB, 3.2 MB."""
    value = float(size)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            return f"{value:.0f} {unit}" if unit == "B" or value >= 99.5 else f"{value:.1f} {unit}"
        value /= 1000
    raise AssertionError
