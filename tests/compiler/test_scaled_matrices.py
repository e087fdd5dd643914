"""A power of two times a large matrix moves to a smaller matrix of the products that read it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from sampling import crossed

if TYPE_CHECKING:
    from collections.abc import Callable

RNG = np.random.default_rng(0)
X, W = RNG.standard_normal((1200, 24)), RNG.standard_normal((24, 24))


def squares(x: Any, w: Any) -> Any:
    return np.sum((x @ w) ** 2)


def through_views(x: Any, w: Any) -> Any:
    return np.sum((np.reshape(x, (80, 15, 24)) @ w) ** 2)


def twice(x: Any, w: Any) -> Any:
    return np.sum((x @ w @ w) ** 2)


def halves(x: Any, w: Any) -> Any:
    return np.sum((0.5 * x) @ w) + np.sum((-4.0 * x) @ (w * w))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "dtype", "engine"),
    crossed([squares, through_views, twice, halves], [np.float64, np.float32], ["numpy", "c"]),
)
def test_gradients_are_those_of_the_function(
    function: Callable[..., Any], dtype: Any, engine: str
) -> None:
    gradient = gw.grad(function, (0, 1))
    compiled = gw.compile(gradient, engine=engine)
    x, w = X.astype(dtype), W.astype(dtype)
    for arguments in ((x, w), (2 * x, w - 1), (np.asfortranarray(x), w.T)):
        for found, wanted in zip(compiled(*arguments), gradient(*arguments), strict=True):
            assert found.dtype == wanted.dtype
            np.testing.assert_allclose(found, wanted, rtol=1e4 * np.finfo(dtype).eps)


def scaled_shapes(compiled: Any) -> list[tuple[int, ...]]:
    """Return the shapes of the arrays that the program scales by a number."""
    (program,) = compiled.programs
    return [
        program.values[step.out].shape
        for step in program.root.body
        if step.name in ("add", "multiply")
        and (step.name == "add") == (step.args[0] == step.args[-1])
        and len(set(step.reads)) == 1
    ]


@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (squares, [(24, 24), (24, 24)]),
        (through_views, [(24, 24), (24, 24)]),
        (twice, [(24, 24), (24, 24)]),
    ],
)
def test_the_smaller_matrices_are_scaled(
    function: Callable[..., Any], shapes: list[tuple[int, ...]]
) -> None:
    compiled = gw.compile(gw.grad(function, (0, 1)))
    compiled(X, W)
    assert scaled_shapes(compiled) == shapes


def _with_sum(x: Any, w: Any) -> Any:
    y = 2.0 * (x @ w)
    return np.sum(y @ w) + np.sum(np.abs(y))


def _by_three(x: Any, w: Any) -> Any:
    return np.sum((3.0 * x) @ w)


def _small(x: Any, w: Any) -> Any:
    return np.sum((2.0 * w) @ x.T[:, :24])


def _of_both(x: Any, w: Any) -> Any:
    y = 2.0 * x
    return np.sum(y.T @ y) + np.sum(w)


@pytest.mark.parametrize(
    ("function", "shape"),
    [(_with_sum, (1200, 24)), (_by_three, (1200, 24)), (_small, (24, 24)), (_of_both, (1200, 24))],
)
def test_other_multiples_stay(function: Callable[..., Any], shape: tuple[int, ...]) -> None:
    """A sum reads the multiple as well, it is not exact, or no other matrix is smaller."""
    compiled = gw.compile(function)
    np.testing.assert_allclose(compiled(X, W), function(X, W))
    assert scaled_shapes(compiled) == [shape]
