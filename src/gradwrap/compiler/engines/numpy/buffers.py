"""Instructions as lines of NumPy source, whose results lie in buffers that are used again.

A result that is an array and no part of an output is written into a free buffer: one whose value
dies there, or one of the call's workspace.
"""

from __future__ import annotations

import math
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.engines.numpy.text import Buffer, Room, SourceText, State, takes_out
from gradwrap.compiler.ir.analysis import roots_of
from gradwrap.compiler.ir.operations import BROADCAST_TO, COPY, ITEM, Kind
from gradwrap.compiler.ir.program import Instr, Program, Ref, Value, is_elementwise, refs

if TYPE_CHECKING:
    from collections.abc import Collection, Generator

    from gradwrap.compiler.ir.analysis import Roots

WORKSPACE = 1 << 28
"""The most bytes that a program keeps between calls."""
INDENT = "    "


class BufferedText(SourceText):
    """Writes instructions as lines."""

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.program = program
        self.lines: list[str] = []
        self.arrays: dict[str, Any] = {}
        self.workspace: list[Room] = []
        self.bytes: int = 0
        """The bytes of the workspace."""
        self._buffers: int = 0
        """The number of buffers in it."""
        self._scratch: dict[tuple[tuple[int, ...], Any], list[str]] = {}
        """By shape and dtype: the buffers for the pieces of chunks."""
        self.roots: Roots = roots_of(program)
        self.handed_out: set[int] = set()
        for block in program.blocks():
            for index in refs(() if block.result is None else block.result.leaves):
                self.handed_out |= self.roots[index]
        self.fixed: dict[int, str] = {}
        """By value of a loop: its fixed name."""
        self.stores: dict[int, str] = {}
        """By value of a loop: the start of a line that stores it."""
        self.loops: tuple[int, ...] = ()
        """The loops around the current line."""
        self.targets: dict[int, str] = {}
        """By value of a loop: the buffer that receives it."""
        self._count = 0
        self._uncertain: set[int] = set()
        """The tuples of outputs whose forms may depend on values."""

    @contextmanager
    def inside(self, loop: int) -> Generator[None]:
        """Write lines inside this loop: a buffer that they allocate is allocated in each turn."""
        outer = self.loops
        self.loops = (*outer, loop)
        yield
        self.loops = outer

    def line(self, depth: int, text: str) -> None:
        """Append a line."""
        self.lines.append(INDENT * depth + text)

    def new_name(self, line: int) -> str:
        self._count += 1
        return f"{'t' if line else 'g'}{self._count}"

    def instruction(self, instr: Instr, state: State, depth: int, dying: frozenset[int]) -> None:
        value = self.values[instr.out]
        name = self.fixed.get(instr.out) or self.new_name(instr.line)
        store = self.stores.get(instr.out, "")
        if instr.op.kind is Kind.WRITE:
            self.write_to(instr, name, state, depth, dying)
        elif instr.op is not COPY or not self._taken_over(instr, state, dying):
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
                self.own_result(instr, name, state)
                if instr.form_may_vary or (
                    instr.op is ITEM and instr.args[0].index in self._uncertain
                ):
                    self._check_form(instr.out, name, depth)
            state.names[instr.out] = name
            if value.is_ndarray and instr.out not in state.buffers:
                for root in self.roots[instr.out]:
                    if root in state.buffers:
                        state.buffers[root].live.add(instr.out)
        if store:
            self.line(depth, f"{store}{state.names[instr.out]}")

    def _check_form(self, index: int, name: str, depth: int) -> None:
        """Write a test that a result has the shape and the dtype that the program counts on.

        If it has not, this call runs the function itself.
        """
        value = self.values[index]
        if value.is_tuple:
            self._uncertain.add(index)
        elif value.is_ndarray:
            kind = self._literal(value.dtype)
            self.line(depth, f"if {name}.shape != {value.shape!r} or {name}.dtype != {kind}:")
            self.line(depth + 1, 'raise TypeError("its shape or dtype depends on values")')
        elif not value.is_number and value.dtype != np.bool_:  # Python's truths stay so
            kind = f"{self._literal(value.dtype)}.type"
            self.line(depth, f"if hasattr({name}, 'dtype') and type({name}) is not {kind}:")
            self.line(depth + 1, 'raise TypeError("its shape or dtype depends on values")')

    def own_result(self, instr: Instr, name: str, state: State) -> None:
        """Record the new array of an instruction."""
        value = self.values[instr.out]
        if instr.op is BROADCAST_TO or self.roots[instr.out] != frozenset({instr.out}):
            return  # a broadcast view is read-only
        usable = value.is_ndarray and value.order == "C" and value.shape and instr.op is not ITEM
        key = (value.shape, value.dtype) if usable else None
        made = Buffer(name, key, {instr.out}, kept=False, loops=self.loops)
        state.buffers[instr.out] = made

    def _taken_over(self, instr: Instr, state: State, dying: frozenset[int]) -> bool:
        """Turn a copy into a rename, if the source is a new array of this call and dies here."""
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
        """Return a buffer for the result; None if it is allocated anew, or is no array."""
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
        return self._free_buffer(value, state, stays=stays)

    def _free_buffer(self, value: Value, state: State, *, stays: bool) -> Buffer | None:
        """Return a buffer that is free, or a new one of the workspace unless the value stays."""
        for buffer in reversed(state.free.get((value.shape, value.dtype), [])):
            if not stays or self.lasts(buffer):
                return _taken(buffer, state)
        return None if stays else self._shared_buffer(value, state) or self.new_buffer(value)

    def _shared_buffer(self, value: Value, state: State) -> Buffer | None:
        """Return a buffer in free memory of another shape, which may grow; None if there is none.

        The memory is at most four times as large as the buffer, and grows by its size at most.
        """
        size = math.prod(value.shape)
        known = [
            (abs(room.size - size), number, found[-1], room)
            for number, ((_, dtype), found) in enumerate(state.free.items())
            if (room := found[-1].room) is not None
            and dtype == value.dtype
            and size <= 2 * room.size <= 8 * size
        ]
        if not known:
            return None
        *_, buffer, room = min(known)
        more = max(size - room.size, 0) * value.dtype.itemsize
        if self.bytes + more > WORKSPACE:
            return None
        _taken(buffer, state)
        self.bytes += more
        room.size = max(size, room.size)
        name = room.buffers.setdefault(value.shape, f"w{self._buffers}")
        self._buffers += name == f"w{self._buffers}"
        return Buffer(name, (value.shape, value.dtype), set(), kept=True, room=room)

    def lasts(self, buffer: Buffer) -> bool:
        """Tell if the content of a buffer survives later turns and calls."""
        return not buffer.kept and buffer.loops[: len(self.loops)] == self.loops

    def new_buffer(self, value: Value, most: float | None = None) -> Buffer | None:
        """Return a buffer of the workspace; None if the workspace would become too large."""
        size = math.prod(value.shape) * value.dtype.itemsize
        if self.bytes + size > (WORKSPACE if most is None else most):
            return None
        self.bytes += size
        room = Room(f"w{self._buffers}", value)
        self._buffers += 1
        self.workspace.append(room)
        name = room.buffers[value.shape]
        return Buffer(name, (value.shape, value.dtype), set(), kept=True, room=room)

    def scratch_buffer(self, shape: tuple[int, ...], dtype: Any, taken: Collection[str]) -> str:
        """Return a buffer for the pieces of a chunk; that of an earlier chunk if there are many."""
        known = self._scratch.setdefault((shape, dtype), [])
        value = Value(shape, dtype, is_ndarray=True)
        buffer = self.new_buffer(value)
        if buffer is None:
            name = next((one for one in known if one not in taken), "")
            if name:
                return name
            buffer = self.new_buffer(value, most=math.inf)
        assert buffer is not None
        known.append(buffer.name)
        return buffer.name

    def takes_out(self, instr: Instr) -> bool:
        """Tell if the function of an instruction writes its result into a given buffer."""
        return takes_out(instr)

    def write_to(
        self, instr: Instr, name: str, state: State, depth: int, dying: frozenset[int]
    ) -> None:
        """Write to an array in place if nothing else reads it, else to a copy."""
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
            known = type(target) is Ref and self.values[source].is_ndarray
            made = f'{text}.copy("K")' if known else f"{self.module}.array({text})"
            self.line(depth, f"{name} = {made}")
            self.own_result(instr, name, state)
        self.line(depth, self.write_text(instr.op, name, key, value, state))
        state.names[instr.out] = name

    def stack(self, out: int, state: State) -> tuple[str, str]:
        """Return the name of a row's stack, and the line that allocates it, or ""."""
        value = self.values[out]
        if out in self.targets:
            state.names[out] = self.targets[out]
            return self.targets[out], ""
        stays = not self.handed_out.isdisjoint(self.roots[out])
        buffer = self._free_buffer(value, state, stays=stays)
        line = ""
        if buffer is None:
            key = (value.shape, value.dtype)
            buffer = Buffer(self.new_name(1), key, {out}, kept=False, loops=self.loops)
            line = f"{buffer.name} = {self.new_array('empty', value)}"
        buffer.live = {out}
        state.buffers[out] = buffer
        state.names[out] = buffer.name
        return buffer.name, line

    def die(self, index: int, state: State) -> None:
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


def _taken(buffer: Buffer, state: State) -> Buffer:
    """Return a buffer that was free."""
    found = state.free[buffer.key]
    found.remove(buffer)
    if not found:
        del state.free[buffer.key]
    return buffer
