"""Backward passes through adapted code, whose author cannot be asked to keep NaN out of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.graph.backward import walk
from gradwrap.core.graph.paths import release
from gradwrap.core.graph.untaken import Dropping, Everywhere
from gradwrap.core.levels.modes import is_traced, note_nan
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
    confirms: Callable[[Nans], bool] | None = None,
) -> dict[Node | Leaf, Any]:
    """Pull the roots' cotangents back; if NaN arrives, once more, and remember every selection.

    If NaN arrives again, it is replaced by what a pass without infinite derivatives gives, where
    `confirms` says that this is right. The graph is kept until then. The warnings are those of the
    first time.
    """
    note_nan()
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
            if create_graph or targets is not None or is_traced():
                confirms = None
            keep = retain_graph or confirms is not None
            arrived = walk(roots, keep, create_graph, targets, False, None, Everywhere())
            if confirms is not None and _has_nan(arrived):
                arrived = _filled(
                    arrived, walk(roots, True, False, None, False, None, Dropping()), confirms
                )
            if keep and not retain_graph:
                release(node for node, _ in roots)
            warnings[:] = first if _has_nan(arrived) else ()
        return arrived
    finally:
        listening.end(begun)
        held.reset(token)
        for issue in warnings:
            issue()


Nans = dict["Node | Leaf", tuple[Any, Any]]
"""Cotangents that held NaN: the numbers in its place, and where it was."""


def _filled(
    arrived: dict[Node | Leaf, Any],
    others: dict[Node | Leaf, Any],
    confirms: Callable[[Nans], bool],
) -> dict[Node | Leaf, Any]:
    """Return cotangents with those of another pass in place of NaN, if that is confirmed."""
    filled, nans = {**arrived}, dict[Any, tuple[Any, Any]]()
    for leaf, g in arrived.items():
        if type(g) in PARTS or not _has_nan({leaf: g}):
            continue
        xp, other = backend_of(g).xp, others.get(leaf)
        if other is None or type(other) in PARTS or backend_of(g).dtype_kind(g.dtype)[1]:
            return arrived
        where = xp.isnan(g)
        filled[leaf] = xp.where(where, other, g)
        if backend_of(g).is_seen_nan(innermost(filled[leaf])):
            return arrived
        nans[leaf] = filled[leaf], where
    return filled if confirms(nans) else arrived


def _has_nan(arrived: dict[Node | Leaf, Any]) -> bool:
    """Tell if a look at cotangents, which waits for nothing, has shown NaN."""
    arrays = (innermost(one) for one in arrived.values() if type(one) not in PARTS)
    return any(backend_of(one).is_seen_nan(one) for one in arrays)


performs(thorough_pass, "pass", "backward pass")
