"""Functions for stacks of matrices in the last two axes, which formulas use."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwrap.core.levels.wrapper import innermost


def is_complex(xp: Any, x: Any) -> bool:
    """Return whether the dtype is complex."""
    return bool(xp.isdtype(x.dtype, "complex floating"))


def conjugate(xp: Any, x: Any) -> Any:
    """Return the conjugate, or a real array itself, which some libraries cannot conjugate."""
    return xp.conj(x) if is_complex(xp, x) else x


def real_part(xp: Any, x: Any) -> Any:
    """Return the real part, or a real array itself."""
    return xp.real(x) if is_complex(xp, x) else x


def real_product(xp: Any, weights: Any, t: Any) -> Any:
    """Return Re(conj(weights) t), elementwise: the growth of a real result along a tangent."""
    return real_part(xp, conjugate(xp, weights) * t)


def direction(xp: Any, x: Any, size: Any) -> Any:
    """Return x / |x| elementwise, and 0 at 0, given |x|."""
    return x / xp.where(size == 0, 1.0, size) if is_complex(xp, x) else xp.sign(x)


def transpose(xp: Any, x: Any) -> Any:
    """Return X^T."""
    return xp.matrix_transpose(x)


def adjoint(xp: Any, x: Any) -> Any:
    """Return X^H."""
    return xp.matrix_transpose(conjugate(xp, x))


def hermitian_part(xp: Any, x: Any) -> Any:
    """Return (X + X^H) / 2."""
    return (x + adjoint(xp, x)) / 2


def as_read(xp: Any, x: Any, upper: bool = False, adjoined: Any = adjoint) -> Any:
    """Return the Hermitian matrix that a function sees if it reads one triangle of `x`.

    If the triangles differ by more than rounding errors, the other one is replaced, so that the
    gradient lies in the triangle that is read. If `x` is Hermitian, it is returned itself, and its
    gradient is shared between the triangles.
    """
    data = innermost(x)
    if x.ndim < 2 or 0 in data.shape or x.shape[-1] != x.shape[-2]:
        return x
    on = data if type(data) is np.ndarray else x
    if on is data and bool(np.all(data == adjoined(np, data))):
        return x
    of = np if on is data else xp
    size = of.max(of.abs(on), axis=(-2, -1), keepdims=True)
    apart = of.abs(on - adjoined(of, on)) > 1e-8 * size
    differs = of.any(apart, axis=(-2, -1), keepdims=True)
    if on is data and not differs.any():
        return x
    strict = xp.triu(x, k=1) if upper else xp.tril(x, k=-1)
    read = xp.triu(x) if upper else xp.tril(x)
    whole = read + adjoined(xp, strict)
    return whole if on is data else xp.where(differs, whole, x)


def skew_part(xp: Any, x: Any) -> Any:
    """Return (X - X^H) / 2."""
    return (x - adjoint(xp, x)) / 2


def rounding(xp: Any, values: Any, n: int) -> Any:
    """Return the rounding error of the eigenvalues or singular values of an n x n matrix."""
    size = xp.abs(values)
    largest = xp.max(size, axis=-1, keepdims=True) if size.shape[-1] else size
    return float(xp.finfo(size.dtype).eps) * n * largest


def reciprocal(xp: Any, x: Any, tolerance: Any) -> Any:
    """Return 1 / x, and 0 where |x| is at most the tolerance."""
    small = xp.abs(x) <= tolerance
    return xp.where(small, 0.0, 1.0 / xp.where(small, 1.0, x))
