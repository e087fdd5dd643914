"""Loops over single elements, written with Python's floats.

Arithmetic of NumPy's numbers, and indices of its arrays, take about ten times as long as those of
Python's floats and of flat memory views. Both give the same bits. A division by zero raises an
error here, after which the function itself is called.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.ir.operations import GETITEM, Kind
from gradwrap.compiler.ir.program import NDARRAY, Instr, Loop, Ref, Value
from gradwrap.core.values.dynamic import TUPLE, type_of

if TYPE_CHECKING:
    from gradwrap.compiler.engines.numpy.buffers import BufferedText
    from gradwrap.compiler.engines.numpy.text import State

FEWEST = 16
"""The fewest turns of such a loop."""
OPERATORS = frozenset("+-*/")


class Other(Exception):  # noqa: N818  it is caught, and the loop is written otherwise
    """A loop does more than arithmetic of single elements."""


class ElementLoop:
    """The lines of a loop whose operations take and give single floats."""

    def __init__(self, writer: BufferedText, loop: Loop, state: State, prefix: str) -> None:
        self._writer = writer
        self._loop = loop
        self._state = state
        self._prefix = prefix
        self._names: dict[int, str] = {}
        """By value: the name of a float."""
        self._views: dict[int, str] = {}
        """By value: the flat view of an array; a write gives its view to the array written."""
        self._tables: dict[int, Any] = {}
        """By value: the integers that it takes in the turns."""
        self._sources: dict[Any, tuple[str, str]] = {}
        """By key of what the turns iterate over: the name in a turn, and the text."""
        self._made: dict[str, Any] = {}
        """The tables of places by name."""
        self._before: list[str] = []
        self._body: list[str] = []

    def lines(self) -> tuple[list[str], list[str], list[str]] | None:
        """Return the lines before the loop with its head, those of a turn, and those after.

        None if the loop is another one. Its results then have names.
        """
        loop = self._loop
        is_flat = all(isinstance(step, Instr) for step in loop.body)
        if (
            loop.count is not None
            or loop.turns < FEWEST
            or self._writer.module != "np"
            or not is_flat
        ):
            return None
        try:
            self._enter()
            for step in loop.body:
                self._step(step)
            ends = self._ends()
            stacks = self._stacks()
        except Other:
            return None
        self._writer.arrays.update(self._made)
        self._writer.scope.update(self._made)
        return [*self._before, self._head()], [*self._body, *stacks, *ends], self._after()

    def _head(self) -> str:
        """Return the line that begins the loop."""
        names = ", ".join(name for name, _ in self._sources.values())
        texts = ", ".join(text for _, text in self._sources.values())
        counter, turns = f"{self._prefix}k", self._loop.turns
        if not names:
            return f"for {counter} in range({turns}):"
        if not self._loop.stacks:
            return f"for {names} in {texts if len(self._sources) == 1 else f'zip({texts})'}:"
        return f"for {counter}, {names} in zip(range({turns}), {texts}):"

    def _value(self, index: int) -> Value:
        found: Value = self._writer.values[index]
        return found

    def _is_float(self, index: int) -> bool:
        value = self._value(index)
        return not (value.is_ndarray or value.shape) and value.dtype == np.float64

    def _is_array(self, index: int) -> bool:
        value = self._value(index)
        return value.is_ndarray and bool(value.shape) and value.dtype == np.float64

    def _name(self, kind: str) -> str:
        count = len(self._names) + len(self._views) + len(self._sources)
        return f"{self._prefix}{kind}{count}"

    def _enter(self) -> None:
        """Name what the loop begins with."""
        state = self._state
        for number, carry in enumerate(self._loop.carries):
            text, name = self._writer.text(carry.first, state), f"{self._prefix}p{number}"
            if self._is_float(carry.value):
                self._names[carry.value] = name
                self._before.append(f"{name} = float({text})")
            elif self._is_array(carry.value) and self._value(carry.value).order == "C":
                self._views[carry.value] = view = f"{name}m"
                self._before.append(f"{name} = {text}.copy()")
                self._before.append(f"{view} = {name}.reshape(-1).data")
            else:
                raise Other
        for index, stack in self._loop.reads.items():
            constant = self._writer.program.constants.get(stack.index)
            kind = self._value(index).dtype.kind
            if kind == "i" and constant is not None and constant.array.ndim == 1:
                self._tables[index] = constant.array.astype(np.int64)
            elif self._is_float(index) and len(self._value(stack.index).shape) == 1:
                name = self._names[index] = f"{self._prefix}v{len(self._sources)}"
                self._sources[index] = name, f"{state.names[stack.index]}.data"
            else:
                raise Other

    def _step(self, step: Any) -> None:
        op, args = step.op, step.args
        if op.kind is Kind.WRITE:
            target, key, value = args
            view = self._views.get(target.index if type(target) is Ref else -1)
            if view is None or not view.startswith(f"{self._prefix}p"):
                raise Other
            how = "+=" if op.scatters else "="
            self._body.append(f"{view}[{self._place(target, key)}] {how} {self._number(value)}")
            del self._views[target.index]  # the array as it was is not read again
            self._views[step.out] = view
            return
        if not self._is_float(step.out) or step.kw:
            raise Other
        name = f"{self._prefix}{len(self._body)}"
        if op.kind is Kind.COPY:
            text = self._number(args[0])
        elif op is GETITEM:
            text = f"{self._view(args[0])}[{self._place(*args)}]"
        elif op.operator and op.operator in OPERATORS and len(args) <= 2:
            numbers = [self._number(arg) for arg in args]
            text = f" {op.operator} ".join(numbers) if len(args) > 1 else f"-{numbers[0]}"
        else:
            raise Other
        self._names[step.out] = name
        self._body.append(f"{name} = {text}")

    def _number(self, leaf: Any) -> str:
        """Return the text of a float."""
        if type(leaf) is not Ref:
            if type_of(leaf) not in (int, float, np.float64) or not isfinite(leaf):
                raise Other
            number = repr(leaf if type_of(leaf) is int else float(leaf))
            return f"({number})" if leaf < 0 or number[0] == "-" else number
        index: int = leaf.index
        if index not in self._names:
            if not self._is_outside(index) or not self._is_float(index):
                raise Other
            name = self._names[index] = self._name("f")
            self._before.append(f"{name} = float({self._state.names[index]})")
        return self._names[index]

    def _is_outside(self, index: int) -> bool:
        return index in self._state.names and index not in self._loop.found

    def _view(self, leaf: Any) -> str:
        """Return the flat view of an array."""
        index: int = leaf.index if type(leaf) is Ref else -1
        if index not in self._views:
            if index < 0 or not self._is_outside(index) or not self._is_array(index):
                raise Other
            name = self._views[index] = self._name("a")
            self._before.append(f"{name} = {self._state.names[index]}.reshape(-1).data")
        return self._views[index]

    def _place(self, array: Ref, key: Any) -> str:
        """Return the place of an element in the flat view of an array."""
        shape = self._value(array.index).shape
        parts: Any = key if isinstance(key, TUPLE) else (key,)
        if len(parts) != len(shape):
            raise Other
        place: Any = np.int64(0)
        for part, length in zip(parts, shape, strict=True):
            index: Any = self._tables.get(part.index) if type(part) is Ref else part
            if type_of(index) not in (int, NDARRAY):
                raise Other
            if np.any(np.greater_equal(index, length)) or np.any(np.less(index, -length)):
                raise Other
            place = place * length + index + length * np.less(index, 0)
        if not place.ndim:
            return str(int(place))
        found = (place.tobytes(),)
        if found not in self._sources:
            name = f"{self._prefix}t{len(self._sources)}"
            self._made[name] = place
            self._sources[found] = f"{self._prefix}v{len(self._sources)}", f"{name}.data"
        return self._sources[found][0]

    def _stacks(self) -> list[str]:
        """Name the stacks, and return the lines that store their rows."""
        loop, prefix = self._loop, self._prefix
        begins = {carry.value for carry in loop.carries}
        if not loop.stacks.keys() <= self._names.keys() or not begins.isdisjoint(loop.finals):
            raise Other
        if not loop.finals.keys() <= {*self._names, *self._views}:
            raise Other
        if any(self._value(out).shape != (loop.turns,) for out in loop.stacks.values()):
            raise Other
        lines: list[str] = []
        for number, (index, out) in enumerate(loop.stacks.items()):
            name, line = self._writer.stack(out, self._state)
            self._before += [line] * bool(line)
            self._before.append(f"{prefix}s{number} = {name}.data")
            lines.append(f"{prefix}s{number}[{prefix}k] = {self._names[index]}")
        return lines

    def _ends(self) -> list[str]:
        """Return the lines that carry floats to the next turn."""
        moves: list[tuple[str, str]] = []
        for number, carry in enumerate(self._loop.carries):
            name = f"{self._prefix}p{number}"
            if carry.value in self._names:
                moves.append((name, self._number(Ref(carry.next))))
            elif self._views.get(carry.next) != f"{name}m":
                raise Other
        left, right = (", ".join(side) for side in zip(*moves, strict=True)) if moves else ("", "")
        return [f"{left} = {right}"] * bool(moves)

    def _after(self) -> list[str]:
        """Name the results, and return the lines that convert floats to NumPy's numbers."""
        lines: list[str] = []
        for number, (index, out) in enumerate(self._loop.finals.items()):
            if index in self._views:
                name = self._views[index].removesuffix("m")
            else:
                name = f"{self._prefix}e{number}"
                lines.append(f"{name} = np.float64({self._names[index]})")
            self._state.names[out] = name
        return lines
