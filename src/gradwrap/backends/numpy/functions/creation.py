"""New arrays like others, and questions about arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwrap.backends.numpy.functions.converting import memory_order, sizes
from gradwrap.backends.numpy.functions.table import asked, cast, implements, in_order, on_values
from gradwrap.core.levels.memory import one_array
from gradwrap.core.levels.wrapper import AnyWrapper, innermost, is_recorded, unwrapped_key
from gradwrap.rules.creation import open_grid


@implements(
    "linspace"
    "(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None)"
)
def linspace(
    xp: Any,
    start: Any,
    stop: Any,
    num: int,
    endpoint: bool,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    dtype = None if dtype is None else np.dtype(dtype)
    points = xp.linspace(start, stop, num, dtype=dtype, endpoint=endpoint)
    points = _laid_out(xp, points, None, axis)
    step = (xp.asarray(stop) - start) / (num - 1 if endpoint else num)
    return (points, step) if retstep else points


@implements(
    "logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0)",
    "geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0)",
)
def spaced_in_logarithm(
    xp: Any,
    name: str,
    start: Any,
    stop: Any,
    num: int,
    endpoint: bool,
    base: Any = None,
    **out: Any,
) -> Any:
    """Space the logarithms evenly; both ends of a real `geomspace` have one sign."""
    if name == "logspace":
        base = xp.asarray(base)
        if base.ndim:  # the new axis comes before those of all three
            ends = [xp.asarray(end) for end in (start, stop)]
            ndim = max(base.ndim, *(end.ndim for end in ends))
            start, stop = (xp.reshape(x, (1,) * (ndim - x.ndim) + tuple(x.shape)) for x in ends)
        return _laid_out(xp, xp.pow(base, linspace(xp, start, stop, num, endpoint)), **out)
    ends = [xp.asarray(end) for end in (start, stop)]
    dtype = np.result_type(*(end.dtype for end in ends), np.dtype(out["dtype"] or np.float64))
    start, stop = (xp.astype(end, dtype, copy=False) for end in ends)
    signs = xp.stop_gradient(xp.sign(start))
    products = innermost(signs) * innermost(xp.sign(stop))
    if (products == 0).any() or (dtype.kind == "f" and (products < 0).any()):
        raise ValueError("Geometric sequence cannot include zero, or change its sign")
    start, stop = start / signs, stop / signs
    exponents = linspace(xp, xp.log10(start), xp.log10(stop), num, endpoint)
    found = xp.pow(xp.asarray(10.0), exponents)
    if num > 0:
        found[0] = start
    if num > 1 and endpoint:
        found[-1] = stop
    return _laid_out(xp, found * signs, **out)


def _laid_out(xp: Any, found: Any, dtype: Any, axis: int) -> Any:
    return cast(xp, found if axis == 0 else xp.moveaxis(found, 0, axis), dtype)


LISTS_OPEN_GRIDS = np.lib.NumpyVersion(np.__version__) < "2.5.0"


@implements("meshgrid(*xi, copy=True, sparse=False, indexing='xy')", always=True)
def meshgrid(xp: Any, *xi: Any, copy: bool, sparse: bool, indexing: str) -> Any:
    """Repeat each vector of coordinates along the axes of the others."""
    grids = open_grid(xp, xi, indexing)
    grids = grids if sparse else xp.broadcast_arrays(*grids)
    if copy:
        grids = [xp.copy(grid, order="C") for grid in grids]
    return grids if sparse and not copy and LISTS_OPEN_GRIDS else tuple(grids)


@implements(
    "zeros_like ones_like(a, dtype=None, order='K', subok=True, shape=None, *, device=None)",
    "empty_like(prototype, /, dtype=None, order='K', subok=True, shape=None, *, device=None)",
    "full_like(a, fill_value, dtype=None, order='K', subok=True, shape=None, *, device=None)",
)
def like(xp: Any, name: str, dtype: Any, order: str, shape: Any, **rest: Any) -> Any:
    order = memory_order(order)
    a, *filling = (rest[word] for word in ("a", "prototype", "fill_value") if word in rest)
    a = a if hasattr(a, "shape") else np.asarray(a)
    if dtype is not None and np.dtype(dtype).kind not in "biufc":  # texts, dates, objects
        made: Any = getattr(np, name.removesuffix("_like"))
        return made(a.shape if shape is None else sizes(shape), *filling, dtype=dtype)
    if shape is None and not filling:
        return in_order(getattr(xp, name)(a, dtype=dtype), order, a)
    dtype = a.dtype if dtype is None else np.dtype(dtype)
    shape = a.shape if shape is None else sizes(shape)
    found = getattr(xp, name.removesuffix("_like"))(shape, *filling, dtype=dtype)
    return in_order(found, order, a)


def _like_one_example(x: Any) -> Any:
    """Return a native array of the shape and dtype of one example."""
    if not isinstance(x, AnyWrapper):
        return x
    return np.broadcast_to(np.empty((), innermost(x).dtype), x.shape)


def _as_one_example(x: Any) -> Any:
    """Return the native array of a wrapper; for a batch, the array of its first example."""
    return one_array(x) if isinstance(x, AnyWrapper) else x


# shapes and dtypes, which all examples have in common under `vmap`
on_values(
    "can_cast common_type iscomplexobj isrealobj ndim shape size result_type",
    seen_as=_like_one_example,
)
on_values(
    "allclose argwhere array2string array_equal array_equiv array_repr array_str "
    "count_nonzero diag_indices_from digitize einsum_path flatnonzero iscomplex isclose "
    "isneginf isposinf isreal min_scalar_type ravel_multi_index "
    "tril_indices_from triu_indices_from unravel_index"
)
on_values("may_share_memory shares_memory", seen_as=_as_one_example)


@implements("ix_(*args)")
def ix_(xp: Any, *args: Any) -> Any:
    """Let NumPy make the open mesh of the values, and reshape tracked numbers to it."""
    mesh = asked(np.ix_, unwrapped_key, xp, *args)
    return tuple(
        xp.reshape(xp.asarray(arg), one.shape) if is_recorded(arg) else one
        for arg, one in zip(args, mesh, strict=True)
    )
