"""Numbers as functions of the parameters, fitted to samples at some points."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from itertools import chain, combinations_with_replacement
from math import lcm, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.extrapolating.sequences import CLOSE, indices, indices_of, sequence
from gradwrap.compiler.extrapolating.sizes import NEAR, Declined
from gradwrap.compiler.extrapolating.walk import ARRAY, FLOAT, INTEGER

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.compiler.extrapolating.formulas import Recorded
    from gradwrap.compiler.extrapolating.noted import Fitted, Noted

ULP = 2.0**-52
FEW = 8
"""The most units in the last place by which a fitted number may differ from a sample."""
POWERS = (1, -1, 2, -2, 3, -3, 4, -4)
FACTORS = (1.0, -1.0, 2.0, -2.0, 0.5, -0.5)
"""The factors between a number and an element of a sequence elsewhere in the program."""
DIFFERENCES = (0, -1, 1, -2, 2, -3, 3)
"""The numbers by which an integer and a product of lengths may differ."""
LARGEST = 1 << 24
"""The most indices of nested loops."""
COLUMNS = 64
"""The most sequences in one array."""


class Fit:
    """Functions of the parameters through samples.

    The first point is the base, the next differ from it in one parameter each, and the last in
    all: it checks the fit.
    """

    def __init__(
        self,
        points: Sequence[tuple[int, ...]],
        recorded: Callable[[], Recorded | None] | None = None,
        noted: Noted | None = None,
    ) -> None:
        self._points = points
        self._noted = noted
        self._recorded = recorded
        """Gives the formulas of what the code computed at the points."""
        self._known: dict[tuple[int, ...], Callable[[Sequence[int]], int]] = {}
        self._laws: list[Callable[[int], Any]] = []
        """The laws of the sequences of floats so far."""
        self.sequences: list[Fitted] = []
        """The sequences, with their functions."""

    def of(self, kind: str, column: Sequence[Any]) -> Callable[[Sequence[int]], Any]:
        """Return the function of a kind of numbers through its samples at the points."""
        if kind == ARRAY:
            return self.arrays(column)
        if kind == INTEGER and self._noted and len({*column}) > 1:
            element = self._noted.element(column)
            if element is not None:
                return element
        try:
            return self.integers(column) if kind == INTEGER else self.floats(column)
        except Declined:
            law = self._law([np.array([number]) for number in column])
            if law is None:
                product = self._noted.product(column) if self._noted else None
                if product is None:
                    raise
                return product
        return lambda point: law(point, 1)[0].item()

    def _law(self, column: Sequence[Any]) -> Callable[[Sequence[int], int], Any] | None:
        """Return the function through sequences that the code computes, or None."""
        recorded = self._recorded and self._recorded()
        laws = recorded.laws(column, self.integers) if recorded else ()
        noted = self._noted.laws(column, self.integers) if self._noted else ()
        return next(chain(laws, noted), None)

    def integers(self, column: Sequence[int]) -> Callable[[Sequence[int]], int]:
        """Return the linear function through integers, or one with a product of lengths.

        Products count the turns of loops of loops that are one loop of the program. For some there
        is no sample left to check them, so only the comparisons at unseen lengths do.
        """
        key = tuple(column)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._linear(key)
        return found

    def _linear(self, column: tuple[int, ...]) -> Callable[[Sequence[int]], int]:
        base, *others = self._points
        slopes, missed = self._line(column)

        def bent(point: Sequence[int]) -> int:
            """Return a product that is 0 at all points but the last."""
            away = [x - b for x, b in zip(point, base, strict=True)]
            return away[0] * (away[1] if len(away) > 1 else point[0] - others[0][0])

        bend = Fraction(0)
        if missed:
            product = self._product(column)
            if product is not None:
                return product
            if len(base) > 2:
                raise Declined(f"integers are not linear: {column} at {self._points}")
            bend = missed / bent(others[-1])
        whole = lcm(bend.denominator, *[slope.denominator for slope in slopes])
        parts = (Fraction(column[0]), bend, *slopes)
        first, curve, *steps = [int(whole * one) for one in parts]
        if not (curve or any(steps)):
            return lambda _: int(column[0])

        def at(point: Sequence[int]) -> int:
            found = first + (curve and curve * bent(point))
            for step, x, b in zip(steps, point, base, strict=True):
                found += step * (x - b)
            if found % whole:
                raise Declined(f"an integer would be {Fraction(found, whole)}")
            return found // whole

        return at

    def _line(self, column: tuple[int, ...]) -> tuple[list[Fraction], Fraction]:
        """Return the slopes of a line through integers, and by how much it misses the last one."""
        base, *others = self._points
        first = column[0]
        slopes = [Fraction(column[1 + i] - first, others[i][i] - base[i]) for i in range(len(base))]
        terms = (s * (x - b) for s, x, b in zip(slopes, others[-1], base, strict=True))
        return slopes, column[-1] - sum(terms, Fraction(first))

    def foretells(
        self, column: Sequence[float], number: float, point: Sequence[int]
    ) -> bool | None:
        """Tell if samples of a number of the code tell what it is at a point, and that it is so.

        The result is None if they tell nothing: integers on no line tell it only if the program has
        them, and other numbers only if they are a power of a length.
        """
        if all(one == column[0] for one in column):
            return number == column[0]
        law: Callable[[Sequence[int]], float] | None = None
        if all(one % 1 == 0 for one in column):
            whole = tuple(map(int, column))
            if whole in self._known or not self._line(whole)[1]:
                law = self.integers(whole)
        else:
            law = self._power(column)
        if law is not None:
            with suppress(Declined):
                return abs(law(point) - number) <= CLOSE * abs(number)
        return None

    def _product(self, column: tuple[int, ...]) -> Callable[[Sequence[int]], int] | None:
        """Return a multiple of a product of two or three lengths, up to a small difference."""
        numbers = range(len(self._points[0]))
        lengths = [(n, offset) for n in numbers for offset in range(-NEAR, NEAR + 1)]
        found = np.array(column)
        for count in (2, 3):
            chosen = [*combinations_with_replacement(lengths, count)]
            samples = np.array(
                [[prod(point[n] + at for n, at in one) for point in self._points] for one in chosen]
            )
            for more in DIFFERENCES:
                fits = (samples * (found[0] - more) == samples[:, :1] * (found - more)).all(axis=1)
                for number in np.flatnonzero(fits & (samples[:, 0] > 0)).tolist():
                    factor = Fraction(column[0] - more, int(samples[number, 0]))
                    if factor.denominator <= len(FACTORS):
                        return _Product(chosen[number], factor, more)
        return None

    def floats(self, column: Sequence[float]) -> Callable[[Sequence[int]], float]:
        """Return the function through floats: a constant, linear, or a power of a length."""
        first = column[0]
        if len({x.hex() for x in column}) == 1:
            return lambda _: first
        if all(x.is_integer() and abs(x) < 1 / ULP for x in column):
            linear = self.integers([int(x) for x in column])
            return lambda point: float(linear(point))
        power = self._power(column)
        if power is not None:
            return power
        for law in self._laws:
            numbers = law(2 * max(map(max, self._points))).tolist()
            for factor in FACTORS:
                found = [x / factor for x in column]
                with suppress(Declined, ValueError):  # a number may be no element
                    start = numbers.index(found[0])
                    places = self.integers([numbers.index(x, start) for x in found])
                    return _Element(law, places, factor)
        raise Declined(f"numbers that are no power of a length: {column}")

    def _power(self, column: Sequence[float]) -> Callable[[Sequence[int]], float] | None:
        """Return the multiple of a power of a length that passes through floats, or None."""
        for i in range(len(self._points[0])):
            for offset in range(-NEAR, NEAR + 1):
                lengths = [float(point[i] + offset) for point in self._points]
                for power in POWERS:
                    factor = _tidy(column[0] / lengths[0] ** power)
                    if _close([factor * n**power for n in lengths], column):
                        return _Power(i, offset, power, factor)
        return None

    def arrays(self, column: Sequence[Any]) -> Callable[[Sequence[int]], Any]:
        """Return the function from a point to an array that passes through the given arrays."""
        first = column[0]
        if all(one.shape == first.shape and one.tobytes() == first.tobytes() for one in column):
            return lambda _: first
        if len({(one.dtype, one.ndim) for one in column}) > 1 or first.dtype.kind not in "iuf":
            raise Declined("constant arrays of several kinds")
        lengths = [self.integers([one.shape[i] for one in column]) for i in range(first.ndim)]
        varying = [i for i in range(first.ndim) if len({one.shape[i] for one in column}) > 1]
        if not varying and first.size <= COLUMNS:
            return self._elements(column)
        if len(varying) != 1:
            raise Declined("constant arrays that vary along several axes, or along none")
        axis = varying[0]
        if first.dtype.kind in "iu" and first.ndim == 1:
            with suppress(Declined):
                return self._nested(column, lengths[0])
        rows = [np.moveaxis(one, axis, 0).reshape(one.shape[axis], -1) for one in column]
        if rows[0].shape[1] > COLUMNS:
            raise Declined("large constant arrays that vary")
        columns = [[one[:, n] for one in rows] for n in range(rows[0].shape[1])]
        fits = [*map(self._sequence, columns)]
        length = lengths[axis]
        self.sequences += [(one, fit, length) for one, fit in zip(columns, fits, strict=True)]

        def at(point: Sequence[int]) -> Any:
            shape = [length(point) for length in lengths]
            made = np.stack([fit(point, shape[axis]) for fit in fits], axis=1)
            rest = [n for i, n in enumerate(shape) if i != axis]
            whole = np.moveaxis(made.reshape(shape[axis], *rest), 0, axis)
            return np.ascontiguousarray(whole.astype(first.dtype))

        return at

    def _elements(self, column: Sequence[Any]) -> Callable[[Sequence[int]], Any]:
        """Return the function through arrays of one shape, element by element."""
        first = column[0]
        kind = FLOAT if first.dtype.kind == "f" else INTEGER
        parts = zip(*(one.ravel().tolist() for one in column), strict=True)
        fits = [self.of(kind, part) for part in parts]
        return lambda point: np.array([fit(point) for fit in fits], first.dtype).reshape(
            first.shape
        )

    def _nested(
        self, column: Sequence[Any], length: Callable[[Sequence[int]], int]
    ) -> Callable[[Sequence[int]], Any]:
        """Return the function through indices of a loop of loops, one after the other."""
        found = [indices_of(one) for one in column]
        fits = [self.integers(numbers) for numbers in zip(*found, strict=True)]

        def at(point: Sequence[int]) -> Any:
            if length(point) > LARGEST:
                raise Declined("the indices of all turns would take too much memory")
            made: Any = indices([fit(point) for fit in fits], length(point))
            return made.astype(column[0].dtype)

        self.sequences.append((column, lambda point, _: at(point), length))
        return at

    def _sequence(self, column: Sequence[Any]) -> Callable[[Sequence[int], int], Any]:
        """Return the function through sequences of several lengths.

        The first and the last element may be out of line.
        """
        kind = FLOAT if column[0].dtype.kind == "f" else INTEGER
        for head in range(2):
            for tail in range(2):
                found = sequence([one[head : len(one) - tail] for one in column])
                if found is None:
                    continue
                inner, law = found
                if kind == FLOAT:
                    self._laws.append(law)
                places = [0] * head + [-1] * tail
                samples = [[one[place].item() for one in column] for place in places]
                try:
                    ends = [self.of(kind, sample) for sample in samples]
                except Declined:
                    continue
                return _Sequence(inner, head, tail, ends)
        known = self._law(column)
        if known is None:
            raise Declined(f"a sequence of numbers with no known law: {column[0][:4]}...")
        return known


class _Product:
    """A multiple of a product of lengths, and a difference."""

    def __init__(self, lengths: Sequence[tuple[int, int]], factor: Fraction, more: int) -> None:
        self.lengths, self.factor, self.more = lengths, factor, more

    def __call__(self, point: Sequence[int]) -> int:
        found = self.factor * prod(point[n] + offset for n, offset in self.lengths)
        if found.denominator != 1:
            raise Declined(f"an integer would be {found}")
        return int(found) + self.more


class _Power:
    """A factor times a power of a length."""

    def __init__(self, parameter: int, offset: int, power: int, factor: float) -> None:
        self.parameter, self.offset, self.power = parameter, offset, power
        self.factor = factor

    def __call__(self, point: Sequence[int]) -> float:
        return float(self.factor * float(point[self.parameter] + self.offset) ** self.power)


class _Element:
    """A multiple of an element of a sequence, at a place that depends on the lengths."""

    def __init__(
        self, law: Callable[[int], Any], place: Callable[[Sequence[int]], int], factor: float
    ) -> None:
        self.law, self.place, self.factor = law, place, factor

    def __call__(self, point: Sequence[int]) -> float:
        place = self.place(point)
        if place < 0:
            raise Declined(f"a number would be element {place} of a sequence")
        return float(self.factor * self.law(place + 1)[place])


class _Sequence:
    """A sequence of any length, with ends that may be out of line."""

    def __init__(
        self,
        inner: Callable[[int], Any],
        head: int,
        tail: int,
        ends: Sequence[Callable[[Sequence[int]], Any]],
    ) -> None:
        self.inner, self.head, self.tail, self.ends = inner, head, tail, ends

    def __call__(self, point: Sequence[int], count: int) -> Any:
        ends = [end(point) for end in self.ends]
        inner = self.inner(count - self.head - self.tail)
        return np.concatenate([ends[: self.head], inner, ends[self.head :]])


def _tidy(number: float) -> float:
    """Return the decimal number with few digits that a number is a rounding of; else itself."""
    short = float(f"{number:.12g}")
    return short if abs(short - number) <= FEW * ULP * abs(number) else number


def _close(fitted: Sequence[float], wanted: Sequence[float]) -> bool:
    return all(abs(a - b) <= FEW * ULP * abs(b) for a, b in zip(fitted, wanted, strict=True))
