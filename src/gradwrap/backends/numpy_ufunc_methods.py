"""`ufunc.reduce`, `.accumulate`, `.outer`, `.at`, and ufuncs of several outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.backends.numpy_functions.spelling import UFUNC_METHODS
from gradwrap.backends.numpy_functions.table import IMPLEMENTATIONS, NoValue, is_masked
from gradwrap.backends.numpy_functions.values import running_extremum
from gradwrap.core.kinds import TUPLE
from gradwrap.core.variable import AnyVariable
from gradwrap.core.wrapper import native, unwrapped_key
from gradwrap.errors import NoRuleError, OutArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["COMPOSED", "PERFORM", "at"]


def reduce(
    cls: Any,
    ufunc: Any,
    array: Any,
    axis: Any = 0,
    dtype: Any = None,
    keepdims: bool = False,
    initial: Any = NoValue,
    where: Any = True,
) -> Any:
    xp = cls._namespace
    function: Any = UFUNC_METHODS.get((ufunc, "reduce"))
    if function is not None:
        options: dict[str, Any] = {"axis": axis, "keepdims": keepdims}
        if dtype is not None:
            options["dtype"] = dtype
        if initial is not NoValue:
            options["initial"] = initial
        if is_masked(where):
            options["where"] = where
        return IMPLEMENTATIONS[function](xp, array, **options)
    if is_masked(where) or initial is not NoValue or dtype is not None:
        raise NoRuleError(
            f"np.{ufunc.__name__}.reduce with where=, initial= or dtype= has no rule. "
            "Fix: np.where before, or one more element."
        )
    if ufunc is np.logaddexp:
        return _logsumexp(xp, array, axis, keepdims)
    return _folded(xp, ufunc, array, axis, keepdims)


def _logsumexp(xp: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    largest = np.max(native(x), axis=axis, keepdims=True)
    shift = np.where(np.isfinite(largest), largest, 0.0)
    found = xp.log(xp.sum(xp.exp(x - shift), axis=axis, keepdims=True)) + shift
    return found if keepdims else xp.reshape(found, _reduced_shape(x, axis))


def _reduced_shape(x: Any, axis: Any) -> tuple[int, ...]:
    return tuple(np.sum(np.empty(x.shape, dtype=bool), axis=axis, dtype=bool).shape)


def _folded(xp: Any, ufunc: Any, array: Any, axis: Any, keepdims: bool) -> Any:
    """One element after the other, as NumPy defines it."""
    if ufunc.nin != 2 or ufunc.nout != 1 or axis is None or isinstance(axis, TUPLE):
        raise NoRuleError(f"np.{ufunc.__name__}.reduce over several axes has no rule. Fix: one.")
    parts = xp.unstack(array, axis=axis)
    if not parts:
        return xp.asarray(ufunc.reduce(native(array), axis=axis, keepdims=keepdims))
    total = parts[0]
    for part in parts[1:]:
        total = ufunc(total, part)
    return xp.expand_dims(total, axis=axis) if keepdims else total


def accumulate(cls: Any, ufunc: Any, array: Any, axis: int = 0, dtype: Any = None) -> Any:
    xp = cls._namespace
    function: Any = UFUNC_METHODS.get((ufunc, "accumulate"))
    if function is not None:
        return IMPLEMENTATIONS[function](xp, array, axis, dtype)
    if dtype is not None:
        array = xp.astype(array, np.dtype(dtype))
    if ufunc in (np.maximum, np.minimum):
        return running_extremum(xp, array, axis, ufunc)
    if ufunc.nin != 2 or ufunc.nout != 1:
        raise NoRuleError(f"np.{ufunc.__name__}.accumulate has no rule.")
    totals: list[Any] = []
    for part in xp.unstack(array, axis=axis):
        totals.append(ufunc(totals[-1], part) if totals else part)
    return xp.stack(totals, axis=axis)


def outer(cls: Any, ufunc: Any, a: Any, b: Any, **kwargs: Any) -> Any:
    xp = cls._namespace
    a, b = xp.asarray(a), xp.asarray(b)
    return ufunc(xp.reshape(a, tuple(a.shape) + (1,) * b.ndim), b, **kwargs)


def at(cls: Any, ufunc: Any, target: Any, key: Any, *values: Any) -> None:
    """In place, once for each time an index names an element."""
    if not isinstance(target, AnyVariable):
        raise OutArgumentError(
            f"np.{ufunc.__name__}.at into a {type(target).__name__}: a plain array cannot hold a "
            "tracked value. Fix: make the array with gradwrap.numpy.zeros (in a function under a "
            "transform) or gradwrap.wrap(np.zeros(...))."
        )
    if ufunc not in (np.add, np.subtract):
        raise NoRuleError(
            f"np.{ufunc.__name__}.at has no rule. Fix: where no index repeats, "
            f"x[i] = np.{ufunc.__name__}(x[i], ...)."
        )
    xp = cls._namespace
    key = unwrapped_key(key)
    value = xp.asarray(values[0])
    is_numpys = cls._backend.name == "numpy"  # the others' indices are not for NumPy's arrays
    shape = (np.empty(target.shape, dtype=bool) if is_numpys else native(target))[key].shape
    parts = xp.astype(xp.broadcast_to(value, shape), target.dtype, copy=False)
    added = xp.scatter(parts, key, tuple(target.shape), target.dtype)
    target[...] = ufunc(target, added)


PERFORM: dict[str, Callable[..., Any]] = {
    "reduce": reduce,
    "accumulate": accumulate,
    "outer": outer,
}


# Several outputs, and matrices --------------------------------------------------------------------


def _divmod(xp: Any, x1: Any, x2: Any) -> tuple[Any, Any]:
    return x1 // x2, x1 % x2


def _modf(xp: Any, x: Any) -> tuple[Any, Any]:
    _, whole = np.modf(native(x))
    return xp.where(np.isinf(whole), 0.0, x - whole), xp.asarray(whole)


def _frexp(xp: Any, x: Any) -> tuple[Any, Any]:
    _, exponent = np.frexp(native(x))
    return x * np.ldexp(native(x).dtype.type(1.0), -exponent), xp.asarray(exponent)


def _ldexp(xp: Any, x1: Any, x2: Any) -> Any:
    return x1 * np.ldexp(native(x1).dtype.type(1.0), native(x2))


def _vecdot(xp: Any, x1: Any, x2: Any) -> Any:
    return xp.sum(xp.conj(x1) * x2, axis=-1)


def _matvec(xp: Any, x1: Any, x2: Any) -> Any:
    return xp.sum(x1 * x2[..., None, :], axis=-1)


def _vecmat(xp: Any, x1: Any, x2: Any) -> Any:
    return xp.sum(xp.conj(x1)[..., :, None] * x2, axis=-2)


COMPOSED: dict[Any, Callable[..., Any]] = {
    np.divmod: _divmod,
    np.modf: _modf,
    np.frexp: _frexp,
    np.ldexp: _ldexp,
    **{
        getattr(np, name): function
        for name, function in (("vecdot", _vecdot), ("matvec", _matvec), ("vecmat", _vecmat))
        if hasattr(np, name)
    },
}
"""Ufuncs that are written in terms of others: of several outputs, of vectors and matrices."""
