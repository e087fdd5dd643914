"""Writes of forward mode and of batches directly into buffers that nothing else refers to.

An array of forward mode has two buffers, its own and that of its tangent, which may be a batch: the
columns of a Jacobian. So a write costs as much as the part that is written, not a copy of both
arrays.
"""

from __future__ import annotations

from sys import getrefcount
from typing import Any

from gradwrap.core.array.writing.outdated import outdate_views
from gradwrap.core.array.writing.ownership import owns_buffer
from gradwrap.core.array.writing.views import view_of
from gradwrap.core.levels.wrapper import AnyWrapper
from gradwrap.core.library.scatter import is_basic_key
from gradwrap.core.values.dynamic import TUPLE, type_of
from gradwrap.core.values.space import Batch, Tangent

NOTHING = 0
"""The tangent of what is not tracked."""
NUMBERS = (int, float)


def write_through(variable: Any, key: Any, value: Any) -> bool:
    """Write `variable[key] = value` without a new array if possible; tell if it was done."""
    if variable._backend.depth or view_of(variable) is not None or not is_basic_key(key):
        return False
    node = type_of(variable._node)
    if node is Tangent:
        return _write_with_tangent(variable, key, value)
    return node is Batch and _write_to_batch(variable, key, value)


def _write_to_batch(variable: Any, key: Any, value: Any) -> bool:
    """Write to all examples at once, by a key that has the batch axis in front."""
    batch = variable._node
    if batch.diagonal is not None or not _is_of_level(variable, value):
        return False
    key = (slice(None), *(key if isinstance(key, TUPLE) else (key,)))
    shape = variable._value[key].shape
    is_mapped = getattr(value, "_node", None) is not None
    data = getattr(value, "_value", value)
    if not _fits(variable, data, shape if is_mapped else shape[1:], like=shape[:1] * is_mapped):
        return False
    if is_mapped and data.ndim < len(shape):
        data = data.reshape(data.shape + (1,) * (len(shape) - 1))
    outdate_views(variable, recorded=True)
    if not owns_buffer(variable):
        return False
    variable._backend.write(variable._value, key, data)
    variable._is_array = True
    return True


def _write_with_tangent(variable: Any, key: Any, value: Any) -> bool:
    """Write to the array, and to its tangent the tangent of the value."""
    if getrefcount(variable._node) != _OWN_REFERENCES or not _is_of_level(variable, value):
        return False
    node = getattr(value, "_node", None)
    data, pushed = getattr(value, "_value", value), NOTHING if node is None else node.value
    tangent, shape = variable._node, variable._value[key].shape
    if not _fits(variable, data, shape) or not _fits(tangent.value, pushed, shape):
        return False
    outdate_views(variable, recorded=True)
    if not owns_buffer(variable) or getrefcount(tangent.value) != _OWN_REFERENCES:
        return False
    if not _is_whole(variable._backend, tangent.value, pushed):
        return False
    variable._backend.write(variable._value, key, data)
    variable._is_array = True
    if isinstance(tangent.value, AnyWrapper):
        tangent.value._is_array = True  # without axes it is an array, too, which can be written to
    tangent.value[key] = pushed
    return True


def _is_whole(backend: Any, tangent: Any, pushed: Any) -> bool:
    """Tell if a tangent owns its buffer, and the tangent of a value can be written into it.

    A value computed from a part may share the part's tangent: `x[1:] + 2.0` has that of `x[1:]`.
    """
    if type_of(tangent) not in backend.native_types:
        return view_of(tangent) is None
    fits = type_of(pushed) in {int, *backend.native_types}
    return fits and bool(backend.owns_buffer(tangent))


def _is_of_level(variable: Any, value: Any) -> bool:
    """Tell if a value is a number, a native array, or a wrapper of the variable's own class."""
    if type_of(value) in NUMBERS or type_of(value) in variable._backend.native_types:
        return True
    if type_of(value) is not type_of(variable) or view_of(value) is not None:
        return False
    node, mine = value._node, variable._node
    if node is None:
        return True
    is_same = type_of(node) is type_of(mine) and node.meta.level == mine.meta.level
    return is_same and getattr(node, "diagonal", None) is None


def _fits(target: Any, data: Any, shape: Any, *, like: Any = ()) -> bool:
    """Tell if data have the dtype of their target, and the shape of the selection or no axes."""
    if type_of(data) in NUMBERS:
        return True
    return bool(data.dtype == target.dtype) and tuple(data.shape) in (tuple(like), tuple(shape))


class _Holder:
    __slots__ = ("_node",)

    def __init__(self, node: Any) -> None:
        self._node = node


def _count(holder: Any) -> int:
    return getrefcount(holder._node)


_OWN_REFERENCES = _count(_Holder([]))
