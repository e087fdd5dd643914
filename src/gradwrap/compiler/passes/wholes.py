"""Whole arrays: writes to all elements, sums with zeros, and copies that nothing writes to.

`x[:] = v` makes a copy of `v`, whatever `x` was, and its gradient is set to zeros. So zeros are
added to other terms, and the copy that eager code needs has no use. In a program, values never
change: a copy is needed only if an engine may write into the copy, or into its source.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.compiler.ir.analysis import enter_roots
from gradwrap.compiler.ir.operations import ADD, COPY, GETITEM, Kind
from gradwrap.compiler.ir.program import (
    Instr,
    Loop,
    Ref,
    changed,
    copy,
    filled_with,
    full,
    zeros,
)
from gradwrap.compiler.passes.dead import remove_dead
from gradwrap.core.values.dynamic import SLICE, TUPLE

if TYPE_CHECKING:
    from collections.abc import Collection

    from gradwrap.compiler.ir.analysis import Roots
    from gradwrap.compiler.ir.program import Program


def write_wholes(program: Program) -> None:
    """Replace writes to all elements, sums with zeros, and superfluous copies."""
    walk = _Wholes(program)
    for block in program.blocks():
        block.body = walk.body(block.body, ())
        if block.guard is not None:
            block.guard = block.guard._replace(value=walk.leaf(block.guard.value))
        if block.result is not None:
            leaves = tuple(map(walk.leaf, block.result.leaves))
            block.result = block.result._replace(leaves=leaves)
    if walk.instead:
        remove_dead(program)


def is_whole(key: Any, shape: tuple[int, ...]) -> bool:
    """Tell if a key names all elements, along the same axes."""
    parts: Any = key if isinstance(key, TUPLE) else (key,)
    if len(parts) == 1 and parts[0] is Ellipsis:
        return True
    return len(parts) <= len(shape) and all(
        isinstance(part, SLICE)
        and all(type(one) in (int, type(None)) for one in (part.start, part.stop, part.step))
        and range(*part.indices(length)) == range(length)
        for part, length in zip(parts, shape, strict=False)
    )


KINDS = (Kind.READ, Kind.WRITE, Kind.COPY, Kind.FILL)
"""The operations that the pass looks at, beside sums."""


class _Wholes:
    """A walk through all bodies, from the first step to the last."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.values = program.values
        self.instead: dict[int, Any] = {}
        """By value: the value that replaces it."""
        self.zeros: set[int] = set()
        self.roots: Roots = {i: frozenset({i}) for i in (*program.inputs, *program.constants)}
        self.written: frozenset[int] = frozenset()
        """The arrays that something is written to, by the values that own them."""
        if any(op is COPY or op.kind is Kind.WRITE for op in program.operations()):
            self._find_written()

    def _find_written(self) -> None:
        """Find the arrays that are written to."""
        targets: list[int] = []
        for body in self.program.bodies():
            for step in body:
                if isinstance(step, Loop):
                    self.roots.update((i, frozenset({i})) for i in step.found)
                elif step.op.kind is Kind.WRITE and type(step.args[0]) is Ref:
                    if not is_whole(step.args[1], self.values[step.out].shape):
                        targets.append(step.args[0].index)
            enter_roots(body, self.values, self.roots)
        self.written = frozenset(i for target in targets for i in self.roots[target])

    def leaf(self, leaf: Any) -> Any:
        return self.instead.get(leaf.index, leaf) if type(leaf) is Ref else leaf

    def body(self, body: list[Instr | Loop], kept: Collection[int]) -> list[Instr | Loop]:
        """Return a body rewritten; values in `kept` keep their numbers."""
        made: list[Instr | Loop] = []
        for one in body:
            step = changed(one, self.leaf) if self.instead else one
            if isinstance(step, Loop):
                step.body = self.body(step.body, step.handed_on)
                made.append(step)
                continue
            if step.op is not ADD and step.op.kind not in KINDS:
                made.append(step)
                continue
            step = self.shorter(step)
            same = None if step.out in kept else self.same_as(step)
            if same is not None:
                self.instead[step.out] = same
                continue
            if filled_with(step) == 0:
                self.zeros.add(step.out)
            made.append(step)
        return made

    def is_zero(self, leaf: Any) -> bool:
        """Tell if a leaf is an array of zeros; `x + 0.0` changes the sign of the zeros of `x`."""
        return type(leaf) is Ref and leaf.index in self.zeros

    def shorter(self, step: Instr) -> Instr:
        """Return a step that makes the array that is written as a whole."""
        value = self.values[step.out]
        if step.op.kind is not Kind.WRITE or not is_whole(step.args[1], value.shape):
            return step
        target, _, written = step.args
        if step.op.scatters and (type(target) is not Ref or target.index not in self.zeros):
            return step
        if type(written) is Ref:
            if not value.shape or self.values[written.index] != value:
                return step
            self.program.exact &= not step.op.scatters
            return step.on((written,), fn=copy)
        if step.op.scatters or value.order != "C" or not value.is_ndarray:
            return step
        if type(written) is int and written == 0:
            return step.on((value.shape, value.dtype), fn=zeros)
        return step.on((value.shape, written, value.dtype), fn=full)

    def same_as(self, step: Instr) -> Any:
        """Return the value that a step returns unchanged, or None."""
        value = self.values[step.out]
        if not value.shape or not value.is_ndarray or not step.args:
            return None
        if step.op is ADD and not step.kw:
            for one, other in (step.args, step.args[::-1]):
                if type(one) is Ref and self.is_zero(other) and self.values[one.index] == value:
                    self.program.exact = False
                    return one
        first = step.args[0]
        if type(first) is not Ref or value.order != "C":
            return None
        same = self.values[first.index] == value
        if step.op is GETITEM:
            return first if same and is_whole(step.args[1], value.shape) else None
        if step.op is COPY:
            mine = {step.out} | self.roots[first.index]
            return first if same and self.written.isdisjoint(mine) else None
        return None
