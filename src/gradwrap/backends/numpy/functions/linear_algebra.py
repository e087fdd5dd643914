"""Products, and linear algebra."""

from __future__ import annotations

import functools
import math
import operator
import string
from typing import Any

import numpy as np

from gradwrap.backends.numpy.functions.converting import NoValue, memory_order
from gradwrap.backends.numpy.functions.shapes import with_axes
from gradwrap.backends.numpy.functions.table import (
    cast,
    completes,
    implements,
    in_order,
    on_values,
    standard,
)
from gradwrap.core.array.writing.views import view_of
from gradwrap.core.levels.memory import one_array
from gradwrap.core.levels.wrapper import innermost, native, unwrapped_key
from gradwrap.errors import NoRuleError
from gradwrap.rules.axes import as_axes
from gradwrap.rules.matrices import adjoint, as_read, hermitian_part, real_product


@completes(np.dot)
def dot(xp: Any, a: Any, b: Any) -> Any:
    a, b = xp.asarray(a), xp.asarray(b)
    if a.ndim == 0 or b.ndim == 0:
        return _scaled(a, b)
    if b.ndim <= 2:
        return in_order(xp.matmul(a, b), "C")
    return xp.tensordot(a, b, axes=((-1,), (-2,)))


def _scaled(a: Any, b: Any) -> Any:
    """Multiply an array by a number, in BLAS's memory order for up to two axes."""
    product = a * b
    return in_order(product, "C") if product.ndim <= 2 else product


@implements("inner(a, b, /)", arrays=2)
def inner(xp: Any, a: Any, b: Any) -> Any:
    if a.ndim == 0 or b.ndim == 0:
        return _scaled(a, b)
    return xp.tensordot(a, b, axes=((-1,), (-1,)))


FLATTENED = "*(xp.reshape(xp.asarray(x), (-1,)) for x in (a, b))"
standard("vecdot", f"vdot(a, b, /) -> {FLATTENED}")


standard("linalg.outer", f"outer(a, b, out=None) -> {FLATTENED}")
standard("tensordot", "tensordot(a, b, axes=2) -> a, b, axes=axes")
standard("linalg.tensordot", "linalg.tensordot(x1, x2, /, *, axes=2)")
standard("linalg.outer", "linalg.outer(x1, x2, /)")
standard("linalg.vecdot", "linalg.vecdot(x1, x2, /, *, axis=-1)")
standard("linalg.matrix_norm", "linalg.matrix_norm(x, /, *, keepdims=False, ord='fro')")
standard("linalg.matrix_power", "linalg.matrix_power(a, n) -> xp.asarray(a), n")


@implements("einsum(*operands, out=None, optimize=False, **kwargs)", always=True)
def einsum(xp: Any, *operands: Any, **kwargs: Any) -> Any:
    subscripts = operands[0]
    arrays = operands[1:]
    if not isinstance(subscripts, str):
        subscripts, arrays = _as_subscripts(operands)
    arrays = tuple(xp.asarray(o) for o in arrays)
    found = cast(xp, xp.einsum(subscripts, *arrays), kwargs.get("dtype"))
    order = memory_order(kwargs.get("order", "K"))
    if order == "A":
        order = "F" if all(one_array(a).flags.f_contiguous for a in arrays) else "C"
    return found if order == "K" or view_of(found) is not None else in_order(found, order)


LETTERS = string.ascii_letters


def _as_subscripts(operands: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """Convert alternating arrays and lists of axes to subscripts in letters."""
    count = len(operands) // 2
    lists = [*operands[1 : 2 * count : 2], *operands[2 * count :]]
    if any(i is not Ellipsis and not 0 <= i < len(LETTERS) for axes in lists for i in axes):
        raise ValueError(f"subscript is not within the valid range [0, {len(LETTERS)})")
    words = ["".join("..." if i is Ellipsis else LETTERS[i] for i in axes) for axes in lists]
    return "->".join([",".join(words[:count]), *words[count:]]), operands[: 2 * count : 2]


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
    if not x.size:
        return xp._class._plain(np.linalg.norm(native(x), ord, axis, keepdims))
    if axis is None and ord is None:
        return xp.linalg.vector_norm(x, keepdims=keepdims)
    axes = as_axes(axis, x.ndim)
    if len(axes) not in (1, 2):
        raise ValueError("Improper number of dimensions to norm.")
    if len(axes) == 1 or ord in (None, "fro"):
        ord = 2 if ord is None or len(axes) == 2 else ord
        return xp.linalg.vector_norm(x, axis=axes, keepdims=keepdims, ord=ord)
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


def _in_space(xp: Any, vectors: Any) -> Any:
    """Give vectors of two components a third one, which is zero."""
    if vectors.shape[-1] == 3:
        return vectors
    return xp.concat((vectors, xp.zeros_like(vectors[..., :1])), axis=-1)


@implements("cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None)", arrays=2)
def cross(xp: Any, a: Any, b: Any, axisa: int, axisb: int, axisc: int, axis: int | None) -> Any:
    """Compute the cross product; of vectors with two components, the third one is zero."""
    if axis is not None:
        axisa = axisb = axisc = operator.index(axis)
    a, b = xp.moveaxis(a, axisa, -1), xp.moveaxis(b, axisb, -1)
    lengths = (a.shape[-1], b.shape[-1])
    if not {2, 3}.issuperset(lengths):
        raise ValueError(f"np.cross takes vectors of 2 or 3 components, not of {lengths}")
    if lengths == (2, 2):
        return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    a, b = (_in_space(xp, vectors) for vectors in (a, b))
    product = xp.linalg.cross(a, b)
    return product if axisc == -1 else xp.moveaxis(product, -1, axisc)


# Decompositions, and functions built from them ----------------------------------------------------

on_values("linalg.matrix_rank")


@implements("linalg.qr(a, mode='reduced')", arrays=1)
def qr(xp: Any, a: Any, mode: str) -> Any:
    if mode == "r":
        return xp.linalg.qr(a)[1]
    if mode not in ("reduced", "complete"):
        raise NoRuleError(f"np.linalg.qr(mode={mode!r}) has no rule. Fix: pass mode='reduced'.")
    return xp.linalg.qr(a, mode=mode)


@implements("linalg.eigh linalg.eigvalsh(a, UPLO='L')", arrays=1)
def by_triangle(xp: Any, name: str, a: Any, UPLO: str) -> Any:
    triangle = UPLO.upper()
    if triangle not in ("L", "U"):
        raise ValueError("UPLO argument must be 'L' or 'U'")
    a = as_read(xp, a, triangle == "U")
    return getattr(xp.linalg, name)(a) if triangle == "L" else getattr(xp, f"{name}_of_upper")(a)


@implements("linalg.cholesky(a, /, *, upper=False)", arrays=1)
def cholesky(xp: Any, a: Any, upper: bool) -> Any:
    return xp.linalg.cholesky(as_read(xp, a, upper), upper=upper)


ALWAYS_COMPLEX = np.lib.NumpyVersion(np.__version__) >= "2.5.0"


@implements("linalg.eig linalg.eigvals(a)", arrays=1)
def eig(xp: Any, name: str, a: Any) -> Any:
    """Decompose; up to NumPy 2.4 the result is real where all eigenvalues of a real matrix are."""
    found = getattr(xp.linalg, name)(a)
    w = found if name == "eigvals" else found[0]
    is_real = not (ALWAYS_COMPLEX or xp.isdtype(a.dtype, "complex floating"))
    if not is_real or np.any(innermost(w).imag):  # of all examples of `vmap`, as of a stack
        return found
    make: Any = getattr(found, "_make", tuple)
    return xp.real(w) if w is found else make(map(xp.real, found))


@implements("linalg.svd(a, full_matrices=True, compute_uv=True, hermitian=False)", arrays=1)
def svd(xp: Any, a: Any, full_matrices: bool, compute_uv: bool, hermitian: bool) -> Any:
    if hermitian:
        a = as_read(xp, a)
    else:
        return xp.linalg.svd(a, full_matrices=full_matrices) if compute_uv else xp.linalg.svdvals(a)
    if not compute_uv:
        return xp.sort(xp.abs(xp.linalg.eigvalsh(a)), axis=-1, descending=True)
    w, v = xp.linalg.eigh(a)
    order = xp.argsort(xp.abs(w), axis=-1, descending=True)
    w = xp.take_along_axis(w, order, axis=-1)
    u = xp.take_along_axis(v, order[..., None, :], axis=-1)
    from array_api_compat.numpy.linalg import SVDResult  # slow to import

    return SVDResult(u, xp.abs(w), adjoint(xp, u * xp.sign(w)[..., None, :]))


@implements("linalg.cond(x, p=None)", arrays=1)
def cond(xp: Any, x: Any, p: Any) -> Any:
    with np.errstate(all="ignore"):  # as NumPy: inf for a singular matrix
        if p in (None, 2, -2):
            s = xp.linalg.svdvals(x)
            return s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
        ours, its = (norm(xp, m, p, (-2, -1), keepdims=False) for m in (x, xp.linalg.inv(x)))
        return ours * its


@implements("linalg.pinv(a, rcond=None, hermitian=False, *, rtol=NoValue)", arrays=1)
def pinv(xp: Any, a: Any, rcond: Any, hermitian: bool, rtol: Any) -> Any:
    """Compute the pseudoinverse, with NumPy's default tolerance, not the standard's.

    Of a Hermitian matrix NumPy reads the lower triangle alone.
    """
    if rcond is None:
        rcond = 1e-15 if rtol is NoValue else rtol
    if hermitian:
        a = hermitian_part(xp, xp.tril(a) + adjoint(xp, xp.tril(a, k=-1)))
    return xp.linalg.pinv(a, rtol=unwrapped_key(rcond))


@implements("linalg.lstsq(a, b, rcond=None)", arrays=2)
def lstsq(xp: Any, a: Any, b: Any, rcond: Any) -> Any:
    """Return the least-squares solution of least norm."""
    m, n = a.shape
    if rcond in (None, -1):
        rcond = float(xp.finfo(a.dtype).eps) * (1 if rcond == -1 else max(m, n))
    rcond = unwrapped_key(rcond)
    s = xp.linalg.svdvals(a)
    values = unwrapped_key(s)
    rank = np.intc(int(np.sum(values > rcond * values[:1])))
    x = xp.least_squares(a, xp.reshape(b, (m, -1)), rtol=rcond)
    x = xp.reshape(x, (n, *b.shape[1:]))
    if rank < n or m <= n:
        return x, xp._class._plain(np.empty(0, values.dtype)), rank, s
    left = xp.reshape(b - a @ x, (m, -1))
    return x, xp.sum(real_product(xp, left, left), axis=0), rank, s


@implements("linalg.tensorinv(a, ind=2)", arrays=1)
def tensorinv(xp: Any, a: Any, ind: int) -> Any:
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    first, rest = tuple(a.shape[:ind]), tuple(a.shape[ind:])
    flat = xp.reshape(a, (math.prod(first), math.prod(rest)))
    return xp.reshape(xp.linalg.inv(flat), rest + first)


@implements("linalg.tensorsolve(a, b, axes=None)", arrays=2)
def tensorsolve(xp: Any, a: Any, b: Any, axes: Any) -> Any:
    if axes is not None:
        moved = [k % a.ndim for k in axes]
        a = xp.permute_dims(a, (*(k for k in range(a.ndim) if k not in moved), *moved))
    shape = tuple(a.shape[-(a.ndim - b.ndim) :])  # all axes if the numbers of axes are equal
    flat = xp.reshape(a, (-1, math.prod(shape)))
    return xp.reshape(xp.linalg.solve(flat, xp.reshape(b, (-1,))), shape)
