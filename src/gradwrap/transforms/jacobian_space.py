"""The axis of a Jacobian's rows or columns: the elements of several arrays, one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.levels.levels import new_level
from gradwrap.core.levels.wrapper import UNTRACKED, is_at
from gradwrap.core.library.backend import backend_of, is_array, own_buffers
from gradwrap.core.values.comparing import zeros_like
from gradwrap.core.values.layouts import put
from gradwrap.core.values.space import size_of
from gradwrap.errors import NotAnArrayError
from gradwrap.transforms.argnums import one_or_tuple
from gradwrap.transforms.arguments import default_scalar, unwrapped
from gradwrap.transforms.batch import batch_of, unit_batch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradwrap.core.values.tree import TreeDef
    from gradwrap.typing.signatures import Argnums


class FlatAxis:
    """The elements of several arrays as one axis: the rows or columns of a Jacobian."""

    def __init__(self, arrays: Sequence[Any]) -> None:
        self.arrays: Sequence[Any] = arrays
        self.shapes: list[tuple[int, ...] | None] = [
            None if a is None else tuple(a.shape) for a in arrays
        ]
        self.sizes: list[int] = [0 if a is None else size_of(a.shape) for a in arrays]
        self.total: int = sum(self.sizes)
        self.level: int = new_level()

    @property
    def some(self) -> Any:
        """One of the arrays."""
        return next((array for array in self.arrays if array is not None), None)

    def basis(self, first: int, last: int) -> list[Any]:
        """Return the unit vectors `first` to `last` as batches, one part for each array."""
        count = last - first
        level = self.level
        parts: list[Any] = []
        start = 0
        for array, size in zip(self.arrays, self.sizes, strict=True):
            if array is None:
                parts.append(None)
                continue
            backend = backend_of(array)
            xp = backend.xp
            meta = backend.meta(array, level)
            if len(meta.shape) == 1 and size == count and first == start and not backend.depth:
                parts.append(unit_batch(array, level))
            else:
                rows = xp.eye(count, size, k=first - start, dtype=meta.dtype, device=meta.device)
                parts.append(batch_of(xp.reshape(rows, (count, *meta.shape)), level))
            start += size
        return parts

    def split(self, xp: Any, whole: Any, index: int, axis: int) -> Any:
        """Return the part of an axis that belongs to one array, in its shape."""
        own = self.shapes[index]
        assert own is not None
        shape = whole.shape
        wanted = (*shape[:axis], *own, *shape[axis + 1 :])
        if self.sizes[index] != self.total:
            start = sum(self.sizes[:index])
            whole = whole[(slice(None),) * axis + (slice(start, start + self.sizes[index]), ...)]
        return whole if whole.shape == wanted else xp.reshape(whole, wanted)


def rows_of(found: Any, like: Any, count: int, level: int) -> Any:
    """Return a batched pass's result, batch axis first; repeat a value that all rows share."""
    if is_at(found, level) and found._is_batched:
        return found._value
    xp = backend_of(like).xp
    if found is None:
        found = zeros_like(like)
    return xp.broadcast_to(found, (count, *found.shape))


def joined(parts: Sequence[Any]) -> Any:
    """Join stretches of rows."""
    return parts[0] if len(parts) == 1 else backend_of(parts[0]).xp.concat(list(parts), axis=0)


def zero_block(out: Any, original: Any) -> Any:
    """Return the block of zeros of an output that does not depend on an argument."""
    backend = backend_of(original)
    meta = backend.meta(original, 0)
    shape = (*tuple(getattr(out, "shape", ())), *meta.shape)
    return backend.xp.zeros(shape, dtype=meta.dtype, device=meta.device)


def as_asked(
    blocks: Sequence[Sequence[Any]], treedefs: Sequence[TreeDef], argnums: Argnums
) -> list[Any]:
    """Return each output's blocks in the structures of the arguments."""
    owned = [
        None if one is None else unwrapped(one, UNTRACKED) for block in blocks for one in block
    ]
    own_buffers(owned, ())
    parts = iter(owned)
    return [
        one_or_tuple(
            [put(t, [next(parts) for _ in range(t.size)], "rows") for t in treedefs],
            argnums,
        )
        for _ in blocks
    ]


def arrays_among(outputs: Sequence[Any], treedef: TreeDef) -> list[Any]:
    """Return the outputs, except for None in containers."""
    return [out for out in outputs if treedef.is_lone or out is not None]


def with_none(outputs: Sequence[Any], found: Sequence[Any]) -> list[Any]:
    """Return the results for `arrays_among`, with None for the other outputs."""
    rest = iter(found)
    return [None if out is None else next(rest) for out in outputs]


def array_of(original: Any) -> Any:
    """Return an argument as an array."""
    return original if is_array(original) else default_scalar(original)


def check_is_array(name: str, out: Any) -> None:
    """Refuse an output that is not an array."""
    if not is_array(out):
        raise NotAnArrayError(
            f"a Jacobian needs a function that returns arrays; {name} returned a "
            f"{type(out).__name__}. Fix: return arrays alone, or with has_aux=True a pair."
        )
