"""``python -m benchmarks.compiled`` compares compiled gradients with those written by hand.

For each workload it prints the time of the first call, and the time of a later one as a multiple of
the gradient by hand, measured in turns in one thread, in processor time: other work on the machine
does not count. ``--engine`` names one engine, or several.
"""

import argparse
import sys
import warnings
from time import process_time
from typing import Any

import numpy as np

import gradwrap as gw

from .report import table
from .workloads import WORKLOADS, Workload

NAMES = (
    *("chain-small", "chain-large", "loop-1000", "loop-4000", "rosenbrock", "black-scholes"),
    *("mlp", "rnn"),
)
LEAST = 0.02
"""Seconds that the calls of one sample take together, at least."""


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compiled", description=__doc__)
    parser.add_argument("--engine", nargs="+", default=["numpy"])
    parser.add_argument("--only", nargs="+", default=list(NAMES))
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    rows: list[list[str]] = []
    for workload in WORKLOADS:
        if isinstance(workload, Workload) and workload.name in options.only:
            for engine in options.engine:
                rows.append(measured(workload, engine, options.rounds))
                print(*rows[-1], sep=" | ", flush=True, file=sys.stderr)
    heads = ["workload", "engine", "first call", "by hand", "compiled / by hand", "difference"]
    print(table(heads, rows))
    return 0


def measured(workload: Workload, engine: str, rounds: int) -> list[str]:
    """Return the row of a workload and an engine."""
    data = workload.data(np.random.default_rng(0))
    compiled: Any = gw.compile(
        gw.grad(lambda *args: workload.fun(np, *args), workload.argnums), engine=engine
    )
    start = process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = compiled(*data)
    first = process_time() - start
    wanted = workload.by_hand(np, *data)
    away = max(
        float(np.max(np.abs(a - b)) / np.max(np.abs(a))) for a, b in zip(wanted, found, strict=True)
    )
    hand, ours = float("inf"), float("inf")
    for _ in range(rounds):
        hand = min(hand, _sample(lambda: workload.by_hand(np, *data)))
        ours = min(ours, _sample(lambda: compiled(*data)))
    return [
        workload.title,
        engine,
        f"{first:.2f} s",
        f"{1e6 * hand:.0f} us",
        f"{ours / hand:.3f}",
        f"{away:.1e}",
    ]


def _sample(call: Any) -> float:
    """Return the processor's seconds for one call, of as many as take long enough."""
    start = process_time()
    call()
    once = process_time() - start
    count = max(1, int(LEAST / once))
    start = process_time()
    for _ in range(count):
        call()
    return min(once, (process_time() - start) / count)


if __name__ == "__main__":
    sys.exit(main())
