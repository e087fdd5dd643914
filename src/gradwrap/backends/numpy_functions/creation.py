"""New arrays like others, and questions about arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwrap.backends.numpy_functions.table import (
    IMPLEMENTATIONS,
    Implementation,
    implements,
    sizes,
)


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
    """Between two tracked ends: each point is their mean with weights."""
    weights = xp.asarray(np.linspace(0.0, 1.0, num, endpoint=endpoint))
    start, stop = xp.asarray(start), xp.asarray(stop)
    span = stop - start
    weights = xp.reshape(weights, (num,) + (1,) * span.ndim)
    points = start * (1.0 - weights) + stop * weights
    points = points if axis == 0 else xp.moveaxis(points, 0, axis)
    points = points if dtype is None else xp.astype(points, np.dtype(dtype))
    return (points, span / (num - 1 if endpoint else num)) if retstep else points


@implements(np.meshgrid)
def meshgrid(
    xp: Any, *xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy"
) -> list[Any]:
    """Coordinates repeated along the other axes."""
    arrays = [xp.reshape(xp.asarray(x), (-1,)) for x in xi]
    count = len(arrays)
    order = list(range(count))
    if indexing == "xy" and count > 1:
        order[0], order[1] = 1, 0
    shaped = [
        xp.reshape(a, tuple(-1 if k == order[i] else 1 for k in range(count)))
        for i, a in enumerate(arrays)
    ]
    if sparse:
        return shaped
    shape = np.broadcast_shapes(*(tuple(a.shape) for a in shaped))
    return [xp.broadcast_to(a, shape) for a in shaped]


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
    dtype = a.dtype if dtype is None else dtype
    filled = xp.astype(xp.asarray(fill_value), dtype)
    return xp.copy(xp.broadcast_to(filled, a.shape if shape is None else sizes(shape)))


@implements(np.shape)
def shape(xp: Any, a: Any) -> tuple[int, ...]:
    return tuple(xp.asarray(a).shape)


@implements(np.ndim)
def ndim(xp: Any, a: Any) -> int:
    return int(xp.asarray(a).ndim)


@implements(np.size)
def size(xp: Any, a: Any, axis: Any = None) -> int:
    a = xp.asarray(a)
    return int(a.size if axis is None else a.shape[axis])


@implements(np.result_type)
def result_type(xp: Any, *args: Any) -> Any:
    return xp.result_type(*args)


@implements(np.iscomplexobj)
def iscomplexobj(xp: Any, x: Any) -> bool:
    return bool(xp.isdtype(x.dtype, "complex floating"))


@implements(np.isrealobj)
def isrealobj(xp: Any, x: Any) -> bool:
    return not iscomplexobj(xp, x)


def _on_values(function: Any) -> None:
    """A question about values: answered on the data, not differentiated."""

    def ask(xp: Any, *args: Any, **kwargs: Any) -> Any:
        from gradwrap.core.inplace import unwrapped_key

        native = {k: unwrapped_key(v) for k, v in kwargs.items()}
        return xp._class._plain(function(*unwrapped_key(args), **native))

    IMPLEMENTATIONS[function] = ask


for _function in (
    np.allclose,
    np.isclose,
    np.array_equal,
    np.array_equiv,
    np.array_repr,
    np.array_str,
    np.array2string,
    np.count_nonzero,
    np.argwhere,
    np.flatnonzero,
    np.searchsorted,
    np.isin,
    np.may_share_memory,
    np.shares_memory,
    np.isposinf,
    np.isneginf,
    np.isreal,
    np.iscomplex,
    np.can_cast,
    np.min_scalar_type,
    np.digitize,
    np.bincount,
):
    _on_values(_function)
