"""The rows of `scipy.sparse`: matrices with tracked arrays, and matrices of tracked elements.

The positions of the elements are data. Functions that only move elements (`vstack`, `tril`) are
SciPy's own: they are called on matrices that hold the numbers of the elements.
"""

from __future__ import annotations

import functools
import inspect
from collections import deque
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse

from gradwrap.core.array.adapted import shown_as
from gradwrap.core.graph.backward import backward_pass
from gradwrap.core.graph.node import Node
from gradwrap.core.levels.levels import TAPE_LEVEL
from gradwrap.core.levels.modes import called, is_traced
from gradwrap.core.levels.wrapper import AnyWrapper, is_at, is_batch, is_recorded, layers
from gradwrap.core.values.dynamic import SEQUENCE, rebuilt
from gradwrap.core.values.space import Tangent
from gradwrap.errors import NoRuleError
from gradwrap.scipy.calls import are_plain, holds_variable
from gradwrap.scipy.changed_matrices import TrackedArray, TrackedDictionary, become_tracked
from gradwrap.scipy.classes import Class, meta_of
from gradwrap.scipy.dispatching import Composed, scipys
from gradwrap.scipy.doors import dispatcher
from gradwrap.scipy.kinds import Adjoint, OfColumns, product
from gradwrap.scipy.numbered_matrices import (
    BASES,
    BUILDING,
    FORMS,
    class_of,
    gathered,
    positions_of,
    with_data,
)
from gradwrap.scipy.operators import matrix_of, operator_of
from gradwrap.scipy.products import parts_of
from gradwrap.scipy.rules import graphs
from gradwrap.scipy.rules.matrices import like_columns
from gradwrap.scipy.solving import as_array, as_dense, attached, data_of, is_tracer, plain
from gradwrap.scipy.table import Row, register
from gradwrap.scipy.tracked_matrix import (
    TrackedMatrix,
    assembled,
    canonical,
    elements_of,
    is_sparse,
    taken_from,
    tracked,
    values_of,
)
from gradwrap.scipy.tracked_products import columns_of, has_tracked_products, with_plain_products
from gradwrap.transforms.implicit import custom_linear_solve

if TYPE_CHECKING:
    from collections.abc import Callable

LINALG: Any = import_module("scipy.sparse.linalg")


def _is_traced(A: Any) -> bool:
    return isinstance(A, TrackedMatrix) and is_tracer(plain(A.elements()[0]))


def _plain_matrix(A: Any) -> Any:
    """Return the matrix of the same values for SciPy."""
    if _is_traced(A):
        constant = A.mapped(lambda data: np.asarray(plain(data)))  # refused unless it is constant
        return constant.made
    return _structure(A)


def _structure(A: Any) -> Any:
    """Return the matrix of the same positions, also in a trace."""
    return A.made if isinstance(A, TrackedMatrix) else plain(A)


# Functions that move elements ---------------------------------------------------------------------


def _part(part: Any, first: int) -> tuple[Any, Any]:
    """Return the elements of a matrix or a dense array, and the same with their numbers, from one.

    Of a dense array, elements are what SciPy's matrix of it has, and slopes of zeros.
    """
    if is_sparse(part):
        elements, positions = elements_of(canonical(part))
        count = np.arange(first, first + len(positions[0]))
        numbers = scipy.sparse.coo_array((count, positions), shape=part.shape)
        return elements, _as_kind_of(part)(numbers)
    array = as_array(part)
    rows = np.reshape(array, (1,)) if not array.ndim else array
    places = _places(rows)
    count = np.zeros(rows.shape, np.int64)
    count[places] = np.arange(first, first + len(places[0]))
    if array.ndim and not isinstance(part, SEQUENCE):
        return rows[places], count
    return rows[places], count.tolist() if array.ndim else int(count[0])


def _parts_in(value: Any, depth: int) -> Any:
    """Yield the parts in lists of lists; None is no part."""
    if depth:
        for one in value:
            yield from _parts_in(one, depth - 1)
    elif value is not None:
        yield value


def _replaced(value: Any, depth: int, parts: Any) -> Any:
    """Replace the parts in lists of lists, in order."""
    if depth:
        return [_replaced(one, depth - 1, parts) for one in value]
    return value if value is None else next(parts)


def _holds_matrix(value: Any) -> bool:
    if isinstance(value, SEQUENCE):
        return any(map(_holds_matrix, value))
    return isinstance(value, TrackedMatrix)


HOLDERS: tuple[Any, ...] = (TrackedMatrix, *SEQUENCE)


def _moving(name: str, depth: int) -> Any:
    """Return the rule of a function that assembles a matrix from elements of others.

    The others are in lists of lists, as many as `depth` says. SciPy's function is called on
    matrices, and dense arrays, that hold the number of each element.
    """

    def composed(*args: Any, **options: Any) -> Any:
        native = scipys(f"sparse.{name}")
        given = inspect.signature(getattr(scipy.sparse, name)).bind(*args, **options)
        first = next(iter(given.signature.parameters))
        dtype = given.arguments.pop("dtype", None)
        taken: list[Any] = [np.zeros(1, bool)]
        numbered: list[Any] = []
        total = 1
        for part in _parts_in(given.arguments[first], depth):
            elements, numbers = _part(part, total)
            total += len(elements)
            taken.append(elements)
            numbered.append(numbers)
        given.arguments[first] = _replaced(given.arguments[first], depth, iter(numbered))
        found = taken_from(np.concatenate(taken), native(*given.args, **given.kwargs))
        return found if dtype is None else found.astype(dtype)

    return composed


def _made_by(name: str) -> Any:
    """Return the rule of a function of sizes alone: SciPy's, whose result gets our class."""
    return lambda *args, **options: _ours(scipys(f"sparse.{name}")(*args, **options))


def _is_matrix(made: Any) -> bool:
    return isinstance(made, scipy.sparse.spmatrix)


def _as_kind_of(matrix: Any) -> Any:
    """Return SciPy's class of a matrix."""
    kind = "matrix" if _is_matrix(_structure(matrix)) else "array"
    return getattr(scipy.sparse, f"{matrix.format}_{kind}")


def _as_matrix(A: Any) -> Any:
    """Return a matrix, and of a dense array the matrix."""
    if isinstance(A, AnyWrapper):
        return _tracked(scipy.sparse.coo_matrix, (A,), {})
    return A if is_sparse(A) else scipy.sparse.coo_matrix(plain(as_array(A)))


def _kron(A: Any, B: Any, format: Any = None) -> Any:
    return _product(_as_matrix(A), _as_matrix(B), format)


def _product(A: Any, B: Any, format: Any = None) -> Any:
    form = scipys("sparse.kron")(_as_kind_of(A)(np.ones((1, 1))), _structure(B), format)
    (x, (i, j)), (y, (k, l)) = elements_of(A), elements_of(B)
    m, n = B.shape
    at = [(one[:, None] * size + two).reshape(-1) for one, two, size in ((i, k, m), (j, l, n))]
    return assembled(
        np.reshape(x[:, None] * y, (-1,)),
        tuple(at),
        (A.shape[0] * m, A.shape[1] * n),
        form.format,
        is_matrix=_is_matrix(form),
    )


def _kron_sum(A: Any, B: Any, format: Any = None) -> Any:
    one, other = _as_matrix(A), _as_matrix(B)
    value = scipys("sparse.kronsum")(_structure(one), _structure(other), format)
    eye = scipy.sparse.eye if _is_matrix(value) else scipy.sparse.eye_array
    found = _product(eye(other.shape[0]), one) + _product(other, eye(one.shape[0]))
    return found.asformat(value.format)


def _diagonals(name: str) -> Any:
    """Return the rule of a function that makes a matrix from its diagonals."""

    def composed(diagonals: Any, *args: Any, **kwargs: Any) -> Any:
        native = scipys(f"sparse.{name}")
        is_single = isinstance(diagonals, AnyWrapper) and diagonals.ndim == 1
        parts = [as_array(one) for one in ([diagonals] if is_single else diagonals)]
        sizes = [max(int(np.size(plain(one))), 1) for one in parts]
        ends = np.cumsum([1, *sizes])
        numbers = [
            np.reshape(np.arange(float(low), float(high)), np.shape(plain(part)))
            for low, high, part in zip(ends[:-1], ends[1:], parts, strict=True)
        ]
        dtype = kwargs.pop("dtype", None)
        found = native(numbers[0] if is_single else numbers, *plain(args), **plain(kwargs))
        taken = np.concatenate([np.zeros(1, bool), *(np.reshape(one, (-1,)) for one in parts)])
        made = taken_from(taken, found)
        return made if dtype is None else made.astype(dtype)

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
    dtype = kwargs.get("dtype")
    if isinstance(given, TrackedMatrix):
        made = native((1, 1))
        elements, positions = given.elements()
        elements = elements if dtype is None else elements.astype(dtype)
        return assembled(elements, positions, given.shape, made.format, is_matrix=_is_matrix(made))
    if isinstance(given, AnyWrapper):
        places = _places(given)
        made = native(np.zeros(given.shape), *plain(args[1:]), **plain(kwargs))
        elements = given[places] if dtype is None else given[places].astype(dtype)
        at = (np.zeros_like(places[0]), *places)[-len(made.shape) :]
        found = assembled(elements, at, made.shape, made.format, is_matrix=_is_matrix(made))
        found.leaves_out_zeros = True
        return found
    data, *rest = given
    data, rest = as_array(data), [_as_indices(one) for one in plain(rest)]
    data = data if dtype is None else data.astype(dtype)
    made = native((values_of(data), *rest), *plain(args[1:]), **plain(kwargs))
    if len(rest) == 1 and made.format not in ("coo", "dia"):  # the elements and their positions
        return assembled(data, rest[0], made.shape, made.format, is_matrix=_is_matrix(made))
    template = with_data(made, np.ones(made.data.shape))  # also where an element is zero
    return TrackedMatrix(template, data[tuple(map(slice, made.data.shape))])


NEAR = 64
"""The most operations before an array that a check of its elements goes through."""


def _places(given: Any) -> Any:
    """Return the positions of the elements that a sparse matrix of a tracked array has.

    They are those that are not zero, as SciPy's. Where a zero depends on arguments, its slope would
    be lost; then all elements are stored.
    """
    data = data_of(given)
    zeros = data == 0
    if not np.any(zeros) or not _depend(given, zeros):
        return np.nonzero(data)
    return np.nonzero(np.ones(data.shape))


def _depend(given: Any, chosen: Any) -> bool:
    """Tell if elements of an array depend on what is tracked: of no element, all slopes are zero.

    A transform's cotangents are random numbers, so that no sum of slopes is zero by chance. Slopes
    that are zero may depend on what an outer transform tracks.
    """
    if not isinstance(given, AnyWrapper):
        return False
    node, value = given._node, given._value
    if node is None:
        return _depend(value, chosen)
    if isinstance(node, Tangent):
        slopes = [node.value[chosen]]
    elif not isinstance(node, Node) or given._is_batched or is_at(given, TAPE_LEVEL):
        return True
    else:
        seed = np.random.default_rng(0).uniform(0.5, 1.5, chosen.shape) * chosen
        roots = [(node, seed.astype(node.meta.dtype))]
        ends = _ends_near(node)
        slopes = [*backward_pass(roots, retain_graph=True, targets=ends, cut=True).values()]
    if any(is_batch(layer) for one in slopes for layer in layers(one)):
        return True  # of some example, perhaps
    known = [(one, data_of(one) != 0) for one in slopes]
    moves = any(np.any(others) or _depend(one, ~others) for one, others in known)
    return moves or _depend(value, chosen)


def _ends_near(node: Any) -> set[Any]:
    """Return leaves and nodes at which a short pass back from a node may end.

    What depends on a node there is taken to depend on arguments.
    """
    waiting, ends, passed = deque([node]), set[Any](), set[Any]()
    while waiting and len(passed) < NEAR:
        here = waiting.popleft()
        if here in passed:
            continue
        passed.add(here)
        for one, _ in here.next_functions:
            if isinstance(one, Node):
                waiting.append(one)
            elif one is not None:
                ends.add(one)
    return ends.union(waiting) - passed


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
            become_tracked(made, _tracked(native, args, kwargs))

        @classmethod
        def from_scipy(cls, matrix: Any) -> Any:
            """Return a matrix of this class with the elements of one of SciPy's class."""
            return _with_the_parts(native.__new__(cls), matrix)

        def _as_native(self) -> Any:
            return _with_the_parts(native.__new__(native), self)

        def __reduce_ex__(self, protocol: Any) -> Any:
            return self._as_native().__reduce_ex__(protocol)

        def _as_tracked(self) -> TrackedMatrix:
            """Return a tracked matrix with the constant elements of this one."""
            return tracked(self._as_native())

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
    for form in (*FORMS, *BUILDING):
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

    return lambda _: _class_named(name)


def _class_named(name: str) -> Any:
    """Return a class of sparse matrices as adapted code finds it."""
    return dispatcher(f"sparse.{name}")


def _seen(matrix: TrackedMatrix) -> Any:
    """Return the class of SciPy's, as adapted code finds it, that a tracked matrix stands for."""
    return _class_named(class_of(matrix.template, matrix.format).__name__)


for _kind in (TrackedMatrix, TrackedArray, TrackedDictionary):
    shown_as[id(_kind)] = _seen


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
    b = as_array(b)
    if isinstance(A, TrackedMatrix):
        columns = A.canonical().asformat("csc")
        return _solution_of(_System(columns.template), columns.data, b)
    made = _plain_matrix(with_plain_products(A))
    is_operator = isinstance(made, LINALG.LinearOperator)
    is_tracked = made is not A
    if is_tracked and is_operator and is_traced():
        return _solve_by_columns(A, plain(columns_of(A)), b)
    columns = scipy.sparse.csc_array(columns_of(made) if is_operator else made)
    columns = columns.astype(np.result_type(columns.dtype, b.dtype, np.float32))
    b = b.astype(columns.dtype)

    def multiply(x: Any) -> Any:
        return A @ x if is_tracked else product(columns, x)

    def solved(by_adjoint: bool) -> Any:
        factors = _factors(columns, by_adjoint)
        return lambda _matvec, right: _solved(factors, right)

    return custom_linear_solve(multiply, b, solved(False), solved(True))


def _solve_by_columns(A: Any, matrix: Any, b: Any) -> Any:
    """Solve the system of an operator by its dense matrix, as a trace records it."""

    def solve(matrix: Any) -> Any:
        return lambda _matvec, right: np.linalg.solve(matrix, right)

    return custom_linear_solve(lambda x: A @ x, b, solve(matrix), solve(np.conj(matrix.T)))


class _System:
    """The systems of matrices that have their elements at the same positions."""

    def __init__(self, template: Any) -> None:
        self.template = template
        self.rows, self.columns = positions_of(template)[1]

    def __call__(self, data: Any, rhs: Any, adjoint: bool) -> Any:
        matrix = with_data(self.template, data)
        matrix = matrix.astype(np.result_type(data.dtype, rhs.dtype, np.float32))
        return _factors(matrix, False).solve(rhs.astype(matrix.dtype), "H" if adjoint else "N")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _System) and (
            self.template.shape == other.template.shape
            and np.array_equal(self.template.indptr, other.template.indptr)
            and np.array_equal(self.template.indices, other.template.indices)
        )

    def __hash__(self) -> int:
        return hash((_System, self.template.shape, self.template.nnz))

    def product(self, data: Any, x: Any, adjoint: bool) -> Any:
        """Multiply the matrix of some elements, or its adjoint, by a vector or by columns."""
        into, of = (self.columns, self.rows) if adjoint else (self.rows, self.columns)
        weights = np.conj(data) if adjoint else data
        taken = x[of]
        weights = weights if taken.ndim == 1 else weights[:, None]
        return gathered(weights * taken, into, self.template.shape[1 if adjoint else 0])

    def outer(self, left: Any, right: Any, adjoint: bool) -> Any:
        """Return the slopes in the elements: products of two vectors at their positions."""
        if adjoint:
            left, right = right, left
        made = left[self.rows] * np.conj(right[self.columns])
        return made if made.ndim == 1 else np.sum(made, axis=1)


def _solution_of(system: _System, data: Any, rhs: Any, adjoint: bool = False) -> Any:
    """Solve a system with a matrix of some elements, or with its adjoint."""
    if not holds_variable([data, rhs]):
        return called(system, "opaque.solve", data, rhs, adjoint)
    return SOLUTION_OF.kind.answer(SOLUTION_OF, (system, data, rhs, adjoint), {})


SOLUTION_OF = Row(
    "sparse.linalg.spsolve of elements",
    Adjoint(
        {
            "data": lambda back, out, system, adjoint: -system.outer(back, out, adjoint),
            "rhs": lambda back: back,
        },
        {
            "data": lambda t, out, system, data, adjoint: (
                -_solution_of(system, data, system.product(t, out, adjoint), adjoint)
            )
        },
        back=lambda g, system, data, adjoint: _solution_of(system, data, g, not adjoint),
    ),
    arrays="data rhs",
    original=_solution_of,
)


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
        if name == "spsolve" and _is_traced(A):
            x = _solve_with(A, b)
            return np.reshape(x, (-1,)) if x.ndim == 2 and x.shape[1] == 1 else x
        given = map(with_plain_products, args)
        named = {word: with_plain_products(value) for word, value in options.items()}
        result = scipys(f"sparse.linalg.{name}")(
            _plain_matrix(with_plain_products(A)),
            plain(as_array(b)),
            *plain([*given]),
            **plain(named),
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
        A = self._matrix if trans == "N" else self._matrix.T
        if self._made is None:
            return _solve_with(A, rhs)
        value = self._made.solve(plain(as_array(rhs)), trans)
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
    if _is_traced(A):
        return Factors(None, A)  # what a trace has of them is the solutions
    return Factors(scipys("sparse.linalg.splu")(_plain_matrix(A), *args, **options), A)


def _factorized(A: Any) -> Any:
    return _splu(scipy.sparse.csc_array(A) if isinstance(A, BASES) else A).solve


def _norm(x: Any, ord: Any = None, axis: Any = None) -> Any:
    is_along: bool = axis is not None and np.ndim(axis) == 0
    value = functools.partial(scipys("sparse.linalg.norm"), _structure(x), ord, axis)
    sizes = dispatcher("sparse.csr_array")(abs(x))
    if ord == 2 and axis is None:
        found = dispatcher("sparse.linalg.svds")(x, 1, return_singular_vectors=False)
    elif ord in (None, "fro", "f") or (ord == 2 and axis is not None):
        found = np.sqrt(sizes.power(2).sum(axis if is_along else None))
    elif ord in (1, -1, np.inf, -np.inf) and axis is None:
        sums = sizes.sum(axis=0 if abs(ord) == 1 else 1)
        found = np.max(sums) if ord > 0 else np.min(sums)
    elif ord == 1 and is_along:
        found = sizes.sum(axis)
    else:
        raise NoRuleError(
            f"scipy.sparse.linalg.norm has no derivative with ord={ord} and axis={axis}. "
            "Fix: np.linalg.norm of .toarray()."
        )
    return x._valued("linalg.norm", value, found)


def _dense(name: str) -> Callable[[Any], Any]:
    """Return the rule of a function of a matrix, such as its inverse, by the dense matrix."""

    def composed(A: Any) -> Any:
        if not isinstance(A, TrackedMatrix):
            return dispatcher(f"linalg.{name}")(A)
        value = scipys(f"sparse.linalg.{name}")(_plain_matrix(A))
        found = dispatcher(f"linalg.{name}")(A.toarray())
        at = np.unravel_index(np.arange(A.shape[0] * A.shape[1]), A.shape)
        elements = np.reshape(found, (-1,))
        return assembled(elements, at, A.shape, value.format, is_matrix=_is_matrix(value))

    return composed


def _find(A: Any) -> Any:
    places: list[Any] = []

    def find(numbered: Any) -> Any:
        *places[:], numbers = scipys("sparse.find")(numbered)
        return numbers

    elements = A.moved(find)
    kept = np.flatnonzero(data_of(elements))
    if _depend(elements, data_of(elements) == 0):
        raise NoRuleError(
            "scipy.sparse.find leaves out elements that are zero now and depend on arguments: they "
            "would have no gradient. Fix: A = A.tocoo(), with A.row, A.col and A.data."
        )
    return (*(one[kept] for one in places), elements[kept])


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

    def __init__(
        self, function: Callable[..., Any], *, always: bool = False, takes_operators: bool = False
    ) -> None:
        super().__init__(function)
        self.always = always
        """Call the function for plain matrices too."""
        self.takes_operators = takes_operators
        """Give it operators with tracked products, not their dense matrices."""

    def stand_in(self, row: Row) -> Any:
        """Return a dispatcher that takes tracked matrices; plain results get our classes."""
        original = row.original

        @functools.wraps(original)
        def dispatch(*args: Any, **options: Any) -> Any:
            args = tuple(map(matrix_of, args))
            options = {name: matrix_of(value) for name, value in options.items()}
            holds = any(isinstance(value, HOLDERS) for value in args) and _holds_matrix(args)
            if any(map(has_tracked_products, (*args, *options.values()))):
                holds = True
                args = tuple(map(self._given, args))
            if self.always or holds or not are_plain(args, options):
                return self.answer(row, args, options)
            return _ours(original(*args, **options))

        return dispatch

    def _given(self, value: Any) -> Any:
        is_dense = not self.takes_operators and has_tracked_products(value)
        return columns_of(value) if is_dense else value


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
        given = [*map(_plain_matrix, args)]
        for place, (A, one) in enumerate(zip(args, given, strict=True)):
            if not isinstance(A, TrackedMatrix) or np.all(one.data):
                continue
            if not A.leaves_out_zeros:
                raise NoRuleError(
                    f"scipy.sparse.csgraph.{name} of a matrix with tracked elements that are zero: "
                    "they may be edges or none. Fix: give it the plain matrix that you mean."
                )
            given[place] = one.copy()
            given[place].eliminate_zeros()
        called_with = {name: plain(value) for name, value in options.items()}
        return scipys(f"sparse.csgraph.{name}")(*given, **called_with)

    return found


def _laplacian(
    csgraph: Any, normed: bool = False, return_diag: bool = False, use_out_degree: bool = False, *,
    copy: bool = True, form: str = "array", dtype: Any = None, symmetrized: bool = False,
) -> Any:  # fmt: skip
    """Return the Laplacian of a graph, a tracked array or matrix."""
    name = "scipy.sparse.csgraph.laplacian"
    is_sparse = isinstance(csgraph, TrackedMatrix)
    if form != "array" or dtype is not None or not copy:
        raise NoRuleError(
            f"{name} has no derivative with copy=False, dtype= and form={form!r}. "
            "Fix: leave them out."
        )
    whole = csgraph + csgraph.T.conj() if symmetrized else csgraph
    kind = "diags" if is_sparse and _is_matrix(csgraph.made) else "diags_array"
    diagonal = dispatcher(f"sparse.{kind}") if is_sparse else np.diag
    apart = whole - diagonal(whole.diagonal())  # SciPy leaves loops out
    degrees = (apart if use_out_degree else apart.T) @ np.ones(apart.shape[0])
    if normed:
        isolated = plain(degrees) == 0
        degrees = np.where(isolated, 1.0, np.sqrt(np.where(isolated, 1.0, degrees)))
        apart = diagonal(1.0 / degrees) @ apart @ diagonal(1.0 / degrees)
        made = diagonal(np.where(isolated, 0.0, 1.0)) - apart
    else:
        made = diagonal(degrees) - apart
    if is_sparse:
        options = {"normed": normed, "symmetrized": symmetrized}
        made = made.asformat(scipys("sparse.csgraph.laplacian")(csgraph.made, **options).format)
    return (made, degrees) if return_diag else made


ORDERS = (
    *("breadth_first_order", "connected_components", "depth_first_order", "structural_rank"),
    *("maximum_bipartite_matching", "min_weight_full_bipartite_matching"),
    "reverse_cuthill_mckee",
)
QUESTIONS = ("issparse", "isspmatrix", *(f"isspmatrix_{form}" for form in (*FORMS, *BUILDING)))
CLASSES = [
    Row(f"sparse.{form}_{kind}", Class(_matrix_class))
    for form in (*FORMS, *BUILDING)
    for kind in ("array", "matrix")
]
CLASSES_OF = frozenset(row.original for row in CLASSES)
SOLVERS = [
    Row(f"sparse.linalg.{name}", _OfMatrices(_solver(name), takes_operators=True))
    for name in (
        *("bicg", "bicgstab", "cg", "cgs", "gcrotmk", "gmres", "lgmres", "minres", "qmr"),
        *("spsolve", "spsolve_triangular", "tfqmr"),
    )
]
MOVING = [
    *(Row(f"sparse.{name}", _OfMatrices(_moving(name, 2))) for name in ("block_array", "bmat")),
    *(
        Row(f"sparse.{name}", _OfMatrices(_moving(name, 1)))
        for name in ("block_diag", "hstack", "vstack")
    ),
    *(
        Row(f"sparse.{name}", _OfMatrices(_moving(name, 0)))
        for name in ("expand_dims", "permute_dims", "swapaxes", "tril", "triu")
    ),
    *(
        Row(f"sparse.{name}", _OfMatrices(_made_by(name)))
        for name in ("eye", "eye_array", "identity", "random", "random_array", "rand")
    ),
]
OTHERS = [
    *(Row(f"sparse.{name}", _OfMatrices(_asked(name), always=True)) for name in QUESTIONS),
    *(Row(f"sparse.csgraph.{name}", _OfMatrices(_of_graph(name))) for name in ORDERS),
    Row("sparse.csgraph.laplacian", _OfMatrices(_laplacian)),
    *(
        Row(f"sparse.csgraph.{name}", _OfMatrices(function), note="by the dense matrix")
        for name, function in graphs.FUNCTIONS.items()
    ),
    Row("sparse.kron", _OfMatrices(_kron)),
    Row("sparse.kronsum", _OfMatrices(_kron_sum)),
    Row("sparse.find", _OfMatrices(_find)),
    *(
        Row(f"sparse.linalg.{name}", _OfMatrices(_dense(name)), note="by the dense matrix")
        for name in ("expm", "inv")
    ),
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
    Row("sparse.linalg.aslinearoperator", _OfMatrices(operator_of)),
    Row(
        "sparse.linalg.expm_multiply",
        Adjoint({"B": _exponential_by_adjoint}),
        arrays="B",
    ),
]
register([*CLASSES, *SOLVERS, *MOVING, *OTHERS])
