"""``python -m benchmarks.programs.long``: gradients of long loops, as their length grows.

Each cell is measured in a process of its own: the first call, which compiles, a later call, and how
much more memory the process has taken at most for both. JAX's versions use `lax.scan`, as its users
write them. The times are of the processor, without the C compiler's own time. JAX uses several
threads: run the command on one core (`taskset -c 0`) to compare them.
"""

import argparse
import json
import platform
import resource
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from ..__main__ import SEED
from ..peers import c_engine, jax
from ..report import put_into, table
from ..workloads import Array, Namespace, Workload
from ..workloads.base import Traced
from .for_jax import tridiagonal as tridiagonal_in_jax

LENGTHS = (1_000, 10_000, 100_000)
POINTS = 1_000
PEERS = {"c": c_engine, "jax": jax}
LONGEST = 1.0
"""The seconds from which one later call is enough."""


class Program(NamedTuple):
    """A function with a loop, for NumPy and for JAX, and its data for a number of turns.

    Both functions take the namespace and the arguments; the number of turns is the last of them.
    """

    name: str
    title: str
    fun: Callable[..., Traced]
    in_jax: Callable[..., Traced]
    data: Callable[[np.random.Generator, int], tuple[Array, ...]]
    argnums: tuple[int, ...] = (0,)

    def workload(self, turns: int) -> Workload:
        """Return the workload of so many turns."""
        in_numpy, scanned = self.fun, self.in_jax

        def fun(np: Namespace, *args: Traced) -> Traced:
            return in_numpy(np, *args, turns)

        def in_jax(np: Namespace, *args: Traced) -> Traced:
            return scanned(np, *args, turns)

        return Workload(
            name=f"{self.name}-{turns}",
            title=self.title,
            fun=fun,
            by_hand=fun,
            data=lambda rng: self.data(rng, turns),
            argnums=self.argnums,
            own={"jax": in_jax},
        )


def _scan() -> Any:
    return import_module("jax.lax").scan


def rosenbrock(_: Namespace, x: Traced, turns: int) -> Traced:
    """Add up the terms one by one."""
    total = 0.0
    for i in range(turns - 1):
        total = total + 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    return total


def rosenbrock_in_jax(np: Namespace, x: Traced, turns: int) -> Traced:
    """Add up the terms one by one."""

    def step(total: Traced, i: Any) -> tuple[Traced, None]:
        return total + 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2, None

    return _scan()(step, 0.0, np.arange(turns - 1))[0]


def recurrent(np: Namespace, x: Traced, w: Traced, turns: int) -> Traced:
    """Return the mean square of the states of a cell, which are kept in a list."""
    h = 0.0 * x[0]
    states: list[Traced] = []
    for t in range(turns):
        h = np.tanh(w @ h + x[t])
        states.append(h)
    return np.mean(np.stack(states) ** 2)


def recurrent_in_jax(np: Namespace, x: Traced, w: Traced, turns: int) -> Traced:
    """Return the mean square of the states of a cell."""
    del turns

    def step(h: Traced, x: Traced) -> tuple[Traced, Traced]:
        h = np.tanh(w @ h + x)
        return h, h

    return np.mean(_scan()(step, 0.0 * x[0], x)[1] ** 2)


def tridiagonal(np: Namespace, *args: Traced) -> Traced:
    """Return the mean square of the solution of a tridiagonal system."""
    a, b, c, d, turns = args
    upper, y, x = 0.0 * b, 0.0 * b, 0.0 * b
    upper[0], y[0] = c[0] / b[0], d[0] / b[0]
    for i in range(1, turns):
        pivot = b[i] - a[i] * upper[i - 1]
        upper[i] = c[i] / pivot
        y[i] = (d[i] - a[i] * y[i - 1]) / pivot
    x[turns - 1] = y[turns - 1]
    for i in range(turns - 2, -1, -1):
        x[i] = y[i] - upper[i] * x[i + 1]
    return np.mean(x * x)


def tridiagonal_scanned(np: Namespace, *args: Traced) -> Traced:
    """Return the mean square of the solution of a tridiagonal system."""
    return tridiagonal_in_jax(np, *args[:-1])


def _places(rng: np.random.Generator, turns: int) -> tuple[Array, ...]:
    return (rng.uniform(0.5, 1.5, turns),)


def _signals(rng: np.random.Generator, turns: int) -> tuple[Array, ...]:
    return rng.normal(size=(turns, 16)), rng.normal(0, 0.2, (16, 16))


def _bands(rng: np.random.Generator, turns: int) -> tuple[Array, ...]:
    a, c = rng.uniform(0.1, 0.4, (2, turns))
    return a, rng.uniform(1, 2, turns), c, rng.normal(size=turns)


def heat_step(np: Namespace, u: Traced) -> Traced:
    """Take one explicit step of the heat equation."""
    middle = u[1:-1] + 0.2 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.concatenate([u[:1], middle, u[-1:]])


def burgers_step(np: Namespace, u: Traced) -> Traced:
    """Take one explicit step of Burgers' equation."""
    middle, left, right = u[1:-1], u[:-2], u[2:]
    change = 0.2 * (right - 2.0 * middle + left) - 0.1 * middle * (right - left)
    return np.concatenate([u[:1], middle + change, u[-1:]])


Step = Callable[[Namespace, Traced], Traced]


def _stepped(step: Step) -> Callable[..., Traced]:
    def run(np: Namespace, u: Traced, turns: int) -> Traced:
        for _ in range(turns):
            u = step(np, u)
        return np.mean(u * u)

    return run


def _scanned(step: Step) -> Callable[..., Traced]:
    def run(np: Namespace, u: Traced, turns: int) -> Traced:
        def one(u: Traced, _: Any) -> tuple[Traced, None]:
            return step(np, u), None

        u = _scan()(one, u, None, length=turns)[0]
        return np.mean(u * u)

    return run


def _wave(rng: np.random.Generator, turns: int) -> tuple[Array, ...]:
    del rng, turns
    return (0.5 + 0.3 * np.sin(np.linspace(0.0, 6.0, POINTS)),)


PROGRAMS = (
    Program(
        name="rosenbrock",
        title="Rosenbrock's function by a loop",
        fun=rosenbrock,
        in_jax=rosenbrock_in_jax,
        data=_places,
    ),
    Program(
        name="recurrent",
        title="recurrent cell of 16, list of all states",
        fun=recurrent,
        in_jax=recurrent_in_jax,
        data=_signals,
        argnums=(0, 1),
    ),
    Program(
        name="tridiagonal",
        title="tridiagonal system by elements",
        fun=tridiagonal,
        in_jax=tridiagonal_scanned,
        data=_bands,
        argnums=(0, 1, 2, 3),
    ),
    Program(
        name="heat",
        title="heat equation, 1,000 points",
        fun=_stepped(heat_step),
        in_jax=_scanned(heat_step),
        data=_wave,
    ),
    Program(
        name="burgers",
        title="Burgers' equation, 1,000 points",
        fun=_stepped(burgers_step),
        in_jax=_scanned(burgers_step),
        data=_wave,
    ),
)


def measured(program: Program, turns: int, peer: str) -> list[float]:
    """Return the seconds of the first and of a later call, and the megabytes that both took."""
    workload, library = program.workload(turns), PEERS[peer]()
    args = workload.data(np.random.default_rng(SEED))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = process_time()
    run = library.prepare(workload, args)
    run()
    first = process_time() - start
    later = float("inf")
    for _ in range(7):
        start = process_time()
        run()
        later = min(later, process_time() - start)
        if later > LONGEST:
            break
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return [first, later, peak / 1024]


def _in_own_process(program: Program, turns: int, peer: str) -> list[float]:
    cell = ("--cell", program.name, str(turns), peer)
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.programs.long", *cell]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: list[float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Measure the programs and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.programs.long", description=__doc__)
    names = [program.name for program in PROGRAMS]
    parser.add_argument("--only", action="append", default=[], choices=names, help="%(choices)s")
    parser.add_argument("--turns", type=int, nargs="+", default=LENGTHS)
    parser.add_argument("--peer", action="append", default=[], choices=list(PEERS))
    parser.add_argument("--into", type=Path, help="the page whose table is replaced")
    parser.add_argument("--cell", nargs=3, help=argparse.SUPPRESS)
    options: Any = parser.parse_args(argv)
    if options.cell:
        name, turns, peer = options.cell
        program = next(one for one in PROGRAMS if one.name == name)
        print(json.dumps(measured(program, int(turns), peer)))
        return 0
    peers = options.peer or list(PEERS)
    head = ["program", "turns"]
    for peer in peers:
        title = {"c": "gradwrap", "jax": "JAX"}[peer]
        head += [f"{title}: first call, s", "call, ms", "memory, MB"]
    rows: list[list[str]] = []
    for program in PROGRAMS:
        for turns in options.turns if not options.only or program.name in options.only else ():
            print(f"{program.title}, {turns} turns ...", file=sys.stderr, flush=True)
            row = [program.title, f"{turns:,}"]
            for peer in peers:
                first, later, memory = _in_own_process(program, turns, peer)
                row += [f"{first:.2f}", f"{later * 1e3:.3g}", f"{memory:.0f}"]
            rows.append(row)
    if options.into:
        remark = (
            f"quick (rough), CPU seconds, {platform.machine()}, Python {platform.python_version()}"
        )
        put_into(options.into, "benchmarks.programs.long", head, rows, [remark])
    print(table(head, rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
