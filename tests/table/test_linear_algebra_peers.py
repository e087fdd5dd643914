"""Functions of linear algebra that have no row of their own, against JAX and PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradwrap as gw
from harness import COMPLEX, REAL, direction
from lambdas import fn, rows

pytestmark = pytest.mark.peers


@pytest.mark.parametrize("dtype", [REAL, COMPLEX], ids=["real", "complex"])
@pytest.mark.parametrize(
    "function",
    rows(
        [
            lambda xp, x: xp.linalg.eigvals(x) ** 3,
            lambda xp, x: xp.linalg.matrix_power(x, 5),
            lambda xp, x: xp.linalg.matrix_power(x, -3),
        ]
    ),
    ids=["eigvals", "matrix_power 5", "matrix_power -3"],
)
def test_functions_made_of_others_have_the_gradients_of_both(
    function: Any, dtype: np.dtype[Any]
) -> None:
    torch, jax = pytest.importorskip("torch"), pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", val=True)
    import array_api_compat.torch as torch_xp

    random = np.random.default_rng(3)
    x = direction(random, np.zeros((2, 3, 3), dtype)) + 2.0 * np.eye(3, dtype=dtype)
    weights = 1.0 + np.arange(2.0)[:, None]  # the same for all eigenvalues: their order is free

    def loss(xp: Any, a: Any) -> Any:
        out = function(xp, a)
        places = xp.asarray(weights if out.ndim == 2 else weights[..., None])
        out = xp.sum(out * places)
        return xp.real(out) if xp.isdtype(out.dtype, "complex floating") else out

    gradient = gw.grad(lambda a: loss(a.__array_namespace__(), a))(x)
    tensor = torch.tensor(x, requires_grad=True)
    loss(torch_xp, tensor).backward()
    of_jax = jax.grad(fn(lambda a: loss(jax.numpy, a)))(jax.numpy.asarray(x))

    np.testing.assert_allclose(gradient, tensor.grad.numpy(), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(gradient, np.conj(np.asarray(of_jax)), rtol=1e-10, atol=1e-10)
