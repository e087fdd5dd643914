"""Random programs: operations, views, writes through views, in place; run as plain NumPy code.

The reference is NumPy itself: the value must be NumPy's, the gradient that of central differences.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw

if TYPE_CHECKING:
    from collections.abc import Callable

KINDS: tuple[str, ...] = (
    "binary",
    "unary",
    "index",
    "set",
    "add_in_place",
    "rows",
    "transposed",
    "matmul",
)
KINDS += ("concatenate", "sum", "einsum")
Step = tuple[str, int, int, int]


def steps_of(seed: int) -> list[Step]:
    source = random.Random(seed)
    count = source.randint(2, 9)
    return [
        (source.choice(KINDS), source.randint(0, 2), source.randint(0, 2), source.randint(0, 9))
        for _ in range(count)
    ]


def apply_step(step: Step, a: Any, b: Any) -> Any:  # noqa: C901, PLR0911  a menu
    """One step on two 3 x 3 arrays; gives a new array, or None where it only wrote to `a`."""
    kind, i, j, _ = step
    if kind == "binary":
        return (a + b, a * b * 0.5, a - b)[i]
    if kind == "unary":
        return (np.sin(a), np.tanh(a), a**2 * 0.3)[i]
    if kind == "index":
        return a[::-1, [2, 0, 1]]
    if kind == "set":
        c = a.copy()
        c[i] = b[j]
        return c
    if kind == "add_in_place":
        a += b * 0.3
        return None
    if kind == "rows":
        row, column = a[i], a[:, j]
        row *= 1.5
        column[0] = b[1, 1]
        return a * b
    if kind == "transposed":
        turned = a.T
        turned[i] = b[j] * 2
        reversed_columns = turned[:, ::-1]
        a[j] += 1.0
        return reversed_columns + 0.0
    if kind == "matmul":
        return a.T @ b * 0.2
    if kind == "concatenate":
        return np.concatenate([a[:1], b[1:]])
    if kind == "sum":
        return a - np.sum(b, axis=i % 2, keepdims=True) * 0.1
    return np.einsum("ij,kj->ik", a, b) * 0.1


def program(seed: int) -> Callable[[Any], Any]:
    steps = steps_of(seed)

    def run(x: Any) -> Any:
        values = [x * 1.0, x + 0.5]
        for step in steps:
            at = step[3] % len(values)
            result = apply_step(step, values[at], values[(at + step[1] + 1) % len(values)])
            if result is not None:
                values.append(result)
        return sum(np.sum(value * value * (n + 1)) for n, value in enumerate(values))

    return run


def forget(leaf: Any) -> None:
    leaf.grad = None


@pytest.mark.parametrize("seed", range(200))
def test_program_has_numpys_value_and_the_numerical_gradient(seed: int) -> None:
    f = program(seed)
    random_numbers = np.random.default_rng(seed)
    x = random_numbers.normal(size=(3, 3)) * 0.5
    direction = random_numbers.normal(size=(3, 3))
    before = x.copy()

    value, gradient = gw.value_and_grad(f)(x)

    step = 1e-6
    numerical = (f(x + step * direction) - f(x - step * direction)) / (2 * step)
    np.testing.assert_allclose(value, f(x), rtol=1e-12)
    np.testing.assert_allclose(np.sum(gradient * direction), numerical, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize("seed", range(60))
def test_second_order_by_nesting_and_by_create_graph_is_the_numerical_one(seed: int) -> None:
    f = program(seed)
    random_numbers = np.random.default_rng(seed)
    x = random_numbers.normal(size=(3, 3)) * 0.5
    direction = random_numbers.normal(size=(3, 3))
    gradient = gw.grad(f)

    nested = gw.grad(lambda z: np.sum(gradient(z) * direction))(x)
    leaf: Any = gw.wrap(x, requires_grad=True)
    f(leaf).backward(create_graph=True)
    first = leaf.grad
    forget(leaf)
    tracked: Any = np.sum(first * direction)
    tracked.backward()

    step = 1e-6
    numerical = (gradient(x + step * direction) - gradient(x - step * direction)) / (2 * step)
    np.testing.assert_allclose(nested, numerical, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(gw.unwrap(leaf.grad), nested, rtol=1e-9, atol=1e-9)
