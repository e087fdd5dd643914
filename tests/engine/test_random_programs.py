"""Random programs: operations, views, writes through views, in place; run as plain NumPy code.

The reference is NumPy itself: the value must be NumPy's, the gradient that of central differences.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradwrap as gw

if TYPE_CHECKING:
    from collections.abc import Callable

KEYS: list[Any] = [
    0,
    -1,
    slice(1, None),
    (slice(None), 1),
    (slice(None, None, -1), slice(0, 2)),
    (1, 2),
    [2, 0],
    [1, 1],
    (slice(None), [0, 2]),
    np.array([True, False, True]),
    Ellipsis,
]
VIEWS: list[Callable[[Any], Any]] = [
    lambda a: a[:, ::-1],
    lambda a: a.T,
    lambda a: a.reshape(3, 3),
    lambda a: a[...],
    lambda a: np.flip(a),
    lambda a: a[::-1].T,
    lambda a: np.expand_dims(a, 0)[0],
]
UNARY: list[Callable[[Any], Any]] = [np.sin, np.tanh, lambda a: a**2 * 0.3]
BINARY: list[Callable[[Any, Any], Any]] = [
    np.add,
    np.subtract,
    lambda a, b: a * b * 0.5,
    lambda a, b: np.tanh(a) * b,
]


def write(a: Any, b: Any, k: int) -> None:
    key = KEYS[k % len(KEYS)]
    a[key] = np.sin(b)[key]


def add_at(a: Any, b: Any, k: int) -> None:
    key = KEYS[k % len(KEYS)]
    a[key] += np.cos(b)[key]


def add_in_place(a: Any, b: Any, k: int) -> None:
    a += b * 0.3


def multiply_in_place(a: Any, b: Any, k: int) -> None:
    a *= np.cos(b)


def write_to_each_row(a: Any, b: Any, k: int) -> None:
    for row in a:
        row[k % 3 :] = np.sin(row[k % 3 :]) + 0.1


def write_to_row_and_column(a: Any, b: Any, k: int) -> Any:
    row, column = a[k % 3], a[:, k // 3 % 3]
    row *= 1.5
    column[0] = b[1, 1]
    return a * b


def write_to_the_transpose(a: Any, b: Any, k: int) -> Any:
    turned = a.T
    turned[k % 3] = b[k // 3 % 3] * 2
    reversed_columns = turned[:, ::-1]
    a[k // 3 % 3] += 1.0
    return reversed_columns + 0.0


def write_to_a_copy(a: Any, b: Any, k: int) -> Any:
    copied = a.copy()
    copied[k % 3] = b[k // 3 % 3]
    return copied


STEPS: dict[str, Callable[[Any, Any, int], Any]] = {
    "write": write,
    "add_at": add_at,
    "add_in_place": add_in_place,
    "multiply_in_place": multiply_in_place,
    "write_to_each_row": write_to_each_row,
    "write_to_row_and_column": write_to_row_and_column,
    "write_to_the_transpose": write_to_the_transpose,
    "write_to_a_copy": write_to_a_copy,
    "view": lambda a, b, k: VIEWS[k % len(VIEWS)](a),
    "copy": lambda a, b, k: a.copy(),
    "unary": lambda a, b, k: UNARY[k % len(UNARY)](a),
    "binary": lambda a, b, k: BINARY[k % len(BINARY)](a, b),
    "index": lambda a, b, k: a[::-1, [2, 0, 1]],
    "matmul": lambda a, b, k: a.T @ b * 0.2,
    "concatenate": lambda a, b, k: np.concatenate([a[:1], b[1:]]),
    "sum": lambda a, b, k: a - np.sum(b, axis=k % 2, keepdims=True) * 0.1,
    "einsum": lambda a, b, k: np.einsum("ij,kj->ik", a, b) * 0.1,
}
"""Steps on two 3 x 3 arrays: each gives an array, or None where it only wrote to `a`."""
Step = tuple[str, int, int, int]


def program(steps: list[Step]) -> Callable[[Any], Any]:
    """Return a function of a 3 x 3 array; the steps' arrays may be views of each other."""

    def run(x: Any) -> Any:
        start = np.full((3, 3), 0.3)
        arrays = [start if type(x) is np.ndarray else gw.wrap(start), x * 1.0, x + 0.5]
        for kind, i, j, k in steps:
            result = STEPS[kind](arrays[i % len(arrays)], arrays[j % len(arrays)], k)
            if result is not None:
                arrays.append(result)
        return sum(np.sum(np.sin(a) * a * (n + 1)) for n, a in enumerate(arrays))

    return run


def chosen_by(seed: int) -> list[Step]:
    source = random.Random(seed)
    kinds = list(STEPS)
    return [
        (source.choice(kinds), source.randint(0, 9), source.randint(0, 9), source.randint(0, 20))
        for _ in range(source.randint(2, 9))
    ]


def slope(f: Callable[[Any], Any], x: Any, direction: Any) -> Any:
    """Return the derivative along a direction, by central differences."""
    return (f(x + 1e-6 * direction) - f(x - 1e-6 * direction)) / 2e-6


def forget(leaf: Any) -> None:
    leaf.grad = None


def check_first_order(steps: list[Step], seed: int) -> None:
    f = program(steps)
    x, direction = np.random.default_rng(seed).normal(size=(2, 3, 3)) * 0.5
    before = x.copy()

    value, gradient = gw.value_and_grad(f)(x)

    np.testing.assert_allclose(value, f(x), rtol=1e-12)
    numerical = slope(f, x, direction)
    np.testing.assert_allclose(np.sum(gradient * direction), numerical, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(x, before)


def check_second_order(steps: list[Step], seed: int) -> None:
    f = program(steps)
    x, direction = np.random.default_rng(seed).normal(size=(2, 3, 3)) * 0.5
    gradient = gw.grad(f)

    nested = gw.grad(lambda z: np.sum(gradient(z) * direction))(x)
    leaf: Any = gw.wrap(x, requires_grad=True)
    f(leaf).backward(create_graph=True)
    first = leaf.grad
    forget(leaf)
    tracked: Any = np.sum(first * direction)
    tracked.backward()

    numerical = slope(gradient, x, direction)
    np.testing.assert_allclose(nested, numerical, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(gw.unwrap(leaf.grad), nested, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", range(200))
def test_program_has_numpys_value_and_the_numerical_gradient(seed: int) -> None:
    check_first_order(chosen_by(seed), seed)


@pytest.mark.parametrize("seed", range(60))
def test_second_order_by_nesting_and_by_create_graph_is_the_numerical_one(seed: int) -> None:
    check_second_order(chosen_by(seed), seed)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(list(STEPS)), st.integers(0, 5), st.integers(0, 5), st.integers(0, 20)
        ),
        min_size=1,
        max_size=10,
    )
)
def test_random_programs(steps: list[Step]) -> None:
    """Where one fails, hypothesis finds the shortest that does."""
    check_first_order(steps, 0)
    check_second_order(steps, 0)
