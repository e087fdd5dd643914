"""The rows of one chunk of the backward loop, and the forward loop that computes them again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.ir.operations import GETITEM
from gradwrap.compiler.ir.program import Carry, Instr, Loop, Ref, Value, zeros
from gradwrap.compiler.rolling.checkpoints.rows import row_operands, with_rows
from gradwrap.compiler.rolling.checkpoints.writer import LoopCopy, Writer
from gradwrap.core.values.dynamic import type_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradwrap.compiler.rolling.checkpoints.cut import Cut


class Chunk:
    """The rows of one chunk of the backward loop."""

    def __init__(self, writer: Writer, checkpoints: Sequence[Ref], outer: Loop) -> None:
        self.writer: Writer = writer
        self.cut: Cut = writer.cut
        self.outer: Loop = outer
        self.values: list[Value] = writer.values
        self.names: dict[int, Ref] = {}
        self.forward: LoopCopy = LoopCopy(writer.program, writer.cut.loop, writer.cut.length)
        self.is_written: bool = False
        self._waiting: list[Instr | Loop] = []
        loop = writer.cut.loop
        for carry, kept in zip(loop.carries, checkpoints, strict=True):
            last_first = writer.rows_of(kept, slice(None, None, -1))
            self.forward.begin(carry, writer.program.part_of(outer, last_first))
        for index, stack in loop.reads.items():
            rows = writer.in_chunks(stack, writer.cut.start, is_forward=False)
            self.forward.read(index, writer.program.part_of(outer, rows))

    def write_forward(self) -> None:
        """Write the forward loop, and then what reads its stacks."""
        self.outer.body += [self.forward.made, *self._waiting]
        self.is_written = True

    def _into(self) -> list[Instr | Loop]:
        return self.outer.body if self.is_written else self._waiting

    def rows(self, index: int) -> Ref:
        """Return the rows of a value that belong to the chunk."""
        if index in self.names:
            return self.names[index]
        cut = self.cut
        step = cut.makers.get(index)
        if step is None:
            body = next(one for one, out in cut.loop.stacks.items() if out == index)
            self.names[index] = self.forward.stack(body)
            return self.names[index]
        if step.op is GETITEM:
            source: int = step.args[0].index
            way = cut.rows[index].step * cut.rows[source].step
            args = (self.rows(source), with_rows(step.args[1], slice(None, None, way)))
            if args[1] == slice(None, None, 1):
                self.names[index] = args[0]
                return args[0]
        else:

            def change(leaf: Any) -> Any:
                return self._operand(leaf, index)

            args = row_operands(step, cut.length, change)
        value = self.values[index]
        made = value._replace(shape=(cut.length, *value.shape[1:]), order="?")
        found = self.writer.program.new(made)
        self._into().append(step.on(args, found.index))
        self.names[index] = found
        return found

    def _operand(self, leaf: Any, index: int) -> Any:
        cut = self.cut
        if type_of(leaf) is not Ref:
            return leaf
        if leaf.index in cut.rows:
            return self.rows(leaf.index)
        if not cut.is_by_rows(leaf.index, index):
            return leaf
        rows = cut.rows[index]
        first, _ = rows.within(cut.start, cut.end)
        parts = self.writer.in_chunks(leaf, first, is_forward=rows.step < 0)
        return self.writer.program.part_of(self.outer, parts)

    def added(self, step: Instr) -> tuple[Ref, Ref]:
        """Add a sum over the rows of each chunk; return its values before and after a chunk."""
        writer, value = self.writer, self.values[step.out]
        first: Any = value.dtype.type(0)
        if value.shape:
            first = writer.emit(zeros, "zeros", (value.shape, value.dtype), value)
        before = self.writer.program.new(value).index
        self.outer.carries.append(Carry(before, first, -1))
        amount = self.writer.program.new(value)
        rows = self.rows(step.args[0].index)
        self._into().append(step.on((rows, *step.args[1:]), amount.index))
        after = writer.emit(np.add, "add", (Ref(before), amount), value, into=self._into())
        return Ref(before), after

    def stacked(self, index: int) -> Ref:
        """Stack the rows of all chunks."""
        rows = self.rows(index)
        value = self.values[rows.index]
        shape = (self.cut.count, *value.shape)
        made = self.writer.program.new(Value(shape, value.dtype, is_ndarray=True))
        self.outer.stacks[rows.index] = made.index
        return made
