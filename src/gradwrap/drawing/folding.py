"""Folding of large graphs: repetitions are drawn once, and the rest in groups.

A group is a run of operations that follow each other in the order of execution. So arrows between
groups never go round in a circle, whatever is grouped.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from gradwrap.drawing.graph import GROUP, OPERATIONS, OUTPUT, TIMES, Arrow, Box, Graph, all_saved

if TYPE_CHECKING:
    from collections.abc import Sequence

_Integers: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.int64]]"

LONGEST_PERIOD = 64
FEWEST_REPEATS = 3
SHOWN_OPERATIONS = 6
GROUPS_PER_LIMIT = 10
ALWAYS = 200
"""The number of boxes to keep to where folding is asked for without a number."""


def folded(graph: Graph, fold: int | bool) -> Graph:
    """Return a small graph unchanged, or a large graph with fewer boxes."""
    if fold is False or (fold is not True and len(graph.boxes) <= fold):
        return graph
    limit = ALWAYS if fold is True else max(int(fold), 1)
    while found := _Repetitions(graph).found():
        graph = _collapsed(graph, found)
    if len(graph.boxes) > limit:
        graph = _collapsed(graph, _in_groups(graph, limit))
    return graph


def _operations(graph: Graph) -> list[Box]:
    return [box for box in graph.boxes if box.kind in OPERATIONS]


def _bare(box: Box) -> str:
    """Return the operation's name without the user's name for the result."""
    return box.name.rpartition(" = ")[2]


def _shown(names: Sequence[str]) -> tuple[str, ...]:
    """Return the first of these names, and the number of the others."""
    more = len(names) - SHOWN_OPERATIONS
    return (*names[:SHOWN_OPERATIONS], *([f"… {more} more"] if more > 0 else []))


def _grouped(members: Sequence[Box], above: Sequence[str], below: Sequence[str]) -> dict[Box, Box]:
    """Map each operation of a run to the box that replaces the run."""
    size = sum(box.size for box in members)
    text = (*above, f"{size} operations", *below)
    return dict.fromkeys(members, Box(GROUP, text[0], text[1:], all_saved(members), size))


# Repetitions --------------------------------------------------------------------------------------


class _Repetitions:
    """A search for repeated patterns of operations, arguments included."""

    def __init__(self, graph: Graph) -> None:
        self.operations = _operations(graph)
        self.position = {box: index for index, box in enumerate(self.operations)}
        self.incoming: dict[Box, list[Arrow]] = {box: [] for box in graph.boxes}
        for arrow in graph.arrows:
            self.incoming[arrow.target].append(arrow)

    def found(self) -> dict[Box, Box]:
        """Map each operation of a repeated pattern to the box for the whole run.

        The shortest patterns come first, so that a loop in a loop shows as one.
        """
        shortest, best = self._likely_periods()
        only = (np.where(shortest == period, period, 0) for period in np.unique(shortest) if period)
        for periods in (*only, best):
            if new := self._runs(periods):
                return new
        return {}

    def _runs(self, periods: _Integers) -> dict[Box, Box]:
        new: dict[Box, Box] = {}
        start = 0
        while start < len(self.operations):
            period = int(periods[start])
            count = self._count(start, period) if period else 0
            stop = start + 1
            if count >= FEWEST_REPEATS:
                stop = start + count * period
                pattern = self.operations[start : start + period]
                text = " → ".join(_shown([_bare(box) for box in pattern]))
                text = text if period == 1 else f"({text})"
                new |= _grouped(self.operations[start:stop], [f"{count} {TIMES} {text}"], [])
            start = stop
        return new

    def _likely_periods(self) -> tuple[_Integers, _Integers]:
        """Return for each operation the possible length of a repeated pattern; 0 for none.

        The shortest, and that of the longest run. Only names and the number of arguments are
        compared here, for all operations at once.
        """
        numbers: dict[tuple[str, tuple[str, ...], int], int] = {}
        kinds = np.array(
            [
                numbers.setdefault((_bare(box), box.lines, len(self.incoming[box])), len(numbers))
                for box in self.operations
            ],
            dtype=np.int64,
        )
        count = len(kinds)
        shortest, best, longest = (np.zeros(count, dtype=np.int64) for _ in range(3))
        for period in range(1, min(LONGEST_PERIOD, count // FEWEST_REPEATS) + 1):
            differs = np.flatnonzero(kinds[:-period] != kinds[period:])
            ends = np.append(differs, count - period)  # where agreement with the next period ends
            places = np.arange(count - period)
            agreeing = ends[np.searchsorted(ends, places)] - places
            repeats = agreeing // period + 1
            covered = np.where(repeats >= FEWEST_REPEATS, repeats * period, 0)
            best[places[covered > longest[places]]] = period
            longest[places] = np.maximum(longest[places], covered)
            shortest[places[(covered > 0) & (shortest[places] == 0)]] = period
        return shortest, best

    def _count(self, start: int, period: int) -> int:
        """Count how often the pattern is repeated."""
        last = len(self.operations) - period
        for index in range(start, last):
            earlier, later = (self.incoming[self.operations[i]] for i in (index, index + period))
            first = index < start + period
            if len(earlier) != len(later) or not all(
                self._correspond(a, b, start, period, first=first)
                for a, b in zip(earlier, later, strict=True)
            ):
                return (index - start) // period + 1
        return max(last - start, 0) // period + 1

    def _correspond(self, a: Arrow, b: Arrow, start: int, period: int, *, first: bool) -> bool:
        """Tell whether two arguments play the same part in two repetitions."""
        if a.label != b.label:
            return False
        if a.source is b.source:
            return True
        place_a, place_b = self.position.get(a.source), self.position.get(b.source)
        if place_a is not None and place_b is not None and place_b - place_a == period:
            return True
        if place_a is None and place_b is None:
            return a.source.kind == b.source.kind and a.source.lines == b.source.lines
        # what goes round: from outside at first, from the repetition before later on
        is_outside = place_a is None or place_a < start
        return first and is_outside and place_b is not None and start <= place_b < start + period


# Groups of whatever is there ----------------------------------------------------------------------


def _in_groups(graph: Graph, limit: int) -> dict[Box, Box]:
    """Divide all operations into equal groups, in the order of execution, with a box for each."""
    operations = _operations(graph)
    length = -(-len(operations) // max(limit // GROUPS_PER_LIMIT, 1))
    new: dict[Box, Box] = {}
    for start in range(0, len(operations), length):
        members = operations[start : start + length]
        counts = Counter(map(_bare, members)).most_common()
        lines = _shown([f"{name} {TIMES} {n}" if n > 1 else name for name, n in counts])
        new |= _grouped(members, [], lines)
    return new


# One box for many ---------------------------------------------------------------------------------


def _collapsed(graph: Graph, new: dict[Box, Box]) -> Graph:
    """Draw each run as one box, and merge the arrays that only one run uses."""
    new = new | _merged_arrays(graph, new)
    boxes = list(dict.fromkeys(new.get(box, box) for box in graph.boxes))
    boxes.sort(key=lambda box: (box.kind in OPERATIONS) + 2 * (box.kind == OUTPUT))
    arrows: dict[tuple[Box, Box, str], Arrow] = {}
    for arrow in graph.arrows:
        source, target = (new.get(box, box) for box in (arrow.source, arrow.target))
        if source is not target:
            merged = Arrow(source, target, arrow.label, dashed=arrow.dashed)
            arrows.setdefault((source, target, arrow.label), merged)
    return Graph(boxes, list(arrows.values()))


def _merged_arrays(graph: Graph, new: dict[Box, Box]) -> dict[Box, Box]:
    """Merge alike arrays that only one run uses to one box."""
    users: dict[Box, set[Box]] = {}
    sources: dict[Box, set[Box]] = {}
    for arrow in graph.arrows:
        users.setdefault(arrow.source, set()).add(new.get(arrow.target, arrow.target))
        sources.setdefault(arrow.target, set()).add(new.get(arrow.source, arrow.source))
    alike: dict[tuple[object, ...], list[Box]] = {}
    groups = set(new.values())
    for box in graph.boxes:
        used_by = users.get(box, set())
        is_array = box.kind not in (*OPERATIONS, OUTPUT)
        if is_array and used_by <= groups and len(used_by) == 1:
            key = (box.kind, box.lines, *used_by, frozenset(sources.get(box, ())))
            alike.setdefault(key, []).append(box)
    merged: dict[Box, Box] = {}
    for boxes in alike.values():
        names = " … ".join(dict.fromkeys((boxes[0].name, boxes[-1].name)))
        if len(boxes) > 1:
            size = sum(box.size for box in boxes)
            one = Box(boxes[0].kind, f"{size} {TIMES} {names}", boxes[0].lines, size=size)
            merged |= dict.fromkeys(boxes, one)
    return merged
