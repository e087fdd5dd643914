"""Functions that find a number by comparisons, and whether their derivative is whole.

It is if the code corrects the number afterwards, as by a Newton step. So the derivative along one
direction is compared with a difference of the function's values.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.core.array.steered import REMEDY, Found
from gradwrap.core.calls.loop import first_example
from gradwrap.core.levels.levels import differentiating
from gradwrap.core.levels.wrapper import is_recorded
from gradwrap.core.observing.results import parts_of
from gradwrap.core.values.tree import flatten, unflatten
from gradwrap.errors import AdaptationError
from gradwrap.transforms.forward import jvp

if TYPE_CHECKING:
    from collections.abc import Callable

STEP = 6e-6
"""The step of the difference, in proportion to a number of more than one."""
FAR = 1e-3
"""That to points which code does not take for equal to the first, as `np.allclose` does."""
LONGER = (1e-3, 1e-2)
"""The steps where values are rough."""
TOLERANCE = 1e-3
FARTHER = 0.1
"""That of a difference to points farther away than `FAR`, which has an error of its own."""
NOISE = 1e-15
"""The error of values by rounding, in proportion to the largest."""


def lacks_a_part(  # noqa: PLR0913  the functions, the call, and how they are compared
    adapted: Callable[..., Any],
    plain: Callable[..., Any],
    args: Any,
    kwargs: Any,
    *,
    steps: tuple[float, ...] = (STEP,),
    strictly_at: tuple[float, ...] = (),
    is_rough: bool = False,
) -> bool | None:
    """Tell if the derivative of an adapted function is not that of its values; None if unknown.

    Under `vmap`, it is that of the first example. It is compared with differences of some steps. If
    strictly, those to both sides must agree: where there is a kink, or the values have an error of
    their own, it is unknown. If the values are rough, as those of a search that ends at a
    tolerance, longer steps may do.
    """
    line = _Line(args, kwargs)

    def along(step: float) -> list[Any]:
        moved = [x + step * s for x, s in zip(line.point, line.slopes, strict=True)]
        return parts_of(line.called(plain)(*moved))

    try:
        values_there, exact = jvp(line.called(adapted), line.point, line.slopes)
        with differentiating(False):
            there = along(0.0)
            if not is_recorded(there) and not _are_close(parts_of(values_there), there):
                return None  # of random numbers, say
            sides = [
                (step, step not in steps, [along(step), there, along(-step)])
                for step in (*steps, *strictly_at)
            ]
    except Exception:  # noqa: BLE001  an argument may not move: there is nothing to compare
        return None
    if is_recorded([one for *_, three in sides for some in three for one in some]):
        return True  # plain calls find what the run has left
    found = [np.asarray(one) for one in parts_of(exact)]
    shapes = [one.shape for one in found]
    if any(list(map(np.shape, some)) != shapes for *_, three in sides for some in three):
        return None
    differ = any(_differ(found, step, three, strictly=is_so) for step, is_so, three in sides)
    if not is_rough or not differ:
        return differ
    with differentiating(False):
        return all(_differ_far(found, along, step) for step in LONGER)


def have_other_slopes(
    one: Callable[..., Any], other: Callable[..., Any], args: Any, kwargs: Any
) -> bool:
    """Tell if the derivatives of two adapted functions along one direction differ."""
    line = _Line(args, kwargs)
    try:
        some, others = (
            [np.asarray(part) for part in parts_of(jvp(line.called(f), line.point, line.slopes)[1])]
            for f in (one, other)
        )
    except Exception:  # noqa: BLE001  without a derivative there is nothing to compare
        return False
    return list(map(np.shape, some)) == list(map(np.shape, others)) and _are_others(
        some, others, NOISE * _largest(some)
    )


class _Line:
    """A line through the tracked arguments of a call; under `vmap`, those of the first example."""

    def __init__(self, args: Any, kwargs: Any) -> None:
        leaves, self._tree = flatten([args, kwargs])
        self._tracked = [n for n, leaf in enumerate(leaves) if is_recorded(leaf)]
        self._values = [first_example(one) for one in leaves]
        self.point: list[Any] = [np.asarray(self._values[n]) for n in self._tracked]
        self.slopes: list[Any] = list(map(_slopes_at, self.point))

    def called(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function of the tracked arguments alone."""

        def call(*moved: Any) -> Any:
            given = [*self._values]
            for n, one in zip(self._tracked, moved, strict=True):
                given[n] = one if one.shape else one[()]
            arguments, named = unflatten(self._tree, given)
            return function(*arguments, **named)

        return call


def _slopes_at(point: Any) -> Any:
    """Return a direction with another component for each element, in proportion to its size."""
    waves = [math.cos(n + 1) for n in range(point.size)]
    return np.reshape(waves, point.shape) * np.maximum(1.0, np.abs(point))


def _differ_far(found: list[Any], along: Callable[[float], list[Any]], step: float) -> bool:
    """Tell if a derivative is not the difference of a long step, of fourth order."""
    ahead, back, far_ahead, far_back = map(along, (step, -step, 2 * step, -2 * step))
    wanted = [
        (8 * (np.asarray(a) - b) - (np.asarray(c) - d)) / (12 * step)
        for a, b, c, d in zip(ahead, back, far_ahead, far_back, strict=True)
    ]
    return _are_others(found, wanted, 0.0)


def _differ(found: list[Any], step: float, three: list[list[Any]], *, strictly: bool) -> bool:
    """Tell if a derivative is not that of the values ahead of a point, there, and back of it."""
    ahead, there, back = ([np.asarray(one) for one in some] for some in three)
    values = [*ahead, *there, *back]
    wanted = [(a - b) / (2 * step) for a, b in zip(ahead, back, strict=True)]
    size = _largest(values)
    if strictly:
        wanted = [
            np.where(_has_slope(f, w, (a - t) / step, (t - b) / step), w, f)
            for f, w, t, a, b in zip(found, wanted, there, ahead, back, strict=True)
        ]
    return _are_others(found, wanted, NOISE * size / step, FARTHER if step > FAR else TOLERANCE)


def _are_others(
    found: list[Any], wanted: list[Any], noise: float, tolerance: float = TOLERANCE
) -> bool:
    allowed = tolerance * _largest(wanted) + noise
    return any(bool(np.any(np.abs(a - b) > allowed)) for a, b in zip(found, wanted, strict=True))


def _largest(some: list[Any]) -> float:
    return max((float(np.max(np.abs(one), initial=0.0)) for one in some), default=0.0)


def _has_slope(found: Any, wanted: Any, ahead: Any, back: Any) -> Any:
    """Tell where the differences to both sides agree, and contradict what was found."""
    return (np.abs(ahead - back) <= 0.1 * np.abs(wanted - found)) & (wanted != 0.0)


def _are_close(some: list[Any], others: list[Any]) -> bool:
    if [np.shape(one) for one in some] != [np.shape(one) for one in others]:
        return False
    return all(
        np.allclose(a, b, rtol=1e-9, atol=0.0, equal_nan=True)
        for a, b in zip(some, others, strict=True)
    )


def without_derivative(name: str, found: Found) -> AdaptationError:
    """Return the error for a function whose derivative lacks a part."""
    return AdaptationError(
        f"{found.finding}. It has no derivative, and that of {name} is not the one of its values. "
        f'Fix: gradwrap.adapting(f, compiled="numerical") takes the derivative by differences. '
        f"{REMEDY}"
    )
