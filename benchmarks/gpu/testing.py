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
GRACE = 20
"""The seconds that the sweep of kernels may take to import the libraries and to end."""


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


@dataclass(frozen=True)
class Swept:
    """The outcome of the sweep of kernels: a line that sums it up, and what failed."""

    summary: str
    failed: Sequence[str]


def sweep_kernels(seconds: float) -> Swept | str:
    """Compare kernels with NumPy for so many seconds, in a process of its own; or say why not."""
    command = [sys.executable, "-m", "tests.backends.kernel_sweep", "--seconds", f"{seconds:.0f}"]
    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
            timeout=seconds + GRACE,
        )
    except subprocess.TimeoutExpired:
        return f"the sweep did not end {GRACE} s after its time was up"
    lines = [line for line in done.stdout.splitlines() if line.strip()]
    if not lines or " checks, " not in lines[-1]:
        said = done.stderr.strip().splitlines() or ["it printed nothing"]
        return f"the sweep could not be run: {said[-1]}"
    labels = ("formula ", "elements ", "group ", "program ", "row ")
    return Swept(lines[-1], [line for line in lines[:-1] if line.startswith(labels)])


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
