"""The methods of NumPy's arrays, as methods of a variable: NumPy's functions of the same name."""

from __future__ import annotations

import operator
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from gradwrap.backends import pytorch_methods
from gradwrap.backends.numpy.functions import IMPLEMENTATIONS
from gradwrap.backends.numpy.functions.converting import NoValue, memory_order
from gradwrap.backends.numpy.functions.table import in_order
from gradwrap.core.array import protocol
from gradwrap.core.array.adapted import adapted_caller, bytes_for_key, note_text, subclass_views
from gradwrap.core.array.setters import resize
from gradwrap.core.array.texts import refuse_reading
from gradwrap.core.array.variable import Variable
from gradwrap.core.levels.levels import is_differentiating
from gradwrap.core.levels.memory import one_array
from gradwrap.core.levels.wrapper import holds_batch, is_recorded, is_scalar, native
from gradwrap.core.observing.comparing import looks
from gradwrap.core.values.dynamic import TYPE, type_of
from gradwrap.errors import InPlaceError, TrackedValueError

Method = Callable[..., Any]


def _astype(
    x: Any,
    dtype: Any,
    order: str = "K",
    casting: str = "unsafe",
    subok: bool = True,
    copy: bool = True,
) -> Any:
    """Cast a variable; return the variable itself where NumPy returns the array itself."""
    if x._backend.name == "numpy":
        dtype = np.dtype(dtype)
        if dtype.kind in "US":
            note_text([x])
        elif x.dtype.kind in "US":
            refuse_reading(native(x))
        elif dtype.kind in "iu" and x.dtype.kind == "f":
            look = looks()
            if look is not None and is_recorded(x):
                look("whole", native(x))
    order = memory_order(order)
    if not copy and dtype == x.dtype and _lies_in(order, x):
        return x
    copy = copy or order != "K"
    found = x._namespace.astype(x, dtype, copy=copy)
    return found if order == "K" else in_order(found, order, x)


def _lies_in(order: str, x: Any) -> bool:
    """Tell if an array lies in a memory order already."""
    if order == "K":
        return True
    flags = one_array(x).flags
    return bool(flags["FORC" if order == "A" else f"{order}_CONTIGUOUS"])


def _flatten(x: Any, order: str = "C") -> Any:
    return x._namespace.copy(x.ravel(order))


def _conj(x: Any, out: Any = None) -> Any:
    if out is not None:
        function: Any = np.conjugate
        return function(x, out=out)
    return x._namespace.conj(x) if x._backend.dtype_kind(x.dtype)[1] else x


def _fill(x: Any, value: Any) -> None:
    x[...] = value


def _sort(
    x: Any,
    axis: int = -1,
    kind: Any = None,
    order: Any = None,
    *,
    stable: Any = None,
    descending: Any = NoValue,
) -> None:
    """Sort in place, as the array's method does."""
    options = {} if descending is NoValue else {"descending": descending}  # since NumPy 2.5
    x[...] = np.sort(x, operator.index(axis), kind, order, stable=stable, **options)


MEMORY: dict[str, str] = dict.fromkeys(
    ("__array_interface__", "__array_struct__"),
    "x.detach().data has it, which tells where the plain numbers lie, if no gradient is wanted; or "
    'gradwrap.adapting(f, compiled="numerical") takes the derivative by differences',
)
"""What to write for the attributes that show the memory of an array."""


def _view(x: Any, dtype: Any = None, type: Any = None) -> Any:
    kind = dtype if type is None else type
    if isinstance(kind, TYPE) and issubclass(kind, np.ndarray):
        return _view_as(x, kind, is_adapted=adapted_caller(3) is not None)
    if dtype is not None and dtype != x.dtype:
        if not is_recorded(x):
            return native(x).view(dtype)
        wanted = np.dtype(dtype)
        if wanted.kind == "c" and np.finfo(wanted).dtype == x.dtype:
            return x._namespace.complex_from_pairs(x)
        if x.dtype.kind == "c" and np.finfo(x.dtype).dtype == wanted:
            return x._namespace.pairs_from_complex(x)
        if wanted == np.uint8 and x.ndim and adapted_caller(3) is not None:
            found = None if holds_batch(x) else bytes_for_key(x, "C")
            if found is not None:  # it cannot be written to
                return np.frombuffer(found, wanted).reshape(*x.shape[:-1], -1)
        raise TrackedValueError(
            f"x.view({wanted}) would reinterpret the bytes of the elements of a tracked array. "
            "Fix: x.astype(dtype) converts the values."
        )
    return x if is_scalar(x) else x[...]


def _view_as(x: Any, kind: Any, *, is_adapted: bool) -> Any:
    """Return the array as an instance of a NumPy subclass; refuse a tracked array.

    In adapted code, a class made from the subclass holds it.
    """
    if getattr(kind, "stands_for", kind) is np.ndarray:
        return _view(x)
    if is_adapted and subclass_views and is_differentiating():
        return subclass_views[0](x, kind, x)
    if is_recorded(x):
        raise TrackedValueError(
            f"x.view({kind.__name__}) would make a {kind.__qualname__}, a subclass of "
            "numpy.ndarray, which holds plain values alone, and drop the gradient. "
            "Fix: call the function through gradwrap.adapting(f), or pass plain arrays to "
            "functions that do not need the subclass."
        )
    return native(x).view(kind)


def _clip(x: Any, min: Any = NoValue, max: Any = NoValue, out: Any = None, **options: Any) -> Any:
    """Clip as the method of arrays does, with one bound or two."""
    bounds = tuple(None if bound is NoValue else bound for bound in (min, max))
    return _called(np.clip, x, bounds, {"out": out, **options})


def _compress(x: Any, condition: Any, axis: Any = None, out: Any = None) -> Any:
    return np.compress(condition, x, axis, out)


def _put(x: Any, indices: Any, values: Any, mode: str = "raise") -> None:
    IMPLEMENTATIONS[np.put](x._namespace, x, indices, values, mode)


def _partition(
    x: Any, kth: Any, axis: int = -1, kind: Any = "introselect", order: Any = None
) -> None:
    x[...] = np.partition(x, kth, operator.index(axis), kind, order)


def _choose(x: Any, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    function: Any = np.choose
    return function(x, choices, out=out, mode=mode)


def _of_data(name: str) -> Method:
    """Make a method that reads the memory of an untracked array."""

    def method(x: Any, *args: Any, **kwargs: Any) -> Any:
        data = x._untracked_data(
            f"x.{name}()", f"call x.detach().{name}() if no gradient is wanted."
        )
        return getattr(data, name)(*args, **kwargs)

    return method


def _tobytes(x: Any, order: Any = "C") -> bytes:
    """Return the bytes of the elements, in adapted code also of tracked ones: they may be a key."""
    is_key = adapted_caller() is not None and is_recorded(x) and not holds_batch(x)
    found = bytes_for_key(x, order) if is_key else None
    return _bytes_of_data(x, order) if found is None else found


_bytes_of_data = _of_data("tobytes")


def _refused(name: str, reason: str, fix: str) -> Method:
    """Make a method that raises an error, as it would change memory without recording it."""

    def method(x: Any, *args: Any, **kwargs: Any) -> Any:
        raise InPlaceError(f"x.{name}() {reason}. Fix: {fix}.")

    return method


_no_field = _refused("setfield", "would write bytes of elements", "x[...] = value")


def _setfield(x: Any, val: Any, dtype: Any, offset: int = 0) -> None:
    """Write whole elements; no others have derivatives."""
    if np.dtype(dtype) != x.dtype or offset:
        _no_field(x)
    x[...] = val


_no_flags = _refused(
    "setflags", "has no effect on a tracked array", "omit it, or call x.detach().data.setflags"
)


def _setflags(x: Any, write: Any = None, align: Any = None, uic: Any = None) -> None:
    """Let adapted code forbid writes, or allow them: one that cannot be made is refused itself."""
    if write is None or align is not None or uic is not None or not adapted_caller():
        _no_flags(x)


def _resize(x: Any, *shape: Any, refcheck: bool = True) -> None:
    """Change the number of elements in place; NumPy's count of references has no counterpart."""
    if refcheck and not adapted_caller():
        raise InPlaceError(
            f"x.resize({', '.join(map(str, shape))}) would change the number of elements in place, "
            "if nothing else refers to the array. Fix: x.resize(..., refcheck=False) does not ask; "
            "np.resize(x, shape) repeats elements, np.concatenate([x, np.zeros(n)]) adds zeros."
        )
    if not (holds_batch(x) or x.flags.c_contiguous):
        raise InPlaceError("x.resize() takes an array in C order. Fix: x = x.copy() before it.")
    if shape not in ((), (None,)):
        resize(x, shape[0] if len(shape) == 1 else shape)


def _is_integer(x: Any) -> bool:
    """Tell if a number has no fraction, as `float.is_integer` does."""
    if x.shape != ():
        raise AttributeError("an array has no method is_integer, which is one of numbers")
    return bool(np.isfinite(x) & (np.floor(x) == x))


OWN: dict[str, Method] = {
    "astype": _astype,
    "clip": _clip,
    "compress": _compress,
    "conj": _conj,
    "conjugate": _conj,
    "fill": _fill,
    "flatten": _flatten,
    "partition": _partition,
    "put": _put,
    "sort": _sort,
    "view": _view,
}
OF_DATA = ("byteswap", "dump", "dumps", "getfield", "tofile")
UNLISTED: dict[str, Method] = {
    **{name: _of_data(name) for name in OF_DATA},
    "choose": _choose,
    "is_integer": _is_integer,
    "resize": _resize,
    "setfield": _setfield,
    "setflags": _setflags,
    "tobytes": _tobytes,
}
"""Methods that nobody is to be offered: without a derivative, or of integers."""
NAMES: frozenset[str] = frozenset(OWN) | {
    name
    for name in {*dir(np.ndarray), "ptp"} - UNLISTED.keys()
    if getattr(np, name, None) in IMPLEMENTATIONS and not hasattr(Variable, name)
}


LISTED: frozenset[str] = NAMES | pytorch_methods.METHODS.keys()
"""The methods that `dir` lists."""


def find(name: str) -> Method | None:
    """Return the function that stands for a method, called with the variable first."""
    found = OWN.get(name) or UNLISTED.get(name) or pytorch_methods.method(name)
    if found is None and name in NAMES:
        found = _of_numpy(name)
    widen = pytorch_methods.WIDENED.get(name)
    return found if found is None or widen is None else widen(name, found)


def instead(name: str) -> str:
    """Return a sentence on what to write instead of a missing method, or ""."""
    function = None if name.startswith("_") else getattr(np, name, None)
    is_function = callable(function) and not isinstance(function, type)
    other = MEMORY.get(name, f"np.{name}(x, ...)" if is_function else "")
    fix = pytorch_methods.INSTEAD.get(name, other)
    return f". Fix: {fix}." if fix else ""


def _called(function: Any, x: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Call NumPy's function for a method; an instance that holds a variable says what is made."""
    for arg in args:
        of_values = getattr(type_of(arg), "_of_values", None)
        if of_values is not None:
            code = getattr(function, "_implementation", None)  # which may call the method again
            answer = of_values if type_of(code) is FunctionType else type_of(arg).__array_function__
            return answer(arg, function, (), (x, *args), kwargs)
    return protocol.call_function(type(x), function, (x, *args), kwargs)


def _of_numpy(name: str) -> Method:
    """Return NumPy's function of the same name."""
    function = getattr(np, name)

    def method(x: Any, *args: Any, **kwargs: Any) -> Any:
        return _called(function, x, args, kwargs)

    method.__name__ = name
    method.__doc__ = function.__doc__
    return method
