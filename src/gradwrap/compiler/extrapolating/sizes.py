"""Short lengths in place of long ones: in the calls of `range`, and in the shapes of arrays."""

from __future__ import annotations

import builtins
import operator
import sys
import time
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from gradwrap.compiler.ir.program import NDARRAY
from gradwrap.compiler.tracing.tape import Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from gradwrap.compiler.tracing.surroundings.find import Surroundings
    from gradwrap.compiler.tracing.tape import Tape

LIMIT = 40
"""The greatest length that stays as it is."""
SHORT = 12
"""The greatest length that stays as it is where loops of loops are looked for."""
NEAR = 3
"""Lengths that differ by at most so much share a parameter, such as `n` and `n - 1`."""
FEW, LONGER = 80, 2
"""Loops of at most so many turns may take so many times as many operations: to trace all turns
takes less time than to trace some short loops, and to compare them."""
BETWEEN = 6
"""The distance between the short lengths of two parameters."""


class Declined(Exception):  # noqa: N818  it is caught, and the function is traced in full
    """The program of long loops cannot be extrapolated."""


class Numbers(Watch, Protocol):
    """Gives user code numbers that know what they are at full size: see `watching.py`."""

    @property
    def builtins(self) -> dict[str, Any]:
        """Return what replaces Python's builtins."""
        ...

    def number(self, number: int) -> Any:
        """Return an integer of the surroundings."""
        ...


class Computing(Protocol):
    """Gives user code numbers that note how they were computed: see `formulas.py`."""

    @property
    def builtins(self) -> dict[str, Any]:
        """Return what replaces Python's builtins and modules."""
        ...

    def length(self, length: int) -> Any:
        """Return a length that notes what is computed with it."""
        ...

    def turns(self, whole: range) -> Any:
        """Return the indices of a loop."""
        ...


def further(length: int, step: int, count: int) -> int:
    """Return the length that is some steps above a length.

    Powers of two are left out: a mean would divide by them exactly, so that its program would be
    simpler. Lengths of loops of loops, which are short, follow each other.
    """
    for _ in range(count + 1):
        while step > 1 and length & (length - 1) == 0:
            length += step
        length += step
    return length - step


class Sizes:
    """The parameters: long lengths, and the short ones that replace them."""

    def __init__(self, limit: int = LIMIT, near: int = NEAR, first: int = 0) -> None:
        self._limit = limit
        """The greatest length that stays as it is."""
        self._first = first or limit // 2
        """The first short length."""
        self._near = near
        """Lengths that differ by at most so much share a parameter."""
        self.actual: list[int] = []
        self.short: list[int] = []
        self.in_ranges: list[int] = []
        """The long lengths that bounds of ranges stand for, in the order in which they appear."""
        self.longest: int = 0
        """The longest length so far."""
        self.is_open: bool = True
        """Whether a new long length becomes a parameter."""
        self.watch: Numbers | None = None
        """Watches a run, whose numbers know what they are at full size."""
        self.recorder: Computing | None = None
        """Records a run, whose numbers note how they were computed."""
        self._bounds: dict[int, set[tuple[int, ...]]] = {}
        """By line of a call of `range`: its bounds."""

    def of(self, length: int) -> int:
        """Return the length that replaces a length, or a bound of a range."""
        self.longest = max(self.longest, length, -length)
        if -self._limit <= length <= self._limit:
            return length
        if length < 0:
            return -self.of(-length)
        for number, actual in enumerate(self.actual):
            if abs(length - actual) <= self._near:
                return self.short[number] + length - actual
        if not self.is_open:
            return length
        self.actual.append(length)
        self.short.append(self._first + BETWEEN * (len(self.short) % 3))
        return self.short[-1]

    def actual_of(self, bound: int) -> int:
        """Return the actual length that a bound of a range stands for; 0 for a short one."""
        self.of(bound)
        pairs = [*zip(self.actual, self.short, strict=True), *((n, n) for n in self.actual)]
        return next((n for n, near in pairs if abs(abs(bound) - near) <= self._near), 0)

    def is_like(self, limit: int) -> bool:
        """Tell if the lengths met are what they are with another greatest length that stays."""
        return self._first == limit // 2 and all(n > limit + self._near for n in self.actual)

    def close(self, base: int, step: int, between: int) -> tuple[int, ...]:
        """Choose the shortest lengths, ordered as the actual ones; refuse further parameters."""
        self.is_open = False
        order: list[int] = np.argsort(self.actual, kind="stable").tolist()
        for place, number in enumerate(order):
            least = base + -(-between // step) * step * place
            self.short[number] = further(least + (self.actual[number] - least) % step, step, 0)
        return tuple(self.short)

    def shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Return the shape that replaces a shape."""
        return tuple(map(self.of, shape))

    def cut(self, leaf: Any) -> Any:
        """Return the first part of an array, or a replaced integer; other leaves unchanged."""
        if type(leaf) is int:
            return self.number(leaf)
        if not isinstance(leaf, NDARRAY) or self.shape(leaf.shape) == leaf.shape:
            return leaf
        if not (leaf.flags.c_contiguous or leaf.flags.f_contiguous):
            raise Declined("a long argument is not contiguous")
        return leaf[tuple(map(slice, self.shape(leaf.shape)))].copy(order="K")

    def number(self, number: int) -> Any:
        """Return what replaces an integer of the surroundings."""
        if self.watch is not None:
            return self.watch.number(number)
        short = self.of(number)
        return short if self.recorder is None else self.recorder.length(short)

    @property
    def builtins(self) -> dict[str, Any]:
        """Return Python's builtins, with a `range` of replaced bounds."""

        def shortened(*bounds: Any) -> Any:
            given: list[int] = [operator.index(bound) for bound in bounds]
            found = [one for one in map(self.actual_of, given[:2]) if one]
            self.in_ranges += found
            line = sys._getframe(1).f_lineno  # pyright: ignore[reportPrivateUsage]  # documented, private by its name alone
            self._bounds.setdefault(line, set()).add((*given,))
            whole = range(*map(self.of, given[:2]), *given[2:])
            return whole if self.recorder is None else self.recorder.turns(whole)

        found = {**vars(builtins), "range": shortened}
        if self.recorder is not None:
            found |= self.recorder.builtins
        return found if self.watch is None else {**found, **self.watch.builtins}

    @property
    def varying(self) -> list[str]:
        """Return a reason for each line with loops of ever more or fewer turns."""
        return [
            f"a loop in line {line} takes another number of turns each time. Fix: operations on "
            "slices, such as a[i, :i] @ x[:i], in place of such a loop"
            for line, bounds in self._bounds.items()
            if len(bounds) > NEAR
        ]


ENOUGH, SOON = 0.05, 0.02
"""The part of the time, and the least time, after which the turns so far tell how long all take."""


class TooSlow(BaseException):
    """A run takes longer than it may."""


def ranges(watched: Callable[[range], Iterator[int]]) -> dict[str, Any]:
    """Return Python's builtins, with a `range` whose turns a generator gives."""

    class Watched:
        """A range that is watched while code goes through it."""

        def __init__(self, *bounds: Any) -> None:
            self.whole: Any = range(*bounds)

        def __iter__(self) -> Iterator[int]:
            return watched(self.whole)

        def __reversed__(self) -> Iterator[int]:
            return watched(self.whole[::-1])

        def __len__(self) -> int:
            return len(self.whole)

        def __getitem__(self, key: Any) -> Any:
            return self.whole[key]

        def __contains__(self, number: object) -> bool:
            return number in self.whole

        def index(self, number: int) -> int:
            """Return the place of a number."""
            return int(self.whole.index(number))

    return {**vars(builtins), "range": Watched}


def timed(seconds: float) -> dict[str, Any]:
    """Return Python's builtins, with a `range` that raises `TooSlow` after some time.

    It does so at once if the first turns tell that a loop will take longer.
    """
    end = time.perf_counter() + seconds

    def watched(turns: range) -> Iterator[int]:
        start = time.perf_counter()
        for number, turn in enumerate(turns):
            now = time.perf_counter()
            is_slow = (now - start) * len(turns) > seconds * number
            if now > end or (is_slow and now - start > max(ENOUGH * seconds, SOON)):
                raise TooSlow
            yield turn

    return ranges(watched)


class Foreseeing:
    """The surroundings of a function, in a trace that its first turns tell to be too long."""

    def __init__(self, surroundings: Surroundings, tape: Tape, most: int, part: int) -> None:
        self._whole: Surroundings = surroundings
        self._tape: Tape = tape
        self._most: int = most
        """The most operations of a trace."""
        self._part: int = part
        """The operations of a trace, by those until its loops end."""
        self._are_few: bool = True
        self._around: list[tuple[int, int]] = []
        """By loop around the present code: the operations before its present turn, and the turns
        after it; 0 if it has more turns, which tell it themselves."""
        self.replaces: bool = True
        self.sets_errors: bool = surroundings.sets_errors
        self.tells_same: bool = surroundings.tells_same
        self.watch: None = None
        self.is_used: bool = False
        """Whether code went through a range."""

    def with_arrays(
        self, leaves: Sequence[Any], enter: Callable[[Any], Any]
    ) -> tuple[Callable[..., Any], Sequence[Any]]:
        """Return the function and the leaves of its arguments, with loops that are watched."""
        return self._whole.with_arrays(leaves, enter, ranges(self._watched))

    def _watched(self, turns: range) -> Iterator[int]:
        self.is_used = True
        instrs, start = self._tape.instrs, len(self._tape.instrs)
        count, depth = len(turns), len(self._around)
        is_short = count <= SHORT
        self._are_few &= count <= FEW
        most = self._most * (LONGER if self._are_few else 1)
        try:
            for number, turn in enumerate(turns):
                if number > NEAR and not is_short:
                    end = start + (len(instrs) - start) * count // number
                    for begun, left in reversed(self._around[:depth]):
                        end += (end - begun) * left
                    if end > most // self._part:
                        raise self._tape.too_long()
                    if self._are_few:
                        self._tape.most = most
                left = count - number - 1 if is_short else 0
                self._around[depth:] = [(len(instrs), left)]
                yield turn
        finally:
            del self._around[depth:]


class Shortened:
    """The surroundings of a function, with long loops and arrays cut."""

    def __init__(self, surroundings: Surroundings, sizes: Sizes, *, cuts: bool) -> None:
        self._whole = surroundings
        self._sizes = sizes
        self._cuts = cuts
        self._parts: dict[int, tuple[Any, Any]] = {}
        self._kept: dict[int, Any] = {}
        self.replaces: bool = True
        self.sets_errors: bool = surroundings.sets_errors
        self.tells_same: bool = surroundings.tells_same
        self.watch: Numbers | None = sizes.watch

    def cut(self, array: Any) -> Any:
        """Return the part of an array that replaces it."""
        if not self._cuts:
            return array
        part = self._kept.get(id(array))
        if part is None:
            part = self._kept[id(array)] = self._sizes.cut(array)
            self._parts[id(part)] = (part, array)
        return part

    def whole(self, array: Any) -> Any:
        """Return the array of the surroundings that an array is a part of; else itself."""
        found = self._parts.get(id(array))
        return array if found is None else found[1]

    def with_arrays(
        self, leaves: Sequence[Any], enter: Callable[[Any], Any]
    ) -> tuple[Callable[..., Any], Sequence[Any]]:
        """Return the function and the leaves of its arguments, with arrays replaced and loops cut.

        See `Surroundings.with_arrays`.
        """
        return self._whole.with_arrays(
            leaves,
            lambda array: enter(self.cut(array)),
            self._sizes.builtins,
            self._sizes.number if self._cuts else None,
        )
