"""What is known of an array without its values: shape, dtype, device, level."""

from __future__ import annotations

import math
from typing import Any

__all__ = ["Meta", "same_shape", "same_space", "size_of"]


class Meta:
    """Shape, dtype and device of an array; formulas receive it as `x_meta` and save no values.

    `level` is the transform the array is tracked by: operations on two arrays that share one
    `Meta` object agree in shape, dtype, device and level, which the recorder tests by identity.
    """

    __slots__ = ("device", "dtype", "is_complex", "level", "shape")

    def __init__(
        self, shape: tuple[int, ...], dtype: Any, device: Any, level: int, is_complex: bool
    ) -> None:
        self.shape: tuple[int, ...] = shape
        self.dtype: Any = dtype
        self.device: Any = device
        self.level: int = level
        self.is_complex: bool = is_complex

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return size_of(self.shape)

    def __repr__(self) -> str:
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"


def size_of(shape: tuple[int, ...]) -> int:
    """The number of elements of an array of a shape."""
    size = 1
    for length in shape:
        size *= length
    return size


def same_shape(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    """Whether shapes agree as far as they are known: lazy arrays have lengths that are NaN."""
    if a == b:
        return True
    pairs = zip(a, b, strict=False)
    return len(a) == len(b) and all(m == n or math.isnan(m + n) for m, n in pairs)


def same_space(a: Meta, b: Meta) -> bool:
    """Whether arrays of `a` and `b` agree in shape and dtype."""
    return a is b or (a.shape == b.shape and a.dtype == b.dtype)
