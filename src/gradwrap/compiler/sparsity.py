"""The sparsity pattern of a Jacobian, from one run of the function.

The function is traced. For each value of its program, a sparse matrix says which elements of the
argument its elements may depend on. An operation that only moves elements is performed on their
numbers; for arithmetic, reductions and products the places follow from the shapes. Of any other
operation each element may depend on all elements of its arguments. So the pattern has each
derivative that is not zero at this argument, and perhaps some that are.
"""

from __future__ import annotations

import functools
import math
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.ir.evaluate import perform
from gradwrap.compiler.ir.operations import ARRAY, ITEM, WHERE, Kind
from gradwrap.compiler.ir.program import NDARRAY, NUMBER, UFUNC, Ref, mapped
from gradwrap.compiler.tracing.run import trace
from gradwrap.compiler.tracing.tape import Unhandled
from gradwrap.core.values.dynamic import LIST, TUPLE, type_of
from gradwrap.core.values.tree import flatten, map_leaves
from gradwrap.errors import SparsityError
from gradwrap.transforms.argnums import name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from gradwrap.compiler.ir.program import Instr
    from gradwrap.compiler.tracing.run import Traced

    Pairs = tuple[Any, Any]
    """Numbers of elements of a result, and of the elements of an operand that they depend on."""

sparse: Any = import_module("scipy.sparse")
MOVES = frozenset(
    {Kind.READ, Kind.COPY, Kind.RESHAPE, Kind.TRANSPOSE, Kind.MOVE, Kind.BROADCAST, Kind.SELECT}
    | {Kind.JOIN, Kind.TRIANGLE, Kind.WRITE}
)
"""The kinds of operations that move elements, and compute nothing."""
REMEDY = "Fix: pass the pattern itself"
MOST = 100_000_000
"""The most entries of a pattern, 1.2 GB."""


def pattern(fun: Callable[..., Any], args: Any, kwargs: Any, place: int | str) -> Any:
    """Return where the Jacobian of a function may differ from zero at its arguments.

    Parameters
    ----------
    fun
        A function of NumPy arrays, numbers, and containers of them.
    args, kwargs
        Its arguments.
    place
        The position or the name of one: the Jacobian is taken with respect to this argument.

    Returns
    -------
    A `scipy.sparse.csr_array` of ones, with a row for each element of the output, and a column for
    each element of the argument.

    Raises
    ------
    SparsityError
        The function cannot be traced, or too many elements depend on too many.
    """
    leaves, treedef = flatten((args, kwargs))
    marked = [map_leaves(functools.partial(_mark, i == place), x) for i, x in enumerate(args)]
    named = {k: map_leaves(functools.partial(_mark, k == place), x) for k, x in kwargs.items()}
    is_wanted, _ = flatten((tuple(marked), named))
    given = [w and _is_floating(leaf) for w, leaf in zip(is_wanted, leaves, strict=True)]
    name = name_of(fun)
    try:
        traced = trace(fun, leaves, treedef, given)
    except Unhandled as error:
        remedy = "Or pass the pattern itself" if "Fix:" in str(error) else REMEDY
        raise SparsityError(
            f'sparsity="detect": {name} cannot be traced: {error}. {remedy}.'
        ) from error
    inputs = [leaf for leaf, is_given in zip(leaves, given, strict=True) if is_given]
    return _Propagation(traced, inputs, name).result()


def _mark(mark: bool, _: Any) -> bool:
    return mark


def _is_floating(leaf: Any) -> bool:
    return isinstance(leaf, float) or getattr(getattr(leaf, "dtype", None), "kind", "") in (
        "f",
        "c",
    )


class _Propagation:
    """The dependences of all values of a trace on its inputs."""

    def __init__(self, traced: Traced, inputs: Sequence[Any], name: str) -> None:
        self._name = name
        self._traced = traced
        sizes = [int(np.size(one)) for one in inputs]
        self._count = sum(sizes)
        self._known: dict[int, Any] = {**traced.constants}
        self._known.update(zip(traced.inputs, map(np.asarray, inputs), strict=True))
        self._sets: dict[int, Any] = {}
        start = 0
        for index, size in zip(traced.inputs, sizes, strict=True):
            columns = np.arange(start, start + size)
            self._sets[index] = self._matrix((np.arange(size), columns), size, self._count)
            start += size

    def result(self) -> Any:
        """Return the rows of all results, one below the other."""
        last: dict[int, int] = {}
        for number, step in enumerate(self._traced.instrs):
            last.update(dict.fromkeys(step.reads, number))
        kept = {leaf.index for leaf in self._traced.leaves if type(leaf) is Ref}
        for number, step in enumerate(self._traced.instrs):
            perform([step], self._known)
            self._propagate(step)
            for index in {*step.reads, step.out}:
                if last.get(index, number) == number and index not in kept:
                    self._known.pop(index, None)
                    self._sets.pop(index, None)
        rows: list[Any] = []
        for leaf, real in zip(self._traced.leaves, self._traced.results, strict=False):
            if isinstance(real, (NDARRAY, NUMBER, float)):
                found = self._sets.get(leaf.index) if type(leaf) is Ref else None
                empty = sparse.csr_array((int(np.size(real)), self._count), dtype=np.int32)
                rows.append(empty if found is None else found)
        return sparse.csr_array(sparse.vstack(rows))

    @staticmethod
    def _matrix(pairs: Pairs, rows: int, columns: int) -> Any:
        own, across = pairs
        ones = np.ones(len(own), np.int32)
        return sparse.csr_array((ones, (own, across)), shape=(rows, columns))

    def _propagate(self, step: Instr) -> None:
        out: Any = self._known[step.out]
        operands = [index for index in dict.fromkeys(step.reads) if index in self._sets]
        if not operands or (not isinstance(out, TUPLE) and not _is_floating(out)):
            return
        if step.op is ITEM:
            self._sets[step.out] = self._sets[operands[0]][step.args[1]]
            return
        found: Any = None
        if isinstance(out, TUPLE):
            parts: Sequence[Any] = out
            self._sets[step.out] = [self._all(operands, int(np.size(x)), step) for x in parts]
            return
        for index, pairs in self._dependences(step, operands, out):
            part = self._matrix(pairs, int(np.size(out)), self._sets[index].shape[0])
            part = part @ self._sets[index]
            found = part if found is None else found + part
        if found is None:
            found = self._all(operands, np.size(out), step)
        found.data[:] = 1  # sums of ones
        self._sets[step.out] = found

    def _all(self, operands: Sequence[int], size: int, step: Instr) -> Any:
        """Return rows that depend on all that the operands depend on."""
        columns = np.unique(np.concatenate([self._sets[index].indices for index in operands]))
        if size * columns.size > MOST:
            line = f" in line {step.line}" if step.line else ""
            raise SparsityError(
                f'sparsity="detect": each of the {size} elements of {step.name}{line} of '
                f"{self._name} may depend on {columns.size} elements. {REMEDY}."
            )
        return self._matrix(
            (np.repeat(np.arange(size), columns.size), np.tile(columns, size)), size, self._count
        )

    def _dependences(
        self, step: Instr, operands: Sequence[int], out: Any
    ) -> Iterator[tuple[int, Pairs]]:
        """Yield the pairs of elements for each operand; nothing for operations without a law."""
        kind = step.op.kind
        if kind is Kind.WRITE and step.op.scatters:
            yield from self._scattered(step, operands, out)
        elif kind in MOVES or step.op.moves:
            yield from self._moved(step, operands, out)
        elif kind is Kind.REDUCE or step.op.reduces:
            yield from self._reduced(step, operands, out)
        elif kind is Kind.PRODUCT:
            yield from self._multiplied(step, operands, out)
        elif _is_elementwise(step):
            for index in operands:
                spread = np.broadcast_to(self._numbers(index), np.shape(out))
                yield index, (np.arange(np.size(out)), spread.ravel())

    def _numbers(self, index: int) -> Any:
        shape = np.shape(self._known[index])
        return np.arange(math.prod(shape)).reshape(shape)

    def _labels(
        self, step: Instr, operands: Sequence[int]
    ) -> tuple[dict[int, Any], dict[int, int]]:
        """Return numbers for the elements of all operands: from 1, and 0 for all others."""
        labels: dict[int, Any] = {}
        starts: dict[int, int] = {}
        start = 1
        for index in step.reads:
            if index in operands:
                starts[index] = start
                labels[index] = self._numbers(index) + start
                start += labels[index].size
            elif step.op.moves:  # by the numbers in the other arguments
                labels[index] = self._known[index]
            else:
                labels[index] = np.zeros(np.shape(self._known[index]), np.int64)
        return labels, starts

    def _moved(self, step: Instr, operands: Sequence[int], out: Any) -> Iterator[tuple[int, Pairs]]:
        labels, starts = self._labels(step, operands)

        def numbered(leaf: Any) -> Any:
            return labels[leaf.index] if type(leaf) is Ref else leaf

        args = list(mapped(step.args, numbered))
        if step.op.has_key:
            args[1] = mapped(step.args[1], self._real)
        if step.op is ARRAY:
            args[1:] = [np.int64]
        elif step.op.kind is Kind.JOIN or step.op.kind is Kind.WRITE:
            args = [_whole_numbers(arg) for arg in args]
        named = {key: value for key, value in step.kw if key != "dtype"}
        found = np.asarray(step.fn(*args, **named))
        if found.shape != np.shape(out):
            return
        flat = found.ravel()
        for index, start in starts.items():
            places = np.flatnonzero((flat >= start) & (flat < start + np.size(self._known[index])))
            yield index, (places, flat[places] - start)

    def _real(self, leaf: Any) -> Any:
        return self._known[leaf.index] if type(leaf) is Ref else leaf

    def _scattered(
        self, step: Instr, operands: Sequence[int], out: Any
    ) -> Iterator[tuple[int, Pairs]]:
        whole, key, value = step.args
        places = np.arange(np.size(out)).reshape(np.shape(out))
        written = places[mapped(key, self._real)]
        for index in operands:
            numbers = self._numbers(index)
            if type(whole) is Ref and whole.index == index:
                yield index, (places.ravel(), numbers.ravel())
            if type(value) is Ref and value.index == index:
                yield index, (written.ravel(), np.broadcast_to(numbers, written.shape).ravel())

    def _reduced(
        self, step: Instr, operands: Sequence[int], out: Any
    ) -> Iterator[tuple[int, Pairs]]:
        (index,) = operands
        shape = np.shape(self._known[index])
        named = dict(step.kw)
        default = None if step.op.reduces else 0
        axis: Any = step.args[1] if len(step.args) > 1 else named.get("axis", default)
        axes: Any = range(len(shape)) if axis is None else np.atleast_1d(axis)
        own = {int(one) % len(shape) for one in axes}
        kept = tuple(1 if place in own else n for place, n in enumerate(shape))
        places = np.arange(np.size(out)).reshape(kept)
        yield index, (np.broadcast_to(places, shape).ravel(), np.arange(math.prod(shape)))

    def _multiplied(
        self, step: Instr, operands: Sequence[int], out: Any
    ) -> Iterator[tuple[int, Pairs]]:
        """Pair elements of a product with those of its factors where the other is not zero."""
        values = [np.asarray(self._real(arg)) for arg in step.args]
        numbers = [np.arange(one.size).reshape(one.shape) for one in values]
        left, right = values
        wide = np.arange(np.size(out)).reshape(np.shape(out))
        if right.ndim == 1:
            right, numbers[1], wide = right[:, None], numbers[1][:, None], wide[..., None]
        if left.ndim == 1:
            left, numbers[0], wide = left[None], numbers[0][None], wide[..., None, :]
        if wide.size * left.shape[-1] > MOST:
            return
        shape = (*wide.shape, left.shape[-1])  # rows, columns, and the axis that is summed
        spread = [left[..., :, None, :], np.swapaxes(right, -1, -2)[..., None, :, :]]
        counted = [
            numbers[0][..., :, None, :],
            np.swapaxes(numbers[1], -1, -2)[..., None, :, :],
        ]
        for place, arg in enumerate(step.args):
            if type(arg) is not Ref or arg.index not in operands:
                continue
            other = step.args[1 - place]
            is_fixed = type(other) is not Ref or other.index not in self._sets
            matters = np.broadcast_to(spread[1 - place] != 0 if is_fixed else True, shape)
            own = np.broadcast_to(wide[..., None], shape)[matters]
            yield arg.index, (own, np.broadcast_to(counted[place], shape)[matters])


def _is_elementwise(step: Instr) -> bool:
    if isinstance(step.fn, UFUNC):
        ufunc: Any = step.fn
        return ufunc.signature is None and ufunc.nout == 1
    return step.op is WHERE or step.op.is_power or step.op.kind in (Kind.CAST, Kind.PART)


def _whole_numbers(value: Any) -> Any:
    """Replace floats and complex numbers by zeros: they are not elements of an operand."""
    if isinstance(value, (float, complex)):
        return 0
    if isinstance(value, (LIST, TUPLE)):
        return type_of(value)([_whole_numbers(part) for part in value])
    return value
