"""Write instructions and copies of loops into the new program."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.ir.program import (
    Carry,
    Instr,
    Loop,
    Program,
    Ref,
    Value,
    changed,
    getitem,
)
from gradwrap.core.values.dynamic import type_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwrap.compiler.rolling.checkpoints.cut import Cut


class Writer:
    """Appends the instructions of a program whose loops are cut."""

    def __init__(self, program: Program, cut: Cut) -> None:
        self.program = program
        self.values: list[Value] = program.values
        self.cut: Cut = cut
        self.body: list[Instr | Loop] = []

    def emit(self, fn: Any, name: str, args: tuple[Any, ...], value: Value, **more: Any) -> Ref:
        """Append an instruction, and return its result."""
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
        size = self.cut.count * self.cut.length
        rows = self.rows_of(source, slice(first, first + size))
        value = self.values[source.index]
        shape = (self.cut.count, self.cut.length, *value.shape[1:])
        made = value._replace(shape=shape, order="?")
        chunks = self.emit(np.reshape, "reshape", (rows, shape), made, views=True)
        return chunks if is_forward else self.rows_of(chunks, slice(None, None, -1))


class LoopCopy:
    """A copy of a loop, with other turns."""

    def __init__(self, program: Program, loop: Loop, turns: int) -> None:
        self.values: list[Value] = program.values
        self.new: Callable[[Value], Ref] = program.new
        self.made: Loop = Loop(turns)
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
