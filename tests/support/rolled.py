"""Programs whose loops have been found, compared with eager."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

import gradwrap as gw
from gradwrap.compiler.ir.evaluate import evaluated
from gradwrap.compiler.ir.program import Carry, Instr, Loop, Program, Ref, Value
from gradwrap.core.values.tree import flatten

if TYPE_CHECKING:
    from collections.abc import Callable


def compiled_to(function: Callable[..., Any], *args: Any, roll: bool = True) -> Program:
    """Compile a function, compare it with eager at two points, and return its program."""
    compiled: Any = gw.compile(function)
    others = tuple(a * a.dtype.type(0.9) for a in args)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        results = [compiled(*at) for at in (args, others, args)]
    for at, found in zip((args, others, args), results, strict=True):
        wanted = flatten(function(*at))[0]
        for a, b in zip(wanted, flatten(found)[0], strict=True):
            assert type(a) is type(b)
            assert a.dtype == b.dtype
            tolerance = 1e-11 if a.dtype.itemsize == 8 else 1e-4
            np.testing.assert_allclose(b, a, rtol=tolerance, atol=tolerance * np.max(np.abs(a)))
    program: Program = compiled.programs[0]
    assert any(note.startswith("loop") for note in program.notes) == roll, program.notes
    by_steps = evaluated(program, args)
    for a, b in zip(by_steps, flatten(results[0])[0], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12 if b.dtype.itemsize == 8 else 1e-5)
    return program


def steps(program: Program) -> list[Instr | Loop]:
    return program.root.body


def loops(program: Program) -> list[Loop]:
    return [step for step in steps(program) if isinstance(step, Loop)]


def names(program: Program) -> list[str]:
    return names_in(steps(program))


def names_in(body: list[Instr | Loop]) -> list[str]:
    return [step.name for step in body if isinstance(step, Instr)]


class Turns:
    """A loop that is being written down; values of its own have numbers behind the others'."""

    def __init__(self, values: list[Value], turns: int) -> None:
        self.values = values
        self.loop = Loop(turns)

    def new(self, value: Value) -> Ref:
        self.values.append(value)
        return Ref(len(self.values) - 1)

    def read(self, stack: int) -> Ref:
        """The part of this turn of a value."""
        value = self.values[stack]
        part = self.new(Value(value.shape[1:], value.dtype, bool(value.shape[1:])))
        self.loop.reads[part.index] = Ref(stack)
        return part

    def carry(self, first: Any, value: Value) -> Ref:
        """What the turn before has handed on; `hand_on` says what that is."""
        before = self.new(value)
        self.loop.carries.append(Carry(before.index, first, -1))
        return before

    def hand_on(self, *following: Ref) -> None:
        carries = zip(self.loop.carries, following, strict=True)
        self.loop.carries = [carry._replace(next=ref.index) for carry, ref in carries]

    def add(self, fn: Any, args: tuple[Any, ...], value: Value, **kw: Any) -> Ref:
        is_reduction = getattr(fn, "__name__", "") == "reduce"
        name = f"{fn.__self__.__name__}.reduce" if is_reduction else fn.__name__
        out = self.new(value)
        self.loop.body.append(Instr(fn, name, args, tuple(kw.items()), out.index))
        return out

    def give(self, stacks: dict[Ref, int], finals: dict[Ref, int]) -> Loop:
        self.loop.stacks = {ref.index: out for ref, out in stacks.items()}
        self.loop.finals = {ref.index: out for ref, out in finals.items()}
        return self.loop
