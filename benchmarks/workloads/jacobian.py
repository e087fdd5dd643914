"""The Jacobian of a layer by rows, and a Hessian, which take one batched pass each."""

import numpy as np

from .base import Array, Namespace, Traced, Workload

SIZE = 200


def layer(np: Namespace, x: Traced, w: Traced) -> Traced:
    """Compute one layer of a network."""
    return np.tanh(w @ x)


def layer_by_hand(np: Namespace, x: Array, w: Array) -> tuple[Array, ...]:
    """Return the rows of the matrix, scaled."""
    y = np.tanh(w @ x)
    return ((1 - y * y)[:, None] * w,)


def bowl(np: Namespace, x: Traced, a: Traced) -> Traced:
    """Compute log-sum-exp plus a quadratic form."""
    return np.log(np.sum(np.exp(x))) + 0.5 * (x @ (a @ x))


def bowl_by_hand(np: Namespace, x: Array, a: Array) -> tuple[Array, ...]:
    """Return the covariance of the softmax plus the symmetric part of the matrix."""
    e = np.exp(x - np.max(x))
    p = e / np.sum(e)
    return (np.diag(p) - p[:, None] * p + 0.5 * (a + a.T),)


def _data(rng: np.random.Generator) -> tuple[Array, ...]:
    return rng.normal(size=SIZE), rng.normal(size=(SIZE, SIZE)) / np.sqrt(SIZE)


JACOBIAN = Workload(
    name="jacobian",
    title="Jacobian of tanh(W x), 200x200",
    transform="jacobian",
    fun=layer,
    by_hand=layer_by_hand,
    data=_data,
    bound=3.0,
    left_out={"mygrad": "it has no Jacobians"},
)

HESSIAN = Workload(
    name="hessian",
    title="Hessian of log-sum-exp plus a quadratic, n=200",
    transform="hessian",
    fun=bowl,
    by_hand=bowl_by_hand,
    data=_data,
    left_out={"mygrad": "it has no second derivatives"},
)
