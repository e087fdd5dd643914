"""Run the tests that need a GPU, and count the outcomes."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from .tally import VARIABLE

ROOT = Path(__file__).parents[2]
MOST_PROCESSES = 8


@dataclass(frozen=True)
class Outcome:
    """The outcome of the tests."""

    passed: int
    failed: Sequence[str]
    """Their names, with the errors."""
    skipped: Sequence[str]
    """The reasons, without repetitions."""
    skips: int
    not_run: Sequence[str]
    """Files that could not be imported, and why."""
    finished: bool
    """True if all tests were run within the time limit."""


def on_gpu(tests: Path) -> list[Path]:
    """Return the files with tests for a GPU, which have the marker or request the device."""
    words = ("mark.gpu", "device_params")
    return [
        path
        for path in sorted(tests.rglob("test_*.py"))
        if any(word in path.read_text(encoding="utf-8") for word in words)
    ]


def run_tests(files: Iterable[Path], seconds: float, *, marker: str = "gpu") -> Outcome:
    """Run the tests with the marker in a separate process, for at most so many seconds."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-m",
        marker,
        "--continue-on-collection-errors",
    ]
    command += ["-p", "benchmarks.gpu.tally", "-p", "no:cacheprovider"]
    processes = min(MOST_PROCESSES, (os.cpu_count() or 1) // 2)
    if processes > 1 and importlib.util.find_spec("xdist") is not None:
        command += ["-n", str(processes)]
    with tempfile.TemporaryDirectory() as folder:
        lines = Path(folder, "tally")
        lines.touch()
        environment = {**os.environ, VARIABLE: str(lines), "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
        child = subprocess.Popen(
            [*command, *map(str, files)], cwd=ROOT, env=environment, start_new_session=True
        )
        try:
            child.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)  # and the processes that shared the work
            child.wait()
        return count(lines.read_text(encoding="utf-8"))


def count(lines: str) -> Outcome:
    """Sum up a tally."""
    passed: set[str] = set()
    failed: dict[str, str] = {}
    skipped: dict[str, str] = {}
    not_run: dict[str, str] = {}
    finished = False
    for line in lines.splitlines():
        entry = json.loads(line)
        test, why = entry["test"], entry["why"]
        match entry["outcome"]:
            case "passed":
                passed.add(test)
            case "failed":
                failed[test] = why
            case "skipped":
                skipped[test] = why
            case "not run":
                not_run[test] = why
            case _:
                finished = True
    return Outcome(
        passed=len(passed - set(failed)),
        failed=[f"{test}: {why}" for test, why in failed.items()],
        skipped=sorted(set(skipped.values())),
        skips=len(skipped),
        not_run=[f"{test}: {why}" for test, why in not_run.items()],
        finished=finished,
    )
