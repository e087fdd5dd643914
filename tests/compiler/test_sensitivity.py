"""Functions that amplify rounding: how far a program may be away from them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.compiler.calls.compare import MOST, Distant, made, mismatch
from gradwrap.compiler.calls.entry import AMPLIFIES
from gradwrap.compiler.calls.sensitivity import FACTOR, TRIES, precisions_by_movement
from gradwrap.compiler.calls.signatures import Call
from gradwrap.compiler.engines.register import Executable

EPS = float(np.finfo(np.float64).eps)
SIZE = 12
HILBERT = 1.0 / (np.arange(SIZE)[:, None] + np.arange(SIZE) + 1.0)


def movements(function: Any, *args: Any) -> list[float]:
    """Return the precisions of a function's results, in units in the last place."""
    wanted = function(*args)
    found = precisions_by_movement(function, Call(args, {}), (wanted,))
    return [one * (1 << 14) / FACTOR / EPS for one in found]


def solved(a: Any, b: Any) -> Any:
    return np.linalg.solve(a, b)


def test_results_of_ill_conditioned_systems_move() -> None:
    (moved,) = movements(solved, HILBERT[:8, :8], np.ones(8))
    assert 1e6 < moved < MOST / FACTOR / EPS
    (moved,) = movements(solved, np.eye(8) + 0.1 * HILBERT[:8, :8], np.ones(8))
    assert moved < 16


def test_the_error_that_is_excused_has_a_limit() -> None:
    (moved,) = movements(solved, HILBERT, np.ones(SIZE))
    assert moved == pytest.approx(MOST / FACTOR / EPS)


@pytest.mark.parametrize("x", [np.array([3.0, 7.0]), np.array([1.0])])
def test_a_jump_that_some_tries_miss_is_no_movement(x: Any) -> None:
    assert TRIES == 3
    assert movements(lambda x: x * 1e6 + np.floor(x), x)[0] < 8


def test_functions_that_fail_nearby_do_not_move() -> None:
    def strict(x: Any) -> Any:
        if x[0] != 1.0:
            raise ValueError
        return x

    assert movements(strict, np.array([1.0])) == [0.0]
    assert movements(lambda x: np.sqrt(1.0 - x * x), np.array([1.0, 1.0, 1.0]))[0] == 0.0
    assert movements(lambda x: x.astype(int), np.array([1.0])) == [0.0]


def test_python_floats_and_complex_numbers_are_changed_too() -> None:
    def close(x: Any, y: Any) -> Any:
        return np.asarray(x * 1e8 - y * 1e8)

    call = Call((1.0, np.full(40, 1.0 + 1e-9j)), {}, takes_floats=True)
    wanted = close(*call.args)
    (found,) = precisions_by_movement(close, call, (wanted,))
    assert found * (1 << 14) / FACTOR / EPS > 1e6


def test_only_differences_of_rounding_are_excused() -> None:
    wanted = (np.array([1.0, 2.0]),)
    asked: list[int] = []

    def movements() -> list[float]:
        asked.append(1)
        return [1e-8]

    def engine(found: Any) -> Any:
        return lambda _: Executable(lambda *_: (found,), str, (), exact=False)

    def result(found: Any) -> tuple[str, list[float]]:
        precisions = [EPS]
        _, problem = made(engine(found), gw_program(), (), wanted, precisions, movements)
        return problem, precisions

    assert result(wanted[0]) == ("", [EPS])
    assert not asked
    assert result(wanted[0] + 1e-5) == ("", [1e-8])
    assert "other values" in result(wanted[0] + 1e-2)[0]
    assert len(asked) == 2
    assert "other values, inf" in result(np.array([1.0, np.nan]))[0]
    assert "in place of" in result(np.array([1.0, 2.0, 3.0]))[0]
    assert len(asked) == 2
    assert isinstance(mismatch(wanted, (wanted[0] + 1e-5,), [EPS]), Distant)
    assert not isinstance(mismatch(wanted, (wanted[0] + 1e-5,), None), Distant)


def gw_program() -> Any:
    compiled: Any = gw.compile(lambda x: x + x)
    compiled(np.ones(2))
    return compiled.programs[0]


def substitution(a: Any, b: Any) -> Any:
    x = np.zeros_like(b)
    for i in range(len(b)):
        x[i] = (b[i] - a[i, :i] @ x[:i]) / a[i, i]
    return np.sum(x * x)


def test_a_program_that_is_rounded_otherwise_is_taken_where_rounding_is_amplified() -> None:
    rng = np.random.default_rng(0)
    a = np.tril(rng.standard_normal((60, 60)), -1) + np.eye(60)
    b = a @ np.ones(60)
    gradient = gw.grad(substitution, argnums=(0, 1))
    compiled = gw.compile(gradient, engine="c")
    compiled(a, b)
    assert "engine: c" in compiled.explain()
    told = AMPLIFIES in compiled.explain()
    scale = max(float(np.max(np.abs(one))) for one in gradient(a, b))
    for one, other in zip(compiled(a, b), gradient(a, b), strict=True):
        np.testing.assert_allclose(one, other, rtol=MOST, atol=MOST * scale)
    assert told
