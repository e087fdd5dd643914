"""Adding values at indices that may repeat.

`np.add.at` has a fast loop for one array of indices into an array of one axis, and takes five to
ten times as long for anything else. So the places that a key names are counted in the flat buffer.
Modules that compiled programs are saved as hold these functions: they use NumPy alone.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

where: Any = np.where
TUPLE: type[Any] = tuple
ARRAYS: tuple[type[Any], ...] = (np.ndarray, list)
DOUBLE = 8  # bytes of the numbers that `np.bincount` adds up
MANY = 64
"""From so many values for each place, numbers of less precision are added up as doubles."""


def add_at(buffer: Any, key: Any, values: Any) -> None:
    """Add values to a buffer's elements at a key, repeatedly for repeated indices."""
    axis, arrays = _index_arrays(key)
    if not arrays or not buffer.flags.c_contiguous:
        np.add.at(buffer, key, values)
        return
    shape = buffer.shape
    end = axis + len(arrays)
    before, rows, after = (math.prod(part) for part in (shape[:axis], shape[axis:end], shape[end:]))
    if before == 1 and len(arrays) == 1:
        at = arrays[0].astype(np.intp)  # `np.add.at` counts negative numbers from the end itself
    else:
        lengths = shape[axis:end]
        counted = np.broadcast_arrays(*map(_counted_from_front, arrays, lengths))
        at = np.ravel_multi_index(counted, lengths)
    whole = np.broadcast_to(values, (*shape[:axis], *at.shape, *shape[end:])).reshape(-1)
    at = at.reshape(-1)
    if before != 1:
        at = (np.arange(before)[:, None] * rows + at).reshape(-1)
    if after != 1:
        at = (at[:, None] * after + np.arange(after)).reshape(-1)
    flat = buffer.reshape(-1)
    if buffer.dtype.kind == "f" and buffer.itemsize < DOUBLE and at.size >= MANY * buffer.size:
        flat += np.bincount(at % buffer.size, whole, buffer.size)
    else:
        np.add.at(flat, at, whole.astype(buffer.dtype, copy=False))


def _index_arrays(key: Any) -> tuple[int, list[Any]]:
    """Return the first axis that a key indexes, and its integer arrays from there on.

    The list is empty if the key selects in another way.
    """
    parts: Sequence[Any] = key if isinstance(key, TUPLE) else (key,)
    axis = 0
    while axis < len(parts) and type(parts[axis]) is slice and parts[axis] == slice(None):
        axis += 1
    arrays: list[Any] = [np.asarray(part) for part in parts[axis:] if isinstance(part, ARRAYS)]
    if len(arrays) < len(parts) - axis or any(array.dtype.kind not in "iu" for array in arrays):
        return axis, []
    return axis, arrays


def _counted_from_front(array: Any, length: int) -> Any:
    counted: Any = where(array < 0, array + length, array)
    return counted
