"""A pytest plugin that writes each test's outcome to a file as soon as it is known.

So there is a tally even of a run that is stopped. ``python -m pytest -p benchmarks.gpu.tally``
writes to the file that the environment names, with one JSON object per line.
"""

import json
import os
from pathlib import Path

import pytest

VARIABLE = "GRADWRAP_TALLY"


def pytest_configure(config: pytest.Config) -> None:
    """Write in the process that receives all outcomes, not in the workers."""
    path = os.environ.get(VARIABLE)
    if path is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Tally(Path(path)))


class Tally:
    """Appends outcomes to a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Write the outcome of a test, or of a set-up or tear-down that failed or skipped it."""
        if report.when == "call" or report.outcome != "passed":
            expected = report.outcome == "skipped" and hasattr(report, "wasxfail")
            self.write(report.nodeid, "passed" if expected else report.outcome, why(report))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Write that a file could not be imported, or skips itself."""
        if report.outcome != "passed":
            self.write(report.nodeid, "not run", why(report))

    def pytest_sessionfinish(self) -> None:
        """Write that all tests have been run."""
        self.write("", "finished", "")

    def write(self, test: str, outcome: str, reason: str) -> None:
        """Append a line."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"test": test, "outcome": outcome, "why": reason}) + "\n")


def why(report: pytest.CollectReport | pytest.TestReport) -> str:
    """Return the line that says why a test was skipped, or what was wrong."""
    if isinstance(report.longrepr, tuple):
        return report.longrepr[2]
    lines = [line for line in str(report.longrepr or "").splitlines() if line.startswith("E ")]
    return lines[0].removeprefix("E ").strip() if lines else ""
