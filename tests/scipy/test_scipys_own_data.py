"""Calls that SciPy's own tests make: `scipys_tests.py` found that their derivatives were wrong."""

from __future__ import annotations

import functools
import importlib
from typing import Any

import numpy as np
import pytest

import gradwrap as gw
import gradwrap.scipy as gs
from gradwrap.errors import NoRuleError
from lambdas import fn

scipy: Any = importlib.import_module("scipy")
for _name in (
    *(
        "integrate",
        "interpolate",
        "linalg",
        "ndimage",
        "signal",
        "optimize",
        "sparse.linalg",
        "spatial.distance",
    ),
    *("special", "stats"),
):
    importlib.import_module(f"scipy.{_name}")
MATRIX = np.array([[0.7, 0.2, -0.1], [0.4, 1.3, 0.3], [-0.5, 0.6, 2.0]])
TURN = np.array([[1.0, 2.0], [-2.0, 1.0]])


def along(function: Any, x: Any, t: Any) -> Any:
    return (function(x + 1e-6 * t) - function(x - 1e-6 * t)) / 2e-6


def check(path: str, part: Any, x: Any, *, rtol: float = 1e-6) -> None:
    """Compare both modes with differences of SciPy's results, along one direction."""
    of_ours, of_scipys = (functools.partial(part, getattr_of(owner, path)) for owner in (gs, scipy))
    t = np.cos(np.arange(np.size(x)).reshape(np.shape(x)))
    wanted = np.asarray(along(of_scipys, x, t))
    _, forward = gw.jvp(of_ours, [x], [t])
    np.testing.assert_allclose(forward, wanted, rtol=rtol, atol=1e-7)
    w = np.sin(1.0 + np.arange(wanted.size).reshape(wanted.shape))
    gradient = gw.grad(lambda x: np.sum(w * of_ours(x)))(x)
    np.testing.assert_allclose(np.sum(gradient * t), np.sum(w * wanted), rtol=rtol, atol=1e-7)


def getattr_of(owner: Any, path: str) -> Any:
    for name in path.split("."):
        owner = getattr(owner, name)
    return owner


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("factor", [0, 1])
@pytest.mark.parametrize(
    "a", [np.eye(3), np.diag([1.0, 1.0, 2.0]), MATRIX, MATRIX[:, :2], MATRIX[:2]]
)
def test_polar_factors_at_equal_singular_values(side: str, factor: int, a: Any) -> None:
    check("linalg.polar", fn(lambda f, a: f(a, side=side)[factor]), a)


@pytest.mark.parametrize("a", [np.zeros((2, 2)), np.diag([1.0, 0.0]) + 0j, np.ones((3, 2))])
def test_polar_factors_of_a_matrix_of_lower_rank_are_refused(a: Any) -> None:
    with pytest.raises(NoRuleError, match="polar has no derivative at a matrix of lower rank"):
        gw.grad(lambda a: np.sum(np.real(gs.linalg.polar(a)[0])))(a)


COMPILED: dict[str, Any] = {
    "polar": lambda a: np.sum(gs.linalg.polar(a)[1] ** 3),
    "solve_sylvester": lambda a: np.sum(gs.linalg.solve_sylvester(a, np.eye(3), MATRIX)),
    "tvar": lambda a: gs.stats.tvar(a, (-1.0, 1.5), axis=None),
}


@pytest.mark.parametrize("name", COMPILED)
def test_it_is_compiled(name: str) -> None:
    gradient = gw.grad(COMPILED[name])
    compiled = gw.compile(gradient)
    for a in (MATRIX, MATRIX + 0.125 * np.eye(3), MATRIX.T):
        np.testing.assert_allclose(compiled(a), gradient(a), rtol=1e-9)
    assert compiled.source


@pytest.mark.parametrize("angle", [90, -90, 180, 270, 30])
@pytest.mark.parametrize("order", [0, 1, 3])
def test_rotation_by_right_angles_moves_all_pixels(angle: int, order: int) -> None:
    image = np.arange(15.0).reshape(3, 5) % 7
    check("ndimage.rotate", fn(lambda f, x: f(x, angle, order=order)), image)


def test_equation_of_real_and_complex_matrices_is_refused_where_scipy_is_wrong() -> None:
    a, b, q = TURN, np.eye(2) + 0j, np.eye(2)
    x = scipy.linalg.solve_sylvester(a, b, q)
    assert np.max(np.abs(a @ x + x @ b - q)) > 0.1  # no solution

    with pytest.raises(NoRuleError, match=r"Fix: pass complex matrices alone: a \+ 0j"):
        gw.grad(lambda a: np.sum(np.abs(gs.linalg.solve_sylvester(a, b, q))))(a)
    check(
        "linalg.solve_sylvester",
        fn(lambda f, a: np.real(f(a + 0j, b, q + 0j)) - np.imag(f(a + 0j, b, q + 0j))),
        a,
    )


@pytest.mark.parametrize("name", ["RegularGridInterpolator", "interpn"])
@pytest.mark.parametrize("method", ["linear", "nearest", "cubic"])
@pytest.mark.parametrize("fill_value", [7.0, np.nan, None])
def test_points_outside_of_a_grid_have_constant_values(
    name: str, method: str, fill_value: float | None
) -> None:
    axes = (np.arange(5.0), np.arange(4.0))
    at = np.array([[5.5, 1.2], [0.3, 2.4], [2.2, -0.7], [3.1, 1.9]])
    options = {"method": method, "bounds_error": False, "fill_value": fill_value}

    def values(f: Any, v: Any) -> Any:
        found = f(axes, v, at, **options) if name == "interpn" else f(axes, v, **options)(at)
        return np.nan_to_num(found)

    rtol = 1e-3 if method == "cubic" else 1e-6  # SciPy solves for the spline by iteration
    check(f"interpolate.{name}", values, np.arange(20.0).reshape(5, 4) ** 2 % 11, rtol=rtol)


@pytest.mark.parametrize("name", ["jn", "yn", "in", "kn"])
@pytest.mark.parametrize("derivative", [False, True])
def test_spherical_bessel_functions_of_negative_numbers(name: str, derivative: bool) -> None:
    x = np.array([-7.3, -2.0, -0.4, 0.3, 2.5])
    for n in range(4):
        check(f"special.spherical_{name}", functools.partial(of_order, n, derivative), x)


def of_order(n: int, derivative: bool, f: Any, x: Any) -> Any:
    return f(n, x, derivative)


def test_legendre_functions_at_the_poles() -> None:
    for v in range(5):
        for m in [m for m in (0, 2, -2, 3, 4) if abs(m) <= v]:
            for pole in (-1.0, 1.0):
                found = gw.grad(lambda x, m=m, v=v: gs.special.lpmv(m, v, x))(pole)
                near = pole * (1 - 1e-9)
                inside = gw.grad(lambda x, m=m, v=v: gs.special.lpmv(m, v, x))(near)
                np.testing.assert_allclose(found, inside, rtol=1e-6, atol=5e-2)
    assert gw.grad(lambda x: gs.special.lpmv(1, 1, x))(1.0) == np.inf


def test_logarithm_of_a_complex_number_is_not_that_of_its_real_part() -> None:
    z, x = 0.4 + 0.3j, np.array([0.7, 1.3])
    for y in (z, np.asarray(z), np.array([z, 2 * z])):
        found = gw.grad(lambda x, y=y: np.sum(np.imag(scipy.special.xlogy(x, y))))(x)
        np.testing.assert_allclose(found, np.imag(np.log(y)) * np.ones(2))
        _, tangent = gw.jvp(lambda x, y=y: scipy.special.xlog1py(x, y), [x], [np.ones(2)])
        np.testing.assert_allclose(tangent, np.log1p(y) * np.ones(2))
    found = gw.jvp(scipy.special.rgamma, [z], [1.0 + 0j])[1]
    np.testing.assert_allclose(found, -scipy.special.psi(z) * scipy.special.rgamma(z))


@pytest.mark.parametrize(
    ("function", "fix"),
    [
        (fn(lambda v: scipy.special.kv(v, 0.4 + 0.3j)), "pass real arguments"),
        (fn(lambda v: scipy.special.ive(v, 0.4 + 0.3j)), "pass real arguments"),
        (fn(lambda a: scipy.special.hyp1f1(a, 1.2, 0.4 + 0.3j)), "pass real arguments"),
        (fn(lambda a: scipy.special.hyp2f1(1.3, 1.2, a, 0.4j)), "pass real arguments"),
        (fn(lambda x: scipy.special.jve(1.0, x + 1j)), r"special.jv\(v, z\) \* exp\(-abs\(imag"),
        (fn(lambda x: scipy.special.ive(1.0, x + 1j)), r"special.iv\(v, z\) \* exp\(-abs\(real"),
        (fn(lambda x: scipy.special.airye(x + 1j)[0]), r"special.airy\(z\)"),
        (fn(lambda x: scipy.special.digamma(x + 1j)), "pass real arguments"),
    ],
)
def test_formulas_of_real_arguments_refuse_complex_ones(function: Any, fix: str) -> None:
    with pytest.raises(NoRuleError, match=f"no rule for complex arguments. Fix: {fix}"):
        gw.grad(lambda x: np.abs(function(x)))(0.8)


def test_integrals_to_infinity_by_tanhsinh() -> None:
    def integral(f: Any, s: Any) -> Any:
        whole = f(lambda x: np.exp(-s * x * x), -np.inf, np.inf).integral
        return whole + f(lambda x: np.exp(-s * x * x), s, np.inf).integral

    check("integrate.tanhsinh", integral, np.asarray(0.7))


def test_logarithm_of_an_integral_with_tracked_limits() -> None:
    check(
        "integrate.tanhsinh",
        fn(lambda f, b: f(lambda x: -x * x, -1.0, b, log=True).integral),
        np.asarray(0.7),
    )
    with pytest.raises(NoRuleError, match=r"tanhsinh .* one pair of limits in rising order"):
        gw.grad(lambda a: np.sum(gs.integrate.tanhsinh(np.exp, -np.inf, a).integral))(np.ones(2))


@pytest.mark.parametrize("name", ["tmean", "tvar", "tstd", "tsem"])
@pytest.mark.parametrize("limits", [None, (-1.0, 1.2), (None, 0.8), (-0.5, None)])
def test_moments_within_limits(name: str, limits: Any) -> None:
    x = np.random.default_rng(0).normal(size=(20, 2))
    for axis in (0, None):
        check(f"stats.{name}", functools.partial(within, limits, axis), x)
    x[3, 0] = np.nan
    check(f"stats.{name}", fn(lambda f, y: f(y, limits, nan_policy="omit", axis=None)), x.ravel())


def within(limits: Any, axis: int | None, f: Any, x: Any) -> Any:
    return f(x, limits, (True, False), axis)


@pytest.mark.parametrize("name", ["gstd", "zscore", "tmean"])
def test_what_is_omitted_gets_no_cotangent(name: str) -> None:
    x = np.random.default_rng(0).uniform(0.2, 1.0, (3, 5))
    x[0, 2] = x[1, 3] = np.nan
    axis = {} if name == "tmean" else {"axis": 1}
    t = np.where(np.isnan(x), 0.0, np.cos(np.arange(15.0).reshape(3, 5)))

    def found(x: Any, owner: Any) -> Any:
        return getattr(owner.stats, name)(x, nan_policy="omit", **axis)

    wanted = along(lambda x: found(x, scipy), x, t)
    np.testing.assert_allclose(gw.jvp(lambda x: found(x, gs), [x], [t])[1], wanted, rtol=1e-6)
    weights = np.sin(1.0 + np.arange(np.size(wanted)).reshape(np.shape(wanted)))
    gradient = gw.grad(lambda x: np.nansum(weights * found(x, gs)))(x)
    np.testing.assert_allclose(np.nansum(gradient * t), np.nansum(weights * wanted), rtol=1e-6)


def test_slices_of_other_lengths_are_refused() -> None:
    x = np.array([[1.0, np.nan, 3.0], [2.0, 5.0, 4.0]])
    with pytest.raises(NoRuleError, match=r"sem has no derivative with nan_policy='omit'.*isnan"):
        gw.grad(lambda x: np.sum(gs.stats.sem(x, axis=1, nan_policy="omit")))(x)


CALLS: dict[str, tuple[Any, Any]] = {
    "signal.czt": (lambda f, x: np.real(f(x, m=4, a=1)), np.array([0.3, 1.0, 2.0])),
    "signal.bilinear": (lambda f, b: f(b, [0.0, 1.0, 0.5], 0.5)[0], np.array([0.4, 0.2])),
    "signal.bilinear of a lower degree": (
        lambda f, b: np.concatenate(f(b, [1.0, 0.5, 0.1], 0.5)),
        np.array([0.0, 0.2]),
    ),
    "signal.ss2tf": (lambda f, a: f(a, 1.0, 1.0, 0.5)[0], np.asarray(-0.7)),
    "signal.tf2ss": (
        lambda f, b: np.concatenate([np.ravel(part) for part in f(b, [1.0, 2.0, 3.0])]),
        np.array([[1.0, 2.0], [3.0, 1.0]]),
    ),
    "interpolate.splev": (
        lambda f, c: f(np.array([0.2, 0.7]), (np.array([0.0] * 4 + [1.0] * 4), list(c), 3))[1],
        np.arange(8.0).reshape(2, 4) ** 2,
    ),
    "ndimage.maximum": (
        lambda f, x: f(x, labels=np.array([[1, 2], [2, 3]]), index=[2, 3, 8]),
        np.array([[1.0, 2.0], [4.0, 3.0]]),
    ),
    "linalg.pinv": (lambda f, a: f(a, return_rank=True)[0], np.stack([MATRIX, MATRIX.T])),
    "linalg.matrix_balance": (
        lambda f, a: f(a, separate=True)[0],
        np.stack([MATRIX * [[1, 100, 1]], MATRIX]),
    ),
    "linalg.solve_continuous_are": (
        lambda f, a: f(a, np.array([[0.0], [1.0]]), np.eye(2), 1),
        np.array([[0.0, 1.0], [0.2, 0.0]]),
    ),
    "integrate.cumulative_simpson": (
        lambda f, y: f(y, dx=0.5, axis=0, initial=np.ones((1, 3))),
        np.arange(3.0).reshape(1, 3),
    ),
}


@pytest.mark.parametrize("path", CALLS)
def test_call_has_the_derivative_of_differences(path: str) -> None:
    check(path.partition(" ")[0], *CALLS[path], rtol=1e-5)


def test_calls_without_a_derivative_are_refused() -> None:
    with pytest.raises(NoRuleError, match=r"a number for the matrix has no rule. Fix: b / a"):
        gw.grad(lambda a: np.sum(gs.linalg.solve(a, np.ones(3))))(2.0)
    for name in ("eig", "eigvals"):
        with pytest.raises(NoRuleError, match=rf"{name} with b= .* eigenvalue is infinite"):
            gw.grad(
                lambda a, name=name: (
                    np.sum(
                        np.abs(np.reshape(getattr(gs.linalg, name)(a, np.diag([1.0, 0.0])), -1)[0])
                    )
                    if name == "eigvals"
                    else np.sum(np.abs(getattr(gs.linalg, name)(a, np.diag([1.0, 0.0]))[1]))
                )
            )(TURN)


def test_guess_of_a_search_that_stops_early_is_refused() -> None:
    def found(x: Any) -> Any:
        return gs.optimize.least_squares(lambda x: x**2 + 5, x, max_nfev=1).x[0]

    with pytest.raises(NoRuleError, match=r"least_squares found no solution .*allow more iter"):
        gw.grad(found)(np.array([2.0]))


def test_minimum_that_is_not_the_only_one_is_refused() -> None:
    def found(a: Any) -> Any:
        return np.sum(gs.optimize.minimize(lambda x: (x[0] + x[1] - a) ** 2, np.ones(2)).x)

    with pytest.raises(NoRuleError, match=r"the Jacobian is singular at the solution"):
        gw.grad(found)(1.5)


def test_other_results_than_those_of_scipys_objects_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = importlib.import_module("gradwrap.scipy.rules.interpolate")
    monkeypatch.setattr(module, "_within", lambda axes, xi, value, fill: value)
    axes, at = (np.arange(3.0), np.arange(3.0)), np.array([[5.0, 1.0]])

    with pytest.raises(NoRuleError, match=r"RegularGridInterpolator gives another result"):
        gw.grad(
            lambda v: np.sum(
                gs.interpolate.RegularGridInterpolator(
                    axes, v, bounds_error=False, fill_value=999.0
                )(at)
            )
        )(np.arange(9.0).reshape(3, 3))


def test_spline_outside_of_its_rectangle_has_the_derivatives_at_the_edge() -> None:
    x, z = np.arange(1.0, 6.0), np.ones((5, 5))
    z[2, 2] = 3.0  # a row of equal values: the spline is constant along it
    z[:, 1] = 2.0

    for arguments in ((x, x, z, 0.5, 4.2), (x, x, z, 3.3, 7.0), (x, x, z, 0.0, 0.0)):
        for place in range(5):
            check(
                "interpolate.RectBivariateSpline",
                functools.partial(_evaluated, arguments, place),
                np.asarray(arguments[place]),
                rtol=1e-5,
            )


def _evaluated(arguments: tuple[Any, ...], place: int, kind: Any, value: Any) -> Any:
    given: list[Any] = [*arguments]
    given[place] = value
    x, y, z, a, b = given
    return kind(x, y, z)(a, b)


def test_linear_interpolation_on_a_given_triangulation() -> None:
    points = np.array([[0.0, 0.0], [1.0, 0.1], [0.2, 1.0], [1.1, 0.9]])
    triangles = scipy.spatial.Delaunay(points)
    at = np.array([[0.3, 0.3], [0.8, 0.6]])

    check(
        "interpolate.LinearNDInterpolator",
        lambda kind, values: kind(triangles, values)(at),
        np.array([0.3, -1.0, 2.0, 0.7]),
    )


def test_roots_of_a_rational_interpolant() -> None:
    x = np.linspace(-1.0, 1.0, 7)  # five of the six roots are not real numbers, or not between

    def weighted(kind: Any, y: Any) -> Any:
        roots = kind(x, y).roots()
        return np.stack([np.real(roots), np.imag(roots)])

    check("interpolate.FloaterHormannInterpolator", weighted, np.exp(x) - 1.3, rtol=1e-5)


COMPLEX = MATRIX + 0.5j * MATRIX.T + 2 * np.eye(3)
RIGHT = np.array([1.0 + 0.5j, -0.3j, 2.0])


@pytest.mark.parametrize("b", [np.stack([np.real(RIGHT), np.imag(RIGHT)]), np.real(RIGHT)])
@pytest.mark.parametrize("matrix", [COMPLEX, MATRIX])
@pytest.mark.parametrize("name", ["spsolve", "gmres", "expm_multiply"])
def test_products_with_the_adjoint_of_a_complex_matrix(name: str, matrix: Any, b: Any) -> None:
    sparse = scipy.sparse.csc_array(matrix)
    options = {"rtol": 1e-13} if name == "gmres" else {}

    def solved(function: Any, b: Any) -> Any:
        found = function(sparse, b if b.ndim == 1 else b[0] + 1j * b[1], **options)
        return np.stack([np.real(one := found[0] if options else found), np.imag(one)])

    check(f"sparse.linalg.{name}", solved, b)


def test_systems_of_linear_operators() -> None:
    operator = scipy.sparse.linalg.aslinearoperator(COMPLEX)

    def first(a: Any, b: Any) -> Any:
        return np.real(gs.sparse.linalg.gmres(a, b, rtol=1e-13)[0][0])

    of_operator, of_matrix = (
        gw.grad(first, 1)(a, RIGHT) for a in (operator, scipy.sparse.csc_array(COMPLEX))
    )
    np.testing.assert_allclose(of_operator, of_matrix, rtol=1e-9)
    trace = np.trace(COMPLEX)
    pulled = gw.vjp(lambda b: gs.sparse.linalg.expm_multiply(operator, b, traceA=trace), RIGHT)[1]
    np.testing.assert_allclose(
        pulled(RIGHT)[0], scipy.linalg.expm(np.conj(COMPLEX.T)) @ RIGHT, rtol=1e-9
    )


def test_singular_systems_are_refused() -> None:
    with pytest.raises(NoRuleError, match=r"a singular matrix has no derivative\. Fix: .*lsqr"):
        gw.grad(lambda b: np.sum(gs.sparse.linalg.lgmres(np.diag([1.0, 0.0]), b)[0]))(
            np.array([1.0, 0.0])
        )


@pytest.mark.parametrize("name", ["lsqr", "lsmr"])
def test_least_squares_of_a_number(name: str) -> None:
    a = np.array([[1.0, 2.0]])
    check(f"sparse.linalg.{name}", lambda function, b: function(a, b)[0], np.asarray(3.0))


@pytest.mark.parametrize(
    ("n", "k"),
    [
        (2.0, 3.0),
        (2.0, 5.0),
        (0.0, 1.0),
        (0.0, 0.0),
        (2.5, 4.5),
        (5.0, -1.0),
        (2.5, -2.0),
        (9.0, 9.0),
    ],
)
def test_binomial_coefficients_that_are_zero(n: float, k: float) -> None:
    scale = scipy.special.gamma(n + 1)  # the reciprocals of the gamma functions have slopes

    def reciprocal(x: float) -> tuple[float, float]:
        value = scipy.special.rgamma(x)
        return value, float(along(scipy.special.rgamma, x, 1.0))

    (p, dp), (q, dq) = reciprocal(k + 1), reciprocal(n - k + 1)
    by_n = scale * p * (scipy.special.digamma(n + 1) * q + dq)
    by_k = scale * (dp * q - p * dq)
    found = gw.grad(scipy.special.binom, (0, 1))(np.float64(n), np.float64(k))

    np.testing.assert_allclose(found, (by_n, by_k), rtol=1e-6, atol=1e-8)


def test_second_derivatives_of_a_binomial_coefficient_that_is_zero() -> None:
    point = np.array([2.0, 3.0])  # near it: sinc(n - k) / binom(k, n)
    found = gw.hessian(lambda v: scipy.special.binom(v[0], v[1]))(point)

    np.testing.assert_allclose(found, [[1, -10 / 9], [-10 / 9, 11 / 9]])


@pytest.mark.parametrize("gap", [0.0, 1e-9, 1e-3, 0.039, 0.041])
def test_carlsons_integral_of_equal_arguments(gap: float) -> None:
    x, y = 1.3, 0.8
    z = x * (1 + gap)
    total = gw.grad(scipy.special.elliprd, (0, 1, 2))(*map(np.float64, (x, y, z)))

    nodes, weights = np.polynomial.legendre.leggauss(200)
    share = (nodes + 1) / 2
    t = (share / (1 - share)) ** 2
    step = weights * share / (1 - share) ** 3
    density = 1.5 / np.sqrt((t + x) * (t + y) * (t + z) ** 3)
    wanted = [
        np.sum(step * density * factor / (t + at))
        for factor, at in ((-0.5, x), (-0.5, y), (-1.5, z))
    ]
    np.testing.assert_allclose(total, wanted, rtol=1e-9)


def test_carlsons_integral_of_three_equal_arguments() -> None:
    found = gw.hessian(lambda v: scipy.special.elliprd(v[0], v[1], v[2]))(np.ones(3))

    np.testing.assert_allclose(np.diag(found), [9 / 28, 9 / 28, 45 / 28])


def test_parameters_that_are_not_determined_are_refused() -> None:
    x = np.arange(1.0, 7.0)

    def sum_of_parameters(y: Any) -> Any:
        with pytest.warns(scipy.optimize.OptimizeWarning):
            return gs.optimize.curve_fit(lambda x, a, b: a * x + 0 * b, x, y)[0][0]

    with pytest.raises(NoRuleError, match=r"curve_fit: the Jacobian is singular"):
        gw.grad(sum_of_parameters)(np.array([1.0, 2.0, 3.0, 4.0, 5.5, 6.0]))


@pytest.mark.parametrize(
    "name", ["dice", "rogerstanimoto", "russellrao", "sokalsneath", "yule", "hamming", "jaccard"]
)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_dissimilarities_of_shares(name: str, place: int) -> None:
    u, v, w = (
        np.array([1.0, 0.0, 1, 0.0, 1]),
        np.array([0.0, 1, 1, 0, 1]),
        np.array([0.3, 1, 2, 1.5, 0.7]),
    )

    def at(function: Any, value: Any) -> Any:
        given = [u, v, w]
        given[place] = value
        return function(*given)

    if name in ("hamming", "jaccard") and place < 2:  # these compare, so only weights have slopes
        function = getattr(gs.spatial.distance, name)
        np.testing.assert_array_equal(gw.grad(fn(lambda x: at(function, x)))((u, v)[place]), 0)
    else:
        check(f"spatial.distance.{name}", at, (u, v, w)[place])


@pytest.mark.parametrize("name", ["ttest_ind", "ttest_rel"])
def test_degrees_of_freedom_of_a_slice_with_nan(name: str) -> None:
    a = np.array([[1.0, np.nan], [-1.0, 1.0], [0.5, 2.0]])
    b = np.array([[0.3, 0.1], [0.2, 0.5], [0.9, 1.0]])
    found: Any = []

    def statistic(a: Any) -> Any:
        found.append(getattr(gs.stats, name)(a, b))
        return found[0].statistic[0]

    gradient = gw.grad(statistic)(a)
    np.testing.assert_array_equal(
        np.asarray(gw.unwrap(found[0].df)), getattr(scipy.stats, name)(a, b).df
    )
    part = fn(lambda a: getattr(gs.stats, name)(a, b[:, 0]).statistic)
    np.testing.assert_allclose(gradient[:, 0], gw.grad(part)(a[:, 0]))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("fisk", (0.6, 1.0)),
        ("genextreme", (0.5, 0.0)),
        ("genextreme", (0.4, 0.3)),
        ("genextreme", (0.6, -1e-6)),
        ("genpareto", (0.3, 0.0)),
        ("genpareto", (0.3, -0.4)),
        ("genlogistic", (0.0, 1.5)),
        ("genlogistic", (0.7, 0.6)),
        ("skewnorm", (0.9, 0.0)),
        ("skewnorm", (0.8, -1.2)),
        ("t", (0.6, np.inf)),
        ("t", (0.6, 3.0)),
    ],
)
@pytest.mark.parametrize("method", ["pdf", "logpdf", "cdf", "sf", "ppf", "isf"])
def test_distributions_where_a_shape_is_special(name: str, arguments: Any, method: str) -> None:
    if method in ("ppf", "isf"):
        arguments = (arguments[0] or 0.5, arguments[1])
    for place in range(2):

        def at(function: Any, value: Any, place: int = place) -> Any:
            return function(*arguments[:place], value, *arguments[place + 1 :])

        check(f"stats.{name}.{method}", at, np.asarray(arguments[place]), rtol=1e-5)


@pytest.mark.parametrize(
    ("name", "shape"), [("t", 5.5), ("t", 3.5), ("pareto", 5.5), ("pareto", 3.5)]
)
def test_all_four_moments(name: str, shape: float) -> None:
    def moments(distribution: Any, shape: Any) -> Any:
        found = np.stack(distribution.stats(shape, moments="mvsk"))
        return np.where(np.isfinite(found), found, 0.0)

    check(f"stats.{name}", moments, np.asarray(shape))
    found = gw.vjp(
        lambda x: gs.stats.t.stats(x, moments="mvsk"), np.array([0.5, 1.5, 2.5, 3.5, np.inf])
    )[0]
    wanted = scipy.stats.t.stats(np.array([0.5, 1.5, 2.5, 3.5, np.inf]), moments="mvsk")
    np.testing.assert_allclose(np.stack(found), np.stack(wanted))


C = np.array([1.0, 4.0, 9.0, 16.0, 20.0, 30.0])
AT_THE_END = {
    **dict.fromkeys(("constant", "wrap"), 10.0),  # from the left: there is a jump
    **dict.fromkeys(("nearest", "reflect"), 0.0),
    "mirror": -10.0,
    "grid-wrap": -29.0,
    "grid-constant": -30.0,
}


@pytest.mark.parametrize("mode", AT_THE_END)
def test_linear_interpolation_at_elements_has_the_slope_from_the_right(mode: str) -> None:
    def value(x: Any) -> Any:
        return gs.ndimage.map_coordinates(C, [x[None]], order=1, mode=mode)[0]

    slopes = [gw.grad(value)(np.array(x)) for x in (0.0, 1.0, 2.0, 5.0)]

    assert slopes == [3.0, 5.0, 7.0, AT_THE_END[mode]]


def test_an_image_that_is_moved_beyond_its_ends_does_not_change() -> None:
    image, matrix = np.arange(30.0).reshape(5, 6) ** 2, np.array([0.9, 0.8])

    def total(matrix: Any, offset: Any) -> Any:
        return np.sum(gs.ndimage.affine_transform(image, matrix, offset, order=1, mode="nearest"))

    for found in gw.grad(total, (0, 1))(matrix, np.array([310.0, 230.0])):
        np.testing.assert_allclose(found, [0.0, 0.0], atol=1e-9)


def test_trapezoid_broadcasts_its_points_first() -> None:
    x, y = np.array([[0.1, 0.4, 0.9, 1.0]]), np.arange(12.0).reshape(1, 3, 4)

    assert np.all(gw.grad(lambda y: np.sum(gs.integrate.trapezoid(y, x, axis=1)))(y) == 0.0)


def test_fftconvolve_of_no_elements_is_empty() -> None:
    found = gw.vjp(gs.signal.fftconvolve, np.zeros(0), np.ones(3))

    assert found[0].shape == (0,)
    assert [g.shape for g in found[1](np.zeros(0))] == [(0,), (3,)]
