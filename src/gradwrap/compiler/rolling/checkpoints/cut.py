"""The choice of the turns of a loop that are cut into chunks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwrap.compiler.ir.operations import ADD_REDUCE, GETITEM
from gradwrap.compiler.ir.program import Instr, Loop, Program, given, refs, used
from gradwrap.compiler.rolling.checkpoints.rows import Rows, size_of

if TYPE_CHECKING:
    from gradwrap.compiler.ir.program import Value
    from gradwrap.compiler.rolling.checkpoints.candidates import Candidate

WHOLE = 0.5
"""The largest share of a loop's saved values that may be needed as a whole."""
HEAD, TAIL = "head", "tail"
"""The turns before and after those that are cut into chunks."""


class Decline(Exception):  # noqa: N818  it is caught, and becomes a note
    """A loop cannot be cut into chunks."""


class Cut:
    """The turns of a loop and of its backward loop that are cut into chunks."""

    def __init__(self, program: Program, found: Candidate) -> None:
        self.program = program
        self.values: list[Value] = program.values
        self.loop: Loop = found.loop
        self.backward: Loop = found.backward
        self.rows: dict[int, Rows] = found.rows
        self.makers: dict[int, Instr] = {
            step.out: step
            for step in program.root.body
            if isinstance(step, Instr) and step.out in self.rows
        }
        self.reads_rows: Rows = next(
            self.rows[stack.index]
            for stack in self.backward.reads.values()
            if stack.index in self.rows
        )
        self._choose(found)

    def _choose(self, found: Candidate) -> None:
        """Choose the turns that are cut into chunks, and the length of a chunk."""
        start, end = 0, self.loop.turns - 1
        self.sums: list[Instr] = []
        self.whole: set[int] = set()
        """The values that are needed as a whole."""
        for rows in self.rows.values():
            start, end = max(start, rows.least), min(end, rows.end)
        results = self.program.root.result
        self.whole |= {*refs(results.leaves if results else ())} & self.rows.keys()
        for step in self.program.root.body:
            mine = [index for index in used(step) if index in self.rows]
            if not mine or step is self.backward or (set(given(step)) & self.rows.keys()):
                continue
            turn = self.turn(step)
            if turn is not None and 2 * turn >= self.loop.turns:
                end = min(end, turn)
            elif turn is not None:
                start = max(start, turn + 1)
            elif isinstance(step, Instr) and self._is_sum(step):
                self.sums.append(step)
            else:
                self.whole.update(mine)
        carried = sum(size_of(self.values[carry.value]) for carry in self.loop.carries)
        stacked = sum(size_of(self.values[out]) for out in self.loop.stacks) or 1
        turns = end - start
        self.length: int = max(1, min(turns, round(math.sqrt(turns * (carried or 1) / stacked))))
        self.count: int = turns // self.length
        self.end: int = end
        self.start: int = end - self.count * self.length
        if self.count < 2 or 2 * turns < self.loop.turns:
            raise Decline("most turns of a loop are read one by one")
        outside = sum(size_of(self.values[out]) for out in self.whole)
        if outside > WHOLE * found.bytes:
            raise Decline("what a loop computes in its turns is needed as a whole")

    def turn(self, step: Instr | Loop) -> int | None:
        """Return the turn whose row an instruction takes out of a stack; None for others."""
        if not isinstance(step, Instr) or step.op is not GETITEM or type(step.args[1]) is not int:
            return None
        rows = self.rows[step.args[0].index]
        place: int = step.args[1] % rows.number
        return rows.first + rows.step * place

    def _is_sum(self, step: Instr) -> bool:
        """Tell if an instruction adds up the rows of a stack, or all of its elements."""
        if step.op is not ADD_REDUCE or {*dict(step.kw)} - {"axis"}:
            return False
        of, *rest = step.args
        axis: Any = rest[0] if rest else dict(step.kw).get("axis", 0)
        place: int = of.index
        source, value = self.values[place], self.values[step.out]
        is_whole = axis is None or (axis == 0 and type(axis) is int)
        return is_whole and bool(source.dtype == value.dtype)

    def turns(self, part: str) -> tuple[int, int]:
        """Return the first and the end of the turns before or after the chunks."""
        return (0, self.start) if part == HEAD else (self.end, self.loop.turns)

    def is_by_rows(self, operand: int, index: int) -> bool:
        """Tell if an operand from outside has a row for each row of a value."""
        shape, of = self.values[operand].shape, self.values[index].shape
        return len(shape) == len(of) and shape[0] == of[0]
