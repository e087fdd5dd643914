"""Products of ever more or fewer columns are joined into products of matrices."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import gradwrap as gw
import gradwrap.numpy as gnp
from gradwrap.compiler.passes import growing


def _pairs(x: Any, y: Any) -> Any:
    """Multiply each column with those from its own on."""
    found = gnp.zeros((x.shape[1], x.shape[1]))
    for i in range(x.shape[1]):
        found[i:, i] = found[i, i:] = x[:, i] @ x[:, i:] / 3.0
    return np.sum(found * found * y)


def _rows(x: Any, y: Any) -> Any:
    """Multiply each row with those up to its own, from the last to the first."""
    found = gnp.zeros((x.shape[1], x.shape[1]))
    turned, other = x.T, y @ y
    for i in range(len(turned) - 1, -1, -1):
        found[i, : i + 1] = other[: i + 1, : len(x)] @ turned[i]
    return np.sum(found**3)


def _vectors(x: Any, y: Any) -> Any:
    """Multiply ever more columns with vectors that need no earlier product."""
    total = 0.0
    for i in range(1, x.shape[1]):
        total = total + np.sin(x[:, :i] @ np.cos(y[i, :i]))
    return np.sum(total * total)


def _chain(x: Any, y: Any) -> Any:
    """Multiply ever fewer columns with a vector that needs the product before: it stays."""
    vector = x[0]
    for i in range(x.shape[1]):
        vector = np.tanh(x[: x.shape[1] - i, i:] @ vector)[:-1] if i < 18 else vector
    return np.sum(vector) + np.sum(y)


def _changed(x: Any, y: Any) -> Any:
    """Multiply with columns that are written in between."""
    x = np.copy(x)
    total = 0.0
    for i in range(x.shape[1] - 1):
        total = total + np.sum(np.sin(x[:, i] @ x[:, i:]))
        x[:, i + 1] = y[: len(x), 0] * x[:, i + 1]
    return total


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("engine", ["numpy", "c"])
@pytest.mark.parametrize(
    ("fun", "is_joined"),
    [(_pairs, True), (_rows, True), (_vectors, True), (_chain, False), (_changed, False)],
)
def test_growing_products(
    fun: Any, is_joined: bool, engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADWRAP_CHECK", "1")
    monkeypatch.setattr(growing, "LEAST", 1)
    monkeypatch.setattr(growing, "BLOCK", 8)
    rng = np.random.default_rng(7)
    x, y = rng.normal(size=(21, 20)) / 4, rng.normal(size=(21, 21)) / 4
    x = x[:20] if fun in (_chain, _pairs) else x
    y = y[:20, :20] if fun is _pairs else y
    gradient = gw.value_and_grad(fun, (0, 1))
    compiled: Any = gw.compile(gradient, engine=engine)
    compiled(0.5 * x, y)
    value, found = compiled(x, y)
    wanted: Any = gradient(x, y)
    np.testing.assert_allclose(value, wanted[0], rtol=1e-12)
    for one, other in zip(found, wanted[1], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)
    y = np.ones_like(y)  # an infinity stays in the turns that read it
    x[3, 9], x[5, 11] = np.inf, np.nan
    for one, other in zip(compiled(x, y)[1], gradient(x, y)[1], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)
    program = compiled.programs[0]
    names = ("matmul", "padded_product")
    products = [one for one in program.root.body if getattr(one, "name", "") in names]
    ranks = [len(program.values[one.out].shape) for one in products]
    plain = 3 if fun is _rows else 0  # products of two matrices before any are joined
    assert (ranks.count(2) > plain) == is_joined


def test_results_that_are_rounding_alone_come_from_a_program_that_rounds_as_eager_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def function(x: Any) -> Any:
        """Return a sum of correlations, whose gradient is zero if all columns agree."""
        x = (x - np.mean(x, axis=0)) / np.std(x, axis=0)
        found = gnp.zeros((x.shape[1], x.shape[1]))
        for i in range(x.shape[1]):
            found[i:, i] = found[i, i:] = x[:, i] @ x[:, i:]
        return np.sum(found * found)

    monkeypatch.setattr(growing, "LEAST", 1)
    x = np.outer(np.linspace(1.0, 3.0, 30), np.arange(1.0, 22.0))
    gradient = gw.grad(function)
    assert np.max(np.abs(gradient(x))) < 1e-9
    compiled: Any = gw.compile(gradient)
    compiled(x)
    assert np.array_equal(compiled(x), gradient(x))
    assert "engine: numpy" in compiled.explain()
    assert "loops were not rolled" in compiled.explain()


def _attention(q: Any, k: Any, v: Any) -> Any:
    """Attend to the rows up to each one."""
    total = 0.0
    for i in range(len(q)):
        e = np.exp(k[: i + 1] @ q[i] / 3.0)
        total = total + np.sum(np.tanh((e / np.sum(e)) @ v[: i + 1]))
    return total


def test_arrays_of_different_shapes_share_memory_one_after_the_other() -> None:
    rng = np.random.default_rng(0)
    given = [rng.normal(size=(60, 40)) for _ in range(3)]
    gradient = gw.grad(_attention, (0, 1, 2))
    made = gw.compile(gradient)
    first = made(*given)
    (size,) = re.findall(r"workspace: (\d+) bytes", made.explain())
    assert int(size) < 12 * 60 * 40 * 8  # outer products of all turns would take 30 times as much
    assert re.search(r"w\d+ = w\d+\[:\d+\]\.reshape", made.source)
    others = [1.1 * one for one in given]
    np.testing.assert_allclose(made(*others), gradient(*others), rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(first, gradient(*given), rtol=1e-11, atol=1e-13)
