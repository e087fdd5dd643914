"""The labels of results of operations with plain tables, for a check before a derivative is taken.

A wrapper has no labels. So they are kept beside the nodes, and arrays that come from tables with
other labels are not combined by position without a word (`gradwrap.core.graph.alignment`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.graph.alignment import labels_in_forward_mode, labels_of_results
from gradwrap.core.graph.node import Node
from gradwrap.core.levels.wrapper import AnyWrapper, layers
from gradwrap.core.library.labelled import labels_of
from gradwrap.core.observing.callers import current_place
from gradwrap.core.values.space import Tangent

if TYPE_CHECKING:
    from collections.abc import Sequence


def tables_in(arrays: Sequence[Any]) -> dict[int, Any]:
    """Return the labelled values among the arguments of an operation, by their places."""
    return {place: one for place, one in enumerate(arrays) if labels_of(one) is not None}


def note_tables(result: Any, tables: dict[int, Any], rule: Any) -> None:
    """Remember the labels of a result, which are those of the tables among the arguments."""
    for place, table in tables.items():
        if rule.kind.is_elementwise:
            note_labels(result, axes_of(table))
        elif rule.symbol == "@":
            note_product(result, table, swapped=place == 1)


def axes_of(table: Any) -> Sequence[Any]:
    """Return the labels of each axis of a labelled value."""
    found = labels_of(table)
    return () if found is None else found.axes(table)


def note_product(result: Any, table: Any, *, swapped: bool) -> None:
    """Remember the labels of a matrix product with a table, the second factor if `swapped`."""
    axes = axes_of(table)
    if len(axes) == 2 and isinstance(result, AnyWrapper) and result.ndim:
        rest = [None] * (result.ndim - 1)
        note_labels(result, [*rest, axes[1]] if swapped else [axes[0], *rest])


def note_labels(result: Any, axes: Sequence[Any]) -> None:
    """Remember the labels of the axes of a result, or None for an axis, for a later check.

    They are kept beside its nodes, or where it has none, for the transforms of its tangents.
    """
    place = current_place()
    noted = tuple(None if axis is None else (axis, place) for axis in axes)
    found = [layer._node for layer in layers(result) if len(axes) == layer.ndim]
    nodes = [node for node in found if type(node) is Node]
    for node in nodes:
        labels_of_results[node] = noted
    if not nodes:
        for node in found:
            if isinstance(node, Tangent):
                labels_in_forward_mode.setdefault(node.meta.level, []).append(noted)
