"""A Jacobian by reverse mode: one batched backward pass for all of its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.backend import backend_of
from gradwrap.core.comparing import zeros_like
from gradwrap.core.levels import new_level
from gradwrap.core.space import size_of
from gradwrap.errors import NonScalarOutputError
from gradwrap.transforms.jacobian_diagonal import diagonal_start
from gradwrap.transforms.jacobian_space import (
    FlatAxis,
    array_of,
    check_is_array,
    chunks_of,
    joined,
    rows_of,
    zero_block,
)
from gradwrap.transforms.outputs import ones_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradwrap.transforms.recording import Recording

__all__ = ["by_rows", "check_output", "leaves_of"]


def by_rows(
    recording: Recording, outputs: Sequence[Any], holomorphic: bool, chunk_size: int | None
) -> list[list[Any]]:
    """For each output, the blocks of all leaves of the arguments: one batched backward pass."""
    for out in outputs:
        check_output(recording.name, out, holomorphic)
    leaves = leaves_of(recording)
    if len(outputs) == 1 and recording.is_tracked(outputs[0]):
        return [_rows_of_one(recording, outputs[0], leaves, holomorphic, chunk_size)]
    space = FlatAxis([out._data if recording.is_tracked(out) else None for out in outputs])
    rows: list[list[Any]] = [[] for _ in leaves]
    for first, last in chunks_of(space.total, chunk_size):
        basis = space.basis(first, last)
        arrived = recording.arrived(outputs, basis, keep=last < space.total)
        for part, (leaf, original) in zip(rows, leaves, strict=True):
            if leaf is not None:
                part.append(rows_of(arrived.get(leaf[0]), original, last - first, space.level))
    whole = [_whole(part, holomorphic) if part else None for part in rows]
    blocks: list[Any] = []
    for index, out in enumerate(outputs):
        block: list[Any] = []
        for one, (_, original) in zip(whole, leaves, strict=True):
            if one is None:
                block.append(None)
            elif space.arrays[index] is None:
                block.append(zero_block(out, original))
            else:
                block.append(space.split(backend_of(one).xp, one, index, 0))
        blocks.append(block)
    return blocks


def _whole(parts: list[Any], holomorphic: bool) -> Any:
    """All rows, from those in stretches."""
    whole = joined(parts)
    return backend_of(whole).xp.conj(whole) if holomorphic else whole


def _rows_of_one(
    recording: Recording, output: Any, leaves: Sequence[Any], holomorphic: bool, chunk_size: Any
) -> list[Any]:
    """The blocks of the one output there is, by the cheapest way."""
    shape = tuple(output._data.shape)
    if not shape:  # its Jacobian is its gradient
        gradient = recording.arrived([output], [ones_of(output)], keep=False)
        found = [None if leaf is None else gradient.get(leaf[0]) for leaf, _ in leaves]
        return [
            None if leaf is None else _whole([zeros_like(x) if g is None else g], holomorphic)
            for g, (leaf, x) in zip(found, leaves, strict=True)
        ]
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
        whole = _whole(parts, holomorphic)
        wanted = (*shape, *original.shape)
        if whole.shape != wanted:
            whole = backend_of(whole).xp.reshape(whole, wanted)
        block.append(whole)
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
