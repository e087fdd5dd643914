"""Stacks of which only the last turns are read are not kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.compiler.ir.program import Loop


def _alternating(a: Any, b: Any) -> Any:
    a, b = a.copy(), b.copy()
    for _ in range(30):
        b[1:-1] = 0.3 * (a[:-2] + a[1:-1] + a[2:])
        a[1:-1] = 0.3 * (b[:-2] + b[1:-1] + b[2:])
    return a, b


def _third_last(a: Any, b: Any) -> Any:
    states = [a]
    for _ in range(40):
        states.append(states[-1] * b + 1.0)
    return states[-1] * states[-2] + states[-3]


def _second_last(a: Any, b: Any) -> Any:
    states = [a]
    for _ in range(40):
        states.append(states[-1] * b + 1.0)
    return states[-1] * states[-2][::-1]


def _all_states(a: Any, b: Any) -> Any:
    states = [a]
    for _ in range(40):
        states.append(states[-1] * b + 1.0)
    return np.stack(states)[3:-1], states[-1]


@pytest.mark.parametrize("size", [12, 1])
@pytest.mark.parametrize(
    ("fun", "stacks"), [(_alternating, 0), (_second_last, 0), (_third_last, 1), (_all_states, 1)]
)
def test_a_stack_is_kept_if_more_than_the_last_turns_are_read(
    fun: Any, stacks: int, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADWRAP_CHECK", "1")
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(2, size)) / 4
    wanted = fun(a, b)
    for engine in ("numpy", "c"):
        compiled: Any = gw.compile(fun, engine=engine)
        compiled(a, b)
        for one, other in zip(wanted, compiled(a, b), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-13)
    loops = [step for step in compiled.programs[0].root.body if isinstance(step, Loop)]
    found = sum(len(loop.stacks) for loop in loops)
    assert found == stacks or not loops
    assert loops or size == 1
