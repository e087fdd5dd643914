"""The backward pass: walk the recorded graph once, newest node first.

Formulas run on native arrays with the native namespace, or, when the gradient is itself to be
differentiated (`create_graph`), on variables with the wrapped one. Nothing here depends on the
values of an array, so nothing here waits for a device.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

from gradwrap.core.graph.arrivals import Pending, arrive, arrive_at
from gradwrap.core.graph.node import EDGE, JOINT, Leaf, Node
from gradwrap.core.graph.paths import freed_error, leading_to
from gradwrap.core.graph.special_nodes import arrive_jointly, unguarded, visit
from gradwrap.core.graph.untaken import arrive_with, is_of_use, taken_behind
from gradwrap.core.levels.levels import inspecting, next_sequence_number
from gradwrap.core.library.scatter import PARTS, at_key
from gradwrap.core.observing.arithmetic import PLACE, computes_derivative
from gradwrap.core.observing.hooks import on_variable
from gradwrap.core.observing.inspection import Inspection
from gradwrap.core.observing.performing import performs
from gradwrap.core.observing.places import placement_of, placers
from gradwrap.core.values.dynamic import type_of
from gradwrap.core.values.space import fit_cotangent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradwrap.core.graph.untaken import Everywhere, Masks
    from gradwrap.core.observing.places import Placement


Root = tuple["Node | Leaf", Any]


def backward_pass(
    roots: Sequence[Root],
    *,
    retain_graph: bool = False,
    create_graph: bool = False,
    targets: set[Node | Leaf] | None = None,
    cut: bool = False,
) -> dict[Node | Leaf, Any]:
    """Pull the roots' cotangents back; return the cotangent at each leaf, or at each target.

    Parameters
    ----------
    roots
        Nodes with their cotangents, each of its node's shape and dtype.
    retain_graph
        Keep what the formulas saved, so that the graph can be walked again.
    create_graph
        Record the pass itself. The cotangents of the roots are then variables.
    targets
        Stop at these nodes and at leaves, and visit only what leads to them.
    cut
        Do not look behind a target for further ones.

    Raises
    ------
    GraphFreedError
        An earlier pass has released the graph.
    """
    placement = placement_of(roots) if placers else None
    listening = PLACE.listening
    begun = listening.begin()
    try:
        if placement is None:
            return walk(roots, retain_graph, create_graph, targets, cut, None)
        with placement:
            return walk(roots, retain_graph, create_graph, targets, cut, placement)
    finally:
        listening.end(begun)


@computes_derivative(node="node")
def walk(  # noqa: C901, PLR0912, PLR0913, PLR0915  the hot loop: a call for each part would show
    roots: Sequence[Root],
    retain_graph: bool,
    create_graph: bool,
    targets: set[Node | Leaf] | None,
    cut: bool,
    placement: Placement | None,
    everywhere: Everywhere | None = None,
) -> dict[Node | Leaf, Any]:
    """Visit the nodes, as `backward_pass` describes."""
    asked = inspecting.get()
    inspection = None if asked is None else Inspection(asked, roots)
    specially = create_graph or (inspection, placement, everywhere) != (None, None, None)
    began = next_sequence_number()
    pending: dict[int, Pending] = {}
    heap: list[int] = []
    masks: Masks = {} if everywhere is None else everywhere
    arrived: dict[Node | Leaf, Any] = {}
    on_path = None if targets is None else leading_to(targets, [node for node, _ in roots], cut)
    for root, cotangent in roots:
        if root.seq in pending or type(cotangent) in PARTS:
            arrive(pending, heap, root, cotangent)
        else:
            pending[root.seq] = [root, cotangent, False]
            heappush(heap, root.seq)
    # The next node to visit is held in hand while it is newer than all in the heap: a chain of
    # operations never touches heap and dictionary.
    node: Any = None
    g: Any = None
    next_g: Any = None
    owned = False
    while node is not None or heap:
        if node is None:
            node, g, owned = pending.pop(heappop(heap))
            next_g = cotangent = arrival = total = None  # their arrays are not needed any more
        if type(node) is Leaf:
            arrived[node] = g
            node = None
            continue
        if targets is not None:
            if node in targets:
                if node.op.hooks is not None and not cut:  # the pass around this one runs them
                    g = on_variable(node, node.op.hooks, g, owned=owned)
                arrived[node], owned = g, False
            if node not in on_path:  # type: ignore[operator]  # a set wherever targets is one
                node = None
                continue
        formula = node.formula
        if formula is None:
            raise freed_error(node)
        op = node.op
        meta = node.meta
        rarely = meta.is_complex or specially or (masks and node.seq in masks)
        if rarely or op.special:
            if rarely or (is_of_use(node) if op.plain else not op.guards or targets is not None):
                visit(
                    pending,
                    heap,
                    node,
                    g,
                    owned,
                    began=began,
                    create_graph=create_graph,
                    on_path=on_path,
                    targets=targets,
                    arrived=arrived,
                    inspection=inspection,
                    placement=placement,
                    masks=masks,
                )
                if not retain_graph:
                    node.free()
                node = None
                continue
            saved, more = node.saved, node.more
            if op.guards:
                saved, more = unguarded(op.name, node, began)
        else:
            saved, more = node.saved, node.more
        xp = op.namespaces[type(g)]
        if node.index == JOINT:
            if op.consumes and not owned:
                g = xp.asarray(g, copy=True)
            arrive_jointly(pending, heap, node, node.parent, formula(xp, g, *saved))
            if not retain_graph:
                node.free()
            node = None
            continue
        parts = op.parts
        following = None
        next_seq = 0
        parent = node.parent
        while True:
            if on_path is None or parent in on_path or parent in targets:  # type: ignore[operator]  # likewise
                if formula is at_key:
                    taken = None
                    if type(parent) is not Leaf:
                        taken = taken_behind(node, (parent, formula, saved, 0), None, xp)
                    if taken is None:
                        arrive_at(pending, heap, parent, saved[0], g)
                    else:
                        cotangent = formula(xp, g, *saved)
                        arrive_with(masks, taken, pending, heap, parent, cotangent, op)
                        taken = None  # it refers to what the nodes saved
                    break
                if type_of(saved) is tuple:
                    cotangent = formula(xp, g, *saved)
                else:
                    cotangent = formula(xp, g, saved)
                if more and op.symmetric and more[0] is parent and more[2] is saved:
                    cotangent = cotangent + cotangent  # x * x
                    more = None
                if parent.meta is not meta and not parts:
                    space = parent.meta
                    if cotangent.shape != space.shape or cotangent.dtype != space.dtype:
                        cotangent = fit_cotangent(xp, cotangent, space)
                seq = parent.seq
                if parts:
                    arrive(pending, heap, parent, cotangent)
                elif following is None and (not heap or seq < heap[0]):
                    following, next_seq, next_g, owned = parent, seq, cotangent, False
                elif seq == next_seq and following is not None:
                    next_g = next_g + cotangent
                    owned = type(next_g) in op.backend.native_types
                elif following is not None and seq < next_seq:
                    pending[next_seq] = [following, next_g, owned]
                    heappush(heap, next_seq)
                    following, next_seq, next_g, owned = parent, seq, cotangent, False
                else:
                    arrival = pending.get(seq)
                    if arrival is None:
                        pending[seq] = [parent, cotangent, False]
                        heappush(heap, seq)
                    elif arrival[2] and type(arrival[1]) is type(cotangent):
                        arrival[1] += cotangent
                    else:
                        arrival[1] = total = arrival[1] + cotangent
                        arrival[2] = type(total) in op.backend.native_types
            if not more:
                break
            parent, formula, saved, _ = more[:EDGE]
            more = more[EDGE:]
        if not retain_graph:
            node.parent = node.formula = node.saved = node.more = None
        node = following
        if node is not None:
            g = next_g
    if inspection is not None:
        inspection.at_end(arrived)
    return arrived


performs(backward_pass, "pass", "backward pass")
