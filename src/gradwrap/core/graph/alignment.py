"""Labels of tables that a function has combined: they must be the same, in the same order.

A tracked array beside a plain table gives an array, which goes by position. The library of the
table would put elements with equal labels together. So each result of an operation with a table
remembers the labels; they hold for elementwise operations behind it, and end at all others.
Forward mode has no graph to look through. Where its tables do not go together, a recording does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import WeakKeyDictionary

from gradwrap.core.graph.node import EDGE, Node
from gradwrap.core.values.dynamic import TUPLE, type_of
from gradwrap.errors import TrackedValueError

if TYPE_CHECKING:
    from collections.abc import Iterable

Labels: TypeAlias = tuple[Any, ...]
"""The labels of the last axes of an array, each with a place in code, or None."""

labels_of_results: WeakKeyDictionary[Any, Labels] = WeakKeyDictionary()
"""The labels of results of operations with plain tables, and the places in code, by their nodes."""
labels_in_forward_mode: dict[int, list[Labels]] = {}
"""The same for results that have tangents and no nodes, by the levels of their transforms."""


def check_labels(roots: Iterable[Any]) -> None:
    """Refuse a graph in which elementwise operations combine arrays with other labels.

    It is what the roots depend on, which are the nodes of its results.
    """
    known: dict[Node, Labels] = {}
    for node in _from_the_first(roots):
        labels: Labels = labels_of_results.get(node, ())
        rule = node.op.rule
        if rule is not None and rule.kind.is_elementwise and type_of(node.meta) is not TUPLE:
            for parent in _parents(node):
                labels = _joined(node, labels, known.get(parent, ()))
        if labels:
            known[node] = labels


def has_other_labels(level: int) -> bool:
    """Tell if what was run in forward mode at this level had tables with other labels.

    Whether they met, a recording tells (`check_labels`).
    """
    first: dict[int, Any] = {}
    return any(
        not first.setdefault(len(axis), axis).equals(axis)
        for labels in labels_in_forward_mode.pop(level, ())
        for axis, _ in filter(None, labels)
    )


def _from_the_first(roots: Iterable[Any]) -> list[Node]:
    """Return the nodes that the roots depend on, in the order in which they were made."""
    found: set[Node] = set()
    waiting = [*roots]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Node) and node not in found:
            found.add(node)
            waiting += _parents(node)
    return sorted(found, key=lambda node: -node.seq)  # which falls with time


def _parents(node: Node) -> list[Any]:
    """Return the nodes of the tracked arguments."""
    found: list[Any] = []
    for parent in (node.parent, *(node.more or ())[::EDGE]):
        found += parent if type_of(parent) is TUPLE else (parent,)
    return found


def _joined(node: Node, some: Labels, others: Labels) -> Labels:
    """Return the labels of a result of which two arguments have labels."""
    shape = node.meta.shape
    kept: list[Any] = []
    for place in range(1, len(shape) + 1):
        each = [labels[-place] for labels in (some, others) if len(labels) >= place]
        each = [one for one in each if one is not None and len(one[0]) == shape[-place]]
        if len(each) == 2:
            (axis, here), (other, there) = each
            if axis is not other and not axis.equals(other):
                raise out_of_line(node.op.name, here, there)
        kept.append(each[0] if each else None)
    return tuple(reversed(kept)) if any(axis is not None for axis in kept) else ()


def out_of_line(op: str, *places: Any) -> TrackedValueError:
    """Make the error for an operation of arrays that come from tables with other labels."""
    named = " and ".join(dict.fromkeys(str(place) for place in places if place is not None))
    return TrackedValueError(
        f"{op} combines arrays that were made with two tables{named and f' ({named})'}. They have "
        "other labels, or the same ones in another order: the tables' library would put equal "
        "labels together, and arrays go by position. Fix: bring the tables into one order before "
        "the call (other.reindex(table.index)), or pass .to_numpy() of each to go by position."
    )
