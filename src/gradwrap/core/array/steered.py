"""Plain numbers that a loop finds by comparisons of tracked values, such as a root by bisection.

Comparisons have no derivative, so such a number is a constant, although what it converges to
depends on the tracked values. The values do not show that, but the loop does: at a branch on a
comparison, which goes both ways, the plain numbers that it assigns move by less and less. Or what
is compared, the one with the other, comes closer and closer from both sides: then the numbers may
be anywhere, in lists, attributes and elements of arrays, and depend on tracked bounds.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections import Counter
from contextvars import ContextVar
from types import CellType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.core.array.adapted import callers_for, followed, rounding
from gradwrap.core.calls.loop import first_example
from gradwrap.core.levels.levels import is_differentiating, newest_level, silent_up_to
from gradwrap.core.levels.modes import equalities
from gradwrap.core.levels.wrapper import holds_batch, is_recorded
from gradwrap.core.observing.callers import MARK
from gradwrap.core.observing.code import frame_of
from gradwrap.core.observing.comparing import solvers
from gradwrap.core.observing.pausing import paused
from gradwrap.core.values.dynamic import attributes_of, type_of
from gradwrap.core.values.record import Record
from gradwrap.core.values.tree import flatten
from gradwrap.errors import SteeredNumberWarning, TrackedValueError

if TYPE_CHECKING:
    from collections.abc import Container, Iterator
    from types import CodeType, FrameType

STEPS = 8
"""So many steps, none longer than the one before, are taken for convergence."""
SHORTER = 0.2
"""The last one is shorter than this part of the first."""
CLOSER = 0.1
"""The last differences are smaller than this part of the first."""
NARROWER = 1e-3
"""The last differences, without a change of sign, are smaller than this part of the first."""
NEAR = 1e-7
"""Numbers that differ by less than this part of them are nearly equal."""
STEPPING = ("half", "place", "quotient", "whole")
"""Where operations jump that make a number a whole one, or a place."""
SAMPLES = 8
"""So many elements of arrays that are compared are looked at."""
MOST = 256
"""The visits after which a branch is no longer looked at."""
REMEDY = (
    "gradwrap.custom_root gives the root of an equation its derivative, gradwrap.fixed_point that "
    "of an iteration, and gradwrap.numerical(f) takes the derivative of the function f that "
    "searches by differences."
)


class Branch:
    """The visits to a branch on a comparison."""

    def __init__(self, names: frozenset[str]) -> None:
        self.names: frozenset[str] = names
        """The names that are assigned there."""
        self.visits: int = 0
        self.values: dict[str, float] = {}
        self.steps: list[float] = []
        self.ways: list[bool] = []

    def visit(self, names: dict[str, Any], way: bool) -> bool:
        """Note the plain numbers before the branch goes a way; tell if they converge."""
        self.visits += 1
        plain = {name: names[name] for name in self.names if type_of(names.get(name)) in NUMBERS}
        step = sum(abs(plain[name] - self.values[name]) for name in plain if name in self.values)
        is_longer = not 0.0 < step <= (self.steps[-1] if self.steps else step)
        self.values = plain
        self.steps = [] if is_longer else [*self.steps, step][-STEPS:]
        self.ways = [*self.ways, way][-len(self.steps) - 1 :]
        if len(self.steps) < STEPS or len(set(self.ways)) < 2:
            return False
        if self.steps[-1] > SHORTER * self.steps[0] or len(set(self.steps)) < STEPS // 2:
            return False
        self.visits, self.steps = 0, []
        return True


NUMBERS = (float, np.float64)
VALUES = frozenset({float, int, np.float64, np.ndarray})
PLAIN = (*NUMBERS, int, bool, str, bytes, type(None), ModuleType, type)
KEPT = 4096
"""The most branches that are kept in mind."""
DEEPEST = 20
"""So many functions are kept in mind that run where a number is found."""
DEPTH = 4
"""So deep are the objects searched for tracked values that a test names."""
_branches: dict[tuple[CodeType, int], Branch] = {}
warned_lines: set[tuple[CodeType, int]] = set()
is_checked: ContextVar[bool] = ContextVar("gradwrap_steered_checked", default=False)
"""Whether the running call compares its derivative with differences if a number is found so."""


class Found(Record):
    """A line that has steered a plain number to a limit."""

    code: CodeType
    line: int
    module: str
    is_sure: bool
    """Whether what was seen there is a search. If not, two numbers were equal, or nearly so."""
    made: str = ""
    """What was made of a tracked value there, from which code may read numbers: "bytes", "text" or
    "whole"; "" for what comparisons have shown."""
    stack: tuple[tuple[CodeType, dict[str, Any], int], ...] = ()
    """The adapted code that runs there, with its globals and lines, from the inside out."""

    @classmethod
    def at(cls, frame: FrameType, is_sure: bool = True, made: str = "") -> Found:
        """Return the line of a frame."""
        module = str(frame.f_globals.get("__name__", "code"))
        return cls(frame.f_code, frame.f_lineno, module, is_sure, made, _stack_at(frame))

    def __str__(self) -> str:
        return f"in {self.code.co_name} ({self.module}, line {self.line})"

    @property
    def finding(self) -> str:
        """What was found, as the beginning of a message."""
        if self.is_sure:
            found = f"a number was found {self} by comparisons of tracked values alone"
            return f"{found}, as in a bisection"
        match self.made:
            case "bytes":
                return (
                    f"bytes were made of a tracked array {self}, and the code finds by them what "
                    "an earlier call has kept, or reads numbers from them"
                )
            case "text":
                return (
                    f"text was made of a tracked value {self}, and the code reads numbers from it, "
                    "or finds by it what an earlier call has kept"
                )
            case "whole":
                return (
                    f"a tracked value was made a whole number {self}, as by int(x), x // y or the "
                    "place of an element, and the steps of the result are so small that it seems "
                    "to have a slope"
                )
            case _:
                pass
        return (
            f"a tracked value was compared {self} with a number that it equals, or nearly so, as "
            "at the end of a search, in a branch for one point, or where code keeps the arguments "
            "of its last call"
        )

    def warn(self) -> None:
        """Warn, once for each line."""
        if (self.code, self.line) in warned_lines:
            return
        warned_lines.add((self.code, self.line))
        warnings.warn_explicit(
            f"{self.finding}. It has no derivative. Fix: {REMEDY}",
            SteeredNumberWarning,
            self.code.co_filename,
            self.line,
            module=self.module,
        )


found_at: ContextVar[Found | None] = ContextVar("gradwrap_steered", default=None)
"""The line that did so last."""


def note_branch(frame: FrameType, way: bool) -> None:
    """Note that code branches on a comparison; warn if it finds a plain number by that."""
    key = frame.f_code, frame.f_lasti
    branch = _branches.get(key)
    if branch is None:
        if len(_branches) >= KEPT:  # of code that is made again and again
            _branches.clear()
        with paused():
            branch = _branches[key] = Branch(_assigned_at(frame))
    if not branch.names or branch.visits > MOST:
        return
    if not branch.visit(frame.f_locals, way) or silent_up_to() >= newest_level():
        return
    if not any(_is_tracked(value, DEPTH) for value in _named_at(frame)):
        return
    found = Found.at(frame)
    found_at.set(found)
    if not is_checked.get():
        found.warn()


class Searches:
    """The comparisons in adapted code while one function runs."""

    def __init__(self, known: Container[str] = ()) -> None:
        self._known = known
        """The places that were found in an earlier run, whose results were right."""
        self.places: set[str] = set()
        """The places that were found."""
        self.found: dict[str, Found] = {}
        """What was found there."""
        self._rests: dict[tuple[CodeType, int], list[list[float]]] = {}
        """By place: by how much operands differed, in the last comparisons."""
        self._firsts: dict[tuple[CodeType, int], float] = {}
        """By place: by how much they differed at most, in the first comparisons."""
        self._visits: Counter[tuple[CodeType, int]] = Counter()
        self._is_sure = False
        self._made: dict[tuple[CodeType, int], Found | None] = {}
        """By place: where bytes, text or a whole number were made of a tracked value."""
        self.rounded: dict[str, None] = {}
        """The lines that rounded a tracked number to decimals, without a derivative."""
        self._is_through = False
        """Whether the code has other derivatives than its values: of rounded numbers, or none."""

    def look(self, jumps: str, left: Any, right: Any = 0.0) -> None:
        """Note an operation on a tracked value that jumps where a difference of numbers is zero."""
        if jumps == "sign":
            jumps, right = "order", 0.0
        is_plain = type_of(left) in VALUES and type_of(right) in VALUES
        is_example = not is_plain and holds_batch([left, right])
        if is_example:
            left, right = first_example(left), first_example(right)
            is_plain = type_of(left) in VALUES and type_of(right) in VALUES
        if not is_plain:
            if jumps == "equality" and left is not right:
                self._ask_in_calls(left, right)
            return
        frame = adapted_frame()
        if frame is None:
            return
        if jumps in STEPPING:
            self.note_made("whole")
        key = frame.f_code, ~frame.f_lasti if is_example else frame.f_lasti
        self._visits[key] += 1
        is_array = type_of(left) is np.ndarray or type_of(right) is np.ndarray
        is_early = self._visits[key] <= MOST
        if is_array and not is_early:
            return
        if is_array:
            rests, is_tie = _of_arrays(jumps, left, right, is_loop=self._visits[key] > 2 * STEPS)
        else:
            rests, is_tie = _of_numbers(jumps, left, right)
        is_sure = is_early and self._alternates(key, rests)
        is_tie = (is_tie and jumps not in STEPPING) or (is_early and self._narrows(key))
        if (is_sure or is_tie) and silent_up_to() < newest_level():
            self._keep(Found.at(frame, is_sure))

    def _keep(self, place: Found) -> None:
        """Keep a place that was found, and let the call know unless its results were right."""
        if str(place) not in self._known and (place.is_sure or not self._is_sure):
            self._is_sure = place.is_sure
            found_at.set(place)
        if place.is_sure or str(place) not in self.places:
            self.found[str(place)] = place
        self.places.add(str(place))

    def note_made(self, made: str) -> None:
        """Note that code makes bytes, text or a whole number of a tracked value.

        A number that is rounded to decimals is no whole one.
        """
        frame = adapted_frame()
        if frame is None or silent_up_to() >= newest_level():
            return
        place = frame.f_code, frame.f_lasti
        self._is_through |= made == "stopped"
        if made == "rounded":
            self._made[place] = None
            self._is_through |= rounding.get() == "through" or bool(followed.get())
        elif made != "stopped" and place not in self._made:
            is_read = made != "text" or not _is_shown(frame)
            self._made[place] = Found.at(frame, is_sure=False, made=made) if is_read else None

    def forget_made(self) -> None:
        """Forget the text and whole numbers by which code finds what it keeps."""
        made = self._made.items()
        self._made = {at: one for at, one in made if one is None or one.made == "bytes"}

    @property
    def made(self) -> list[Found]:
        """Where numbers may be read of what was made of tracked values.

        A place whose result was right is no longer one of them, except where bytes were made: what
        code finds by them depends on earlier calls.
        """
        made = [one for one in self._made.values() if one is not None]
        bytes_alone = self._is_through
        return [
            one
            for one in made
            if one.made == "bytes" or not (bytes_alone or str(one) in self._known)
        ]

    def _ask_in_calls(self, left: Any, right: Any) -> None:
        """Let a program that is traced ask if values are equal, about which nothing is known."""
        ask = equalities.get()
        frame = None if ask is None else adapted_frame()
        if ask is None or frame is None or silent_up_to() >= newest_level():
            return
        if str(Found.at(frame, False)) not in self._known:
            ask(left, right)

    def _alternates(self, key: tuple[CodeType, int], rests: list[float]) -> bool:
        """Tell if differences come closer and closer to zero from both sides."""
        last = self._rests.setdefault(key, [])
        last.append(rests)
        if self._visits[key] <= 3:
            self._firsts[key] = max(self._firsts.get(key, 0.0), *map(abs, rests), 0.0)
        if len(last) < STEPS:
            return False
        is_found = any(map(_closes_in, zip(*last, strict=False)))
        del last[: STEPS if is_found else 1]
        return is_found

    def _narrows(self, key: tuple[CodeType, int]) -> bool:
        """Tell if the last differences are far smaller than the first."""
        last, limit = self._rests[key][-3:], NARROWER * self._firsts[key]
        if self._visits[key] <= 4 or not last or not last[-1] or abs(last[-1][0]) >= limit:
            return False
        return all(abs(one) < limit for some in last for one in some)


def _of_numbers(jumps: str, left: Any, right: Any) -> tuple[list[float], bool]:
    """Return the difference that decides what an operation gives, and if it is as good as zero."""
    number, other = float(left), float(right)
    if jumps in STEPPING:
        if jumps == "quotient":
            number = number / other if other else math.nan
        if not math.isfinite(number):
            return [math.nan], False
        return [number - (math.floor(number) + 0.5 if jumps == "half" else round(number))], False
    rest = number - other
    is_tolerance = abs(rest) <= NEAR and not (number and other)
    return [rest], is_tolerance or abs(rest) <= NEAR * abs(number)


def _of_arrays(jumps: str, left: Any, right: Any, *, is_loop: bool) -> tuple[list[float], bool]:
    """Return some differences of arrays, and if all are zero, or in a long loop one nearly so."""
    if "c" in (np.asarray(left).dtype.kind, np.asarray(right).dtype.kind):
        return [], False
    values: Any = left
    with np.errstate(all="ignore"):
        match jumps:
            case "place":
                rests = np.ptp(values) if values.size else values
            case "whole":
                rests = values - np.rint(values)
            case "half":
                rests = values - np.floor(values) - 0.5
            case "quotient":
                values = values / right
                rests = values - np.rint(values)
            case _:
                rests = values - right
        flat = np.reshape(rests, -1)
        some: list[float] = flat[:: max(1, flat.size // SAMPLES)][:SAMPLES].tolist()
        # code asks for equal elements one by one, and for larger ones at kinks
        if not (flat.all() if jumps == "equality" else flat.any()):
            return some, bool(flat.size)
        is_near = is_loop and (rests != 0.0) & (np.abs(rests) <= NEAR * np.abs(values))
    return some, bool(np.any(is_near))


def _closes_in(rests: tuple[float, ...]) -> bool:
    """Tell if differences, the last ones of some, have both signs and shrink."""
    a, b, c = map(abs, rests[:3])
    limit = CLOSER * (a if a > b and a > c else max(b, c))
    if abs(rests[-1]) > limit or abs(rests[-2]) > limit or abs(rests[-3]) > limit:
        return False
    return min(rests) <= 0.0 < max(rests)


def adapted_frame() -> FrameType | None:
    """Return the frame of adapted code that compares; None if a rule or a solver of ours does."""
    frame: FrameType | None = frame_of(1)
    while frame is not None and MARK not in frame.f_globals:
        name = str(frame.f_globals.get("__name__", ""))
        is_between = name.startswith("gradwrap.") and not name.startswith((*solvers,))
        frame = frame.f_back if is_between or frame.f_code in callers_for else None
    return frame


def _stack_at(frame: FrameType | None) -> tuple[tuple[CodeType, dict[str, Any], int], ...]:
    """Return the adapted code that runs in a frame and in its callers."""
    found: list[tuple[CodeType, dict[str, Any], int]] = []
    while frame is not None and len(found) < DEEPEST:
        if MARK in frame.f_globals:
            found.append((frame.f_code, frame.f_globals, frame.f_lineno))
        frame = frame.f_back
    return tuple(found)


def check_steered(out: object) -> None:
    """Refuse a result that depends on nothing tracked, after a number was found by comparisons."""
    found = found_at.get()
    if found is not None and not is_recorded(out):
        raise TrackedValueError(
            f"{found.finding}, and the result depends on nothing tracked: a gradient would be "
            f"zero. Fix: {REMEDY}"
        )


def branch_of(value: Any) -> bool:
    """Return the truth of a value, and note the branch on it."""
    way = bool(value)
    if is_differentiating():
        note_branch(sys._getframe(2), way)  # pyright: ignore[reportPrivateUsage]  # documented, private by its name alone
    return way


def _is_shown(frame: FrameType) -> bool:
    """Tell if a frame makes text only to show it."""
    from gradwrap.core.observing.called import is_shown  # slow to import, and needed for few

    return is_shown(frame)


def _named_at(frame: FrameType) -> Iterator[Any]:
    """Yield the values of a function's variables, and the functions that it calls."""
    known = {**frame.f_globals, **frame.f_locals}
    code = frame.f_code
    names = set(code.co_varnames) | set(code.co_cellvars) | set(code.co_freevars)
    called = (name for name in code.co_names if callable(known.get(name)))
    yield from (known[name] for name in [*names, *called] if name in known)


def _is_tracked(value: Any, depth: int) -> bool:
    """Tell if a value is tracked, or holds a tracked one: in containers, closures, attributes."""
    if not depth or type_of(value) in PLAIN:
        return False
    leaves = flatten(value)[0]
    if is_recorded(leaves):
        return True
    for leaf in leaves:
        cells = getattr(leaf, "__closure__", None) or ()
        inner = [cell.cell_contents for cell in cells if type_of(cell) is CellType]
        inner += [getattr(leaf, "__self__", None), *attributes_of(leaf).values()]
        if any(_is_tracked(one, depth - 1) for one in inner):
            return True
    return False


def _assigned_at(frame: FrameType) -> frozenset[str]:
    """Return the names that the statement at the line of a frame assigns, with its branches."""
    import ast  # slow to import, and needed for few functions

    line = frame.f_lineno - frame.f_code.co_firstlineno + 1
    found: Any = None
    for node in _branching(frame):
        if isinstance(node, (ast.If, ast.While)):
            is_at = node.lineno <= line <= (node.test.end_lineno or line)
        else:  # with a conditional expression
            is_at = found is None and node.lineno <= line <= (node.end_lineno or line)
        found = node if is_at else found  # the innermost is visited last
    names = (node for node in ast.walk(found) if isinstance(node, ast.Name)) if found else ()
    return frozenset(node.id for node in names if isinstance(node.ctx, ast.Store))


def _branching(frame: FrameType) -> list[Any]:
    """Return the statements of a function that may branch, with the inner ones last."""
    import ast  # slow to import, and needed for few functions

    from gradwrap.core.observing.caches import syntax_of

    if frame.f_code not in _statements:
        if len(_statements) >= FEW:
            _statements.clear()
        function = syntax_of(frame.f_code, frame.f_globals)
        nodes = ast.walk(function) if function is not None else ()
        kinds = (ast.If, ast.While, ast.Assign)
        _statements[frame.f_code] = [node for node in nodes if isinstance(node, kinds)]
    return _statements[frame.f_code]


FEW = 64
_statements: dict[CodeType, list[Any]] = {}
"""The statements of the functions that were asked for last, of which `FEW` are kept."""
