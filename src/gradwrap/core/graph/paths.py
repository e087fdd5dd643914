"""Paths through the recorded graph: which nodes lead from the results to given nodes."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

from gradwrap.core.graph.node import EDGE, JOINT, Leaf, Node
from gradwrap.errors import GraphFreedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def leading_to(targets: set[Node | Leaf], roots: list[Node | Leaf], cut: bool) -> set[Node | Leaf]:
    """Return the nodes that depend on a target."""
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
        raise freed_error(freed)  # a target may lie behind it
    reached: set[Node | Leaf] = set()
    for node in sorted(parents, key=_age, reverse=True):
        for parent in parents[node]:
            if parent in reached or parent in targets:
                reached.add(node)
                break
    return reached


_age = attrgetter("seq")


def _parents(node: Node | Leaf) -> Sequence[Node | Leaf]:
    """Return the nodes of the arguments; none once the graph is freed."""
    if isinstance(node, Leaf) or node.formula is None:
        return ()
    if node.index == JOINT:
        return [one for one in node.parent if one is not None]
    return (node.parent, *node.more[::EDGE]) if node.more else (node.parent,)


def freed_error(node: Node) -> GraphFreedError:
    """Return the error for a graph whose saved values are gone."""
    return GraphFreedError(
        "Trying to backward through the graph a second time: what its operations saved was "
        f"freed by the first backward (met at {node.op.name}). "
        "Fix: pass retain_graph=True to the first one."
    )


def release(roots: Iterable[Node | Leaf]) -> None:
    """Free all nodes that lead to roots, as a pass does that is the last one."""
    stack = list(roots)
    while stack:
        node = stack.pop()
        if isinstance(node, Node):
            stack += _parents(node)
            node.free()
