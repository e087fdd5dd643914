"""Options of SciPy's functions: a sample of what `tests/support/scipy_options.py` tries in full."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

import scipy_options
from gradwrap.scipy.table import all_rows
from samples import SAMPLES
from scipy_options import cases, documented_values, problem_of


@pytest.mark.slow
def test_many_options_are_found() -> None:
    every = list(cases([]))
    assert len(every) >= 1200
    assert len({case.row.path for case in every}) >= 200


def test_values_are_read_from_docs() -> None:
    doc = "x : array\nmode : {'reflect', 2}, optional\nnorm, type : str\n    Such as 'a'."

    found = documented_values(doc)

    assert found == {"x": [], "mode": ["reflect", "reflect", 2], "norm": ["a"], "type": ["a"]}


@pytest.mark.parametrize("path", sorted({row.path for row in all_rows()} & SAMPLES.keys()))
def test_option_is_right_or_refused(path: str) -> None:
    """One option in six of each row, or one; which ones depends on the row's name."""
    found = list(cases([], path))
    for case in found[zlib.crc32(path.encode()) % min(6, max(1, len(found))) :: 6]:
        assert problem_of(case) is None, case.name


def test_wrong_derivative_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    case = next(case for case in cases(["ndimage.sobel"]) if case.options == {"mode": "wrap"})
    monkeypatch.setattr(scipy_options, "dispatcher", lambda _: lambda x, **options: 2.0 * np.sum(x))

    assert "by differences" in str(problem_of(case))
