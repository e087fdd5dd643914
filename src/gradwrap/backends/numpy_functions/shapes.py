"""Shapes and axes. What is a view in NumPy is one here."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from gradwrap.backends.numpy_functions.converting import reverse
from gradwrap.backends.numpy_functions.table import (
    completes,
    implements,
    sizes,
    standard,
    with_axes,
)
from gradwrap.core.wrapper import native


@completes(np.reshape)
def reshape(xp: Any, a: Any, shape: Any, order: str, newshape: Any = None, copy: Any = None) -> Any:
    a = xp.asarray(a)
    shape = sizes(newshape if shape is None else shape)
    if _in_fortran_order(a, order):
        if -1 in shape:
            known = math.prod(n for n in shape if n != -1)
            shape = tuple(a.size // known if n == -1 else n for n in shape)
        return _turned(xp, xp.reshape(_turned(xp, a), shape[::-1]))
    return xp.reshape(a, shape, copy=copy)


def _turned(xp: Any, a: Any) -> Any:
    return xp.permute_dims(a, reverse(a, None))


def _in_fortran_order(a: Any, order: str) -> bool:
    if order in ("A", "K"):
        flags = native(a).flags
        return bool(flags.f_contiguous and not flags.c_contiguous)
    return order == "F"


@completes(np.ravel)
def ravel(xp: Any, a: Any, order: str) -> Any:
    return reshape(xp, a, (-1,), order)


@implements("swapaxes(a, axis1, axis2)", always=True)
def swapaxes(xp: Any, a: Any, axis1: int, axis2: int) -> Any:
    order = list(range(a.ndim))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return xp.permute_dims(a, tuple(order))


@implements("rollaxis(a, axis, start=0)", always=True)
def rollaxis(xp: Any, a: Any, axis: int, start: int) -> Any:
    axis, start = axis % a.ndim, start + a.ndim if start < 0 else start
    return xp.moveaxis(a, axis, start - 1 if axis < start else start)


@implements("expand_dims(a, axis)", arrays=1, always=True)
def expand_dims(xp: Any, a: Any, axis: Any) -> Any:
    axes = sizes(axis)
    ndim = a.ndim + len(axes)
    new = {operator.index(i) % ndim if -ndim <= i < ndim else i for i in axes}
    if len(new) < len(axes) or not new <= set(range(ndim)):
        raise np.exceptions.AxisError(f"axis {axis} does not fit {ndim} dimensions")
    rest = iter(a.shape)
    return xp.reshape(a, tuple(1 if i in new else next(rest) for i in range(ndim)))


@implements("atleast_1d atleast_2d atleast_3d(*arys)", always=True)
def at_least(xp: Any, name: str, *arys: Any) -> Any:
    results = tuple(with_axes(xp, xp.asarray(a), int(name[-2])) for a in arys)
    return results[0] if len(results) == 1 else results


standard(
    "broadcast_arrays",
    "broadcast_arrays(*args, subok=False) -> *(xp.asarray(a) for a in args)",
    always=True,
)
