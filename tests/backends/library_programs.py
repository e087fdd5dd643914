"""Programs written against the standard alone, to be run on the arrays of any library."""

from __future__ import annotations

from typing import Any, NamedTuple

import array_api_compat
import numpy as np

RANDOM = np.random.default_rng(7)


class Program(NamedTuple):
    """A function of floating-point arrays, and NumPy arrays to call it with."""

    function: Any
    arrays: tuple[Any, ...]


def logistic_loss(w: Any, x: Any, y: Any) -> Any:
    xp = array_api_compat.array_namespace(w, x, y)
    margin = y * (x @ w)
    return xp.mean(xp.logaddexp(-margin, xp.zeros_like(margin))) + 0.01 * xp.sum(w * w)


def two_layers(x: Any, w1: Any, b1: Any, w2: Any) -> Any:
    """Matrix products, a bias that broadcasts, a softmax with its largest element taken off."""
    xp = array_api_compat.array_namespace(x, w1)
    hidden = xp.tanh(x @ w1 + b1)
    scores = hidden @ w2
    shifted = scores - xp.max(scores, axis=1, keepdims=True)
    log_normaliser = xp.log(xp.sum(xp.exp(shifted), axis=1))
    return xp.mean(log_normaliser - shifted[:, 0])


def filled(x: Any) -> Any:
    """An array filled in a loop, and written to again."""
    xp = array_api_compat.array_namespace(x)
    out = xp.zeros_like(x)
    for i in range(x.shape[0]):
        out[i] = x[i] * x[i - 1]
    out[1:] = out[1:] + 0.5 * out[:-1]
    out[0] *= 3.0
    return xp.sum(xp.sin(out))


def picked(x: Any) -> Any:
    """Reading backwards, with a step, with a new axis, by an array of integers, and `where`."""
    xp = array_api_compat.array_namespace(x)
    order = xp.asarray([3, 0, 3, 1])
    taken = xp.take(x, order, axis=0) * x[::-1][:4]
    outer = x[:, None] * x[None, ::2]
    return xp.sum(xp.where(x > 0.1, xp.exp(x), x * x)) + xp.sum(taken) + xp.sum(outer)


def spring_chain(x: Any, stiffness: Any) -> Any:
    """The energy of a chain of springs after some steps of time."""
    xp = array_api_compat.array_namespace(x, stiffness)
    velocity = xp.zeros_like(x)
    for _ in range(5):
        stretch = x[1:] - x[:-1]
        pull = stiffness * stretch
        nothing = xp.zeros_like(x[:1])
        force = xp.concat([pull, nothing]) - xp.concat([nothing, pull])
        velocity = velocity + 0.1 * force
        x = x + 0.1 * velocity
    return 0.5 * xp.sum(velocity * velocity) + 0.5 * xp.sum(stiffness * (x[1:] - x[:-1]) ** 2)


def ridge(x: Any, y: Any, strength: Any) -> Any:
    """The squared error of a ridge regression's fit, which solves a linear system."""
    xp = array_api_compat.array_namespace(x, y)
    gram = x.T @ x + strength * xp.eye(x.shape[1], dtype=x.dtype)
    weights = xp.linalg.solve(gram, x.T @ y)
    residual = x @ weights - y
    return xp.sum(residual * residual)


def statistics(x: Any) -> Any:
    xp = array_api_compat.array_namespace(x)
    centred = x - xp.mean(x, axis=0)
    scale = xp.sqrt(xp.mean(centred * centred, axis=0))
    running = xp.cumulative_sum(centred / scale, axis=0)
    return xp.sum((running * running + 1.0) ** 0.7) + xp.prod(xp.clip(x[0, ...], 0.1, 3.0))


def _normal(*shape: int) -> Any:
    return RANDOM.standard_normal(shape)


PROGRAMS = {
    "logistic_loss": Program(logistic_loss, (_normal(4), _normal(9, 4), np.sign(_normal(9)) + 0.0)),
    "two_layers": Program(two_layers, (_normal(6, 3), _normal(3, 4), _normal(4), _normal(4, 2))),
    "filled": Program(filled, (_normal(5),)),
    "picked": Program(picked, (_normal(6),)),
    "spring_chain": Program(spring_chain, (_normal(6), RANDOM.uniform(0.5, 1.5, 5))),
    "ridge": Program(ridge, (_normal(8, 3), _normal(8), np.asarray(0.3))),
    "statistics": Program(statistics, (_normal(7, 3),)),
}
