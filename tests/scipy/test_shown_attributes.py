"""What SciPy's objects show of tracked data has a derivative or refuses: it is no constant."""

from __future__ import annotations

import importlib
import inspect
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.core.levels.wrapper import innermost
from gradwrap.errors import GradwrapError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOMS = ("interpolate", "optimize", "signal", "sparse", "spatial", "stats")
SCIPY, OURS = (
    SimpleNamespace(**{room: importlib.import_module(f"{home}.{room}") for room in ROOMS})
    for home in ("scipy", "gradwrap.scipy")
)
for scipy_or_ours, home in ((SCIPY, "scipy"), (OURS, "gradwrap.scipy")):
    scipy_or_ours.rotations = importlib.import_module(f"{home}.spatial.transform")

rng = np.random.default_rng(0)
FIVE, EIGHT = rng.normal(size=5), rng.normal(size=8)
AT, PLANE = np.arange(5.0), np.stack([np.arange(5.0), [0.0, 2.0, 1.0, 3.0, 1.0]], axis=1)
TURN, NEAR_UNIT = np.array([0.3, 0.2, -0.4]), np.eye(3).ravel() + 0.1 * rng.normal(size=9)
SIX = np.array([0.3, 0.2, -0.4, 0.1, 0.5, 0.2])
PLACES = ([0, 1, 2], [0, 2, 1])


def positive(x: Any) -> Any:
    return x.reshape(2, 2) @ x.reshape(2, 2).T + np.eye(2)


def state_space(m: Any, x: Any) -> Any:
    return m.signal.StateSpace(x[:4].reshape(2, 2), x[4:].reshape(2, 1), np.ones((1, 2)), [[0.0]])


OBJECTS: dict[str, tuple[Callable[[Any, Any], Any], Any]] = {
    "from_rotvec": (lambda m, x: m.rotations.Rotation.from_rotvec(x), TURN),
    "from_euler": (lambda m, x: m.rotations.Rotation.from_euler("xyz", x), TURN),
    "from_matrix": (lambda m, x: m.rotations.Rotation.from_matrix(x.reshape(3, 3)), NEAR_UNIT),
    "align": (
        lambda m, x: m.rotations.Rotation.align_vectors(x.reshape(3, 3), np.eye(3))[0],
        NEAR_UNIT,
    ),
    "RigidTransform": (lambda m, x: m.rotations.RigidTransform.from_exp_coords(x), SIX),
    "norm": (lambda m, x: m.stats.norm(x[0], x[1]), np.array([0.3, 1.2])),
    "gamma": (lambda m, x: m.stats.gamma(x[0], scale=x[1]), np.array([2.3, 1.2])),
    "poisson": (lambda m, x: m.stats.poisson(x[0]), np.array([2.3])),
    "normal": (
        lambda m, x: m.stats.multivariate_normal(x[:2], positive(x)),
        np.array([1.0, 0.3, 0.2, 2.0]),
    ),
    "Normal": (lambda m, x: m.stats.Normal(mu=x[0], sigma=x[1]), np.array([0.3, 1.2])),
    "gaussian_kde": (lambda m, x: m.stats.gaussian_kde(x), FIVE),
    "dirichlet": (lambda m, x: m.stats.dirichlet(x), np.array([1.2, 2.0, 0.7])),
    "linregress": (lambda m, x: m.stats.linregress(AT, x), FIVE),
    "pearsonr": (lambda m, x: m.stats.pearsonr(AT, x), FIVE),
    "weightedtau": (lambda m, x: m.stats.weightedtau(AT, x), FIVE),
    "ttest_1samp": (lambda m, x: m.stats.ttest_1samp(x, 0.1), FIVE),
    "ttest_rel": (lambda m, x: m.stats.ttest_rel(x, AT), FIVE),
    "theilslopes": (lambda m, x: m.stats.theilslopes(x, AT), FIVE),
    "ttest_ind": (lambda m, x: m.stats.ttest_ind(AT, x), FIVE),
    "describe": (lambda m, x: m.stats.describe(x), FIVE),
    "lti": (lambda m, x: m.signal.lti(x[:2], x[2:]), np.array([1.0, 2.0, 1.0, 3.0, 2.5])),
    "StateSpace": (state_space, np.array([-1, 0.2, 0.3, -2.0, 1.0, 0.5])),
    "ZerosPolesGain": (
        lambda m, x: m.signal.ZerosPolesGain(x[:1], x[1:3], x[3]),
        np.array([-1.0, -2.0, -3.0, 1.5]),
    ),
    "KDTree": (lambda m, x: m.spatial.KDTree(x.reshape(4, 2)), EIGHT),
    "ConvexHull": (lambda m, x: m.spatial.ConvexHull(x.reshape(4, 2)), EIGHT),
    "csr_array": (lambda m, x: m.sparse.csr_array((x, PLACES), shape=(3, 3)), TURN),
    "coo_array": (lambda m, x: m.sparse.coo_array((x, PLACES), shape=(3, 3)), TURN),
    "CubicSpline": (lambda m, x: m.interpolate.CubicSpline(AT, x), FIVE),
    "Pchip": (lambda m, x: m.interpolate.PchipInterpolator(AT, x), FIVE),
    "PPoly": (lambda m, x: m.interpolate.PPoly(x.reshape(5, 1), [0, 1.0]), FIVE),
    "BPoly": (lambda m, x: m.interpolate.BPoly(x.reshape(5, 1), [0, 1.0]), FIVE),
    "BSpline": (lambda m, x: m.interpolate.BSpline([0, 0, 0, 1, 2, 3, 3, 3.0], x, 2), FIVE),
    "UnivariateSpline": (lambda m, x: m.interpolate.UnivariateSpline(AT, x, s=0), FIVE),
    "Krogh": (lambda m, x: m.interpolate.KroghInterpolator(AT, x), FIVE),
    "interp1d": (lambda m, x: m.interpolate.interp1d(AT, x), FIVE),
    "grid": (lambda m, x: m.interpolate.RegularGridInterpolator((AT,), x), FIVE),
    "RBF": (lambda m, x: m.interpolate.RBFInterpolator(AT[:, None], x), FIVE),
    "Rbf": (lambda m, x: m.interpolate.Rbf(AT, x, epsilon=x[0]), FIVE),
    "linear": (lambda m, x: m.interpolate.LinearNDInterpolator(PLANE, x), FIVE),
    "AAA": (lambda m, x: m.interpolate.AAA(AT, x), FIVE),
    "surface": (
        lambda m, x: m.interpolate.RectBivariateSpline(AT, AT, np.outer(x, AT + 1)),
        FIVE,
    ),
    "minimum": (
        lambda m, x: m.optimize.minimize(lambda y: np.sum((y - x) ** 2), np.zeros(3), tol=1e-12),
        TURN,
    ),
    "linprog": (
        lambda m, x: m.optimize.linprog([1.0, 1.0], A_ub=[[-1.0, -2.0], [-2.0, -1.0]], b_ub=-x),
        np.array([1.0, 1.2]),
    ),
    "Bounds": (lambda m, x: m.optimize.Bounds(x, x + 1), np.array([1.0, 2.0])),
}
CALLS: list[tuple[Any, ...]] = [(), (0.3,), (np.array([0.3, 0.4]),), (np.eye(3) + 0.1,), (0.0, 1.0)]
RANDOM = {"rvs", "resample", "sample"}


def shown(m: Any, build: Callable[..., Any], x: Any, name: str, args: Any) -> Any:
    """A sum of what an attribute or a method's result holds, with a weight for each number."""
    value: Any = getattr(build(m, x), name)
    if callable(value) and not inspect.isclass(value):
        value = value(*args)
    elif args or inspect.isclass(value):
        raise TypeError
    parts: Any = value if isinstance(value, (tuple, list)) else [value]
    dense = [part.toarray() if hasattr(part, "toarray") else part for part in parts]
    floats = [part for part in dense if np.asarray(plain(part)).dtype.kind in "fc"]
    weighted = [
        (i + 1) * np.sum(np.real(part) * np.reshape(np.arange(np.size(part)) + 1, np.shape(part)))
        for i, part in enumerate(floats)
    ]
    return sum(weighted[1:], weighted[0])


def plain(value: Any) -> Any:
    return innermost(value)


def differences(name: str) -> Iterator[tuple[str, Any, Any]]:
    """What SciPy's object shows that depends on the data, with the derivative by differences."""
    build, x = OBJECTS[name]
    made = build(SCIPY, x)
    steps = 1e-5 * np.eye(x.size)
    for attribute in {*dir(made), "__call__"} - RANDOM:
        for args in CALLS:
            if attribute.startswith("_") and attribute != "__call__":
                continue
            try:
                slopes = np.array(
                    [
                        shown(SCIPY, build, x + step, attribute, args)
                        - shown(SCIPY, build, x - step, attribute, args)
                        for step in steps
                    ]
                ) / (2e-5)
            except Exception:  # noqa: BLE001, S112  it does not take these arguments
                continue
            if np.all(np.isfinite(slopes)) and np.max(np.abs(slopes)) > 1e-8:
                yield attribute, args, slopes


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", OBJECTS)
def test_what_an_object_shows_is_differentiated_or_refused(name: str) -> None:
    build, x = OBJECTS[name]
    with np.errstate(all="ignore"):
        for attribute, args, slopes in differences(name):

            def f(x: Any, attribute: str = attribute, args: Any = args) -> Any:
                return shown(OURS, build, x, attribute, args)

            try:
                found = gw.grad(f)(x)
            except GradwrapError:
                continue
            scale = np.max(np.abs(slopes))
            np.testing.assert_allclose(
                found, slopes, rtol=1e-3, atol=1e-4 * scale, err_msg=f"{attribute}{args}"
            )
