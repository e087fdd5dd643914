"""Write the table: one row per workload, aligned as text and valid as Markdown."""

from collections.abc import Sequence

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


def number(value: float) -> str:
    """Return a number with three significant digits, and without an exponent."""
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def milliseconds(seconds: float) -> str:
    """Return a time in milliseconds, with its unit."""
    return f"{number(1e3 * seconds)} ms"


def against(value: float, bound: float | None) -> str:
    """Return ``<= bound`` and whether the value meets it; an empty text if there is no bound."""
    if bound is None:
        return ""
    return f"<= {bound:g} {'met' if value <= bound else 'NOT MET'}"
