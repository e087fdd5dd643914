"""Check a gradient against the one written by hand, up to rounding."""

from collections.abc import Sequence

import numpy as np

from .workloads import Array

TOLERANCE = {np.dtype(np.float32): 1e-4, np.dtype(np.float64): 1e-9}


def check(got: Sequence[Array], right: Sequence[Array]) -> None:
    """Raise a ValueError that says how a gradient is wrong, if it is."""
    if len(got) != len(right):
        raise ValueError(f"{len(got)} gradients instead of {len(right)}")
    for i, (a, b) in enumerate(zip(got, right, strict=True)):
        if (a.shape, a.dtype) != (b.shape, b.dtype):
            raise ValueError(f"gradient {i} is {a.dtype}{a.shape}, not {b.dtype}{b.shape}")
        error = float(np.max(np.abs(a - b)) / np.max(np.abs(b)))
        if not error <= TOLERANCE[b.dtype]:  # also if it is NaN
            raise ValueError(f"gradient {i} is wrong by {error:.1e} of its greatest element")
