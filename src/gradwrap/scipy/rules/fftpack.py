"""The rows of `scipy.fftpack`, the older module of Fourier transforms."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwrap.scipy.doors import dispatcher
from gradwrap.scipy.kinds import formula
from gradwrap.scipy.rules.fft import INVERSE, sizes_and_axes
from gradwrap.scipy.table import register


def _packed(x: Any, n: Any, axis: Any) -> Any:
    """Return the coefficients of `rfft` as real numbers in one array, as FFTPACK packs them."""
    size = x.shape[axis] if n is None else n
    found = np.moveaxis(np.fft.rfft(x, n=n, axis=axis), axis, -1)
    parts = np.stack([np.real(found), np.imag(found)], axis=-1)
    parts = np.reshape(parts, (*found.shape[:-1], -1))
    packed = np.concatenate([parts[..., :1], parts[..., 2 : size + 1]], axis=-1)
    return np.moveaxis(packed, -1, axis)


def _unpacked(x: Any, n: Any, axis: Any) -> Any:
    """Transform packed coefficients back."""
    size = x.shape[axis] if n is None else n
    x = np.moveaxis(x, axis, -1)[..., :size]
    zeros = np.zeros(x.shape[:-1])[..., None]
    x = np.concatenate([x, *[zeros] * (size - x.shape[-1])], axis=-1)
    ends = [zeros] if size % 2 == 0 else []
    parts = np.concatenate([x[..., :1], zeros, x[..., 1:], *ends], axis=-1)
    parts = np.reshape(parts, (*x.shape[:-1], -1, 2))
    found = np.fft.irfft(parts[..., 0] + 1j * parts[..., 1], n=size, axis=-1)
    return np.moveaxis(found, -1, axis)


def _of_fftpack(name: str) -> Any:
    """Return the formula of a function of `scipy.fftpack`."""
    ours: Any = getattr(np.fft, name, None)
    if name.endswith(("t2", "tn")) and ours is not None:
        return lambda x, shape, axes: ours(x, *sizes_and_axes(shape, axes))
    if ours is not None:
        return lambda x, n, axis: ours(x, n=n, axis=axis)
    modern = dispatcher(f"fft.{name.removeprefix('i')}")  # the inverses have no factor

    def formula(x: Any, type: Any, axis: Any, n: Any, norm: Any) -> Any:
        type = INVERSE[type] if name.startswith("i") else type
        return modern(x, type=type, n=n, axis=axis, norm=norm)

    def over_axes(x: Any, type: Any, axes: Any, shape: Any, norm: Any) -> Any:
        type = INVERSE[type] if name.startswith("i") else type
        return modern(x, type=type, s=shape, axes=axes, norm=norm)

    return over_axes if name.endswith("n") else formula


OLDER_ONES = ("fft", "ifft", "fft2", "ifft2", "fftn", "ifftn")
COSINES_AND_SINES = ("dct", "idct", "dst", "idst", "dctn", "idctn", "dstn", "idstn")
ROWS = [
    formula(f"fftpack.{name}", function, "x", neutral="overwrite_x")
    for name, function in (
        *((name, _of_fftpack(name)) for name in (*OLDER_ONES, *COSINES_AND_SINES)),
        *(("rfft", _packed), ("irfft", _unpacked)),
    )
]
register(ROWS)
