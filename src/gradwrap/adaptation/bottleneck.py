"""The compiled functions of bottleneck in NumPy, for tracked arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.core.levels.wrapper import native

if TYPE_CHECKING:
    from collections.abc import Callable


numpy: Any = np
MOST = float(np.finfo(np.float64).max)


def _squares(a: Any, axis: Any = None) -> Any:
    return np.sum(a * a, axis=axis)


def _any_nan(a: Any, axis: Any = None) -> Any:
    return np.any(np.isnan(a), axis=axis)


def _all_nan(a: Any, axis: Any = None) -> Any:
    return np.all(np.isnan(a), axis=axis)


def _spread(name: str) -> Callable[..., Any]:
    """Make a function from one of NumPy, with the third parameter of bottleneck's."""

    def spread(a: Any, axis: Any = None, ddof: int = 0) -> Any:
        return getattr(np, name)(a, axis=axis, ddof=ddof)

    return spread


def _push(a: Any, n: Any = None, axis: int = -1) -> Any:
    """Fill each NaN with the last number before it, at most `n` places away."""
    lines = np.moveaxis(a, axis, -1)
    values = np.asarray(native(lines))
    at: Any = np.broadcast_to(np.arange(values.shape[-1], dtype=np.intp), values.shape)
    last: Any = np.maximum.accumulate(np.where(np.isnan(values), -1, at), axis=-1)
    is_near = (last >= 0) & (at - last <= (values.shape[-1] if n is None else n))
    filled = numpy.take_along_axis(lines, numpy.where(is_near, last, at), axis=-1)
    return np.moveaxis(filled, -1, axis)


def _moving(reduce: Callable[[Any, Any, int], Any]) -> Callable[..., Any]:
    """Make a function of moving windows.

    `reduce` gets the windows with zeros for NaN, the places of the other numbers, and `ddof`.
    """

    def moved(
        a: Any, window: int, min_count: int | None = None, axis: int = -1, ddof: int = 0
    ) -> Any:
        lines = np.moveaxis(a, axis, -1)
        count = window if min_count is None else min_count
        if not 1 <= window <= lines.shape[-1] or not 1 <= count <= window:
            raise ValueError(
                f"a moving window of {window} with min_count={min_count} does not fit an axis of "
                f"{lines.shape[-1]} elements"
            )
        start = np.full((*lines.shape[:-1], window - 1), np.nan)
        both: Any = np.concatenate([start, lines], axis=-1)
        windows: Any = np.lib.stride_tricks.sliding_window_view(both, window, axis=-1)
        good = ~np.isnan(np.asarray(native(windows)))
        is_enough = good.sum(axis=-1) >= count
        safe = good | ~is_enough[..., None]
        found = reduce(np.where(good, windows, 0.0), safe, ddof)
        return np.moveaxis(np.where(is_enough, found, np.nan), -1, axis)

    return moved


def _sum(windows: Any, _: Any, __: int) -> Any:
    return np.sum(windows, axis=-1)


def _mean(windows: Any, good: Any, _: int) -> Any:
    return np.sum(windows, axis=-1) / good.sum(axis=-1)


def _variance(windows: Any, good: Any, ddof: int) -> Any:
    rest = np.where(good, windows - _mean(windows, good, 0)[..., None], 0.0)
    count = good.sum(axis=-1) - ddof
    return np.sum(rest * rest, axis=-1) / np.where(count > 0, count, np.nan)


def _deviation(windows: Any, good: Any, ddof: int) -> Any:
    """Return the standard deviations; the derivative of one that is zero is zero."""
    variance = _variance(windows, good, ddof)
    is_zero = np.asarray(native(variance)) == 0
    return np.where(is_zero, 0.0, np.sqrt(np.where(is_zero, 1.0, variance)))


def _least(windows: Any, good: Any, _: int) -> Any:
    return np.min(np.where(good, windows, MOST), axis=-1)


def _greatest(windows: Any, good: Any, _: int) -> Any:
    return np.max(np.where(good, windows, -MOST), axis=-1)


def _median(windows: Any, good: Any, _: int) -> Any:
    return np.nanmedian(np.where(good, windows, np.nan), axis=-1)


MOVING: dict[str, Callable[[Any, Any, int], Any]] = {
    "move_sum": _sum,
    "move_mean": _mean,
    "move_var": _variance,
    "move_std": _deviation,
    "move_min": _least,
    "move_max": _greatest,
    "move_median": _median,
}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in vars(np) if name.startswith("nan") and name != "nan"},
    **{name: _spread(name) for name in ("nanstd", "nanvar")},
    **{name: _moving(reduce) for name, reduce in MOVING.items()},
    "median": np.median,
    "ss": _squares,
    "anynan": _any_nan,
    "allnan": _all_nan,
    "push": _push,
}
"""What computes the same as a function of bottleneck, with the same parameters, by name."""
