"""The rows of `scipy.sparse`: matrices with tracked arrays, and matrices of tracked elements.

The positions of the elements are data. Functions that only move elements (`vstack`, `tril`,
`S[0]`) are SciPy's own: they are called on matrices that hold the indices of the elements.
"""

from __future__ import annotations

import functools
import itertools
import operator
from abc import ABC
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse

from gradwrap.core.levels.modes import called
from gradwrap.core.levels.wrapper import AnyWrapper, is_recorded
from gradwrap.core.values.dynamic import SEQUENCE, rebuilt
from gradwrap.core.values.tree import map_leaves
from gradwrap.errors import NoRuleError
from gradwrap.scipy.calls import are_plain, holds_variable
from gradwrap.scipy.classes import Class, meta_of
from gradwrap.scipy.dispatching import Composed, scipys
from gradwrap.scipy.doors import dispatcher
from gradwrap.scipy.kinds import Adjoint, OfColumns, product
from gradwrap.scipy.products import parts_of
from gradwrap.scipy.rules.matrices import like_columns
from gradwrap.scipy.solving import as_array, as_dense, attached, data_of, is_tracer, plain
from gradwrap.scipy.table import Row, register
from gradwrap.transforms.implicit import custom_linear_solve

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

LINALG: Any = import_module("scipy.sparse.linalg")
BASES: tuple[Any, ...] = (scipy.sparse.sparray, scipy.sparse.spmatrix)
FORMS = ("bsr", "coo", "csc", "csr", "dia")


class TrackedMatrix:
    """A sparse matrix of tracked elements, whose positions are data.

    It has the arithmetic, products and sums of SciPy's matrices. The differentiable functions of
    `scipy.sparse` and `scipy.sparse.linalg` take it.
    """

    __array_ufunc__ = None  # so that `array @ matrix` asks this class
    ndim = 2

    def __init__(self, made: Any, data: Any, places: Any = None) -> None:
        self.made = made
        """SciPy's matrix of the same values. In a trace, it has NaN in place of traced values."""
        if places is None:
            coordinates = scipy.sparse.coo_array(made)
            places = coordinates.row, coordinates.col
        rows, columns = (np.asarray(one) for one in places)
        self.rows: NDArray[Any] = rows
        self.columns: NDArray[Any] = columns
        self.data = data
        self.shape: tuple[int, int] = tuple(made.shape)

    @property
    def nnz(self) -> int:
        """Return the number of stored elements."""
        return int(self.made.nnz)

    @property
    def format(self) -> str:
        """Return the name of the format."""
        return str(self.made.format)

    @property
    def dtype(self) -> Any:
        """Return the dtype of the elements."""
        return self.made.dtype

    # Products

    def __matmul__(self, other: Any) -> Any:
        """Multiply this matrix by an array or a matrix."""
        if isinstance(other, (TrackedMatrix, *BASES)):
            return _matrix_product(self, other)
        m, count = self.shape[0], len(self.rows)
        taken = as_array(other)[self.columns]
        weights = self.data if taken.ndim == 1 else self.data[:, None]
        gather = scipy.sparse.csr_array((np.ones(count), (self.rows, np.arange(count))), (m, count))
        made = product(gather, weights * taken)
        return self._valued("product", lambda: self.made @ plain(as_array(other)), made)

    def __rmatmul__(self, other: Any) -> Any:
        """Multiply an array or a matrix by this matrix."""
        if isinstance(other, BASES):
            return _matrix_product(other, self)
        return (self.T @ as_array(other).T).T

    def dot(self, other: Any) -> Any:
        """Multiply by an array, a matrix or a number."""
        return self @ other if np.ndim(other) else self * other

    # Arithmetic of elements

    def __add__(self, other: Any) -> Any:
        """Add a matrix, or a dense array, which makes the sum dense."""
        if isinstance(other, (TrackedMatrix, *BASES)):
            made = self.made + _structure(other)
            data, places = _elements(other)
            joined = [
                np.concatenate([one, two])
                for one, two in zip((self.rows, self.columns), places, strict=True)
            ]
            return TrackedMatrix(made, np.concatenate([self.data, data]), joined)
        if np.ndim(plain(other)) == 0:
            if isinstance(other, AnyWrapper) or other:
                raise NoRuleError(
                    "A sparse matrix and a number that is not zero have no sum. "
                    "Fix: .toarray() + number."
                )
            return self
        return self.toarray() + other

    __radd__ = __add__

    def __neg__(self) -> Any:
        """Change the sign."""
        return self * -1.0

    def __sub__(self, other: Any) -> Any:
        """Subtract a matrix or a dense array."""
        return self + (-1 * other)

    def __rsub__(self, other: Any) -> Any:
        """Subtract this matrix from a matrix or a dense array."""
        return (-self) + other

    def multiply(self, other: Any) -> Any:
        """Multiply by a number, an array, or a matrix, element by element."""
        if isinstance(other, TrackedMatrix):
            raise NoRuleError(
                "Two matrices of tracked elements have no product by elements. Fix: one .toarray()."
            )
        if isinstance(other, BASES):
            matrix: Any = other
            factors: Any = np.asarray(matrix.tocsr()[self.rows, self.columns]).reshape(-1)
        elif np.ndim(plain(other)) == 0:
            factors = other
        else:
            factors = np.broadcast_to(as_array(other), self.shape)[self.rows, self.columns]
        data = self.data * factors
        made = scipy.sparse.coo_array((_values(data), (self.rows, self.columns)), self.shape)
        return TrackedMatrix(_like(self.made, made), data, (self.rows, self.columns))

    def __mul__(self, other: Any) -> Any:
        """Multiply as SciPy's class does: `@` for a matrix, element by element for an array."""
        if isinstance(self.made, scipy.sparse.spmatrix) and np.ndim(plain(other)):
            return self @ other
        return self.multiply(other)

    def __rmul__(self, other: Any) -> Any:
        """Multiply from the left."""
        if isinstance(self.made, scipy.sparse.spmatrix) and np.ndim(plain(other)):
            return other @ self
        return self.multiply(other)

    def __truediv__(self, other: Any) -> Any:
        """Divide by a number."""
        return self.multiply(1.0 / other)

    def power(self, n: Any) -> Any:
        """Raise each element to a power."""
        whole = self.canonical()
        made = whole.made.power(n)
        return TrackedMatrix(made, whole.data**n, (whole.rows, whole.columns))

    # Comparisons of elements, which have no derivative

    def _compared(self, name: str, other: Any) -> Any:
        if is_tracer(plain(self.data)):
            raise NoRuleError(
                "Elements of a sparse matrix cannot be compared in a trace. Fix: .toarray()."
            )
        other = other.made if isinstance(other, TrackedMatrix) else plain(other)
        return getattr(operator, name)(self.made, other)

    def __eq__(self, other: object) -> Any:
        return self._compared("eq", other)

    def __ne__(self, other: object) -> Any:
        return self._compared("ne", other)

    def __lt__(self, other: Any) -> Any:
        return self._compared("lt", other)

    def __gt__(self, other: Any) -> Any:
        return self._compared("gt", other)

    def __le__(self, other: Any) -> Any:
        return self._compared("le", other)

    def __ge__(self, other: Any) -> Any:
        return self._compared("ge", other)

    def __hash__(self) -> int:
        return object.__hash__(self)

    # Sums and parts

    def sum(self, axis: Any = None) -> Any:
        """Sum over all elements, or along an axis."""
        if axis is None:
            total = np.sum(self.data)
        elif axis in (0, -2):
            total = self.T @ np.ones(self.shape[0])
        else:
            total = self @ np.ones(self.shape[1])
        return self._valued("sum", lambda: self.made.sum(axis), total)

    def mean(self, axis: Any = None) -> Any:
        """Return the mean of all elements, or along an axis."""
        count = self.shape[0] * self.shape[1] if axis is None else self.shape[axis]
        return self.sum(axis) / count

    def diagonal(self, k: int = 0) -> Any:
        """Return a diagonal."""
        on = np.flatnonzero(self.columns - self.rows == k)
        value = self.made.diagonal(k)
        at = self.rows[on] if k >= 0 else self.columns[on]
        gather = scipy.sparse.csr_array((np.ones(len(on)), (at, on)), (len(value), len(self.rows)))
        return self._valued("diagonal", lambda: value, product(gather, self.data))

    def _valued(self, name: str, value: Callable[[], Any], made: Any) -> Any:
        """Return SciPy's value with the derivative of a formula; a trace takes the formula's."""
        if is_tracer(plain(made)):
            return made
        return attached(f"sparse {name}", value(), {(): made})

    def trace(self, offset: int = 0) -> Any:
        """Return the sum of a diagonal."""
        return np.sum(self.diagonal(offset))

    def toarray(self) -> Any:
        """Return the matrix as a dense array."""
        return self @ np.eye(self.shape[1])

    todense = toarray

    def canonical(self) -> TrackedMatrix:
        """Sum the elements at the same position."""
        flat = self.rows.astype(np.int64) * self.shape[1] + self.columns
        places, numbers = np.unique(flat, return_inverse=True)
        if len(places) == len(flat):
            return self
        count = len(flat)
        gather = scipy.sparse.csr_array(
            (np.ones(count), (numbers, np.arange(count))), (len(places), count)
        )
        at = np.divmod(places, self.shape[1])
        return TrackedMatrix(self.made, product(gather, self.data), at)

    def __getitem__(self, key: Any) -> Any:
        """Return an element, rows, columns, or a part."""
        return _moved(lambda matrix: matrix.tocsr()[key], self.made.tocsr()[key], self)

    # Forms

    @property
    def T(self) -> TrackedMatrix:  # noqa: N802  SciPy's name
        """Return the transpose."""
        return TrackedMatrix(self.made.T, self.data, (self.columns, self.rows))

    def transpose(self) -> TrackedMatrix:
        """Return the transpose."""
        return self.T

    def asformat(self, format: str | None, copy: bool = False) -> TrackedMatrix:
        """Return the matrix in another format."""
        made = self.made.asformat(format, copy=copy)
        return TrackedMatrix(made, self.data, (self.rows, self.columns))

    def copy(self) -> TrackedMatrix:
        """Return a copy."""
        return self.asformat(self.format)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("to") and name[2:] in (*FORMS, "dok", "lil"):
            return lambda copy=False: self.asformat(name[2:], copy)
        if name.startswith("__") or not hasattr(self.made, name):
            raise AttributeError(f"{type(self.made).__name__!r} object has no attribute {name!r}")
        raise NoRuleError(
            f"A scipy.sparse matrix of tracked elements has no .{name}. Fix: use its products and "
            "sums, .T, .toarray(), or scipy.sparse.linalg.spsolve."
        )


class _TrackedArray(ABC, TrackedMatrix):
    """A tracked matrix with the memory layout of SciPy's arrays, so that they can be converted."""


def _like(made: Any, other: Any) -> Any:
    """Convert a matrix to the kind (array or matrix) and format of another."""
    is_matrix = isinstance(made, scipy.sparse.spmatrix)
    form: Any = made
    return (scipy.sparse.coo_matrix(other) if is_matrix else other).asformat(form.format)


def _plain_matrix(A: Any) -> Any:
    """Return the matrix of the same values for SciPy."""
    if isinstance(A, TrackedMatrix) and is_tracer(plain(A.data)):
        data = np.asarray(plain(A.data))  # refused unless they are the same in each call
        return _like(A.made, scipy.sparse.coo_array((data, (A.rows, A.columns)), A.shape))
    return _structure(A)


def _structure(A: Any) -> Any:
    """Return the matrix of the same positions, also in a trace."""
    return A.made if isinstance(A, TrackedMatrix) else plain(A)


def _values(value: Any) -> Any:
    """Return the values of variables in nested containers, NaN for those of a trace."""
    return map_leaves(_value, plain(value))


def _value(leaf: Any) -> Any:
    return np.full(leaf.shape, np.nan, leaf.dtype) if is_tracer(leaf) else leaf


def _elements(matrix: Any) -> tuple[Any, tuple[Any, Any]]:
    """Return the elements of a matrix, and their rows and columns."""
    if isinstance(matrix, TrackedMatrix):
        return matrix.data, (matrix.rows, matrix.columns)
    coordinates = scipy.sparse.coo_array(matrix)
    return coordinates.data, (coordinates.row, coordinates.col)


def _matrix_product(one: Any, other: Any) -> TrackedMatrix:
    """Multiply two sparse matrices, as the products of all pairs of matching elements."""
    made = _structure(one) @ _structure(other)
    (x, (rows, inner)), (y, (outer, columns)) = _elements(one), _elements(other)
    order = np.argsort(outer, kind="stable")
    first = np.searchsorted(outer[order], inner, side="left")
    count = np.searchsorted(outer[order], inner, side="right") - first
    left = np.repeat(np.arange(len(inner)), count)
    ends = np.cumsum(count)
    right = order[np.arange(len(left)) - np.repeat(ends - count, count) + np.repeat(first, count)]
    return TrackedMatrix(made, x[left] * y[right], (rows[left], columns[right]))


# Functions that move elements ---------------------------------------------------------------------


def _moved(function: Callable[..., Any], made: Any, *matrices: Any) -> Any:
    """Apply a function that only moves elements to tracked matrices.

    It is called on matrices that hold the index of each element.
    """
    parts: list[Any] = []
    numbered: list[Any] = []
    total = 1
    for matrix in matrices:
        whole = matrix.canonical() if isinstance(matrix, TrackedMatrix) else matrix
        part, places = _elements(whole)
        numbers = np.arange(total, total + len(places[0]))
        total += len(numbers)
        parts.append(part)
        numbered.append(scipy.sparse.coo_array((numbers, places), whole.shape))
    data: Any = np.concatenate(parts)
    found = function(*numbered)
    if isinstance(found, BASES):
        coordinates: Any = scipy.sparse.coo_array(found)
        kept = np.flatnonzero(coordinates.data)
        places = coordinates.row[kept], coordinates.col[kept]
        return TrackedMatrix(made, data[coordinates.data[kept] - 1], places)
    numbers = np.asarray(found)
    values = np.concatenate([np.zeros(1), data])[numbers]
    part = np.reshape(values, np.shape(made))
    return part if is_tracer(plain(part)) else attached("sparse part", made, {(): part})


def _matrices_in(value: Any) -> list[Any]:
    """Return the matrices and the tracked arrays in nested lists."""
    if isinstance(value, SEQUENCE):
        return list(itertools.chain.from_iterable(map(_matrices_in, value)))
    return [value] if isinstance(value, (TrackedMatrix, *BASES)) else []


def _replaced(value: Any, parts: Any) -> Any:
    """Replace the matrices in nested lists, in order."""
    if isinstance(value, SEQUENCE):
        return rebuilt(value, [_replaced(part, parts) for part in value])
    return next(parts) if isinstance(value, (TrackedMatrix, *BASES)) else value


HOLDERS: tuple[Any, ...] = (TrackedMatrix, *SEQUENCE)


def _holds_matrix(value: Any) -> bool:
    return any(isinstance(one, TrackedMatrix) for one in _matrices_in(value))


def _moving(name: str) -> Any:
    """Return the rule of a function that assembles a matrix from elements of others."""

    def composed(*args: Any, **kwargs: Any) -> Any:
        native = scipys(f"sparse.{name}")
        matrices = _matrices_in(args)
        values = iter([_structure(one) for one in matrices])
        made = native(*_replaced(args, values), **kwargs)
        return _moved(
            lambda *numbered: native(*_replaced(args, iter(numbered)), **kwargs), made, *matrices
        )

    return composed


def _kron(A: Any, B: Any, format: Any = None) -> Any:
    made = scipys("sparse.kron")(_structure(A), _structure(B), format)
    (x, (i, j)), (y, (k, l)) = _elements(A), _elements(B)
    m, n = B.shape
    places = [(one[:, None] * size + two).reshape(-1) for one, two, size in ((i, k, m), (j, l, n))]
    return TrackedMatrix(made, np.reshape(x[:, None] * y, (-1,)), places)


def _diagonals(name: str) -> Any:
    """Return the rule of a function that makes a matrix from its diagonals."""

    def composed(diagonals: Any, *args: Any, **kwargs: Any) -> Any:
        native = scipys(f"sparse.{name}")
        made = native(_values(diagonals), *plain(args), **plain(kwargs))
        is_single = isinstance(diagonals, AnyWrapper) and diagonals.ndim == 1
        parts = [as_array(one) for one in ([diagonals] if is_single else diagonals)]
        sizes = [max(int(np.size(plain(one))), 1) for one in parts]
        ends = np.cumsum([1, *sizes])
        numbers = [
            np.reshape(np.arange(float(low), float(high)), np.shape(plain(part)))
            for low, high, part in zip(ends[:-1], ends[1:], parts, strict=True)
        ]
        kwargs = {key: value for key, value in kwargs.items() if key != "dtype"}
        found = native(numbers[0] if is_single else numbers, *plain(args), **plain(kwargs))
        coordinates = scipy.sparse.coo_array(found)
        kept = np.flatnonzero(coordinates.data)
        data = np.concatenate([np.reshape(one, (-1,)) for one in parts])
        taken = data[coordinates.data[kept].astype(int) - 1]
        return TrackedMatrix(made, taken, (coordinates.row[kept], coordinates.col[kept]))

    return composed


def _rows_on_diagonals(
    data: Any, diags: Any, m: Any = None, n: Any = None, format: str | None = None
) -> Any:
    """Do what `spdiags` does, by a matrix of diagonals."""
    rows = np.atleast_2d(as_array(data))
    if n is None:
        m, n = (rows.shape[1],) * 2 if m is None else m
    made = _tracked(scipys("sparse.dia_matrix"), ((rows, diags),), {"shape": (m, n)})
    return made if format is None else made.asformat(format)


# Classes ------------------------------------------------------------------------------------------


def _tracked(native: Any, args: Any, kwargs: Any) -> TrackedMatrix:
    """Make a matrix of tracked elements from a constructor's arguments."""
    given = args[0] if args else kwargs["arg1"]
    if isinstance(given, TrackedMatrix):
        return TrackedMatrix(native(given.made), given.data, (given.rows, given.columns))
    if isinstance(given, AnyWrapper):
        places = np.nonzero(data_of(given))
        made = native(plain(given), *plain(args[1:]), **plain(kwargs))
        return TrackedMatrix(made, given[places], places)
    data, *rest = given
    data, rest = as_array(data), [_as_indices(one) for one in plain(rest)]
    made = native((_values(data), *rest), *plain(args[1:]), **plain(kwargs))
    if len(rest) == 1 and made.format in ("coo", "csr", "csc"):
        return TrackedMatrix(made, data, rest[0])
    if len(rest) == 2 and made.format in ("csr", "csc"):
        indices, starts = (np.asarray(one) for one in rest)
        outer = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        return TrackedMatrix(
            made, data, (outer, indices) if made.format == "csr" else (indices, outer)
        )
    # each element has a place of its own: read it from a matrix of the elements' numbers
    numbers = np.reshape(np.arange(1, data.size + 1), data.shape)
    options = {key: value for key, value in plain(kwargs).items() if key != "dtype"}
    numbered: Any = scipy.sparse.coo_array(native((numbers, *rest), *plain(args[1:]), **options))
    kept = np.flatnonzero(numbered.data)
    taken = np.reshape(data, (-1,))[numbered.data[kept] - 1]
    return TrackedMatrix(made, taken, (numbered.row[kept], numbered.col[kept]))


def _as_indices(value: Any) -> Any:
    """Convert whole numbers in floating-point arrays to integers, as SciPy does."""
    if isinstance(value, SEQUENCE):
        return rebuilt(value, [_as_indices(one) for one in value])
    return value.astype(int) if isinstance(value, np.ndarray) and value.dtype.kind == "f" else value


def _ours(made: Any) -> Any:
    """Convert SciPy's matrix to the subclass that takes tracked arrays."""
    name = f"sparse.{type(made).__name__}"
    if type(made) in CLASSES_OF:
        made.__class__ = dispatcher(name)
    return made


def _with_the_parts(made: Any, matrix: Any) -> Any:
    """Share the shape and the arrays of a matrix with an empty one of another class."""
    vars(made).update(vars(matrix))
    return made


def _matrix_class(native: Any) -> Any:  # noqa: C901  the parts of one class
    class Matrix(native, metaclass=meta_of(native)):  # type: ignore[metaclass,misc]  # a class of SciPy's
        def __new__(cls, *args: Any, **kwargs: Any) -> Any:
            if cls._is_tracked(args, kwargs):
                return _tracked(native, args, kwargs)
            return native.__new__(cls)

        @staticmethod
        def _is_tracked(args: Any, kwargs: Any) -> bool:
            return is_recorded([args, kwargs]) or _holds_matrix(args)

        @staticmethod
        def _take_over(made: Any, *args: Any, **kwargs: Any) -> None:
            """Convert an uninitialized object of SciPy's class to a matrix of tracked elements."""
            found = _tracked(native, args, kwargs)
            is_array = issubclass(native, scipy.sparse.sparray)
            made.__class__ = _TrackedArray if is_array else TrackedMatrix
            vars(made).update(vars(found))

        @classmethod
        def from_scipy(cls, matrix: Any) -> Any:
            """Return a matrix of this class with the elements of one of SciPy's class."""
            return _with_the_parts(object.__new__(cls), matrix)

        def _as_native(self) -> Any:
            return _with_the_parts(object.__new__(native), self)

        def _as_tracked(self) -> TrackedMatrix:
            """Return a tracked matrix with the constant elements of this one."""
            made = self._as_native()
            data, places = _elements(made)
            return TrackedMatrix(made, data, places)

        def __matmul__(self, other: Any) -> Any:
            if isinstance(other, TrackedMatrix):
                return NotImplemented
            return (
                product(self._as_native(), other) if _is_array(other) else super().__matmul__(other)
            )

        def __rmatmul__(self, other: Any) -> Any:
            if _is_array(other):
                return product(self._as_native().T, other.T).T
            return super().__rmatmul__(other)

        def dot(self, other: Any) -> Any:
            return self @ other if np.ndim(other) else self * other

        def multiply(self, other: Any) -> Any:
            return self._elementwise("multiply", other)

        def _elementwise(self, name: str, other: Any) -> Any:
            if isinstance(other, AnyWrapper):
                return getattr(self._as_tracked(), name)(other)
            if isinstance(other, TrackedMatrix):
                return getattr(other, REVERSED[name])(self._as_native())
            return getattr(super(), name)(other)

    def binary(name: str) -> Any:
        return lambda self, other: self._elementwise(name, other)

    for name in REVERSED:
        if name != "multiply" and hasattr(native, name):
            setattr(Matrix, name, binary(name))
    for form in (*FORMS, "dok", "lil"):
        setattr(Matrix, f"_{form}_container", property(_container(native, form)))
    if issubclass(native, scipy.sparse.spmatrix):
        Matrix.__mul__ = lambda self, other: (
            self @ other
            if _is_array(other) or isinstance(other, TrackedMatrix)
            else self._elementwise("__mul__", other)
        )
    Matrix.__name__ = Matrix.__qualname__ = native.__name__
    Matrix.__module__ = native.__module__
    return Matrix


def _container(native: Any, form: str) -> Any:
    """Return the function that picks the class of a matrix in another format."""
    kind = "matrix" if issubclass(native, scipy.sparse.spmatrix) else "array"
    name = f"{form}_{kind}"

    def container(_: Any) -> Any:
        is_ours = form in FORMS
        return dispatcher(f"sparse.{name}") if is_ours else getattr(scipy.sparse, name)

    return container


REVERSED = {
    "multiply": "multiply",
    "__add__": "__radd__",
    "__radd__": "__add__",
    "__sub__": "__rsub__",
    "__rsub__": "__sub__",
    "__mul__": "__rmul__",
    "__rmul__": "__mul__",
    "__truediv__": "__rtruediv__",
}
"""The operators, each with its reflected operator."""


def _is_array(value: Any) -> bool:
    return isinstance(value, AnyWrapper) and value.ndim > 0


# Systems ------------------------------------------------------------------------------------------


def _solve_with(A: Any, b: Any) -> Any:
    """Solve a system; each derivative needs one additional solve."""
    b, made = as_array(b), _plain_matrix(A)
    is_operator = isinstance(made, LINALG.LinearOperator)
    columns = scipy.sparse.csc_array(made @ np.eye(made.shape[1]) if is_operator else made)
    columns = columns.astype(np.result_type(columns.dtype, b.dtype, np.float32))
    b = b.astype(columns.dtype)

    def multiply(x: Any) -> Any:
        return A @ x if isinstance(A, (TrackedMatrix, AnyWrapper)) else product(columns, x)

    def solved(by_adjoint: bool) -> Any:
        factors = _factors(columns, by_adjoint)
        return lambda _matvec, right: _solved(factors, right)

    return custom_linear_solve(multiply, b, solved(False), solved(True))


def _factors(columns: Any, by_adjoint: bool) -> Any:
    try:
        return LINALG.splu(columns.conj().T.tocsc() if by_adjoint else columns)
    except RuntimeError as error:
        raise NoRuleError(
            "The solution of a system with a singular matrix has no derivative. "
            "Fix: scipy.sparse.linalg.lsqr, the solution of least norm."
        ) from error


def _solver(name: str) -> Any:
    """Return the rule of a linear solver: each derivative needs one additional solve."""

    def composed(A: Any, b: Any, *args: Any, **options: Any) -> Any:
        result = scipys(f"sparse.linalg.{name}")(
            _plain_matrix(A), plain(as_array(b)), *plain(args), **plain(options)
        )
        x = _solve_with(A, b)
        is_pair = isinstance(result, tuple)
        return attached(f"sparse.linalg.{name}", result, {(0,) if is_pair else (): x})

    return composed


def _solved(made: Any, rhs: Any, trans: str = "N") -> Any:
    """Solve a system with a constant factorized matrix, its transpose ("T") or adjoint ("H")."""
    if not holds_variable([rhs]):
        return _solution(made, rhs, trans)
    return SOLUTION.kind.answer(SOLUTION, (made, as_array(rhs), trans), {})


def _solution(made: Any, rhs: Any, trans: str) -> Any:
    return called(_Solve(made), "opaque.solve", rhs, trans)


class _Solve:
    """The solution with SciPy's factors of a matrix; equal factors give equal functions."""

    def __init__(self, made: Any) -> None:
        self.made = made

    def __call__(self, rhs: Any, trans: str) -> Any:
        return self.made.solve(rhs, trans)

    def _arrays(self) -> list[Any]:
        made = self.made
        triangles = [array for one in (made.L, made.U) for array in parts_of(one)[2]]
        return [made.perm_r, made.perm_c, *triangles]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Solve):
            return False
        is_same = self.made is other.made
        return is_same or all(map(np.array_equal, self._arrays(), other._arrays()))

    def __hash__(self) -> int:
        return hash((_Solve, self.made.shape))


def _with_adjoint(g: Any, made: Any, trans: str) -> Any:
    if trans == "T":
        return np.conj(_solved(made, np.conj(g)))
    return _solved(made, g, "N" if trans == "H" else "H")


SOLUTION = Row(
    "sparse.linalg.SuperLU.solve",
    OfColumns({"rhs": _with_adjoint}),
    arrays="rhs",
    original=_solution,
)


def _applied(operator: Any, x: Any, adjoint: bool) -> Any:
    """Apply a constant operator, or its adjoint, to a vector or to the columns of a matrix."""
    if np.ndim(x) == 1:
        return operator.rmatvec(x) if adjoint else operator.matvec(x)
    return operator.rmatmat(x) if adjoint else operator.matmat(x)


def operated(operator: Any, x: Any, adjoint: bool = False) -> Any:
    """Apply an operator that SciPy made to a tracked array."""
    return OPERATION.kind.answer(OPERATION, (operator, as_array(x), adjoint), {})


def _by_adjoint(g: Any, operator: Any, adjoint: bool) -> Any:
    try:
        if isinstance(g, AnyWrapper):
            return operated(operator, g, not adjoint)
        return _applied(operator, g, not adjoint)
    except NotImplementedError as error:
        raise NoRuleError(
            "The derivative of a product with a scipy.sparse.linalg.LinearOperator needs its "
            "adjoint in reverse mode, and that is not defined. Fix: LinearOperator(shape, matvec, "
            "rmatvec=...), the product with the conjugate transpose."
        ) from error


OPERATION = Row(
    "sparse.linalg.LinearOperator",
    OfColumns({"x": _by_adjoint}),
    arrays="x",
    original=_applied,
)


class Factors:
    """SciPy's factorization of a matrix, with differentiable solutions."""

    def __init__(self, made: Any, matrix: Any = None) -> None:
        self._made = made
        self._matrix = matrix

    def solve(self, rhs: Any, trans: str = "N") -> Any:
        """Solve a system with the matrix, or with its transpose."""
        if not isinstance(self._matrix, TrackedMatrix):
            return _solved(self._made, rhs, trans)
        if trans == "H":
            raise NoRuleError("SuperLU.solve has no derivative with trans='H'. Fix: trans='T'.")
        value = self._made.solve(plain(as_array(rhs)), trans)
        A = self._matrix if trans == "N" else self._matrix.T
        return attached("sparse.linalg.splu", value, {(): _solve_with(A, rhs)})

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._made, name)
        if isinstance(self._matrix, TrackedMatrix) and name in ("L", "U"):
            raise NoRuleError(f"SuperLU.{name} has no derivative. Fix: .solve, or .toarray().")
        return found


def of_factors(found: Any) -> Any:
    """Return the stand-in of a factorization that SciPy made, or of its method `solve`."""
    owner = getattr(found, "__self__", None)
    if owner is None:
        return Factors(found)
    return Factors(owner).solve if found.__name__ == "solve" else None


def _splu(A: Any, *args: Any, **options: Any) -> Any:
    return Factors(scipys("sparse.linalg.splu")(_plain_matrix(A), *args, **options), A)


def _factorized(A: Any) -> Any:
    return _splu(scipy.sparse.csc_array(A) if isinstance(A, BASES) else A).solve


def _norm(x: Any, ord: Any = None, axis: Any = None) -> Any:
    if ord not in (None, "fro", "f") or axis is not None:
        raise NoRuleError(
            "scipy.sparse.linalg.norm has no derivative with ord= or axis=. Fix: np.linalg.norm "
            "of .toarray()."
        )
    value = functools.partial(scipys("sparse.linalg.norm"), _structure(x), ord, axis)
    return x._valued("linalg.norm", value, np.sqrt(np.sum(x.canonical().data ** 2)))


def _exponential_by_adjoint(g: Any, A: Any, traceA: Any) -> Any:
    """Multiply by the exponential of the adjoint of a constant matrix or operator."""
    adjoint = A.H if isinstance(A, LINALG.LinearOperator) else np.conj(A.T)
    trace = None if traceA is None else np.conj(traceA)
    return dispatcher("sparse.linalg.expm_multiply")(adjoint, g, traceA=trace)


def _nearest(values: Any, wanted: Any) -> Any:
    """Return, for each of SciPy's values, the index of the nearest value."""
    return np.argmin(np.abs(data_of(values)[:, None] - np.asarray(wanted)), axis=0)


def _eigsh(A: Any, k: Any = 6, M: Any = None, *args: Any, **options: Any) -> Any:
    name = "sparse.linalg.eigsh"
    matrices = [None if one is None else _plain_matrix(one) for one in (A, M)]
    result = scipys(name)(matrices[0], k, matrices[1], *plain(args), **plain(options))
    w, v = dispatcher("linalg.eigh")(as_dense(A), None if M is None else as_dense(M))
    if not isinstance(result, tuple):
        return attached(name, result, {(): w[_nearest(w, result)]})
    at = _nearest(w, result[0])
    return attached(name, result, {(0,): w[at], (1,): like_columns(v[:, at], result[1])})


def _svds(A: Any, *args: Any, **options: Any) -> Any:
    name = "sparse.linalg.svds"
    result = scipys(name)(_plain_matrix(A), *plain(args), **plain(options))
    u, s, vh = dispatcher("linalg.svd")(as_dense(A), full_matrices=False)
    at = _nearest(s, result[1] if isinstance(result, tuple) else result)
    if not isinstance(result, tuple):
        return attached(name, result, {(): s[at]})
    if result[0] is None or result[2] is None:
        raise NoRuleError(
            "scipy.sparse.linalg.svds has no derivative with one kind of vectors. "
            "Fix: return_singular_vectors=True."
        )
    turn = like_columns(np.ones((1, len(at))) * 1.0, np.sum(
        np.conj(data_of(u[:, at])) * result[0], axis=0, keepdims=True
    ))  # fmt: skip
    parts = {(0,): u[:, at] * turn, (1,): s[at], (2,): vh[at] * np.conj(turn.T)}
    return attached(name, result, parts)


def _least_squares(name: str) -> Any:
    """Return the rule of an iterative solver of least squares, by the pseudoinverse."""

    def composed(A: Any, b: Any, damp: Any = 0.0, *args: Any, **options: Any) -> Any:
        result = scipys(name)(
            _plain_matrix(A), plain(as_array(b)), plain(damp), *plain(args), **plain(options)
        )
        matrix, b = as_dense(A), np.reshape(as_array(b), (-1,))
        if np.any(plain(as_array(damp))):
            n = matrix.shape[1]
            matrix = np.concatenate([matrix, damp * np.eye(n)])
            b = np.concatenate([b, np.zeros(n)])
        return attached(name, result, {(0,): np.linalg.pinv(matrix) @ b})

    return composed


class _OfMatrices(Composed):
    """A composed function that takes matrices of tracked elements."""

    def __init__(self, function: Callable[..., Any], *, always: bool = False) -> None:
        super().__init__(function)
        self.always = always
        """Call the function for plain matrices too."""

    def stand_in(self, row: Row) -> Any:
        """Return a dispatcher that takes tracked matrices; plain results get our classes."""
        original = row.original

        @functools.wraps(original)
        def dispatch(*args: Any, **options: Any) -> Any:
            holds = any(isinstance(value, HOLDERS) for value in args) and _holds_matrix(args)
            if self.always or holds or not are_plain(args, options):
                return self.answer(row, args, options)
            return _ours(original(*args, **options))

        return dispatch


def _asked(name: str) -> Callable[[Any], Any]:
    """Return a question about a matrix, answered for SciPy's matrix of the same values.

    An array, also one in a trace, is asked about as a value of another type.
    """

    def asked(x: Any) -> Any:
        made = x.made if isinstance(x, TrackedMatrix) else x
        return scipys(f"sparse.{name}")(made if isinstance(made, BASES) else None)

    return asked


def _of_graph(name: str) -> Callable[..., Any]:
    """Return a function of graphs whose result is integers, for the values of tracked ones."""

    def found(*args: Any, **options: Any) -> Any:
        given = map(_plain_matrix, args)
        called_with = {name: plain(value) for name, value in options.items()}
        return scipys(f"sparse.csgraph.{name}")(*given, **called_with)

    return found


ORDERS = (
    *("breadth_first_order", "connected_components", "depth_first_order", "structural_rank"),
    *("maximum_bipartite_matching", "min_weight_full_bipartite_matching"),
    "reverse_cuthill_mckee",
)
QUESTIONS = ("issparse", "isspmatrix", *(f"isspmatrix_{form}" for form in FORMS))
CLASSES = [
    Row(f"sparse.{form}_{kind}", Class(_matrix_class))
    for form in FORMS
    for kind in ("array", "matrix")
]
CLASSES_OF = frozenset(row.original for row in CLASSES)
SOLVERS = [
    Row(f"sparse.linalg.{name}", _OfMatrices(_solver(name)))
    for name in (
        *("bicg", "bicgstab", "cg", "cgs", "gcrotmk", "gmres", "lgmres", "minres", "qmr"),
        *("spsolve", "tfqmr"),
    )
]
MOVING = [
    Row(f"sparse.{name}", _OfMatrices(_moving(name)))
    for name in (
        *("block_array", "block_diag", "bmat", "hstack", "tril", "triu", "vstack"),
        *("eye", "eye_array", "identity", "random", "random_array", "rand"),
    )
]
OTHERS = [
    *(Row(f"sparse.{name}", _OfMatrices(_asked(name), always=True)) for name in QUESTIONS),
    *(Row(f"sparse.csgraph.{name}", _OfMatrices(_of_graph(name))) for name in ORDERS),
    Row("sparse.kron", _OfMatrices(_kron)),
    *(Row(f"sparse.{name}", _OfMatrices(_diagonals(name))) for name in ("diags", "diags_array")),
    Row("sparse.spdiags", _OfMatrices(_rows_on_diagonals)),
    Row("sparse.linalg.eigsh", _OfMatrices(_eigsh), symmetric="A", note="by the dense matrix"),
    Row("sparse.linalg.svds", _OfMatrices(_svds), note="by the dense matrix"),
    *(
        Row(f"sparse.linalg.{name}", _OfMatrices(_least_squares(f"sparse.linalg.{name}")))
        for name in ("lsqr", "lsmr")
    ),
    Row("sparse.linalg.splu", _OfMatrices(_splu, always=True)),
    Row("sparse.linalg.factorized", _OfMatrices(_factorized, always=True)),
    Row("sparse.linalg.norm", _OfMatrices(_norm)),
    Row(
        "sparse.linalg.expm_multiply",
        Adjoint({"B": _exponential_by_adjoint}),
        arrays="B",
    ),
]
register([*CLASSES, *SOLVERS, *MOVING, *OTHERS])
