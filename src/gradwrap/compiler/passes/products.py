"""Products: division by a known reciprocal, and multiples of known values.

Where `1 / d` is computed, as in a logistic function, `x / d` becomes a product with it, to 2 ulp
(units in the last place). This is done only if `d` is certainly far from zero. A power of two
times a known value is not computed again: `0.5 * x * y + 0.5 * (x * y)` is `x * y`. This is
exact, except near the least and the largest numbers of the dtype.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.ir.analysis import looked_at
from gradwrap.compiler.ir.program import Instr, Loop, Ref, changed, used

if TYPE_CHECKING:
    from collections.abc import Collection

    from gradwrap.compiler.ir.program import Block, Program

    Body = list[Instr | Loop]

DTYPES = frozenset({np.dtype("f4"), np.dtype("f8")})
LEAST = 1e-30
"""The least divisor: a number that has a reciprocal in float32 too."""
MOST = 2.0**50
"""The largest factor, in magnitude."""


def multiply_by_reciprocals(program: Program) -> None:
    """Replace division by `d` by multiplication by `1 / d`, where that is known."""
    _Reciprocals(program).run()


def merge_multiples(program: Program) -> None:
    """Replace steps that compute a power of two times a known value."""
    _Multiples(program).run()


def is_power_of_two(factor: float) -> bool:
    """Tell if a factor is a power of two, of either sign: products with it are exact."""
    return abs(math.frexp(factor)[0]) == 0.5


class _Products:
    """A forward walk through a program that tracks the known values."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.values = program.values
        self.instead: dict[int, Ref] = {}
        """By value: the value that replaces it."""

    def run(self) -> None:
        """Rewrite all bodies."""
        kept = {index for block in self.program.blocks() for index in looked_at(block)}
        waiting: list[tuple[Block, dict[Any, int]]] = [(self.program.root, {})]
        while waiting:
            block, known = waiting.pop()
            block.body = self.body(block.body, known, kept)
            last = len(block.branches) == 1
            waiting += [(b, known if last else dict(known)) for b in block.branches.values()]

    def body(self, body: Body, known: dict[Any, int], kept: Collection[int]) -> Body:
        """Return a body rewritten; values in `kept` keep their numbers."""
        made: Body = []
        for step in body:
            if self.instead and not self.instead.keys().isdisjoint(used(step)):
                step = changed(step, self.leaf)  # noqa: PLW2901  the same step
            if isinstance(step, Loop):
                before = len(known)
                step.body = self.body(step.body, known, step.handed_on)
                while len(known) > before:  # values of the body are not visible outside
                    known.popitem()
                made.append(step)
            elif step.kw or self.values[step.out].dtype not in DTYPES:
                made.append(step)
            else:
                made += self.product(step, known, kept)
        return made

    def leaf(self, leaf: Any) -> Any:
        """Return the replacement of a leaf, or the leaf itself."""
        return self.instead.get(leaf.index, leaf) if type(leaf) is Ref else leaf

    def product(self, step: Instr, known: dict[Any, int], kept: Collection[int]) -> list[Instr]:
        """Return the rewritten step, in a list that may be empty."""
        raise NotImplementedError


class _Reciprocals(_Products):
    """`known` maps divisors to their reciprocals."""

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.positive: set[int] = set()
        self.far: set[int] = set()

    def product(self, step: Instr, known: dict[Any, int], kept: Collection[int]) -> list[Instr]:
        args: Any = step.args
        if step.op.never_negative or (step.fn is np.multiply and args[0] == args[1]):
            self.positive.add(step.out)
        elif step.fn is np.add:
            numbers = [one for one in args if type(one) is float or type(one) is int]
            others = [one.index for one in args if type(one) is Ref]
            if numbers and numbers[0] >= LEAST and self.positive.issuperset(others):
                self.far.add(step.out)
        elif step.fn is np.divide and type(args[1]) is Ref and args[1].index in self.far:
            divisor: int = args[1].index
            if type(args[0]) is not Ref:
                if args[0] == 1:
                    known.setdefault(divisor, step.out)
            elif divisor in known and self.values[step.out].dtype == self.values[divisor].dtype:
                self.program.exact = False
                args = (args[0], Ref(known[divisor]))
                return [step.on(args, fn=np.multiply)]
        return [step]


class _Multiples(_Products):
    """`known` maps factors to their product, and a value with a factor to that multiple."""

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.forms: dict[int, tuple[int, float]] = {}
        """By value: the base that it is a multiple of, and the factor."""
        self.factors: dict[int, float] = {}
        """By product: its factor relative to the product of the operands' bases."""

    def product(self, step: Instr, known: dict[Any, int], kept: Collection[int]) -> list[Instr]:
        if step.fn is not np.add and step.fn is not np.multiply:
            return [step]
        base, factor = self.forms[step.out] = self.form(step, known)
        if base == step.out:
            return [step]
        holder = base if factor == 1.0 else known.setdefault((base, factor), step.out)
        if holder != step.out and step.out not in kept:
            self.instead[step.out] = Ref(holder)
            self.program.exact = False
            return []
        if Ref(base) in step.args:
            return [step]
        self.program.exact = False
        return [step.on((Ref(base), factor), fn=np.multiply)]

    def form(self, step: Instr, known: dict[Any, int]) -> tuple[int, float]:
        """Return the base and the factor of the result; the result itself if none is known."""
        forms = self.forms
        bases = [forms.get(a.index, (a.index, 1.0)) for a in step.args if type(a) is Ref]
        numbers = [a for a in step.args if type(a) is float or type(a) is int]
        if len(bases) + len(numbers) != 2 or not bases:
            return step.out, 1.0
        base, factor = bases[0]
        if step.fn is np.multiply and numbers:
            factor *= numbers[0]
        elif step.fn is np.multiply:
            (one, other), factor = sorted((base, bases[1][0])), factor * bases[1][1]
            base = known.setdefault((one, other, "product"), step.out)
            if base == step.out:
                self.factors[base] = factor
            factor /= self.factors[base]
        elif len(bases) == 2 and bases[1][0] == base:
            factor += bases[1][1]
        else:
            return step.out, 1.0
        is_power = 1 / MOST < factor < MOST and is_power_of_two(factor)
        is_known = is_power and self.values[base] == self.values[step.out]
        return (base, factor) if is_known else (step.out, 1.0)
