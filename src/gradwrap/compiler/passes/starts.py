"""Stack what the turns of a loop start from, so that its rows belong to the same turns."""

from __future__ import annotations

from typing import Any

from gradwrap.compiler.ir.operations import ARRAY, CONCATENATE, GETITEM, STACK
from gradwrap.compiler.ir.program import (
    Carry,
    Instr,
    Loop,
    Program,
    Ref,
    Value,
    changed,
    copy,
    getitem,
    mapped,
)
from gradwrap.core.values.dynamic import SLICE, type_of


def stack_what_turns_start_from(program: Program) -> Program | None:
    """Stack a carried value, if the program joins its first value to the stack of its next values.

    The rows of the new stack then belong to the same turns as those of other stacks.

    Returns
    -------
    A copy of the program as it was; None if there is nothing to change.
    """
    before: Program | None = None
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
            before = before or program.copy()
            if carry.value not in known:
                value = program.values[carry.value]
                kept = program.new(value)
                loop.body.insert(0, Instr(copy, "copy", (Ref(carry.value),), (), kept.index))
                stack = Value((loop.turns, *value.shape), value.dtype, is_ndarray=True)
                known[carry.value] = program.new(stack)
                loop.stacks[kept.index] = known[carry.value].index
            count = program.values[step.out].shape[0]
            if way > 0 and count == loop.turns:
                names[step.out] = known[carry.value]
                continue
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
            root.result = root.result._replace(leaves=mapped(root.result.leaves, renamed))
    return before


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
