"""`map_overlap` with a derivative: stencils on blocks with the edges of their neighbours.

It is three steps, as in Dask: `overlap` adds the edges, `map_blocks` applies the function, and
`trim_internal` cuts off the neighbours' elements. Their transposes, in reverse order: fill up with
zeros, pull back block by block, and give the edges back to the blocks that they came from. An edge
that the boundary condition has made goes to the elements that it was made of.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.dask.blocks import aligned, as_tuple, map_blocks, own_axes
from gradwrap.dask.linear import in_chunks, linear, plain, rechunk
from gradwrap.extend import innermost, is_recorded

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Depth = dict[int, int | tuple[int, int]]
    Boundary = dict[int, Any]

    da: Any
    daskmod: Any
else:
    import dask.array as da
    from dask.array import overlap as daskmod


GRADIENT = "overlap-gradient"
"""What the tasks are called that give edges back."""


def overlap(x: Any, depth: Any, boundary: Any, *, allow_rechunk: bool = True) -> Any:
    """Add the edges of the neighbours to each block, as `dask.array.overlap.overlap`."""
    depths: Depth = daskmod.coerce_depth(x.ndim, depth)
    kinds: Boundary = daskmod.coerce_boundary(x.ndim, boundary)
    x = _wide_enough(x, depths) if allow_rechunk else x
    chunks = innermost(x).chunks
    wide = _changed(chunks, depths, kinds, 1)
    return linear(
        lambda a: daskmod.overlap(in_chunks(a, chunks), depths, kinds, allow_rechunk=False),
        lambda g: _given_back(in_chunks(g, wide), depths, kinds, chunks),
        x,
    )


def _changed(chunks: Any, depths: Depth, kinds: Boundary, sign: int) -> Any:
    """Return the lengths of chunks after adding (or removing) the neighbours' edges."""
    return tuple(
        tuple(
            length + sign * sum(_edges(depths.get(axis, 0), kinds.get(axis, "none"), at, len(own)))
            for at, length in enumerate(own)
        )
        for axis, own in enumerate(chunks)
    )


def _edges(depth: Any, kind: Any, place: int, count: int) -> tuple[int, int]:
    """Return the width before and after a block: 0 at ends without a boundary."""
    before, after = sides(depth)
    is_none = _is(kind, "none")
    return (
        0 if is_none and place == 0 else before,
        0 if is_none and place == count - 1 else after,
    )


def _wide_enough(x: Any, depths: Depth) -> Any:
    """Rechunk the array so that no chunk is narrower than the edges that neighbours need."""
    sizes = [max(sides(depths[axis])) for axis in range(x.ndim)]
    chunks: Any = innermost(x).chunks
    wide = tuple(
        daskmod.ensure_minimum_chunksize(*pair) for pair in zip(sizes, chunks, strict=True)
    )
    return x if wide == chunks else rechunk(x, wide)


def sides(depth: int | tuple[int, int]) -> tuple[int, int]:
    """Return the widths before and after a block."""
    return depth if isinstance(depth, tuple) else (depth, depth)


def _given_back(g: Any, depths: Depth, kinds: Boundary, chunks: Any) -> Any:
    """Transpose `overlap`: return to each block the cotangents of its edges."""
    swapped: Depth = {}
    for axis, depth in depths.items():
        before, after = sides(depth)
        swapped[axis] = before if before == after else (after, before)
    round_trip = {a: "periodic" if _is(kind, "periodic") else "none" for a, kind in kinds.items()}
    gathered = daskmod.overlap(g, swapped, round_trip, allow_rechunk=False)
    fold = functools.partial(_folded, depths=depths, kinds=kinds, numblocks=tuple(map(len, chunks)))
    return da.map_blocks(fold, gathered, chunks=chunks, dtype=g.dtype, meta=g._meta, token=GRADIENT)


def _is(kind: Any, name: str) -> bool:
    return isinstance(kind, str) and kind == name


def _folded(
    block: Any, *, depths: Depth, kinds: Boundary, numblocks: tuple[int, ...], block_id: Any = None
) -> Any:
    """Add the cotangents of a block's elements from the block and its neighbours."""
    edges = [
        _Edges(depths[axis], kinds[axis], place, count)
        for axis, (place, count) in enumerate(zip(block_id, numblocks, strict=True))
    ]
    return _folded_from(block, 0, edges)


class _Edges:
    """The parts of a block along an axis.

    In this order: from the block before it, its own edge, itself, its own edge, from the next
    block. The own edges belong to the neighbours, or to the boundary.
    """

    def __init__(self, depth: Any, kind: Any, place: int, count: int) -> None:
        before, after = sides(depth)
        is_round = _is(kind, "periodic")
        is_first, is_last = place == 0 and not is_round, place == count - 1 and not is_round
        own_before, own_after = _edges(depth, kind, place, count)
        self.kind: Any = kind
        self.from_previous: int = 0 if is_first else after
        self.from_next: int = 0 if is_last else before
        self.start: int = self.from_previous + own_before
        self.end: int = self.from_next + own_after
        self.at_start: bool = is_first and self.start > 0
        self.at_end: bool = is_last and self.end > 0


def _folded_from(block: Any, axis: int, edges: Sequence[_Edges]) -> Any:
    """Fold the axes from `axis` on: add the thin parts of the neighbours to the block."""
    if axis == len(edges):
        return block.copy()
    own = edges[axis]

    def part(start: int, stop: int) -> Any:
        return _folded_from(block[(*head, slice(start, stop))], axis + 1, edges)

    def add(first: int, last: int, values: Any) -> None:
        total[(*head, slice(first, last))] += values

    head = (slice(None),) * axis
    length = block.shape[axis]
    core = length - own.start - own.end
    total = part(own.start, length - own.end)
    if own.from_previous:
        add(0, own.from_previous, part(0, own.from_previous))
    if own.from_next:
        add(core - own.from_next, core, part(length - own.from_next, length))
    if own.at_start and _is(own.kind, "reflect"):
        add(0, own.start, np.flip(part(0, own.start), axis))
    if own.at_end and _is(own.kind, "reflect"):
        add(core - own.end, core, np.flip(part(length - own.end, length), axis))
    if own.at_start and _is(own.kind, "nearest"):
        add(0, 1, part(0, own.start).sum(axis=axis, keepdims=True))
    if own.at_end and _is(own.kind, "nearest"):
        add(core - 1, core, part(length - own.end, length).sum(axis=axis, keepdims=True))
    return total


def trim_internal(x: Any, axes: Any, boundary: Any = None) -> Any:
    """Cut off the edges of each block, as `dask.array.overlap.trim_internal`."""
    kinds: Boundary = daskmod.coerce_boundary(x.ndim, boundary)
    data = innermost(x)
    trimmed = _changed(data.chunks, axes, kinds, -1)
    fill = functools.partial(_filled, axes=axes, kinds=kinds, numblocks=data.numblocks)

    def filled(g: Any) -> Any:
        g = in_chunks(g, trimmed)
        return da.map_blocks(fill, g, chunks=data.chunks, dtype=g.dtype, meta=g._meta)

    return linear(
        lambda a: daskmod.trim_internal(in_chunks(a, data.chunks), axes, kinds), filled, x
    )


def _filled(
    block: Any, *, axes: Depth, kinds: Boundary, numblocks: tuple[int, ...], block_id: Any = None
) -> Any:
    """Transpose trimming: pad with zeros where the edges were."""
    widths = [
        _edges(axes.get(axis, 0), kinds.get(axis, "none"), place, count)
        for axis, (place, count) in enumerate(zip(block_id, numblocks, strict=True))
    ]
    return np.pad(block, widths)


def trim_overlap(x: Any, depth: Any, boundary: Any = None) -> Any:
    """Cut off the edges of each block, as `dask.array.overlap.trim_overlap`."""
    return trim_internal(x, daskmod.coerce_depth(x.ndim, depth), boundary)


def map_overlap(  # noqa: PLR0913  Dask's parameters
    func: Callable[..., Any],
    *args: Any,
    depth: Any = None,
    boundary: Any = None,
    trim: bool = True,
    align_arrays: bool = True,
    allow_rechunk: bool = True,
    **options: Any,
) -> Any:
    """Apply a function to blocks with the edges of their neighbours, as `dask.array.map_overlap`.

    It can be differentiated: the function on the workers, one block at a time, as by `map_blocks`.
    """
    words = {"trim": trim, "align_arrays": align_arrays, "allow_rechunk": allow_rechunk}
    if not is_recorded([args, options]):
        given = plain(args)
        return da.map_overlap(func, *given, depth=depth, boundary=boundary, **words, **options)
    _check(args)
    depths = _for_each(args, depth, daskmod.coerce_depth)
    kinds = _for_each(args, boundary, daskmod.coerce_boundary)
    arrays = aligned(args, list(map(own_axes, args))) if align_arrays else list(args)
    if not any(any(sides(one)) for each in depths for one in each.values()):
        return map_blocks(func, *arrays, **options)
    if allow_rechunk:
        arrays = [_wide_enough(array, own) for array, own in zip(arrays, depths, strict=True)]
    if not trim:  # the function cuts off the edges itself
        options.setdefault("chunks", innermost(arrays[0]).chunks)
    wide = [
        overlap(array, own, kind, allow_rechunk=False)
        for array, own, kind in zip(arrays, depths, kinds, strict=True)
    ]
    found = map_blocks(func, *wide, **options)
    if not trim:
        return found
    most = max(range(len(wide)), key=lambda place: (wide[place].ndim, -place))
    dropped, new = as_tuple(options.get("drop_axis")), as_tuple(options.get("new_axis"))
    ndim = wide[most].ndim
    axes: list[Any] = [axis for axis in range(ndim) if axis not in {one % ndim for one in dropped}]
    for axis in sorted(one % ndim if one < 0 else one for one in new):
        axes.insert(axis, None)
    return trim_internal(
        found,
        {at: depths[most].get(axis, 0) for at, axis in enumerate(axes)},
        {at: kinds[most].get(axis, "none") for at, axis in enumerate(axes)},
    )


def _check(args: Sequence[Any]) -> None:
    if not all(isinstance(innermost(one), da.Array) for one in args):
        raise TypeError(
            "map_overlap takes arrays of Dask by position. Fix: give parameters that all blocks "
            "need by keyword, map_overlap(f, x, depth=1, w=w); they can be tracked."
        )


def _for_each(args: Sequence[Any], given: Any, coerced: Callable[[int, Any], Any]) -> list[Any]:
    """Return the depths or boundaries of each array as dictionaries by axis."""
    several: Any = given
    each: Any = several if type(given) is list else [given] * len(args)
    return [coerced(array.ndim, one) for array, one in zip(args, each, strict=True)]
