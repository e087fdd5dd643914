"""Joining arrays, splitting them, putting elements in and leaving them out."""

from __future__ import annotations

import itertools
import operator
from typing import Any

import numpy as np

from gradwrap.backends.numpy_functions.table import (
    IMPLEMENTATIONS,
    Implementation,
    counting,
    implements,
    on_host,
    sizes,
    with_axes,
)
from gradwrap.core.dynamic import LIST, SLICE
from gradwrap.core.wrapper import native, unwrapped_key
from gradwrap.errors import NoRuleError


def _cast(xp: Any, a: Any, dtype: Any) -> Any:
    return a if dtype is None else xp.astype(a, np.dtype(dtype), copy=False)


@implements(np.concatenate)
def concatenate(
    xp: Any,
    arrays: Any,
    /,
    axis: Any = 0,
    out: Any = None,
    *,
    dtype: Any = None,
    casting: str = "same_kind",
) -> Any:
    return _cast(xp, xp.concat([xp.asarray(a) for a in arrays], axis=axis), dtype)


@implements(np.stack)
def stack(
    xp: Any,
    arrays: Any,
    axis: int = 0,
    out: Any = None,
    *,
    dtype: Any = None,
    casting: str = "same_kind",
) -> Any:
    return _cast(xp, xp.stack([xp.asarray(a) for a in arrays], axis=axis), dtype)


def _stacked_along(ndim: int, axis: int) -> Implementation:
    def stacked(xp: Any, tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
        arrays = [with_axes(xp, xp.asarray(a), ndim) for a in tup]
        along = 0 if axis == 1 and arrays[0].ndim == 1 else axis
        return _cast(xp, xp.concat(arrays, axis=along), dtype)

    return stacked


IMPLEMENTATIONS[np.vstack] = _stacked_along(2, 0)
IMPLEMENTATIONS[np.hstack] = _stacked_along(1, 1)


@implements(np.dstack)
def dstack(xp: Any, tup: Any) -> Any:
    return xp.concat([with_axes(xp, xp.asarray(a), 3) for a in tup], axis=2)


@implements(np.column_stack)
def column_stack(xp: Any, tup: Any) -> Any:
    columns = [xp.asarray(a) for a in tup]
    return xp.concat([c if c.ndim > 1 else xp.reshape(c, (-1, 1)) for c in columns], axis=1)


@implements(np.block)
def block(xp: Any, arrays: Any) -> Any:
    def depth(value: Any) -> int:
        return 1 + max(depth(part) for part in value) if isinstance(value, LIST) else 0

    def ndim(value: Any) -> int:
        return max(ndim(p) for p in value) if isinstance(value, LIST) else xp.asarray(value).ndim

    levels = depth(arrays)
    rank = max(levels, ndim(arrays))

    def join(value: Any, level: int) -> Any:
        if not isinstance(value, LIST):
            a = xp.asarray(value)
            return xp.reshape(a, (1,) * (rank - a.ndim) + tuple(a.shape))
        return xp.concat([join(part, level - 1) for part in value], axis=-level)

    return join(arrays, levels)


@implements(np.append)
def append(xp: Any, arr: Any, values: Any, axis: Any = None) -> Any:
    return xp.concat([xp.asarray(arr), xp.asarray(values)], axis=axis)


@implements(np.split, always=True)
def split(xp: Any, ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    sections = _number_of_sections(indices_or_sections)
    if sections is not None and ary.shape[axis] % sections:
        raise ValueError("array split does not result in an equal division")
    return array_split(xp, ary, indices_or_sections, axis)


@implements(np.array_split, always=True)
def array_split(xp: Any, ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    n = ary.shape[axis]
    sections = _number_of_sections(indices_or_sections)
    if sections is None:
        bounds = [0, *(int(i) for i in indices_or_sections), n]
    else:
        size, longer = divmod(n, sections)
        lengths = [size + 1] * longer + [size] * (sections - longer)
        bounds = [0, *itertools.accumulate(lengths)]
    before = (slice(None),) * (axis % ary.ndim)
    return [ary[(*before, slice(a, b))] for a, b in itertools.pairwise(bounds)]


def _number_of_sections(indices_or_sections: Any) -> int | None:
    try:
        return operator.index(indices_or_sections)
    except TypeError:
        return None


@implements(np.hsplit, always=True)
def hsplit(xp: Any, ary: Any, indices_or_sections: Any) -> Any:
    return split(xp, ary, indices_or_sections, 0 if ary.ndim == 1 else 1)


@implements(np.vsplit, always=True)
def vsplit(xp: Any, ary: Any, indices_or_sections: Any) -> Any:
    return split(xp, ary, indices_or_sections, 0)


@implements(np.dsplit, always=True)
def dsplit(xp: Any, ary: Any, indices_or_sections: Any) -> Any:
    return split(xp, ary, indices_or_sections, 2)


def unstack(xp: Any, x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    return xp.unstack(x, axis=axis)  # type: ignore[no-any-return]  # a namespace is Any


if hasattr(np, "unstack"):  # from NumPy 2.1 on
    implements(np.unstack, always=True)(unstack)


@implements(np.delete)
def delete(xp: Any, arr: Any, obj: Any, axis: Any = None) -> Any:
    arr, axis = _flat_or_along(xp, arr, axis)
    left_out: Any = obj if isinstance(obj, SLICE) else on_host(obj)
    places = np.delete(counting(arr.shape[axis]), left_out)
    return arr[(slice(None),) * axis + (places,)]


@implements(np.insert)
def insert(xp: Any, arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    """NumPy inserts marks into the positions; what they stand for is then taken."""
    arr, axis = _flat_or_along(xp, arr, axis)
    values = xp.asarray(values)
    values = xp.reshape(values, (1,) * (arr.ndim - values.ndim) + tuple(values.shape))
    obj = unwrapped_key(obj)
    where: Any = counting(arr.shape[axis])[obj] if isinstance(obj, SLICE) else on_host(obj)
    if where.dtype == np.bool_:
        where = np.flatnonzero(where)
    if where.ndim == 0:
        values = xp.moveaxis(values, 0, axis)
    count = values.shape[axis] if where.size == 1 else where.size
    marks = -1 - counting(count)
    n = arr.shape[axis]
    before: Any = int(where.reshape(-1)[0]) if where.size == 1 else where
    order = np.insert(counting(n), before, marks)
    wanted = (*arr.shape[:axis], count, *arr.shape[axis + 1 :])
    new = xp.astype(xp.broadcast_to(values, wanted), arr.dtype, copy=False)
    joined = xp.concat([arr, new], axis=axis)
    places: Any = np.where(order < 0, n - 1 - order, order)
    return joined[(slice(None),) * axis + (places,)]


def _flat_or_along(xp: Any, arr: Any, axis: Any) -> tuple[Any, int]:
    arr = xp.asarray(arr)
    if axis is None:
        return xp.reshape(arr, (-1,)), 0
    return arr, operator.index(axis) % arr.ndim


@implements(np.pad)
def pad(xp: Any, array: Any, pad_width: Any, mode: Any = "constant", **options: Any) -> Any:
    """With a constant; other modes by taking the elements that NumPy would repeat."""
    array = xp.asarray(array)
    if mode == "constant":
        widths = np.pad(np.full(array.shape, True), pad_width)
        first = [np.flatnonzero(np.any(widths, axis=_but(i, array.ndim))) for i in _axes(array)]
        around = np.zeros(array.shape, native(array).dtype)
        options = {k: unwrapped_key(v) for k, v in options.items()}
        out = xp.asarray(np.pad(around, pad_width, **options))
        out[tuple(slice(int(f[0]), int(f[0]) + len(f)) if len(f) else slice(0) for f in first)] = (
            array
        )
        return out
    if mode in ("edge", "reflect", "symmetric", "wrap") and options.get("reflect_type") != "odd":
        positions = counting(array.size).reshape(array.shape)
        places: Any = np.pad(positions, pad_width, mode=mode, **options)
        return xp.reshape(array, (-1,))[places]
    raise NoRuleError(f"np.pad with mode={mode!r} has no rule. Fix: np.concatenate the parts.")


def _axes(array: Any) -> range:
    return range(array.ndim)


def _but(axis: int, ndim: int) -> tuple[int, ...]:
    return tuple(i for i in range(ndim) if i != axis)


@implements(np.resize)
def resize(xp: Any, a: Any, new_shape: Any) -> Any:
    """The elements, repeated as often as it takes."""
    flat = xp.reshape(xp.asarray(a), (-1,))
    return flat[np.resize(counting(flat.shape[0]), sizes(new_shape))]
