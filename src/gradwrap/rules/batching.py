"""The batching functions that rows have words for, such as `batch="axis"`.

Each gets the data of a batch, the batch axis first; most of them perform the operation itself, with
the axes moved by one. Their possible arguments are listed in `gradwrap.core.calls.batch`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from numpy.exceptions import AxisError

from gradwrap.core.calls.batch import aligned, register_batching
from gradwrap.core.levels.memory import is_fortran
from gradwrap.core.values.dynamic import SEQUENCE, TUPLE
from gradwrap.rules.axes import as_axes
from gradwrap.rules.batched_keys import BatchedKey, place_of
from gradwrap.rules.linear_algebra import parse_einsum

if TYPE_CHECKING:
    from collections.abc import Sequence


def _behind(axis: Any, ndim: int) -> Any:
    """Return an axis of an example with `ndim` axes, as an axis of the batch.

    It must be checked here, since the batch has one more axis, just before the example's first.
    """
    if isinstance(axis, SEQUENCE):
        return tuple(_behind(a, ndim) for a in axis)
    if not -ndim <= axis < ndim:
        raise AxisError(axis, ndim)
    return axis + 1 if axis >= 0 else axis


def _flat(xp: Any, x: Any) -> Any:
    """Flatten each example."""
    return xp.reshape(x, (x.shape[0], math.prod(x.shape[1:])))


def _position(xp: Any, op: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    """Find the position of an extremum; None stands for the flattened example."""
    if axis is not None and x.ndim > 1:
        return op(x, _behind(axis, x.ndim - 1), keepdims)
    found = op(_flat(xp, x), 1, False)
    return xp.reshape(found, (x.shape[0], *(1,) * (x.ndim - 1))) if keepdims else found


def _argsort(xp: Any, op: Any, x: Any, axis: int, descending: bool, stable: bool) -> Any:
    """Return the sorting positions along one axis; for a number a vector, as in NumPy."""
    axis = _behind(axis, max(x.ndim - 1, 1))
    return op(x if x.ndim > 1 else x[:, None], axis, descending, stable)


def _axis(xp: Any, op: Any, x: Any, statics: dict[str, Any]) -> Any:
    """Work along one axis; None stands for the only one."""
    axis = statics["axis"]
    if x.ndim == 1 and axis is not None:  # numbers, which NumPy takes for arrays of one element
        shape = op(x[0], *statics.values()).shape if len(x) else ()
        found = op(x[:, None], *{**statics, "axis": 1}.values())
        return xp.reshape(found, (len(x), *shape))
    return op(x, *{**statics, "axis": 1 if axis is None else _behind(axis, x.ndim - 1)}.values())


def _axes(xp: Any, op: Any, x: Any, statics: dict[str, Any]) -> Any:
    """Work along several axes; None stands for all, or the last ones if their lengths are given."""
    name = "axes" if "axes" in statics else "axis"
    axes = statics[name]
    if x.ndim == 1:  # each example is a number
        for axis in as_axes(axes, 0) if axes is not None else ():
            _behind(axis, 1)
        return op(x[:, None], *{**statics, name: 1, "keepdims": False}.values())
    if axes is None:
        lengths = statics.get("s")
        axes = tuple(range(-(x.ndim - 1 if lengths is None else len(lengths)), 0))
    return op(x, *{**statics, name: _behind(axes, x.ndim - 1)}.values())


def _as_matrices(xp: Any, x1: Any, x2: Any, batched: Sequence[bool]) -> tuple[Any, Any, bool, bool]:
    """Return two factors as stacks of matrices, and whether each was a vector."""
    vectors = [x.ndim - b == 1 for x, b in zip((x1, x2), batched, strict=True)]
    if vectors[0]:
        x1 = xp.expand_dims(x1, axis=-2)
    if vectors[1]:
        x2 = xp.expand_dims(x2, axis=-1)
    x1, x2 = aligned(xp, (x1, x2), batched)
    return x1, x2, vectors[0], vectors[1]


def _matmul(xp: Any, op: Any, x1: Any, x2: Any, batched: Sequence[bool]) -> Any:
    """Compute one product for the whole batch if a factor is shared, and a stack of them if not."""
    if batched[0] and not batched[1] and x2.ndim <= 2:
        return op(x1, x2)
    if batched[1] and not batched[0] and x2.ndim == 2 and x1.ndim <= 2:
        return op(x2, x1 if x1.ndim == 1 else xp.matrix_transpose(x1))
    if batched[1] and not batched[0] and x1.ndim == 2 and x2.ndim == 3 and x2.shape[2] == 1:
        return op(x2[:, :, 0], xp.matrix_transpose(x1))[:, :, None]
    left, right, is_row, is_column = _as_matrices(xp, x1, x2, batched)
    product = op(left, right)
    if is_column:
        product = product[..., 0]
    if is_row:
        product = product[..., 0] if is_column else product[..., 0, :]
    return product


def _solve(xp: Any, op: Any, x1: Any, x2: Any, batched: Sequence[bool]) -> Any:
    """Factorise a shared matrix once, with all right-hand sides as columns."""
    rank = x2.ndim - batched[1]
    if not batched[0] and x1.ndim == 2 and rank <= 2:
        columns = xp.moveaxis(x2, 0, -1)
        found = op(x1, xp.reshape(columns, (columns.shape[0], math.prod(columns.shape[1:]))))
        return xp.moveaxis(xp.reshape(found, columns.shape), -1, 0)
    if rank == 1:
        x2 = xp.expand_dims(x2, axis=-1)
    x1, x2 = aligned(xp, (x1, x2), batched)
    found = op(x1, x2)
    return found[..., 0] if rank == 1 else found


def _cross(xp: Any, op: Any, x1: Any, x2: Any, axis: int, batched: Sequence[bool]) -> Any:
    rank = max(x.ndim - b for x, b in zip((x1, x2), batched, strict=True))
    x1, x2 = aligned(xp, (x1, x2), batched)
    return op(x1, x2, _behind(axis, rank))


def _einsum(xp: Any, op: Any, operands: list[Any], subscripts: str, batched: Sequence[bool]) -> Any:
    """Add a letter for the batch axis."""
    ranks = [len(x.shape) - b for x, b in zip(operands, batched, strict=True)]
    inputs, output = parse_einsum(subscripts, ranks)
    letter = next(c for c in "ZYXWVUTSRQPONMLKJIHGFEDCBAzyxwvu" if c not in "".join(inputs))
    left = ",".join(letter * b + part for part, b in zip(inputs, batched, strict=True))
    return op(operands, f"{left}->{letter}{output}")


def _broadcast_to(xp: Any, op: Any, x: Any, shape: tuple[int, ...]) -> Any:
    missing = (1,) * (len(shape) + 1 - x.ndim)
    return op(xp.reshape(x, (x.shape[0], *missing, *x.shape[1:])), (x.shape[0], *shape))


def _reshape(xp: Any, op: Any, x: Any, shape: Any, copy: Any) -> Any:
    """Reshape each example; of no examples, a length of -1 cannot be found from their number."""
    lengths = (shape,) if isinstance(shape, int) else tuple(shape)
    if -1 in lengths and not x.shape[0]:
        known = math.prod(n for n in lengths if n != -1)
        found = math.prod(x.shape[1:]) // known if known else 0
        lengths = tuple(found if n == -1 else n for n in lengths)
    return op(x, (x.shape[0], *lengths), copy)


def _copy(xp: Any, op: Any, x: Any, order: str) -> Any:
    """Copy each example in its memory order."""
    order = order.upper()
    if order == "A":
        order = "F" if len(x) and is_fortran(x[0]) else "C"
    if order != "F":
        return op(x, order)
    turned = (0, *range(len(x.shape) - 1, 0, -1))
    return xp.permute_dims(op(xp.permute_dims(x, turned), "C"), turned)


def _tile(xp: Any, op: Any, x: Any, repetitions: Any) -> Any:
    times = (repetitions,) if isinstance(repetitions, int) else tuple(repetitions)
    rank = x.ndim - 1
    if len(times) > rank:
        x = xp.reshape(x, (x.shape[0], *(1,) * (len(times) - rank), *x.shape[1:]))
    return op(x, (1, *(1,) * (rank - len(times)), *times))


def _roll(xp: Any, op: Any, x: Any, shift: Any, axis: Any) -> Any:
    if axis is not None:
        return op(x, shift, _behind(axis, x.ndim - 1))
    return xp.reshape(op(_flat(xp, x), shift, 1), x.shape)


def _repeat(xp: Any, op: Any, x: Any, repeats: Any, axis: int | None) -> Any:
    at = 1 if axis is None else _behind(axis, max(x.ndim - 1, 1))
    return op(_flat(xp, x) if axis is None or x.ndim == 1 else x, repeats, at)


def _concat(xp: Any, op: Any, arrays: list[Any], axis: int | None) -> Any:
    if axis is None:
        return op([_flat(xp, x) for x in arrays], 1)
    return op(arrays, _behind(axis, arrays[0].ndim - 1))


def _stack(xp: Any, op: Any, arrays: list[Any], axis: int, size: int) -> Any:
    place = place_of(next(x for x in arrays if hasattr(x, "shape")))
    arrays = [
        x if hasattr(x, "shape") else xp.broadcast_to(xp.asarray(x, device=place), (size,))
        for x in arrays
    ]
    return op(arrays, _behind(axis, arrays[0].ndim))


def _getitem(
    xp: Any, op: Any, x: Any, key: Any, batched: Sequence[bool], level: int, size: int
) -> Any:
    if batched[0] and type(key) in (int, slice):
        return op(x, (slice(None), key))
    one = BatchedKey(xp, key, x.shape[1:] if batched[0] else x.shape, level, size, place_of(x))
    if not batched[0]:
        return one.of_shared(xp, op(x, one.inner))
    return one.of_result(xp, op(x, one.key))


def _setitem(
    xp: Any, op: Any, x: Any, value: Any, key: Any, batched: Sequence[bool], level: int, size: int
) -> Any:
    if not batched[0]:
        x = xp.broadcast_to(x, (size, *x.shape))
    one = BatchedKey(xp, key, x.shape[1:], level, size, place_of(x))
    return op(x, one.of_value(xp, value, batched[1]), one.key)


def _scatter(
    xp: Any,
    op: Any,
    values: Any,
    key: Any,
    shape: tuple[int, ...],
    dtype: Any,
    batched: Sequence[bool],
    level: int,
    size: int,
) -> Any:
    one = BatchedKey(xp, key, shape, level, size, place_of(values))
    if not batched[0]:
        values = xp.broadcast_to(values, (size, *values.shape))
    return op(one.of_value(xp, values, is_batched=True), one.key, (size, *shape), dtype)


def _take(
    xp: Any, op: Any, x: Any, indices: Any, axis: int | None, batched: Sequence[bool], size: int
) -> Any:
    """Gather once for all examples, even if the indices are mapped over."""
    rank = x.ndim - batched[0]
    at = 0 if axis is None else as_axes(axis, rank)[0]
    if not batched[1]:
        return op(x, indices, at + 1)
    own = tuple(indices.shape[1:])
    if not batched[0]:
        flat = op(x, xp.reshape(indices, (-1,)), at)
        split = (*x.shape[:at], size, *own, *x.shape[at + 1 :])
        return xp.moveaxis(xp.reshape(flat, split), at, 0)
    moved = xp.moveaxis(x, at + 1, 1)
    examples = xp.reshape(xp.arange(size, device=place_of(x)), (size, *(1,) * len(own)))
    taken = moved[(examples, indices)]
    sources = tuple(range(1, len(own) + 1))
    return xp.moveaxis(taken, sources, tuple(at + s for s in sources))


def _full_convolution(xp: Any, op: Any, a: Any, v: Any) -> Any:
    """Multiply every window of the longer array, padded with zeros, by the reversed shorter one."""
    if a.shape[1] < v.shape[1]:
        a, v = v, a
    size, length = v.shape
    ahead = xp.zeros((size, length - 1), dtype=a.dtype, device=place_of(a))
    padded = xp.concat([ahead, a, ahead], axis=1)
    starts = xp.arange(a.shape[1] + length - 1, device=place_of(a))
    places = starts[:, None] + xp.arange(length, device=place_of(a))[None, :]
    windows = xp.reshape(xp.take(padded, xp.reshape(places, (-1,)), axis=1), (size, -1, length))
    return xp.sum(windows * xp.flip(v, axis=1)[:, None, :], axis=2)


register_batching(
    {
        "argsort": _argsort,
        "axis": _axis,
        "axes": _axes,
        "position": _position,
        "matmul": _matmul,
        "solve": _solve,
        "cross": _cross,
        "least_squares": lambda xp, op, a, b, rtol, batched: op(
            *aligned(xp, (a, b), batched), rtol
        ),
        "einsum": _einsum,
        "reshape": _reshape,
        "permute_dims": lambda xp, op, x, axes: op(
            x, (0, *(a + 1 for a in as_axes(tuple(axes), x.ndim - 1)))
        ),
        "expand_dims": lambda xp, op, x, axis: op(
            x, _behind(axis, x.ndim - 1 + (len(axis) if isinstance(axis, TUPLE) else 1))
        ),
        "squeeze": lambda xp, op, x, axis: op(x, _behind(axis, x.ndim - 1)),
        "flip": lambda xp, op, x, axis: op(
            x, tuple(range(1, x.ndim)) if axis is None else _behind(axis, x.ndim - 1)
        ),
        "moveaxis": lambda xp, op, x, source, destination: op(
            x, _behind(source, x.ndim - 1), _behind(destination, x.ndim - 1)
        ),
        "broadcast_to": _broadcast_to,
        "copy": _copy,
        "roll": _roll,
        "tile": _tile,
        "repeat": _repeat,
        "concat": _concat,
        "stack": _stack,
        "getitem": _getitem,
        "setitem": _setitem,
        "scatter": _scatter,
        "take": _take,
        "take_along_axis": lambda xp, op, x, indices, axis: op(
            x, indices, _behind(axis, x.ndim - 1)
        ),
        "full_convolution": _full_convolution,
        "searchsorted": lambda xp, op, x1, x2, statics, batched, loop: (
            loop() if batched[0] else op(x1, x2, *statics.values())
        ),
    }
)
