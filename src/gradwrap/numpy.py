"""Drop-in for `import numpy as np`: NumPy itself, whose new arrays can hold tracked values.

Everything is NumPy's own, and type checkers see NumPy's own types. The functions that make arrays
differ in two cases: inside a function that a transform differentiates, what they make can be
filled in place with tracked values; and what they are given may hold tracked values. Arrays of
integers and bools, which have no derivative, stay NumPy's own everywhere.

>>> import gradwrap as gw
>>> import gradwrap.numpy as np
>>> def running_product(x):
...     out = np.zeros(3)
...     out[0] = x[0]
...     for i in range(1, 3):
...         out[i] = out[i - 1] * x[i]
...     return np.sum(out)
>>> gw.grad(running_product)(np.array([1.0, 2.0, 3.0]))
array([9., 4., 2.])
"""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING, Any

import numpy as _numpy  # noqa: ICN001  np is what this module is imported as

from gradwrap.backends.numpy_functions import IMPLEMENTATIONS as _IMPLEMENTATIONS
from gradwrap.core.backend import backend_of as _backend_of
from gradwrap.core.classes import variable_class as _variable_class
from gradwrap.core.modes import is_differentiating as _is_differentiating
from gradwrap.core.nested import holds_variable as _holds_variable
from gradwrap.core.variable import Variable as _Variable
from gradwrap.errors import NoRuleError as _NoRuleError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy import *  # noqa: F403  # pyright: ignore[reportWildcardImportFromLibrary]  as seen

_FROM_VALUES = ("array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray", "copy")
_NEW = [
    "zeros",
    "ones",
    "empty",
    "full",
    "zeros_like",
    "ones_like",
    "empty_like",
    "full_like",
    "arange",
    "linspace",
    "logspace",
    "geomspace",
    "eye",
    "identity",
    "tri",
    "diagflat",
    "fromfunction",
    "meshgrid",
    "indices",
]


def _first_variable(values: Any) -> _Variable[Any] | None:
    for value in values:
        if isinstance(value, _Variable):
            return value
        if isinstance(value, (list, tuple)):
            found = _first_variable(value)
            if found is not None:
                return found
    return None


def _wrapped(result: Any) -> Any:
    """Wrap new floating-point arrays, not tracked, where they may be filled with tracked values."""
    if isinstance(result, (list, tuple)):
        return type(result)(_wrapped(part) for part in result)
    if not isinstance(result, _numpy.ndarray):
        return result
    backend = _backend_of(result)
    return _variable_class(backend)(result) if result.dtype.kind in "fc" else result


def _of_values(name: str) -> Callable[..., Any]:
    native = getattr(_numpy, name)
    first = "object" if name == "array" else "a"

    @functools.wraps(native)
    def make(*args: Any, **options: Any) -> Any:
        obj = args[0] if args else options.get(first)
        if _holds_variable(obj):
            variable = _first_variable([obj])
            assert variable is not None
            xp = variable._namespace
            dtype = args[1] if len(args) > 1 and name != "copy" else options.get("dtype")
            copy = bool(options.get("copy", name in ("array", "copy")))
            made = xp.asarray(obj, dtype=None if dtype is None else _numpy.dtype(dtype), copy=copy)
            ndmin = options.get("ndmin", int(name == "ascontiguousarray"))
            return made[(None,) * (ndmin - made.ndim)] if made.ndim < ndmin else made
        made = native(*args, **options)
        return _wrapped(made) if _is_differentiating() else made

    return make


def _new(name: str) -> Callable[..., Any]:
    native = getattr(_numpy, name)

    @functools.wraps(native)
    def make(*args: Any, **options: Any) -> Any:
        if _first_variable([*args, *options.values()]) is not None:
            return _with_variables(name, native, args, options)
        made = native(*args, **options)
        return _wrapped(made) if _is_differentiating() else made

    return make


def _with_variables(
    name: str, native: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """Make an array from tracked values: those that NumPy dispatches, and `full`."""
    variable = _first_variable([*args, *options.values()])
    assert variable is not None
    xp = variable._namespace
    if name == "full":
        named = dict(zip(("shape", "fill_value", "dtype"), args, strict=False)) | options
        size = named["shape"]
        shape = tuple(size) if _numpy.iterable(size) else (size,)
        dtype = named.get("dtype")
        dtype = None if dtype is None else _numpy.dtype(dtype)
        return xp.full(shape, named["fill_value"], dtype=dtype)
    if native in _IMPLEMENTATIONS:
        return _IMPLEMENTATIONS[native](xp, *args, **options)
    return native(*args, **options)


@functools.wraps(_numpy.fromiter)
def _fromiter(iter: Any, dtype: Any, count: int = -1, **options: Any) -> Any:
    items = list(iter if count < 0 else itertools.islice(iter, count))
    if _holds_variable(items):
        return _OURS["asarray"](items, dtype)
    made = _numpy.fromiter(items, dtype, count, **options)
    return _wrapped(made) if _is_differentiating() else made


class _Vectorize(_numpy.vectorize):  # pyright: ignore[reportIncompatibleVariableOverride]  # its `__module__`
    """NumPy's class; where an argument is a variable, the function is called for each element."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        variable = _first_variable([*args, *kwargs.values()])
        if variable is None:
            return super().__call__(*args, **kwargs)
        if self.signature is not None:
            raise _NoRuleError(
                "np.vectorize with signature= has no rule. Fix: np.stack([f(row) for row in x])."
            )
        xp = variable._namespace
        given: dict[Any, Any] = {**dict(enumerate(args)), **kwargs}
        arrays = {k: xp.asarray(v) for k, v in given.items() if k not in self.excluded}
        shape = _numpy.broadcast_shapes(*(a.shape for a in arrays.values()))
        arrays = {k: xp.broadcast_to(a, shape) for k, a in arrays.items()}

        def call(index: Any) -> Any:
            each = {k: arrays[k][index] if k in arrays else v for k, v in given.items()}
            positional = [each.pop(i) for i in range(len(args))]
            return self.pyfunc(*positional, **each)

        results = [call(index) for index in _numpy.ndindex(*shape)]
        if results and isinstance(results[0], tuple):
            columns = zip(*results, strict=True)
            return tuple(xp.reshape(xp.asarray(list(column)), shape) for column in columns)
        return xp.reshape(xp.asarray(results), shape)


_OURS: dict[str, Any] = {
    "fromiter": _fromiter,
    "vectorize": _Vectorize,
    **{name: _of_values(name) for name in _FROM_VALUES if hasattr(_numpy, name)},
    **{name: _new(name) for name in _NEW if hasattr(_numpy, name)},
}


if not TYPE_CHECKING:  # for a type checker, what NumPy has not is an error

    def __getattr__(name: str) -> Any:
        found = _OURS.get(name)
        return getattr(_numpy, name) if found is None else found


def __dir__() -> list[str]:
    return sorted({*dir(_numpy), *_OURS})
