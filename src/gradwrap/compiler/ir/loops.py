"""Loops of loops, and one turn of a loop as instructions.

In a loop, another loop is one row, named `loop`, whose `fn` is an `Inner`; the rows named `item`
after it take its outputs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradwrap.compiler.ir.evaluate import turned
from gradwrap.compiler.ir.program import (
    UFUNC,
    Cur,
    Instr,
    Loop,
    Prev,
    Ref,
    Turn,
    Value,
    item,
    mapped,
)
from gradwrap.compiler.passes.forwarding import KEYED, NUMBER, token
from gradwrap.core.values.dynamic import TUPLE, type_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gradwrap.compiler.ir.program import Row

NO_VALUE = Value((), None, is_ndarray=False, is_tuple=True)
"""The description of the outputs of a loop together."""


class Inner:
    """A loop as a function of what it reads; called, it returns the tuple of what it gives.

    Its `loop` names argument `n` as value `-1 - n`, and output `n` as value `n`.
    """

    __slots__ = ("dtypes", "key", "loop")

    def __init__(self, loop: Loop, dtypes: dict[int, Any]) -> None:
        self.loop: Loop = loop
        self.dtypes: dict[int, Any] = dtypes
        """By argument: the dtype that a number of Python's has in the operation."""
        rows = tuple(
            (
                row.fn.key if isinstance(row.fn, Inner) else row.name,
                row.value,
                token(row.args),
                token(row.kw),
            )
            for row in loop.rows
        )
        self.key: Any = (loop.turns, rows, tuple(loop.stacks), tuple(loop.finals))
        """What two loops agree in that do the same with other arguments."""

    def __call__(self, *args: Any) -> tuple[Any, ...]:
        """Perform the loop."""

        def read(leaf: Any) -> Any:
            return args[-1 - leaf.index] if type(leaf) is Ref else leaf

        found = turned(self.loop, read)
        return tuple(found[out] for out in self.loop.outs)


def is_numeric(leaf: Any) -> bool:
    """Tell if a leaf is a number of Python's or NumPy's, and no truth value."""
    return isinstance(leaf, (int, float, complex, NUMBER)) and not isinstance(leaf, bool)


def with_key(row: Instr | Row, change: Any) -> tuple[Any, ...]:
    """Return the arguments of an access with the integers of its key changed."""
    source, key, *rest = row.args
    is_tuple = type_of(key) is TUPLE  # an operand of a loop is none
    new = tuple(
        change(part) if type(part) is int else part for part in (key if is_tuple else (key,))
    )
    return (source, new if is_tuple else new[0], *rest)


def as_operation(loop: Loop, values: Sequence[Value]) -> tuple[Inner, tuple[Any, ...]]:
    """Return a loop as a function, and the arguments that it has here.

    What it reads are its arguments, and so are the numbers and the integers of keys in it, which
    may differ from one turn of an outer loop to the next.
    """
    args: list[Any] = []
    known: dict[int, Ref] = {}
    dtypes: dict[int, Any] = {}

    def argument(leaf: Any) -> Ref:
        found = known.get(leaf.index) if type(leaf) is Ref else None
        if found is None:
            args.append(leaf)
            found = Ref(-len(args))
            if type(leaf) is Ref:
                known[leaf.index] = found
        return found

    def outside(leaf: Any) -> Any:
        kind = type_of(leaf)
        if kind is Ref:
            return leaf if leaf.index < 0 else argument(leaf)
        if kind is Turn:
            return Turn(argument(leaf.stack))
        return Prev(leaf.row, argument(leaf.init)) if kind is Prev else leaf

    def dtype_of(leaf: Any) -> Any:
        kind = type_of(leaf)
        if kind is Cur or kind is Prev:
            number: int = leaf.row
            return loop.rows[number].value.dtype
        if kind is Turn or kind is Ref:
            index: int = leaf.stack.index if kind is Turn else leaf.index
            return values[index].dtype
        return leaf

    def place(part: Any) -> Ref:
        dtypes[len(args)] = np.dtype(np.int64)
        return argument(part)

    rows: list[Row] = []
    for row in loop.rows:
        found = with_key(row, place) if row.name in KEYED else row.args
        if isinstance(row.fn, UFUNC) and any(map(is_numeric, found)):
            others = [dtype_of(leaf) for leaf in found]
            whole = np.result_type(*others)
            new: list[Any] = []
            for leaf in found:
                if is_numeric(leaf):
                    dtypes[len(args)] = leaf.dtype if isinstance(leaf, NUMBER) else whole
                new.append(argument(leaf) if is_numeric(leaf) else leaf)
            found = tuple(new)
        rows.append(row._replace(args=mapped(found, outside), kw=mapped(row.kw, outside)))
    stacks = {row: number for number, row in enumerate(loop.stacks)}
    finals = {row: number for number, row in enumerate(loop.finals, len(stacks))}
    return Inner(Loop(loop.turns, tuple(rows), stacks, finals), dtypes), tuple(args)


def as_loop(inner: Inner, args: Sequence[Any], outs: dict[int, int]) -> Loop:
    """Return the loop of a function with arguments; `outs` number those outputs that are wanted."""

    def given(leaf: Any) -> Any:
        kind = type_of(leaf)
        if kind is Ref:
            return args[-1 - leaf.index]
        if kind is Turn:
            return Turn(args[-1 - leaf.stack.index])
        if kind is Prev and type(leaf.init) is Ref:
            return Prev(leaf.row, args[-1 - leaf.init.index])
        return leaf

    loop = inner.loop
    rows = tuple(
        row._replace(args=mapped(row.args, given), kw=mapped(row.kw, given)) for row in loop.rows
    )
    stacks = {row: outs[out] for row, out in loop.stacks.items() if out in outs}
    finals = {row: outs[out] for row, out in loop.finals.items() if out in outs}
    return Loop(loop.turns, rows, stacks, finals)


def without_operations(body: Sequence[Instr | Loop]) -> list[Instr | Loop]:
    """Return a body with loops in the place of the instructions that perform them."""
    outs: dict[int, dict[int, int]] = {}
    for step in body:
        if isinstance(step, Instr) and isinstance(step.fn, Inner):
            outs[step.out] = {}
        elif isinstance(step, Instr) and step.name == "item" and step.args[0].index in outs:
            outs[step.args[0].index][step.args[1]] = step.out
    if not outs:
        return list(body)
    made: list[Instr | Loop] = []
    for step in body:
        if isinstance(step, Instr) and isinstance(step.fn, Inner):
            if outs[step.out]:
                made.append(as_loop(step.fn, step.args, outs[step.out]))
        elif not (isinstance(step, Instr) and step.name == "item" and step.args[0].index in outs):
            made.append(step)
    return made


def with_operations(body: Sequence[Instr | Loop], values: list[Value]) -> list[Instr]:
    """Return a body with instructions in the place of loops, whose outputs are items of theirs."""
    made: list[Instr] = []
    for step in body:
        if isinstance(step, Instr):
            made.append(step)
            continue
        inner, args = as_operation(step, values)
        values.append(NO_VALUE)
        whole = len(values) - 1
        line = next((row.line for row in step.rows if row.line), 0)
        made.append(Instr(inner, "loop", args, (), whole, line=line))
        made += [
            Instr(item, "item", (Ref(whole), number), (), out, line=line)
            for number, out in enumerate(step.outs)
        ]
    return made


# One turn -----------------------------------------------------------------------------------------


class Described:
    """The values of a program, and those of a loop's body beside them."""

    def __init__(self, outer: Any, inner: dict[int, Value]) -> None:
        self.outer = outer
        self.inner = inner

    def __getitem__(self, index: int) -> Value:
        found = self.inner.get(index)
        return self.outer[index] if found is None else found


class LoopBody(NamedTuple):
    """One turn of a loop as instructions. New values have numbers below zero."""

    steps: list[Instr | Loop]
    values: dict[int, Value]
    rows: list[int]
    """The number of the value that each row gives."""
    previous: dict[int, tuple[int, Any]]
    """By row: the number that its value of the turn before has here, and the first one."""
    turns: dict[int, int]
    """By stack: the number of its row of this turn."""


numbers: Iterator[int] = iter(range(-1, -(1 << 60), -1))


def one_turn(loop: Loop, values: Any) -> LoopBody:
    """Return one turn of a loop as instructions and loops."""
    rows = [next(numbers) for _ in loop.rows]
    body = LoopBody(
        [], dict(zip(rows, (row.value for row in loop.rows), strict=True)), rows, {}, {}
    )

    def operand(leaf: Any) -> Any:
        kind = type_of(leaf)
        if kind is Cur:
            row: int = leaf.row
            return Ref(rows[row])
        if kind is Turn:
            index = leaf.stack.index
            if index not in body.turns:
                number = body.turns[index] = next(numbers)
                stack = values[index]
                shape = stack.shape[1:]
                body.values[number] = Value(shape, stack.dtype, bool(shape))
            return Ref(body.turns[index])
        if kind is Prev:
            if leaf.row not in body.previous:
                number = next(numbers)
                before: int = leaf.row
                body.previous[before] = (number, leaf.init)
                body.values[number] = loop.rows[before].value
            return Ref(body.previous[leaf.row][0])
        return leaf

    instrs: list[Instr] = []
    for number, row in zip(rows, loop.rows, strict=True):
        args, kw = mapped(row.args, operand), mapped(row.kw, operand)
        instrs.append(Instr(row.fn, row.name, args, kw, number, row.views, row.line))
    body.steps.extend(without_operations(instrs))
    return body
