"""The views that an array remembers until a write to it makes them outdated."""

from __future__ import annotations

import weakref
from typing import Any

from gradwrap.core.values.dynamic import type_of

PRUNE_FROM = 32
REFERENCE: Any = weakref.ref


class Views(list[Any]):
    """The views of an array, as weak references: a list of current ones, and the outdated ones.

    `kind` is the class of the array and of its views.
    """

    __slots__ = ("kind", "outdated")

    kind: Any
    outdated: dict[int, Any] | None


def remember(source: Any, view: Any) -> Any:
    """Keep a view that shares its source's values, until the source is written to."""
    views: Any = source._views
    if views is None:
        views = source._views = Views()
        views.kind, views.outdated = type_of(source), None
    elif views.outdated:
        views.outdated.pop(id(view), None)
    if len(views) >= PRUNE_FROM and not len(views) & (len(views) - 1):
        views[:] = [reference for reference in views if reference() is not None]
    views.append(REFERENCE(view))
    return view


def current_views(variable: Any) -> list[Any]:
    """Return the living views of a variable that are not outdated."""
    views = variable._views
    found = [] if views is None else [reference() for reference in views]
    return [view for view in found if view is not None]
