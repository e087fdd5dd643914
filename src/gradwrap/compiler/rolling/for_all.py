"""Vectorised rows: each row that needs no earlier turn becomes one operation over all turns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.ir.operations import ARRAY, COPY, Kind
from gradwrap.compiler.ir.program import Instr, Ref, Value, getitem, is_elementwise
from gradwrap.compiler.rolling.segments import Decline, Idx, Inv, Num, advance, affine, with_leaves
from gradwrap.core.values.dynamic import LIST, SLICE, TUPLE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.compiler.rolling.stacks import Stacking


def for_all(self: Stacking, instr: Instr, operands: list[Any], value: Value) -> Ref:
    """Perform a row for all turns at once, and return the stack of its results.

    Raises
    ------
    Decline
        The row can only be performed turn by turn.
    """
    made = self.stack_value(value)
    if is_elementwise(instr):
        rank = len(value.shape)
        aligned = [self.aligned(op, rank, operands, instr) for op in operands]
        args, kw = with_leaves((instr.args, instr.kw), iter(aligned))
        return self.emit(instr.fn, args, made, kw, line=instr.line, name=instr.name)
    if instr.op.kind is Kind.READ:
        return _getitem(self, instr, operands, value)
    special = SPECIAL.get(instr.op.kind)
    if special is None:
        raise Decline(f"{instr.name} cannot be performed for all turns at once")
    return special(self, instr, operands, made)


def _getitem(self: Stacking, instr: Instr, operands: list[Any], value: Value) -> Ref:
    made = self.stack_value(value)
    source, *parts = operands
    same = self.same_in_all(source)
    key = instr.args[1]
    nested = isinstance(key, TUPLE)
    if not (nested or len(parts) == 1):
        raise Decline("an index is a nest of lists")
    if all(type(part) is Inv for part in parts):
        stack = self.stacked(source)
        rest = tuple(self.roller.plain(part.leaf) for part in parts)
        self.check_basic(rest)
        made = made._replace(order="?")
        return self.emit(getitem, (stack, (slice(None), *rest)), made, views=True, line=instr.line)
    places = [self.places(part) for part in parts]
    varying = [number for number, part in enumerate(places) if isinstance(part, Idx)]
    before = places[: varying[0]]
    if same is None:
        if varying != [0]:
            raise Decline("an index varies along with the array")
        turns = self.constant(np.arange(self.turns))
        index = self.constant(np.array(places[0].places))
        rest = tuple(places[1:])
        self.check_basic(rest)
        arguments = (self.stacked(source), (turns, index, *rest))
        return self.emit(getitem, arguments, made, line=instr.line)
    if any(part is Ellipsis for part in before):
        raise Decline("an index varies behind an ellipsis")
    behind = sum(part is None or isinstance(part, SLICE) for part in before)
    stride = affine(places[varying[0]].places)
    if len(varying) == 1 and stride:
        number = varying[0]
        places[number] = advance(*stride, self.turns)
        self.check_basic(tuple(places))
        made = made if stride[1] == 1 and number == 0 else made._replace(order="?")
        arguments = (same[0], tuple(places) if len(places) > 1 else places[0])
        if not behind:
            return self.emit(getitem, arguments, made, views=True, line=instr.line)
        shape = (*value.shape[:behind], self.turns, *value.shape[behind:])
        there = self.emit(getitem, arguments, made._replace(shape=shape), views=True)
        return self.emit(np.moveaxis, (there, behind, 0), made, views=True)
    if behind:
        if len(varying) > 1 or any(type(part) is int for part in places):
            raise Decline("an index varies behind a slice")
        places[varying[0]] = self.constant(np.array(places[varying[0]].places))
        shape = (*value.shape[:behind], self.turns, *value.shape[behind:])
        there = self.emit(getitem, (same[0], tuple(places)), made._replace(shape=shape, order="?"))
        return self.emit(np.moveaxis, (there, behind, 0), made._replace(order="?"), views=True)
    self.check_basic(tuple(part for part in places if not isinstance(part, Idx)))
    if any(type(part) is int for part in places):
        places = [Idx((part,) * self.turns) if type(part) is int else part for part in places]
    if any(not isinstance(part, Idx) for part in places[: len(varying)]):
        raise Decline("indices vary apart from each other")
    arrays: Any = tuple(
        self.constant(np.array(part.places)) if isinstance(part, Idx) else part for part in places
    )
    found = (same[0], arrays if len(arrays) > 1 else arrays[0])
    return self.emit(getitem, found, made, line=instr.line)


# Operations that are not elementwise --------------------------------------------------------------


def _matmul(self: Stacking, instr: Instr, operands: list[Any], made: Value) -> Ref:
    first, second = operands
    ranks = [len(self.row_value(op).shape) for op in operands]
    invariant = [self.same_in_all(op) for op in operands]
    if any(rank not in (1, 2) for rank in ranks):
        raise Decline("a product of stacks of matrices")
    a = invariant[0][0] if invariant[0] is not None else self.stacked(first)
    b = invariant[1][0] if invariant[1] is not None else self.stacked(second)
    if ranks == [1, 2] and invariant[1] is not None:
        return self.emit(np.matmul, (a, b), made, line=instr.line)
    if ranks == [2, 1] and invariant[0] is not None:
        turned = self.values[a.index]
        turned = turned._replace(shape=turned.shape[::-1], order="?")
        swapped = self.emit(np.transpose, (a,), turned, views=True)
        return self.emit(np.matmul, (b, swapped), made, line=instr.line)
    if ranks[0] == 1:
        a = _with_axis(self, a, at_end=False)
    if ranks[1] == 1:
        b = _with_axis(self, b, at_end=True)
    shape = (
        self.turns,
        self.values[a.index].shape[-2],
        self.values[b.index].shape[-1],
    )
    product = self.emit(np.matmul, (a, b), made._replace(shape=shape), line=instr.line)
    if ranks == [2, 2]:
        return product
    return self.emit(np.reshape, (product, made.shape), made, views=True)


def _with_axis(self: Stacking, x: Ref, *, at_end: bool) -> Ref:
    value = self.values[x.index]
    lead = value.shape[:-1]
    shape = (*lead, value.shape[-1], 1) if at_end else (*lead, 1, value.shape[-1])
    return self.emit(np.reshape, (x, shape), value._replace(shape=shape), views=True)


def _reduce(self: Stacking, instr: Instr, operands: list[Any], made: Value) -> Ref:
    rank = len(self.row_value(operands[0]).shape)
    keywords = dict(instr.kw)
    if len(instr.args) > 1:
        raise Decline(f"{instr.name} with an axis by position")
    axis = keywords.get("axis", 0)
    axes = range(rank) if axis is None else axis if isinstance(axis, TUPLE) else (axis,)
    keywords["axis"] = tuple(a % rank + 1 for a in axes)
    stack = self.stacked(operands[0])
    return self.emit(
        instr.fn, (stack,), made, tuple(sorted(keywords.items())), line=instr.line, name=instr.name
    )


def _reshape(self: Stacking, instr: Instr, operands: list[Any], made: Value) -> Ref:
    options = [op.leaf if type(op) is Inv else None for op in operands[1:]]
    if not all(isinstance(one, (int, TUPLE)) for one in options):
        raise Decline(f"{instr.name} with options")
    arguments = (self.stacked(operands[0]), made.shape)
    return self.emit(np.reshape, arguments, made, views=True, line=instr.line)


def _broadcast(self: Stacking, instr: Instr, operands: list[Any], made: Value) -> Ref:
    stack = self.padded(self.stacked(operands[0]), len(made.shape) - 1)
    return self.emit(np.broadcast_to, (stack, made.shape), made._replace(order="?"), views=True)


def _transpose(self: Stacking, instr: Instr, operands: list[Any], made: Value) -> Ref:
    rank = len(made.shape) - 1
    given_axes = [op.leaf for op in operands[1:] if type(op) is Inv]
    if len(given_axes) < len(operands) - 1 or instr.kw:
        raise Decline("a transposition by axes that vary")
    axes: Sequence[Any] = given_axes
    if not axes or axes == [None]:
        axes = [*range(rank - 2), rank - 1, rank - 2] if instr.op.last_two else range(rank)[::-1]
    arguments = (self.stacked(operands[0]), (0, *(axis % rank + 1 for axis in axes)))
    made = made._replace(order="?")
    return self.emit(np.transpose, arguments, made, views=True, line=instr.line)


def _join(self: Stacking, instr: Instr, operands: list[Any], made: Value) -> Ref:
    """Join arrays along an axis."""
    parts = instr.args[0]
    if not isinstance(parts, (LIST, TUPLE)) or instr.op is ARRAY:
        if not isinstance(parts, LIST) or any(isinstance(part, LIST) for part in parts):
            raise Decline(f"{instr.name} of a nest")
    axis = dict(instr.kw).get("axis", instr.args[1] if len(instr.args) > 1 else 0)
    if instr.op is ARRAY:
        axis = 0
    if type(axis) is not int or {*dict(instr.kw)} - {"axis"}:
        raise Decline(f"{instr.name} with options")
    rank = len(made.shape) - 1
    stacks: list[Any] = []
    for operand in operands[: len(parts)]:
        if type(operand) is Num or (type(operand) is Inv and type(operand.leaf) is not Ref):
            raise Decline(f"{instr.name} of numbers")
        if self.row_value(operand).dtype != made.dtype:
            raise Decline(f"{instr.name} of several dtypes")
        stacks.append(self.stacked(operand))
    if len(stacks) == 1 and not instr.op.joins_along:
        axis %= rank
        value = self.described(stacks[0])
        shape = (*value.shape[: axis + 1], 1, *value.shape[axis + 1 :])
        return self.emit(np.reshape, (stacks[0], shape), value._replace(shape=shape), views=True)
    join: Any = np.concatenate if instr.op.joins_along else np.stack
    return self.emit(join, (stacks,), made, (("axis", axis % rank + 1),), line=instr.line)


def _moved(self: Stacking, instr: Instr, operands: list[Any], made: Value) -> Ref:
    """Exchange two axes given by number."""
    rank = len(made.shape) - 1
    axes = [op.leaf for op in operands[1:] if type(op) is Inv and type(op.leaf) is int]
    if len(axes) != 2 or instr.kw:
        raise Decline(f"{instr.name} with options")
    arguments = (self.stacked(operands[0]), *(axis % rank + 1 for axis in axes))
    made = made._replace(order="?")
    return self.emit(instr.fn, arguments, made, views=True, line=instr.line, name=instr.name)


def _accumulate(self: Stacking, instr: Instr, operands: list[Any], made: Value) -> Ref:
    rank = len(made.shape) - 1
    axis = dict(instr.kw).get("axis", 0)
    if len(instr.args) > 1 or type(axis) is not int or {*dict(instr.kw)} - {"axis"}:
        raise Decline(f"{instr.name} with options")
    keywords = (("axis", axis % rank + 1),)
    stack = self.stacked(operands[0])
    return self.emit(instr.fn, (stack,), made, keywords, line=instr.line, name=instr.name)


def _same(self: Stacking, instr: Instr, operands: list[Any], made: Value) -> Ref:
    if any(type(op) is not Inv for op in operands[1:]) or (instr.op is COPY and instr.args[1:]):
        raise Decline(f"{instr.name} with options")
    rest: list[Any] = [op.leaf for op in operands[1:]]
    args, kw = with_leaves((instr.args, instr.kw), iter([self.stacked(operands[0]), *rest]))
    return self.emit(instr.fn, args, made, kw, views=instr.views, line=instr.line, name=instr.name)


def _write(self: Stacking, instr: Instr, operands: list[Any], made: Value) -> Ref:
    """Write to a new array in each turn, at the same key."""
    source, *parts, written = operands
    if any(type(part) is not Inv for part in parts):
        raise Decline("a key of a write varies")
    rest = tuple(self.roller.plain(part.leaf) for part in parts)
    region = self.region(made._replace(shape=made.shape[1:]), instr)
    amount: Any
    if type(written) is Num:
        raise Decline("numbers that vary are written")
    if type(written) is Inv and type(written.leaf) is not Ref:
        amount = written.leaf
    else:
        same = self.same_in_all(written)
        amount = same[0] if same is not None else self.padded(self.stacked(written), len(region))
    key = (slice(None), *rest)
    return self.emit(
        instr.fn, (self.stacked(source), key, amount), made, line=instr.line, name=instr.name
    )


SPECIAL: dict[Kind, Callable[[Stacking, Instr, list[Any], Value], Ref]] = {
    Kind.PRODUCT: _matmul,
    Kind.REDUCE: _reduce,
    Kind.RESHAPE: _reshape,
    Kind.JOIN: _join,
    Kind.MOVE: _moved,
    Kind.ACCUMULATE: _accumulate,
    Kind.BROADCAST: _broadcast,
    Kind.TRANSPOSE: _transpose,
    Kind.COPY: _same,
    Kind.CAST: _same,
    Kind.PART: _same,
    Kind.WRITE: _write,
}
"""The vectorised forms of operations that are not elementwise."""
