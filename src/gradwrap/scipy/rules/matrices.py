"""Matrix operations that several formulas share."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np


def adjoint(x: Any) -> Any:
    """Return the conjugate transpose."""
    return np.conj(x.mT) if x.dtype.kind == "c" else x.mT


def hermitian(x: Any) -> Any:
    """Return the Hermitian part, which splits the gradient of one triangle between both."""
    return (x + adjoint(x)) / 2


def solved(a: Any, b: Any) -> Any:
    """Solve a linear system with one right-hand side or several."""
    return np.linalg.solve(a, b[..., None])[..., 0] if b.ndim == 1 else np.linalg.solve(a, b)


def of_columns(function: Any, a: Any, x: Any, like: Any) -> Any:
    """Call a function of a matrix and columns; if `like` is a vector, x has vectors."""
    return function(a, x) if like.ndim > 1 else function(a, x[..., None])[..., 0]


def as_columns(*xs: Any, like: Any = None) -> list[Any]:
    """Return vectors as matrices of one column, and matrices unchanged.

    If `like` is a vector, all arrays are vectors or stacks of vectors, and get a last axis.
    """
    return [x[..., None] if (x if like is None else like).ndim == 1 else x for x in xs]


def lower_triangle(n: int) -> Any:
    """Return the mask of a lower triangle, which must not be written to."""
    return _kept_triangle(n) if n <= KEPT else np.tri(n, dtype=np.bool_)


KEPT = 32
"""Masks of matrices of up to so many rows are kept: they take as long to make as a product."""


@functools.cache
def _kept_triangle(n: int) -> Any:
    mask = np.tri(n, dtype=np.bool_)
    mask.flags.writeable = False
    return mask


def joined(rows: list[list[Any]]) -> Any:
    """Assemble a matrix from blocks."""
    return np.concatenate([np.concatenate(row, axis=-1) for row in rows], axis=-2)


def spread(values: Any, index: Any, size: int) -> Any:
    """Scatter values into a vector of zeros of length `size`."""
    padded = np.concatenate([values, np.zeros(1)])
    places = np.full(size, len(values))
    places[index] = np.arange(len(values))
    return padded[places]


def inverse_gaps(w: Any) -> Any:
    """Return `1 / (w[j] - w[i])` at i, j, and zero where the two are equal up to rounding."""
    gaps = w[..., None, :] - w[..., :, None]
    size = np.sum(np.abs(native_of(w)), axis=-1)[..., None, None]
    equal = np.abs(native_of(gaps)) <= size * np.finfo(w.dtype).eps
    return np.where(equal, 0.0, 1.0 / np.where(equal, 1.0, gaps))


def from_bands(ab: Any, lower: int, upper: int) -> Any:
    """Return the matrix whose diagonals are the rows of `ab`, as `solve_banded` has them."""
    padded = np.concatenate([np.reshape(ab, (-1,)), np.zeros(1)])
    return padded[_band_places(ab.shape[-1], lower, upper)[0].copy()]


def to_bands(a: Any, lower: int, upper: int) -> Any:
    """Return the diagonals of a matrix as the rows of an array, padded with zeros."""
    padded = np.concatenate([np.reshape(a, (-1,)), np.zeros(1)])
    return padded[_band_places(a.shape[-1], lower, upper)[1].copy()]


@functools.lru_cache(64)
def _band_places(n: int, lower: int, upper: int) -> tuple[Any, Any]:
    """Return for each element of an n by n matrix its place among the bands, and the reverse.

    Elements that the other one lacks have the place after the last.
    """
    count = lower + upper + 1
    rows, columns = np.indices((n, n)).reshape(2, -1)
    inside = (rows - columns <= lower) & (columns - rows <= upper)
    rows, columns = rows[inside], columns[inside]
    bands = np.full((n, n), count * n)
    matrix = np.full((count, n), n * n)
    bands[rows, columns] = (upper + rows - columns) * n + columns
    matrix[upper + rows - columns, columns] = rows * n + columns
    return bands, matrix


def full_bands(ab: Any, lower: bool) -> Any:
    """Return all diagonals of a Hermitian matrix from its upper or lower ones in `ab`."""
    k = ab.shape[0] - 1
    half = from_bands(ab, k, 0) if lower else from_bands(ab, 0, k)
    return (half + adjoint(half)) * (1.0 - 0.5 * np.eye(len(half)))  # the diagonal is in both


def like_columns(v: Any, out: Any) -> Any:
    """Multiply the columns of `v` by signs or phases so that they match `out`."""
    turn = np.sum(np.conj(native_of(v)) * native_of(out), axis=-2, keepdims=True)
    size = np.abs(turn)
    return v * np.where(size == 0, 1.0, turn / np.where(size == 0, 1.0, size))


def native_of(x: Any) -> Any:
    """Return an array without derivatives, to choose signs and orders by its values."""
    return x.detach() if hasattr(x, "detach") else x


def parted(e: Any) -> tuple[Any, Any]:
    """Return a matrix with zeros for NaN and infinities, and NaN to be added to its results, or 0.

    SciPy's functions without `check_finite` refuse such a matrix, also as a tangent.
    """
    return np.where(np.isfinite(e), e, 0.0), np.sum(e * 0.0, axis=(-2, -1), keepdims=True)


def shifted(x: Any, by: int) -> Any:
    """Shift rows up by `by` places, and fill with zeros."""
    if by == 0:
        return x
    n, blank = x.shape[0], np.zeros((min(abs(by), x.shape[0]), *x.shape[1:]))
    return (
        np.concatenate([x[by:], blank]) if by >= 0 else np.concatenate([blank, x[: max(n + by, 0)]])
    )


def half_bands(ab: Any, lower: Any) -> list[tuple[int, Any]]:
    """Return the diagonals of a triangle, each with its offset below the main diagonal."""
    last = ab.shape[0] - 1
    return [(k if lower else k - last, ab[k]) for k in range(last + 1)]


def times(bands: list[tuple[int, Any]], x: Any) -> Any:
    """Multiply a matrix, given by some diagonals, by columns."""
    return sum(shifted(band[:, None] * x, -by) for by, band in bands)


def times_adjoint(bands: list[tuple[int, Any]], x: Any) -> Any:
    return sum(np.conj(band)[:, None] * shifted(x, by) for by, band in bands)


def toeplitz(c: Any, r: Any) -> Any:
    c = np.reshape(c, (-1,)) if np.ndim(c) == 0 else c
    r = np.conj(c) if r is None else np.reshape(r, (-1,)) if np.ndim(r) == 0 else r
    m, n = c.shape[-1], r.shape[-1]
    values = np.concatenate([c[..., ::-1], r[..., 1:]], axis=-1)
    return values[..., np.arange(m - 1, -1, -1)[:, None] + np.arange(n)]
