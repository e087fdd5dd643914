"""The types of the public names, as mypy and pyright see them from a project that uses gradwrap."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SUBJECTS = ROOT / "tests" / "tools" / "typing"
# The settings say 3.11; the stubs of a newer NumPy need the Python that it needs.
VERSION = f"--python-version={sys.version_info.major}.{sys.version_info.minor}"


def run(*command: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *command],
        capture_output=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, **environment},
        text=True,
    )
    return "" if done.returncode == 0 else done.stdout + done.stderr


@pytest.mark.slow
def test_mypy() -> None:
    """`assert_type` holds, and every `type: ignore` is needed."""
    pytest.importorskip("mypy")
    files = {str(path) for path in SUBJECTS.glob("*.py")}
    options = ("--strict", "--warn-unused-ignores", "--follow-imports=silent", VERSION)
    assert run("mypy", *options, *sorted(files)) == ""


@pytest.mark.slow
def test_pyright() -> None:
    """`assert_type` holds, and every `pyright: ignore` is needed."""
    pytest.importorskip("pyright")
    assert run("pyright", "--pythonpath", sys.executable, "--project", str(SUBJECTS)) == ""


LIBRARIES = {
    "dask": "dask_arrays.py",
    "torch": "torch_tensors.py",
    "jax": "jax_arrays.py",
    "xarray": "xarray_arrays.py",
}


@pytest.mark.peers
@pytest.mark.slow
@pytest.mark.parametrize("library", LIBRARIES)
def test_mypy_with_the_types_of_another_library(library: str) -> None:
    """Without the project's settings, which skip these libraries."""
    pytest.importorskip("mypy")
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    path = str(SUBJECTS / "libraries" / LIBRARIES[library])
    options = ("--strict", "--follow-imports=silent", "--config-file=")
    assert run("mypy", *options, path, MYPYPATH=str(ROOT / "src")) == ""


@pytest.mark.peers
@pytest.mark.slow
@pytest.mark.parametrize("library", LIBRARIES)
def test_pyright_with_the_types_of_another_library(library: str) -> None:
    pytest.importorskip("pyright")
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    found = run("pyright", "--pythonpath", sys.executable, "-p", str(SUBJECTS / "libraries"))
    assert [line for line in found.splitlines() if LIBRARIES[library] in line] == []


def test_the_marker_of_a_typed_package_is_there() -> None:
    assert (ROOT / "src" / "gradwrap" / "py.typed").exists()
