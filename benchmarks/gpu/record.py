"""Write a run as a section of `docs/gpu.md`, and say which bounds it meets or misses."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from ..report import LEFT_OUT, against, milliseconds, number, table
from .candidates import HAND, OWN
from .graphs import GraphResult
from .measuring import Measured, Peak
from .programs import ProgramResult
from .testing import Outcome, Swept

HERE = "<!-- records: the newest first -->"
NONE_YET = ("<!-- none yet -->", "<!-- until here -->")
NOT_WANTED = "as `--no-tests` says"
FAILURES_SHOWN = 20


@dataclass(frozen=True)
class Record:
    """The results of a run."""

    when: datetime
    command: str
    machine: Mapping[str, str]
    versions: Mapping[str, str]
    titles: Mapping[str, str]
    """The candidates' names, and their titles in the table."""
    measured: Sequence[Measured]
    tests: Outcome | str
    """The outcome of the tests, or why none was run."""
    kernels: Swept | str = NOT_WANTED
    """The outcome of the sweep of kernels, or why it was not run."""
    programs: Sequence[ProgramResult] = ()
    graphs: Sequence[GraphResult] = ()
    faults: Sequence[str] = ()
    notes: Sequence[str] = field(default_factory=tuple)


def section(record: Record) -> str:
    """Return a record as a section in Markdown."""
    blocks = [
        f"### {record.when:%Y-%m-%d %H:%M} UTC, {record.machine['device']}",
        f"`{record.command}`",
        "\n".join(f"- {name}: {value}" for name, value in record.machine.items()),
        ", ".join(f"{name} {version}" for name, version in record.versions.items()),
        _tests(record.tests),
        _kernels(record.kernels),
    ]
    if record.measured:
        blocks += [_times(record), _memory(record.measured)]
    blocks += [_programs(record.programs), _graphs(record.graphs)]
    remarks = [*record.faults, *record.notes]
    if remarks:
        blocks.append("\n".join(f"- {remark}" for remark in remarks))
    missed = list(misses(record))
    verdict = "nothing is missed" if not missed else "missed: " + "; ".join(missed)
    blocks.append(f"**Verdict**: {verdict}.")
    return "\n\n".join(block for block in blocks if block)


def insert(page: str, text: str) -> str:
    """Return the page with one more section, above the existing ones."""
    if HERE not in page:
        raise ValueError(f"the page has no line {HERE!r}, below which records are entered")
    start, end = NONE_YET
    if start in page:
        before, _, rest = page.partition(start)
        page = before.rstrip("\n") + "\n" + rest.partition(end)[2]
    above, _, below = page.partition(HERE)
    return f"{above}{HERE}\n\n{text}\n\n{below.strip()}".rstrip("\n") + "\n"


def misses(record: Record) -> Iterator[str]:
    """Yield everything that failed or missed its bound, in the order of the page."""
    yield from _untested(record.tests)
    yield from _unswept(record)
    yield from (fault.partition(":")[0] for fault in record.faults)
    for row in record.measured:
        for what in _bounds(row, record.titles):
            if what.endswith("NOT MET"):
                yield f"{row.title} {what}"
        peak = row.peak
        if peak is not None and peak.bound is not None and peak.own > peak.bound * peak.by_hand:
            yield f"memory of {row.title}"


def _unswept(record: Record) -> Iterator[str]:
    """Yield what went wrong with kernels, programs and graphs."""
    kernels = record.kernels
    if isinstance(kernels, Swept):
        if kernels.failed:
            yield f"{len(kernels.failed)} kernels failed"
    elif kernels != NOT_WANTED:
        yield f"kernels: {kernels}"
    results: list[ProgramResult | GraphResult] = [*record.programs, *record.graphs]
    yield from (one.title for one in results if one.fault is not None)
    yield from (f"{one.title} waits {one.waits} times" for one in record.programs if one.waits)


def _untested(tests: Outcome | str) -> Iterator[str]:
    if isinstance(tests, Outcome):
        if tests.failed:
            yield f"{len(tests.failed)} tests failed"
        if tests.not_run:
            yield f"{len(tests.not_run)} files of tests could not be run"
        if not tests.finished:
            yield "the tests did not come to an end"
        elif not tests.passed:
            yield "no test was run"
    elif tests != NOT_WANTED:
        yield f"no test was run: {tests}"


def _tests(tests: Outcome | str) -> str:
    if isinstance(tests, str):
        return f"Tests: not run, {tests}."
    counts = f"{tests.passed} passed, {len(tests.failed)} failed, {tests.skips} skipped"
    text = f"Tests: **{counts}**"
    if not tests.finished:
        text += ", and not all were run"
    lines = [text + "."]
    shown = tests.failed[:FAILURES_SHOWN]
    lines += [f"- failed: `{_one_line(failure)}`" for failure in shown]
    if len(shown) < len(tests.failed):
        lines.append(f"- and {len(tests.failed) - len(shown)} more")
    lines += [f"- skipped: {_one_line(reason)}" for reason in tests.skipped]
    lines += [f"- could not be run: {_one_line(reason)}" for reason in tests.not_run]
    return lines[0] + "\n\n" + "\n".join(lines[1:]) if lines[1:] else lines[0]


def _one_line(text: str) -> str:
    """Replace the characters of a test's name that would break the Markdown."""
    return " ".join(text.split()).replace("`", "'").replace("|", "/")


def _times(record: Record) -> str:
    others = [name for name in record.titles if name not in (HAND, OWN)]
    head = ["time over that by hand: of the best rounds (of the medians)"]
    head += [f"by hand, {record.titles[HAND]}", "gradwrap", *(record.titles[n] for n in others)]
    head.append("bounds")
    rows: list[list[str]] = []
    for row in record.measured:
        hand = row.times.get(HAND)
        cells = [row.title, LEFT_OUT if hand is None else milliseconds(hand.best)]
        for name in (OWN, *others):
            own = row.times.get(name)
            if hand is None or own is None:
                cells.append(LEFT_OUT)
            else:
                best, middle = own.best / hand.best, own.median / hand.median
                cells.append(f"{number(best)} ({number(middle)})")
        rows.append([*cells, ", ".join(_bounds(row, record.titles)) or LEFT_OUT])
    return table(head, rows)


def _bounds(row: Measured, titles: Mapping[str, str]) -> Iterator[str]:
    hand, own = row.times.get(HAND), row.times.get(OWN)
    if hand is None or own is None:
        if row.bound is not None or row.not_slower_than:
            yield "not measured: NOT MET"
        return
    if row.bound is not None:
        yield against(own.best / hand.best, row.bound)
    for name in row.not_slower_than:
        if name in row.times:
            verdict = "met" if own.best <= row.times[name].best else "NOT MET"
            yield f"<= {titles[name]} {verdict}"


def _memory_bound(peak: Peak) -> str:
    ratio = round(peak.own / peak.by_hand, 3) if peak.by_hand else float("inf")
    return f"{ratio:.2f}, no bound" if peak.bound is None else against(ratio, peak.bound)


def _kernels(swept: Swept | str) -> str:
    if isinstance(swept, str):
        return f"Kernels against NumPy: not run, {swept}."
    lines = [f"- failed: {_one_line(failure)}" for failure in swept.failed[:FAILURES_SHOWN]]
    head = f"Kernels against NumPy: {swept.summary}."
    return "\n\n".join([head, "\n".join(lines)]) if lines else head


def _programs(programs: Sequence[ProgramResult]) -> str:
    """Return the table of unmodified programs."""
    rows = [
        [
            one.title,
            LEFT_OUT if one.seconds is None else milliseconds(one.seconds),
            LEFT_OUT if one.waits is None else str(one.waits),
            "as NumPy's" if one.fault is None else f"FAILED: {_one_line(one.fault)}",
        ]
        for one in programs
    ]
    return table(["program in CuPy", "gradient", "waits", "values"], rows) if rows else ""


def _graphs(graphs: Sequence[GraphResult]) -> str:
    """Return the table of captured graphs."""
    rows: list[list[str]] = []
    for one in graphs:
        if one.plainly is None or one.as_graph is None:
            rows.append([one.title, LEFT_OUT, LEFT_OUT, f"FAILED: {_one_line(str(one.fault))}"])
            continue
        times = [milliseconds(one.plainly), milliseconds(one.as_graph)]
        rows.append([one.title, *times, number(one.as_graph / one.plainly)])
    return table(["step", "launched", "CUDA graph", "graph / launched"], rows) if rows else ""


def _memory(measured: Sequence[Measured]) -> str:
    rows = [
        [
            row.title,
            f"{row.peak.by_hand / 2**20:.1f} MiB",
            f"{row.peak.own / 2**20:.1f} MiB",
            _memory_bound(row.peak),
        ]
        for row in measured
        if row.peak is not None
    ]
    head = ["most memory in use during a step", "by hand", "gradwrap", "bound over by hand"]
    return table(head, rows) if rows else ""
