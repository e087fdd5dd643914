"""The backend of Dask, whose lazy arrays are divided into chunks, some of unknown shape.

The tape stays with the caller, chunks stay with the workers: all that is here builds more of
Dask's task graph, and computes nothing.
"""

from __future__ import annotations

import itertools
import math
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from gradwrap import Backend
from gradwrap.dask import linear
from gradwrap.dask.blocks import order_statistics
from gradwrap.dask.indexing import as_axes, points, selects_points
from gradwrap.dask.protocol import class_attributes
from gradwrap.dask.untyped import TUPLE
from gradwrap.extend import (
    forward_key,
    innermost,
    is_basic_key,
    is_mapped,
    module_like,
    replace_rule,
    slice_forwards,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType

    da: Any  # it has hardly any types; not installed, a checker takes this file for it
    dask: Any
else:
    import dask
    import dask.array as da


class DaskBackend(Backend):
    """Dask: scatter-add by chunks, shapes that may be unknown, functions that Dask lacks."""

    promotes: frozenset[str] = frozenset({"numpy"})
    elsewhere: Mapping[str, str] = MappingProxyType({"special": "scipy.special"})

    def __init__(self, xp: Any, kind: type) -> None:
        super().__init__("dask", _extended(xp), frozenset({da.Array}))

    def class_attributes(self) -> dict[str, Any]:
        return class_attributes()

    def computed(self, arrays: list[Any], stay: list[bool]) -> list[Any]:
        if not any(stay):
            return list(dask.compute(*arrays))
        found: list[Any] = list(dask.persist(*arrays))
        plain = iter(dask.compute(*itertools.compress(found, [not one for one in stay])))
        return [one if stays else next(plain) for one, stays in zip(found, stay, strict=True)]

    def native(self, path: str) -> Callable[..., Any] | None:
        """Return a function of Dask, or a SciPy ufunc with one result, applied to each chunk."""
        found = super().native(path)
        if path.startswith("special."):
            return found if isinstance(found, np.ufunc) and found.nout == 1 else None
        return found or getattr(da, path, None)

    def function_of(self, function: Any) -> Callable[..., Any] | None:
        return OWN_FUNCTIONS.get(function)

    def placed(self, cotangent: Any, meta: Any) -> Any:
        return _in_chunks_of(cotangent, meta)

    def copy(self, array: Any, order: str | None = None) -> Any:
        return array.copy()

    def device(self, array: Any) -> Any:
        return Place(array)

    def meta(self, array: Any, level: int, like: Any = None) -> Any:
        if like is not None:  # cotangents are to be in these chunks
            chunks = getattr(like.device, "chunks", None)
            like = like if like.shape == array.shape and chunks == array.chunks else None
        return super().meta(array, level, like)

    def may_be_view(self, array: Any, source: Any) -> bool:
        return True  # as code written for NumPy's views expects

    def scatter_add(self, buffer: Any, key: Any, values: Any) -> Any:
        key, axes = forward_key(key, buffer.shape)
        if axes:
            return da.flip(self.scatter_add(da.flip(buffer, axes), key, values), axes)
        if 0 in values.shape:
            return buffer
        if is_basic_key(key):
            return super().scatter_add(buffer, key, values)
        places = self.xp.arange(buffer.size).reshape(buffer.shape).rechunk(buffer.chunks)
        named = _taken(places, key)
        n, k = buffer.ndim, named.ndim
        sums = da.blockwise(
            _sums_by_place,
            tuple(range(n)),
            places,
            tuple(range(n)),
            named,  # the whole of it and of the values, for each chunk of the buffer
            tuple(range(n, n + k)),
            values,
            tuple(range(n + k, n + k + values.ndim)),
            concatenate=True,
            align_arrays=False,  # lengths may be unknown
            dtype=buffer.dtype,
            meta=np.empty((0,) * buffer.ndim, dtype=buffer.dtype),
        )
        return buffer + sums


OWN_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.diag: linear.diag,
    np.pad: linear.pad,
    **{
        function: order_statistics(function)
        for function in (np.nanmedian, np.nanpercentile, np.nanquantile)
    },
}
"""NumPy's functions that NumPy composes of positions, which would be in one chunk."""


class Place(str):
    """The device of an array's chunks, and their lengths.

    So a formula's result gets the chunks of its argument.
    """

    __slots__ = ("chunks", "like")
    chunks: Any
    like: Any

    def __new__(cls, array: Any) -> Self:
        place = super().__new__(cls, "cpu")
        place.chunks, place.like = array.chunks, array._meta
        return place


def _in_chunks_of(cotangent: Any, meta: Any) -> Any:
    """Return the cotangent in its argument's chunks, unless it still has to be summed."""
    chunks = getattr(meta.device, "chunks", None)
    if chunks is None or cotangent.shape != tuple(map(sum, chunks)):
        return cotangent
    return linear.in_chunks(cotangent, chunks)


def _zeros(shape: Any, *, dtype: Any = None, device: Any = None, **options: Any) -> Any:
    """Make zeros as the standard does; in the chunks of a place if the shapes agree."""
    kind = np.float64 if dtype is None else dtype
    if isinstance(device, Place):
        options["meta"] = device.like.astype(kind)
        if shape == tuple(map(sum, device.chunks)):
            options["chunks"] = device.chunks
    return da.zeros(shape, dtype=kind, **options)


def _sums_by_place(places: Any, named: Any, values: Any) -> Any:
    """Sum, for one chunk, the values at each place in it."""
    sums: Any = np.zeros(places.size, dtype=values.dtype)
    mine, (here,) = places.ravel(), np.nonzero(np.isin(named, places).ravel())
    order = np.argsort(mine)
    slots = order[np.searchsorted(mine, named.ravel()[here], sorter=order)]
    np.add.at(sums, slots, np.broadcast_to(values, named.shape).ravel()[here])
    return sums.reshape(places.shape)


def _taken(places: Any, key: Any) -> Any:
    """Return `places[key]`, also for several integer arrays, which Dask refuses."""
    parts = key if isinstance(key, TUPLE) else (key,)
    if len(parts) < 2 or not all(hasattr(part, "dtype") for part in parts):
        return _read(da, places, key)
    if len(parts) != places.ndim:
        return points(places, parts)
    flat = 0
    for part, length in zip(parts, places.shape, strict=True):
        part = da.where(part < 0, part + length, part)  # noqa: PLW2901  from the end
        flat = flat * length + part
    return flat


def _read(xp: Any, x: Any, key: Any) -> Any:
    if selects_points(key) and isinstance(x, da.Array):
        return points(x, key)
    key, axes = forward_key(key, x.shape)
    return (xp.flip(x, axis=axes) if axes else x)[key]


def _extended(xp: Any) -> ModuleType:
    """Return the namespace with functions that Dask lacks or gets wrong."""
    return module_like(
        xp,
        broadcast_shapes=np.broadcast_shapes,
        expand_dims=_expand_dims,
        eye=_eye,
        linalg=module_like(xp.linalg, cholesky=_cholesky, svdvals=_svdvals),
        reshape=_reshape,
        take=_take,
        take_along_axis=_take_along_axis,
        zeros=_zeros,
    )


def _eye(
    n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any = None, **_: Any
) -> Any:
    """Make an identity matrix; `dask.array.eye` loses chunks of rectangular ones."""
    columns = n_rows if n_cols is None else n_cols
    on_diagonal = da.arange(n_rows)[:, None] + k == da.arange(columns)[None, :]
    return on_diagonal.astype(np.float64 if dtype is None else dtype)


def _cholesky(x: Any, /, *, upper: bool = False) -> Any:
    """Return the lower factor; array-api-compat mistakes Dask's upper factor for it."""
    return da.linalg.cholesky(x, lower=not upper)


def _svdvals(x: Any, /) -> Any:
    """Return the singular values; array-api-compat asks Dask for full matrices, which it lacks."""
    return da.linalg.svd(x, coerce_signs=False)[1]


def _expand_dims(x: Any, /, axis: int | tuple[int, ...] = 0) -> Any:
    """Insert an axis; Dask's own function needs known lengths."""
    axes = (axis,) if isinstance(axis, int) else axis
    ndim = x.ndim + len(axes)
    if not all(-ndim <= a < ndim for a in axes) or len({a % ndim for a in axes}) < len(axes):
        raise IndexError(f"axis {axis} is out of bounds for an array of {ndim} axes, or repeated")
    new = {a % ndim for a in axes}
    return x[tuple(None if a in new else slice(None) for a in range(ndim))]


def _reshape(x: Any, shape: Any, *, copy: bool | None = None) -> Any:
    """Reshape; axes of length one may be inserted between axes of unknown length."""
    unknown = isinstance(shape, TUPLE) and any(map(math.isnan, shape))
    if not unknown:
        return x.reshape(shape).copy() if copy else x.reshape(shape)
    key = [None if length == 1 else slice(None) for length in shape]
    lone = [axis for axis, length in enumerate(x.shape) if length == 1]
    whole = da.squeeze(x, axis=tuple(lone)) if lone else x
    if key.count(slice(None)) != whole.ndim:
        raise ValueError(
            f"an array of shape {x.shape} cannot be given the shape {shape}, which is not known. "
            "Fix: call x.compute_chunk_sizes() first."
        )
    return whole[tuple(key)]


def _take(x: Any, indices: Any, /, *, axis: int | None = None) -> Any:
    """Take elements; for a vector, the axis may be None, which Dask refuses."""
    return da.take(x, indices, axis=0 if axis is None and x.ndim == 1 else axis)


def _take_along_axis(x: Any, indices: Any, /, *, axis: int = -1) -> Any:
    """Take along an axis, rechunked to one chunk along it; Dask lacks this function."""
    axis %= x.ndim
    indices = da.asarray(indices)
    others = [
        (1, 1) if a == axis else lengths
        for a, lengths in enumerate(zip(x.shape, indices.shape, strict=True))
    ]
    common = np.broadcast_shapes(*zip(*others, strict=True))
    x, indices = (
        da.broadcast_to(part, (*common[:axis], part.shape[axis], *common[axis + 1 :]))
        for part in (x, indices)
    )
    chunks = {a: -1 if a == axis else "auto" for a in range(x.ndim)}
    whole = x.rechunk(chunks)
    picked = indices.rechunk({a: -1 if a == axis else whole.chunks[a] for a in range(x.ndim)})
    return da.map_blocks(
        np.take_along_axis, whole, picked, axis=axis, dtype=x.dtype, chunks=tuple(picked.chunks)
    )


# Reductions: the number of elements may be unknown until it is computed --------------------------


def _kept(xp: Any, g: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    """Put the reduced axes back, with length one."""
    return g if keepdims or not x.ndim else xp.expand_dims(g, axis=as_axes(axis, x.ndim))


def _sum(xp: Any, g: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    """Return the cotangent of a sum: repeated along the axes; the argument tells its shape."""
    kept, chunks = _kept(xp, g, x, axis, keepdims), innermost(x).chunks
    has_chunks = isinstance(innermost(kept), da.Array)  # cotangents may be NumPy's
    if not x.ndim or not has_chunks or linear.is_unknown(chunks) or is_mapped([kept, x]):
        return kept * xp.ones_like(x)
    return linear.spread(kept, chunks)


def _mean(xp: Any, g: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    return _sum(xp, g * _share(xp, x, axis, keepdims), x, axis, keepdims)


def _var(  # noqa: PLR0913  a formula's parameters
    xp: Any, g: Any, x: Any, axis: Any, correction: float, keepdims: bool
) -> Any:
    scale = 2.0 * _share(xp, x, axis, True, correction)
    deviation = x - xp.mean(x, axis=axis, keepdims=True)
    return _kept(xp, g, x, axis, keepdims) * (scale * deviation)


def _std(  # noqa: PLR0913  a formula's parameters
    xp: Any, g: Any, x: Any, out: Any, axis: Any, correction: float, keepdims: bool
) -> Any:
    """Return the standard deviation's cotangent: the variance's over 2 out; 0 for a constant."""
    nothing = out == 0
    slope = xp.where(nothing, 0.0 * out, 0.5 * g / xp.where(nothing, 1.0, out))
    return _var(xp, slope, x, axis, correction, keepdims)


def _share(xp: Any, x: Any, axis: Any, keepdims: bool, correction: float = 0) -> Any:
    """Return 1 over the number of elements along the axes, lazily if unknown; NaN over 0."""
    known = math.prod(x.shape[a] for a in as_axes(axis, x.ndim)) - correction
    if math.isnan(known):
        count = xp.sum(xp.ones_like(x), axis=axis, keepdims=keepdims) - correction
        return xp.where(count > 0, 1.0 / count, math.nan)
    return 1.0 / known if known > 0 else math.nan


def _reshaped_back(xp: Any, g: Any, x: Any) -> Any:
    """Return the cotangent of a reshape in the argument's chunks."""
    found = xp.reshape(g, x.shape)
    are_native = isinstance(found, da.Array) and isinstance(x, da.Array)
    return found.rechunk(x.chunks) if are_native and found.chunks != x.chunks else found


slice_forwards("dask")  # writing, and cotangents of parts; reading is below
replace_rule("getitem", native=_read, backend="dask")
replace_rule("reshape", _reshaped_back, backend="dask")
replace_rule("sum", _sum, backend="dask")
replace_rule("mean", _mean, backend="dask")
replace_rule("var", _var, backend="dask")
replace_rule("std", _std, backend="dask")
