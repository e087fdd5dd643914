"""Programs of adapted code: functions that solvers call get variables, integrals are called again.

Each is called at other arguments too, where it does other things.
"""

from __future__ import annotations

import itertools
import math
import statistics
import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import CompileWarning

if TYPE_CHECKING:
    from collections.abc import Callable

integrate: Any = import_module("scipy.integrate")
optimize: Any = import_module("scipy.optimize")
interpolate: Any = import_module("scipy.interpolate")
special: Any = import_module("scipy.special")
PLACES = [[0.7, 1.3], [0.8, 1.4], [2.1, 3.3], [0.7, 0.9]]


def compare(function: Callable[[Any], Any], places: Any) -> Any:
    """Compare a compiled gradient with the eager one and with differences; return it."""
    gradient = gw.compile(gw.grad(gw.adapting(function)))
    for place in places:
        x = np.array(place)
        found = gradient(x)
        np.testing.assert_allclose(found, gw.grad(gw.adapting(function))(x), rtol=1e-7, atol=1e-12)
        units = 1e-4 * np.eye(x.size)
        differences = [(function(x + e) - function(x - e)) / 2e-4 for e in units]
        np.testing.assert_allclose(found, differences, rtol=0.01, atol=1e-4)
    return gradient


def of_a_float(x: Any) -> Any:
    def residual(t: Any) -> Any:
        value = float(t)
        if math.isclose(value, 1.0):
            return 1.0 - x[0]
        return [value**3 + x[0] * value - x[1]][0]

    return optimize.brentq(residual, 0.0, 5.0, xtol=1e-13)


class Length:
    """A length in a unit, which NumPy does not know."""

    def __init__(self, number: Any) -> None:
        self.number = number

    def __rmul__(self, other: Any) -> Any:
        return Length(other * self.number)


def with_units(x: Any) -> Any:
    table = interpolate.interp1d([0.0, 1.0, 2.0, 4.0], [0.0, 1.0, 1.7, 2.0])

    def power(t: Any) -> Any:
        return (table(t) * Length(x[0])).number * np.exp(-x[1] * t)

    return integrate.quad(power, 0.0, 4.0, points=[1.0, 2.0])[0]


def to_a_limit(x: Any) -> Any:
    return integrate.quad(lambda t: np.sin(x[0] * t) / (1 + t * t), 0, x[1])[0]


def from_a_limit(x: Any) -> Any:
    return integrate.quad(lambda t: np.exp(-x[0] * t * t), x[1], np.inf)[0]


def peak(x: Any) -> Any:
    return integrate.quad(lambda t: t * np.exp(-(((t - x[0]) / x[1]) ** 2)), 0, 10.0)[0]


def twofold(x: Any) -> Any:
    def inner(t: Any, u: Any) -> Any:
        return np.exp(-x[0] * t) * np.cos(u * x[1])

    return integrate.dblquad(inner, 0, x[1], 0, lambda u: x[0] * u)[0]


def within_each_other(x: Any) -> Any:
    def inner(s: Any) -> Any:
        return integrate.quad(lambda t: np.cos(s * np.sin(t)), 0, np.pi)[0]

    return integrate.quad(lambda u: inner(x[0] * u) * np.sin(u) ** 3, 0, x[1])[0]


SOLVED = [of_a_float, with_units, to_a_limit, from_a_limit, peak, twofold, within_each_other]


@pytest.mark.parametrize("function", SOLVED)
def test_solvers_in_programs_do_as_eager_calls(function: Callable[[Any], Any]) -> None:
    assert compare(function, PLACES).programs


def test_the_number_of_intervals_is_a_branch() -> None:
    gradient = compare(peak, [[5.0, 2.0], [5.0, 0.05], [5.0, 2.0], [3.0, 0.1]])
    assert "guard: int" in gradient.explain()


def test_limits_that_meet_or_turn_are_branches() -> None:
    assert compare(to_a_limit, [[0.7, 1.3], [0.7, -1.3], [0.8, 1.2]]).programs
    gradient = gw.compile(gw.grad(gw.adapting(to_a_limit)))
    np.testing.assert_allclose(gradient(np.array([0.7, 1.3])), [0.41253268, 0.29349581])
    with pytest.warns(CompileWarning, match="in another way there"):
        np.testing.assert_allclose(gradient(np.array([0.7, 0.0])), [0.0, 0.0])
    np.testing.assert_allclose(gradient(np.array([0.7, 1.3])), [0.41253268, 0.29349581])
    assert gradient.programs
    assert "a branch runs eagerly: a solver" in gradient.explain()


def test_a_branch_that_cannot_be_traced_leaves_the_program_of_the_others() -> None:
    def function(x: Any) -> Any:
        if x[0] > 5.0:
            return np.sum(x) * float(gw.stop_gradient(x[1]))
        return np.sum(np.sin(x)) if x[0] > 0.0 else np.sum(x * x)

    gradient = gw.compile(gw.grad(function))
    for x in ([1.0, 2.0], [-1.0, 2.0]):
        gradient(np.array(x))
    for x in ([6.0, 10.0], [6.0, 100.0], [7.0, 2.0], [8.0, 2.0], [9.0, 3.0]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CompileWarning)
            np.testing.assert_allclose(gradient(np.array(x)), [x[1], x[1]])
    np.testing.assert_allclose(gradient(np.array([1.5, 2.5])), np.cos([1.5, 2.5]))
    np.testing.assert_allclose(gradient(np.array([-1.5, 2.5])), [-3.0, 5.0])
    assert gradient.programs
    assert "a branch runs eagerly: it calls float(x)" in gradient.explain()


def test_a_hidden_state_ends_a_program_for_good() -> None:
    state = iter([2.0, 2.0, 2.0, 2.0, *[3.0] * 20])

    def function(x: Any) -> Any:
        factor = next(state)
        return np.sum(x) * factor if x[0] > 0 else np.sum(x * x) * factor

    gradient = gw.compile(gw.grad(function))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        for x in (1.0, -1.0, 1.0):
            gradient(np.array([x, 2.0]))
    assert not gradient.programs


@pytest.mark.slow
def test_long_runs_of_a_solver_take_programs_of_the_paths() -> None:
    def function(x: Any) -> Any:
        def value(t: Any) -> Any:
            return np.sqrt(abs(t - x[0])) if t > x[0] else x[1] * t

        return integrate.quad(value, 0.0, 3.0, limit=200)[0]

    gradient = gw.compile(gw.grad(gw.adapting(function)))
    eager = gw.grad(gw.adapting(function))
    for x in ([1.0, 0.7], [1.5, 0.7], [1.0, 0.7]):
        try:
            wanted: Any = eager(np.array(x))
        except gw.errors.GradwrapError as error:
            with pytest.raises(type(error)):
                gradient(np.array(x))
        else:
            np.testing.assert_allclose(gradient(np.array(x)), wanted)


@pytest.mark.parametrize("late", [10, 20])
def test_a_callback_that_changes_after_some_calls_is_refused(late: int) -> None:
    def function(x: Any) -> Any:
        calls = [0]

        def value(t: Any) -> Any:
            calls[0] += 1
            return np.sin(x[0] * t) * (1.0 if calls[0] < late else x[1])

        return integrate.quad(value, 0.0, 2.0)[0] + x[1]

    gradient = gw.compile(gw.grad(gw.adapting(function)))
    with pytest.warns(CompileWarning):
        gradient(np.array([0.7, 1.3]))
    for x in PLACES:
        wanted = gw.grad(gw.adapting(function))(np.array(x))
        np.testing.assert_allclose(gradient(np.array(x)), wanted)


def test_what_a_callback_keeps_is_that_of_its_last_call() -> None:
    def function(x: Any) -> Any:
        kept: dict[str, Any] = {}

        def residual(t: Any) -> Any:
            kept["product"] = x[0] * t
            return np.exp(t) - x[0]

        root = optimize.brentq(residual, 0.0, 9.0)
        return root * kept["product"] + x[1]

    compare(function, [[2.0, 1.0], [3.0, 1.0], [5.1, 2.0]])


def test_functions_of_statistics_that_refuse_no_values() -> None:
    def function(x: Any) -> Any:
        pairs = [statistics.mean(pair) for pair in itertools.pairwise([*x])]
        middle = statistics.median([*x]) + statistics.fmean(x * x)
        return statistics.stdev([*x]) * pairs[0] + middle + statistics.pvariance([*x], x[0])

    gradient = compare(function, [[1.0, 2.0, 4.0, 3.5], [4.0, 2.5, 1.0, 9.0], [1.0, 2.0, 5.0]])
    assert gradient.programs
    with pytest.raises(statistics.StatisticsError):
        gw.compile(gw.grad(gw.adapting(lambda x: statistics.stdev([*x]))))(np.array([1.0]))


def test_statistics_of_what_is_not_finite_are_asked_of_the_original() -> None:
    def function(x: Any) -> Any:
        return statistics.stdev([np.log(x[0]), x[1], 2.0])

    eager, gradient = (make(gw.grad(gw.adapting(function))) for make in (lambda f: f, gw.compile))
    for x in ([1.5, 2.5], [0.0, 2.5], [1.7, 2.5]):
        with np.errstate(all="ignore"):
            try:
                wanted: Any = eager(np.array(x))
            except Exception as error:  # noqa: BLE001  it is compared
                with pytest.raises(type(error)):
                    gradient(np.array(x))
            else:
                np.testing.assert_allclose(gradient(np.array(x)), wanted)


def test_refused_values_of_statistics_are_refused() -> None:
    def function(x: Any) -> Any:
        return statistics.harmonic_mean([*x])

    gradient = gw.compile(gw.grad(gw.adapting(function)))
    with pytest.warns(CompileWarning, match="x.tolist"):
        np.testing.assert_allclose(gradient(np.array([1.0, 1.0])), [0.5, 0.5])
    with pytest.raises(statistics.StatisticsError):
        gradient(np.array([-1.0, 2.0]))


def test_masks_and_places_that_take_rows_of_a_table_are_branches() -> None:
    pandas: Any = pytest.importorskip("pandas")

    def function(x: Any) -> Any:
        series = pandas.Series(x, index=list("abcd"))
        changes = series.diff()
        rising = changes[changes.values > 0]
        frame = pandas.DataFrame({"one": x, "two": x * x})
        last = frame.loc[np.argsort(x)[-1], "two"]
        return (rising * rising).sum() + frame[frame["one"].values > 2.0]["two"].sum() + last

    places = [
        [1.0, 2.5, 1.5, 4.0],
        [4.0, 2.6, 1.0, 0.5],
        [1.0, 2.6, 1.5, 4.1],
        [3.0, 1.0, 2.5, 1.1],
    ]
    assert compare(function, places).programs


def test_a_complex_number_of_python_and_a_number_of_numpy() -> None:
    def function(x: Any) -> Any:
        return np.real((x[0] + 1j * x[1]) / (x[1] + 2j)) + special.voigt_profile(x[0], x[1], 0.4)

    assert compare(function, PLACES).programs


def test_a_report_says_that_all_calls_have_raised_errors() -> None:
    def function(x: Any) -> Any:
        raise ValueError("no")

    gradient = gw.compile(gw.grad(function))
    with pytest.raises(ValueError, match="no"):
        gradient(np.ones(2))
    assert "runs eagerly: all calls so far raised errors" in gradient.explain()


def test_tables_are_the_points_of_an_interpolant() -> None:
    pandas: Any = pytest.importorskip("pandas")

    def function(x: Any) -> Any:
        table = pandas.DataFrame({"at": [0.0, 1.0, 2.0, 4.0], "value": [0.0, 1.0, 1.7, 2.0]})
        found = interpolate.interp1d(table["at"], table["value"])
        return np.sum(found(x) * x)

    assert compare(function, [[0.5, 1.3], [1.5, 3.0], [0.2, 0.7]]).programs


def test_a_table_outside_whose_numbers_change_is_no_constant() -> None:
    pandas: Any = pytest.importorskip("pandas")
    table = pandas.DataFrame({"at": [0.0, 1.0, 2.0, 4.0], "value": [0.0, 1.0, 1.7, 2.0]})

    def function(x: Any) -> Any:
        return np.sum(interpolate.interp1d(table["at"], table["value"])(x) * x)

    gradient, x = gw.compile(gw.grad(gw.adapting(function))), np.array([0.5, 1.3])
    with pytest.warns(CompileWarning, match="in no variable that it names"):
        np.testing.assert_allclose(gradient(x)[0], 1.0)
    table["value"] = [0.0, 2.0, 2.5, 3.0]
    np.testing.assert_allclose(gradient(x)[0], 2.0)
    table.loc[1, "value"] = 1.4
    np.testing.assert_allclose(gradient(x)[0], 1.4)


def test_a_ufunc_without_a_name_in_numpy() -> None:
    umath: Any = import_module("numpy._core._umath_tests")

    def function(x: Any) -> Any:
        weights = umath.inner1d(gw.stop_gradient(x), np.array([1.0, 2.0]))
        return np.sum(x) * weights

    gradient = gw.compile(gw.grad(function))
    for x in PLACES:
        np.testing.assert_allclose(gradient(np.array(x)), [x[0] + 2 * x[1]] * 2)
    assert gradient.programs


def test_noise_of_a_seed_that_the_function_sets_serves_all_calls() -> None:
    def function(x: Any) -> Any:
        legacy = np.random.RandomState(3)
        drawn = legacy.uniform(low=x[0], high=x[1], size=4)
        rng = np.random.default_rng(7)
        return np.sum(drawn**2) + np.sum(rng.normal(x[0], x[1], size=3) * rng.exponential(x[1]))

    gradient = compare(function, PLACES)
    assert gradient.programs
    for _ in range(2):  # a refused parameter leaves the program
        with pytest.raises(ValueError, match="scale < 0"):
            gradient(np.array([0.7, -1.3]))
    x = np.array([0.9, 1.1])
    np.testing.assert_allclose(gradient(x), gw.grad(gw.adapting(function))(x))


def test_limits_of_a_uniform_distribution_that_fall_are_refused() -> None:
    def function(x: Any) -> Any:
        return np.sum(np.random.default_rng(7).uniform(x[0], x[1], size=3))

    gradient = compare(function, [[0.7, 1.3], [-1.0, 4.0]])
    assert gradient.programs
    with pytest.raises(ValueError, match=r"range|high"):
        gw.grad(gw.adapting(function))(np.array([1.3, 0.7]))
    with pytest.raises(ValueError, match=r"range|high"):
        gradient(np.array([1.3, 0.7]))
    np.testing.assert_allclose(gradient(np.array([0.5, 1.3])).sum(), 3.0)


def test_noise_without_a_seed_is_drawn_in_each_call() -> None:
    rng = np.random.default_rng(1)

    def function(x: Any) -> Any:
        return np.sum(rng.normal(x[0], x[1], size=3) ** 2)

    gradient = gw.compile(gw.grad(gw.adapting(function)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        found = [gradient(np.array([0.7, 1.3])) for _ in range(3)]
    assert not np.allclose(found[0], found[1])
    assert not np.allclose(found[1], found[2])
    assert not gradient.programs


@pytest.mark.slow
def test_a_long_trace_whose_error_the_function_catches_is_traced_in_full() -> None:
    def function(x: Any) -> Any:
        total = x[0]
        for k in range(3):
            try:
                for i in [*range(1900)]:
                    total = total + 1e-4 * np.sin(x[1] + i % 7 + k)
            except Exception:  # noqa: BLE001  as code of packages does
                total = -total
                total = -total
        return total

    assert compare(function, [[0.7, 1.3], [0.2, 0.9]]).programs
