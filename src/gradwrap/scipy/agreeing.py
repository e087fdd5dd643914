"""Comparison of a formula's result with SciPy's, whose derivative the formula has to give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.core.levels.wrapper import innermost
from gradwrap.errors import NoRuleError

if TYPE_CHECKING:
    from collections.abc import Iterable

NUMBERS = (np.ndarray, np.inexact, float, complex)


def check_value(
    name: str, made: Any, out: Any, *, may_be_nan: bool = False, results: Iterable[Any] = ()
) -> None:
    """Raise an error if a formula's result is another than SciPy's.

    Then the derivative would be that of another function. Rounding may be amplified, so the
    results need to agree in a quarter of the digits only. A result near zero may be lost by
    cancellation, and also one that is small beside the size of all `results` of the call.
    """
    one, other = innermost(made), innermost(out)
    if not isinstance(one, NUMBERS) or not isinstance(other, NUMBERS):
        return  # a trace's
    if np.shape(one) != np.shape(other):
        return  # only one of them has examples
    tolerance = np.finfo(np.result_type(other)).eps ** 0.25
    with np.errstate(all="ignore"):  # infinities are equal
        gap, size = np.abs(one - other), np.abs(other)
        if np.max(gap, initial=0.0) <= tolerance * np.max(size, initial=0.0) < np.inf:
            return
        finite = np.isfinite(other)
        if may_be_nan:
            finite &= ~np.isnan(one)
        scale = np.max(size, where=finite, initial=max(map(size_of, results), default=0.0))
        off = np.max(gap, where=finite, initial=0.0)
    if not off <= tolerance * scale + tolerance**4:
        raise NoRuleError(
            f"the formula for the derivative of {name} gives another result than SciPy, "
            f"off by {off:.2g}, so it would be the derivative of another function. Fix: "
            ".detach() the result if no gradient is wanted, or give the function a rule of "
            "your own with gradwrap.defvjp."
        )


def size_of(value: Any) -> float:
    """Return the largest absolute value of the finite elements; 0 for a trace's array."""
    if not isinstance(value, NUMBERS) or np.asarray(value).dtype.kind not in "fc":
        return 0.0
    data = np.abs(value)
    return float(np.max(data, initial=0.0, where=np.isfinite(data)))
