"""Rolls as joins: `np.roll(x, 1)` becomes `np.concatenate([x[-1:], x[:-1]])`.

The engines write joins of slices as loops of their own, and NumPy's `roll` is a slow function of
Python. Only arrays in C's order are taken, and shifts by less than a length.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.ir.operations import ROLL
from gradwrap.compiler.ir.program import Instr, Loop, Program, Ref, Value, getitem
from gradwrap.core.values.dynamic import TUPLE, type_of

if TYPE_CHECKING:
    from collections.abc import Sequence


def join_rolls(program: Program) -> None:
    """Replace rolls by joins of two slices."""
    for body in list(program.bodies()):
        if any(isinstance(step, Instr) and step.op is ROLL for step in body):
            body[:] = [one for step in body for one in _joined(step, program)]


def _several(given: Any) -> tuple[Any, ...]:
    return given if isinstance(given, TUPLE) else (given,)


def _joined(step: Instr | Loop, program: Program) -> Sequence[Instr | Loop]:
    """Return the steps that do the same as a roll; other steps unchanged."""
    if isinstance(step, Loop) or step.op is not ROLL or type_of(step.args[0]) is not Ref:
        return (step,)
    index: int = step.args[0].index
    source, out = program.values[index], program.values[step.out]
    rest: dict[str, Any] = dict(zip(("shift", "axis"), step.args[1:], strict=False))
    rest.update(step.kw)
    axis: Any = rest.get("axis")
    axis = 0 if axis is None and len(source.shape) == 1 else axis
    shifts, axes = _several(rest.get("shift")), _several(axis)
    if len(shifts) != len(axes) or (source.order, out.order) != ("C", "C"):
        return (step,)
    if any(type_of(one) is not int for one in (*shifts, *axes)):
        return (step,)
    rank = len(source.shape)
    if any(not 0 < abs(n) < source.shape[at] for n, at in zip(shifts, axes, strict=True)):
        return (step,)
    made: list[Instr] = []
    whole = Ref(index)
    for number, (shift, at) in enumerate(zip(shifts, axes, strict=True), 1):
        before: int = at % rank
        length = source.shape[before]
        parts: list[Ref] = []
        for part in (slice(-shift, None), slice(None, -shift)):
            shape = [*source.shape]
            shape[before] = len(range(*part.indices(length)))
            key = (*(slice(None),) * before, part) if before else part
            order = "S" if before else "C"
            parts.append(
                program.new(Value(tuple(shape), source.dtype, is_ndarray=True, order=order))
            )
            made.append(
                Instr(getitem, "getitem", (whole, key), (), parts[-1].index, True, step.line)
            )
        whole = Ref(step.out) if number == len(axes) else program.new(out)
        kw: tuple[tuple[str, Any], ...] = (("axis", before),)
        made.append(Instr(np.concatenate, "concatenate", (parts,), kw, whole.index, line=step.line))
    return made
