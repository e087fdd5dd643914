"""The rows of `scipy.spatial`."""

from __future__ import annotations

import functools
import hashlib
import inspect
import math
from functools import partial, partialmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.core.levels.modes import called
from gradwrap.core.levels.wrapper import is_recorded, unwrapped_key
from gradwrap.core.library.backend import backend_of
from gradwrap.core.library.labelled import unlabelled
from gradwrap.core.values.dynamic import attributes_of, type_of
from gradwrap.errors import NoRuleError
from gradwrap.scipy.calls import holds_variable
from gradwrap.scipy.classes import Class, in_namespace, meta_of
from gradwrap.scipy.dispatching import Constant, Refused
from gradwrap.scipy.kinds import formula
from gradwrap.scipy.solving import as_array, attached, data_of, is_tracer, plain
from gradwrap.scipy.table import Row, register
from gradwrap.transforms.arguments import stop_gradient

if TYPE_CHECKING:
    from collections.abc import Callable

# Distances, along the last axis -------------------------------------------------------------------


def root(x: Any) -> Any:
    """Return the square root, with derivative zero at zero."""
    zero = x == 0
    return np.where(zero, 0.0, np.sqrt(np.where(zero, 1.0, x)))


def _weighted(x: Any, w: Any) -> Any:
    return x if w is None else w * x


def _sqeuclidean(u: Any, v: Any, w: Any = None) -> Any:
    return np.sum(_weighted((u - v) ** 2, w), axis=-1)


def _euclidean(u: Any, v: Any, w: Any = None) -> Any:
    delta = u - v
    squares = np.real(delta * np.conj(delta)) if np.iscomplexobj(delta) else delta**2
    return root(np.sum(_weighted(squares, w), axis=-1))


def _cityblock(u: Any, v: Any, w: Any = None) -> Any:
    return np.sum(_weighted(np.abs(u - v), w), axis=-1)


def _chebyshev(u: Any, v: Any, w: Any = None) -> Any:
    size = np.abs(u - v)
    return np.max(size if w is None else (data_of(w) > 0) * size, axis=-1)


def _minkowski(u: Any, v: Any, p: Any = 2.0, w: Any = None) -> Any:
    power = float(plain(p))
    if np.isinf(power):
        return _chebyshev(u, v, w)
    if power == 1:
        return _cityblock(u, v, w)
    if power == 2 and not hasattr(p, "detach"):
        return _euclidean(u, v, w)
    size = np.abs(u - v)
    zero = size == 0
    powers = np.where(zero, 0.0, np.where(zero, 1.0, size) ** p)
    total = np.sum(_weighted(powers, w), axis=-1)
    none = total == 0
    return np.where(none, 0.0, np.where(none, 1.0, total) ** (1 / p))


def _seuclidean(u: Any, v: Any, V: Any) -> Any:
    return root(np.sum((u - v) ** 2 / V, axis=-1))


def _mahalanobis(u: Any, v: Any, VI: Any) -> Any:
    delta = u - v
    return root(np.sum((delta @ VI) * delta, axis=-1))


def _correlation(u: Any, v: Any, w: Any = None, centered: Any = True) -> Any:
    w = np.full(u.shape[-1], 1.0) if w is None else w
    w = w / np.sum(w)
    if centered:
        u, v = (x - np.sum(x * w, axis=-1, keepdims=True) for x in (u, v))
    uv, uu, vv = (np.sum(a * b * w, axis=-1) for a, b in ((u, v), (u, u), (v, v)))
    return 1.0 - uv / np.sqrt(uu * vv)


def _braycurtis(u: Any, v: Any, w: Any = None) -> Any:
    difference, total = (np.sum(_weighted(np.abs(x), w), axis=-1) for x in (u - v, u + v))
    return difference / total


def _canberra(u: Any, v: Any, w: Any = None) -> Any:
    total = np.abs(u) + np.abs(v)
    none = total == 0
    parts = np.where(none, 0.0, np.abs(u - v) / np.where(none, 1.0, total))
    return np.sum(_weighted(parts, w), axis=-1)


def _jensenshannon(p: Any, q: Any, base: Any = None, axis: Any = -1, keepdims: Any = False) -> Any:
    p, q = (x / np.sum(x, axis=axis, keepdims=True) for x in (p, q))
    m = (p + q) / 2
    total: Any = 0.0
    for x in (p, q):
        none = x == 0
        parts = np.where(none, 0.0, x * np.log(np.where(none, 1.0, x) / m))
        total = total + np.sum(parts, axis=axis, keepdims=keepdims)
    return root(np.maximum(total if base is None else total / np.log(base), 0.0) / 2)


def _agreements(u: Any, v: Any, w: Any) -> list[Any]:
    """Return how many elements are false in both, in one of the two, or true in both.

    For vectors that are not of bools, as in SciPy, these are sums of products.
    """
    parts = ((1.0 - u) * (1.0 - v), (1.0 - u) * v, u * (1.0 - v), u * v)
    return [np.sum(_weighted(part, w)) for part in parts]


def _dice(u: Any, v: Any, w: Any = None) -> Any:
    _, of_v, of_u, both = _agreements(u, v, w)
    return (of_u + of_v) / (2.0 * both + of_u + of_v)


def _rogerstanimoto(u: Any, v: Any, w: Any = None) -> Any:
    neither, of_v, of_u, both = _agreements(u, v, w)
    return 2.0 * (of_u + of_v) / (both + neither + 2.0 * (of_u + of_v))


def _russellrao(u: Any, v: Any, w: Any = None) -> Any:
    total = np.size(u) if w is None else np.sum(w)
    return (total - np.sum(_weighted(u * v, w))) / total


def _sokalsneath(u: Any, v: Any, w: Any = None) -> Any:
    _, of_v, of_u, both = _agreements(u, v, w)
    return 2.0 * (of_u + of_v) / (both + 2.0 * (of_u + of_v))


def _yule(u: Any, v: Any, w: Any = None) -> Any:
    neither, of_v, of_u, both = _agreements(u, v, w)
    total = both * neither + of_u * of_v
    return 2.0 * of_u * of_v / np.where(total == 0, 1.0, total)


def _hamming(u: Any, v: Any, w: Any = None) -> Any:
    """Weigh the places where two vectors differ, which are data."""
    differ = data_of(u) != data_of(v)
    return np.mean(differ) if w is None else np.sum(w * differ) / np.sum(w)


def _jaccard(u: Any, v: Any, w: Any = None) -> Any:
    of_u, of_v = data_of(u) != 0, data_of(v) != 0
    unequal, total = (np.sum(_weighted(part, w)) for part in (of_u ^ of_v, of_u | of_v))
    return unequal / np.where(total == 0, 1.0, total)


OF_TRUTHS: dict[str, Any] = {
    "dice": _dice,
    "hamming": _hamming,
    "jaccard": _jaccard,
    "rogerstanimoto": _rogerstanimoto,
    "russellrao": _russellrao,
    "sokalsneath": _sokalsneath,
    "yule": _yule,
}
"""Metrics that `pdist` and `cdist` compute of bools, but functions of two vectors of floats too."""
METRICS: dict[str, Any] = {
    "euclidean": _euclidean,
    "sqeuclidean": _sqeuclidean,
    "cityblock": _cityblock,
    "chebyshev": _chebyshev,
    "minkowski": _minkowski,
    "seuclidean": _seuclidean,
    "mahalanobis": _mahalanobis,
    "correlation": _correlation,
    "cosine": lambda u, v, w=None: _correlation(u, v, w, centered=False),
    "braycurtis": _braycurtis,
    "canberra": _canberra,
    "jensenshannon": _jensenshannon,
}


def metric_of(metric: Any) -> Any:
    """Return the formula of a metric, given by its name or by SciPy's function."""
    name = metric if isinstance(metric, str) else getattr(metric, "__name__", "")
    found = METRICS.get(name)
    if found is None:
        raise NoRuleError(
            f"scipy.spatial.distance has no derivative for metric={metric!r}. "
            f"Fix: use one of {', '.join(METRICS)}."
        )
    return found


def _options(X: Any, metric: Any, kwargs: Any) -> dict[str, Any]:
    """Return the parameters of a metric, computed from the data where SciPy does so."""
    name = metric if isinstance(metric, str) else metric.__name__
    options = {key: value for key, value in kwargs.items() if value is not None}
    if name == "seuclidean" and "V" not in options:
        options["V"] = np.sum((X - np.mean(X, axis=0)) ** 2, axis=0) / (X.shape[0] - 1)
    if name == "mahalanobis" and "VI" not in options:
        centred = X - np.mean(X, axis=0)
        options["VI"] = np.linalg.inv(centred.T @ centred / (X.shape[0] - 1)).T
    return options


def _pdist(X: Any, metric: Any, kwargs: Any) -> Any:
    rows, columns = np.triu_indices(X.shape[0], 1)
    return metric_of(metric)(X[rows], X[columns], **_options(X, metric, kwargs))


def _cdist(XA: Any, XB: Any, metric: Any, kwargs: Any) -> Any:
    both = np.concatenate([XA, XB])
    options = _options(both, metric, kwargs)
    return metric_of(metric)(XA[:, None, :], XB[None, :, :], **options)


def _squareform(X: Any) -> Any:
    if X.ndim == 1:
        n = round((1 + (1 + 8 * X.shape[0]) ** 0.5) / 2)
        places = np.full((n, n), X.shape[0])
        places[np.triu_indices(n, 1)] = np.arange(X.shape[0])
        return np.concatenate([X, np.zeros(1)])[np.minimum(places, places.T)]
    return X[np.triu_indices(X.shape[0], 1)]


def _hausdorff(u: Any, v: Any, out: Any) -> Any:
    return _euclidean(u[out[1]], v[out[2]]), None, None


def _procrustes(data1: Any, data2: Any) -> Any:
    def standard(x: Any) -> Any:
        x = x - np.mean(x, axis=0)
        return x / np.sqrt(np.sum(x**2))

    one, other = standard(data1), standard(data2)
    u, s, vh = np.linalg.svd((other.T @ one).T)
    moved = (other @ (u @ vh).T) * np.sum(s)
    return one, moved, np.sum((one - moved) ** 2)


def _slerp(start: Any, end: Any, t: Any) -> Any:
    cosine = np.sum(start * end)
    crossed = np.sqrt(np.sum((end - start * cosine) ** 2))
    angle = np.arctan2(crossed, cosine)
    t = np.reshape(t, (-1,)) if np.ndim(t) == 0 else t
    one, other = np.sin((1 - t) * angle)[:, None], np.sin(t * angle)[:, None]
    return (one * start + other * end) / np.sin(angle)


# Trees --------------------------------------------------------------------------------------------


class _Search:
    """The query of a tree; equal points and options give equal functions."""

    def __init__(self, native: Any, tree: Any, options: dict[str, Any]) -> None:
        self.native = native
        self.tree = tree
        self.options = options

    def __call__(self, x: Any) -> Any:
        return self.native.query(self.tree, x, **self.options)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Search) or self.options != other.options:
            return False
        return self.native is other.native and np.array_equal(
            plain(self.tree.data), plain(other.tree.data)
        )

    def __hash__(self) -> int:
        return hash((_Search, self.tree.n))


def _tree(native: Any) -> Any:  # noqa: C901  the parts of one class
    """Make the class of trees of tracked points; the search uses their data."""

    class Base(native, metaclass=meta_of(native)):  # type: ignore[metaclass,misc]  # a class of SciPy's
        __slots__ = ()  # it has the layout of SciPy's class, of which packages derive theirs

        def __new__(cls, data: Any, *args: Any, **kwargs: Any) -> Any:
            if cls is not Tree:
                return native.__new__(cls)
            (data,) = unlabelled((data,))
            return Tree._with(native, data, plain(data), args, kwargs)

        def __init__(self, data: Any, *args: Any, **kwargs: Any) -> None:
            if type_of(self) is not Tree:
                (data,) = unlabelled((data,))
                native.__init__(self, plain(data), *args, **kwargs)
                attributes_of(self)["points"] = data

        @staticmethod
        def _with(native: Any, points: Any, data: Any, args: Any, kwargs: Any) -> Any:
            made = native.__new__(Tree, data, *args, **kwargs)
            native.__init__(made, data, *args, **kwargs)
            made.points = points
            return made

        @property
        def data(self) -> Any:
            """The points, tracked if they were given so."""
            points = points_of(self)
            is_plain = not holds_variable([points])
            return native.data.__get__(self) if is_plain else as_array(points)

        @property
        def maxes(self) -> Any:
            """The largest coordinates."""
            return np.max(self.data, axis=0)

        @property
        def mins(self) -> Any:
            """The smallest coordinates."""
            return np.min(self.data, axis=0)

        def sparse_distance_matrix(self, other: Any, *args: Any, **kwargs: Any) -> Any:
            """Return SciPy's matrix of the distances up to a largest one, of plain points."""
            trees = [points_of(self), getattr(other, "points", ())]
            if holds_variable(trees):
                raise NoRuleError(
                    "scipy.spatial.KDTree.sparse_distance_matrix has no derivative. Fix: "
                    "scipy.spatial.distance.cdist, or .query(x, distance_upper_bound=...)."
                )
            return native.sparse_distance_matrix(self, other, *args, **kwargs)

        def query(
            self,
            x: Any,
            k: Any = 1,
            eps: Any = 0.0,
            p: Any = 2.0,
            distance_upper_bound: Any = np.inf,
            workers: Any = 1,
        ) -> Any:
            bound = unwrapped_key(distance_upper_bound)
            options = {"k": k, "eps": eps, "p": p, "distance_upper_bound": bound}
            search = _Search(native, self, {**options, "workers": workers})
            distances, places = called(search, "opaque.query", unwrapped_key(x))
            points = points_of(self)
            if not holds_variable([x, points]):
                return distances, places
            points = points if holds_variable([points]) else np.asarray(points)
            near = np.minimum(places, self.n - 1)
            x = x if hasattr(x, "shape") else np.asarray(x)
            at = x[..., None, :] if np.ndim(places) == x.ndim else x
            return attached(
                "spatial.KDTree.query",
                (distances, places),
                {(0,): _minkowski(at, np.take(points, near, axis=0), p)},
            )

    def points_of(tree: Any) -> Any:
        """Return the points of a tree, which a package may have made of its own class before."""
        return attributes_of(tree).get("points", native.data.__get__(tree))

    class Tree(Base):
        pass

    def places(name: str) -> Any:
        method = getattr(native, name)

        @functools.wraps(method)
        def search(self: Any, *args: Any, **kwargs: Any) -> Any:
            return method(self, *plain(args), **plain(kwargs))

        return search

    for name in ("query_ball_point", "count_neighbors"):
        setattr(Base, name, places(name))
    for kind in (Base, Tree):
        kind.__name__ = native.__name__
        kind.__qualname__ = native.__qualname__
        kind.__module__ = native.__module__
    return Tree


ROTATION = in_namespace(
    (
        *("from_quat", "from_matrix", "from_rotvec", "from_euler", "from_davenport", "from_mrp"),
        *("concatenate", "align_vectors"),
    ),
    (
        *("as_quat", "as_matrix", "as_rotvec", "as_euler", "as_davenport", "as_mrp", "apply"),
        *("__mul__", "__pow__", "inv", "magnitude", "approx_equal", "mean", "reduce"),
        "__getitem__",
    ),
)
RIGID = in_namespace(
    (
        *("from_matrix", "from_rotation", "from_translation", "from_components"),
        *("from_exp_coords", "from_dual_quat", "concatenate"),
    ),
    (
        *("as_matrix", "as_components", "as_exp_coords", "as_dual_quat", "__mul__", "__pow__"),
        *("inv", "apply", "mean", "__getitem__"),
    ),
    ("rotation", "translation"),
)
SLERP = in_namespace((), ("__call__",))


def _distance(name: str, function: Any, arrays: str) -> Row:
    return formula(f"spatial.distance.{name}", function, arrays)


DISTANCES = [
    *(_distance(name, function, "u v w") for name, function in OF_TRUTHS.items()),
    *(
        _distance(name, METRICS[name], "u v w")
        for name in (
            "euclidean",
            "sqeuclidean",
            "cityblock",
            "correlation",
            "cosine",
            "braycurtis",
            "canberra",
        )
    ),
    _distance("chebyshev", _chebyshev, "u v w"),
    _distance("minkowski", _minkowski, "u v p w"),
    _distance("seuclidean", _seuclidean, "u v V"),
    _distance("mahalanobis", _mahalanobis, "u v VI"),
    _distance("jensenshannon", _jensenshannon, "p q base"),
    _distance("pdist", _pdist, "X kwargs"),
    _distance("cdist", _cdist, "XA XB kwargs"),
    formula("spatial.distance.squareform", _squareform, "X", neutral="force checks"),
    formula("spatial.distance.directed_hausdorff", _hausdorff, "u v", neutral="rng seed"),
    *(
        Row(f"spatial.distance.{name}", Constant("it compares for equality, or counts"))
        for name in ("is_valid_dm", "is_valid_y", "num_obs_dm", "num_obs_y")
    ),
]
POINTS = [
    formula("spatial.procrustes", _procrustes, "data1 data2"),
    formula(
        "spatial.distance_matrix",
        lambda x, y, p: _minkowski(x[:, None, :], y[None, :, :], p),
        "x y p",
        neutral="threshold",
    ),
    formula("spatial.minkowski_distance", lambda x, y, p: _minkowski(x, y, p), "x y p"),
    formula(
        "spatial.minkowski_distance_p", lambda x, y, p: np.sum(np.abs(x - y) ** p, axis=-1), "x y p"
    ),
    formula(
        "spatial.geometric_slerp",
        _slerp,
        "start end t",
        neutral="tol",
        within=lambda start, end, t: (
            start / np.sqrt(np.sum(start**2)),
            end / np.sqrt(np.sum(end**2)),
            t,
        ),
    ),
    Row("spatial.KDTree", Class(_tree)),
    Row("spatial.cKDTree", Class(_tree)),
    Row(
        "spatial.transform.Rotation",
        Class(ROTATION),
        note="by its array-API path, whose last digits may differ",
    ),
    Row(
        "spatial.transform.RigidTransform",
        Class(RIGID),
        note="by its array-API path, whose last digits may differ",
    ),
    Row(
        "spatial.transform.Slerp",
        Class(SLERP),
        note="by its array-API path, whose last digits may differ",
    ),
    Row("spatial.tsearch", Constant("places")),
]
REFUSED = (
    "it is made by compiled code. Fix: take what it says of places, such as .simplices or "
    ".vertices, and compute with the points."
)


class _Refusing(Class):
    """A class that raises an error for tracked data."""

    name = "refused"

    def __init__(self) -> None:
        super().__init__(_refusing)


def _refusing(native: Any) -> Any:
    def __new__(cls: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807  a class's
        if holds_variable([args, kwargs]):
            args, kwargs = _untracked(native, args), _untracked(native, kwargs)
        return native(*args, **kwargs)

    body = {"__new__": __new__, "__module__": native.__module__, "__doc__": native.__doc__}
    made = meta_of(native)(native.__name__, (native,), body)
    made.__init__ = lambda self, *args, **kwargs: None
    return made


def _untracked(native: Any, value: Any) -> Any:
    if is_recorded(value):
        raise NoRuleError(f"scipy.spatial.{native.__name__} has no derivative: {REFUSED}")
    return plain(value)


class _OfPoints:
    """What an object of SciPy's, made of points, says of places: one operation of a program.

    Without a method, that is a digest of all its whole numbers, such as the corners of simplices.
    """

    def __init__(self, make: Any, options: tuple[Any, ...], method: str = "") -> None:
        self.made_by: tuple[Any, ...] = (make, options, method)

    def __call__(self, points: Any, *args: Any, **kwargs: Any) -> Any:
        make, options, method = self.made_by
        made = make(points, *options)
        return getattr(made, method)(*args, **kwargs) if method else _digest(made)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _OfPoints) and self.made_by == other.made_by

    def __hash__(self) -> int:
        return hash((_OfPoints, self.made_by[0], self.made_by[2]))


def _digest(made: Any) -> Any:
    """Return four integers that tell the whole numbers of an object from others."""
    known = hashlib.sha256()
    for name, value in sorted(vars(made).items()):
        array = value if isinstance(value, np.ndarray) else np.empty(0)
        if array.dtype.kind in "biu" and isinstance(value, np.ndarray):
            known.update(f"{name}{array.shape}".encode() + array.tobytes())
        elif isinstance(value, (int, list)):
            known.update(f"{name}{value}".encode())
    return np.frombuffer(known.digest(), dtype=np.int64)


def _made_of(make: Any, points: Any, options: tuple[Any, ...]) -> Any:
    """Make an object of SciPy's of the values of points.

    A program asks in each call whether its places are the same: the trace knows these alone.
    """
    data = plain(points)
    if not is_tracer(data):
        return make(data, *options)
    np.asarray(called(_OfPoints(make, options), "opaque.places", data))  # compared in each call
    return make(backend_of(data).concrete(data), *options)


def _hull(native: Any) -> Any:
    """Make the class of convex hulls of tracked points; which of them it has are plain places."""

    class Hull(native, metaclass=meta_of(native)):  # type: ignore[metaclass,misc]  # a class of SciPy's
        def __new__(cls, points: Any, incremental: Any = False, qhull_options: Any = None) -> Any:
            if incremental and is_recorded(points):
                raise NoRuleError(
                    "scipy.spatial.ConvexHull(incremental=True) has no derivative. Fix: make the "
                    "hull of all points at once."
                )
            made = _made_of(native, points, (incremental, qhull_options))
            return _with_points(made, Hull, points) if _moves(points) else made

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            pass

        @property
        def points(self) -> Any:
            """The points, tracked as they were given."""
            return self._tracked

    Hull.__name__, Hull.__module__, Hull.__doc__ = (
        native.__name__,
        native.__module__,
        native.__doc__,
    )
    return Hull


def _with_points(hull: Any, kind: Any, points: Any) -> Any:
    """Give a hull its tracked points, and what depends on them its derivative.

    A facet and a point within the hull span a simplex; the sum of these is the volume, wherever the
    point is. The plane of a facet is `n @ (x - within) == 1`.
    """
    points = as_array(points) * 1.0
    size, within = hull.ndim, stop_gradient(np.mean(points[hull.vertices], axis=0))
    facets = points[hull.simplices] - within
    sides = facets[:, 1:] - facets[:, :1]
    squares = sides @ np.swapaxes(sides, -1, -2)
    volume = np.sum(np.abs(np.linalg.det(facets))) / math.factorial(size)
    area = np.sum(np.sqrt(np.linalg.det(squares))) / math.factorial(size - 1)
    normals = np.linalg.solve(facets, np.ones((len(facets), size, 1)))[..., 0]
    lengths = np.sqrt(np.sum(normals**2, axis=-1, keepdims=True))
    unit = normals / lengths
    offsets = -np.sum(unit * within, axis=-1, keepdims=True) - 1.0 / lengths
    equations = np.concatenate([unit, offsets], axis=-1)
    found = {"volume": volume, "area": area, "equations": equations}
    found |= {"min_bound": np.min(points, axis=0), "max_bound": np.max(points, axis=0)}
    known = _beside(hull, found)
    hull.__dict__.update(known, _tracked=points)
    hull.__class__ = kind
    return hull


def _moves(points: Any) -> bool:
    """Tell if points are tracked, or values of a trace."""
    return is_recorded(points) or is_tracer(plain(points))


def _beside(made: Any, found: dict[str, Any]) -> Any:
    """Return the parts of SciPy's object with the derivatives of those that formulas give.

    A program computes them by the formulas.
    """
    if any(map(is_tracer, map(plain, found.values()))):
        return found
    values = {name: getattr(made, name) for name in found}
    parts = {(name,): one for name, one in found.items()}
    return attached(f"spatial.{type(made).__name__}", values, parts)


def _of_compiled(
    data: str, formulas: dict[str, Callable[[Any, Any], Any]], places: str = "", others: str = ""
) -> Callable[[Any], Any]:
    """Make the maker of a class in C of tracked `data`; which points belong together is plain.

    `formulas` give what depends on the data, from SciPy's object and the data. The methods `places`
    are asked for plain places, and there is no rule for `others`.
    """

    def make(native: Any) -> Any:
        def __new__(cls: Any, first: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807  a class's
            given = inspect.signature(native).bind(first, *plain(args), **plain(kwargs))
            given.apply_defaults()
            options = given.args[1:]
            made = _made_of(native, first, options)
            if not _moves(first):
                return made
            of_tracked = object.__new__(kind)
            of_tracked.__dict__.update(vars(made), _made=made, _tracked=as_array(first) * 1.0)
            of_tracked._options = native, options
            return of_tracked

        body: dict[str, Any] = {"__new__": __new__, "__module__": native.__module__}
        body |= {"__doc__": native.__doc__, "__init__": lambda self, *args, **kwargs: None}
        body |= {data: property(lambda self: self._tracked)}
        body |= {name: property(partial(_found, name, of)) for name, of in formulas.items()}
        body |= {name: partialmethod(_place, name) for name in places.split()}
        body |= {name: property(partial(_refused_part, name)) for name in others.split()}
        kind = meta_of(native)(native.__name__, (native,), body)
        return kind

    return make


def _found(name: str, formula: Callable[[Any, Any], Any], self: Any) -> Any:
    return _beside(self._made, {name: formula(self._made, self._tracked)})[name]


def _place(self: Any, name: str, xi: Any, *args: Any, **kwargs: Any) -> Any:
    points, places = plain(self._tracked), plain(as_array(xi))
    if not is_tracer(points) and not is_tracer(places):
        return getattr(self._made, name)(places, *args, **kwargs)
    make, options = self._options
    return called(_OfPoints(make, options, name), f"opaque.{name}", points, places, *args, **kwargs)


def _refused_part(name: str, self: Any) -> Any:
    raise NoRuleError(
        f"scipy.spatial.{type(self).__name__}.{name} of tracked data has no derivative. Fix: take "
        "what the object says of places, and compute with the data; or make it of plain data."
    )


def _simplex_maps(triangles: Any, points: Any) -> Any:
    """Return for each simplex what takes a point to its barycentric coordinates."""
    corners = points[triangles.simplices]
    edges = np.swapaxes(corners[:, :-1] - corners[:, -1:], -1, -2)
    return np.concatenate([np.linalg.inv(edges), corners[:, -1:]], axis=1)


def _meeting(count: int, size: int, groups: Any, name: str) -> Any:
    """Return the members of each group, of which `size` determine a point."""
    for group in groups:
        if len(group) > size:
            raise NoRuleError(
                f"scipy.spatial.{name}: {len(group)} of the data meet in one point, which has no "
                "derivative, as it parts where they move. Fix: move them a little."
            )
    return np.array([sorted(group) for group in groups], dtype=int).reshape(count, size)


def _circumcentres(diagram: Any, points: Any) -> Any:
    """Return the points that are as far from one of their sites as from the others."""
    sites: list[set[int]] = [set() for _ in diagram.vertices]
    for pair, vertices in zip(diagram.ridge_points, diagram.ridge_vertices, strict=True):
        for vertex in vertices:
            if vertex >= 0:
                sites[vertex].update(map(int, pair))
    size = diagram.ndim + 1
    near = points[_meeting(len(sites), size, sites, "Voronoi.vertices")]
    apart = near[:, 1:] - near[:, :1]
    halves = np.sum(apart**2, axis=-1, keepdims=True) / 2
    return near[:, 0] + np.linalg.solve(apart, halves)[..., 0]


def _intersections(made: Any, halfspaces: Any) -> Any:
    """Return the points where the planes of the halfspaces meet."""
    size, facets = made.ndim, made.dual_facets
    planes = halfspaces[_meeting(len(facets), size, facets, "HalfspaceIntersection.intersections")]
    return np.linalg.solve(planes[..., :-1], -planes[..., -1:])[..., 0]


BOUNDS: dict[str, Callable[[Any, Any], Any]] = {
    "max_bound": lambda _, points: np.max(points, axis=0),
    "min_bound": lambda _, points: np.min(points, axis=0),
}
DELAUNAY = _of_compiled(
    "points",
    {"transform": _simplex_maps, **BOUNDS},
    "find_simplex",
    "add_points equations lift_points paraboloid_scale paraboloid_shift plane_distance",
)
VORONOI = _of_compiled("points", {"vertices": _circumcentres, **BOUNDS}, others="add_points")
HALFSPACES = _of_compiled(
    "halfspaces",
    {"intersections": _intersections},
    others="add_halfspaces dual_area dual_equations dual_points dual_volume",
)
CLASSES = [
    Row("spatial.ConvexHull", Class(_hull)),
    Row("spatial.Delaunay", Class(DELAUNAY)),
    Row("spatial.HalfspaceIntersection", Class(HALFSPACES)),
    Row("spatial.SphericalVoronoi", _Refusing()),
    Row("spatial.Voronoi", Class(VORONOI)),
]
register(
    [
        *DISTANCES,
        *POINTS,
        *CLASSES,
        Row(
            "spatial.transform.RotationSpline",
            Refused("it has no rule. Fix: spatial.transform.Slerp."),
        ),
    ]
)
