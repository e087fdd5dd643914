"""Integrals and equations that call the caller's function, and that no sample of a row covers."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import NoRuleError, TrackedValueError
from gradwrap.scipy import integrate, optimize, stats
from sampling import crossed

new: Any = integrate
X_MESH = np.linspace(0, 1, 5)
BUMP = np.array([0.0, 0.05, 0.02, -0.03, 0.1])
minima: Any = optimize
qmc: Any = stats.qmc
native: Any = import_module("scipy.integrate")


@pytest.mark.parametrize("method", ["RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA"])
def test_decay_is_differentiated_by_every_method(method: str) -> None:
    def final(start: Any, rate: Any) -> Any:
        return new.solve_ivp(
            lambda t, y: -rate * y, (0.0, 1.5), start, method, rtol=1e-9, atol=1e-11
        ).y[0, -1]

    of_start, of_rate = gw.grad(final, (0, 1))(np.array([2.0]), 0.7)

    np.testing.assert_allclose(of_start, [np.exp(-1.05)], rtol=1e-6)
    np.testing.assert_allclose(of_rate, -3.0 * np.exp(-1.05), rtol=1e-6)
    value = native.solve_ivp(
        lambda t, y: -0.7 * y, (0.0, 1.5), [2.0], method, rtol=1e-9, atol=1e-11
    )
    assert gw.vjp(final, np.array([2.0]), 0.7)[0] == value.y[0, -1]


@pytest.mark.parametrize(
    ("method", "span"),
    crossed(
        ["RK45", *(pytest.param(m, marks=pytest.mark.slow) for m in ("DOP853", "Radau", "LSODA"))],
        [(0.0, 2.0), (2.0, 0.0)],
    ),
)
def test_dense_output_is_differentiated_at_any_time(method: str, span: tuple[float, float]) -> None:
    def states(x: Any, times: Any, module: Any = new) -> Any:
        return module.solve_ivp(
            lambda t, y: [y[1], -x[0] * np.sin(y[0])], span, [x[1], 0.3],
            method=method, dense_output=True, rtol=1e-9, atol=1e-11,
        ).sol(times)  # fmt: skip

    x = np.array([1.2, 0.6])
    for times in (np.array([1.3, 0.2, 0.9]), 0.7):
        at: Any = partial(states, times=times)
        steps = 1e-5 * np.eye(2)
        found = gw.jacobian(at)(x)
        wanted = [(states(x + e, times) - states(x - e, times)) / 2e-5 for e in steps]
        np.testing.assert_allclose(
            found, np.moveaxis(np.array(wanted), 0, -1), rtol=1e-6, atol=1e-7
        )
        value = gw.vjp(at, x)[0]
        np.testing.assert_array_equal(value, states(x, times, native))
    with pytest.raises(NoRuleError, match="times between 0"):
        gw.jacobian(states)(x, 2.5)


class Heun(native.OdeSolver):  # type: ignore[misc]  # a class of SciPy's
    """A solver that is not SciPy's: Heun's method with steps of one length."""

    t: Any
    y: Any

    def __init__(self, fun: Any, t0: Any, y0: Any, bound: Any, **options: Any) -> None:
        super().__init__(fun, t0, y0, bound, options["vectorized"])
        self.length: float = options["length"]

    def _step_impl(self) -> tuple[bool, None]:
        h = min(self.length, self.t_bound - self.t)
        rate = self.fun(self.t, self.y)
        self.before = self.y
        self.y = self.y + h * (rate + self.fun(self.t + h, self.y + h * rate)) / 2
        self.t += h
        return True, None

    def _dense_output_impl(self) -> Any:
        return _Line(self.t_old, self.t, self.before, self.y)


class _Line(native.DenseOutput):  # type: ignore[misc]  # a class of SciPy's
    def __init__(self, old: Any, new: Any, *ends: Any) -> None:
        super().__init__(old, new)
        self.ends = ends

    def _call_impl(self, t: Any) -> Any:
        part = (t - self.t_old) / (self.t - self.t_old)
        return np.multiply.outer(self.ends[0], 1 - part) + np.multiply.outer(self.ends[1], part)


@pytest.mark.slow
@pytest.mark.parametrize("times", [None, [0.2, 0.7, 1.5]])
def test_solvers_of_others_are_differentiated_where_radaus_states_are_theirs(times: Any) -> None:
    def solved(start: Any, rate: Any, length: float = 0.01, asked: Any = times) -> Any:
        return new.solve_ivp(
            lambda t, y: -rate * y, (0.0, 1.5), start, Heun, t_eval=asked, length=length
        ).y[0, -1]

    of_start, of_rate = gw.grad(solved, (0, 1))(np.array([2.0]), 0.7)

    np.testing.assert_allclose(of_start, [np.exp(-1.05)], rtol=1e-4)
    np.testing.assert_allclose(of_rate, -3.0 * np.exp(-1.05), rtol=1e-4)
    with pytest.raises(NoRuleError, match="states of Heun are not those"):
        gw.grad(solved)(np.array([2.0]), 0.7, length=1.5)


def test_long_steps_of_other_solvers_are_halved() -> None:
    """Radau's method with the same steps would be less exact than this solver."""

    class Exact(Heun):
        def _step_impl(self) -> tuple[bool, None]:
            self.before, self.y = self.y, self.y * np.exp(self.t - self.t_bound)
            self.t = self.t_bound
            return True, None

    def solved(start: Any) -> Any:
        return new.solve_ivp(
            lambda t, y: -y, (0.0, 6.0), start, Exact, rtol=1e-6, atol=1e-8, length=0.0
        ).y[0, -1]

    np.testing.assert_allclose(gw.grad(solved)(np.array([2.0])), [np.exp(-6.0)], rtol=1e-4)


def test_dense_output_of_other_solvers_is_refused() -> None:
    with pytest.raises(NoRuleError, match="dense_output"):
        gw.grad(
            lambda y: new.solve_ivp(
                lambda t, y: -y, (0, 1), y, method=Heun, dense_output=True, length=0.1
            ).sol(0.3)[0]
        )(np.array([2.0]))


def test_a_method_that_is_no_solver_is_refused() -> None:
    with pytest.raises(NoRuleError, match="no derivative with this method"):
        gw.grad(lambda y: new.solve_ivp(lambda t, y: y, (0, 1), y, method=len).y[0, -1])(
            np.array([2.0])
        )


@pytest.mark.slow
def test_triple_integral_is_differentiated_in_limits_and_parameters() -> None:
    def integral(a: Any, k: Any) -> Any:
        return new.tplquad(lambda z, y, x: k * x * y * z, 0, a, 0, 1, 0, lambda x, y: x)[0]

    # k a^4 / 16
    found = gw.grad(integral, (0, 1))(1.2, 0.7)

    np.testing.assert_allclose(found, [0.7 * 1.2**3 / 4, 1.2**4 / 16], rtol=1e-10)


JUMPS: dict[str, tuple[Any, float]] = {
    "where": (lambda v, x: np.where(v < x[0], v * x[1], 0.0), 1.0),
    "a truth": (lambda v, x: v * x[1] * (v < x[0]), 1.0),
    "heaviside": (lambda v, x: np.heaviside(x[0] - v, 0.5) * v * x[1], 1.0),
    "floor": (lambda v, x: np.floor(v / x[0]) * x[1], 1.0),
    "to infinity": (lambda v, x: np.where(v < x[0], np.exp(-v) * x[1], 0.0), np.inf),
}


@pytest.mark.parametrize("name", JUMPS)
def test_an_integral_over_a_jump_at_a_tracked_place_is_refused(name: str) -> None:
    function, high = JUMPS[name]
    point = np.array([0.437, 1.3])

    def integral(x: Any, high: float = high) -> Any:
        return new.quad(lambda v: function(v, x), 0.0, high, limit=400)[0]

    text = r"jumps near 0\.(437|874)\d*, where it compares a tracked value"
    for transform in (gw.grad, gw.jacfwd):
        with pytest.raises(NoRuleError, match=text):
            transform(integral)(point)
    by_differences = gw.grad(gw.numerical(integral))(point)
    steps = 1e-4 * np.eye(2)
    wanted = [(integral(point + e) - integral(point - e)) / 2e-4 for e in steps]
    np.testing.assert_allclose(by_differences, wanted, rtol=2e-3)


def test_an_integral_over_a_jump_is_that_of_its_parts() -> None:
    def total(x: Any) -> Any:
        before = new.quad(lambda v: v * x[1], 0.0, x[0])[0]
        return before + new.quad(lambda v: x[1] ** 2 * v**2, x[0], 1.0)[0]

    np.testing.assert_allclose(
        gw.grad(total)(np.array([0.5, 1.2])), [0.6 - 0.36, 0.125 + 0.8 * 0.875], rtol=1e-9
    )

    def vectors(x: Any) -> Any:
        return new.quad_vec(
            lambda v: np.where(v < x[0], v * x[1], 0.0) * np.ones(2), 0.0, 1.0, limit=400
        )[0][0]

    with pytest.raises(NoRuleError, match=r"jumps near 0\.437"):
        gw.grad(vectors)(np.array([0.437, 1.3]))


def test_kinks_and_jumps_at_fixed_places_are_differentiated() -> None:
    point = np.array([0.437, 1.3])
    functions: list[Any] = [
        lambda v, x: np.where(v < 0.3, v * x[1], x[0]),
        lambda v, x: np.maximum(x[0] - v, 0.0) * x[1],
        lambda v, x: np.clip(v, 0.2, x[0]) * x[1],
        lambda v, x: np.tanh(1e3 * (v - x[0])) * x[1],
        lambda v, x: np.where(v < x[0], v, x[0]) ** 2 * x[1],
    ]
    for function in functions:

        def integral(x: Any, function: Any = function) -> Any:
            return new.quad(lambda v: function(v, x), 0.0, 1.0, limit=400)[0]

        steps = 1e-5 * np.eye(2)
        wanted = [(integral(point + e) - integral(point - e)) / 2e-5 for e in steps]
        np.testing.assert_allclose(gw.grad(integral)(point), wanted, rtol=1e-3, atol=1e-6)


def _before(t: Any, place: Any) -> Any:
    return np.where(t < place, np.exp(-t), 0.0)


ALONE: dict[str, Any] = {
    "quad": lambda a: new.quad(lambda t: _before(t, a), 0.0, 2.0)[0],
    "nquad": lambda a: new.nquad(lambda t, u: u * _before(t, a), [[0, 1], [0, 1]])[0],
    "the outer one of nquad": lambda a: new.nquad(lambda u, t: _before(t, a), [[0, 1], [0, 1]])[0],
    "quad_vec": lambda a: new.quad_vec(lambda t: _before(t, a), 0.0, np.inf)[0],
    "tanhsinh": lambda a: new.tanhsinh(lambda t: _before(t, a), 0.0, 2.0).integral,
    "tanhsinh of two": lambda a: np.sum(
        new.tanhsinh(lambda t: _before(t, a), np.zeros(2), np.array([0.1, 2.0])).integral
    ),
    "cubature": lambda a: new.cubature(lambda t: _before(t[:, 0], a), [0.0], [2.0]).estimate,
    "cubature to infinity": lambda a: (
        new.cubature(lambda t: _before(t[:, 0], a), [0.0], [np.inf], rtol=1e-3).estimate
    ),
    "qmc_quad": lambda a: (
        new.qmc_quad(
            lambda x: _before(x[1], a) * x[0], [0.0, 0.0], [1.0, 1.0], n_points=64
        ).integral
    ),
    "solve_ivp": lambda a: new.solve_ivp(lambda t, y: [_before(t, a)], (0.0, 2.0), [0.0]).y[0, -1],
    "solve_ivp, Radau": lambda a: new.solve_ivp(
        lambda t, y: [_before(t, a)], (0.0, 2.0), [0.0], "Radau"
    ).y[0, -1],
    "solve_ivp, a jump at a state": lambda a: new.solve_ivp(
        lambda t, y: -a * np.where(y > 0.5, 2.0 * y, y), (0.0, 2.0), [1.0]
    ).y[0, -1],
    "odeint": lambda a: new.odeint(lambda y, t: [_before(t, a)], [0.0], [0.0, 2.0])[-1, 0],
}


@pytest.mark.parametrize("name", ALONE)
def test_what_depends_on_a_place_by_comparisons_alone_is_refused(name: str) -> None:
    for transform in (gw.grad, gw.jacfwd):
        with pytest.raises(NoRuleError, match=r"jumps near [\de., -]+, where it compares"):
            transform(ALONE[name])(0.437)


def _stepped(place: Any) -> Any:
    solver = new.RK45(lambda t, y: [_before(t, place)], 0.0, [0.0], 2.0)
    while solver.status == "running":
        solver.step()
    return solver.y[0]


def test_solvers_that_are_stepped_by_hand_refuse_jumps() -> None:
    with pytest.raises(NoRuleError, match=r"jumps near 0\.437"):
        gw.grad(lambda x: _stepped(x[0]) * x[1])(np.array([0.437, 2.0]))


def test_after_an_event_another_integration_starts() -> None:
    def final(place: Any) -> Any:
        def at_place(t: Any, y: Any) -> Any:
            return t - place

        switch: Any = at_place
        switch.terminal = True
        options = {"rtol": 1e-9, "atol": 1e-11}
        first = new.solve_ivp(lambda t, y: [1.0], (0.0, 2.0), [0.0], events=switch, **options)
        start = first.t_events[0][0], first.y_events[0][0]
        return new.solve_ivp(lambda t, y: -y, (start[0], 2.0), start[1], **options).y[0, -1]

    wanted = np.exp(-1.3) * 1.7  # of 0.7 exp(-(2 - 0.7))
    np.testing.assert_allclose(gw.grad(final)(0.7), wanted, rtol=1e-7)


def test_equations_with_kinks_are_differentiated() -> None:
    def final(x: Any) -> Any:
        def rate(t: Any, y: Any) -> Any:
            return -x[0] * np.where(y > x[1], y, x[1])  # both are equal where it changes

        return new.solve_ivp(rate, (0.0, 2.0), [1.0], rtol=1e-9, atol=1e-11).y[0, -1]

    # y falls to b at the time -log(b) / k, and then by k b for each unit of time
    k, b = 1.1, 0.5
    wanted = [-2.0 * b, 1.0 - 2.0 * k - np.log(b) - 1.0]
    np.testing.assert_allclose(gw.grad(final)(np.array([k, b])), wanted, rtol=1e-3)


SINGULAR: dict[str, tuple[Any, Any]] = {
    "at a fixed end": (lambda x: new.quad(lambda t: np.exp(-x[0] * t) / np.sqrt(t), 0, 2)[0], None),
    "at a tracked end": (lambda x: new.quad(lambda t: x[1] / np.sqrt(x[0] - t), 0, x[0])[0], None),
    "Abel's": (
        lambda x: new.quad(lambda t: np.exp(-x[1] * t**2) / np.sqrt(t**2 - x[0] ** 2), x[0], 9)[0],
        None,
    ),
    "at a tracked place": (
        lambda x: new.quad(lambda t: np.log(np.abs(t - x[0])) * x[1], 0, 2, points=[x[0]])[0],
        None,
    ),
    "at a tracked place, from right to left": (
        lambda x: new.quad(lambda t: np.log(np.abs(t - x[0])) * x[1], 2, 0, points=[x[0]])[0],
        None,
    ),
    "at a fixed place": (
        lambda x: new.quad(lambda t: np.log(np.abs(t - 0.3)) * x[0] * x[1], 0, 2, points=[0.3])[0],
        None,
    ),
    "of the slope": (lambda x: new.quad(lambda t: np.sqrt(np.abs(t - x[0])) * x[1], 0, 2)[0], 3e-5),
    "a kink": (lambda x: new.quad(lambda t: np.maximum(t - x[0], 0) * x[1], 0, 3)[0], 2e-5),
}


@pytest.mark.filterwarnings("ignore::scipy.integrate.IntegrationWarning")
@pytest.mark.parametrize("name", SINGULAR)
def test_integrals_with_singular_points_are_differentiated(name: str) -> None:
    integral, rtol = SINGULAR[name]
    point = np.array([0.7, 1.3])
    steps = 1e-4 * np.eye(2)
    wanted = [(integral(point + e) - integral(point - e)) / 2e-4 for e in steps]
    for found in (gw.grad(integral)(point), gw.jacfwd(integral)(point)):
        np.testing.assert_allclose(found, wanted, rtol=rtol or 2e-6)


@pytest.mark.filterwarnings("ignore::scipy.integrate.IntegrationWarning")
def test_an_integral_without_limit_inside_of_its_range_is_refused() -> None:
    def logarithm(x: Any) -> Any:
        return new.quad(lambda t: np.log(np.abs(t - x[0])), 0.0, 2.0)[0]

    def vectors(x: Any) -> Any:
        return new.quad_vec(lambda t: np.log(np.abs(t - x[0])), 0.0, 2.0, limit=400)[0]

    for integral in (logarithm, vectors):
        with pytest.raises(NoRuleError, match=r"grows without limit near 0\.7.*points=\[place\]"):
            gw.grad(integral)(np.array([0.7]))
    with pytest.raises(NoRuleError, match=r"quad_vec has no derivative with tracked points="):
        gw.grad(lambda a: new.quad_vec(lambda t: t * a, 0.0, 2.0, points=[a])[0])(0.7)


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("top", [1.5, -0.4])
def test_quasi_monte_carlo_is_differentiated_at_scipys_points(count: int, top: float) -> None:
    def integral(k: Any, b: Any, module: Any = new) -> Any:
        return module.qmc_quad(
            lambda x: np.exp(-k * x[0]) * x[1] ** 2,
            [0.1, 0.2],
            b,
            n_points=64,
            n_estimates=count,
            qrng=qmc.Halton(2, rng=np.random.default_rng(3)),
        ).integral

    args = (0.7, np.array([1.0, top]))
    gw.testing.check_grads(integral, args, order=1)
    assert gw.vjp(integral, *args)[0] == integral(*args, module=native)


def oscillator(frequency: Any, height: Any) -> Any:
    """The solution of y'' = -w² y with y(0) = 0 and y(1) = h."""
    return new.solve_bvp(
        lambda x, y: np.stack([y[1], -(frequency**2) * y[0]]),
        lambda left, right: np.stack([left[0], right[0] - height]),
        np.linspace(0, 1, 5),
        np.ones((2, 5)),
        tol=1e-8,
    )


@pytest.mark.slow
def test_boundary_value_problem_is_differentiated_in_what_it_closes_over() -> None:
    at = np.array([0.3, 0.8])

    for function in (lambda w, h: oscillator(w, h).sol(at)[0], lambda w, h: oscillator(w, h).y[1]):
        gw.testing.check_grads(function, (1.3, 0.8), order=1, rtol=1e-5)
    of_height = gw.jacobian(lambda h: oscillator(1.3, h).sol(at)[0])(0.8)
    np.testing.assert_allclose(of_height, np.sin(1.3 * at) / np.sin(1.3), rtol=1e-6)


@pytest.mark.slow
def test_eigenvalue_of_a_boundary_value_problem_moves_with_the_length() -> None:
    def eigenvalue(length: Any) -> Any:
        x = np.linspace(0, 1, 11)
        return new.solve_bvp(
            lambda x, y, p: np.stack([length * y[1], -length * p[0] ** 2 * y[0]]),
            lambda a, b, p: np.stack([a[0], b[0], a[1] - p[0]]),
            x,
            np.stack([np.sin(np.pi * x), np.pi * np.cos(np.pi * x)]),
            p=[3.0],
            tol=1e-8,
        ).p[0]

    # the eigenvalue is pi / length
    np.testing.assert_allclose(gw.grad(eigenvalue)(1.1), -np.pi / 1.1**2, rtol=1e-6)


def test_boundary_value_problem_refuses_what_it_has_no_derivative_for() -> None:
    with pytest.raises(NoRuleError, match=r"\.rms_residuals of its result has no derivative"):
        gw.grad(lambda w: np.sum(oscillator(w, 1.0).rms_residuals))(1.3)


@pytest.mark.parametrize("moved", [lambda b: np.linspace(0, 1, 5) * b, lambda b: X_MESH + b * BUMP])
def test_boundary_value_problem_on_an_interval_that_moves(moved: Any) -> None:
    def outcome(b: Any) -> Any:
        found = new.solve_bvp(
            lambda x, y: np.stack([y[1], -2 * y[0] * x]),
            lambda left, right: np.stack([left[0], right[0] - 1]),
            moved(b),
            np.ones((2, 5)),
            tol=1e-8,
            max_nodes=20_000,
        )
        return found.y[1, 0] + found.sol(0.4)[0] + found.y[0, len(found.x) // 2]

    slope = (outcome(1.3 + 1e-4) - outcome(1.3 - 1e-4)) / 2e-4
    np.testing.assert_allclose(gw.grad(outcome)(1.3), slope, rtol=1e-4)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        *((name, {}) for name in ("newton_krylov", "anderson", "broyden1", "broyden2")),
        ("diagbroyden", {}),
        ("linearmixing", {"alpha": -0.5}),  # `excitingmixing` does not converge here
    ],
)
def test_root_of_a_system_is_differentiated(name: str, options: dict[str, float]) -> None:
    def root(a: Any) -> Any:
        return getattr(minima, name)(
            lambda x: x + 0.2 * np.sin(a * x) - 1, np.array([0.5, 0.4]), f_tol=1e-12, **options
        )

    a = np.array([1.1, 0.6])
    x = root(a)
    cosine = 0.2 * np.cos(a * x)

    np.testing.assert_allclose(
        gw.jacobian(root)(a), np.diag(-cosine * x / (1 + cosine * a)), atol=1e-9
    )


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("fmin", {"xtol": 1e-8, "disp": False}),
        ("fmin_powell", {"disp": False}),
        ("fmin_tnc", {"approx_grad": True, "disp": 0}),
        ("fmin_slsqp", {"disp": 0, "acc": 1e-14}),
    ],
)
def test_minimum_of_an_older_function_is_differentiated(name: str, more: dict[str, Any]) -> None:
    def minimum(a: Any) -> Any:
        made = getattr(minima, name)(lambda x: np.sum((x - a) ** 2), np.zeros(2), **more)
        return made[0] if isinstance(made, tuple) else made

    np.testing.assert_allclose(gw.jacobian(minimum)(np.array([0.5, 1.0])), np.eye(2), atol=1e-9)


def test_newtons_minimum_and_the_golden_section_are_differentiated() -> None:
    def newton(a: Any) -> Any:
        return minima.fmin_ncg(
            lambda x: np.sum((x - a) ** 2), np.zeros(2), lambda x: 2 * (x - a), disp=0
        )

    def golden(a: Any) -> Any:
        return minima.golden(lambda x: (x - a) ** 2, brack=(-1, 2))

    np.testing.assert_allclose(gw.jacobian(newton)(np.array([0.5, 1.0])), np.eye(2), atol=1e-9)
    assert abs(gw.grad(golden)(0.8) - 1) < 1e-12


@pytest.mark.parametrize("bounds", [(np.inf, 0.5), (0.5, -np.inf), (np.inf, -np.inf)])
def test_quad_from_a_greater_bound_has_the_sign_of_its_value(bounds: tuple[float, float]) -> None:
    def of(a: Any, *ends: float) -> Any:
        return new.quad(lambda t: np.exp(-a * t * t) * (1 + np.sin(t) ** 2), *ends)[0]

    swapped = (bounds[1], bounds[0])
    grad: Any = gw.grad
    for transform in (grad, lambda f: grad(grad(f))):
        expected = -transform(of)(1.3, *swapped)
        np.testing.assert_allclose(transform(of)(1.3, *bounds), expected, rtol=1e-12)
    step = 1e-5
    difference = (of(1.3 + step, *bounds) - of(1.3 - step, *bounds)) / (2 * step)
    np.testing.assert_allclose(gw.grad(of)(1.3, *bounds), difference, rtol=1e-8)


def swung(t: Any, y: Any, rate: Any) -> Any:
    return np.stack([y[1], -rate * y[0] - 0.1 * t * y[1]])


@pytest.mark.parametrize(
    ("method", "moves"),
    crossed(["RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA"], ["start", "rate", "end"]),
)
def test_solvers_stepped_by_hand_are_solve_ivp(method: str, moves: str) -> None:
    def given(x: Any) -> Any:
        start = x if moves == "start" else np.array([1.2, 0.6])
        rate = 4.0 * x[0] if moves == "rate" else 2.5
        end = 1.0 + x[1] if moves == "end" else 1.6
        return start, lambda t, y: swung(t, y, rate), end

    def by_hand(x: Any) -> Any:
        start, fun, end = given(x)
        solver = getattr(new, method)(fun, 0.0, start, end, rtol=1e-6, atol=1e-8)
        assert isinstance(solver, native.OdeSolver)
        times: list[Any] = []
        while solver.status == "running":
            solver.step()
            times.append(solver.t)
        assert solver.step_size == solver.t - solver.t_old
        dense = solver.dense_output()
        middle = (solver.t + solver.t_old) / 2
        states = dense(np.array([middle, 0.3 * solver.t + 0.7 * solver.t_old]))
        return np.concatenate([solver.y, dense(middle), np.reshape(states, (-1,))]), times

    def at_once(x: Any) -> Any:
        start, fun, end = given(x)
        made = new.solve_ivp(
            fun, (0.0, end), start, getattr(new, method), rtol=1e-6, atol=1e-8, dense_output=True
        )
        ends = [float(t) for t in by_hand(np.array([1.2, 0.6]))[1][-2:]]
        middle = (ends[1] + ends[0]) / 2
        states = made.sol(np.array([middle, 0.3 * ends[1] + 0.7 * ends[0]]))
        return np.concatenate([made.y[:, -1], made.sol(middle), np.reshape(states, (-1,))])

    x = np.array([1.2, 0.6])
    np.testing.assert_array_equal(by_hand(x)[0], at_once(x))
    wanted = gw.jacobian(at_once)(x)
    found = gw.jacobian(lambda x: by_hand(x)[0])(x)
    rows = slice(0, 2) if moves == "end" else slice(None)  # the time in the middle moves too
    np.testing.assert_allclose(found[rows], wanted[rows], rtol=1e-7, atol=1e-9)
    pushed = gw.jvp(lambda x: by_hand(x)[0], (x,), (np.array([0.3, 0.8]),))[1]
    np.testing.assert_allclose(pushed, found @ np.array([0.3, 0.8]), rtol=1e-7, atol=1e-9)


def test_a_solver_derived_from_one_of_scipys_takes_no_tracked_state() -> None:
    class Own(new.RK45):  # type: ignore[misc]  # a class of SciPy's
        pass

    assert Own(lambda t, y: -y, 0.0, [1.0], 1.0).step() is None
    with pytest.raises(TrackedValueError):
        gw.grad(lambda y: Own(lambda t, y: -y, 0.0, y, 1.0).y[0])(np.array([2.0]))


def test_odeint_at_loose_tolerances() -> None:
    """The states are LSODA's, whose errors its tolerances allow; the derivatives are as near."""

    def last(x: Any, tolerance: float) -> Any:
        def rate(y: Any, _: Any) -> Any:
            return [-x[0] * y[0] * y[1], y[0] - y[1]]

        return new.odeint(rate, [x[1], 1.0], [0.0, 1.0, 2.0], rtol=tolerance, atol=tolerance)[-1, 0]

    x = np.array([1.3, 0.7])
    exact = gw.grad(lambda x: last(x, 1e-10))(x)
    for tolerance in (1e-3, 1e-5):
        loose = partial(last, tolerance=tolerance)
        value, found = gw.value_and_grad(loose)(x)
        assert value == loose(x)
        np.testing.assert_allclose(found, exact, rtol=5 * tolerance)
        np.testing.assert_allclose(gw.jacfwd(loose)(x), found, rtol=1e-10)
        steps = 1e-3 * np.eye(2)
        wanted = [(loose(x + e) - loose(x - e)) / 2e-3 for e in steps]
        np.testing.assert_allclose(found, wanted, atol=2e-3)

    def oscillation(x: Any) -> Any:
        def rate(y: Any, _: Any) -> Any:
            return [y[1], x * (1 - y[0] ** 2) * y[1] - y[0]]

        times = np.linspace(0.0, 10.0, 20)
        return new.odeint(rate, [0.7, 1.0], times, rtol=1e-2, atol=1e-2).sum()

    with pytest.raises(NoRuleError, match=r"odeint: the states are off by .*Fix: smaller rtol"):
        gw.grad(oscillation)(1.3)


def test_quad_from_a_greater_finite_bound_has_the_sign_of_its_value() -> None:
    def of(x: Any) -> Any:
        return new.quad(lambda t: np.exp(-x[0] * t) * np.sqrt(np.abs(t)), x[1], x[2])[0]

    def swapped(x: Any) -> Any:
        return -new.quad(lambda t: np.exp(-x[0] * t) * np.sqrt(np.abs(t)), x[2], x[1])[0]

    x = np.array([0.7, 2.0, -1.3])
    np.testing.assert_allclose(gw.grad(of)(x), gw.grad(swapped)(x), rtol=1e-9)
