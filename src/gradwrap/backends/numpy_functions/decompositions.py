"""Decompositions, and what is made of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from array_api_compat.numpy.linalg import SVDResult

from gradwrap.backends.numpy_functions.table import IMPLEMENTATIONS, NoValue, implements, on_values
from gradwrap.core.wrapper import unwrapped_key
from gradwrap.errors import NoRuleError
from gradwrap.rules.matrices import adjoint, hermitian_part, real_product

on_values("linalg.matrix_rank")


@implements("linalg.qr(a, mode='reduced')", arrays=1)
def qr(xp: Any, a: Any, mode: str) -> Any:
    if mode == "r":
        return xp.linalg.qr(a)[1]
    if mode not in ("reduced", "complete"):
        raise NoRuleError(f"np.linalg.qr(mode={mode!r}) has no rule. Fix: mode='reduced'.")
    return xp.linalg.qr(a, mode=mode)


ALWAYS_COMPLEX = np.lib.NumpyVersion(np.__version__) >= "2.5.0"


@implements("linalg.eig linalg.eigvals(a)", arrays=1)
def eig(xp: Any, name: str, a: Any) -> Any:
    """Decompose; up to NumPy 2.4 the result is real where all eigenvalues of a real matrix are."""
    found = getattr(xp.linalg, name)(a)
    w = found if name == "eigvals" else found[0]
    is_real = not (ALWAYS_COMPLEX or xp.isdtype(a.dtype, "complex floating"))
    if not is_real or np.any(unwrapped_key(w).imag):
        return found
    return xp.real(w) if w is found else type(found)(*map(xp.real, found))


@implements("linalg.svd(a, full_matrices=True, compute_uv=True, hermitian=False)", arrays=1)
def svd(xp: Any, a: Any, full_matrices: bool, compute_uv: bool, hermitian: bool) -> Any:
    if not hermitian:
        return xp.linalg.svd(a, full_matrices=full_matrices) if compute_uv else xp.linalg.svdvals(a)
    if not compute_uv:
        return xp.sort(xp.abs(xp.linalg.eigvalsh(a)), axis=-1, descending=True)
    w, v = xp.linalg.eigh(a)
    order = xp.argsort(xp.abs(w), axis=-1, descending=True)
    w = xp.take_along_axis(w, order, axis=-1)
    u = xp.take_along_axis(v, order[..., None, :], axis=-1)
    return SVDResult(u, xp.abs(w), adjoint(xp, u * xp.sign(w)[..., None, :]))


@implements("linalg.cond(x, p=None)", arrays=1)
def cond(xp: Any, x: Any, p: Any) -> Any:
    with np.errstate(all="ignore"):  # as NumPy: inf for a singular matrix
        if p in (None, 2, -2):
            s = xp.linalg.svdvals(x)
            return s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
        norm = IMPLEMENTATIONS[np.linalg.norm]
        return norm(xp, x, p, axis=(-2, -1)) * norm(xp, xp.linalg.inv(x), p, axis=(-2, -1))


@implements("linalg.pinv(a, rcond=None, hermitian=False, *, rtol=NoValue)", arrays=1)
def pinv(xp: Any, a: Any, rcond: Any, hermitian: bool, rtol: Any) -> Any:
    """The pseudoinverse, with NumPy's default tolerance, not the standard's."""
    if rcond is None:
        rcond = 1e-15 if rtol is NoValue else rtol
    return xp.linalg.pinv(hermitian_part(xp, a) if hermitian else a, rtol=rcond)


@implements("linalg.lstsq(a, b, rcond=None)", arrays=2)
def lstsq(xp: Any, a: Any, b: Any, rcond: Any) -> Any:
    """The solution of least norm, by the pseudoinverse."""
    m, n = a.shape
    if rcond in (None, -1):
        rcond = float(xp.finfo(a.dtype).eps) * (1 if rcond == -1 else max(m, n))
    s = xp.linalg.svdvals(a)
    values = unwrapped_key(s)
    rank = int(np.sum(values > rcond * values[:1]))
    x = xp.linalg.pinv(a, rtol=rcond) @ b
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
    shape = tuple(a.shape[b.ndim :])
    flat = xp.reshape(a, (-1, math.prod(shape)))
    return xp.reshape(xp.linalg.solve(flat, xp.reshape(b, (-1,))), shape)
