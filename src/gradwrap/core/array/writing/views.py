"""Views: a wrapper that is a view of another one shares its storage, as in NumPy.

The library says at the call whether a result is a view. A view remembers how it was taken from its
source. A write to the view goes to the source. A write to the source makes its views outdated, and
an outdated view is taken again when it is next read. So the cost of a write does not grow with the
number of views.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.array.writing.remembered import remember
from gradwrap.core.levels.memory import lay_out, one_array
from gradwrap.core.levels.wrapper import AnyWrapper, batched_parts, innermost, is_scalar
from gradwrap.core.library.buffers import share
from gradwrap.core.library.scatter import BASIC
from gradwrap.core.values.dynamic import TUPLE, is_immutable, type_of

if TYPE_CHECKING:
    from gradwrap.core.calls.bound import BoundOp
    from gradwrap.core.table.registry import Op

INDEX = "index"
"""Rows whose result is a view where the key selects one."""
PERMUTATION = "permutation"
"""Rows that give all elements in another order or shape."""
SELECTION = "selection"
"""Rows that give some of the elements, in places that the library's own function tells."""
BROADCAST = "broadcast"
"""Rows that repeat elements, so that their views are read-only."""
REAL = "real"
IMAG = "imag"
"""Rows that give one part of complex numbers."""

OUTDATED_SLOTS: frozenset[str] = frozenset({"_value", "_node"})
"""The slots that an outdated view leaves empty until it is taken again."""
NEW = object.__new__


class View:
    """The operation and arguments by which a view was taken, and can be taken again."""

    __slots__ = ("op", "recorded", "source", "statics", "threshold")

    source: Any
    op: Op
    statics: tuple[Any, ...]
    recorded: bool
    threshold: int


def view_of(variable: Any) -> View | None:
    """Return how a wrapper was taken as a view of another, or None if it is no view."""
    return variable._view  # type: ignore[no-any-return]  # a slot of Any


def link(cls: Any, result: Any, source: Any, bound: BoundOp, statics: tuple[Any, ...]) -> Any:
    """If `result` is a view of `source`, remember that."""
    if bound.rule.variadic:
        if len(source) != 1:
            return result
        (source,) = source
    if not isinstance(source, AnyWrapper):
        if getattr(innermost(result), "base", None) is not None:
            share(source)  # its owner can write to the result's buffer
    elif cls._is_batched and bound.rule.views == INDEX and _selects_copy(statics[0], result):
        lay_out(result, _of_first_example(source, statics[0]))
    elif result is not source and _is_view(cls, result, source, bound, statics):
        if is_scalar(source):  # which has no views
            result._is_array = bound.rule.views in (INDEX, SELECTION, BROADCAST)  # s[...] is one
            if cls._is_batched and bound.rule.views == BROADCAST:  # to refuse writes, as in NumPy
                as_view(result, source, bound.op, statics)
            return result
        remember(source, as_view(result, source, bound.op, statics))
    return result


def _is_view(cls: Any, result: Any, source: Any, bound: BoundOp, statics: tuple[Any, ...]) -> bool:
    """Tell if a result is a view in the library, or one in each example of `vmap`."""
    kind = bound.rule.views
    backend = cls._backend
    if kind == INDEX and (cls._is_batched or backend.depth or not backend.tells_views):
        if _selects_copy(statics[0], result):
            return False
        if not is_immutable(statics[0]) and any(True for _ in batched_parts(statics[0])):
            return True
    return (
        type(result) is cls
        and type(source) is cls
        and (kind != SELECTION or bool(backend.tells_views))
        and bool(backend.may_be_view(result._value, source._value))
    )


def _of_first_example(source: Any, key: Any) -> Any:
    """Return the part of the first example that a key selects, for its memory order."""
    parts = key if isinstance(key, TUPLE) else (key,)
    first = tuple(one_array(p) if isinstance(p, AnyWrapper) else p for p in parts)
    found = one_array(source)[first]
    return found if getattr(found, "shape", ()) else None


def _selects_copy(key: Any, result: Any) -> bool:
    """Tell if indexing with this key copies in NumPy, even if the library returns a view."""
    parts = key if isinstance(key, TUPLE) else (key,)
    if BASIC.issuperset(map(type_of, parts)):
        return not result.shape and Ellipsis not in parts
    if any(isinstance(part, (list, bool)) or _is_of_arrays(part) for part in parts):
        return True
    return not result.shape and not any(part is Ellipsis for part in parts)


# Reading and writing ------------------------------------------------------------------------------


def as_view(result: Any, source: Any, op: Op, statics: tuple[Any, ...]) -> Any:
    """Record that a wrapper is a view of its source."""
    how = result._view = NEW(View)  # a third of the time that a call of the class takes
    how.source, how.op, how.statics = source, op, statics
    return result


def _is_of_arrays(part: Any) -> bool:
    """Tell if a part of a key is an array of integers or a mask, 0-d masks included."""
    return bool(getattr(part, "ndim", 0)) or str(getattr(part, "dtype", "")) == "bool"
