"""Linear operations that move elements between chunks, each with its transpose."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

import gradwrap.numpy as drop_in
from gradwrap import custom_vjp
from gradwrap.errors import NoRuleError
from gradwrap.extend import innermost, is_mapped, is_recorded, native
from gradwrap.tree import flatten

if TYPE_CHECKING:
    from collections.abc import Callable

    da: Any
else:
    import dask.array as da


numpys: Any = drop_in


def plain(values: Any) -> list[Any]:
    """Return the values without wrappers."""
    return list(map(native, values))


def is_tracked(values: Any) -> bool:
    """Tell if a function of blocks must be recorded. Arrays that `vmap` maps over are refused."""
    if is_mapped(values):
        plain(flatten(values)[0])
    return is_recorded(values)


def linear(forward: Callable[[Any], Any], transpose: Callable[[Any], Any], x: Any) -> Any:
    """Apply a linear function of Dask's arrays, recorded if the array is tracked."""
    return _linear(forward, transpose, x) if is_recorded(x) else forward(*plain([x]))


def _apply(forward: Any, transpose: Any, x: Any) -> Any:  # noqa: ARG001  the parameters of `linear`
    return forward(x)


def _forward(forward: Any, transpose: Any, x: Any) -> tuple[Any, None]:
    return _linear(forward, transpose, x), None


def _backward(forward: Any, transpose: Any, _: None, g: Any) -> tuple[Any]:
    return (_linear(transpose, forward, g),)


_linear: Any = custom_vjp(_apply, nondiff_argnums=(0, 1))
_linear.defvjp(_forward, _backward)


def in_chunks(x: Any, chunks: Any) -> Any:
    """Return the array in these chunks; itself if it has them, or if a length is unknown."""
    data = innermost(x)
    if not isinstance(data, da.Array) or data.chunks == chunks or is_unknown(data.chunks, chunks):
        return x
    return rechunk(x, chunks)


def is_unknown(*chunks: Any) -> bool:
    """Tell if a length is unknown."""
    return any(math.isnan(length) for one in chunks for axis in one for length in axis)


def rechunk(x: Any, *args: Any, **options: Any) -> Any:
    """Give the array other chunks, as `dask.array.rechunk`; the gradient keeps the old chunks.

    A batch of `vmap` has more axes than are seen here, and stays in its chunks.
    """
    if is_mapped(x):
        return x
    chunks = innermost(x).chunks
    return linear(lambda a: a.rechunk(*args, **options), lambda g: in_chunks(g, chunks), x)


def spread(g: Any, chunks: Any) -> Any:
    """Repeat an array along its axes of length one, in chunks that are views of its own."""
    own = [(1,) if axis == (1,) else other for axis, other in zip(g.chunks, chunks, strict=True)]
    g, axes = in_chunks(g, tuple(own)), [i for i, one in enumerate(own) if one != chunks[i]]
    shapes = da.ones(tuple(map(sum, chunks)), chunks=chunks)  # each chunk is one number
    return linear(
        lambda a: da.map_blocks(_spread_block, a, shapes, dtype=a.dtype, meta=a._meta),
        lambda c: c.sum(axis=tuple(axes), keepdims=True),
        g,
    )


def _spread_block(block: Any, like: Any) -> Any:
    return np.broadcast_to(block, like.shape)


def persist(x: Any, **options: Any) -> Any:
    """Compute the array and keep it on the workers, as the method `persist` does."""
    return linear(lambda a: a.persist(**options), lambda g: g, x)


def compute(x: Any, **options: Any) -> Any:
    """Return the values as an array of NumPy, as the method `compute` does.

    The gradient is in the chunks of `x`. A batch of `vmap` is refused.
    """
    if not is_tracked(x):
        return native(x).compute(**options)
    chunks = innermost(x).chunks
    return linear(lambda a: a.compute(**options), lambda g: from_array(g, chunks), x)


def from_array(x: Any, *args: Any, **options: Any) -> Any:
    """Put an array of NumPy into chunks, as `dask.array.from_array`; the gradient is computed."""
    if is_mapped(x):
        return np.add(x, da.zeros((), dtype=innermost(x).dtype))
    if not is_recorded(x):
        return da.from_array(native(x), *args, **options)
    return linear(lambda a: da.from_array(a, *args, **options), compute, x)


def asarray(a: Any, dtype: Any = None, **options: Any) -> Any:
    """Return an array of Dask, as `dask.array.asarray`; a tracked array of NumPy gets chunks."""
    if not is_recorded(a):
        return da.asarray(native(a), dtype=dtype, **options)
    array = numpys.asarray(a)
    array = array if isinstance(innermost(array), da.Array) else from_array(array, "auto")
    return array if dtype is None else array.astype(dtype)


def pad(array: Any, pad_width: Any, mode: Any = "constant", **options: Any) -> Any:
    """Pad the axes, as `dask.array.pad`; the old elements stay in their chunks."""
    if not is_recorded([array, options]):
        return da.pad(*plain([array]), pad_width, mode, **plain_options(options))
    widths = np.broadcast_to(pad_width, (array.ndim, 2)).tolist()
    if mode in REPEATING and not options:
        for axis, (before, after) in enumerate(widths):
            if before or after:
                array = _repeated(array, axis, before, after, mode)
        return array
    if mode != "constant" or is_recorded(options):
        raise NoRuleError(
            f"dask.array.pad of a tracked array has a rule for {', '.join(REPEATING)} and for a "
            f"constant that is not tracked, not for {mode!r} with such options. Fix: concatenate "
            "slices of the array."
        )
    inside = tuple(
        slice(before, before + length)
        for (before, _), length in zip(widths, array.shape, strict=True)
    )
    zeros = da.zeros_like(innermost(array))
    ends = da.pad(zeros, pad_width, mode, **options)
    return ends + linear(
        lambda a: da.pad(a, pad_width), lambda g: in_chunks(g[inside], zeros.chunks), array
    )


REPEATING = ("edge", "reflect", "symmetric", "wrap")
"""The modes of `pad` that repeat elements of the array."""


def plain_options(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options without wrappers."""
    return dict(zip(options, plain(options.values()), strict=True))


def _repeated(array: Any, axis: int, before: int, after: int, mode: str) -> Any:
    """Pad an axis with repeated elements, by joining slices of the array."""
    untyped: Any = np
    places: list[int] = untyped.pad(np.arange(array.shape[axis]), (before, after), mode).tolist()
    parts: list[Any] = []
    first = 0
    while first < len(places):
        step = places[first + 1] - places[first] if first + 1 < len(places) else 1
        step = step if step in (-1, 0, 1) else 1
        last = first + 1
        while last < len(places) and places[last] - places[last - 1] == step:
            last += 1
        start, count = places[first], last - first
        stop = start + (count * step if step else 1)
        part = array[(slice(None),) * axis + (slice(start, None if stop < 0 else stop, step or 1),)]
        parts += [part] * (1 if step else count)
        first = last
    return np.concatenate(parts, axis=axis)


def diag(v: Any, k: int = 0) -> Any:
    """Make a diagonal matrix of a vector, or take the diagonal, as `dask.array.diag`."""
    if innermost(v).ndim != 1:
        return np.diagonal(v, k)
    return linear(lambda a: da.diag(a, k), lambda g: np.diagonal(g, k), v)
