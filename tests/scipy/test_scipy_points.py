"""Points in tuples, of interpolants that SciPy itself made, and numbers in lists."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.adaptation.scipy_interpolate import CLASSES
from gradwrap.scipy.interpolants import PARTS as REBUILT

ours: Any = import_module("gradwrap.scipy.interpolate")
native: Any = import_module("scipy.interpolate")
stats: Any = import_module("gradwrap.scipy.stats")
native_stats: Any = import_module("scipy.stats")
RANDOM = np.random.default_rng(3)

# Coordinates --------------------------------------------------------------------------------------

SCATTERED = RANDOM.uniform(0, 6, size=(30, 2))
PARTS = tuple(SCATTERED.T)
HEIGHTS = np.sin(SCATTERED[:, 0]) + SCATTERED[:, 1] ** 2
AXES = (np.linspace(0, 6, 9), np.arange(7.0))
GRID = RANDOM.normal(size=(9, 7))
LINE, CURVE = AXES[:1], np.sin(AXES[0])
B = np.array([1.5, 3.2])
CASES: dict[str, Any] = {
    "RegularGridInterpolator": lambda a: ours.RegularGridInterpolator(AXES, GRID)((a, B)),
    "broadcast": lambda a: ours.RegularGridInterpolator(AXES, GRID)((a[:, None], B)),
    "tuples": lambda a: ours.RegularGridInterpolator(AXES, GRID)(((a[0], a[1]), (1.0, 2.0))),
    "a list of points": lambda a: ours.RegularGridInterpolator(AXES, GRID)([a, B]),
    "one axis": lambda a: ours.RegularGridInterpolator(LINE, CURVE)(a),
    "interpn": lambda a: ours.interpn(AXES, GRID, (a, B)),
    "interpn, broadcast": lambda a: ours.interpn(AXES, GRID, (a[:, None], B[None])),
    "interpn, one axis": lambda a: ours.interpn(LINE, CURVE, a),
    "griddata": lambda a: ours.griddata(SCATTERED, HEIGHTS, (a, B)),
    "griddata of coordinates": lambda a: ours.griddata(PARTS, HEIGHTS * a[0], (a, B)),
    "LinearNDInterpolator": lambda a: ours.LinearNDInterpolator(SCATTERED, HEIGHTS)(a, B),
    "of coordinates": lambda a: ours.LinearNDInterpolator(PARTS, HEIGHTS)((a, B)),
    "NdBSpline": lambda a: ours.NdBSpline((np.arange(8.0),) * 2, GRID[:4, :4], 3)((3 + a / 9, B)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_points_in_a_tuple_are_read_as_scipy_reads_them(name: str) -> None:
    """There are as many points as axes, so that a wrong reading has the right shape."""

    def f(a: Any) -> Any:
        return np.sum(np.sin(CASES[name](a)))

    a = np.array([1.7, 2.3])
    expected = np.array([(f(a + e) - f(a - e)) / 2e-6 for e in 1e-6 * np.eye(2)])
    np.testing.assert_allclose(gw.grad(f)(a), expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(gw.jvp(f, (a,), (a,))[1], expected @ a, rtol=1e-6)


# SciPy's own interpolants -------------------------------------------------------------------------

KNOTS = np.array([0.0, 0.7, 1.9, 2.4, 3.6, 5.0, 6.0])
ROWS = RANDOM.normal(size=(2, 7))
SPLINES = {
    name: getattr(native, name)(KNOTS, ROWS, axis=1)
    for name in ("CubicSpline", "PchipInterpolator", "Akima1DInterpolator")
}
MADE: dict[str, Any] = {
    **SPLINES,
    "one row": native.CubicSpline(KNOTS, ROWS[0], extrapolate=False),
    "derivative": SPLINES["CubicSpline"].derivative(),
    "BSpline": native.make_interp_spline(KNOTS, ROWS, k=3, axis=1),
    "BPoly": native.BPoly.from_derivatives([0, 2, 6], [[0, 1], [2, 0.5], [1, 1]]),
    "RegularGridInterpolator": native.RegularGridInterpolator((KNOTS,), ROWS[1]),
    "interp1d": native.interp1d(KNOTS[[0, 2, 1, 3, 4, 5, 6]], ROWS),
    "cubic": native.interp1d(KNOTS, ROWS.T, "cubic", axis=0, fill_value="extrapolate"),
    "previous": native.interp1d(KNOTS[:5], ROWS[:, :5], "previous", -1, True, False, (1.0, 2.0)),
}


@pytest.mark.parametrize("name", MADE)
def test_scipys_own_interpolants_take_tracked_points(name: str) -> None:
    made, x = MADE[name], np.array([0.4, 1.1, 3.0, 5.2])

    def f(x: Any) -> Any:
        return np.sum(np.sin(made(x)))

    expected = np.array([(f(x + e) - f(x - e)) / 2e-6 for e in 1e-6 * np.eye(4)])
    np.testing.assert_allclose(gw.grad(f)(x), expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(gw.vjp(made, x)[0], made(x))


def test_the_classes_whose_calls_are_wrapped_are_those_that_can_be_rebuilt() -> None:
    """The names stand in two places, since importing SciPy is not to load `gradwrap.scipy`."""
    assert tuple(REBUILT) == CLASSES


# Numbers in lists ---------------------------------------------------------------------------------

LISTS: dict[str, Any] = {
    "gmean": lambda m, x: m.gmean([x[0], x[1], 2.0]),
    "pmean": lambda m, x: m.pmean((x[0], x[1]), 2.5),
    "weights": lambda m, x: m.hmean([x[0], x[1]], weights=[x[1], 1.0]),
    "rows": lambda m, x: m.gmean([[x[0], x[1]], [1.0, x[0] * x[1]]], axis=1),
    "skew": lambda m, x: m.skew([x[0], x[1], 0.3]),
    "groups": lambda m, x: m.bartlett([x[0], x[1], 0.3], x[0] * np.array([0.1, 0.5, 0.7]))[0],
    "arrays": lambda m, x: m.bartlett(x, x * x)[0],
    "entropy": lambda m, x: m.entropy([x[0], x[1]], [1.0, x[0]]),
    "moment": lambda m, x: m.moment([x[0], x[1], 3.0], 2),
}


@pytest.mark.parametrize("name", LISTS)
def test_statistics_take_lists_of_tracked_numbers(name: str) -> None:
    a = np.array([0.7, 1.9])
    expected = np.array(
        [
            (LISTS[name](native_stats, a + e) - LISTS[name](native_stats, a - e)) / 2e-6
            for e in 1e-6 * np.eye(2)
        ]
    )
    found = gw.jacobian(lambda x: LISTS[name](stats, x))(a)
    np.testing.assert_allclose(found, expected.T, rtol=1e-6, atol=1e-8)
