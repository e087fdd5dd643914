"""The steps that a C kernel can perform."""

from __future__ import annotations

import math
from typing import Any

from gradwrap.compiler.engines.c.addresses import (
    fits,
    is_plain_key,
    joined,
    reduced_axes,
    summed_axes,
)
from gradwrap.compiler.engines.c.operations import (
    BOOL,
    DOUBLE,
    FLOAT,
    LONG,
    TYPES,
    elementwise,
)
from gradwrap.compiler.ir.operations import (
    ADD_ACCUMULATE,
    ADD_REDUCE,
    EINSUM,
    GETITEM,
    MATMUL,
    Kind,
)
from gradwrap.compiler.ir.program import Instr, Loop, Ref, Value, filled_with, refs

SMALL_PRODUCT = 1 << 19
"""The most multiplications of a matrix product in a loop, above which NumPy performs it."""
SMALLER_PRODUCT = 1 << 14
"""The same outside of loops, in a short program, where calls of NumPy cost little."""
LONG_PROGRAM = 1000
"""The number of steps from which a program counts as long."""
REDUCING = {"axis", "keepdims", "dtype"}
TRANSPOSED = (Kind.TRANSPOSE, Kind.MOVE)
VIEWING = (Kind.RESHAPE, Kind.BROADCAST, Kind.SELECT, *TRANSPOSED)


class Ability:
    """Tells which steps a kernel can perform."""

    def __init__(self, vector_functions: frozenset[str], length: int = 0) -> None:
        self.vector_functions: frozenset[str] = vector_functions
        self.is_long: bool = length > LONG_PROGRAM
        """Whether the program is long, with many values alive across each product."""

    def takes(self, step: Instr | Loop, values: Any, *, in_loop: bool = False) -> bool:
        """Tell if a kernel can perform a step."""
        if isinstance(step, Loop):
            return all(self.takes(one, values, in_loop=True) for one in step.body)
        return self._takes(step, values, values[step.out], in_loop=in_loop)

    def _takes(self, instr: Instr, values: Any, value: Value, *, in_loop: bool) -> bool:
        if value.is_tuple or value.is_number or value.dtype not in TYPES:
            return False
        for index in refs((instr.args, instr.kw)):
            argument = values[index]
            if argument.is_tuple or argument.is_number:
                return False
            if argument.dtype not in TYPES:
                return False
        found = elementwise(instr, values, value)
        if found is not None:
            return (
                in_loop
                or not value.shape
                or not found.function
                or found.function in self.vector_functions
            )
        op, kind = instr.op, instr.op.kind
        if op.start:
            return self._takes_reduction(instr, values, value)
        if op is MATMUL:
            return self._takes_product(instr, values, value, in_loop=in_loop)
        if op.has_key:
            source = values[instr.args[0].index] if type(instr.args[0]) is Ref else None
            key = instr.args[1]
            if source is None or any(values[i].dtype != LONG or values[i].shape for i in refs(key)):
                return False
            if not is_plain_key(key) or not source.shape:
                return False
            return op is not GETITEM or fits(source.shape, key, value.shape)
        if kind in VIEWING or kind is Kind.COPY:
            words = [arg for arg in instr.args[1:] if isinstance(arg, str) and arg != "C"]
            is_plain = {*dict(instr.kw)} <= {"axis", "copy"} and not words
            if kind is Kind.SELECT:
                is_plain = not refs((instr.args[1:], instr.kw))
            return type(instr.args[0]) is Ref and bool(value.shape) and is_plain
        if kind is Kind.JOIN:
            return joined(instr, values, value) is not None
        if op is EINSUM:
            return summed_axes(instr) is not None and value.dtype in (DOUBLE, FLOAT)
        if op is ADD_ACCUMULATE:
            return self._takes_running_sum(instr, values, value)
        if kind is Kind.TRIANGLE:
            rest = (*instr.args[1:], *dict(instr.kw).values())
            return type(instr.args[0]) is Ref and all(type(one) is int for one in rest)
        number = filled_with(instr)
        return bool(value.shape) and number is not None and not isinstance(number, complex)

    def _takes_reduction(self, instr: Instr, values: Any, value: Value) -> bool:
        if type(instr.args[0]) is not Ref or {*dict(instr.kw)} - REDUCING:
            return False
        if dict(instr.kw).get("dtype", value.dtype) != value.dtype:
            return False
        source = values[instr.args[0].index]
        counts = instr.op is ADD_REDUCE and value.dtype == LONG and source.dtype in (BOOL, LONG)
        is_real = source.dtype == value.dtype and value.dtype in (DOUBLE, FLOAT)
        if not source.shape or not (counts or is_real):
            return False
        axes = reduced_axes(instr, len(source.shape))
        return axes is not None

    def _takes_running_sum(self, instr: Instr, values: Any, value: Value) -> bool:
        if type(instr.args[0]) is not Ref or {*dict(instr.kw)} - {"axis"}:
            return False
        axis: Any = (*instr.args[1:], dict(instr.kw).get("axis", 0))[0]
        source = values[instr.args[0].index]
        is_first: bool = axis == 0 or (axis == -1 and len(source.shape) == 1)
        return is_first and source.dtype == value.dtype and value.dtype in (DOUBLE, FLOAT, LONG)

    def _takes_product(self, instr: Instr, values: Any, value: Value, *, in_loop: bool) -> bool:
        if instr.kw or value.dtype not in (DOUBLE, FLOAT):
            return False
        sides = [values[arg.index] for arg in instr.args if type(arg) is Ref]
        if len(sides) != 2 or any(side.dtype != value.dtype for side in sides):
            return False
        if not sides[0].shape or len(sides[1].shape) not in (1, 2):
            return False
        size: int = math.prod(sides[0].shape) * (
            sides[1].shape[1] if len(sides[1].shape) == 2 else 1
        )
        return size <= (SMALL_PRODUCT if in_loop or self.is_long else SMALLER_PRODUCT)
