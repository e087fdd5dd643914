"""Equal eigenvalues or singular values, whose vectors have no derivative.

The vectors V of values w that are equal may turn within the space they span. A loss that turns with
them has no derivative. For one that does not, the formulas leave the turning out, which is exact as
long as the values do not matter too. V f(w) V^H does not turn either, but its derivative has f'(w)
where the formulas would divide f(w_j) - f(w_i) by w_j - w_i, and nothing that arrives at them tells
that. So there is a warning. A second derivative of the values lacks the same term: it is NaN, and
there is a warning too.
"""

from __future__ import annotations

import warnings
from typing import Any

from gradwrap.core.levels.levels import inspecting
from gradwrap.core.levels.wrapper import innermost
from gradwrap.core.library.backend import backend_of
from gradwrap.core.library.compat import device
from gradwrap.errors import DegeneracyWarning
from gradwrap.rules.matrices import is_complex, reciprocal, rounding, skew_part

AGAIN = 4
"""How many times as large the rounding error of values is that are computed again."""


def gaps(xp: Any, values: Any) -> Any:
    """Return values_j - values_i."""
    return values[..., None, :] - values[..., :, None]


def inverse_gaps(xp: Any, values: Any, n: int, equal: float = 0.0) -> Any:
    """Return 1 / (values_j - values_i), and `equal` for equal values of matrices of this size.

    `equal` is given for values that are computed again, from a product of the first ones with their
    vectors. They have the rounding errors of both decompositions and of the product.
    """
    n = n if equal == 0.0 else AGAIN * n
    found = reciprocal(xp, gaps(xp, values), rounding(xp, values, n)[..., None])
    return found if equal == 0.0 else xp.where(equal_pairs(xp, values, n), equal, found)


def equal_pairs(xp: Any, values: Any, n: int) -> Any:
    """Return whether values i and j are equal up to rounding, for i not j."""
    places = xp.arange(values.shape[-1], device=device(values))
    is_pair = places[:, None] != places[None, :]
    return (xp.abs(gaps(xp, values)) <= rounding(xp, values, n)[..., None]) & is_pair


def defined(xp: Any, values: Any, n: int, turning: Any, overlap: Any, result: Any) -> Any:
    """Return a result; NaN where values are equal and the loss depends on the chosen vectors.

    `turning` is the slope of the loss along the turning of each pair; up to rounding it is 0 if the
    loss does not depend on the choice of vectors. `overlap` has the size of the terms in `turning`.
    """
    if values.shape[-1] < 2:
        return result
    size = xp.max(xp.abs(overlap), axis=(-2, -1), keepdims=True)
    turns = xp.abs(turning) > float(xp.finfo(size.dtype).eps) ** 0.5 * size
    return xp.where(equal_pairs(xp, values, n) & turns, float("nan"), result)


def check_distinct(
    name: str, values: Any, n: int, of_values: Any = None, overlap: Any = None
) -> None:
    """Warn if a loss depends both on equal values and on their vectors.

    A value does not matter where `of_values`, its cotangent, and the column of `overlap` for its
    vector are zero. A GPU is not waited for, except under `detect_anomaly`.
    """
    values = innermost(values)
    if not _may_read(values):
        return
    xp = backend_of(values).xp
    equal = equal_pairs(xp, values, n)
    if of_values is not None:
        used = (innermost(of_values) != 0) | xp.any(innermost(overlap) != 0, axis=-2)
        equal = equal & (used[..., :, None] | used[..., None, :])
    if bool(xp.any(equal)):
        _warn(name, [int(places[0]) for places in xp.nonzero(equal)])


def weighs_equals(values: Any, n: int, weights: Any) -> bool:
    """Tell if a loss weighs equal values differently, and so has no second derivative.

    The host waits for a GPU only under `detect_anomaly`.
    """
    values, weights = innermost(values), innermost(weights)
    if not _may_read(values):
        return False
    xp = backend_of(values).xp
    return bool(xp.any(equal_pairs(xp, values, n) & (gaps(xp, weights) != 0)))


def check_independent(name: str, undefined: Any) -> None:
    """Warn if a derivative is NaN because columns of a matrix are linearly dependent."""
    warn_of_nan(
        undefined,
        f"{name}: columns of a matrix are zero or linearly dependent, up to rounding, so its "
        "factors have no derivative, and the gradient is NaN. Fix: use lstsq, pinv or svd for "
        "such matrices; or choose independent columns first.",
    )


def defined_by_span(xp: Any, name: str, overlap: Any, size: Any, result: Any) -> Any:
    """Return a result; NaN where the loss depends on the choice of vectors that were added.

    They complete others to a basis, and may turn within their span: `overlap` has the products of
    the added vectors with their cotangents, which then is not Hermitian. `size` is that of the
    matrix, whose square has rounding errors that the cotangents of no dependence have.
    """
    if overlap.shape[-1] < 2 and not (overlap.shape[-1] and is_complex(xp, overlap)):
        return result  # a sign
    turning = xp.max(xp.abs(skew_part(xp, overlap)), axis=(-2, -1))
    eps = float(xp.finfo(turning.dtype).eps)
    limit = eps**0.5 * xp.max(xp.abs(overlap), axis=(-2, -1))
    turns = turning > limit + 16 * eps * overlap.shape[-1] * (1.0 + size * size)
    warn_of_nan(
        turns,
        f"{name}: the loss depends on the vectors that complete those of the matrix to a basis. "
        "They are a choice, and have no derivative: the gradient is NaN. Fix: use a function of "
        "their span, such as the projection Q @ Q.T on it; or leave them out "
        "(full_matrices=False, mode='reduced').",
    )
    return xp.where(turns[..., None, None], float("nan"), result)


def warn_of_nan(undefined: Any, message: str) -> None:
    """Warn if a derivative is NaN."""
    found = innermost(undefined)
    if _may_read(found) and bool(backend_of(found).xp.any(found)):
        warnings.warn(message, DegeneracyWarning, stacklevel=3)


def _may_read(values: Any) -> bool:
    """Tell if values can be read without waiting for a GPU, or if the user asks for checks."""
    asked = inspecting.get()
    return backend_of(values).is_at_hand(values) or (asked is not None and asked.finite)


def _warn(name: str, place: list[int]) -> None:
    i, j = sorted(place[-2:])
    kind = "singular values" if "svd" in name else "eigenvalues"
    warnings.warn(
        f"{name}: {kind} {i} and {j} of a matrix are equal up to rounding, and a derivative "
        "depends on equal values and on their vectors. For a function of the matrix, "
        "V f(w) V^H, it lacks a term, since nothing tells f'(w) here; a second derivative of the "
        "values alone is NaN. Fix: write such functions "
        "with matrix_power, inv, solve or a series; or keep the values apart. If the loss is no "
        "such function, warnings.filterwarnings('ignore', "
        "category=gradwrap.errors.DegeneracyWarning).",
        DegeneracyWarning,
        stacklevel=2,
    )
