"""Each comment that overrules a checker names a code and a reason; docs/design.md counts them."""

from __future__ import annotations

import functools
import io
import re
import tokenize
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("src", "tests", "docs", "examples", "benchmarks")
FILES = [ROOT / "noxfile.py", ROOT / "conftest.py"]
FILES += sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
WRONG = (ROOT / "tests" / "tools" / "typing", ROOT / "tests" / "tools" / "downstream")
"""Files whose lines are there to be refused: the module's docstring is the reason."""

TYPE = re.compile(r"(type|pyright): ignore(?:\[([\w, -]+)\])?")
WHOLE = re.compile(
    r"# ?(type: ignore$|ruff: noqa|pyright: (basic|standard|ignore$)|mypy: (?!disable-error-code=))"
)
WORDS = ("noqa", "ignore", "pyright:", "mypy:")
"""Every comment that overrules a checker has one of them."""
NOQA = re.compile(r"noqa(?:: ([A-Z]+\d+(?:, ?[A-Z]+\d+)*))?")


@functools.cache
def comments(path: Path) -> list[tuple[int, str]]:
    """List the comments of a file if any may overrule a checker."""
    text = path.read_text()
    if not any(word in text for word in WORDS):
        return []
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return [(t.start[0], t.string) for t in tokens if t.type == tokenize.COMMENT]


def ignores(path: Path) -> list[tuple[int, str, str, str]]:
    """List the comments that overrule a checker: line, checker, codes, and the rest of the text."""
    found: list[tuple[int, str, str, str]] = []
    for line, text in comments(path):
        parts = [part.strip() for part in text.split("#")[1:]]
        marks = [(part, TYPE.match(part) or NOQA.match(part)) for part in parts]
        reason = " ".join(
            part[mark.end() :].strip() if mark else part for part, mark in marks
        ).strip()
        for _, mark in marks:
            if mark is not None:
                kind, codes = mark.groups() if mark.re is TYPE else ("noqa", mark[1])
                found.append((line, str(kind), codes or "", reason))
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_each_has_its_code_and_its_reason(path: Path) -> None:
    is_subject = any(folder in path.parents for folder in WRONG)
    bare = [
        f"{path.relative_to(ROOT)}:{line}"
        for line, _, codes, reason in ignores(path)
        if not codes or not (reason or is_subject)
    ]
    assert bare == []
    for line, text in comments(path):  # nor is one overruled for the whole file
        assert not WHOLE.match(text), f"{path}:{line}"


def test_the_counts_in_the_design_are_right() -> None:
    counts: Counter[str] = Counter()
    for path in FILES:
        if (ROOT / "src") in path.parents:
            counts.update(kind for _, kind, _, _ in ignores(path))
    page = (ROOT / "docs" / "design.md").read_text()
    said = re.search(r"In `src` mypy is overruled \d+ times and pyright \d+ times", page)
    right = (
        f"In `src` mypy is overruled {counts['type']} times and pyright {counts['pyright']} times"
    )
    assert said is not None
    assert said[0] == right
