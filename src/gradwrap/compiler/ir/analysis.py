"""Static analysis of programs: liveness, readers of values, and views."""

from __future__ import annotations

import math
from collections import Counter
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradwrap.compiler.ir.operations import GETITEM, Kind
from gradwrap.compiler.ir.program import Block, Instr, Loop, Ref, bodies_of, refs, used

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import TypeAlias

    from gradwrap.compiler.ir.program import Program, Value

    Roots: TypeAlias = dict[int, frozenset[int]]
    """By value: the values that may own its buffer."""

# Liveness -----------------------------------------------------------------------------------------


class Liveness(NamedTuple):
    """The live values, by the identity of each block."""

    before: dict[int, set[int]]
    """At the beginning of its body."""
    after: dict[int, set[int]]
    """After its body: those that its guard, its result or its branches read."""


def liveness(program: Program) -> Liveness:
    """Return the values that are live at the beginning of each block and after its body."""
    found = Liveness({}, live_after(program))
    for block in program.blocks():
        found.before[id(block)] = live_before(block.body, found.after[id(block)])
    return found


def live_after(program: Program) -> dict[int, set[int]]:
    """Return the values that are live after the body of each block, by its identity."""
    after: dict[int, set[int]] = {}
    before: dict[int, set[int]] = {}
    for block in reversed(list(program.blocks())):
        after[id(block)] = live = needed_after(block, before)
        if block is not program.root:
            before[id(block)] = live_before(block.body, live)
    return after


def needed_after(block: Block, before: dict[int, set[int]]) -> set[int]:
    """Return the values that are live after a body; `before` has those of its branches."""
    branches = (before[id(branch)] for branch in block.branches.values())
    return set(looked_at(block)).union(*branches)


def live_before(body: Sequence[Instr | Loop], live: set[int]) -> set[int]:
    """Return the values that are live before a body, given those that are live after it."""
    live = set(live)
    for step in reversed(body):
        if isinstance(step, Instr):
            live.discard(step.out)
            live.update(step.reads)
        else:
            live.difference_update(step.outs)
            live.update(used(step))
    return live


def looked_at(block: Block) -> list[int]:
    """Return the values that the guard or the result of a block reads."""
    guarded = [] if block.guard is None else [block.guard.value.index]
    return guarded if block.result is None else [*guarded, *refs(block.result.leaves)]


# Orders -------------------------------------------------------------------------------------------


def in_order(waits: Sequence[set[int]]) -> list[int]:
    """Sort numbers so that each stands behind those in `waits` at its place, the smallest first.

    Numbers that wait for each other are left out.
    """
    left = [set(before) for before in waits]
    readers: list[list[int]] = [[] for _ in waits]
    for number, before in enumerate(waits):
        for other in before:
            readers[other].append(number)
    ready = [number for number, before in enumerate(left) if not before]
    heapify(ready)
    order: list[int] = []
    while ready:
        order.append(heappop(ready))
        for number in readers[order[-1]]:
            left[number].discard(order[-1])
            if not left[number]:
                heappush(ready, number)
    return order


# Readers ------------------------------------------------------------------------------------------


def uses(program: Program) -> Counter[int]:
    """Count how often each value is read: by instructions, loops, guards and results."""
    found: list[int] = []
    for block in program.blocks():
        found += looked_at(block)
        for body in bodies_of(block.body):
            for step in body:
                found += step.reads if isinstance(step, Instr) else _declared(step)
    return Counter(found)


def operations(body: Sequence[Instr | Loop]) -> float:
    """Count the operations of a body, in all turns of its loops."""
    return sum(_turns(one) * operations(one.body) if isinstance(one, Loop) else 1 for one in body)


def elements(program: Program, body: Sequence[Instr | Loop]) -> float:
    """Count the elements of the arrays that a body makes, in all turns of its loops.

    A write counts as many as it writes: nearly all are performed in place.
    """
    return sum(
        _turns(one) * elements(program, one.body)
        if isinstance(one, Loop)
        else math.prod(_computed(program, one)) * (not one.views)
        for one in body
    )


def _computed(program: Program, step: Instr) -> tuple[int, ...]:
    """Return the shape of what an instruction computes; of a write, that of what is written."""
    if step.op.kind is not Kind.WRITE:
        return program.values[step.out].shape
    written = step.args[2]
    return program.values[written.index].shape if type(written) is Ref else np.shape(written)


def _turns(loop: Loop) -> float:
    """Return the number of turns; half of the most, if it grows up to there."""
    return loop.turns if loop.count is None else loop.turns / 2


def _declared(loop: Loop) -> list[int]:
    """Return the values that a loop itself reads, and those that its turns hand on."""
    firsts: list[Any] = [carry.first for carry in loop.carries]
    after = [carry.next for carry in loop.carries]
    return [*refs([*loop.reads.values(), *firsts, loop.count]), *after, *loop.stacks, *loop.finals]


def last_readers(
    body: Sequence[Any], reads: Callable[[Any], Iterable[int]] = used
) -> dict[int, int]:
    """Return, for each value, the position of the last step that reads it."""
    return {index: number for number, step in enumerate(body) for index in reads(step)}


# Views --------------------------------------------------------------------------------------------


def roots_of(program: Program, *, traced: bool = False) -> Roots:
    """Return, for each value, the values that may own its buffer, or owned it in the trace."""
    roots: Roots = {i: frozenset({i}) for i in (*program.inputs, *program.constants)}
    for block in program.blocks():
        enter_roots(block.body, program.values, roots, traced=traced)
    return roots


def enter_roots(
    steps: Iterable[Instr | Loop], values: Sequence[Value], roots: Roots, *, traced: bool = False
) -> None:
    """Record the roots of the results of steps."""
    for step in steps:
        if isinstance(step, Loop):
            roots.update((out, frozenset({out})) for out in step.outs)
            continue
        found: frozenset[int] = frozenset()
        if step.views and not (traced and step.copied):
            found = _roots_of_view(values, step, roots)
        roots[step.out] = found or frozenset({step.out})


def _roots_of_view(values: Sequence[Value], instr: Instr, roots: Roots) -> frozenset[int]:
    """Return the roots of the arrays that a view is taken from; a key is not one of them."""
    nest: Any = instr.args[:1] if instr.op is GETITEM else instr.args
    found: set[int] = set()
    for index in refs(nest):
        value = values[index]
        if value.is_ndarray or value.is_tuple:
            found |= roots[index]
    return frozenset(found)
