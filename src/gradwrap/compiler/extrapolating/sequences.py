"""Sequences of numbers that a loop computes in Python, such as `0.1 * i` or `rate *= 0.9`."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.extrapolating.sizes import Declined

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

FEWEST = 5
"""The fewest numbers from which a law is read."""
CLOSE = 1e-9
"""The relative difference of numbers that are the same up to rounding."""
ULP = 2.0**-52
FEW = 8
FIRST = range(-3, 4)
"""The numbers from which a loop may count."""


def sequence(samples: Sequence[Any]) -> tuple[Callable[[int], Any], Callable[[int], Any]] | None:
    """Return two functions of the length for sequences of several lengths, or None.

    The shorter ones have to be the beginning of the longest, or its end. The second function gives
    the sequence in the order in which it grows.
    """
    longest = max(samples, key=len)
    if min(map(len, samples)) < FEWEST:
        return None
    for is_backward in (False, True):
        turned = [one[::-1] if is_backward else one for one in samples]
        whole = longest[::-1] if is_backward else longest
        if any(one.tobytes() != whole[: len(one)].tobytes() for one in turned):
            continue
        law = _law(whole)
        if law is not None:
            return _backward(law) if is_backward else law, law
    return None


def indices_of(whole: Any) -> tuple[int, ...]:
    """Return the numbers from which `indices` makes an array.

    Raises
    ------
    Declined
        There are none.
    """
    wide = whole.astype(np.int64)
    with suppress(Declined):
        return (*_once(wide), len(wide))
    for turns in (np.flatnonzero(wide[1 : len(wide) // 2 + 1] == wide[0]) + 1).tolist():
        if np.array_equal(wide[turns:], wide[:-turns]):
            return (*_once(wide[:turns]), turns)
    raise Declined("integers that are no indices of a loop of loops")


def _once(wide: Any) -> tuple[int, ...]:
    """Return the numbers of a sequence that does not start again."""
    steps = np.diff(wide)
    for step in (0, 1, -1, *(steps[:1].tolist())):
        ends = np.flatnonzero(steps != step) + 1
        if len(ends) < FEWEST:
            if step and 0 < len(ends) < len(wide) // FEWEST:
                found = _few(wide, ends, step)
                if np.array_equal(indices((*found, len(wide)), len(wide)), wide):
                    return found
            continue
        counts, starts = np.diff(ends).tolist(), wide[ends].tolist()
        more, further = counts[1] - counts[0], starts[1] - starts[0]
        count, start = counts[0] - more, starts[0] - further
        skipped = count - int(ends[0])
        found = (start, further, step, count, more, skipped)
        if skipped >= 0 and np.array_equal(indices((*found, len(wide)), len(wide)), wide):
            return found
    raise Declined("integers that are no indices of a loop of loops")


def _few(wide: Any, ends: Any, step: int) -> tuple[int, ...]:
    """Return the numbers of a few inner loops that are all the same."""
    start = int(wide[ends[0]])
    count = (
        int(ends[1] - ends[0]) if len(ends) > 1 else (int(wide[ends[0] - 1]) - start) // step + 1
    )
    return start, 0, step, count, 0, count - int(ends[0])


def indices(law: Sequence[int], length: int) -> Any:
    """Return the values of an index in two nested loops, in the order of the turns.

    The law is `start, further, step, count, more, skipped, again`, as `indices_of` finds it. The
    first inner loop has `count` turns, and each later one has `more` turns than the loop before it.
    The first inner loop counts from `start` in steps of `step`. Each later one begins `further`
    beyond the beginning of the loop before it. The first `skipped` turns are left out. After
    `again` turns the sequence repeats.
    """
    start, further, step, count, more, skipped, again = law
    parts: list[Any] = []
    left = min(length, again) + skipped
    while left > 0 and count > 0:
        parts.append(start + step * np.arange(min(count, left)))
        start, left, count = start + further, left - count, count + more
    return np.resize(np.concatenate([*parts, np.zeros(0, np.int64)])[skipped:], length)


def _backward(law: Callable[[int], Any]) -> Callable[[int], Any]:
    return lambda count: law(count)[::-1]


def _stairs(whole: Any) -> Callable[[int], Any] | None:
    """Return the law of a sequence that repeats each number equally often."""
    ends = np.flatnonzero(whole[1:] != whole[:-1]) + 1
    if len(ends) < FEWEST or ends[0] == 1 or len({*np.diff(ends, prepend=0).tolist()}) > 1:
        return None
    times = int(ends[0])
    law = _law(whole[::times])
    return law and (lambda count: np.repeat(law(-(-count // times)), times)[:count])


def _law(whole: Any) -> Callable[[int], Any] | None:
    """Return the law of a sequence: what gives its numbers bit for bit, or else up to rounding."""
    for period in range(2, (len(whole) - 1) // 2 + 1):
        if whole[period:].tobytes() == whole[:-period].tobytes():
            return partial(np.resize, whole[:period].copy())
    stairs = _stairs(whole)
    if stairs is not None:
        return stairs
    if whole.dtype.kind in "iu":
        steps = np.diff(whole.astype(np.int64))
        if np.any(steps != steps[0]):
            return None
        first, step = int(whole[0]), int(steps[0])
        return lambda count: first + step * np.arange(count)
    if not np.all(np.isfinite(whole)):
        return None
    kept: Callable[[int], Any] | None = None
    wide = whole.astype(np.float64)
    bound = FEW * (ULP if whole.dtype == np.float64 else float(np.finfo(whole.dtype).eps))
    with np.errstate(all="ignore"):
        for law in _laws(wide):
            found = law(len(whole)).astype(whole.dtype)
            if found.tobytes() == whole.tobytes():
                return law
            if kept is None and np.all(np.abs(found - whole) <= bound * np.abs(whole)):
                kept = law
    return kept


def _laws(wide: Any) -> Iterator[Callable[[int], Any]]:
    first, second, last = float(wide[0]), float(wide[1]), float(wide[-1])
    turns = len(wide) - 1
    if np.all(wide == first):
        yield lambda count: np.full(count, first)
        return
    for step in _readings((last - first) / turns, second - first):
        for start in _readings(first):
            yield _Line(start, step)
        yield _Repeated(np.add, first, step)
        for at in FIRST:
            yield _Multiple(at, step)
    if first and last / first > 0:
        for rate in _readings((last / first) ** (1 / turns), second / first):
            yield _Repeated(np.multiply, first, rate)
            yield _Powers(0.0, first, rate, 0)
            for at in FIRST:
                yield _Powers(0.0, _reading(first / rate**at), rate, at)
    rest = np.diff(wide)  # a constant and a geometric sequence
    if np.all(rest) and np.all(rest / rest[0] > 0):
        for rate in _readings(float(rest[1] / rest[0])):
            if rate != 1.0:
                for at in FIRST:
                    factor = _reading(float(rest[0]) / (rate - 1.0) / rate**at)
                    yield _Powers(_reading(first - factor * rate**at), factor, rate, at)


def _reading(number: float) -> float:
    return next(_readings(number))


def _readings(*numbers: float) -> Iterator[float]:
    """Yield numbers as the user may have written them, with few digits first."""
    for number in numbers:
        if np.isfinite(number):
            short = float(f"{number:.10g}")
            if abs(short - number) <= 1e-9 * abs(number):
                yield short
    yield from numbers


class _Line:
    def __init__(self, start: float, step: float) -> None:
        self.start, self.step = start, step

    def __call__(self, count: int) -> Any:
        return self.start + self.step * np.arange(count)


class _Multiple:
    def __init__(self, at: int, step: float) -> None:
        self.at, self.step = at, step

    def __call__(self, count: int) -> Any:
        return self.step * np.arange(self.at, self.at + count)


class _Repeated:
    """A number to which the same is done in each turn."""

    def __init__(self, ufunc: Any, start: float, by: float) -> None:
        self.ufunc, self.start, self.by = ufunc, start, by

    def __call__(self, count: int) -> Any:
        numbers = np.full(count, self.by)
        numbers[:1] = self.start
        return self.ufunc.accumulate(numbers)


class _Powers:
    def __init__(self, start: float, factor: float, rate: float, at: int) -> None:
        self.start, self.factor, self.rate, self.at = start, factor, rate, at

    def __call__(self, count: int) -> Any:
        powers = np.array([self.rate ** (self.at + n) for n in range(count)])
        return self.start + self.factor * powers
