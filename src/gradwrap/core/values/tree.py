"""Pytrees, handled by optree, except for lone arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import optree

from gradwrap.core.values.dynamic import type_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

NAMESPACE = "gradwrap"
"""The name under which optree keeps the classes that are registered here."""


class TreeDef:
    """The structure of a pytree; `spec` is None for a lone leaf."""

    __slots__ = ("is_lone", "spec")

    def __init__(self, spec: Any) -> None:
        self.spec: Any = spec
        self.is_lone: bool = spec is None

    @property
    def size(self) -> int:
        """The number of its leaves."""
        return 1 if self.spec is None else int(self.spec.num_leaves)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TreeDef) and bool(self.spec == other.spec)

    def __hash__(self) -> int:
        return hash(self.spec)

    def __repr__(self) -> str:
        if self.spec is None:
            return "a lone array"
        text = str(self.spec).removeprefix("PyTreeSpec(").removesuffix(")")
        return text.removesuffix(NAMESPACE_NOTE).removesuffix(LEAF_NOTE)


LEAF = TreeDef(None)
LEAF_NOTE = ", NoneIsLeaf"
NAMESPACE_NOTE = f", namespace='{NAMESPACE}'"
_CONTAINERS = (tuple, list, dict)
registered: set[type] = set()
known_arrays: set[type] = set()
"""Classes of arrays that have been met, which is all that most arguments are."""


def is_lone(tree: Any) -> bool:
    """Tell if a tree is an array, a number or a text, and not a container."""
    kind = type_of(tree)
    if kind in known_arrays:
        return True
    if isinstance(tree, _CONTAINERS):
        return False
    if hasattr(kind, "dtype") and kind not in registered:
        known_arrays.add(kind)
        return True
    is_one = hasattr(tree, "dtype") or isinstance(tree, (int, float, complex, str))
    return is_one and kind not in registered


def flatten(tree: Any, *, none_is_leaf: bool = True) -> tuple[list[Any], TreeDef]:
    """Return the leaves of a tree, and its structure. None is a leaf, and is not differentiated."""
    if is_lone(tree):
        return [tree], LEAF
    leaves, spec = optree.tree_flatten(tree, none_is_leaf=none_is_leaf, namespace=NAMESPACE)
    return leaves, LEAF if spec.is_leaf() else TreeDef(spec)


def flatten_with_paths(tree: Any, name: str) -> tuple[list[tuple[str, Any]], TreeDef]:
    """Return the leaves with the expressions that reach them: `params['w'][0]`."""
    if is_lone(tree):
        return [(name, tree)], LEAF
    accessors, leaves, spec = optree.tree_flatten_with_accessor(
        tree, none_is_leaf=True, namespace=NAMESPACE
    )
    paths = [accessor.codify(name) for accessor in accessors]
    return list(zip(paths, leaves, strict=True)), LEAF if spec.is_leaf() else TreeDef(spec)


def path_of(tree: Any, name: str, index: int) -> str:
    """Return the expression that reaches a leaf."""
    return flatten_with_paths(tree, name)[0][index][0]


def unflatten(treedef: TreeDef, leaves: Sequence[Any]) -> Any:
    """Put leaves back into a structure."""
    if treedef.spec is None:
        return leaves[0]
    return optree.tree_unflatten(treedef.spec, leaves)


def map_leaves(function: Callable[[Any], Any], tree: Any) -> Any:
    """Apply a function to every leaf."""
    if is_lone(tree):
        return function(tree)
    leaves, treedef = flatten(tree)
    return unflatten(treedef, [function(leaf) for leaf in leaves])
