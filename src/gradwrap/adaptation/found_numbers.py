"""Derivatives of numbers that code finds by comparisons, by the implicit function theorem.

A first run adds a tracked zero e to the state of each search. The difference r(p, e) that the code
compares is zero at what is found, so e moves with the arguments p by

    dr/de de + dr/dp dp = 0.

The next run adds zeros with these derivatives: all that is computed of the state has its
derivative then, whatever the code does with it. What is compared in several searches, one of which
runs inside another or uses its result, makes a system of such equations.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradwrap.adaptation.search_loops import BEGIN, SHIFTED
from gradwrap.autograd import grad
from gradwrap.core.array.python_floats import PythonFloat, array_of, python_float
from gradwrap.core.array.steered import adapted_frame
from gradwrap.core.array.wrapping import wrap
from gradwrap.core.levels.wrapper import (
    AnyWrapper,
    is_derived,
    is_recorded,
    level_of,
    native,
)
from gradwrap.core.observing.code import frame_of
from gradwrap.core.values.dynamic import LIST, type_of
from gradwrap.errors import AdaptationError, NoRuleError
from gradwrap.transforms.custom_rules import defjvp, defvjp
from gradwrap.transforms.forward import jvp
from gradwrap.transforms.primitive import primitive

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType


TRIED = (0, 1, 2, 3, 5, 8, 12, 16, 20, 25, 30, 36, 43, 50)
"""The comparisons whose derivatives are compared, by how far they are from equality."""
NEAR = 1e-5
"""A number is found if it is corrected by less than this part of what the search began with."""
ALIKE = 1e-2
"""By the two best comparisons, the numbers move in ways that differ by less than this part."""
MOST = 2048
"""So many numbers are found at most."""
ROUNDING = 1e-16
FLOATS = (float, np.float64, np.float32)
WHOLES = (int, np.int64)


class Search:
    """One search, from its first turn on."""

    def __init__(self, key: str, shape: tuple[int, ...], scale: float, zero: Any) -> None:
        self.key = key
        self.shape = shape
        self.scale = scale
        """The largest number that it begins with."""
        self.zero = zero
        """What is added to its state."""
        self.rests: list[Any] = []
        """What was compared with zero."""

    @property
    def size(self) -> int:
        """How many numbers it finds."""
        return int(np.prod(self.shape))


class _Active(NamedTuple):
    """A search, and the code that runs it."""

    search: Search
    code: CodeType
    first: int
    last: int


class Shifting:
    """A run that adds zeros to the states of its searches."""

    def __init__(self) -> None:
        self._current: dict[str, Search] = {}
        """The last search of each loop."""
        self._going_on: set[str] = set()
        """The functions whose search was begun by an earlier call."""
        self._functions: dict[CodeType, str] = {}
        """The functions without a loop that are called again and again."""
        self._active: dict[int, dict[str, _Active]] = {}

    def begin(self, key: str, first: int, last: int, texts: str) -> None:
        """Note that a search begins, with the state that the calling code names so."""
        frame = frame_of(2)
        values = [_read(frame, text) for text in texts.split()]
        if key.endswith(":0"):
            self._functions[frame.f_code] = key
            if key in self._current and self.is_going_on(values):
                self._going_on.add(key)
                return
            self._going_on.discard(key)
        arrays = [np.asarray(_plain(one)) for one in values]
        sizes = [one for one in arrays if one.size and one.dtype.kind in "fi"]
        floats = [one.shape for one in sizes if one.dtype.kind == "f"] or [()]
        shape = max(floats, key=lambda one: int(np.prod(one)))
        largest = [float(np.max(np.abs(one[np.isfinite(one)]), initial=0.0)) for one in sizes]
        scale = max(largest, default=0.0)
        search = self._current[key] = self.made(key, shape, scale)
        active = _Active(search, frame.f_code, first, last)
        self._active.setdefault(id(frame), {})[key] = active

    def look(self, jumps: str, left: Any, right: Any = 0.0) -> None:
        """Note a comparison, as `Searches.look` does."""
        raise NotImplementedError

    def check(self) -> None:
        """Refuse a run that is not as it should be."""

    def is_going_on(self, values: list[Any]) -> bool:
        """Tell if a function that calls itself, or is called in turns, does so once more."""
        raise NotImplementedError

    def made(self, key: str, shape: tuple[int, ...], scale: float) -> Search:
        """Return a new search."""
        raise NotImplementedError

    def shifted(self, key: str, value: Any, may_be_whole: bool) -> Any:
        """Return a part of the state with the zero added."""
        search = self._current.get(key)
        if search is None or key in self._going_on:
            return value
        if type_of(value) is LIST:
            value[:] = [self.shifted(key, one, may_be_whole) for one in value]
            return value
        if not _is_number(value) and not (may_be_whole and type_of(value) in WHOLES):
            return value
        if np.shape(value) != search.shape:
            return value
        if type_of(value) in (int, float) or isinstance(value, PythonFloat):
            return python_float(search.zero + array_of(value))
        return search.zero + value

    def active_at(self, frame: FrameType | None) -> Search | None:
        """Return the innermost search that runs in a frame, or in one of its callers."""
        while frame is not None:
            if frame.f_code in self._functions:
                return self._current.get(self._functions[frame.f_code])
            active = [
                one
                for one in self._active.get(id(frame), {}).values()
                if one.code is frame.f_code and one.first <= frame.f_lineno <= one.last
            ]
            if active:
                return max(active, key=lambda one: one.first).search
            frame = frame.f_back
        return None


def _is_number(value: Any) -> bool:
    """Tell if a value is a float, or an array of floats."""
    if isinstance(value, AnyWrapper) or type_of(value) is np.ndarray:
        return bool(value.dtype.kind == "f")
    return type_of(value) in FLOATS


def _plain(value: Any) -> Any:
    return native(value) if isinstance(value, AnyWrapper) else value


def _read(frame: FrameType, text: str) -> Any:
    """Return the value of a name, or of an attribute, in a frame; None if there is none.

    That of a list is its largest number.
    """
    name, *attributes = text.split(".")
    found: Any = frame.f_locals.get(name)
    for one in attributes:
        found = getattr(found, one, None)
    if type_of(found) is LIST:
        numbers = [one for one in found if _is_number(one)]
        return max(numbers, key=lambda one: abs(float(np.max(_plain(one)))), default=None)
    return found if _is_number(found) or type_of(found) in WHOLES else None


class Finding(Shifting):
    """A run that finds how the numbers move which its searches find."""

    def __init__(self, points: list[Any]) -> None:
        super().__init__()
        self._points = points
        """The tracked arguments."""
        self._top: Any = None
        """A zero of a level above, so that what is compared is seen as it is recorded."""
        self.zeros: list[Any] = []
        self.searches: list[Search] = []
        self.were_going_on: list[bool] = []

    def run(self, call: Callable[[], Any]) -> None:
        """Run a function that begins searches."""

        def inside(top: Any) -> Any:
            self._top = top
            call()
            return top

        jvp(inside, (0.0,), (0.0,))

    def made(self, key: str, shape: tuple[int, ...], scale: float) -> Search:
        """Return a new search."""
        zero = wrap(np.zeros(shape), requires_grad=True)
        if sum(map(np.size, self.zeros)) + zero.size > MOST:
            raise AdaptationError("more numbers are found by comparisons than are kept in mind")
        self.zeros.append(zero)
        self.searches.append(Search(key, shape, scale, zero + self._top))
        return self.searches[-1]

    def is_going_on(self, values: list[Any]) -> bool:
        """Tell if a function that searches in several calls does so once more."""
        level = level_of(self._top)
        is_going_on = any(level_of(one) >= level for one in values)
        self.were_going_on.append(is_going_on)
        return is_going_on

    def look(self, jumps: str, left: Any, right: Any = 0.0) -> None:
        """Note what is compared, where it depends on the state of a search."""
        if jumps not in ("order", "equality", "sign") or not is_recorded([left, right]):
            return
        search = self.active_at(adapted_frame())
        if search is not None:
            rest = array_of(left) - (0.0 if jumps == "sign" else array_of(right))
            if rest.size == search.size and rest.dtype.kind == "f":
                search.rests.append(rest.reshape(search.shape))

    def moves(self) -> tuple[list[bool], Any]:
        """Tell which searches have found their numbers; return how these move with the arguments.

        The matrix has a row for each number.
        """
        ends = np.cumsum([one.size for one in self.searches], dtype=int)
        size = int(ends[-1]) if len(ends) else 0
        places = [slice(end - one.size, end) for end, one in zip(ends, self.searches, strict=True)]
        every = [self._rows(*one) for one in zip(self.searches, self.zeros, strict=True)]
        moves: list[Any] = []
        for n in (0, 1):
            equations = np.eye(size, size + sum(map(np.size, self._points)))
            for place, rows in zip(places, every, strict=True):
                if rows is not None:
                    equations[place] = rows[n]
            try:
                moves.append(np.linalg.solve(equations[:, :size], -equations[:, size:]))
            except np.linalg.LinAlgError:
                return [False], np.zeros_like(equations[:, size:])
        are_found = [
            rows is not None and _are_alike(moves[0][place], moves[1][place])
            for place, rows in zip(places, every, strict=True)
        ]
        return are_found, moves[0]

    def _rows(self, search: Search, zero: Any) -> Any:
        """Return the equations of a search by its best and its second best comparison.

        It is None if these have not come near to what the search looks for.

        By rounding, a difference of nearly equal values has a slope with an error that grows as
        the slope shrinks, as in a search for a minimum. So the best comparison is not the last.
        """
        sizes = [float(np.max(np.abs(native(one)), initial=0.0)) for one in search.rests]
        order = np.argsort(sizes, kind="stable")
        tried = [search.rests[order[n]] for n in TRIED if n < len(order)]
        slopes = [self._row(one.sum(), [zero]) for one in tried]
        if not tried:
            return None
        values = np.stack([native(one).reshape(-1) for one in tried])
        steep = np.abs(np.stack(slopes))
        with np.errstate(all="ignore"):
            errors = np.abs(values) / steep + ROUNDING * np.max(steep, axis=0) / steep
        errors = np.where(np.isfinite(errors), errors, np.inf)
        ranks = np.argsort(errors, axis=0, kind="stable")
        if len(tried) < 2 or not np.all(
            np.take_along_axis(errors, ranks[:2], 0) <= NEAR * search.scale
        ):
            return None
        by = [*self.zeros, *self._points]
        rows, others = (
            np.stack(
                [
                    self._row(tried[n].reshape(-1)[i], by) / slopes[n][i]
                    for i, n in enumerate(ranks[place])
                ]
            )
            for place in (0, 1)
        )
        return rows, others

    def _row(self, rest: Any, by: list[Any]) -> Any:
        found = grad([rest], by, retain_graph=True, materialize_grads=True)
        return np.concatenate([np.reshape(part, -1) for part in found])


def _are_alike(some: Any, others: Any) -> bool:
    """Tell if how numbers move has a limit, as it has not where a slope vanishes."""
    return bool(np.all(np.abs(some - others) <= ALIKE * np.max(np.abs(some), initial=0.0)))


class Moving(Shifting):
    """A run whose searches begin with zeros that have the derivatives found."""

    def __init__(self, finding: Finding, points: list[Any], name: str) -> None:
        super().__init__()
        self._name = name
        are_found, moves = finding.moves()
        self.are_found: bool = all(are_found)
        """Whether each search has come near to what it looked for."""
        pairs = zip(finding.searches, are_found, strict=False)
        self.keys: frozenset[str] = frozenset(one.key for one, is_found in pairs if is_found)
        """The loops of those that have."""
        self._searches = iter(finding.searches)
        self._were_going_on = iter(finding.were_going_on)
        self._at = 0
        self._zeros: Any = None
        self.has_begun: bool = False
        """Whether a search has begun."""
        if len(moves):
            flat: Any = np.concatenate([np.reshape(one, -1) for one in map(array_of, points)])
            self._zeros = _zeros(moves, name)(flat)

    def made(self, key: str, shape: tuple[int, ...], scale: float) -> Search:
        """Return a new search."""
        known = next(self._searches, None)
        if known is None or (known.key, known.shape) != (key, shape):
            raise self._others()
        self.has_begun = True
        zero = self._zeros[self._at : self._at + known.size].reshape(shape)
        self._at += known.size
        return Search(key, shape, scale, zero)

    def is_going_on(self, values: list[Any]) -> bool:
        """Tell if a function that searches in several calls does so once more."""
        return next(self._were_going_on, False)

    def check(self) -> None:
        """Refuse a run that has searched for less than the one before."""
        if next(self._searches, None) is not None:
            raise self._others()

    def _others(self) -> AdaptationError:
        return AdaptationError(
            f"{self._name} finds numbers by comparisons, as in a bisection. When it ran once more "
            "for their derivatives, it has searched for others, as code does that keeps what it "
            'has found. Fix: gradwrap.adapting(f, compiled="numerical") takes the derivative by '
            "differences."
        )


def _zeros(moves: Any, name: str) -> Any:
    """Return a function whose values are zero, with given first derivatives."""

    def found_numbers(x: Any) -> Any:
        return np.zeros(len(moves)) + 0.0 * np.sum(x)

    def of_first_order(x: Any) -> Any:
        if is_derived(x):
            raise NoRuleError(
                f"{name} finds a number by comparisons, as in a bisection, and that has a first "
                "derivative only: here a second one is asked for. Fix: gradwrap.custom_root gives "
                "the root of an equation derivatives of all orders."
            )
        return moves

    op: Any = primitive(found_numbers)
    defvjp(op, lambda xp, g, x: xp.matmul(g, xp.asarray(of_first_order(x))))
    defjvp(op, lambda xp, t, x: xp.matmul(xp.asarray(of_first_order(x)), t))
    return op


def as_point(leaf: Any) -> Any:
    """Return a tracked copy of an argument, of which the transforms around know nothing."""
    copy = wrap(np.array(native(leaf)), requires_grad=True)
    return python_float(copy) if isinstance(leaf, PythonFloat) else copy


shifting: ContextVar[Shifting | None] = ContextVar("gradwrap_shifting", default=None)


def begin(key: str, first: int, last: int, texts: str) -> None:
    """Note that a search begins in the calling code."""
    run = shifting.get()
    if run is not None:
        run.begin(key, first, last, texts)


def shifted(key: str, value: Any, may_be_whole: bool) -> Any:
    """Return a part of the state of a search, with a zero added that has its derivative."""
    run = shifting.get()
    return value if run is None else run.shifted(key, value, may_be_whole)


NAMES: dict[str, Any] = {BEGIN: begin, SHIFTED: shifted}
"""The functions that the new code calls."""
