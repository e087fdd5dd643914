"""Moving, repeating and selecting elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwrap.backends.numpy_functions.shapes import swapaxes
from gradwrap.backends.numpy_functions.table import (
    IMPLEMENTATIONS,
    NoValue,
    given,
    implements,
    sizes,
)
from gradwrap.errors import NoRuleError


@implements(np.flip)
def flip(xp: Any, m: Any, axis: Any = None) -> Any:
    return xp.flip(m, axis=axis)


IMPLEMENTATIONS[np.fliplr] = lambda xp, m: xp.flip(m, axis=1)
IMPLEMENTATIONS[np.flipud] = lambda xp, m: xp.flip(m, axis=0)


@implements(np.rot90)
def rot90(xp: Any, m: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    for _ in range(k % 4):
        m = xp.flip(swapaxes(xp, m, *axes), axis=axes[0])
    return m


@implements(np.roll)
def roll(xp: Any, a: Any, shift: Any, axis: Any = None) -> Any:
    return xp.roll(a, shift, axis=axis)


@implements(np.tile)
def tile(xp: Any, A: Any, reps: Any) -> Any:
    return xp.tile(A, sizes(reps))


@implements(np.repeat)
def repeat(xp: Any, a: Any, repeats: Any, axis: Any = None) -> Any:
    counts = np.asarray(repeats) if isinstance(repeats, (list, tuple)) else repeats
    return xp.repeat(a, counts, axis=axis)


@implements(np.sort)
def sort(
    xp: Any, a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> Any:
    if axis is None:
        a, axis = xp.reshape(a, (-1,)), -1
    return xp.sort(a, axis=axis)


@implements(np.argsort)
def argsort(
    xp: Any, a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> Any:
    if axis is None:
        a, axis = xp.reshape(a, (-1,)), -1
    return xp.argsort(a, axis=axis)


@implements(np.take)
def take(
    xp: Any, a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise"
) -> Any:
    a = xp.asarray(a)
    if axis is None:
        a, axis = xp.reshape(a, (-1,)), 0
    return a[(slice(None),) * (axis % a.ndim) + (indices,)]


@implements(np.take_along_axis)
def take_along_axis(xp: Any, arr: Any, indices: Any, axis: Any = -1) -> Any:
    if axis is None:
        arr, axis = xp.reshape(arr, (-1,)), 0
    return xp.take_along_axis(arr, indices, axis=axis)


@implements(np.where)
def where(xp: Any, condition: Any, x: Any = NoValue, y: Any = NoValue, /) -> Any:
    if x is NoValue:
        return xp.nonzero(condition)
    return xp.where(xp.asarray(condition) != 0, x, y)


@implements(np.clip)
def clip(
    xp: Any,
    a: Any,
    a_min: Any = NoValue,
    a_max: Any = NoValue,
    out: Any = None,
    *,
    min: Any = NoValue,
    max: Any = NoValue,
    **_: Any,
) -> Any:
    low = a_min if given(a_min) else min if given(min) else None
    high = a_max if given(a_max) else max if given(max) else None
    return xp.clip(a, low, high)


@implements(np.nonzero)
def nonzero(xp: Any, a: Any) -> Any:
    return xp.nonzero(a)


@implements(np.tril)
def tril(xp: Any, m: Any, k: int = 0) -> Any:
    return xp.tril(m, k=k)


@implements(np.triu)
def triu(xp: Any, m: Any, k: int = 0) -> Any:
    return xp.triu(m, k=k)


@implements(np.diagonal)
def diagonal(xp: Any, a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    return xp.linalg.diagonal(xp.moveaxis(a, (axis1, axis2), (-2, -1)), offset=offset)


@implements(np.diag)
def diag(xp: Any, v: Any, k: int = 0) -> Any:
    if v.ndim == 2:
        return xp.linalg.diagonal(v, offset=k)
    n = v.shape[0] + abs(k)
    eye = np.eye(v.shape[0], n, k=max(k, 0)) if k >= 0 else np.eye(v.shape[0], n)
    placed = xp.expand_dims(v, axis=1) * eye
    if k >= 0:
        return xp.concat([placed, xp.zeros((k, n), dtype=v.dtype)], axis=0) if k else placed
    return xp.concat([xp.zeros((-k, n), dtype=v.dtype), placed], axis=0)


@implements(np.pad)
def pad(xp: Any, array: Any, pad_width: Any, mode: str = "constant", **options: Any) -> Any:
    """With a constant; other modes by taking the elements that NumPy would repeat."""
    array = xp.asarray(array)
    if mode == "constant" and not options.get("constant_values"):
        out = xp.zeros(np.pad(np.zeros(array.shape, np.int8), pad_width).shape, dtype=array.dtype)
        widths = np.broadcast_to(np.asarray(pad_width), (array.ndim, 2))
        key = tuple(
            slice(int(b), int(b) + n) for (b, _), n in zip(widths, array.shape, strict=True)
        )
        out[key] = array
        return out
    if mode in ("edge", "reflect", "symmetric", "wrap"):
        native: Any = np.pad
        places = native(np.arange(array.size).reshape(array.shape), pad_width, mode, **options)
        return xp.reshape(array, (-1,))[places]
    raise NoRuleError(f"np.pad with mode={mode!r} has no rule. Fix: np.concatenate the parts.")
