"""Keys of values: two values with equal keys can stand for each other.

Objects of Python's own types are compared by value, arrays by content, and all others by identity:
equal objects may hold different contents.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from gradwrap.core.values.dynamic import SLICE, TUPLE, type_of

BY_VALUE: frozenset[type[Any]] = frozenset({bool, int, str, bytes, type(None)})
"""Types whose objects are interchangeable if they are equal."""
PARTS: frozenset[type[Any]] = frozenset({tuple, list, set, frozenset})


class Identity:
    """The key of an object that is equal only to a key of the same object."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value: Any = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identity) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)

    def __repr__(self) -> str:
        return repr(self.value)


def value_key(value: Any) -> Any:
    """Return the key of a value; 1, 1.0 and True differ, and so do 0.0 and -0.0."""
    kind = type_of(value)
    if kind in (float, complex):
        return (kind, value.real.hex(), value.imag.hex())
    if _has_content(kind):
        return (kind, value.shape, value.dtype, getattr(value, "strides", None), value.tobytes())
    if kind is SLICE or kind is range:
        return (kind, value_key((value.start, value.stop, value.step)))
    if kind in PARTS:
        return (kind, tuple(map(value_key, value)))
    names = _field_names(value)
    if names is not None:
        return (kind, tuple(value_key(getattr(value, name)) for name in names))
    return (kind, value if kind in BY_VALUE else Identity(value))


def _has_content(kind: type[Any]) -> bool:
    """Tell if a type is one of arrays, or numbers, whose bytes can be read."""
    return hasattr(kind, "tobytes") and hasattr(kind, "dtype")


def _field_names(value: Any) -> list[str] | None:
    """Return the fields of a dataclass object if these hold all its state, and no containers."""
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return None
    names = [one.name for one in dataclasses.fields(value)]
    if getattr(value, "__dict__", dict.fromkeys(names)).keys() != {*names}:
        return None
    kinds = (int, float, complex, str, bytes, type(None), TUPLE)
    own = [getattr(value, name) for name in names]
    return names if all(isinstance(one, kinds) or _is_number(type_of(one)) for one in own) else None


def _is_number(kind: type[Any]) -> bool:
    return _has_content(kind) and not hasattr(kind, "__setitem__")
