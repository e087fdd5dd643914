"""The reference evaluator: it runs a program instruction by instruction, as it stands.

Every engine has to agree with it, and `verify.py` compares it with the descriptions of the values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.ir.program import (
    Cur,
    Loop,
    Missed,
    Prev,
    Program,
    Ref,
    Turn,
    Value,
    given,
    mapped,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.compiler.ir.program import Instr, Row

    Observer = Callable[[Instr | Loop | Row, Value, Any], None]


def outcome(kind: str, value: Any) -> Any:
    """What a guard finds."""
    if kind == "bool":
        return bool(value)
    return int(value) if kind == "int" else value.shape


def evaluated(
    program: Program, arguments: Sequence[Any], observe: Observer | None = None
) -> tuple[Any, ...]:
    """Run a program instruction by instruction, and return the leaves of its result.

    `observe` is called with each value: the step that gave it, its description, and the value.

    Raises
    ------
    Missed
        A guard had an outcome that has not been traced.
    """
    known: dict[int, Any] = {i: constant.array for i, constant in program.constants.items()}
    known.update(zip(program.inputs, arguments, strict=True))

    def read(leaf: Any) -> Any:
        return known[leaf.index] if type(leaf) is Ref else leaf

    block = program.root
    while True:
        for step in block.body:
            if isinstance(step, Loop):
                known.update(turned(step, read, observe))
            else:
                keywords = {name: mapped(value, read) for name, value in step.kw}
                known[step.out] = step.fn(*mapped(step.args, read), **keywords)
            if observe is not None:
                for out in given(step):
                    observe(step, program.values[out], known[out])
        if block.guard is None:
            assert block.result is not None
            return tuple(map(read, block.result.leaves))
        found = outcome(block.guard.kind, read(block.guard.value))
        if found not in block.branches:
            raise Missed
        block = block.branches[found]


def turned(
    loop: Loop, read: Callable[[Any], Any], observe: Observer | None = None
) -> dict[int, Any]:
    """Perform a loop whose leaves are read by `read`: the values that it gives, by number."""
    turns: list[list[Any]] = []
    for _ in range(loop.turns):
        previous = turns[-1] if turns else None
        turns.append(_one_turn(loop, len(turns), previous, read))
        if observe is not None:
            for row, value in zip(loop.rows, turns[-1], strict=True):
                observe(row, row.value, value)
    found = {out: _stack([turn[j] for turn in turns]) for j, out in loop.stacks.items()}
    return found | {out: turns[-1][j] for j, out in loop.finals.items()}


def _stack(parts: list[Any]) -> Any:
    """Join the values of all turns, in C's order."""
    return np.ascontiguousarray(np.stack(parts))


def _one_turn(
    loop: Loop, k: int, previous: list[Any] | None, read: Callable[[Any], Any]
) -> list[Any]:
    current: list[Any] = []

    def operand(leaf: Any) -> Any:
        if type(leaf) is Cur:
            return current[leaf.row]
        if type(leaf) is Prev:
            return read(leaf.init) if previous is None else previous[leaf.row]
        return read(leaf.stack)[k] if type(leaf) is Turn else read(leaf)

    for row in loop.rows:
        keywords = {name: mapped(value, operand) for name, value in row.kw}
        current.append(row.fn(*mapped(row.args, operand), **keywords))
    return current
