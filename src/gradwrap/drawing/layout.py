"""Places for the boxes and arrows of a picture, in rows along the flow of data.

These are the steps of Sugiyama, Tagawa and Toda. Each box gets a row: below the boxes that it is
computed from, and right above the first box that uses it. The items of a row are sorted by the mean
place of their neighbours, so that few arrows cross. Then each item moves to the mean place of its
neighbours, as far as there is room. An arrow that passes through a row has an item there. Arrows
that hand over the same value share a line as far as they can.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect, insort
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from gradwrap.drawing.graph import Arrow, Box, Graph

CHARACTER, LINE = 6.7, 14.0
"""The size of a character of the text, in pixels."""
MARGIN, BESIDE, BELOW = 8.0, 20.0, 36.0
"""The space inside a box, between the boxes of a row, and between rows."""
SWEEPS = 24
STRAIGHT = 8.0
"""The weight of an arrow that passes through a row; a box has 1."""
SIDE_BY_SIDE = 12.0
"""The distance of arrows between the same two boxes."""


class Spot(NamedTuple):
    """The place of a box."""

    middle: float
    top: float
    width: float
    height: float


class Stroke(NamedTuple):
    """A part of an arrow, from a box or a row to the next row, or to a box there."""

    x: tuple[float, float]
    y: tuple[float, float, float, float]
    """Where it begins, where that row ends, where the next row begins, where it ends itself."""
    arrow: Arrow
    has_label: bool
    head: int
    """1 for an arrowhead at the end, -1 for one at the start, 0 for none."""


class Layout(NamedTuple):
    """The places of all boxes and arrows."""

    spots: dict[Box, Spot]
    strokes: list[Stroke]
    width: float
    height: float


class _Part(NamedTuple):
    upper: int
    lower: int
    arrow: Arrow
    has_label: bool
    head: int


def columns(text: str) -> int:
    """Return the width of a text in characters; a Chinese character, for example, counts as two."""
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text)


def laid_out(graph: Graph) -> Layout:
    """Find a place for each box and arrow."""
    boxes = _sorted(graph)
    row_of, parts = _parts(graph, boxes)
    rows: list[list[int]] = [[] for _ in range(max(row_of) + 1)]
    for item, number in enumerate(row_of):
        rows[number].append(item)
    above: list[list[int]] = [[] for _ in row_of]
    below: list[list[int]] = [[] for _ in row_of]
    for part in parts:
        below[part.upper].append(part.lower)
        above[part.lower].append(part.upper)
    rows = _with_few_crossings(rows, above, below)
    sizes = [_size(box) for box in boxes] + [(4.0, 0.0)] * (len(row_of) - len(boxes))
    middle = _middles(rows, above, below, [width for width, _ in sizes])
    tops, bottoms, y = list[float](), list[float](), 0.0
    for row in rows:
        tops.append(y)
        bottoms.append(y + max(sizes[item][1] for item in row))
        y = bottoms[-1] + BELOW
    spots: dict[Box, Spot] = {}
    starts, ends = [tops[row] for row in row_of], [tops[row] for row in row_of]
    for item, box in enumerate(boxes):
        (width, height), number = sizes[item], row_of[item]
        top = (tops[number] + bottoms[number] - height) / 2
        spots[box] = Spot(middle[item], top, width, height)
        starts[item], ends[item] = spots[box].top + height, spots[box].top
    strokes: list[Stroke] = []
    parallel: dict[tuple[int, int], int] = {}
    for upper, lower, arrow, has_label, head in parts:
        nth = parallel[upper, lower] = parallel.get((upper, lower), -1) + 1
        apart = SIDE_BY_SIDE * (-nth // 2 if nth % 2 else nth // 2)
        x = (middle[upper] + apart, middle[lower] + apart)
        heights = (starts[upper], bottoms[row_of[upper]], tops[row_of[lower]], ends[lower])
        strokes.append(Stroke(x, heights, arrow, has_label, head))
    right = max(x + width / 2 for x, (width, _) in zip(middle, sizes, strict=True))
    return Layout(spots, strokes, right, bottoms[-1])


def _size(box: Box) -> tuple[float, float]:
    width = CHARACTER * max(map(columns, box.text)) + 2 * MARGIN
    return max(width, 40.0), LINE * len(box.text) + MARGIN


def _sorted(graph: Graph) -> list[Box]:
    """Return the boxes, each after those that it is computed from.

    Arrows may form a circle, such as those between a group of operations and its own detached
    results. Then one of them points backwards.
    """
    sources: dict[Box, list[Box]] = {box: [] for box in graph.boxes}
    for arrow in graph.arrows:
        sources[arrow.target].append(arrow.source)
    done: dict[Box, None] = {}
    seen: set[Box] = set()
    for box in graph.boxes:
        stack = [box]
        while stack:
            top = stack[-1]
            waiting = [] if top in seen else [box for box in sources[top] if box not in seen]
            seen.add(top)
            stack += reversed(waiting)
            if not waiting:
                done[stack.pop()] = None
    return list(done)


def _parts(graph: Graph, boxes: list[Box]) -> tuple[list[int], list[_Part]]:
    """Return the row of each item, boxes first, and the parts of all arrows."""
    place = {box: index for index, box in enumerate(boxes)}
    ends = [sorted((place[arrow.source], place[arrow.target])) for arrow in graph.arrows]
    row_of = [0] * len(boxes)
    for upper, lower in sorted(ends):
        row_of[lower] = max(row_of[lower], row_of[upper] + 1)
    nearest: dict[int, int] = {}
    for upper, lower in sorted(ends, reverse=True):  # each box moves down to its first use
        nearest[upper] = min(row_of[lower] - 1, nearest.get(upper, len(boxes)))
        row_of[upper] = nearest[upper]
    parts: list[_Part] = []
    items: dict[object, int] = {}
    labelled: set[object] = set()
    for arrow, (upper, lower) in zip(graph.arrows, ends, strict=True):
        goes_back = place[arrow.source] == lower
        line = id(arrow) if goes_back else (upper, arrow.label, arrow.dashed)
        labels = (line not in labelled, False)
        labelled.add(line)
        last = upper
        for row in range(row_of[upper] + 1, row_of[lower]):
            item = items.get((line, row))
            if item is None:
                item = items[line, row] = len(row_of)
                row_of.append(row)
                head = -1 if goes_back and last == upper else 0
                parts.append(_Part(last, item, arrow, labels[last != upper], head))
            last = item
        head = 1 if not goes_back else -1 if last == upper else 0
        parts.append(_Part(last, lower, arrow, labels[last != upper], head))
    return row_of, parts


def _with_few_crossings(
    rows: list[list[int]], above: Sequence[list[int]], below: Sequence[list[int]]
) -> list[list[int]]:
    """Sort each row by the mean place of the neighbours above, or below, in turns."""
    place = {item: float(index) for row in rows for index, item in enumerate(row)}
    found = [rows]
    for sweep in range(SWEEPS if _crossings(rows, below) else 0):
        near = below if sweep % 2 else above
        rows = list(rows)
        for index in range(len(rows))[:: -1 if sweep % 2 else 1]:
            means = zip(_means(rows[index], near, place), rows[index], strict=True)
            rows[index] = [item for _, item in sorted(means, key=lambda pair: pair[0])]
            place |= {item: float(index) for index, item in enumerate(rows[index])}
        found.append(rows)
    return min(found, key=lambda rows: _crossings(rows, below))


def _means(
    row: list[int], near: Sequence[list[int]], place: Mapping[int, float]
) -> Iterator[float]:
    """Yield the mean place of each item's neighbours, or its own place if it has none."""
    for item in row:
        places = [place[other] for other in near[item] or [item]]
        yield sum(places) / len(places)


def _crossings(rows: list[list[int]], below: Sequence[list[int]]) -> int:
    """Count the pairs of arrows that cross."""
    count = 0
    for row, after in pairwise(rows):
        place = {item: index for index, item in enumerate(after)}
        seen: list[int] = []
        for item in row:
            reached = sorted(place[other] for other in below[item])
            count += sum(len(seen) - bisect(seen, target) for target in reached)
            for target in reached:
                insort(seen, target)
    return count


def _middles(
    rows: list[list[int]],
    above: Sequence[list[int]],
    below: Sequence[list[int]],
    width: Sequence[float],
) -> list[float]:
    """Move each item to the mean place of its neighbours, as far as its row has room."""
    middle = dict.fromkeys(range(len(width)), 0.0)
    boxes = sum(1 for size in width if size > 4.0)
    both = [up + down for up, down in zip(above, below, strict=True)]
    for sweep in range(SWEEPS):
        near = (above, below, both)[sweep % 3]
        for row in rows[:: -1 if sweep % 3 == 1 else 1]:
            gaps = [(width[one] + width[other]) / 2 + BESIDE for one, other in pairwise(row)]
            wanted = _means(row, near, middle)
            weights = [1.0 if item < boxes else STRAIGHT for item in row]
            for item, x in zip(row, _apart(wanted, gaps, weights), strict=True):
                middle[item] = x
    left = min(middle[item] - size / 2 for item, size in enumerate(width))
    return [x - left for x in middle.values()]


def _apart(wanted: Iterable[float], gaps: list[float], weights: list[float]) -> list[float]:
    """Return the places nearest to those wanted, in least squares, that keep these distances.

    Without the distances, places that are out of order get their common mean (isotonic regression).
    """
    offsets = [0.0]
    for gap in gaps:
        offsets.append(offsets[-1] + gap)
    blocks: list[tuple[float, float, int]] = []  # the mean, the weight and the number of items
    for x, offset, weight in zip(wanted, offsets, weights, strict=True):
        mean, total, count = x - offset, weight, 1
        while blocks and blocks[-1][0] >= mean:
            before, more, items = blocks.pop()
            mean = (mean * total + before * more) / (total + more)
            total, count = total + more, count + items
        blocks.append((mean, total, count))
    means = [mean for mean, _, count in blocks for _ in range(count)]
    return [mean + offset for mean, offset in zip(means, offsets, strict=True)]
