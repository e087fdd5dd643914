"""Rules of scipy.stats.

Most functions of samples have an array-API path. This module has formulas for the others. Functions
of ranks have none: they are piecewise constant.
"""

from __future__ import annotations

import functools
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from gradwrap.errors import NoRuleError
from gradwrap.scipy.dispatching import Constant, Refused
from gradwrap.scipy.kinds import ArrayApi, Selecting, formula
from gradwrap.scipy.rules import binning, kernel_density, multivariate
from gradwrap.scipy.rules.distributions import CONTINUOUS, DISCRETE, Distribution, DistributionClass
from gradwrap.scipy.solving import data_of
from gradwrap.scipy.table import Row, register
from gradwrap.transforms.arguments import stop_gradient

special: Any = import_module("scipy.special")
stats: Any = import_module("scipy.stats")
__all__ = ["NAMES", "binning", "kernel_density", "multivariate"]


class Statistic(NamedTuple):
    """A statistic and its probability."""

    statistic: Any
    pvalue: Any


class Line(NamedTuple):
    """The result of `linregress`."""

    slope: Any
    intercept: Any
    rvalue: Any
    pvalue: Any
    stderr: Any
    intercept_stderr: Any


# Correlation and regression -----------------------------------------------------------------------


def _correlation(x: Any, y: Any, axis: Any) -> Any:
    x, y = x - np.mean(x, axis=axis, keepdims=True), y - np.mean(y, axis=axis, keepdims=True)
    product = np.sum(x * y, axis=axis)
    return product / np.sqrt(np.sum(x * x, axis=axis) * np.sum(y * y, axis=axis))


def _beta_probability(r: Any, count: int, alternative: str) -> Any:
    """Return the p value of a correlation, which has a beta distribution."""
    half = 0.5 * count - 1.0
    if alternative == "two-sided":
        return 2.0 * special.betaincc(half, half, 0.5 * (np.abs(r) + 1.0))
    tail = special.betainc if alternative == "less" else special.betaincc
    return tail(half, half, 0.5 * (r + 1.0))


def _pearson(x: Any, y: Any, alternative: str, axis: Any) -> Statistic:
    if axis is None:
        x, y, axis = np.ravel(x), np.ravel(y), 0
    r = _correlation(x, y, axis)
    return Statistic(r, _beta_probability(r, np.shape(x)[axis], alternative))


def _student_probability(t: Any, df: Any, alternative: str) -> Any:
    if alternative == "two-sided":
        return 2.0 * special.stdtr(df, -np.abs(t))
    return special.stdtr(df, t if alternative == "less" else -t)


def _regression(
    x: Any, y: Any, alternative: str, axis: Any = None, keepdims: Any = False, *, out: Any
) -> Line:
    """Return the least-squares line, and the standard errors of its two coefficients.

    SciPy has `axis` and `keepdims` since 1.17.

    The correlation has SciPy's value, since its last digits decide on errors near 0. A line through
    all points has no errors, and their derivative is 0 there.
    """
    if axis is None and not keepdims:
        x, y, axis = np.ravel(x), np.ravel(y), 0
    along = functools.partial(np.mean, axis=axis, keepdims=True)
    dx, dy = x - along(x), y - along(y)
    along = functools.partial(np.mean, axis=axis, keepdims=keepdims)
    xx, yy, xy, mean, height = map(along, (dx * dx, dy * dy, dx * dy, x, y))
    slope, df = xy / xx, np.size(x) // np.size(mean) - 2
    is_flat = yy == 0
    r = xy / np.sqrt(xx * np.where(is_flat, 1.0, yy))
    r = r + stop_gradient(out.rvalue - r)
    is_exact = is_flat | (np.abs(r) == 1.0) | (df == 0)
    inside = np.where(is_exact, 0.0, r)
    t = inside * np.sqrt(df / ((1.0 - inside) * (1.0 + inside)))
    square = np.where(is_exact, 1.0, (1.0 - inside * inside) * yy / xx / max(df, 1))
    error = np.where(is_exact, 0.0, np.sqrt(square))
    pvalue = np.where(is_exact, out.pvalue, _student_probability(t, max(df, 1), alternative))
    at_zero = error * np.sqrt(xx + mean * mean)
    return Line(slope, height - slope * mean, r, pvalue, error, at_zero)


def _variances(samples: Any, axis: int, keepdims: Any) -> Statistic:
    """Return the F statistic, the ratio of variances between and within samples."""
    sizes = [np.shape(sample)[axis] for sample in samples]
    means = [np.mean(sample, axis=axis, keepdims=True) for sample in samples]
    total = sum(sizes)
    whole = sum(n * mean for n, mean in zip(sizes, means, strict=True)) / total
    between = sum(n * (mean - whole) ** 2 for n, mean in zip(sizes, means, strict=True))
    within = sum(
        np.sum((sample - mean) ** 2, axis=axis, keepdims=True)
        for sample, mean in zip(samples, means, strict=True)
    )
    df = len(samples) - 1, total - len(samples)
    f = (between / df[0]) / (within / df[1])
    f = f if keepdims else np.squeeze(f, axis=axis)
    return Statistic(f, special.fdtrc(df[0], df[1], f))


# Order statistics ---------------------------------------------------------------------------------


def _within_limits(power: float, *, of_mean: bool) -> Any:
    """Return a formula for a power of the variance between limits, or of that of the mean."""

    def formula(
        a: Any, limits: Any, inclusive: Any, axis: Any, ddof: Any, nan_policy: Any, keepdims: Any
    ) -> Any:
        if axis is None:
            a, axis = np.reshape(a, (-1,)), 0
        data, (low, high) = data_of(a), limits or (None, None)
        kept = ~np.isnan(data) if nan_policy == "omit" else np.ones(data.shape, dtype=np.bool_)
        if low is not None:
            kept = kept & ~(data < low if inclusive[0] else data <= low)
        if high is not None:
            kept = kept & ~(data > high if inclusive[1] else data >= high)
        count = np.sum(kept, axis, keepdims=True)
        values = np.where(kept, a, 0.0)
        gaps = np.where(kept, values - np.sum(values, axis, keepdims=True) / count, 0.0)
        variance = np.sum(gaps**2, axis, keepdims=True) / (count - ddof)
        found = (variance / count if of_mean else variance) ** power
        return found if keepdims else np.squeeze(found, axis)

    return formula


def _trimmed_mean(a: Any, proportiontocut: float, axis: Any, keepdims: Any) -> Any:
    shape = [1] * np.ndim(a) if axis is None else None
    if axis is None:
        a, axis = np.ravel(a), 0
    count = np.shape(a)[axis]
    cut = int(proportiontocut * count)
    kept = np.take(np.sort(a, axis=axis), np.arange(cut, count - cut), axis=axis)
    found = np.mean(kept, axis=axis, keepdims=keepdims)
    return np.reshape(found, shape) if keepdims and shape is not None else found


def _variation(a: Any, axis: Any, ddof: Any, keepdims: Any) -> Any:
    deviation = np.std(a, axis=axis, ddof=ddof, keepdims=keepdims)
    return deviation / np.mean(a, axis=axis, keepdims=keepdims)


def _steps(u: Any, v: Any) -> tuple[Any, Any]:
    """Return the gaps between sorted values, and the differences of the two distributions there."""
    u, v = np.ravel(u), np.ravel(v)
    both = np.concatenate([u, v])
    order = np.argsort(both, kind="mergesort")
    sizes = np.shape(u)[0], np.shape(v)[0]
    weights = np.concatenate([np.full(sizes[0], 1 / sizes[0]), np.full(sizes[1], -1 / sizes[1])])
    return np.diff(both[order]), np.cumsum(weights[np.asarray(order)])[:-1]


def _wasserstein(u_values: Any, v_values: Any) -> Any:
    distances, differences = _steps(u_values, v_values)
    return np.sum(np.abs(differences) * distances)


def _energy(u_values: Any, v_values: Any) -> Any:
    distances, differences = _steps(u_values, v_values)
    return np.sqrt(2.0 * np.sum(differences**2 * distances))


# Transformations ----------------------------------------------------------------------------------


def _given(lmbda: Any, name: str) -> Any:
    """Return the parameter of a transformation; raise an error if SciPy would estimate it."""
    if lmbda is None:
        raise NoRuleError(
            f"scipy.stats.{name} has no derivative without lmbda=, which it then finds itself. "
            f"Fix: {name}(x, lmbda), with one of {name}_normmax on plain data."
        )
    return lmbda


def _likelihood(lmb: Any, moved: Any, logs: Any, axis: Any, keepdims: Any) -> Any:
    """Return the log-likelihood of a power and the mean logarithm of its transform's slope."""
    mean = np.mean(logs, axis=axis, keepdims=keepdims)
    spread = np.var(moved, axis=axis, keepdims=keepdims)
    count = np.size(moved) // np.size(mean)
    return count * ((lmb - 1.0) * mean - 0.5 * np.log(spread))


def _box_cox_likelihood(lmb: Any, data: Any, axis: Any = 0, keepdims: Any = False) -> Any:
    return _likelihood(lmb, special.boxcox(data, lmb), np.log(data), axis, keepdims)


def _yeo_johnson(x: Any, lmbda: Any) -> Any:
    lmbda = _given(lmbda, "yeojohnson")
    right = x >= 0
    above = special.boxcox1p(np.where(right, x, 0.0), lmbda)
    below = special.boxcox1p(np.where(right, 0.0, -x), 2.0 - lmbda)
    return np.where(right, above, -below)


def _yeo_johnson_likelihood(lmb: Any, data: Any, axis: Any = 0, keepdims: Any = False) -> Any:
    right = data >= 0
    logs = np.log1p(np.where(right, data, 0.0)) - np.log1p(np.where(right, 0.0, -data))
    return _likelihood(lmb, _yeo_johnson(data, lmb), logs, axis, keepdims)


# The table ----------------------------------------------------------------------------------------


NAMES = [name for name in stats.__all__ if isinstance(getattr(stats, name), (CONTINUOUS, DISCRETE))]
RANKS = "it depends on the order of the values alone. Fix: .detach() them, for a constant result."
OF_RANKS = (
    "spearmanr kendalltau weightedtau somersd mannwhitneyu kruskal friedmanchisquare wilcoxon "
    "ranksums ansari mood fligner ks_2samp cramervonmises_2samp epps_singleton_2samp "
    "page_trend_test tiecorrect brunnermunzel chatterjeexi bws_test median_test "
    "percentileofscore"
)

BY_ARRAY_API = (
    "skew kurtosis tmean sem zscore differential_entropy kstat kstatvar skewtest "
    "jarque_bera describe iqr median_abs_deviation tmin tmax gmean hmean gzscore entropy "
    "chisquare power_divergence circmean circvar circstd kurtosistest normaltest "
    "bartlett levene ttest_ind_from_stats combine_pvalues false_discovery_control"
)
BESIDE_ARRAY_API = "alexandergovern gstd lmoment moment quantile ttest_1samp ttest_rel zmap"
"""The array-API path of these has other last digits or another dtype, or checks less."""

register(
    [
        *(Row(f"stats.{name}", Distribution()) for name in NAMES),
        *(
            Row(f"stats.{name}", DistributionClass())
            for name in ("rv_continuous", "rv_discrete", "rv_histogram")
        ),
        *(
            Row(f"stats.{name}", Refused(RANKS))
            for name in OF_RANKS.split()
            if hasattr(stats, name)
        ),
        Row("stats.rankdata", Constant("the places in an order")),
        *(
            Row(f"stats.{name}", ArrayApi(gives_value=gives_value), omits=True)
            for names, gives_value in ((BY_ARRAY_API, True), (BESIDE_ARRAY_API, False))
            for name in names.split()
        ),
        # the variance of one value is NaN, and is not used
        Row("stats.ttest_ind", Selecting(gives_value=False), omits=True),
        formula("stats.yeojohnson_llf", _yeo_johnson_likelihood, "lmb data"),
        formula("stats.pearsonr", _pearson, "x y"),
        formula("stats.pointbiserialr", lambda x, y: _pearson(x, y, "two-sided", 0), "x y"),
        formula("stats.linregress", _regression, "x y"),
        formula("stats.f_oneway", _variances, "samples"),
        formula("stats.variation", _variation, "a"),
        formula("stats.tvar", _within_limits(1.0, of_mean=False), "a"),
        formula("stats.tstd", _within_limits(0.5, of_mean=False), "a"),
        formula("stats.tsem", _within_limits(0.5, of_mean=True), "a"),
        formula("stats.trim_mean", _trimmed_mean, "a"),
        formula(
            "stats.scoreatpercentile", lambda a, per, axis: np.percentile(a, per, axis=axis), "a"
        ),
        formula("stats.wasserstein_distance", _wasserstein, "u_values v_values"),
        formula("stats.energy_distance", _energy, "u_values v_values"),
        formula(
            "stats.boxcox", lambda x, lmbda: special.boxcox(x, _given(lmbda, "boxcox")), "x lmbda"
        ),
        formula("stats.boxcox_llf", _box_cox_likelihood, "lmb data"),
        formula("stats.yeojohnson", _yeo_johnson, "x lmbda"),
    ]
)
