"""Trees compared with a second tree of the same structure, or with a prefix of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import optree

from gradwrap.core.values.tree import NAMESPACE, flatten, unflatten

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwrap.core.values.tree import TreeDef


def broadcast_prefix(prefix: Any, tree: Any) -> list[Any]:
    """Return for each leaf of a tree the leaf of the prefix above it.

    Raises
    ------
    ValueError
        The prefix has another structure than the tree.
    """
    return [leaf for leaf, part in parts_under(prefix, tree) for _ in range(len(flatten(part)[0]))]


def parts_under(
    prefix: Any, tree: Any, is_leaf: Callable[[Any], bool] | None = None
) -> list[tuple[Any, Any]]:
    """Return the leaves of a tree prefix, each with the part of the tree below it.

    Raises
    ------
    ValueError
        The prefix has another structure than the tree.
    """
    found: list[tuple[Any, Any]] = []

    def note(leaf: Any, part: Any) -> None:
        found.append((leaf, part))

    optree.tree_map_(note, prefix, tree, is_leaf=is_leaf, none_is_leaf=True, namespace=NAMESPACE)
    return found


def map_structure(function: Callable[..., Any], tree: Any, *rest: Any) -> Any:
    """Apply a function to the leaves of trees of one structure; None is not a leaf."""
    return optree.tree_map(function, tree, *rest, namespace=NAMESPACE)


def zeros_filled(tree: Any, treedef: TreeDef, size: int) -> list[Any] | None:
    """Return the leaves of a tree, None for parts that are None; None if it does not fit."""
    leaves, given = flatten(tree)
    if given == treedef:
        return leaves
    try:
        parts = parts_under(tree, unflatten(treedef, range(size)))
    except ValueError:
        return None
    if any(leaf is not None and not isinstance(part, int) for leaf, part in parts):
        return None
    return [leaf for leaf, part in parts for _ in flatten(part)[0]]
