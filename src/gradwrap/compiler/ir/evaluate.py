"""The reference evaluator, which runs a program instruction by instruction.

Every engine must agree with it, and `verify.py` compares its values with their descriptions.
"""

from __future__ import annotations

from operator import is_
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradwrap.compiler.ir.program import Loop, Missed, Program, Ref, given, mapped

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.compiler.ir.program import Instr, Value

    Observer = Callable[[Instr | Loop, int, Any], None]


class Performed(NamedTuple):
    """A step outside of loops that was performed and observed; it gives the same again."""

    step: Instr
    operands: list[Any]
    result: Any
    described: Value


def outcome(kind: str, value: Any) -> Any:
    """Return the outcome of a guard."""
    if kind == "bool":
        return bool(value)
    if kind == "elements":
        return tuple(value.ravel().tolist())
    return int(value) if kind == "int" else value.shape


def evaluated(
    program: Program,
    arguments: Sequence[Any],
    observe: Observer | None = None,
    kept: dict[int, Performed] | None = None,
) -> tuple[Any, ...]:
    """Run a program instruction by instruction, and return the leaves of its result.

    `observe` is called for each value computed: with the step, the value's number, and the value.
    `kept` holds what the steps of earlier runs gave, by their identities: a step that is there is
    not performed again on the same objects.

    Raises
    ------
    Missed
        A guard had an outcome that has not been traced.
    """
    known: dict[int, Any] = {i: constant.array for i, constant in program.constants.items()}
    known.update(zip(program.inputs, arguments, strict=True))

    block = program.root
    while True:
        perform(block.body, known, observe, program.values, kept)
        if block.guard is None:
            assert block.result is not None
            leaves = tuple(_read(leaf, known) for leaf in block.result.leaves)
            if block.result.asks and leaves[-1]:
                raise Missed
            return leaves[:-1] if block.result.asks else leaves
        found = outcome(block.guard.kind, _read(block.guard.value, known))
        if found not in block.branches:
            raise Missed
        block = block.branches[found]


def _read(leaf: Any, known: dict[int, Any]) -> Any:
    return known[leaf.index] if type(leaf) is Ref else leaf


def perform(
    body: Sequence[Instr | Loop],
    known: dict[int, Any],
    observe: Observer | None = None,
    values: Sequence[Value] = (),
    kept: dict[int, Performed] | None = None,
) -> None:
    """Perform steps, and record their results; `values` describes them."""

    def read(leaf: Any) -> Any:
        return known[leaf.index] if type(leaf) is Ref else leaf

    for step in body:
        if isinstance(step, Loop):
            _repeat(step, known, observe, values)
        elif kept is None:
            known[step.out] = step.fn(*mapped(step.args, read), **dict(mapped(step.kw, read)))
        else:
            out, operands = step.out, [known[index] for index in step.reads]
            before = kept.get(id(step))
            if before is not None and before.step is step and all(map(is_, operands, before[1])):
                known[out] = before.result
                if before.described is values[out]:
                    continue
            else:
                known[out] = step.fn(*mapped(step.args, read), **dict(mapped(step.kw, read)))
            kept[id(step)] = Performed(step, operands, known[out], values[out])
        if observe is not None:
            for out in given(step):
                observe(step, out, known[out])


def _repeat(
    loop: Loop, known: dict[int, Any], observe: Observer | None, values: Sequence[Value]
) -> None:
    """Perform a loop, and record its results."""
    carried = [_read(carry.first, known) for carry in loop.carries]
    turns: dict[int, list[Any]] = {index: [] for index in loop.stacks}
    count = loop.turns if loop.count is None else int(_read(loop.count, known))
    for turn in range(count):
        known.update({index: known[stack.index][turn] for index, stack in loop.reads.items()})
        known.update(zip((carry.value for carry in loop.carries), carried, strict=True))
        if observe is not None:
            for index in loop.found:
                observe(loop, index, known[index])
        perform(loop.body, known, observe, values)
        carried = [known[carry.next] for carry in loop.carries]
        for index, found in turns.items():
            found.append(known[index])
    for index, out in loop.stacks.items():
        if loop.count is None:
            known[out] = np.ascontiguousarray(np.stack(turns[index]))
        else:
            known[out] = np.zeros(values[out].shape, values[out].dtype)
            if count:
                known[out][:count] = turns[index]
    ends = dict(zip((carry.next for carry in loop.carries), carried, strict=True))
    known.update({out: ends[i] if i in ends else known[i] for i, out in loop.finals.items()})
