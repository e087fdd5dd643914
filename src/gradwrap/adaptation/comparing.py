"""Comparison of results that must be equal but for rounding, with the numbers in objects."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwrap.core.levels.wrapper import AnyWrapper, native
from gradwrap.core.values.dynamic import attributes_of
from gradwrap.core.values.tree import flatten


def parts_of(value: Any) -> list[Any]:
    """Return the leaves of a value, with the attributes in place of each object."""
    leaves = flatten(value)[0]
    return [part for leaf in leaves for part in flatten(_attributes(leaf) or leaf)[0]]


def _attributes(leaf: Any) -> dict[str, Any]:
    return {} if isinstance(leaf, (AnyWrapper, np.ndarray)) else attributes_of(leaf)


def are_equal(first: list[Any], second: list[Any]) -> bool:
    """Tell if the parts of two values are equal; only numbers and arrays are compared."""
    return len(first) == len(second) and all(map(_equal, first, second))


def _equal(one: Any, other: Any) -> bool:
    values = [native(v) if isinstance(v, AnyWrapper) else v for v in (one, other)]
    if not all(isinstance(v, (np.ndarray, np.generic, int, float, complex)) for v in values):
        return True
    first, second = (np.asarray(v) for v in values)
    if first.shape != second.shape or not {first.dtype.kind, second.dtype.kind} <= set("biufc"):
        return bool(first.shape == second.shape)
    return bool(np.allclose(first, second, rtol=1e-9, atol=0.0, equal_nan=True))
