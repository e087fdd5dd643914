"""The rows of `scipy.sparse`: products and solutions, also with a matrix of tracked elements."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import scipy.sparse

from gradwrap.core.levels.wrapper import AnyWrapper
from gradwrap.errors import NoRuleError
from gradwrap.scipy.calls import holds_variable
from gradwrap.scipy.classes import Class, meta_of
from gradwrap.scipy.kinds import Composed, product, scipys
from gradwrap.scipy.solving import as_array, attached, plain
from gradwrap.scipy.table import Row, register
from gradwrap.transforms.implicit import custom_linear_solve

LINALG: Any = import_module("scipy.sparse.linalg")


class TrackedMatrix:
    """A sparse matrix of tracked elements: where they are is data.

    It can be multiplied with arrays, transposed, made dense, and given to `spsolve` and the like.
    """

    __array_ufunc__ = None  # so that `array @ matrix` asks this class

    def __init__(self, made: Any, data: Any) -> None:
        self.made = made
        """SciPy's matrix of the same values."""
        coordinates = scipy.sparse.coo_array(made)
        self.rows: Any = np.asarray(coordinates.row)
        self.columns: Any = np.asarray(coordinates.col)
        self.data = data
        self.shape: tuple[int, int] = tuple(made.shape)

    def __matmul__(self, other: Any) -> Any:
        """Multiply with an array."""
        m, count = self.shape[0], len(self.rows)
        taken = as_array(other)[self.columns]
        weights = self.data if taken.ndim == 1 else self.data[:, None]
        gather = scipy.sparse.csr_array((np.ones(count), (self.rows, np.arange(count))), (m, count))
        return product(gather, weights * taken)

    def __rmatmul__(self, other: Any) -> Any:
        """Multiply an array with it."""
        return (self.T @ as_array(other).T).T

    dot = __matmul__

    @property
    def T(self) -> TrackedMatrix:  # noqa: N802  SciPy's name
        """The transpose."""
        turned = TrackedMatrix.__new__(TrackedMatrix)
        turned.made, turned.data = self.made.T, self.data
        turned.rows, turned.columns = self.columns, self.rows
        turned.shape = (self.shape[1], self.shape[0])
        return turned

    def toarray(self) -> Any:
        """Return it as a dense array."""
        return self @ np.eye(self.shape[1])

    todense = toarray

    def __getattr__(self, name: str) -> Any:
        raise NoRuleError(
            f"A scipy.sparse matrix of tracked elements has no .{name}. "
            "Fix: use its product with an array, .T, .toarray(), or scipy.sparse.linalg.spsolve."
        )


def _tracked(native: Any, args: Any, kwargs: Any) -> TrackedMatrix:
    """A matrix whose elements are tracked, in coordinates or compressed form."""
    given = args[0] if args else kwargs["arg1"]
    if isinstance(given, AnyWrapper):
        places = np.nonzero(np.asarray(plain(given)))
        made = native(plain(given), *plain(args[1:]), **plain(kwargs))
        return _in_order(made, places, given[places])
    data, *rest = given
    made = native((plain(data), *plain(rest)), *plain(args[1:]), **plain(kwargs))
    if len(rest) == 1 and made.format in ("coo", "csr", "csc"):
        rows, columns = (np.asarray(one) for one in plain(rest[0]))
    elif len(rest) == 2 and made.format in ("csr", "csc"):
        indices, starts = (np.asarray(one) for one in plain(rest))
        outer = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        rows, columns = (outer, indices) if made.format == "csr" else (indices, outer)
    else:
        raise NoRuleError(
            f"scipy.sparse.{native.__name__} of tracked elements is made of (data, (row, column)), "
            "or of (data, indices, indptr). Fix: scipy.sparse.coo_array."
        )
    return _in_order(made, (rows, columns), as_array(data))


def _in_order(made: Any, places: Any, data: Any) -> TrackedMatrix:
    matrix = TrackedMatrix(made, data)
    matrix.rows, matrix.columns = places
    return matrix


def _matrix_class(native: Any) -> Any:
    class Matrix(native, metaclass=meta_of(native)):  # type: ignore[metaclass,misc]  # a class of SciPy's
        def __new__(cls, *args: Any, **kwargs: Any) -> Any:
            if holds_variable([args, kwargs]):
                return _tracked(native, args, kwargs)
            return native.__new__(cls)

        def __matmul__(self, other: Any) -> Any:
            return product(native(self), other) if _is_array(other) else super().__matmul__(other)

        def __rmatmul__(self, other: Any) -> Any:
            if _is_array(other):
                return product(native(self).T, other.T).T
            return super().__rmatmul__(other)

        def dot(self, other: Any) -> Any:
            return product(native(self), other) if _is_array(other) else super().dot(other)

    if issubclass(native, scipy.sparse.spmatrix):
        Matrix.__mul__ = lambda self, other: (
            self @ other if _is_array(other) else native.__mul__(self, other)
        )
    Matrix.__name__ = Matrix.__qualname__ = native.__name__
    Matrix.__module__ = native.__module__
    return Matrix


def _is_array(value: Any) -> bool:
    return isinstance(value, AnyWrapper) and value.ndim > 0


def _plain_matrix(A: Any) -> Any:
    return A.made if isinstance(A, TrackedMatrix) else plain(A)


def _solver(name: str) -> Any:
    """The rule of a function that solves a system: one more solution gives each derivative."""

    def composed(A: Any, b: Any, *args: Any, **options: Any) -> Any:
        matrix = _plain_matrix(A)
        result = scipys(f"sparse.linalg.{name}")(
            matrix, plain(as_array(b)), *plain(args), **plain(options)
        )
        columns = scipy.sparse.csc_array(matrix)

        def multiply(x: Any) -> Any:
            return A @ x if isinstance(A, (TrackedMatrix, AnyWrapper)) else product(columns, x)

        def solved(transposed: bool) -> Any:
            factors = LINALG.splu(columns.T.tocsc() if transposed else columns)
            return lambda _matvec, right: factors.solve(np.asarray(plain(right)))

        right = as_array(b)
        x = custom_linear_solve(multiply, right, solved(False), solved(True))
        is_pair = isinstance(result, tuple)
        return attached(f"sparse.linalg.{name}", result, {(0,) if is_pair else (): x})

    return composed


class _Solver(Composed):
    """A composed function that a matrix of tracked elements may be given to."""

    def stand_in(self, row: Row) -> Any:
        """Return a dispatcher that knows such matrices."""
        original = row.original

        def dispatch(A: Any, b: Any, *args: Any, **options: Any) -> Any:
            if isinstance(A, TrackedMatrix) or holds_variable([A, b, args, options]):
                return self.answer(row, (A, b, *args), options)
            return original(A, b, *args, **options)

        dispatch.__name__, dispatch.__doc__ = original.__name__, original.__doc__
        return dispatch


CLASSES = [
    Row(f"sparse.{form}_{kind}", Class(_matrix_class))
    for form in ("bsr", "coo", "csc", "csr", "dia")
    for kind in ("array", "matrix")
]
SOLVERS = [
    Row(f"sparse.linalg.{name}", _Solver(_solver(name)))
    for name in (
        *("bicg", "bicgstab", "cg", "cgs", "gmres", "lgmres", "minres", "qmr", "spsolve"),
        "tfqmr",
    )
]
register([*CLASSES, *SOLVERS])
