"""Run the public Array API conformance suite on wrapped namespaces, and compare with bare ones.

    python tests/doors/conformance/run.py --suite /path/to/array-api-tests

Each library is run as it is (bare), as `gw.wrap_namespace` gives it (wrapped), and with every
floating-point array tracked (tracked). A wrapped or tracked namespace has to pass what the bare
one passes. Where it does not, the bare one gets further random numbers: what it fails itself at
one of them is not gradwrap's. The exit code is 1 if there is any other.
"""

from __future__ import annotations

import argparse
import datetime as dt
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["main"]

HERE = Path(__file__).resolve().parent
STANDARD = "2025.12"
LIBRARIES = ("array_api_compat.numpy", "array_api_strict")
KINDS = {
    "bare": "import {0} as xp",
    "wrapped": "import gradwrap, {0} as library; xp = gradwrap.wrap_namespace(library)",
    "tracked": "import tracked, {0} as library; xp = tracked.namespace(library)",
}
FURTHER_SEEDS = range(1, 6)
PACKAGES = ("numpy", "array-api-compat", "array-api-strict", "hypothesis", "pytest")
OMITTED = ("collectors", "log", "traceback", "streams", "warnings", "keywords")


@dataclass(frozen=True)
class Result:
    """The outcome of a test, and the first line of its error."""

    outcome: str
    error: str


Results = dict[str, Result]


@dataclass(frozen=True)
class Comparison:
    """One library's results by kind, and the tests that only the bare namespace passes."""

    library: str
    results: dict[str, Results]
    differing: dict[str, dict[str, str]]


class Suite:
    """A checkout of array-api-tests."""

    def __init__(self, path: Path, max_examples: int) -> None:
        self.path = path.resolve()
        self.max_examples = max_examples

    def commit(self) -> str:
        command = ["git", "-C", str(self.path), "rev-parse", "--short=8", "HEAD"]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def run(
        self, library: str, kind: str, tests: list[str] | None = None, seed: int = 0
    ) -> Results:
        """Run all tests, or those named, in a process of their own."""
        with tempfile.TemporaryDirectory() as scratch:
            report = Path(scratch, "report.json")
            command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
            command += ["-p", "seeded", f"--hypothesis-seed={seed}", "--disable-deadline"]
            command += [f"--max-examples={self.max_examples}", "--tb=line", "--json-report"]
            command += [f"--json-report-file={report}", "--json-report-omit", *OMITTED, "--"]
            command += tests or ["array_api_tests"]
            done = subprocess.run(
                command,
                cwd=self.path,
                env=self._environment(library, kind, scratch),
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode not in (0, 1):  # 1: there were failures
                raise SystemExit(f"pytest failed on {library}:\n{done.stdout}{done.stderr}")
            found = json.loads(report.read_text())["tests"]
        return {test["nodeid"]: Result(test["outcome"], _error(test)) for test in found}

    def _environment(self, library: str, kind: str, scratch: str) -> dict[str, str]:
        paths = [str(HERE), str(HERE.parents[2] / "src"), os.environ.get("PYTHONPATH", "")]
        return {
            **os.environ,
            "ARRAY_API_TESTS_MODULE": f"exec('{KINDS[kind].format(library)}')",
            "ARRAY_API_TESTS_VERSION": STANDARD,
            "HYPOTHESIS_STORAGE_DIRECTORY": scratch,  # no failure of another run is replayed
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        }


def _error(test: dict[str, Any]) -> str:
    for stage in ("setup", "call", "teardown"):
        message: str = test.get(stage, {}).get("crash", {}).get("message", "")
        if message:
            return message.splitlines()[0].partition(" Fix: ")[0].removeprefix("gradwrap.errors.")
    return ""


def compare(suite: Suite, library: str) -> Comparison:
    """Run a library in all kinds, and find what only the bare namespace passes."""
    results: dict[str, Results] = {}
    for kind in KINDS:
        print(f"{library}, {kind} ...", flush=True)  # noqa: T201  a run takes minutes
        results[kind] = suite.run(library, kind)
    bare = results["bare"]
    differing = {
        kind: {
            name: result.error
            for name, result in results[kind].items()
            if result.outcome != "passed" and bare[name].outcome == "passed"
        }
        for kind in KINDS
    }
    suspects = sorted({name for names in differing.values() for name in names})
    for seed in FURTHER_SEEDS if suspects else ():
        again = suite.run(library, "bare", suspects, seed)
        for names in differing.values():
            for name in [n for n in names if again[n].outcome != "passed"]:
                del names[name]
    return Comparison(library, results, differing)


def page(suite: Suite, comparisons: list[Comparison]) -> str:
    """Return the page of the documentation that states the results."""
    versions = [f"Python {platform.python_version()}"]
    versions += [f"{name} {importlib.metadata.version(name)}" for name in PACKAGES]
    lines = [
        "# Conformance to the Array API standard",
        "",
        "`gw.wrap_namespace(xp)` is itself an Array API namespace. The public suite",
        "[array-api-tests](https://github.com/data-apis/array-api-tests) runs on the library as it",
        "is (*bare*), on the wrapped namespace with nothing tracked (*wrapped*), and with every",
        "floating-point array tracked (*tracked*), which must not change any value. In the tracked",
        "run, `float()`, `np.asarray` and DLPack are allowed, since the suite uses them to read",
        "values; otherwise they refuse a tracked array.",
        "",
        f"Each test has {suite.max_examples} random examples, or a tenth of that if the suite",
        "calls it slow. This page was written by `tests/doors/conformance/run.py` on",
        f"{dt.datetime.now(dt.UTC).date()}. Standard {STANDARD}; suite at",
        f"{suite.commit()}; gradwrap {importlib.metadata.version('gradwrap')};",
        f"{', '.join(versions)}.",
        "",
        "| library | kind | passed | failed | skipped | passed by the bare library alone |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for one in comparisons:
        for kind in KINDS:
            count = Counter(result.outcome for result in one.results[kind].values())
            failed = count["failed"] + count["error"]
            alone = "" if kind == "bare" else str(len(one.differing[kind]))
            lines.append(
                f"| {one.library} | {kind} | {count['passed']} | {failed} | {count['skipped']} "
                f"| {alone} |"
            )
    lines += ["", "## Tests that only the bare library passes", ""]
    missed: dict[tuple[str, str], list[str]] = {}
    for one in comparisons:
        for kind, names in one.differing.items():
            for name, error in names.items():
                missed.setdefault((name, kind), [error]).append(one.library)
    listed = [
        f"- `{name.partition('::')[2]}` ({kind}; {', '.join(libraries)}): {error}"
        for (name, kind), (error, *libraries) in sorted(missed.items())
    ]
    lines += listed or ["None."]
    lines += ["", "## Tests that the bare library fails", ""]
    for one in comparisons:
        failing = sorted(
            f"`{name.partition('::')[2]}`"
            for name, result in one.results["bare"].items()
            if result.outcome in ("failed", "error")
        )
        lines += [f"{one.library} ({len(failing)}):", "", *(f"- {name}" for name in failing), ""]
    return "\n".join(lines).rstrip() + "\n"


def main(arguments: list[str] | None = None) -> int:
    """Run, print, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--suite", type=Path, required=True, help="a checkout, with its submodule")
    parser.add_argument("--max-examples", type=int, default=20, help="for each test")
    parser.add_argument("--write", type=Path, help="a file for the results, docs/conformance.md")
    options = parser.parse_args(arguments)
    suite = Suite(options.suite, options.max_examples)
    comparisons = [compare(suite, library) for library in LIBRARIES]
    text = page(suite, comparisons)
    print(text)  # noqa: T201  what it is for
    if options.write is not None:
        options.write.write_text(text)
    return int(any(names for one in comparisons for names in one.differing.values()))


if __name__ == "__main__":
    sys.exit(main())
