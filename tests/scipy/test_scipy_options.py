"""Options of SciPy's functions: a sample of what `tests/support/scipy_options.py` tries in full."""

from __future__ import annotations

import numpy as np
import pytest

import scipy_options
from scipy_options import Case, cases, documented_values, problem_of

EVERY = list(cases([]))
TRIED = EVERY[::6]


def test_many_options_are_found() -> None:
    assert len(EVERY) >= 1200
    assert len({case.row.path for case in EVERY}) >= 200


def test_values_are_read_from_docs() -> None:
    doc = "x : array\nmode : {'reflect', 2}, optional\nnorm, type : str\n    Such as 'a'."

    found = documented_values(doc)

    assert found == {"x": [], "mode": ["reflect", "reflect", 2], "norm": ["a"], "type": ["a"]}


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in TRIED])
def test_option_is_right_or_refused(case: Case) -> None:
    assert problem_of(case) is None


def test_wrong_derivative_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    case = next(case for case in cases(["ndimage.sobel"]) if case.options == {"mode": "wrap"})
    monkeypatch.setattr(scipy_options, "dispatcher", lambda _: lambda x, **options: 2.0 * np.sum(x))

    assert "by differences" in str(problem_of(case))
