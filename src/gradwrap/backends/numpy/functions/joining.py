"""Joining and splitting arrays, inserting and deleting elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwrap.backends.numpy.functions.converting import NDARRAY
from gradwrap.backends.numpy.functions.shapes import with_axes
from gradwrap.backends.numpy.functions.table import (
    cast,
    check_cast,
    completes,
    counting,
    implements,
    in_memory,
    on_host,
    standard,
)
from gradwrap.core.levels.wrapper import unwrapped_key
from gradwrap.core.values.dynamic import LIST, SEQUENCE, SLICE


@completes(np.concatenate, np.stack)
def joined(xp: Any, path: str, arrays: Any, axis: Any, dtype: Any, casting: str) -> Any:
    parts = _castable(xp, arrays, dtype, casting)
    return cast(xp, getattr(xp, path)(parts, axis=axis), dtype)


def _castable(xp: Any, arrays: Any, dtype: Any, casting: str) -> list[Any]:
    """Return the arrays that are joined; raise a TypeError where `casting` does not allow it."""
    parts = [xp.asarray(a) for a in arrays]
    if dtype is not None:
        for part in parts:
            check_cast(part.dtype, dtype, casting)
    return parts


STACKS = {
    "vstack": ("atleast_2d", 0),
    "hstack": ("atleast_1d", 1),
    "dstack": ("atleast_3d", 2),
    "column_stack": ("atleast_2d", 1),
}
"""For each function what its arrays are at least, and the axis they are joined along."""


@implements("vstack hstack(tup, *, dtype=None, casting='same_kind')", "dstack column_stack(tup)")
def stacked(xp: Any, name: str, tup: Any, dtype: Any = None, casting: str = "same_kind") -> Any:
    least, axis = STACKS[name]
    arrays = _castable(xp, tup, dtype, casting)
    if name == "column_stack":
        arrays = [xp.reshape(a, (-1, 1)) if a.ndim < 2 else a for a in arrays]
    arrays = [with_axes(xp, least, a) for a in arrays]
    return cast(xp, xp.concat(arrays, axis=min(axis, arrays[0].ndim - 1)), dtype)


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

    return join(arrays, levels) if levels else xp.copy(xp.asarray(arrays), order="C")


standard(
    "concat", "append(arr, values, axis=None) -> [xp.asarray(arr), xp.asarray(values)], axis=axis"
)


@implements(
    "split array_split(ary, indices_or_sections, axis=0)",
    "hsplit vsplit dsplit(ary, indices_or_sections)",
    always=True,
)
def split(xp: Any, name: str, ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Split the positions along the axis by NumPy, and slice the array between their ends."""
    least = {"hsplit": 1, "vsplit": 2, "dsplit": 3}.get(name, 0)
    if ary.ndim < least:
        raise ValueError(f"{name} only works on arrays of {least} or more dimensions")
    along = {"hsplit": min(ary.ndim - 1, 1), "dsplit": 2}.get(name, axis)
    divided: Any = np.array_split if name == "array_split" else np.split
    parts = divided(counting(ary.shape[along]), unwrapped_key(indices_or_sections))
    before = (slice(None),) * (along % ary.ndim)
    return [
        ary[(*before, slice(int(part[0]), int(part[-1]) + 1) if part.size else slice(0))]
        for part in parts
    ]


standard("unstack", "unstack(x, /, *, axis=0)", always=True)  # from NumPy 2.1 on


@implements("delete(arr, obj, axis=None)", arrays=1)
def delete(xp: Any, arr: Any, obj: Any, axis: Any) -> Any:
    return gathered(xp, np.delete, arr, obj=_on_host(obj), axis=axis)


@implements("insert(arr, obj, values, axis=None)", arrays=1)
def insert(xp: Any, arr: Any, obj: Any, values: Any, axis: Any) -> Any:
    """Let NumPy insert the positions of the new elements, and take the elements there."""
    values = xp.asarray(values)
    new = arr.size + counting(values.size).reshape(values.shape)
    places: Any = np.insert(positions_of(arr), _on_host(obj), new, axis)
    parts = (arr, xp.astype(values, arr.dtype, copy=False))
    return xp.concat([xp.reshape(part, (-1,)) for part in parts])[places]


def _on_host(obj: Any) -> Any:
    return unwrapped_key(obj) if isinstance(obj, (SLICE, *SEQUENCE)) else on_host(obj)


def gathered(xp: Any, function: Any, a: Any, **options: Any) -> Any:
    """Apply NumPy's function to the positions of the elements, and take the elements there."""
    found = xp.reshape(a, (-1,))[function(positions_of(a), **options)]
    return found if found.shape else xp.asarray(found, copy=True)


def positions_of(a: Any) -> Any:
    """Number the elements of an array, in an array with the same memory layout."""
    like = in_memory(a)
    positions: Any = np.empty(a.shape, np.intp)
    if isinstance(like, NDARRAY):
        gaps = 1 if like.flags.forc else 2
        inside = (*(slice(0, gaps * n, gaps) for n in like.shape), ...)
        spaced: Any = np.empty_like(like, np.intp, shape=tuple(gaps * n for n in like.shape))
        positions = spaced[inside]
    positions[...] = counting(a.size).reshape(a.shape)
    return positions


@implements("resize(a, new_shape)", arrays=1)
def resize(xp: Any, a: Any, new_shape: Any) -> Any:
    """Repeat the elements as often as the new shape needs; an empty array gives zeros."""
    if not a.size:
        return xp.zeros(np.resize(np.empty(0), new_shape).shape, dtype=a.dtype)
    return gathered(xp, np.resize, a, new_shape=new_shape)
