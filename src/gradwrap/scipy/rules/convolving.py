"""Convolutions as one operation: SciPy's own, and so are their derivatives."""

from __future__ import annotations

import math
from importlib import import_module
from typing import Any

import numpy as np

from gradwrap.core.levels.modes import called
from gradwrap.core.levels.wrapper import AnyWrapper, holds_batch
from gradwrap.scipy.kinds import Adjoint
from gradwrap.scipy.table import Row

FEW = 1 << 14
"""Up to so many products, formulas of few operations on all of them are faster."""


def convolved(x: Any, y: Any, mode: str, axes: Any, method: str = "auto") -> Any:
    """Convolve along axes, fully or where all of `y` is inside `x`, as one operation.

    With the method "auto", SciPy chooses between sums ("direct") and Fourier transforms.
    """
    if holds_batch([x, y]):
        return _by_transforms(x, y, mode, axes)
    if isinstance(x, AnyWrapper) or isinstance(y, AnyWrapper):
        return CONVOLVED.kind.answer(CONVOLVED, (x, y, mode, axes, method), {})
    if method == "direct" and x.ndim > 1:  # SciPy's sums along several axes are slow
        return called(_by_sums, "convolution", x, y, mode)
    signal: Any = import_module("scipy.signal")  # slow to import; few functions convolve
    if len(axes) == x.ndim:
        return called(signal.convolve, "scipy.signal.convolve", x, y, mode, method)
    return called(signal.fftconvolve, "scipy.signal.fftconvolve", x, y, mode, axes)


def _by_sums(x: Any, y: Any, mode: str) -> Any:
    """Convolve by a sum over the elements of `y`, or for each element of the result."""
    if mode == "full":
        x = np.pad(x, [(n - 1, n - 1) for n in y.shape])
    turned = y[(slice(None, None, -1),) * y.ndim]
    shape = tuple(m - n + 1 for m, n in zip(x.shape, y.shape, strict=True))
    made = np.zeros(shape, np.result_type(x, y))
    are_few = math.prod(y.shape) <= made.size
    for index in np.ndindex(y.shape if are_few else shape):
        size = shape if are_few else y.shape
        part = x[tuple(slice(i, i + n) for i, n in zip(index, size, strict=True))]
        if are_few:
            made += turned[index] * part
        else:
            made[index] = np.sum(turned * part)
    return made


def _by_transforms(x: Any, y: Any, mode: str, axes: Any) -> Any:
    """Convolve all examples of a batch by Fourier transforms."""
    whole: list[int] = [x.shape[axis] + y.shape[axis] - 1 for axis in axes]
    full: Any
    shape = [import_module("scipy.fft").next_fast_len(n) for n in whole]
    if "c" in (x.dtype.kind, y.dtype.kind):
        full = np.fft.ifftn(np.fft.fftn(x, shape, axes) * np.fft.fftn(y, shape, axes), shape, axes)
    else:
        product = np.fft.rfftn(x, shape, axes) * np.fft.rfftn(y, shape, axes)
        full = np.fft.irfftn(product, shape, axes)
    if mode == "full" and shape == whole:
        return full
    key: list[Any] = [slice(None)] * x.ndim
    for axis, n in zip(axes, whole, strict=True):
        short = y.shape[axis] - 1 if mode == "valid" else 0
        key[axis] = slice(short, n - short)
    return full[tuple(key)]


def _adjoint(x: Any, axes: Any) -> Any:
    """Return the conjugate of a factor, reversed along axes."""
    key = [slice(None, None, -1 if axis in axes else 1) for axis in range(x.ndim)]
    turned = x[tuple(key)]
    return np.conj(turned) if x.dtype.kind == "c" else turned


def _of_first(g: Any, y: Any, mode: str, axes: Any, method: str) -> Any:
    return convolved(g, _adjoint(y, axes), "full" if mode == "valid" else "valid", axes, method)


def _of_second(g: Any, x: Any, mode: str, axes: Any, method: str) -> Any:
    x = _adjoint(x, axes)
    if mode == "full":
        return convolved(g, x, "valid", axes, method)
    return convolved(x, g, "valid", axes, method)


CONVOLVED = Row(
    "convolution",
    Adjoint(
        {
            "x": lambda g, y, mode, axes, method: _of_first(g, y, mode, axes, method),
            "y": lambda g, x, mode, axes, method: _of_second(g, x, mode, axes, method),
        }
    ),
    arrays="x y",
    original=convolved,
)
