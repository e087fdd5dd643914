"""Functions of values and of their neighbours."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from gradwrap.backends.numpy.functions.converting import NoValue, is_real, sizes
from gradwrap.backends.numpy.functions.table import (
    asked,
    cast,
    check_cast,
    check_constant,
    counting,
    implements,
    in_order,
    on_values,
    scalar,
    untyped,
)
from gradwrap.core.array.adapted import rounded
from gradwrap.core.levels.memory import lay_out
from gradwrap.core.levels.wrapper import innermost, is_recorded, native, unwrapped_key
from gradwrap.rules.axes import as_axes


@implements("astype(x, dtype, /, *, copy=True, device=None)", always=True)
def astype(xp: Any, x: Any, dtype: Any, copy: bool) -> Any:
    return x.astype(np.dtype(dtype), copy=copy)


@implements("real imag(val)", always=True)
def part(xp: Any, name: str, val: Any) -> Any:
    return getattr(val, name)


@implements("angle(z, deg=False)")
def angle(xp: Any, z: Any, deg: bool) -> Any:
    z = xp.asarray(z)
    imag = z.imag if xp.isdtype(z.dtype, "complex floating") else 0.0
    found = xp.atan2(imag, z.real)
    return found * (180.0 / math.pi) if deg else found


on_values("fix")


@implements("round around(a, decimals=0, out=None)", arrays=1, always=True)
def round_(xp: Any, a: Any, decimals: Any) -> Any:
    """Round as NumPy does: whole multiples of a power of ten."""
    decimals = operator.index(decimals)
    if not xp.isdtype(a.dtype, "real floating"):
        return asked(untyped.round, unwrapped_key, xp, a, decimals)
    power = 10.0 ** abs(decimals)
    if decimals > 0:
        made = xp.round(a * power) / power
    else:
        made = xp.round(a / power) * power if decimals else xp.round(a)
    return scalar(rounded(a, made) if decimals else made)


@implements("sinc(x)", arrays=1)
def sinc(xp: Any, x: Any) -> Any:
    return scalar(xp.special.sinc(x))


@implements("i0(x)", arrays=1)
def i0(xp: Any, x: Any) -> Any:
    found = xp.special.i0(x)
    return scalar(xp.astype(found, x.dtype) if xp.isdtype(x.dtype, "real floating") else found)


@implements("nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None)", always=True, arrays=1)
def nan_to_num(xp: Any, x: Any, copy: bool, nan: Any, posinf: Any, neginf: Any) -> Any:
    if not xp.isdtype(x.dtype, ("real floating", "complex floating")):
        return xp.copy(x) if copy else x
    info = np.finfo(innermost(x).dtype)
    high = info.max if posinf is None else posinf
    low = info.min if neginf is None else neginf

    def finite(part: Any) -> Any:
        found = xp.where(xp.isnan(part), nan, part)
        return xp.where(xp.isinf(part), xp.where(part > 0, high, low), found)

    if xp.isdtype(x.dtype, "real floating"):
        found = finite(x)
    else:
        found = xp.zeros_like(x)
        found.real, found.imag = finite(xp.real(x)), finite(xp.imag(x))
        found = found if found.shape else found[()]
    if copy:
        return scalar(in_order(found, "K", x))
    x[...] = found
    return scalar(x)


@implements(f"unwrap(p, discont=None, axis=-1, *, period={2 * math.pi})")
def unwrap(xp: Any, p: Any, discont: Any, axis: int, period: Any) -> Any:
    """Add NumPy's multiple of the period to each angle; it is constant between the jumps."""
    check_constant("np.unwrap", discont=discont, period=period)
    values = native(p)
    shift = np.unwrap(values, discont, axis, period=native(period)) - values
    return p + shift


# Neighbours ---------------------------------------------------------------------------------------


@implements("diff(a, n=1, axis=-1, prepend=NoValue, append=NoValue)", arrays=1)
def diff(xp: Any, a: Any, n: int, axis: int, prepend: Any, append: Any) -> Any:
    axis = operator.index(axis)

    def whole(part: Any) -> Any:
        """Broadcast a number prepended or appended along the axis."""
        if part is NoValue:
            return None
        if np.ndim(part):
            return part
        shape = (*a.shape[: axis % a.ndim], 1, *a.shape[axis % a.ndim + 1 :])
        return xp.broadcast_to(xp.asarray(part), shape)

    return xp.diff(a, n=n, axis=axis, prepend=whole(prepend), append=whole(append))


@implements("real_if_close(a, tol=100)", arrays=1, always=True)
def real_if_close(xp: Any, a: Any, tol: float) -> Any:
    if not np.iscomplexobj(a):
        return a
    values = native(a)
    if tol > 1:  # in units of the last place of the dtype
        tol = tol * np.finfo(values.dtype).eps
    return a.real if bool(np.all(np.abs(values.imag) < tol)) else a


@implements("ediff1d(ary, to_end=None, to_begin=None)", arrays=1)
def ediff1d(xp: Any, ary: Any, to_end: Any, to_begin: Any) -> Any:
    ary = xp.reshape(ary, (-1,))
    parts: list[Any] = [to_begin, ary[1:] - ary[:-1], to_end]
    flat = [xp.reshape(xp.asarray(part), (-1,)) for part in parts if part is not None]
    for part in flat:
        check_cast(part.dtype, ary.dtype, "same_kind")
    flat = [cast(xp, part, ary.dtype) for part in flat]
    return xp.concat(flat) if len(flat) > 1 else flat[0]


@implements("gradient(f, *varargs, axis=None, edge_order=1)", arrays=1)
def gradient(xp: Any, f: Any, *varargs: Any, axis: Any, edge_order: int) -> Any:
    """Second-order differences inside, and one-sided ones of `edge_order` at the ends."""
    axes = as_axes(axis if axis is None else sizes(axis), f.ndim)
    if len(varargs) not in (0, 1, len(axes)):
        raise TypeError("invalid number of arguments")
    spacings: list[Any] = list(varargs) or [1.0]
    if len(spacings) == 1 and len(axes) > 1:
        if np.ndim(native(spacings[0])):
            raise ValueError("distances must be either scalars or one for each axis")
        spacings *= len(axes)
    if edge_order > 2:
        raise ValueError("'edge_order' greater than 2 not supported")
    dtype = f.dtype if xp.isdtype(f.dtype, ("real floating", "complex floating")) else np.float64
    found: list[Any] = []
    for at, h in zip(axes, spacings, strict=True):
        slopes = _slopes(xp, xp.moveaxis(f, at, -1), xp.asarray(h), edge_order)
        found.append(in_order(cast(xp, xp.moveaxis(slopes, -1, at), dtype), "K", f))
    return found[0] if len(found) == 1 else tuple(found)


def _slopes(xp: Any, f: Any, spacing: Any, edge_order: int) -> Any:
    """Return the slopes along the last axis, from one spacing or from coordinates."""
    n = f.shape[-1]
    if n < edge_order + 1:
        raise ValueError("Shape of array too small to calculate a numerical gradient")
    step = spacing
    if spacing.ndim:
        if spacing.shape != (n,):
            raise ValueError(
                "when 1d, distances must match the length of the corresponding dimension"
            )
        step = spacing[1:] - spacing[:-1]
        values = innermost(step)
        if not is_recorded(spacing) and isinstance(values, np.ndarray):
            step = step[0] if (values == values[0]).all() else step
    if step.ndim:
        before, after = step[:-1], step[1:]
        inside = _weighted(f, *_weights_inside(before, after))
        first = _weights_at_end(step[:1], step[1:2])
        last = _weights_at_end(-step[-1:], -step[-2:-1])
    else:
        inside = (f[..., 2:] - f[..., :-2]) / (2.0 * step)
        first, last = (tuple(c / (step * sign) for c in (-1.5, 2.0, -0.5)) for sign in (1, -1))
    if edge_order == 2:
        ends = _weighted(f[..., :3], *first), _weighted(f[..., -3:], *last[::-1])
    else:
        line = step if step.ndim else step[None]
        ends = (f[..., 1:2] - f[..., :1]) / line[:1], (f[..., -1:] - f[..., -2:-1]) / line[-1:]
    return xp.concat([ends[0], inside, ends[1]], axis=-1)


def _weights_inside(before: Any, after: Any) -> tuple[Any, Any, Any]:
    """Return the weights of three neighbours in the slope at the middle, from the spacings."""
    both = before + after
    return (
        -after / (before * both),
        (after - before) / (before * after),
        before / (after * both),
    )


def _weights_at_end(near: Any, far: Any) -> tuple[Any, Any, Any]:
    """Return the weights in the slope at the first of three points; for the last, reverse."""
    both = near + far
    return -(2.0 * near + far) / (near * both), both / (near * far), -near / (far * both)


def _weighted(f: Any, low: Any, middle: Any, high: Any) -> Any:
    """Return the weighted sum of each three neighbours along the last axis."""
    return low * f[..., :-2] + middle * f[..., 1:-1] + high * f[..., 2:]


@implements("trapezoid(y, x=None, dx=1.0, axis=-1)", arrays=1)
def trapezoid(xp: Any, y: Any, x: Any, dx: Any, axis: int) -> Any:
    step: Any = dx
    if x is not None:
        x = xp.asarray(x)
        step = xp.diff(x, axis=-1 if x.ndim == 1 else axis)
        if step.ndim == 1 and y.ndim > 1:
            shape = [1] * y.ndim
            shape[axis] = -1
            step = xp.reshape(step, tuple(shape))
    before = (slice(None),) * (axis % y.ndim)
    pairs = y[(*before, slice(1, None))] + y[(*before, slice(None, -1))]
    return xp.sum(step * pairs, axis=axis) / 2.0


@implements("interp(x, xp, fp, left=None, right=None, period=None)", arrays=3)
def interp(xp: Any, x: Any, xp_: Any, fp: Any, left: Any, right: Any, period: Any) -> Any:
    """Interpolate linearly; points, breakpoints and values may be tracked."""
    x, knots = (cast(xp, points.real, np.float64) for points in (x, xp_))
    fp = cast(xp, fp, np.float64 if is_real(xp, fp) else np.complex128)
    if period is not None:
        period = abs(period)
        left = right = None
        x, knots = x % period, knots % period
        order = np.argsort(native(knots))
        knots, fp = knots[order], fp[order]
        knots = xp.concat([knots[-1:] - period, knots, knots[:1] + period])
        fp = xp.concat([fp[-1:], fp, fp[:1]])
    if knots.shape[0] == 1:
        found = xp.broadcast_to(fp[0], x.shape)
    else:
        places = untyped.searchsorted(native(knots), native(x), side="right") - 1
        places = np.clip(places, 0, knots.shape[0] - 2)
        low, high = knots[places], knots[places + 1]
        starts, ends = native(low), native(high)
        beyond = np.isinf(starts) | np.isinf(ends)
        with np.errstate(invalid="ignore"):  # inf - inf, which is not used
            span = xp.where((starts == ends) | beyond, 1.0, high - low)
            share = (xp.clip(x, knots[0], knots[-1]) - low) / span
        if beyond.any():
            share = xp.where(beyond, _share_to_infinity(starts, ends, fp, places), share)
        found = fp[places] + share * (fp[places + 1] - fp[places])
    x, knots = native(x), native(knots)
    for outside, value in ((x < knots[0], left), (x > knots[-1], right)):
        if value is not None:
            found = xp.where(outside, value, found)
    return found


def _share_to_infinity(starts: Any, ends: Any, fp: Any, places: Any) -> Any:
    """Return the weight of the second of two values if a breakpoint is infinite, as in NumPy."""
    first, second = (native(fp)[at] for at in (places, places + 1))
    is_unknown = (starts == -np.inf) & (ends == np.inf) & (first != second)
    return np.where(is_unknown, np.nan, np.where((starts == -np.inf) & (ends < np.inf), 1.0, 0.0))


def running_extremum(xp: Any, a: Any, axis: int, ufunc: Any) -> Any:
    """Return the largest (smallest) element so far; at ties, the first."""
    largest = ufunc.accumulate(native(a), axis=axis)
    best = np.moveaxis(largest, axis, -1)
    changed = (best[..., 1:] != best[..., :-1]) & ~np.isnan(best[..., :-1])
    new = np.concatenate([np.ones_like(best[..., :1], dtype=bool), changed], axis=-1)
    places = np.maximum.accumulate(np.where(new, counting(best.shape[-1]), 0), axis=-1)
    found = xp.take_along_axis(a, np.moveaxis(places, -1, axis), axis=axis)
    lay_out(found, largest)
    return found
