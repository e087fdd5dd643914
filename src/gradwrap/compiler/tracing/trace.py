"""Tracing: one run of a function on arrays that write down what is done to them.

The core sees the tracers of NumPy's arrays as a library of their own, with NumPy's rules. So the
rules, the engine, `vmap` and the code for writes run as they are, and what arrives at the tape is a
flat sequence of NumPy's operations.
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

from gradwrap.backends.numpy.backend import SMALL, NumPyBackend
from gradwrap.backends.numpy.buffers import lies_outside
from gradwrap.backends.numpy.sums import summed
from gradwrap.compiler.ir.program import NDARRAY, array, full, scatter_add, zeros
from gradwrap.compiler.tracing.tape import (
    LIBRARIES,
    NUMBER,
    NUMPY,
    Library,
    Tape,
    Unhandled,
    frame_of,
    in_line,
    package_of,
)
from gradwrap.compiler.tracing.tracer import OTHERWISE, ArrayTracer, Tracer
from gradwrap.core.array.variable import variable_class
from gradwrap.core.levels.levels import current_watch, differentiating
from gradwrap.core.levels.modes import foreign_calls, new_arrays
from gradwrap.core.levels.wrapper import AnyWrapper, make_wrapper
from gradwrap.core.library.backend import backend_of, register_backend
from gradwrap.core.library.buffers import PACKAGE
from gradwrap.core.library.compat import module_like
from gradwrap.core.values.dynamic import LIST, TUPLE, type_of
from gradwrap.core.values.tree import TreeDef, flatten, unflatten

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from types import FrameType

    from gradwrap.compiler.ir.program import Guard, Instr, Value
    from gradwrap.compiler.tracing.surroundings import Surroundings

operator: Any = operators
ADD_REDUCE: Any = np.add.reduce


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
OTHERWISE.update({**CREATION, **COMPOSED})
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
Library.namespace = NAMESPACE


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
        if not axis and lies_outside(_real(array)):
            return array
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
    frame: FrameType | None = frame_of(1)
    while frame is not None and package_of(frame) == "abc":
        frame = frame.f_back
    is_users = frame is not None and package_of(frame) not in {*LIBRARIES, "optree", ""}
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


def _is_found(path: str) -> bool:
    """Tell if there is an object of a dotted name, which source can name."""
    package, *names = path.split(".")
    found: Any = sys.modules.get(package)
    for name in names:
        found = getattr(found, name, None)
    return found is not None


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
        if array.size and not in_line(array).view(np.uint8).any():
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
