"""Checks of what the functions of a custom rule return."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.backend import backend_of
from gradwrap.core.comparing import is_floating, mismatch
from gradwrap.core.tree import TreeDef, flatten, zeros_filled
from gradwrap.errors import RuleResultError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.core.backend import Backend
    from gradwrap.core.space import Meta

__all__ = ["Space", "checked_leaves", "spaces_of"]


class Space:
    """The library, shape and dtype of an array, which its cotangent or tangent has too."""

    __slots__ = ("backend", "meta")

    def __init__(self, array: Any) -> None:
        self.backend: Backend = backend_of(array)
        self.meta: Meta = self.backend.meta(array, 0)


def spaces_of(values: Sequence[Any]) -> list[Space | None]:
    """The spaces of values; None for one that is no array of floats."""
    return [Space(one) if is_floating(one) else None for one in values]


def checked_leaves(
    tree: Any,
    treedef: TreeDef,
    spaces: Sequence[Space | None],
    where: Callable[[int | None], str],
    whose: str,
) -> list[Any]:
    """The leaves of a tree of a structure, each in its space; None for zero, or without a space.

    `where` begins a message about a leaf, by its number, or about the structure.
    """
    leaves = zeros_filled(tree, treedef, treedef.size)
    if leaves is None:
        given = flatten(tree)[1]
        raise RuleResultError(
            f"{where(None)} the structure {given}; {whose} has {treedef}. "
            "Fix: return that structure, None where all of it is zero."
        )
    return [
        None if leaf is None or space is None else _checked(leaf, space, where, index, whose)
        for index, (leaf, space) in enumerate(zip(leaves, spaces, strict=True))
    ]


def _checked(
    value: Any, space: Space, where: Callable[[int | None], str], index: int, whose: str
) -> Any:
    """An array of the space; its precision may be another, which is brought in line later."""
    meta, backend = space.meta, space.backend
    if type(value) in (int, float, complex) and meta.shape == ():
        value = backend.xp.asarray(value, device=meta.device) * backend.xp.ones(
            (), dtype=meta.dtype, device=meta.device
        )
    found = mismatch(value, backend, meta, dtypes="castable")
    if found is None:
        return value
    problem = found.message(
        "an array",
        whose,
        backend,
        meta,
        shape=". Fix: return that shape; sum over the axes that were broadcast",
        dtype=f"xp.{meta.dtype}",
        like="or None for zero",
    )
    raise RuleResultError(f"{where(index)} {problem}")
