"""Dead code: steps that no result and no guard needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradwrap.compiler.ir.analysis import needed_after
from gradwrap.compiler.ir.program import Instr, Loop, used

if TYPE_CHECKING:
    from gradwrap.compiler.ir.program import Program


def remove_dead(program: Program) -> None:
    """Remove the steps and constants that no result and no guard needs."""
    needed: dict[int, set[int]] = {}
    for block in reversed(list(program.blocks())):
        block.body, needed[id(block)] = _alive(block.body, needed_after(block, needed))
    live = needed[id(program.root)]
    program.constants = {i: c for i, c in program.constants.items() if i in live}


def _alive(body: list[Instr | Loop], live: set[int]) -> tuple[list[Instr | Loop], set[int]]:
    """Return the live steps of a body, and the values live before it."""
    live = set(live)
    kept: list[Instr | Loop] = []
    for step in reversed(body):
        if isinstance(step, Loop):
            if live.isdisjoint(step.outs):
                continue
            kept.append(_alive_loop(step, live))
            live.difference_update(step.outs)
        elif step.out in live:
            kept.append(step)
            live.remove(step.out)
        else:
            continue
        live.update(used(kept[-1]))
    return kept[::-1], live


def _alive_loop(loop: Loop, live: set[int]) -> Loop:
    """Return a loop without its dead outputs, carries, reads and steps."""
    made = Loop(loop.turns)
    made.stacks = {index: out for index, out in loop.stacks.items() if out in live}
    made.finals = {index: out for index, out in loop.finals.items() if out in live}
    while True:
        made.body, read = _alive(loop.body, made.handed_on)
        carries = [carry for carry in loop.carries if carry.value in read]
        if carries == made.carries:
            break
        made.carries = carries
    made.reads = {index: stack for index, stack in loop.reads.items() if index in read}
    return made
