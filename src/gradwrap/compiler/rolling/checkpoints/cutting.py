"""Rewrite a program, with one loop and its backward loop cut into chunks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.ir.program import Carry, Instr, Loop, Program, Ref, Value, copy, used
from gradwrap.compiler.rolling.checkpoints.chunk import Chunk
from gradwrap.compiler.rolling.checkpoints.cut import HEAD, TAIL, Cut, Decline
from gradwrap.compiler.rolling.checkpoints.ends import Ends
from gradwrap.compiler.rolling.checkpoints.writer import LoopCopy, Writer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradwrap.compiler.rolling.checkpoints.candidates import Candidate


class Cutting:
    """Rewrites a program, with a loop and its backward loop cut into chunks."""

    def __init__(self, program: Program, found: Candidate) -> None:
        self.program = program
        self.values: list[Value] = program.values
        self.cut: Cut = Cut(program, found)
        self.writer: Writer = Writer(program, self.cut)
        self.ends: Ends = Ends(self.writer)
        self.body: list[Instr | Loop] = self.writer.body

    def write(self) -> str:
        """Write the new body. Return a note on the cuts."""
        steps, self.program.root.body = self.program.root.body, self.body
        is_done = False
        for step in steps:
            if step is self.cut.loop:
                self._forward()
            elif step is self.cut.backward:
                self._backward()
                is_done = True
            elif isinstance(step, Instr) and step.out in self.cut.rows:
                continue
            else:
                self._other(step, is_done=is_done)
        return (
            f"{self.cut.count} chunks of {self.cut.length} turns, of {self.cut.loop.turns} turns, "
            "are computed twice"
        )

    def _other(self, step: Instr | Loop, *, is_done: bool) -> None:
        """Write a step outside of both loops."""
        mine = [index for index in used(step) if index in self.cut.rows]
        turn = self.cut.turn(step) if mine else None
        if turn is not None:
            assert isinstance(step, Instr)
            part = TAIL if turn >= self.cut.end else HEAD
            index: int = step.args[0].index
            first, _ = self.cut.rows[index].within(*self.cut.turns(part))
            place = step.args[1] % self.cut.rows[index].number - first
            source = self.ends.rows_of(index, part)
            assert source is not None
            self.body.append(step.on((source, place)))
        elif mine and not is_done:
            raise Decline("what a loop computes in its turns is needed before the backward pass")
        elif step not in self.cut.sums:
            self.body.append(step)

    # The forward pass -----------------------------------------------------------------------------

    def _forward(self) -> None:
        """Write the forward loop: the first turns, the chunks, and the last turns."""
        loop = self.cut.loop
        firsts = [carry.first for carry in loop.carries]
        if self.cut.start:
            firsts = self.ends.some_turns(loop, (0, self.cut.start), firsts, HEAD)
        outer = Loop(self.cut.count)
        inner = LoopCopy(self.program, loop, self.cut.length)
        for carry, first in zip(loop.carries, firsts, strict=True):
            inner.begin(carry, self._carried(outer, carry, first))
        for index, stack in loop.reads.items():
            chunks = self.writer.in_chunks(stack, self.cut.start, is_forward=True)
            inner.read(index, self.program.part_of(outer, chunks))
        self.checkpoints: list[Ref] = []
        for carry in outer.carries:
            kept = self.writer.emit(
                *(copy, "copy", (Ref(carry.value),), self.values[carry.value]),
                into=outer.body,
            )
            value = self.values[kept.index]
            stack = Value((self.cut.count, *value.shape), value.dtype, is_ndarray=True)
            self.checkpoints.append(self.program.new(stack))
            outer.stacks[kept.index] = self.checkpoints[-1].index
        ends = [inner.final(carry.next) for carry in loop.carries]
        outer.body.append(inner.made)
        self._hand_on(outer, ends)
        firsts = [self._final(outer, end) for end in ends]
        self.body.append(outer)
        self.ends.some_turns(loop, (self.cut.end, loop.turns), firsts, TAIL, is_last=True)

    def _carried(self, outer: Loop, carry: Carry, first: Any) -> Ref:
        """Carry a value through a loop over chunks; it is completed by `_hand_on`."""
        before = self.program.new(self.values[carry.value]).index
        outer.carries.append(Carry(before, first, -1))
        return Ref(before)

    def _hand_on(self, outer: Loop, ends: Sequence[Ref]) -> None:
        outer.carries = [
            carry._replace(next=end.index) for carry, end in zip(outer.carries, ends, strict=True)
        ]

    def _final(self, outer: Loop, end: Ref) -> Ref:
        final = self.program.new(self.values[end.index])
        outer.finals[end.index] = final.index
        return final

    # The backward pass ----------------------------------------------------------------------------

    def _backward(self) -> None:
        """Write the backward loop: the last turns, the chunks, the first turns, and all sums."""
        loop, rows = self.cut.backward, self.cut.reads_rows
        firsts: list[Any] = [carry.first for carry in loop.carries]
        before = rows.within(*self.cut.turns(TAIL))
        after = rows.within(*self.cut.turns(HEAD))
        if before[1]:
            firsts = self.ends.some_turns(loop, (0, before[1]), firsts, TAIL)
        place = before[1]
        outer = Loop(self.cut.count)
        chunk = Chunk(self.writer, self.checkpoints, outer)
        inner = LoopCopy(self.program, loop, self.cut.length)
        for carry, first in zip(loop.carries, firsts, strict=True):
            inner.begin(carry, self._carried(outer, carry, first))
        for index, stack in loop.reads.items():
            if stack.index in self.cut.rows:
                inner.read(index, chunk.rows(stack.index))
            else:
                chunks = self.writer.in_chunks(stack, place, is_forward=True)
                inner.read(index, self.program.part_of(outer, chunks))
        for index, out in loop.stacks.items():
            chunk.names[out] = inner.stack(index)
        ends = [inner.final(carry.next) for carry in loop.carries]
        chunk.write_forward()
        outer.body.append(inner.made)
        totals = [chunk.added(step) for step in self.cut.sums]
        wholes = {out: chunk.stacked(out) for out in sorted(self.cut.whole)}
        self._hand_on(outer, [*ends, *(after for _, after in totals)])
        is_last = not after[1]
        if is_last:
            for index, out in loop.finals.items():
                outer.finals[inner.final_of(index).index] = out
        else:
            firsts = [self._final(outer, end) for end in ends]
        sums = [self._final(outer, after) for _, after in totals]
        self.body.append(outer)
        if not is_last:
            turns = (place + self.cut.count * self.cut.length, loop.turns)
            self.ends.some_turns(loop, turns, firsts, HEAD, is_last=True)
        for step, total in zip(self.cut.sums, sums, strict=True):
            self._complete(step, total)
        for out, chunks in wholes.items():
            self._join(out, chunks)

    def _complete(self, step: Instr, total: Ref) -> None:
        """Add the first and the last turns to a sum over the chunks."""
        value = self.values[step.out]
        for part in (TAIL, HEAD):
            rows = self.ends.rows_of(step.args[0].index, part)
            if rows is not None:
                more = self.program.new(value)
                self.body.append(step.on((rows, *step.args[1:]), more.index))
                total = self.writer.emit(np.add, "add", (total, more), value)
        self.body.append(Instr(copy, "copy", (total,), (), step.out))

    def _join(self, out: int, chunks: Ref) -> None:
        """Put together a value that is needed as a whole."""
        value, rows = self.values[out], self.cut.rows[out]
        if rows.step > 0:  # the chunks come with the last first
            chunks = self.writer.rows_of(chunks, slice(None, None, -1))
        shape = (self.cut.count * self.cut.length, *value.shape[1:])
        made = value._replace(shape=shape, order="?")
        middle = self.writer.emit(np.reshape, "reshape", (chunks, shape), made, views=True)
        ends = [self.ends.rows_of(out, HEAD), middle, self.ends.rows_of(out, TAIL)]
        parts = [one for one in ends[:: rows.step] if one is not None]
        axis = (("axis", 0),)
        self.body.append(Instr(np.concatenate, "concatenate", (parts,), axis, out))
