"""Sparse matrices of tracked elements, whose positions are data.

A matrix has the arrays of SciPy's class, in their order: `data` is tracked, and what says where the
elements are (`indices`, `offsets`, ...) is SciPy's. Methods that only move elements are SciPy's
own: they are called on a matrix that holds the numbers of the elements.
"""

from __future__ import annotations

import copy
import functools
import itertools
import operator
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse

from gradwrap.core.array.adapted import subclass_views
from gradwrap.core.array.wrapping import wrap
from gradwrap.core.levels.wrapper import AnyWrapper
from gradwrap.core.observing.callers import current_caller, current_place, remedy
from gradwrap.core.values.dynamic import SEQUENCE, TUPLE
from gradwrap.core.values.tree import map_leaves
from gradwrap.errors import NoRuleError
from gradwrap.scipy.calls import Holder
from gradwrap.scipy.numbered_matrices import (
    BASES,
    BUILDING,
    class_after,
    class_of,
    gathered,
    numbered,
    numbers_of,
    positions_of,
    slots_of,
    with_data,
    with_zero,
)
from gradwrap.scipy.solving import as_array, attached, data_of, is_tracer, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.scipy.numbered_matrices import Positions

SMALL = 64
"""The most elements of a block that is read without applying the stores."""


class TrackedMatrix(Holder):
    """A sparse matrix of tracked elements, whose positions are data.

    It has the arithmetic, products, sums and stores of SciPy's matrices. The differentiable
    functions of `scipy.sparse` and `scipy.sparse.linalg` take it.
    """

    __array_ufunc__ = None  # so that `array @ matrix` asks this class

    def __init__(self, template: Any, data: Any, format: str = "") -> None:
        self._template = template
        self._data = data
        self._format = format or str(template.format)
        self._stores: list[tuple[Any, Any]] = []
        self._found: dict[int, Any] = {}
        self.leaves_out_zeros: bool = False
        """Whether SciPy's matrix of the same array does not have the elements that are zero."""
        self._known: Any = None
        """The template whose positions are known, and what `slots_of` returned for it."""

    # What it is made of

    @property
    def data(self) -> Any:
        """Return the stored elements, in the order of SciPy's class."""
        if self._format in BUILDING:
            raise NoRuleError(
                f"A {self._format} matrix of tracked elements has no .data. Fix: .tocoo().data."
            )
        self._apply_stores()
        return self._data

    @data.setter
    def data(self, data: Any) -> None:
        data = as_array(data)
        if data.shape != self.data.shape:
            raise NoRuleError(
                f"The elements of a sparse matrix have the shape {self.data.shape}; an array of "
                f"shape {data.shape} was stored. Fix: make a new matrix."
            )
        self._data = data

    @property
    def made(self) -> Any:
        """Return SciPy's matrix of the same values. A trace has NaN in place of its values."""
        self._apply_stores()
        made = with_data(self._template, values_of(self._data))
        return made if made.format == self._format else made.asformat(self._format)

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the number of rows and of columns."""
        return tuple(map(int, self._template.shape))

    @property
    def ndim(self) -> int:
        """Return the number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Return the number of stored elements."""
        return self.nnz

    @property
    def nnz(self) -> int:
        """Return the number of stored elements."""
        self._apply_stores()
        return int(self._template.nnz)

    @property
    def format(self) -> str:
        """Return the name of the format."""
        return self._format

    @property
    def dtype(self) -> Any:
        """Return the dtype of the elements."""
        return self._data.dtype

    def elements(self) -> tuple[Any, Positions]:
        """Return the elements, and their index along each axis."""
        self._apply_stores()
        if self._known is None or self._known[0] is not self._template:
            self._known = (self._template, *slots_of(self._template))
        _, slots, positions = self._known
        flat = np.reshape(self._data, (-1,))
        return (flat if slots is None else flat[slots]), positions

    def like(self, elements: Any, positions: Positions, shape: Any = None) -> TrackedMatrix:
        """Return a matrix of this class with other elements, added up at equal positions."""
        is_matrix = isinstance(self._template, scipy.sparse.spmatrix)
        shape = self.shape if shape is None else shape
        return assembled(elements, positions, shape, self._format, is_matrix=is_matrix)

    def with_elements(self, data: Any) -> TrackedMatrix:
        """Return a matrix with other elements at the same positions."""
        found = TrackedMatrix(self._template, data, self._format)
        found._known = self._known
        return found

    def moved(self, function: Callable[[Any], Any]) -> Any:
        """Apply a function of SciPy's that only moves elements."""
        source = self._without_duplicates()
        numbers = numbered(source._template)
        found = function(numbers.asformat(self._format) if self._format in BUILDING else numbers)
        taken = with_zero(np.reshape(source._data, (-1,)))
        if isinstance(found, BASES):
            return taken_from(taken, found)
        return taken[np.asarray(found)]

    def canonical(self) -> TrackedMatrix:
        """Sum the elements at the same position, and order them as SciPy does then."""
        is_canonical = getattr(self.template, "has_canonical_format", True)
        return self if is_canonical or self._format == "bsr" else self.like(*self.elements())

    def _without_duplicates(self) -> TrackedMatrix:
        """Sum the elements at the same position, if there are any."""
        if getattr(self.template, "has_canonical_format", True):
            return self
        summed = self._template.copy()
        summed.sum_duplicates()
        return self if summed.nnz == self._template.nnz else self.canonical()

    # Products

    def __matmul__(self, other: Any) -> Any:
        """Multiply this matrix by an array or a matrix."""
        if is_sparse(other):
            return matrix_product(self, other)
        other = as_array(other)
        elements, (*rows, columns) = self.elements()
        taken = other[columns]
        weights = elements if taken.ndim == 1 else elements[:, None]
        if rows:
            made = gathered(weights * taken, rows[0], self.shape[0])
        else:
            made = np.sum(weights * taken, axis=0)
        return self._valued("product", lambda: self.made @ plain(other), made)

    def __rmatmul__(self, other: Any) -> Any:
        """Multiply an array or a matrix by this matrix."""
        if isinstance(other, BASES):
            return matrix_product(other, self)
        return (self.T @ as_array(other).T).T

    def dot(self, other: Any) -> Any:
        """Multiply by an array, a matrix or a number."""
        return self @ other if np.ndim(other) else self * other

    # Arithmetic of elements

    def __add__(self, other: Any) -> Any:
        """Add a matrix, or a dense array, which makes the sum dense."""
        if is_sparse(other):
            (one, places), (two, others) = self.elements(), elements_of(other)
            joined = tuple(np.concatenate(pair) for pair in zip(places, others, strict=True))
            found = self.like(np.concatenate([one, two]), joined)
            return _as_scipys(found, "__add__", self, other)
        if np.ndim(plain(other)) == 0:
            if isinstance(other, AnyWrapper) or other:
                raise NoRuleError(
                    "A sparse matrix and a number that is not zero have no sum. "
                    "Fix: .toarray() + number."
                )
            return self
        return self._as_dense(self.toarray() + other)

    def _as_dense(self, array: Any) -> Any:
        """Return a dense result: of a matrix of SciPy, a matrix of NumPy, but in SciPy's code."""
        caller = current_place() if isinstance(self._template, scipy.sparse.spmatrix) else None
        is_matrix = caller is not None and not caller.module.startswith("scipy.")
        return _as_numpys_matrix("the sum with an array", array) if is_matrix else array

    def __radd__(self, other: Any) -> Any:
        """Add this matrix to a matrix or a dense array."""
        found = self + other
        return _as_scipys(found, "__add__", other, self) if is_sparse(other) else found

    def __iadd__(self, other: Any) -> Any:
        """Add a dense array in place, where matrices are filled element by element."""
        is_numpys = isinstance(self._template, scipy.sparse.spmatrix) and not is_sparse(other)
        if not is_numpys or self._format not in BUILDING or not np.ndim(plain(other)):
            return NotImplemented
        self[:, :] = self.toarray() + other
        return self

    def __isub__(self, other: Any) -> Any:
        """Subtract a dense array in place."""
        return NotImplemented if is_sparse(other) else self.__iadd__(-1 * other)

    def __neg__(self) -> Any:
        """Change the sign."""
        return _as_scipys(self.with_elements(-self.stored_data()), "__neg__", self)

    def __abs__(self) -> Any:
        """Return the absolute value of each element."""
        return _as_scipys(self.mapped(np.abs), "__abs__", self)

    def __sub__(self, other: Any) -> Any:
        """Subtract a matrix or a dense array."""
        return self + (-1 * other)

    def __rsub__(self, other: Any) -> Any:
        """Subtract this matrix from a matrix or a dense array."""
        found = (-self) + other
        return _as_scipys(found, "__sub__", other, self) if is_sparse(other) else found

    def multiply(self, other: Any) -> Any:
        """Multiply by a number, an array, or a matrix, element by element."""
        if np.ndim(plain(other)) == 0 and not isinstance(other, TrackedMatrix):
            return self.with_elements(self.stored_data() * other)
        elements, positions = self.elements()
        found = self.like(elements * self._factors(other, positions), positions)
        return _as_scipys(found, "multiply", self, other)

    def _factors(self, other: Any, positions: Positions) -> Any:
        """Return the elements of another matrix, or of an array, at some positions."""
        if is_sparse(other) and tuple(other.shape) == self.shape:
            whole = canonical(other)
            elements, others = elements_of(whole)
            keys, wanted = (numbers_of(p, self.shape) for p in (others, positions))
            order = np.argsort(keys, kind="stable")
            at = np.searchsorted(keys[order], wanted)
            has = np.isin(wanted, keys)
            numbers = np.zeros(len(wanted), np.int64)
            numbers[has] = order[at[has]] + 1
            return with_zero(elements)[numbers]
        dense = other.toarray() if is_sparse(other) else as_array(other)
        return np.broadcast_to(dense, self.shape)[positions]

    def __mul__(self, other: Any) -> Any:
        """Multiply as SciPy's class does: `@` for a matrix, element by element for an array."""
        if isinstance(self._template, scipy.sparse.spmatrix) and np.ndim(plain(other)):
            return self @ other
        return self.multiply(other)

    def __imul__(self, other: Any) -> Any:
        """Multiply by a number in place."""
        if np.ndim(plain(other)):
            return NotImplemented
        if not isinstance(self.stored_data(), AnyWrapper):
            self._data = wrap(self._data)
        self._data *= other
        return self

    def __itruediv__(self, other: Any) -> Any:
        """Divide by a number in place."""
        return NotImplemented if np.ndim(plain(other)) else self.__imul__(1.0 / other)

    def __rmul__(self, other: Any) -> Any:
        """Multiply from the left."""
        if isinstance(self._template, scipy.sparse.spmatrix) and np.ndim(plain(other)):
            return other @ self
        return self.multiply(other)

    def __truediv__(self, other: Any) -> Any:
        """Divide by a number or an array."""
        return self.multiply(1.0 / as_array(other) if np.ndim(plain(other)) else 1.0 / other)

    def __pow__(self, n: Any) -> Any:
        """Raise each element to a power; for a matrix of SciPy, the matrix."""
        if not isinstance(self._template, scipy.sparse.spmatrix):
            return self.power(n)
        if n != int(n) or n < 1:
            raise NoRuleError(
                f"A sparse matrix of tracked elements has no power {n}. Fix: whole powers from 1."
            )
        found = self
        for _ in range(int(n) - 1):
            found = found @ self
        return found

    def power(self, n: Any, dtype: Any = None) -> Any:
        """Raise each element to a power."""
        found = _as_scipys(self.mapped(lambda data: data**n), "power", self, 2)
        return found if dtype is None else found.astype(dtype)

    def maximum(self, other: Any) -> Any:
        """Return the larger of two elements at each position."""
        return self._larger(np.maximum, other)

    def minimum(self, other: Any) -> Any:
        """Return the smaller of two elements at each position."""
        return self._larger(np.minimum, other)

    def _larger(self, function: Any, other: Any) -> Any:
        if np.ndim(plain(other)) == 0 and not isinstance(other, TrackedMatrix):
            if not isinstance(other, AnyWrapper) and function(0, other) == 0:
                return _as_scipys(
                    self.mapped(lambda data: function(data, other)), "maximum", self, 0
                )
            raise NoRuleError(
                f"A sparse matrix of tracked elements has no {function.__name__} with a number "
                "that changes its zeros. Fix: .toarray()."
            )
        if not is_sparse(other):
            return self._as_dense(function(self.toarray(), other))
        whole = self.canonical()
        union = whole + 0 * canonical(other)
        positions = union.elements()[1]
        own = whole._factors(whole, positions)
        found = self.like(function(own, self._factors(other, positions)), positions)
        return _as_scipys(found, "maximum", self, other)

    def mapped(self, function: Callable[[Any], Any]) -> TrackedMatrix:
        """Apply a function that keeps zeros to each element."""
        whole = self.canonical()
        return whole.with_elements(function(whole._data))

    def astype(self, dtype: Any, casting: str = "unsafe", copy: bool = True) -> TrackedMatrix:
        """Convert the elements to another dtype."""
        found = self.with_elements(self.stored_data().astype(dtype))
        return _as_scipys(found, "astype", self, np.dtype(dtype))

    # Comparisons of elements, which have no derivative

    def _refuse_traces(self, what: str) -> None:
        if is_tracer(plain(self.stored_data())):
            raise NoRuleError(
                f"Elements of a sparse matrix cannot be {what} in a trace. Fix: .toarray()."
            )

    def _compared(self, name: str, other: Any) -> Any:
        self._refuse_traces("compared")
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

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        fix = remedy(
            current_caller(),
            "gradwrap.scipy.sparse in place of scipy.sparse, gradwrap.adapting for code that you "
            "cannot edit, or .toarray().",
        )
        raise NoRuleError(
            "A sparse matrix of tracked elements was given to code that needs a plain array, and "
            f"its gradient would be lost. Fix: {fix}"
        )

    # Sums and parts

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        """Sum over all elements, or along an axis."""
        if axis is None or self.ndim == 1 or np.ndim(axis):  # of both axes
            total = np.sum(self.stored_data())
            axis = None
        elif axis in (0, -2):
            total = self.T @ np.ones(self.shape[0])
        else:
            total = self @ np.ones(self.shape[1])
        total = total if dtype is None else total.astype(dtype)
        if axis is not None and isinstance(self._template, scipy.sparse.spmatrix):
            total = np.reshape(total, (1, -1) if axis in (0, -2) else (-1, 1))
        return _written("sum", self._valued("sum", lambda: self.made.sum(axis, dtype), total), out)

    def mean(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        """Return the mean of all elements, or along an axis."""
        count = np.prod(self.shape) if axis is None else self.shape[axis]
        return _written("mean", self.sum(axis, dtype) / count, out)

    def max(self, axis: Any = None, out: Any = None, *, explicit: bool = False) -> Any:
        """Return the largest element, or those along an axis."""
        return self._extreme("max", axis, out, explicit)

    def min(self, axis: Any = None, out: Any = None, *, explicit: bool = False) -> Any:
        """Return the smallest element, or those along an axis."""
        return self._extreme("min", axis, out, explicit)

    def _extreme(self, name: str, axis: Any, out: Any, explicit: bool) -> Any:
        self._refuse_traces("ordered")
        value: Any = getattr(self.made, name)(axis, out, explicit=explicit)
        whole = self.canonical()
        if axis is None:
            elements, _ = whole.elements()
            if not explicit and elements.shape[0] < np.prod(self.shape):
                elements = np.concatenate([elements, np.zeros(1, elements.dtype)])
            return attached(f"sparse {name}", value, {(): getattr(np, name)(elements)})
        at = np.asarray(getattr(self.made, f"arg{name}")(axis, explicit=explicit)).reshape(-1)
        count = np.arange(len(at))
        taken = whole.moved(lambda m: m.tocsr()[(at, count) if axis in (0, -2) else (count, at)])
        taken = np.reshape(taken, (-1,))
        if value.ndim == 1:
            return assembled(taken, (count,), value.shape, value.format, is_matrix=False)
        along = (np.zeros_like(count), count)
        along = along if axis in (0, -2) else along[::-1]
        return assembled(taken, along, value.shape, value.format, is_matrix=True)

    def diagonal(self, k: int = 0) -> Any:
        """Return a diagonal."""
        elements, (rows, columns) = self.elements()
        on = np.flatnonzero(columns - rows == k)
        value = self.made.diagonal(k)
        at = rows[on] if k >= 0 else columns[on]
        made = gathered(elements[on], at, len(value))
        return self._valued("diagonal", lambda: value, made)

    def _valued(self, name: str, value: Callable[[], Any], made: Any) -> Any:
        """Return SciPy's value with the derivative of a formula; a trace takes the formula's.

        A dense result with two axes is a matrix of NumPy for a matrix of SciPy, unless the name is
        that of a product.
        """
        if not is_tracer(plain(made)):
            found = value()
            array = np.asarray(found) if isinstance(found, np.matrix) else found
            made = attached(f"sparse {name}", array, {(): made})
        is_matrix = isinstance(self._template, scipy.sparse.spmatrix) and name in ("sum", "part")
        return _as_numpys_matrix(name, made) if is_matrix and np.ndim(made) == 2 else made

    def trace(self, offset: int = 0) -> Any:
        """Return the sum of a diagonal."""
        return np.sum(self.diagonal(offset))

    def toarray(self, order: Any = None, out: Any = None) -> Any:
        """Return the matrix as a dense array."""
        elements, positions = self.elements()
        flat = numbers_of(positions, self.shape)
        made = np.reshape(gathered(elements, flat, int(np.prod(self.shape))), self.shape)
        return _written("toarray", np.copy(made, order="F") if order == "F" else made, out)

    def todense(self, order: Any = None, out: Any = None) -> Any:
        """Return the matrix as a dense array; for a matrix of SciPy, as a matrix of NumPy."""
        made = self.toarray(order, out)
        is_matrix = isinstance(self._template, scipy.sparse.spmatrix)
        return _as_numpys_matrix("todense", made) if is_matrix else made

    def __getitem__(self, key: Any) -> Any:
        """Return an element, rows, columns, or a part."""
        found = self._stored(key)
        if found is not None:
            return found

        def taken(matrix: Any) -> Any:
            return (matrix if hasattr(matrix, "__getitem__") else matrix.tocsr())[key]

        part = self.moved(taken)
        if is_sparse(part):
            return part
        return self._valued("part", lambda: taken(self.made), part)

    def __iter__(self) -> Any:
        """Iterate over the rows."""
        return (self[row] for row in range(self.shape[0]))

    # Stores, which are applied together where the elements are asked for

    def __setitem__(self, key: Any, value: Any) -> None:
        """Store elements, as SciPy's class does."""
        places = _flat_positions(key, self.shape)
        if isinstance(value, np.matrix):  # one that holds tracked elements returns a variable
            value = value.__array__()
        value = value.toarray() if is_sparse(value) else as_array(value)
        if not np.can_cast(value.dtype, self.dtype, "same_kind"):
            raise NoRuleError(
                f"Values of dtype {value.dtype} were stored into a sparse matrix of {self.dtype}. "
                "Fix: make the matrix with their dtype."
            )
        value = np.broadcast_to(value.astype(self.dtype), places.shape)
        store = (places.reshape(-1), np.reshape(value, (-1,)))
        if self._found:
            self._note(len(self._stores), store[0])
        self._stores.append(store)

    def setdiag(self, values: Any, k: int = 0) -> None:
        """Store a diagonal."""
        count = len(self.made.diagonal(k))
        values = as_array(values)
        if values.ndim:
            count = min(count, values.shape[0])
            values = values[:count]
        at = np.arange(count)
        self[(at, at + k) if k >= 0 else (at - k, at)] = values

    def _stored(self, key: Any) -> Any:
        """Return an element or a small block where stores are waiting, or None."""
        if not self._stores or self._format not in BUILDING:
            return None
        if not isinstance(key, TUPLE) or len(key) != 2:
            return None
        is_block = all(isinstance(one, slice) for one in key)
        places = _flat_positions(key, self.shape) if is_block or all(map(_is_index, key)) else None
        if places is None or places.size > SMALL:
            return None
        if not self._found:
            self._note(-1, numbers_of(slots_of(self._template)[1], self.shape))
            for number, (stored, _) in enumerate(self._stores):
                self._note(number, stored)
        found = [self._found.get(place) for place in places.reshape(-1).tolist()]
        if not is_block:
            return self.dtype.type(0) if found[0] is None else self._element(found[0])
        at = [number for number, one in enumerate(found) if one is not None]
        elements = [self._element(one).reshape(1) for one in found if one is not None]
        positions = np.unravel_index(np.array(at, int), places.shape)
        return self.like(
            np.concatenate([np.zeros(0, self.dtype), *elements]), positions, places.shape
        )

    def _element(self, at: tuple[int, int]) -> Any:
        """Return an element of a store, by its number, or of the matrix before all (-1)."""
        store, place = at
        return (self._data if store < 0 else self._stores[store][1])[place]

    def _note(self, store: int, places: Any) -> None:
        self._found.update(
            zip(places.tolist(), zip(itertools.repeat(store), range(len(places))), strict=False)
        )

    def stored_data(self) -> Any:
        """Return the elements in the order of SciPy's class."""
        self._apply_stores()
        return self._data

    def _apply_stores(self) -> None:
        """Bring the elements that were stored into the matrix: the last one at each position."""
        if not self._stores:
            return
        stores, self._stores, self._found = self._stores, [], {}
        whole = self.canonical()
        elements, positions = whole.elements()
        stores = [(numbers_of(positions, self.shape), elements), *stores]
        places = np.concatenate([one for one, _ in stores])
        kept, last = np.unique(places[::-1], return_index=True)
        values = np.concatenate([one for _, one in stores])[len(places) - 1 - last]
        made = self.like(values, np.unravel_index(kept, self.shape))
        self._template, self._data = made._template, made._data

    # Forms

    @property
    def T(self) -> TrackedMatrix:  # noqa: N802  SciPy's name
        """Return the transpose."""
        return self.transpose()

    def transpose(self, axes: Any = None, copy: bool = False) -> TrackedMatrix:
        """Return the transpose."""
        if self._format in ("coo", "csc", "csr") and not copy:  # of the same elements
            return TrackedMatrix(self.template.T, self._data)
        return self.moved(lambda matrix: matrix.T)  # type: ignore[no-any-return]  # a matrix

    def asformat(self, format: str | None, copy: bool = False) -> TrackedMatrix:
        """Return the matrix in another format."""
        if format is None or format == self._format:
            return self.copy() if copy else self
        form = "coo" if format in BUILDING else format
        found: TrackedMatrix = self.moved(lambda matrix: matrix.asformat(form))
        found._format = format
        return found

    @property
    def template(self) -> Any:
        """Return SciPy's matrix of the same positions; its elements are not those of this one."""
        self._apply_stores()
        return self._template

    def copy(self) -> TrackedMatrix:
        """Return a copy."""
        template = copy.deepcopy(self.template)
        return TrackedMatrix(template, np.copy(self._data), self._format)

    def __setattr__(self, name: str, value: Any) -> None:
        is_own = hasattr(type(self), name) or name not in vars(vars(self).get("_template", self))
        if is_own or name in vars(self):
            object.__setattr__(self, name, value)
            return
        if not name.startswith("has_"):  # what SciPy knows about the order of the elements
            raise NoRuleError(
                f"The positions of the elements of a tracked sparse matrix cannot be changed by a "
                f"store to .{name}. Fix: make a new matrix of .data and the positions."
            )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        made = self.made
        if not hasattr(made, name):
            raise AttributeError(f"{type(made).__name__!r} object has no attribute {name!r}")
        found = self._scipys(name, made)
        if found is None:
            raise lacks(name)
        return found

    def entries(self) -> dict[Any, Any]:
        """Return the stored elements by their positions, as those of a dictionary are found."""
        elements, positions = self.canonical().elements()
        at = [one.tolist() for one in positions]
        keys = at[0] if self.ndim == 1 else zip(*at, strict=True)
        return {key: elements[place] for place, key in enumerate(keys)}

    def of_dictionary(self, name: str) -> Any:
        """Return a method of a dictionary of elements (`dok_array`); None if it has no such."""
        if name == "get":
            return lambda key, default=0.0: self.entries().get(key, default)
        return getattr(self.entries(), name) if name in ("items", "keys", "values") else None

    def _scipys(self, name: str, made: Any) -> Any:
        """Return an attribute of SciPy's class with this name, or None."""
        if self._format == "dok" and hasattr(dict, name):
            return self.of_dictionary(name)
        if name.startswith("to"):
            return lambda copy=False, **_: self.asformat(name[2:], copy)
        found, function = getattr(made, name), getattr(np, name, None)
        if callable(found):
            is_elementwise = isinstance(function, np.ufunc) and function.nin == 1
            return functools.partial(self._each if is_elementwise else self._called, name)
        if is_sparse(found) and function is not None:
            return _as_scipys(self.with_elements(function(self.stored_data())), name, self)
        if isinstance(found, np.ndarray) and _is_whole(found):  # a write would move elements
            found = found.view()
            found.flags.writeable = False
        return found if _is_whole(found) else None

    def _each(self, name: str, *_: Any, **__: Any) -> TrackedMatrix:
        """Apply NumPy's function of this name to each element."""
        return _as_scipys(self.mapped(getattr(np, name)), name, self)

    def _called(self, name: str, *args: Any, **options: Any) -> Any:
        """Call a method of SciPy's that moves elements, or returns whole numbers."""
        found = getattr(copy.deepcopy(self.made), name)(*args, **options)

        def move(matrix: Any) -> Any:
            other = copy.deepcopy(matrix)
            returned = getattr(other, name)(*args, **options)
            return other if returned is None else returned

        if _is_whole(found) and found is not None:
            self._refuse_traces("compared")
            return found
        if not (found is None or is_sparse(found)) or not self._is_moved_by(move):
            raise lacks(name)
        moved = self.moved(move)
        if found is not None:
            return moved
        self._template, self._data = moved._template, moved._data
        return None

    def _is_moved_by(self, function: Callable[[Any], Any]) -> bool:
        """Tell if a function only moves elements: whatever they are, also imaginary."""
        numbers = numbered(self._without_duplicates()._template)
        data = numbers.data
        one, other, imaginary = (
            function(with_data(numbers, values)).tocoo()
            for values in (data, (data.size + 1 - data) * (data != 0), 1j * data)
        )
        return (
            np.array_equal(other.data, (data.size + 1 - one.data) * (one.data != 0))
            and np.array_equal(imaginary.data, 1j * one.data)
            and np.array_equal(one.data, one.data.real.round())
        )


def lacks(name: str) -> NoRuleError:
    """Return the error for a part of SciPy's class that a matrix of tracked elements has not."""
    return NoRuleError(
        f"A scipy.sparse matrix of tracked elements has no .{name}. Fix: use its products "
        "and sums, .T, .toarray(), or scipy.sparse.linalg.spsolve."
    )


def _written(name: str, value: Any, out: Any) -> Any:
    """Store a dense result in `out`, if there is one."""
    if out is None:
        return value
    if not isinstance(out, AnyWrapper):
        raise NoRuleError(
            f".{name}(out=an ndarray) of a sparse matrix of tracked elements: a plain array cannot "
            f"hold a tracked value. Fix: omit out=, y = A.{name}(...)."
        )
    out[...] = value
    return out


def _holds_matrices() -> bool:
    """Tell if the calling code is adapted, where matrices of NumPy hold tracked elements."""
    caller = current_caller()
    return caller is not None and caller.is_adapted and bool(subclass_views)


def _as_numpys_matrix(name: str, array: Any) -> Any:
    """Return an array as NumPy's matrix, whose `*` is the product of matrices: in adapted code."""
    if not _holds_matrices():
        raise NoRuleError(
            f"{name} of a scipy.sparse matrix is a matrix of NumPy, which holds tracked elements "
            "in adapted code alone. Fix: gradwrap.adapting(f), or SciPy's classes of arrays "
            "(csr_array), or .toarray()."
        )
    return subclass_views[-1](array, np.matrix)


def is_sparse(value: Any) -> bool:
    """Tell if a value is a sparse matrix, tracked or not."""
    return isinstance(value, (TrackedMatrix, *BASES))


def canonical(matrix: Any) -> Any:
    """Return a matrix with one element at each position."""
    if isinstance(matrix, TrackedMatrix):
        return matrix.canonical()
    held = matrix.tocoo()
    if not held.has_canonical_format:
        held = held.copy()
        held.sum_duplicates()
    return held


def elements_of(matrix: Any) -> tuple[Any, Positions]:
    """Return the elements of a matrix, tracked or not, and their index along each axis."""
    return matrix.elements() if isinstance(matrix, TrackedMatrix) else positions_of(matrix)


def tracked(matrix: Any, hold: Callable[[Any], Any] = np.asarray) -> TrackedMatrix:
    """Return a matrix of tracked elements with the constant elements of SciPy's matrix."""
    form = matrix.format
    template = class_of(matrix, "coo" if form in BUILDING else form)(matrix)
    return TrackedMatrix(template, hold(template.data), form)


def taken_from(taken: Any, found: Any, form: str = "") -> TrackedMatrix:
    """Return the matrix whose elements have the numbers of SciPy's matrix; 0 is no element.

    Its format is that of SciPy's matrix, or another for which that stands in.
    """
    form = form or found.format
    template = found.tocoo() if form in BUILDING else found
    return TrackedMatrix(template, taken[template.data.astype(np.int64)], form)


def assembled(
    elements: Any, positions: Positions, shape: Any, form: str, *, is_matrix: bool
) -> TrackedMatrix:
    """Return a matrix of the elements, which are added up at equal positions."""
    kind: Any = scipy.sparse.coo_matrix if is_matrix else scipy.sparse.coo_array
    count = len(positions[0])
    if len(shape) == 2:  # conversions add up equal positions, so none are lost if there are none
        found = kind((np.arange(1, count + 1), positions), shape=shape).tocsr()
        if found.nnz == count:
            template = found.tocoo() if form in BUILDING else found.asformat(form)
            return taken_from(with_zero(elements), template, form)
    places, numbers = np.unique(numbers_of(positions, shape), return_inverse=True)
    at = np.unravel_index(places, shape)
    found = kind((np.arange(1, len(places) + 1), at), shape=shape)
    template = found if form in BUILDING else found.asformat(form)
    return taken_from(with_zero(gathered(elements, numbers, len(places))), template, form)


def matrix_product(one: Any, other: Any) -> TrackedMatrix:
    """Multiply two sparse matrices, as the products of all pairs of matching elements."""
    shape = (*one.shape[:-1], *other.shape[1:])
    if len(one.shape) < 2 or len(other.shape) < 2:
        raise NoRuleError("Sparse arrays of one axis have no product. Fix: .toarray() of one.")
    form, is_matrix = class_after("__matmul__", _class_key(one), _class_key(other))
    (x, (rows, inner)), (y, (outer, columns)) = elements_of(one), elements_of(other)
    order = np.argsort(outer, kind="stable")
    first = np.searchsorted(outer[order], inner, side="left")
    count = np.searchsorted(outer[order], inner, side="right") - first
    left = np.repeat(np.arange(len(inner)), count)
    ends = np.cumsum(count)
    right = order[np.arange(len(left)) - np.repeat(ends - count, count) + np.repeat(first, count)]
    at = (rows[left], columns[right])
    return assembled(x[left] * y[right], at, shape, form, is_matrix=is_matrix)


def _structure(matrix: Any) -> Any:
    return matrix.made if isinstance(matrix, TrackedMatrix) else matrix


def _as_scipys(found: TrackedMatrix, name: str, *operands: Any) -> TrackedMatrix:
    """Bring a result to the format that SciPy's method of this name has for such operands."""
    return found.asformat(class_after(name, *map(_class_key, operands))[0])


def _class_key(operand: Any) -> Any:
    """Return what a format depends on: of a matrix its own, of an array nothing."""
    if is_sparse(operand):
        return operand.format, isinstance(_structure(operand), scipy.sparse.spmatrix)
    return None if np.ndim(plain(operand)) else operand


def values_of(value: Any) -> Any:
    """Return the values of variables in nested containers, NaN for those of a trace."""
    return map_leaves(_value, plain(value))


def _value(leaf: Any) -> Any:
    return np.full(leaf.shape, np.nan, leaf.dtype) if is_tracer(leaf) else leaf


def _is_whole(value: Any) -> bool:
    """Tell if a value is whole numbers, truths or text, also in sequences."""
    if isinstance(value, SEQUENCE):
        return all(map(_is_whole, value))
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    return kind in "biu" if kind else value is None or isinstance(value, (int, str))


def _is_index(key: Any) -> bool:
    return isinstance(key, (int, np.integer))


def _flat_positions(key: Any, shape: Sequence[int]) -> Any:
    """Return the numbers of the positions that a key selects, as an array of its shape."""
    key = key if type(key) is TUPLE else (key,)
    if len(key) == 1 and is_sparse(key[0]):
        key = _structure(key[0]).nonzero()
    elif len(key) == 1 and getattr(data_of(key[0]), "dtype", None) is np.dtype(bool):
        key = np.nonzero(data_of(key[0]))
    if len(key) > len(shape) or any(one is None or one is Ellipsis for one in key):
        raise NoRuleError("A store into a sparse matrix takes rows and columns. Fix: A[i, j] = x.")
    key = (*key, *[slice(None)] * (len(shape) - len(key)))
    along = [
        np.arange(size)[data_of(one) if not isinstance(one, slice) else one]
        for one, size in zip(key, shape, strict=True)
    ]
    if len(along) == 2:
        rows, columns = along
        if isinstance(key[0], slice) and np.ndim(columns) < 2:
            rows = rows[:, None]
            columns = np.reshape(columns, (1, -1))
        elif isinstance(key[1], slice):
            rows = np.reshape(rows, (-1, 1))
        along = [rows, columns]
    return numbers_of(tuple(np.broadcast_arrays(*along)), tuple(shape))
