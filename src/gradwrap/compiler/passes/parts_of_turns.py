"""Parts of turns: where later loops read parts of the values of a loop, those parts are stacked.

The backward pass of a loop that writes the columns of an array carries the gradient of the whole
array. A later loop with the same turns often reads one column of it in each turn. Then the first
loop stacks this column, not the array, which it can write in place now.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradwrap.compiler.ir.analysis import looked_at
from gradwrap.compiler.ir.layout import describe_orders
from gradwrap.compiler.ir.operations import COPY, GETITEM, Kind
from gradwrap.compiler.ir.program import (
    Constant,
    Instr,
    Loop,
    Ref,
    Value,
    changed,
    copy,
    getitem,
    given,
    mapped,
    refs,
    used,
)
from gradwrap.compiler.passes.dead import remove_dead
from gradwrap.compiler.passes.last_turns import turn_of
from gradwrap.compiler.passes.starts import stack_what_turns_start_from
from gradwrap.core.values.dynamic import TUPLE

if TYPE_CHECKING:
    from gradwrap.compiler.ir.program import Program


class _Reader(NamedTuple):
    """A loop that reads parts of the turns of a stack."""

    loop: Loop
    turn: int
    """Its name for a turn."""
    steps: list[Instr]
    is_reversed: bool
    """Whether it begins with the last turn."""


def stack_parts_of_turns(program: Program) -> None:
    """Stack the parts of a loop's values that later loops read, in place of the whole values."""
    if not any(isinstance(step, Loop) and step.stacks for step in program.root.body):
        return
    remove_dead(program)
    first = len(program.values)
    read: set[int] = set()
    if any(isinstance(step, Loop) and _reads_parts(step) for step in program.root.body):
        before = stack_what_turns_start_from(program)
        if before is not None:
            remove_dead(program)
        if not _stack_all_parts(program, read) and before is not None:
            program.values, program.root = before.values, before.root
            program.constants = before.constants
    for step in program.root.body:
        if isinstance(step, Loop):
            _copy_parts(program, step)
    if len(program.values) > first:
        describe_orders(program, first, read)
        remove_dead(program)


def _reads_parts(loop: Loop) -> bool:
    """Tell if the turns of a loop read parts of what they are given."""
    return any(
        isinstance(step, Instr) and step.op is GETITEM and step.args[0].index in loop.reads
        for step in loop.body
    )


def _stack_all_parts(program: Program, read: set[int]) -> bool:
    """Stack parts where that is possible; tell if any are. Enter new reads into `read`."""
    body = program.root.body
    kept = {index for block in program.blocks() for index in looked_at(block)}
    others = [block for block in program.blocks() if block is not program.root]
    kept |= {index for block in others for step in block.body for index in used(step)}
    names: dict[int, Ref] = {}
    found = False
    for loop in [step for step in body if isinstance(step, Loop)]:
        for value, stack in list(loop.stacks.items()):
            readers = [] if stack in kept else _readers(program, loop, value, stack)
            if readers:
                found = True
                names |= _stack_parts(program, loop, value, readers, kept, read)
    if names:
        body[:] = [changed(step, lambda leaf: _named(leaf, names)) for step in body]
    return found


def _copy_parts(program: Program, loop: Loop) -> None:
    """Stack copies of parts of arrays that are written later in the turn.

    Else the engines would have to keep the whole arrays as they are until the turn ends.
    """
    makers = {step.out: (at, step) for at, step in enumerate(loop.body) if isinstance(step, Instr)}
    written: dict[int, int] = {}
    for at, step in makers.values():
        if step.op.kind is Kind.WRITE:
            written[step.args[0].index] = at
    for value in list(loop.stacks):
        if value not in makers:
            continue
        at, step = makers[value]
        if not step.views or step.op is not GETITEM:
            continue
        if written.get(step.args[0].index, 0) > at:
            own = program.new(program.values[value]._replace(order="C")).index
            made = Instr(copy, "copy", (Ref(value),), (), own, line=step.line)
            loop.body.insert(loop.body.index(step) + 1, made)
            loop.stacks[own] = loop.stacks.pop(value)


def _readers(program: Program, loop: Loop, value: int, stack: int) -> list[_Reader]:
    """Return the loops that read parts of the turns of a stack, also from the last to the first.

    There are none if anything else reads more of it than its last turn, or if the parts are no
    smaller than the value.
    """
    found: list[_Reader] = []
    known = {stack: False}
    backwards = slice(loop.turns - 1, None, -1)
    for step in program.root.body:
        mine = [index for index in used(step) if index in known]
        if not mine:
            continue
        if isinstance(step, Instr) and step.op is GETITEM and mine == [stack]:
            if step.args[1] == backwards:
                known[step.out] = True
            elif turn_of(step, stack, loop) != loop.turns - 1 or not _is_carried(loop, value):
                return []
            continue
        if not isinstance(step, Loop) or step.turns != loop.turns:
            return []
        reads = [index for index, source in step.reads.items() if source.index in known]
        if len(reads) != len(mine) or any(index in step.handed_on for index in reads):
            return []
        for index in reads:
            steps = [one for one in step.body if index in used(one)]
            if not all(_is_part(program, step, one, index) for one in steps):
                return []
            parts = [one for one in steps if isinstance(one, Instr)]
            found.append(_Reader(step, index, parts, is_reversed=known[step.reads[index].index]))
    sizes = [math.prod(program.values[one.out].shape) for each in found for one in each.steps]
    return found if sum(sizes) < math.prod(program.values[value].shape) else []


def _is_carried(loop: Loop, value: int) -> bool:
    return any(carry.next == value for carry in loop.carries)


def _is_part(program: Program, loop: Loop, step: Instr | Loop, index: int) -> bool:
    """Tell if a step reads a part of a value, at a place that tables or numbers say."""
    if isinstance(step, Loop) or step.op is not GETITEM or step.args[0] != Ref(index):
        return False
    tables = [loop.reads.get(one) for one in refs(step.args[1])]
    found = [table and program.constants.get(table.index) for table in tables]
    return all(one is not None and not one.by_reference for one in found)


def _stack_parts(
    program: Program, loop: Loop, value: int, readers: list[_Reader], kept: set[int], read: set[int]
) -> dict[int, Ref]:
    """Read the parts in the loop that makes the values, and stack them there.

    Return the stacks that replace others, which are not in `kept`. Enter the reads of a last turn
    into `read`.
    """
    body = program.root.body
    stack = loop.stacks.pop(value)
    for number, step in enumerate(body):
        if isinstance(step, Instr) and turn_of(step, stack, loop) is not None:
            if value not in loop.finals:
                loop.finals[value] = program.new(program.values[value]).index
            rest = step.args[1][1:] if isinstance(step.args[1], TUPLE) else ()
            body[number] = step.on((Ref(loop.finals[value]), rest))
            read.add(step.out)
    place, source = 0, value
    for number, step in enumerate(loop.body):
        if value in given(step):
            place = number + 1
            if isinstance(step, Instr) and step.op is COPY and len(step.args) == 1:
                source = step.args[0].index
    names: dict[int, Ref] = {}
    for reader in readers:
        for step in reader.steps:
            described = program.values[step.out]
            part = program.new(described).index
            key = mapped(step.args[1], partial(_here, program, loop, reader))
            views = bool(described.shape)
            made = [Instr(getitem, "getitem", (Ref(source), key), (), part, views, step.line)]
            if described.shape:
                own = program.new(described._replace(order="C")).index
                made.append(Instr(copy, "copy", (Ref(part),), (), own, line=step.line))
                part = own
            loop.body[place:place] = made
            place += len(made)
            whole = Value((loop.turns, *described.shape), described.dtype, is_ndarray=True)
            parts = program.new(whole)
            loop.stacks[part] = parts.index
            if reader.is_reversed:
                args = (parts, slice(loop.turns - 1, None, -1))
                parts = program.new(whole)
                turned = Instr(getitem, "getitem", args, (), parts.index, True, step.line)
                body.insert(body.index(reader.loop), turned)
            mine = reader.loop.stacks.get(step.out)
            if mine in kept:
                again = program.part_of(reader.loop, parts)
                at = reader.loop.body.index(step)
                reader.loop.body[at] = Instr(copy, "copy", (again,), (), step.out, line=step.line)
                continue
            reader.loop.body.remove(step)
            reader.loop.reads[step.out] = parts
            if mine is not None:
                names[reader.loop.stacks.pop(step.out)] = parts
        del reader.loop.reads[reader.turn]
    return names


def _here(program: Program, loop: Loop, reader: _Reader, leaf: Any) -> Any:
    """Return what a leaf of a reader's key is in the loop that makes the values."""
    if type(leaf) is not Ref:
        return leaf
    number: int = leaf.index
    table: Ref = reader.loop.reads[number]
    if reader.is_reversed:
        place: int = table.index
        numbers = np.ascontiguousarray(program.constants[place].array[::-1])
        described: Value = program.values[place]
        table = program.new(described)
        program.constants[table.index] = Constant(numbers, by_reference=False, name="")
    return program.part_of(loop, table)


def _named(leaf: Any, names: dict[int, Ref]) -> Any:
    while type(leaf) is Ref and leaf.index in names:
        leaf = names[leaf.index]
    return leaf
