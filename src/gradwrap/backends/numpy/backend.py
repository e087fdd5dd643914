"""The backend of NumPy."""

from __future__ import annotations

import functools
import math
import operator
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.backends.numpy.buffers import (
    COPIED,
    Memory,
    copied_as_it_lies,
    empty_in_order_of,
    kept,
    lies_outside,
)
from gradwrap.backends.numpy.scatter import add_at
from gradwrap.backends.numpy.sums import summed
from gradwrap.core.library.backend import Backend, backend_of
from gradwrap.core.library.compat import module_like
from gradwrap.core.library.scatter import BASIC, is_basic_key
from gradwrap.core.values.dynamic import type_of
from gradwrap.errors import NonDifferentiableInputError, TrackedValueError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def _is_number(kind: Any) -> bool:
    return issubclass(kind, (np.number, np.bool_))


SCALAR_TYPES: frozenset[type[Any]] = frozenset(filter(_is_number, np.sctypeDict.values()))
NDARRAY: type[Any] = np.ndarray
BUILTIN = "biufc"
ADD_REDUCE: Any = np.add.reduce
MAXIMUM_REDUCE: Any = np.maximum.reduce
MINIMUM_REDUCE: Any = np.minimum.reduce


ARITHMETIC = tuple(
    f"__{prefix}{name}__"
    for name in ("add", "floordiv", "matmul", "mod", "mul", "pow", "sub", "truediv")
    for prefix in ("", "r")
)


@functools.cache
def _has_arithmetic(kind: type[Any]) -> bool:
    """Tell if a subclass that is none of NumPy's has arithmetic of its own."""
    return any(
        name in vars(base)
        for base in kind.__mro__
        if base.__module__.partition(".")[0] not in ("builtins", "numpy")
        for name in ARITHMETIC
    )


MASKED = (
    "masked arrays have no derivative: how their masks combine is not recorded. "
    "Fix: keep the mask as an array of bools, and use np.where(mask, fill, x); or "
    'gradwrap.adapting(f, compiled="numerical") takes the derivative by differences.'
)
MATRIX = (
    "a np.matrix that was made outside of an adapted function cannot hold tracked values: its "
    "products, shapes and reductions are not those of arrays. Fix: make it inside, "
    "np.matrix(matrix), and call the function through gradwrap.adapting; or use arrays "
    "(np.asarray(matrix)), whose product of matrices is a @ b."
)
REFUSED = {"numpy.ma.": MASKED, "numpy.matrix": MATRIX}
"""Arrays by the beginning of their class's name or module: `numpy.ma` may not be imported yet."""


PARTS = 4
"""A part that is saved is copied, if so many make the whole array that is being written to."""
SHORT = 16
"""Lines of so many equal numbers are made, since formulas take longer over a view of them."""
SMALL = 1 << 10
"""Up to so many elements, repeating values takes less time than a view that repeats them."""


def _sum(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: Any = False) -> Any:
    return ADD_REDUCE(x, axis, dtype, None, keepdims)


untyped: Any = np


def _clip(x: Any, min: Any = None, max: Any = None) -> Any:
    return x.copy() if min is None and max is None else untyped.clip(x, min, max)


def _trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    return np.trace(x, offset, -2, -1, dtype)


def _astype(x: Any, dtype: Any, /, *, copy: bool = True) -> Any:
    return x.astype(dtype, copy=copy)


def _count_nonzero(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    return np.asarray(np.count_nonzero(x, axis=axis, keepdims=keepdims))


def _reshape(x: Any, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Any:
    return x.copy().reshape(shape) if copy else x.reshape(shape)


def _expand_dims(x: Any, /, *, axis: int = 0) -> Any:
    if axis == -1:
        return x[..., None]
    return x[..., None, :] if axis == -2 and x.ndim else np.expand_dims(x, axis)


def _repeated(x: Any, /, shape: tuple[int, ...]) -> Any:
    size = math.prod(shape)
    if size > SMALL:
        times = shape[-1]
        if times <= SHORT and x.shape[-1:] == (1,) and x.size * times == size:
            return x.repeat(times).reshape(shape)  # a view makes each use go line by line
        return np.broadcast_to(x, shape)
    if not issubclass(type_of(x), (np.ndarray, np.generic)):  # a cotangent in a trace
        return untyped.broadcast_to(x, shape)
    whole = np.empty(shape, x.dtype)
    whole[...] = x
    return whole


def _max(x: Any, /, *, axis: Any = None, keepdims: Any = False) -> Any:
    return MAXIMUM_REDUCE(x, axis, None, None, keepdims)


def _min(x: Any, /, *, axis: Any = None, keepdims: Any = False) -> Any:
    return MINIMUM_REDUCE(x, axis, None, None, keepdims)


def _stack(arrays: Any, /, *, axis: int = 0) -> Any:
    shapes = {getattr(array, "shape", None) for array in arrays}
    if axis == 0 and len(shapes) == 1 and None not in shapes:
        return np.concatenate([array[None] for array in arrays])
    return np.stack(arrays, axis=axis)


def _cholesky(x: Any, /, *, upper: bool = False) -> Any:
    return untyped.linalg.cholesky(x, upper=upper)


OWN: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "clip": _clip,
        "linalg.cholesky": _cholesky,
        "linalg.solve": untyped.linalg.solve,
        "stack": _stack,
        "linalg.trace": _trace,
        "sum": _sum,
        "max": _max,
        "min": _min,
    }
)
"""NumPy's functions in place of array_api_compat's: they give another memory order, or are slower
on small arrays."""


def _traced_peak() -> Any:
    """Count the bytes in use. `tracemalloc` is imported when somebody asks for that."""
    from gradwrap.backends.numpy.counting import TracedPeak

    return TracedPeak()


class NumPyBackend(Backend):
    """NumPy: its own scatter-add, sums in place, and owners of buffers counted by references."""

    elsewhere: Mapping[str, str] = MappingProxyType({"special": "scipy.special"})
    counting: Any = staticmethod(_traced_peak)

    def __init__(self, xp: Any, kind: type) -> None:
        super().__init__("numpy", xp, frozenset({np.ndarray, *SCALAR_TYPES}))

    def for_formulas(self, xp: Any) -> Any:
        """Return a namespace that calls NumPy's C functions without Python wrappers around them.

        The versions of array_api_compat and NumPy only call the functions used here; on small
        arrays that call costs as much as the work.
        """
        direct = super().for_formulas(xp)
        direct.__dict__.update(
            asarray=np.asarray,
            astype=_astype,
            count_nonzero=_count_nonzero,
            zeros=np.zeros,
            matmul=np.matmul,
            matrix_transpose=operator.attrgetter("mT"),
            sum=summed,
            reshape=_reshape,
            expand_dims=_expand_dims,
            broadcast_to=_repeated,
        )
        find = direct.__dict__["__getattr__"]

        def with_solve(name: str) -> Any:
            if name == "linalg":  # an import, which not every program needs
                direct.__dict__[name] = module_like(find(name), solve=untyped.linalg.solve)
                return direct.__dict__[name]
            return find(name)

        direct.__dict__["__getattr__"] = with_solve
        return direct

    def native(self, path: str) -> Callable[..., Any] | None:
        return OWN.get(path) or super().native(path)

    def is_array(self, value: object) -> bool:
        if type(value) in self.array_types:
            return True
        if not issubclass(type_of(value), (np.ndarray, np.generic)):
            return False
        self.check_type(type_of(value))
        return True

    def is_at_hand(self, array: Any) -> bool:
        return True

    def check_type(self, kind: type) -> None:
        if hasattr(kind, "_stands_for"):
            raise TrackedValueError(
                f"a {kind.__name__}, a subclass of numpy.ndarray that holds a tracked value, was "
                "given to a function that takes plain arrays. Fix: pass np.asarray(x)."
            )
        for base in kind.__mro__:
            self.check_converting(f"{base.__module__}.{base.__name__}")
        if self.answers_itself(kind, operators=True) and not self.answers_itself(kind):
            raise NonDifferentiableInputError(
                f"{kind.__module__}.{kind.__name__} is a subclass of numpy.ndarray with arithmetic "
                "of its own, and the result of a function of it and a tracked value would be a "
                "plain array. Fix: give the function a plain array, as np.asarray(x)."
            )

    def answers_itself(self, kind: type[Any], *, operators: bool = False) -> bool:
        if not issubclass(kind, NDARRAY):
            return not operators and hasattr(kind, "_stands_for")
        if operators:
            hashable: Any = kind
            return _has_arithmetic(hashable)
        own: Any = kind.__array_ufunc__
        return own is not NDARRAY.__array_ufunc__ and not hasattr(own, "leaves_tracked")

    def check_converting(self, module: str) -> None:
        for start, words in REFUSED.items():
            if module.startswith(start):
                raise NonDifferentiableInputError(words)

    def device(self, array: Any) -> Any:
        return "cpu"

    def dispatches(self, function: Any) -> bool:
        return isinstance(function, np.ufunc) or hasattr(function, "_implementation")

    def dtype_kind(self, dtype: Any) -> tuple[bool, bool]:
        kind = dtype.kind
        if kind == "O":
            raise NonDifferentiableInputError(
                "an operation with a tracked array gave an array of dtype object, which cannot "
                "be differentiated: one of its arguments is an object array. "
                "Fix: convert it, for example with np.asarray(x, dtype=np.float64)."
            )
        return kind in "fc", kind == "c"

    def is_float(self, array: Any) -> bool:
        return array.dtype.kind in "fc"

    def is_numeric(self, array: Any) -> bool:
        return array.dtype.kind in BUILTIN

    def asarray(self, value: Any, like: Any = None) -> Any:
        return np.asarray(value)

    def ones_like(self, array: Any) -> Any:
        return np.ones(array.shape, array.dtype) if array.ndim else array.dtype.type(1)

    def copy(self, array: Any, order: Any = None) -> Any:
        return copied_as_it_lies(array) if order is None else np.array(array, order=order)

    kept: Any = staticmethod(kept)

    def is_seen_finite(self, array: Any) -> bool:
        kind = type_of(array)
        if kind is np.ndarray:
            return bool(np.count_nonzero(np.isfinite(array)) == array.size)
        return kind is np.float64 and math.isfinite(array)

    def is_seen_nan(self, array: Any) -> bool:
        return bool(np.isnan(self.concrete(array)).any())

    def owns_buffer(self, array: Any) -> bool:
        if not isinstance(array, np.ndarray):
            return False
        return array.base is None and array.flags.owndata and array.flags.writeable

    tells_views = keeps_base = True

    def may_be_view(self, array: Any, source: Any) -> bool:
        if type(array) is not np.ndarray:
            return False
        base = array.base
        if base is None or base is source or array is source:
            return base is not None or array is source
        if type(base) is not NDARRAY:  # that of windows is neither
            return np.may_share_memory(array, source)
        return base is source.base

    def batch_first(self, array: Any, axis: int) -> Any:
        if not axis and array.flags.c_contiguous:
            return array
        moved = np.moveaxis(array, axis, 0) if axis else array
        if not moved.size or lies_outside(moved):
            return moved
        made = empty_in_order_of(moved[0], moved)
        made[...] = moved
        return made

    def saved_part(self, view: Any, whole: Any) -> Any:
        small = view.nbytes <= COPIED or PARTS * view.nbytes <= whole.nbytes
        return view.copy("K") if small else view

    def lent(self, view: Any, loan: Any) -> Any:
        return np.asarray(Memory(view, loan))

    def is_writeable(self, view: Any) -> bool:
        return bool(view.flags.writeable) or not isinstance(view, NDARRAY)

    def laid_out(self, array: Any, like: Any) -> Any:
        if like is None:
            return np.asarray(array, order="C")
        steps = like.strides
        batches = len(array.strides) - len(steps)
        is_like = array.strides[batches:] == steps and type(array) is type(like)
        if is_like and (not batches or lies_outside(array, batches)):
            return array
        made = empty_in_order_of(like, array)
        if made.strides == array.strides and type(array) is type(like):
            return array
        made[...] = array
        return made

    def diagonal_matrix(self, diagonal: Any) -> Any:
        return np.diag(diagonal)

    def plus_diagonal(self, matrix: Any, diagonal: Any) -> Any:
        total = np.array(matrix, order="C")
        total.reshape(-1)[:: matrix.shape[-1] + 1] += diagonal
        return total

    def scatter_add(self, buffer: Any, key: Any, values: Any) -> Any:
        if not isinstance(buffer, NDARRAY):
            if type_of(buffer) not in self.array_types:  # that of a trace
                return backend_of(buffer).scatter_add(buffer, key, values)
            buffer = np.array(buffer)  # a sum of 0-d arrays is a number, which cannot change
        if type(key) in BASIC or is_basic_key(key):
            part = buffer[key]
            if part.base is None:  # a number, or a copy
                buffer[key] = part + values
            else:
                part += values
        elif _is_mask(key):
            buffer[key] += values
        else:
            add_at(buffer, key, values)
        return buffer


def _is_mask(key: Any) -> bool:
    if isinstance(key, (bool, np.bool_)):
        return True
    return isinstance(key, NDARRAY) and bool(key.dtype == np.bool_)
