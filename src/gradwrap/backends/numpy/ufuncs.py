"""The operations of ufuncs: NumPy's beyond the standard, SciPy's and CuPy's.

Special functions come to their library's protocol as ufuncs too. There the operation is looked up
by the function itself, since names of CuPy's kernels are not always those of the functions.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradwrap.core.table.kinds import elementwise, multilinear, nondifferentiable
from gradwrap.core.table.registry import (
    GENERIC,
    Op,
    find_op,
    ops,
    ops_so_far,
    register,
    register_function,
    register_functions_later,
)
from gradwrap.core.table.rule import zero
from gradwrap.rules.elementwise import pow_base, pow_exponent, share_of_sum, tie_share, tie_tangent

NUMPY_UFUNCS = [
    elementwise(
        "cbrt", "x", lambda xp, g, out: g / (3.0 * out * out), domain=(0.5, 2.0), only_real=True
    ),
    elementwise("exp2", "x", lambda xp, g, out: g * (out * math.log(2.0))),
    elementwise(
        "logaddexp2",
        "x1 x2",
        lambda xp, g, x1, x2: g * share_of_sum(xp, x1, x2, math.log(2.0)),
        lambda xp, g, x1, x2: g * share_of_sum(xp, x2, x1, math.log(2.0)),
        only_real=True,
    ),
    elementwise("deg2rad", "x", lambda xp, g: g * (math.pi / 180.0), only_real=True),
    elementwise("rad2deg", "x", lambda xp, g: g * (180.0 / math.pi), only_real=True),
    elementwise("radians", "x", lambda xp, g: g * (math.pi / 180.0), only_real=True),
    elementwise("degrees", "x", lambda xp, g: g * (180.0 / math.pi), only_real=True),
    elementwise("fabs", "x", lambda xp, g, x: g * xp.sign(x), only_real=True, convention="0 at 0"),
    elementwise(
        "fmax",
        "x1 x2",
        lambda xp, g, x1, x2: tie_share(xp, g, x1, x2, _is_number(x1, x2, x1 >= x2)),
        lambda xp, g, x1, x2: tie_share(xp, g, x2, x1, _is_number(x2, x1, x2 >= x1)),
        jvp=(
            lambda xp, t, x1, x2: tie_tangent(xp, t, x1, x2, _is_number(x1, x2, x1 >= x2)),
            lambda xp, t, x1, x2: tie_tangent(xp, t, x2, x1, _is_number(x2, x1, x2 >= x1)),
        ),
        selects=True,
        only_real=True,
        convention="shared evenly at a tie; never to a NaN",
    ),
    elementwise(
        "fmin",
        "x1 x2",
        lambda xp, g, x1, x2: tie_share(xp, g, x1, x2, _is_number(x1, x2, x1 <= x2)),
        lambda xp, g, x1, x2: tie_share(xp, g, x2, x1, _is_number(x2, x1, x2 <= x1)),
        jvp=(
            lambda xp, t, x1, x2: tie_tangent(xp, t, x1, x2, _is_number(x1, x2, x1 <= x2)),
            lambda xp, t, x1, x2: tie_tangent(xp, t, x2, x1, _is_number(x2, x1, x2 <= x1)),
        ),
        selects=True,
        only_real=True,
        convention="shared evenly at a tie; never to a NaN",
    ),
    elementwise(
        "float_power",
        "x1 x2",
        pow_base,
        pow_exponent,
        domain=(0.5, 2.0),
        same=False,
        convention="0 where the exponent is 0, and in an exponent >= 0 at a base of 0",
    ),
    elementwise(
        "fmod",
        "x1 x2",
        lambda xp, g: g,
        lambda xp, g, x1, x2: -(g * xp.trunc(x1 / x2)),
        domain=(0.6, 1.9),
        only_real=True,
    ),
    multilinear(
        "full_convolution",
        "a, v, /",
        lambda xp, g, a_meta, v: _correlation(xp, g, v, a_meta.shape[0]),
        lambda xp, g, a, v_meta: _correlation(xp, g, a, v_meta.shape[0]),
        native=lambda xp, a, v: xp.convolve(a, v),
        batch="full_convolution",
        samples=("x(5), x(3)", "x(2), x(4)"),
    ),
    elementwise(
        "heaviside",
        "x1 x2",
        zero,
        lambda xp, g, x1: xp.where(x1 == 0, g, 0.0),
        only_real=True,
        samples=("x(3), x(3)", "i(-1, 0, 1), x(2, 3)", "x(2, 1), i(0, 1)", "x(0), x()"),
        convention="0 in x1",
        jumps="sign",
    ),
    nondifferentiable("gcd", "x1, x2, /", "of integers", arrays=2),
    nondifferentiable("lcm", "x1, x2, /", "of integers", arrays=2),
    nondifferentiable("spacing", "x, /", "a unit in the last place"),
]


def _correlation(xp: Any, g: Any, other: Any, length: int) -> Any:
    """Return the valid part of the convolution of g with the reversed other factor."""
    convolve = xp.full_convolution if hasattr(xp, "_class") else xp.convolve
    first = other.shape[0] - 1
    return convolve(g, xp.flip(other))[first : first + length]


def _is_number(mine: Any, other: Any, chosen: Any) -> Any:
    """Tell where `mine` is the extremum that ignores NaN; `chosen` is its comparison."""
    return chosen | ((other != other) & (mine == mine))


def ufunc_of(op: Op) -> Any:
    """Return the NumPy ufunc of an operation, by its row's NumPy name or its own name."""
    rule = op.rules.get(GENERIC)
    names = [op.name] if rule is None else [*rule.numpy, op.name]
    found = getattr(np, next(name for name in names if "(" not in name), None)
    return found if isinstance(found, np.ufunc) else None


def register_all() -> None:
    """Enter NumPy's own ufuncs, and let every ufunc find its operation, once it is imported."""
    register(NUMPY_UFUNCS, "numpy")
    register(NUMPY_UFUNCS, "cupy")  # which has them too
    register([row for row in NUMPY_UFUNCS if row.kind.is_elementwise], "dask")
    for op in ops_so_far():  # the other chapters have no ufunc of NumPy's own
        function = ufunc_of(op)
        if function is not None:
            register_function(function, op)
    register_functions_later("scipy.special", _enter_scipy)
    register_functions_later("cupyx.scipy.special", _enter)


def _enter_scipy(module: Any) -> None:
    _enter(module)
    _enter(module._ufuncs)


def _enter(module: Any) -> None:
    """Register each function of a module that is an operation of the table."""
    for op in ops():
        name = op.name.removeprefix("special.").removeprefix("_ufuncs.")
        function = getattr(module, name, None)
        if function is not None:
            register_function(function, op)
    zeta, op_of_zeta = getattr(module, "_zeta", None), find_op("special.zeta")
    if zeta is not None and op_of_zeta is not None:
        register_function(zeta, op_of_zeta)
