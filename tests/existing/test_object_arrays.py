"""Arrays of Python objects in adapted code, and adapted functions that are compiled."""

from __future__ import annotations

import importlib
import math
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw

if TYPE_CHECKING:
    from collections.abc import Callable

X = np.array([0.5, 1.5])
linalg: Any = importlib.import_module("scipy.linalg")


def differences(function: Callable[[Any], Any]) -> Any:
    steps = 1e-6 * np.eye(2)
    return np.array([(function(X + e) - function(X - e)) / 2e-6 for e in steps], dtype=float)


def filled(x: Any) -> Any:
    a = np.empty(2, dtype=object)
    a[0], a[1] = x[0], x[1] * 2
    return np.sum(a**2) + np.dot(a, a)


def of_a_list(x: Any) -> Any:
    a = np.array([math.sin(x[0]), None, x[1]], dtype=object)
    return a[0] * a[2]


def of_rows(x: Any) -> Any:
    a = np.asarray([x, x * 2], dtype=object)
    return a[1][0] * a[0][1] + a.shape[1] * a[0, 0]


def back(x: Any) -> Any:
    a = np.array([x[0], x[1]], dtype=object)
    return np.exp(a.astype(float)).sum() + (np.asarray(a, dtype=float) * a.sum()).sum()


def stored(x: Any) -> Any:
    a = np.zeros(2, dtype=object)
    a[:] = x
    return a.sum() * a[0]


def surfaces(x: Any) -> Any:
    table = np.arange(4.0).reshape(2, 2) * x[0]
    polynomial = np.polynomial.polynomial
    return polynomial.polyval2d(x[0], x[1], table) + np.sum(polynomial.polygrid2d(x, x, table))


GRID = np.empty(2, dtype=object)
GRID[:] = [np.array([[0.3, 0.7]]), np.array([[0.2], [0.9]])]


def beside_plain_objects(x: Any) -> Any:
    distance = np.linalg.norm(GRID - x)
    return np.sum(np.cos(distance) * np.exp(GRID[0] * x[0])) + np.sum(np.inner(GRID, x))


def polynomials(x: Any) -> Any:
    line, by_roots = np.poly1d([x[0], 1.0]), np.poly1d((x[1], 2.0), True)
    product = (line * by_roots).deriv()
    assert isinstance(product, np.poly1d)
    roots = np.sum(np.abs(np.poly1d([1.0, -9.0, x[0] * x[1]]).r) ** 3)
    return product(x[1]) + line[1] ** 2 + roots + np.poly1d([2.0, 1.0])(x[0])


@pytest.mark.parametrize(
    "function",
    [polynomials, filled, of_a_list, of_rows, back, stored, surfaces, beside_plain_objects],
)
def test_arrays_of_objects_and_surfaces(function: Callable[[Any], Any]) -> None:
    expected, adapted = differences(function), gw.adapting(function)
    assert np.allclose(gw.grad(adapted)(X), expected, rtol=1e-6)
    forward = [gw.jvp(adapted, (X,), (e,))[1] for e in np.eye(2)]
    assert np.allclose(forward, expected, rtol=1e-6)


# Compiled -----------------------------------------------------------------------------------------


def of_numbers(x: Any) -> Any:
    return math.sin(x[0]) * math.exp(x[1]) + math.hypot(x[0], x[1]) + math.log(x[1], 3.0)


def checked(x: Any) -> Any:
    out = np.zeros(2)
    out[0] = float(x[0]) if isinstance(x, np.ndarray) and isinstance(x[0], float) else 0.0
    out[1] = np.float64(x[1]) * (2.0 if type(x) is np.ndarray else 1.0)
    return np.sum(np.asarray(out, dtype=float) ** 2)


def in_turns(x: Any) -> Any:
    t = 0.0
    for i in range(3):
        t += math.sqrt(x[0] + i) * x[1].item()
    return t


def elementwise(x: Any) -> Any:
    return np.sum(np.vectorize(math.exp)(np.asarray_chkfinite(x, dtype=float)))


def by_value(x: Any) -> Any:
    return x[0] * 2 if math.isnan(x[1]) else x[1] * 3


def caught(x: Any) -> Any:
    try:
        return math.sqrt(x[0]) * x[1]
    except ValueError:
        return x[1] ** 2


def close(x: Any) -> Any:
    if math.isclose(x[0], x[1], rel_tol=0.01, abs_tol=0.1):
        return x[0] * 2
    return x[1] ** 2 + math.remainder(x[0] * 7, 2.0)


def counted(x: Any) -> Any:
    return (np.arange(x[0], x[1] + 2.0, 0.25) ** 2).sum() * x[1]


def specified(x: Any) -> Any:
    parameters = [x[0], np.float64(2.0), x[1] * 2.0]
    return x[0] * x[1] if None not in parameters else x[0]


def fitted(x: Any) -> Any:
    design, seen = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]]), np.array([x[0], x[1], 1.0])
    found, residual, rank, _ = linalg.lstsq(design, seen * x[0])
    return np.sum(found**2) + residual * rank


TABLE = np.array([1.0, 2.0])


def stored_late(x: Any) -> Any:
    table = 2.0 * TABLE  # the first run of the function fails, before its stores are rewritten
    table[0] = x[0]
    return np.sum(table**2) * x[1]


COMPILED = [of_numbers, checked, in_turns, elementwise, by_value, caught, close, counted, specified]


@pytest.mark.parametrize("function", [*COMPILED, fitted, stored_late])
def test_adapted_functions_compile(function: Callable[[Any], Any]) -> None:
    eager = gw.grad(gw.adapting(function))
    compiled: Any = gw.compile(gw.grad(gw.adapting(function)))
    for point in (X, X, X + 1.0):
        assert np.allclose(compiled(point), eager(point), rtol=1e-12)
    assert "eagerly" not in str(compiled.explain())


def test_a_compiled_function_has_the_domain_of_math() -> None:
    compiled: Any = gw.compile(gw.grad(gw.adapting(caught)))
    assert np.allclose(compiled(X), [1.5 / (2 * math.sqrt(0.5)), math.sqrt(0.5)])
    of_a_nan: Any = gw.compile(gw.grad(gw.adapting(by_value)))
    assert np.allclose(of_a_nan(X), [0.0, 3.0])
    raising: Any = gw.compile(gw.grad(gw.adapting(of_numbers)))
    raising(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it runs eagerly then
        assert np.allclose(compiled(np.array([-0.5, 1.0])), [0.0, 2.0])
        assert np.allclose(of_a_nan(np.array([1.0, np.nan])), [2.0, 0.0])
        with pytest.raises(ValueError, match=r"math domain error|expected a positive input"):
            raising(np.array([0.5, -1.0]))
