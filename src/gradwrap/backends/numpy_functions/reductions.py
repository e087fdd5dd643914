"""Sums, extrema, means along axes; running sums; what NaN is left out of."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradwrap.backends.numpy_functions.table import (
    IMPLEMENTATIONS,
    Implementation,
    NoValue,
    flag,
    implements,
    is_masked,
    on_values,
)
from gradwrap.core.wrapper import native
from gradwrap.rules.axes import as_axes


def _masked(xp: Any, a: Any, where: Any, neutral: Any) -> Any:
    return xp.where(xp.asarray(where), a, neutral) if is_masked(where) else a


def _reduction(name: str, neutral: Any, combine: str, *, typed: bool) -> Implementation:
    def reduce(
        xp: Any,
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = NoValue,
        initial: Any = NoValue,
        where: Any = NoValue,
    ) -> Any:
        start = neutral if initial is NoValue else initial
        if start is None and is_masked(where):
            raise ValueError(f"reduction {name} with where= needs an initial value")
        a = _masked(xp, xp.asarray(a), where, start if neutral is None else neutral)
        options = {"dtype": dtype} if typed else {}
        if neutral is None and initial is not NoValue and not a.size:
            shape = np.max(np.zeros(a.shape), axis=axis, keepdims=flag(keepdims), initial=0).shape
            return xp.broadcast_to(xp.asarray(initial), shape)
        result = getattr(xp, name)(a, axis=axis, keepdims=flag(keepdims), **options)
        if initial is not NoValue:
            result = getattr(xp, combine)(result, initial)
        return result

    return reduce


IMPLEMENTATIONS[np.sum] = _reduction("sum", 0, "add", typed=True)
IMPLEMENTATIONS[np.prod] = _reduction("prod", 1, "multiply", typed=True)


def _extremum(name: str, combine: str) -> Implementation:
    reduce = _reduction(name, None, combine, typed=False)

    def extremum(
        xp: Any,
        a: Any,
        axis: Any = None,
        out: Any = None,
        keepdims: Any = NoValue,
        initial: Any = NoValue,
        where: Any = NoValue,
    ) -> Any:
        return reduce(xp, a, axis, None, None, keepdims, initial, where)

    return extremum


IMPLEMENTATIONS[np.max] = IMPLEMENTATIONS[np.amax] = _extremum("max", "maximum")
IMPLEMENTATIONS[np.min] = IMPLEMENTATIONS[np.amin] = _extremum("min", "minimum")


@implements(np.mean)
def mean(
    xp: Any,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = NoValue,
    *,
    where: Any = NoValue,
) -> Any:
    a = xp.asarray(a)
    if dtype is not None:
        a = xp.astype(a, np.dtype(dtype), copy=False)
    if is_masked(where):
        total, count = _masked_sum(xp, a, where, axis, keepdims)
        return total / count
    return xp.mean(a, axis=axis, keepdims=flag(keepdims))


def _masked_sum(xp: Any, a: Any, where: Any, axis: Any, keepdims: Any) -> tuple[Any, Any]:
    """The sum of the elements that a mask chooses, and how many there are."""
    mask = np.broadcast_to(native(where), a.shape)
    keep = flag(keepdims)
    count = np.sum(mask, axis=axis, keepdims=keep, dtype=a.real.dtype)
    return xp.sum(xp.where(mask, a, 0), axis=axis, keepdims=keep), count


def _spread(name: str) -> Implementation:
    def spread(
        xp: Any,
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        ddof: float = 0,
        keepdims: Any = NoValue,
        *,
        where: Any = NoValue,
        mean: Any = NoValue,
        correction: Any = NoValue,
    ) -> Any:
        a = xp.asarray(a)
        if dtype is not None:
            a = xp.astype(a, np.dtype(dtype), copy=False)
        free = ddof if correction is NoValue else correction
        real = not xp.isdtype(a.dtype, "complex floating")
        if real and mean is NoValue and not is_masked(where):
            return getattr(xp, name)(a, axis=axis, correction=free, keepdims=flag(keepdims))
        found = _variance(xp, a, axis, free, keepdims, where, mean)
        return _root(xp, found) if name == "std" else found

    return spread


def _root(xp: Any, variance: Any) -> Any:
    """The square root, whose derivative is taken for zero where the elements are all the same."""
    same = variance == 0
    return xp.where(same, variance, xp.sqrt(xp.where(same, 1.0, variance)))


def _variance(
    xp: Any, a: Any, axis: Any, free: float, keepdims: Any, where: Any, center: Any
) -> Any:
    """For what the standard's has not: complex numbers, a mask, a mean that is given."""
    mask = np.True_ if not is_masked(where) else native(where)
    a = xp.where(mask, a, 0)  # so that a NaN that is left out has no part in the derivative
    if center is NoValue:
        total, count = _masked_sum(xp, a, mask, axis, True)
        center = total / count
    deviation = a - center
    square = (xp.conj(deviation) * deviation).real if _is_complex(xp, a) else deviation * deviation
    total, count = _masked_sum(xp, square, mask, axis, keepdims)
    return total / np.maximum(count - free, 0.0)


def _is_complex(xp: Any, a: Any) -> bool:
    return bool(xp.isdtype(a.dtype, "complex floating"))


IMPLEMENTATIONS[np.var] = _spread("var")
IMPLEMENTATIONS[np.std] = _spread("std")


def _decision(name: str) -> Implementation:
    def decide(
        xp: Any,
        a: Any,
        axis: Any = None,
        out: Any = None,
        keepdims: Any = NoValue,
        *,
        where: Any = NoValue,
    ) -> Any:
        a = _masked(xp, xp.asarray(a), where, name == "all")
        return getattr(xp, name)(a, axis=axis, keepdims=flag(keepdims))

    return decide


IMPLEMENTATIONS[np.all] = _decision("all")
IMPLEMENTATIONS[np.any] = _decision("any")


def _position(name: str) -> Implementation:
    def position(
        xp: Any,
        a: Any,
        axis: Any = None,
        out: Any = None,
        *,
        keepdims: Any = NoValue,
    ) -> Any:
        return getattr(xp, name)(xp.asarray(a), axis=axis, keepdims=flag(keepdims))

    return position


IMPLEMENTATIONS[np.argmax] = _position("argmax")
IMPLEMENTATIONS[np.argmin] = _position("argmin")
on_values(np.nanargmax, np.nanargmin)


def _running(name: str) -> Implementation:
    def running(xp: Any, a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        a = xp.asarray(a)
        if axis is None:
            a, axis = xp.reshape(a, (-1,)), 0
        return getattr(xp, name)(a, axis=axis, dtype=dtype)

    return running


IMPLEMENTATIONS[np.cumsum] = _running("cumulative_sum")
IMPLEMENTATIONS[np.cumprod] = _running("cumulative_prod")


def _standard_running(name: str) -> Implementation:
    def running(
        xp: Any,
        x: Any,
        /,
        *,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        include_initial: bool = False,
    ) -> Any:
        function = getattr(xp, name)
        return function(x, axis=axis, dtype=dtype, include_initial=include_initial)

    return running


if hasattr(np, "cumulative_sum"):  # from NumPy 2.1 on
    IMPLEMENTATIONS[np.cumulative_sum] = _standard_running("cumulative_sum")
    IMPLEMENTATIONS[np.cumulative_prod] = _standard_running("cumulative_prod")


@implements(np.average)
def average(
    xp: Any,
    a: Any,
    axis: Any = None,
    weights: Any = None,
    returned: bool = False,
    *,
    keepdims: Any = NoValue,
) -> Any:
    a = xp.asarray(a)
    keep = flag(keepdims)
    if weights is None:
        result = xp.mean(a, axis=axis, keepdims=keep)
        count = math.prod(a.shape[i] for i in as_axes(axis, a.ndim))
        return (result, xp.full(result.shape, count, dtype=result.dtype)) if returned else result
    weights = xp.asarray(weights)
    if weights.shape != a.shape:
        if axis is None:
            raise TypeError("Axis must be specified when shapes of a and weights differ.")
        axes = as_axes(axis, a.ndim)
        if tuple(weights.shape) != tuple(a.shape[i] for i in axes):
            raise ValueError("Shape of weights must be consistent with shape of a along axis.")
        order = sorted(range(len(axes)), key=axes.__getitem__)
        weights = xp.permute_dims(weights, tuple(order))
        shape = tuple(n if i in axes else 1 for i, n in enumerate(a.shape))
        weights = xp.reshape(weights, shape)
    total = xp.sum(xp.broadcast_to(weights, a.shape), axis=axis, keepdims=keep)
    result = xp.sum(a * weights, axis=axis, keepdims=keep) / total
    return (result, total) if returned else result


@implements(np.ptp)
def ptp(xp: Any, a: Any, axis: Any = None, out: Any = None, keepdims: Any = NoValue) -> Any:
    keep = flag(keepdims)
    return xp.max(a, axis=axis, keepdims=keep) - xp.min(a, axis=axis, keepdims=keep)


# NaN left out -------------------------------------------------------------------------------------


def _without_nan(function: Any, neutral: float) -> Implementation:
    """With NaN taken for a number that changes nothing."""

    def reduce(xp: Any, a: Any, *args: Any, **kwargs: Any) -> Any:
        a = xp.asarray(a)
        return IMPLEMENTATIONS[function](xp, xp.where(xp.isnan(a), neutral, a), *args, **kwargs)

    return reduce


IMPLEMENTATIONS[np.nansum] = _without_nan(np.sum, 0.0)
IMPLEMENTATIONS[np.nanprod] = _without_nan(np.prod, 1.0)
IMPLEMENTATIONS[np.nancumsum] = _without_nan(np.cumsum, 0.0)
IMPLEMENTATIONS[np.nancumprod] = _without_nan(np.cumprod, 1.0)


def _nan_moment(function: Any) -> Implementation:
    """Of the elements that are not NaN, by NumPy's `where=`."""

    def reduce(xp: Any, a: Any, *args: Any, where: Any = NoValue, **kwargs: Any) -> Any:
        a = xp.asarray(a)
        known = ~np.isnan(native(a))
        if is_masked(where):
            known &= native(where)
        return IMPLEMENTATIONS[function](xp, a, *args, where=known, **kwargs)

    return reduce


IMPLEMENTATIONS[np.nanmean] = _nan_moment(np.mean)
IMPLEMENTATIONS[np.nanvar] = _nan_moment(np.var)
IMPLEMENTATIONS[np.nanstd] = _nan_moment(np.std)


def _nan_extremum(function: Any, worst: float) -> Implementation:
    def reduce(
        xp: Any,
        a: Any,
        axis: Any = None,
        out: Any = None,
        keepdims: Any = NoValue,
        initial: Any = NoValue,
        where: Any = NoValue,
    ) -> Any:
        a = xp.asarray(a)
        unknown = np.isnan(native(a))
        known = xp.where(unknown, worst, a)
        found = IMPLEMENTATIONS[function](xp, known, axis, None, keepdims, initial, where)
        nothing = np.all(unknown, axis=axis, keepdims=flag(keepdims))
        return xp.where(nothing, math.nan, found) if np.any(nothing) else found

    return reduce


IMPLEMENTATIONS[np.nanmax] = _nan_extremum(np.max, -math.inf)
IMPLEMENTATIONS[np.nanmin] = _nan_extremum(np.min, math.inf)
