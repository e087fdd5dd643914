"""SciPy's sparse matrices of numbers: what SciPy does with the numbers of elements.

A method that only moves elements is called on a matrix that holds the number of each element, from
1, and tells which element is where.
"""

from __future__ import annotations

import copy
import functools
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse

from gradwrap.core.values.dynamic import TUPLE
from gradwrap.scipy.kinds import product

if TYPE_CHECKING:
    from numpy.typing import NDArray

Positions = tuple[Any, ...]
"""The index of each element along each axis."""

BASES: tuple[Any, ...] = (scipy.sparse.sparray, scipy.sparse.spmatrix)
FORMS = ("bsr", "coo", "csc", "csr", "dia")
"""The formats whose elements are an array, `data`."""
BUILDING = ("dok", "lil")
"""The formats that are filled element by element. They are kept as `coo` is."""


def with_data(template: Any, data: Any) -> Any:
    """Return a matrix with other elements at the same positions.

    They have arrays of their own where SciPy may add up or sort elements in place.
    """
    is_canonical = getattr(template, "has_canonical_format", True)
    made = copy.copy(template) if is_canonical else copy.deepcopy(template)
    made.data = data if is_canonical else np.array(data)
    return made


def numbered(template: Any) -> Any:
    """Return a matrix with the number of each stored element, from 1, in its place.

    A diagonal of a template has zeros where there is no element.
    """
    numbers = np.arange(1, template.data.size + 1).reshape(template.data.shape)
    # SciPy drops the zeros between the elements of a diagonal where it converts the matrix
    return with_data(
        template, numbers * (template.data != 0) if template.format == "dia" else numbers
    )


def positions_of(matrix: Any) -> tuple[Any, Positions]:
    """Return the elements of SciPy's matrix, and their index along each axis."""
    held = matrix if matrix.format == "coo" else matrix.tocoo()
    return held.data, tuple(getattr(held, "coords", None) or (held.row, held.col))


def slots_of(template: Any) -> tuple[Any, Positions]:
    """Return the place in `data` of each element, and its index along each axis.

    The places are None if the elements are all of `data`, in order.
    """
    if template.format in ("coo", "csc", "csr"):
        return None, positions_of(template)[1]
    numbers, positions = positions_of(numbered(template))
    return numbers - 1, positions


def numbers_of(positions: Any, shape: Any) -> NDArray[np.int64]:
    """Return the number of each position, by rows."""
    found: Any = np.ravel_multi_index(positions, shape)
    return np.asarray(found, np.int64)


@functools.cache
def class_after(name: str, *operands: Any) -> tuple[str, bool]:
    """Return the format of what a method of SciPy returns, and if that is a matrix of SciPy."""
    ones = np.ones((2, 2))
    first, *rest = [
        getattr(scipy.sparse, f"{one[0]}_{'matrix' if one[1] else 'array'}")(ones)
        if isinstance(one, TUPLE)
        else ones
        if one is None
        else one
        for one in operands
    ]
    found: Any = getattr(first, name)
    found = found(*rest) if callable(found) else found
    return found.format, isinstance(found, scipy.sparse.spmatrix)


def class_of(matrix: Any, form: str) -> Any:
    """Return SciPy's class of matrices, or of arrays as this one is, in a format."""
    kind = "matrix" if isinstance(matrix, scipy.sparse.spmatrix) else "array"
    return getattr(scipy.sparse, f"{form}_{kind}")


def gathered(values: Any, at: Any, count: int) -> Any:
    """Add values up at their places in a vector, or in the rows of a matrix."""
    size = len(at)
    ones = np.ones(size, np.zeros(0, values.dtype).real.dtype)
    gather = scipy.sparse.csr_array((ones, (at, np.arange(size))), (count, size))
    return product(gather, values)


def with_zero(elements: Any) -> Any:
    """Return elements behind a zero, which has the number 0."""
    return np.concatenate([np.zeros(1, elements.dtype), elements])
