"""Write the table: one row per workload, aligned as text and valid as Markdown."""

import math
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

LEFT_OUT = "-"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table with aligned columns, the first of them left-aligned."""
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]

    def line(cells: Sequence[str]) -> str:
        padded = [
            cell.rjust(width) if i else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return "| " + " | ".join(padded) + " |"

    rule = [("-" * (width - 1) + ":") if i else "-" * width for i, width in enumerate(widths)]
    return "\n".join([line(head), line(rule), *map(line, rows)])


ONLY_PRINTED = ("bound", "peak of the base, kB")
"""The columns that pages do not have."""


def put_into(
    page: Path,
    name: str,
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    remarks: Sequence[str],
) -> None:
    """Write a table, and what there is to remark, into a page: between the marks of its name.

    Raises
    ------
    ValueError
        The page has no such marks.
    """
    begin, end = f"<!-- begin: {name} -->\n", f"<!-- end: {name} -->"
    text = page.read_text(encoding="utf-8")
    if begin not in text or end not in text:
        raise ValueError(f"{page} lacks the lines {begin.strip()} and {end}")
    shown = [i for i, title in enumerate(head) if title not in ONLY_PRINTED]
    found = table(
        [head[i] for i in shown],
        [[re.sub(r" \([\d.]+\)$", "", row[i]) for i in shown] for row in rows],
    )
    now = f"Measured on {datetime.now(tz=UTC):%Y-%m-%d}: {remarks[0]}."
    parts = [f"{begin}\n{now}", found, "\n".join(f"- {remark}" for remark in remarks[1:])]
    before, _, rest = text.partition(begin)
    after = rest.partition(end)[2]
    new = "\n\n".join(part for part in parts if part)
    page.write_text(f"{before}{new}\n\n{end}{after}", encoding="utf-8")


def number(value: float) -> str:
    """Return a number with two or three significant digits, and without an exponent."""
    digits = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 0.1 else 3
    return f"{value:.{digits}f}"


def milliseconds(seconds: float) -> str:
    """Return a time in milliseconds, with its unit."""
    return f"{number(1e3 * seconds)} ms"


def seconds_or_less(seconds: float | None) -> str:
    """Return a time in seconds, in milliseconds if it is short."""
    if seconds is None:
        return LEFT_OUT
    return f"{number(seconds)} s" if seconds >= 1 else f"{1e3 * seconds:.0f} ms"


def compared(
    times: Mapping[str, Mapping[str, float]], one: str, other: str, titles: Mapping[str, str]
) -> str:
    """Say how often one candidate is at least as fast as another, and by how much on the whole.

    `times` has the seconds of the candidates, by workload; those that lack one do not count.
    `titles` are what to call candidates.
    """
    ratios = {
        name: found[one] / found[other] for name, found in times.items() if {one, other} <= {*found}
    }
    if not ratios:
        return ""
    mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
    ahead = [name for name, ratio in ratios.items() if ratio <= 1]
    return (
        f"{titles[one]} over {titles[other]}: geometric mean {number(mean)}; at least as fast on "
        f"{len(ahead)} of {len(ratios)}: {', '.join(ahead) or 'none'}"
    )


def against(value: float, bound: float | None) -> str:
    """Return ``<= bound`` and whether the value meets it; an empty text if there is no bound."""
    if bound is None:
        return ""
    return f"<= {bound:g} {'met' if value <= bound else 'NOT MET'}"
