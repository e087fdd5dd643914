"""JAX's arrays: they are never written to, and its transforms go through gradwrap's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradwrap as gw
from lambdas import fn

jax: Any = pytest.importorskip("jax")
jnp: Any = pytest.importorskip("jax.numpy")
pytestmark = pytest.mark.peers


@pytest.fixture(autouse=True)
def double_precision() -> None:
    jax.config.update("jax_enable_x64", True)


def filled(x: Any) -> Any:
    xp = x.__array_namespace__()
    out = xp.zeros_like(x)
    for i in range(x.shape[0]):
        out[i] = x[i] ** 3 * x[i - 1]
    part = out[1:]
    part *= 2.0
    out[::-1][0] = x[0] * x[0]
    return xp.sum(out * out)


VALUES = np.array([1.0, 2.0, -0.5])


def test_writes_make_new_arrays() -> None:
    x = jnp.asarray(VALUES)

    gradient = gw.grad(filled)(x)

    assert isinstance(gradient, jax.Array)
    np.testing.assert_allclose(gradient, gw.grad(filled)(VALUES), rtol=1e-12)
    np.testing.assert_array_equal(x, VALUES)


def test_last_of_several_writes_to_one_place_gets_the_gradient() -> None:
    def f(v: Any) -> Any:
        xp = v.__array_namespace__()
        out = xp.zeros_like(v)
        out[xp.asarray([0, 1, 0])] = v
        return xp.sum(out * xp.asarray([1.0, 10.0, 100.0]))

    np.testing.assert_array_equal(gw.grad(f)(jnp.asarray(VALUES)), gw.grad(f)(VALUES))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64"])
def test_dtype_is_kept(dtype: str) -> None:
    x = jnp.ones(3, dtype=dtype)

    assert gw.grad(lambda x: abs(x * 2.0 + 1).sum())(x).dtype == x.dtype


def test_gradient_is_compiled_by_jit() -> None:
    compiled = jax.jit(gw.grad(filled))

    np.testing.assert_allclose(compiled(jnp.asarray(VALUES)), gw.grad(filled)(VALUES), rtol=1e-12)


def test_gradient_is_mapped_by_vmap() -> None:
    rows = np.stack([VALUES, 2.0 * VALUES])

    mapped = jax.vmap(gw.grad(filled))(jnp.asarray(rows))

    np.testing.assert_allclose(mapped, [gw.grad(filled)(row) for row in rows], rtol=1e-12)


def test_gradient_is_differentiated_by_jax() -> None:
    def slope(x: Any) -> Any:
        gradient = gw.grad(filled)(x)
        return (gradient * gradient).sum()

    by_jax = jax.grad(slope)(jnp.asarray(VALUES))

    np.testing.assert_allclose(by_jax, gw.grad(slope)(VALUES), rtol=1e-9)


def test_array_on_the_left_of_an_operator() -> None:
    left = jnp.asarray([2.0, 3.0, 4.0])

    for f in (
        fn(lambda x: (left * x).sum()),
        fn(lambda x: (left**x).sum()),
        fn(lambda x: left @ x),
    ):
        np.testing.assert_allclose(
            gw.grad(f)(jnp.asarray(VALUES)), jax.grad(f)(jnp.asarray(VALUES)), rtol=1e-12
        )


@pytest.mark.parametrize("name", ["sin", "sum", "asarray"])
def test_jaxs_own_function_refuses_a_tracked_value(name: str) -> None:
    """JAX has no protocol for other types, so the call must raise."""
    x = gw.wrap(jnp.asarray(VALUES), requires_grad=True)

    with pytest.raises(TypeError):
        getattr(jnp, name)(x)


@pytest.mark.parametrize(
    "key",
    [
        0,
        (-1, -2),
        slice(1, 3),
        (slice(None), -1),
        (slice(None, None, 2), slice(4, 0, -2)),
        (slice(3, 3), 0),
        (slice(-3, -1), slice(None, None, 3)),
    ],
    ids=str,
)
def test_the_cotangent_of_a_slice_is_padded(key: Any) -> None:
    x = jnp.asarray(np.random.default_rng(0).normal(size=(5, 6)))

    def f(x: Any) -> Any:
        return (x[key] ** 3).sum() + x[key].sum()

    text = jax.jit(gw.grad(f)).lower(x).as_text()
    assert "scatter" not in text
    expected = jax.grad(f)(x)
    for gradient in (gw.grad(f), jax.jit(gw.grad(f))):
        np.testing.assert_allclose(gradient(x), expected, rtol=1e-6)
    np.testing.assert_allclose(gw.hessian(f)(x), jax.hessian(f)(x), rtol=1e-5)
