"""The list of NumPy's names that `gradwrap.numpy` shows to mypy."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import gradwrap

PATH = Path(gradwrap.__file__).parent / "typing" / "numpy_names.py"
NAMES = re.findall(r"\b(\w+) as \1\b", PATH.read_text(encoding="utf-8"))
# What NumPy 2.0 has, and a later one has not; and what its stubs leave out
GONE = {"in1d", "row_stack", "trapz"}
NOT_IN_THE_STUBS = {"core", "f2py", "trapezoid"}


def test_every_name_is_one_of_numpys() -> None:
    assert [name for name in NAMES if not hasattr(np, name)] == []
    assert sorted(set(NAMES)) == sorted(NAMES)


@pytest.mark.skipif(not np.__version__.startswith("2.0."), reason="a list of NumPy 2.0")
def test_all_names_are_there() -> None:
    public = {name for name in dir(np) if not name.startswith("_")}
    assert public - GONE - NOT_IN_THE_STUBS == set(NAMES)
