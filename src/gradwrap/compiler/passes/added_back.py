"""Leaves elements in place that are taken out of an array, set to zero there, and added back.

The gradient of `x[key] += y` has these steps. Sums to which other terms are added in between are
simplified too, and additions to zeros become writes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.compiler.ir.analysis import looked_at, uses
from gradwrap.compiler.ir.operations import COPY, GETITEM, SCATTER_ADD, SETITEM
from gradwrap.compiler.ir.program import Instr, Loop, Ref, changed, setitem, token
from gradwrap.compiler.passes.forwarding import is_fixed

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet

    from gradwrap.compiler.ir.program import Program


def keep_what_is_added_back(program: Program) -> None:
    """Rewrite additions to elements that were set to zero before.

    If the sum has a term that was read from these elements before, the array keeps them, and the
    other terms are added to them. A single other term is written instead of zeros.
    """
    if SCATTER_ADD not in program.operations():
        return
    everywhere = uses(program)
    bodies = list(program.bodies())
    kept = {index for block in program.blocks() for index in looked_at(block)}
    kept |= {
        i for body in bodies for step in body if isinstance(step, Loop) for i in step.handed_on
    }
    walk = _AddedBack(program, everywhere, kept)
    for body in program.bodies():
        body[:] = walk.rewritten(body)


class _AddedBack:
    """A walk through the bodies of a program, with the rewritten steps of the current body."""

    def __init__(
        self, program: Program, everywhere: Mapping[int, int], kept: AbstractSet[int]
    ) -> None:
        self.program = program
        self.everywhere = everywhere
        self.kept = kept
        self.steps: dict[int, Instr | Loop] = {}
        """By result; a loop, which may have none, by a number below zero."""
        self.instead: dict[int, Any] = {}
        """By value: the value that replaces it, in later bodies too."""

    def rewritten(self, body: list[Instr | Loop]) -> list[Instr | Loop]:
        """Return a body without superfluous additions and zeros."""
        self.steps = {}
        for number, one in enumerate(body):
            step = changed(one, self._leaf) if self.instead else one
            if isinstance(step, Loop) or not self._leaves_out(step):
                self.steps[~number if isinstance(step, Loop) else step.out] = step
        return list(self.steps.values())

    def _leaf(self, leaf: Any) -> Any:
        return self.instead.get(leaf.index, leaf) if type(leaf) is Ref else leaf

    def _leaves_out(self, step: Instr) -> bool:
        """Rewrite an addition to elements that were set to zero. Return False for other steps."""
        chain = self._chain(step)
        if not chain:
            return False
        zeros = chain.pop()
        source, (_, key, added) = zeros.args[0], step.args
        is_part = self._is_part(added, source, token(key))
        if chain and not is_part:
            return False
        del self.steps[zeros.out]
        if chain:
            first = chain[-1]
            self.steps[first.out] = first = first.on((source, *first.args[1:]))
            last = self.steps.pop(chain[0].out)
            assert isinstance(last, Instr)
            self.steps[step.out] = last.on(last.args, step.out)
            self.program.exact &= len(chain) == 1  # otherwise the terms get another order
        elif is_part and step.out not in self.kept:
            self.instead[step.out] = source
        else:
            args = (source, key, added)
            self.steps[step.out] = Instr(setitem, "setitem", args, (), step.out, line=step.line)
        return True

    def _chain(self, step: Instr) -> list[Instr]:
        """Return the earlier additions to the elements of an addition, the latest first.

        The write of zeros before them comes last. The list is empty if there is no such write.
        """
        if step.op is not SCATTER_ADD or not is_fixed(step.args[1]):
            return []
        key = token(step.args[1])
        chain: list[Instr] = []
        target: Any = step.args[0]
        while True:
            maker = self.steps.get(target.index) if type(target) is Ref else None
            if not isinstance(maker, Instr) or self.everywhere[maker.out] != 1:
                return []
            chain.append(maker)
            if maker.op is not SCATTER_ADD:
                break
            target = maker.args[0]
        zero = maker.args[2] if maker.op is SETITEM and token(maker.args[1]) == key else None
        if type(zero) not in (int, float) or zero or type(maker.args[0]) is not Ref:
            return []
        return chain

    def _is_part(self, leaf: Any, source: Ref, key: Any) -> bool:
        """Tell if a value is an array at a key, or a copy of this part."""
        maker = self.steps.get(leaf.index) if type(leaf) is Ref else None
        if isinstance(maker, Instr) and maker.op is COPY:
            maker = self.steps.get(maker.args[0].index)
        if not isinstance(maker, Instr) or maker.op is not GETITEM:
            return False
        return bool(maker.args[0] == source and token(maker.args[1]) == key)
