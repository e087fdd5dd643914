"""Memory orders: how an array lies, and how the result of an operation lies."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from gradwrap.compiler.ir.program import (
    Cur,
    Instr,
    Loop,
    Prev,
    Ref,
    Turn,
    is_elementwise,
    mapped,
    refs,
)
from gradwrap.core.values.dynamic import SLICE, TUPLE, type_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwrap.compiler.ir.program import Program, Row, Value

IN_ORDER = frozenset({"C", "S"})
"""The orders whose axes are in C's order."""


def order_of(array: Any) -> str:
    """Return the memory order of an array, as `Value.order` has it."""
    flags = array.flags
    if flags.c_contiguous:
        return "C"
    if flags.f_contiguous:
        return "F"
    steps = [
        abs(stride) for stride, length in zip(array.strides, array.shape, strict=True) if length > 1
    ]
    return "S" if all(one >= other for one, other in pairwise(steps)) else "?"


def describe_orders(program: Program, first: int) -> None:
    """Describe anew the orders of values from a number on, and of what is computed of those.

    The tracer has seen how earlier values lie. Later ones were made by a pass, which knows their
    shapes alone.
    """
    values = program.values
    changed: set[int] = set()

    def described(leaf: Any) -> Value:
        index: int = leaf.index
        return values[index]

    for block in program.blocks():
        for step in block.body:
            if isinstance(step, Loop):
                step.rows = _ordered_rows(step, values)
                found = dict.fromkeys(step.stacks.values(), "C")
                found |= {out: step.rows[j].value.order for j, out in step.finals.items()}
            elif step.out >= first or not changed.isdisjoint(refs((step.args, step.kw))):
                found = {step.out: order_of_result(step, values[step.out], described)}
            else:
                continue
            for out, order in found.items():
                if values[out].is_ndarray and values[out].order != order:
                    values[out] = values[out]._replace(order=order)
                    changed.add(out)


def order_of_result(step: Instr | Row, value: Value, described: Callable[[Any], Value]) -> str:
    """Return the order of the result of a step; `described` describes its operands."""
    if not value.is_ndarray or step.name == "item":
        return value.order
    views = step.views or step.name == "broadcast_to"
    if len(value.shape) < 2 and not views:
        return "C"
    operands: list[Value] = []
    mapped((step.args, step.kw), lambda leaf: _enter(leaf, operands, described))
    arrays = [one for one in operands if one.is_ndarray and len(one.shape) > 1]
    if is_elementwise(step):
        return _joint(arrays, value.shape)
    if views:
        return _order_of_view(step, value, operands)
    if step.name == "matmul" and len(value.shape) <= 3:
        return "C"
    if step.name == "getitem":
        return "C" if operands[0].order == "C" and _begins_with_array(step.args[1]) else "?"
    return "C" if all(one.order in IN_ORDER for one in arrays) else "?"


def _enter(leaf: Any, operands: list[Value], described: Callable[[Any], Value]) -> Any:
    if type_of(leaf) in OPERANDS:
        operands.append(described(leaf))
    return leaf


OPERANDS = frozenset({Ref, Cur, Prev, Turn})


def _joint(arrays: list[Value], shape: tuple[int, ...]) -> str:
    """The order of a new array that is computed element by element.

    NumPy keeps the order of the operands; where they differ, C's wins.
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


def _order_of_view(step: Instr | Row, value: Value, operands: list[Value]) -> str:
    """The order of a view, or of a copy that NumPy makes where there can be no view."""
    source = operands[0] if operands else value
    if source.order == "C" and len(operands) == 1 and type_of(step.args[0]) in OPERANDS:
        steps = [source.dtype.itemsize]
        for length in source.shape[:0:-1]:
            steps.insert(0, steps[0] * length)
        rank = len(source.shape)
        sample = as_strided(np.empty(1, source.dtype), source.shape, steps[len(steps) - rank :])
        fn: Any = step.fn
        return order_of(fn(sample, *step.args[1:], **dict(step.kw)))
    keeps = step.name in ("getitem", "reshape", ".reshape", "expand_dims")
    return "S" if keeps and source.order in IN_ORDER else "?"


# Loops --------------------------------------------------------------------------------------------


def _ordered_rows(loop: Loop, values: list[Value]) -> tuple[Row, ...]:
    """Describe the orders of the rows of a loop, which depend on the turn before."""
    rows = list(loop.rows)

    def described(leaf: Any) -> Value:
        kind = type_of(leaf)
        if kind is Cur:
            number: int = leaf.row
            return rows[number].value
        if kind is Prev:
            number = leaf.row
            value, init = rows[number].value, leaf.init
            same = type(init) is not Ref or values[init.index].order == value.order
            return value if same else value._replace(order="?")
        index: int = leaf.stack.index if kind is Turn else leaf.index
        value = values[index]
        if kind is not Turn:
            return value
        order = value.order if value.order in IN_ORDER else "?"
        shape = value.shape[1:]
        return value._replace(shape=shape, is_ndarray=bool(shape), order=order)

    for _ in range(len(rows)):
        before = list(rows)
        for number, row in enumerate(rows):
            order = order_of_result(row, row.value, described)
            rows[number] = row._replace(value=row.value._replace(order=order))
        if rows == before:
            break
    return tuple(rows)
