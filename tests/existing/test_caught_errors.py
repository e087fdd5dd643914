"""Errors of code that takes plain values alone, which adapted code catches."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import TrackedValueError

if TYPE_CHECKING:
    from collections.abc import Callable


class Ratio(Fraction):
    """A class of the package, which adapting leaves as it is."""


class Amount(Decimal):
    """The same, of compiled code."""


def by_decimal(x: Any) -> Any:
    try:
        found = Amount(x)
    except TypeError:
        found = Amount(1)
    return 0.5 * float(found) + x


def by_fraction(x: Any) -> Any:
    """Call Python code of the standard library, whose error does not name the class of `x`."""
    try:
        found = Ratio(float(x))
    except (TypeError, KeyError):
        found = Ratio(1)
    return 0.5 * float(found) + x


def by_memory(x: Any) -> Any:
    try:
        whole: Any = np.atleast_1d(x)
        found: Any = memoryview(whole).tolist()[0]
    except Exception:  # noqa: BLE001  as packages do it
        found = 1.0
    return 0.5 * found + x


def by_bare_handler(x: Any) -> Any:
    try:
        return 0.5 * float(Amount(x)) + x
    except:  # noqa: E722  as packages do it
        return 0.5 + x


@pytest.mark.parametrize("function", [by_decimal, by_fraction, by_memory, by_bare_handler])
def test_an_error_that_tracked_values_cause_is_not_dropped(function: Callable[..., Any]) -> None:
    message = r"(Type|Value)Error: .*given tracked ones in by_.*numerical.*has caught this error"
    for transform in (gw.grad, lambda f: lambda x: gw.jvp(f, (x,), (1.0,))):
        with pytest.raises(TrackedValueError, match=message):
            transform(gw.adapting(function))(1.3)
    by_differences = gw.grad(gw.adapting(function, compiled="numerical"))
    assert np.allclose([by_differences(1.3), by_differences(0.7)], 1.5, rtol=1e-8)


def same_without(x: Any) -> Any:
    """Catch an error that plain values cause as well."""
    try:
        count = len(x)
    except TypeError:
        count = 3
    try:
        Fraction(str(x)[:1] + "/")
    except ValueError:
        return count * x * x
    return x


def test_an_error_that_plain_values_cause_changes_nothing() -> None:
    assert np.allclose(gw.grad(gw.adapting(same_without))(1.3), 7.8, rtol=1e-12)
