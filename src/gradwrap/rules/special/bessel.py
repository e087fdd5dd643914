"""Bessel functions and their relatives, with derivatives from DLMF 9 to 12.

Of the modified functions the derivatives in the order are integrals and series too. In the orders
of the others there is no rule.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwrap.core.table.registry import register
from gradwrap.rules.special.gamma_and_error import reciprocal_gamma_slope
from gradwrap.rules.special.incomplete import (
    as_floats,
    column,
    constants,
    legendre,
    refuse_complex,
)
from gradwrap.rules.special.rows import (
    INTEGER_ORDERS,
    ORDERS,
    POSITIVE,
    TERMS,
    near_zero,
    power_series,
    several,
    special,
)

if TYPE_CHECKING:
    from gradwrap.core.table.rule import FormulaFunction, Rule

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
    terms = half * xp.special.rgamma(place) + reciprocal_gamma_slope(xp, place)
    series = xp.sum(xp.exp(power) * terms, axis=-1)

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


def _apart(kind: Any, v: Any, x: Any) -> Any:
    """Return half the difference of a function of the orders below and above, DLMF 10.6.1."""
    return 0.5 * (kind(v - 1, x) - kind(v + 1, x))


def _mean(kind: Any, v: Any, x: Any) -> Any:
    """Return the mean of a function of the orders below and above, DLMF 10.29.1."""
    return 0.5 * (kind(v - 1, x) + kind(v + 1, x))


def _scaled(xp: Any, name: str, v: Any, x: Any, slope: Any) -> Any:
    """Return the slope of a function whose factor is not holomorphic, at a real argument."""
    part = "real" if name == "i" else "imag"
    fix = f"special.{name}v(v, z) * exp(-abs({part}(z)))"
    refuse_complex(xp, f"special.{name}ve", fix, x)
    return slope(getattr(xp.special, f"{name}ve"), v, x)


def _of_degree(name: str, formula: FormulaFunction) -> Rule:
    """Build the row of a spherical function, or of its slope."""
    path = f"_ufuncs._spherical_{name}"
    return special(path, "n x", formula, domain=POSITIVE, samples=INTEGER_ORDERS)


def _spherical(xp: Any, name: str, n: Any, x: Any, sign: float) -> Any:
    """Return the derivative of a spherical Bessel function, DLMF 10.51.2 and 10.51.5.

    It is (n f(n - 1, x) + sign (n + 1) f(n + 1, x)) / (2 n + 1), and so is that of a slope, with
    slopes in place of f.
    """
    n, kind = xp.asarray(n), getattr(xp.special._ufuncs, f"_spherical_{name}")
    below, above = kind(xp.where(n > 0, n - 1, 0), x), kind(n + 1, x)
    n, x = as_floats(xp, n, x, may_be_complex=True)
    return (n * below + sign * (n + 1.0) * above) / (2.0 * n + 1.0)


def _kelvin_over(xp: Any, x: Any, out: Any, first: int) -> Any:
    """Return out/x for the slope of bei (`first` 1) or ber (2), by DLMF 10.65.1 near 0.

    So every derivative is right at 0.
    """
    near, small, large = near_zero(xp, x)
    degrees = [first + 2 * k for k in range(6)]
    terms = [0.5 * (-1) ** (m // 2) * m / math.factorial(m) ** 2 for m in degrees]
    half = 0.25 * small * small
    series = power_series(half * half, terms) * half ** (first - 1)
    return xp.where(near, series, out / large)


def _struve_term(xp: Any, v: Any, x: Any) -> Any:
    """Return (x/2)**v / (sqrt(pi) Gamma(v + 3/2)), of DLMF 11.4.24 and 11.4.26."""
    v, x = as_floats(xp, v, x)
    return (0.5 * x) ** v * xp.special.rgamma(v + 1.5) / math.sqrt(math.pi)


def _airy(xp: Any, x: Any, out: Any) -> tuple[Any, ...]:
    """Return the derivatives of Ai, Ai', Bi and Bi', DLMF 9.2.1."""
    return out[1], x * out[0], out[3], x * out[2]


def _scaled_airy(xp: Any, x: Any, out: Any) -> tuple[Any, ...]:
    """Return the derivatives of `airye`, whose factors are exp(+-2/3 x**1.5) for positive x."""
    refuse_complex(xp, "special.airye", "special.airy(z), times the factors", x)
    root = xp.sqrt(xp.where(x > 0, x, 0.0))
    return (
        out[1] + root * out[0],
        x * out[0] + root * out[1],
        out[3] - root * out[2],
        x * out[2] - root * out[3],
    )


def _of_parabola(xp: Any, v: Any, x: Any, out: Any) -> tuple[Any, ...]:
    """Return the derivatives of a parabolic cylinder function and of its slope, DLMF 12.2.4."""
    return out[1], (0.25 * x * x - v - 0.5) * out[0]


def _of_hyperbola(xp: Any, a: Any, x: Any, out: Any) -> tuple[Any, ...]:
    """Return the derivatives of W(a, x) and of its slope, DLMF 12.14.1."""
    return out[1], (a - 0.25 * x * x) * out[0]


RULES = [
    # Bessel functions: DLMF 10.6.1 to 10.6.3
    special("j0", "x", lambda xp, g, x: -(g * xp.special.j1(x))),
    special("j1", "x", lambda xp, g, x, out: g * (xp.special.j0(x) - _over_x(xp, x, out, -1.0))),
    special("y0", "x", lambda xp, g, x: -(g * xp.special.y1(x)), domain=POSITIVE),
    special("y1", "x", lambda xp, g, x, out: g * (xp.special.y0(x) - out / x), domain=POSITIVE),
    special("jv", "v x", lambda xp, g, v, x: g * _apart(xp.special.jv, v, x), domain=POSITIVE),
    special("yv", "v x", lambda xp, g, v, x: g * _apart(xp.special.yv, v, x), domain=POSITIVE),
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
        lambda xp, g, v, x: g * _mean(xp.special.iv, v, x),
        domain=POSITIVE,
    ),
    special(
        "ive",
        "v x",
        lambda xp, g, v, x: g * _first_kind_by_order(xp, v, x, scaled=True),
        lambda xp, g, v, x, out: g * (_scaled(xp, "i", v, x, _mean) - xp.sign(x) * out),
        domain=POSITIVE,
    ),
    special(
        "kv",
        "v x",
        lambda xp, g, v, x: g * _second_kind_by_order(xp, v, x, scaled=False),
        lambda xp, g, v, x: -(g * _mean(xp.special.kv, v, x)),
        domain=POSITIVE,
    ),
    special(
        "kve",
        "v z",
        lambda xp, g, v, z: g * _second_kind_by_order(xp, v, z, scaled=True),
        lambda xp, g, v, z, out: g * (out - _mean(xp.special.kve, v, z)),
        domain=POSITIVE,
    ),
    special("jve", "v z", lambda xp, g, v, z: g * _scaled(xp, "j", v, z, _apart), domain=POSITIVE),
    special("yve", "v z", lambda xp, g, v, z: g * _scaled(xp, "y", v, z, _apart), domain=POSITIVE),
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
    special(
        "hankel1", "v z", lambda xp, g, v, z: g * _apart(xp.special.hankel1, v, z), domain=POSITIVE
    ),
    special(
        "hankel2", "v z", lambda xp, g, v, z: g * _apart(xp.special.hankel2, v, z), domain=POSITIVE
    ),
    special(
        "hankel1e",
        "v z",
        lambda xp, g, v, z, out: g * (_apart(xp.special.hankel1e, v, z) - 1j * out),
        domain=POSITIVE,
    ),
    special(
        "hankel2e",
        "v z",
        lambda xp, g, v, z, out: g * (_apart(xp.special.hankel2e, v, z) + 1j * out),
        domain=POSITIVE,
    ),
    # spherical ones, which SciPy's public functions call by these names
    _of_degree("jn", lambda xp, g, n, x: g * _spherical(xp, "jn", n, x, -1.0)),
    _of_degree("yn", lambda xp, g, n, x: g * _spherical(xp, "yn", n, x, -1.0)),
    _of_degree("in", lambda xp, g, n, x: g * _spherical(xp, "in", n, x, 1.0)),
    _of_degree("kn", lambda xp, g, n, x: -(g * _spherical(xp, "kn", n, x, 1.0))),
    _of_degree("jn_d", lambda xp, g, n, x: g * _spherical(xp, "jn_d", n, x, -1.0)),
    _of_degree("yn_d", lambda xp, g, n, x: g * _spherical(xp, "yn_d", n, x, -1.0)),
    _of_degree("in_d", lambda xp, g, n, x: g * _spherical(xp, "in_d", n, x, 1.0)),
    _of_degree("kn_d", lambda xp, g, n, x: -(g * _spherical(xp, "kn_d", n, x, 1.0))),
    # Kelvin functions, of which w = ber + 1j bei solves w'' = 1j w - w'/x, DLMF 10.61.3
    special("ber", "x", lambda xp, g, x: g * xp.special.berp(x)),
    special("bei", "x", lambda xp, g, x: g * xp.special.beip(x)),
    special(
        "berp", "x", lambda xp, g, x, out: -(g * (xp.special.bei(x) + _kelvin_over(xp, x, out, 2)))
    ),
    special(
        "beip", "x", lambda xp, g, x, out: g * (xp.special.ber(x) - _kelvin_over(xp, x, out, 1))
    ),
    special("ker", "x", lambda xp, g, x: g * xp.special.kerp(x), domain=POSITIVE),
    special("kei", "x", lambda xp, g, x: g * xp.special.keip(x), domain=POSITIVE),
    special(
        "kerp", "x", lambda xp, g, x, out: -(g * (xp.special.kei(x) + out / x)), domain=POSITIVE
    ),
    special("keip", "x", lambda xp, g, x, out: g * (xp.special.ker(x) - out / x), domain=POSITIVE),
    # Struve functions
    special(
        "struve",
        "v x",
        lambda xp, g, v, x: g * (_apart(xp.special.struve, v, x) + 0.5 * _struve_term(xp, v, x)),
        domain=POSITIVE,
    ),
    special(
        "modstruve",
        "v x",
        lambda xp, g, v, x: g * (_mean(xp.special.modstruve, v, x) + 0.5 * _struve_term(xp, v, x)),
        domain=POSITIVE,
    ),
    # Airy and parabolic cylinder functions
    several("airy", "x", 4, _airy),
    several("airye", "x", 4, _scaled_airy, domain=POSITIVE),
    several("pbdv", "v x", 2, None, _of_parabola, samples=ORDERS[2]),
    several("pbvv", "v x", 2, None, _of_parabola, samples=ORDERS[2]),
    several("pbwa", "a x", 2, None, _of_hyperbola, samples=ORDERS[2]),
]
register(RULES)
