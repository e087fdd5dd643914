"""The space of an array: its shape, dtype and device, and how a value is brought into it."""

from __future__ import annotations

import functools
import math
import weakref
from typing import Any

COMPLEX = "complex floating"
SHAPES = 64


class Meta:
    """Shape, dtype and device of an array; formulas receive it as `x_meta` and save no values.

    `level` is the transform the array is tracked by: operations on two arrays that share one `Meta`
    object agree in shape, dtype, device and level, which the recorder tests by identity. So one of
    them keeps the descriptions made for other shapes, which are mostly few. These refer to it
    weakly: memory goes without the collector.
    """

    __slots__ = ("__weakref__", "device", "dtype", "is_complex", "level", "made", "root", "shape")

    def __init__(
        self, shape: tuple[int, ...], dtype: Any, device: Any, level: int, is_complex: bool
    ) -> None:
        self.shape: tuple[int, ...] = shape
        self.dtype: Any = dtype
        self.device: Any = device
        self.level: int = level
        self.is_complex: bool = is_complex
        self.made: dict[tuple[int, ...], Meta] | None = None
        self.root: weakref.ref[Meta] | None = None

    def of_shape(self, shape: tuple[int, ...]) -> Meta:
        """Return the description of an array with another shape."""
        root = self if self.root is None else self.root() or self
        if root.shape == shape:
            return root
        made = root.made
        if made is None:
            made = root.made = {}
        found = made.get(shape)
        if found is None:
            if len(made) >= SHAPES:
                made.clear()
            found = Meta(tuple(shape), self.dtype, self.device, self.level, self.is_complex)
            found.root = weakref.ref(root)
            made[shape] = found
        return found

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return size_of(self.shape)

    def __repr__(self) -> str:
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"


class Tangent:
    """The tangent of an array, stored where a variable has its node."""

    __slots__ = ("meta", "value")

    def __init__(self, meta: Meta, value: Any) -> None:
        self.meta: Meta = meta
        self.value: Any = value


class Batch:
    """The data of a batch, stored where a variable has its node: the batch axis is the first.

    `meta` describes one example, without the axis. `fallback` is the reaction to an operation
    without a batching rule: `"loop"`, `"warn"` or `"error"`. `diagonal` is the diagonal where the
    data are a diagonal matrix (`gradwrap.core.calls.diagonals`); `is_unit` where that is the unit
    matrix, which the columns of a Jacobian start from.
    """

    __slots__ = ("diagonal", "fallback", "is_unit", "meta", "size")

    def __init__(
        self, meta: Meta, size: int, fallback: str, diagonal: Any = None, *, is_unit: bool = False
    ) -> None:
        self.meta: Meta = meta
        self.size: int = size
        self.fallback: str = fallback
        self.diagonal: Any = diagonal
        self.is_unit: bool = is_unit


def dtype_and_shape(array: Any) -> str:
    """Describe an array, as in `float64[2, 3]`."""
    return f"{array.dtype}[{', '.join(map(str, array.shape))}]"


def size_of(shape: tuple[int, ...]) -> int:
    """Return the number of elements of an array of a shape."""
    size = 1
    for length in shape:
        size *= length
    return size


def same_shape(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    """Tell if shapes agree; NaN, the unknown length of a lazy array, agrees with any length."""
    if a == b:
        return True
    pairs = zip(a, b, strict=False)
    return len(a) == len(b) and all(m == n or math.isnan(m + n) for m, n in pairs)


def same_space(a: Meta, b: Meta) -> bool:
    """Tell if arrays of `a` and `b` agree in shape and dtype."""
    return a is b or (a.shape == b.shape and a.dtype == b.dtype)


def zeros_of(xp: Any, meta: Meta) -> Any:
    """Return zeros in the space of `meta`."""
    return xp.zeros(meta.shape, dtype=meta.dtype, device=meta.device)


def fit_cotangent(xp: Any, cotangent: Any, meta: Meta) -> Any:
    """Bring a cotangent into its argument's space: sum over broadcast axes, project the dtype."""
    if cotangent.shape != meta.shape:
        cotangent = _unbroadcast(xp, cotangent, meta.shape)
    return cast_to(xp, cotangent, meta.dtype)


def fit_tangent(xp: Any, tangent: Any, out: Any) -> Any:
    """Bring a tangent into its output's space: broadcast it, project the dtype."""
    if tuple(tangent.shape) != tuple(out.shape):
        tangent = xp.broadcast_to(tangent, out.shape)
    return cast_to(xp, tangent, out.dtype)


def cast_to(xp: Any, value: Any, dtype: Any) -> Any:
    """Cast to a dtype; take the real part first if only the value is complex."""
    if value.dtype == dtype:
        return value
    if xp.isdtype(value.dtype, COMPLEX) and not xp.isdtype(dtype, COMPLEX):
        value = xp.real(value)
    return value if value.dtype == dtype else xp.astype(value, dtype)


@functools.lru_cache(maxsize=1 << 10)
def _repeated_axes(have: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the axes of `have` along which an array of a shape was repeated."""
    extra = len(have) - len(shape)
    return tuple(range(extra)) + tuple(
        axis + extra for axis, length in enumerate(shape) if length == 1 and have[axis + extra] != 1
    )


def _unbroadcast(xp: Any, cotangent: Any, shape: tuple[int, ...]) -> Any:
    """Sum over the axes along which an argument of this shape was repeated."""
    if len(cotangent.shape) < len(shape):  # a formula may leave out axes of length one
        return xp.broadcast_to(cotangent, shape)
    axes = _repeated_axes(cotangent.shape, shape)
    if axes:
        whole = len(cotangent.shape) == len(shape)
        cotangent = xp.sum(cotangent, axis=axes, dtype=cotangent.dtype, keepdims=whole)
    if cotangent.shape == shape:
        return cotangent
    if size_of(cotangent.shape) == size_of(shape):
        return xp.reshape(cotangent, shape)
    if math.isnan(size_of(shape)):  # of a lazy array that does not know its shape
        for axis, length in enumerate(shape):
            if length == 1 and (cotangent.ndim <= axis or cotangent.shape[axis] != 1):
                cotangent = xp.expand_dims(cotangent, axis=axis)
        if same_shape(cotangent.shape, shape):
            return cotangent
    return xp.broadcast_to(cotangent, shape)
