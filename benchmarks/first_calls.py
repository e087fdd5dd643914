"""``python -m benchmarks.first_calls CHECKOUT``: first calls of compiled gradients.

Each cell is the CPU time of this tree over that of another checkout: processes of both run in
turns, and the least time counts. The time of the C compiler, another process, is not in it. The
function is compiled anew for each call; the first time in a process also imports modules, and is
shown by itself. Programs with long loops, those of `benchmarks.programs` in loops, are measured if
`--only` names them.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from time import process_time
from typing import Any, TypeAlias

import numpy as np

from .__main__ import SEED
from .programs import IN_PLACE, PROGRAMS
from .programs.long import PROGRAMS as LONG
from .report import milliseconds, number, table
from .workloads import Workload

HERE = Path(__file__).parents[1]
ENGINES = ("numpy", "c")
ROUNDS, CALLS, TURNS = 5, 12, (1_000, 100_000)
LINALG: Any = np.linalg
Times: TypeAlias = dict[str, float]


def tanhs(x: Any) -> Any:
    """Return the sum of a chain of eight hyperbolic tangents."""
    for _ in range(8):
        x = 1.1 * np.tanh(x)
    return np.sum(x)


def polynomial(x: Any, coefficients: Any) -> Any:
    """Return the sum of a polynomial, by Horner's rule."""
    y = np.zeros_like(x)
    for c in coefficients:
        y = y * x + c
    return np.sum(y)


def matrices(a: Any, b: Any, x: Any) -> Any:
    """Return a loss of two layers and a system of equations."""
    h = np.tanh(a @ x) + b @ x
    return np.sum(h * LINALG.solve(a @ a.T + 9.0 * np.eye(len(a)), h))


def loop(x: Any) -> Any:
    """Return a sum over a recurrence that writes one element in each turn."""
    h = np.zeros_like(x)
    for i in range(1, len(x)):
        h[i] = np.sin(h[i - 1] * 0.9 + x[i])
    return np.sum(h * h)


def programs() -> list[tuple[str, Callable[..., Any], tuple[Any, ...]]]:
    """Return names, functions and arguments."""
    rng = np.random.default_rng(SEED)
    return [
        ("tanh", tanhs, (rng.standard_normal(100),)),
        ("polynomial", polynomial, (rng.standard_normal(100), rng.standard_normal(12))),
        ("matrices", matrices, tuple(rng.standard_normal((3, 6, 6)))),
        ("loop", loop, (rng.standard_normal(40),)),
    ]


def long_programs() -> dict[str, Workload]:
    """Return programs with loops, by name."""
    given = [*PROGRAMS, *IN_PLACE, *(one.workload(n) for one in LONG for n in TURNS)]
    return {one.name: one for one in given}


def measured(name: str, engine: str, calls: int) -> tuple[float, float]:
    """Return the seconds of the first call in this process, and the least of later first calls."""
    import gradwrap as gw

    argnums: int | tuple[int, ...] = 0
    chosen = [(fun, args) for known, fun, args in programs() if known == name]
    if chosen:
        ((function, args),) = chosen
        gw.grad(function)(*args)
    else:
        one = long_programs()[name]
        function, argnums = partial(one.fun, np), one.argnums
        args = one.data(np.random.default_rng(SEED))
        gw.compile(gw.grad(tanhs), engine=engine)(np.ones(3))  # imports are not counted
    times: list[float] = []
    for _ in range(calls):
        compiled = gw.compile(gw.grad(function, argnums), engine=engine)
        start = process_time()
        compiled(*args)
        times.append(process_time() - start)
        assert compiled.source
    return times[0], min(times[1:])


def in_a_process(
    checkout: Path, name: str, engine: str, calls: int, bytecode: str
) -> tuple[float, float]:
    """Measure in a fresh process that imports gradwrap from a checkout, with its bytecode."""
    with tempfile.TemporaryDirectory() as cache:
        own = {"PYTHONPATH": f"{checkout / 'src'}:{HERE}", "GRADWRAP_CACHE_DIR": cache}
        own |= {"PYTHONPYCACHEPREFIX": bytecode, "PYTHONDONTWRITEBYTECODE": ""}
        command = [sys.executable, "-m", "benchmarks.first_calls", "--only", name]
        command += ["--one", engine, "--calls", str(calls), str(checkout)]
        environment = os.environ | own
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    first, least = json.loads(done.stdout)
    return first, least


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table."""
    names = [name for name, _, _ in programs()]
    others = [name for name in long_programs() if name not in names]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.first_calls", description=__doc__)
    parser.add_argument("checkout", type=Path, help="the tree to compare with")
    parser.add_argument("--only", metavar="NAME", nargs="+", default=names)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--calls", type=int, default=CALLS, help="the calls in each process")
    parser.add_argument("--one", metavar="ENGINE", help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    unknown = {*options.only}.difference(names, others)
    if unknown:
        parser.error(f"no program is named {min(unknown)}; there are {', '.join(names + others)}")
    if options.one:
        print(json.dumps(measured(options.only[0], options.one, options.calls)))
        return 0
    rows: list[list[str]] = []
    with tempfile.TemporaryDirectory() as bytecode:
        for name, engine in product(options.only, ENGINES):
            least = [(math.inf, math.inf)] * 2
            for _ in range(options.rounds):
                for place, tree in enumerate((options.checkout, HERE)):
                    found = in_a_process(tree, name, engine, options.calls, bytecode)
                    least[place] = (min(least[place][0], found[0]), min(least[place][1], found[1]))
            (old_first, old), (first, new) = least
            ratios = [number(new / old), milliseconds(first), number(first / old_first)]
            rows.append([f"{name}, {engine}", milliseconds(old), milliseconds(new), *ratios])
            print(rows[-1], file=sys.stderr, flush=True)
    head = ["program, engine", "there", "here", "ratio", "first in a process", "ratio"]
    print(table(head, rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
