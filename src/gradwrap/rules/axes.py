"""Functions for axes, which formulas use."""

from __future__ import annotations

import math
import operator
from typing import Any

from numpy.exceptions import AxisError

Axis = int | tuple[int, ...] | None


def as_axes(axis: Axis, ndim: int) -> tuple[int, ...]:
    """Return the axes as non-negative numbers; None stands for all of them.

    An axis may be an integer of NumPy, or an integer array without axes.

    Raises
    ------
    numpy.exceptions.AxisError
        An axis is out of bounds. The error is a ValueError and an IndexError.
    """
    if axis is None:
        return tuple(range(ndim))
    axes = tuple(axis) if isinstance(axis, (tuple, list)) else (operator.index(axis),)
    for a in axes:
        if not -ndim <= a < ndim and ndim:
            raise AxisError(a, ndim)
    return tuple(a % ndim if ndim else a for a in axes)


def axis_length(shape: tuple[int, ...], axis: Axis) -> int:
    """Return the number of elements along the axes."""
    count = math.prod(shape[a] for a in as_axes(axis, len(shape)))
    if math.isnan(count):
        raise ValueError(
            f"the length of axis {axis} of an array of shape {shape} is not known. "
            "Fix: compute it, for dask with x.compute_chunk_sizes()."
        )
    return count


def kept(xp: Any, reduced: Any, ndim: int, axis: Axis, keepdims: bool) -> Any:
    """Put the reduced axes back into a reduction's result, with length one."""
    if keepdims or not ndim:
        return reduced
    axes = as_axes(axis, ndim)
    shape = list(reduced.shape)
    for a in sorted(axes):
        shape.insert(a, 1)
    return xp.reshape(reduced, tuple(shape))


def spread(xp: Any, reduced: Any, meta: Any, axis: Axis, keepdims: bool) -> Any:
    """Repeat a reduction's cotangent along the axes that were reduced."""
    whole = reduced if axis is None else kept(xp, reduced, len(meta.shape), axis, keepdims)
    return xp.broadcast_to(whole, meta.shape)


def at_axis(axis: int, part: Any) -> tuple[Any, ...]:
    """Return the key that applies an index along one axis, counted from the front."""
    return (*(slice(None),) * axis, part, Ellipsis)


def exclusive_products(xp: Any, rows: Any) -> Any:
    """Return the product of the elements before each one, along the last axis."""
    ones = xp.ones_like(rows[..., :1])
    return xp.concat([ones, xp.cumulative_prod(rows[..., :-1], axis=-1)], axis=-1)


def products_of_others(xp: Any, rows: Any) -> Any:
    """Return for each element along the last axis the product of the others, without division.

    It is 0 if one of the others is 0, also where the product of some of them has overflowed.
    """
    after = xp.flip(exclusive_products(xp, xp.flip(rows, axis=-1)), axis=-1)
    found = exclusive_products(xp, rows) * after
    zeros = xp.astype(rows == 0, rows.dtype)
    has_zero = xp.sum(zeros, axis=-1, keepdims=True) - zeros != 0
    is_finite = xp.all(xp.isfinite(rows), axis=-1, keepdims=True)
    return xp.where(xp.isnan(found) & has_zero & is_finite, 0.0, found)


def inverse_permutation(axes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the permutation that undoes another one."""
    inverse = [0] * len(axes)
    for position, axis in enumerate(axes):
        inverse[axis % len(axes)] = position
    return tuple(inverse)
