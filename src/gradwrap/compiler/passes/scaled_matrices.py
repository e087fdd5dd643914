"""Multiples of matrices: the factor moves to a smaller matrix.

The gradient of a sum of squares begins with `2 * x`. If `x` is a large matrix whose multiple only
enters products of matrices, `(2 * x) @ w` is `x @ (2 * w)` or `2 * (x @ w)`, whichever scales fewer
elements. The factors are powers of two, so that this is exact, except near the least and the
largest numbers of the dtype.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.ir.analysis import uses
from gradwrap.compiler.ir.operations import ADD, MATMUL, MULTIPLY, Kind
from gradwrap.compiler.ir.program import Instr, Loop, Ref, changed, is_elementwise
from gradwrap.compiler.passes.products import is_power_of_two

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator

    from gradwrap.compiler.ir.program import Program

    Body = list[Instr | Loop]

VIEWS = frozenset({Kind.RESHAPE, Kind.TRANSPOSE, Kind.MOVE})
"""The kinds of operations that a factor commutes with, and that cost little."""


def scale_less(program: Program) -> None:
    """Move the factors of matrices that only enter products to smaller matrices."""
    for body in list(program.bodies()):
        if any(isinstance(step, Instr) and step.op is MATMUL for step in body):
            while _Body(program, body, uses(program)).scales_less():
                program.exact = False


class _Body:
    """One body, with the steps that make and read its values."""

    def __init__(self, program: Program, body: Body, counts: Counter[int]) -> None:
        self.program = program
        self.body = body
        self.counts = counts
        self.makers: dict[int, Instr] = {}
        self.readers: dict[int, list[Instr]] = {}
        for step in body:
            if isinstance(step, Instr):
                self.makers[step.out] = step
                for index in step.reads:
                    self.readers.setdefault(index, []).append(step)
        self.instead: dict[int, Ref] = {}
        """By multiple that is left out: the matrix itself."""
        self.factors: dict[int, tuple[int, Any]] = {}
        """By product: the matrix that is scaled, the product itself or an operand; the factor."""

    def scales_less(self) -> bool:
        """Move the factors for which that is less work; return whether there were any."""
        for step in self.makers.values():
            base, factor = self.multiple(step)
            smaller = None if base is None else self.smaller(step.out)
            if base is None or not smaller or not self.factors.keys().isdisjoint(smaller):
                continue
            if 2 * sum(map(self.size, smaller.values())) <= self.size(step.out):
                self.instead[step.out] = base
                self.factors |= {out: (index, factor) for out, index in smaller.items()}
        self.body[:] = [new for step in self.body for new in self.rewritten(step)]
        return bool(self.instead)

    def size(self, index: int) -> int:
        """Return the number of elements of a value."""
        return math.prod(self.program.values[index].shape)

    def multiple(self, step: Instr) -> tuple[Ref | None, Any]:
        """Return the array that a step multiplies by a power of two in a pass of its own."""
        values, args = self.program.values, step.args
        factor: Any = None
        base = next((arg for arg in args if type(arg) is Ref), None)
        if base is None or step.kw or values[base.index] != values[step.out]:
            return None, None
        if step.op is ADD and args[0] == args[1]:
            factor = 2.0
        elif step.op is MULTIPLY:
            factor = next((arg for arg in args if type(arg) is float or type(arg) is int), 0)
        if not factor or not is_power_of_two(factor) or values[step.out].dtype.char not in "fd":
            return None, None
        maker = self.makers.get(base.index)
        while maker is not None and maker.op.kind in VIEWS and type(maker.args[0]) is Ref:
            maker = self.makers.get(maker.args[0].index)
        # A kernel that computes the array computes its multiple at the same time.
        return (None, None) if maker is not None and is_elementwise(maker) else (base, factor)

    def smaller(self, multiple: int) -> dict[int, int]:
        """Return the smaller one of the other operand and the result, by product of a multiple.

        It is empty if other steps read the multiple as well.
        """
        found: dict[int, int] = {}
        waiting = [multiple]
        while waiting:
            index = waiting.pop()
            readers = self.readers.get(index, [])
            if len(readers) != self.counts[index]:
                return {}
            for step in readers:
                others = [one for one in step.reads if one != index]
                if step.op.kind in VIEWS and not others:
                    waiting.append(step.out)
                elif step.op is MATMUL and len(others) == 1 and step.out not in found:
                    is_known = self.program.values[others[0]].order in "CF"
                    choices = [step.out, *(others if is_known else ())]
                    found[step.out] = min(choices, key=self.size)
                else:
                    return {}
        return found

    def rewritten(self, step: Instr | Loop) -> Iterator[Instr | Loop]:
        """Yield the steps that take the place of one."""
        if isinstance(step, Loop):
            yield step
            return
        if step.out in self.instead:
            return
        one: Instr = changed(step, self.leaf)
        index, factor = self.factors.get(one.out, (None, None))
        if index is None:
            yield one
            return
        ref = self.program.new(self.program.values[index])
        if index == one.out:
            yield one.on(one.args, ref.index)
            yield Instr(np.multiply, "multiply", (ref, factor), (), index, line=one.line)
        else:
            scaled = Instr(np.multiply, "multiply", (Ref(index), factor), (), ref.index)
            yield scaled
            yield one.on(tuple(ref if arg == Ref(index) else arg for arg in one.args))

    def leaf(self, leaf: Any) -> Any:
        """Return the matrix in place of a multiple, or the leaf itself."""
        return self.instead.get(leaf.index, leaf) if type(leaf) is Ref else leaf
