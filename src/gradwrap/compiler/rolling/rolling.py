"""Rolling: loops that tracing unrolled are found again.

A Python loop, `s = x[0]`, then `s = np.sin(s) * np.exp(x[i])` for `i` from 1 to 10, was traced as

    t1 = x[0]
    t2 = sin(t1)        t6 = sin(t5)
    t3 = x[1]           t7 = x[2]
    t4 = exp(t3)        t8 = exp(t7)
    t5 = t2 * t4        t9 = t6 * t8        ... ten times, up to t41

The operations, with the shapes and dtypes of their operands, repeat with a *period* of four. Such a
stretch is a *segment*, here of ten turns of four *rows*. Then each operand of each row is described
over all turns: `sin` reads the result of the row `*` one turn before, at first `t1`; `x[i]` reads
one value, at the places 1, 2, ... 10; `exp` and `*` read results of other rows of the same turn. So
the rows depend on each other as a graph, and its components, in order, become

    t42 = x[1:11]       no earlier turn is needed: one operation for all turns, whose result is a
    t43 = exp(t42)      *stack*, with the turns along its first axis
    Loop of 10 turns    `sin` and `*` need each other in the turn before: a loop
        carries         t46 is t1 at first, then t45
        reads           t47 is the part of t43 for this turn
        t44 = sin(t46)
        t45 = t44 * t47
        finals          t48, which stands for t41, is t45 of the last turn

Sums over turns become reductions, and writes at keys that advance become writes to slices.

The new body may repeat too, as that of two nested loops does, with loops among its
operations. So it is rolled again, until no more loops are found. A segment that cannot be described
stays unrolled, with the reason in `Program.notes`.
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.ir.analysis import live_after, looked_at
from gradwrap.compiler.ir.operations import ITEM, Kind
from gradwrap.compiler.ir.program import (
    UFUNC,
    Block,
    Guard,
    Instr,
    Loop,
    Program,
    Ref,
    Value,
    changed,
    refs,
    token,
    used,
)
from gradwrap.compiler.passes.dead import remove_dead
from gradwrap.compiler.rolling.fission import Emission
from gradwrap.compiler.rolling.nested import (
    Nested,
    is_numeric,
    with_operations,
    without_operations,
)
from gradwrap.compiler.rolling.segments import (
    Decline,
    Gat,
    Inv,
    Late,
    Num,
    Rel,
    Rewriting,
    Segment,
    leaves_of,
    normalised,
)
from gradwrap.core.values.dynamic import LIST, SLICE, TUPLE, type_of

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_LENGTHS = 3
DEPTH = 4
"""The greatest depth of nested loops."""
GRAM, FACTOR = 12, 0x9E3779B97F4A7C15
"""The length of stretches that are compared, and the factor between the parts of their sums."""
LONGEST = 2000
"""The longest period, in operations: a turn of a solver of Navier-Stokes equations has 1,000."""
PERIODS = 12
SHORTEST = 40
"""The shortest body in which loops are looked for."""
MULTIPLES = 40
"""The most periods in a turn, where one period is too short: it reads values of several others."""
TURNS = 8
"""The fewest turns of a loop; two fewer if its first and last turns are left out."""
FEWER = 5
"""The fewest turns where loops of loops are looked for."""
ROW, STACK = 1 << 14, 1 << 20
"""Rows of at least `ROW` elements are not stacked if a stack takes more than `STACK` bytes."""
TRIMS = sorted(((f, b) for f in range(4) for b in range(3)), key=lambda pair: (sum(pair), pair[1]))


def rolled(program: Program, *, nested: bool = False, several: bool = False) -> None:
    """Roll the loops in all blocks of a program.

    `nested` favours loops of loops, and `several` loops whose turns are several of the code's.
    """
    found: Counter[tuple[str, int]] = Counter()
    reasons: Counter[str] = Counter()
    for _ in range(DEPTH):
        if all(len(block.body) < SHORTEST for block in program.blocks()):
            break
        roller = Roller(program, nested=nested, several=several)
        for block in list(program.blocks()):
            roller.roll(block)
        reasons = roller.reasons
        if not roller.found:
            break
        found.update(roller.found)
        program.exact = False  # sums over turns are added up in another order
        remove_dead(program)
    lengths: dict[str, list[int]] = {}
    for (what, turns), count in found.items():
        lengths.setdefault(what, []).extend([turns] * count)
    for what, counts in lengths.items():
        least, most = min(counts), max(counts)
        text = f"{most}" if least == most else f"{least} to {most}"
        times = f" ({len(counts)} times)" if len(counts) > 1 else ""
        program.notes.append(f"loop: {text} turns of {what}{times}")
        if len(set(counts)) > MOST_LENGTHS:
            program.notes.append(
                "not rolled further: loops of ever more or fewer turns, which are no loop of loops"
            )
    for reason, count in reasons.items():
        program.notes.append(f"not rolled ({count} times): {reason}")


class Roller(Rewriting):
    """Rewrites the blocks of a program, starting at the root."""

    def __init__(self, program: Program, *, nested: bool, several: bool) -> None:
        super().__init__(program)
        self.nested = nested
        self.several = several
        self.fewest: int = FEWER if nested else TURNS
        self.live_after: dict[int, set[int]] = live_after(program)
        self.codes: dict[Any, int] = {}
        self.kinds: dict[Value, int] = {}
        self.flat: list[list[Any]] = []
        self.found: Counter[tuple[str, int]] = Counter()
        """The loops found: a description of their operations, and their number of turns."""
        self.reasons: Counter[str] = Counter()
        self.uneven: int = 0
        """The turns after which the distances repeat themselves at which a value of the last
        segment was read; 0 if there is one distance."""

    # The body of a block --------------------------------------------------------------------------

    def roll(self, block: Block) -> None:
        """Rewrite a block."""
        self.body: list[Instr | Loop] = []
        loops: list[Segment] = []
        if len(block.body) >= SHORTEST:
            body = with_operations(block.body, self.values)
            self.instrs: list[Instr] = [
                normalised(instr, self.values) if instr.op.has_key else instr for instr in body
            ]
            loops = self._segments(block)
        if not loops:
            if not self.place:
                return
            for step in block.body:
                self._straight(step)
        else:
            starts = {segment.start: segment for segment in loops}
            at = 0
            while at < len(self.instrs):
                segment = starts.pop(at, None)
                try:
                    done = 0 if segment is None else self._in_turns(segment)
                except Late as late:
                    assert segment is not None
                    starts.update({part.start: part for part in segment.parts(late.distance)})
                    continue
                if done:
                    at += done
                else:
                    self._straight(self.instrs[at])
                    at += 1
        if block.guard is not None:
            block.guard = Guard(block.guard.kind, self.plain(block.guard.value))
        if block.result is not None:
            leaves = tuple(map(self.plain, block.result.leaves))
            block.result = block.result._replace(leaves=leaves)
        for index in sorted(self.live_after[id(block)].difference(looked_at(block))):
            self.plain(Ref(index))
        block.body = without_operations(self.body)

    def _prepare(self, block: Block) -> None:
        self.flat = [
            leaves_of(one.args) + leaves_of(one.kw) if one.kw else leaves_of(one.args)
            for one in self.instrs
        ]
        self.position: dict[int, int] = {instr.out: at for at, instr in enumerate(self.instrs)}
        self.uses: dict[int, list[int]] = {}
        for at, instr in enumerate(self.instrs):
            for index in instr.reads:
                places = self.uses.setdefault(index, [])
                if not places or places[-1] != at:
                    places.append(at)
        for index in self.live_after[id(block)]:
            self.uses.setdefault(index, []).append(-1)

    def _straight(self, step: Instr | Loop) -> None:
        """Append a step, with its operands renamed."""
        if self.place and not self.place.keys().isdisjoint(used(step)):
            step = changed(step, self.plain)
        self.body.append(step)

    # Periods --------------------------------------------------------------------------------------

    def _segments(self, block: Block) -> list[Segment]:
        """Return the repeating stretches of the body of a block; prepare it if there are some."""
        self._enter_kinds()
        codes = np.array([self._code(instr) for instr in self.instrs])
        count = len(codes)
        free = np.ones(count, bool)
        found: list[Segment] = []
        for period in self._periods(codes):
            same = np.zeros(count, bool)
            same[:-period] = codes[:-period] == codes[period:]
            if np.count_nonzero(same) < period * (self.fewest - 1):
                continue
            usable = same & free
            usable[:-period] &= free[period:]
            edges = np.flatnonzero(np.diff(np.concatenate([[0], usable.view(np.int8), [0]])))
            for a, b in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
                turns = 1 + (b - a) // period
                end = a + turns * period
                if turns >= self.fewest and free[a:end].all():
                    if not found:
                        self._prepare(block)
                    shortest = _shortest(codes[a:end], period)
                    whole = b - a + period
                    start: int = a
                    if self.nested:
                        start += self._boundary(start, shortest, whole)
                    end = a + whole // shortest * shortest if free[end : a + whole].all() else end
                    while self.instrs[start].op is ITEM:  # a turn contains a loop and its outputs
                        start += 1
                    found.append(Segment(start, shortest, (end - start) // shortest))
                    free[a:end] = False
        return sorted(found, key=lambda segment: segment.start)

    def _boundary(self, start: int, period: int, count: int) -> int:
        """Return the number of operations of a stretch before a turn of the program's loop begins.

        There, the fewest values are handed to the next turn. So the turns of an inner loop begin at
        the same operation in all turns of an outer one, whatever its first turn does. Arrays are
        left out: a loop over arrays that ends in its middle hands more of them on.
        """
        turn = self.instrs[start : start + period]
        if not any(isinstance(one.fn, Nested) for one in turn) and any(
            self.values[one.out].shape and one.op.kind is not Kind.WRITE for one in turn
        ):
            return 0
        handed = [0] * (2 * period + 1)
        middle = start + (count // period // 2) * period
        for made in range(middle - period, middle):
            after = [
                at for at in self.uses.get(self.instrs[made].out, ()) if made < at <= made + period
            ]
            if after:
                handed[made + 1 - middle + period] += 1
                handed[max(after) + 1 - middle + period] -= 1
        crossing = list(accumulate(handed))
        writes = [
            self.instrs[at].op is ITEM or self.instrs[at].op.kind is Kind.WRITE
            for at in range(start - 1, start + count)
        ]
        ranks = [
            (crossing[at] + crossing[at + period], writes[at + period] <= writes[at + period + 1])
            for at in range(period)
        ]
        best = min(range(period), key=ranks.__getitem__)
        return 0 if ranks[0] == ranks[best] or count - best < self.fewest * period else best

    def _periods(self, codes: Any) -> list[int]:
        """Return the most common distances between equal short stretches."""
        if len(codes) <= GRAM:
            return []
        # equal stretches have equal sums; those of others may be equal too, and are compared later
        grams = np.lib.stride_tricks.sliding_window_view(codes.astype(np.uint64), GRAM)
        sums = grams @ np.power(np.uint64(FACTOR), np.arange(GRAM, dtype=np.uint64))
        order = np.argsort(sums, kind="stable")
        is_next = sums[order[1:]] == sums[order[:-1]]
        distances = np.diff(order)[is_next]
        distances = distances[np.argsort(order[1:][is_next])]  # as they follow in the body
        found: list[int] = distances[distances <= LONGEST].tolist()
        # short periods have grams of several turns
        common = [period for period, _ in Counter(found).most_common(PERIODS)]
        if self.nested:  # loops with few turns are less common than the turns of those around them
            common.sort()
        if self.several:  # a shorter period may be that of most turns, but not of all
            common.sort(reverse=True)
        return [period for period in common if period * self.fewest <= len(codes)]

    def _code(self, instr: Instr) -> int:
        """Return a small number for an operation, the shapes and the dtypes of its operands."""
        fn: Any = instr.fn
        op, kind_of = instr.op, self.kind_of
        name: Any = fn.key if type_of(fn) is Nested else fn if op.is_opaque else instr.name
        parts: list[Any] = [name, kind_of[instr.out]]
        for number, arg in enumerate(instr.args):
            if type(arg) is Ref:
                parts.append(kind_of[arg.index])
            elif op.has_key:
                parts.append(self._signature(arg, number == 1, number == 2))
            else:
                numeric = isinstance(fn, (UFUNC, Nested)) or op.is_power or op.is_choice
                parts.append(self._signature(arg, False, numeric))
        for name, value in instr.kw:
            parts.extend((name, self._signature(value, False, False)))
        return self.codes.setdefault(tuple(parts), len(self.codes))

    def _enter_kinds(self) -> None:
        """Number the different descriptions of values, and note the number of each value."""
        by_identity = {id(value): value for value in self.values}
        numbers = {
            key: self.kinds.setdefault(value, len(self.kinds)) for key, value in by_identity.items()
        }
        self.kind_of: list[int] = [numbers[id(value)] for value in self.values]

    def _signature(self, nest: Any, in_key: bool, numeric: bool) -> Any:
        kind: Any = type_of(nest)
        if kind is Ref:
            index: int = nest.index
            return self.kind_of[index]
        if kind is TUPLE or kind is LIST:
            return (kind, *(self._signature(part, in_key, numeric) for part in nest))
        if in_key and kind is int:
            return "i"
        return ("n", kind) if numeric and is_numeric(nest) else token(nest)

    # One segment ----------------------------------------------------------------------------------

    def _in_turns(self, segment: Segment) -> int:
        """Roll a segment, if need be in turns of several periods; return the steps covered."""
        self.uneven = 0
        done, times = self._segment(segment), 1
        while not done and self.uneven and not self.nested:
            times *= self.uneven
            if times > MULTIPLES:
                break
            self.uneven = 0
            turns = segment.turns // times
            done = self._segment(Segment(segment.start, segment.period * times, turns))
        return done

    def _segment(self, whole: Segment) -> int:
        """Roll a segment, if need be without its end turns; return the number of steps covered."""
        reason = ""
        for first, last in TRIMS:
            turns = whole.turns - first - last
            if turns < self.fewest - 2:
                continue
            before, known = len(self.body), len(self.memo)
            segment = Segment(whole.start + first * whole.period, whole.period, turns)
            try:
                self._describe(segment, whole.turns)
                for instr in self.instrs[whole.start : segment.start]:
                    self._straight(instr)
                Emission(self, segment).write()
            except Decline as why:
                reason = reason or str(why)
                del self.body[before:]
                for index in list(self.memo)[known:]:
                    del self.memo[index]
                if isinstance(why, Late) and self.fewest <= why.distance <= whole.turns // 2:
                    raise
                continue
            for number in range(turns * segment.period):
                turn, row = divmod(number, segment.period)
                out = self.instrs[segment.start + number].out
                self.place[out] = (segment, row, turn)
            line = next((row.line for row in segment.rows if row.line), 0)
            where = f"line {line}" if line else "a backward pass"
            self.found[f"{_counted(segment.rows)}, {where}", turns] += 1
            return segment.start + turns * segment.period - whole.start
        self.reasons[reason] += 1
        return 0

    def _describe(self, segment: Segment, turns_in_all: int) -> None:
        """Describe each operand of each row over all turns."""
        start, period, turns = segment.start, segment.period, segment.turns
        segment.rows = self.instrs[start : start + period]
        segment.values = [self.values[row.out] for row in segment.rows]
        for row, value in zip(segment.rows, segment.values, strict=True):
            if isinstance(row.fn, Nested):
                continue
            if value.is_tuple or (value.is_ndarray and not value.shape):
                raise Decline(f"{row.name} gives no plain array or number")
            size = math.prod(value.shape)
            if size >= ROW and size * turns_in_all * value.dtype.itemsize > STACK:
                raise Decline(f"the arrays of its turns are large: {value.shape}")
        end = start + period * turns
        for number in range(period):
            flat = [self.flat[start + number + k * period] for k in range(turns)]
            columns = zip(*flat, strict=True)
            segment.operands.append(
                [self._operand(column, start, end, period) for column in columns]
            )
            keywords = len(leaves_of(segment.rows[number].kw))
            operands = segment.operands[number]
            for operand in operands[len(operands) - keywords :]:
                if type(operand) is not Inv:
                    raise Decline("a keyword varies")

    def _operand(self, column: tuple[Any, ...], start: int, end: int, period: int) -> Any:
        first = column[0]
        if type(first) is not Ref:
            return self._varying(column)
        if any(type(leaf) is not Ref for leaf in column):
            raise Decline("a value stands beside a number")
        position = self.position
        produced = [position.get(leaf.index, -1) for leaf in column]
        inside = [at if start <= at < end else -1 for at in produced]
        if max(inside) < 0:
            column = tuple(map(self._canonical, column))
            first = column[0]
            return Inv(first) if all(leaf == first for leaf in column) else Gat(column)
        turns = len(column)
        turn, row = divmod(inside[-1] - start, period)
        distance = turns - 1 - turn
        if inside[-1] < 0 or distance >= turns:
            raise Decline("a value of one turn alone is read in others")
        for k in range(distance, turns):
            if inside[k] != start + (k - distance) * period + row:
                self.uneven = _repetition(
                    [at - n * period for n, at in enumerate(inside) if at >= 0]
                )
                raise Decline("a value is read from turns at several distances")
        if any(at >= 0 for at in inside[:distance]):
            raise Decline("a first value comes from within the loop")
        return Rel(distance, row, column[:distance])

    def _canonical(self, leaf: Any) -> Any:
        """Return the hoisted value that a leaf equals, or the leaf itself."""
        segment, row, _ = self.place.get(leaf.index, (None, 0, 0))
        return leaf if segment is None else segment.hoisted.get(row, leaf)

    def _varying(self, column: tuple[Any, ...]) -> Any:
        first = column[0]
        kind = type_of(first)
        wanted = token(first)
        if all(type(leaf) is kind and token(leaf) == wanted for leaf in column):
            if isinstance(first, SLICE) and refs(first):
                raise Decline("a slice has bounds that are computed")
            return Inv(first)
        if any(type(leaf) is not kind for leaf in column) or not is_numeric(first):
            raise Decline("what is no number varies")
        return Num(column)


def _counted(rows: Sequence[Instr]) -> str:
    """Say how many operations and loops the rows contain."""
    inner = sum(isinstance(row.fn, Nested) for row in rows)
    count = sum(row.op is not ITEM for row in rows) - inner
    text = f"{count} operations"
    return text if not inner else f"{text} and {inner} loop{'s' if inner > 1 else ''}"


def _repetition(distances: Sequence[int]) -> int:
    """Return the period of distances, but for those of turns at both ends; 0 if there is none."""
    inner = distances[2:-2]
    periods = range(2, len(inner) // 2 + 1)
    return next((n for n in periods if inner[n:] == inner[:-n]), 0)


def _shortest(codes: Any, period: int) -> int:
    """Return the shortest period of a stretch, given a multiple of it."""
    return next(
        shorter
        for shorter in range(1, period + 1)
        if period % shorter == 0 and np.array_equal(codes[shorter:], codes[:-shorter])
    )
