"""The gradients of each example of a batch, all at once or one after the other."""

import numpy as np

from .base import Array, Growth, Namespace, Traced, Workload

BATCH = 256
SIZES = (64, 32, 10)


def loss(  # noqa: PLR0913  the parameters of two layers
    np: Namespace, w1: Traced, b1: Traced, w2: Traced, b2: Traced, x: Traced, y: Traced
) -> Traced:
    """Compute the softmax cross entropy of one example; ``y`` is one-hot."""
    h = np.tanh(x @ w1 + b1)
    z = h @ w2 + b2
    return np.log(np.sum(np.exp(z))) - np.sum(y * z)


def gradients_by_hand(  # noqa: PLR0913  the arguments of the function
    np: Namespace, w1: Array, b1: Array, w2: Array, b2: Array, x: Array, y: Array
) -> tuple[Array, ...]:
    """Back-propagate the whole batch, without the sums over it."""
    h = np.tanh(x @ w1 + b1)
    e = np.exp(h @ w2 + b2)
    g2 = e / np.sum(e, axis=1, keepdims=True) - y
    g1 = (g2 @ w2.T) * (1 - h * h)
    return x[:, :, None] * g1[:, None, :], g1, h[:, :, None] * g2[:, None, :], g2


def _data(rng: np.random.Generator) -> tuple[Array, ...]:
    n, m, k = SIZES
    return (
        rng.normal(size=(n, m)) / np.sqrt(n),
        np.zeros(m),
        rng.normal(size=(m, k)) / np.sqrt(m),
        np.zeros(k),
        rng.normal(size=(BATCH, n)),
        np.eye(k)[rng.integers(0, k, BATCH)],
    )


PER_EXAMPLE = Workload(
    name="per-example",
    title="gradient of each of 256 examples, MLP 64-32-10",
    transform="per-example",
    fun=loss,
    by_hand=gradients_by_hand,
    data=_data,
    argnums=(0, 1, 2, 3),
    left_out={"autograd": "it has no vmap", "mygrad": "it has no vmap"},
)

PER_EXAMPLE_LOOP = Workload(
    name="per-example-loop",
    title="the same, one example after the other",
    transform="per-example-loop",
    fun=loss,
    by_hand=gradients_by_hand,
    data=_data,
    argnums=(0, 1, 2, 3),
    left_out={"mygrad": "as above"},
)

PER_EXAMPLE_GAIN = Growth(
    name="per-example-gain",
    title="all at once / one after the other",
    small="per-example-loop",
    large="per-example",
    bound=0.1,
)
