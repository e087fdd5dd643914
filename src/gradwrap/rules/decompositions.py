"""The decompositions of the linear algebra extension.

Every formula is the adjoint, in the inner product Re tr(A^H B), of the linear map from a tangent of
the matrix to the tangents of the factors. So the rows are `holomorphic=False`, and serve real and
complex matrices alike. Vectors are determined only up to a choice: a sign, which stays, and the
phase of complex ones, which is LAPACK's where a real component tells it (`phases.py`).

If two eigenvalues (or singular values) are equal up to rounding, the term that would divide by
their difference is dropped. That is exact for a loss that depends on their vectors only through the
space they span; for one that depends on the choice of vectors, the gradient is NaN. V f(w) V^H, and
a second derivative of a function of w, would also need f'(w), which the cotangents of w and V do
not contain. There is a warning, and the second derivative is NaN (`equal_values.py`): formulas that
are differentiated again take their vectors from `eigh_of_values`, `eig_of_values` and
`svd_of_values`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwrap.core.levels.wrapper import is_recorded
from gradwrap.core.library.compat import device
from gradwrap.core.library.namespace import composite
from gradwrap.core.table.kinds import general, joint
from gradwrap.core.table.registry import register
from gradwrap.rules.equal_values import (
    check_distinct,
    check_independent,
    defined,
    defined_by_span,
    inverse_gaps,
    weighs_equals,
)
from gradwrap.rules.matrices import (
    adjoint,
    hermitian_part,
    real_part,
    real_product,
    reciprocal,
    rounding,
    skew_part,
)
from gradwrap.rules.phases import first_of_right, largest, real_row, with_phase, without_phase

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Unpack

    from gradwrap.core.table.rule import FormulaFunction, Rule, RuleOptions


def _half_lower(xp: Any, x: Any) -> Any:
    """Return the lower triangle, with its diagonal halved."""
    return (xp.tril(x) + xp.tril(x, k=-1)) / 2


def _cholesky(xp: Any, g: Any, out: Any, upper: bool) -> Any:
    """Return the matrix's cotangent: I. Murray (2016), arXiv:1602.07527."""
    lower, of_lower = (adjoint(xp, out), adjoint(xp, g)) if upper else (out, g)
    back = adjoint(xp, lower)
    half = xp.linalg.solve(back, _half_lower(xp, back @ of_lower))
    return hermitian_part(xp, adjoint(xp, xp.linalg.solve(back, adjoint(xp, half))))


def _cholesky_jvp(xp: Any, t: Any, out: Any, upper: bool) -> Any:
    lower = adjoint(xp, out) if upper else out
    half = xp.linalg.solve(lower, hermitian_part(xp, t))
    inner = xp.linalg.solve(lower, adjoint(xp, half))
    moved = lower @ _half_lower(xp, inner)
    return adjoint(xp, moved) if upper else moved


def _qr(xp: Any, g: Any, x_meta: Any, out: Any) -> tuple[Any]:
    """Return the matrix's cotangent: arXiv:1001.1654; for complex and wide ones, arXiv:2009.10071.

    S. F. Walter and L. Lehmann (2010); D. A. O. Roberts and L. R. Roberts (2020).
    """
    q, r = out
    of_q, of_r = g
    k = min(x_meta.shape[-2:])
    if q.shape[-1] > k > 0:
        is_known, back, ratio = _reflected(xp, q, k)
        of_rest = of_q[..., k:]
        of_q1 = of_q[..., :k] - of_rest @ ratio
        below = (adjoint(xp, of_rest) @ _from_unit(xp, q, k)) @ adjoint(xp, back)
        moved = of_q1 + xp.concat([adjoint(xp, ratio) @ below, below], axis=-2)
        spans = xp.where(is_known, 0.0, of_rest)
        of_q = xp.concat([xp.where(is_known, moved, of_q[..., :k]), spans], axis=-1)
    q, of_q = _of_first(xp, "linalg.qr", q, of_q, xp.linalg.diagonal(r))
    r, of_r = r[..., :k, :], of_r[..., :k, :]
    first, of_first = r[..., :k], of_r[..., :k]
    of_rest = of_r[..., k:]
    of_q = of_q + q @ r[..., k:] @ adjoint(xp, of_rest)  # r's other columns are q^H x
    upper = xp.triu(of_first @ adjoint(xp, first) - adjoint(xp, q) @ of_q)
    half = (upper + xp.triu(upper, k=1)) / 2
    whole = of_q + q @ (half + adjoint(xp, half))
    needed = xp.any(of_q != 0, axis=-2) | xp.any(xp.triu(of_first) != 0, axis=-1)
    solved = _over_triangle(xp, first, adjoint(xp, whole), needed, x_meta.shape)
    of_columns = adjoint(xp, solved)
    return (xp.concat([of_columns, q @ of_rest], axis=-1),)


def _over_triangle(xp: Any, r: Any, right: Any, needed: Any, shape: tuple[int, ...]) -> Any:
    """Solve a triangular system; NaN where the columns of the matrix are linearly dependent.

    Then an element of the diagonal is zero up to rounding. `needed` tells where the derivative
    depends on the vector of that column; None: where the quotient of that row is not 0 / 0. If it
    does not depend on it, the quotient is left out.
    """
    diagonal = xp.linalg.diagonal(r)
    small = xp.abs(diagonal) <= rounding(xp, diagonal, max(shape[-2:]))
    eye = xp.eye(diagonal.shape[-1], dtype=small.dtype, device=device(diagonal))
    found = xp.linalg.solve(xp.where(small[..., None] & eye, 1.0, r), right)
    if needed is None:
        size = xp.max(xp.abs(right), axis=(-2, -1), keepdims=True) if 0 not in right.shape else 0
        limit = float(xp.finfo(right.dtype).eps) ** 0.5 * size
        needed = xp.any(xp.abs(found) > limit, axis=-1)
    undefined = xp.any(small & needed, axis=-1)
    check_independent("linalg.qr", undefined)
    found = xp.where(small[..., None], 0.0, found)
    return xp.where(undefined[..., None, None], float("nan"), found)


def _qr_jvp(xp: Any, t: Any, x_meta: Any, out: Any) -> tuple[Any, Any]:
    q, r = out
    k = min(x_meta.shape[-2:])
    q1, first = q[..., :k], r[..., :k, :k]
    back = adjoint(xp, q1)
    moved = adjoint(xp, t[..., :k])
    scaled = adjoint(xp, _over_triangle(xp, adjoint(xp, first), moved, None, x_meta.shape))
    inner = back @ scaled
    below = xp.tril(inner, k=-1)
    grown = inner - (below - adjoint(xp, below)) - skew_part(xp, xp.tril(xp.triu(inner)))
    of_q = scaled - q1 @ grown
    of_r = xp.concat(
        [grown @ first, adjoint(xp, of_q) @ (q @ r[..., k:]) + back @ t[..., k:]], axis=-1
    )
    if q.shape[-1] > k:
        of_r = xp.concat([of_r, xp.zeros_like(r[..., k:, :])], axis=-2)
    moved = _with_complement(xp, q, of_q)
    if q.shape[-1] > k > 0:
        is_known, back, ratio = _reflected(xp, q, k)
        of_ratio = (of_q[..., k:, :] + ratio @ of_q[..., :k, :]) @ back
        of_rest = _from_unit(xp, q, k) @ adjoint(xp, of_ratio) - of_q @ adjoint(xp, ratio)
        moved = xp.concat([of_q, xp.where(is_known, of_rest, moved[..., k:])], axis=-1)
    return moved, of_r


def _from_unit(xp: Any, q: Any, k: int) -> Any:
    """Return E1 - q1: the first k columns of the unit matrix, and those of q."""
    return xp.eye(q.shape[-2], k, dtype=q.dtype, device=device(q)) - q[..., :k]


def _reflected(xp: Any, q: Any, k: int) -> tuple[Any, Any, Any]:
    """Return whether q is a product of k reflections, and factors of its other columns q2.

    Then q - I = -Y T Y^H has rank k (R. Schreiber and C. Van Loan, 1989), and q2 is known from the
    first columns q1: with q1 in a top of k rows and a rest, B = (I - top)^-1 and W = rest B, it is
    E2 + (E1 - q1) W^H. The determinant of I - top is the product of factors that are at least 1,
    or 0 where a reflection has nothing to do.
    """
    apart = _from_unit(xp, q, k)
    top = apart[..., :k, :]
    is_known = (xp.abs(xp.linalg.det(top)) > 0.5)[..., None, None]
    eye = xp.eye(k, dtype=q.dtype, device=device(q))
    back = xp.linalg.inv(xp.where(is_known, top, eye))
    ratio = q[..., k:, :k] @ back
    unit = xp.eye(q.shape[-2], dtype=q.dtype, device=device(q))[:, k:]
    wrong = xp.abs(q[..., k:] - unit - apart @ adjoint(xp, ratio))
    limit = float(xp.finfo(q.dtype).eps) ** 0.5
    is_known = is_known & (xp.max(wrong, axis=(-2, -1), keepdims=True) < limit)
    return is_known, back, ratio


def _of_first(xp: Any, name: str, q: Any, g: Any, values: Any) -> tuple[Any, Any]:
    """Return the first k columns of a unitary matrix, and their share of its cotangent.

    The other columns q2 span the orthogonal complement of the first columns q1 and move with them:
    if q1 moves by dq1, q2 moves by -q1 dq1^H q2. `values` has k elements of the matrix's size.
    """
    k = values.shape[-1]
    if q.shape[-1] == k:
        return q, g
    rest, of_rest = q[..., k:], g[..., k:]
    q = q[..., :k]
    of_first = g[..., :k] - rest @ (adjoint(xp, of_rest) @ q)
    if k == 0:
        return q, of_first
    size = xp.max(xp.abs(values), axis=-1)
    return q, defined_by_span(xp, name, adjoint(xp, rest) @ of_rest, size, of_first)


def _with_complement(xp: Any, q: Any, moved: Any) -> Any:
    """Return the tangent of all columns of a unitary matrix, given that of the first ones."""
    k = moved.shape[-1]
    if q.shape[-1] == k:
        return moved
    rest = -(q[..., :k] @ (adjoint(xp, moved) @ q[..., k:]))
    return xp.concat([moved, rest], axis=-1)


def _diagonal_of(xp: Any, values: Any, like: Any) -> Any:
    """Build a diagonal matrix of the dtype of `like`."""
    eye = xp.eye(values.shape[-1], dtype=like.dtype, device=device(like))
    return xp.astype(values, like.dtype)[..., None, :] * eye


def _of_upper(xp: Any, name: str, x: Any) -> Any:
    """Call `eigh` or `eigvalsh` on the upper triangle, which the standard does not offer."""
    if hasattr(xp, "_class"):
        return getattr(xp, f"{name}_of_upper")(x)
    return getattr(xp.linalg, name)(x, UPLO="U")


def _eigh_of(xp: Any, x: Any, upper: bool = False, *, again: bool = False) -> Any:
    """Call `eigh`, or the variant whose vectors can be differentiated again."""
    if again:
        return xp.eigh_of_values(x, upper)
    return _of_upper(xp, "eigh", x) if upper else xp.linalg.eigh(x)


def _vectors_again(xp: Any, w: Any, v: Any) -> Any:
    """Compute the eigenvectors again, recorded for the second derivative of the values."""
    check_distinct("linalg.eigh", w, w.shape[-1])
    return xp.eigh_of_values((v * xp.astype(w, v.dtype)[..., None, :]) @ adjoint(xp, v), False)[1]


def of_eigh(xp: Any, g: Any, out: Any, equal: float = 0.0) -> tuple[Any]:
    """Return the matrix's cotangent: Giles 3.1."""
    w, v = out
    of_w, of_v = g
    n = w.shape[-1]
    if of_v is None and (is_recorded(of_w) or (is_recorded(w) and weighs_equals(w, n, of_w))):
        v = _vectors_again(xp, w, v)
    back = adjoint(xp, v)
    if of_v is None:
        middle = _diagonal_of(xp, of_w, v)
    else:
        (of_v,) = without_phase(xp, "linalg.eigh", real_row(xp, v), (v, of_v))
        overlap = back @ of_v
        turning = skew_part(xp, overlap)
        middle = defined(xp, w, n, turning, overlap, inverse_gaps(xp, w, n, equal) * turning)
        if of_w is not None:
            check_distinct("linalg.eigh", w, n, of_w, overlap)
            middle = middle + _diagonal_of(xp, of_w, v)
    return (hermitian_part(xp, v @ middle @ back),)


def _eigh_jvp(xp: Any, t: Any, out: Any, equal: float = 0.0) -> tuple[Any, Any]:
    w, v = out
    inner = adjoint(xp, v) @ hermitian_part(xp, t) @ v
    of_v = v @ (inverse_gaps(xp, w, w.shape[-1], equal) * inner)
    (of_v,) = with_phase(xp, real_row(xp, v), (v, of_v))
    if is_recorded(w):
        again = _vectors_again(xp, w, v)
        inner = adjoint(xp, again) @ hermitian_part(xp, t) @ again
    return real_part(xp, xp.linalg.diagonal(inner)), of_v


def _eigvalsh(xp: Any, g: Any, x: Any, upper: bool = False) -> Any:
    """Return the matrix's cotangent: Giles 3.1."""
    again = is_recorded(g)  # its own derivative depends on that of the vectors
    w, v = _eigh_of(xp, x, upper, again=again)
    if not again and is_recorded(x) and weighs_equals(w, w.shape[-1], g):
        again = True
        w, v = _eigh_of(xp, x, upper, again=again)
    if again:
        check_distinct("linalg.eigvalsh", w, w.shape[-1])
    return hermitian_part(xp, (v * g[..., None, :]) @ adjoint(xp, v))


def _eigvalsh_jvp(xp: Any, t: Any, x: Any, upper: bool = False) -> Any:
    w, v = _eigh_of(xp, x, upper, again=is_recorded(x))
    if is_recorded(x):
        check_distinct("linalg.eigvalsh", w, w.shape[-1])
    return xp.sum(real_product(xp, v, hermitian_part(xp, t) @ v), axis=-2)


def _eig_vectors_again(xp: Any, x: Any, w: Any) -> Any:
    """Compute the eigenvectors again, recorded for the second derivative of the values."""
    check_distinct("linalg.eig", w, w.shape[-1])
    return xp.eig_of_values(x)[1]


def of_eig(xp: Any, g: Any, x: Any, out: Any, equal: float = 0.0) -> tuple[Any]:
    """Return the matrix's cotangent: Giles 3.1; for vectors of norm one, arXiv:1701.00392, sec. 4.

    C. Boeddeker et al. (2017).
    """
    w, v = out
    of_w, of_v = g
    n = w.shape[-1]
    if of_v is None and (is_recorded(of_w) or (is_recorded(w) and weighs_equals(w, n, of_w))):
        v = _eig_vectors_again(xp, x, w)
    back = adjoint(xp, v)
    if of_v is None:
        middle = _diagonal_of(xp, of_w, v)
    else:
        (of_v,) = without_phase(xp, "linalg.eig", largest(xp, v), (v, of_v))
        overlap = back @ of_v
        lengths = xp.real(xp.linalg.diagonal(overlap))
        turned = overlap - (back @ v) * xp.astype(lengths, v.dtype)[..., None, :]
        result = xp.conj(inverse_gaps(xp, w, n, equal)) * turned
        middle = defined(xp, w, n, turned, overlap, result)
        if of_w is not None:
            check_distinct("linalg.eig", w, n, of_w, overlap)
            middle = middle + _diagonal_of(xp, of_w, v)
    return (xp.linalg.solve(back, middle @ back),)


def _eig_jvp(xp: Any, t: Any, x: Any, out: Any, equal: float = 0.0) -> tuple[Any, Any]:
    w, v = out
    inner = xp.linalg.solve(v, xp.astype(t, v.dtype) @ v)
    moved = v @ (inverse_gaps(xp, w, w.shape[-1], equal) * inner)
    growth = xp.sum(real_product(xp, v, moved), axis=-2, keepdims=True)
    if is_recorded(w):
        again = _eig_vectors_again(xp, x, w)
        inner = xp.linalg.solve(again, xp.astype(t, v.dtype) @ again)
    moved = moved - v * xp.astype(growth, v.dtype)
    return xp.linalg.diagonal(inner), *with_phase(xp, largest(xp, v), (v, moved))


def _svd_parts(xp: Any, s: Any, shape: tuple[int, ...], equal: float = 0.0) -> tuple[Any, Any, Any]:
    """Return 1 / (s_j - s_i), 1 / (s_j + s_i) and 1 / s, with 0 in place of divisions by zero."""
    nothing = rounding(xp, s, max(shape[-2:]))
    sums = s[..., None, :] + s[..., :, None]
    return (
        inverse_gaps(xp, s, max(shape[-2:]), equal),
        reciprocal(xp, sums, nothing[..., None]),
        reciprocal(xp, s, nothing)[..., None, :],
    )


def _svd_of(xp: Any, x: Any, *, again: bool = False) -> Any:
    """Call `svd`, or the variant whose vectors can be differentiated again."""
    return xp.svd_of_values(x) if again else xp.linalg.svd(x, full_matrices=False)


def _pairs_again(xp: Any, u: Any, s: Any, vh: Any, n: int) -> Any:
    """Compute the singular pairs again, recorded for the second derivative of the values."""
    check_distinct("linalg.svd", s, n)
    k = s.shape[-1]
    values = xp.astype(s, u.dtype)[..., None, :]
    return xp.svd_of_values((u[..., :k] * values) @ vh[..., :k, :])


def of_svd(xp: Any, g: Any, x_meta: Any, out: Any, equal: float = 0.0) -> tuple[Any]:
    """Return the matrix's cotangent: J. Townsend (2016); for complex ones, arXiv:1909.02659.

    Townsend, "Differentiating the singular value decomposition"; Z.-Q. Wan and S.-X. Zhang (2019).

    With dP = U^H dX V, the sum of U^H dU and V^H dV is the Hermitian part of dP over
    (s_j - s_i) / 2, and their difference is the skew part over (s_j + s_i) / 2. The formula keeps
    the two apart, so that a loss of U V^H, to which only the difference contributes, has its exact
    gradient at equal singular values too. A complex pair's phase is in the diagonal of the
    difference.
    """
    u, s, vh = out
    of_u, of_s, of_vh = g
    k, n = s.shape[-1], max(x_meta.shape[-2:])
    if of_u is None and of_vh is None:
        if is_recorded(of_s) or (is_recorded(s) and weighs_equals(s, n, of_s)):
            u, _, vh = _pairs_again(xp, u, s, vh, n)
        return ((u[..., :k] * of_s[..., None, :]) @ vh[..., :k, :],)
    of_u = xp.zeros_like(u) if of_u is None else of_u
    of_vh = xp.zeros_like(vh) if of_vh is None else of_vh
    u, of_u = _of_first(xp, "linalg.svd", u, of_u, s)
    v, of_v = _of_first(xp, "linalg.svd", adjoint(xp, vh), adjoint(xp, of_vh), s)
    vh = adjoint(xp, v)
    real = first_of_right(xp, u, v)
    of_v, of_u = without_phase(xp, "linalg.svd", real, (v, of_v), (u, of_u))
    left, right = adjoint(xp, u) @ of_u, vh @ of_v
    gaps, sums, inverse = _svd_parts(xp, s, x_meta.shape, equal)
    turning, size = skew_part(xp, left + right), xp.abs(left) + xp.abs(right)
    middle = defined(xp, s, n, turning, size, gaps * turning) + sums * skew_part(xp, left - right)
    if of_s is not None:
        check_distinct("linalg.svd", s, n, of_s, size)
        middle = middle + _diagonal_of(xp, of_s, u)
    result = u @ middle @ vh
    if u.shape[-2] > k:
        result = result + ((of_u - u @ left) * inverse) @ vh
    if v.shape[-2] > k:
        result = result + u @ adjoint(xp, (of_v - v @ right) * inverse)
    return (result,)


def _svd_jvp(xp: Any, t: Any, x_meta: Any, out: Any, equal: float = 0.0) -> tuple[Any, Any, Any]:
    u, s, vh = out
    k = s.shape[-1]
    u1, v = u[..., :k], adjoint(xp, vh)
    v1 = v[..., :k]
    on_v, on_u = t @ v1, adjoint(xp, t) @ u1
    inner = adjoint(xp, u1) @ on_v
    gaps, sums, inverse = _svd_parts(xp, s, x_meta.shape, equal)
    added = gaps * hermitian_part(xp, inner)
    apart = sums * skew_part(xp, inner)
    of_u, of_v = u1 @ (added + apart), v1 @ (added - apart)
    if u.shape[-2] > k:
        of_u = of_u + (on_v - u1 @ inner) * inverse
    if v.shape[-2] > k:
        of_v = of_v + (on_u - v1 @ adjoint(xp, inner)) * inverse
    of_v, of_u = with_phase(xp, first_of_right(xp, u1, v1), (v1, of_v), (u1, of_u))
    if is_recorded(s):
        left, _, right = _pairs_again(xp, u, s, vh, max(x_meta.shape[-2:]))
        inner = adjoint(xp, left) @ t @ adjoint(xp, right)
    of_s = real_part(xp, xp.linalg.diagonal(inner))
    return (_with_complement(xp, u, of_u), of_s, adjoint(xp, _with_complement(xp, v, of_v)))


def _svdvals(xp: Any, g: Any, x: Any) -> Any:
    """Return the matrix's cotangent: Giles 3.2."""
    again = is_recorded(g)  # its own derivative depends on that of the vectors
    u, s, vh = _svd_of(xp, x, again=again)
    if not again and is_recorded(x) and weighs_equals(s, max(x.shape[-2:]), g):
        again = True
        u, s, vh = _svd_of(xp, x, again=again)
    if again:
        check_distinct("linalg.svdvals", s, max(x.shape[-2:]))
    some = s > rounding(xp, s, max(x.shape[-2:]))
    return (u * xp.where(some, g, 0.0)[..., None, :]) @ vh


def _svdvals_jvp(xp: Any, t: Any, x: Any) -> Any:
    again = is_recorded(x)
    u, s, vh = _svd_of(xp, x, again=again)
    if again:
        check_distinct("linalg.svdvals", s, max(x.shape[-2:]))
    some = s > rounding(xp, s, max(x.shape[-2:]))
    slopes = xp.sum(real_product(xp, u, t @ adjoint(xp, vh)), axis=-2)
    return xp.where(some, slopes, 0.0)


def _on_use(name: str, at: int) -> Callable[[Any, set[int]], None]:
    """Make the check for equal values, run when output `at` is used together with vectors."""

    def on_use(out: Any, used: set[int]) -> None:
        if at in used and len(used) > 1:
            check_distinct(name, out[at], max(part.shape[-1] for part in out))

    return on_use


# The functions that the harness differentiates: their results do not depend on the choice of
# vectors. Each vector is weighted by its place, so that the derivative of every one is tested.


def _weighted(xp: Any, left: Any, right: Any, k: int) -> Any:
    """Return left diag(1, ..., k, k + 1, k + 1, ...) right^H; columns after k share a weight."""
    places = xp.arange(1, left.shape[-1] + 1, device=device(left))
    weights = xp.astype(xp.minimum(places, xp.full_like(places, k + 1)), left.dtype)
    return (left * weights) @ adjoint(xp, right)


def _weighted_vectors(xp: Any, w: Any, v: Any) -> tuple[Any, ...]:
    return w, _weighted(xp, v, v, v.shape[-1])


def _eigh_invariants(xp: Any, x: Any) -> tuple[Any, ...]:
    return _weighted_vectors(xp, *xp.linalg.eigh(hermitian_part(xp, x)))


def _eig_invariants(xp: Any, x: Any, *, again: bool = False) -> tuple[Any, ...]:
    w, v = xp.eig_of_values(x) if again else xp.linalg.eig(x)
    return w, _weighted(xp, v, v, v.shape[-1])


def _svd_invariants(xp: Any, x: Any, full_matrices: bool = True) -> tuple[Any, ...]:
    return _svd_invariants_of(xp, *xp.linalg.svd(x, full_matrices=full_matrices))


def _svd_invariants_of(xp: Any, u: Any, s: Any, vh: Any) -> tuple[Any, ...]:
    k = s.shape[-1]
    v = adjoint(xp, vh)
    pairs = _weighted(xp, u[..., :k], v[..., :k], k)
    return s, pairs, _weighted(xp, u, u, k), _weighted(xp, v, v, k)


def _qr_invariants(xp: Any, x: Any, mode: str = "reduced") -> tuple[Any, ...]:
    q, r = xp.linalg.qr(x, mode=mode)
    k = min(x.shape[-2:])
    return q[..., :k], r, _weighted(xp, q, q, k)


def _row(
    name: str,
    signature: str,
    cotangent: FormulaFunction,
    tangent: FormulaFunction,
    **options: Unpack[RuleOptions],
) -> Rule:
    """Build the row of a decomposition of the matrices in the last two axes."""
    options |= {"jvp": tangent, "holomorphic": False, "batch": "last"}
    if "outputs" in options and name != "linalg.qr":  # vectors and values
        options |= {"materializes": False, "on_use": _on_use(name, int(name == "linalg.svd"))}
    return (joint if "outputs" in options else general)(name, signature, cotangent, **options)


HERMITIAN = ("hermitian(3)", "hermitian(2, 3)", "hermitian(0)", "hermitian(0, 2)")
TRIANGLE = "Hermitian gradients, whichever triangle is read"
EQUAL = (
    "equal values: exact where vectors matter through their span alone, NaN where their choice "
    "matters, a warning where values matter too"
)

RULES = [
    _row(
        "linalg.cholesky",
        "x, /, *, upper=False",
        _cholesky,
        _cholesky_jvp,
        samples=("hermitian(3)", "hermitian(2, 3), upper=True", "hermitian(0)", "hermitian(0, 2)"),
        probe=lambda xp, x, upper=False: xp.linalg.cholesky(hermitian_part(xp, x), upper=upper),
        convention=TRIANGLE,
    ),
    _row(
        "linalg.qr",
        "x, /, *, mode='reduced'",
        _qr,
        _qr_jvp,
        outputs=2,
        samples=(
            "x(4, 3)",
            "spd(3)",
            "x(2, 2, 4)",
            "x(4, 2), mode='complete'",
            "x(2, 3, 2), mode='complete'",
            "x(2, 4), mode='complete'",
            "x(0, 0)",
            "x(0, 3, 2)",
        ),
        probe=_qr_invariants,
        convention="complete: NaN where the choice of added columns matters and is not LAPACK's",
    ),
    _row(
        "linalg.eigh",
        "x, /",
        lambda xp, g, out: of_eigh(xp, g, out),
        lambda xp, t, out: _eigh_jvp(xp, t, out),
        outputs=2,
        samples=HERMITIAN,
        probe=_eigh_invariants,
        convention=f"{TRIANGLE}; {EQUAL}",
    ),
    _row(
        "linalg.eigvalsh",
        "x, /",
        lambda xp, g, x: _eigvalsh(xp, g, x),
        lambda xp, t, x: _eigvalsh_jvp(xp, t, x),
        samples=HERMITIAN,
        probe=lambda xp, x: xp.linalg.eigvalsh(hermitian_part(xp, x)),
        convention=TRIANGLE,
    ),
    _row(
        "linalg.eig",
        "x, /",
        lambda xp, g, x, out: of_eig(xp, g, x, out),
        lambda xp, t, x, out: _eig_jvp(xp, t, x, out),
        outputs=2,
        samples=("spd(3)", "spd(2, 3)", "spd(0)", "spd(0, 2)"),
        probe=_eig_invariants,
        convention=f"vectors of norm one; {EQUAL}",
    ),
    _row(
        "linalg.svd",
        "x, /, *, full_matrices=True",
        lambda xp, g, x_meta, out: of_svd(xp, g, x_meta, out),
        lambda xp, t, x_meta, out: _svd_jvp(xp, t, x_meta, out),
        outputs=3,
        samples=(
            "spd(3)",
            "x(2, 4, 2), full_matrices=False",
            "x(2, 4), full_matrices=False",
            "x(4, 2)",
            "x(2, 2, 4)",
            "x(0, 0)",
            "x(0, 3, 2), full_matrices=False",
        ),
        probe=_svd_invariants,
        convention=(
            "full_matrices: for losses of the added vectors' span, NaN where their choice matters; "
            f"{EQUAL}"
        ),
    ),
    _row(
        "linalg.svdvals",
        "x, /",
        _svdvals,
        _svdvals_jvp,
        samples=("spd(3)", "x(2, 4, 2)", "x(2, 4)", "x(0, 0)", "x(0, 3, 2)"),
        convention="U V^H of the singular values that are not 0",
        numpy="linalg.svdvals",
    ),
    # the same vectors, where a derivative of the values is differentiated
    _row(
        "eigh_of_values",
        "x, upper=False, /",
        lambda xp, g, out: of_eigh(xp, g, out, math.nan),
        lambda xp, t, out: _eigh_jvp(xp, t, out, math.nan),
        outputs=2,
        native=lambda xp, x, upper: _eigh_of(xp, x, upper),
        samples=HERMITIAN,
        probe=lambda xp, x: _weighted_vectors(
            xp, *_eigh_of(xp, hermitian_part(xp, x), again=hasattr(xp, "_class"))
        ),
        convention="NaN in the vectors of equal values",
    ),
    _row(
        "eig_of_values",
        "x, /",
        lambda xp, g, x, out: of_eig(xp, g, x, out, math.nan),
        lambda xp, t, x, out: _eig_jvp(xp, t, x, out, math.nan),
        outputs=2,
        native=lambda xp, x: xp.linalg.eig(x),
        samples=("spd(3)", "spd(2, 3)", "spd(0)", "spd(0, 2)"),
        probe=lambda xp, x: _eig_invariants(xp, x, again=hasattr(xp, "_class")),
        convention="NaN in the vectors of equal values",
    ),
    _row(
        "svd_of_values",
        "x, /",
        lambda xp, g, x_meta, out: of_svd(xp, g, x_meta, out, math.nan),
        lambda xp, t, x_meta, out: _svd_jvp(xp, t, x_meta, out, math.nan),
        outputs=3,
        native=lambda xp, x: _svd_of(xp, x),
        samples=("spd(3)", "x(2, 4, 2)", "x(2, 4)", "x(0, 3, 2)"),
        probe=lambda xp, x: _svd_invariants_of(xp, *_svd_of(xp, x, again=hasattr(xp, "_class"))),
        convention="NaN in the vectors of equal values",
    ),
]
register(RULES)

OF_UPPER = [
    _row(
        "eigh_of_upper",
        "x, /",
        lambda xp, g, out: of_eigh(xp, g, out),
        lambda xp, t, out: _eigh_jvp(xp, t, out),
        outputs=2,
        native=lambda xp, x: _of_upper(xp, "eigh", x),
        samples=HERMITIAN,
        probe=lambda xp, x: _weighted_vectors(xp, *_of_upper(xp, "eigh", hermitian_part(xp, x))),
        convention=f"{TRIANGLE}; {EQUAL}",
    ),
    _row(
        "eigvalsh_of_upper",
        "x, /",
        lambda xp, g, x: _eigvalsh(xp, g, x, upper=True),
        lambda xp, t, x: _eigvalsh_jvp(xp, t, x, upper=True),
        native=lambda xp, x: _of_upper(xp, "eigvalsh", x),
        samples=HERMITIAN,
        probe=lambda xp, x: _of_upper(xp, "eigvalsh", hermitian_part(xp, x)),
        convention=TRIANGLE,
    ),
]
"""The same by the upper triangle, where the library lets one choose."""
register(OF_UPPER, "numpy")
register(OF_UPPER, "cupy")


@composite("linalg.eigvals")
def eigvals(xp: Any, x: Any, /) -> Any:
    """Return the eigenvalues of `eig`, since another function may order them differently."""
    return xp.linalg.eig(x)[0]
