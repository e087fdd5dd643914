"""Joins of many parts: runs of neighbours are read at once.

`np.stack` of a list that a loop has filled has one operand for each turn, `getitem(t, 0)`,
`getitem(t, 1)`, and so on, where `t` is the stack of all turns. So has `np.concatenate`. Such a run
becomes one slice of `t`, a run of the same value becomes a broadcast view, and a run of frozen
constants one constant.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradwrap.compiler.ir.layout import describe_orders
from gradwrap.compiler.ir.operations import ARRAY, CONCATENATE, GETITEM, STACK
from gradwrap.compiler.ir.program import (
    Constant,
    Instr,
    Loop,
    Program,
    Ref,
    Value,
    array,
    getitem,
)
from gradwrap.core.values.dynamic import LIST, type_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

FEWEST = 8
"""The shortest run that is read at once."""


class _Run(NamedTuple):
    """Neighbours among the operands of a join."""

    kind: str
    source: int
    """The value that they are parts of, or that they are."""
    places: list[int]
    leaves: list[Any]

    @property
    def is_long(self) -> bool:
        """Tell if it is worth one operation."""
        return len(self.leaves) >= FEWEST


def join_runs(program: Program) -> None:
    """Read runs of neighbours at once where many values are joined along their first axis."""
    first = len(program.values)
    bodies = list(program.bodies())
    found = [body for body in bodies if any(_is_join(step, program) for step in body)]
    if not found:
        return
    defined = {step.out: step for body in bodies for step in body if isinstance(step, Instr)}
    for body in found:
        body[:] = _Joins(program, defined).rewritten(body)
    if len(program.values) > first:
        describe_orders(program, first)


def _is_join(step: Instr | Loop, program: Program) -> bool:
    """Tell if a step joins many values of one shape and dtype along the first axis."""
    if isinstance(step, Loop) or step.op not in (ARRAY, STACK, CONCATENATE) or step.kw:
        return False
    parts, *options = step.args
    if (options and step.op is not ARRAY) or not isinstance(parts, LIST) or len(parts) < FEWEST:
        return False
    leaves: list[Any] = [*parts]
    if any(type_of(leaf) is not Ref for leaf in leaves):
        return False
    value = program.values[step.out]
    numbers: list[int] = [leaf.index for leaf in leaves]
    operands = [program.values[number] for number in numbers]
    shape = operands[0].shape
    is_alike = all(one.shape == shape and one.dtype == value.dtype for one in operands)
    return is_alike and (step.op is CONCATENATE or shape == value.shape[1:])


class _Joins:
    """Rewrites the joins in one body."""

    def __init__(self, program: Program, defined: dict[int, Instr]) -> None:
        self._program = program
        self._values: list[Value] = program.values
        self._defined = defined
        self._body: list[Instr | Loop] = []
        self._shape: tuple[int, ...] = ()
        """The shape of one part of the current join."""

    def rewritten(self, body: list[Instr | Loop]) -> list[Instr | Loop]:
        """Return a new body."""
        for step in body:
            self._body.append(self._step(step))
        return self._body

    def _step(self, step: Instr | Loop) -> Instr | Loop:
        if not isinstance(step, Instr) or not _is_join(step, self._program):
            return step
        runs = self._runs(step.args[0])
        return self._joined(runs, step) if any(run.is_long for run in runs) else step

    def _joined(self, runs: Sequence[_Run], step: Instr) -> Instr:
        """Return the join of the parts; where it has no axis for them, it is reshaped."""
        first: int = step.args[0][0].index
        self._shape = self._values[first].shape
        parts = self._parts(runs, step)
        joined = Instr(
            np.concatenate, "concatenate", (parts,), (), step.out, views=False, line=step.line
        )
        if step.op is not CONCATENATE:
            return joined
        count = len(step.args[0])
        value = self._values[step.out]
        made = self._program.new(value._replace(shape=(count, *self._shape)))
        self._body.append(replace(joined, out=made.index))
        args = (made, value.shape)
        return Instr(np.reshape, "reshape", args, (), step.out, views=True, line=step.line)

    def _runs(self, leaves: Sequence[Ref]) -> list[_Run]:
        found: list[_Run] = []
        for leaf in leaves:
            kind, source, place = self._place(leaf)
            last = found[-1] if found else None
            if last is None or not _continues(last, kind, source, place):
                found.append(_Run(kind, source, [place], [leaf]))
                continue
            last.places.append(place)
            last.leaves.append(leaf)
        return found

    def _place(self, leaf: Ref) -> tuple[str, int, int]:
        """Return what a value is part of, and its place there."""
        step = self._defined.get(leaf.index)
        if step is not None and step.op is GETITEM and type_of(step.args[1]) is int:
            source: int = step.args[0].index
            place: int = step.args[1]
            return "part", source, place + self._values[source].shape[0] * (place < 0)
        constant = self._program.constants.get(leaf.index)
        if constant is not None and not constant.by_reference:
            return "constant", -1, 0
        return "same", leaf.index, 0

    def _parts(self, runs: Sequence[_Run], step: Instr) -> list[Ref]:
        """Return the parts of a join along its first axis."""
        parts: list[Ref] = []
        waiting: list[Ref] = []
        for run in [*runs, None]:
            if run is not None and not run.is_long:
                waiting += run.leaves
                continue
            if waiting:
                parts.append(self._few(waiting, step))
                waiting = []
            if run is not None:
                parts.append(self._many(run, step))
        return parts

    def _few(self, leaves: list[Ref], step: Instr) -> Ref:
        if step.op is ARRAY:
            return self._emit(array, (leaves, *step.args[1:]), len(leaves), step)
        return self._emit(np.stack, (leaves,), len(leaves), step)

    def _many(self, run: _Run, step: Instr) -> Ref:
        count = len(run.leaves)
        shape = (count, *self._shape)
        if run.kind == "same":
            return self._emit(np.broadcast_to, (run.leaves[0], shape), count, step, views=True)
        if run.kind == "constant":
            constants = self._program.constants
            content = np.stack([constants[leaf.index].array for leaf in run.leaves])
            made = self._program.new(Value(content.shape, content.dtype, is_ndarray=True))
            constants[made.index] = Constant(content, by_reference=False, name="")
            return made
        first, by = run.places[0], run.places[1] - run.places[0]
        stop = first + by * count
        key = slice(first, None if stop < 0 else stop, None if by == 1 else by)
        return self._emit(getitem, (Ref(run.source), key), count, step, views=True)

    def _emit(
        self,
        fn: Callable[..., Any],
        args: tuple[Any, ...],
        count: int,
        step: Instr,
        *,
        views: bool = False,
    ) -> Ref:
        value = self._values[step.out]
        made = self._program.new(value._replace(shape=(count, *self._shape)))
        self._body.append(Instr(fn, fn.__name__, args, (), made.index, views, step.line))
        return made


def _continues(run: _Run, kind: str, source: int, place: int) -> bool:
    """Tell if a value continues a run."""
    if (kind, source) != (run.kind, run.source):
        return False
    if kind != "part":
        return True
    step = place - run.places[-1]
    return step != 0 and (len(run.places) == 1 or step == run.places[1] - run.places[0])
