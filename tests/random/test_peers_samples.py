"""Derivatives of samples against those of PyTorch and JAX."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import gradwrap
import gradwrap.random as ours

pytestmark = pytest.mark.peers
stats: Any = importlib.import_module("scipy.stats")
gw: Any = gradwrap  # called in every way
ALPHA = np.array([0.4, 2.0, 1.3, 6.0])
WEIGHTS = np.array([1.0, -2.0, 0.5, 3.0])


def _dirichlet(alpha: Any) -> Any:
    return np.sum(ours.default_rng(3).dirichlet(alpha, size=50) @ WEIGHTS)


def test_dirichlet_is_pytorchs() -> None:
    torch: Any = pytest.importorskip("torch")
    x = torch.tensor(np.random.default_rng(3).dirichlet(ALPHA, size=50))
    alpha = torch.tensor(ALPHA).expand(50, 4)
    slope = torch._dirichlet_grad(x, alpha, alpha.sum(-1, True).expand(50, 4))
    weights = torch.tensor(WEIGHTS)
    wanted = (slope * (weights - (x * weights).sum(-1, True))).sum(0)
    found = gw.grad(_dirichlet)(ALPHA)
    np.testing.assert_allclose(found, wanted.numpy(), rtol=2e-3)  # PyTorch's is an approximation


def test_dirichlet_is_the_mean_of_jaxs() -> None:
    """JAX normalises gamma variates; given the sample, their sum has a gamma distribution."""
    jax: Any = pytest.importorskip("jax")
    x = np.random.default_rng(3).dirichlet(ALPHA, size=3)
    totals = stats.gamma.ppf((np.arange(400) + 0.5) / 400, ALPHA.sum())
    y = totals[:, None, None] * x
    with jax.enable_x64(True):
        slope = np.asarray(jax.lax.random_gamma_grad(np.broadcast_to(ALPHA, y.shape), y))
    moved = np.mean(slope / totals[:, None, None], axis=0)
    wanted = np.sum(moved * (WEIGHTS - (x @ WEIGHTS)[:, None]), axis=0)
    found = gw.grad(lambda a: np.sum(ours.default_rng(3).dirichlet(a, size=3) @ WEIGHTS))(ALPHA)
    np.testing.assert_allclose(found, wanted, rtol=1e-2)


@pytest.mark.parametrize("shape", [0.05, 0.7, 1.0, 3.0, 40.0])
def test_gamma_is_jaxs(shape: float) -> None:
    jax: Any = pytest.importorskip("jax")
    x = np.random.default_rng(1).standard_gamma(shape, size=100)
    with jax.enable_x64(True):
        wanted = np.asarray(jax.lax.random_gamma_grad(np.full(100, shape), x))
    sample = gw.vjp(lambda a: ours.default_rng(1).standard_gamma(a, size=100), shape)[0]
    found = gw.jvp(lambda a: ours.default_rng(1).standard_gamma(a, size=100), (shape,), (1.0,))[1]
    np.testing.assert_array_equal(sample, x)
    np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-12)


def test_vectors_are_pytorchs_and_jaxs() -> None:
    torch: Any = pytest.importorskip("torch")
    mean, cov = np.array([0.2, -1.0]), np.array([[2.0, 0.3], [0.3, 1.0]])
    x = np.random.default_rng(3).multivariate_normal(mean, cov)
    z = np.linalg.solve(np.linalg.cholesky(cov), x - mean)
    tensor = torch.tensor(cov, requires_grad=True)
    (torch.linalg.cholesky(tensor) @ torch.tensor(z)).cos().sum().backward()
    found = gw.grad(
        lambda c: np.sum(np.cos(ours.default_rng(3).multivariate_normal(mean, c) - mean))
    )
    np.testing.assert_allclose(found(cov), tensor.grad.numpy(), rtol=1e-9)
