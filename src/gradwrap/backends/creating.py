"""Functions that make arrays, for the drop-in namespaces: NumPy's own, and CuPy's.

What they make inside a function that a transform differentiates can be filled in place with
tracked values, and what they are given may hold tracked values. Arrays of integers and bools,
which have no derivative, stay the library's own everywhere.
"""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.backends.numpy_functions import IMPLEMENTATIONS
from gradwrap.core.backend import backend_of
from gradwrap.core.dynamic import SEQUENCE
from gradwrap.core.levels import is_differentiating
from gradwrap.core.variable import AnyVariable, variable_class
from gradwrap.core.wrapper import holds_wrapper

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

__all__ = ["creating", "first_variable"]

FROM_VALUES = ("array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray", "copy")
NEW = (
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
)


def creating(library: ModuleType) -> dict[str, Callable[..., Any]]:
    """The functions of a library that make arrays, so that these can hold tracked values."""
    found = {name: _of_values(library, name) for name in FROM_VALUES if hasattr(library, name)}
    found |= {name: _new(library, name) for name in NEW if hasattr(library, name)}
    found["fromiter"] = _fromiter(library, found["asarray"])
    return found


def first_variable(values: Any) -> Any:
    """A variable among values, or in nested lists of them; None if there is none."""
    for value in values:
        if isinstance(value, AnyVariable):
            return value
        if isinstance(value, SEQUENCE):
            found = first_variable(value)
            if found is not None:
                return found
    return None


def _wrapped(library: ModuleType, result: Any) -> Any:
    """Wrap new floating-point arrays, not tracked, where they may be filled with tracked values."""
    if not is_differentiating():
        return result
    if isinstance(result, SEQUENCE):
        return type(result)(_wrapped(library, part) for part in result)
    if not isinstance(result, library.ndarray):
        return result
    return variable_class(backend_of(result))(result) if result.dtype.kind in "fc" else result


def _of_values(library: ModuleType, name: str) -> Callable[..., Any]:
    native = getattr(library, name)
    # the first parameter's name; CuPy's array has NumPy's for asarray
    first = ("object", "obj", "a") if name == "array" else ("a",)

    @functools.wraps(native)
    def make(*args: Any, **options: Any) -> Any:
        obj = args[0] if args else next((options[n] for n in first if n in options), None)
        if holds_wrapper(obj):
            variable = first_variable([obj])
            assert variable is not None
            xp: Any = variable.__array_namespace__()
            dtype = args[1] if len(args) > 1 and name != "copy" else options.get("dtype")
            copy = bool(options.get("copy", name in ("array", "copy")))
            made = xp.asarray(obj, dtype=None if dtype is None else np.dtype(dtype), copy=copy)
            ndmin = options.get("ndmin", int(name == "ascontiguousarray"))
            return made[(None,) * (ndmin - made.ndim)] if made.ndim < ndmin else made
        return _wrapped(library, native(*args, **options))

    return make


def _new(library: ModuleType, name: str) -> Callable[..., Any]:
    native = getattr(library, name)

    @functools.wraps(native)
    def make(*args: Any, **options: Any) -> Any:
        if first_variable([*args, *options.values()]) is not None:
            return _with_variables(name, native, args, options)
        return _wrapped(library, native(*args, **options))

    return make


def _with_variables(
    name: str, native: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """Make an array from tracked values: those that NumPy dispatches, and `full`."""
    variable = first_variable([*args, *options.values()])
    assert variable is not None
    xp: Any = variable.__array_namespace__()
    if name == "full":
        named = dict(zip(("shape", "fill_value", "dtype"), args, strict=False)) | options
        size = named["shape"]
        shape = tuple(size) if np.iterable(size) else (size,)
        dtype = named.get("dtype")
        dtype = None if dtype is None else np.dtype(dtype)
        return xp.full(shape, named["fill_value"], dtype=dtype)
    implementation = IMPLEMENTATIONS.get(getattr(np, name))
    if implementation is not None:
        return implementation(xp, *args, **options)
    return native(*args, **options)


def _fromiter(library: ModuleType, asarray: Callable[..., Any]) -> Callable[..., Any]:
    native = library.fromiter

    @functools.wraps(native)
    def fromiter(iter: Any, dtype: Any, count: int = -1, **options: Any) -> Any:
        items: list[Any] = list(iter if count < 0 else itertools.islice(iter, count))
        if holds_wrapper(items):
            return asarray(items, dtype)
        return _wrapped(library, native(items, dtype, count, **options))

    return fromiter
