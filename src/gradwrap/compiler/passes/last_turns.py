"""Last turns: a stack of which only the last turns are read becomes a few single values.

A loop over steps in time often needs its state of all turns nowhere, but that of the last one or
two behind the loop. The stack would be written to memory in each turn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradwrap.compiler.ir.analysis import uses
from gradwrap.compiler.ir.layout import describe_orders
from gradwrap.compiler.ir.operations import COPY, GETITEM
from gradwrap.compiler.ir.program import Instr, Loop, Ref, copy
from gradwrap.core.values.dynamic import TUPLE, type_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradwrap.compiler.ir.program import Program

FURTHEST = 2
"""The most turns before the last one that are read."""


def keep_last_turns(program: Program) -> None:
    """Replace stacks of which only constant last turns are read."""
    loops = [
        (body, loop, _parts_of(body))
        for body in program.bodies()
        for loop in body
        if isinstance(loop, Loop) and loop.stacks
    ]
    if not loops:
        return
    everywhere = uses(program)
    first = len(program.values)
    read: set[int] = set()
    for body, loop, parts in loops:
        for value, stack in list(loop.stacks.items()):
            found = [(i, body[i], turn_of(body[i], stack, loop)) for i in parts.get(stack, ())]
            readers = [one for one in found if one[2] is not None]
            before = [0 if at is None else loop.turns - 1 - at for *_, at in readers]
            most = max(before, default=0)
            states = _states(loop, value, most)
            if not readers or len(readers) != everywhere[stack] or len(states) <= most:
                continue
            del loop.stacks[value]
            finals = [_final(program, loop, state) for state in states]
            for (place, step, _), turns in zip(readers, before, strict=True):
                assert isinstance(step, Instr)
                key = step.args[1]
                rest = key[1:] if isinstance(key, TUPLE) else ()
                body[place] = step.on((finals[turns], rest))
                read.add(step.out)
    if read:
        describe_orders(program, first, read)


def _parts_of(body: Sequence[Instr | Loop]) -> dict[int, list[int]]:
    """Return the places in a body where parts of arrays are read, by array."""
    found: dict[int, list[int]] = {}
    for place, step in enumerate(body):
        if isinstance(step, Instr) and step.op is GETITEM and type_of(step.args[0]) is Ref:
            found.setdefault(step.args[0].index, []).append(place)
    return found


def turn_of(step: Instr | Loop, stack: int, loop: Loop) -> int | None:
    """Return which turn of a stack a step reads, if it does nothing else."""
    if not isinstance(step, Instr) or step.op is not GETITEM or step.args[0] != Ref(stack):
        return None
    key = step.args[1]
    first = key[0] if isinstance(key, TUPLE) and key else key
    return first % loop.turns if type_of(first) is int else None


def _states(loop: Loop, value: int, most: int) -> list[int]:
    """Return the body values that are a value now, one turn earlier, two turns earlier, ..."""
    after = {carry.next: carry.value for carry in loop.carries}
    found = [value]
    while len(found) <= min(most, FURTHEST) and found[-1] in after:
        found.append(after[found[-1]])
    return found


def _final(program: Program, loop: Loop, state: int) -> Ref:
    """Return what a body value is in the last turn; what a turn starts from is copied first."""
    if state in loop.found:
        copies = [s for s in loop.body if isinstance(s, Instr) and s.op is COPY]
        known = [step.out for step in copies if step.args == (Ref(state),)]
        if not known:
            kept = program.new(program.values[state])
            loop.body.insert(0, Instr(copy, "copy", (Ref(state),), (), kept.index))
            known = [kept.index]
        state = known[0]
    if state not in loop.finals:
        loop.finals[state] = program.new(program.values[state]).index
    return Ref(loop.finals[state])
