"""The rows of `scipy.linalg`.

Formulas of decompositions follow M. B. Giles, "An extended collection of matrix derivative results
for forward and reverse mode algorithmic differentiation" (Oxford, 2008), and, for functions of a
matrix, N. J. Higham, "Functions of Matrices" (SIAM, 2008), eq. 3.16.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np

from gradwrap.errors import NoRuleError
from gradwrap.scipy.doors import dispatcher
from gradwrap.scipy.kinds import Adjoint, Constant, Refused, Tangent, formula
from gradwrap.scipy.rules.matrices import (
    adjoint,
    as_columns,
    full_bands,
    hermitian,
    inverse_gaps,
    joined,
    like_columns,
    native_of,
    of_columns,
    solved,
    to_bands,
)
from gradwrap.scipy.table import Row, register
from gradwrap.transforms.implicit import custom_root

# Systems ------------------------------------------------------------------------------------------


def _read(a: Any, assume_a: Any, lower: bool) -> Any:  # noqa: PLR0911  one for each kind
    """The matrix that SciPy makes of its argument, for what it assumes of it."""
    kind = "general" if assume_a is None else str(assume_a)
    if kind in ("sym", "symmetric"):
        return (a + a.mT) / 2
    if kind in ("her", "hermitian", "pos", "positive definite"):
        return hermitian(a)
    if kind == "upper triangular" or (kind == "triangular" and not lower):
        return np.triu(a)
    if kind in ("lower triangular", "triangular"):
        return np.tril(a)
    if kind == "diagonal":
        return a * np.eye(a.shape[-1])
    if kind == "tridiagonal":
        return np.triu(np.tril(a, 1), -1)
    if kind in ("gen", "general", "banded"):
        return a
    raise NoRuleError(f"assume_a={assume_a!r} has no derivative. Fix: assume_a='general'.")


def _inv_of_a(g: Any, out: Any, a: Any, assume_a: Any, lower: Any) -> Any:
    back = adjoint(out)
    return _read(-(back @ g @ back), assume_a, lower)


def _inv_along_a(t: Any, out: Any, assume_a: Any, lower: Any) -> Any:
    return -(out @ _read(t, assume_a, lower) @ out)


def _system(a: Any, assume_a: Any, lower: Any, transposed: Any) -> Any:
    matrix = _read(a, assume_a, lower)
    return matrix.mT if transposed else matrix


def _solve_back(g: Any, a: Any, b: Any, assume_a: Any, lower: Any, transposed: Any) -> Any:
    return of_columns(np.linalg.solve, adjoint(_system(a, assume_a, lower, transposed)), g, b)


def _solve_of_a(back: Any, out: Any, b: Any, assume_a: Any, lower: Any, transposed: Any) -> Any:
    w, x = as_columns(back, out, like=b)
    moved = -(w @ adjoint(x))
    return _read(moved.mT if transposed else moved, assume_a, lower)


def _solve_along_a(
    t: Any, out: Any, a: Any, b: Any, assume_a: Any, lower: Any, transposed: Any
) -> Any:
    moved = of_columns(np.matmul, _system(t, assume_a, lower, transposed), out, b)
    return -of_columns(np.linalg.solve, _system(a, assume_a, lower, transposed), moved, b)


def _solve_along_b(t: Any, a: Any, b: Any, assume_a: Any, lower: Any, transposed: Any) -> Any:
    return of_columns(np.linalg.solve, _system(a, assume_a, lower, transposed), t, b)


def _turned(trans: Any) -> int:
    numbers: dict[Any, int] = {"N": 0, "T": 1, "C": 2, 0: 0, 1: 1, 2: 2}
    return numbers[trans]


def _triangular(a: Any, b: Any, trans: int, lower: Any, unit_diagonal: Any) -> Any:
    return dispatcher("linalg.solve_triangular")(
        a, b, trans=trans, lower=lower, unit_diagonal=unit_diagonal, check_finite=False
    )


def _triangular_back(g: Any, a: Any, b: Any, trans: Any, lower: Any, unit_diagonal: Any) -> Any:
    """The solution with the adjoint of the triangular matrix."""

    def solve(a: Any, g: Any) -> Any:
        if _turned(trans) == 1:
            return np.conj(_triangular(a, np.conj(g), 0, lower, unit_diagonal))
        return _triangular(a, g, 2 if _turned(trans) == 0 else 0, lower, unit_diagonal)

    return of_columns(solve, a, g, b)


def _within(x: Any, lower: Any, unit_diagonal: Any) -> Any:
    """The part of a matrix that `solve_triangular` reads."""
    return np.tril(x, -1 if unit_diagonal else 0) if lower else np.triu(x, int(unit_diagonal))


def _triangular_of_a(
    back: Any, out: Any, b: Any, trans: Any, lower: Any, unit_diagonal: Any
) -> Any:
    w, x = as_columns(back, out, like=b)
    moved = -(w @ adjoint(x))
    kind = _turned(trans)
    moved = moved if kind == 0 else moved.mT if kind == 1 else adjoint(moved)
    return _within(moved, lower, unit_diagonal)


def _triangular_along_a(
    t: Any, out: Any, a: Any, b: Any, trans: Any, lower: Any, unit_diagonal: Any
) -> Any:
    kind = _turned(trans)
    t = _within(t, lower, unit_diagonal)
    t = t if kind == 0 else t.mT if kind == 1 else adjoint(t)
    (x,) = as_columns(out, like=b)
    moved = _triangular(a, t @ x, kind, lower, unit_diagonal)
    return -np.reshape(moved, out.shape)


def _transposed_bands(l_and_u: Any, ab: Any) -> tuple[tuple[int, int], Any]:
    """The bands of the adjoint."""
    lower, upper = l_and_u
    n = ab.shape[-1]
    rows = []
    for k in range(lower + upper + 1):  # the diagonal number `upper - k` of A is moved
        shift = upper - k
        row = np.conj(ab[k]) if ab.dtype.kind == "c" else ab[k]
        moved = (
            np.concatenate([row[shift:], np.zeros(min(shift, n))])
            if shift >= 0
            else np.concatenate([np.zeros(min(-shift, n)), row[:shift]])
        )
        rows.append(moved)
    return (upper, lower), np.stack(rows[::-1])


def _solve_banded(l_and_u: Any, ab: Any, b: Any) -> Any:
    return dispatcher("linalg.solve_banded")(l_and_u, ab, b)


def _banded_back(g: Any, l_and_u: Any, ab: Any) -> Any:
    bands, turned = _transposed_bands(l_and_u, ab)
    return _solve_banded(bands, turned, g)


def _banded_of_ab(back: Any, out: Any, l_and_u: Any) -> Any:
    lower, upper = l_and_u
    w, x = as_columns(back, out)
    # at [k, j] the element (j + k - upper, j)
    shifts = range(-upper, lower + 1)
    return np.stack([-np.sum(_shifted(w, by) * np.conj(x), axis=-1) for by in shifts])


def _shifted(x: Any, by: int) -> Any:
    """Rows moved up, with zeros after the last."""
    n, blank = x.shape[0], np.zeros((min(abs(by), x.shape[0]), *x.shape[1:]))
    return (
        np.concatenate([x[by:], blank]) if by >= 0 else np.concatenate([blank, x[: max(n + by, 0)]])
    )


def _banded_along_ab(t: Any, out: Any, l_and_u: Any, ab: Any) -> Any:
    lower, upper = l_and_u
    x = out if out.ndim == 2 else out[:, None]
    product = sum(_shifted(t[k][:, None] * x, upper - k) for k in range(lower + upper + 1))
    return -_solve_banded(l_and_u, ab, np.reshape(product, out.shape))


def _solveh_banded(ab: Any, b: Any, lower: Any) -> Any:
    return dispatcher("linalg.solveh_banded")(ab, b, lower=lower)


def _half_bands(ab: Any, lower: Any) -> list[tuple[int, Any]]:
    """The diagonals of a triangle by how far they are below the main one."""
    last = ab.shape[0] - 1
    return [(k if lower else k - last, ab[k]) for k in range(last + 1)]


def _times(bands: list[tuple[int, Any]], x: Any) -> Any:
    """Multiply a matrix with some diagonals by columns."""
    return sum(_shifted(band[:, None] * x, -by) for by, band in bands)


def _times_adjoint(bands: list[tuple[int, Any]], x: Any) -> Any:
    return sum(np.conj(band)[:, None] * _shifted(x, by) for by, band in bands)


def _hermitian_of_ab(back: Any, out: Any, ab: Any, lower: Any) -> Any:
    w, x = as_columns(back, out)
    rows: list[Any] = []
    for by, _ in _half_bands(ab, lower):
        row = -np.sum(_shifted(w, by) * np.conj(x), axis=-1)
        other = -np.sum(_shifted(x, by) * np.conj(w), axis=-1)
        rows.append(row + other if by else np.real(row))
    return np.stack(rows)


def _hermitian_along_ab(t: Any, out: Any, ab: Any, b: Any, lower: Any) -> Any:
    (x,) = as_columns(out)
    bands = _half_bands(t, lower)
    bands = [(by, band if by else np.real(band)) for by, band in bands]
    moved = _times(bands, x) + _times_adjoint([one for one in bands if one[0]], x)
    return -_solveh_banded(ab, np.reshape(moved, out.shape), lower)


def _circulant_solution(c: Any, b: Any, caxis: Any, baxis: Any, outaxis: Any) -> Any:
    c, b = np.moveaxis(np.atleast_1d(c), caxis, -1), np.moveaxis(np.atleast_1d(b), baxis, -1)
    x = np.fft.ifft(np.fft.fft(b) / np.fft.fft(c))
    x = x if "c" in (c.dtype.kind, b.dtype.kind) else np.real(x)
    return np.moveaxis(x, -1, outaxis)


def _toeplitz(c: Any, r: Any) -> Any:
    c = np.reshape(c, (-1,)) if np.ndim(c) == 0 else c
    r = np.conj(c) if r is None else np.reshape(r, (-1,)) if np.ndim(r) == 0 else r
    m, n = c.shape[-1], r.shape[-1]
    values = np.concatenate([c[..., ::-1], r[..., 1:]], axis=-1)
    return values[..., np.arange(m - 1, -1, -1)[:, None] + np.arange(n)]


def _of_pair(c_or_cr: Any) -> Any:
    return _toeplitz(*_pair(c_or_cr))


def _pair(c_or_cr: Any) -> tuple[Any, Any]:
    """The first column and the first row of a Toeplitz matrix."""
    c, r = c_or_cr if isinstance(c_or_cr, tuple) else (c_or_cr, None)
    c = np.reshape(c, (-1,))
    return c, np.conj(c) if r is None else np.reshape(r, (-1,))


def _toeplitz_back(g: Any, c_or_cr: Any) -> Any:
    """The solution with the adjoint of the matrix."""
    c, r = _pair(c_or_cr)
    turned = np.concatenate([c[:1], r[1:]])
    return dispatcher("linalg.solve_toeplitz")((np.conj(turned), np.conj(c)), g)


def _toeplitz_of_pair(back: Any, out: Any, c_or_cr: Any) -> Any:
    """Sum the cotangent of the matrix along its diagonals."""
    w, x = as_columns(back, out)
    of_c, of_r = -_lagged(w, np.conj(x)), -_lagged(np.conj(x), w)
    of_r = of_r * (np.arange(of_r.shape[0]) > 0)
    if isinstance(c_or_cr, tuple):
        return np.reshape(of_c, np.shape(c_or_cr[0])), np.reshape(of_r, np.shape(c_or_cr[1]))
    return np.reshape(of_c + np.conj(of_r), np.shape(c_or_cr))


def _lagged(x: Any, y: Any) -> Any:
    """The sums of x[j + k] y[j] for each k."""
    n = x.shape[0]
    padded = np.concatenate([x, np.zeros((n - 1, x.shape[1]))])
    places = np.arange(n)[:, None] + np.arange(n)
    return np.sum(padded[places] * y, axis=(1, 2))


def _lstsq(a: Any, b: Any, out: Any) -> Any:
    inverse = np.linalg.pinv(a)
    x = inverse @ b
    residues = out[1]
    if np.size(residues):
        residues = np.sum(np.abs(b - a @ x) ** 2, axis=0)
    s = None if out[3] is None else np.linalg.svd(a, compute_uv=False)
    return x, residues, None, s


def _pinv(t: Any, out: Any, a: Any) -> Any:
    p = out[0] if isinstance(out, tuple) else out
    e, back = t["a"], adjoint(t["a"])
    right, left = p @ (adjoint(p) @ back), (back @ adjoint(p)) @ p
    moved = right - (right @ a) @ p + left - p @ (a @ left) - p @ e @ p
    return (moved,) if isinstance(out, tuple) else moved


def _pinvh(t: Any, out: Any, a: Any) -> Any:
    return _pinv({"a": hermitian(t["a"])}, out, hermitian(a))


def _procrustes(A: Any, B: Any) -> Any:
    u, s, vh = np.linalg.svd((B.T @ np.conj(A)).T)
    return u @ vh, np.sum(s)


def _angles(A: Any, B: Any, out: Any) -> Any:
    one, other = (np.linalg.qr(x)[0] for x in (A, B))
    product = adjoint(one) @ other
    sigma = np.linalg.svd(product, compute_uv=False)
    if one.shape[1] >= other.shape[1]:
        rest = other - one @ product
    else:
        rest = one - other @ adjoint(product)
    near = native_of(sigma) ** 2 >= 0.5
    count = len(out)
    mu = np.linalg.svd(rest, compute_uv=False)[::-1][:count]
    sines = np.arcsin(np.where(near, np.clip(mu, -1.0, 1.0), 0.5))
    return np.where(near, sines, np.arccos(np.where(near, 0.5, np.clip(sigma, -1.0, 1.0))))[::-1]


def _balanced(A: Any, separate: Any, out: Any) -> Any:
    if not separate:
        return np.linalg.solve(out[1], A @ out[1]), out[1]
    scale, order = out[1]
    moved = A[order][:, order]
    return moved * (scale[order] / scale[order][:, None]), (scale, None)


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
    if v.shape[-1] == v.shape[-2]:
        dv = v @ (inverse_gaps(w) * inner)
    else:
        dv = _outside(a, b, w, v, moved)
    if b is not None:
        own = np.diagonal(adjoint(v) @ hermitian(t["b"]) @ v, axis1=-2, axis2=-1)
        dv = dv - v * own[..., None, :] / 2
    return dw, dv


def _chosen(w: Any, v: Any, out: Any) -> tuple[Any, Any]:
    """Those of all eigenvalues that SciPy was asked for, and their vectors."""
    if w.shape == out.shape:
        return w, v
    at = np.argmin(np.abs(native_of(w)[:, None] - native_of(out)[None, :]), axis=0)
    at = np.asarray(at)
    return w[at], v[:, at]


def _outside(a: Any, b: Any, w: Any, v: Any, moved: Any) -> Any:
    """The derivatives of some of the eigenvectors: for each a system with one more unknown."""
    a = hermitian(a)
    b = np.eye(a.shape[-1]) if b is None else hermitian(b)
    columns: list[Any] = []
    for i in range(v.shape[-1]):
        bv = (b @ v[:, i])[:, None]
        matrix = joined([[a - w[i] * b, -bv], [-adjoint(bv), np.zeros((1, 1))]])
        right = np.concatenate([-moved[:, i], np.zeros(1)])
        columns.append(solved(matrix, right)[:-1])
    return np.stack(columns, axis=1)


def _eig(t: Any, out: Any, a: Any) -> Any:
    w, v = out
    inner = np.linalg.solve(v, t["a"] @ v)
    dw = np.diagonal(inner, axis1=-2, axis2=-1)
    dv = v @ (inverse_gaps(w) * inner)
    # LAPACK's vectors have length one, and their largest elements are real
    along = np.sum(np.conj(v) * dv, axis=-2, keepdims=True)
    dv = dv - v * np.real(along)
    if native_of(dv).dtype.kind == "c":
        largest = np.argmax(np.abs(native_of(v)), axis=-2)[..., None, :]
        at = np.asarray(largest)
        turn = np.imag(np.take_along_axis(dv, at, axis=-2) / np.take_along_axis(v, at, axis=-2))
        dv = dv - 1j * v * turn
    return dw, dv


def _eigvals(a: Any, b: Any, out: Any) -> Any:
    w = np.linalg.eigvals(a if b is None else np.linalg.solve(b, a))
    return _ordered(w, out)


def _ordered(w: Any, out: Any) -> Any:
    """Values in the order in which SciPy has them."""
    left = list(range(len(w)))
    order: list[int] = []
    data = np.asarray(native_of(w))
    for value in np.asarray(native_of(out)):
        nearest = min(left, key=lambda i: abs(data[i] - value))
        left.remove(nearest)
        order.append(nearest)
    return w[np.asarray(order)]


def _symmetric_problem(matrix: Any, eigvals_only: Any, out: Any) -> Any:
    if eigvals_only:
        return np.linalg.eigvalsh(matrix)
    w, v = np.linalg.eigh(matrix)
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
    return du, ds, adjoint(dv)


def _beyond(u: Any, x: Any, k: int) -> Any:
    """Return the part of the columns of x outside the span of the first k columns of u."""
    first = u[..., :k]
    return x - first @ (adjoint(first) @ x)


def _turned_basis(u: Any, inside: Any, outside: Any, k: int) -> Any:
    """The derivative of a basis; columns beyond the first k turn as little as they can."""
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
        order = np.asarray(native_of(p)) if p_indices else np.argmax(native_of(p), axis=0)
        order = np.asarray(order)
        order = np.argsort(order) if p_indices else order
        e = t["a"][order]
    dl, du = _lu_tangent(l, u, e)
    if permute_l:
        return dl[np.argsort(order)], du
    return np.zeros(np.shape(out[0])), dl, du


def _row_order(l: Any) -> Any:
    """The order of rows that makes a matrix lower triangular with a unit diagonal."""
    data = np.asarray(native_of(l))
    m, k = data.shape
    order: list[int] = []
    left = list(range(m))
    for j in range(k):
        row = next(i for i in left if data[i, j] == 1 and not np.any(data[i, j + 1 :]))
        left.remove(row)
        order.append(row)
    return np.asarray(order + left)


def _lu_tangent(l: Any, u: Any, e: Any) -> tuple[Any, Any]:
    """Of L and U, also where one of them is not square."""
    k = min(e.shape)
    l1, u1 = l[:k], u[:, :k]
    inner = np.linalg.solve(l1, np.linalg.solve(u1.mT, e[:k, :k].mT).mT)
    dl, du = l1 @ np.tril(inner, -1), np.triu(inner) @ u1
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
    return dispatcher("linalg.lu_solve")(lu_and_piv, b, trans)


def _lu_back(g: Any, lu_and_piv: Any, trans: Any) -> Any:
    """The solution with the adjoint of the matrix."""
    if trans == 1:
        return np.conj(_lu_solve(lu_and_piv, np.conj(g), 0))
    return _lu_solve(lu_and_piv, g, 0 if trans else 2)


def _lu_parts(lu_and_piv: Any) -> tuple[Any, Any, Any]:
    """L, U, and the order of the rows of the matrix."""
    lu, pivots = lu_and_piv
    order = np.arange(len(pivots))
    for i, j in enumerate(np.asarray(native_of(pivots))):
        order[i], order[j] = order[j], order[i]
    return np.tril(lu, -1) + np.eye(len(pivots)), np.triu(lu), order


def _lu_of_lu(back: Any, out: Any, lu_and_piv: Any, trans: Any) -> Any:
    l, u, order = _lu_parts(lu_and_piv)
    w, x = as_columns(back, out)
    if trans:
        w, x = (np.conj(x), np.conj(w)) if trans == 1 else (x, w)
    w = w[order]
    return -(np.tril(w @ adjoint(u @ x), -1) + np.triu((adjoint(l) @ w) @ adjoint(x))), None


def _lu_along_lu(t: Any, out: Any, lu_and_piv: Any, trans: Any) -> Any:
    l, u, order = _lu_parts(lu_and_piv)
    moved = (np.tril(t[0], -1) @ u + l @ np.triu(t[0]))[np.argsort(order)]
    moved = moved if trans == 0 else moved.mT if trans == 1 else adjoint(moved)
    return -_lu_solve(lu_and_piv, moved @ out, trans)


def _ldl(t: Any, out: Any, lower: Any) -> Any:
    l, d, order = out
    if np.any(np.asarray(native_of(d)) != np.diag(np.diagonal(np.asarray(native_of(d))))):
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
    """Up to SciPy 1.17 the unused triangle of the result has the argument in it."""
    root = _cholesky(a, lower)
    if CLEARS_UNUSED_TRIANGLE:
        return root, None
    return root + (np.triu(a, 1) if lower else np.tril(a, -1)), None


def _cho_solve(c_and_lower: Any, b: Any) -> Any:
    return dispatcher("linalg.cho_solve")(c_and_lower, b)


def _cho_of_c(back: Any, out: Any, c_and_lower: Any) -> Any:
    """Of A = L Lᴴ, or Uᴴ U, whose cotangent is -w xᴴ, the cotangent of the triangle."""
    c, lower = c_and_lower
    w, x = as_columns(back, out)
    both, turned = np.concatenate([w, x], axis=-1), np.concatenate([x, w], axis=-1)
    if lower:
        return -np.tril(both @ adjoint(adjoint(np.tril(c)) @ turned)), None
    return -np.triu((np.triu(c) @ both) @ adjoint(turned)), None


def _cho_along_c(t: Any, out: Any, c_and_lower: Any) -> Any:
    c, lower = c_and_lower
    c, moved = (np.tril(c), np.tril(t[0])) if lower else (np.triu(c), np.triu(t[0]))
    half = moved @ adjoint(c) if lower else adjoint(c) @ moved
    return -_cho_solve(c_and_lower, (half + adjoint(half)) @ out)


def _cholesky_banded(ab: Any, lower: Any) -> Any:
    k = ab.shape[0] - 1
    root = _cholesky(full_bands(ab, lower), lower)
    bands = to_bands(root, k, 0) if lower else to_bands(root, 0, k)
    # what is outside of the matrix stays as it is
    n = ab.shape[1]
    outside = to_bands(np.ones((n, n)), *((k, 0) if lower else (0, k))) == 0
    return np.where(outside, ab, bands)


def _cho_solve_banded(cb_and_lower: Any, b: Any) -> Any:
    return dispatcher("linalg.cho_solve_banded")(cb_and_lower, b)


def _cho_of_bands(back: Any, out: Any, cb_and_lower: Any) -> Any:
    """As `_cho_of_c`, for the diagonals alone."""
    cb, lower = cb_and_lower
    bands = _half_bands(cb, lower)
    w, x = as_columns(back, out)
    if lower:
        pairs = [(w, np.conj(_times_adjoint(bands, x))), (x, np.conj(_times_adjoint(bands, w)))]
    else:
        pairs = [(_times(bands, w), np.conj(x)), (_times(bands, x), np.conj(w))]
    rows = [-sum(np.sum(_shifted(p, by) * q, axis=-1) for p, q in pairs) for by, _ in bands]
    return np.stack(rows), None


def _cho_along_bands(t: Any, out: Any, cb_and_lower: Any) -> Any:
    cb, lower = cb_and_lower
    (x,) = as_columns(out)
    bands, moved = _half_bands(cb, lower), _half_bands(t[0], lower)
    first, second = (_times, _times_adjoint) if lower else (_times_adjoint, _times)
    product = first(moved, second(bands, x)) + first(bands, second(moved, x))
    return -_cho_solve_banded(cb_and_lower, np.reshape(product, out.shape))


def _polar(a: Any, side: Any) -> Any:
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    p = adjoint(vh) @ (s[:, None] * vh) if side == "right" else (u * s) @ adjoint(u)
    return u @ vh, p


def _reflected(a: Any, steps: int, first: int = 0) -> tuple[Any, Any]:
    """Householder's reflections that clear the columns of a below the diagonal, as LAPACK's do."""
    m = a.shape[0]
    vectors: list[Any] = []
    for j in range(steps):
        x = a[j + first :, j]
        if x.shape[0] < 2:
            break
        alpha = x[0]
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
    return q, a


def _qr(a: Any, mode: Any, pivoting: Any, out: Any) -> Any:
    moved = a[:, np.asarray(out[-1])] if pivoting else a
    m, n = moved.shape
    if mode == "raw":
        raise NoRuleError("scipy.linalg.qr with mode='raw' has no derivative. Fix: mode='full'.")
    if m > n and mode == "full":
        q, r = _reflected(moved, n)
    else:
        q, r = np.linalg.qr(moved[:, : min(m, n)])
        if n > m:
            r = np.concatenate([r, adjoint(q) @ moved[:, m:]], axis=1)
        signs = np.sign(np.real(np.diagonal(np.asarray(native_of(out[-2 if pivoting else -1])))))
        if mode == "r":
            signs = np.sign(np.real(np.diagonal(np.asarray(native_of(out[0])))))
        turn = signs * np.sign(np.real(np.diagonal(np.asarray(native_of(r)))))
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
    wanted = np.diagonal(np.asarray(native_of(out if mode == "r" else out[0])))
    turn = np.sign(np.real(wanted)) * np.sign(np.real(np.diagonal(np.asarray(native_of(r)))))
    r, q = np.triu(r * turn), q * turn[:, None]
    return r if mode == "r" else (r, q)


def _qr_multiply(
    a: Any, c: Any, mode: Any, pivoting: Any, conjugate: Any, overwrite_c: Any, out: Any
) -> Any:
    if pivoting or conjugate or overwrite_c:  # with which another shape of c is asked for
        raise NoRuleError(
            "scipy.linalg.qr_multiply has no derivative with pivoting=, conjugate= or "
            "overwrite_c=. Fix: leave it out."
        )
    q, r = _qr(a, "economic", False, out)
    return (q @ c if mode == "left" else c @ q), r


def _hessenberg(a: Any, calc_q: Any) -> Any:
    q, h = _reflected(a, max(a.shape[0] - 2, 0), 1)
    h = np.triu(h, -1)
    return (h, q) if calc_q else h


def _schur(t: Any, out: Any, a: Any) -> Any:
    """Turn the basis so that the blocks keep their form: a system for a skew matrix."""
    s, z = out[0], out[1]
    if s.dtype.kind == "c":
        raise NoRuleError(
            "scipy.linalg.schur has a derivative in its real form alone. Fix: output='real'."
        )
    n = s.shape[0]
    lower, columns = np.tril_indices(n, -1)
    data = np.asarray(native_of(s))
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
    # in a block of two rows, the elements of the diagonal stay equal
    upper_left, lower_right = columns * n + columns, lower * n + lower
    chosen = in_block[:, None]
    rows = np.where(chosen, system[upper_left] - system[lower_right], system[places])
    flat = np.reshape(inner, (-1,))
    right = np.where(in_block, flat[upper_left] - flat[lower_right], flat[places])
    w = solved(rows, -right)
    skew = np.reshape(np.concatenate([w, -w, np.zeros(1)])[_skew_places(n)], (n, n))
    ds = inner + s @ skew - skew @ s
    kept = np.triu(np.ones((n, n))) + np.diag((np.diagonal(data, -1) != 0).astype(float), -1)
    return ds * kept, z @ skew


def _skew_places(n: int) -> Any:
    """Where the elements of a skew matrix are in its lower part, minus that, and a zero."""
    lower, columns = np.tril_indices(n, -1)
    count = len(lower)
    places = np.full((n, n), 2 * count)
    places[lower, columns] = np.arange(count)
    places[columns, lower] = count + np.arange(count)
    return places


def _orth(A: Any, out: Any) -> Any:
    return dispatcher("linalg.svd")(A, full_matrices=False)[0][:, : out.shape[1]]


def _null_space(t: Any, out: Any, A: Any) -> Any:
    return -np.linalg.pinv(A) @ (t["A"] @ out)


# Functions of a matrix ----------------------------------------------------------------------------


def analytic(path: str) -> Adjoint:
    """The rule of a function of a matrix: its derivative is a block of that of a block matrix."""

    def block(A: Any, e: Any) -> Any:
        n = A.shape[-1]
        made = dispatcher(path)(joined([[A, e], [np.zeros_like(A), A]]))
        return made[..., :n, n:]

    return Adjoint({"A": lambda g, A: block(adjoint(A), g)}, {"A": lambda t, A: block(A, t)})


def _logm(A: Any) -> Any:
    """By roots until it is near the identity, and there by quadrature: Higham, chapter 11."""
    eye, root = np.eye(A.shape[0]), A
    roots = 0
    while np.linalg.norm(np.asarray(native_of(root)) - eye) > 0.25 and roots < 60:
        root = dispatcher("linalg.sqrtm")(root)
        roots += 1
    points, weights = np.polynomial.legendre.leggauss(12)
    moved = root - eye
    total = sum(
        w / 2 * np.linalg.solve(eye + (x + 1) / 2 * moved, moved)
        for x, w in zip(points, weights, strict=True)
    )
    return 2.0**roots * total


def _power(A: Any, t: Any) -> Any:
    return dispatcher("linalg.expm")(t * dispatcher("linalg.logm")(A))


def _frechet(A: Any, E: Any, compute_expm: Any) -> Any:
    n = A.shape[-1]
    made = dispatcher("linalg.expm")(joined([[A, E], [np.zeros_like(A), A]]))
    return (made[:n, :n], made[:n, n:]) if compute_expm else made[:n, n:]


def _sylvester(a: Any, b: Any, q: Any) -> Any:
    return dispatcher("linalg.solve_sylvester")(a, b, q)


def _sylvester_back(g: Any, a: Any, b: Any) -> Any:
    return _sylvester(adjoint(a), adjoint(b), g)


def _lyapunov(a: Any, q: Any) -> Any:
    return _sylvester(a, adjoint(a), q)


def _discrete(a: Any, q: Any) -> Any:
    return dispatcher("linalg.solve_discrete_lyapunov")(a, q)


def _discrete_of_a(g: Any, a: Any, out: Any) -> Any:
    w = _discrete(adjoint(a), g)
    return w @ a @ adjoint(out) + adjoint(w) @ a @ out


def _discrete_along_a(t: Any, a: Any, out: Any) -> Any:
    moved = t @ out @ adjoint(a)
    return _discrete(a, moved + a @ out @ adjoint(t))


def _found(residual: Any, out: Any) -> Any:
    """The solution of an equation, which SciPy has found, with its derivative."""
    return custom_root(residual, out, lambda _f, x: x)


def _continuous_riccati(a: Any, b: Any, q: Any, r: Any, e: Any, s: Any, out: Any) -> Any:
    e, s = _or_eye(e, a), _or_zero(s, b)
    q, r = hermitian(q), hermitian(r)

    def residual(x: Any) -> Any:
        gain = adjoint(b) @ x @ e + adjoint(s)
        return (
            adjoint(e) @ x @ a + adjoint(a) @ x @ e - adjoint(gain) @ np.linalg.solve(r, gain) + q
        )

    return _found(residual, out)


def _discrete_riccati(a: Any, b: Any, q: Any, r: Any, e: Any, s: Any, out: Any) -> Any:
    e, s = _or_eye(e, a), _or_zero(s, b)
    q, r = hermitian(q), hermitian(r)

    def residual(x: Any) -> Any:
        gain = adjoint(b) @ x @ a + adjoint(s)
        middle = r + adjoint(b) @ x @ b
        full = adjoint(a) @ x @ a - adjoint(gain) @ np.linalg.solve(middle, gain) + q
        return full - adjoint(e) @ x @ e

    return _found(residual, out)


def _or_eye(e: Any, a: Any) -> Any:
    return np.eye(a.shape[0]) if e is None else e


def _or_zero(s: Any, b: Any) -> Any:
    return np.zeros(b.shape) if s is None else s


# Matrices made of vectors -------------------------------------------------------------------------


def _array(a: Any) -> Any:
    """One array of nested lists, which may hold variables."""
    if not isinstance(a, list):
        return a
    return np.stack([_array(part) for part in a]) if a else np.array(a)


def _block_diag(arrs: Any) -> Any:
    blocks = [np.atleast_2d(_array(a)) for a in arrs]
    width = sum(block.shape[1] for block in blocks)
    rows: list[Any] = []
    before = 0
    for block in blocks:
        m, n = block.shape
        parts = [np.zeros((m, before)), block, np.zeros((m, width - before - n))]
        rows.append(np.concatenate(parts, axis=1))
        before += n
    return np.concatenate(rows)


def _circulant(c: Any) -> Any:
    n = c.shape[-1]
    return c[..., (np.arange(n)[:, None] - np.arange(n)) % n]


def _hankel(c: Any, r: Any) -> Any:
    c = np.reshape(c, (-1,))
    r = np.zeros(c.shape) if r is None else np.reshape(r, (-1,))
    values = np.concatenate([c, r[1:]])
    return values[np.arange(len(c))[:, None] + np.arange(len(r))]


def _companion(a: Any) -> Any:
    n = a.shape[-1] - 1
    first = -a[..., 1:] / a[..., :1]
    below = np.broadcast_to(np.eye(n - 1, n), (*a.shape[:-1], n - 1, n))
    return np.concatenate([first[..., None, :], below], axis=-2)


def _fiedler_companion(a: Any) -> Any:
    n = len(a) - 1
    values = np.concatenate([-a / a[0], np.ones(1), np.zeros(1)])
    one, zero = n + 1, n + 2
    places = np.full((n, n), zero)
    places[range(3, n, 2), range(1, n - 2, 2)] = one
    places[range(2, n, 2), range(1, n, 2)] = range(3, n + 1, 2)
    places[range(0, n - 2, 2), range(2, n, 2)] = one
    places[range(0, n - 1, 2), range(1, n, 2)] = range(2, n + 1, 2)
    places[0, 0] = 1
    places[1:2, 0] = one
    return values[places]


def _leslie(f: Any, s: Any) -> Any:
    n = f.shape[-1]
    below = s[..., :, None] * np.eye(n - 1, n)
    return np.concatenate([f[..., None, :], below], axis=-2)


def _convolution_matrix(a: Any, n: Any, mode: Any) -> Any:
    m = a.shape[-1]
    k = np.arange(m + n - 1)[:, None] - np.arange(n)
    padded = np.concatenate([a, np.zeros(1)])
    full = padded[np.where((k >= 0) & (k < m), k, m)]
    length, short = max(m, n), min(m, n)
    if mode == "valid":
        return full[short - 1 : length]
    first = (short - 1) // 2
    return full if mode == "full" else full[first : first + length]


def _khatri_rao(a: Any, b: Any) -> Any:
    product = a[:, None, :] * b[None, :, :]
    return np.reshape(product, (-1, product.shape[-1]))


def _diagsvd(s: Any, M: Any, N: Any) -> Any:
    matrix = np.diag(s)
    if len(s) == M:
        return np.concatenate([matrix, np.zeros((M, N - M))], axis=1)
    return np.concatenate([matrix, np.zeros((M - N, N))])


SYSTEMS = [
    Row("linalg.inv", Adjoint({"a": _inv_of_a}, {"a": _inv_along_a}), arrays="a"),
    Row(
        "linalg.solve",
        Adjoint(
            {"a": _solve_of_a, "b": lambda back: back},
            {"a": _solve_along_a, "b": _solve_along_b},
            back=_solve_back,
        ),
        arrays="a b",
    ),
    Row(
        "linalg.solve_triangular",
        Adjoint(
            {"a": _triangular_of_a, "b": lambda back: back},
            {
                "a": _triangular_along_a,
                "b": lambda t, a, trans, lower, unit_diagonal: _triangular(
                    a, t, trans, lower, unit_diagonal
                ),
            },
            back=_triangular_back,
        ),
        arrays="a b",
    ),
    Row(
        "linalg.solve_banded",
        Adjoint(
            {"ab": _banded_of_ab, "b": lambda back: back},
            {
                "ab": _banded_along_ab,
                "b": lambda t, l_and_u, ab: _solve_banded(l_and_u, ab, t),
            },
            back=_banded_back,
        ),
        arrays="ab b",
        cores="ab:2 b:2",
    ),
    Row(
        "linalg.solveh_banded",
        Adjoint(
            {"ab": _hermitian_of_ab, "b": lambda back: back},
            {
                "ab": _hermitian_along_ab,
                "b": lambda t, ab, lower: _solveh_banded(ab, t, lower),
            },
            back=lambda g, ab, lower: _solveh_banded(ab, g, lower),
        ),
        arrays="ab b",
        cores="ab:2 b:2",
    ),
    formula("linalg.solve_circulant", _circulant_solution, "c b", neutral="singular tol"),
    Row(
        "linalg.solve_toeplitz",
        Adjoint(
            {"c_or_cr": _toeplitz_of_pair, "b": lambda back: back},
            {
                "c_or_cr": lambda t, out, c_or_cr: (
                    -dispatcher("linalg.solve_toeplitz")(c_or_cr, _of_pair(t) @ out)
                ),
                "b": lambda t, c_or_cr: dispatcher("linalg.solve_toeplitz")(c_or_cr, t),
            },
            back=_toeplitz_back,
        ),
        arrays="c_or_cr b",
        groups="c_or_cr",
        cores="c_or_cr:1,1 b:2",
    ),
    formula(
        "linalg.matmul_toeplitz",
        lambda c_or_cr, x: _of_pair(c_or_cr) @ x,
        "c_or_cr x",
        groups="c_or_cr",
        cores="c_or_cr:1,1 x:2",
    ),
    formula("linalg.det", lambda a: np.linalg.det(a), "a"),
    formula(
        "linalg.norm", lambda a, ord, axis, keepdims: np.linalg.norm(a, ord, axis, keepdims), "a"
    ),
    formula("linalg.lstsq", _lstsq, "a b", neutral="cond", cores="a:2 b:2"),
    Row(
        "linalg.pinv",
        Tangent(_pinv),
        arrays="a",
        neutral="atol rtol return_rank",
        note="among the matrices of the same rank",
    ),
    Row(
        "linalg.pinvh",
        Tangent(_pinvh),
        arrays="a",
        neutral="atol rtol lower return_rank",
        symmetric="a",
        note="among the matrices of the same rank",
    ),
    formula("linalg.orthogonal_procrustes", _procrustes, "A B", cores="A:2 B:2"),
    formula("linalg.subspace_angles", _angles, "A B", cores="A:2 B:2"),
    formula(
        "linalg.matrix_balance",
        _balanced,
        "A",
        neutral="permute scale",
        note="the scales are constant: they are powers of two",
        cores="A:2",
    ),
    formula("linalg.khatri_rao", _khatri_rao, "a b", cores="a:2 b:2"),
]
EIGENVALUES = [
    Row(
        "linalg.eigh",
        Tangent(_eigh),
        arrays="a b",
        neutral="lower subset_by_index subset_by_value driver",
        symmetric="a b",
        cores="a:2 b:2",
    ),
    formula(
        "linalg.eigvalsh",
        lambda a, b, out: _chosen(
            dispatcher("linalg.eigh")(a, b, eigvals_only=True), np.zeros((1, a.shape[0])), out
        )[0],
        "a b",
        neutral="lower subset_by_index subset_by_value driver",
        symmetric="a b",
        cores="a:2 b:2",
    ),
    Row(
        "linalg.eig",
        Tangent(_eig),
        arrays="a",
        note="vectors of length one whose largest elements are real",
        cores="a:2 b:2",
    ),
    formula("linalg.eigvals", _eigvals, "a b", cores="a:2 b:2"),
    formula("linalg.eig_banded", _eig_banded, "a_band", neutral="max_ev", cores="a_band:2"),
    formula(
        "linalg.eigvals_banded",
        lambda a_band, lower, out: _eig_banded(a_band, lower, True, out),
        "a_band",
        cores="a_band:2",
    ),
    formula("linalg.eigh_tridiagonal", _eigh_tridiagonal, "d e", neutral="tol", cores="d:1 e:1"),
    formula(
        "linalg.eigvalsh_tridiagonal",
        lambda d, e, out: _eigh_tridiagonal(d, e, True, out),
        "d e",
        neutral="tol",
        cores="d:1 e:1",
    ),
]
DECOMPOSITIONS = [
    Row(
        "linalg.svd",
        Tangent(_svd),
        arrays="a",
        neutral="full_matrices",
        note="vectors beyond the singular values turn as little as they can",
    ),
    formula("linalg.svdvals", lambda a: np.linalg.svd(a, compute_uv=False), "a"),
    formula("linalg.diagsvd", _diagsvd, "s", cores="s:1"),
    formula("linalg.orth", _orth, "A", neutral="rcond"),
    Row(
        "linalg.null_space",
        Tangent(_null_space),
        arrays="A",
        neutral="rcond",
        note="a basis of several vectors turns as little as it can",
    ),
    Row("linalg.lu", Tangent(_lu), arrays="a", cores="a:2"),
    formula("linalg.lu_factor", _lu_factor, "a", cores="a:2"),
    Row(
        "linalg.lu_solve",
        Adjoint(
            {"lu_and_piv": _lu_of_lu, "b": lambda back: back},
            {
                "lu_and_piv": _lu_along_lu,
                "b": lambda t, lu_and_piv, trans: _lu_solve(lu_and_piv, t, trans),
            },
            back=_lu_back,
        ),
        arrays="lu_and_piv b",
        groups="lu_and_piv",
        cores="lu_and_piv:2,1 b:2",
    ),
    Row("linalg.ldl", Tangent(_ldl), arrays="A", neutral="hermitian", symmetric="A", cores="A:2"),
    formula(
        "linalg.cholesky",
        _cholesky,
        "a",
        symmetric="a",
        note="the gradient is shared between the triangles",
    ),
    formula(
        "linalg.cho_factor",
        _cho_factor,
        "a",
        symmetric="a",
        note="the unused triangle is as SciPy leaves it: the argument's, or zeros since 1.18",
    ),
    Row(
        "linalg.cho_solve",
        Adjoint(
            {"c_and_lower": _cho_of_c, "b": lambda back: back},
            {
                "c_and_lower": _cho_along_c,
                "b": lambda t, c_and_lower: _cho_solve(c_and_lower, t),
            },
            back=lambda g, c_and_lower: _cho_solve(c_and_lower, g),
        ),
        arrays="c_and_lower b",
        groups="c_and_lower",
        cores="c_and_lower:2,0 b:2",
    ),
    formula("linalg.cholesky_banded", _cholesky_banded, "ab", cores="ab:2"),
    Row(
        "linalg.cho_solve_banded",
        Adjoint(
            {"cb_and_lower": _cho_of_bands, "b": lambda back: back},
            {
                "cb_and_lower": _cho_along_bands,
                "b": lambda t, cb_and_lower: _cho_solve_banded(cb_and_lower, t),
            },
            back=lambda g, cb_and_lower: _cho_solve_banded(cb_and_lower, g),
        ),
        arrays="cb_and_lower b",
        groups="cb_and_lower",
        cores="cb_and_lower:2,0 b:2",
    ),
    formula("linalg.polar", _polar, "a", cores="a:2"),
    formula("linalg.qr", _qr, "a", cores="a:2"),
    formula("linalg.rq", _rq, "a", cores="a:2"),
    formula("linalg.qr_multiply", _qr_multiply, "a c", cores="a:2 c:2"),
    formula("linalg.hessenberg", _hessenberg, "a", cores="a:2"),
    Row("linalg.schur", Tangent(_schur), arrays="a", cores="a:2"),
]
MATRIX_FUNCTIONS = [
    *(
        Row(f"linalg.{name}", analytic(f"linalg.{name}"), arrays="A", neutral="disp blocksize")
        for name in ("expm", "cosm", "sinm", "tanm", "coshm", "sinhm", "tanhm")
    ),
    Row(
        "linalg.sqrtm",
        Adjoint(
            {"A": lambda g, out: _sylvester(adjoint(out), adjoint(out), g)},
            {"A": lambda t, out: _sylvester(out, out, t)},
        ),
        arrays="A",
        neutral="disp blocksize",
    ),
    formula("linalg.logm", _logm, "A", neutral="disp", cores="A:2"),
    Row("linalg.signm", analytic("linalg.signm"), arrays="A", neutral="disp"),
    formula("linalg.fractional_matrix_power", _power, "A t", cores="A:2"),
    formula("linalg.expm_frechet", _frechet, "A E", neutral="method", cores="A:2 E:2"),
    Row(
        "linalg.solve_sylvester",
        Adjoint(
            {
                "a": lambda g, a, b, out: -(_sylvester_back(g, a, b) @ adjoint(out)),
                "b": lambda g, a, b, out: -(adjoint(out) @ _sylvester_back(g, a, b)),
                "q": lambda g, a, b: _sylvester_back(g, a, b),
            },
            {
                "a": lambda t, a, b, out: _sylvester(a, b, -(t @ out)),
                "b": lambda t, a, b, out: _sylvester(a, b, -(out @ t)),
                "q": lambda t, a, b: _sylvester(a, b, t),
            },
        ),
        arrays="a b q",
        cores="a:2 b:2 q:2",
    ),
    formula("linalg.solve_continuous_lyapunov", _lyapunov, "a q", cores="a:2 q:2"),
    Row(
        "linalg.solve_discrete_lyapunov",
        Adjoint(
            {"a": _discrete_of_a, "q": lambda g, a: _discrete(adjoint(a), g)},
            {"a": _discrete_along_a, "q": lambda t, a: _discrete(a, t)},
        ),
        arrays="a q",
        neutral="method",
        cores="a:2 q:2",
    ),
    formula(
        "linalg.solve_continuous_are",
        _continuous_riccati,
        "a b q r e s",
        neutral="balanced",
        symmetric="q r",
        cores="a:2 b:2 q:2 r:2 e:2 s:2",
    ),
    formula(
        "linalg.solve_discrete_are",
        _discrete_riccati,
        "a b q r e s",
        neutral="balanced",
        symmetric="q r",
        cores="a:2 b:2 q:2 r:2 e:2 s:2",
    ),
]
SPECIAL_MATRICES = [
    formula("linalg.block_diag", _block_diag, "arrs", cores="arrs:2"),
    formula("linalg.toeplitz", _toeplitz, "c r", cores="c:1 r:1"),
    formula("linalg.circulant", _circulant, "c"),
    formula("linalg.hankel", _hankel, "c r"),
    formula("linalg.companion", _companion, "a"),
    formula("linalg.fiedler", lambda a: np.abs(a[..., :, None] - a[..., None, :]), "a"),
    formula("linalg.fiedler_companion", _fiedler_companion, "a", cores="a:1"),
    formula("linalg.leslie", _leslie, "f s", cores="f:1 s:1"),
    formula("linalg.convolution_matrix", _convolution_matrix, "a", cores="a:1"),
]
CHOICE = "its result depends on choices of LAPACK. Fix: use an equivalent that has one, such as"
NONE = [
    *(
        Row(f"linalg.{name}", Constant("a fact about the elements"))
        for name in ("issymmetric", "ishermitian", "bandwidth")
    ),
    Row("linalg.qz", Refused(f"{CHOICE} scipy.linalg.eigvals(a, b).")),
    Row("linalg.ordqz", Refused(f"{CHOICE} scipy.linalg.eigvals(a, b).")),
    Row("linalg.rsf2csf", Refused(f"{CHOICE} scipy.linalg.eigvals.")),
    Row("linalg.cdf2rdf", Refused(f"{CHOICE} scipy.linalg.eig.")),
    Row("linalg.cossin", Refused(f"{CHOICE} scipy.linalg.svd.")),
    Row(
        "linalg.funm",
        Refused(
            "it divides by differences of eigenvalues. Fix: use the function that SciPy has for "
            "it, such as scipy.linalg.expm."
        ),
    ),
    Row(
        "linalg.expm_cond",
        Refused("it is a norm of a derivative. Fix: gradwrap.jacobian of scipy.linalg.expm."),
    ),
    Row(
        "linalg.clarkson_woodruff_transform",
        Refused("it is a random sketch. Fix: multiply by the sketch of the identity matrix."),
    ),
]
register([*SYSTEMS, *EIGENVALUES, *DECOMPOSITIONS, *MATRIX_FUNCTIONS, *SPECIAL_MATRICES, *NONE])
