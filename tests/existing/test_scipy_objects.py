"""SciPy's own objects of plain data, as packages make them at their import, at tracked points."""

from __future__ import annotations

import importlib
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.adaptation.scipy_objects import let_answer
from gradwrap.errors import AdaptationError, GradwrapError
from packages import written

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

interpolate: Any = importlib.import_module("scipy.interpolate")
sparse: Any = importlib.import_module("scipy.sparse")
spatial: Any = importlib.import_module("scipy.spatial")
stats: Any = importlib.import_module("scipy.stats")
rotations: Any = importlib.import_module("scipy.spatial.transform")

rng = np.random.default_rng(5)
X = np.array([0.9, 1.4])
POINTS, VALUES, KNOTS = rng.normal(size=(12, 2)), rng.normal(size=12), np.linspace(0.0, 3.0, 12)
PAIRS = np.stack([VALUES, VALUES**2], axis=-1)
SPLINE = interpolate.UnivariateSpline(KNOTS, np.sin(KNOTS), s=0)
CONSTANT = interpolate.InterpolatedUnivariateSpline(KNOTS, np.sin(KNOTS), ext="const")
SURFACE = interpolate.RectBivariateSpline(np.arange(5.0), np.arange(6.0), rng.normal(size=(5, 6)))
B_SPLINE = interpolate.make_interp_spline(KNOTS, PAIRS)
PIECES = interpolate.CubicSpline(KNOTS, VALUES)
NEAREST = interpolate.NearestNDInterpolator(POINTS, PAIRS)
LINEAR = interpolate.LinearNDInterpolator(POINTS, PAIRS)
RESCALED = interpolate.LinearNDInterpolator(POINTS, VALUES, rescale=True)
RADIAL = interpolate.RBFInterpolator(POINTS, PAIRS, smoothing=0.1, kernel="cubic")
OLDER = interpolate.Rbf(*POINTS.T, PAIRS, smooth=0.1, epsilon=0.7, mode="N-D")
OWN = interpolate.Rbf(*POINTS.T, VALUES, function=lambda self, r: r**3 + self.c, c=0.3)
KROGH = interpolate.KroghInterpolator(KNOTS[:4], PAIRS[:4].T, axis=1)
BARYCENTRIC = interpolate.BarycentricInterpolator(KNOTS[:5], PAIRS[:5])
PERIODIC = interpolate.CubicSpline([0.0, 1.0, 2.0], [0.0, 1.0, 0.0], bc_type="periodic")
NORMAL, GAMMA = stats.norm(0.3, 1.2), stats.gamma(2.0, scale=1.5)
PLANE = stats.multivariate_normal([0.1, 0.2], [[1.0, 0.3], [0.3, 2.0]])
DENSITY = stats.gaussian_kde(VALUES, bw_method=0.4, weights=np.abs(VALUES))
TREE, C_TREE = spatial.KDTree(POINTS), spatial.cKDTree(POINTS)
ROTATION = rotations.Rotation.from_euler("xyz", [0.3, 0.1, -0.2])
TRIANGLES = spatial.Delaunay(POINTS)


def of_distributions(x: Any) -> Any:
    shares = NORMAL.ppf(x / 4) + GAMMA.sf(x) * NORMAL.logcdf(x) + GAMMA.isf(x / 3)
    return np.sum(NORMAL.pdf(x) * GAMMA.logpdf(x) + NORMAL.cdf(x) + shares) + PLANE.logpdf(x)


def of_trees(x: Any) -> Any:
    near = POINTS[TREE.query_ball_point(x / 3, 1.5)]
    distances, places = TREE.query(x.reshape(1, 2), k=3)
    count = TREE.query_ball_point(x / 3, 1.5, return_length=True)
    return np.sum((near - x) ** 2) * count + np.sum(distances[0] * VALUES[places[0]])


def of_compiled_trees(x: Any) -> Any:
    own = spatial.cKDTree(POINTS * 2.0)
    near = np.sum(POINTS[C_TREE.query_ball_point(x / 3, 1.5)] * x)
    return C_TREE.query(x)[0] * near + own.query(x, k=2)[0][1]


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "UnivariateSpline": lambda x: np.sum(SPLINE(x) * SPLINE(x, 1) + SPLINE.derivative()(x)),
    "integral": lambda x: SPLINE.integral(x[0], x[1]) * x[0],
    "ext": lambda x: np.sum(CONSTANT(x * 3.0) + SPLINE(x * 3.0, ext=1)),
    "RectBivariateSpline": lambda x: np.sum(SURFACE(x, x * 1.5) * SURFACE(x, x, dx=1)),
    "points": lambda x: SURFACE.ev(x[0], x[1]) + SURFACE(x[:1], x[1] * 9.0, dy=1, grid=False)[0],
    "integrate": lambda x: np.sum(B_SPLINE.integrate(x[0], x[1])) * PIECES.integrate(0.1, x[1]),
    "NearestND": lambda x: np.sum(NEAREST(x[0], x[1]) * x[0]),
    "LinearND": lambda x: np.sum(LINEAR(x / 4) ** 2) + LINEAR(x[0] / 5, x[1] / 3)[1],
    "RBF": lambda x: np.sum(RADIAL(x.reshape(1, 2)) ** 2),
    "Rbf": lambda x: np.sum(OLDER(x[0], x[1]) ** 2) + OWN(x[0], x[1]),
    "Krogh": lambda x: np.sum(KROGH(x) * x),
    "Barycentric": lambda x: np.sum(BARYCENTRIC(x) ** 2),
    "distributions": of_distributions,
    "gaussian_kde": lambda x: (
        np.sum(DENSITY(x) * DENSITY.logpdf(x)) + DENSITY.integrate_box_1d(x[0], x[1])
    ),
    "KDTree": of_trees,
    "Rotation": lambda x: np.sum(ROTATION.apply(np.stack([x[0], x[1], x[0] * x[1]])) ** 3),
    "Delaunay": lambda x: VALUES[TRIANGLES.find_simplex(x / 5)] * x[0],
}


def check(function: Callable[[Any], Any], tried: Callable[[Any], Any]) -> None:
    steps = 1e-6 * np.eye(2)
    expected = [(function(X + e) - function(X - e)) / 2e-6 for e in steps]
    value, found = gw.value_and_grad(tried)(X)
    assert np.allclose(value, function(X), rtol=1e-14)
    assert np.allclose(found, expected, rtol=1e-6, atol=1e-8)
    assert np.allclose([gw.jvp(tried, (X,), (e,))[1] for e in np.eye(2)], found, rtol=1e-12)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_objects_made_outside_take_tracked_points(name: str) -> None:
    function = FUNCTIONS[name]
    check(function, function)
    check(function, gw.adapting(function))


def test_compiled_trees_need_adapting() -> None:
    check(of_compiled_trees, gw.adapting(of_compiled_trees))
    assert type(C_TREE).__module__ == "scipy.spatial._ckdtree"


def test_what_has_no_derivative_is_refused() -> None:
    with pytest.raises(GradwrapError, match="LinearNDInterpolator with rescale="):
        gw.grad(lambda x: RESCALED(x / 4))(X)
    with pytest.raises(GradwrapError, match=r"periodic spline .* \.antiderivative"):
        gw.grad(lambda x: PERIODIC.integrate(0.0, x[0]))(X)


def test_method_of_an_immutable_class_is_left() -> None:
    let_answer(float, "hex", lambda *_: "replaced")  # a rotation's is, before SciPy 1.17

    assert (0.5).hex() == "0x1.0000000000000p-1"


def test_object_that_converts_itself_to_a_tracked_array(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        import scipy.linalg

        class Matrix:
            def __init__(self, entries):
                self.entries = tuple(map(tuple, entries))

            def __array__(self, dtype=None, copy=None):
                return np.array(self.entries, dtype=dtype)

        def f(x):
            turned, stretched = scipy.linalg.polar(Matrix(x.reshape(2, 2)))
            return turned[0, 1] + scipy.linalg.norm(a=Matrix(x.reshape(2, 2))) * stretched[0, 0]
        """,
    )
    x = np.array([1.2, 0.3, -0.4, 0.9])
    steps = 1e-6 * np.eye(4)
    expected = [(package.f(x + e) - package.f(x - e)) / 2e-6 for e in steps]

    np.testing.assert_allclose(gw.grad(gw.adapting(package.f))(x), expected, rtol=1e-7)


def test_distributions_that_a_package_derives(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        from scipy.stats import rv_continuous

        class Base(rv_continuous):
            def pdf(self, x, *args, **options):
                return super().pdf(np.mod(x, 4.0), *args, **options)

        class Triangle(Base):
            def _pdf(self, x, c):
                return np.where(x < c, x / c, (2 - x) / (2 - c))

        triangle = Triangle(a=0.0, b=2.0, name="triangle")
        """,
    )

    def f(x: Any) -> Any:
        return np.sum(package.triangle.pdf(x + 4.0, x[0], scale=1.5))

    x, step = np.array([0.7, 1.1]), 1e-6
    wanted = [(f(x + e) - f(x - e)) / (2 * step) for e in step * np.eye(2)]
    np.testing.assert_allclose(gw.grad(gw.adapting(f))(x), wanted, rtol=1e-7)
    assert package.Base.__bases__ == (stats.rv_continuous,)


def test_classes_that_a_package_derives_from_those_in_c(tmp_path: Path) -> None:
    """The layout of SciPy's own tree differs from that of its stand-in, which is left out."""
    package = written(
        tmp_path,
        """
        from scipy.spatial import cKDTree

        class Tree(cKDTree):
            def count(self):
                return self.n

        def f(x):
            return Tree(np.eye(2)).count() * np.sum(x.copy() ** 2)
        """,
    )
    x = np.array([0.7, 1.1])
    np.testing.assert_allclose(gw.grad(gw.adapting(package.f))(x), 4.0 * x, rtol=1e-12)


BOUND = """
from scipy import stats
from scipy.stats import norm
density = norm.pdf
TABLE = {"normal": norm.logpdf, "student": stats.t.logpdf}
class Of:
    below = staticmethod(norm.cdf)
    above = norm.sf
def of_globals(x): return np.sum(density(x))
def of_tables(x): return TABLE["normal"](x[0]) + TABLE["student"](x[1], 3.0)
def of_classes(x): return Of.below(x[0]) * Of().above(x[1])
def of_defaults(x, f=norm.logsf): return f(x[0], x[1])
"""


@pytest.mark.parametrize("name", ["of_globals", "of_tables", "of_classes", "of_defaults"])
def test_methods_that_a_package_keeps(tmp_path: Path, name: str) -> None:
    function = getattr(written(tmp_path, BOUND), name)
    expected = [(function(X + e) - function(X - e)) / 2e-6 for e in 1e-6 * np.eye(2)]
    assert np.allclose(gw.grad(gw.adapting(function))(X), expected, rtol=1e-6)


@pytest.mark.parametrize("kind", [spatial.KDTree, spatial.cKDTree])
def test_queries_of_trees_compile(kind: Any) -> None:
    tree = kind(POINTS)

    def nearest(x: Any) -> Any:
        return np.sum(tree.query(x, k=3)[0] ** 2) * tree.query(x.reshape(1, 2), p=1)[0][0]

    slope = gw.grad(gw.adapting(nearest))
    compiled = gw.compile(slope)
    for x in rng.normal(size=(6, 2)):
        expected = [(nearest(x + e) - nearest(x - e)) / 2e-6 for e in 1e-6 * np.eye(2)]
        np.testing.assert_allclose(compiled(x), expected, rtol=1e-6)
        np.testing.assert_allclose(compiled(x), slope(x), rtol=1e-12)


OPERATORS = """
    import numpy as np
    from scipy.sparse.linalg import LinearOperator, aslinearoperator

    A = np.array([[2.0, 0.3], [0.4, 3.0]])

    class Slope(LinearOperator):
        def __init__(self, k):
            self.k = k
            super().__init__(dtype=float, shape=(2, 2))

        def _matvec(self, v):
            return np.asarray(self.k * np.cumsum(np.ravel(v)))

        def _rmatvec(self, v):
            return -self.k * np.cumsum(v)  # which is not the adjoint

    class Product(LinearOperator):
        def __init__(self, A):
            self.A = A
            super().__init__(dtype=float, shape=A.shape)

        def _matmat(self, X):
            return self.A @ X

        def _adjoint(self):
            return Product(self.A.T)

    def of_plain_vectors(x):
        return (Slope(x[0]) @ np.array([1.0, 2.0])).sum() * (Product(A * x[1]) @ np.eye(2)).sum()

    def of_tracked_vectors(x):
        found = Slope(x[1]) @ x + Slope(2.0).matvec(x[:, None])[:, 0] + Product(A).rmatvec(x)
        return np.sum(found * x) + np.sum((Slope(3.0) + 2.0 * aslinearoperator(A)) @ x)

    def of_functions(x):
        return np.sum(LinearOperator((2, 2), lambda v: x[0] * v, dtype=float) @ np.ones(2)) * x[1]
"""


CLOSURES = """
    import numpy as np
    from scipy.sparse.linalg import LinearOperator, bicgstab, cg, eigsh, gmres, lsqr

    B, WEIGHTS = np.array([1.0, 2.0, 3.0]), np.array([2.0, 3.0, 4.0])

    def operator(x, **options):
        diagonal = np.array([x[0], 1.5 * x[1], 2.0])
        return LinearOperator((3, 3), lambda v: diagonal * v.ravel() + 0.1 * v.sum(), **options)

    def plain(v):
        return WEIGHTS * v.ravel() + 0.2 * v.sum()

    def products(x):
        made = operator(x)  # SciPy finds its dtype by a product
        return np.sum(made.matvec(B) ** 2) + np.sum(made @ (B * x[0])) * (made.dtype == float)

    def solutions(x):
        made = operator(x, dtype=float)
        near = LinearOperator((3, 3), lambda v: v / x[0])
        found = cg(made, B, rtol=1e-13)[0] + gmres(made, B * x[1], rtol=1e-13, M=near)[0]
        return np.sum(found**2)

    def filled(x):
        def multiply(v):
            out = np.zeros(3)
            for i, one in enumerate(v.ravel()):
                out[i] = x[i % 2] * one + 0.2 * v.sum()
            return out
        return np.sum(bicgstab(LinearOperator((3, 3), multiply), B, rtol=1e-13)[0] ** 3)

    def multiples(x):
        made = LinearOperator((3, 3), plain)
        both = x[0] * made + (made * x[1]) * 3.0 - made
        negative = (-made).dot(B * x[0])
        return np.sum(both.matvec(B) ** 2) + np.sum(both @ (B * x[1])) + np.sum(negative)

    def of_plain_products(x):
        given = np.array([x[0], x[1], 1.0])
        return np.sum(cg(LinearOperator((3, 3), plain), given, rtol=1e-13)[0] ** 2)

    def others(x):
        made = operator(x, rmatvec=lambda v: np.array([x[0], 1.5 * x[1], 2.0]) * v + 0.1 * v.sum())
        least = lsqr(made, B, atol=1e-14, btol=1e-14)[0]
        return np.sum(least**2) + eigsh(made, k=1)[0][0]
"""


@pytest.mark.parametrize(
    "name", ["products", "solutions", "filled", "multiples", "of_plain_products", "others"]
)
def test_operators_of_closures_with_tracked_values(tmp_path: Path, name: str) -> None:
    function = getattr(written(tmp_path, CLOSURES), name)
    expected = [(function(X + e) - function(X - e)) / 2e-6 for e in 1e-6 * np.eye(2)]
    adapted = gw.adapting(function)
    assert np.allclose(gw.grad(adapted)(X), expected, rtol=1e-6)
    assert np.allclose([gw.jvp(adapted, (X,), (e,))[1] for e in np.eye(2)], expected, rtol=1e-6)
    second = gw.hessian(adapted)(X)
    steps = [gw.grad(adapted)(X + e) - gw.grad(adapted)(X - e) for e in 1e-5 * np.eye(2)]
    assert np.allclose(second, np.array(steps) / 2e-5, rtol=1e-5)


@pytest.mark.parametrize("name", ["of_plain_vectors", "of_tracked_vectors", "of_functions"])
def test_operators_of_other_packages(tmp_path: Path, name: str) -> None:
    function = getattr(written(tmp_path, OPERATORS), name)
    expected = [(function(X + e) - function(X - e)) / 2e-6 for e in 1e-6 * np.eye(2)]
    adapted = gw.adapting(function)
    assert np.allclose(gw.grad(adapted)(X), expected, rtol=1e-6)
    assert np.allclose([gw.jvp(adapted, (X,), (e,))[1] for e in np.eye(2)], expected, rtol=1e-6)


def test_an_operator_of_another_shape(tmp_path: Path) -> None:
    package = written(tmp_path, OPERATORS)
    with pytest.raises(ValueError, match="dimension mismatch"):
        gw.grad(gw.adapting(lambda x: np.sum(package.Slope(2.0) @ x[:1])))(X)


class Table(interpolate.RectBivariateSpline):  # type: ignore[misc]  # a class of SciPy's
    def __init__(self, values: Any) -> None:
        super().__init__(np.linspace(0.0, 2.0, 5), np.linspace(0.0, 1.0, 6), values)

    def at(self, x: float, y: float) -> Any:
        return self(x, y, grid=False)


class Doubled(sparse.csr_array):  # type: ignore[misc]  # likewise
    def twice(self, v: Any) -> Any:
        return 2.0 * (self @ v)


def test_subclasses_of_scipys_classes_take_their_arguments_after_an_adapted_call() -> None:
    values = np.exp(-np.linspace(0.0, 2.0, 5))[:, None] * np.cos(np.linspace(0.0, 1.0, 6))
    before = float(Table(values).at(0.3, 0.2))
    slopes = gw.grad(gw.adapting(lambda v: Table(v).at(0.3, 0.2)))(values)
    assert np.isclose(np.sum(slopes * values), before)  # a spline is linear in its values
    with suppress(AdaptationError):
        gw.grad(gw.adapting(lambda x: np.sum(Doubled(np.diag(x)).twice(x))))(np.ones(2))
    assert float(Table(values).at(0.3, 0.2)) == before
    np.testing.assert_array_equal(Doubled(np.eye(2)).twice(np.ones(2)), [2.0, 2.0])
