"""Columns of pandas that hold tracked values: one array, with the methods that pandas asks for.

pandas lets other libraries define the arrays of its columns. What it does by its own compiled code
needs plain arrays, and is refused as every conversion of a tracked value is.
"""

from __future__ import annotations

import functools
import operator
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

import gradwrap.numpy as drop_in
from gradwrap.core.array.writing.remembered import remember
from gradwrap.core.array.writing.views import as_view, view_of
from gradwrap.core.levels.modes import is_traced
from gradwrap.core.levels.wrapper import AnyWrapper, holds_batch, innermost, native
from gradwrap.core.library.backend import backend_of
from gradwrap.core.values.dynamic import SEQUENCE, TUPLE, type_of
from gradwrap.errors import NotAnArrayError, TrackedValueError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

ours: Any = drop_in
xp: Any = np  # functions of arrays that may be tracked
pd: Any = import_module("pandas")  # it need not be installed where types are checked
extensions: Any = pd.api.extensions
NUMBERS = "biufc"
"""The kinds of dtypes that can be beside tracked values in one column."""
OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    name: getattr(operator, name)
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")
}
SHARES = int(pd.__version__.partition(".")[0]) < 3
"""Whether tables share memory unless an option says that they do not."""
COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")


class _Dtype:
    """The dtype of a column that holds tracked values of a dtype of NumPy's."""

    _metadata = ("numpy_dtype",)
    holds_tracked = True
    _is_numeric = True
    na_value = np.nan
    kind = "f"

    def __init__(self, dtype: Any) -> None:
        self.numpy_dtype: Any = np.dtype(dtype)

    @property
    def type(self) -> Any:
        """The type of an element."""
        return self.numpy_dtype.type

    @property
    def itemsize(self) -> int:
        """The size of an element in memory."""
        return int(self.numpy_dtype.itemsize)

    @property
    def name(self) -> str:
        """What pandas shows."""
        return f"tracked {self.numpy_dtype}"

    @classmethod
    def construct_array_type(cls) -> Any:
        """Return the class of the columns."""
        return Column

    @classmethod
    def construct_from_string(cls, string: Any) -> Any:
        """Refuse: no text names this dtype."""
        raise TypeError(f"{string!r} is not the name of this dtype")

    def _get_common_dtype(self, dtypes: Iterable[Any]) -> Any:
        held = [getattr(one, "numpy_dtype", one) for one in dtypes]
        if all(isinstance(one, np.dtype) and one.kind in NUMBERS for one in held):
            return Dtype(np.result_type(*held, self.numpy_dtype))
        return None


Dtype: Any = type("TrackedDtype", (_Dtype, extensions.ExtensionDtype), {"__module__": __name__})


class _Column:
    """One array of a column, which may be tracked."""

    def __init__(self, array: Any, sources: tuple[Any, ...] = ()) -> None:
        self.tracked: Any = array
        self.sources: tuple[Any, ...] = sources
        """The columns of a table from whose rows it was taken, which may share memory in pandas."""

    @classmethod
    def _from_sequence(cls, scalars: Any, *, dtype: Any = None, copy: bool = False) -> Any:
        array = array_of(scalars)
        wanted = getattr(dtype, "numpy_dtype", dtype)
        if wanted is not None and array.dtype != wanted:
            array = array.astype(wanted)
        return Column(array.copy() if copy else array)

    @classmethod
    def _from_factorized(cls, values: Any, original: Any) -> Any:
        return cls._from_sequence(values, dtype=original.dtype)

    @classmethod
    def _concat_same_type(cls, to_concat: Iterable[Any]) -> Any:
        return Column(ours.concatenate([one.tracked for one in to_concat]))

    @property
    def dtype(self) -> Any:
        """The dtype, which is pandas' own kind."""
        return Dtype(self.tracked.dtype)

    @property
    def nbytes(self) -> int:
        """The size in memory."""
        return int(self.tracked.size * self.tracked.dtype.itemsize)

    def __len__(self) -> int:
        return len(self.tracked)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tracked)

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, (int, np.integer)):
            key = pd.api.indexers.check_array_indexer(self, key)
        found = self.tracked[key]
        return Column(found, self.sources) if found.ndim else found

    def __setitem__(self, key: Any, value: Any) -> None:
        key = pd.api.indexers.check_array_indexer(self, key)
        is_many = isinstance(value, (*SEQUENCE, np.ndarray)) or hasattr(value, "dtype")
        if not isinstance(value, AnyWrapper):
            value = array_of(value) if is_many and np.ndim(value) else _number(value)
        self.tracked[key] = value

    def isna(self) -> Any:
        """Tell which elements are NaN."""
        return fixed(xp.isnan(self.tracked))

    def take(self, indices: Any, *, allow_fill: bool = False, fill_value: Any = None) -> Any:
        """Return elements, for -1 a fill value."""
        places = np.asarray(indices, dtype=np.intp)
        if not allow_fill or not (places < 0).any():
            return Column(self.tracked[places])
        if (places < -1).any():
            raise ValueError("places to fill are -1")
        fill = _number(fill_value)
        if not len(self):
            return Column(ours.full(places.shape, fill, dtype=self.tracked.dtype))
        return Column(xp.where(places < 0, fill, self.tracked[np.maximum(places, 0)]))

    def copy(self) -> Any:
        """Return a copy."""
        return Column(self.tracked.copy())

    def astype(self, dtype: Any, copy: bool = True) -> Any:
        """Return the column with another dtype; of whole numbers and texts, refuse it."""
        wanted = np.dtype(getattr(dtype, "numpy_dtype", dtype))
        if wanted.kind in "fc":
            return Column(self.tracked.astype(wanted, copy=copy))
        if wanted.kind == "O":
            return self.to_numpy(object)
        return np.asarray(self.tracked.astype(wanted) if wanted.kind in "biu" else self.tracked)

    def to_numpy(self, dtype: Any = None, copy: bool = False, na_value: Any = None) -> Any:
        """Return the tracked array, or an array of objects with tracked numbers."""
        array = self.tracked
        if na_value is not None and na_value is not extensions.no_default:
            array = xp.where(self.isna(), _number(na_value), array)
        if dtype is not None and np.dtype(dtype) == object:
            made = np.empty(len(array), dtype=object)
            for at, lacks in enumerate(self.isna()):
                made[at] = np.nan if lacks else array[at]
            return made
        if dtype is None or np.dtype(dtype) == array.dtype:
            return array.copy() if copy else outdated_by(read_only(array), self.sources)
        return array.astype(dtype)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if dtype is not None and np.dtype(dtype) == object:
            return self.to_numpy(object)
        return np.asarray(self.tracked, dtype=dtype)  # which refuses a tracked one

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        tables = (pd.Series, pd.DataFrame, pd.Index)
        if any(isinstance(one, tables) for one in inputs) or "out" in options:
            return NotImplemented
        apply = functools.partial(getattr(ufunc, method), **options)
        return applied(apply, tuple(map(_operand, inputs)))

    def _reduce(
        self, name: str, *, skipna: bool = True, keepdims: bool = False, **options: Any
    ) -> Any:
        if name not in REDUCED and name not in COUNTED:
            raise TypeError(f"a column of tracked values has no reduction {name}")
        found = reduced(self, name, skipna=skipna, **options)
        return Column(ours.reshape(ours.asarray(found), (1,))) if keepdims else found

    def _accumulate(self, name: str, *, skipna: bool = True, **_: Any) -> Any:
        return Column(accumulated(self, name, skipna=skipna))

    def _groupby_op(
        self,
        *,
        how: str,
        has_dropped_na: bool,
        min_count: int,
        ngroups: int,
        ids: Any,
        **options: Any,
    ) -> Any:
        options.pop("skipna", None)
        members = [np.flatnonzero(ids == group) for group in range(ngroups)]
        if how in ACCUMULATED:
            parts = [accumulated(self[places], how) for places in members]
            order = np.argsort(np.concatenate(members), kind="stable")
            return Column(ours.concatenate(parts)[order])
        if how in ("rank", "idxmin", "idxmax"):
            return self._by_order(how, members, options)
        if how not in REDUCED and how not in COUNTED:
            raise NotImplementedError(f"{how} of groups of tracked values")
        if min_count > 0:
            options["min_count"] = min_count
        return held([reduced(self[places], how, **options) for places in members])

    def _by_order(self, how: str, members: Any, options: dict[str, Any]) -> Any:
        """Return the ranks in groups, or the place of the least or largest element of each."""
        known = pd.Series(ordered(self.tracked))
        if how == "rank":
            ranks = np.full(len(self), np.nan)
            options["method"] = options.pop("ties_method")
            for places in members:
                ranks[places] = known.iloc[places].rank(**options)
            return ranks
        found: list[Any] = []
        for places in members:
            group: Any = known.iloc[places].dropna()  # its labels are the places
            found.append(getattr(group, how)() if len(group) else -1)
        return np.array(found)

    def factorize(self, use_na_sentinel: bool = True) -> Any:
        """Return the number of the value of each element, and the different values."""
        codes, _ = pd.factorize(ordered(self.tracked), use_na_sentinel=use_na_sentinel)
        numbers, first = np.unique(codes, return_index=True)
        return codes, self[first[numbers >= 0]]

    def isin(self, values: Any) -> Any:
        """Tell which elements are among some numbers."""
        found = xp.zeros(len(self), dtype=bool)
        for value in values:
            found = found | (self.isna() if pd.isna(value) else fixed(self.tracked == value))
        return found

    def _quantile(self, qs: Any, interpolation: str) -> Any:
        array = self.tracked[~self.isna()]
        return Column(xp.quantile(array, qs, method=interpolation))

    def interpolate(
        self, *, method: str, axis: int, index: Any, copy: bool = True, **options: Any
    ) -> Any:
        """Fill elements that are NaN from others, of which they are linear functions."""
        return linear(self, index, lambda rows: rows.interpolate(method=method, **options))

    def map(self, mapper: Any, na_action: str | None = None) -> Any:
        """Return what a function or a table gives for each element."""
        lacks = self.isna()
        apply = mapper if callable(mapper) else mapper.__getitem__
        found = [v if na_action and skip else apply(v) for v, skip in zip(self, lacks, strict=True)]
        return held(found) if any(isinstance(v, AnyWrapper) for v in found) else np.array(found)

    def round(self, decimals: int = 0, *_: Any, **__: Any) -> Any:
        """Round as NumPy does."""
        return Column(xp.round(self.tracked, decimals))

    def _values_for_argsort(self) -> Any:
        return ordered(self.tracked)

    def __neg__(self) -> Any:
        return Column(-self.tracked)

    def __pos__(self) -> Any:
        return self.copy()

    def __abs__(self) -> Any:
        return Column(abs(self.tracked))


def _operator(name: str, apply: Callable[[Any, Any], Any], *, swapped: bool = False) -> Any:
    def operate(column: Any, other: Any) -> Any:
        if isinstance(other, (pd.Series, pd.DataFrame, pd.Index)):
            return NotImplemented
        operands = column.tracked, _operand(other)
        return applied(apply, operands[::-1] if swapped else operands)

    operate.__name__ = name
    return operate


def _operators() -> dict[str, Any]:
    found = {f"__{name}__": getattr(operator, name) for name in (*OPERATORS, *COMPARISONS)}
    made = {name: _operator(name, apply) for name, apply in found.items()}
    for name, apply in OPERATORS.items():
        made[f"__r{name}__"] = _operator(f"__r{name}__", apply, swapped=True)
    return made


Column: Any = type(
    "TrackedColumn",
    (_Column, extensions.ExtensionArray),
    {**_operators(), "__hash__": None, "__module__": __name__},
)


# Reductions ---------------------------------------------------------------------------------------


def reduced(
    column: Any, name: str, *, skipna: bool = True, min_count: int = 0, **options: Any
) -> Any:
    """Reduce a column as pandas does, which gives NaN of too few elements."""
    options.pop("numeric_only", None)
    array = column.tracked
    if skipna:
        lacks = column.isna()
        array = array[~lacks] if lacks.any() else array
    if name in ("any", "all"):
        return bool(getattr(fixed(array != 0), name)())
    if name == "count":
        return len(array)
    if len(array) < max(min_count, NEEDED.get(name, 1), options.get("ddof", 1) * (name in SPREADS)):
        return np.nan
    return REDUCED[name](array, **options)


def accumulated(column: Any, name: str, *, skipna: bool = True) -> Any:
    """Return the sums of the elements so far, or what else pandas accumulates."""
    lacks = column.isna()
    array, ufunc, neutral = column.tracked, *ACCUMULATED[name]
    if not skipna or not lacks.any():
        return ufunc.accumulate(array)
    return xp.where(lacks, np.nan, ufunc.accumulate(xp.where(lacks, neutral, array)))


def _without_options(function: Callable[[Any], Any]) -> Callable[..., Any]:
    """Make a function of an array that ignores options."""

    def reduce(array: Any, **_: Any) -> Any:
        return function(array)

    return reduce


def _variance(array: Any, ddof: int = 1, **_: Any) -> Any:
    return np.nan if len(array) <= ddof else xp.var(array, ddof=ddof)


def _deviation(array: Any, ddof: int = 1, **_: Any) -> Any:
    return np.nan if len(array) <= ddof else xp.std(array, ddof=ddof)


def _error_of_mean(array: Any, ddof: int = 1, **_: Any) -> Any:
    return _deviation(array, ddof) / np.sqrt(len(array))


def _moment(array: Any, order: int) -> Any:
    return xp.sum((array - xp.mean(array)) ** order)


def _skewness(array: Any, **_: Any) -> Any:
    """Fisher's coefficient without bias, as in pandas."""
    n = len(array)
    scale = n * np.sqrt(n - 1.0) / (n - 2.0)
    return scale * _moment(array, 3) / _moment(array, 2) ** 1.5


def _kurtosis(array: Any, **_: Any) -> Any:
    """Fisher's excess without bias, as in pandas."""
    n = len(array)
    scale = n * (n + 1.0) * (n - 1.0) / ((n - 2.0) * (n - 3.0))
    less = 3.0 * (n - 1.0) ** 2 / ((n - 2.0) * (n - 3.0))
    return scale * _moment(array, 4) / _moment(array, 2) ** 2 - less


SPREADS = ("std", "var", "sem")
COUNTED = ("any", "all", "count")
"""Reductions to truths and whole numbers, which have no derivative."""
NEEDED = {"sum": 0, "prod": 0, "skew": 3, "kurt": 4}
"""How many elements a reduction needs, if not one."""
REDUCED: dict[str, Callable[..., Any]] = {
    **{name: _without_options(getattr(np, name)) for name in ("sum", "prod", "mean", "median")},
    **{name: _without_options(getattr(np, name)) for name in ("min", "max")},
    "first": _without_options(operator.itemgetter(0)),
    "last": _without_options(operator.itemgetter(-1)),
    "std": _deviation,
    "var": _variance,
    "sem": _error_of_mean,
    "skew": _skewness,
    "kurt": _kurtosis,
}
ACCUMULATED: dict[str, tuple[Any, float]] = {
    "cumsum": (np.add, 0.0),
    "cumprod": (np.multiply, 1.0),
    "cummin": (np.minimum, np.inf),
    "cummax": (np.maximum, -np.inf),
}
"""The ufuncs, and what stands for elements that are NaN."""


# Values -------------------------------------------------------------------------------------------


def plain(array: Any) -> Any:
    """Return the plain array of a variable, in a trace the one that a tracer stands for."""
    if not isinstance(array, AnyWrapper):
        return np.asarray(array)
    data = native(array)
    return np.asarray(backend_of(data).concrete(data))


def ordered(array: Any) -> Any:
    """Return the plain array, of which code takes the order.

    In a trace, the comparisons by which the elements are sorted are branches of the program.
    """
    if isinstance(array, AnyWrapper) and is_traced():
        sorted(array[~fixed(xp.isnan(array))], key=functools.cmp_to_key(_compared))
    return plain(array)


def _compared(a: Any, b: Any) -> int:
    return -1 if a < b else int(bool(b < a))


def fixed(truths: Any) -> Any:
    """Return a plain mask; in a trace, its elements are branches of the program."""
    if not isinstance(truths, AnyWrapper):
        return np.asarray(truths)
    if not (is_traced() or holds_batch(truths)):
        return plain(truths)
    if (not is_traced() and not innermost(truths).any()) or not bool(truths.any()):
        return np.zeros(truths.shape, dtype=bool)
    return np.array([bool(truth) for truth in truths.reshape(-1)]).reshape(truths.shape)


def fixed_numbers(numbers: Any) -> Any:
    """Return plain whole numbers; in a trace, they are branches of the program."""
    found = plain(numbers)
    fixed(numbers == found)
    return found


def between(array: Any, ends: Any) -> Any:
    """Return plain numbers, of which code takes the places between some ends."""
    for end in ends if is_traced() else ():
        for is_beyond in (array > end, array >= end):
            fixed(is_beyond)
    return plain(array)


def array_of(values: Any) -> Any:
    """Return the array of a column, of a list with tracked numbers, or of plain numbers."""
    if isinstance(values, Column):
        return values.tracked
    if isinstance(values, (pd.Series, pd.Index)):
        return array_of(values.array)
    if not isinstance(values, AnyWrapper):
        if isinstance(values, (np.ndarray, extensions.ExtensionArray)) and (
            getattr(values.dtype, "kind", "O") in NUMBERS
        ):
            values = np.asarray(values, dtype=np.result_type(np.asarray(values).dtype, np.float64))
        else:
            values = list(map(_number, values))
    return ours.asarray(ours.array(values, dtype=None if len(values) > 0 else np.float64))


def held(values: Any) -> Any:
    """Return a column that holds an array."""
    if SHARES and pd.options.mode.copy_on_write is not True:
        raise NotAnArrayError(
            f"A table of pandas {pd.__version__} got a tracked value. Its tables share memory with "
            "their columns, rows and arrays, so that a store in one changes others; tables of "
            "tracked values do not. Fix: pd.options.mode.copy_on_write = True, which pandas 3 "
            "always has, before the first table is made."
        )
    return Column(array_of(values))


def _number(value: Any) -> Any:
    """Return NaN for what pandas takes for a missing value, and numbers as they are."""
    if isinstance(value, AnyWrapper):
        return value
    return np.nan if value is None or value is pd.NA else value


def _operand(value: Any) -> Any:
    if isinstance(value, Column):
        return value.tracked
    if isinstance(value, extensions.ExtensionArray):
        return value.to_numpy(dtype=np.float64, na_value=np.nan)
    if type(value) is np.ndarray and value.dtype == object and are_numbers(value.flat):
        return array_of(value.ravel()).reshape(value.shape)
    return value


def are_numbers(values: Iterable[Any]) -> bool:
    """Tell if all elements of a column of objects are numbers, tracked or not."""
    return all(isinstance(one, (AnyWrapper, float, int, np.number)) for one in values)


def applied(apply: Callable[..., Any], operands: tuple[Any, ...]) -> Any:
    """Return the result of a function of elements, whose NaN is a missing value, and constant."""
    found = apply(*operands)
    if isinstance(found, TUPLE):
        return tuple(map(_column, found))
    lacks = fixed(xp.isnan(found)) if getattr(found, "ndim", 0) else np.zeros(0, dtype=bool)
    if lacks.any() and lacks.shape == found.shape:
        known = apply(*(xp.where(lacks, 1.0, one) for one in operands))
        found = xp.where(lacks, np.nan, known)
    return _column(found)


def _column(found: Any) -> Any:
    """Return a result: a column of numbers, a plain mask, or one number."""
    if found is NotImplemented or not getattr(found, "ndim", 0):
        return found
    if found.dtype.kind == "b":
        return fixed(found)
    return held(found) if found.ndim == 1 else found


def linear(column: Any, index: Any, apply: Callable[[Any], Any]) -> Any:
    """Apply a linear function of pandas' own, whose matrix is what it gives for unit vectors.

    Which elements are NaN does not depend on the values of the others.
    """
    lacks = column.isna()
    known = xp.where(lacks, np.nan, plain(column.tracked))
    units = xp.where(lacks[:, None], np.nan, np.eye(len(known)))
    rows = np.nan_to_num(apply(pd.DataFrame(units, index=index)).to_numpy())
    is_lost = xp.isnan(apply(pd.Series(known, index=index)).to_numpy())
    return Column(xp.where(is_lost, np.nan, rows @ xp.where(lacks, 0.0, column.tracked)))


def numbers_in(table: Any) -> Any:
    """Return the array of a table among whose columns some hold tracked values; None of others."""
    columns = [table.iloc[:, at].array for at in range(table.shape[1])]
    if not any(type_of(one) is Column for one in columns):
        return None
    if all(getattr(one.dtype, "kind", "O") in NUMBERS for one in columns):
        arrays = list(map(array_of, columns))
        sources = [one for column in columns for one in getattr(column, "sources", ())]
        if len(arrays) == 1:
            return outdated_by(read_only(arrays[0][:, None]), sources)
        return outdated_by(read_only(ours.stack(arrays, axis=1)), [*arrays, *sources])
    made = np.empty(table.shape, dtype=object)
    for at, column in enumerate(columns):
        made[:, at] = column.to_numpy(dtype=object)
    return made


class _Columns:
    """Columns of a table as the source of one array, which cannot be taken from them again."""

    _view = None

    def __init__(self, array: Any, columns: Sequence[Any]) -> None:
        self.array = array
        self.columns = columns

    def __getattr__(self, name: str) -> Any:
        return getattr(self.array, name)  # what the array was made by

    @classmethod
    def _bind(cls, _: Any) -> Any:
        raise TrackedValueError(
            "an array that .to_numpy() or .values gave of a table or its row is read after a store "
            "into the table. Whether pandas shares memory between them depends on how the table "
            "was made. Fix: take .to_numpy(copy=True) for the values before the store, or take the "
            "array again after it."
        )


def note_sources(found: Any, table: Any) -> None:
    """Note in the columns of a row, or of several, from which columns they were taken."""
    sources = [table.iloc[:, at].array for at in range(table.shape[1])]
    is_row = isinstance(found, pd.Series)
    for row in [found] if is_row else [found.iloc[:, at] for at in range(found.shape[1])]:
        if type_of(row.array) is Column:
            row.array.sources = tuple(one.tracked for one in sources if type_of(one) is Column)


def outdated_by(array: Any, sources: Sequence[Any]) -> Any:
    """Let a store into columns of a table make an array outdated that is a copy of their cells."""
    sources = [one for one in sources if isinstance(one, AnyWrapper)]
    if sources and isinstance(array, AnyWrapper) and (how := view_of(array)) is not None:
        as_view(array, _Columns(how.source, sources), how.op, how.statics)
        for one in sources:
            remember(one, array)
    return array


def read_only(array: Any) -> Any:
    """Return a view of a tracked array that refuses writes, as the arrays of tables do."""
    return xp.broadcast_to(array, array.shape) if isinstance(array, AnyWrapper) else array
