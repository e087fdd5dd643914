"""Containers of arrays: the leaves of nested lists, tuples, dictionaries and registered classes.

None is a part of the structure, as in JAX: it has no leaf. So the gradient with respect to a
container in which some parts are no floating-point numbers, which has None in their place, has the
leaves that a step needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from gradwrap.core.values import tree as _tree
from gradwrap.core.values.prefixes import map_structure as _map_structure
from gradwrap.core.values.tree import TreeDef as TreeDef  # noqa: PLC0414, TC001  it is public
from gradwrap.errors import PytreeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradwrap.core.values.dynamic import AnyFunction

T = TypeVar("T")


def flatten(tree: object) -> tuple[list[Any], TreeDef]:
    """Return the leaves of a container, and its structure.

    Examples
    --------
    >>> import gradwrap as gw
    >>> leaves, structure = gw.tree.flatten({"w": [1.0, 2.0], "b": 3.0})
    >>> leaves  # of a dictionary, in the order of its keys
    [3.0, 1.0, 2.0]
    >>> gw.tree.unflatten(structure, [30.0, 10.0, 20.0])
    {'w': [10.0, 20.0], 'b': 30.0}
    """
    return _tree.flatten(tree, none_is_leaf=False)


def unflatten(structure: TreeDef, leaves: Sequence[Any]) -> Any:
    """Put leaves into a structure, which `flatten` has returned.

    Raises
    ------
    PytreeError
        There are more or fewer leaves than the structure has.

    Examples
    --------
    >>> import gradwrap as gw
    >>> leaves, structure = gw.tree.flatten([1.0, (2.0, 3.0)])
    >>> gw.tree.unflatten(structure, [10.0, 20.0, 30.0])
    [10.0, (20.0, 30.0)]
    """
    if len(leaves) != structure.size:
        raise PytreeError(
            f"unflatten got {len(leaves)} leaves for {structure}, which has {structure.size}. "
            "Fix: pass one for each."
        )
    return _tree.unflatten(structure, leaves)


def leaves(tree: object) -> list[Any]:
    """Return the leaves of a container.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> gradient = {"w": np.array([3.0, 4.0]), "name": None}
    >>> sum(np.sum(part**2) for part in gw.tree.leaves(gradient))
    np.float64(25.0)
    """
    return flatten(tree)[0]


def map(function: AnyFunction[Any], tree: T, *rest: object) -> T:
    """Apply a function to each leaf of a container, and to the leaves of others at the same place.

    Parameters
    ----------
    function
        Takes a leaf of `tree`, and the part of each of `rest` at that place.
    tree
        The container. The result has its structure.
    rest
        More containers, each with the structure of `tree`, or with more below its leaves.

    Raises
    ------
    PytreeError
        One of `rest` has another structure.

    Examples
    --------
    >>> import gradwrap as gw
    >>> params, gradient = {"w": 1.0, "b": 2.0}, {"w": 10.0, "b": 20.0}
    >>> gw.tree.map(lambda p, g: p - 0.1 * g, params, gradient)
    {'w': 0.0, 'b': 0.0}
    """
    try:
        return _map_structure(function, tree, *rest)  # type: ignore[no-any-return]  # of the type of the tree
    except ValueError as error:
        structures = [flatten(one)[1] for one in (tree, *rest)]
        if all(one == structures[0] for one in structures):
            raise  # the function's own
        listed = "; ".join(str(one) for one in structures)
        raise PytreeError(
            f"tree.map got containers of different structures: {listed}. "
            "Fix: pass containers of one structure."
        ) from error
