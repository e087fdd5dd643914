"""Loops in a C kernel: their carries, stacks and final values."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradwrap.compiler.engines.c.addresses import Arr, Num, in_order, integer, packed
from gradwrap.compiler.engines.c.operations import TYPES
from gradwrap.compiler.ir.program import Ref, given, used

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gradwrap.compiler.engines.c.nests import Nests
    from gradwrap.compiler.ir.program import Carry, Loop


DEPTH = 3
"""The most axes of a grid."""


class Grid(NamedTuple):
    """A loop over the points of a grid, whose indices need no tables."""

    extents: Sequence[int]
    laws: Mapping[int, tuple[int, Sequence[int]]]
    """By index that the loop reads: its first number, and its step along each axis."""

    def text(self, index: int, counters: Sequence[str]) -> str:
        """Return the text of an index."""
        start, steps = self.laws[index]
        pairs = zip(steps, counters, strict=True)
        terms = (f"{integer(step)} * {counter}" for step, counter in pairs if step)
        return " + ".join([integer(start), *terms])


def grid_of(tables: Mapping[int, Any]) -> Grid | None:
    """Return the grid whose axes the tables of a loop's indices count, or None.

    A C compiler then knows which elements of an array two turns share, and keeps them in registers.
    """
    extents: list[int] = []
    left = list(tables.values())
    while left and (not extents or len(left[0]) > 1):
        breaks = [np.flatnonzero(np.diff(one, n=2))[:1] + 2 for one in left]
        length = len(left[0])
        extent = min((int(one[0]) for one in breaks if len(one)), default=length)
        extent = extent if length % extent == 0 and len(extents) + 1 < DEPTH else length
        extents.insert(0, extent)
        left = [one[::extent] for one in left]
    laws: dict[int, tuple[int, Sequence[int]]] = {}
    for index, numbers in tables.items():
        start = int(numbers[0])
        strides = zip(extents, packed(tuple(extents)), strict=True)
        steps = [int(numbers[stride]) - start if n > 1 else 0 for n, stride in strides]
        axes = np.indices(extents, sparse=True)
        found = sum((step * axis for step, axis in zip(steps, axes, strict=True)), start)
        if np.array_equal(np.broadcast_to(found, extents).ravel(), numbers):
            laws[index] = (start, steps)
    return Grid(extents, laws) if laws else None


def line_of(tables: Mapping[int, Any]) -> Grid | None:
    """Return the line whose points the tables of a loop's indices count evenly, or None."""
    laws: dict[int, tuple[int, Sequence[int]]] = {}
    for index, numbers in tables.items():
        step = int(numbers[1] - numbers[0]) if len(numbers) > 1 else 0
        if np.array_equal(numbers, numbers[0] + step * np.arange(len(numbers))):
            laws[index] = (int(numbers[0]), [step])
    return Grid([0], laws) if laws else None


class Carrying:
    """Writes a loop with its carries, stacks and final values."""

    def __init__(self, kernel: Nests, loop: Loop, dying: set[int]) -> None:
        self.kernel = kernel
        self.loop = loop
        self.dying = dying
        """The values whose last use is in the loop, if there is a loop around it."""
        self.taken: dict[int, int] = {}
        """By body value handed on: the root of the array in whose place all turns keep it."""
        self.stacks: dict[int, Arr] = {}
        self.carried: dict[int, Arr | Num] = {}
        """By body value handed on: the place of its value from the turn before."""
        self.spare: dict[int, Arr] = {}
        self.last: dict[int, Num] = {}

    def before(self) -> None:
        """Write the code before the loop."""
        kernel, loop = self.kernel, self.loop
        for index, out in loop.stacks.items():
            self.stacks[index] = kernel.where[out] = kernel.new(out)
        for index in loop.finals:
            value = kernel.values[index]
            if not value.shape:
                name = kernel.name_of("e")
                kernel.types[name] = TYPES[value.dtype]
                kernel.line(f"{TYPES[value.dtype]} {name};")
                self.last[index] = Num(value.dtype, name)
        read = Counter(used(loop))
        for carry in loop.carries:
            value = kernel.values[carry.value]
            first = kernel.operand(carry.first, value.dtype)
            kind = TYPES[value.dtype]
            if isinstance(first, Num):
                name = kernel.name_of("q")
                kernel.line(f"{kind} {name} = {first.text};")
                self.carried[carry.next] = Num(value.dtype, name)
                if loop.count is not None and carry.next in self.last:
                    kernel.line(f"{self.last[carry.next].text} = {name};")
                continue
            if carry.next not in self.stacks and self._takes(carry, first, read):
                kernel.clear(first.root)
                self.taken[carry.next] = first.root
                self.carried[carry.next] = first
                continue
            if not (carry.next in self.stacks and first.is_packed):
                room = self._alone(carry.value)
                kernel.assign(room, first, "=")
                first = room
            if carry.next in self.stacks:
                name = kernel.name_of("q")
                kernel.line(f"const {kind} *{name} = {first.start};")
                first = in_order(value.dtype, value.shape, name)
            self.carried[carry.next] = first
        for index in sorted(loop.handed_on - loop.stacks.keys()):
            if kernel.values[index].shape:
                self.spare[index] = self._alone(index)

    def _takes(self, carry: Carry, first: Arr, read: Counter[int]) -> bool:
        """Tell if a carried array can stay where it begins: nothing else reads what is there.

        The loops in a turn of a loop would copy it each time otherwise.
        """
        index = carry.first.index if type(carry.first) is Ref else -1
        return (
            first.is_packed
            and index in self.dying
            and read[index] == 1
            and self.kernel.members.get(first.root) == {index}
            and first.root not in self.taken.values()
        )

    def _alone(self, index: int) -> Arr:
        """Allocate an array that nothing else reuses during the loop."""
        value = self.kernel.values[index]
        number = self.kernel.temporary()
        pointer = self.kernel.room(math.prod(value.shape), value.dtype, number, alone=True)
        return in_order(value.dtype, value.shape, pointer, number)

    def turn(self, counter: str, indices: Mapping[int, str]) -> None:
        """Write one turn; `indices` are the texts of integers that need not be read."""
        kernel, loop = self.kernel, self.loop
        for index, source in loop.reads.items():
            if index in indices:
                kernel.where[index] = kernel.variable(kernel.values[index].dtype, indices[index])
                continue
            found = kernel.where[source.index]
            assert isinstance(found, Arr)
            part = _part(found, counter)
            if part.shape:
                kernel.where[index] = part
            else:
                kernel.where[index] = kernel.variable(part.dtype, part.element)
        owned: set[int] = set()
        for carry in loop.carries:
            before = self.carried[carry.next]
            if isinstance(before, Arr) and carry.next not in self.stacks:
                before = before._replace(root=carry.value)
                kernel.members[carry.value] = {carry.value}
                owned.add(carry.value)
            kernel.where[carry.value] = before
        targets = {i: _part(stack, counter) for i, stack in self.stacks.items() if stack.shape[1:]}
        targets |= {index: room._replace(root=-1) for index, room in self.spare.items()}
        outside = kernel.targets, kernel.dying_here
        kernel.targets, kernel.dying_here = targets, frozenset(owned)
        kernel.perform(loop.body, loop.handed_on)
        kernel.targets, kernel.dying_here = outside
        self._carry_on(counter, targets)
        kernel.release({*owned, *(index for step in loop.body for index in given(step))})

    def _carry_on(self, counter: str, targets: dict[int, Arr]) -> None:
        """Write the end of a turn: results go to stacks and to the next turn."""
        kernel = self.kernel
        swaps: list[str] = []
        back: list[tuple[Arr, Arr]] = []
        moves = self._moves()
        if moves:
            kinds = {index: TYPES[kernel.values[index].dtype] for index in moves}
            olds = [f"{kinds[i]} *next{i} = {room};" for i, (_, room) in moves.items()]
            news = [f"{name} = next{i};" for i, (name, _) in moves.items()]
            swaps.append(f"{{ {' '.join([*olds, *news])} }}")
        for index in sorted(self.loop.handed_on):
            found, carried = kernel.where[index], self.carried.get(index)
            if isinstance(found, Num):
                if index in self.stacks:
                    part = _part(self.stacks[index], counter)
                    kernel.line(f"{part.element} = {found.text};")
                if isinstance(carried, Num):
                    swaps.append(f"{carried.text} = {found.text};")
                if index in self.last:
                    swaps.append(f"{self.last[index].text} = {found.text};")
                continue
            if index in moves:
                continue
            target = targets[index]
            if isinstance(carried, Arr) and found.pointer == carried.pointer and found.is_packed:
                if index not in self.stacks:  # it was updated in place
                    continue
            if found.start != target.start:
                kernel.assign(target, found, "=")
            if isinstance(carried, Arr):
                if index in self.stacks:
                    swaps.append(f"{carried.pointer} = {target.start};")
                elif index in self.taken:
                    back.append((carried, target))
                else:
                    kind = TYPES[target.dtype]
                    swaps.append(
                        f"{{ {kind} *swap = {carried.pointer}; {carried.pointer} = "
                        f"{target.pointer}; {target.pointer} = swap; }}"
                    )
        for line in swaps:
            kernel.line(line)
        for carried, target in back:
            kernel.assign(carried, target, "=")

    def _moves(self) -> dict[int, tuple[str, str]]:
        """Return arrays that were updated in place, each in another one's room.

        By value, there are the pointer that the next turn reads, and that to the room. The pointers
        are exchanged, and nothing is copied. The rooms only change hands among these arrays.
        """
        rooms = {
            index: arr
            for index, arr in self.carried.items()
            if isinstance(arr, Arr) and index not in self.stacks and index not in self.taken
        }
        owners = {arr.pointer: index for index, arr in rooms.items()}
        moves: dict[int, str] = {}
        for index, room in rooms.items():
            found = self.kernel.where[index]
            assert isinstance(found, Arr)
            if found.start == found.pointer and found.is_packed and found.pointer in owners:
                other = rooms[owners[found.pointer]]
                if (other.dtype, other.shape) == (room.dtype, room.shape):
                    moves[index] = found.pointer
        if len({*moves.values()}) < len(moves):
            return {}
        while True:
            stay = [index for index, pointer in moves.items() if owners[pointer] not in moves]
            if not stay:
                break
            for index in stay:
                del moves[index]
        return {
            index: (rooms[index].pointer, pointer)
            for index, pointer in moves.items()
            if pointer != rooms[index].pointer
        }

    def after(self) -> None:
        """Record the places of the loop's outputs."""
        kernel, loop = self.kernel, self.loop
        for index, out in loop.finals.items():
            if index in self.last:
                kernel.where[out] = self.last[index]
            elif index in self.stacks and loop.count is None:
                stack = self.stacks[index]
                kernel.alias(out, _first(stack).moved((loop.turns - 1) * stack.strides[0]))
            else:
                found = self.carried.get(index) or self.spare[index]
                assert isinstance(found, Arr)
                root = self.taken.get(index, -1)
                kernel.where[out] = found._replace(root=root)
                if root in kernel.members:
                    kernel.members[root].add(out)


def _first(stack: Arr) -> Arr:
    """Return the first part of a stack."""
    return stack._replace(shape=stack.shape[1:], strides=stack.strides[1:])


def _part(stack: Arr, counter: str) -> Arr:
    """Return a turn's part of a stack, as read-only memory."""
    index = f"{counter} * {integer(stack.strides[0])}"
    return _first(stack)._replace(root=-1).moved(0, index)
