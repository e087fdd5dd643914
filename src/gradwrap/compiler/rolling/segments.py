"""Segments: repeating stretches of a body, with each operand described over all turns."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from gradwrap.compiler.ir.program import (
    Constant,
    Instr,
    Loop,
    Program,
    Ref,
    Value,
    getitem,
    mapped,
    token,
    zeros,
)
from gradwrap.core.values.dynamic import LIST, TUPLE, type_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


class Decline(Exception):  # noqa: N818  the code stays unrolled
    """A segment cannot be rolled; the message gives the reason."""


class Late(Decline):
    """A value is carried over too many turns for one loop: `distance`."""

    def __init__(self, distance: int) -> None:
        super().__init__(f"a value is read {distance} turns later")
        self.distance = distance


# Operands over all turns --------------------------------------------------------------------------


class Inv(NamedTuple):
    """The same leaf in all turns."""

    leaf: Any


class Rel(NamedTuple):
    """The result of row `row` from `distance` turns before; `inits` in the first turns."""

    distance: int
    row: int
    inits: tuple[Any, ...]


class Gat(NamedTuple):
    """A different value from outside in each turn."""

    leaves: tuple[Any, ...]


class Num(NamedTuple):
    """A different number in each turn."""

    numbers: tuple[Any, ...]


class Idx(NamedTuple):
    """A different index along an axis in each turn."""

    places: tuple[int, ...]


class Segment:
    """A stretch of instructions, `rows`, that repeats for a number of turns."""

    def __init__(self, start: int, period: int, turns: int) -> None:
        self.start = start
        self.period = period
        self.turns = turns
        self.rows: list[Instr] = []
        self.operands: list[list[Any]] = []
        self.values: list[Value] = []
        self.stacks: dict[int, Ref] = {}
        self.finals: dict[int, Ref] = {}
        self.hoisted: dict[int, Ref] = {}

    def parts(self, turns: int) -> list[Segment]:
        """Split the segment into segments of at most `turns` turns."""
        return [
            Segment(self.start + first * self.period, self.period, min(turns, self.turns - first))
            for first in range(0, self.turns, turns)
        ]


def leaves_of(nest: Sequence[Any]) -> list[Any]:
    """Return the leaves of a nest; a slice counts as a leaf."""
    found: list[Any] = []
    for part in nest:
        if type(part) is not Ref and isinstance(part, (TUPLE, LIST)):
            found += leaves_of(part)
        else:
            found.append(part)
    return found


def with_leaves(nest: Any, leaves: Iterator[Any]) -> Any:
    """Return a nest with its leaves replaced in order; a slice counts as a leaf."""
    if isinstance(nest, (TUPLE, LIST)):
        kind = type_of(nest)
        return kind([with_leaves(part, leaves) for part in nest])
    return next(leaves)


def normalised(instr: Instr, values: Sequence[Value]) -> Instr:
    """Return an access with negative integers in its key counted from the front."""
    if not instr.op.has_key or type(instr.args[0]) is not Ref:
        return instr
    key = instr.args[1]
    shape = values[instr.args[0].index].shape
    parts: list[Any] = list(key) if isinstance(key, TUPLE) else [key]
    if not any(type(part) is int and part < 0 for part in parts):
        return instr
    axes = axes_of(parts, shape, values)
    if axes is None:
        return instr
    for number, axis in enumerate(axes):
        if axis is not None and type(parts[number]) is int and parts[number] < 0:
            parts[number] += shape[axis]
    new = tuple(parts) if isinstance(key, TUPLE) else parts[0]
    return instr.on((instr.args[0], new, *instr.args[2:]))


def axes_of(
    parts: Sequence[Any], shape: tuple[int, ...], values: Sequence[Value]
) -> list[int | None] | None:
    """Return the axis that each part of a key indexes; None for a key with masks."""
    taken = 0
    for part in parts:
        if type(part) is Ref and values[part.index].dtype.kind == "b":
            return None
        if isinstance(part, bool):
            return None
        taken += part is not None and part is not Ellipsis
    axes: list[int | None] = []
    axis = 0
    for part in parts:
        if part is None:
            axes.append(None)
        elif part is Ellipsis:
            axes.append(None)
            axis += len(shape) - taken
        else:
            axes.append(axis)
            axis += 1
    return axes


NO_OPERATION = Instr(zeros, "", (), (), -1)


def affine(places: Sequence[int]) -> tuple[int, int] | None:
    """Return the first integer and the step of an arithmetic sequence, or None."""
    step = places[1] - places[0]
    if step and all(b - a == step for a, b in pairwise(places)):
        return places[0], step
    return None


def advance(first: int, step: int, count: int) -> slice:
    """Return the slice with a given start, step and number of elements."""
    stop = first + step * count
    return slice(first, None if stop < 0 else stop, None if step == 1 else step)


class Rewriting:
    """The new body of a block, and the positions of the old values in it."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.values: list[Value] = program.values
        self.body: list[Instr | Loop] = []
        self.place: dict[int, tuple[Segment, int, int]] = {}
        """By value rolled: its segment, row and turn."""
        self.memo: dict[int, Any] = {}
        self.instrs: list[Instr] = []
        self.position: dict[int, int] = {}
        """By value: the position in the old body of the step that defines it."""
        self.uses: dict[int, list[int]] = {}
        self.constants: dict[Any, Ref] = {}
        """The constant arrays made, by their contents."""
        self.made: dict[int, Instr] = {}
        """The instructions made for the new body, by output."""

    def constant(self, content: Any) -> Ref:
        """Add a constant array. Equal arrays share one value, so that the loops are equal."""
        key = (content.shape, content.dtype, content.tobytes())
        if key not in self.constants:
            self.constants[key] = self.program.new(Value(*key[:2], is_ndarray=True))
            constant = Constant(content, by_reference=False, name="")
            self.program.constants[self.constants[key].index] = constant
        return self.constants[key]

    def plain(self, leaf: Any) -> Any:
        """Return a leaf as a value of the new body, reading it from its stack if it was rolled."""
        if type(leaf) is not Ref or leaf.index not in self.place:
            return leaf
        found = self.memo.get(leaf.index)
        if found is None:
            segment, row, turn = self.place[leaf.index]
            if row in segment.hoisted:
                return segment.hoisted[row]
            if turn == segment.turns - 1 and row in segment.finals:
                return segment.finals[row]
            found = self.emit(
                getitem, (segment.stacks[row], turn), self.values[leaf.index], views=True
            )
            self.memo[leaf.index] = found
        return found

    def emit(
        self,
        fn: Callable[..., Any],
        args: tuple[Any, ...],
        value: Value,
        kw: tuple[tuple[str, Any], ...] = (),
        *,
        name: str = "",
        views: bool = False,
        line: int = 0,
    ) -> Ref:
        """Append an instruction, which by default has the name of its function."""
        made = self.program.new(value)
        self.made[made.index] = Instr(fn, name or fn.__name__, args, kw, made.index, views, line)
        self.body.append(self.made[made.index])
        return made

    def is_same(self, leaf: Any, made: Ref) -> bool:
        """Tell if a leaf of the old body equals the result of a new instruction."""
        at = self.position.get(leaf.index) if type(leaf) is Ref else None
        other = self.made.get(made.index)
        if at is None or other is None or other.op.is_fresh:
            return False
        instr = self.instrs[at]
        if (instr.name, instr.kw) != (other.name, other.kw) or instr.fn != other.fn:
            return False
        return bool(token(mapped(instr.args, self.plain)) == token(other.args))

    def described(self, leaf: Any) -> Value:
        """Return the description of the value that a leaf names."""
        index: int = leaf.index
        return self.values[index]
