"""The search for nests: a trace is folded into loops, the innermost first.

`for i in range(n): s = b[i]`, then `for j in range(i): s = s - L[i, j] * x[j]`, then
`x[i] = s / L[i, i]`, is traced as the operations `P`, then `B` for each `j`, and `Q`:

    P Q    P B Q    P B B Q    P B B B Q    ...

The search finds `B`, the shortest stretch that repeats itself, and makes each run of it a loop,
even of one turn. Where runs become longer by a constant from one to the next, with the same
operations `Q P` between them, there are runs of no turns too. Then the outer turns are alike:

    P B*0 Q    P B*1 Q    P B*2 Q    P B*3 Q    ...

and `P B* Q` is the next stretch that repeats itself. The integers in the keys of the operations
tell where a run of turns ends and the next one begins: they grow by constants from turn to turn.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gradwrap.compiler.ir.program import Instr

FEWEST = 5
"""The fewest turns of the longest run of a loop."""
LONGEST = 400
"""The longest turn, in operations and inner loops."""
STRAIGHT = 5
"""Outermost loops of fewer turns are left unrolled."""
PROGRESSION = 3
"""The fewest pairs of runs whose lengths differ by a constant that show a progression."""


class Token:
    """An operation of the trace, or a loop: a run of turns, each with as many tokens."""

    __slots__ = ("at", "code", "numbers", "turns")

    def __init__(
        self, code: int, numbers: tuple[Any, ...], at: int, turns: list[list[Token]] | None = None
    ) -> None:
        self.code: int = code
        """Equal for operations, or loops, that differ in their numbers only."""
        self.numbers: tuple[Any, ...] = numbers
        """The integers in its keys; for a loop: the number of turns, the numbers of its first turn
        and the differences between turns. None if not known."""
        self.at: int = at
        """The position in the trace; -1 for a loop."""
        self.turns: list[list[Token]] | None = turns


class Search:
    """Folds a trace, given as tokens."""

    def __init__(self, body: Sequence[Instr], tokens: list[Token], codes: int) -> None:
        self.body = body
        self.tokens: list[Token] = tokens
        self.is_uneven: bool = False
        """Whether some loop has several numbers of turns."""
        self._readers: list[list[int]] = [[] for _ in body]
        """By position in the trace: the positions of the operations that read the result."""
        position = {step.out: at for at, step in enumerate(body)}
        for at, step in enumerate(body):
            for index in step.reads:
                if index in position:
                    self._readers[position[index]].append(at)
        self._codes = codes
        self._loops: dict[tuple[int, ...], int] = {}

    def run(self) -> list[Token]:
        """Fold all loops, and return the outermost tokens."""
        shortest = 1
        while True:
            unit = self._unit(shortest)
            if unit is None:
                break
            shortest, codes = unit
            before = len(self.tokens)
            self._fold(codes)
            if len(self.tokens) == before:
                shortest += 1
        return [one for token in self.tokens for one in _unrolled(token)]

    # Units ----------------------------------------------------------------------------------------

    def _unit(self, shortest: int) -> tuple[int, tuple[int, ...]] | None:
        """Return the codes of the shortest stretch that repeats itself, with its length."""
        codes = np.array([token.code for token in self.tokens])
        for period in range(1, min(LONGEST, len(codes) // FEWEST) + 1):
            same = codes[:-period] == codes[period:]
            edges = np.flatnonzero(np.diff(np.concatenate([[0], same.view(np.int8), [0]])))
            starts, ends = edges[::2], edges[1::2]
            for number in np.argsort(starts - ends, kind="stable")[:MOST_RUNS].tolist():
                start, end = int(starts[number]), int(ends[number]) + period
                if end - start < FEWEST * period:
                    break
                found = self._stretch(start, end, period)
                if found is not None:
                    begin = found + self._phase(found, period)
                    return shortest, tuple(codes[begin : begin + period].tolist())
        return None

    def _stretch(self, start: int, end: int, period: int) -> int | None:
        """Return where numbers begin to grow evenly for some turns, or None."""
        first = start
        for at in range(start, end - 2 * period):
            one, two, three = (self.tokens[at + k * period].numbers for k in range(3))
            if any(
                None not in (a, b, c) and b - a != c - b
                for a, b, c in zip(one, two, three, strict=True)
            ):
                first = at + period
            elif at + 2 * period + 1 - first >= FEWEST * period:
                return first
        return None

    def _phase(self, start: int, period: int) -> int:
        """Return where in a turn the fewest values are handed to what follows.

        If it is in several places: where the numbers of a turn are as equal as they can be.
        """
        turns = self.tokens[start : start + 3 * period]
        ends = [*accumulate(map(_last, turns), max)]
        handed = [0] * (len(turns) + 1)
        for number, token in enumerate(turns[: 2 * period]):
            last = -1
            for at in range(_first(token), _last(token) + 1) if _first(token) >= 0 else ():
                known = self._readers[at]
                place = bisect_right(known, ends[-1])
                last = max(last, known[place - 1] if place else -1)
            if last > ends[number]:
                handed[number + 1] += 1
                handed[bisect_left(ends, last) + 1] -= 1
        crossing = [*accumulate(handed)][period : 2 * period]

        def rank(phase: int) -> tuple[int, int]:
            begin = start + phase + 2 * period
            turn, after = self.tokens[begin : begin + period], self.tokens[begin + period :]
            pairs = zip(_numbers(turn), _numbers(after[:period]), strict=True)
            same = Counter((a, b - a) for a, b in pairs if None not in (a, b) and a != b)
            return crossing[phase], -sum(count * count for count in same.values())

        return min(range(period), key=rank)

    # Folding --------------------------------------------------------------------------------------

    def _fold(self, unit: tuple[int, ...]) -> None:
        """Make each run of turns a loop."""
        period, tokens = len(unit), self.tokens
        codes = np.array([token.code for token in tokens])
        matches = np.ones(max(len(codes) - period + 1, 0), bool)
        for number, code in enumerate(unit):
            matches &= codes[number : len(matches) + number] == code
        places = np.flatnonzero(matches).tolist()
        loop = self._loops.setdefault(unit, self._codes + len(self._loops))
        made: list[Token] = []
        at = 0
        turns: list[list[Token]] = []
        for place in places:
            if place < at:
                continue
            if place > at:
                made += _runs(turns, loop)
                made += tokens[at:place]
                turns = []
            turns.append(tokens[place : place + period])
            at = place + period
        made += _runs(turns, loop)
        made += tokens[at:]
        self.tokens = self._with_none(made, loop)

    def _with_none(self, tokens: list[Token], loop: int) -> list[Token]:
        """Insert loops of no turns where the runs of a loop become longer or shorter."""
        places = [at for at, token in enumerate(tokens) if token.code == loop]
        known: dict[tuple[tuple[int, ...], int], int] = {}
        for one, two in pairwise(places):
            gap = tuple(token.code for token in tokens[one + 1 : two])
            step = tokens[two].numbers[0] - tokens[one].numbers[0]
            if step and gap and len(gap) <= LONGEST:
                self.is_uneven = True
                known[gap, step] = known.get((gap, step), 0) + 1
        found = [one for one, count in known.items() if count >= PROGRESSION]
        for gap, step in found:
            tokens = self._with_none_beside(tokens, loop, gap, step)
        return tokens

    def _with_none_beside(
        self, tokens: list[Token], loop: int, gap: tuple[int, ...], step: int
    ) -> list[Token]:
        """Insert loops of no turns beside a gap between runs whose lengths differ by a step."""
        codes = [token.code for token in tokens]
        counts = [token.numbers[0] if token.code == loop else None for token in tokens]
        places: list[int] = []
        for at in range(len(tokens) - len(gap) + 1):
            if codes[at] != gap[0] or tuple(codes[at : at + len(gap)]) != gap:
                continue
            end = at + len(gap)
            before = counts[at - 1] if at else None
            after = counts[end] if end < len(tokens) else None
            here, there = (before, after) if step > 0 else (after, before)
            if here is None or (there == abs(step) and here != 0):
                places.append(at if step > 0 else end)
        like = next(token for token in tokens if token.code == loop)
        for place in reversed(places):
            tokens = [*tokens[:place], _none(like), *tokens[place:]]
        return tokens


MOST_RUNS = 4
"""The most runs of one period that are looked at."""


class _Law(NamedTuple):
    """A number of a loop, linear in its turns as far as it is known."""

    number: Any
    """The number in a turn; None if no turn has told it yet."""
    turn: int = 0
    step: Any = None
    """The difference between turns; None if it is not known."""

    @property
    def first(self) -> Any:
        """Return the number in the first turn, or None."""
        if self.number is None or not self.turn:
            return self.number
        return None if self.step is None else self.number - self.step * self.turn


def _grown(laws: Sequence[_Law], turn: Sequence[Token], place: int) -> list[_Law] | None:
    """Return the laws of numbers with one more turn; None if they do not hold there."""
    found: list[_Law] = []
    for law, number in zip(laws, _numbers(turn), strict=True):
        if number is None:
            found.append(law)
        elif law.number is None:
            found.append(_Law(number, place))
        elif law.step is None:
            step, rest = divmod(number - law.number, place - law.turn)
            if rest:
                return None
            found.append(law._replace(step=step))
        elif law.number + law.step * (place - law.turn) != number:
            return None
        else:
            found.append(law)
    return found


def _runs(turns: list[list[Token]], code: int) -> Iterator[Token]:
    """Yield loops of turns that follow each other: a new one where numbers grow otherwise."""
    known: dict[int, tuple[int, list[_Law]]] = {}

    def run(start: int) -> tuple[int, list[_Law]]:
        """Return the end of the run from a turn on, and its laws."""
        if start in known:
            return known[start]
        laws = [_Law(number) for number in _numbers(turns[start])]
        end = start + 1
        while end < len(turns):
            grown = _grown(laws, turns[end], end - start)
            if grown is None:
                break
            laws, end = grown, end + 1
        known[start] = end, laws
        return known[start]

    start = 0
    while start < len(turns):
        end, laws = run(start)
        pair = turns[start:end]
        if len(pair) == 2 and (
            run(start + 1)[0] >= start + 4
            or any(all(_first(one) < 0 for one in turn) for turn in pair)
        ):
            end, laws = start + 1, [_Law(number) for number in _numbers(turns[start])]
        yield _loop(code, turns[start:end], laws)
        start = end


def _numbers(turn: Sequence[Token]) -> Iterator[Any]:
    for token in turn:
        yield from token.numbers


def _loop(code: int, turns: list[list[Token]], laws: Sequence[_Law]) -> Token:
    numbers = (len(turns), *(law.first for law in laws), *(law.step for law in laws))
    return Token(code, numbers, -1, turns)


def _none(like: Token) -> Token:
    """Return a loop of no turns."""
    return Token(like.code, (0, *(None,) * (len(like.numbers) - 1)), -1, [])


def _first(token: Token) -> int:
    """Return the position in the trace at which a token begins; -1 for a loop of no turns."""
    if token.turns is None:
        return token.at
    return next((at for turn in token.turns for one in turn if (at := _first(one)) >= 0), -1)


def _last(token: Token) -> int:
    """Return the position in the trace at which a token ends; -1 for a loop of no turns."""
    if token.turns is None:
        return token.at
    turns = reversed(token.turns)
    return next((at for turn in turns for one in turn[::-1] if (at := _last(one)) >= 0), -1)


def _unrolled(token: Token) -> Iterator[Token]:
    """Yield the tokens of an outermost loop that has few turns."""
    if token.turns is None or len(token.turns) >= STRAIGHT:
        yield token
        return
    for turn in token.turns:
        for one in turn:
            yield from _unrolled(one)
