"""Triangular matrices: products and systems that leave their zeros out.

`np.linalg.solve` computes an LU decomposition, which a triangle is already. Large systems are
solved block by block instead: the inverses of the blocks on the diagonal are multiplied by what
products with the rest have left. Large products with a triangle, and those of which only a triangle
is read, are computed by blocks of rows too.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.ir.analysis import uses
from gradwrap.compiler.ir.operations import MATMUL, SUBTRACT, Kind
from gradwrap.compiler.ir.program import Instr, Loop, Ref, getitem, setitem, zeros
from gradwrap.compiler.passes.stacks_of_matrices import swaps_last_two

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gradwrap.compiler.ir.program import Program, Value

BLOCK = 128
"""The rows of a block, whose inverse takes little of the time."""
LEAST = 4 * BLOCK
FACTOR, SOLVE = "linalg.cholesky", "linalg.solve"


def work_by_blocks(program: Program) -> None:
    """Replace large systems, and large products, of triangles."""
    if not any(op.name == FACTOR or op.kind is Kind.TRIANGLE for op in program.operations()):
        return
    everywhere = uses(program)
    for body in list(program.bodies()):
        found = [step for step in body if isinstance(step, Instr)]
        if all(step.name != FACTOR and step.op.kind is not Kind.TRIANGLE for step in found):
            continue
        triangles = _Triangles(program, body, everywhere)
        body[:] = [made for step in body for made in triangles.by_blocks(step)]


class _Triangles:
    """The triangles of a body, and the blocks of those that are large."""

    def __init__(
        self, program: Program, body: list[Instr | Loop], everywhere: Mapping[int, int]
    ) -> None:
        self.program = program
        self.values = program.values
        self.everywhere = everywhere
        """How often each value is read."""
        self.makers: dict[int, Instr] = {}
        self.parts: dict[int, list[bool | None]] = {}
        """By matrix: whether each step that reads it reads the lower triangle alone."""
        self.inverses: dict[tuple[int, int], Ref] = {}
        """By triangle and row: the inverse of the block that begins there."""
        for step in body:
            if isinstance(step, Instr):
                self.makers[step.out] = step
                if step.op.kind is Kind.TRIANGLE and type(step.args[0]) is Ref:
                    self.parts.setdefault(step.args[0].index, []).append(_is_lower(step))

    def by_blocks(self, step: Instr | Loop) -> list[Instr | Loop]:
        """Return the steps that do the same as one step: itself, or those for its blocks."""
        if isinstance(step, Loop) or step.kw or any(type(arg) is not Ref for arg in step.args):
            return [step]
        if step.name != SOLVE and step.op is not MATMUL:
            return [step]
        first, second, value = (self.values[i.index] for i in (*step.args, Ref(step.out)))
        if not len(first.shape) == len(second.shape) == 2 or min(first.shape) < LEAST:
            return [step]
        if not first.dtype == second.dtype == value.dtype or value.dtype.kind != "f":
            return [step]
        matrix: int = step.args[0].index
        lower, needed = self.lower(matrix), self.needed(step.out)
        if step.name == SOLVE and lower is not None:
            made = self.solved(step, lower=lower)
        elif step.op is MATMUL and not lower is needed is None:
            made = self.multiplied(step, lower, needed)
        else:
            return [step]
        self.program.exact = False
        return [*made]

    def lower(self, index: int) -> bool | None:
        """Tell if a matrix is a lower triangle (True) or an upper one (False)."""
        maker, turned = self.makers.get(index), False
        while maker is not None and swaps_last_two(maker, 2):
            source: int = maker.args[0].index
            maker, turned = self.makers.get(source), not turned
        if maker is None:
            return None
        if maker.name == FACTOR:
            return bool(dict(maker.kw).get("upper", False)) == turned
        found = _is_lower(maker) if maker.op.kind is Kind.TRIANGLE else None
        return None if found is None else found != turned

    def needed(self, index: int) -> bool | None:
        """Tell if only the lower triangle (True) of a matrix is read, or the upper one."""
        found = self.parts.get(index, [])
        return found[0] if len({*found}) == 1 and len(found) == self.everywhere[index] else None

    def multiplied(self, step: Instr, lower: bool | None, needed: bool | None) -> list[Instr]:
        """Return the steps of a product of whose left factor, or result, a triangle counts."""
        rows = _Rows(self.program, step)
        count, columns = rows.shape
        left: Ref = step.args[0]
        right: Ref = step.args[1]
        inner = self.values[left.index].shape[1]
        for start in range(0, count, BLOCK):
            end = min(start + BLOCK, count)
            terms = {None: (0, inner), True: (0, min(end, inner)), False: (start, inner)}[lower]
            there = {None: (0, columns), True: (0, min(end, columns)), False: (start, columns)}
            wide = there[needed]
            if terms[0] < terms[1] and wide[0] < wide[1]:
                factors = (rows.part(left, (start, end), terms), rows.part(right, terms, wide))
                shape = (end - start, wide[1] - wide[0])
                rows.write(rows.add(MATMUL.name, np.matmul, factors, shape), start, wide[0])
        return rows.finished()

    def solved(self, step: Instr, *, lower: bool) -> list[Instr]:
        """Return the steps that solve a system, from the block with one unknown block."""
        rows = _Rows(self.program, step)
        count, columns = rows.shape
        matrix: Ref = step.args[0]
        right: Ref = step.args[1]
        starts = [*range(0, count, BLOCK)]
        for start in starts if lower else starts[::-1]:
            end = min(start + BLOCK, count)
            mine = rows.part(right, (start, end), (0, columns))
            known = (0, start) if lower else (end, count)
            if known[0] < known[1]:
                beside = rows.part(matrix, (start, end), known)
                done = rows.part(rows.target, known, (0, columns))
                shape = (end - start, columns)
                other = rows.add(MATMUL.name, np.matmul, (beside, done), shape)
                mine = rows.add(SUBTRACT.name, np.subtract, (mine, other), shape)
            if (matrix.index, start) not in self.inverses:
                here = rows.part(matrix, (start, end), (start, end))
                inverse = rows.add("linalg.inv", np.linalg.inv, (here,), (end - start,) * 2)
                self.inverses[matrix.index, start] = inverse
            factors = (self.inverses[matrix.index, start], mine)
            rows.write(rows.add(MATMUL.name, np.matmul, factors, (end - start, columns)), start, 0)
        return rows.finished()


@dataclass
class _Rows:
    """The steps that compute the result of one step by blocks of rows."""

    program: Program
    step: Instr
    made: list[Instr] = field(default_factory=list[Instr])

    def __post_init__(self) -> None:
        self.value: Value = self.program.values[self.step.out]
        rows, columns = self.value.shape
        self.shape: tuple[int, int] = (rows, columns)
        args = (self.shape, self.value.dtype)
        self.target: Ref = self.add("zeros", zeros, args, self.shape)

    def add(
        self, name: str, fn: Any, args: Any, shape: tuple[int, ...], *, view: bool = False
    ) -> Ref:
        """Append a step; return its result."""
        ref = self.program.new(self.value._replace(shape=shape, order="?" if view else "C"))
        self.made.append(Instr(fn, name, args, (), ref.index, view, self.step.line))
        return ref

    def part(self, of: Ref, rows: tuple[int, int], columns: tuple[int, int]) -> Ref:
        """Return a part of a matrix."""
        shape = (rows[1] - rows[0], columns[1] - columns[0])
        return self.add("getitem", getitem, (of, (slice(*rows), slice(*columns))), shape, view=True)

    def write(self, block: Ref, row: int, column: int) -> None:
        """Write a block of the result."""
        count, columns = self.program.values[block.index].shape
        key = (slice(row, row + count), slice(column, column + columns))
        self.target = self.add("setitem", setitem, (self.target, key, block), self.shape)

    def finished(self) -> list[Instr]:
        """Return the steps; the last one gives the result."""
        self.made[-1] = replace(self.made[-1], out=self.step.out)
        return self.made


def _is_lower(step: Instr) -> bool | None:
    """Tell if a step keeps a lower triangle (True), an upper one (False), or neither."""
    offset = dict(step.kw).get("k", step.args[1] if len(step.args) > 1 else 0)
    keeps_lower = step.op.condition == "<="
    if type(offset) is not int or (offset > 0 if keeps_lower else offset < 0):
        return None
    return keeps_lower
