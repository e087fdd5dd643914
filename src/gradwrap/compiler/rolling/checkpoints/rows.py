"""The rows of stacks: which turns of a loop they belong to, and instructions on some of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from gradwrap.compiler.ir.operations import CONCATENATE, COPY, GETITEM, RESHAPE
from gradwrap.compiler.ir.program import Instr, Value, changed, is_elementwise, refs, used
from gradwrap.core.values.dynamic import LIST, SLICE, TUPLE

if TYPE_CHECKING:
    from collections.abc import Sequence


class Rows(NamedTuple):
    """The rows of a stack: row `k` belongs to turn `first + k * step` of the forward loop."""

    first: int
    step: int
    number: int

    @property
    def least(self) -> int:
        """Return the first turn of the rows."""
        return min(self.first, self.first + self.step * (self.number - 1))

    @property
    def end(self) -> int:
        """Return the turn after the last."""
        return self.least + self.number

    def within(self, start: int, end: int) -> tuple[int, int]:
        """Return the first and the number of the rows of the turns from `start` to `end`."""
        start, end = max(start, self.least), min(end, self.end)
        if end <= start:
            return 0, 0
        place = start - self.first if self.step > 0 else self.first - (end - 1)
        return place, end - start

    def part(self, key: Any) -> Rows:
        """Return the rows that a slice selects."""
        start, _, step = key.indices(self.number)
        count = len(range(*key.indices(self.number)))
        return Rows(self.first + self.step * start, self.step * step, count)


def size_of(value: Value) -> int:
    """Return the bytes of a value."""
    return math.prod(value.shape) * int(value.dtype.itemsize)


def rows_of(step: Instr, rows: dict[int, Rows], values: Sequence[Value]) -> Rows | None:
    """Return the rows of the result of an instruction that works row by row; None for others."""
    mine = [index for index in used(step) if index in rows]
    value = values[step.out]
    if not mine or value.is_tuple or not value.shape:
        return None
    rank = len(value.shape)
    of = rows[mine[0]]
    if step.op is GETITEM:
        key = step.args[1]
        parts: Sequence[Any] = key if isinstance(key, TUPLE) and key else (key,)
        is_rows = isinstance(parts[0], SLICE) and not refs(key)
        is_rows &= all(one is None or one is ... or isinstance(one, (int, SLICE)) for one in parts)
        if not is_rows or parts[0].step not in (None, 1, -1):
            return None
        return of.part(parts[0])
    if step.op is RESHAPE:
        is_plain = len(step.args) == 2 and not step.kw and isinstance(step.args[1], TUPLE)
        return of if is_plain and value.shape[0] == of.number else None
    if step.op is CONCATENATE:
        parts = step.args[0]
        return (
            of if isinstance(parts, (TUPLE, LIST)) and len(parts) == 1 == len(step.args) else None
        )
    if not (is_elementwise(step) or step.op is COPY) or value.shape[0] != of.number:
        return None
    same = all(rows[one] == of and len(values[one].shape) == rank for one in mine)
    return of if same else None


def with_rows(key: Any, rows: Any) -> Any:
    """Return a key that begins with another slice."""
    return (rows, *key[1:]) if isinstance(key, TUPLE) else rows


def row_operands(step: Instr, count: int, change: Any) -> tuple[Any, ...]:
    """Return the arguments of an instruction on fewer rows."""
    source, *rest = changed(step, change).args
    if step.op is RESHAPE:
        return (source, (count, *rest[0][1:]))
    return (source, *rest)
