"""Arrays that `vmap` maps over, wherever they are in the arguments of a call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.kinds import DICT, SEQUENCE, SLICE, rebuilt, type_of

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["batched_parts", "data_of", "example"]


def batched_parts(value: Any, level: int | None = None) -> Iterator[Any]:
    """The arrays that vmap maps over somewhere in a value: all, or those of one level."""
    if isinstance(value, SEQUENCE):
        for part in value:
            yield from batched_parts(part, level)
    elif isinstance(value, DICT):
        for part in value.values():
            yield from batched_parts(part, level)
    elif isinstance(value, SLICE):
        yield from batched_parts((value.start, value.stop, value.step), level)
    else:
        while hasattr(type_of(value), "_bind"):
            if (
                type_of(value)._is_batched
                and value._node is not None
                and level in (None, value._node.meta.level)
            ):
                yield value
                return
            value = value._data


def example(value: Any, level: int, index: int) -> Any:
    """One example of whatever a value holds."""
    if isinstance(value, SEQUENCE):
        parts = [example(part, level, index) for part in value]
        return rebuilt(value, parts)
    if isinstance(value, DICT):
        return {key: example(part, level, index) for key, part in value.items()}
    if isinstance(value, SLICE):
        parts = [example(p, level, index) for p in (value.start, value.stop, value.step)]
        return slice(*(p if p is None else int(p) for p in parts))
    kind = type_of(value)
    if (
        getattr(kind, "_is_batched", False)
        and value._node is not None
        and value._node.meta.level == level
    ):
        return value._data[index]
    return value


def data_of(batched: Any) -> Any:
    """All examples of an array that `vmap` maps over, the batch axis first."""
    return batched._data
