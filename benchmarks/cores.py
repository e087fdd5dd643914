"""``python -m benchmarks.cores``: gradients of the c engine on one thread, on two, and on many.

The first columns are measured, in turns. The last ones are simulated: the segments of each nest of
loops are timed on one thread, and handed out to more threads as the pool does it. The simulation
adds the time to begin and to end each nest. It knows no limit of memory, so that programs with
little arithmetic for each element stay behind it.
"""

import argparse
import ctypes
import math
import os
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any
from unittest.mock import patch

import numpy as np

import gradwrap as gw
from gradwrap.compiler.engines.c import engine
from gradwrap.compiler.engines.c.library import loaded
from gradwrap.compiler.engines.c.pool import Pool

from .__main__ import SEED, machine
from .peers import by_hand
from .report import number, put_into, table
from .timing import FULL, QUICK, interleave
from .workloads.black_scholes import data, price

N = 1_000_000
ALL = (0, 1, 2, 3)
MANY = (2, 8, 16, 32, 64)
BEGIN, EACH = 2e-6, 0.2e-6
"""The seconds to begin and end a nest on two threads, and for each further thread.

The first was measured with threads that are awake. The second is an assumption.
"""
MOST = 1 << 20
TIMED = f"""
#include <stdint.h>
#include <time.h>

typedef void part(const void *, long, long, long);
long noted;
int64_t notes[{MOST}];

static int64_t now(void) {{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}}

void split(long threads, part *f, const void *c, long segments) {{
    if (noted + segments < {MOST}) notes[noted++] = -1;
    for (long q = 0; q < segments; q++) {{
        const int64_t start = now();
        f(c, q, q + 1, 0);
        if (noted < {MOST}) notes[noted++] = now() - start;
    }}
}}
"""
"""A pool of one thread that notes the time of each segment; -1 stands before each nest."""


def tanhs(x: Any) -> Any:
    """Return the sum of a chain of eight hyperbolic tangents."""
    for _ in range(8):
        x = 1.1 * np.tanh(x)
    return np.sum(x)


def neighbours(x: Any) -> Any:
    """Return Rosenbrock's function, whose gradient adds to overlapping parts of an array."""
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def softmax(x: Any) -> Any:
    """Return a loss of rows of probabilities."""
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return np.sum((e / np.sum(e, axis=1, keepdims=True)) ** 2)


def waves(u: Any) -> Any:
    """Return a sum over a field after twenty steps."""
    for _ in range(20):
        u = u + 0.1 * np.sin(np.roll(u, 1) - 2.0 * u + np.roll(u, -1))
    return np.sum(u * u)


def multiples(x: Any, y: Any) -> Any:
    """Return a sum of products, whose gradient is bound by memory."""
    return np.sum(2.0 * x * y + x)


Program = tuple[str, Callable[..., Any], tuple[int, ...], tuple[Any, ...]]


def programs(rng: np.random.Generator, n: int) -> list[Program]:
    """Return titles, functions, the arguments that they are differentiated for, and the data."""
    side = math.isqrt(n)
    x, y = rng.standard_normal((2, n))
    return [
        ("Black-Scholes", lambda *args: price(np, *args), ALL, data(rng, n=n)),
        ("chain of 8 tanh", tanhs, (0,), (x,)),
        ("softmax of rows", softmax, (0,), (rng.standard_normal((side, side)),)),
        ("20 steps of a wave", waves, (0,), (x,)),
        ("Rosenbrock", neighbours, (0,), (x,)),
        ("2 x y + x", multiples, (0, 1), (x, y)),
    ]


@contextmanager
def timed() -> Generator[ctypes.CDLL]:
    """Let the c engine use the pool that notes times."""
    library = loaded(TIMED, [])
    address = ctypes.cast(library["split"], ctypes.c_void_p).value or 0
    with patch.object(engine, "pool", lambda: Pool(library, address)):
        yield library


def nests(
    function: Callable[..., Any], args: Sequence[Any], calls: int
) -> tuple[list[list[float]], float]:
    """Return the seconds of the segments of each nest of a call, and of all that is not split.

    These are the least of several calls.
    """
    with timed() as library:
        compiled = gw.compile(function, engine="c", threads=2)
        compiled(*args)
        count = ctypes.c_long.in_dll(library, "noted")
        times = (ctypes.c_int64 * MOST).in_dll(library, "notes")
        least: list[int] = []
        rest = math.inf
        for _ in range(calls):
            count.value = 0
            start = perf_counter()
            compiled(*args)
            whole = perf_counter() - start
            now = times[: count.value]
            rest = min(rest, whole - 1e-9 * sum(one for one in now if one > 0))
            least = [*map(min, least, now)] if least else now
    found: list[list[float]] = []
    for one in least:
        if one < 0:
            found.append([])
        else:
            found[-1].append(1e-9 * one)
    return found, max(rest, 0.0)


def simulated(segments: Sequence[float], threads: int) -> float:
    """Return the seconds of a nest on many threads that take from each other's ranges."""
    count = len(segments)
    threads = min(threads, count)
    ranges = [
        list(segments[count * k // threads : count * (k + 1) // threads]) for k in range(threads)
    ]
    ends = [0.0] * threads
    waiting = {*range(threads)}
    while waiting:
        mine = min(waiting, key=ends.__getitem__)
        places = ((mine + k) % threads for k in range(threads))
        found = next((place for place in places if ranges[place]), None)
        if found is None:
            waiting.discard(mine)
        else:
            ends[mine] += ranges[found].pop(0)
    return max(ends) + BEGIN + EACH * max(threads - 2, 0)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cores", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds, rougher figures")
    parser.add_argument("--elements", metavar="N", type=int, default=N)
    parser.add_argument("--into", metavar="PAGE", type=Path, help="write the table into this page")
    options = parser.parse_args(argv)
    others = f"{os.cpu_count()} cores, {os.getloadavg()[0]:.1f} other programs at work"
    rows: list[list[str]] = []
    for title, function, argnums, args in programs(np.random.default_rng(SEED), options.elements):
        print(f"{title} ...", file=sys.stderr, flush=True)
        gradient = gw.grad(function, argnums)
        runs: dict[str, Callable[[], object]] = {}
        for threads in (1, 2):
            compiled = gw.compile(gradient, engine="c", threads=threads)
            compiled(*args)
            runs[str(threads)] = partial(compiled, *args)
        best = interleave(runs, QUICK if options.quick else FULL)
        found, rest = nests(gradient, args, 3 if options.quick else 10)
        split = sum(map(sum, found))
        whole = rest + split
        ahead = [
            whole / (rest + sum(simulated(segments, threads) for segments in found))
            for threads in MANY
        ]
        share = f"{100 * split / whole:.0f} %"
        rows.append(
            [title, f"{1e3 * best['1']:.2f} ms", number(best["1"] / best["2"]), share]
            + [number(one) for one in ahead]
        )
    head = ["gradient", "one thread", "two threads", "split", *(f"{n} (model)" for n in MANY)]
    print(f"{others}\n\n{table(head, rows)}")
    if options.into is not None:
        what = machine([by_hand()], options.quick).replace("one thread, ", "")
        put_into(options.into, "cores", head, rows, [f"{what}; {others}"])
    return 0


if __name__ == "__main__":
    start = perf_counter()
    status = main()
    print(f"{perf_counter() - start:.0f} s", file=sys.stderr)
    sys.exit(status)
