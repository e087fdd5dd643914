"""Arguments of unusual shapes and kinds, and points at which a formula divides by zero.

`python tests/support/scipy_forms.py` found that derivatives at these were wrong or missing, or that
errors did not name the function.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import NoRuleError
from lambdas import fn

for _name in ("integrate", "interpolate", "linalg", "ndimage", "signal", "special", "stats"):
    importlib.import_module(f"gradwrap.scipy.{_name}")
gs: Any = importlib.import_module("gradwrap.scipy")
stats: Any = importlib.import_module("scipy.stats")
special: Any = importlib.import_module("scipy.special")


def along(function: Any, x: Any, t: Any) -> Any:
    return (function(x + 1e-6 * t) - function(x - 1e-6 * t)) / 2e-6


# Elliptic integrals and Bessel functions ----------------------------------------------------------


@pytest.mark.parametrize(("name", "sign"), [("ellipkinc", 1.0), ("ellipeinc", -1.0)])
@pytest.mark.parametrize("phi", [0.3, -2.0, 7.3, 100.0, -1e4])
def test_incomplete_integrals_over_many_periods(name: str, sign: float, phi: float) -> None:
    """At m = 0, the derivative in m is half of the integral of sin(t)**2."""
    function = getattr(gs.special, name)
    found = gw.grad(function, 1)(phi, 0.0)
    np.testing.assert_allclose(found, sign * (phi / 4 - np.sin(2 * phi) / 8), rtol=1e-12)
    found = gw.grad(gw.grad(function, 1), 0)(phi, 0.0)
    np.testing.assert_allclose(found, sign * np.sin(phi) ** 2 / 2, rtol=1e-9)
    slope = (function(phi, 0.04 + 1e-6) - function(phi, 0.04 - 1e-6)) / 2e-6
    np.testing.assert_allclose(gw.grad(function, 1)(phi, 0.04), slope, rtol=1e-7)


@pytest.mark.parametrize(
    ("name", "point", "wanted"),
    [
        ("elliprc", (0.0, 2.0), lambda out: -out / 4),
        ("elliprd", (0.0, 2.0, 3.0), None),
        ("elliprd", (2.0, 0.0, 3.0), None),
        ("elliprj", (0.0, 2.0, 3.0, 4.0), None),
        ("elliprj", (1.0, 0.0, 3.0, 1.0), None),
    ],
)
def test_carlsons_integrals_at_zero_have_slopes_in_the_last_argument(
    name: str, point: tuple[float, ...], wanted: Any
) -> None:
    function = getattr(special, name)
    *others, last = map(np.float64, point)
    at: Any = fn(lambda v: function(*others, v))
    slope = along(function if not others else at, last, 1.0)
    if wanted is not None:
        np.testing.assert_allclose(slope, wanted(function(*point)), rtol=1e-7)
    np.testing.assert_allclose(gw.grad(at)(last), slope, rtol=1e-7)
    second = along(gw.grad(at), last, 1.0)
    np.testing.assert_allclose(gw.grad(gw.grad(at))(last), second, rtol=1e-6)


@pytest.mark.parametrize("gap", [0.0, 1e-9, 1e-4, 0.0199, 0.0201, 3.0, -1.4])
def test_the_symmetric_integral_of_the_third_kind(gap: float) -> None:
    x, y, z = 1.3, 0.8, 2.1
    p = x * (1 + gap)
    found = gw.grad(special.elliprj, (0, 1, 2, 3))(*map(np.float64, (x, y, z, p)))
    if p < 0:  # a principal value
        point = np.array([x, y, z, p])
        wanted = [along(fn(lambda v: special.elliprj(*v)), point, e) for e in np.eye(4)]
        np.testing.assert_allclose(found, wanted, rtol=1e-6)
        return
    nodes, weights = np.polynomial.legendre.leggauss(200)
    share = (nodes + 1) / 2
    t = (share / (1 - share)) ** 2
    step = weights * share / (1 - share) ** 3
    density = 1.5 * step / (np.sqrt((t + x) * (t + y) * (t + z)) * (t + p))
    wanted = [np.sum(-0.5 * density / (t + at)) for at in (x, y, z)]
    np.testing.assert_allclose(found, [*wanted, np.sum(-density / (t + p))], rtol=1e-10)


@pytest.mark.parametrize("n", [0, 1, 2, 3])
@pytest.mark.parametrize("name", ["spherical_jn", "spherical_in"])
def test_slopes_of_spherical_bessel_functions_at_zero(name: str, n: int) -> None:
    def slope(z: Any) -> Any:
        return getattr(gs.special, name)(n, z, derivative=True)

    sign = 1 if name == "spherical_in" else -1  # j ~ z^n / (2 n + 1)!! (1 +- z^2 / (2 (2 n + 3)))
    wanted = {0: sign / 3, 2: 2 / 15}.get(n, 0.0)
    np.testing.assert_allclose(gw.grad(slope)(0.0), wanted, atol=1e-15)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_slopes_of_modified_bessel_functions_at_negative_whole_orders(n: int) -> None:
    x = 1.7
    slopes = [gw.grad(special.iv)(np.float64(order), x) for order in (-n, n)]
    # I(-v) = I(v) + 2/pi sin(v pi) K(v), DLMF 10.27.2
    np.testing.assert_allclose(-slopes[0], slopes[1] + 2 * (-1) ** n * special.kv(n, x), rtol=1e-12)
    by_order: Any = fn(lambda v: gw.grad(special.iv)(v, x))
    second = along(by_order, np.float64(-n), 1.0)
    np.testing.assert_allclose(gw.grad(by_order)(np.float64(-n)), second, rtol=1e-6)


# Statistics ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("skew", {}),
        ("sem", {"nan_policy": "propagate"}),
        ("gmean", {"nan_policy": "raise"}),
        ("tmean", {}),
        ("entropy", {}),
        ("kstat", {}),
        ("iqr", {}),
    ],
)
def test_statistics_keep_dimensions(name: str, more: dict[str, Any], axis: int) -> None:
    x, t = np.random.default_rng(4).uniform(0.5, 2, (2, 5, 4))
    options = {"axis": axis, "keepdims": True} | more
    found, tangent = gw.jvp(lambda x: getattr(gs.stats, name)(x, **options), (x,), (t,))
    np.testing.assert_array_equal(found, getattr(stats, name)(x, **options))
    wanted = along(lambda x: getattr(stats, name)(x, **options), x, t)
    np.testing.assert_allclose(tangent, wanted, rtol=1e-6, atol=1e-9)


def test_statistics_that_raise_at_nan_still_do() -> None:
    with pytest.raises(ValueError, match="nan"):
        gw.vjp(lambda x: gs.stats.skew(x, nan_policy="raise"), np.array([1.0, np.nan, 2.0]))


@pytest.mark.parametrize("name", ["variation", "trim_mean", "boxcox_llf"])
def test_formulas_of_statistics_that_raise_at_nan(name: str) -> None:
    def call(x: Any) -> Any:
        given = {"trim_mean": (x, 0.1), "boxcox_llf": (0.3, x)}.get(name, (x,))
        return getattr(gs.stats, name)(*given, nan_policy="raise")

    x = np.array([1.0, 2.5, 2.0])
    wanted = [along(call, x, e) for e in np.eye(3)]
    np.testing.assert_allclose(gw.grad(call)(x), wanted, rtol=1e-6)
    with pytest.raises(ValueError, match="nan"):
        gw.grad(call)(np.array([1.0, np.nan, 2.0]))


@pytest.mark.parametrize("intercept", [0.0, 0.3])
@pytest.mark.parametrize("slope", [2.0, 0.1, 1 / 3, 0.0])
def test_a_line_through_all_points(slope: float, intercept: float) -> None:
    x = np.array([0.0, 1.0, 2.0, 3.5, 4.0])
    y = slope * x + intercept
    found = gw.grad(lambda y: gs.stats.linregress(x, y).slope)(y)
    gaps = x - x.mean()
    np.testing.assert_allclose(found, gaps / np.sum(gaps**2), rtol=1e-12)
    np.testing.assert_array_equal(gw.grad(lambda y: gs.stats.linregress(x, y)[4])(y), 0)


def test_a_line_through_two_points() -> None:
    found = gw.grad(lambda y: gs.stats.linregress([1.0, 3.0], y).slope)(np.array([2.0, 7.0]))
    np.testing.assert_allclose(found, [-0.5, 0.5])


def test_a_sample_of_one_value_beside_another() -> None:
    x, y = np.array([0.3]), np.array([1.1, 0.2, 2.0])
    found = gw.grad(lambda x, y: gs.stats.ttest_ind(x, y).statistic, (0, 1))(x, y)
    alone: Any = fn(lambda v: stats.ttest_ind(v, y).statistic)
    beside: Any = fn(lambda v: stats.ttest_ind(x, v).statistic)
    for place, (one, at) in enumerate(((x, alone), (y, beside))):
        wanted = [along(at, one, e) for e in np.eye(len(one))]
        np.testing.assert_allclose(found[place], wanted, rtol=1e-6)


def test_lists_of_numbers_beside_a_tracked_sample() -> None:
    x = np.array([0.3, 1.2, 0.7, -0.9])
    others = [0.2, 0.9, 1.7]
    found = gw.grad(lambda x: gs.stats.levene(x, others)[0])(x)
    wanted = [along(lambda x: stats.levene(x, others)[0], x, e) for e in np.eye(4)]
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_likelihood_of_a_transformation_at_zero() -> None:
    data, t = np.array([0.0, -0.4, 1.2, 0.0, 0.7]), np.array([1.0, 0.3, -0.2, -0.5, 0.1])
    found = gw.jvp(lambda x: gs.stats.yeojohnson_llf(0.3, x), (data,), (t,))[1]
    wanted = along(lambda x: stats.yeojohnson_llf(0.3, x), data, t)
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


@pytest.mark.parametrize("beta", [0.8, 1.3, 2.0])
@pytest.mark.parametrize("method", ["cdf", "sf", "logcdf", "ppf", "isf"])
def test_the_middle_of_the_generalized_normal_distribution(method: str, beta: float) -> None:
    x = 0.5 if method in ("ppf", "isf") else 0.0
    found = gw.grad(getattr(gs.stats.gennorm, method), (0, 1))(x, beta)
    top = beta / (2 * special.gamma(1 / beta))
    slope = {"cdf": top, "sf": -top, "logcdf": 2 * top, "ppf": 1 / top, "isf": -1 / top}[method]
    np.testing.assert_allclose(found, [slope, 0.0], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", ["mean", "std"])
def test_moments_of_a_density_with_hypergeometric_constants(name: str) -> None:
    shapes = np.array([13.7, 3.1, 2.5, 5.2])
    found = gw.grad(lambda s: getattr(gs.stats.gausshyper, name)(*s))(shapes)
    wanted = [
        along(fn(lambda s: getattr(stats.gausshyper, name)(*s)), shapes, e) for e in np.eye(4)
    ]
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("diagonal", [[1.0, 0.0], [2.0, 0.5]])
def test_normal_distribution_of_a_covariance_object(diagonal: list[float]) -> None:
    cov = stats.Covariance.from_diagonal(diagonal)
    x = np.array([0.3, 0.0])
    found = gw.grad(lambda x: gs.stats.multivariate_normal.logpdf(x, np.zeros(2), cov))(x)
    np.testing.assert_allclose(found, [-0.3 / diagonal[0], 0.0], atol=1e-15)


# Errors -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "call", "x"),
    [
        ("linalg.fiedler_companion", lambda x: gs.linalg.fiedler_companion(x), np.ones(1)),
        ("signal.medfilt2d", lambda x: gs.signal.medfilt2d(x), np.ones((0, 8))),
        ("signal.qspline1d", lambda x: gs.signal.qspline1d(x), np.ones((1, 8))),
        ("ndimage.fourier_uniform", lambda x: gs.ndimage.fourier_uniform(x, 2.0), np.ones((0, 3))),
        ("stats.f_oneway", lambda x: gs.stats.f_oneway(x, x, axis=(0, 1)), np.ones((2, 3))),
    ],
)
def test_a_formula_that_does_not_take_the_arguments_is_named(name: str, call: Any, x: Any) -> None:
    with pytest.raises(NoRuleError, match=rf"{name} has .*derivative .*Fix: "):
        gw.vjp(call, x)


def test_an_error_of_scipys_stays_that_of_scipys() -> None:
    with pytest.raises(ValueError, match="at least two samples") as native:
        stats.levene(np.ones(3))
    with pytest.raises(ValueError, match="at least two samples") as found:
        gw.vjp(lambda x: gs.stats.levene(x), np.ones(3))
    assert str(found.value).startswith(str(native.value))
    assert not isinstance(found.value, NoRuleError)


def test_an_error_of_a_function_of_the_user_stays_as_it_is() -> None:
    def refuses(t: Any, y: Any) -> Any:
        raise LookupError("no such table")

    with pytest.raises(LookupError, match="no such table"):
        gw.vjp(lambda y: gs.integrate.solve_ivp(refuses, (0.0, 1.0), y).y, np.ones(2))


def test_a_formula_that_does_not_take_a_batch_takes_its_examples() -> None:
    a, b = np.random.default_rng(2).normal(size=(2, 3, 2, 5))

    def total(a: Any, b: Any) -> Any:
        return gs.stats.bartlett(a, b, axis=(0, 1))[0]

    found = gw.vmap(gw.grad(total), fallback="loop")(a, b)
    for one, x, y in zip(found, a, b, strict=True):
        np.testing.assert_allclose(one, gw.grad(total)(x, y), rtol=1e-12)
