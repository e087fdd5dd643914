"""Sequences of numbers that no formula gives: they are read from runs that note all numbers.

Examples are `np.cos(t)` with `t += dt`, elements of `np.linspace(0, 1, n)` that the function makes,
and random numbers drawn from a seed. The runs at short lengths tell which of the noted numbers a
loop of the program reads. A run at full size then gives those of all turns.
"""

from __future__ import annotations

import math
from contextlib import suppress
from fractions import Fraction
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from gradwrap.compiler.extrapolating.formulas import CHANGES
from gradwrap.compiler.extrapolating.reads import Reads, both_told
from gradwrap.compiler.extrapolating.sequences import CLOSE
from gradwrap.compiler.extrapolating.sizes import Declined
from gradwrap.compiler.tracing.noting import KEPT, WHOLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from gradwrap.compiler.tracing.noting import Notes, Numbers

    Point = Sequence[int]
    Sequences = tuple[Sequence[Any], Callable[[Point, int], Any], Callable[[Point], int]]
    """Sequences at the points, and the functions for them and for their length."""
    Integers = Callable[[Sequence[int]], Callable[[Point], int]]
    Foretells = Callable[[Sequence[float], float, Point], bool | None]

STARTS, STEPS = 4, 16
"""The most places where a sequence may begin, and the most steps between its numbers."""
MARGIN = 2
"""The turns at both ends of a loop, which may have other numbers."""
LONGEST = 16
"""The most turns after which integers change by the same again."""
MORE = 2
"""The further lengths at which powers of a length are told apart."""
ENDS = 8
"""The numbers at both ends that may be factors of a single number."""


class Fitted(Protocol):
    """Functions of the lengths that give numbers at the points: see `fitting.py`."""

    sequences: list[Sequences]

    def integers(self, column: Sequence[int]) -> Callable[[Point], int]:
        """Return the function through integers."""
        ...

    def arrays(self, column: Sequence[Any]) -> Callable[[Point], Any]:
        """Return the function through arrays."""
        ...

    def foretells(self, column: Sequence[float], number: float, point: Point) -> bool | None:
        """Tell if samples of a number tell what it is at a point, and that it is so."""
        ...


class OtherNumbers(Declined):
    """The numbers of a long loop are not those that the short ones tell."""


class Noted:
    """The numbers of the user's code at lengths."""

    def __init__(self, points: Sequence[Point], notes: Callable[[Point], Notes]) -> None:
        self._points = points
        self._of = notes
        self._pairs: list[set[tuple[_Window, _Window]]] | None = None
        """By parameter: the numbers of its loops that are equal in short ones."""
        self._periods: list[dict[Any, int]] = []
        """By parameter: the turns after which the changes of numbers repeat themselves."""
        self._growing: set[Any] = set()
        """The arrays whose lengths vary."""
        self._runs: dict[Any, int] = {}
        """How often loops run with the same numbers."""
        self._nested: list[Any] = []
        """The numbers of loops of loops, which are more by products of lengths."""
        self._lawless: dict[Any, None] = {}
        """The numbers of sequences that no formula gives."""
        self._known: dict[Point, Numbers] = {}

    def _notes(self, point: Point) -> Numbers:
        """Return the numbers at lengths, if those that are equal in short loops are equal there.

        The program computes once what is equal in all turns of the loops that were traced.
        """
        lengths = tuple(point)
        if self._pairs is None:
            every = [self._of(point).contents for point in self._points]
            self._growing = {
                key
                for key in every[0]
                if len({one[key][0][1].shape for one in every if one.get(key)}) > 1
            }
            samples = [self._counted(self._of(point)) for point in self._points]
            counts = {key: [len(one.get(key, ())) for one in samples] for key in samples[0]}
            turns = {key: _per_turn(many, self._points) for key, many in counts.items()}
            self._nested = [key for key, many in turns.items() if many is None]
            self._per_turn = [
                {key: many[n] for key, many in turns.items() if many is not None}
                for n in range(len(lengths))
            ]
            self._runs = {
                key: _runs([one.get(key, ()) for one in samples], count)
                for counts in self._per_turn
                for key, count in counts.items()
                if count > 1
            }
            known = [self._parts(one) for one in samples]
            self._pairs = [
                {pair for pair in _equal(found[0]) if all(_are_equal(one, *pair) for one in found)}
                for found in zip(*known, strict=True)
            ]
            self._periods = [
                {
                    part: period
                    for part in found[0]
                    if (period := _period(found[0][part]))
                    and all(_period(one[part]) == period for one in found)
                }
                for found in zip(*known, strict=True)
            ]
        if lengths not in self._known:
            notes = self._counted(self._of(point))
            there = self._parts(notes)
            for parts, periods in zip(there, self._periods, strict=True):
                if any(_period(parts[part]) != period for part, period in periods.items()):
                    raise OtherNumbers("numbers change otherwise in long loops than in short ones")
            for parts, pairs in zip(there, self._pairs, strict=True):
                if not all(_are_equal(parts, *pair) for pair in pairs):
                    raise OtherNumbers("numbers that are equal in short loops differ in long ones")
            self._known[lengths] = notes
        return self._known[lengths]

    def _counted(self, notes: Notes) -> Numbers:
        """Return the numbers without the elements of arrays whose lengths vary."""
        return {
            key: one
            for key, one in notes.numbers.items()
            if key[-1] == WHOLE or key[:3] not in self._growing
        }

    def _parts(self, notes: Numbers) -> list[dict[Any, Any]]:
        """Return one number for each turn of the loops of each parameter, the last turn first.

        A turn may have several numbers, and a loop may run several times.
        """
        found: list[dict[Any, Any]] = []
        for counts in self._per_turn:
            parts: dict[Any, Any] = {}
            for key, count in counts.items():
                numbers = np.array(notes.get(key, ()))[::-1]
                runs = self._runs.get(key, 1)
                if len(numbers) % runs:
                    raise OtherNumbers("a loop has another number of turns in each run")
                in_turn = count // runs
                rows = [one[n::in_turn] for one in np.split(numbers, runs) for n in range(in_turn)]
                parts.update(((key, place), row) for place, row in enumerate(rows))
            found.append(parts)
        return found

    def laws(
        self, column: Sequence[Any], integers: Integers
    ) -> Iterator[Callable[[Point, int], Any]]:
        """Yield functions of lengths and a count that give sequences at the points bit for bit."""
        samples = [self._notes(point) for point in self._points]
        for key in samples[0]:
            if not all(key in one for one in samples):
                continue
            for change in CHANGES:
                law = _Law(self._notes, key, change, column[0].dtype)
                wholes = [law.numbers(point) for point in self._points]
                if law.fits(column, wholes, integers):
                    self._lawless[key] = None
                    yield law

    def confirms(self, fit: Fitted, point: Point) -> bool | None:
        """Tell if functions through sequences and numbers give those of a run at lengths.

        The result is None if a run would take too long, or if the points tell too little. Sequences
        that are computed from numbers of the code are not looked at.
        """
        integers, foretells = fit.integers, fit.foretells
        try:
            there = self._notes(point)
            samples = [self._notes(one) for one in self._points]
            for key in {*there}.union(*samples):
                counts = [len(one.get(key, ())) for one in samples]
                if len(there.get(key, ())) != integers(counts)(point):
                    return False
            if not (
                self._are_foretold(foretells, point) and self._turns_are_foretold(foretells, point)
            ):
                return False
            for column, law, length in [*fit.sequences]:
                noted = next(self.laws(column, integers), None)
                if noted is not None:
                    count = length(point)
                    both = law(point, count), noted(point, count)
                    if not np.allclose(*both, rtol=CLOSE, atol=0.0):
                        return False
            return both_told(self._are_arrays_told(fit, point), self._are_reads_told(fit, point))
        except OtherNumbers:
            return False
        except Declined:
            return None

    def _are_arrays_told(self, fit: Fitted, point: Point) -> bool | None:
        """Tell if arrays that the code makes have at lengths the elements that the points tell."""
        *samples, there = [self._of(one).contents for one in (*self._points, point)]
        told: bool | None = True
        for key, kept in there.items():
            found = [one.get(key, ()) for one in samples]
            if len({*map(len, (kept, *found))}) > 1 or len(kept) > KEPT:
                continue  # the arrays of all turns differ, and their sequences are known
            for column in zip(*found, kept, strict=True):
                *arrays, wanted = [copy for _, copy in column]
                made = wanted
                try:
                    made = fit.arrays(arrays)(point)
                except Declined:
                    told = None
                if made.shape != wanted.shape or not np.allclose(
                    made, wanted, rtol=CLOSE, atol=0.0, equal_nan=True
                ):
                    return False
        return told

    def _are_reads_told(self, fit: Fitted, point: Point) -> bool | None:
        """Tell if operations read at lengths what the points tell, or some more of them."""
        points = self._points
        told = self._told_by(points, fit, point, is_last=len(point) > 1)
        if told is None and len(point) == 1:
            (last,), step = points[-1], points[1][0] - points[0][0]
            points = [*points, *[(last + step * n,) for n in range(1, MORE + 1)]]
            told = self._told_by(points, fit, point, is_last=True)
        return told

    def _told_by(
        self, points: Sequence[Point], fit: Fitted, point: Point, *, is_last: bool
    ) -> bool | None:
        *samples, there = [self._of(one) for one in (*points, point)]
        reads = Reads(points, samples, fit.integers)
        told = reads.tell(there, point, is_last=is_last)
        for key in self._nested:
            rows = [one.numbers.get(key, []) for one in (*samples, there)]
            told = both_told(told, reads.sequence(_numbered(rows), point))
        return told

    def _are_foretold(self, foretells: Foretells, point: Point) -> bool:
        """Tell if numbers outside of loops, and those of one value, are what the points tell."""
        samples = [self._notes(one) for one in (*self._points, point)]
        for key in samples[0]:
            runs = [one.get(key, ()) for one in samples]
            if len({*chain(*runs[:-1])}) == 1 and {*runs[-1]} - {*runs[0]}:
                return False  # short loops may have too few turns to tell more
            if len({*map(len, runs)}) == 1:
                for *column, number in {*zip(*runs, strict=True)}:
                    is_checksum = key[-1] == WHOLE and len({*column}) > 1
                    if not is_checksum and foretells(column, number, point) is False:
                        return False
        return True

    def _turns_are_foretold(self, foretells: Foretells, point: Point) -> bool:
        """Tell if turns whose changes repeat begin or end with the numbers that the points tell.

        They are known to repeat at lengths too. So the numbers of one period tell all others.
        """
        samples = [self._parts(self._notes(one)) for one in (*self._points, point)]
        for found, periods in zip(zip(*samples, strict=True), self._periods, strict=True):
            for part, period in periods.items():
                rows = [parts[part] for parts in found]
                inner, count = [row[MARGIN:-MARGIN] for row in rows], period + 1
                both = [row[:count] for row in inner], [row[-count:] for row in inner]
                told = [_foretold(foretells, end, point) for end in both]
                if False in told and True not in told:
                    return False
                if period == 1:  # the turns at both ends may have other numbers
                    ends = [row[:MARGIN] for row in rows], [row[-MARGIN:] for row in rows]
                    if any(_foretold(foretells, end, point) is False for end in ends):
                        return False
        return True

    def element(self, numbers: Sequence[int]) -> Callable[[Point], int] | None:
        """Return the function of lengths that gives integers of a sequence without law, or None.

        The program has such an integer as the key of a turn at one end of a loop.
        """
        samples = [self._notes(point) for point in self._points] if self._lawless else []
        for key in self._lawless:
            for place in (*range(-ENDS, 0), *range(ENDS)):
                if all(
                    len(one[key]) >= ENDS and one[key][place] == number
                    for one, number in zip(samples, numbers, strict=True)
                ):
                    return partial(self._element, key, place)
        return None

    def _element(self, key: Any, place: int, point: Point) -> int:
        return int(self._notes(point)[key][place])

    def product(self, numbers: Sequence[float]) -> Callable[[Point], float] | None:
        """Return the function of lengths that gives numbers as products of two noted ones, or None.

        The program has such a number for the last turn of a loop whose cotangent is 1.
        """
        samples = [self._notes(point) for point in self._points]
        both: list[tuple[Any, int]] = [
            (key, place)
            for key in samples[0]
            for place in (*range(ENDS), *range(-ENDS, 0))
            if all(len(one.get(key, ())) >= ENDS for one in samples)
        ]
        if not both:
            return None
        values = np.array([[one[key][place] for key, place in both] for one in samples])
        for factor in (1.0, -1.0, 2.0, -2.0, 0.5, -0.5):
            made = factor * values[:, :, None] * values[:, None, :]
            found = np.argwhere(np.all(made == np.array(numbers)[:, None, None], axis=0))
            if len(found):
                first, second = found[0].tolist()
                return partial(self._product, factor, both[first], both[second])
        return None

    def _product(
        self, factor: float, first: tuple[Any, int], second: tuple[Any, int], point: Point
    ) -> float:
        notes = self._notes(point)
        (key, place), (other, at) = first, second
        one: float = notes[key][place]
        return factor * one * notes[other][at]


class _Law:
    """Every so many of the numbers of one kind, from one of them on."""

    def __init__(
        self,
        notes: Callable[[Point], Numbers],
        key: Any,
        change: Callable[[Any], Any],
        dtype: Any,
    ) -> None:
        self._notes = notes
        self._key = key
        self._change = change
        self._dtype = dtype

    def numbers(self, point: Point) -> Any:
        """Return all numbers of the kind at lengths."""
        with np.errstate(all="ignore"):
            return self._change(np.array(self._notes(point).get(self._key, ()))).astype(self._dtype)

    def fits(self, column: Sequence[Any], wholes: Sequence[Any], integers: Integers) -> bool:
        """Tell if it gives sequences; find which of the numbers they are."""
        for start, step in _places(column[0], wholes[0]):
            ends = [len(whole) - (len(wholes[0]) - start) for whole in wholes]
            found = [_first(*both, step) for both in zip(column, wholes, strict=True)]
            for starts in ([start] * len(wholes), ends, found):
                parts = zip(column, wholes, starts, strict=True)
                if all(_is_part(*part, step) for part in parts):
                    with suppress(Declined):
                        self._start, self._step = integers(starts), step
                        self._count = integers([len(whole) for whole in wholes])
                        return True
        return False

    def __call__(self, point: Point, count: int) -> Any:
        """Return so many of the numbers at lengths."""
        whole = self.numbers(point)
        if len(whole) != self._count(point):
            raise OtherNumbers("the code uses another number of constants there")
        found = whole[self._start(point) :: self._step][:count]
        if len(found) != count:
            raise OtherNumbers("a loop uses fewer constants than it has turns")
        return found


def _foretold(foretells: Foretells, rows: Sequence[Any], point: Point) -> bool | None:
    """Tell if the numbers of rows at the points tell all those of the last row, if they do."""
    columns = np.transpose(rows).tolist()
    told = {foretells(column, last, point) for *column, last in columns}
    return False if False in told else None if None in told else True


def _runs(samples: Sequence[Sequence[float]], count: int) -> int:
    """Return how often a loop runs with the same numbers, which divides their count per turn.

    Numbers that are the same in all turns tell nothing.
    """
    if all(not len(one) % count and one == [*one[:count]] * (len(one) // count) for one in samples):
        return 1
    for runs in range(count, 1, -1):
        if not count % runs and not any(len(one) % runs for one in samples):
            rows = [np.reshape(one, (runs, -1)) for one in samples]
            if all(np.array_equal(one, np.broadcast_to(one[0], one.shape)) for one in rows):
                return runs
    return 1


def _per_turn(counts: Sequence[int], points: Sequence[Point]) -> list[int] | None:
    """Return how many more numbers there are with as many turns of each parameter's loops.

    These are as few turns as have a whole number. The result is None for loops of loops.
    """
    base, *others, last = points
    steps = [other[n] - base[n] for n, other in enumerate(others)]
    more = [count - counts[0] for count in counts[1:-1]]
    whole = sum(
        Fraction(many * (b - a), step)
        for many, step, a, b in zip(more, steps, base, last, strict=True)
    )
    if counts[-1] != counts[0] + whole:
        return None
    return [many // math.gcd(many, step) for many, step in zip(more, steps, strict=True)]


def _numbered(rows: Sequence[Sequence[float]]) -> list[Any]:
    """Return numbers as integers: if they are none, by the places where they are first met."""
    if all(number % 1 == 0 for row in rows for number in row):
        return [np.array(row, np.int64) for row in rows]
    places = {number: n for n, number in enumerate(dict.fromkeys(rows[0]))}
    return [np.array([places.get(number, -1) for number in row]) for row in rows]


class _Window(NamedTuple):
    """The numbers of turns of one kind, but for those at both ends."""

    part: Any
    shift: int
    """The turns between it and those to which it is compared."""
    sign: int

    def of(self, parts: dict[Any, Any], count: int) -> bytes:
        """Return so many of the numbers."""
        start = MARGIN + self.shift
        return bytes((self.sign * parts[self.part][start : start + count]).tobytes())


def _period(numbers: Any) -> int:
    """Return after how many turns the changes of integers repeat themselves, or 0.

    The turns at both ends are left out. Other numbers have a period if they never change.
    """
    inner = numbers[MARGIN:-MARGIN]
    if not len(inner) or (np.any(inner % 1) and np.any(inner != inner[0])):
        return 0
    found = np.diff(inner)
    periods = range(1, min(LONGEST, len(found) // 2) + 1)
    return next((n for n in periods if np.array_equal(found[n:], found[:-n])), 0)


def _turns(parts: dict[Any, Any]) -> int:
    return min(map(len, parts.values()), default=0) - 2 * MARGIN


def _equal(parts: dict[Any, Any]) -> set[tuple[_Window, _Window]]:
    """Return windows that are equal, each with the first one that it is equal to."""
    first: dict[bytes, _Window] = {}
    every = [
        _Window(part, shift, sign)
        for part in parts
        for shift in range(-MARGIN, MARGIN + 1)
        for sign in (1, -1)
    ]
    both = {(first.setdefault(one.of(parts, _turns(parts)), one), one) for one in every}
    return {(one, other) for one, other in both if one != other}


def _are_equal(parts: dict[Any, Any], one: _Window, other: _Window) -> bool:
    count = _turns(parts)
    return one.of(parts, count) == other.of(parts, count)


def _places(wanted: Any, whole: Any) -> Iterator[tuple[int, int]]:
    """Yield the places where a sequence may begin, each with the step to its next number."""
    for start in np.flatnonzero(whole == wanted[0])[:STARTS].tolist():
        if len(wanted) == 1:
            yield start, 1
            continue
        others = np.flatnonzero(whole == wanted[1]) - start
        nearest = others[np.argsort(np.abs(others), kind="stable")]
        yield from ((start, step) for step in nearest[:STEPS].tolist() if step)


def _first(wanted: Any, whole: Any, step: int) -> int:
    """Return where a sequence of a step begins, or -1."""
    starts = np.flatnonzero(whole == wanted[0]).tolist()
    return next((one for one in starts if _is_part(wanted, whole, one, step)), -1)


def _is_part(wanted: Any, whole: Any, start: int, step: int) -> bool:
    found = whole[start::step][: len(wanted)] if 0 <= start < len(whole) else whole[:0]
    return bool(found.tobytes() == wanted.tobytes())
