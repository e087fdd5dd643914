"""A user's `ElementwiseKernel`, compiled for the host: the C is the kernel's own."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from hosted_cupy.memory import cupy, lent, view

__all__ = ["run_elementwise"]

CTYPES = {
    "bool": "bool",
    "int8": "signed char",
    "uint8": "unsigned char",
    "int16": "short",
    "uint16": "unsigned short",
    "int32": "int",
    "uint32": "unsigned int",
    "int64": "long long",
    "uint64": "unsigned long long",
    "float32": "float",
    "float64": "double",
    "complex64": "complex<float>",
    "complex128": "complex<double>",
}
FLAGS = ("-O1", "-std=c++11", "-ffp-contract=off", "-shared", "-fPIC")


def run_elementwise(kernel: Any, args: Any, size: int | None = None, **_: Any) -> Any:
    """Broadcast the arguments but the raw ones, and run the kernel's operation on each element."""
    raw = [param.raw for param in (*kernel.in_params, *kernel.out_params)]
    if size is not None or (any(raw[kernel.nin :]) and len(args) == kernel.nin):
        raise NotImplementedError(f"the double is not told the size of raw outputs: {kernel.name}")
    lending = [lent(arg) for arg in args]
    inputs, outs = lending[: kernel.nin], args[kernel.nin :]
    typed = _types(kernel, inputs, lending[kernel.nin :])
    arrays = [np.asarray(value, dtype=dtype) for value, dtype in zip(inputs, typed, strict=False)]
    shapes = [one.shape for one, is_raw in zip((*arrays, *outs), raw, strict=False) if not is_raw]
    shape = np.broadcast_shapes(*shapes)
    if not outs:
        outs = tuple(cupy.ndarray(shape, dtype) for dtype in typed[kernel.nin :])
    flat = [
        np.ascontiguousarray(a if is_raw else np.broadcast_to(a, shape))
        for a, is_raw in zip(arrays, raw, strict=False)
    ]
    results = [np.ascontiguousarray(view(o)) for o in outs]
    _compiled(kernel, tuple(str(d) for d in typed))(
        ctypes.c_longlong(int(np.prod(shape))),
        *(ctypes.c_void_p(a.ctypes.data) for a in (*flat, *results)),
    )
    for out, result in zip(outs, results, strict=True):
        view(out)[...] = result.reshape(out.shape)
    return outs[0] if len(outs) == 1 else tuple(outs)


def _types(kernel: Any, inputs: list[Any], outs: list[Any]) -> list[np.dtype[Any]]:
    """The dtype of each parameter: its own, or what its type parameter stands for."""
    known: dict[str, np.dtype[Any]] = {}
    params = (*kernel.in_params, *kernel.out_params)
    given: list[Any] = [*inputs, *outs, *(None for _ in range(len(params)))]
    for param, value in zip(params, given, strict=False):
        if param.dtype is None and hasattr(value, "dtype"):
            known.setdefault(param.ctype, value.dtype)
    for param, value in zip(params, given, strict=False):
        if param.dtype is None and value is not None:
            known.setdefault(param.ctype, np.asarray(value).dtype)
    return [np.dtype(known[p.ctype] if p.dtype is None else p.dtype) for p in params]


HEADER = """\
#include <cmath>
#include <complex>
using namespace std;
template <typename N> static N max(N x, N y) { return x < y ? y : x; }
template <typename N> static N min(N x, N y) { return y < x ? y : x; }
template <typename I> static I _floor_divide(I x, I y) {  // as CuPy's, of integers
    return x / y - (x % y != 0 && (x < 0) != (y < 0));
}
"""


def _compiled(kernel: Any, dtypes: tuple[str, ...]) -> Any:
    params = (*kernel.in_params, *kernel.out_params)
    names = tuple((p.name, p.ctype if p.dtype is None else "", p.raw) for p in params)
    options = (kernel.preamble, kernel.operation)
    return _built(names, dtypes, kernel.nin, *options)


@functools.cache
def _built(
    names: tuple[tuple[str, str, bool], ...],
    dtypes: tuple[str, ...],
    nin: int,
    preamble: str,
    operation: str,
) -> Any:
    compiler = shutil.which("g++")
    if compiler is None:
        raise RuntimeError("the double compiles kernels with g++, which is not here")
    aliases = {alias: CTYPES[d] for (_, alias, _), d in zip(names, dtypes, strict=True) if alias}
    arguments = ", ".join(
        f"{'const ' if k < nin else ''}{CTYPES[d]}* {name}_at"
        for k, ((name, _, _), d) in enumerate(zip(names, dtypes, strict=True))
    )
    locals_ = "".join(
        f"{'const ' if k < nin else ''}{CTYPES[d]}{'*' if raw else '&'} {name} = {name}_at"
        f"{'' if raw else '[i]'};\n"
        for k, ((name, _, raw), d) in enumerate(zip(names, dtypes, strict=True))
    )
    source = (
        HEADER
        + "".join(f"typedef {c} {alias};\n" for alias, c in aliases.items())
        + f'{preamble}\nextern "C" void run(long long n_, {arguments}) {{\n'
        + f"for (long long i = 0; i < n_; i++) {{\n{locals_}{operation};\n}}\n}}\n"
    )
    return ctypes.CDLL(str(_library(compiler, source))).run


def _library(compiler: str, source: str) -> Path:
    """The compiled source, which is kept for other processes and for the next time."""
    name = hashlib.sha256("\n".join((compiler, *FLAGS, source)).encode()).hexdigest()
    folder = Path(tempfile.gettempdir()) / f"hosted_cupy_{os.getuid()}"
    folder.mkdir(exist_ok=True)
    library = folder / f"{name}.so"
    if not library.exists():
        own, code = folder / f"{name}.{os.getpid()}", folder / f"{os.getpid()}.cpp"
        code.write_text(source)
        subprocess.run([compiler, *FLAGS, "-o", str(own), str(code)], check=True)
        code.unlink()
        own.rename(library)  # another process may have been here: its library is the same
    return library
