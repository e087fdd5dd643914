"""Shape, order and selection: linear functions whose transposes move elements back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from array_api_compat import device

from gradwrap.core.inplace import INDEX, PERMUTATION, unwrapped_key
from gradwrap.core.namespace import composite
from gradwrap.core.registry import register
from gradwrap.core.rule import general, joint, linear, nondifferentiable
from gradwrap.core.scatter import Scattered, is_basic_key
from gradwrap.rules.axes import as_axes, inverse_permutation

if TYPE_CHECKING:
    from collections.abc import Sequence


def _concat(xp: Any, g: Any, metas: Sequence[Any], axis: int | None) -> list[Any]:
    """Each array's stretch of the cotangent."""
    parts = []
    start = 0
    for meta in metas:
        length = meta.size if axis is None else meta.shape[axis]
        key: Any = slice(start, start + length)
        if axis is not None:
            at = axis % len(meta.shape)
            key = (*(slice(None),) * at, key, Ellipsis)
        parts.append(xp.reshape(g[key], meta.shape))
        start += length
    return parts


def _stack(xp: Any, g: Any, metas: Sequence[Any], axis: int) -> list[Any]:
    at = axis % g.ndim
    return [g[(*(slice(None),) * at, i, Ellipsis)] for i in range(len(metas))]


def _repeat(xp: Any, g: Any, x_meta: Any, repeats: Any, axis: int | None) -> Any:
    repeats = unwrapped_key(repeats)
    if axis is None:
        g = xp.reshape(g, (-1,))
        flat = _repeat_axis(xp, g, (x_meta.size,), repeats, 0)
        return xp.reshape(flat, x_meta.shape)
    return _repeat_axis(xp, g, x_meta.shape, repeats, axis % len(x_meta.shape))


def _repeat_axis(xp: Any, g: Any, shape: tuple[int, ...], repeats: Any, axis: int) -> Any:
    if getattr(repeats, "shape", ()) in ((), (1,)):
        times = int(repeats if getattr(repeats, "shape", ()) == () else repeats[0])
        split = (*shape[: axis + 1], times, *shape[axis + 1 :])
        return xp.sum(xp.reshape(g, split), axis=axis + 1, dtype=g.dtype)
    ends = xp.cumulative_sum(repeats, include_initial=True)
    running = xp.cumulative_sum(g, axis=axis, include_initial=True, dtype=g.dtype)
    at_ends = xp.take(running, ends, axis=axis)
    before = (slice(None),) * axis
    return at_ends[(*before, slice(1, None))] - at_ends[(*before, slice(None, -1))]


def _tile(xp: Any, g: Any, x_meta: Any, repetitions: tuple[int, ...]) -> Any:
    ndim = max(len(repetitions), len(x_meta.shape))
    times = (1,) * (ndim - len(repetitions)) + tuple(repetitions)
    shape = (1,) * (ndim - len(x_meta.shape)) + x_meta.shape
    split = tuple(n for pair in zip(times, shape, strict=True) for n in pair)
    summed = xp.sum(xp.reshape(g, split), axis=tuple(range(0, 2 * ndim, 2)), dtype=g.dtype)
    return xp.reshape(summed, x_meta.shape)


def _astype(  # `device=None` is not to stay where it is for every library
    xp: Any, x: Any, dtype: Any, copy: bool = True, device: Any = None
) -> Any:
    options = {} if device is None else {"device": device}
    return xp.astype(x, dtype, copy=copy, **options)


def _roll(xp: Any, g: Any, shift: Any, axis: Any) -> Any:
    back = tuple(-s for s in shift) if isinstance(shift, tuple) else -shift
    return xp.roll(g, back, axis=axis)


def _expand_dims(xp: Any, g: Any, x_meta: Any) -> Any:
    return xp.reshape(g, x_meta.shape)


def _setitem(xp: Any, x: Any, value: Any, key: Any) -> Any:
    """A copy of `x` with `value` at `key`."""
    if hasattr(value, "dtype") and value.dtype != x.dtype:
        value = xp.astype(value, x.dtype)
    written = xp.asarray(x, copy=True)
    written[key] = value
    return written


def _setitem_cotangents(xp: Any, g: Any, key: Any, value_meta: Any) -> tuple[Any, Any]:
    """What was written gets the cotangent at `key`, what it replaced gets zero there."""
    at_key = xp.asarray(g[key], copy=True)
    if value_meta is not None and _may_repeat(key):
        at_key = _of_last_writes(xp, at_key, g, key)
    g[key] = 0
    if value_meta is None:
        return g, None
    return g, at_key


def _may_repeat(key: Any) -> bool:
    """Whether a key may name an element twice: an array of integers in it may."""
    parts = key if isinstance(key, tuple) else (key,)
    return not all(
        is_basic_key(part) or str(getattr(part, "dtype", "")) == "bool" for part in parts
    )


def _of_last_writes(xp: Any, at_key: Any, g: Any, key: Any) -> Any:
    """Zero the cotangent of values that were overwritten at once by others at the same place."""
    count = 1
    for length in at_key.shape:
        count *= length
    order = xp.reshape(xp.arange(count, device=device(g)), at_key.shape)
    last = xp.zeros(g.shape, dtype=order.dtype, device=device(g))
    last[key] = order
    return xp.where(last[key] == order, at_key, xp.zeros_like(at_key))


def _scatter(xp: Any, values: Any, key: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """Zeros with `values` added at `key`: the transpose of indexing."""
    from gradwrap.core.backend import backend_of_namespace

    zeros = xp.zeros(shape, dtype=dtype, device=device(values))
    return backend_of_namespace(xp).scatter_add(zeros, key, values)


def _take_key(indices: Any, axis: int | None, ndim: int) -> Any:
    at = 0 if axis is None else axis % ndim
    return (slice(None),) * at + (indices,)


def _take(xp: Any, g: Any, x_meta: Any, indices: Any, axis: int | None) -> Any:
    indices = unwrapped_key(indices)
    return Scattered(_take_key(indices, axis, len(x_meta.shape)), g)


def _along_axis_key(xp: Any, indices: Any, axis: int, lengths: tuple[int, ...]) -> Any:
    """The key that picks the elements of `take_along_axis`; `x` may repeat along other axes."""
    ndim = indices.ndim
    key = []
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
    xp = _native_of(xp)
    indices = xp.broadcast_to(unwrapped_key(indices), g.shape)
    return Scattered(_along_axis_key(xp, indices, axis, x_meta.shape), g)


def _native_of(xp: Any) -> Any:
    """The native namespace below a wrapped one: keys are data."""
    while hasattr(xp, "_class"):
        xp = xp._class._backend.xp  # noqa: SLF001
    return xp


def _sort(xp: Any, g: Any, x: Any, axis: int, descending: bool, stable: bool) -> Any:
    order = xp.argsort(x, axis=axis, descending=descending, stable=stable)
    return xp.take_along_axis(g, xp.argsort(order, axis=axis), axis=axis)


def _broadcast_to(xp: Any, g: Any) -> Any:
    return g  # the engine sums to the argument's shape


def _clip(xp: Any, g: Any, x: Any, min: Any, max: Any) -> Any:
    inside = x == x
    if min is not None:
        inside = inside & (x >= min)
    if max is not None:
        inside = inside & (x <= max)
    return xp.where(inside, g, xp.zeros_like(g))


def _clip_bound(xp: Any, g: Any, beyond: Any) -> Any:
    return xp.where(beyond, g, xp.zeros_like(g))


register(
    [
        linear(
            "reshape",
            "x, /, shape, *, copy=None",
            lambda xp, g, x_meta: xp.reshape(g, x_meta.shape),
            views=PERMUTATION,
            samples=("x(3, 4), (2, 6)", "x(4), (-1, 2)", "x(3, 4), (-1,)"),
        ),
        linear(
            "permute_dims",
            "x, /, axes",
            lambda xp, g, axes: xp.permute_dims(g, inverse_permutation(axes)),
            views=PERMUTATION,
            samples=("x(2, 3, 4), (2, 0, 1)", "x(2, 3), (1, 0)"),
        ),
        linear(
            "matrix_transpose",
            "x, /",
            lambda xp, g: xp.matrix_transpose(g),
            views=PERMUTATION,
            samples=("x(2, 3)", "x(2, 3, 4)"),
        ),
        linear(
            "expand_dims",
            "x, /, axis=0",
            _expand_dims,
            views=PERMUTATION,
            samples=("x(2, 3), 0", "x(2, 3), -1", "x(2, 3), axis=1"),
        ),
        linear(
            "squeeze",
            "x, /, axis",
            lambda xp, g, x_meta: xp.reshape(g, x_meta.shape),
            views=PERMUTATION,
            samples=("x(1, 3), 0", "x(2, 1, 3, 1), (1, 3)"),
        ),
        linear(
            "flip",
            "x, /, *, axis=None",
            lambda xp, g, axis: xp.flip(g, axis=axis),
            views=PERMUTATION,
            samples=("x(2, 3)", "x(2, 3), axis=0", "x(2, 3), axis=(0, -1)"),
        ),
        linear(
            "moveaxis",
            "x, source, destination, /",
            lambda xp, g, source, destination: xp.moveaxis(g, destination, source),
            views=PERMUTATION,
            samples=("x(2, 3, 4), 0, -1", "x(2, 3, 4), (0, 1), (2, 0)"),
        ),
        linear(
            "broadcast_to",
            "x, /, shape",
            _broadcast_to,
            views="broadcast",
            samples=("x(3), (2, 3)", "x(2, 1), (4, 2, 3)", "x(), (2,)"),
        ),
        linear(
            "roll",
            "x, /, shift, *, axis=None",
            _roll,
            samples=("x(5), 2", "x(3, 4), 1", "x(3, 4), (1, -1), axis=(0, 1)"),
        ),
        linear(
            "tile",
            "x, repetitions, /",
            _tile,
            samples=("x(2, 3), (2, 1)", "x(3), (2, 2)", "x(2, 3), (2,)"),
        ),
        linear(
            "repeat",
            "x, repeats, /, *, axis=None",
            _repeat,
            key="repeats",
            samples=("x(2, 3), 2", "x(2, 3), 2, axis=0", "x(2, 3), i(1, 0, 2), axis=1"),
        ),
        linear(
            "astype",
            "x, dtype, /, *, copy=True, device=None",
            lambda xp, g: g,
            native=_astype,
            casts=True,
            samples=("x(3), xp.complex128",),
        ),
        linear(
            "copy",
            "x, /",
            lambda xp, g: g,
            native=lambda xp, x: xp.asarray(x, copy=True),
            samples=("x(3)",),
        ),
        linear(
            "tril",
            "x, /, *, k=0",
            lambda xp, g, k: xp.tril(g, k=k),
            samples=("x(3, 3)", "x(2, 3, 4), k=-1"),
        ),
        linear(
            "triu",
            "x, /, *, k=0",
            lambda xp, g, k: xp.triu(g, k=k),
            samples=("x(3, 3)", "x(2, 3, 4), k=1"),
        ),
        joint(
            "concat",
            "arrays, /, *, axis=0",
            _concat,
            variadic=True,
            samples=(
                "[x(2, 3), x(1, 3)]",
                "[x(2, 3), x(2, 1)], axis=-1",
                "[x(2), x(2, 2)], axis=None",
            ),
        ),
        joint(
            "stack",
            "arrays, /, *, axis=0",
            _stack,
            variadic=True,
            samples=("[x(2, 3), x(2, 3)]", "[x(2, 3), x(2, 3)], axis=-1"),
        ),
        # selection
        linear(
            "getitem",
            "x, key, /",
            lambda xp, g, key: Scattered(key, g),
            native=lambda xp, x, key: x[key],
            views=INDEX,
            key="key",
            parts=True,
            samples=(
                "x(5), 2",
                "x(5), slice(1, None, 2)",
                "x(3, 4), (0, slice(None, None, -1))",
                "x(3, 4), (Ellipsis, 1)",
                "x(3, 4), (None, slice(None), 1)",
                "x(4), b(1, 0, 1, 1)",
                "x(4), i(0, 0, 3)",
            ),
        ),
        joint(
            "setitem",
            "x, value, key, /",
            _setitem_cotangents,
            arrays=2,
            native=_setitem,
            consumes=True,
            key="key",
            samples=("x(5), x(), 2", "x(5), x(2), slice(1, 3)", "x(3, 4), x(4), (0, Ellipsis)"),
        ),
        linear(
            "scatter",
            "values, key, shape, dtype, /",
            lambda xp, g, key: g[key],
            native=_scatter,
            key="key",
            samples=("x(2), slice(1, 3), (4,), xp.complex128",),
        ),
        general(
            "take",
            "x, indices, /, *, axis=None",
            _take,
            None,
            parts=True,
            samples=("x(5), i(0, 3, 3)", "x(3, 4), i(2, 0), axis=1"),
        ),
        general(
            "take_along_axis",
            "x, indices, /, *, axis=-1",
            _take_along_axis,
            None,
            parts=True,
            samples=(
                "x(4), i(0, 3, 3)",
                "x(2, 3), i(1, 0).reshape(2, 1), axis=1",
                "x(2, 3), i(1, 0).reshape(1, 2), axis=1",
                "x(1, 3), i(1, 0).reshape(2, 1), axis=1",
            ),
        ),
        general(
            "where",
            "condition, x1, x2, /",
            None,
            lambda xp, g, condition: xp.where(condition, g, xp.zeros_like(g)),
            lambda xp, g, condition: xp.where(condition, xp.zeros_like(g), g),
            samples=("b(1, 0, 1), x(3), x(3)", "b(1, 0, 1), x(2, 3), x(2, 1)"),
            convention="the branch not taken gets 0 times its derivative: NaN where that is inf",
        ),
        general(
            "clip",
            "x, /, min=None, max=None",
            _clip,
            lambda xp, g, x, min: _clip_bound(xp, g, x < min),
            lambda xp, g, x, max: _clip_bound(xp, g, x > max),
            samples=("x(5), -0.5, 0.7", "x(5), None, 0.3", "x(5), min=-0.2"),
            only_real=True,
            convention="passes the gradient at its bounds",
        ),
        linear(
            "sort",
            "x, /, *, axis=-1, descending=False, stable=True",
            _sort,
            samples=("x(5)", "x(3, 4), axis=0", "x(3, 4), descending=True"),
            only_real=True,
            convention="the stable permutation at ties",
        ),
        nondifferentiable(
            "argsort", "x, /, *, axis=-1, descending=False, stable=True", "positions"
        ),
        nondifferentiable("nonzero", "x, /", "positions"),
        nondifferentiable(
            "searchsorted", "x1, x2, /, *, side='left', sorter=None", "positions", arrays=2
        ),
    ]
)


@composite("unstack")
def unstack(xp: Any, x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    """Split along an axis into arrays of one axis less."""
    at = as_axes(axis, x.ndim)[0]
    return tuple(x[(slice(None),) * at + (i,)] for i in range(x.shape[at]))


@composite("broadcast_arrays")
def broadcast_arrays(xp: Any, *arrays: Any) -> tuple[Any, ...]:
    """Bring arrays to the shape they broadcast to."""
    shape = xp.broadcast_shapes(*(tuple(array.shape) for array in arrays))
    return tuple(xp.broadcast_to(array, shape) for array in arrays)


@composite("asarray")
def asarray(
    xp: Any, obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None
) -> Any:
    """Identity, cast or copy of a variable, never a detour around the graph; else a new array."""
    cls = xp._class  # noqa: SLF001
    if hasattr(type(obj), "_bind"):
        if dtype is not None and obj.dtype != dtype:
            return xp.astype(obj, dtype)
        if device is not None and obj.device != device:
            return obj.to_device(device)
        return xp.copy(obj) if copy else obj
    backend = cls._backend
    if isinstance(obj, (list, tuple)):
        stacked = cls._stacked(obj)
        return stacked if dtype is None else xp.astype(stacked, dtype, copy=False)
    return cls._plain(backend.xp.asarray(obj, dtype=dtype, device=device, copy=copy))


@composite("array")
def array(xp: Any, obj: Any, /, dtype: Any = None, *, copy: bool | None = True, **_: Any) -> Any:
    """NumPy's name for `asarray` with a copy."""
    return asarray(xp, obj, dtype=dtype, copy=copy)


@composite("stop_gradient")
def stop_gradient(xp: Any, x: Any, /) -> Any:
    """The same data, not tracked at any level."""
    from gradwrap.core.classes import untracked_copy

    return untracked_copy(x)
