"""Questions about values, after whose answer a value stays an `Any` to type checkers."""

from __future__ import annotations

import contextlib
import copy
import pickle
import warnings
from importlib import import_module
from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Generator

F = TypeVar("F")


def unchanged(function: F) -> F:
    """Return the function itself: what `checkpoint` is on NumPy."""
    return function


NUMPY: dict[str, object] = {
    "np": np,
    "sl": import_module("scipy.linalg"),
    "checkpoint": unchanged,
    "copy": copy,
    "pickle": pickle,
}
"""The names that a program uses, on NumPy."""


def is_array(value: object) -> bool:
    """Tell if a value is an array of NumPy's."""
    return isinstance(value, np.ndarray)


def is_numpys(value: object) -> bool:
    """Tell if a value is an array or a number of NumPy's."""
    return isinstance(value, (np.ndarray, np.generic))


def is_number(value: object) -> bool:
    """Tell if a value is a number of Python's."""
    return isinstance(value, (float, complex, int)) and not isinstance(value, np.generic)


def is_sequence(value: object) -> bool:
    """Tell if a value is a tuple or a list."""
    return isinstance(value, (tuple, list))


def is_differentiable(value: object) -> bool:
    """Tell if a value is a number or an array of floating-point or complex dtype."""
    return isinstance(value, (float, complex)) or (
        is_numpys(value) and np.asarray(value).dtype.kind in "fc"
    )


def is_writable(value: object) -> bool:
    """Tell if a value is an array that can be written to."""
    with quiet():  # NumPy warns of broadcast arrays when asked
        return isinstance(value, np.ndarray) and value.flags.writeable


@contextlib.contextmanager
def quiet() -> Generator[None]:
    """Let NumPy compute without warnings."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
