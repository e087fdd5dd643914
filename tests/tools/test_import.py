"""`import gradwrap` is quick, and imports no array library but NumPy."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "src"
BOUND = 0.050  # seconds
BUSY = 2  # what a test on a busy machine has to allow
NOT_IMPORTED = (
    "array_api_strict",
    "autograd",
    "cupy",
    "dask",
    "jax",
    "matplotlib",
    "mygrad",
    "pandas",
    "pytest",
    "scipy",
    "sklearn",
    "torch",
)


def run(code: str) -> str:
    """What a fresh interpreter prints."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCES)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # compiling takes longer than importing
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, env=environment, text=True
    )
    return done.stdout


TIMED = """
import time
import array_api_compat, numpy, optree
began = time.process_time()
import gradwrap
print(time.process_time() - began)
"""


def test_import_takes_no_time() -> None:
    run(TIMED)  # writes the bytecode
    times = [float(run(TIMED)) for _ in range(7)]
    typical = statistics.median(times)
    print(f"\nimport gradwrap: {1e3 * typical:.0f} ms beyond its dependencies")  # noqa: T201  shown by -s
    assert min(times) < BUSY * BOUND


def test_import_brings_no_other_array_library() -> None:
    modules = json.loads(run("import gradwrap, json, sys; print(json.dumps(list(sys.modules)))"))
    packages = {name.partition(".")[0] for name in modules}
    assert packages.isdisjoint(NOT_IMPORTED)
    assert {"array_api_compat", "gradwrap", "numpy", "optree"} <= packages
    compat = {name for name in modules if name.startswith("array_api_compat.")}
    backends = {name.split(".")[1] for name in compat} - {"common", "_internal", "numpy"}
    assert backends == set()


@pytest.mark.parametrize("name", ["autograd", "errors", "testing"])
def test_public_modules_come_with_it(name: str) -> None:
    run(f"import gradwrap; gradwrap.{name}.__name__")


def test_every_public_name_is_documented() -> None:
    code = "import gradwrap; print(*[n for n in dir(gradwrap) if not n.startswith('_')])"
    names = run(code).split()
    assert {"grad", "value_and_grad", "vjp", "wrap", "defvjp", "Variable"} <= set(names)
    undocumented = run(
        f"import gradwrap; print([n for n in {names!r} if not getattr(gradwrap, n).__doc__])"
    )
    assert undocumented.strip() == "[]"
