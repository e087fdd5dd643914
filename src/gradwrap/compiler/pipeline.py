"""The passes, in the order in which they run on every program, for every engine."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from gradwrap.compiler.ir.layout import describe_orders
from gradwrap.compiler.ir.verify import is_checking, verify
from gradwrap.compiler.passes.dead import remove_dead
from gradwrap.compiler.passes.overwritten import remove_overwritten
from gradwrap.compiler.passes.ownership import own_outputs
from gradwrap.compiler.passes.products import merge_multiples, multiply_by_reciprocals
from gradwrap.compiler.passes.signs import absorb_signs
from gradwrap.compiler.passes.substitution import substitute
from gradwrap.compiler.rolling.rolling import rolled

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.compiler.ir.program import Program

LEFT = "loops: looked for in the kernels, since too many operations would be in none otherwise"
"""The note on a program that is longer with its loops than its engine is to be given."""


class Pass(NamedTuple):
    """A change of programs, in place."""

    name: str
    run: Callable[[Program], None]
    prepares_loops: bool = False
    """Whether it runs only if loops are looked for."""


def find_loops(program: Program) -> None:
    """Roll stretches that repeat, and describe how the values that this makes lie in memory."""
    first = len(program.values)
    rolled(program)
    describe_orders(program, first)


PASSES: tuple[Pass, ...] = (
    Pass("substitute, keeping periods", partial(substitute, merge_keys=False), True),
    Pass("remove overwritten writes, before loops", remove_overwritten, True),
    Pass("remove dead steps, before loops", remove_dead, True),
    Pass("find loops", find_loops, True),
    Pass("substitute", partial(substitute, merge_keys=True)),
    Pass("remove overwritten writes", remove_overwritten),
    Pass("remove dead steps", remove_dead),
    Pass("absorb signs", absorb_signs),
    Pass("multiply by reciprocals", multiply_by_reciprocals),
    Pass("merge multiples", merge_multiples),
    Pass("remove dead steps again", remove_dead),
    Pass("own outputs", own_outputs),
)


def prepared(
    program: Program,
    *,
    roll: bool,
    most: int | None = None,
    arguments: Sequence[Any] | None = None,
) -> tuple[Program, bool]:
    """Run all passes on a program that was made of traces.

    Parameters
    ----------
    program
        The program, which is changed.
    roll
        Whether to look for loops.
    most
        The length from which on a program keeps its operations out of loops.
    arguments
        The inputs of a call, for the verifier.

    Returns
    -------
    The program, and whether loops were looked for and kept.
    """
    checks = is_checking()
    if checks:
        verify(program, "trace", arguments)
    for one in PASSES:
        if one.prepares_loops and not roll:
            continue
        straight = program.copy() if one.run is find_loops and most is not None else None
        one.run(program)
        if checks:
            verify(program, one.name, arguments)
        if straight is not None and most is not None and program.length() > most:
            program, roll = straight, False
            program.notes.append(LEFT)
    return program, roll
