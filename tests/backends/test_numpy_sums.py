"""Sums of cotangents are NumPy's, up to rounding, whichever way they are taken."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradwrap.backends.numpy.sums import summed

SHAPES = [
    (300, 3),
    (300, 4, 2),
    (4, 300, 2),
    (2, 150, 3, 4),
    (3, 300),
    (5, 4),
    (300, 1),
    (300, 0),
    (0, 3),
]
AXES: list[Any] = [None, 0, 1, -1, (0,), (0, 1), (1, 0), (-1, -2), (0, -1), ()]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128, np.int64, np.float16])
def test_summed_is_the_sum_along_axes(shape: tuple[int, ...], dtype: Any) -> None:
    whole = np.random.default_rng(0).integers(-9, 9, shape).astype(dtype)  # whose sums are exact
    for x in (whole, whole.T, whole[::-1], np.broadcast_to(whole[:1], shape)):
        for axis in AXES:
            for keepdims in (False, True):
                expected = np.sum(x, axis=axis, keepdims=keepdims, dtype=dtype)
                found = summed(x, axis=axis, keepdims=keepdims, dtype=x.dtype)
                assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
                np.testing.assert_array_equal(found, expected)


def test_what_is_not_finite_stays_in_its_line() -> None:
    x = np.ones((300, 3))
    x[1, 0], x[2, 1], x[3] = np.nan, np.inf, (np.inf, -np.inf, 0.0)
    with np.errstate(invalid="ignore"):
        for axis in (0, 1):
            np.testing.assert_array_equal(summed(x, axis=axis), np.sum(x, axis=axis))
