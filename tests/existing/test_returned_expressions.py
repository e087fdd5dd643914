"""Expressions of SymPy with tracked numbers: made, compared, kept and returned by a package."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import gradwrap as gw
from modes import check_modes
from packages import written

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("sympy")
pytestmark = pytest.mark.filterwarnings("ignore::gradwrap.errors.CompileWarning")
PROGRAMS = {
    "returned": "return sympy.sin(2 * x[0]) * x[1]",
    "of functions": "return sympy.exp(x[0]) + sympy.sqrt(x[1]) + sympy.Max(x[0], x[1])",
    "an integral": "return sympy.integrate(t**2, (t, x[0], x[1])) * 1.0",
    "limits": "return float(sympy.integrate(t**2 * sympy.exp(t), (t, x[0], x[1])))",
    "limits, and a symbol": """
        found = sympy.integrate(sympy.sin(u * t), (t, x[0], x[1]))
        return float(found.subs(u, 2.0))
        """,
    "made elsewhere": "return made(float(x[0])).subs(t, float(x[1])).evalf()",
    "a sum of a list": "return float(sum([sympy.sin(v) for v in x]))",
    "of the module": "return float(WAVE.subs({t: x[0], u: x[1]}))",
    "a branch": """
        found = sympy.sin(x[0])
        return float(found * x[1]) if found > 0 else float(x[1])
        """,
    "pieces": "return float(sympy.Piecewise((t**2, t > 1), (t, True)).subs(t, x[0])) * x[1]",
    "a density": "return float(density(Normal('n', x[0], 1.0))(x[1]))",
}
SOURCE = """
import sympy
from sympy.stats import Normal, density
t, u = sympy.symbols("t u")
WAVE = sympy.sin(t) * u
def made(a): return sympy.sin(a * t) * t
def run(x):
"""


@pytest.mark.parametrize("body", PROGRAMS.values(), ids=PROGRAMS)
def test_expressions_of_tracked_numbers(body: str, tmp_path: Path) -> None:
    lines = [f"    {line.removeprefix(' ' * 8)}" for line in body.strip("\n").rstrip().split("\n")]
    check_modes(written(tmp_path, SOURCE + "\n".join(lines)).run, np.array([1.3, 0.7]))


def test_numbers_of_many_digits_are_refused_with_a_remedy(tmp_path: Path) -> None:
    root = "    return float(sympy.nsolve(t**3 + x[0] * t - x[1], t, 0.5)) * x[1]\n"
    run = written(tmp_path, SOURCE + root).run
    x = np.array([1.3, 0.7])
    with pytest.raises(gw.errors.AdaptationError, match=r'Fix: .*compiled="numerical"'):
        gw.grad(gw.adapting(run))(x)
    wanted = [(run(x + e) - run(x - e)) / 2e-5 for e in 1e-5 * np.eye(2)]
    found = gw.grad(gw.adapting(run, compiled="numerical"))(x)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
