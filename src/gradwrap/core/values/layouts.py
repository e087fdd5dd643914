"""Structures whose leaves have got or lost axes, as those of Jacobians and of `vmap` have.

A structure that names the axes of its arrays, such as xarray's, asks here which axes its new leaves
have. Other structures take the leaves as they are.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from gradwrap.core.values.tree import flatten, unflatten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradwrap.core.values.tree import TreeDef

Change: TypeAlias = Literal["rows", "columns", "example", "batch"]
"""What the axes of a leaf are: those of an output and then the structure's own, or the other way
round; those of one example, without the mapped axis; or those of a batch, with it."""


class Layout(NamedTuple):
    """How the axes of leaves differ from the axes of the structure that they are put into."""

    change: Change
    axes: dict[int, int]
    """The axis that is gone or was added, by the identity of the leaf."""
    mapped: dict[Any, Any]
    """The names of the axes that one call of `vmap` maps over, with what else is known of each."""


def put(
    treedef: TreeDef,
    leaves: Sequence[Any],
    change: Change,
    axes: Sequence[Any] = (),
    mapped: dict[Any, Any] | None = None,
) -> Any:
    """Put leaves into a structure whose original leaves had other axes."""
    if treedef.is_lone:
        return leaves[0]
    own = {id(leaf): axis for leaf, axis in zip(leaves, axes, strict=False) if axis is not None}
    token = _current.set(Layout(change, own, {} if mapped is None else mapped))
    try:
        return unflatten(treedef, leaves)
    finally:
        _current.reset(token)


exactly: ContextVar[bool] = ContextVar("gradwrap_exactly", default=False)
"""True while structures are made that also compare their annotations."""


def flatten_exactly(tree: Any) -> tuple[list[Any], TreeDef]:
    """Return a tree's leaves and structure, including the structure's annotations."""
    token = exactly.set(True)
    try:
        return flatten(tree)
    finally:
        exactly.reset(token)


_current: ContextVar[Layout | None] = ContextVar("gradwrap_layout", default=None)


def current_layout() -> Layout | None:
    """Return how the axes of the leaves that are being put differ, or None."""
    return _current.get()
