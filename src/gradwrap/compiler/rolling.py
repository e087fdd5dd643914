"""Rolling: the loops that a trace has unrolled are found again.

A stretch of a body whose operations repeat with a period is a segment: `turns` times the same
`rows`. Each operand of a row is described over all turns. Then the segment is taken apart into the
components of its dependences: what depends on no earlier turn is computed for all turns at once,
as an array with the turns along its first axis (a stack); sums over turns become reductions;
writes at keys that advance become writes to slices; what remains is a `Loop`.

What cannot be described stays as it is, with the reason in `Program.notes`.
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradwrap.compiler.passes import KEYED, NUMBER, token
from gradwrap.compiler.program import (
    UFUNC,
    Block,
    Constant,
    Cur,
    Guard,
    Instr,
    Loop,
    Prev,
    Program,
    Ref,
    Result,
    Row,
    Turn,
    Value,
    array,
    copy,
    getitem,
    is_elementwise,
    mapped,
    refs,
    scatter_add,
    setitem,
    used,
    zeros,
)
from gradwrap.core.values.dynamic import LIST, SLICE, TUPLE, type_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

GRAM = 12
LONGEST = 400
"""The longest period, in operations."""
PERIODS = 12
SHORTEST = 40
"""The shortest body in which loops are looked for."""
TURNS = 8
ROW, STACK = 1 << 14, 1 << 20
"""Rows of so many elements are not stacked where a stack would have so many bytes."""
PIECES = 4
TRIMS = sorted(((f, b) for f in range(4) for b in range(3)), key=lambda pair: (sum(pair), pair[1]))


class Decline(Exception):  # noqa: N818  it leaves the code as it is
    """A segment cannot be rolled; the message says why."""


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


def rolled(program: Program) -> None:
    """Find the loops of a program, in all of its blocks."""
    roller = _Roller(program)
    for block in list(program.blocks()):
        roller.roll(block)


def _leaves(nest: Any) -> Iterator[Any]:
    if isinstance(nest, (TUPLE, LIST)):
        for part in nest:
            yield from _leaves(part)
    else:
        yield nest


def _with_leaves(nest: Any, leaves: Iterator[Any]) -> Any:
    """The same nest with other leaves; a slice is one."""
    if isinstance(nest, (TUPLE, LIST)):
        kind = type_of(nest)
        return kind([_with_leaves(part, leaves) for part in nest])
    return next(leaves)


def _is_numeric(leaf: Any) -> bool:
    return isinstance(leaf, (int, float, complex, NUMBER)) and not isinstance(leaf, bool)


def normalised(instr: Instr, values: Sequence[Value]) -> Instr:
    """The same access with its integers counted from the front."""
    if instr.name not in KEYED or type(instr.args[0]) is not Ref:
        return instr
    key = instr.args[1]
    shape = values[instr.args[0].index].shape
    parts: list[Any] = list(key) if isinstance(key, TUPLE) else [key]
    if not any(type(part) is int and part < 0 for part in parts):
        return instr
    axes = _axes_of(parts, shape, values)
    if axes is None:
        return instr
    for number, axis in enumerate(axes):
        if axis is not None and type(parts[number]) is int and parts[number] < 0:
            parts[number] += shape[axis]
    new = tuple(parts) if isinstance(key, TUPLE) else parts[0]
    return instr._replace(args=(instr.args[0], new, *instr.args[2:]))


def _axes_of(
    parts: Sequence[Any], shape: tuple[int, ...], values: Sequence[Value]
) -> list[int | None] | None:
    """The axis that each part of a key is for; None for a key with masks."""
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


class _Roller:
    """Rewrites the blocks of a program, from the root on."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.values = program.values
        self.body: list[Instr | Loop] = []
        self.place: dict[int, tuple[Segment, int, int]] = {}
        """The segment, row and turn of the values that have been rolled."""
        self.memo: dict[int, Any] = {}
        self.codes: dict[Any, int] = {}
        self.kinds: dict[Value, int] = {}
        self.uses: dict[int, list[int]] = {}
        self.position: dict[int, int] = {}
        self.instrs: list[Instr] = []
        self.flat: list[list[Any]] = []
        self.reasons: Counter[str] = Counter()

    # The body of a block --------------------------------------------------------------------------

    def roll(self, block: Block) -> None:
        """Rewrite a block."""
        self.body = []
        body = block.body
        loops: list[Segment] = []
        if len(body) >= SHORTEST and all(isinstance(step, Instr) for step in body):
            self.instrs = [normalised(s, self.values) for s in body if isinstance(s, Instr)]
            loops = self._segments()
        if not loops:
            for step in body:
                self._straight(step)
        else:
            self._prepare(block)
            starts = {segment.start: segment for segment in loops}
            at = 0
            while at < len(self.instrs):
                found = starts.get(at)
                done = 0 if found is None else self._segment(found)
                if done:
                    at += done
                else:
                    self._straight(self.instrs[at])
                    at += 1
        if block.guard is not None:
            block.guard = Guard(block.guard.kind, self.plain(block.guard.value))
        if block.result is not None:
            leaves = tuple(map(self.plain, block.result.leaves))
            block.result = Result(leaves, block.result.tree)
        for index in sorted(_live_into(block)):
            self.plain(Ref(index))
        block.body = self.body
        for reason, count in self.reasons.items():
            self.program.notes.append(f"not rolled ({count} times): {reason}")
        self.reasons.clear()

    def _prepare(self, block: Block) -> None:
        self.flat = [list(_leaves((instr.args, instr.kw))) for instr in self.instrs]
        self.position = {instr.out: at for at, instr in enumerate(self.instrs)}
        self.uses = {}
        for at, instr in enumerate(self.instrs):
            for index in {*refs(instr.args), *refs(instr.kw)}:
                self.uses.setdefault(index, []).append(at)
        outside = _live_into(block)
        if block.guard is not None:
            outside.add(block.guard.value.index)
        if block.result is not None:
            outside.update(refs(block.result.leaves))
        for index in outside:
            self.uses.setdefault(index, []).append(-1)

    def _straight(self, step: Instr | Loop) -> None:
        """Keep an instruction as it is, with what it reads where that is now."""
        if isinstance(step, Instr):
            if not self.place.keys().isdisjoint(refs((step.args, step.kw))):
                args = mapped(step.args, self.plain)
                kw = mapped(step.kw, self.plain) if step.kw else ()
                step = step._replace(args=args, kw=kw)
        self.body.append(step)

    def plain(self, leaf: Any) -> Any:
        """The value of a leaf by itself."""
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
        self.body.append(Instr(fn, name, args, kw, made.index, views, line))
        return made

    # Periods --------------------------------------------------------------------------------------

    def _segments(self) -> list[Segment]:
        """The stretches of the body that repeat."""
        codes = np.array([self._code(instr) for instr in self.instrs])
        count = len(codes)
        free = np.ones(count, bool)
        found: list[Segment] = []
        for period in self._periods(codes):
            same = np.zeros(count, bool)
            same[:-period] = codes[:-period] == codes[period:]
            usable = same & free
            usable[:-period] &= free[period:]
            edges = np.flatnonzero(np.diff(np.concatenate([[0], usable.view(np.int8), [0]])))
            for a, b in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
                turns = 1 + (b - a) // period
                end = a + turns * period
                if turns >= TURNS and free[a:end].all():
                    whole = codes[a : a + turns * period]
                    shortest = _shortest(whole, period)
                    found.append(Segment(a, shortest, len(whole) // shortest))
                    free[a:end] = False
        return sorted(found, key=lambda segment: segment.start)

    def _periods(self, codes: Any) -> list[int]:
        """The commonest distances between equal stretches."""
        listed: list[int] = codes.tolist()
        counted: Counter[int] = Counter()
        last: dict[tuple[int, ...], int] = {}
        for at in range(len(listed) - GRAM + 1):
            gram = tuple(listed[at : at + GRAM])
            before = last.get(gram)
            if before is not None and at - before <= LONGEST:
                counted[at - before] += 1
            last[gram] = at
        # short periods have grams of several turns
        common = [period for period, _ in counted.most_common(PERIODS)]
        return [period for period in common if period * TURNS <= len(listed)]

    def _code(self, instr: Instr) -> int:
        """A small number for an operation with the shapes and dtypes of what it works on."""
        numeric = isinstance(instr.fn, UFUNC) or instr.name in ("pow", "where")
        keyed = instr.name in KEYED
        parts: list[Any] = [instr.name, self._kind(self.values[instr.out])]
        for number, arg in enumerate(instr.args):
            in_key = keyed and number == 1
            parts.append(self._signature(arg, in_key, numeric or (keyed and number == 2)))
        for name, value in instr.kw:
            parts.extend((name, self._signature(value, False, False)))
        key = tuple(parts)
        return self.codes.setdefault(key, len(self.codes))

    def described(self, leaf: Any) -> Value:
        """The description of a value that a leaf names."""
        index: int = leaf.index
        return self.values[index]

    def _kind(self, value: Value) -> int:
        return self.kinds.setdefault(value, len(self.kinds))

    def _signature(self, nest: Any, in_key: bool, numeric: bool) -> Any:
        kind: Any = type_of(nest)
        if kind is Ref:
            return self._kind(self.described(nest))
        if kind is TUPLE or kind is LIST:
            return (kind, *(self._signature(part, in_key, numeric) for part in nest))
        if in_key and kind is int:
            return "i"
        return ("n", kind) if numeric and _is_numeric(nest) else token(nest)

    # One segment ----------------------------------------------------------------------------------

    def _segment(self, whole: Segment) -> int:
        """Roll a segment, or the turns of it that can be described: how many operations it took."""
        reason = ""
        for first, last in TRIMS:
            turns = whole.turns - first - last
            if turns < TURNS - 2:
                continue
            before, known = len(self.body), len(self.memo)
            segment = Segment(whole.start + first * whole.period, whole.period, turns)
            try:
                self._describe(segment, whole.turns)
                for instr in self.instrs[whole.start : segment.start]:
                    self._straight(instr)
                _Emission(self, segment).emit()
            except Decline as why:
                reason = reason or str(why)
                del self.body[before:]
                for index in list(self.memo)[known:]:
                    del self.memo[index]
                continue
            for number in range(turns * segment.period):
                turn, row = divmod(number, segment.period)
                out = self.instrs[segment.start + number].out
                self.place[out] = (segment, row, turn)
            line = next((row.line for row in segment.rows if row.line), 0)
            where = f"line {line}" if line else "a backward pass"
            self.program.notes.append(
                f"loop: {turns} turns of {segment.period} operations, {where}"
            )
            return segment.start + turns * segment.period - whole.start
        self.reasons[reason] += 1
        return 0

    def _describe(self, segment: Segment, turns_in_all: int) -> None:
        """Describe each operand of each row over all turns."""
        start, period, turns = segment.start, segment.period, segment.turns
        segment.rows = self.instrs[start : start + period]
        segment.values = [self.values[row.out] for row in segment.rows]
        for row, value in zip(segment.rows, segment.values, strict=True):
            if value.is_tuple or (value.is_ndarray and not value.shape):
                raise Decline(f"{row.name} gives no plain array or number")
            size = math.prod(value.shape)
            if size >= ROW and size * turns_in_all * value.dtype.itemsize > STACK:
                raise Decline(f"the arrays of its turns are large: {value.shape}")
        end = start + period * turns
        for number in range(period):
            flat = [self.flat[start + number + k * period] for k in range(turns)]
            columns = zip(*flat, strict=True)
            segment.operands.append(
                [self._operand(column, start, end, period) for column in columns]
            )
            keywords = sum(1 for _ in _leaves(segment.rows[number].kw))
            operands = segment.operands[number]
            for operand in operands[len(operands) - keywords :]:
                if type(operand) is not Inv:
                    raise Decline("a keyword varies")

    def _operand(self, column: tuple[Any, ...], start: int, end: int, period: int) -> Any:
        first = column[0]
        if type(first) is not Ref:
            return self._varying(column)
        if any(type(leaf) is not Ref for leaf in column):
            raise Decline("a value stands beside a number")
        position = self.position
        produced = [position.get(leaf.index, -1) for leaf in column]
        inside = [at if start <= at < end else -1 for at in produced]
        if max(inside) < 0:
            column = tuple(map(self._canonical, column))
            first = column[0]
            return Inv(first) if all(leaf == first for leaf in column) else Gat(column)
        turns = len(column)
        turn, row = divmod(inside[-1] - start, period)
        distance = turns - 1 - turn
        if inside[-1] < 0 or distance >= turns:
            raise Decline("a value of one turn alone is read in others")
        for k in range(distance, turns):
            if inside[k] != start + (k - distance) * period + row:
                raise Decline("a value is read from turns at several distances")
        if any(at >= 0 for at in inside[:distance]):
            raise Decline("a first value comes from within the loop")
        return Rel(distance, row, column[:distance])

    def _canonical(self, leaf: Any) -> Any:
        """The one value that stands for what is the same in all turns of an earlier segment."""
        segment, row, _ = self.place.get(leaf.index, (None, 0, 0))
        return leaf if segment is None else segment.hoisted.get(row, leaf)

    def _varying(self, column: tuple[Any, ...]) -> Any:
        first = column[0]
        kind = type_of(first)
        wanted = token(first)
        if all(type(leaf) is kind and token(leaf) == wanted for leaf in column):
            if isinstance(first, SLICE) and refs(first):
                raise Decline("a slice has bounds that are computed")
            return Inv(first)
        if any(type(leaf) is not kind for leaf in column) or not _is_numeric(first):
            raise Decline("what is no number varies")
        return Num(column)


def _shortest(codes: Any, period: int) -> int:
    """The shortest period of codes of which this is one."""
    return next(
        shorter
        for shorter in range(1, period + 1)
        if period % shorter == 0 and np.array_equal(codes[shorter:], codes[:-shorter])
    )


def _live_into(block: Block) -> set[int]:
    """The values that the branches of a block read, and do not make themselves."""
    found: set[int] = set()
    waiting = list(block.branches.values())
    while waiting:
        inner = waiting.pop()
        for step in inner.body:
            found.update(used(step))
        if inner.guard is not None:
            found.add(inner.guard.value.index)
        if inner.result is not None:
            found.update(refs(inner.result.leaves))
        waiting.extend(inner.branches.values())
    return found


# Components ---------------------------------------------------------------------------------------


def components(edges: list[list[int]]) -> list[list[int]]:
    """The strongly connected components of a graph, each after those that it has edges to."""
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


class _Emission:
    """Writes the instructions of one segment."""

    def __init__(self, roller: _Roller, segment: Segment) -> None:
        self.roller = roller
        self.segment = segment
        self.turns = segment.turns
        self.values = roller.values
        self.emit_ = roller.emit
        self.owner: dict[int, int] = {}
        self.delayed: dict[int, int] = {}
        """The row of a loop that hands on what another one gave a turn before."""

    def emit(self) -> None:
        """Write all components."""
        segment = self.segment
        edges = [
            [operand.row for operand in operands if type(operand) is Rel]
            for operands in segment.operands
        ]
        found = components(edges)
        for number, members in enumerate(found):
            for row in members:
                self.owner[row] = number
        for members in found:
            row = members[0]
            if len(members) == 1 and row not in edges[row]:
                self._row(row)
            elif not self._ring(members):
                self._loop(members)

    # What is needed of a row ----------------------------------------------------------------------

    def _needs(self, row: int) -> tuple[bool, bool]:
        """Tell if a row is needed of all turns, and if of the last, outside of its component."""
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

    # Stacks ---------------------------------------------------------------------------------------

    def _stack_value(self, value: Value, order: str = "C") -> Value:
        return Value((self.turns, *value.shape), value.dtype, is_ndarray=True, order=order)

    def described(self, leaf: Any) -> Value:
        """The description of a value that a leaf names."""
        index: int = leaf.index
        return self.values[index]

    def row_value(self, operand: Any) -> Value:
        """The description of what an operand is in one turn."""
        if type(operand) is Rel:
            return self.segment.values[operand.row]
        leaf = operand.leaf if type(operand) is Inv else operand.leaves[0]
        return self.described(leaf)

    def same_in_all(self, operand: Any) -> Any:
        """The leaf of an operand that is the same in all turns; None for others."""
        if type(operand) is Inv:
            return (self.roller.plain(operand.leaf),)
        if type(operand) is Rel and operand.distance == 0 and operand.row in self.segment.hoisted:
            return (self.segment.hoisted[operand.row],)
        return None

    def stacked(self, operand: Any) -> Ref:
        """The values of an operand in all turns, along a first axis."""
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
        value = self._stack_value(self.values[leaf.index], "?")
        return self.emit_(np.broadcast_to, "broadcast_to", (leaf, value.shape), value, views=True)

    def _stack_of(self, row: int) -> Ref:
        if row in self.segment.hoisted:
            return self._repeated(self.segment.hoisted[row])
        return self.segment.stacks[row]

    def _stacked_rel(self, operand: Rel) -> Ref:
        if operand.distance == 0:
            return self._stack_of(operand.row)
        value = self.segment.values[operand.row]
        for init in operand.inits:
            if self.described(init)._replace(order="C") != value._replace(order="C"):
                raise Decline("a first value has another shape or dtype")
        first = self._joined([self.roller.plain(init) for init in operand.inits], value)
        part = self._slice(self._stack_of(operand.row), 0, 1, self.turns - operand.distance, value)
        return self._concatenated([first, part], value, self.turns)

    def _joined(self, leaves: list[Any], value: Value) -> Ref:
        """Single values along a new first axis."""
        made = Value((len(leaves), *value.shape), value.dtype, is_ndarray=True)
        if value.shape:
            return self.emit_(np.stack, "stack", (leaves,), made)
        return self.emit_(array, "array", (leaves, value.dtype), made)

    def _slice(self, stack: Ref, first: int, step: int, count: int, value: Value) -> Ref:
        """Turns `first`, `first + step`, … of a stack."""
        if (first, step, count) == (0, 1, self.values[stack.index].shape[0]):
            return stack
        made = Value((count, *value.shape), value.dtype, is_ndarray=True)
        made = made if step == 1 else made._replace(order="?")
        return self.emit_(
            getitem, "getitem", (stack, advance(first, step, count)), made, views=True
        )

    def _concatenated(self, parts: list[Ref], value: Value, count: int) -> Ref:
        if len(parts) == 1:
            return parts[0]
        made = Value((count, *value.shape), value.dtype, is_ndarray=True)
        return self.emit_(np.concatenate, "concatenate", (parts,), made)

    def _gathered(self, leaves: tuple[Any, ...]) -> Ref:
        """Values from outside, one for each turn: slices of stacks, joined."""
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
                parts.append(self._joined([self.roller.plain(leaf) for leaf in items], value))
                continue
            step = items[1] - items[0] if len(items) > 1 else 1
            if step == 0:
                raise Decline("one value is read in several turns")
            parts.append(self._slice(segment.stacks[row], items[0], step, len(items), value))
        return self._concatenated(parts, value, len(leaves))

    def _numbers(self, operand: Num, others: Sequence[Any], line: Instr) -> Ref:
        """Numbers as an array, of the dtype that they have in the operation."""
        dtypes: list[Any] = []
        for other in others:
            if type(other) in (Rel, Gat) or (type(other) is Inv and type(other.leaf) is Ref):
                dtypes.append(self.row_value(other).dtype)
            elif other is not operand and type(other) is Inv and _is_numeric(other.leaf):
                dtypes.append(other.leaf)
        if line.name == "pow" and type(operand.numbers[0]) is int:
            raise Decline("powers with exponents that vary")
        number = operand.numbers[0]
        kind = number.dtype if isinstance(number, NUMBER) else np.result_type(*dtypes, number)
        content = np.array(operand.numbers, kind)
        made = self.roller.program.new(Value(content.shape, content.dtype, is_ndarray=True))
        self.roller.program.constants[made.index] = Constant(content, by_reference=False, name="")
        return made

    def _aligned(self, operand: Any, rank: int, others: Sequence[Any], instr: Instr) -> Any:
        """An operand of an elementwise row, for all turns."""
        same = self.same_in_all(operand)
        if same is not None:
            return same[0]
        if type(operand) is Num:
            return self.padded(self._numbers(operand, others, instr), rank)
        return self.padded(self.stacked(operand), rank)

    def padded(self, stack: Ref, rank: int) -> Ref:
        """A stack whose rows have so many axes."""
        value = self.values[stack.index]
        missing = rank + 1 - len(value.shape)
        if missing <= 0:
            return stack
        shape = (value.shape[0], *(1,) * missing, *value.shape[1:])
        made = value._replace(shape=shape)
        return self.emit_(np.reshape, "reshape", (stack, shape), made, views=True)

    # Rows that depend on no earlier turn ----------------------------------------------------------

    def _row(self, row: int) -> None:
        """Perform a row for all turns at once."""
        segment = self.segment
        instr, operands = segment.rows[row], segment.operands[row]
        value = segment.values[row]
        if all(self.same_in_all(operand) is not None for operand in operands):
            same: list[Any] = [self.same_in_all(operand)[0] for operand in operands]
            args, kw = _with_leaves((instr.args, instr.kw), iter(same))
            segment.hoisted[row] = self.emit_(
                instr.fn, instr.name, args, value, kw, views=instr.views, line=instr.line
            )
            return
        segment.stacks[row] = self._for_all(row, instr, operands, value)

    def _for_all(self, row: int, instr: Instr, operands: list[Any], value: Value) -> Ref:
        made = self._stack_value(value)
        if is_elementwise(instr):
            rank = len(value.shape)
            aligned = [self._aligned(op, rank, operands, instr) for op in operands]
            args, kw = _with_leaves((instr.args, instr.kw), iter(aligned))
            return self.emit_(instr.fn, instr.name, args, made, kw, line=instr.line)
        if instr.name == "getitem":
            return self._getitem(instr, operands, value)
        special = SPECIAL.get(instr.name)
        if special is None:
            raise Decline(f"{instr.name} cannot be performed for all turns at once")
        return special(self, instr, operands, made)

    def _getitem(self, instr: Instr, operands: list[Any], value: Value) -> Ref:
        made = self._stack_value(value)
        source, *parts = operands
        same = self.same_in_all(source)
        key = instr.args[1]
        nested = isinstance(key, TUPLE)
        if not (nested or len(parts) == 1):
            raise Decline("an index is a nest of lists")
        if all(type(part) is Inv for part in parts):
            stack = self.stacked(source)
            rest = tuple(self.roller.plain(part.leaf) for part in parts)
            self._check_basic(rest)
            made = made._replace(order="?")
            return self.emit_(
                getitem, "getitem", (stack, (slice(None), *rest)), made, views=True, line=instr.line
            )
        places = [self._places(part) for part in parts]
        varying = [number for number, part in enumerate(places) if isinstance(part, Idx)]
        before = places[: varying[0]]
        if same is None:
            if varying != [0]:
                raise Decline("an index varies along with the array")
            turns = self._constant(np.arange(self.turns))
            index = self._constant(np.array(places[0].places))
            rest = tuple(places[1:])
            self._check_basic(rest)
            arguments = (self.stacked(source), (turns, index, *rest))
            return self.emit_(getitem, "getitem", arguments, made, line=instr.line)
        if any(part is Ellipsis for part in before):
            raise Decline("an index varies behind an ellipsis")
        behind = sum(part is None or isinstance(part, SLICE) for part in before)
        stride = affine(places[varying[0]].places)
        if len(varying) == 1 and stride:
            number = varying[0]
            places[number] = advance(*stride, self.turns)
            self._check_basic(tuple(places))
            made = made if stride[1] == 1 and number == 0 else made._replace(order="?")
            arguments = (same[0], tuple(places) if len(places) > 1 else places[0])
            if not behind:
                return self.emit_(getitem, "getitem", arguments, made, views=True, line=instr.line)
            shape = (*value.shape[:behind], self.turns, *value.shape[behind:])
            there = self.emit_(
                getitem, "getitem", arguments, made._replace(shape=shape), views=True
            )
            return self.emit_(np.moveaxis, "moveaxis", (there, behind, 0), made, views=True)
        if behind:
            raise Decline("an index varies behind a slice")
        self._check_basic(tuple(part for part in places if not isinstance(part, Idx)))
        if any(type(part) is int for part in places):
            places = [Idx((part,) * self.turns) if type(part) is int else part for part in places]
        if any(not isinstance(part, Idx) for part in places[: len(varying)]):
            raise Decline("indices vary apart from each other")
        arrays: Any = tuple(
            self._constant(np.array(part.places)) if isinstance(part, Idx) else part
            for part in places
        )
        found = (same[0], arrays if len(arrays) > 1 else arrays[0])
        return self.emit_(getitem, "getitem", found, made, line=instr.line)

    def _places(self, operand: Any) -> Any:
        """A part of a key: the integers that vary, or what it is in all turns."""
        if type(operand) is Num:
            if type(operand.numbers[0]) is not int:
                raise Decline("an index is no integer")
            return Idx(operand.numbers)
        if type(operand) is not Inv:
            raise Decline("an index is computed in the loop")
        return self.roller.plain(operand.leaf)

    def _check_basic(self, parts: tuple[Any, ...]) -> None:
        for part in parts:
            if type(part) is Ref and (
                len(parts) > 1 or self.values[part.index].dtype.kind not in "iu"
            ):
                raise Decline("an index is an array")
            if not (part is None or part is Ellipsis or isinstance(part, (SLICE, int, Ref))):
                raise Decline("an index is a list")

    def _constant(self, content: Any) -> Ref:
        made = self.roller.program.new(Value(content.shape, content.dtype, is_ndarray=True))
        self.roller.program.constants[made.index] = Constant(content, by_reference=False, name="")
        return made

    # Sums and writes over all turns ---------------------------------------------------------------

    def _ring(self, members: list[int]) -> bool:
        """Write a component all of whose rows add, or write, to one value; False if it is none."""
        segment = self.segment
        inside = set(members)
        links: list[tuple[int, int, Any]] = []
        init: Any = None
        for row in members:
            instr, operands = segment.rows[row], segment.operands[row]
            mine = [n for n, op in enumerate(operands) if type(op) is Rel and op.row in inside]
            is_sum = instr.name == "add" and len(operands) == 2
            is_write = instr.name in ("scatter_add", "setitem")
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
        if instr.name != "add":
            return False
        other = operands[1 - mine]
        if type(other) not in (Rel, Gat) or self.same_in_all(other) is not None:
            return False
        if self.row_value(other)._replace(order="C") != value._replace(order="C"):
            return False
        stack = self.stacked(other)
        first = self._joined([self.roller.plain(init)], value)
        joined = self._concatenated([first, stack], value, self.turns + 1)
        whole = Value((self.turns + 1, *value.shape), value.dtype, is_ndarray=True)
        sums = self.emit_(
            np.add.accumulate, "add.accumulate", (joined,), whole, (("axis", 0),), line=instr.line
        )
        made = self._stack_value(value)
        key = slice(1, None)
        self.segment.stacks[row] = self.emit_(getitem, "getitem", (sums, key), made, views=True)
        return True

    def _written(self, links: list[tuple[int, int, Any]], init: Any, value: Value) -> bool:
        segment = self.segment
        plans: list[tuple[str, Any, Any, Instr]] = []
        taken: list[tuple[Any, set[int]]] = []
        has_setitem = any(segment.rows[row].name == "setitem" for row, _, _ in links)
        for row, mine, _ in links:
            instr, operands = segment.rows[row], segment.operands[row]
            if instr.name == "add":
                if has_setitem:
                    return False
                plans.append(("add", None, operands[1 - mine], instr))
                continue
            *parts, written = operands[1:]
            try:
                places = [self._places(part) for part in parts]
            except Decline:
                return False
            if has_setitem and instr.name != "setitem":
                return False
            plan = self._write_plan(instr, places, taken)
            if plan is None:
                return False
            plans.append((instr.name, plan, written, instr))
        total = self.roller.plain(init)
        for name, key, written, instr in plans:
            total = self._one_write(name, key, written, instr, total, value)
        segment.finals[links[-1][0]] = total
        return True

    def _write_plan(
        self, instr: Instr, places: list[Any], taken: list[tuple[Any, set[int]]]
    ) -> tuple[int, Any] | None:
        """The key of a write for all turns at once; None if there is none.

        Before it comes the number of axes that the one of the turns is behind, or -1 if the key
        does not vary.
        """
        varying = [n for n, part in enumerate(places) if isinstance(part, Idx)]
        is_tuple = isinstance(instr.args[1], TUPLE)
        if not varying:
            fixed: Any = tuple(places) if is_tuple else places[0]
            return (-1, fixed) if instr.name == "scatter_add" else None
        number = varying[0]
        if len(varying) > 1 or any(
            not (type(part) is int or isinstance(part, SLICE)) for part in places[:number]
        ):
            return None
        behind = sum(isinstance(part, SLICE) for part in places[:number])
        for part in places[number + 1 :]:
            if not (type(part) is int or isinstance(part, SLICE)):
                return None
        indices = places[number].places
        if instr.name == "setitem":
            others = token((tuple(places[:number]), tuple(places[number + 1 :])))
            mine = set(indices)
            if len(mine) < len(indices):
                return None
            for before, positions in taken:
                if before != others or positions & mine:
                    return None
            taken.append((others, mine))
        stride = affine(indices)
        if stride:
            places[number] = advance(*stride, self.turns)
        elif len(places) > 1:
            return None
        else:
            places[number] = self._constant(np.array(indices))
        return (behind, tuple(places) if len(places) > 1 else places[0])

    def _one_write(
        self, name: str, key: Any, written: Any, instr: Instr, total: Any, value: Value
    ) -> Ref:
        if name == "add":
            amount = self._total(written, value, instr)
            return self.emit_(np.add, "add", (total, amount), value, line=instr.line)
        behind, place = key
        region = self.region(value, instr)
        fn = setitem if name == "setitem" else scatter_add
        if behind >= 0:
            amount = self._amounts(written, region)
            if behind and type(amount) is Ref and self.same_in_all(written) is None:
                shape = (*region[:behind], self.turns, *region[behind:])
                moved = self.values[amount.index]._replace(shape=shape, order="?")
                amount = self.emit_(np.moveaxis, "moveaxis", (amount, 0, behind), moved, views=True)
            elif behind and type(amount) is Ref and self.values[amount.index].shape:
                raise Decline("one array is written behind a slice in each turn")
        else:
            amount = self._total(written, value._replace(shape=region), instr)
        return self.emit_(fn, name, (total, place, amount), value, line=instr.line)

    def region(self, value: Value, instr: Instr) -> tuple[int, ...]:
        """The shape of what the key of one turn selects."""
        key: Any = instr.args[1]
        if refs(key):
            raise Decline("a key of a write is an array")
        sample = np.broadcast_to(np.zeros((), bool), value.shape)
        return tuple(np.shape(sample[key]))

    def _amounts(self, written: Any, region: tuple[int, ...]) -> Any:
        """What is written in all turns, to be written at once."""
        if type(written) is Inv and type(written.leaf) is not Ref:
            return written.leaf
        if type(written) is Num:
            return self.padded(self._numbers(written, (), _NO_OPERATION), len(region))
        same = self.same_in_all(written)
        if same is not None:
            return same[0]
        return self.padded(self.stacked(written), len(region))

    def _total(self, written: Any, value: Value, instr: Instr) -> Ref:
        """The sum over all turns of what is added in each."""
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
        return self.emit_(
            np.add.reduce, "add.reduce", (stack,), made, (("axis", 0),), line=instr.line
        )

    def _product(self, row: int, made: Value) -> Ref | None:
        """The sum of the products of matrices of all turns, as one product; None if it is none."""
        instr, operands = self.segment.rows[row], self.segment.operands[row]
        if instr.name != "matmul" or len(made.shape) != 2:
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
        a = self.emit_(np.moveaxis, "moveaxis", (left, 1, 0), swapped, views=True)
        flat = Value((m, count), made.dtype, is_ndarray=True, order="?")
        a = self.emit_(np.reshape, "reshape", (a, (m, count)), flat, views=True)
        flat = Value((count, p), made.dtype, is_ndarray=True)
        b = self.emit_(np.reshape, "reshape", (right, (count, p)), flat, views=True)
        return self.emit_(np.matmul, "matmul", (a, b), made, line=instr.line)

    # Recurrences ----------------------------------------------------------------------------------

    def _loop(self, members: list[int]) -> None:
        """Write a component as a loop."""
        segment = self.segment
        delays = self._delays(members)
        numbers = {row: number for number, row in enumerate(members, len(delays))}
        self.delayed = {row: number for number, row in enumerate(delays)}
        rows: list[Row] = []
        inits: dict[int, Any] = {row: firsts[1] for row, firsts in delays.items()}
        for row, firsts in delays.items():
            before = Prev(numbers[row], self.roller.plain(firsts[1]))
            rows.append(Row(copy, "copy", (before,), (), segment.values[row]))
        for row in members:
            instr, operands = segment.rows[row], segment.operands[row]
            if instr.name in KEYED and any(type(op) is Num for op in operands):
                raise Decline("an index into what the loop changes varies")
            leaves = [self._loop_operand(op, numbers, inits, operands, instr) for op in operands]
            args, kw = _with_leaves((instr.args, instr.kw), iter(leaves))
            rows.append(Row(instr.fn, instr.name, args, kw, segment.values[row], instr.line))
        stacks: dict[int, int] = {}
        finals: dict[int, int] = {}
        for row in members:
            all_turns, last = self._needs(row)
            value = segment.values[row]
            if all_turns:
                made = self.roller.program.new(self._stack_value(value))
                stacks[numbers[row]] = made.index
                segment.stacks[row] = made
            elif last:
                made = self.roller.program.new(value)
                finals[numbers[row]] = made.index
                segment.finals[row] = made
        self.roller.body.append(Loop(self.turns, tuple(rows), stacks, finals))

    def _delays(self, members: list[int]) -> dict[int, tuple[Any, ...]]:
        """The rows that are read two turns later, with the values before the first turn."""
        found: dict[int, tuple[Any, ...]] = {}
        for row in members:
            for operand in self.segment.operands[row]:
                if type(operand) is not Rel or operand.row not in members or operand.distance < 2:
                    continue
                if operand.distance > 2:
                    raise Decline("a value is read three turns later")
                if found.setdefault(operand.row, operand.inits) != operand.inits:
                    raise Decline("two first values of one row")
                value = self.segment.values[operand.row]
                for init in operand.inits:
                    if self.described(init)._replace(order="C") != value._replace(order="C"):
                        raise Decline("a first value has another shape or dtype")
        return found

    def _loop_operand(
        self,
        operand: Any,
        numbers: dict[int, int],
        inits: dict[int, Any],
        others: list[Any],
        instr: Instr,
    ) -> Any:
        if type(operand) is Rel and operand.row in numbers:
            if operand.distance == 0:
                return Cur(numbers[operand.row])
            if operand.distance == 2:
                return Prev(self.delayed[operand.row], self.roller.plain(operand.inits[0]))
            init = operand.inits[0]
            value = self.segment.values[operand.row]
            if self.described(init)._replace(order="C") != value._replace(order="C"):
                raise Decline("a first value has another shape or dtype")
            if inits.setdefault(operand.row, init) != init:
                raise Decline("two first values of one row")
            return Prev(numbers[operand.row], self.roller.plain(init))
        same = self.same_in_all(operand)
        if same is not None:
            return same[0]
        if type(operand) is Num:
            return Turn(self._numbers(operand, others, instr))
        return Turn(self.stacked(operand))


_NO_OPERATION = Instr(zeros, "", (), (), -1)


def affine(places: Sequence[int]) -> tuple[int, int] | None:
    """The first of some integers and their distance, if that is always the same."""
    step = places[1] - places[0]
    if step and all(b - a == step for a, b in pairwise(places)):
        return places[0], step
    return None


def advance(first: int, step: int, count: int) -> slice:
    """The slice of so many places from one on."""
    stop = first + step * count
    return slice(first, None if stop < 0 else stop, None if step == 1 else step)


# Operations that are not elementwise --------------------------------------------------------------


def _matmul(self: _Emission, instr: Instr, operands: list[Any], made: Value) -> Ref:
    first, second = operands
    ranks = [len(self.row_value(op).shape) for op in operands]
    invariant = [self.same_in_all(op) for op in operands]
    if any(rank not in (1, 2) for rank in ranks):
        raise Decline("a product of stacks of matrices")
    a = invariant[0][0] if invariant[0] is not None else self.stacked(first)
    b = invariant[1][0] if invariant[1] is not None else self.stacked(second)
    if ranks == [1, 2] and invariant[1] is not None:
        return self.emit_(np.matmul, "matmul", (a, b), made, line=instr.line)
    if ranks == [2, 1] and invariant[0] is not None:
        turned = self.values[a.index]
        turned = turned._replace(shape=turned.shape[::-1], order="?")
        swapped = self.emit_(np.transpose, "transpose", (a,), turned, views=True)
        return self.emit_(np.matmul, "matmul", (b, swapped), made, line=instr.line)
    if ranks[0] == 1:
        a = _with_axis(self, a, at_end=False)
    if ranks[1] == 1:
        b = _with_axis(self, b, at_end=True)
    shape = (
        self.turns,
        self.values[a.index].shape[-2],
        self.values[b.index].shape[-1],
    )
    product = self.emit_(np.matmul, "matmul", (a, b), made._replace(shape=shape), line=instr.line)
    if ranks == [2, 2]:
        return product
    return self.emit_(np.reshape, "reshape", (product, made.shape), made, views=True)


def _with_axis(self: _Emission, x: Ref, *, at_end: bool) -> Ref:
    value = self.values[x.index]
    lead = value.shape[:-1]
    shape = (*lead, value.shape[-1], 1) if at_end else (*lead, 1, value.shape[-1])
    return self.emit_(np.reshape, "reshape", (x, shape), value._replace(shape=shape), views=True)


def _reduce(self: _Emission, instr: Instr, operands: list[Any], made: Value) -> Ref:
    rank = len(self.row_value(operands[0]).shape)
    keywords = dict(instr.kw)
    if len(instr.args) > 1:
        raise Decline(f"{instr.name} with an axis by position")
    axis = keywords.get("axis", 0)
    axes = range(rank) if axis is None else axis if isinstance(axis, TUPLE) else (axis,)
    keywords["axis"] = tuple(a % rank + 1 for a in axes)
    stack = self.stacked(operands[0])
    return self.emit_(
        instr.fn, instr.name, (stack,), made, tuple(sorted(keywords.items())), line=instr.line
    )


def _reshape(self: _Emission, instr: Instr, operands: list[Any], made: Value) -> Ref:
    if instr.kw or any(type(op) is not Inv for op in operands[1:]):
        raise Decline(f"{instr.name} with options")
    arguments = (self.stacked(operands[0]), made.shape)
    return self.emit_(np.reshape, "reshape", arguments, made, views=True, line=instr.line)


def _broadcast(self: _Emission, instr: Instr, operands: list[Any], made: Value) -> Ref:
    stack = self.padded(self.stacked(operands[0]), len(made.shape) - 1)
    return self.emit_(
        np.broadcast_to, "broadcast_to", (stack, made.shape), made._replace(order="?"), views=True
    )


def _transpose(self: _Emission, instr: Instr, operands: list[Any], made: Value) -> Ref:
    rank = len(made.shape) - 1
    given_axes = [op.leaf for op in operands[1:] if type(op) is Inv]
    if len(given_axes) < len(operands) - 1 or instr.kw:
        raise Decline("a transposition by axes that vary")
    axes: Sequence[Any] = given_axes
    if not axes or axes == [None]:
        axes = [*range(rank - 2), rank - 1, rank - 2] if instr.name == "mT" else range(rank)[::-1]
    arguments = (self.stacked(operands[0]), (0, *(axis % rank + 1 for axis in axes)))
    made = made._replace(order="?")
    return self.emit_(np.transpose, "transpose", arguments, made, views=True, line=instr.line)


def _expand(self: _Emission, instr: Instr, operands: list[Any], made: Value) -> Ref:
    return _reshape(self, instr._replace(kw=()), operands[:1], made)


def _same(self: _Emission, instr: Instr, operands: list[Any], made: Value) -> Ref:
    if any(type(op) is not Inv for op in operands[1:]):
        raise Decline(f"{instr.name} with options that vary")
    rest: list[Any] = [op.leaf for op in operands[1:]]
    args, kw = _with_leaves((instr.args, instr.kw), iter([self.stacked(operands[0]), *rest]))
    return self.emit_(instr.fn, instr.name, args, made, kw, views=instr.views, line=instr.line)


def _write(self: _Emission, instr: Instr, operands: list[Any], made: Value) -> Ref:
    """A write to a new array in each turn, at one key."""
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
    return self.emit_(
        instr.fn, instr.name, (self.stacked(source), key, amount), made, line=instr.line
    )


SPECIAL: dict[str, Callable[[_Emission, Instr, list[Any], Value], Ref]] = {
    "matmul": _matmul,
    **dict.fromkeys(("add.reduce", "maximum.reduce", "minimum.reduce", "multiply.reduce"), _reduce),
    **dict.fromkeys(("reshape", ".reshape", "squeeze", ".squeeze", "ravel", ".ravel"), _reshape),
    "expand_dims": _expand,
    "broadcast_to": _broadcast,
    **dict.fromkeys(("T", "mT", "transpose", ".transpose"), _transpose),
    **dict.fromkeys(("copy", ".astype", "real", "imag", "conj", ".conj"), _same),
    **dict.fromkeys(("setitem", "scatter_add"), _write),
}
"""How operations that are not elementwise are performed for all turns at once."""
