"""Rows of `scipy.linalg`: systems of equations, inverses and norms."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwrap.core.library.backend import is_array
from gradwrap.errors import NoRuleError
from gradwrap.scipy.doors import unchecked
from gradwrap.scipy.kinds import Adjoint, Tangent, formula, system
from gradwrap.scipy.rules.convolving import FEW, convolved
from gradwrap.scipy.rules.matrices import (
    adjoint,
    as_columns,
    half_bands,
    hermitian,
    native_of,
    of_columns,
    shifted,
    times,
    times_adjoint,
    toeplitz,
)
from gradwrap.scipy.table import Row

# Systems ------------------------------------------------------------------------------------------


def _read(a: Any, assume_a: Any, lower: bool) -> Any:  # noqa: PLR0911  one for each kind
    """Return the matrix that SciPy reads from its argument under `assume_a`."""
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


def _inv_of_a(g: Any, out: Any, a: Any, assume_a: Any = None, lower: Any = False) -> Any:
    back = adjoint(out)
    return _read(-(back @ g @ back), assume_a, lower)


def _inv_along_a(t: Any, out: Any, assume_a: Any = None, lower: Any = False) -> Any:
    return -(out @ _read(t, assume_a, lower) @ out)


def _system(a: Any, assume_a: Any, lower: Any, transposed: Any) -> Any:
    if np.ndim(a) < 2:
        raise NoRuleError("scipy.linalg.solve with a number for the matrix has no rule. Fix: b / a")
    matrix = _read(a, assume_a, lower)
    return matrix.mT if transposed else matrix


def _solve_of_a(back: Any, out: Any, b: Any, assume_a: Any, lower: Any, transposed: Any) -> Any:
    w, x = as_columns(back, out, like=b)
    moved = -(w @ adjoint(x))
    return _read(moved.mT if transposed else moved, assume_a, lower)


def _solve_along_a(
    t: Any, out: Any, a: Any, b: Any, assume_a: Any, lower: Any, transposed: Any
) -> Any:
    moved = of_columns(np.matmul, _system(t, assume_a, lower, transposed), out, b)
    return -of_columns(np.linalg.solve, _system(a, assume_a, lower, transposed), moved, b)


def _turned(trans: Any) -> int:
    numbers: dict[Any, int] = {"N": 0, "T": 1, "C": 2, 0: 0, 1: 1, 2: 2}
    return numbers[trans]


def _triangular(a: Any, b: Any, trans: int, lower: Any, unit_diagonal: Any) -> Any:
    return unchecked("linalg.solve_triangular")(
        a, b, trans=trans, lower=lower, unit_diagonal=unit_diagonal
    )


def _triangular_back(g: Any, a: Any, b: Any, trans: Any, lower: Any, unit_diagonal: Any) -> Any:
    """Solve with the adjoint of the triangular matrix."""

    def solve(a: Any, g: Any) -> Any:
        if _turned(trans) == 1:
            return np.conj(_triangular(a, np.conj(g), 0, lower, unit_diagonal))
        return _triangular(a, g, 2 if _turned(trans) == 0 else 0, lower, unit_diagonal)

    return of_columns(solve, a, g, b)


def _within(x: Any, lower: Any, unit_diagonal: Any) -> Any:
    """Return the part of a matrix that `solve_triangular` reads."""
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
    """Return the bands of the adjoint matrix."""
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
    return unchecked("linalg.solve_banded")(l_and_u, ab, b)


def _banded_back(g: Any, l_and_u: Any, ab: Any) -> Any:
    bands, turned = _transposed_bands(l_and_u, ab)
    return _solve_banded(bands, turned, g)


def _banded_of_ab(back: Any, out: Any, l_and_u: Any) -> Any:
    lower, upper = l_and_u
    w, x = as_columns(back, out)
    # at [k, j] the element (j + k - upper, j)
    shifts = range(-upper, lower + 1)
    return np.stack([-np.sum(shifted(w, by) * np.conj(x), axis=-1) for by in shifts])


def _banded_along_ab(t: Any, out: Any, l_and_u: Any, ab: Any) -> Any:
    lower, upper = l_and_u
    x = out if out.ndim == 2 else out[:, None]
    product = sum(shifted(t[k][:, None] * x, upper - k) for k in range(lower + upper + 1))
    return -_solve_banded(l_and_u, ab, np.reshape(product, out.shape))


def _solveh_banded(ab: Any, b: Any, lower: Any) -> Any:
    return unchecked("linalg.solveh_banded")(ab, b, lower=lower)


def _hermitian_of_ab(back: Any, out: Any, ab: Any, lower: Any) -> Any:
    w, x = as_columns(back, out)
    rows: list[Any] = []
    for by, _ in half_bands(ab, lower):
        row = -np.sum(shifted(w, by) * np.conj(x), axis=-1)
        other = -np.sum(shifted(x, by) * np.conj(w), axis=-1)
        rows.append(row + other if by else np.real(row))
    return np.stack(rows)


def _hermitian_along_ab(t: Any, out: Any, ab: Any, b: Any, lower: Any) -> Any:
    (x,) = as_columns(out)
    bands = half_bands(t, lower)
    bands = [(by, band if by else np.real(band)) for by, band in bands]
    moved = times(bands, x) + times_adjoint([one for one in bands if one[0]], x)
    return -_solveh_banded(ab, np.reshape(moved, out.shape), lower)


def _circulant_solution(c: Any, b: Any, caxis: Any, baxis: Any, outaxis: Any) -> Any:
    c, b = np.moveaxis(np.atleast_1d(c), caxis, -1), np.moveaxis(np.atleast_1d(b), baxis, -1)
    x = np.fft.ifft(np.fft.fft(b) / np.fft.fft(c))
    x = x if "c" in (c.dtype.kind, b.dtype.kind) else np.real(x)
    return np.moveaxis(x, -1, outaxis)


def _of_pair(c_or_cr: Any) -> Any:
    return toeplitz(*_pair(c_or_cr))


def _toeplitz_product(c_or_cr: Any, x: Any) -> Any:
    """Multiply by the matrix: convolve with its diagonals, from the upper right corner on."""
    c, r = _pair(c_or_cr)
    if c.size * r.size <= FEW:
        return _of_pair(c_or_cr) @ x
    diagonals = np.concatenate([r[:0:-1], c])
    columns = diagonals if x.ndim == 1 else diagonals[:, None]
    return convolved(columns, x, "valid", [0])


def _pair(c_or_cr: Any) -> tuple[Any, Any]:
    """Return the first column and the first row of a Toeplitz matrix."""
    c, r = c_or_cr if isinstance(c_or_cr, tuple) else (c_or_cr, None)
    c = np.reshape(c, (-1,))
    return c, np.conj(c) if r is None else np.reshape(r, (-1,))


def _toeplitz_back(g: Any, c_or_cr: Any) -> Any:
    """Solve with the adjoint of the matrix."""
    c, r = _pair(c_or_cr)
    turned = np.concatenate([c[:1], r[1:]])
    return unchecked("linalg.solve_toeplitz")((np.conj(turned), np.conj(c)), g)


def _toeplitz_of_pair(back: Any, out: Any, c_or_cr: Any) -> Any:
    """Sum the cotangent of the matrix along its diagonals."""
    w, x = as_columns(back, out)
    of_c, of_r = -_lagged(w, np.conj(x)), -_lagged(np.conj(x), w)
    of_r = of_r * (np.arange(of_r.shape[0]) > 0)
    if isinstance(c_or_cr, tuple):
        return np.reshape(of_c, np.shape(c_or_cr[0])), np.reshape(of_r, np.shape(c_or_cr[1]))
    return np.reshape(of_c + np.conj(of_r), np.shape(c_or_cr))


def _lagged(x: Any, y: Any) -> Any:
    """Return the sum of x[j + k] y[j] over j, for each k."""
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
    p = out if is_array(out) else out[0]  # SciPy gives a list for a stack
    e, back = t["a"], adjoint(t["a"])
    right, left = p @ (adjoint(p) @ back), (back @ adjoint(p)) @ p
    moved = right - (right @ a) @ p + left - p @ (a @ left) - p @ e @ p
    return moved if is_array(out) else (moved,)


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


def _khatri_rao(a: Any, b: Any) -> Any:
    product = a[:, None, :] * b[None, :, :]
    return np.reshape(product, (-1, product.shape[-1]))


SYSTEMS = [
    Row("linalg.inv", Adjoint({"a": _inv_of_a}, {"a": _inv_along_a}), arrays="a", triangles="a"),
    system(
        "linalg.solve",
        "a b",
        _solve_of_a,
        _solve_along_a,
        lambda g, a, b, assume_a, lower, transposed: of_columns(
            np.linalg.solve, adjoint(_system(a, assume_a, lower, transposed)), g, b
        ),
        triangles="a",
    ),
    system(
        "linalg.solve_triangular", "a b", _triangular_of_a, _triangular_along_a, _triangular_back
    ),
    system("linalg.solve_banded", "ab:2 b:2", _banded_of_ab, _banded_along_ab, _banded_back),
    system(
        "linalg.solveh_banded",
        "ab:2 b:2",
        _hermitian_of_ab,
        _hermitian_along_ab,
        lambda g, ab, lower: _solveh_banded(ab, g, lower),
    ),
    formula("linalg.solve_circulant", _circulant_solution, "c b", neutral="singular tol"),
    system(
        "linalg.solve_toeplitz",
        "c_or_cr:1,1 b:2",
        _toeplitz_of_pair,
        lambda t, out, c_or_cr: -unchecked("linalg.solve_toeplitz")(c_or_cr, _of_pair(t) @ out),
        _toeplitz_back,
    ),
    formula("linalg.matmul_toeplitz", _toeplitz_product, "c_or_cr:1,1 x:2"),
    formula("linalg.det", lambda a: np.linalg.det(a), "a"),
    formula(
        "linalg.norm", lambda a, ord, axis, keepdims: np.linalg.norm(a, ord, axis, keepdims), "a"
    ),
    formula("linalg.lstsq", _lstsq, "a:2 b:2", thresholds="cond"),
    Row(
        "linalg.pinv",
        Tangent(_pinv),
        arrays="a",
        neutral="return_rank",
        thresholds="atol rtol",
        note="among the matrices of the same rank",
    ),
    Row(
        "linalg.pinvh",
        Tangent(lambda t, out, a: _pinv({"a": hermitian(t["a"])}, out, hermitian(a))),
        arrays="a",
        neutral="lower return_rank",
        thresholds="atol rtol",
        symmetric="a",
        triangles="a",
        note="among the matrices of the same rank",
    ),
    formula("linalg.orthogonal_procrustes", _procrustes, "A:2 B:2"),
    formula("linalg.subspace_angles", _angles, "A:2 B:2"),
    formula(
        "linalg.matrix_balance",
        _balanced,
        "A:2",
        neutral="permute scale",
        note="the scales are constant: they are powers of two",
    ),
    formula("linalg.khatri_rao", _khatri_rao, "a:2 b:2"),
]
