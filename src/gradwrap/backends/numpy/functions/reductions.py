"""Sums, extrema and means along axes, running sums, and their variants that skip NaN."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from gradwrap.backends.numpy.functions.converting import NoValue
from gradwrap.backends.numpy.functions.table import (
    IMPLEMENTATIONS,
    cast,
    completes,
    implements,
    in_order,
    is_masked,
    on_values,
    scalar,
)
from gradwrap.core.levels.wrapper import innermost
from gradwrap.core.library.backend import backend_of
from gradwrap.rules.axes import as_axes

NEUTRAL: dict[str, tuple[Any, str]] = {
    "sum": (0, "add"),
    "prod": (1, "multiply"),
    "max": (None, "maximum"),
    "min": (None, "minimum"),
    "all": (True, ""),
    "any": (False, ""),
}
"""For each reduction its neutral element, and the function that takes in `initial=`."""
on_values("nanargmax nanargmin")

ON_HOST: tuple[type[Any], ...] = (np.ndarray, np.bool_, bool)


@completes(np.sum, np.prod, np.max, np.amax, np.min, np.amin, np.all, np.any)
def reduction(
    xp: Any,
    path: str,
    a: Any,
    axis: Any,
    keepdims: bool,
    where: Any,
    initial: Any = NoValue,
    dtype: Any = None,
) -> Any:
    """Reduce; masked elements become neutral, and `initial` counts as one more element."""
    neutral, combine = NEUTRAL[path]
    a = xp.asarray(a)
    if is_masked(where):
        if neutral is None and initial is NoValue:
            raise ValueError(f"reduction {path} with where= needs an initial value")
        missing = scalar(cast(xp, initial, a.dtype)) if neutral is None else neutral
        a = xp.where(xp.broadcast_to(xp.asarray(where), a.shape), a, missing)
    if neutral is None and initial is not NoValue and not a.size:
        shape = np.max(np.zeros(a.shape), axis=axis, keepdims=keepdims, initial=0).shape
        found = xp.broadcast_to(cast(xp, initial, a.dtype), shape)
        return xp.asarray(found, copy=True) if shape else found[()]  # an array of its own
    options = {} if dtype is None else {"dtype": dtype}
    result = getattr(xp, path)(a, axis=axis, keepdims=keepdims, **options)
    if initial is NoValue:
        return result
    return getattr(xp, combine)(result, scalar(cast(xp, initial, result.dtype)))


@completes(np.mean)
def mean(xp: Any, a: Any, axis: Any, dtype: Any, keepdims: bool, where: Any) -> Any:
    a = cast(xp, a, dtype)
    if is_masked(where):
        total, count = _masked_sum(xp, a, where, axis, keepdims)
        return total / count
    return xp.mean(a, axis=axis, keepdims=keepdims)


def _masked_sum(xp: Any, a: Any, where: Any, axis: Any, keepdims: bool) -> tuple[Any, Any]:
    """Return the sum of the elements that a mask selects, and their number."""
    if where is np.True_:
        count = math.prod(a.shape[i] for i in as_axes(axis, a.ndim))
        return xp.sum(a, axis=axis, keepdims=keepdims), count
    mask = xp.broadcast_to(xp.asarray(where), a.shape)
    count = xp.sum(xp.astype(mask, a.real.dtype), axis=axis, keepdims=keepdims)
    return xp.sum(xp.where(mask, a, 0), axis=axis, keepdims=keepdims), count


@completes(np.var, np.std)
def spread(
    xp: Any,
    path: str,
    a: Any,
    axis: Any,
    dtype: Any,
    ddof: float,
    keepdims: bool,
    where: Any,
    mean: Any,
    correction: Any,
    none: float = 0.0,
) -> Any:
    """Compute the variance or standard deviation; `none` replaces zero degrees of freedom."""
    if correction is not NoValue and ddof != 0:
        raise ValueError("ddof and correction can't be provided simultaneously.")
    free = ddof if correction is NoValue else correction
    is_complex = xp.isdtype(a.dtype, "complex floating")
    a = cast(xp, a, dtype)
    is_plain = mean is NoValue and not is_masked(where)
    if is_plain and not xp.isdtype(a.dtype, "complex floating"):
        return getattr(xp, path)(a, axis=axis, correction=free, keepdims=keepdims)
    mask = xp.broadcast_to(xp.asarray(where), a.shape) if is_masked(where) else np.True_
    if mask is not np.True_:
        a = xp.where(mask, a, 0)  # so that a NaN that is left out has no part in the derivative
    if mean is NoValue:
        total, count = _masked_sum(xp, a, mask, axis, True)
        mean = total / count
    deviation = cast(xp, a - mean, dtype)
    square = (xp.conj(deviation) * deviation).real if is_complex else deviation * deviation
    total, count = _masked_sum(xp, square, mask, axis, keepdims)
    known = count - free
    is_missing = innermost(known <= 0)
    if isinstance(is_missing, ON_HOST) and np.any(is_missing):
        # not asked of a GPU
        warnings.warn("Degrees of freedom <= 0 for slice.", RuntimeWarning, stacklevel=2)
    if mask is np.True_:
        found = total / (known if known > 0 else none)
    else:
        found = total / xp.where(known > 0, known, none)
    return _root(xp, found) if path == "std" else found


def _root(xp: Any, variance: Any) -> Any:
    """Return the square root of a variance, with derivative zero where the variance is zero."""
    same = variance == 0
    return scalar(xp.where(same, variance, xp.sqrt(xp.where(same, 1.0, variance))))


@implements("average(a, axis=None, weights=None, returned=False, *, keepdims=NoValue)", arrays=1)
def average(xp: Any, a: Any, axis: Any, weights: Any, returned: bool, keepdims: bool) -> Any:
    if weights is None:
        result = xp.mean(a, axis=axis, keepdims=keepdims)
        count = math.prod(a.shape[i] for i in as_axes(axis, a.ndim))
        counts = xp.full(result.shape, count, dtype=result.dtype)
        return (result, scalar(counts)) if returned else result
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
    total = xp.sum(xp.broadcast_to(weights, a.shape), axis=axis, keepdims=keepdims)
    result = xp.sum(a * weights, axis=axis, keepdims=keepdims) / total
    return (result, cast(xp, total, result.dtype)) if returned else result


@implements("ptp(a, axis=None, out=None, keepdims=NoValue)")
def ptp(xp: Any, a: Any, axis: Any, keepdims: bool) -> Any:
    return xp.max(a, axis=axis, keepdims=keepdims) - xp.min(a, axis=axis, keepdims=keepdims)


# NaN left out: each has the signature of NumPy's function without `nan` in its name ---------------


@implements(
    "nansum nanprod"
    "(a, axis=None, dtype=None, out=None, keepdims=NoValue, initial=NoValue, where=NoValue)",
    "nancumsum nancumprod(a, axis=None, dtype=None, out=None)",
    arrays=1,
)
def nansum(xp: Any, name: str, a: Any, **options: Any) -> Any:
    """Call the function without `nan` in its name, with NaN replaced by a neutral element."""
    neutral = 0.0 if "sum" in name else 1.0
    function = getattr(np, name.removeprefix("nan"))
    numbers = in_order(xp.where(xp.isnan(a), neutral, a), "K", a)
    return IMPLEMENTATIONS[function](xp, numbers, **options)


@implements(
    "nanmean(a, axis=None, dtype=None, out=None, keepdims=NoValue, *, where=NoValue)",
    "nanvar nanstd(a, axis=None, dtype=None, out=None, ddof=0, keepdims=NoValue, *, where=NoValue, "
    "mean=NoValue, correction=NoValue)",
    arrays=1,
)
def nanmean(xp: Any, name: str, a: Any, where: Any, **options: Any) -> Any:
    """Call the function without `nan` in its name on the selected elements that are not NaN."""
    known = ~xp.isnan(a)
    known = known & xp.broadcast_to(xp.asarray(where), a.shape) if is_masked(where) else known
    if name == "nanmean":
        return mean(xp, a, where=known, **options)
    return spread(xp, name.removeprefix("nan"), a, where=known, none=math.nan, **options)


@implements(
    "nanmax nanmin(a, axis=None, out=None, keepdims=NoValue, initial=NoValue, where=NoValue)",
    arrays=1,
)
def nanmax(xp: Any, name: str, a: Any, axis: Any, keepdims: bool, initial: Any, where: Any) -> Any:
    unknown = xp.isnan(a)
    known = xp.where(unknown, -math.inf if name == "nanmax" else math.inf, a)
    found = reduction(xp, name.removeprefix("nan"), known, axis, keepdims, where, initial)
    if initial is not NoValue:
        return found
    nothing = xp.all(unknown, axis=axis, keepdims=keepdims)
    seen = innermost(nothing)
    if backend_of(seen).is_at_hand(seen) and not np.any(seen):
        return found
    return xp.where(nothing, math.nan, found)
