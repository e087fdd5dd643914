"""Joining arrays, and splitting them."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from gradwrap.backends.numpy_functions.table import (
    IMPLEMENTATIONS,
    Implementation,
    implements,
    with_axes,
)


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
    joined = xp.concat([xp.asarray(a) for a in arrays], axis=axis)
    return joined if dtype is None else xp.astype(joined, dtype)


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
    joined = xp.stack([xp.asarray(a) for a in arrays], axis=axis)
    return joined if dtype is None else xp.astype(joined, dtype)


def _stacked_along(ndim: int, axis: int) -> Implementation:
    def stacked(xp: Any, tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
        arrays = [with_axes(xp, xp.asarray(a), ndim) for a in tup]
        along = 0 if axis == 1 and arrays[0].ndim == 1 else axis
        joined = xp.concat(arrays, axis=along)
        return joined if dtype is None else xp.astype(joined, dtype)

    return stacked


IMPLEMENTATIONS[np.vstack] = _stacked_along(2, 0)
IMPLEMENTATIONS[np.hstack] = _stacked_along(1, 1)
IMPLEMENTATIONS[np.dstack] = _stacked_along(3, 2)


@implements(np.column_stack)
def column_stack(xp: Any, tup: Any) -> Any:
    columns = [xp.asarray(a) for a in tup]
    return xp.concat([c if c.ndim > 1 else xp.reshape(c, (-1, 1)) for c in columns], axis=1)


@implements(np.block)
def block(xp: Any, arrays: Any) -> Any:
    def depth(value: Any) -> int:
        return 1 + max(depth(part) for part in value) if isinstance(value, list) else 0

    def ndim(value: Any) -> int:
        return max(ndim(p) for p in value) if isinstance(value, list) else xp.asarray(value).ndim

    levels = depth(arrays)
    rank = max(levels, ndim(arrays))

    def join(value: Any, level: int) -> Any:
        if not isinstance(value, list):
            a = xp.asarray(value)
            return xp.reshape(a, (1,) * (rank - a.ndim) + tuple(a.shape))
        return xp.concat([join(part, level - 1) for part in value], axis=-level)

    return join(arrays, levels)


@implements(np.append)
def append(xp: Any, arr: Any, values: Any, axis: Any = None) -> Any:
    arr, values = xp.asarray(arr), xp.asarray(values)
    return xp.concat([arr, values], axis=axis)


@implements(np.split)
def split(xp: Any, ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    n = ary.shape[axis]
    if isinstance(indices_or_sections, int):
        if n % indices_or_sections:
            raise ValueError("array split does not result in an equal division")
        size = n // indices_or_sections
        bounds = [i * size for i in range(indices_or_sections + 1)]
    else:
        bounds = [0, *indices_or_sections, n]
    return _pieces(ary, bounds, axis)


@implements(np.array_split)
def array_split(xp: Any, ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    if not isinstance(indices_or_sections, int):
        pieces: list[Any] = split(xp, ary, indices_or_sections, axis)
        return pieces
    size, longer = divmod(ary.shape[axis], indices_or_sections)
    lengths = [size + 1] * longer + [size] * (indices_or_sections - longer)
    bounds = [0]
    for length in lengths:
        bounds.append(bounds[-1] + length)
    return _pieces(ary, bounds, axis)


def _pieces(ary: Any, bounds: list[int], axis: int) -> list[Any]:
    at = axis % ary.ndim
    return [ary[(slice(None),) * at + (slice(a, b),)] for a, b in itertools.pairwise(bounds)]


IMPLEMENTATIONS[np.hsplit] = lambda xp, ary, s: split(xp, ary, s, 0 if ary.ndim == 1 else 1)
IMPLEMENTATIONS[np.vsplit] = lambda xp, ary, s: split(xp, ary, s, 0)


@implements(np.unstack)
def unstack(xp: Any, x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    return xp.unstack(x, axis=axis)  # type: ignore[no-any-return]
