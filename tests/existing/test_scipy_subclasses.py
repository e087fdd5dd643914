"""Classes that packages derive from SciPy's trees, splines and estimates, of tracked values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import NoRuleError
from packages import written

if TYPE_CHECKING:
    from pathlib import Path

X = np.array([1.3, 0.7, 2.0, 0.2, 1.1, 0.4])
TREE = """
class Tree(scipy.spatial.{0}):
    def __init__(self, points, k=1, most=np.inf, boxsize=None):
        super().__init__(points, boxsize=boxsize)
        self.k, self.most = k, most
    def query(self, x=None, *_):
        x = self.data if x is None else x
        return super().query(x, self.k, 0.0, 2, self.most, 1)
    def near(self, r): return self.query_ball_point(self.data, r)
PLAIN = Tree(np.arange(6.0).reshape(3, 2))
def run(x):
    points = x.reshape(3, 2)
    tree = Tree(points, k=2)
    assert tree.n == 3 and [len(one) for one in tree.near(0.1)] == [1, 1, 1]
    found = tree.query()[0][:, 1].sum() + Tree(points).query([[0.3, 0.4]])[0][0]
    distances, places = Tree(points, most=0.5).query(points + 0.1)
    assert places.tolist() == [0, 1, 2]
    return found + PLAIN.query(points)[0].sum() * tree.data[0, 0] + distances.sum()
"""
SOURCES = {
    "a tree": TREE.format("KDTree"),
    "a compiled tree": TREE.format("cKDTree"),
    "a density whose width is its own": """
class Density(scipy.stats.gaussian_kde):
    def covariance_factor(self): return 0.5 * self.scotts_factor()
PLAIN = Density(np.arange(5.0))
def run(x):
    made = Density(x)
    return np.sum(made([0.4, 2.2])) + made.factor + made.logpdf(0.3)[0] + PLAIN(x).sum()
""",
    "a density": """
class Density(scipy.stats.gaussian_kde):
    def __init__(self, x, scale):
        self.scale = scale
        super().__init__(x, bw_method=0.3 * scale)
    def at(self, t): return self.scale * self.evaluate(t)
def run(x): return np.sum(Density(x[1:], x[0]).at(np.array([0.4, 2.2])))
""",
    "splines": """
class Spline(scipy.interpolate.CubicSpline):
    def __init__(self, x, y):
        super().__init__(x, y, bc_type="natural")
        self.n = len(x)
    def at(self, t): return self(t) * self.n
class Fitted(scipy.interpolate.InterpolatedUnivariateSpline):
    def at(self, t): return 2 * self(t)
class Line(scipy.interpolate.interp1d):
    def __call__(self, t): return 2 * super().__call__(t)
class Grid(scipy.interpolate.RegularGridInterpolator):
    def at(self, *t): return self(np.array(t))[0]
def run(x):
    n, t = np.arange(6.0), np.array([0.4, 2.2])
    found = Spline(n, x).at(t) + Fitted(n, x, k=3).at(t) + Line(n, x, kind="quadratic")(t)
    return np.sum(found) * Grid((np.arange(2.0), np.arange(3.0)), x.reshape(2, 3)).at(0.4, 1.2)
""",
}
HEAD = "import scipy.interpolate, scipy.spatial, scipy.stats\n"


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_derived_classes_have_the_derivatives_of_scipys(source: str, tmp_path: Path) -> None:
    package = written(tmp_path, HEAD + source)
    run = package.run
    wanted = [(run(X + e) - run(X - e)) / 2e-6 for e in 1e-6 * np.eye(6)]
    for _ in range(2):
        value, gradient = gw.value_and_grad(gw.adapting(run))(X)
        np.testing.assert_allclose(value, run(X), rtol=1e-12)
        np.testing.assert_allclose(gradient, wanted, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(
        gw.jvp(gw.adapting(run), (X,), (X,))[1], np.dot(wanted, X), rtol=1e-6
    )


@pytest.mark.parametrize("name", ["_compute_covariance", "scotts_factor", "set_bandwidth"])
def test_a_width_of_which_nothing_is_known_is_refused(name: str, tmp_path: Path) -> None:
    source = f"""
class Density(scipy.stats.gaussian_kde):
    def {name}(self, *args): return super().{name}(*args)
def run(x): return np.sum(Density(x)([0.4, 2.2]))
"""
    package = written(tmp_path, HEAD + source)
    with pytest.raises(NoRuleError, match=rf"has a {name} of its own.*Fix: "):
        gw.grad(gw.adapting(package.run))(X)
