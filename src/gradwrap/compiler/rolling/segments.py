"""Segments: stretches of a body that repeat, and what each operand of a row is in every turn."""

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


class Decline(Exception):  # noqa: N818  it leaves the code as it is
    """A segment cannot be rolled; the message says why."""


class Late(Decline):
    """Something is carried over more turns than a loop does: `distance`."""

    def __init__(self, distance: int) -> None:
        super().__init__(f"a value is read {distance} turns later")
        self.distance = distance


# Operands over all turns --------------------------------------------------------------------------


class Inv(NamedTuple):
    """One leaf in all turns."""

    leaf: Any


class Rel(NamedTuple):
    """What row `row` gave `distance` turns before; `inits` in the first so many turns."""

    distance: int
    row: int
    inits: tuple[Any, ...]


class Gat(NamedTuple):
    """A value from outside for each turn."""

    leaves: tuple[Any, ...]


class Num(NamedTuple):
    """A number for each turn."""

    numbers: tuple[Any, ...]


class Idx(NamedTuple):
    """A place along an axis for each turn."""

    places: tuple[int, ...]


class Segment:
    """Rows that are performed in a number of turns."""

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
        """Take it apart into segments of so many turns; the last one may have fewer."""
        return [
            Segment(self.start + first * self.period, self.period, min(turns, self.turns - first))
            for first in range(0, self.turns, turns)
        ]


def leaves_of(nest: Any) -> list[Any]:
    """Return the leaves of a nest; a slice is one."""
    found: list[Any] = []
    waiting: list[Any] = [nest]
    while waiting:
        part = waiting.pop()
        if isinstance(part, (TUPLE, LIST)):
            waiting.extend(reversed(part))
        else:
            found.append(part)
    return found


def with_leaves(nest: Any, leaves: Iterator[Any]) -> Any:
    """Return the same nest with other leaves; a slice is one."""
    if isinstance(nest, (TUPLE, LIST)):
        kind = type_of(nest)
        return kind([with_leaves(part, leaves) for part in nest])
    return next(leaves)


def normalised(instr: Instr, values: Sequence[Value]) -> Instr:
    """Return the same access with its integers counted from the front."""
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
    return instr._replace(args=(instr.args[0], new, *instr.args[2:]))


def axes_of(
    parts: Sequence[Any], shape: tuple[int, ...], values: Sequence[Value]
) -> list[int | None] | None:
    """Return the axis that each part of a key is for; None for a key with masks."""
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
    """Return the first of some integers and their distance, if that is always the same."""
    step = places[1] - places[0]
    if step and all(b - a == step for a, b in pairwise(places)):
        return places[0], step
    return None


def advance(first: int, step: int, count: int) -> slice:
    """Return the slice of so many places from one on."""
    stop = first + step * count
    return slice(first, None if stop < 0 else stop, None if step == 1 else step)


class Rewriting:
    """The new body of a block, and where the values of the old one are in it."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.values: list[Value] = program.values
        self.body: list[Instr | Loop] = []
        self.place: dict[int, tuple[Segment, int, int]] = {}
        """The segment, row and turn of the values that have been rolled."""
        self.memo: dict[int, Any] = {}
        self.instrs: list[Instr] = []
        self.position: dict[int, int] = {}
        """Where in the old body a value is given."""
        self.uses: dict[int, list[int]] = {}
        self.made: dict[int, Instr] = {}
        """The instructions of the new body that were made for it."""

    def constant(self, content: Any) -> Ref:
        """Enter an array of numbers."""
        made = self.program.new(Value(content.shape, content.dtype, is_ndarray=True))
        self.program.constants[made.index] = Constant(content, by_reference=False, name="")
        return made

    def plain(self, leaf: Any) -> Any:
        """Return the value of a leaf by itself."""
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
                getitem, "getitem", (segment.stacks[row], turn), self.values[leaf.index], views=True
            )
            self.memo[leaf.index] = found
        return found

    def emit(
        self,
        fn: Callable[..., Any],
        name: str,
        args: tuple[Any, ...],
        value: Value,
        kw: tuple[tuple[str, Any], ...] = (),
        *,
        views: bool = False,
        line: int = 0,
    ) -> Ref:
        """Append an instruction."""
        made = self.program.new(value)
        self.made[made.index] = Instr(fn, name, args, kw, made.index, views, line)
        self.body.append(self.made[made.index])
        return made

    def is_same(self, leaf: Any, made: Ref) -> bool:
        """Tell if a leaf of the old body is what an instruction made for the new one gives."""
        at = self.position.get(leaf.index) if type(leaf) is Ref else None
        other = self.made.get(made.index)
        if at is None or other is None or other.op.is_fresh:
            return False
        instr = self.instrs[at]
        if (instr.name, instr.kw) != (other.name, other.kw) or instr.fn != other.fn:
            return False
        return bool(token(mapped(instr.args, self.plain)) == token(other.args))

    def described(self, leaf: Any) -> Value:
        """Return the description of a value that a leaf names."""
        index: int = leaf.index
        return self.values[index]
