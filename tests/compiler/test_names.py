"""Names of users that programs use themselves; many guards; functions without source; pickle."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import gradwrap as gw

X = np.linspace(0.5, 1.5, 12)
NAMES = (
    *("kernel0", "kernel1", "enumerate", "zip", "range", "slice", "bool", "int", "float", "len"),
    *("IndexError", "WORKSPACES", "Missed", "aligned", "add_at", "compiled", "arrays", "pathlib"),
    *("np_", "w0", "t1", "g2", "c0", "r1_0", "k", "i", "sin", "scipy", "a0"),
)


def chained(name: str) -> Any:
    """Make a function of an argument of this name."""
    scope: dict[str, Any] = {"np": np, "numbers": [*range(1, 12)]}
    lines = [
        f"def f({name}):",
        f"    s = {name}[0]",
        "    for i_ in numbers:",
        f"        s = np.sin(s) * {name}[i_]",
        "    return s",
    ]
    exec("\n".join(lines), scope)  # noqa: S102  written here
    return scope["f"]


def closed_over(name: str) -> Any:
    """Make a function that reads a global array of this name."""
    scope: dict[str, Any] = {"np": np, name: np.linspace(1.0, 2.0, 12), "numbers": [*range(1, 12)]}
    lines = [
        "def f(x):",
        "    s = x[0]",
        "    for i_ in numbers:",
        f"        s = np.sin(s) * x[i_] * {name}[i_]",
        f"    return s + np.sum(np.exp({name}) * x)",
    ]
    exec("\n".join(lines), scope)  # noqa: S102  written here
    return scope["f"]


@pytest.mark.parametrize("engine", ["numpy", "c"])
@pytest.mark.parametrize("make", [chained, closed_over])
@pytest.mark.parametrize("name", NAMES)
def test_an_array_may_have_the_name(name: str, make: Any, engine: str) -> None:
    function = gw.grad(make(name))
    compiled = gw.compile(function, engine=engine)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled(X)
        found = compiled(X + 0.25)
    np.testing.assert_allclose(found, function(X + 0.25), rtol=1e-12)
    assert "not rolled" not in compiled.explain()
    plain: Any = gw.compile(gw.grad(make("plain")), engine=engine)
    plain(X)
    assert len(compiled.programs[0].root.body) == len(plain.programs[0].root.body)


@pytest.mark.slow
@pytest.mark.unverified
@pytest.mark.parametrize("engine", ["numpy", "c"])
def test_a_loop_that_looks_at_values_may_take_nine_hundred_turns(engine: str) -> None:
    def f(x: Any) -> Any:
        total = x[0] * 0.0
        while total < x[1]:
            total = total + x[0]
        return total * total

    compiled = gw.compile(gw.grad(f), engine=engine)
    for turns in (900, 897):
        x = np.array([1.0, turns - 0.5])
        for _ in range(2):
            np.testing.assert_array_equal(compiled(x), [2.0 * turns**2, 0.0])
    assert len(compiled.programs) == 1
