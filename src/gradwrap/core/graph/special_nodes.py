"""The nodes that a backward pass visits off its fast path.

They are more than formulas on plain real arrays: several outputs, complex numbers, hooks, a user's
formula, saved values that were packed away, or a pass that is itself recorded or looked at. If the
pass is recorded, the saved values get their nodes in the graph again. Where the function is
holomorphic, their results are conjugated.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from gradwrap.core.graph.arrivals import Pending, arrive
from gradwrap.core.graph.checking import check_result
from gradwrap.core.graph.node import JOINT, Leaf, Node
from gradwrap.core.graph.outputs import output_node
from gradwrap.core.graph.untaken import (
    Everywhere,
    all_taken_behind,
    arrive_with,
    mask_of,
    taken_behind,
    with_zeros,
)
from gradwrap.core.levels.wrapper import make_wrapper
from gradwrap.core.library.buffers import Guarded
from gradwrap.core.library.scatter import PARTS, Scattered
from gradwrap.core.observing.arithmetic import computes_derivative
from gradwrap.core.observing.hooks import after_node, before_node, held_back, on_variable
from gradwrap.core.observing.performing import performs
from gradwrap.core.observing.watching import array_of
from gradwrap.core.values.dynamic import SEQUENCE, TUPLE, type_of
from gradwrap.core.values.space import Meta, fit_cotangent, zeros_of
from gradwrap.errors import RuleResultError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradwrap.core.graph.untaken import Masks, Taken
    from gradwrap.core.observing.inspection import Inspection
    from gradwrap.core.observing.places import Placement


@computes_derivative(node="node")
def visit(  # noqa: C901, PLR0912, PLR0913, PLR0915  the rare cases and the state of the pass
    pending: dict[int, Pending],
    heap: list[int],
    node: Node,
    g: Any,
    owned: bool,
    *,
    began: int,
    create_graph: bool,
    on_path: set[Node | Leaf] | None,
    targets: set[Node | Leaf] | None,
    arrived: dict[Node | Leaf, Any],
    inspection: Inspection | None,
    placement: Placement | None,
    masks: Masks,
) -> None:
    """Visit a node that needs more than one formula per argument on plain real arrays."""
    op = node.op
    edges: Any = node.edges
    if placement is not None:
        placement.visit(node)
    taken = mask_of(masks, node, g) if masks else None
    if type_of(g) is list:
        g = _materialised(node, g)
    given, hooks = g, op.hooks
    if hooks is not None:
        if node not in arrived:  # where the gradient is asked for, they have run
            g = on_variable(node, hooks, g, owned=owned)
        g, owned = before_node(node, hooks, g), False
        taken = taken if g is given else None  # a hook has changed it
    seen, later = g, None
    present = next(part for part in g if part is not None) if type_of(g) is tuple else g
    xp = op.namespaces[type(present)]
    if op.watch is not None:
        edges = op.watch.restored(op.name, edges, began, on_path, targets)
    if create_graph:
        edges = rewrapped(node, edges)
    if taken is not None and op.by_element and op.rule.kind.is_elementwise and not op.leaves:
        edges = with_zeros(node, taken, edges)
    if inspection is not None and not op.selects:
        edges = inspection.inspected_edges(node, edges)
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
    selected = (taken is not None or op.leaves) and later is None
    everywhere = masks if isinstance(masks, Everywhere) and later is None else None
    for edge in edges:
        parent, formula, saved, index = edge
        if everywhere is not None:
            behind, *more = all_taken_behind(node, edge, taken, xp)
        else:
            behind, more = taken_behind(node, edge, taken, xp) if selected else None, []
        if index == JOINT:
            made = formula(xp, g, *saved)
            if everywhere is not None:
                made = everywhere.cotangent(node, xp, g, made)
            arrive_jointly(pending, heap, node, parent, made, masks, [behind, *more])
        elif on_path is None or parent in on_path or parent in (targets or ()):
            cotangent = formula(xp, g, *saved)
            if everywhere is not None:
                cotangent = everywhere.cotangent(node, xp, g, cotangent)
            if placement is not None:
                placement.arrive(parent)
            if parent.meta is not node.meta or op.check:
                cotangent = _fitted(xp, cotangent, parent.meta, node, index)
            if behind is None:
                arrive(pending, heap, parent, cotangent, op)
            else:
                arrive_with(masks, behind, pending, heap, parent, cotangent, op)
    if later is not None:
        held, (pending, heap, arguments, hooks) = pending, later
        for parent, cotangent in after_node(arguments, hooks, held, seen):
            arrive(pending, heap, parent, cotangent, op)


def _name_of(_: Any, heap: Any, node: Node, *more: Any, **state: Any) -> str:  # noqa: ARG001  the arguments of `visit`
    return node.op.name


performs(visit, "visit", _name_of)


def unguarded(name: str, node: Node, began: int) -> tuple[Any, tuple[Any, ...] | None]:
    """Return the saved values of a node's first edge and its other edges, guards checked."""
    saved, more = node.saved, node.more
    if more is not None:
        more = tuple([_checked(name, one, began) for one in more])
    return _checked(name, saved, began), more


def _checked(name: str, saved: Any, began: int) -> Any:
    if type(saved) is Guarded:
        return saved.checked(name, began)
    return array_of(name, saved, began) if type_of(saved) is tuple else saved


def _fitted(xp: Any, cotangent: Any, meta: Meta, node: Node, index: int) -> Any:
    """Fit a cotangent to its argument's space; check the result of a user's rule."""
    if type(cotangent) in PARTS:
        return cotangent
    if node.op.check:
        check_result(cotangent, meta, node, index)
    return fit_cotangent(xp, cotangent, meta)


def _materialised(node: Node, parts: list[Any]) -> tuple[Any, ...]:
    """Replace the missing cotangents of outputs by zeros."""
    if not node.op.materializes:
        return tuple(parts)
    present = next(part for part in parts if part is not None)
    xp = node.op.namespaces[type(present)]
    metas: Any = node.meta
    return tuple(
        zeros_of(xp, meta) if part is None else part
        for part, meta in zip(parts, metas, strict=True)
    )


def arrive_jointly(  # noqa: PLR0913  the state of the pass
    pending: dict[int, Pending],
    heap: list[int],
    node: Node,
    parents: tuple[Node | Leaf | None, ...],
    cotangents: Any,
    masks: Masks | None = None,
    taken: Sequence[Taken | None] = (),
) -> None:
    """Distribute the cotangents that one formula returned for all arguments.

    `taken` has the masks of the first ones.
    """
    op = node.op
    if not isinstance(cotangents, SEQUENCE) or len(cotangents) != len(parents):
        got = len(cotangents) if isinstance(cotangents, SEQUENCE) else 1
        raise RuleResultError(
            f"The rule of {op.name} returned {got} cotangents for {len(parents)} arguments. "
            "Fix: return a tuple with one for each, None where there is none."
        )
    owned = op.consumes  # the formula has written to the first cotangent
    for index, parent in enumerate(parents):
        cotangent = cotangents[index]
        if parent is not None and cotangent is not None:
            if type(cotangent) not in PARTS:
                space = parent.meta
                if op.check or cotangent.shape != space.shape or cotangent.dtype != space.dtype:
                    xp = op.namespaces[type(cotangent)]
                    cotangent = _fitted(xp, cotangent, space, node, index)
            mask = taken[index] if index < len(taken) else None
            if mask is not None and masks is not None:
                arrive_with(masks, mask, pending, heap, parent, cotangent, op)
            else:
                arrive(pending, heap, parent, cotangent, op, owned=owned)
        owned = False


def conjugated(edges: Any) -> Any:
    """Return the adjoint of a holomorphic function: its transpose between two conjugations."""
    return tuple(
        (parent, partial(_conjugate_after, formula), saved, index)
        for parent, formula, saved, index in edges
    )


def _conjugate_after(formula: Any, xp: Any, g: Any, *saved: Any) -> Any:
    return conjugate(xp, formula(xp, g, *saved))


def conjugate(xp: Any, cotangent: Any) -> Any:
    """Conjugate a cotangent, a tuple of cotangents, or part of one."""
    if cotangent is None:
        return None
    if isinstance(cotangent, SEQUENCE):
        return tuple(conjugate(xp, part) for part in cotangent)
    if type(cotangent) is Scattered:
        return Scattered(cotangent.key, xp.conj(cotangent.values))
    return xp.conj(cotangent)


def rewrapped(node: Node, edges: list[Any]) -> list[Any]:
    """Wrap the saved values with their nodes again, so that the formulas are recorded."""
    rule = node.op.rule
    if rule is None:
        return edges
    parents: dict[str, Any] = {}
    for parent, _, _, index in node.edges:  # also edges that lead to no target
        if index != JOINT:
            parents[rule.arrays[index]] = parent
        elif rule.variadic:
            parents[rule.arrays[0]] = parent
        else:
            parents.update(zip(rule.arrays, parent, strict=True))
    rewrapped: list[Any] = []
    for parent, formula, saved, index in edges:
        given: Any = rule.formulas[0 if rule.is_joint else index]
        again = tuple(
            _rewrap_output(node, value)
            if name == "out"
            else _rewrap(node, value, parents.get(name))
            for name, value in zip(given.saved, saved, strict=True)
        )
        rewrapped.append((parent, formula, again, index))
    return rewrapped


def _rewrap(node: Node, value: Any, owner: Any) -> Any:
    """Wrap a saved argument with its node; return it unchanged if it was not tracked."""
    if owner is None:
        return value
    kind = node.op.variable_class
    if not isinstance(owner, TUPLE):
        return make_wrapper(kind, value, owner)
    return tuple(
        item if one is None else make_wrapper(kind, item, one)
        for item, one in zip(value, owner, strict=True)
    )


def _rewrap_output(node: Node, value: Any) -> Any:
    """Wrap a saved output with its node, or several outputs with nodes that select them."""
    op = node.op
    if not isinstance(value, SEQUENCE):
        return make_wrapper(op.variable_class, value, node)
    metas: Any = node.meta
    return tuple(
        make_wrapper(op.variable_class, part, output_node(node, index, meta))
        if op.backend.dtype_kind(meta.dtype)[0]
        else part
        for index, (part, meta) in enumerate(zip(value, metas, strict=True))
    )
