"""Bessel functions and their relatives, with derivatives from DLMF 9 to 12.

Of the modified functions the derivatives in the order are integrals and series too. In the orders
of the others there is no rule.
"""

from __future__ import annotations

import math
from typing import Any

from gradwrap.core.table.kinds import elementwise
from gradwrap.core.table.registry import register
from gradwrap.rules.incomplete import as_floats, column, constants, legendre
from gradwrap.rules.integrals import combined, several, spread
from gradwrap.rules.special import ORDERS, POSITIVE, TERMS, near_zero, power_series, special

INTEGER_ORDERS = ("2, x(3)", "i(0, 1, 3), x(2, 3)", "1, x()")
# of the trapezoidal rule, half a step from the ends
NODES = [(i + 0.5) / 160 for i in range(160)]
POWERS = [float(k) for k in range(70)]
COEFFICIENTS = [0.5 / (math.factorial(k) * math.factorial(k + 1)) for k in range(TERMS)]


def _over_x(xp: Any, x: Any, out: Any, sign: float) -> Any:
    """Return J1(x)/x (`sign` -1) or I1(x)/x (1), by a series near 0, DLMF 10.2.2 and 10.25.2.

    So every derivative is right at 0.
    """
    near, small, large = near_zero(xp, x)
    return xp.where(near, power_series(sign * 0.25 * small * small, COEFFICIENTS), out / large)


def _scaled_over_x(xp: Any, x: Any, out: Any) -> Any:
    """Return exp(-abs(x)) I1(x)/x, with the same power series near 0."""
    near, small, large = near_zero(xp, x)
    series = xp.exp(-xp.abs(small)) * power_series(0.25 * small * small, COEFFICIENTS)
    return xp.where(near, series, out / large)


def _second_kind_by_order(xp: Any, v: Any, x: Any, *, scaled: bool) -> Any:
    """Return the derivative of kv, or if `scaled` of kve, in the order, from DLMF 10.32.9.

    For kve the integral of t sinh(v t) exp(-x (cosh(t) - 1)) over t is taken by the trapezoidal
    rule, which converges exponentially, around the largest value of the integrand.
    """
    v, x = as_floats(xp, v, x)
    order = xp.abs(v)
    top = xp.asinh(order / x)
    width = 9.0 / xp.sqrt(x * xp.cosh(top))
    below = top - width - 40.0 / (order + 0.01)
    below = xp.where(below > 0, below, 0.0)
    above = xp.acosh(1.0 + (50.0 + order * (top + width)) / x)
    above = xp.where(above < top + width, above, top + width)
    t = column(xp, below) + column(xp, above - below) * constants(xp, NODES, x)
    half = xp.sinh(0.5 * t)
    slope = xp.exp(column(xp, order) * t - 2.0 * column(xp, x) * half * half)
    slope = slope * t * -xp.expm1(-2.0 * column(xp, order) * t)
    total = xp.sign(v) * (above - below) * (0.5 / len(NODES)) * xp.sum(slope, axis=-1)
    return total if scaled else xp.exp(-x) * total


def _first_kind_by_order(xp: Any, v: Any, x: Any, *, scaled: bool) -> Any:
    """Return the derivative of iv, or if `scaled` of ive, in the order, for positive x.

    By the power series, DLMF 10.38.1; for large v or x by Schläfli's integral, DLMF 10.32.12, along
    a contour through the saddle point.
    """
    v, x = as_floats(xp, v, x)
    size = xp.hypot(v, x)
    far = size > 20.0
    small, low = xp.where(far, 1.0, x), xp.where(far, 1.0, v)
    k = constants(xp, POWERS, x)
    place = column(xp, low) + k + 1.0
    half = xp.log(column(xp, 0.5 * small))
    power = (2.0 * k + column(xp, low)) * half - xp.special.gammaln(k + 1.0) - column(xp, small)
    terms = xp.exp(power) * xp.special.rgamma(place) * (half - xp.special.digamma(place))
    series = xp.sum(terms, axis=-1)

    large, high, size = (xp.where(far, one, 20.0) for one in (x, v, size))
    shift = xp.asinh(high / large)
    angle = 9.0 / xp.sqrt(size)
    angle = xp.where(angle < math.pi, angle, math.pi)
    nodes, weights = (constants(xp, values, x) for values in legendre())
    t = column(xp, angle) * nodes
    phase = column(xp, high) * (xp.sin(t) - t)
    half_sine = xp.sin(0.5 * t)
    fall = xp.exp(-2.0 * column(xp, size) * half_sine * half_sine)
    parts = fall * (t * xp.sin(phase) - column(xp, shift) * xp.cos(phase))
    front = xp.exp(size - high * shift - large) * angle / math.pi
    found = xp.where(far, front * xp.sum(parts * weights, axis=-1), series)
    return found if scaled else xp.exp(x) * found


def _spherical(xp: Any, kind: Any, n: Any, x: Any, sign: float) -> Any:
    """Return the derivative of a spherical Bessel function, DLMF 10.51.2 and 10.51.5.

    It is (n f(n - 1, x) + sign (n + 1) f(n + 1, x)) / (2 n + 1).
    """
    n = xp.asarray(n)
    below, above = kind(xp.where(n > 0, n - 1, 0), x), kind(n + 1, x)
    (n, x) = as_floats(xp, n, x)
    return (n * below + sign * (n + 1.0) * above) / (2.0 * n + 1.0)


def _spherical_second(xp: Any, n: Any, x: Any, value: Any, slope: Any, sign: float) -> Any:
    """Return the second derivative of a spherical Bessel function, DLMF 10.47.1 and 10.47.2."""
    n, x = as_floats(xp, n, x)
    return -2.0 * slope / x - (sign - n * (n + 1.0) / (x * x)) * value


def _struve_term(xp: Any, v: Any, x: Any) -> Any:
    """Return (x/2)**v / (sqrt(pi) Gamma(v + 3/2)), of DLMF 11.4.24 and 11.4.26."""
    v, x = as_floats(xp, v, x)
    return (0.5 * x) ** v * xp.special.rgamma(v + 1.5) / math.sqrt(math.pi)


def _airy(x: Any, out: Any) -> tuple[Any, ...]:
    """Return the derivatives of Ai, Ai', Bi and Bi', DLMF 9.2.1."""
    return out[1], x * out[0], out[3], x * out[2]


def _scaled_airy(xp: Any, x: Any, out: Any) -> tuple[Any, ...]:
    """Return the derivatives of `airye`, whose factors are exp(+-2/3 x**1.5) for positive x."""
    root = xp.sqrt(xp.where(x > 0, x, 0.0))
    return (
        out[1] + root * out[0],
        x * out[0] + root * out[1],
        out[3] - root * out[2],
        x * out[2] - root * out[3],
    )


def _of_parabola(v: Any, x: Any, out: Any) -> tuple[Any, ...]:
    """Return the derivatives of a parabolic cylinder function and of its slope, DLMF 12.2.4."""
    return out[1], (0.25 * x * x - v - 0.5) * out[0]


def _of_hyperbola(a: Any, x: Any, out: Any) -> tuple[Any, ...]:
    """Return the derivatives of W(a, x) and of its slope, DLMF 12.14.1."""
    return out[1], (a - 0.25 * x * x) * out[0]


RULES = [
    # Bessel functions: DLMF 10.6.1 to 10.6.3
    special("j0", "x", lambda xp, g, x: -(g * xp.special.j1(x))),
    special("j1", "x", lambda xp, g, x, out: g * (xp.special.j0(x) - _over_x(xp, x, out, -1.0))),
    special("y0", "x", lambda xp, g, x: -(g * xp.special.y1(x)), domain=POSITIVE),
    special("y1", "x", lambda xp, g, x, out: g * (xp.special.y0(x) - out / x), domain=POSITIVE),
    special(
        "jv",
        "v x",
        lambda xp, g, v, x: g * (0.5 * (xp.special.jv(v - 1, x) - xp.special.jv(v + 1, x))),
        domain=POSITIVE,
    ),
    special(
        "yv",
        "v x",
        lambda xp, g, v, x: g * (0.5 * (xp.special.yv(v - 1, x) - xp.special.yv(v + 1, x))),
        domain=POSITIVE,
    ),
    # modified Bessel functions: DLMF 10.29.1 to 10.29.3
    special("i0", "x", lambda xp, g, x: g * xp.special.i1(x)),
    special("i1", "x", lambda xp, g, x, out: g * (xp.special.i0(x) - _over_x(xp, x, out, 1.0))),
    special(
        "i0e",
        "x",
        lambda xp, g, x, out: g * (xp.special.i1e(x) - xp.sign(x) * out),
        convention="0 at 0",
    ),
    special(
        "i1e",
        "x",
        lambda xp, g, x, out: (
            g * (xp.special.i0e(x) - _scaled_over_x(xp, x, out) - xp.sign(x) * out)
        ),
    ),
    special("k0", "x", lambda xp, g, x: -(g * xp.special.k1(x)), domain=POSITIVE),
    special("k1", "x", lambda xp, g, x, out: -(g * (xp.special.k0(x) + out / x)), domain=POSITIVE),
    special("k0e", "x", lambda xp, g, x, out: g * (out - xp.special.k1e(x)), domain=POSITIVE),
    special(
        "k1e", "x", lambda xp, g, x, out: g * (out - out / x - xp.special.k0e(x)), domain=POSITIVE
    ),
    special(
        "iv",
        "v x",
        lambda xp, g, v, x: g * _first_kind_by_order(xp, v, x, scaled=False),
        lambda xp, g, v, x: g * (0.5 * (xp.special.iv(v - 1, x) + xp.special.iv(v + 1, x))),
        domain=POSITIVE,
    ),
    special(
        "ive",
        "v x",
        lambda xp, g, v, x: g * _first_kind_by_order(xp, v, x, scaled=True),
        lambda xp, g, v, x, out: (
            g * (0.5 * (xp.special.ive(v - 1, x) + xp.special.ive(v + 1, x)) - xp.sign(x) * out)
        ),
        domain=POSITIVE,
    ),
    special(
        "kv",
        "v x",
        lambda xp, g, v, x: g * _second_kind_by_order(xp, v, x, scaled=False),
        lambda xp, g, v, x: g * (-0.5 * (xp.special.kv(v - 1, x) + xp.special.kv(v + 1, x))),
        domain=POSITIVE,
    ),
    special(
        "kve",
        "v z",
        lambda xp, g, v, z: g * _second_kind_by_order(xp, v, z, scaled=True),
        lambda xp, g, v, z, out: (
            g * (out - 0.5 * (xp.special.kve(v - 1, z) + xp.special.kve(v + 1, z)))
        ),
        domain=POSITIVE,
    ),
    special(
        "jve",
        "v z",
        lambda xp, g, v, z: g * (0.5 * (xp.special.jve(v - 1, z) - xp.special.jve(v + 1, z))),
        domain=POSITIVE,
    ),
    special(
        "yve",
        "v z",
        lambda xp, g, v, z: g * (0.5 * (xp.special.yve(v - 1, z) - xp.special.yve(v + 1, z))),
        domain=POSITIVE,
    ),
    special(
        "kn",
        "n x",
        lambda xp, g, n, x, out: g * (n * out / x - xp.special.kn(n + 1, x)),
        domain=POSITIVE,
        samples=INTEGER_ORDERS,
    ),
    special(
        "yn",
        "n x",
        lambda xp, g, n, x, out: g * (n * out / x - xp.special.yn(n + 1, x)),
        domain=POSITIVE,
        samples=INTEGER_ORDERS,
    ),
    # Hankel functions, of complex values
    elementwise(
        "special.hankel1",
        "v z",
        None,
        lambda xp, g, v, z: (
            g * (0.5 * (xp.special.hankel1(v - 1, z) - xp.special.hankel1(v + 1, z)))
        ),
        same=False,
        only_real=True,
        domain=POSITIVE,
        samples=ORDERS[2],
    ),
    elementwise(
        "special.hankel2",
        "v z",
        None,
        lambda xp, g, v, z: (
            g * (0.5 * (xp.special.hankel2(v - 1, z) - xp.special.hankel2(v + 1, z)))
        ),
        same=False,
        only_real=True,
        domain=POSITIVE,
        samples=ORDERS[2],
    ),
    elementwise(
        "special.hankel1e",
        "v z",
        None,
        lambda xp, g, v, z, out: (
            g * (0.5 * (xp.special.hankel1e(v - 1, z) - xp.special.hankel1e(v + 1, z)) - 1j * out)
        ),
        same=False,
        only_real=True,
        domain=POSITIVE,
        samples=ORDERS[2],
    ),
    elementwise(
        "special.hankel2e",
        "v z",
        None,
        lambda xp, g, v, z, out: (
            g * (0.5 * (xp.special.hankel2e(v - 1, z) - xp.special.hankel2e(v + 1, z)) + 1j * out)
        ),
        same=False,
        only_real=True,
        domain=POSITIVE,
        samples=ORDERS[2],
    ),
    # spherical ones, which SciPy's public functions call by these names
    special(
        "_ufuncs._spherical_jn",
        "n x",
        lambda xp, g, n, x: g * _spherical(xp, xp.special._ufuncs._spherical_jn, n, x, -1.0),
        domain=POSITIVE,
        samples=INTEGER_ORDERS,
    ),
    special(
        "_ufuncs._spherical_yn",
        "n x",
        lambda xp, g, n, x: g * _spherical(xp, xp.special._ufuncs._spherical_yn, n, x, -1.0),
        domain=POSITIVE,
        samples=INTEGER_ORDERS,
    ),
    special(
        "_ufuncs._spherical_in",
        "n x",
        lambda xp, g, n, x: g * _spherical(xp, xp.special._ufuncs._spherical_in, n, x, 1.0),
        domain=POSITIVE,
        samples=INTEGER_ORDERS,
    ),
    special(
        "_ufuncs._spherical_kn",
        "n x",
        lambda xp, g, n, x: -(g * _spherical(xp, xp.special._ufuncs._spherical_kn, n, x, 1.0)),
        domain=POSITIVE,
        samples=INTEGER_ORDERS,
    ),
    special(
        "_ufuncs._spherical_jn_d",
        "n x",
        lambda xp, g, n, x, out: (
            g * _spherical_second(xp, n, x, xp.special._ufuncs._spherical_jn(n, x), out, 1.0)
        ),
        domain=POSITIVE,
        samples=INTEGER_ORDERS,
    ),
    special(
        "_ufuncs._spherical_yn_d",
        "n x",
        lambda xp, g, n, x, out: (
            g * _spherical_second(xp, n, x, xp.special._ufuncs._spherical_yn(n, x), out, 1.0)
        ),
        domain=POSITIVE,
        samples=INTEGER_ORDERS,
    ),
    special(
        "_ufuncs._spherical_in_d",
        "n x",
        lambda xp, g, n, x, out: (
            g * _spherical_second(xp, n, x, xp.special._ufuncs._spherical_in(n, x), out, -1.0)
        ),
        domain=POSITIVE,
        samples=INTEGER_ORDERS,
    ),
    special(
        "_ufuncs._spherical_kn_d",
        "n x",
        lambda xp, g, n, x, out: (
            g * _spherical_second(xp, n, x, xp.special._ufuncs._spherical_kn(n, x), out, -1.0)
        ),
        domain=POSITIVE,
        samples=INTEGER_ORDERS,
    ),
    # Struve functions
    special(
        "struve",
        "v x",
        lambda xp, g, v, x: (
            g
            * (
                0.5 * (xp.special.struve(v - 1, x) - xp.special.struve(v + 1, x))
                + 0.5 * _struve_term(xp, v, x)
            )
        ),
        domain=POSITIVE,
    ),
    special(
        "modstruve",
        "v x",
        lambda xp, g, v, x: (
            g
            * (
                0.5 * (xp.special.modstruve(v - 1, x) + xp.special.modstruve(v + 1, x))
                + 0.5 * _struve_term(xp, v, x)
            )
        ),
        domain=POSITIVE,
    ),
    # Airy and parabolic cylinder functions
    several(
        "airy",
        "x",
        4,
        lambda xp, g, x, out: combined(g, _airy(x, out)),
        lambda xp, t, x, out: spread(t, _airy(x, out)),
    ),
    several(
        "airye",
        "x",
        4,
        lambda xp, g, x, out: combined(g, _scaled_airy(xp, x, out)),
        lambda xp, t, x, out: spread(t, _scaled_airy(xp, x, out)),
        domain=POSITIVE,
    ),
    several(
        "pbdv",
        "v x",
        2,
        None,
        None,
        lambda xp, g, v, x, out: combined(g, _of_parabola(v, x, out)),
        lambda xp, t, v, x, out: spread(t, _of_parabola(v, x, out)),
        samples=ORDERS[2],
    ),
    several(
        "pbvv",
        "v x",
        2,
        None,
        None,
        lambda xp, g, v, x, out: combined(g, _of_parabola(v, x, out)),
        lambda xp, t, v, x, out: spread(t, _of_parabola(v, x, out)),
        samples=ORDERS[2],
    ),
    several(
        "pbwa",
        "a x",
        2,
        None,
        None,
        lambda xp, g, a, x, out: combined(g, _of_hyperbola(a, x, out)),
        lambda xp, t, a, x, out: spread(t, _of_hyperbola(a, x, out)),
        samples=ORDERS[2],
    ),
]
register(RULES)
