"""The rows of `scipy.cluster`."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.cluster.vq

from gradwrap.scipy.dispatching import Constant, Refused
from gradwrap.scipy.kinds import formula
from gradwrap.scipy.rules.matrices import native_of
from gradwrap.scipy.rules.spatial import metric_of, root
from gradwrap.scipy.solving import data_of
from gradwrap.scipy.table import Row, register


def _whiten(obs: Any) -> Any:
    deviation = np.std(obs, axis=0)
    return obs / np.where(native_of(deviation) == 0, 1.0, deviation)


def _vq(obs: Any, code_book: Any, out: Any) -> Any:
    codes = np.asarray(out[0])
    obs, code_book = (x[:, None] if x.ndim == 1 else x for x in (obs, code_book))
    return None, root(np.sum((obs - code_book[codes]) ** 2, axis=-1))


def _means(obs: Any, codes: Any, found: Any) -> Any:
    """Return, for each code, the mean of its points."""
    rows: list[Any] = []
    for k in range(len(found)):
        members = np.flatnonzero(codes == k)
        rows.append(np.mean(obs[members], axis=0) if len(members) else found[k])
    return np.stack(rows)


def _kmeans(obs: Any, out: Any) -> Any:
    found = data_of(out[0])
    codes = scipy.cluster.vq.vq(data_of(obs), found)[0]
    book = _means(obs, codes, found)
    left = obs - book[codes]
    if left.ndim == 1:
        return book, np.mean(np.abs(left))
    return book, np.mean(root(np.sum(left**2, axis=-1)))


def _linkage(y: Any, method: Any, metric: Any, out: Any) -> Any:
    """Repeat SciPy's merges, with their distances by the update of Lance and Williams."""
    if y.ndim == 2:
        rows, columns = np.triu_indices(y.shape[0], 1)
        y = metric_of(metric)(y[rows], y[columns])
    merges = data_of(out)
    n = len(merges) + 1
    between: dict[tuple[int, int], Any] = {}
    for place, (i, j) in enumerate(zip(*np.triu_indices(n, 1), strict=True)):
        between[int(i), int(j)] = y[place]
    sizes = dict.fromkeys(range(n), 1)
    heights: list[Any] = []
    for step, merge in enumerate(merges):
        a, b = sorted((int(merge[0]), int(merge[1])))
        height = between.pop((a, b))
        heights.append(height)
        m, k = sizes.pop(a), sizes.pop(b)
        for other, count in list(sizes.items()):
            first = between.pop((min(a, other), max(a, other)))
            second = between.pop((min(b, other), max(b, other)))
            between[other, n + step] = _updated(method, first, second, height, m, k, count)
        sizes[n + step] = m + k
    column = np.stack(heights)[:, None]
    return np.concatenate([merges[:, :2], column, merges[:, 3:]], axis=1)


def _updated(  # noqa: PLR0911  one for each method
    method: str, x: Any, y: Any, z: Any, m: int, k: int, count: int
) -> Any:
    """Return the distance from a cluster to the union of two others."""
    if method == "single":
        return np.minimum(x, y)
    if method == "complete":
        return np.maximum(x, y)
    if method == "average":
        return (m * x + k * y) / (m + k)
    if method == "weighted":
        return (x + y) / 2
    if method == "centroid":
        return root((m * x * x + k * y * y) / (m + k) - m * k * z * z / (m + k) ** 2)
    if method == "median":
        return root((x * x + y * y) / 2 - z * z / 4)
    total = m + k + count
    return root(((count + m) * x * x + (count + k) * y * y - count * z * z) / total)


def _by(method: str) -> Any:
    return lambda y, out: _linkage(y, method, "euclidean", out)


def _cophenet(Z: Any, out: Any) -> Any:
    """Return the height at which each pair of points is merged."""
    merges = data_of(Z)
    n = len(merges) + 1
    places = np.zeros((n, n), dtype=int)
    members = {i: [i] for i in range(n)}
    for step, merge in enumerate(merges):
        one, other = members.pop(int(merge[0])), members.pop(int(merge[1]))
        for i in one:
            places[i, other] = places[other, i] = step
        members[n + step] = one + other
    return Z[:, 2][places[np.triu_indices(n, 1)]]


LINKS: Any = np.array([[0, 1, 0.3, 2], [2, 3, 0.5, 2], [4, 5, 0.9, 4]])
METHODS = ("single", "complete", "average", "weighted", "centroid", "median", "ward")
ROWS = [
    formula("cluster.vq.whiten", _whiten, "obs"),
    formula("cluster.vq.vq", _vq, "obs code_book"),
    formula(
        "cluster.vq.kmeans",
        _kmeans,
        "obs",
        neutral="k_or_guess iter thresh rng seed",
        note="with the assignment held fixed",
        may_differ="anywhere",
    ),
    formula(
        "cluster.vq.kmeans2",
        lambda data, out: (_means(data, np.asarray(out[1]), data_of(out[0])), None),
        "data",
        neutral="k iter thresh minit missing rng seed",
        note="with the assignment held fixed",
    ),
    formula("cluster.hierarchy.linkage", _linkage, "y", neutral="optimal_ordering"),
    *(formula(f"cluster.hierarchy.{method}", _by(method), "y") for method in METHODS),
    formula(
        "cluster.hierarchy.cophenet",
        _cophenet,
        "Z",
        within=lambda z: (np.concatenate([LINKS[:, :2], z[:, 2:3], LINKS[:, 3:]], axis=1),),
    ),
    *(
        Row(f"cluster.hierarchy.{name}", Constant("labels, orders or facts"))
        for name in (
            *("correspond", "cut_tree", "fcluster", "fclusterdata", "is_isomorphic"),
            *("is_monotonic", "is_valid_im", "is_valid_linkage", "leaders", "leaves_list"),
            *("num_obs_linkage", "optimal_leaf_ordering", "to_tree"),
        )
    ),
    *(
        Row(f"cluster.hierarchy.{name}", Refused("it has no rule. Fix: compute it from Z[:, 2]."))
        for name in ("inconsistent", "maxRstat", "maxdists", "maxinconsts")
    ),
]
register(ROWS)
