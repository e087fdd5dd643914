"""Checkpoints: long loops keep few of their turns, and compute the others again.

A loop of a forward pass stacks values of all its turns, which a loop of the backward pass reads
from the last to the first. If these stacks are too large, both loops are cut into chunks:

    forward         Loop of the first turns, which may be a few more or less; their stacks are kept
                    Loop over chunks: it stacks what each chunk starts from, its *checkpoint*
                        Loop of the turns of a chunk, without stacks
                    Loop of the last turns, whose stacks are kept
    backward        Loop of the last turns
                    Loop over chunks, the last first
                        the forward loop of the chunk again, from its checkpoint, with stacks
                        the backward loop of the chunk
                    Loop of the first turns

Chunks of `√turns` turns leave `√turns` checkpoints and the stacks of `√turns` turns, for a second
forward pass. Instructions between the loops that compute the rows of stacks one by one (a
reversal, a cosine) are performed in each chunk. Sums of such rows over all turns are added up chunk
by chunk. What else reads such rows gets them as a whole.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradwrap.compiler.ir.layout import describe_orders
from gradwrap.compiler.ir.operations import (
    ADD_REDUCE,
    ARRAY,
    CONCATENATE,
    COPY,
    GETITEM,
    RESHAPE,
    STACK,
)
from gradwrap.compiler.ir.program import (
    Carry,
    Instr,
    Loop,
    Ref,
    Result,
    Value,
    changed,
    copy,
    getitem,
    given,
    is_elementwise,
    mapped,
    refs,
    used,
    zeros,
)
from gradwrap.compiler.passes.dead import remove_dead
from gradwrap.core.values.dynamic import LIST, SLICE, TUPLE, type_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradwrap.compiler.ir.program import Program

DEFAULT = 1 << 26
"""The most bytes of the stacks of loops, unless the user says otherwise."""
FEWEST = 16
"""The least number of turns that are cut into chunks."""
WHOLE = 0.5
"""The largest share of a loop's saved values that may be needed as a whole."""
HEAD, TAIL = "head", "tail"
"""The turns before and after those that are cut into chunks."""


class _Decline(Exception):  # noqa: N818  it is caught, and becomes a note
    """A loop cannot be cut into chunks."""


class _Rows(NamedTuple):
    """The rows of a stack: row `k` belongs to turn `first + k * step` of the forward loop."""

    first: int
    step: int
    number: int

    @property
    def least(self) -> int:
        return min(self.first, self.first + self.step * (self.number - 1))

    @property
    def end(self) -> int:
        return self.least + self.number

    def within(self, start: int, end: int) -> tuple[int, int]:
        """Return the first and the number of the rows of the turns from `start` to `end`."""
        start, end = max(start, self.least), min(end, self.end)
        if end <= start:
            return 0, 0
        place = start - self.first if self.step > 0 else self.first - (end - 1)
        return place, end - start

    def part(self, key: Any) -> _Rows:
        """Return the rows that a slice selects."""
        start, _, step = key.indices(self.number)
        count = len(range(*key.indices(self.number)))
        return _Rows(self.first + self.step * start, self.step * step, count)


def with_checkpoints(program: Program, memory: float) -> None:
    """Cut long loops into chunks, until the stacks of all loops take at most `memory` bytes."""
    if program.root.guard is not None:
        return
    first = len(program.values)
    if _most(program) <= memory:
        return
    if any(isinstance(step, Loop) and step.turns >= FEWEST for step in program.root.body):
        _stack_what_turns_start_from(program)
    tried: set[int] = set()
    while True:
        candidates = _candidates(program)
        waiting = [one for one in candidates if id(one.loop) not in tried]
        if sum(one.bytes for one in candidates) <= memory or not waiting:
            break
        largest = max(waiting, key=lambda one: one.bytes)
        tried.add(id(largest.loop))
        before = [*program.values], [*program.root.body]
        try:
            turns = _Chunks(program, largest).write()
            program.notes.append(f"checkpoints: {turns}, to save memory")
        except _Decline as why:
            program.values[:], program.root.body = before
            program.notes.append(f"no checkpoints: {why}")
    if len(program.values) > first:
        program.exact = False
        describe_orders(program, first)
        remove_dead(program)


def _most(program: Program) -> int:
    """Return the bytes of all arrays that a program makes outside of loops' bodies."""
    made = [
        out
        for step in program.root.body
        for out in given(step)
        if isinstance(step, Loop) or not step.views
    ]
    return sum(_size(program.values[out]) for out in made if program.values[out].shape)


def _stack_what_turns_start_from(program: Program) -> None:
    """Stack carried values: what they are at first, joined to the stack of the next ones, is one.

    So the rows of both stacks belong to the same turns.
    """
    body = program.root.body
    makers = {step.out: step for step in body if isinstance(step, Instr)}
    loops = {out: step for step in body if isinstance(step, Loop) for out in step.stacks.values()}
    known: dict[int, Ref] = {}
    names: dict[int, Ref] = {}
    for at, step in enumerate(body):
        if not isinstance(step, Instr) or step.op is not CONCATENATE or len(step.args[0]) != 2:
            continue
        one, other = [makers.get(part.index) for part in step.args[0]]
        for rows, ends, way in ((one, other, -1), (other, one, 1)):
            found = rows is not None and ends is not None and _carry_of(rows, ends, way, loops)
            if not found or len(step.args) > 1 or dict(step.kw).get("axis", 0) != 0:
                continue
            loop, carry = found
            if carry.value not in known:
                value = program.values[carry.value]
                kept = program.new(value)
                loop.body.append(Instr(copy, "copy", (Ref(carry.value),), (), kept.index))
                stack = Value((loop.turns, *value.shape), value.dtype, is_ndarray=True)
                known[carry.value] = program.new(stack)
                loop.stacks[kept.index] = known[carry.value].index
            count = program.values[step.out].shape[0]
            key = slice(count) if way > 0 else slice(count - 1, None, -1)
            args = (known[carry.value], key)
            names[step.out] = program.new(program.values[step.out])
            out = names[step.out].index
            body[at] = Instr(getitem, "getitem", args, (), out, views=True, line=step.line)
    if names:

        def renamed(leaf: Any) -> Any:
            return names.get(leaf.index, leaf) if type_of(leaf) is Ref else leaf

        root = program.root
        root.body = [changed(step, renamed) for step in body]
        if root.result is not None:
            root.result = Result(mapped(root.result.leaves, renamed), root.result.tree)


def _carry_of(
    rows: Instr, ends: Instr, way: int, loops: dict[int, Loop]
) -> tuple[Loop, Carry] | None:
    """Return a loop and its carry if `rows` are all up to some turn and `ends` is before them."""
    if (
        rows.op is not GETITEM
        or ends.op not in (STACK, ARRAY)
        or not isinstance(rows.args[1], SLICE)
    ):
        return None
    stack: int = rows.args[0].index
    loop = loops.get(stack)
    if loop is None:
        return None
    turns = range(*rows.args[1].indices(loop.turns))
    if (
        turns.step != way
        or 0 not in (turns[0], turns[-1])
        or turns[-1 if way > 0 else 0] >= (loop.turns - 1)
    ):
        return None
    for carry in loop.carries:
        if loop.stacks.get(carry.next) == stack and ends.args[0] == [carry.first]:
            return loop, carry
    return None


class _Candidate(NamedTuple):
    """A loop with stacks that a later loop reads backwards."""

    loop: Loop
    backward: Loop
    rows: dict[int, _Rows]
    """By value: the rows of stacks, and of what is computed row by row."""
    bytes: int


def _candidates(program: Program) -> list[_Candidate]:
    found: list[_Candidate] = []
    body = program.root.body
    for at, step in enumerate(body):
        if isinstance(step, Loop) and step.stacks and step.turns >= FEWEST:
            one = _candidate(program, step, body[at + 1 :])
            if one is not None:
                found.append(one)
    return found


def _candidate(program: Program, loop: Loop, after: Sequence[Instr | Loop]) -> _Candidate | None:
    values = program.values
    rows = {out: _Rows(0, 1, loop.turns) for out in loop.stacks.values()}
    backward: Loop | None = None
    late: set[int] = set()
    total = sum(_size(values[out]) for out in loop.stacks.values())
    for step in after:
        if isinstance(step, Loop):
            mine = {rows[stack.index] for stack in step.reads.values() if stack.index in rows}
            if backward is None and len(mine) == 1 and next(iter(mine)).step < 0:
                backward = step
                rows |= dict.fromkeys(step.stacks.values(), next(iter(mine)))
                late.difference_update(step.stacks.values())
                continue
        elif not late.intersection(used(step)):
            one = _rows_of(step, rows, values)
            if one is not None:
                rows[step.out] = one
                total += 0 if step.views else _size(values[step.out])
                continue
        if backward is not None:
            late.update(given(step))
    return None if backward is None else _Candidate(loop, backward, rows, total)


def _size(value: Value) -> int:
    return math.prod(value.shape) * int(value.dtype.itemsize)


def _rows_of(step: Instr, rows: dict[int, _Rows], values: Sequence[Value]) -> _Rows | None:
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


class _Chunks:
    """Rewrites a program, with a loop and its backward loop cut into chunks."""

    def __init__(self, program: Program, found: _Candidate) -> None:
        self.program = program
        self.values = program.values
        self.loop, self.backward, self.rows = found.loop, found.backward, found.rows
        self.makers: dict[int, Instr] = {
            step.out: step
            for step in program.root.body
            if isinstance(step, Instr) and step.out in self.rows
        }
        self.body: list[Instr | Loop] = []
        self.known: dict[tuple[str, int], Ref] = {}
        """By part and value: the rows of its turns."""
        self.reads_rows: _Rows = next(
            self.rows[stack.index]
            for stack in self.backward.reads.values()
            if stack.index in self.rows
        )
        self._choose(found)

    def _choose(self, found: _Candidate) -> None:
        """Choose the turns that are cut into chunks, and the length of a chunk."""
        start, end = 0, self.loop.turns - 1
        self.sums: list[Instr] = []
        self.whole: set[int] = set()
        """The values that are needed as a whole."""
        for rows in self.rows.values():
            start, end = max(start, rows.least), min(end, rows.end)
        results = self.program.root.result
        self.whole |= {*refs(results.leaves if results else ())} & self.rows.keys()
        for step in self.program.root.body:
            mine = [index for index in used(step) if index in self.rows]
            if not mine or step is self.backward or (set(given(step)) & self.rows.keys()):
                continue
            turn = self._turn(step)
            if turn is not None and 2 * turn >= self.loop.turns:
                end = min(end, turn)
            elif turn is not None:
                start = max(start, turn + 1)
            elif isinstance(step, Instr) and self._is_sum(step):
                self.sums.append(step)
            else:
                self.whole.update(mine)
        carried = sum(_size(self.values[carry.value]) for carry in self.loop.carries)
        stacked = sum(_size(self.values[out]) for out in self.loop.stacks) or 1
        turns = end - start
        self.length: int = max(1, min(turns, round(math.sqrt(turns * (carried or 1) / stacked))))
        self.count: int = turns // self.length
        self.end: int = end
        self.start: int = end - self.count * self.length
        if self.count < 2 or 2 * turns < self.loop.turns:
            raise _Decline("most turns of a loop are read one by one")
        outside = sum(_size(self.values[out]) for out in self.whole)
        if outside > WHOLE * found.bytes:
            raise _Decline("what a loop computes in its turns is needed as a whole")

    def _turn(self, step: Instr | Loop) -> int | None:
        """Return the turn whose row an instruction takes out of a stack; None for others."""
        if not isinstance(step, Instr) or step.op is not GETITEM or type(step.args[1]) is not int:
            return None
        rows = self.rows[step.args[0].index]
        place: int = step.args[1] % rows.number
        return rows.first + rows.step * place

    def _is_sum(self, step: Instr) -> bool:
        """Tell if an instruction adds up the rows of a stack, or all of its elements."""
        if step.op is not ADD_REDUCE or {*dict(step.kw)} - {"axis"}:
            return False
        of, *rest = step.args
        axis: Any = rest[0] if rest else dict(step.kw).get("axis", 0)
        place: int = of.index
        source, value = self.values[place], self.values[step.out]
        is_whole = axis is None or (axis == 0 and type(axis) is int)
        return is_whole and bool(source.dtype == value.dtype)

    # The new program ------------------------------------------------------------------------------

    def write(self) -> str:
        """Write the new body; return what was done."""
        steps, self.program.root.body = self.program.root.body, self.body
        is_done = False
        for step in steps:
            if step is self.loop:
                self._forward()
            elif step is self.backward:
                self._backward()
                is_done = True
            elif isinstance(step, Instr) and step.out in self.rows:
                continue
            else:
                self._other(step, is_done=is_done)
        return (
            f"{self.count} chunks of {self.length} turns, of {self.loop.turns} turns, "
            "are computed twice"
        )

    def _other(self, step: Instr | Loop, *, is_done: bool) -> None:
        """Write a step outside of both loops."""
        mine = [index for index in used(step) if index in self.rows]
        turn = self._turn(step) if mine else None
        if turn is not None:
            assert isinstance(step, Instr)
            part = TAIL if turn >= self.end else HEAD
            index: int = step.args[0].index
            first, _ = self.rows[index].within(*self._turns(part))
            place = step.args[1] % self.rows[index].number - first
            source = self._part(index, part)
            assert source is not None
            self.body.append(step.on((source, place)))
        elif mine and not is_done:
            raise _Decline("what a loop computes in its turns is needed before the backward pass")
        elif step not in self.sums:
            self.body.append(step)

    def _turns(self, part: str) -> tuple[int, int]:
        return (0, self.start) if part == HEAD else (self.end, self.loop.turns)

    def emit(self, fn: Any, name: str, args: tuple[Any, ...], value: Value, **more: Any) -> Ref:
        out = self.program.new(value)
        body: list[Instr | Loop] = more.pop("into", self.body)
        kw = more.pop("kw", ())
        body.append(Instr(fn, name, args, kw, out.index, **more))
        return out

    def rows_of(self, source: Ref, key: Any) -> Ref:
        """Take rows of an array."""
        value = self.values[source.index]
        if key.indices(value.shape[0]) == (0, value.shape[0], 1):
            return source
        count = len(range(*key.indices(value.shape[0])))
        made = value._replace(shape=(count, *value.shape[1:]), order="?")
        return self.emit(getitem, "getitem", (source, key), made, views=True)

    def in_chunks(self, source: Ref, first: int, *, is_forward: bool) -> Ref:
        """Return rows of an array from a place on as one array per chunk, in the order of turns."""
        size = self.count * self.length
        rows = self.rows_of(source, slice(first, first + size))
        value = self.values[source.index]
        shape = (self.count, self.length, *value.shape[1:])
        made = value._replace(shape=shape, order="?")
        chunks = self.emit(np.reshape, "reshape", (rows, shape), made, views=True)
        return chunks if is_forward else self.rows_of(chunks, slice(None, None, -1))

    # The forward pass -----------------------------------------------------------------------------

    def _forward(self) -> None:
        """Write the forward loop: the first turns, the chunks, and the last turns."""
        loop = self.loop
        firsts = [carry.first for carry in loop.carries]
        if self.start:
            firsts = self._some_turns(loop, (0, self.start), firsts, HEAD)
        outer = Loop(self.count)
        inner = _Again(self, loop, self.length)
        for carry, first in zip(loop.carries, firsts, strict=True):
            inner.begin(carry, self._carried(outer, carry, first))
        for index, stack in loop.reads.items():
            chunks = self.in_chunks(stack, self.start, is_forward=True)
            inner.read(index, self.part_of(outer, chunks))
        self.checkpoints: list[Ref] = []
        for carry in outer.carries:
            kept = self.emit(
                *(copy, "copy", (Ref(carry.value),), self.values[carry.value]),
                into=outer.body,
            )
            value = self.values[kept.index]
            stack = Value((self.count, *value.shape), value.dtype, is_ndarray=True)
            self.checkpoints.append(self.program.new(stack))
            outer.stacks[kept.index] = self.checkpoints[-1].index
        ends = [inner.final(carry.next) for carry in loop.carries]
        outer.body.append(inner.made)
        self._hand_on(outer, ends)
        firsts = [self._final(outer, end) for end in ends]
        self.body.append(outer)
        self._some_turns(loop, (self.end, loop.turns), firsts, TAIL, is_last=True)

    def _some_turns(
        self,
        loop: Loop,
        turns: tuple[int, int],
        firsts: Sequence[Any],
        part: str,
        *,
        is_last: bool = False,
    ) -> list[Any]:
        """Write a loop of some turns, whose stacks are kept; return what it carries to others."""
        start, end = turns
        made = _Again(self, loop, end - start)
        for carry, first in zip(loop.carries, firsts, strict=True):
            made.begin(carry, first)
        for index, stack in loop.reads.items():
            rows = None if stack.index not in self.rows else self._part(stack.index, part)
            made.read(index, rows or self.rows_of(stack, slice(start, end)))
        for index, out in loop.stacks.items():
            self.known[part, out] = made.stack(index)
        if is_last:
            for index, out in loop.finals.items():
                made.made.finals[made.names[index]] = out
            self.body.append(made.made)
            return []
        ends = [made.final(carry.next) for carry in loop.carries]
        self.body.append(made.made)
        return ends

    def _carried(self, outer: Loop, carry: Carry, first: Any) -> Ref:
        """Carry a value through a loop over chunks; it is completed by `_hand_on`."""
        before = self.program.new(self.values[carry.value]).index
        outer.carries.append(Carry(before, first, -1))
        return Ref(before)

    def _hand_on(self, outer: Loop, ends: Sequence[Ref]) -> None:
        outer.carries = [
            carry._replace(next=end.index) for carry, end in zip(outer.carries, ends, strict=True)
        ]

    def _final(self, outer: Loop, end: Ref) -> Ref:
        final = self.program.new(self.values[end.index])
        outer.finals[end.index] = final.index
        return final

    def part_of(self, loop: Loop, stack: Ref) -> Ref:
        """Return the value in a loop that is its part of a stack."""
        for index, known in loop.reads.items():
            if known == stack:
                return Ref(index)
        value = self.values[stack.index]
        shape = value.shape[1:]
        order = "?" if shape else "C"
        part = self.program.new(Value(shape, value.dtype, bool(shape), order=order)).index
        loop.reads[part] = stack
        return Ref(part)

    # The backward pass ----------------------------------------------------------------------------

    def _backward(self) -> None:
        """Write the backward loop: the last turns, the chunks, the first turns, and all sums."""
        loop, rows = self.backward, self.reads_rows
        firsts: list[Any] = [carry.first for carry in loop.carries]
        before = rows.within(*self._turns(TAIL))
        after = rows.within(*self._turns(HEAD))
        if before[1]:
            firsts = self._some_turns(loop, (0, before[1]), firsts, TAIL)
        place = before[1]
        outer = Loop(self.count)
        chunk = _Chunk(self, outer)
        inner = _Again(self, loop, self.length)
        for carry, first in zip(loop.carries, firsts, strict=True):
            inner.begin(carry, self._carried(outer, carry, first))
        for index, stack in loop.reads.items():
            if stack.index in self.rows:
                inner.read(index, chunk.rows(stack.index))
            else:
                chunks = self.in_chunks(stack, place, is_forward=True)
                inner.read(index, self.part_of(outer, chunks))
        for index, out in loop.stacks.items():
            chunk.names[out] = inner.stack(index)
        ends = [inner.final(carry.next) for carry in loop.carries]
        chunk.write_forward()
        outer.body.append(inner.made)
        totals = [chunk.added(step) for step in self.sums]
        wholes = {out: chunk.stacked(out) for out in sorted(self.whole)}
        self._hand_on(outer, [*ends, *(after for _, after in totals)])
        is_last = not after[1]
        if is_last:
            for index, out in loop.finals.items():
                outer.finals[inner.final_of(index).index] = out
        else:
            firsts = [self._final(outer, end) for end in ends]
        sums = [self._final(outer, after) for _, after in totals]
        self.body.append(outer)
        if not is_last:
            turns = (place + self.count * self.length, loop.turns)
            self._some_turns(loop, turns, firsts, HEAD, is_last=True)
        for step, total in zip(self.sums, sums, strict=True):
            self._complete(step, total)
        for out, chunks in wholes.items():
            self._join(out, chunks)

    def _complete(self, step: Instr, total: Ref) -> None:
        """Add the first and the last turns to a sum over the chunks."""
        value = self.values[step.out]
        for part in (TAIL, HEAD):
            rows = self._part(step.args[0].index, part)
            if rows is not None:
                more = self.program.new(value)
                self.body.append(replace(step.on((rows, *step.args[1:])), out=more.index))
                total = self.emit(np.add, "add", (total, more), value)
        self.body.append(Instr(copy, "copy", (total,), (), step.out))

    def _join(self, out: int, chunks: Ref) -> None:
        """Put together a value that is needed as a whole."""
        value, rows = self.values[out], self.rows[out]
        if rows.step > 0:  # the chunks come with the last first
            chunks = self.rows_of(chunks, slice(None, None, -1))
        shape = (self.count * self.length, *value.shape[1:])
        made = value._replace(shape=shape, order="?")
        middle = self.emit(np.reshape, "reshape", (chunks, shape), made, views=True)
        ends = [self._part(out, HEAD), middle, self._part(out, TAIL)]
        parts = [one for one in ends[:: rows.step] if one is not None]
        axis = (("axis", 0),)
        self.body.append(Instr(np.concatenate, "concatenate", (parts,), axis, out))

    # The first and the last turns -----------------------------------------------------------------

    def _part(self, index: int, part: str) -> Ref | None:
        """Return the rows of a value that belong to the first or the last turns; None for none."""
        if (part, index) in self.known:
            return self.known[part, index]
        rows = self.rows[index]
        first, count = rows.within(*self._turns(part))
        if not count:
            return None
        step = self.makers[index]
        made = self.values[index]
        made = made._replace(shape=(count, *made.shape[1:]), order="?")
        if step.op is GETITEM:
            source: int = step.args[0].index
            mine = self.rows[source]
            begin, _ = mine.within(*self._turns(part))
            turn = rows.first + rows.step * first
            place = (turn - mine.first) * mine.step - begin
            way = rows.step * mine.step
            stop = place + way * count
            key = slice(place, None if stop < 0 else stop, way)
            args = (self._part(source, part), _with_rows(step.args[1], key))
        else:

            def change(leaf: Any) -> Any:
                return self._operand(leaf, index, part, first, count)

            args = _row_operands(step, count, change)
        found = self.program.new(made)
        self.body.append(replace(step.on(args), out=found.index))
        self.known[part, index] = found
        return found

    def _operand(self, leaf: Any, index: int, part: str, first: int, count: int) -> Any:
        if type_of(leaf) is not Ref:
            return leaf
        if leaf.index in self.rows:
            return self._part(leaf.index, part)
        if not self.is_by_rows(leaf.index, index):
            return leaf
        return self.rows_of(leaf, slice(first, first + count))

    def is_by_rows(self, operand: int, index: int) -> bool:
        """Tell if an operand from outside has a row for each row of a value."""
        shape, of = self.values[operand].shape, self.values[index].shape
        return len(shape) == len(of) and shape[0] == of[0]


def _with_rows(key: Any, rows: Any) -> Any:
    """Return a key that begins with another slice."""
    return (rows, *key[1:]) if isinstance(key, TUPLE) else rows


def _row_operands(step: Instr, count: int, change: Any) -> tuple[Any, ...]:
    """Return the arguments of an instruction on fewer rows."""
    source, *rest = changed(step, change).args
    if step.op is RESHAPE:
        return (source, (count, *rest[0][1:]))
    return (source, *rest)


class _Again:
    """A copy of a loop, with other turns."""

    def __init__(self, chunks: _Chunks, loop: Loop, turns: int) -> None:
        self.values, self.new = chunks.values, chunks.program.new
        self.made = Loop(turns)
        self.names: dict[int, int] = {}
        for index in loop.reads:
            self._name(index)
        for carry in loop.carries:
            self._name(carry.value)
        self.made.body = [self._copied(step) for step in loop.body]

    def _name(self, index: int) -> int:
        self.names[index] = self.new(self.values[index]).index
        return self.names[index]

    def _renamed(self, leaf: Any) -> Any:
        if type_of(leaf) is not Ref:
            return leaf
        number: int = leaf.index
        return Ref(self.names.get(number, number))

    def _copied(self, step: Instr | Loop) -> Instr | Loop:
        if isinstance(step, Instr):
            made: Instr = changed(step, self._renamed)
            return replace(made, out=self._name(step.out))
        reads = {self._name(index): self._renamed(one) for index, one in step.reads.items()}
        firsts = [self._renamed(carry.first) for carry in step.carries]
        before = [self._name(carry.value) for carry in step.carries]
        body = [self._copied(one) for one in step.body]
        carries = [
            Carry(value, first, self.names[carry.next])
            for value, first, carry in zip(before, firsts, step.carries, strict=True)
        ]
        stacks = {self.names[index]: self._name(out) for index, out in step.stacks.items()}
        finals = {self.names[index]: self._name(out) for index, out in step.finals.items()}
        return Loop(step.turns, body, carries, reads, stacks, finals)

    def begin(self, carry: Carry, first: Any) -> None:
        """Set what a carried value is at first."""
        made = Carry(self.names[carry.value], first, self.names[carry.next])
        self.made.carries.append(made)

    def read(self, index: int, stack: Ref) -> None:
        """Set the stack that a value is read from."""
        self.made.reads[self.names[index]] = stack

    def stack(self, index: int) -> Ref:
        """Stack a value of the body."""
        value = self.values[index]
        made = self.new(Value((self.made.turns, *value.shape), value.dtype, is_ndarray=True))
        self.made.stacks[self.names[index]] = made.index
        return made

    def final(self, index: int) -> Ref:
        """Return the value of the last turn."""
        made = self.new(self.values[index])
        self.made.finals[self.names[index]] = made.index
        return made

    def final_of(self, index: int) -> Ref:
        """Return the value of the last turn, which may be handed on already."""
        known = self.made.finals.get(self.names[index])
        return self.final(index) if known is None else Ref(known)


class _Chunk:
    """The rows of one chunk of the backward loop."""

    def __init__(self, chunks: _Chunks, outer: Loop) -> None:
        self.chunks, self.outer = chunks, outer
        self.values = chunks.values
        self.names: dict[int, Ref] = {}
        self.forward = _Again(chunks, chunks.loop, chunks.length)
        self.is_written: bool = False
        self._waiting: list[Instr | Loop] = []
        loop = chunks.loop
        for carry, kept in zip(loop.carries, chunks.checkpoints, strict=True):
            last_first = chunks.rows_of(kept, slice(None, None, -1))
            self.forward.begin(carry, chunks.part_of(outer, last_first))
        for index, stack in loop.reads.items():
            rows = chunks.in_chunks(stack, chunks.start, is_forward=False)
            self.forward.read(index, chunks.part_of(outer, rows))

    def write_forward(self) -> None:
        """Write the forward loop, and then what reads its stacks."""
        self.outer.body += [self.forward.made, *self._waiting]
        self.is_written = True

    def _into(self) -> list[Instr | Loop]:
        return self.outer.body if self.is_written else self._waiting

    def rows(self, index: int) -> Ref:
        """Return the rows of a value that belong to the chunk."""
        if index in self.names:
            return self.names[index]
        chunks = self.chunks
        step = chunks.makers.get(index)
        if step is None:
            body = next(one for one, out in chunks.loop.stacks.items() if out == index)
            self.names[index] = self.forward.stack(body)
            return self.names[index]
        if step.op is GETITEM:
            source: int = step.args[0].index
            way = chunks.rows[index].step * chunks.rows[source].step
            args = (self.rows(source), _with_rows(step.args[1], slice(None, None, way)))
            if args[1] == slice(None, None, 1):
                self.names[index] = args[0]
                return args[0]
        else:

            def change(leaf: Any) -> Any:
                return self._operand(leaf, index)

            args = _row_operands(step, chunks.length, change)
        value = self.values[index]
        made = value._replace(shape=(chunks.length, *value.shape[1:]), order="?")
        found = chunks.program.new(made)
        self._into().append(replace(step.on(args), out=found.index))
        self.names[index] = found
        return found

    def _operand(self, leaf: Any, index: int) -> Any:
        chunks = self.chunks
        if type_of(leaf) is not Ref:
            return leaf
        if leaf.index in chunks.rows:
            return self.rows(leaf.index)
        if not chunks.is_by_rows(leaf.index, index):
            return leaf
        rows = chunks.rows[index]
        first, _ = rows.within(chunks.start, chunks.end)
        parts = chunks.in_chunks(leaf, first, is_forward=rows.step < 0)
        return chunks.part_of(self.outer, parts)

    def added(self, step: Instr) -> tuple[Ref, Ref]:
        """Add a sum over the rows of each chunk; return its values before and after a chunk."""
        chunks, value = self.chunks, self.values[step.out]
        first: Any = value.dtype.type(0)
        if value.shape:
            first = chunks.emit(zeros, "zeros", (value.shape, value.dtype), value)
        before = chunks.program.new(value).index
        self.outer.carries.append(Carry(before, first, -1))
        amount = chunks.program.new(value)
        rows = self.rows(step.args[0].index)
        self._into().append(replace(step.on((rows, *step.args[1:])), out=amount.index))
        after = chunks.emit(np.add, "add", (Ref(before), amount), value, into=self._into())
        return Ref(before), after

    def stacked(self, index: int) -> Ref:
        """Stack the rows of all chunks."""
        rows = self.rows(index)
        value = self.values[rows.index]
        shape = (self.chunks.count, *value.shape)
        made = self.chunks.program.new(Value(shape, value.dtype, is_ndarray=True))
        self.outer.stacks[rows.index] = made.index
        return made
