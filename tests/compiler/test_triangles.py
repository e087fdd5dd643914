"""Large systems with a Cholesky factor are solved block by block."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.compiler.passes import triangles


def _factor(a: Any, b: Any) -> Any:
    return np.sum(np.linalg.cholesky(a) ** 2 * b)


def _solved(a: Any, b: Any) -> Any:
    lower = np.linalg.cholesky(a)
    return np.sum(np.linalg.solve(lower, b) ** 3) + np.sum(np.linalg.solve(lower.T, b.T) ** 2)


def _upper(a: Any, b: Any) -> Any:
    return np.sum(np.linalg.solve(np.linalg.cholesky(a, upper=True), b) ** 3)


@pytest.mark.parametrize("size", [32, 35])
@pytest.mark.parametrize("fun", [_factor, _solved, _upper])
def test_a_triangular_system_is_solved_by_blocks(
    fun: Any, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADWRAP_CHECK", "1")
    rng = np.random.default_rng(4)
    b = rng.normal(size=(size, size))
    a = b @ b.T / size + 2.0 * np.eye(size)
    gradient = gw.grad(fun, argnums=(0, 1))
    plain: Any = gw.compile(gradient)
    plain(a, b)
    monkeypatch.setattr(triangles, "BLOCK", 8)
    monkeypatch.setattr(triangles, "LEAST", 16)
    compiled: Any = gw.compile(gradient)
    compiled(a, b)
    for one, other in zip(gradient(a, b), compiled(a, b), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-11)
    assert "eager" not in compiled.explain()
    steps = [step.name for step in compiled.programs[0].root.body]
    before = [step.name for step in plain.programs[0].root.body]
    blocks = -(-size // 8)
    assert "linalg.solve" in before
    assert "linalg.solve" not in steps
    assert steps.count("linalg.inv") % blocks == 0


def _left(a: Any, b: Any) -> Any:
    return np.tril(a) @ b, np.triu(b, 1) @ a


def _turned(a: Any, b: Any) -> Any:
    return np.tril(a).T @ b.T, np.triu(b).T @ a.T


def _needed(a: Any, b: Any) -> Any:
    product = a @ b
    return np.tril(product) + np.tril(product, -2) ** 2, np.triu(b @ a, 1)


def _both(a: Any, b: Any) -> Any:
    return np.triu(np.triu(a) @ b), np.tril(np.triu(a).T @ b.T, -1)


def _neither(a: Any, b: Any) -> Any:
    product = a @ b
    return np.tril(a, 1) @ b, np.triu(a, -1) @ b, np.tril(product), np.triu(product)


@pytest.mark.parametrize("engine", ["numpy", "c"])
@pytest.mark.parametrize("shape", [(32, 32), (35, 21), (21, 35)])
@pytest.mark.parametrize(
    ("fun", "is_cut"),
    [(_left, True), (_turned, True), (_needed, True), (_both, True), (_neither, False)],
)
def test_a_product_with_a_triangle_leaves_zeros_out(
    fun: Any, is_cut: bool, shape: tuple[int, int], engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADWRAP_CHECK", "1")
    monkeypatch.setattr(triangles, "BLOCK", 8)
    monkeypatch.setattr(triangles, "LEAST", 16)
    rng = np.random.default_rng(6)
    a, b = rng.normal(size=shape), rng.normal(size=shape[::-1])
    compiled: Any = gw.compile(fun, engine=engine)
    compiled(a, b)
    for one, other in zip(fun(a, b), compiled(a, b), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
    steps = [step.name for step in compiled.programs[0].root.body]
    assert ("setitem" in steps) == is_cut


def test_a_transpose_that_swaps_no_axes_leaves_the_triangle(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def solved(a: Any, b: Any) -> Any:
        return np.linalg.solve(np.transpose(np.linalg.cholesky(a), (0, 1)), b)

    monkeypatch.setattr(triangles, "BLOCK", 8)
    monkeypatch.setattr(triangles, "LEAST", 16)
    b = np.random.default_rng(4).normal(size=(20, 20))
    a = b @ b.T / 20 + 2.0 * np.eye(20)
    compiled: Any = gw.compile(solved)
    compiled(a, b)
    np.testing.assert_allclose(compiled(2 * a, b), solved(2 * a, b), rtol=1e-11, atol=1e-12)
