"""Stacks: the values of a segment's operands in all turns, along a first axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.ir.operations import GETITEM
from gradwrap.compiler.ir.program import NUMBER, Instr, Ref, Value, array, getitem, refs
from gradwrap.compiler.rolling.nested import Nested, is_numeric
from gradwrap.compiler.rolling.segments import Decline, Gat, Idx, Inv, Num, Rel, advance
from gradwrap.core.values.dynamic import SLICE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.compiler.rolling.segments import Rewriting, Segment

PIECES = 4
"""The most pieces from which values from outside are joined."""


class Stacking:
    """Emits instructions that stack the values of one segment."""

    def __init__(self, roller: Rewriting, segment: Segment) -> None:
        self.roller = roller
        self.segment = segment
        self.turns: int = segment.turns
        self.values: list[Value] = roller.values
        self.emit: Callable[..., Ref] = roller.emit
        self.constant: Callable[[Any], Ref] = roller.constant
        self.described: Callable[[Any], Value] = roller.described

    def stack_value(self, value: Value, order: str = "C") -> Value:
        """Return the description of a stack of values."""
        return Value((self.turns, *value.shape), value.dtype, is_ndarray=True, order=order)

    def row_value(self, operand: Any) -> Value:
        """Return the description of an operand in one turn."""
        if type(operand) is Rel:
            return self.segment.values[operand.row]
        leaf = operand.leaf if type(operand) is Inv else operand.leaves[0]
        return self.described(leaf)

    def same_in_all(self, operand: Any) -> Any:
        """Return, in a tuple, the leaf of an operand that is equal in all turns, else None."""
        if type(operand) is Inv:
            return (self.roller.plain(operand.leaf),)
        made = self.segment.hoisted.get(operand.row) if type(operand) is Rel else None
        if made is None or not all(self.roller.is_same(init, made) for init in operand.inits):
            return None
        return (made,)

    def stacked(self, operand: Any) -> Ref:
        """Return the stack of an operand's values in all turns."""
        if type(operand) is Rel:
            return self._stacked_rel(operand)
        if type(operand) is Gat:
            return self._gathered(operand.leaves)
        if type(operand) is Inv:
            return self._repeated(self.roller.plain(operand.leaf))
        raise Decline("numbers that vary stand where arrays are needed")

    def _repeated(self, leaf: Any) -> Ref:
        if type(leaf) is not Ref:
            raise Decline("a number stands where arrays are needed")
        value = self.stack_value(self.values[leaf.index], "?")
        return self.emit(np.broadcast_to, (leaf, value.shape), value, views=True)

    def stack_of(self, row: int) -> Ref:
        """Return the stack of a row's results in all turns."""
        if row in self.segment.hoisted:
            return self._repeated(self.segment.hoisted[row])
        if row not in self.segment.stacks:
            raise Decline("values of other turns are read before they are stacked")
        return self.segment.stacks[row]

    def _stacked_rel(self, operand: Rel) -> Ref:
        if operand.distance == 0:
            return self.stack_of(operand.row)
        value = self.segment.values[operand.row]
        for init in operand.inits:
            if self.described(init)._replace(order="C") != value._replace(order="C"):
                raise Decline("a first value has another shape or dtype")
        first = self.joined([self.roller.plain(init) for init in operand.inits], value)
        part = self._slice(self.stack_of(operand.row), 0, 1, self.turns - operand.distance, value)
        return self.concatenated([first, part], value, self.turns)

    def joined(self, leaves: list[Any], value: Value) -> Ref:
        """Stack single values along a new first axis."""
        made = Value((len(leaves), *value.shape), value.dtype, is_ndarray=True)
        if value.shape:
            return self.emit(np.stack, (leaves,), made)
        return self.emit(array, (leaves, value.dtype), made)

    def _slice(self, stack: Ref, first: int, step: int, count: int, value: Value) -> Ref:
        """Return turns `first`, `first + step`, … of a stack."""
        if (first, step, count) == (0, 1, self.values[stack.index].shape[0]):
            return stack
        made = Value((count, *value.shape), value.dtype, is_ndarray=True)
        made = made if step == 1 else made._replace(order="?")
        return self.emit(getitem, (stack, advance(first, step, count)), made, views=True)

    def concatenated(self, parts: list[Ref], value: Value, count: int) -> Ref:
        """Concatenate stacks along the axis of turns."""
        if len(parts) == 1:
            return parts[0]
        made = Value((count, *value.shape), value.dtype, is_ndarray=True)
        return self.emit(np.concatenate, (parts,), made)

    def _gathered(self, leaves: tuple[Any, ...]) -> Ref:
        """Return the stack of values from outside, joined from slices of known stacks."""
        value = self.described(leaves[0])
        if value.is_tuple or (value.is_ndarray and not value.shape):
            raise Decline("a value from outside is no plain array or number")
        pieces: list[tuple[Segment | None, int, list[Any]]] = []
        for leaf in leaves:
            place = self.roller.place.get(leaf.index)
            segment, row, turn = place or (None, 0, 0)
            if segment is not None and row not in segment.stacks:
                segment = None
            last = pieces[-1] if pieces else None
            item: Any = leaf if segment is None else turn
            joins = last is not None and last[0] is segment and last[1] == row
            if joins and segment is not None and last is not None and len(last[2]) > 1:
                joins = turn - last[2][-1] == last[2][1] - last[2][0]
            if joins and last is not None:
                last[2].append(item)
            else:
                pieces.append((segment, row if segment is not None else 0, [item]))
        if len(pieces) > PIECES:
            raise Decline("values come from many places")
        parts: list[Ref] = []
        for segment, row, items in pieces:
            if segment is None:
                parts.append(self.joined([self.roller.plain(leaf) for leaf in items], value))
                continue
            step = items[1] - items[0] if len(items) > 1 else 1
            if step == 0:
                raise Decline("one value is read in several turns")
            parts.append(self._slice(segment.stacks[row], items[0], step, len(items), value))
        return self.concatenated(parts, value, len(leaves))

    def numbers(self, operand: Num, others: Sequence[Any], line: Instr) -> Ref:
        """Return varying numbers as an array, of the dtype they have in the operation."""
        mine = next((n for n, other in enumerate(others) if other is operand), 0)
        if isinstance(line.fn, Nested):
            return self.constant(np.array(operand.numbers, line.fn.dtypes[mine]))
        if line.op.has_key and 0 < mine < len(others) - (line.op is not GETITEM):
            return self.constant(np.array(self.places(operand).places))
        dtypes: list[Any] = []
        for other in others:
            if type(other) in (Rel, Gat) or (type(other) is Inv and type(other.leaf) is Ref):
                dtypes.append(self.row_value(other).dtype)
            elif other is not operand and type(other) is Inv and is_numeric(other.leaf):
                dtypes.append(other.leaf)
        if line.op.is_power and type(operand.numbers[0]) is int:
            raise Decline("powers with exponents that vary")
        number = operand.numbers[0]
        kind = number.dtype if isinstance(number, NUMBER) else np.result_type(*dtypes, number)
        return self.constant(np.array(operand.numbers, kind))

    def aligned(self, operand: Any, rank: int, others: Sequence[Any], instr: Instr) -> Any:
        """Return an operand of an elementwise row for all turns, with `rank` axes if stacked."""
        same = self.same_in_all(operand)
        if same is not None:
            return same[0]
        if type(operand) is Num:
            return self.padded(self.numbers(operand, others, instr), rank)
        return self.padded(self.stacked(operand), rank)

    def padded(self, stack: Ref, rank: int) -> Ref:
        """Return a stack with its rows padded to `rank` axes, or without extra axes of length 1."""
        value = self.values[stack.index]
        turns, *row = value.shape
        missing = rank - len(row)
        if missing == 0:
            return stack
        shape = (turns, *(1,) * missing, *row[max(-missing, 0) :])
        made = value._replace(shape=shape)
        return self.emit(np.reshape, (stack, shape), made, views=True)

    def places(self, operand: Any) -> Any:
        """Return a part of a key: an `Idx` if it varies, else the part itself."""
        if type(operand) is Num:
            if type(operand.numbers[0]) is not int:
                raise Decline("an index is no integer")
            return Idx(operand.numbers)
        if type(operand) is not Inv:
            raise Decline("an index is computed in the loop")
        return self.roller.plain(operand.leaf)

    def check_basic(self, parts: tuple[Any, ...]) -> None:
        """Check that a key has no arrays or lists."""
        for part in parts:
            if type(part) is Ref and (
                len(parts) > 1 or self.values[part.index].dtype.kind not in "iu"
            ):
                raise Decline("an index is an array")
            if not (part is None or part is Ellipsis or isinstance(part, (SLICE, int, Ref))):
                raise Decline("an index is a list")

    def region(self, value: Value, instr: Instr) -> tuple[int, ...]:
        """Return the shape of the region that the key of one turn selects."""
        key: Any = instr.args[1]
        if refs(key):
            raise Decline("a key of a write is an array")
        sample = np.broadcast_to(np.zeros((), bool), value.shape)
        return tuple(np.shape(sample[key]))
