"""The sample of the tests that the README's command runs: each row, each door, each engine."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gradwrap.core.table.registry import ops
from sampling import EVERY, FEW, sampled

ROOT = Path(__file__).parents[2]


def test_few_cases_are_all_in_the_sample() -> None:
    cases = {f"test_few.py::test_it[{number}]" for number in range(FEW)}
    assert sampled({*cases, "test_few.py::test_alone"}) == {*cases, "test_few.py::test_alone"}


def test_some_cases_of_each_row_are_in_the_sample() -> None:
    cases = [f"t.py::test_it[{row}-{n}]" for row in ("sin", "cos", "sum") for n in range(30)]
    found = sampled(cases)
    for row in ("sin", "cos", "sum"):
        assert sum(f"[{row}-" in one for one in found) == 30 / EVERY
    assert sampled(reversed(cases)) == found


def test_of_cases_that_are_no_rows_the_sample_has_a_part() -> None:
    assert len(sampled([f"t.py::test_it[case{n}]" for n in range(60)])) == 60 / EVERY


def collected(*options: str) -> set[str]:
    """The identifiers of the tests that pytest runs with some options."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, *options], cwd=ROOT, capture_output=True, check=True, text=True
    )
    return {line for line in done.stdout.splitlines() if "::" in line}


@pytest.mark.slow
def test_the_rest_is_what_the_sample_leaves_out() -> None:
    room = "tests/compiler"  # with slow tests, and slow cases of others
    everything, sample, rest = (collected(room, *part) for part in ((), ("--sample",), ("--rest",)))
    assert sample
    assert rest
    assert sample.isdisjoint(rest)
    assert sample | rest == everything
    assert collected(room, "--sample", "--slow") & rest  # slow ones


@pytest.mark.slow
def test_each_row_and_room_and_engine_is_in_the_sample() -> None:
    sample, everything = collected("--sample"), collected()
    assert sample < everything

    def rows(identifiers: set[str], file: str) -> set[str]:
        return {
            found[1] for one in identifiers if (found := re.match(rf"{file}::.*?\[(\w+)-", one))
        }

    for file in ("test_rules", "test_forward_rules", "test_vmap_rules"):
        path = f"tests/table/{file}.py"
        assert rows(sample, path) == rows(everything, path)
    assert {op.name for op in ops()} & rows(sample, "tests/table/test_rules.py")

    def rooms(identifiers: set[str]) -> set[str]:
        return {"/".join(one.split("/")[:2]) for one in identifiers if one.startswith("tests/")}

    assert rooms(sample) == rooms(everything)
    doors = {one.partition("::")[0] for one in everything if one.startswith("tests/doors/")}
    assert doors <= {one.partition("::")[0] for one in sample}
    engines = {one for one in sample if one.startswith("tests/compiler/")}
    assert {e for e in ("numpy", "c") if any(re.search(rf"[\[-]{e}[\]-]", i) for i in engines)} == {
        "numpy",
        "c",
    }


OUTCOMES = """
import pytest

@pytest.fixture
def broken_at_the_end():
    yield
    raise RuntimeError("end")

@pytest.fixture
def broken():
    raise RuntimeError("begin")

def test_right(): pass
def test_wrong(): assert 1 == 2, "one is not two"
def test_left_out(): pytest.skip("no reason")
@pytest.mark.xfail
def test_expected(): assert False
@pytest.mark.xfail
def test_unexpected(): pass
def test_cleared(broken_at_the_end): pass
def test_prepared(broken): pass
def test_ended(): import os; os._exit(1)
"""


def test_a_worker_tells_every_outcome(tmp_path: Path) -> None:
    pytest.importorskip("xdist")
    file = tmp_path / "test_outcomes.py"
    file.write_text(OUTCOMES)
    command = [sys.executable, "-m", "pytest", "-p", "conftest", "-p", "no:cacheprovider"]
    settings = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(tmp_path)]

    done = subprocess.run(
        [*command, "-n", "1", "-rA", *settings, str(file)],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "300"},
        capture_output=True,
        check=False,
        text=True,
    )

    assert done.returncode == 1
    for line in (
        "FAILED test_outcomes.py::test_wrong - AssertionError: one is not two",
        "FAILED test_outcomes.py::test_ended",
        "FAILED test_outcomes.py::test_unexpected - [XPASS(strict)]",
        "ERROR test_outcomes.py::test_cleared - RuntimeError: end",
        "ERROR test_outcomes.py::test_prepared - RuntimeError: begin",
        "XFAIL test_outcomes.py::test_expected",
        "PASSED test_outcomes.py::test_right",
        "3 failed, 2 passed, 1 skipped, 1 xfailed, 2 errors",
    ):
        assert line in re.sub(r"\S*/test_outcomes", "test_outcomes", done.stdout)
