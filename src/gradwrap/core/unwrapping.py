"""From wrappers back to the arrays below them."""

from __future__ import annotations

from typing import Any

from gradwrap.core.kinds import SEQUENCE, SLICE, type_of
from gradwrap.errors import BatchedValueError

__all__ = ["innermost", "key_with_batches", "native", "settled", "snapshot", "unwrapped_key"]


def native(variable: Any) -> Any:
    """The native array at the bottom of all wrappers."""
    data = variable
    while hasattr(type_of(data), "_bind"):
        if type_of(data)._is_batched and data._node is not None:
            raise BatchedValueError(
                "the values of an array that vmap maps over are needed here, to decide something "
                "that may differ from example to example. "
                "Fix: xp.where chooses for each example; or call this outside of vmap."
            )
        data = data._data
    return data


def innermost(array: Any) -> Any:
    """What is below all wrappers, those of `vmap` included: to ask for its type or dtype."""
    while hasattr(type_of(array), "_bind"):
        array = array._data
    return array


def settled(array: Any) -> Any:
    """Without the wrappers that track nothing: a transform inside of another leaves such ones."""
    while hasattr(type_of(array), "_bind") and array._node is None:
        array = array._data
    return array


def snapshot(array: Any) -> Any:
    """What a variable holds now, whatever is written to it later; anything else as it is."""
    return array._snapshot() if hasattr(type_of(array), "_bind") else array


def unwrapped_key(key: Any) -> Any:
    """An index without wrappers: the arrays in it are data."""
    if hasattr(type_of(key), "_bind"):
        return native(key)
    if isinstance(key, SEQUENCE):
        return type(key)(unwrapped_key(part) for part in key)
    if isinstance(key, SLICE):
        parts = (key.start, key.stop, key.step)
        if any(hasattr(type_of(part), "_bind") for part in parts):
            return slice(*(None if p is None else int(p) for p in parts))
    return key


def key_with_batches(key: Any) -> Any:
    """An index without wrappers but those of arrays that vmap maps over."""
    try:
        return unwrapped_key(key)
    except BatchedValueError:
        pass
    if isinstance(key, SEQUENCE):
        return type(key)(key_with_batches(part) for part in key)
    if isinstance(key, SLICE):
        raise BatchedValueError(
            "a slice from or to an index that vmap maps over: how many elements it selects may "
            "differ from example to example. Fix: x[start + xp.arange(length)]."
        )
    while hasattr(type_of(key), "_bind") and not (
        type_of(key)._is_batched and key._node is not None
    ):
        key = key._data
    return key
