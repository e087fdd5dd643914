"""Methods of distributions that SciPy writes in C, one element at a time or by `np.place`.

Each is the formula in the class's documentation or source, for the standard distribution inside of
its support. Other methods are derived from these: see `distributions.py`. Every use compares the
value with SciPy's.
"""

from __future__ import annotations

import functools
import math
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.core.levels.wrapper import native
from gradwrap.errors import NoRuleError
from gradwrap.rules.special.incomplete import legendre
from gradwrap.rules.special.integrals import kolmogorov_slope
from gradwrap.transforms.arguments import stop_gradient

if TYPE_CHECKING:
    from collections.abc import Callable

    Body = Callable[..., Any]


special: Any = import_module("scipy.special")


def log_difference(larger: Any, smaller: Any) -> Any:
    """Return the logarithm of the difference of exponentials."""
    return larger + np.log(-np.expm1(smaller - larger))


def _column(value: Any) -> Any:
    return value[..., None] if np.ndim(value) else value


def unit_rule() -> tuple[Any, Any, Any]:
    """Return the nodes x of the double exponential rule on (0, 1), 1 - x, and the weights."""
    s = np.linspace(-3.4, 3.4, 171)
    both = 0.5 * np.pi * np.sinh(s)
    weights = (s[1] - s[0]) * 0.25 * np.pi * np.cosh(s) / np.cosh(both) ** 2
    return special.expit(2 * both), special.expit(-2 * both), weights


# Bounded distributions in pieces ------------------------------------------------------------------


def _triangle_density(x: Any, c: Any) -> Any:
    low = np.where(c > 0, c, 1.0)
    high = np.where(c < 1, 1.0 - c, 1.0)
    return np.where(x < c, 2.0 * x / low, 2.0 * (1.0 - x) / high)


def _triangle_below(x: Any, c: Any) -> Any:
    low = np.where(c > 0, c, 1.0)
    high = np.where(c < 1, 1.0 - c, 1.0)
    return np.where(x < c, x * x / low, 1.0 - (1.0 - x) ** 2 / high)


def _triangle_quantile(q: Any, c: Any) -> Any:
    left, right = q < c, q >= c
    rising = np.sqrt(np.where(left, c * q, 1.0))
    return np.where(left, rising, 1.0 - np.sqrt(np.where(right, (1.0 - c) * (1.0 - q), 1.0)))


def _trapezoid_density(x: Any, c: Any, d: Any) -> Any:
    top = 2.0 / (d - c + 1.0)
    rise = x / np.where(c > 0, c, 1.0)
    fall = (1.0 - x) / np.where(d < 1, 1.0 - d, 1.0)
    return top * np.where(x < c, rise, np.where(x > d, fall, 1.0))


def _trapezoid_below(x: Any, c: Any, d: Any) -> Any:
    rise = x * x / np.where(c > 0, c, 1.0)
    fall = (1.0 - x) ** 2 / np.where(d < 1, 1.0 - d, 1.0)
    width = d - c + 1.0
    return np.where(x < c, rise / width, np.where(x > d, 1.0 - fall / width, (2.0 * x - c) / width))


def _truncated_powers(x: Any, n: Any, integrated: int) -> Any:
    """Return the density of a sum of uniform variables, or its integral, from the nearer end."""
    count = int(np.max(native(n)))
    if np.any(native(n) != count) or count > 20:
        raise NotImplementedError
    x = np.where(x > 0.5 * count, count - x, x)
    degree = count - 1 + integrated
    total: Any = 0.0
    for k in range(count // 2 + 1):
        power = np.where(x > k, x - k, 0.0) ** degree if degree else 1.0
        total = total + (-1) ** k * math.comb(count, k) * power
    return total / math.factorial(degree)


def _irwin_hall_below(x: Any, n: Any) -> Any:
    below = _truncated_powers(x, n, 1)
    return np.where(x > 0.5 * n, 1.0 - below, below)


def _irwin_hall_above(x: Any, n: Any) -> Any:
    above = _truncated_powers(x, n, 1)
    return np.where(x > 0.5 * n, above, 1.0 - above)


# Truncated and transformed ones -------------------------------------------------------------------


def _truncated_mass(a: Any, b: Any) -> Any:
    """Return the logarithm of the normal probability between a and b, from the nearer tail."""
    mirrored = stop_gradient(a) > 0
    low, high = np.where(mirrored, -b, a), np.where(mirrored, -a, b)
    return log_difference(special.log_ndtr(high), special.log_ndtr(low))


def _truncated_normal(x: Any, a: Any, b: Any) -> Any:
    return -0.5 * x * x - 0.5 * math.log(2 * math.pi) - _truncated_mass(a, b)


def _truncated_pareto(x: Any, b: Any, c: Any) -> Any:
    return b * x ** -(b + 1.0) / -np.expm1(-b * np.log(c))


def _truncated_pareto_below(x: Any, b: Any, c: Any) -> Any:
    return np.expm1(-b * np.log(x)) / np.expm1(-b * np.log(c))


def _half_logistic_density(x: Any, c: Any) -> Any:
    power = (1.0 - c * x) ** (1.0 / c)
    return 2.0 * power / (1.0 - c * x) / (1.0 + power) ** 2


def _half_logistic_below(x: Any, c: Any) -> Any:
    power = (1.0 - c * x) ** (1.0 / c)
    return (1.0 - power) / (1.0 + power)


def _tukey_density(x: Any, lam: Any) -> Any:
    p = special.tklmbda(x, lam)
    return 1.0 / (p ** (lam - 1.0) + (1.0 - p) ** (lam - 1.0))


def _log_over(c: Any, x: Any) -> Any:
    """Return log(1 - c x)/c, which is -x for c = 0."""
    near = np.abs(c * x) < 1e-4
    product = np.where(near, c * x, 0.0)
    series = -x * (1.0 + product * (1 / 2 + product * (1 / 3 + product * 0.25)))
    return np.where(near, series, np.log1p(-np.where(near, 0.5, c * x)) / np.where(near, 1.0, c))


def _kappa_density(x: Any, h: Any, k: Any) -> Any:
    inner = _log_over(k, x)
    return np.exp((1.0 - h) * _log_over(h, np.exp(inner)) + (1.0 - k) * inner)


def _pearson_places(x: Any, skew: Any) -> tuple[Any, Any, Any, Any]:
    """Return the gamma variable, its shape and rate, and a mask where the skew is treated as 0."""
    flat = np.abs(skew) < 0.000016
    rate = 2.0 / np.where(flat, 1.0, skew)
    return np.where(flat, 1.0, rate * (x + rate)), rate * rate, rate, flat


def _pearson_log_density(x: Any, skew: Any) -> Any:
    y, shape, rate, flat = _pearson_places(x, skew)
    curved = np.log(np.abs(rate)) + special.xlogy(shape - 1.0, y) - y - special.gammaln(shape)
    return np.where(flat, -0.5 * x * x - 0.5 * math.log(2 * math.pi), curved)


def _pearson_below(x: Any, skew: Any) -> Any:
    y, shape, _, flat = _pearson_places(x, skew)
    curved = np.where(skew > 0, special.gammainc(shape, y), special.gammaincc(shape, y))
    return np.where(flat, special.ndtr(x), curved)


# With Bessel functions ----------------------------------------------------------------------------


def _log_second_kind(v: Any, x: Any) -> Any:
    """Return log(kv(order, x)), the logarithm of the Bessel function."""
    return np.log(special.kve(v, x)) - x


def _inverse_gaussian_log_density(x: Any, p: Any, b: Any) -> Any:
    return (p - 1.0) * np.log(x) - 0.5 * b * (x + 1.0 / x) - math.log(2) - _log_second_kind(p, b)


def _hyperbolic_log_density(x: Any, p: Any, a: Any, b: Any) -> Any:
    size = np.sqrt((a - b) * (a + b))
    root = np.hypot(1.0, x)
    front = p * np.log(size) - 0.5 * math.log(2 * math.pi) - _log_second_kind(p, size)
    power = (p - 0.5) * (np.log(root) - np.log(a))
    return front + power + _log_second_kind(p - 0.5, a * root) + b * x


def _mises_below(x: Any, kappa: Any) -> Any:
    """Integrate the density from 0, after subtracting full turns."""
    turns = np.round(stop_gradient(x) / (2 * np.pi))
    x = x - 2 * np.pi * turns
    nodes, weights = (np.asarray(values) for values in legendre())
    height = np.exp(_column(kappa) * special.cosm1(_column(x) * nodes))
    area = x * np.sum(height * weights, axis=-1) / (2 * np.pi * special.i0e(kappa))
    return 0.5 + area + turns


# Noncentral ones ----------------------------------------------------------------------------------


MOST = 10_000_000
"""The most terms of a mixture."""


def _mixture(nc: Any) -> tuple[Any, Any]:
    """Return counts, and their probabilities by Poisson's distribution of mean nc/2."""
    mean = float(np.max(native(nc))) / 2
    count = int(mean + 12 * math.sqrt(mean) + 40.0)
    if count > MOST:
        raise NoRuleError(f"a sum of {count:.3g} terms is too long. Fix: a smaller noncentrality.")
    counts = np.arange(count)
    half = _column(0.5 * nc)
    return counts, np.exp(special.xlogy(counts, half) - half - special.gammaln(counts + 1.0))


def _noncentral_chi_log_density(x: Any, df: Any, nc: Any) -> Any:
    """Return the logarithm of the density, by a Bessel function, or for nc = 0 the central one."""
    central = nc <= 0
    safe = np.where(central, 1.0, nc)
    half = 0.5 * df
    bessel = np.log(special.ive(half - 1.0, np.sqrt(x * safe)))
    power = 0.5 * (half - 1.0) * np.log(x / safe)
    found = bessel + power - 0.5 * (np.sqrt(x) - np.sqrt(safe)) ** 2 - math.log(2)
    known = (half - 1.0) * np.log(0.5 * x) - 0.5 * x - special.gammaln(half) - math.log(2)
    return np.where(central, known, found)


def _student_log_density(x: Any, df: Any) -> Any:
    """Return the logarithm of the density; for infinite df it is the normal density."""
    normal = np.isinf(df)
    safe = np.where(normal, 1.0, df)
    front = -special.betaln(0.5 * safe, 0.5) - 0.5 * np.log(safe)
    found = front - 0.5 * (safe + 1.0) * np.log1p(x * x / safe)
    return np.where(normal, -0.5 * x * x - 0.5 * math.log(2 * math.pi), found)


def _noncentral_chi(part: Any) -> Any:
    """Return a distribution function as a mixture of those of central distributions."""

    def mixed(x: Any, df: Any, nc: Any) -> Any:
        counts, weights = _mixture(nc)
        return np.sum(weights * part(_column(0.5 * df) + counts, _column(0.5 * x)), axis=-1)

    return mixed


NONCENTRAL_BELOW = _noncentral_chi(special.gammainc)
NONCENTRAL_ABOVE = _noncentral_chi(special.gammaincc)


def _noncentral_f_density(x: Any, dfn: Any, dfd: Any, nc: Any) -> Any:
    counts, weights = _mixture(nc)
    y, rest = dfn * x / (dfn * x + dfd), dfd / (dfn * x + dfd)
    a, b = _column(0.5 * dfn) + counts, _column(0.5 * dfd)
    parts = np.exp(a * np.log(_column(y)) + b * np.log(_column(rest)) - special.betaln(a, b))
    return np.sum(weights * parts, axis=-1) / x


def _noncentral_f(part: Any) -> Any:
    """Return a distribution function as a mixture of those of central distributions."""

    def mixed(x: Any, dfn: Any, dfd: Any, nc: Any) -> Any:
        counts, weights = _mixture(nc)
        y = dfn * x / (dfn * x + dfd)
        parts = part(_column(0.5 * dfn) + counts, _column(0.5 * dfd), _column(y))
        return np.sum(weights * parts, axis=-1)

    return mixed


def _chi_nodes(df: Any) -> tuple[Any, Any]:
    """Return nodes and weights to integrate over the distribution of chi/sqrt(df).

    This is the trapezoidal rule in the logarithm of chi squared, whose density is log-concave.
    """
    a = 0.5 * df
    least = float(np.min(native(a)))
    width = 9.0 / math.sqrt(least)
    v = np.linspace(-width - 38.0 / least, min(width, 2.0 + math.log1p(60.0 / least)), 1_001)
    column = _column(a)
    log_density = column * (v + np.log(column)) - column * np.exp(v) - special.gammaln(column)
    return np.exp(0.5 * v), np.exp(log_density) * (v[1] - v[0])


def _noncentral_t_density(x: Any, df: Any, nc: Any) -> Any:
    s, weights = _chi_nodes(df)
    z = _column(x) * s - _column(nc)
    return np.sum(weights * s * np.exp(-0.5 * z * z), axis=-1) / math.sqrt(2 * math.pi)


def _noncentral_t(sign: float) -> Any:
    """Return the distribution function (1.0), or 1 minus it (-1.0)."""

    def integrated(x: Any, df: Any, nc: Any) -> Any:
        s, weights = _chi_nodes(df)
        z = _column(x) * s - _column(nc)
        return np.sum(weights * special.ndtr(sign * z), axis=-1)

    return integrated


# Others -------------------------------------------------------------------------------------------


def _euler(a: Any, b: Any, c: Any, z: Any) -> Any:
    """Return Euler's integral of the hypergeometric function, DLMF 15.6.1."""
    t, rest, weights = unit_rule()
    a, b, c, z = map(_column, (a, b, c, z))
    return np.sum(weights * t ** (a - 1.0) * rest ** (b - 1.0) * (1.0 + z * t) ** -c, axis=-1)


def _gauss_hypergeometric_density(x: Any, a: Any, b: Any, c: Any, z: Any) -> Any:
    numerator = x ** (a - 1.0) * (1.0 - x) ** (b - 1.0) * (1.0 + z * x) ** -c
    return numerator / _euler(a, b, c, z)


def _log_mills(z: Any) -> Any:
    """Return the logarithm of Mills' ratio of the normal distribution."""
    return np.log(special.erfcx(z * math.sqrt(0.5))) + 0.5 * math.log(math.pi / 2)


def _pareto_lognormal_log_density(x: Any, u: Any, s: Any, a: Any, b: Any) -> Any:
    z = (np.log(x) - u) / s
    tails = np.logaddexp(_log_mills(a * s - z), _log_mills(b * s + z))
    front = np.log(a) + np.log(b) - np.log(a + b) - np.log(x)
    return front - 0.5 * z * z - 0.5 * math.log(2 * math.pi) + tails


def _pareto_lognormal_below(x: Any, u: Any, s: Any, a: Any, b: Any) -> Any:
    z = (np.log(x) - u) / s
    bell = np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)
    tails = b * np.exp(_log_mills(a * s - z)) - a * np.exp(_log_mills(b * s + z))
    return special.ndtr(z) - bell * tails / (a + b)


def _two_sided_gamma(q: Any, a: Any) -> Any:
    """Return the quantile, computed from the nearer tail."""
    data = stop_gradient(q)
    nearer = np.where(data > 0.5, 1.0 - q, q)
    return np.where(data > 0.5, 1.0, -1.0) * special.gammainccinv(a, 2.0 * nearer)


@functools.cache
def _frequencies() -> tuple[Any, Any]:
    """Return the nodes and weights of Gauss and Legendre's rule on panels of (0, 40)."""
    ends = np.concatenate([[0.0], np.geomspace(1e-12, 0.25, 14), np.arange(0.5, 40.1, 0.25)])
    x, w = np.polynomial.legendre.leggauss(24)
    widths = np.diff(ends)[:, None]
    nodes = ends[:-1, None] + widths * (x + 1.0) / 2.0
    return nodes.ravel(), (widths * w / 2.0).ravel()


def _landau_density(x: Any) -> Any:
    """Invert the characteristic function exp(-t - 2i/pi t log(t))."""
    t, weights = _frequencies()
    phase = _column(x) * t + (2 / np.pi) * t * np.log(t)
    return np.sum(weights * np.exp(-t) * np.cos(phase), axis=-1) / np.pi


def _landau_below(x: Any) -> Any:
    t, weights = _frequencies()
    phase = _column(x) * t + (2 / np.pi) * t * np.log(t)
    return 0.5 + np.sum(weights * np.exp(-t) * np.sin(phase) / t, axis=-1) / np.pi


def _smirnov_terms(x: Any, n: Any) -> tuple[Any, Any]:
    """Return the terms of Birnbaum and Tingey's sum, and their logarithmic derivatives."""
    count = int(np.max(native(n)))
    j = np.arange(count + 1.0)
    n, x = _column(np.asarray(native(n), dtype=float)), _column(x)
    first, rest = j / n, n - j
    inside = (first < 1.0 - stop_gradient(x)) & (j <= n)
    ways = np.where(inside, special.binom(n, np.where(j <= n, j, 0.0)), 0.0)
    left = np.where(inside, 1.0 - x - first, 1.0)
    j = first * (rest / (1.0 - np.where(first < 1.0, first, 0.0)))
    slopes = rest / left - 1.0 / x - (j - 1.0) / (x + first)
    return ways * left**rest * x * (x + first) ** (j - 1.0), slopes


def _smirnov_above(x: Any, n: Any) -> Any:
    return np.sum(_smirnov_terms(x, n)[0], axis=-1)


def _smirnov_density(x: Any, n: Any) -> Any:
    terms, slopes = _smirnov_terms(x, n)
    return np.sum(terms * slopes, axis=-1)


# Discrete ones ------------------------------------------------------------------------------------


def _binomial_below(k: Any, n: Any, p: Any) -> Any:
    return special.betaincc(k + 1.0, n - k, p)


def _binomial_above(k: Any, n: Any, p: Any) -> Any:
    return special.betainc(k + 1.0, n - k, p)


def _negative_binomial_log_mass(k: Any, n: Any, p: Any) -> Any:
    ways = special.gammaln(n + k) - special.gammaln(k + 1.0) - special.gammaln(n)
    return ways + n * np.log(p) + special.xlog1py(k, -p)


def _skellam_log_mass(k: Any, mu1: Any, mu2: Any) -> Any:
    mean = np.sqrt(mu1 * mu2)
    apart = np.sqrt(mu1) - np.sqrt(mu2)
    return np.log(special.ive(np.abs(k), 2.0 * mean)) - apart**2 + 0.5 * k * np.log(mu1 / mu2)


def _skellam_below(k: Any, mu1: Any, mu2: Any) -> Any:
    left = k < 0
    below = NONCENTRAL_BELOW(2.0 * mu2, np.where(left, -2.0 * k, 2.0), 2.0 * mu1)
    above = NONCENTRAL_ABOVE(2.0 * mu1, np.where(left, 2.0, 2.0 * (k + 1.0)), 2.0 * mu2)
    return np.where(left, below, above)


def _harmonic(n: Any, a: Any) -> Any:
    """Return the sum of j**-a up to n."""
    n = np.asarray(native(n))
    count = int(np.max(n))
    if count > 100_000:
        raise NotImplementedError
    j = np.arange(1.0, count + 1.0)
    return np.sum(np.where(j <= n[..., None], j ** -_column(a), 0.0), axis=-1)


# SciPy's own methods of these pick another formula where a shape is exactly 0, or infinite; there,
# they would have no derivative in that shape


def _extreme_log_density(x: Any, c: Any) -> Any:
    power = _log_over(c, x)
    return power - np.exp(power) - np.log1p(-c * x)


def _extreme_quantile(x: Any, c: Any) -> Any:
    """Return the quantile for that of the Gumbel distribution, which is this one for c = 0."""
    return x * special.exprel(-c * x)


def _student_below(x: Any, df: Any) -> Any:
    is_normal = df == np.inf
    of_student = special.stdtr(np.where(is_normal, 1.0, df), x)
    return np.where(is_normal, special.ndtr(x), of_student)


def _student_quantile(q: Any, df: Any) -> Any:
    is_normal = df == np.inf
    of_student = special.stdtrit(np.where(is_normal, 1.0, df), q)
    return np.where(is_normal, special.ndtri(q), of_student)


def _student_moments(df: Any) -> tuple[Any, ...]:
    """Return the mean, the variance, the skewness and the excess kurtosis."""
    heavy = np.where(df > 2, np.inf, np.nan)
    variance = np.where(df > 1, np.inf, np.nan)
    return (
        np.where(df > 1, 0.0 * np.where(df > 1, 0.0, df), np.inf),
        np.where(df > 2, 1.0 + 2.0 / np.where(df > 2, df - 2.0, 1.0), variance),
        np.where(df > 3, 0.0, np.nan),
        np.where(df > 4, 6.0 / np.where(df > 4, df - 4.0, 1.0), heavy),
    )


def _pareto_moments(b: Any) -> tuple[Any, ...]:
    three, four = np.where(b > 3, b, 5.0), np.where(b > 4, b, 5.0)
    skewness = 2.0 * (three + 1.0) * np.sqrt((three - 2.0) / three) / (three - 3.0)
    kurtosis = 6.0 * (((four + 1.0) * four - 6.0) * four - 2.0)
    return (
        np.where(b > 1, b / (b - 1.0), np.inf),
        np.where(b > 2, b / (b - 2.0) / (b - 1.0) ** 2, np.inf),
        np.where(b > 3, skewness, np.nan),
        np.where(b > 4, kurtosis / (four * (four - 3.0) * (four - 4.0)), np.nan),
    )


def _skew_normal_log_density(x: Any, a: Any) -> Any:
    return 0.5 * math.log(2 / math.pi) - 0.5 * x * x + special.log_ndtr(a * x)


def _generalized_normal_below(x: Any, beta: Any) -> Any:
    """Return the distribution function, which is a line at 0."""
    is_zero = x == 0
    tail = 0.5 * special.gammaincc(1.0 / beta, np.where(is_zero, 1.0, np.abs(x)) ** beta)
    line = 0.5 * (1.0 + x / special.gamma(1.0 + 1.0 / beta))
    return np.where(is_zero, line, np.where(x < 0, tail, 1.0 - tail))


def _generalized_normal_quantile(q: Any, beta: Any) -> Any:
    is_half = q == 0.5
    tail = np.where(is_half, 0.5, 2.0 * np.where(q < 0.5, q, 1.0 - q))
    size = special.gammainccinv(1.0 / beta, tail) ** (1.0 / beta)
    line = (2.0 * q - 1.0) * special.gamma(1.0 + 1.0 / beta)
    return np.where(is_half, line, np.where(q < 0.5, -size, size))


BODIES: dict[str, dict[str, Body]] = {
    "bernoulli_gen": {
        "_pmf": lambda k, p: np.where(k == 1, p, 1.0 - p),
        "_cdf": lambda k, p: 1.0 - p + 0.0 * k,
        "_sf": lambda k, p: p + 0.0 * k,
    },
    "binom_gen": {"_cdf": _binomial_below, "_sf": _binomial_above},
    "dgamma_gen": {"_ppf": _two_sided_gamma},
    "gennorm_gen": {
        "_cdf": _generalized_normal_below,
        "_sf": lambda x, beta: _generalized_normal_below(-x, beta),
        "_ppf": _generalized_normal_quantile,
        "_isf": lambda q, beta: -_generalized_normal_quantile(q, beta),
    },
    "dpareto_lognorm_gen": {
        "_logpdf": _pareto_lognormal_log_density,
        "_cdf": _pareto_lognormal_below,
    },
    "fisk_gen": {
        "_logpdf": lambda x, c: (
            np.log(c) + (c - 1.0) * np.log(x) + 2.0 * special.log_expit(-c * np.log(x))
        ),
        "_cdf": lambda x, c: special.expit(c * np.log(x)),
        "_sf": lambda x, c: special.expit(-c * np.log(x)),
    },
    "gausshyper_gen": {
        "_pdf": _gauss_hypergeometric_density,
        "_munp": lambda n, a, b, c, z: _euler(a + n, b, c, z) / _euler(a, b, c, z),
    },
    "genextreme_gen": {
        "_logpdf": _extreme_log_density,
        "_cdf": lambda x, c: np.exp(-np.exp(_log_over(c, x))),
        "_sf": lambda x, c: -special.expm1(-np.exp(_log_over(c, x))),
        "_ppf": lambda q, c: _extreme_quantile(-np.log(-np.log(q)), c),
        "_isf": lambda q, c: _extreme_quantile(-np.log(-np.log1p(-q)), c),
    },
    "genlogistic_gen": {
        "_logpdf": lambda x, c: np.log(c) + (c + 1.0) * special.log_expit(x) - x,
    },
    "genpareto_gen": {
        "_logpdf": lambda x, c: (c + 1.0) * _log_over(-c, x),
        "_cdf": lambda x, c: -special.expm1(_log_over(-c, x)),
        "_sf": lambda x, c: np.exp(_log_over(-c, x)),
        "_ppf": lambda q, c: -special.boxcox1p(-q, -c),
        "_isf": lambda q, c: -special.boxcox(q, -c),
    },
    "genhalflogistic_gen": {"_pdf": _half_logistic_density, "_cdf": _half_logistic_below},
    "genhyperbolic_gen": {"_logpdf": _hyperbolic_log_density},
    "geninvgauss_gen": {"_logpdf": _inverse_gaussian_log_density},
    "irwinhall_gen": {
        "_pdf": lambda x, n: _truncated_powers(x, n, 0),
        "_cdf": _irwin_hall_below,
        "_sf": _irwin_hall_above,
    },
    "kappa4_gen": {
        "_pdf": _kappa_density,
        "_cdf": lambda x, h, k: np.exp(_log_over(h, np.exp(_log_over(k, x)))),
        "_ppf": lambda q, h, k: -special.boxcox(-special.boxcox(q, h), k),
    },
    "ksone_gen": {"_pdf": _smirnov_density, "_sf": _smirnov_above},
    "kstwobign_gen": {"_pdf": lambda x: -kolmogorov_slope(np, x)},
    "landau_gen": {"_pdf": _landau_density, "_cdf": _landau_below},
    "ncf_gen": {
        "_pdf": _noncentral_f_density,
        "_cdf": _noncentral_f(special.betainc),
        "_sf": _noncentral_f(special.betaincc),
    },
    "nbinom_gen": {
        "_logpmf": _negative_binomial_log_mass,
        "_cdf": lambda k, n, p: special.betainc(n, k + 1.0, p),
        "_sf": lambda k, n, p: special.betaincc(n, k + 1.0, p),
    },
    "nct_gen": {
        "_pdf": _noncentral_t_density,
        "_cdf": _noncentral_t(1.0),
        "_sf": _noncentral_t(-1.0),
    },
    "ncx2_gen": {
        "_logpdf": _noncentral_chi_log_density,
        "_cdf": NONCENTRAL_BELOW,
        "_sf": NONCENTRAL_ABOVE,
    },
    "pareto_gen": {"_stats": _pareto_moments},
    "pearson3_gen": {"_logpdf": _pearson_log_density, "_cdf": _pearson_below},
    "skewnorm_gen": {
        "_logpdf": _skew_normal_log_density,
        "_cdf": lambda x, a: special.ndtr(x) - 2.0 * special.owens_t(x, a),
        "_sf": lambda x, a: special.ndtr(-x) + 2.0 * special.owens_t(x, a),
    },
    "skellam_gen": {"_logpmf": _skellam_log_mass, "_cdf": _skellam_below},
    "trapezoid_gen": {"_pdf": _trapezoid_density, "_cdf": _trapezoid_below},
    "triang_gen": {
        "_pdf": _triangle_density,
        "_cdf": _triangle_below,
        "_ppf": _triangle_quantile,
    },
    "truncnorm_gen": {"_logpdf": _truncated_normal},
    "truncpareto_gen": {"_pdf": _truncated_pareto, "_cdf": _truncated_pareto_below},
    "t_gen": {
        "_logpdf": _student_log_density,
        "_cdf": _student_below,
        "_sf": lambda x, df: _student_below(-x, df),
        "_ppf": _student_quantile,
        "_isf": lambda q, df: -_student_quantile(q, df),
        "_stats": _student_moments,
    },
    "tukeylambda_gen": {"_pdf": _tukey_density},
    "vonmises_gen": {"_cdf": _mises_below},
    "zipfian_gen": {
        "_pmf": lambda k, a, n: k**-a / _harmonic(n, a),
        "_cdf": lambda k, a, n: _harmonic(k, a) / _harmonic(n, a),
    },
}
"""The methods by class and name. Other methods of these classes are derived from these, or else are
SciPy's own."""
