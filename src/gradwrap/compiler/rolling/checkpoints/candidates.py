"""The loops that can be cut into chunks: a later loop reads their stacks backwards."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gradwrap.compiler.ir.program import Instr, Loop, Program, given, used
from gradwrap.compiler.rolling.checkpoints.rows import Rows, rows_of, size_of

if TYPE_CHECKING:
    from collections.abc import Sequence

FEWEST = 16
"""The least number of turns that are cut into chunks."""


class Candidate(NamedTuple):
    """A loop with stacks that a later loop reads backwards."""

    loop: Loop
    backward: Loop
    rows: dict[int, Rows]
    """By value: the rows of stacks, and of what is computed row by row."""
    bytes: int


def candidates(program: Program) -> list[Candidate]:
    """Return the loops of a program whose stacks a later loop reads backwards."""
    found: list[Candidate] = []
    body = program.root.body
    for at, step in enumerate(body):
        if isinstance(step, Loop) and step.stacks and step.turns >= FEWEST:
            one = _candidate(program, step, body[at + 1 :])
            if one is not None:
                found.append(one)
    return found


def _candidate(program: Program, loop: Loop, after: Sequence[Instr | Loop]) -> Candidate | None:
    values = program.values
    rows = {out: Rows(0, 1, loop.turns) for out in loop.stacks.values()}
    backward: Loop | None = None
    late: set[int] = set()
    total = sum(size_of(values[out]) for out in loop.stacks.values())
    for step in after:
        if isinstance(step, Loop):
            mine = {rows[stack.index] for stack in step.reads.values() if stack.index in rows}
            if backward is None and len(mine) == 1 and next(iter(mine)).step < 0:
                backward = step
                rows |= dict.fromkeys(step.stacks.values(), next(iter(mine)))
                late.difference_update(step.stacks.values())
                continue
        elif not late.intersection(used(step)):
            one = rows_of(step, rows, values)
            if one is not None:
                rows[step.out] = one
                total += 0 if step.views else size_of(values[step.out])
                continue
        if backward is not None:
            late.update(given(step))
    return None if backward is None else Candidate(loop, backward, rows, total)
