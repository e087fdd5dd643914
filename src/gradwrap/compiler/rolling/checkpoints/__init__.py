"""Checkpoints: long loops keep few of their turns, and compute the others again.

A loop of a forward pass stacks values of all its turns, which a loop of the backward pass reads
from the last to the first. If these stacks are too large, both loops are cut into chunks:

    forward         Loop of the first turns, which may be a few more or less; their stacks are kept
                    Loop over chunks: it stacks what each chunk starts from, its *checkpoint*
                        Loop of the turns of a chunk, without stacks
                    Loop of the last turns, whose stacks are kept
    backward        Loop of the last turns
                    Loop over chunks, the last first
                        the forward loop of the chunk again, from its checkpoint, with stacks
                        the backward loop of the chunk
                    Loop of the first turns

Chunks of `√turns` turns leave `√turns` checkpoints and the stacks of `√turns` turns, for a second
forward pass. Instructions between the loops that compute the rows of stacks one by one (a
reversal, a cosine) are performed in each chunk. Sums of such rows over all turns are added up chunk
by chunk. What else reads such rows gets them as a whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradwrap.compiler.ir.layout import describe_orders
from gradwrap.compiler.ir.program import Loop, counts_turns, given
from gradwrap.compiler.passes.dead import remove_dead
from gradwrap.compiler.passes.starts import stack_what_turns_start_from
from gradwrap.compiler.rolling.checkpoints.rows import size_of

if TYPE_CHECKING:
    from gradwrap.compiler.ir.program import Program

DEFAULT = 1 << 26
"""The most bytes of the stacks of loops, unless the user says otherwise."""


def with_checkpoints(program: Program, memory: float) -> None:
    """Cut long loops into chunks, until the stacks of all loops take at most `memory` bytes."""
    if program.root.guard is not None or counts_turns(program):
        return
    first = len(program.values)
    if bytes_of(program) <= memory:
        return
    from gradwrap.compiler.rolling.checkpoints.candidates import FEWEST, candidates
    from gradwrap.compiler.rolling.checkpoints.cut import Decline
    from gradwrap.compiler.rolling.checkpoints.cutting import Cutting

    if any(isinstance(step, Loop) and step.turns >= FEWEST for step in program.root.body):
        stack_what_turns_start_from(program)
    tried: set[int] = set()
    while True:
        found = candidates(program)
        waiting = [one for one in found if id(one.loop) not in tried]
        if sum(one.bytes for one in found) <= memory or not waiting:
            break
        largest = max(waiting, key=lambda one: one.bytes)
        tried.add(id(largest.loop))
        before = [*program.values], [*program.root.body]
        try:
            turns = Cutting(program, largest).write()
            program.notes.append(f"checkpoints: {turns}, to save memory")
        except Decline as why:
            program.values[:], program.root.body = before
            program.notes.append(f"no checkpoints: {why}")
    if len(program.values) > first:
        program.exact = False
        describe_orders(program, first)
        remove_dead(program)


def bytes_of(program: Program) -> int:
    """Return the bytes of all arrays that a program makes outside of loops' bodies."""
    made = [
        out
        for step in program.root.body
        for out in given(step)
        if isinstance(step, Loop) or not step.views
    ]
    return sum(size_of(program.values[out]) for out in made if program.values[out].shape)
