"""Reductions along axes, and running sums and products."""

from __future__ import annotations

from typing import Any

from gradwrap.core.library.compat import device
from gradwrap.core.table.kinds import general, linear, nondifferentiable, reduction
from gradwrap.core.table.registry import register
from gradwrap.rules.axes import (
    as_axes,
    at_axis,
    axis_length,
    exclusive_products,
    inverse_permutation,
    kept,
    products_of_others,
    spread,
)

AXES = "x, /, *, axis=None, keepdims=False"
AXES_DTYPE = "x, /, *, axis=None, dtype=None, keepdims=False"
# NumPy's parameters, of several functions each
TYPED = "(a, axis=None, dtype=None, out=None, keepdims=NoValue, initial=NoValue, where=NoValue)"
EXTREMUM = "(a, axis=None, out=None, keepdims=NoValue, initial=NoValue, where=NoValue)"
SPREAD = (
    "(a, axis=None, dtype=None, out=None, ddof=0, keepdims=NoValue, *, where=NoValue, "
    "mean=NoValue, correction=NoValue) "
    "-> a, axis=axis, correction=ddof, keepdims=keepdims when is_real(xp, a)"
)
DECISION = "(a, axis=None, out=None, keepdims=NoValue, *, where=NoValue)"
POSITION = "(a, axis=None, out=None, *, keepdims=NoValue)"
RUNNING = "(a, axis=None, dtype=None, out=None) -> flat(xp, a, axis), axis=axis or 0, dtype=dtype"
CUMULATIVE = "(x, /, *, axis=None, dtype=None, out=None, include_initial=False)"
SAMPLES = (
    "x(3, 4)",
    "x(3, 4), axis=0",
    "x(2, 3, 4), axis=(0, -1)",
    "x(3, 4), axis=-1, keepdims=True",
    "x(5)",
)


def extremum(xp: Any, g: Any, x: Any, out: Any, axis: Any, keepdims: bool) -> Any:
    """Share g evenly among the elements equal to the extremum; a NaN takes all of it."""
    whole = kept(xp, out, x.ndim, axis, keepdims)
    chosen = (x == whole) | (x != x)
    if axis is None:
        count = xp.astype(xp.count_nonzero(chosen, keepdims=True), g.dtype)
    else:
        count = xp.sum(xp.astype(chosen, g.dtype), axis=axis, keepdims=True)
    share = kept(xp, g, x.ndim, axis, keepdims) / count
    return xp.where(chosen, share, 0.0)


def _prod(xp: Any, g: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    """Multiply g by the product of the other elements, without division: exact where some are 0."""
    shape = x.shape
    if not shape:  # a number, which NumPy takes for an array of one element
        return g
    axes = as_axes(axis, len(shape))
    rest = tuple(a for a in range(len(shape)) if a not in axes)
    count = axis_length(shape, axes)
    rows = xp.reshape(xp.permute_dims(x, rest + axes), (*(shape[a] for a in rest), count))
    moved = tuple(shape[a] for a in rest + axes)
    others = xp.reshape(products_of_others(xp, rows), moved)
    others = xp.permute_dims(others, inverse_permutation(rest + axes))
    return kept(xp, g, len(shape), axis, keepdims) * others


def _cumulative_prod(xp: Any, g: Any, x: Any, x_meta: Any, axis: Any, include_initial: bool) -> Any:
    """Return e s, with the exclusive product e and s[i] = g[i] + x[i+1] s[i+1]: exact at zeros."""
    if not x_meta.size:
        return xp.zeros(x_meta.shape, dtype=x_meta.dtype, device=x_meta.device)
    if not x_meta.shape:
        return g[-1:]
    axis = 0 if axis is None else axis
    rows = xp.moveaxis(x, axis, -1)
    total = xp.moveaxis(g, axis, -1)
    if include_initial:
        total = total[..., 1:]
    factor = xp.concat([rows[..., 1:], xp.zeros_like(rows[..., :1])], axis=-1)
    return xp.moveaxis(exclusive_products(xp, rows) * _recurrence(xp, factor, total), -1, axis)


def _recurrence(xp: Any, factor: Any, total: Any) -> Any:
    """Solve s[i] = total[i] + factor[i] s[i+1] along the last axis, by doubling, not division."""
    length = total.shape[-1]
    step = 1
    while step < length:
        ahead = xp.zeros_like(total[..., :step])
        total = total + factor * xp.concat([total[..., step:], ahead], axis=-1)
        factor = factor * xp.concat([factor[..., step:], ahead], axis=-1)
        step *= 2
    return total


def _cumulative_prod_tangent(xp: Any, t: Any, x: Any, axis: Any, include_initial: bool) -> Any:
    """Apply the product rule, the same recurrence from the left: s[i] = e[i] t[i] + x[i] s[i-1]."""
    axis = 0 if axis is None else axis
    rows = xp.moveaxis(x, axis, -1) if x.ndim else xp.reshape(x, (1,))
    terms = xp.moveaxis(t, axis, -1) if t.ndim else xp.reshape(t, (1,))
    if rows.shape[-1]:
        terms = exclusive_products(xp, rows) * terms
        terms = xp.flip(_recurrence(xp, xp.flip(rows, axis=-1), xp.flip(terms, axis=-1)), axis=-1)
    if include_initial:
        shape = (*terms.shape[:-1], 1)
        nothing = xp.zeros(shape, dtype=terms.dtype, device=device(terms))
        terms = xp.concat([nothing, terms], axis=-1)
    return xp.moveaxis(terms, -1, axis)


def _cumulative_sum(xp: Any, g: Any, axis: Any, include_initial: bool) -> Any:
    axis = 0 if axis is None else axis
    back = xp.flip(xp.cumulative_sum(xp.flip(g, axis=axis), axis=axis, dtype=g.dtype), axis=axis)
    return back[at_axis(axis % g.ndim, slice(1, None))] if include_initial else back


def _var(xp: Any, g: Any, x: Any, axis: Any, correction: float, keepdims: bool) -> Any:
    free = axis_length(x.shape, axis) - correction
    scale = 2.0 / free if free > 0 else float("nan")
    return kept(xp, g, x.ndim, axis, keepdims) * (
        scale * (x - xp.mean(x, axis=axis, keepdims=True))
    )


def _std(xp: Any, g: Any, x: Any, out: Any, axis: Any, correction: float, keepdims: bool) -> Any:
    whole = kept(xp, out, x.ndim, axis, keepdims)
    slope = 0.5 * kept(xp, g, x.ndim, axis, keepdims) / xp.where(whole == 0, 1.0, whole)
    slope = xp.where(whole == 0, 0.0 * whole, slope)
    return _var(xp, slope, x, axis, correction, keepdims=True)


RULES = [
    linear(
        "sum",
        AXES_DTYPE,
        lambda xp, g, x_meta, axis, keepdims: spread(xp, g, x_meta, axis, keepdims),
        samples=SAMPLES,
        numpy=f"sum add.reduce{TYPED}",
        batch="axes",
        diagonal="sum",
    ),
    linear(
        "mean",
        AXES,
        lambda xp, g, x_meta, axis, keepdims: spread(
            xp, g / max(axis_length(x_meta.shape, axis), 1), x_meta, axis, keepdims
        ),
        samples=SAMPLES,
        numpy="mean(a, axis=None, dtype=None, out=None, keepdims=NoValue, *, where=NoValue)",
        batch="axes",
    ),
    reduction(
        "prod",
        AXES_DTYPE,
        _prod,
        samples=SAMPLES,
        convention="exact where elements are 0",
        numpy=f"prod multiply.reduce{TYPED}",
    ),
    *(
        reduction(
            name,
            AXES,
            extremum,
            samples=SAMPLES,
            selects=True,
            only_real=True,
            convention="shared evenly at a tie; a NaN takes all of it",
            numpy=f"{name} a{name} {name}imum.reduce{EXTREMUM}",
        )
        for name in ("max", "min")
    ),
    reduction(
        "var",
        "x, /, *, axis=None, correction=0.0, keepdims=False",
        _var,
        samples=(*SAMPLES, "x(3, 4), axis=1, correction=1.0"),
        holomorphic=False,
        numpy=f"var{SPREAD}",
    ),
    reduction(
        "std",
        "x, /, *, axis=None, correction=0.0, keepdims=False",
        _std,
        samples=(*SAMPLES, "x(3, 4), axis=1, correction=1.0"),
        holomorphic=False,
        convention="0 for a constant",
        numpy=f"std{SPREAD}",
    ),
    linear(
        "cumulative_sum",
        "x, /, *, axis=None, dtype=None, include_initial=False",
        _cumulative_sum,
        samples=("x(5)", "x(3, 4), axis=0", "x(3, 4), axis=-1, include_initial=True"),
        numpy=(f"cumsum add.accumulate{RUNNING}", f"cumulative_sum{CUMULATIVE}"),
        batch="axis",
    ),
    general(
        "cumulative_prod",
        "x, /, *, axis=None, dtype=None, include_initial=False",
        _cumulative_prod,
        jvp=_cumulative_prod_tangent,
        samples=("x(5)", "x(3, 4), axis=0", "x(3, 4), axis=-1, include_initial=True"),
        convention="exact where elements are 0",
        numpy=(f"cumprod multiply.accumulate{RUNNING}", f"cumulative_prod{CUMULATIVE}"),
        batch="axis",
    ),
    *(
        nondifferentiable(
            name, AXES, "true or false", numpy=f"{name} {ufunc}.reduce{DECISION}", batch="axes"
        )
        for name, ufunc in (("all", "logical_and"), ("any", "logical_or"))
    ),
    nondifferentiable("count_nonzero", AXES, "a count", batch="axes"),
    *(
        nondifferentiable(
            name, AXES, "a position", numpy=f"{name}{POSITION}", batch="position", jumps="place"
        )
        for name in ("argmax", "argmin")
    ),
]
register(RULES)
