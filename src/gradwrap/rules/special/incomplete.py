"""Derivatives of incomplete gamma and beta functions in their parameters, as integrals.

With v = log(t) for the gamma and v = log(t/(1 - t)) for the beta function, both are integrals of a
density p(v) that is log-concave. Differentiating under the integral multiplies it by the score, the
derivative of log(p) in the parameter. The score rises (or falls) with v, and its integral over the
whole line is 0. So it may be integrated on the side of its zero where the point is, over values of
one sign, and nothing cancels.

DLMF 8.2.1, 8.17.1 and 5.12.1, as in `special.py`. Between the point and the bends of the density
the rule of Gauss and Legendre is used; beyond them the trapezoidal rule after the substitution
u = scale * exp(s - exp(-s)) of Takahasi and Mori (Publ. RIMS 9, 721, 1974).
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any

from gradwrap.core.library.compat import device
from gradwrap.errors import NoRuleError

if TYPE_CHECKING:
    from collections.abc import Callable

LEGENDRE_NODES = 60
STEP, FIRST, LAST = 0.09, -3.6, 9.0
LARGE = 1000.0
"""Beyond it, Stirling's series has all digits of double precision."""
HIGH = 70.0  # exp(-exp(70)) is 0 in every precision, and exp(70) is finite


@cache
def legendre() -> tuple[list[float], list[float]]:
    """Return the nodes and weights of Gauss and Legendre's rule on (0, 1), by Newton's method."""
    nodes: list[float] = []
    weights: list[float] = []
    n = LEGENDRE_NODES
    for i in range(n):
        x = math.cos(math.pi * (i + 0.75) / (n + 0.5))
        slope = 1.0
        for _ in range(8):
            below, value = 1.0, x
            for k in range(2, n + 1):
                below, value = value, ((2 * k - 1) * x * value - (k - 1) * below) / k
            slope = n * (x * value - below) / (x * x - 1)
            x -= value / slope
        nodes.append((1 + x) / 2)
        weights.append(1 / ((1 - x * x) * slope * slope))
    return nodes, weights


@cache
def half_line() -> tuple[list[float], list[float]]:
    """Return the nodes and weights of the double exponential rule on (0, inf)."""
    places = [FIRST + STEP * i for i in range(round((LAST - FIRST) / STEP) + 1)]
    nodes = [math.exp(s - math.exp(-s)) for s in places]
    return nodes, [STEP * u * (1 + math.exp(-s)) for s, u in zip(places, nodes, strict=True)]


def refuse_complex(xp: Any, what: str, fix: str, *values: Any) -> None:
    """Refuse complex arguments, for which a formula of real ones gives another derivative."""
    if any(
        isinstance(value, complex)
        or (hasattr(value, "dtype") and xp.isdtype(value.dtype, "complex floating"))
        for value in values
    ):
        raise NoRuleError(f"{what} has no rule for complex arguments. Fix: {fix}.")


def as_floats(xp: Any, *values: Any, may_be_complex: bool = False) -> list[Any]:
    """Convert numbers and integer arrays to the dtype of a floating array among them.

    Formulas by a parameter of a function are those of real arguments.
    """
    if not may_be_complex:
        refuse_complex(
            xp,
            "the derivative of a special function by this argument",
            "pass real arguments, or .detach() this one",
            *values,
        )
    floating = (v for v in values if hasattr(v, "dtype") and xp.isdtype(v.dtype, "real floating"))
    like = next(floating, values[-1])
    return [
        xp.full((), value, dtype=like.dtype, device=device(like))
        if not hasattr(value, "dtype")
        else value
        if xp.isdtype(value.dtype, ("real floating", "complex floating"))
        else xp.astype(value, like.dtype)
        for value in values
    ]


def constants(xp: Any, values: list[float], like: Any) -> Any:
    """Return numbers as an array of the dtype and on the device of another."""
    return xp.asarray(values, dtype=like.dtype, device=device(like))


def column(xp: Any, value: Any) -> Any:
    """Add an axis for the nodes."""
    return xp.expand_dims(value, axis=-1)


def softplus(xp: Any, v: Any) -> Any:
    """Return log(1 + exp(v)), without overflow."""
    return xp.where(v > 0, v, 0.0) + xp.log1p(xp.exp(-xp.abs(v)))


def score_integral(
    xp: Any,
    exponent: Callable[[Any], Any],
    score: Callable[[Any], Any],
    start: Any,
    edge: Any,
    upward: Any,
    scale: Callable[[Any], Any],
) -> Any:
    """Integrate exp(exponent(v)) score(v) from `start` outward, up where `upward` is set.

    Beyond `edge` the density falls off, on a length that is the `scale` there. The result is that
    over (-inf, start), whatever the direction, since the integral over the whole line is 0.
    """
    one = xp.ones_like(start)
    sign = xp.where(upward, one, -one)
    ahead = sign * (edge - start)
    inner = xp.where(ahead > 0, ahead, 0.0)
    last = start + sign * inner

    def part(begin: Any, length: Any, rule: tuple[list[float], list[float]]) -> Any:
        nodes, weights = (constants(xp, values, start) for values in rule)
        v = column(xp, begin) + column(xp, sign * length) * nodes
        return length * xp.sum(xp.exp(exponent(v)) * score(v) * weights, axis=-1)

    total = part(start, inner, legendre()) + part(last, scale(last), half_line())
    return -sign * total


def stirling(xp: Any, a: Any) -> tuple[Any, Any]:
    """Return log(a**a exp(-a)/Gamma(a)) and log(a) - digamma(a) for large a, DLMF 5.11.1-2."""
    rest = (1.0 - 1.0 / (30.0 * a * a)) / (12.0 * a)
    return 0.5 * xp.log(a / (2.0 * math.pi)) - rest, (0.5 + (1.0 - 0.1 / (a * a)) / (12.0 * a)) / a


def gamma_slope(xp: Any, a: Any, x: Any) -> Any:
    """Return the derivative of gammainc(a, x) in a.

    For large a, v is measured from log(a), where the terms of the exponent nearly cancel.
    """
    a, x = as_floats(xp, a, x)
    inside = (x > 0) & (x < math.inf) & (a > 0) & (a < math.inf)
    x, a = xp.where(inside, x, 1.0), xp.where(inside, a, 1.0)
    is_large = a > LARGE
    small, large = xp.where(is_large, 1.0, a), xp.where(is_large, a, LARGE)
    of_large, lag = stirling(xp, large)
    mean = xp.where(is_large, -lag, xp.special.digamma(small))
    norm = xp.where(is_large, of_large, -1.0 - xp.special.gammaln(small))
    origin = xp.where(is_large, a, 1.0)
    apart = (x - origin) / origin
    is_near = is_large & (xp.abs(apart) < 0.5)
    start = xp.where(is_near, xp.log1p(xp.where(is_near, apart, 0.0)), xp.log(x / origin))

    def power(v: Any) -> Any:
        return xp.where(v < HIGH, v, HIGH)

    found = score_integral(
        xp,
        lambda v: column(xp, a) * v - column(xp, origin) * xp.expm1(power(v)) + column(xp, norm),
        lambda v: v - column(xp, mean),
        start,
        xp.where(is_large, xp.log1p(1.0 / large), xp.log(small + 1.0)),
        start > mean,
        lambda v: 1.0 / (xp.abs(a - origin * xp.exp(power(v))) + xp.sqrt(a)),
    )
    return xp.where(inside, found, 0.0)


def beta_slopes(xp: Any, a: Any, b: Any, x: Any, y: Any, *, second: bool) -> Any:
    """Return the derivative of betainc(a, b, x) in b (`second`) or a, where y is 1 - x."""
    a, b, x, y = as_floats(xp, a, b, x, y)
    inside = (x > 0) & (y > 0) & (a > 0) & (b > 0)
    x, y, a, b = (xp.where(inside, value, 1.0) for value in (x, y, a, b))
    whole = xp.special.digamma(a + b)
    mean = xp.special.digamma(b if second else a) - whole
    norm = xp.special.betaln(a, b)
    point = xp.log(x) - xp.log(y)

    def exponent(v: Any) -> Any:
        below = column(xp, a) * softplus(xp, -v)
        return -below - column(xp, b) * softplus(xp, v) - column(xp, norm)

    def score(v: Any) -> Any:
        return -softplus(xp, v if second else -v) - column(xp, mean)

    def scale(v: Any) -> Any:
        # the slope of the exponent, and its curvature
        above, below = xp.exp(-softplus(xp, -v)), xp.exp(-softplus(xp, v))
        return 1.0 / (xp.abs(a * below - b * above) + xp.sqrt((a + b) * above * below))

    here = -softplus(xp, point if second else -point)
    upward = here < mean if second else here > mean
    peak, bend = xp.log(a) - xp.log(b), xp.log1p(a) - xp.log1p(b)
    lower = peak < bend
    edge = xp.where(lower == upward, bend, peak)
    found = score_integral(xp, exponent, score, point, edge, upward, scale)
    return xp.where(inside, found, 0.0)
