"""Compiled random programs on NaN, infinities, and arrays in unusual memory."""

from __future__ import annotations

import shutil

import pytest
from tests.fuzz.hostile import run

needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
SEEDS = 40


@pytest.mark.parametrize("seed", range(SEEDS))
def test_compiled_programs_do_what_eager_does(seed: int) -> None:
    assert run(seed).problem == ""


@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(SEEDS, SEEDS + 12))
def test_kernels_do_what_eager_does(seed: int) -> None:
    assert run(seed, "c").problem == ""
