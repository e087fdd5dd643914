"""Functions of the values, and of neighbouring ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradwrap.backends.numpy_functions.table import NoValue, implements
from gradwrap.errors import NoRuleError


@implements(np.diff)
def diff(
    xp: Any, a: Any, n: int = 1, axis: int = -1, prepend: Any = NoValue, append: Any = NoValue
) -> Any:
    at = axis % a.ndim
    before = (slice(None),) * at
    pieces = []
    for part in (prepend, a, append):
        if part is NoValue:
            continue
        piece = xp.asarray(part)
        if piece.ndim == 0:
            shape = list(a.shape)
            shape[at] = 1
            piece = xp.broadcast_to(piece, tuple(shape))
        pieces.append(piece)
    a = xp.concat(pieces, axis=at) if len(pieces) > 1 else a
    for _ in range(n):
        a = a[(*before, slice(1, None))] - a[(*before, slice(None, -1))]
    return a


@implements(np.trapezoid)
def trapezoid(xp: Any, y: Any, x: Any = None, dx: float = 1.0, axis: int = -1) -> Any:
    y = xp.asarray(y)
    step: Any = dx
    if x is not None:
        x = xp.asarray(x)
        step = diff(xp, x, axis=-1 if x.ndim == 1 else axis)
        if step.ndim == 1 and y.ndim > 1:
            shape = [1] * y.ndim
            shape[axis] = -1
            step = xp.reshape(step, tuple(shape))
    before = (slice(None),) * (axis % y.ndim)
    pairs = y[(*before, slice(1, None))] + y[(*before, slice(None, -1))]
    return xp.sum(step * pairs, axis=axis) / 2.0


@implements(np.copy)
def copy(xp: Any, a: Any, order: str = "K", subok: bool = False) -> Any:
    return xp.copy(a)


@implements(np.astype)
def astype(xp: Any, x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    return xp.astype(x, np.dtype(dtype), copy=copy)


@implements(np.real)
def real(xp: Any, val: Any) -> Any:
    return val.real


@implements(np.imag)
def imag(xp: Any, val: Any) -> Any:
    return val.imag


@implements(np.angle)
def angle(xp: Any, z: Any, deg: bool = False) -> Any:
    found = xp.atan2(xp.asarray(z.imag), xp.asarray(z.real))
    return found * (180.0 / math.pi) if deg else found


@implements(np.round, np.around)
def round_(xp: Any, a: Any, decimals: int = 0, out: Any = None) -> Any:
    scale = 10.0**decimals
    return xp.round(a) if not decimals else xp.round(a * scale) / scale


@implements(np.sinc)
def sinc(xp: Any, x: Any) -> Any:
    near = xp.abs(x) < 1e-3
    at = math.pi * xp.where(near, 1.0, x)
    square = (math.pi * xp.where(near, x, 0.0)) ** 2
    series = 1.0 - square / 6.0 * (1.0 - square / 20.0 * (1.0 - square / 42.0))
    return xp.where(near, series, xp.sin(at) / at)


@implements(np.nan_to_num)
def nan_to_num(
    xp: Any,
    x: Any,
    copy: bool = True,
    nan: float = 0.0,
    posinf: Any = None,
    neginf: Any = None,
) -> Any:
    info = xp.finfo(x.dtype)
    high = float(info.max) if posinf is None else posinf
    low = float(info.min) if neginf is None else neginf
    x = xp.where(xp.isnan(x), nan, x)
    return xp.where(xp.isinf(x), xp.where(x > 0, high, low), x)


@implements(np.interp)
def interp(
    xp: Any, x: Any, xp_: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    """Piecewise linear; the breakpoints are data, their values may be tracked."""
    from gradwrap.core.unwrapping import native

    if period is not None or left is not None or right is not None:
        raise NoRuleError(
            "np.interp with left=, right= or period= has no rule. Fix: np.where around it."
        )
    knots = xp.asarray(xp_)
    x, fp = xp.asarray(x), xp.asarray(fp)
    places = np.searchsorted(native(knots), native(x), side="right") - 1
    places = np.clip(places, 0, knots.shape[0] - 2)
    low, high = knots[places], knots[places + 1]
    inside = xp.clip(x, knots[0], knots[-1])
    share = (inside - low) / (high - low)
    return fp[places] * (1.0 - share) + fp[places + 1] * share


@implements(np.polyval)
def polyval(xp: Any, p: Any, x: Any) -> Any:
    """By Horner's rule."""
    p, x = xp.asarray(p), xp.asarray(x)
    total = x * 0.0
    for i in range(p.shape[0]):
        total = total * x + p[i]
    return total
