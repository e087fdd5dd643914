"""Samples as functions of their parameters, where no formula leads from plain noise to the sample.

If F is the distribution function, then F(x, p) of a sample x is uniform for all parameters p. So x
moves with p such that F(x, p) stays as it is: dx/dp = -F_p / F_x (Figurnov and others, 2018). This
is the derivative of the quantile function in p, at the probability whose quantile is x.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.core.levels.wrapper import AnyWrapper
from gradwrap.core.table.kinds import ELEMENTWISE, elementwise, general
from gradwrap.core.table.registry import GENERIC, Op, find_op, redefine
from gradwrap.core.table.rule import Rule, passes
from gradwrap.core.values.dynamic import type_of
from gradwrap.rules.special.incomplete import column, constants, legendre
from gradwrap.transforms.arguments import stop_gradient

if TYPE_CHECKING:
    from collections.abc import Callable

linalg: Any = np.linalg
FAR = 20.0
"""Where a density is less than exp(-FAR) of its peak, integrals come from the other side."""


def _last(xp: Any, *arguments: Any) -> Any:  # noqa: ARG001  the form of a native function
    """Return the sample, which is the last argument of a path."""
    return arguments[-1]


def _path(rule: Rule) -> Callable[..., Any]:
    """Return the function of a row: its value is its last argument, the sample."""
    op = Op(rule.name)
    redefine(op, {GENERIC: rule})

    def path(*arguments: Any) -> Any:
        variable = next((a for a in arguments[:-1] if isinstance(a, AnyWrapper)), None)
        return arguments[-1] if variable is None else type_of(variable)._bind(op).apply(*arguments)

    return path


@functools.cache
def _quantile(name: str) -> Rule:
    op = find_op(f"special.{name}")
    assert op is not None, "quantile functions are in the table"
    return op.rules[GENERIC]


@functools.cache
def along(quantile: str) -> Callable[..., Any]:
    """Return the path `(*parameters, sample)` that has the derivatives of a quantile function."""
    row = _quantile(quantile)
    formulas: Any = [None if one is None else one.function for one in row.formulas]
    options: Any = {"kind": ELEMENTWISE, "native": _last, "only_real": True}
    return _path(Rule(f"random.{quantile}", row.signature_text, formulas, **options))


held: Callable[..., Any] = _path(
    elementwise(
        "random.sample", "computed, sample, /", passes, None, native=_last, convention="the sample"
    )
)
"""Return the sample, with the derivatives of a value that was computed from its noise."""


# The von Mises distribution -----------------------------------------------------------------------


def _von_mises_slope(xp: Any, kappa: Any, x: Any) -> Any:
    """Return dx/dkappa for mu = 0, the integral of (A - cos t) exp(kappa (cos t - cos x)).

    A is the mean of cos t. The integral runs from 0 to x. It is also that from x to pi or -pi with
    the sign changed, which is used where the density at x is small.
    """
    mean = xp.special.i1e(kappa) / xp.special.i0e(kappa)
    far = kappa * (1.0 - xp.cos(x)) > FAR
    start = xp.where(far, xp.where(x > 0.0, math.pi, -math.pi), 0.0)
    nodes, weights = (constants(xp, values, x) for values in legendre())
    t = column(xp, start) + column(xp, x - start) * nodes
    power = column(xp, kappa) * (xp.cos(t) - column(xp, xp.cos(x)))
    integral = xp.sum((column(xp, mean) - xp.cos(t)) * xp.exp(power) * weights, axis=-1)
    return (x - start) * integral


von_mises: Callable[..., Any] = _path(
    elementwise(
        "random.vonmises",
        "kappa, sample, /",
        lambda xp, g, kappa, out: g * _von_mises_slope(xp, kappa, out),
        None,
        native=_last,
    )
)


# The inverse Gaussian distribution ----------------------------------------------------------------


def _wald_slope(xp: Any, mean: Any, scale: Any, x: Any) -> Any:
    """Return dx/dmean, 2 scale/mean**2 M(b) sqrt(x**3/scale).

    M is Mills' ratio, b = sqrt(scale/x) (x/mean + 1).
    """
    b = xp.sqrt(scale / x) * (x / mean + 1.0)
    mills = math.sqrt(0.5 * math.pi) * xp.special.erfcx(math.sqrt(0.5) * b)
    return 2.0 * mills * xp.sqrt(scale * x) * x / (mean * mean)


def _wald_by_scale(xp: Any, mean: Any, scale: Any, x: Any) -> Any:
    """Return dx/dscale: x is homogeneous of degree 1 in both parameters (Euler's theorem)."""
    return (x - mean * _wald_slope(xp, mean, scale, x)) / scale


wald: Callable[..., Any] = _path(
    elementwise(
        "random.wald",
        "mean, scale, sample, /",
        lambda xp, g, mean, scale, out: g * _wald_slope(xp, mean, scale, out),
        lambda xp, g, mean, scale, out: g * _wald_by_scale(xp, mean, scale, out),
        None,
        native=_last,
    )
)


# The Dirichlet distribution -----------------------------------------------------------------------


def _marginal_slope(xp: Any, alpha: Any, x: Any) -> Any:
    """Return the derivatives of the elements along their beta distributions, over 1 - x."""
    rest = xp.sum(alpha, axis=-1, keepdims=True) - alpha
    formula = _quantile("betaincinv").formulas[0]
    assert formula is not None, "the row has a formula for its first parameter"
    inside = (x > 0.0) & (x < 1.0)
    point = xp.where(inside, x, 0.5)
    words = {"a": alpha, "b": xp.where(rest > 0.0, rest, 1.0), "out": point}
    slope = formula.function(xp, 1.0, *(words[word] for word in formula.saved))
    return xp.where(inside, slope / (1.0 - point), 0.0)


def _dirichlet_vjp(xp: Any, g: Any, alpha: Any, out: Any) -> Any:
    centred = g - xp.sum(out * g, axis=-1, keepdims=True)
    return _marginal_slope(xp, alpha, out) * centred


def _dirichlet_jvp(xp: Any, t: Any, alpha: Any, out: Any) -> Any:
    moved = _marginal_slope(xp, alpha, out) * t
    return moved - out * xp.sum(moved, axis=-1, keepdims=True)


_simplex = _path(
    general(
        "random.dirichlet",
        "alpha, sample, /",
        _dirichlet_vjp,
        None,
        jvp=(_dirichlet_jvp, None),
        native=_last,
        batch="last",
    )
)


def dirichlet(alpha: Any, sample: Any) -> Any:
    """Return the path of samples of a Dirichlet distribution, as PyTorch defines it.

    The parameter of an element moves it along its beta distribution, and the others in proportion
    to their size. This is the mean of the derivatives of normalised gamma variates, given the
    sample.
    """
    return _simplex(np.broadcast_to(alpha, np.shape(sample)), sample)


# The normal distribution of vectors ---------------------------------------------------------------


def multivariate_normal(mean: Any, cov: Any, sample: Any) -> Any:
    """Return `mean + L z` for L, the Cholesky factor of `cov`, and the z that gives the sample."""
    centred = sample - stop_gradient(mean)
    if not isinstance(cov, AnyWrapper):
        return mean + centred
    factor = linalg.cholesky(cov)
    z = linalg.solve(stop_gradient(factor), centred[..., None])
    return mean + (factor @ z)[..., 0]
