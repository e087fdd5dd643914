"""Small packages that give SciPy's solvers functions of their own, as public packages do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import NoRuleError
from packages import written

if TYPE_CHECKING:
    from pathlib import Path

X = np.array([0.5, 0.7, 0.3, 0.9])


def check(function: Any, rtol: float = 1e-5, step: float = 1e-6) -> None:
    """Compare both modes with central differences."""
    units = np.eye(4)
    both = [(function(X + step * e), function(X - step * e)) for e in units]
    expected = [(high - low) / (2 * step) for high, low in both]
    adapted = gw.adapting(function)
    assert np.allclose(gw.grad(adapted)(X), expected, rtol=rtol)
    assert np.allclose([gw.jvp(adapted, (X,), (e,))[1] for e in units], expected, rtol=rtol)


EVENTS = """
    import math
    from scipy.integrate import solve_ivp

    EXACT = {"rtol": 1e-10, "atol": 1e-12}

    class Ball:
        terminal = True
        direction = -1

        def __init__(self, radius):
            self.radius = radius

        def __call__(self, t, y):
            return y[0] - self.radius

    def falling(t, y, g, drag):
        return [y[1], -g - drag * y[1]]

    def fall(x, t_eval=None, method="RK45"):
        return solve_ivp(
            lambda t, y: falling(t, y, 9.8, x[2]), (0, 30.0), [1.0 + x[0], x[1]],
            events=Ball(0.1 * x[3]), t_eval=t_eval, method=method, **EXACT,
        )

    def time_and_speed_at_the_ground(x):
        found = fall(x)
        return found.t[-1] + found.y[1, -1] * found.t_events[0][0]

    def by_an_implicit_method(x):
        found = fall(x, method="Radau")
        return found.t[-1] + found.y[1, -1]

    def cut_at_the_event(x):
        found = fall(x, np.linspace(0.0, 1.0, 41))
        assert found.t[-1] < 0.9 and found.y.shape[1] == len(found.t)
        return np.sum(found.y ** 2)

    def bouncing(x):
        def hits(t, y, *rest):
            return y[0]

        hits.terminal = True
        hits.direction = -1
        t, y = 0.0, [1.0 + x[0], 0.0]
        for _ in range(3):
            found = solve_ivp(falling, (t, 9.0), y, args=(9.8, x[1]), events=hits, **EXACT)
            t, y = found.t[-1], [0.0, -x[3] * found.y[1, -1]]
        return t + y[1]

    def crossings(x):
        def crosses(t, y):
            return y[0] - 0.2 * x[3]

        def turns(t, y):
            return y[1]

        found = solve_ivp(
            lambda t, y: [y[1], -(1 + x[0]) * math.sin(y[0])], (0, 9.0), [x[1], x[2]],
            events=[crosses, turns, lambda t, y: y[0] + 10.0], dense_output=True, **EXACT,
        )
        assert len(found.t_events[0]) > 2 and found.t_events[2].size == 0
        middle = found.sol(found.t_events[0][0] / 2)
        return np.sum(np.diff(found.t_events[1])) + found.y_events[0][2, 1] + middle[0]

    def backwards(x):
        found = solve_ivp(
            lambda t, y: x[0] * y, (2.0, -9.0), [1.0 + x[1]], events=Half(x[3]), **EXACT
        )
        return found.t[-1] * x[2]

    class Half:
        terminal = 1

        def __init__(self, part):
            self.part = part

        def __call__(self, t, y):
            return y[0] - self.part
"""
WITH_EVENTS = [line.split()[1].partition("(")[0] for line in EVENTS.splitlines() if "(x):" in line]
SLOW = ("bouncing", "by_an_implicit_method", "crossings", "stiff")


def named(names: list[str]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        "name", [pytest.param(n, marks=pytest.mark.slow) if n in SLOW else n for n in names]
    )


@named(WITH_EVENTS)
def test_events_of_solve_ivp(name: str, tmp_path: Path) -> None:
    check(getattr(written(tmp_path, EVENTS), name), rtol=1e-4)


def test_an_event_whose_function_only_touches_zero_is_refused() -> None:
    from gradwrap.scipy.integrate import solve_ivp

    def time(x: Any) -> Any:
        found = solve_ivp(lambda t, y: [1.0], (0.0, 2.0), [x[0]], events=lambda t, y: 0.0 * y[0])
        return found.t_events[0][0]

    with pytest.raises(gw.errors.NoRuleError, match="slope zero at its time"):
        gw.grad(time)(X)


INTEGRALS = """
    import math
    from scipy.integrate import odeint, quad

    def fourier(x):
        cosine = quad(lambda t: math.exp(-x[0] * t), 0, x[1], weight="cos", wvar=2.0 * x[2])[0]
        return cosine * quad(lambda t: x[3] * t, 0, 1, weight="sin", wvar=20)[0]

    def complex_valued(x):
        found = quad(lambda t: np.exp(1j * x[0] * t) * x[1], 0, x[2], complex_func=True)[0]
        return abs(found) ** 2

    def with_full_output(x):
        times = np.linspace(0, 1, 5)
        exact = {"rtol": 1e-10, "atol": 1e-12}
        states, info = odeint(
            lambda y, t: -x[0] * y, x[1:3], times, full_output=True, **exact
        )
        return np.sum(states[-1] ** 2) + 0.0 * info["nst"][0]
"""


@pytest.mark.parametrize("name", ["fourier", "complex_valued", "with_full_output"])
def test_integrals_with_options(name: str, tmp_path: Path) -> None:
    check(getattr(written(tmp_path, INTEGRALS), name))


STEPPING = """
    from scipy.integrate import ode

    EXACT = {"rtol": 1e-10, "atol": 1e-12}

    def by_dopri5(x):
        stepper = ode(lambda t, y: -x[0] * y).set_integrator("dopri5", **EXACT)
        stepper.set_initial_value([x[1], 2.0], 0.1 * x[3])
        return stepper.integrate(1.0 + x[2])[0] * stepper.t

    def in_a_loop(x):
        stepper = ode(lambda t, y: [y[1], -x[0] * y[0]])
        stepper.set_integrator("vode", **EXACT)
        stepper.set_initial_value(x[1:3])
        states, times = [], []
        while stepper.successful() and stepper.t < 1.0:
            stepper.integrate(stepper.t + 0.1)
            states.append(stepper.y)
            times.append(stepper.t)
        return np.trapezoid(np.array(states)[:, 0], times)

    class Model:
        def __init__(self, rate):
            self.stepper = ode(self.slope)
            self.stepper.set_integrator("lsoda", **EXACT)
            self.stepper.set_f_params(rate)

        def slope(self, t, y, rate):
            return -rate * y + np.sin(t)

    def of_a_number(x):
        model = Model(x[0])
        model.stepper.set_initial_value(x[1], 0.0)
        model.stepper.integrate(x[2])
        return model.stepper.y[0] ** 2

    def stiff(x):
        def slope(t, y, k):
            fast = 1e4 * y[1] * y[2]
            return [-k * y[0] + fast, k * y[0] - fast - 3e7 * y[1] ** 2, 3e7 * y[1] ** 2]

        def jacobian(t, y, k):
            a, b, c = 1e4 * y[2], 1e4 * y[1], 6e7 * y[1]
            return [[-k, a, b], [k, -a - c, -b], [0.0, c, 0.0]]

        stepper = ode(slope, jacobian)
        options = {"method": "bdf", "with_jacobian": True, "nsteps": 10000}
        stepper.set_integrator("vode", rtol=1e-10, atol=1e-13, **options)
        stepper.set_initial_value([1.0, 0.0, 0.0]).set_f_params(0.04 * x[0])
        stepper.set_jac_params(0.04 * x[0])
        return stepper.integrate(5.0 * x[1])[2]
"""


@named(["by_dopri5", "in_a_loop", "of_a_number", "stiff"])
def test_an_object_that_steps_to_times(name: str, tmp_path: Path) -> None:
    check(getattr(written(tmp_path, STEPPING), name), rtol=1e-5, step=1e-4)


def test_what_has_no_derivative_of_an_object_that_steps() -> None:
    from gradwrap.scipy.integrate import ode

    def run(x: Any, name: str, solout: Any = None, /, **options: Any) -> Any:
        stepper = ode(lambda t, y: -x[0] * y).set_integrator(name, **options)
        if solout is not None:
            stepper.set_solout(solout)
        return stepper.set_initial_value([1.0], 0.0).integrate(1.0)[0]

    with pytest.raises(gw.errors.NoRuleError, match=r"set_solout.*integrate\(t\) for each time"):
        gw.grad(run)(X, "dopri5", lambda t, y: 0)
    with (
        pytest.warns(UserWarning, match="nsteps"),
        pytest.raises(gw.errors.NoRuleError, match="not successful"),
    ):
        gw.grad(run)(X, "dopri5", nsteps=1)


def test_a_result_at_which_the_function_is_not_zero_is_refused() -> None:
    from gradwrap.scipy import optimize

    def equations(x: Any) -> Any:
        return lambda v: np.stack([v[0] ** 2 + v[1] - x[0], v[1] ** 3 - x[1]])

    with (
        pytest.warns(RuntimeWarning),
        pytest.raises(gw.errors.NoRuleError, match=r"fsolve found no solution.*not zero"),
    ):
        gw.grad(lambda x: optimize.fsolve(equations(x), [1.0, 1.0]).sum())(X)

    def squares(x: Any) -> Any:
        return optimize.root(equations(x), [0.2, 0.9], method="lm", tol=1e-14).x[1]

    # v[0] is zero at the least squares, so that v[1] is the minimum of a polynomial
    v = squares(X)
    curvature = 2 + 30 * v**4 - 12 * v * X[1]
    np.testing.assert_allclose(gw.grad(squares)(X)[:2], [2 / curvature, 6 * v**2 / curvature])


FITTED = """
    from scipy.optimize import curve_fit, least_squares

    def head(q, a, b, c):
        return a - b * q**c

    def of_unlike_units(x):
        flow = np.array([0.0, 0.01 * x[0], 0.01, 0.015, 0.02])
        lift = np.array([40.0, 35.0 + x[1], 30.0, 21.0, 10.0 * x[3]])
        a, b, c = curve_fit(head, flow, lift, [40.0, 1e4, 1.5], xtol=1e-14, ftol=1e-14)[0]
        return a + np.log(b) + c

    def of_small_numbers(x):
        t = np.linspace(0.0, 1.0, 7)
        options = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15, "x_scale": [1e-9, 1.0]}
        data = 2e-9 * x[0] * np.exp(-x[1] * t)
        found = least_squares(
            lambda p: 1e9 * (p[0] * np.exp(-p[1] * t) - data), [1e-9, 1.0], **options
        )
        return 1e9 * found.x[0] + found.x[1]
"""


@pytest.mark.parametrize("name", ["of_unlike_units", "of_small_numbers"])
def test_fits_of_parameters_in_unlike_units(name: str, tmp_path: Path) -> None:
    check(getattr(written(tmp_path, FITTED), name), step=1e-4, rtol=1e-4)


ONE_BUFFER = """
    from scipy.integrate import ode, odeint, solve_ivp

    def slopes(x):
        kept = np.empty(2)
        def slope(t, y):
            kept[:1] = y[1]
            kept[1:] = -(4.0 + x[0]) * y[0] - x[1] * y[1]
            return kept
        return slope

    def by_odeint(x):
        slope = slopes(x)
        return odeint(lambda y, t: slope(t, y), x[2:], np.linspace(0, 1, 4)).sum()

    def by_solve_ivp(x):
        times = np.linspace(0.0, 1.0, 5)
        return solve_ivp(slopes(x), (0, 1), x[2:], t_eval=times, rtol=1e-10, atol=1e-10).y.sum()

    def by_steps(x):
        stepper = ode(slopes(x)).set_integrator("dopri5", rtol=1e-10, atol=1e-10)
        return stepper.set_initial_value([x[2], x[3]]).integrate(1.0).sum()
"""


@pytest.mark.parametrize("name", ["by_odeint", "by_solve_ivp", "by_steps"])
def test_a_function_may_return_the_same_array_at_each_call(name: str, tmp_path: Path) -> None:
    check(getattr(written(tmp_path, ONE_BUFFER), name), rtol=1e-4)


CATCHING = """
    from scipy.optimize import minimize

    def stopped(x):
        return minimize(
            lambda v: np.sum((v - x[:2]) ** 2) + x[2] * np.sum(v ** 4),
            np.array([0.3, 0.2]),
            options={"maxiter": 1},
        ).x.sum()

    def with_another_value(x):
        try:
            return stopped(x) + x[3]
        except Exception:
            return 1.0 + x[3]

    def with_the_same_value(x):
        try:
            return stopped(x) + x[3]
        except Exception:
            return stopped(np.array(KEPT)) + x[3]

    KEPT = [0.5, 0.7, 0.3]
"""


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("with_another_value", "its result is another one than for plain values"),
        ("with_the_same_value", "its result has another derivative than its values"),
    ],
)
def test_a_refusal_that_the_code_has_caught_is_raised(
    tmp_path: Path, name: str, words: str
) -> None:
    function = getattr(written(tmp_path, CATCHING), name)
    x = np.array([0.5, 0.7, 0.3, 0.9])
    adapted = gw.adapting(function)
    text = rf"minimize found no solution.*{words}"
    with pytest.raises(NoRuleError, match=text):
        gw.grad(adapted)(x)
    with pytest.raises(NoRuleError, match=text):
        gw.jvp(adapted, (x,), (x,))


LOOSE = ("shgo", "least_squares", "fminbound")
LISTS = """
    import scipy.optimize.elementwise
    from scipy import integrate, optimize

    def cubic(z, a, b):
        return z ** 3 - a * z - b

    def bowl(z, a, b):
        return np.sum((z - a) ** 2 * b + z ** 2)

    def newton(x):
        return optimize.newton(cubic, 2.0, args=[x[0], x[1]])

    def newton_by_an_array(x):
        return optimize.newton(cubic, 2.0, args=x[:2])

    def fixed_point(x):
        return optimize.fixed_point(lambda z, a, b: np.cos(a * z) * b, 0.5, args=[x[0], x[1]])

    def least_squares(x):
        found = optimize.least_squares(
            lambda z, a, b: np.array([z[0] - a, z[1] * b - 1]), [0.5, 1.0], args=[x[0], x[1]]
        )
        return found.x[0] * found.x[1]

    def fminbound(x):
        return optimize.fminbound(bowl, 0.0, 3.0, args=[x[0], x[1]])

    def shgo(x):
        return optimize.shgo(bowl, [(0.0, 3.0)], args=[x[0], x[1]]).x[0]

    def find_root(x):
        return optimize.elementwise.find_root(cubic, (0.0, 3.0), args=[x[0], x[1]]).x

    def fixed_quad(x):
        return integrate.fixed_quad(lambda t, a, b: np.cos(a * t) * b, 0, 1, args=[x[0], x[1]])[0]

    def solve_ivp(x):
        found = integrate.solve_ivp(
            lambda t, y, a, b: b - a * y, (0, 1), [1.0], args=[x[0], x[1]], rtol=1e-9, atol=1e-9
        )
        return found.y[0, -1]

    def brentq(x):  # of a function of the list
        return optimize.brentq(lambda z, both: cubic(z, *both), 0.0, 3.0, args=[x[0], x[1]])
"""


@pytest.mark.parametrize("name", [one.split("(")[0] for one in LISTS.split("def ")[3:]])
def test_more_arguments_may_be_a_list_where_scipy_takes_one(name: str, tmp_path: Path) -> None:
    """Some of SciPy's functions call `f(x, *args)`, others take a list for one argument."""
    check(getattr(written(tmp_path, LISTS), name), rtol=1e-3 if name in LOOSE else 1e-5)


def test_a_function_of_a_solver_may_call_a_solver(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        import math
        from scipy.optimize import brentq
        def factor(d, v):
            re = v * d / 1.5e-5
            if re < 100: re = 100
            def residual(f):
                rough = math.log10(9e-5 / (3.7 * d) + 2.51 / (re * math.sqrt(f)))
                return 1.0 / math.sqrt(f) + 2.0 * rough
            return brentq(residual, 0.005, 0.1, xtol=1e-15)
        def diameter(flow, rate):
            def residual(d):
                v = flow / (math.pi * d**2 / 4.0)
                return factor(d, v) * 0.6 * v**2 / d - rate
            return brentq(residual, 0.05, 2.0, xtol=1e-14)
        def run(x): return 10.0 * diameter(x[0] + x[1], 1.0 + x[2]) + x[3]
        """,
    )
    check(package.run)
    second = gw.hessian(gw.adapting(package.run))(X)
    slope = gw.grad(gw.adapting(package.run))
    wanted = [(slope(X + e) - slope(X - e)) / 2e-5 for e in 1e-5 * np.eye(4)]
    np.testing.assert_allclose(second, wanted, rtol=1e-4, atol=1e-6)
