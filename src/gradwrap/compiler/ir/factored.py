"""Systems that are solved with kept factors: LAPACK's, by SciPy."""

from __future__ import annotations

import functools
import importlib
from typing import Any

import numpy as np

BESIDE = 2
"""The columns beside the factors: the exchanges of rows, and the order of the rows after these."""
MANY = 16
"""The columns of a right side from which on BLAS solves for them as rows of its transpose."""


def factored(matrix: Any, /) -> Any:
    """Return the LU factors of a matrix, and beside them the exchanges and the order of its rows.

    Raises
    ------
    numpy.linalg.LinAlgError
        The matrix is singular.
    """
    char, count = matrix.dtype.char, len(matrix)
    found = np.empty((count, count + BESIDE), matrix.dtype, order="F")
    found[:, :count] = matrix
    factorise = _function("lapack", "getrf", char)
    found[:, :count], exchanges, problem = factorise(found[:, :count], overwrite_a=True)
    if problem:
        raise np.linalg.LinAlgError("Singular matrix")
    found[:, count] = exchanges
    order = np.arange(count, dtype=matrix.dtype).reshape(count, 1)
    found[:, count + 1 :] = _function("lapack", "laswp", char)(order, exchanges)
    return found


def solved(factors: Any, right: Any, form: int, /) -> Any:
    """Solve a system with a matrix (form 0), its transpose (1) or the transpose's conjugate (2)."""
    triangles, char = factors[:, :-BESIDE], factors.dtype.char
    if right.ndim == 1 or right.shape[1] < MANY:
        exchanges = factors[:, -BESIDE].real.astype(np.int32)
        found = _function("lapack", "getrs", char)(triangles, exchanges, right, trans=form)[0]
        return np.ascontiguousarray(found)
    # With P A = L U these are L U X = P B, or U^T L^T (P X) = B. BLAS wants Fortran's order, and
    # the transpose of B in C's order has that: so (X^T U^T) L^T = (P B)^T, or ((P X)^T L) U = B^T.
    order = factors[:, -1].real.astype(np.intp)
    rows = right.conj() if form > 1 else right if form else np.take(right, order, axis=0)
    lower: dict[str, int] = {"lower": 1, "diag": 1}
    first, last = ({}, lower) if form else (lower, {})
    solve, kind = _function("blas", "trsm", char), {"side": 1, "trans_a": not form}
    half = solve(1.0, triangles, rows.T, overwrite_b=rows is not right, **kind, **first)
    found = solve(1.0, triangles, half, overwrite_b=1, **kind, **last).T
    if not form:
        return np.ascontiguousarray(found)
    solution = np.empty(found.shape, found.dtype)
    solution[order] = found.conj() if form > 1 else found
    return solution


@functools.cache
def _function(library: str, name: str, char: str) -> Any:
    """Return the function of BLAS or LAPACK for a dtype."""
    letter = "sdcz"["fdFD".index(char)]
    return getattr(importlib.import_module(f"scipy.linalg.{library}"), letter + name)
