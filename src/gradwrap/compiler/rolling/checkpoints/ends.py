"""The first and the last turns of a loop that is cut, whose stacks are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.compiler.ir.operations import GETITEM
from gradwrap.compiler.ir.program import Loop, Ref
from gradwrap.compiler.rolling.checkpoints.rows import row_operands, with_rows
from gradwrap.compiler.rolling.checkpoints.writer import LoopCopy, Writer
from gradwrap.core.values.dynamic import type_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradwrap.compiler.rolling.checkpoints.cut import Cut


class Ends:
    """The loops of the first and the last turns, and the rows of values that belong to them."""

    def __init__(self, writer: Writer) -> None:
        self.writer: Writer = writer
        self.cut: Cut = writer.cut
        self.known: dict[tuple[str, int], Ref] = {}
        """By part and value: the rows of its turns."""

    def some_turns(
        self,
        loop: Loop,
        turns: tuple[int, int],
        firsts: Sequence[Any],
        part: str,
        *,
        is_last: bool = False,
    ) -> list[Any]:
        """Write a loop of some turns, whose stacks are kept; return what it carries to others."""
        start, end = turns
        made = LoopCopy(self.writer.program, loop, end - start)
        for carry, first in zip(loop.carries, firsts, strict=True):
            made.begin(carry, first)
        for index, stack in loop.reads.items():
            rows = None if stack.index not in self.cut.rows else self.rows_of(stack.index, part)
            made.read(index, rows or self.writer.rows_of(stack, slice(start, end)))
        for index, out in loop.stacks.items():
            self.known[part, out] = made.stack(index)
        if is_last:
            for index, out in loop.finals.items():
                made.made.finals[made.names[index]] = out
            self.writer.body.append(made.made)
            return []
        ends = [made.final(carry.next) for carry in loop.carries]
        self.writer.body.append(made.made)
        return ends

    def rows_of(self, index: int, part: str) -> Ref | None:
        """Return the rows of a value that belong to the first or the last turns; None for none."""
        if (part, index) in self.known:
            return self.known[part, index]
        rows = self.cut.rows[index]
        first, count = rows.within(*self.cut.turns(part))
        if not count:
            return None
        step = self.cut.makers[index]
        made = self.cut.values[index]
        made = made._replace(shape=(count, *made.shape[1:]), order="?")
        if step.op is GETITEM:
            source: int = step.args[0].index
            mine = self.cut.rows[source]
            begin, _ = mine.within(*self.cut.turns(part))
            turn = rows.first + rows.step * first
            place = (turn - mine.first) * mine.step - begin
            way = rows.step * mine.step
            stop = place + way * count
            key = slice(place, None if stop < 0 else stop, way)
            args = (self.rows_of(source, part), with_rows(step.args[1], key))
        else:

            def change(leaf: Any) -> Any:
                return self._operand(leaf, index, part, first, count)

            args = row_operands(step, count, change)
        found = self.writer.program.new(made)
        self.writer.body.append(step.on(args, found.index))
        self.known[part, index] = found
        return found

    def _operand(self, leaf: Any, index: int, part: str, first: int, count: int) -> Any:
        if type_of(leaf) is not Ref:
            return leaf
        if leaf.index in self.cut.rows:
            return self.rows_of(leaf.index, part)
        if not self.cut.is_by_rows(leaf.index, index):
            return leaf
        return self.writer.rows_of(leaf, slice(first, first + count))
