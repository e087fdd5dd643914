"""Joining arrays, splitting them, putting elements in and leaving them out."""

from __future__ import annotations

import itertools
import operator
from typing import Any

import numpy as np

from gradwrap.backends.numpy_functions.converting import flat
from gradwrap.backends.numpy_functions.table import (
    cast,
    completes,
    counting,
    implements,
    on_host,
    sizes,
    standard,
    with_axes,
)
from gradwrap.core.dynamic import LIST, SLICE
from gradwrap.core.wrapper import native, unwrapped_key
from gradwrap.errors import NoRuleError


@completes(np.concatenate, np.stack)
def joined(xp: Any, path: str, arrays: Any, axis: Any, dtype: Any) -> Any:
    return cast(xp, getattr(xp, path)([xp.asarray(a) for a in arrays], axis=axis), dtype)


@implements("vstack hstack(tup, *, dtype=None, casting='same_kind')", "dstack(tup)")
def stacked(xp: Any, name: str, tup: Any, dtype: Any = None) -> Any:
    ndim, axis = {"vstack": (2, 0), "hstack": (1, 1), "dstack": (3, 2)}[name]
    arrays = [with_axes(xp, xp.asarray(a), ndim) for a in tup]
    along = 0 if axis == 1 and arrays[0].ndim == 1 else axis
    return cast(xp, xp.concat(arrays, axis=along), dtype)


@implements("column_stack(tup)")
def column_stack(xp: Any, tup: Any) -> Any:
    columns = [xp.asarray(a) for a in tup]
    return xp.concat([c if c.ndim > 1 else xp.reshape(c, (-1, 1)) for c in columns], axis=1)


@implements("block(arrays)")
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


standard(
    "concat",
    "append(arr, values, axis=None) -> [xp.asarray(arr), xp.asarray(values)], axis=axis",
)


@implements("split(ary, indices_or_sections, axis=0)", always=True)
def split(xp: Any, ary: Any, indices_or_sections: Any, axis: int) -> Any:
    sections = _number_of_sections(indices_or_sections)
    if sections is not None and ary.shape[axis] % sections:
        raise ValueError("array split does not result in an equal division")
    return array_split(xp, ary, indices_or_sections, axis)


@implements("hsplit vsplit dsplit(ary, indices_or_sections)", always=True)
def split_along(xp: Any, name: str, ary: Any, indices_or_sections: Any) -> Any:
    axis = {"hsplit": min(ary.ndim - 1, 1), "vsplit": 0, "dsplit": 2}[name]
    return split(xp, ary, indices_or_sections, axis)


@implements("array_split(ary, indices_or_sections, axis=0)", always=True)
def array_split(xp: Any, ary: Any, indices_or_sections: Any, axis: int) -> list[Any]:
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


standard("unstack", "unstack(x, /, *, axis=0)", always=True)  # from NumPy 2.1 on


@implements("delete(arr, obj, axis=None)")
def delete(xp: Any, arr: Any, obj: Any, axis: Any) -> Any:
    arr, axis = _flat_or_along(xp, arr, axis)
    left_out: Any = obj if isinstance(obj, SLICE) else on_host(obj)
    places = np.delete(counting(arr.shape[axis]), left_out)
    return arr[(slice(None),) * axis + (places,)]


@implements("insert(arr, obj, values, axis=None)")
def insert(xp: Any, arr: Any, obj: Any, values: Any, axis: Any) -> Any:
    """Insert marks into the positions by NumPy, and take what they stand for."""
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
    arr = flat(xp, xp.asarray(arr), axis)
    return arr, operator.index(axis or 0) % arr.ndim


@implements("pad(array, pad_width, mode='constant', **kwargs)", arrays=1)
def pad(xp: Any, array: Any, pad_width: Any, mode: Any, **kwargs: Any) -> Any:
    """Pad with a constant; in other modes, take the elements that NumPy would repeat."""
    if mode == "constant":
        widths = np.pad(np.full(array.shape, True), pad_width)
        axes = range(array.ndim)
        inside = [np.any(widths, axis=tuple(j for j in axes if j != i)) for i in axes]
        first = [np.flatnonzero(part) for part in inside]
        around = np.zeros(array.shape, native(array).dtype)
        kwargs = {k: unwrapped_key(v) for k, v in kwargs.items()}
        out = xp.asarray(np.pad(around, pad_width, **kwargs))
        out[tuple(slice(int(f[0]), int(f[0]) + len(f)) if len(f) else slice(0) for f in first)] = (
            array
        )
        return out
    if mode in ("edge", "reflect", "symmetric", "wrap") and kwargs.get("reflect_type") != "odd":
        positions = counting(array.size).reshape(array.shape)
        places: Any = np.pad(positions, pad_width, mode=mode, **kwargs)
        return xp.reshape(array, (-1,))[places]
    raise NoRuleError(f"np.pad with mode={mode!r} has no rule. Fix: np.concatenate the parts.")


@implements("resize(a, new_shape)", arrays=1)
def resize(xp: Any, a: Any, new_shape: Any) -> Any:
    """Repeat the elements as often as the new shape needs."""
    elements = xp.reshape(a, (-1,))
    return elements[np.resize(counting(elements.shape[0]), sizes(new_shape))]
