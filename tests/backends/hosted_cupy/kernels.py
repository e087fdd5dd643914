"""Kernels, carried out on the host: CuPy hands them over through its own override hooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hosted_cupy.compiled import run_elementwise
from hosted_cupy.counts import COUNTS
from hosted_cupy.memory import cupy, lent, returned
from lambdas import is_a

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["elementwise", "reduction"]

HOOK = "__cupy_override_elementwise_kernel__"

EXCHANGED = {"ellipk": "ellipkm1", "ellipkm1": "ellipk"}
"""Functions of SciPy's whose kernels have each other's names in CuPy."""


def elementwise(self: Any, kernel: Any, *args: Any, **kwargs: Any) -> Any:
    """Do what `cupy.ndarray` does as the argument of a ufunc or an `ElementwiseKernel`."""
    for arg in args:
        if not is_a(arg, cupy.ndarray) and hasattr(arg.__class__, HOOK):
            return getattr(arg, HOOK)(kernel, *args, **kwargs)
    COUNTS.launches.append(kernel.name)
    _note(kernel, args)
    with np.errstate(all="ignore"):
        if kernel.name in SPECIAL:
            return SPECIAL[kernel.name](*args, **kwargs)
        if not isinstance(kernel, cupy.ufunc):
            return run_elementwise(kernel, args, **kwargs)
        return _ufunc(kernel, args, **kwargs)


def _note(kernel: Any, args: Any) -> None:
    """Note a kernel with the dtypes of its arguments: a number has that of the arrays."""
    inputs = args[: kernel.nin]
    dtypes = [arg.dtype for arg in inputs if hasattr(arg, "dtype")]
    if dtypes:
        widest = np.result_type(*dtypes)
        signature = tuple(getattr(arg, "dtype", widest) for arg in inputs)
        COUNTS.kernels[kernel.name, signature] = kernel


def _ufunc(kernel: Any, args: Any, out: Any = None, **kwargs: Any) -> Any:
    if any(isinstance(arg, (list, tuple)) for arg in args):
        raise TypeError("Unsupported type <class 'list'>")
    inputs = [lent(arg) for arg in args[: kernel.nin]]
    if any(getattr(value, "dtype", np.dtype(bool)).kind == "c" for value in inputs) and not any(
        "D" in types.partition("->")[0] for types in kernel.types
    ):
        raise TypeError(f"Wrong type of arguments for {kernel.name}: complex")
    result = _numpys(kernel.name)(*inputs, **{k: lent(v) for k, v in kwargs.items()})
    outs = args[kernel.nin :] or ((out,) if out is not None else ())
    if not outs:
        return returned(result)
    results = result if is_a(result, tuple) else (result,)
    for one, value in zip(outs, results, strict=True):
        np.copyto(lent(one), value, casting="same_kind")
    return outs if len(outs) > 1 else outs[0]


def _numpys(name: str) -> Callable[..., Any]:
    """Return NumPy's or SciPy's function of a ufunc's name."""
    short = name.removeprefix("cupy_")
    found = getattr(np, short, None)
    if found is None:
        import scipy.special

        short = short.removeprefix("cupyx_scipy_").removeprefix("special_")
        short = EXCHANGED.get(short, short)
        found = getattr(scipy.special, short)
    return found  # type: ignore[no-any-return]  # looked up by name


def _copy(source: Any, out: Any, _where: Any = True) -> Any:
    held = lent(source)
    if getattr(held, "dtype", out.dtype).kind == "c" and out.dtype.kind not in "cb":
        held = held.real
    np.copyto(lent(out), held, where=lent(_where), casting="unsafe")
    return out


def _arange(start: Any, step: Any, out: Any, dtype: Any = None) -> Any:
    lent(out)[...] = start + step * np.arange(out.size)
    return out


def _linspace(start: Any, step: Any, out: Any) -> Any:
    lent(out)[...] = start + step * np.arange(out.size)
    return out


def _clip(a: Any, low: Any, high: Any, out: Any = None) -> Any:
    result = np.clip(lent(a), lent(low), lent(high))
    return returned(result) if out is None else _copy(returned(result), out)


def _scatter_add(  # as CuPy's kernel
    values: Any, indices: Any, count: int, rest: int, length: int, out: Any
) -> Any:
    """Carry out `cupy.add.at`: `out` is (..., length, rest), `indices` are `count` places."""
    if not values.size:
        return out
    sums: Any = np.zeros(out.size, out.dtype)
    places = np.arange(int(values.size))
    named = places // (rest * count) * length + lent(indices).reshape(-1) % length
    np.add.at(sums, named * rest + places % rest, lent(values).reshape(-1))
    target = lent(out)
    target += sums.reshape(out.shape)
    return out


def _fill(value: Any, out: Any) -> Any:
    lent(out)[...] = lent(value)
    return out


def _is_close(a: Any, b: Any, rtol: Any, atol: Any, *equal_nan: Any) -> Any:
    return returned(np.isclose(lent(a), lent(b), lent(rtol), lent(atol), *equal_nan))


SPECIAL: dict[str, Callable[..., Any]] = {
    "cupy_arange": _arange,
    "cupy_clip": _clip,
    "cupy_copy": _copy,
    "cupy_fill": _fill,
    "cupy_is_close": _is_close,
    "cupy_linspace": _linspace,
    "cupy_scatter_add": _scatter_add,
}


def reduction(self: Any, kernel: Any, axis: Any, dtype: Any, out: Any, keepdims: bool) -> Any:
    """Do what `cupy.ndarray` does as the argument of a reduction."""
    COUNTS.launches.append(kernel.name)
    COUNTS.kernels[kernel.name, (self.dtype,)] = kernel
    short = kernel.name.removeprefix("cupy_").removesuffix("_with_dtype")
    function = getattr(np, short)
    options = {} if dtype is None else {"dtype": dtype}
    with np.errstate(all="ignore"):
        result = function(lent(self), axis=axis, keepdims=keepdims, **options)
    return returned(result) if out is None else _copy(returned(result), out)
