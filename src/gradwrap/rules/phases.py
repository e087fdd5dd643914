"""The phases of complex eigenvectors and singular vectors, as LAPACK chooses them.

A complex vector v may be multiplied by any exp(i phi). LAPACK makes one of its components real:
with `eigh`, the first or the last; with `eig`, the largest; with `svd` of a matrix with no more
columns than rows, the first of each right vector. So a vector that moves by dv, whatever its phase,
turns back by -i v Im(dv_k) / v_k, where v_k is the real component. Where no component tells the
choice, a loss that depends on it has no derivative here, as a loss has none that depends on the
vectors of equal values (`equal_values.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.library.compat import device
from gradwrap.rules.equal_values import warn_of_nan
from gradwrap.rules.matrices import is_complex

if TYPE_CHECKING:
    from collections.abc import Sequence


def real_row(xp: Any, v: Any, rows: Sequence[int] = (0, -1)) -> Any:
    """Return where the row is that is real for all vectors, if one of some rows alone is.

    Return None for real vectors.
    """
    size = v.shape[-2]
    if not is_complex(xp, v) or not size:
        return None
    places = xp.arange(size, device=device(v))[:, None]
    are_real = [xp.all(xp.imag(v[..., row, :]) == 0.0, axis=-1) for row in rows]
    several = len(rows) > 1 and size > 1
    found: Any = False
    for row, is_real in zip(rows, are_real, strict=True):
        is_alone = is_real & ~(are_real[0] & are_real[-1]) if several else is_real
        found = found | (is_alone[..., None, None] & (places == row % size))
    return found & (xp.real(v) != 0.0)


def largest(xp: Any, v: Any) -> Any:
    """Return where the largest component of each vector is, if that is real; None for real ones."""
    if not is_complex(xp, v) or not v.shape[-2]:
        return None
    places = xp.arange(v.shape[-2], device=device(v))[:, None]
    is_largest = places == xp.argmax(xp.abs(v), axis=-2, keepdims=True)
    return is_largest & (xp.imag(v) == 0.0)


def first_of_right(xp: Any, u: Any, v: Any) -> Any:
    """Return where right singular vectors have a real component, the first; None for real ones.

    That of a matrix with more columns than rows is not real.
    """
    return real_row(xp, v, (0,) if u.shape[-2] >= v.shape[-2] else ())


def _over(xp: Any, slopes: Any, v: Any, real: Any) -> Any:
    """Divide numbers for each vector by its real component, at its place; zero elsewhere."""
    return xp.where(real, slopes / xp.where(real, xp.real(v), 1.0), 0.0)


def without_phase(xp: Any, name: str, real: Any, *pairs: tuple[Any, Any]) -> list[Any]:
    """Return cotangents of vectors for tangents of any phase.

    A pair has vectors and their cotangents; those of several pairs turn together. `real` says where
    the first ones have their real components.
    """
    if real is None:
        return [g for _, g in pairs]
    products = [xp.conj(v) * g for v, g in pairs]
    slopes: Any = sum(xp.sum(xp.imag(one), axis=-2, keepdims=True) for one in products)
    sizes: Any = sum(xp.sum(xp.abs(one), axis=-2, keepdims=True) for one in products)
    turns = xp.abs(slopes) > float(xp.finfo(sizes.dtype).eps) ** 0.5 * sizes
    (v, g), *others = pairs
    part = _over(xp, xp.where(turns, slopes, 0.0), v, real)
    untold = turns & ~xp.any(real, axis=-2, keepdims=True)
    warn_of_nan(
        untold,
        f"{name}: the loss depends on the phase of a complex vector, which is a choice of the "
        "library, and no real component tells it: the gradient is NaN. Fix: use a function that "
        "does not depend on it, such as abs(v) or the projection v v^H; or make a component of "
        "each vector real, v * exp(-1j * angle(v[0])).",
    )
    found = [g - 1j * xp.astype(part, v.dtype), *(g for _, g in others)]
    return [xp.where(untold, float("nan"), one) for one in found]


def with_phase(xp: Any, real: Any, *pairs: tuple[Any, Any]) -> list[Any]:
    """Return the tangents of vectors with the phases that the library chooses, where that is known.

    A pair has vectors and their tangents with any phase; see `without_phase`.
    """
    if real is None:
        return [t for _, t in pairs]
    v, t = pairs[0]
    turn = xp.sum(_over(xp, xp.imag(t), v, real), axis=-2, keepdims=True)
    return [t - 1j * v * xp.astype(turn, v.dtype) for v, t in pairs]
