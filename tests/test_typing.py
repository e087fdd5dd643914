"""The types of the public names, as mypy and pyright see them from a project that uses gradwrap."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SUBJECTS = ROOT / "tests" / "typing"


def run(*command: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *command], capture_output=True, check=False, cwd=ROOT, text=True
    )
    return "" if done.returncode == 0 else done.stdout + done.stderr


@pytest.mark.slow
def test_mypy() -> None:
    """`assert_type` holds, and every `type: ignore` is needed."""
    pytest.importorskip("mypy")
    options = ("--strict", "--warn-unused-ignores", "--follow-imports=silent")
    assert run("mypy", *options, str(SUBJECTS)) == ""


@pytest.mark.slow
def test_pyright() -> None:
    """`assert_type` holds, and every `pyright: ignore` is needed."""
    pytest.importorskip("pyright")
    assert run("pyright", "--pythonpath", sys.executable, "--project", str(SUBJECTS)) == ""


def test_the_marker_of_a_typed_package_is_there() -> None:
    assert (ROOT / "src" / "gradwrap" / "py.typed").exists()
