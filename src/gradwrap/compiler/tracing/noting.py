"""A run that only notes which numbers of the user's code enter operations, such as `t` in `x * t`.

Numbers that Python computes are constants of a program. A loop has one for each of its turns.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from gradwrap.compiler.ir.program import NDARRAY, Ref
from gradwrap.compiler.tracing.run import trace
from gradwrap.compiler.tracing.tape import NUMBER, Library, Tape
from gradwrap.core.values.dynamic import LIST, SLICE, TUPLE, type_of
from gradwrap.transforms.reverse import differentiated

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.compiler.tracing.run import Around
    from gradwrap.core.values.tree import TreeDef

    Notes = dict[tuple[int, str, int, int], list[float]]
    """The numbers and keys in the order of the run, by line of the user's code, operation,
    argument, and place in an array."""

LARGEST = 64
"""The most elements of an array that are noted one by one."""
WHOLE = -1
"""The place of a checksum, which is noted of other arrays: equal arrays have equal ones."""
PYTHONS = (float, int, bool)
"""The numbers of Python that are noted."""
COMPLEX: tuple[type[Any], ...] = (complex, np.complexfloating)
OFTEN = 256
"""The clock is read once in so many operations."""


class Noting(Tape):
    """A tape that performs operations, and keeps the numbers among their arguments alone."""

    def __init__(self, library: Library, seconds: float) -> None:
        super().__init__(library)
        self.found: Notes = {}
        self._end = time.perf_counter() + seconds
        self._performed: int = 0
        self.refs.append(Ref(0))

    def new(self, value: Any) -> Any:
        """Return the tracer of a value."""
        return self.library.tracer(value, 0, self)

    def constant(self, found: Any) -> Ref:
        """Return the name of an array of the surroundings."""
        index = len(self.refs)
        self.refs.append(Ref(index))
        self.constants[index] = found
        return self.refs[index]

    def is_made(self, index: int) -> bool:
        """Return False: the operations that a value depends on are not kept."""
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
        """Note the numbers among the arguments of an operation; return its result as tracers."""
        self._performed += 1
        if not self._performed % OFTEN and time.perf_counter() > self._end:
            self.is_too_long = True
            raise self.refuse("it takes too long")
        line = 0
        for place, leaf in enumerate((*recorded, *(leaf for _, leaf in keywords))):
            kind = type_of(leaf)
            if kind is not Ref or leaf.index:
                if not line:
                    frame = self._userframe_of(40)
                    line = -1 if frame is None else frame.f_lineno
                self._note((line, name, place), leaf)
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

    def _note(self, key: tuple[int, str, int], leaf: Any) -> None:
        kind = type_of(leaf)
        if isinstance(leaf, COMPLEX):
            self._note(key, (leaf.real, leaf.imag))
        elif kind in PYTHONS or isinstance(leaf, NUMBER):
            self.found.setdefault((*key, 0), []).append(float(leaf))
        elif kind is Ref and leaf.index:
            array = self.constants[leaf.index]
            if array.dtype.kind in "fiu" and array.size <= LARGEST:
                for place, number in enumerate(array.ravel().tolist()):
                    self.found.setdefault((*key, place), []).append(number)
            else:
                content: Any = np.ascontiguousarray(array).view(np.uint8)
                self.found.setdefault((*key, WHOLE), []).append(crc32(content))
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
        self.watch = None

    def with_arrays(
        self, leaves: Sequence[Any], enter: Callable[[Any], Any]
    ) -> tuple[Callable[..., Any], Sequence[Any]]:
        """Return the function and the leaves of its arguments. Arrays around it stay plain."""
        function, entered = self._around.with_arrays(leaves, lambda array: array)
        return primal(function), entered


def primal(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return what a gradient differentiates; other functions unchanged."""
    of = differentiated(function)
    return function if of is None else of.fun


def noted(
    function: Callable[..., Any],
    leaves: Sequence[Any],
    treedef: TreeDef,
    given: Sequence[bool],
    around: Around,
    library: Library,
    seconds: float,
) -> Notes:
    """Run a function, and return the numbers of its code that enter operations.

    Raises
    ------
    TooLong
        It takes longer than it may.
    """
    tape = Noting(library, seconds)
    if differentiated(function) is not None:  # it is given arrays in place of Python's floats
        leaves = [np.float64(leaf) if type_of(leaf) is float else leaf for leaf in leaves]
    trace(primal(function), leaves, treedef, given, _Primal(around), library, tape=tape)
    return tape.found
