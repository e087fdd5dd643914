"""Checks for any function of NumPy: NumPy's result, and the numerical derivatives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import gradwrap as gw
from lambdas import is_a

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def assert_same(value: Any, expected: Any) -> None:
    """Assert equal structure, shapes, dtypes and values."""
    if is_a(expected, tuple, list):
        assert is_a(value, tuple, list)
        assert len(value) == len(expected)
        for part, other in zip(value, expected, strict=True):
            assert_same(part, other)
        return
    assert np.shape(value) == np.shape(expected)
    assert np.asarray(value).dtype == np.asarray(expected).dtype
    np.testing.assert_allclose(value, expected, rtol=1e-12, atol=1e-14)


def check(function: Callable[..., Any], args: Sequence[Any], order: int = 2) -> None:
    """Assert that tracked arrays give the same as plain ones, and check the gradients."""
    copies = [np.copy(a) for a in args]
    value, _ = gw.vjp(function, *args)

    assert_same(value, gw.unwrap(function(*args)))
    gw.testing.check_grads(function, args, order=order)
    for arg, before in zip(args, copies, strict=True):
        np.testing.assert_array_equal(arg, before)
