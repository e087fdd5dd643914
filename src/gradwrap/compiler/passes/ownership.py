"""Ownership: find results that share memory, and copy those that must not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.compiler.ir.analysis import roots_of
from gradwrap.compiler.ir.operations import BROADCAST_TO
from gradwrap.compiler.ir.program import Instr, Ref, copy

if TYPE_CHECKING:
    from gradwrap.compiler.ir.program import Program


def sharing(program: Program, *, traced: bool = False) -> list[list[frozenset[int]]]:
    """Return, for each leaf of each result, the inputs, constants and earlier leaves it aliases."""
    roots = roots_of(program, traced=traced)
    outside = frozenset({*program.inputs, *program.constants})
    found: list[list[frozenset[int]]] = []
    for block in program.blocks():
        if block.result is None:
            continue
        of_leaves = [
            roots[leaf.index] if type(leaf) is Ref else frozenset[int]()
            for leaf in block.result.leaves
        ]
        shared: list[frozenset[int]] = []
        for number, mine in enumerate(of_leaves):
            partners = {-1 - i for i in range(number) if mine & of_leaves[i]}
            shared.append(frozenset((mine & outside) | partners))
        found.append(shared)
    return found


def own_outputs(program: Program) -> None:
    """Copy results that share memory now but did not before the passes.

    Results that are arrays of the trace are copied too: a call must not return an array that the
    next call reads. So are broadcast views of computed values, since they are read-only.
    """
    made = {
        step.out: step
        for block in program.blocks()
        for step in block.body
        if isinstance(step, Instr) and (step.views or step.op is BROADCAST_TO)
    }
    blocks = [block for block in program.blocks() if block.result is not None]
    for block, then, now in zip(blocks, program.shares, sharing(program), strict=True):
        assert block.result is not None
        leaves: list[Any] = list(block.result.leaves)
        for number, leaf in enumerate(leaves):
            if type(leaf) is not Ref or not program.values[leaf.index].is_ndarray:
                continue
            frozen = {
                i for i in now[number] if i in program.constants and not program.constants[i][1]
            }
            is_own = all(i < 0 for i in now[number])
            if frozen or not now[number] <= then[number] or (is_own and _is_broadcast(made, leaf)):
                new = program.new(program.values[leaf.index])
                block.body.append(Instr(copy, "copy", (leaf,), (), new.index))
                leaves[number] = new
        block.result = block.result._replace(leaves=tuple(leaves))


def _is_broadcast(made: dict[int, Instr], leaf: Any) -> bool:
    """Tell if a value is a broadcast view, or a view of one; `made` maps numbers to views."""
    while type(leaf) is Ref and leaf.index in made:
        instr = made[leaf.index]
        if instr.op is BROADCAST_TO:
            return True
        leaf = instr.args[0]
    return False
