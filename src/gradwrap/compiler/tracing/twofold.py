"""Numbers of a short run that also know what they are at full size.

Python's code computes with the lengths of loops and arrays and with the indices of loops, compares
them, and uses them as keys. A `Twofold` stands for such a number in a run with short loops. It
carries the number of this run, and what stands in its place at full size: one number, or for the
index of a loop the numbers of all turns but a few at both ends. Arithmetic is done with both. Each
comparison must have the same outcome for all of them, so the code takes the same branches at full
size. What cannot be told raises `Unlike`.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradwrap.core.observing.code import ARRAYS, frame_of, module_of, package_of
from gradwrap.core.values.dynamic import LIST, SLICE, TUPLE, type_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import FrameType


class Unlike(Exception):  # noqa: N818  it is caught, and the function runs at full size
    """The run at full size is not known to do what the short runs do."""


class Symbol(NamedTuple):
    """The index of a loop in one of its turns, but for those at both ends."""

    loop: int
    """The number of the loop, by its place in the code."""
    serial: int
    """The number of its run."""
    turn: int
    short: int
    least: int
    """The least index at full size."""
    greatest: int
    step: int
    period: int
    """The number of turns between those that the symbol stands for."""
    one: int
    """The index in one of them at full size."""


class Uses:
    """The numbers that were used as keys, as lengths, and beside arrays.

    `place` gives the place in the code, and `length` what the length of an array is at full size.
    """

    def __init__(self, place: Callable[[], Any], length: Callable[[int], Any]) -> None:
        self._place = place
        self.length: Callable[[int], Any] = length
        self.found: dict[Any, list[tuple[Any, Any, Any]]] = {}
        """By place in the code: the factors of indices, and the rest in this run and at full size.
        """
        self._keys: set[Any] = set()
        """The keys of integers that were met, with their places in the code."""
        self.are_noted: bool = True
        """Whether numbers are noted; they need not be where another run has noted them."""
        self.problem: str = ""
        """The reason why the runs are not known to be alike; code may catch the error."""

    def refuse(self, why: str) -> Unlike:
        """Record why the runs are not known to be alike."""
        self.problem = self.problem or why
        return Unlike(why)

    def is_known(self, key: Any, shape: Sequence[int]) -> bool:
        """Tell if a key of integers was met at this place of the code, and note it."""
        if not self.are_noted:
            return True
        met = (self._place(), key, *shape)
        is_known = met in self._keys
        self._keys.add(met)
        return is_known

    def add(self, factors: Any, short: Any, full: Any) -> None:
        """Record a number that leaves Python's arithmetic."""
        if not self.are_noted:
            return
        here = self.found.setdefault(self._place(), [])
        if (factors, short, full) not in here:
            here.append((factors, short, full))
        if len(here) > MOST:
            raise self.refuse("a number differs from turn to turn")


MOST = 8
"""The most different numbers at one place of the code."""
LIBRARIES = frozenset({*ARRAYS, "optree"})
"""The packages that look at a value's attributes to tell what it is."""
NUMBERS: tuple[type[Any], ...] = (int, float, bool)
SIMPLE: tuple[type[Any], ...] = (int, SLICE, type(Ellipsis))
"""The kinds of the parts of keys that select by place, beside `Twofold`."""


def plain_key(key: Any, shape: Sequence[int], uses: Uses) -> Any:
    """Return a key of an array with the plain numbers of this run.

    Raises
    ------
    Unlike
        It may lie outside at full size, or give another part.
    """
    parts: list[Any] = [*key] if type_of(key) is TUPLE else [key]
    if all(type_of(part) is int for part in parts) and uses.is_known(key, shape):
        return key
    places = [n for n, part in enumerate(parts) if part is not None]
    axes: list[int | None]
    if any(parts[n] is Ellipsis for n in places):
        at = next(n for n in places if parts[n] is Ellipsis)
        axes = [*range(places.index(at)), None]
        axes += range(len(shape) - len(places) + places.index(at) + 1, len(shape))
    else:
        axes = [*range(len(places))]
    is_simple = all(type_of(parts[n]) in (*SIMPLE, Twofold) for n in places)
    for n, axis in zip(places, axes, strict=True):
        part = parts[n]
        length = None if axis is None else shape[axis]
        if type_of(part) is SLICE:
            parts[n] = _plain_slice(part, length if is_simple else None, uses)
        elif type_of(part) is Twofold:
            if not is_simple or length is None:
                raise uses.refuse("an index of a loop is beside arrays in a key")
            parts[n] = part.as_key(length)
        elif type_of(part) is int and is_simple and length is not None:
            Twofold(uses, part, part).as_key(length)
        elif type_of(part) is LIST and Twofold in map(type_of, part):
            raise uses.refuse("an index of a loop is in a list")
    return tuple(parts) if type_of(key) is TUPLE else parts[0]


def _plain_slice(part: slice, length: int | None, uses: Uses) -> slice:
    """Return a slice with plain numbers, whose length at full size is recorded."""
    bounds: list[Any] = [part.start, part.stop, part.step]
    kinds = {*map(type_of, bounds)}
    if length is None:
        if bounds[:2] != [None, None]:
            raise uses.refuse("a slice is beside arrays in a key")
        return part
    if not kinds <= {int, Twofold, type(None)} or type_of(bounds[2]) is Twofold:
        raise uses.refuse("a slice has unusual bounds")
    whole = uses.length(length)
    uses.add("length", length, _at_full(whole))
    ends: tuple[Any, ...] = bounds[0], bounds[1]
    plain = slice(*[one.short if type_of(one) is Twofold else one for one in bounds])
    for one in bounds[:2]:
        if type_of(one) is Twofold:
            one.check_axis(whole)
    turning = [one for one in bounds[:2] if type_of(one) is Twofold and one.factors]
    if not turning:
        full = slice(*[_at_full(one) for one in bounds])
        for found in zip(plain.indices(length), full.indices(_at_full(whole)), strict=True):
            uses.add("bound", *found)
        count = len(range(*plain.indices(length)))
        uses.add("slice", count, len(range(*full.indices(_at_full(whole)))))
        return plain
    start, stop = 0 if ends[0] is None else ends[0], whole if ends[1] is None else ends[1]
    if bounds[2] not in (None, 1) or not 0 <= start <= stop <= whole:
        raise uses.refuse("a slice may be cut short at full size")
    for one in turning:
        one.recorded()
    count = stop - start
    if type_of(count) is Twofold:
        count.recorded()
    return plain


def _at_full(number: Any) -> Any:
    return number.full if type_of(number) is Twofold else number


class Twofold:
    """A number of a short run, and what stands in its place at full size.

    That is `full`, and factors times the indices of loops.
    """

    __slots__ = ("factors", "full", "short", "uses")
    __class__: Any = property(lambda self: _shown(self))  # noqa: PLW0108  # pyright: ignore[reportIncompatibleVariableOverride]  # `_shown` counts frames

    def __init__(
        self, uses: Uses, short: Any, full: Any, factors: Mapping[Symbol, int] | None = None
    ) -> None:
        self.uses: Uses = uses
        self.short: Any = short
        self.full: Any = full
        self.factors: dict[Symbol, int] = {one: n for one, n in (factors or {}).items() if n}

    @property
    def rest(self) -> Any:
        """Return what the number of this run is beside multiples of indices."""
        return self.short - sum(n * one.short for one, n in self.factors.items())

    @property
    def ends(self) -> tuple[Any, Any]:
        """Return the least and the greatest number that stand in its place at full size."""
        least = greatest = self.full
        for one, n in self.factors.items():
            ends = sorted((n * one.least, n * one.greatest))
            least, greatest = least + ends[0], greatest + ends[1]
        return least, greatest

    def is_periodic(self, modulus: Twofold) -> bool:
        """Tell if the remainder is the same in all turns that stand in its place at full size."""
        k = modulus.short
        if modulus.factors or k != modulus.full or type(self.full) is not int:
            return False
        if any(n * one.step * one.period % k for one, n in self.factors.items()):
            return False
        at_full = self.full + sum(n * one.one for one, n in self.factors.items())
        return bool((at_full - self.short) % k == 0)

    def used(self) -> Any:
        """Return the number of this run, which leaves Python's arithmetic."""
        if self.factors:
            raise self.uses.refuse("a loop computes with its index")
        self.uses.add((), self.short, self.full)
        return self.short

    def as_key(self, length: int) -> int:
        """Return the number of this run as a key of an axis.

        At full size it has the same sign and lies inside too.
        """
        if type(self.short) is float:
            raise self.uses.refuse("a float is used as an index")
        whole: Any = self.uses.length(length)
        number: Any = self
        self.uses.add("length", length, _at_full(whole))
        self.check_axis(whole)
        if not -whole <= number < whole or (number >= 0) is not (self.short >= 0):
            raise self.uses.refuse("an index lies outside")
        return self.recorded()

    def check_axis(self, length: Any) -> None:
        """Check that the axis that the number indexes is as short as the loops.

        In a long one, other keys could meet it at full size alone.
        """
        if type_of(length) is not Twofold and (self.factors or self.short != self.full):
            raise self.uses.refuse("an index of a loop selects from an array that is not cut")

    def recorded(self) -> int:
        """Return the number of this run, after a note of it."""
        ordered = sorted((one.loop, n) for one, n in self.factors.items())
        self.uses.add(tuple(ordered), self.rest, self.full)
        return int(self.short)

    def _both(self, other: Any) -> Twofold | None:
        if type_of(other) is Twofold:
            found: Twofold = other
            return found
        return Twofold(self.uses, other, other) if type_of(other) in NUMBERS else None

    def _combined(self, other: Any, perform: Callable[[Any, Any], Any], *, swapped: bool) -> Any:
        both = self._both(other)
        if both is None:
            if type_of(other) in (*SEQUENCES, str):
                raise self.uses.refuse("a sequence is repeated as often as a loop has turns")
            number = self.used()
            return perform(other, number) if swapped else perform(number, other)
        a, b = (both, self) if swapped else (self, both)
        try:
            short = perform(a.short, b.short)
            if not (a.factors or b.factors):
                return Twofold(self.uses, short, perform(a.full, b.full))
        except ArithmeticError as error:
            raise self.uses.refuse("arithmetic on lengths fails") from error
        if type(short) is not int:
            raise self.uses.refuse("a loop computes with its index")
        if perform is operator.mod and a.is_periodic(b):
            return short
        if perform in (operator.add, operator.sub):
            sign = 1 if perform is operator.add else -1
            keys = {*a.factors, *b.factors}
            factors = {k: a.factors.get(k, 0) + sign * b.factors.get(k, 0) for k in keys}
            return Twofold(self.uses, short, perform(a.full, b.full), factors)
        if perform is operator.mul:
            whole, times = (a, b) if a.factors else (b, a)
            if not times.factors and times.short == times.full:
                factors = {k: n * times.full for k, n in whole.factors.items()}
                return Twofold(self.uses, short, whole.full * times.full, factors)
        raise self.uses.refuse("a loop computes with its index")

    def _compared(self, other: Any, perform: Callable[[Any, Any], Any]) -> Any:
        both = self._both(other)
        if both is None:
            if other is None or perform in (operator.eq, operator.ne):
                raise self.uses.refuse("a length is compared with something else")
            return perform(self.used(), other)
        outcome = bool(perform(self.short, both.short))
        if self.factors or both.factors:
            difference: Any = self._combined(both, operator.sub, swapped=False)
            least, greatest = difference.ends
            possible = {bool(perform(least, 0)), bool(perform(greatest, 0))}
            if perform in (operator.eq, operator.ne) and least < 0 < greatest:
                possible = {True, False}
        else:
            possible = {bool(perform(self.full, both.full))}
        if possible != {outcome}:
            raise self.uses.refuse("a comparison may have another outcome at full size")
        return outcome

    def __bool__(self) -> bool:
        return bool(self._compared(0, operator.ne))

    def __neg__(self) -> Any:
        return self._combined(0, operator.sub, swapped=True)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return self if self._compared(0, operator.ge) else -self

    def __index__(self) -> int:
        """Return the number of this run to gradwrap's functions, and as an index of a list."""
        frame = frame_of(1)
        if package_of(module_of(frame)) == "gradwrap":
            return int(self.used())
        raise self.uses.refuse("C code reads a length or an index of a loop")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or options:
            raise self.uses.refuse("a ufunc is given a length or an index of a loop")
        if all(type_of(one) in (*NUMBERS, Twofold) for one in inputs):
            both = [self._both(one) for one in inputs]
            if ufunc.nout == 1 and not any(one is None or one.factors for one in both):
                short, full = (ufunc(*[getattr(one, n) for one in both]) for n in ("short", "full"))
                if type_of(short) is np.float64:
                    return Twofold(self.uses, float(short), float(full))
            raise self.uses.refuse("a ufunc is given a length or an index of a loop")
        return ufunc(*[one.used() if type_of(one) is Twofold else one for one in inputs])

    def __getattr__(self, name: str) -> Any:
        frame = frame_of(1)
        if hasattr(type_of(self.short), name) and package_of(module_of(frame)) not in LIBRARIES:
            raise self.uses.refuse(f"the attribute {name} of a length or an index is read")
        raise AttributeError(name)


def _shown(number: Any) -> Any:
    """Return the class that `isinstance` sees: for user code, that of the number."""
    frame: FrameType | None = frame_of(2)
    while frame is not None and module_of(frame) == "abc":
        frame = frame.f_back
    is_own = frame is None or package_of(module_of(frame)) in ARRAYS
    return Twofold if is_own else type_of(number.short)


SEQUENCES = (LIST, TUPLE)
_ARITHMETIC = ("__add__", "__sub__", "__mul__", "__truediv__", "__floordiv__", "__mod__", "__pow__")
_COMPARISONS = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__")
_REFUSED = (
    *("__hash__", "__int__", "__float__", "__complex__", "__round__", "__trunc__", "__floor__"),
    *("__ceil__", "__str__", "__repr__", "__format__", "__divmod__", "__rdivmod__", "__invert__"),
    *("__array__", "__array_function__", "__reduce_ex__", "__iter__", "__contains__", "__matmul__"),
)


def _arithmetic(perform: Callable[[Any, Any], Any], *, swapped: bool) -> Any:
    def operate(self: Any, other: Any) -> Any:
        return self._combined(other, perform, swapped=swapped)

    return operate


def _comparison(perform: Callable[[Any, Any], Any]) -> Any:
    def operate(self: Any, other: Any) -> Any:
        return self._compared(other, perform)

    return operate


def _refusing(name: str) -> Any:
    def refuse(self: Any, *_: Any, **__: Any) -> Any:
        raise self.uses.refuse(f"{name} of a length or an index is asked for")

    return refuse


for _name in _ARITHMETIC:
    _perform: Any = getattr(operator, _name)
    setattr(Twofold, _name, _arithmetic(_perform, swapped=False))
    setattr(Twofold, f"__r{_name[2:]}", _arithmetic(_perform, swapped=True))
for _name in _COMPARISONS:
    setattr(Twofold, _name, _comparison(getattr(operator, _name)))
for _name in _REFUSED:
    setattr(Twofold, _name, _refusing(_name))
