"""Products and linear algebra."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwrap.backends.numpy_functions.rearranging import pad
from gradwrap.backends.numpy_functions.shapes import expand_dims
from gradwrap.backends.numpy_functions.table import (
    IMPLEMENTATIONS,
    Implementation,
    implements,
)
from gradwrap.errors import NoRuleError
from gradwrap.rules.axes import as_axes


@implements(np.dot)
def dot(xp: Any, a: Any, b: Any, out: Any = None) -> Any:
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
def outer(xp: Any, a: Any, b: Any, out: Any = None) -> Any:
    return xp.reshape(xp.asarray(a), (-1, 1)) * xp.reshape(xp.asarray(b), (1, -1))


@implements(np.linalg.outer)
def linalg_outer(xp: Any, x1: Any, x2: Any, /) -> Any:
    return xp.linalg.outer(x1, x2)


@implements(np.tensordot)
def tensordot(xp: Any, a: Any, b: Any, axes: Any = 2) -> Any:
    return xp.tensordot(a, b, axes=axes)


@implements(np.einsum)
def einsum(xp: Any, *operands: Any, out: Any = None, **options: Any) -> Any:
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
def multi_dot(xp: Any, arrays: Any, *, out: Any = None) -> Any:
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
