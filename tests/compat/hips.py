"""HIPS autograd's own tests, on `gradwrap.compat.autograd`.

    python -m tests.compat.hips --suite path/to/autograd

runs the tests of a checkout of HIPS autograd, and prints those that fail and are not among
`EXPLAINED`. The exit code is 1 if there are such.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

EXPLAINED = {
    "test_const_graph": "it counts the calls of a function whose recorded graph is repeated",
    "test_const_graph_args": "likewise",
    "test_wrapped_name_and_docs": "it reads the text of a docstring",
    "test_assignment_raises_error": "gradwrap records an assignment to a tracked array",
    "test_rfftn_odd_not_implemented": "gradwrap has this derivative",
}
"""Tests that fail, and what they ask for."""
PLUGIN = "import gradwrap.compat.autograd\ngradwrap.compat.autograd.install()\n"
SUMMARY = re.compile(r"(\d+) (passed|failed|skipped|error)")


def failures(suite: Path, *chosen: str) -> tuple[list[str], dict[str, int]]:
    """Run tests of a checkout; return the names of those that fail, and the counts."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "with_gradwrap.py").write_text(PLUGIN)
        paths = [folder, *sys.path]
        command = [sys.executable, "-m", "pytest", "-p", "with_gradwrap", "-q", "--tb=no", "-rf"]
        command += ["-W", "ignore", "-p", "no:cacheprovider", "-c", os.devnull]
        command += ["--rootdir", str(suite), *(chosen or ("tests",))]
        found = subprocess.run(
            command,
            cwd=suite,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
            capture_output=True,
            text=True,
            check=False,
        )
    if not found.stdout:
        raise RuntimeError(found.stderr)
    counts = {word: int(count) for count, word in SUMMARY.findall(found.stdout.splitlines()[-1])}
    return re.findall(r"^FAILED \S+::(\w+)", found.stdout, re.MULTILINE), counts


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suite", type=Path, required=True, help="a checkout of HIPS autograd")
    failed, counts = failures(parser.parse_args().suite.resolve())
    new = [name for name in failed if name not in EXPLAINED]
    print(counts, "explained:", len(failed) - len(new))
    print(*new, sep="\n")
    return 1 if new or not counts.get("passed") else 0


if __name__ == "__main__":
    sys.exit(main())
