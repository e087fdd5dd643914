"""What formulas need to know of matrices: stacks of them, in the last two axes."""

from __future__ import annotations

from typing import Any

__all__ = [
    "adjoint",
    "conjugate",
    "diagonal_part",
    "hermitian_part",
    "is_complex",
    "real_part",
    "real_product",
    "reciprocal",
    "rounding",
    "skew_part",
    "transpose",
]


def is_complex(xp: Any, x: Any) -> bool:
    """Whether the dtype is complex."""
    return bool(xp.isdtype(x.dtype, "complex floating"))


def conjugate(xp: Any, x: Any) -> Any:
    """The conjugate; of a real array the array itself, which not every library conjugates."""
    return xp.conj(x) if is_complex(xp, x) else x


def real_part(xp: Any, x: Any) -> Any:
    """The real part; of a real array the array itself."""
    return xp.real(x) if is_complex(xp, x) else x


def real_product(xp: Any, weights: Any, t: Any) -> Any:
    """Element by element, Re(conj(weights) t): how a real result grows along a tangent."""
    return real_part(xp, conjugate(xp, weights) * t)


def transpose(xp: Any, x: Any) -> Any:
    """X^T."""
    return xp.matrix_transpose(x)


def adjoint(xp: Any, x: Any) -> Any:
    """X^H."""
    return xp.matrix_transpose(conjugate(xp, x))


def hermitian_part(xp: Any, x: Any) -> Any:
    """(X + X^H) / 2."""
    return (x + adjoint(xp, x)) / 2


def skew_part(xp: Any, x: Any) -> Any:
    """(X - X^H) / 2."""
    return (x - adjoint(xp, x)) / 2


def diagonal_part(xp: Any, x: Any) -> Any:
    """The matrix with zeros off its diagonal."""
    return xp.tril(xp.triu(x))


def rounding(xp: Any, values: Any, n: int) -> Any:
    """What rounding leaves undecided of the eigenvalues or singular values of an n x n matrix."""
    size = xp.abs(values)
    largest = xp.max(size, axis=-1, keepdims=True) if size.shape[-1] else size
    return float(xp.finfo(size.dtype).eps) * n * largest


def reciprocal(xp: Any, x: Any, tolerance: Any) -> Any:
    """1 / x, and 0 where x is no larger than the tolerance."""
    small = xp.abs(x) <= tolerance
    return xp.where(small, 0.0, 1.0 / xp.where(small, 1.0, x))
