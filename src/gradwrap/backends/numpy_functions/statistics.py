"""Order statistics, covariance."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwrap.backends.numpy_functions.table import (
    cast,
    check_constant,
    constant,
    counting,
    implements,
    moved_last,
    on_host,
    put_back,
    untyped,
)
from gradwrap.core.wrapper import native
from gradwrap.errors import NoRuleError


def _quantiles(
    xp: Any, a: Any, q: Any, axis: Any, method: str, keepdims: Any, *, skip_nan: bool
) -> Any:
    """Means of two order statistics each; NumPy says which, by the quantiles of the ranks."""
    ordered = xp.sort(moved_last(xp, a, axis), axis=-1)
    quantiles = _of_numbers if skip_nan else _of_all
    found = quantiles(xp, ordered, on_host(q), method)
    return put_back(xp, found, a, axis, keepdims)


def _of_all(xp: Any, ordered: Any, q: Any, method: str) -> Any:
    """Quantiles at the same two places in every row; NaN where a row has one."""
    length = ordered.shape[-1]
    rank: Any = np.asarray(np.quantile(np.arange(max(length, 1)), q, method=method))  # type: ignore[call-overload]  # any of its methods
    low = np.floor(rank).astype(np.int64)
    share = rank - low
    found = _ranked(xp, ordered, low)
    if share.any():
        above = _ranked(xp, ordered, np.minimum(low + 1, length - 1))
        found = found + (above - found) * _shares(xp, share, ordered)
    last = ordered[..., -1]  # where NaN is sorted to
    return xp.where(xp.isnan(last), last, found)


def _ranked(xp: Any, ordered: Any, places: Any) -> Any:
    """The elements of each row at places, whose axes are the result's first."""
    if not places.shape:
        return ordered[..., int(places)]
    taken = xp.moveaxis(xp.take(ordered, xp.asarray(places.reshape(-1)), axis=-1), -1, 0)
    return xp.reshape(taken, (*places.shape, *taken.shape[1:]))


def _shares(xp: Any, share: Any, ordered: Any) -> Any:
    """A number for each quantile, to be multiplied with the elements of all rows."""
    if not share.shape:
        return float(share)
    share = share.reshape(share.shape + (1,) * (ordered.ndim - 1))
    return xp.asarray(share, dtype=ordered.dtype)


def _of_numbers(xp: Any, ordered: Any, q: Any, method: str) -> Any:
    """Quantiles of the elements that are not NaN, more in one row than in another."""
    values = native(ordered)
    counts = on_host((values == values).sum(axis=-1))
    shape = (*q.shape, *values.shape[:-1])
    ranks: Any = np.zeros(shape)
    for count in np.unique(counts):
        rank: Any = np.quantile(np.arange(max(count, 1)), q, method=method)  # type: ignore[call-overload]  # a string
        chosen = np.broadcast_to(counts == count, shape)
        spread = untyped.reshape(rank, q.shape + (1,) * (len(shape) - q.ndim))
        ranks = untyped.where(chosen, spread, ranks)
    low = np.floor(ranks).astype(np.int64)
    share = (ranks - low).astype(values.dtype)
    below = _at(xp, ordered, low)
    if share.any():
        above = _at(xp, ordered, np.minimum(low + 1, values.shape[-1] - 1))
        part = constant(xp, share) if share.shape else share[()]
        below = below + (above - below) * part
    return below


def _at(xp: Any, ordered: Any, places: Any) -> Any:
    """The elements of each row at places, whose leading axes are the result's."""
    extra = places.ndim - (ordered.ndim - 1)
    rows = tuple(
        counting(n).reshape((-1,) + (1,) * (ordered.ndim - 2 - i))
        for i, n in enumerate(ordered.shape[:-1])
    )
    if not rows:
        return ordered[places if extra else int(places)]
    return ordered[(*rows, places)]


@implements(
    "median nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=False)", arrays=1
)
def median(xp: Any, name: str, a: Any, axis: Any, keepdims: Any) -> Any:
    """The middle of the sorted elements, or the mean of the middle two."""
    return _quantiles(xp, a, 0.5, axis, "linear", keepdims, skip_nan=name == "nanmedian")


@implements(
    "quantile percentile nanquantile nanpercentile"
    "(a, q, axis=None, out=None, overwrite_input=False, method='linear', keepdims=False, *, "
    "weights=None, interpolation=None)",
    arrays=1,
)
def quantile(
    xp: Any, name: str, a: Any, q: Any, axis: Any, method: str, keepdims: Any, weights: Any
) -> Any:
    if weights is not None:
        raise NoRuleError(f"np.{name} with weights= has no rule. Fix: omit weights=.")
    check_constant("np." + name, q=q)
    q = on_host(q) / (100.0 if name.endswith("percentile") else 1.0)
    return _quantiles(xp, a, q, axis, method, keepdims, skip_nan=name.startswith("nan"))


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
    rows = cast(xp, rows, dtype)
    free = (0 if bias else 1) if ddof is None else ddof
    weights: Any = None
    if fweights is not None:
        weights = constant(xp, on_host(fweights).astype(np.float64))
    if aweights is not None:
        weights = xp.asarray(aweights) if weights is None else weights * xp.asarray(aweights)
    if weights is None:
        deviation = rows - xp.mean(rows, axis=1, keepdims=True)
        weighted, norm = deviation, rows.shape[1] - free
    else:
        total = xp.sum(xp.asarray(weights))
        center = xp.sum(rows * weights, axis=1, keepdims=True) / total
        deviation = rows - center
        weighted = deviation * weights
        norm = total
        if free and aweights is None:
            norm = total - free
        elif free:
            norm = total - free * xp.sum(weights * xp.asarray(aweights)) / total
    turned = xp.matrix_transpose(weighted)
    if xp.isdtype(rows.dtype, "complex floating"):
        turned = xp.conj(turned)
    found = xp.matmul(deviation, turned) / norm
    return xp.squeeze(found, tuple(i for i, n in enumerate(found.shape) if n == 1))


def _variables(xp: Any, m: Any, rowvar: bool) -> Any:
    """One row for each variable."""
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
