"""Bessel functions, with derivatives from DLMF 10.6 and 10.29, cited as in `special.py`."""

from __future__ import annotations

import math
from typing import Any

from gradwrap.core.table.registry import register
from gradwrap.rules.special import POSITIVE, TERMS, near_zero, power_series, special

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
        lambda xp, g, v, x: g * (0.5 * (xp.special.iv(v - 1, x) + xp.special.iv(v + 1, x))),
        domain=POSITIVE,
    ),
    special(
        "kv",
        "v x",
        lambda xp, g, v, x: g * (-0.5 * (xp.special.kv(v - 1, x) + xp.special.kv(v + 1, x))),
        domain=POSITIVE,
    ),
]
register(RULES)
