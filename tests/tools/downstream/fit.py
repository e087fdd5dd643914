"""A small typed project that uses gradwrap; see tests/tools/test_downstream.py."""

from __future__ import annotations

from typing import Any, TypeAlias, TypedDict, assert_type

import numpy as np
from numpy.typing import NDArray

import gradwrap as gw

Array: TypeAlias = NDArray[np.float64]


class Params(TypedDict):
    weights: Array
    bias: Array


@gw.custom_vjp
def clipped(x: Array, limit: float = 1.0) -> Array:
    return x


def _clipped_forward(x: Array, limit: float) -> tuple[Array, float]:
    return x, limit


def _clipped_backward(limit: float, g: Array) -> tuple[Array, None]:
    return np.clip(g, -limit, limit), None


clipped.defvjp(_clipped_forward, _clipped_backward)


def predict(params: Params, x: Array) -> Array:
    out: Array = np.tanh(clipped(x @ params["weights"], limit=10.0) + params["bias"])
    return out


def loss(params: Params, x: Array, y: Array, *, decay: float = 0.0) -> np.floating[Any]:
    error = predict(params, x) - y
    total: np.floating[Any] = np.mean(error**2) + decay * np.sum(params["weights"] ** 2)
    return total


def step(params: Params, x: Array, y: Array, rate: float = 0.1) -> tuple[np.floating[Any], Params]:
    value, slope = gw.value_and_grad(loss)(params, x, y, decay=1e-3)
    assert_type(slope, Params)
    return value, {
        "weights": params["weights"] - rate * slope["weights"],
        "bias": params["bias"] - rate * slope["bias"],
    }


class Fitted:
    def __init__(self, params: Params) -> None:
        self.params = params

    def energy(self, x: Array) -> np.float64:
        return np.sum(predict(self.params, x))

    def force(self, x: Array) -> Array:
        return -gw.grad(self.energy)(x)

    def stiffness(self, x: Array, v: Array) -> Array:
        return gw.hvp(self.energy, x, v)


def on_the_tape(start: Array) -> Array:
    x = gw.wrap(start, requires_grad=True)
    with gw.enable_grad():
        (x * x).backward(np.ones_like(start))
    gradient = x.grad
    assert gradient is not None
    return gradient
