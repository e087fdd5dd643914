"""Minima under constraints and at bounds, global searches, and what is refused of them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import NoRuleError, TrackedValueError
from gradwrap.scipy import optimize

if TYPE_CHECKING:
    from collections.abc import Callable

native: Any = import_module("scipy.optimize")
new: Any = optimize
A = np.array([0.9, 1.0, 0.3])
START = np.full(3, 1 / 3)
ON_PLANE = np.eye(3) - 1 / 3
"""The projection to the plane where the sum is constant."""
EQUAL = [
    {"type": "eq", "fun": lambda x: np.sum(x) - 1},
    native.LinearConstraint(np.ones((1, 3)), 1, 1),
    native.NonlinearConstraint(lambda x: [np.sum(x), x @ x], [-np.inf, -9], [1, 9]),
]


def nearest(a: Any, **options: Any) -> Any:
    return new.minimize(lambda x: np.sum((x - a) ** 2), START, method="SLSQP", tol=1e-12, **options)


@pytest.mark.parametrize("constraint", EQUAL)
def test_minimum_under_a_linear_constraint_moves_within_it(constraint: Any) -> None:
    found = gw.jacobian(lambda a: nearest(a, constraints=constraint).x)(A)

    np.testing.assert_allclose(found, ON_PLANE, atol=1e-8)


def test_minimum_follows_what_a_constraint_has_closed_over() -> None:
    def by_closure(a: Any, total: Any) -> Any:
        return nearest(a, constraints={"type": "eq", "fun": lambda x: np.sum(x) - total}).x

    def by_argument(a: Any, total: Any) -> Any:
        constraint = {"type": "eq", "fun": lambda x, s: np.sum(x) - s, "args": (total,)}
        return nearest(a, constraints=constraint).x

    def by_limit(a: Any, total: Any) -> Any:
        return nearest(a, constraints=native.NonlinearConstraint(np.sum, total, total)).x

    def older(a: Any, total: Any) -> Any:
        return new.fmin_slsqp(
            lambda x: np.sum((x - a) ** 2),
            START,
            eqcons=[lambda x: np.sum(x) - total],
            acc=1e-12,
            disp=0,
        )

    for function in (by_closure, by_argument, by_limit, older):
        of_a, of_total = gw.jacobian(function, (0, 1))(A, 1.2)

        np.testing.assert_allclose(of_a, ON_PLANE, atol=1e-8)
        np.testing.assert_allclose(of_total, np.full(3, 1 / 3), atol=1e-8)


def test_minimum_on_a_sphere_and_at_a_bound() -> None:
    def function(a: Any) -> Any:
        ball = {"type": "ineq", "fun": lambda x: 1 - x @ x}
        return nearest(a, constraints=[ball], bounds=[(None, 0.2), (None, None), (None, None)]).x

    rest = A[1:]
    length = np.linalg.norm(rest)
    turned = np.sqrt(1 - 0.04) * (np.eye(2) / length - np.outer(rest, rest) / length**3)

    found = gw.jacobian(function)(A)

    np.testing.assert_allclose(found[1:, 1:], turned, atol=1e-6)
    np.testing.assert_allclose(found[0], 0, atol=1e-12)
    np.testing.assert_allclose(found[:, 0], 0, atol=1e-12)


def test_constraint_that_does_not_hold_changes_nothing() -> None:
    loose = {"type": "ineq", "fun": lambda x: 100 - x @ x}

    found = gw.jacobian(lambda a: nearest(a, constraints=loose).x)(A)

    np.testing.assert_allclose(found, np.eye(3), atol=1e-12)


def test_constraints_that_depend_on_each_other_are_refused() -> None:
    twice = [{"type": "eq", "fun": lambda x, k=k: k * (np.sum(x) - 1)} for k in (1, 2)]

    with pytest.raises(NoRuleError, match="depend on each other"):
        gw.grad(
            lambda a: np.sum(
                new.minimize(
                    lambda x: np.sum((x - a) ** 2), START, constraints=twice, method="COBYQA"
                ).x
            )
        )(A)


@pytest.mark.parametrize(
    "search",
    [
        lambda a: new.minimize_scalar(lambda x: (x - a) ** 2, bounds=(0.0, a / 2)).x,
        lambda a: new.fminbound(lambda x: (x - a) ** 2, 0.0, a / 2),
    ],
)
def test_minimum_at_an_end_moves_with_the_end(search: Callable[..., Any]) -> None:
    assert abs(gw.grad(search)(1.0) - 0.5) < 1e-12


@pytest.mark.parametrize(
    "search",
    [
        lambda a: new.minimize_scalar(lambda x: (x - a) ** 2, bounds=(0.0, 2.0)).x,
        lambda a: new.fminbound(lambda x: (x - a) ** 2, 0.0, 2.0),
    ],
)
def test_minimum_between_two_ends_moves_by_itself(search: Callable[..., Any]) -> None:
    assert abs(gw.grad(search)(0.7) - 1) < 1e-9


def test_point_that_rounding_does_not_let_improve_is_a_minimum() -> None:
    def function(a: Any) -> Any:
        made = new.minimize(lambda x: np.sum((x - a) ** 2 + 0.1 * x**4), np.zeros(2), tol=1e-12)
        assert not made.success
        return made.x

    start = np.array([0.5, 1.0])
    x = gw.vjp(function, start)[0]

    np.testing.assert_allclose(
        gw.jacobian(function)(start), np.diag(2 / (2 + 1.2 * x**2)), rtol=1e-6, atol=1e-12
    )


def test_basin_hopping_takes_the_arguments_of_its_minimizer() -> None:
    def function(a: Any) -> Any:
        return new.basinhopping(
            lambda x, s: np.sum((x - s) ** 2),
            np.zeros(3),
            niter=2,
            rng=1,
            minimizer_kwargs={"args": (2 * a,)},
        ).x

    np.testing.assert_allclose(gw.jacobian(function)(A), 2 * np.eye(3), atol=1e-10)


def test_brute_force_is_differentiated_at_the_minimum_that_it_ends_at() -> None:
    def function(a: Any) -> Any:
        return new.brute(lambda x, s: (x[0] - s) ** 2, ((-1, 2),), (a,), full_output=True)[:2]

    point, value = gw.jacobian(function)(0.4)

    np.testing.assert_allclose(point, [1.0], atol=1e-12)
    assert abs(value) < 1e-12


def test_searches_that_do_not_end_at_a_minimum_are_refused() -> None:
    boxes = [(0, 2)] * 3

    def refused(make: Callable[[Any, Any], Any], message: str) -> None:
        with pytest.raises(NoRuleError, match=message):
            gw.grad(lambda a: np.sum(make(lambda x: np.sum((x - a) ** 2), boxes)))(A)

    refused(
        lambda f, b: new.differential_evolution(f, b, polish=False, rng=1).x,
        r"differential_evolution with polish=False does not end at a minimum",
    )
    refused(lambda f, b: new.brute(f, b, Ns=3, finish=None), "brute with finish=None does not end")
    refused(lambda f, b: new.direct(f, b).x, "direct has no derivative: it ends in a box")
    refused(lambda f, _: new.fmin_cobyla(f, START, []), "fmin_cobyla has no derivative: it has no")


def test_number_of_parameters_is_read_from_the_callers_curve() -> None:
    t = np.linspace(0, 2, 5)

    def fit(y: Any) -> Any:
        return new.curve_fit(lambda t, p, q: p + q * t, t, y)[0]

    np.testing.assert_allclose(
        gw.jacobian(fit)(np.arange(5.0)), np.polyfit(t, np.eye(5), 1)[::-1], atol=1e-7
    )


def test_least_squares_with_a_singular_jacobian_is_refused_and_its_remedy_works() -> None:
    def residuals(x: Any, p: Any) -> Any:
        return np.stack([p * (x[0] + x[1]) - 1, 2 * p * (x[0] + x[1]) - 2])

    def solved(p: Any, weight: float) -> Any:
        def regular(x: Any) -> Any:
            return np.concatenate([residuals(x, p), weight * x]) if weight else residuals(x, p)

        return np.sum(new.least_squares(regular, np.array([0.1, 0.2])).x)

    with pytest.raises(NoRuleError, match="least_squares: the Jacobian is singular"):
        gw.grad(lambda p: solved(p, 0.0))(1.3)
    assert abs(gw.grad(lambda p: solved(p, 1e-4))(1.3) + 1 / 1.3**2) < 1e-6


@pytest.mark.slow
def test_series_up_to_infinity_and_its_limits() -> None:
    integrate: Any = import_module("gradwrap.scipy.integrate")

    def series(p: Any, low: Any = 1.0) -> Any:
        return integrate.nsum(lambda k: 1 / k**p, low, np.inf).sum

    gw.testing.check_rule(series, 2.3)
    with pytest.raises(NoRuleError, match="nsum has a derivative in what the terms depend on"):
        gw.grad(lambda low: series(2.3, low))(1.0)


@pytest.mark.parametrize("name", ["fmin_l_bfgs_b", "fmin_tnc"])
def test_functions_that_return_their_gradient_too(name: str) -> None:
    def nearest(a: Any) -> Any:
        def cost(x: Any) -> Any:
            return np.sum((x - a) ** 2 + 0.1 * x**4), 2 * (x - a) + 0.4 * x**3

        options = {"disp": 0} if name == "fmin_tnc" else {}
        minimise: Any = getattr(optimize, name)
        return minimise(cost, np.zeros(2), **options)[0]

    a = np.array([0.5, -0.3])
    wanted = np.diag(2 / (2 + 1.2 * nearest(a) ** 2))
    np.testing.assert_allclose(gw.jacobian(nearest)(a), wanted, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("kind", ["coo_array", "csr_matrix", "operator"])
@pytest.mark.parametrize("high", [np.inf, 0.1])
def test_least_squares_with_a_matrix_that_is_not_dense(kind: str, high: float) -> None:
    sparse: Any = import_module("scipy.sparse")
    dense = np.array([[1.0, 2.0], [0.0, 3.0], [4.0, 0.5]])
    if kind == "operator":
        matrix: Any = import_module("scipy.sparse.linalg").aslinearoperator(dense)
    else:
        matrix = getattr(sparse, kind)(dense)
    b, w = np.array([1.0, 2.0, -3.0]), np.array([1.0, 3.0])

    def total(b: Any, lsq_linear: Any) -> Any:
        return lsq_linear(matrix, b, (-10.0, [10.0, high])).x @ w

    found = gw.grad(lambda b: total(b, new.lsq_linear))(b)

    wanted = [
        (total(b + step, native.lsq_linear) - total(b - step, native.lsq_linear)) / 2e-6
        for step in 1e-6 * np.eye(3)
    ]
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-9)


def test_linear_program_with_a_sparse_matrix() -> None:
    sparse: Any = import_module("scipy.sparse")
    matrix = np.array([[1.0, 1.0], [1.0, 3.0]])
    c, w = np.array([-1.0, -2.0]), np.array([1.0, 2.0])

    found = gw.grad(lambda b: new.linprog(c, A_ub=sparse.csr_array(matrix), b_ub=b).x @ w)(
        np.array([4.0, 6.0])
    )

    np.testing.assert_allclose(found, np.linalg.solve(matrix.T, w))


@pytest.mark.parametrize("name", ["linprog", "lsq_linear"])
def test_matrices_of_tracked_elements_are_taken_as_dense_ones(name: str) -> None:
    sparse: Any = import_module("gradwrap.scipy.sparse")
    elements = np.array([1.0, 1.0, 1.0, 3.0])
    b, c, w = np.array([4.0, 6.0]), np.array([-1.0, -2.0]), np.array([1.0, 2.0])

    def total(x: Any, make: Any) -> Any:
        matrix = make(np.reshape(x, (2, 2)))
        if name == "linprog":
            return new.linprog(c, A_ub=matrix, b_ub=b).x @ w
        return new.lsq_linear(matrix, b).x @ w

    found = gw.grad(lambda x: total(x, sparse.csr_array))(elements)

    matrix = np.reshape(elements, (2, 2))
    wanted = -np.outer(np.linalg.solve(matrix.T, w), np.linalg.solve(matrix, b))
    np.testing.assert_allclose(found, wanted.ravel())
    for make in (lambda m: m, sparse.lil_array, sparse.dok_array):
        np.testing.assert_allclose(gw.grad(lambda x, make=make: total(x, make))(elements), found)


def test_linear_program_with_a_column_of_costs() -> None:
    matrix, b = np.array([[1.0, 1.0], [1.0, 3.0]]), np.array([4.0, 6.0])
    c = np.array([[-1.0], [-2.0]])

    found = gw.grad(lambda c: new.linprog(c, A_ub=matrix, b_ub=b).fun)(c)

    np.testing.assert_allclose(found, new.linprog(c, A_ub=matrix, b_ub=b).x[:, None])


SOLVERS: dict[str, Any] = {
    "root": lambda f: new.root(f, [1.0, 1.0], tol=1e-12),
    "fsolve": lambda f: new.fsolve(f, [1.0, 1.0]),
    "leastsq": lambda f: new.leastsq(f, [1.0, 1.0]),
    "least_squares": lambda f: new.least_squares(f, [1.0, 1.0]),
    "minimize": lambda f: new.minimize(lambda x: np.sum(f(x) ** 2), [1.0, 1.0], tol=1e-10),
}


@pytest.mark.parametrize("name", SOLVERS)
def test_what_a_function_keeps_of_its_last_call_moves_with_the_solution(name: str) -> None:
    def kept(a: Any) -> Any:
        last: list[Any] = []

        def residuals(x: Any) -> Any:
            last[:] = [x, x * a[:2]]
            return np.stack([x[0] ** 2 - a[0], x[0] * x[1] - a[1]])

        SOLVERS[name](residuals)
        return np.concatenate(last)

    a, b, _ = A
    inner = np.array([[0.5 / np.sqrt(a), 0, 0], [-b / (2 * a**1.5), 1 / np.sqrt(a), 0]])
    x = np.array([np.sqrt(a), b / np.sqrt(a)])
    outer = A[:2, None] * inner + np.diag(x) @ np.eye(2, 3)
    exact = np.concatenate([inner, outer])
    for transform in (gw.jacrev, gw.jacfwd):
        np.testing.assert_allclose(transform(kept)(A), exact, rtol=1e-5, atol=1e-7)


def test_what_a_refused_call_leaves_is_refused() -> None:
    def caught(a: Any) -> Any:
        last: list[Any] = []

        def cost(x: Any) -> Any:
            last[:] = [x]
            return np.sum((x - a) ** 4)

        try:
            new.minimize(cost, [1.0, 1.0, 1.0], options={"maxiter": 1})
        except NoRuleError:
            return np.sum(last[0]) + a[0]
        raise AssertionError

    words = "what the function that scipy.optimize.minimize was given has kept"
    with pytest.raises(TrackedValueError, match=words):
        gw.grad(caught)(A)
    with pytest.raises(TrackedValueError, match=words):
        gw.jvp(caught, (A,), (A,))


def _by_density(x: Any, t: Any) -> Any:
    density = 0.5 * np.exp(-np.abs(x - t[0]) * np.exp(-t[1])) * np.exp(-t[1])
    return -np.sum(np.log(density))


@pytest.mark.parametrize("seed", range(6))
def test_a_curvature_that_rounding_has_left_is_refused(seed: int) -> None:
    # Between the two numbers in the middle, the likelihood of Laplace's distribution is flat.
    data = np.random.default_rng(seed).gamma(3.0, 1.2, size=20)

    def place(x: Any) -> Any:
        start = np.array([np.median(data), 0.3])
        options = {"xatol": 1e-9, "fatol": 1e-12}
        found = optimize.minimize(
            lambda t: _by_density(x, t), start, method="Nelder-Mead", options=options
        )
        return found.x[0]

    with pytest.raises(NoRuleError, match="the Jacobian is singular at the solution"):
        gw.grad(place)(data)


def test_a_small_curvature_is_one() -> None:
    def lowest(a: Any) -> Any:
        def cost(t: Any) -> Any:
            return 1e-14 * (t[0] - a**2) ** 2 + (t[1] - 3.0 * a) ** 4 + (t[1] - 3.0 * a) ** 2

        def slope(t: Any) -> Any:
            return gw.grad(cost)(t)

        return optimize.root(slope, np.array([1.0, 2.0]), tol=1e-14).x

    np.testing.assert_allclose(gw.jacobian(lowest)(1.3), [2.6, 3.0], rtol=1e-6)


def fitted(x: Any) -> tuple[Any, Any]:
    """Residuals of a curve with two parameters, and their slopes."""
    t = np.linspace(0.1, 2.0, 9)
    y = 2.0 * np.exp(-0.7 * t) * x[0] + 0.1 * np.sin(5 * t) * x[1]

    def slopes(p: Any) -> Any:
        return np.stack([np.exp(-p[1] * t), -t * p[0] * np.exp(-p[1] * t)], axis=1)

    return lambda p: p[0] * np.exp(-p[1] * t) - y, slopes


def by_jac(x: Any, so: Any) -> Any:
    residuals, slopes = fitted(x)
    found = so.least_squares(residuals, [1.0, 1.0], jac=slopes, **EXACTLY)
    again = dict(found)
    return np.linalg.inv(found.jac.T @ again["jac"]) * 2 * found.cost + found.get("jac")[0, 1]


def by_cov(x: Any, so: Any) -> Any:
    residuals, slopes = fitted(x)
    p, cov, info, *_ = so.leastsq(
        residuals, [1.0, 1.0], Dfun=slopes, full_output=True, xtol=1e-15, ftol=1e-15
    )
    return cov * np.sum(info["fvec"] ** 2) + p[0]


EXACTLY = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15}


@pytest.mark.parametrize("covariance", [by_jac, by_cov])
def test_covariances_of_fits(covariance: Callable[[Any, Any], Any]) -> None:
    at, step = np.array([1.0, 0.5]), 1e-4
    wanted = np.stack(
        [
            (covariance(at + e, native) - covariance(at - e, native)) / 2 / step
            for e in step * np.eye(2)
        ],
        axis=-1,
    )
    np.testing.assert_allclose(covariance(at, new), covariance(at, native), rtol=1e-9)
    for jacobian in (gw.jacrev, gw.jacfwd):
        np.testing.assert_allclose(jacobian(lambda x: covariance(x, new))(at), wanted, rtol=1e-4)


def test_slopes_of_a_fit_that_are_not_read_cost_nothing() -> None:
    calls: list[int] = []

    def size(x: Any, *, reads: bool) -> Any:
        residuals, slopes = fitted(x)

        def counted(p: Any) -> Any:
            calls.append(0)
            return residuals(p)

        found = new.least_squares(counted, [1.0, 1.0], jac=slopes, **EXACTLY)
        return found.x[0] + (found.jac[0, 0] if reads else 0.0)

    counts: list[int] = []
    for reads in (False, True):
        calls.clear()
        gw.grad(lambda x, reads=reads: size(x, reads=reads))(np.array([1.0, 0.5]))
        counts.append(len(calls))
    assert counts[0] < counts[1]


@pytest.mark.parametrize("size", [1.0, 1e9])
@pytest.mark.parametrize("solver", ["root_scalar", "newton", "newton of several"])
def test_complex_roots_are_differentiated(solver: str, size: float) -> None:
    def root(x: Any) -> Any:
        def value(z: Any) -> Any:
            return size * (z**3 + (x[0] + 1j * x[1]) * z + x[2])

        def slope(z: Any) -> Any:
            return size * (3 * z**2 + x[0] + 1j * x[1])

        if solver == "root_scalar":
            found = new.root_scalar(value, x0=0.5 + 1j, fprime=slope, method="newton").root
        elif solver == "newton":
            found = new.newton(value, 0.5 + 1j, slope, tol=1e-14)
        else:
            found = new.newton(value, np.array([0.5 + 1j, 0.5 - 1j]), slope, tol=1e-14)[0]
        return np.real(found) + 2.0 * np.imag(found) + np.abs(found) ** 2

    x = np.array([0.7, 0.3, 1.1])
    wanted = [(root(x + 1e-6 * e) - root(x - 1e-6 * e)) / 2e-6 for e in np.eye(3)]
    np.testing.assert_allclose(gw.grad(root)(x), wanted, rtol=1e-7)
    np.testing.assert_allclose(gw.jacfwd(root)(x), wanted, rtol=1e-7)


def test_a_complex_root_of_a_function_without_a_complex_derivative_is_refused() -> None:
    def root(a: Any) -> Any:
        return np.abs(new.newton(lambda z: z * np.abs(z) - a * (1 + 1j), 0.5 + 0.6j, tol=1e-14))

    with pytest.raises(NoRuleError, match=r"newton: the root is complex.*no complex derivative"):
        gw.grad(root)(1.3)
