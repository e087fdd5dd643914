"""Rolling, expanding and weighted windows of pandas over tracked values.

Which elements a window takes, the labels of the results, and which of these are NaN come from
pandas: from the same windows over the plain numbers of the table, whose values ours must have.
"""

from __future__ import annotations

import copy
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.adaptation.pandas_columns import SPREADS, Column, held, ordered, plain, reduced
from gradwrap.core.values.dynamic import type_of
from gradwrap.errors import NoRuleError

if TYPE_CHECKING:
    from collections.abc import Callable

xp: Any = np  # functions of arrays that may be tracked
pd: Any = import_module("pandas")  # it need not be installed where types are checked


def of_columns(windows: Any, name: str, *args: Any, **options: Any) -> Any:
    """Call a method of windows: of a table column by column, if it has no other tables."""
    table = _table_of(windows)
    if table.ndim < 2:
        if name in ("cov", "corr"):
            windows, args = _aligned(windows, args or (options.pop("other"),))
        return METHODS[name, _is_weighted(windows)](windows, name, *args, **options)
    if not table.columns.is_unique:
        if hasattr(windows, "_grouper") or getattr(windows, "on", None) is not None:
            raise NoRuleError(
                f"{name} of windows of a table with tracked values, some columns of which have the "
                "same name. Fix: give them different names, as by table.columns = range(n)."
            )
        numbered = table.set_axis(range(table.shape[1]), axis=1)
        found = of_columns(_over(windows, numbered), name, *args, **options)
        return found.set_axis(table.columns, axis=1)
    return pd.DataFrame({one: getattr(windows[one], name)(*args, **options) for one in table})


def has_method(windows: Any, name: str, *args: Any, **options: Any) -> bool:
    """Tell if a method of windows is computed here for such arguments."""
    if name in ("cov", "corr"):
        other: Any = args[0] if args else options.get("other")
        is_grouped = hasattr(windows, "_grouper")
        series = _table_of(windows)
        is_pair = _is_series(series) and _is_series(other)
        if not is_pair or is_grouped:
            return False
        return series.index.equals(other.index) or not _is_of_times(windows)
    return (name, _is_weighted(windows)) in METHODS


def _aligned(windows: Any, args: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """Bring the series of windows and another one, the first argument, in line by their labels."""
    series, other = _table_of(windows), args[0]
    if series.index.equals(other.index):
        return windows, args
    one, two = series.align(other)
    return _over(windows, one), (two, *args[1:])


def _is_of_times(windows: Any) -> bool:
    """Tell if windows are lengths of time, or their weights: those of one index fit no other."""
    is_long = not isinstance(getattr(windows, "window", None) or 0, int)
    return is_long or getattr(windows, "times", None) is not None


def _is_weighted(windows: Any) -> bool:
    """Tell if elements have weights: windows of a type, and those whose weights decay."""
    return hasattr(windows, "alpha") or getattr(windows, "win_type", None) is not None


def _table_of(windows: Any) -> Any:
    return windows._selected_obj  # noqa: SLF001  as the windows find it


def _over(windows: Any, table: Any) -> Any:
    """Return the same windows over another table; with other rows if they count elements."""
    made: Any = copy.copy(windows)
    attributes: dict[str, Any] = made.__dict__
    attributes.pop("_cache", None)
    attributes.update(obj=table, _selection=None)
    if len(table) != len(windows.obj):
        attributes["_on"] = table.index
    return made


def _numbers(series: Any) -> Any:
    """Return the plain numbers of a series."""
    column = series.array
    array = column.tracked if type_of(column) is Column else column
    return pd.Series(plain(array), index=series.index, name=series.name)


def _known(windows: Any) -> Any:
    """Return the same windows over plain numbers."""
    return _over(windows, _numbers(_table_of(windows)))


def _lost(windows: Any, name: str, *args: Any, **options: Any) -> Any:
    """Tell which results are NaN since a window has too few elements, whatever their values."""
    series, *more = (_pattern(one) for one in (_table_of(windows), *args) if _is_series(one))
    given = (*more, *(one for one in args if not _is_series(one)))
    named = {word: _pattern(one) if _is_series(one) else one for word, one in options.items()}
    return getattr(_over(windows, series), name)(*given, **named).isna().to_numpy()


def _is_series(value: Any) -> bool:
    return isinstance(value, pd.Series)


def _pattern(series: Any) -> Any:
    """Return a series of other numbers, with NaN at the same places."""
    numbers = np.where(series.isna(), np.nan, np.sin(np.arange(1.0, len(series) + 1)))
    return pd.Series(numbers, index=series.index, name=series.name)


def _labelled(found: Any, known: Any, name: str) -> Any:
    """Return a result with the labels of the plain one, which must have the same values."""
    made = held(found)
    values, wanted = plain(made.tracked), known.to_numpy()
    scale = np.max(np.abs(wanted), initial=0.0, where=np.isfinite(wanted))
    if not np.allclose(values, wanted, rtol=1e-6, atol=1e-12 + 1e-9 * scale, equal_nan=True):
        raise NoRuleError(
            f"{name} of windows: pandas {pd.__version__} gives other values than the formula that "
            "is differentiated here. Fix: fill missing values first, or compute from .to_numpy()."
        )
    return pd.Series(made, index=known.index, name=known.name)


# Windows of elements ------------------------------------------------------------------------------


def _reduced(windows: Any, name: str, *args: Any, **options: Any) -> Any:
    """Reduce each window of a series."""
    known = getattr(_known(windows), name)(*args, **options)
    given = {"ddof": args[0] if args else options.get("ddof", 1)} if name in SPREADS else {}
    parts = zip(windows, _lost(windows, name, *args, **options), strict=True)
    found = [np.nan if lacks else reduced(part.array, name, **given) for part, lacks in parts]
    return _labelled(found, known, name)


def _quantile(
    windows: Any, name: str, q: float, interpolation: str = "linear", **options: Any
) -> Any:
    """Compute a quantile of each window of a series."""
    known = _known(windows).quantile(q, interpolation, **options)
    parts = zip(windows, _lost(windows, name, q, interpolation, **options), strict=True)
    found = [np.nan if lacks else part.quantile(q, interpolation) for part, lacks in parts]
    return _labelled(found, known, name)


def _applied(
    windows: Any, _: str, func: Callable[..., Any], raw: bool = False, **options: Any
) -> Any:
    """Apply a function to each window of a series."""
    args: tuple[Any, ...] = options.get("args") or ()
    kwargs: dict[str, Any] = options.get("kwargs") or {}
    like = _known(windows).count()
    least = windows.min_periods
    if least is None:
        least = windows.window if isinstance(windows.window, int) else 1
    found: list[Any] = []
    for part in windows:
        given = part.array.tracked if raw else part
        is_enough = np.count_nonzero(~part.array.isna()) >= max(least, 1)
        found.append(func(given, *args, **kwargs) if is_enough else np.nan)
    return pd.Series(held(found), index=like.index, name=like.name)


def _of_pairs(windows: Any, name: str, other: Any, *args: Any, **options: Any) -> Any:
    """Compute the covariance or the correlation of two series in each window."""
    known = getattr(_known(windows), name)(_numbers(other), *args, **options)
    given = dict(zip(("pairwise", "ddof"), args, strict=False)) | options
    others = _over(windows, other)
    found: list[Any] = []
    lost = _lost(windows, name, other, *args, **options)
    for one, two, lacks in zip(windows, others, lost, strict=True):
        is_there = ~np.logical_or(one.isna(), two.isna()).to_numpy()
        x, y = (part.to_numpy()[is_there] for part in (one, two))
        measure = _covariance if name == "cov" else _correlation
        found.append(np.nan if lacks else measure(x, y, given.get("ddof", 1)))
    return _labelled(found, known, name)


def _covariance(x: Any, y: Any, ddof: int) -> Any:
    return xp.sum((x - xp.mean(x)) * (y - xp.mean(y))) / (len(x) - ddof)


def _correlation(x: Any, y: Any, _: int) -> Any:
    return _covariance(x, y, 0) / xp.sqrt(_covariance(x, x, 0) * _covariance(y, y, 0))


# Windows of weights -------------------------------------------------------------------------------


def _weights(windows: Any, name: str, lacks: Any, **options: Any) -> Any:
    """Return the matrix of a linear function of windows: what it gives for unit vectors."""
    units = np.where(lacks[:, None], np.nan, np.eye(len(lacks)))
    index = _table_of(windows).index
    return np.nan_to_num(getattr(_over(windows, pd.DataFrame(units, index=index)), name)(**options))


def _filled(series: Any, lacks: Any) -> Any:
    return xp.where(lacks, 0.0, series.to_numpy())


def _linear(windows: Any, name: str, *args: Any, **options: Any) -> Any:
    """Compute means or sums with weights, which are linear."""
    known = getattr(_known(windows), name)(*args, **options)
    series = _table_of(windows)
    lacks = series.isna().to_numpy()
    found = _weights(windows, name, lacks, **options) @ _filled(series, lacks)
    is_lost = _lost(windows, name, *args, **options)
    return _labelled(xp.where(is_lost, np.nan, found), known, name)


def _weighted_moments(windows: Any, name: str, *args: Any, **options: Any) -> Any:
    """Compute variances, covariances and correlations with weights that decay."""
    known_args = [_numbers(one) if _is_series(one) else one for one in args]
    known_options = {
        word: _numbers(one) if _is_series(one) else one for word, one in options.items()
    }
    known = getattr(_known(windows), name)(*known_args, **known_options)
    names = ("other", "pairwise", "bias") if name in ("cov", "corr") else ("bias",)
    given = dict(zip(names, args, strict=False)) | options
    pair = [_table_of(windows), given.get("other", _table_of(windows))]
    is_lost = _lost(windows, name, *args, **options)
    lacks = np.logical_or(*(one.isna().to_numpy() for one in pair))
    weights = _weights(windows, "mean", lacks)
    x, y = (_filled(one, lacks) for one in pair)
    less_x, less_y = (one - (weights @ one)[:, None] for one in (x, y))

    def moment(one: Any, other: Any) -> Any:
        return xp.where(is_lost, 1.0, xp.sum(weights * one * other, axis=1))

    found = moment(less_x, less_y)
    if name == "corr":
        found = found / xp.sqrt(moment(less_x, less_x) * moment(less_y, less_y))
    elif not given.get("bias", False):
        found = found / np.where(is_lost, 1.0, 1.0 - np.sum(weights**2, axis=1))
    found = xp.sqrt(found) if name == "std" else found
    return _labelled(xp.where(is_lost, np.nan, found), known, name)


def _ranked(windows: Any, _: str, *args: Any, **options: Any) -> Any:
    """Return the ranks in windows, which have no derivative."""
    series = _table_of(windows)
    numbers = pd.Series(ordered(series.array.tracked), index=series.index, name=series.name)
    return _over(windows, numbers).rank(*args, **options)


REDUCTIONS = ("sum", "mean", "min", "max", "median", "skew", "kurt", "first", "last", *SPREADS)
METHODS: dict[tuple[str, bool], Callable[..., Any]] = {
    **{(name, False): _reduced for name in REDUCTIONS},
    **{(name, True): _linear for name in ("mean", "sum")},
    **{(name, True): _weighted_moments for name in ("var", "std", "cov", "corr")},
    **{(name, False): _of_pairs for name in ("cov", "corr")},
    ("apply", False): _applied,
    ("quantile", False): _quantile,
    ("rank", False): _ranked,
}
"""What computes a method of windows of elements (False) and of weights (True)."""
