"""Weighted graphs: lengths of shortest paths, and trees, of tracked weights.

SciPy chooses the edges by the plain weights. A length is then the sum of the weights of its edges,
and a tree holds those of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.scipy.dispatching import scipys
from gradwrap.scipy.doors import dispatcher
from gradwrap.scipy.kinds import product
from gradwrap.scipy.solving import as_array, attached, plain
from gradwrap.scipy.tracked_matrix import TrackedMatrix

if TYPE_CHECKING:
    from collections.abc import Callable

NO_PREDECESSOR = -9999
ALL = ("directed", "indices", "return_predecessors", "unweighted")
PARAMETERS: dict[str, tuple[str, ...]] = {
    "bellman_ford": ALL,
    "dijkstra": (*ALL, "limit", "min_only"),
    "floyd_warshall": ("directed", "return_predecessors", "unweighted", "overwrite"),
    "johnson": ALL,
    "shortest_path": (
        *("method", "directed", "return_predecessors", "unweighted", "overwrite", "indices"),
    ),
}
"""The parameters after the graph, which compiled functions do not tell."""


class _Graph:
    """A graph of tracked weights, an array or a sparse matrix."""

    def __init__(self, given: Any) -> None:
        is_sparse = isinstance(given, TrackedMatrix)
        weights = given.toarray() if is_sparse else as_array(given)
        self.weights = np.reshape(weights * 1.0, (-1,))
        self.size: int = weights.shape[0]
        self.values: Any = np.asarray(plain(weights), dtype=float)
        self.plain: Any = given.made if is_sparse else self.values
        self.has: Any = np.isfinite(self.values) & (self.values != 0)

    def edges(self, starts: Any, ends: Any, *, directed: bool) -> Any:
        """Return the places of edges among all weights; the shorter of two, if not directed."""
        there, back = (self.values[a, b] for a, b in ((starts, ends), (ends, starts)))
        lacks, has_back = ~self.has[starts, ends], self.has[ends, starts]
        turns = has_back & (lacks | (back < there)) if not directed else np.zeros_like(lacks)
        return np.where(turns, ends * self.size + starts, starts * self.size + ends)


def _lengths(name: str) -> Callable[..., Any]:
    """Return a function of the lengths of shortest paths."""

    def lengths(csgraph: Any, *args: Any, **options: Any) -> Any:
        graph, original = _Graph(csgraph), scipys(f"sparse.csgraph.{name}")
        given = {**dict(zip(PARAMETERS[name], args, strict=False)), **options}
        wants = given.get("return_predecessors", False)
        given.pop("overwrite", None)  # a derivative needs the weights
        given["return_predecessors"] = True
        distances, before, *sources = original(graph.plain, **given)
        if not given.get("unweighted", False):
            whole = _sums(graph, distances, before, directed=given.get("directed", True))
            distances = attached(f"sparse.csgraph.{name}", distances, {(): whole})
        found = [distances, *([before, *sources] if wants else [])]
        return tuple(found) if len(found) > 1 else distances

    return lengths


def _sums(graph: _Graph, distances: Any, before: Any, *, directed: bool) -> Any:
    """Return the sums of the weights along all paths; a length that is infinite stays so."""
    rows = np.reshape(before, (-1, graph.size))
    path, at = np.nonzero(rows != NO_PREDECESSOR)
    path_of = path * graph.size + at
    indices: list[Any] = []
    edges: list[Any] = []
    while path.size:  # from all ends at once, one edge after the other
        earlier = rows[path, at]
        indices.append(path_of)
        edges.append(graph.edges(earlier, at, directed=directed))
        goes_on = rows[path, earlier] != NO_PREDECESSOR
        path, at, path_of = path[goes_on], earlier[goes_on], path_of[goes_on]
    none: Any = np.zeros(0, dtype=np.intp)
    places = np.concatenate([none, *indices]), np.concatenate([none, *edges])
    shape = (rows.size, graph.size**2)
    taken = scipys("sparse.csr_array")((np.ones(places[0].size), places), shape=shape)
    sums = np.reshape(product(taken, graph.weights), np.shape(distances))
    return np.where(np.isfinite(distances), sums, distances)


def _tree(name: str) -> Callable[..., Any]:
    """Return a function whose result is a sparse matrix with some edges of a graph."""

    def tree(csgraph: Any, *args: Any, **options: Any) -> Any:
        graph, original = _Graph(csgraph), scipys(f"sparse.csgraph.{name}")
        found = original(graph.plain, *args, **options)
        made = found.tocoo()
        starts, ends = made.row.astype(np.intp), made.col.astype(np.intp)
        is_there = graph.values[starts, ends] == made.data
        places = np.where(is_there, starts * graph.size + ends, ends * graph.size + starts)
        kind = dispatcher(f"sparse.{type(found).__name__}")
        return kind((graph.weights[places], (starts, ends)), shape=found.shape)

    return tree


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: _lengths(name) for name in PARAMETERS},
    **{
        name: _tree(name)
        for name in ("breadth_first_tree", "depth_first_tree", "minimum_spanning_tree")
    },
}
