"""Views: a wrapper that is a view of another one remembers how it was taken.

Writing through it writes to the base; writing to the base takes its living views again
(`gradwrap.core.array.inplace`).
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from gradwrap.core.values.dynamic import TUPLE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradwrap.core.calls.bound import BoundOp

PERMUTATION = "permutation"
INDEX = "index"
PRUNE_FROM = 32


def link(cls: Any, result: Any, source: Any, bound: BoundOp, statics: tuple[Any, ...]) -> Any:
    """Remember that `result` is a view of `source`, if it is one."""
    if (
        type(result) is cls
        and type(source) is cls
        and cls._backend.may_be_view(result._value, source._value)
        and not (bound.rule.views == INDEX and _selects_copy(statics[0], result))
    ):
        result._view = (source, bound.op, statics)
        views: Any = getattr(source, "_views", None)
        if views is None:
            views = source._views = []
        elif len(views) >= PRUNE_FROM and not len(views) & (len(views) - 1):
            views[:] = [view for view in views if view() is not None]
        views.append(weakref.ref(result))
    return result


def _selects_copy(key: Any, result: Any) -> bool:
    """Tell if indexing with this key copies, as in NumPy; a library may not show it."""
    parts = key if isinstance(key, TUPLE) else (key,)
    if any(isinstance(part, (list, bool)) or getattr(part, "ndim", 0) for part in parts):
        return True
    return not result.shape and not any(part is Ellipsis for part in parts)


def living_views(variable: Any) -> Iterator[Any]:
    """Yield the views of a variable that still exist."""
    for reference in getattr(variable, "_views", None) or ():
        view = reference()
        if view is not None:
            yield view
