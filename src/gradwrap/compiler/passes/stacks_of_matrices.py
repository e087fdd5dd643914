"""Products of stacks of matrices as one product of two matrices.

NumPy multiplies the matrices of a stack one after the other. If one matrix multiplies all of them,
their rows form one matrix: `x @ w` is `reshape(reshape(x, (-1, k)) @ w, ...)`. The gradient of `w`
is a sum of products, which is one product too, and the stack of the products is never made.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.ir.analysis import uses
from gradwrap.compiler.ir.operations import ADD_REDUCE, MATMUL, Kind
from gradwrap.compiler.ir.program import Instr, Loop, Ref
from gradwrap.core.values.dynamic import TUPLE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gradwrap.compiler.ir.program import Program

    Body = list[Instr | Loop]

LEAST = 1 << 16
"""The multiplications of a product from which a call of NumPy more costs little."""
FEW_ROWS = 16
"""The most rows of the matrices of a stack for which one product is quicker."""


def join_matrices(program: Program) -> None:
    """Replace products of stacks with one matrix, and sums of products."""
    if MATMUL in program.operations():
        for body in list(program.bodies()):
            if any(isinstance(step, Instr) and step.op is MATMUL for step in body):
                _Joined(program, body).run()


class _Joined:
    """Rewrites one body."""

    def __init__(self, program: Program, body: Body) -> None:
        self.program = program
        self.body = body
        self.makers: Mapping[int, Instr] = {
            step.out: step for step in body if isinstance(step, Instr)
        }

    def run(self) -> None:
        """Rewrite the body."""
        counts = uses(self.program)
        made: Body = []
        for step in self.body:
            steps: Sequence[Instr] = ()
            if isinstance(step, Instr) and step.op is MATMUL:
                steps = self.product(step)
            elif isinstance(step, Instr) and step.op is ADD_REDUCE and type(step.args[0]) is Ref:
                product = self.makers.get(step.args[0].index)
                if product is not None and product.op is MATMUL and counts[product.out] == 1:
                    steps = self.sum(step, product)
            made += steps or [step]
            if steps:
                self.program.exact = False
        self.body[:] = made

    def product(self, step: Instr) -> Sequence[Instr]:
        """Return the steps of the product of a stack of low matrices with one matrix."""
        values = self.program.values
        shape = values[step.out].shape
        left, right = self._operands(step)
        if left is None or right is None or len(right) != 2 or len(left) < 3:
            return ()
        index: int = step.args[0].index
        if left[-2] > FEW_ROWS or math.prod(left) * right[1] < LEAST:
            return ()
        if values[index].order != "C" or math.prod(left[:-2]) == 1:
            return ()
        rows, reshape = self._reshaped(step, index, (-1, left[-1]))
        whole = self.program.new(values[step.out]._replace(shape=(math.prod(left[:-1]), right[1])))
        return (
            reshape,
            step.on((rows, step.args[1]), whole.index),
            Instr(np.reshape, "reshape", (whole, shape), (), step.out, True, step.line),
        )

    def sum(self, step: Instr, product: Instr) -> Sequence[Instr]:
        """Return the steps of the sum of the products of two stacks, the first one transposed."""
        values = self.program.values
        left, right = self._operands(product)
        if left is None or right is None or len(left) < 3 or left[:-2] != right[:-2]:
            return ()
        if math.prod(left) * right[-1] < LEAST:
            return ()
        kw = dict(step.kw)
        axis: Any = kw.get("axis", 0)
        axes: Any = axis if isinstance(axis, TUPLE) else (axis,)
        if None in axes or sorted(axes) != [*range(len(left) - 2)] or {*kw} - {"axis", "dtype"}:
            return ()
        if (
            len(step.args) > 1
            or kw.get("dtype", values[step.out].dtype) != values[product.out].dtype
        ):
            return ()
        view = self.makers.get(product.args[0].index)
        if view is None or not swaps_last_two(view, len(left)):
            return ()
        first: int = view.args[0].index
        second: int = product.args[1].index
        if (values[first].order, values[second].order) != ("C", "C"):
            return ()
        rows, one = self._reshaped(step, first, (-1, left[-2]))
        others, two = self._reshaped(step, second, (-1, right[-1]))
        count = math.prod(left[:-2]) * left[-1]
        turned = values[view.out]._replace(shape=(left[-2], count), order="F")
        columns = self.program.new(turned)
        return (
            one,
            two,
            Instr(np.transpose, "transpose", (rows,), (), columns.index, True, view.line),
            product.on((columns, others), step.out),
        )

    def _operands(self, step: Instr) -> tuple[tuple[int, ...] | None, tuple[int, ...] | None]:
        """Return the shapes of both operands, if they are arrays of the dtype of the result."""
        values = self.program.values
        found = [values[arg.index] for arg in step.args if type(arg) is Ref]
        dtype = values[step.out].dtype
        if len(found) != 2 or step.kw or any(one.dtype != dtype for one in found):
            return None, None
        return found[0].shape, found[1].shape

    def _reshaped(self, step: Instr, index: int, shape: tuple[int, int]) -> tuple[Ref, Instr]:
        """Return an array in C's order as a matrix of its rows."""
        value = self.program.values[index]
        shape = (math.prod(value.shape) // shape[1], shape[1])
        ref = self.program.new(value._replace(shape=shape))
        return ref, Instr(
            np.reshape, "reshape", (Ref(index), shape), (), ref.index, True, step.line
        )


def swaps_last_two(view: Instr, rank: int) -> bool:
    """Tell if a step is a view of an array of this rank that swaps its last two axes."""
    if view.op.kind is not Kind.TRANSPOSE or type(view.args[0]) is not Ref:
        return False
    sample = np.broadcast_to(0, range(rank))  # the length of each axis is its number
    turned: tuple[int, ...] = view.fn(sample, *view.args[1:], **dict(view.kw)).shape
    return turned == (*range(rank - 2), rank - 1, rank - 2)
