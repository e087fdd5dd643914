"""A trace: one run of a function on arrays that record their operations."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from copy import deepcopy
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from gradwrap.backends.numpy.arithmetic import modes
from gradwrap.compiler.ir.operations import NAMES, OPAQUE
from gradwrap.compiler.ir.program import zeros
from gradwrap.compiler.tracing.backend import NUMPY
from gradwrap.compiler.tracing.callbacks import call_with_callbacks, has_callback
from gradwrap.compiler.tracing.floats import entered as float_input
from gradwrap.compiler.tracing.namespace import current, holds_tracer
from gradwrap.compiler.tracing.surroundings.watch import flat, held
from gradwrap.compiler.tracing.tape import (
    MOST,
    NUMBER,
    Library,
    Tape,
    Tied,
    TooLong,
    Unhandled,
    Weak,
    in_line,
)
from gradwrap.compiler.tracing.tracer import Tracer
from gradwrap.core.array.variable import variable_class
from gradwrap.core.levels.levels import current_watch, differentiating
from gradwrap.core.levels.modes import equalities, foreign_calls, new_arrays, outer_arrays
from gradwrap.core.levels.wrapper import AnyWrapper, make_wrapper
from gradwrap.core.library.buffers import PACKAGE
from gradwrap.core.observing.holders import parts_held
from gradwrap.core.values.dynamic import TUPLE, type_of
from gradwrap.core.values.tree import TreeDef, flatten, unflatten

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from gradwrap.compiler.ir.program import Guard, Instr, Value
    from gradwrap.compiler.tracing.tape import Watch


def _is_found(path: str) -> bool:
    """Tell if a dotted name leads to an object, so that source can name it."""
    package, *names = path.split(".")
    found: Any = sys.modules.get(package)
    for name in names:
        found = getattr(found, name, None)
    return found is not None


class Around(Protocol):
    """The surroundings of a function, as a trace uses them."""

    @property
    def sets_errors(self) -> bool:
        """Tell if code sets NumPy's handling of floating point errors."""
        ...

    @property
    def replaces(self) -> bool:
        """Tell if there is something to replace."""
        ...

    tells_same: bool
    """Whether code tests two values for identity."""

    @property
    def watch(self) -> Watch | None:
        """Return what gives user code the lengths of arrays."""
        ...

    def with_arrays(
        self, leaves: Sequence[Any], enter: Callable[[Any], Any]
    ) -> tuple[Callable[..., Any], Sequence[Any]]:
        """Return the function and the leaves of its arguments with arrays replaced by `enter`."""
        ...


class Traced(NamedTuple):
    """The record of one run."""

    instrs: list[Instr]
    guards: list[tuple[int, Guard, Any]]
    """Each guard with the number of instructions before it, and its outcome."""
    values: list[Value]
    inputs: tuple[int, ...]
    constants: dict[int, Any]
    """The arrays of the surroundings: copies made when they were used."""
    originals: dict[int, Any]
    """By constant: the original array, if its content is still the same."""
    sealed: frozenset[int]
    """The constants whose values code has looked into."""
    readers: dict[int, str | None]
    """By constant: the module that used it first; None for a rule."""
    leaves: tuple[Any, ...]
    """The leaves of the result; behind them, if it `asks`, the number of equal values."""
    tree: TreeDef
    results: tuple[Any, ...]
    """The leaves of the result, as values of this run."""
    quiet: frozenset[str]
    """The kinds of floating point errors that NumPy was told to ignore somewhere."""
    floats: tuple[int, ...]
    """The leaves of the result that the function returns as Python floats."""
    asks: bool
    """Whether values that are not to be equal were compared."""
    tape: Tape | None
    """The tape, with the results of operations, until the second run has used them."""

    def without_arrays(self) -> Traced:
        """Return the record without arrays, which may be those of the caller."""
        return self._replace(constants={}, originals={}, results=(), tape=None)


def is_transform(function: Any) -> bool:
    """Tell if a function is the result of a transform, which wraps its arguments itself."""
    while isinstance(function, partial):
        function = function.func
    code: Any = getattr(function, "__code__", None)
    return code is not None and code.co_filename.startswith(f"{PACKAGE}/transforms/")


class WithHolders:
    """A function with objects that hold arrays among its arguments, such as sparse matrices.

    Two of them are equal if the objects have the same value.
    """

    def __init__(self, function: Callable[..., Any], kept: Sequence[Any]) -> None:
        self.function = function
        self.kept = kept
        """The arguments that are such objects; None stands for each of the others."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        rest = iter(args)
        given = [next(rest) if one is None else one for one in self.kept]
        found = self.function(*given, **kwargs)
        if type_of(found) is TUPLE:  # the state of a solver is an integer
            return tuple(np.int64(part) if type_of(part) is int else part for part in found)
        return found

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, WithHolders) or self.function != other.function:
            return False
        pairs = zip_longest(self.kept, other.kept)
        return all(one is two or held(one) == held(two) for one, two in pairs)

    def __hash__(self) -> int:
        return hash((WithHolders, self.function))


@contextmanager
def _tracing(tape: Tape) -> Generator[None]:
    def enter(array: Any) -> Any:
        """Return a new array of floats as a tracer, so that tracked values can be written to it."""
        if type(array) is not tape.library.kind:
            return array
        if array.size and not in_line(array).view(np.uint8).any():
            made = tape.record(zeros, "zeros", (array.shape, array.dtype))
            return tape.library.backend.laid_out(made, array)
        constant: Any = tape.library.tracer(array, tape.constant(array).index, tape)
        tape.made.add(constant.index)
        return constant.__copy__()

    def outer(array: Any) -> Any:
        """Return a caller's array of floats as a tracer, which is read at each call."""
        is_own = type(array) is tape.library.kind and array.dtype.kind in "fc"
        return tape.entered(array) if is_own else array

    def perform(function: Any, name: str, args: Any, kwargs: Any) -> Any:
        """Call a function of another package; on tracers the call is recorded as one operation."""
        if has_callback(args, kwargs):
            return call_with_callbacks(tape, function, name, args, kwargs)
        is_named = name in NAMES or name.startswith(OPAQUE) or _is_found(name)
        if not is_named or not holds_tracer((args, tuple(kwargs.values()))):
            return function(*args, **kwargs)
        kept = [None if parts_held(arg) is None else snapshot(arg) for arg in args]
        if any(arg is not None for arg in kept):
            args = tuple(arg for arg, one in zip(args, kept, strict=True) if one is None)
            function, name = WithHolders(function, kept), f"{OPAQUE}{name.rpartition('.')[2]}"
        return tape.record(function, name, args, kwargs)

    snapshots: dict[int, tuple[Any, Any]] = {}

    def snapshot(holder: Any) -> Any:
        """Return a copy of an object that holds arrays, which the function may write to later."""
        known = snapshots.get(id(holder))
        if known is None or held(known[1]) != held(holder):
            for part in flat(parts_held(holder)):
                if isinstance(part, tape.library.kind):
                    tape.constant(part)  # it must be watched
            known = snapshots[id(holder)] = holder, deepcopy(holder)
        return known[1]

    token = current.set(tape)
    outside = new_arrays.set(enter)
    around = outer_arrays.set(outer)
    before = foreign_calls.set(perform)
    compared = equalities.set(tape.ask)
    try:
        yield
    finally:
        equalities.reset(compared)
        foreign_calls.reset(before)
        outer_arrays.reset(around)
        new_arrays.reset(outside)
        current.reset(token)


def trace(
    function: Callable[..., Any],
    leaves: Sequence[Any],
    treedef: TreeDef,
    given: Sequence[bool] | None = None,
    surroundings: Around | None = None,
    library: Library = NUMPY,
    first: Traced | None = None,
    most: int = MOST,
    tape: Tape | None = None,
) -> Traced:
    """Run a function on tracers that replace its input leaves and the arrays it reads.

    `given` tells which leaves are inputs: by default all that the library accepts as inputs.
    `first` is an earlier run on the same arguments. Where this run repeats an operation, the
    instruction and the result of the first run are used again. Lines of the user's code are then
    not recorded. `most` is the most operations that it may perform. `tape` records it in place of a
    new tape.

    Raises
    ------
    Unhandled
        The function does something that cannot be compiled.
    TooLong
        It performs more than `most` operations.
    """
    if current_watch() is not None:
        raise Unhandled("a watch (detect_anomaly, saved_tensors_hooks, ...) is on")
    given = [*map(library.is_input, leaves)] if given is None else given
    tape = tape or Tape(library, None if first is None else first.tape, most)
    if surroundings is not None and surroundings.sets_errors:
        tape.errors = modes()
    if surroundings is not None:
        tape.watch = surroundings.watch
    backend = library.backend
    wraps = not is_transform(function)
    tracers: list[tuple[Tracer, int, Any]] = []
    inputs: list[int] = []
    entered: Any = []
    known: dict[int, Any] = {}
    for leaf, is_given in zip(leaves, given, strict=True):
        if not is_given:
            entered.append(leaf)
            continue
        if type(leaf) is float:
            entered.append(float_input(leaf, tape))
            inputs.append(entered[-1].index)
            continue
        tracer = tape.given(leaf)
        inputs.append(tracer.index)
        tracers.append((tracer, tracer.index, leaf))
        made = make_wrapper(variable_class(backend), tracer) if wraps else tracer
        is_once = isinstance(leaf, NUMBER) or surroundings is None or not surroundings.tells_same
        entered.append(made if is_once else known.setdefault(id(leaf), made))
    if surroundings is not None and surroundings.replaces:
        function, entered = surroundings.with_arrays(entered, tape.entered)
    args, kwargs = unflatten(treedef, entered)
    with _tracing(tape):
        try:
            with differentiating(wraps):
                out = function(*args, **kwargs)
            handed, tree = flatten(out)
            found = tuple(_handed_out(leaf, tape) for leaf in handed)
            ties = None if tape.refused else tape.ties()
        except Exception as error:
            if tape.refused:
                raise _refusal(tape) from error
            raise
    if tape.refused:
        raise _refusal(tape)
    if any(tape.is_cut(index) for step in tape.instrs for index in step.reads):
        raise Unhandled("it uses what a function has kept that a solver called")
    for tracer, index, leaf in tracers:
        if tracer.index != index or tracer.value is not leaf:
            raise Unhandled("it writes to an argument. Fix: write to a copy of it")
    if any(tracer.index != index for tracer, index in tape.around):
        raise Unhandled("it writes to an array of its surroundings. Fix: write to a copy of it")
    for wrapper in entered:
        if isinstance(wrapper, AnyWrapper) and (
            not isinstance(wrapper._value, Tracer) or wrapper._value.index not in inputs
        ):
            raise Unhandled("it writes to an argument. Fix: write to a copy of it")
    asked = () if ties is None else (tape.recorded(ties),)
    if ties is not None and ties.value:
        raise Tied("it compares values that are equal there")
    return Traced(
        tape.instrs,
        tape.guards,
        tape.values,
        tuple(inputs),
        tape.constants,
        tape.originals(),
        frozenset(tape.sealed),
        tape.readers,
        (*(leaf for leaf, _ in found), *asked),
        tree,
        tuple(real for _, real in found),
        frozenset(tape.quiet),
        tuple(place for place, leaf in enumerate(handed) if isinstance(leaf, Weak)),
        bool(asked),
        tape,
    )


def _refusal(tape: Tape) -> Unhandled:
    return (TooLong if tape.is_too_long else Unhandled)(tape.refused)


def _handed_out(leaf: Any, tape: Tape) -> tuple[Any, Any]:
    """Return a leaf of the result as the program names it, and its value in this run."""
    while isinstance(leaf, AnyWrapper):
        leaf = leaf._value
    if isinstance(leaf, Tracer) and leaf.tape is not tape:
        raise tape.refuse("an array of another trace is returned")
    if isinstance(leaf, (Tracer, tape.library.kind)):
        return tape.recorded(leaf), tape.real(leaf)
    if leaf is None or isinstance(leaf, (str, bytes, int, float, complex, bool, NUMBER, np.dtype)):
        return leaf, leaf
    raise tape.refuse(f"it returns a {type(leaf).__name__}")
