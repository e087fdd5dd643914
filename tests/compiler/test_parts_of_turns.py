"""Where later loops read parts of a loop's values, those parts are stacked, not the values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.compiler.ir.program import Loop


def _columns(a: Any, b: Any) -> Any:
    """Solve one tridiagonal system for each row, column by column."""
    c, d, x, last = 0.0 * a, 0.0 * b, 0.0 * a, a.shape[1] - 1
    for k in range(1, last):
        c[:, k] = 0.25 * b[:, k + 1]
        d[:, k] = a[:, k] * b[:, k]
        scale = 1.0 / (a[:, k] - c[:, k - 1] * b[:, k])
        c[:, k] = c[:, k] * scale
        d[:, k] = (d[:, k] - d[:, k - 1] * b[:, k]) * scale
    column = a[:, last] * b[:, last] - d[:, last - 1]
    x[:, last] = column
    for k in range(last - 1, -1, -1):
        column = d[:, k] - c[:, k] * column
        x[:, k] = b[:, k] * column
    return np.sum(x * x)


def _writes_its_stack(a: Any, b: Any) -> Any:
    """Return parts of the state as they were before a later write of the same turn."""
    state, kept = a.copy(), 0.0 * a
    for k in range(a.shape[1] - 1):
        kept[:, k] = state[:, k] * state[:, k + 1]
        state[:, k + 1] = np.sin(0.1 * kept[:, k] + b[:, k])
        state[:, k] = 0.5 * state[:, k + 1]
    return np.sum(kept * b) + np.sum(state * kept)


@pytest.mark.slow
@pytest.mark.parametrize("fun", [_columns, _writes_its_stack])
def test_parts_of_turns(fun: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADWRAP_CHECK", "1")
    rng = np.random.default_rng(3)
    a, b = 2.0 + rng.random((2, 5, 30))
    wanted: Any = gw.value_and_grad(fun, (0, 1))(a, b)
    stacked = 0
    for engine in ("numpy", "c"):
        compiled: Any = gw.compile(gw.value_and_grad(fun, (0, 1)), engine=engine)
        compiled(0.9 * a, b)
        value, gradients = compiled(a, b)
        np.testing.assert_allclose(value, wanted[0], rtol=1e-12)
        for one, other in zip(gradients, wanted[1], strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)
        program = compiled.programs[0]
        loops = [step for step in program.root.body if isinstance(step, Loop)]
        shapes = [program.values[i].shape for loop in loops for i in loop.stacks.values()]
        assert loops
        stacked = max(stacked, *(math.prod(shape[1:]) for shape in shapes))
    assert stacked <= 5, "a column of five rows is all that is stacked"
