"""Programs taken apart: what is the same at every length, and the numbers that vary."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from operator import is_
from typing import TYPE_CHECKING, Any

from gradwrap.compiler.extrapolating.sizes import Declined
from gradwrap.compiler.ir.program import (
    NUMBER,
    Block,
    Carry,
    Constant,
    Instr,
    Loop,
    Ref,
    Value,
    mapped,
    token,
)
from gradwrap.core.values.dynamic import LIST, SLICE, TUPLE, type_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwrap.compiler.ir.program import Program

INTEGER, FLOAT, ARRAY = "integer", "float", "array"
"""The kinds of numbers that vary."""


class Walk:
    """Copies a program; each of its numbers passes through `change`, in a fixed order.

    `skeleton` lists all the rest, with the values numbered in the order in which they appear.
    """

    def __init__(self, change: Callable[[str, Any], Any]) -> None:
        self._change = change
        self.skeleton: list[Any] = []
        self._numbers: dict[int, int] = {}

    def program(self, program: Program) -> Program:
        """Copy a program without branches."""
        if program.root.guard is not None or program.root.result is None:
            raise Declined("it branches on values")
        self._values = [*program.values]
        for index in program.inputs:
            self._define(index)
        body = [self._step(step) for step in program.root.body]
        result = program.root.result
        leaves = self._nest(result.leaves)
        used = [index for index in self._numbers if index in program.constants]
        constants = {index: self._constant(index, program.constants[index]) for index in used}
        return replace(
            program,
            values=self._values,
            constants=constants,
            root=Block(body, result=result._replace(leaves=leaves)),
            notes=[],
        )

    def _number(self, index: int) -> int:
        return self._numbers.setdefault(index, len(self._numbers))

    def _define(self, index: int) -> None:
        value: Value = self._values[index]
        self.skeleton.append((self._number(index), len(value.shape), value[1:]))
        if value.shape:
            shape = tuple([self._change(INTEGER, length) for length in value.shape])
            if shape != value.shape:
                self._values[index] = value._replace(shape=shape)

    def _constant(self, index: int, constant: Constant) -> Constant:
        self.skeleton.append((constant.by_reference, constant.name))
        self._define(index)
        if constant.by_reference:
            return constant
        return constant._replace(array=self._change(ARRAY, constant.array))

    def _step(self, step: Instr | Loop) -> Instr | Loop:
        if isinstance(step, Loop):
            return self._loop(step)
        self.skeleton.append((step.name, step.fn, step.views, step.copied, step.line))
        args, kw = self._nest(step.args), self._nest(step.kw)
        self._define(step.out)
        is_same = args is step.args and kw is step.kw
        return step if is_same else step.on(args, kw=kw)

    def _loop(self, loop: Loop) -> Loop:
        self.skeleton.append((len(loop.body), len(loop.carries), len(loop.reads)))
        turns: int = self._change(INTEGER, loop.turns)
        count = self._leaf(loop.count)
        carries: list[Carry] = []
        for carry in loop.carries:
            carries.append(carry._replace(first=self._leaf(carry.first)))
            self._define(carry.value)
        reads: dict[int, Any] = {}
        for index, stack in loop.reads.items():
            reads[index] = self._leaf(stack)
            self._define(index)
        body = [self._step(step) for step in loop.body]
        self.skeleton.append([self._number(carry.next) for carry in loop.carries])
        for table in (loop.stacks, loop.finals):
            self.skeleton.append([self._number(index) for index in table])
            for out in table.values():
                self._define(out)
        return Loop(turns, body, carries, reads, dict(loop.stacks), dict(loop.finals), count)

    def _nest(self, nest: Any) -> Any:
        """Return a nest with its numbers changed; the nest itself if none of them differs."""
        if isinstance(nest, (TUPLE, LIST)):
            self.skeleton.append((type_of(nest), len(nest)))
            parts = [self._nest(part) for part in nest]
            return nest if all(map(is_, parts, nest)) else type_of(nest)(parts)
        if not isinstance(nest, SLICE):
            return self._leaf(nest)
        made = mapped(nest, self._leaf)
        if made == nest:
            return nest
        return slice(made.start, None, made.step) if _goes_to_the_first(nest, made) else made

    def _leaf(self, leaf: Any) -> Any:
        kind = type_of(leaf)
        if kind is Ref:
            index: int = leaf.index
            self.skeleton.append(self._number(index))
            return leaf
        if kind is int:
            self.skeleton.append(kind)
            number: int = self._change(INTEGER, leaf)
            return leaf if number == leaf else int(number)
        what = FLOAT if kind is float else ""
        if isinstance(leaf, NUMBER):
            what = {"i": INTEGER, "u": INTEGER, "f": FLOAT}.get(leaf.dtype.kind, "")
        if not what:
            self.skeleton.append(token(leaf))
            return leaf
        self.skeleton.append(kind)
        plain = int(leaf) if what == INTEGER else float(leaf)
        return kind(self._change(what, plain))


def _goes_to_the_first(before: slice, after: slice) -> bool:
    """Tell if a slice ends before element 0 at other lengths, where -1 would be the last one."""
    numbers: Any = (before.stop, after.stop, after.step)
    return all(type_of(one) is int for one in numbers) and (
        numbers[0] >= 0 and numbers[1] == -1 and numbers[2] < 0
    )


def taken(program: Program) -> tuple[list[Any], list[tuple[str, Any]]]:
    """Return what is the same at every length, and the numbers with their kinds."""
    found: list[tuple[str, Any]] = []

    def change(kind: str, number: Any) -> Any:
        found.append((kind, number))
        return number

    walk = Walk(change)
    walk.program(program)
    return walk.skeleton, found


def without_numbers(note: str) -> str:
    """Return a note with its numbers left out."""
    return "".join("#" if is_number else part for is_number, part in _parts(note))


def numbers_in(note: str) -> list[int]:
    """Return the numbers in a note."""
    return [int(part) for is_number, part in _parts(note) if is_number]


def with_numbers(note: str, numbers: list[int]) -> str:
    """Return a note with other numbers."""
    waiting = iter(numbers)
    return "".join(str(next(waiting)) if is_number else part for is_number, part in _parts(note))


def _parts(note: str) -> list[tuple[bool, str]]:
    """Return a note in parts, each with whether it is a number."""
    return [(is_number, "".join(part)) for is_number, part in groupby(note, str.isdecimal)]
