"""A three-layer perceptron in float32, which spends its time in matrix products."""

from itertools import pairwise

import numpy as np

from .base import Array, Namespace, Traced, Workload

BATCH = 256
SIZES = (784, 512, 256, 10)


def loss(np: Namespace, x: Traced, y: Traced, *weights: Traced) -> Traced:
    """Compute the softmax cross entropy; ``y`` is one-hot."""
    w1, b1, w2, b2, w3, b3 = weights
    h1 = np.tanh(x @ w1 + b1)
    h2 = np.tanh(h1 @ w2 + b2)
    z = h2 @ w3 + b3
    z = z - np.max(z, axis=1, keepdims=True)
    log_p = z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))
    return -np.sum(y * log_p) / x.shape[0]


def loss_by_hand(np: Namespace, x: Array, y: Array, *weights: Array) -> tuple[Array, ...]:
    """Back-propagate as in a textbook."""
    w1, b1, w2, b2, w3, b3 = weights
    h1 = np.tanh(x @ w1 + b1)
    h2 = np.tanh(h1 @ w2 + b2)
    z = h2 @ w3 + b3
    e = np.exp(z - z.max(axis=1, keepdims=True))
    g = (e / e.sum(axis=1, keepdims=True) - y) / x.shape[0]
    g_w3, g_b3 = h2.T @ g, g.sum(axis=0)
    g = (g @ w3.T) * (1 - h2 * h2)
    g_w2, g_b2 = h1.T @ g, g.sum(axis=0)
    g = (g @ w2.T) * (1 - h1 * h1)
    return x.T @ g, g.sum(axis=0), g_w2, g_b2, g_w3, g_b3


def data(rng: np.random.Generator, *, batch: int = BATCH) -> tuple[Array, ...]:
    """Return normal images, random labels, weights of the usual size, and zero biases."""
    x = rng.normal(size=(batch, SIZES[0])).astype(np.float32)
    y = np.eye(SIZES[-1], dtype=np.float32)[rng.integers(0, SIZES[-1], batch)]
    arrays: list[Array] = [x, y]
    for rows, columns in pairwise(SIZES):
        arrays.append((rng.normal(size=(rows, columns)) / np.sqrt(rows)).astype(np.float32))
        arrays.append(np.zeros(columns, np.float32))
    return tuple(arrays)


MLP = Workload(
    name="mlp",
    title="MLP 256x784-512-256-10, float32",
    fun=loss,
    by_hand=loss_by_hand,
    data=data,
    argnums=(2, 3, 4, 5, 6, 7),
    bound=1.15,
    expected={"autograd": 1.15, "torch": 0.92},
)
