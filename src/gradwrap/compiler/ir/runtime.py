"""Functions that compiled programs call at run time; saved modules contain their source.

They use only NumPy and each other.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def sine(x: Any, out: Any) -> Any:
    """Return the sine of `x`."""
    np.multiply(x, 0.5, out)
    np.tan(out, out)
    square = np.square(out)
    square += 1.0
    out += out
    return np.divide(out, square, out)


def cosine(x: Any, sine: Any, out: Any) -> Any:
    """Return the cosine of `x`, given its sine."""
    np.tan(x, out)
    size = np.absolute(out)
    if size.min() > 1e-300:
        np.divide(sine, out, out)
    else:
        np.divide(sine, out, out, where=~(size <= 1e-300))
        out[size <= 1e-300] = 1.0
    return np.clip(out, -1.0, 1.0, out)


def aligned(shape: Any, dtype: Any = np.float64) -> Any:
    """Return a new array aligned to 64 bytes, for the fastest vector loads."""
    count: int = np.empty(shape, dtype).nbytes
    memory = np.empty(count + 64, np.uint8)
    start = -memory.ctypes.data % 64
    end = start + count
    return memory[start:end].view(dtype).reshape(shape)
