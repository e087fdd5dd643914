"""Products of ever more or fewer columns: blocks of them are products of two matrices.

A loop over the pairs of an array's columns, `x[:, i] @ x[:, i:]` for each `i`, is no loop of equal
turns. The columns of a block are the rows of one product, `x[:, b : b + 64].T @ x[:, b:]`, of which
each turn reads its own part. Its gradient has products of the other operand with vectors, and outer
products that are added to parts of an array: both are products with the matrix of the vectors, in
which zeros stand for the elements that a shorter vector lacks.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradwrap.compiler.ir.analysis import in_order, uses
from gradwrap.compiler.ir.layout import describe_orders
from gradwrap.compiler.ir.operations import COPY, GETITEM, MATMUL, MULTIPLY, SCATTER_ADD
from gradwrap.compiler.ir.padded import padded_product
from gradwrap.compiler.ir.program import (
    Instr,
    Loop,
    Ref,
    Value,
    changed,
    getitem,
    given,
    setitem,
    used,
    zeros,
)
from gradwrap.compiler.passes.dead import remove_dead
from gradwrap.compiler.passes.wholes import is_whole
from gradwrap.core.values.dynamic import SLICE, TUPLE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gradwrap.compiler.ir.program import Program

    Body = list[Instr | Loop]

FEWEST = 16
"""The fewest products of a body that are joined."""
BLOCK = 64
"""The most products of a block."""
LEAST = 1 << 14
"""The fewest multiplications of a product, on average."""


class _Part(NamedTuple):
    """Neighbouring columns of a matrix, or rows if `axis` is 0."""

    matrix: int
    axis: int
    start: int
    stop: int


class _Member(NamedTuple):
    """A product that can be joined with others."""

    place: int
    step: Instr
    kind: str
    """`"rows"`: a column times columns; `"sum"`: columns times a vector; `"outer"`."""
    column: int
    """The number of the column; -1 if there is none."""
    part: _Part
    vector: Ref | None
    other: int
    """The matrix of the column; that of the columns if there is none."""


def join_growing_products(program: Program) -> None:
    """Join products with parts of one matrix whose sizes grow or shrink."""
    if MATMUL not in program.operations():
        return
    first = len(program.values)
    everywhere = uses(program)
    read: set[int] = set()
    for block in program.blocks():
        if sum(isinstance(step, Instr) and step.op is MATMUL for step in block.body) >= FEWEST:
            products = _Products(program, block.body, everywhere)
            block.body = products.joined()
            read |= products.read
    if len(program.values) > first:
        program.exact = False
        describe_orders(program, first, read)
        remove_dead(program)


class _Products:
    """The products of a body."""

    def __init__(self, program: Program, body: Body, everywhere: Mapping[int, int]) -> None:
        self.program = program
        self.values = program.values
        self.body = body
        self.everywhere = everywhere
        self.makers = {step.out: step for step in body if isinstance(step, Instr)}
        self.made: list[tuple[int, Instr | Loop]] = []
        """New steps, with the places where they are wanted."""
        self.instead: dict[int, Ref] = {}
        self.read: set[int] = set()
        """The values that have become parts of products."""
        self.matrices: dict[Any, Ref] = {}
        """By vectors and their places: the matrix of them."""

    def joined(self) -> Body:
        """Return the body with joined products; the same body if there are too few."""
        groups: dict[Any, list[_Member]] = {}
        for place, step in enumerate(self.body):
            if isinstance(step, Loop):
                continue
            member = self.member(place, step)
            if member is not None:
                key: Any
                key = (member.kind, member.part.matrix, member.part.axis, member.other)
                if member.kind == "outer":  # each adds to another version of the array
                    key = (member.kind, self.values[step.out], *key[2:])
                groups.setdefault(key, []).append(member)
        gone: dict[int, Instr | None] = {}
        for group in groups.values():
            size = sum(math.prod(self.shape(one)) for one in group)
            if len(group) < FEWEST or size < LEAST * len(group):
                continue
            if len({one.part[2:] for one in group}) == 1:  # one loop, or one matrix
                continue
            for at in range(0, len(group), BLOCK):
                self.block(group[at : at + BLOCK], gone)
        if not gone:
            return self.body
        steps = [
            (place, gone.get(place, step))
            for place, step in enumerate(self.body)
            if gone.get(place, step) is not None
        ]
        found = sorted([*steps, *self.made], key=lambda pair: pair[0])
        named = [changed(step, self.leaf) for _, step in found]
        return _in_order(named) or self.body

    def leaf(self, leaf: Any) -> Any:
        while type(leaf) is Ref and leaf.index in self.instead:
            leaf = self.instead[leaf.index]
        return leaf

    def shape(self, member: _Member) -> tuple[int, int]:
        """Return how many multiplications a product has, along both axes."""
        place: int = member.step.args[0].index if member.kind == "outer" else member.part.matrix
        return self.values[place].shape[1 - member.part.axis], member.part.stop - member.part.start

    def part(self, leaf: Any) -> _Part | None:
        """Return the part of a matrix that a value is; None for other values."""
        maker = self.makers.get(leaf.index) if type(leaf) is Ref else None
        while maker is not None and maker.op is COPY and len(maker.args) == 1:
            leaf = maker.args[0]
            maker = self.makers.get(leaf.index)
        if maker is None or maker.op is not GETITEM or type(maker.args[0]) is not Ref:
            shape = self.values[leaf.index].shape if type(leaf) is Ref else ()
            return _Part(leaf.index, 1, 0, shape[1]) if len(shape) == 2 else None
        return self.keyed(maker.args[0].index, maker.args[1])

    def keyed(self, matrix: int, key: Any) -> _Part | None:
        """Return the part of a matrix at a key, if it is neighbouring columns or rows."""
        shape = self.values[matrix].shape
        parts: Sequence[Any] = key if isinstance(key, TUPLE) else (key, slice(None))
        if len(shape) != 2 or len(parts) != 2:
            return None
        for axis in (1, 0):
            mine, other = parts[axis], parts[1 - axis]
            if not is_whole(other, (shape[1 - axis],)):
                continue
            if type(mine) is int:
                start = mine % shape[axis]
                return _Part(matrix, axis, start, start + 1)
            if isinstance(mine, SLICE) and all(
                type(one) in (int, type(None)) for one in (mine.start, mine.stop, mine.step)
            ):
                start, stop, by = mine.indices(shape[axis])
                if by == 1 and start < stop:
                    return _Part(matrix, axis, start, stop)
        return None

    def member(self, place: int, step: Instr) -> _Member | None:
        """Return a step as a product that can be joined, or None."""
        if any(self.values[i].dtype != self.values[step.out].dtype for i in used(step)):
            return None
        if step.op is MATMUL and not step.kw and len(step.args) == 2:
            return self.product(place, step)
        return self.outer(place, step) if step.op is SCATTER_ADD else None

    def product(self, place: int, step: Instr) -> _Member | None:
        ranks = [len(self.values[arg.index].shape) for arg in step.args if type(arg) is Ref]
        if sorted(ranks) != [1, 2]:
            return None
        vector, matrix = step.args if ranks[0] == 1 else step.args[::-1]
        many, one = self.part(matrix), self.part(vector)
        if many is None:
            return None
        contracted = 1 if ranks[0] == 2 else 0
        if many.axis != contracted:
            if one is None or one.axis != many.axis or one.stop - one.start != 1:
                return None
            return _Member(place, step, "rows", one.start, many, None, one.matrix)
        return _Member(place, step, "sum", -1, many, vector, many.matrix)

    def outer(self, place: int, step: Instr) -> _Member | None:
        target, key, added = step.args
        maker = self.makers.get(added.index) if type(added) is Ref else None
        if maker is None or maker.op is not MULTIPLY or self.everywhere[added.index] != 1:
            return None
        pairs = [self.turned(leaf) for leaf in maker.args]
        there = self.keyed(target.index, key) if type(target) is Ref else None
        if there is None or None in pairs:
            return None
        by_axis = dict(pair for pair in pairs if pair is not None)
        if len(by_axis) != 2:
            return None
        one = self.part(by_axis[1 - there.axis])
        if one is None or one.stop - one.start != 1 or one.axis != there.axis:
            return None
        vector = by_axis[there.axis]
        return _Member(place, step, "outer", one.start, there, vector, one.matrix)

    def turned(self, leaf: Any) -> tuple[int, Ref] | None:
        """Return the axis along which a matrix of one row or column lies, and its vector."""
        maker = self.makers.get(leaf.index) if type(leaf) is Ref else None
        if maker is None or not maker.views or type(maker.args[0]) is not Ref:
            return None
        shape, source = self.values[maker.out].shape, self.values[maker.args[0].index].shape
        if len(shape) != 2 or len(source) != 1 or 1 not in shape or math.prod(shape) != source[0]:
            return None
        if maker.op is GETITEM and not _is_spread(maker.args[1]):
            return None
        return int(shape[0] == 1), maker.args[0]

    # Blocks ---------------------------------------------------------------------------------------

    def block(self, members: Sequence[_Member], gone: dict[int, Instr | None]) -> None:
        """Join the products of a block; enter the replacement of each into `gone`."""
        first, last = members[0], members[-1]
        axis = first.part.axis
        low = min(one.part.start for one in members)
        high = max(one.part.stop for one in members)
        columns = _stride([one.column for one in members]) if first.column >= 0 else slice(None)
        if columns is None or (first.kind == "outer" and not self.is_chain(members)):
            return
        if first.kind == "rows":
            left = self.columns(first.place, first.other, axis, columns)
            right = self.columns(first.place, first.part.matrix, axis, slice(low, high))
            product = self.product_of(first, self.transposed(first, left), right)
        elif first.kind == "sum":
            right = self.columns(first.place, first.part.matrix, axis, slice(low, high))
            right = self.transposed(first, right)
            product = self.padded(members, low, self.stacked(members, low, high), right)
        else:
            left = self.columns(first.place, first.other, axis, columns)
            product = self.padded(members, low, left, self.stacked(members, low, high))
            if axis == 0:
                product = self.transposed(first, product)
            key = [slice(None), slice(None)]
            key[axis] = slice(low, high)
            for one in members:
                self.instead[one.step.out] = one.step.args[0]
                gone[one.place] = None
            del self.instead[last.step.out]
            gone[last.place] = last.step.on((last.step.args[0], tuple(key), product))
            return
        for row, one in enumerate(members):
            mine = slice(one.part.start - low, one.part.stop - low)
            where: Any = (row, mine) if one.kind == "rows" else row
            made = replace(one.step, fn=getitem, name="getitem", args=(product, where))
            gone[one.place] = replace(made, views=True)
            self.read.add(one.step.out)

    def is_chain(self, members: Sequence[_Member]) -> bool:
        """Tell if nothing but additions reads the array that the members add to, in between."""
        before = -1
        for one in members:
            at: Any = one.step.args[0]
            while before >= 0 and at.index != before:
                maker = self.makers.get(at.index)
                if maker is None or maker.op is not SCATTER_ADD or self.everywhere[at.index] != 1:
                    return False
                at = maker.args[0]
                if type(at) is not Ref:
                    return False
            if before >= 0 and self.everywhere[before] != 1:
                return False
            before = one.step.out
        return True

    def add(self, place: int, like: Instr, fn: Callable[..., Any], args: Any, shape: Any) -> Ref:
        """Enter a new step; return its result."""
        ref = self.program.new(Value(shape, self.values[like.out].dtype, is_ndarray=True))
        views = fn in (getitem, np.transpose)
        self.made.append((place, Instr(fn, fn.__name__, args, (), ref.index, views, like.line)))
        return ref

    def columns(self, place: int, matrix: int, axis: int, which: slice) -> Ref:
        """Return columns of a matrix; if `axis` is 0, rows as columns."""
        like, shape = self.body[place], list(self.values[matrix].shape)
        assert isinstance(like, Instr)
        shape[axis] = len(range(*which.indices(shape[axis])))
        key = (slice(None), which) if axis else (which, slice(None))
        part = self.add(place, like, getitem, (Ref(matrix), key), tuple(shape))
        turned = (shape[1], shape[0])
        return part if axis else self.add(place, like, np.transpose, (part,), turned)

    def transposed(self, member: _Member, matrix: Ref) -> Ref:
        shape = self.values[matrix.index].shape[::-1]
        return self.add(member.place, member.step, np.transpose, (matrix,), shape)

    def product_of(self, member: _Member, left: Ref, right: Ref) -> Ref:
        """Return a product of two matrices."""
        shape = (self.values[left.index].shape[0], self.values[right.index].shape[1])
        return self.add(member.place, member.step, np.matmul, (left, right), shape)

    def padded(self, members: Sequence[_Member], low: int, left: Ref, right: Ref) -> Ref:
        """Return a product with the matrix of the vectors, the left one of the rows of a "sum"."""
        spans = tuple((one.part.start - low, one.part.stop - low) for one in members)
        first = members[0]
        shape = (self.values[left.index].shape[0], self.values[right.index].shape[1])
        args = (left, right, spans, first.kind == "sum")
        return self.add(first.place, first.step, padded_product, args, shape)

    def stacked(self, members: Sequence[_Member], low: int, high: int) -> Ref:
        """Return the matrix whose rows are the vectors, with zeros where they are shorter."""
        key = tuple((one.vector, one.part.start) for one in members)
        if key not in self.matrices:
            first = members[0]
            shape = (len(members), high - low)
            args = (shape, self.values[first.step.out].dtype)
            found = self.add(first.place, first.step, zeros, args, shape)
            for row, one in enumerate(members):
                place = (row, slice(one.part.start - low, one.part.stop - low))
                found = self.add(one.place, one.step, setitem, (found, place, one.vector), shape)
            self.matrices[key] = found
        return self.matrices[key]


def _is_spread(key: Any) -> bool:
    """Tell if a key only adds axes."""
    parts: Any = key if isinstance(key, TUPLE) else (key,)
    return all(part is None or part is Ellipsis or part == slice(None) for part in parts)


def _stride(numbers: Sequence[int]) -> slice | None:
    """Return the slice of equally spaced numbers, or None."""
    by = numbers[1] - numbers[0] if len(numbers) > 1 else 1
    if by == 0 or any(b - a != by for a, b in pairwise(numbers)):
        return None
    stop = numbers[-1] + by
    return slice(numbers[0], None if stop < 0 else stop, by)


def _in_order(steps: Body) -> Body:
    """Sort steps so that each stands behind those whose results it reads; [] if none can."""
    makers = {index: at for at, step in enumerate(steps) for index in given(step)}
    waits = [{makers[index] for index in used(step) if index in makers} for step in steps]
    order = in_order(waits)
    return [steps[at] for at in order] if len(order) == len(steps) else []
