"""What the functions of a custom rule return, compared with what it has to belong to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.backend import backend_of
from gradwrap.core.dynamic import TUPLE
from gradwrap.core.tree import TreeDef, flatten, zeros_filled
from gradwrap.errors import RuleResultError
from gradwrap.transforms.arguments import is_array

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwrap.core.backend import Backend
    from gradwrap.core.space import Meta

__all__ = ["Space", "checked_leaf", "checked_structure", "kind_of"]


class Space:
    """Where a cotangent or tangent has to lie: the library, shape and dtype of an array."""

    __slots__ = ("backend", "meta")

    def __init__(self, array: Any) -> None:
        self.backend: Backend = backend_of(array)
        self.meta: Meta = self.backend.meta(array, 0)


def checked_structure(
    tree: Any, treedef: TreeDef, size: int, where: Callable[[], str], whose: str
) -> list[Any]:
    """The leaves of a tree of a structure, None where it says that all of a part is zero."""
    leaves = zeros_filled(tree, treedef, size)
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
    if not is_array(value) or backend_of(value).name != backend.name:
        raise RuleResultError(
            f"{where()} {kind_of(value)}; {whose} is an array of {backend.name}, {meta}. "
            "Fix: return an array of that shape and dtype, or None for zero."
        )
    if tuple(value.shape) != meta.shape:
        raise RuleResultError(
            f"{where()} an array of shape {tuple(value.shape)}; {whose} has shape {meta.shape}. "
            "Fix: return that shape; sum over the axes that were broadcast."
        )
    floating, is_complex = backend.dtype_kind(value.dtype)
    if not floating or (is_complex and not meta.is_complex):
        cast = "xp.real(...)" if is_complex else f"xp.astype(..., xp.{meta.dtype})"
        raise RuleResultError(
            f"{where()} an array of dtype {value.dtype}; {whose} has {meta.dtype}. "
            f"Fix: return that, for example with {cast}."
        )
    return value


def kind_of(value: Any) -> str:
    """What messages call a value."""
    if value is None:
        return "None"
    if isinstance(value, TUPLE):
        return f"a tuple of {len(value)}"
    if is_array(value):
        return f"an array of {backend_of(value).name}"
    return f"a {type(value).__name__}"
