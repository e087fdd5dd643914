"""Rules of scipy.stats.binned_statistic and its relatives.

The bin of a point is piecewise constant: the statistics have derivatives with respect to the
values, and the edges with respect to what they are made of.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from gradwrap.scipy.kinds import formula
from gradwrap.scipy.solving import as_array, data_of
from gradwrap.scipy.table import register

NAMES: dict[Any, str] = {
    np.mean: "mean",
    np.median: "median",
    np.sum: "sum",
    np.std: "std",
    np.min: "min",
    np.max: "max",
}
"""The functions that SciPy takes for names."""


def _is_number(bins: Any) -> bool:
    try:
        operator.index(bins)
    except TypeError:
        return False
    return True


def _edges(columns: Any, bins: Any, ranges: Any) -> list[Any]:
    """Return the edges along each axis: those given, or equal steps between the extremes."""
    made: list[Any] = []
    for place, column in enumerate(columns):
        given = bins[place]
        if np.ndim(data_of(given)):
            made.append(as_array(given) * 1.0)
            continue
        low, high = ranges[place] if ranges is not None else (np.min(column), np.max(column))
        half = 0.5 if data_of(low) == data_of(high) else 0.0  # bins of some width
        made.append(np.linspace(low - half, high + half, int(given) + 1))
    return made


def _statistics(values: Any, statistic: Any, bins: tuple[int, ...], at: Any, out: Any) -> Any:
    """Return the statistic of each bin, for each row of the values.

    `at` has the number of the bin of each point, with a bin more at both ends of each axis; `out`
    is SciPy's result without these.
    """
    name = statistic if isinstance(statistic, str) else NAMES.get(statistic)
    inner = np.ravel_multi_index(
        np.ix_(*(np.arange(1, count - 1) for count in bins)), bins
    ).reshape(-1)
    total = int(np.prod(bins))
    counts = np.bincount(at, minlength=total)
    shape = np.shape(out)
    values = as_array(values)
    rows = np.reshape(values, (-1, np.shape(values)[-1]))
    outs = np.reshape(out, (rows.shape[0], -1))
    made = [
        _of_row(row, name or statistic, inner, at, counts, one)
        for row, one in zip(rows, outs, strict=True)
    ]
    return np.reshape(np.stack(made), shape)


def _of_row(row: Any, statistic: Any, inner: Any, at: Any, counts: Any, out: Any) -> Any:
    def total(weights: Any) -> Any:
        if np.iscomplexobj(weights):
            return total(np.real(weights)) + 1j * total(np.imag(weights))
        return np.bincount(at, weights=weights, minlength=counts.size)

    filled = np.maximum(counts, 1)
    if statistic == "sum":
        return total(row)[inner]
    if statistic == "mean":
        return np.where(counts[inner] > 0, (total(row) / filled)[inner], np.nan)
    if statistic == "std":
        gaps = row - (total(row) / filled)[at]
        variance = (total(np.real(gaps * np.conj(gaps))) / filled)[inner]
        spreads = variance > 0
        deviation = np.where(spreads, np.sqrt(np.where(spreads, variance, 1.0)), 0.0)
        return np.where(counts[inner] > 0, deviation, np.nan)
    if statistic in ("min", "max"):
        slots = np.full(counts.size, inner.size)
        slots[inner] = np.arange(inner.size)
        extremes = np.concatenate([out, [np.nan]])  # of each bin; of those beyond the ends, none
        taken = data_of(row) == extremes[slots[at]]  # equal values share the cotangent
        shares = np.maximum(total(taken * 1.0), 1.0)
        return np.where(np.isnan(out), np.nan, (total(np.where(taken, row, 0.0)) / shares)[inner])
    order = np.lexsort((data_of(row), at))
    starts = np.cumsum(counts) - counts
    parts: list[Any] = []
    for place, number in enumerate(inner):
        count, start = counts[number], starts[number]
        if not count:
            parts.append(out[place])
        elif statistic == "median":
            low, high = order[start + (count - 1) // 2], order[start + count // 2]
            parts.append((row[low] + row[high]) / 2)
        else:
            parts.append(statistic(row[np.sort(order[start : start + count])]))
    return np.stack([as_array(part) for part in parts])


def _of_points(
    sample: Any,
    values: Any,
    statistic: Any,
    bins: Any,
    range: Any,
    binned_statistic_result: Any,
    out: Any,
) -> Any:
    columns = list(sample.T) if getattr(sample, "ndim", 0) == 2 else list(map(as_array, sample))
    if binned_statistic_result is not None:
        edges = list(binned_statistic_result.bin_edges)
    else:
        bins = [bins] * len(columns) if _is_number(bins) else bins
        edges = _edges(columns, bins, range)
    counts = tuple(len(one) + 1 for one in edges)
    at = np.asarray(out.binnumber)
    if at.ndim == 2:
        at = np.ravel_multi_index(tuple(at), counts)
    if isinstance(statistic, str) and statistic == "count":
        return out.statistic, edges
    return _statistics(values, statistic, counts, at, data_of(out.statistic)), edges


def _along_one(x: Any, values: Any, statistic: Any, bins: Any, range: Any, out: Any) -> Any:
    bins = [bins] if _is_number(bins) or np.size(data_of(bins)) != 1 else bins
    ranges = [range] if range is not None and len(range) == 2 else range
    found, (edges,) = _of_points([x], values, statistic, bins, ranges, None, out)
    return found, edges


def _along_two(
    x: Any,
    y: Any,
    values: Any,
    statistic: Any,
    bins: Any,
    range: Any,
    out: Any,
) -> Any:
    if not _is_number(bins) and len(bins) not in (1, 2):
        bins = [bins, bins]
    found, edges = _of_points([x, y], values, statistic, bins, range, None, out)
    return found, *edges


register(
    [
        formula("stats.binned_statistic", _along_one, "x values bins range", may_differ="if nan"),
        formula(
            "stats.binned_statistic_2d",
            _along_two,
            "x y values bins range",
            may_differ="if nan",
            neutral="expand_binnumbers",
        ),
        formula(
            "stats.binned_statistic_dd",
            _of_points,
            "sample values bins range binned_statistic_result",
            may_differ="if nan",
            neutral="expand_binnumbers",
        ),
    ]
)
