"""Moving, repeating and selecting elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwrap.backends.numpy_functions.shapes import swapaxes
from gradwrap.backends.numpy_functions.table import (
    NoValue,
    check_constant,
    constant,
    counting,
    given,
    implements,
    on_host,
    on_values,
    sizes,
    untyped,
)
from gradwrap.core.dynamic import LIST, SEQUENCE
from gradwrap.core.wrapper import Wrapper, key_with_batches, native
from gradwrap.errors import NoRuleError

NUMPYS_OWN: tuple[type[Any], ...] = (np.ndarray, np.generic)


@implements(np.flip, always=True)
def flip(xp: Any, m: Any, axis: Any = None) -> Any:
    return xp.flip(m, axis=axis if axis is None else sizes(axis))


@implements(np.fliplr, always=True)
def fliplr(xp: Any, m: Any) -> Any:
    return xp.flip(m, axis=1)


@implements(np.flipud, always=True)
def flipud(xp: Any, m: Any) -> Any:
    return xp.flip(m, axis=0)


@implements(np.rot90, always=True)
def rot90(xp: Any, m: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    for _ in range(k % 4):
        m = xp.flip(swapaxes(xp, m, *axes), axis=axes[0])
    return m


@implements(np.roll)
def roll(xp: Any, a: Any, shift: Any, axis: Any = None) -> Any:
    check_constant("np.roll", shift=shift)
    shift = on_host(shift)
    if axis is None:
        total = int(np.sum(shift))
        return xp.roll(a, total)
    pairs = np.broadcast(shift, axis)
    shifts, axes = zip(*((int(s), int(i)) for s, i in pairs), strict=True)
    return xp.roll(a, tuple(shifts), axis=tuple(axes))


@implements(np.tile)
def tile(xp: Any, A: Any, reps: Any) -> Any:
    return xp.tile(A, sizes(reps))


@implements(np.repeat)
def repeat(xp: Any, a: Any, repeats: Any, axis: Any = None) -> Any:
    counts = np.asarray(repeats) if isinstance(repeats, SEQUENCE) else repeats
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


on_values(np.argpartition, np.lexsort)


@implements(np.partition)
def partition(
    xp: Any, a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None
) -> Any:
    if axis is None:
        a, axis = xp.reshape(a, (-1,)), -1
    values = native(a)
    # argpartition puts what is not the kth in another order: find where partition has put it
    rank = np.argsort(np.argsort(np.partition(values, kth, axis=axis), axis=axis), axis=axis)
    places = np.take_along_axis(np.argsort(values, axis=axis), rank, axis=axis)
    return xp.take_along_axis(a, places, axis=axis)


@implements(np.unique)
def unique(xp: Any, ar: Any, *options: Any, **named: Any) -> Any:
    """The first of each of the elements that are equal; with the positions NumPy gives."""
    flat = xp.reshape(xp.asarray(ar), (-1,))
    if "axis" in named or options[3:]:
        raise NoRuleError("np.unique with axis= has no rule. Fix: leave it out, or .detach().")
    names = ("return_index", "return_inverse", "return_counts")
    named = dict(zip(names, options, strict=False)) | named
    with_index = bool(named.pop("return_index", False))
    values = native(ar)
    results = untyped.unique(values, return_index=True, **named)
    _, places, *rest = results
    found: list[Any] = [flat[places], *([places] if with_index else []), *rest]
    return tuple(found) if len(found) > 1 else found[0]


@implements(np.unique_all)
def unique_all(xp: Any, x: Any) -> Any:
    return xp.unique_all(x)


@implements(np.unique_counts)
def unique_counts(xp: Any, x: Any) -> Any:
    return xp.unique_counts(x)


@implements(np.unique_inverse)
def unique_inverse(xp: Any, x: Any) -> Any:
    return xp.unique_inverse(x)


@implements(np.unique_values)
def unique_values(xp: Any, x: Any) -> Any:
    return xp.unique_values(x)


@implements(np.take)
def take(
    xp: Any, a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise"
) -> Any:
    a = xp.asarray(a)
    if axis is None:
        a, axis = xp.reshape(a, (-1,)), 0
    places: Any = _places(indices)
    n = a.shape[axis]
    if mode != "raise":
        places = places % n if mode == "wrap" else np.clip(places, 0, n - 1)
    if isinstance(places, NUMPYS_OWN) and not places.ndim:
        places = int(places)
    return a[(slice(None),) * (axis % a.ndim) + (places,)]


def _places(indices: Any) -> Any:
    """Indices as an array: NumPy's own, or one that vmap maps over."""
    key = key_with_batches(indices)
    is_array = isinstance(key, Wrapper) or hasattr(key, "get")  # or CuPy's own
    return key if is_array else np.asarray(key)


@implements(np.take_along_axis)
def take_along_axis(xp: Any, arr: Any, indices: Any, axis: Any = -1) -> Any:
    places = _places(indices)
    if axis is None:
        arr, axis = xp.reshape(arr, (-1,)), 0
    if arr.ndim != places.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    at = axis % arr.ndim
    rest = np.broadcast_shapes(_without(arr.shape, at), _without(places.shape, at))
    return xp.take_along_axis(
        xp.broadcast_to(arr, (*rest[:at], arr.shape[at], *rest[at:])),
        np.broadcast_to(places, (*rest[:at], places.shape[at], *rest[at:])),
        axis=at,
    )


def _without(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return (*shape[:axis], *shape[axis + 1 :])


@implements(np.where)
def where(xp: Any, condition: Any, x: Any = NoValue, y: Any = NoValue, /) -> Any:
    if x is NoValue:
        return xp.nonzero(condition)
    condition = xp.asarray(condition)
    if condition.dtype != np.bool_:
        condition = condition != 0
    return xp.where(condition, x, y)


@implements(np.select)
def select(xp: Any, condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    shape = np.broadcast_shapes(*(np.shape(c) for c in (*condlist, *choicelist)))
    found = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        found = where(xp, condition, choice, found)
    return found if found.shape == shape else xp.broadcast_to(found, shape)


@implements(np.piecewise)
def piecewise(xp: Any, x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    x = xp.asarray(x)
    conditions: list[Any]
    if isinstance(condlist, LIST) and condlist and np.ndim(native(condlist[0])):
        conditions = [on_host(c).astype(bool) for c in condlist]
    elif not isinstance(condlist, SEQUENCE):
        whole = on_host(condlist).astype(bool)
        conditions = [whole] if whole.ndim == x.ndim else list(whole)
    elif x.ndim == 0:
        conditions = [on_host(c).astype(bool) for c in condlist]
    else:
        conditions = [on_host(condlist).astype(bool)]
    if len(funclist) == len(conditions) + 1:
        conditions.append(~np.any(conditions, axis=0))
    if len(funclist) != len(conditions):
        raise ValueError(
            f"with {len(conditions)} condition(s), either {len(conditions)} or "
            f"{len(conditions) + 1} functions are expected"
        )
    found: Any = xp.zeros(x.shape, dtype=x.dtype)
    for condition, function in zip(conditions, funclist, strict=True):
        if not callable(function):
            found = xp.where(constant(xp, condition), xp.asarray(function), found)
        elif x.ndim:
            found[condition] = function(x[condition], *args, **kw) if np.any(condition) else 0.0
        elif condition:
            found = function(x, *args, **kw)
    return xp.astype(found, x.dtype, copy=False)


@implements(np.choose)
def choose(xp: Any, a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    places = on_host(a)
    parts = [xp.asarray(choice) for choice in choices]
    shape = np.broadcast_shapes(places.shape, *(part.shape for part in parts))
    if mode != "raise":
        n = len(parts)
        places = places % n if mode == "wrap" else np.clip(places, 0, n - 1)
    stacked = xp.stack([xp.broadcast_to(part, shape) for part in parts], axis=-1)
    places = np.broadcast_to(places, shape)[..., None]
    return xp.take_along_axis(stacked, constant(xp, places), axis=-1)[..., 0]


@implements(np.compress)
def compress(xp: Any, condition: Any, a: Any, axis: Any = None, out: Any = None) -> Any:
    return take(xp, a, np.flatnonzero(on_host(condition)), axis)


@implements(np.extract)
def extract(xp: Any, condition: Any, arr: Any) -> Any:
    return take(xp, arr, np.flatnonzero(on_host(condition)))


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
    m = xp.asarray(m)
    if m.ndim < 2:
        return xp.where(constant(xp, np.tri(m.shape[0], k=k, dtype=bool)), m, 0)
    return xp.tril(m, k=k)


@implements(np.triu)
def triu(xp: Any, m: Any, k: int = 0) -> Any:
    m = xp.asarray(m)
    if m.ndim < 2:
        return xp.where(constant(xp, np.tri(m.shape[0], k=k - 1, dtype=bool)), 0, m)
    return xp.triu(m, k=k)


@implements(np.diagonal, always=True)
def diagonal(xp: Any, a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    return xp.linalg.diagonal(xp.moveaxis(a, (axis1, axis2), (-2, -1)), offset=offset)


@implements(np.diag)
def diag(xp: Any, v: Any, k: int = 0) -> Any:
    v = xp.asarray(v)
    if v.ndim == 2:
        return xp.linalg.diagonal(v, offset=k)
    if v.ndim != 1:
        raise ValueError("Input must be 1- or 2-d.")
    n = v.shape[0] + abs(k)
    out = xp.zeros((n, n), dtype=v.dtype)
    places = counting(v.shape[0])
    out[places + max(-k, 0), places + max(k, 0)] = v
    return out


@implements(np.diagflat)
def diagflat(xp: Any, v: Any, k: int = 0) -> Any:
    return diag(xp, xp.reshape(xp.asarray(v), (-1,)), k)


@implements(np.trim_zeros)
def trim_zeros(xp: Any, filt: Any, trim: str = "fb", axis: Any = None) -> Any:
    places = np.argwhere(on_host(filt))
    if not len(places):
        return filt[(slice(0),) * filt.ndim]
    trim = trim.lower()
    first = places.min(0) if "f" in trim else np.zeros_like(places[0])
    last = places.max(0) + 1 if "b" in trim else np.asarray(filt.shape)
    axes = range(filt.ndim) if axis is None else [i % filt.ndim for i in sizes(axis)]
    return filt[
        tuple(
            slice(int(first[i]), int(last[i])) if i in axes else slice(None)
            for i in range(filt.ndim)
        )
    ]


@implements(np.lib.stride_tricks.sliding_window_view)
def sliding_window_view(
    xp: Any,
    x: Any,
    window_shape: Any,
    axis: Any = None,
    *,
    subok: bool = False,
    writeable: bool = False,
) -> Any:
    """The elements of each window, taken by their positions."""
    positions = counting(x.size).reshape(x.shape)
    windows: Any = np.lib.stride_tricks.sliding_window_view(positions, window_shape, axis)
    return xp.reshape(x, (-1,))[windows]
