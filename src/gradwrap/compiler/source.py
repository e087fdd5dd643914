"""The numpy engine: a program as NumPy source with reused buffers.

Each instruction becomes a line. Where its result is an array that no output lies in, it is written
into a buffer that is free: one that dies there, or one of the call's workspace. Workspaces are
kept between calls, as many as there were calls at one time.
"""

from __future__ import annotations

import inspect
import keyword
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.backends import numpy_scatter
from gradwrap.compiler.chunks import Chunk, chunked, given_by, used_by
from gradwrap.compiler.engines import Executable
from gradwrap.compiler.loops import Described, one_turn
from gradwrap.compiler.passes import enter_roots, roots_of
from gradwrap.compiler.program import (
    NDARRAY,
    UFUNC,
    Attribute,
    Block,
    Instr,
    Loop,
    Method,
    Missed,
    Program,
    Ref,
    Value,
    given,
    is_elementwise,
    refs,
    used,
)
from gradwrap.compiler.sharing import SHARED
from gradwrap.core.values.dynamic import LIST, SLICE, TUPLE, TYPE, type_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from gradwrap.compiler.loops import LoopBody

NUMBER: type[Any] = np.generic
OPERATORS = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "true_divide": "/",
    "floor_divide": "//",
    "remainder": "%",
    "pow": "**",
    "matmul": "@",
    "bitwise_and": "&",
    "bitwise_or": "|",
    "bitwise_xor": "^",
    "left_shift": "<<",
    "right_shift": ">>",
    "equal": "==",
    "not_equal": "!=",
    "less": "<",
    "less_equal": "<=",
    "greater": ">",
    "greater_equal": ">=",
}
ARITHMETIC = frozenset(
    {"add", "subtract", "multiply", "divide", "true_divide", "power", "maximum", "minimum"}
)
"""Operations whose arguments are converted to the dtype of the result."""
UNARY = {"negative": "-", "positive": "+", "invert": "~"}
WORKSPACE = 1 << 28
"""The most bytes that a program keeps between calls."""
LOOKS = {"bool": "bool({})", "int": "int({})", "shape": "{}.shape"}
INDENT = "    "


class Buffer:
    """Memory that belongs to the program: which values lie in it now."""

    __slots__ = ("kept", "key", "live", "loops", "name")

    def __init__(
        self, name: str, key: Any, live: set[int], *, kept: bool, loops: tuple[int, ...] = ()
    ) -> None:
        self.name: str = name
        self.key: Any = key
        """Shape and dtype; None if it cannot be used anew."""
        self.live: set[int] = live
        self.kept: bool = kept
        """True if the next call will use it too, so that no result may lie in it."""
        self.loops: tuple[int, ...] = loops
        """The loops, outermost first, in whose turns it is made anew."""

    def twin(self) -> Buffer:
        """Return the same buffer, for another branch."""
        return Buffer(self.name, self.key, set(self.live), kept=self.kept, loops=self.loops)


class State:
    """What is where at a point of the program."""

    def __init__(self) -> None:
        self.names: dict[int, str] = {}
        self.buffers: dict[int, Buffer] = {}
        self.free: dict[Any, list[Buffer]] = {}

    def copied(self) -> State:
        """The same state, to go on from in another branch."""
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


class Writer:
    """Writes a program out."""

    module: str = "np"
    """The name of the library in the source."""

    def __init__(self, program: Program, *, in_chunks: bool = True) -> None:
        self.program = program
        self.in_chunks = in_chunks
        self.chunks: list[int] = []
        self.values: Any = program.values
        self.lines: list[str] = []
        self.scope: dict[str, Any] = {"np": np, "Missed": Missed}
        self.imports: dict[str, str] = {}
        self.arrays: dict[str, Any] = {}
        self.by_reference: dict[str, Any] = {}
        self.workspace: list[tuple[str, Value]] = []
        self.bytes: int = 0
        self.notes: list[str] = []
        self._literals: dict[Any, str] = {}
        self.roots = roots_of(program)
        self._live_out = live_out(program)
        self.handed_out: set[int] = set()
        for block in program.blocks():
            for index in refs(() if block.result is None else block.result.leaves):
                self.handed_out |= self.roots[index]
        self.fixed: dict[int, str] = {}
        """Names that values of a loop have."""
        self.stores: dict[int, str] = {}
        """By value of a loop: the beginning of a line that stores it."""
        self.loops: tuple[int, ...] = ()
        """The loops whose turns are being written."""
        self.targets: dict[int, str] = {}
        """By value of a loop: the buffer that it is to be written into."""
        self._count = 0
        self._loops = 0

    # The whole ------------------------------------------------------------------------------------

    def write(self) -> None:
        """Write all lines of the function's body."""
        state = State()
        self.parameters: list[str] = self._parameters()
        for index, name in zip(self.program.inputs, self.parameters, strict=True):
            state.names[index] = name
        for number, (index, constant) in enumerate(self.program.constants.items()):
            name = constant.name if constant.name.isidentifier() else f"array{number}"
            name = _safe(name, {*self.parameters, *self.arrays, *self.by_reference})
            state.names[index] = name
            self.scope[name] = constant.array
            (self.by_reference if constant.by_reference else self.arrays)[name] = constant.array
        self._block(self.program.root, state, 1)

    def _parameters(self) -> list[str]:
        taken: list[str] = []
        for name in self.program.names:
            taken.append(_safe(name, taken))
        return taken

    def _block(self, block: Block, state: State, depth: int) -> None:
        while True:
            self._body(block, state, depth)
            if block.guard is None:
                assert block.result is not None
                self.line(depth, "WORKSPACE_BACK")
                self.line(depth, f"return {self._nest(block.result.leaves, state)}")
                return
            look = LOOKS[block.guard.kind].format(self.text(block.guard.value, state))
            branches = list(block.branches.items())
            is_test = block.guard.kind == "bool"
            if len(branches) == 1:
                found, block = branches[0]
                self.line(depth, f"if {_unless(look, found)}:")
                self.line(depth + 1, "raise Missed")
                self._drop_dead(block, state)
                continue
            for number, (found, branch) in enumerate(branches):
                test = look if found is True else f"not {look}" if found is False else ""
                test = test or f"{look} == {found!r}"
                word = "if" if number == 0 else "elif"
                is_other = number and is_test
                self.line(depth, "else:" if is_other else f"{word} {test}:")
                inner = state.copied()
                self._drop_dead(branch, inner)
                self._block(branch, inner, depth + 1)
            if not is_test:
                self.line(depth, "raise Missed")
            return

    def _drop_dead(self, block: Block, state: State) -> None:
        """Forget what only the other branches need."""
        needed = self._live_in[id(block)]
        for index in [i for i in state.names if i not in needed]:
            self._die(index, state)

    @property
    def _live_in(self) -> dict[int, set[int]]:
        return self._live_out[1]

    def _body(self, block: Block, state: State, depth: int) -> None:
        live = self._live_out[0][id(block)]
        body = chunked(self.program, block.body, live) if self.in_chunks else block.body
        self.steps(body, live, state, depth)

    def steps(
        self, body: Sequence[Instr | Loop | Chunk], live: set[int], state: State, depth: int
    ) -> None:
        """Write steps, after which some values are needed."""
        last: dict[int, int] = {}
        for number, step in enumerate(body):
            for index in (*used_by(step), *given_by(step)):
                last[index] = number
        dying: list[list[int]] = [[] for _ in body]
        for index, number in last.items():
            if index not in live:
                dying[number].append(index)
        for step, dead in zip(body, dying, strict=True):
            if isinstance(step, Chunk):
                self._chunk(step, state, depth, frozenset(dead))
            elif isinstance(step, Loop):
                self._loop(step, state, depth)
            else:
                self._instr(step, state, depth, frozenset(dead))
            for index in dead:
                self._die(index, state)

    def _die(self, index: int, state: State) -> None:
        state.names.pop(index, None)
        for root in self.roots[index]:
            buffer = state.buffers.get(root)
            if buffer is None or index not in buffer.live:
                continue
            buffer.live.discard(index)
            if not buffer.live:
                del state.buffers[root]
                if buffer.key is not None:
                    state.free.setdefault(buffer.key, []).append(buffer)

    def line(self, depth: int, text: str) -> None:
        """Append a line."""
        self.lines.append(INDENT * depth + text)

    # One instruction ------------------------------------------------------------------------------

    def _name(self, line: int) -> str:
        self._count += 1
        return f"{'t' if line else 'g'}{self._count}"

    def _instr(self, instr: Instr, state: State, depth: int, dying: frozenset[int]) -> None:
        value = self.values[instr.out]
        name = self.fixed.get(instr.out) or self._name(instr.line)
        store = self.stores.get(instr.out, "")
        if instr.name in ("setitem", "scatter_add"):
            self._write(instr, name, state, depth, dying)
        elif instr.name != "copy" or not self._taken_over(instr, state, dying):
            target = self.targets.get(instr.out)
            buffer = None if target else self._buffer_for(instr, state, dying)
            if target:
                self.line(depth, f"{name} = {self.into(instr, target, state)}")
            elif buffer is not None:
                self.line(depth, f"{name} = {self.into(instr, buffer.name, state)}")
                buffer.live = {instr.out}
                state.buffers[instr.out] = buffer
            else:
                self.line(depth, f"{store}{name} = {self.expression(instr, state)}")
                store = ""
                self._own(instr, name, state)
            state.names[instr.out] = name
            if value.is_ndarray and instr.out not in state.buffers:
                for root in self.roots[instr.out]:
                    if root in state.buffers:
                        state.buffers[root].live.add(instr.out)
        if store:
            self.line(depth, f"{store}{state.names[instr.out]}")

    def _own(self, instr: Instr, name: str, state: State) -> None:
        """Enter the new array of an instruction."""
        value = self.values[instr.out]
        if instr.name == "broadcast_to" or self.roots[instr.out] != frozenset({instr.out}):
            return  # what is broadcast of a number cannot be written to
        usable = value.is_ndarray and value.order == "C" and value.shape and instr.name != "item"
        key = (value.shape, value.dtype) if usable else None
        made = Buffer(name, key, {instr.out}, kept=False, loops=self.loops)
        state.buffers[instr.out] = made

    def _taken_over(self, instr: Instr, state: State, dying: frozenset[int]) -> bool:
        """Let a copy be its source, if that is a new array of this call and ends here."""
        source = instr.args[0].index
        buffer = state.buffers.get(source)
        if (
            buffer is None
            or buffer.live != {source}
            or source not in dying
            or not self.lasts(buffer)
        ):
            return False
        if self.values[source] != self.values[instr.out]:
            return False
        del state.buffers[source]
        buffer.live = {instr.out}
        state.buffers[instr.out] = buffer
        state.names[instr.out] = state.names[source]
        return True

    def _buffer_for(self, instr: Instr, state: State, dying: frozenset[int]) -> Buffer | None:
        """A buffer for the result; None if it is to be a new array, or no array."""
        value = self.values[instr.out]
        if not value.is_ndarray or not value.shape or value.order != "C":
            return None
        if not self.takes_out(instr):
            return None
        key = (value.shape, value.dtype)
        stays = not self.handed_out.isdisjoint(self.roots[instr.out])
        if is_elementwise(instr):
            for index in refs(instr.args):
                buffer = state.buffers.get(index)
                if index not in dying or buffer is None or buffer.live != {index}:
                    continue
                if buffer.key == key and (not stays or self.lasts(buffer)):
                    del state.buffers[index]
                    return buffer
        found = state.free.get(key, [])
        for number in range(len(found) - 1, -1, -1):
            if not stays or self.lasts(found[number]):
                return found.pop(number)
        return None if stays else self._new_buffer(value)

    def lasts(self, buffer: Buffer) -> bool:
        """Tell if what is written into a buffer stays there, in later turns and calls too."""
        return not buffer.kept and buffer.loops[: len(self.loops)] == self.loops

    def _new_buffer(self, value: Value) -> Buffer | None:
        """A buffer of the workspace; None if that would be too large."""
        size = math.prod(value.shape) * value.dtype.itemsize
        if self.bytes + size > WORKSPACE:
            return None
        self.bytes += size
        name = f"w{len(self.workspace)}"
        self.workspace.append((name, value))
        return Buffer(name, (value.shape, value.dtype), set(), kept=True)

    def takes_out(self, instr: Instr) -> bool:
        """Tell if the function of an instruction is to write into a buffer that it is given."""
        return _takes_out(instr)

    def _write(
        self, instr: Instr, name: str, state: State, depth: int, dying: frozenset[int]
    ) -> None:
        """Write to an array in place if nobody else sees it, else to a copy."""
        target, key, value = instr.args
        source = target.index if type(target) is Ref else -1
        buffer = state.buffers.get(source)
        described = self.values[instr.out]
        stays = not self.handed_out.isdisjoint(self.roots[instr.out])
        if (
            buffer is not None
            and source in dying
            and buffer.live - dying <= {source}
            and self.values[source] == described
            and (not stays or self.lasts(buffer))
        ):
            name = state.names[source]
            del state.buffers[source]
            buffer.live = {instr.out}
            state.buffers[instr.out] = buffer
        else:
            text = self.text(target, state)
            known = source >= 0 and self.values[source].is_ndarray
            made = f'{text}.copy("K")' if known else f"{self.module}.array({text})"
            self.line(depth, f"{name} = {made}")
            self._own(instr, name, state)
        self.line(depth, self.write_text(instr.name, name, key, value, state))
        state.names[instr.out] = name

    def write_text(self, how: str, name: str, key: Any, value: Any, state: State) -> str:
        """The statement of a write to an array."""
        place, text = self._key(key, state), self.text(value, state)
        if how == "setitem":
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
                if part.index < 0 or (value.shape and value.dtype.kind != "b"):
                    return False
        return True

    # Text -----------------------------------------------------------------------------------------

    def expression(self, instr: Instr, state: State) -> str:
        name, args, fn = instr.name, instr.args, instr.fn
        if name == "getitem":
            return f"{self._operand(args[0], state)}[{self._key(args[1], state)}]"
        if name == "item":
            return f"{self.text(args[0], state)}[{args[1]}]"
        if name == "copy":
            text = self.text(args[0], state)
            is_number = not self.values[instr.out].is_ndarray
            return text if is_number else f'{text}.copy("K")'
        if name == "zeros":
            return self.new_array("zeros", Value(args[0], args[1], is_ndarray=True))
        if name == "array":
            return f"np.array({self._nest(args[0], state)}, {self._literal(args[1])})"
        if isinstance(fn, Attribute):
            return f"{self._operand(args[0], state)}.{name}"
        if isinstance(fn, Method):
            rest = self._arguments(args[1:], instr.kw, state)
            return f"{self._operand(args[0], state)}.{fn.name}({rest})"
        if name == "reshape" and len(args) == 2 and type(args[0]) is Ref and not instr.kw:
            if self.values[args[0].index].is_ndarray:
                return f"{self.text(args[0], state)}.reshape({self._nest(args[1], state)})"
        if not instr.kw and name in OPERATORS and len(args) == 2:
            return (
                f"{self._operand(args[0], state)} {OPERATORS[name]} {self._operand(args[1], state)}"
            )
        if not instr.kw and name in UNARY:
            return f"{UNARY[name]}{self._operand(args[0], state)}"
        return f"{self._function(instr)}({self._arguments(args, instr.kw, state)})"

    def new_array(self, how: str, value: Value) -> str:
        """The text of a new array, `np.empty` or `np.zeros`."""
        shape = f"{value.shape[0]}" if len(value.shape) == 1 else repr(value.shape)
        kind = "" if value.dtype == np.float64 else f", {self._literal(value.dtype)}"
        return f"{self.module}.{how}({shape}{kind})"

    def into(self, instr: Instr, out: str, state: State) -> str:
        """The call of an instruction that writes into a buffer."""
        if instr.name.endswith(".reduce"):
            given_ = self._arguments(instr.args, instr.kw, state)
            return f"{self._function(instr)}({given_}, out={out})"
        name = "power" if instr.name == "pow" else instr.name
        dtype = self.values[instr.out].dtype
        converts = name in ARITHMETIC and dtype.kind in "fc"
        parts = [
            self._constant(arg, dtype) if converts and _is_number(arg) else self._nest(arg, state)
            for arg in instr.args
        ]
        if name in ("maximum", "minimum"):  # of these NumPy takes it by name alone
            out = f"out={out}"
        return f"{self._imported(name, instr)}({', '.join([*parts, out])})"

    def _constant(self, number: Any, dtype: Any) -> str:
        """The name of a number as an array without axes, which NumPy need not convert."""
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
        """The text that names the function of an instruction."""
        name = instr.name
        if isinstance(instr.fn, UFUNC):
            return self._imported(name, instr)
        first, _, rest = name.partition(".")
        if rest in ("reduce", "accumulate", "outer", "reduceat"):
            return f"{self._imported(first, instr)}.{rest}"
        if name.startswith("kernel"):  # of the c engine
            self.scope[name] = instr.fn
            return name
        return f"np.{name}"

    def _imported(self, name: str, instr: Instr) -> str:
        if name in SHARED:
            self.scope[name] = instr.fn
            return name
        ufunc: Any = getattr(np, name, None)
        if isinstance(instr.fn, UFUNC) and instr.fn is not ufunc and name != "power":
            self.imports[name] = "scipy.special"
            self.scope[name] = instr.fn
        else:
            self.imports[name] = "numpy"
            self.scope[name] = ufunc
        return name

    def text(self, leaf: Any, state: State) -> str:
        return state.names[leaf.index] if type(leaf) is Ref else self._literal(leaf)

    def _operand(self, leaf: Any, state: State) -> str:
        """The text of a leaf beside an operator."""
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
        """The text between the brackets of an index."""
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

    # Chunks ---------------------------------------------------------------------------------------

    def _chunk(self, chunk: Chunk, state: State, depth: int, dying: frozenset[int]) -> None:
        """Write instructions that are performed piece by piece."""
        self.chunks.append(chunk.size)
        prefix = f"p{len(self.chunks)}_"
        inner = State()
        inner.names = dict(state.names)
        before: list[str] = []
        pieces: list[str] = []
        for number, index in enumerate(chunk.reads):
            pieces.append(self._piece(f"{prefix}{number}", state.names[index], index, before))
            inner.names[index] = f"{prefix}{number}"
        outs: dict[int, str] = {}
        for index in chunk.outs:
            name, line = self.stack(index, state)
            if line:
                self.line(depth, line)
            outs[index] = f"{name}p"
            pieces.append(self._piece(outs[index], name, index, before))
        for instr in chunk.sums:
            name = self._name(instr.line)
            state.names[instr.out] = name
            before.append(f"{name} = 0.0")
        targets: dict[int, str] = {}
        for chain in chunk.writes:
            targets[chain[-1].out] = self._owned(chain, state, depth, dying)
        scratch = self._scratch(chunk, inner, outs)
        for line in before:
            self.line(depth, line)
        count = chunk.elements
        for number, name in enumerate(scratch.names):
            self.line(depth, f"{prefix}w{number} = {name}")
        self.line(depth, f"for i in range(0, {count}, {chunk.size}):")
        self.line(depth + 1, f"j = i + {chunk.size}")
        if count % chunk.size and scratch.names:
            self.line(depth + 1, f"if j > {count}:")
            for number in range(len(scratch.names)):
                name = f"{prefix}w{number}"
                self.line(depth + 2, f"{name} = {name}[: {count} - i]")
        for line in pieces:
            self.line(depth + 1, line)
        for instr in chunk.instrs:
            name = f"{prefix}{'t' if instr.line else 'g'}{instr.out}"
            place = outs.get(instr.out) or f"{prefix}w{scratch.places.get(instr.out)}"
            writes = _takes_out(instr)
            text = self.into(instr, place, inner) if writes else self.expression(instr, inner)
            if not writes and instr.out in outs:
                name = outs[instr.out]
                self.line(depth + 1, f"{name}[...] = {text}")
            else:
                self.line(depth + 1, f"{name} = {text}")
            inner.names[instr.out] = name
        for instr in chunk.sums:
            total = state.names[instr.out]
            self.imports["add"] = "numpy"
            self.scope["add"] = np.add
            text = f"{total} = {total} + add.reduce({self.text(instr.args[0], inner)})"
            self.line(depth + 1, text)
        for chain in chunk.writes:
            target = targets[chain[-1].out]
            size = self.values[chain[-1].out].shape[0]
            for instr in chain:
                start, stop, _ = instr.args[1].indices(size)
                shifted = "i:j" if start == 0 else f"i + {start}:j + {start}"
                if stop < size and count % chunk.size:
                    shifted = f"{shifted.split(':', maxsplit=1)[0]}:min(j + {start}, {stop})"
                amount = self.text(instr.args[2], inner)
                self.line(depth + 1, f"{target}[{shifted}] += {amount}")

    def _piece(self, name: str, whole: str, index: int, before: list[str]) -> str:
        """The line that takes a piece of an array, whose axes are joined first."""
        if len(self.values[index].shape) == 1:
            return f"{name} = {whole}[i:j]"
        before.append(f"{name}_ = {whole}.reshape(-1)")
        return f"{name} = {name}_[i:j]"

    def _owned(self, chain: list[Instr], state: State, depth: int, dying: frozenset[int]) -> str:
        """The name of the array that a chain of additions goes into."""
        first, last = chain[0], chain[-1]
        whole = last._replace(args=(first.args[0], slice(0, 0), 0.0), out=last.out)
        before = len(self.lines)
        self._write(whole, self._name(last.line), state, depth, dying)
        del self.lines[before + (len(self.lines) - before) - 1 :]  # the addition itself
        return state.names[last.out]

    def _scratch(self, chunk: Chunk, inner: State, outs: dict[int, str]) -> _Scratch:
        """Find a place for each intermediate result, and enter these into the workspace."""
        last: dict[int, int] = {}
        steps = (*chunk.instrs, *chunk.sums, *(i for chain in chunk.writes for i in chain))
        for number, step in enumerate(steps):
            for index in used(step):
                last[index] = number
        found = _Scratch()
        free: dict[Any, list[int]] = {}
        for number, step in enumerate(chunk.instrs):
            dtype = self.values[step.out].dtype
            if step.out not in outs and _takes_out(step):
                mine = None
                # of functions that are shared, the last operand is read after the first result
                for index in {*refs(step.args[:1] if step.name in SHARED else step.args)}:
                    place = found.places.get(index)
                    if place is not None and last[index] == number and mine is None:
                        if found.dtypes[place] == dtype and index not in found.done:
                            mine = place
                            found.done.add(index)
                if mine is None:
                    waiting = free.get(dtype)
                    mine = waiting.pop() if waiting else found.new(dtype)
                found.places[step.out] = mine
            for index in set(refs(step.args)):
                place = found.places.get(index)
                if place is not None and last[index] == number and index not in found.done:
                    found.done.add(index)
                    free.setdefault(found.dtypes[place], []).append(place)
        for dtype in found.dtypes:
            value = Value((chunk.size,), dtype, is_ndarray=True)
            buffer = self._new_buffer(value)
            assert buffer is not None
            found.names.append(buffer.name)
        return found

    # Loops ----------------------------------------------------------------------------------------

    def _loop(self, loop: Loop, state: State, depth: int) -> None:
        """Write a recurrence."""
        self._loops += 1
        first = next((row.line for row in loop.rows if row.line), 0)
        where = f"line {first}" if first else "a backward pass"
        self.line(depth, f"# loop {self._loops}: {loop.turns} turns, {where}")
        body = one_turn(loop, self.values)
        outer = self.values
        self.values = Described(outer, body.values)
        self.loops = (*self.loops, self._loops)
        _LoopText(self, loop, body, state, f"r{self._loops}_").write(depth)
        self.loops = self.loops[:-1]
        for out in loop.outs:
            if out in self.stores:
                self.line(depth, f"{self.stores[out]}{state.names[out]}")
        self.values = outer

    def stack(self, out: int, state: State) -> tuple[str, str]:
        """The name of the array for all turns of a row, and the line that makes it, or ""."""
        value = self.values[out]
        if out in self.targets:
            state.names[out] = self.targets[out]
            return self.targets[out], ""
        key = (value.shape, value.dtype)
        stays = not self.handed_out.isdisjoint(self.roots[out])
        found = state.free.get(key, [])
        buffer: Buffer | None = None
        for number in range(len(found) - 1, -1, -1):
            if not stays or self.lasts(found[number]):
                buffer = found.pop(number)
                break
        if buffer is None and not stays:
            buffer = self._new_buffer(value)
        line = ""
        if buffer is None:
            name = self._name(1)
            line = f"{name} = {self.new_array('empty', value)}"
            buffer = Buffer(name, key, {out}, kept=False, loops=self.loops)
        name = buffer.name
        buffer.live = {out}
        state.buffers[out] = buffer
        state.names[out] = name
        return name, line


class _Scratch:
    """The buffers of a chunk, and which of them each intermediate result lies in."""

    def __init__(self) -> None:
        self.dtypes: list[Any] = []
        self.names: list[str] = []
        self.places: dict[int, int] = {}
        self.done: set[int] = set()

    def new(self, dtype: Any) -> int:
        """Enter another buffer."""
        self.dtypes.append(dtype)
        return len(self.dtypes) - 1


class _LoopText:
    """The lines of one recurrence."""

    def __init__(
        self, writer: Writer, loop: Loop, body: LoopBody, state: State, prefix: str
    ) -> None:
        self.writer = writer
        self.loop = loop
        self.body = body
        self.state = state
        self.prefix = prefix
        self.current: list[str] = [f"{prefix}{j}" for j in range(len(loop.rows))]
        self.made: dict[int, Instr] = {
            step.out: step for step in body.steps if isinstance(step, Instr)
        }
        self.kept: set[int] = {*body.previous, *loop.stacks, *loop.finals}
        """The rows that are needed at the end of a turn."""
        self.counter: str = f"k{len(writer.loops)}" if len(writer.loops) > 1 else "k"
        self.pairs: list[str] = []
        """Names of buffers that are used in every other turn, as `a` and `b`."""

    def write(self, depth: int) -> None:
        """Write the loop."""
        writer, loop, body, state = self.writer, self.loop, self.body, self.state
        roots = writer.roots
        inside = {*body.rows, *body.turns.values()}
        for number in (*body.turns.values(), *(n for n, _ in body.previous.values())):
            roots[number] = frozenset({number})
            inside.add(number)
        enter_roots(body.steps, writer.values, roots)
        for row in {*body.previous, *loop.finals}:
            writer.handed_out |= roots[body.rows[row]]
        for number, name in zip(body.rows, self.current, strict=True):
            writer.fixed[number] = name
        stacks = self._stacks(depth)
        self._begin(depth)
        writer.line(depth, self._head(stacks))
        live = {i for step in body.steps for i in used(step) if i not in inside}
        live.update(body.rows[row] for row in self.kept)
        writer.steps(body.steps, live, state, depth + 1)
        lasts = {out: self._last(row, depth + 1) for row, out in loop.finals.items()}
        self._carry_on(depth + 1)
        state.names.update(lasts)
        for number in inside:
            state.names.pop(number, None)
            state.buffers.pop(number, None)
            for known in (writer.fixed, writer.stores, writer.targets):
                known.pop(number, None)

    def _stacks(self, depth: int) -> dict[str, str]:
        """Write the stacks; return the names of rows that a turn writes to, and their stacks."""
        writer, body = self.writer, self.body
        rows: dict[str, str] = {}
        for j, out in self.loop.stacks.items():
            name, line = writer.stack(out, self.state)
            if line:
                writer.line(depth, line)
            number = body.rows[j]
            if self._takes_buffer(number) or (number not in self.made and self._is_stack(number)):
                writer.targets[number] = f"{self.current[j]}o"
                rows[f"{self.current[j]}o"] = name
            else:
                writer.stores[number] = f"{name}[{self.counter}] = "
        return rows

    def _is_stack(self, number: int) -> bool:
        """Tell if a value is one that an inner loop gives of all its turns."""
        return any(
            number in step.stacks.values() for step in self.body.steps if isinstance(step, Loop)
        )

    def _takes_buffer(self, number: int) -> bool:
        instr, value = self.made.get(number), self.writer.values[number]
        is_array = value.is_ndarray and bool(value.shape) and value.order == "C"
        return instr is not None and is_array and self.writer.takes_out(instr)

    def _begin(self, depth: int) -> None:
        """Write what the first turn finds."""
        writer, body, state = self.writer, self.body, self.state
        for j, (number, init) in sorted(body.previous.items()):
            name = f"{self.current[j]}p"
            text = writer.text(init, state)
            if self._is_own(j):
                text = f'{text}.copy("K")'
                state.buffers[number] = Buffer(name, None, {number}, kept=False, loops=writer.loops)
            writer.line(depth, f"{name} = {text}")
            state.names[number] = name
        for j in sorted({*body.previous, *self.loop.finals} - self.loop.stacks.keys()):
            number, name = body.rows[j], self.current[j]
            if self._takes_buffer(number):
                made = writer.new_array("empty", self.loop.rows[j].value)
                writer.targets[number] = f"{name}a"
                for one in ("a", "b") if j in body.previous else ("a",):
                    writer.line(depth, f"{name}{one} = {made}")
                if j in body.previous:
                    self.pairs.append(name)
        for place, number in enumerate(body.turns.values()):
            state.names[number] = f"{self.prefix}v{place}"

    def _is_own(self, j: int) -> bool:
        """Tell if nobody else sees what a row carries on, so that a turn may write to it."""
        number = self.body.rows[j]
        instr = self.made.get(number)
        return instr is not None and instr.name in ("setitem", "scatter_add")

    def _head(self, stacks: dict[str, str]) -> str:
        """The line that begins the loop."""
        names = [self.state.names[number] for number in self.body.turns.values()]
        sources = [self.state.names[index] for index in self.body.turns]
        names += stacks
        sources += stacks.values()
        counter = self.counter
        counted = len(stacks) < len(self.loop.stacks)
        if not names:
            return f"for {counter if counted else '_'} in range({self.loop.turns}):"
        if len(names) == 1:
            target, source = names[0], sources[0]
        else:
            target, source = ", ".join(names), f"zip({', '.join(sources)})"
        if counted:
            target = f"{counter}, ({target})" if len(names) > 1 else f"{counter}, {target}"
            return f"for {target} in enumerate({source}):"
        return f"for {target} in {source}:"

    def _moves(self) -> list[tuple[str, str]]:
        """What the next turn finds: its names, and what is bound to them."""
        found = [(f"{self.current[j]}p", self.body.rows[j]) for j in sorted(self.body.previous)]
        names = self.state.names
        return [(name, names[number]) for name, number in found if name != names[number]]

    def _last(self, row: int, depth: int) -> str:
        """The name of what a row gives in the last turn; it may lie where the next turn's lies."""
        name = self.state.names[self.body.rows[row]]
        if name not in {target for target, _ in self._moves()}:
            return name
        if row in self.body.previous:
            return f"{self.current[row]}p"
        self.writer.line(depth, f"{self.current[row]} = {name}")
        return self.current[row]

    def _carry_on(self, depth: int) -> None:
        """Write what the next turn finds."""
        writer = self.writer
        moves = self._moves()
        targets = {target for target, _ in moves}
        if any(name in targets for _, name in moves):
            left, right = (", ".join(side) for side in zip(*moves, strict=True))
            writer.line(depth, f"{left} = {right}")
        else:
            for target, name in moves:
                writer.line(depth, f"{target} = {name}")
        for name in self.pairs:
            writer.line(depth, f"{name}a, {name}b = {name}b, {name}a")


def _takes_out(instr: Instr) -> bool:
    """Tell if the function of an instruction writes into a buffer that it is given."""
    fn: Any = instr.fn
    if isinstance(fn, UFUNC):
        return not instr.kw and fn.nout == 1
    return instr.name.endswith(".reduce") or instr.name in SHARED


def _unless(look: str, found: Any) -> str:
    if found is True:
        return f"not {look}"
    return look if found is False else f"{look} != {found!r}"


def _safe(name: str, taken: Iterable[str]) -> str:
    """A name that is free, and no word of the source."""
    name = name if name.isidentifier() else "a"
    if _is_word(name):
        name = f"in_{name}"
    while name in taken or keyword.iskeyword(name) or hasattr(np, name):
        name += "_"
    return name


def _is_word(name: str) -> bool:
    return name in ("np", "i", "j", "k", "Missed", "WORKSPACES", "add_at", *SHARED) or (
        name[:1] in "tgwcrpk" and name[1:2].isdigit()
    )


def live_out(program: Program) -> tuple[dict[int, set[int]], dict[int, set[int]]]:
    """The values that are needed after the body of each block, and at its beginning."""
    after: dict[int, set[int]] = {}
    before: dict[int, set[int]] = {}
    for block in reversed(list(program.blocks())):
        live: set[int] = set()
        for branch in block.branches.values():
            live |= before[id(branch)]
        if block.guard is not None:
            live.add(block.guard.value.index)
        if block.result is not None:
            live.update(refs(block.result.leaves))
        after[id(block)] = set(live)
        for step in reversed(block.body):
            live.difference_update(given(step))
            live.update(used(step))
        before[id(block)] = live
    return after, before


class Source:
    """A program as text, and what the text refers to."""

    def __init__(self, program: Program, *, in_chunks: bool = True) -> None:
        writer = Writer(program, in_chunks=in_chunks)
        self.writer: Writer = writer
        writer.write()
        names = ", ".join(name for name, _ in writer.workspace)
        self.workspace: list[Value] = [value for _, value in writer.workspace]
        lines = [f"def compiled({', '.join(writer.parameters)}):"]
        back = f"WORKSPACES.append(({names}{',' if len(self.workspace) == 1 else ''}))"
        if names:
            lines += [
                f"{INDENT}try:",
                f"{INDENT * 2}{names}{',' if len(self.workspace) == 1 else ''} = WORKSPACES.pop()",
                f"{INDENT}except IndexError:",
            ]
            lines += [
                f"{INDENT * 2}{name} = {writer.new_array('empty', value)}"
                for name, value in writer.workspace
            ]
        for line in writer.lines:
            if line.lstrip() == "WORKSPACE_BACK":
                if names:
                    lines.append(line.replace("WORKSPACE_BACK", back))
            else:
                lines.append(line)
        self.body: str = "\n".join(lines)

    @property
    def arrays(self) -> dict[str, Any]:
        """The arrays that the program reads, by the names that it has for them."""
        return {**self.writer.arrays, **self.writer.by_reference}

    def text(self, npz: str = "constants.npz") -> str:
        """The whole module; its arrays are read from a file beside it."""
        writer = self.writer
        lines = ["import numpy as np"]
        if self.arrays:
            lines.insert(0, "import pathlib\n")
        by_module: dict[str, list[str]] = {}
        for name, module in writer.imports.items():
            by_module.setdefault(module, []).append(name)
        lines += [f"from {m} import {', '.join(sorted(n))}" for m, n in sorted(by_module.items())]
        lines.append("")
        for name, value in writer.scope.items():
            if isinstance(value, NDARRAY) and name[:1] == "c" and name[1:].isdigit():
                number, kind = _python_number(value.item()), self._named_dtype(value.dtype)
                lines.append(f"{name} = np.array({number}{kind})")
            else:
                lines += definition(name, value)
        if self.arrays:
            lines.append(f"with np.load(pathlib.Path(__file__).with_name({npz!r})) as arrays:")
            lines += [f"{INDENT}{name} = arrays[{name!r}]" for name in self.arrays]
        if writer.workspace:
            lines.append("WORKSPACES = []")
        if "add_at" in writer.scope:
            lines += ["", "", _source_of_add_at()]
        for name, function in SHARED.items():
            if name in writer.scope:
                text = inspect.getsource(function).replace(": Any", "").replace(" -> Any", "")
                lines += ["", "", text.rstrip()]
        if "raise Missed" in self.body:
            lines += ["", "", "class Missed(Exception):"]
            lines.append(f'{INDENT}"""A value has led to a branch that was not traced."""')
        return "\n".join([*lines, "", "", self.body, ""])

    def _named_dtype(self, dtype: Any) -> str:
        return "" if dtype == np.float64 else f", np.{dtype.name}"

    def function(self) -> Callable[..., Any]:
        """The function, run from its text."""
        scope: dict[str, Any] = {**self.writer.scope, "WORKSPACES": []}
        exec(compile(self.body, "<gradwrap.compile>", "exec"), scope)  # noqa: S102  written here
        found: Callable[..., Any] = scope["compiled"]
        return found


def _is_number(leaf: Any) -> bool:
    return isinstance(leaf, (int, float, complex, NUMBER)) and not isinstance(
        leaf, (bool, np.bool_)
    )


def definition(name: str, value: Any) -> list[str]:
    """Return the line that gives a number or a dtype a name; none for other objects."""
    if isinstance(value, NUMBER):
        return [f"{name} = {_number(value)}"]
    if isinstance(value, np.dtype):
        return [f"{name} = np.dtype({value.str!r})"]
    return [f"{name} = {_python_number(value)}"] if isinstance(value, (float, complex)) else []


def _number(value: Any) -> str:
    text = f"np.{value.dtype.name}"
    plain = value.item()
    return (
        f"{text}({_python_number(plain) if isinstance(plain, (float, complex)) else repr(plain)})"
    )


def _python_number(value: Any) -> str:
    if isinstance(value, complex):
        return f"complex({_python_number(value.real)}, {_python_number(value.imag)})"
    return repr(value) if math.isfinite(value) else f'float("{value!r}")'


def _source_of_add_at() -> str:
    """The text of the function that adds at indices which repeat."""
    parts = [
        "import math",
        "",
        f"MANY, DOUBLE = {numpy_scatter.MANY}, {numpy_scatter.DOUBLE}",
        "TUPLE, ARRAYS_OF_KEYS, untyped = tuple, (np.ndarray, list), np",
    ]
    module: Any = numpy_scatter
    functions = [module.add_at, module._index_arrays, module._counted_from_front]
    for function in functions:
        text = inspect.getsource(function).replace("ARRAYS)", "ARRAYS_OF_KEYS)")
        text = text.replace("parts: Sequence[Any] =", "parts =").replace(": list[Any] =", " =")
        text = text.replace("counted: Any =", "counted =").replace(": Any", "")
        parts += [
            "",
            "",
            text.replace(" -> tuple[int, list[Any]]", "").replace(" -> Any", "").rstrip(),
        ]
    return "\n".join(parts)


def numpy_engine(program: Program, *, in_chunks: bool = True) -> Executable:
    """Write a program as NumPy source, and make a function of it."""
    source = Source(program, in_chunks=in_chunks)
    notes = [f"workspace: {source.writer.bytes} bytes in {len(source.workspace)} buffers"]
    if source.writer.chunks:
        notes.append(f"chunks of {', '.join(map(str, source.writer.chunks))} elements")
    is_rolled = any(note.startswith("loop") for note in program.notes)
    exact = not (is_rolled or source.writer.chunks)
    return Executable(source.function(), source.text(), tuple(notes), exact)
