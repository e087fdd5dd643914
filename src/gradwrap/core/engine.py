"""The backward pass: walk the recorded graph once, newest node first.

Formulas run on native arrays with the native namespace, or, when the gradient is itself to be
differentiated (`create_graph`), on variables with the wrapped one. Nothing here depends on the
values of an array, so nothing here waits for a device.
"""

from __future__ import annotations

from heapq import heappop, heappush
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from gradwrap.core.backend import backend_of, find_backend
from gradwrap.core.dynamic import SEQUENCE, type_of
from gradwrap.core.fitting import PARTS, fit
from gradwrap.core.hooks import after_node, before_node, held_back, on_variable
from gradwrap.core.inspection import inspection_of
from gradwrap.core.node import EDGE, JOINT, Leaf, Node
from gradwrap.core.placing import placement_of, placers
from gradwrap.core.revisiting import conjugate, conjugated, rewrapped
from gradwrap.core.scatter import OutputPart, Scattered, zeros_of
from gradwrap.errors import GraphFreedError, RuleResultError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradwrap.core.backend import Backend
    from gradwrap.core.bound import BoundOp
    from gradwrap.core.inspection import Inspection
    from gradwrap.core.placing import Placement

__all__ = ["backward_pass"]

Root = tuple["Node | Leaf", Any]
# what has arrived at a node so far: the node, the sum, and whether its buffer is the engine's own
Pending = list[Any]


def backward_pass(  # noqa: C901, PLR0912, PLR0913, PLR0915  the hot loop: a call for each part would show
    roots: Sequence[Root],
    *,
    retain_graph: bool = False,
    create_graph: bool = False,
    targets: set[Node | Leaf] | None = None,
    cut: bool = False,
    placement: Placement | None = None,
) -> dict[Node | Leaf, Any]:
    """Carry the roots' cotangents back; give what arrives at each leaf, or at each target.

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
    placement
        Where the nodes are visited; found out where there are several places.

    Raises
    ------
    GraphFreedError
        An earlier pass has released the graph.
    """
    if placers and placement is None:
        placement = placement_of(roots)
        if placement is not None:
            with placement:
                return backward_pass(
                    roots,
                    retain_graph=retain_graph,
                    create_graph=create_graph,
                    targets=targets,
                    cut=cut,
                    placement=placement,
                )
    inspection = inspection_of(roots)
    specially = create_graph or inspection is not None or placement is not None
    pending: dict[int, Pending] = {}
    heap: list[int] = []
    arrived: dict[Node | Leaf, Any] = {}
    on_path = None if targets is None else _leading_to(targets, [node for node, _ in roots], cut)
    for root, cotangent in roots:
        _arrive(pending, heap, root, cotangent)
    # The next node to visit is held in hand while it is newer than all in the heap: a chain of
    # operations never touches heap and dictionary.
    node: Any = None
    g: Any = None
    next_g: Any = None
    owned = False
    while node is not None or heap:
        if node is None:
            node, g, owned = pending.pop(heappop(heap))
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
            raise _freed(node)
        op = node.op
        meta = node.meta
        if op.special or meta.is_complex or specially:
            _visit_specially(
                pending,
                heap,
                node,
                g,
                owned,
                create_graph=create_graph,
                on_path=on_path,
                targets=targets,
                arrived=arrived,
                inspection=inspection,
                placement=placement,
            )
            if not retain_graph:
                node.free()
            node = None
            continue
        xp = op.namespaces[type(g)]
        parts = op.parts
        following = None
        next_seq = 0
        parent, saved, index, more = node.parent, node.saved, node.index, node.more
        while True:
            if on_path is None or parent in on_path or parent in targets:  # type: ignore[operator]  # likewise
                if type_of(saved) is tuple:
                    cotangent = formula(xp, g, *saved)
                else:
                    cotangent = formula(xp, g, saved)
                if parent.meta is not meta and not parts:
                    cotangent = fit(xp, cotangent, parent.meta, node, index)
                seq = parent.seq
                if parts:
                    _arrive(pending, heap, parent, cotangent)
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
                        _add(arrival, cotangent, op)
            if not more:
                break
            parent, formula, saved, index = more[:EDGE]
            more = more[EDGE:]
        if not retain_graph:
            node.parent = node.formula = node.saved = node.more = None
        node = following
        if node is not None:
            g = next_g
    if inspection is not None:
        inspection.at_end(arrived)
    return arrived


def _visit_specially(  # noqa: C901, PLR0912, PLR0913  the rare cases and the state of the pass
    pending: dict[int, Pending],
    heap: list[int],
    node: Node,
    g: Any,
    owned: bool,
    *,
    create_graph: bool,
    on_path: set[Node | Leaf] | None,
    targets: set[Node | Leaf] | None,
    arrived: dict[Node | Leaf, Any],
    inspection: Inspection | None,
    placement: Placement | None,
) -> None:
    """Visit a node that is more than one formula per argument on plain real arrays."""
    op = node.op
    edges: Any = node.edges
    if placement is not None:
        placement.visit(node)
    if type_of(g) is list:
        g = _materialised(node, g)
    hooks = op.hooks
    if hooks is not None:
        if node not in arrived:  # where the gradient is asked for, they have run
            g = on_variable(node, hooks, g, owned=owned)
        g, owned = before_node(node, hooks, g), False
    seen, later = g, None
    present = next(part for part in g if part is not None) if type_of(g) is tuple else g
    xp = op.namespaces[type(present)]
    if op.watch is not None:
        edges = op.watch.restored(op.name, edges, on_path, targets)
    if create_graph:
        edges = rewrapped(node, edges)
    if inspection is not None and not op.selects:
        edges = inspection.around(node, edges)
    if node.meta.is_complex and op.holomorphic:
        edges = conjugated(edges)
        g, owned = conjugate(xp, g), True
    if op.consumes and not owned:  # its formula may write to the cotangent
        g = xp.asarray(g, copy=True)
    if hooks is not None and hooks.after:
        arguments, edges = held_back(
            node, edges, lambda one: on_path is None or one in on_path or one in (targets or ())
        )
        later = pending, heap, arguments, hooks
        pending, heap, on_path = {}, [], None
    for parent, formula, saved, index in edges:
        if index == JOINT:
            _arrive_jointly(pending, heap, node, parent, formula(xp, g, *saved))
        elif on_path is None or parent in on_path or parent in (targets or ()):
            cotangent = formula(xp, g, *saved)
            if placement is not None:
                placement.arrive(parent)
            if parent.meta is not node.meta or op.check:
                cotangent = fit(xp, cotangent, parent.meta, node, index)
            _arrive(pending, heap, parent, cotangent, op)
    if later is not None:
        held, (pending, heap, arguments, hooks) = pending, later
        for parent, cotangent in after_node(arguments, hooks, held, seen):
            _arrive(pending, heap, parent, cotangent, op)


def _arrive(  # noqa: PLR0913  the state of the pass
    pending: dict[int, Pending],
    heap: list[int],
    node: Node | Leaf,
    cotangent: Any,
    op: BoundOp | None = None,
    *,
    owned: bool = False,
) -> None:
    """Add a cotangent to what has arrived at a node."""
    arrival = pending.get(node.seq)
    if arrival is None:
        arrival = pending[node.seq] = [node, None, False]
        heappush(heap, node.seq)
    kind = type_of(cotangent)
    if kind is Scattered:
        _scatter(arrival, cotangent)
    elif kind is OutputPart:
        _collect(arrival, cotangent)
    elif arrival[1] is None:
        arrival[1] = cotangent
        arrival[2] = owned
    else:
        _add(arrival, cotangent, op)


def _add(arrival: Pending, cotangent: Any, op: BoundOp | None) -> None:
    """Add to what has arrived: in place, where the sum's buffer is the engine's own."""
    total = arrival[1]
    if arrival[2] and type(total) is type(cotangent):
        total += cotangent
        arrival[1] = total
        return
    arrival[1] = total = total + cotangent
    # sums of variables are new variables each time: adding in place is for native arrays
    arrival[2] = op is not None and type(total) in op.backend.native_types


def _scatter(arrival: Pending, part: Scattered) -> None:
    """Add the cotangent of an indexed part into the one buffer of the whole array."""
    node, total, owned = arrival
    backend = find_backend(type_of(part.values)) or backend_of(part.values)
    if total is None:
        total = zeros_of(backend.xp, node.meta)
    else:
        if backend.depth or type(total) not in backend.native_types:
            backend = _deeper(backend, total)
        if not owned:
            total = backend.copy(total)
    arrival[1] = backend.scatter_add(total, part.key, part.values)
    arrival[2] = not backend.depth


def _deeper(backend: Backend, total: Any) -> Backend:
    """The backend that can add a variable into a buffer that may be native."""
    other = find_backend(type_of(total)) or backend_of(total)
    return max(backend, other, key=lambda one: one.depth)


def _collect(arrival: Pending, part: OutputPart) -> None:
    """Gather the cotangents of the outputs of one node in a list.

    An output arrives twice where a formula that was recorded used it as well (`_rewrap_output`).
    """
    parts = arrival[1]
    if parts is None:
        parts = arrival[1] = [None] * len(arrival[0].meta)
    before = parts[part.index]
    parts[part.index] = part.value if before is None else before + part.value


def _materialised(node: Node, parts: list[Any]) -> tuple[Any, ...]:
    """Put zeros where no cotangent arrived at an output."""
    if not node.op.materializes:
        return tuple(parts)
    present = next(part for part in parts if part is not None)
    xp = node.op.namespaces[type(present)]
    metas: Any = node.meta
    return tuple(
        zeros_of(xp, meta) if part is None else part
        for part, meta in zip(parts, metas, strict=True)
    )


def _arrive_jointly(
    pending: dict[int, Pending],
    heap: list[int],
    node: Node,
    parents: tuple[Node | Leaf | None, ...],
    cotangents: Any,
) -> None:
    """Distribute the cotangents that one formula gave for all arguments."""
    op = node.op
    if not isinstance(cotangents, SEQUENCE) or len(cotangents) != len(parents):
        got = len(cotangents) if isinstance(cotangents, SEQUENCE) else 1
        raise RuleResultError(
            f"The rule of {op.name} returned {got} cotangents for {len(parents)} arguments. "
            "Fix: return a tuple with one for each, None where there is none."
        )
    for index, (parent, cotangent) in enumerate(zip(parents, cotangents, strict=True)):
        if parent is None or cotangent is None:
            continue
        if type(cotangent) not in PARTS:
            xp = op.namespaces[type(cotangent)]
            cotangent = fit(xp, cotangent, parent.meta, node, index)  # noqa: PLW2901  the fitted one takes its place
        _arrive(pending, heap, parent, cotangent, op, owned=op.consumes and index == 0)


def _freed(node: Node) -> GraphFreedError:
    return GraphFreedError(
        "Trying to backward through the graph a second time: what its operations saved was "
        f"freed by the first backward (met at {node.op.name}). "
        "Fix: pass retain_graph=True to the first one."
    )


def _leading_to(targets: set[Node | Leaf], roots: list[Node | Leaf], cut: bool) -> set[Node | Leaf]:
    """The nodes that have a target among the nodes they were made from."""
    oldest = max(target.seq for target in targets)
    parents: dict[Node | Leaf, Sequence[Node | Leaf]] = {}
    freed: Node | None = None
    stack = list(roots)
    while stack:
        node = stack.pop()
        if node in parents or node.seq > oldest:
            continue
        if cut and node in targets:
            parents[node] = ()
            continue
        parents[node] = found = _parents(node)
        stack += found
        if not found and isinstance(node, Node):
            freed = node
    if freed is not None and not all(target in parents for target in targets):
        raise _freed(freed)  # a target may lie behind it
    reached: set[Node | Leaf] = set()
    for node in sorted(parents, key=_age, reverse=True):
        for parent in parents[node]:
            if parent in reached or parent in targets:
                reached.add(node)
                break
    return reached


_age = attrgetter("seq")


def _parents(node: Node | Leaf) -> Sequence[Node | Leaf]:
    """The nodes of the arguments; none once the graph is freed."""
    if isinstance(node, Leaf) or node.formula is None:
        return ()
    if node.index == JOINT:
        return [one for one in node.parent if one is not None]
    return (node.parent, *node.more[::EDGE]) if node.more else (node.parent,)
