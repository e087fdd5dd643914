"""Gradients on a cluster of Dask: memory, bytes moved, workers that are lost, optimisers."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from sampling import LONG

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

da: Any = pytest.importorskip("dask.array")
dask: Any = pytest.importorskip("dask")
sizeof: Any = pytest.importorskip("dask.sizeof").sizeof
gda: Any = pytest.importorskip("gradwrap.dask.array")
programs: Any = pytest.importorskip("benchmarks.dask.programs")
pytestmark = pytest.mark.peers
NAMES = ("logistic", "perceptron", "stencil")


def both(name: str) -> tuple[list[Any], list[Any]]:
    """The value and the gradients, by gradwrap and by hand."""
    program = programs.programs()[name]
    return program.by_gradwrap(), program.written_out()


@pytest.mark.parametrize("name", NAMES)
def test_gradient_is_that_by_hand_with_as_many_tasks(name: str) -> None:
    ours, by_hand = both(name)

    found, wanted = dask.compute(ours, by_hand, scheduler="sync")
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-14)
    assert programs.number_of_tasks(ours) <= 1.2 * programs.number_of_tasks(by_hand)


class Traffic(dask.callbacks.Callback):  # type: ignore[misc]  # Dask has no types
    """Counts the bytes that tasks get from others, and those that their results hold at once."""

    def __init__(self) -> None:
        super().__init__(posttask=self.note)
        self.largest = 0
        """The largest result of a task."""
        self.held = 0
        """The most bytes that results held at one time."""
        self.taken = 0
        """The most bytes that one task got from others."""
        self.moved = 0
        """The bytes that all tasks got from others: what moves if no two run in one place."""

    def note(self, key: Any, result: Any, graph: Any, state: Any, worker: Any) -> None:
        cache = state["cache"]
        taken = sum(size_of(cache[one]) for one in state["dependencies"][key] if one in cache)
        self.largest = max(self.largest, size_of(result))
        self.held = max(self.held, sum(map(size_of, cache.values())))
        self.taken = max(self.taken, taken)
        self.moved += taken


def size_of(result: Any) -> int:
    parts = result if isinstance(result, (list, tuple)) else (result,)
    return sum(
        sizeof(part) if type(part).__name__ == "Held" else getattr(part, "nbytes", 0)
        for part in parts
    )


def traffic(arrays: list[Any]) -> Traffic:
    counted = Traffic()
    with counted:
        dask.compute(arrays, scheduler="sync")
    return counted


@pytest.mark.parametrize("name", NAMES)
def test_no_step_takes_or_holds_more_than_that_by_hand(name: str) -> None:
    ours, by_hand = map(traffic, both(name))

    assert ours.held <= 1.2 * by_hand.held
    assert ours.largest <= 1.2 * by_hand.largest
    assert ours.moved <= 1.2 * by_hand.moved


@pytest.mark.parametrize("name", NAMES)
def test_no_step_takes_more_bytes_where_there_are_more_data(name: str) -> None:
    def taken(times: int) -> int:
        return traffic(programs.programs(rows=4000 * times)[name].by_gradwrap()).taken

    assert taken(4) <= taken(2)


# What Dask shows ----------------------------------------------------------------------------------


def test_dasks_own_bar_shows_the_progress() -> None:
    diagnostics: Any = pytest.importorskip("dask.diagnostics")

    shown = io.StringIO()
    with diagnostics.ProgressBar(out=shown, dt=0.01):
        dask.compute(both("stencil")[0], scheduler="sync")

    assert "100% Completed" in shown.getvalue()


def test_tasks_are_named_after_the_users_functions() -> None:
    _, gradient = both("stencil")[0]
    names = {str(key) for key in gradient.dask.layers}

    for part in ("reaction-recorded", "reaction-gradient", "overlap-gradient"):
        assert any(part in name for name in names), part


# A cluster ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two workers in threads of this process."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as made,
        distributed.Client(made),
    ):
        yield made


@pytest.mark.parametrize("name", NAMES)
def test_gradient_on_a_cluster(cluster: Any, name: str) -> None:
    ours, by_hand = both(name)

    for one, other in zip(
        dask.compute(ours)[0], dask.compute(by_hand, scheduler="sync")[0], strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-14)


def test_optimisers_over_a_cluster(cluster: Any) -> None:
    pytest.importorskip("scipy")
    X, y = programs.data(400, 5, 100)
    on_numpy = dask.compute(X, y)
    start = np.zeros(5)

    for search in (
        lambda *a: gw.optimize.minimize(programs.logistic, start, a, method="L-BFGS-B"),
        lambda *a: gw.optimize.adam(programs.logistic, start, a, steps=5, learning_rate=0.1),
    ):
        found, wanted = search(X, y), search(*on_numpy)
        assert isinstance(found.x, np.ndarray)
        np.testing.assert_allclose(found.x, wanted.x, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(float(found.fun), float(wanted.fun), rtol=1e-8)


class Mortal:
    """A function of a block whose worker dies once, while it pulls back."""

    def __init__(self, grave: Path) -> None:
        self.grave = grave

    def __call__(self, block: Any) -> Any:
        @gw.custom_vjp
        def cubed(x: Any) -> Any:
            return x**3

        def pull(x: Any, g: Any) -> Any:
            if not self.grave.exists():
                self.grave.touch()
                os._exit(1)
            return (3.0 * x**2 * g,)

        cubed.defvjp(lambda x: (x**3, x), pull)
        return cubed(block)


@pytest.mark.slow
def test_worker_that_is_killed_in_the_middle_changes_nothing(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    x = da.random.default_rng(0).normal(size=(40, 10), chunks=(5, 10))
    wanted = 3.0 * x.compute(scheduler="sync") ** 2
    mortal = Mortal(tmp_path / "grave")

    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as made,
        distributed.Client(made),
    ):
        gradient = gw.grad(lambda x: gda.map_blocks(mortal, x, dtype=float).sum())(x)
        found = gradient.compute()

    assert mortal.grave.exists()
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def cheap(columns: int, block_info: Any = None) -> Any:
    """Rows of numbers between -1 and 1 that take little time to make."""
    start, stop = block_info[None]["array-location"][0]
    row = np.arange(start, stop)[:, None]
    return (0.6180339887 * row + 0.7548776662 * np.arange(columns) * (row % 7 + 1)) % 2.0 - 1.0


@pytest.mark.slow
@pytest.mark.parametrize("times", [2, pytest.param(5, marks=LONG)])
def test_data_that_exceed_a_workers_memory(times: int) -> None:
    distributed = pytest.importorskip("distributed")
    limit = 400 * 2**20  # of which the process itself needs a part
    columns, chunk = 64, 16384
    number = -(-times * limit // (8 * columns * chunk))
    X = da.map_blocks(
        cheap, columns, chunks=((chunk,) * number, (columns,)), dtype=float, meta=np.empty((0, 0))
    )
    y = (X[:, 0] > X[:, 1]).astype(float)
    w = 0.1 * np.random.default_rng(0).normal(size=columns)

    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, memory_limit=limit, dashboard_address=":0"
        ) as made,
        distributed.Client(made),
    ):
        _, gradient = gw.value_and_grad(programs.logistic)(w, X, y)
        found, by_hand = dask.compute(gradient, programs.logistic_by_hand(w, X, y)[1][0])
        of_sample = gw.grad(programs.logistic)(w, X[:chunk], y[:chunk]).compute()

    assert X.nbytes >= times * limit
    np.testing.assert_allclose(found, by_hand, rtol=1e-10, atol=1e-14)
    sample = cheap(columns, {None: {"array-location": [(0, chunk)]}})
    labels = (sample[:, 0] > sample[:, 1]).astype(float)
    wanted = gw.grad(programs.logistic)(w, sample, labels)
    np.testing.assert_allclose(of_sample, wanted, rtol=1e-10, atol=1e-14)
