"""The sweep that compares compiled functions of packages with eager ones finds stale programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from benchmarks.wild.compiled import compiled, numbers

from packages import written

if TYPE_CHECKING:
    from pathlib import Path


POINT = [0.5, 1.5, 2.5]
CASES = {
    "right": """
        RATE = 2.0
        def run(x):
            y = [math.sin(v) if v < 2.0 else v**2 for v in x]
            return sum(y) * RATE + np.sum(x[::2])
        """,
    "eager": """
        def run(x):
            with np.errstate(divide="raise"):
                return np.sum(1.0 / x)
        """,
    "random": """
        def run(x):
            return np.sum(x * np.random.default_rng().normal(size=x.shape))
        """,
    "refused": "def run(x): return 1.0",
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("verdict", CASES)
def test_verdicts(tmp_path: Path, verdict: str) -> None:
    package = written(tmp_path, CASES[verdict])
    assert compiled((verdict, lambda x: package.run(x), POINT)).verdict == verdict


@pytest.mark.filterwarnings("ignore")
def test_a_program_that_keeps_the_first_call_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = written(tmp_path, CASES["right"])
    function: Any = lambda x: package.run(x)
    assert numbers(function) == [(package, "RATE")]
    first: dict[int, Any] = {}

    def stale(function: Any, **_: Any) -> Any:
        def call(x: Any) -> Any:
            return first.setdefault(x.size, function(x))

        return call

    monkeypatch.setattr("gradwrap.compile", stale)
    found = compiled(("stale", function, POINT))
    assert found.verdict == "wrong"
    assert found.reason.startswith("near: ")
