"""The namespace of tracers: NumPy's functions, recorded in a trace."""

from __future__ import annotations

import operator as operators
from contextvars import ContextVar
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.backends.numpy.backend import SMALL
from gradwrap.backends.numpy.namespace import COMPAT, namespace
from gradwrap.compiler.ir.program import array, full, zeros
from gradwrap.compiler.tracing.tape import NUMBER, Tape, Unhandled, Weak
from gradwrap.compiler.tracing.tracer import Tracer
from gradwrap.core.library.compat import module_like
from gradwrap.core.values.dynamic import LIST, TUPLE

if TYPE_CHECKING:
    from collections.abc import Callable

operator: Any = operators
ADD_REDUCE: Any = np.add.reduce

current: ContextVar[Tape | None] = ContextVar("gradwrap_compiler_tape", default=None)


def _tape() -> Tape:
    tape = current.get()
    if tape is None:
        raise Unhandled("an array of a trace is used after the trace has ended")
    return tape


def created(shape: Any, number: Any, dtype: Any) -> Any:
    """Record a new array filled with one number."""
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
        return created(x.shape if shape is None else shape, number, dtype or x.dtype)

    return make


def _filled(number: Any) -> Any:
    def make(shape: Any, dtype: Any = None, *, device: Any = None) -> Any:
        return created(shape, number, np.float64 if dtype is None else dtype)

    return make


def _full_like(x: Any, /, fill_value: Any, *, dtype: Any = None, **options: Any) -> Any:
    return created(x.shape, fill_value, dtype or x.dtype)


def _full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    return created(shape, fill_value, dtype)


def _constant(function: Any) -> Any:
    """Wrap a function that makes a constant array, so that it returns a tracer."""

    def make(*args: Any, device: Any = None, **kwargs: Any) -> Any:
        tape = _tape()
        return _of_new(tape, tape.library.asarray(function(*args, **kwargs)))

    return make


def _of_new(tape: Tape, array: Any) -> Any:
    """Return the tracer of an array that was made in the trace, as a constant."""
    index = tape.constant(array).index
    tape.made.add(index)
    return tape.library.tracer(array, index, tape)


def as_tracer(value: Any, /, *, dtype: Any = None, copy: Any = None, device: Any = None) -> Any:
    """Return a tracer of a value; an array from the surroundings becomes a constant."""
    tape = _tape()
    if isinstance(value, Weak):
        value = value.strong
    if isinstance(value, Tracer):
        if dtype is not None and np.dtype(dtype) != value.dtype:
            return value.astype(dtype)
        return value.__copy__() if copy else value
    if isinstance(value, tape.library.kind) and not copy:
        if dtype is None or dtype == value.dtype:
            return tape.entered(value)
        made = value.astype(dtype)
        return tape.library.tracer(made, tape.constant(made).index, tape)
    if holds_tracer(value):
        kind = np.result_type(*_leaf_dtypes(value)) if dtype is None else np.dtype(dtype)
        return tape.record(array, "array", (value, kind))
    return _of_new(tape, tape.library.asarray(value, dtype))


def holds_tracer(value: Any) -> bool:
    """Tell if a value is a tracer, or a nest of tuples and lists that contains one."""
    if isinstance(value, (TUPLE, LIST)):
        return any(map(holds_tracer, value))
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
    """Count by a sum, as NumPy does with `keepdims`; the total is a 0-d array."""
    chosen = x if x.dtype == np.bool_ else np.not_equal(x, 0)
    total = ADD_REDUCE(chosen, axis=axis, dtype=np.dtype(np.intp), keepdims=keepdims)
    return total if total.shape else as_tracer([total], dtype=total.dtype).reshape(())


def stacked(stack: Any, arrays: Any, /, *, axis: int = 0) -> Any:
    """Join numbers into an array by one operation; stack other arrays as NumPy does."""
    if not all(getattr(one, "shape", None) == () for one in arrays):
        return stack(arrays, axis=axis)
    return _tape().record(
        array, "array", (list(arrays), np.result_type(*_leaf_dtypes(list(arrays))))
    )


def repeated(x: Any, /, shape: tuple[int, ...]) -> Any:
    """Broadcast values, copying small results as the NumPy backend does."""
    if isinstance(x, NUMBER):
        return created(shape, x, x.dtype)
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
    """Decide as `np.allclose` does; the result becomes a guard."""
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
    """Record the Euclidean norm of real numbers as elementary operations, as NumPy computes it."""
    tape = _tape()
    if ord != 2 or isinstance(axis, TUPLE) or not isinstance(x, Tracer) or x.dtype.kind != "f":
        kw = {"axis": axis, "keepdims": keepdims, "ord": ord}
        return tape.record(np.linalg.vector_norm, "linalg.vector_norm", (x,), kw)
    line: Any = x.reshape(-1) if axis is None and x.ndim != 1 else x
    keeps = keepdims and axis is not None
    found = np.sqrt(ADD_REDUCE(line * line, axis=axis or 0, keepdims=keeps))
    return found if keeps == keepdims else found.reshape((1,) * x.ndim)


def _of_compat(name: str) -> Any:
    """Return a function of `linalg` in the standard's form; its import is slow."""
    return getattr(import_module(f"{COMPAT}.linalg"), name)


def _linalg() -> ModuleType:
    """Return `linalg`. Of the standard's functions, some convert their arguments."""
    made = ModuleType(f"{COMPAT}.linalg")
    own = ("solve", "eigh", "qr", "slogdet", "svd")
    made.__dict__.update({name: getattr(np.linalg, name) for name in own}, eig=_eig)
    made.__dict__["__getattr__"] = _of_compat
    return made


def _eig(x: Any, /) -> Any:
    """Record the function of the standard, whose results are complex numbers in all cases."""
    return _tape().record(_of_compat("eig"), f"{COMPAT}.linalg.eig", (x,))


COMPOSED: dict[Any, Any] = {
    np.allclose: _all_close,
    np.array_equal: _all_equal,
    np.array_equiv: _all_alike,
    np.linalg.vector_norm: _vector_norm,
}
"""The functions that are recorded as other operations."""
OTHERWISE: dict[Any, Callable[..., Any]] = {**CREATION, **COMPOSED}
"""The functions that are no operations: new arrays, and compositions of other operations."""
OWN: dict[str, Any] = {
    "asarray": as_tracer,
    "astype": _astype,
    "sum": _sum,
    "count_nonzero": _count_nonzero,
    "linalg": _linalg(),
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
"""The functions of the namespace that make tracers, or accept them directly."""
NAMESPACE: Any = module_like(namespace(), **OWN)
NAMESPACE.__name__ = "gradwrap_tracers"
