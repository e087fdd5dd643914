"""The NumPy text of operations: expressions, keys, literals, and the names they use."""

from __future__ import annotations

import math
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.backends.numpy import scatter as numpy_scatter
from gradwrap.compiler.engines.numpy.tangents import SHARED
from gradwrap.compiler.ir.operations import (
    ARRAY,
    COPY,
    GETITEM,
    ITEM,
    NEGATIVE,
    PADDED_PRODUCT,
    POWER,
    RESHAPE,
    SPARSE_PRODUCT,
    ZEROS,
    Kind,
    Operation,
)
from gradwrap.compiler.ir.program import (
    UFUNC,
    Attribute,
    Instr,
    Method,
    Missed,
    Program,
    Ref,
    Value,
    choice,
)
from gradwrap.core.values.dynamic import LIST, SLICE, TUPLE, TYPE, type_of

if TYPE_CHECKING:
    from collections.abc import Iterable

NUMBER: type[Any] = np.generic


class Room:
    """Memory of the workspace, for one buffer at a time."""

    __slots__ = ("buffers", "dtype", "size")

    def __init__(self, name: str, value: Value) -> None:
        self.buffers: dict[tuple[int, ...], str] = {value.shape: name}
        """By shape: the name of the buffer that begins there."""
        self.dtype: Any = value.dtype
        self.size: int = math.prod(value.shape)
        """The elements that it has room for."""


class Buffer:
    """Memory that belongs to the program, and the values now in it."""

    __slots__ = ("kept", "key", "live", "loops", "name", "room")

    def __init__(
        self,
        name: str,
        key: Any,
        live: set[int],
        *,
        kept: bool,
        loops: tuple[int, ...] = (),
        room: Room | None = None,
    ) -> None:
        self.name: str = name
        self.key: Any = key
        """Shape and dtype; None if the buffer cannot be reused."""
        self.live: set[int] = live
        self.kept: bool = kept
        """True if the next call reuses the buffer, so that no result may lie in it."""
        self.loops: tuple[int, ...] = loops
        """The loops, outermost first, that allocate it in each turn."""
        self.room: Room | None = room
        """The memory of the workspace that it lies in, if it is kept."""

    def twin(self) -> Buffer:
        """Return a copy of the buffer for another branch."""
        live = set(self.live)
        return Buffer(self.name, self.key, live, kept=self.kept, loops=self.loops, room=self.room)


class State:
    """The names, buffers and free memory at a point of the program."""

    def __init__(self) -> None:
        self.names: dict[int, str] = {}
        self.buffers: dict[int, Buffer] = {}
        self.free: dict[Any, list[Buffer]] = {}

    def copied(self) -> State:
        """Return a copy of the state for another branch."""
        made = State()
        made.names = dict(self.names)
        twins = {id(b): b.twin() for b in self._all()}
        made.buffers = {i: twins[id(b)] for i, b in self.buffers.items()}
        made.free = {key: [twins[id(b)] for b in found] for key, found in self.free.items()}
        return made

    def _all(self) -> Iterable[Buffer]:
        yield from self.buffers.values()
        for found in self.free.values():
            yield from found


class SourceText:
    """Writes single operations."""

    module: str = "np"
    """The name of the library in the source."""

    def __init__(self, program: Program) -> None:
        self.values: Any = program.values
        self.scope: dict[str, Any] = {"np": np, "Missed": Missed}
        self.filled: set[int] = set()
        """Arrays of zeros that are filled before they are read."""
        self.imports: dict[str, str] = {}
        self.opaque: dict[int, str] = {}
        """Functions that source cannot name, by identity, and their names in the scope."""
        self.modules: set[str] = set()
        """SciPy modules whose functions are called."""
        self._literals: dict[Any, str] = {}

    def write_text(self, how: Operation, name: str, key: Any, value: Any, state: State) -> str:
        """Return the statement of a write to an array."""
        place, text = self._key(key, state), self.text(value, state)
        if not how.scatters:
            return f"{name}[{place}] = {text}"
        if self._adds_once(key):
            return f"{name}[{place}] += {text}"
        self.scope["add_at"] = numpy_scatter.add_at
        return f"add_at({name}, {self._nest(key, state)}, {text})"

    def _adds_once(self, key: Any) -> bool:
        """Tell if a key names no element twice."""
        for part in key if isinstance(key, TUPLE) else (key,):
            if isinstance(part, LIST):
                return False
            if type(part) is Ref:
                value = self.values[part.index]
                if value.shape and value.dtype.kind != "b":
                    return False
        return True

    def expression(self, instr: Instr, state: State) -> str:
        op, args, fn = instr.op, instr.args, instr.fn
        if op is GETITEM:
            return f"{self._operand(args[0], state)}[{self._key(args[1], state)}]"
        if op is ITEM:
            whole = self.text(args[0], state)
            is_attribute = isinstance(args[1], str)
            return f"np.asarray({whole}.{args[1]})[()]" if is_attribute else f"{whole}[{args[1]}]"
        if op is COPY:
            text = self.text(args[0], state)
            is_number = not self.values[instr.out].is_ndarray
            return text if is_number else f'{text}.copy("{(*args, "K")[1]}")'
        if op is ZEROS:
            function = "empty" if instr.out in self.filled else "zeros"
            return self.new_array(function, Value(args[0], args[1], is_ndarray=True))
        if op is ARRAY:
            return f"np.array({self._nest(args[0], state)}, {self._literal(args[1])})"
        if isinstance(fn, Attribute):
            return f"{self._operand(args[0], state)}.{fn.name}"
        if isinstance(fn, Method):
            rest = self._arguments(args[1:], instr.kw, state)
            return f"{self._operand(args[0], state)}.{fn.name}({rest})"
        if op is RESHAPE and len(args) == 2 and type(args[0]) is Ref and not instr.kw:
            if self.values[args[0].index].is_ndarray:
                return f"{self.text(args[0], state)}.reshape({self._nest(args[1], state)})"
        if op.operator and not instr.kw:
            *first, last = (self._operand(arg, state) for arg in args)
            return f"{first[0]} {op.operator} {last}" if first else f"{op.operator}{last}"
        text = f"{self._function(instr)}({self._arguments(args, instr.kw, state)})"
        return f"{text}[()]" if fn is choice else text

    def new_array(self, how: str, value: Value) -> str:
        """Return the text of a new array, `np.empty` or `np.zeros`."""
        shape = f"{value.shape[0]}" if len(value.shape) == 1 else repr(value.shape)
        kind = "" if value.dtype == np.float64 else f", {self._literal(value.dtype)}"
        return f"{self.module}.{how}({shape}{kind})"

    def into(self, instr: Instr, out: str, state: State) -> str:
        """Return the call of an instruction that writes into a buffer."""
        if instr.op.kind is Kind.REDUCE:
            given_ = self._arguments(instr.args, instr.kw, state)
            return f"{self._function(instr)}({given_}, out={out})"
        op = POWER if instr.op.is_power else instr.op
        dtype = self.values[instr.out].dtype
        if op is NEGATIVE and dtype.kind == "c" and self._is_in_order(instr):
            # NumPy has no vector code for it, but for the parts.
            part, whole = self._literal(np.finfo(dtype).dtype), self._literal(dtype)
            call = f"{self._nest(instr.args[0], state)}.view({part}), {out}.view({part})"
            return f"{self.imported(op.name, instr)}({call}).view({whole})"
        converts = op.converts and dtype.kind in "fc"
        parts = [
            self.constant(arg, dtype) if converts and _is_number(arg) else self._nest(arg, state)
            for arg in instr.args
        ]
        if op.names_out:  # NumPy takes `out` by name only
            out = f"out={out}"
        return f"{self.imported(op.name, instr)}({', '.join([*parts, out])})"

    def _is_in_order(self, instr: Instr) -> bool:
        """Tell if the result of an instruction and its operands are arrays in C's order."""
        values = [self.values[index] for index in (instr.out, *instr.reads)]
        return all(one.is_ndarray and one.shape and one.order == "C" for one in values)

    def constant(self, number: Any, dtype: Any) -> str:
        """Return the name of a number as a 0-d array, which NumPy need not convert."""
        key = (dtype, dtype.type(number).tobytes())
        known = self._literals.get(key)
        if known is None:
            known = self._literals[key] = f"c{len(self._literals)}"
            self.scope[known] = np.array(number, dtype)
        return known

    def _arguments(self, args: tuple[Any, ...], kw: Any, state: State) -> str:
        parts = [self._nest(arg, state) for arg in args]
        parts += [f"{name}={self._nest(value, state)}" for name, value in kw]
        return ", ".join(parts)

    def _function(self, instr: Instr) -> str:
        """Return the text that names the function of an instruction."""
        name = instr.name
        if instr.is_kernel:
            self.scope[name] = instr.fn
            return name
        first, _, rest = name.partition(".")
        if isinstance(instr.fn, UFUNC) and not rest:
            return self.imported(name, instr)
        if rest in ("reduce", "accumulate", "outer", "reduceat"):
            return f"{self.imported(first, instr)}.{rest}"
        if instr.is_opaque:
            known = self.opaque.setdefault(id(instr.fn), f"{rest}_{len(self.opaque)}")
            self.scope[known] = instr.fn
            return known
        if name in SHIPPED:
            self.scope[name] = instr.fn
            return name
        if first in PACKAGES:
            module = ".".join(name.split(".")[:2])
            self.modules.add(module)
            self.scope[first] = import_module(first)
            return name
        return f"np.{name}"

    def imported(self, name: str, instr: Instr) -> str:
        if name in SHARED:
            self.scope[name] = instr.fn
            return name
        path, _, name = name.rpartition(".")  # of a ufunc that scipy.special does not show
        ufunc: Any = getattr(np, name, None)
        if isinstance(instr.fn, UFUNC) and instr.fn is not ufunc and not instr.op.is_power:
            self.imports[name] = path or "scipy.special"
            self.scope[name] = instr.fn
        else:
            self.imports[name] = "numpy"
            self.scope[name] = ufunc
        return name

    def text(self, leaf: Any, state: State) -> str:
        return state.names[leaf.index] if type(leaf) is Ref else self._literal(leaf)

    def _operand(self, leaf: Any, state: State) -> str:
        """Return the text of an operand of an operator."""
        text = self._nest(leaf, state)
        return f"({text})" if text[:1] == "-" else text

    def _nest(self, nest: Any, state: State) -> str:
        if isinstance(nest, TUPLE):
            parts = [self._nest(part, state) for part in nest]
            return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
        if isinstance(nest, LIST):
            return f"[{', '.join(self._nest(part, state) for part in nest)}]"
        if isinstance(nest, SLICE):
            parts = [self._nest(part, state) for part in (nest.start, nest.stop, nest.step)]
            return f"slice({', '.join(parts)})"
        return self.text(nest, state)

    def _key(self, key: Any, state: State) -> str:
        """Return the text between the brackets of an index."""
        if not isinstance(key, TUPLE) or not key:
            return self._part(key, state)
        parts = [self._part(part, state) for part in key]
        return f"{', '.join(parts)}{',' if len(parts) == 1 else ''}"

    def _part(self, part: Any, state: State) -> str:
        if not isinstance(part, SLICE):
            return self._nest(part, state)
        start, stop, step = (
            "" if one is None else self._nest(one, state)
            for one in (part.start, part.stop, part.step)
        )
        return f"{start}:{stop}:{step}" if step else f"{start}:{stop}"

    def _literal(self, value: Any) -> str:
        kind: Any = type_of(value)
        if value is None or value is Ellipsis or kind in (bool, int, str):
            return "..." if value is Ellipsis else repr(value)
        if kind is float and math.isfinite(value):
            return repr(value)
        if isinstance(value, TYPE):
            name: str = value.__name__
            return f"np.{name}" if getattr(np, name, None) is value else name
        key: Any = (kind, value.tobytes()) if isinstance(value, NUMBER) else (kind, repr(value))
        known = self._literals.get(key)
        if known is None:
            known = self._literals[key] = f"c{len(self._literals)}"
            self.scope[known] = value
        return known


SHIPPED = frozenset({PADDED_PRODUCT.name, SPARSE_PRODUCT.name, "factored", "solved"})
"""The functions of gradwrap that a program calls; a saved module contains their source."""
PACKAGES = ("array_api_compat", "scipy")
"""The packages beside NumPy whose functions a program calls by their full names."""


def takes_out(instr: Instr) -> bool:
    """Tell if the function of an instruction accepts a buffer for its result."""
    fn: Any = instr.fn
    if isinstance(fn, UFUNC):
        return not instr.kw and fn.nout == 1
    return instr.op.kind is Kind.REDUCE or instr.name in SHARED


def _is_number(leaf: Any) -> bool:
    return isinstance(leaf, (int, float, complex, NUMBER)) and not isinstance(
        leaf, (bool, np.bool_)
    )
