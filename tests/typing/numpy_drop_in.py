"""`import gradwrap.numpy as np` has NumPy's own types; see transforms.py."""

from __future__ import annotations

from typing import Any, assert_type

import numpy  # noqa: ICN001  np is the drop-in here
from numpy.typing import NDArray

import gradwrap as gw
import gradwrap.numpy as np

Vector = numpy.ndarray[tuple[int], numpy.dtype[numpy.float64]]

x = np.zeros(3)
assert_type(x, Vector)
assert_type(x, np.ndarray[tuple[int], np.dtype[np.float64]])
assert_type(np.ones((2, 3)), numpy.ndarray[tuple[int, int], numpy.dtype[numpy.float64]])
assert_type(np.sum(x), numpy.float64)
assert_type(np.max(x), numpy.float64)
assert_type(np.linalg.inv(x), NDArray[numpy.floating[Any]])
assert_type(np.fft.fft(x), NDArray[numpy.complex128])
assert_type(np.random.default_rng(0), numpy.random.Generator)
assert_type(np.pi, float)
assert_type(np.float32(1.0), numpy.float32)
np.sinn(x)  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
np.zeros("a")  # type: ignore[arg-type]  # pyright: ignore[reportCallIssue, reportArgumentType]


def filled(w: Vector) -> np.float64:
    out = np.zeros(3)
    out[0] = w[0]
    return np.sum(out)


assert_type(gw.grad(filled)(x), Vector)
