"""Names of other libraries that gradwrap does not have: the error says what to write."""

from __future__ import annotations

import re
from typing import Any

import pytest

import gradwrap
from gradwrap._elsewhere import INSTEAD

gw: Any = gradwrap


@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("jit", "gradwrap.compile(f)"),
        ("make_vjp", "gradwrap.vjp(f, x)"),
        ("tensor", "gradwrap.wrap(np.array(values), requires_grad=True)"),
        ("stack", "np.stack, since NumPy's functions take tracked arrays"),
        ("dask", "import gradwrap.dask"),
    ],
)
def test_the_error_says_what_to_write(name: str, fix: str, monkeypatch: Any) -> None:
    monkeypatch.delitem(vars(gw), name, raising=False)
    with pytest.raises(AttributeError) as raised:
        getattr(gw, name)
    assert str(raised.value) == f"module 'gradwrap' has no attribute '{name}'. Fix: {fix}."


def test_a_name_of_no_library_is_an_error_alone() -> None:
    with pytest.raises(AttributeError, match=r"^module 'gradwrap' has no attribute 'nonsense'$"):
        _ = gw.nonsense


def test_everything_they_name_exists() -> None:
    named = {word for fix in INSTEAD.values() for word in re.findall(r"gradwrap\.(\w+)", fix)}
    modules = {"adaptation", "cupy", "dask", "numpy", "profiling", "scipy"}
    assert [word for word in sorted(named - modules) if not hasattr(gw, word)] == []
    assert [name for name in INSTEAD if name in gw.__all__] == []
