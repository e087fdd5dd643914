"""The arrays that a saved value keeps alive, and their sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.levels.wrapper import innermost
from gradwrap.core.library.backend import backend_of, is_array
from gradwrap.core.values.space import size_of
from gradwrap.core.values.tree import flatten

if TYPE_CHECKING:
    from collections.abc import Iterator

SHOWN = (bool, int, float, complex, str)
"""The types of values that are no arrays, though some libraries take them for such."""


def arrays_in(value: Any) -> Iterator[Any]:
    """Return the native arrays that a saved value keeps alive."""
    for leaf in flatten(value)[0]:
        array = innermost(leaf) if is_array(leaf) else None
        if array is not None and not isinstance(array, SHOWN):
            yield array
        elif array is None and hasattr(leaf, "held_arrays"):
            yield from leaf.held_arrays()


def bytes_of(array: Any) -> int:
    size = getattr(array, "nbytes", None)
    if isinstance(size, int):
        return size
    xp, dtype = backend_of(array).xp, array.dtype
    if xp.isdtype(dtype, "bool"):
        bits = 8
    elif xp.isdtype(dtype, "integral"):
        bits = int(xp.iinfo(dtype).bits)
    else:
        bits = int(xp.finfo(dtype).bits) * (2 if xp.isdtype(dtype, "complex floating") else 1)
    return size_of(array.shape) * (bits // 8)
