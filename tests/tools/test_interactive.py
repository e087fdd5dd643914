"""What people see who work interactively: names, tracebacks, the display of variables."""

from __future__ import annotations

import linecache
import pydoc
import re
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradwrap as gw

X = np.array([1.0, 2.0, 3.0])
HERE = Path(__file__).name
ALL: list[str] = vars(gw)["__all__"]  # not for checkers, which see the imports


# Names --------------------------------------------------------------------------------------------


def test_names_are_the_public_ones() -> None:
    assert dir(gw) == sorted([*ALL, "__version__"])
    assert {"grad", "vmap", "wrap", "draw", "autograd", "testing", "errors"} <= set(ALL)
    assert all(hasattr(gw, name) for name in ALL)
    internal = {"core", "rules", "backends", "transforms", "drawing", "adaptation", "annotations"}
    assert internal.isdisjoint(ALL)
    assert not any(name.startswith("_") for name in ALL)


@pytest.mark.slow
def test_star_import_gives_them() -> None:
    code = "from gradwrap import *; print(sorted(name for name in dir() if name[0] != '_'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout.strip() == str(ALL)


def test_help_lists_them() -> None:
    text = pydoc.plain(pydoc.render_doc(gw))
    functions = text.partition("FUNCTIONS")[2].partition("DATA")[0]
    found = set(re.findall(r"^    (\w+)\(", functions, re.MULTILINE))
    assert {"hessian", "vmap", "wrap"} <= found
    assert found <= set(ALL)


# Tracebacks ---------------------------------------------------------------------------------------


def refused(x: Any) -> Any:
    return np.array([x[0], 1.0]).sum()


def calls_refused(x: Any) -> Any:
    return refused(2.0 * x)


def missing(x: Any) -> Any:
    return x + globals()["nowhere"]


def mismatched(x: Any) -> Any:
    return x @ np.ones(7)


def of_python(x: Any) -> Any:
    return "text" + x


def chained(x: Any) -> Any:
    try:
        return missing(x)
    except KeyError:
        raise ValueError("x")  # noqa: B904  the context is what is tested


def frames(fun: Any) -> list[tuple[str, str]]:
    """Return the file and the function of each line of a traceback through two transforms."""
    with pytest.raises(Exception) as caught:  # noqa: PT011  each its own
        gw.vmap(gw.grad(fun))(np.ones((2, 3)))
    return [(Path(frame.filename).name, frame.name) for frame in traceback.extract_tb(caught.tb)]


def test_traceback_ends_in_the_users_line() -> None:
    outside = [(HERE, "frames"), ("batch.py", "mapped")]
    assert frames(calls_refused) == [*outside, (HERE, "calls_refused"), (HERE, "refused")]


def test_errors_of_python_keep_their_place() -> None:
    assert frames(missing)[1:] == [("batch.py", "mapped"), (HERE, "missing")]
    assert frames(of_python)[-1] == (HERE, "of_python")


def test_frames_after_the_users_stay_if_the_error_is_not_gradwraps() -> None:
    found = frames(mismatched)
    assert found[1:3] == [("batch.py", "mapped"), (HERE, "mismatched")]
    assert len(found) > 3


def test_context_of_an_error_stays() -> None:
    with pytest.raises(ValueError, match="x") as caught:
        gw.grad(chained)(X)
    assert isinstance(caught.value.__context__, KeyError)
    assert not caught.value.__suppress_context__


def test_all_frames_are_shown_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADWRAP_TRACEBACK", "full")
    names = [name for _, name in frames(calls_refused)]
    assert names.count("run") == 2
    assert names.index("mapped") < names.index("gradient") < names.index("refused")
    assert names[-1] != "refused"


def test_generated_calls_have_their_source() -> None:
    with pytest.raises(ValueError, match="could not be broadcast") as caught:
        gw.grad(lambda x: np.sum(x * np.ones(2)))(X)
    generated = [f for f in traceback.extract_tb(caught.tb) if f.filename.startswith("<gradwrap: ")]
    assert generated
    assert all(frame.line for frame in generated)
    linecache.checkcache()
    assert all(linecache.getline(frame.filename, frame.lineno or 1) for frame in generated)


# Variables ----------------------------------------------------------------------------------------


def html(variable: Any) -> str:
    text: str = variable._repr_html_()
    return text


def test_display_has_value_kind_and_origin() -> None:
    leaf = gw.wrap(np.array([1.0, 2.0]), requires_grad=True)
    assert "Variable float64[2] (numpy, cpu), a leaf that requires grad" in html(leaf)
    assert "<pre>array([1., 2.])</pre>" in html(leaf)
    result = np.sum(leaf * leaf)
    assert "Variable float64[] (numpy, cpu), from &lt;SumBackward&gt;" in html(result)
    assert "not tracked" in html(gw.wrap(X))
    result.backward()
    assert "<code>grad</code><pre>array([2., 4.])</pre>" in html(leaf)
    assert html(result).startswith("<div>")  # its graph is freed


def test_display_of_a_large_array_is_short() -> None:
    assert len(html(gw.wrap(np.random.default_rng(0).normal(size=(500, 500))))) < 3_000


def test_display_has_a_small_graph() -> None:
    x = gw.wrap(X, requires_grad=True)
    assert html(np.sum(np.tanh(x) * x)).count("<svg") == 1
    for _ in range(600):
        x = np.tanh(x)
    assert "<svg" not in html(x)


def test_display_under_transforms() -> None:
    seen: list[str] = []

    def f(x: Any) -> Any:
        seen.extend([repr(x), html(x)])
        return np.sum(x)

    gw.vmap(gw.grad(f))(np.ones((2, 3)))
    gw.vmap(f)(np.ones((2, 3)))
    gw.jvp(f, (X,), (X,))
    assert seen[0] == f"Variable({seen[2]}, requires_grad=True)"
    assert seen[1].startswith("<div><code>Variable float64[3] (numpy, cpu), a leaf")
    assert seen[2].startswith("Batched(")
    assert seen[5] == "<pre>Dual(array([1., 2., 3.]), tangent=array([1., 2., 3.]))</pre>"
