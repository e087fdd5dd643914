"""Tracing: one run of a function on arrays that write down what is done to them.

A `Tracer` stands below gradwrap's wrappers: a `Variable` holds it in the place of an array. So the
rules, the engine, `vmap` and the code for writes run as they are, and what arrives here is a flat
sequence of NumPy's operations. A tracer carries its real value; so shapes, dtypes and branches
are those of an ordinary run.
"""

from __future__ import annotations

import operator as operators
import sys
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from array_api_compat import numpy as compat

from gradwrap.backends.numpy import SMALL, NumPyBackend
from gradwrap.backends.numpy_sums import summed
from gradwrap.compiler.program import (
    NDARRAY,
    UFUNC,
    Attribute,
    Guard,
    Instr,
    Method,
    Ref,
    Value,
    array,
    copy,
    full,
    getitem,
    item,
    mapped,
    scatter_add,
    setitem,
    zeros,
)
from gradwrap.core.array.variable import variable_class
from gradwrap.core.levels.levels import current_watch, differentiating
from gradwrap.core.levels.modes import foreign_calls, new_arrays
from gradwrap.core.levels.wrapper import AnyWrapper, make_wrapper, unwrapped_key
from gradwrap.core.library.backend import backend_of, register_backend
from gradwrap.core.library.buffers import PACKAGE
from gradwrap.core.library.compat import module_like
from gradwrap.core.values.dynamic import LIST, SLICE, TUPLE, type_of
from gradwrap.core.values.tree import TreeDef, flatten, unflatten

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from types import CodeType, FrameType

    from gradwrap.compiler.surroundings import Surroundings

operator: Any = operators
NUMBER: type[Any] = np.generic
LITERALS: tuple[type[Any], ...] = (int, float, complex, str, type, np.dtype, NUMBER)
"""The types, beside None and the ellipsis, that arguments of operations may have."""
NUMERIC = "biufc"
SHAPES: frozenset[Any] = frozenset(
    {np.shape, np.ndim, np.size, np.result_type, np.can_cast, np.common_type, np.min_scalar_type}
    | {np.iscomplexobj, np.isrealobj}
)
"""Functions that look at shapes and dtypes alone: they are no operations of the program."""
WRITING: frozenset[Any] = frozenset(
    {np.copyto, np.put, np.place, np.putmask, np.fill_diagonal, np.put_along_axis}
)
MEASURED = frozenset(
    {"nonzero", "flatnonzero", "argwhere", "compress", "extract", "trim_zeros", "union1d"}
    | {"unique", "unique_all", "unique_counts", "unique_inverse", "unique_values", "delete"}
    | {"intersect1d", "setdiff1d", "setxor1d", ".nonzero", ".compress"}
)
"""Operations whose result may have another shape for other values."""
METHODS = frozenset(
    {"all", "any", "argmax", "argmin", "argpartition", "argsort", "choose", "clip", "compress"}
    | {"conj", "conjugate", "cumprod", "cumsum", "diagonal", "dot", "flatten", "max", "mean"}
    | {"min", "nonzero", "prod", "ravel", "repeat", "reshape", "round", "searchsorted", "squeeze"}
    | {"std", "sum", "swapaxes", "take", "trace", "transpose", "var", "view"}
)
"""The methods of arrays that write to nothing and return arrays."""
MAY_VIEW = frozenset({".reshape", ".ravel", ".view", "reshape", "ravel", "ascontiguousarray"})
ADD_REDUCE: Any = np.add.reduce
NO_VALUE: Any = getattr(np, "_NoValue", None)
LIBRARIES = frozenset({"gradwrap", "numpy", "array_api_compat"})
"""The packages whose code is not the user's."""
MOST = 1 << 18
"""The longest trace, in operations."""


class Unhandled(Exception):  # noqa: N818  it is caught, and becomes a warning
    """The function does what cannot be compiled. The message says what, and the remedy."""


class Traced(NamedTuple):
    """What one run has written down."""

    instrs: list[Instr]
    guards: list[tuple[int, Guard, Any]]
    """Each with the number of instructions before it, and its outcome."""
    values: list[Value]
    inputs: tuple[int, ...]
    constants: dict[int, Any]
    """The arrays of the surroundings: copies of what they held at their use."""
    originals: dict[int, Any]
    """The array that each of them is a copy of, if it still has that content."""
    readers: dict[int, str | None]
    """The module that used each of them first; None if it was a rule."""
    leaves: tuple[Any, ...]
    tree: TreeDef
    results: tuple[Any, ...]
    """The leaves of the result, as this run gave them."""
    quiet: frozenset[str]
    """The kinds of floating point errors that NumPy was to ignore somewhere."""


class Library:
    """The library whose arrays a trace is made of, as the tracer sees it; this class, NumPy."""

    name: str = "numpy"
    kind: type[Any] = NDARRAY
    """The type of its arrays."""
    backend: Any
    """The backend of the tracers of its arrays."""

    def is_input(self, leaf: Any) -> bool:
        """Tell if a leaf of the arguments is an input of the program: a numeric array or number."""
        return isinstance(leaf, (NDARRAY, NUMBER)) and leaf.dtype.kind in NUMERIC

    def problem(self, value: Any) -> str:
        """Say why a value cannot be one of the program; "" if it can."""
        return "" if value.dtype.kind in NUMERIC else f"an array of dtype {value.dtype} is computed"

    def is_ndarray(self, value: Any) -> bool:
        """Tell if the program is to take a value for an array, and not for a number."""
        return isinstance(value, NDARRAY)

    def device(self, value: Any) -> Any:
        return "cpu"

    def asarray(self, value: Any, dtype: Any = None) -> Any:
        """Make an array of nested numbers."""
        return np.array(value, dtype)

    def copied(self, array: Any) -> Any:
        return np.array(array, order="K")

    def performing(self, fn: Callable[..., Any], name: str) -> Callable[..., Any]:
        """Return what performs an operation on its arrays."""
        return fn

    def tracer(self, value: Any, index: int, tape: Tape) -> Tracer:
        """Make the tracer of a real value."""
        return (ArrayTracer if isinstance(value, NDARRAY) else Tracer)(value, index, tape)


NUMPY: Library = Library()


class Tape:
    """The program that is being written."""

    def __init__(self, library: Library = NUMPY) -> None:
        self.library: Library = library
        self.instrs: list[Instr] = []
        self.guards: list[tuple[int, Guard, Any]] = []
        self.values: list[Value] = []
        self.constants: dict[int, Any] = {}
        self.readers: dict[int, str | None] = {}
        self.around: list[tuple[Tracer, int]] = []
        self.refused: str = ""
        self.quiet: set[str] = set()
        self.errors: Any = None
        """What NumPy does about floating point errors, where the function may change that."""
        self._uses: dict[int, list[tuple[int, Any, Any]]] = {}
        self._known: dict[Any, Value] = {}
        self._user_code: dict[CodeType, bool] = {}

    def refuse(self, reason: str) -> Unhandled:
        """Note why the function cannot be compiled, even if it catches the error."""
        self.refused = self.refused or reason
        return Unhandled(reason)

    # Values ---------------------------------------------------------------------------------------

    def described(self, value: Any) -> Value:
        """Describe a real value."""
        library = self.library
        if not isinstance(value, library.kind):
            key = value.dtype
        else:
            flags = value.flags
            order = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "?"
            key = (value.shape, value.dtype, order, library.device(value))
        known = self._known.get(key)
        if known is None:
            problem = library.problem(value)
            if problem:
                raise self.refuse(problem)
            is_array = library.is_ndarray(value)
            known = Value(value.shape, value.dtype, is_array, order=key[2] if is_array else "C")
            self._known[key] = known
        return known

    def new(self, value: Any) -> Tracer:
        """Number a real value."""
        self.values.append(self.described(value))
        return self.library.tracer(value, len(self.values) - 1, self)

    def constant(self, found: Any) -> Ref:
        """Number an array of the surroundings, as it is now."""
        uses = self._uses.setdefault(id(found), [])
        if uses and same_content(uses[-1][1], found):
            return Ref(uses[-1][0])
        if type(found) is not self.library.kind or found.dtype.kind not in NUMERIC:
            raise self.refuse(f"an array of type {type(found).__name__}, {found.dtype} is used")
        kept = self.library.copied(found)
        self.values.append(self.described(found))
        index = len(self.values) - 1
        uses.append((index, kept, found))
        self.constants[index] = kept
        frame = self._user_frame(40)
        self.readers[index] = None if frame is None else frame.f_globals.get("__name__") or ""
        return Ref(index)

    def entered(self, found: Any) -> Tracer:
        """The tracer of an array of the surroundings, which is not to be written to."""
        index = self.constant(found).index
        tracer = self.library.tracer(self.constants[index], index, self)
        self.around.append((tracer, index))
        return tracer

    def originals(self) -> dict[int, Any]:
        """The arrays of the surroundings that have not changed since their first use."""
        return {
            index: found
            for uses in self._uses.values()
            for index, kept, found in uses
            if len(uses) == 1 and same_content(kept, found)
        }

    # Operations -----------------------------------------------------------------------------------

    def real(self, leaf: Any) -> Any:
        """What stands for a leaf of arguments when the operation is performed."""
        return leaf.value if isinstance(leaf, Tracer) else leaf

    def recorded(self, leaf: Any) -> Any:
        """What stands for a leaf of arguments in the program."""
        if isinstance(leaf, Tracer):
            if leaf.tape is not self:
                raise self.refuse("an array of another trace is used")
            return Ref(leaf.index)
        if isinstance(leaf, self.library.kind):
            return self.constant(leaf)
        if leaf is None or leaf is Ellipsis or isinstance(leaf, LITERALS):
            return leaf
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
        """Perform an operation and write it down: its result, as tracers."""
        if self.refused:
            raise Unhandled(self.refused)
        recorded = mapped(args, self.recorded)
        real = mapped(args, self.real)
        perform = self.library.performing(fn, name)
        if kw:
            keywords = tuple(sorted((key, mapped(v, self.recorded)) for key, v in kw.items()))
            result = perform(*real, **{key: mapped(v, self.real) for key, v in kw.items()})
        else:
            keywords = ()
            result = perform(*real)
        return self.enter(fn, name, recorded, keywords, result, args)

    def enter(
        self,
        fn: Callable[..., Any],
        name: str,
        recorded: tuple[Any, ...],
        keywords: tuple[tuple[str, Any], ...],
        result: Any,
        args: tuple[Any, ...] = (),
    ) -> Any:
        """Write down an operation that has been performed."""
        if len(self.instrs) >= MOST:
            raise self.refuse(f"it performs more than {MOST} operations")
        if self.errors is not None and np.geterr() != self.errors:
            self._note_errors(self.errors)
        views = False
        library = self.library
        if isinstance(result, library.kind):
            if type(result) is not library.kind:
                raise self.refuse(f"{name} gives an array of type {type(result).__name__}")
            for arg in args:
                if isinstance(arg, Tracer) and arg.value is result:
                    return library.tracer(result, arg.index, self)
            views = result.base is not None and shares(result, args)
        elif isinstance(result, (TUPLE, LIST)) and result:
            return self._several(fn, name, recorded, keywords, result, args)
        elif not isinstance(result, NUMBER):
            raise self.refuse(f"{name} gives a {type(result).__name__}")
        made = self.new(result)
        line = self._line()
        may_view = views or name in MAY_VIEW
        copied = may_view and not views
        self.instrs.append(Instr(fn, name, recorded, keywords, made.index, may_view, line, copied))
        if may_view:
            made.shares = True
            for arg in args:
                if isinstance(arg, Tracer):
                    arg.shares = True
        return self._measured(made) if name in MEASURED else made

    def _note_errors(self, before: Any) -> None:
        """Note which floating point errors NumPy is to ignore now."""
        found: Any = np.geterr()
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
        """Write down an operation of several outputs."""
        if not all(isinstance(part, (self.library.kind, NUMBER)) for part in result):
            raise self.refuse(f"{name} gives a nest of arrays")
        self.values.append(Value((), None, is_ndarray=False, is_tuple=True))
        whole = Ref(len(self.values) - 1)
        views = any(shares(part, args) for part in result)
        line = self._line()
        self.instrs.append(Instr(fn, name, recorded, keywords, whole.index, views, line))
        parts: list[Any] = []
        for i, part in enumerate(result):
            made = self.new(part)
            self.instrs.append(Instr(item, "item", (whole, i), (), made.index, True, line))
            parts.append(self._measured(made) if name in MEASURED else made)
        kind = type_of(result)
        return kind(*parts) if hasattr(kind, "_fields") else kind(parts)

    def _measured(self, made: Tracer) -> Tracer:
        self.look("shape", made, made.value.shape)
        return made

    def look(self, kind: str, at: Tracer, found: Any) -> Any:
        """Write down that the function has looked at a value, and what it found."""
        if self.refused:
            raise Unhandled(self.refused)
        self.guards.append((len(self.instrs), Guard(kind, Ref(at.index)), found))
        return found

    def place(self) -> str:
        """Say which line of the user's code is being run."""
        frame = self._user_frame(40)
        while frame is not None and _package_of(frame) in {*LIBRARIES, "scipy"}:
            frame = frame.f_back
        return "" if frame is None else f" (line {frame.f_lineno} of {frame.f_code.co_name})"

    def _line(self) -> int:
        """The line of the user's code that is being run; 0 in a backward pass."""
        frame = self._user_frame(12)
        return 0 if frame is None else frame.f_lineno

    def _user_frame(self, most: int) -> FrameType | None:
        """The frame of the code that calls NumPy or gradwrap; None in a backward pass."""
        frame: FrameType | None = _frame(3)
        known = self._user_code
        for _ in range(most):
            if frame is None:
                break
            code = frame.f_code
            is_users = known.get(code)
            if is_users is None:
                is_users = known[code] = _package_of(frame) not in LIBRARIES
            if is_users:
                return frame
            if code.co_name == "backward_pass":
                break
            frame = frame.f_back
        return None


def _frame(depth: int) -> FrameType:
    """The frame of a caller of the function that calls this."""
    return sys._getframe(depth + 1)  # pyright: ignore[reportPrivateUsage]  # documented, private by its name alone


def _package_of(frame: FrameType) -> str:
    """The package of the code that a frame runs."""
    module: str = frame.f_globals.get("__name__") or ""
    return module.partition(".")[0]


def shares(result: Any, args: Any) -> bool:
    """Tell if a result may share memory with a tracer among nested arguments."""
    if isinstance(args, (TUPLE, LIST)):
        return any(shares(result, arg) for arg in args)
    real = args.value if isinstance(args, Tracer) else args
    is_array = type(real) is type(result) and not isinstance(real, NUMBER)
    return is_array and hasattr(real, "flags") and bool(np.may_share_memory(result, real))


def same_content(kept: Any, found: Any) -> bool:
    """Tell if two arrays have the same elements bit by bit, and lie alike in memory."""
    if kept.shape != found.shape or kept.dtype != found.dtype:
        return False
    if kept.dtype.kind in "fc":
        size = f"u{kept.real.dtype.itemsize}"
        if kept.real.dtype.itemsize <= 8:
            return bool(np.array_equal(_in_line(kept).view(size), _in_line(found).view(size)))
    return bool(np.array_equal(kept, found))


def _in_line(array: Any) -> Any:
    """The elements of an array one after the other."""
    return (array if array.flags.c_contiguous else array.copy()).reshape(-1)


def _path_of(function: Any) -> str:
    """The dotted name of a function below `numpy`; "" if it has none."""
    module: str = getattr(function, "__module__", "") or ""
    name: str = getattr(function, "__name__", "")
    for start in (module.removeprefix("numpy").lstrip("."), ""):
        path = f"{start}.{name}" if start else name
        found: Any = np
        for part in path.split("."):
            found = getattr(found, part, None)
        if found is function:
            return path
    return ""


def _is_found(path: str) -> bool:
    """Tell if there is an object of a dotted name, which source can name."""
    package, *names = path.split(".")
    found: Any = sys.modules.get(package)
    for name in names:
        found = getattr(found, name, None)
    return found is not None


def _is_default(name: str, value: Any) -> bool:
    if value is None and name not in ("axis", "initial"):
        return True
    if value is NO_VALUE or (name, value) in ((("keepdims"), False), ("subok", True)):
        return True
    return (name == "where" and value is True) or (
        name in ("casting", "order") and value in ("same_kind", "K")
    )


# The tracer ---------------------------------------------------------------------------------------


def _operator(ufunc: Any, perform: Callable[..., Any], *, swapped: bool = False) -> Any:
    """Make the method of an operator."""
    name = "pow" if ufunc is np.power else ufunc.__name__
    fn = operator.pow if name == "pow" else ufunc

    def operate(self: Any, other: Any) -> Any:
        if isinstance(other, AnyWrapper):
            return NotImplemented
        tape = self.tape
        if tape.refused:
            raise Unhandled(tape.refused)
        args = (other, self) if swapped else (self, other)
        recorded = (tape.recorded(args[0]), tape.recorded(args[1]))
        return tape.enter(fn, name, recorded, (), perform(tape.real(args[0]), tape.real(args[1])))

    return operate


def _unary(ufunc: Any, perform: Callable[..., Any]) -> Any:
    name = ufunc.__name__

    def operate(self: Any) -> Any:
        return self.tape.enter(ufunc, name, (Ref(self.index),), (), perform(self.value))

    return operate


def _refusing(what: str, fix: str) -> Any:
    def refuse(self: Any, *_args: Any, **_kwargs: Any) -> Any:
        raise self.tape.refuse(f"it calls {what}{self.tape.place()}. Fix: {fix}")

    return refuse


KEEP = "leave the value in an array; np.where chooses for each element"


PLAIN = (
    "call functions of NumPy's there, or of gradwrap.scipy's that give arrays, and "
    "gradwrap.numpy.array in place of np.array; a table of integers that is read at computed "
    "places is to be an argument"
)


class Tracer:
    """A real array or number, and its number in the program."""

    __slots__ = ("__weakref__", "index", "shares", "tape", "value")
    __array_priority__: float = 500.0
    __hash__: Any = None  # as NumPy's arrays

    base: None = None

    def __init__(self, value: Any, index: int, tape: Tape) -> None:
        self.value: Any = value
        self.index: int = index
        self.tape: Tape = tape
        self.shares: bool = False
        """Whether it is a view of another, or another of it."""

    shape: Any = property(lambda self: self.value.shape)
    dtype: Any = property(lambda self: self.value.dtype)
    ndim: Any = property(lambda self: self.value.ndim)
    size: Any = property(lambda self: self.value.size)
    itemsize: Any = property(lambda self: self.value.itemsize)
    nbytes: Any = property(lambda self: self.value.nbytes)
    strides: Any = property(lambda self: self.value.strides)
    flags: Any = property(lambda self: self.value.flags)
    device: Any = property(lambda self: self.tape.library.device(self.value))

    def _attribute(self, name: str) -> Any:
        return self.tape.record(Attribute(name), name, (self,))

    T: Any = property(lambda self: self._attribute("T"))
    mT: Any = property(lambda self: self._attribute("mT"))  # noqa: N815  NumPy's name
    real: Any = property(lambda self: self._attribute("real"))
    imag: Any = property(lambda self: self._attribute("imag"))

    def __len__(self) -> int:
        return len(self.value)

    def __iter__(self) -> Any:
        return iter([self[i] for i in range(len(self.value))])

    def __array_namespace__(self, api_version: str | None = None) -> Any:
        return NAMESPACE

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if any(isinstance(x, AnyWrapper) for x in inputs):
            return NotImplemented
        tape = self.tape
        out = kwargs.pop("out", None)
        if out is not None and any(one is not None for one in out):
            raise tape.refuse(f"np.{ufunc.__name__} writes to out=. Fix: y = np.{ufunc.__name__}()")
        kw = {name: value for name, value in kwargs.items() if not _is_default(name, value)}
        if "where" in kw or not _is_public(ufunc):
            raise tape.refuse(f"np.{ufunc.__name__} is called with where=. Fix: use np.where")
        if method == "__call__":
            return tape.record(ufunc, ufunc.__name__, inputs, kw)
        if method not in ("reduce", "accumulate", "outer", "reduceat"):
            raise tape.refuse(f"it calls np.{ufunc.__name__}.{method}. Fix: y[i] += x in a loop")
        return tape.record(getattr(ufunc, method), f"{ufunc.__name__}.{method}", inputs, kw)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        tape = self.tape
        if any(issubclass(kind, AnyWrapper) for kind in types):
            return NotImplemented
        if function in (np.shares_memory, np.may_share_memory):
            raise tape.refuse(f"it asks where arrays lie{tape.place()}. Fix: ask before the call")
        if function in SHAPES:
            real = mapped(args, tape.real)
            return function(*real, **{name: mapped(v, tape.real) for name, v in kwargs.items()})
        make = CREATION.get(function) or COMPOSED.get(function)
        if make is not None:
            return make(*args, **kwargs)
        path = _path_of(function)
        if function in WRITING or not path or kwargs.get("out") is not None:
            raise tape.refuse(
                f"it calls np.{path or function.__name__}, which writes in place{tape.place()}. "
                "Fix: y = gradwrap.numpy.array(y) before"
            )
        kw = {name: value for name, value in kwargs.items() if value is not NO_VALUE}
        if path == "where" and len(args) == 1:
            return tape.record(np.nonzero, "nonzero", args)
        return tape.record(function, path, args, kw)

    def __getitem__(self, key: Any) -> Any:
        key = unwrapped_key(key)
        made = self.tape.record(getitem, "getitem", (self, key))
        if isinstance(key, (Tracer, TUPLE, LIST, NDARRAY)):
            parts: Any = key if isinstance(key, TUPLE) else (key,)
            if any(_is_traced_mask(part) for part in parts):
                self.tape.look("shape", made, made.value.shape)
        return made

    def __bool__(self) -> bool:
        return bool(self.tape.look("bool", self, bool(self.value)))

    def __int__(self) -> int:
        return int(self.tape.look("int", self, int(self.value)))

    def __index__(self) -> int:
        operator.index(self.value)
        return int(self.tape.look("int", self, int(self.value)))

    def __contains__(self, value: Any) -> bool:
        return bool((self == value).any())

    def __copy__(self) -> Any:
        return self.tape.record(copy, "copy", (self,))

    def __deepcopy__(self, memo: Any) -> Any:
        return self.tape.record(copy, "copy", (self,))

    __float__: Any = _refusing("float(x) on an array", KEEP)
    __complex__: Any = _refusing("complex(x) on an array", KEEP)
    __array__: Any = _refusing("a function that needs a plain array", PLAIN)
    __repr__: Any = _refusing("print, repr or str on an array", "print the results of the function")
    __str__: Any = __repr__
    __format__: Any = __repr__
    __reduce_ex__: Any = _refusing("pickle on an array", KEEP)
    item: Any = _refusing("x.item()", KEEP)
    tolist: Any = _refusing("x.tolist()", KEEP)
    tobytes: Any = _refusing("x.tobytes()", KEEP)

    def copy(self, order: str = "C") -> Any:
        """Return a new array."""
        if order in ("K", "A") or self.value.flags.c_contiguous:
            return self.tape.record(copy, "copy", (self,))
        return self.tape.record(Method("copy"), ".copy", (self, order))

    def astype(self, dtype: Any, *args: Any, copy: bool = True, **kwargs: Any) -> Any:
        """Return the elements in another dtype."""
        dtype = np.dtype(dtype)
        if dtype == self.value.dtype and not args and not kwargs:
            return self.copy("K") if copy else self
        return self.tape.record(Method("astype"), ".astype", (self, dtype, *args), kwargs)

    def __getattr__(self, name: str) -> Any:
        if name not in METHODS:
            if hasattr(NDARRAY, name) and not name.startswith("__"):
                raise self.tape.refuse(f"it uses the attribute {name} of arrays. Fix: {KEEP}")
            raise AttributeError(f"a traced array has no attribute {name!r}")
        return partial(self._call, name)

    def _call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("out") is not None:
            raise self.tape.refuse(f"x.{name} writes to out=. Fix: y = x.{name}()")
        if name == "sum":
            names = ("axis", "dtype", "out", "keepdims")
            kw = {**dict(zip(names, args, strict=False)), **kwargs}
            kw.setdefault("axis", None)
            kw = {key: value for key, value in kw.items() if not _is_default(key, value)}
            return self.tape.record(np.add.reduce, "add.reduce", (self,), kw)
        return self.tape.record(Method(name), f".{name}", (self, *args), kwargs)


class ArrayTracer(Tracer):
    """A tracer of an array, which can be written to; numbers cannot."""

    __slots__ = ()

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(value, AnyWrapper):
            raise self.tape.refuse("a tracked value is written to a plain array")
        if self.shares and _package_of(_frame(1)) not in {*LIBRARIES, "scipy"}:
            raise self.tape.refuse(
                f"it writes to an array that has views, or is one{self.tape.place()}. "
                "Fix: y = gradwrap.numpy.array(y), whose views are seen"
            )
        self.index: int = self._written(setitem, "setitem", key, value)

    def _written(self, fn: Any, name: str, key: Any, value: Any) -> int:
        """Write to the value of this tracer; return the number of what it is now."""
        made = self.tape.record(fn, name, (self, key, value))
        self.value: Any = made.value
        return int(made.index)


_BINARY: dict[str, tuple[Any, Any]] = {
    "add": (np.add, operator.add),
    "sub": (np.subtract, operator.sub),
    "mul": (np.multiply, operator.mul),
    "truediv": (np.true_divide, operator.truediv),
    "floordiv": (np.floor_divide, operator.floordiv),
    "mod": (np.remainder, operator.mod),
    "pow": (np.power, operator.pow),
    "matmul": (np.matmul, operator.matmul),
    "and": (np.bitwise_and, operator.and_),
    "or": (np.bitwise_or, operator.or_),
    "xor": (np.bitwise_xor, operator.xor),
    "lshift": (np.left_shift, operator.lshift),
    "rshift": (np.right_shift, operator.rshift),
}
_COMPARED: dict[str, tuple[Any, Any]] = {
    "eq": (np.equal, operator.eq),
    "ne": (np.not_equal, operator.ne),
    "lt": (np.less, operator.lt),
    "le": (np.less_equal, operator.le),
    "gt": (np.greater, operator.gt),
    "ge": (np.greater_equal, operator.ge),
}
for _word, (_ufunc, _perform) in _BINARY.items():
    setattr(Tracer, f"__{_word}__", _operator(_ufunc, _perform))
    setattr(Tracer, f"__r{_word}__", _operator(_ufunc, _perform, swapped=True))
for _word, (_ufunc, _perform) in _COMPARED.items():
    setattr(Tracer, f"__{_word}__", _operator(_ufunc, _perform))
for _word, _ufunc, _perform in (
    ("neg", np.negative, operator.neg),
    ("pos", np.positive, operator.pos),
    ("abs", np.absolute, operator.abs),
    ("invert", np.invert, operator.invert),
):
    setattr(Tracer, f"__{_word}__", _unary(_ufunc, _perform))


def _is_traced_mask(part: Any) -> bool:
    return isinstance(part, Tracer) and part.value.dtype == np.bool_


def _is_public(ufunc: Any) -> bool:
    """Tell if a ufunc can be named in source: it is NumPy's, or of scipy.special."""
    name = ufunc.__name__
    if getattr(np, name, None) is ufunc:
        return True
    special: Any = sys.modules.get("scipy.special")
    return getattr(special, name, None) is ufunc


# The library of tracers ---------------------------------------------------------------------------

current: ContextVar[Tape | None] = ContextVar("gradwrap_compiler_tape", default=None)


def _tape() -> Tape:
    tape = current.get()
    if tape is None:
        raise Unhandled("an array of a trace is used after the trace has ended")
    return tape


def _created(shape: Any, number: Any, dtype: Any) -> Any:
    """Write down a new array of one number."""
    tape = _tape()
    shape = _lengths(shape)
    if isinstance(number, (Tracer, tape.library.kind)):
        return tape.record(np.full, "full", (shape, number, dtype))
    filled: Any = np.full((), number) if dtype is None else None
    dtype = np.dtype(filled.dtype if dtype is None else dtype)
    real: Any = np.real(number)
    if not number and not np.signbit(real):
        return tape.record(zeros, "zeros", (shape, dtype))
    return tape.record(full, "full", (shape, number, dtype))


def _lengths(shape: Any) -> tuple[int, ...]:
    if isinstance(shape, (TUPLE, LIST)):
        return tuple(operators.index(length) for length in shape)
    return (operators.index(shape),)


def _like(number: Any) -> Any:
    def make(x: Any, /, dtype: Any = None, **options: Any) -> Any:
        shape = options.get("shape")
        return _created(x.shape if shape is None else shape, number, dtype or x.dtype)

    return make


def _filled(number: Any) -> Any:
    def make(shape: Any, dtype: Any = None, *, device: Any = None) -> Any:
        return _created(shape, number, np.float64 if dtype is None else dtype)

    return make


def _full_like(x: Any, /, fill_value: Any, *, dtype: Any = None, **options: Any) -> Any:
    return _created(x.shape, fill_value, dtype or x.dtype)


def _full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    return _created(shape, fill_value, dtype)


def _constant(function: Any) -> Any:
    """Let a function that makes an array of numbers make a tracer of a constant."""

    def make(*args: Any, device: Any = None, **kwargs: Any) -> Any:
        tape = _tape()
        made = tape.library.asarray(function(*args, **kwargs))
        return tape.library.tracer(made, tape.constant(made).index, tape)

    return make


def _asarray(value: Any, /, *, dtype: Any = None, copy: Any = None, device: Any = None) -> Any:
    tape = _tape()
    if isinstance(value, Tracer):
        if dtype is not None and np.dtype(dtype) != value.dtype:
            return value.astype(dtype)
        return value.__copy__() if copy else value
    if isinstance(value, tape.library.kind) and not copy:
        if dtype is None or dtype == value.dtype:
            return tape.entered(value)
        made = value.astype(dtype)
        return tape.library.tracer(made, tape.constant(made).index, tape)
    if _holds_tracer(value):
        kind = np.result_type(*_leaf_dtypes(value)) if dtype is None else np.dtype(dtype)
        return tape.record(array, "array", (value, kind))
    made = tape.library.asarray(value, dtype)
    return tape.library.tracer(made, tape.constant(made).index, tape)


def _holds_tracer(value: Any) -> bool:
    if isinstance(value, (TUPLE, LIST)):
        return any(map(_holds_tracer, value))
    return isinstance(value, Tracer)


def _leaf_dtypes(value: Any) -> Any:
    if isinstance(value, (TUPLE, LIST)):
        for part in value:
            yield from _leaf_dtypes(part)
    else:
        yield value.dtype if hasattr(value, "dtype") else np.asarray(value).dtype


def _sum(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    if isinstance(x, Tracer):
        return x.sum(axis=axis, dtype=dtype, keepdims=keepdims)
    return ADD_REDUCE(x, axis, dtype, None, keepdims)


def _count_nonzero(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """Count by a sum, as NumPy does where axes are kept; the total is an array without axes."""
    chosen = x if x.dtype == np.bool_ else np.not_equal(x, 0)
    total = ADD_REDUCE(chosen, axis=axis, dtype=np.dtype(np.intp), keepdims=keepdims)
    return total if total.shape else _asarray([total], dtype=total.dtype).reshape(())


def _stacked(stack: Any, arrays: Any, /, *, axis: int = 0) -> Any:
    """Make an array of numbers in one operation; stack other arrays as NumPy does."""
    if not all(getattr(one, "shape", None) == () for one in arrays):
        return stack(arrays, axis=axis)
    return _tape().record(
        array, "array", (list(arrays), np.result_type(*_leaf_dtypes(list(arrays))))
    )


def _repeated(x: Any, /, shape: tuple[int, ...]) -> Any:
    """Repeat values, in a new array where that is what the backend of NumPy makes."""
    if isinstance(x, NUMBER):
        return _created(shape, x, x.dtype)
    view: Any = np.broadcast_to(x, shape)
    return view if view.size > SMALL or not isinstance(view, Tracer) else view.copy()


def _astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    return x.astype(dtype, copy=copy)


CREATION: dict[Any, Any] = {
    np.zeros_like: _like(0),
    np.ones_like: _like(1),
    np.empty_like: _like(0),
    np.full_like: _full_like,
}


def _all_close(a: Any, b: Any, *args: Any, **kwargs: Any) -> bool:
    """Decide as `np.allclose` does; the answer is one of the values that are looked at."""
    return bool(np.all(np.isclose(a, b, *args, **kwargs)))


def _all_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    """Decide as `np.array_equal` does."""
    if np.shape(a1) != np.shape(a2):
        return False
    same = np.equal(a1, a2)
    return bool(np.all(same | (np.isnan(a1) & np.isnan(a2)) if equal_nan else same))


def _all_alike(a1: Any, a2: Any) -> bool:
    """Decide as `np.array_equiv` does."""
    try:
        np.broadcast_shapes(np.shape(a1), np.shape(a2))
    except ValueError:
        return False
    return bool(np.all(np.equal(a1, a2)))


def _vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: float = 2) -> Any:
    """Write the Euclidean norm of real numbers as NumPy computes it: its parts are operations."""
    tape = _tape()
    if ord != 2 or isinstance(axis, TUPLE) or not isinstance(x, Tracer) or x.dtype.kind != "f":
        kw = {"axis": axis, "keepdims": keepdims, "ord": ord}
        return tape.record(np.linalg.vector_norm, "linalg.vector_norm", (x,), kw)
    line: Any = x.reshape(-1) if axis is None and x.ndim != 1 else x
    keeps = keepdims and axis is not None
    found = np.sqrt(ADD_REDUCE(line * line, axis=axis or 0, keepdims=keeps))
    return found if keeps == keepdims else found.reshape((1,) * x.ndim)


COMPOSED: dict[Any, Any] = {
    np.allclose: _all_close,
    np.array_equal: _all_equal,
    np.array_equiv: _all_alike,
    np.linalg.vector_norm: _vector_norm,
}
"""Functions that are performed by other operations."""
OWN: dict[str, Any] = {
    "asarray": _asarray,
    "astype": _astype,
    "sum": _sum,
    "count_nonzero": _count_nonzero,
    "linalg": module_like(
        compat.linalg,  # whose own functions convert what they are given, and have other results
        **{name: getattr(np.linalg, name) for name in ("solve", "eigh", "qr", "slogdet", "svd")},
    ),
    "matmul": np.matmul,
    "matrix_transpose": operator.attrgetter("mT"),
    "mean": np.mean,
    "zeros": _filled(0),
    "ones": _filled(1),
    "empty": _filled(0),
    "full": _full,
    "zeros_like": _like(0),
    "ones_like": _like(1),
    "empty_like": _like(0),
    "full_like": _full_like,
    "arange": _constant(np.arange),
    "linspace": _constant(np.linspace),
    "eye": _constant(np.eye),
}
"""Functions of the namespace that make tracers, or take them as they are."""
NAMESPACE: Any = module_like(compat, **OWN)
NAMESPACE.__name__ = "gradwrap_tracers"


class TraceBackend(NumPyBackend):
    """NumPy as the core sees it during a trace: rules of NumPy, and writes that are functional."""

    keeps_base = False

    def class_attributes(self) -> dict[str, Any]:
        return {**super().class_attributes(), "__class__": property(_shown_class, _change_class)}

    def for_formulas(self, xp: Any) -> Any:
        direct = super().for_formulas(xp)
        direct.__dict__.update({**OWN, "sum": summed, "broadcast_to": _repeated})
        return direct

    def native(self, path: str) -> Callable[..., Any] | None:
        found = super().native(path)
        return partial(_stacked, found) if path == "stack" else found

    def is_array(self, value: object) -> bool:
        return isinstance(value, Tracer) or super().is_array(value)

    def asarray(self, value: Any, like: Any = None) -> Any:
        if like is None or not isinstance(value, Tracer) or isinstance(value.value, NDARRAY):
            return _asarray(value)
        return value.tape.record(array, "array", (value, value.dtype))  # without axes, as `like`

    def concrete(self, array: Any) -> Any:
        return _real(array)

    def ones_like(self, array: Any) -> Any:
        if array.ndim:
            return _created(array.shape, 1, array.dtype)
        return array.dtype.type(1)

    def copy(self, array: Any, order: Any = None) -> Any:
        if not isinstance(array, Tracer):
            return super().copy(array, order)
        return array.copy("K" if order is None else order)

    def kept(self, array: Any, level: int, briefly: bool = False) -> Any:
        tape = current.get()
        if isinstance(array, Tracer) or tape is None or not isinstance(array, tape.library.kind):
            return array
        index = tape.constant(array).index
        return tape.library.tracer(tape.constants[index], index, tape)

    def owns_buffer(self, array: Any) -> bool:
        return False

    def may_be_view(self, array: Any, source: Any) -> bool:
        mine, other = _real(array), _real(source)
        if not isinstance(mine, NDARRAY) or not isinstance(other, NDARRAY):
            return False
        return mine is other or bool(np.may_share_memory(mine, other))

    def with_part(self, xp: Any, array: Any, part: str, value: Any) -> Any:
        """Write to every other one of the numbers that complex ones consist of."""
        numbers = array.reshape(-1).view(array.value.real.dtype)
        if np.ndim(value):
            value = np.broadcast_to(value, array.shape).reshape(-1)
        numbers[int(part == "imag") :: 2] = value
        return numbers.view(array.dtype).reshape(array.shape)

    def read_part(self, view: Any) -> Any:
        return view

    def is_writeable(self, view: Any) -> bool:
        real = _real(view)
        return not isinstance(real, NDARRAY) or bool(real.flags.writeable)

    def batch_first(self, array: Any, axis: int) -> Any:
        return np.ascontiguousarray(np.moveaxis(array, axis, 0))

    def laid_out(self, array: Any, like: Any) -> Any:
        if not isinstance(array, Tracer):
            return super().laid_out(array, like)
        if isinstance(_real(like), NDARRAY) and not like.ndim:
            return self.asarray(array, like)
        if like is None and not array.flags.c_contiguous:
            return array.tape.record(np.ascontiguousarray, "ascontiguousarray", (array,))
        return array

    def plus_diagonal(self, matrix: Any, diagonal: Any) -> Any:
        return matrix + self.diagonal_matrix(diagonal)

    def scatter_add(self, buffer: Any, key: Any, values: Any) -> Any:
        if not isinstance(buffer, Tracer):
            buffer = _asarray(buffer, copy=True)
        return buffer.tape.record(scatter_add, "scatter_add", (buffer, key, values))


OWN_CLASS: Any = object.__dict__["__class__"]


def _shown_class(wrapper: Any) -> type[Any]:
    """The class that `isinstance` finds: to the user's code, that of eager's value if untracked."""
    frame: FrameType | None = _frame(1)
    while frame is not None and _package_of(frame) == "abc":
        frame = frame.f_back
    is_users = frame is not None and _package_of(frame) not in {*LIBRARIES, "optree", ""}
    value = wrapper._value
    if is_users and wrapper._node is None and isinstance(value, Tracer):
        return type_of(value.value)
    return type_of(wrapper)


def _change_class(wrapper: Any, kind: type[Any]) -> None:
    OWN_CLASS.__set__(wrapper, kind)


def _real(value: Any) -> Any:
    return value.value if isinstance(value, Tracer) else value


def _make(xp: Any, kind: type) -> TraceBackend:
    backend = TraceBackend(NAMESPACE, kind)
    backend.array_types = frozenset({kind})  # the others are entered below: they are NumPy's
    return backend


register_backend(NAMESPACE.__name__, _make)
BACKEND: Any = backend_of(ArrayTracer(np.zeros(1), 0, Tape()))
assert backend_of(Tracer(np.float64(0.0), 0, Tape())) is BACKEND
NATIVE = NumPyBackend(np, NDARRAY).array_types
BACKEND.array_types = BACKEND.native_types = frozenset({Tracer, ArrayTracer}) | NATIVE
BACKEND.plain_types = BACKEND.plain_types | BACKEND.array_types
Library.backend = BACKEND


# One run ------------------------------------------------------------------------------------------


def is_transform(function: Any) -> bool:
    """Tell if a function was made by a transform, which wraps its arguments itself."""
    while isinstance(function, partial):
        function = function.func
    code: Any = getattr(function, "__code__", None)
    return code is not None and code.co_filename.startswith(f"{PACKAGE}/transforms/")


@contextmanager
def _tracing(tape: Tape) -> Generator[None]:
    def enter(array: Any) -> Any:
        """A new array of floats, which may be filled with tracked values."""
        if type(array) is not tape.library.kind:
            return array
        if array.size and not _in_line(array).view(np.uint8).any():
            return tape.record(zeros, "zeros", (array.shape, array.dtype))
        constant: Any = tape.library.tracer(array, tape.constant(array).index, tape)
        return constant.__copy__()

    def perform(function: Any, name: str, args: Any, kwargs: Any) -> Any:
        """Call a function of another package, which is one operation where it is given tracers."""
        if not _holds_tracer((args, tuple(kwargs.values()))) or not _is_found(name):
            return function(*args, **kwargs)
        return tape.record(function, name, args, kwargs)

    token = current.set(tape)
    outside = new_arrays.set(enter)
    before = foreign_calls.set(perform)
    try:
        yield
    finally:
        foreign_calls.reset(before)
        new_arrays.reset(outside)
        current.reset(token)


def trace(
    function: Callable[..., Any],
    leaves: Sequence[Any],
    treedef: TreeDef,
    is_given: Callable[[Any], bool] = NUMPY.is_input,
    surroundings: Surroundings | None = None,
    library: Library = NUMPY,
) -> Traced:
    """Run a function on tracers in place of its arrays: leaves that are inputs, and surroundings.

    Raises
    ------
    Unhandled
        The function does what cannot be compiled.
    """
    if current_watch() is not None:
        raise Unhandled("a watch (detect_anomaly, saved_tensors_hooks, ...) is on")
    tape = Tape(library)
    if surroundings is not None and surroundings.sets_errors:
        tape.errors = {**np.geterr()}
    backend = library.backend
    wraps = not is_transform(function)
    tracers: list[Tracer] = []
    entered: Any = []
    known: dict[int, Any] = {}
    for leaf in leaves:
        if not is_given(leaf):
            entered.append(leaf)
            continue
        tracer = tape.new(leaf)
        tracers.append(tracer)
        made = make_wrapper(variable_class(backend), tracer) if wraps else tracer
        is_once = isinstance(leaf, NUMBER) or surroundings is None or not surroundings.tells_same
        entered.append(made if is_once else known.setdefault(id(leaf), made))
    inputs = tuple(tracer.index for tracer in tracers)
    if surroundings is not None and surroundings.replaces:
        function, entered = surroundings.with_arrays(entered, tape.entered)
    args, kwargs = unflatten(treedef, entered)
    with _tracing(tape):
        try:
            with differentiating(wraps):
                out = function(*args, **kwargs)
            handed, tree = flatten(out)
            found = tuple(_handed_out(leaf, tape) for leaf in handed)
        except Exception as error:
            if tape.refused:
                raise Unhandled(tape.refused) from error
            raise
    if tape.refused:
        raise Unhandled(tape.refused)
    for tracer, index, leaf in zip(tracers, inputs, filter(is_given, leaves), strict=True):
        if tracer.index != index or tracer.value is not leaf:
            raise Unhandled("it writes to an argument. Fix: write to a copy of it")
    if any(tracer.index != index for tracer, index in tape.around):
        raise Unhandled("it writes to an array of its surroundings. Fix: write to a copy of it")
    for wrapper in entered:
        if isinstance(wrapper, AnyWrapper) and (
            not isinstance(wrapper._value, Tracer) or wrapper._value.index not in inputs
        ):
            raise Unhandled("it writes to an argument. Fix: write to a copy of it")
    return Traced(
        tape.instrs,
        tape.guards,
        tape.values,
        inputs,
        tape.constants,
        tape.originals(),
        tape.readers,
        tuple(leaf for leaf, _ in found),
        tree,
        tuple(real for _, real in found),
        frozenset(tape.quiet),
    )


def _handed_out(leaf: Any, tape: Tape) -> tuple[Any, Any]:
    """A leaf of the result, as the program has it, and what it is in this run."""
    while isinstance(leaf, AnyWrapper):
        leaf = leaf._value
    if isinstance(leaf, Tracer) and leaf.tape is not tape:
        raise tape.refuse("an array of another trace is returned")
    if isinstance(leaf, (Tracer, tape.library.kind)):
        return tape.recorded(leaf), tape.real(leaf)
    if leaf is None or isinstance(leaf, (str, bytes, int, float, complex, bool, NUMBER, np.dtype)):
        return leaf, leaf
    raise tape.refuse(f"it returns a {type(leaf).__name__}")


__all__ = ["SLICE", "UFUNC", "Tape", "Traced", "Tracer", "Unhandled", "trace"]
