"""Each row of SciPy's table is tested: by its samples, or by name in a test of its own.

Sparse matrices are tested by `test_scipy_sparse.py` in all formats.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gradwrap.scipy.dispatching import Composed
from gradwrap.scipy.kinds import Derived
from gradwrap.scipy.table import Row, all_rows
from samples import SAMPLES
from scipy_samples import Random

ROWS = {row.path: row for row in all_rows()}
OTHERS = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))


def test_samples_are_of_rows() -> None:
    assert set(SAMPLES) <= set(ROWS)


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, id=path)
        for path, row in ROWS.items()
        if isinstance(row.kind, (Derived, Composed)) and not row.path.startswith("sparse.")
    ],
)
def test_row_has_samples_or_a_test_that_names_it(row: Row) -> None:
    name = row.path.rpartition(".")[2]
    of = row.path.split(".")[1]

    has_samples = row.path in SAMPLES and bool(SAMPLES[row.path](Random()))

    assert has_samples or re.search(rf"\b({name}|{of})\b", OTHERS)
