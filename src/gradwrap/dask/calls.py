"""A function of blocks over Dask's arrays, and its derivative, block by block on the workers.

A function computes each block of the output from some blocks of each argument. Another function
computes each block of an argument's cotangent: it sums over all blocks of the output that depend on
this block. A worker receives only blocks, and no step joins them into one array.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from gradwrap import custom_vjp
from gradwrap.dask.linear import in_chunks, linear, plain
from gradwrap.extend import innermost, is_recorded, vjp_once
from gradwrap.tree import map as map_leaves

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Chunks = tuple[tuple[int, ...], ...]
    Index = tuple[int, ...]

    da: Any
    HighLevelGraph: Any
    meta_from_array: Any
    tokenize: Any
    sizeof: Any
    funcname: Any
else:
    import dask.array as da
    from dask.array.utils import meta_from_array
    from dask.base import tokenize
    from dask.highlevelgraph import HighLevelGraph
    from dask.sizeof import sizeof
    from dask.utils import funcname


@dataclasses.dataclass(frozen=True)
class OfBlocks:
    """A function of blocks made of another one, after which Dask names its tasks."""

    function: Any
    suffix: ClassVar[str] = ""

    @property
    def __name__(self) -> str:
        return f"{funcname(self.function)}{self.suffix}"


@dataclasses.dataclass(frozen=True)
class Function(OfBlocks):
    """A function that takes blocks by position, the last ones as keywords named in `names`."""

    names: tuple[str, ...] = ()

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

    def pull_parts(self, parts: Mapping[int, Any]) -> tuple[Any, ...]:
        """Return the same for some of several results; the others are integers."""
        return self.pull(tuple(parts.get(at, one) for at, one in enumerate(self.result)))

    def __reduce__(self) -> Any:
        return (Held, self.given)

    def __sizeof__(self) -> int:
        return sum(map(sizeof, (self.result, *self.given[2])))


@dataclasses.dataclass(frozen=True)
class _Recorded(OfBlocks):
    """A function of blocks that records its operations."""

    places: tuple[int, ...]

    suffix = "-recorded"

    def __call__(self, *blocks: Any) -> Held:
        return Held(self.function, self.places, blocks)


@dataclasses.dataclass(frozen=True)
class _Result(OfBlocks):
    """A function that returns the result that was held, or one of several."""

    place: int | None

    def __call__(self, held: Any) -> Any:
        result = held.result if isinstance(held, Held) else held
        return result if self.place is None else result[self.place]


@dataclasses.dataclass(frozen=True)
class _Gradient(OfBlocks):
    """A function of what was held, and of the cotangents of the outputs at `outputs`."""

    outputs: tuple[int, ...] | None

    suffix = "-gradient"

    def __call__(self, held: Held, *g: Any) -> tuple[Any, ...]:
        if self.outputs is None:
            return held.pull(g[0])
        return held.pull_parts(dict(zip(self.outputs, g, strict=True)))


@dataclasses.dataclass(frozen=True)
class _Pulled(OfBlocks):
    """The cotangents of some arguments of a function; the last blocks are those of the outputs."""

    places: tuple[int, ...]
    outputs: tuple[int, ...] | None

    suffix = "-gradient"

    def __call__(self, *blocks: Any) -> tuple[Any, ...]:
        count = len(blocks) - (1 if self.outputs is None else len(self.outputs))
        held = Held(self.function, self.places, blocks[:count])
        return _Gradient(self.function, self.outputs)(held, *blocks[count:])


@dataclasses.dataclass(frozen=True)
class _Part(OfBlocks):
    """A function that selects one of several cotangents, and adds axes for the sum over blocks."""

    place: int
    lead: int

    def __call__(self, *blocks: Any) -> Any:
        part = self.function(*blocks)[self.place]
        head = (None,) * self.lead
        return map_leaves(lambda leaf: leaf[head], part) if head else part


def cotangents(blocks: Any) -> Any:
    """Return the cotangents of one block unchanged; Dask names the tasks after this function."""
    return blocks


@dataclasses.dataclass(frozen=True)
class Input:
    """An argument: tracked or constant, and chunked along an index or shared by all blocks.

    Along the axes in `groups`, the function takes a list of so many neighbouring blocks.
    """

    is_tracked: bool
    constant: Any
    index: Index | None
    groups: Mapping[int, int] = dataclasses.field(default_factory=dict[int, int])


@dataclasses.dataclass(frozen=True)
class Output:
    """An array of results: the names of its axes, its chunks, and an empty block of its type."""

    index: Index
    chunks: Chunks
    dtype: Any
    meta: Any

    @property
    def is_floating(self) -> bool:
        return np.dtype(self.dtype).kind in "fc"


def _over(function: Any, output: Output, values: Sequence[Any], indices: Sequence[Any]) -> Any:
    """Return the array of a function's results for the blocks along an index."""
    used = {name for index in indices for name in index or ()}
    sizes = dict(zip(output.index, output.chunks, strict=True))
    pairs: list[Any] = []
    for value, index in zip(values, indices, strict=True):
        is_shared = index is None and isinstance(value, da.Array)
        pairs += [_one_block(value) if is_shared else value, index]
    depths = tuple(sum(name not in sizes for name in index or ()) for index in indices)
    return da.blockwise(
        _OfLists(function, depths) if any(depths) else function,
        output.index,
        *pairs,
        token=function.__name__,
        dtype=output.dtype,
        meta=output.meta,
        align_arrays=False,
        new_axes={name: sizes[name] for name in output.index if name not in used},
        adjust_chunks={name: sizes[name] for name in output.index if name in used},
    )


@dataclasses.dataclass(frozen=True)
class _OfLists:
    """A function of blocks that takes some of them in lists of one, nested so many times."""

    function: Any
    depths: tuple[int, ...]

    def __call__(self, *blocks: Any) -> Any:
        given: list[Any] = []
        for block, depth in zip(blocks, self.depths, strict=True):
            given.append(_item(block, [0] * depth))
        return self.function(*given)


def _one_block(array: Any) -> Any:
    return array.rechunk(-1).to_delayed(optimize_graph=False).item()


class Call:
    """A function of blocks, its arguments, and its outputs.

    It is called for each block along the index `loops`, which is that of a single output. Several
    outputs have further axes of one block. Each name in the index of an argument is in `loops`, or
    has one block, or one group of blocks.
    """

    def __init__(
        self,
        function: Any,
        inputs: tuple[Input, ...],
        outputs: tuple[Output, ...],
        loops: Index | None = None,
    ) -> None:
        self.function = function
        self.inputs = inputs
        self.outputs = outputs
        self.is_several: bool = loops is not None
        self.loops: Index = outputs[0].index if loops is None else loops
        names = zip(outputs[0].index, outputs[0].chunks, strict=True)
        self.chunks: dict[int, tuple[int, ...]] = dict(names)

    def places(self) -> tuple[int, ...]:
        """Return the positions of the tracked arguments."""
        return tuple(place for place, one in enumerate(self.inputs) if one.is_tracked)

    def pulled_from(self) -> tuple[int, ...] | None:
        """Return which of several outputs have cotangents; None for a single output."""
        floating = (place for place, one in enumerate(self.outputs) if one.is_floating)
        return tuple(floating) if self.is_several else None

    def run(self, arrays: Sequence[Any]) -> Any:
        """Return the results as Dask arrays, given Dask arrays for the tracked arguments."""
        if self.is_several:
            return self.results(self._objects(self.function, arrays))
        return _over(self.function, self.outputs[0], *self._given(arrays))

    def recorded(self, arrays: Sequence[Any]) -> Any:
        """Return a Dask array of the `Held` of each block."""
        return self._objects(_Recorded(self.function, self.places()), arrays)

    def results(self, held: Any) -> Any:
        """Return Dask arrays of the results in `held`."""
        found = tuple(
            _over(
                _Result(self.function, place if self.is_several else None),
                one,
                [held],
                [self.loops],
            )
            for place, one in enumerate(self.outputs)
        )
        return found if self.is_several else found[0]

    def _given(self, arrays: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """Return the arguments of all blocks, and their indices."""
        rest = iter(plain(arrays))
        values = [next(rest) if one.is_tracked else one.constant for one in self.inputs]
        pairs = zip(values, self.inputs, strict=True)
        return (
            [lists_of_blocks(value, one.groups) if one.groups else value for value, one in pairs],
            [one.index for one in self.inputs],
        )

    def _objects(self, function: Any, arrays: Sequence[Any]) -> Any:
        return _over(function, self._of_objects(), *self._given(arrays))

    def _of_objects(self) -> Output:
        nothing = np.empty((0,) * len(self.loops), dtype=object)
        chunks = tuple(self.chunks[name] for name in self.loops)
        return Output(self.loops, chunks, object, nothing)

    def _of_cotangents(self, g: Any) -> tuple[list[Any], list[Any]]:
        """Return the cotangents of the outputs in their chunks, and their indices."""
        several = self.pulled_from()
        known = [(g, self.outputs[0])]
        if several is not None:
            known = [(g[place], self.outputs[place]) for place in several]
        return [in_chunks(a, one.chunks) for a, one in known], [one.index for _, one in known]

    def pulled(self, arrays: Sequence[Any], held: Any, g: Any) -> list[Any]:
        """Return the cotangents of the tracked arguments from the tapes in `held`."""
        values, indices = self._of_cotangents(g)
        gradient = _Gradient(self.function, self.pulled_from())
        joint = _over(gradient, self._of_objects(), [held, *values], [self.loops, *indices])
        found: list[Any] = []
        for number, (place, array) in enumerate(zip(self.places(), arrays, strict=True)):
            axes = self._axes(place, array)
            part = _Part(cotangents, number, axes.lead)
            found.append(axes.summed(_over(part, axes.output(array), [joint], [self.loops]), array))
        return found

    def pulled_anew(self, arrays: Sequence[Any], g: Any) -> list[Any]:
        """Return the cotangents of the tracked arguments by operations that are recorded."""
        values, indices = self._of_cotangents(g)
        inputs = (*self.inputs, *(Input(True, None, index) for index in indices))
        found: list[Any] = []
        for place, array in zip(self.places(), arrays, strict=True):
            axes = self._axes(place, array)
            pulled = _Pulled(self.function, (place,), self.pulled_from())
            call = Call(_Part(pulled, 0, axes.lead), inputs, (axes.output(array),))
            found.append(axes.summed(over_blocks(call, (*arrays, *values)), array))
        return found

    def _axes(self, place: int, array: Any) -> _Axes:
        own, groups = self.inputs[place].index, self.inputs[place].groups
        chunks = innermost(array).chunks
        blocks = {name: len(self.chunks[name]) for name in self.loops}
        if own is None:  # each block has read the whole of it
            own, chunks = (-1,) * array.ndim, tuple((length,) for length in array.shape)
        of_own = dict(zip(own, map(len, of_groups(chunks, groups)), strict=False))
        shared = tuple(
            name for name in self.loops if name not in own or of_own[name] < blocks[name]
        )
        known = [index for i in self.inputs if (index := i.index)]
        known += [one.index for one in self.outputs]
        fresh = 1 + max((name for index in known for name in index), default=0)
        rest = tuple(
            name if name in self.loops and name not in shared else fresh + axis
            for axis, name in enumerate(own)
        )
        leading = tuple((1,) * blocks[name] for name in shared)
        shifted = {axis + len(shared): count for axis, count in groups.items()}
        return _Axes(len(shared), (*shared, *rest), (*leading, *chunks), shifted)


@dataclasses.dataclass(frozen=True)
class _Axes:
    """The blocks of a cotangent before its sum over the first `lead` axes."""

    lead: int
    index: Index
    chunks: Any
    groups: Mapping[int, int]

    def output(self, array: Any) -> Output:
        """Return the cotangents as an output, in lists where the function has taken lists."""
        data = innermost(array)
        meta = meta_from_array(data._meta, ndim=len(self.index), dtype=data.dtype)
        return Output(self.index, of_groups(self.chunks, self.groups), data.dtype, meta)

    def summed(self, parts: Any, array: Any) -> Any:
        """Return the cotangent of the array from its parts."""
        if self.groups:
            chunks, groups = self.chunks, self.groups
            parts = linear(
                lambda a: _blocks_of_lists(a, groups, chunks),
                lambda g: lists_of_blocks(in_chunks(g, chunks), groups),
                parts,
            )
        total = parts.sum(axis=tuple(range(self.lead))) if self.lead else parts
        return in_chunks(total, innermost(array).chunks)


# Lists of blocks ----------------------------------------------------------------------------------


def of_groups(chunks: Any, groups: Mapping[int, int]) -> Any:
    """Return the lengths of groups of neighbouring chunks."""
    return tuple(
        tuple(sum(own[at : at + groups[axis]]) for at in range(0, len(own), groups[axis]))
        if axis in groups
        else own
        for axis, own in enumerate(chunks)
    )


def lists_of_blocks(x: Any, groups: Mapping[int, int]) -> Any:
    """Return an array whose blocks are lists of neighbouring blocks, nested by axes."""
    chunks = of_groups(x.chunks, groups)

    def nested(place: tuple[int, ...], head: tuple[int, ...] = ()) -> Any:
        axis = len(head)
        if axis == x.ndim:
            return (x.name, *head)
        if axis not in groups:
            return nested(place, (*head, place[axis]))
        first = place[axis] * groups[axis]
        last = min(first + groups[axis], x.numblocks[axis])
        return [nested(place, (*head, at)) for at in range(first, last)]

    name = f"neighbours-{tokenize(x.name, groups)}"
    tasks = {(name, *at): (cotangents, nested(at)) for at in np.ndindex(*map(len, chunks))}
    return _array(tasks, name, x, chunks)


def _blocks_of_lists(x: Any, groups: Mapping[int, int], chunks: Any) -> Any:
    """Transpose `lists_of_blocks`: return the array of the blocks in the lists."""
    name = f"cotangents-{tokenize(x.name, groups)}"
    tasks = {
        (name, *at): (
            _item,
            (x.name, *(one // groups.get(axis, 1) for axis, one in enumerate(at))),
            [one % groups[axis] for axis, one in enumerate(at) if axis in groups],
        )
        for at in np.ndindex(*map(len, chunks))
    }
    return _array(tasks, name, x, chunks)


def _item(lists: Any, path: list[int]) -> Any:
    for place in path:
        lists = lists[place]
    return lists


def _array(tasks: Any, name: str, x: Any, chunks: Any) -> Any:
    graph = HighLevelGraph.from_collections(name, tasks, dependencies=[x])
    return da.Array(graph, name, chunks, dtype=x.dtype, meta=x._meta)


# The derivative -----------------------------------------------------------------------------------


def _run(call: Call, arrays: tuple[Any, ...]) -> Any:
    return call.run(arrays)


def _forward(call: Call, arrays: tuple[Any, ...]) -> tuple[Any, Any]:
    if is_recorded(arrays):  # by a transform around this one
        return over_blocks(call, arrays), (arrays, None)
    held = _Opaque(call.recorded(arrays))
    return call.results(held.array), (arrays, held)


def _backward(call: Call, residuals: Any, g: Any) -> tuple[Any]:
    arrays, held = residuals
    if held is None or is_recorded([arrays, g]):
        return (tuple(call.pulled_anew(arrays, g)),)
    return (tuple(call.pulled(arrays, held.array, g)),)


class _Opaque:
    """A wrapper that hides an array of objects from the tape."""

    def __init__(self, array: Any) -> None:
        self.array = array


over_blocks: Any = custom_vjp(_run, nondiff_argnums=0)
over_blocks.defvjp(_forward, _backward)
