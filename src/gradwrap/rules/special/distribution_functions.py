"""The incomplete gamma and beta functions, and distribution functions built from them.

Their derivatives in the parameters are integrals, see `incomplete.py`. The rows of their
complements and inverses are derived from these.
"""

from __future__ import annotations

import math
from typing import Any

from gradwrap.core.table.registry import register
from gradwrap.rules.special.incomplete import (
    LARGE,
    as_floats,
    beta_slopes,
    column,
    constants,
    gamma_slope,
    stirling,
)
from gradwrap.rules.special.rows import (
    INNER,
    INTEGER_ORDERS,
    POSITIVE,
    THREE,
    complement,
    inverse,
    special,
)

NONCENTRAL = ("x(3), 2.5, x(3)", "x(2, 1), 3.5, x(3)")
HALF, FARTHEST = 200.0, 1000.0
TERMS = [float(i) for i in range(400)]
"""The terms of the noncentral distribution, which are enough up to the farthest x."""
AFTER_INTEGERS = ("i(1, 0, 2), 4, x(3)", "i(0, 1, 2), 4, x(2, 3)", "i(2), 5, x(1)")


def _gamma_density(xp: Any, a: Any, x: Any) -> Any:
    """Return x**(a - 1) exp(-x)/Gamma(a), DLMF 8.8.13 normalised as in 8.2.4.

    For large a near x, the terms of the exponent nearly cancel: those of x = a are taken together.
    """
    a, x = as_floats(xp, a, x)
    inside = x >= 0
    x = xp.where(inside, x, 1.0)
    is_near = (a > LARGE) & (a < math.inf) & (xp.abs(x - a) < 0.5 * a)
    small, large = xp.where(is_near, 1.0, a), xp.where(is_near, a, LARGE)
    apart = xp.where(is_near, (x - large) / large, 0.0)
    near = stirling(xp, large)[0] - large * (apart - xp.log1p(apart)) - xp.log(x)
    far = xp.special.xlogy(small - 1, x) - x - xp.special.gammaln(small)
    found = xp.exp(xp.where(is_near, near, far))
    return xp.where(inside, found, 0.0)


def _beta_density(xp: Any, a: Any, b: Any, x: Any) -> Any:
    """Return x**(a - 1) (1 - x)**(b - 1)/B(a, b), DLMF 8.17.1 and 8.17.2."""
    a, b, x = as_floats(xp, a, b, x)
    power = xp.special.xlogy(a - 1, x) + xp.special.xlog1py(b - 1, -x)
    return xp.exp(power - xp.special.betaln(a, b))


def _beta_weight(xp: Any, a: Any, b: Any, x: Any, y: Any) -> Any:
    """Return x**a y**b/B(a, b), the density of log(x/y), where y is 1 - x."""
    power = xp.special.xlogy(a, x) + xp.special.xlogy(b, y)
    return xp.exp(power - xp.special.betaln(a, b))


# the F distribution: betainc(dfn/2, dfd/2, x/(x + y)) with x = dfn f and y = dfd


def _f_point(xp: Any, dfn: Any, dfd: Any, f: Any) -> tuple[Any, ...]:
    dfn, dfd, f = as_floats(xp, dfn, dfd, f)
    total = dfn * f + dfd
    return 0.5 * dfn, 0.5 * dfd, dfn * f / total, dfd / total


def _f_density(xp: Any, dfn: Any, dfd: Any, f: Any) -> Any:
    """Return the density of the F distribution."""
    dfn, dfd, f = as_floats(xp, dfn, dfd, f)
    power = xp.special.xlogy(0.5 * dfn, dfn) + xp.special.xlogy(0.5 * dfn - 1, f)
    power = power + xp.special.xlogy(0.5 * dfd, dfd)
    power = power - 0.5 * (dfn + dfd) * xp.log(dfn * f + dfd)
    return xp.exp(power - xp.special.betaln(0.5 * dfn, 0.5 * dfd))


def _f_by_dfn(xp: Any, dfn: Any, dfd: Any, f: Any) -> Any:
    """Return the derivative of fdtr in dfn, also through betainc's point."""
    a, b, x, y = _f_point(xp, dfn, dfd, f)
    slope = beta_slopes(xp, a, b, x, y, second=False)
    return 0.5 * slope + _beta_weight(xp, a, b, x, y) / dfn


def _f_by_dfd(xp: Any, dfn: Any, dfd: Any, f: Any) -> Any:
    """Return the derivative of fdtr in dfd, also through betainc's point."""
    a, b, x, y = _f_point(xp, dfn, dfd, f)
    slope = beta_slopes(xp, a, b, x, y, second=True)
    return 0.5 * slope - _beta_weight(xp, a, b, x, y) / dfd


def _student_density(xp: Any, df: Any, t: Any) -> Any:
    """Return Student's density, (1 + t**2/df)**(-(df + 1)/2) / (sqrt(df) B(df/2, 1/2))."""
    df, t, half = as_floats(xp, df, t, 0.5)
    is_normal = df == math.inf
    df = xp.where(is_normal, 1.0, df)
    power = xp.special.xlog1py(-0.5 * (df + 1), t * t / df)
    found = xp.exp(power - xp.special.betaln(0.5 * df, half)) / df**0.5
    return xp.where(is_normal, xp.exp(-0.5 * t * t) / (2.0 * math.pi) ** 0.5, found)


def _student_by_df(xp: Any, df: Any, t: Any) -> Any:
    """Return the derivative in df of stdtr, which is 1 - betainc(df/2, 1/2, x)/2 for t > 0.

    There x = df/(df + t**2). For t < 0 the sign is the opposite.
    """
    df, t, half = as_floats(xp, df, t, 0.5)
    is_normal = df == math.inf
    df = xp.where(is_normal, 1.0, df)
    total = df + t * t
    x, y = df / total, t * t / total
    slope = 0.5 * beta_slopes(xp, 0.5 * df, half, x, y, second=False)
    found = -0.5 * xp.sign(t) * (slope + _beta_weight(xp, 0.5 * df, half, x, y) / df)
    return xp.where(is_normal, 0.0, found)


def _noncentral_density(xp: Any, x: Any, df: Any, nc: Any) -> Any:
    """Return the density of the noncentral chi-square distribution, by a Bessel function."""
    x, df, nc = as_floats(xp, x, df, nc)
    central = nc <= 0
    nc = xp.where(central, 1.0, nc)
    apart = xp.sqrt(x) - xp.sqrt(nc)
    power = 0.25 * df - 0.5
    found = 0.5 * xp.exp(-0.5 * apart * apart + power * xp.log(x / nc))
    found = found * xp.special.ive(0.5 * df - 1.0, xp.sqrt(x * nc))
    return xp.where(central, 0.5 * _gamma_density(xp, 0.5 * df, 0.5 * x), found)


def _noncentral_by_df(xp: Any, x: Any, df: Any, nc: Any) -> Any:
    """Return the derivative of chndtr in df; NaN for x beyond 1000.

    The mixture is that of gammainc(a + j, x/2), where a = df/2, with Poisson's weights of mean
    nc/2. By 8.8.5, gammainc(a + j, y) is gammainc(a, y) less the terms y**(a + i) exp(-y) /
    Gamma(a + i + 1) with i < j. So one integral is enough, and each term has the weight of the
    j > i, which is gammainc(i + 1, nc/2). The terms are those around a + i = y.
    """
    x, df, nc = as_floats(xp, x, df, nc)
    beyond = x > FARTHEST
    inside = (x > 0) & ~beyond
    y, a = xp.where(inside, 0.5 * x, 1.0), 0.5 * df
    first = xp.floor(xp.where(y - a > HALF, y - a - HALF, 0.0))
    i = column(xp, first) + constants(xp, TERMS, y)
    above, log = column(xp, a) + i + 1.0, column(xp, xp.log(y))
    terms = xp.exp((above - 1.0) * log - column(xp, y) - xp.special.gammaln(above))
    weights = xp.special.gammainc(i + 1.0, column(xp, 0.5 * nc) + 0.0 * i)
    total = xp.sum(terms * (log - xp.special.digamma(above)) * weights, axis=-1)
    found = 0.5 * (gamma_slope(xp, a, y) - total)
    return xp.where(beyond, xp.full_like(y, math.nan), xp.where(inside, found, 0.0))


# distributions of counts, of which the count is an integer


def _poisson(xp: Any, k: Any, m: Any) -> Any:
    """Return the probability of k, m**k exp(-m)/k!."""
    k, m = as_floats(xp, k, m)
    return _gamma_density(xp, xp.floor(k) + 1.0, m)


def _binomial(xp: Any, k: Any, n: Any, p: Any) -> Any:
    """Return minus the derivative of bdtr, which is betainc(n - k, k + 1, 1 - p), in p."""
    k, p = as_floats(xp, k, p)
    k = xp.floor(k)
    return _beta_density(xp, k + 1.0, n - k, p)


def _negative_binomial(xp: Any, k: Any, n: Any, p: Any) -> Any:
    """Return the derivative of nbdtr, which is betainc(n, k + 1, p), in p."""
    k, p = as_floats(xp, k, p)
    return _beta_density(xp, n, xp.floor(k) + 1.0, p)


RULES = [
    special(
        "gammainc",
        "a x",
        lambda xp, g, a, x: g * gamma_slope(xp, a, x),
        lambda xp, g, a, x: g * _gamma_density(xp, a, x),
        domain=POSITIVE,
    ),
    complement("gammaincc", "gammainc"),
    inverse("gammaincinv", "gammainc", of="x"),
    inverse("gammainccinv", "gammaincc", of="x"),
    special(
        "betainc",
        "a b x",
        lambda xp, g, a, b, x: g * beta_slopes(xp, a, b, x, 1.0 - x, second=False),
        lambda xp, g, a, b, x: g * beta_slopes(xp, a, b, x, 1.0 - x, second=True),
        lambda xp, g, a, b, x: g * _beta_density(xp, a, b, x),
        domain=INNER,
        samples=THREE,
    ),
    complement("betaincc", "betainc"),
    inverse("betaincinv", "betainc", of="x", samples=THREE),
    inverse("betainccinv", "betaincc", of="x", samples=THREE),
    inverse("btdtria", "betainc", of="a"),
    inverse("btdtrib", "betainc", of="b"),
    # the chi-square distribution, gammainc(v/2, x/2)
    special(
        "chdtr",
        "v x",
        lambda xp, g, v, x: g * (0.5 * gamma_slope(xp, 0.5 * v, 0.5 * x)),
        lambda xp, g, v, x: g * (0.5 * _gamma_density(xp, 0.5 * v, 0.5 * x)),
        domain=POSITIVE,
    ),
    complement("chdtrc", "chdtr"),
    inverse("chdtri", "chdtrc", of="x"),
    inverse("chdtriv", "chdtr", of="v"),
    # the gamma distribution, gammainc(b, a x)
    special(
        "gdtr",
        "a b x",
        lambda xp, g, a, b, x: g * (x * _gamma_density(xp, b, a * x)),
        lambda xp, g, a, b, x: g * gamma_slope(xp, b, a * x),
        lambda xp, g, a, b, x: g * (a * _gamma_density(xp, b, a * x)),
        domain=POSITIVE,
        samples=THREE,
    ),
    complement("gdtrc", "gdtr"),
    inverse("gdtria", "gdtr", of="a"),
    inverse("gdtrib", "gdtr", of="b"),
    inverse("gdtrix", "gdtr", of="x", samples=THREE[:3:2]),
    special(
        "fdtr",
        "dfn dfd x",
        lambda xp, g, dfn, dfd, x: g * _f_by_dfn(xp, dfn, dfd, x),
        lambda xp, g, dfn, dfd, x: g * _f_by_dfd(xp, dfn, dfd, x),
        lambda xp, g, dfn, dfd, x: g * _f_density(xp, dfn, dfd, x),
        domain=POSITIVE,
        samples=THREE,
    ),
    complement("fdtrc", "fdtr"),
    inverse(
        "fdtri",
        "fdtr",
        of="x",
        domain=(0.3, 0.7),
        samples=("3.0 * x(3), 5.0 * x(3), x(3)", "1.5, 2.5, x(2, 3)"),
    ),
    inverse("fdtridfd", "fdtr", of="dfd", domain=(0.3, 0.35), samples=("3.0 * x(3), x(3), x(3)",)),
    special(
        "stdtr",
        "df t",
        lambda xp, g, df, t: g * _student_by_df(xp, df, t),
        lambda xp, g, df, t: g * _student_density(xp, df, t),
        domain=POSITIVE,
        samples=("x(3), -x(3)", "x(2, 1), x(3)", "1.5, x(3) - 2.0", "x(), 0.7"),
    ),
    inverse("stdtrit", "stdtr", of="t"),
    inverse(
        "stdtridf", "stdtr", of="df", domain=(0.72, 0.75), samples=("x(3), x(3)", "x(2, 3), 0.8")
    ),
    # the noncentral chi-square distribution, a mixture of central ones by Poisson's distribution
    special(
        "chndtr",
        "x df nc",
        lambda xp, g, x, df, nc: g * _noncentral_density(xp, x, df, nc),
        lambda xp, g, x, df, nc: g * _noncentral_by_df(xp, x, df, nc),
        lambda xp, g, x, df, nc: -(g * _noncentral_density(xp, x, df + 2.0, nc)),
        domain=POSITIVE,
        samples=NONCENTRAL,
    ),
    inverse("chndtrix", "chndtr", of="x", samples=NONCENTRAL),
    inverse(
        "chndtridf", "chndtr", of="df", domain=(0.3, 0.45), samples=("12.0 * x(3), x(3), 1.5",)
    ),
    inverse(
        "chndtrinc", "chndtr", of="nc", domain=(0.3, 0.45), samples=("12.0 * x(3), 1.5, x(3)",)
    ),
    # Poisson's, the binomial and the negative binomial distribution: DLMF 8.17.24, 8.4.10
    special(
        "pdtr",
        "k m",
        lambda xp, g, k, m: -(g * _poisson(xp, k, m)),
        domain=POSITIVE,
        samples=INTEGER_ORDERS,
    ),
    complement("pdtrc", "pdtr"),
    inverse("pdtri", "pdtr", of="m", samples=INTEGER_ORDERS),
    special(
        "bdtr",
        "k n p",
        lambda xp, g, k, n, p: -(g * _binomial(xp, k, n, p)),
        domain=INNER,
        samples=AFTER_INTEGERS,
    ),
    complement("bdtrc", "bdtr"),
    inverse("bdtri", "bdtr", of="p", samples=AFTER_INTEGERS),
    special(
        "nbdtr",
        "k n p",
        lambda xp, g, k, n, p: g * _negative_binomial(xp, k, n, p),
        domain=INNER,
        samples=AFTER_INTEGERS,
    ),
    complement("nbdtrc", "nbdtr"),
    inverse("nbdtri", "nbdtr", of="p", samples=AFTER_INTEGERS),
]
register(RULES)
