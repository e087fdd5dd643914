"""How code computes numbers from the indices of loops and from lengths, as formulas.

A short run with a `Number` in place of each index of a loop records what Python computes with it.
So the numbers of all turns can be computed, such as `lr / (1 + decay * i)`. It is also known after
how many turns code does the same again: `i % 3`, or a loop in steps of 10. Nothing relies on it:
the program with these numbers is compared with the function as any other.
"""

from __future__ import annotations

import builtins
import math
import operator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradwrap.compiler.extrapolating.sizes import Declined
from gradwrap.compiler.ir.program import NUMBER
from gradwrap.core.observing.code import frame_of
from gradwrap.core.values.dynamic import type_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

DEEPEST = 12
"""The most operations of a formula."""
LARGEST = 1 << 21
"""The most turns whose numbers are computed."""
MODULE = "math"


class Symbol(NamedTuple):
    """The index of a loop, by the place of the code that begins it."""

    place: tuple[str, int, int]


class Length(NamedTuple):
    """A length: the number of a parameter, and what is added to it."""

    parameter: int
    more: int


class Fixed(NamedTuple):
    """A number that is the same in all turns."""

    kind: Any
    number: Any


class Formula(NamedTuple):
    """What is done with numbers."""

    perform: Callable[..., Any]
    parts: tuple[Any, ...]

    @property
    def size(self) -> int:
        """Return the number of operations."""
        sizes: list[int] = [one.size for one in self.parts if type_of(one) is Formula]
        return 1 + sum(sizes)

    @property
    def symbols(self) -> set[Symbol]:
        """Return the indices that it depends on."""
        found: set[Symbol] = {one for one in self.parts if type_of(one) is Symbol}
        inner: list[set[Symbol]] = [one.symbols for one in self.parts if type_of(one) is Formula]
        return found.union(*inner)


def value_of(formula: Any, index: int, point: Sequence[int]) -> Any:
    """Return the number of a formula in a turn, at lengths."""
    if isinstance(formula, Formula):
        return formula.perform(*[value_of(one, index, point) for one in formula.parts])
    if isinstance(formula, Length):
        return point[formula.parameter] + formula.more
    return index if isinstance(formula, Symbol) else formula.number


@dataclass
class Record:
    """What a short run computed."""

    moduli: set[int] = field(default_factory=set[int])
    """The numbers by which the code divides an index, and the steps of its loops."""
    loops: dict[Symbol, range] = field(default_factory=dict[Symbol, range])
    found: dict[Formula, None] = field(default_factory=dict[Formula, None])
    """The formulas that depend on an index, in the order in which they are computed."""

    @property
    def period(self) -> int:
        """Return the number of turns after which all that divides an index repeats itself."""
        return math.lcm(*self.moduli)


class Recorder:
    """Gives code numbers that note how they were computed."""

    def __init__(self, lengths: Sequence[int], most: float = math.inf) -> None:
        self._lengths = lengths
        """The short lengths of this run."""
        self._left = most
        """The turns of loops that may still be performed."""
        self.record: Record = Record()

    @property
    def builtins(self) -> dict[str, Any]:
        """Return what replaces Python's builtins, and the module `math`."""
        return {"len": self._len, "enumerate": self._enumerate, MODULE: Functions(self)}

    def length(self, length: int) -> Any:
        """Return a length that knows its formula, if it is a long one."""
        for number, short in enumerate(self._lengths):
            if abs(length - short) <= 1:
                return Number(self, length, Length(number, length - short))
        return length

    def turns(self, whole: range) -> Turns:
        """Return the indices of a loop."""
        frame = frame_of(2)
        symbol = Symbol((frame.f_code.co_filename, frame.f_code.co_firstlineno, frame.f_lasti))
        if abs(whole.step) > 1:
            self.record.moduli.add(abs(whole.step))
        return Turns(self, symbol, whole)

    def begun(self, symbol: Symbol, whole: range) -> None:
        """Take note of a loop."""
        if self.record.loops.setdefault(symbol, whole) != whole:
            self.record.loops[symbol] = range(0)  # it takes several numbers of turns

    def turn(self) -> None:
        """Count a turn of a loop."""
        self._left -= 1
        if self._left < 0:
            raise Declined("enough turns have been recorded")

    def _len(self, whole: Any) -> Any:
        return self.length(builtins.len(whole))

    def _enumerate(self, whole: Any, start: int = 0) -> Iterator[tuple[Any, Any]]:
        frame = frame_of(1)
        symbol = Symbol((frame.f_code.co_filename, frame.f_code.co_firstlineno, frame.f_lasti))
        number = start
        for number, one in builtins.enumerate(whole, start):
            yield Number(self, number, symbol), one
        self.begun(symbol, range(start, number + 1))

    def computed(self, perform: Callable[..., Any], *parts: Any) -> Any:
        """Perform Python's arithmetic, and note it."""
        value = perform(*[_plain(one) for one in parts])
        if type_of(value) not in (int, float):
            return value
        formula = Formula(perform, tuple(map(self._formula, parts)))
        symbols = formula.symbols
        if formula.size > DEEPEST or len(symbols) > 1:
            return value
        if symbols:
            self.record.found[formula] = None
        return Number(self, value, formula)

    def _formula(self, number: Any) -> Any:
        if type_of(number) is int:
            number = self.length(number)
        return number.formula if type_of(number) is Number else Fixed(type_of(number), number)


class Functions:
    """The module `math`, with functions that note what they compute."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def __getattr__(self, name: str) -> Any:
        found = getattr(math, name)
        if not callable(found):
            return found

        def call(*parts: Any, **options: Any) -> Any:
            if any(type_of(one) is Number for one in parts) and not options:
                return self._recorder.computed(found, *parts)
            return found(*map(_plain, parts), **options)

        return call


class Turns:
    """The numbers of `range`, each of which knows that it is an index."""

    def __init__(self, recorder: Recorder, symbol: Symbol, whole: range) -> None:
        self._recorder, self._symbol, self._whole = recorder, symbol, whole

    def __iter__(self) -> Iterator[Any]:
        return self._each(self._whole)

    def __reversed__(self) -> Iterator[Any]:
        return self._each(self._whole[::-1])

    def _each(self, whole: range) -> Iterator[Any]:
        self._recorder.begun(self._symbol, whole)
        for number in whole:
            self._recorder.turn()
            yield Number(self._recorder, number, self._symbol)

    def __len__(self) -> int:
        return len(self._whole)

    def __getitem__(self, key: int) -> int:
        return self._whole[key]


class Number:
    """A number that knows how it was computed. It is no `int`, since `0.1 * i` would forget it."""

    __slots__ = ("formula", "number", "recorder")

    def __init__(self, recorder: Recorder, number: Any, formula: Any) -> None:
        self.recorder: Recorder = recorder
        self.number: Any = number
        self.formula: Any = formula

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        is_scalar = all(type_of(one) in NUMBERS for one in inputs)
        if method == "__call__" and is_scalar and not options and ufunc.nout == 1:
            return self.recorder.computed(_ufunc(ufunc), *inputs)
        return getattr(ufunc, method)(*map(_plain, inputs), **options)


NUMBERS: tuple[type[Any], ...] = (int, float, bool, Number)


def _plain(number: Any) -> Any:
    return number.number if type_of(number) is Number else number


@lru_cache
def _ufunc(ufunc: Any) -> Callable[..., Any]:
    """Return a ufunc whose results are Python's numbers."""

    def call(*numbers: Any) -> Any:
        found = ufunc(*numbers)
        return found.item() if isinstance(found, NUMBER) else found

    return call


OPERATORS: Any = operator


def _arithmetic(perform: Callable[..., Any], *, swapped: bool) -> Any:
    divides = perform in (OPERATORS.floordiv, OPERATORS.mod) and not swapped

    def operate(self: Any, *others: Any) -> Any:
        parts = (*others, self) if swapped else (self, *others)
        if not all(type_of(one) in NUMBERS for one in others):
            return perform(*map(_plain, parts))
        if divides and type_of(others[0]) is type_of(self.number) is int:
            self.recorder.record.moduli.add(abs(others[0]) or 1)
        return self.recorder.computed(perform, *parts)

    return operate


def _other(perform: Callable[..., Any]) -> Any:
    def operate(self: Any, *others: Any) -> Any:
        return perform(*map(_plain, (self, *others)))

    return operate


OF_ONE = (OPERATORS.neg, OPERATORS.abs)
OF_TWO = (
    *(OPERATORS.add, OPERATORS.sub, OPERATORS.mul, OPERATORS.pow),
    *(OPERATORS.truediv, OPERATORS.floordiv, OPERATORS.mod),
)
OTHERS = (
    *(OPERATORS.eq, OPERATORS.ne, OPERATORS.lt, OPERATORS.le, OPERATORS.gt, OPERATORS.ge),
    *(OPERATORS.index, bool, hash, int, float, complex, str, repr, round, format, divmod),
)
for _perform in (*OF_ONE, *OF_TWO):
    setattr(Number, f"__{_perform.__name__}__", _arithmetic(_perform, swapped=False))
for _perform in OF_TWO:
    setattr(Number, f"__r{_perform.__name__}__", _arithmetic(_perform, swapped=True))
for _perform in OTHERS:
    setattr(Number, f"__{_perform.__name__}__", _other(_perform))


class Recorded:
    """Sequences of numbers that formulas give, at samples of lengths."""

    def __init__(self, records: Sequence[Record], points: Sequence[tuple[int, ...]]) -> None:
        self._records = records
        self._points = points

    def laws(
        self, column: Sequence[Any], integers: Callable[[Sequence[int]], Callable[[Any], int]]
    ) -> Iterator[Callable[[Sequence[int], int], Any]]:
        """Yield functions of lengths and a count that give the sequences bit for bit."""
        first, *others = self._records
        for formula in first.found:
            if not all(formula in one.found for one in others):
                continue
            symbol = next(iter(formula.symbols))
            ranges = [one.loops.get(symbol, range(0)) for one in self._records]
            for change in CHANGES:
                law = _Law(formula, change, ranges)
                if law.fits(column, self._points):
                    law.extend(integers)
                    yield law


def _reciprocal(numbers: Any) -> Any:
    return 1.0 / numbers


def _times(factor: Any) -> Callable[[Any], Any]:
    return lambda numbers: numbers * (int(factor) if numbers.dtype.kind == "i" else factor)


CHANGES: tuple[Callable[[Any], Any], ...] = (
    *map(_times, (1.0, -1.0, 2.0, -2.0)),
    lambda numbers: numbers * 0.5,
    _reciprocal,
)
"""How the program may have changed the numbers of the code."""


class _Law:
    """A part of the numbers that a formula gives in the turns of a loop."""

    def __init__(
        self, formula: Formula, change: Callable[[Any], Any], ranges: Sequence[range]
    ) -> None:
        self.formula, self.change, self.ranges = formula, change, ranges
        self.is_backward = self.is_at_end = False
        self.skipped: int = 0

    def _whole(self, turns: range, point: Sequence[int]) -> Any:
        numbers = [value_of(self.formula, index, point) for index in turns]
        made = np.array(numbers)
        if made.dtype.kind not in "if":
            raise ValueError
        with np.errstate(all="ignore"):
            return self.change(made)

    def fits(self, column: Sequence[Any], points: Sequence[tuple[int, ...]]) -> bool:
        """Tell if it gives sequences at points; find which part they are."""
        dtype = column[0].dtype
        wholes: list[Any]
        try:
            pairs = zip(self.ranges, points, strict=True)
            with np.errstate(all="ignore"):  # integers may be compared with reciprocals of 0
                wholes = [self._whole(*pair).astype(dtype) for pair in pairs]
        except (ArithmeticError, ValueError):  # the code does not compute it in all turns
            return False
        if any(len(one) > len(whole) for one, whole in zip(column, wholes, strict=True)):
            return False
        for self.is_backward in (False, True):
            turned = [one[::-1] for one in wholes] if self.is_backward else wholes
            both = [*zip(column, turned, strict=True)]
            for self.is_at_end in (False, True):
                for self.skipped in range(min(4, len(turned[0]) - len(column[0]) + 1)):
                    if all(
                        one.tobytes() == self._part(whole, len(one)).tobytes()
                        for one, whole in both
                    ):
                        return True
        return False

    def _part(self, whole: Any, count: int) -> Any:
        start = len(whole) - count - self.skipped if self.is_at_end else self.skipped
        return whole[max(start, 0) : max(start, 0) + count]

    def extend(self, integers: Callable[[Sequence[int]], Callable[[Any], int]]) -> None:
        """Find the ranges at other lengths."""
        self._bounds = [
            integers([getattr(one, name) for one in self.ranges])
            for name in ("start", "stop", "step")
        ]

    def __call__(self, point: Sequence[int], count: int) -> Any:
        turns = range(*[bound(point) for bound in self._bounds])
        if len(turns) > LARGEST:
            raise Declined("the numbers of all turns would take too long")
        try:
            whole = self._whole(turns, point)
        except (ArithmeticError, ValueError) as error:
            raise Declined("the code does not compute a number in all turns") from error
        found = self._part(whole[::-1] if self.is_backward else whole, count)
        if len(found) != count:
            raise Declined("a loop computes fewer numbers than it has turns")
        return found
