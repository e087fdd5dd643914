"""Functions that change shape and order: linear, with transposes that move elements back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.array.wrapping import untracked_copy
from gradwrap.core.array.writing.views import BROADCAST, PERMUTATION
from gradwrap.core.levels.wrapper import is_scalar, unwrapped_key
from gradwrap.core.library.backend import backend_of
from gradwrap.core.library.compat import device, to_device
from gradwrap.core.library.namespace import composite
from gradwrap.core.library.scatter import Scattered
from gradwrap.core.table.kinds import linear
from gradwrap.core.table.registry import register
from gradwrap.core.values.dynamic import SEQUENCE
from gradwrap.rules.axes import as_axes, at_axis, inverse_permutation

if TYPE_CHECKING:
    from collections.abc import Sequence


def _concat(xp: Any, g: Any, metas: Sequence[Any], axis: int | None) -> list[Any]:
    """Return each array's part of the cotangent."""
    parts: list[Any] = []
    start = 0
    for meta in metas:
        length = meta.size if axis is None else meta.shape[axis]
        part = slice(start, start + length)
        part = g[at_axis(axis % g.ndim if axis else 0, part)]
        parts.append(xp.reshape(part, meta.shape) if axis is None else part)
        start += length
    return parts


def _stack(xp: Any, g: Any, metas: Sequence[Any], axis: int) -> list[Any]:
    """Return each array's part of the cotangent."""
    if g.ndim == 1:
        return [g[i] for i in range(len(metas))]  # numbers, where the library has them
    before = (slice(None),) * (axis % g.ndim)
    return [g[(*before, i, ...)] for i in range(len(metas))]


def _repeat(xp: Any, g: Any, x_meta: Any, repeats: Any, axis: int | None) -> Any:
    if not x_meta.shape:
        return xp.sum(g, dtype=g.dtype)
    repeats = unwrapped_key(repeats)
    shape = (x_meta.size,) if axis is None else x_meta.shape
    at = (axis or 0) % len(shape)
    if getattr(repeats, "shape", ()) in ((), (1,)):
        times = int(repeats if getattr(repeats, "shape", ()) == () else repeats[0])
        split = xp.reshape(g, (*shape[: at + 1], times, *shape[at + 1 :]))
        return xp.reshape(xp.sum(split, axis=at + 1, dtype=g.dtype), x_meta.shape)
    native = backend_of(repeats).xp
    ends = native.cumulative_sum(repeats)
    positions = native.arange(g.shape[at], dtype=ends.dtype, device=device(repeats))
    places = native.searchsorted(ends, positions, side="right")  # waits for no device
    if axis is not None:
        return Scattered((*(slice(None),) * at, places), g)
    key: list[Any] = []
    for length in reversed(x_meta.shape):
        key.insert(0, places % length)
        places = places // length
    return Scattered(tuple(key), g)


def _tile(xp: Any, g: Any, x_meta: Any, repetitions: tuple[int, ...]) -> Any:
    ndim = max(len(repetitions), len(x_meta.shape))
    times = (1,) * (ndim - len(repetitions)) + tuple(repetitions)
    shape = (1,) * (ndim - len(x_meta.shape)) + x_meta.shape
    split = tuple(n for pair in zip(times, shape, strict=True) for n in pair)
    summed = xp.sum(xp.reshape(g, split), axis=tuple(range(0, 2 * ndim, 2)), dtype=g.dtype)
    return xp.reshape(summed, x_meta.shape)


def _astype(  # not every library takes `device=None`
    xp: Any, x: Any, dtype: Any, copy: bool = True, device: Any = None
) -> Any:
    options = {} if device is None else {"device": device}
    return xp.astype(x, dtype, copy=copy, **options)


def _to_device(xp: Any, x: Any, device: Any, *, stream: Any = None) -> Any:
    return to_device(x, device, stream=stream)


def _roll(xp: Any, g: Any, shift: Any, axis: Any) -> Any:
    back = tuple(-s for s in shift) if isinstance(shift, SEQUENCE) else -shift
    return xp.roll(g, back, axis=axis)


def _dense(xp: Any, x: Any) -> Any:
    """Return a copy whose elements follow each other in memory, as views of other dtypes need."""
    return xp.reshape(xp.concat([xp.reshape(x, (-1,))]), x.shape)


def _complex_from_pairs(xp: Any, x: Any) -> Any:
    """Return complex numbers of pairs along the last axis: a view, if the library has such ones."""
    if hasattr(x, "view"):
        return x.view(xp.result_type(x.dtype, xp.complex64))
    return x[..., ::2] + 1j * x[..., 1::2]


def _pairs_from_complex(xp: Any, x: Any) -> Any:
    """Return the real and imaginary parts in turns along the last axis: a view, as above."""
    if hasattr(x, "view"):
        return x.view(xp.real(x).dtype)
    both = xp.stack([xp.real(x), xp.imag(x)], axis=-1)
    return xp.reshape(both, (*x.shape[:-1], -1))


RESHAPE = "(a, /, shape=None, order='C', *, newshape=None, copy=None) -> a, sizes(shape), copy=copy"
RULES = [
    linear(
        "reshape",
        "x, /, shape, *, copy=None",
        lambda xp, g, x_meta: xp.reshape(g, x_meta.shape),
        views=PERMUTATION,
        samples=("x(3, 4), (2, 6)", "x(4), (-1, 2)", "x(3, 4), (-1,)"),
        numpy=f"reshape{RESHAPE}",
        batch="reshape",
    ),
    linear(
        "permute_dims",
        "x, /, axes",
        lambda xp, g, axes: xp.permute_dims(g, inverse_permutation(axes)),
        views=PERMUTATION,
        samples=("x(2, 3, 4), (2, 0, 1)", "x(2, 3), (1, 0)", "x(2, 3, 4), (-1, 0, -2)"),
        numpy="transpose(a, axes=None) -> a, reverse(a, axes)",
        batch="permute_dims",
    ),
    linear(
        "matrix_transpose",
        "x, /",
        lambda xp, g: xp.matrix_transpose(g),
        views=PERMUTATION,
        samples=("x(2, 3)", "x(2, 3, 4)"),
        numpy=("matrix_transpose", "linalg.matrix_transpose"),
        batch="last",
    ),
    linear(
        "complex_from_pairs",
        "x, /",
        lambda xp, g: _pairs_from_complex(xp, _dense(xp, g)),
        native=_complex_from_pairs,
        holomorphic=False,
        only_real=True,
        views=PERMUTATION,
        samples=("x(4)", "x(2, 6)"),
        batch="last",
    ),
    linear(
        "pairs_from_complex",
        "x, /",
        lambda xp, g: _complex_from_pairs(xp, _dense(xp, g)),
        native=_pairs_from_complex,
        holomorphic=False,
        only_complex=True,
        views=PERMUTATION,
        samples=("x(2)", "x(2, 3)"),
        batch="last",
    ),
    linear(
        "expand_dims",
        "x, /, axis=0",
        lambda xp, g, x_meta: xp.reshape(g, x_meta.shape),
        views=PERMUTATION,
        samples=("x(2, 3), 0", "x(2, 3), -1", "x(2, 3), axis=1"),
        batch="expand_dims",
    ),
    linear(
        "squeeze",
        "x, /, axis",
        lambda xp, g, x_meta: xp.reshape(g, x_meta.shape),
        views=PERMUTATION,
        samples=("x(1, 3), 0", "x(2, 1, 3, 1), (1, 3)"),
        numpy="squeeze(a, axis=None) -> a, single(a, axis) when single(a, axis)",
        batch="squeeze",
    ),
    linear(
        "flip",
        "x, /, *, axis=None",
        lambda xp, g, axis: xp.flip(g, axis=axis),
        views=PERMUTATION,
        samples=("x(2, 3)", "x(2, 3), axis=0", "x(2, 3), axis=(0, -1)"),
        numpy=(
            "flip(m, axis=None) -> m, axis=axis if axis is None else sizes(axis) when m.ndim",
            "fliplr(m) -> m, axis=1",
            "flipud(m) -> m, axis=0",
        ),
        batch="flip",
    ),
    linear(
        "moveaxis",
        "x, source, destination, /",
        lambda xp, g, source, destination: xp.moveaxis(g, destination, source),
        views=PERMUTATION,
        samples=("x(2, 3, 4), 0, -1", "x(2, 3, 4), (0, 1), (2, 0)"),
        numpy="moveaxis(a, source, destination) -> a, sizes(source), sizes(destination)",
        batch="moveaxis",
    ),
    linear(
        "broadcast_to",
        "x, /, shape",
        lambda xp, g: g,  # the engine sums to the argument's shape
        views=BROADCAST,
        samples=("x(3), (2, 3)", "x(2, 1), (4, 2, 3)", "x(), (2,)"),
        numpy="broadcast_to(array, shape, subok=False) -> array, sizes(shape)",
        batch="broadcast_to",
    ),
    linear(
        "roll",
        "x, /, shift, *, axis=None",
        _roll,
        samples=("x(5), 2", "x(3, 4), 1", "x(3, 4), (1, -1), axis=(0, 1)", "x(3, 4), -5, axis=1"),
        batch="roll",
    ),
    linear(
        "tile",
        "x, repetitions, /",
        _tile,
        samples=("x(2, 3), (2, 1)", "x(3), (2, 2)", "x(2, 3), (2,)"),
        numpy="tile(A, reps) -> A, sizes(reps)",
        batch="tile",
    ),
    linear(
        "repeat",
        "x, repeats, /, *, axis=None",
        _repeat,
        key="repeats",
        parts=True,
        samples=("x(2, 3), 2", "x(2, 3), 2, axis=0", "x(2, 3), i(1, 0, 2), axis=1"),
        numpy="repeat(a, repeats, axis=None) -> a, counts(repeats), axis=axis",
        batch="repeat",
    ),
    linear(
        "astype",
        "x, dtype, /, *, copy=True, device=None",
        lambda xp, g, x_meta, device: g if device is None else to_device(g, x_meta.device),
        native=_astype,
        casts=True,
        samples=("x(3), xp.complex128",),
        batch="last",
    ),
    linear(
        "to_device",
        "x, device, /, *, stream=None",
        lambda xp, g, x_meta: to_device(g, x_meta.device),
        native=_to_device,
        casts=True,
        samples=("x(3), 'cpu'",),
        batch="last",
    ),
    linear(
        "copy",
        "x, /, *, order='K'",
        lambda xp, g: g,
        native=lambda xp, x, order="K": backend_of(x).copy(x, order),
        samples=("x(3)", "x(2, 3), order='F'"),
        numpy="copy(a, order='K', subok=False)",
        batch="copy",
    ),
    linear(
        "tril",
        "x, /, *, k=0",
        lambda xp, g, k: xp.tril(g, k=k),
        samples=("x(3, 3)", "x(2, 3, 4), k=-1"),
        numpy="tril(m, k=0) -> square(xp, m), k=k",
        batch="last",
    ),
    linear(
        "triu",
        "x, /, *, k=0",
        lambda xp, g, k: xp.triu(g, k=k),
        samples=("x(3, 3)", "x(2, 3, 4), k=1"),
        numpy="triu(m, k=0) -> square(xp, m), k=k",
        batch="last",
    ),
    linear(
        "concat",
        "arrays, /, *, axis=0",
        _concat,
        variadic=True,
        samples=("[x(2, 3), x(1, 3)]", "[x(2, 3), x(2, 1)], axis=-1", "[x(2), x(2, 2)], axis=None"),
        numpy="concatenate(arrays, /, axis=0, out=None, *, dtype=None, casting='same_kind')",
        batch="concat",
    ),
    linear(
        "stack",
        "arrays, /, *, axis=0",
        _stack,
        variadic=True,
        samples=("[x(2, 3), x(2, 3)]", "[x(2, 3), x(2, 3)], axis=-1"),
        numpy="stack(arrays, axis=0, out=None, *, dtype=None, casting='same_kind') "
        "when are_arrays(arrays)",
        batch="stack",
    ),
]
register(RULES)


@composite("unstack")
def unstack(xp: Any, x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    """Split an array along an axis into arrays that lack this axis."""
    x = xp.asarray(x)  # so that a native array gives variables too
    if not x.ndim:
        raise ValueError("unstack: the array must have at least one axis")
    at = as_axes(axis, x.ndim)[0]
    return tuple(x[at_axis(at, i)[: x.ndim]] for i in range(x.shape[at]))


@composite("broadcast_arrays")
def broadcast_arrays(xp: Any, *arrays: Any) -> tuple[Any, ...]:
    """Broadcast arrays to their common shape."""
    shape = xp.broadcast_shapes(*(tuple(array.shape) for array in arrays))
    return tuple(_whole(xp, xp.asarray(array), shape) for array in arrays)


def _whole(xp: Any, array: Any, shape: tuple[int, ...]) -> Any:
    """Return an array itself if it has the shape; for a number, make a new array."""
    if tuple(array.shape) != shape:
        return xp.broadcast_to(array, shape)
    return xp.asarray(array, copy=True) if is_scalar(array) else array


@composite("diff")
def diff(
    xp: Any, x: Any, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None
) -> Any:
    """Take the differences of neighbours along an axis, n times."""
    if n < 0:
        raise ValueError(f"diff got n={n}. Fix: pass n >= 0, how often to take differences.")
    if n == 0:
        return x
    x = xp.asarray(x)
    at = as_axes(axis, x.ndim)[0]
    pieces = [xp.asarray(piece) for piece in (prepend, x, append) if piece is not None]
    x = xp.concat(pieces, axis=at) if len(pieces) > 1 else x
    for _ in range(n):
        x = x[at_axis(at, slice(1, None))] - x[at_axis(at, slice(None, -1))]
    return x


@composite("stop_gradient")
def stop_gradient(xp: Any, x: Any, /) -> Any:
    """Return the same data, untracked at every level."""
    return untracked_copy(x)
