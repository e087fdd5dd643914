"""Dead code: steps that no result and no guard needs.

A step that raises an error for some matrices tests its matrix, perhaps on purpose. It is kept,
unless a later step that is kept makes the same test. So are the parts of a result whose forms may
vary: code may have tested the size of a part without its values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.compiler.ir.analysis import enter_roots, needed_after
from gradwrap.compiler.ir.operations import ITEM
from gradwrap.compiler.ir.program import Instr, Loop, Ref, bodies_of, used
from gradwrap.core.values.dynamic import type_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradwrap.compiler.ir.program import Program, Value


def remove_dead(program: Program) -> None:
    """Remove the steps and constants that no result and no guard needs."""
    needed: dict[int, set[int]] = {}
    for block in reversed(list(program.blocks())):
        after = needed_after(block, needed)
        block.body, needed[id(block)] = _alive(block.body, after, program.values)
    live = needed[id(program.root)]
    program.constants = {i: c for i, c in program.constants.items() if i in live}


def _alive(
    body: list[Instr | Loop], live: set[int], values: Sequence[Value]
) -> tuple[list[Instr | Loop], set[int]]:
    """Return the live steps of a body, and the values live before it."""
    live = set(live)
    kept: list[Instr | Loop] = []
    tests = _Tests(body, values)
    parts: dict[int, list[Instr]] = {}
    for step in reversed(body):
        if isinstance(step, Instr):
            fails = step.op.fails
            if step.out in live or (fails and tests.are_new(step)):
                if step.form_may_vary:
                    kept += parts.pop(step.out, ())
                kept.append(step)
                live.discard(step.out)
                live.update(step.reads)
                if fails:
                    tests.enter(step)
            elif step.op is ITEM:
                parts.setdefault(step.args[0].index, []).append(step)
        elif not live.isdisjoint(step.outs) or _has_test(step):
            loop = _alive_loop(step, live, values)
            kept.append(loop)
            live.difference_update(step.outs)
            live.update(used(loop))
    return kept[::-1], live


def _alive_loop(loop: Loop, live: set[int], values: Sequence[Value]) -> Loop:
    """Return a loop without its dead outputs, carries, reads and steps."""
    made = Loop(loop.turns, count=loop.count)
    made.stacks = {index: out for index, out in loop.stacks.items() if out in live}
    made.finals = {index: out for index, out in loop.finals.items() if out in live}
    while True:
        made.body, read = _alive(loop.body, made.handed_on, values)
        lasts = made.finals if loop.count is not None else {}
        carries = [one for one in loop.carries if one.value in read or one.next in lasts]
        if carries == made.carries:
            break
        made.carries = carries
    made.reads = {index: stack for index, stack in loop.reads.items() if index in read}
    return made


def _has_test(loop: Loop) -> bool:
    return any(
        isinstance(step, Instr) and step.op.fails for body in bodies_of([loop]) for step in body
    )


class _Roots(dict[int, frozenset[int]]):
    """The values that may own the buffers of the values of a body; others own their buffers."""

    def __missing__(self, index: int) -> frozenset[int]:
        return frozenset({index})


class _Tests:
    """The tests of matrices that the kept steps of a body make."""

    def __init__(self, body: Sequence[Instr | Loop], values: Sequence[Value]) -> None:
        self._body, self._values = body, values
        self._roots: _Roots | None = None
        self._made: set[Any] = set()

    def enter(self, step: Instr) -> None:
        """Record the test that a step makes."""
        self._made.add(self._key(step))

    def are_new(self, step: Instr) -> bool:
        """Tell if no step makes the test of this one; a view has the elements of its array."""
        return step.op.fails == "any" or self._key(step) not in self._made

    def _key(self, step: Instr) -> Any:
        if self._roots is None:
            self._roots = _Roots()
            enter_roots(self._body, self._values, self._roots)
        matrix: Any = step.args[0] if step.args else None
        root = self._roots[matrix.index] if type_of(matrix) is Ref else None
        return step.op.fails, root
