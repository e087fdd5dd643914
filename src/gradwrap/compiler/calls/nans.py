"""Results of programs that hold NaN, where the function runs in place of the program."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.ir.program import NDARRAY, NUMBER

if TYPE_CHECKING:
    from collections.abc import Callable


class HoldsNaN(Exception):  # noqa: N818  it is caught: the function runs then
    """A result of a program holds NaN."""


def without_nan(call: Callable[..., Any]) -> Callable[..., Any]:
    """Return a call that raises an exception in place of results with NaN."""

    def checked(*inputs: Any) -> tuple[Any, ...]:
        found: tuple[Any, ...] = call(*inputs)
        if any(map(_has_nan, found)):
            raise HoldsNaN
        return found

    return checked


def _has_nan(one: Any) -> bool:
    if isinstance(one, float):  # NumPy's float64 is one
        return math.isnan(one)
    is_numpys = isinstance(one, (NDARRAY, NUMBER)) and one.dtype.kind in "fc"
    return is_numpys and bool(np.isnan(one).any())


def with_known(found: Any, wanted: Any) -> Any:
    """Return a result with that of the function in place of NaN."""
    if not _has_nan(found) or not isinstance(wanted, (NDARRAY, NUMBER, float)):
        return found
    if np.shape(found) != np.shape(wanted):
        return found
    if not isinstance(found, NDARRAY):
        return type(found)(wanted)
    known: Any = found.copy()
    np.copyto(known, wanted, where=np.isnan(found))
    return known
