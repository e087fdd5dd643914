"""Adding values at indices that may repeat: by `np.bincount`, or by `np.add.at`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.core.values.dynamic import TUPLE

if TYPE_CHECKING:
    from collections.abc import Sequence

untyped: Any = np
ARRAYS: tuple[type[Any], ...] = (np.ndarray, list)
SPARSE = 4
"""How many times more places than indices there may be for `np.bincount`, which visits them all."""
DOUBLE = 8  # bytes of the numbers that it adds up


def add_at(buffer: Any, key: Any, values: Any) -> None:
    """Add values to the elements of a buffer that a key names, as often as it names them."""
    axis, arrays = _index_arrays(key)
    shape = buffer.shape
    lengths = shape[axis : axis + len(arrays)]
    rows = math.prod(lengths)
    if (
        not arrays
        or buffer.dtype.kind != "f"
        or buffer.dtype.itemsize > DOUBLE
        or not 0 < rows <= SPARSE * max(array.size for array in arrays)
    ):
        np.add.at(buffer, key, values)
        return
    at = np.ravel_multi_index(
        np.broadcast_arrays(*map(_counted_from_front, arrays, lengths)), lengths
    )
    before, after = math.prod(shape[:axis]), math.prod(shape[axis + len(arrays) :])
    whole = np.broadcast_to(values, (*shape[:axis], *at.shape, *shape[axis + len(arrays) :]))
    at = at.reshape(-1)
    if before != 1:
        at = (np.arange(before)[:, None] * rows + at).reshape(-1)
    if after != 1:
        at = (at[:, None] * after + np.arange(after)).reshape(-1)
    buffer += np.bincount(at, whole.reshape(-1), buffer.size).reshape(shape)


def _index_arrays(key: Any) -> tuple[int, list[Any]]:
    """Return the first axis that a key indexes, and the arrays of integers for it and the next.

    There are none if the key selects in another way.
    """
    parts: Sequence[Any] = key if isinstance(key, TUPLE) else (key,)
    axis = 0
    while axis < len(parts) and type(parts[axis]) is slice and parts[axis] == slice(None):
        axis += 1
    arrays: list[Any] = [untyped.asarray(part) for part in parts[axis:] if isinstance(part, ARRAYS)]
    if len(arrays) < len(parts) - axis or any(array.dtype.kind not in "iu" for array in arrays):
        return axis, []
    return axis, arrays


def _counted_from_front(array: Any, length: int) -> Any:
    counted: Any = untyped.where(array < 0, array + length, array)
    return counted
