"""Elementary functions of SciPy, and inverses of elementary functions."""

from __future__ import annotations

import math
from typing import Any

from gradwrap.core.table.kinds import elementwise
from gradwrap.core.table.registry import register
from gradwrap.rules.special.elliptic import hypergeometric
from gradwrap.rules.special.gamma_and_error import normal_density
from gradwrap.rules.special.incomplete import as_floats
from gradwrap.rules.special.rows import (
    INNER,
    POSITIVE,
    TERMS,
    inverse,
    near_zero,
    power_series,
    special,
)

DEGREE = math.pi / 180.0


def _exponential_mean(xp: Any, x: Any) -> Any:
    """Return ((x - 1) exp(x) + 1)/x**2, by the power series near 0."""
    near, small, large = near_zero(xp, x)
    terms = [(k + 1) / math.factorial(k + 2) for k in range(TERMS)]
    away = (large * xp.exp(large) - xp.expm1(large)) / (large * large)
    return xp.where(near, power_series(small, terms), away)


def _by_power(xp: Any, log: Any, power: Any) -> Any:
    """Return the derivative of expm1(power log)/power in the power."""
    log, power = as_floats(xp, log, power)
    return log * log * _exponential_mean(xp, power * log)


def _log(xp: Any, x: Any, like: Any) -> Any:
    x, _ = as_floats(xp, x, like)
    return xp.log(x)


def _log1p(xp: Any, x: Any, like: Any) -> Any:
    x, _ = as_floats(xp, x, like)
    return xp.log1p(x)


def _raised(xp: Any, base: Any, power: Any) -> Any:
    base, power = as_floats(xp, base, power)
    return base**power


def _huber(xp: Any, delta: Any, r: Any) -> Any:
    """Return r, limited to delta in absolute value."""
    delta, r = as_floats(xp, delta, r)
    return xp.where(xp.abs(r) <= delta, r, delta * xp.sign(r))


def _huber_by_delta(xp: Any, delta: Any, r: Any) -> Any:
    delta, r = as_floats(xp, delta, r)
    excess = xp.abs(r) - delta
    return xp.where(excess > 0, excess, 0.0)


def _root(xp: Any, delta: Any, r: Any) -> Any:
    """Return sqrt(1 + (r/delta)**2)."""
    delta, r = as_floats(xp, delta, r)
    return xp.hypot(xp.ones_like(r), r / delta)


def _tukey_density(xp: Any, p: Any, lmbda: Any) -> Any:
    """Return 1/Q'(p) of the quantile function Q(p) = (p**lmbda - (1 - p)**lmbda)/lmbda."""
    p, lmbda = as_floats(xp, p, lmbda)
    inside = (p > 0) & (p < 1)  # the support is bounded for positive lmbda
    p = xp.where(inside, p, 0.5)
    return xp.where(inside, 1.0 / (p ** (lmbda - 1.0) + (1.0 - p) ** (lmbda - 1.0)), 0.0)


def _tukey_by_lmbda(xp: Any, p: Any, lmbda: Any) -> Any:
    """Return the derivative of Q in lmbda."""
    p, lmbda = as_floats(xp, p, lmbda)
    p = xp.where((p > 0) & (p < 1), p, 0.5)
    return _by_power(xp, xp.log(p), lmbda) - _by_power(xp, xp.log1p(-p), lmbda)


def _agm_by_first(xp: Any, a: Any, b: Any, out: Any) -> Any:
    """Return the derivative of the mean of a and b in a, from DLMF 19.8.5 and 19.4.1.

    The mean is pi a/2 over the complete elliptic integral K of 1 - (b/a)**2.
    """
    a, b = as_floats(xp, a, b)
    ratio = b / a
    m = 1.0 - ratio * ratio
    slope = hypergeometric(xp, 0.5, 0.5, 2.0, m)  # times pi/8 over the square of the ratio
    return out / a - out * out * 0.5 * slope / (a * a)


RULES = [
    # powers
    special(
        "boxcox",
        "x lmbda",
        lambda xp, g, x, lmbda: g * _raised(xp, x, lmbda - 1.0),
        lambda xp, g, x, lmbda: g * _by_power(xp, _log(xp, x, lmbda), lmbda),
        domain=(0.5, 2.0),
    ),
    special(
        "boxcox1p",
        "x lmbda",
        lambda xp, g, x, lmbda: g * _raised(xp, 1.0 + x, lmbda - 1.0),
        lambda xp, g, x, lmbda: g * _by_power(xp, _log1p(xp, x, lmbda), lmbda),
        domain=(0.5, 2.0),
    ),
    inverse("inv_boxcox", "boxcox", of="x", domain=(0.5, 2.0)),
    inverse("inv_boxcox1p", "boxcox1p", of="x", domain=(0.5, 2.0)),
    special(
        "powm1",
        "x y",
        lambda xp, g, x, y: g * y * _raised(xp, x, y - 1.0),
        lambda xp, g, x, y, out: g * (out + 1.0) * _log(xp, x, out),
        domain=(0.5, 2.0),
    ),
    # loss functions
    special(
        "huber",
        "delta r",
        lambda xp, g, delta, r: g * _huber_by_delta(xp, delta, r),
        lambda xp, g, delta, r: g * _huber(xp, delta, r),
        domain=(0.3, 2.0),
    ),
    special(
        "pseudo_huber",
        "delta r",
        lambda xp, g, delta, r, out: g * (2.0 * out - r * r / _root(xp, delta, r)) / delta,
        lambda xp, g, delta, r: g * r / _root(xp, delta, r),
        domain=(0.3, 2.0),
    ),
    # trigonometric functions
    special("cosm1", "x", lambda xp, g, x: -(g * xp.sin(x))),
    special("sindg", "x", lambda xp, g, x: g * (DEGREE * xp.special.cosdg(x))),
    special("cosdg", "x", lambda xp, g, x: g * (-DEGREE * xp.special.sindg(x))),
    special("tandg", "x", lambda xp, g, out: g * (DEGREE * (1.0 + out * out))),
    special(
        "cotdg", "x", lambda xp, g, out: g * (-DEGREE * (1.0 + out * out)), domain=(20.0, 80.0)
    ),
    special(
        "radian",
        "d m s",
        lambda xp, g: g * DEGREE,
        lambda xp, g: g * (DEGREE / 60.0),
        lambda xp, g: g * (DEGREE / 3600.0),
        samples=("x(3), x(3), x(3)", "x(2, 1), x(3), 1.5"),
    ),
    # functions of their inverses
    elementwise(
        "special._ufuncs._lambertw",
        "z k tol",
        lambda xp, g, out: g / (xp.exp(out) * (1.0 + out)),  # DLMF 4.13.4
        None,
        None,
        same=False,
        samples=("x(3), 0, 1e-8", "x(2, 3), i(-1), 1e-8", "x(), 0, 1e-8"),
        domain=POSITIVE,
    ),
    elementwise(
        "special.wrightomega",
        "x",
        lambda xp, g, out: g * out / (1.0 + out),  # DLMF 4.13.1, of exp(x)
        same=False,
        domain=POSITIVE,
    ),
    special(
        "agm",
        "a b",
        lambda xp, g, a, b, out: g * _agm_by_first(xp, a, b, out),
        lambda xp, g, a, b, out: g * _agm_by_first(xp, b, a, out),
        domain=(0.5, 2.0),
    ),
    # inverses of the normal distribution function
    inverse("ndtri_exp", "log_ndtr", of="x", domain=(-3.0, -0.2)),
    special(
        "nrdtrimn",
        "p std x",
        lambda xp, g, std, x, out: -(g * std / normal_density(xp, (x - out) / std)),
        lambda xp, g, std, x, out: g * (out - x) / std,
        lambda xp, g: g,
        domain=INNER,
        samples=("x(3), x(3), x(3)", "x(2, 1), x(3), 1.5"),
    ),
    special(
        "nrdtrisd",
        "mn p x",
        lambda xp, g, mn, x, out: g * out / (mn - x),
        lambda xp, g, mn, x, out: g * out * out / ((mn - x) * normal_density(xp, (x - mn) / out)),
        lambda xp, g, mn, x, out: g * out / (x - mn),
        domain=(0.6, 0.9),
        samples=("x(3) - 2.0, x(3), x(3)", "x(2, 1) - 2.0, x(3), 1.5"),
    ),
    special(
        "tklmbda",
        "x lmbda",
        lambda xp, g, lmbda, out: g * _tukey_density(xp, out, lmbda),
        lambda xp, g, lmbda, out: (
            -(g * _tukey_by_lmbda(xp, out, lmbda) * _tukey_density(xp, out, lmbda))
        ),
        domain=(0.2, 0.8),
    ),
]
register(RULES)
