"""Write `compiled-gallery.md`: programs, and their gradients as `gw.compile` writes them.

python docs/make_compiled.py            write the page
python docs/make_compiled.py --check    fail, and show the difference, if the page is not current
"""

from __future__ import annotations

import argparse
import difflib
import inspect
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import ndtr

import gradwrap as gw

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["PROGRAMS", "Program", "compiled", "main", "page"]

PAGE = Path(__file__).parent / "compiled-gallery.md"
HEAD = """\
<!-- Written by `python docs/make_compiled.py` from the programs in it. Do not edit it here. -->

# Gallery of compiled gradients

This page shows five programs, and the source that [`gw.compile`](compile.md) writes for their
gradients with the numpy engine. `python docs/make_compiled.py` writes this page. The tests fail if
it is not up to date; they also run each source by itself and compare it with `gw.grad`.

Values of the program are called `t`, cotangents `g`, buffers that are kept between calls `w`,
values of one iteration of a loop `r`, and constants `c`. A comment at each loop names the line of
the program that the loop comes from, or says that it belongs to the backward pass.
"""


def rosenbrock(x: Any) -> Any:
    """Add up the terms of Rosenbrock's function, one after the other."""
    total = 0.0
    for i in range(len(x) - 1):
        total = total + 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    return total


def tracking_error(x: Any) -> Any:
    """Return the squared distance of a signal from its exponential average."""
    level = x[0]
    total = 0.0
    for i in range(1, len(x)):
        level = 0.8 * level + 0.2 * x[i]
        total = total + (x[i] - level) ** 2
    return total


def heat(u: Any, rate: Any) -> Any:
    """Return the square of a temperature after 40 explicit steps, written in place."""
    u = 1.0 * u
    for _ in range(40):
        u[1:-1] += rate * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u * u)


def robust_fit(slope: Any, x: Any, y: Any) -> Any:
    """Return the squares of errors; if one is large, a sum that grows more slowly."""
    error = y - slope * x
    if np.max(np.abs(error)) > 1.0:
        error = np.sqrt(1.0 + error**2) - 1.0
    return np.sum(error * error)


def call_options(spot: Any, sigma: Any) -> Any:
    """Return the value of call options by the formula of Black and Scholes."""
    d1 = (np.log(spot / 100.0) + 0.02 + 0.5 * sigma**2) / sigma
    return np.sum(spot * ndtr(d1) - 100.0 * np.exp(-0.02) * ndtr(d1 - sigma))


class Program(NamedTuple):
    """A program, the arguments it is differentiated at, and what there is to say about it."""

    title: str
    function: Callable[..., Any]
    calls: Sequence[tuple[Any, ...]]
    argnums: int | tuple[int, ...]
    before: str
    after: str


PROGRAMS = (
    Program(
        "A sum by a loop",
        rosenbrock,
        [(np.linspace(0.5, 1.5, 30),)],
        0,
        "This is the definition from textbooks, with a loop over elements.",
        "The loop has disappeared: no iteration needs the result of another, so all of them are "
        "computed at once on slices. The additions to the gradient at `x[i]` and `x[i + 1]` become "
        "additions to two slices.",
    ),
    Program(
        "A recursive filter",
        tracking_error,
        [(np.sin(np.arange(50.0)),)],
        0,
        "Each level depends on the previous level, so this cannot be vectorised as a whole.",
        "Two short loops remain, one forward and one backward; each performs only the recurrence. "
        "Everything else, such as the differences and their squares, is computed on whole arrays.",
    ),
    Program(
        "The heat equation, in place",
        heat,
        [(np.sin(np.arange(60.0)), np.float64(0.2))],
        (0, 1),
        "The stencil reads and writes the same array; `rate` is an unknown parameter.",
        "The loop over time remains. The derivative with respect to `rate` needs one row per step; "
        "these rows are kept in one array, and the products with it are computed for all steps at "
        "once, after the backward loop.",
    ),
    Program(
        "A branch",
        robust_fit,
        [
            (np.float64(1.0), np.arange(5.0), np.arange(5.0) + 0.1),
            (np.float64(3.0), np.arange(5.0), np.arange(5.0) + 0.1),
        ],
        0,
        "The first call takes one branch, the second call the other.",
        "The `if` of the function is an `if` of the source, directly after the value that it "
        "tests. Each branch has its own backward pass.",
    ),
    Program(
        "The Greeks of options",
        call_options,
        [(np.linspace(80.0, 120.0, 7), np.full(7, 0.2))],
        (0, 1),
        "The derivatives with respect to `spot` and `sigma` are called delta and vega.",
        "Each line writes into a buffer that is free at that point. The density of the normal "
        "distribution is the derivative of `ndtr`.",
    ),
)


def compiled(program: Program) -> Any:
    """Return a program's compiled gradient, after its calls."""
    scope: dict[str, Any] = {"np": np, "ndtr": ndtr}
    exec(text_of(program), scope)  # noqa: S102  so that its lines are counted as they are shown
    function: Any = scope[program.function.__name__]
    gradient: Any = gw.compile(gw.grad(function, program.argnums))
    for args in program.calls:
        gradient(*args)
        gradient.check(*args)
    return gradient


def text_of(program: Program) -> str:
    """Return the text of a program, without types."""
    return inspect.getsource(program.function).replace(": Any", "").replace(" -> Any", "").strip()


def page() -> str:
    """Return the text of the page."""
    parts = [HEAD]
    for program in PROGRAMS:
        parts += [
            f"## {program.title}",
            program.before,
            f"```python\n{text_of(program)}\n```",
            "Its gradient:",
            f"```python\n{compiled(program).source.strip()}\n```",
            program.after,
        ]
    prose = [
        part.strip() if part[0] in "`#<" else textwrap.fill(part, 100, break_on_hyphens=False)
        for part in parts
    ]
    return "\n\n".join(prose) + "\n"


def main(argv: Sequence[str] | None = None) -> int:
    """Write the page, or compare it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only compare")
    text = page()
    if not parser.parse_args(argv).check:
        PAGE.write_text(text, encoding="utf-8")
        return 0
    old = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    difference = difflib.unified_diff(old.splitlines(True), text.splitlines(True), "page", "now")
    sys.stdout.writelines(difference)
    return int(old != text)


if __name__ == "__main__":
    sys.exit(main())
