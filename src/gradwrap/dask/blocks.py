"""`map_blocks` and `blockwise` with derivatives: a function of blocks, in NumPy.

Both name the axes of the arguments and of the result, as Dask's own functions do. The function of
the blocks is differentiated on the workers: `gradwrap.dask.calls`.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.dask.calls import Call, Function, Input, OfBlocks, Output, over_blocks
from gradwrap.dask.indexing import as_axes
from gradwrap.dask.linear import in_chunks, is_tracked, is_unknown, plain, plain_options, rechunk
from gradwrap.errors import NoRuleError
from gradwrap.extend import innermost, is_recorded, promoted
from gradwrap.tree import flatten, unflatten

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gradwrap.dask.calls import Index

    da: Any
    funcname: Any
    has_keyword: Any
else:
    import dask.array as da
    from dask.utils import has_keyword

PLACED = ("block_id", "block_info")
"""The keywords by which a function asks where its block is."""


def map_blocks(
    func: Callable[..., Any],
    *args: Any,
    drop_axis: Any = None,
    new_axis: Any = None,
    **options: Any,
) -> Any:
    """Apply a function to corresponding blocks, as `dask.array.map_blocks`, differentiably.

    The function is differentiated on the workers, one block at a time: it is written in NumPy, and
    runs again for the cotangent of its arguments. Besides Dask's arrays, tracked arrays of NumPy
    can be given, by position or by keyword, also in containers; each block gets the whole of them.
    """
    known = {name: options.pop(name) for name in WORDS if name in options}
    is_constant = not is_tracked([args, options])
    func, args, options = _without_containers(func, args, options)
    if is_constant:
        axes = {"drop_axis": drop_axis, "new_axis": new_axis}
        return da.map_blocks(func, *plain(args), **axes, **known, **plain_options(options))
    dropped = as_tuple(drop_axis)
    like = _like(func, args, options, {**known, "drop_axis": dropped, "new_axis": new_axis})
    loops = _loops(args, like, dropped, new_axis)
    indices = [own_axes(one) if isinstance(innermost(one), da.Array) else None for one in args]
    places = None
    if any(has_keyword(func, name) for name in PLACED):
        places = Input(False, _places(func, args, like, dropped, new_axis), loops)
    output = Output(loops, like.chunks, like.dtype, like._meta)
    return applied(func, args, indices, options, (output,), places=places)


WORDS = ("name", "token", "dtype", "chunks", "enforce_ndim", "meta")


def own_axes(array: Any) -> Index:
    """Return an array's axes, counted from the last, as Dask aligns arrays."""
    return tuple(range(array.ndim))[::-1]


def blockwise(  # noqa: PLR0913  Dask's parameters
    func: Callable[..., Any],
    out_ind: Sequence[Any],
    *args: Any,
    align_arrays: bool = True,
    concatenate: bool | None = None,
    new_axes: dict[Any, Any] | None = None,
    adjust_chunks: dict[Any, Any] | None = None,
    name: str | None = None,
    token: str | None = None,
    dtype: Any = None,
    meta: Any = None,
    **options: Any,
) -> Any:
    """Apply a function to blocks along named axes, as `dask.array.blockwise`, differentiably.

    Where the result lacks an axis of an argument, the function takes the blocks along it: in lists,
    or joined if `concatenate` is true. Tracked arrays of NumPy can be given as for `map_blocks`.
    """
    known: dict[str, Any] = {"align_arrays": align_arrays, "concatenate": concatenate}
    known |= {"new_axes": new_axes, "adjust_chunks": adjust_chunks, "name": name, "token": token}
    known |= {"dtype": dtype, "meta": meta}
    is_constant = not is_tracked([args, options])
    names = list(args[1::2])
    func, values, options = _without_containers(func, args[::2], options)
    pairs = zip(map(innermost, values), names, strict=True)
    given = {key: innermost(one) for key, one in options.items()}
    like = da.blockwise(func, out_ind, *(part for pair in pairs for part in pair), **known, **given)
    if is_constant:
        return like
    numbers: dict[Any, int] = {}
    for one in (out_ind, *filter(None, names)):
        for axis in one:
            numbers.setdefault(axis, len(numbers))
    indices = [None if one is None else tuple(numbers[axis] for axis in one) for one in names]
    for one, index in zip(names, indices, strict=True):
        if index is not None and len(set(index)) < len(index):
            raise NoRuleError(
                f"dask.array.blockwise with {one!r}, which has an axis twice, has no rule for "
                "tracked values. Fix: take the diagonal blocks first."
            )
    values = tuple(
        one if index is None else as_dask(one) for one, index in zip(values, indices, strict=True)
    )
    values = tuple(aligned(values, indices)) if align_arrays else values
    loops = tuple(numbers[axis] for axis in out_ind)
    output = Output(loops, like.chunks, like.dtype, like._meta)
    groups = None
    if concatenate is not True:
        groups = [_contracted(*pair, set(loops)) for pair in zip(values, indices, strict=True)]
    return applied(func, values, indices, options, (output,), groups=groups)


def applied(  # noqa: PLR0913  what a call is made of
    func: Any,
    args: Sequence[Any],
    indices: Sequence[Index | None],
    options: dict[str, Any],
    outputs: tuple[Output, ...],
    *,
    loops: Index | None = None,
    places: Input | None = None,
    groups: Sequence[Mapping[int, int]] | None = None,
) -> Any:
    """Apply a function to the blocks of arguments along indices; keywords are for all blocks.

    The function takes lists of blocks along the axes in `groups`. Without them, it takes whole
    axes where the results have none.
    """
    if groups is None:
        over = set(outputs[0].index if loops is None else loops)
        args = [_joined(*pair, over) for pair in zip(args, indices, strict=True)]
    values: list[Any] = [*args, *options.values()]
    own = [*indices, *(None for _ in options)]
    none: Mapping[int, int] = {}
    lists = [*(groups or [none] * len(args)), *([none] * len(options))]
    are_tracked = list(map(is_recorded, values))
    tracked = [value for value, one in zip(values, are_tracked, strict=True) if one]
    inputs = [
        Input(one, None if one else plain([value])[0], index, group)
        for value, one, index, group in zip(values, are_tracked, own, lists, strict=True)
    ]
    names = tuple(options)
    if places is not None:
        inputs.append(places)
        names = (*names, "")
    return over_blocks(
        Call(Function(func, names), tuple(inputs), outputs, loops), tuple(map(as_dask, tracked))
    )


def _joined(array: Any, index: Index | None, over: set[int]) -> Any:
    """Rechunk an array to one chunk along the axes that the results lack."""
    lengths = zip(index or (), innermost(array).chunks if index else (), strict=True)
    whole = {
        axis: -1 for axis, (name, own) in enumerate(lengths) if name not in over and len(own) > 1
    }
    if not whole:
        return array
    if is_unknown(innermost(array).chunks):
        raise NoRuleError(
            "a function of blocks takes whole axes of a tracked array whose chunks have unknown "
            "lengths. Fix: call x.compute_chunk_sizes() first, or give dask.array.blockwise a "
            "function of lists of blocks, with concatenate=False."
        )
    return rechunk(array, whole)


def _contracted(array: Any, index: Index | None, over: set[int]) -> dict[int, int]:
    """Return the axes along which a function takes lists of blocks, with their lengths."""
    counts = zip(index or (), innermost(array).numblocks if index else (), strict=True)
    return {axis: count for axis, (name, count) in enumerate(counts) if name not in over}


def as_dask(value: Any) -> Any:
    """Return an array of Dask for an array of any library, tracked if that is."""
    if is_recorded(value):
        return promoted([value, da.zeros(0)])[0]
    return da.asarray(*plain([value]))


def aligned(args: Sequence[Any], indices: Sequence[Index | None]) -> list[Any]:
    """Return the arguments, those with an index in common chunks."""
    pairs = [part for a, i in zip(args, indices, strict=True) for part in (innermost(a), i)]
    unified: Any = da.core.unify_chunks(*pairs, warn=False)[1]
    return [
        one if index is None else in_chunks(one, other.chunks)
        for one, index, other in zip(args, indices, unified, strict=True)
    ]


def as_tuple(axes: Any) -> tuple[int, ...]:
    """Return Dask's axes (None, one or several) as a tuple."""
    return () if axes is None else tuple(axes) if np.iterable(axes) else (axes,)


def _without_containers(
    func: Any, args: tuple[Any, ...], options: dict[str, Any]
) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """Replace containers of tracked arrays by their leaves, passed as keywords."""
    parts: list[tuple[Any, tuple[str, ...], Any]] = []
    leaves: dict[str, Any] = {}
    given: dict[Any, Any] = {**dict(enumerate(args)), **options}
    for key, value in given.items():
        if innermost(value) is not value or not is_recorded(value):
            continue
        found, treedef = flatten(value)
        names = tuple(f"{key}[{number}]" for number in range(len(found)))
        leaves.update(zip(names, found, strict=True))
        parts.append((key, names, treedef))
    if not parts:
        return func, args, options
    gone = {key for key, _, _ in parts}
    rest = {key: value for key, value in options.items() if key not in gone}
    kept = tuple(None if place in gone else value for place, value in enumerate(args))
    return _OfContainers(func, tuple(parts)), kept, {**rest, **leaves}


@dataclasses.dataclass(frozen=True)
class _OfContainers(OfBlocks):
    """A function that takes the leaves of containers as keywords, and rebuilds them."""

    parts: tuple[tuple[Any, tuple[str, ...], Any], ...]

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self.function)

    def __call__(self, *args: Any, **options: Any) -> Any:
        given = list(args)
        for key, names, treedef in self.parts:
            value = unflatten(treedef, [options.pop(name) for name in names])
            if isinstance(key, int):
                given[key] = value
            else:
                options[key] = value
        return self.function(*given, **options)


def _outer(args: Sequence[Any]) -> Any:
    """Return the shape of the chunked argument with most axes: the output's default."""
    blocked = [one for one in args if isinstance(innermost(one), da.Array)]
    if not blocked:
        raise TypeError(
            "map_blocks of tracked values needs an array of Dask among its arguments, whose blocks "
            "it maps over. Fix: give one, or call the function itself."
        )
    return max(blocked, key=lambda one: one.ndim).shape


def _like(func: Any, args: Sequence[Any], named: dict[str, Any], options: dict[str, Any]) -> Any:
    """Call Dask's own function for the result's chunks, dtype and meta, and for its errors."""
    values = {name: innermost(value) for name, value in named.items()}
    return da.map_blocks(func, *map(innermost, args), **options, **values)


def _loops(args: Sequence[Any], like: Any, dropped: Sequence[int], new_axis: Any) -> Index:
    """Return the output's index; axes count from the last, as Dask aligns arrays."""
    ndim = len(_outer(args))
    gone = {axis % ndim for axis in dropped}
    index = [ndim - 1 - axis for axis in range(ndim) if axis not in gone]
    new: Any = as_tuple(new_axis) if new_axis is not None else range(like.ndim - len(index))
    for axis in sorted(new):
        index.insert(axis, len(index) + len(gone))
    return tuple(index)


def _places(
    func: Any, args: Sequence[Any], like: Any, dropped: Sequence[int], new_axis: Any
) -> Any:
    """Return each block's location, as the function's keywords, in an array of one per block."""
    words = tuple(name for name in PLACED if has_keyword(func, name))
    blocked = [innermost(one) if isinstance(innermost(one), da.Array) else None for one in args]
    return da.map_blocks(
        _TELLING[words],
        *blocked,
        chunks=like.chunks,
        dtype=object,
        meta=np.empty((0,) * like.ndim, dtype=object),
        drop_axis=list(dropped),
        new_axis=new_axis,
    )


def _id(*_: Any, block_id: Any = None) -> Any:
    return {"block_id": block_id}


def _info(*_: Any, block_info: Any = None) -> Any:
    return {"block_info": block_info}


def _both(*_: Any, block_id: Any = None, block_info: Any = None) -> Any:
    return {"block_id": block_id, "block_info": block_info}


_TELLING: dict[tuple[str, ...], Any] = {
    ("block_id",): _id,
    ("block_info",): _info,
    PLACED: _both,
}


def order_statistics(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return NumPy's median or quantile for Dask's arrays, rechunked along the axes."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def applied(*args: Any, **options: Any) -> Any:
        given = signature.bind(*args, **options).arguments
        x, out = given.pop("a"), given.pop("out", None)
        if out is not None or is_recorded(list(given.values())):
            raise NoRuleError(
                f"np.{function.__name__} of Dask's arrays with out=, or with tracked options, has "
                "no rule. Fix: give plain options, and no out=."
            )
        axis, keeps = given.pop("axis", None), given.pop("keepdims", False) is True
        axes = as_axes(axis, x.ndim)
        whole = functools.partial(function, axis=axes, keepdims=True, **given)
        x = rechunk(x, dict.fromkeys(axes, -1))
        lengths = enumerate(innermost(x).chunks)
        new: tuple[int, ...] = np.shape(given.get("q", 0.5))
        found = map_blocks(
            whole,
            x,
            chunks=(*new, *((1,) if axis in axes else own for axis, own in lengths)),
            new_axis=list(range(len(new))) or None,
            dtype=whole(np.ones((1,) * x.ndim, dtype=x.dtype)).dtype,
        )
        gone = tuple(len(new) + axis for axis in axes)
        return found if keeps else np.squeeze(found, axis=gone)

    return applied


def coarsen(
    reduction: Callable[..., Any], x: Any, axes: Any, trim_excess: bool = False, **options: Any
) -> Any:
    """Reduce neighbours to one element, as `dask.array.coarsen`, differentiably."""
    like = da.coarsen(reduction, innermost(x), axes, trim_excess, **options)
    if not is_recorded(x):
        return like
    sizes = [int(axes.get(axis, 1)) for axis in range(x.ndim)]
    lengths = [length - length % size for length, size in zip(x.shape, sizes, strict=True)]
    x = x[tuple(map(slice, lengths))]
    aligned = map(da.routines.aligned_coarsen_chunks, innermost(x).chunks, sizes)
    x = rechunk(x, tuple(aligned))
    chunks = tuple(
        tuple(length // size for length in own)
        for own, size in zip(innermost(x).chunks, sizes, strict=True)
    )
    function = _Coarser(reduction, tuple(sizes), options)
    return map_blocks(function, x, chunks=chunks, dtype=like.dtype, meta=like._meta)


@dataclasses.dataclass(frozen=True)
class _Coarser(OfBlocks):
    """A reduction of neighbouring elements in a block."""

    sizes: tuple[int, ...]
    options: dict[str, Any]

    @property
    def __name__(self) -> str:
        return f"coarsen-{super().__name__}"

    def __call__(self, block: Any) -> Any:
        pairs = zip(block.shape, self.sizes, strict=True)
        split = block.reshape([part for n, size in pairs for part in (n // size, size)])
        return self.function(split, axis=tuple(range(1, split.ndim, 2)), **self.options)
