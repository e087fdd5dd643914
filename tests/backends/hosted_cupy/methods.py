"""Methods of `cupy.ndarray` that look at elements; views and operators stay CuPy's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hosted_cupy.counts import COUNTS
from hosted_cupy.memory import cupy, lent, returned, view
from lambdas import fn

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["METHODS"]

BASE = cupy.ndarray.__mro__[1]


def _wait(name: str) -> None:
    """Count a wait, which `cupyx.allow_synchronize(False)` forbids."""
    cupy._core.syncdetect._declare_synchronize()
    COUNTS.synchronisations.append(name)


def _waits(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method in which the host waits, since it needs values."""

    def waiting(self: Any, *args: Any, **kwargs: Any) -> Any:
        _wait(name)
        return method(view(self), *args, **kwargs)

    return waiting


def _computes(name: str) -> Callable[..., Any]:
    """Return a method of NumPy's arrays that counts as a launch."""

    def computing(self: Any, *args: Any, **kwargs: Any) -> Any:
        COUNTS.launches.append(name)
        array = lent(self)
        given = [lent(arg) for arg in args]
        named = {key: lent(value) for key, value in kwargs.items()}
        if name == "argsort":
            named["kind"] = "stable"  # as Thrust's
        with np.errstate(all="ignore"):
            return returned(getattr(array, name)(*given, **named))

    return computing


def _get(
    self: Any, stream: Any = None, order: str = "C", out: Any = None, blocking: bool = True
) -> Any:
    _wait("get")
    if out is None:
        return view(self).copy(order="F" if order == "F" else "C")
    out[...] = view(self)
    return out


def _set(self: Any, array: Any, stream: Any = None) -> None:
    COUNTS.uploads.append("set")
    view(self)[...] = array


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
    view(self).sort(axis=axis, kind="stable")  # as Thrust's


def _item(self: Any, *index: Any) -> Any:
    return self.item(*index)


COMPUTING = "argsort argpartition"

METHODS: dict[str, Callable[..., Any]] = {
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
    "__matmul__": _matmul,
    "dot": _dot,
    "sort": _sort,
    **{name: _computes(name) for name in COMPUTING.split()},
}
