"""``python -m benchmarks.threads``: one gradient called by eight threads at a time, and by one.

Each cell is the time of the same calls by eight threads, as a multiple of the time by one. Less
than 1 means that cores work at the same time. More is what threads cost: they wait for Python's
lock, and for those of NumPy and its memory. The gradient by hand shows how much of that is NumPy's.
"""

import argparse
import math
import sys
import threading
from time import perf_counter

import numpy as np

from .__main__ import SEED, load
from .peers import OWN, Run, by_hand
from .report import number, table
from .workloads import WORKLOADS, Workload

THREADS = 8
SECONDS = 0.2
"""How long one thread takes for the calls of a sample, about."""
NAMES = ("chain-small", "loop-1000", "rosenbrock", "black-scholes", "mlp", "rnn")


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.threads", description=__doc__)
    parser.add_argument("--only", metavar="NAME", nargs="+", default=list(NAMES))
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    notes: list[str] = []
    peers = [by_hand(), *load(OWN, notes)]
    rows: list[list[str]] = []
    for workload in WORKLOADS:
        if isinstance(workload, Workload) and workload.name in options.only:
            print(f"{workload.title} ...", file=sys.stderr, flush=True)
            args = workload.data(np.random.default_rng(SEED))
            runs = [peer.prepare(workload, args) for peer in peers]
            ratios = [_ratio(run, options.rounds) for run in runs]
            rows.append([workload.title, *map(number, ratios)])
    print(table([f"{THREADS} threads / one", *(peer.title for peer in peers)], rows))
    print("".join(f"- {note}\n" for note in notes), end="")
    return 0


def _ratio(run: Run, rounds: int) -> float:
    """Return the time of calls by eight threads over that of as many by one, measured in turns."""
    run()
    count = math.ceil(SECONDS / _sample(run, 1, 1) / THREADS)
    one, many = math.inf, math.inf
    for _ in range(rounds):
        one = min(one, _sample(run, 1, count * THREADS))
        many = min(many, _sample(run, THREADS, count))
    return many / one


def _sample(run: Run, threads: int, calls: int) -> float:
    """Return the seconds that threads take together, which call at the same time."""
    barrier = threading.Barrier(threads + 1)

    def work() -> None:
        barrier.wait()
        for _ in range(calls):
            run()

    workers = [threading.Thread(target=work) for _ in range(threads)]
    for worker in workers:
        worker.start()
    barrier.wait()
    start = perf_counter()
    for worker in workers:
        worker.join()
    return perf_counter() - start


if __name__ == "__main__":
    sys.exit(main())
