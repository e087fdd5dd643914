"""NumPy's functions, with NumPy's signatures, in terms of the standard's.

`__array_function__` looks a function up here. Each is written once, against the namespace `xp`
of the variables it is given, so it is differentiated as what it is made of.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gradwrap.core.registry import find_op, ops, register, register_function
from gradwrap.core.rule import elementwise, nondifferentiable
from gradwrap.errors import NoRuleError
from gradwrap.rules.axes import as_axes

__all__ = ["IMPLEMENTATIONS", "register_all"]

Implementation = Callable[..., Any]
IMPLEMENTATIONS: dict[Any, Implementation] = {}
NoValue = np._NoValue


def implements(*functions: Any) -> Callable[[Implementation], Implementation]:
    """Enter an implementation of a function of NumPy."""

    def enter(implementation: Implementation) -> Implementation:
        for function in functions:
            IMPLEMENTATIONS[function] = implementation
        return implementation

    return enter


def _given(value: Any) -> bool:
    return value is not NoValue and value is not None


def _flag(keepdims: Any) -> bool:
    return keepdims is not NoValue and bool(keepdims)


# Reductions -------------------------------------------------------------------------------------


def _masked(xp: Any, a: Any, where: Any, neutral: Any) -> Any:
    if where is NoValue or where is True:
        return a
    return xp.where(xp.asarray(where), a, neutral)


def _reduction(name: str, neutral: Any, combine: str, *, typed: bool) -> Implementation:
    def reduce(  # noqa: PLR0913
        xp: Any,
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,  # noqa: ARG001  handled before
        keepdims: Any = NoValue,
        initial: Any = NoValue,
        where: Any = NoValue,
    ) -> Any:
        start = neutral if initial is NoValue else initial
        if start is None and where is not NoValue and where is not True:
            raise ValueError(f"reduction {name} with where= needs an initial value")
        a = _masked(xp, xp.asarray(a), where, start)
        options = {"dtype": dtype} if typed else {}
        result = getattr(xp, name)(a, axis=axis, keepdims=_flag(keepdims), **options)
        if initial is not NoValue:
            result = getattr(xp, combine)(result, initial)
        return result

    return reduce


IMPLEMENTATIONS[np.sum] = _reduction("sum", 0.0, "add", typed=True)
IMPLEMENTATIONS[np.prod] = _reduction("prod", 1.0, "multiply", typed=True)


def _extremum(name: str, combine: str) -> Implementation:
    reduce = _reduction(name, None, combine, typed=False)

    def extremum(  # noqa: PLR0913
        xp: Any,
        a: Any,
        axis: Any = None,
        out: Any = None,  # noqa: ARG001
        keepdims: Any = NoValue,
        initial: Any = NoValue,
        where: Any = NoValue,
    ) -> Any:
        return reduce(xp, a, axis, None, None, keepdims, initial, where)

    return extremum


IMPLEMENTATIONS[np.max] = IMPLEMENTATIONS[np.amax] = _extremum("max", "maximum")
IMPLEMENTATIONS[np.min] = IMPLEMENTATIONS[np.amin] = _extremum("min", "minimum")


@implements(np.mean)
def mean(  # noqa: PLR0913
    xp: Any,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,  # noqa: ARG001
    keepdims: Any = NoValue,
    *,
    where: Any = NoValue,
) -> Any:
    a = xp.asarray(a)
    if dtype is not None:
        a = xp.astype(a, dtype, copy=False)
    if where is not NoValue and where is not True:
        mask = xp.broadcast_to(xp.asarray(where), a.shape)
        total = xp.sum(xp.where(mask, a, 0.0), axis=axis, keepdims=_flag(keepdims))
        return total / xp.sum(xp.astype(mask, a.dtype), axis=axis, keepdims=_flag(keepdims))
    return xp.mean(a, axis=axis, keepdims=_flag(keepdims))


def _spread(name: str) -> Implementation:
    def spread(  # noqa: PLR0913
        xp: Any,
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,  # noqa: ARG001
        ddof: float = 0,
        keepdims: Any = NoValue,
        *,
        where: Any = NoValue,
        mean: Any = NoValue,
        correction: Any = NoValue,
    ) -> Any:
        _unsupported("np." + name, where=where, mean=mean)
        a = xp.asarray(a)
        if dtype is not None:
            a = xp.astype(a, dtype, copy=False)
        free = ddof if correction is NoValue else correction
        if xp.isdtype(a.dtype, "complex floating"):
            parts = [
                xp.var(part, axis=axis, correction=free, keepdims=_flag(keepdims))
                for part in (xp.real(a), xp.imag(a))
            ]
            total = parts[0] + parts[1]
            return xp.sqrt(total) if name == "std" else total
        function = getattr(xp, name)
        return function(a, axis=axis, correction=free, keepdims=_flag(keepdims))

    return spread


IMPLEMENTATIONS[np.var] = _spread("var")
IMPLEMENTATIONS[np.std] = _spread("std")


def _unsupported(function: str, **given: Any) -> None:
    for name, value in given.items():
        if value is not NoValue and value is not None and value is not True:
            raise NoRuleError(
                f"{function} with {name}= has no rule. Fix: write it with np.where and np.sum."
            )


def _decision(name: str) -> Implementation:
    def decide(  # noqa: PLR0913
        xp: Any,
        a: Any,
        axis: Any = None,
        out: Any = None,  # noqa: ARG001
        keepdims: Any = NoValue,
        *,
        where: Any = NoValue,
    ) -> Any:
        a = _masked(xp, xp.asarray(a), where, name == "all")
        return getattr(xp, name)(a, axis=axis, keepdims=_flag(keepdims))

    return decide


IMPLEMENTATIONS[np.all] = _decision("all")
IMPLEMENTATIONS[np.any] = _decision("any")


def _position(name: str) -> Implementation:
    def position(
        xp: Any,
        a: Any,
        axis: Any = None,
        out: Any = None,  # noqa: ARG001
        *,
        keepdims: Any = NoValue,
    ) -> Any:
        return getattr(xp, name)(xp.asarray(a), axis=axis, keepdims=_flag(keepdims))

    return position


IMPLEMENTATIONS[np.argmax] = _position("argmax")
IMPLEMENTATIONS[np.argmin] = _position("argmin")


def _running(name: str) -> Implementation:
    def running(
        xp: Any,
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,  # noqa: ARG001
    ) -> Any:
        a = xp.asarray(a)
        if axis is None:
            a, axis = xp.reshape(a, (-1,)), 0
        return getattr(xp, name)(a, axis=axis, dtype=dtype)

    return running


IMPLEMENTATIONS[np.cumsum] = _running("cumulative_sum")
IMPLEMENTATIONS[np.cumprod] = _running("cumulative_prod")


@implements(np.cumulative_sum)
def cumulative_sum(
    xp: Any,
    x: Any,
    /,
    *,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    include_initial: bool = False,
) -> Any:
    return xp.cumulative_sum(x, axis=axis, dtype=dtype, include_initial=include_initial)


@implements(np.cumulative_prod)
def cumulative_prod(
    xp: Any,
    x: Any,
    /,
    *,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    include_initial: bool = False,
) -> Any:
    return xp.cumulative_prod(x, axis=axis, dtype=dtype, include_initial=include_initial)


@implements(np.average)
def average(
    xp: Any,
    a: Any,
    axis: Any = None,
    weights: Any = None,
    returned: bool = False,
    *,
    keepdims: Any = NoValue,
) -> Any:
    a = xp.asarray(a)
    if weights is None:
        result = xp.mean(a, axis=axis, keepdims=_flag(keepdims))
        count = a.size if axis is None else math.prod(a.shape[i] for i in as_axes(axis, a.ndim))
        return (result, xp.full(result.shape, float(count))) if returned else result
    weights = xp.asarray(weights)
    if weights.ndim != a.ndim:
        shape = [1] * a.ndim
        shape[as_axes(axis, a.ndim)[0]] = -1
        weights = xp.reshape(weights, tuple(shape))
    weights = xp.broadcast_to(weights, a.shape)
    total = xp.sum(weights, axis=axis, keepdims=_flag(keepdims))
    result = xp.sum(a * weights, axis=axis, keepdims=_flag(keepdims)) / total
    return (result, total) if returned else result


@implements(np.ptp)
def ptp(xp: Any, a: Any, axis: Any = None, out: Any = None, keepdims: Any = NoValue) -> Any:  # noqa: ARG001
    flag = _flag(keepdims)
    return xp.max(a, axis=axis, keepdims=flag) - xp.min(a, axis=axis, keepdims=flag)


# Shapes -----------------------------------------------------------------------------------------


def _sizes(shape: Any) -> tuple[int, ...]:
    return (int(shape),) if not isinstance(shape, (tuple, list)) else tuple(int(n) for n in shape)


@implements(np.reshape)
def reshape(
    xp: Any,
    a: Any,
    /,
    shape: Any = None,
    order: str = "C",
    *,
    newshape: Any = None,
    copy: Any = None,
) -> Any:
    a = xp.asarray(a)
    shape = _sizes(newshape if shape is None else shape)
    if order == "F":
        if -1 in shape:
            known = math.prod(n for n in shape if n != -1)
            shape = tuple(a.size // known if n == -1 else n for n in shape)
        flipped = xp.reshape(transpose(xp, a), shape[::-1])
        return transpose(xp, flipped)
    return xp.reshape(a, shape, copy=copy)


@implements(np.ravel)
def ravel(xp: Any, a: Any, order: str = "C") -> Any:
    return reshape(xp, a, (-1,), order)


@implements(np.transpose, np.permute_dims)
def transpose(xp: Any, a: Any, axes: Any = None) -> Any:
    a = xp.asarray(a)
    order = tuple(range(a.ndim))[::-1] if axes is None else tuple(axes)
    return xp.permute_dims(a, order)


@implements(np.matrix_transpose, np.linalg.matrix_transpose)
def matrix_transpose(xp: Any, x: Any, /) -> Any:
    return xp.matrix_transpose(x)


@implements(np.swapaxes)
def swapaxes(xp: Any, a: Any, axis1: int, axis2: int) -> Any:
    order = list(range(a.ndim))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return xp.permute_dims(a, tuple(order))


@implements(np.moveaxis)
def moveaxis(xp: Any, a: Any, source: Any, destination: Any) -> Any:
    as_tuple = lambda v: v if isinstance(v, int) else tuple(v)  # noqa: E731
    return xp.moveaxis(a, as_tuple(source), as_tuple(destination))


@implements(np.rollaxis)
def rollaxis(xp: Any, a: Any, axis: int, start: int = 0) -> Any:
    axis, start = axis % a.ndim, start + a.ndim if start < 0 else start
    return xp.moveaxis(a, axis, start - 1 if axis < start else start)


@implements(np.expand_dims)
def expand_dims(xp: Any, a: Any, axis: Any) -> Any:
    a = xp.asarray(a)
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    ndim = a.ndim + len(axes)
    new = {i % ndim for i in axes}
    rest = iter(a.shape)
    return xp.reshape(a, tuple(1 if i in new else next(rest) for i in range(ndim)))


@implements(np.squeeze)
def squeeze(xp: Any, a: Any, axis: Any = None) -> Any:
    if axis is None:
        axis = tuple(i for i, n in enumerate(a.shape) if n == 1)
    return xp.squeeze(a, axis)


@implements(np.broadcast_to)
def broadcast_to(xp: Any, array: Any, shape: Any, subok: bool = False) -> Any:  # noqa: ARG001
    return xp.broadcast_to(array, _sizes(shape))


@implements(np.broadcast_arrays)
def broadcast_arrays(xp: Any, *args: Any, subok: bool = False) -> Any:  # noqa: ARG001
    return xp.broadcast_arrays(*(xp.asarray(a) for a in args))


def _at_least(ndim: int) -> Implementation:
    def at_least(xp: Any, *arrays: Any) -> Any:
        results = tuple(_with_axes(xp, xp.asarray(a), ndim) for a in arrays)
        return results[0] if len(results) == 1 else results

    return at_least


def _with_axes(xp: Any, a: Any, ndim: int) -> Any:
    shape = tuple(a.shape)
    if len(shape) >= ndim:
        return a
    if ndim == 3:
        wanted = {0: (1, 1, 1), 1: (1, *shape, 1), 2: (*shape, 1)}[len(shape)]
    else:
        wanted = (1,) * (ndim - len(shape)) + shape
    return xp.reshape(a, wanted)


IMPLEMENTATIONS[np.atleast_1d] = _at_least(1)
IMPLEMENTATIONS[np.atleast_2d] = _at_least(2)
IMPLEMENTATIONS[np.atleast_3d] = _at_least(3)


# Joining and splitting --------------------------------------------------------------------------


@implements(np.concatenate)
def concatenate(
    xp: Any,
    arrays: Any,
    /,
    axis: Any = 0,
    out: Any = None,
    *,
    dtype: Any = None,
    casting: str = "same_kind",
) -> Any:
    joined = xp.concat([xp.asarray(a) for a in arrays], axis=axis)
    return joined if dtype is None else xp.astype(joined, dtype)


@implements(np.stack)
def stack(
    xp: Any,
    arrays: Any,
    axis: int = 0,
    out: Any = None,
    *,
    dtype: Any = None,
    casting: str = "same_kind",
) -> Any:
    joined = xp.stack([xp.asarray(a) for a in arrays], axis=axis)
    return joined if dtype is None else xp.astype(joined, dtype)


def _stacked_along(ndim: int, axis: int) -> Implementation:
    def stacked(xp: Any, tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:  # noqa: ARG001
        arrays = [_with_axes(xp, xp.asarray(a), ndim) for a in tup]
        along = 0 if axis == 1 and arrays[0].ndim == 1 else axis
        joined = xp.concat(arrays, axis=along)
        return joined if dtype is None else xp.astype(joined, dtype)

    return stacked


IMPLEMENTATIONS[np.vstack] = _stacked_along(2, 0)
IMPLEMENTATIONS[np.hstack] = _stacked_along(1, 1)
IMPLEMENTATIONS[np.dstack] = _stacked_along(3, 2)


@implements(np.column_stack)
def column_stack(xp: Any, tup: Any) -> Any:
    columns = [xp.asarray(a) for a in tup]
    return xp.concat([c if c.ndim > 1 else xp.reshape(c, (-1, 1)) for c in columns], axis=1)


@implements(np.block)
def block(xp: Any, arrays: Any) -> Any:
    def depth(value: Any) -> int:
        return 1 + max(depth(part) for part in value) if isinstance(value, list) else 0

    def ndim(value: Any) -> int:
        return max(ndim(p) for p in value) if isinstance(value, list) else xp.asarray(value).ndim

    levels = depth(arrays)
    rank = max(levels, ndim(arrays))

    def join(value: Any, level: int) -> Any:
        if not isinstance(value, list):
            a = xp.asarray(value)
            return xp.reshape(a, (1,) * (rank - a.ndim) + tuple(a.shape))
        return xp.concat([join(part, level - 1) for part in value], axis=-level)

    return join(arrays, levels)


@implements(np.append)
def append(xp: Any, arr: Any, values: Any, axis: Any = None) -> Any:
    arr, values = xp.asarray(arr), xp.asarray(values)
    return xp.concat([arr, values], axis=axis)


@implements(np.split)
def split(xp: Any, ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    n = ary.shape[axis]
    if isinstance(indices_or_sections, int):
        if n % indices_or_sections:
            raise ValueError("array split does not result in an equal division")
        size = n // indices_or_sections
        bounds = [i * size for i in range(indices_or_sections + 1)]
    else:
        bounds = [0, *indices_or_sections, n]
    return _pieces(ary, bounds, axis)


@implements(np.array_split)
def array_split(xp: Any, ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    if not isinstance(indices_or_sections, int):
        return split(xp, ary, indices_or_sections, axis)
    size, longer = divmod(ary.shape[axis], indices_or_sections)
    lengths = [size + 1] * longer + [size] * (indices_or_sections - longer)
    bounds = [0]
    for length in lengths:
        bounds.append(bounds[-1] + length)
    return _pieces(ary, bounds, axis)


def _pieces(ary: Any, bounds: list[int], axis: int) -> list[Any]:
    at = axis % ary.ndim
    return [
        ary[(slice(None),) * at + (slice(a, b),)]
        for a, b in zip(bounds[:-1], bounds[1:], strict=True)
    ]


IMPLEMENTATIONS[np.hsplit] = lambda xp, ary, s: split(xp, ary, s, 0 if ary.ndim == 1 else 1)
IMPLEMENTATIONS[np.vsplit] = lambda xp, ary, s: split(xp, ary, s, 0)


@implements(np.unstack)
def unstack(xp: Any, x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    return xp.unstack(x, axis=axis)  # type: ignore[no-any-return]


# Rearranging ------------------------------------------------------------------------------------


@implements(np.flip)
def flip(xp: Any, m: Any, axis: Any = None) -> Any:
    return xp.flip(m, axis=axis)


IMPLEMENTATIONS[np.fliplr] = lambda xp, m: xp.flip(m, axis=1)
IMPLEMENTATIONS[np.flipud] = lambda xp, m: xp.flip(m, axis=0)


@implements(np.rot90)
def rot90(xp: Any, m: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    for _ in range(k % 4):
        m = xp.flip(swapaxes(xp, m, *axes), axis=axes[0])
    return m


@implements(np.roll)
def roll(xp: Any, a: Any, shift: Any, axis: Any = None) -> Any:
    return xp.roll(a, shift, axis=axis)


@implements(np.tile)
def tile(xp: Any, A: Any, reps: Any) -> Any:
    return xp.tile(A, _sizes(reps))


@implements(np.repeat)
def repeat(xp: Any, a: Any, repeats: Any, axis: Any = None) -> Any:
    counts = np.asarray(repeats) if isinstance(repeats, (list, tuple)) else repeats
    return xp.repeat(a, counts, axis=axis)


@implements(np.sort)
def sort(
    xp: Any, a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> Any:
    if axis is None:
        a, axis = xp.reshape(a, (-1,)), -1
    return xp.sort(a, axis=axis)


@implements(np.argsort)
def argsort(
    xp: Any, a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> Any:
    if axis is None:
        a, axis = xp.reshape(a, (-1,)), -1
    return xp.argsort(a, axis=axis)


@implements(np.take)
def take(
    xp: Any, a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise"
) -> Any:
    a = xp.asarray(a)
    if axis is None:
        a, axis = xp.reshape(a, (-1,)), 0
    return a[(slice(None),) * (axis % a.ndim) + (indices,)]


@implements(np.take_along_axis)
def take_along_axis(xp: Any, arr: Any, indices: Any, axis: Any = -1) -> Any:
    if axis is None:
        arr, axis = xp.reshape(arr, (-1,)), 0
    return xp.take_along_axis(arr, indices, axis=axis)


@implements(np.diff)
def diff(
    xp: Any, a: Any, n: int = 1, axis: int = -1, prepend: Any = NoValue, append: Any = NoValue
) -> Any:
    at = axis % a.ndim
    before = (slice(None),) * at
    pieces = []
    for part in (prepend, a, append):
        if part is NoValue:
            continue
        piece = xp.asarray(part)
        if piece.ndim == 0:
            shape = list(a.shape)
            shape[at] = 1
            piece = xp.broadcast_to(piece, tuple(shape))
        pieces.append(piece)
    a = xp.concat(pieces, axis=at) if len(pieces) > 1 else a
    for _ in range(n):
        a = a[(*before, slice(1, None))] - a[(*before, slice(None, -1))]
    return a


@implements(np.trapezoid)
def trapezoid(xp: Any, y: Any, x: Any = None, dx: float = 1.0, axis: int = -1) -> Any:
    y = xp.asarray(y)
    step: Any = dx
    if x is not None:
        x = xp.asarray(x)
        step = diff(xp, x, axis=-1 if x.ndim == 1 else axis)
        if step.ndim == 1 and y.ndim > 1:
            shape = [1] * y.ndim
            shape[axis] = -1
            step = xp.reshape(step, tuple(shape))
    before = (slice(None),) * (axis % y.ndim)
    pairs = y[(*before, slice(1, None))] + y[(*before, slice(None, -1))]
    return xp.sum(step * pairs, axis=axis) / 2.0


@implements(np.where)
def where(xp: Any, condition: Any, x: Any = NoValue, y: Any = NoValue, /) -> Any:
    if x is NoValue:
        return xp.nonzero(condition)
    return xp.where(xp.asarray(condition) != 0, x, y)


@implements(np.clip)
def clip(
    xp: Any,
    a: Any,
    a_min: Any = NoValue,
    a_max: Any = NoValue,
    out: Any = None,
    *,
    min: Any = NoValue,
    max: Any = NoValue,
    **_: Any,
) -> Any:
    low = a_min if _given(a_min) else min if _given(min) else None
    high = a_max if _given(a_max) else max if _given(max) else None
    return xp.clip(a, low, high)


@implements(np.nonzero)
def nonzero(xp: Any, a: Any) -> Any:
    return xp.nonzero(a)


@implements(np.tril)
def tril(xp: Any, m: Any, k: int = 0) -> Any:
    return xp.tril(m, k=k)


@implements(np.triu)
def triu(xp: Any, m: Any, k: int = 0) -> Any:
    return xp.triu(m, k=k)


@implements(np.diagonal)
def diagonal(xp: Any, a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    return xp.linalg.diagonal(xp.moveaxis(a, (axis1, axis2), (-2, -1)), offset=offset)


@implements(np.diag)
def diag(xp: Any, v: Any, k: int = 0) -> Any:
    if v.ndim == 2:
        return xp.linalg.diagonal(v, offset=k)
    n = v.shape[0] + abs(k)
    eye = np.eye(v.shape[0], n, k=max(k, 0)) if k >= 0 else np.eye(v.shape[0], n)
    placed = xp.expand_dims(v, axis=1) * eye
    if k >= 0:
        return xp.concat([placed, xp.zeros((k, n), dtype=v.dtype)], axis=0) if k else placed
    return xp.concat([xp.zeros((-k, n), dtype=v.dtype), placed], axis=0)


@implements(np.copy)
def copy(xp: Any, a: Any, order: str = "K", subok: bool = False) -> Any:  # noqa: ARG001
    return xp.copy(a)


@implements(np.astype)
def astype(xp: Any, x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:  # noqa: ARG001
    return xp.astype(x, np.dtype(dtype), copy=copy)


@implements(np.real)
def real(xp: Any, val: Any) -> Any:  # noqa: ARG001
    return val.real


@implements(np.imag)
def imag(xp: Any, val: Any) -> Any:  # noqa: ARG001
    return val.imag


@implements(np.angle)
def angle(xp: Any, z: Any, deg: bool = False) -> Any:
    found = xp.atan2(xp.asarray(z.imag), xp.asarray(z.real))
    return found * (180.0 / math.pi) if deg else found


@implements(np.round, np.around)
def round_(xp: Any, a: Any, decimals: int = 0, out: Any = None) -> Any:  # noqa: ARG001
    scale = 10.0**decimals
    return xp.round(a) if not decimals else xp.round(a * scale) / scale


@implements(np.sinc)
def sinc(xp: Any, x: Any) -> Any:
    near = xp.abs(x) < 1e-3
    at = math.pi * xp.where(near, 1.0, x)
    square = (math.pi * xp.where(near, x, 0.0)) ** 2
    series = 1.0 - square / 6.0 * (1.0 - square / 20.0 * (1.0 - square / 42.0))
    return xp.where(near, series, xp.sin(at) / at)


@implements(np.nan_to_num)
def nan_to_num(
    xp: Any,
    x: Any,
    copy: bool = True,
    nan: float = 0.0,
    posinf: Any = None,
    neginf: Any = None,
) -> Any:
    info = xp.finfo(x.dtype)
    high = float(info.max) if posinf is None else posinf
    low = float(info.min) if neginf is None else neginf
    x = xp.where(xp.isnan(x), nan, x)
    return xp.where(xp.isinf(x), xp.where(x > 0, high, low), x)


# Products and linear algebra --------------------------------------------------------------------


@implements(np.dot)
def dot(xp: Any, a: Any, b: Any, out: Any = None) -> Any:  # noqa: ARG001
    a, b = xp.asarray(a), xp.asarray(b)
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    if b.ndim <= 2:
        return xp.matmul(a, b)
    return xp.tensordot(a, b, axes=((-1,), (-2,)))


@implements(np.inner)
def inner(xp: Any, a: Any, b: Any, /) -> Any:
    a, b = xp.asarray(a), xp.asarray(b)
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    return xp.tensordot(a, b, axes=((-1,), (-1,)))


@implements(np.vdot)
def vdot(xp: Any, a: Any, b: Any, /) -> Any:
    return xp.vecdot(xp.reshape(xp.asarray(a), (-1,)), xp.reshape(xp.asarray(b), (-1,)))


@implements(np.outer)
def outer(xp: Any, a: Any, b: Any, out: Any = None) -> Any:  # noqa: ARG001
    return xp.reshape(xp.asarray(a), (-1, 1)) * xp.reshape(xp.asarray(b), (1, -1))


@implements(np.linalg.outer)
def linalg_outer(xp: Any, x1: Any, x2: Any, /) -> Any:
    return xp.linalg.outer(x1, x2)


@implements(np.tensordot)
def tensordot(xp: Any, a: Any, b: Any, axes: Any = 2) -> Any:
    return xp.tensordot(a, b, axes=axes)


@implements(np.einsum)
def einsum(xp: Any, *operands: Any, out: Any = None, **options: Any) -> Any:  # noqa: ARG001
    if not isinstance(operands[0], str):
        raise NoRuleError(
            "np.einsum with lists of axes has no rule. Fix: write the subscripts as a string."
        )
    return xp.einsum(operands[0], *(xp.asarray(o) for o in operands[1:]))


@implements(np.kron)
def kron(xp: Any, a: Any, b: Any) -> Any:
    a, b = xp.asarray(a), xp.asarray(b)
    ndim = max(a.ndim, b.ndim)
    first = (1,) * (ndim - a.ndim) + tuple(a.shape)
    second = (1,) * (ndim - b.ndim) + tuple(b.shape)
    left = xp.reshape(a, tuple(n for size in first for n in (size, 1)))
    right = xp.reshape(b, tuple(n for size in second for n in (1, size)))
    product = tuple(m * n for m, n in zip(first, second, strict=True))
    return xp.reshape(left * right, product)


@implements(np.trace)
def trace(
    xp: Any,
    a: Any,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    dtype: Any = None,
    out: Any = None,
) -> Any:
    return xp.linalg.trace(xp.moveaxis(a, (axis1, axis2), (-2, -1)), offset=offset, dtype=dtype)


@implements(np.linalg.trace)
def linalg_trace(xp: Any, x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    return xp.linalg.trace(x, offset=offset, dtype=dtype)


@implements(np.linalg.norm)
def norm(xp: Any, x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    x = xp.asarray(x)
    if axis is None and ord is None:
        return xp.linalg.vector_norm(x, keepdims=keepdims)
    if axis is None:
        axis = tuple(range(x.ndim))
    axes = as_axes(axis, x.ndim)
    if len(axes) == 1:
        return xp.linalg.vector_norm(x, axis=axis, keepdims=keepdims, ord=2 if ord is None else ord)
    if len(axes) != 2:
        raise ValueError("Improper number of dimensions to norm.")
    if ord in (None, "fro"):
        return xp.linalg.vector_norm(x, axis=axes, keepdims=keepdims)
    moved = xp.moveaxis(x, axes, (-2, -1))
    found = xp.linalg.matrix_norm(moved, ord=ord)
    return expand_dims(xp, found, axes) if keepdims else found


def _same_in_standard(name: str) -> Implementation:
    def call(xp: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(xp.linalg, name)(*args, **kwargs)

    return call


for _name in (
    "inv",
    "det",
    "slogdet",
    "vector_norm",
    "matrix_norm",
    "vecdot",
    "tensordot",
    "diagonal",
    "matmul",
):
    IMPLEMENTATIONS[getattr(np.linalg, _name)] = _same_in_standard(_name)


@implements(np.linalg.solve)
def solve(xp: Any, a: Any, b: Any) -> Any:
    a, b = xp.asarray(a), xp.asarray(b)
    return xp.linalg.solve(a, b)


@implements(np.linalg.multi_dot)
def multi_dot(xp: Any, arrays: Any, *, out: Any = None) -> Any:  # noqa: ARG001
    product = xp.asarray(arrays[0])
    for factor in arrays[1:]:
        product = xp.matmul(product, factor)
    return product


@implements(np.linalg.matrix_power)
def matrix_power(xp: Any, a: Any, n: int) -> Any:
    if n < 0:
        a, n = xp.linalg.inv(a), -n
    result = xp.broadcast_to(xp.eye(a.shape[-1], dtype=a.dtype), a.shape)
    while n:
        if n & 1:
            result = xp.matmul(result, a)
        a, n = xp.matmul(a, a), n >> 1
    return result


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


@implements(np.median)
def median(
    xp: Any,
    a: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    keepdims: Any = False,
) -> Any:
    """The middle of the sorted elements; the mean of the middle two."""
    a = xp.asarray(a)
    axes = as_axes(axis, a.ndim)
    rest = tuple(i for i in range(a.ndim) if i not in axes)
    rows = xp.reshape(xp.permute_dims(a, rest + axes), (*(a.shape[i] for i in rest), -1))
    ordered = xp.sort(rows, axis=-1)
    n = rows.shape[-1]
    found = (ordered[..., (n - 1) // 2] + ordered[..., n // 2]) / 2.0
    if not _flag(keepdims):
        return found
    return xp.reshape(found, tuple(1 if i in axes else a.shape[i] for i in range(a.ndim)))


@implements(np.pad)
def pad(xp: Any, array: Any, pad_width: Any, mode: str = "constant", **options: Any) -> Any:
    """With a constant; other modes by taking the elements that NumPy would repeat."""
    array = xp.asarray(array)
    if mode == "constant" and not options.get("constant_values"):
        out = xp.zeros(np.pad(np.zeros(array.shape, np.int8), pad_width).shape, dtype=array.dtype)
        widths = np.broadcast_to(np.asarray(pad_width), (array.ndim, 2))
        key = tuple(
            slice(int(b), int(b) + n) for (b, _), n in zip(widths, array.shape, strict=True)
        )
        out[key] = array
        return out
    if mode in ("edge", "reflect", "symmetric", "wrap"):
        places = np.pad(np.arange(array.size).reshape(array.shape), pad_width, mode=mode, **options)
        return xp.reshape(array, (-1,))[places]
    raise NoRuleError(f"np.pad with mode={mode!r} has no rule. Fix: np.concatenate the parts.")


@implements(np.convolve)
def convolve(xp: Any, a: Any, v: Any, mode: str = "full") -> Any:
    """As a product with the matrix of shifted copies."""
    a, v = xp.asarray(a), xp.asarray(v)
    if a.shape[0] < v.shape[0]:
        a, v = v, a
    n, m = a.shape[0], v.shape[0]
    padded = pad(xp, a, m - 1)
    windows = padded[np.arange(n + m - 1)[:, None] + np.arange(m)[None, :]]
    full = xp.matmul(windows, xp.flip(v))
    lengths = {
        "full": (0, n + m - 1),
        "same": ((m - 1) // 2, (m - 1) // 2 + n),
        "valid": (m - 1, n),
    }
    first, last = lengths[mode]
    return full[first:last]


@implements(np.cross)
def cross(
    xp: Any,
    a: Any,
    b: Any,
    axisa: int = -1,
    axisb: int = -1,
    axisc: int = -1,
    axis: int | None = None,
) -> Any:
    """Vectors of three components."""
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = xp.moveaxis(xp.asarray(a), axisa, -1), xp.moveaxis(xp.asarray(b), axisb, -1)
    if a.shape[-1] != 3 or b.shape[-1] != 3:
        raise NoRuleError(
            "np.cross of vectors of two components has no rule. "
            "Fix: a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]."
        )
    after, before = [1, 2, 0], [2, 0, 1]
    product = a[..., after] * b[..., before] - a[..., before] * b[..., after]
    return product if axisc == -1 else xp.moveaxis(product, -1, axisc)


@implements(np.polyval)
def polyval(xp: Any, p: Any, x: Any) -> Any:
    """By Horner's rule."""
    p, x = xp.asarray(p), xp.asarray(x)
    total = x * 0.0
    for i in range(p.shape[0]):
        total = total * x + p[i]
    return total


@implements(np.interp)
def interp(
    xp: Any, x: Any, xp_: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    """Piecewise linear; the breakpoints are data, their values may be tracked."""
    from gradwrap.core.unwrapping import native

    if period is not None or left is not None or right is not None:
        raise NoRuleError(
            "np.interp with left=, right= or period= has no rule. Fix: np.where around it."
        )
    knots = xp.asarray(xp_)
    x, fp = xp.asarray(x), xp.asarray(fp)
    places = np.searchsorted(native(knots), native(x), side="right") - 1
    places = np.clip(places, 0, knots.shape[0] - 2)
    low, high = knots[places], knots[places + 1]
    inside = xp.clip(x, knots[0], knots[-1])
    share = (inside - low) / (high - low)
    return fp[places] * (1.0 - share) + fp[places + 1] * share


# Creation, and questions ------------------------------------------------------------------------


def _like(name: str) -> Implementation:
    def like(
        xp: Any,
        a: Any,
        dtype: Any = None,
        order: str = "K",
        subok: bool = True,  # noqa: ARG001
        shape: Any = None,
        *,
        device: Any = None,
    ) -> Any:
        if shape is not None:
            return getattr(xp, name.removesuffix("_like"))(
                _sizes(shape), dtype=a.dtype if dtype is None else dtype
            )
        return getattr(xp, name)(a, dtype=dtype)

    return like


for _name in ("zeros_like", "ones_like", "empty_like"):
    IMPLEMENTATIONS[getattr(np, _name)] = _like(_name)


@implements(np.full_like)
def full_like(
    xp: Any,
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "K",  # noqa: ARG001
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Any:
    dtype = a.dtype if dtype is None else dtype
    filled = xp.astype(xp.asarray(fill_value), dtype)
    return xp.copy(xp.broadcast_to(filled, a.shape if shape is None else _sizes(shape)))


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


# Ufuncs -----------------------------------------------------------------------------------------

OTHER_NAMES = {"pow": np.power, "round": np.rint, "bitwise_invert": np.invert}

NUMPY_UFUNCS = [
    elementwise(
        "cbrt", "x", lambda xp, g, out: g / (3.0 * out * out), domain=(0.5, 2.0), only_real=True
    ),
    elementwise("exp2", "x", lambda xp, g, out: g * (out * math.log(2.0))),
    elementwise(
        "logaddexp2",
        "x1 x2",
        lambda xp, g, x1, out: g * 2.0 ** (x1 - out),
        lambda xp, g, x2, out: g * 2.0 ** (x2 - out),
        only_real=True,
    ),
    elementwise("deg2rad", "x", lambda xp, g: g * (math.pi / 180.0), only_real=True),
    elementwise("rad2deg", "x", lambda xp, g: g * (180.0 / math.pi), only_real=True),
    elementwise("radians", "x", lambda xp, g: g * (math.pi / 180.0), only_real=True),
    elementwise("degrees", "x", lambda xp, g: g * (180.0 / math.pi), only_real=True),
    elementwise("fabs", "x", lambda xp, g, x: g * xp.sign(x), only_real=True, convention="0 at 0"),
    elementwise(
        "fmax",
        "x1 x2",
        lambda xp, g, x1, x2: _shared(xp, g, x1, x2, (x1 >= x2) | (x2 != x2)),
        lambda xp, g, x1, x2: _shared(xp, g, x2, x1, (x2 >= x1) | (x1 != x1)),
        only_real=True,
        convention="shared evenly at a tie; never to a NaN",
    ),
    elementwise(
        "fmin",
        "x1 x2",
        lambda xp, g, x1, x2: _shared(xp, g, x1, x2, (x1 <= x2) | (x2 != x2)),
        lambda xp, g, x1, x2: _shared(xp, g, x2, x1, (x2 <= x1) | (x1 != x1)),
        only_real=True,
        convention="shared evenly at a tie; never to a NaN",
    ),
    elementwise(
        "float_power",
        "x1 x2",
        lambda xp, g, x1, x2: g * x2 * x1 ** (x2 - 1),
        lambda xp, g, x1, out: g * out * xp.log(xp.asarray(x1)),
        domain=(0.5, 2.0),
        same=False,
    ),
    elementwise(
        "fmod",
        "x1 x2",
        lambda xp, g: g,
        lambda xp, g, x1, x2: -(g * xp.trunc(x1 / x2)),
        domain=(0.6, 1.9),
        only_real=True,
    ),
    nondifferentiable("heaviside", "x1, x2, /", "piecewise constant", arrays=2),
    nondifferentiable("gcd", "x1, x2, /", "of integers", arrays=2),
    nondifferentiable("lcm", "x1, x2, /", "of integers", arrays=2),
    nondifferentiable("spacing", "x, /", "a unit in the last place"),
]


def _shared(xp: Any, g: Any, mine: Any, other: Any, chosen: Any) -> Any:
    ties = xp.astype(mine == other, g.dtype)
    return g * xp.astype(chosen & (mine == mine), g.dtype) * (1.0 - 0.5 * ties)  # noqa: PLR0124


def register_all() -> None:
    """Enter NumPy's own ufuncs, and let every ufunc find its operation."""
    register(NUMPY_UFUNCS, "numpy")
    for op in list(ops()):
        function = OTHER_NAMES.get(op.name, getattr(np, op.name, None))
        if isinstance(function, np.ufunc):
            register_function(function, op)
    conj = find_op("conj")
    assert conj is not None
    register_function(np.conjugate, conj)
