"""Long arrays that are computed piece by piece: what is added to slices of one array."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradwrap as gw

LENGTHS = (20_000, 3 << 14, (3 << 14) + 2, 100_001)
STENCILS: dict[str, Any] = {
    "forward differences": lambda x: np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2),
    "second differences": lambda x: np.sum((x[2:] - 2 * x[1:-1] + x[:-2]) ** 2),
    "from the left": lambda x: np.sum((x[:-2] - 2 * x[1:-1] + x[2:]) ** 2),
    "away from both ends": lambda x: np.sum(np.exp(-(x[5:-7] ** 2)) * x[9:-3]),
    "and all elements": lambda x: np.sum(np.sqrt(x * x + 1.0)) + np.sum(x[3:] * x[:-3] * x[1:-2]),
}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("name", STENCILS)
def test_additions_to_slices_are_those_of_eager(name: str, length: int, dtype: Any) -> None:
    """They are exact where each goes further than the one before, which is the usual order."""
    x = np.random.default_rng(length).normal(size=length).astype(dtype)
    gradient = gw.grad(STENCILS[name])
    compiled = gw.compile(gradient)
    for at in (x, 2 * x, x):  # the first call returns what eager gave
        found, wanted = compiled(at), gradient(at)
        assert found.dtype == wanted.dtype
        tolerance = 4 * np.finfo(dtype).eps * float(np.max(np.abs(wanted)))
        exact = "range(0" not in compiled.source
        np.testing.assert_allclose(found, wanted, rtol=0, atol=0.0 if exact else tolerance)
    assert "chunks of" in compiled.explain()


def test_no_zeros_are_written_where_the_first_addition_can_give_the_sum() -> None:
    gradient = gw.compile(gw.grad(STENCILS["forward differences"]))
    gradient(np.linspace(0.0, 1.0, 50_000))
    assert "np.zeros" not in gradient.source
    assert "for j in range(49999, 0, " in gradient.source
