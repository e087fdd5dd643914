"""Backward passes through adapted code, whose author cannot be asked to keep NaN out of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.graph.backward import walk
from gradwrap.core.levels.wrapper import innermost
from gradwrap.core.library.backend import backend_of
from gradwrap.core.library.scatter import PARTS
from gradwrap.core.observing.arithmetic import PLACE, held
from gradwrap.core.observing.performing import performs
from gradwrap.core.observing.places import placement_of, placers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.core.graph.backward import Root
    from gradwrap.core.graph.node import Leaf, Node


def thorough_pass(
    roots: Sequence[Root],
    *,
    retain_graph: bool = False,
    create_graph: bool = False,
    targets: set[Node | Leaf] | None = None,
) -> dict[Node | Leaf, Any]:
    """Pull the roots' cotangents back; if NaN arrives, once more, and remember every selection.

    The graph is kept until then. The warnings are those of the first time.
    """
    warnings: list[Callable[[], None]] = []
    token = held.set(warnings)
    listening = PLACE.listening
    begun = listening.begin()
    placement = placement_of(roots) if placers else None
    try:
        if placement is not None:
            with placement:
                return walk(roots, retain_graph, create_graph, targets, False, placement)
        arrived = walk(roots, True, create_graph, targets, False, None)
        if _has_nan(arrived):
            first = [*warnings]
            arrived = walk(roots, retain_graph, create_graph, targets, False, None, everywhere=True)
            warnings[:] = first if _has_nan(arrived) else ()
        return arrived
    finally:
        listening.end(begun)
        held.reset(token)
        for issue in warnings:
            issue()


def _has_nan(arrived: dict[Node | Leaf, Any]) -> bool:
    """Tell if a look at cotangents, which waits for nothing, has shown NaN."""
    arrays = (innermost(one) for one in arrived.values() if type(one) not in PARTS)
    return any(backend_of(one).is_seen_nan(one) for one in arrays)


performs(thorough_pass, "pass", "backward pass")
