"""Removes copies of new arrays that nothing else reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.compiler.ir.analysis import uses
from gradwrap.compiler.ir.operations import COPY
from gradwrap.compiler.ir.program import Instr, Loop, Ref, is_elementwise

if TYPE_CHECKING:
    from gradwrap.compiler.ir.program import Program


def remove_copies(program: Program) -> None:
    """Let the step that makes an array make its copy, if nothing else reads the array."""
    if COPY not in program.operations():
        return
    everywhere = uses(program)
    values = program.values
    for body in program.bodies():
        made: dict[int, int] = {}
        gone: set[int] = set()
        for number, step in enumerate(body):
            if isinstance(step, Loop):
                continue
            source: Any = step.args[0] if step.op is COPY and len(step.args) == 1 else None
            if type(source) is Ref and source.index in made and everywhere[source.index] == 1:
                found = values[source.index]
                if found.order == "S":  # a new array has no gaps
                    found = found._replace(order="C")
                if found == values[step.out]:
                    place = made[source.index]
                    maker = body[place]
                    assert isinstance(maker, Instr)
                    body[place] = maker.on(maker.args, step.out)
                    gone.add(number)
            elif is_elementwise(step) and values[step.out].shape:
                made[step.out] = number
        if gone:
            body[:] = [step for number, step in enumerate(body) if number not in gone]
