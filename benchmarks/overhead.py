"""``python -m benchmarks.overhead`` measures costs that the time of a gradient does not show.

These are the time that ``import gradwrap`` adds to the imports it needs, the time that one call
through NumPy's dispatch adds, and whether a long tape is walked, and freed, in linear time.
"""

import gc
import subprocess
import sys
from time import perf_counter
from typing import Any

import numpy as np

from .report import against, number, table
from .timing import sample

IMPORT = """
from time import perf_counter
import sys
import numpy, array_api_compat, optree
start = perf_counter()
import gradwrap
print(1e3 * (perf_counter() - start))
print(*sorted({"torch", "jax", "cupy", "dask", "ndonnx", "sparse", "array_api_strict", "scipy"}
              & set(sys.modules)))
"""
IMPORT_ROUNDS = 7
CALLS = 500
ROUNDS = 15
SHORT, LONG = 100_000, 1_000_000
SLACK = 1.2  # for a linear time, measured on a machine that does other things too


def main() -> int:
    """Print the table."""
    rows: list[list[str]] = []

    def add(title: str, value: float, unit: str, bound: float) -> None:
        measured = str(value) if isinstance(value, int) else number(value)
        rows.append([title, f"{measured}{unit}", against(value, bound)])

    milliseconds, loaded = import_time()
    add("import gradwrap, beyond NumPy, array_api_compat, optree", milliseconds, " ms", 50)
    add("other array libraries that it imports", loaded, "", 0)
    add("np.concatenate of two tracked arrays of 2,000, beyond plain", concatenate(), " us", 20)
    short, _ = chain(SHORT)
    long, kept = chain(LONG)
    growth = f"backward of a chain of {LONG:,} ops / of {SHORT:,}"
    add(growth, long / short, "", SLACK * LONG / SHORT)
    add("blocks of memory kept afterwards, collector off, per 1,000 ops", kept, "", 0.1)
    print(table(["overhead", "measured", "bound"], rows))
    return 0


def import_time() -> tuple[float, int]:
    """Return the least milliseconds over fresh processes, and the count of other libraries."""
    fresh = [sys.executable, "-c", IMPORT]
    least, names = float("inf"), ""
    for _ in range(IMPORT_ROUNDS):
        done = subprocess.run(fresh, check=True, capture_output=True, text=True)
        first, names = done.stdout.split("\n")[:2]
        least = min(least, float(first))
    return least, len(names.split())


def concatenate() -> float:
    """Return the microseconds that tracking adds to one call."""
    import gradwrap as gw

    a, b = np.arange(2000.0), np.ones(2000)
    v, w = gw.wrap(a, requires_grad=True), gw.wrap(b, requires_grad=True)
    # NumPy's stubs do not say that it passes the call on to the arrays' own type.
    call: Any = np.concatenate
    plain, tracked = float("inf"), float("inf")
    for _ in range(ROUNDS):
        plain = min(plain, sample(lambda: call([a, b]), CALLS))
        tracked = min(tracked, sample(lambda: call([v, w]), CALLS))
    return 1e6 * (tracked - plain)


def chain(length: int) -> tuple[float, float]:
    """Return the seconds of a backward pass, and the blocks kept afterwards per 1,000 ops."""
    import gradwrap as gw

    best, kept = float("inf"), 0.0
    gc.collect()
    gc.disable()
    try:
        for _ in range(3):
            before = sys.getallocatedblocks()
            y = x = gw.wrap(np.ones(1), requires_grad=True)
            for _ in range(length):
                y = y * 0.999999
            start = perf_counter()
            y.backward(np.ones(1))
            best = min(best, perf_counter() - start)
            del x, y
            kept = (sys.getallocatedblocks() - before) * 1000 / length
    finally:
        gc.enable()
    return best, kept


if __name__ == "__main__":
    sys.exit(main())
