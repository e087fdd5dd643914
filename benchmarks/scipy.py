"""``python -m benchmarks.scipy [words]``: gradients of SciPy's functions, at their test samples.

For each row of the table: the processor time of SciPy's function on plain arrays, that of its
gradient in all arguments, and the gradient as a multiple of the function and of the gradient of
`sum(x * x)` in the same arguments, the cheapest that NumPy's functions have. The slowest first.
The last column has the calls of gradwrap's own Python functions in one gradient.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from importlib import import_module
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

sys.path[:0] = [str(Path(__file__).parents[1] / "tests" / part) for part in ("scipy", "support")]

import gradwrap as gw  # noqa: E402  after the path
from gradwrap.scipy.doors import dispatcher  # noqa: E402  after the path
from gradwrap.scipy.table import Row, all_rows  # noqa: E402  after the path

from .counting import called_code  # noqa: E402  likewise

SAMPLES: Any = import_module("samples").SAMPLES  # of the tests
OPTIONS: Any = import_module("scipy_options")  # likewise
RANDOM: Any = import_module("scipy_samples").Random  # likewise

if TYPE_CHECKING:
    from collections.abc import Callable

CALLS = 5
SECONDS = 0.02
PACKAGE = str(Path(gw.__file__).parent)


class Line(NamedTuple):
    """The times of one row, in microseconds."""

    path: str
    kind: str
    primal: float
    gradient: float
    cheapest: float
    frames: int
    """The calls of gradwrap's Python functions in one gradient."""

    def __str__(self) -> str:
        return (
            f"{self.path:42} {self.kind:14} {self.primal:10.1f} {self.gradient:10.1f} "
            f"{self.gradient / self.primal:8.1f} {self.gradient / self.cheapest:8.1f} "
            f"{self.frames:8}"
        )


def measured(row: Row) -> Line | None:
    """Measure a row at its first sample; None where it has no floating-point argument."""
    case: Any = OPTIONS.Case(row, SAMPLES[row.path](RANDOM())[0], {})
    values: list[Any] = [case.sample.args[place] for place in OPTIONS.places_of(case.sample)]
    if not values:
        return None
    every = tuple(range(len(values)))
    native: Any = OPTIONS.total_of(case, row.original)
    ours: Any = OPTIONS.total_of(case, dispatcher(row.path))

    def squares(*xs: Any) -> Any:
        parts: list[Any] = [x * x for x in xs]
        return sum(part.real.sum() for part in parts)

    gradient, cheapest = gw.grad(ours, every), gw.grad(squares, every)
    runs: list[Callable[[], Any]] = [
        lambda: native(*values),
        lambda: gradient(*values),
        lambda: cheapest(*values),
    ]
    primal, slope, least = map(microseconds, runs)
    return Line(row.path, row.kind.name, primal, slope, least, frames_of(runs[1]))


def frames_of(run: Callable[[], Any]) -> int:
    """Return the number of calls of gradwrap's Python functions."""
    own = (PACKAGE, "<gradwrap")
    return sum(code.co_filename.startswith(own) for code in called_code(run))


def microseconds(run: Callable[[], Any]) -> float:
    """Return the least time of some calls, after one that fills the caches."""
    run()
    found: list[float] = []
    while len(found) < CALLS or (sum(found) < SECONDS and len(found) < 10 * CALLS):
        start = process_time()
        run()
        found.append(process_time() - start)
    return 1e6 * min(found)


def main() -> int:
    """Print a line for each row, the slowest gradients first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*", help="parts of the names of rows; all without any")
    parser.add_argument("--by", choices=("ratio", "frames"), default="ratio", help="the order")
    given = parser.parse_args()
    words = given.words
    lines: list[Line] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for row in all_rows():
            if row.path in SAMPLES and (not words or any(word in row.path for word in words)):
                line = measured(row)
                lines += [] if line is None else [line]
    by_frames = given.by == "frames"
    lines.sort(key=lambda one: one.frames if by_frames else one.gradient / one.primal, reverse=True)
    print(
        f"{'':57} {'function':>10} {'gradient':>10} {'/ function':>8} {'/ NumPy':>8} {'frames':>8}"
    )
    for line in lines:
        print(line)
    ratio = np.median([one.gradient / one.primal for one in lines])
    frames = np.median([one.frames for one in lines])
    print(f"{len(lines)} rows; median {ratio:.1f} times the function, {frames:.0f} frames")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
