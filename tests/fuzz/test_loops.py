"""Random programs with long loops: `python -m tests.fuzz.loops` runs more of them."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.fuzz.loops import EXTRAPOLATED, run

from sampling import LONG

CHUNK = 4


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["numpy", "c"])
def test_programs_with_triangular_loops_give_what_eager_gives(engine: str) -> None:
    outcomes = [run(seed, engine, kind="triangular") for seed in range(2)]
    problems = [one.problem for one in outcomes if one.problem]
    assert not problems, problems


@pytest.mark.parametrize("start", [0, *(pytest.param(n, marks=LONG) for n in (9, 16))])
def test_programs_that_keep_values_give_what_eager_gives(start: int) -> None:
    outcomes = [run(seed, kind="keeping") for seed in range(start, start + 3)]
    problems = [one.problem for one in outcomes if one.problem]
    assert not problems, problems


@pytest.mark.parametrize(
    "start",
    [
        pytest.param(n, marks=() if n == 8 else LONG)  # the first quick ones
        for n in range(0, 24, CHUNK)
    ],
)
def test_programs_with_long_loops_give_what_eager_gives(start: int) -> None:
    fates: Counter[str] = Counter()
    for seed in range(start, start + CHUNK):
        outcome = run(seed)
        assert not outcome.problem, outcome.problem
        fates[outcome.fate] += 1
    assert sum(fates[one] for one in EXTRAPOLATED) > CHUNK / 5
