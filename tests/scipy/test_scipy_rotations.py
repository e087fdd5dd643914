"""Rotations and trees of tracked data, also together with plain ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.spatial
import scipy.spatial.transform as native

import gradwrap as gw
from gradwrap.errors import NoRuleError
from gradwrap.scipy import spatial
from gradwrap.scipy.spatial import transform

if TYPE_CHECKING:
    from collections.abc import Callable

VECTOR = np.array([0.3, -0.5, 0.2])
ANGLES = np.array([0.3, 0.5, 0.2])
QUATERNION = np.array([0.1, 0.3, -0.2, 0.9])
OTHER = np.array([0.2, -0.4, 0.3])
POINTS = np.array([[1.0, 0.2, 0.3], [0.1, -0.4, 2.0], [0.5, 0.5, -0.7]])

Rotation: Any = transform.Rotation
CASES: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "quat": (lambda x: Rotation.from_quat(x).as_matrix(), QUATERNION),
    "matrix": (
        lambda x: Rotation.from_matrix(Rotation.from_rotvec(x).as_matrix()).as_quat(),
        VECTOR,
    ),
    "rotvec": (lambda x: Rotation.from_rotvec(x).as_euler("xyz"), VECTOR),
    "euler": (lambda x: Rotation.from_euler("zyx", x).as_rotvec(), ANGLES),
    "list of angles": (
        lambda x: Rotation.from_euler(seq="yx", angles=[x[0], -1 * x[1]]).as_matrix(),
        ANGLES[:2],
    ),
    "lists of angles": (
        lambda x: Rotation.from_euler("yx", [[x[0], 0.3], [x[1], x[2]]]).as_matrix(),
        ANGLES,
    ),
    "list of coordinates": (lambda x: Rotation.from_rotvec([x[0], 0.4, x[1]]).apply(x), VECTOR),
    "mrp": (lambda x: Rotation.from_mrp(x).as_mrp(), VECTOR),
    "apply": (lambda x: Rotation.from_rotvec(x).apply(POINTS), VECTOR),
    "apply to tracked": (lambda x: Rotation.from_rotvec(OTHER).apply(x), VECTOR),
    "inverse": (lambda x: Rotation.from_rotvec(x).inv().as_rotvec(), VECTOR),
    "product": (
        lambda x: (Rotation.from_rotvec(x) * Rotation.from_rotvec(2 * x)).as_quat(),
        VECTOR,
    ),
    "tracked times plain": (
        lambda x: (Rotation.from_rotvec(x) * Rotation.from_rotvec(OTHER)).as_quat(),
        VECTOR,
    ),
    "plain times tracked": (
        lambda x: (Rotation.from_rotvec(OTHER) * Rotation.from_rotvec(x)).as_quat(),
        VECTOR,
    ),
    "power": (lambda x: (Rotation.from_rotvec(x) ** 0.6).as_rotvec(), VECTOR),
    "magnitude": (lambda x: Rotation.from_rotvec(x).magnitude(), VECTOR),
    "mean": (lambda x: Rotation.from_rotvec(np.stack([x, 2 * x + 0.1])).mean().as_rotvec(), VECTOR),
    "item": (lambda x: Rotation.from_rotvec(np.stack([x, 2 * x]))[1].as_rotvec(), VECTOR),
    "aligned": (lambda x: Rotation.align_vectors(POINTS + x, POINTS)[0].as_rotvec(), VECTOR),
    "slerp": (
        lambda x: transform.Slerp([0.0, 1.0], Rotation.from_rotvec(np.stack([x, 2 * x + 0.1])))(
            np.array([0.4])
        ).as_rotvec(),
        VECTOR,
    ),
    "rigid": (
        lambda x: transform.RigidTransform.from_components(
            x, Rotation.from_rotvec(OTHER)
        ).as_matrix(),
        VECTOR,
    ),
    "rigid product": (
        lambda x: (
            transform.RigidTransform.from_translation(x)
            * transform.RigidTransform.from_translation(OTHER)
        ).apply(OTHER),
        VECTOR,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_derivative_is_that_of_differences(case: str) -> None:
    function, x = CASES[case]

    gw.testing.check_grads(function, (x,), order=1)


@pytest.mark.parametrize("case", CASES)
def test_value_and_shape_are_scipys(case: str) -> None:
    function, x = CASES[case]

    value, _ = gw.vjp(function, x)

    wanted = function(x)
    assert value.shape == wanted.shape
    np.testing.assert_allclose(value, wanted, rtol=1e-13, atol=1e-14)


def test_rotations_are_instances_of_both_classes() -> None:
    seen: list[Any] = []

    def function(x: Any) -> Any:
        seen.append(Rotation.from_rotvec(x))
        return np.sum(seen[0].as_quat())

    gw.grad(function)(VECTOR)
    plain = Rotation.from_rotvec(VECTOR)
    for one in (*seen, plain):
        assert isinstance(one, Rotation)
        assert isinstance(one, native.Rotation)


def test_distances_of_a_tree_follow_the_points_asked_for_and_those_it_holds() -> None:
    def nearest(points: Any, asked: Any) -> Any:
        distances, places = spatial.KDTree(points).query(asked, k=2)
        assert not isinstance(places, gw.Variable)
        return distances

    asked = np.array([[0.2, 0.1, 0.4], [0.3, 0.3, 1.0]])
    gw.testing.check_grads(nearest, (POINTS, asked), order=1)
    np.testing.assert_array_equal(
        gw.vjp(nearest, POINTS, asked)[0], scipy.spatial.KDTree(POINTS).query(asked, k=2)[0]
    )


def test_sphere_of_tracked_points_is_refused_by_name() -> None:
    message = r"scipy\.spatial\.SphericalVoronoi has no derivative"
    with pytest.raises(NotImplementedError, match=message):
        gw.grad(lambda x: np.sum(spatial.SphericalVoronoi(x).points))(POINTS)


CLOUD = np.random.default_rng(3).normal(size=(9, 4))


def places_in(triangles: Any, x: Any) -> Any:
    """Return the barycentric coordinates of the mean of the points, as the documentation does."""
    at = np.mean(x, axis=0) + 0.01
    simplex = int(triangles.find_simplex(at))
    maps, last = triangles.transform[simplex, :-1], triangles.transform[simplex, -1]
    return np.concatenate([maps @ (at - last), triangles.min_bound])


@pytest.mark.parametrize("size", [2, 3])
def test_triangulations_and_cells_of_tracked_points(size: int) -> None:
    def measured(x: Any) -> Any:
        triangles, cells = spatial.Delaunay(x), spatial.Voronoi(x)
        assert isinstance(cells, scipy.spatial.Voronoi)
        assert not isinstance(triangles.simplices, gw.Variable)
        corners = triangles.points[triangles.simplices]
        sizes = np.linalg.det(corners[:, 1:] - corners[:, :1])
        closed = [one for one in cells.regions if one and -1 not in one]
        centres = [np.mean(cells.vertices[one], axis=0) for one in closed]
        return np.concatenate(
            [np.abs(sizes), places_in(triangles, x), np.ravel(cells.vertices), *centres]
        )

    points = CLOUD[:, :size]
    gw.testing.check_grads(measured, (points,), order=2)
    cells: Any = spatial.Voronoi(gw.wrap(points, requires_grad=True))
    found = cells.vertices.detach()
    np.testing.assert_array_equal(found, scipy.spatial.Voronoi(points).vertices)
    assert isinstance(spatial.Delaunay(points), scipy.spatial.Delaunay)


def test_points_where_halfspaces_meet() -> None:
    def corners(x: Any) -> Any:
        normals = np.concatenate([np.stack([np.cos(x), np.sin(x), -1.0 - x * x]).T, SIDES])
        found = spatial.HalfspaceIntersection(normals, np.zeros(2)).intersections
        return found[np.argsort(np.arctan2(found[:, 1], found[:, 0]))]

    gw.testing.check_grads(lambda x: np.sum(corners(x) ** 3), (np.array([0.3, 2.0, 4.4]),), order=2)


SIDES = np.array([[1.0, 0.2, -2.0], [-1.0, 0.0, -2.0]])


def test_what_compiled_classes_have_no_derivative_of() -> None:
    square = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    with pytest.raises(NoRuleError, match=r"Voronoi.vertices: 4 of the data meet in one point"):
        gw.grad(lambda x: np.sum(spatial.Voronoi(x).vertices))(square)
    assert np.sum(gw.grad(lambda x: np.sum(spatial.Voronoi(x).points))(square)) == 8.0
    with pytest.raises(NoRuleError, match=r"Delaunay.equations of tracked data has no derivative"):
        gw.grad(lambda x: np.sum(spatial.Delaunay(x).equations))(POINTS[:, :2])


@pytest.mark.parametrize("size", [2, 3, 4])
def test_hull_of_tracked_points(size: int) -> None:
    def measured(x: Any) -> Any:
        hull = spatial.ConvexHull(x)
        assert not isinstance(hull.simplices, gw.Variable)
        corners = hull.points[hull.vertices]
        return hull.volume, hull.area, hull.equations, hull.min_bound, hull.max_bound, corners

    points = CLOUD[:, :size]
    gw.testing.check_grads(measured, (points,), order=1, rtol=1e-4)
    hull = scipy.spatial.ConvexHull(points)
    found = gw.vjp(measured, points)[0]
    for one, name in zip(found, ("volume", "area", "equations", "min_bound"), strict=False):
        np.testing.assert_array_equal(one, getattr(hull, name))
    scale = gw.grad(lambda t: measured(t * points)[0])(1.0)  # the volume is of that degree
    np.testing.assert_allclose(scale, size * hull.volume)
    curved = gw.hessian(lambda t: measured(t * points)[0])(1.0)
    np.testing.assert_allclose(curved, size * (size - 1) * hull.volume)


def test_hull_in_adapted_code() -> None:
    def richness(x: Any) -> Any:
        hull = scipy.spatial.ConvexHull(x)
        assert isinstance(hull, scipy.spatial.ConvexHull)
        return hull.volume / hull.area

    ours = gw.grad(lambda x: spatial.ConvexHull(x).volume / spatial.ConvexHull(x).area)
    np.testing.assert_allclose(gw.grad(gw.adapting(richness))(CLOUD), ours(CLOUD))


def test_hull_that_grows_is_refused() -> None:
    with pytest.raises(NotImplementedError, match=r"incremental=True.*all points at once"):
        gw.grad(lambda x: spatial.ConvexHull(x, incremental=True).volume)(CLOUD)
