"""Slices that advance, such as `x[i : i + 5]` in the turns of a loop, as rows of one array.

The windows are stacked before the first of them is read, and each slice becomes a read of one row,
whose index alone varies from turn to turn, so that loops are found. Neighbours that do not
overlap are a reshaped part of the array. What a backward pass adds at such slices is collected in
an array of windows likewise, and added to the whole after the last one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradwrap.compiler.ir.analysis import uses
from gradwrap.compiler.ir.layout import describe_orders
from gradwrap.compiler.ir.operations import GETITEM, SCATTER_ADD
from gradwrap.compiler.ir.program import (
    Instr,
    Loop,
    Program,
    Ref,
    Value,
    getitem,
    is_literal,
    scatter_add,
    token,
    zeros,
)
from gradwrap.core.values.dynamic import SLICE, TUPLE, type_of

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Sequence

FEWEST = 8
"""The fewest windows that are stacked."""
WIDEST = 16
"""The greatest width of windows that overlap, or leave gaps."""


class _Window(NamedTuple):
    """A slice along the first axis in a key."""

    start: int
    width: int
    rest: tuple[Any, ...]
    """The rest of the key."""

    @property
    def kind(self) -> Any:
        """Return what the windows of one array have in common."""
        return self.width, token(self.rest)


def stack_windows(program: Program) -> None:
    """Read advancing slices of an array as rows of an array of windows."""
    if any(shared for one in program.shares for shared in one):  # a result may be such a slice
        return
    first = len(program.values)
    everywhere: Any = None
    for body in list(program.bodies()):
        windows = {
            place: window
            for place, step in enumerate(body)
            if not isinstance(step, Loop) and (window := _window(step, program.values)) is not None
        }
        if len(windows) >= FEWEST:
            rewriter = _Rewriter(program, body, windows)
            rewriter.read()
            everywhere = uses(program) if everywhere is None else everywhere
            rewriter.add(everywhere)
            body[:] = [one for step in rewriter.steps for one in step]
    if len(program.values) > first:
        describe_orders(program, first)


def _window(step: Instr, values: Sequence[Value]) -> _Window | None:
    """Return the slice that a step reads, or adds at; None for other steps."""
    if step.op not in (GETITEM, SCATTER_ADD) or type_of(step.args[0]) is not Ref:
        return None
    key: Any = step.args[1]
    first, *rest = key if isinstance(key, TUPLE) and key else (key,)
    if not isinstance(first, SLICE) or not is_literal(key) or first.step not in (None, 1):
        return None
    if not all(isinstance(part, (int, SLICE)) for part in rest):
        return None
    index: int = step.args[0].index
    whole = values[index]
    if not whole.shape:
        return None
    start, stop, _ = first.indices(whole.shape[0])
    return _Window(start, stop - start, tuple(rest)) if stop > start else None


class _Stack(NamedTuple):
    """The windows of one kind: `number` of them, from `start` on, `step` apart."""

    start: int
    step: int
    number: int
    width: int
    rest: tuple[Any, ...]

    def keys(self) -> list[tuple[Any, ...]]:
        """Return the keys of the elements of the same place in all windows, or of all elements."""
        if self.step == self.width:
            return [(slice(self.start, self.start + self.number * self.width), *self.rest)]
        length = self.step * (self.number - 1) + 1
        starts = range(self.start, self.start + self.width)
        step = None if self.step == 1 else self.step
        return [(slice(one, one + length, step), *self.rest) for one in starts]


def _stack_of(windows: Sequence[_Window]) -> _Stack | None:
    """Return windows of one kind as a stack, or None."""
    starts = sorted({one.start for one in windows})
    _, width, rest = windows[0]
    if len(starts) < FEWEST:
        return None
    step = starts[1] - starts[0]
    if np.any(np.diff(starts) != step) or (width > WIDEST and step != width):
        return None
    return _Stack(starts[0], step, len(starts), width, rest)


class _Rewriter:
    """Rewrites the windows of a body."""

    def __init__(
        self, program: Program, body: list[Instr | Loop], windows: dict[int, _Window]
    ) -> None:
        self._program = program
        self._values = program.values
        self._body = body
        self._windows = windows
        self.steps: list[list[Instr | Loop]] = [[step] for step in body]
        """The steps that replace each step."""
        self._regions: dict[Any, tuple[int, ...]] = {}

    def _emit(
        self,
        steps: list[Instr | Loop],
        fn: Any,
        args: tuple[Any, ...],
        value: Value,
        **options: Any,
    ) -> Ref:
        made = self._program.new(value)
        steps.append(Instr(fn, fn.__name__, args, (), made.index, **options))
        return made

    def _instr(self, place: int) -> Instr:
        step = self._body[place]
        assert isinstance(step, Instr)
        return step

    def read(self) -> None:
        """Replace slices that are read."""
        groups: dict[Any, list[int]] = {}
        for place, window in self._windows.items():
            step = self._instr(place)
            if step.op is GETITEM:
                groups.setdefault((step.args[0].index, window.kind), []).append(place)
        for (source, _), places in groups.items():
            stack = _stack_of([self._windows[place] for place in places])
            if stack is None:
                continue
            before: list[Instr | Loop] = []
            whole = self._stacked(
                before, Ref(source), stack, self._values[self._instr(places[0]).out]
            )
            for place in places:
                step = self._instr(place)
                row = (self._windows[place].start - stack.start) // stack.step
                made = replace(step, args=(whole, row), views=True, copied=False)
                self.steps[place] = [*before, made]
                before = []

    def _stacked(self, steps: list[Instr | Loop], source: Ref, stack: _Stack, one: Value) -> Ref:
        """Return the stack of all windows of an array."""
        shape = (stack.number, *one.shape)
        made = one._replace(shape=shape, order="C")
        keys = stack.keys()
        if len(keys) == 1:
            flat = made._replace(shape=(stack.number * stack.width, *one.shape[1:]))
            part = self._emit(steps, getitem, (source, keys[0]), flat, views=True)
            return self._emit(steps, np.reshape, (part, shape), made, views=True)
        parts = [
            self._emit(
                steps,
                getitem,
                (source, key),
                made._replace(shape=(shape[0], *shape[2:])),
                views=True,
            )
            for key in keys
        ]
        whole = self._program.new(made)
        steps.append(Instr(np.stack, "stack", (parts,), (("axis", 1),), whole.index))
        return whole

    def add(self, everywhere: Counter[int]) -> None:
        """Collect what is added at slices, and add it to the whole at the end."""
        following: dict[int, int] = {}
        for place, step in enumerate(self._body):
            if isinstance(step, Instr) and step.op is SCATTER_ADD and type_of(step.args[0]) is Ref:
                following[step.args[0].index] = place
        begun: set[int] = set()
        for place in following.values():
            if place in begun:
                continue
            chain = [place]
            while True:
                out = self._instr(chain[-1]).out
                if everywhere[out] != 1 or out not in following:
                    break
                chain.append(following[out])
            begun.update(chain)
            self._chain(chain)

    def _chain(self, chain: list[int]) -> None:
        """Rewrite additions to one array, each of which takes the array from the one before."""
        kinds: dict[Any, list[int]] = {}
        first: int = self._instr(chain[0]).args[0].index
        whole = self._values[first]
        for place in chain:
            window = self._windows.get(place)
            amount: Any = self._instr(place).args[2]
            if window is not None and type_of(amount) is Ref:
                index: int = amount.index
                value = self._values[index]
                if value.dtype == whole.dtype and value.shape == self._region(whole, window):
                    kinds.setdefault(window.kind, []).append(place)
        groups = [
            (stack, places)
            for places in kinds.values()
            if (stack := _stack_of([self._windows[place] for place in places])) is not None
        ]
        if groups:
            self._collected(chain, whole, groups)

    def _region(self, whole: Value, window: _Window) -> tuple[int, ...]:
        ends = slice(window.start, window.start + window.width).indices(whole.shape[0])
        known = whole.shape, window.kind, len(range(*ends))  # shorter where the array ends
        if known not in self._regions:
            sample = np.broadcast_to(np.zeros((), bool), whole.shape)
            key = (slice(window.start, window.start + window.width), *window.rest)
            self._regions[known] = tuple(np.shape(sample[key]))
        return self._regions[known]

    def _collected(
        self, chain: list[int], whole: Value, groups: list[tuple[_Stack, list[int]]]
    ) -> None:
        self._program.exact = False  # the sums are added up in another order
        stacks = {place: stack for stack, places in groups for place in places}
        total: Ref = self._instr(chain[0]).args[0]
        sums: dict[int, tuple[_Stack, Ref]] = {}
        for place in chain:
            step = self._instr(place)
            steps: list[Instr | Loop] = []
            stack = stacks.get(place)
            if stack is None:
                made = self._program.new(whole)
                steps.append(replace(step, args=(total, *step.args[1:]), out=made.index))
                total = made
            else:
                window, amount = self._windows[place], step.args[2]
                value = whole._replace(
                    shape=(stack.number, *self._region(whole, window)), order="C"
                )
                if id(stack) not in sums:
                    made = self._emit(steps, zeros, (value.shape, value.dtype), value)
                    sums[id(stack)] = stack, made
                row = (window.start - stack.start) // stack.step
                added = (sums[id(stack)][1], row, amount)
                made = self._emit(steps, scatter_add, added, value, line=step.line)
                sums[id(stack)] = stack, made
            self.steps[place] = steps
        last = self.steps[chain[-1]]
        for stack, made in sums.values():
            total = self._spread(last, stack, made, total, whole)
        end = last[-1]
        assert isinstance(end, Instr)
        last[-1] = replace(end, out=self._instr(chain[-1]).out)

    def _spread(
        self, steps: list[Instr | Loop], stack: _Stack, sums: Ref, total: Ref, whole: Value
    ) -> Ref:
        """Add the sums of all windows to the whole."""
        made = self._values[sums.index]
        keys = stack.keys()
        for place, key in enumerate(keys):
            if len(keys) == 1:
                flat = made._replace(shape=(stack.number * stack.width, *made.shape[2:]))
                part = self._emit(steps, np.reshape, (sums, flat.shape), flat, views=True)
            else:
                some = made._replace(shape=(stack.number, *made.shape[2:]))
                part = self._emit(steps, getitem, (sums, (slice(None), place)), some, views=True)
            total = self._emit(steps, scatter_add, (total, key, part), whole)
        return total
