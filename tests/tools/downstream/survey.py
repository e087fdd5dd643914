"""Another module of the project: each part of gradwrap, used once."""

from __future__ import annotations

from typing import Any, TypeAlias, assert_type

import numpy as np
from numpy.typing import NDArray

import gradwrap as gw
import gradwrap.numpy as gnp

Array: TypeAlias = NDArray[np.float64]


def fit(rate: Array, x: Array, spread: float, *, power: int = 2) -> tuple[np.float64, Array]:
    gaps: Array = np.abs(x - rate) ** power / spread
    return np.sum(gaps), gaps


def sensitivities(rate: Array, x: Array) -> tuple[Array, float, Array]:
    (of_rate, of_spread), gaps = gw.grad(fit, (0, 2), has_aux=True)(rate, x, 2.0, power=3)
    return assert_type(of_rate, Array), assert_type(of_spread, float), assert_type(gaps, Array)


class Clip(gw.Function):
    """The gradient is cut off, not the value."""

    @staticmethod
    def forward(ctx: gw.FunctionCtx, x: Array, limit: float = 1.0) -> Array:
        ctx.limit = limit
        return x

    @staticmethod
    def backward(ctx: gw.FunctionCtx, g: Array) -> tuple[Array, None]:
        return np.clip(g, -ctx.limit, ctx.limit), None


def clipped(x: Array) -> Array:
    return Clip.apply(x, limit=0.5)


@gw.primitive
def cube_root(x: Array) -> Array:
    root: Array = np.cbrt(x)
    return root


gw.defvjp(cube_root, lambda xp, g, out: g / (3 * out * out))


@gw.checkpoint
def layer(x: Array, weight: Array, *, slope: float = 1.0) -> Array:
    out: Array = np.tanh(slope * (x @ weight))
    return out


@gw.grad
def kinetic_slope(speed: float) -> float:
    return 0.5 * speed**2


def curvature(x: Array, weight: Array) -> tuple[Array, Array]:
    def total(x: Array) -> np.float64:
        out: Array = layer(x, weight, slope=2.0)
        return np.sum(out)

    return assert_type(gw.hessian(total)(x), Array), assert_type(gw.jacrev(clipped)(x), Array)


def per_example(rows: Array, weight: Array) -> Array:
    mapped = gw.vmap(layer, in_axes=(0, None))
    return assert_type(mapped(rows, weight), Array)


def any_library(xp: gw.typing.Namespace[Array], x: gw.Variable[Array]) -> gw.Variable[Array]:
    return assert_type(xp.sum(xp.special.erf(x) * xp.exp(-(x**2))), gw.Variable[Array])


def filled(x: Array) -> np.float64:
    out = gnp.zeros(x.shape)
    for i in range(len(x)):
        out[i] = x[i] * (out[i - 1] if i else 1.0)
    return gnp.sum(out)


def everything(x: Array, weight: Array) -> dict[str, Any]:
    from_lambda = gw.grad(lambda y: (y * y).sum())(x)
    value, pull = gw.vjp(clipped, x)
    out, moved = gw.jvp(clipped, (x,), (x,))
    assert_type((value, out, moved), tuple[Array, Array, Array])
    return {
        "lambda": from_lambda,
        "pulled": assert_type(pull(value), tuple[Array]),
        "filled": assert_type(gw.grad(filled)(x), Array),
        "curvature": curvature(x, weight),
        "slope": assert_type(kinetic_slope(2.0), float),
        "roots": assert_type(cube_root(x), Array),
    }
