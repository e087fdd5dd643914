"""pandas: `Series`, `DataFrame` and `Index` as arrays with labels, entered when it is imported.

An operation of a plain table with a tracked value takes its array, and the result has no labels; in
adapted code, which expects a table, it is one. Columns that are made of tracked values hold them. A
gradient with respect to a `Series` or a `DataFrame` has their labels.
"""

from __future__ import annotations

import functools
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

import gradwrap.numpy as drop_in
from gradwrap.adaptation.after_import import exchange
from gradwrap.adaptation.pandas_views import note_data, noted_array
from gradwrap.adaptation.plain_values import Holder, unheld
from gradwrap.core.array.adapted import adapted_caller
from gradwrap.core.array.attributes import remedies
from gradwrap.core.array.variable import Variable
from gradwrap.core.calls.table_labels import note_product
from gradwrap.core.levels.levels import is_differentiating
from gradwrap.core.levels.modes import is_traced
from gradwrap.core.levels.wrapper import AnyWrapper, is_recorded, native, unwrapped_index
from gradwrap.core.library.labelled import (
    Labelled,
    are_kept,
    attributes,
    keeps_labels,
    labelled,
    unlabelled,
)
from gradwrap.core.observing.callers import advisers
from gradwrap.core.values.dynamic import DICT, SEQUENCE, TUPLE, type_of
from gradwrap.errors import NotAnArrayError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

pd: Any = import_module("pandas")  # it need not be installed where types are checked
PRIORITY = 10_000
"""Above that of all types of pandas, whose operators then leave the call to the wrapper's."""
OF_WINDOWS = "sum mean std var sem min max median skew kurt first last quantile rank apply cov corr"
"""The methods of windows that `pandas_windows` computes for tracked values."""
COLUMNS = "gradwrap.adaptation.pandas_columns"
STORES = "gradwrap.adaptation.pandas_stores"
WINDOWS = "gradwrap.adaptation.pandas_windows"
NO_NUMBERS: Any = pd.Series([], dtype=np.float64)


def enter_pandas(_module: Any) -> None:
    """Let operations take pandas' objects, and let our operators go before pandas' own."""
    variables: Any = Variable
    variables.__pandas_priority__ = property(_priority)
    labelled[pd.Series] = Labelled(_data, _as_series, _axes, _held, _combined, _tracked)
    labelled[pd.DataFrame] = Labelled(_data, _as_frame, _axes, _held, _combined, _tracked)
    missing: Any = import_module("pandas.core.dtypes.missing")
    _exchange(missing, "_isna", _missing)
    for name in ("corr", "cov"):
        _exchange(pd.Series, name, _of_pairs(name))
    engines: Any = import_module("pandas.core.computation.engines")
    _exchange(engines.NumExprEngine, "evaluate", _by_operators(engines.PythonEngine))
    labelled[pd.Index] = Labelled(_data, _as_array, _itself)
    attributes["values"] = lambda variable: variable
    attributes["to_numpy"] = lambda variable: functools.partial(_to_numpy, variable)
    advisers["pandas"] = _advice
    remedies.append(_remedy)
    _let_hold()
    for kind in (pd.Series, pd.DataFrame):
        for name in ("dot", "__matmul__", "__rmatmul__"):
            setattr(kind, name, _product(getattr(kind, name), swapped=name == "__rmatmul__"))


def _priority(variable: Any) -> int | None:
    """Return what tells pandas' operators to leave the call to ours, unless labels are kept."""
    return PRIORITY if keeps_labels((variable, NO_NUMBERS)) is None else None


def _data(value: Any) -> Any:
    """Return the numbers of a pandas object as an array."""
    array = value.to_numpy()
    if array.dtype.kind in "biufc":
        return array
    if isinstance(value, pd.DataFrame):
        names = [name for name, dtype in value.dtypes.items() if dtype.kind not in "biufc"]
        what = f"a DataFrame whose columns {names} do not hold numbers"
        fix = "select columns of numbers, df[['a', 'b']].to_numpy()"
    else:
        what = f"a {type(value).__name__} of dtype {value.dtype}, which does not hold numbers"
        fix = "codes, names = pd.factorize(series) makes numbers of names"
    raise NotAnArrayError(f"an operation with a tracked value got {what}. Fix: {fix}.")


def _combined(apply: Callable[..., Any], operands: Sequence[Any]) -> Any:
    """The result of an operator with the labels of a table that holds tracked values."""
    like = next(one for one in operands if isinstance(one, (pd.Series, pd.DataFrame)))
    found = _columns().applied(apply, tuple(unlabelled(operands)))
    if np.shape(found) != like.shape:
        return found
    if isinstance(like, pd.Series):
        return pd.Series(found, index=like.index, name=like.name)
    return pd.DataFrame(found, index=like.index, columns=like.columns)


def _tracked(value: Any) -> Any:
    """The array of a table whose columns hold tracked values, or None."""
    return _data(value) if _holds(value) else None


def _axes(value: Any) -> Any:
    """The labels of the axes of a table."""
    return value.axes


def _itself(index: Any) -> Any:
    """The labels of the one axis of an index."""
    return (index,)


def _as_array(array: Any, _: Any) -> Any:
    """An array that gets no labels."""
    return array


def _as_series(array: Any, like: Any) -> Any:
    if np.shape(array) != like.shape:
        return array
    return pd.Series(np.asarray(array), index=like.index, name=like.name)


def _as_frame(array: Any, like: Any) -> Any:
    if np.shape(array) != like.shape:
        return array
    return pd.DataFrame(np.asarray(array), index=like.index, columns=like.columns)


def _product(native: Callable[..., Any], *, swapped: bool) -> Callable[..., Any]:
    """Wrap a product of pandas so that it leaves tracked operands to our operators."""

    @functools.wraps(native)
    def product(self: Any, other: Any) -> Any:
        if isinstance(other, SEQUENCE) and is_recorded(other):
            other = drop_in.asarray(other)
        if isinstance(self, pd.DataFrame) and isinstance(other, pd.Series) and _holds(other):
            if swapped or {*self.columns} != {*other.index}:
                return native(self, other)  # it raises an error
            found = _data(self) @ _data(other.reindex(self.columns))
            return pd.Series(found, index=self.index)
        if not isinstance(other, AnyWrapper):
            return native(self, other)
        mine, theirs = unlabelled((self, other))
        found = theirs @ mine if swapped else mine @ theirs
        note_product(found, self, swapped=swapped)
        return found

    return product


def _to_numpy(variable: Any, dtype: Any = None, copy: bool = False) -> Any:
    """Convert as the method `to_numpy` of a `Series` or `DataFrame` does."""
    return variable if dtype is None and not copy else variable.astype(dtype or variable.dtype)


def _advice(_: Any) -> str:
    return (
        "this part of pandas needs plain numbers: take those of a table by .to_numpy(), as in "
        "df[['a', 'b']].to_numpy() @ w, and compute with arrays. Or pass .detach() if no gradient "
        "is wanted."
    )


def _remedy(name: str) -> str:
    """Return advice for an attribute of pandas' objects that a wrapper lacks."""
    if name.startswith("_") or not (hasattr(pd.Series, name) or hasattr(pd.DataFrame, name)):
        return ""
    return (
        f". Fix: a tracked value has no labels. Compute what needs {name} of a Series or a "
        "DataFrame outside of the function that is differentiated, and pass it .to_numpy()."
    )


# Tables that hold tracked values ------------------------------------------------------------------


def _columns() -> Any:
    """Return the module of the columns, which is loaded for the first tracked value."""
    return import_module(COLUMNS)


def _let_hold() -> None:
    """Let tables be made of tracked values, take them, and give their arrays."""
    _exchange(pd.Series, "__init__", _made)
    for kind in (pd.Series, pd.DataFrame):
        _exchange(kind, "__setitem__", _stored)
    _exchange(pd.Series, "_cmp_method", _compared)
    _exchange(pd.Series, "_arith_method", _computed)
    for kind, name in ((pd.Series, "_reduce"), (pd.DataFrame, "_reduce"), (pd.DataFrame, "astype")):
        _exchange(kind, name, _by_numbers)
    _exchange(pd.DataFrame, "__init__", _made_of_columns)
    for name in ("_arith_method", "_cmp_method", "_logical_method"):
        _exchange(pd.DataFrame, name, _computed_by_column)
    _exchange(pd.DataFrame, "__array_ufunc__", _applied_to_several)
    _exchange(pd.DataFrame, "insert", _inserted)
    _exchange(pd.DataFrame, "isetitem", _stored)
    _exchange(pd.DataFrame, "_where", _chosen_where)  # of a series, too
    _exchange(pd.DataFrame, "clip", _clipped)  # of a series, too
    _exchange(pd.DataFrame, "to_numpy", _converted)
    _exchange(pd.Series, "to_numpy", _noted)
    _exchange(pd.DataFrame, "apply", _applied_to_rows)
    of_labels: Any = type_of(pd.Series([0.0]).loc)
    of_dates: Any = pd.DatetimeIndex
    for kind in (pd.Series, pd.DataFrame, of_labels, pd.Index, of_dates, pd.MultiIndex):
        _exchange(kind, "__getitem__", _taken_by_plain_keys)
    _let_choose()


def _let_choose() -> None:
    """Let rows, windows and groups of such tables be taken, and their values be asked for."""
    for name in ("_ixs", "xs", "transpose"):
        _exchange(pd.DataFrame, name, _of_rows)
    for name in ("loc", "at", "iat"):  # `iloc` has the method of `loc`
        _exchange(type(getattr(pd.Series([0.0]), name)), "__setitem__", _stored)
    kinds: Any = pd.api.typing
    for kind in (kinds.Rolling.__mro__[1], kinds.Window, kinds.ExponentialMovingWindow):
        for name in OF_WINDOWS.split():
            if name in vars(kind):
                _exchange(kind, name, _of_windows(name))
    _exchange(pd.DataFrame, "corr", _of_all_pairs)
    _exchange(pd.DataFrame, "sort_values", _sorted)
    _exchange(pd.Series, "transform", _transformed)
    _exchange(pd.DataFrame, "iterrows", _rows_of)
    _exchange(pd, "cut", _put_into_bins)
    _exchange(kinds.DataFrameGroupBy, "quantile", _of_groups)
    _exchange(kinds.DataFrameGroupBy, "apply", _applied_to_groups)
    for kind in (pd.Series, pd.DataFrame):
        _exchange(kind, "groupby", _grouped)
        for name in ("nlargest", "nsmallest", "drop_duplicates"):
            _exchange(kind, name, _chosen_by_values)
        for name in ("idxmax", "idxmin", "rank", "duplicated", "nunique"):
            _exchange(kind, name, _by_values)
        _exchange(kind, "__array__", _as_an_array)
        kind.values = property(_converted(kind.values.fget), doc=kind.values.__doc__)
    for kind, name in ((pd.Series, "dtype"), (pd.Series, "dtypes"), (pd.DataFrame, "dtypes")):
        shown = getattr(kind, name)
        setattr(kind, name, property(_shown(shown.fget), doc=shown.__doc__))


def _exchange(kind: Any, name: str, make: Callable[[Any], Any]) -> None:
    """Put a function around a method, in the class that defines it, or around one of a module."""
    owner = next((base for base in getattr(kind, "__mro__", [kind]) if name in vars(base)), None)
    exchange(owner, name, lambda method: functools.wraps(method)(make(method)))


def _made(init: Any) -> Any:
    """Make a series of tracked numbers."""

    def made(self: Any, data: Any = None, index: Any = None, *args: Any, **options: Any) -> Any:
        if is_differentiating() and _has_tracked(data):
            if isinstance(data, DICT):
                data = pd.Series(_held([*data.values()]), index=[*data])
            data = _held(data, None if index is None else len(index))
        elif options.get("copy") is False:
            note_data(data)
        init(self, _untracked(data), index, *args, **options)

    return made


def _made_of_columns(init: Any) -> Any:
    """Make a table of tracked numbers, given by columns, by rows or as an array."""

    def made(
        self: Any, data: Any = None, index: Any = None, columns: Any = None, **options: Any
    ) -> None:
        data = unheld(data) if isinstance(data, Holder) else data
        is_of_series = isinstance(data, SEQUENCE) and all(isinstance(v, pd.Series) for v in data)
        if is_of_series and is_differentiating() and _holds_in(data):
            names = [one.name for one in data]
            if index is None and any(name is not None for name in names):
                index = [at if name is None else name for at, name in enumerate(names)]
            data = [dict(one.items()) for one in data]
        if not (is_differentiating() and _has_tracked(data)):
            if options.get("copy") is False:
                note_data(data)
            init(self, _untracked(data), index, columns, **options)
            return
        names = columns
        if isinstance(data, AnyWrapper) or not isinstance(data, DICT):
            rows = [*data] if isinstance(data, SEQUENCE) or data.ndim > 1 else [[v] for v in data]
            if not (isinstance(rows[0], (*SEQUENCE, DICT, pd.Series)) or np.ndim(rows[0])):
                rows = [[one] for one in rows]
            data = _by_column(rows)
            columns = None if not isinstance(rows[0], DICT) else columns
        lengths = [len(one) for one in data.values() if hasattr(one, "__len__")]
        length = len(index) if index is not None else next(iter(lengths), None)
        data = {name: _held(one, length) for name, one in data.items()}
        init(self, data, index, columns, **options)
        if names is not None and columns is None:
            self.columns = names

    return made


def _by_column(rows: list[Any]) -> dict[Any, list[Any]]:
    if isinstance(rows[0], DICT):
        names = dict.fromkeys(name for row in rows for name in row)
        return {name: [row.get(name, np.nan) for row in rows] for name in names}
    return dict(enumerate(map(list, zip(*rows, strict=True))))


def _stored(store: Any) -> Any:
    """Store tracked values in a table, by its method or that of `loc`, `iloc`, `at` or `iat`."""

    def stored(self: Any, key: Any, value: Any) -> Any:
        table = self if isinstance(self, (pd.Series, pd.DataFrame)) else self.obj
        if not (_has_tracked(value) or _holds_in(value) or _holds(table)):
            return store(self, key, _untracked(value))
        stores = import_module(STORES)
        key = stores.plain_key(key, table)

        def store_codes(codes: Any, cells: Any) -> None:
            store(codes if table is self else _indexer_of(codes, self), key, cells)

        return _update(table, stores.placed(table, _untracked(value), store_codes))

    return stored


def _indexer_of(table: Any, like: Any) -> Any:
    """Return `loc`, `iloc`, `at` or `iat` of another table."""
    made = type_of(like)(like.name, table)
    if getattr(like, "axis", None) is not None:
        made.axis = like.axis
    return made


def _update(table: Any, made: Any) -> None:
    table._update_inplace(made)  # noqa: SLF001  there is no public name for it


def _taken_by_plain_keys(take: Any) -> Any:
    """Take elements by masks and places that code has computed, which are constants.

    In a trace, all of them are one branch of the program.
    """

    def in_trace(key: Any) -> Any:
        if isinstance(key, TUPLE):
            return tuple(map(in_trace, key))
        return np.asarray(unwrapped_index(key))[()] if isinstance(key, AnyWrapper) else key

    def taken(self: Any, key: Any) -> Any:
        if not isinstance(key, (AnyWrapper, TUPLE)):
            return take(self, key)
        return take(self, in_trace(key) if is_traced() else unwrapped_index(key))

    return taken


def _inserted(insert: Any) -> Any:
    def inserted(self: Any, loc: Any, column: Any, value: Any, *args: Any, **options: Any) -> Any:
        if not (_has_tracked(value) or _holds_in(value)):
            return insert(self, loc, column, _untracked(value), *args, **options)

        def insert_codes(codes: Any, cells: Any) -> None:
            insert(codes, loc, column, cells, *args, **options)

        return _update(self, import_module(STORES).placed(self, value, insert_codes))

    return inserted


def _chosen_where(where: Any) -> Any:
    """Choose between the cells of a table and others, of which some are tracked."""

    def chosen(
        self: Any,
        cond: Any,
        other: Any = np.nan,
        inplace: bool = False,
        *along: Any,
        **options: Any,
    ) -> Any:
        options.update(zip(("axis", "level"), along, strict=False))  # by position in pandas 2
        if not (_has_tracked(other) or _holds_in(other) or _holds(self)):
            return where(self, cond, _untracked(other), inplace=inplace, **options)
        stores = import_module(STORES)
        cond = stores.plain_key(cond, self)
        other = np.nan if other is pd.api.extensions.no_default else _untracked(other)

        def choose(codes: Any, cells: Any) -> Any:
            found = where(codes, cond, cells, inplace=inplace, **options)
            return None if inplace else found

        made = stores.placed(self, other, choose, in_place=inplace)
        if not inplace:
            return self._constructor(made).__finalize__(self)
        _update(self, made)
        return self

    return chosen


def _clipped(clip: Any) -> Any:
    """Return `clip`, which takes the smaller of two tracked numbers as the lower bound."""

    def clipped(self: Any, lower: Any = None, upper: Any = None, **options: Any) -> Any:
        bounds = lower, upper
        if is_recorded(bounds) and all(one is not None and np.shape(one) == () for one in bounds):
            lower, upper = (upper, lower) if lower > upper else bounds
        return clip(self, lower, upper, **options)

    return clipped


def _is_of_floats(dtype: Any) -> bool:
    return issubclass(type_of(dtype), np.dtype) and dtype.kind in "fc"


def _compared(compare: Any) -> Any:
    """Compare a series with a tracked value, by its numbers."""

    def compared(self: Any, other: Any, op: Any) -> Any:
        if isinstance(other, AnyWrapper) and other.ndim < 2:
            found = _columns().fixed(op(self.to_numpy(), other))
            return pd.Series(found, index=self.index, name=self.name)
        return compare(self, other, op)

    return compared


def _computed(compute: Any) -> Any:
    """Combine a series with tracked values as a column that holds such, which knows of NaN."""

    def computed(self: Any, other: Any, op: Any) -> Any:
        if isinstance(other, AnyWrapper) and is_recorded(other):
            if _is_of_floats(self.dtype):
                column = _columns().held(self.to_numpy())
                self = pd.Series(column, index=self.index, name=self.name)
            self = _of_numbers(self)
        return compute(self, other, op)

    return computed


def _by_numbers(method: Any) -> Any:
    """Let columns of objects, among which are tracked numbers, be columns of such numbers."""

    def called(self: Any, *args: Any, **options: Any) -> Any:
        if is_differentiating() and self.ndim == 1:
            self = _of_numbers(self)
        elif is_differentiating() and np.dtype(object) in [*self.dtypes]:
            columns = [_of_numbers(self.iloc[:, at]) for at in range(self.shape[1])]
            if any(map(_holds, columns)):
                names = self.columns
                self = pd.DataFrame(dict(enumerate(columns)), index=self.index)
                self.columns = names
        return method(self, *args, **options)

    return called


def _of_numbers(series: Any) -> Any:
    """Return a series of objects that are numbers, some of them tracked, as one that holds such."""
    if series.dtype != object:
        return series
    values = [*series.array]
    if not is_recorded(values) or not _columns().are_numbers(values):
        return series
    return pd.Series(_columns().held(values), index=series.index, name=series.name)


def _computed_by_column(compute: Any) -> Any:
    """Combine a table with a tracked array column by column; pandas would join the columns."""

    def computed(self: Any, other: Any, op: Any) -> Any:
        if not (isinstance(other, AnyWrapper) and is_recorded(other)):
            return compute(self, _untracked(other), op)
        columns = {}
        for at in range(self.shape[1]):
            one = np.broadcast_to(other, self.shape)[:, at] if other.ndim else other
            columns[at] = op(self.iloc[:, at], one)
        made = pd.DataFrame(columns, index=self.index)
        made.columns = self.columns
        return made

    return computed


def _applied_to_several(apply: Any) -> Any:
    """Apply a function of elements to a table of tracked numbers and others, by their arrays."""

    def applied(self: Any, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        tables = [one for one in inputs if isinstance(one, (pd.Series, pd.DataFrame))]
        is_of_frames = self.ndim > 1 and all(
            one.ndim > 1 and one.index.equals(self.index) and one.columns.equals(self.columns)
            for one in tables
        )
        is_call = method == "__call__" and not options
        if is_of_frames and is_call and len(inputs) > 1 and any(map(_holds, tables)):
            return _combined(ufunc, inputs)
        return apply(self, ufunc, method, *inputs, **options)

    return applied


def _shown(get: Any) -> Any:
    """Show adapted code the dtype of the numbers that a column holds, not of the column."""

    def shown(self: Any) -> Any:
        found: Any = get(self)
        if issubclass(type_of(found), np.dtype) or adapted_caller() is None:
            return found
        if not isinstance(found, pd.Series):
            return _dtype_of_numbers(found)
        return pd.Series([*map(_dtype_of_numbers, found)], found.index, dtype=object)

    return shown


def _dtype_of_numbers(dtype: Any) -> Any:
    return dtype.numpy_dtype if hasattr(dtype, "holds_tracked") else dtype


def _converted(convert: Any) -> Any:
    """Give the array of a table, or of tracked numbers."""

    def converted(self: Any, *args: Any, **options: Any) -> Any:
        if isinstance(self, pd.Series):
            found = convert(self, *args, **options)
            return found.to_numpy() if hasattr(found, "tracked") else noted_array(found)
        found = _columns().numbers_in(self) if _holds(self) else None
        if found is None:
            return noted_array(convert(self, *args, **options))
        given = dict(zip(("dtype", "copy"), args, strict=False)) | options
        dtype, copy = given.get("dtype"), given.get("copy", False)
        if dtype is not None and np.dtype(dtype) != found.dtype:
            return found.astype(dtype)
        return found.copy() if copy else found

    return converted


def _noted(convert: Any) -> Any:
    def noted(self: Any, *args: Any, **options: Any) -> Any:
        return noted_array(convert(self, *args, **options))

    return noted


def _of_rows(take: Any) -> Any:
    """Note the columns that a row, or a table of rows as columns, was taken from."""

    def taken(self: Any, *args: Any, **options: Any) -> Any:
        found = take(self, *args, **options)
        is_column = options.get("axis", args[1] if len(args) > 1 else 0) in (1, "columns")
        is_of_rows = isinstance(self, pd.DataFrame) and not is_column
        if is_of_rows and is_differentiating() and _holds_in(found):
            _columns().note_sources(found, self)
        return found

    return taken


def _applied_to_rows(apply: Any) -> Any:
    """Apply a function to the rows of a table of tracked values, which pandas makes of objects."""

    def applied(self: Any, func: Any, axis: Any = 0, **options: Any) -> Any:
        is_rows = axis in (1, "columns") and callable(func) and options.keys() <= {"args"}
        if not (is_rows and len(self) and is_differentiating() and _holds(self)):
            return apply(self, func, axis, **options)
        given: tuple[Any, ...] = options.get("args", ())
        found: list[Any] = [func(self.iloc[at], *given) for at in range(len(self))]
        if isinstance(found[0], pd.Series):
            return pd.DataFrame([dict(row.items()) for row in found], index=self.index)
        return pd.Series(found, index=self.index)

    return applied


def _rows_of(iterrows: Any) -> Any:
    """Give the rows that a table had before code stores into it, which pandas copies."""

    def rows(self: Any) -> Any:
        is_copied = is_differentiating() and _holds(self) and not _columns().SHARES
        return iterrows(self.copy() if is_copied else self)

    return rows


def _grouped(groupby: Any) -> Any:
    """Group by numbers that code has computed, which are constants."""

    def grouped(self: Any, by: Any = None, *args: Any, **options: Any) -> Any:
        is_whole = isinstance(by, AnyWrapper) and by.dtype.kind in "biu"
        return groupby(self, _columns().fixed_numbers(by) if is_whole else by, *args, **options)

    return grouped


def _put_into_bins(cut: Any) -> Any:
    """Sort tracked numbers into bins whose ends are given, which are constants."""

    def bins_of(x: Any, bins: Any, *args: Any, **options: Any) -> Any:
        if is_differentiating() and np.ndim(bins) == 1 and not _has_tracked(bins):
            if isinstance(x, pd.Series) and _holds(x):
                x = pd.Series(_columns().between(x.to_numpy(), bins), x.index, name=x.name)
            elif _has_tracked(x):
                x = _columns().between(_columns().held(x).to_numpy(), bins)
        return cut(x, bins, *args, **options)

    return bins_of


def _applied_to_groups(apply: Any) -> Any:
    """Apply a function to groups; join series of tracked numbers, which are rows of a table."""

    def applied(self: Any, func: Any, *args: Any, **options: Any) -> Any:
        if not (callable(func) and is_differentiating() and _holds(self.obj)):
            return apply(self, func, *args, **options)
        rows: list[Any] = []

        def of_group(group: Any, *more: Any, **given: Any) -> Any:
            found: Any = func(group, *more, **given)
            is_row = isinstance(found, pd.Series) and not found.index.equals(group.index)
            if not (is_row and (_holds(found) or _has_tracked([*found]))):
                return found
            rows.append(found)
            return float(len(rows) - 1)

        made = apply(self, of_group, *args, **options)
        if not rows:
            return made
        if not (isinstance(made, pd.Series) and len(made) == len(rows)):
            raise NotAnArrayError(
                "groupby(...).apply(f) got series of tracked numbers from f for some groups only, "
                "or with as_index=False. Fix: return a series for each group, or a table."
            )
        if all(one.index.equals(rows[0].index) for one in rows):
            columns = {name: [row[name] for row in rows] for name in rows[0].index}
            return pd.DataFrame(columns, index=made.index).rename_axis(columns=rows[0].index.name)
        return pd.concat(rows, keys=made.index)

    return applied


def _of_windows(name: str) -> Callable[[Any], Any]:
    """Compute a method of windows that have tracked values."""

    def make(method: Any) -> Any:
        def computed(self: Any, *args: Any, **options: Any) -> Any:
            tables = (self._selected_obj, *args, *options.values())
            if is_differentiating() and any(map(_holds_in, tables)):
                windows = import_module(WINDOWS)
                if windows.has_method(self, name, *args, **options):
                    return windows.of_columns(self, name, *args, **options)
            return method(self, *args, **options)

        return computed

    return make


def _of_groups(quantile: Any) -> Any:
    """Compute a quantile of each group."""

    def computed(self: Any, q: Any = 0.5, interpolation: str = "linear", **options: Any) -> Any:
        if options or np.ndim(q) or not (is_differentiating() and _holds_in(self.obj)):
            return quantile(self, q, interpolation, **options)

        def reduce(group: Any) -> Any:
            return group.quantile(q, interpolation)

        return self.agg(reduce)

    return computed


def _missing(isna: Any) -> Any:
    """Tell of tracked values, too, if they are NaN."""

    def missing(obj: Any) -> Any:
        return _columns().fixed(np.isnan(obj)) if isinstance(obj, AnyWrapper) else isna(obj)

    return missing


def _by_operators(engine: Any) -> Callable[[Any], Any]:
    """Compute an expression of `pd.eval` by Python's operators, if it names tracked values."""

    def make(evaluate: Any) -> Any:
        def evaluated(self: Any) -> Any:
            if is_differentiating():
                scope = self.expr.env.full_scope
                values = [scope.get(name) for name in self.expr.names]
                if _has_tracked(values) or _holds_in(values):
                    return engine(self.expr).evaluate()
            return evaluate(self)

        return evaluated

    return make


def _of_pairs(name: str) -> Callable[[Any], Any]:
    """Compute a covariance or a correlation of two series, of which one is tracked."""

    def make(method: Any) -> Any:
        def of_pairs(self: Any, other: Any, *args: Any, **options: Any) -> Any:
            is_plain = not any(map(_holds, (self, other))) or not is_differentiating()
            if is_plain or args or options.keys() - {"ddof"}:
                return method(self, other, *args, **options)
            pairs = [one.array for one in self.align(other, join="inner")]
            is_there = ~np.logical_or(*map(pd.isna, pairs))
            x, y = (unlabelled([pd.Series(one)])[0][is_there] for one in pairs)
            measure: Any = np.corrcoef if name == "corr" else np.cov
            return measure(x, y, **options)[0, 1]

        return of_pairs

    return make


def _of_all_pairs(corr: Any) -> Any:
    """Compute the correlations of the columns of a table, pair by pair; ranks are constants."""

    def of_all_pairs(
        self: Any, method: Any = "pearson", min_periods: int = 1, numeric_only: bool = False
    ) -> Any:
        given = (method, min_periods, numeric_only)
        if not (is_differentiating() and _holds(self)):
            return corr(self, *given)
        if method in ("spearman", "kendall"):
            return corr(_known(self), *given)
        if method != "pearson" or min_periods > 1:
            return corr(self, *given)
        table = self.select_dtypes("number") if numeric_only else self
        columns = [table.iloc[:, at] for at in range(table.shape[1])]
        found = [[one.corr(other) for other in columns] for one in columns]
        return pd.DataFrame(found, index=table.columns, columns=table.columns)

    return of_all_pairs


def _known(table: Any) -> Any:
    """Return a table or series with plain numbers in place of tracked ones, whose order counts."""
    if isinstance(table, pd.Series):
        return _known(table.to_frame()).iloc[:, 0].rename(table.name)
    columns = {at: _columns().ordered(table.iloc[:, at].to_numpy()) for at in range(table.shape[1])}
    known = pd.DataFrame(columns, index=table.index)
    known.columns = table.columns
    return known


def _by_values(method: Any) -> Any:
    """Return labels, ranks or truths, which depend on the order of the values alone."""

    def found(self: Any, *args: Any, **options: Any) -> Any:
        is_held = is_differentiating() and _holds_in(self)  # an index has such methods, too
        return method(_known(self) if is_held else self, *args, **options)

    return found


def _chosen_by_values(choose: Any) -> Any:
    """Take the rows that pandas chooses by the values of tracked numbers."""

    def chosen(
        self: Any, *args: Any, inplace: bool = False, ignore_index: bool = False, **options: Any
    ) -> Any:
        more = {"inplace": inplace, "ignore_index": ignore_index}
        given = options | {name: one for name, one in more.items() if one}
        if not (is_differentiating() and _holds(self)):
            return choose(self, *args, **given)
        rows = _known(self).set_axis(range(len(self)))
        made = self.iloc[choose(rows, *args, **options).index]
        made = made.reset_index(drop=True) if ignore_index else made
        return _update(self, made) if inplace else made

    return chosen


def _sorted(sort: Any) -> Any:
    """Sort rows by the values of several columns; pandas sorts by one as it sorts a series."""

    def ordered(self: Any, by: Any, **options: Any) -> Any:
        is_of_columns = isinstance(by, SEQUENCE) and set(by) <= {*self.columns}
        along = options.get("axis", 0)
        chosen = _chosen_by_values(sort) if is_of_columns and along in (0, "index") else sort
        return chosen(self, by, **options)

    return ordered


def _transformed(transform: Any) -> Any:
    """Apply a function to each number of a series, or to all if it does not take plain numbers."""

    def transformed(self: Any, func: Any, *args: Any, **options: Any) -> Any:
        if callable(func) and not args and not options and is_differentiating() and _holds(self):
            plain = pd.Series(_columns().plain(self.to_numpy()), index=self.index, name=self.name)
            try:
                plain.apply(func)
            except Exception:  # noqa: BLE001  as pandas does
                return func(self)
        return transform(self, func, *args, **options)

    return transformed


def _holds(table: Any) -> bool:
    """Tell if a table has a column that holds tracked values."""
    if COLUMNS not in sys.modules:
        return False
    dtypes = [table.dtype] if isinstance(table, pd.Series) else [*table.dtypes]
    return any(hasattr(one, "holds_tracked") for one in dtypes)


def _holds_in(value: Any) -> bool:
    """Tell if a value is a table that holds tracked values, or one among its contents is."""
    if isinstance(value, (pd.Series, pd.DataFrame)):
        return _holds(value)
    if isinstance(value, DICT):
        return any(map(_holds_in, value.values()))
    if isinstance(value, SEQUENCE):
        return any(map(_holds_in, value))
    return COLUMNS in sys.modules and isinstance(value, _columns().Column)


def _as_an_array(convert: Any) -> Any:
    """Give a tracked array to adapted code, whose functions take it."""

    def converted(self: Any, *args: Any, **options: Any) -> Any:
        found = self.to_numpy() if are_kept.get() and is_differentiating() else None
        if isinstance(found, AnyWrapper):
            return found
        return noted_array(convert(self, *args, **options))

    return converted


def _has_tracked(data: Any) -> bool:
    """Tell if a value is tracked, or if one among the contents of a column is.

    In a trace, all floats count as such: they may be others in each call.
    """
    if isinstance(data, AnyWrapper):
        return is_recorded(data) or (is_traced() and data.dtype.kind == "f")
    if isinstance(data, DICT):
        return any(map(_has_tracked, data.values()))
    return isinstance(data, SEQUENCE) and any(map(_has_tracked, data))


def _untracked(data: Any) -> Any:
    """Return the plain array of one without a gradient, and other values as they are.

    In a trace, it is compared in each call, or refused.
    """
    return (
        np.asarray(native(data)) if isinstance(data, AnyWrapper) and not is_recorded(data) else data
    )


def _held(data: Any, length: int | None = None) -> Any:
    """Return a column that holds tracked numbers, or one of them `length` times."""
    if not _has_tracked(data):
        return _untracked(data)
    if isinstance(data, AnyWrapper) and not data.ndim and length is not None:
        data = data * np.ones(length)
    is_numbers = isinstance(data, AnyWrapper) or not any(isinstance(v, str) for v in data)
    return _columns().held(data) if is_numbers else data
