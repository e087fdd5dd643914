"""Padding of arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.backends.numpy.functions.joining import gathered, positions_of
from gradwrap.backends.numpy.functions.table import counting, implements, in_order, untyped
from gradwrap.core.levels.memory import one_array
from gradwrap.core.levels.wrapper import innermost, is_recorded, unwrapped_key
from gradwrap.errors import NoRuleError

if TYPE_CHECKING:
    from collections.abc import Callable

    Sides = tuple[int, int]

STATISTICS: dict[str, Any] = {
    "maximum": np.max,
    "minimum": np.min,
    "mean": np.mean,
    "median": np.median,
}


@implements("pad(array, pad_width, mode='constant', **kwargs)", arrays=1)
def pad(xp: Any, array: Any, pad_width: Any, mode: Any, **kwargs: Any) -> Any:
    """Pad with a constant, with elements that NumPy would repeat, or one axis after the other."""
    constants = kwargs.get("constant_values", 0)
    order = _order_of(array)
    if mode == "constant" and is_recorded(constants):
        pairs = xp.broadcast_to(xp.asarray(constants), (array.ndim, 2))
        ends = counting(2 * array.ndim).reshape(array.ndim, 2)
        places: Any = 2 * array.ndim + np.asarray(positions_of(array), order=order)
        places = untyped.pad(places, pad_width, constant_values=ends)
        parts = (xp.astype(pairs, array.dtype, copy=False), array)
        return xp.concat([xp.reshape(part, (-1,)) for part in parts])[places]
    if mode == "constant":
        kwargs = {k: unwrapped_key(v) for k, v in kwargs.items()}
        zeros = np.zeros(array.shape, innermost(array).dtype, order)
        out = xp.asarray(np.pad(zeros, pad_width, **kwargs))
        pairs = _widths(array, pad_width) if array.size else [(0, 0)] * array.ndim
        out[tuple(slice(i, i + n) for (i, _), n in zip(pairs, array.shape, strict=True))] = array
        return out
    if callable(mode) or mode == "empty":
        raise NoRuleError(f"np.pad with mode={mode!r} has no rule. Fix: use np.concatenate.")
    is_odd = kwargs.get("reflect_type", "even") == "odd"
    if array.size and (mode in STATISTICS or mode == "linear_ramp" or is_odd):
        plain = {k: unwrapped_key(v) for k, v in kwargs.items()}
        untyped.pad(np.ones((1,) * array.ndim), pad_width, mode=mode, **plain)  # for its errors
        return in_order(_along_axes(xp, array, _widths(array, pad_width), mode, kwargs), order)

    def padded(positions: Any) -> Any:
        ordered = np.asarray(positions, order=order)
        return untyped.pad(ordered, pad_width=pad_width, mode=mode, **kwargs)

    return gathered(xp, padded, array)


def _order_of(array: Any) -> Any:
    """Return the memory order in which NumPy pads an array."""
    flags = getattr(one_array(array), "flags", None)
    return "F" if flags is not None and flags.fnc else "C"


def _widths(array: Any, pad_width: Any) -> list[Sides]:
    """Return how many elements NumPy adds on both sides of each axis."""
    inside: Any = untyped.pad(np.full((1,) * array.ndim, True), pad_width)
    first = map(int, untyped.unravel_index(inside.argmax(), inside.shape))
    return [(left, n - 1 - left) for left, n in zip(first, inside.shape, strict=True)]


def _along_axes(
    xp: Any, array: Any, widths: list[Sides], mode: str, options: dict[str, Any]
) -> Any:
    """Pad one axis after the other; each reads what the axes before it have added."""
    out = xp.asarray(array, copy=True)
    lengths = np.broadcast_to(np.asarray(options.get("stat_length"), object), (array.ndim, 2))
    values = options.get("end_values", 0)
    ends = (
        xp.broadcast_to(xp.asarray(values), (array.ndim, 2))
        if is_recorded(values)
        else (np.broadcast_to(np.asarray(values), (array.ndim, 2)))
    )
    for axis, sides in enumerate(widths):
        if mode in STATISTICS:
            parts = _statistics(xp, out, axis, sides, lengths[axis], STATISTICS[mode])
        elif mode == "linear_ramp":
            parts = _ramps(xp, out, axis, sides, ends[axis])
        else:
            parts = _odd_reflections(xp, out, axis, sides, with_edge=mode == "symmetric")
        out = xp.concat([parts[0], out, parts[1]], axis=axis)
    return out


def _slice(array: Any, axis: int, key: Any) -> Any:
    return array[(slice(None),) * axis + (key,)]


def _statistics(
    xp: Any, array: Any, axis: int, sides: Sides, lengths: Any, function: Callable[..., Any]
) -> list[Any]:
    """Return a mean or another statistic of the elements at both ends, as often as it is added."""
    n = array.shape[axis]
    left, right = (n if length is None else min(int(length), n) for length in lengths)
    parts: list[Any] = []
    for width, key in zip(sides, (slice(0, left), slice(n - right, n)), strict=True):
        found = function(_slice(array, axis, key), axis=axis, keepdims=True)
        parts.append(_repeated(xp, _as_dtype(xp, found, array, np.round), axis, width))
    return parts


def _repeated(xp: Any, part: Any, axis: int, width: int) -> Any:
    return xp.broadcast_to(part, (*part.shape[:axis], width, *part.shape[axis + 1 :]))


def _as_dtype(xp: Any, part: Any, array: Any, rounded: Callable[..., Any]) -> Any:
    if xp.isdtype(array.dtype, "integral"):
        part = rounded(part)
    return xp.astype(xp.asarray(part), array.dtype, copy=False)


def _ramps(xp: Any, array: Any, axis: int, sides: Sides, ends: Any) -> list[Any]:
    """Return steps of equal size from the end values to the elements at both ends."""
    parts: list[Any] = []
    for side, width in enumerate(sides):
        edge = _slice(array, axis, slice(0, 1) if side == 0 else slice(-1, None))
        steps = counting(width) if side == 0 else counting(width)[::-1]
        shape = (1,) * axis + (width,) + (1,) * (array.ndim - axis - 1)
        places = np.reshape(steps, shape).astype(innermost(array).dtype)
        ramp = (edge - ends[side]) / max(width, 1) * xp.asarray(places) + ends[side]
        parts.append(_as_dtype(xp, ramp, array, np.floor))
    return parts


def _odd_reflections(xp: Any, array: Any, axis: int, sides: Sides, *, with_edge: bool) -> list[Any]:
    """Return what reflections of the graph at both ends give, again and again.

    Two of them move it by twice its length, and upwards by twice the difference of its ends.
    """
    n = array.shape[axis]
    first, last = _slice(array, axis, slice(0, 1)), _slice(array, axis, slice(n - 1, n))
    if n == 1:  # NumPy repeats it
        return [_repeated(xp, first, axis, width) for width in sides]
    half = n if with_edge else n - 1
    parts: list[Any] = []
    for start, width in zip((-sides[0], n), sides, strict=True):
        turns, places = np.divmod(counting(width) + start, 2 * half)
        is_back = places >= n
        places = np.where(is_back, 2 * half - with_edge - places, places)
        shape = (1,) * axis + (width,) + (1,) * (array.ndim - axis - 1)
        signs, edges, lifts = (
            xp.asarray(np.reshape(part, shape).astype(innermost(array).dtype))
            for part in (1 - 2 * is_back, 2 * is_back, 2 * turns)
        )
        taken = xp.take(array, xp.asarray(places), axis=axis)
        parts.append(signs * taken + edges * last + lifts * (last - first))
    return parts
