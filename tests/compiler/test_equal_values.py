"""Programs of adapted code ask what the function asks where values that it compares are equal."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import AdaptationError
from packages import written

if TYPE_CHECKING:
    from pathlib import Path

MODULE = """
def at_zero(x):
    return np.where(x == 0, 1.0, np.exp(x))

def at_one(x):
    if x == 1.0:
        return 0.0
    return np.log(x)

def of_sine(x):  # whole at zero: both branches are the same function there
    return np.where(x == 0, 1.0 - x ** 2 / 6, np.sin(x) / np.where(x == 0, 1.0, x))

def in_turns(x):
    total = 0.0
    for i in range(x.size):
        if x[i] != 0.0:
            total = total + x[i] ** 3
    return total

def nearly(x, y):
    return x * x if x == y else x * y
"""


@pytest.fixture(name="module")
def _module(tmp_path: Path) -> Any:
    return written(tmp_path, MODULE)


def total(function: Any) -> Any:
    return gw.adapting(lambda x: np.sum(function(x) * np.arange(1.0, 1.0 + np.size(x))))


@pytest.mark.parametrize("engine", ["numpy", "c"])
def test_a_mask_for_one_point_is_asked_about_in_each_call(module: Any, engine: str) -> None:
    gradient = gw.compile(gw.grad(total(module.at_zero)), engine=engine)
    x, zero = np.array([0.3, -1.2, 2.0]), np.array([0.3, 0.0, 2.0])
    for _ in range(2):
        assert np.allclose(gradient(x), np.exp(x) * [1, 2, 3])
    for _ in range(2):
        with pytest.raises(AdaptationError, match="branch for one point"):
            gradient(zero)
        assert np.allclose(gradient(2 * x), np.exp(2 * x) * [1, 2, 3])
    assert len(gradient.programs) == 1
    with pytest.raises(AdaptationError, match="branch for one point"):
        gw.grad(total(module.at_zero))(zero)


def test_a_branch_that_the_function_refuses_is_no_part_of_the_program(module: Any) -> None:
    gradient = gw.compile(gw.grad(gw.adapting(lambda x: module.at_one(x[0]) * x[1])))
    x, one = np.array([2.0, 3.0]), np.array([1.0, 3.0])
    assert np.allclose(gradient(x), [1.5, np.log(2.0)])
    for _ in range(3):
        with pytest.raises(AdaptationError, match="branch for one point"):
            gradient(one)
    assert np.allclose(gradient(2 * x), [1.5, np.log(4.0)])
    assert len(gradient.programs) == 1


def test_a_place_with_a_whole_derivative_is_not_asked_about(module: Any) -> None:
    gradient = gw.compile(gw.grad(total(module.of_sine)))
    x, zero = np.array([0.3, -1.2, 2.0]), np.array([0.3, 0.0, 2.0])

    def expected(at: Any) -> Any:
        safe = np.where(at == 0, 1.0, at)
        return np.where(at == 0, 0.0, (np.cos(at) * at - np.sin(at)) / safe**2) * [1, 2, 3]

    for at in (x, zero, x, zero, 2 * zero):
        assert np.allclose(gradient(at), expected(at))
    assert len(gradient.programs) == 1
    again = gw.compile(gw.grad(total(module.of_sine)))
    for at in (zero, x, zero):
        assert np.allclose(again(at), expected(at))
    assert len(again.programs) == 1


def test_comparisons_in_a_loop_are_counted(module: Any) -> None:
    gradient = gw.compile(gw.grad(gw.adapting(module.in_turns)))
    x = np.linspace(0.5, 2.0, 20)
    assert np.allclose(gradient(x), 3 * x**2)
    assert np.allclose(gradient(-x), 3 * x**2)
    x[7] = 0.0
    assert np.allclose(gradient(x), 3 * x**2)  # its derivative is whole there
    assert np.allclose(gradient(2 * x), 12 * x**2)


def test_a_branch_on_equal_numbers_is_asked_about(module: Any) -> None:
    gradient = gw.compile(gw.grad(gw.adapting(lambda x: module.nearly(x[0], x[1]))))
    assert np.allclose(gradient(np.array([1.0, 3.0])), [3.0, 1.0])
    with pytest.raises(AdaptationError, match="branch for one point"):
        gradient(np.array([2.0, 2.0]))
    near = np.array([2.0, 2.0 + 1e-9])
    assert np.allclose(gradient(near), gw.grad(gw.adapting(lambda x: x[0] * x[1]))(near))
    assert np.allclose(gradient(np.array([2.0, 3.0])), [3.0, 2.0])


def test_a_saved_program_asks_too(
    module: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    gradient = gw.compile(gw.grad(total(module.at_zero)))
    x = np.array([0.3, -1.2, 2.0])
    gradient(x)
    gradient.save(tmp_path / "asking_program.py")
    saved: Any = importlib.import_module("asking_program")
    (found,) = saved.compiled(x)
    assert np.allclose(found, np.exp(x) * [1, 2, 3])
    with pytest.raises(saved.Missed):
        saved.compiled(np.array([0.3, 0.0, 2.0]))


def test_code_that_is_not_adapted_is_not_asked() -> None:
    gradient = gw.compile(gw.grad(lambda x: np.sum(np.where(x == 0, 1.0, np.exp(x)))))
    x = np.array([0.3, 1.2])
    assert np.allclose(gradient(x), np.exp(x))
    assert "Missed" not in gradient.source
