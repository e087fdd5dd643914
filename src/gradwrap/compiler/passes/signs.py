"""Signs: negations move into the operations that read them.

Derivatives are full of negations. `a + (-b)` is `a - b`, `2.0 * (-b)` is `-2.0 * b`, and `-b`
times `c` is the negation of their product, which the next operation may absorb. All these rewrites
are exact, including the signs of zeros; `-(a + b)` is not, so a negation stays in front of a sum.
Multiplying by 2, 4, 8 ... and then by another number becomes one product, which is exact as well.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.ir.analysis import uses
from gradwrap.compiler.ir.operations import MULTIPLY, NEGATIVE, SUBTRACT, Sign
from gradwrap.compiler.ir.program import UFUNC, Instr, Loop, Program, Ref, refs, used
from gradwrap.compiler.passes.products import is_power_of_two
from gradwrap.core.values.dynamic import type_of

if TYPE_CHECKING:
    from collections.abc import Callable

NUMBERS: frozenset[type[Any]] = frozenset({int, float})
MOST = 1e15
"""A bound for factors that are multiplied together: finite in float32 as well."""


def absorb_signs(program: Program) -> None:
    """Move negations into other operations where that shortens the program."""
    counted: Counter[int] = Counter()
    for body in list(program.bodies()):
        if any(isinstance(step, Instr) and _changes_others(step) for step in body):
            counted = counted or uses(program)
            _hand_negations_to_loops(program, body, counted)
            body[:] = _Signs(program, body, counted).changed()


def _changes_others(step: Instr) -> bool:
    """Tell if a step is a negation, or a product with 1, 2, 4 ... or -1, -2 ...."""
    if step.op is NEGATIVE:
        return True
    factor = _factor(step)
    return type_of(factor) in NUMBERS and _is_exact(factor)


def _hand_negations_to_loops(
    program: Program, body: list[Instr | Loop], uses: Counter[int]
) -> None:
    """Move the negation of a stack into the loop that reads it, if its steps can absorb it."""
    negated: dict[int, Ref] = {
        step.out: step.args[0]
        for step in body
        if isinstance(step, Instr) and step.op is NEGATIVE and uses[step.out] == 1
    }
    for loop in body:
        if not isinstance(loop, Loop) or negated.keys().isdisjoint(refs([*loop.reads.values()])):
            continue
        negations: list[Instr] = []
        for index, stack in loop.reads.items():
            if stack.index in negated:
                read: int = stack.index
                opposite: int = negated[read].index
                same = program.values[read] == program.values[opposite]
                value = program.values[index]
                part = program.new(value if same else value._replace(order="?"))
                negations.append(Instr(np.negative, "negative", (part,), (), index))
        free = _Signs(program, [*negations, *loop.body], uses).free
        for step in negations:
            if step.out in free:
                part, stack = step.args[0].index, loop.reads.pop(step.out)
                loop.reads[part] = negated[stack.index]
                uses[part], uses[stack.index] = 1, 0
                loop.body.insert(0, step)
    body[:] = [
        step for step in body if isinstance(step, Loop) or step.out not in negated or uses[step.out]
    ]


class _Signs:
    """The walk through one body.

    `opposite` maps a value whose sign its readers absorb to the value that it negates. The value
    itself is computed only if a reader cannot absorb the sign.
    """

    def __init__(self, program: Program, body: list[Instr | Loop], uses: Counter[int]) -> None:
        self.program = program
        self.uses = uses
        self.source = body
        self.body: list[Any] = []
        self.opposite: dict[int, Ref] = {}
        self.same: dict[int, Ref] = {}
        """Negations of negations, with the values that they equal."""
        self.products: dict[int, int] = {}
        """By value: the position in the new body of a product with a number."""
        arithmetic = {
            step.out: step for step in body if isinstance(step, Instr) and self._is_arithmetic(step)
        }
        self.arithmetic: dict[int, Instr] = arithmetic
        self.free: set[int] = self._free()
        self.negated: set[int] = {
            step.args[0].index
            for step in arithmetic.values()
            if step.op is NEGATIVE and step.out in self.free
        }
        """The values that are also read with the opposite sign."""

    def _is_arithmetic(self, step: Instr) -> bool:
        """Tell if a step is real arithmetic on arrays and numbers, or an even function."""
        if not isinstance(step.fn, UFUNC) or step.kw or not self._is_real(step.out):
            return False
        if step.op.sign is None:
            return False
        known = all(
            self._is_real(arg.index) if type(arg) is Ref else type_of(arg) in NUMBERS
            for arg in step.args
        )
        return known and any(type(arg) is Ref for arg in step.args)

    def _is_real(self, index: int) -> bool:
        """Tell if a value is real; float16 is excluded, since it overflows soon."""
        value = self.program.values[index]
        is_float = getattr(value.dtype, "kind", "") == "f" and value.dtype.itemsize > 2
        return is_float and not value.is_number

    def _free(self) -> set[int]:
        """Return the values whose readers can all absorb a sign."""
        taken: dict[int, int] = {}
        free: set[int] = set()
        for step in reversed(self.arithmetic.values()):
            if self.uses[step.out] == taken.get(step.out, 0):
                free.add(step.out)
            args: list[int] = refs(step.args[1:] if step.op is SUBTRACT else step.args)
            if step.op.sign in SCALING and len(set(args)) == 2 and step.out not in free:
                args = [i for i, j in zip(args, args[::-1], strict=True) if self._is_scaled(j)]
            for index in args:
                taken[index] = taken.get(index, 0) + 1
        return free

    def _is_scaled(self, index: int) -> bool:
        """Tell if a value is a product of an array and a number, read once."""
        step = self.arithmetic.get(index)
        return step is not None and self.uses[index] == 1 and _factor(step) is not None

    # The walk -------------------------------------------------------------------------------------

    def changed(self) -> list[Instr | Loop]:
        """Return the body with fewer negations."""
        for step in self.source:
            if isinstance(step, Instr) and step.out in self.arithmetic:
                ARITHMETIC[step.op.sign](self, step)
            else:
                self._write(step)
        return self.body

    def _write(self, step: Any) -> None:
        """Append a step that reads values with their own sign."""
        for index in dict.fromkeys(used(step)):
            self._compute(index)
        self.body.append(step)

    def _compute(self, index: int) -> None:
        step, source = self.arithmetic.get(index), self.opposite.pop(index, None)
        if source is not None:
            self.body.append(Instr(np.negative, "negative", (source,), (), index))
        elif self.same.pop(index, None) is not None and step is not None:
            self._write(step)

    def _parts(self, leaf: Any) -> tuple[Any, bool]:
        """Return a value and False, or the value that it negates and True."""
        if type(leaf) is not Ref:
            return leaf, False
        leaf = self.same.get(leaf.index, leaf)
        source = self.opposite.get(leaf.index)
        return (leaf, False) if source is None else (source, True)

    def negative(self, step: Instr) -> None:
        """Rewrite `-x`."""
        source, is_opposite = self._parts(step.args[0])
        position = self._scaled_once(step.args[0])
        if step.out in self.free:
            (self.same if is_opposite else self.opposite)[step.out] = source
        elif position is not None and not is_opposite:
            self._negate(position)
            self.body[position] = self.body[position].on(self.body[position].args, step.out)
            self.products[step.out] = position
        else:
            self._write(step)

    def even(self, step: Instr) -> None:
        """Rewrite an even function, which ignores the sign of its argument."""
        source, _ = self._parts(step.args[0])
        self.body.append(step.on((source,)))

    def product(self, step: Instr) -> None:
        """Rewrite `x * y` and `x / y`."""
        (one, sign), (other, other_sign) = map(self._parts, step.args)
        opposite = sign != other_sign
        if type(one) is not Ref or type(other) is not Ref:
            self._scaled(step, one, other, opposite)
        elif not opposite:
            self.body.append(step.on((one, other)))
        elif step.out in self.free:
            made = self.program.new(self.program.values[step.out])
            self.body.append(step.on((one, other), made.index))
            self.opposite[step.out] = made
        else:
            position = self._scaled_once(step.args[1] if sign else step.args[0])
            if position is None:
                self._write(step)
                return
            self._negate(position)
            self.body.append(step.on((one, other)))

    def _scaled_once(self, leaf: Ref) -> int | None:
        """Return the position of a product with a number that is read once, or None."""
        return self.products.get(leaf.index) if self.uses[leaf.index] == 1 else None

    def _negate(self, position: int) -> None:
        """Negate the number in a product."""
        scaled: Instr = self.body[position]
        args = tuple(arg if type(arg) is Ref else _negated(arg) for arg in scaled.args)
        self.body[position] = scaled.on(args)

    def _scaled(self, step: Instr, one: Any, other: Any, opposite: bool) -> None:
        """Rewrite a product or quotient of an array and a number."""
        number, array = (other, one) if type(one) is Ref else (one, other)
        if opposite:
            number = _negated(number)
        elif step.op is MULTIPLY and number == -1 and step.out in self.free:
            self.opposite[step.out] = array
            return
        position = self._scaled_once(array)
        if position is not None and step.op is self.body[position].op is MULTIPLY:
            before: Instr = self.body[position]
            factor = _factor(before)
            if _is_exact(factor) and 1 <= abs(number) < MOST:
                number, array = number * factor, next(a for a in before.args if type(a) is Ref)
        out = step.out
        if out in self.free and out in self.negated:
            self.opposite[out] = made = self.program.new(self.program.values[out])
            number, out = _negated(number), made.index
        self.products[out] = len(self.body)
        args = (array, number) if type(one) is Ref else (number, array)
        self.body.append(step.on(args, out))

    def sum(self, step: Instr) -> None:
        """Rewrite `x + y`."""
        (one, sign), (other, other_sign) = map(self._parts, step.args)
        if sign and other_sign:
            one, sign = self._computed(step.args[0]), False
        args = (other, one) if sign else (one, other)
        self.body.append(step.on(args, fn=np.subtract if sign or other_sign else np.add))

    def difference(self, step: Instr) -> None:
        """Rewrite `x - y`."""
        (one, sign), (other, other_sign) = map(self._parts, step.args)
        args = (self._computed(step.args[0]) if sign else one, other)
        self.body.append(step.on(args, fn=np.add if other_sign else np.subtract))

    def _computed(self, leaf: Ref) -> Ref:
        """Compute a value that so far is only known as a negation."""
        leaf = self.same.get(leaf.index, leaf)
        self._compute(leaf.index)
        return leaf


ARITHMETIC: dict[Sign | None, Callable[[_Signs, Instr], None]] = {
    Sign.EVEN: _Signs.even,
    Sign.NEGATION: _Signs.negative,
    Sign.PRODUCT: _Signs.product,
    Sign.SUM: _Signs.sum,
    Sign.DIFFERENCE: _Signs.difference,
}
SCALING = (Sign.NEGATION, Sign.PRODUCT)
"""The operations whose result changes sign with any one operand."""


def _factor(step: Instr) -> Any:
    """Return the number that scales an array by a product or a quotient, or None."""
    if step.op.sign not in SCALING:
        return None
    return next((arg for arg in step.args if type(arg) is not Ref), None)


def _negated(number: Any) -> Any:
    return -number if number else -float(number)


def _is_exact(factor: Any) -> bool:
    """Tell if a product with a factor is exact: 1, 2, 4, 8 ..., of either sign."""
    return 1 <= abs(factor) < MOST and is_power_of_two(factor)
