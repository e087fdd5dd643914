"""A Jacobian by reverse mode: one batched backward pass for all of its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.backend import backend_of
from gradwrap.core.levels import new_level
from gradwrap.core.space import size_of, zeros_of
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
    from collections.abc import Sequence

    from gradwrap.transforms.arguments import Argnums
    from gradwrap.transforms.recording import Recording

__all__ = ["as_asked", "by_rows", "check_output", "leaves_of"]


def by_rows(
    recording: Recording, outputs: Sequence[Any], holomorphic: bool, chunk_size: int | None
) -> list[list[Any]]:
    """For each output, the blocks of all leaves of the arguments: one batched backward pass."""
    for out in outputs:
        check_output(recording.name, out, holomorphic)
    leaves = leaves_of(recording)
    if len(outputs) == 1 and recording.is_tracked(outputs[0]):
        return [_rows_of_one(recording, outputs[0], leaves, holomorphic, chunk_size)]
    space = Space([out._data if recording.is_tracked(out) else None for out in outputs])
    rows: list[list[Any]] = [[] for _ in leaves]
    for first, last in chunks_of(space.total, chunk_size):
        basis = space.basis(first, last)
        arrived = recording.arrived(outputs, basis, keep=last < space.total)
        for part, (leaf, original) in zip(rows, leaves, strict=True):
            if leaf is not None:
                part.append(rows_of(arrived.get(leaf[0]), original, last - first, space.level))
    whole = [joined(part, part[0], 0) if part else None for part in rows]
    blocks: list[Any] = []
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


def _rows_of_one(
    recording: Recording, output: Any, leaves: Sequence[Any], holomorphic: bool, chunk_size: Any
) -> list[Any]:
    """The blocks of the one output there is, by the cheapest way."""
    shape = tuple(output._data.shape)
    if not shape:
        return _gradient(recording, output, leaves, holomorphic)
    total, level, start = size_of(shape), new_level(), diagonal_start(output)
    stretches = chunks_of(total, chunk_size)
    arrived: list[dict[Any, Any]] = []
    only = leaves[0][0] if len(leaves) == 1 else None
    block: list[Any] = []
    for leaf, original in leaves:
        if leaf is None:
            block.append(None)
            continue
        parts = [] if only is None else [start.rows_at(only[0], *stretch) for stretch in stretches]
        if not parts or parts[0] is None:
            arrived = arrived or [
                start.arrived(first, last, level, keep=last < total) for first, last in stretches
            ]
            parts = [
                rows_of(found.get(leaf[0]), original, last - first, level)
                for found, (first, last) in zip(arrived, stretches, strict=True)
            ]
        whole = joined(parts, parts[0], 0)
        wanted = (*shape, *original.shape)
        if whole.shape != wanted:
            whole = backend_of(whole).xp.reshape(whole, wanted)
        block.append(backend_of(whole).xp.conj(whole) if holomorphic else whole)
    return block


def check_output(name: str, out: Any, holomorphic: bool) -> None:
    """Refuse an output that has no Jacobian by rows: no array, or complex."""
    check_is_array(name, out)
    if backend_of(out).dtype_kind(out.dtype)[1] and not holomorphic:
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
