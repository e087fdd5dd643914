"""Programs that call a solver of SciPy again, with the functions that it calls as programs."""

from __future__ import annotations

import math
import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.adaptation.later import number_made
from gradwrap.errors import AdaptationError, CompileWarning, NoRuleError

if TYPE_CHECKING:
    from collections.abc import Callable

optimize: Any = import_module("scipy.optimize")
TIMES = np.linspace(0.0, 3.0, 20)
POINTS = [np.array(x) for x in ([1.0, 2.0], [1.3, 1.7], [0.7, 2.4])]


def bracketed(x: Any) -> Any:
    return optimize.brentq(lambda t: t**3 + x[0] * t - x[1], 0.0, 5.0)


def by_newton(x: Any) -> Any:
    return optimize.newton(lambda t: t**3 + x[0] * t - x[1], 1.0)


def converged(x: Any) -> Any:
    found = optimize.root_scalar(lambda t: t**3 + x[0] * t - x[1], bracket=(0.0, 5.0))
    return found.root if found.converged else 0.0 * x[0]


def system(x: Any) -> Any:
    def residual(v: Any) -> Any:
        return np.array([v[0] ** 2 + x[0] * v[1] - x[1], v[1] - np.sin(x[0])])

    return np.sum(optimize.fsolve(residual, [1.0, 1.0]) * np.array([1.0, 3.0]))


def fitted(x: Any) -> Any:
    y = x[0] * np.exp(-x[1] * TIMES) + 0.01 * np.cos(9 * TIMES)
    found, _ = optimize.curve_fit(lambda t, a, b: a * np.exp(-b * t), TIMES, y, p0=[1.0, 1.0])
    return 2 * found[0] + found[1]


def smallest(x: Any) -> Any:
    def cost(v: Any) -> Any:
        return (v[0] - x[0]) ** 2 + (v[1] * v[0] - x[1]) ** 2 + 0.1 * v[1] ** 4

    found = optimize.minimize(cost, [1.0, 1.0], tol=1e-9)
    return found.x[0] * found.x[1] + found.fun


def in_interval(x: Any) -> Any:
    def cost(v: Any) -> Any:
        return (v - x[0]) ** 2 + np.exp(v * x[1])

    options = {"xatol": 1e-10}
    return optimize.minimize_scalar(cost, bounds=(-5, 5), method="bounded", options=options).x


def squares(x: Any) -> Any:
    def residuals(p: Any) -> Any:
        wanted = x[0] * np.exp(-x[1] * TIMES) + 0.01 * np.cos(9 * TIMES)
        return p[0] * np.exp(-p[1] * TIMES) - wanted

    found = optimize.least_squares(residuals, [1.0, 1.0], xtol=1e-12)
    return found.x[0] + found.cost


SOLVERS = [
    bracketed, by_newton, converged, system, fitted, smallest, in_interval, squares,
]  # fmt: skip


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("engine", ["numpy", "c"])
def test_a_solver_is_called_again_in_each_call(solver: Callable[[Any], Any], engine: str) -> None:
    gradient = gw.compile(gw.grad(gw.adapting(solver)), engine=engine)
    for x in POINTS:
        assert np.allclose(gradient(x), gw.grad(gw.adapting(solver))(x), rtol=1e-6)
        differences = [(solver(x + e) - solver(x - e)) / 2e-4 for e in 1e-4 * np.eye(2)]
        assert np.allclose(gradient(x), differences, rtol=0.01, atol=1e-4)
    assert len(gradient.programs) == 1


def test_a_path_that_the_callback_did_not_take_runs_the_function() -> None:
    def function(x: Any) -> Any:
        def residual(t: Any) -> Any:
            return t**3 - x[0] if x[1] * t > 1.0 else t - x[0]

        return optimize.brentq(residual, 0.0, 9.0) + x[1]

    gradient = gw.compile(gw.grad(gw.adapting(function)))
    for x in ([8.0, 3.0], [8.0, 0.01], [0.5, 0.01], [8.0, 3.0], [0.5, 0.01]):
        at = np.array(x)
        assert np.allclose(gradient(at), gw.grad(gw.adapting(function))(at), rtol=1e-9)


def test_a_solver_that_fails_at_another_point_is_refused() -> None:
    def function(x: Any) -> Any:
        return optimize.fsolve(lambda v: v**2 + x[0], [1.0])[0]

    gradient = gw.compile(gw.grad(gw.adapting(function)))
    warnings.simplefilter("ignore", RuntimeWarning)
    x = np.array([-4.0])
    assert np.allclose(gradient(x), [-0.25])
    made = number_made()
    for _ in range(2):
        with pytest.raises(NoRuleError, match="not zero at its result"):
            gradient(-x)
    assert number_made() < made + 10  # none of the callback's programs, each of which is new
    assert np.allclose(gradient(x), [-0.25])


def test_what_a_callback_keeps_has_its_derivative() -> None:
    def function(x: Any) -> Any:
        kept: list[Any] = []

        def residual(t: Any) -> Any:
            kept.append(t * x[1])
            return t**3 - x[0]

        root = optimize.brentq(residual, 0.1, 9.0)
        return root + kept[0]

    gradient = gw.compile(gw.grad(gw.adapting(function)))
    for x in ([8.0, 3.0], [16.0, 6.0], [0.5, 3.0]):
        at = np.array(x)
        assert np.allclose(gradient(at), gw.grad(gw.adapting(function))(at), rtol=1e-9)


def test_a_callback_that_counts_its_calls_runs_eagerly() -> None:
    def function(x: Any) -> Any:
        calls = [0]

        def residual(t: Any) -> Any:
            calls[0] += 1
            return t**3 - x[0] + 1e-9 * calls[0]

        return optimize.brentq(residual, 0.1, 9.0)

    gradient = gw.compile(gw.grad(gw.adapting(function)))
    with pytest.warns(CompileWarning, match="something else in each call"):
        gradient(np.array([8.0]))
    assert not gradient.programs


def test_solvers_that_call_very_often_run_eagerly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gradwrap.compiler.tracing.callbacks.MOST_RUNS", 3)
    gradient = gw.grad(gw.adapting(bracketed))
    with pytest.warns(CompileWarning, match="solvers call functions more than 3 times"):
        found = gw.compile(gradient)(POINTS[0])
    np.testing.assert_allclose(found, gradient(POINTS[0]))


def test_comparisons_in_a_callback_are_asked_about_at_the_solution() -> None:
    def function(x: Any) -> Any:
        def residual(t: Any) -> Any:
            return np.where(x == 0.0, t - 1.0, t**3 - np.exp(x))[0]

        return optimize.brentq(residual, 0.1, 9.0)

    gradient = gw.compile(gw.grad(gw.adapting(function)))
    for x in (3.0, 1.5, 3.0):
        assert np.allclose(gradient(np.array([x])), np.exp(x / 3) / 3)
    assert len(gradient.programs) == 1
    with pytest.raises(AdaptationError, match="branch for one point"):
        gradient(np.array([0.0]))


def test_a_solver_of_plain_numbers_gives_plain_numbers() -> None:
    def function(x: Any) -> Any:
        root = optimize.brentq(lambda t: math.exp(t) - 2.0, 0.0, 3.0)
        return np.sum(x) * [1.0, 5.0][int(root)] + root * x[0]

    gradient = gw.compile(gw.grad(gw.adapting(function)))
    for x in POINTS:
        assert np.allclose(gradient(x), [1.0 + math.log(2.0), 1.0])
    assert len(gradient.programs) == 1
