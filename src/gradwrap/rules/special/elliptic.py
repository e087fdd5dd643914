"""Elliptic integrals and functions, DLMF 19 and 22.

The usual formulas for the derivatives in the parameter m divide by m. Near m = 0 the integrand's
derivative is integrated instead, and complete integrals are hypergeometric functions.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.core.table.registry import register
from gradwrap.rules.special.incomplete import as_floats, column, constants, legendre
from gradwrap.rules.special.rows import several, special

if TYPE_CHECKING:
    from collections.abc import Callable

BELOW_ONE = (0.1, 0.9)


def hypergeometric(xp: Any, a: float, b: float, c: float, x: Any) -> Any:
    """Return hyp2f1, which SciPy has in double precision only, in the dtype of x."""
    return xp.astype(xp.special.hyp2f1(a, b, c, x), x.dtype, copy=False)


def _complete_first(xp: Any, m: Any) -> Any:
    """Return the derivative of K, DLMF 19.4.1."""
    return _first_by_m(xp, (0.5 * math.pi) * xp.ones_like(m), m)


def _near_one(xp: Any, x: Any, out: Any) -> Any:
    """Return the derivative of K(1 - x) in x, DLMF 19.4.1, which is right for small x too."""
    flat = x > 0.9
    steep = xp.where(flat, 0.5, x)
    second = xp.special.ellipeinc(0.5 * math.pi, 1.0 - steep)
    away = (xp.astype(second, x.dtype, copy=False) / steep - out) / (2.0 * (1.0 - steep))
    return -xp.where(flat, _complete_first(xp, xp.where(flat, 1.0 - x, 0.0)), away)


def _complete_second(xp: Any, m: Any) -> Any:
    """Return the derivative of E, by DLMF 19.5.2 and 15.5.1."""
    return (-math.pi / 8) * hypergeometric(xp, 0.5, 1.5, 2.0, m)


def _integral(xp: Any, phi: Any, m: Any, power: float) -> Any:
    """Integrate sin(t)**2 (1 - m sin(t)**2)**power, of period π, over t from 0 to phi."""
    periods = xp.round(phi / math.pi)
    quarter = (0.5 * math.pi) * xp.ones_like(phi)
    whole = 2.0 * _integral_near_zero(xp, quarter, m, power)
    return periods * whole + _integral_near_zero(xp, phi - math.pi * periods, m, power)


def _integral_near_zero(xp: Any, phi: Any, m: Any, power: float) -> Any:
    """Integrate sin(t)**2 (1 - m sin(t)**2)**power over t from 0 to phi, at most π / 2."""
    nodes, weights = (constants(xp, values, phi) for values in legendre())
    squares = xp.square(xp.sin(column(xp, phi) * nodes))
    return phi * xp.sum(squares * (1.0 - column(xp, m) * squares) ** power * weights, axis=-1)


def _first_by_m(xp: Any, phi: Any, m: Any) -> Any:
    """Return the derivative of F(phi, m) in m, DLMF 19.4.5."""
    phi, m = as_floats(xp, phi, m)
    near = xp.abs(m) < 0.1
    small, large = xp.where(near, m, 0.0), xp.where(near, 0.5, m)
    sine, cosine = xp.sin(phi), xp.cos(phi)
    inverse = 1.0 - large
    total = xp.special.ellipeinc(phi, large) / inverse - xp.special.ellipkinc(phi, large)
    total = total / (2.0 * large)
    last = sine * cosine / (2.0 * inverse * xp.sqrt(1.0 - large * sine * sine))
    return xp.where(near, 0.5 * _integral(xp, phi, small, -1.5), total - last)


def _second_by_m(xp: Any, phi: Any, m: Any) -> Any:
    """Return the derivative of E(phi, m) in m, DLMF 19.4.6."""
    phi, m = as_floats(xp, phi, m)
    near = xp.abs(m) < 0.1
    small, large = xp.where(near, m, 0.0), xp.where(near, 0.5, m)
    away = xp.special.ellipeinc(phi, large) - xp.special.ellipkinc(phi, large)
    return xp.where(near, -0.5 * _integral(xp, phi, small, -0.5), away / (2.0 * large))


def _root(xp: Any, phi: Any, m: Any) -> Any:
    """Return sqrt(1 - m sin(phi)**2)."""
    return xp.sqrt(1.0 - m * xp.square(xp.sin(phi)))


def _by_argument(xp: Any, m: Any, out: Any) -> tuple[Any, ...]:
    """Return the derivatives of sn, cn, dn and the amplitude in u, DLMF 22.13.1 and 22.16.3."""
    sn, cn, dn, _ = out
    return cn * dn, -sn * dn, -m * sn * cn, dn


def _by_parameter(xp: Any, m: Any, out: Any) -> tuple[Any, ...]:
    """Return the derivatives in m: the amplitude is the inverse of F, and the others follow."""
    sn, cn, dn, phi = out
    slope = -dn * _first_by_m(xp, phi, m)
    return cn * slope, -sn * slope, -(sn * sn + 2.0 * m * sn * cn * slope) / (2.0 * dn), slope


def _carlson(xp: Any, x: Any, y: Any, z: Any, out: Any) -> Any:
    """Return the derivative of elliprd in x, by parting the fractions in the integrand.

    Where x and z are nearly equal, it is a series in their difference, whose integrals are
    hypergeometric functions (DLMF 19.16.9).
    """
    x, y, z = as_floats(xp, x, y, z)
    mean, half = 0.5 * (x + z), 0.5 * (z - x)
    near = xp.abs(half) < 0.02 * mean
    ratio, series = xp.where(near, 1.0 - y / mean, 0.0), 0.0
    for order, factor in enumerate((0.75, 1.125, 1.40625, 1.640625)):
        power = 2.5 + 2.0 * order
        integral = hypergeometric(xp, power, 0.5, power + 1.0, ratio) / power
        series = series - factor * half ** (2 * order) * integral / mean**power
    apart = xp.where(near, 2.0 * x, z)
    return xp.where(near, series, (out - xp.special.elliprd(y, apart, x)) / (2.0 * (apart - x)))


def _by_interpolation(xp: Any, x: Any, y: Any, z: Any, p: Any, out: Any) -> Any:
    """Return the derivative of elliprj in x, by parting the fractions in the integrand.

    Where p and x are nearly equal, it is interpolated between places of p at which they are not.
    """
    x, y, z, p = as_floats(xp, x, y, z, p)
    near = xp.abs(p - x) < 0.02 * x
    apart = xp.where(near, 2.0 * x, p)
    away = (out - xp.special.elliprd(y, z, x)) / (2.0 * (apart - x))
    inside = xp.where(near, x, 1.0)
    nodes, factors = (constants(xp, values, x) for values in _chebyshev())
    first, y, z = column(xp, inside), column(xp, y), column(xp, z)
    found = xp.special.elliprj(first, y, z, first * (1.0 + nodes)) - xp.special.elliprd(y, z, first)
    weights = factors / (column(xp, xp.where(near, p / inside - 1.0, 0.0)) - nodes)
    between = xp.sum(weights * found / (2.0 * first * nodes), axis=-1) / xp.sum(weights, axis=-1)
    return xp.where(near, between, away)


@functools.cache
def _chebyshev() -> tuple[Any, Any]:
    """Return 14 Chebyshev points up to 0.3, and their weights in the barycentric formula."""
    angles = np.pi * (np.arange(14) + 0.5) / 14
    return 0.3 * np.cos(angles), (-1.0) ** np.arange(14) * np.sin(angles)


def _times_slope(xp: Any, x: Any, slope: Callable[[Any], Any]) -> Any:
    """Return x slope(x), which is 0 at 0, where the slope is infinite."""
    at_zero = x == 0
    return xp.where(at_zero, 0.0, x * slope(xp.where(at_zero, 1.0, x)))


def _last_of_three(xp: Any, x: Any, y: Any, z: Any, out: Any) -> Any:
    """Return the derivative of elliprd in z by Euler's theorem: it is homogeneous."""
    x, y, z = as_floats(xp, x, y, z)
    by_x = _times_slope(xp, x, lambda x: _carlson(xp, x, y, z, out))
    by_y = _times_slope(xp, y, lambda y: _carlson(xp, y, x, z, out))
    return -(1.5 * out + by_x + by_y) / z


def _last_of_four(xp: Any, x: Any, y: Any, z: Any, p: Any, out: Any) -> Any:
    """Return the derivative of elliprj in p by Euler's theorem."""
    x, y, z, p = as_floats(xp, x, y, z, p)
    by_x = _times_slope(xp, x, lambda x: _by_interpolation(xp, x, y, z, p, out))
    by_y = _times_slope(xp, y, lambda y: _by_interpolation(xp, y, z, x, p, out))
    by_z = _times_slope(xp, z, lambda z: _by_interpolation(xp, z, x, y, p, out))
    return -(1.5 * out + by_x + by_y + by_z) / p


def _degenerate(xp: Any, x: Any, y: Any) -> Any:
    """Return the derivative of elliprc in x, by DLMF 19.2.18, 15.4.4 and 15.5.1."""
    return -hypergeometric(xp, 1.5, 1.5, 2.5, 1.0 - x / y) / (6.0 * y**1.5)


def _last_of_two(xp: Any, x: Any, y: Any, out: Any) -> Any:
    """Return the derivative of elliprc in y by Euler's theorem."""
    x, y = as_floats(xp, x, y)
    return -(0.5 * out + _times_slope(xp, x, lambda x: _degenerate(xp, x, y))) / y


RULES = [
    special("ellipk", "x", lambda xp, g, x: g * _complete_first(xp, x), domain=BELOW_ONE),
    special("ellipe", "x", lambda xp, g, x: g * _complete_second(xp, x), domain=BELOW_ONE),
    special("ellipkm1", "x", lambda xp, g, x, out: g * _near_one(xp, x, out), domain=BELOW_ONE),
    special(
        "ellipkinc",
        "phi m",
        lambda xp, g, phi, m: g / _root(xp, phi, m),
        lambda xp, g, phi, m: g * _first_by_m(xp, phi, m),
        domain=(0.05, 0.9),
        samples=("x(3), x(3)", "x(2, 1), x(1, 3)", "6.0 * x(3), -3.0 * x(3)", "0.6, x(3)"),
    ),
    special(
        "ellipeinc",
        "phi m",
        lambda xp, g, phi, m: g * _root(xp, phi, m),
        lambda xp, g, phi, m: g * _second_by_m(xp, phi, m),
        domain=(0.05, 0.9),
        samples=("x(3), x(3)", "x(2, 1), x(1, 3)", "6.0 * x(3), -3.0 * x(3)", "0.6, x(3)"),
    ),
    several(
        "ellipj",
        "u m",
        4,
        _by_argument,
        _by_parameter,
        domain=(0.05, 0.9),
        samples=("x(3), x(3)", "x(2, 1), x(1, 3)", "0.6, x(3)", "x(3), 0.3"),
    ),
    special(
        "elliprf",
        "x y z",
        lambda xp, g, x, y, z: -(g * xp.special.elliprd(y, z, x) / 6.0),  # DLMF 19.18.1
        lambda xp, g, x, y, z: -(g * xp.special.elliprd(z, x, y) / 6.0),
        lambda xp, g, x, y, z: -(g * xp.special.elliprd(x, y, z) / 6.0),
        samples=("x(3), 3.0 * x(3), 7.0 + x(3)", "x(2, 3), 5.0, 7.0 + x(3)"),
        domain=(0.5, 1.5),
    ),
    special(
        "elliprd",
        "x y z",
        lambda xp, g, x, y, z, out: g * _carlson(xp, x, y, z, out),
        lambda xp, g, x, y, z, out: g * _carlson(xp, y, x, z, out),
        lambda xp, g, x, y, z, out: g * _last_of_three(xp, x, y, z, out),
        samples=("x(3), 3.0 * x(3), 7.0 + x(3)", "x(2, 3), 5.0, 7.0 + x(3)"),
        domain=(0.5, 1.5),
    ),
    special(
        "elliprj",
        "x y z p",
        lambda xp, g, x, y, z, p, out: g * _by_interpolation(xp, x, y, z, p, out),
        lambda xp, g, x, y, z, p, out: g * _by_interpolation(xp, y, z, x, p, out),
        lambda xp, g, x, y, z, p, out: g * _by_interpolation(xp, z, x, y, p, out),
        lambda xp, g, x, y, z, p, out: g * _last_of_four(xp, x, y, z, p, out),
        samples=("x(3), 3.0 * x(3), 7.0 + x(3), 4.0 * x(3)", "x(2, 3), 5.0, 7.0 + x(3), 5.02"),
        domain=(0.5, 1.5),
    ),
    special(
        "elliprc",
        "x y",
        lambda xp, g, x, y: g * _degenerate(xp, x, y),
        lambda xp, g, x, y, out: g * _last_of_two(xp, x, y, out),
        domain=(0.5, 2.0),
    ),
]
register(RULES)
