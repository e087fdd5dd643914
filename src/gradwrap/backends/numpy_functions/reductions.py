"""Sums, extrema, means, medians along axes."""

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
)
from gradwrap.errors import NoRuleError
from gradwrap.rules.axes import as_axes


def _masked(xp: Any, a: Any, where: Any, neutral: Any) -> Any:
    if where is NoValue or where is True:
        return a
    return xp.where(xp.asarray(where), a, neutral)


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
        if start is None and where is not NoValue and where is not True:
            raise ValueError(f"reduction {name} with where= needs an initial value")
        a = _masked(xp, xp.asarray(a), where, start)
        options = {"dtype": dtype} if typed else {}
        result = getattr(xp, name)(a, axis=axis, keepdims=flag(keepdims), **options)
        if initial is not NoValue:
            result = getattr(xp, combine)(result, initial)
        return result

    return reduce


IMPLEMENTATIONS[np.sum] = _reduction("sum", 0.0, "add", typed=True)
IMPLEMENTATIONS[np.prod] = _reduction("prod", 1.0, "multiply", typed=True)


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
        a = xp.astype(a, dtype, copy=False)
    if where is not NoValue and where is not True:
        mask = xp.broadcast_to(xp.asarray(where), a.shape)
        total = xp.sum(xp.where(mask, a, 0.0), axis=axis, keepdims=flag(keepdims))
        return total / xp.sum(xp.astype(mask, a.dtype), axis=axis, keepdims=flag(keepdims))
    return xp.mean(a, axis=axis, keepdims=flag(keepdims))


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
        _unsupported("np." + name, where=where, mean=mean)
        a = xp.asarray(a)
        if dtype is not None:
            a = xp.astype(a, dtype, copy=False)
        free = ddof if correction is NoValue else correction
        if xp.isdtype(a.dtype, "complex floating"):
            parts = [
                xp.var(part, axis=axis, correction=free, keepdims=flag(keepdims))
                for part in (xp.real(a), xp.imag(a))
            ]
            total = parts[0] + parts[1]
            return xp.sqrt(total) if name == "std" else total
        function = getattr(xp, name)
        return function(a, axis=axis, correction=free, keepdims=flag(keepdims))

    return spread


IMPLEMENTATIONS[np.var] = _spread("var")
IMPLEMENTATIONS[np.std] = _spread("std")


def _unsupported(function: str, **given: Any) -> None:
    for name, value in given.items():
        if value is not NoValue and value is not None and value is not True:
            raise NoRuleError(
                f"{function} with {name}= has no rule. Fix: write it with np.where and np.sum."
            )


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


def _running(name: str) -> Implementation:
    def running(
        xp: Any,
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
    ) -> Any:
        a = xp.asarray(a)
        if axis is None:
            a, axis = xp.reshape(a, (-1,)), 0
        return getattr(xp, name)(a, axis=axis, dtype=dtype)

    return running


IMPLEMENTATIONS[np.cumsum] = _running("cumulative_sum")
IMPLEMENTATIONS[np.cumprod] = _running("cumulative_prod")


@implements(np.cumulative_sum)
def cumulative_sum(
    xp: Any,
    x: Any,
    /,
    *,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    include_initial: bool = False,
) -> Any:
    return xp.cumulative_sum(x, axis=axis, dtype=dtype, include_initial=include_initial)


@implements(np.cumulative_prod)
def cumulative_prod(
    xp: Any,
    x: Any,
    /,
    *,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    include_initial: bool = False,
) -> Any:
    return xp.cumulative_prod(x, axis=axis, dtype=dtype, include_initial=include_initial)


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
    if weights is None:
        result = xp.mean(a, axis=axis, keepdims=flag(keepdims))
        count = a.size if axis is None else math.prod(a.shape[i] for i in as_axes(axis, a.ndim))
        return (result, xp.full(result.shape, float(count))) if returned else result
    weights = xp.asarray(weights)
    if weights.ndim != a.ndim:
        shape = [1] * a.ndim
        shape[as_axes(axis, a.ndim)[0]] = -1
        weights = xp.reshape(weights, tuple(shape))
    weights = xp.broadcast_to(weights, a.shape)
    total = xp.sum(weights, axis=axis, keepdims=flag(keepdims))
    result = xp.sum(a * weights, axis=axis, keepdims=flag(keepdims)) / total
    return (result, total) if returned else result


@implements(np.ptp)
def ptp(xp: Any, a: Any, axis: Any = None, out: Any = None, keepdims: Any = NoValue) -> Any:
    keep = flag(keepdims)
    return xp.max(a, axis=axis, keepdims=keep) - xp.min(a, axis=axis, keepdims=keep)


@implements(np.median)
def median(
    xp: Any,
    a: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    keepdims: Any = False,
) -> Any:
    """The middle of the sorted elements; the mean of the middle two."""
    a = xp.asarray(a)
    axes = as_axes(axis, a.ndim)
    rest = tuple(i for i in range(a.ndim) if i not in axes)
    rows = xp.reshape(xp.permute_dims(a, rest + axes), (*(a.shape[i] for i in rest), -1))
    ordered = xp.sort(rows, axis=-1)
    n = rows.shape[-1]
    found = (ordered[..., (n - 1) // 2] + ordered[..., n // 2]) / 2.0
    if not flag(keepdims):
        return found
    return xp.reshape(found, tuple(1 if i in axes else a.shape[i] for i in range(a.ndim)))
