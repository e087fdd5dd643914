"""Methods of `cupy.ndarray` that look at elements; views and operators stay CuPy's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hosted_cupy.counts import COUNTS
from hosted_cupy.kernels import elementwise, reduction
from hosted_cupy.memory import cupy, lent, returned, view
from lambdas import fn, is_a

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["METHODS"]

BASE = cupy.ndarray.__mro__[1]


def _waits(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method in which the host waits, since it needs values."""

    def waiting(self: Any, *args: Any, **kwargs: Any) -> Any:
        COUNTS.synchronisations.append(name)
        return method(view(self), *args, **kwargs)

    return waiting


def _computes(name: str) -> Callable[..., Any]:
    """Return a method of NumPy's arrays that counts as a launch."""

    def computing(self: Any, *args: Any, **kwargs: Any) -> Any:
        COUNTS.launches.append(name)
        array = lent(self)
        given = [lent(arg) for arg in args]
        named = {key: lent(value) for key, value in kwargs.items()}
        with np.errstate(all="ignore"):
            return returned(getattr(array, name)(*given, **named))

    return computing


def _get(
    self: Any, stream: Any = None, order: str = "C", out: Any = None, blocking: bool = True
) -> Any:
    COUNTS.synchronisations.append("get")
    if out is None:
        return view(self).copy(order="F" if order == "F" else "C")
    out[...] = view(self)
    return out


def _set(self: Any, array: Any, stream: Any = None) -> None:
    COUNTS.uploads.append("set")
    view(self)[...] = array


def _astype(  # as CuPy's
    self: Any,
    dtype: Any,
    order: str = "K",
    casting: Any = None,
    subok: Any = None,
    copy: bool = True,
) -> Any:
    dtype = np.dtype(dtype)
    if not copy and dtype == self.dtype:
        return self
    COUNTS.launches.append("astype")
    array = lent(self)
    return returned(array.real.astype(dtype) if _drops(array, dtype) else array.astype(dtype))


def _drops(array: Any, dtype: Any) -> bool:
    return array.dtype.kind == "c" and dtype.kind not in "cb"


def _copy(self: Any, order: str = "C") -> Any:
    COUNTS.launches.append("copy")
    return returned(lent(self).copy(order=order))


def _reshape(self: Any, *shape: Any, **options: Any) -> Any:
    """Return a view if possible; a copy is what CuPy would launch."""
    order = options.get("order", "C")
    new = shape[0] if len(shape) == 1 and is_a(shape[0], tuple, list) else shape
    if order == "C" and (self.flags.c_contiguous or _is_viewable(self, new)):
        return BASE.reshape(self, *shape, **options)
    COUNTS.launches.append("reshape")
    return returned(lent(self).reshape(new, order=order))


def _is_viewable(array: Any, shape: Any) -> bool:
    if not array.size:
        return False
    whole = view(array)
    return np.shares_memory(whole.reshape(shape), whole)


def _ravel(self: Any, order: str = "C") -> Any:
    return _reshape(self, (-1,), order=order)


def _is_array(part: Any) -> bool:
    return isinstance(part, (cupy.ndarray, np.ndarray, list))


def _parts(key: Any) -> tuple[Any, ...]:
    return key if is_a(key, tuple) else (key,)


def _host_key(key: Any, what: str) -> Any:
    """Return the key as NumPy takes it. The host waits for a mask, to count its elements."""
    parts: list[Any] = []
    for part in _parts(key):
        if isinstance(part, cupy.ndarray):
            if part.dtype == bool:
                COUNTS.synchronisations.append(f"{what} by a mask")
            parts.append(lent(part))
        elif is_a(part, np.ndarray, list):
            COUNTS.uploads.append(what)
            parts.append(np.asarray(part, dtype=None if len(part) else np.int32))
        else:
            parts.append(part)
    return tuple(parts)


def _getitem(self: Any, key: Any) -> Any:
    if not any(_is_array(part) for part in _parts(key)):
        return BASE.__getitem__(self, key)
    COUNTS.launches.append("getitem")
    return returned(_wrapped_take(lent(self), _host_key(key, "getitem")))


def _wrapped_take(array: Any, key: tuple[Any, ...]) -> Any:
    """NumPy's indexing, except that indices out of bounds wrap around, as on the device."""
    return array[_within(array, key)]


def _within(array: Any, key: tuple[Any, ...]) -> tuple[Any, ...]:
    if len(key) == 1 and getattr(key[0], "dtype", np.dtype(bool)).kind in "iu" and array.ndim:
        length = array.shape[0]
        return (key[0] % length,) if length else key
    return key


def _is_foreign(value: object) -> bool:
    """Tell whether an object is none of CuPy's arrays, and CuPy would ask it how to compute."""
    asked = hasattr(type(value), "__cupy_override_elementwise_kernel__")
    return asked and not isinstance(value, cupy.ndarray)


def _setitem(self: Any, key: Any, value: Any) -> None:
    if is_a(value, np.ndarray) and value.ndim:
        raise TypeError("Unsupported type <class 'numpy.ndarray'>")
    if _is_foreign(value):
        np.array(value)  # CuPy asks it for `__array__`, which refuses
        raise TypeError(f"Unsupported type {type(value)}")
    COUNTS.launches.append("setitem")
    target, held = lent(self), lent(value)
    if is_a(held, np.ndarray) and held.dtype.kind == "c" and target.dtype.kind != "c":
        held = held.real
    target[_within(target, _host_key(key, "setitem"))] = held


def _take(self: Any, indices: Any, axis: int | None = None, out: Any = None) -> Any:
    COUNTS.launches.append("take")
    if is_a(indices, np.ndarray, list):
        COUNTS.uploads.append("take")
        indices = np.asarray(indices)
    else:
        indices = lent(indices)
    result = returned(np.take(lent(self), indices, axis=axis, mode="wrap"))
    if out is None:
        return result
    view(out)[...] = view(result)
    return out


def _nonzero(self: Any) -> Any:
    COUNTS.synchronisations.append("nonzero")
    return returned(np.nonzero(lent(self)))


def _matmul(self: Any, other: Any) -> Any:
    if not isinstance(other, cupy.ndarray):
        return BASE.__matmul__(self, other)
    COUNTS.launches.append("matmul")
    return returned(np.matmul(lent(self), lent(other)))


def _dot(self: Any, other: Any, out: Any = None) -> Any:
    if not isinstance(other, cupy.ndarray):
        raise TypeError(f"Argument 'b' has incorrect type (got {type(other)})")
    COUNTS.launches.append("dot")
    result = returned(np.dot(lent(self), lent(other)))
    if out is None:
        return result
    view(out)[...] = view(result)
    return out


def _sort(self: Any, axis: int = -1, kind: Any = None) -> None:
    COUNTS.launches.append("sort")
    view(self).sort(axis=axis, kind=kind)


def _item(self: Any, *index: Any) -> Any:
    return self.item(*index)


COMPUTING = "var std cumsum cumprod argsort argpartition searchsorted flatten round"

METHODS: dict[str, Callable[..., Any]] = {
    "__cupy_override_elementwise_kernel__": elementwise,
    "__cupy_override_reduction_kernel__": reduction,
    "__bool__": _waits("bool", fn(lambda a: bool(a))),
    "__float__": _waits("float", fn(lambda a: float(a))),
    "__int__": _waits("int", fn(lambda a: int(a))),
    "__complex__": _waits("complex", fn(lambda a: complex(a))),
    "__repr__": _waits("repr", fn(lambda a: repr(a))),
    "__str__": _waits("str", fn(lambda a: str(a))),
    "item": _waits("item", _item),
    "tolist": _waits("tolist", fn(lambda a: a.tolist())),
    "get": _get,
    "set": _set,
    "astype": _astype,
    "copy": _copy,
    "__copy__": _copy,
    "reshape": _reshape,
    "ravel": _ravel,
    "__getitem__": _getitem,
    "__setitem__": _setitem,
    "take": _take,
    "nonzero": _nonzero,
    "__matmul__": _matmul,
    "dot": _dot,
    "sort": _sort,
    **{name: _computes(name) for name in COMPUTING.split()},
}
