"""Run many programs, in several processes, and enter what came of them in `docs/`."""

from __future__ import annotations

import datetime as dt
import multiprocessing
import subprocess
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from tests.fuzz.checks import Outcome, judge, normal
from tests.fuzz.minimise import error_of, minimised, script, words
from tests.fuzz.programs import Program, generate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PAGE = Path(__file__).parents[2] / "docs" / "random-programs.md"
HERE = "<!-- records: the newest first -->"
CHUNK = 50


@dataclass
class Findings:
    """What came of a number of programs."""

    programs: int = 0
    verdicts: Counter[str] = field(default_factory=Counter[str])
    refusals: Counter[str] = field(default_factory=Counter[str])
    failures: list[tuple[Program, Outcome]] = field(default_factory=list[tuple[Program, Outcome]])

    def add(self, other: Findings) -> None:
        self.programs += other.programs
        self.verdicts += other.verdicts
        self.refusals += other.refusals
        self.failures += other.failures


def find(seeds: Iterable[int]) -> Findings:
    """Judge the programs of some seeds. The worst outcome of its transforms is the program's."""
    found = Findings()
    for seed in seeds:
        program = generate(seed)
        outcomes = judge(program)
        found.programs += 1
        for verdict in ("failed", "refused", "skipped", "right"):
            if any(o.verdict == verdict for o in outcomes):
                found.verdicts[verdict] += 1
                break
        for outcome in outcomes:
            if outcome.verdict == "failed":
                found.failures.append((program, outcome))
            elif outcome.verdict == "refused":
                found.refusals[normal(outcome.detail)[:90]] += 1
    return found


def find_all(start: int, count: int, jobs: int) -> Iterator[Findings]:
    """Yield what came of the programs, a chunk at a time."""
    chunks = [
        range(first, min(first + CHUNK, start + count))
        for first in range(start, start + count, CHUNK)
    ]
    if jobs == 1:
        yield from map(find, chunks)
        return
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        yield from pool.imap_unordered(find, chunks)


def distinct(failures: Iterable[tuple[Program, Outcome]], most: int) -> list[tuple[int, str]]:
    """Return the scripts of minimised failures, one for each cause, with how often it was met.

    A cause is a kind of failure, and the functions of the smallest program. Of failures with one
    message at most so many are minimised; the others count for the one that is met most often.
    """
    alike: dict[str, list[tuple[Program, Outcome]]] = {}
    for program, outcome in failures:
        key = f"{outcome.kind} {error_of(outcome) if 'error' in outcome.kind else ''}"
        alike.setdefault(key, []).append((program, outcome))
    found: list[tuple[int, str]] = []
    for pairs in alike.values():
        counts: Counter[frozenset[str]] = Counter()
        scripts: dict[frozenset[str], str] = {}
        for program, outcome in pairs[:most]:
            small = minimised(program, outcome)
            last = next((o for o in judge(small) if o.verdict == "failed"), outcome)
            text = script(small, last)
            made_of = words(small)
            counts[made_of] += 1
            if len(text) < len(scripts.get(made_of, text + " ")):
                scripts[made_of] = text
        (often, _), *_ = counts.most_common(1)
        counts[often] += max(0, len(pairs) - most)
        found += [(count, scripts[made_of]) for made_of, count in counts.items()]
    return sorted(found, reverse=True)


def commit() -> str:
    """Return the commit that is checked out."""
    return _git("rev-parse", "--short", "HEAD") + ("+" if _git("status", "-s", "src") else "")


def _git(*words: str) -> str:
    done = subprocess.run(
        ("git", *words),  # noqa: S607  the one on the path
        cwd=PAGE.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip()


def record(found: Findings, start: int) -> str:
    """Return the row of the page for a run."""
    today = dt.datetime.now(dt.UTC).date()
    cells = [
        str(today),
        commit(),
        np.__version__,
        f"{start:,} to {start + found.programs - 1:,}",
        *(f"{found.verdicts[v]:,}" for v in ("right", "refused", "skipped", "failed")),
    ]
    return f"| {' | '.join(cells)} |"


def enter(row: str) -> None:
    """Put a row on the page, below the marker."""
    text = PAGE.read_text(encoding="utf-8")
    head, marker, rest = text.partition(HERE)
    if not marker:
        raise ValueError(f"the page has no line {HERE!r}")
    table, _, rows = rest.partition("---: |\n")
    PAGE.write_text(f"{head}{marker}{table}---: |\n{row}\n{rows}", encoding="utf-8")
