"""Functions that call a function of the user's for each slice."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwrap.backends.numpy_functions.table import implements, sizes


@implements("apply_along_axis(func1d, axis, arr, *args, **kwargs)")
def apply_along_axis(xp: Any, func1d: Any, axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """Call the function with each slice, and stack the results."""
    arr = xp.asarray(arr)
    at = axis % arr.ndim
    rows = xp.moveaxis(arr, at, -1)
    rest = tuple(rows.shape[:-1])
    results = [xp.asarray(func1d(rows[index], *args, **kwargs)) for index in np.ndindex(*rest)]
    stacked = xp.reshape(xp.stack(results), rest + tuple(results[0].shape))
    new = tuple(range(len(rest), stacked.ndim))
    return xp.moveaxis(stacked, new, tuple(at + i for i in range(len(new))))


@implements("apply_over_axes(func, a, axes)")
def apply_over_axes(xp: Any, func: Any, a: Any, axes: Any) -> Any:
    a = xp.asarray(a)
    for axis in sizes(axes):
        reduced = func(a, axis)
        if reduced.ndim != a.ndim:
            shape = list(a.shape)
            shape[axis] = 1
            reduced = xp.reshape(reduced, tuple(shape))
        a = reduced
    return a
