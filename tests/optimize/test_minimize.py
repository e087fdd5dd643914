"""`gw.optimize.minimize`: every method of SciPy's, over containers, with bounds and constraints."""

from __future__ import annotations

import sys
from typing import Any

import array_api_strict as strict
import numpy as np
import pytest

import gradwrap
import gradwrap.optimize
from gradwrap.errors import (
    MissingToolError,
    NonDifferentiableInputError,
    NonScalarOutputError,
    NotAnArrayError,
    PytreeError,
)

scipy: Any = pytest.importorskip("scipy")
scipy_optimize: Any = pytest.importorskip("scipy.optimize")
gw: Any = gradwrap  # called in every way; its types are tested in tests/tools/typing
minimize: Any = gradwrap.optimize.minimize
T = np.linspace(0.0, 1.0, 20)
START: dict[str, Any] = {"a": 1.0, "rate": np.array([1.0])}
METHODS = [
    "Nelder-Mead", "Powell", "CG", "BFGS", "Newton-CG", "L-BFGS-B", "TNC", "COBYLA", "COBYQA",
    "SLSQP", "trust-constr", "dogleg", "trust-ncg", "trust-exact", "trust-krylov",
]  # fmt: skip
WITH_BOUNDS = [
    "Nelder-Mead", "Powell", "L-BFGS-B", "TNC", "COBYLA", "COBYQA", "SLSQP", "trust-constr",
]  # fmt: skip


def decay(p: Any) -> Any:
    return p["a"] * np.exp(-p["rate"] * T)


def misfit(p: Any) -> Any:
    return np.mean((decay(p) - 3.0 * np.exp(-2.0 * T)) ** 2)


def bowl(p: Any) -> Any:
    return np.sum(np.array([1.0, 2.0, 3.0]) * (p["x"] - 1.0) ** 2) + p["y"] ** 2


def rosenbrock(x: Any) -> Any:
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def of_dictionary(x: Any) -> dict[str, Any]:
    return {"head": x[:2], "tail": (x[2:],)}


def of_dictionary_rosenbrock(p: Any) -> Any:
    return rosenbrock(np.concatenate([p["head"], *p["tail"]]))


@pytest.mark.parametrize("method", METHODS)
def test_every_method_finds_the_minimum(method: str) -> None:
    result = minimize(misfit, START, method=method)
    assert result.success
    assert type(result.x["a"]) is np.float64
    assert result.x["rate"].shape == (1,)
    np.testing.assert_allclose(result.x["a"], 3.0, atol=2e-3)
    np.testing.assert_allclose(result.x["rate"], [2.0], atol=2e-3)
    assert START["rate"] == 1.0
    assert isinstance(result, scipy_optimize.OptimizeResult)


@pytest.mark.parametrize(
    "method", ["CG", "BFGS", "L-BFGS-B", "Newton-CG", "trust-ncg", "trust-exact"]
)
def test_it_goes_the_way_that_scipy_goes_with_exact_derivatives(method: str) -> None:
    x0 = np.array([-1.2, 1.0, 0.8, 1.5])
    words: dict[str, Any] = {"jac": scipy_optimize.rosen_der}
    if method in {"Newton-CG", "trust-ncg"}:
        words["hessp"] = scipy_optimize.rosen_hess_prod
    if method == "trust-exact":
        words["hess"] = scipy_optimize.rosen_hess
    wanted = scipy_optimize.minimize(scipy_optimize.rosen, x0, method=method, **words)
    found = minimize(of_dictionary_rosenbrock, of_dictionary(x0), method=method)
    np.testing.assert_allclose(np.concatenate([found.x["head"], *found.x["tail"]]), wanted.x, 1e-4)
    assert found.nit == wanted.nit
    np.testing.assert_allclose(found.fun, wanted.fun, atol=1e-10)


def test_the_gradient_is_a_container_too() -> None:
    result = minimize(bowl, {"x": np.zeros(3), "y": 2.0, "flag": True}, method="BFGS", maxiter=1)
    wanted = gw.grad(bowl)(result.x)
    np.testing.assert_allclose(result.jac["x"], wanted["x"])
    assert result.jac["y"] == pytest.approx(wanted["y"])
    assert (result.jac["flag"], result.x["flag"], result.nit) == (None, True, 1)


def test_one_run_gives_value_and_gradient() -> None:
    runs = 0

    def counted(p: Any) -> Any:
        nonlocal runs
        runs += 1
        return misfit(p)

    result = minimize(counted, START, method="L-BFGS-B")
    assert runs == result.nfev == result.njev


def test_products_with_the_hessian_come_from_one_run_for_each_point() -> None:
    runs = 0

    def counted(x: Any) -> Any:
        nonlocal runs
        runs += 1
        return rosenbrock(x)

    result = minimize(counted, np.zeros(20), method="Newton-CG")
    assert result.success
    assert runs <= result.nfev + result.nit + 1 < result.nhev


# What goes in and comes out -----------------------------------------------------------------------


def test_single_precision_stays() -> None:
    result = minimize(lambda p: np.sum((p["x"] - 1) ** 2), {"x": np.zeros(3, np.float32)})
    assert result.x["x"].dtype == result.jac["x"].dtype == np.float32
    np.testing.assert_allclose(result.x["x"], 1.0, atol=1e-4)


def test_arrays_of_other_libraries_stay() -> None:
    def far(p: Any) -> Any:
        xp = p["x"].__array_namespace__()
        return xp.sum((p["x"] - 1.0) ** 2) + (p["shift"] - 2.0) ** 2

    start = {"x": strict.zeros(3, dtype=strict.float32), "shift": 3, "name": "strict"}
    for method in ("BFGS", "Nelder-Mead", "Newton-CG"):
        result = minimize(far, start, method=method)
        assert result.x["x"].dtype == strict.float32
        np.testing.assert_allclose(np.asarray(result.x["x"]), 1.0, atol=1e-3)
        np.testing.assert_allclose(np.asarray(result.x["shift"]), 2.0, atol=1e-3)
        assert result.x["name"] == "strict"


@pytest.mark.parametrize("x0", [[3, 4], (3.0, 4.0), np.array([3, 4])], ids=repr)
def test_lists_of_numbers_and_integers_are_arrays_of_floats(x0: Any) -> None:
    result = minimize(lambda x: np.sum((x - np.array([1.0, 2.0])) ** 2), x0)
    np.testing.assert_allclose(result.x, [1.0, 2.0], atol=1e-6)


def test_a_number_is_one_parameter() -> None:
    assert minimize(lambda x: (x - 2.0) ** 2, 5.0).x == pytest.approx(2.0)
    assert minimize(lambda x: (x - 2.0) ** 2, 5).x == pytest.approx(2.0)


def test_arguments_are_handed_on() -> None:
    result = minimize(lambda x, a, b: np.sum(a * (x - b) ** 2), np.zeros(2), (2.0, np.ones(2)))
    np.testing.assert_allclose(result.x, 1.0, atol=1e-6)
    assert minimize(lambda x, a: (x - a) ** 2, 0.0, 3.0).x == pytest.approx(3.0)


def test_options_come_as_keywords_or_as_a_dictionary() -> None:
    for words in ({"maxiter": 2}, {"options": {"maxiter": 2}}):
        assert minimize(rosenbrock, np.zeros(3), method="BFGS", **words).nit == 2
    assert minimize(rosenbrock, np.zeros(3), tol=1e-12).fun < 1e-20


def test_variables_of_the_tape_may_be_the_start() -> None:
    w = gw.wrap(np.zeros(2), requires_grad=True)
    result = minimize(lambda x: np.sum((x - 1.0) ** 2), w)
    assert type(result.x) is np.ndarray
    np.testing.assert_allclose(result.x, 1.0)


def test_an_adapted_function() -> None:
    @gradwrap.adapting
    def far(p: Any) -> Any:
        made = np.empty(2)
        made[0], made[1] = p["x"][0], p["y"]
        return np.sum((made - 1.0) ** 2)

    result = minimize(far, {"x": np.zeros(1), "y": 3.0})
    assert result.x["x"][0] == pytest.approx(1.0)
    assert result.x["y"] == pytest.approx(1.0)


# Bounds -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", WITH_BOUNDS)
def test_bounds_have_the_form_of_the_container(method: str) -> None:
    bounds = {"a": (0.0, 2.5), "rate": None}
    found = minimize(misfit, START, method=method, bounds=bounds).x
    if method == "trust-constr":
        np.testing.assert_allclose(found["a"], 2.5, atol=1e-3)
    else:
        assert 0.0 <= found["a"] <= 2.5
        np.testing.assert_allclose(found["a"], 2.5, atol=1e-4)
    np.testing.assert_allclose(found["rate"], [1.6058], atol=1e-3)


@pytest.mark.parametrize(
    "bounds",
    [
        (None, np.array([0.5, 0.5, 2.0])),
        [(None, 0.5), (None, 0.5), (None, 2.0)],
        scipy_optimize.Bounds(-np.inf, [0.5, 0.5, 2.0]),
    ],
    ids=["a pair", "a list of pairs", "SciPy's"],
)
def test_bounds_of_one_array(bounds: Any) -> None:
    result = minimize(lambda x: np.sum((x - 1.0) ** 2), np.zeros(3), bounds=bounds)
    np.testing.assert_allclose(result.x, [0.5, 0.5, 1.0], atol=1e-6)


def test_a_pair_for_all_and_pairs_for_each() -> None:
    start = {"x": np.zeros(3), "y": 2.0}
    found = minimize(bowl, start, bounds=(-1.0, 0.5)).x
    np.testing.assert_allclose(found["x"], 0.5)
    nested = {"x": (-1.0, np.array([0.1, 0.2, 5.0])), "y": (1.0, None)}
    found = minimize(bowl, start, bounds=nested).x
    np.testing.assert_allclose(found["x"], [0.1, 0.2, 1.0], atol=1e-6)
    assert found["y"] == 1.0
    pair = minimize(lambda p: (p[0] - 3.0) ** 2 + p[1].sum() ** 2, (0.0, np.ones(2)),
                    bounds=((0.0, 1.0), (0.5, 2.0)))  # fmt: skip
    assert pair.x[0] == 1.0
    np.testing.assert_allclose(pair.x[1], 0.5)


def test_bounds_of_another_form_are_refused() -> None:
    start = {"x": np.zeros(3), "y": 2.0}
    with pytest.raises(PytreeError, match="bounds of minimize has another structure than x0"):
        minimize(bowl, start, bounds={"x": (0.0, 1.0)})
    with pytest.raises(PytreeError, match=r"array of shape \(3,\) have the shapes \(2,\) and \(\)"):
        minimize(bowl, start, bounds={"x": (np.zeros(2), 1.0), "y": None})
    with pytest.raises(PytreeError, match=r"bounds of an array of shape \(3,\) are 5"):
        minimize(bowl, start, bounds={"x": 5, "y": None})


def test_bounds_of_scipy_mean_what_they_mean_in_scipy() -> None:
    x0 = np.array([0.5, 2.5])
    for bounds in ([(0, 2), (1, 3)], ([0, 2], [1, 3]), scipy_optimize.Bounds([0, 2], [1, 3])):
        wanted = scipy_optimize.minimize(lambda x: np.sum((x - 5.0) ** 2), x0, bounds=bounds).x
        found = minimize(lambda x: np.sum((x - 5.0) ** 2), x0, bounds=bounds).x
        np.testing.assert_allclose(found, wanted, atol=1e-6)
    for bounds in (([0, 2], [1, 3]), (0.5, [1, 3]), scipy_optimize.Bounds([0, 2], [1, 3])):
        wanted = scipy_optimize.least_squares(lambda x: x - 5.0, [0.7, 2.5], bounds=bounds).x
        found = gw.optimize.least_squares(lambda x: x - 5.0, [0.7, 2.5], bounds=bounds).x
        np.testing.assert_allclose(found, wanted, atol=1e-6)


def test_bounds_with_two_meanings_are_refused_with_both_remedies() -> None:
    lower, upper = np.array([0.0, 2.0]), np.array([1.0, 3.0])
    x0 = np.array([0.5, 2.5])
    with pytest.raises(PytreeError, match="can be read in two ways"):
        minimize(lambda x: np.sum((x - 5.0) ** 2), x0, bounds=(lower, upper))
    remedies = scipy_optimize.Bounds(lower, upper), list(zip(lower, upper, strict=True))
    for bounds in remedies:
        found = minimize(lambda x: np.sum((x - 5.0) ** 2), x0, bounds=bounds).x
        np.testing.assert_allclose(found, upper, atol=1e-6)


# Constraints --------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["SLSQP", "trust-constr", "COBYLA", "COBYQA"])
def test_constraints_take_the_container(method: str) -> None:
    if method == "COBYLA" and np.lib.NumpyVersion(scipy.__version__) < "1.16.0":
        pytest.skip("COBYLA takes equations since SciPy 1.16")
    total = {"type": "eq", "fun": lambda p: p["x"].sum() - 1.0 - p["y"]}
    above = {"type": "ineq", "fun": lambda p, low: {"all": p["x"] - low}, "args": (0.2,)}
    result = minimize(bowl, {"x": np.zeros(3), "y": 2.0}, method=method, constraints=[total, above])
    # Lagrange: x = 1 - m / (2 k), y = m / 2 with sum(x) - 1 = y
    m = 2.0 / (11.0 / 12.0 + 0.5)
    np.testing.assert_allclose(result.x["x"], 1 - m / (2 * np.array([1.0, 2.0, 3.0])), atol=2e-3)
    assert result.x["y"] == pytest.approx(m / 2, abs=2e-3)


@pytest.mark.parametrize("method", ["SLSQP", "trust-constr"])
def test_nonlinear_constraints_of_scipy(method: str) -> None:
    square = scipy_optimize.NonlinearConstraint(lambda p: p["x"] ** 2, 0.1, 0.49)
    result = minimize(bowl, {"x": np.full(3, 0.5), "y": 2.0}, method=method, constraints=square)
    np.testing.assert_allclose(result.x["x"], 0.7, atol=1e-3)


def test_linear_constraints_are_of_the_vector() -> None:
    line = scipy_optimize.LinearConstraint(np.ones((1, 4)), 1.0, 1.0)
    result = minimize(bowl, {"x": np.zeros(3), "y": 2.0}, constraints=[line])
    assert result.x["x"].sum() + result.x["y"] == pytest.approx(1.0)


def test_other_constraints_are_refused() -> None:
    with pytest.raises(PytreeError, match="a constraint of minimize is a function"):
        minimize(bowl, {"x": np.zeros(3), "y": 2.0}, constraints=[lambda p: p["y"]])


# Derivatives of the result ------------------------------------------------------------------------


def test_the_solution_has_a_derivative() -> None:
    def at(a: Any) -> Any:
        return minimize(lambda p: (p["x"] - a) ** 2 + a * p["y"] ** 2, {"x": 0.0, "y": 1.0}).x["x"]

    assert gw.grad(at)(2.0) == pytest.approx(1.0)
    assert gw.jvp(at, (2.0,), (1.0,))[1] == pytest.approx(1.0)

    def by_argument(a: Any) -> Any:
        return minimize(lambda x, a: np.sum(np.exp(x) - a * x), np.zeros(2), (a,)).x

    np.testing.assert_allclose(gw.jacobian(by_argument)(np.array([2.0, 3.0])),
                               np.diag([1 / 2, 1 / 3]), atol=1e-5)  # fmt: skip


def test_the_solution_has_a_derivative_on_the_tape() -> None:
    a = gw.wrap(np.array(2.0), requires_grad=True)
    x = minimize(lambda x: (x - a**2) ** 2, 0.0).x
    x.backward()
    assert a.grad == pytest.approx(4.0)


# Callbacks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["BFGS", "TNC", "SLSQP", "trust-constr", "Nelder-Mead"])
def test_the_callback_gets_the_container(method: str) -> None:
    seen: list[Any] = []
    result = minimize(misfit, START, method=method, callback=seen.append, options={"maxiter": 5}
                      if method != "TNC" else {"maxfun": 20})  # fmt: skip
    assert seen
    assert all(one["rate"].shape == (1,) for one in seen)
    assert len({id(one["rate"]) for one in seen}) == len(seen)
    if method in {"BFGS", "SLSQP"}:
        assert seen[-1]["a"] == pytest.approx(result.x["a"])


def test_the_callback_gets_the_result_by_its_name() -> None:
    values: list[float] = []

    def note(intermediate_result: Any) -> None:
        assert set(intermediate_result.x) == {"a", "rate"}
        values.append(float(intermediate_result.fun))
        assert intermediate_result.nit == len(values)

    minimize(misfit, START, method="BFGS", callback=note)
    assert values == sorted(values, reverse=True)


def test_the_callback_can_stop() -> None:
    def stop(_x: Any) -> None:
        raise StopIteration

    assert minimize(rosenbrock, np.zeros(3), method="BFGS", callback=stop).nit == 1


# Bad input ----------------------------------------------------------------------------------------


def test_derivatives_are_not_taken_from_the_caller() -> None:
    with pytest.raises(TypeError, match="minimize supplies jac itself"):
        minimize(rosenbrock, np.zeros(3), jac=True)


def test_what_cannot_be_minimised_is_refused() -> None:
    with pytest.raises(NonScalarOutputError, match=r"returned an array of shape \(2,\)"):
        minimize(lambda x: x**2, np.zeros(2))
    with pytest.raises(NonDifferentiableInputError, match="minimize needs real arrays"):
        minimize(lambda x: abs(x[0]), np.array([1j]))
    with pytest.raises(NotAnArrayError, match="x0 holds no floating-point array"):
        minimize(lambda p: 1.0, {"name": "a"})
    with pytest.raises(ValueError, match="Unknown solver"):
        minimize(rosenbrock, np.zeros(2), method="newton")


def test_scipy_is_asked_for_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gradwrap.scipy", None)
    with pytest.raises(MissingToolError, match=r"minimize needs SciPy.*pip install scipy"):
        minimize(rosenbrock, np.zeros(2))


def test_integers_of_a_container_are_found_too() -> None:
    t = np.linspace(0.0, 1.0, 20)

    def misfit(p: Any) -> Any:
        return np.mean((p["size"] * np.exp(-p["rate"] * t) - 3.0 * np.exp(-2.0 * t)) ** 2)

    for start in ({"size": 1, "rate": 1.0}, {"size": np.array(1), "rate": 1}):
        found = minimize(misfit, start, gtol=1e-9).x
        assert (found["size"], found["rate"]) == (pytest.approx(3.0), pytest.approx(2.0))
