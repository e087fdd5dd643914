"""Gradients of functions of a matrix and a vector, compiled and compared with eager ones."""

from __future__ import annotations

import shutil
from typing import Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.core.values.tree import flatten

HAS_COMPILER = shutil.which("cc") is not None
ENGINES = [
    "numpy",
    pytest.param("c", marks=pytest.mark.skipif(not HAS_COMPILER, reason="there is no C compiler")),
]


def arguments(n: int, seed: int) -> tuple[Any, Any]:
    """Return a positive definite matrix and a vector."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(n, n))
    return a @ a.T / n + 2 * np.eye(n), rng.normal(size=n)


def compiled_at(function: Any, n: int, engine: str, *, atol: float = 1e-12, **options: Any) -> str:
    """Compare a compiled gradient with eager at other arguments; return its explanation."""
    gradient = gw.grad(function, (0, 1))
    compiled = gw.compile(gradient, engine=engine, **options)
    compiled(*arguments(n, 0))
    for seed in (1, 2):
        given = arguments(n, seed)
        for wanted, found in zip(flatten(gradient(*given))[0], compiled(*given), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=atol)
    return str(compiled.explain())
