"""The gamma and error functions and their relatives; exponentials, logarithms and entropies."""

from __future__ import annotations

import math
from typing import Any

from gradwrap.core.library.compat import device
from gradwrap.core.table.kinds import nondifferentiable
from gradwrap.core.table.registry import register
from gradwrap.rules.special.incomplete import as_floats, column, constants, refuse_complex
from gradwrap.rules.special.rows import (
    POSITIVE,
    TERMS,
    complement,
    inverse,
    near_zero,
    power_series,
    special,
)

OVER_FACTORIALS = [1 / math.factorial(k + 1) for k in range(TERMS)]
FAR_TERMS = [(-0.5) ** k * math.prod(range(1, 2 * k + 2, 2)) for k in range(8)]
NEAR = [float(k) for k in range(16)]  # the terms of a zeta function that are summed one by one
BERNOULLI = [1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000]
# of even order, over the factorial of the order


def _like(xp: Any, value: Any, x: Any) -> Any:
    """Return a number, or an array of integers, as an array of the dtype of x."""
    if isinstance(value, complex):
        return xp.asarray(value, device=device(x))
    if not hasattr(value, "dtype"):
        return xp.full((), value, dtype=x.dtype, device=device(x))  # copies nothing to a GPU
    is_inexact = xp.isdtype(value.dtype, ("real floating", "complex floating"))
    return value if is_inexact else xp.astype(value, x.dtype)


def _exprel_slope(xp: Any, x: Any, out: Any) -> Any:
    """Return (exp(x) - out)/x, by the power series near 0."""
    near, small, large = near_zero(xp, x)
    slopes = [k * c for k, c in enumerate(OVER_FACTORIALS)][1:]
    return xp.where(near, power_series(small, slopes), (xp.exp(large) - out) / large)


def _erfcx_slope(xp: Any, x: Any, out: Any) -> Any:
    """Return 2 x erfcx(x) - 2/sqrt(pi), DLMF 7.10.2; for large x, where it cancels, by 7.12.1."""
    far = x > 20.0
    over = 1.0 / xp.where(far, x, 1.0)
    series = -over * over / math.sqrt(math.pi) * power_series(over * over, FAR_TERMS)
    return xp.where(far, series, 2 * xp.where(far, 0.0, x) * out - 2 / math.sqrt(math.pi))


def normal_density(xp: Any, x: Any) -> Any:
    """Return the density of the standard normal distribution."""
    return xp.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)


def _digamma_difference(xp: Any, x: Any, other: Any, out: Any) -> Any:
    """Return digamma(x) - digamma(x + other), DLMF 5.12.1 and 5.2.2."""
    x = _like(xp, x, out)
    return xp.special.digamma(x) - xp.special.digamma(x + other)


def _quotient(xp: Any, x1: Any, x2: Any) -> Any:
    """Return x1/x2, and 0 where x1 is 0."""
    x1 = _like(xp, x1, x2)
    return xp.where(x1 == 0, 0.0 * x2, x1 / xp.where(x1 == 0, 1.0, x2))


def _entropy_ratio(xp: Any, x1: Any, x2: Any) -> Any:
    """Return x1/x2, which is NaN with all derivatives where a number is negative.

    The entropies are infinite there.
    """
    ratio = x1 / x2
    outside = (x1 < 0.0) | (x2 < 0.0)
    return ratio * xp.where(outside, math.nan, xp.ones_like(ratio))


def _trigamma(xp: Any, x: Any) -> Any:
    refuse_complex(xp, "special.digamma", "pass real arguments, or .detach() them", x)
    return xp.special.zeta(2.0, x)


def reciprocal_gamma_slope(xp: Any, x: Any) -> Any:
    """Return -digamma(x)/gamma(x); left of 1/2 by reflection, DLMF 5.5.3, finite at the poles."""
    if xp.isdtype(x.dtype, "complex floating"):
        return -xp.special.digamma(x) * xp.special.rgamma(x)
    left = x < 0.5
    right, mirrored = xp.where(left, 1.0, x), xp.where(left, 1.0 - x, 1.0)
    here = -xp.special.digamma(right) * xp.exp(-xp.special.gammaln(right))
    angle = math.pi * xp.where(left, x, 0.0)
    there = xp.cos(angle) - xp.special.digamma(mirrored) * xp.sin(angle) / math.pi
    return xp.where(left, xp.exp(xp.special.gammaln(mirrored)) * there, here)


def _digammas_apart(xp: Any, x: Any, other: Any, out: Any) -> Any:
    """Return digamma(x) - digamma(other)."""
    return xp.special.digamma(_like(xp, x, out)) - xp.special.digamma(_like(xp, other, out))


def _binomial_slopes(xp: Any, n: Any, k: Any, out: Any) -> tuple[Any, Any]:
    """Return the derivatives of binom in n and in k, by DLMF 5.2.5.

    Digammas have poles where the gamma functions in the denominator do, and binom is zero: there
    they are reflected (DLMF 5.5.4).
    """
    n, k = _like(xp, n, out), _like(xp, k, out)

    def times_digamma(x: Any, upper: Any) -> Any:
        """Return digamma(1 - x) times the value, which is sin(pi x)/(pi x)/binom(upper, n)."""
        poles = x > 0.5
        at, off = xp.where(poles, x, 1.0), xp.where(poles, 0.5, x)
        upper = xp.where(poles, upper, n)
        reflected = out * xp.special.digamma(at)
        reflected = reflected + xp.cos(math.pi * at) / (at * xp.special.binom(upper, n))
        return xp.where(poles, reflected, out * xp.special.digamma(1.0 - off))

    of_rest, of_k = times_digamma(k - n, k), times_digamma(-k, n - k)
    return out * xp.special.digamma(n + 1.0) - of_rest, of_rest - of_k


def _hurwitz_by_exponent(xp: Any, x: Any, q: Any) -> Any:
    """Return the derivative of zeta(x, q) in x, by Euler and Maclaurin's formula, DLMF 25.11.28."""
    x, q = as_floats(xp, x, q)
    near = column(xp, q) + constants(xp, NEAR, q)
    total = -xp.sum(xp.log(near) * near ** -column(xp, x), axis=-1)
    far = q + 16.0
    log, power = xp.log(far), far**-x
    total = total - power * far * (log + 1.0 / (x - 1.0)) / (x - 1.0) - 0.5 * power * log
    rising, slope = x, 1.0 + 0.0 * x  # of x (x + 1) ... and its derivative
    for j, ratio in enumerate(BERNOULLI, start=1):
        power = power / (far if j == 1 else far * far)
        total = total + ratio * power * (slope - rising * log)
        for shift in (2 * j - 1, 2 * j):
            rising, slope = rising * (x + shift), slope * (x + shift) + rising
    return total


RULES = [
    # error functions and the normal distribution: DLMF 7.10.1 and 7.10.2
    special("erf", "x", lambda xp, g, x: g * (2 / math.sqrt(math.pi) * xp.exp(-x * x))),
    complement("erfc", "erf"),
    special("erfcx", "x", lambda xp, g, x, out: g * _erfcx_slope(xp, x, out)),
    special(
        "erfinv",
        "x",
        lambda xp, g, out: g * (math.sqrt(math.pi) / 2 * xp.exp(out * out)),
        domain=(-0.8, 0.8),
    ),
    special(
        "erfcinv",
        "x",
        lambda xp, g, out: g * (-math.sqrt(math.pi) / 2 * xp.exp(out * out)),
        domain=(0.3, 1.7),
    ),
    special("ndtr", "x", lambda xp, g, x: g * normal_density(xp, x)),
    inverse("ndtri", "ndtr", of="x", domain=(0.1, 0.9)),
    special(
        "log_ndtr",
        "x",
        lambda xp, g, x: g * (math.sqrt(2 / math.pi) / xp.special.erfcx(x * -math.sqrt(0.5))),
    ),
    # the gamma function and its relatives: DLMF 5.2.2, 5.12.1, 5.15
    special("gamma", "x", lambda xp, g, x, out: g * out * xp.special.digamma(x), domain=POSITIVE),
    *(
        special(name, "x", lambda xp, g, x: g * xp.special.digamma(x), domain=POSITIVE)
        for name in ("gammaln", "loggamma")
    ),
    *(
        special(name, "x", lambda xp, g, x: g * _trigamma(xp, x), domain=POSITIVE)
        for name in ("digamma", "psi")  # DLMF 25.11.12
    ),
    special(
        "polygamma",
        "n x",
        lambda xp, g, n, x: g * xp.special.polygamma(n + 1, x),
        domain=(0.8, 3.0),
        samples=("1, x(3)", "i(0, 1, 2), x(2, 3)", "2, x()", "1, x(0)"),
    ),
    special(
        "beta",
        "x1 x2",
        lambda xp, g, x1, x2, out: g * out * _digamma_difference(xp, x1, x2, out),
        lambda xp, g, x1, x2, out: g * out * _digamma_difference(xp, x2, x1, out),
        domain=(0.5, 2.0),
    ),
    special(
        "betaln",
        "x1 x2",
        lambda xp, g, x1, x2, out: g * _digamma_difference(xp, x1, x2, out),
        lambda xp, g, x1, x2, out: g * _digamma_difference(xp, x2, x1, out),
        domain=(0.5, 2.0),
    ),
    special(
        "zeta",
        "x q",
        lambda xp, g, x, q: g * _hurwitz_by_exponent(xp, x, q),
        lambda xp, g, x, q: -(g * x * xp.special.zeta(x + 1, q)),  # DLMF 25.11.17
        domain=(1.5, 3.0),
    ),
    *(
        special(name, "x", lambda xp, g, x: g * _hurwitz_by_exponent(xp, x, 1.0), domain=(1.5, 3.0))
        for name in ("zetac", "_ufuncs._riemann_zeta")
    ),
    special("rgamma", "x", lambda xp, g, x: g * reciprocal_gamma_slope(xp, x)),
    special(
        "poch",
        "z m",
        lambda xp, g, z, m, out: g * out * _digammas_apart(xp, z + m, z, out),  # DLMF 5.2.5
        lambda xp, g, z, m, out: g * out * xp.special.digamma(z + m),
        domain=(0.5, 2.0),
    ),
    special(
        "binom",
        "x y",
        lambda xp, g, x, y, out: g * _binomial_slopes(xp, x, y, out)[0],
        lambda xp, g, x, y, out: g * _binomial_slopes(xp, x, y, out)[1],
        samples=("x(3), x(3)", "x(2, 1), x(1, 3)", "x(3), 3.0 + x(3)", "x(3), x(3) - 5.0"),
        domain=(2.3, 2.7),
    ),
    # exponentials and logarithms
    # both slopes are precise where `expit` is 1 to rounding
    special("expit", "x", lambda xp, g, x, out: g * out * xp.special.expit(-x)),
    special("log_expit", "x", lambda xp, g, x: g * xp.exp(xp.special.log_expit(-x))),
    special("logit", "x", lambda xp, g, x: g / (x * (1.0 - x)), domain=(0.1, 0.9)),
    special("exp10", "x", lambda xp, g, out: g * (out * math.log(10.0))),
    special("exprel", "x", lambda xp, g, x, out: g * _exprel_slope(xp, x, out)),
    special(
        "xlogy",
        "x1 x2",
        lambda xp, g, x1, x2: g * xp.log(_like(xp, x2, x1)),
        lambda xp, g, x1, x2: g * _quotient(xp, x1, x2),
        domain=(0.5, 2.0),
        convention="0 in x2 where x1 is 0",
    ),
    special(
        "xlog1py",
        "x1 x2",
        lambda xp, g, x1, x2: g * xp.log1p(_like(xp, x2, x1)),
        lambda xp, g, x1, x2: g * _quotient(xp, x1, 1.0 + x2),
        domain=(0.5, 2.0),
        convention="0 in x2 where x1 is 0",
    ),
    special(
        "entr",
        "x",
        lambda xp, g, x: -(g * (xp.log(_entropy_ratio(xp, x, 1.0)) + 1.0)),
        domain=(0.5, 2.0),
        convention="NaN below 0",
    ),
    special(
        "rel_entr",
        "x1 x2",
        lambda xp, g, x1, x2: g * (xp.log(_entropy_ratio(xp, x1, x2)) + 1.0),
        lambda xp, g, x1, x2: -(g * _entropy_ratio(xp, x1, x2)),
        domain=(0.5, 2.0),
        convention="NaN below 0",
    ),
    special(
        "kl_div",
        "x1 x2",
        lambda xp, g, x1, x2: g * xp.log(_entropy_ratio(xp, x1, x2)),
        lambda xp, g, x1, x2: g * (1.0 - _entropy_ratio(xp, x1, x2)),
        domain=(0.5, 2.0),
        convention="NaN below 0",
    ),
    nondifferentiable("special.gammasgn", "x, /", "piecewise constant"),
]
register(RULES)
