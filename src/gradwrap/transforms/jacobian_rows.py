"""A Jacobian by reverse mode: one batched backward pass for all of its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.backend import backend_of
from gradwrap.core.scatter import zeros_of
from gradwrap.core.tree import unflatten
from gradwrap.errors import NonScalarOutputError
from gradwrap.transforms.diagonal import diagonal_start
from gradwrap.transforms.jacobian_space import (
    Space,
    array_of,
    check_is_array,
    chunks_of,
    joined,
    owned,
    rows_of,
    zero_block,
)
from gradwrap.transforms.recording import ones_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.transforms.arguments import Argnums
    from gradwrap.transforms.recording import Recording

__all__ = ["as_asked", "by_rows", "check_output", "leaves_of"]


def by_rows(
    recording: Recording, outputs: Sequence[Any], holomorphic: bool, chunk_size: int | None
) -> list[list[Any]]:
    """For each output, the blocks of all leaves of the arguments: one batched backward pass."""
    for out in outputs:
        check_output(recording.name, out, holomorphic)
    space = Space([out._data if recording.is_tracked(out) else None for out in outputs])
    leaves = leaves_of(recording)
    if len(outputs) == 1 and space.shapes == [()]:
        return [_gradient(recording, outputs[0], leaves, holomorphic)]
    rows: list[list[Any]] = [[] for _ in leaves]
    arriving = _arriving(recording, outputs, space)
    for first, last in chunks_of(space.total, chunk_size):
        arrived = arriving(first, last)
        for part, (leaf, original) in zip(rows, leaves, strict=True):
            if leaf is not None:
                part.append(rows_of(arrived.get(leaf[0]), original, last - first, space.level))
    whole = [joined(part, part[0], 0) if part else None for part in rows]
    blocks = []
    for index, out in enumerate(outputs):
        block: list[Any] = []
        for one, (_, original) in zip(whole, leaves, strict=True):
            if one is None:
                block.append(None)
            elif space.arrays[index] is None:
                block.append(zero_block(out, original))
            else:
                xp = backend_of(one).xp
                found = space.split(xp, one, index, 0)
                block.append(xp.conj(found) if holomorphic else found)
        blocks.append(block)
    return blocks


def _gradient(
    recording: Recording, output: Any, leaves: Sequence[Any], holomorphic: bool
) -> list[Any]:
    """The blocks of a scalar: its Jacobian is its gradient."""
    arrived = recording.arrived([output], [ones_of(output)], keep=False)
    block: list[Any] = []
    for leaf, original in leaves:
        found = None if leaf is None else arrived.get(leaf[0])
        if leaf is not None and found is None:
            found = zeros_of(backend_of(original).xp, backend_of(original).meta(original, 0))
        is_conjugate = holomorphic and found is not None
        block.append(backend_of(found).xp.conj(found) if is_conjugate else found)
    return block


def _arriving(recording: Recording, outputs: Sequence[Any], space: Space) -> Callable[..., Any]:
    """What arrives at the leaves for a stretch of the rows, by the cheapest way there is."""
    if len(outputs) == 1 and space.total:
        start = diagonal_start(outputs[0])
        return lambda first, last: start.arrived(first, last, space)
    return lambda first, last: recording.arrived(
        outputs, space.basis(first, last), keep=last < space.total
    )


def check_output(name: str, out: Any, holomorphic: bool) -> None:
    """Refuse an output that has no Jacobian by rows: no array, or complex."""
    check_is_array(name, out)
    is_complex = backend_of(out).dtype_kind(out.dtype)[1]
    if is_complex and not holomorphic:
        raise NonScalarOutputError(
            f"jacrev needs real outputs; {name} returned {out.dtype}. Fix: pass holomorphic=True "
            "for the complex derivative of a holomorphic function, or use jacfwd for a function "
            "of real arguments."
        )


def leaves_of(recording: Recording) -> list[tuple[Any, Any]]:
    """The leaves of the arguments, None where nothing is differentiated, and their arrays."""
    return [
        (leaf, None if leaf is None else array_of(original))
        for tracked in recording.tracked
        for leaf, original in zip(tracked.leaves, tracked.originals, strict=True)
    ]


def as_asked(recording: Recording, blocks: Sequence[Sequence[Any]], argnums: Argnums) -> list[Any]:
    """For each output its blocks, in the structure of the arguments."""
    parts = iter(owned([one for block in blocks for one in block]))
    found: list[Any] = []
    for _ in blocks:
        trees = [
            unflatten(tracked.treedef, [next(parts) for _ in tracked.originals])
            for tracked in recording.tracked
        ]
        found.append(trees[0] if isinstance(argnums, (int, str)) else tuple(trees))
    return found
