"""Writes to whole arrays, sums with zeros, and copies that nothing writes to."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.compiler.passes.wholes import is_whole
from rolled import compiled_to, names

X, Y = np.random.default_rng(5).normal(size=(2, 4, 6))


def _overwritten(x: Any, y: Any) -> Any:
    z = np.copy(x)
    z[:] = np.sin(y) * x
    return np.sum(z * z)


def _in_parts(x: Any, y: Any) -> Any:
    z = np.copy(x)
    z[1:] = y[1:]
    z[...] = z * y
    z[0] = 2.0
    return np.sum(z * x)


def _numbers(x: Any, y: Any) -> Any:
    z = x * y
    z[:, :] = 3
    z[0] += x[0]
    return np.sum(z * z)


def _kept_before_a_write(x: Any, y: Any) -> Any:
    z = x * y
    kept = np.copy(z)
    z[1:3] = 0.5
    return np.sum(z * kept)


def _shared(x: Any, y: Any) -> Any:
    z = x * y
    z[:] = y
    return z, np.copy(z), np.copy(x)


def _loop(x: Any, y: Any) -> Any:
    state = np.copy(x)
    for _ in range(30):
        before = np.copy(state)
        state[:] = 0.5 * np.sin(state) + 0.1 * y
        state[0] = before[1]
    return np.sum(state * state)


@pytest.mark.parametrize("engine", ["numpy", "c"])
@pytest.mark.parametrize("fun", [_overwritten, _in_parts, _numbers, _kept_before_a_write, _loop])
def test_gradients(fun: Any, engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADWRAP_CHECK", "1")
    compiled: Any = gw.compile(gw.value_and_grad(fun, (0, 1)), engine=engine)
    for x in (X, 2.0 * X):
        value, gradients = compiled(x, Y)
        wanted: Any = gw.value_and_grad(fun, (0, 1))(x, Y)
        np.testing.assert_allclose(value, wanted[0], rtol=1e-13)
        for one, other in zip(gradients, wanted[1], strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-13)


def test_results_are_arrays_of_their_own() -> None:
    compiled: Any = gw.compile(_shared)
    compiled(X, Y)
    results = compiled(X, Y)
    for one, wanted in zip(results, (Y, Y, X), strict=True):
        assert np.array_equal(one, wanted)
        assert not np.shares_memory(one, wanted)
    assert not np.shares_memory(*results[:2])


def test_a_write_to_all_elements_costs_nothing() -> None:
    program = compiled_to(gw.grad(_overwritten, (0, 1)), X, Y, roll=False)
    assert not {"setitem", "scatter_add", "copy", "zeros"} & {*names(program)}


@pytest.mark.parametrize(
    ("key", "is_all"),
    [
        (slice(None), True),
        ((slice(0, 4), slice(None)), True),
        (Ellipsis, True),
        ((), True),
        (slice(None, None, -1), False),
        (slice(1, None), False),
        ((Ellipsis, slice(0, 5)), False),
        (None, False),
        ((slice(None), None), False),
        (0, False),
    ],
)
def test_keys_of_all_elements(key: Any, is_all: bool) -> None:
    assert is_whole(key, (4, 6)) == is_all


def test_conjugates_that_change_nothing() -> None:
    def function(x: Any, y: Any) -> Any:
        z = np.conj(np.conjugate(x + 1j * y))
        return np.conjugate(z * x), np.conj(np.conj(np.conj(z)))

    program = compiled_to(function, X, Y, roll=False)
    assert names(program).count("conjugate") + names(program).count("conj") == 2
    assert names(program).count("add") == 1


@pytest.mark.parametrize("engine", ["numpy", "c"])
def test_a_number_zero_is_added_since_it_changes_the_sign_of_zeros(engine: str) -> None:
    def function(x: Any) -> Any:
        return 1.0 / (x + 0.0), 1.0 / (0 + x), 1.0 / (x - 0.0)

    compiled = gw.compile(function, engine=engine)
    compiled(np.array([1.0, 2.0]))
    with np.errstate(divide="ignore"):
        found = compiled(np.array([0.0, -0.0]))
    np.testing.assert_array_equal(found, [[np.inf, np.inf], [np.inf, np.inf], [np.inf, -np.inf]])
