"""Fission: a segment is split into the components of its dependence graph, rolled one by one."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.ir.operations import ADD, COPY, ITEM, MATMUL, SETITEM, Kind
from gradwrap.compiler.ir.program import (
    Carry,
    Instr,
    Loop,
    Ref,
    Value,
    changed,
    copy,
    getitem,
    is_elementwise,
)
from gradwrap.compiler.rolling.for_all import for_all
from gradwrap.compiler.rolling.nested import NO_VALUE, without_operations
from gradwrap.compiler.rolling.segments import (
    NO_OPERATION,
    Decline,
    Gat,
    Idx,
    Inv,
    Late,
    Num,
    Rel,
    advance,
    affine,
    with_leaves,
)
from gradwrap.compiler.rolling.stacks import Stacking
from gradwrap.core.values.dynamic import SLICE, TUPLE, type_of

if TYPE_CHECKING:
    from gradwrap.compiler.rolling.segments import Rewriting, Segment

LATEST = 7
"""The longest distance, in turns, over which a loop carries values."""


# Components ---------------------------------------------------------------------------------------


def components(edges: list[list[int]]) -> list[list[int]]:
    """Return the strongly connected components of a graph, each after its successors."""
    count = len(edges)
    index = [-1] * count
    low = [0] * count
    on_stack = [False] * count
    stack: list[int] = []
    found: list[list[int]] = []
    number = 0
    for root in range(count):
        if index[root] >= 0:
            continue
        work = [(root, 0)]
        while work:
            node, following = work.pop()
            if following == 0:
                index[node] = low[node] = number
                number += 1
                stack.append(node)
                on_stack[node] = True
            descended = False
            for at in range(following, len(edges[node])):
                other = edges[node][at]
                if index[other] < 0:
                    work.extend(((node, at + 1), (other, 0)))
                    descended = True
                    break
                if on_stack[other]:
                    low[node] = min(low[node], index[other])
            if descended:
                continue
            if low[node] == index[node]:
                component: list[int] = []
                while True:
                    member = stack.pop()
                    on_stack[member] = False
                    component.append(member)
                    if member == node:
                        break
                found.append(sorted(component))
            if work:
                parent = work[-1][0]
                low[parent] = min(low[parent], low[node])
    return found


class Write:
    """A write of the segment, over all its turns."""

    def __init__(self, instr: Instr, places: list[Any], written: Any) -> None:
        self.instr = instr
        self.places = places
        self.written = written
        self.varying: list[int] = [n for n, part in enumerate(places) if isinstance(part, Idx)]

    def is_plain(self, turns: int) -> bool:
        """Tell if the write can be performed for all turns at once."""
        if any(not isinstance(part, (int, SLICE, Idx)) for part in self.places):
            return False
        first = self.places[: len(self.varying)]
        if len(self.varying) > 1 and any(not isinstance(part, Idx) for part in first):
            return False
        if self.instr.op.scatters:
            return True
        return bool(self.varying) and len(self.turn_of()) == turns

    def turn_of(self) -> dict[tuple[int, ...], int]:
        """Map each tuple of varying indices to the last turn that writes there."""
        columns = [self.places[number].places for number in self.varying]
        return {at: turn for turn, at in enumerate(zip(*columns, strict=True))}

    def is_apart(self, other: Write) -> bool:
        """Tell if two writes never touch the same element."""
        for mine, others in zip(self.places, other.places, strict=False):
            if isinstance(mine, Idx) and isinstance(others, Idx):
                if set(mine.places).isdisjoint(others.places):
                    return True
                continue
            one, two = (others, mine) if isinstance(others, Idx) else (mine, others)
            high = _range(two)
            if high is not None and isinstance(one, Idx):
                if not any(high[0] <= place < high[1] for place in one.places):
                    return True
            elif high is not None and (low := _range(one)) is not None:
                if low[1] <= high[0] or high[1] <= low[0]:
                    return True
        return False

    def comes_before(self, other: Write) -> tuple[bool, bool]:
        """Tell if the write may be performed before, and after, a later write of the same turn."""
        both_add = self.instr.op.scatters and other.instr.op.scatters
        if both_add or self.is_apart(other):
            return True, True
        if self.varying != other.varying or not self.varying:
            return False, False
        mine, others = self.turn_of(), other.turn_of()
        if len(mine) < len(self.places[self.varying[0]].places) or len(others) < len(mine):
            return False, False
        pairs = [(mine[at], others[at]) for at in mine if at in others]
        return all(a <= b for a, b in pairs), all(a > b for a, b in pairs)


def _range(part: Any) -> tuple[int, int] | None:
    """Return the bounds of a part of a key; None if they depend on the length of the axis."""
    if type(part) is int:
        return (part, part + 1) if part >= 0 else None
    if not isinstance(part, SLICE) or part.step not in (None, 1):
        return None
    start, stop = part.start or 0, part.stop
    if start < 0 or (stop is not None and stop < 0):
        return None
    return start, 1 << 62 if stop is None else stop


def ordered(plans: list[Write]) -> list[Write] | None:
    """Order the writes of a turn so that each can be performed for all turns at once, or None."""
    before: list[set[int]] = [set() for _ in plans]
    for second, later in enumerate(plans):
        for first in range(second):
            stays, turns = plans[first].comes_before(later)
            if not stays and not turns:
                return None
            if not (stays and turns):
                (before[second] if stays else before[first]).add(first if stays else second)
    found = [member for group in components([sorted(one) for one in before]) for member in group]
    if any(before[one] & set(found[at:]) for at, one in enumerate(found)):
        return None
    return [plans[number] for number in found]


class Emission(Stacking):
    """Emits the instructions of one segment."""

    def __init__(self, roller: Rewriting, segment: Segment) -> None:
        super().__init__(roller, segment)
        self.owner: dict[int, int] = {}

    def write(self) -> None:
        """Emit all components."""
        segment = self.segment
        edges = [
            [operand.row for operand in operands if type(operand) is Rel]
            for operands in segment.operands
        ]
        for row, instr in enumerate(segment.rows):
            if instr.op is ITEM:  # a loop and its outputs are one component
                edges[edges[row][0]].append(row)
        found = components(edges)
        for number, members in enumerate(found):
            for row in members:
                self.owner[row] = number
        for members in found:
            if any(self._is_late(row, members) for row in members):
                if not self._ring(members):
                    self._loop(members)
            elif segment.values[members[0]].is_tuple:
                self._inner_loop(members)
            else:
                self._row(members[0])

    def _is_late(self, row: int, members: list[int]) -> bool:
        """Tell if a row reads a value that its component computed in an earlier turn."""
        return any(
            type(operand) is Rel and operand.distance > 0 and operand.row in members
            for operand in self.segment.operands[row]
        )

    # Uses of a row --------------------------------------------------------------------------------

    def _needs(self, row: int) -> tuple[bool, bool]:
        """Tell if other components read a row's values of all turns, and if they read the last."""
        segment, roller = self.segment, self.roller
        end = segment.start + segment.period * self.turns
        all_turns = last = False
        for turn in range(self.turns):
            out = roller.instrs[segment.start + turn * segment.period + row].out
            for at in roller.uses.get(out, ()):
                if segment.start <= at < end:
                    reader = (at - segment.start) % segment.period
                    all_turns |= self.owner[reader] != self.owner[row]
                elif turn == self.turns - 1:
                    last = True
                else:
                    all_turns = True
            if all_turns:
                return True, last
        return all_turns, last

    # Rows independent of earlier turns ------------------------------------------------------------

    def _row(self, row: int) -> None:
        """Perform a row for all turns at once, if possible."""
        segment = self.segment
        instr, operands = segment.rows[row], segment.operands[row]
        value = segment.values[row]
        if all(self.same_in_all(operand) is not None for operand in operands):
            segment.hoisted[row] = self._once(instr, operands, value)
            return
        before = len(self.roller.body)
        try:
            segment.stacks[row] = for_all(self, instr, operands, value)
        except Decline:
            del self.roller.body[before:]
            self._loop([row])

    def _once(self, instr: Instr, operands: list[Any], value: Value) -> Ref:
        """Perform once a row that is the same in all turns."""
        same: list[Any] = [self.same_in_all(operand)[0] for operand in operands]
        args, kw = with_leaves((instr.args, instr.kw), iter(same))
        return self.emit(
            instr.fn, args, value, kw, views=instr.views, line=instr.line, name=instr.name
        )

    def _inner_loop(self, members: list[int]) -> None:
        """Perform an inner loop for all turns: once, side by side, or turn by turn."""
        segment = self.segment
        row, *items = members
        instr, operands = segment.rows[row], segment.operands[row]
        if all(self.same_in_all(operand) is not None for operand in operands):
            segment.hoisted[row] = self._once(instr, operands, NO_VALUE)
            for one in items:
                segment.hoisted[one] = self._once(
                    segment.rows[one], segment.operands[one], segment.values[one]
                )
            return
        before = len(self.roller.body)
        try:
            self._side_by_side(row, items)
        except Decline:
            del self.roller.body[before:]
            self._loop(members)

    def _side_by_side(self, row: int, items: list[int]) -> None:
        """Perform each turn of an inner loop for all turns of the outer loop at once."""
        segment, turns = self.segment, self.turns
        instr, operands = segment.rows[row], segment.operands[row]
        inner: Any = instr.fn
        loop: Loop = inner.loop
        body = [one for one in loop.body if isinstance(one, Instr)]
        if len(body) < len(loop.body) or not all(
            is_elementwise(one) or one.op is COPY for one in body
        ):
            raise Decline("an inner loop does more than elementwise operations")
        made = Loop(loop.turns)
        names = {
            index: self.roller.program.new(self.stack_value(self.values[index]))
            for index in (*(carry.value for carry in loop.carries), *(one.out for one in body))
        }
        known: dict[tuple[int, int], Ref] = {}

        def operand(rank: int, leaf: Any) -> Any:
            if type_of(leaf) is not Ref:
                return leaf
            if leaf.index < 0:
                return self.aligned(operands[-1 - leaf.index], rank, operands, instr)
            if leaf.index not in names:
                return read(leaf.index, rank)
            number: int = leaf.index
            if len(self.values[number].shape) != rank:
                raise Decline("an inner loop broadcasts what it computes")
            return names[leaf.index]

        def read(index: int, rank: int) -> Ref:
            if (index, rank) not in known:
                stack = operands[-1 - loop.reads[index].index]
                same = self.same_in_all(stack)
                source = same[0] if same else self._inner_turns(self.stacked(stack), rank)
                known[index, rank] = self.roller.program.part_of(made, source)
            return known[index, rank]

        for carry in loop.carries:
            first = operands[-1 - carry.first.index]
            firsts = self.stacked(first)
            if self.row_value(first).shape != self.values[carry.value].shape:
                raise Decline("a first value has another shape or dtype")
            before, following = names[carry.value].index, names[carry.next].index
            made.carries.append(Carry(before, firsts, following))
        for one in body:
            renamed = changed(one, partial(operand, len(self.values[one.out].shape)))
            made.body.append(replace(renamed, out=names[one.out].index))
        taken = {segment.rows[one].args[1]: one for one in items}
        moved: dict[int, Ref] = {}
        for index, out in loop.stacks.items():
            if out in taken:
                value = self.values[names[index].index]
                moved[taken[out]] = self.roller.program.new(
                    value._replace(shape=(loop.turns, *value.shape))
                )
                made.stacks[names[index].index] = moved[taken[out]].index
        for index, out in loop.finals.items():
            if out in taken:
                final = self.roller.program.new(self.values[names[index].index])
                made.finals[names[index].index] = final.index
                segment.stacks[taken[out]] = final
        self.roller.body.append(made)
        for place, stack in moved.items():
            shape = (turns, *segment.values[place].shape)
            value = Value(shape, segment.values[place].dtype, is_ndarray=True, order="?")
            segment.stacks[place] = self.emit(np.moveaxis, (stack, 0, 1), value, views=True)

    def _inner_turns(self, stack: Ref, rank: int) -> Ref:
        """Move the axis of the inner turns to the front, and pad each row to `rank` axes."""
        value = self.values[stack.index]
        outer, inner, *shape = value.shape
        made = value._replace(shape=(inner, outer, *shape), order="?")
        moved = self.emit(np.moveaxis, (stack, 0, 1), made, views=True)
        missing = rank - len(shape)
        if missing <= 0:
            return moved
        made = Value((inner, outer, *(1,) * missing, *shape), value.dtype, is_ndarray=True)
        return self.emit(np.reshape, (moved, made.shape), made, views=True)

    # Sums and writes over all turns ---------------------------------------------------------------

    def _ring(self, members: list[int]) -> bool:
        """Emit a component in which every row accumulates into one value. Return False if not."""
        segment = self.segment
        inside = set(members)
        links: list[tuple[int, int, Any]] = []
        init: Any = None
        for row in members:
            instr, operands = segment.rows[row], segment.operands[row]
            mine = [n for n, op in enumerate(operands) if type(op) is Rel and op.row in inside]
            is_sum = instr.op is ADD and len(operands) == 2
            is_write = instr.op.kind is Kind.WRITE
            if len(mine) != 1 or not (is_sum or (is_write and mine[0] == 0)):
                return False
            operand = operands[mine[0]]
            if operand.distance > 1 or (operand.distance == 1 and init is not None):
                return False
            if operand.distance == 1:
                init = operand.inits[0]
            links.append((row, mine[0], operand))
        if init is None:
            return False
        value = segment.values[members[0]]
        if any(segment.values[row] != value for row in members):
            return False
        if self.described(init)._replace(order="C") != value._replace(order="C"):
            return False
        needs = [self._needs(row) for row in members]
        if len(members) == 1 and needs[0][0]:
            return self._running_sum(members[0], links[0][1], init, value)
        if any(all_turns for all_turns, _ in needs) or any(last for _, last in needs[:-1]):
            return False
        try:
            return self._written(links, init, value)
        except Decline:
            return False

    def _running_sum(self, row: int, mine: int, init: Any, value: Value) -> bool:
        instr, operands = self.segment.rows[row], self.segment.operands[row]
        if instr.op is not ADD:
            return False
        other = operands[1 - mine]
        if type(other) not in (Rel, Gat) or self.same_in_all(other) is not None:
            return False
        if self.row_value(other)._replace(order="C") != value._replace(order="C"):
            return False
        stack = self.stacked(other)
        first = self.joined([self.roller.plain(init)], value)
        joined = self.concatenated([first, stack], value, self.turns + 1)
        whole = Value((self.turns + 1, *value.shape), value.dtype, is_ndarray=True)
        sums = self.emit(
            np.add.accumulate,
            (joined,),
            whole,
            (("axis", 0),),
            name="add.accumulate",
            line=instr.line,
        )
        made = self.stack_value(value)
        key = slice(1, None)
        self.segment.stacks[row] = self.emit(getitem, (sums, key), made, views=True)
        return True

    def _written(self, links: list[tuple[int, int, Any]], init: Any, value: Value) -> bool:
        segment = self.segment
        plans: list[Write] = []
        has_setitem = any(segment.rows[row].op is SETITEM for row, _, _ in links)
        for row, mine, _ in links:
            instr, operands = segment.rows[row], segment.operands[row]
            if instr.op is ADD:
                if has_setitem:
                    return False
                plans.append(Write(instr, [], operands[1 - mine]))
                continue
            *parts, written = operands[1:]
            plan = Write(instr, [self.places(part) for part in parts], written)
            if not plan.is_plain(self.turns):
                return False
            plans.append(plan)
        order = ordered(plans) if has_setitem else plans
        if order is None:
            return False
        total = self.roller.plain(init)
        for plan in order:
            key = None if plan.instr.op is ADD else self._write_key(plan)
            total = self._one_write(key, plan.written, plan.instr, total, value)
        segment.finals[links[-1][0]] = total
        return True

    def _write_key(self, plan: Write) -> tuple[int, Any]:
        """Return the key of a write for all turns at once.

        The key comes second; first comes the position of the axis of turns, or -1 if the key
        does not vary.
        """
        places = list(plan.places)
        behind = -1
        if len(plan.varying) == 1:
            number = plan.varying[0]
            stride = affine(places[number].places)
            behind = sum(isinstance(part, SLICE) for part in places[:number])
            if stride:
                places[number] = advance(*stride, self.turns)
            elif any(type(part) is int for part in places):
                raise Decline("an index of several varies by unequal steps")
            else:
                places[number] = self.constant(np.array(places[number].places))
        elif plan.varying:
            behind = 0
            places = [
                self.constant(np.array(part.places)) if isinstance(part, Idx) else part
                for part in places
            ]
        is_tuple = isinstance(plan.instr.args[1], TUPLE)
        return behind, (tuple(places) if is_tuple and len(places) > 1 else places[0])

    def _one_write(self, key: Any, written: Any, instr: Instr, total: Any, value: Value) -> Ref:
        if instr.op is ADD:
            amount = self._total(written, value, instr)
            return self.emit(np.add, (total, amount), value, line=instr.line)
        behind, place = key
        region = self.region(value, instr)
        if behind >= 0:
            amount = self._amounts(written, region)
            if behind and type(amount) is Ref and self.same_in_all(written) is None:
                stack = self.values[amount.index]  # its rows may broadcast to the region
                _, *row = stack.shape
                moved = stack._replace(shape=(*row[:behind], self.turns, *row[behind:]), order="?")
                amount = self.emit(np.moveaxis, (amount, 0, behind), moved, views=True)
            elif behind and type(amount) is Ref and self.values[amount.index].shape:
                raise Decline("one array is written behind a slice in each turn")
        else:
            amount = self._total(written, value._replace(shape=region), instr)
        return self.emit(instr.fn, (total, place, amount), value, line=instr.line, name=instr.name)

    def _amounts(self, written: Any, region: tuple[int, ...]) -> Any:
        """Return the values written in all turns, as the operand of a single write."""
        if type(written) is Inv and type(written.leaf) is not Ref:
            return written.leaf
        if type(written) is Num:
            return self.padded(self.numbers(written, (), NO_OPERATION), len(region))
        same = self.same_in_all(written)
        if same is not None:
            return same[0]
        return self.padded(self.stacked(written), len(region))

    def _total(self, written: Any, value: Value, instr: Instr) -> Ref:
        """Return the sum over all turns of the values added."""
        if type(written) not in (Rel, Gat) or self.same_in_all(written) is not None:
            raise Decline("what is added in each turn is the same")
        row_value = self.row_value(written)
        if row_value.shape != value.shape or row_value.dtype != value.dtype:
            raise Decline("what is added has another shape than the sum")
        made = Value(value.shape, value.dtype, bool(value.shape))
        if type(written) is Rel and written.distance == 0:
            product = self._product(written.row, made)
            if product is not None:
                return product
        stack = self.stacked(written)
        return self.emit(
            np.add.reduce, (stack,), made, (("axis", 0),), name="add.reduce", line=instr.line
        )

    def _product(self, row: int, made: Value) -> Ref | None:
        """Return a sum of matrix products over all turns as a single product, or None."""
        instr, operands = self.segment.rows[row], self.segment.operands[row]
        if instr.op is not MATMUL or len(made.shape) != 2:
            return None
        shapes = [
            self.row_value(op).shape
            for op in operands
            if type(op) is not Num and not (type(op) is Inv and type(op.leaf) is not Ref)
        ]
        if [len(shape) for shape in shapes] != [2, 2]:
            return None
        if any(self.same_in_all(op) is not None for op in operands):
            return None
        left, right = (self.stacked(op) for op in operands)
        (m, n), (_, p) = shapes
        count = self.turns * n
        swapped = Value((m, self.turns, n), made.dtype, is_ndarray=True, order="?")
        a = self.emit(np.moveaxis, (left, 1, 0), swapped, views=True)
        flat = Value((m, count), made.dtype, is_ndarray=True, order="?")
        a = self.emit(np.reshape, (a, (m, count)), flat, views=True)
        flat = Value((count, p), made.dtype, is_ndarray=True)
        b = self.emit(np.reshape, (right, (count, p)), flat, views=True)
        return self.emit(np.matmul, (a, b), made, line=instr.line)

    # Recurrences ----------------------------------------------------------------------------------

    def _loop(self, members: list[int]) -> None:
        """Emit a component as a loop."""
        segment, new = self.segment, self.roller.program.new
        loop = Loop(self.turns)
        made = {row: new(segment.values[row]) for row in members}
        before = self._carried(loop, members, made)
        body: list[Instr | Loop] = []
        for row in members:
            instr, operands = segment.rows[row], segment.operands[row]
            leaves: list[Any] = []
            for operand in operands:
                if type(operand) is Rel and operand.row in made:
                    distance = operand.distance
                    leaves.append(before[operand.row, distance] if distance else made[operand.row])
                    continue
                same = self.same_in_all(operand)
                if same is not None:
                    leaves.append(same[0])
                else:
                    if type(operand) is Num:
                        stack = self.numbers(operand, operands, instr)
                    else:
                        stack = self.stacked(operand)
                    leaves.append(self.roller.program.part_of(loop, stack))
            args, kw = with_leaves((instr.args, instr.kw), iter(leaves))
            body.append(replace(instr, args=args, kw=kw, out=made[row].index, copied=False))
        loop.body += without_operations(body)
        for row in members:
            value = segment.values[row]
            all_turns, last = (False, False) if value.is_tuple else self._needs(row)
            if all_turns:
                segment.stacks[row] = new(self.stack_value(value))
                loop.stacks[made[row].index] = segment.stacks[row].index
            elif last:
                segment.finals[row] = new(value)
                loop.finals[made[row].index] = segment.finals[row].index
        self.roller.body.append(loop)

    def _carried(
        self, loop: Loop, members: list[int], made: dict[int, Ref]
    ) -> dict[tuple[int, int], Ref]:
        """Declare the carries of a loop. Return the carried value by row and distance in turns."""
        longest: dict[int, tuple[Any, ...]] = {}
        for row in members:
            for operand in self.segment.operands[row]:
                if type(operand) is not Rel or operand.row not in made or not operand.distance:
                    continue
                if operand.distance > LATEST:
                    raise Late(operand.distance)
                value = self.segment.values[operand.row]
                for init in operand.inits:
                    if self.described(init)._replace(order="C") != value._replace(order="C"):
                        raise Decline("a first value has another shape or dtype")
                known = longest.setdefault(operand.row, operand.inits)
                short, long = sorted((known, operand.inits), key=len)
                if long[len(long) - len(short) :] != short:
                    raise Decline("two first values of one row")
                longest[operand.row] = long
        found: dict[tuple[int, int], Ref] = {}
        for row, firsts in longest.items():
            value, following = self.segment.values[row], made[row]
            for distance, first in enumerate(reversed(firsts), 1):
                found[row, distance] = before = self.roller.program.new(value)
                carry = Carry(before.index, self.roller.plain(first), following.index)
                loop.carries.append(carry)
                if distance < len(firsts):
                    following = self.roller.program.new(value)
                    loop.body.append(Instr(copy, "copy", (before,), (), following.index))
        return found
