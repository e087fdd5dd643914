"""Conversions of NumPy's arguments to the standard's, called by the texts of rows."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from gradwrap.core.levels.memory import one_array
from gradwrap.core.levels.wrapper import AnyWrapper
from gradwrap.core.values.dynamic import SEQUENCE, type_of
from gradwrap.rules.axes import as_axes

NDARRAY: type[Any] = np.ndarray
NoValue: Any = np._NoValue  # pyright: ignore[reportPrivateUsage]  # the default of some parameters


NARROW: frozenset[type[Any]] = frozenset({float, int, bool, type(None)})
"""The types of bounds that no array of floats is cast for."""


def given(value: Any) -> bool:
    """Tell if an argument was given, and is not None."""
    return value is not NoValue and value is not None


def is_real(xp: Any, a: Any) -> bool:
    """Tell if an array has no complex dtype."""
    return not xp._class._backend.dtype_kind(a.dtype)[1]


def are_matrices(a: Any, b: Any) -> bool:
    """Tell if `dot` equals `matmul`, including the memory order of the result."""
    return 0 < getattr(a, "ndim", 0) < 3 and 0 < getattr(b, "ndim", 0) < 3


def are_arrays(values: Any) -> bool:
    """Tell if no value is a Python number, which the standard cannot join."""
    return all(hasattr(kind, "shape") for kind in set(map(type_of, values)))


def bound(first: Any, second: Any) -> Any:
    """Return the value of an argument that has two names, whichever of them was used."""
    return first if given(first) else second if given(second) else None


def as_wide(xp: Any, a: Any, *bounds: Any) -> Any:
    """Cast an array to the common dtype of itself and its bounds, as NumPy's `clip` does."""
    a = xp.asarray(a)
    kind = getattr(a.dtype, "kind", None)  # other libraries do not promote here
    if kind is None or (kind == "f" and all(type(value) in NARROW for value in bounds)):
        return a
    bounds = tuple(np.asarray(value) if isinstance(value, SEQUENCE) else value for value in bounds)
    kinds = (getattr(value, "dtype", value) for value in bounds if value is not None)
    wide = np.result_type(a.dtype, *kinds)
    if wide != a.dtype and 0 in getattr(one_array(a), "strides", ()):
        a = xp.copy(a, order="C")  # as a ufunc lays out elements that are repeated
    return xp.astype(a, wide, copy=False)


def sizes(shape: Any) -> tuple[int, ...]:
    """Return a shape as a tuple; NumPy also accepts a single length."""
    try:
        return (operator.index(shape),)
    except TypeError:
        return tuple(operator.index(n) for n in shape)


def memory_order(order: Any) -> Any:
    """Return the letter of a memory order in upper case; NumPy takes either."""
    if not isinstance(order, str):
        return order
    if order.upper() not in {"C", "F", "A", "K"}:
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")
    return order.upper()


def flat(xp: Any, a: Any, axis: Any) -> Any:
    """Flatten an array if no axis is given."""
    return xp.reshape(xp.asarray(a), (-1,)) if axis is None else a


def reverse(a: Any, axes: Any) -> tuple[int, ...]:
    """Return the order of axes for a transpose, reversed by default."""
    return tuple(range(a.ndim))[::-1] if axes is None else sizes(axes)


def single(a: Any, axis: Any) -> tuple[int, ...]:
    """Return the axes to squeeze, by default all of length one."""
    if axis is None:
        return tuple(i for i, n in enumerate(a.shape) if n == 1)
    if not a.ndim:  # a number, which NumPy takes for an array of one element
        as_axes(axis, 1)
        return ()
    return as_axes(axis, a.ndim)


def square(xp: Any, m: Any) -> Any:
    """Return a matrix; a vector is repeated as every row."""
    m = xp.asarray(m)
    if not m.ndim:
        raise TypeError("np.tril and np.triu take a matrix or a vector. Fix: x[None, None] is one.")
    return m if m.ndim > 1 else xp.broadcast_to(m, (m.shape[0], m.shape[0]))


def counts(repeats: Any) -> Any:
    """Return numbers of repetitions as an array."""
    return np.asarray(repeats) if isinstance(repeats, SEQUENCE) else repeats


def mask(xp: Any, condition: Any) -> Any:
    """Return a condition as an array of bools."""
    native_types = xp._class._backend.native_types
    if not isinstance(condition, AnyWrapper) and type(condition) not in native_types:
        condition = xp.asarray(condition)
    return condition if condition.dtype == np.bool_ else condition != 0
