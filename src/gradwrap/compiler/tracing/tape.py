"""The tape: the record of a trace, with operations, the values they define, and guards.

A `Tape` performs each operation on the real values, and records it. It knows which arrays come
from the surroundings, and the line of the user's code of each operation. A `Library` says which
arrays are traced; their tracers are in `tracer.py`.
"""

from __future__ import annotations

import weakref
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from gradwrap.backends.numpy.arithmetic import modes
from gradwrap.compiler.ir.layout import order_of
from gradwrap.compiler.ir.operations import OPAQUE, OPERATIONS
from gradwrap.compiler.ir.program import (
    NDARRAY,
    Guard,
    Instr,
    Ref,
    Value,
    is_literal,
    item,
    mapped,
    refs,
    same_nest,
)
from gradwrap.core.array.steered import VALUES
from gradwrap.core.levels.wrapper import AnyWrapper
from gradwrap.core.observing.callers import MARK, is_never_adapted
from gradwrap.core.observing.code import (
    ARRAYS,
    frame_of,
    is_installed,
    is_of_arrays,
    module_of,
    package_of,
)
from gradwrap.core.values.dynamic import LIST, TUPLE, attributes_of, type_of
from gradwrap.errors import NonDifferentiableInputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import CodeType, FrameType
    from typing import Literal

    Owner = Literal["user", "library", "pass"]

NUMBER: type[Any] = np.generic
INTEGER: type[Any] = np.integer
LITERALS: tuple[type[Any], ...] = (int, float, complex, str, type, np.dtype, NUMBER)
"""The types of literal arguments of operations, beside None and the ellipsis."""
FIXED: tuple[type[Any], ...] = (str, type(None), np.dtype, ModuleType)
"""The types of attributes of results that are alike in each call."""
PASSES = frozenset({"backward_pass", "thorough_pass"})
"""The names of the functions of gradwrap that perform backward passes."""
NUMERIC = "biufc"
MOST = 1 << 18
"""The longest trace, in operations."""
MOST_KEPT = 1 << 28
"""The most bytes of results that a run keeps for a second one."""
SMALL = 1 << 10
"""The most bytes of a result that is kept in any case, since code may branch on it.

A view is not, since it would keep a large array from being written in place.
"""


class Unhandled(Exception):  # noqa: N818  it is caught, and becomes a warning
    """The function does something that cannot be compiled. The message names it and a remedy."""


class Contradiction(Unhandled):
    """What the function does depends on something that a program does not see."""


class TooLong(Unhandled):
    """The trace is longer than it may be."""


class Tied(Unhandled):
    """Values are equal in a comparison of which only a plain run can say what it means."""


class Layout:
    """The shape, dtype and strides of a result that a run does not keep."""

    __slots__ = ("dtype", "shape", "strides")

    def __init__(self, array: Any) -> None:
        self.shape: tuple[int, ...] = array.shape
        self.dtype: Any = array.dtype
        self.strides: tuple[int, ...] = array.strides

    def array(self) -> Any:
        """Return an array without content. Its memory is not taken before it is used."""
        spans = [(n - 1) * step for n, step in zip(self.shape, self.strides, strict=True)]
        room = np.empty(sum(map(abs, spans)) + self.dtype.itemsize, np.uint8)
        start = -sum(min(span, 0) for span in spans)
        return NDARRAY(self.shape, self.dtype, room, start, self.strides)


class Reference:
    """A way back to an array of the surroundings.

    It keeps no array alive, since code that stores counts the references to one. A view may be a
    part of what only its base leads to: so one that is gone is made anew.
    """

    __slots__ = ("_base", "_found", "_layout", "place")

    def __init__(self, found: Any) -> None:
        base: Any = getattr(found, "base", None)
        self.place: Any = id(found)
        """The same for the same array, and for the same view of one array."""
        self._layout: Any = None
        self._base: Callable[[], Any]
        self._found: Callable[[], Any] = weakref.ref(found)
        is_view = type(base) is NDARRAY and base.flags.owndata and base.flags.forc
        if is_view and found.size:  # empty parts of neighbouring rows begin at the same place
            start = _address(found) - _address(base)
            self._layout = found.shape, found.dtype, start, found.strides
            self.place = (id(base), *self._layout)
            self._base = weakref.ref(base)
        elif base is not None:
            self._found = lambda: found

    def __call__(self) -> Any:
        """Return the array, or the view of its base, or None if it is gone."""
        found = self._found()
        base = None if found is not None or self._layout is None else self._base()
        if base is None:
            return found
        layout: Any = self._layout
        shape, dtype, start, strides = layout
        memory = base.ravel(order="K").view(np.uint8)
        view = NDARRAY(shape, dtype, memory, start, strides)
        view.flags.writeable = base.flags.writeable
        return view

    def leads_to(self, found: Any) -> bool:
        """Tell if an array at the same place is this one; a view that is gone is replaced by it."""
        if self._layout is None:
            return found is self._found()
        if found.base is not self._base():
            return False
        if self._found() is None:
            self._found = weakref.ref(found)
        return True


def _address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


PYTHONS: dict[type[Any], Any] = {float: np.float64, int: np.int64, bool: np.bool_}
"""The numbers of Python that functions return, and NumPy's that stand for them in a program."""


class AsNumber:
    """A function that returns a number of Python, which is one of NumPy's in a program."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def number(self, found: Any) -> Any:
        """Return NumPy's number for one of Python's."""
        return PYTHONS[type_of(found)](found)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.number(self.function(*args, **kwargs))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AsNumber) and self.function == other.function

    def __hash__(self) -> int:
        return hash((AsNumber, self.function))


class AsNumbers:
    """A function of whose results some are Python's numbers, NumPy's in a program, or None."""

    def __init__(self, function: Callable[..., Any], results: Any) -> None:
        self.function = function
        self.places: frozenset[int] = _places_of_none(results)
        """The places of the results that are None."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        found = self.function(*args, **kwargs)
        if _places_of_none(found) != self.places:
            raise Unhandled("other results are None")  # the function itself runs then
        return tuple([_as_number(one) for one in found])

    def __eq__(self, other: object) -> bool:
        own = (self.function, self.places)
        return isinstance(other, AsNumbers) and own == (other.function, other.places)

    def __hash__(self) -> int:
        return hash((AsNumbers, self.function))


def _places_of_none(results: Any) -> frozenset[int]:
    return frozenset(place for place, one in enumerate(results) if one is None)


def _as_number(part: Any) -> Any:
    """Return NumPy's number for one of Python's; others unchanged."""
    return PYTHONS[type_of(part)](part) if type_of(part) in PYTHONS else part


class Library:
    """A library whose arrays are traced; by default NumPy."""

    name: str = "numpy"
    kind: type[Any] = NDARRAY
    """The type of its arrays."""
    backend: Any
    """The backend of the tracers of its arrays."""
    namespace: Any
    """The namespace of the tracers."""
    otherwise: dict[Any, Callable[..., Any]]
    """Replacements for NumPy functions that are no operations."""
    tracers: tuple[type[Any], type[Any]]
    """The classes of tracers of arrays, and of numbers."""

    def is_input(self, leaf: Any) -> bool:
        """Tell if a leaf of the arguments is an input of the program: a numeric array or number."""
        return isinstance(leaf, (NDARRAY, NUMBER)) and leaf.dtype.kind in NUMERIC

    def problem(self, value: Any) -> str:
        """Return why a value cannot be part of the program, or ""."""
        return "" if value.dtype.kind in NUMERIC else f"an array of dtype {value.dtype} is computed"

    def is_ndarray(self, value: Any) -> bool:
        """Tell if the program treats a value as an array instead of a number."""
        return isinstance(value, NDARRAY)

    def device(self, value: Any) -> Any:
        return "cpu"

    def asarray(self, value: Any, dtype: Any = None) -> Any:
        """Make an array from nested numbers."""
        return np.array(value, dtype)

    def copied(self, array: Any) -> Any:
        return np.array(array, order="K")

    def performing(self, fn: Callable[..., Any], name: str) -> Callable[..., Any]:
        """Return the function that performs an operation on its arrays."""
        return fn

    def tracer(self, value: Any, index: int, tape: Tape) -> Any:
        """Make a tracer of a real value."""
        of_arrays, of_numbers = self.tracers
        return (of_arrays if isinstance(value, NDARRAY) else of_numbers)(value, index, tape)


class Recorded:
    """A real array or number, and its number in the program."""

    __slots__ = ("__weakref__", "index", "shares", "tape", "value")

    def __init__(self, value: Any, index: int, tape: Tape) -> None:
        self.value: Any = value
        self.index: int = index
        self.tape: Tape = tape
        self.shares: bool = False
        """Whether it is a view of another value, or another is a view of it."""


class Weak(Recorded):
    """A Python float among the arguments: its operators and functions come before all others."""

    __slots__ = ()

    @property
    def strong(self) -> Any:
        """Return the tracer of the `np.float64` that stands for the float in the program."""
        raise NotImplementedError


class Watch(Protocol):
    """Gives user code the lengths of arrays, in a run that stands for a longer one."""

    def shape(self, shape: tuple[int, ...]) -> tuple[Any, ...]:
        """Return the lengths of the axes of an array."""
        ...

    def plain_key(self, key: Any, shape: Sequence[int]) -> Any:
        """Return a key of an array of a shape with plain numbers."""
        ...

    def told(self, name: str) -> Exception:
        """Return the error of a function that tells lengths as plain numbers."""
        ...

    def iterated(self, array: Any, frame: FrameType) -> Iterator[Any]:
        """Return the elements of an array that code goes through."""
        ...

    def is_users(self, module: str, /) -> bool:
        """Tell if a module is the user's."""
        ...


class Tape:
    """The program being recorded."""

    def __init__(self, library: Library, first: Tape | None = None, most: int = MOST) -> None:
        self.library: Library = library
        self.most: int = most
        """The most operations of this trace."""
        self.repeats: bool = first is not None
        """Whether this is a second run."""
        self._first = first
        """The tape of an earlier run on the same arguments. Where this run repeats it, instructions
        and results are used again."""
        self.keeps: bool = first is None
        """Whether the results of operations are kept for a second run."""
        self._results: dict[int, Any] = {}
        """By value: the result of an operation, or its layout, for a second run."""
        self._bytes: int = 0
        self._inputs: list[Any] = []
        """The arrays and numbers that the program is given."""
        self.refs: list[Ref] = []
        """For each value, the `Ref` that names it."""
        self.instrs: list[Instr] = []
        self.guards: list[tuple[int, Guard, Any]] = []
        self.values: list[Value] = []
        self.constants: dict[int, Any] = {}
        self.readers: dict[int, str | None] = {}
        self.around: list[tuple[Recorded, int]] = []
        self.refused: str = ""
        self.makes_text: bool = False
        """Whether code makes text of values."""
        self.is_too_long: bool = False
        """Whether it was refused for its length."""
        self.quiet: set[str] = set()
        self.made: set[int] = set()
        """The values that depend on no argument and on no array of the surroundings."""
        self.seals: bool = False
        """Whether code may look into arrays of the surroundings, which are then compared."""
        self.sealed: set[int] = set()
        """The constants that code has looked into, or into what is computed from them."""
        self._fixed: dict[int, Instr] = {}
        """By result: the operations on constants alone."""
        self._asked: int = 0
        self.watch: Watch | None = None
        """Gives the lengths that user code sees, in a run whose numbers know those of full size."""
        self.errors: Any = None
        """NumPy's handling of floating point errors at the start, if the function may change it."""
        self._uses: dict[Any, list[tuple[int, Any, Reference]]] = {}
        self._known: dict[Any, Value] = {}
        """The descriptions of arrays; those of numbers by their type."""
        self.callback_runs = 0
        """How often the functions that solvers call were recorded."""
        self.depth = 0
        """How many such functions are being recorded, one in another."""
        self.make_function: Callable[[Any], Callable[..., Any]] | None = None
        """Returns a way through a function that a solver calls as a function of its own."""
        self._cut: list[tuple[int, int]] = []
        """The ranges of the values whose instructions were taken out."""
        self._compared: dict[tuple[Any, ...], tuple[list[Any], int]] = {}
        """The comparisons that each call is to ask about: the values, and the result's number."""
        self._owners: dict[int, tuple[CodeType, Owner]] = {}
        """By identity of code: whose it is."""

    def refuse(self, reason: str) -> Unhandled:
        """Record why the function cannot be compiled, even if it catches the error."""
        self.refused = self.refused or reason
        return Unhandled(reason)

    def too_long(self) -> Unhandled:
        """Record that the trace would be too long."""
        self.is_too_long = self.is_too_long or not self.refused
        return self.refuse(f"it performs more than {self.most} operations")

    # Values ---------------------------------------------------------------------------------------

    def described(self, value: Any) -> Value:
        """Return the description of a real value."""
        known = self._known.get(type_of(value))
        if known is not None:
            return known
        library = self.library
        key: Any = type_of(value)
        if isinstance(value, library.kind):
            key = (value.shape, value.dtype, order_of(value), library.device(value))
        known = self._known.get(key)
        if known is None:
            problem = library.problem(value)
            if problem:
                raise self.refuse(problem)
            is_array = library.is_ndarray(value)
            known = Value(value.shape, value.dtype, is_array, order=key[2] if is_array else "C")
            self._known[key] = known
        return known

    def new(self, value: Any) -> Any:
        """Add a value to the program; return its tracer."""
        index = len(self.values)
        self.values.append(self.described(value))
        self.refs.append(Ref(index))
        return self.library.tracer(value, index, self)

    def given(self, value: Any) -> Any:
        """Add an input to the program; return its tracer."""
        made = self.new(value)
        self._results[made.index] = value
        self._inputs.append(value)
        return made

    def value_of(self, index: int) -> Any:
        """Return the real value of a number of the program, or None if it was not kept."""
        if index in self.constants:
            return self.constants[index]
        first = None if self._first is None else self._first._results.get(index)
        found = self._results.get(index, first)
        return None if isinstance(found, Layout) else found

    def constant(self, found: Any) -> Ref:
        """Add an array of the surroundings with its current content, as a constant."""
        reference = Reference(found)
        uses = self._uses.setdefault(reference.place, [])
        if uses and uses[-1][2].leads_to(found) and same_content(uses[-1][1], found):
            return self.refs[uses[-1][0]]
        if found.dtype.kind == "O":  # adapted code then goes through the elements
            raise NonDifferentiableInputError("an array of Python objects meets a traced array")
        if type(found) is not self.library.kind or found.dtype.kind not in NUMERIC:
            raise self.refuse(f"an array of type {type(found).__name__}, {found.dtype} is used")
        kept = self.library.copied(found)
        ref = self._numbered(self.described(found))
        index = ref.index
        uses.append((index, kept, reference))
        self.constants[index] = kept
        frame = self._userframe_of(40)
        self.readers[index] = None if frame is None else frame.f_globals.get("__name__") or ""
        return ref

    def cut(self, start: int, begin: int, guards: int) -> None:
        """Take out what was recorded from an instruction, a value and a guard on."""
        del self.instrs[start:], self.guards[guards:]
        for pair in [pair for pair in self._compared if any(i >= begin for i in refs(pair))]:
            del self._compared[pair]
        self._asked = min(self._asked, start)
        for index in range(begin, len(self.values)):
            self._results.pop(index, None)
        self._take_out(begin, len(self.values))

    def _take_out(self, begin: int, end: int) -> None:
        if self._cut and self._cut[-1][1] == begin:
            begin = self._cut.pop()[0]
        self._cut.append((begin, end))

    def skip_to(self, count: int) -> None:
        """Number the next value so, whatever was taken out before."""
        blank = Value((), None, is_ndarray=False, is_tuple=True)
        self._take_out(len(self.values), count)
        self.refs += map(Ref, range(len(self.refs), count))
        self.values += [blank] * (count - len(self.values))

    def is_cut(self, index: int) -> bool:
        """Tell if a value was computed by instructions that were taken out."""
        is_in = any(begin <= index < end for begin, end in self._cut)
        return is_in and index not in self.constants

    def forget_layouts(self) -> bool:
        """Drop the layouts: a second run computes these results. Return False if there are none."""
        kept = {n: one for n, one in self._results.items() if not isinstance(one, Layout)}
        has_layouts = len(kept) < len(self._results)
        self._results = kept
        return has_layouts

    def _numbered(self, value: Value) -> Ref:
        """Add a value by its description; return its name."""
        self.values.append(value)
        self.refs.append(Ref(len(self.refs)))
        return self.refs[-1]

    def entered(self, found: Any) -> Any:
        """Return the tracer of an array of the surroundings; the function must not write to it."""
        index = self.constant(found).index
        tracer = self.library.tracer(self.constants[index], index, self)
        self.around.append((tracer, index))
        return tracer

    def is_made(self, index: int) -> bool:
        """Tell if a value is the same in each call, computed from new arrays and literals.

        Code may look into such a value, unless the run stands for a longer one. If the tape seals
        constants, they count as well, since each call compares those that code has looked into.
        """
        if self.watch is not None:
            return False
        for step in self.instrs[self._asked :]:
            if not step.is_opaque and self.made.issuperset(step.reads):
                self.made.add(step.out)
            elif self.seals and not step.is_opaque and all(map(self._is_fixed, step.reads)):
                self._fixed[step.out] = step
        self._asked = len(self.instrs)
        if self.seals and self._is_fixed(index):
            self._seal(index)
        return index in self.made

    def _is_fixed(self, index: int) -> bool:
        return index in self.made or index in self.constants or index in self._fixed

    def _seal(self, index: int) -> None:
        """Note the constants that a value is computed from; each call compares them now."""
        waiting = [index]
        while waiting:
            one = waiting.pop()
            if one in self.made:
                continue
            self.made.add(one)
            if one in self._fixed:
                waiting += self._fixed[one].reads
            else:
                self.sealed.add(one)

    def originals(self) -> dict[int, Any]:
        """Return the arrays of the surroundings that have not changed since their first use."""
        once = [uses[0] for uses in self._uses.values() if len(uses) == 1]
        return {
            index: found
            for index, kept, reference in once
            if (found := reference()) is not None and same_content(kept, found)
        }

    # Operations -----------------------------------------------------------------------------------

    def real(self, leaf: Any) -> Any:
        """Return a leaf of arguments as the operation takes it."""
        return leaf.value if isinstance(leaf, Recorded) else leaf

    def recorded(self, leaf: Any) -> Any:
        """Return a leaf of arguments as the program names it."""
        if isinstance(leaf, Recorded):
            if leaf.tape is not self:
                raise self.refuse("an array of another trace is used")
            return self.refs[leaf.index]
        if isinstance(leaf, self.library.kind):
            return self.constant(leaf)
        if leaf is None or leaf is Ellipsis or isinstance(leaf, LITERALS):
            return getattr(leaf, "stands_for", leaf) if isinstance(leaf, type) else leaf
        if isinstance(leaf, AnyWrapper):
            raise self.refuse("a gradwrap.Variable of the surroundings is used")
        raise self.refuse(f"an operation is given a {type(leaf).__name__}")

    def record(
        self,
        fn: Callable[..., Any],
        name: str,
        args: tuple[Any, ...],
        kw: dict[str, Any] | None = None,
    ) -> Any:
        """Perform an operation and record it; return its result as tracers."""
        if self.refused:
            raise Unhandled(self.refused)
        # mapped(args, self.recorded) and mapped(args, self.real), without a call for each leaf
        fixed = [not isinstance(arg, Recorded) and is_literal(arg) for arg in args]
        recorded = tuple(
            [
                arg if is_fixed else mapped(arg, self.recorded)
                for arg, is_fixed in zip(args, fixed, strict=True)
            ]
        )
        if OPERATIONS[name].has_key and not fixed[1]:
            recorded = (recorded[0], mapped(recorded[1], _plain_integer), *recorded[2:])
        keywords: tuple[tuple[str, Any], ...] = ()
        if kw:
            keywords = tuple(sorted((key, mapped(v, self.recorded)) for key, v in kw.items()))
        made = self.repeated(fn, name, recorded, keywords, args) if self.repeats else None
        if made is not None:
            return made
        real = [
            arg if is_fixed else mapped(arg, self.real)
            for arg, is_fixed in zip(args, fixed, strict=True)
        ]
        perform = self.library.performing(fn, name)
        keyed = {key: mapped(v, self.real) for key, v in kw.items()} if kw else {}
        result = perform(*real, **keyed)
        kind = type_of(result)
        if kind not in PYTHONS or (kind is bool and any(part is None for part in recorded)):
            return self.enter(fn, name, recorded, keywords, result, args)
        fn, name = AsNumber(fn), f"{OPAQUE}{name.rpartition('.')[2]}"
        made = self.enter(fn, name, recorded, keywords, fn.number(result), args)
        return self._handed_out(result, made)

    def _handed_out(self, number: Any, made: Any) -> Any:
        """Return what code gets for a number of Python: a float is traced, others are compared."""
        kind = type_of(number)
        return made if kind is float else kind(self.look(kind.__name__, made, number))

    def repeated(
        self, fn: Any, name: str, recorded: Any, keywords: Any, args: tuple[Any, ...] = ()
    ) -> Any:
        """Return the result of the earlier run if it did the same here, as a tracer; else None."""
        first, at = self._first, len(self.instrs)
        if first is None or at >= len(first.instrs):
            return None
        step, index = first.instrs[at], len(self.values)
        result = first._results.get(index)
        if isinstance(result, Layout):
            result = result.array()
        elif _is_of_other_array(result, args):
            return None  # code finds by it that a part is one of an array
        if result is None or step.out != index or step.name != name or step.fn != fn:
            return None
        if len(step.args) != len(recorded) or not same_nest(step.kw, keywords):
            return None
        for mine, other in zip(step.args, recorded, strict=True):
            if mine is not other and not same_nest(mine, other):
                return None
        self.values.append(first.values[index])
        self.refs.append(first.refs[index])
        return self._appended(step, self.library.tracer(result, index, self), args)

    def enter(
        self,
        fn: Callable[..., Any],
        name: str,
        recorded: tuple[Any, ...],
        keywords: tuple[tuple[str, Any], ...],
        result: Any,
        args: tuple[Any, ...] = (),
    ) -> Any:
        """Record an operation that has been performed; return its result as tracers."""
        if len(self.instrs) >= self.most:
            raise self.too_long()
        if self.errors is not None and modes() != self.errors:
            self._note_errors(self.errors)
        views = False
        library = self.library
        if isinstance(result, library.kind):
            if type(result) is not library.kind:
                raise self.refuse(f"{name} gives an array of type {type(result).__name__}")
            for arg in args:
                if isinstance(arg, Recorded) and arg.value is result:
                    return library.tracer(result, arg.index, self)
            views = result.base is not None and (not result.size or shares(result, args))
        elif isinstance(result, (TUPLE, LIST)) and result:
            return self._several(fn, name, recorded, keywords, result, args)
        elif type_of(result) is bool and any(part is None for part in recorded):
            return result  # no number is equal to None
        elif type_of(result) is complex:  # of a complex number of Python and an np.float64
            result = np.complex128(result)
        elif not isinstance(result, NUMBER):
            raise self.refuse(f"{name} gives a {type(result).__name__}")
        made = self.new(result)
        if self.keeps:
            if self._bytes < MOST_KEPT or (result.nbytes <= SMALL and not views):
                self._bytes += 0 if views else result.nbytes
                self._results[made.index] = result
            elif isinstance(result, NDARRAY):
                self._results[made.index] = Layout(result)
        may_view = views or OPERATIONS[name].may_view
        copied = may_view and not views
        step = Instr(fn, name, recorded, keywords, made.index, may_view, self._line(), copied)
        return self._appended(step, made, args)

    def _appended(self, step: Instr, made: Any, args: tuple[Any, ...]) -> Any:
        """Append an instruction; return the tracer of its result."""
        self.instrs.append(step)
        if step.views:
            made.shares = True
            for arg in args:
                if isinstance(arg, Recorded):
                    arg.shares = True
        op = step.op
        is_varying = op.by_values or (op.by_counts and refs((step.args[1:], step.kw)))
        return self._measured(made) if is_varying else made

    def _note_errors(self, before: Any) -> None:
        """Record which floating point errors NumPy now ignores."""
        found = modes()
        changed = {kind for kind, mode in found.items() if mode != before[kind]}
        if any(found[kind] not in ("ignore", "warn") for kind in changed):
            raise self.refuse(
                f"NumPy is to raise errors of arithmetic{self.place()}. "
                "Fix: look at the result, with np.isfinite(y).all()"
            )
        self.quiet |= {kind for kind in changed if found[kind] == "ignore"}

    def _several(
        self, fn: Any, name: str, recorded: Any, keywords: Any, result: Any, args: Any
    ) -> Any:
        """Record an operation with several outputs; a rank (an `int`) becomes a NumPy number.

        Attributes of the result, such as those of SciPy's `TtestResult`, are outputs, too.
        """
        known = attributes_of(result)
        fields = {key: one for key, one in known.items() if not isinstance(one, FIXED)}
        if not fields and not {int, float, type(None)}.isdisjoint(map(type_of, result)):
            fn, name = AsNumbers(fn, result), f"{OPAQUE}{name.rpartition('.')[2]}"
        nothing = _places_of_none(result)
        kept: dict[Any, Any] = {
            i: _as_number(part) for i, part in enumerate(result) if i not in nothing
        }
        kept |= {key: np.asarray(one)[()] for key, one in fields.items()}
        if not all(isinstance(part, (self.library.kind, NUMBER)) for part in kept.values()):
            raise self.refuse(f"{name} gives a nest of arrays")
        whole = self._numbered(Value((), None, is_ndarray=False, is_tuple=True))
        views = any(shares(part, args) for part in kept.values())
        line = self._line()
        self.instrs.append(Instr(fn, name, recorded, keywords, whole.index, views, line))
        parts: list[Any] = []
        for i, part in kept.items():
            made = self.new(part)
            self.instrs.append(Instr(item, "item", (whole, i), (), made.index, True, line))
            made = self._measured(made) if OPERATIONS[name].by_values else made
            is_truth = isinstance(i, int) and type_of(result[i]) is bool
            parts.append(self._handed_out(result[i], made) if is_truth else made)
        for i in sorted(nothing):
            parts.insert(i, None)
        kind, count = type_of(result), len(result)
        if not fields:
            return kind(*parts) if hasattr(kind, "_fields") else kind(parts)
        gathered: Any = TUPLE.__new__(kind, parts[:count])
        gathered.__dict__.update(known, **dict(zip(fields, parts[count:], strict=True)))
        return gathered

    def _measured(self, made: Any) -> Any:
        self.look("shape", made, made.value.shape)
        return made

    def share_memory(self, function: Callable[..., bool], arrays: Sequence[Any]) -> bool:
        """Tell if arrays share memory, unless that depends on where arrays of the caller lie.

        The results of operations lie where they do in each call: in new memory, or in that of their
        operands.
        """
        one, other = [self.real(array) for array in arrays]
        of_caller = [*self.constants.values(), *self._inputs]
        lie_in = [
            {n for n, given in enumerate(of_caller) if np.may_share_memory(array, given)}
            for array in (one, other)
        ]
        are_plain = any(not isinstance(array, Recorded) for array in arrays)
        if are_plain or (all(lie_in) and (lie_in[0] != lie_in[1] or len(lie_in[0]) > 1)):
            raise self.refuse(f"it asks where arrays lie{self.place()}. Fix: ask before the call")
        return function(one, other)

    def look(self, kind: str, at: Recorded, found: Any) -> Any:
        """Record a guard: the function has tested a value, with this outcome."""
        if self.refused:
            raise Unhandled(self.refused)
        self.guards.append((len(self.instrs), Guard(kind, self.refs[at.index]), found))
        return found

    def ask(self, left: Any, right: Any) -> None:
        """Note a comparison: each call is to ask if its values are equal, as a plain run does."""
        pair = [x.strong if isinstance(x, Weak) else x for x in (left, right)]
        if not all(type_of(self.real(x)) in VALUES for x in pair):
            return
        refs = tuple(map(self.recorded, pair))
        mask = self.instrs[-1].out if self.instrs and self.instrs[-1].args == refs else -1
        tracer = self.library.tracer
        values = [tracer(x.value, x.index, self) if isinstance(x, Recorded) else x for x in pair]
        self._compared.setdefault(refs, (values, mask))

    def ties(self) -> Any:
        """Return the number of comparisons of equal values, as a tracer; None if there are none.

        Those that a branch was taken on have a guard.
        """
        branches = {guard.value.index for _, guard, _ in self.guards if guard.kind == "bool"}
        total: Any = None
        for (one, other), mask in self._compared.values():
            if mask not in branches:
                found = (one == other).any().astype(np.float64)
                total = found if total is None else total + found
        return total

    def shown(self, value: Any) -> Any:
        """Return a value to be made text of by an adapted package; None for other code.

        The second run gets another value. If the function reads the text, the runs differ.
        """
        frame = self._userframe_of(40)
        while frame is not None and is_never_adapted(
            package_of(module_of(frame))
        ):  # as where a labelled array is shown
            frame = frame.f_back
        if frame is None or MARK not in frame.f_globals:
            return None
        if not is_installed(package_of(module_of(frame))):
            return None
        self.makes_text = True
        if self._first is None:
            return value
        if value.dtype.kind == "b":
            return ~value
        other: Any = -(np.nan_to_num(value) * 12345678 + 1)
        return other + 0.12345678 if value.dtype.kind in "fc" else other

    def place(self) -> str:
        """Return the current line of the user's code, in words."""
        frame = self._userframe_of(40)
        while frame is not None and package_of(module_of(frame)) in {*ARRAYS, "scipy"}:
            frame = frame.f_back
        return "" if frame is None else f" (line {frame.f_lineno} of {frame.f_code.co_name})"

    def _line(self) -> int:
        """Return the current line of the user's code; 0 in a backward pass."""
        if self._first is not None:
            return 0
        frame = self._userframe_of(12)
        return 0 if frame is None else frame.f_lineno

    def _userframe_of(self, most: int) -> FrameType | None:
        """Return the frame that calls NumPy or gradwrap; None in a backward pass."""
        frame: FrameType | None = frame_of(3)
        owners = self._owners
        for _ in range(most):
            if frame is None:
                break
            code = frame.f_code
            known = owners.get(id(code))  # the hash of code itself takes long
            if known is None:
                known = owners[id(code)] = code, _owner_of(frame)
            owner = known[1]
            if owner == "user":
                return frame
            if owner == "pass":
                break
            frame = frame.f_back
        return None


def _owner_of(frame: FrameType) -> Owner:
    """Return whose code a frame runs."""
    if not is_of_arrays(module_of(frame)):
        return "user"
    return "pass" if frame.f_code.co_name in PASSES else "library"


def shares(result: Any, args: Any) -> bool:
    """Tell if a result may share memory with a tracer among nested arguments."""
    if isinstance(args, (TUPLE, LIST)):
        return any(shares(result, arg) for arg in args)
    real = args.value if isinstance(args, Recorded) else args
    is_array = type(real) is type(result) and not isinstance(real, NUMBER)
    return is_array and hasattr(real, "flags") and bool(np.may_share_memory(result, real))


def _is_of_other_array(result: Any, args: tuple[Any, ...]) -> bool:
    """Tell if a result is a view, but of no first operand, such as one of several results."""
    base = getattr(result, "base", None)
    if base is None or not args or not isinstance(args[0], Recorded):
        return False
    whole = args[0].value
    return base is not whole and base is not getattr(whole, "base", None)


def _plain_integer(leaf: Any) -> Any:
    """Return an integer of NumPy in a key as one of Python, which selects the same."""
    return int(leaf) if isinstance(leaf, INTEGER) else leaf


def same_content(kept: Any, found: Any) -> bool:
    """Tell if two arrays have the same elements, bit for bit."""
    if kept.shape != found.shape or kept.dtype != found.dtype:
        return False
    if kept.dtype.kind in "fc":
        size = f"u{kept.real.dtype.itemsize}"
        if kept.real.dtype.itemsize <= 8:
            return bool(np.array_equal(in_line(kept).view(size), in_line(found).view(size)))
    return bool(np.array_equal(kept, found))


def in_line(array: Any) -> Any:
    """Return the elements of an array as a contiguous vector."""
    return (array if array.flags.c_contiguous else array.copy()).reshape(-1)
