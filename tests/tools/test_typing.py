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
    """`assert_type` holds, and every `type: ignore` is needed.

    The options are those of `mypy --strict`, so that the two have one cache.
    """
    pytest.importorskip("mypy")
    files = {str(path) for path in SUBJECTS.glob("*.py")}
    assert run("mypy", "--strict", VERSION, *sorted(files)) == ""


@pytest.mark.slow
def test_pyright() -> None:
    """`assert_type` holds, and every `pyright: ignore` is needed.

    `pyright` for the whole project says the same: it has these settings for these files.
    """
    pytest.importorskip("pyright")
    assert run("pyright", "--pythonpath", sys.executable, "--project", str(SUBJECTS)) == ""


LIBRARIES = {
    "dask": "dask_arrays.py",
    "torch": "torch_tensors.py",
    "jax": "jax_arrays.py",
    "xarray": "xarray_arrays.py",
}


def installed() -> dict[str, str]:
    """The files of those libraries that are there: one run of a checker reads them all."""
    found = {name: file for name, file in LIBRARIES.items() if importlib.util.find_spec(name)}
    return found or pytest.skip("none of the libraries is installed")


@pytest.mark.peers
@pytest.mark.slow
def test_mypy_with_the_types_of_other_libraries() -> None:
    """Without the project's settings, which skip these libraries, and so without its cache."""
    pytest.importorskip("mypy")
    paths = [str(SUBJECTS / "libraries" / file) for file in installed().values()]
    cache = f"--cache-dir={ROOT / '.mypy_cache' / 'libraries'}"
    options = ("--strict", "--follow-imports=silent", "--config-file=", cache)
    assert run("mypy", *options, *paths, MYPYPATH=str(ROOT / "src")) == ""


@pytest.mark.peers
@pytest.mark.slow
def test_pyright_with_the_types_of_other_libraries() -> None:
    pytest.importorskip("pyright")
    files = installed().values()
    found = run("pyright", "--pythonpath", sys.executable, "-p", str(SUBJECTS / "libraries"))
    assert [line for line in found.splitlines() if any(file in line for file in files)] == []


def test_the_marker_of_a_typed_package_is_there() -> None:
    assert (ROOT / "src" / "gradwrap" / "py.typed").exists()
