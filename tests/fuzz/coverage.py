"""`python -m tests.fuzz.coverage`: call all of NumPy, and write docs/numpy-coverage.md."""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from tests.fuzz.numpy_calls import OTHER_METHODS, OTHERS
from tests.fuzz.sweep import Verdict, all_calls, try_call

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PAGE = Path(__file__).parents[2] / "docs" / "numpy-coverage.md"
HEAD = """\
<!-- Written by `python -m tests.fuzz.coverage`. Do not edit it here. -->

# NumPy, call by call

This page shows how gradwrap handles each public function of NumPy, of `np.linalg` and of
`np.fft`, and each method of its arrays. The tests make {calls:,} calls with many combinations of
arguments: on plain arrays, under `vjp` and under `jvp`. After a call, they write to the result
and to the arguments. The values, dtypes, types (a NumPy scalar or an array), strides, and the
effects of the writes must agree with NumPy, and the derivative must agree with differences of
values. `python -m tests.fuzz.coverage` writes this page, and the test suite runs one call in
five.

With NumPy {version}, {right:,} calls are right, {constant:,} are right and have no derivative,
{refused:,} raise an error of gradwrap that says what to write instead, and {failed:,} are wrong.
For {numpy:,} calls, NumPy raises an error, and gradwrap raises an error of the same class. For
{accepted:,} more, NumPy raises an error, and gradwrap returns a result; the end of the page lists
them. {skipped:,} calls are at a point where differences of values say nothing.

| column | calls that |
| --- | --- |
| right | give NumPy's result, and the right derivative |
| none | give NumPy's result, which has no derivative: integers, booleans, steps |
| refused | raise an error of gradwrap with a remedy; the last column shows the first such call |
| wrong | do anything else |

"""
TABLES = {
    "Functions": "np.",
    "With `import gradwrap.numpy as np`, which makes arrays that hold tracked values": "gradwrap.",
    "Methods and attributes of an array": "ndarray.",
}


def page(verdicts: Sequence[Verdict]) -> str:
    """Return the text of the page."""
    counts = Counter(verdict.kind for verdict in verdicts)
    text = HEAD.format(
        calls=len(verdicts),
        version=np.__version__,
        right=counts["right"],
        constant=counts["no derivative"],
        refused=counts["refused"],
        failed=counts["failed"],
        numpy=counts["NumPy refuses"],
        accepted=counts["accepted"],
        skipped=counts["skipped"],
    )
    by_name: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        by_name.setdefault(verdict.call.name, []).append(verdict)
    parts: list[str] = []
    for title, start in TABLES.items():
        chosen = {name: found for name, found in by_name.items() if name.startswith(start)}
        parts += [f"## {title}\n", table(chosen), ""]
    parts += [
        "## Calls that raise an error in NumPy, but not in gradwrap\n",
        *(f"- `{v.call.source}`" for v in verdicts if v.kind == "accepted"),
        "",
        "## Not called\n",
        *(f"- {why}: {listed(names)}" for why, names in (*OTHERS.items(), *OTHER_METHODS.items())),
    ]
    return text + "\n".join(parts) + "\n"


def table(by_name: dict[str, list[Verdict]]) -> str:
    """Return the rows of some names, in alphabetical order."""
    rows = ["| | right | none | refused | wrong | |", "| --- | ---: | ---: | ---: | ---: | --- |"]
    for name in sorted(by_name):
        counts = Counter(verdict.kind for verdict in by_name[name])
        cells = [counts[kind] or "" for kind in ("right", "no derivative", "refused", "failed")]
        rows.append(f"| `{name}` | {' | '.join(map(str, cells))} | {remark(by_name[name])} |")
    return "\n".join(rows)


def remark(verdicts: Iterable[Verdict]) -> str:
    """Return the first call that is wrong, or the first that is refused."""
    for kind in ("failed", "refused"):
        for verdict in verdicts:
            if verdict.kind == kind:
                source = verdict.call.source.replace("|", "\\|")
                return f"`{source}`" + (" is wrong" if kind == "failed" else "")
    return ""


def listed(names: str) -> str:
    return ", ".join(f"`{name}`" for name in names.split())


def main() -> int:
    """Make all calls and write the page; return 1 if a call was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.coverage", description=__doc__)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    options = parser.parse_args()
    calls = all_calls()
    if options.jobs == 1:
        verdicts = [try_call(call) for call in calls]
    else:
        with multiprocessing.get_context("spawn").Pool(options.jobs) as pool:
            verdicts = pool.map(try_call, calls, chunksize=50)
    PAGE.write_text(page(verdicts), encoding="utf-8")
    failed = [verdict for verdict in verdicts if verdict.kind == "failed"]
    for verdict in failed:
        print(f"{verdict.call.source}: {verdict.detail}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
