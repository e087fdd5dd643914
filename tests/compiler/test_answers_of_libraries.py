"""What SciPy's compiled code says of values is an operation of a program, asked in each call."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw

if TYPE_CHECKING:
    from collections.abc import Callable

Y = np.array([0.25, 0.5, 0.7])
COUNTS = np.array([0, 1, 2, 3])
stats: Any = importlib.import_module("scipy.stats")
spatial: Any = importlib.import_module("scipy.spatial")
lapack: Any = importlib.import_module("scipy.linalg.lapack")
DISTRIBUTIONS: dict[str, tuple[Callable[[Any], Any], list[float]]] = {
    "bounds by a shape": (lambda x: stats.genextreme.logpdf(x[1] * Y, x[0]), [0.3, 1.1]),
    "quantiles": (lambda x: stats.genextreme.ppf(x[1] * Y, x[0]), [0.3, 1.1]),
    "two bounds": (lambda x: stats.truncnorm.logpdf(x[2] * Y, x[0], x[1]), [-1.0, 1.5, 1.1]),
    "an integral": (lambda x: stats.truncnorm.cdf(x[2] * Y, x[0], x[1]), [-1.0, 1.5, 1.1]),
    "a bounded side": (lambda x: stats.genpareto.sf(x[1] * Y, x[0]), [-0.3, 1.1]),
    "counts": (lambda x: stats.poisson.pmf(COUNTS, x[0]) * x[1], [2.3, 1.1]),
    "a real number of successes": (lambda x: stats.nbinom.logpmf(COUNTS, x[1], x[0]), [0.4, 3.1]),
    "a sum of counts": (lambda x: stats.betabinom.cdf(COUNTS, 5, x[0], x[1]), [1.2, 2.0]),
    "a long sum": (lambda x: stats.zipf.cdf(1 + COUNTS, x[0]) * x[1], [2.5, 1.1]),
}


def compared(function: Callable[[Any], Any], points: list[Any]) -> str:
    """Compare a compiled gradient with the eager one at some points; return what it explains."""

    def total(x: Any) -> Any:
        found = np.stack([*function(x)])
        return np.sum(found * np.linspace(0.5, 1.5, found.size).reshape(found.shape))

    eager = gw.grad(gw.adapting(total))
    compiled = gw.compile(eager)
    with np.errstate(all="ignore"):
        for x in points:
            np.testing.assert_allclose(compiled(x), eager(x), rtol=1e-9, atol=1e-11)
    explained = compiled.explain()
    assert "eagerly" not in explained
    return explained


@pytest.mark.parametrize(("function", "shapes"), DISTRIBUTIONS.values(), ids=DISTRIBUTIONS)
def test_supports_are_asked_in_each_call(
    function: Callable[[Any], Any], shapes: list[float]
) -> None:
    x = np.array(shapes)
    beyond = [x * [*[1.0] * (len(x) - 1), factor] for factor in (3.0, 9.0)]  # of a support
    compared(function, [x, 1.07 * x, *beyond, 0.9 * x])


def test_what_lapack_says_is_asked_in_each_call() -> None:
    def solved(x: Any) -> Any:
        sides = np.array([x[0], 0.2]), np.array([3.0, x[1] + 3.0, 4.0]), np.array([0.1, x[2]])
        *_, found, info = lapack.dgtsv(*sides, np.array([1.0, 2.0, x[0]]))
        return found if info == 0 else 0.0 * x

    x = np.array([0.3, 0.7, 1.2])
    assert "guard" in compared(solved, [x, 1.3 * x, -x])


def hull(x: Any) -> Any:
    made = spatial.ConvexHull(x)
    return [made.volume, made.area, np.sum(made.equations**2), np.sum(made.points[made.vertices])]


def triangles(x: Any) -> Any:
    made = spatial.Delaunay(x)
    corners = made.points[made.simplices]
    at = made.find_simplex(np.mean(x, axis=0))
    sizes = np.abs(np.linalg.det(corners[:, 1:] - corners[:, :1])) ** 1.5
    return [np.sum(sizes), np.sum(made.transform[at]), made.max_bound[0] * made.min_bound[1]]


def regions(x: Any) -> Any:
    made = spatial.Voronoi(x)
    between = made.points[made.ridge_points]
    return [np.sum(np.minimum(np.abs(made.vertices), 3.0)), np.sum(between[:, 0] * between[:, 1])]


def optioned(x: Any) -> Any:
    made = spatial.Delaunay(x, qhull_options="Qbb Qc Qz Q12")
    return [np.sum(made.points[made.simplices][:, 0] ** 2), np.sum(made.transform[:, 0] ** 2)]


@pytest.mark.parametrize("function", [hull, triangles, regions, optioned])
def test_places_are_asked_in_each_call(function: Callable[[Any], Any]) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(9, 2))
    moved = [x + size * rng.normal(size=x.shape) for size in (1e-3, 0.1, 1.0, 1.0, 1e-3)]
    explained = compared(function, [x, *moved, x])
    assert "guard: elements of" in explained  # other points have other neighbours


def test_places_of_hulls_of_other_points_have_programs_of_their_own() -> None:
    square = np.array([[0.0, 0.1], [1.0, 0.0], [1.1, 1.0], [0.1, 1.2], [0.5, 0.4]])
    outer = square + np.array([[0.0], [0.0], [0.0], [0.0], [2.0]]) * [1.0, 0.0]

    def area(x: Any) -> Any:
        return spatial.ConvexHull(x).volume

    compiled = gw.compile(gw.grad(gw.adapting(area)))
    for _ in range(2):
        assert not np.any(compiled(square)[4])  # within the hull
        assert np.all(compiled(outer)[4])
    assert "eagerly" not in compiled.explain()


def test_a_sum_of_plain_numbers_in_a_trace_has_its_cotangent() -> None:
    def mixed(x: Any) -> Any:
        chosen = np.where(np.array([True, False, True]), x, 1.0)
        return [np.mean(chosen == 1.0) * x[0], np.mean([x[0], 2.0, x[2]]) * np.mean(x)]

    compared(mixed, [np.array([0.3, 0.7, 1.2]), np.array([1.0, 0.7, 1.2])])


@pytest.mark.peers
def test_constants_of_copies_of_array_api_compat_hold_tracked_values() -> None:
    metrics: Any = pytest.importorskip("sklearn.metrics")
    wanted = np.array([1.0, 2.0, 4.0])
    compared(lambda x: [metrics.r2_score(wanted, x) * x[0]], [wanted + 0.1, 1.2 * wanted - 0.3])


def binned(pd: Any, x: Any) -> Any:
    table = pd.DataFrame({"bin": np.digitize(x, [0.3, 0.6]), "x": x})
    return [table.groupby("bin").x.mean().prod(), table.groupby("bin").agg(m=("x", "sum")).m.max()]


def stored(pd: Any, x: Any) -> Any:
    table = pd.DataFrame({"x": x, "y": x[::-1] ** 2})
    table["bin"] = (5.0 * x).astype(int)
    table.insert(0, "is_high", x > 0.5)
    return [table.groupby("bin").x.sum().prod(), table[table.is_high].y.sum()]


def stepped(pd: Any, x: Any) -> Any:
    table = pd.DataFrame({"step": np.floor(4.0 * x), "x": x})
    signs = pd.Series(np.sign(x - 0.5)) * pd.Series(x)
    return [(table.step * table.x).sum(), signs.sum(), (pd.Series(gw.stop_gradient(x)) * x).sum()]


@pytest.mark.peers
@pytest.mark.parametrize("function", [binned, stored, stepped])
def test_columns_that_do_not_have_a_derivative_are_asked_in_each_call(
    function: Callable[[Any, Any], Any],
) -> None:
    pd: Any = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    compared(lambda x: function(pd, x), [*rng.uniform(0.05, 0.95, size=(5, 12))])
