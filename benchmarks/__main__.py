"""``python -m benchmarks``: the time of a gradient, as a multiple of the time by hand.

For those that compile it, the last columns have the time of the first call.
"""

import argparse
import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .checking import check
from .peers import OWN, PEERS, Peer, Run, by_hand, first_call
from .report import (
    LEFT_OUT,
    against,
    compared,
    milliseconds,
    number,
    put_into,
    seconds_or_less,
    table,
)
from .timing import FULL, QUICK, interleave
from .workloads import WORKLOADS, Growth, Workload

EAGER = "gradwrap"
ENGINES = ("numpy-engine", "c-engine")
HAND = "by-hand"
SEED = 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmarks and print the table; return 1 if a gradient was wrong or failed."""
    options = _parse(argv)
    notes: list[str] = []
    failures: list[str] = []
    peers = load(OWN, notes) + load(chosen_peers(options, PEERS), notes)
    effort = QUICK if options.quick else FULL

    times: dict[str, dict[str, float]] = {}
    firsts: dict[str, dict[str, float]] = {}
    for entry in _chosen(options.only):
        if isinstance(entry, Workload):
            print(f"{entry.title} ...", file=sys.stderr, flush=True)
            runs, firsts[entry.name] = _prepared(entry, peers, notes, failures)
            times[entry.name] = interleave(runs, effort)

    head = ["gradient time / time by hand", "by hand", EAGER, "bound"]
    head += [peer.title for peer in peers if peer.name != EAGER] + first_heads(peers)
    rows = [
        [*_row(entry, times, peers), *first_cells(firsts.get(entry.name, {}), peers)]
        for entry in WORKLOADS
        if ({entry.name} if isinstance(entry, Workload) else {entry.small, entry.large})
        <= times.keys()
    ]
    brackets = "(in brackets: the multiple that was measured when the bound was set)"
    remarks = [*notes, *failures, *rivals(times, peers), brackets]
    hand_out(options, "benchmarks", peers, head, rows, remarks)
    return 1 if failures else 0


def hand_out(  # noqa: PLR0913  the parts of a table
    options: Any,
    name: str,
    peers: Sequence[Peer],
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    remarks: Sequence[str],
) -> None:
    """Print a table and its remarks, and write them where the options say."""
    what = machine(peers, options.quick)
    lines = "\n".join(f"- {remark}" for remark in remarks)
    text = f"{what}\n\n{table(head, rows)}\n\n{lines}\n"
    print(text, end="")
    if options.markdown is not None:
        options.markdown.write_text(text, encoding="utf-8")
    if options.into is not None:
        rivalry = [remark for remark in remarks if "geometric mean" in remark]
        if options.no_first_calls:
            shown = [i for i, title in enumerate(head) if title not in first_heads(peers)]
            head, rows = [head[i] for i in shown], [[row[i] for i in shown] for row in rows]
        put_into(options.into, name, head, rows, [what, *rivalry])


class _Options(argparse.Namespace):
    only: list[str]
    quick: bool
    no_peers: bool
    peer: list[str]
    markdown: Path | None
    into: Path | None
    no_first_calls: bool


def add_peer_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose the other libraries."""
    names = [peer.__name__ for peer in PEERS]
    parser.add_argument("--no-peers", action="store_true", help="gradwrap and the base only")
    parser.add_argument(
        "--peer", action="append", default=[], choices=names, help="beside gradwrap, this one only"
    )
    parser.add_argument("--markdown", metavar="FILE", type=Path, help="write the table there too")
    parser.add_argument("--into", metavar="PAGE", type=Path, help="and into this page")
    parser.add_argument(
        "--no-first-calls", action="store_true", help="leave their times out of the page"
    )


def chosen_peers(options: Any, peers: Sequence[Callable[[], Peer]]) -> Sequence[Callable[[], Peer]]:
    """Return the other libraries that were asked for."""
    if options.no_peers:
        return ()
    return [peer for peer in peers if not options.peer or peer.__name__ in options.peer]


def _parse(argv: Sequence[str] | None) -> _Options:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--only",
        metavar="NAME",
        action="append",
        default=[],
        choices=[entry.name for entry in WORKLOADS],
        help="run this workload only; may be given again: %(choices)s",
    )
    parser.add_argument("--quick", action="store_true", help="fewer rounds, rougher figures")
    add_peer_options(parser)
    return parser.parse_args(argv, namespace=_Options())


def _chosen(names: Sequence[str]) -> list[Workload | Growth]:
    """Return the entries asked for (all, if none was named) and those that they need."""
    wanted = set(names or [entry.name for entry in WORKLOADS])
    for entry in WORKLOADS:
        if isinstance(entry, Growth) and entry.name in wanted:
            wanted |= {entry.small, entry.large}
    return [entry for entry in WORKLOADS if entry.name in wanted]


def load(loaders: Sequence[Callable[[], Peer]], notes: list[str]) -> list[Peer]:
    peers: list[Peer] = []
    for loader in loaders:
        try:
            peers.append(loader())
        except ImportError as error:
            notes.append(f"{loader.__name__} is left out: {error}")
    return peers


def _prepared(
    workload: Workload, peers: Sequence[Peer], notes: list[str], failures: list[str]
) -> tuple[dict[str, Run], dict[str, float]]:
    """Return the calls whose gradient is the one by hand, and the seconds of their first call."""
    args = workload.data(np.random.default_rng(SEED))
    hand = by_hand().prepare(workload, args)
    right = hand()
    runs: dict[str, Run] = {HAND: hand}
    firsts: dict[str, float] = {}
    for peer in peers:
        if peer.name in workload.left_out:
            notes.append(f"{peer.title}, {workload.name}: {workload.left_out[peer.name]}")
            continue
        try:
            first = first_call(peer, workload, args)
            check(first.gradients, right)
            runs[peer.name], firsts[peer.name] = first.run, first.seconds
            notes += [f"{peer.title}, {workload.name}: {told}" for told in first.warnings]
        except Exception as error:  # noqa: BLE001  if one library fails, the others go on
            fault = f"{type(error).__name__}: {error}"
            failures.append(f"{peer.title} FAILED on {workload.name}: {fault}")
    return runs, firsts


def first_heads(peers: Sequence[Peer]) -> list[str]:
    """Return the heads of the columns for first calls."""
    return [f"first call: {peer.title}" for peer in peers if peer.compiles]


def first_cells(firsts: Mapping[str, float], peers: Sequence[Peer]) -> list[str]:
    """Return a row's cells for first calls."""
    return [seconds_or_less(firsts.get(peer.name)) for peer in peers if peer.compiles]


def rivals(times: Mapping[str, Mapping[str, float]], peers: Sequence[Peer]) -> list[str]:
    """Compare the engines of gradwrap's compiler with the other libraries that compile."""
    others = [peer.name for peer in peers if peer.compiles and peer.name not in ENGINES]
    titles = {peer.name: peer.title for peer in peers}
    engines = [engine for engine in ENGINES if engine in titles]
    lines = [compared(times, engine, other, titles) for engine in engines for other in others]
    return [line for line in lines if line]


def _row(
    entry: Workload | Growth, times: dict[str, dict[str, float]], peers: Sequence[Peer]
) -> list[str]:
    if isinstance(entry, Workload):
        base = times[entry.name]
        hand = milliseconds(base[HAND])
        values = {name: seconds / base[HAND] for name, seconds in base.items()}
        expected = entry.expected
    else:
        small, large = times[entry.small], times[entry.large]
        values = {name: large[name] / small[name] for name in large if name in small}
        hand = number(values[HAND])
        expected = {}
    own = values.get(EAGER)
    cells = [
        entry.title,
        hand,
        LEFT_OUT if own is None else number(own),
        f"<= {entry.bound:g}" if own is None and entry.bound else against(own or 0, entry.bound),
    ]
    for peer in peers:
        if peer.name != EAGER:
            cell = number(values[peer.name]) if peer.name in values else LEFT_OUT
            if peer.name in expected:
                cell += f" ({expected[peer.name]:g})"
            cells.append(cell)
    return cells


def machine(peers: Sequence[Peer], quick: bool) -> str:
    libraries = [peer for peer in peers if peer.name not in ENGINES]
    versions = [f"NumPy {np.__version__}", *(f"{peer.title} {peer.version}" for peer in libraries)]
    return (
        f"{platform.machine()}, {platform.system()}, Python {platform.python_version()}, "
        f"one thread, {'quick (rough)' if quick else 'full'} run; {', '.join(versions)}"
    )


if __name__ == "__main__":
    sys.exit(main())
