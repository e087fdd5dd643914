"""Shapes and axes. Functions that return views in NumPy return views here."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradwrap.backends.numpy.functions.converting import (
    NDARRAY,
    memory_order,
    reverse,
    single,
    sizes,
)
from gradwrap.backends.numpy.functions.table import completes, implements, untyped
from gradwrap.core.levels.memory import is_fortran, one_array
from gradwrap.core.levels.wrapper import innermost
from gradwrap.core.library.backend import backend_of


@completes(np.reshape)
def reshape(xp: Any, a: Any, shape: Any, order: str, newshape: Any = None, copy: Any = None) -> Any:
    untyped.reshape(np.empty(1), 1, order=order)  # NumPy refuses an order that it does not know
    a = xp.asarray(a)
    shape = sizes(newshape if shape is None else shape)
    if _in_fortran_order(a, memory_order(order)):
        if -1 in shape:
            known = math.prod(n for n in shape if n != -1)
            shape = tuple(a.size // known if n == -1 else n for n in shape)
        return _turned(xp, xp.reshape(_turned(xp, a), shape[::-1]))
    return xp.reshape(a, shape, copy=copy)


def _turned(xp: Any, a: Any) -> Any:
    return xp.permute_dims(a, reverse(a, None))


def _in_fortran_order(a: Any, order: str) -> bool:
    return is_fortran(a) if order == "A" else order == "F"


@completes(np.squeeze)
def squeeze(xp: Any, a: Any, axis: Any) -> Any:
    """Remove axes of length one; like NumPy, return the array itself if there are none."""
    a = xp.asarray(a)
    axes = single(a, axis)
    return xp.squeeze(a, axes) if axes else a


@completes(np.flip)
def flip(xp: Any, m: Any, axis: Any) -> Any:
    """Reverse axes; like NumPy, return a number for a 0-d array."""
    m = xp.asarray(m)
    if m.ndim:
        return xp.flip(m, axis=axis if axis is None else sizes(axis))
    np.flip(np.empty(()), axis)  # which refuses axes that are not there
    return m[()]


@implements("ravel(a, order='C')", arrays=1, always=True)
def ravel(xp: Any, a: Any, order: str = "C") -> Any:
    """Return a view only where the elements lie one after the other in memory, as NumPy does."""
    order = memory_order(order)
    if order == "K":
        a, order = xp.permute_dims(a, _axes_in_memory(a)), "C"
    raveled = reshape(xp, a, (-1,), order)
    steps = getattr(innermost(raveled), "strides", None)  # not every library shows them
    is_dense = not steps or raveled.size < 2 or steps[-1] == innermost(raveled).itemsize
    return raveled if is_dense else xp.copy(raveled)


def _axes_in_memory(a: Any) -> tuple[int, ...]:
    """Return the axes in the order of the memory layout, longest stride first."""
    array = backend_of(innermost(a)).concrete(one_array(a))
    if not isinstance(array, NDARRAY):
        return tuple(range(a.ndim))
    made: Any = np.nditer([array, None], ["zerosize_ok"]).operands[1]
    return tuple(sorted(range(a.ndim), key=lambda axis: -abs(made.strides[axis])))


@implements("swapaxes(a, axis1, axis2)", "rollaxis(a, axis, start=0)", always=True)
def permuted(xp: Any, name: str, a: Any, **options: Any) -> Any:
    """Permute the axes as NumPy's function does with an array whose strides number its axes."""
    positions: Any = np.ndarray((1,) * a.ndim, bool, bytes(1), strides=range(a.ndim))
    return xp.permute_dims(a, getattr(np, name)(positions, **options).strides)


def with_axes(xp: Any, name: str, a: Any, **options: Any) -> Any:
    """Insert the axes of length one that NumPy's function of this name would insert."""
    a = xp.asarray(a)
    lengths = iter(a.shape)
    shape = getattr(np, name)(np.empty((0,) * a.ndim), **options).shape
    if len(shape) == a.ndim:
        return a
    return xp.reshape(a, tuple(1 if n else next(lengths) for n in shape))


@implements("expand_dims(a, axis)", always=True)
def expand_dims(xp: Any, name: str, a: Any, axis: Any) -> Any:
    return with_axes(xp, name, a, axis=axis)


@implements("atleast_1d atleast_2d atleast_3d(*arys)", always=True)
def at_least(xp: Any, name: str, *arys: Any) -> Any:
    results = tuple(with_axes(xp, name, a) for a in arys)
    return results[0] if len(results) == 1 else results


@implements("broadcast_arrays(*args, subok=False)", always=True)
def broadcast_arrays(xp: Any, *args: Any) -> tuple[Any, ...]:
    """Broadcast arrays; plain arrays that have the shape already are returned unchanged."""
    found = xp.broadcast_arrays(*(xp.asarray(a) for a in args))
    return tuple(
        a if isinstance(a, NDARRAY) and a.shape == whole.shape else whole
        for a, whole in zip(args, found, strict=True)
    )
