"""Extend arrays beyond their ends, in SciPy's modes."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

# of scipy.ndimage, and of upfirdn, in NumPy's words
NUMPYS = {
    "reflect": "symmetric",
    "grid-mirror": "symmetric",
    "symmetric": "symmetric",
    "symm": "symmetric",
    "mirror": "reflect",
    "nearest": "edge",
    "edge": "edge",
    "wrap": "wrap",
    "grid-wrap": "wrap",
}
CONSTANT = ("constant", "grid-constant", "fill")


def _places(n: int, before: int, after: int, mode: str, length: int = 0) -> Any:
    """Return the index of each element of an extended axis, or of each of its windows.

    The index n is that of the constant beyond the ends. Each call has an array of its own, so that
    `gw.compile` takes it for one that the traced function makes.
    """
    return _kept_places(n, before, after, mode, length).copy()


@functools.lru_cache(64)
def _kept_places(n: int, before: int, after: int, mode: str, length: int) -> Any:
    if mode in CONSTANT:
        index = np.pad(np.arange(n), (before, after), constant_values=n)
    else:
        index = np.pad(np.arange(n), (before, after), mode=NUMPYS[mode])  # type: ignore[call-overload]  # a text
    return index[np.arange(n)[:, None] + np.arange(length)] if length else index


def extended(x: Any, before: int, after: int, mode: str, fill: Any = 0.0, axis: int = -1) -> Any:
    """Extend an array along an axis by its own elements or a constant."""
    if mode not in CONSTANT:
        return np.take(x, _places(x.shape[axis], before, after, mode), axis=axis)
    shape = list(x.shape)
    parts: list[Any] = []
    for count, part in ((before, None), (None, x), (after, None)):
        shape[axis] = count
        parts.append(np.broadcast_to(fill, shape) if part is None else part)
    return np.concatenate(parts, axis=axis)


def neighbours(x: Any, length: int, before: int, mode: str, fill: Any = 0.0, axis: int = -1) -> Any:
    """Gather the window around each element along an axis in a new last axis.

    The window of an element starts `before` elements ahead of it. `mode` says how the array is
    extended beyond its ends.
    """
    axis %= x.ndim
    places = _places(x.shape[axis], before, length - 1 - before, mode, length)
    longer = extended(x, 0, 1, mode, fill, axis) if mode in CONSTANT else x
    made = np.take(longer, places, axis=axis)
    return made if axis == x.ndim - 1 else np.moveaxis(made, axis + 1, -1)


def odd(x: Any, count: int) -> Any:
    """Extend the last axis by odd reflection about its ends."""
    left = 2 * x[..., :1] - x[..., count:0:-1]
    right = 2 * x[..., -1:] - x[..., -2 : -(count + 2) : -1]
    return np.concatenate([left, x, right], axis=-1)


def windows(x: Any, length: int, step: int = 1) -> Any:
    """Return all windows of a given length along the last axis, in a new axis before it."""
    count = (x.shape[-1] - length) // step + 1
    return x[..., np.arange(count)[:, None] * step + np.arange(length)]
