"""Choices between numbers that give numbers: `np.where` gives 0-d arrays, of which loops have none.

What follows computes the same with either, unless it hands the array out.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from gradwrap.compiler.ir.analysis import uses
from gradwrap.compiler.ir.operations import Kind
from gradwrap.compiler.ir.program import Instr, Loop, Ref, choice, is_elementwise, refs
from gradwrap.core.values.dynamic import type_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradwrap.compiler.ir.program import Program, Value


def choose_numbers(program: Program) -> None:
    """Let choices give numbers where the 0-d arrays are only computed with, or written."""
    values = program.values
    if not any(_is_choice(step, values) for body in program.bodies() for step in body):
        return
    everywhere = uses(program)
    for body in program.bodies():
        computed = Counter(index for step in body for index in _computed(step))
        for number, step in enumerate(body):
            if not isinstance(step, Loop) and _is_choice(step, values):
                if computed[step.out] == everywhere[step.out]:
                    values[step.out] = values[step.out]._replace(is_ndarray=False)
                    body[number] = replace(step, fn=choice)
                    program.exact = False  # NumPy's powers of numbers are rounded otherwise


def _is_choice(step: Instr | Loop, values: list[Value]) -> bool:
    """Tell if a step chooses between two numbers, and gives a 0-d array."""
    if isinstance(step, Loop) or not step.op.is_choice or len(step.args) != 3:
        return False
    return values[step.out].is_ndarray and not values[step.out].shape


def _computed(step: Instr | Loop) -> Iterator[int]:
    """Yield the values that a step computes with element by element, or writes."""
    if isinstance(step, Loop):
        return
    written = step.args[2:] if step.op.kind is Kind.WRITE else ()
    for part in step.args if is_elementwise(step) else written:
        if type_of(part) is Ref:
            yield from refs(part)
