"""Views of a written array: they are marked as outdated, and taken again when next read."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from gradwrap.core.array.writing.remembered import PRUNE_FROM, current_views, remember
from gradwrap.core.calls.general import apply, perform
from gradwrap.core.graph.node import Node
from gradwrap.core.levels.levels import silent_up_to, threshold_at
from gradwrap.core.levels.wrapper import layers
from gradwrap.core.observing.hooks import follow
from gradwrap.core.values.dynamic import SEQUENCE, type_of

if TYPE_CHECKING:
    from gradwrap.core.array.writing.remembered import Views
    from gradwrap.core.array.writing.views import View
    from gradwrap.core.calls.bound import BoundOp


def outdate_views(variable: Any, *, recorded: bool) -> None:
    """Mark the views of a written variable as outdated: the next read takes them again.

    A write that is not recorded leaves a tracked variable and its views where they are in the
    graph.
    """
    if variable._views is not None:
        _outdate(variable, recorded or variable._node is None)


def _outdate(variable: Any, recorded: bool) -> None:
    """Empty the views of a variable; take those again at once whose class has changed.

    A view that nobody has read since an earlier write is still empty, and keeps its class too.
    """
    registry = variable._views
    views = current_views(variable)
    if recorded:
        registry.clear()  # each comes back when it is taken again
    if registry.kind is not type_of(variable):
        registry.kind = type_of(variable)
        waiting = registry.outdated
        for view in [] if waiting is None else [one() for one in waiting.values()]:
            if view is not None:
                take_again(view)
                if view._views is not None:
                    _outdate(view, recorded)
    threshold = silent_up_to() if views else 0
    for view in views:
        how: View = view._view
        how.recorded = recorded
        how.threshold = threshold
        node = view._node
        if type(view) is not type(variable) or (recorded and _is_hooked(node)):
            take_again(view)  # a view never changes its class, or its hooks, when it is read
            follow(view, node)
        else:
            view._value = None  # empty already where it was outdated without being recorded
            del view._value
            if recorded:
                del view._node
                _wait(registry, view)
        if view._views is not None:
            _outdate(view, recorded)


def _wait(registry: Views, view: Any) -> None:
    """Remember a view that is outdated until it is read."""
    outdated = registry.outdated
    if outdated is None:
        outdated = registry.outdated = {}
    if len(outdated) >= PRUNE_FROM and not len(outdated) & (len(outdated) - 1):
        dead = [key for key, reference in outdated.items() if reference() is None]
        for key in dead:
            del outdated[key]
    outdated[id(view)] = weakref.ref(view)


def _is_hooked(node: Any) -> bool:
    return isinstance(node, Node) and node.op.hooks is not None


def take_again(view: Any) -> None:
    """Read an outdated view from its source, in the recording mode of the write."""
    how: View = view._view
    source = how.source
    bound = type_of(source)._bind(how.op)
    if how.threshold == silent_up_to() and not bound.rule.variadic:
        again = bound.forward(bound.call, source, *how.statics)
    else:
        with threshold_at(how.threshold):
            again = apply(bound, [source], how.statics)
    view._value = again._value
    if how.recorded:
        view.__class__ = type(again)
        view._node = again._node
        remember(source, view)


def positions(variable: Any, view: View) -> tuple[Any, ...]:
    """Return for each element of a view its indices in the variable."""
    *_, lowest = layers(variable)
    bound: BoundOp = type_of(lowest)._bind(view.op)
    xp = bound.backend.xp
    shape = tuple(variable.shape)
    found = perform(bound, [xp.reshape(xp.arange(variable.size), shape)], view.statics)
    found = found[0] if isinstance(found, SEQUENCE) else found
    indices: list[Any] = []
    for length in reversed(shape):
        indices.append(found % length)
        found = found // length
    return tuple(reversed(indices))
