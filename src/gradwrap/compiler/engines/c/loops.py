"""Loops in a kernel: what is carried from turn to turn, and what is wanted of it afterwards."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gradwrap.compiler.engines.c.addresses import Arr, Num, added, packed
from gradwrap.compiler.engines.c.operations import TYPES
from gradwrap.compiler.ir.loops import numbers

if TYPE_CHECKING:
    from gradwrap.compiler.engines.c.frame import Frame
    from gradwrap.compiler.ir.loops import LoopBody
    from gradwrap.compiler.ir.program import Loop


class Carrying:
    """What a loop carries from turn to turn, and what is wanted of it afterwards."""

    def __init__(self, kernel: Frame, loop: Loop, body: LoopBody) -> None:
        self.kernel = kernel
        self.loop = loop
        self.body = body
        self.stacks: dict[int, Arr] = {}
        self.carried: dict[int, Arr | Num] = {}
        """By row: the variable, or the buffer, with the value of the turn before."""
        self.spare: dict[int, Arr] = {}
        self.last: dict[int, Num] = {}
        self.in_place: set[int] = set()

    def before(self) -> None:
        """Write what comes before the loop."""
        kernel, loop, body = self.kernel, self.loop, self.body
        for row, out in loop.stacks.items():
            self.stacks[row] = kernel.new(out)
            kernel.where[out] = self.stacks[row]
        for row in loop.finals:
            value = loop.rows[row].value
            if not value.shape:
                name = f"e{kernel.count}"
                kernel.count += 1
                kernel.types[name] = TYPES[value.dtype]
                kernel.line(f"{TYPES[value.dtype]} {name};")
                self.last[row] = Num(value.dtype, name)
        for row, (_, init) in body.previous.items():
            value = loop.rows[row].value
            first = kernel.operand(init, value.dtype)
            kind = TYPES[value.dtype]
            if isinstance(first, Num):
                name = f"q{kernel.count}"
                kernel.count += 1
                kernel.line(f"{kind} {name} = {first.text};")
                self.carried[row] = Num(value.dtype, name)
            elif row in self.stacks:
                if not first.is_packed:
                    room = self._alone(row)
                    kernel.assign(room, first, "=")
                    first = room
                name = f"q{kernel.count}"
                kernel.count += 1
                kernel.line(f"const {kind} *{name} = {first.start};")
                self.carried[row] = Arr(
                    value.dtype, value.shape, name, "0", packed(value.shape), -1
                )
            else:
                room = self._alone(row)
                kernel.assign(room, first, "=")
                self.carried[row] = room
        for row in sorted({*body.previous, *loop.finals}):
            if loop.rows[row].value.shape and row not in self.stacks:
                self.spare[row] = self._alone(row)

    def _alone(self, row: int) -> Arr:
        """Return room for a row that nothing else uses, whatever happens in a turn."""
        value = self.loop.rows[row].value
        number = next(numbers)
        pointer = self.kernel.room(math.prod(value.shape), value.dtype, number, alone=True)
        return Arr(value.dtype, value.shape, pointer, "0", packed(value.shape), number)

    def turn(self, counter: str) -> None:
        """Write one turn."""
        kernel, loop, body = self.kernel, self.loop, self.body
        for source, number in body.turns.items():
            found = kernel.where[source]
            assert isinstance(found, Arr)
            offset = f"{found.offset} + {counter} * {found.strides[0]}"
            part = found._replace(shape=found.shape[1:], strides=found.strides[1:], offset=offset)
            if part.shape:
                kernel.where[number] = part._replace(root=-1)
            else:
                kernel.where[number] = kernel.variable(part.dtype, f"{part.pointer}[{offset}]")
        targets: dict[int, Arr] = {}
        owned: set[int] = set()
        for row, (number, _) in body.previous.items():
            before = self.carried[row]
            if isinstance(before, Arr) and row not in self.stacks:
                before = before._replace(root=number)
                kernel.members[number] = {number}
                owned.add(number)
            kernel.where[number] = before
        for row, stack in self.stacks.items():
            if loop.rows[row].value.shape:
                offset = f"{stack.offset} + {counter} * {stack.strides[0]}"
                targets[body.rows[row]] = stack._replace(
                    shape=stack.shape[1:], strides=stack.strides[1:], offset=offset, root=-1
                )
        for row, room in self.spare.items():
            targets[body.rows[row]] = room._replace(root=-1)
        outside = kernel.targets, kernel.dying_here
        kernel.targets, kernel.dying_here = targets, frozenset(owned)
        kept = {body.rows[row] for row in {*body.previous, *loop.stacks, *loop.finals}}
        kernel.perform(list(body.steps), kept)
        kernel.targets, kernel.dying_here = outside
        self._carry_on(counter, targets)
        for number in [*body.rows, *owned]:
            kernel.release([number])

    def _carry_on(self, counter: str, targets: dict[int, Arr]) -> None:
        """Write the end of a turn: results go into stacks, and to the next turn."""
        kernel, loop, body = self.kernel, self.loop, self.body
        swaps: list[str] = []
        for row in sorted({*body.previous, *loop.stacks, *loop.finals}):
            number = body.rows[row]
            found = kernel.where[number]
            if isinstance(found, Num):
                stack = self.stacks.get(row)
                if stack is not None:
                    place = f"{stack.offset} + {counter} * {stack.strides[0]}"
                    kernel.line(f"{stack.pointer}[{place}] = {found.text};")
                carried = self.carried.get(row)
                if isinstance(carried, Num):
                    swaps.append(f"{carried.text} = {found.text};")
                if row in self.last:
                    swaps.append(f"{self.last[row].text} = {found.text};")
                continue
            target = targets[number]
            carried = self.carried.get(row)
            if isinstance(carried, Arr) and found.pointer == carried.pointer and found.is_packed:
                if row not in self.stacks:
                    self.in_place.add(row)
                    continue
            if found.pointer != target.pointer or found.offset != target.offset:
                kernel.assign(target, found, "=")
            if isinstance(carried, Arr):
                if row in self.stacks:
                    swaps.append(f"{carried.pointer} = {target.start};")
                else:
                    kind = TYPES[target.dtype]
                    swaps.append(
                        f"{{ {kind} *swap = {carried.pointer}; {carried.pointer} = "
                        f"{target.pointer}; {target.pointer} = swap; }}"
                    )
        for line in swaps:
            kernel.line(line)

    def after(self) -> None:
        """Enter what the loop has given."""
        kernel, loop = self.kernel, self.loop
        for row, out in loop.finals.items():
            if row in self.last:
                kernel.where[out] = self.last[row]
            elif row in self.stacks:
                stack = self.stacks[row]
                size = stack.strides[0]
                kernel.alias(
                    out,
                    stack._replace(
                        shape=stack.shape[1:],
                        strides=stack.strides[1:],
                        offset=added(stack.offset, (loop.turns - 1) * size),
                    ),
                )
            else:
                found = self.carried.get(row) or self.spare[row]
                assert isinstance(found, Arr)
                kernel.where[out] = found._replace(root=-1)
