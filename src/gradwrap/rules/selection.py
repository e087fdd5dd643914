"""Indexing, taking, choosing and sorting, whose transposes put elements back."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from gradwrap.core.array.writing.views import INDEX, SELECTION
from gradwrap.core.levels.wrapper import AnyWrapper, key_with_batches
from gradwrap.core.library.compat import device
from gradwrap.core.library.scatter import Scattered, at_key, is_basic_key
from gradwrap.core.table.kinds import elementwise, general, joint, linear, nondifferentiable
from gradwrap.core.table.registry import register
from gradwrap.core.values.dynamic import TUPLE
from gradwrap.rules.axes import as_axes
from gradwrap.rules.elementwise import where_taken

if TYPE_CHECKING:
    from collections.abc import Callable


def setitem(xp: Any, x: Any, value: Any, key: Any) -> Any:
    """Return a copy of `x` with `value` at `key`."""
    if hasattr(value, "dtype") and value.dtype != x.dtype:
        value = xp.astype(value, x.dtype)
    written = xp.asarray(x, copy=True)
    written[key] = value
    return written


def setitem_cotangents(xp: Any, g: Any, key: Any, value_meta: Any) -> tuple[Any, Any]:
    """Return the cotangents of `x`, which is zero at `key`, and of the value written there."""
    if not g.shape:
        g = xp.asarray(g, copy=True)  # a number of NumPy cannot be written to
    if value_meta is None:
        return _write(g, key, 0), None
    of_value = cotangent_of_written(xp, g, key, _write)
    missing = len(value_meta.shape) - len(of_value.shape)
    if missing > 0:  # NumPy writes (1, 1, 3) to (3,)
        of_value = xp.reshape(of_value, (*(1,) * missing, *of_value.shape))
    return _write(g, key, 0), of_value


def cotangent_of_written(xp: Any, g: Any, key: Any, write: Callable[..., Any]) -> Any:
    """Return the cotangent of the value written at `key`, with `write(array, key, value)`."""
    at_key = xp.asarray(g[key], copy=True)
    return _of_last_writes(xp, at_key, g, key, write) if _may_repeat(key) else at_key


def _write(array: Any, key: Any, value: Any) -> Any:
    array = array if array.shape else array[...]  # NumPy's number cannot be written to
    array[key] = value
    return array


def _may_repeat(key: Any) -> bool:
    """Return whether a key may name an element twice, as an array of integers may."""
    if is_basic_key(key):
        return False
    parts = key if isinstance(key, TUPLE) else (key,)
    return not all(
        is_basic_key(part) or str(getattr(part, "dtype", "")) == "bool" for part in parts
    )


def _of_last_writes(xp: Any, at_key: Any, g: Any, key: Any, write: Callable[..., Any]) -> Any:
    """Zero the cotangent of values that the same write overwrote at the same place."""
    order = xp.arange(math.prod(at_key.shape), device=device(g))
    order = xp.reshape(order, at_key.shape)
    last = write(xp.zeros(g.shape, dtype=order.dtype, device=device(g)), key, order)
    return xp.where(last[key] == order, at_key, xp.zeros_like(at_key))


def _scatter(xp: Any, values: Any, key: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """Return zeros with `values` added at `key`: the transpose of indexing."""
    from gradwrap.core.library.backend import backend_of_namespace

    zeros = xp.zeros(shape, dtype=dtype, device=device(values))
    return backend_of_namespace(xp).scatter_add(zeros, key, values)


NDARRAY: type[Any] = np.ndarray


def _windows(xp: Any, x: Any, window_shape: Any, axis: Any = None, writeable: bool = False) -> Any:
    """Return every window of an array, as a view where the library has one."""
    if isinstance(x, NDARRAY):
        return sliding_window_view(x, window_shape, axis, writeable=writeable)
    found, shape = _window_indices(xp, x, tuple(x.shape), window_shape, axis)
    flat: Any = 0
    for index, length in zip(found, x.shape, strict=True):
        flat = flat * length + index
    return xp.reshape(xp.take(xp.reshape(x, (-1,)), flat, axis=0), shape)


def _window_indices(
    xp: Any, like: Any, shape: tuple[int, ...], window_shape: Any, axis: Any
) -> tuple[list[Any], tuple[int, ...]]:
    """Return the index along each axis of every element of the windows, in a row; and their shape.

    They are computed where the array is: copying them there would wait for it.
    """
    empty = np.broadcast_to(np.empty(()), shape)
    whole = sliding_window_view(empty, window_shape, axis).shape  # or NumPy's error
    axes = range(len(shape)) if axis is None else np.atleast_1d(axis) % len(shape)

    def along(at: int) -> Any:
        counting = xp.arange(whole[at], device=device(like))
        return xp.reshape(counting, (1,) * at + (-1,) + (1,) * (len(whole) - at - 1))

    found: list[Any] = []
    for i in range(len(shape)):
        index = along(i)
        for place, at in enumerate(axes):
            index = index + along(len(shape) + place) if at == i else index
        found.append(xp.reshape(xp.broadcast_to(index, whole), (-1,)))
    return found, whole


def _batched_windows(
    xp: Any, op: Any, x: Any, window_shape: Any, axis: Any, writeable: bool
) -> Any:
    return op(x, window_shape, tuple(a + 1 for a in as_axes(axis, x.ndim - 1)), writeable)


def _windows_cotangent(xp: Any, g: Any, x_meta: Any, window_shape: Any, axis: Any) -> Any:
    found, _ = _window_indices(xp, g, tuple(x_meta.shape), window_shape, axis)
    return Scattered(tuple(found), xp.reshape(g, (-1,)))


def _take(xp: Any, g: Any, x_meta: Any, indices: Any, axis: int | None) -> Any:
    at = 0 if axis is None else axis % len(x_meta.shape)
    return Scattered(((slice(None),) * at + (key_with_batches(indices),)), g)


def _along_axis_key(xp: Any, indices: Any, axis: int, lengths: tuple[int, ...]) -> Any:
    """Return the key for `take_along_axis`; `x` may be broadcast along other axes."""
    ndim = indices.ndim
    key: list[Any] = []
    for a in range(ndim):
        if a == axis % ndim:
            key.append(indices)
        else:
            places = (1,) * a + (indices.shape[a],) + (1,) * (ndim - a - 1)
            line = xp.arange(indices.shape[a], device=device(indices))
            if lengths[a] == 1:
                line = xp.zeros_like(line)
            key.append(xp.reshape(line, places))
    return tuple(key)


def _take_along_axis(xp: Any, g: Any, indices: Any, axis: int, x_meta: Any) -> Any:
    indices = key_with_batches(indices)
    xp = _namespace_of_key(xp, indices)
    indices = xp.broadcast_to(indices, g.shape)
    return Scattered(_along_axis_key(xp, indices, axis, x_meta.shape), g)


def _namespace_of_key(xp: Any, key: Any) -> Any:
    """Return the namespace of a key: the native one, or a batch's."""
    if isinstance(key, AnyWrapper):
        return key.__array_namespace__()
    while hasattr(xp, "_class"):
        xp = xp._class._backend.xp  # noqa: SLF001  shared with the core
    return xp


def _sort(xp: Any, g: Any, x: Any, axis: int, descending: bool, stable: bool) -> Any:
    """Apply the inverse permutation to g."""
    order = xp.argsort(x, axis=axis, descending=descending, stable=stable)
    return xp.take_along_axis(g, xp.argsort(order, axis=axis), axis=axis)


def _sort_tangent(xp: Any, t: Any, x: Any, axis: int, descending: bool, stable: bool) -> Any:
    order = xp.argsort(x, axis=axis, descending=descending, stable=stable)
    return xp.take_along_axis(t, order, axis=axis)


def _written(xp: Any, t: Any, x_meta: Any, key: Any) -> Any:
    """Return zeros with t at a key."""
    return setitem(xp, xp.zeros(x_meta.shape, dtype=x_meta.dtype, device=x_meta.device), t, key)


def _less(x1: Any, x2: Any) -> Any:
    """Compare two bounds; Python's complex numbers are ordered as in NumPy."""
    return np.less(x1, x2) if isinstance(x1, complex) and isinstance(x2, complex) else x1 < x2


def _inside(x: Any, min: Any, max: Any) -> Any:
    inside = x == x
    if min is not None:
        inside = inside & (x >= min)
    if max is not None:
        inside = inside & (x <= max)
    return inside if min is None or max is None else inside & _less(min, max)


def _below(x: Any, min: Any, max: Any) -> Any:
    return x < min if max is None else (x < min) & _less(min, max)


def _above(x: Any, min: Any, max: Any) -> Any:
    """Tell where the result is the upper bound, also where the bounds coincide or cross."""
    return x > max if min is None else (x > max) | (min >= max)


ORDER = (
    "(a, axis=-1, kind=None, order=None, *, stable=None, descending=NoValue) "
    "-> flat(xp, a, axis), axis=-1 if axis is None else axis"
)

RULES = [
    linear(
        "getitem",
        "x, key, /",
        at_key,
        native=lambda xp, x, key: x[key],
        symbol="[]",
        views=INDEX,
        key="key",
        parts=True,
        selects=True,
        samples=(
            "x(5), 2",
            "x(5), slice(1, None, 2)",
            "x(3, 4), (0, slice(None, None, -1))",
            "x(3, 4), (Ellipsis, 1)",
            "x(3, 4), (None, slice(None), 1)",
            "x(4), b(1, 0, 1, 1)",
            "x(4), i(0, 0, 3)",
        ),
        batch="getitem",
    ),
    joint(
        "setitem",
        "x, value, key, /",
        setitem_cotangents,
        arrays=2,
        native=setitem,
        consumes=True,
        key="key",
        jvp=(lambda xp, t, key: setitem(xp, t, 0, key), _written),
        selects=True,
        samples=("x(5), x(), 2", "x(5), x(2), slice(1, 3)", "x(3, 4), x(4), (0, Ellipsis)"),
        batch="setitem",
    ),
    linear(
        "scatter",
        "values, key, shape, dtype, /",
        lambda xp, g, key: g[key],
        native=_scatter,
        key="key",
        samples=("x(2), slice(1, 3), (4,), xp.complex128",),
        batch="scatter",
    ),
    linear(
        "sliding_window_view",
        "x, /, window_shape, axis=None, *, writeable=False",
        _windows_cotangent,
        native=_windows,
        views=SELECTION,
        parts=True,
        samples=("x(5), 3", "x(3, 4), (2, 2)", "x(3, 4), 2, axis=1"),
        numpy="lib.stride_tricks.sliding_window_view"
        "(x, window_shape, axis=None, *, subok=False, writeable=False)",
        batch=_batched_windows,
    ),
    general(
        "take",
        "x, indices, /, *, axis=None",
        _take,
        None,
        parts=True,
        jvp=(lambda xp, t, indices, axis: xp.take(t, key_with_batches(indices), axis=axis), None),
        selects=True,
        samples=("x(5), i(0, 3, 3)", "x(3, 4), i(2, 0), axis=1", "x(2, 4), i(-1, 1), axis=-1"),
        batch="take",
    ),
    general(
        "take_along_axis",
        "x, indices, /, *, axis=-1",
        _take_along_axis,
        None,
        parts=True,
        jvp=(
            lambda xp, t, indices, axis: xp.take_along_axis(
                t, key_with_batches(indices), axis=axis
            ),
            None,
        ),
        selects=True,
        samples=(
            "x(4), i(0, 3, 3)",
            "x(2, 3), i(1, 0).reshape(2, 1), axis=1",
            "x(2, 3), i(1, 0).reshape(1, 2), axis=1",
            "x(1, 3), i(1, 0).reshape(2, 1), axis=1",
        ),
        batch="take_along_axis",
    ),
    elementwise(
        "where",
        "condition x1 x2",
        None,
        lambda xp, g, condition: xp.where(condition, g, 0.0),
        lambda xp, g, condition: xp.where(condition, 0.0, g),
        jvp=(
            None,
            lambda xp, t, condition: where_taken(xp, t, condition),
            lambda xp, t, condition: where_taken(xp, t, ~condition),
        ),
        selects=True,
        samples=("b(1, 0, 1), x(3), x(3)", "b(1, 0, 1), x(2, 3), x(2, 1)"),
        convention="the branch not taken gets 0, also where its derivative is infinite or NaN",
        numpy="where(condition, x=None, y=None, /) -> mask(xp, condition), x, y when y is not None",
    ),
    elementwise(
        "clip",
        "x, /, min=None, max=None",
        lambda xp, g, x, min, max: xp.where(_inside(x, min, max), g, 0.0),
        lambda xp, g, x, min, max: xp.where(_below(x, min, max), g, 0.0),
        lambda xp, g, x, min, max: xp.where(_above(x, min, max), g, 0.0),
        jvp=(
            lambda xp, t, x, min, max: where_taken(xp, t, _inside(x, min, max)),
            lambda xp, t, x, min, max: where_taken(xp, t, _below(x, min, max)),
            lambda xp, t, x, min, max: where_taken(xp, t, _above(x, min, max)),
        ),
        selects=True,
        samples=("x(5), -0.5, 0.7", "x(5), None, 0.3", "x(5), min=-0.2"),
        only_real=True,
        convention="passes the gradient at its bounds",
        numpy="clip(a, a_min=NoValue, a_max=NoValue, out=None, *, min=NoValue, max=NoValue, "
        "**kwargs) -> as_wide(xp, a, bound(a_min, min), bound(a_max, max)), bound(a_min, min), "
        "bound(a_max, max) when is_recorded(a)",
    ),
    general(
        "sort",
        "x, /, *, axis=-1, descending=False, stable=True",
        _sort,
        jvp=_sort_tangent,
        samples=("x(5)", "x(3, 4), axis=0", "x(3, 4), descending=True"),
        selects=True,
        only_real=True,
        convention="the stable permutation at ties",
        numpy=f"sort{ORDER}",
        batch="axis",
    ),
    nondifferentiable(
        "argsort",
        "x, /, *, axis=-1, descending=False, stable=True",
        "positions",
        numpy=f"argsort{ORDER}, stable=False when is_recorded(a)",
        batch="argsort",
    ),
    nondifferentiable("nonzero", "x, /", "positions", numpy="nonzero(a)", batch="loop"),
    nondifferentiable(
        "searchsorted",
        "x1, x2, /, *, side='left', sorter=None",
        "positions",
        arrays=2,
        key="sorter",
        numpy="searchsorted(a, v, side='left', sorter=None)",
        batch="searchsorted",
    ),
    nondifferentiable(
        "isin",
        "x1, x2, /, *, invert=False",
        "true or false",
        arrays=2,
        numpy="isin(element, test_elements, assume_unique=False, invert=False, *, kind=None)",
    ),
]
register(RULES)
