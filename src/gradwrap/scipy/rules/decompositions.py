"""Rows of `scipy.linalg`: eigenvalues and decompositions.

Formulas follow M. B. Giles, "An extended collection of matrix derivative results for forward and
reverse mode algorithmic differentiation" (Oxford, 2008).
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np

from gradwrap.core.library.backend import backend_of
from gradwrap.errors import NoRuleError
from gradwrap.rules.decompositions import of_eigh, of_svd
from gradwrap.rules.equal_values import check_distinct, check_independent, defined_by_span
from gradwrap.rules.matrices import as_read
from gradwrap.rules.phases import first_of_right, largest, real_row, with_phase
from gradwrap.scipy.doors import dispatcher, unchecked
from gradwrap.scipy.kinds import Adjoint, Factors, Tangent, formula, system
from gradwrap.scipy.rules.matrices import (
    adjoint,
    as_columns,
    full_bands,
    half_bands,
    hermitian,
    inverse_gaps,
    joined,
    like_columns,
    lower_triangle,
    native_of,
    shifted,
    solved,
    times,
    times_adjoint,
    to_bands,
)
from gradwrap.scipy.solving import data_of
from gradwrap.scipy.table import Row

# Eigenvalues --------------------------------------------------------------------------------------


def _eigh(t: Any, out: Any, a: Any, b: Any, eigvals_only: Any) -> Any:
    if eigvals_only:
        w, v = dispatcher("linalg.eigh")(a, b)
        w, v = _chosen(w, v, out)
    else:
        w, v = out
    moved = hermitian(t["a"]) @ v
    if b is not None:
        moved = moved - (hermitian(t["b"]) @ v) * w[..., None, :]
    inner = adjoint(v) @ moved
    dw = np.real(np.diagonal(inner, axis1=-2, axis2=-1))
    if eigvals_only:
        return dw
    check_distinct("scipy.linalg.eigh", w, a.shape[-1])
    if v.shape[-1] == v.shape[-2]:
        dv = v @ (inverse_gaps(w) * inner)
    else:
        dv = _outside(a, b, w, v, moved)
    if b is not None:
        own = np.diagonal(adjoint(v) @ hermitian(t["b"]) @ v, axis1=-2, axis2=-1)
        return dw, dv - v * own[..., None, :] / 2
    return dw, *with_phase(np, real_row(np, v), (v, dv))


def _chosen(w: Any, v: Any, out: Any) -> tuple[Any, Any]:
    """Select the eigenvalues nearest to SciPy's selection, and their vectors."""
    if w.shape == out.shape:
        return w, v
    at = np.argmin(np.abs(native_of(w)[:, None] - native_of(out)[None, :]), axis=0)
    at = np.asarray(at)
    return w[at], v[:, at]


def _outside(a: Any, b: Any, w: Any, v: Any, moved: Any) -> Any:
    """Return the derivatives of selected eigenvectors, each from one bordered linear system."""
    a = hermitian(a)
    b = np.eye(a.shape[-1]) if b is None else hermitian(b)
    columns: list[Any] = []
    for i in range(v.shape[-1]):
        bv = (b @ v[:, i])[:, None]
        matrix = joined([[a - w[i] * b, -bv], [-adjoint(bv), np.zeros((1, 1))]])
        right = np.concatenate([-moved[:, i], np.zeros(1)])
        columns.append(solved(matrix, right)[:-1])
    return np.stack(columns, axis=1)


def _eig(t: Any, out: Any, a: Any, b: Any, right: Any) -> Any:
    if not right:
        w, v = dispatcher("linalg.eig")(a, b)
        return _ordered(_eig(t, (w, v), a, b, True)[0], out, w)
    w, v = out
    moved = t["a"] @ v
    if b is not None and not np.all(np.isfinite(native_of(w))):
        raise NoRuleError(INFINITE.format("eig"))
    if b is not None:
        moved = moved - (t["b"] @ v) * w
    inner = np.linalg.solve(v if b is None else b @ v, moved)
    dw = np.diagonal(inner, axis1=-2, axis2=-1)
    check_distinct("scipy.linalg.eig", w, a.shape[-1])
    dv = v @ (inverse_gaps(w) * inner)
    # LAPACK's vectors have length one, and their largest elements are real
    along = np.sum(np.conj(v) * dv, axis=-2, keepdims=True)
    dv = dv - v * np.real(along)
    if native_of(dv).dtype.kind == "c" and len(v):
        if b is not None and np.any(np.imag(native_of(v))):
            raise NoRuleError(
                "scipy.linalg.eig with b= has no derivative where a vector is complex: LAPACK "
                "chooses its phase. Fix: scipy.linalg.eigvals(a, b)."
            )
        (dv,) = with_phase(np, largest(np, v), (v, dv))
    return dw, dv


INFINITE = (
    "scipy.linalg.{0} with b= has no derivative where an eigenvalue is infinite: b is singular. "
    "Fix: scipy.linalg.{0}(b, a), whose eigenvalues are the reciprocals, if a is regular."
)


def _eigvals(a: Any, b: Any, out: Any) -> Any:
    if b is not None and not np.all(np.isfinite(data_of(out))):
        raise NoRuleError(INFINITE.format("eigvals"))
    w = np.linalg.eigvals(a if b is None else np.linalg.solve(b, a))
    return _ordered(w, out)


def _ordered(w: Any, out: Any, by: Any = None) -> Any:
    """Sort an array into SciPy's order of its values, or of the values `by`."""
    left = list(range(len(w)))
    order: list[int] = []
    data = data_of(w if by is None else by)
    for value in data_of(out):
        nearest = min(left, key=lambda i: abs(data[i] - value))
        left.remove(nearest)
        order.append(nearest)
    return w[np.asarray(order)]


def _symmetric_problem(matrix: Any, eigvals_only: Any, out: Any) -> Any:
    if eigvals_only:
        w = np.linalg.eigvalsh(matrix)
        return _chosen(w, w[None, :], out)[0]
    w, v = _chosen(*np.linalg.eigh(matrix), out[0])
    return w, like_columns(v, out[1])


def _eig_banded(a_band: Any, lower: Any, eigvals_only: Any, out: Any) -> Any:
    return _symmetric_problem(full_bands(a_band, lower), eigvals_only, out)


def _eigh_tridiagonal(d: Any, e: Any, eigvals_only: Any, out: Any) -> Any:
    beside = np.diag(e, 1)
    return _symmetric_problem(np.diag(d) + beside + beside.T, eigvals_only, out)


# Decompositions -----------------------------------------------------------------------------------


def _svd(t: Any, out: Any, a: Any, compute_uv: Any) -> Any:
    if not compute_uv:
        u, _, vh = dispatcher("linalg.svd")(a, full_matrices=False)
        return np.real(np.diagonal(adjoint(u) @ t["a"] @ adjoint(vh), axis1=-2, axis2=-1))
    u, s, vh = out
    k = s.shape[-1]
    inner = adjoint(u) @ t["a"] @ adjoint(vh)
    middle = inner[..., :k, :k]
    check_distinct("scipy.linalg.svd", s, max(a.shape[-2:]))
    squares = s * s
    gaps = inverse_gaps(squares)
    ds = np.real(np.diagonal(middle, axis1=-2, axis2=-1))
    lengths = s[..., None, :]
    of_u = gaps * (middle * lengths + s[..., :, None] * adjoint(middle))
    of_v = gaps * (s[..., :, None] * middle + adjoint(middle) * lengths)
    if middle.dtype.kind == "c":
        turn = 1j * np.imag(np.diagonal(middle, axis1=-2, axis2=-1)) / s
        of_u = of_u + np.eye(k) * turn[..., None, :]
    du = _turned_basis(u, of_u, _beyond(u, t["a"] @ adjoint(vh[..., :k, :]), k) / lengths, k)
    back = adjoint(t["a"]) @ u[..., :k]
    dv = _turned_basis(adjoint(vh), of_v, _beyond(adjoint(vh), back, k) / lengths, k)
    if middle.dtype.kind == "c":
        left, of_left, right, of_right = (x[..., :k] for x in (u, du, adjoint(vh), dv))
        real = first_of_right(np, left, right)
        of_v, of_u = with_phase(np, real, (right, of_right), (left, of_left))
        dv = np.concatenate([of_v, dv[..., k:]], axis=-1)
        du = np.concatenate([of_u, du[..., k:]], axis=-1)
    return du, ds, adjoint(dv)


def _beyond(u: Any, x: Any, k: int) -> Any:
    """Return the part of the columns of x outside the span of the first k columns of u."""
    first = u[..., :k]
    return x - first @ (adjoint(first) @ x)


def _turned_basis(u: Any, inside: Any, outside: Any, k: int) -> Any:
    """Return the derivative of a basis; columns after the first k turn as little as possible."""
    first, rest = u[..., :k], u[..., k:]
    moved = first @ inside + outside
    if rest.shape[-1] == 0:
        return moved
    return np.concatenate([moved, -first @ (adjoint(outside) @ rest)], axis=-1)


def _lu(t: Any, out: Any, permute_l: Any, p_indices: Any) -> Any:
    if permute_l:
        order = _row_order(out[0])
        l, u = out[0][order], out[1]
        e = t["a"][order]
    else:
        p, l, u = out
        if p_indices or not len(p):
            order = np.asarray(native_of(p), dtype=int).reshape(-1)
        else:
            order = np.asarray(np.argmax(native_of(p), axis=0))
        order = np.argsort(order) if p_indices else order
        e = t["a"][order]
    dl, du = _lu_tangent(l, u, e)
    if permute_l:
        return dl[np.argsort(order)], du
    return np.zeros(np.shape(out[0])), dl, du


def _row_order(l: Any) -> Any:
    """Return the order of rows that makes a matrix lower triangular with a unit diagonal."""
    data = data_of(l)
    m, k = data.shape
    order: list[int] = []
    left = list(range(m))
    for j in range(k):
        row = next(i for i in left if data[i, j] == 1 and not np.any(data[i, j + 1 :]))
        left.remove(row)
        order.append(row)
    return np.asarray(order + left)


def _lu_tangent(l: Any, u: Any, e: Any) -> tuple[Any, Any]:
    """Return the tangents of L and U, which may be rectangular."""
    k = min(e.shape)
    l1, u1 = l[:k], u[:, :k]
    pivots = np.diagonal(native_of(u1))
    if k and e.shape[0] == k and pivots[-1] == 0:  # the last pivot divides nothing
        u1 = u1 + np.diag(np.arange(k) == k - 1)
    if np.any(pivots[: k if e.shape[0] > k else k - 1] == 0):
        raise NoRuleError(
            "The LU decomposition of a singular matrix has no derivative where it divides by a "
            "pivot that is zero. Fix: scipy.linalg.qr, or a matrix of full rank."
        )
    moved = np.linalg.solve(l1, e[:k, :k])
    inner = np.tril(np.linalg.solve(u1.mT, moved.mT).mT, -1)
    dl, du = l1 @ inner, np.triu(moved - inner @ u[:, :k])
    if e.shape[0] > k:
        below = np.linalg.solve(u1.mT, (e[k:] - l[k:] @ du).mT).mT
        dl = np.concatenate([dl, below])
    if e.shape[1] > k:
        du = np.concatenate([du, np.linalg.solve(l1, e[:k, k:] - dl[:k] @ u[:, k:])], axis=1)
    return dl, du


def _lu_factor(a: Any) -> Any:
    _, l, u = dispatcher("linalg.lu")(a)
    m, n = a.shape
    k = min(m, n)
    below = np.tril(l, -1)
    if n > k:
        below = np.concatenate([below, np.zeros((m, n - k))], axis=1)
    if m > k:
        u = np.concatenate([u, np.zeros((m - k, n))])
    return below + u, None


def _lu_solve(lu_and_piv: Any, b: Any, trans: Any) -> Any:
    return unchecked("linalg.lu_solve")(lu_and_piv, b, trans)


def _lu_back(g: Any, lu_and_piv: Any, trans: Any) -> Any:
    """Solve with the adjoint of the matrix."""
    if trans == 1:
        return np.conj(_lu_solve(lu_and_piv, np.conj(g), 0))
    return _lu_solve(lu_and_piv, g, 0 if trans else 2)


def _lu_parts(lu_and_piv: Any) -> tuple[Any, Any, Any, Any]:
    """Return L, U, the order of the rows of the matrix, and where elements are L's."""
    lu, pivots = lu_and_piv
    order = list(range(len(pivots)))
    for i, j in enumerate(data_of(pivots).tolist()):
        order[i], order[j] = order[j], order[i]
    below = np.tri(len(order), k=-1, dtype=np.bool_)
    return np.where(below, lu, np.eye(len(order))), np.where(below, 0.0, lu), order, below


def _lu_of_lu(back: Any, out: Any, lu_and_piv: Any, trans: Any) -> Any:
    l, u, order, below = _lu_parts(lu_and_piv)
    w, x = as_columns(back, out)
    if trans:
        w, x = (np.conj(x), np.conj(w)) if trans == 1 else (x, w)
    w = w[order]
    return -np.where(below, w @ adjoint(u @ x), (adjoint(l) @ w) @ adjoint(x)), None


def _lu_along_lu(t: Any, out: Any, lu_and_piv: Any, trans: Any) -> Any:
    l, u, order, below = _lu_parts(lu_and_piv)
    moved = np.where(below, t[0], 0.0) @ u + l @ np.where(below, 0.0, t[0])
    moved = moved[np.argsort(order)]
    moved = moved if trans == 0 else moved.mT if trans == 1 else adjoint(moved)
    return -_lu_solve(lu_and_piv, moved @ out, trans)


def _ldl(t: Any, out: Any, lower: Any) -> Any:
    l, d, order = out
    if np.any(data_of(d) != np.diag(np.diagonal(data_of(d)))):
        raise NoRuleError(
            "scipy.linalg.ldl with blocks of two rows has no derivative. Fix: use "
            "scipy.linalg.lu, or scipy.linalg.cholesky for a positive definite matrix."
        )
    order = np.asarray(order)
    e = hermitian(t["A"])[order][:, order]
    l, diagonal = l[order], np.diagonal(d)
    inner = np.linalg.solve(l, adjoint(np.linalg.solve(l, adjoint(e))))
    strict = np.tril(inner / diagonal, -1) if lower else np.triu(inner / diagonal, 1)
    return (l @ strict)[np.argsort(order)], np.diag(np.diagonal(inner)), None


def _cholesky(a: Any, lower: Any) -> Any:
    root = np.linalg.cholesky(hermitian(a))
    return root if lower else adjoint(root)


CLEARS_UNUSED_TRIANGLE = np.lib.NumpyVersion(version("scipy")) >= "1.18.0"


def _cho_factor(a: Any, lower: Any) -> Any:
    """Return the factor; up to SciPy 1.17 its unused triangle keeps the argument's elements."""
    root = _cholesky(as_read(np, a, not lower), lower)
    if CLEARS_UNUSED_TRIANGLE:
        return root, None
    return root + (np.triu(a, 1) if lower else np.tril(a, -1)), None


def _cho_solve(c_and_lower: Any, b: Any) -> Any:
    return unchecked("linalg.cho_solve")(c_and_lower, b)


def _cho_of_c(back: Any, out: Any, c_and_lower: Any) -> Any:
    """Return the cotangent of the factor of A = L Lᴴ or Uᴴ U, where that of A is -w xᴴ."""
    c, lower = c_and_lower
    w, x = as_columns(back, out)
    both, turned = np.concatenate([w, x], axis=-1), np.concatenate([x, w], axis=-1)
    used = lower_triangle(c.shape[-1])
    if lower:
        c = np.where(used, c, 0.0)
        return -np.where(used, both @ adjoint(adjoint(c) @ turned), 0.0), None
    c = np.where(used.T, c, 0.0)
    return -np.where(used.T, (c @ both) @ adjoint(turned), 0.0), None


def _cho_along_c(t: Any, out: Any, c_and_lower: Any) -> Any:
    c, lower = c_and_lower
    c, moved = (np.tril(c), np.tril(t[0])) if lower else (np.triu(c), np.triu(t[0]))
    half = moved @ adjoint(c) if lower else adjoint(c) @ moved
    return -_cho_solve(c_and_lower, (half + adjoint(half)) @ out)


def _cholesky_banded(ab: Any, lower: Any) -> Any:
    k = ab.shape[0] - 1
    root = _cholesky(full_bands(ab, lower), lower)
    bands = to_bands(root, k, 0) if lower else to_bands(root, 0, k)
    # elements outside of the matrix stay unchanged
    n = ab.shape[1]
    outside = to_bands(np.ones((n, n)), *((k, 0) if lower else (0, k))) == 0
    return np.where(outside, ab, bands)


def _cho_solve_banded(cb_and_lower: Any, b: Any) -> Any:
    return unchecked("linalg.cho_solve_banded")(cb_and_lower, b)


def _cho_of_bands(back: Any, out: Any, cb_and_lower: Any) -> Any:
    """Return the cotangent of a banded factor; see `_cho_of_c`."""
    cb, lower = cb_and_lower
    bands = half_bands(cb, lower)
    w, x = as_columns(back, out)
    p, q = np.concatenate([w, x], axis=-1), np.concatenate([x, w], axis=-1)
    p, q = (p, times_adjoint(bands, q)) if lower else (times(bands, p), q)
    return -np.stack([np.vecdot(q, shifted(p, by)) for by, _ in bands]), None


def _cho_along_bands(t: Any, out: Any, cb_and_lower: Any) -> Any:
    cb, lower = cb_and_lower
    (x,) = as_columns(out)
    bands, moved = half_bands(cb, lower), half_bands(t[0], lower)
    first, second = (times, times_adjoint) if lower else (times_adjoint, times)
    product = first(moved, second(bands, x)) + first(bands, second(moved, x))
    return -_cho_solve_banded(cb_and_lower, np.reshape(product, out.shape))


def _polar(t: Any, out: Any, a: Any, side: Any) -> Any:
    """Return the tangents of both factors.

    With a = u p for columns u of length one, the matrix w = u^H du is skew-Hermitian, and
    p w + w p = u^H da - da^H u. Off these columns, du = da p^-1.
    """
    is_tall = a.shape[0] >= a.shape[1]
    u, along, tall = (x if is_tall else adjoint(x) for x in (out[0], t["a"], a))
    p, inner = hermitian(adjoint(u) @ tall), adjoint(u) @ along
    sizes = np.linalg.eigvalsh(data_of(p))
    lost = np.sum(sizes <= len(sizes) * np.finfo(sizes.dtype).eps * np.max(sizes, initial=0.0))
    is_real_square = tall.shape[0] == tall.shape[1] and not np.iscomplexobj(data_of(tall))
    if lost > is_real_square:  # the sign of one column is a constant
        raise NoRuleError(
            "scipy.linalg.polar has no derivative at a matrix of lower rank: its unitary factor is "
            "not the only one. Fix: add a small multiple of the identity, or .detach() it."
        )
    turn = dispatcher("linalg.solve_sylvester")(p, p, inner - adjoint(inner))
    moved = u @ turn
    if tall.shape[0] > tall.shape[1]:
        moved = moved + np.linalg.solve(p.T, (along - u @ inner).T).T
    moved = moved if is_tall else adjoint(moved)
    if side == "right":
        return moved, adjoint(moved) @ a + adjoint(out[0]) @ t["a"]
    return moved, t["a"] @ adjoint(out[0]) + a @ adjoint(moved)


def _reflected(name: str, a: Any, steps: int, first: int = 0) -> tuple[Any, Any]:
    """Return LAPACK's Householder reflections, which clear the columns of a below the diagonal.

    LAPACK leaves a column alone in which there is nothing to clear; a reflection beside it would
    turn the sign of its first element, which `turned` takes back. A column of one complex number
    is reflected to a real one. A column of zeros has no direction, and the derivative is NaN.
    """
    m = a.shape[0]
    data = data_of(a)
    zero = np.finfo(data.dtype).eps * m * np.max(np.abs(data), initial=0.0)
    vectors: list[Any] = []
    turned = np.ones(m)
    for j in range(steps):
        x = a[j + first :, j]
        alpha = x[0]
        if not np.any(native_of(x[1:])) and np.imag(native_of(alpha)) == 0:
            turned[j + first] = -1.0
        if not np.any(np.abs(native_of(x)) > zero):
            check_independent(name, np.asarray(True))
            return np.full((m, m), np.nan), a * np.nan
        norm = np.sqrt(np.sum(np.abs(x) ** 2))
        beta = -norm if np.real(native_of(alpha)) >= 0 else norm
        v = np.concatenate([np.ones(1), x[1:] / (alpha - beta)])
        tau = (beta - alpha) / beta
        v = np.concatenate([np.zeros(j + first), v])
        a = a - np.conj(tau) * v[:, None] * (np.conj(v) @ a)[None, :]
        if first:
            a = a - tau * (a @ v)[:, None] * np.conj(v)[None, :]
        vectors.append((tau, v))
    q: Any = np.eye(m)
    for tau, v in reversed(vectors):
        q = q - tau * v[:, None] * (np.conj(v) @ q)[None, :]
    a = turned[:, None] * a
    return q * turned, a * turned if first else a


def _turn(wanted: Any, r: Any) -> Any:
    """Return the signs that give the diagonal of a triangle the signs of another's diagonal."""
    one, other = (np.real(np.diagonal(data_of(each))) for each in (wanted, r))
    return np.where(one * other < 0, -1.0, 1.0)


def _qr(a: Any, mode: Any, pivoting: Any, out: Any) -> Any:
    moved = a[:, np.asarray(out[-1])] if pivoting else a
    m, n = moved.shape
    if mode == "raw":
        raise NoRuleError("scipy.linalg.qr with mode='raw' has no derivative. Fix: mode='full'.")
    if m > n and mode == "full":
        q, r = _reflected("linalg.qr", moved, n)
    else:
        q, r = np.linalg.qr(moved[:, : min(m, n)])
        if n > m:
            r = np.concatenate([r, adjoint(q) @ moved[:, m:]], axis=1)
        turn = _turn(out[0] if mode == "r" else out[-2 if pivoting else -1], r)
        q, r = q * turn, r * turn[:, None]
        if mode == "r" and m > n:
            r = np.concatenate([r, np.zeros((m - n, n))])
    parts = [np.triu(r)] if mode == "r" else [q, np.triu(r)]
    return (*parts, None) if pivoting else tuple(parts)


def _rq(a: Any, mode: Any, out: Any) -> Any:
    m, n = a.shape
    if m > n or (m < n and mode == "full"):
        raise NoRuleError(
            "scipy.linalg.rq has a derivative for square matrices, and for wide ones with "
            "mode='economic'. Fix: mode='economic'."
        )
    q, r = np.linalg.qr(adjoint(a)[:, ::-1])
    r, q = adjoint(r)[::-1, ::-1], adjoint(q)[::-1]
    turn = _turn(out if mode == "r" else out[0], r)
    r, q = np.triu(r * turn), q * turn[:, None]
    return r if mode == "r" else (r, q)


def _qr_multiply(
    a: Any, c: Any, mode: Any, pivoting: Any, conjugate: Any, overwrite_c: Any, out: Any
) -> Any:
    if pivoting or conjugate or overwrite_c:  # which change the required shape of c
        raise NoRuleError(
            "scipy.linalg.qr_multiply has no derivative with pivoting=, conjugate= or "
            "overwrite_c=. Fix: leave it out."
        )
    q, r = _qr(a, "economic", False, out)
    return (q @ c if mode == "left" else c @ q), r


def _hessenberg(a: Any, calc_q: Any) -> Any:
    n = a.shape[0]
    steps = n - 1 if a.dtype.kind == "c" else n - 2
    q, h = _reflected("linalg.hessenberg", a, steps if n > 2 else 0, 1)
    h = np.triu(h, -1)
    return (h, q) if calc_q else h


def _schur(t: Any, out: Any, a: Any) -> Any:
    """Return the tangent of the Schur form and basis, from a linear system for a skew matrix."""
    s, z = out[0], out[1]
    if s.dtype.kind == "c":
        raise NoRuleError(
            "scipy.linalg.schur has a derivative in its real form alone. Fix: output='real'."
        )
    n = s.shape[0]
    lower, columns = np.tril_indices(n, -1)
    data = data_of(s)
    in_block = (lower == columns + 1) & (data[lower, columns] != 0)
    inner = z.T @ t["a"] @ z
    # d(z) = z w with w skew, d(s) = inner + s w - w s
    eye = np.eye(n)
    commutator = np.reshape(
        s[:, None, :, None] * eye[None, :, None, :] - eye[:, None, :, None] * s.T[None, :, None, :],
        (n * n, n * n),
    )
    places, mirrored = lower * n + columns, columns * n + lower
    system = commutator[:, places] - commutator[:, mirrored]
    # in a block of two rows, the diagonal elements stay equal
    upper_left, lower_right = columns * n + columns, lower * n + lower
    chosen = in_block[:, None]
    rows = np.where(chosen, system[upper_left] - system[lower_right], system[places])
    if len(lower) and np.linalg.matrix_rank(data_of(rows)) < len(lower):
        check_distinct("scipy.linalg.schur", np.linalg.eigvals(data), n)
        rows, inner = np.eye(len(lower)), inner * np.nan
    flat = np.reshape(inner, (-1,))
    right = np.where(in_block, flat[upper_left] - flat[lower_right], flat[places])
    w = solved(rows, -right)
    skew = np.reshape(np.concatenate([w, -w, np.zeros(1)])[_skew_places(n)], (n, n))
    ds = inner + s @ skew - skew @ s
    kept = np.triu(np.ones((n, n))) + np.diag((np.diagonal(data, -1) != 0).astype(float), -1)
    return ds * kept, z @ skew


def _qz(t: Any, out: Any) -> Any:
    """Return the tangents of both triangular forms and bases, from a system for two skew matrices.

    d(q) = q x and d(z) = z y with x and y skew, so d(s) = inner - x s + s y, which is triangular.
    """
    s, r, q, z = out
    if s.dtype.kind == "c" or np.any(np.diagonal(native_of(s), -1)):
        raise NoRuleError(
            "scipy.linalg.qz has a derivative in its real form with real eigenvalues alone. "
            "Fix: scipy.linalg.eigvals(a, b)."
        )
    n = s.shape[0]
    lower, columns = np.tril_indices(n, -1)
    places, mirrored, eye = lower * n + columns, columns * n + lower, np.eye(n)

    def system(form: Any) -> Any:
        """Return the lower elements of `-x form` and `form y` in terms of those of x and y."""
        left = -eye[:, None, :, None] * form.T[None, :, None, :]
        right = form[:, None, :, None] * eye[None, :, None, :]
        parts = [np.reshape(part, (n * n, n * n))[places] for part in (left, right)]
        return np.concatenate([part[:, places] - part[:, mirrored] for part in parts], axis=1)

    inner = [q.T @ t[name] @ z if t[name] is not None else np.zeros((n, n)) for name in "AB"]
    below = np.concatenate([np.reshape(one, (-1,))[places] for one in inner])
    w = np.linalg.solve(np.concatenate([system(s), system(r)]), -below)
    x, y = (
        np.reshape(np.concatenate([part, -part, np.zeros(1)])[_skew_places(n)], (n, n))
        for part in (w[: len(places)], w[len(places) :])
    )
    ds, dr = (np.triu(one - x @ f + f @ y) for one, f in zip(inner, (s, r), strict=True))
    return ds, dr, q @ x, z @ y


def _skew_places(n: int) -> Any:
    """Return, for each element of a skew matrix, its index in [lower part, -lower part, 0]."""
    lower, columns = np.tril_indices(n, -1)
    count = len(lower)
    places = np.full((n, n), 2 * count)
    places[lower, columns] = np.arange(count)
    places[columns, lower] = count + np.arange(count)
    return places


def _orth(A: Any, out: Any) -> Any:
    return dispatcher("linalg.svd")(A, full_matrices=False)[0][:, : out.shape[1]]


def _of_null_space(g: Any, out: Any, A: Any) -> Any:
    size, overlap = np.linalg.norm(A), adjoint(out) @ g
    g = defined_by_span(np, "scipy.linalg.null_space", overlap, size, g)
    return -adjoint(np.linalg.pinv(A)) @ g @ adjoint(out)


def _diagsvd(s: Any, M: Any, N: Any) -> Any:
    matrix = np.diag(s)
    if len(s) == M:
        return np.concatenate([matrix, np.zeros((M, N - M))], axis=1)
    return np.concatenate([matrix, np.zeros((M - N, N))])


EIGENVALUES = [
    Row(
        "linalg.eigh",
        Factors(_eigh, lambda xp, g, out, _: of_eigh(xp, g, out)[0]),
        arrays="a:2 b:2",
        neutral="lower subset_by_index subset_by_value driver",
        symmetric="a b",
        triangles="a b",
    ),
    formula(
        "linalg.eigvalsh",
        lambda a, b, out: _chosen(
            np.linalg.eigvalsh(a)
            if b is None
            else dispatcher("linalg.eigh")(a, b, eigvals_only=True),
            np.zeros((1, a.shape[0])),
            out,
        )[0],
        "a:2 b:2",
        neutral="lower subset_by_index subset_by_value driver",
        symmetric="a b",
        triangles="a b",
    ),
    Row(
        "linalg.eig",
        Tangent(_eig),
        arrays="a:2 b:2",
        note="vectors of length one whose largest elements are real",
    ),
    formula("linalg.eigvals", _eigvals, "a:2 b:2"),
    formula("linalg.eig_banded", _eig_banded, "a_band:2", neutral="select select_range max_ev"),
    formula(
        "linalg.eigvals_banded",
        lambda a_band, lower, out: _eig_banded(a_band, lower, True, out),
        "a_band:2",
        neutral="select select_range",
    ),
    formula(
        "linalg.eigh_tridiagonal",
        _eigh_tridiagonal,
        "d:1 e:1",
        neutral="select select_range tol",
    ),
    formula(
        "linalg.eigvalsh_tridiagonal",
        lambda d, e, out: _eigh_tridiagonal(d, e, True, out),
        "d:1 e:1",
        neutral="select select_range tol",
    ),
]
DECOMPOSITIONS = [
    Row(
        "linalg.svd",
        Factors(_svd, lambda xp, g, out, a: of_svd(xp, g, backend_of(a).meta(a, 0), out)[0]),
        arrays="a",
        neutral="full_matrices",
        note="vectors beyond the singular values: for losses of their span, NaN elsewhere",
    ),
    formula("linalg.svdvals", lambda a: np.linalg.svd(a, compute_uv=False), "a"),
    formula("linalg.diagsvd", _diagsvd, "s:1"),
    formula("linalg.orth", _orth, "A", thresholds="rcond"),
    Row(
        "linalg.null_space",
        Adjoint({"A": _of_null_space}, {"A": lambda t, out, A: -np.linalg.pinv(A) @ (t @ out)}),
        arrays="A",
        thresholds="rcond",
        note="for losses of the span, NaN where the choice of the basis matters",
    ),
    Row("linalg.lu", Tangent(_lu), arrays="a:2"),
    formula("linalg.lu_factor", _lu_factor, "a:2"),
    system("linalg.lu_solve", "lu_and_piv:2,1 b:2", _lu_of_lu, _lu_along_lu, _lu_back),
    Row(
        "linalg.ldl", Tangent(_ldl), arrays="A:2", neutral="hermitian", symmetric="A", triangles="A"
    ),
    formula(
        "linalg.cholesky",
        _cholesky,
        "a",
        symmetric="a",
        triangles="a",
        note="the gradient is shared between the triangles",
    ),
    formula(
        "linalg.cho_factor",
        _cho_factor,
        "a",
        symmetric="a",
        note="the unused triangle is as SciPy leaves it: the argument's, or zeros since 1.18",
    ),
    system(
        "linalg.cho_solve",
        "c_and_lower:2,0 b:2",
        _cho_of_c,
        _cho_along_c,
        lambda g, c_and_lower: _cho_solve(c_and_lower, g),
    ),
    formula("linalg.cholesky_banded", _cholesky_banded, "ab:2"),
    system(
        "linalg.cho_solve_banded",
        "cb_and_lower:2,0 b:2",
        _cho_of_bands,
        _cho_along_bands,
        lambda g, cb_and_lower: _cho_solve_banded(cb_and_lower, g),
    ),
    Row("linalg.polar", Tangent(_polar), arrays="a:2"),
    formula("linalg.qr", _qr, "a:2", may_differ="if nan"),
    formula("linalg.rq", _rq, "a:2", may_differ="if nan"),
    formula("linalg.qr_multiply", _qr_multiply, "a:2 c:2", may_differ="if nan"),
    formula("linalg.hessenberg", _hessenberg, "a:2", may_differ="if nan"),
    Row("linalg.schur", Tangent(_schur), arrays="a:2"),
    Row("linalg.qz", Tangent(_qz), arrays="A:2 B:2"),
]
