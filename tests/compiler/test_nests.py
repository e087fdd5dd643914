"""Loops of ever more or fewer turns, with steps around them: `gradwrap.compiler.rolling.nests`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap.numpy as gnp
from gradwrap.compiler.ir.evaluate import evaluated
from gradwrap.compiler.ir.program import (
    Block,
    Carry,
    Constant,
    Instr,
    Loop,
    Program,
    Ref,
    Result,
    Value,
)
from gradwrap.compiler.ir.verify import ProgramError, verify
from gradwrap.core.values.tree import flatten
from sampling import crossed
from square_systems import ENGINES, HAS_COMPILER, compiled_at

if TYPE_CHECKING:
    from collections.abc import Callable


def forward(L: Any, b: Any) -> Any:
    x = gnp.zeros_like(b)
    for i in range(len(b)):
        s = b[i]
        for j in range(i):
            s = s - L[i, j] * x[j]
        x[i] = s / L[i, i]
    return np.sum(x * x)


def backward(U: Any, b: Any) -> Any:
    n = len(b)
    x = gnp.zeros_like(b)
    for i in range(n - 1, -1, -1):
        s = b[i]
        for j in range(i + 1, n):
            s = s - U[i, j] * x[j]
        x[i] = s / U[i, i]
    return np.sum(x * x)


def factors(a: Any, b: Any) -> Any:
    n = len(a)
    a = a.copy()
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[k, j]
            a[i, j] /= a[j, j]
        for j in range(i, n):
            for k in range(i):
                a[i, j] -= a[i, k] * a[k, j]
    return np.sum(a * a) + np.sum(b)


def cholesky(a: Any, b: Any) -> Any:
    a = a.copy()
    a[0, 0] = np.sqrt(a[0, 0])
    for i in range(1, len(a)):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[j, k]
            a[i, j] /= a[j, j]
        for k in range(i):
            a[i, i] -= a[i, k] * a[i, k]
        a[i, i] = np.sqrt(a[i, i])
    return np.sum(np.tril(a) ** 2) + np.sum(b)


def rows(A: Any, b: Any) -> Any:
    v, s = b[:3], b[0]
    for i in range(len(b) - 1):
        for j in range(len(b) - i):
            v = np.tanh(v) + A[i, :3] * b[j]
        s = s + np.sum(v * v)
    return s


FUNCTIONS = [forward, backward, factors, cholesky, rows]


@pytest.mark.parametrize(
    ("function", "engine"),
    crossed([forward, *(pytest.param(f, marks=pytest.mark.slow) for f in FUNCTIONS[1:])], ENGINES),
)
def test_the_program_is_extrapolated_with_loops_that_count(
    function: Callable[..., Any], engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gradwrap.compiler.calls.entry.FIRST", 60)
    report = compiled_at(function, 23, engine)
    assert "extrapolated from traces of 11, 12, 13 turns" in report
    assert re.search(r"loop: \d to 2\d turns, line", report)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_the_program_is_as_long_at_any_length(engine: str) -> None:
    found = [re.search(r"instructions: (\d+)", compiled_at(forward, n, engine)) for n in (60, 90)]
    lengths = [int(one[1]) for one in found if one]
    assert len(lengths) == 2
    assert lengths[0] == lengths[1]


@pytest.mark.skipif(not HAS_COMPILER, reason="there is no C compiler")
@pytest.mark.parametrize(
    "function", [*FUNCTIONS[:2], *(pytest.param(f, marks=pytest.mark.slow) for f in FUNCTIONS[2:])]
)
def test_a_short_program_has_them_too(function: Callable[..., Any]) -> None:
    assert re.search(r"loop: \d to 1\d turns, line", compiled_at(function, 12, "c"))


def test_their_stacks_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gradwrap.compiler.calls.entry.FIRST", 60)
    monkeypatch.setattr("gradwrap.compiler.calls.entry.PADDED", 1000)
    report = compiled_at(forward, 23, "numpy")
    assert "the stacks of its loops would take more than 1000 bytes" in report


@pytest.mark.slow
def test_a_program_with_them_keeps_all_that_its_backward_loops_read() -> None:
    report = compiled_at(forward, 70, "numpy", memory=1e3)
    assert "checkpoints: " not in report


def sequential(count: Any, n: int = 5) -> Program:
    """Return a program that adds up the first `count` elements of its argument."""
    number, array = Value((), np.dtype(float), False), Value((n,), np.dtype(float), True)
    values = [array, number, number, number, number, number, Value((), np.dtype(np.int64), True)]
    loop = Loop(
        n,
        [Instr(np.add, "add", (Ref(1), Ref(2)), (), 3)],
        [Carry(1, np.float64(0.5), 3)],
        {2: Ref(0)},
        finals={3: 4},
        count=Ref(6),
    )
    result = Result((Ref(4),), flatten(0.0)[1])
    constants = {6: Constant(np.asarray(count), by_reference=False, name="")}
    return Program(
        values, (0,), ("x",), constants, Block([loop], result=result), shares=[[frozenset()]]
    )


@pytest.mark.parametrize("count", [0, 3, 5])
def test_a_loop_performs_as_many_turns_as_it_counts(count: int) -> None:
    x = np.arange(5.0) + 1
    program = sequential(count)
    verify(program, "test", [x])
    assert evaluated(program, [x]) == (0.5 + np.sum(x[:count]),)


def test_a_count_that_is_no_integer_is_a_fault() -> None:
    program = sequential(3)
    program.values[6] = Value((), np.dtype(float), True)
    program.constants[6] = Constant(np.asarray(3.0), by_reference=False, name="")
    with pytest.raises(ProgramError, match="performs"):
        verify(program, "test")


def test_a_final_value_that_no_turn_hands_on_is_a_fault() -> None:
    program = sequential(3)
    (loop,) = program.root.body
    assert isinstance(loop, Loop)
    loop.carries = [Carry(1, np.float64(0.5), 5)]
    loop.body.append(Instr(np.negative, "negative", (Ref(1),), (), 5))
    with pytest.raises(ProgramError, match="may not have computed"):
        verify(program, "test")


def test_jax_performs_them_too() -> None:
    jax = pytest.importorskip("jax")
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    try:
        report = compiled_at(forward, 12, "jax")
    finally:
        jax.config.update("jax_enable_x64", before)
    assert re.search(r"loop: \d to 1\d turns, line", report)
