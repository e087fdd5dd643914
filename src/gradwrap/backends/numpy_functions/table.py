"""The table of NumPy's functions, and what their implementations share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["IMPLEMENTATIONS", "Implementation", "NoValue", "flag", "given", "implements", "sizes"]

Implementation = Callable[..., Any]
IMPLEMENTATIONS: dict[Any, Implementation] = {}
NoValue = np._NoValue


def implements(*functions: Any) -> Callable[[Implementation], Implementation]:
    """Enter an implementation of a function of NumPy."""

    def enter(implementation: Implementation) -> Implementation:
        for function in functions:
            IMPLEMENTATIONS[function] = implementation
        return implementation

    return enter


def given(value: Any) -> bool:
    return value is not NoValue and value is not None


def flag(keepdims: Any) -> bool:
    return keepdims is not NoValue and bool(keepdims)


def sizes(shape: Any) -> tuple[int, ...]:
    return (int(shape),) if not isinstance(shape, (tuple, list)) else tuple(int(n) for n in shape)


def with_axes(xp: Any, a: Any, ndim: int) -> Any:
    shape = tuple(a.shape)
    if len(shape) >= ndim:
        return a
    if ndim == 3:
        wanted = {0: (1, 1, 1), 1: (1, *shape, 1), 2: (*shape, 1)}[len(shape)]
    else:
        wanted = (1,) * (ndim - len(shape)) + shape
    return xp.reshape(a, wanted)
