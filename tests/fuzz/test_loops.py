"""Random programs with long loops: `python -m tests.fuzz.loops` runs more of them."""

from __future__ import annotations

from collections import Counter

from tests.fuzz.loops import run

COUNT = 24


def test_programs_with_long_loops_give_what_eager_gives() -> None:
    fates: Counter[str] = Counter()
    for seed in range(COUNT):
        outcome = run(seed)
        assert not outcome.problem, outcome.problem
        fates[outcome.fate] += 1
    assert fates["extrapolated from"] > COUNT / 5
