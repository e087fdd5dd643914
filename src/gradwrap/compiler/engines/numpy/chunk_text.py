"""The lines of a chunk: a loop over pieces of long arrays, or a function of a piece for threads."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradwrap.compiler.engines.numpy.pieces import in_pieces
from gradwrap.compiler.engines.numpy.tangents import SHARED
from gradwrap.compiler.engines.numpy.text import State, takes_out
from gradwrap.compiler.ir.analysis import last_readers
from gradwrap.compiler.ir.program import refs

if TYPE_CHECKING:
    from gradwrap.compiler.engines.numpy.buffers import BufferedText
    from gradwrap.compiler.engines.numpy.chunks import Chunk
    from gradwrap.compiler.ir.program import Instr


class ChunkText:
    """Writes a chunk."""

    def __init__(
        self, writer: BufferedText, chunk: Chunk, state: State, prefix: str, threads: int
    ) -> None:
        self._writer = writer
        self._chunk = chunk
        self._state = state
        """The state around the chunk."""
        self._inner = State()
        """The state in a piece."""
        self._inner.names = dict(state.names)
        self._prefix = prefix
        self._threads = threads
        self._before: list[str] = []
        self._pieces: list[str] = []
        """The lines that take pieces of arrays."""
        self._outs: dict[int, str] = {}
        """By result that is kept: its piece."""
        self._targets: dict[int, str] = {}
        """By last addition of a chain: the array that receives it."""
        self._filled: dict[int, str] = {}
        """By last addition of a chain that fills new memory: its piece."""

    def write(self, depth: int, dying: frozenset[int]) -> None:
        """Write the chunk; `dying` are the values that nothing reads after it."""
        writer, chunk = self._writer, self._chunk
        self._take_pieces(depth)
        for instr in chunk.sums:
            name = self._state.names[instr.out] = writer.new_name(instr.line)
            self._before.append(f"{name} = 0.0")
        self._own_targets(depth, dying)
        places, scratch = self._places()
        for line in self._before:
            writer.line(depth, line)
        self._begin(scratch, depth)
        for line in self._pieces:
            writer.line(depth + 1, line)
        for instr in chunk.instrs:
            self._instruction(instr, places, depth + 1)
        totals = self._add_sums(depth + 1)
        for chain in chunk.writes:
            self._additions(chain, depth + 1)
        if self._threads > 1:
            self._call(totals, depth)

    def _take_pieces(self, depth: int) -> None:
        """Name the pieces of the arrays that are read, and of the results that are kept."""
        writer, state = self._writer, self._state
        for number, index in enumerate(self._chunk.reads):
            name = f"{self._prefix}{number}"
            self._take_piece(name, state.names[index], index)
            self._inner.names[index] = name
        for index in self._chunk.outs:
            name, line = writer.stack(index, state)
            if line:
                writer.line(depth, line)
            self._outs[index] = f"{name}p"
            self._take_piece(self._outs[index], name, index)

    def _take_piece(self, name: str, whole: str, index: int) -> None:
        """Name a piece of an array, flattened first."""
        if len(self._writer.values[index].shape) == 1:
            self._pieces.append(f"{name} = {whole}[i:j]")
            return
        self._before.append(f"{name}_ = {whole}.reshape(-1)")
        self._pieces.append(f"{name} = {name}_[i:j]")

    def _own_targets(self, depth: int, dying: frozenset[int]) -> None:
        """Write the arrays that receive additions, with zeros where no piece fills them."""
        writer, chunk = self._writer, self._chunk
        for chain in chunk.writes:
            first, last = chain[0], chain[-1]
            whole = replace(last, args=(first.args[0], slice(0, 0), 0.0), out=last.out)
            writer.write_to(whole, writer.new_name(last.line), self._state, depth, dying)
            del writer.lines[-1]  # the addition itself
            target = self._targets[last.out] = self._state.names[last.out]
            if first.args[0].index in chunk.fills:
                size = writer.values[last.out].shape[0]
                start, stop, _ = first.args[1].indices(size)
                self._before += [f"{target}[:{start}] = 0.0"] if start else []
                self._before += [f"{target}[{stop}:] = 0.0"] if stop < size else []
                self._filled[last.out] = name = f"{self._prefix}f{len(self._filled)}"
                self._pieces.append(f"{name} = {self._slice_of(target, first)}")

    def _begin(self, scratch: dict[str, str], depth: int) -> None:
        """Write the head of the loop, or of the function of a piece."""
        writer, chunk = self._writer, self._chunk
        count, size = chunk.elements, chunk.size
        rest = count % size
        shorter, length = f"j > {count}", f"{count} - i"
        if self._threads > 1:
            shorter, length = f"j - i < {size}", "j - i"
            writer.line(depth, f"def {self._prefix}piece(me, i, j):")
            for name, whole in scratch.items():
                writer.line(depth + 1, f"{name} = {whole}[me]")
        else:
            for name, whole in scratch.items():
                writer.line(depth, f"{name} = {whole}")
            if chunk.descends:
                shorter, length = f"j < {size}", "j"
                writer.line(depth, f"for j in range({count}, 0, -{size}):")
                start = f"j - {size}"
                writer.line(depth + 1, f"i = {f'max({start}, 0)' if rest else start}")
            else:
                writer.line(depth, f"for i in range(0, {count}, {size}):")
                writer.line(depth + 1, f"j = i + {size}")
        if rest and scratch:
            writer.line(depth + 1, f"if {shorter}:")
            for name in scratch:
                writer.line(depth + 2, f"{name} = {name}[:{length}]")

    def _instruction(self, instr: Instr, places: dict[int, str], depth: int) -> None:
        writer, inner = self._writer, self._inner
        name = f"{self._prefix}{'t' if instr.line else 'g'}{instr.out}"
        place = self._outs.get(instr.out) or places.get(instr.out, "")
        if takes_out(instr):
            writer.line(depth, f"{name} = {writer.into(instr, place, inner)}")
        elif instr.out in self._outs:
            name = self._outs[instr.out]
            writer.line(depth, f"{name}[...] = {writer.expression(instr, inner)}")
        else:
            writer.line(depth, f"{name} = {writer.expression(instr, inner)}")
        inner.names[instr.out] = name

    def _add_sums(self, depth: int) -> dict[str, str]:
        """Write the sums of a piece; return what the function of a piece returns, by total."""
        writer = self._writer
        totals: dict[str, str] = {}
        for instr in self._chunk.sums:
            total = self._state.names[instr.out]
            writer.imported("add", instr)
            text = f"add.reduce({writer.text(instr.args[0], self._inner)})"
            if self._threads > 1:
                totals[total] = f"{self._prefix}s{len(totals)}"
                writer.line(depth, f"{totals[total]} = {text}")
            else:
                writer.line(depth, f"{total} = {total} + {text}")
        return totals

    def _additions(self, chain: list[Instr], depth: int) -> None:
        """Write the additions of a piece to slices of one array."""
        writer, out = self._writer, chain[-1].out
        slices = [self._slice_of(self._targets[out], instr) for instr in chain]
        amounts = [writer.text(instr.args[2], self._inner) for instr in chain]
        if out in self._filled:
            count = _first_additions(chain)
            dtype = writer.values[chain[0].out].dtype
            zero = [writer.constant(0.0, dtype)] if count == 1 else []
            writer.imports["add"] = "numpy"
            writer.scope["add"] = np.add
            operands = ", ".join([*amounts[:count], *zero, self._filled[out]])
            writer.line(depth, f"add({operands})")
            slices, amounts = slices[count:], amounts[count:]
        for place, amount in zip(slices, amounts, strict=True):
            writer.line(depth, f"{place} += {amount}")

    def _slice_of(self, target: str, instr: Instr) -> str:
        """Return the part of an array that a piece is added to."""
        chunk, size = self._chunk, self._writer.values[instr.out].shape[0]
        start, stop, _ = instr.args[1].indices(size)
        low, high = ("i", "j") if start == 0 else (f"i + {start}", f"j + {start}")
        if stop < size and chunk.elements % chunk.size and not chunk.descends:
            high = f"min({high}, {stop})"
        return f"{target}[{low}:{high}]"

    def _call(self, totals: dict[str, str], depth: int) -> None:
        """Write the call that has all pieces computed, and add up their sums."""
        writer, chunk = self._writer, self._chunk
        writer.imports["in_pieces"] = in_pieces.__module__
        writer.scope["in_pieces"] = in_pieces
        piece = f"{self._prefix}piece"
        call = f"in_pieces({piece}, {chunk.elements}, {chunk.size}, {self._threads})"
        if not totals:
            writer.line(depth, call)
            return
        parts = "".join(f"{part}, " for part in totals.values()).rstrip()
        writer.line(depth + 1, f"return {parts}")
        writer.line(depth, f"for {parts} in {call}:")
        for total, part in totals.items():
            writer.line(depth + 1, f"{total} = {total} + {part}")

    def _places(self) -> tuple[dict[int, str], dict[str, str]]:
        """Assign a place to each intermediate result; return the names, and the new buffers.

        Until a result is written to its array, that part of the array is a free place.
        """
        chunk, values = self._chunk, self._writer.values
        steps = (*chunk.instrs, *chunk.sums, *(i for chain in chunk.writes for i in chain))
        last = last_readers(steps)
        free = self._free_places()
        names: dict[int, str] = {}
        scratch: dict[str, str] = {}
        places: dict[int, _Place] = {}  # of values that are still read
        for number, step in enumerate(chunk.instrs):
            dying = [i for i in dict.fromkeys(refs(step.args)) if i in places and last[i] == number]
            if step.out not in self._outs and takes_out(step):
                dtype, until = values[step.out].dtype, last.get(step.out, number)
                # a shared function reads its last operand after writing the first result
                over = refs(step.args[:1] if step.name in SHARED else step.args)
                waiting = [*free, *(places.pop(i) for i in dying if i in over)]
                mine = next((p for p in reversed(waiting) if p.takes(dtype, until)), None)
                if mine is None:
                    mine = _Place(f"{self._prefix}w{len(scratch)}", dtype, len(steps))
                    scratch[mine.name] = self._scratch(dtype, scratch)
                else:
                    waiting.remove(mine)
                free, places[step.out], names[step.out] = waiting, mine, mine.name
            free += [places.pop(i) for i in dying if i in places]
        return names, scratch

    def _free_places(self) -> list[_Place]:
        """Return the pieces of results that are free at first."""
        chunk, values = self._chunk, self._writer.values
        free: list[_Place] = []
        number = len(chunk.instrs) + len(chunk.sums)
        for chain in chunk.writes:
            out = chain[-1].out
            if out in self._filled:
                until = number + _first_additions(chain) - 1
                free.append(_Place(self._filled[out], values[out].dtype, until))
            number += len(chain)
        for number, step in enumerate(chunk.instrs):
            if step.out in self._outs:
                until = number - (step.name in SHARED)
                free.append(_Place(self._outs[step.out], values[step.out].dtype, until))
        return free

    def _scratch(self, dtype: Any, taken: dict[str, str]) -> str:
        size = self._chunk.size
        shape = (self._threads, size) if self._threads > 1 else (size,)
        return self._writer.scratch_buffer(shape, dtype, taken.values())


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
