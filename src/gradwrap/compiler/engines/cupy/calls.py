"""Operations as CuPy calls: the function that performs each, and its name in source.

A program uses NumPy's names. Most are CuPy's too; this file holds the exceptions.
"""

from __future__ import annotations

import importlib
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradwrap.compiler.ir.operations import OPERATIONS
from gradwrap.compiler.ir.program import UFUNC, Attribute, Method, adds_once
from gradwrap.core.values.dynamic import LIST, TUPLE
from gradwrap.errors import MissingToolError

if TYPE_CHECKING:
    from collections.abc import Callable

    cp: Any  # if it is not installed, a type checker takes this file for it
else:
    try:
        import cupy as cp
    except ModuleNotFoundError as error:
        raise MissingToolError(
            "the engine 'cupy' needs CuPy, which is not installed. "
            'Fix: pip install "gradwrap[cupy]", for CUDA 12.'
        ) from error


class Named(NamedTuple):
    """A function with its name in source."""

    text: str
    function: Callable[..., Any]


def special() -> Any:
    """Return CuPy's special functions."""
    return importlib.import_module("cupyx.scipy.special")


def named(name: str, fn: Any) -> Named | None:
    """Return CuPy's function for an operation, or None."""
    ufunc, _, rest = name.partition(".")
    if isinstance(fn, UFUNC) and getattr(np, ufunc, None) is not fn:
        found: Any = getattr(special(), name, None)
        return None if found is None else Named(f"special.{name}", found)
    found = cp
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is None or rest in ("reduce", "accumulate"):
        return None
    return Named(f"cp.{name}", found)


def performing(fn: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Return the function that performs an operation on CuPy arrays.

    Raises
    ------
    NotImplementedError
        CuPy has no such function.
    """
    op = OPERATIONS[name]
    own: Callable[..., Any] | None = getattr(_Own, op.name, None)
    if own is not None:
        return own
    if op.of is not None:
        return partial(op.of, cp)
    if op.method:
        return _calling(op.method)
    if isinstance(fn, (Attribute, Method)):
        return fn
    found = named(name, fn)
    if found is None:
        raise NotImplementedError(f"CuPy has no {name}")
    return found.function


def _calling(method: str) -> Callable[..., Any]:
    def call(x: Any, axis: Any = 0, dtype: Any = None, **kwargs: Any) -> Any:
        if dtype is not None:
            kwargs["dtype"] = dtype
        return getattr(x, method)(axis=axis, **kwargs)

    return call


class _Own:
    """Operations with another form in CuPy, by name."""

    @staticmethod
    def array(nest: Any, dtype: Any) -> Any:
        """Join nested lists of arrays and numbers on the device."""
        if isinstance(nest, (TUPLE, LIST)):
            parts = [_Own.array(part, dtype) for part in nest]
            return cp.stack(parts) if parts else cp.zeros(0, dtype)
        if isinstance(nest, cp.ndarray):
            return nest.astype(dtype, copy=False)
        return cp.full((), nest, dtype)

    @staticmethod
    def copy(x: Any, order: str = "K") -> Any:
        return x.copy(order=order)

    @staticmethod
    def getitem(x: Any, key: Any) -> Any:
        return x[on_device(key)]

    @staticmethod
    def setitem(x: Any, key: Any, value: Any) -> Any:
        new = x.copy(order="K")
        new[on_device(key)] = value
        return new

    @staticmethod
    def scatter_add(x: Any, key: Any, value: Any) -> Any:
        new = x.copy(order="K")
        key = on_device(key)
        if getattr(key, "dtype", None) == np.bool_ and key.ndim:
            add_masked(new, key, value)
        elif adds_once(key):
            new[key] += value
        else:
            add_at(new, key, value)
        return new


def on_device(key: Any) -> Any:
    """Return a key with its lists as arrays on the device."""
    parts = [
        cp.asarray(one, np.int64) if isinstance(one, (LIST, TUPLE)) else one
        for one in (key if isinstance(key, TUPLE) else (key,))
    ]
    return tuple(parts) if isinstance(key, TUPLE) else parts[0]


def add_at(x: Any, key: Any, value: Any) -> None:
    """Add to elements of an array; repeated indices add repeatedly."""
    if x.dtype.kind == "c":  # the device has no atomic addition of complex numbers
        cp.add.at(x.real, key, value.real)
        cp.add.at(x.imag, key, value.imag)
    else:
        cp.add.at(x, key, value)


def add_masked(x: Any, mask: Any, values: Any) -> None:
    """Add to the elements that a mask of the first axes selects, without counting them."""
    shown = mask.reshape(mask.shape + (1,) * (x.ndim - mask.ndim))
    if cp.ndim(values) and values.shape[0]:
        places = cp.cumsum(mask.ravel(), dtype="int64").reshape(mask.shape) - 1
        values = values.take(places, axis=0)
    if cp.size(values):
        x += cp.where(shown, values, x.dtype.type(0))
