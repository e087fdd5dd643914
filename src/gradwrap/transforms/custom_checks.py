"""Checks of what the functions of a custom rule return."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.backend import backend_of
from gradwrap.core.comparing import mismatch
from gradwrap.core.tree import TreeDef, flatten, zeros_filled
from gradwrap.errors import RuleResultError

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwrap.core.backend import Backend
    from gradwrap.core.space import Meta

__all__ = ["Space", "checked_leaf", "checked_structure"]


class Space:
    """The library, shape and dtype of an array, which its cotangent or tangent has too."""

    __slots__ = ("backend", "meta")

    def __init__(self, array: Any) -> None:
        self.backend: Backend = backend_of(array)
        self.meta: Meta = self.backend.meta(array, 0)


def checked_structure(
    tree: Any, treedef: TreeDef, where: Callable[[], str], whose: str
) -> list[Any]:
    """The leaves of a tree of a structure, None where it says that all of a part is zero."""
    leaves = zeros_filled(tree, treedef, treedef.size)
    if leaves is None:
        given = flatten(tree)[1]
        raise RuleResultError(
            f"{where()} the structure {given}; {whose} has {treedef}. "
            "Fix: return that structure, None where all of it is zero."
        )
    return leaves


def checked_leaf(value: Any, space: Space, where: Callable[[], str], whose: str) -> Any:
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
    raise RuleResultError(f"{where()} {problem}")
