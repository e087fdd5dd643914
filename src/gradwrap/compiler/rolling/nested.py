"""Nested loops: a loop as an instruction, during the search for loops around it.

A loop becomes an instruction named `loop` whose `fn` is a `Nested`; instructions named `item`
take its outputs. The operands of the loop are its arguments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.ir.evaluate import perform
from gradwrap.compiler.ir.operations import ITEM
from gradwrap.compiler.ir.program import (
    NUMBER,
    UFUNC,
    Instr,
    Loop,
    Ref,
    Value,
    changed,
    given,
    item,
    mapped,
    token,
)
from gradwrap.core.values.dynamic import TUPLE, type_of

if TYPE_CHECKING:
    from collections.abc import Sequence

NO_VALUE = Value((), None, is_ndarray=False, is_tuple=True)
"""The description of the tuple of a loop's outputs."""


def is_numeric(leaf: Any) -> bool:
    """Tell if a leaf is a Python or NumPy number; booleans are excluded."""
    return isinstance(leaf, (int, float, complex, NUMBER)) and not isinstance(leaf, bool)


class Nested:
    """A loop as a function: value `-1 - n` in it is argument `n`, and output `n` is value `n`."""

    __slots__ = ("dtypes", "key", "loop")

    def __init__(self, loop: Loop, values: Sequence[Value], dtypes: dict[int, Any]) -> None:
        self.loop: Loop = loop
        self.dtypes: dict[int, Any] = dtypes
        """By argument: the dtype of a Python number in its operation."""
        self.key: Any = _form(loop, values, {})
        """A key that is equal for loops that differ only in their arguments."""

    def __call__(self, *args: Any) -> tuple[Any, ...]:
        """Perform the loop."""
        known = {-1 - number: arg for number, arg in enumerate(args)}
        perform([self.loop], known)
        return tuple(known[out] for out in self.loop.outs)


def _form(loop: Loop, values: Sequence[Value], numbers: dict[int, int]) -> Any:
    """Return a comparable form of a loop, with its body values numbered in order."""

    def number(index: int) -> tuple[int, Value]:
        return numbers.setdefault(index, len(numbers)), values[index]

    def leaf(one: Any) -> Any:
        return Ref(numbers.get(one.index, one.index)) if type(one) is Ref else one

    carries = [(leaf(carry.first), number(carry.value)) for carry in loop.carries]
    reads = [(leaf(stack), number(index)) for index, stack in loop.reads.items()]
    body: list[Any] = []
    for step in loop.body:
        if isinstance(step, Loop):
            body += [_form(step, values, numbers), *map(number, step.outs)]
        else:
            nests = token(mapped((step.args, step.kw), leaf))
            body.append((step.performed, nests, number(step.out)))
    handed_on = [
        [numbers[index] for index in found]
        for found in ([carry.next for carry in loop.carries], loop.stacks, loop.finals)
    ]
    return (loop.turns, *map(tuple, (carries, reads, body, *handed_on)))


class _Arguments:
    """Collects the arguments of a loop: values from outside, numbers, and integers of keys.

    Numbers may differ between the turns of an outer loop.
    """

    def __init__(self, values: Sequence[Value]) -> None:
        self.values = values
        self.found: list[Any] = []
        self.dtypes: dict[int, Any] = {}
        self.known: dict[int, Ref] = {}
        """By value: its name in the loop."""

    def template(self, loop: Loop) -> Loop:
        """Return a copy of the loop with its arguments named by position."""
        self.known.update({index: Ref(index) for index in loop.found})
        reads = {index: self.leaf(stack) for index, stack in loop.reads.items()}
        carries = [carry._replace(first=self.leaf(carry.first)) for carry in loop.carries]
        body: list[Instr | Loop] = []
        for step in loop.body:
            body.append(self.template(step) if isinstance(step, Loop) else self.instr(step))
            self.known.update({index: Ref(index) for index in given(step)})
        return Loop(loop.turns, body, carries, reads, dict(loop.stacks), dict(loop.finals))

    def instr(self, instr: Instr) -> Instr:
        """Return an instruction of the body with its arguments named by position."""
        made: Instr = changed(instr, self.leaf)
        if made.op.has_key:
            source, key, *rest = made.args
            parts = tuple(self.place(part) for part in (key if isinstance(key, TUPLE) else (key,)))
            args = (source, parts if isinstance(key, TUPLE) else parts[0], *rest)
            return made.on(args)
        if not isinstance(made.fn, UFUNC) or not any(map(is_numeric, made.args)):
            return made
        operands = [self.values[a.index].dtype if type(a) is Ref else a for a in instr.args]
        whole = np.result_type(*operands)
        return made.on(tuple(self.number(leaf, whole) for leaf in made.args))

    def leaf(self, leaf: Any) -> Any:
        """Return the name of a leaf in the loop."""
        if type_of(leaf) is not Ref:
            return leaf
        return self.known.get(leaf.index) or self.known.setdefault(leaf.index, self.new(leaf))

    def place(self, part: Any) -> Any:
        """Return the name of an integer in a key; other parts stay."""
        return self.new(part, np.dtype(np.int64)) if type(part) is int else part

    def number(self, leaf: Any, dtype: Any) -> Any:
        """Return the name of a number; other leaves stay."""
        own = leaf.dtype if isinstance(leaf, NUMBER) else dtype
        return self.new(leaf, own) if is_numeric(leaf) else leaf

    def new(self, leaf: Any, dtype: Any = None) -> Ref:
        """Add an argument, with its dtype if it is a number."""
        self.dtypes[len(self.found)] = dtype
        self.found.append(leaf)
        return Ref(-len(self.found))


def as_operation(loop: Loop, values: Sequence[Value]) -> tuple[Nested, tuple[Any, ...]]:
    """Return a loop as a function, and its arguments."""
    arguments = _Arguments(values)
    made = arguments.template(loop)
    made.stacks = {index: number for number, index in enumerate(loop.stacks)}
    made.finals = {index: number for number, index in enumerate(loop.finals, len(loop.stacks))}
    return Nested(made, values, arguments.dtypes), tuple(arguments.found)


def as_loop(nested: Nested, args: Sequence[Any], outs: dict[int, int]) -> Loop:
    """Return the loop of a function applied to arguments; `outs` maps output numbers to values."""

    def argument(leaf: Any) -> Any:
        return args[-1 - leaf.index] if type_of(leaf) is Ref and leaf.index < 0 else leaf

    loop: Loop = changed(nested.loop, argument)
    loop.stacks = {index: outs[out] for index, out in loop.stacks.items() if out in outs}
    loop.finals = {index: outs[out] for index, out in loop.finals.items() if out in outs}
    return loop


def without_operations(body: Sequence[Instr | Loop]) -> list[Instr | Loop]:
    """Return a body with the instructions named `loop` turned back into loops."""
    outs: dict[int, dict[int, int]] = {
        step.out: {} for step in body if isinstance(step, Instr) and isinstance(step.fn, Nested)
    }
    rest: list[Instr | Loop] = []
    for step in body:
        if isinstance(step, Instr) and step.op is ITEM and step.args[0].index in outs:
            outs[step.args[0].index][step.args[1]] = step.out
        else:
            rest.append(step)
    made: list[Instr | Loop] = []
    for step in rest:
        if not (isinstance(step, Instr) and isinstance(step.fn, Nested)):
            made.append(step)
        elif outs[step.out]:
            made.append(as_loop(step.fn, step.args, outs[step.out]))
    return made


def with_operations(body: Sequence[Instr | Loop], values: list[Value]) -> list[Instr]:
    """Return a body with each loop as an instruction, followed by items for its outputs."""
    made: list[Instr] = []
    for step in body:
        if isinstance(step, Instr):
            made.append(step)
            continue
        nested, args = as_operation(step, values)
        values.append(NO_VALUE)
        whole, line = len(values) - 1, step.line
        made.append(Instr(nested, "loop", args, (), whole, line=line))
        made += [
            Instr(item, "item", (Ref(whole), number), (), out, line=line)
            for number, out in enumerate(step.outs)
        ]
    return made
