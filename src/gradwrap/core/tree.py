"""Pytrees, through optree; a lone array never gets there."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, TypeVar, overload

import optree

from gradwrap.core.kinds import type_of
from gradwrap.errors import PytreeError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

__all__ = [
    "TreeDef",
    "broadcast_prefix",
    "flatten",
    "flatten_with_paths",
    "map_leaves",
    "path_of",
    "register_pytree",
    "unflatten",
    "zeros_filled",
]

C = TypeVar("C", bound=type[Any])
_optree: Any = optree  # whose types ask more of a class than it does
NAMESPACE = "gradwrap"
"""Where optree keeps the classes that are registered here, apart from those of other libraries."""


class TreeDef:
    """The structure of a pytree; None for a lone leaf."""

    __slots__ = ("spec",)

    def __init__(self, spec: Any) -> None:
        self.spec: Any = spec

    @property
    def is_lone(self) -> bool:
        """Whether it is no structure at all."""
        return self.spec is None

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
_registered: set[type] = set()
_arrays: set[type] = set()
"""Classes of arrays that have been met, which is all that most arguments are."""


def _is_lone(tree: Any) -> bool:
    kind = type_of(tree)
    if kind in _arrays:
        return True
    if isinstance(tree, _CONTAINERS):
        return False
    if hasattr(kind, "dtype") and kind not in _registered:
        _arrays.add(kind)
        return True
    return (hasattr(tree, "dtype") and kind not in _registered) or isinstance(
        tree, (int, float, complex, str)
    )


def flatten(tree: Any) -> tuple[list[Any], TreeDef]:
    """The leaves of a tree, and its structure. None is a leaf, which passes through."""
    if _is_lone(tree):
        return [tree], LEAF
    leaves, spec = optree.tree_flatten(tree, none_is_leaf=True, namespace=NAMESPACE)
    return leaves, LEAF if spec.is_leaf() else TreeDef(spec)


def flatten_with_paths(tree: Any, name: str) -> tuple[list[tuple[str, Any]], TreeDef]:
    """The leaves with the expressions that reach them: `params['w'][0]`."""
    if _is_lone(tree):
        return [(name, tree)], LEAF
    accessors, leaves, spec = optree.tree_flatten_with_accessor(
        tree, none_is_leaf=True, namespace=NAMESPACE
    )
    paths = [accessor.codify(name) for accessor in accessors]
    return list(zip(paths, leaves, strict=True)), LEAF if spec.is_leaf() else TreeDef(spec)


def path_of(tree: Any, name: str, index: int) -> str:
    """The expression that reaches a leaf."""
    return flatten_with_paths(tree, name)[0][index][0]


def unflatten(treedef: TreeDef, leaves: Sequence[Any]) -> Any:
    """Put leaves back into a structure."""
    if treedef.spec is None:
        return leaves[0]
    return optree.tree_unflatten(treedef.spec, leaves)


def broadcast_prefix(prefix: Any, tree: Any) -> list[Any]:
    """For each leaf of a tree, the leaf of a tree prefix that stands over it.

    Raises
    ------
    ValueError
        The prefix has another structure than the tree.
    """
    return optree.broadcast_prefix(prefix, tree, none_is_leaf=True)


def zeros_filled(tree: Any, treedef: TreeDef, size: int) -> list[Any] | None:
    """The leaves of a tree in which None may stand for a whole part; None if it does not fit."""
    leaves, given = flatten(tree)
    if given == treedef:
        return leaves
    filled: list[Any] = []

    def fill(leaf: Any, part: Any) -> None:
        places = flatten(part)[0]
        if leaf is not None and not isinstance(part, int):
            raise ValueError
        filled.extend([leaf] * len(places))

    try:
        optree.tree_map_(
            fill, tree, unflatten(treedef, range(size)), none_is_leaf=True, namespace=NAMESPACE
        )
    except ValueError:
        return None
    return filled


def map_leaves(function: Callable[[Any], Any], tree: Any) -> Any:
    """Apply a function to every leaf."""
    if _is_lone(tree):
        return function(tree)
    leaves, treedef = flatten(tree)
    return unflatten(treedef, [function(leaf) for leaf in leaves])


@overload
def register_pytree(cls: C) -> C: ...
@overload
def register_pytree(
    cls: C,
    flatten: Callable[[Any], tuple[Iterable[Any], Hashable]],
    unflatten: Callable[[Any, tuple[Any, ...]], Any],
) -> C: ...
def register_pytree(cls: Any, flatten: Any = None, unflatten: Any = None) -> Any:
    """Let arguments and results be objects of a class: a dataclass, or any other.

    Parameters
    ----------
    cls
        The class. A dataclass needs nothing more, and this may be its decorator: its fields are
        the parts of the tree, but those of `field(metadata={"static": True})` are kept as they
        are. It is put together again without a call of its `__init__`.
    flatten
        For any other class: from an object to a pair, its parts and what else is needed to make
        one like it, which is to be hashable.
    unflatten
        From the second of these and other parts to an object.

    Raises
    ------
    PytreeError
        The class is registered already, or is no dataclass and has no functions.

    Examples
    --------
    >>> import dataclasses, gradwrap as gw
    >>> @gw.register_pytree
    ... @dataclasses.dataclass
    ... class Line:
    ...     slope: float
    ...     offset: float
    ...     name: str = dataclasses.field(default="line", metadata={"static": True})
    >>> gw.grad(lambda line: line.slope * 3.0 + line.offset)(Line(2.0, 1.0))
    Line(slope=np.float64(3.0), offset=np.float64(1.0), name='line')
    """
    if not isinstance(cls, type):
        raise PytreeError(f"register_pytree takes a class; it got a {type(cls).__name__}.")
    name = cls.__name__
    if (flatten is None) != (unflatten is None):
        raise PytreeError(f"{name}: give both of flatten and unflatten, or neither.")
    entries: Any = optree.AutoEntry
    if flatten is None or unflatten is None:
        if not dataclasses.is_dataclass(cls):
            raise PytreeError(
                f"{name} is no dataclass. Fix: register_pytree({name}, flatten, unflatten)."
            )
        flatten, unflatten = _functions_of_dataclass(cls)
        entries = optree.GetAttrEntry
    try:
        _optree.register_pytree_node(
            cls, flatten, unflatten, path_entry_type=entries, namespace=NAMESPACE
        )
    except ValueError as error:
        raise PytreeError(f"{name} is registered already.") from error
    _registered.add(cls)
    _arrays.discard(cls)
    return cls


def _functions_of_dataclass(cls: type[Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    fields = dataclasses.fields(cls)
    parts = tuple(one.name for one in fields if not one.metadata.get("static"))
    kept = tuple(one.name for one in fields if one.metadata.get("static"))

    def flatten(value: Any) -> Any:
        static = tuple(getattr(value, name) for name in kept)
        return tuple(getattr(value, name) for name in parts), static, parts

    def unflatten(static: tuple[Any, ...], values: tuple[Any, ...]) -> Any:
        made = object.__new__(cls)
        for name, value in zip((*parts, *kept), (*values, *static), strict=True):
            object.__setattr__(made, name, value)
        return made

    return flatten, unflatten
