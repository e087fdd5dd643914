"""Triangular systems: the solution with a Cholesky factor needs no factors of its own.

`np.linalg.solve` computes an LU decomposition, which a triangle is already. Large systems are
solved block by block instead: blocks on the diagonal by `np.linalg.solve`, the rest by products.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.ir.program import Instr, Loop, Ref, getitem
from gradwrap.compiler.passes.stacks_of_matrices import swaps_last_two

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gradwrap.compiler.ir.program import Program

BLOCK = 128
"""The rows of a block, for which an LU decomposition takes little of the time."""
LEAST = 4 * BLOCK
FACTOR, SOLVE = "linalg.cholesky", "linalg.solve"


def solve_by_blocks(program: Program) -> None:
    """Replace the solution of large triangular systems."""
    for body in list(program.bodies()):
        makers = {step.out: step for step in body if isinstance(step, Instr)}
        if not any(step.name == FACTOR for step in makers.values()):
            continue
        made: list[Instr | Loop] = []
        for step in body:
            lower = _triangle(step, makers, program) if isinstance(step, Instr) else None
            if lower is None or not isinstance(step, Instr):
                made.append(step)
            else:
                made += _blocks(program, step, lower=lower)
                program.exact = False
        body[:] = made


def _triangle(step: Instr, makers: Mapping[int, Instr], program: Program) -> bool | None:
    """Return whether a step solves a large lower (or upper) triangular system, else None."""
    if step.name != SOLVE or step.kw or any(type(arg) is not Ref for arg in step.args):
        return None
    indices: list[int] = [arg.index for arg in step.args]
    matrix, right = (program.values[index] for index in indices)
    if len(matrix.shape) != 2 or len(right.shape) != 2 or matrix.shape[0] < LEAST:
        return None
    if (
        not matrix.dtype == right.dtype == program.values[step.out].dtype
        or matrix.dtype.kind != "f"
    ):
        return None
    maker, turned = makers.get(indices[0]), False
    while maker is not None and swaps_last_two(maker, 2):
        source: int = maker.args[0].index
        maker, turned = makers.get(source), not turned
    if maker is None or maker.name != FACTOR:
        return None
    is_upper = bool(dict(maker.kw).get("upper", False))
    return is_upper == turned


def _blocks(program: Program, step: Instr, *, lower: bool) -> list[Instr]:
    """Return the steps that solve a system, from the block whose rows have one unknown block."""
    values = program.values
    matrix: Ref = step.args[0]
    right: Ref = step.args[1]
    count: int = values[right.index].shape[0]
    columns: int = values[right.index].shape[1]
    starts = [*range(0, count, BLOCK)]
    made: list[Instr] = []

    def add(name: str, fn: Any, args: tuple[Any, ...], like: Any, *, view: bool = False) -> Ref:
        shape, order = like
        ref = program.new(values[step.out]._replace(shape=shape, order=order))
        made.append(Instr(fn, name, args, (), ref.index, view, step.line))
        return ref

    def part(of: Ref, key: Any, shape: tuple[int, int]) -> Ref:
        return add("getitem", getitem, (of, key), (shape, "?"), view=True)

    rest, first = right, 0  # the right-hand side of the rows from `first` on that are not solved
    found: dict[int, Ref] = {}
    for start in starts if lower else reversed(starts):
        end = min(start + BLOCK, count)
        size = end - start
        here = part(matrix, (slice(start, end), slice(start, end)), (size, size))
        mine = part(rest, slice(start - first, end - first), (size, columns))
        found[start] = add(SOLVE, np.linalg.solve, (here, mine), ((size, columns), "C"))
        rows = (end, count) if lower else (0, start)
        left = rows[1] - rows[0]
        if not left:
            break
        beside = part(matrix, (slice(*rows), slice(start, end)), (left, size))
        known = add("matmul", np.matmul, (beside, found[start]), ((left, columns), "C"))
        key = slice(rows[0] - first, rows[1] - first)
        others = part(rest, key, (left, columns))
        rest = add("subtract", np.subtract, (others, known), ((left, columns), "C"))
        first = rows[0]
    parts = [found[start] for start in starts]
    made.append(replace(step, fn=np.concatenate, name="concatenate", args=(parts,)))
    return made
