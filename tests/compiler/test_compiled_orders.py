"""Orders of memory in a trace: `order=`, copies, `flags` and strides are those of NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw

if TYPE_CHECKING:
    from collections.abc import Callable

X = np.linspace(0.1, 1.5, 12)
COLUMNS: Any = np.asfortranarray(np.arange(12.0).reshape(3, 4))
CUBE: Any = np.arange(24.0).reshape(2, 3, 4)

MADE: dict[str, Callable[[Any], Any]] = {
    "array": lambda a: np.array(a.T),
    "array F": lambda a: np.array(a, dtype=np.float64, order="F"),
    "array C": lambda a: np.array(a.T, order="C"),
    "asarray F": lambda a: np.asarray(a, order="F"),
    "asfortranarray": np.asfortranarray,
    "ascontiguousarray": lambda a: np.ascontiguousarray(a.T),
    "transpose": lambda a: a.T,
    "copy F": lambda a: a.copy(order="F"),
    "copy A": lambda a: a.T.copy(order="A"),
    "copy K": lambda a: a.T.copy(order="K"),
    "copy": lambda a: np.copy(a.T, order="C"),
    "astype": lambda a: a.T.astype(np.float32),
    "zeros F": lambda a: np.zeros(a.shape, order="F"),
    "empty F": lambda a: np.empty(a.shape, order="F"),
    "ones F": lambda a: np.ones(a.shape, order="F"),
    "full F": lambda a: np.full(a.shape, a[0, 0], order="F"),
    "zeros_like": lambda a: np.zeros_like(a.T),
    "empty_like of a plain array": lambda a: np.empty_like(COLUMNS) * a[0, 0],
    "full_like": lambda a: np.full_like(a.T, a[1, 1]),
    "times a plain array": lambda a: COLUMNS * a[0, 0],
    "of both orders": lambda a: COLUMNS + a,
    "delete": lambda a: np.delete(a.T, 0, axis=0),
    "insert": lambda a: np.insert(a.T, 1, 2.0, axis=0),
    "inverse": lambda a: np.linalg.inv(a[:, :3] + 3 * np.eye(3)),
    "part": lambda a: np.asfortranarray(a)[:, 1:3],
    "rows": lambda a: np.asfortranarray(a)[1:3],
    "reshaped": lambda a: a.reshape(4, 3, order="F"),
    "cube": lambda a: np.array((CUBE * a[0, 0]).transpose(1, 0, 2), order="K"),
    "cube F": lambda a: np.asfortranarray(CUBE * a[0, 0]),
    "cube like": lambda a: np.zeros_like(CUBE.transpose(1, 2, 0) * a[0, 0]),
}
seen: list[tuple[bool, bool]] = []


def flags_of(name: str, x: Any) -> Any:
    made = MADE[name](x.reshape(3, 4))
    seen.append((bool(made.flags.c_contiguous), bool(made.flags.f_contiguous)))
    return np.sum(x * x)


@pytest.mark.parametrize("name", MADE)
def test_flags_are_those_of_numpy_in_each_run(name: str) -> None:
    seen.clear()
    flags_of(name, X)
    compiled = gw.compile(gw.grad(gw.adapting(lambda x: flags_of(name, x))))
    np.testing.assert_array_equal(compiled(X), 2 * X)
    assert len(compiled.programs) == 1
    assert len(seen) > 2
    assert len(set(seen)) == 1


def filled(x: Any) -> Any:
    """An array in Fortran's order that is written to, and read in the order of its memory."""
    made = np.empty((3, 4), order="F")
    made[:] = x.reshape(3, 4)
    made[0, 1] = x[5] ** 2
    return np.sum(np.ravel(made, order="A") ** 2 * np.arange(12.0))


def viewed(x: Any) -> Any:
    """A copy of an array that is seen through axes in another order."""
    made = np.array(x.reshape(3, 2, 2).transpose(1, 0, 2), order="K")
    made[1] *= 2.0
    return np.sum(np.ravel(made, order="K") ** 2 * np.arange(12.0))


@pytest.mark.parametrize("engine", ["numpy", "c"])
@pytest.mark.parametrize("function", [filled, viewed])
def test_elements_are_read_in_the_order_of_memory(function: Any, engine: Any) -> None:
    slope = gw.grad(gw.adapting(function))
    compiled = gw.compile(slope, engine=engine)
    for x in (X, X[::-1].copy(), X**2):
        ends = [function(x + h) for h in 1e-6 * np.vstack([np.eye(12), -np.eye(12)])]
        np.testing.assert_allclose(
            compiled(x), (np.array(ends[:12]) - ends[12:]) / 2e-6, rtol=1e-6, atol=1e-8
        )
        np.testing.assert_allclose(compiled(x), slope(x), rtol=1e-13)
    assert len(compiled.programs) == 1


weights: Any = np.arange(6.0).reshape(2, 3)


def by_order(x: Any, given: Any = None) -> Any:
    made = (weights if given is None else given) * x
    return np.sum(made * (2.0 if made.flags.f_contiguous else 1.0))


def test_an_array_outside_that_comes_to_have_another_order_is_noticed() -> None:
    global weights  # noqa: PLW0603  a variable of the module is what is tested
    compiled = gw.compile(gw.grad(by_order))
    try:
        assert compiled(np.array(2.0)) == 15.0
        weights = np.asfortranarray(weights)
        assert compiled(np.array(2.0)) == 30.0
    finally:
        weights = np.ascontiguousarray(weights)
    assert compiled(np.array(2.0)) == 15.0


def test_the_order_of_a_static_array_is_part_of_the_signature() -> None:
    compiled = gw.compile(gw.grad(by_order), static="given")
    given = np.arange(6.0).reshape(2, 3)
    assert compiled(np.array(2.0), given) == 15.0
    assert compiled(np.array(2.0), np.asfortranarray(given)) == 30.0
    assert len(compiled.programs) == 2
