"""Reductions with the user's functions, `topk`, and histograms with weights.

A reduction is a tree of functions of blocks: one for each block, then one for each group of
neighbouring results. Each level is a call of its own, whose cotangents go back to the level before.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.dask.blocks import applied, as_dask, own_axes
from gradwrap.dask.calls import OfBlocks, Output, of_groups
from gradwrap.dask.indexing import as_axes
from gradwrap.dask.linear import in_chunks, is_tracked, plain
from gradwrap.dask.untyped import LIST
from gradwrap.errors import NoRuleError
from gradwrap.extend import innermost
from gradwrap.tree import flatten, unflatten

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.tree import TreeDef

    da: Any
    chunk_functions: Any
    meta_from_array: Any
    config: Any
    funcname: Any
    has_keyword: Any
else:
    import dask.array as da
    from dask import config
    from dask.array import chunk as chunk_functions
    from dask.array.utils import meta_from_array
    from dask.utils import has_keyword


def reduction(  # noqa: PLR0913  Dask's parameters
    x: Any,
    chunk: Callable[..., Any],
    aggregate: Callable[..., Any],
    axis: Any = None,
    keepdims: bool = False,
    dtype: Any = None,
    split_every: Any = None,
    combine: Callable[..., Any] | None = None,
    name: str | None = None,
    out: Any = None,
    concatenate: bool = True,
    output_size: int = 1,
    meta: Any = None,
    weights: Any = None,
) -> Any:
    """Reduce axes by functions of blocks, as `dask.array.reduction`, differentiably.

    The functions are differentiated on the workers: they are written in NumPy. With
    `concatenate=False`, they may return dictionaries, lists and tuples, and take lists of them.
    """
    words: dict[str, Any] = {"axis": axis, "keepdims": keepdims, "dtype": dtype, "name": name}
    words |= {"split_every": split_every, "combine": combine, "concatenate": concatenate}
    words |= {"output_size": output_size, "meta": meta, "out": out}
    is_recorded = is_tracked([x, weights])
    if is_recorded and out is not None:
        raise NoRuleError(
            "dask.array.reduction of a tracked array with out= has no rule. Fix: omit it, and use "
            "the result."
        )
    given, weights_given = map(innermost, (x, weights))
    like = da.reduction(given, chunk, aggregate, weights=weights_given, **words)
    if not is_recorded or np.dtype(like.dtype).kind not in "fc":
        return like
    axes = as_axes(axis, x.ndim)
    functions = [
        functools.partial(one, axis=axes, **({"dtype": dtype} if has_keyword(one, "dtype") else {}))
        for one in (chunk, combine or aggregate, aggregate)
    ]
    inputs = [as_dask(x)]
    if weights is not None:
        inputs.append(in_chunks(np.broadcast_to(as_dask(weights), x.shape), given.chunks))
    first = functools.partial(functions[0], keepdims=True)
    tree = _Tree((like.dtype,), None) if concatenate else _probed(first, inputs)
    level = _Level(axes, lambda _: output_size, like, tree)
    return level.reduced(functions, inputs, keepdims, split_every)


def _groups(axes: tuple[int, ...], split_every: Any) -> dict[int, int]:
    """Return how many results are reduced at a time along each axis, as Dask does."""
    every: Any = split_every or config.get("split_every", 4)
    if hasattr(every, "get"):
        return {axis: every.get(axis, 2) for axis in axes}
    return dict.fromkeys(axes, max(int(every ** (1 / (len(axes) or 1))), 2))


@dataclasses.dataclass(frozen=True)
class _Tree:
    """The dtypes of the arrays in a partial result, and its structure; None for a plain array."""

    dtypes: tuple[Any, ...]
    structure: TreeDef | None


def _probed(chunk: Callable[..., Any], inputs: Sequence[Any]) -> _Tree:
    """Return the result of a function for a block of one element."""
    try:
        found = chunk(*(np.ones((1,) * one.ndim, dtype=one.dtype) for one in inputs))
    except Exception as error:
        raise NoRuleError(
            "dask.array.reduction of a tracked array with concatenate=False calls chunk with a "
            f"block of one element, to see what it returns, and it raised: {error!r}. Fix: let "
            "chunk accept such a block; or let it return an array, and omit concatenate=False."
        ) from error
    leaves, structure = flatten(found)
    return _Tree(tuple(np.asarray(leaf).dtype for leaf in leaves), structure)


@dataclasses.dataclass(frozen=True)
class _Arrays(OfBlocks):
    """A function of blocks that returns the arrays in its result."""

    tree: _Tree

    def __call__(self, *blocks: Any) -> Any:
        return self.arrays(self.function(*blocks))

    def arrays(self, result: Any) -> Any:
        if self.tree.structure is None:
            return result
        leaves, structure = flatten(result)
        if structure != self.tree.structure:
            raise TypeError(
                f"{self.__name__} returned {structure}, and chunk {self.tree.structure} for a "
                "block of one element. Fix: return one structure from chunk and combine."
            )
        return tuple(leaves)


@dataclasses.dataclass(frozen=True)
class _OfLists(_Arrays):
    """A function of neighbouring partial results, in lists or joined."""

    axes: tuple[int, ...]
    is_partial: bool

    def __call__(self, *lists: Any) -> Any:
        structure = self.tree.structure
        if structure is None:
            return self.function(_concatenated(lists[0], sorted(self.axes)))
        result = self.function(_zipped(structure, lists))
        return self.arrays(result) if self.is_partial else result


def _concatenated(lists: Any, axes: Sequence[int]) -> Any:
    if not axes:
        return lists
    parts = [_concatenated(one, axes[1:]) for one in lists]
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=axes[0])


def _zipped(structure: TreeDef, lists: Sequence[Any]) -> Any:
    """Return lists of trees for a list of each leaf."""
    if isinstance(lists[0], LIST):
        return [_zipped(structure, parts) for parts in zip(*lists, strict=True)]
    return unflatten(structure, lists)


@dataclasses.dataclass(frozen=True)
class _Level:
    """The levels of a reduction: a function of blocks, then functions of lists of blocks."""

    axes: tuple[int, ...]
    length: Callable[[int], int]
    """The length of a partial result of so many elements along each axis."""
    like: Any
    tree: _Tree

    def reduced(
        self, functions: Sequence[Any], inputs: Sequence[Any], keepdims: bool, split_every: Any
    ) -> Any:
        """Return the reduction by functions of blocks, of partial results, and of the last ones."""
        first, middle = (functools.partial(one, keepdims=True) for one in functions[:2])
        last = functools.partial(functions[2], keepdims=keepdims)
        groups = _groups(self.axes, split_every)
        parts = self._partial(_Arrays(first, self.tree), inputs, {})
        while any(innermost(parts[0]).numblocks[axis] > n for axis, n in groups.items()):
            parts = self._partial(_OfLists(middle, self.tree, self.axes, True), parts, groups)
        index = tuple(i for i in range(inputs[0].ndim) if keepdims or i not in self.axes)
        result = Output(index, self.like.chunks, self.like.dtype, self.like._meta)
        function = _OfLists(last, self.tree, self.axes, False)
        return self._applied(function, parts, groups, (result,), None)

    def _partial(self, function: Any, inputs: Sequence[Any], groups: dict[int, int]) -> Any:
        """Return the arrays of partial results."""
        index = tuple(range(inputs[0].ndim))
        chunks = of_groups(innermost(inputs[0]).chunks, groups)
        chunks = tuple(
            tuple(map(self.length, own)) if axis in self.axes else own
            for axis, own in enumerate(chunks)
        )
        outputs = tuple(
            Output(index, chunks, dtype, meta_from_array(self.like._meta, len(index), dtype))
            for dtype in self.tree.dtypes
        )
        is_array = self.tree.structure is None
        found = self._applied(function, inputs, groups, outputs, None if is_array else index)
        return (found,) if is_array else found

    def _applied(self, function: Any, inputs: Any, groups: Any, outputs: Any, loops: Any) -> Any:
        indices = [tuple(range(one.ndim)) for one in inputs]
        lists = [groups] * len(inputs)
        return applied(function, inputs, indices, {}, outputs, loops=loops, groups=lists)


def topk(a: Any, k: int, axis: int = -1, split_every: Any = None) -> Any:
    """Return the k largest elements along an axis, as `dask.array.topk`, differentiably.

    For a negative `k`, they are the smallest ones. Of equal elements, those get the cotangents that
    NumPy's partition selects.
    """
    if not is_tracked(a):
        return da.topk(*plain([a]), k, axis, split_every)
    axes = as_axes(axis, a.ndim)
    count = min(abs(k), a.shape[axis])  # where there are fewer, Dask itself claims k
    k = count if k > 0 else -count
    like = da.topk(innermost(a), k, axis, split_every)
    part, last = (
        functools.partial(one, k=k, axis=axes)
        for one in (chunk_functions.topk, chunk_functions.topk_aggregate)
    )
    level = _Level(axes, lambda length: min(count, length), like, _Tree((like.dtype,), None))
    return level.reduced((part, part, last), (a,), True, split_every)


def argtopk(a: Any, k: int, axis: int = -1, split_every: Any = None) -> Any:
    """Return the positions of the k largest elements, which are constants."""
    return da.argtopk(*plain([a]), k, axis, split_every)


def histogram(  # noqa: PLR0913  Dask's parameters
    a: Any,
    bins: Any = None,
    range: Any = None,
    normed: Any = False,
    weights: Any = None,
    density: Any = None,
) -> Any:
    """Sum the weights in each bin, as `dask.array.histogram`: differentiable in the weights.

    Counts are constants: they do not change with the values, except where a value is at an edge.
    """
    if is_tracked([bins, range]):
        raise NoRuleError(
            "dask.array.histogram with tracked edges has no rule: the sums jump where an edge "
            "passes a value. Fix: .detach() the edges."
        )
    (values,) = plain([a])
    words = {"normed": normed, "density": density}
    counts, edges = da.histogram(values, bins, range, weights=innermost(weights), **words)
    if not is_tracked(weights):
        return counts, edges
    index = own_axes(values)
    chunks = (*((1,) * len(own) for own in values.chunks), counts.chunks[0])
    output = Output((*index, values.ndim), chunks, counts.dtype, np.empty((0,) * (values.ndim + 1)))
    given = {"edges": edges}
    sums = applied(_sums, (values, as_dask(weights)), (index, index), given, (output,))
    sums = sums.sum(axis=index)
    if density:
        sums = sums / np.diff(edges) / sums.sum()
    return sums, edges


def _sums(values: Any, weights: Any, edges: Any) -> Any:
    """Sum the weights of a block in each bin; a value at the last edge is in the last bin."""
    if weights.dtype.kind == "c":
        return _sums(values, weights.real, edges) + 1j * _sums(values, weights.imag, edges)
    count = len(edges) - 1
    untyped: Any = np
    flat: Any = values.ravel()
    places = untyped.searchsorted(edges, flat, side="right") - 1
    places = np.where(flat == edges[-1], count - 1, places)
    places = np.where(places < 0, count, places)
    sums = np.bincount(places, weights.reshape(-1), minlength=count + 1)[:count]
    return sums[(None,) * values.ndim].astype(weights.dtype)
