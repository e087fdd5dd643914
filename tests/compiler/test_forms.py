"""Results whose shape or dtype depends on values: a later call never counts on those of the trace.

Each function is compiled at one point and called at others, where its results have another form.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
import gradwrap.scipy as gs

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.unverified  # a call runs eagerly where a form differs
sl: Any = importlib.import_module("scipy.linalg")
REAL = np.array([[2.0, 0.3], [0.1, 1.5]])
DEFICIENT = np.array([[1.0, 2.0], [2.0, 4.0]])
X = np.array([1.0, 2.0, 3.0, 0.5])


def total(found: Any) -> Any:
    """A number that depends on each element, and on its place."""
    weights = np.cos(np.arange(found.size)).reshape(found.shape)
    real = np.sum(np.real(found) * weights)
    return real + np.sum(np.imag(found) * (weights + 1)) if np.iscomplexobj(found) else real


def counts(x: Any) -> Any:
    return (x > 1.5) + 1


FUNCTIONS: dict[str, tuple[Callable[[Any], Any], list[Any]]] = {
    "sqrtm": (lambda a: gs.linalg.sqrtm(a), [REAL, -REAL]),
    "orth": (lambda a: gs.linalg.orth(a), [DEFICIENT, REAL]),
    "real_if_close": (
        lambda x: np.real_if_close(x * (1 + 0j) + 1j * np.maximum(x, 0)),
        [-X, X],
    ),
    "repeat": (lambda x: np.repeat(x, counts(x)), [X, 0.3 * X]),
    "repeat by name": (lambda x: np.repeat(x, repeats=counts(x)), [X, 0.3 * X]),
    "repeat of constants": (lambda x: x * np.sum(np.repeat(np.arange(4.0), counts(x))), [X, X / 9]),
    "method repeat": (lambda x: x.repeat(counts(x)), [X, 0.3 * X]),
    "tile": (lambda x: np.tile(x, counts(x)[:2]), [X, 3 * X]),
    "bincount": (lambda x: x * np.bincount((2 * x).astype(int)).size, [X, 0.3 * X]),
}


@pytest.mark.parametrize("engine", ["numpy", "c"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_result_of_another_form_is_that_of_the_function(name: str, engine: Any) -> None:
    function, points = FUNCTIONS[name]
    gradient = gw.grad(lambda x: total(function(x)))
    for order in (points, points[::-1]):
        compiled, value = gw.compile(gradient, engine=engine), gw.compile(function, engine=engine)
        for point in (*order, *order):
            wanted, found = gradient(point), compiled(point)
            assert found.dtype == wanted.dtype
            np.testing.assert_allclose(found, wanted, rtol=1e-12)
            right, made = function(point), value(point)
            assert made.dtype == right.dtype
            np.testing.assert_allclose(made, right, rtol=1e-12)


def test_gradient_of_a_root_that_becomes_complex() -> None:
    compiled = gw.compile(gw.grad(lambda a: total(gs.linalg.sqrtm(a))))
    compiled(REAL)

    found = compiled(-REAL)

    step = 1e-6 * np.array([[1.0, -2.0], [0.5, 1.5]])
    ends = [float(total(sl.sqrtm(-REAL + sign * step))) for sign in (1, -1)]
    np.testing.assert_allclose(np.sum(found * step), (ends[0] - ends[1]) / 2, rtol=1e-7)


def test_form_is_tested_in_each_turn_of_a_loop() -> None:
    def roots(a: Any) -> Any:
        for _ in range(40):
            a = gs.linalg.sqrtm(a) + a
        return total(a)

    gradient = gw.grad(roots)
    compiled = gw.compile(gradient)
    small = 1e-9 * REAL

    for point in (small, -small, small):
        found = compiled(point)
        assert found.dtype == float
        np.testing.assert_allclose(found, gradient(point), rtol=1e-9)


def test_repetition_by_a_number_has_no_branch() -> None:
    compiled = gw.compile(lambda x: np.repeat(x, 3) * np.tile(x, 3))

    compiled(X)

    assert "Missed" not in compiled.source
