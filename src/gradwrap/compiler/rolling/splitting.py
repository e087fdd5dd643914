"""Splitting: a loop whose turns begin again and again becomes a loop around a shorter one.

The search for loops finds `for t in range(k): for i in range(m): ...` as one loop of k * m turns,
if the outer turns do nothing else. It reads its indices from tables of k * m numbers, which start
again after m of them. Two loops need m numbers.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradwrap.compiler.ir.program import Carry, Constant, Instr, Loop, Program, Ref, Value

COPIED = 4
"""The most elements for each turn that the outer loop may copy, in order to hand arrays on."""


def split_loops(program: Program) -> None:
    """Split the loops of a program whose tables begin again."""
    made: dict[Any, Ref] = {}
    for block in program.blocks():
        block.body = [one for step in block.body for one in _split(step, program, made)]


def _split(step: Instr | Loop, program: Program, made: dict[Any, Ref]) -> list[Instr | Loop]:
    """Return what does the same as a step, with a loop split in two if that is possible."""
    turns = _turns(step, program) if isinstance(step, Loop) else 0
    if not turns or not isinstance(step, Loop):
        return [step]
    before: list[Instr | Loop] = []
    after: list[Instr | Loop] = []
    count = step.turns // turns
    inner, outer = Loop(turns, step.body), Loop(count)

    def new(value: Value, *lead: int) -> Ref:
        """Number a value, or a stack of such values."""
        stack = Value((*lead, *value.shape), value.dtype, is_ndarray=True)
        return program.new(stack if lead else value)

    def constant(numbers: Any) -> Ref:
        key = numbers.tobytes()
        if key not in made:
            made[key] = program.new(Value(numbers.shape, numbers.dtype, is_ndarray=True))
            kept = Constant(np.ascontiguousarray(numbers), by_reference=False, name="")
            program.constants[made[key].index] = kept
        return made[key]

    def reshaped(source: Ref, shape: tuple[int, ...], out: int) -> Instr:
        return Instr(np.reshape, "reshape", (source, shape), (), out, True, step.line)

    for index, stack in step.reads.items():
        value, table = program.values[index], _table(stack, program)
        if table is None:
            whole, part = new(value, count, turns), new(value, turns)
            before.append(reshaped(stack, program.values[whole.index].shape, whole.index))
            outer.reads[part.index], inner.reads[index] = whole, part
        else:
            inner.reads[index] = constant(table[:turns])
    for carry in step.carries:
        first, last = new(program.values[carry.value]), new(program.values[carry.next])
        inner.carries.append(Carry(carry.value, first, carry.next))
        inner.finals[carry.next] = last.index
        outer.carries.append(Carry(first.index, carry.first, last.index))
    for index, out in step.finals.items():
        if index not in inner.finals:
            inner.finals[index] = new(program.values[index]).index
        outer.finals[inner.finals[index]] = out
    for index, out in step.stacks.items():
        value = program.values[index]
        part, whole = new(value, turns), new(value, count, turns)
        inner.stacks[index], outer.stacks[part.index] = part.index, whole.index
        after.append(reshaped(whole, program.values[out].shape, out))
    outer.body = [inner]
    return [*before, outer, *after]


def _table(stack: Ref, program: Program) -> Any:
    """Return the frozen table of integers that a loop reads; None for other stacks."""
    constant = program.constants.get(stack.index)
    if constant is None or constant.by_reference or constant.array.ndim > 1:
        return None
    return constant.array if constant.array.dtype.kind == "i" else None


def _turns(loop: Loop, program: Program) -> int:
    """Return after how many turns a loop begins again; 0 if never, or if that is no gain."""
    stacks: list[Value] = [program.values[stack.index] for stack in loop.reads.values()]
    found = [_table(stack, program) for stack in loop.reads.values()]
    tables = [table for table in found if table is not None]
    if not tables or any(value.order != "C" for value in stacks):
        return 0
    turns = max(map(_period, tables))
    carried = sum(math.prod(program.values[carry.value].shape) for carry in loop.carries)
    if turns == loop.turns or loop.turns % turns or carried > COPIED * turns:
        return 0
    return turns if all(np.array_equal(one[turns:], one[:-turns]) for one in tables) else 0


def _period(table: Any) -> int:
    """Return after how many numbers a table begins again; its length if never."""
    starts: list[int] = (np.flatnonzero(table[1:] == table[0]) + 1).tolist()
    return next((n for n in starts if np.array_equal(table[n:], table[:-n])), len(table))
