"""New arrays like others, and questions about arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwrap.backends.numpy_functions.table import (
    IMPLEMENTATIONS,
    Implementation,
    implements,
    on_values,
    sizes,
)
from gradwrap.core.wrapper import Wrapper, innermost, native
from gradwrap.rules.creation import open_grid


@implements(np.linspace)
def linspace(
    xp: Any,
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Any:
    dtype = None if dtype is None else np.dtype(dtype)
    points = xp.linspace(start, stop, num, dtype=dtype, endpoint=endpoint)
    points = points if axis == 0 else xp.moveaxis(points, 0, axis)
    step = (xp.asarray(stop) - start) / (num - 1 if endpoint else num)
    return (points, step) if retstep else points


@implements(np.logspace)
def logspace(
    xp: Any,
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    exponents = linspace(xp, start, stop, num, endpoint)
    found = xp.pow(xp.asarray(base), exponents)
    found = found if axis == 0 else xp.moveaxis(found, 0, axis)
    return found if dtype is None else xp.astype(found, np.dtype(dtype))


@implements(np.geomspace)
def geomspace(
    xp: Any,
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    """By the logarithms; both ends have one sign."""
    start, stop = xp.asarray(start), xp.asarray(stop)
    signs = np.sign(native(start))
    if np.any(signs * np.sign(native(stop)) <= 0):
        raise ValueError("Geometric sequence cannot include zero, or change its sign")
    found = xp.exp(linspace(xp, xp.log(start * signs), xp.log(stop * signs), num, endpoint))
    found = found * signs
    found = found if axis == 0 else xp.moveaxis(found, 0, axis)
    return found if dtype is None else xp.astype(found, np.dtype(dtype))


@implements(np.meshgrid)
def meshgrid(
    xp: Any, *xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy"
) -> tuple[Any, ...]:
    """Coordinates repeated along the other axes."""
    grids = open_grid(xp, xi, indexing)
    grids = grids if sparse else xp.broadcast_arrays(*grids)
    return tuple(xp.copy(grid) if copy else grid for grid in grids)


def _like(name: str) -> Implementation:
    def like(
        xp: Any,
        a: Any,
        dtype: Any = None,
        order: str = "K",
        subok: bool = True,
        shape: Any = None,
        *,
        device: Any = None,
    ) -> Any:
        if shape is not None:
            return getattr(xp, name.removesuffix("_like"))(
                sizes(shape), dtype=a.dtype if dtype is None else dtype
            )
        return getattr(xp, name)(a, dtype=dtype)

    return like


for _name in ("zeros_like", "ones_like"):
    IMPLEMENTATIONS[getattr(np, _name)] = _like(_name)


@implements(np.empty_like)
def empty_like(xp: Any, prototype: Any, *args: Any, **options: Any) -> Any:
    return _like("empty_like")(xp, prototype, *args, **options)


@implements(np.full_like)
def full_like(
    xp: Any,
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Any:
    dtype = a.dtype if dtype is None else np.dtype(dtype)
    return xp.full(a.shape if shape is None else sizes(shape), fill_value, dtype=dtype)


def _about(function: Any) -> None:
    """Questions about shapes and dtypes, which all examples have in common under `vmap`."""

    @implements(function)
    def ask(xp: Any, *args: Any, **kwargs: Any) -> Any:
        named = {k: _like_one_example(v) for k, v in kwargs.items()}
        return function(*(_like_one_example(a) for a in args), **named)


def _like_one_example(x: Any) -> Any:
    """A native array of the shape and dtype of what a function sees."""
    if not isinstance(x, Wrapper):
        return x
    return np.broadcast_to(np.empty((), innermost(x).dtype), x.shape)


for _function in (
    np.can_cast,
    np.common_type,
    np.iscomplexobj,
    np.isrealobj,
    np.ndim,
    np.shape,
    np.size,
    np.result_type,
):
    _about(_function)
on_values(
    np.allclose,
    np.argwhere,
    np.array2string,
    np.array_equal,
    np.array_equiv,
    np.array_repr,
    np.array_str,
    np.bincount,
    np.count_nonzero,
    np.diag_indices_from,
    np.digitize,
    np.einsum_path,
    np.flatnonzero,
    np.iscomplex,
    np.isclose,
    np.isin,
    np.isneginf,
    np.isposinf,
    np.isreal,
    np.ix_,
    np.may_share_memory,
    np.min_scalar_type,
    np.ravel_multi_index,
    np.searchsorted,
    np.shares_memory,
    np.tril_indices_from,
    np.triu_indices_from,
    np.unravel_index,
)
