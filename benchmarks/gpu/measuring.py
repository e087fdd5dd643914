"""Check each gradient against the one by hand, then time the right ones in turns."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from ..checking import check
from ..peers import Run
from ..timing import SAMPLE_SECONDS, Effort
from .candidates import HAND, OWN, Candidate
from .cases import Case
from .devices import Device, Finish

SEED = 0
FULL = Effort(rounds=20, seconds=3.0, least=3)
QUICK = Effort(rounds=5, seconds=0.6, least=2)


@dataclass(frozen=True)
class Times:
    """The time of one call, in seconds."""

    best: float
    median: float


@dataclass(frozen=True)
class Peak:
    """The most bytes in use at a time during one call."""

    by_hand: int
    own: int
    bound: float | None


@dataclass(frozen=True)
class Measured:
    """The results of a case."""

    title: str
    times: Mapping[str, Times]
    """By the names of the candidates whose gradient is right."""
    bound: float | None = None
    not_slower_than: tuple[str, ...] = ()
    peak: Peak | None = None


def measure(
    device: Device, case: Case, candidates: Sequence[Candidate], effort: Effort, faults: list[str]
) -> Measured:
    """Measure a case; add failures to `faults`, and leave those candidates out of the result."""
    workload = case.workload
    args = workload.data(np.random.default_rng(SEED))
    runs: dict[str, tuple[Run, Finish]] = {}
    right = None
    for candidate in candidates:
        try:
            run = candidate.prepare(workload, args)
            got = candidate.arrays(run())
            if right is None:  # the gradient by hand, which comes first
                right = got
            check(got, right)
            runs[candidate.name] = run, candidate.finish
        except Exception as error:  # noqa: BLE001  if one library fails, the others go on
            fault = f"{type(error).__name__}: {error}".splitlines()[0]
            faults.append(f"{candidate.title} FAILED on {workload.name}: {fault}")
    times = interleave(device, runs, effort)
    peak = None
    if {HAND, OWN} <= set(runs):
        peak = Peak(device.peak(runs[HAND][0]), device.peak(runs[OWN][0]), case.memory_bound)
    return Measured(workload.title, times, workload.bound, case.not_slower_than, peak)


def interleave(
    device: Device, runs: Mapping[str, tuple[Run, Finish]], effort: Effort
) -> dict[str, Times]:
    """Return the times of one call of each, measured in turns; see `benchmarks.timing`."""
    calls: dict[str, int] = {}
    for name, (run, finish) in runs.items():
        device.seconds(run, finish, 1)  # compiles the kernels, outside the measured time
        calls[name] = max(1, math.ceil(SAMPLE_SECONDS / device.seconds(run, finish, 1)))
    samples: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(effort.rounds):
        for name, (run, finish) in runs.items():
            if turn >= effort.least and sum(samples[name]) * calls[name] > effort.seconds:
                continue
            samples[name].append(device.seconds(run, finish, calls[name]))
    return {name: Times(min(seconds), median(seconds)) for name, seconds in samples.items()}
