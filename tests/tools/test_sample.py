"""The sample of the tests that the README's command runs: each row, each door, each engine."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness import cases
from lambdas import fn
from sampling import EVERY, FEW, crossed, sampled

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


def test_names_with_dots_and_libraries_before_them_are_rows() -> None:
    rows = ("linalg.qr", "linalg.inv", "special.i0", "add")
    calls = [f"t.py::t[{lib}-{row}[x({n}), x(1)]-f8]" for row in rows for lib in "ab" for n in "45"]
    found = sampled(calls)
    assert {row for row in rows if any(f"-{row}[" in one for one in found)} == {*rows}
    assert len(found) == len(rows)
    assert len(sampled(f"t.py::t[{row}-{n}]" for row in rows for n in range(4))) == len(rows)


def test_empty_arrays_come_last() -> None:
    shapes = ("0", "2, 0", "3, 0, 2", "", "2", "10, 20")
    found = sampled(f"t.py::t[sin[x({shape})]-{n}]" for shape in shapes for n in range(5))
    assert len(found) == 3
    assert not any("x(0" in one or ", 0" in one for one in found)


def test_the_sample_is_chosen_without_numpy() -> None:
    """It reads the number of threads, which `conftest.py` sets, when it is imported."""
    code = (
        "import sys; sys.path[:0] = [sys.argv[1]]; import sampling; print('numpy' in sys.modules)"
    )
    command = [sys.executable, "-c", code, str(ROOT / "tests" / "support")]
    assert subprocess.check_output(command, text=True).strip() == "False"


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
    # with slow tests, and slow and long cases of others
    files = [f"tests/compiler/test_{name}.py" for name in ("nests", "noted", "ragged")]
    parts = [(), ("--sample",), ("--rest",), ("--sample", "--slow"), ("-m", "long")]
    everything, sample, rest, with_slow, long = (collected(*files, *part) for part in parts)
    assert sample
    assert rest
    assert sample.isdisjoint(rest)
    assert sample | rest == everything
    assert with_slow & rest
    assert long < rest
    assert long.isdisjoint(with_slow)


@pytest.mark.parametrize("of_function", [False, True])
def test_a_function_whose_cases_are_all_long_is_refused(
    of_function: bool, pytestconfig: pytest.Config
) -> None:
    hooks: Any = pytestconfig.pluginmanager.get_plugin(str(ROOT / "conftest.py"))
    case = SimpleNamespace(id="0", marks=[] if of_function else [pytest.mark.long.mark])
    node = SimpleNamespace(nodeid="t.py::test_it", get_closest_marker=fn(lambda _: of_function))
    hook = hooks.pytest_generate_tests(SimpleNamespace(_calls=[case], definition=node))
    next(hook)
    with pytest.raises(pytest.Collector.CollectError, match=r"t\.py::test_it has no case"):
        next(hook)


def test_every_value_is_in_a_short_case() -> None:
    marked = pytest.param(4, marks=pytest.mark.gpu)
    found = crossed("ab", [1, 2, 3, marked], "xy")
    assert [case.values for case in found] == [*product("ab", [1, 2, 3, 4], "xy")]
    short = [case.values for case in found if pytest.mark.long not in case.marks]
    assert len(short) <= 6
    assert [{*some} for some in zip(*short, strict=True)] == [{*"ab"}, {1, 2, 3, 4}, {*"xy"}]
    assert {case.values[1] for case in found if pytest.mark.gpu in case.marks} == {4}


NEEDED = re.compile(r"^\w.*importorskip\(\"(\w+)", re.MULTILINE)
"""The library without which a file of tests is left out."""


def can_run(path: Path) -> bool:
    return all(map(find_spec, NEEDED.findall(path.read_text(encoding="utf-8"))))


@pytest.mark.slow
def test_each_row_and_room_and_engine_is_in_the_sample() -> None:
    sample = collected("--sample")
    rows = {case.rule.name for case in cases()}
    assert len(rows) > 200
    for file in ("test_rules", "test_forward_rules", "test_vmap_rules"):
        path = f"tests/table/{file}.py"
        found = (re.match(rf"{path}::\w+\[([\w.]+)", one) for one in sample)
        assert rows <= {one[1] for one in found if one}

    files = {one.partition("::")[0] for one in sample}
    rooms = {path.parent.name for path in (ROOT / "tests").glob("*/test_*.py") if can_run(path)}
    assert rooms <= {file.split("/")[1] for file in files if file.startswith("tests/")}
    paths = (ROOT / "tests" / "doors").glob("test_*.py")
    assert {f"tests/doors/{path.name}" for path in paths if can_run(path)} <= files
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


@pytest.mark.slow
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
