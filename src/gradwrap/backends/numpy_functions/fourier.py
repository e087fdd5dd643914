"""`np.fft`."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwrap.backends.numpy_functions.table import Implementation, implements

LAST_TWO = (-2, -1)


def _along_axis(name: str) -> Implementation:
    def transform(
        xp: Any, a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None
    ) -> Any:
        return getattr(xp.fft, name)(xp.asarray(a), n=n, axis=axis, norm=norm)

    return transform


def _along_axes(name: str, default: tuple[int, ...] | None = None) -> Implementation:
    def transform(
        xp: Any, a: Any, s: Any = None, axes: Any = default, norm: Any = None, out: Any = None
    ) -> Any:
        return getattr(xp.fft, name)(xp.asarray(a), s=s, axes=axes, norm=norm)

    return transform


def _shift(name: str) -> Implementation:
    def shift(xp: Any, x: Any, axes: Any = None) -> Any:
        return getattr(xp.fft, name)(xp.asarray(x), axes=axes)

    return shift


for _name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    implements(getattr(np.fft, _name))(_along_axis(_name))
for _name in ("fft", "ifft", "rfft", "irfft"):
    implements(getattr(np.fft, f"{_name}n"))(_along_axes(f"{_name}n"))
    implements(getattr(np.fft, f"{_name}2"))(_along_axes(f"{_name}n", LAST_TWO))
for _name in ("fftshift", "ifftshift"):
    implements(getattr(np.fft, _name))(_shift(_name))
