"""Products of stacks of matrices become one product, where one matrix multiplies all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradwrap as gw


def _rows(x: Any, w: Any) -> Any:
    return np.sum(np.tanh(x @ w))


def _vectors(x: Any, w: Any) -> Any:
    return np.sum((np.reshape(x, (*x.shape[:-1], 1, x.shape[-1])) @ w) ** 3)


def _other_axes(x: Any, w: Any) -> Any:
    return np.sum(np.sum(np.swapaxes(x, -1, -2) @ (x * x), axis=1) @ w)


def _sum_of_products(x: Any, w: Any) -> Any:
    return np.sum(np.tanh(np.sum(np.transpose(x, (0, 1, 3, 2)) @ (x * x), axis=(0, 1))) @ w)


@pytest.mark.parametrize("engine", ["numpy", "c"])
@pytest.mark.parametrize(
    ("fun", "products"),
    [
        (_rows, ["(1260, 24)"]),
        (_vectors, ["(1260, 24)"]),
        (_other_axes, []),
        (_sum_of_products, ["(1260, 24)"]),
    ],
)
@pytest.mark.parametrize("order", ["C", "F"])
def test_one_matrix_multiplies_a_stack_at_once(
    fun: Any, products: list[str], order: Any, engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADWRAP_CHECK", "1")
    rng = np.random.default_rng(5)
    x = np.asarray(rng.normal(size=(10, 18, 7, 24)), order=order)
    w = rng.normal(size=(24, 16)) / 5
    gradient = gw.grad(fun, argnums=(0, 1))
    compiled: Any = gw.compile(gradient, engine=engine)
    compiled(x, w)
    for one, other in zip(gradient(x, w), compiled(x, w), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-10)
    assert "eager" not in compiled.explain()
    if order == "C":
        assert all(shape in compiled.source for shape in products)
