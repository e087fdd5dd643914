"""Large graphs: repetitions are shown once, and what is still too much, in groups.

A group is a run of operations that follow each other in the order of execution. So arrows between
groups never go round in a circle, whatever is grouped.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from gradwrap.drawing.graph import GROUP, OPERATION, OUTPUT, TIMES, Arrow, Box, Graph, all_saved

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["folded"]

_Integers: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.int64]]"

LONGEST_PERIOD = 64
FEWEST_REPEATS = 3
SHOWN_OPERATIONS = 6
GROUPS_PER_LIMIT = 10
ALWAYS = 200
"""The number of boxes to keep to where folding is asked for without a number."""


def folded(graph: Graph, fold: int | bool) -> Graph:
    """The graph itself if it is small, or one that says the same with fewer boxes."""
    if fold is False or (fold is not True and len(graph.boxes) <= fold):
        return graph
    limit = ALWAYS if fold is True else max(int(fold), 1)
    while found := _repetitions(graph):
        graph = _collapsed(graph, [_repeated(*one) for one in found])
    if len(graph.boxes) > limit:
        graph = _collapsed(graph, _in_groups(graph, limit))
    return graph


def _operations(graph: Graph) -> list[Box]:
    return [box for box in graph.boxes if box.kind in {OPERATION, GROUP}]


class _Run:
    """Operations to be shown as one box, and how."""

    def __init__(self, members: Sequence[Box], box: Box) -> None:
        self.members = members
        self.box = box


# Repetitions --------------------------------------------------------------------------------------


def _repeated(pattern: Sequence[Box], members: Sequence[Box]) -> _Run:
    count = len(members) // len(pattern)
    names = [_bare(box) for box in pattern[:SHOWN_OPERATIONS]]
    if len(pattern) > SHOWN_OPERATIONS:
        names.append(f"… {len(pattern) - SHOWN_OPERATIONS} more")
    text = " → ".join(names)
    title = f"{count} {TIMES} {text}" if len(pattern) == 1 else f"{count} {TIMES} ({text})"
    size = sum(box.size for box in members)
    box = Box(GROUP, title, [f"{size} operations"], all_saved(members), size)
    return _Run(members, box)


def _bare(box: Box) -> str:
    """The operation's name without what the user calls its result."""
    return box.name.rpartition(" = ")[2]


def _repetitions(graph: Graph) -> list[tuple[Sequence[Box], Sequence[Box]]]:
    """Runs in which a pattern of operations is repeated: the pattern, and all of the run.

    The shortest patterns come first, so that a loop in a loop shows as one.
    """
    operations = _operations(graph)
    incoming = _incoming(graph)
    shortest, best = _likely_periods(operations, incoming)
    only = (np.where(shortest == period, period, 0) for period in np.unique(shortest) if period)
    for periods in (*only, best):
        found = list(_runs(operations, incoming, periods))
        if found:
            return found
    return []


def _runs(
    operations: Sequence[Box], incoming: dict[int, list[Arrow]], periods: _Integers
) -> Iterator[tuple[Sequence[Box], Sequence[Box]]]:
    position = {id(box): index for index, box in enumerate(operations)}
    start = 0
    while start < len(operations):
        period = int(periods[start])
        count = _verified(operations, incoming, position, start, period) if period else 0
        if count >= FEWEST_REPEATS:
            stop = start + count * period
            yield operations[start : start + period], operations[start:stop]
            start = stop
        else:
            start += 1


def _incoming(graph: Graph) -> dict[int, list[Arrow]]:
    incoming: dict[int, list[Arrow]] = {id(box): [] for box in graph.boxes}
    for arrow in graph.arrows:
        incoming[id(arrow.target)].append(arrow)
    return incoming


def _likely_periods(
    operations: Sequence[Box], incoming: dict[int, list[Arrow]]
) -> tuple[_Integers, _Integers]:
    """For each operation, how long a pattern that is repeated from there on may be; 0 for none.

    The shortest, and that of the longest run. Only names and the number of arguments are compared
    here, for all operations at once.
    """
    numbers: dict[tuple[str, tuple[str, ...], int], int] = {}
    kinds = np.array(
        [
            numbers.setdefault((_bare(box), box.lines, len(incoming[id(box)])), len(numbers))
            for box in operations
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
        better = np.flatnonzero(covered > longest[: count - period])
        longest[better] = covered[better]
        best[better] = period
        first = np.flatnonzero((covered > 0) & (shortest[: count - period] == 0))
        shortest[first] = period
    return shortest, best


def _verified(
    operations: Sequence[Box],
    incoming: dict[int, list[Arrow]],
    position: dict[int, int],
    start: int,
    period: int,
) -> int:
    """How often the pattern is repeated, arguments included."""
    count = 1
    while start + (count + 1) * period <= len(operations):
        for index in range(start + (count - 1) * period, start + count * period):
            earlier = incoming[id(operations[index])]
            later = incoming[id(operations[index + period])]
            if len(earlier) != len(later) or not all(
                _corresponds(a, b, position, start, period, first=count == 1)
                for a, b in zip(earlier, later, strict=True)
            ):
                return count
        count += 1
    return count


def _corresponds(  # noqa: PLR0913  what is compared, and where
    a: Arrow, b: Arrow, position: dict[int, int], start: int, period: int, *, first: bool
) -> bool:
    """Whether arguments of two repetitions play the same part."""
    if a.label != b.label:
        return False
    if a.source is b.source:
        return True
    place_a, place_b = position.get(id(a.source)), position.get(id(b.source))
    if place_a is not None and place_b is not None and place_b - place_a == period:
        return True
    if place_a is None and place_b is None:
        return a.source.kind == b.source.kind and a.source.lines == b.source.lines
    # what goes round: from outside at first, from the repetition before later on
    is_outside = place_a is None or place_a < start
    return first and is_outside and place_b is not None and start <= place_b < start + period


# Groups of whatever is there ----------------------------------------------------------------------


def _in_groups(graph: Graph, limit: int) -> list[_Run]:
    """Equal shares of all operations, in the order of execution."""
    operations = _operations(graph)
    length = -(-len(operations) // max(limit // GROUPS_PER_LIMIT, 1))
    runs: list[_Run] = []
    for start in range(0, len(operations), length):
        members = operations[start : start + length]
        counts: Counter[str] = Counter()
        for box in members:
            counts[_bare(box)] += 1
        most = counts.most_common(SHOWN_OPERATIONS)
        lines = [f"{name} {TIMES} {number}" if number > 1 else name for name, number in most]
        if len(counts) > len(most):
            lines.append(f"… {len(counts) - len(most)} more")
        size = sum(box.size for box in members)
        box = Box(GROUP, f"{size} operations", lines, all_saved(members), size)
        runs.append(_Run(members, box))
    return runs


# One box for many ---------------------------------------------------------------------------------


def _collapsed(graph: Graph, runs: Sequence[_Run]) -> Graph:
    """The graph with each run as one box, and the arrays that only one run uses as one too."""
    new = {id(member): run.box for run in runs for member in run.members}
    new |= _merged_arrays(graph, new)
    boxes = list({id(box): box for box in (new.get(id(b), b) for b in graph.boxes)}.values())
    boxes.sort(key=lambda box: (box.kind in {OPERATION, GROUP}) + 2 * (box.kind == OUTPUT))
    arrows: dict[tuple[int, int, str], Arrow] = {}
    for arrow in graph.arrows:
        source = new.get(id(arrow.source), arrow.source)
        target = new.get(id(arrow.target), arrow.target)
        if source is not target:
            key = (id(source), id(target), arrow.label)
            arrows.setdefault(key, Arrow(source, target, arrow.label, dashed=arrow.dashed))
    return Graph(boxes, list(arrows.values()))


def _merged_arrays(graph: Graph, new: dict[int, Box]) -> dict[int, Box]:
    """One box for the arrays of one kind and shape that go into one run and nowhere else."""
    users: dict[int, set[int]] = {}
    sources: dict[int, set[int]] = {}
    for arrow in graph.arrows:
        target = new.get(id(arrow.target), arrow.target)
        source = new.get(id(arrow.source), arrow.source)
        users.setdefault(id(arrow.source), set()).add(id(target))
        sources.setdefault(id(arrow.target), set()).add(id(source))
    alike: dict[tuple[object, ...], list[Box]] = {}
    groups = {id(box) for box in new.values()}
    for box in graph.boxes:
        used_by = users.get(id(box), set())
        is_array = box.kind not in {OPERATION, GROUP, OUTPUT}
        if is_array and used_by and used_by <= groups and len(used_by) == 1:
            key = (box.kind, box.lines, *used_by, *sources.get(id(box), ()))
            alike.setdefault(key, []).append(box)
    merged: dict[int, Box] = {}
    for boxes in alike.values():
        if len(boxes) > 1:
            size = sum(box.size for box in boxes)
            first, last = boxes[0].name, boxes[-1].name
            names = first if first == last else f"{first} … {last}"
            one = Box(boxes[0].kind, f"{size} {TIMES} {names}", boxes[0].lines, size=size)
            merged |= {id(box): one for box in boxes}
    return merged
