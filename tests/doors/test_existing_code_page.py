"""The table of docs/existing-code.md: each line is run, as it stands and adapted."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import GradwrapError
from packages import written

if TYPE_CHECKING:
    from collections.abc import Callable

PAGE = Path(__file__).parents[2] / "docs" / "existing-code.md"
ROWS = re.findall(r"^\| `(y = .*)` \| (.*?) \| (.*?) \|$", PAGE.read_text("utf-8"), re.MULTILINE)
X = np.array([1.3, 0.7])


def gradient(f: Callable[[Any], Any]) -> Any:
    return gw.grad(lambda x: np.sum(f(x)))(X)


@pytest.mark.parametrize(("code", "as_it_stands", "adapted"), ROWS, ids=[row[0] for row in ROWS])
def test_a_line_of_the_table(tmp_path: Path, code: str, as_it_stands: str, adapted: str) -> None:
    source = f"A = np.array([[1.0, 2.0], [0.5, -1.0]])\n\ndef f(x):\n    {code}\n    return y"
    package = written(tmp_path, source)
    if adapted == "raises":
        for f in (package.f, gw.adapting(package.f)):
            with pytest.raises(GradwrapError):
                gradient(f)
        return
    steps = np.eye(2) * 1e-6
    expected = [np.sum(package.f(X + e) - package.f(X - e)) / 2e-6 for e in steps]
    np.testing.assert_allclose(gradient(gw.adapting(package.f)), expected, rtol=1e-6, atol=1e-9)
    if as_it_stands == "differentiated":
        np.testing.assert_allclose(gradient(package.f), expected, rtol=1e-6, atol=1e-9)
    elif as_it_stands == "raises":
        with pytest.raises(GradwrapError):
            gradient(package.f)
    else:  # it has another value, or a part of the derivative
        assert not np.allclose(gradient(package.f), expected)


def test_the_table_has_lines_of_each_kind() -> None:
    assert {"differentiated", "raises"} <= {row[1] for row in ROWS}
    assert len(ROWS) > 15
