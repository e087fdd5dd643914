"""Products with sparse matrices, as functions of the arrays that a matrix holds.

A compiled program calls them, and a saved program contains their source.
"""

from __future__ import annotations

import functools
import importlib
from typing import Any

FIELDS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("bsr", "csc", "csr"), ("data", "indices", "indptr")),
    "coo": ("data", "coords"),
    "dia": ("data", "offsets"),
}
"""By format: the attributes that hold the elements and their positions."""
TRANSPOSED: dict[str, str] = {"csc": "csr", "csr": "csc"}
"""By format: that of the transposed matrix, which holds the same arrays."""


def parts_of(matrix: Any) -> tuple[str, tuple[int, ...], tuple[Any, ...]]:
    """Return the format, the shape and the arrays of a sparse matrix.

    A matrix that holds lists or a dictionary is converted first, as for SciPy's own products.
    """
    held = matrix if matrix.format in FIELDS else matrix.tocsr()
    arrays = tuple(getattr(held, name) for name in FIELDS[held.format])
    return held.format, tuple(map(int, held.shape)), arrays


def sparse_product(
    form: str, shape: tuple[int, ...], arrays: tuple[Any, ...], x: Any, adjoint: bool, /
) -> Any:
    """Multiply a sparse matrix, or its adjoint, by a dense array: SciPy's product."""
    if not adjoint:
        return _matrix(form, shape, arrays) @ x
    if form in TRANSPOSED:
        conjugated = (arrays[0].conj(), *arrays[1:])
        return _matrix(TRANSPOSED[form], shape[::-1], conjugated) @ x
    return _matrix(form, shape, arrays).conj(copy=False).T @ x


def _matrix(form: str, shape: tuple[int, ...], arrays: tuple[Any, ...]) -> Any:
    """Return the matrix of arrays that are known to fit, without SciPy's checks."""
    empty = _empty(form, shape)
    made = object.__new__(type(empty))
    vars(made).update(vars(empty))
    vars(made).update(zip(FIELDS[form], arrays, strict=True))
    return made


@functools.lru_cache(maxsize=256)
def _empty(form: str, shape: tuple[int, ...]) -> Any:
    return getattr(importlib.import_module("scipy.sparse"), f"{form}_array")(shape)
