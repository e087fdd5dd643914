"""A run that only notes what enters operations: numbers of the user's code, and earlier results.

Numbers that Python computes, such as `t` in `x * t`, are constants of a program. A loop has one for
each of its turns. Results have serial numbers, since code may keep them where it likes, and take
any of them: `found[min(i, 75)]`.
"""

from __future__ import annotations

import time
from array import array
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

import numpy as np

from gradwrap.compiler.ir.program import NDARRAY, Ref
from gradwrap.compiler.tracing.run import trace
from gradwrap.compiler.tracing.tape import NUMBER, PASSES, Library, Tape
from gradwrap.core.observing.code import frame_of, is_of_arrays
from gradwrap.core.values.dynamic import LIST, SLICE, TUPLE, type_of
from gradwrap.transforms.reverse import differentiated

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import FrameType

    from gradwrap.compiler.tracing.run import Around, Traced
    from gradwrap.compiler.tracing.tape import Watch
    from gradwrap.core.values.tree import TreeDef

    Numbers = dict[tuple[int, str, int, int], list[float]]
    """The numbers and keys in the order of the run, by line of the user's code, operation,
    argument, and place in an array."""


class Notes(NamedTuple):
    """What a run noted."""

    numbers: Numbers
    contents: dict[tuple[int, str, int], list[tuple[Any, Any]]]
    """The first arrays among the arguments of an operation that differ from each other, each with a
    copy."""
    kinds: dict[tuple[int, str, int], int]
    """The numbers of kinds of operations, by line, name and number of the values that it reads."""
    steps: array[int]
    """The kind of each operation."""
    serials: array[int]
    """For each operation, the serial numbers of its result and of the values that it reads."""
    results: tuple[int, ...]
    """The serial numbers of the values that the function returned."""


LARGEST = 64
"""The most elements of an array that are noted one by one."""
WHOLE = -1
"""The place of a checksum of the whole array: equal arrays have equal ones."""
KEPT = 4
"""The most arrays that are kept of an argument of an operation."""
PYTHONS = (float, int, bool)
"""The numbers of Python that are noted."""
COMPLEX: tuple[type[Any], ...] = (complex, np.complexfloating)
OFTEN = 256
"""The clock is read once in so many operations."""


class Performing(Tape):
    """A tape that performs operations, and keeps no record of them."""

    def new(self, value: Any) -> Any:
        """Return the tracer of a value."""
        index = len(self.refs)
        self.refs.append(Ref(index))
        return self.library.tracer(value, index, self)

    def constant(self, found: Any) -> Ref:
        """Return the name of an array of the surroundings."""
        index = len(self.refs)
        self.refs.append(Ref(index))
        self.constants[index] = found
        return self.refs[index]

    def entered(self, found: Any) -> Any:
        """Return the tracer of an array of the surroundings: the program reads it as it is."""
        made = self.new(found)
        self.around.append((made, made.index))
        return made

    def is_made(self, index: int) -> bool:
        """Tell if a value is known to be the same in each call."""
        return False

    def look(self, kind: str, at: Any, found: Any) -> Any:
        """Refuse to tell a value, since code could branch on it."""
        raise self.refuse("it branches on values")

    def enter(
        self,
        fn: Callable[..., Any],
        name: str,
        recorded: tuple[Any, ...],
        keywords: tuple[tuple[str, Any], ...],
        result: Any,
        args: tuple[Any, ...] = (),
    ) -> Any:
        """Return the result of an operation as tracers."""
        if isinstance(result, (TUPLE, LIST)):
            parts = [self.new(part) for part in result]
            kind = type_of(result)
            return kind(*parts) if hasattr(kind, "_fields") else kind(parts)
        if not isinstance(result, (NDARRAY, NUMBER)):
            return result
        made = self.new(result)
        if isinstance(result, NDARRAY) and result.base is not None:
            made.shares = True
            for one in args:
                if hasattr(one, "shares"):
                    one.shares = True
        return made


class Noting(Performing):
    """A tape that performs operations, and keeps the numbers among their arguments alone."""

    def __init__(self, library: Library, seconds: float) -> None:
        super().__init__(library)
        self.found: Numbers = {}
        self.contents: dict[tuple[int, str, int], list[tuple[Any, Any]]] = {}
        self.kinds: dict[tuple[int, str, int], int] = {}
        self.steps: array[int] = array("q")
        self.serials: array[int] = array("q")
        self._end = time.perf_counter() + seconds
        self._of_arrays: dict[int, bool] = {}
        """By the identity of a module's variables: whether it is a library of arrays."""

    def is_made(self, index: int) -> bool:
        """Tell if a value is the same in each call."""
        return index in self.made

    def enter(
        self,
        fn: Callable[..., Any],
        name: str,
        recorded: tuple[Any, ...],
        keywords: tuple[tuple[str, Any], ...],
        result: Any,
        args: tuple[Any, ...] = (),
    ) -> Any:
        """Note the numbers among the arguments of an operation; return its result as tracers."""
        if not len(self.steps) % OFTEN and time.perf_counter() > self._end:
            self.is_too_long = True
            raise self.refuse("it takes too long")
        line = self._line()
        serials, constants = self.serials, self.constants
        before = len(serials)
        serials.append(len(self.refs))
        for place, leaf in enumerate((*recorded, *(leaf for _, leaf in keywords))):
            if type_of(leaf) is Ref and leaf.index not in constants:
                serials.append(leaf.index)
            else:
                self._note((line, name, place), leaf)
        if self.made.issuperset(serials[before + 1 :]):
            self.made.add(len(self.refs))
        key = (line, name, len(serials) - before)
        self.steps.append(self.kinds.setdefault(key, len(self.kinds)))
        return super().enter(fn, name, recorded, keywords, result, args)

    def _line(self) -> int:
        """Return the current line of the user's code; -1 in a backward pass."""
        frame: FrameType | None = frame_of(2)
        known = self._of_arrays
        while frame is not None:
            scope = id(frame.f_globals)
            if scope not in known:
                known[scope] = is_of_arrays(frame.f_globals.get("__name__") or "")
            if not known[scope]:
                return frame.f_lineno
            if frame.f_code.co_name in PASSES:
                break
            frame = frame.f_back
        return -1

    def _note(self, key: tuple[int, str, int], leaf: Any) -> None:
        kind = type_of(leaf)
        if isinstance(leaf, COMPLEX):
            self._note(key, (leaf.real, leaf.imag))
        elif kind in PYTHONS or isinstance(leaf, NUMBER):
            self.found.setdefault((*key, 0), []).append(float(leaf))
        elif kind is Ref and leaf.index not in self.constants:
            self.serials.append(leaf.index)
        elif kind is Ref:
            found = self.constants[leaf.index]
            if found.dtype.kind in "fiu" and found.size <= LARGEST:
                for place, number in enumerate(found.ravel().tolist()):
                    self.found.setdefault((*key, place), []).append(number)
            content: Any = np.ascontiguousarray(found).view(np.uint8)
            checksums = self.found.setdefault((*key, WHOLE), [])
            number = crc32(content)
            kept = self.contents.setdefault(key, [])
            if len(kept) <= KEPT and number not in checksums:
                kept.append((found, found.copy()))
            checksums.append(number)
        elif kind is SLICE:
            self._note(key, (leaf.start, leaf.stop, leaf.step))
        elif kind is TUPLE or kind is LIST:
            for place, part in enumerate(leaf):
                self._note((key[0], f"{key[1]}.{key[2]}", place), part)


class _Primal:
    """The surroundings of the function that a gradient differentiates."""

    def __init__(self, around: Around) -> None:
        self._around = around
        self.sets_errors: bool = False
        self.replaces: bool = True
        self.tells_same: bool = around.tells_same
        self.watch: Watch | None = around.watch

    def with_arrays(
        self, leaves: Sequence[Any], enter: Callable[[Any], Any]
    ) -> tuple[Callable[..., Any], Sequence[Any]]:
        """Return the function and the leaves of its arguments, with arrays replaced by `enter`."""
        function, entered = self._around.with_arrays(leaves, enter)
        return primal(function), entered


def primal(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return what a gradient differentiates; other functions unchanged."""
    of = differentiated(function)
    return function if of is None else of.fun


def performed(
    function: Callable[..., Any],
    leaves: Sequence[Any],
    treedef: TreeDef,
    given: Sequence[bool],
    around: Around,
    tape: Performing,
) -> Traced:
    """Run a function, or what a gradient differentiates, on a tape that records nothing."""
    if differentiated(function) is not None:  # it is given arrays in place of Python's floats
        leaves = [np.float64(leaf) if type_of(leaf) is float else leaf for leaf in leaves]
    around, library = _Primal(around), tape.library
    return trace(primal(function), leaves, treedef, given, around, library, tape=tape)


def noted(
    function: Callable[..., Any],
    leaves: Sequence[Any],
    treedef: TreeDef,
    given: Sequence[bool],
    around: Around,
    library: Library,
    seconds: float,
) -> Notes:
    """Run a function, and return what enters its operations.

    Raises
    ------
    TooLong
        It takes longer than it may.
    """
    tape = Noting(library, seconds)
    traced = performed(function, leaves, treedef, given, around, tape)
    results = tuple([leaf.index for leaf in traced.leaves if type_of(leaf) is Ref])
    return Notes(tape.found, tape.contents, tape.kinds, tape.steps, tape.serials, results)
