"""Special functions that are integrals: exponential, trigonometric, of Fresnel, Dawson, Owen ...

Their derivatives are the integrands. Numbers of equations are those of DLMF.
"""

from __future__ import annotations

import math
from typing import Any

from gradwrap.core.table.kinds import elementwise
from gradwrap.core.table.registry import register
from gradwrap.rules.special.gamma_and_error import normal_density
from gradwrap.rules.special.rows import (
    INTEGER_ORDERS,
    POSITIVE,
    inverse,
    near_zero,
    power_series,
    several,
    special,
)

SPENCE = [1 / (k + 1) for k in range(40)]


def _sine_over(xp: Any, x: Any) -> Any:
    """Return sin(x)/x, by the power series near 0."""
    near, small, large = near_zero(xp, x)
    terms = [(-1) ** k / math.factorial(2 * k + 1) for k in range(12)]
    return xp.where(near, power_series(small * small, terms), xp.sin(large) / large)


def _hyperbolic_sine_over(xp: Any, x: Any) -> Any:
    """Return sinh(x)/x, by the power series near 0."""
    near, small, large = near_zero(xp, x)
    terms = [1 / math.factorial(2 * k + 1) for k in range(12)]
    return xp.where(near, power_series(small * small, terms), xp.sinh(large) / large)


def _sici(xp: Any, x: Any) -> tuple[Any, ...]:
    """Return the derivatives of Si and Ci, DLMF 6.2.9 and 6.2.11."""
    return _sine_over(xp, x), xp.cos(x) / x


def _shichi(xp: Any, x: Any) -> tuple[Any, ...]:
    """Return the derivatives of Shi and Chi, DLMF 6.2.15 and 6.2.16."""
    return _hyperbolic_sine_over(xp, x), xp.cosh(x) / x


def _fresnel(xp: Any, x: Any) -> tuple[Any, ...]:
    """Return the derivatives of S and C, DLMF 7.2.7 and 7.2.8."""
    angle = (0.5 * math.pi) * x * x
    return xp.sin(angle), xp.cos(angle)


def _bessel_over(xp: Any, x: Any) -> tuple[Any, ...]:
    return (1.0 - xp.special.j0(x)) / x, -xp.special.y0(x) / x


def _modified_over(xp: Any, x: Any) -> tuple[Any, ...]:
    return (xp.special.i0(x) - 1.0) / x, -xp.special.k0(x) / x


def _bessel(xp: Any, x: Any) -> tuple[Any, ...]:
    return xp.special.j0(x), xp.special.y0(x)


def _modified(xp: Any, x: Any) -> tuple[Any, ...]:
    return xp.special.i0(x), xp.special.k0(x)


def _airy(xp: Any, x: Any) -> tuple[Any, ...]:
    right, left = xp.special.airy(x), xp.special.airy(-x)
    return right[0], right[2], left[0], left[2]


def _of_order_zero(xp: Any, kind: Any, x: Any) -> Any:
    """Evaluate a SciPy function that has double precision only; return the dtype of x."""
    return xp.astype(kind(0.0, x), x.dtype, copy=False)


def _exponential_integral(xp: Any, n: Any, x: Any) -> Any:
    """Return minus the derivative of expn(n, x), which is expn(n - 1, x), DLMF 8.19.13."""
    n = xp.asarray(n)
    first = xp.exp(-x) * (x + 1.0) / (x * x)  # of order -1, which SciPy's does not have
    return xp.where(n == 0, first, xp.special.expn(xp.where(n == 0, 1, n) - 1, x))


def _spence_slope(xp: Any, x: Any) -> Any:
    """Return log(x)/(1 - x), DLMF 25.12.2, by a power series near 1."""
    near = xp.abs(x - 1.0) < 0.3
    series = power_series(xp.where(near, 1.0 - x, 0.0), SPENCE)
    away = xp.where(near, 2.0, x)
    return xp.where(near, -series, xp.log(away) / (1.0 - away))


def _faddeeva(xp: Any, x: Any, sigma: Any, gamma: Any) -> Any:
    """Return the imaginary part of w((x + i gamma)/(sigma sqrt(2))) over sigma sqrt(2 pi)."""
    point = (x + 1j * gamma) / (sigma * math.sqrt(2))
    return xp.imag(xp.special.wofz(point)) / (sigma * math.sqrt(2 * math.pi))


def _voigt_by_x(xp: Any, x: Any, sigma: Any, gamma: Any, out: Any) -> Any:
    """Return the derivative of Voigt's profile in x, from that of w, DLMF 7.10.2 and 7.19.3."""
    return (gamma * _faddeeva(xp, x, sigma, gamma) - x * out) / (sigma * sigma)


def _voigt_by_gamma(xp: Any, x: Any, sigma: Any, gamma: Any, out: Any) -> Any:
    """Return the derivative of Voigt's profile in gamma, likewise."""
    parts = x * _faddeeva(xp, x, sigma, gamma) + gamma * out - 1 / math.pi
    return parts / (sigma * sigma)


def _voigt_by_sigma(xp: Any, x: Any, sigma: Any, gamma: Any, out: Any) -> Any:
    """Return the derivative in sigma: the profile is homogeneous, of degree -1."""
    along = x * _voigt_by_x(xp, x, sigma, gamma, out)
    along = along + gamma * _voigt_by_gamma(xp, x, sigma, gamma, out)
    return -(out + along) / sigma


def kolmogorov_slope(xp: Any, x: Any) -> Any:
    """Return the derivative of Kolmogorov's function, the series of exponentials.

    For small x it is that of the dual series, by the transformation of the theta function, DLMF
    20.7.32.
    """
    low = x < 0.8
    large, small = xp.where(low, 1.0, x), xp.where(low, xp.where(x > 0.03, x, 0.03), 0.8)
    squares = large * large
    direct, dual = 0.0 * x, 0.0 * x
    for k in range(1, 7):
        direct = direct + (-1) ** k * k * k * xp.exp(-2.0 * k * k * squares)
        c = (2 * k - 1) ** 2 * math.pi**2 / 8
        over = c / (small * small)
        dual = dual + (2.0 * over - 1.0) * xp.exp(-over)
    dual = dual * -math.sqrt(2 * math.pi) / (small * small)
    return xp.where(low, xp.where(x > 0.03, dual, 0.0), 8.0 * large * direct)


RULES = [
    special("exp1", "x", lambda xp, g, x: -(g * xp.exp(-x) / x), domain=POSITIVE),  # DLMF 6.2.1
    special("expi", "x", lambda xp, g, x: g * xp.exp(x) / x, domain=POSITIVE),  # DLMF 6.2.5
    special(
        "expn",
        "n x",
        lambda xp, g, n, x: -(g * _exponential_integral(xp, n, x)),
        domain=POSITIVE,
        samples=INTEGER_ORDERS,
    ),
    special("dawsn", "x", lambda xp, g, x, out: g * (1.0 - 2.0 * x * out)),  # DLMF 7.10.4
    special("erfi", "x", lambda xp, g, x: g * (2 / math.sqrt(math.pi) * xp.exp(x * x))),
    elementwise(
        "special.wofz",
        "x",
        lambda xp, g, x, out: g * (2j / math.sqrt(math.pi) - 2.0 * x * out),  # DLMF 7.10.2
        same=False,
    ),
    special("spence", "x", lambda xp, g, x: g * _spence_slope(xp, x), domain=POSITIVE),
    several("sici", "x", 2, _sici, domain=POSITIVE),
    several("shichi", "x", 2, _shichi, domain=POSITIVE),
    several("fresnel", "x", 2, _fresnel),
    several("it2j0y0", "x", 2, _bessel_over, domain=POSITIVE),
    several("it2i0k0", "x", 2, _modified_over, domain=POSITIVE),
    several("itj0y0", "x", 2, _bessel, domain=POSITIVE),
    several("iti0k0", "x", 2, _modified, domain=POSITIVE),
    several(
        "itairy",
        "x",
        4,
        _airy,
        domain=(0.2, 1.0),  # SciPy's values are less exact further out
    ),
    special(
        "itstruve0",
        "x",
        lambda xp, g, x: g * _of_order_zero(xp, xp.special.struve, x),
        domain=POSITIVE,
    ),
    special(
        "it2struve0",
        "x",
        lambda xp, g, x: -(g * _of_order_zero(xp, xp.special.struve, x) / x),
        domain=POSITIVE,
    ),
    special(
        "itmodstruve0",
        "x",
        lambda xp, g, x: g * _of_order_zero(xp, xp.special.modstruve, x),
        domain=POSITIVE,
    ),
    special(
        "owens_t",
        "h a",
        lambda xp, g, h, a: (
            g * (-0.5 * normal_density(xp, h) * xp.special.erf(a * h * math.sqrt(0.5)))
        ),
        lambda xp, g, h, a: (
            g * (xp.exp(-0.5 * h * h * (1.0 + a * a)) / (2 * math.pi * (1.0 + a * a)))
        ),
    ),
    special(
        "voigt_profile",
        "x sigma gamma",
        lambda xp, g, x, sigma, gamma, out: g * _voigt_by_x(xp, x, sigma, gamma, out),
        lambda xp, g, x, sigma, gamma, out: g * _voigt_by_sigma(xp, x, sigma, gamma, out),
        lambda xp, g, x, sigma, gamma, out: g * _voigt_by_gamma(xp, x, sigma, gamma, out),
        domain=POSITIVE,
        samples=("x(3), x(3), x(3)", "x(2, 1), x(3), x(2, 3)", "x(3), 2.0, 0.7", "x(), x(), 0.7"),
    ),
    special("kolmogorov", "x", lambda xp, g, x: g * kolmogorov_slope(xp, x), domain=(0.3, 2.0)),
    inverse("kolmogi", "kolmogorov", of="x", domain=(0.1, 0.9)),
]
register(RULES)
