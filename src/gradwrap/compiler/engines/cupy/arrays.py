"""CuPy arrays in the compiler: their tracers, and their part of a signature.

A trace performs its operations on the device, and records them under NumPy's names, like every
trace. 0-d arrays take the part of numbers in the program.
"""

from __future__ import annotations

import functools
import math
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np
from array_api_compat import numpy as compat

from gradwrap.backends.cupy import protocol as cupy_protocol
from gradwrap.backends.cupy.streams import device_count
from gradwrap.backends.numpy.backend import SCALAR_TYPES
from gradwrap.compiler.engines.cupy.calls import performing
from gradwrap.compiler.engines.cupy.engine import cupy_engine
from gradwrap.compiler.engines.libraries import Compilable
from gradwrap.compiler.engines.register import Unsupported
from gradwrap.compiler.ir.program import NDARRAY
from gradwrap.compiler.tracing.backend import TraceBackend
from gradwrap.compiler.tracing.namespace import OWN
from gradwrap.compiler.tracing.tape import NUMERIC, Tape
from gradwrap.compiler.tracing.tracer import ArrayTracer, Tracer
from gradwrap.core.levels.wrapper import AnyWrapper
from gradwrap.core.library.backend import Backend, backend_of, find_backend
from gradwrap.core.library.compat import module_like
from gradwrap.core.library.registration import register_backend
from gradwrap.core.values.dynamic import type_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from gradwrap.compiler.engines.register import Executable
    from gradwrap.compiler.ir.program import Program

    cupy: Any  # if it is not installed, a type checker takes this file for it
else:
    import cupy


def _vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Return the vector dot product, as the array API standard defines it."""
    return np.sum(np.conj(x1) * x2, axis=axis)


def _vector_norm(
    x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: float = 2
) -> Any:  # the standard's names
    """Return a vector norm, as the array API standard defines it."""
    size: Any = np.abs(x)
    if abs(ord) == math.inf:
        of: Any = np.max if ord > 0 else np.min
        return of(size, axis=axis, keepdims=keepdims)
    if ord == 0:
        return np.sum((size != 0).astype(size.dtype), axis=axis, keepdims=keepdims)
    total = np.sum(size**ord, axis=axis, keepdims=keepdims)
    return np.sqrt(total) if ord == 2 else total ** (1 / ord)


def _matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """Return a matrix norm, as the array API standard defines it."""
    norm: Any = np.linalg.norm
    return norm(x, ord, (-2, -1), keepdims)


def _pinv(x: Any, /, *, rtol: Any = None) -> Any:
    """Return the pseudo-inverse, as the array API standard defines it; CuPy writes by a mask."""
    rtol = max(x.shape[-2:]) * float(np.finfo(x.dtype).eps) if rtol is None else rtol
    u, s, vh = np.linalg.svd(np.conj(x), full_matrices=False)
    small = s <= (np.max(s, axis=-1) * rtol)[..., None]
    inverse = np.where(small, s.dtype.type(0), 1 / np.where(small, s.dtype.type(1), s))
    return np.matmul(np.swapaxes(vh, -2, -1), inverse[..., None] * np.swapaxes(u, -2, -1))


def _svdvals(x: Any, /) -> Any:
    """Return the singular values, as the array API standard defines them."""
    return np.linalg.svd(x, compute_uv=False)


def _diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """Return the diagonals of matrices, as the array API standard defines them."""
    return np.diagonal(x, offset, -2, -1)


def _trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """Return the traces of matrices, as the array API standard defines them."""
    return np.trace(x, offset, -2, -1, dtype)


def _count_nonzero(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """Count the nonzero elements, as the array API standard defines it."""
    return np.sum((x != 0).astype(np.int64), axis=axis, keepdims=keepdims)


def _round(x: Any, /, *options: Any, **named: Any) -> Any:
    """Round as NumPy does, with kernels for floats."""
    plainly = x.dtype.kind == "f" and not options and not named
    if plainly:
        return np.rint(x)
    function: Any = np.round
    return function(x, *options, **named)


def _clip(x: Any, /, min: Any = None, max: Any = None) -> Any:
    """Clip as the array API standard defines it, in the dtype of x."""
    out = x if min is None else np.maximum(x, _bound(min, x))
    out = out if max is None else np.minimum(out, _bound(max, x))
    return out.copy() if out is x else out


def _bound(bound: Any, x: Any) -> Any:
    """Return a bound in the dtype of x."""
    if hasattr(bound, "shape"):
        return bound.astype(x.dtype)
    if x.dtype.kind in "iu":
        limits = np.iinfo(x.dtype)
        bound = min(max(bound, limits.min), limits.max)
    return x.dtype.type(bound)


LINALG: Any = module_like(
    OWN["linalg"],
    vecdot=_vecdot,
    vector_norm=_vector_norm,
    matrix_norm=_matrix_norm,
    pinv=_pinv,
    svdvals=_svdvals,
    diagonal=_diagonal,
    trace=_trace,
    outer=np.outer,
    tensordot=np.tensordot,
)
"""Functions that CuPy has under another name, or lacks."""
FUNCTIONS: dict[str, Any] = {
    **OWN,
    "clip": _clip,
    "count_nonzero": _count_nonzero,
    "round": _round,
    "linalg": LINALG,
    "vecdot": _vecdot,
}
NAMESPACE: Any = module_like(compat, **FUNCTIONS)
NAMESPACE.__name__ = "gradwrap_cupy_tracers"


class CupyTracer(ArrayTracer):
    """A tracer of a CuPy array, which CuPy's own ufuncs and reductions accept too."""

    __slots__ = ()

    def __array_namespace__(self, api_version: str | None = None) -> Any:
        return NAMESPACE

    def __cupy_override_elementwise_kernel__(self, kernel: Any, *args: Any, **kwargs: Any) -> Any:
        if any(isinstance(arg, AnyWrapper) for arg in args):
            return NotImplemented
        function = cupy_protocol.COUNTERPARTS.get(kernel)
        function = cupy_protocol.BY_NAME.get(kernel.name) if function is None else function
        if function is None or len(args) > kernel.nin:
            raise self.tape.refuse(f"it calls the kernel {kernel.name}, or with out=")
        return function(*args, **kwargs)

    def __cupy_override_reduction_kernel__(
        self, kernel: Any, axis: Any, dtype: Any, out: Any, keepdims: Any
    ) -> Any:
        name = kernel.name.removeprefix("cupy_").removesuffix("_with_dtype")
        function: Any = getattr(np, name, None)
        if function is None or out is not None or dtype is not None:
            raise self.tape.refuse(f"it calls the kernel {kernel.name}, or with out=")
        return function(self, axis=axis, keepdims=keepdims)


class CupyTraceBackend(TraceBackend):
    """CuPy as the core sees it during a trace."""

    def __init__(self, xp: Any, kind: type) -> None:
        super().__init__(xp, kind)
        self.name: str = "cupy"
        self.array_types: frozenset[type] = frozenset({kind})
        eager = find_backend(cupy.ndarray)
        self.node: Any = None if eager is None else eager.node  # it knows its stream

    def for_formulas(self, xp: Any) -> Any:
        direct = Backend.for_formulas(self, xp)
        direct.__dict__.update(FUNCTIONS)
        return direct

    def class_attributes(self) -> dict[str, Any]:
        return cupy_protocol.class_attributes()

    def is_array(self, value: object) -> bool:
        return isinstance(value, (Tracer, cupy.ndarray))

    def native(self, path: str) -> Callable[..., Any] | None:
        return Backend.native(self, path)

    def is_at_hand(self, array: Any) -> bool:
        return False

    def device(self, array: Any) -> Any:
        real = array.value if isinstance(array, Tracer) else array
        return cupy.cuda.Device(real.data.device_id)

    def ones_like(self, array: Any) -> Any:
        return NAMESPACE.ones_like(array)

    def copy(self, array: Any, order: Any = None) -> Any:
        return array.copy("K" if order is None else order)

    def may_be_view(self, array: Any, source: Any) -> bool:
        mine, other = (a.value if isinstance(a, Tracer) else a for a in (array, source))
        if not isinstance(mine, cupy.ndarray) or not isinstance(other, cupy.ndarray):
            return False
        return mine is other or bool(cupy.may_share_memory(mine, other))

    def laid_out(self, array: Any, like: Any) -> Any:
        return array


register_backend(NAMESPACE.__name__, CupyTraceBackend)


class Cupy(Compilable):
    """CuPy arrays on one device."""

    name = "cupy"

    def __init__(self, device: int) -> None:
        self.kind: type[Any] = cupy.ndarray
        self._device = device
        self._several = device_count() > 1

    @property
    def backend(self) -> Any:
        """Return the backend of the tracers of its arrays."""
        found = backend_of(CupyTracer(None, 0, Tape(self)))
        if cupy.ndarray not in found.array_types:
            types = frozenset({CupyTracer, cupy.ndarray})
            found.array_types = found.native_types = types
            found.plain_types = found.plain_types | types | SCALAR_TYPES
        return found

    def is_input(self, leaf: Any) -> bool:
        """Tell if a leaf is an input: an array of CuPy, or of NumPy (refused later)."""
        return isinstance(leaf, (cupy.ndarray, NDARRAY)) and leaf.dtype.kind in NUMERIC

    def strange(self, leaves: Sequence[Any]) -> str:
        if any(isinstance(leaf, NDARRAY) for leaf in leaves):
            return "arrays of NumPy and of CuPy are among its arguments. Fix: cupy.asarray(x)"
        places = {leaf.data.device_id for leaf in leaves if isinstance(leaf, cupy.ndarray)}
        if len(places) > 1:
            return f"its arguments lie on several devices, {sorted(places)}. Fix: bring them to one"
        return super().strange(leaves)

    def replaces(self, array: Any) -> bool:
        return type_of(array) is self.kind and array.dtype.kind in NUMERIC

    def current(self) -> AbstractContextManager[Any]:
        return cupy.cuda.Device(self._device) if self._several else nullcontext()

    def problem(self, value: Any) -> str:
        if not isinstance(value, cupy.ndarray):
            return f"an operation gives a {type(value).__name__}, which is on the host"
        if value.data.device_id != self._device:
            return "an array on another device is used. Fix: bring all to one device before"
        return super().problem(value)

    def is_ndarray(self, value: Any) -> bool:
        return bool(value.shape)

    def device(self, value: Any) -> Any:
        return value.data.device_id

    def asarray(self, value: Any, dtype: Any = None) -> Any:
        return cupy.asarray(value, dtype)

    def copied(self, array: Any) -> Any:
        return array.copy(order="K")

    def performing(self, fn: Callable[..., Any], name: str) -> Callable[..., Any]:
        return performing(fn, name)

    def tracer(self, value: Any, index: int, tape: Tape) -> Tracer:
        return CupyTracer(value, index, tape)

    def place(self, leaf: Any) -> Any:
        return leaf.data.device_id if isinstance(leaf, cupy.ndarray) else None

    def place_test(self, name: str, place: Any) -> list[str]:
        return [f"{name}.data.device_id == {place}"]

    def engine(self, program: Program, *, plainly: bool = False) -> Executable:
        made = cupy_engine(program, plainly=plainly)
        return made._replace(call=self._on_device(made.call)) if self._several else made

    def chosen(
        self, name: str, make: Callable[[Program], Executable]
    ) -> Callable[[Program], Executable]:
        if name in ("numpy", "cupy"):
            return self.engine

        def refuse(program: Program) -> Executable:
            raise Unsupported("it takes NumPy's arrays, and was given CuPy's")

        return refuse

    def _on_device(self, call: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(call)
        def run(*inputs: Any) -> Any:
            with self.current():
                return call(*inputs)

        return run


def library_of(leaf: Any) -> Cupy:
    """Return the CuPy library for the device of an array."""
    backend_of(leaf)  # tracer nodes need this backend
    return Cupy(leaf.data.device_id)
