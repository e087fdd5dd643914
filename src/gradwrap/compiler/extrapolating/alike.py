"""Loops whose turns are all alike, so that a function need not run at full size to be compared.

Python's code decides which operations a turn performs. Its decisions depend on what it can see: the
local variables of the loop, and nothing else if the code is *simple*. If all that it can see is
the same at the start of two turns, the second one does what the first one did, and so does each
later one. Values in arrays that depend on the arguments are not seen: a branch on one ends a trace.
The index of a loop differs from turn to turn, and lengths differ from those at full size. So the
short runs are made once more with numbers that know what they are at full size: see `watching.py`.
"""

from __future__ import annotations

import dis
from contextlib import nullcontext
from functools import partial
from itertools import pairwise
from types import CellType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.extrapolating.fitting import Fit
from gradwrap.compiler.extrapolating.paths import SLOWS_ALL, has_backward_code, paths
from gradwrap.compiler.extrapolating.points import Family, sizes_of
from gradwrap.compiler.extrapolating.sizes import Declined
from gradwrap.compiler.extrapolating.walk import FLOAT, INTEGER, taken
from gradwrap.compiler.extrapolating.watching import PLAIN, Watch
from gradwrap.compiler.ir.program import NDARRAY
from gradwrap.compiler.passes.from_traces import difference
from gradwrap.compiler.tracing.noting import Performing, performed
from gradwrap.compiler.tracing.twofold import Unlike
from gradwrap.core.values.dynamic import TUPLE, type_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from types import CodeType

    from gradwrap.compiler.extrapolating.points import Budget, Found, Subject
    from gradwrap.compiler.ir.program import Program
    from gradwrap.compiler.tracing.run import Traced

HELD: Any = (FunctionType, CellType, ModuleType, NDARRAY, TUPLE, partial, *PLAIN)
"""What simple code may reach by names."""
STORING = frozenset(
    {"STORE_GLOBAL", "STORE_NAME", "STORE_ATTR", "DELETE_GLOBAL", "DELETE_NAME", "DELETE_ATTR"}
    | {"YIELD_VALUE", "IMPORT_NAME"}
)
"""The instructions that keep something where local variables do not show it."""
APPENDING = ("LIST_APPEND", "SET_ADD", "MAP_ADD")
"""The instructions that comprehensions keep values with; displays use them too, with argument 1."""
SEEING = frozenset(
    {"locals", "vars", "dir", "globals", "eval", "exec", "setattr", "delattr", "iter", "next"}
    | {"_getframe", "currentframe", "time", "perf_counter", "monotonic", "random", "id"}
)
"""The names of functions that see, or keep, more."""
LENGTHS = frozenset({"shape", "size", "nbytes", "strides", "__len__"})
"""The names of what tells lengths; the attributes `shape` and `size` tell those at full size."""
FARTHER = 30
"""The steps between the shortest loops and those of the last comparison."""
MORE = 2
"""A trace with whole arrays has at most so many times as many operations as one with short ones."""
APART = 64
"""The most by which the lengths of loops differ there."""


def _is_simple(code: CodeType) -> bool:
    """Tell if code keeps no state but in local variables."""
    if not SEEING.isdisjoint(code.co_names):
        return False
    outer = ("STORE_DEREF", "DELETE_DEREF")
    steps = [*dis.get_instructions(code)]
    return not any(
        one.opname in STORING
        or (isinstance(one.argval, str) and one.argval in LENGTHS and not _is_read(steps, n))
        or (one.opname in APPENDING and one.arg != 1)
        or (one.opname in outer and one.argval in code.co_freevars)
        for n, one in enumerate(steps)
    )


def _is_read(steps: Sequence[dis.Instruction], n: int) -> bool:
    """Tell if an instruction reads the attribute `shape` or `size`, and calls no such function."""
    one, around = steps[n], (*steps[max(n - 2, 0) : n], *steps[n + 1 : n + 2])
    is_read = one.opname == "LOAD_ATTR" and "NULL|self" not in one.argrepr
    is_called = any(step.opname == "PUSH_NULL" for step in around)
    return is_read and one.argval in ("shape", "size") and not is_called


def _check_code(subject: Subject, codes: Collection[CodeType]) -> None:
    for value, _ in subject.surroundings.objects():
        is_own = type_of(value).__module__.startswith("gradwrap.")
        if not (is_own or isinstance(value, (*HELD, type))):
            raise Declined(f"the function reaches a {type_of(value).__name__}")
    if subject.surroundings.tells_same or not all(map(_is_simple, codes)):
        raise Declined("the code may keep a state")


def of_all_turns(
    found: Found, budget: Budget, compared: Callable[[Family], None]
) -> tuple[Program, Family]:
    """Return the program of loops a little longer than those traced.

    Its family gives the program of the actual lengths too. If code may do something else with short
    arrays, that is made a second time: nothing but loops is cut.

    Raises
    ------
    Declined
        The turns of loops may differ, or what the function does around the loops.
    """
    family = found.family
    subject = family.subject
    _check_code(subject, {code for code, *_ in family.paths})
    try:
        _check(family, budget)
    except Declined:
        if not family.cuts:
            raise
        budget.most = MORE * max(len(one.instrs) for one in family.traces)
        sizes = sizes_of(family.actual, family.lengths.limit, family.lengths.near)
        family = Family(subject, sizes, family.lengths, budget, cuts=False)
        _watched(family, budget, family.points[0], is_counted=False)
        family.fit()
        compared(family)
        _check(family, budget)
        _check_code(subject, {code for code, *_ in family.paths})
        if not _are_same(found.program, family.at(family.actual)):
            raise Declined("something around the loops depends on their lengths") from None
    return family.at(_far(family)), family


def _far(family: Family) -> tuple[int, ...]:
    """Return lengths beyond which keys of arrays meet no others.

    Keys are sums of indices and lengths and of numbers that are less than the shortest lengths,
    since they lie inside there. So two keys that are equal at some greater lengths only, or up to
    some lengths, are so at these. Their differences are the actual ones, if those are small.
    """
    step, actual = family.lengths.step, family.actual
    point = [*family.point([FARTHER] * len(actual))]
    order: list[int] = np.argsort(actual, kind="stable").tolist()
    for before, now in pairwise(order):
        gap = actual[now] - actual[before]
        point[now] = point[before] + gap - step * max(0, -(-(gap - APART) // step))
    return tuple(point)


def _check(family: Family, budget: Budget) -> None:
    """Run the function at the lengths of a family, with numbers that know those at full size.

    Raises
    ------
    Declined
        At full size it may do something else.
    """
    watches: list[Watch] = []
    steps: list[Any] = []
    apart = SLOWS_ALL and not has_backward_code(family.paths)
    for point, plain in zip(family.points, family.traces, strict=True):
        is_end = point in (family.points[0], family.points[-1])
        traced, watch, counted = _watched(family, budget, point, is_counted=is_end and not apart)
        watches.append(watch)
        if is_end:
            steps.append(_counted(family, point, watch) if apart else counted)
        problem = difference(plain, traced)
        if problem or steps[0] != steps[-1]:
            raise Declined(f"runs whose numbers know those at full size differ: {problem}")
    _check_numbers(family, watches)


def _watched(
    family: Family, budget: Budget, point: Sequence[int], *, is_counted: bool
) -> tuple[Traced, Watch, Any]:
    """Run the function at some lengths; return the numbers of its steps too, if they are counted.

    Raises
    ------
    Declined
        At full size it may do something else.
    """
    sizes, is_users = family.sizes, family.subject.surroundings.is_users
    sizes.short = [*point]
    sizes.watch = watch = Watch(sizes, is_users, cuts=family.cuts, period=family.lengths.step)
    try:
        with paths(is_users, count=watch.step) if is_counted else nullcontext():
            traced = budget.traced(family.subject, family.cut_leaves(), family.around())
        return traced, watch, watch.check()
    except Unlike as why:
        raise Declined(str(why)) from why
    finally:
        sizes.watch = None


def _counted(family: Family, point: Sequence[int], other: Watch) -> Any:
    """Return the numbers of the function's steps at some lengths, without a backward pass.

    No code of the user's runs in that. `other` has watched a run with it.

    Raises
    ------
    Declined
        At full size it may do something else.
    """
    sizes, subject = family.sizes, family.subject
    sizes.short = [*point]
    is_users = subject.surroundings.is_users
    sizes.watch = watch = Watch(sizes, is_users, cuts=family.cuts, period=family.lengths.step)
    watch.uses.are_noted = False
    leaves, tape = family.cut_leaves(), Performing(subject.library)
    try:
        with paths(is_users, count=watch.step):
            performed(
                *(subject.function, leaves, subject.treedef, subject.given),
                *(family.around(), tape),
            )
        counted = watch.check()
    except Exception as why:
        raise Declined(str(why)) from why
    finally:
        sizes.watch = None
    if watch.sites != other.sites:
        raise Declined("other loops run with a backward pass")
    return counted


def _check_numbers(family: Family, watches: Sequence[Watch]) -> None:
    """Check that the numbers of the program of the actual lengths are those at full size."""
    fit = Fit(family.points)
    uses = [watch.uses.found for watch in watches]
    if any(one.keys() != uses[0].keys() for one in uses):
        raise Declined("numbers are used elsewhere at other lengths")
    for place in uses[0]:
        for column in zip(*[one[place] for one in uses], strict=False):
            factors, numbers, wanted = zip(*column, strict=True)
            if len({*factors}) > 1 or len({*wanted}) > 1 or len({*map(type, numbers)}) > 1:
                raise Declined("a number has another law at other lengths")
            is_float = isinstance(numbers[0], float)
            fitted = fit.of(FLOAT if is_float else INTEGER, numbers)(family.actual)
            if not _is_same_number(fitted, wanted[0]):
                raise Declined(f"a number would be {fitted}, but is {wanted[0]}")
        if len({len(one[place]) for one in uses}) > 1:
            raise Declined("numbers are used more often at other lengths")


def _is_same_number(fitted: Any, wanted: Any) -> bool:
    return bool(abs(fitted - wanted) <= ROUNDING * abs(wanted))


ROUNDING = 2.0**-49
"""The relative difference between numbers that are rounded otherwise."""


def _are_same(one: Program, other: Program) -> bool:
    (skeleton, numbers), (same, others) = taken(one), taken(other)
    return skeleton == same and all(
        kind == kind_too and np.array_equal(a, b)
        for (kind, a), (kind_too, b) in zip(numbers, others, strict=True)
    )
