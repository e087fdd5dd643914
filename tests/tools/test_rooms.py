"""Rules for all tests: each file is in a room, and none measures time."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
ROOMS = (
    *("table", "engine", "transforms", "doors", "backends", "tools", "fuzz", "scipy", "optimize"),
    "bridges",
    "compiler",
    "compat",
    "existing",
    "random",
    "scale",
)
CLOCKS = re.compile(
    r"timeit|perf_counter|process_time|thread_time|monotonic(?:_ns)?\(|clock_gettime|time_ns|time\.time\b"
)


def test_each_file_of_tests_is_in_a_room() -> None:
    assert {path.parent.relative_to(TESTS).as_posix() for path in TESTS.rglob("test_*.py")} == {
        *ROOMS
    }


def test_no_two_files_have_one_name() -> None:
    """Pytest imports each by its name alone."""
    names = [path.name for path in TESTS.rglob("test_*.py")]
    assert len(names) == len({*names})


def test_the_readme_names_each_room_and_each_module_that_tests_share() -> None:
    page = (TESTS / "README.md").read_text(encoding="utf-8")
    shared = sorted((TESTS / "support").glob("*.py"))
    missing = [
        name for name in (*ROOMS, *(path.name for path in shared)) if f"`{name}`" not in page
    ]
    assert missing == []


def test_no_test_measures_time() -> None:
    """It would fail on a busy machine. `support/counting.py` counts instead."""
    found = {
        f"{path.relative_to(TESTS)}: {clock}"
        for path in TESTS.rglob("*.py")
        if path != Path(__file__)
        for clock in CLOCKS.findall(path.read_text(encoding="utf-8"))
    }
    assert found == set()


@pytest.mark.skipif("PYTEST_XDIST_WORKER" not in os.environ, reason="runs on all cores")
def test_a_worker_uses_as_many_threads_as_it_was_told() -> None:
    """NumPy reads the number when it is imported, so `conftest.py` sets it before."""
    pools = pytest.importorskip("threadpoolctl").threadpool_info()
    threads = {pool["num_threads"] for pool in pools if pool["internal_api"] == "openblas"}
    assert threads <= {int(os.environ.get("OPENBLAS_NUM_THREADS", "1"))}
