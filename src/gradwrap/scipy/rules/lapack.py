"""The usual functions of `scipy.linalg.lapack` and `blas`, with derivatives; `cython_special`.

Each does what SciPy's does, with its parameters and flags, by functions that have rules. SciPy's
own function runs first: where it fails (`info`), its result is returned. A flag `overwrite_*`
counts in adapted code alone: see `overwriting.py`.
"""

from __future__ import annotations

import functools
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.core.array.adapted import adapted_caller
from gradwrap.core.array.writing.loans import lend
from gradwrap.core.levels.modes import called
from gradwrap.core.levels.wrapper import AnyWrapper, is_recorded, unwrapped_key
from gradwrap.core.values.dynamic import TUPLE
from gradwrap.errors import NoRuleError
from gradwrap.scipy.calls import are_plain
from gradwrap.scipy.dispatching import parameters_of
from gradwrap.scipy.doors import dispatcher
from gradwrap.scipy.interpolants import refusing
from gradwrap.scipy.overwriting import forbidding, overwrite, permitted
from gradwrap.scipy.results import is_float
from gradwrap.scipy.rules.matrices import from_bands
from gradwrap.scipy.solving import as_array
from gradwrap.scipy.table import is_own
from gradwrap.transforms.arguments import wrapped_untracked

if TYPE_CHECKING:
    from collections.abc import Callable


def _linalg(name: str) -> Any:
    return dispatcher(f"linalg.{name}")


def _turned(a: Any, trans: int) -> Any:
    return a if not trans else a.mT if trans == 1 else np.conj(a.mT)


def _triangle(a: Any, lower: int, unit: int = 0) -> Any:
    """Return the triangle that LAPACK reads."""
    part = np.tril(a, -unit) if lower else np.triu(a, unit)
    return part + np.eye(a.shape[-1]) if unit else part


def _whole(a: Any, lower: int) -> Any:
    """Return the Hermitian matrix whose triangle LAPACK reads; its diagonal is taken as real."""
    strict = np.tril(a, -1) if lower else np.triu(a, 1)
    return strict + np.conj(strict.mT) + np.diag(np.real(np.diagonal(a)))


def _beside(part: Any, a: Any, lower: int) -> Any:
    """Fill the other triangle of a triangular matrix with the elements of `a`."""
    return part + (np.triu(a, 1) if lower else np.tril(a, -1))


# LAPACK: each returns its results without `info` --------------------------------------------------
# Each names those of SciPy's parameters that it needs.


def potrf(a: Any, lower: int = 0, clean: int = 1) -> Any:
    root = np.linalg.cholesky(_whole(a, lower))
    root = root if lower else np.conj(root.mT)
    return root if clean else _beside(root, a, lower)


def potrs(c: Any, b: Any, lower: int = 0) -> Any:
    return _linalg("cho_solve")((c, bool(lower)), b)


def potri(c: Any, lower: int = 0) -> Any:
    found = _linalg("cho_solve")((c, bool(lower)), np.eye(c.shape[-1]))
    return _beside(_triangle(found, lower), c, lower)


def posv(a: Any, b: Any, lower: int = 0) -> Any:
    c = potrf(a, lower, 0)
    return c, potrs(c, b, lower)


def getrf(a: Any) -> Any:
    return tuple(_linalg("lu_factor")(a))


def getrs(lu: Any, piv: Any, b: Any, trans: int = 0) -> Any:
    return _linalg("lu_solve")((lu, piv), b, trans)


def getri(lu: Any, piv: Any) -> Any:
    return getrs(lu, piv, np.eye(lu.shape[-1]))


def gecon(a: Any, anorm: Any, asked: Any, norm: Any = "1") -> Any:
    """Return the reciprocal condition number; exchanging rows changes no norm of the inverse."""
    inner = trtrs(a, np.eye(a.shape[-1]), 1, 0, 1)
    return _rcond(trtrs(a, inner), anorm, asked, norm)


def pocon(a: Any, anorm: Any, asked: Any, uplo: Any = "U") -> Any:
    return _rcond(potrs(a, np.eye(a.shape[-1]), _is(uplo, "L")), anorm, asked)


def trcon(a: Any, asked: Any, norm: Any = "1", uplo: Any = "U", diag: Any = "N") -> Any:
    is_lower, unit = _is(uplo, "L"), _is(diag, "U")
    inverse = trtrs(a, np.eye(a.shape[-1]), is_lower, 0, unit)
    return _rcond(inverse, lange(norm, _triangle(a, is_lower, unit)), asked, norm)


def _rcond(inverse: Any, anorm: Any, asked: Any, norm: Any = "1") -> Any:
    """Return the reciprocal condition number, if it is what LAPACK's estimate has found."""
    found = 1 / (lange("I" if _is(norm, "I") else "1", inverse) * anorm)
    allowed = 1e4 * np.finfo(inverse.dtype).eps
    if not np.allclose(unwrapped_key(found), asked[0], rtol=allowed):
        raise NoRuleError(
            "LAPACK has estimated a condition number, and the exact one is another: its derivative "
            f"would be that of another number. Fix: {EXACT}."
        )
    return found


def lange(norm: Any, a: Any) -> Any:
    """Return a norm: of the largest element, the columns, the rows, or all elements."""
    if _is(norm, "M"):
        return np.max(np.abs(a))
    return np.linalg.norm(a, ord=1 if _is(norm, "1O") else np.inf if _is(norm, "I") else "fro")


def lantr(norm: Any, a: Any, uplo: Any = "U", diag: Any = "N") -> Any:
    return lange(norm, _triangle(a, _is(uplo, "L"), _is(diag, "U")))


def langb(norm: Any, kl: int, ku: int, ab: Any) -> Any:
    return lange(norm, from_bands(ab, kl, ku))


def _is(flag: Any, letters: str) -> bool:
    """Tell if a flag, a text or bytes, is one of these letters."""
    text = flag.decode() if isinstance(flag, bytes) else str(flag)
    return text[:1].upper() in letters


def gesv(a: Any, b: Any) -> Any:
    lu, piv = getrf(a)
    return lu, piv, getrs(lu, piv, b)


def trtrs(a: Any, b: Any, lower: int = 0, trans: int = 0, unitdiag: int = 0) -> Any:
    return _linalg("solve_triangular")(
        a, b, trans=trans, lower=bool(lower), unit_diagonal=bool(unitdiag)
    )


def trtri(c: Any, lower: int = 0, unitdiag: int = 0) -> Any:
    found = trtrs(c, np.eye(c.shape[-1]), lower, 0, unitdiag)
    kept = _beside(_triangle(found, lower), c, lower)
    return kept + np.diag(np.diagonal(c) - 1.0) if unitdiag else kept


def syev(a: Any, compute_v: int = 1, lower: int = 0) -> Any:
    w, v = _linalg("eigh")(_whole(a, lower))
    return w, (v if compute_v else a)


def gesvd(a: Any, compute_uv: int = 1, full_matrices: int = 1) -> Any:
    if not compute_uv:
        s = np.linalg.svd(a, compute_uv=False)
        return np.zeros((1, 1), a.dtype), s, np.zeros((1, 1), a.dtype)
    return tuple(_linalg("svd")(a, full_matrices=bool(full_matrices)))


# Bands and symmetric matrices: of their factors, only Cholesky's have a derivative ----------------


def gtsv(dl: Any, d: Any, du: Any, b: Any) -> Any:
    corner = np.zeros(1, d.dtype)
    bands = [np.concatenate([corner, du]), d, np.concatenate([dl, corner])]
    return None, None, None, _linalg("solve_banded")((1, 1), np.stack(bands), b)


def ptsv(d: Any, e: Any, b: Any) -> Any:
    bands = np.stack([d + 0.0 * e[:1], np.concatenate([e, np.zeros(1, e.dtype)])])
    return None, None, _linalg("solveh_banded")(bands, b, lower=True)


def gbsv(kl: int, ku: int, ab: Any, b: Any) -> Any:
    return None, None, _linalg("solve_banded")((kl, ku), ab[kl:], b)


def pbsv(ab: Any, b: Any, lower: int = 0) -> Any:
    return pbtrf(ab, lower), _linalg("solveh_banded")(ab, b, lower=bool(lower))


def pbtrf(ab: Any, lower: int = 0) -> Any:
    return _linalg("cholesky_banded")(ab, lower=bool(lower))


def pbtrs(ab: Any, b: Any, lower: int = 0) -> Any:
    return _linalg("cho_solve_banded")((ab, bool(lower)), b)


def tbtrs(ab: Any, b: Any, uplo: Any = "U", trans: Any = "N", diag: Any = "N") -> Any:
    k, is_lower = ab.shape[0] - 1, _is(uplo, "L")
    a = from_bands(ab, k, 0) if is_lower else from_bands(ab, 0, k)
    turned = 0 if _is(trans, "N") else 1 if _is(trans, "T") else 2
    return trtrs(a, b, is_lower, turned, _is(diag, "U"))


def pttrf(d: Any, e: Any) -> Any:
    """Return the factors L and D of a Hermitian tridiagonal matrix, row by row."""
    d = np.real(d)
    pivots, ratios = [d[0]], []
    for i in range(e.shape[0]):
        ratios.append(e[i] / pivots[-1])
        pivots.append(d[i + 1] - np.real(ratios[-1] * np.conj(e[i])))
    return np.stack(pivots), np.stack(ratios) if ratios else e


def pttrs(d: Any, e: Any, b: Any, lower: int = 0) -> Any:
    """Solve by the factors: `e` is below the diagonal of L, or above that of its adjoint."""
    root = np.eye(d.shape[0]) + np.diag(e if lower else np.conj(e), -1)
    inner = trtrs(root, b, 1, 0, 1)
    return trtrs(root, (inner.T / d).T, 1, 2, 1)


def sysv(a: Any, b: Any, lower: int = 0) -> Any:
    part = _triangle(a, lower)
    return None, None, np.linalg.solve(part + part.mT - np.diag(np.diagonal(a)), b)


def hesv(a: Any, b: Any, lower: int = 0) -> Any:
    return None, None, np.linalg.solve(_whole(a, lower), b)


# BLAS: `x_at` and `y_at` are the slices that SciPy's steps and starts choose ----------------------


def _taken(x: Any, at: slice, n: Any = None) -> Any:
    """Return `n` elements of a vector; without `n`, as many as whole steps fit into its rest."""
    count = (x.shape[0] - at.start) // at.step if n is None else n
    found = x[at][:count]
    if found.shape[0] < count:
        raise ValueError(
            f"a BLAS function takes {count} elements of a vector of {x.shape[0]}, from element "
            f"{at.start} in steps of {at.step}. Fix: pass a smaller n, or a longer vector."
        )
    return found


def _written(x: Any) -> Any:
    """Return the vector that BLAS writes to: a copy if its elements do not follow each other."""
    flags = getattr(unwrapped_key(x), "flags", None)
    return x if flags is None or flags.c_contiguous else np.copy(x)


def dot(x: Any, y: Any, x_at: Any, y_at: Any, n: Any = None) -> Any:
    x = _taken(x, x_at, n)
    return np.dot(x, _taken(y, y_at, x.shape[0]))


def dotc(x: Any, y: Any, x_at: Any, y_at: Any, n: Any = None) -> Any:
    return dot(np.conj(x), y, x_at, y_at, n)


def axpy(x: Any, y: Any, x_at: Any, y_at: Any, n: Any = None, a: Any = 1.0) -> Any:
    x, y = _taken(x, x_at, n), _written(y)
    part = _taken(y, y_at, x.shape[0])
    part += a * x
    return y


def scal(a: Any, x: Any, x_at: Any, n: Any = None) -> Any:
    x = _written(x)
    part = _taken(x, x_at, n)
    part *= a
    return x


def nrm2(x: Any, x_at: Any, n: Any = None) -> Any:
    return np.linalg.norm(_taken(x, x_at, n))


def asum(x: Any, x_at: Any, n: Any = None) -> Any:
    x = _taken(x, x_at, n)
    return np.sum(np.abs(x.real) + np.abs(x.imag) if x.dtype.kind == "c" else np.abs(x))


def gemv(
    alpha: Any, a: Any, x: Any, x_at: Any, y_at: Any, beta: Any = 0.0, y: Any = None, trans: int = 0
) -> Any:
    a = _turned(a, trans)
    return _added(alpha * (a @ x[x_at][: a.shape[1]]), beta, y, y_at)


def symv(
    alpha: Any, a: Any, x: Any, x_at: Any, y_at: Any, beta: Any = 0.0, y: Any = None, lower: int = 0
) -> Any:
    return _added(alpha * (_whole(a, lower) @ x[x_at][: a.shape[1]]), beta, y, y_at)


def _added(found: Any, beta: Any, y: Any, at: slice) -> Any:
    """Return a vector plus `beta * y`, at the places of `y` that a slice chooses."""
    off, inc = at.start, at.step
    if y is None and off == 0 and inc == 1:
        return found
    size = off + 1 + (found.shape[0] - 1) * inc
    made = np.zeros(size, found.dtype) if y is None else np.copy(y)
    places = off + inc * np.arange(found.shape[0])
    rest = np.where(np.isin(np.arange(made.shape[0]), places), 0.0, made)
    spread = np.equal.outer(np.arange(made.shape[0]), places) * 1.0
    return rest + spread @ _plus(found, beta, made[places])


def _plus(found: Any, beta: Any, c: Any) -> Any:
    """Return `found + beta * c`; where `beta` is zero, BLAS does not read `c`."""
    is_zero = isinstance(beta, (int, float, complex, np.generic)) and beta == 0
    return found if is_zero else found + beta * c


def gemm(
    alpha: Any, a: Any, b: Any, beta: Any = 0.0, c: Any = None, trans_a: int = 0, trans_b: int = 0
) -> Any:
    found = alpha * (_turned(_columns(a), trans_a) @ _turned(_columns(b), trans_b))
    return found if c is None else _plus(found, beta, c)


def _columns(x: Any) -> Any:
    """Return a matrix; a vector is a column."""
    return x[:, None] if x.ndim == 1 else x


def ger(alpha: Any, x: Any, y: Any, x_at: Any, y_at: Any, a: Any = None) -> Any:
    _only_steps_of_one(x_at)
    _only_steps_of_one(y_at)
    found = alpha * np.outer(x, y)
    return found if a is None else found + a


def gerc(alpha: Any, x: Any, y: Any, x_at: Any, y_at: Any, a: Any = None) -> Any:
    return ger(alpha, x, np.conj(y), x_at, y_at, a)


def hemm(
    alpha: Any, a: Any, b: Any, beta: Any = 0.0, c: Any = None, side: int = 0, lower: int = 0
) -> Any:
    return _sided(alpha, _whole(a, lower), b, beta, c, side)


def symm(
    alpha: Any, a: Any, b: Any, beta: Any = 0.0, c: Any = None, side: int = 0, lower: int = 0
) -> Any:
    part = _triangle(a, lower)  # of complex elements, it is not the half of a Hermitian matrix
    return _sided(alpha, part + part.mT - np.diag(np.diagonal(a)), b, beta, c, side)


def _sided(alpha: Any, whole: Any, b: Any, beta: Any, c: Any, side: int) -> Any:
    found = alpha * (b @ whole if side else whole @ b)
    return found if c is None else _plus(found, beta, c)


def syrk(alpha: Any, a: Any, beta: Any = 0.0, c: Any = None, trans: int = 0, lower: int = 0) -> Any:
    a = _columns(a)
    found = _triangle(alpha * (a.mT @ a if trans else a @ a.mT), lower)
    return found if c is None else _beside(_plus(found, beta, _triangle(c, lower)), c, lower)


def herk(alpha: Any, a: Any, beta: Any = 0.0, c: Any = None, trans: int = 0, lower: int = 0) -> Any:
    a = _columns(a)
    whole = np.real(alpha) * (np.conj(a.mT) @ a if trans else a @ np.conj(a.mT))
    if c is None:
        return _triangle(_whole(whole, lower), lower)
    whole = _whole(_plus(whole, np.real(beta), c), lower)
    return _beside(_triangle(whole, lower), c, lower)


def trsv(a: Any, x: Any, x_at: Any, lower: int = 0, trans: int = 0, diag: int = 0) -> Any:
    _only_steps_of_one(x_at)
    return trtrs(a, x, lower, trans, diag)


def trmv(a: Any, x: Any, x_at: Any, lower: int = 0, trans: int = 0, diag: int = 0) -> Any:
    _only_steps_of_one(x_at)
    return _turned(_triangle(a, lower, diag), trans) @ x


def _only_steps_of_one(at: slice) -> None:
    if (at.step, at.start) != (1, 0):
        raise NoRuleError(
            "a BLAS function with this step or start has no derivative. Fix: pass x[::2].copy()."
        )


def trsm(
    alpha: Any, a: Any, b: Any, side: int = 0, lower: int = 0, trans_a: int = 0, diag: int = 0
) -> Any:
    if not side:
        return alpha * trtrs(a, b, lower, trans_a, diag)
    turned = _turned(a, trans_a)  # X op(A) = B, so op(A)ᵀ Xᵀ = Bᵀ
    return alpha * trtrs(turned, b.mT, lower ^ bool(trans_a), 1, diag).mT


def trmm(
    alpha: Any, a: Any, b: Any, side: int = 0, lower: int = 0, trans_a: int = 0, diag: int = 0
) -> Any:
    a = _turned(_triangle(a, lower, diag), trans_a)
    return alpha * (b @ a if side else a @ b)


# Rotations and reflections: `asked` is SciPy's result, with the signs of its version --------------


def rotg(a: Any, b: Any, asked: Any) -> Any:
    c, s, _ = lartg(a, b, asked)
    return c, s


def lartg(f: Any, g: Any, asked: Any) -> Any:
    along = asked[0] * unwrapped_key(f) + asked[1] * unwrapped_key(g)
    if not along:
        raise NoRuleError("a rotation of two zeros has no derivative. Fix: leave it out.")
    r = np.copysign(1.0, along) * np.sqrt(f * f + g * g)
    return f / r, g / r, r


def rot(x: Any, y: Any, c: Any, s: Any, x_at: Any, y_at: Any, n: Any = None) -> Any:
    x, y = (wrapped_untracked(np.copy(as_array(one))) for one in (x, y))
    left = _taken(x, x_at, n)
    right = _taken(y, y_at, left.shape[0])
    turned = c * left + s * right
    right[...] = c * right - s * left
    left[...] = turned
    return x, y


def larfg(n: Any, alpha: Any, x: Any, asked: Any, incx: Any = 1) -> Any:
    x = wrapped_untracked(np.copy(as_array(x)))
    part = _taken(x, slice(0, None, incx), int(n) - 1)
    if not np.any(unwrapped_key(part)):
        raise NoRuleError("a reflection of a vector with one element has no derivative.")
    beta = np.copysign(1.0, asked[0]) * np.sqrt(alpha * alpha + part @ part)
    x[::incx][: int(n) - 1] = part / (alpha - beta)
    return beta, x, (beta - alpha) / beta


LAPACK: dict[str, Callable[..., Any]] = {
    **{
        prefix + f.__name__: f
        for prefix in "sdcz"
        for f in (potrf, potrs, posv, potri, pocon, getrf, getrs, getri, gecon, gesv)
    },
    **{
        prefix + f.__name__: f  # of triangular matrices and singular values, and norms
        for prefix in "sdcz"
        for f in (trtrs, trtri, trcon, gesvd, lange, lantr, langb)
    },
    **{
        prefix + f.__name__: f  # of bands and symmetric matrices
        for prefix in "sdcz"
        for f in (gtsv, ptsv, gbsv, pbsv, pbtrf, pbtrs, tbtrs, pttrf, pttrs, sysv)
    },
    **{prefix + f.__name__: f for prefix in "sd" for f in (lartg, larfg)},
    **{prefix + "hesv": hesv for prefix in "cz"},
    **{prefix + "gesdd": gesvd for prefix in "sdcz"},
    **dict.fromkeys(("ssyev", "dsyev", "ssyevd", "dsyevd", "cheev", "zheev"), syev),
}
BLAS: dict[str, Callable[..., Any]] = {
    **{
        prefix + f.__name__: f
        for prefix in "sdcz"
        for f in (axpy, scal, gemv, gemm, trsv, trmv, trsm, trmm, symm, syrk)
    },
    **{prefix + f.__name__: f for prefix in "sd" for f in (dot, nrm2, asum, ger, symv, rotg, rot)},
    **{prefix + f.__name__: f for prefix in "cz" for f in (gerc, hemm, herk)},
    **dict.fromkeys(("cgeru", "zgeru"), ger),
    **dict.fromkeys(("scnrm2", "dznrm2"), nrm2),
    **dict.fromkeys(("scasum", "dzasum"), asum),
    **dict.fromkeys(("cdotu", "zdotu"), dot),
    **dict.fromkeys(("cdotc", "zdotc"), dotc),
    **dict.fromkeys(("chemv", "zhemv"), symv),
}
"""The functions by SciPy's names."""


# Stand-ins ----------------------------------------------------------------------------------------

DTYPES = {"s": "float32", "d": "float64", "c": "complex64", "z": "complex128"}
"""The dtypes of the functions by the first letter of their names."""
EXACT = "1 / (np.linalg.norm(A, 1) * np.linalg.norm(np.linalg.inv(A), 1)) of the matrix A"
"""What to write for a condition number."""
ATTRIBUTES = ("typecode", "dtype", "module_name", "prefix", "int_dtype")
"""What SciPy says of a function that it chooses."""
BRACKETS = str.maketrans("", "", "[]")
"""The signs of optional parameters in the docstrings of SciPy's functions."""


def _standing_for(original: Any, name: str, function: Any) -> Any:
    """Make the stand-in of a function of LAPACK or BLAS; `function` is None if it has no rule."""
    reports = "info" in str(original.__doc__).partition("=")[0]
    letter = name[1] if name.startswith(("sc", "dz")) else name[0]  # scnrm2 takes complex64
    dtype = np.dtype(DTYPES.get(letter, "float64"))
    written = str(original.__doc__).partition("(")[2].partition(")")[0]
    names = tuple(written.translate(BRACKETS).split(","))
    wanted = parameters_of(function) if function else frozenset[str]()

    def stand_in(*args: Any, **options: Any) -> Any:
        if are_plain(args, options):
            return original(*args, **options)
        named = _named(name, names, args, options)
        is_tracked = is_recorded([args, options])
        out = of_tracked(named) if is_tracked else original(**_lent(forbidding(named)))
        arrays = {} if adapted_caller() is None else permitted(named)
        if arrays:
            overwrite(lambda given: original(**given), out, arrays, named)
        return out

    def of_tracked(named: dict[str, Any]) -> Any:
        if function is None:
            raise NoRuleError(f"scipy.linalg's {name} has no derivative. Fix: {_remedy(name)}.")
        given = named | {f"{vector}_at": _chosen(named, vector) for vector in "xy"}
        asked: Any = None
        if reports or "asked" in wanted:
            asked = called(original, f"opaque.{name}", **_plain(forbidding(named)))
            given["asked"] = asked
        words = {key: _cast(value, dtype) for key, value in given.items() if key in wanted}
        if not reports:
            return _numbers(function(**words), dtype)
        if asked[-1]:
            return asked
        found = function(**words)
        found = found if isinstance(found, tuple) else (found,)
        parts = zip(found, asked[:-1], strict=True)
        return (*(_or_refusing(name, one, part, given, dtype) for one, part in parts), asked[-1])

    stand_in.__name__, stand_in.__doc__ = name, original.__doc__
    known = {one: getattr(original, one) for one in ATTRIBUTES if hasattr(original, one)}
    stand_in.__dict__.update(known)
    return stand_in


def _remedy(name: str) -> str:
    """Return what to write in place of a function without a rule."""
    if name.endswith("con"):
        return EXACT
    does = "that does it (solve, solve_banded, cholesky, qr, eigh, ...)"
    return f"call the function of scipy.linalg {does}"


def _or_refusing(name: str, found: Any, asked: Any, given: Any, dtype: np.dtype[Any]) -> Any:
    """Return a result, or LAPACK's own, of which a derivative is refused, in place of None."""
    if found is not None:
        return _returned(found, dtype)
    return refusing(f"linalg.lapack.{name}", asked, given) if is_float(asked) else asked


def _cast(value: Any, dtype: np.dtype[Any]) -> Any:
    """Convert a floating-point array to the dtype of a function, as SciPy does."""
    is_other = getattr(value, "ndim", 0) and value.dtype.kind in "fc" and value.dtype != dtype
    return value.astype(dtype) if is_other else value


def _returned(found: Any, dtype: np.dtype[Any]) -> Any:
    """Convert a result to the dtype of a function; of a complex function, some results are real."""
    return _cast(found, np.finfo(dtype).dtype if found.dtype.kind == "f" else dtype)


def _numbers(found: Any, dtype: np.dtype[Any]) -> Any:
    """Convert results; a number comes back as Python's, whatever the dtype of the function."""
    if isinstance(found, TUPLE):
        return tuple(_numbers(one, dtype) for one in found)
    found = _returned(found, dtype)
    return found if found.ndim else found.astype(np.result_type(found.dtype, "float64"))


def _named(
    name: str, names: tuple[str, ...], args: tuple[Any, ...], options: dict[str, Any]
) -> dict[str, Any]:
    """Return the arguments by name."""
    given = dict(zip(names, args, strict=False)) | options
    if len(given) < len(args) + len(options) or not given.keys() <= {*names}:
        raise TypeError(f"scipy.linalg's {name} takes {', '.join(names)}, each once.")
    return given


def _chosen(given: dict[str, Any], vector: str) -> slice:
    """Return the elements of a vector that a step and a start choose."""
    step = given.get(f"inc{vector}", 1)
    if step < 1:
        raise NoRuleError("a BLAS function with a negative step has no derivative. Fix: x[::-1].")
    return slice(given.get(f"off{vector}", 0), None, step)


def _lent(options: dict[str, Any]) -> dict[str, Any]:
    """Return arguments with plain arrays of the memory of variables, to which BLAS may write."""
    return {key: lend(one) if isinstance(one, AnyWrapper) else one for key, one in options.items()}


def _plain(options: dict[str, Any]) -> dict[str, Any]:
    return {key: unwrapped_key(value) for key, value in options.items()}


@functools.cache
def _made() -> dict[int, tuple[Any, Any]]:
    """Return the stand-ins of all functions, by the identity of SciPy's functions."""
    found: dict[int, tuple[Any, Any]] = {}
    for module, known in (("lapack", LAPACK), ("blas", BLAS)):
        native = import_module(f"scipy.linalg.{module}")
        for name, value in vars(native).items():
            if type(value).__name__ == "fortran":
                found[id(value)] = value, _standing_for(value, name, known.get(name))
    linalg = import_module("scipy.linalg")
    for name in ("get_lapack_funcs", "get_blas_funcs"):
        value = getattr(linalg, name)
        found[id(value)] = value, functools.partial(_functions, value)
    return found


def _functions(get: Any, names: Any, arrays: Any = (), *args: Any, **options: Any) -> Any:
    """Return the stand-ins of the functions that SciPy chooses for these arrays."""
    chosen = get(names, tuple(map(unwrapped_key, arrays)), *args, **options)
    return _or_itself(chosen) if isinstance(names, str) else list(map(_or_itself, chosen))


def stand_in(function: Any) -> Any:
    """Return the stand-in of a function of LAPACK, BLAS or `cython_special`, or None."""
    if getattr(function, "__module__", None) == "scipy.special.cython_special":
        return getattr(import_module("scipy.special"), function.__name__, None)
    known = _made().get(id(function))
    return known[1] if known else None


def _or_itself(value: Any) -> Any:
    found = stand_in(value) if is_own(value) else None
    return value if found is None else found


@functools.cache
def module(path: str) -> ModuleType:
    """Return the module that stands for one of these modules of SciPy."""
    native = import_module(f"scipy.{path}")
    made = ModuleType(f"gradwrap.scipy.{path}", native.__doc__)
    names = {name: getattr(native, name) for name in dir(native)}
    vars(made).update({name: _or_itself(value) for name, value in names.items()})
    return made
