"""Functions that write to an array they are given: to a variable, never to a plain array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.backends.numpy_functions.table import (
    ALWAYS,
    IMPLEMENTATIONS,
    WRITING,
    Implementation,
    counting,
    on_host,
    untyped,
)
from gradwrap.core.wrapper import AnyWrapper, is_recorded, native, unwrapped_key
from gradwrap.errors import OutArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable


def _writes(function: Any) -> Callable[[Implementation], Implementation]:
    """Enter a function whose first argument is written to."""
    name = function.__name__

    def enter(implementation: Implementation) -> Implementation:
        def write(xp: Any, target: Any, *args: Any, **kwargs: Any) -> Any:
            if not isinstance(target, AnyWrapper):
                if not is_recorded([args, kwargs]):
                    named = {k: unwrapped_key(v) for k, v in kwargs.items()}
                    return function(target, *unwrapped_key(args), **named)
                raise OutArgumentError(
                    f"np.{name} into a {type(target).__name__}: a plain array cannot hold a "
                    "tracked value. Fix: make the array with gradwrap.numpy.zeros (in a function "
                    "under a transform) or gradwrap.wrap(np.zeros(...))."
                )
            return implementation(xp, target, *args, **kwargs)

        IMPLEMENTATIONS[function] = write
        ALWAYS.add(function)
        WRITING.add(function)
        return implementation

    return enter


@_writes(np.copyto)
def copyto(xp: Any, dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    if native(src) is not src or hasattr(src, "dtype"):
        from_, to = native(src).dtype, native(dst).dtype
        if not np.can_cast(from_, to, casting):  # type: ignore[arg-type]  # a string
            raise TypeError(f"Cannot cast array data from {from_} to {to} according to {casting!r}")
    dst[...] = src if where is True else xp.where(native(where), src, dst)


@_writes(np.fill_diagonal)
def fill_diagonal(xp: Any, a: Any, val: Any, wrap: bool = False) -> None:
    marks = np.zeros(a.shape, dtype=bool)
    np.fill_diagonal(marks, True, wrap)
    key = np.nonzero(marks)
    a[key] = _repeated(xp, val, len(key[0]))


def _repeated(xp: Any, values: Any, count: int) -> Any:
    """Repeat values to fill all places, as `a.flat[...] = values` does."""
    values = xp.reshape(xp.asarray(values), (-1,))
    return values[np.resize(counting(values.shape[0]), count)]


@_writes(np.put_along_axis)
def put_along_axis(xp: Any, arr: Any, indices: Any, values: Any, axis: Any) -> None:
    places = on_host(indices)
    if axis is None:
        xp.reshape(arr, (-1,))[places] = values
        return
    at = axis % arr.ndim
    key = tuple(
        places if i == at else counting(n).reshape((-1,) + (1,) * (arr.ndim - i - 1))
        for i, n in enumerate(arr.shape)
    )
    arr[key] = values


@_writes(np.put)
def put(xp: Any, a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    places = on_host(ind).reshape(-1)
    if mode != "raise":
        places = places % a.size if mode == "wrap" else np.clip(places, 0, a.size - 1)
    if places.size:
        from_start = untyped.where(places < 0, places + a.size, places)
        a[np.unravel_index(from_start, a.shape)] = _repeated(xp, v, places.size)


@_writes(np.putmask)
def putmask(xp: Any, a: Any, mask: Any, values: Any) -> None:
    """Give each element that the mask chooses the value at its own place."""
    places = np.flatnonzero(on_host(mask))
    values = _repeated(xp, values, a.size)
    put(xp, a, places, values[places])


@_writes(np.place)
def place(xp: Any, arr: Any, mask: Any, vals: Any) -> None:
    places = np.flatnonzero(on_host(mask))
    put(xp, arr, places, vals)
