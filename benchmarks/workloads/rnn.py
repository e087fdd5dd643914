"""A recurrent network in float32, with many small ops, some of them matrix products."""

import numpy as np

from .base import Array, Namespace, Traced, Workload

STEPS = 100
BATCH = 16
HIDDEN = 32


def loss(np: Namespace, x: Traced, h: Traced, *weights: Traced) -> Traced:
    """Return the square of the last state."""
    w, u, b = weights
    for step in range(STEPS):
        h = np.tanh(x[step] @ w + h @ u + b)
    return np.sum(h * h)


def loss_by_hand(np: Namespace, x: Array, h: Array, *weights: Array) -> tuple[Array, ...]:
    """Back-propagate through time, with the states kept in a list."""
    w, u, b = weights
    states = [h]
    for step in range(STEPS):
        h = np.tanh(x[step] @ w + h @ u + b)
        states.append(h)
    g = 2 * h
    g_w, g_u, g_b = np.zeros_like(w), np.zeros_like(u), np.zeros_like(b)
    for step in reversed(range(STEPS)):
        h = states[step + 1]
        g = g * (1 - h * h)
        g_w += x[step].T @ g
        g_u += states[step].T @ g
        g_b += g.sum(axis=0)
        g = g @ u.T
    return g_w, g_u, g_b


def _data(rng: np.random.Generator) -> tuple[Array, ...]:
    shapes = {"w": (HIDDEN, HIDDEN), "u": (HIDDEN, HIDDEN), "b": (HIDDEN,)}
    weights = [(0.15 * rng.normal(size=shape)).astype(np.float32) for shape in shapes.values()]
    x = rng.normal(size=(STEPS, BATCH, HIDDEN)).astype(np.float32)
    return x, np.zeros((BATCH, HIDDEN), np.float32), *weights


RNN = Workload(
    name="rnn",
    title="RNN of 100 steps, batch 16, hidden 32, float32",
    fun=loss,
    by_hand=loss_by_hand,
    data=_data,
    argnums=(2, 3, 4),
    bound=2.5,
    expected={"autograd": 7.0, "torch": 2.7},
)
