"""Cotangents of parts: of elements selected by an index, or of one output of several.

Reading `x[i]` in a loop of n steps must not cost n arrays of the size of `x`. The formula of an
index returns a part, and the engine adds it into one buffer per array.
"""

from __future__ import annotations

from typing import Any

from gradwrap.core.levels.wrapper import AnyWrapper
from gradwrap.core.library.compat import device
from gradwrap.core.values.dynamic import SLICE, TUPLE, type_of


class Scattered:
    """The cotangent of `x` through `x[key]`: `values` at `key`, zero elsewhere."""

    __slots__ = ("key", "values")

    def __init__(self, key: Any, values: Any) -> None:
        self.key: Any = key
        self.values: Any = values


def at_key(xp: Any, g: Any, key: Any) -> Scattered:  # noqa: ARG001  the form of a formula
    """Return the cotangent of `x` through `x[key]`; the pass adds it up without calling this."""
    return Scattered(key, g)


class OutputPart:
    """The cotangent of one output of an operation that has several."""

    __slots__ = ("index", "value")

    def __init__(self, index: int, value: Any) -> None:
        self.index: int = index
        self.value: Any = value


PARTS = frozenset({Scattered, OutputPart})
"""The classes of parts, which a formula may return in place of a cotangent."""


def is_basic_key(key: Any) -> bool:
    """Tell if a key has only integers, slices, None and Ellipsis, and so selects a view."""
    if type(key) in BASIC or (type_of(key) is TUPLE and BASIC.issuperset(map(type_of, key))):
        return True
    for part in key if isinstance(key, TUPLE) else (key,):
        if type_of(part) not in BASIC and not _is_integer_scalar(part):
            return False
    return True


BASIC: frozenset[type[Any]] = frozenset({int, slice, type(None), type(Ellipsis)})
"""The types of the parts of a basic key; an integer of an array library is one too."""


def _is_integer_scalar(part: Any) -> bool:
    """Tell if a part of a key is one integer of an array library, as `np.arange` gives them."""
    return (
        getattr(part, "ndim", None) == 0
        and hasattr(type_of(part), "__index__")
        and not isinstance(part, AnyWrapper)  # vmap maps over it
        and not str(part.dtype).endswith("bool")
    )


def scatter_add_generic(xp: Any, buffer: Any, key: Any, values: Any) -> Any:
    """Add at indices, using only the standard's functions.

    The standard has no scatter-add. Keys that name no element twice add in place; for integer
    arrays, each flat position that the key names is found by indexing an array of positions,
    and equal positions are summed by a product with a one-hot matrix.
    """
    if is_basic_key(key) or getattr(key, "dtype", None) == xp.bool:
        parts = key if isinstance(key, TUPLE) else (key,)
        parts = tuple(part for part in parts if part is not None)  # new axes are for reading alone
        key = parts[0] if len(parts) == 1 else parts
        old = buffer[key]
        buffer[key] = old + xp.reshape(values, old.shape)
        return buffer
    place = device(buffer)
    size = 1
    for length in buffer.shape:
        size *= length
    everywhere = xp.arange(size, device=place)
    positions = _take_at(xp, xp.reshape(everywhere, buffer.shape), key)
    values = xp.reshape(xp.broadcast_to(values, positions.shape), (-1,))
    named = xp.reshape(positions, (-1,))[None, :] == everywhere[:, None]
    summed = xp.matmul(xp.astype(named, buffer.dtype), xp.astype(values, buffer.dtype))
    return buffer + xp.reshape(summed, buffer.shape)


def _take_at(xp: Any, array: Any, key: Any) -> Any:
    """Return `array[key]`, also for an integer array after slices, which the standard lacks."""
    if isinstance(key, TUPLE) and any(isinstance(part, SLICE) for part in key):
        *before, indices = key
        if all(part == slice(None) for part in before) and hasattr(indices, "dtype"):
            axis = len(before)
            taken = xp.take(array, xp.reshape(indices, (-1,)), axis=axis)
            shape = array.shape[:axis] + tuple(indices.shape) + array.shape[axis + 1 :]
            return xp.reshape(taken, shape)
    return array[key]
