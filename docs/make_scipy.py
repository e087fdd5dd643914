"""Write `scipy.md`, the page of SciPy's public names, from the table of its rules.

python docs/make_scipy.py            write the page
python docs/make_scipy.py --check    fail if the page is not current
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import scipy.special

from gradwrap.core.table.registry import search_function
from gradwrap.scipy.dispatching import Constant, Refused
from gradwrap.scipy.kinds import ArrayApi
from gradwrap.scipy.table import Row, all_rows
from scipy_names import NAMES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PAGE = Path(__file__).parent / "scipy.md"
MARK = "<!-- What follows is written by `python docs/make_scipy.py`. Do not edit it here. -->\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page, or check it."""
    parser = argparse.ArgumentParser(description="Write docs/scipy.md.")
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    options = parser.parse_args(arguments)
    old = PAGE.read_text(encoding="utf-8")
    new = page(old)
    if options.check and new != old:
        print("docs/scipy.md is not what the table says. Fix: python docs/make_scipy.py")
        return 1
    if not options.check:
        PAGE.write_text(new, encoding="utf-8")
    return 0


def page(old: str) -> str:
    """Return the page: what is written by hand, and the table."""
    return old.partition(MARK)[0] + MARK + "".join(chapters()).rstrip("\n") + "\n"


def chapters() -> Iterator[str]:  # noqa: C901  one part of a chapter after the other
    """Yield a chapter for each submodule."""
    rows: dict[str, list[Row]] = {}
    for row in all_rows():
        rows.setdefault(row.path.rpartition(".")[0], []).append(row)
    for module in sorted({*rows, *NAMES}):
        yield f"\n### scipy.{module}\n\n"
        found = sorted(rows.get(module, []), key=lambda row: row.path)
        differentiable = [row for row in found if not isinstance(row.kind, Constant)]
        if differentiable:
            yield "| function | rule | |\n| --- | --- | --- |\n"
            for row in differentiable:
                kind = "array-API path" if isinstance(row.kind, ArrayApi) else row.kind.name
                yield f"| `{_name(row)}` | {kind} | {row.note} |\n"
            yield "\n"
        for row in found:
            if isinstance(row.kind, Refused):
                yield f"- Refused: `{_name(row)}`: {row.kind.why.partition(' Fix:')[0]}\n"
        reasons: dict[str, list[str]] = {}
        for row in found:
            if type(row.kind) is Constant:
                reasons.setdefault(f"No derivative ({row.kind.why})", []).append(_name(row))
        for why, names in NAMES.get(module, {}).items():
            for name in names.split():
                said = _of_ufunc(name) if why == "ufuncs" else why
                reasons.setdefault(said[0].upper() + said[1:], []).append(name)
        for why, listed in reasons.items():
            yield f"- {why}: {', '.join(f'`{name}`' for name in listed)}\n"


def _of_ufunc(name: str) -> str:
    """Tell if a ufunc has a rule."""
    if search_function(getattr(scipy.special, name)) is None:
        return "ufuncs without a rule: refused"
    return "ufuncs with a rule of gradwrap's own table"


def _name(row: Row) -> str:
    return row.path.rpartition(".")[2]


if __name__ == "__main__":
    sys.exit(main())
