"""Products and linear algebra."""

from __future__ import annotations

import functools
import string
from typing import Any

import numpy as np

from gradwrap.backends.numpy_functions.shapes import with_axes
from gradwrap.backends.numpy_functions.table import cast, completes, implements, standard
from gradwrap.errors import NoRuleError
from gradwrap.rules.axes import as_axes


@completes(np.dot)
def dot(xp: Any, a: Any, b: Any) -> Any:
    a, b = xp.asarray(a), xp.asarray(b)
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    if b.ndim <= 2:
        return xp.matmul(a, b)
    return xp.tensordot(a, b, axes=((-1,), (-2,)))


@implements("inner(a, b, /)", arrays=2)
def inner(xp: Any, a: Any, b: Any) -> Any:
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    return xp.tensordot(a, b, axes=((-1,), (-1,)))


standard("vecdot", "vdot(a, b, /) -> *(xp.reshape(xp.asarray(x), (-1,)) for x in (a, b))")


@implements("outer(a, b, out=None)", arrays=2)
def outer(xp: Any, a: Any, b: Any) -> Any:
    return xp.reshape(a, (-1, 1)) * xp.reshape(b, (1, -1))


standard("tensordot", "tensordot(a, b, axes=2) -> a, b, axes=axes")
standard("linalg.tensordot", "linalg.tensordot(x1, x2, /, *, axes=2)")
standard("linalg.outer", "linalg.outer(x1, x2, /)")
standard("linalg.vecdot", "linalg.vecdot(x1, x2, /, *, axis=-1)")
standard("linalg.matrix_norm", "linalg.matrix_norm(x, /, *, keepdims=False, ord='fro')")
standard("linalg.matrix_power", "linalg.matrix_power(a, n) -> xp.asarray(a), n")


@implements("einsum(*operands, out=None, optimize=False, **kwargs)")
def einsum(xp: Any, *operands: Any, **kwargs: Any) -> Any:
    subscripts = operands[0]
    arrays = operands[1:]
    if not isinstance(subscripts, str):
        subscripts, arrays = _as_subscripts(operands)
    found = xp.einsum(subscripts, *(xp.asarray(o) for o in arrays))
    return cast(xp, found, kwargs.get("dtype"))


LETTERS = string.ascii_letters


def _as_subscripts(operands: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """Arrays and lists of axes, alternating, as subscripts in letters."""
    count = len(operands) // 2
    words = [
        "".join("..." if axis is Ellipsis else LETTERS[axis] for axis in operands[2 * i + 1])
        for i in range(count)
    ]
    text = ",".join(words)
    if len(operands) % 2:
        text += "->" + "".join("..." if a is Ellipsis else LETTERS[a] for a in operands[-1])
    return text, operands[: 2 * count : 2]


@implements("kron(a, b)", arrays=2)
def kron(xp: Any, a: Any, b: Any) -> Any:
    ndim = max(a.ndim, b.ndim)
    first = (1,) * (ndim - a.ndim) + tuple(a.shape)
    second = (1,) * (ndim - b.ndim) + tuple(b.shape)
    left = xp.reshape(a, tuple(n for size in first for n in (size, 1)))
    right = xp.reshape(b, tuple(n for size in second for n in (1, size)))
    product = tuple(m * n for m, n in zip(first, second, strict=True))
    return xp.reshape(left * right, product)


@implements("linalg.norm(x, ord=None, axis=None, keepdims=False)", arrays=1)
def norm(xp: Any, x: Any, ord: Any, axis: Any, keepdims: bool) -> Any:
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
    return with_axes(xp, "expand_dims", found, axis=axes) if keepdims else found


@implements("linalg.multi_dot(arrays, *, out=None)")
def multi_dot(xp: Any, arrays: Any) -> Any:
    """Multiply in the order that takes the fewest multiplications."""
    factors = [xp.asarray(a) for a in arrays]
    ends = [factors[0].shape[0] if factors[0].ndim > 1 else 1]
    ends += [a.shape[-1] if a.ndim > 1 or i == 0 else 1 for i, a in enumerate(factors)]

    @functools.cache
    def best(i: int, j: int) -> tuple[int, int]:
        if i == j:
            return 0, i
        return min(
            (best(i, k)[0] + best(k + 1, j)[0] + ends[i] * ends[k + 1] * ends[j + 1], k)
            for k in range(i, j)
        )

    def product(i: int, j: int) -> Any:
        if i == j:
            return factors[i]
        split = best(i, j)[1]
        return xp.matmul(product(i, split), product(split + 1, j))

    return product(0, len(factors) - 1)


@implements("cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None)", arrays=2)
def cross(xp: Any, a: Any, b: Any, axisa: int, axisb: int, axisc: int, axis: int | None) -> Any:
    """The product of vectors of three components."""
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = xp.moveaxis(a, axisa, -1), xp.moveaxis(b, axisb, -1)
    if a.shape[-1] != 3 or b.shape[-1] != 3:
        raise NoRuleError(
            "np.cross of vectors of two components has no rule. "
            "Fix: a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]."
        )
    product = xp.linalg.cross(a, b)
    return product if axisc == -1 else xp.moveaxis(product, -1, axisc)
