"""`python -O` takes away asserts, and `-OO` docstrings: nothing depends on either."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from sampling import LONG

SOURCE = Path(__file__).parents[2] / "src" / "gradwrap"
PURE = {"all", "any", "callable", "hasattr", "isinstance", "issubclass", "len", "type"}
PROGRAM = """
import pathlib, sys, tempfile
import numpy as np
import gradwrap as gw
import gradwrap.numpy as gnp

x = np.linspace(0.1, 1.0, 6)
f = lambda x: np.sum(np.sin(x) * x)
slope = np.cos(x) * x + np.sin(x)

def near(a, b):
    if not np.allclose(a, b, rtol=1e-12):
        sys.exit(f"{a} is not {b}")

for engine in ("numpy", "c"):
    compiled = gw.compile(gw.grad(f), engine=engine)
    for n in range(3):
        near(compiled(x + n), gw.grad(f)(x + n))
near(gw.grad(f)(x), slope)
near(gw.vmap(gw.grad(f))(np.stack([x, x])), [slope, slope])
near(gw.grad(lambda x: gnp.sum(gnp.cumsum(x) ** 2))(x), 2 * np.cumsum(np.cumsum(x)[::-1])[::-1])
compiled.save(pathlib.Path(tempfile.mkdtemp()) / "saved.py")
print("done", sys.flags.optimize)
"""


@pytest.mark.slow
def test_no_assert_has_an_effect() -> None:
    """An assert calls nothing but functions that tell something of a value."""
    found = [
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Assert)
        for part in ast.walk(node.test)
        if isinstance(part, (ast.NamedExpr, ast.Await, ast.Yield))
        or (isinstance(part, ast.Call) and ast.unparse(part.func) not in PURE)
    ]
    assert found == []


@pytest.mark.parametrize("flag", [pytest.param("-O", marks=LONG), "-OO"])
@pytest.mark.slow
def test_a_program_runs_without_asserts(flag: str) -> None:
    path = str(SOURCE.parent)
    program = f"import sys; sys.path.insert(0, {path!r})\n{PROGRAM}"
    done = subprocess.run(
        [sys.executable, flag, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["done", str(len(flag) - 1)]
