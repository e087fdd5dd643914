"""Random programs with loops, compiled: `python -m tests.fuzz.compiled` runs more of them."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from tests.fuzz.compiled import difference, run

from sampling import LONG

CHUNK = 25


@pytest.mark.parametrize(
    "start", [0, *(pytest.param(n, marks=LONG) for n in range(CHUNK, 100, CHUNK))]
)
def test_compiled_programs_give_what_eager_gives(
    start: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADWRAP_CHECK", "1")
    fates: Counter[str] = Counter()
    for seed in range(start, start + CHUNK):
        outcome = run(seed)
        assert not outcome.problem, outcome.problem
        fates[outcome.fate] += 1
    assert fates["rolled"] > CHUNK / 5
    assert fates["rolled"] + fates["compiled"] > CHUNK * 0.8


def test_differences_are_found() -> None:
    x = np.linspace(0.0, 1.0, 5)
    assert difference([x], [x + 1e-16]) == ""
    assert "away" in difference([x], [x + 1e-9])
    assert "float32" in difference([x], [x.astype(np.float32)])
    assert "float64 in place of ndarray" in difference([np.array(1.0)], [np.float64(1.0)])
    assert "structure" in difference([x], (x,))
