"""Elementwise functions, with one derivative per argument."""

from __future__ import annotations

import math
from typing import Any

from gradwrap.core.array.writing.views import IMAG, REAL
from gradwrap.core.library.backend import backend_of
from gradwrap.core.table.kinds import elementwise, nondifferentiable
from gradwrap.core.table.registry import register
from gradwrap.core.table.rule import passes, zero
from gradwrap.core.values.space import fit_cotangent
from gradwrap.rules.matrices import direction, is_complex

LN2 = math.log(2.0)
LN10 = math.log(10.0)


def _where_nonzero(xp: Any, value: Any, otherwise: float) -> Any:
    """Replace zeros, so that the values can be divided by."""
    return xp.where(value == 0, otherwise, value)


def _negated(xp: Any, g: Any, x2_meta: Any) -> Any:
    """Return -g; if x2 was broadcast, sum first, which leaves fewer elements to negate."""
    return -g if g.shape == x2_meta.shape else -fit_cotangent(xp, g, x2_meta)


def where_taken(xp: Any, t: Any, taken: Any) -> Any:
    """Return a tangent where its argument was taken, and 0 elsewhere."""
    return xp.where(taken, t, xp.zeros_like(t))


def tie_share(xp: Any, g: Any, mine: Any, other: Any, chosen: Any) -> Any:
    """Return g where `mine` was chosen, half of it at a tie, and 0 elsewhere."""
    return xp.where(chosen, _halved_at_ties(xp, g, mine, other), 0.0)


def tie_tangent(xp: Any, t: Any, mine: Any, other: Any, chosen: Any) -> Any:
    """Return an argument's share of the tangent of an extremum of two."""
    return where_taken(xp, _halved_at_ties(xp, t, mine, other), chosen)


def _halved_at_ties(xp: Any, g: Any, mine: Any, other: Any) -> Any:
    return g * (1.0 - 0.5 * xp.astype(mine == other, g.dtype))


def pow_base(xp: Any, g: Any, x1: Any, x2: Any) -> Any:
    """Return g * x2 * x1**(x2 - 1), and 0 where x2 is 0, also at x1 = 0."""
    if hasattr(x2, "dtype"):
        return g * (x2 * x1 ** xp.where(x2 == 0, 1, x2 - 1))
    if x2 == 2:
        return g * (x2 * x1)
    return g * (x2 * x1 ** (x2 - 1 if x2 else 1))


def pow_exponent(xp: Any, g: Any, x1: Any, out: Any) -> Any:
    """Return g * out * log(x1); at x1 = 0 it is 0, or -out where that is infinite."""
    if is_complex(xp, out):  # so that a negative base has a logarithm
        x1 = xp.astype(x1, out.dtype, copy=False) if hasattr(x1, "dtype") else complex(x1)
    if hasattr(x1, "dtype"):
        slope = out * xp.log(_where_nonzero(xp, x1, 1.0))
        return g * xp.where(x1 == 0, _slope_at_zero(xp, out), slope)
    return g * (_slope_at_zero(xp, out) if x1 == 0 else out * _log_of_number(x1))


def _slope_at_zero(xp: Any, out: Any) -> Any:
    """Return the limit of out * log(x1) where x1 falls to 0, given out = 0**x2."""
    return xp.where(xp.isfinite(out), xp.zeros_like(out), -out)


def _log_of_number(x: Any) -> complex:
    if isinstance(x, complex):
        import cmath

        return cmath.log(x)
    return math.log(x) if x > 0 else math.nan


def _with_part(xp: Any, x: Any, value: Any, part: str) -> Any:
    """Return a copy of complex `x` whose real or imaginary part is `value`."""
    if hasattr(value, "dtype") and is_complex(xp, value):
        value = xp.real(value)
    shape = getattr(value, "shape", ())
    if len(shape) >= len(x.shape) and shape != x.shape:
        x = x + xp.zeros(shape, dtype=x.dtype)  # a batch of values, or of arrays
    changed = xp.asarray(x, copy=True)
    backend = backend_of(changed)
    if backend.tells_views:
        return backend.with_part(xp, changed, part, value)
    value = xp.astype(xp.broadcast_to(xp.asarray(value), x.shape), x.dtype)
    return value + 1j * xp.imag(x) if part == REAL else xp.real(x) + 1j * value


def _with_real(xp: Any, x: Any, value: Any) -> Any:
    return _with_part(xp, x, value, REAL)


def _with_imag(xp: Any, x: Any, value: Any) -> Any:
    return _with_part(xp, x, value, IMAG)


def _over_square(xp: Any, x: Any, x1: Any, x2: Any) -> Any:
    """Return x / (x1**2 + x2**2), and 0 where that sum is 0 or infinite."""
    square = x1 * x1 + x2 * x2
    extreme = (square == 0) | xp.isinf(square)
    return xp.where(extreme, xp.zeros_like(square), x / xp.where(extreme, 1.0, square))


def _not_infinite(xp: Any, x: Any) -> Any:
    """Tell which numbers are finite or NaN; x is an array or a Python number."""
    return not math.isinf(x) if isinstance(x, (int, float)) else ~xp.isinf(x)


def _of_hypot(xp: Any, x1: Any, x2: Any, out: Any) -> Any:
    """Return x1 / out: 0 where out is 0, and the sign of x1 where only x1 is infinite."""
    alone = xp.isinf(x1) & _not_infinite(xp, x2)
    special = alone | (out == 0)
    return xp.where(alone, xp.sign(x1), xp.where(special, 0.0, x1) / xp.where(special, 1.0, out))


def share_of_sum(xp: Any, x1: Any, x2: Any, scale: float = 1.0) -> Any:
    """Return exp(scale x1) / (exp(scale x1) + exp(scale x2)).

    The exponential is that of a negative number, so it never overflows, and the derivative is
    precise where the result is 1 to rounding.
    """
    lead = x2 - x1 if scale == 1.0 else (x2 - x1) * scale
    small = xp.exp(xp.where(lead > 0.0, -lead, lead))
    return xp.where(lead > 0.0, small, 1.0) / (1.0 + small)


def _abs_tangent(xp: Any, t: Any, x: Any, out: Any) -> Any:
    """Return the component of the tangent along x."""
    if not is_complex(xp, x):
        return t * xp.sign(x)
    return xp.real(xp.conj(direction(xp, x, out)) * t)


def _sign(xp: Any, g: Any, x: Any, out: Any) -> Any:
    """Return the component of g orthogonal to x, over |x|, for complex x. It is its own adjoint."""
    size = _where_nonzero(xp, xp.abs(x), math.inf)
    return (g - out * xp.real(xp.conj(out) * g)) / size


RULES = [
    # arithmetic
    elementwise("add", "x1 x2", passes, passes, symbol="+", diagonal="add"),
    elementwise("subtract", "x1 x2", passes, _negated, symbol="-", jvp=(passes, lambda xp, t: -t)),
    elementwise(
        "multiply",
        "x1 x2",
        lambda xp, g, x2: g * x2,
        lambda xp, g, x1: g * x1,
        symbol="*",
        symmetric=True,
        diagonal="x1 x2",
    ),
    elementwise(
        "divide",
        "x1 x2",
        lambda xp, g, x2: g / x2,
        lambda xp, g, x2, out: -(g * out / x2),
        symbol="/",
        domain=(0.5, 2.0),
        diagonal="x1",
    ),
    elementwise("negative", "x", lambda xp, g: -g, symbol="-", diagonal="x"),
    elementwise("positive", "x", lambda xp, g: g, symbol="+", diagonal="x"),
    elementwise("reciprocal", "x", lambda xp, g, out: -(g * out * out), domain=(0.5, 2.0)),
    elementwise("square", "x", lambda xp, g, x: g * (2.0 * x), diagonal="x"),
    elementwise("sqrt", "x", lambda xp, g, out: g * 0.5 / out, domain=(0.5, 3.0), diagonal="x"),
    elementwise(
        "pow",
        "x1 x2",
        pow_base,
        pow_exponent,
        symbol="**",
        domain=(0.5, 2.0),
        convention="0 where the exponent is 0, and in an exponent >= 0 at a base of 0",
        numpy="power",
    ),
    elementwise(
        "remainder",
        "x1 x2",
        lambda xp, g: g,
        lambda xp, g, x1, x2: -(g * xp.floor(x1 / x2)),
        symbol="%",
        domain=(0.6, 1.9),
        only_real=True,
        convention="at a jump, the derivative on the right",
    ),
    # exponentials and logarithms
    elementwise("exp", "x", lambda xp, g, out: g * out),
    elementwise("expm1", "x", lambda xp, g, out: g * (out + 1.0), diagonal="x"),
    elementwise("log", "x", lambda xp, g, x: g / x, domain=(0.5, 3.0)),
    elementwise("log1p", "x", lambda xp, g, x: g / (1.0 + x), domain=(-0.5, 2.0), diagonal="x"),
    elementwise("log2", "x", lambda xp, g, x: g / (x * LN2), domain=(0.5, 3.0)),
    elementwise("log10", "x", lambda xp, g, x: g / (x * LN10), domain=(0.5, 3.0)),
    elementwise(
        "logaddexp",
        "x1 x2",
        lambda xp, g, x1, x2: g * share_of_sum(xp, x1, x2),
        lambda xp, g, x1, x2: g * share_of_sum(xp, x2, x1),
        only_real=True,
    ),
    # trigonometric
    elementwise("sin", "x", lambda xp, g, x: g * xp.cos(x), diagonal="x"),
    elementwise("cos", "x", lambda xp, g, x: -(g * xp.sin(x))),
    elementwise(
        "tan", "x", lambda xp, g, out: g * (1.0 + out * out), domain=(-1.0, 1.0), diagonal="x"
    ),
    elementwise(
        "asin", "x", lambda xp, g, x: g / xp.sqrt(1.0 - x * x), domain=(-0.8, 0.8), diagonal="x"
    ),
    elementwise("acos", "x", lambda xp, g, x: -g / xp.sqrt(1.0 - x * x), domain=(-0.8, 0.8)),
    elementwise("atan", "x", lambda xp, g, x: g / (1.0 + x * x), domain=(-0.9, 0.9), diagonal="x"),
    elementwise(
        "atan2",
        "x1 x2",
        lambda xp, g, x1, x2: g * _over_square(xp, x2, x1, x2),
        lambda xp, g, x1, x2: -(g * _over_square(xp, x1, x1, x2)),
        only_real=True,
        domain=(0.5, 2.0),
        convention="0 at (0, 0)",
    ),
    # hyperbolic
    elementwise("sinh", "x", lambda xp, g, x: g * xp.cosh(x), diagonal="x"),
    elementwise("cosh", "x", lambda xp, g, x: g * xp.sinh(x)),
    elementwise("tanh", "x", lambda xp, g, out: g - g * out * out, diagonal="x"),
    elementwise(
        "asinh", "x", lambda xp, g, x: g / xp.sqrt(1.0 + x * x), domain=(-0.9, 0.9), diagonal="x"
    ),
    elementwise(
        "acosh", "x", lambda xp, g, x: g / (xp.sqrt(x - 1.0) * xp.sqrt(x + 1.0)), domain=(1.5, 3.0)
    ),
    elementwise("atanh", "x", lambda xp, g, x: g / (1.0 - x * x), domain=(-0.8, 0.8), diagonal="x"),
    # magnitudes and choices
    elementwise(
        "abs",
        "x",
        lambda xp, g, x, out: g * direction(xp, x, out),  # of steepest ascent, for complex x too
        same=False,
        holomorphic=False,
        jvp=_abs_tangent,
        convention="0 at 0",
        diagonal="x",
    ),
    elementwise(
        "hypot",
        "x1 x2",
        lambda xp, g, x1, x2, out: g * _of_hypot(xp, x1, x2, out),
        lambda xp, g, x1, x2, out: g * _of_hypot(xp, x2, x1, out),
        only_real=True,
        convention="0 at (0, 0), as for a norm",
    ),
    elementwise(
        "copysign",
        "x1 x2",
        lambda xp, g, x1, out: g * (xp.sign(x1) * xp.sign(out)),
        zero,
        only_real=True,
        convention="0 at 0",
    ),
    elementwise("nextafter", "x1 x2", lambda xp, g: g, zero, only_real=True),
    elementwise(
        "maximum",
        "x1 x2",
        lambda xp, g, x1, x2: tie_share(xp, g, x1, x2, (x1 >= x2) | (x1 != x1)),
        lambda xp, g, x1, x2: tie_share(xp, g, x2, x1, (x2 >= x1) | (x2 != x2)),
        jvp=(
            lambda xp, t, x1, x2: tie_tangent(xp, t, x1, x2, (x1 >= x2) | (x1 != x1)),
            lambda xp, t, x1, x2: tie_tangent(xp, t, x2, x1, (x2 >= x1) | (x2 != x2)),
        ),
        selects=True,
        only_real=True,
        convention="shared evenly at a tie; a NaN takes all of it",
    ),
    elementwise(
        "minimum",
        "x1 x2",
        lambda xp, g, x1, x2: tie_share(xp, g, x1, x2, (x1 <= x2) | (x1 != x1)),
        lambda xp, g, x1, x2: tie_share(xp, g, x2, x1, (x2 <= x1) | (x2 != x2)),
        jvp=(
            lambda xp, t, x1, x2: tie_tangent(xp, t, x1, x2, (x1 <= x2) | (x1 != x1)),
            lambda xp, t, x1, x2: tie_tangent(xp, t, x2, x1, (x2 <= x1) | (x2 != x2)),
        ),
        selects=True,
        only_real=True,
        convention="shared evenly at a tie; a NaN takes all of it",
    ),
    # complex numbers: these functions are not holomorphic, so the formulas are the adjoints
    elementwise(
        "conj",
        "x",
        lambda xp, g: xp.conj(g),
        holomorphic=False,
        jvp=lambda xp, t: xp.conj(t),
        diagonal="x",
    ),
    elementwise(
        "real",
        "x",
        lambda xp, g: g,
        same=False,
        holomorphic=False,
        jvp=lambda xp, t: xp.real(t),
        views=REAL,
    ),
    elementwise(
        "imag",
        "x",
        lambda xp, g, x_meta: 1j * xp.astype(g, x_meta.dtype),
        same=False,
        holomorphic=False,
        only_complex=True,
        jvp=lambda xp, t: xp.imag(t),
        views=IMAG,
    ),
    elementwise(
        "with_real",
        "x value",
        lambda xp, g: _with_real(xp, g, 0.0),
        lambda xp, g: xp.real(g),
        native=_with_real,
        same=False,
        holomorphic=False,
        only_complex=True,
        jvp=(lambda xp, t: _with_real(xp, t, 0.0), lambda xp, t, x: _with_real(xp, x * 0.0, t)),
        selects=True,
        samples=("x(2, 3), x(2, 3)", "x(2, 3), x(3)"),
    ),
    elementwise(
        "with_imag",
        "x value",
        lambda xp, g: _with_imag(xp, g, 0.0),
        lambda xp, g: xp.imag(g),
        native=_with_imag,
        same=False,
        holomorphic=False,
        only_complex=True,
        jvp=(lambda xp, t: _with_imag(xp, t, 0.0), lambda xp, t, x: _with_imag(xp, x * 0.0, t)),
        selects=True,
        samples=("x(2, 3), x(2, 3)", "x(2, 3), x(3)"),
    ),
    elementwise(
        "sign",
        "x",
        _sign,
        holomorphic=False,
        only_complex=True,
        real_steps=True,
        jumps="order",
        jvp=lambda xp, t, x, out: _sign(xp, t, x, out),
        reason="piecewise constant on the real numbers",
        convention="0 at 0; not tracked for real numbers",
    ),
    # step functions, whose derivative is zero wherever it exists
    *(
        nondifferentiable(name, "x, /", "piecewise constant", numpy=name, jumps="whole")
        for name in ("ceil", "floor", "trunc")
    ),
    nondifferentiable("signbit", "x, /", "piecewise constant", numpy="signbit"),
    nondifferentiable("round", "x, /", "piecewise constant", numpy="rint", jumps="half"),
    nondifferentiable(
        "floor_divide", "x1, x2, /", "piecewise constant", arrays=2, symbol="//", jumps="quotient"
    ),
    *(
        nondifferentiable(name, "x, /", "true or false")
        for name in ("isfinite", "isinf", "isnan", "logical_not")
    ),
    nondifferentiable(
        "bitwise_invert", "x, /", "of integers and bools", symbol="~", numpy="invert"
    ),
    *(
        nondifferentiable(name, "x1, x2, /", "true or false", arrays=2, symbol=symbol, jumps=jumps)
        for name, symbol, jumps in (
            ("equal", "==", "equality"),
            ("not_equal", "!=", "equality"),
            ("less", "<", "order"),
            ("less_equal", "<=", "order"),
            ("greater", ">", "order"),
            ("greater_equal", ">=", "order"),
        )
    ),
    *(
        nondifferentiable(f"logical_{name}", "x1, x2, /", "true or false", arrays=2)
        for name in ("and", "or", "xor")
    ),
    *(
        nondifferentiable(
            f"bitwise_{name}", "x1, x2, /", "of integers and bools", arrays=2, symbol=symbol
        )
        for name, symbol in zip(
            ("and", "or", "xor", "left_shift", "right_shift"),
            ("&", "|", "^", "<<", ">>"),
            strict=True,
        )
    ),
]
register(RULES)
