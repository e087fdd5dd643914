"""The frame of a C kernel: its arguments and results, its workspace, and the place of each value.

A kernel takes numbers and arrays in C's order, and fills arrays that its caller has allocated.
Intermediate arrays lie in one workspace. Numbers are local variables.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradwrap.compiler.engines.c.addresses import MARK, Arr, Num, in_order, integer
from gradwrap.compiler.engines.c.operations import TYPES, literal
from gradwrap.compiler.ir.operations import Kind
from gradwrap.compiler.ir.program import Instr, Loop, Ref, given, used

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Sequence
    from contextlib import AbstractContextManager

    from gradwrap.compiler.ir.program import Value

SHELF = np.dtype(np.uint8)
"""The dtype of an array that passes values from one kernel to others."""


class Shelved(NamedTuple):
    """The place of a value passed between kernels, in an array of bytes."""

    shelf: int
    """The number of the array."""
    offset: int


class Workspace:
    """Allocates places in one piece of memory; sizes are in bytes."""

    def __init__(self) -> None:
        self.size: int = 0
        self.free: dict[int, list[int]] = {}

    def take(self, size: int, *, alone: bool = False) -> int:
        """Allocate a place; with `alone` one that no other value has used."""
        size = -(-size // 64) * 64
        found = self.free.get(size)
        if found and not alone:
            return found.pop()
        self.size += size
        return self.size - size

    def give_back(self, place: int, size: int) -> None:
        """Free a place for reuse."""
        self.free.setdefault(-(-size // 64) * 64, []).append(place)


class Buffer(NamedTuple):
    """A place in the workspace."""

    place: int
    size: int


class Frame(ABC):
    """The frame of the function being written."""

    def __init__(
        self,
        name: str,
        steps: Sequence[Instr | Loop],
        values: Sequence[Value],
        outputs: Sequence[int],
        shelves: dict[int, Shelved],
        shelved: Sequence[int],
    ) -> None:
        self.name = name
        self.values: Sequence[Value] = values
        self.outputs: list[int] = list(outputs)
        self.shelves: dict[int, Shelved] = shelves
        """The places of values passed between kernels."""
        self.shelved: list[int] = list(shelved)
        """The values passed on that this kernel computes."""
        self.workspace: Workspace = Workspace()
        self.where: dict[int, Arr | Num] = {}
        self.lines: list[str] = []
        self.depth: int = 1
        self.buffers: dict[int, Buffer] = {}
        self.members: dict[int, set[int]] = {}
        """By root: the live values in its buffer."""
        self.homes: dict[int, str] = {}
        """By value: the pointer to its final place."""
        self.taken_homes: set[str] = set()
        self.count: int = 0
        self._temporaries = 0
        self.dying_here: frozenset[int] = frozenset()
        """Values from outside of a loop's body whose last use is in it."""
        self.targets: dict[int, Arr] = {}
        """By value: the row of a stack, or the buffer, that receives it."""
        self.outside: dict[str, str] = {}
        """By argument and result: its type."""
        self.types: dict[str, str] = {}
        """By variable that is visible beyond its own piece of text: its type."""
        self.in_turns: bool = False
        """True if turns repeat, so that integers become arguments of functions, not literals."""
        made = {index for step in steps for index in given(step)}
        read = {i for step in steps for i in used(step)} - made
        self.inputs: list[int] = sorted({shelves[i].shelf if i in shelves else i for i in read})
        self._inputs(sorted(read & shelves.keys()))
        self._find_homes(steps)

    @abstractmethod
    def perform(self, steps: list[Instr | Loop], kept: set[int]) -> None:
        """Write steps; `kept` are the values live after them."""

    @abstractmethod
    def assign(self, target: Arr, source: Arr | Num, operator: str) -> None:
        """Write an assignment of all elements."""

    def _inputs(self, shelved: Sequence[int]) -> None:
        shelves: dict[int, str] = {}
        for number, index in enumerate(self.inputs):
            value = self.values[index]
            if value.dtype == SHELF:
                shelves[index] = name = self.argument(f"z{number}", "const char *")
                self.line(f"const char *{name} = DATA(x{number});")
                continue
            kind = TYPES[value.dtype]
            is_array = value.is_ndarray and bool(value.shape)
            name = self.argument(f"a{number}", f"const {kind} *" if is_array else f"const {kind}")
            if is_array:
                self.line(f"const {kind} *{name} = DATA(x{number});")
                self.where[index] = in_order(value.dtype, value.shape, name)
            else:
                source = "DATA" if value.is_ndarray else "NUMBER"
                self.line(f"const {kind} {name} = *(const {kind} *){source}(x{number});")
                self.where[index] = Num(value.dtype, name)

        for index in shelved:
            value = self.values[index]
            shelf, offset = self.shelves[index]
            pointer = f"((const {TYPES[value.dtype]} *)({shelves[shelf]} + {integer(offset)}))"
            if value.shape:
                self.where[index] = in_order(value.dtype, value.shape, pointer)
            else:
                self.where[index] = Num(value.dtype, f"(*{pointer})")

    def _find_homes(self, steps: Sequence[Instr | Loop]) -> None:
        """Find the values that can be computed directly in the buffer of an output."""
        for number, index in enumerate(self.outputs):
            value = self.values[index]
            if value.dtype == SHELF:
                name = self.argument(f"z{len(self.inputs) + number}", "char *")
                self.line(f"char *{name} = DATA(y{number});")
                for other in self.shelved:
                    kind = TYPES[self.values[other].dtype]
                    place = integer(self.shelves[other].offset)
                    self.homes[other] = f"(({kind} *)({name} + {place}))"
            elif value.shape:
                kind = TYPES[value.dtype]
                self.homes[index] = name = self.argument(f"o{number}", f"{kind} *")
                self.line(f"{kind} *{name} = DATA(y{number});")
            else:
                self.homes[index] = f"(({TYPES[value.dtype]} *)DATA(y{number}))"
        for step in reversed(steps):
            if isinstance(step, Loop):
                continue
            if step.op.kind is Kind.WRITE and step.out in self.homes:
                self.homes.setdefault(step.args[0].index, self.homes[step.out])

    def text(self) -> str:
        """Return the text of the function."""
        parameters = ["char *w"]
        parameters += [f"char *x{i}" for i in range(len(self.inputs))]
        parameters += [f"char *y{i}" for i in range(len(self.outputs))]
        lines = [f"int {self.name}({', '.join(parameters)}) {{"]
        for number, index in enumerate(self.inputs):
            if self.values[index].is_ndarray and self.values[index].shape:
                lines.append(f"    if (!USABLE(x{number})) return 1;")
        return "\n".join([*lines, *self.lines, "    return 0;", "}"]).replace(MARK, "")

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    @contextmanager
    def apart(self) -> Generator[list[str]]:
        """Write the lines that are written meanwhile into a list of their own."""
        lines, depth = self.lines, self.depth
        self.lines, self.depth = [], 2
        yield self.lines
        self.lines, self.depth = lines, depth

    @contextmanager
    def block(self, head: str = "") -> Generator[None]:
        """Write a block around the lines that are written meanwhile."""
        self.line(f"{head} {{" if head else "{")
        self.depth += 1
        yield
        self.depth -= 1
        self.line("}")

    def loop(self, counter: str, extent: int | str) -> AbstractContextManager[None]:
        """Write a loop around the lines that are written meanwhile; `extent` may be a text."""
        end = extent if isinstance(extent, str) else integer(extent)
        return self.block(f"for (long {counter} = 0; {counter} < {end}; {counter}++)")

    def temporary(self) -> int:
        """Return a number for a temporary that is not a value of the program."""
        self._temporaries += 1
        return -1 - self._temporaries  # -1 is the root of read-only memory

    def new(self, index: int) -> Arr:
        """Allocate an array for a value: at its final place if free, else in the workspace."""
        value = self.values[index]
        target = self.targets.get(index)
        if target is not None:
            return target
        home = self.homes.get(index)
        self.members[index] = {index}
        if home is not None and home not in self.taken_homes:
            self.taken_homes.add(home)
            return in_order(value.dtype, value.shape, home, index)
        pointer = self.room(math.prod(value.shape), value.dtype, index)
        return in_order(value.dtype, value.shape, pointer, index)

    def room(self, elements: int, dtype: Any, index: int, *, alone: bool = False) -> str:
        """Allocate workspace; return the name of a pointer to it."""
        size = elements * dtype.itemsize
        place = self.workspace.take(size, alone=alone)
        if not alone:
            self.buffers[index] = Buffer(place, size)
        text = f"({TYPES[dtype]} *)(w + {integer(place)})"
        if self.in_turns and not alone:
            return f"({text})"
        pointer = self.name_of("m")
        self.types[pointer] = f"{TYPES[dtype]} *"
        self.line(f"{TYPES[dtype]} *{pointer} = {text};")
        return pointer

    def is_last(self, arr: Arr, dying: set[int]) -> bool:
        """Tell if a buffer is ours, and all values in it die now."""
        return arr.root in self.members and self.members[arr.root] <= dying

    def release(self, dying: Iterable[int]) -> None:
        for index in sorted(dying):  # for a reproducible text
            found = self.where.get(index)
            root = found.root if isinstance(found, Arr) else -1
            if root not in self.members:
                continue
            self.members[root].discard(index)
            if not self.members[root]:
                del self.members[root]
                buffer = self.buffers.pop(root, None)
                if buffer is not None:
                    self.workspace.give_back(buffer.place, buffer.size)

    # Values ---------------------------------------------------------------------------------------

    def name_of(self, letter: str) -> str:
        """Return a new variable name."""
        self.count += 1
        return f"{MARK}{letter}{self.count - 1}{MARK}"

    def argument(self, name: str, kind: str) -> str:
        """Return the name of a variable that all pieces of the text may read."""
        name = f"{MARK}{name}{MARK}"
        self.outside[name] = kind
        return name

    def variable(self, dtype: Any, text: str) -> Num:
        name = self.name_of("v")
        self.types[name] = TYPES[dtype]
        self.line(f"const {TYPES[dtype]} {name} = {text};")
        return Num(dtype, name)

    def operand(self, leaf: Any, dtype: Any) -> Arr | Num:
        if type(leaf) is Ref:
            return self.where[leaf.index]
        return Num(dtype, literal(leaf, dtype))

    def alias(self, index: int, arr: Arr) -> None:
        """Record a view."""
        self.where[index] = arr
        if arr.root in self.members:
            self.members[arr.root].add(index)

    def element(self, operand: Arr | Num) -> str:
        """Return the text of the only element."""
        return operand.text if isinstance(operand, Num) else operand.element
