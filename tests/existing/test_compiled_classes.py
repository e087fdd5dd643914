"""Classes of compiled modules in adapted code: plain arrays for them, refusals of tracked ones."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn.linear_model import Lars, LogisticRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.preprocessing import SplineTransformer
from sklearn.tree import DecisionTreeRegressor

import gradwrap as gw
from gradwrap.errors import AdaptationError

if TYPE_CHECKING:
    from collections.abc import Callable

optimize: Any = import_module("scipy.optimize")
X = np.array([0.3, 0.4])
POINTS = np.linspace(0.01, 0.99, 40)


def fitted(make: Callable[[], Any], labels: Any) -> Any:
    """Fit a model to arrays that the function makes."""
    p = np.linspace(0.01, 0.99, 40)
    features = np.hstack([np.log(p).reshape(-1, 1), np.log(1.0 - p).reshape(-1, 1)])
    return make().fit(features, labels(p)), features


def noisy(p: Any) -> Any:
    y = (p > 0.4).astype(float)
    y[::3] = 1.0 - y[::3]
    return y


def coefficients(x: Any) -> Any:
    model, _ = fitted(lambda: LogisticRegression(C=99.0), noisy)
    return np.sum(model.coef_.ravel() * x**2)


def predictions(x: Any, make: Callable[[], Any]) -> Any:
    model, features = fitted(make, noisy)
    return np.sum(model.predict(features[::7]) * np.sin(x[0] + np.arange(6.0))) * x[1]


@pytest.mark.slow
def test_a_fit_whose_loss_writes_to_the_arrays_that_it_is_given() -> None:
    """The arrays are made in adapted code; the method of a compiled class writes the gradient."""
    model, _ = fitted(lambda: LogisticRegression(C=99.0), noisy)
    wanted = 2.0 * model.coef_.ravel() * X
    f = gw.adapting(coefficients)
    assert np.allclose(gw.grad(f)(X), wanted, rtol=1e-12)
    assert np.allclose(gw.jvp(f, (X,), (X,))[1], wanted @ X, rtol=1e-12)
    assert np.allclose(gw.hessian(f)(X), np.diag(wanted / X), rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("make", [DecisionTreeRegressor, lambda: KNeighborsRegressor(3)])
def test_models_of_plain_data(make: Callable[[], Any]) -> None:
    """Constructors of compiled classes get plain arrays, and so do the arrays that they make."""
    model, features = fitted(make, noisy)
    found = model.predict(features[::7])
    angles = X[0] + np.arange(6.0)
    wanted = [np.sum(found * np.cos(angles)) * X[1], np.sum(found * np.sin(angles))]
    f = gw.adapting(predictions)
    for _ in range(2):  # the second call knows what to rewrite
        assert np.allclose(gw.grad(f)(X, make), wanted, rtol=1e-12)


def by_lars(p: Any) -> Any:
    """Go on with what SciPy leaves in an argument that it may overwrite."""
    return Lars().fit(np.stack([p, p**2, np.sin(9.0 * p)], axis=1), p + 2.0 * p**2).coef_


def by_splines(p: Any) -> Any:
    return SplineTransformer(n_knots=4).fit_transform(p.reshape(-1, 1))


@pytest.mark.parametrize("made", [by_lars, by_splines])
def test_what_is_made_of_plain_data(made: Callable[[Any], Any]) -> None:
    def f(x: Any) -> Any:
        found = made(np.linspace(0.01, 0.99, 40))
        return np.sum(found * np.cos(np.arange(float(found.size))).reshape(found.shape)) * x**2

    value, slope = gw.value_and_grad(gw.adapting(f))(1.5)
    assert np.allclose([value, slope], [f(1.5), 2.0 * f(1.5) / 1.5], rtol=1e-10)


def of_tracked_data(x: Any) -> Any:
    model, features = fitted(lambda: DecisionTreeRegressor(max_depth=1), lambda p: (p > 0.4) * x[0])
    return np.sum(model.predict(features)) * x[1]


def test_tracked_data_are_refused_with_a_remedy_that_works() -> None:
    with pytest.raises(AdaptationError, match=r'compiled code.*compiled="numerical"'):
        gw.grad(gw.adapting(of_tracked_data))(X)
    found = gw.grad(gw.adapting(of_tracked_data, compiled="numerical"))(X)
    count = np.sum(POINTS > 0.4)
    assert np.allclose(found, [count * X[1], count * X[0]], rtol=1e-9)


def by_a_loop(x: Any) -> Any:
    """Store tracked values into an array, and call the method of a compiled class."""
    table = np.random.default_rng(0).uniform(size=3)
    model, features = fitted(DecisionTreeRegressor, noisy)
    for i in range(3):
        table[i] = x[0] * model.predict(features[5 * i : 5 * i + 1])[0] + i * x[1]
    return np.sum(table * table)


def test_stores_and_calls_are_rewritten_together() -> None:
    model, features = fitted(DecisionTreeRegressor, noisy)
    a, i = model.predict(features[[0, 5, 10]]), np.arange(3.0)
    rows = 2.0 * (a * X[0] + i * X[1])
    assert np.allclose(gw.grad(gw.adapting(by_a_loop))(X), [rows @ a, rows @ i], rtol=1e-12)


# Solvers of plain functions -----------------------------------------------------------------------


@gw.primitive
def distances(v: Any) -> Any:
    """Return the distances from 2, without a derivative, as compiled code does."""
    return v - 2.0


SOLVERS: dict[str, Callable[[], Any]] = {
    "minimize": lambda: optimize.minimize(lambda v: np.sum(distances(v) ** 2), [0.5]).x[0],
    "minimize, jac": lambda: optimize.minimize(
        lambda v: (np.sum(distances(v) ** 2), 2.0 * distances(v)), [0.5], jac=True
    ).x[0],
    "minimize_scalar": lambda: optimize.minimize_scalar(lambda v: distances(v) ** 2).x,
    "least_squares": lambda: optimize.least_squares(distances, [0.5]).x[0],
    "leastsq": lambda: optimize.leastsq(distances, [0.5])[0][0],
    "curve_fit": lambda: optimize.curve_fit(
        lambda t, a: t * distances(a), np.arange(3.0), np.zeros(3)
    )[0][0],
}


@pytest.mark.parametrize("name", SOLVERS)
def test_a_solver_without_tracked_values_needs_no_derivative(name: str) -> None:
    def f(x: Any) -> Any:
        return SOLVERS[name]() * x[0] * x[1]

    assert np.allclose(gw.grad(gw.adapting(f))(X), [0.8, 0.6], rtol=1e-4)


def test_a_solver_whose_start_has_no_tracked_value() -> None:
    """The function reads the tracked value near its solution alone."""

    def f(x: Any) -> Any:
        def cost(v: Any) -> Any:
            return (v[0] - x[0]) ** 2 if v[0] < 1.0 else v[0] ** 2

        return optimize.minimize(cost, [5.0], method="Nelder-Mead", tol=1e-12).x[0] * x[1]

    assert np.allclose(gw.grad(gw.adapting(f))(X), [0.4, 0.3], rtol=1e-5)
