"""`import gradwrap.numpy as np` has NumPy's own types; see transforms.py.

They differ from one NumPy to the next. Since a list has one type, assigning one list to the other
compares them, in both directions.
"""

from __future__ import annotations

from typing import assert_type

import numpy  # noqa: ICN001  np is the drop-in here
from numpy.typing import NDArray

import gradwrap as gw
import gradwrap.numpy as np

Array = NDArray[numpy.float64]
x: Array = numpy.ones(3)

theirs = [numpy.zeros(3)]
ours = [np.zeros(3)]
ours, theirs = theirs, ours
their_matrix = [numpy.ones((2, 3))]
our_matrix = [np.ones((2, 3))]
our_matrix, their_matrix = their_matrix, our_matrix
their_inverse = [numpy.linalg.inv(x)]
our_inverse = [np.linalg.inv(x)]
our_inverse, their_inverse = their_inverse, our_inverse
their_transform = [numpy.fft.fft(x)]
our_transform = [np.fft.fft(x)]
our_transform, their_transform = their_transform, our_transform

assert_type(np.array(x), Array)
assert_type(np.sum(x), numpy.float64)
assert_type(np.random.default_rng(0), numpy.random.Generator)
assert_type(np.pi, float)
assert_type(np.float32(1.0), numpy.float32)
annotated: np.ndarray[tuple[int, ...], np.dtype[np.float64]] = x
np.sinn(x)  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]


def filled(w: Array) -> np.float64:
    out = np.zeros(3)
    out[0] = w[0]
    return np.sum(out)


assert_type(gw.grad(filled)(x), Array)
