"""Systems that are solved with kept factors: LAPACK's, by SciPy."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np


def factored(matrix: Any, /) -> Any:
    """Return the LU factors of a matrix, and beside them the exchanges of its rows.

    Raises
    ------
    numpy.linalg.LinAlgError
        The matrix is singular.
    """
    lapack: Any = importlib.import_module("scipy.linalg.lapack")  # where a program keeps factors
    count = len(matrix)
    found = np.empty((count, count + 1), matrix.dtype, order="F")
    found[:, :count] = matrix
    factorise = getattr(lapack, f"{'sdcz'['fdFD'.index(matrix.dtype.char)]}getrf")
    found[:, :count], exchanges, problem = factorise(found[:, :count], overwrite_a=True)
    if problem:
        raise np.linalg.LinAlgError("Singular matrix")
    found[:, count] = exchanges
    return found


def solved(factors: Any, right: Any, form: int, /) -> Any:
    """Solve a system with a matrix (form 0), its transpose (1) or the transpose's conjugate (2)."""
    lapack: Any = importlib.import_module("scipy.linalg.lapack")
    solve = getattr(lapack, f"{'sdcz'['fdFD'.index(factors.dtype.char)]}getrs")
    exchanges = factors[:, -1].real.astype(np.int32)
    return np.ascontiguousarray(solve(factors[:, :-1], exchanges, right, trans=form)[0])
