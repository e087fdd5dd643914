"""``python -m benchmarks.programs``: the time and the memory of the gradients of programs."""

import argparse
import sys
import tracemalloc
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..__main__ import (
    EAGER,
    HAND,
    SEED,
    add_peer_options,
    chosen_peers,
    first_cells,
    first_heads,
    hand_out,
    load,
    rivals,
)
from ..checking import check
from ..peers import OWN, Peer, Run, autograd, first_call, jax, torch
from ..report import LEFT_OUT, against, milliseconds, number
from ..timing import FULL, QUICK, interleave
from ..workloads import Array, Workload
from . import SETS, is_primal

STEP, TOLERANCE = 1e-6, 1e-5


class _Options(argparse.Namespace):
    set: str
    only: list[str]
    quick: bool
    no_peers: bool
    peer: list[str]
    markdown: Path | None
    into: Path | None
    no_first_calls: bool


def main(argv: Sequence[str] | None = None) -> int:
    """Measure the programs and print the table; return 1 if a gradient was wrong or failed."""
    options = _parse(argv)
    notes: list[str] = []
    failures: list[str] = []
    others = chosen_peers(options, (autograd, torch, jax))
    programs = [one for one in SETS[options.set] if not options.only or one.name in options.only]
    peers = [
        peer
        for peer in load(OWN, notes) + load(others, notes)
        if not all(peer.name in one.left_out for one in programs)
    ]
    head = ["gradient time / base", "base", "bound", *(peer.title for peer in peers)]
    head += [*first_heads(peers), "peak of the base, kB", "gradwrap's / base's"]
    rows: list[list[str]] = []
    all_times: dict[str, dict[str, float]] = {}
    for program in programs:
        print(f"{program.title} ...", file=sys.stderr, flush=True)
        runs, firsts = _prepare(program, peers, notes, failures)
        times = interleave(runs, QUICK if options.quick else FULL)
        all_times[program.name] = times
        ratios = {name: seconds / times[HAND] for name, seconds in times.items()}
        base = milliseconds(times[HAND]) + (" (primal)" if is_primal(program) else "")
        cells = [number(ratios[p.name]) if p.name in ratios else LEFT_OUT for p in peers]
        peaks = {name: _peak(run) for name, run in runs.items() if name in (HAND, EAGER)}
        memory = [number(peaks[HAND] / 1000), LEFT_OUT]
        if EAGER in peaks:
            memory[1] = number(peaks[EAGER] / peaks[HAND])
        bound = against(ratios.get(EAGER, float("inf")), program.bound)
        rows.append([program.title, base, bound, *cells, *first_cells(firsts, peers), *memory])
    remarks = [*notes, *failures, *rivals(all_times, peers)]
    hand_out(options, f"benchmarks.programs, {options.set}", peers, head, rows, remarks)
    return 1 if failures else 0


def _parse(argv: Sequence[str] | None) -> _Options:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.programs", description=__doc__)
    parser.add_argument("--set", choices=list(SETS), default="programs", help="which programs")
    names = sorted({program.name for programs in SETS.values() for program in programs})
    parser.add_argument(
        "--only", metavar="NAME", action="append", default=[], choices=names, help="%(choices)s"
    )
    parser.add_argument("--quick", action="store_true", help="fewer rounds, rougher figures")
    add_peer_options(parser)
    return parser.parse_args(argv, namespace=_Options())


def _prepare(
    program: Workload, peers: Sequence[Peer], notes: list[str], failures: list[str]
) -> tuple[dict[str, Run], dict[str, float]]:
    """Return the base and the libraries' calls that are right, and the seconds of first calls."""
    args = program.data(np.random.default_rng(SEED))
    base: Callable[..., Any] = partial(program.by_hand, np, *args)
    right = None if is_primal(program) else base()
    if right is not None:
        check_numerically(program, args, right)
    runs: dict[str, Run] = {HAND: base}
    firsts: dict[str, float] = {}
    for peer in peers:
        if peer.name in program.left_out:
            notes.append(f"{peer.title}, {program.name}: {program.left_out[peer.name]}")
            continue
        try:
            first = first_call(peer, program, args)
            got = first.gradients
            if right is None:
                check_numerically(program, args, got)
                right = got
            check(got, right)
            runs[peer.name], firsts[peer.name] = first.run, first.seconds
            notes += [f"{peer.title}, {program.name}: {told}" for told in first.warnings]
        except Exception as error:  # noqa: BLE001  if one library fails, the others go on
            fault = f"{type(error).__name__}: {error}"
            failures.append(f"{peer.title} FAILED on {program.name}: {fault}")
    return runs, firsts


def check_numerically(
    program: Workload, args: tuple[Array, ...], gradients: Sequence[Array]
) -> None:
    """Raise a ValueError if a gradient differs from a central difference along a direction."""
    rng = np.random.default_rng(SEED + 1)
    for argnum, gradient in zip(program.argnums, gradients, strict=True):
        direction = rng.normal(size=gradient.shape)
        ends = [
            program.fun(
                np, *(a + s * STEP * direction if i == argnum else a for i, a in enumerate(args))
            )
            for s in (1, -1)
        ]
        slope = float(ends[0] - ends[1]) / (2 * STEP)
        found = float(np.sum(gradient * direction))
        scale = float(np.linalg.norm(gradient)) + abs(slope) + 1e-6
        if not abs(slope - found) <= TOLERANCE * scale:
            raise ValueError(f"{program.name}: gradient {argnum} has slope {found}, not {slope}")


def _peak(run: Run) -> int:
    """Return the most bytes that a call had allocated at one time."""
    run()
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


if __name__ == "__main__":
    sys.exit(main())
