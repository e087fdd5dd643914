"""SciPy's functions with arguments in other forms: a sample of `tests/support/scipy_forms.py`."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import gradwrap as gw
import gradwrap.scipy as gs
from gradwrap.errors import NoRuleError
from gradwrap.scipy.table import all_rows, row_of
from samples import SAMPLES
from scipy_forms import cases, drawn, problem_of

sf: Any = importlib.import_module("scipy.fft")
integrate: Any = importlib.import_module("scipy.integrate")
sl: Any = importlib.import_module("scipy.linalg")
ndimage: Any = importlib.import_module("scipy.ndimage")


def differences(function: Any, x: Any) -> Any:
    """The slope of a function of numbers along each element."""
    found = []
    for place in range(x.size):
        step = np.zeros(x.shape)
        step.flat[place] = 1e-6
        found.append((function(x + step) - function(x - step)) / 2e-6)
    return np.reshape(found, x.shape)


@pytest.mark.slow
def test_many_forms_are_found() -> None:
    assert len(list(cases())) > 40_000


@pytest.mark.parametrize("path", sorted({row.path for row in all_rows()} & SAMPLES.keys()))
def test_form_is_right_or_refused(path: str) -> None:
    """One form of each row, drawn at random."""
    case = next(drawn(1, path=path))
    problem = problem_of(case, ["second", "batch"])

    assert problem in (None, "untried", "NaN") or problem.startswith("refused"), case.name


@pytest.mark.parametrize("name", ["dct", "dst", "idct", "idst"])
def test_transform_of_complex_numbers_is_transposed_as_scipy_computes_it(name: str) -> None:
    # up to 1.17, SciPy ignores `orthogonalize` of complex arrays
    x, w = np.random.default_rng(0).normal(size=(2, 5, 2)) @ np.array([1.0, 1j])

    def total(real: Any, transform: Any) -> Any:
        return np.sum(np.real(np.conj(w) * transform(real + 1j * x.imag, 2, orthogonalize=True)))

    found = gw.grad(lambda real: total(real, getattr(gs.fft, name)))(x.real)

    wanted = differences(lambda real: total(real, getattr(sf, name)), x.real)
    np.testing.assert_allclose(found, wanted, rtol=1e-7)


@pytest.mark.parametrize("name", ["correlate", "convolve", "correlate1d", "convolve1d"])
def test_complex_weights_are_conjugated_as_by_scipy(name: str) -> None:
    weights = np.array([0.3 + 0.7j, -0.2 + 0.1j, 0.5 - 0.4j])
    x = np.random.default_rng(0).normal(size=7)
    w = np.exp(1j * np.arange(7))

    def total(x: Any, filtered: Any) -> Any:
        return np.sum(np.real(w * filtered(x, weights)))

    found = gw.grad(lambda x: total(x, getattr(gs.ndimage, name)))(x)

    wanted = differences(lambda x: total(x, getattr(ndimage, name)), x)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.parametrize("mode", ["mirror", "reflect", "wrap", "grid-wrap", "nearest"])
@pytest.mark.parametrize("order", [1, 2, 5])
def test_axis_of_one_element_is_interpolated(mode: str, order: int) -> None:
    x = np.random.default_rng(0).normal(size=(1, 5))

    def total(x: Any, shifted: Any) -> Any:
        return np.sum(np.arange(5) * shifted(x, (0.3, 0.6), mode=mode, order=order))

    found = gw.grad(lambda x: total(x, gs.ndimage.shift))(x)

    np.testing.assert_allclose(found, differences(lambda x: total(x, ndimage.shift), x), rtol=1e-6)


@pytest.mark.parametrize("name", ["solve_continuous_are", "solve_discrete_are"])
def test_riccati_equation_has_the_derivative_of_a_hermitian_solution(name: str) -> None:
    r = np.random.default_rng(0)
    a, b = r.normal(size=(2, 2)), r.normal(size=(2, 1))
    q, w = np.array([[2.0, 0.4j], [-0.4j, 1.0]]), r.normal(size=(2, 2)) + 1j * r.normal(size=(2, 2))

    def total(a: Any, solve: Any) -> Any:
        return np.sum(np.real(w * solve(a, b, q, np.eye(1))))

    found = gw.grad(lambda a: total(a, getattr(gs.linalg, name)))(a)

    wanted = differences(lambda a: total(a, getattr(sl, name)), a)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.parametrize("name", ["boxcox_llf", "yeojohnson_llf"])
def test_likelihoods_of_columns(name: str) -> None:
    row = row_of(f"stats.{name}")
    assert row is not None
    data = np.random.default_rng(0).uniform(0.5, 2, (5, 3))

    def total(lmb: Any, likelihood: Any) -> Any:
        return likelihood(lmb, data) @ np.array([1.0, -2.0, 0.5])

    found = gw.grad(lambda lmb: total(lmb, getattr(gs.stats, name)))(0.3)

    def slope(h: float) -> Any:
        return (total(0.3 + h, row.original) - total(0.3 - h, row.original)) / (2 * h)

    wanted = (4 * slope(1e-3) - slope(2e-3)) / 3  # the columns nearly cancel: larger steps
    np.testing.assert_allclose(found, wanted, rtol=1e-8)


def test_distance_of_complex_vectors() -> None:
    u, v = np.array([1.0, 2.0]), np.array([0.5 + 1j, 1.0 - 0.5j])

    value, gradient = gw.value_and_grad(gs.spatial.distance.euclidean)(u, v)

    np.testing.assert_allclose(value, np.linalg.norm(u - v))
    np.testing.assert_allclose(gradient, np.real(u - v) / np.linalg.norm(u - v))


@pytest.mark.parametrize("name", ["tanhsinh", "cubature", "quad_vec"])
def test_derivative_in_equal_limits_is_refused(name: str) -> None:
    if not hasattr(integrate, name):
        pytest.skip("came with a later SciPy")

    def integral(b: Any) -> Any:
        limits = (np.array([0.5]), np.reshape(b, (1,))) if name == "cubature" else (0.5, b)
        result = getattr(gs.integrate, name)(lambda x: np.cos(x).reshape(np.shape(x)[:1]), *limits)
        return np.sum(result[0] if name == "quad_vec" else next(iter(vars(result).values())))

    with pytest.raises(NoRuleError, match=f"scipy.integrate.{name} .* limits that are equal.*quad"):
        gw.grad(integral)(0.5)


def test_formula_of_another_value_is_refused() -> None:
    x = np.array([[1.0, np.nan, 3.0, 2.0]])  # SciPy's filter skips the NaN, or keeps it

    with pytest.raises(NoRuleError, match=r"scipy\.ndimage\.maximum_filter gives another result"):
        gw.grad(lambda x: np.nansum(gs.ndimage.maximum_filter(x, 3)))(x)


def test_centres_of_an_iteration_that_stops_early_have_a_derivative() -> None:
    x = np.random.default_rng(21).normal(size=(300, 2))

    for seed in range(40):  # a few of which stop before the nearest centres are the same again
        found = gw.grad(lambda x, seed=seed: np.sum(gs.cluster.vq.kmeans(x, 6, rng=seed)[0]))(x)

        np.testing.assert_allclose(np.sum(found), 12)


def test_formula_of_another_value_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    row = row_of("linalg.det")
    assert row is not None
    kind: Any = row.kind
    monkeypatch.setattr(kind, "function", lambda a: 1.01 * np.linalg.det(a))

    with pytest.raises(NoRuleError, match=r"linalg\.det gives another result than SciPy"):
        gw.jvp(gs.linalg.det, [np.eye(2)], [np.eye(2)])


def test_wrong_derivative_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    case = next(case for case in cases(["linalg.expm-0-stack"]))
    assert problem_of(case, []) is None
    monkeypatch.setattr(
        "scipy_forms.dispatcher",
        lambda _: lambda x: gw.stop_gradient(sl.expm(np.asarray(x.detach()))) + 0 * x,
    )

    assert "by differences" in str(problem_of(case, []))
