"""The verifier finds the faults of programs, and of calls."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import gradwrap as gw
import gradwrap.numpy as gnp
from gradwrap.compiler import pipeline
from gradwrap.compiler.ir.layout import order_of
from gradwrap.compiler.ir.program import Loop, Program, Ref, Value
from gradwrap.compiler.ir.verify import ProgramError, is_checking, parts_of, verify
from gradwrap.errors import CompileError

X = np.linspace(0.1, 1.0, 24)


def _straight() -> Program:
    compiled: Any = gw.compile(lambda x: np.sin(x) * np.exp(x))
    compiled(X)
    program: Program = compiled.programs[0]
    return program.copy()


def _rolled() -> tuple[Program, Loop]:
    def f(x: Any) -> Any:
        s = x[0]
        for i in range(1, 24):
            s = np.sin(s) * x[i]
        return s

    compiled: Any = gw.compile(f)
    compiled(X)
    program: Program = compiled.programs[0].copy()
    loop = next(step for step in program.root.body if isinstance(step, Loop))
    return program, loop


def _steps(program: Program) -> list[Any]:
    return program.root.body


def _swap(program: Program) -> None:
    _steps(program).reverse()


def _twice(program: Program) -> None:
    _steps(program).append(_steps(program)[0])


def _operand(program: Program) -> None:
    step = _steps(program)[-1]
    _steps(program)[-1] = step.on((Ref(10_000), step.args[1]))


def _count(program: Program) -> None:
    step = _steps(program)[-1]
    _steps(program)[-1] = step.on(step.args[:1])


def _literal(program: Program) -> None:
    step = _steps(program)[-1]
    _steps(program)[-1] = step.on((step.args[0], X))


def _name(program: Program) -> None:
    _steps(program)[-1] = replace(_steps(program)[-1], name="add")


def _leaf(program: Program) -> None:
    assert program.root.result is not None
    program.root.result = program.root.result._replace(leaves=(Ref(len(program.values) + 1),))


def _no_end(program: Program) -> None:
    program.root.result = None


def _branches(program: Program) -> None:
    program.root.branches[True] = replace(program.root)


STRUCTURE: dict[str, tuple[Any, str]] = {
    "order": (_swap, r"reads t\d+ before it is given"),
    "two definitions": (_twice, r"gives t\d+, which is given before"),
    "no such value": (_operand, "reads t10000 before it is given"),
    "operands of a ufunc": (_count, "has 1 operands"),
    "an array as a literal": (_literal, "has an array as a literal"),
    "another function": (_name, "calls multiply"),
    "the result": (_leaf, "the result reads"),
    "no end": (_no_end, "neither a guard nor a result"),
    "branches without a guard": (_branches, "without a guard has branches"),
}


@pytest.mark.parametrize("case", STRUCTURE)
def test_faults_of_structure_are_found(case: str) -> None:
    change, fault = STRUCTURE[case]
    program = _straight()
    verify(program, "nothing")
    before = parts_of(program)
    change(program)
    assert parts_of(program) != before
    with pytest.raises(ProgramError, match=fault) as caught:
        verify(program, "a pass")
    assert "after the pass 'a pass'" in str(caught.value)


def test_a_copy_has_the_same_parts_until_it_is_changed() -> None:
    program, _ = _rolled()
    before = parts_of(program)
    assert parts_of(program) == before
    other = program.copy()
    assert parts_of(other) == before
    loop = next(step for step in other.root.body if isinstance(step, Loop))
    loop.body.pop()
    assert parts_of(other) != before
    assert parts_of(program) == before


def _value(**changes: Any) -> Any:
    def change(program: Program) -> None:
        out: int = _steps(program)[-1].out
        program.values[out] = program.values[out]._replace(**changes)

    return change


VALUES: dict[str, tuple[Any, str]] = {
    "shape": (_value(shape=(25,)), r"shape=\(24,\).* in place of .*shape=\(25,\)"),
    "dtype": (_value(dtype=np.dtype("f4")), "float64.* in place of .*float32"),
    "a number": (_value(is_ndarray=False), "is_ndarray=True.* in place of .*is_ndarray=False"),
    "memory order": (_value(order="F"), "order='C'.* in place of .*order='F'"),
    "several outputs": (_value(is_tuple=True), "in place of several outputs"),
}


@pytest.mark.parametrize("case", VALUES)
def test_wrong_descriptions_are_found(case: str) -> None:
    change, fault = VALUES[case]
    program = _straight()
    verify(program, "nothing", [X])
    before = parts_of(program)
    change(program)
    assert parts_of(program) != before
    with pytest.raises(ProgramError, match=f"(?s){fault}"):
        verify(program, "a pass", [X])


def _later(loop: Loop) -> None:
    loop.body.reverse()


def _first(loop: Loop) -> None:
    loop.carries[0] = loop.carries[0]._replace(first=Ref(0))


def _next(loop: Loop) -> None:
    loop.carries[0] = loop.carries[0]._replace(next=0)


def _reads(loop: Loop) -> None:
    index = next(iter(loop.reads))
    loop.reads[index] = Ref(0)


def _found_twice(loop: Loop) -> None:
    loop.reads[loop.carries[0].value] = next(iter(loop.reads.values()))


def _turns(loop: Loop) -> None:
    loop.turns = 0


LOOPS: dict[str, tuple[Any, str]] = {
    "order": (_later, r"reads t\d+ before it is given"),
    "a first value": (_first, "begins with"),
    "a next value": (_next, "hands on"),
    "parts of turns": (_reads, r"reads Value\(shape=\(\)"),
    "two meanings": (_found_twice, "finds one twice"),
    "no turns": (_turns, "has no turns"),
}


@pytest.mark.parametrize("case", LOOPS)
def test_faults_of_loops_are_found(case: str) -> None:
    change, fault = LOOPS[case]
    program, loop = _rolled()
    verify(program, "nothing", [X])
    before = parts_of(program)
    change(loop)
    assert parts_of(program) != before
    with pytest.raises(ProgramError, match=fault):
        verify(program, "a pass")


def test_lengths_of_stacks_are_compared() -> None:
    program, loop = _rolled()
    loop.stacks[loop.carries[0].next] = program.new(
        Value((3,), np.dtype(float), is_ndarray=True)
    ).index
    with pytest.raises(ProgramError, match=r"of 23 turns.* stacks"):
        verify(program, "a pass")


def test_values_of_a_body_stay_in_it() -> None:
    program, loop = _rolled()
    assert program.root.result is not None
    leaves = (Ref(loop.carries[0].next),)
    program.root.result = program.root.result._replace(leaves=leaves)
    with pytest.raises(ProgramError, match="the result reads"):
        verify(program, "a pass")


def test_a_pass_that_breaks_a_program_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = pipeline.Pass("break it", _swap)
    monkeypatch.setattr(pipeline, "PASSES", (*pipeline.PASSES, broken))
    compiled: Any = gw.compile(lambda x: np.sin(x) * np.exp(x))
    with pytest.raises(ProgramError, match="after the pass 'break it'"):
        compiled(X)


def _round(program: Program) -> None:
    step = _steps(program)[0]
    _steps(program)[0] = replace(step, fn=np.cos, name="cos")


def _round_and_say_so(program: Program) -> None:
    program.exact = False


ROUNDING: dict[str, tuple[Any, str]] = {
    "in secret": (_round, "has changed the results, and has left the program `exact`"),
    "against its word": (_round_and_say_so, "'break it' changes how values are rounded"),
}


@pytest.mark.parametrize("case", ROUNDING)
def test_a_pass_that_rounds_otherwise_is_named(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    change, fault = ROUNDING[case]
    monkeypatch.setattr(pipeline, "PASSES", (*pipeline.PASSES, pipeline.Pass("break it", change)))
    compiled: Any = gw.compile(lambda x: np.sin(x) * np.exp(x))
    with pytest.raises(ProgramError, match=fault):
        compiled(X)


def test_each_call_is_compared_with_eager(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: Any = gw.compile(lambda x: np.sin(x) * 2.0)
    compiled(X)
    (entry,) = compiled._entries.values()
    entry.executable = entry.executable._replace(call=lambda x: (np.sin(x) * 2.0 + 1e-9,))
    with pytest.raises(CompileError, match="differs from the function: other values"):
        compiled(X)
    monkeypatch.delenv("GRADWRAP_CHECK")
    assert compiled(X) == pytest.approx(np.sin(X) * 2.0, rel=1e-6)
    assert is_checking() is False


ARRAYS: dict[str, tuple[Any, str]] = {
    "in order": (np.ones((3, 4)), "C"),
    "columns first": (np.ones((3, 4)).T, "F"),
    "every second row": (np.ones((6, 4))[::2], "S"),
    "reversed": (np.ones((6, 4))[::-1], "S"),
    "a number in each column": (np.broadcast_to(np.ones((3, 1)), (3, 4)), "S"),
    "a number in each row": (np.broadcast_to(np.ones(4), (3, 4)), "?"),
    "the first axes exchanged": (np.ones((2, 3, 4)).swapaxes(0, 1), "?"),
}


@pytest.mark.parametrize("case", ARRAYS)
def test_memory_orders(case: str) -> None:
    array, order = ARRAYS[case]
    assert order_of(array) == order


def _rows(x: Any) -> Any:
    h = x[0].T
    found = []
    for i in range(1, 24):
        h = np.tanh(h * 0.5 + x[i].T)
        found.append(h * 2.0)
    return found[3], h


def _by_columns(x: Any) -> Any:
    s = 0.0
    for i in range(24):
        s = s + np.sum(np.sin(x[:, :, i]) * x[:, :, i].T)
    return s


@pytest.mark.parametrize("function", [_rows, _by_columns, gw.grad(_by_columns)])
def test_orders_in_loops_of_matrices_are_known(function: Any) -> None:
    """Stacks of transposed matrices do not lie in C's order; the verifier compares them."""
    x = np.random.default_rng(0).normal(size=(24, 24, 24))
    for array in (x, np.asfortranarray(x), x[::-1]):
        compiled: Any = gw.compile(function)
        compiled(array)
        compiled(array)
        notes = compiled.programs[0].notes
        assert any(re.match("loop: ", note) for note in notes)


def _written_by_rows(m: Any) -> Any:
    p, q = gnp.array(1.0 * m), gnp.zeros(m.shape)
    for _ in range(3):
        q[1:-1] += 0.2 * (p[2:] - p[:-2])
        p[1:-1] += -0.1 * q[1:-1]
    return p, q


def test_what_is_read_of_a_write_lies_as_the_array_does() -> None:
    m = np.random.default_rng(0).normal(size=(6, 3))
    for array in (m, np.asfortranarray(m)):
        compiled: Any = gw.compile(_written_by_rows)
        for _ in range(2):
            for found, wanted in zip(compiled(array), _written_by_rows(array), strict=True):
                assert order_of(found) == order_of(wanted)
                np.testing.assert_allclose(found, wanted, rtol=1e-14)
