"""`map_blocks` with a derivative: the function's own vector-Jacobian product, block by block.

A call is a function of one block of each argument, over the blocks of the output. So is the
cotangent of an argument, with the blocks of that argument: an argument that several blocks have
read gets the sum over them. Nothing but blocks is handed to a worker, and no step joins them.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap import custom_vjp
from gradwrap.dask.indexing import as_axes
from gradwrap.dask.linear import in_chunks, plain, rechunk
from gradwrap.errors import NoRuleError
from gradwrap.extend import innermost, is_recorded, promoted, vjp_once
from gradwrap.tree import flatten, unflatten

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Chunks = tuple[tuple[int, ...], ...]
    Index = tuple[int, ...]

    da: Any
    meta_from_array: Any
    sizeof: Any
    funcname: Any
    has_keyword: Any
else:
    import dask.array as da
    from dask.array.utils import meta_from_array
    from dask.sizeof import sizeof
    from dask.utils import funcname, has_keyword

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
    func, args, options = _without_containers(func, args, options)
    values: dict[Any, Any] = {**dict(enumerate(args)), **options}
    if not is_recorded(list(values.values())):
        named = dict(zip(options, plain(options.values()), strict=True))
        axes = {"drop_axis": drop_axis, "new_axis": new_axis}
        return da.map_blocks(func, *plain(args), **axes, **known, **named)
    dropped = as_tuple(drop_axis)
    like = _like(func, args, options, {**known, "drop_axis": dropped, "new_axis": new_axis})
    loops = _loops(args, like, dropped, new_axis)
    tracked = {key: value for key, value in values.items() if is_recorded(value)}
    taken = promoted([*tracked.values(), like])[:-1]
    arrays: list[Any] = []
    inputs: list[_Input] = []
    axis_of = len(_outer(args)) - 1
    whole = {axis_of - axis % (axis_of + 1) for axis in dropped}
    for key, value in values.items():
        is_blocked = isinstance(key, int) and isinstance(innermost(value), da.Array)
        index = tuple(range(value.ndim))[::-1] if is_blocked else None
        constant = plain([value])[0]
        if key in tracked:
            array = taken[list(tracked).index(key)]
            arrays.append(_joined(array, index, whole) if index else array)
            constant = None
        elif index:
            constant = _joined(constant, index, whole)
        inputs.append(_Input(key in tracked, constant, index))
    names = tuple(options)
    if any(has_keyword(func, name) for name in PLACED):
        inputs.append(_Input(False, _places(func, args, like, dropped, new_axis), loops))
        names = (*names, "")
    call = _Call(_Function(func, names), tuple(inputs), loops, like.chunks, like.dtype, like._meta)
    return _over_blocks(call, tuple(arrays))


WORDS = ("name", "token", "dtype", "chunks", "enforce_ndim", "meta")


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
class _OfContainers:
    """A function that takes the leaves of containers as keywords, and rebuilds them."""

    function: Any
    parts: tuple[tuple[Any, tuple[str, ...], Any], ...]

    @property
    def __name__(self) -> str:
        return str(funcname(self.function))

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
    plain = [innermost(value) for value in args]
    values = {name: innermost(value) for name, value in named.items()}
    return da.map_blocks(func, *plain, **options, **values)


def _loops(args: Sequence[Any], like: Any, dropped: Sequence[int], new_axis: Any) -> Index:
    """Return the output's index; axes count from the last, as Dask aligns arrays."""
    ndim = len(_outer(args))
    gone = {axis % ndim for axis in dropped}
    index = [ndim - 1 - axis for axis in range(ndim) if axis not in gone]
    new: Any = as_tuple(new_axis) if new_axis is not None else range(like.ndim - len(index))
    for axis in sorted(new):
        index.insert(axis, len(index) + len(gone))
    return tuple(index)


def _joined(array: Any, index: Index, whole: set[int]) -> Any:
    """Rechunk an array to one chunk along the axes that the output lacks."""
    one = {axis: -1 for axis, name in enumerate(index) if name in whole}
    return rechunk(array, one) if one else array


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
class _Coarser:
    """A reduction of neighbouring elements in a block."""

    reduction: Any
    sizes: tuple[int, ...]
    options: dict[str, Any]

    @property
    def __name__(self) -> str:
        return f"coarsen-{funcname(self.reduction)}"

    def __call__(self, block: Any) -> Any:
        pairs = zip(block.shape, self.sizes, strict=True)
        split = block.reshape([part for n, size in pairs for part in (n // size, size)])
        return self.reduction(split, axis=tuple(range(1, split.ndim, 2)), **self.options)


# The call and its derivative ----------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class _Function:
    """A function that takes blocks by position, the last ones as keywords named in `names`."""

    function: Any
    names: tuple[str, ...] = ()

    @property
    def __name__(self) -> str:
        return str(funcname(self.function))

    def __call__(self, *blocks: Any) -> Any:
        count = len(blocks) - len(self.names)
        named = dict(zip(self.names, blocks[count:], strict=True))
        place = named.pop("", {})
        return self.function(*blocks[:count], **named, **place)


class Held:
    """The result of a function of blocks, with the tape for its backward pass.

    The tape stays in the process that made it, and serves once: a process to which this is sent,
    and a second pull, run the function again.
    """

    def __init__(self, function: Any, places: tuple[int, ...], blocks: tuple[Any, ...]) -> None:
        self.given: tuple[Any, ...] = (function, places, blocks)
        self.result: Any
        self.result, pull = vjp_once(function, places, blocks)
        self.pulls: list[Callable[[Any], tuple[Any, ...]]] = [pull]

    def pull(self, g: Any) -> tuple[Any, ...]:
        """Return the cotangents of the blocks at `places`."""
        try:
            pull = self.pulls.pop()
        except IndexError:
            pull = Held(*self.given).pulls.pop()
        return pull(g)

    def __reduce__(self) -> Any:
        return (Held, self.given)

    def __sizeof__(self) -> int:
        return sum(map(sizeof, (self.result, *self.given[2])))


@dataclasses.dataclass(frozen=True)
class _Recorded:
    """A function of blocks that records its operations."""

    function: Any
    places: tuple[int, ...]

    @property
    def __name__(self) -> str:
        return f"{funcname(self.function)}-recorded"

    def __call__(self, *blocks: Any) -> Held:
        return Held(self.function, self.places, blocks)


@dataclasses.dataclass(frozen=True)
class _Result:
    function: Any

    @property
    def __name__(self) -> str:
        return str(funcname(self.function))

    def __call__(self, held: Held) -> Any:
        return held.result


@dataclasses.dataclass(frozen=True)
class _Gradient:
    function: Any

    @property
    def __name__(self) -> str:
        return f"{funcname(self.function)}-gradient"

    def __call__(self, held: Held, g: Any) -> tuple[Any, ...]:
        return held.pull(g)


@dataclasses.dataclass(frozen=True)
class _Pulled:
    """The cotangents of some arguments of a function; the last block is the output's cotangent."""

    function: Any
    places: tuple[int, ...]

    @property
    def __name__(self) -> str:
        return f"{funcname(self.function)}-gradient"

    def __call__(self, *blocks: Any) -> tuple[Any, ...]:
        return Held(self.function, self.places, blocks[:-1]).pull(blocks[-1])


@dataclasses.dataclass(frozen=True)
class _Part:
    """A function that selects one of several cotangents, and adds axes for the sum over blocks."""

    function: Any
    place: int
    lead: int

    @property
    def __name__(self) -> str:
        return str(funcname(self.function))

    def __call__(self, *blocks: Any) -> Any:
        part = self.function(*blocks)[self.place]
        return part[(None,) * self.lead] if self.lead else part


def cotangents(blocks: Any) -> Any:
    """Return the cotangents of one block unchanged; Dask names the tasks after this function."""
    return blocks


@dataclasses.dataclass(frozen=True)
class _Input:
    """An argument: tracked or constant, and chunked along an index or shared by all blocks."""

    is_tracked: bool
    constant: Any
    index: Index | None


class _Call:
    """A function of blocks, its arguments, and the output's blocks along the index `loops`.

    Each name in the index of an argument is in `loops`, or has one block.
    """

    def __init__(  # noqa: PLR0913  what an array of blocks is made of
        self,
        function: Any,
        inputs: tuple[_Input, ...],
        loops: Index,
        chunks: Chunks,
        dtype: Any,
        meta: Any,
    ) -> None:
        self.function = function
        self.inputs = inputs
        self.loops = loops
        self.chunks = chunks
        self.dtype = dtype
        self.meta = meta

    def places(self) -> list[int]:
        """Return the positions of the tracked arguments."""
        return [place for place, one in enumerate(self.inputs) if one.is_tracked]

    def run(self, arrays: Sequence[Any]) -> Any:
        """Return the results as a Dask array, given Dask arrays for the tracked arguments."""
        used = {name for one in self.inputs for name in one.index or ()}
        sizes = dict(zip(self.loops, self.chunks, strict=True))
        rest = iter(arrays)
        pairs: list[Any] = []
        for one in self.inputs:
            value = next(rest) if one.is_tracked else one.constant
            if one.index is None and isinstance(value, da.Array):
                value = value.rechunk(-1).to_delayed(optimize_graph=False).item()
            pairs += [value, one.index]
        return da.blockwise(
            self.function,
            self.loops,
            *pairs,
            token=self.function.__name__,
            dtype=self.dtype,
            meta=self.meta,
            concatenate=True,
            align_arrays=False,
            new_axes={name: sizes[name] for name in self.loops if name not in used},
            adjust_chunks={name: sizes[name] for name in self.loops if name in used},
        )

    def recorded(self, arrays: Sequence[Any]) -> Any:
        """Return a Dask array of the `Held` of each block."""
        held = _Recorded(self.function, tuple(self.places()))
        return self._of_objects(held, self.inputs, arrays)

    def results(self, held: Any) -> Any:
        """Return a Dask array of the results in `held`."""
        inputs = (_Input(True, None, self.loops),)
        call = _Call(_Result(self.function), inputs, self.loops, self.chunks, self.dtype, self.meta)
        return call.run([held])

    def _of_objects(self, function: Any, inputs: tuple[_Input, ...], arrays: Sequence[Any]) -> Any:
        nothing = np.empty((0,) * len(self.loops), dtype=object)
        return _Call(function, inputs, self.loops, self.chunks, object, nothing).run(arrays)

    def pulled(self, arrays: Sequence[Any], held: Any, g: Any) -> list[Any]:
        """Return the cotangents of the tracked arguments from the tapes in `held`."""
        inputs = (_Input(True, None, self.loops),) * 2
        joint = self._of_objects(_Gradient(self.function), inputs, [held, g])
        found: list[Any] = []
        for number, (place, array) in enumerate(zip(self.places(), arrays, strict=True)):
            axes = self._axes(place, array)
            part = _Part(cotangents, number, axes.lead)
            call = axes.call(part, inputs[:1], array)
            found.append(in_chunks(axes.summed(call.run([joint])), innermost(array).chunks))
        return found

    def pulled_anew(self, arrays: Sequence[Any], g: Any) -> list[Any]:
        """Return the cotangents of the tracked arguments by operations that are recorded."""
        inputs = (*self.inputs, _Input(True, None, self.loops))
        found: list[Any] = []
        for place, array in zip(self.places(), arrays, strict=True):
            axes = self._axes(place, array)
            part = _Part(_Pulled(self.function, (place,)), 0, axes.lead)
            call = axes.call(part, inputs, array)
            part_of_all = axes.summed(_over_blocks(call, (*arrays, g)))
            found.append(in_chunks(part_of_all, innermost(array).chunks))
        return found

    def _axes(self, place: int, array: Any) -> _Axes:
        own = self.inputs[place].index
        chunks = innermost(array).chunks
        blocks = dict(zip(self.loops, map(len, self.chunks), strict=True))
        if own is None:  # each block has read the whole of it
            own, chunks = (-1,) * array.ndim, tuple((length,) for length in array.shape)
        of_own = dict(zip(own, map(len, chunks), strict=False))
        shared = tuple(
            name for name in self.loops if name not in own or of_own[name] < blocks[name]
        )
        fresh = 1 + max([0, *self.loops, *(n for i in self.inputs for n in i.index or ())])
        rest = tuple(
            name if name in self.loops and name not in shared else fresh + axis
            for axis, name in enumerate(own)
        )
        leading = tuple((1,) * blocks[name] for name in shared)
        return _Axes(len(shared), (*shared, *rest), (*leading, *chunks))


@dataclasses.dataclass(frozen=True)
class _Axes:
    """The blocks of a cotangent before its sum over the first `lead` axes."""

    lead: int
    index: Index
    chunks: Any

    def call(self, function: Any, inputs: tuple[_Input, ...], array: Any) -> _Call:
        data = innermost(array)
        meta = meta_from_array(data._meta, ndim=len(self.index), dtype=data.dtype)
        return _Call(function, inputs, self.index, self.chunks, data.dtype, meta)

    def summed(self, parts: Any) -> Any:
        return parts.sum(axis=tuple(range(self.lead))) if self.lead else parts


def _run(call: _Call, arrays: tuple[Any, ...]) -> Any:
    return call.run(arrays)


def _forward(call: _Call, arrays: tuple[Any, ...]) -> tuple[Any, Any]:
    if is_recorded(arrays):  # by a transform around this one
        return _over_blocks(call, arrays), (arrays, None)
    held = _Opaque(call.recorded(arrays))
    return call.results(held.array), (arrays, held)


def _backward(call: _Call, residuals: Any, g: Any) -> tuple[Any]:
    arrays, held = residuals
    g = in_chunks(g, call.chunks)
    if held is None or is_recorded([arrays, g]):
        return (tuple(call.pulled_anew(arrays, g)),)
    return (tuple(call.pulled(arrays, held.array, g)),)


class _Opaque:
    """A wrapper that hides an array of objects from the tape."""

    def __init__(self, array: Any) -> None:
        self.array = array


_over_blocks: Any = custom_vjp(_run, nondiff_argnums=0)
_over_blocks.defvjp(_forward, _backward)
