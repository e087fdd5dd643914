"""`Variable[jax.Array]`: checked with JAX's own types where it is installed."""

from __future__ import annotations

from typing import Any, assert_type

import jax

import gradwrap as gw


def loss(w: jax.Array, x: jax.Array, *, rate: float = 0.1) -> jax.Array:
    return ((w * x) ** 2).sum() * rate


def on_arrays(a: jax.Array) -> None:
    x = gw.wrap(a, requires_grad=True)
    assert_type(x, gw.Variable[jax.Array])
    assert_type(x.grad, jax.Array | None)
    assert_type(x.data, jax.Array)
    assert_type(x * a, gw.Variable[jax.Array])
    assert_type(a * x, gw.Variable[jax.Array])
    assert_type(2.0 * x, gw.Variable[jax.Array])
    assert_type(x[0].sum(axis=0), gw.Variable[jax.Array])
    assert_type(x > 0.0, gw.Variable[Any])
    xp = x.__array_namespace__()
    assert_type(xp, gw.typing.Namespace[jax.Array])
    assert_type(xp.exp(a), gw.Variable[jax.Array])
    assert_type(xp.linalg.svd(x).S, gw.Variable[jax.Array])
    assert_type(gw.autograd.grad(x, x), tuple[jax.Array, ...])

    assert_type(gw.grad(loss)(a, x=a, rate=1.0), jax.Array)
    assert_type(gw.grad(loss, (0, 1))(a, a), tuple[jax.Array, jax.Array])
    assert_type(gw.value_and_grad(loss)(a, a), tuple[jax.Array, jax.Array])
    assert_type(gw.hessian(loss)(a, a), jax.Array)
    assert_type(gw.vmap(loss)(a, x=a), jax.Array)
