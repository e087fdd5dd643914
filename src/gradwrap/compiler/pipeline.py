"""The passes, in the order in which they run on every program, for every engine."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from gradwrap.compiler.ir.layout import describe_orders
from gradwrap.compiler.ir.verify import ProgramError, Seen, is_checking, parts_of, verify
from gradwrap.compiler.passes.added_back import keep_what_is_added_back
from gradwrap.compiler.passes.carried import read_carried_parts
from gradwrap.compiler.passes.choices import choose_numbers
from gradwrap.compiler.passes.copies import remove_copies
from gradwrap.compiler.passes.dead import remove_dead
from gradwrap.compiler.passes.gathers import join_gathers
from gradwrap.compiler.passes.growing import join_growing_products
from gradwrap.compiler.passes.joins import join_runs
from gradwrap.compiler.passes.last_turns import keep_last_turns
from gradwrap.compiler.passes.overwritten import remove_overwritten
from gradwrap.compiler.passes.ownership import own_outputs
from gradwrap.compiler.passes.parts_of_turns import stack_parts_of_turns
from gradwrap.compiler.passes.products import merge_multiples, multiply_by_reciprocals
from gradwrap.compiler.passes.rolls import join_rolls
from gradwrap.compiler.passes.scaled_matrices import scale_less
from gradwrap.compiler.passes.signs import absorb_signs
from gradwrap.compiler.passes.stacks_of_matrices import join_matrices
from gradwrap.compiler.passes.substitution import substitute
from gradwrap.compiler.passes.triangles import work_by_blocks
from gradwrap.compiler.passes.wholes import write_wholes
from gradwrap.compiler.passes.windows import stack_windows
from gradwrap.compiler.rolling.nests.emission import may_have_nests, roll_nests
from gradwrap.compiler.rolling.rolling import rolled
from gradwrap.compiler.rolling.splitting import split_loops

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.compiler.ir.program import Program

LEFT = "loops: looked for in the kernels, since most operations would be in none otherwise"
"""The note on a program whose loops hold the lesser part of it, and are left out."""


class Pass(NamedTuple):
    """A rewrite of programs, in place."""

    name: str
    run: Callable[[Program], None]
    needs: tuple[str, ...] = ()
    """The passes that must run before it."""
    keeps_bits: bool = True
    """Whether all results stay the same bit for bit. Other passes clear `Program.exact`."""
    keeps_periods: bool = False
    """Whether equal turns of a loop stay equal. Passes that break periods follow `find loops`."""


def find_loops(program: Program, *, nested: bool = False, several: bool = False) -> None:
    """Roll repeated stretches into loops, and determine the memory orders of the new values."""
    first = len(program.values)
    rolled(program, nested=nested, several=several)
    if len(program.values) > first:
        describe_orders(program, first)


FIND_LOOPS, MERGE = "find loops", "merge"
COUNTING: tuple[Callable[[Program], None], ...] = (
    partial(substitute, merge_keys=True),
    remove_dead,
    own_outputs,
)
"""The passes of programs with loops whose turns vary in number; all of them keep the bits."""
PASSES: tuple[Pass, ...] = (
    Pass("join rolls", join_rolls, keeps_periods=True),
    Pass("choose numbers", choose_numbers, keeps_bits=False, keeps_periods=True),
    Pass(MERGE, partial(substitute, merge_keys=False), keeps_periods=True),
    Pass("stack windows", stack_windows, (MERGE,), keeps_bits=False, keeps_periods=True),
    Pass("remove overwritten writes", remove_overwritten, keeps_periods=True),
    Pass("remove what is dead", remove_dead, keeps_periods=True),
    Pass(FIND_LOOPS, find_loops, (MERGE, "remove what is dead"), keeps_bits=False),
    Pass("merge in loops", partial(substitute, merge_keys=True)),
    Pass("write wholes", write_wholes, ("merge in loops",), keeps_bits=False),
    Pass("stack parts of turns", stack_parts_of_turns, ("merge in loops",)),
    Pass("keep last turns", keep_last_turns, ("stack parts of turns",)),
    Pass("read carried parts", read_carried_parts, ("keep last turns",)),
    Pass("join growing products", join_growing_products, ("merge in loops",), keeps_bits=False),
    Pass("join matrices", join_matrices, ("merge in loops",), keeps_bits=False),
    Pass("work by blocks", work_by_blocks, ("merge in loops",), keeps_bits=False),
    Pass("join runs", join_runs, ("merge in loops",)),
    Pass("join gathers", join_gathers, ("merge in loops",), keeps_bits=False),
    Pass("remove overwritten writes in loops", remove_overwritten, ("merge in loops",)),
    Pass("keep what is added back", keep_what_is_added_back, ("merge in loops",), keeps_bits=False),
    Pass("remove copies", remove_copies, ("merge in loops",)),
    Pass("remove what is dead in loops", remove_dead, ("merge in loops",)),
    Pass("absorb signs", absorb_signs, ("remove what is dead in loops",)),
    Pass("multiply by reciprocals", multiply_by_reciprocals, ("merge in loops",), keeps_bits=False),
    Pass("merge multiples", merge_multiples, ("merge in loops",), keeps_bits=False),
    Pass("scale less", scale_less, ("merge multiples",), keeps_bits=False),
    Pass("remove what is left", remove_dead, ("absorb signs", "merge multiples")),
    Pass("own outputs", own_outputs, ("remove what is left",)),
)
"""All passes. Those up to `find loops` run only if loops are searched for."""


def prepared(
    program: Program,
    *,
    roll: bool,
    sparingly: bool = False,
    arguments: Sequence[Any] | None = None,
    nested: bool = False,
    several: bool = False,
    forwards: bool = True,
    nests: bool = False,
) -> tuple[Program, bool]:
    """Run all passes on a program made from traces.

    Parameters
    ----------
    program
        The program, changed in place.
    roll
        Whether to look for loops. Without it, all results stay the same bit for bit.
    sparingly
        Whether loops are left out that hold less than half of the operations.
    arguments
        The inputs of a call, for the verifier.
    nested
        Whether loops of loops are what matters, if need be of few turns.
    several
        Whether a turn of a loop may be several turns of the code.
    forwards
        Whether reads return the values written, before loops are looked for.
    nests
        Whether the turns of loops may vary in number.

    Returns
    -------
    The program, and whether loops were searched for and kept.
    """
    checks, seen = is_checking(), Seen()
    wanted = verify(program, "trace", arguments, seen=seen) if checks else ()
    if nests and roll and (found := _with_nests(program)) is not None:
        if checks:
            verify(found, "nests", arguments, wanted, seen)
        return found, True
    verified = parts_of(program) if checks else []
    looks_for_loops = roll
    for one in PASSES:
        is_search = one.name == FIND_LOOPS
        if looks_for_loops or (one.keeps_bits and not one.keeps_periods):
            straight = program.copy() if is_search and sparingly else None
            exact = program.exact
            if is_search:
                find_loops(program, nested=nested, several=several)
                if not forwards:
                    split_loops(program)
            elif one.name == MERGE and not forwards:
                substitute(program, merge_keys=False, forwards=False)
            else:
                one.run(program)
            if checks:
                parts = parts_of(program)
                if parts != verified or program.exact > exact:
                    verify(program, one.name, arguments, wanted, seen)
                verified = parts
            if one.keeps_bits and program.exact != exact:
                raise ProgramError(f"the pass {one.name!r} changes how values are rounded")
            if straight is not None:
                left, whole = program.length(), straight.length()
                if left != whole < 2 * left:
                    program, roll = straight, False
                    program.notes.append(LEFT)
    return program, roll


def _with_nests(program: Program) -> Program | None:
    """Return the program with loops whose turns vary in number, or None if it has none."""
    if not may_have_nests(program):
        return None
    made = program.copy()
    substitute(made, merge_keys=False, forwards=False)
    remove_overwritten(made)
    remove_dead(made)
    if not roll_nests(made):
        return None
    for run in COUNTING:
        run(made)
    return made
