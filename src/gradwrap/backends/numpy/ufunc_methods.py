"""`ufunc.reduce`, `.accumulate`, `.outer`, `.at`, and ufuncs of several outputs."""

from __future__ import annotations

import functools
import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.backends.numpy.functions.converting import NoValue
from gradwrap.backends.numpy.functions.spelling import SPELLED, UFUNC_METHODS
from gradwrap.backends.numpy.functions.table import (
    IMPLEMENTATIONS,
    cast,
    check_target,
    counting,
    in_order,
    on_host,
)
from gradwrap.backends.numpy.functions.values import running_extremum
from gradwrap.core.levels.wrapper import (
    holds_wrapper,
    innermost,
    is_recorded,
    key_with_batches,
    layers,
    native,
    unwrapped_key,
)
from gradwrap.core.table.registry import search_function
from gradwrap.core.values.dynamic import TUPLE
from gradwrap.errors import NoRuleError

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwrap.core.values.dynamic import AnyFunction

DEFAULTS: dict[str, Any] = {"dtype": None, "initial": NoValue, "where": True}


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
    if getattr(array, "ndim", 1) == 0 and axis in (0, -1, None, ()):  # NumPy allows that
        array, axis, keepdims = xp.reshape(array, (1,)), 0, False
    function: Any = UFUNC_METHODS.get((ufunc, "reduce"))
    takes_dtype = function is not None and "dtype" in SPELLED[function].parameters
    is_constant = _is_constant(ufunc, initial)
    if dtype is not None:
        _check_dtype(cls, ufunc, array, dtype)
        if not (takes_dtype or is_constant):
            array, dtype = cast(xp, array, dtype), None
    options = {"dtype": dtype, "initial": initial, "where": where}
    options = {name: value for name, value in options.items() if value is not DEFAULTS[name]}
    if function is not None:
        return IMPLEMENTATIONS[function](xp, array, axis=axis, keepdims=keepdims, **options)
    if is_constant:
        found = ufunc.reduce(native(array), axis=axis, keepdims=keepdims, **unwrapped_key(options))
        return cls._plain(found)
    if options:
        raise NoRuleError(
            f"np.{ufunc.__name__}.reduce with where= or initial= has no rule. "
            "Fix: apply np.where first, or append the initial value."
        )
    if ufunc is np.logaddexp and not array.size:
        empty: Any = np.empty(array.shape, innermost(array).dtype)
        reduced: Any = ufunc.reduce
        return cls._plain(reduced(empty, axis=axis, keepdims=keepdims))
    if ufunc is np.logaddexp:
        return xp.special.logsumexp(array, axis=axis, keepdims=keepdims)
    return _folded(xp, ufunc, array, axis, keepdims)


def _folded(xp: Any, ufunc: Any, array: Any, axis: Any, keepdims: bool) -> Any:
    """Reduce one element after the other, as NumPy defines it, and as most of its loops do."""
    if ufunc.nin != 2 or ufunc.nout != 1 or axis is None or isinstance(axis, TUPLE):
        raise NoRuleError(
            f"np.{ufunc.__name__}.reduce over several axes has no rule. "
            "Fix: reduce one axis at a time."
        )
    parts = xp.unstack(array, axis=axis)
    if not parts:
        return xp.asarray(ufunc.reduce(native(array), axis=axis, keepdims=keepdims))
    total = functools.reduce(ufunc, parts)
    if not _is_in_order(ufunc, array.dtype) and not _agrees(ufunc, array, axis, total):
        name = f"np.{ufunc.__name__}"
        raise NoRuleError(
            f"{name}.reduce does not give here what {name} gives of one element after the other, "
            f"since the loop of this NumPy for this processor leaves elements out. "
            f"Fix: {name}.accumulate(x, axis)[-1], or functools.reduce({name}, x)."
        )
    return xp.expand_dims(total, axis=axis) if keepdims else total


@functools.cache
def _is_in_order(ufunc: Any, dtype: Any) -> bool:
    """Tell if `reduce` takes one element after the other; vector instructions may differ."""
    sample = np.asarray([0.5, 0.75, 0.875], dtype=dtype)
    return bool(np.allclose(ufunc.reduce(sample), functools.reduce(ufunc, sample), equal_nan=True))


def _agrees(ufunc: Any, array: Any, axis: int, total: Any) -> bool:
    """Tell if NumPy's own reduction gives this total; for a batch this is unknown."""
    if any(layer._is_batched for layer in layers(array)):
        return False
    found = ufunc.reduce(native(array), axis=axis)
    return bool(np.allclose(found, native(total), rtol=1e-4, atol=0.0, equal_nan=True))


def _is_constant(ufunc: Any, initial: Any = NoValue) -> bool:
    """Tell if a ufunc's methods have no derivative, so that NumPy can answer.

    The first of several floats is passed on unchanged, even by a ufunc without a derivative.
    """
    op = search_function(ufunc)
    rule = None if op is None else op.rule_for("numpy")
    if rule is None or rule.kind.is_differentiable:
        return False
    begins = initial is NoValue or is_recorded(initial)
    return not (begins and any(types.endswith("d") for types in ufunc.types))


def _check_dtype(cls: Any, ufunc: Any, array: Any, dtype: Any) -> None:
    """Raise NumPy's error for a dtype in which a ufunc cannot add up, and the like."""
    if cls._backend.name == "numpy":
        types = (None, cls._namespace.asarray(array).dtype, None)
        ufunc.resolve_dtypes(types, signature=(np.dtype(dtype), None, None), reduction=True)


def accumulate(cls: Any, ufunc: Any, array: Any, axis: int = 0, dtype: Any = None) -> Any:
    xp = cls._namespace
    function: Any = UFUNC_METHODS.get((ufunc, "accumulate"))
    if function is not None:
        return IMPLEMENTATIONS[function](xp, array, axis, dtype)
    if _is_constant(ufunc):
        return cls._plain(ufunc.accumulate(native(array), axis, dtype))
    if dtype is not None:
        _check_dtype(cls, ufunc, array, dtype)
        array = xp.astype(array, np.dtype(dtype))
    if ufunc in (np.maximum, np.minimum):
        return running_extremum(xp, array, axis, ufunc)
    if ufunc.nin != 2 or ufunc.nout != 1:
        raise NoRuleError(f"np.{ufunc.__name__}.accumulate has no rule.")
    totals = itertools.accumulate(xp.unstack(array, axis=axis), ufunc)
    return in_order(xp.stack(list(totals), axis=axis), "K", array)


def outer(cls: Any, ufunc: Any, a: Any, b: Any, **kwargs: Any) -> Any:
    xp = cls._namespace
    a, b = xp.asarray(a), xp.asarray(b)
    return ufunc(xp.reshape(a, tuple(a.shape) + (1,) * b.ndim), b, **kwargs)


def reduceat(
    cls: Any, ufunc: Any, array: Any, indices: Any, axis: int = 0, dtype: Any = None
) -> Any:
    """Reduce from each index to the next; take one element if the next is not larger."""
    xp = cls._namespace
    array = xp.asarray(array)
    at = on_host(indices)
    whole: Any = np.broadcast_to(np.empty((), innermost(array).dtype), array.shape)
    ufunc.reduceat(whole, at, axis, dtype)  # or NumPy's error
    along = axis % array.ndim
    ends = np.append(at[1:], array.shape[along])
    pieces = [
        array[(slice(None),) * along + (slice(start, max(end, start + 1)),)]
        for start, end in zip(at.tolist(), ends.tolist(), strict=True)
    ]
    return xp.stack([reduce(cls, ufunc, piece, along, dtype) for piece in pieces], axis=along)


def at(cls: Any, ufunc: Any, target: Any, key: Any, *values: Any) -> None:
    """Apply the ufunc in place, once for each time that an index names an element."""
    check_target(f"np.{ufunc.__name__}.at into", target)
    xp = cls._namespace
    if ufunc not in (np.add, np.subtract):
        _turn_by_turn(cls, ufunc, target, unwrapped_key(key), [xp.asarray(v) for v in values])
        return
    key = key_with_batches(key)
    value = xp.asarray(values[0])
    if holds_wrapper(key):  # `vmap` maps over it
        shape = target[key].shape
    else:  # the others' indices are not for NumPy's arrays
        is_numpys = cls._backend.name == "numpy"
        shape = (np.empty(target.shape, dtype=bool) if is_numpys else native(target))[key].shape
    parts = xp.astype(xp.broadcast_to(value, shape), target.dtype, copy=False)
    added = xp.scatter(parts, key, tuple(target.shape), target.dtype)
    target[...] = ufunc(target, added)


def _turn_by_turn(cls: Any, ufunc: Any, target: Any, key: Any, values: list[Any]) -> None:
    """Write to each element that a key names, then to repeated elements, turn by turn."""
    if cls._backend.name != "numpy":
        raise NoRuleError(
            f"np.{ufunc.__name__}.at has no rule. Fix: where no index repeats, "
            f"x[i] = np.{ufunc.__name__}(x[i], ...)."
        )
    xp = cls._namespace
    shape = tuple(target.shape)
    named = np.arange(math.prod(shape)).reshape(shape)[key]
    places = named.reshape(-1)
    order = np.argsort(places, kind="stable")
    turns = np.empty_like(order)
    turns[order] = counting(order.size) - np.searchsorted(places[order], places[order])
    flat = [xp.reshape(xp.broadcast_to(value, named.shape), (-1,)) for value in values]
    for turn in range(int(turns.max(initial=-1)) + 1):
        chosen = np.flatnonzero(turns == turn)
        now = np.unravel_index(places[chosen], shape)
        target[now] = ufunc(target[now], *(value[chosen] for value in flat))


PERFORM: dict[str, Callable[..., Any]] = {
    f.__name__: f for f in (reduce, accumulate, outer, reduceat)
}


# Several outputs, and matrices --------------------------------------------------------------------


def _modf(xp: Any, x: Any) -> tuple[Any, Any]:
    _, whole = np.modf(native(x))
    return xp.where(np.isinf(whole), 0.0, x - whole), xp.asarray(whole)


def _ldexp(xp: Any, x1: Any, x2: Any) -> Any:
    """Multiply by 2**x2 in two steps, since 2**x2 alone may overflow."""
    one = np.ldexp(native(xp.asarray(x1)).dtype.type(1.0), 0)  # of integers a float64
    power, range_ = native(x2) + np.int64(0), np.finfo(one.dtype)
    last = np.minimum(np.maximum(power, range_.minexp), range_.maxexp - 1)
    return x1 * np.ldexp(one, power - last) * np.ldexp(one, last)


def _frexp(xp: Any, x: Any) -> tuple[Any, Any]:
    _, exponent = np.frexp(native(x))
    return _ldexp(xp, x, -exponent), xp.asarray(exponent)


_BY_NAME: dict[str, AnyFunction[Any]] = {
    "divmod": lambda xp, x1, x2: (x1 // x2, x1 % x2),
    "frexp": _frexp,
    "ldexp": _ldexp,
    "matvec": lambda xp, x1, x2: xp.matmul(x1, x2[..., None])[..., 0],
    "modf": _modf,
    "vecdot": lambda xp, x1, x2: xp.vecdot(x1, x2),
    "vecmat": lambda xp, x1, x2: xp.matmul(xp.conj(x1)[..., None, :], x2)[..., 0, :],
}
COMPOSED = {getattr(np, name): call for name, call in _BY_NAME.items() if hasattr(np, name)}
"""Ufuncs that are written in terms of others: of several outputs, of vectors and matrices."""
