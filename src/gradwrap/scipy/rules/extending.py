"""Extend arrays beyond their ends, in SciPy's modes."""

from __future__ import annotations

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


def extended(x: Any, before: int, after: int, mode: str, fill: Any = 0.0, axis: int = -1) -> Any:
    """Extend an array along an axis by its own elements or a constant."""
    n = x.shape[axis]
    if mode in ("constant", "grid-constant", "fill"):
        shape = list(x.shape)
        parts: list[Any] = []
        for count, part in ((before, None), (n, x), (after, None)):
            shape[axis] = count
            parts.append(np.full(shape, fill) if part is None else part)
        return np.concatenate(parts, axis=axis)
    return np.take(x, np.pad(np.arange(n), (before, after), mode=NUMPYS[mode]), axis=axis)  # type: ignore[call-overload]  # a text


def odd(x: Any, count: int) -> Any:
    """Extend the last axis by odd reflection about its ends."""
    left = 2 * x[..., :1] - x[..., count:0:-1]
    right = 2 * x[..., -1:] - x[..., -2 : -(count + 2) : -1]
    return np.concatenate([left, x, right], axis=-1)


def windows(x: Any, length: int, step: int = 1) -> Any:
    """Return all windows of a given length along the last axis, in a new axis before it."""
    count = (x.shape[-1] - length) // step + 1
    return x[..., np.arange(count)[:, None] * step + np.arange(length)]
