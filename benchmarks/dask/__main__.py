"""Compare gradients through Dask with the same written by hand in Dask.

    python -m benchmarks.dask                  # all programs, on 1.6 GB of data and of fields
    python -m benchmarks.dask --gigabytes 10   # on more
    python -m benchmarks.dask --cluster        # the time on a cluster of two workers as well

For each program: the tasks after Dask's optimisation; the most memory of a worker's process, in a
cluster of its own with one worker; the seconds of a processor, with the building of the graph, for
one thread, the least of several runs in turns. Data are made by `dask.array.random`, chunk by
chunk, in every run.
"""

from __future__ import annotations

import argparse
import math
import os
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from benchmarks.dask.programs import NAMES, Program, number_of_tasks, programs

if TYPE_CHECKING:
    from collections.abc import Callable

    dask: Any
    Client: Any
    LocalCluster: Any
    MemorySampler: Any
else:
    import dask
    from distributed import Client, LocalCluster
    from distributed.diagnostics import MemorySampler

COLUMNS, HIDDEN = 100, 32
CHUNK, EDGE = 20_000, 1414
"""The rows of a chunk, and the side of one of a field: 16 MB."""
INTERVAL = 0.02
MIB = 2**20


class Pair(NamedTuple):
    """A figure of gradwrap's gradient, and of the one by hand."""

    ours: float
    by_hand: float


def computed(build: Callable[[], list[Any]], **options: Any) -> list[Any]:
    """Build and compute the value and the gradients, of which fields stay on the workers."""
    built = build()
    small = [one for one in built if one.nbytes <= MIB]
    large = [(one**2).sum() for one in built if one.nbytes > MIB]
    return list(dask.compute(*small, *large, **options))


def on_cluster(workers: int) -> Any:
    return LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0")


def times(program: Program, rounds: int, clock: Callable[[], float], **options: Any) -> Pair:
    """Return the least seconds of either, in turns."""
    best = [math.inf, math.inf]
    for _ in range(rounds):
        results: list[Any] = []
        for place, build in enumerate((program.by_gradwrap, program.written_out)):
            start = clock()
            results.append(computed(build, **options))
            best[place] = min(best[place], clock() - start)
        for one, other in zip(*results, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)
    return Pair(*best)


def times_on_cluster(program: Program, rounds: int) -> Pair:
    with on_cluster(2) as cluster, Client(cluster):
        return times(program, rounds, perf_counter)


def peak(build: Callable[[], list[Any]]) -> float:
    """Return the most MiB of the process of the one worker of a new cluster."""
    sampler = MemorySampler()
    with (
        on_cluster(1) as cluster,
        Client(cluster),
        sampler.sample("run", measure="process", interval=INTERVAL),
    ):
        computed(build)
    most: int = max(size for _, size in sampler.samples["run"])
    return most / MIB


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Compare gradients through Dask with those by hand."
    )
    parser.add_argument("names", nargs="*", default=NAMES, help=f"of {', '.join(NAMES)}")
    parser.add_argument("--gigabytes", type=float, default=1.6)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cluster", action="store_true", help="time it on a cluster as well")
    options = parser.parse_args()
    chunks = max(1, round(options.gigabytes * 1e9 / (8 * COLUMNS * CHUNK)))
    known = programs(CHUNK * chunks, COLUMNS, HIDDEN, CHUNK, EDGE)
    print(f"{chunks} chunks of {8 * COLUMNS * CHUNK / 1e6:.0f} MB; gradwrap / by hand")
    for name in options.names:
        program = known[name]
        ours, by_hand = program.by_gradwrap, program.written_out
        figures = {
            "tasks": Pair(number_of_tasks(ours()), number_of_tasks(by_hand())),
            "peak MiB": Pair(peak(ours), peak(by_hand)),
            "CPU s": times(program, options.rounds, process_time, scheduler="sync"),
        }
        if options.cluster:
            figures["cluster s"] = times_on_cluster(program, options.rounds)
        print(f"{name}:", *map(described, figures.items()), flush=True)


def described(figure: tuple[str, Pair]) -> str:
    name, (ours, by_hand) = figure
    return f"{name} {ours:.4g} / {by_hand:.4g} = {ours / by_hand:.2f};"


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
