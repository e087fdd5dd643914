"""pandas: `Series`, `DataFrame` and `Index` as arrays with labels, entered when it is imported.

An object of pandas cannot hold a tracked value. So an operation of one with a tracked value takes
its array, and the result has no labels. A gradient with respect to a `Series` or a `DataFrame` has
their labels.
"""

from __future__ import annotations

import functools
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.core.array.attributes import remedies
from gradwrap.core.array.variable import Variable
from gradwrap.core.levels.wrapper import AnyWrapper
from gradwrap.core.library.labelled import Labelled, attributes, labelled, unlabelled
from gradwrap.core.observing.callers import advisers
from gradwrap.errors import NotAnArrayError

if TYPE_CHECKING:
    from collections.abc import Callable

pd: Any = import_module("pandas")  # it need not be installed where types are checked
PRIORITY = 10_000
"""Above that of all types of pandas, whose operators then leave the call to the wrapper's."""


def enter_pandas(_module: Any) -> None:
    """Let operations take pandas' objects, and let our operators go before pandas' own."""
    variables: Any = Variable
    variables.__pandas_priority__ = PRIORITY
    labelled[pd.Series] = Labelled(_data, _as_series, _axes)
    labelled[pd.DataFrame] = Labelled(_data, _as_frame, _axes)
    labelled[pd.Index] = Labelled(_data, _as_array, _itself)
    attributes["values"] = lambda variable: variable
    attributes["to_numpy"] = lambda variable: functools.partial(_to_numpy, variable)
    advisers["pandas"] = _advice
    remedies.append(_remedy)
    for kind in (pd.Series, pd.DataFrame):
        for name in ("dot", "__matmul__", "__rmatmul__"):
            setattr(kind, name, _product(getattr(kind, name), swapped=name == "__rmatmul__"))


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
        if not isinstance(other, AnyWrapper):
            return native(self, other)
        mine, theirs = unlabelled((self, other))
        return theirs @ mine if swapped else mine @ theirs

    return product


def _to_numpy(variable: Any, dtype: Any = None, copy: bool = False) -> Any:
    """Convert as the method `to_numpy` of a `Series` or `DataFrame` does."""
    return variable if dtype is None and not copy else variable.astype(dtype or variable.dtype)


def _advice(_: Any) -> str:
    return (
        "pandas cannot hold tracked values: keep them in arrays, and take the numbers of a table "
        "by .to_numpy(), as in df[['a', 'b']].to_numpy() @ w. Sums over groups are "
        "np.bincount(pd.factorize(df['name'])[0], weights=x). Or pass .detach() if no gradient is "
        "wanted."
    )


def _remedy(name: str) -> str:
    """Return advice for an attribute of pandas' objects that a wrapper lacks."""
    if name.startswith("_") or not (hasattr(pd.Series, name) or hasattr(pd.DataFrame, name)):
        return ""
    return (
        f". Fix: a tracked value has no labels. Compute what needs {name} of a Series or a "
        "DataFrame outside of the function that is differentiated, and pass it .to_numpy()."
    )
