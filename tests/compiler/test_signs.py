"""Negations that the compiler moves into other operations: exact to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradwrap as gw
from rolled import compiled_to, names

SIZE = 24
SPECIAL = [0.0, -0.0, np.inf, -np.inf, 5e-324, -1e-310, 1e308, -1e308, 1.0, -2.5]
UNARY: list[Any] = [np.negative, np.square, np.abs, np.cos, lambda x: -1 * x, lambda x: -1.0 * x]
BINARY: list[Any] = [np.add, np.subtract, np.multiply, np.divide]
NUMBERS = [2, -4.0, 0.5, 3.0, -1.0, 0, 1e15, 100]


def random_function(seed: int) -> Any:
    """Return a function that applies random arithmetic, and returns some of what it computed."""
    rng = np.random.default_rng(seed)
    steps: list[tuple[int, ...]] = [
        (int(rng.integers(3)), *map(int, rng.integers(1 << 16, size=4))) for _ in range(SIZE)
    ]
    wanted = [int(i) for i in rng.integers(2, SIZE + 2, size=3)]

    def function(x: Any, y: Any) -> Any:
        known = [x, y]
        for kind, which, one, other, where in steps:
            a, b = known[one % len(known)], known[other % len(known)]
            if kind == 0:
                known.append(UNARY[which % len(UNARY)](a))
            elif kind == 1:
                known.append(BINARY[which % 4](a, b))
            elif where % 2:
                known.append(BINARY[which % 4](a, NUMBERS[other % len(NUMBERS)]))
            else:
                known.append(BINARY[which % 4](NUMBERS[other % len(NUMBERS)], a))
        return [known[i] for i in wanted]

    return function


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("block", range(8))
def test_random_arithmetic_is_exact(block: int, dtype: str) -> None:
    """The signs of zeros are NumPy's, and so is what overflows; of NaNs it is that they are NaN."""
    with np.errstate(all="ignore"):
        for seed in range(25 * block, 25 * block + 25):
            rng = np.random.default_rng(seed)
            x, y = rng.normal(size=(2, 20)) * 10.0 ** rng.integers(-3, 3, size=(2, 20))
            x[rng.integers(20, size=6)] = rng.choice(SPECIAL, 6)
            x, y = x.astype(dtype), y.astype(dtype)
            function = random_function(seed)
            for mine, wanted in zip(gw.compile(function)(x, y), function(x, y), strict=True):
                assert mine.dtype == wanted.dtype
                assert np.array_equal(np.isnan(mine), np.isnan(wanted)), seed
                real = ~np.isnan(wanted)
                assert mine[real].tobytes() == wanted[real].tobytes(), seed


def _operations(function: Any, *args: Any) -> list[str]:
    return names(compiled_to(function, *args, roll=False))


X, Y, Z = np.random.default_rng(0).normal(size=(3, 5))
SHORTER: dict[str, tuple[Any, list[str]]] = {
    "a sum": (lambda x, y, z: x + (-y), ["subtract"]),
    "in front of a sum": (lambda x, y, z: (-y) + x, ["subtract"]),
    "a difference": (lambda x, y, z: x - (-y), ["add"]),
    "a product with a number": (lambda x, y, z: -x * 3.0, ["multiply"]),
    "a number times": (lambda x, y, z: -(3.0 * x), ["multiply"]),
    "a quotient": (lambda x, y, z: z + (-x) / y, ["divide", "subtract"]),
    "two negations": (lambda x, y, z: z + (-x) * (-y), ["multiply", "add"]),
    "through products": (lambda x, y, z: z - (-x) * y * z, ["multiply", "multiply", "add"]),
    "minus one": (lambda x, y, z: z + -1.0 * (x * y), ["multiply", "subtract"]),
    "the other factor": (lambda x, y, z: np.exp((-x) * (2.0 * y)), ["multiply", "multiply", "exp"]),
    "an even function": (lambda x, y, z: np.cos(-x), ["cos"]),
    "twice two": (lambda x, y, z: 100.0 * (2.0 * x), ["multiply"]),
}


@pytest.mark.parametrize("case", SHORTER)
def test_a_negation_costs_nothing(case: str) -> None:
    """The operation that reads it takes in the sign."""
    function, wanted = SHORTER[case]
    assert _operations(function, X, Y, Z) == wanted


KEPT: dict[str, tuple[Any, list[str]]] = {
    "of a sum, whose zero would change its sign": (
        lambda x, y, z: z * -(x + y),
        ["add", "negative", "multiply"],
    ),
    "that is returned": (lambda x, y, z: (-x, y - x), ["negative", "subtract"]),
    "of which the logarithm is taken": (lambda x, y, z: np.exp(-x), ["negative", "exp"]),
    "a product that is rounded twice": (lambda x, y, z: 3.0 * (0.1 * x), ["multiply", "multiply"]),
    "a half, which may be lost": (lambda x, y, z: 3.0 * (0.5 * x), ["multiply", "multiply"]),
}


@pytest.mark.parametrize("case", KEPT)
def test_what_is_not_exact_stays(case: str) -> None:
    function, wanted = KEPT[case]
    assert _operations(function, X, Y, Z) == wanted


def test_factors_of_half_precision_stay_apart() -> None:
    """Their product, 409,600, would be infinite."""
    function = gw.compile(lambda x: 100.0 * (4096.0 * x))
    x = np.full(3, 1e-4, np.float16)
    np.testing.assert_allclose([function(x), function(x)], 41.0, rtol=0.01)


def test_a_gradient_of_squared_differences() -> None:
    """Of the chain rule's negations none is left, and the second derivative is exact too."""

    def loss(x: Any) -> Any:
        return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)

    gradient, hessian = gw.grad(loss), gw.hessian(loss)
    assert "negative" not in _operations(gradient, X)
    assert np.array_equal(gw.compile(gradient)(X), gradient(X))
    assert np.array_equal(gw.compile(hessian)(X), hessian(X))
