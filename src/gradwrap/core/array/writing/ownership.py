"""Ownership of arrays: whether others than a variable and its views refer to its array."""

from __future__ import annotations

from sys import getrefcount
from typing import Any

from gradwrap.core.array.writing.remembered import current_views
from gradwrap.core.array.writing.views import view_of
from gradwrap.core.levels.wrapper import AnyWrapper, native
from gradwrap.core.library.buffers import buffer_of, share, shared
from gradwrap.core.values.dynamic import type_of


class _Holder:
    __slots__ = ("_value",)

    def __init__(self, data: Any) -> None:
        self._value = data


def _references(variable: Any) -> int:
    return getrefcount(variable._value)


_OWN_REFERENCES = _references(_Holder([]))


def owns_buffer(variable: Any) -> bool:
    """Tell if only a variable and its views refer to its array, which is a whole buffer."""
    if view_of(variable) is not None:
        return False
    others = _references(variable) - _OWN_REFERENCES
    if others:
        others -= own_views(variable, variable)
    return not others and bool(variable._backend.owns_buffer(variable._value))


def handed_out(value: Any) -> Any:
    """Return the native array of a value to a caller who may write to it.

    The arrays that operations have saved do not change: the variable takes a copy if operations
    hold its array. From now on, operations treat the array as the caller's when they save it.
    """
    if not isinstance(value, AnyWrapper) or isinstance(value._value, AnyWrapper):
        return native(value)
    if not value._backend.is_writeable(value._value):
        return native(value)
    if id(buffer_of(value._value)) not in shared and hasattr(type_of(value._value), "__setitem__"):
        is_view = getattr(value._value, "base", None) is not None
        if is_view or _references(value) > _OWN_REFERENCES:
            value._value = value._backend.copy(value._value)
        share(value._value, result=True)
    return native(value)


def own_views(variable: Any, root: Any) -> int:
    """Count the living views of the array of `root` whose own arrays nothing else refers to."""
    count = 0
    for view in current_views(variable):
        base = getattr(view._value, "base", None)
        if base is root._value and _references(view) == _OWN_REFERENCES:
            count += 1
        if view._views is not None:
            count += own_views(view, root)
    return count
