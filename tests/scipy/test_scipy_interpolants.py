"""Interpolants of tracked values and points, and at tracked places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.interpolate as native
from scipy.sparse.linalg import spsolve

import gradwrap as gw
from gradwrap.errors import NoRuleError
from gradwrap.scipy import interpolate
from lambdas import fn

if TYPE_CHECKING:
    from collections.abc import Callable

RANDOM = np.random.default_rng(3)
X = np.array([0.0, 0.5, 1.1, 1.4, 2.2, 2.9, 3.5])
Y = RANDOM.normal(size=7)
AT = np.array([0.3, 1.27, 2.4, 3.1])
GRID = RANDOM.normal(size=(7, 6))
U = np.array([0.0, 0.4, 1.0, 1.7, 2.1, 3.0])
SCATTERED = RANDOM.uniform(size=(9, 2))
INSIDE = np.array([[0.5, 0.5], [0.45, 0.6]])
KNOTS = np.array([0.0] * 4 + [1.0, 2.0] + [3.5] * 4)
new: Any = interpolate
BERNSTEIN = RANDOM.normal(size=(4, 6, 2))
COEFFICIENTS = RANDOM.normal(size=(6, 6, 2))
LINE = np.linspace(-1, 1, 25)
CURVE = np.exp(LINE) * np.sin(3 * LINE) + 0.3 / (LINE - 1.5)
CASES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "interp1d arguments": (
        lambda x, y: new.interp1d(x, y).y * new.interp1d(x, y, assume_sorted=True).x,
        (X, Y),
    ),
    "BPoly": (lambda c, x, at: new.BPoly(c, x)(at), (BERNSTEIN, X, AT)),
    "BPoly slope": (lambda c, at: new.BPoly(c, X)(at, 1), (BERNSTEIN, AT)),
    "BPoly derivative": (lambda c, at: new.BPoly(c, X).derivative()(at), (BERNSTEIN, AT)),
    "BPoly integral": (
        lambda c, a: new.BPoly(c, X).integrate(a, 3.1),
        (BERNSTEIN, np.float64(0.7)),
    ),
    "NdBSpline": (
        lambda c, at: new.NdBSpline((KNOTS, KNOTS), c, 3)(at),
        (COEFFICIENTS, np.stack([AT, AT[::-1]], axis=1)),
    ),
    "AAA": (lambda y, at: new.AAA(LINE, y, rtol=1e-3)(at), (CURVE, np.array([0.33, 0.71]))),
    "CloughTocher2DInterpolator": (
        lambda v: new.CloughTocher2DInterpolator(SCATTERED, v, tol=1e-12, maxiter=9999)(INSIDE),
        (Y[0] + SCATTERED[:, 0] ** 2 * SCATTERED[:, 1],),
    ),
    **{
        f"CubicSpline {bc}": (
            lambda x, y, at, bc=bc: new.CubicSpline(x, y, bc_type=bc)(at),
            (X, Y, AT),
        )
        for bc in ("not-a-knot", "natural", "clamped")
    },
    **{
        f"CubicSpline {bc} of {n} points": (
            lambda x, y, at, bc=bc: new.CubicSpline(x, y, bc_type=bc)(at),
            (X[:n], Y[:n], AT),
        )
        for n in (2, 3)
        for bc in ("natural", "clamped", ("natural", "not-a-knot"), ((1, 0.3), (2, -0.2)))
    },
    "CubicSpline of two points": (lambda x, y, at: new.CubicSpline(x, y)(at), (X[:2], Y[:2], AT)),
    "CubicSpline of three points": (lambda y, at: new.CubicSpline(X[:3], y)(at), (Y[:3], AT)),
    "CubicSpline periodic of three points": (
        lambda y, at: new.CubicSpline(X[:3], np.concatenate([y, y[:1]]), bc_type="periodic")(at),
        (Y[:2], AT),
    ),
    "CubicSpline with slopes": (
        lambda x, y, at: new.CubicSpline(x, y, bc_type=((1, 0.3), (2, -0.2)))(at),
        (X, Y, AT),
    ),
    "CubicSpline periodic": (
        lambda y, at: new.CubicSpline(X, np.concatenate([y, y[:1]]), bc_type="periodic")(at),
        (Y[:-1], AT),
    ),
    "CubicSpline of columns": (lambda y, at: new.CubicSpline(X, y, axis=1)(at), (GRID.T, AT)),
    "CubicSpline slope": (lambda x, y, at: new.CubicSpline(x, y)(at, 1), (X, Y, AT)),
    "CubicSpline derivative": (lambda x, y, at: new.CubicSpline(x, y).derivative()(at), (X, Y, AT)),
    "CubicSpline integral": (
        lambda x, y, b: new.CubicSpline(x, y).integrate(0.2, b),
        (X, Y, np.float64(2.4)),
    ),
    "CubicSpline integral of columns": (
        lambda y, b: new.CubicSpline(X, y, axis=1).integrate(b, 3.1),
        (GRID.T, np.float64(0.7)),
    ),
    "CubicSpline antiderivative": (
        lambda x, y, at: new.CubicSpline(x, y).antiderivative()(at),
        (X, Y, np.concatenate([AT, [-0.4, 3.9]])),
    ),
    "CubicSpline second antiderivative of columns": (
        lambda y, at: new.CubicSpline(X, y, axis=1).antiderivative(2)(at),
        (GRID.T, AT),
    ),
    "CubicSpline roots": (lambda y: new.CubicSpline(X, y).roots(extrapolate=False), (Y,)),
    "CubicSpline maxima": (
        lambda y: new.CubicSpline(X, y).derivative().roots(extrapolate=False),
        (Y,),
    ),
    "CubicSpline solve": (
        lambda y, v: new.CubicSpline(X, y).solve(v, extrapolate=False),
        (Y, np.float64(0.2)),
    ),
    "BSpline antiderivative": (
        lambda c, at: new.BSpline(KNOTS, c, 3).antiderivative()(at),
        (RANDOM.normal(size=6), AT),
    ),
    "UnivariateSpline antiderivative": (
        lambda y, at: new.UnivariateSpline(X, y, s=0).antiderivative()(at),
        (Y, AT),
    ),
    "InterpolatedUnivariateSpline integral": (
        lambda y, a: new.InterpolatedUnivariateSpline(X, y).integral(a, 4.0),
        (Y, np.float64(0.3)),
    ),
    "InterpolatedUnivariateSpline derivatives": (
        lambda y, a: new.InterpolatedUnivariateSpline(X, y).derivatives(a),
        (Y, np.float64(0.3)),
    ),
    "InterpolatedUnivariateSpline roots": (
        lambda y: new.InterpolatedUnivariateSpline(X, y).roots(),
        (Y,),
    ),
    "splder": (lambda y, at: new.splev(at, new.splder(new.splrep(X, y))), (Y, AT)),
    "splantider": (
        lambda y, at: new.splev(at, new.splantider(new.splrep(X, y))),
        (Y, AT),
    ),
    "sproot": (lambda y: new.sproot(new.splrep(X, y)), (Y,)),
    "Pchip": (lambda x, y, at: new.PchipInterpolator(x, y)(at), (X, Y, AT)),
    "Akima": (lambda x, y, at: new.Akima1DInterpolator(x, y)(at), (X, Y, AT)),
    "makima": (lambda x, y, at: new.Akima1DInterpolator(x, y, method="makima")(at), (X, Y, AT)),
    "Hermite": (lambda x, y, s, at: new.CubicHermiteSpline(x, y, s)(at), (X, Y, -Y, AT)),
    "PPoly": (lambda c, x, at: new.PPoly(c, x)(at), (RANDOM.normal(size=(3, 6)), X, AT)),
    **{
        f"interp1d {kind}": (lambda x, y, at, kind=kind: new.interp1d(x, y, kind)(at), (X, Y, AT))
        for kind in ("linear", "nearest", "previous", "quadratic", "cubic")
    },
    **{
        f"interp1d {kind}, {fill} outside": (
            lambda x, y, at, kind=kind, fill=fill: new.interp1d(
                x, y, kind, bounds_error=False, fill_value=fill
            )(np.concatenate([at, [-9.0, 9.0]])),
            (X, Y, AT),
        )
        for kind, fill in (("linear", 1.5), ("cubic", 1.0), ("quadratic", (2.0, 3.0)))
    },
    **{
        f"make_interp_spline {k}": (
            lambda x, y, at, k=k: new.make_interp_spline(x, y, k)(at),
            (X, Y, AT),
        )
        for k in (1, 2, 3, 5)
    },
    "make_interp_spline natural": (
        lambda y, at: new.make_interp_spline(X, y, bc_type="natural")(at),
        (Y, AT),
    ),
    "make_interp_spline derivative": (
        lambda x, y, at: new.make_interp_spline(x, y).derivative()(at),
        (X, Y, AT),
    ),
    "make_lsq_spline": (lambda y, at: new.make_lsq_spline(X, y, KNOTS)(at), (Y, AT)),
    "make_smoothing_spline": (lambda y, at: new.make_smoothing_spline(X, y, lam=0.1)(at), (Y, AT)),
    "BSpline": (
        lambda t, c, at: new.BSpline(t, c, 2)(at),
        (np.arange(8.0), RANDOM.normal(size=5), AT + 1.63),
    ),
    "UnivariateSpline": (lambda x, y, at: new.UnivariateSpline(x, y, s=0)(at), (X, Y, AT)),
    "InterpolatedUnivariateSpline": (
        lambda x, y, at: new.InterpolatedUnivariateSpline(x, y)(at, 1),
        (X, Y, AT),
    ),
    "LSQUnivariateSpline": (lambda x, y, at: new.LSQUnivariateSpline(x, y, [1.7])(at), (X, Y, AT)),
    "RectBivariateSpline": (
        lambda z, a, b: new.RectBivariateSpline(X, U, z)(a, b),
        (GRID, AT[:2], AT[:3] / 1.3),
    ),
    "RectBivariateSpline ev": (
        lambda x, u, z, a, b: new.RectBivariateSpline(x, u, z)(a, b, grid=False),
        (X, U, GRID, AT, AT / 1.3),
    ),
    "RegularGridInterpolator": (
        lambda x, u, z, at: new.RegularGridInterpolator((x, u), z)(at),
        (X, U, GRID, INSIDE * 3),
    ),
    "RegularGridInterpolator cubic": (
        lambda x, u, z, at: new.RegularGridInterpolator((x, u), z, method="cubic", solver=spsolve)(
            at
        ),
        (X, U, GRID, INSIDE * 3),
    ),
    **{
        f"RBFInterpolator {kernel}": (
            lambda y, d, at, kernel=kernel: new.RBFInterpolator(y, d, kernel=kernel, epsilon=1.3)(
                at
            ),
            (SCATTERED, GRID[:, 0].repeat(2)[:9] + np.arange(9), INSIDE),
        )
        for kernel in ("thin_plate_spline", "linear", "cubic", "gaussian", "inverse_quadratic")
    },
    **{
        f"Rbf {kernel}": (
            lambda p, d, at, kernel=kernel: new.Rbf(*p.T, d, function=kernel)(*at.T),
            (SCATTERED, GRID[:, 0].repeat(2)[:9] + np.arange(9), INSIDE),
        )
        for kernel in ("multiquadric", "thin-plate", "linear", "Cubic", "gaussian", "inverse")
    },
    "Rbf options": (
        lambda p, d, at, epsilon, smooth: new.Rbf(
            p[:, 0], p[:, 1], d, epsilon=epsilon, smooth=smooth, mode="N-D", norm="cityblock"
        )(at[:, 0].reshape(1, -1), at[:, 1].reshape(1, -1)),
        (SCATTERED, np.arange(18.0).reshape(9, 2) ** 0.5, INSIDE, np.array(1.3), np.array(0.1)),
    ),
    "Rbf own function": (
        lambda p, d, at, epsilon: new.Rbf(
            *p.T,
            d,
            function=lambda self, r: np.exp(-r * self.epsilon * self.c),
            epsilon=epsilon,
            c=2.0,
        )(*at.T),
        (SCATTERED, np.arange(9.0) ** 0.5, INSIDE, np.array(1.3)),
    ),
    "LinearNDInterpolator": (
        lambda p, v, at: new.LinearNDInterpolator(p, v)(at),
        (SCATTERED, np.arange(9.0) ** 2, INSIDE),
    ),
    "NearestNDInterpolator": (
        lambda v: new.NearestNDInterpolator(SCATTERED, v)(INSIDE),
        (np.arange(9.0) ** 2,),
    ),
    "KroghInterpolator": (lambda x, y, at: new.KroghInterpolator(x, y)(at), (X, Y, AT)),
    "BarycentricInterpolator": (
        lambda x, y, at: new.BarycentricInterpolator(x, y, rng=1)(at),
        (X, Y, AT),
    ),
    "FloaterHormann": (lambda y, at: new.FloaterHormannInterpolator(X, y, d=2)(at), (Y, AT)),
}


@pytest.mark.parametrize("case", CASES)
def test_derivative_is_that_of_differences(case: str) -> None:
    function, args = CASES[case]

    gw.testing.check_grads(function, args, order=2)


@pytest.mark.parametrize("case", CASES)
def test_value_is_scipys_bit_for_bit(case: str) -> None:
    function, args = CASES[case]

    found = gw.vjp(function, *args)[0]

    np.testing.assert_array_equal(found, function(*args))


def test_one_argument_may_be_tracked_alone() -> None:
    for place in range(3):
        args = [X, Y, AT]

        def function(one: Any, place: int = place, args: list[Any] = args) -> Any:
            return np.sum(new.CubicSpline(*args[:place], one, *args[place + 1 : 2])(args[2]) ** 2)

        def at(one: Any) -> Any:
            return np.sum(new.CubicSpline(X, Y)(one) ** 2)

        gw.testing.check_grads(function if place < 2 else at, (args[place],), order=1)


def test_interpolants_are_instances_of_both_classes() -> None:
    plain = new.CubicSpline(X, Y)
    assert isinstance(plain, native.CubicSpline)
    assert isinstance(native.CubicSpline(X, Y), new.CubicSpline)
    np.testing.assert_array_equal(plain(AT), native.CubicSpline(X, Y)(AT))
    np.testing.assert_array_equal(plain.c, native.CubicSpline(X, Y).c)
    np.testing.assert_array_equal(
        plain.antiderivative()(AT), native.CubicSpline(X, Y).antiderivative()(AT)
    )


def test_coefficients_of_tracked_data_refuse_to_be_differentiated() -> None:
    with pytest.raises(NoRuleError, match="CubicSpline"):
        gw.grad(lambda y: np.sum(new.CubicSpline(X, y).c))(Y)
    with pytest.raises(NoRuleError, match="an integral of a derivative of tracked data has no"):
        gw.grad(lambda y: new.CubicSpline(X, y).derivative().antiderivative()(1.0))(Y)
    with pytest.raises(NoRuleError, match=r"\.insert_knot\(\) of tracked data has no derivative"):
        gw.grad(lambda c: np.sum(new.BSpline(KNOTS, c, 3).insert_knot(0.5)(AT)))(np.ones(6))


@pytest.mark.parametrize(
    "make",
    [
        lambda: new.make_interp_spline(X, Y),
        lambda: new.make_lsq_spline(X, Y, KNOTS),
        lambda: new.make_smoothing_spline(X, Y, lam=0.1),
        lambda: new.CubicSpline(X, Y).derivative(),
        lambda: new.CubicSpline(X, Y).antiderivative(),
        lambda: new.PPoly.from_spline(native.make_interp_spline(X, Y)),
    ],
)
def test_spline_of_plain_data_is_scipys_and_takes_tracked_points(make: Callable[[], Any]) -> None:
    spline = make()

    assert isinstance(spline, (native.BSpline, native.PPoly))
    gw.testing.check_grads(lambda at: spline(at), (AT,), order=2)
    np.testing.assert_array_equal(gw.vjp(lambda at: spline(at), AT)[0], spline(AT))


@pytest.mark.parametrize(
    "periodic",
    [lambda y, b: new.CubicSpline(X, np.append(y, y[0]), bc_type="periodic").integrate(0.1, b)],
)
def test_integral_beyond_a_period_is_refused(periodic: Callable[..., Any]) -> None:
    gw.testing.check_grads(lambda y: periodic(y, 2.5), (Y[:-1],), order=1)
    with pytest.raises(NoRuleError, match="an integral beyond the period of tracked data"):
        gw.grad(lambda y: periodic(y, 5.0))(Y[:-1])


def test_smoothing_that_chooses_its_parameter_is_refused() -> None:
    with pytest.raises(NoRuleError, match="chooses lam from y"):
        gw.grad(lambda y: np.sum(new.make_smoothing_spline(X, y)(AT)))(Y)
    for s in (0.5, 1e-3, None):
        with pytest.raises(NoRuleError, match="s > 0 has no derivative"):
            gw.grad(lambda y, s=s: np.sum(new.UnivariateSpline(X, y, s=s)(AT)))(Y)


@pytest.mark.parametrize("points", [[X, U], [list(X), list(U)], (X, list(U))])
def test_the_axes_of_a_grid_are_a_list_of_any_lengths(points: Any) -> None:
    places = np.array([[0.3, 1.2], [2.4, 0.1]])
    wanted = native.interpn((X, U), GRID, places)
    value, pull = gw.vjp(fn(lambda z, at: new.interpn(points, z, at)), GRID, places)
    np.testing.assert_allclose(value, wanted)
    step = 1e-6 * np.array([[1.0, 0.0], [0.0, 1.0]])
    slopes = (native.interpn((X, U), GRID, places + step) - wanted) / 1e-6
    of_grid, of_places = pull(np.ones(2))
    np.testing.assert_allclose(np.sum(of_grid), 2.0)
    np.testing.assert_allclose(np.diag(of_places), slopes, rtol=1e-6)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: new.CloughTocher2DInterpolator(SCATTERED, SCATTERED[:, 0])(x), "values alone"),
        (lambda x: new.AAA(LINE + x[0, 0], CURVE)(0.3), "AAA has no derivative with respect to"),
        (lambda x: new.AAA(LINE, CURVE + x[0, 0]).poles(), r"\.poles\(\) of tracked data"),
        (
            lambda x: new.NdBSpline((KNOTS, KNOTS), COEFFICIENTS, 3)(x, nu=(1, 0)),
            "nu= for several axes",
        ),
    ],
)
def test_what_interpolants_have_no_derivative_in_is_refused(
    function: Callable[[Any], Any], message: str
) -> None:
    with pytest.raises(NoRuleError, match=message):
        gw.grad(fn(lambda x: np.sum(np.real(function(x)))))(INSIDE)


# Class methods that make one polynomial of another ------------------------------------------------

HEIGHTS = [[0.3, 1.2, -0.4], [0.7], [1.0, -0.2], [0.1, 0.5, 0.2]]
MAKERS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "powers of Bernstein's": (
        lambda m, c, x: m.PPoly.from_bernstein_basis(m.BPoly(c, x))(AT),
        (BERNSTEIN, X),
    ),
    "Bernstein's of powers": (
        lambda m, c, x: m.BPoly.from_power_basis(m.PPoly(c, x))(AT),
        (BERNSTEIN, X),
    ),
    "powers of a spline": (
        lambda m, y: m.PPoly.from_spline(m.make_interp_spline(X, y))(AT, 1),
        (Y,),
    ),
    "powers of a tuple": (lambda m, y: m.PPoly.from_spline(m.splrep(X, y))(AT), (Y,)),
    "derivatives at all points": (
        lambda m, x, y: m.BPoly.from_derivatives(x, y)(AT),
        (X[::2], GRID[:4]),
    ),
    "as many derivatives as there are": (
        lambda m, x, s: m.BPoly.from_derivatives(x, [[s * v for v in row] for row in HEIGHTS])(AT),
        (X[::2], np.float64(1.3)),
    ),
    "derivatives up to an order": (
        lambda m, x, y: m.BPoly.from_derivatives(x, y, orders=[3, 2, 1])(AT),
        (X[::2], GRID[:4, :3]),
    ),
    "derivatives up to one order": (
        lambda m, x, y: m.BPoly.from_derivatives(x, y, 3)(AT),
        (X[::2], GRID[:4, :3]),
    ),
}


@pytest.mark.parametrize("case", MAKERS)
def test_a_polynomial_made_of_tracked_data_is_scipys(case: str) -> None:
    function, args = MAKERS[case]
    np.testing.assert_allclose(
        gw.vjp(lambda *given: function(new, *given), *args)[0], function(native, *args), rtol=1e-11
    )
    np.testing.assert_array_equal(function(new, *args), function(native, *args))
    gw.testing.check_grads(lambda *given: function(new, *given), args, order=1)


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("BSpline.construct_fast", lambda c: new.BSpline.construct_fast(KNOTS, c, 3)(AT)),
        ("BSpline.design_matrix", lambda x: new.BSpline.design_matrix(x, KNOTS, 3).toarray()),
        ("BSpline.from_power_basis", lambda y: new.BSpline.from_power_basis(new.PPoly(y, X))(AT)),
    ],
)
def test_other_class_methods_are_refused_for_tracked_data(
    name: str, function: Callable[[Any], Any]
) -> None:
    given = np.ones((4, 6)) if "power" in name else np.ones(6)
    with pytest.raises(NoRuleError, match=rf"interpolate\.{name} has no derivative"):
        gw.grad(lambda x: np.sum(function(x)))(given)


def test_points_that_adapted_code_makes_are_constants() -> None:
    def f(x: Any) -> Any:
        points = np.linspace(0.0, 1.0, 12)
        fitted = native.AAA(points, np.exp(points * x[0]))(0.33)
        return fitted + native.make_interp_spline(points, points * x[0], bc_type="natural")(0.4)

    found = gw.grad(gw.adapting(f))(np.array([1.2]))
    np.testing.assert_allclose(found, [0.33 * np.exp(0.33 * 1.2) + 0.4], rtol=1e-9)
