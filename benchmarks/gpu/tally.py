"""A plugin of pytest: each test's outcome, written to a file as soon as it is known.

So a run that is stopped has a tally too. ``python -m pytest -p benchmarks.gpu.tally`` writes to the
file that the environment names; one JSON object a line.
"""

import json
import os
from pathlib import Path

import pytest

VARIABLE = "GRADWRAP_TALLY"


def pytest_configure(config: pytest.Config) -> None:
    """Write in the process that hears of all tests, not in those that share the work."""
    path = os.environ.get(VARIABLE)
    if path is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Tally(Path(path)))


class Tally:
    """Appends to a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test has been called; or its set-up or its tear-down has failed, or said to skip it."""
        if report.when == "call" or report.outcome != "passed":
            expected = report.outcome == "skipped" and hasattr(report, "wasxfail")
            self.write(report.nodeid, "passed" if expected else report.outcome, why(report))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file could not be imported, or says that it cannot be used."""
        if report.outcome != "passed":
            self.write(report.nodeid, "not run", why(report))

    def pytest_sessionfinish(self) -> None:
        """All tests have been run."""
        self.write("", "finished", "")

    def write(self, test: str, outcome: str, reason: str) -> None:
        """Append a line."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"test": test, "outcome": outcome, "why": reason}) + "\n")


def why(report: pytest.CollectReport | pytest.TestReport) -> str:
    """The line that says why a test was skipped, or what was wrong."""
    if isinstance(report.longrepr, tuple):
        return report.longrepr[2]
    lines = [line for line in str(report.longrepr or "").splitlines() if line.startswith("E ")]
    return lines[0].removeprefix("E ").strip() if lines else ""
