"""Plain arrays that share the memory of a variable, as those of `np.asarray(a)` do in NumPy.

A write to the array is seen in the variable, which holds the same buffer. While the array or a view
of it lives, a write to the variable goes into that buffer. A tracked value is then refused: the
plain array would have to show it, and cannot hold it.
"""

from __future__ import annotations

import weakref
from typing import Any

from gradwrap.core.array.writing.outdated import outdate_views
from gradwrap.core.array.writing.ownership import handed_out, owns_buffer
from gradwrap.core.array.writing.views import view_of
from gradwrap.core.levels.wrapper import AnyWrapper, innermost, is_scalar, layers, native
from gradwrap.core.library.buffers import buffer_of, exposed, share, shared
from gradwrap.core.values.dynamic import type_of
from gradwrap.errors import InPlaceError


class Loan:
    """The memory of a buffer; all plain arrays of it keep the loan alive."""

    __slots__ = ("__weakref__", "buffer", "is_callers")

    def __init__(self, buffer: Any, *, is_callers: bool) -> None:
        self.buffer: Any = buffer
        self.is_callers: bool = is_callers


loans: weakref.WeakValueDictionary[int, Loan] = weakref.WeakValueDictionary()
"""The loans of the buffers of variables, by the identity of the buffer."""


def lend(variable: Any) -> Any:
    """Return a plain array of the memory of an untracked variable, to which the caller may write.

    If operations or the caller hold the variable's buffer, then the variable takes a copy first.
    The array that `wrap` was given stays the variable's.
    """
    root = root_of(variable)
    *_, lowest = layers(root)
    backend, data = lowest._backend, lowest._value
    lent: Any = backend.lent
    is_plain = callable(lent) and type_of(data) in backend.array_types
    if is_scalar(root) or not is_plain or not backend.is_writeable(data):
        return handed_out(variable)
    is_callers = id(data) not in exposed and id(buffer_of(data)) in shared
    if root._backend.depth or not (is_callers or id(data) in exposed or owns_buffer(root)):
        changes, is_callers = type_of(root) is not type_of(lowest), False
        root.__class__, root._value = type_of(lowest), backend.copy(data)
        outdate_views(root, recorded=changes)
    buffer = root._value
    loan = loans.get(id(buffer))
    if loan is None:
        if not is_callers:
            share(buffer, result=True)
        loan = loans[id(buffer)] = Loan(buffer, is_callers=is_callers)
    return lent(innermost(variable), loan)


def root_of(variable: Any) -> Any:
    """Follow a chain of views to the array that owns the buffer.

    That of an array which was made of several, as a table's of its columns, is its own.
    """
    while (how := view_of(variable)) is not None and isinstance(how.source, AnyWrapper):
        variable = how.source
    return variable


def write_to_lent(variable: Any, value: Any, *, recorded: bool) -> bool:
    """Write a whole new value into the buffer of a variable if it is lent; tell if it was done."""
    loan = loans.get(id(variable._value))
    if loan is None or value is variable:
        return False
    if loan.is_callers:
        raise InPlaceError(
            "this array shares its memory with the plain array that gradwrap.wrap was given, and "
            "with the one that np.asarray has made of it; gradwrap does not write to the caller's "
            "arrays. Fix: write to a .copy(), or make the plain array by np.array(a), which copies."
        )
    if recorded and any(layer._node is not None for layer in layers(value)):
        raise InPlaceError(
            "a tracked value was written to an array that shares its memory with a plain one, made "
            "by np.asarray(a) or a function that calls it, and a plain array cannot hold the "
            "value. Fix: make the plain array by np.array(a), which copies, or before that, "
            "import gradwrap.numpy as np, whose np.asarray returns arrays that can hold it."
        )
    variable._backend.write(variable._value, ..., native(value))
    variable._is_array = True
    outdate_views(variable, recorded=False)
    return True
