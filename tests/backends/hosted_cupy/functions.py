"""Functions of CuPy's modules that call the device's libraries, carried out by NumPy's.

A function keeps its identity and its signature, since only its code is exchanged: whoever has
imported it by name gets the double too.
"""

from __future__ import annotations

import importlib
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from hosted_cupy.counts import COUNTS
from hosted_cupy.devices import current_device
from hosted_cupy.memory import cupy, lent, returned, view
from lambdas import is_a

__all__ = ["exchanged"]

MAIN = "argsort ascontiguousarray asfortranarray dot einsum inner lexsort sort tensordot vdot"
"""Products and transposed copies by cuBLAS, sorting by Thrust: the others are kernels, and run."""
LINALG = "cholesky eigh eigvalsh eig eigvals inv lstsq qr slogdet solve svd"
FFT = """
fft ifft fft2 ifft2 fftn ifftn rfft irfft rfft2 irfft2 rfftn irfftn hfft ihfft
"""
ASKING = frozenset(["argsort", "dot", "sort"])
"""Functions that call a method of any argument that is no array of CuPy; so does the double."""
ORIGINAL: dict[str, FunctionType] = {}
"""The functions as CuPy has them, by their paths."""

FLAG_KEYWORDS, FLAG_VARARGS = 0x08, 0x04


def exchanged() -> dict[FunctionType, CodeType]:
    """The functions, and the code to put into each."""
    paths = [f"cupy.{name}" for name in MAIN.split()]
    paths += [f"cupy.linalg.{name}" for name in LINALG.split()]
    paths += [f"cupy.fft.{name}" for name in FFT.split()]
    paths += ["cupy.asarray", "cupy.array", "cupy.asanyarray", "cupy.asnumpy"]
    paths += ["cupyx.scipy.special.polygamma"]
    found: dict[FunctionType, CodeType] = {}
    for path in paths:
        module, _, name = path.rpartition(".")
        function = getattr(importlib.import_module(module), name, None)
        if isinstance(function, FunctionType):
            found[function] = _code(function, path)
            ORIGINAL.setdefault(path, _copy_of(function))
            function.__globals__["_hosted_call_"] = call
    return found


def _copy_of(function: FunctionType) -> FunctionType:
    copy = FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


def _has(value: object, name: str) -> bool:
    """Tell whether an object has an attribute by its class."""
    return hasattr(type(value), name)


def _is_foreign(value: Any) -> bool:
    if is_a(value, list, tuple):
        return any(map(_is_foreign, value))
    return _has(value, "_bind")


def _code(function: FunctionType, path: str) -> CodeType:
    """Return code with the function's parameters, which passes them to `call`."""
    code = function.__code__
    count, keyword_only = code.co_argcount, code.co_kwonlyargcount
    names = list(code.co_varnames)
    positional, keywords = names[:count], names[count : count + keyword_only]
    at = count + keyword_only
    declared = [*positional[: code.co_posonlyargcount]]
    if code.co_posonlyargcount:
        declared.append("/")
    declared += positional[code.co_posonlyargcount :]
    passed = list(positional)
    if code.co_flags & FLAG_VARARGS:
        declared.append(f"*{names[at]}")
        passed.append(f"*{names[at]}")
        at += 1
    elif keywords:
        declared.append("*")
    declared += keywords
    passed += [f"{name}={name}" for name in keywords]
    if code.co_flags & FLAG_KEYWORDS:
        declared.append(f"**{names[at]}")
        passed.append(f"**{names[at]}")
    source = (
        f"def {function.__name__}({', '.join(declared)}):\n"
        f"    return _hosted_call_({path!r}, {', '.join(passed)})\n"
    )
    scope: dict[str, Any] = {}
    exec(source, scope)  # noqa: S102  written above
    made: CodeType = scope[function.__name__].__code__
    return made


def call(path: str, *args: Any, **kwargs: Any) -> Any:
    """Carry out a function of CuPy: pass its arguments, but for defaults, to NumPy's."""
    name = path.partition(".")[2]
    if name in ASKING and _is_foreign((args, tuple(kwargs.values()))):
        return ORIGINAL[path](*args, **kwargs)
    if name in OWN:
        return OWN[name](*args, **kwargs)
    COUNTS.launches.append(name)
    function: Any = np
    original: Any = cupy
    for part in name.split("."):
        function, original = getattr(function, part), getattr(original, part)
    defaults = list(original.__defaults__ or ())
    given = [lent(arg) for arg in args]
    while defaults and given and given[-1] is defaults.pop():
        given.pop()
    named = {key: lent(value) for key, value in kwargs.items() if value is not None}
    if name in ("argsort", "sort"):
        given, named = given[:2], {**named, "kind": "stable"}  # as Thrust's
    with np.errstate(all="ignore"):
        result = function(*given, **named)
    return returned(tuple(result) if is_a(result, tuple) else result)


def _array(  # as CuPy's
    obj: Any,
    dtype: Any = None,
    copy: Any = True,
    order: Any = "K",
    subok: Any = False,
    ndmin: int = 0,
    **_: Any,
) -> Any:
    if isinstance(obj, cupy.ndarray):
        if obj.device.id != current_device().id:
            if not (obj.flags.c_contiguous or obj.flags.f_contiguous):
                raise NotImplementedError("CuPy cannot copy non-contiguous array between devices.")
            COUNTS.launches.append("copy between devices")
            obj, copy = returned(view(obj)), False
        array = obj if dtype is None else obj.astype(dtype, copy=False)
        array = array.copy() if copy and array is obj else array
    elif _is_of_the_device(obj):
        COUNTS.launches.append("array")
        array = returned(np.array(lent(obj), dtype=dtype))
    else:
        array = _uploaded(obj, dtype)
    while array.ndim < ndmin:
        array = array[None]
    return array


def _uploaded(obj: Any, dtype: Any) -> Any:
    if _has(obj, "__cupy_override_elementwise_kernel__") or _has(obj, "_bind"):
        raise TypeError(f"Unsupported type {type(obj)}")
    COUNTS.uploads.append("array")
    made = np.array(obj, dtype=dtype)
    if made.dtype.kind == "O":
        raise ValueError("Unsupported dtype object")
    return returned(made)


def _is_of_the_device(obj: Any) -> bool:
    """Tell whether a nested list holds arrays of CuPy, which are then joined on the device."""
    if is_a(obj, list, tuple):
        return any(_is_of_the_device(part) for part in obj)
    return isinstance(obj, cupy.ndarray)


def _asarray(a: Any, dtype: Any = None, order: Any = None, **_: Any) -> Any:
    return _array(a, dtype, copy=False)


def _asnumpy(a: Any, stream: Any = None, order: str = "C", out: Any = None, **_: Any) -> Any:
    if isinstance(a, cupy.ndarray):
        return a.get(stream=stream, order=order, out=out)
    return np.asarray(a)


def _contiguous(a: Any, dtype: Any = None, order: str = "C") -> Any:
    """CuPy transposes matrices by cuBLAS."""
    array = _asarray(a, dtype)
    if array.flags.c_contiguous if order == "C" else array.flags.f_contiguous:
        return array
    return array.copy(order=order)


def _fortran_contiguous(a: Any, dtype: Any = None) -> Any:
    return _contiguous(a, dtype, "F")


def _solve(a: Any, b: Any) -> Any:
    """Stacks of matrices are not broadcast by CuPy."""
    if b.ndim > 1 and a.shape[:-1] != b.shape[:-1]:
        raise ValueError(
            "a must have (..., M, M) shape and b must have (..., M, K) for multidimensional b"
        )
    COUNTS.launches.append("linalg.solve")
    return returned(np.linalg.solve(lent(a), lent(b)))


def _polygamma(n: Any, x: Any) -> Any:
    """CuPy calls ufuncs on numbers alone, which no hook sees."""
    import scipy.special

    COUNTS.launches.append("polygamma")
    return returned(scipy.special.polygamma(lent(n), lent(x)))


OWN: dict[str, Any] = {
    "scipy.special.polygamma": _polygamma,
    "linalg.solve": _solve,
    "array": _array,
    "asarray": _asarray,
    "asanyarray": _asarray,
    "asnumpy": _asnumpy,
    "ascontiguousarray": _contiguous,
    "asfortranarray": _fortran_contiguous,
}


def matmul(a: Any, b: Any, out: Any = None, **kwargs: Any) -> Any:
    """`cupy.matmul` is an object of its own kind, which asks a function of this form first."""
    for name, arg in (("a", a), ("b", b)):
        if not isinstance(arg, cupy.ndarray):
            kind = type(arg).__name__
            raise TypeError(
                f"Argument '{name}' has incorrect type (expected _ndarray_base, got {kind})"
            )
    result = a @ b
    if out is None:
        return result
    view(out)[...] = view(result)
    return out
