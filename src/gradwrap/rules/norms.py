"""Norms of vectors and matrices."""

from __future__ import annotations

from typing import Any

from gradwrap.core.levels.wrapper import AnyWrapper
from gradwrap.core.library.namespace import composite
from gradwrap.core.table.kinds import reduction
from gradwrap.core.table.registry import register
from gradwrap.rules.axes import kept
from gradwrap.rules.matrices import direction, real_product, rounding


def _vector_norm(xp: Any, g: Any, x: Any, out: Any, axis: Any, keepdims: bool, ord: Any) -> Any:
    """Return g times the gradient of the norm, 0 at norm 0; for inf, ties share it evenly."""
    whole = kept(xp, out, x.ndim, axis, keepdims)
    slope = kept(xp, g, x.ndim, axis, keepdims)
    nothing = whole == 0
    if ord == 2:  # at norm 0 the weights are 0 for derivatives of all orders
        return (slope / xp.where(nothing, float("inf"), whole)) * x
    if ord == 0:
        return xp.zeros_like(x)
    size = xp.abs(x)
    if ord in (1, float("inf"), float("-inf")):
        if ord != 1:
            chosen = size == whole
            count = xp.sum(xp.astype(chosen, size.dtype), axis=axis, keepdims=True)
            slope = xp.where(chosen, slope / count, 0.0)
        return slope * direction(xp, x, size)
    safe = xp.where(nothing, 1.0, whole)
    positive = xp.where(size == 0, 1.0, size)
    power = xp.where(size == 0, 0.0 * size, (positive / safe) ** (ord - 1.0))
    return slope * xp.where(nothing, 0.0 * x, power * direction(xp, x, size))


def _matrix_norm(xp: Any, g: Any, x: Any, keepdims: bool, ord: Any) -> Any:
    """Return g times u v^H for the orders 2 and -2, shared evenly at ties: Giles 5.2.

    For the nuclear norm it is g times U V^H, for the singular values above rounding error.
    """
    u, s, vh = xp.linalg.svd(x, full_matrices=False)
    s = s.detach() if isinstance(s, AnyWrapper) else s  # it only chooses
    if ord == "nuc":
        weights = xp.astype(s > rounding(xp, s, max(x.shape[-2:])), s.dtype)
    else:
        chosen = s == (s[..., :1] if ord == 2 else s[..., -1:])
        weights = xp.astype(chosen, s.dtype)
        weights = weights / xp.sum(weights, axis=-1, keepdims=True)
    slope = g if keepdims else g[..., None, None]
    return slope * xp.matmul(u * xp.astype(weights, u.dtype)[..., None, :], vh)


def _vector_norm_jvp(xp: Any, t: Any, x: Any, out: Any, axis: Any, keepdims: bool, ord: Any) -> Any:
    weights = _vector_norm(xp, xp.ones_like(out), x, out, axis, keepdims, ord)
    return xp.sum(real_product(xp, weights, t), axis=axis, keepdims=keepdims)


def _matrix_norm_jvp(xp: Any, t: Any, x: Any, out: Any, keepdims: bool, ord: Any) -> Any:
    weights = _matrix_norm(xp, xp.ones_like(out), x, keepdims, ord)
    return xp.sum(real_product(xp, weights, t), axis=(-2, -1), keepdims=keepdims)


RULES = [
    reduction(
        "linalg.vector_norm",
        "x, /, *, axis=None, keepdims=False, ord=2",
        _vector_norm,
        jvp=_vector_norm_jvp,
        holomorphic=False,
        samples=(
            "x(3, 4)",
            "x(3, 4), axis=0",
            "x(3, 4), axis=-1, keepdims=True, ord=1",
            "x(5), ord=3",
            "x(5), ord=float('inf')",
        ),
        convention="0 where the norm is 0; ties of inf shared evenly",
        numpy="linalg.vector_norm",
    ),
    reduction(
        "spectral_norm",
        "x, /, *, keepdims=False, ord='nuc'",
        _matrix_norm,
        jvp=_matrix_norm_jvp,
        holomorphic=False,
        native=lambda xp, x, keepdims=False, ord="nuc": xp.linalg.matrix_norm(
            x, keepdims=keepdims, ord=ord
        ),
        samples=("spd(3), ord='nuc'", "x(2, 3, 2), ord=2", "x(2, 3), ord=-2, keepdims=True"),
        convention="U V^H of the singular values that are not 0; ties shared evenly",
        batch="last",
    ),
]
register(RULES)


@composite("linalg.matrix_norm")
def matrix_norm(xp: Any, x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """Compute a matrix norm by the elements, by sums of rows or columns, or by singular values."""
    if ord in ("fro", None):
        return xp.linalg.vector_norm(x, axis=(-2, -1), keepdims=keepdims)
    if ord in (1, -1, float("inf"), float("-inf")):
        summed, chosen = (-2, -1) if abs(ord) == 1 else (-1, -2)
        totals = xp.sum(xp.abs(x), axis=summed, keepdims=True)
        extreme = xp.max if ord > 0 else xp.min
        if ord > 0 and not totals.shape[chosen]:
            extreme = xp.sum  # of no elements: zero
        found = extreme(totals, axis=chosen, keepdims=True)
        return found if keepdims else xp.squeeze(found, axis=(-2, -1))
    return xp.spectral_norm(x, keepdims=keepdims, ord=ord)
