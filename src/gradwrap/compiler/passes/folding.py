"""Folding: operations on constant arrays and numbers, and operations without effect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.ir.operations import BROADCAST_TO, COPY, ITEM, MULTIPLY, Kind
from gradwrap.compiler.ir.program import (
    NUMBER,
    UFUNC,
    Instr,
    Ref,
    filled_with,
    full,
    is_elementwise,
    zeros,
)

if TYPE_CHECKING:
    from gradwrap.compiler.ir.operations import Operation
    from gradwrap.compiler.ir.program import Value

POWERS: dict[float, Any] = {2: np.square, 0.5: np.sqrt, -1: np.reciprocal}
"""The powers that NumPy's `**` computes by another ufunc."""


class Folding:
    """Finds shorter instructions for the same value, and equal values known earlier."""

    def __init__(self, values: list[Value], *, keeps_ones: bool) -> None:
        self.values = values
        self.keeps_ones = keeps_ones
        """Whether products with 1 are kept."""
        self.made: dict[int, Instr] = {}
        """The instructions so far, by output."""
        self.numbers: dict[int, tuple[Any, Any]] = {}
        """For each array with all elements equal: the number, and its dtype."""
        self.broadcasts: dict[int, Instr] = {}
        """The instructions so far that broadcast, by output."""

    def enter(self, instr: Instr) -> None:
        """Record an instruction of the new program."""
        self.made[instr.out] = instr
        op = instr.op
        if op is BROADCAST_TO:
            self.broadcasts[instr.out] = instr
        elif op.kind is Kind.FILL:
            self.numbers[instr.out] = (filled_with(instr), instr.args[-1])

    def described(self, leaf: Any) -> Value:
        """Return the description of the value that a leaf names."""
        index: int = leaf.index
        return self.values[index]

    def shorter(self, instr: Instr, op: Operation) -> Instr:
        """Return a faster instruction for the same value; `op` is the operation of `instr`."""
        args = instr.args
        value = self.values[instr.out]
        if op.keeps_number:
            number = self.numbers.get(args[0].index) if type(args[0]) is Ref else None
            if number is not None and value.is_ndarray:
                self.numbers[instr.out] = number
                return self.filled(instr, *number) or instr
        if op.is_power and type(args[0]) is Ref and _is_number(args[1], args[1]):
            base = self.values[args[0].index]
            quicker = POWERS.get(args[1])
            if (
                quicker
                and base.is_ndarray
                and base.dtype.kind == "f"
                and _same_but_order(value, base)
            ):
                return instr.on(args[:1], fn=quicker)
        reads = instr.reads
        if self.numbers.keys().isdisjoint(reads) and self.broadcasts.keys().isdisjoint(reads):
            return instr
        if not isinstance(instr.fn, UFUNC) or instr.kw:
            return instr
        folded = self.folded(instr) if op.folds and value.is_ndarray else None
        if folded is not None:
            return folded
        if len(args) != 2 or not is_elementwise(instr):
            return instr
        narrowed = self.narrow(instr, self.weak(instr, args))
        return instr if narrowed is args else instr.on(narrowed)

    def filled(self, instr: Instr, number: Any, dtype: Any) -> Instr | None:
        """Return an instruction that makes the result as an array of one number, or None.

        The new array lies in C's order.
        """
        value = self.values[instr.out]
        if len(value.shape) < 2:
            self.values[instr.out] = value._replace(order="C")
        elif value.order != "C":
            return None
        if type(number) is int and number == 0:
            args: tuple[Any, ...] = (value.shape, dtype)
            return Instr(zeros, "zeros", args, (), instr.out, line=instr.line)
        args = (value.shape, number, dtype)
        return Instr(full, "full", args, (), instr.out, line=instr.line)

    def folded(self, instr: Instr) -> Instr | None:
        """Fold an operation on arrays of one number into one such array; None if not possible."""
        numbers: list[Any] = []
        value = self.values[instr.out]
        for arg in instr.args:
            if type(arg) is not Ref:
                numbers.append(arg)
                continue
            number, dtype = self.numbers.get(arg.index, (arg, None))
            if type(number) is Ref:
                return None
            numbers.append(np.full(1, number, dtype))
        with np.errstate(all="ignore"):
            result = instr.fn(*numbers)
        if result.dtype != value.dtype or not np.all(np.isfinite(result)):
            return None
        self.numbers[instr.out] = (result[0], value.dtype)
        return self.filled(instr, result[0], value.dtype)

    def narrow(self, instr: Instr, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Use an operand before it was broadcast: NumPy broadcasts it again."""
        value = self.values[instr.out]
        for mine, other in ((0, 1), (1, 0)):
            made = self.broadcasts.get(args[mine].index) if type(args[mine]) is Ref else None
            if made is None or type(args[other]) is not Ref:
                continue
            whole = self.described(args[other])
            if whole.shape == value.shape and whole.order == value.order == "C":
                args = made.args[:1] + args[1:] if mine == 0 else args[:1] + made.args[:1]
        return args

    def weak(self, instr: Instr, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Replace an operand filled with one number by a weak Python number."""
        value = self.values[instr.out]
        for mine, other in ((0, 1), (1, 0)):
            known = self.numbers.get(args[mine].index) if type(args[mine]) is Ref else None
            if known is None or type(known[0]) is Ref or type(args[other]) is not Ref:
                continue
            (number, dtype), whole = known, self.described(args[other])
            if not whole.is_ndarray or whole.shape != value.shape or whole.order != value.order:
                continue
            if whole.dtype.kind in "fc" and dtype == whole.dtype:
                found = _as_weak(number, whole.dtype)
                if found is not None:
                    return (found, args[1]) if mine == 0 else (args[0], found)
        return args

    def same_as(self, instr: Instr, op: Operation) -> Any:
        """Return the operand that an instruction returns unchanged, or None."""
        args = instr.args
        if self.keeps_ones and op.is_scaling:
            return None
        if not args or type(args[0]) is not Ref:
            if op is MULTIPLY and type(args[1]) is Ref and _is_number(args[0], 1):
                return self._alike(instr, args[1])
            return args[0] if op is COPY else None
        if op.is_scaling:
            return self._alike(instr, args[0]) if _is_number(args[1], 1) else None
        if op.is_identity:
            return self._alike(instr, args[0])
        if op.undoes and not instr.kw and len(args) == 1:
            before = self.made.get(args[0].index)
            if before is not None and before.op.undoes == op.undoes and len(before.args) == 1:
                return self._alike(instr, before.args[0]) if type(before.args[0]) is Ref else None
        if op is COPY:
            source = self.made.get(args[0].index)
            is_view = source is None or source.views or source.op is ITEM
            return self._alike(instr, args[0]) if not is_view else None
        return None

    def _alike(self, instr: Instr, source: Any) -> Any:
        """Return the source if its description equals that of the result."""
        return source if self.values[source.index] == self.values[instr.out] else None


def _same_but_order(one: Value, other: Value) -> bool:
    """Tell if two descriptions agree except for the memory order."""
    return one._replace(order=other.order) == other


def _is_number(leaf: Any, number: int) -> bool:
    return isinstance(leaf, (int, float, NUMBER)) and not isinstance(leaf, bool) and leaf == number


def _as_weak(number: Any, dtype: Any) -> Any:
    """Return the Python number equal to this one in the dtype, or None."""
    value = dtype.type(number).item()
    return value if isinstance(value, (int, float, complex)) else None
