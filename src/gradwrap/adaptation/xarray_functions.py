"""xarray functions that would unwrap tracked values: replacements, or advice.

xarray calls NumPy's functions on the arrays that it holds, so most of it works on tracked values as
it stands. This module handles the others: functions that are compiled, that treat NumPy's arrays in
another way than those of other libraries, or that convert their arguments to plain arrays.
"""

from __future__ import annotations

import functools
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from gradwrap.adaptation.after_import import exchange
from gradwrap.adaptation.builtin_names import number_readers
from gradwrap.adaptation.plain_values import at_hand
from gradwrap.adaptation.xarray import enter_containers
from gradwrap.core.levels.levels import is_differentiating
from gradwrap.core.levels.wrapper import AnyWrapper, innermost, is_batch, layers, native
from gradwrap.core.library.backend import backend_of
from gradwrap.core.observing.callers import MARK, advisers
from gradwrap.core.values.dynamic import LIST, TUPLE
from gradwrap.errors import TrackedCodeError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import FrameType

    from gradwrap.core.observing.callers import Caller

ours: Any = import_module("gradwrap.numpy")
np: Any = import_module("numpy")  # of untyped arrays, of which its own types make nothing


PASSED = ("gradwrap.", "numpy", "xarray.")
"""The packages whose frames are passed by in the search for the calling code."""


def mended(module: str, name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Replace an xarray function; the replacement gets the original as first argument.

    Where a version of xarray does not have it, nothing is done.
    """

    def mend(ours: Callable[..., Any]) -> Callable[..., Any]:
        try:
            theirs: Any = getattr(import_module(f"xarray.{module}"), name)
        except (AttributeError, ImportError):
            return ours

        @functools.wraps(theirs)  # by whose name it is pickled, for Dask's workers
        def stand_in(*args: Any, **kwargs: Any) -> Any:
            return ours(theirs, *args, **kwargs)

        for holder in [one for key, one in tuple(sys.modules.items()) if key.startswith("xarray.")]:
            if vars(holder).get(name) is theirs:
                setattr(holder, name, stand_in)
        return ours

    return mend


def _is_tracked(*values: Any) -> bool:
    return any(isinstance(getattr(value, "_data", value), AnyWrapper) for value in values)


def _is_at_hand(array: Any) -> bool:
    """Tell if the values of an array can be read: not lazy, and not mapped over."""
    plain = innermost(array)
    return not any(map(is_batch, layers(array))) and backend_of(plain).is_at_hand(plain)


@mended("core.indexing", "as_indexable")
def as_indexable(theirs: Any, array: Any) -> Any:
    """Index tracked values as NumPy arrays, including by several arrays."""
    if isinstance(array, AnyWrapper):
        return import_module("xarray.core.indexing").NdArrayLikeIndexingAdapter(array)
    return theirs(array)


@mended("core.variable", "_as_array_or_item")
def as_array_or_item(theirs: Any, data: Any) -> Any:
    """Return what `.values` gives; adapted code gets a tracked array itself."""
    return at_hand(data) if _is_tracked(data) and _is_asked_by_adapted_code() else theirs(data)


@mended("core.variable", "as_compatible_data")
def as_compatible_data(theirs: Any, data: Any, *args: Any, **kwargs: Any) -> Any:
    """Join a list of tracked numbers or arrays, labelled ones too, and take a table's array."""
    if isinstance(data, LIST):
        data = _joined(data)
    elif hasattr(data, "to_numpy") and not hasattr(data, "dims") and is_differentiating():
        values: Any = data.to_numpy()
        data = values if isinstance(values, AnyWrapper) else data
    return theirs(data, *args, **kwargs)


def _joined(data: Any) -> Any:
    """Return the array of a list if it holds tracked values, or else the list."""
    variables = [getattr(one, "_variable", one) for one in data]
    parts = [
        _joined(one) if isinstance(one, LIST) else getattr(one, "_data", one) for one in variables
    ]
    return ours.asarray(parts) if any(isinstance(one, AnyWrapper) for one in parts) else data


@mended("namedarray.pycompat", "to_numpy")
def to_numpy(theirs: Any, data: Any, **kwargs: Any) -> Any:
    """Return what `.to_numpy()` gives, as `.values` does."""
    is_given = isinstance(data, AnyWrapper) and not kwargs and _is_asked_by_adapted_code()
    return at_hand(data) if is_given else theirs(data, **kwargs)


def _as_an_array(theirs: Any) -> Any:
    """Give a tracked array to adapted code, whose functions take it; refuse it to others."""

    @functools.wraps(theirs)
    def converted(self: Any, *args: Any, **kwargs: Any) -> Any:
        data = getattr(getattr(self, "variable", self), "_data", None)
        is_given = isinstance(data, AnyWrapper) and _is_asked_by_adapted_code()
        return at_hand(data) if is_given else theirs(self, *args, **kwargs)

    return converted


exchange(import_module("xarray.core.common").AbstractArray, "__array__", _as_an_array)


def _number_of(theirs: Any) -> Any:
    """Make the method of an array that gives adapted code's `float` the tracked number."""

    def number(self: Any) -> Any:
        data = getattr(getattr(self, "variable", self), "_data", None)
        return data if isinstance(data, AnyWrapper) else theirs(self)

    return number


for _name in ("__float__", "__complex__"):
    _theirs: Any = getattr(import_module("xarray.core.common").AbstractArray, _name)
    number_readers[_theirs] = _number_of(_theirs)


def _is_asked_by_adapted_code() -> bool:
    """Tell if the code that called xarray is adapted."""
    frame: FrameType | None = sys._getframe(2)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  # documented, private by its name alone
    while frame is not None and str(frame.f_globals.get("__name__", "")).startswith(PASSED):
        frame = frame.f_back
    return frame is not None and MARK in frame.f_globals


@mended("core.indexing", "expanded_indexer")
def expanded_indexer(theirs: Any, key: Any, ndim: int) -> Any:
    """Index by plain positions, such as those of `argmax`; lazy ones are computed, once."""
    for part in key if isinstance(key, TUPLE) else (key,):
        data: Any = getattr(part, "_data", None)
        is_wrapper = isinstance(data, AnyWrapper) and data.dtype.kind in "biu"
        if is_wrapper and not any(map(is_batch, layers(data))):
            positions = native(data)
            is_plain = _is_at_hand(positions) and hasattr(positions, "__setitem__")
            part._data = positions if is_plain else np.asarray(positions)  # noqa: SLF001  as `load` does
    return theirs(key, ndim)


@mended("compat.array_api_compat", "get_array_namespace")
def get_array_namespace(theirs: Any, *values: Any) -> Any:
    """Use NumPy's functions for tracked values: there are more of them than in the standard."""
    tracked = next((value for value in values if isinstance(value, AnyWrapper)), None)
    if tracked is None:
        return theirs(*values)
    library = backend_of(innermost(tracked))
    takes_numpys = library.name == "numpy" or "numpy" in library.promotes
    return np if takes_numpys else _Functions(tracked.__array_namespace__())


class _Functions:
    """NumPy's functions, but numbers are converted to arrays of the library."""

    def __init__(self, own: Any) -> None:
        self.asarray: Any = own.asarray

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


@mended("namedarray.pycompat", "is_chunked_array")
def is_chunked_array(theirs: Any, array: Any) -> bool:
    """Hide the chunks of tracked values from xarray; operations handle them."""
    return not isinstance(array, AnyWrapper) and theirs(array)


@mended("core.duck_array_ops", "_push")
def push(theirs: Any, array: Any, n: int | None = None, axis: int = -1) -> Any:
    """Fill missing values with the previous value; bottleneck would do this in compiled code."""
    if not isinstance(array, AnyWrapper):
        return theirs(array, n, axis)
    if not _is_at_hand(array):
        raise TrackedCodeError(
            "ffill and bfill look at the values, which lazy arrays have not computed. "
            "Fix: call .load() on the data first."
        )
    missing = np.isnan(native(array))
    shape = tuple(-1 if a == axis % missing.ndim else 1 for a in range(missing.ndim))
    places = np.arange(missing.shape[axis]).reshape(shape)
    last = np.maximum.accumulate(np.where(missing, 0, places), axis=axis)
    chosen = last if n is None else np.where(places - last <= n, last, places)
    return np.take_along_axis(array, chosen, axis=axis)


@mended("core.nputils", "nanfirst")
def nanfirst(theirs: Any, values: Any, axis: Any, keepdims: bool = False) -> Any:
    """Take the first element along an axis that is not NaN."""
    if not isinstance(values, AnyWrapper):
        return theirs(values, axis, keepdims)
    axis = axis[0] if isinstance(axis, TUPLE) else axis
    places = np.argmax(~np.isnan(values), axis=axis, keepdims=True)
    found = np.take_along_axis(values, places, axis=axis)
    return found if keepdims else np.squeeze(found, axis=axis)


@mended("core.nputils", "nanlast")
def nanlast(theirs: Any, values: Any, axis: Any, keepdims: bool = False) -> Any:
    """Take the last element along an axis that is not NaN."""
    if not isinstance(values, AnyWrapper):
        return theirs(values, axis, keepdims)
    return nanfirst(theirs, np.flip(values, axis), axis, keepdims)


@mended("structure.chunks", "_maybe_chunk")
def maybe_chunk(theirs: Any, name: Any, variable: Any, chunks: Any, *args: Any, **more: Any) -> Any:
    """Rechunk tracked values by an operation, whose gradient has the old chunks."""
    if not _is_tracked(variable):
        return theirs(name, variable, chunks, *args, **more)
    axes = {axis: chunks[dim] for axis, dim in enumerate(variable.dims) if dim in (chunks or {})}
    data = variable._data  # noqa: SLF001  `data` is public, but reads files
    da = import_module("gradwrap.dask.array")
    if not isinstance(innermost(data), da.Array):
        data = np.add(data, da.zeros((), dtype=data.dtype))  # which takes an array of NumPy in
    return variable.copy(data=da.rechunk(data, axes) if axes else data)


@mended("core.duck_array_ops", "least_squares")
def least_squares(
    theirs: Any, lhs: Any, rhs: Any, rcond: float | None = None, skipna: bool = False
) -> Any:
    """Fit lazy arrays by the pseudoinverse of the matrix, which is known."""
    if not isinstance(rhs, AnyWrapper) or _is_at_hand(rhs):
        return theirs(lhs, rhs, rcond=rcond, skipna=skipna)
    if skipna:
        raise TrackedCodeError(
            "polyfit with missing values looks at them, which lazy arrays have not computed. "
            "Fix: pass skipna=False, or call .load() on the data first."
        )
    coefficients = np.tensordot(np.linalg.pinv(lhs, rcond=rcond), rhs, axes=1)
    return coefficients, np.sum((np.tensordot(lhs, coefficients, axes=1) - rhs) ** 2, axis=0)


# interp -------------------------------------------------------------------------------------------


@mended("core.missing", "_localize")
def localize(theirs: Any, obj: Any, indexes: dict[Any, tuple[Any, Any]]) -> Any:
    """Select the part to interpolate in by the points' plain values."""
    new = {dim: one for dim, (_, one) in indexes.items()}
    plain = {
        dim: (x, one.copy(data=native(one._data)) if _is_tracked(one) else one)  # noqa: SLF001  `data` is public, but reads files
        for dim, (x, one) in indexes.items()
    }
    part, found = theirs(obj, plain)
    return part, {dim: (x, new[dim]) for dim, (x, _) in found.items()}


@mended("core.missing", "_interp1d")
def interpolated(  # noqa: PLR0913  xarray's
    theirs: Any, var: Any, x_: Sequence[Any], new_x_: Sequence[Any], func: Any, kwargs: Any
) -> Any:
    """Interpolate by the interpolants of `gradwrap.scipy`."""
    (x,), (new_x,) = x_, new_x_
    if not _is_tracked(var, x, new_x):
        return theirs(var, x_, new_x_, func, kwargs)
    if not _is_tracked(x, new_x) and not _is_at_hand(var._data):  # noqa: SLF001  as above
        return _by_weights(theirs, var, x_, new_x_, func, kwargs)
    module = import_module("gradwrap.scipy.interpolate")
    if func.__name__ == "ScipyInterpolator":
        made = _interp1d(module, x.data, var.data, **kwargs)
    else:
        made = getattr(module, func.__name__)(x.data, var.data, **kwargs)
    return np.reshape(made(np.ravel(new_x.data)), (*var.shape[:-1], *new_x.shape))


def _by_weights(  # noqa: PLR0913  xarray's
    theirs: Any, var: Any, x_: Sequence[Any], new_x_: Sequence[Any], func: Any, kwargs: Any
) -> Any:
    """Interpolate lazy arrays by the weight of each known point at each new point."""
    if func.__name__ != "ScipyInterpolator" or not isinstance(
        kwargs.get("fill_value"), (str, type(None))
    ):
        raise TrackedCodeError(
            f"interp by {func.__name__} with {kwargs} needs the values, which lazy arrays do not "
            "have at hand. Fix: use a method that is linear in them ('linear', 'nearest', "
            "'cubic', ...) and no number as fill_value, or call .load() on the data first."
        )
    unit = type(var)(("row", x_[0].dims[0]), np.eye(var.shape[-1]))
    weights = theirs(unit, x_, new_x_, func, kwargs)
    return np.tensordot(var.data, weights, axes=1)


def _interp1d(  # noqa: PLR0913  the options of xarray's class
    module: Any,
    x: Any,
    y: Any,
    *,
    method: Any,
    order: Any = None,
    fill_value: Any = None,
    **more: Any,
) -> Any:
    """Make the interpolant of xarray's `ScipyInterpolator`, with the same defaults."""
    kind = {"polynomial": order, "quintic": 5}.get(method, method)
    if fill_value is None:
        nan = np.nan if y.dtype.kind != "c" else complex(np.nan, np.nan)
        fill_value = (nan, nan) if kind == "linear" else nan
    options = {"assume_sorted": True, "copy": False, "bounds_error": False, "axis": -1} | more
    return module.interp1d(x, y, kind=kind, fill_value=fill_value, **options)


@mended("core.missing", "_get_interpolator_nd")
def interpolator_nd(theirs: Any, method: Any, **kwargs: Any) -> Any:
    """Interpolate in several dimensions by `gradwrap.scipy.interpolate.interpn`."""
    function, options = theirs(method, **kwargs)

    def interpn(points: Sequence[Any], values: Any, xi: Any, **more: Any) -> Any:
        if not _is_tracked(values, xi):
            return function(points, values, xi, **more)
        if not _is_at_hand(values):
            raise TrackedCodeError(
                "interp in several dimensions at once needs the values, which lazy arrays do not "
                "have at hand. Fix: interp in one dimension after the other, or .load() before."
            )
        ours = getattr(import_module("gradwrap.scipy.interpolate"), function.__name__)
        return ours(tuple(np.asarray(one) for one in points), values, xi, **more)

    return interpn, options


@mended("computation.apply_ufunc", "_vectorize")
@mended("core.computation", "_vectorize")  # its place in earlier versions
def vectorized(theirs: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a function of vectors for each of them, as `gradwrap.numpy.vectorize` does."""
    made = theirs(*args, **kwargs)
    options = {"otypes": made.otypes, "excluded": made.excluded, "signature": made.signature}
    ours = import_module("gradwrap.numpy").vectorize(made.pyfunc, **options)

    def function(*arrays: Any) -> Any:
        return (ours if _is_tracked(*arrays) else made)(*arrays)

    return function


# What cannot be mended ----------------------------------------------------------------------------

PLAIN = "give it .copy(data=x.data.detach()) in place of x if no gradient is wanted"
ADVICE = {
    **dict.fromkeys(
        ("values", "to_numpy", "as_numpy", "to_pandas", "to_series", "to_dataframe", "__array__"),
        "use .data, which is tracked; .data.detach() if no gradient is wanted",
    ),
    **dict.fromkeys(
        ("__float__", "__int__", "__complex__"),
        "go on with the DataArray, or with its .data; .item() if no gradient is wanted",
    ),
    **dict.fromkeys(
        ("sortby", "groupby", "groupby_bins", "sel", "reindex", "interp", "rank"),
        "order and labels have no derivative: make what they are taken from a plain array, "
        "x.copy(data=x.data.detach())",
    ),
    "interpolate_na": f"interpolate between the others, x.dropna(dim).interp(...); or {PLAIN}",
    "apply_ufunc": "give it a function of NumPy's that takes tracked values; "
    "gradwrap.adapting(f) where the function is one of another package",
}


def advise(caller: Caller) -> str:
    """Return advice on an xarray function that needs plain values."""
    _, names = caller.outside[0]  # the outermost call's, and the functions a decorator holds
    name = next((one for one in names if one in ADVICE), names[-1])
    fix = ADVICE.get(name, f"write it with other operations of xarray or NumPy; or {PLAIN}")
    return f"xarray's {name} takes plain values alone here: {fix}."


def enter_xarray(_module: Any) -> None:
    """Register the containers and the advice; the functions are replaced elsewhere."""
    enter_containers()
    advisers["xarray"] = advise
