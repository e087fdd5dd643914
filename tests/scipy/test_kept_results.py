"""Callbacks of solvers that keep the results of their last call and return them again."""

from __future__ import annotations

import functools
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import pytest
import scipy.integrate
import scipy.optimize

import gradwrap as gw
import gradwrap.scipy
from packages import written

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

optimize: Any = scipy.optimize
A = np.array([0.7, 1.3])
W = np.array([1.0, 2.0])
SAME: dict[str, Callable[[Any, Any], Any]] = {
    "array_equal": np.array_equal,
    "all": lambda x, y: (x == y).all(),
    "distance": lambda x, y: np.max(np.abs(x - y)) < 1e-14,
    "allclose": lambda x, y: np.allclose(x, y, rtol=1e-12, atol=0.0),
}


class Shared:
    """A cost, its gradient, and the equations of its minimum, computed once for each point."""

    def __init__(self, a: Any, same: Callable[[Any, Any], Any]) -> None:
        self.a, self.same = a, same
        self.x: Any = None

    def update(self, x: Any) -> None:
        if self.x is None or not self.same(self.x, x):
            self.x = np.copy(x)
            self.f = np.sum((x - self.a) ** 2 + x**4)
            self.g = 2.0 * (x - self.a) + 4.0 * x**3

    def cost(self, x: Any) -> Any:
        self.update(x)
        return self.f

    def slope(self, x: Any) -> Any:
        self.update(x)
        return self.g

    def both(self, x: Any) -> Any:
        self.update(x)
        return self.f, self.g


def by_minimize(a: Any, same: Any, so: Any) -> Any:
    problem = Shared(a, same)
    found = so.minimize(problem.cost, np.ones(2), jac=problem.slope, tol=1e-12)
    return np.sum(W * found.x) + found.fun


def by_differences(a: Any, same: Any, so: Any) -> Any:
    return np.sum(W * so.minimize(Shared(a, same).cost, np.ones(2), tol=1e-12).x)


def by_both(a: Any, same: Any, so: Any) -> Any:
    return np.sum(W * so.minimize(Shared(a, same).both, np.ones(2), jac=True, tol=1e-12).x)


def by_root(a: Any, same: Any, so: Any) -> Any:
    problem = Shared(a, same)
    return np.sum(W * so.root(lambda x: problem.slope(x), np.ones(2), tol=1e-13).x)


def by_fsolve(a: Any, same: Any, so: Any) -> Any:
    equations = functools.partial(Shared.slope, Shared(a, same))
    return np.sum(W * so.fsolve(equations, np.ones(2), xtol=1e-13))


def by_least_squares(a: Any, same: Any, so: Any) -> Any:
    problem = Shared(a, same)
    found = so.least_squares(problem.slope, np.ones(2), xtol=1e-15, ftol=1e-15, gtol=1e-15)
    return np.sum(W * found.x)


def by_brentq(a: Any, same: Any, so: Any) -> Any:
    one = Shared(a[0], same), Shared(a[1], same)
    roots = [so.brentq(problem.slope, 0.0, 2.0, xtol=1e-14) for problem in one]
    return W[0] * roots[0] + W[1] * roots[1]


def at_the_minimum(a: Any) -> Any:
    """Return the minimum, for derivatives in closed form."""
    return optimize.fsolve(lambda x: 2.0 * (x - a) + 4.0 * x**3, np.ones(2), xtol=1e-12)


CALLS = [
    *(by_minimize, by_differences, by_both, by_root, by_fsolve, by_least_squares, by_brentq),
]


@pytest.mark.parametrize("same", SAME)
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("is_adapted", [False, True])
def test_they_compute_again_for_derivatives(call: Any, same: str, is_adapted: bool) -> None:
    so = optimize if is_adapted else gradwrap.scipy.optimize

    def total(a: Any) -> Any:
        return call(a, SAME[same], so) + 0.1 * np.sum(a)

    function = gw.adapting(total) if is_adapted else total
    x = at_the_minimum(A)
    wanted = 0.1 + W * 2.0 / (2.0 + 12.0 * x**2)
    if call is by_minimize:
        wanted = wanted - 2.0 * (x - A)
    np.testing.assert_allclose(gw.grad(function)(A), wanted, rtol=2e-6)
    np.testing.assert_allclose(gw.jacfwd(function)(A), wanted, rtol=2e-6)


def test_roots_and_fixed_points_of_functions_that_keep_results() -> None:
    def by_steps(f: Any, x: Any) -> Any:
        for _ in range(200):
            x = x - 0.1 * np.asarray(f(x))
        return x

    def by_root(a: Any) -> Any:
        problem = Shared(a, np.array_equal)
        return np.sum(W * gw.custom_root(problem.slope, np.ones(2), by_steps)) + 0.1 * np.sum(a)

    def by_iteration(a: Any) -> Any:
        problem = Shared(a, np.array_equal)
        found = gw.fixed_point(lambda x: x - 0.1 * problem.slope(x), np.ones(2))
        return np.sum(W * found) + 0.1 * np.sum(a)

    wanted = 0.1 + W * 2.0 / (2.0 + 12.0 * at_the_minimum(A) ** 2)
    for function in (by_root, by_iteration):
        np.testing.assert_allclose(gw.grad(function)(A), wanted, rtol=1e-9)
        np.testing.assert_allclose(gw.jacfwd(function)(A), wanted, rtol=1e-9)


class Lazy:
    """A model that computes a number once and keeps it."""

    def __init__(self, a: Any) -> None:
        self.a = a
        self.kept: Any = None

    @functools.cached_property
    def twice(self) -> Any:
        return 2.0 * self.a

    def again(self) -> Any:
        if self.kept is None:
            self.kept = 2.0 * self.a
        return self.kept

    def equations(self, x: Any) -> Any:
        return x**3 + x - self.twice

    def same_equations(self, x: Any) -> Any:
        return x**3 + x - self.again()

    def rate(self, _t: Any, y: Any) -> Any:
        return -y * self.twice


def lazy_root(a: Any, so: Any) -> Any:
    return np.sum(W * so.root(Lazy(a).equations, np.ones(2), tol=1e-13).x)


def lazy_fsolve(a: Any, so: Any) -> Any:
    return np.sum(W * so.fsolve(Lazy(a).same_equations, np.ones(2), xtol=1e-13))


def lazy_custom_root(a: Any, so: Any) -> Any:
    find = optimize.fsolve
    return np.sum(W * gw.custom_root(Lazy(a).equations, np.ones(2), lambda f, x: find(f, x)))


def lazy_fixed_point(a: Any, so: Any) -> Any:
    model = Lazy(a)
    return np.sum(W * gw.fixed_point(lambda x: x - 0.1 * model.equations(x), np.ones(2)))


@pytest.mark.parametrize("call", [lazy_root, lazy_fsolve, lazy_custom_root, lazy_fixed_point])
@pytest.mark.parametrize("is_adapted", [False, True])
def test_what_is_computed_once_has_derivatives(call: Any, is_adapted: bool) -> None:
    so = optimize if is_adapted else gradwrap.scipy.optimize

    def total(a: Any) -> Any:
        return call(a, so) + 0.1 * np.sum(a)

    function = gw.adapting(total) if is_adapted else total
    x = optimize.fsolve(lambda x: x**3 + x - 2.0 * A, np.ones(2), xtol=1e-12)
    wanted = 0.1 + W * 2.0 / (3.0 * x**2 + 1.0)
    np.testing.assert_allclose(gw.grad(function)(A), wanted, rtol=1e-8)
    np.testing.assert_allclose(gw.jacfwd(function)(A), wanted, rtol=1e-8)


def test_what_the_packages_own_minimum_computes_once_has_derivatives() -> None:
    class Cost(Lazy):
        def of(self, x: Any) -> Any:
            return np.sum((x - self.twice) ** 2 + x**4)

    def total(a: Any) -> Any:
        return np.sum(W * gw.optimize.minimize(Cost(a).of, np.ones(2), tol=1e-12).x)

    x = optimize.fsolve(lambda x: 2.0 * (x - 2.0 * A) + 4.0 * x**3, np.ones(2), xtol=1e-12)
    wanted = W * 4.0 / (2.0 + 12.0 * x**2)
    np.testing.assert_allclose(gw.grad(total)(A), wanted, rtol=1e-6)


@pytest.mark.parametrize("is_adapted", [False, True])
def test_what_a_rate_computes_once_has_derivatives(is_adapted: bool) -> None:
    si: Any = scipy.integrate if is_adapted else gradwrap.scipy.integrate

    def total(a: Any) -> Any:
        ends = si.solve_ivp(Lazy(a).rate, (0.0, 1.0), np.ones(2), rtol=1e-9, atol=1e-11).y[:, -1]
        more = si.odeint(Lazy(a).rate, np.ones(2), [0.0, 1.0], tfirst=True, rtol=1e-10)[-1]
        return np.sum(W * ends) + np.sum(more) + 0.1 * np.sum(a)

    function = gw.adapting(total) if is_adapted else total
    wanted = 0.1 - 2.0 * (W + 1.0) * np.exp(-2.0 * A)
    np.testing.assert_allclose(gw.grad(function)(A), wanted, rtol=1e-6)


def test_a_module_that_keeps_results(tmp_path: Path) -> None:
    model = written(tmp_path, MODULE)

    def total(a: Any) -> Any:
        def equations(x: Any) -> Any:
            return model.residual(x, a)

        found = gradwrap.scipy.optimize.root(equations, np.ones(2), tol=1e-13).x
        return np.sum(W * found) + 0.1 * np.sum(a)

    wanted = 0.1 + W * 2.0 / (2.0 + 12.0 * at_the_minimum(A) ** 2)
    np.testing.assert_allclose(gw.grad(total)(A), wanted, rtol=1e-8)


MODULE = """
import numpy as np

last, found = None, None

def residual(x, a):
    global last, found
    if last is None or not np.array_equal(last, x):
        last, found = np.copy(x), 2.0 * (x - a) + 4.0 * x**3
    return found
"""


def test_a_function_without_values_above_the_solution() -> None:
    x = at_the_minimum(A)[0]
    top = x + 1e-5

    class Limited(Shared):
        def slope(self, x: Any) -> Any:
            if x > top:
                raise ValueError("too far")
            return super().slope(x)

    def total(a: Any) -> Any:
        find = gradwrap.scipy.optimize.brentq
        return find(Limited(a, np.array_equal).slope, 0.0, top, xtol=1e-14) + 0.1 * a

    wanted = 0.1 + 2.0 / (2.0 + 12.0 * x**2)
    np.testing.assert_allclose(gw.grad(total)(A[0]), wanted, rtol=1e-6)
    np.testing.assert_allclose(gw.jvp(total, (A[0],), (1.0,))[1], wanted, rtol=1e-6)


def test_second_derivatives() -> None:
    def total(a: Any) -> Any:
        problem = Shared(a, np.array_equal)
        return np.sum(W * gradwrap.scipy.optimize.root(problem.slope, np.ones(2), tol=1e-13).x)

    x = at_the_minimum(A)
    wanted = -W * 4.0 * 24.0 * x / (2.0 + 12.0 * x**2) ** 3
    np.testing.assert_allclose(gw.hessian(total)(A), np.diag(wanted), rtol=1e-8, atol=1e-12)


def test_the_last_call_is_at_the_solution() -> None:
    points: list[Any] = []

    def note(x: Any) -> Any:
        points.append(x)
        return x

    def total(a: Any, noting: Any) -> Any:
        solve = gradwrap.scipy.optimize.root
        return np.sum(solve(lambda x: noting(x) ** 3 + x - a, np.ones(2), tol=1e-13).x)

    gw.grad(lambda a: total(a, note))(A)
    solution = optimize.root(lambda x: x**3 + x - A, np.ones(2), tol=1e-13).x
    distances = [float(np.max(np.abs(gw.stop_gradient(x) - solution))) for x in points[-3:]]
    assert distances[-1] < 1e-9  # the last call is at the solution


# Dictionaries by points ---------------------------------------------------------------------------

FOUND: dict[Any, Any] = {}


class Table:
    """Cubes less parameters, kept by rounded points: in an object, or in its class."""

    shared: ClassVar[dict[Any, Any]] = {}

    def __init__(self, p: Any) -> None:
        self.p = p
        self.own: dict[Any, Any] = {}

    def __call__(self, v: Any) -> Any:
        return kept_in(self.own, v, self.p)

    def by_class(self, v: Any) -> Any:
        return kept_in(self.shared, v, self.p)


def kept_in(table: dict[Any, Any], v: Any, p: Any) -> Any:
    key = tuple(np.asarray(gw.stop_gradient(v)).round(9).tolist())
    if key not in table:
        table[key] = v**3 - p
    return table[key]


def in_module(p: Any) -> Any:
    return lambda v: kept_in(FOUND, v, p)


def in_closure(p: Any) -> Any:
    table: dict[Any, Any] = {}
    return partial(lambda v, p: kept_in(table, v, p), p=p)


@pytest.mark.parametrize("make", [Table, lambda p: Table(p).by_class, in_module, in_closure])
@pytest.mark.parametrize("is_forward", [False, True])
def test_dictionaries_by_points_keep_no_derivatives_back(make: Any, is_forward: bool) -> None:
    """The solver's calls fill them with plain results, which stay there."""
    weights, p = np.array([1.0, 2.0]), np.array([0.6, 0.8])

    def f(p: Any) -> Any:
        return np.sum(weights * gradwrap.scipy.optimize.root(make(p), [0.7, 0.9], tol=1e-12).x)

    for table in (FOUND, Table.shared):
        table.clear()
    found = gw.jacfwd(f)(p) if is_forward else gw.grad(f)(p)
    assert np.allclose(found, weights / (3.0 * p ** (2 / 3)), rtol=1e-6)
    if make is in_module:  # nothing is lost
        assert len(FOUND) > 3
        for key, value in [*FOUND.items()][1:]:  # SciPy writes to the first array that it gets
            assert np.allclose(gw.stop_gradient(value), np.array(key) ** 3 - p, atol=1e-8)


class Rounded:
    """A cube less a parameter, kept by rounded numbers."""

    def __init__(self, p: Any) -> None:
        self.p = p
        self.found: dict[float, Any] = {}

    def __call__(self, v: Any) -> Any:
        key = round(float(v), 12)
        if key not in self.found:
            self.found[key] = v**3 - self.p
        return self.found[key]


@pytest.mark.parametrize("find", ["brentq", "newton"])
def test_adapted_code_that_keeps_results_by_rounded_numbers(find: str) -> None:
    """The output depends on the parameter by another way, too."""
    start = (0.1, 3.0) if find == "brentq" else (1.0,)

    def f(p: Any) -> Any:
        return getattr(optimize, find)(Rounded(p), *start) + p * p

    wanted = 1.0 / (3.0 * 0.7 ** (2 / 3)) + 1.4
    assert np.allclose(gw.grad(gw.adapting(f))(0.7), wanted, rtol=1e-9)
    assert np.allclose(gw.jvp(gw.adapting(f), (0.7,), (1.0,))[1], wanted, rtol=1e-9)


def test_an_adapted_dictionary_of_a_module_is_put_back() -> None:
    def f(p: Any) -> Any:
        return np.sum(optimize.root(in_module(p), [0.7, 0.9], tol=1e-12).x)

    FOUND.clear()
    p = np.array([0.6, 0.8])
    assert np.allclose(gw.grad(gw.adapting(f))(p), 1.0 / (3.0 * p ** (2 / 3)), rtol=1e-6)


class Both(NamedTuple):
    """A value and a gradient."""

    value: Any
    slope: Any


def test_a_callback_may_return_a_named_tuple() -> None:
    def f(x: Any) -> Any:
        def cost(v: Any) -> Both:
            return Both(np.sum((v - 2.0) ** 2), 2.0 * (v - 2.0))

        return optimize.minimize(cost, [0.5], jac=True).x[0] * x

    assert np.allclose(gw.grad(gw.adapting(f))(0.7), 2.0, rtol=1e-6)


def test_a_cache_of_the_standard_library_keeps_no_derivatives_back() -> None:
    def f(p: Any) -> Any:
        @functools.cache
        def shifted(n: int) -> Any:
            return p * n

        return gradwrap.scipy.optimize.brentq(lambda v: v**3 - shifted(2), 0.1, 3.0)

    wanted = 2.0 / (3.0 * (2.0 * 0.7) ** (2 / 3))
    assert np.allclose(gw.grad(f)(0.7), wanted, rtol=1e-6)
