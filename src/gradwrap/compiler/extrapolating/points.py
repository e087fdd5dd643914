"""Programs at some short lengths, and the program of the actual lengths."""

from __future__ import annotations

import operator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradwrap.compiler.extrapolating.fitting import Fit
from gradwrap.compiler.extrapolating.formulas import Record, Recorded, Recorder
from gradwrap.compiler.extrapolating.noted import Noted
from gradwrap.compiler.extrapolating.paths import can_follow
from gradwrap.compiler.extrapolating.sizes import (
    BETWEEN,
    LIMIT,
    NEAR,
    SHORT,
    Declined,
    Shortened,
    Sizes,
    further,
)
from gradwrap.compiler.extrapolating.walk import (
    ARRAY,
    Walk,
    numbers_in,
    taken,
    with_numbers,
    without_numbers,
)
from gradwrap.compiler.extrapolating.worth import is_worthwhile
from gradwrap.compiler.ir.program import NDARRAY, Constant, Program
from gradwrap.compiler.passes.from_traces import precisions_of, program_of
from gradwrap.compiler.passes.ragged import pad_slices
from gradwrap.compiler.pipeline import prepared
from gradwrap.compiler.tracing.noting import noted
from gradwrap.compiler.tracing.run import Traced, trace
from gradwrap.compiler.tracing.tape import MOST as LONGEST_TRACE
from gradwrap.compiler.tracing.tape import Tape, TooLong, shares
from gradwrap.core.values.dynamic import type_of
from gradwrap.core.values.tree import unflatten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from gradwrap.compiler.tracing.noting import Notes
    from gradwrap.compiler.tracing.surroundings.find import Surroundings
    from gradwrap.compiler.tracing.tape import Library
    from gradwrap.core.values.tree import TreeDef

MOST, MOST_NESTED = 20_000, 1 << 15
"""The most operations of a trace at short lengths, and of one of nested loops."""
SECONDS = 60.0
"""The most time of a run at full size that notes numbers."""
OTHER_NUMBERS = "numbers, keys or values that long loops read are others than the short ones tell"
UNKNOWN_NUMBERS = "short loops do not tell what numbers, keys or values long ones read"
LONGER = 4
"""To show that all turns are alike takes as long as runs at full size, if those have so many times
as many operations as all traces."""
ALTOGETHER = 1 << 17
"""The most operations of all traces at short lengths."""


class Lengths(NamedTuple):
    """The lengths at which a function is traced."""

    base: int
    """The shortest length."""
    step: int
    """The step between lengths."""
    cuts: tuple[bool, ...]
    """Whether arrays are cut too, in the order in which it is tried."""
    between: int = BETWEEN
    """The distance between the short lengths of two parameters."""
    limit: int = LIMIT
    """The greatest length that stays as it is."""
    nested: bool = False
    """Whether loops of loops are looked for, if need be of few turns."""
    forwards: bool = True
    """Whether reads return the values written, before loops are looked for."""
    longest: int = 1000
    """The longest program, in operations: a longer one is not rolled well."""
    several: bool = False
    """Whether a turn of a loop may be several turns of the code."""
    near: int = NEAR
    """Lengths that differ by at most so much share a parameter."""
    nests: bool = False
    """Whether the turns of loops may vary in number."""

    def is_less(self, lengths: Sequence[int]) -> bool:
        """Tell if the actual lengths are long enough."""
        most = further(self.base, self.step, FURTHEST + 1)
        return self.base <= LIMIT or all(most <= length for length in lengths)


FURTHEST = 6
"""The steps between the shortest lengths and those of the furthest unseen point."""
CUT, BOTH = (True,), (True, False)
LENGTHS = (
    (Lengths(13, 2, cuts=CUT),),
    (Lengths(8, 1, between=3, limit=SHORT, nested=True, forwards=False, longest=500, cuts=CUT),),
    tuple(
        Lengths(base, 1, between=3, limit=SHORT, nested=True, longest=1500, cuts=CUT)
        for base in (10, 12)
    ),
    (Lengths(36, 12, cuts=CUT),),
    (Lengths(19, 2, cuts=(False,)), Lengths(36, 12, cuts=(False,))),
)
"""The second and the third are for nested loops, whose traces would else be too long: first with
arrays that are read and written as they stand, since the turns at the edges then do what all others
do. With steps of 12, a function that does something else in every second, third, fourth or sixth
turn repeats itself."""
NESTS = (Lengths(11, 1, between=3, limit=20, nests=True, longest=1500, cuts=CUT),)
"""The lengths for loops of ever more or fewer turns."""
SHORTEST = 15
"""The shortest length of which a loop can be extrapolated."""
PERIODS = 10
"""The least number of periods in a loop, if its turns repeat after several."""
LONGEST = 128
"""The longest period, in turns."""
ENOUGH = 400
"""The turns of loops in which remainders and steps are looked for."""


class Subject(NamedTuple):
    """A function and the arguments of a call."""

    function: Callable[..., Any]
    surroundings: Surroundings
    leaves: Sequence[Any]
    treedef: TreeDef
    given: Sequence[bool]
    library: Library
    names: tuple[str, ...]
    fixed: Sequence[Any]
    """The arrays among the arguments that are no inputs."""
    engine: str
    """The engine that runs the program."""

    @property
    def inputs(self) -> list[Any]:
        """Return the leaves that are inputs."""
        return [x for x, is_given in zip(self.leaves, self.given, strict=True) if is_given]


class TooMany(Declined):
    """A trace at short lengths is too long."""

    def __init__(self) -> None:
        super().__init__("with short loops it still performs too many operations")


class Unprofitable(Declined):
    """Calls of an extrapolated program would take too much time or memory."""

    def __init__(self) -> None:
        super().__init__("whole axes in place of its slices would take too much time or memory")


class Budget:
    """The operations that may still be traced."""

    def __init__(self) -> None:
        self.left: int = ALTOGETHER
        self.most: int = MOST
        """The most operations of a trace."""
        self.is_short: bool = False
        """Whether a trace took too many."""

    def traced(self, subject: Subject, leaves: Sequence[Any], around: Shortened) -> Traced:
        """Trace the function at short lengths.

        Raises
        ------
        Declined
            It takes too many operations, branches on values, or raises an error.
        """
        most = min(self.most, self.left)
        try:
            tape = Tape(subject.library, None, most)
            tape.keeps = False
            traced = trace(
                *(subject.function, leaves, subject.treedef, subject.given, around),
                subject.library,
                tape=tape,
            )
        except TooLong as error:
            self.left -= most
            self.is_short = True
            raise TooMany from error
        except Exception as error:
            raise Declined(f"with short loops it raised {type(error).__name__}: {error}") from error
        self.left -= len(traced.instrs)
        if traced.guards:
            raise Declined("it branches on values")
        return traced


class Found(NamedTuple):
    """A program of the actual lengths."""

    program: Program
    traced: Traced
    """One of the short traces, without arrays."""
    precisions: list[float]
    family: Family

    @property
    def shown(self) -> str:
        """Return a note on the parameters, and on the lengths that were traced."""
        family = self.family
        points = ", ".join(" and ".join(map(str, point)) for point in family.points)
        actual = " and ".join(map(str, family.actual))
        return f"loops of {actual} turns: extrapolated from traces of {points} turns"


class _Run(NamedTuple):
    """A trace at a point, the leaves of its arguments, and its surroundings."""

    traced: Traced
    leaves: list[Any]
    around: Shortened


class _Sample(NamedTuple):
    """A program at a point."""

    program: Program
    traced: Traced
    skeleton: list[Any]
    numbers: list[tuple[str, Any]]
    wholes: dict[int, Any]
    """By constant read by reference: the whole array."""


class Family:
    """The programs of a function at all lengths of its loops."""

    def __init__(
        self,
        subject: Subject,
        sizes: Sizes,
        lengths: Lengths,
        budget: Budget,
        *,
        cuts: bool,
    ) -> None:
        self.subject = subject
        self._budget = budget
        self.sizes = sizes
        self.cuts = cuts
        self.actual: tuple[int, ...] = tuple(sizes.actual)
        self.paths: set[Any] = set()
        """The steps that the function took at short lengths."""
        self.seconds: float = 0.0
        """The time of a run at full size, by one at short lengths."""
        self.is_in_order: bool = True
        """Whether the function returned arrays in C's order only."""
        self._padding = 0.0
        """How many times as many elements are computed with whole axes in place of slices."""
        self._operations: Callable[[Sequence[int]], int] | None = None
        """The number of operations of a trace at a point, if it has a law."""
        self._records: list[Recorded] = []
        self._noted: dict[tuple[int, ...], Notes] = {}
        self._confirmed: list[bool | None] = []
        self._start: tuple[int, ...] = sizes.close(lengths.base, lengths.step, lengths.between)
        self.lengths: Lengths = lengths
        self.points: list[tuple[int, ...]] = self._points()

    def _points(self) -> list[tuple[int, ...]]:
        count = len(self._start)
        offsets = [[0] * count, *([int(i == j) for j in range(count)] for i in range(count))]
        offsets.append([2 + i % 2 for i in range(count)])
        return [self.point(one) for one in offsets]

    def point(self, offset: Sequence[int]) -> tuple[int, ...]:
        """Return the lengths that are a given number of steps above the shortest ones."""
        step = self.lengths.step
        return tuple(further(b, step, o) for b, o in zip(self._start, offset, strict=True))

    @property
    def unseen(self) -> list[tuple[int, ...]]:
        """Return two points that are not traced."""
        count, step = len(self._start), self.lengths.step
        near = self.point([3 + i % 2 for i in range(count)])
        far = tuple(n + step * (FURTHEST - 3 - 2 * (i % 2)) for i, n in enumerate(near))
        if any(map(operator.gt, far, self.actual)):  # arguments may be shorter
            far = self.point([4 - i % 2 for i in range(count)])
        return [near, far]

    def cut_leaves(self) -> list[Any]:
        """Return the leaves of the arguments at the current lengths."""
        leaves = self.subject.leaves
        return [self.sizes.cut(leaf) for leaf in leaves] if self.cuts else [*leaves]

    def around(self) -> Shortened:
        """Return the surroundings at the current lengths."""
        return Shortened(self.subject.surroundings, self.sizes, cuts=self.cuts)

    def fit(self) -> None:
        """Sample the programs, and fit what varies.

        Raises
        ------
        Declined
            The programs differ in more than numbers, or the numbers have no known law.
        """
        samples: list[_Sample] = []
        ends = {point: self._traced(point) for point in (self.points[0], self.points[-1])}
        if len({len(one.traced.instrs) for one in ends.values()}) == 1:
            raise Declined("it performs as many operations at each length")
        for point in self.points:
            samples.append(self._sample(point, ends.get(point) or self._traced(point)))
            if samples[-1].skeleton != samples[0].skeleton:
                raise Declined(f"the programs of lengths {self.points[0]} and {point} differ")
        known = Noted(self.points, self.notes)
        fit = Fit(self.points, self._recorded, known)
        columns = [
            (column[0][0], [number for _, number in column])
            for column in zip(*(one.numbers for one in samples), strict=True)
        ]
        # arrays come first: the laws of their sequences may give single numbers
        order = sorted(range(len(columns)), key=lambda n: columns[n][0] != ARRAY)
        fits = {n: (columns[n][0], fit.of(*columns[n])) for n in order}
        self._fits = [fits[n] for n in range(len(columns))]
        self._notes = _noted([one.program.notes for one in samples], fit)
        self._confirms: Callable[[], bool | None] = partial(known.confirms, fit, self.actual)
        with suppress(Declined):
            self._operations = fit.integers([len(one.traced.instrs) for one in samples])
        self.base: _Sample = samples[0]
        self.traces: list[Traced] = [one.traced for one in samples]

    @property
    def is_much_longer(self) -> bool:
        """Tell if a run at full size takes longer than to show that all turns are alike."""
        count = self._operations(self.actual) if self._operations else 0
        return count > LONGER * sum(len(one.instrs) for one in self.traces)

    def problem_of_numbers(self) -> str:
        """Return "" if what enters operations at full size is what the short loops tell."""
        if not self._confirmed:
            self._confirmed = [self._confirms()]
        return {True: "", False: OTHER_NUMBERS, None: UNKNOWN_NUMBERS}[self._confirmed[0]]

    def _traced(self, point: tuple[int, ...]) -> _Run:
        self.sizes.short = [*point]
        leaves, around = self.cut_leaves(), self.around()
        return _Run(self._budget.traced(self.subject, leaves, around), leaves, around)

    def _sample(self, point: tuple[int, ...], run: _Run) -> _Sample:
        subject, one = self.subject, self.lengths
        self.sizes.short = [*point]
        traced, leaves, around = run
        constants, wholes = self._constants(traced, around)
        program = program_of([traced], [constants], subject.names)
        self._padding = max(self._padding, pad_slices(program))
        program, _ = prepared(
            program,
            roll=True,
            arguments=inputs_of(leaves, subject.given),
            nested=one.nested,
            several=one.several,
            forwards=one.forwards,
            nests=one.nests,
        )
        if program.length() > self.lengths.longest:
            raise Declined(f"with its loops, the program has {program.length()} operations")
        return _Sample(program, traced._replace(tape=None), *taken(program), wholes)

    def _recorded(self) -> Recorded | None:
        """Return what the function computes from indices and lengths at the points, if it can."""
        if not self._records:
            with suppress(Declined):
                self._records = [Recorded([self.record(one) for one in self.points], self.points)]
        return self._records[0] if self._records else None

    def notes(self, point: Sequence[int]) -> Notes:
        """Return the numbers that the function's code gives to operations at a point.

        Raises
        ------
        Declined
            It raises an error, or takes too long.
        """
        key = tuple(point)
        if key not in self._noted:
            subject, before = self.subject, self.sizes.short
            is_actual = key == self.actual
            self.sizes.short = [*point]
            leaves = subject.leaves if is_actual else self.cut_leaves()
            around = subject.surroundings if is_actual else self.around()
            try:
                notes = noted(
                    *(subject.function, leaves, subject.treedef, subject.given, around),
                    *(subject.library, SECONDS),
                )
            except Exception as error:
                raise Declined(f"its numbers cannot be noted: {error}") from error
            finally:
                self.sizes.short = before
            whole = getattr(around, "whole", itself)
            for arrays in notes.contents.values():  # those that the program reads as they are
                arrays[:] = [one for one in arrays if not self._is_own(whole(one[0]))]
            self._noted[key] = notes
        return self._noted[key]

    def record(self, point: Sequence[int]) -> Record:
        """Return what the function computes from indices and lengths at a point.

        Raises
        ------
        Declined
            It raises an error.
        """
        self.sizes.short = [*point]
        recorder = self.sizes.recorder = Recorder(point)
        try:
            run(self.subject, self.cut_leaves(), self.around())
        finally:
            self.sizes.recorder = None
        return recorder.record

    def _constants(
        self, traced: Traced, around: Shortened
    ) -> tuple[dict[int, Constant], dict[int, Any]]:
        """Return the constants, and the whole arrays of those that are read by reference."""
        surroundings = self.subject.surroundings
        constants: dict[int, Constant] = {}
        wholes: dict[int, Any] = {}
        for index, kept in traced.constants.items():
            part = traced.originals.get(index)
            whole = around.whole(part)
            is_own = part is not None and self._is_own(whole)
            name = surroundings.name_of(whole) if is_own else None
            if is_own:
                wholes[index] = whole
            elif whole is not part:
                raise Declined("a long array is the program's own")
            constants[index] = Constant(part if is_own else kept, is_own, (name or "") * is_own)
        return constants, wholes

    def _is_own(self, whole: Any) -> bool:
        """Tell if an array is in a variable of the surroundings, where the program reads it."""
        is_named = self.subject.surroundings.name_of(whole) is not None
        return is_named and not any(shares(whole, one) for one in self.subject.fixed)

    def at(self, point: Sequence[int]) -> Program:
        """Return the program at a point, with the arrays of the surroundings at these lengths.

        Raises
        ------
        Declined
            There is no such program.
        """
        waiting = iter(self._fits)

        def change(kind: str, _: Any) -> Any:
            wanted, fitted = next(waiting)
            assert wanted == kind
            return fitted(point)

        program = Walk(change).program(self.base.program)
        is_actual = tuple(point) == self.actual
        self.sizes.short = [*point]
        around = self.around()
        for index, constant in program.constants.items():
            if constant.by_reference:
                whole = self.base.wholes[index]
                array = whole if is_actual else around.cut(whole)
                program.constants[index] = constant._replace(array=array)
            if program.values[index].shape != program.constants[index].array.shape:
                raise Declined("an array of the surroundings has another shape")
        if is_actual:
            self._check_inputs(program)
            if self._padding:
                count = self._operations(point) if self._operations else None
                engine = self.subject.engine
                if not is_worthwhile(program, self._padding, LONGEST_TRACE, count, engine):
                    raise Unprofitable
        program.notes = [with_numbers(text, numbers(point)) for text, numbers in self._notes]
        return program

    def _check_inputs(self, program: Program) -> None:
        for index, leaf in zip(program.inputs, self.subject.inputs, strict=True):
            shape = leaf.shape if isinstance(leaf, NDARRAY) else ()
            if program.values[index].shape != shape:
                raise Declined("an argument would have another shape")


def run(subject: Subject, leaves: Sequence[Any], around: Shortened) -> Any:
    """Run the function on plain arrays at short lengths."""
    function, entered = around.with_arrays(leaves, itself)
    args, kwargs = unflatten(subject.treedef, entered)
    try:
        with np.errstate(all="ignore"):
            return function(*args, **kwargs)
    except Exception as error:
        raise Declined(f"with short loops it raised {type(error).__name__}: {error}") from error


def inputs_of(leaves: Sequence[Any], given: Sequence[bool]) -> list[Any]:
    """Return the inputs of a program among the leaves of arguments."""
    found = [leaf for leaf, is_given in zip(leaves, given, strict=True) if is_given]
    return [np.float64(x) if type_of(x) is float else x for x in found]


def itself(array: Any) -> Any:
    """Return an array."""
    return array


def _noted(notes: Sequence[list[str]], fit: Fit) -> list[tuple[str, Callable[[Any], list[int]]]]:
    """Return the notes that all programs have, with the functions of their numbers."""
    found: list[tuple[str, Callable[[Any], list[int]]]] = []
    for column in zip(*notes, strict=False):
        if len({*map(without_numbers, column)}) == 1:
            with suppress(Declined):
                fits = [fit.integers(one) for one in zip(*map(numbers_in, column), strict=True)]
                found.append((column[0], _together(fits)))
    return found


def _together(fits: Sequence[Callable[[Any], int]]) -> Callable[[Any], list[int]]:
    return lambda point: [fit(point) for fit in fits]


def extrapolated(subject: Subject, compared: Callable[[Family], None]) -> tuple[Found | None, str]:
    """Return the program of the actual lengths and how it was compared, or None and the reason.

    `compared` says how a program of unseen lengths differs from the function, or "".
    """
    reasons: list[str] = []
    if not can_follow():
        return None, "other tools use all of sys.monitoring, so branches cannot be followed"
    sizes, period = _seen(subject)
    if sizes is not None and sizes.longest < SHORTEST:
        return None, "no length is long"
    budget = Budget()
    known: dict[tuple[int, int], list[list[int]]] = {}
    if sizes is not None and sizes.is_like(LIMIT):
        known[LIMIT, NEAR] = _possible(sizes, _lengths_of(subject), LIMIT, NEAR)
        reasons += sizes.varying
    nests = (NESTS,) if sizes is not None and sizes.varying else ()
    for lengths in (*nests, *_repeating(period), *LENGTHS):
        if lengths is LENGTHS[-1] and budget.is_short:
            break
        budget.most = MOST_NESTED if lengths[0].nested or lengths[0].nests else MOST
        try:
            near = lengths[0].limit, lengths[0].near
            if near not in known:
                known[near] = _parameters(subject, *near, reasons, budget)
            found = _found(subject, lengths, known[near], compared, budget, reasons)
        except TooMany as why:
            reasons.append(str(why))
        except Unprofitable as why:
            return None, str(why)
        else:
            if found is not None:
                return found, ""
    return None, "; ".join(dict.fromkeys(reasons)) or "no length is long"


def _repeating(period: int) -> Iterator[tuple[Lengths, ...]]:
    """Yield lengths for the period after which the turns of loops repeat, if it is not short."""
    if 2 < period <= LONGEST:
        near = max(NEAR, period)
        least = PERIODS * period
        yield (Lengths(least, period, cuts=BOTH, longest=1500, several=True, near=near),)


def _seen(subject: Subject) -> tuple[Sizes | None, int]:
    """Return the lengths that a run with short loops meets; None if it raises an error.

    The second result is the period after which what divides an index repeats itself.
    """
    sizes = Sizes(NESTS[0].limit, first=LIMIT // 2)
    recorder = Recorder(sizes.short, ENOUGH)
    try:
        _meet(subject, sizes, recorder)
    except Declined:  # it may refuse numbers that note how they were computed
        sizes = Sizes(NESTS[0].limit)
        try:
            _meet(subject, sizes)
        except Declined:
            return None, recorder.record.period
    return sizes, recorder.record.period


def _meet(subject: Subject, sizes: Sizes, recorder: Recorder | None = None) -> None:
    """Run the function with short loops and arrays; enter the lengths that it meets."""
    for length in _lengths_of(subject):
        sizes.of(length)
    sizes.in_ranges.clear()
    sizes.recorder = recorder
    around = Shortened(subject.surroundings, sizes, cuts=True)
    run(subject, [sizes.cut(leaf) for leaf in subject.leaves], around)


def _lengths_of(subject: Subject) -> list[int]:
    arrays = [*subject.inputs, *subject.surroundings.array_objects()]
    return [one.shape[0] for one in arrays if isinstance(one, NDARRAY) and one.ndim]


def _found(
    subject: Subject,
    lengths: Sequence[Lengths],
    possible: Sequence[Sequence[int]],
    compared: Callable[[Family], None],
    budget: Budget,
    reasons: list[str],
) -> Found | None:
    """Return the program of the actual lengths, or None; add the reasons.

    `possible` are the long lengths that may be parameters.

    Raises
    ------
    TooMany
        A trace takes too many operations.
    Unprofitable
        Calls of the program would take too much time or memory.
    """
    for parameters in possible:
        for one in lengths:
            if not one.is_less(parameters):
                continue
            for cuts in one.cuts:
                try:
                    sizes = sizes_of(parameters, one.limit, one.near)
                    family = Family(subject, sizes, one, budget, cuts=cuts)
                    family.fit()
                    compared(family)
                    program = family.at(family.actual)
                except (TooMany, Unprofitable):
                    raise
                except Declined as why:
                    reasons.append(str(why))
                    continue
                traced = family.base.traced
                return Found(program, traced, precisions_of(traced), family)
    return None


def sizes_of(lengths: Sequence[int], limit: int, near: int = NEAR) -> Sizes:
    """Return parameters for these long lengths."""
    sizes = Sizes(limit, near)
    for length in lengths:
        sizes.of(length)
    return sizes


def _parameters(
    subject: Subject, limit: int, near: int, reasons: list[str], budget: Budget
) -> list[list[int]]:
    """Return the long lengths that may be parameters: those of ranges, and also those of arrays."""
    for cuts in (True, False):  # a trace of short arrays is fast, but may raise an error
        sizes = Sizes(limit, near)
        try:
            if cuts:
                _meet(subject, sizes)
            else:
                around = Shortened(subject.surroundings, sizes, cuts=False)
                budget.traced(subject, subject.leaves, around)
            break
        except Declined as why:
            if isinstance(why, TooMany):
                raise
            reasons.append(str(why))
        finally:
            reasons += sizes.varying
    return _possible(sizes, _lengths_of(subject), limit, near)


def _possible(sizes: Sizes, lengths: Sequence[int], limit: int, near: int) -> list[list[int]]:
    """Return the long lengths that may be parameters, given those that a run has met."""
    found = [[*dict.fromkeys(sizes.in_ranges)]] if sizes.in_ranges else []
    both = sizes_of([*sizes.in_ranges, *lengths], limit, near).actual
    integers = [] if found or both else [*sizes.actual]  # lengths of arrays that the function makes
    return [*found, *(one for one in (both, integers) if one and one not in found)]
