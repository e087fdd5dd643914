"""Untyped aliases of `type` and containers, and helpers, for values of any type.

To pyright the class of an `Any` is `type[Unknown]`, and an `Any` that `isinstance` finds to be a
tuple is a tuple of unknown parts. These names have `Any` in those places; at run time they are the
builtins themselves.
"""

from __future__ import annotations

import contextlib
from array import array
from types import CodeType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TypeAlias, TypeVar

    R = TypeVar("R")
    # The numbers of parameters are written out, so that a type checker takes those of a lambda
    # for Any.
    AnyFunction: TypeAlias = (
        Callable[[Any], R]
        | Callable[[Any, Any], R]
        | Callable[[Any, Any, Any], R]
        | Callable[[Any, Any, Any, Any], R]
        | Callable[[Any, Any, Any, Any, Any], R]
        | Callable[[Any, Any, Any, Any, Any, Any], R]
        | Callable[[Any, Any, Any, Any, Any, Any, Any], R]
        | Callable[[Any, Any, Any, Any, Any, Any, Any, Any], R]
    )

type_of: Final[Callable[[Any], type[Any]]] = type
TUPLE: Final[type[Any]] = tuple
LIST: Final[type[Any]] = list
DICT: Final[type[Any]] = dict
SLICE: Final[type[Any]] = slice
TYPE: Final[type[Any]] = type
SEQUENCE: Final[tuple[type[Any], ...]] = (tuple, list)
NUMBERED: Final[tuple[type[Any], ...]] = (tuple, list, range, array)


def class_of(value: Any) -> str:
    """Return the class of a value with its article, for messages: "an int", "a tuple"."""
    name = type_of(value).__name__
    return f"{'an' if name[0] in 'aeioAEIO' or name == 'ndarray' else 'a'} {name}"


def rebuilt(like: Any, parts: Sequence[Any]) -> Any:
    """Make a tuple, list or named tuple of these parts, of the class of `like`."""
    return type_of(like)(*parts) if hasattr(like, "_fields") else type_of(like)(parts)


IMMUTABLE: Final[frozenset[type[Any]]] = frozenset(
    {int, float, bool, slice, str, type(None), type(Ellipsis)}
)
"""The types of arguments that nobody can write to."""


def is_immutable(value: Any) -> bool:
    """Tell if a value cannot be written to: a number, a slice, or a tuple of these."""
    parts: Any = value if isinstance(value, TUPLE) else (value,)
    return IMMUTABLE.issuperset(map(type_of, parts))


def attributes_of(value: Any) -> dict[str, Any]:
    """Return the attributes that an object holds itself, without running code of its class."""
    try:
        found: Any = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}
    own: dict[str, Any] = found if type_of(found) is DICT else {}
    return own


def attribute_or_none(value: Any, name: str) -> Any:
    """Return an attribute; None if it is missing, or if looking at it raises any error."""
    try:
        return getattr(value, name, None)
    except Exception:  # noqa: BLE001  stand-ins for missing packages raise ImportError
        return None


def slots_of(kind: Any) -> tuple[str, ...]:
    """Return the names of the slots that a class itself defines."""
    found: Any = kind.__dict__.get("__slots__", ())
    return (found,) if isinstance(found, str) else tuple(found)


def enclosed_by(function: Any) -> Iterator[Any]:
    """Yield the values of a function's closure; nothing for other objects."""
    for cell in getattr(function, "__closure__", None) or ():
        with contextlib.suppress(ValueError):  # a name that has no value yet
            yield cell.cell_contents


def named_by(function: Any) -> Iterator[Any]:
    """Yield the values of a function's closure, and of the global variables that it names."""
    yield from enclosed_by(function)
    code = getattr(function, "__code__", None)
    if code is not None:
        known = getattr(function, "__globals__", {})
        yield from (known[name] for name in _names_in(code) & known.keys())


def _names_in(code: CodeType) -> set[str]:
    inner = (_names_in(part) for part in code.co_consts if isinstance(part, CodeType))
    return set(code.co_names).union(*inner)
