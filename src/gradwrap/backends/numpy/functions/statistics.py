"""Order statistics, covariance, weighted counts."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from gradwrap.backends.numpy.functions.converting import NDARRAY
from gradwrap.backends.numpy.functions.table import (
    cast,
    check_constant,
    constant,
    counting,
    implements,
    in_order,
    moved_last,
    on_host,
    put_back,
    untyped,
)
from gradwrap.core.levels.memory import one_array
from gradwrap.core.levels.wrapper import innermost, is_recorded, native
from gradwrap.core.values.dynamic import SEQUENCE
from gradwrap.rules.axes import as_axes

RANKS_PER_Q = {
    "linear": -1.0,
    "weibull": 1.0,
    "hazen": 0.0,
    "interpolated_inverted_cdf": 0.0,
    "median_unbiased": 1.0 / 3.0,
    "normal_unbiased": 0.25,
}
"""By method, what the rank moves by for each unit of q, less the count; other methods step."""


def _quantiles(
    xp: Any,
    a: Any,
    q: Any,
    axis: Any,
    method: str,
    keepdims: Any,
    *,
    skip_nan: bool,
    dtype: Any = None,
) -> Any:
    """Compute quantiles as means of two order statistics, which NumPy selects from the ranks.

    They are at the same places in every row, unless each has its own count of numbers.
    """
    ordered = xp.sort(moved_last(xp, a, axis), axis=-1)
    length = ordered.shape[-1]
    counts = np.asarray(length)
    if skip_nan:
        values = native(ordered)
        counts = on_host((values == values).sum(axis=-1))
    given, q = q, on_host(q)
    rank: Any = np.zeros(q.shape + counts.shape)
    for count in np.unique(counts):
        found: Any = untyped.quantile(np.arange(max(count, 1)), q, method=method)
        rank[..., counts == count] = untyped.asarray(found)[..., None]
    low = np.floor(rank).astype(np.int64)
    moves = is_recorded(given)
    if moves:  # between two elements, also where it is one of them
        low = np.maximum(np.minimum(low, counts - 2), 0)
    share = rank - low
    found = cast(xp, _ranked(xp, ordered, low, by_row=skip_nan), dtype)
    if share.any() or moves:
        next_one = np.minimum(low + 1, counts - 1) if moves else low + (share > 0.0)
        above = _ranked(xp, ordered, next_one, by_row=skip_nan)  # NaN may come next
        if np.isin(share, (0.0, 0.5)).all() and not moves:
            found = 0.5 * found + 0.5 * above  # both may be infinite
        else:
            spread = share.reshape(share.shape + (1,) * (found.ndim - share.ndim))
            part = xp.asarray(spread, dtype=found.dtype) if share.shape else float(share)
            if moves:
                slope = counts + RANKS_PER_Q[method]
                clipped = ((rank <= 0.0) | (rank >= counts - 1)) & (method != "linear")
                change = (xp.asarray(given) - q).reshape(q.shape + (1,) * counts.ndim)
                change = change * np.where(clipped, 0.0, slope)
                part = part + change.reshape(spread.shape)
            found = found + (above - found) * part
    if not skip_nan:
        last = ordered[..., -1]  # where NaN is sorted to
        found = xp.where(xp.isnan(last), last, found)
    return put_back(xp, found, a, axis, keepdims)


def _ranked(xp: Any, ordered: Any, places: Any, *, by_row: bool) -> Any:
    """Return the elements of each row at `places`, with the axes of `places` first."""
    if not places.shape:
        return ordered[..., int(places)]
    if by_row and ordered.ndim > 1:
        return ordered[(*np.ix_(*map(counting, ordered.shape[:-1])), places)]
    taken = xp.moveaxis(xp.take(ordered, xp.asarray(places.reshape(-1)), axis=-1), -1, 0)
    return xp.reshape(taken, (*places.shape, *taken.shape[1:]))


def _weighted_quantiles(
    xp: Any, name: str, a: Any, q: Any, axis: Any, method: str, keepdims: Any, weights: Any
) -> Any:
    """Select the elements whose ranks NumPy selects with the same weights."""
    rows = moved_last(xp, a, axis)
    values, weights = on_host(native(rows)), on_host(native(weights))
    if weights.shape == a.shape:
        weights = moved_last(untyped, weights, axis)
    places = untyped.argsort(untyped.argsort(values, axis=-1), axis=-1)
    ranks = untyped.where(untyped.isnan(values), untyped.nan, places)
    chosen: Any = getattr(untyped, name)(ranks, q, axis=-1, method=method, weights=weights)
    last = rows.shape[-1] - 1  # where NaN is sorted to
    at = untyped.where(untyped.isnan(chosen), last, chosen).astype(np.int64)
    at = at.reshape(-1, *rows.shape[:-1]).transpose((*range(1, rows.ndim), 0))
    found = xp.take_along_axis(xp.sort(rows, axis=-1), xp.asarray(at), axis=-1)
    found = xp.reshape(xp.moveaxis(found, -1, 0), (*q.shape, *rows.shape[:-1]))
    return put_back(xp, found, a, axis, keepdims)


@implements(
    "median nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=False)",
    "quantile percentile nanquantile nanpercentile"
    "(a, q, axis=None, out=None, overwrite_input=False, method='linear', keepdims=False, *, "
    "weights=None, interpolation=None)",
    arrays=1,
)
def quantile(
    xp: Any,
    name: str,
    a: Any,
    axis: Any,
    keepdims: Any,
    q: Any = 0.5,
    method: str = "linear",
    weights: Any = None,
    overwrite_input: bool = False,
) -> Any:
    if name.endswith("median") and not a.size:
        return xp.mean(a, axis=axis, keepdims=keepdims)  # NaN, and NumPy's warning
    if weights is not None or method not in RANKS_PER_Q:
        check_constant("np." + name, q=q)
    if weights is not None:
        return _weighted_quantiles(xp, name, a, on_host(q), axis, method, keepdims, weights)
    dtype = None
    if not name.endswith("median"):  # an array of quantiles widens single precision
        wanted = native(q)
        wanted = on_host(wanted) if hasattr(wanted, "get") else wanted
        dtype = getattr(np, name)(np.zeros(1, innermost(a).dtype), wanted).dtype
    given = () if name.endswith("median") else (on_host(q),)
    scale = 100.0 if name.endswith("percentile") else 1.0
    q = xp.asarray(q) / scale if is_recorded(q) else on_host(q) / scale
    skip_nan = name.startswith("nan")
    found = _quantiles(xp, a, q, axis, method, keepdims, skip_nan=skip_nan, dtype=dtype)
    array = one_array(a)
    if found.ndim < 2 or not isinstance(array, NDARRAY):
        return found
    kept = () if axis is None else set(range(array.ndim)) - set(as_axes(axis, array.ndim))
    small = np.zeros_like(array[tuple(slice(2 if i in kept else None) for i in range(array.ndim))])
    words = {"axis": axis, "overwrite_input": overwrite_input, "keepdims": bool(keepdims)}
    return in_order(found, "K", getattr(np, name)(small, *given, **words))  # in NumPy's order


@implements(
    "cov"
    "(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None)"
)
def cov(
    xp: Any,
    m: Any,
    y: Any,
    rowvar: bool,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
    dtype: Any = None,
) -> Any:
    rows = _variables(xp, m, rowvar)
    if y is not None:
        rows = xp.concat([rows, _variables(xp, y, rowvar)], axis=0)
    rows = cast(xp, rows, np.result_type(rows.dtype, np.float64) if dtype is None else dtype)
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    free = (0 if bias else 1) if ddof is None else ddof
    if fweights is None and aweights is None:
        weighted = deviation = rows - xp.mean(rows, axis=1, keepdims=True)
        if rows.shape[1] <= free:
            warnings.warn("Degrees of freedom <= 0 for slice", RuntimeWarning, stacklevel=2)
        norm = np.float64(max(rows.shape[1] - free, 0))
    else:
        check_constant("np.cov", fweights=fweights)
        shares = xp.asarray(1.0 if aweights is None else aweights)
        counts: Any = np.asarray(1.0)
        if aweights is not None:
            _check_weights("aweights", shares, innermost(shares), rows)
        if fweights is not None:
            counts = np.asarray(on_host(fweights), dtype=np.float64)
            _check_weights("fweights", counts, counts, rows)
            if (counts != untyped.around(counts)).any():
                raise TypeError("fweights must be integer")
        weights = shares * constant(xp, counts)
        total = xp.sum(weights)
        deviation = rows - xp.sum(rows * weights, axis=1, keepdims=True) / total
        weighted = deviation * weights
        norm = total - (free * xp.sum(weights * shares) / total if free else 0)
        norm = xp.where(norm > 0, norm, 0.0)
    turned = xp.matrix_transpose(weighted)
    if xp.isdtype(rows.dtype, "complex floating"):
        turned = xp.conj(turned)
    found = cast(xp, xp.matmul(deviation, turned) * (1 / norm), rows.dtype)
    return xp.squeeze(found, tuple(i for i, n in enumerate(found.shape) if n == 1))


def _check_weights(name: str, weights: Any, values: Any, rows: Any) -> None:
    """Refuse the weights that NumPy refuses; the sign is not checked on a GPU."""
    if weights.ndim > 1:
        raise RuntimeError(f"cannot handle multidimensional {name}")
    if weights.shape[0] != rows.shape[1]:
        raise RuntimeError(f"incompatible numbers of samples and {name}")
    if isinstance(values, np.ndarray) and (values < 0).any():
        raise ValueError(f"{name} cannot be negative")


def _variables(xp: Any, m: Any, rowvar: bool) -> Any:
    """Return a matrix with one row for each variable."""
    m = xp.asarray(m)
    if m.ndim > 2:
        raise ValueError("m has more than 2 dimensions")
    if m.ndim < 2:
        return xp.reshape(m, (1, -1))
    return m if rowvar else xp.matrix_transpose(m)


@implements("corrcoef(x, y=None, rowvar=True, *, dtype=None)")
def corrcoef(xp: Any, x: Any, y: Any, rowvar: bool, dtype: Any) -> Any:
    found = cov(xp, x, y, rowvar, dtype=dtype)
    if not found.ndim:
        return found / found
    deviation = xp.sqrt(xp.linalg.diagonal(found).real)
    return found / deviation[:, None] / deviation[None, :]


@implements("bincount(x, /, weights=None, minlength=0)")
def bincount(xp: Any, x: Any, weights: Any, minlength: int) -> Any:
    """Add each weight to the bin that its number names; without weights, count."""
    x = native(x)
    if isinstance(x, SEQUENCE):
        x = np.asarray(x)
    counts: Any = untyped.bincount(x, minlength=minlength)
    if weights is None:
        return xp._class._plain(counts)
    weights = cast(xp, weights, np.float64)
    if weights.shape != x.shape:
        raise ValueError("The weights and list don't have the same length.")
    return xp.scatter(weights, x, tuple(counts.shape), weights.dtype)
