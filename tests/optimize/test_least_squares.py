"""`gw.optimize.least_squares`: SciPy's, over containers, with dense and sparse Jacobians."""

from __future__ import annotations

from typing import Any

import array_api_strict as strict
import numpy as np
import pytest

import gradwrap
import gradwrap.optimize
from gradwrap.errors import NonDifferentiableInputError, NotAnArrayError, PytreeError

scipy_optimize: Any = pytest.importorskip("scipy.optimize")
gw: Any = gradwrap  # called in every way; its types are tested in tests/tools/typing
least_squares: Any = gradwrap.optimize.least_squares
T = np.linspace(0.0, 2.0, 30)
NOISE = 0.05 * np.random.default_rng(0).standard_normal(30)
Y = 3.0 * np.exp(-2.0 * T) + 0.5 + NOISE
START: dict[str, Any] = {"a": 1.0, "rate": np.array([1.0]), "offset": np.float32(0.0)}


def model(p: Any) -> Any:
    return p["a"] * np.exp(-p["rate"] * T) + p["offset"]


def residuals(p: Any) -> Any:
    return model(p) - Y


def of_vector(v: Any) -> Any:
    return v[0] * np.exp(-v[2] * T) + v[1] - Y


@pytest.mark.parametrize("method", ["trf", "dogbox", "lm"])
def test_it_finds_what_scipy_finds(method: str) -> None:
    wanted = scipy_optimize.least_squares(of_vector, [1.0, 0.0, 1.0], method=method)
    found = least_squares(residuals, START, method=method)
    assert isinstance(found, scipy_optimize.OptimizeResult)
    got = [found.x["a"], found.x["offset"], found.x["rate"][0]]
    np.testing.assert_allclose(got, wanted.x, rtol=2e-5)
    assert (found.x["rate"].shape, found.x["offset"].dtype) == ((1,), np.float32)
    assert found.cost == pytest.approx(wanted.cost)
    np.testing.assert_allclose(found.fun, wanted.fun, atol=1e-5)


def test_the_jacobian_and_the_gradient_are_containers() -> None:
    found = least_squares(residuals, START, max_nfev=3)
    wanted = gw.jacobian(residuals)(found.x)
    for name, shape in {"a": (30,), "rate": (30, 1), "offset": (30,)}.items():
        assert found.jac[name].shape == shape
        np.testing.assert_allclose(found.jac[name], wanted[name], rtol=1e-5, atol=1e-7)
        slope = np.tensordot(found.fun, found.jac[name], axes=1)
        np.testing.assert_allclose(found.grad[name], slope, atol=1e-6)


def test_residuals_may_be_a_container() -> None:
    def split(p: Any) -> Any:
        out = residuals(p)
        return {"early": out[:10].reshape(2, 5), "late": (out[10:],)}

    found = least_squares(split, START)
    wanted = least_squares(residuals, START)
    assert found.x["a"] == pytest.approx(wanted.x["a"])
    assert found.fun["early"].shape == (2, 5)
    assert found.jac["late"][0]["rate"].shape == (20, 1)
    np.testing.assert_allclose(found.jac["early"]["rate"].ravel(), wanted.jac["rate"][:10].ravel())


def test_bounds_scales_losses_and_arguments() -> None:
    bounds = {"a": (0.0, 2.5), "rate": None, "offset": (None, 1.0)}
    found = least_squares(residuals, START, bounds=bounds, x_scale={"a": 1.0, "rate": np.ones(1),
                          "offset": 1.0}, loss="soft_l1", f_scale=0.1)  # fmt: skip
    wanted = scipy_optimize.least_squares(
        of_vector, [1.0, 0.0, 1.0], bounds=([0.0, -np.inf, -np.inf], [2.5, 1.0, np.inf]),
        loss="soft_l1", f_scale=0.1,
    )  # fmt: skip
    assert found.x["a"] == pytest.approx(2.5)
    np.testing.assert_allclose(found.x["rate"], wanted.x[2:], rtol=1e-4)
    line = least_squares(lambda x, t, y: x[0] + x[1] * t - y, [0, 0], (T, 2.0 * T - 1.0))
    np.testing.assert_allclose(line.x, [-1.0, 2.0], atol=1e-9)


def test_arrays_of_other_libraries_stay() -> None:
    target = strict.asarray([1.0, 4.0, 9.0])
    found = least_squares(lambda p: p["x"] ** 2 - target, {"x": strict.ones(3), "flag": True})
    assert type(found.x["x"]) is type(found.jac["x"]) is type(target)
    np.testing.assert_allclose(np.asarray(found.x["x"]), [1.0, 2.0, 3.0], rtol=1e-8)
    assert found.x["flag"] is True


def test_a_sparse_jacobian() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    n = 60
    target = np.sin(np.arange(n) / 5.0)
    rows = sparse.vstack([sparse.eye_array(n), sparse.eye_array(n) + sparse.eye_array(n, k=1)])
    pattern = rows.tocsr()[: 2 * n - 1]

    def smooth(p: Any) -> Any:
        return {"data": p["y"] - target, "smooth": 3.0 * (p["y"][1:] ** 2 - p["y"][:-1] ** 2)}

    found = least_squares(smooth, {"y": np.ones(n)}, sparsity=pattern)
    wanted = least_squares(smooth, {"y": np.ones(n)})
    assert sparse.issparse(found.jac)
    np.testing.assert_allclose(found.x["y"], wanted.x["y"], atol=1e-4)
    assert found.fun["smooth"].shape == (n - 1,)


def test_the_solution_has_a_derivative() -> None:
    def fitted(shift: Any) -> Any:
        return least_squares(lambda p: residuals(p) + shift * T, START, xtol=1e-13).x["a"]

    step = 1e-4
    slope = (fitted(step) - fitted(-step)) / (2 * step)
    assert gw.grad(fitted)(0.0) == pytest.approx(slope, rel=1e-4)


def test_an_adapted_function() -> None:
    @gradwrap.adapting
    def filled(p: Any) -> Any:
        out = np.empty(30)
        for i, t in enumerate(T):
            out[i] = p["a"] + p["b"] * t - (2.0 * t - 1.0)
        return out

    found = least_squares(filled, {"a": 0.0, "b": 0.0}).x
    assert (found["a"], found["b"]) == (pytest.approx(-1.0), pytest.approx(2.0))


def test_what_is_supplied_is_refused() -> None:
    with pytest.raises(TypeError, match=r"jac has no use.*leave it out"):
        least_squares(residuals, START, jac="3-point")
    with pytest.raises(TypeError, match=r"jac_sparsity has no use.*pass sparsity="):
        least_squares(residuals, START, jac_sparsity=np.eye(3))


def test_bad_input_is_refused() -> None:
    with pytest.raises(NotAnArrayError, match="x0 holds no floating-point array"):
        least_squares(residuals, {"name": "a"})
    with pytest.raises(NotAnArrayError, match="what fun returned holds no floating-point array"):
        least_squares(lambda p: None, START)
    with pytest.raises(NonDifferentiableInputError, match="least_squares needs real arrays"):
        least_squares(lambda x: x, np.array([1j]))
    with pytest.raises(PytreeError, match="bounds of least_squares has another structure than x0"):
        least_squares(residuals, START, bounds={"a": (0.0, 1.0)})
