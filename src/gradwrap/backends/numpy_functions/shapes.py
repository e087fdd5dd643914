"""Shapes and axes. What is a view in NumPy is one here."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from gradwrap.backends.numpy_functions.table import (
    Implementation,
    implements,
    sizes,
    with_axes,
)
from gradwrap.core.wrapper import native
from gradwrap.rules.axes import as_axes


@implements(np.reshape, always=True)
def reshape(
    xp: Any,
    a: Any,
    /,
    shape: Any = None,
    order: str = "C",
    *,
    newshape: Any = None,
    copy: Any = None,
) -> Any:
    a = xp.asarray(a)
    shape = sizes(newshape if shape is None else shape)
    if _in_fortran_order(a, order):
        if -1 in shape:
            known = math.prod(n for n in shape if n != -1)
            shape = tuple(a.size // known if n == -1 else n for n in shape)
        flipped = xp.reshape(transpose(xp, a), shape[::-1])
        return transpose(xp, flipped)
    return xp.reshape(a, shape, copy=copy)


def _in_fortran_order(a: Any, order: str) -> bool:
    if order in ("A", "K"):
        flags = native(a).flags
        return bool(flags.f_contiguous and not flags.c_contiguous)
    return order == "F"


@implements(np.ravel, always=True)
def ravel(xp: Any, a: Any, order: str = "C") -> Any:
    return reshape(xp, a, (-1,), order)


@implements(np.transpose, np.permute_dims, always=True)
def transpose(xp: Any, a: Any, axes: Any = None) -> Any:
    a = xp.asarray(a)
    order = tuple(range(a.ndim))[::-1] if axes is None else sizes(axes)
    return xp.permute_dims(a, order)


@implements(np.matrix_transpose, np.linalg.matrix_transpose, always=True)
def matrix_transpose(xp: Any, x: Any, /) -> Any:
    return xp.matrix_transpose(x)


@implements(np.swapaxes, always=True)
def swapaxes(xp: Any, a: Any, axis1: int, axis2: int) -> Any:
    order = list(range(a.ndim))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return xp.permute_dims(a, tuple(order))


@implements(np.moveaxis, always=True)
def moveaxis(xp: Any, a: Any, source: Any, destination: Any) -> Any:
    return xp.moveaxis(a, sizes(source), sizes(destination))


@implements(np.rollaxis, always=True)
def rollaxis(xp: Any, a: Any, axis: int, start: int = 0) -> Any:
    axis, start = axis % a.ndim, start + a.ndim if start < 0 else start
    return xp.moveaxis(a, axis, start - 1 if axis < start else start)


@implements(np.expand_dims, always=True)
def expand_dims(xp: Any, a: Any, axis: Any) -> Any:
    a = xp.asarray(a)
    axes = sizes(axis)
    ndim = a.ndim + len(axes)
    new = {operator.index(i) % ndim if -ndim <= i < ndim else i for i in axes}
    if len(new) < len(axes) or not new <= set(range(ndim)):
        raise np.exceptions.AxisError(f"axis {axis} does not fit {ndim} dimensions")
    rest = iter(a.shape)
    return xp.reshape(a, tuple(1 if i in new else next(rest) for i in range(ndim)))


@implements(np.squeeze, always=True)
def squeeze(xp: Any, a: Any, axis: Any = None) -> Any:
    if axis is None:
        axis = tuple(i for i, n in enumerate(a.shape) if n == 1)
    return xp.squeeze(a, as_axes(axis, a.ndim))


@implements(np.broadcast_to, always=True)
def broadcast_to(xp: Any, array: Any, shape: Any, subok: bool = False) -> Any:
    return xp.broadcast_to(array, sizes(shape))


@implements(np.broadcast_arrays, always=True)
def broadcast_arrays(xp: Any, *args: Any, subok: bool = False) -> Any:
    return xp.broadcast_arrays(*(xp.asarray(a) for a in args))


def _at_least(ndim: int) -> Implementation:
    def at_least(xp: Any, *arrays: Any) -> Any:
        results = tuple(with_axes(xp, xp.asarray(a), ndim) for a in arrays)
        return results[0] if len(results) == 1 else results

    return at_least


implements(np.atleast_1d, always=True)(_at_least(1))
implements(np.atleast_2d, always=True)(_at_least(2))
implements(np.atleast_3d, always=True)(_at_least(3))
