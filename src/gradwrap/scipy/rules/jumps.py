"""Functions that jump where they compare tracked values.

The integral of such a function has a term for the place of the jump in its derivative, and so has
the solution of a differential equation. The functions do not give it: their derivative is zero on
both sides. So these integrals are refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.errors import NoRuleError
from gradwrap.scipy.answers import Answers
from gradwrap.scipy.solving import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

LEAST = 1e-6
"""A change as small as this part of the function is no jump."""
KINKS = 16
"""So many places of changed answers are examined in one step."""
HALVINGS = 20, 30
"""A step is halved so many times; and so many times more where the function still changes."""


OF_EQUATIONS = (
    "end the integration there by an event, solve_ivp(..., events=event) with event.terminal = "
    "True, and start another from its t_events and y_events, with the function after the jump"
)


class _Seen:
    """A point, the function's value there, and its answers."""

    def __init__(self, function: Callable[..., Any], point: Sequence[Any]) -> None:
        self.point = point
        with Answers(is_probe=True) as answers:
            self.value: Any = np.asarray(plain(function(*point)))
        self.answers: list[bytes] = answers.answers()

    def is_like(self, other: _Seen) -> bool:
        """Tell if the function takes the same way here as there."""
        return self.answers == other.answers

    def change_to(self, other: _Seen) -> float:
        return float(np.max(np.abs(other.value - self.value), initial=0.0))


def refuse_jumps(
    function: Callable[..., Any], points: Iterable[Sequence[Any]], remedy: str
) -> None:
    """Refuse a function that jumps between two of some points, one after the other.

    A function is looked at where its answers change: if its values on both sides come together,
    it has a kink there, or nothing.
    """
    before: _Seen | None = None
    for point in points:
        now = _Seen(function, point)
        place = None if before is None or before.is_like(now) else _jump(function, before, now)
        if place is not None:
            raise NoRuleError(
                f"scipy.integrate: the function jumps near {place}, where it compares a "
                "tracked value: "
                "the derivative has a term for the place of the jump, which is not known. "
                f"Fix: {remedy}; or gradwrap.numerical(f) takes the derivative of the function "
                "that integrates by differences."
            )
        before = now


def refuse_jump_in_step(answers: Answers, rate: Callable[..., Any], *ends: Sequence[Any]) -> None:
    """Refuse the rate of a differential equation that jumps in a step, if it has compared."""
    if answers.found:
        refuse_jumps(rate, ends, OF_EQUATIONS)


def _jump(function: Callable[..., Any], start: _Seen, end: _Seen) -> str | None:
    """Return the coordinates, if numbers, of a place between points where a function jumps."""
    size = max(np.max(np.abs(one.value), initial=0.0) for one in (start, end))

    def at(part: float) -> _Seen:
        point = [a + part * (b - a) for a, b in zip(start.point, end.point, strict=True)]
        return _Seen(function, point)

    low, last = 0.0, start
    for _ in range(KINKS):
        if last.is_like(end):
            break
        high, first = 1.0, end
        for count in range(sum(HALVINGS)):
            if count == HALVINGS[0] and last.change_to(first) <= LEAST * size:
                break
            middle = 0.5 * (low + high)
            seen = at(middle)
            if seen.is_like(last):
                low, last = middle, seen
            else:
                high, first = middle, seen
        if not last.change_to(first) <= LEAST * size:
            coordinates = [one for one in map(plain, first.point) if not np.ndim(one)]
            return ", ".join(f"{one:.6g}" for one in coordinates)
        low, last = high, first
    return None
