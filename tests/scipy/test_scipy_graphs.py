"""Lengths of shortest paths, and trees, of graphs with tracked weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.sparse.csgraph

import gradwrap as gw
import gradwrap.scipy.sparse
import gradwrap.scipy.sparse.csgraph

if TYPE_CHECKING:
    from collections.abc import Callable

scipys: Any = scipy.sparse.csgraph
ours: Any = gradwrap.scipy.sparse.csgraph
RANDOM = np.random.default_rng(1)
PLACES = np.nonzero((RANDOM.uniform(size=(6, 6)) < 0.5) & ~np.eye(6, dtype=bool))
X = RANDOM.uniform(0.5, 3, PLACES[0].size)
WEIGHTS = RANDOM.normal(size=(6, 6))


def weighted(lengths: Any) -> Any:
    weights = WEIGHTS[: len(lengths)] if lengths.ndim == 2 else WEIGHTS[0]
    return np.sum(np.where(lengths < np.inf, lengths, 0.0) * weights)


def with_predecessors(m: Any, a: Any) -> Any:
    lengths, before = m.shortest_path(a, "D", False, True)
    assert before.dtype.kind == "i"
    return weighted(lengths)


def from_the_nearest(m: Any, a: Any) -> Any:
    lengths, _, sources = m.dijkstra(
        a, indices=[0, 3], min_only=True, return_predecessors=True, limit=9.0
    )
    assert set(sources) <= {0, 3, -9999}
    return weighted(lengths)


CASES: dict[str, Callable[[Any, Any], Any]] = {
    "shortest_path": lambda m, a: weighted(m.shortest_path(a)),
    "not directed": with_predecessors,
    "dijkstra": lambda m, a: weighted(m.dijkstra(a, indices=[1, 3])),
    "dijkstra, one": lambda m, a: weighted(m.dijkstra(a, True, 2)),
    "dijkstra, limit": lambda m, a: weighted(m.dijkstra(a, limit=3.0)),
    "the nearest": from_the_nearest,
    "floyd_warshall": lambda m, a: weighted(m.floyd_warshall(a, directed=False)),
    "bellman_ford": lambda m, a: weighted(m.bellman_ford(a)),
    "johnson": lambda m, a: weighted(m.johnson(a)),
    "minimum_spanning_tree": lambda m, a: np.sum(m.minimum_spanning_tree(a).toarray() * WEIGHTS),
    "breadth_first_tree": lambda m, a: np.sum(m.breadth_first_tree(a, 0, False) * WEIGHTS),
    "depth_first_tree": lambda m, a: m.depth_first_tree(a, 0).sum(),
}


def dense(x: Any) -> Any:
    graph: Any = np.zeros((6, 6))
    graph = gw.wrap(graph) if isinstance(x, gw.Variable) else graph
    graph[PLACES] = x
    return graph


@pytest.mark.parametrize("name", CASES)
def test_as_differences(name: str) -> None:
    function = CASES[name]

    def plain(x: Any) -> Any:
        return function(scipys, dense(x))

    def of_array(x: Any) -> Any:
        return function(ours, dense(x))

    def of_matrix(x: Any) -> Any:
        kind: Any = gradwrap.scipy.sparse.csr_array
        return function(ours, kind((x, PLACES), shape=(6, 6)))

    wanted = np.array([(plain(X + e) - plain(X - e)) / 2e-5 for e in 1e-5 * np.eye(X.size)])
    for fun in (of_array, of_matrix, gw.adapting(plain)):
        value, gradient = gw.value_and_grad(fun)(X)
        np.testing.assert_allclose(value, plain(X), rtol=1e-14)
        np.testing.assert_allclose(gradient, wanted, atol=1e-8)
        np.testing.assert_allclose(gw.jvp(fun, (X,), (X,))[1], wanted @ X, rtol=1e-7)


def test_numbers_of_edges_have_no_derivative() -> None:
    lengths = ours.dijkstra(gw.wrap(dense(X), requires_grad=True), unweighted=True)
    assert type(lengths) is np.ndarray
    np.testing.assert_array_equal(lengths, scipys.dijkstra(dense(X), unweighted=True))
