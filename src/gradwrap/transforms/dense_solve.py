"""A linear system whose matrix is known only by what it does, solved by computing its columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.backend import backend_of
from gradwrap.core.comparing import namespace_of
from gradwrap.core.tree import flatten, unflatten

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["dense_solve"]


def dense_solve(linear: Callable[[Any], Any], y: Any) -> Any:
    """The solution `x` of `linear(x) = y`, one call of `linear` for each of its elements."""
    parts, treedef = flatten(y)
    backend = backend_of(parts[0])
    xp = backend.xp
    sizes = [part.size for part in parts]

    def as_vector(tree: Any) -> Any:
        leaves = [xp.reshape(leaf, (-1,)) for leaf in flatten(tree)[0]]
        return leaves[0] if len(leaves) == 1 else xp.concat(leaves)

    def as_tree(vector: Any) -> Any:
        leaves: list[Any] = []
        start = 0
        for part, size in zip(parts, sizes, strict=True):
            leaf = xp.reshape(vector[start : start + size], part.shape)
            leaves.append(xp.astype(leaf, part.dtype))
            start += size
        return unflatten(treedef, leaves)

    right = as_vector(y)
    unit = xp.eye(sum(sizes), dtype=right.dtype, device=backend.device(parts[0]))
    columns = [as_vector(linear(as_tree(unit[i, :]))) for i in range(sum(sizes))]
    xp = namespace_of([right, *columns])
    solution = xp.linalg.solve(xp.stack(columns, axis=1), right[:, None])
    return as_tree(solution[:, 0])
