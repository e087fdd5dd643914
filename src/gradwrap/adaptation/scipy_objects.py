"""SciPy's own distributions, trees and rotations that meet tracked values, entered at their import.

They were made of plain data, perhaps when a package was imported. The functions and classes of
`gradwrap.scipy` answer in their place, with the same data.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gradwrap.adaptation.scipy_fft import is_variable
from gradwrap.adaptation.scipy_interpolate import answering
from gradwrap.core.levels.wrapper import unwrapped_key
from gradwrap.core.values.dynamic import attributes_of, type_of

if TYPE_CHECKING:
    from collections.abc import Callable

DOORS = "gradwrap.scipy.doors"
DENSITIES = ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf")
DENSITIES_OF_VECTORS = ("pdf", "logpdf")
ESTIMATES = ("evaluate", "__call__", "pdf", "logpdf", "integrate_box_1d")
IMMUTABLE = 1 << 8
"""The flag of classes whose attributes cannot be set, as that of rotations before SciPy 1.17."""
SEARCHES = ("query_ball_point", "count_neighbors")
"""Methods of trees that return places and numbers of points, which have no derivative."""


def enter_distributions(module: Any) -> None:
    """Let frozen distributions and density estimates take tracked values."""
    rv: Any = module.distributions.rv_frozen
    for kind in (rv, *rv.__subclasses__()):
        for name in DENSITIES:
            let_answer(kind, name, _of_distribution(name))
    normal = type_of(module.multivariate_normal())
    for name in DENSITIES_OF_VECTORS:
        let_answer(normal, name, _of_normal(name))
    for name in ESTIMATES:
        let_answer(module.gaussian_kde, name, _of_estimate(name))


def enter_trees(module: Any) -> None:
    """Let trees and triangulations of plain points be asked for tracked ones."""
    let_answer(module.KDTree, "query", _query)
    for name in SEARCHES:
        let_answer(module.KDTree, name, _search(getattr(module.KDTree, name)))
    kind: Any = module.Delaunay
    kind.find_simplex = answering(kind.find_simplex, _search(kind.find_simplex))


def enter_rotations(module: Any) -> None:
    """Let plain rotations be applied to tracked vectors."""
    apply = module.Rotation.apply

    def answer(rotation: Any, *args: Any, **kwargs: Any) -> Any:
        if any(map(is_variable, attributes_of(rotation).values())):  # as our class calls it
            return apply(rotation, *args, **kwargs)
        ours = _dispatcher("spatial.transform.Rotation")
        return ours.from_quat(rotation.as_quat()).apply(*args, **kwargs)

    let_answer(module.Rotation, "apply", answer)


def let_answer(kind: Any, name: str, answer: Callable[..., Any]) -> None:
    """Replace a method of a class that has it, unless the class is immutable."""
    if name in vars(kind) and not kind.__flags__ & IMMUTABLE:
        setattr(kind, name, answering(getattr(kind, name), answer))


def _dispatcher(path: str) -> Any:
    return import_module(DOORS).dispatcher(path)


def _of_distribution(name: str) -> Callable[..., Any]:
    def answer(frozen: Any, x: Any) -> Any:
        public = getattr(import_module("scipy.stats"), frozen.dist.name, None)
        is_scipys = type_of(frozen.dist) is type_of(public)
        ours = _dispatcher(f"stats.{frozen.dist.name}") if is_scipys else frozen.dist
        return getattr(ours, name)(x, *frozen.args, **frozen.kwds)

    return answer


def _of_normal(name: str) -> Callable[..., Any]:
    def answer(frozen: Any, x: Any) -> Any:
        ours = _dispatcher("stats.multivariate_normal")
        covariance = frozen.cov_object.covariance
        return getattr(ours, name)(x, frozen.mean, covariance, frozen.allow_singular)

    return answer


def _of_estimate(name: str) -> Callable[..., Any]:
    def answer(made: Any, *args: Any, **kwargs: Any) -> Any:
        ours = _dispatcher("stats.gaussian_kde")(made.dataset, made.factor, made.weights)
        return getattr(ours, name)(*args, **kwargs)

    return answer


def tree_of(tree: Any, kind: str = "KDTree") -> Any:
    """Return a tree of our class of the same points."""
    return _dispatcher(f"spatial.{kind}")(tree.data, tree.leafsize, boxsize=tree.boxsize)


def _query(tree: Any, *args: Any, **kwargs: Any) -> Any:
    return tree_of(tree).query(*args, **kwargs)


def _search(method: Callable[..., Any]) -> Callable[..., Any]:
    def answer(tree: Any, *args: Any, **kwargs: Any) -> Any:
        options = {name: unwrapped_key(value) for name, value in kwargs.items()}
        return method(tree, *map(unwrapped_key, args), **options)

    return answer
