"""The writer: a program as NumPy source, with a line for each instruction."""

from __future__ import annotations

import builtins
import keyword
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.engines.numpy.buffers import BufferedText
from gradwrap.compiler.engines.numpy.chunk_text import ChunkText
from gradwrap.compiler.engines.numpy.chunks import Chunk, chunked, given_by, used_by
from gradwrap.compiler.engines.numpy.elements import ElementLoop
from gradwrap.compiler.engines.numpy.loop_text import LoopText
from gradwrap.compiler.engines.numpy.pieces import MOST_THREADS
from gradwrap.compiler.engines.numpy.tangents import SHARED
from gradwrap.compiler.engines.numpy.text import State
from gradwrap.compiler.ir.analysis import last_readers, liveness
from gradwrap.compiler.ir.program import Block, Instr, Loop, Program

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gradwrap.compiler.ir.analysis import Liveness

LOOKS = {
    "bool": "bool({})",
    "int": "int({})",
    "shape": "{}.shape",
    "elements": "tuple({}.ravel().tolist())",
}


class Writer(BufferedText):
    """Writes a program as source."""

    def __init__(self, program: Program, *, in_chunks: bool = True, threads: int = 1) -> None:
        super().__init__(program)
        self.threads = threads
        """The most threads for the pieces of a chunk."""
        self.used_threads: int = 1
        """The most threads of any chunk."""
        self.in_chunks = in_chunks
        self.chunks: list[int] = []
        """The elements of a piece of each chunk."""
        self.returns: dict[int, int] = {}
        """By index of a line that returns the result: its depth."""
        self.can_miss: bool = False
        """Whether the source raises `Missed` for a branch that was not traced."""
        self.has_element_loops: bool = False
        """Whether a loop computes with Python's floats."""
        self.by_reference: dict[str, Any] = {}
        self.notes: list[str] = []
        self._live: Liveness = liveness(program)
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
                leaves = block.result.leaves
                if block.result.asks:
                    self.line(depth, f"if {self.text(leaves[-1], state)}:")
                    self._miss(depth + 1)
                    leaves = leaves[:-1]
                self.returns[len(self.lines)] = depth
                self.line(depth, f"return {self._nest(leaves, state)}")
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
            self.die(index, state)

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
                threads = self._threads_of(step)
                prefix = f"p{len(self.chunks)}_"
                ChunkText(self, step, state, prefix, threads).write(depth, frozenset(dead))
            elif isinstance(step, Loop):
                self._loop(step, state, depth)
            else:
                self.instruction(step, state, depth, frozenset(dead))
            for index in dead:
                self.die(index, state)

    def _threads_of(self, chunk: Chunk) -> int:
        """Note a chunk; return the number of threads for its pieces."""
        self.chunks.append(chunk.size)
        if self.threads == 1:
            return 1
        threads = min(self.threads, -(-chunk.elements // chunk.size), MOST_THREADS)
        reason = chunk.on_one_thread(threads)
        how = f"one thread ({reason})" if reason else f"{threads} threads"
        self.notes.append(f"chunk {len(self.chunks)}, {chunk.elements} elements: {how}")
        threads = 1 if reason else threads
        self.used_threads = max(self.used_threads, threads)
        return threads

    # Loops ----------------------------------------------------------------------------------------

    def _loop(self, loop: Loop, state: State, depth: int) -> None:
        """Write a recurrence as a loop."""
        self._loops += 1
        where = f"line {loop.line}" if loop.line else "a backward pass"
        most = "" if loop.count is None else "at most "
        self.line(depth, f"# loop {self._loops}: {most}{loop.turns} turns, {where}")
        prefix = f"r{self._loops}_"
        with self.inside(self._loops):
            lines = ElementLoop(self, loop, state, prefix).lines()
            self.has_element_loops |= lines is not None
            if lines is None:
                LoopText(self, loop, state, prefix).write(depth, self.steps)
            else:
                before, body, after = lines
                for text in before:
                    self.line(depth, text)
                for text in body:
                    self.line(depth + 1, text)
                for text in after:
                    self.line(depth, text)
        for out in loop.outs:
            if out in self.stores:
                self.line(depth, f"{self.stores[out]}{state.names[out]}")


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
