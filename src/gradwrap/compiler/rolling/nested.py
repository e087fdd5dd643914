"""Loops as instructions, while loops around them are looked for.

A loop becomes an instruction named `loop` whose `fn` is a `Nested`; the instructions named `item`
behind it take its outputs. What the loop reads are its arguments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.ir.operations import ITEM
from gradwrap.compiler.ir.program import (
    UFUNC,
    Instr,
    Loop,
    Ref,
    Value,
    changed,
    item,
    mapped,
    perform,
)
from gradwrap.compiler.passes.forwarding import NUMBER, token
from gradwrap.core.values.dynamic import TUPLE, type_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

NO_VALUE = Value((), None, is_ndarray=False, is_tuple=True)
"""The description of the outputs of a loop together."""


def is_numeric(leaf: Any) -> bool:
    """Tell if a leaf is a number of Python's or NumPy's, and no truth value."""
    return isinstance(leaf, (int, float, complex, NUMBER)) and not isinstance(leaf, bool)


class Nested:
    """A loop as a function: `loop` reads argument `n` as value `-1 - n`, and gives output `n`."""

    __slots__ = ("dtypes", "key", "loop")

    def __init__(self, loop: Loop, values: Sequence[Value], dtypes: dict[int, Any]) -> None:
        self.loop: Loop = loop
        self.dtypes: dict[int, Any] = dtypes
        """By argument: the dtype that a number of Python's has in the operation."""
        self.key: Any = _form(loop, values, {})
        """What two loops agree in that do the same with other arguments."""

    def __call__(self, *args: Any) -> tuple[Any, ...]:
        """Perform the loop."""
        known = {-1 - number: arg for number, arg in enumerate(args)}
        perform([self.loop], known)
        return tuple(known[out] for out in self.loop.outs)


def _form(loop: Loop, values: Sequence[Value], numbers: dict[int, int]) -> Any:
    """Return all of a loop, with its body values numbered in order."""

    def number(index: int) -> tuple[int, Value]:
        return numbers.setdefault(index, len(numbers)), values[index]

    def form(nest: Any) -> Any:
        return token(mapped(nest, lambda leaf: _renamed(leaf, numbers)))

    carries = [(form(carry.first), number(carry.value)) for carry in loop.carries]
    reads = [(form(stack), number(index)) for index, stack in loop.reads.items()]
    body: list[Any] = []
    for step in loop.body:
        if isinstance(step, Loop):
            body += [_form(step, values, numbers), *map(number, step.outs)]
        else:
            body.append((step.name, form(step.args), form(step.kw), number(step.out)))
    handed_on = [numbers[carry.next] for carry in loop.carries]
    outs = [[numbers[index] for index in found] for found in (loop.stacks, loop.finals)]
    return (loop.turns, *map(tuple, (carries, reads, body, handed_on, *outs)))


def _renamed(leaf: Any, numbers: dict[int, int]) -> Any:
    return Ref(numbers.get(leaf.index, leaf.index)) if type(leaf) is Ref else leaf


def with_key(instr: Instr, change: Callable[[int], Any]) -> tuple[Any, ...]:
    """Return the arguments of an access with the integers of its key changed."""
    source, key, *rest = instr.args
    parts: Any = key if isinstance(key, TUPLE) else (key,)
    new = tuple(change(part) if type(part) is int else part for part in parts)
    return (source, new if isinstance(key, TUPLE) else new[0], *rest)


class _Arguments:
    """Finds the arguments of a loop: what it reads, numbers, and the integers of its keys.

    Numbers may differ from one turn of an outer loop to the next.
    """

    def __init__(self, values: Sequence[Value]) -> None:
        self.values = values
        self.found: list[Any] = []
        self.dtypes: dict[int, Any] = {}
        self.known: dict[int, Ref] = {}
        """By value: the name that it has in the loop."""

    def template(self, loop: Loop) -> Loop:
        """Return a loop that reads the arguments by their numbers."""
        self.known.update({index: Ref(index) for index in loop.found})
        reads = {index: self.leaf(stack) for index, stack in loop.reads.items()}
        carries = [carry._replace(first=self.leaf(carry.first)) for carry in loop.carries]
        carries = [
            carry
            if type(carry.first) is Ref
            else carry._replace(first=self.new(carry.first, self.values[carry.value].dtype))
            for carry in carries
        ]
        body: list[Instr | Loop] = []
        for step in loop.body:
            if isinstance(step, Loop):
                body.append(self.template(step))
                self.known.update({index: Ref(index) for index in step.outs})
            else:
                body.append(self.instr(step))
                self.known[step.out] = Ref(step.out)
        return Loop(loop.turns, body, carries, reads, dict(loop.stacks), dict(loop.finals))

    def instr(self, instr: Instr) -> Instr:
        """Return an instruction of a body that reads the arguments by their numbers."""
        dtypes = [self.values[a.index].dtype if type(a) is Ref else a for a in instr.args]
        instr = changed(instr, self.leaf)
        if instr.op.has_key:
            return instr._replace(args=with_key(instr, lambda place: self.new(place, np.int64)))
        if not isinstance(instr.fn, UFUNC) or not any(map(is_numeric, instr.args)):
            return instr
        whole = np.result_type(*dtypes)
        return instr._replace(
            args=tuple(
                self.new(leaf, leaf.dtype if isinstance(leaf, NUMBER) else whole)
                if is_numeric(leaf)
                else leaf
                for leaf in instr.args
            )
        )

    def leaf(self, leaf: Any) -> Any:
        """Return the name that a leaf has in the loop."""
        if type_of(leaf) is not Ref:
            return leaf
        if leaf.index not in self.known:
            self.known[leaf.index] = self.new(leaf)
        return self.known[leaf.index]

    def new(self, leaf: Any, dtype: Any = None) -> Ref:
        """Enter an argument."""
        if dtype is not None:
            self.dtypes[len(self.found)] = np.dtype(dtype)
        self.found.append(leaf)
        return Ref(-len(self.found))


def as_operation(loop: Loop, values: Sequence[Value]) -> tuple[Nested, tuple[Any, ...]]:
    """Return a loop as a function, and the arguments that it has here."""
    arguments = _Arguments(values)
    made = arguments.template(loop)
    made.stacks = {index: number for number, index in enumerate(loop.stacks)}
    made.finals = {index: number for number, index in enumerate(loop.finals, len(loop.stacks))}
    return Nested(made, values, arguments.dtypes), tuple(arguments.found)


def as_loop(nested: Nested, args: Sequence[Any], outs: dict[int, int]) -> Loop:
    """Return the loop of a function with arguments; `outs` number those outputs that are wanted."""

    def given(leaf: Any) -> Any:
        return args[-1 - leaf.index] if type_of(leaf) is Ref and leaf.index < 0 else leaf

    loop: Loop = changed(nested.loop, given)
    loop.stacks = {index: outs[out] for index, out in loop.stacks.items() if out in outs}
    loop.finals = {index: outs[out] for index, out in loop.finals.items() if out in outs}
    return loop


def without_operations(body: Sequence[Instr | Loop]) -> list[Instr | Loop]:
    """Return a body with loops in the place of the instructions that stand for them."""
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
    """Return a body with instructions in the place of loops, whose outputs are items of theirs."""
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
