"""The backend of tracers: NumPy as the core sees it during a trace.

The core treats the tracers of NumPy arrays as a library of their own, with NumPy's rules. So the
rules, the engine, `vmap` and the code for writes run unchanged, and the tape receives a
flat sequence of NumPy operations.
"""

from __future__ import annotations

import math
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.backends.numpy.backend import NumPyBackend
from gradwrap.backends.numpy.buffers import empty_in_order_of, lies_outside
from gradwrap.backends.numpy.sums import summed
from gradwrap.compiler.ir.program import NDARRAY, array, scatter_add
from gradwrap.compiler.tracing.floats import FloatTracer
from gradwrap.compiler.tracing.namespace import (
    NAMESPACE,
    OTHERWISE,
    OWN,
    as_tracer,
    created,
    current,
    repeated,
    stacked,
)
from gradwrap.compiler.tracing.tape import Library, Unhandled, Weak
from gradwrap.compiler.tracing.tracer import ArrayTracer, Tracer
from gradwrap.core.array.operators import Operators
from gradwrap.core.array.setters import set_shape
from gradwrap.core.levels.wrapper import make_wrapper
from gradwrap.core.library.registration import serve
from gradwrap.core.observing.code import ARRAYS, frame_of, module_of, package_of
from gradwrap.core.values.dynamic import TUPLE, type_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType


class TraceBackend(NumPyBackend):
    """NumPy during a trace: the rules of NumPy, with functional writes."""

    keeps_base = False

    def counting(self) -> Any:
        """Refuse to count bytes, which are not those of the compiled program."""
        raise Unhandled(
            "chunk_size is a size in bytes, which is counted during a call. Fix: give the number "
            "of rows or examples"
        )

    def class_attributes(self) -> dict[str, Any]:
        return {
            **super().class_attributes(),
            "__class__": property(_shown_class, _change_class),
            "shape": property(_shown_shape, set_shape),
            "size": property(_shown_size),
            "__iter__": _iterated,
            "__array_function__": _answered,
            "_operator": classmethod(_operator),
            "_write_call": classmethod(_write_call),
        }

    def for_formulas(self, xp: Any) -> Any:
        direct = super().for_formulas(xp)
        direct.__dict__.update({**OWN, "sum": summed, "broadcast_to": repeated})
        return direct

    def native(self, path: str) -> Callable[..., Any] | None:
        found = super().native(path)
        return partial(stacked, found) if path == "stack" else found

    def is_array(self, value: object) -> bool:
        return isinstance(value, Tracer) or super().is_array(value)

    def asarray(self, value: Any, like: Any = None) -> Any:
        if like is None or not isinstance(value, Tracer) or isinstance(value.value, NDARRAY):
            return as_tracer(value)
        return value.tape.record(array, "array", (value, value.dtype))  # without axes, as `like`

    def concrete(self, array: Any) -> Any:
        return _real(array)

    def ones_like(self, array: Any) -> Any:
        if array.ndim:
            return created(array.shape, 1, array.dtype)
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

    def to_hold(self, array: Any) -> Any:
        return array.strong if isinstance(array, Weak) else array

    def owns_buffer(self, array: Any) -> bool:
        return False

    def handed_out(self, wrapper: Any) -> Any:
        found = wrapper._value
        if wrapper._node is not None or not isinstance(_real(found), NDARRAY):
            return super().handed_out(wrapper)
        return make_wrapper(type_of(wrapper), self.copy(found))  # an array with its own buffer

    def lent(self, view: Any, loan: Any) -> Any:
        return np.asarray(view) if isinstance(view, Tracer) else super().lent(view, loan)

    def may_be_view(self, array: Any, source: Any) -> bool:
        mine, other = _real(array), _real(source)
        if not isinstance(mine, NDARRAY) or not isinstance(other, NDARRAY):
            return False
        return mine is other or bool(np.may_share_memory(mine, other))

    def with_part(self, xp: Any, array: Any, part: str, value: Any) -> Any:
        """Write to every other element of a view of complex numbers as real numbers."""
        numbers = array.reshape(-1).view(array.value.real.dtype)
        if np.ndim(value):
            value = np.broadcast_to(value, array.shape).reshape(-1)
        numbers[int(part == "imag") :: 2] = value
        return numbers.view(array.dtype).reshape(array.shape)

    def is_writeable(self, view: Any) -> bool:
        real = _real(view)
        return not isinstance(real, NDARRAY) or bool(real.flags.writeable)

    def batch_first(self, array: Any, axis: int) -> Any:
        if not axis and lies_outside(_real(array)):
            return array
        return self.laid_out(np.moveaxis(array, axis, 0), None)

    def laid_out(self, array: Any, like: Any) -> Any:
        if not isinstance(array, Tracer):
            return super().laid_out(array, like)
        model = _real(like)
        if like is None:
            return array if array.flags.c_contiguous else _in_c_order(array)
        if isinstance(model, NDARRAY) and not model.ndim:
            return self.asarray(array, like)
        if not isinstance(model, NDARRAY) or model.strides == array.value.strides:
            return array
        steps = np.empty_like(empty_in_order_of(model, array.value)).strides
        return array if np.empty_like(array.value).strides == steps else _in_order(array, steps)

    def plus_diagonal(self, matrix: Any, diagonal: Any) -> Any:
        return matrix + self.diagonal_matrix(diagonal)

    def scatter_add(self, buffer: Any, key: Any, values: Any) -> Any:
        if not isinstance(buffer, Tracer):
            buffer = as_tracer(buffer, copy=True)
        return buffer.tape.record(scatter_add, "scatter_add", (buffer, key, values))


def _in_c_order(array: Tracer) -> Any:
    return array.tape.record(np.ascontiguousarray, "ascontiguousarray", (array,))


def _in_order(array: Tracer, steps: tuple[int, ...]) -> Any:
    """Record a copy of an array whose axes lie in memory in the order of these strides."""
    axes = sorted(range(array.ndim), key=lambda axis: -steps[axis])
    if axes == [*range(array.ndim)]:
        return _in_c_order(array)
    if axes == [*range(array.ndim)][::-1]:
        return array.copy("F")
    return np.transpose(np.transpose(array, axes).copy(), np.argsort(axes).tolist())


OWN_CLASS: Any = object.__dict__["__class__"]
LIBRARIES = frozenset({*ARRAYS, "optree", ""})
"""The packages to which wrappers show their own class."""


@lru_cache(maxsize=4096)
def _is_librarys(module: str) -> bool:
    return package_of(module) in LIBRARIES


def _shown_class(wrapper: Any) -> type[Any]:
    """Return the class that `isinstance` sees: for user code, the class in the eager run."""
    value = wrapper._value
    if wrapper._node is None and issubclass(type_of(value), Tracer):
        frame: FrameType | None = frame_of(1)
        module = ""
        while frame is not None and (module := module_of(frame)) == "abc":
            frame = frame.f_back
        if frame is not None and not _is_librarys(module):
            return type_of(value.value)
    return type_of(wrapper)


def _change_class(wrapper: Any, kind: type[Any]) -> None:
    OWN_CLASS.__set__(wrapper, kind)


def _watched() -> Any:
    """Return the watch of the current trace, if user code asks for an attribute."""
    tape = current.get()
    watch = None if tape is None else tape.watch
    return watch if watch is not None and watch.is_users(module_of(frame_of(2))) else None


def _shown_shape(wrapper: Any) -> tuple[Any, ...]:
    """Return the lengths of the axes, which may stand for others at full size."""
    shape: tuple[int, ...] = type_of(wrapper)._kind.shape.fget(wrapper)
    watch = _watched()
    return shape if watch is None else watch.shape(shape)


def _shown_size(wrapper: Any) -> Any:
    watch = _watched()
    shape: tuple[int, ...] = type_of(wrapper)._kind.shape.fget(wrapper)
    return math.prod(shape if watch is None else watch.shape(shape))


def _iterated(wrapper: Any) -> Any:
    watch = _watched()
    if watch is not None and wrapper.ndim:
        return watch.iterated(wrapper, frame_of(1))
    return type_of(wrapper)._kind.__iter__(wrapper)


def _answered(wrapper: Any, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """Call a function of NumPy; what tells lengths as plain numbers is refused if they are two."""
    found = type_of(wrapper)._kind.__array_function__(wrapper, function, types, args, kwargs)
    tape = current.get()
    numbers = found if type_of(found) is TUPLE else (found,)
    if tape is not None and tape.watch is not None and int in map(type_of, numbers):
        raise tape.watch.told(function.__name__)
    return found


def _operator(cls: Any, op: Any, method: str, *, swapped: bool = False) -> Any:
    """Bind an operation to the class. Keys are those of this run."""
    of_operators: Any = Operators
    function = of_operators._operator.__func__(cls, op, method, swapped=swapped)
    if method == "__getitem__":
        plain = function

        def function(wrapper: Any, key: Any) -> Any:
            return plain(wrapper, _plain_key(key, wrapper))

        setattr(cls, method, function)
    return function


def _plain_key(key: Any, wrapper: Any) -> Any:
    """Return the key with the plain numbers of this run, if user code uses it."""
    tape = current.get()
    watch = None if tape is None else tape.watch
    if watch is None or not watch.is_users(module_of(frame_of(2))):
        return key
    return watch.plain_key(key, type_of(wrapper)._kind.shape.fget(wrapper))


def _write_call(cls: Any) -> Any:
    of_operators: Any = Operators
    plain = of_operators._write_call.__func__(cls)

    def write(wrapper: Any, key: Any, value: Any) -> None:
        plain(wrapper, _plain_key(key, wrapper), value)

    cls.__setitem__ = write
    return write


def _real(value: Any) -> Any:
    return value.value if isinstance(value, Tracer) else value


def _made() -> TraceBackend:
    """Create the backend of tracers; plain NumPy arrays count among its arrays."""
    backend = TraceBackend(NAMESPACE, ArrayTracer)
    types = frozenset({Tracer, ArrayTracer, FloatTracer}) | NumPyBackend(np, NDARRAY).array_types
    backend.array_types = backend.native_types = types
    backend.plain_types = backend.plain_types | types
    return backend


class NumPyLibrary(Library):
    """NumPy as a library to trace."""

    backend: Any = _made()
    namespace: Any = NAMESPACE
    otherwise = OTHERWISE
    tracers: tuple[type[Any], type[Any]] = (ArrayTracer, Tracer)


serve(NumPyLibrary.backend, (Tracer, ArrayTracer, FloatTracer))
NUMPY: Library = NumPyLibrary()
