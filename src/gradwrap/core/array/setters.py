"""Assignment to attributes, as NumPy allows it: `x.real = v`, `x.imag = v`, `x.shape = s`."""

from __future__ import annotations

import math
import operator
from typing import Any

from gradwrap.core.array.writing.inplace import set_item
from gradwrap.core.array.writing.remembered import remember
from gradwrap.core.array.writing.views import IMAG, as_view, view_of
from gradwrap.core.graph.node import Leaf
from gradwrap.core.levels.levels import TAPE_LEVEL
from gradwrap.core.levels.wrapper import make_wrapper
from gradwrap.core.observing.hooks import follow
from gradwrap.core.table.registry import find_op
from gradwrap.core.values.dynamic import SEQUENCE, type_of
from gradwrap.errors import InPlaceError


def set_part(variable: Any, part: str, value: Any) -> None:
    """Write the real or imaginary part of an array."""
    if variable._backend.dtype_kind(variable.dtype)[1]:
        view = getattr(variable._namespace, part)(variable)
        op = find_op(part)
        assert op is not None
        if view_of(view) is None:  # a library whose parts are copies
            as_view(view, variable, op, ())
        set_item(view, ..., value)
    elif part == IMAG:
        raise InPlaceError(
            f"an array of dtype {variable.dtype} has no imaginary part to set. "
            "Fix: x = x + 1j * v, or make the array with dtype=complex."
        )
    else:
        set_item(variable, ..., value)


def mark_imaginary(zeros: Any, of: Any) -> None:
    """Mark zeros as the imaginary part of a real array, so that writes to them are refused."""
    op = find_op(IMAG)
    assert op is not None
    as_view(zeros, of, op, ())


def set_shape(variable: Any, shape: Any) -> None:
    """Reshape an array in place: it becomes a view of the array in its former shape."""
    whole, before = _separate(variable), variable._node
    how = view_of(variable)
    if how is not None:
        whole._view = how
        views = how.source._views
        views[:] = [r for r in views if r() is not variable]
        remember(how.source, whole)
    changed = variable._namespace.reshape(whole, shape)
    if view_of(changed) is None and changed.shape != whole.shape:
        raise _no_shape("its elements do not lie in memory so that this shape can be a view")
    _exchange(variable, whole, changed)
    if variable._view is not None:
        remember(whole, variable)
    follow(variable, before)


def resize(variable: Any, size: Any) -> None:
    """Change the number of elements in place: the last ones go, or zeros follow them."""
    whole, before = _separate(variable), variable._node
    if view_of(variable) is not None:
        raise ValueError("cannot resize this array: it does not own its data")
    xp = variable._namespace
    flat = xp.reshape(whole, (-1,))
    wanted = math.prod(size) if isinstance(size, SEQUENCE) else operator.index(size)
    more = max(wanted - flat.shape[0], 0)
    if more:
        flat = xp.concat([flat, xp.zeros(more, dtype=flat.dtype, device=flat.device)])
    _exchange(variable, whole, xp.reshape(xp.asarray(flat[:wanted], copy=True), size))
    variable._view = None
    follow(variable, before)


def _separate(variable: Any) -> Any:
    """Return another variable of the same value and node, which an exchange leaves as it is."""
    before = variable._node
    if isinstance(before, Leaf) and before.meta.level == TAPE_LEVEL:
        raise _no_shape("a leaf Variable that requires grad keeps its shape")
    return make_wrapper(type_of(variable), variable._value, variable._node)


def _exchange(variable: Any, whole: Any, changed: Any) -> None:
    """Put a changed array into a variable; its views become those of `whole`, the array before."""
    if variable._views is not None:  # which need the old shape
        views = variable._views
        outdated = () if views.outdated is None else views.outdated.values()
        for view in (reference() for reference in (*views, *outdated)):
            if view is not None:
                view._view.source = whole
        whole._views, variable._views = variable._views, None
    variable.__class__ = type(changed)
    variable._value, variable._node = changed._value, changed._node
    variable._view = view_of(changed)


def _no_shape(reason: str) -> InPlaceError:
    return InPlaceError(f"x.shape = ...: {reason}. Fix: x = x.reshape(...).")
