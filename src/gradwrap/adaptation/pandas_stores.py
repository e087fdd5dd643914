"""Stores of tracked values into tables of pandas, at the places that pandas itself chooses.

pandas places numbers by rules of its own: by label or position, by rows or columns, with or without
alignment. So it gets numbers that stand for the cells, in a table of such numbers. What it makes of
them tells which cell of the table or of the value each cell of the result is.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.adaptation.pandas_columns import Column, Dtype, fixed, held
from gradwrap.adaptation.pandas_views import refuse_shown
from gradwrap.core.levels.wrapper import AnyWrapper
from gradwrap.core.values.dynamic import DICT, SEQUENCE, TUPLE, type_of
from gradwrap.errors import TrackedValueError

if TYPE_CHECKING:
    from collections.abc import Callable

xp: Any = np
pd: Any = import_module("pandas")  # it need not be installed where types are checked


class _Cells:
    """The cells of a table and a value, by the numbers that stand for them."""

    def __init__(self, table: Any) -> None:
        self.parts: list[Any] = []
        """One series for each column or array."""
        self.starts: list[int] = [0]
        self.table: Any = table
        self.codes: Any = self.of(table)
        self.count: int = len(self.parts)
        """How many columns the table has."""

    def of(self, value: Any) -> Any:
        """Return a value of the same form with the numbers of its cells."""
        if isinstance(value, pd.DataFrame):
            return self._of_frame(value)
        if isinstance(value, pd.Series):
            codes = self._of_column(value)
            return pd.Series(codes, index=value.index, name=value.name, dtype=np.float64)
        if isinstance(value, DICT):
            return {key: self.of(one) for key, one in value.items()}
        if isinstance(value, SEQUENCE):
            return self._of_sequence(value)
        if np.ndim(value) and hasattr(value, "dtype"):
            shape = np.shape(value)
            return self._of_column(value.reshape(-1) if len(shape) > 1 else value).reshape(shape)
        return float(self._of_column([value])[0])

    def _of_frame(self, frame: Any) -> Any:
        """Return a table of one block for one of one dtype; pandas has other rules for several."""
        columns = [self._of_column(frame.iloc[:, at]) for at in range(frame.shape[1])]
        if len({_numpys(dtype) for dtype in frame.dtypes}) == 1:
            return pd.DataFrame(np.stack(columns, 1), index=frame.index, columns=frame.columns)
        made = pd.DataFrame(dict(enumerate(columns)), index=frame.index, copy=False)
        made.columns = frame.columns
        return made

    def _of_sequence(self, value: Any) -> Any:
        made: Any = tuple if isinstance(value, TUPLE) else list
        if any(isinstance(one, (*SEQUENCE, DICT)) or np.ndim(one) for one in value):
            return made(map(self.of, value))
        return made(self._of_column(value).tolist())

    def _of_column(self, value: Any) -> Any:
        if isinstance(value, AnyWrapper) or (
            isinstance(value, SEQUENCE) and not any(isinstance(one, str) for one in value)
        ):
            value = held(value) if any(isinstance(one, AnyWrapper) for one in value) else value
        self.parts.append(pd.Series(value).reset_index(drop=True))
        start = self.starts[-1]
        self.starts.append(start + len(value))
        return np.arange(start, self.starts[-1], dtype=np.float64)

    def column(self, codes: Any) -> tuple[Any, list[int]]:
        """Return a column of the cells that some numbers stand for, and their parts."""
        codes = np.asarray(codes, dtype=np.float64)
        places, start = np.full(len(codes), -1), 0
        found: list[Any] = []
        of_part = xp.searchsorted(self.starts, codes, side="right") - 1
        of_part[np.isnan(codes)] = -1
        parts = [int(one) for one in xp.unique(of_part) if one >= 0]
        for at in parts:
            part, chosen = self.parts[at], of_part == at
            rows = (codes[chosen] - self.starts[at]).astype(np.intp)
            if len(rows) == len(codes) == len(part) and (rows == np.arange(len(part))).all():
                return part, parts
            found.append(part.iloc[rows])
            places[chosen] = np.arange(start, start + len(rows))
            start += len(rows)
        return _joined(found).reindex(places), parts


def _numpys(dtype: Any) -> Any:
    """Return a dtype; of a column that holds tracked values, that of its array."""
    return getattr(dtype, "numpy_dtype", dtype)


def _joined(found: list[Any]) -> Any:
    """Join parts of a column, all floats with the dtype of the first, which is the table's."""
    if not found:
        return pd.Series([], dtype=np.float64)
    dtype = _numpys(found[0].dtype)
    if getattr(dtype, "kind", "O") in "fc":
        for at, part in enumerate(found):
            own = _numpys(part.dtype)
            if own != dtype and getattr(own, "kind", "O") == dtype.kind:
                found[at] = part.astype(Dtype(dtype) if type_of(part.array) is Column else dtype)
    return pd.concat(found, ignore_index=True)


def placed(
    table: Any, value: Any, store: Callable[[Any, Any], Any], *, in_place: bool = True
) -> Any:
    """Return a table with the cells of a value where `store` puts them.

    `store` gets the table and the value with numbers in place of their cells, and returns a table,
    or None where it has changed the one that it was given.

    Raises
    ------
    TrackedValueError
        Tracked values would be beside whole numbers or texts of a column of the table.
    """
    is_own = in_place and not any(one.refs.has_reference() for one in table._mgr.blocks)  # noqa: SLF001  there is no public name
    cells = _Cells(table)
    before = [one.to_numpy() for one in _columns(cells.codes)]
    found = store(cells.codes, cells.of(value))
    found = cells.codes if found is None else found
    is_kept = in_place and len(found) == len(table)
    codes = _columns(found)
    columns = [_column(cells, one, is_kept) for one in codes]
    if is_own and is_kept and len(codes) >= len(before):
        _write(
            table, columns, [np.shares_memory(*pair) for pair in zip(before, codes, strict=False)]
        )
    if isinstance(found, pd.Series):
        return _series(columns[0], found.index, copy=not is_own).rename(found.name)
    for at, one in enumerate(columns):
        if getattr(_numpys(one.dtype), "kind", "") == "O":
            columns[at] = _series(one, found.index)
    made = pd.DataFrame(dict(enumerate(columns)), index=found.index, copy=not is_own)
    made.columns = found.columns
    return made


def _series(column: Any, index: Any, *, copy: bool = False) -> Any:
    """Return a series of a column; of objects, that are texts perhaps, one of objects."""
    dtype = object if getattr(_numpys(column.dtype), "kind", "") == "O" else None
    return pd.Series(column, index=index, dtype=dtype, copy=copy)


def _columns(table: Any) -> list[Any]:
    """Return the columns of a table, or the one that a series is."""
    if isinstance(table, pd.Series):
        return [table]
    return [table.iloc[:, at] for at in range(table.shape[1])]


def _write(table: Any, columns: list[Any], are_written: list[bool]) -> None:
    """Write the new columns into the arrays of the old ones where pandas does so.

    Arrays of the columns from before change, too.
    """
    for at, (series, is_written) in enumerate(zip(_columns(table), are_written, strict=False)):
        old, new = series._values, columns[at]  # noqa: SLF001  the array itself, to be written
        is_held = Column in (type_of(old), type_of(new))
        if is_written and _numpys(new.dtype) == _numpys(old.dtype):
            target, cells = (getattr(one, "tracked", one) for one in (old, new))
            if type_of(new) is Column and isinstance(old, np.ndarray):
                refuse_shown(old, series.name)
            if not isinstance(target, AnyWrapper if is_held else np.ndarray):
                continue
            if cells is not target:
                target[...] = cells
            columns[at] = old


def _column(cells: _Cells, codes: Any, is_kept: bool) -> Any:
    """Return the cells of a column; refuse tracked ones in a part of one that cannot hold them."""
    column, parts = cells.column(codes)
    if is_kept and parts and parts[0] < cells.count:
        own, table = cells.parts[parts[0]].dtype, cells.table
        is_new = [type_of(cells.parts[at].array) is Column for at in parts if at >= cells.count]
        if any(is_new) and getattr(_numpys(own), "kind", "O") not in "fcO":
            name = table.name if isinstance(table, pd.Series) else table.columns[parts[0]]
            raise TrackedValueError(
                f"a tracked value was stored in a part of the column {name!r} of a table, whose "
                f"dtype {own} has no gradients. Fix: make it a column of floats before, by "
                ".astype(float)."
            )
    is_of_value = bool(parts) and parts[0] >= cells.count
    return column.array.copy() if is_of_value else column.array  # the value keeps its own


def plain_key(key: Any, table: Any) -> Any:
    """Return a key of a store as pandas takes it, with functions of the table called."""
    if isinstance(key, TUPLE):
        return tuple(plain_key(one, table) for one in key)
    if callable(key):
        return plain_key(key(table), table)
    return fixed(key) if isinstance(key, AnyWrapper) and key.dtype.kind == "b" else key
