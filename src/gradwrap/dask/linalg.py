"""The functions of `dask.array.linalg` that differ from NumPy's, on tracked matrices.

The factors are divided into chunks as Dask divides them: those of a tall matrix keep its chunks of
rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap import custom_vjp
from gradwrap.dask.linear import plain
from gradwrap.errors import NoRuleError
from gradwrap.extend import innermost, is_recorded

if TYPE_CHECKING:
    from collections.abc import Callable

    da: Any
    native: Any
else:
    import dask.array as da
    from dask.array import linalg as native

untyped: Any = np


def _where_tracked(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that calls Dask's own function if nothing is tracked."""
    known: Any = getattr(native, function.__name__)

    def called(*args: Any, **options: Any) -> Any:
        if not is_recorded([args, options]):
            return known(*plain(args), **options)
        return function(*args, **options)

    called.__name__, called.__doc__ = function.__name__, known.__doc__
    return called


# Factors ------------------------------------------------------------------------------------------


@_where_tracked
def cholesky(a: Any, lower: bool = False) -> Any:
    return untyped.linalg.cholesky(a, upper=not lower)


@_where_tracked
def qr(a: Any) -> Any:
    return untyped.linalg.qr(a)


@_where_tracked
def tsqr(data: Any, compute_svd: bool = False, _max_vchunk_size: Any = None) -> Any:
    return _decomposed(data) if compute_svd else qr(data)


@_where_tracked
def sfqr(data: Any, name: Any = None) -> Any:  # noqa: ARG001  Dask's
    return qr(data)


def _decomposed(a: Any) -> Any:
    return tuple(untyped.linalg.svd(a, full_matrices=False))


def _basis(a: Any) -> Any:
    return qr(a)[0]


def _itself(a: Any) -> Any:
    return a


def _with_signs(u: Any, v: Any) -> Any:
    """Return the vectors with Dask's signs: no row of `v` has a negative sum."""
    signs = 2.0 * (v.sum(axis=1) >= 0) - 1.0
    return u * signs, v * signs[:, None]


@_where_tracked
def svd(a: Any, coerce_signs: bool = True, full_matrices: bool = False) -> Any:
    if full_matrices:
        raise NoRuleError("dask.array.linalg.svd has no full matrices. Fix: omit full_matrices=.")
    u, s, v = _decomposed(a)
    u, v = _with_signs(u, v) if coerce_signs else (u, v)
    return u, s, v


@_where_tracked
def svd_compressed(  # noqa: PLR0913  Dask's parameters
    a: Any,
    k: int,
    iterator: str = "power",
    n_power_iter: int = 0,
    n_oversamples: int = 10,
    seed: Any = None,
    compute: bool = False,
    coerce_signs: bool = True,
) -> Any:
    """Differentiate through the random projection (Halko, Martinsson and Tropp, 2011)."""
    if compute:
        raise NoRuleError(
            "dask.array.linalg.svd_compressed of a tracked matrix with compute= has no rule: the "
            "gradient goes through all its steps. Fix: omit compute=."
        )
    size: int = native.compression_level(min(a.shape), k, n_oversamples)
    random = seed if isinstance(seed, da.random.RandomState) else da.random.default_rng(seed)
    normal = random.standard_normal(
        size=(a.shape[1], size), chunks=(innermost(a).chunks[1], (size,))
    )
    between: Any = _itself if iterator == "power" else _basis
    image = between(a @ normal.astype(np.finfo(a.dtype).dtype))
    for _ in range(n_power_iter):
        image = between(a @ between(a.T @ image))
    basis = _basis(image)
    v, s, u = _decomposed((basis.T @ a).T)
    u, s, v = (basis @ u.T)[:, :k], s[:k], v.T[:k]
    u, v = _with_signs(u, v) if coerce_signs else (u, v)
    return u, s, v


# Triangles ----------------------------------------------------------------------------------------


def _solved(a: Any, b: Any, lower: bool) -> Any:
    return native.solve_triangular(a, b, lower=lower)


def _solved_forward(a: Any, b: Any, lower: bool) -> Any:
    x = _solve(a, b, lower)
    return x, (a, x)


def _solved_backward(lower: bool, residuals: Any, g: Any) -> Any:
    a, x = residuals
    of_b = _solve(a.T.conj(), g, not lower)
    outer = of_b[:, None] * x.conj()[None, :] if x.ndim == 1 else of_b @ x.T.conj()
    return (-np.tril(outer) if lower else -np.triu(outer)), of_b


_solve: Any = custom_vjp(_solved, nondiff_argnums=2)
_solve.defvjp(_solved_forward, _solved_backward)


@_where_tracked
def solve_triangular(a: Any, b: Any, lower: bool = False) -> Any:
    return _solve(a, b, lower)


def _factors(a: Any) -> Any:
    return tuple(native.lu(a))


def _factors_forward(a: Any) -> Any:
    p, lower, upper = _lu(a)
    return (p, lower, upper), (p, lower, upper)


def _factors_backward(residuals: Any, g: Any) -> Any:
    """Return A's cotangent: dL = L tril(L⁻¹ dA U⁻¹, -1), dU = triu(L⁻¹ dA U⁻¹) U."""
    p, lower, upper = residuals
    _, of_lower, of_upper = g
    inside = np.tril(lower.T.conj() @ of_lower, -1) + np.triu(of_upper @ upper.T.conj())
    left = _solve(lower.T.conj(), inside, False)
    return (p @ _solve(upper, left.T.conj(), False).T.conj(),)


_lu: Any = custom_vjp(_factors)
_lu.defvjp(_factors_forward, _factors_backward)


@_where_tracked
def lu(a: Any) -> Any:
    if a.shape[0] != a.shape[1]:
        raise NoRuleError(
            f"dask.array.linalg.lu of a tracked matrix of shape {a.shape} has no rule: only a "
            "square one has. Fix: qr."
        )
    return _lu(a)


# Equations ----------------------------------------------------------------------------------------


@_where_tracked
def solve(a: Any, b: Any, sym_pos: Any = None, assume_a: str = "gen") -> Any:  # noqa: ARG001  Dask's
    return untyped.linalg.solve(a, b)


@_where_tracked
def lstsq(a: Any, b: Any) -> Any:
    q, r = qr(a)
    x = solve_triangular(r, q.T.conj() @ b)
    rest = b - a @ x
    residuals = (np.abs(rest) ** 2).sum(axis=0, keepdims=b.ndim == 1)
    rank = native.lstsq(innermost(a), innermost(b))[2]
    return x, residuals, rank, _decomposed(r)[1]


FUNCTIONS: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        *(cholesky, lstsq, lu, qr, sfqr, solve, solve_triangular, svd, svd_compressed, tsqr),
    )
}
"""By their names in `dask.array.linalg`."""
