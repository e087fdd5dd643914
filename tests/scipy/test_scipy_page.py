"""The table knows every public name of the SciPy that is installed, and its page is current."""

from __future__ import annotations

from importlib import import_module

import pytest

import make_scipy
from gradwrap.scipy.table import all_rows, rows_of
from scipy_names import NAMES

OBJECTS = {row.path.rpartition(".")[2] for row in all_rows()}
# the rows of methods, such as those of stats.multivariate_normal, are below an object's name
PARENTS = {row.path.rpartition(".")[0] for row in all_rows()}
MODULES = sorted({*NAMES, *(name for name in PARENTS if name.rpartition(".")[2] not in OBJECTS)})


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_is_a_row_or_listed_with_what_it_is(module: str) -> None:
    public = set(import_module(f"scipy.{module}").__all__)
    listed = [name for names in NAMES.get(module, {}).values() for name in names.split()]

    assert len(listed) == len(set(listed))
    assert not set(listed) & set(rows_of(module))
    assert public - set(listed) - set(rows_of(module)) == set()


def test_page_is_current() -> None:
    old = make_scipy.PAGE.read_text(encoding="utf-8")

    assert make_scipy.page(old) == old


def test_check_of_an_old_page_says_what_to_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(make_scipy, "page", lambda old: old + "more")

    assert make_scipy.main(["--check"]) == 1
    assert capsys.readouterr().out.endswith("Fix: python docs/make_scipy.py\n")
