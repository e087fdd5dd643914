"""Measure times.

All candidates are timed in turns, round after round, in one process, so that a slow spell of the
machine affects all of them. A sample is the mean of enough calls to last `SAMPLE_SECONDS`. The
least sample counts, since it was disturbed least. The garbage collector is on, as in any program,
and is run once before each sample, outside the measured time, so that no candidate pays for the
cycles that another left behind.

A full run and one with ``--no-peers`` differ in two ways. In a full run the modules of five
libraries are in memory, and the collector walks them whenever a tape of many small objects triggers
it, so that the Python loops take longer. And once PyTorch is imported, large blocks are kept that
would otherwise return to the system at each call, so that work on 8 MB arrays takes as little as
half the time, by hand too. The bounds are meant for the full run.
"""

import gc
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import perf_counter

SAMPLE_SECONDS = 0.02


@dataclass(frozen=True)
class Effort:
    """The effort of a measurement: ``seconds`` per candidate, but at least ``least`` rounds."""

    rounds: int
    seconds: float
    least: int


FULL = Effort(rounds=20, seconds=4.0, least=3)
QUICK = Effort(rounds=5, seconds=0.6, least=2)


def interleave(runs: Mapping[str, Callable[[], object]], effort: Effort) -> dict[str, float]:
    """Return the seconds that one call of each takes, measured in turns.

    A candidate that has used up its time is skipped, so that a slow one does not delay the others.
    """
    calls = {name: _calls(run) for name, run in runs.items()}
    best = dict.fromkeys(runs, math.inf)
    spent = dict.fromkeys(runs, 0.0)
    for turn in range(effort.rounds):
        for name, run in runs.items():
            if turn >= effort.least and spent[name] > effort.seconds:
                continue
            seconds = sample(run, calls[name])
            best[name] = min(best[name], seconds)
            spent[name] += seconds * calls[name]
    return best


def _calls(run: Callable[[], object]) -> int:
    """Return how many calls make a sample; the first call, with empty caches, says little."""
    seconds = sample(run)
    if seconds < SAMPLE_SECONDS:
        seconds = min(seconds, sample(run, 10))
    return max(1, math.ceil(SAMPLE_SECONDS / seconds))


def sample(run: Callable[[], object], calls: int = 1) -> float:
    """Return the mean time of some calls in a row, in seconds."""
    gc.collect()
    start = perf_counter()
    for _ in range(calls):
        run()
    return (perf_counter() - start) / calls
