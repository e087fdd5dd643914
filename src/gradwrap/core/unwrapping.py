"""From wrappers back to the arrays below them."""

from __future__ import annotations

from typing import Any

__all__ = ["native", "snapshot", "unwrapped_key"]


def native(variable: Any) -> Any:
    """The native array at the bottom of all wrappers."""
    data = variable
    while hasattr(type(data), "_bind"):
        data = data._data
    return data


def snapshot(array: Any) -> Any:
    """What a variable holds now, whatever is written to it later; anything else as it is."""
    kind = type(array)
    return kind(array._data, array._node) if hasattr(kind, "_bind") else array


def unwrapped_key(key: Any) -> Any:
    """An index without wrappers: the arrays in it are data."""
    if hasattr(type(key), "_bind"):
        return native(key)
    if isinstance(key, (tuple, list)):
        return type(key)(unwrapped_key(part) for part in key)
    if isinstance(key, slice):
        parts = (key.start, key.stop, key.step)
        if any(hasattr(type(part), "_bind") for part in parts):
            return slice(*(None if p is None else int(p) for p in parts))
    return key
