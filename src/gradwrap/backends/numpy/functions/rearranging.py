"""Moving, repeating and selecting elements."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from gradwrap.backends.numpy.functions.converting import NoValue, flat, mask, sizes
from gradwrap.backends.numpy.functions.shapes import permuted
from gradwrap.backends.numpy.functions.table import (
    check_constant,
    completes,
    constant,
    counting,
    implements,
    in_order,
    on_host,
    on_values,
    standard,
    untyped,
)
from gradwrap.core.levels.modes import is_traced
from gradwrap.core.levels.wrapper import innermost, is_scalar, key_with_batches, native
from gradwrap.core.values.dynamic import LIST, SEQUENCE
from gradwrap.rules.axes import as_axes

NUMPYS_OWN: tuple[type[Any], ...] = (np.ndarray, np.generic)


@implements("rot90(m, k=1, axes=(0, 1))", always=True)
def rot90(xp: Any, m: Any, k: int, axes: Any) -> Any:
    for _ in range(k % 4):
        m = xp.flip(permuted(xp, "swapaxes", m, axis1=axes[0], axis2=axes[1]), axis=axes[0])
    return m


@implements("roll(a, shift, axis=None)")
def roll(xp: Any, a: Any, shift: Any, axis: Any) -> Any:
    check_constant("np.roll", shift=shift)
    shift = on_host(shift)
    if axis is None:
        return xp.roll(a, int(np.sum(shift)))
    shifts, axes = zip(*((int(s), int(i)) for s, i in np.broadcast(shift, axis)), strict=True)
    return xp.roll(a, shifts, axis=axes)


on_values("argpartition lexsort")


@completes(np.sort, np.argsort)
def in_sorted_order(
    xp: Any, path: str, a: Any, axis: Any, kind: Any, order: Any, stable: Any, descending: Any
) -> Any:
    """Sort, or return the sorting positions, with NumPy's order of ties and its errors."""
    options = {} if descending is NoValue else {"descending": descending}  # since NumPy 2.5
    np.sort(np.empty(0), kind=kind, order=order, stable=stable, **options)
    a, axis = flat(xp, a, axis), -1 if axis is None else operator.index(axis)
    if options.get("descending"):
        positions = _in_descending_order(xp, a, axis)
        return xp.take_along_axis(a, positions, axis=axis) if path == "sort" else positions
    if path == "sort":
        return xp.sort(a, axis=axis)
    return xp.argsort(a, axis=axis, stable=bool(stable) or kind in ("stable", "mergesort"))


def _in_descending_order(xp: Any, a: Any, axis: int) -> Any:
    """Return positions that sort in descending order: stable, NaNs last.

    The standard does not say where NaNs are, so they are sorted to the end in a second step.
    """
    positions = xp.argsort(a, axis=axis, descending=True, stable=True)
    are_nan = xp.isnan(xp.take_along_axis(a, positions, axis=axis))
    to_end = xp.argsort(xp.astype(are_nan, xp.int8), axis=axis, stable=True)
    return xp.take_along_axis(positions, to_end, axis=axis)


@implements("partition(a, kth, axis=-1, kind='introselect', order=None)")
def partition(xp: Any, a: Any, kth: Any, axis: Any, kind: Any, order: Any) -> Any:
    np.partition(np.empty(1), 0, kind=kind, order=order)
    a, axis = flat(xp, a, axis), -1 if axis is None else axis
    values = native(a)
    # argpartition may order the other elements differently: find where partition put them
    rank = np.argsort(np.argsort(np.partition(values, kth, axis=axis), axis=axis), axis=axis)
    places = np.take_along_axis(np.argsort(values, axis=axis), rank, axis=axis)
    return in_order(xp.take_along_axis(a, places, axis=axis), "K", a)


@implements(
    "unique(ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, "
    "equal_nan=True, sorted=True)",
    arrays=1,
)
def unique(xp: Any, ar: Any, return_index: bool, axis: Any, sorted: bool, **named: Any) -> Any:
    """Take the first of each set of equal elements, at the positions that NumPy finds."""
    if not sorted:  # which older versions do not know
        named["sorted"] = False
    values = native(ar)
    _, places, *rest = untyped.unique(values, return_index=True, axis=axis, **named)
    along = 0 if axis is None else as_axes(axis, ar.ndim)[0]
    taken = flat(xp, ar, axis)[(*(slice(None),) * along, places)]
    found: list[Any] = [taken, *([places] if return_index else []), *rest]
    return tuple(found) if len(found) > 1 else found[0]


for _name in ("unique_all", "unique_counts", "unique_inverse", "unique_values"):
    standard(_name, f"{_name}(x)")


@implements("take(a, indices, axis=None, out=None, mode='raise')", arrays=1)
def take(xp: Any, a: Any, indices: Any, axis: Any = None, mode: str = "raise") -> Any:
    a = xp.asarray(a)
    if not a.ndim and axis is not None:  # a number, which NumPy takes for an array of one element
        a, axis = xp.reshape(a, (1,)), as_axes(axis, 1)[0]
    a, axis = flat(xp, a, axis), axis or 0
    places: Any = _places(indices)
    if places.dtype == np.bool_:  # no mask to NumPy, but numbers
        places = places.astype(np.intp)
    places = _within(places, a.shape[axis], mode)
    if isinstance(places, NUMPYS_OWN) and not places.ndim:
        places = int(places)
        return xp.copy(a[(slice(None),) * (axis % a.ndim) + (places,)], order="C")
    return in_order(a[(slice(None),) * (axis % a.ndim) + (places,)], "C")


def _within(places: Any, n: int, mode: str) -> Any:
    """Map positions out of bounds to one of the `n` elements, as the mode says."""
    untyped.take(np.empty(1), 0, mode=mode)  # which refuses other modes
    if mode == "raise":
        return places
    return places % n if mode == "wrap" else np.clip(places, 0, n - 1)


def _places(indices: Any) -> Any:
    """Return indices as an array of NumPy, CuPy, a trace, or a batch."""
    key = key_with_batches(indices)
    return key if hasattr(key, "shape") else np.asarray(key)


@implements("take_along_axis(arr, indices, axis=-1)")
def take_along_axis(xp: Any, arr: Any, indices: Any, axis: Any) -> Any:
    places = _places(indices)
    arr, axis = flat(xp, arr, axis), axis or 0
    if arr.ndim != places.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    at = axis % arr.ndim
    rest = np.broadcast_shapes(_without(arr.shape, at), _without(places.shape, at))
    return xp.take_along_axis(
        xp.broadcast_to(arr, (*rest[:at], arr.shape[at], *rest[at:])),
        np.broadcast_to(places, (*rest[:at], places.shape[at], *rest[at:])),
        axis=at,
    )


def _without(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return (*shape[:axis], *shape[axis + 1 :])


@completes(np.where)
def where(xp: Any, condition: Any, x: Any, y: Any) -> Any:
    return xp.nonzero(condition) if y is None else xp.where(mask(xp, condition), x, y)


@implements("select(condlist, choicelist, default=0)")
def select(xp: Any, condlist: Any, choicelist: Any, default: Any) -> Any:
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    shape = np.broadcast_shapes(*(np.shape(c) for c in (*condlist, *choicelist, default)))
    found = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        found = where(xp, condition, choice, found)
    return in_order(found if found.shape == shape else xp.broadcast_to(found, shape), "C")


@implements("piecewise(x, condlist, funclist, *args, **kw)", arrays=1)
def piecewise(xp: Any, /, x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    parts = condlist
    is_sequence = isinstance(condlist, SEQUENCE)
    are_arrays = isinstance(condlist, LIST) and condlist and np.ndim(native(condlist[0]))
    if not are_arrays and (x.ndim or not is_sequence):
        whole = on_host(condlist)
        parts = [whole] if is_sequence or whole.ndim == x.ndim else whole
    conditions: list[Any] = [on_host(part).astype(bool) for part in parts]
    if len(funclist) == len(conditions) + 1:
        conditions.append(~np.any(conditions, axis=0))
    if len(funclist) != len(conditions):
        raise ValueError(
            f"with {len(conditions)} condition(s), either {len(conditions)} or "
            f"{len(conditions) + 1} functions are expected"
        )
    found: Any = xp.zeros(x.shape, dtype=x.dtype)
    for condition, function in zip(conditions, funclist, strict=True):
        if not callable(function):
            found = xp.where(constant(xp, condition), xp.asarray(function), found)
        elif x.ndim:
            found[condition] = function(x[condition], *args, **kw) if np.any(condition) else 0.0
        elif condition:
            found = xp.copy(function(x, *args, **kw))
    return in_order(xp.astype(found, x.dtype), "K", x)


@implements("choose(a, choices, out=None, mode='raise')")
def choose(xp: Any, a: Any, choices: Any, mode: str) -> Any:
    places = on_host(a)
    places = places.astype(np.intp) if places.dtype == np.bool_ else places
    parts = [xp.asarray(choice) for choice in choices]
    shape = np.broadcast_shapes(places.shape, *(part.shape for part in parts))
    places = _within(places, len(parts), mode)
    stacked = xp.stack([xp.broadcast_to(part, shape) for part in parts], axis=-1)
    places = np.broadcast_to(places, shape)[..., None]
    return xp.take_along_axis(stacked, constant(xp, places), axis=-1)[..., 0]


@implements("compress(condition, a, axis=None, out=None)", "extract(condition, arr)")
def compress(xp: Any, condition: Any, axis: Any = None, **array: Any) -> Any:
    (a,) = array.values()
    return take(xp, xp.asarray(a), np.flatnonzero(on_host(condition)), axis)


@implements("diag diagflat(v, k=0)", arrays=1, always=True)
def diag(xp: Any, name: str, v: Any, k: int) -> Any:
    """Write the vector to the diagonal where NumPy's function puts its elements."""
    if v.ndim == 2 and name == "diag":
        return xp.linalg.diagonal(v, offset=k)
    places: Any = getattr(np, name)(counting(v.size).reshape(v.shape) + 1, k)
    out = xp.zeros(places.shape, dtype=v.dtype)
    out[np.nonzero(places)] = xp.reshape(v, (-1,))
    return out


@implements("trim_zeros(filt, trim='fb', axis=None)", always=True)
def trim_zeros(xp: Any, filt: Any, trim: str, axis: Any) -> Any:
    """Cut off leading and trailing zeros, which all examples of a batch must share."""
    if is_scalar(filt) or not as_axes(axis, filt.ndim):
        return filt
    if is_traced() and filt.ndim == 1:  # where it is cut is a branch of the program
        is_used: Any = filt.detach() != 0
        if not np.any(is_used):
            return filt[:0]
        start = int(np.argmax(is_used)) if "f" in trim.lower() else 0
        stop = int(np.argmax(is_used[::-1])) if "b" in trim.lower() else 0
        return filt[start : filt.shape[0] - stop]
    used: Any = on_host(innermost(filt)) != 0
    used = used.reshape(math.prod(used.shape[: used.ndim - filt.ndim]), *filt.shape)
    if not used.any():
        return filt[(*(slice(0),) * filt.ndim, Ellipsis)]
    key = [slice(None)] * filt.ndim
    for i in as_axes(axis, filt.ndim):
        rows = used.any(axis=tuple(k for k in range(1, used.ndim) if k != i + 1))
        ends = {(int(row.argmax()), row.size - int(row[::-1].argmax())) for row in rows}
        if len(ends) > 1 or not rows.any(axis=1).all():
            native(filt)  # raises: it depends on the example
        ((first, last),) = ends
        key[i] = slice(
            first if "f" in trim.lower() else None, last if "b" in trim.lower() else None
        )
    return filt[(*key, Ellipsis)]


# A function of the user's, for each slice --------------------------------------------------------


@implements("apply_along_axis(func1d, axis, arr, *args, **kwargs)")
def apply_along_axis(
    xp: Any, /, func1d: Any, axis: int, arr: Any, *args: Any, **kwargs: Any
) -> Any:
    """Call the function with each slice, and stack the results."""
    arr = xp.asarray(arr)
    at = axis % arr.ndim
    rows = xp.moveaxis(arr, at, -1)
    rest = tuple(rows.shape[:-1])
    results = [xp.asarray(func1d(rows[index], *args, **kwargs)) for index in np.ndindex(*rest)]
    stacked = xp.reshape(xp.stack(results), rest + tuple(results[0].shape))
    new = tuple(range(len(rest), stacked.ndim))
    return xp.moveaxis(stacked, new, tuple(at + i for i in range(len(new))))


@implements("apply_over_axes(func, a, axes)")
def apply_over_axes(xp: Any, func: Any, a: Any, axes: Any) -> Any:
    a = xp.asarray(a)
    for axis in sizes(axes):
        reduced = func(a, axis)
        if reduced.ndim != a.ndim:
            reduced = xp.expand_dims(reduced, axis=axis)
        a = reduced
    return a
