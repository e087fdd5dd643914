"""The writer: a program as NumPy source that reuses buffers.

Each instruction becomes a line. A result that is an array and no part of an output is written
into a free buffer: one whose value dies there, or one of the call's workspace.
"""

from __future__ import annotations

import builtins
import keyword
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradwrap.compiler.engines.numpy.chunks import Chunk, chunked, given_by, used_by
from gradwrap.compiler.engines.numpy.elements import ElementLoop
from gradwrap.compiler.engines.numpy.pieces import MOST_THREADS, in_pieces
from gradwrap.compiler.engines.numpy.tangents import SHARED
from gradwrap.compiler.engines.numpy.text import Buffer, SourceText, State, takes_out
from gradwrap.compiler.ir.analysis import enter_roots, last_readers, live_before, liveness, roots_of
from gradwrap.compiler.ir.operations import BROADCAST_TO, COPY, ITEM, Kind
from gradwrap.compiler.ir.program import (
    Block,
    Instr,
    Loop,
    Program,
    Ref,
    Value,
    given,
    is_elementwise,
    refs,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from gradwrap.compiler.ir.analysis import Liveness, Roots

WORKSPACE = 1 << 28
"""The most bytes that a program keeps between calls."""
LOOKS = {
    "bool": "bool({})",
    "int": "int({})",
    "shape": "{}.shape",
    "elements": "tuple({}.ravel().tolist())",
}
INDENT = "    "


class Writer(SourceText):
    """Writes a program as source."""

    def __init__(self, program: Program, *, in_chunks: bool = True, threads: int = 1) -> None:
        super().__init__(program)
        self.threads = threads
        """The most threads for the pieces of a chunk."""
        self.used_threads: int = 1
        """The most threads of any chunk."""
        self.program = program
        self.in_chunks = in_chunks
        self.chunks: list[int] = []
        self.lines: list[str] = []
        self.returns: dict[int, int] = {}
        """By index of a line that returns the result: its depth."""
        self.can_miss: bool = False
        """Whether the source raises `Missed` for a branch that was not traced."""
        self.arrays: dict[str, Any] = {}
        self.by_reference: dict[str, Any] = {}
        self.workspace: list[tuple[str, Value]] = []
        self.scratch: dict[tuple[tuple[int, ...], Any], list[str]] = {}
        """By shape and dtype: the buffers for the pieces of chunks."""
        self.bytes: int = 0
        self.notes: list[str] = []
        self.roots: Roots = roots_of(program)
        self._live: Liveness = liveness(program)
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
        self._loops = 0

    # Whole programs -------------------------------------------------------------------------------

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
                self.returns[len(self.lines)] = depth
                self.line(depth, f"return {self._nest(block.result.leaves, state)}")
                return
            look = LOOKS[block.guard.kind].format(self.text(block.guard.value, state))
            branches = list(block.branches.items())
            is_test = block.guard.kind == "bool"
            if len(branches) == 1:
                found, block = branches[0]
                self.line(depth, f"if {_unless(look, found)}:")
                self._miss(depth + 1)
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
                self._miss(depth)
            return

    def _miss(self, depth: int) -> None:
        self.can_miss = True
        self.line(depth, "raise Missed")

    def _drop_dead(self, block: Block, state: State) -> None:
        """Drop the values that only other branches need."""
        needed = self._live.before[id(block)]
        for index in [i for i in state.names if i not in needed]:
            self._die(index, state)

    def _body(self, block: Block, state: State, depth: int) -> None:
        live = self._live.after[id(block)]
        body = chunked(self.program, block.body, live) if self.in_chunks else block.body
        for step in body:
            if isinstance(step, Chunk):
                self.filled.update(step.fills)
        self.steps(body, live, state, depth)

    def steps(
        self, body: Sequence[Instr | Loop | Chunk], live: set[int], state: State, depth: int
    ) -> None:
        """Write steps; `live` are the values live after them."""
        last = last_readers(body, lambda step: (*used_by(step), *given_by(step)))
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
        if instr.op.kind is Kind.WRITE:
            self._write(instr, name, state, depth, dying)
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
                self._own(instr, name, state)
            state.names[instr.out] = name
            if value.is_ndarray and instr.out not in state.buffers:
                for root in self.roots[instr.out]:
                    if root in state.buffers:
                        state.buffers[root].live.add(instr.out)
        if store:
            self.line(depth, f"{store}{state.names[instr.out]}")

    def _own(self, instr: Instr, name: str, state: State) -> None:
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
        found = state.free.get((value.shape, value.dtype), [])
        for number in range(len(found) - 1, -1, -1):
            if not stays or self.lasts(found[number]):
                return found.pop(number)
        return None if stays else self._new_buffer(value)

    def lasts(self, buffer: Buffer) -> bool:
        """Tell if the content of a buffer survives later turns and calls."""
        return not buffer.kept and buffer.loops[: len(self.loops)] == self.loops

    def _new_buffer(self, value: Value, most: float | None = None) -> Buffer | None:
        """Return a buffer of the workspace; None if the workspace would become too large."""
        size = math.prod(value.shape) * value.dtype.itemsize
        if self.bytes + size > (WORKSPACE if most is None else most):
            return None
        self.bytes += size
        name = f"w{len(self.workspace)}"
        self.workspace.append((name, value))
        return Buffer(name, (value.shape, value.dtype), set(), kept=True)

    def takes_out(self, instr: Instr) -> bool:
        """Tell if the function of an instruction writes its result into a given buffer."""
        return takes_out(instr)

    def _write(
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
            self._own(instr, name, state)
        self.line(depth, self.write_text(instr.op, name, key, value, state))
        state.names[instr.out] = name

    # Chunks ---------------------------------------------------------------------------------------

    def _chunk(self, chunk: Chunk, state: State, depth: int, dying: frozenset[int]) -> None:
        """Write instructions that are performed piece by piece."""
        self.chunks.append(chunk.size)
        prefix = f"p{len(self.chunks)}_"
        threads = self._threads_of(chunk)
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
            target = targets[chain[-1].out] = self._owned(chain, state, depth, dying)
            if chain[0].args[0].index in chunk.fills:
                size = self.values[chain[-1].out].shape[0]
                start, stop, _ = chain[0].args[1].indices(size)
                before += [f"{target}[:{start}] = 0.0"] if start else []
                before += [f"{target}[{stop}:] = 0.0"] if stop < size else []
        filled: dict[int, str] = {}
        for chain in chunk.writes:
            if chain[0].args[0].index in chunk.fills:
                out = chain[-1].out
                filled[out] = f"{prefix}f{len(filled)}"
                pieces.append(f"{filled[out]} = {self._slice_of(targets[out], chain[0], chunk)}")
        places, scratch = self._places(chunk, outs, filled, prefix, threads)
        for line in before:
            self.line(depth, line)
        count = chunk.elements
        if threads == 1:
            for name, whole in scratch.items():
                self.line(depth, f"{name} = {whole}")
        rest, (shorter, length) = count % chunk.size, (f"j > {count}", f"{count} - i")
        if threads > 1:
            shorter, length = f"j - i < {chunk.size}", "j - i"
            self.line(depth, f"def {prefix}piece(me, i, j):")
            for name, whole in scratch.items():
                self.line(depth + 1, f"{name} = {whole}[me]")
        elif chunk.descends:
            shorter, length = f"j < {chunk.size}", "j"
            self.line(depth, f"for j in range({count}, 0, -{chunk.size}):")
            start = f"j - {chunk.size}"
            self.line(depth + 1, f"i = {f'max({start}, 0)' if rest else start}")
        else:
            self.line(depth, f"for i in range(0, {count}, {chunk.size}):")
            self.line(depth + 1, f"j = i + {chunk.size}")
        if rest and scratch:
            self.line(depth + 1, f"if {shorter}:")
            for name in scratch:
                self.line(depth + 2, f"{name} = {name}[:{length}]")
        for line in pieces:
            self.line(depth + 1, line)
        for instr in chunk.instrs:
            name = f"{prefix}{'t' if instr.line else 'g'}{instr.out}"
            place = outs.get(instr.out) or places.get(instr.out, "")
            writes = takes_out(instr)
            text = self.into(instr, place, inner) if writes else self.expression(instr, inner)
            if not writes and instr.out in outs:
                name = outs[instr.out]
                self.line(depth + 1, f"{name}[...] = {text}")
            else:
                self.line(depth + 1, f"{name} = {text}")
            inner.names[instr.out] = name
        totals: dict[str, str] = {}
        for instr in chunk.sums:
            total = state.names[instr.out]
            self._imported("add", instr)
            text = f"add.reduce({self.text(instr.args[0], inner)})"
            if threads > 1:
                totals[total] = f"{prefix}s{len(totals)}"
                self.line(depth + 1, f"{totals[total]} = {text}")
            else:
                self.line(depth + 1, f"{total} = {total} + {text}")
        for chain in chunk.writes:
            out = chain[-1].out
            slices = [self._slice_of(targets[out], instr, chunk) for instr in chain]
            self._additions(chain, filled.get(out), slices, inner, depth + 1)
        if threads > 1:
            self.imports["in_pieces"] = in_pieces.__module__
            self.scope["in_pieces"] = in_pieces
            call = f"in_pieces({prefix}piece, {count}, {chunk.size}, {threads})"
            if totals:
                parts = "".join(f"{part}, " for part in totals.values())
                self.line(depth + 1, f"return {parts.rstrip()}")
                self.line(depth, f"for {parts.rstrip()} in {call}:")
                for total, part in totals.items():
                    self.line(depth + 1, f"{total} = {total} + {part}")
            else:
                self.line(depth, call)

    def _threads_of(self, chunk: Chunk) -> int:
        """Return the number of threads for the pieces of a chunk, and note it."""
        if self.threads == 1:
            return 1
        threads = min(self.threads, -(-chunk.elements // chunk.size), MOST_THREADS)
        reason = chunk.on_one_thread(threads)
        how = f"one thread ({reason})" if reason else f"{threads} threads"
        self.notes.append(f"chunk {len(self.chunks)}, {chunk.elements} elements: {how}")
        threads = 1 if reason else threads
        self.used_threads = max(self.used_threads, threads)
        return threads

    def _additions(
        self, chain: list[Instr], filled: str | None, slices: list[str], inner: State, depth: int
    ) -> None:
        """Write the additions of a piece to slices of one array."""
        amounts = [self.text(instr.args[2], inner) for instr in chain]
        if filled is not None:
            count = _first_additions(chain)
            zero = [self._constant(0.0, self.values[chain[0].out].dtype)] if count == 1 else []
            self.imports["add"] = "numpy"
            self.scope["add"] = np.add
            self.line(depth, f"add({', '.join([*amounts[:count], *zero, filled])})")
            slices, amounts = slices[count:], amounts[count:]
        for place, amount in zip(slices, amounts, strict=True):
            self.line(depth, f"{place} += {amount}")

    def _slice_of(self, target: str, instr: Instr, chunk: Chunk) -> str:
        """Return the part of an array that a piece is added to."""
        size = self.values[instr.out].shape[0]
        start, stop, _ = instr.args[1].indices(size)
        low, high = ("i", "j") if start == 0 else (f"i + {start}", f"j + {start}")
        if stop < size and chunk.elements % chunk.size and not chunk.descends:
            high = f"min({high}, {stop})"
        return f"{target}[{low}:{high}]"

    def _piece(self, name: str, whole: str, index: int, before: list[str]) -> str:
        """Return the line that takes a piece of an array, flattened first."""
        if len(self.values[index].shape) == 1:
            return f"{name} = {whole}[i:j]"
        before.append(f"{name}_ = {whole}.reshape(-1)")
        return f"{name} = {name}_[i:j]"

    def _owned(self, chain: list[Instr], state: State, depth: int, dying: frozenset[int]) -> str:
        """Return the name of the array that receives a chain of additions."""
        first, last = chain[0], chain[-1]
        whole = replace(last, args=(first.args[0], slice(0, 0), 0.0), out=last.out)
        self._write(whole, self._name(last.line), state, depth, dying)
        del self.lines[-1]  # the addition itself
        return state.names[last.out]

    def _places(
        self,
        chunk: Chunk,
        outs: dict[int, str],
        filled: dict[int, str],
        prefix: str,
        threads: int = 1,
    ) -> tuple[dict[int, str], dict[str, str]]:
        """Assign a place to each intermediate result; return the names, and the new buffers.

        Until a result is written to its array, that part of the array is a free place.
        """
        steps = (*chunk.instrs, *chunk.sums, *(i for chain in chunk.writes for i in chain))
        last = last_readers(steps)
        free: list[_Place] = []
        number = len(chunk.instrs) + len(chunk.sums)
        for chain in chunk.writes:
            out = chain[-1].out
            if out in filled:
                until = number + _first_additions(chain) - 1
                free.append(_Place(filled[out], self.values[out].dtype, until))
            number += len(chain)
        for number, step in enumerate(chunk.instrs):
            if step.out in outs:
                until = number - (step.name in SHARED)
                free.append(_Place(outs[step.out], self.values[step.out].dtype, until))
        names: dict[int, str] = {}
        scratch: dict[str, str] = {}
        places: dict[int, _Place] = {}  # of values that are still read
        for number, step in enumerate(chunk.instrs):
            dying = [i for i in dict.fromkeys(refs(step.args)) if i in places and last[i] == number]
            if step.out not in outs and takes_out(step):
                dtype, until = self.values[step.out].dtype, last.get(step.out, number)
                # a shared function reads its last operand after writing the first result
                over = refs(step.args[:1] if step.name in SHARED else step.args)
                waiting = [*free, *(places.pop(i) for i in dying if i in over)]
                mine = next((p for p in reversed(waiting) if p.takes(dtype, until)), None)
                if mine is None:
                    shape = (threads, chunk.size) if threads > 1 else (chunk.size,)
                    mine = _Place(f"{prefix}w{len(scratch)}", dtype, len(steps))
                    scratch[mine.name] = self._scratch(shape, dtype, scratch.values())
                else:
                    waiting.remove(mine)
                free, places[step.out], names[step.out] = waiting, mine, mine.name
            free += [places.pop(i) for i in dying if i in places]
        return names, scratch

    def _scratch(self, shape: tuple[int, ...], dtype: Any, taken: Collection[str]) -> str:
        """Return a buffer for the pieces of a chunk; that of an earlier chunk if there are many."""
        known = self.scratch.setdefault((shape, dtype), [])
        value = Value(shape, dtype, is_ndarray=True)
        buffer = self._new_buffer(value)
        if buffer is None:
            name = next((one for one in known if one not in taken), "")
            if name:
                return name
            buffer = self._new_buffer(value, most=math.inf)
        assert buffer is not None
        known.append(buffer.name)
        return buffer.name

    # Loops ----------------------------------------------------------------------------------------

    def _loop(self, loop: Loop, state: State, depth: int) -> None:
        """Write a recurrence as a loop."""
        self._loops += 1
        where = f"line {loop.line}" if loop.line else "a backward pass"
        self.line(depth, f"# loop {self._loops}: {loop.turns} turns, {where}")
        self.loops = (*self.loops, self._loops)
        prefix = f"r{self._loops}_"
        lines = ElementLoop(self, loop, state, prefix).lines()
        if lines is None:
            _LoopText(self, loop, state, prefix).write(depth)
        else:
            before, body, after = lines
            for text in before:
                self.line(depth, text)
            for text in body:
                self.line(depth + 1, text)
            for text in after:
                self.line(depth, text)
        self.loops = self.loops[:-1]
        for out in loop.outs:
            if out in self.stores:
                self.line(depth, f"{self.stores[out]}{state.names[out]}")

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
            buffer = Buffer(self._name(1), key, {out}, kept=False, loops=self.loops)
            line = f"{buffer.name} = {self.new_array('empty', value)}"
        buffer.live = {out}
        state.buffers[out] = buffer
        state.names[out] = buffer.name
        return buffer.name, line


class _Place(NamedTuple):
    """Memory for a piece of a result."""

    name: str
    dtype: Any
    until: int
    """The last step that may read from it."""

    def takes(self, dtype: Any, until: int) -> bool:
        """Tell if a result of a dtype can lie there until the step that reads it last."""
        return self.dtype == dtype and until <= self.until


def _first_additions(chain: list[Instr]) -> int:
    """Return how many additions can fill an array at once: two if both go to one slice."""
    return 2 if [step.args[1] for step in chain[1:2]] == [chain[0].args[1]] else 1


class _LoopText:
    """The lines of one recurrence."""

    def __init__(self, writer: Writer, loop: Loop, state: State, prefix: str) -> None:
        self.writer = writer
        self.loop = loop
        self.state = state
        self.prefix = prefix
        outs = [out for step in loop.body for out in given(step)]
        self.current: dict[int, str] = {out: f"{prefix}{j}" for j, out in enumerate(outs)}
        """By body value that a step defines: its name."""
        self.made: dict[int, Instr] = {
            step.out: step for step in loop.body if isinstance(step, Instr)
        }
        self.carried: set[int] = {carry.next for carry in loop.carries}
        self.counter: str = f"k{len(writer.loops)}" if len(writer.loops) > 1 else "k"
        self.pairs: list[str] = []
        """Names of buffers used in alternate turns, as `a` and `b`."""

    def write(self, depth: int) -> None:
        """Write the loop."""
        writer, loop, state = self.writer, self.loop, self.state
        inside = {*self.current, *loop.found}
        writer.roots.update({index: frozenset({index}) for index in loop.found})
        enter_roots(loop.body, writer.values, writer.roots)
        for index in {*self.carried, *loop.finals}:
            writer.handed_out |= writer.roots[index]
        writer.fixed.update(self.current)
        stacks = self._stacks(depth)
        self._begin(depth)
        writer.line(depth, self._head(stacks))
        live = live_before(loop.body, set()) - inside | loop.handed_on
        writer.steps(loop.body, live, state, depth + 1)
        lasts = {out: self._last(index, depth + 1) for index, out in loop.finals.items()}
        self._carry_on(depth + 1)
        state.names.update(lasts)
        for index in inside:
            state.names.pop(index, None)
            state.buffers.pop(index, None)
            for known in (writer.fixed, writer.stores, writer.targets):
                known.pop(index, None)

    def _stacks(self, depth: int) -> dict[str, str]:
        """Write the stacks; return the rows that a turn writes to, with their stacks."""
        writer = self.writer
        rows: dict[str, str] = {}
        for index, out in self.loop.stacks.items():
            name, line = writer.stack(out, self.state)
            if line:
                writer.line(depth, line)
            if self._takes_buffer(index) or self._is_stack(index):
                row = writer.targets[index] = f"{self.current[index]}o"
                rows[row] = name
            else:
                writer.stores[index] = f"{name}[{self.counter}] = "
        return rows

    def _is_stack(self, index: int) -> bool:
        """Tell if a value is a stack of an inner loop."""
        return any(
            index in step.stacks.values() for step in self.loop.body if isinstance(step, Loop)
        )

    def _takes_buffer(self, index: int) -> bool:
        instr, value = self.made.get(index), self.writer.values[index]
        is_array = value.is_ndarray and bool(value.shape) and value.order == "C"
        return instr is not None and is_array and self.writer.takes_out(instr)

    def _begin(self, depth: int) -> None:
        """Write the initial values of the carries."""
        writer, loop, state = self.writer, self.loop, self.state
        for carry in loop.carries:
            name = f"{self.current[carry.next]}p"
            text = writer.text(carry.first, state)
            if self._is_own(carry.next):
                text = f'{text}.copy("K")'
                state.buffers[carry.value] = Buffer(
                    name, None, {carry.value}, kept=False, loops=writer.loops
                )
            writer.line(depth, f"{name} = {text}")
            state.names[carry.value] = name
        for index in sorted({*self.carried, *loop.finals} - loop.stacks.keys()):
            name = self.current[index]
            if self._takes_buffer(index):
                made = writer.new_array("empty", writer.values[index])
                writer.targets[index] = f"{name}a"
                for one in ("a", "b") if index in self.carried else ("a",):
                    writer.line(depth, f"{name}{one} = {made}")
                if index in self.carried:
                    self.pairs.append(name)
        for place, index in enumerate(loop.reads):
            state.names[index] = f"{self.prefix}v{place}"

    def _is_own(self, index: int) -> bool:
        """Tell if a carried value is private to the loop, so that a turn may write to it."""
        instr = self.made.get(index)
        return instr is not None and instr.op.kind is Kind.WRITE

    def _head(self, stacks: dict[str, str]) -> str:
        """Return the line that begins the loop."""
        names = [self.state.names[index] for index in self.loop.reads]
        sources = [self.state.names[stack.index] for stack in self.loop.reads.values()]
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
        """Return the assignments at the end of a turn: names of the next turn, with values."""
        names = self.state.names
        found = [(f"{self.current[index]}p", names[index]) for index in sorted(self.carried)]
        return [(target, name) for target, name in found if target != name]

    def _last(self, index: int, depth: int) -> str:
        """Return the name of a final value, saved if the next turn would overwrite it."""
        name = self.state.names[index]
        if name not in {target for target, _ in self._moves()}:
            return name
        if index in self.carried:
            return f"{self.current[index]}p"
        self.writer.line(depth, f"{self.current[index]} = {name}")
        return self.current[index]

    def _carry_on(self, depth: int) -> None:
        """Write the assignments that carry values to the next turn."""
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


def _unless(look: str, found: Any) -> str:
    if found is True:
        return f"not {look}"
    return look if found is False else f"{look} != {found!r}"


def _safe(name: str, taken: Iterable[str]) -> str:
    """Return a free name that is not a keyword of the source."""
    name = name if name.isidentifier() else "a"
    if _is_word(name):
        name = f"in_{name}"
    known = (np, builtins)
    while name in taken or keyword.iskeyword(name) or any(hasattr(one, name) for one in known):
        name += "_"
    return name


WORDS = frozenset(
    {"np", "i", "j", "k", "me", "Missed", "WORKSPACES", "add_at", "aligned", "compiled"}
    | {"in_pieces", "arrays", "math", "pathlib", "scipy", *SHARED}
)
"""The names that every source may use."""


def _is_word(name: str) -> bool:
    return (
        name in WORDS
        or name.removeprefix("kernel")[:1].isdigit()
        or (name[:1] in "tgwcrpk" and name[1:2].isdigit())
    )
