"""Hypergeometric functions and orthogonal polynomials, DLMF 13, 15, 16 and 18."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.table.registry import register
from gradwrap.rules.special.incomplete import as_floats, column, constants
from gradwrap.rules.special.rows import INNER, POSITIVE, special

if TYPE_CHECKING:
    from gradwrap.core.table.rule import FormulaFunction, Rule

PLACES = [float(k) for k in range(220)]
REACH = 80.0  # of the power series, up to which its terms are enough
ANY = (-2.0, 2.0)
DEGREES = ("3, x(3)", "i(0, 1, 4), x(2, 3)", "2, x()")
WITH_PARAMETER = ("3, 0.7, x(3)", "i(0, 1, 4), 1.5, x(2, 3)", "2, 0.3, x()")


def _series_slopes(xp: Any, a: Any, b: Any, x: Any, more: Any = None) -> tuple[Any, Any]:
    """Return the derivatives of M(a, b, x) in a and b, for x > 0, by the power series 13.2.2.

    With `more`, of F(a, more; b; x), by 15.2.1.

    Where a is 0 or a negative integer, one of the factors a + j of the later terms is 0. It is kept
    apart, so that nothing is divided by it.
    """
    j = constants(xp, PLACES, x)
    upper, lower = column(xp, a) + j, column(xp, b) + j
    zero = upper == 0
    others = xp.where(zero, 1.0, upper)
    step = column(xp, x) if more is None else column(xp, x) * (column(xp, more) + j)
    terms = xp.cumulative_prod(others * step / (lower * (j + 1.0)), axis=-1)
    has_zero = xp.cumulative_sum(xp.astype(zero, upper.dtype), axis=-1)
    factor = xp.cumulative_sum(xp.where(zero, upper, 0.0), axis=-1) + (1.0 - has_zero)
    growth = xp.cumulative_sum(xp.where(zero, 0.0, 1.0 / others), axis=-1)
    by_a = xp.sum(terms * (factor * growth + has_zero), axis=-1)
    return by_a, -xp.sum(terms * factor * xp.cumulative_sum(1.0 / lower, axis=-1), axis=-1)


def _confluent(xp: Any, a: Any, b: Any, x: Any, *, first: bool) -> Any:
    """Return the derivative of hyp1f1(a, b, x) in a (`first`) or b; NaN for x beyond +-80.

    For x < 0 by Kummer's transformation, DLMF 13.2.39.
    """
    a, b, x = as_floats(xp, a, b, x)
    negative = x < 0
    size = xp.abs(x)
    beyond = size > REACH
    by_a, by_b = _series_slopes(xp, xp.where(negative, b - a, a), b, xp.where(beyond, 1.0, size))
    turned = -by_a if first else by_a + by_b
    found = xp.where(negative, xp.exp(xp.where(negative, x, 0.0)) * turned, by_a if first else by_b)
    return xp.where(beyond, xp.full_like(size, float("nan")), found)


def _gauss(xp: Any, a: Any, b: Any, c: Any, x: Any, by: str) -> Any:
    """Return the derivative of hyp2f1(a, b, c, x) in a parameter; NaN for x beyond -4 and 0.8.

    For x < 0 by Pfaff's transformation, DLMF 15.8.1.
    """
    given = a, b, c, x
    a, b, c, x = as_floats(xp, a, b, c, x)
    negative = x < 0
    z = xp.where(negative, x / (xp.where(negative, x, 0.0) - 1.0), x)
    beyond = z > 0.8
    z = xp.where(beyond, 0.5, z)
    base = xp.where(negative, 1.0 - x, 1.0)
    other = xp.where(negative, c - b, b)
    by_other, by_c = _series_slopes(xp, other, c, z, a)
    if by == "a":
        slope, _ = _series_slopes(xp, a, c, z, other)
        found = base**-a * slope - xp.log(base) * xp.special.hyp2f1(*given)
    elif by == "b":
        found = base**-a * xp.where(negative, -by_other, by_other)
    else:
        found = base**-a * (by_c + xp.where(negative, by_other, 0.0))
    return xp.where(beyond, xp.full_like(z, float("nan")), found)


def _associated(xp: Any, m: Any, v: Any, x: Any, out: Any) -> Any:
    """Return the slope of lpmv(m, v, x), DLMF 14.10.5; at 1 and -1 from 14.9.3 and 14.6.1."""
    m, v, x, out = as_floats(xp, m, v, x, out)
    is_end = xp.abs(x) == 1.0
    gap = xp.where(is_end, 1.0, x * x - 1.0)
    lower = xp.special.lpmv(m, v - 1.0, xp.where(is_end, 0.0, x))
    within = (v * x * out - xp.where(v + m == 0.0, 0.0, (v + m) * lower)) / gap
    end, sides = xp.where(is_end, x, 1.0), v * (v + 1.0)
    turn = end ** (v + 1.0)
    slope = 0.5 * turn * sides
    sign = end * slope * xp.where(m < 0, -1.0, 1.0)
    steep = xp.where(sign == 0.0, 0.0, xp.where(sign < 0.0, -float("inf"), float("inf")))
    bend = -turn * xp.where(m < 0, 0.25, sides * (v - 1.0) * (v + 2.0) / 4.0)
    order = xp.abs(m)
    high = xp.where(order == 2.0, bend, xp.where(order == 1.0, steep, 0.0 * x))
    return xp.astype(xp.where(is_end, xp.where(order == 0.0, slope, high), within), out.dtype)


def _gegenbauer(xp: Any, n: Any, alpha: Any, x: Any) -> Any:
    """Return the Gegenbauer polynomial of degree n - 1 and parameter alpha + 1, 0 for n = 0."""
    n = xp.asarray(n)
    found = xp.special.eval_gegenbauer(xp.where(n == 0, 1, n) - 1.0, alpha + 1.0, x)
    return xp.where(n == 0, 0.0, found)


def _laguerre(xp: Any, n: Any, alpha: Any, x: Any) -> Any:
    """Return the generalized Laguerre polynomial of degree n - 1 and alpha + 1, 0 for n = 0."""
    n = xp.asarray(n)
    found = xp.special.eval_genlaguerre(xp.where(n == 0, 1, n) - 1.0, alpha + 1.0, x)
    return xp.where(n == 0, 0.0, found)


def _jacobi(xp: Any, n: Any, alpha: Any, beta: Any, x: Any) -> Any:
    """Return the derivative of the Jacobi polynomial, DLMF 18.9.15."""
    n = xp.asarray(n)
    below = xp.where(n == 0, 1, n) - 1.0
    found = xp.special.eval_jacobi(below, alpha + 1.0, beta + 1.0, x)
    return xp.where(n == 0, 0.0, 0.5 * (n + alpha + beta + 1.0) * found)


def _chebyshev(xp: Any, n: Any, x: Any) -> Any:
    """Return the derivative of the Chebyshev polynomial of the first kind, DLMF 18.7.3, 18.9.19."""
    n = xp.asarray(n)
    return n * xp.where(n == 0, 0.0, xp.special.eval_chebyu(xp.where(n == 0, 1, n) - 1.0, x))


def _hermite(xp: Any, n: Any, x: Any) -> Any:
    """Return n times the Hermite polynomial of degree n - 1, of which DLMF 18.9.25 is made."""
    n = xp.asarray(n)
    return n * xp.special.eval_hermite(xp.where(n == 0, 1, n) - 1, x)


def _normal_hermite(xp: Any, n: Any, x: Any) -> Any:
    """Return the derivative of the Hermite polynomial He, DLMF 18.9.27."""
    n = xp.asarray(n)
    return n * xp.special.eval_hermitenorm(xp.where(n == 0, 1, n) - 1, x)


def _polynomial(name: str, formula: FormulaFunction, domain: tuple[float, float] = INNER) -> Rule:
    """Build the row of an orthogonal polynomial, whose first argument is the degree."""
    return special(name, "n x", formula, domain=domain, samples=DEGREES)


RULES = [
    special(
        "hyp0f1",
        "v z",
        lambda xp, g, v, z: g * xp.special.hyp0f1(v + 1.0, z) / v,  # DLMF 16.3.1
        domain=POSITIVE,
    ),
    special(
        "hyp1f1",
        "a b x",
        lambda xp, g, a, b, x: g * _confluent(xp, a, b, x, first=True),
        lambda xp, g, a, b, x: g * _confluent(xp, a, b, x, first=False),
        lambda xp, g, a, b, x: g * (a / b * xp.special.hyp1f1(a + 1.0, b + 1.0, x)),  # 13.3.15
        domain=POSITIVE,
        samples=("x(3), x(3), x(3)", "x(2, 1), x(3), -x(2, 3)", "1.5, 2.0, x(3)", "x(), 0.7, x()"),
        convention="NaN in a and b where x is beyond 80",
    ),
    special(
        "hyp2f1",
        "a b c x",
        lambda xp, g, a, b, c, x: g * _gauss(xp, a, b, c, x, "a"),
        lambda xp, g, a, b, c, x: g * _gauss(xp, a, b, c, x, "b"),
        lambda xp, g, a, b, c, x: g * _gauss(xp, a, b, c, x, "c"),
        lambda xp, g, a, b, c, x: (
            g * (a * b / c * xp.special.hyp2f1(a + 1.0, b + 1.0, c + 1.0, x))  # 15.5.1
        ),
        domain=INNER,
        samples=(
            *("1.5, 0.7, 2.3, x(3)", "0.5, 0.5, 2.0, -x(2, 3)", "1.5, 2.5, 3.0, x()"),
            *("x(3), x(3), x(3), 0.4", "x(2, 1), 0.7, 1.0 + x(3), -0.6", "x(), x(), 2.0, x()"),
        ),
        convention="NaN in a, b and c where x is beyond -4 and 0.8",
    ),
    special(
        "hyperu",
        "a b x",
        lambda xp, g, a, b, x: -(g * a * xp.special.hyperu(a + 1.0, b + 1.0, x)),  # 13.3.22
        domain=POSITIVE,
        samples=("1.5, 0.7, x(3)", "0.5, 2.2, x(2, 3)"),
    ),
    special(
        "wright_bessel",
        "a b x",
        lambda xp, g, a, b, x: g * xp.special.wright_bessel(a, a + b, x),  # DLMF 10.46.1
        domain=POSITIVE,
        samples=("1.5, 0.7, x(3)", "0.5, 2.2, x(2, 3)"),
    ),
    special(
        "log_wright_bessel",
        "a b x",
        lambda xp, g, a, b, x, out: g * xp.exp(xp.special.log_wright_bessel(a, a + b, x) - out),
        domain=POSITIVE,
        samples=("1.5, 0.7, x(3)", "0.5, 2.2, x(2, 3)"),
    ),
    special(
        "lpmv",
        "m v x",
        lambda xp, g, m, v, x, out: g * _associated(xp, m, v, x, out),
        domain=INNER,
        samples=("1, 2.0, x(3)", "2, 3.5, x(2, 3)"),
    ),
    # polynomials: DLMF 18.9.15 to 18.9.27
    special(
        "eval_jacobi",
        "n alpha beta x",
        lambda xp, g, n, alpha, beta, x: g * _jacobi(xp, n, alpha, beta, x),
        domain=INNER,
        samples=("3, 0.5, 1.5, x(3)", "i(0, 1, 4), 1.5, 0.5, x(2, 3)"),
    ),
    special(
        "eval_sh_jacobi",
        "n p q x",
        lambda xp, g, n, p, q, x: (
            g
            * (
                2.0
                * _jacobi(xp, n, p - q, q - 1.0, 2.0 * x - 1.0)
                / xp.special.binom(2.0 * n + p - 1.0, n)
            )
        ),
        domain=INNER,
        samples=("3, 2.5, 1.5, x(3)", "i(0, 1, 4), 1.5, 0.5, x(2, 3)"),
    ),
    special(
        "eval_gegenbauer",
        "n alpha x",
        lambda xp, g, n, alpha, x: g * (2.0 * alpha * _gegenbauer(xp, n, alpha, x)),
        domain=INNER,
        samples=WITH_PARAMETER,
    ),
    _polynomial("eval_chebyt", lambda xp, g, n, x: g * _chebyshev(xp, n, x)),
    _polynomial("eval_chebyu", lambda xp, g, n, x: g * (2.0 * _gegenbauer(xp, n, 1.0, x))),
    _polynomial("eval_chebyc", lambda xp, g, n, x: g * _chebyshev(xp, n, 0.5 * x)),
    _polynomial("eval_chebys", lambda xp, g, n, x: g * _gegenbauer(xp, n, 1.0, 0.5 * x)),
    _polynomial("eval_sh_chebyt", lambda xp, g, n, x: g * (2.0 * _chebyshev(xp, n, 2.0 * x - 1.0))),
    _polynomial(
        "eval_sh_chebyu", lambda xp, g, n, x: g * (4.0 * _gegenbauer(xp, n, 1.0, 2.0 * x - 1.0))
    ),
    _polynomial("eval_legendre", lambda xp, g, n, x: g * _gegenbauer(xp, n, 0.5, x)),
    _polynomial(
        "eval_sh_legendre", lambda xp, g, n, x: g * (2.0 * _gegenbauer(xp, n, 0.5, 2.0 * x - 1.0))
    ),
    _polynomial(
        "eval_laguerre", lambda xp, g, n, x: -(g * _laguerre(xp, n, 0.0, x)), domain=POSITIVE
    ),
    special(
        "eval_genlaguerre",
        "n alpha x",
        lambda xp, g, n, alpha, x: -(g * _laguerre(xp, n, alpha, x)),
        domain=POSITIVE,
        samples=WITH_PARAMETER,
    ),
    _polynomial("eval_hermite", lambda xp, g, n, x: g * (2.0 * _hermite(xp, n, x)), domain=ANY),
    _polynomial("eval_hermitenorm", lambda xp, g, n, x: g * _normal_hermite(xp, n, x), domain=ANY),
]
register(RULES)
