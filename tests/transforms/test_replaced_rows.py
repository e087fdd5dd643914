"""A row whose formulas a user replaces is batched as before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.core.table.registry import find_op
from lambdas import fn

X = np.linspace(-1.0, 1.0, 6).reshape(3, 2)
W = np.array([[1.0, 2.0], [3.0, 4.0]])


def find(name: str) -> Any:
    op = find_op(name)
    assert op is not None
    return op


def test_an_elementwise_row_is_one_call_for_all_examples() -> None:
    gw.defvjp("tanh", lambda xp, g, out: 2.0 * g * (1.0 - out * out))

    def total(x: Any) -> Any:
        return np.sum(np.tanh(x))

    np.testing.assert_allclose(gw.vmap(fn(np.tanh), fallback="error")(X), np.tanh(X))
    found = gw.vmap(gw.grad(total), fallback="error")(X)
    np.testing.assert_allclose(found, 2.0 * (1.0 - np.tanh(X) ** 2))
    _, pushed = gw.jvp(gw.vmap(fn(np.tanh), fallback="error"), (X,), (np.ones_like(X),))
    np.testing.assert_allclose(pushed, 2.0 * (1.0 - np.tanh(X) ** 2))


def test_a_product_is_one_call_for_all_examples() -> None:
    gw.defvjp("matmul", lambda xp, g, x2: xp.matmul(x2, g), lambda xp, g: None)

    def product(x: Any) -> Any:
        return W @ x

    np.testing.assert_allclose(gw.vmap(product, fallback="error")(X), X @ W.T)
    np.testing.assert_allclose(gw.vmap(fn(lambda x: x @ W), fallback="error")(X), X @ W)


def test_a_row_without_batching_still_says_so() -> None:
    """A function of one's own is performed example by example, with a warning."""
    double = gw.primitive(fn(lambda x: 2.0 * x))
    gw.defvjp(double, lambda xp, g: 2.0 * g)
    with pytest.warns(gw.errors.VmapFallbackWarning):
        np.testing.assert_allclose(gw.vmap(double)(X), 2.0 * X)
