"""Functions of square matrices, and the pseudoinverse.

The formulas follow M. B. Giles, "An extended collection of matrix derivative results for forward
and reverse mode algorithmic differentiation" (Oxford, 2008), cited by section.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from gradwrap.core.library.compat import device
from gradwrap.core.library.namespace import composite
from gradwrap.core.table.kinds import general, joint, nondifferentiable
from gradwrap.core.table.registry import register
from gradwrap.rules.axes import products_of_others
from gradwrap.rules.matrices import adjoint, conjugate, is_complex

if TYPE_CHECKING:
    from collections.abc import Callable


def _solve(xp: Any, g: Any, x1: Any, out: Any, x2_meta: Any) -> tuple[Any, Any]:
    """Return the cotangents, Giles 2.3.1: A^-T g for b, and minus this times out^T for A."""
    if len(x2_meta.shape) == 1:  # b is one column, even for a stack of matrices
        of_b = xp.linalg.solve(xp.matrix_transpose(x1), xp.expand_dims(g, axis=-1))
        return -(of_b * xp.expand_dims(out, axis=-2)), of_b[..., 0]
    of_b = xp.linalg.solve(xp.matrix_transpose(x1), g)
    return -xp.matmul(of_b, xp.matrix_transpose(out)), of_b


def _solve_for_matrix(xp: Any, t: Any, x1: Any, out: Any, x2_meta: Any) -> Any:
    if len(x2_meta.shape) > 1:
        return -xp.linalg.solve(x1, t @ out)
    return -xp.linalg.solve(x1, t @ out[..., None])[..., 0]


def _inv(xp: Any, g: Any, out: Any) -> Any:
    """Return the matrix's cotangent: Giles 2.2.3."""
    transposed = xp.matrix_transpose(out)
    return -xp.matmul(xp.matmul(transposed, g), transposed)


def _cofactors(xp: Any, x: Any) -> Any:
    """Compute the cofactor matrix by the SVD, which works for singular matrices too.

    With x = U S V^H it is the conjugate of conj(det(U) det(V^H)) U D V^H, where each element of the
    diagonal matrix D is the product of the other elements of S. G. W. Stewart, "On the adjugate
    matrix", Linear Algebra Appl. 283 (1998), eq. 2.
    """
    if not x.shape[-1]:
        return x
    u, s, vh = xp.linalg.svd(x)
    phase = xp.linalg.det(u) * xp.linalg.det(vh)
    middle = xp.astype(products_of_others(xp, s), u.dtype)
    adjugate = xp.matmul(u * middle[..., None, :], vh)
    return conjugate(xp, adjugate) * phase[..., None, None]


def _cofactors_derivative(xp: Any, g: Any, x: Any) -> Any:
    """Apply the second derivative of the determinant to g: it is linear, and symmetric.

    In the basis of the SVD the matrix is diagonal, and a product of two elements of g is multiplied
    by the product of all singular values except those of its two rows. O(n^3).
    """
    if x.shape[-1] < 2:
        return xp.zeros_like(x)
    if hasattr(xp, "_class"):
        return _cofactors_derivative_by_minors(xp, g, x)
    u, s, vh = xp.linalg.svd(x)
    phase = (xp.linalg.det(u) * xp.linalg.det(vh))[..., None, None]
    pairs = xp.astype(_all_but_two(xp, s), u.dtype)
    cu, cv = conjugate(xp, u), conjugate(xp, vh)
    inner = xp.matmul(xp.matmul(xp.matrix_transpose(cu), g), xp.matrix_transpose(cv))
    diagonal = xp.linalg.diagonal(inner)
    on_diagonal = xp.sum(pairs * diagonal[..., None, :], axis=-1)
    eye = xp.eye(x.shape[-1], dtype=u.dtype, device=device(x))
    result = on_diagonal[..., None, :] * eye - pairs * xp.matrix_transpose(inner)
    return phase * xp.matmul(xp.matmul(cu, result), cv)


def _cofactors_derivative_by_minors(xp: Any, g: Any, x: Any) -> Any:
    """Return the derivative of the cofactors by the n^2 minors; it can be differentiated again.

    An SVD has no derivative where singular values are equal or zero; a determinant has one, of any
    order. O(n^5), for the third order and above.
    """
    slopes = xp.sum(cofactors_of(xp, _minors(xp, x)) * _minors(xp, g), axis=(-2, -1))
    n = x.shape[-1]
    places = xp.arange(n, device=device(x))
    odd = (places[:, None] + places[None, :]) % 2 == 1
    return xp.where(odd, -slopes, slopes)


def _minors(xp: Any, x: Any) -> Any:
    """Return at i, j the matrix without row i and column j, in two new axes."""
    n = x.shape[-1]
    places = xp.arange(n - 1, device=device(x))
    others = xp.stack([xp.astype(places >= i, places.dtype) + places for i in range(n)])
    rows = xp.reshape(xp.take(x, xp.reshape(others, (-1,)), axis=-2), (*x.shape[:-2], n, n - 1, n))
    both = xp.take(rows, xp.reshape(others, (-1,)), axis=-1)
    both = xp.reshape(both, (*x.shape[:-2], n, n - 1, n, n - 1))
    return xp.moveaxis(both, -2, -3)


def _all_but_two(xp: Any, s: Any) -> Any:
    """Return for each pair i, j the product of the other elements, with zeros on the diagonal."""
    n = s.shape[-1]
    columns: list[Any] = []
    for i in range(n):
        rest = xp.concat([s[..., :i], s[..., i + 1 :]], axis=-1)
        products = products_of_others(xp, rest)
        column = xp.concat(
            [products[..., :i], xp.zeros_like(s[..., :1]), products[..., i:]], axis=-1
        )
        columns.append(column)
    return xp.stack(columns, axis=-1)


def _slogdet(xp: Any, g: Any, x: Any, out: Any) -> tuple[Any]:
    """Return the matrix's cotangent: Giles 2.2.4 for the logarithm; a complex sign turns too.

    With t = tr(x^-1 dx), d logabsdet = Re t, and d sign = i sign Im t.
    """
    sign, _ = out
    of_sign, of_log = g
    inverse = _transposed_inverse(xp, x)
    if not is_complex(xp, x):
        return (of_log[..., None, None] * inverse,)
    turn = xp.imag(of_sign * xp.conj(sign))
    slope = xp.astype(of_log, x.dtype) + 1j * xp.astype(turn, x.dtype)
    return (slope[..., None, None] * xp.conj(inverse),)


def _slogdet_jvp(xp: Any, t: Any, x: Any, out: Any) -> tuple[Any, Any]:
    sign, _ = out
    slope = xp.sum(t * _transposed_inverse(xp, x), axis=(-2, -1))
    if not is_complex(xp, x):
        return xp.zeros_like(sign), slope
    return 1j * sign * xp.astype(xp.imag(slope), x.dtype), xp.real(slope)


def _transposed_inverse(xp: Any, x: Any) -> Any:
    """Return the transposed inverse; for a singular matrix, the cofactors times infinity."""
    try:
        return xp.matrix_transpose(xp.linalg.inv(x))
    except ValueError:  # NumPy's LinAlgError; other libraries return inf themselves
        cofactors = cofactors_of(xp, x)
        return xp.where(cofactors == 0, 0.0 * cofactors, cofactors * float("inf"))


def _pinv(xp: Any, g: Any, x: Any, out: Any) -> Any:
    """Return the cotangent, for a constant rank: G. H. Golub and V. Pereyra (1973), eq. 4.12.

    "The differentiation of pseudo-inverses and nonlinear least squares problems whose variables
    separate", SIAM J. Numer. Anal. 10.
    """
    back, of = adjoint(xp, out), adjoint(xp, g)
    right, left = of @ out @ back, back @ (out @ of)
    return right - x @ (out @ right) + left - (left @ out) @ x - back @ g @ back


def _pinv_jvp(xp: Any, t: Any, x: Any, out: Any) -> Any:
    back, moved = adjoint(xp, out), adjoint(xp, t)
    right, left = out @ (back @ moved), (moved @ back) @ out
    return right - (right @ x) @ out + left - out @ (x @ left) - out @ t @ out


def _least_squares(xp: Any, a: Any, b: Any, rtol: float) -> Any:
    return _solved(xp, a, rtol)(b, False)


def _solved(xp: Any, a: Any, rtol: float) -> Callable[[Any, bool], Any]:
    """Return a function that applies the pseudoinverse of `a`, or its adjoint, to columns.

    The product with the pseudoinverse itself loses the digits that its condition number has.
    """
    if hasattr(xp, "_class"):
        return lambda b, is_back: xp.least_squares(adjoint(xp, a) if is_back else a, b, rtol=rtol)
    u, s, vh = xp.linalg.svd(a, full_matrices=False)
    kept = s > rtol * s[..., :1]
    weights = xp.astype(xp.where(kept, 1 / xp.where(kept, s, 1), 0), u.dtype)[..., None]
    v, back = adjoint(xp, vh), adjoint(xp, u)

    def solved(b: Any, is_back: bool) -> Any:
        return u @ (weights * (vh @ b)) if is_back else v @ (weights * (back @ b))

    return solved


def _least_squares_vjp(xp: Any, g: Any, a: Any, b: Any, out: Any, rtol: float) -> tuple[Any, Any]:
    """Return the cotangents, for a constant rank: Golub and Pereyra (1973), 4.12, of columns.

    What should lie in a null space is projected there: the products with `out` have rounded it.
    """
    solved = _solved(xp, a, rtol)
    of_b = solved(g, True)
    rest, null = b - a @ out, g - adjoint(xp, a) @ of_b
    rest, null = rest - a @ solved(rest, False), null - adjoint(xp, a) @ solved(null, True)
    of_rest = rest @ adjoint(xp, solved(of_b, False))
    of_null = solved(out, True) @ adjoint(xp, null)
    return of_rest + of_null - of_b @ adjoint(xp, out), of_b


def _least_squares_for_matrix(xp: Any, t: Any, a: Any, b: Any, out: Any, rtol: float) -> Any:
    solved, moved = _solved(xp, a, rtol), adjoint(xp, t)
    rest = b - a @ out
    rest, null = moved @ (rest - a @ solved(rest, False)), moved @ solved(out, True)
    for _ in range(2):
        null = null - solved(a @ null, False)
    return solved(solved(rest, True) - t @ out, False) + null


SQUARE = "spd(3)"

RULES = [
    joint(
        "linalg.solve",
        "x1, x2, /",
        _solve,
        arrays=2,
        jvp=(_solve_for_matrix, lambda xp, t, x1: xp.linalg.solve(x1, t)),
        samples=(
            f"{SQUARE}, x(3)",
            f"{SQUARE}, x(3, 2)",
            "spd(2, 3), x(2, 3, 1)",
            "spd(3, 3), x(3)",
            "spd(0), x(0, 2)",
        ),
        numpy="linalg.solve(a, b)",
        batch="solve",
    ),
    general(
        "linalg.inv",
        "x, /",
        _inv,
        jvp=lambda xp, t, out: -(out @ t @ out),
        samples=(SQUARE, "spd(2, 3)", "spd(0)"),
        numpy="linalg.inv(a)",
        batch="last",
    ),
    general(
        "linalg.det",
        "x, /",
        lambda xp, g, x: g[..., None, None] * cofactors_of(xp, x),
        jvp=lambda xp, t, x: xp.sum(t * cofactors_of(xp, x), axis=(-2, -1)),
        samples=(SQUARE, "x(2, 3, 3)", "singular(3)", "spd(1)", "spd(0)", "spd(0, 3)"),
        convention="the cofactor matrix, also of a singular matrix",
        numpy="linalg.det(a)",
        batch="last",
    ),
    general(
        "cofactors",
        "x, /",
        _cofactors_derivative,
        jvp=lambda xp, t, x: _cofactors_derivative(xp, t, x),
        native=_cofactors,
        samples=(SQUARE, "x(2, 3, 3)", "singular(3)", "spd(2)", "spd(0)"),
        batch="last",
    ),
    joint(
        "linalg.slogdet",
        "x, /",
        _slogdet,
        outputs=2,
        jvp=_slogdet_jvp,
        holomorphic=False,
        samples=(SQUARE, "spd(2, 3)", "spd(0)", "spd(0, 3)"),
        convention="inf for a singular matrix",
        numpy="linalg.slogdet(a)",
        batch="last",
    ),
    general(
        "linalg.pinv",
        "x, /, *, rtol=None",
        _pinv,
        jvp=_pinv_jvp,
        holomorphic=False,
        samples=(SQUARE, "x(2, 4, 2)", "x(2, 4)", "x(0, 0)", "x(0, 3, 2)"),
        convention="among the matrices of the same rank",
        batch="last",
    ),
    joint(
        "least_squares",
        "a, b, /, *, rtol",
        _least_squares_vjp,
        arrays=2,
        jvp=(
            _least_squares_for_matrix,
            lambda xp, t, a, rtol: _least_squares(xp, a, t, rtol=rtol),
        ),
        holomorphic=False,
        native=_least_squares,
        samples=(
            "x(4, 2), x(4, 1), rtol=1e-12",
            "x(2, 4), x(2, 3), rtol=1e-12",
            "spd(3), x(3, 2), rtol=1e-12",
        ),
        convention="among the matrices of the same rank",
        batch="least_squares",
    ),
    nondifferentiable(
        "linalg.matrix_rank",
        "x, /, *, rtol=None",
        "an integer, constant wherever it is continuous",
        batch="last",
    ),
]
register(RULES)


def cofactors_of(xp: Any, x: Any) -> Any:
    """Return the cofactor matrix, recorded if the namespace records."""
    return xp.cofactors(x) if hasattr(xp, "_class") else _cofactors(xp, x)


@composite("linalg.matrix_power")
def matrix_power(xp: Any, x: Any, n: int, /) -> Any:
    """Multiply repeated squares of a matrix, or of its inverse for a negative power."""
    n = operator.index(n)
    x = xp.asarray(x)  # so that a native array gives a variable too
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ValueError(
            f"linalg.matrix_power got an array of shape {tuple(x.shape)}. "
            "Fix: pass square matrices, in the last two axes."
        )
    if n < 0:
        x, n = xp.linalg.inv(x), -n
    result = None
    while n:
        if n & 1:
            result = x if result is None else result @ x
        n >>= 1
        x = x @ x if n else x
    if result is None:
        return xp.zeros_like(x) + xp.eye(x.shape[-1], dtype=x.dtype, device=device(x))
    return result
