"""Gradients that a pass without infinite derivatives has guessed, and whether values confirm them.

Where a derivative is infinite, and zero times that arrives behind it, the product is a limit that
only the values of the function know: zero in `sqrt(w) * y` where the weight w is zero and stays so,
one in `sqrt(x) * sqrt(x)`.
"""

from __future__ import annotations

import functools
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.core.levels.levels import differentiating
from gradwrap.core.levels.wrapper import innermost
from gradwrap.core.library.backend import backend_of, is_array
from gradwrap.core.observing.callers import noted
from gradwrap.core.values.record import Record
from gradwrap.core.values.tree import flatten, map_leaves, unflatten
from gradwrap.transforms.arguments import as_original

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from gradwrap.core.graph.thorough import Nans
    from gradwrap.transforms.arguments import Tracked

STEPS = (6e-6, 6e-7, 6e-8)
"""The steps of the differences, in proportion to a number of more than one."""
TOLERANCE = 1e-4
NOISE = 1e-15
"""The error of values by rounding, in proportion to the largest."""
CLOSER = 0.5
"""The error of a difference is smaller than this part of that of a step ten times as long, where
the second derivative is infinite, and differences come to their limit slowly."""
STEEPER = 1.5
"""The difference to one side is larger than so many times that of a step ten times as long, where
the derivative is infinite, with another sign at the other side."""
DIRECTIONS = 4
"""The most directions that are tried."""


class Call(Record):
    """The call of a function under a transform, which can be repeated with plain values."""

    fun: Callable[..., Any]
    args: Sequence[Any]
    kwargs: dict[str, Any]
    places: dict[int | str, Tracked]
    """The arguments that are tracked, by position or name."""
    out: Any

    def confirms(self, outputs: Sequence[Any], cotangents: Sequence[Any], nans: Nans) -> bool:
        """Tell if differences of values confirm gradients along the elements that were NaN."""
        leaves = flatten(self.out)[0]
        asked = [n for one in outputs for n, leaf in enumerate(leaves) if leaf is one]
        points: dict[Any, Any] = {}

        def values(moved: dict[Any, Any]) -> list[Any]:
            outs = flatten(self._again(moved))[0]
            return [np.asarray(outs[n]) for n in asked]

        def agree(slopes: dict[Any, Any]) -> bool:
            found = _total([nans[leaf][0] for leaf in slopes], slopes.values())
            errors: list[Any] = []
            sides: list[Any] = []
            is_near: Any = False
            is_cusp: Any = False
            for step in STEPS:
                ahead, back = (
                    values({leaf: points[leaf] + sign * step * s for leaf, s in slopes.items()})
                    for sign in (1.0, -1.0)
                )
                sides.append(_total(cotangents, _over(step, ahead, here)))
                wanted = _total(cotangents, _over(2 * step, ahead, back))
                allowed = TOLERANCE * np.maximum(np.abs(wanted), np.abs(found)) + noise / step
                errors.append(np.abs(wanted - found))
                is_near = is_near | (errors[-1] <= allowed)
                is_cusp = np.abs(sides[-1]) > STEEPER * np.abs(sides[0]) + noise / step
                if len(errors) > 1 and np.all(is_near & ~is_cusp):
                    return True
            long, middle, short = errors
            comes_near = (short <= CLOSER * middle) & (middle <= CLOSER * long)
            return bool(np.all((is_near | comes_near) & ~is_cusp))

        before = noted.get()
        try:
            points |= {leaf: np.asarray(self._original(leaf)) for leaf in nans}
            if len(asked) != len(outputs) or any(x.dtype.char != "d" for x in points.values()):
                return False
            with differentiating(False), np.errstate(all="ignore"):
                here = values({})
                recorded = [innermost(one) for one in outputs]
                if not all(map(_are_close, here, recorded)):
                    return False  # it depends on random numbers, say
                noise = NOISE * _total(map(np.abs, cotangents), map(np.abs, here))
                return all(agree(slopes) for slopes in _directions(nans, points))
        except Exception:  # noqa: BLE001  an argument may not move: there is nothing to compare
            return False
        finally:
            noted.set(before)

    def _original(self, node: Any) -> Any:
        return next(
            original
            for tracked in self.places.values()
            for leaf, original in zip(tracked.leaves, tracked.originals, strict=True)
            if leaf is not None and leaf[0] is node
        )

    def _again(self, moved: dict[Any, Any]) -> Any:
        """Return the result where some leaves of tracked arguments have other values."""
        args, kwargs = map_leaves(_own, ([*self.args], dict(self.kwargs)))
        for place, tracked in self.places.items():
            given = [
                as_original(moved[leaf[0]], original)
                if leaf is not None and leaf[0] in moved
                else _own(original)
                for leaf, original in zip(tracked.leaves, tracked.originals, strict=True)
            ]
            into: Any = args if isinstance(place, int) else kwargs
            into[place] = unflatten(tracked.treedef, given)
        return self.fun(*args, **kwargs)


def _own(leaf: Any) -> Any:
    """Return a copy of an array, which the function may write to."""
    return backend_of(leaf).copy(leaf) if is_array(leaf) else leaf


def _are_close(one: Any, other: Any) -> bool:
    return bool(np.allclose(one, other, rtol=1e-9, atol=0.0, equal_nan=True))


def _over(step: float, ahead: Sequence[Any], back: Sequence[Any]) -> list[Any]:
    return [(a - b) / step for a, b in zip(ahead, back, strict=True)]


def _total(cotangents: Iterable[Any], tangents: Iterable[Any]) -> Any:
    """Return the sum of products, as a number, or as one for each example of a batch."""
    products: list[Any] = [g * t for g, t in zip(cotangents, tangents, strict=True)]
    sums: list[Any] = [innermost(backend_of(one).xp.sum(one)) for one in products]
    return functools.reduce(operator.add, sums)


def _directions(nans: Nans, points: dict[Any, Any]) -> Iterator[dict[Any, Any]]:
    """Yield directions of elements that were NaN: one by one, or some mixtures of all."""
    masks = {leaf: np.asarray(innermost(where)) for leaf, (_, where) in nans.items()}
    for leaf, mask in masks.items():
        batch = tuple(range(mask.ndim - points[leaf].ndim))
        masks[leaf] = np.any(mask, axis=batch) if batch else mask
    count = sum(int(np.count_nonzero(mask)) for mask in masks.values())
    for turn in range(min(count, DIRECTIONS)):
        slopes: dict[Any, Any] = {}
        first = 0
        for leaf, mask in masks.items():
            numbers = np.arange(first, first + np.count_nonzero(mask), dtype=float)
            first += numbers.size
            weights = numbers == turn if count <= DIRECTIONS else np.cos((turn + 1) * (numbers + 1))
            slopes[leaf] = np.zeros(points[leaf].shape)
            slopes[leaf][mask] = weights * np.maximum(1.0, np.abs(points[leaf][mask]))
        yield slopes
