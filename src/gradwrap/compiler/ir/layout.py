"""Memory orders: the layout of arrays, and of the results of operations."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from gradwrap.compiler.ir.operations import BROADCAST_TO, GETITEM, ITEM, MATMUL, Kind
from gradwrap.compiler.ir.program import Instr, Loop, Ref, is_elementwise, refs, used
from gradwrap.core.values.dynamic import SLICE, TUPLE

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from gradwrap.compiler.ir.program import Program, Value

IN_ORDER = frozenset({"C", "S"})
"""The orders whose axes are in C's order."""


def order_of(array: Any) -> str:
    """Return the memory order of an array, as in `Value.order`."""
    flags = array.flags
    if flags.c_contiguous:
        return "C"
    if flags.f_contiguous:
        return "F"
    steps = [
        abs(stride) for stride, length in zip(array.strides, array.shape, strict=True) if length > 1
    ]
    return "S" if all(one >= other for one, other in pairwise(steps)) else "?"


def describe_orders(program: Program, first: int, others: Collection[int] = ()) -> None:
    """Determine the orders of new values, and of the values computed from them.

    The tracer has recorded the orders of earlier values. New ones come from a pass, which only
    knows their shapes. `first` is the number of the first new value; `others` are earlier values
    that are computed otherwise now.
    """
    orders = _Orders(program.values, first, others)
    for block in program.blocks():
        orders.describe(block.body)


class _Orders:
    """Determines the orders of values; `changed` are those whose order has changed."""

    def __init__(self, values: list[Value], first: int, others: Collection[int]) -> None:
        self.values = values
        self.first = first
        self.others = others
        self.changed: set[int] = set()

    def describe(self, body: Sequence[Instr | Loop]) -> None:
        """Determine the orders of the results of a body."""
        for step in body:
            if isinstance(step, Loop):
                self.loop(step)
            elif (
                step.out >= self.first
                or step.out in self.others
                or not self.changed.isdisjoint(used(step))
            ):
                self.enter(step.out, order_of_result(step, self.values))

    def enter(self, index: int, order: str) -> None:
        """Set the order of a value."""
        value = self.values[index]
        if value.is_ndarray and value.order != order:
            self.values[index] = value._replace(order=order)
            self.changed.add(index)

    def loop(self, loop: Loop) -> None:
        """Determine the orders in a loop, repeating until all carries agree."""
        values = self.values
        for index, stack in loop.reads.items():
            number: int = stack.index
            whole = values[number].order
            self.enter(index, whole if whole in IN_ORDER else "?")
        for carry in loop.carries:
            if type(carry.first) is Ref:
                self.enter(carry.value, values[carry.first.index].order)
        while True:
            self.describe(loop.body)
            wrong = [
                carry
                for carry in loop.carries
                if values[carry.next].order != values[carry.value].order
                and values[carry.value].order != "?"
            ]
            if not wrong:
                break
            for carry in wrong:
                self.enter(carry.value, "?")
        for out in loop.stacks.values():
            self.enter(out, "C")
        for index, out in loop.finals.items():
            self.enter(out, values[index].order)


def order_of_result(step: Instr, values: Sequence[Value]) -> str:
    """Return the order of the result of an instruction."""
    value = values[step.out]
    if not value.is_ndarray or step.op is ITEM:
        return value.order
    views = step.views or step.op is BROADCAST_TO
    if len(value.shape) < 2 and not views:
        return "C"
    operands = [values[index] for index in refs((step.args, step.kw))]
    if views:
        return _order_of_view(step, operands)
    if step.op.kind is Kind.WRITE:  # a copy of the array, whatever is written
        operands = operands[-1:]
    arrays = [one for one in operands if one.is_ndarray and len(one.shape) > 1]
    if is_elementwise(step):
        return _joint(arrays, value.shape)
    if step.op is MATMUL and len(value.shape) <= 3:
        return "C"
    if step.op is GETITEM:
        number: int = step.args[0].index
        source = values[number]
        return "C" if source.order == "C" and _begins_with_array(step.args[1]) else "?"
    return "C" if all(one.order in IN_ORDER for one in arrays) else "?"


def _joint(arrays: list[Value], shape: tuple[int, ...]) -> str:
    """Return the order of a new array that is computed elementwise.

    NumPy keeps the order of the operands; if they differ, C's order wins.
    """
    if all(one.order in IN_ORDER for one in arrays):
        return "C"
    if any(one.order == "C" and one.shape == shape for one in arrays):
        return "C"
    return "F" if all(one.order == "F" and one.shape == shape for one in arrays) else "?"


def _begins_with_array(key: Any) -> bool:
    """Tell if the arrays of a key come first, so that the axes of the result are in order."""
    first = key[0] if isinstance(key, TUPLE) and key else key
    return not isinstance(first, SLICE) and first is not None and first is not Ellipsis


@lru_cache(maxsize=32)
def _sample(shape: tuple[int, ...], dtype: Any) -> Any:
    """Return an array in C's order that takes the memory of one element."""
    steps = [dtype.itemsize]
    for length in shape[:0:-1]:
        steps.insert(0, steps[0] * length)
    return as_strided(np.empty(1, dtype), shape, steps[len(steps) - len(shape) :])


def _order_of_view(step: Instr, operands: Sequence[Value]) -> str:
    """Return the order of a view, or of the copy that NumPy makes if no view is possible."""
    if not operands:
        return "?"
    source, is_known = operands[-1], len(operands) == 1 and type(step.args[0]) is Ref
    if is_known and source.order == "C":
        sample = _sample(source.shape, source.dtype)
        return order_of(step.fn(sample, *step.args[1:], **dict(step.kw)))
    keeps = step.op.keeps_order
    return "S" if keeps and source.order in IN_ORDER else "?"
