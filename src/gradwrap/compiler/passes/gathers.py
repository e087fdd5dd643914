"""Reads and additions through many tables of indices: one read, and one addition.

A loop over the rows of a sparse matrix reads `x[columns]` for each row, with a table of its own.
All that are read from one array are read at once, through the joined tables, and each read is a
slice of the result. In the backward pass, a chain of additions to one array becomes one addition
of a buffer, into which the values are written one after the other.
"""

from __future__ import annotations

import math
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.ir.analysis import uses
from gradwrap.compiler.ir.operations import GETITEM, SCATTER_ADD
from gradwrap.compiler.ir.program import (
    NDARRAY,
    Constant,
    Instr,
    Loop,
    Ref,
    Value,
    getitem,
    setitem,
    zeros,
)

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Sequence

    from gradwrap.compiler.ir.program import Program

    Body = list[Instr | Loop]

FEWEST = 8
"""The fewest reads, or additions, that are joined."""
LARGE = 1 << 18
"""The most elements that are read at once, unless the array itself has as many."""


def join_gathers(program: Program) -> None:
    """Join reads from one array, and chains of additions to it, through tables of indices.

    A table may be a variable of the function's, since integers there are compared at each call.
    """
    tables = {
        index: array
        for index, (array, by_reference, name) in program.constants.items()
        if isinstance(array, NDARRAY)
        and (array.dtype.kind in "iu" and array.ndim == 1)
        and (name or not by_reference)
    }
    if len(tables) < FEWEST:
        return
    counts = uses(program)
    for block in program.blocks():
        _Tables(program, tables, counts).join(block.body)


class _Tables:
    """The steps of one body that read or add through tables."""

    def __init__(self, program: Program, tables: dict[int, Any], counts: Counter[int]) -> None:
        self.program = program
        self.values = program.values
        self.tables = tables
        self.counts = counts

    def join(self, body: Body) -> None:
        """Rewrite a body."""
        reads: dict[int, list[Instr]] = {}
        chains: dict[int, list[Instr]] = {}
        """By result of the last addition so far."""
        for step in body:
            if isinstance(step, Loop) or not self.is_through_table(step):
                continue
            source: int = step.args[0].index
            if step.op is GETITEM:
                reads.setdefault(source, []).append(step)
            else:
                chain = chains.pop(source, []) if self.counts[source] == 1 else []
                chains[step.out] = [*chain, step]
        instead: dict[int, Sequence[Instr]] = {}
        for steps in reads.values():
            if self.is_worth(steps):
                self.read_at_once(steps, instead)
        for steps in chains.values():
            if self.is_worth(steps):
                self.add_at_once(steps, instead)
                self.program.exact = False
        if instead:
            body[:] = [
                new
                for step in body
                for new in ((step,) if isinstance(step, Loop) else instead.get(step.out, (step,)))
            ]

    def is_through_table(self, step: Instr) -> bool:
        """Tell if a step reads rows that a table names, or adds such rows."""
        if step.op not in (GETITEM, SCATTER_ADD) or type(step.args[0]) is not Ref or step.kw:
            return False
        index: int = step.args[0].index
        table = self.tables.get(step.args[1].index) if type(step.args[1]) is Ref else None
        source = self.values[index]
        if table is None or not source.is_ndarray or source.order != "C":
            return False
        if step.op is not GETITEM and type(step.args[2]) is not Ref:
            return False
        rows: int = step.out if step.op is GETITEM else step.args[2].index
        value, shape = self.values[rows], (len(table), *source.shape[1:])
        return (value.shape, value.dtype) == (shape, source.dtype) and value.is_ndarray

    def is_worth(self, steps: Sequence[Instr]) -> bool:
        """Tell if steps are many, and do not need a large array together."""
        source: int = steps[0].args[0].index
        shape = self.values[source].shape
        size = self.rows(steps) * math.prod(shape[1:])
        return len(steps) >= FEWEST and size <= max(LARGE, math.prod(shape))

    def rows(self, steps: Sequence[Instr]) -> int:
        """Return the length of all tables together."""
        return sum(len(self.tables[step.args[1].index]) for step in steps)

    def joined(self, steps: Sequence[Instr]) -> Ref:
        """Return the tables of steps as one constant."""
        table = np.concatenate(
            [self.tables[step.args[1].index] for step in steps], dtype=np.intp, casting="unsafe"
        )
        made = self.program.new(Value(table.shape, table.dtype, is_ndarray=True))
        self.program.constants[made.index] = Constant(table, by_reference=False, name="")
        return made

    def slices(self, steps: Sequence[Instr]) -> list[slice]:
        """Return the part of the joined tables that is the table of each step."""
        lengths = [len(self.tables[step.args[1].index]) for step in steps]
        return [slice(*ends) for ends in pairwise(accumulate(lengths, initial=0))]

    def read_at_once(self, steps: Sequence[Instr], instead: dict[int, Sequence[Instr]]) -> None:
        """Replace reads from one array."""
        first = steps[0]
        source: int = first.args[0].index
        value = self.values[source]
        whole = self.program.new(value._replace(shape=(self.rows(steps), *value.shape[1:])))
        at_once = first.on((Ref(source), self.joined(steps)), whole.index)
        for step, part in zip(steps, self.slices(steps), strict=True):
            self.values[step.out] = self.values[step.out]._replace(order="C")
            read = Instr(getitem, "getitem", (whole, part), (), step.out, True, step.line)
            instead[step.out] = (at_once, read) if step is first else (read,)

    def add_at_once(self, steps: Sequence[Instr], instead: dict[int, Sequence[Instr]]) -> None:
        """Replace a chain of additions to one array."""
        target: int = steps[0].args[0].index
        value, last = self.values[target], steps[-1]
        described = value._replace(shape=(self.rows(steps), *value.shape[1:]))
        whole = self.program.new(described)
        made = [Instr(zeros, "zeros", (described.shape, value.dtype), (), whole.index)]
        for step, part in zip(steps, self.slices(steps), strict=True):
            buffer, whole = whole, self.program.new(described)
            args = (buffer, part, step.args[2])
            made.append(Instr(setitem, "setitem", args, (), whole.index, line=step.line))
            instead[step.out], made = made, []
        added = last.on((Ref(target), self.joined(steps), whole))
        instead[last.out] = [*instead[last.out], added]
