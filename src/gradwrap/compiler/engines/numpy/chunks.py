"""Chunks: long arrays are computed in pieces that stay in the processor's cache.

Elementwise instructions on one large shape are performed together, piece by piece. Their
intermediate results need only the memory of one piece. Full sums are accumulated over the
pieces, and additions to a slice of new zeros are performed piece by piece.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gradwrap.compiler.engines.groups import scheduled
from gradwrap.compiler.engines.numpy.tangents import with_tangents
from gradwrap.compiler.ir.analysis import last_readers
from gradwrap.compiler.ir.operations import ADD_REDUCE, ZEROS
from gradwrap.compiler.ir.program import (
    Instr,
    Loop,
    Program,
    Ref,
    given,
    is_elementwise,
    refs,
    used,
)
from gradwrap.core.values.dynamic import SLICE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradwrap.compiler.ir.program import Value

LARGE = 1 << 14
"""The least number of elements of arrays that are computed in chunks."""
CACHE = 3 << 18
LEAST, MOST = 3 << 12, 1 << 15
LONG = 3 << 13
"""The elements of a piece, if even a short one would not stay in the cache."""
WORTH = 1 << 20
"""The least operations on elements of a chunk whose pieces are split over threads."""
MEMORY = 1 << 27
"""The most bytes of intermediate results of a chunk's pieces, for all threads."""
SMALL = 1 << 22
"""The most bytes of a group with few operations for which pieces do not pay."""


@dataclass(slots=True)
class Chunk:
    """Instructions that are performed piece by piece on arrays of one shape."""

    shape: tuple[int, ...]
    instrs: list[Instr]
    """Elementwise instructions, in order."""
    sums: list[Instr] = field(default_factory=list[Instr])
    """Sums of all elements of an array of the shape."""
    writes: list[list[Instr]] = field(default_factory=list["list[Instr]"])
    """Chains of additions to slices of one array."""
    descends: bool = False
    """Whether the last piece comes first.

    Then no chain returns to an earlier slice, so that the additions to each element keep the
    order of the program.
    """
    fills: frozenset[int] = frozenset()
    """Arrays of zeros that start chains and have no other reader, if the last piece comes first.

    The first addition of the chain to each piece can then store the sum directly.
    """
    outs: tuple[int, ...] = ()
    """The values live after the chunk."""
    reads: tuple[int, ...] = ()
    size: int = 0

    def on_one_thread(self, threads: int) -> str:
        """Return why its pieces stay on one thread, or ""."""
        if self.elements * (len(self.instrs) + len(self.sums)) < WORTH:
            return "small"
        if any(len(chain) > 1 for chain in self.writes):
            return "its additions to one array overlap"
        memory = threads * self.size * 8 * len(self.instrs)
        return "its threads would need too much memory" if memory > MEMORY else ""

    @property
    def elements(self) -> int:
        """Return the number of elements of an array."""
        return math.prod(self.shape)


def chunked(
    program: Program, body: Sequence[Instr | Loop], live: set[int]
) -> list[Instr | Loop | Chunk]:
    """Return a body with chunks in place of instructions that can be performed in pieces.

    `live` are the values live after the body.
    """
    values = program.values
    made = {step.out: step for step in body if isinstance(step, Instr)}

    def shape_of(instr: Instr) -> tuple[int, ...] | None:
        return _shape_of(instr, values, made)

    if not any(isinstance(step, Instr) and shape_of(step) for step in body):
        return list(body)
    units = scheduled(body, shape_of, writes=True)
    uses = Counter(index for step in body for index in used(step))
    uses.update(live)
    found: list[Instr | Loop | Chunk] = []  # in reverse order
    later = set(live)
    for unit in reversed(units):
        chunk = None
        if unit.shape is not None and len(unit.steps) > 1:
            steps = [step for step in unit.steps if isinstance(step, Instr)]
            chunk = _chunk(unit.shape, steps, program, later)
            if chunk is not None and chunk.descends:
                chunk.fills = frozenset(
                    chain[0].args[0].index
                    for chain in chunk.writes
                    if made[chain[0].args[0].index].op is ZEROS
                    and uses[chain[0].args[0].index] == 1
                )
        if chunk is None:
            found.extend(reversed(unit.steps))
        else:
            found.append(chunk)
        for step in unit.steps:
            later.update(used(step))
    return found[::-1]


def _described(values: Sequence[Value], leaf: Any) -> Value:
    index: int = leaf.index
    return values[index]


def _is_flat(value: Value) -> bool:
    return value.is_ndarray and value.order == "C"


def _shape_of(
    instr: Instr, values: Sequence[Value], made: dict[int, Instr]
) -> tuple[int, ...] | None:
    """Return the shape of the group that an instruction can join, or None."""
    value = values[instr.out]
    if is_elementwise(instr) and not instr.kw:
        if not _is_flat(value) or math.prod(value.shape) < LARGE or value.dtype.kind not in "fb":
            return None
        for index in refs(instr.args):
            operand = values[index]
            if operand.shape and (operand.shape != value.shape or not _is_flat(operand)):
                return None
            if operand.is_ndarray and not operand.shape:
                return None
        return value.shape
    if instr.op is ADD_REDUCE and type(instr.args[0]) is Ref and not value.shape:
        operand = _described(values, instr.args[0])
        plain = dict(instr.kw).keys() <= {"axis"} and len(instr.args) == 1
        large = math.prod(operand.shape) >= LARGE
        if plain and large and _is_flat(operand) and operand.dtype.kind == "f":
            return operand.shape if not value.is_ndarray else None
        return None
    if instr.op.scatters and _is_slice_of_new(instr, values, made):
        operand = _described(values, instr.args[2])
        return operand.shape if math.prod(operand.shape) >= LARGE else None
    return None


def _is_slice_of_new(instr: Instr, values: Sequence[Value], made: dict[int, Instr]) -> bool:
    """Tell if an instruction adds an array to a slice of new zeros or of such a sum."""
    target, key, amount = instr.args
    if type(target) is not Ref or type(amount) is not Ref or not isinstance(key, SLICE):
        return False
    value, operand = _described(values, target), _described(values, amount)
    if len(value.shape) != 1 or not _is_flat(operand) or operand.dtype != value.dtype:
        return False
    if key.step not in (None, 1) or any(type(part) is Ref for part in (key.start, key.stop)):
        return False
    start, stop, _ = key.indices(value.shape[0])
    if operand.shape != (stop - start,):
        return False
    while (before := made.get(target.index)) is not None and before.op.scatters:
        if not isinstance(before.args[1], SLICE) or type(before.args[0]) is not Ref:
            return False
        target = before.args[0]
    return before is not None and before.op is ZEROS


def _chunk(
    shape: tuple[int, ...], steps: list[Instr], program: Program, later: set[int]
) -> Chunk | None:
    """Return the steps of a unit as a chunk, or None if they cannot form one."""
    values = program.values
    chunk = Chunk(shape, [])
    chains: dict[int, list[Instr]] = {}
    collected: set[int] = set()
    for step in steps:
        if step.op.scatters:
            source = step.args[0].index
            chain = chains.pop(source, [])
            chain.append(step)
            chains[step.out] = chain
            if not collected.isdisjoint(refs(step.args[2])):
                return None
            collected.add(step.out)
            continue
        if not collected.isdisjoint(used(step)):
            return None
        if is_elementwise(step):
            chunk.instrs.append(step)
        else:
            chunk.sums.append(step)
            collected.add(step.out)
    if len(chunk.instrs) < 2:
        return None
    chunk.writes = list(chains.values())
    others = [*chunk.sums, *(step for chain in chunk.writes for step in chain)]
    chunk.instrs = with_tangents(chunk.instrs, program)
    steps = [*chunk.instrs, *others]
    for chain in chunk.writes:
        if any(step.out in later for step in chain[:-1]):
            return None
    for chain in chunk.writes:  # two chains on one array would each need their own copy
        if sum(chain[0].args[0] == other[0].args[0] for other in chunk.writes) > 1:
            return None
    starts = [[_start(step, values) for step in chain] for chain in chunk.writes]
    chunk.descends = bool(starts) and all(own == sorted(own) for own in starts)
    mine = {step.out for step in chunk.instrs}
    chunk.outs = tuple(step.out for step in chunk.instrs if step.out in later)
    reads: dict[int, None] = {}
    for step in steps:
        written = step.args[2:] if step.op.scatters else step.args
        for index in refs(written):
            if index not in mine and values[index].shape:
                reads[index] = None
    chunk.reads = tuple(reads)
    chunk.size = _size(chunk, steps)
    outside = len(chunk.reads) + len(chunk.outs) + len(chunk.writes)
    is_short = len(steps) <= outside and 8 * chunk.elements * outside <= SMALL
    return chunk if chunk.size < chunk.elements and not is_short else None


def _start(step: Instr, values: Sequence[Value]) -> int:
    """Return the start of the slice that an addition goes to."""
    start: int = step.args[1].indices(values[step.out].shape[0])[0]
    return start


def _size(chunk: Chunk, steps: list[Instr]) -> int:
    """Return the number of elements of a piece, such that all live pieces fit into the cache.

    If the pieces would be so short that calls cost more than memory access, they are long.
    """
    last = last_readers(steps)
    alive = most = 0
    mine = {step.out for step in chunk.instrs} - set(chunk.outs)
    for number, step in enumerate(steps):
        alive += step.out in mine
        most = max(most, alive)
        alive -= sum(1 for index in set(used(step)) if index in mine and last[index] == number)
    count = max(most, len(chunk.outs) + len(chunk.writes)) + len(chunk.reads)
    size = CACHE // (8 * max(count, 1)) // 64 * 64
    return min(size, MOST) if size >= LEAST else LONG


def given_by(step: Instr | Loop | Chunk) -> tuple[int, ...]:
    """Return the numbers of the values that a step defines for later steps."""
    if isinstance(step, Chunk):
        sums = (instr.out for instr in step.sums)
        return (*step.outs, *sums, *(chain[-1].out for chain in step.writes))
    return given(step)


def used_by(step: Instr | Loop | Chunk) -> list[int]:
    """Return the numbers of the values that a step reads from earlier steps."""
    if not isinstance(step, Chunk):
        return list(used(step))
    mine = {instr.out for instr in step.instrs}
    found: dict[int, None] = dict.fromkeys(step.reads)
    for instr in (*step.instrs, *step.sums):
        found.update(dict.fromkeys(index for index in used(instr) if index not in mine))
    for chain in step.writes:
        found[chain[0].args[0].index] = None
        for instr in chain:
            found.update(dict.fromkeys(i for i in refs(instr.args[2]) if i not in mine))
    return list(found)
