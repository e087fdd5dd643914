"""Indexing by several arrays, with NumPy's meaning, and views of Dask's arrays by blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from gradwrap.dask.untyped import LIST, SEQUENCE, SLICE, TUPLE

if TYPE_CHECKING:
    da: Any
else:
    import dask.array as da


def as_axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """Return axes as non-negative numbers; None stands for all axes."""
    return tuple(range(ndim)) if axis is None else normalize_axis_tuple(axis, ndim)


def selects_points(key: Any) -> bool:
    """Tell if several parts of a key are arrays of integers, which Dask's indexing refuses."""
    return isinstance(key, TUPLE) and sum(map(_is_array, key)) > 1


def _is_array(part: Any) -> bool:
    return isinstance(part, LIST) or getattr(part, "ndim", 0) > 0


def points(x: Any, key: tuple[Any, ...]) -> Any:
    """Return `x[key]` for several integer arrays, as NumPy does, from a Dask array.

    Arrays that form an open mesh are taken axis by axis, others by Dask's `vindex`.
    """
    if any(part is None or isinstance(part, da.Array) for part in key):
        return x[key]  # Dask raises its own errors
    whole = (slice(None),) * (x.ndim - len(key) + any(part is Ellipsis for part in key))
    at = next((i for i, part in enumerate(key) if part is Ellipsis), len(key))
    parts = (*key[:at], *whole, *key[at + 1 :])
    arrays: dict[int, Any] = {
        axis: np.asarray(part) for axis, part in enumerate(parts) if not isinstance(part, SLICE)
    }
    if any(array.dtype == np.bool_ for array in arrays.values()):
        return x[key]
    x = x[tuple(slice(None) if axis in arrays else part for axis, part in enumerate(parts))]
    axes, ndim = sorted(arrays), np.broadcast(*arrays.values()).ndim
    are_adjacent = axes[-1] - axes[0] == len(axes) - 1
    if are_adjacent and _are_mesh([arrays[axis] for axis in axes]):
        for axis, array in arrays.items():
            x = da.take(x, array.ravel(), axis=axis)
        return x
    found = x.vindex[tuple(arrays.get(axis, slice(None)) for axis in range(x.ndim))]
    first = axes[0] if are_adjacent else 0
    return da.moveaxis(found, range(ndim), range(first, first + ndim)) if first else found


def _are_mesh(arrays: list[Any]) -> bool:
    """Tell if each array varies along its own axis only, as the arrays of `np.ix_` do."""
    ndim = len(arrays)
    return all(a.ndim == ndim and a.size == a.shape[place] for place, a in enumerate(arrays))


class Points:
    """The attribute `vindex` of an array: its elements at points, whose axes come first."""

    def __init__(self, array: Any) -> None:
        self._array = array

    def __getitem__(self, key: Any) -> Any:
        parts = key if isinstance(key, TUPLE) else (key,)
        axes = [axis for axis, part in enumerate(parts) if _is_array(part)]
        found = self._array[tuple(np.asarray(p) if isinstance(p, SEQUENCE) else p for p in parts)]
        are_first = not axes or axes[0] == 0 or axes[-1] - axes[0] >= len(axes)
        if are_first or any(part is Ellipsis or isinstance(part, int) for part in parts):
            return found
        ndim = np.broadcast(*(np.asarray(parts[axis]) for axis in axes)).ndim
        return np.moveaxis(found, range(axes[0], axes[0] + ndim), range(ndim))


class Blocks:
    """The attributes `blocks` and `partitions` of an array: some of its blocks."""

    def __init__(self, array: Any) -> None:
        self._array = array

    def __getitem__(self, key: Any) -> Any:
        parts = key if isinstance(key, TUPLE) else (key,)
        chunks = self._array.chunks
        whole = (slice(None),) * (len(chunks) - len(parts) + (Ellipsis in parts))
        at = parts.index(Ellipsis) if Ellipsis in parts else len(parts)
        found = self._array
        for axis, part in enumerate((*parts[:at], *whole, *parts[at + 1 :])):
            ends = np.cumsum((0, *chunks[axis]))
            taken = np.atleast_1d(np.arange(len(chunks[axis]))[part])
            pieces = [
                found[(slice(None),) * axis + (slice(int(ends[i]), int(ends[i + 1])),)]
                for i in taken
            ]
            if not isinstance(part, SLICE) or part != slice(None):
                found = pieces[0] if len(pieces) == 1 else np.concatenate(pieces, axis=axis)
        return found

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of blocks along each axis."""
        return tuple(map(len, self._array.chunks))

    @property
    def size(self) -> int:
        """The number of blocks."""
        return int(np.prod(self.shape))
