"""Groups: the instructions of a body that are performed together, and their order.

A group consists of elementwise instructions of one shape that an engine performs in one pass
over the elements. An instruction starts a new group if an operand from outside is only known
when the open group is complete.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from gradwrap.compiler.ir.analysis import in_order
from gradwrap.compiler.ir.operations import Kind
from gradwrap.compiler.ir.program import Instr, Ref, given, is_elementwise, refs, used

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.compiler.ir.operations import Operation
    from gradwrap.compiler.ir.program import Loop


MANY_BITS = 1024
FEW_ELEMENTS = 64
"""The most elements of an array for which another pass over them costs little."""


class Unit(NamedTuple):
    """A unit of execution: a group of one shape, or a single step outside of groups."""

    shape: tuple[int, ...] | None
    steps: list[Instr | Loop]


def scheduled(
    body: Sequence[Instr | Loop],
    shape_of: Callable[[Instr], tuple[int, ...] | None],
    *,
    writes: bool = False,
    reach: int | None = None,
) -> list[Unit]:
    """Return the units of a body, in an executable order.

    `shape_of` returns the shape of the groups that an instruction can join, or None. Sums and
    writes of a group are complete only at its end: no other member can read them. With `writes`,
    several members may add to one array. With `reach`, the members of a group are at most so many
    steps apart, and those of small arrays share a value: others that happen to have the same shape
    may be of another turn.
    """
    units: list[Unit] = []
    needs: list[int] = []  # for each unit a bit set: all units that it depends on
    maker: dict[int, int] = {}
    open_groups: dict[tuple[int, ...], tuple[int, int]] = {}
    """By shape: the group that accepts members, and the number of its first step."""
    ties: dict[int, set[int]] = {}
    """By group: the values that its members read and make."""
    late: dict[int, Operation] = {}
    writes = writes and any(isinstance(s, Instr) and s.op.kind is Kind.WRITE for s in body)
    memory = _Memory(body) if writes else None
    window = len(body) if reach is None else reach
    base = 0  # the unit of the first bit
    for at, step in enumerate(body):
        makers = {maker[index] for index in used(step) if index in maker}
        wanted = 0
        for number in makers:
            if number >= base:
                wanted |= needs[number] | 1 << number - base
        shape = shape_of(step) if isinstance(step, Instr) else None
        group = None
        if shape is not None and shape in open_groups and at - open_groups[shape][1] <= window:
            group = open_groups[shape][0]
            is_small = reach is not None and math.prod(shape) <= FEW_ELEMENTS
            if is_small and ties[group].isdisjoint(used(step)):
                group = None
        if group is not None and not (
            any(needs[number] >> group - base & 1 for number in makers if base <= number != group)
            or _needs_done(step, maker, group, late, memory)
            or (memory is not None and memory.conflicts(step, group))
        ):
            units[group].steps.append(step)
            gained = wanted & ~(needs[group] | 1 << group - base)
            if gained:
                # a group begun long ago depends on nothing in this one
                for number in range(max(base, group - window), len(needs)):
                    before = needs[number]
                    if number == group or before >> group - base & 1:
                        needs[number] = before | gained
        else:
            group = len(units)
            if group - base > 2 * window + MANY_BITS:  # nothing older can take members
                oldest = group - 2 * window
                for number in range(base, group):
                    needs[number] = needs[number] >> oldest - base if number >= oldest else 0
                wanted, base = wanted >> oldest - base, oldest
            units.append(Unit(shape, [step]))
            needs.append(wanted)
            if shape is not None:
                open_groups[shape] = (group, at)
        if reach is not None and shape is not None:
            ties.setdefault(group, set()).update(used(step), given(step))
        if memory is not None and isinstance(step, Instr):
            memory.enter(step, group)
        for index in given(step):
            maker[index] = group
            if shape is not None and isinstance(step, Instr) and not is_elementwise(step):
                late[index] = step.op
    return _ordered(units, maker)


class _Memory:
    """The arrays that the steps of each group read and write, views and new versions included."""

    def __init__(self, body: Sequence[Instr | Loop]) -> None:
        self.readers = Counter(index for step in body for index in used(step))
        self.owner: dict[int, int] = {}
        """By view and by version: the array whose memory it has."""
        self.read: dict[int, set[int]] = {}
        self.written: dict[int, set[int]] = {}

    def conflicts(self, step: Instr | Loop, group: int) -> bool:
        """Tell if a step reads an array that the group writes, or writes one that it reads."""
        reads, writes = self._touched(step)
        return not (
            self.read.get(group, set()).isdisjoint(writes)
            and self.written.get(group, set()).isdisjoint(reads)
        )

    def enter(self, step: Instr, group: int) -> None:
        """Record a step of a group."""
        if (step.views or step.op.kind is Kind.WRITE) and type(step.args[0]) is Ref:
            index: int = step.args[0].index
            self.owner[step.out] = self.owner.get(index, index)
        reads, writes = self._touched(step)
        self.read.setdefault(group, set()).update(reads)
        self.written.setdefault(group, set()).update(writes)

    def _touched(self, step: Instr | Loop) -> tuple[set[int], set[int]]:
        """Return the arrays that a step reads, and those that it writes."""
        if not isinstance(step, Instr) or step.op.kind is not Kind.WRITE:
            return {self.owner.get(index, index) for index in used(step)}, set()
        target: int = step.args[0].index
        reads = {self.owner.get(index, index) for index in refs((step.args[1:], step.kw))}
        return reads, {self.owner.get(target, target)}


def _needs_done(
    step: Instr | Loop,
    maker: dict[int, int],
    group: int,
    late: dict[int, Operation],
    memory: _Memory | None,
) -> bool:
    """Tell if a step reads a result of a group that is complete only at the group's end."""
    here = [index for index in used(step) if maker.get(index) == group]
    if not isinstance(step, Instr) or step.op.kind is not Kind.WRITE:
        return any(index in late for index in here)
    target = step.args[0].index
    if any(index in late for index in here if index != target):
        return True
    is_added_to = step.op.scatters and target in late and late[target].scatters
    return target in here and not (is_added_to and memory and memory.readers[target] == 1)


def _ordered(units: list[Unit], maker: dict[int, int]) -> list[Unit]:
    """Sort units topologically; among ready units the first begun comes first."""
    waits: list[set[int]] = []
    for number, unit in enumerate(units):
        before = {maker[index] for step in unit.steps for index in used(step) if index in maker}
        before.discard(number)
        waits.append(before)
    return [units[number] for number in in_order(waits)]
