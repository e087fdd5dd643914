"""Which values the operations of the user's code read, at full size and in short loops.

Code may keep results where it likes, and read them at places that depend on the length:
`found[min(len(found) - 1, 75)]`. No number enters an operation then. So in runs that note them,
results have serial numbers. An operation is known by itself and its neighbours. The serial numbers
of the results of all operations that are known by the same, and those of the values that they read
at one place, are a sequence. Loops, and loops of loops, make sequences that grow by the same for
some time, and are described by a few integers. If these are at full size what the short loops tell,
then each operation reads there what the program reads.
"""

from __future__ import annotations

from math import lcm, prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from gradwrap.compiler.extrapolating.sizes import Declined

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.compiler.tracing.noting import Notes

    Point = Sequence[int]
    Integers = Callable[[Sequence[int]], Callable[[Point], int]]

AROUND = 2
"""The neighbours on each side by which an operation is known; short loops have more operations."""
WINDOW = 2 * AROUND + 1
PLACES = 5
"""The values of an operation that are told apart by their places; others, as in lists, are not."""
LAGS = 128
"""The most steps after which a sequence may grow by the same again."""
CLOSE = 8
"""The steps that are tried first."""
FEW = 64
"""The most numbers that are looked at without a search for equal ones."""
ORDERS = (1, 2, 3)
"""How often differences are taken."""
DEEPEST = 6
"""The most loops in each other."""
FACTOR: Any = np.uint64(0x9E3779B97F4A7C15)
POWERS: Any = np.cumprod(np.full(WINDOW, FACTOR))


class _Sequences:
    """The sequences of a run, one after the other, in the order of their keys."""

    def __init__(self, notes: Notes) -> None:
        kinds = [(hash((*one[:2], min(one[2], PLACES))), one[2]) for one in notes.kinds]
        hashes: Any
        counts: Any
        hashes, counts = (np.array(one, np.int64) for one in zip(*kinds, strict=True))
        steps: Any = np.frombuffer(notes.steps, np.int64)
        around: Any = np.pad(hashes[steps].view(np.uint64), AROUND)
        known: Any = sliding_window_view(around, WINDOW) @ POWERS
        each = counts[steps]
        ends: Any = np.cumsum(each)
        begins: Any = np.repeat(ends - each, each)
        places: Any = np.minimum(np.arange(len(begins)) - begins, PLACES)
        last = np.minimum(np.arange(len(notes.results)), PLACES)
        keys: Any = np.repeat(known, each) * FACTOR + places.astype(np.uint64)
        keys = np.concatenate([keys, last.astype(np.uint64)])
        serials = np.frombuffer(notes.serials, np.int64)
        values = np.concatenate([serials, last * 0 + notes.results])
        order = np.argsort(keys, kind="stable")
        keys, values = keys[order], values[order]
        own = np.concatenate([np.repeat(serials[ends - each], each), last * 0])
        self._back: Any = own[order] - values
        is_first = np.append(True, keys[1:] != keys[:-1])
        self.keys: Any = keys[is_first]
        self._starts: Any = np.append(np.flatnonzero(is_first), len(keys))
        self._values: Any = values
        self.firsts: Any = values[is_first]
        inside = ~is_first[1:]
        rows = (np.cumsum(is_first) - 1)[1:][inside]
        self.by, self.times, self._row = _runs(np.diff(values)[inside], rows)
        self.counts: Any = np.bincount(self._row, minlength=len(self.keys))
        """The number of runs of each sequence."""

    def row(self, number: int) -> Any:
        """Return a sequence."""
        return self._values[self._starts[number] : self._starts[number + 1]]

    def distances(self, number: int) -> Any:
        """Return how far back each value of a sequence lies."""
        return self._back[self._starts[number] : self._starts[number + 1]]

    def numbers(self, chosen: Any) -> Any:
        """Return the integers that describe some of the sequences."""
        runs = chosen[self._row]
        return np.concatenate([self.firsts[chosen], self.by[runs], self.times[runs]])


def _runs(numbers: Any, rows: Any = None) -> tuple[Any, Any, Any]:
    """Return equal neighbours once, with how many they are, and the row of each."""
    rows = np.zeros(len(numbers), np.int64) if rows is None else rows
    differs: Any = (numbers[1:] != numbers[:-1]) | (rows[1:] != rows[:-1])
    starts: Any = np.flatnonzero(np.append(True, differs))[: len(numbers)]
    return numbers[starts], np.diff(np.append(starts, len(numbers))), rows[starts]


class Reads:
    """What operations read at the points, to tell what they read at others."""

    def __init__(self, points: Sequence[Point], notes: Sequence[Notes], integers: Integers) -> None:
        self._points = points
        self._integers = integers
        self._lags: dict[bytes, tuple[int, int]] = {}
        """By differences of sequences: how they are described."""
        self._short = [_Sequences(one) for one in notes]

    def tell(self, notes: Notes, point: Point, *, is_last: bool = True) -> bool | None:
        """Tell if operations read at lengths what the points tell; None if they tell nothing.

        If more points may tell it, little is tried.
        """
        short, there = self._short, _Sequences(notes)
        if not all(np.array_equal(one.keys, short[0].keys) for one in short):
            return None
        if not np.array_equal(there.keys, short[0].keys):
            return False
        every = [*short, there]
        alike = np.all([one.counts == short[0].counts for one in every], axis=0)
        told = self._are_told(np.array([one.numbers(alike) for one in every]), point)
        for row in np.flatnonzero(~alike).tolist():
            if told is False or not (told or is_last):
                break
            found = self._is_told([one.row(row) for one in every], point, DEEPEST)
            if found is None:
                found = self._are_distances_told([one.distances(row) for one in every], point)
            told = both_told(told, found)
        return told

    def sequence(self, rows: Sequence[Any], point: Point) -> bool | None:
        """Tell if the last one of some sequences is what those at the points tell."""
        told = self._is_told(rows, point, DEEPEST)
        return self._are_distances_told(rows, point) if told is None else told

    def _are_distances_told(self, rows: Sequence[Any], point: Point) -> bool | None:
        """Tell if there is as much of each number as the points tell: in three triangular loops."""
        parts = zip(*[np.unique(one, return_counts=True) for one in rows], strict=True)
        return both_told(*[self._is_told(part, point, DEEPEST) for part in parts])

    def _is_told(self, rows: Sequence[Any], point: Point, depth: int) -> bool | None:
        *short, there = rows
        if len({*map(len, short)}) == 1:
            return len(there) == len(short[0]) and self._are_told(np.array(rows), point)
        told = self._are_told(np.array([[len(one)] for one in rows]), point)
        longest = max(short, key=len)
        key = np.diff(longest).tobytes()
        if key not in self._lags:  # rows of neighbours often differ by a constant
            self._lags[key] = _lag(longest, CLOSE) or _lag(longest, LAGS) or (0, 0)
        lag, order = self._lags[key]
        if not told or not lag or not depth or min(map(len, rows)) <= lag * order:
            return told and None
        for _ in range(order):
            told = both_told(told, self._are_told(np.array([one[:lag] for one in rows]), point))
            rows = [one[lag:] - one[:-lag] for one in rows]
        for part in zip(*[_runs(one)[:2] for one in rows], strict=True):
            if told is False:
                break
            told = both_told(told, self._is_told(part, point, depth - 1))
        return told

    def _are_told(self, numbers: Any, point: Point) -> bool | None:
        """Tell if the last row of numbers is what the rows at the points tell."""
        if len(self._points[0]) == 1:
            return self._is_polynomial(numbers, point[0])
        base, *others, last = self._points
        first, slopes = numbers[0], numbers[1 : len(base) + 1] - numbers[0]
        steps = [other[n] - base[n] for n, other in enumerate(others)]
        is_line = np.ones(len(first), bool)
        for to, row in ((last, numbers[-2]), (point, numbers[-1])):
            whole = np.lcm.reduce(steps)
            terms = [
                slope * ((b - a) * int(whole // step))
                for slope, step, a, b in zip(slopes, steps, base, to, strict=True)
            ]
            fits = np.sum(terms, axis=0) == (row - first) * whole
            if to is last:
                is_line = fits
            elif not np.all(fits[is_line]):
                return False
        told: bool | None = True
        for *column, number in np.unique(numbers[:, ~is_line], axis=1).T.tolist():
            try:
                if self._integers(column)(point) != number:
                    return False
            except Declined:
                told = None
        return told

    def _is_polynomial(self, numbers: Any, length: int) -> bool | None:
        """Tell if numbers are a polynomial of one length, which one sample less would tell."""
        lengths = [one for (one,) in self._points]
        if numbers.shape[1] > FEW:
            numbers = np.unique(numbers, axis=1)
        is_known = _vanish(lengths, numbers[:-1])
        there = numbers[[*range(len(lengths) - 1), -1]]
        if not np.all(_vanish([*lengths[:-1], length], there)[is_known]):
            return False
        return True if np.all(is_known) else None


def _vanish(lengths: Sequence[int], numbers: Any) -> Any:
    """Tell which numbers at lengths have the divided difference 0."""
    products = [prod(one - other for other in lengths if other != one) for one in lengths]
    whole = lcm(*products)
    factors = np.array([whole // one for one in products], object)
    return np.sum(numbers * factors[:, None], axis=0) == 0


def both_told(one: bool | None, other: bool | None) -> bool | None:
    """Return whether two things are as told, if that is known of both, or one of them is not."""
    return False if one is False or other is False else one and other


def _lag(row: Any, most: int) -> tuple[int, int] | None:
    """Return after how many steps a sequence grows by the same, or that by which it grows does.

    The second number tells which of the two it is. The result is None if neither does often.
    """
    best, found = 2 * len(row) // 3, None
    for lag in range(1, min(most, len(row) // 3) + 1):
        more = row
        for order in ORDERS:
            more = more[lag:] - more[:-lag]
            count = 1 + int(np.count_nonzero(more[1:] != more[:-1])) + lag * order
            if count < best:
                best, found = count, (lag, order)
    return found
