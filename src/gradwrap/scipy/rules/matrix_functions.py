"""Rows of `scipy.linalg`: functions of a matrix, matrix equations, and structured matrices.

Functions of a matrix follow N. J. Higham, "Functions of Matrices" (SIAM, 2008), eq. 3.16.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwrap.core.levels.wrapper import native
from gradwrap.errors import NoRuleError
from gradwrap.scipy.doors import dispatcher
from gradwrap.scipy.kinds import Adjoint, formula
from gradwrap.scipy.rules.matrices import adjoint, hermitian, joined, native_of, parted, toeplitz
from gradwrap.scipy.solving import data_of
from gradwrap.scipy.table import Row
from gradwrap.transforms.implicit import custom_root

# Functions of a matrix ----------------------------------------------------------------------------


def analytic(path: str) -> Adjoint:
    """Return the rule of an analytic matrix function: f([[A, E], [0, A]]) has the derivative."""

    def block(A: Any, e: Any) -> Any:
        n = A.shape[-1]
        e, spoiled = parted(e)
        made = dispatcher(path)(joined([[A, e], [np.zeros_like(A), A]]))
        return made[..., :n, n:] + spoiled

    return Adjoint({"A": lambda g, A: block(adjoint(A), g)}, {"A": lambda t, A: block(A, t)})


def _logm(A: Any) -> Any:
    """Take square roots until the matrix is near the identity, then integrate (Higham, ch. 11)."""
    eye, root = np.eye(A.shape[0]), A
    roots = 0
    while np.linalg.norm(data_of(root) - eye) > 0.25 and roots < 60:
        root = dispatcher("linalg.sqrtm")(root)
        roots += 1
    points, weights = np.polynomial.legendre.leggauss(12)
    moved = root - eye
    total = sum(
        w / 2 * np.linalg.solve(eye + (x + 1) / 2 * moved, moved)
        for x, w in zip(points, weights, strict=True)
    )
    return 2.0**roots * total


def _power(A: Any, t: Any) -> Any:
    return dispatcher("linalg.expm")(t * dispatcher("linalg.logm")(A))


def _frechet(A: Any, E: Any, compute_expm: Any) -> Any:
    n = A.shape[-1]
    made = dispatcher("linalg.expm")(joined([[A, E], [np.zeros_like(A), A]]))
    return (made[:n, :n], made[:n, n:]) if compute_expm else made[:n, n:]


def _funm(A: Any, func: Any, disp: Any) -> Any:
    """Return the function of a matrix with distinct eigenvalues."""
    w, v = np.linalg.eig(A)
    data = data_of(w)
    gaps = np.abs(data[:, None] - data) + np.diag(np.full(len(data), np.inf))
    if gaps.min() < 1e-7 * np.abs(data).max():
        raise NoRuleError(
            "scipy.linalg.funm has no derivative at a matrix with equal eigenvalues. Fix: use the "
            "function that SciPy has for it, such as scipy.linalg.expm."
        )
    found = (v * func(w)) @ np.linalg.inv(v)
    found = np.real(found) if native_of(A).dtype.kind == "f" else found
    return found if disp else (found, None)


def _sylvester(a: Any, b: Any, q: Any) -> Any:
    return dispatcher("linalg.solve_sylvester")(*_of_one_kind(a, b, q))


def _of_one_kind(*matrices: Any) -> list[Any]:
    """Return all matrices as complex ones, if one is.

    SciPy solves the equation of real matrices through their real Schur forms. If another one is
    complex, LAPACK takes the blocks of complex eigenvalues in these for triangles.
    """
    are_complex = [np.iscomplexobj(native_of(x)) for x in matrices]
    if all(are_complex) or not any(are_complex):
        return [*matrices]
    return [x if is_one else x + 0j for x, is_one in zip(matrices, are_complex, strict=True)]


class _Sylvester(Adjoint):
    """The solution of a linear equation of matrices, where SciPy's is right."""

    def answer(self, row: Row, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        given = {**dict(zip("abq", args, strict=False)), **kwargs}
        real = [name for name, x in given.items() if not np.iscomplexobj(native(x))]
        if len(real) < len(given) and any(
            np.iscomplexobj(np.linalg.eigvals(np.asarray(native(given[name]))))
            for name in real
            if name in "ab"
        ):
            raise NoRuleError(
                f"{row.name} of SciPy gives no solution where a real matrix has complex "
                "eigenvalues and another matrix is complex. Fix: pass complex matrices alone: "
                "a + 0j, b + 0j, q + 0j."
            )
        return super().answer(row, args, kwargs)


def _sylvester_back(g: Any, a: Any, b: Any) -> Any:
    return _sylvester(adjoint(a), adjoint(b), g)


def _discrete(a: Any, q: Any) -> Any:
    q, spoiled = parted(q)
    return dispatcher("linalg.solve_discrete_lyapunov")(a, q) + spoiled


def _discrete_of_a(g: Any, a: Any, out: Any) -> Any:
    w = _discrete(adjoint(a), g)
    return w @ a @ adjoint(out) + adjoint(w) @ a @ out


def _discrete_along_a(t: Any, a: Any, out: Any) -> Any:
    moved = t @ out @ adjoint(a)
    return _discrete(a, moved + a @ out @ adjoint(t))


def _found(residual: Any, out: Any) -> Any:
    """Return SciPy's solution of an equation, with its implicit derivative."""
    return custom_root(residual, out, lambda _f, x: x)


def _continuous_riccati(a: Any, b: Any, q: Any, r: Any, e: Any, s: Any, out: Any) -> Any:
    e, s = _or_eye(e, a), _or_zero(s, b)
    a, b, e, s = (np.atleast_2d(one) for one in (a, b, e, s))
    q, r = (hermitian(np.atleast_2d(one)) for one in (q, r))

    def residual(x: Any) -> Any:
        gain = adjoint(b) @ x @ e + adjoint(s)
        back = adjoint(e) @ x @ b + s  # holomorphic in x, where `adjoint(gain)` is not
        return adjoint(e) @ x @ a + adjoint(a) @ x @ e - back @ np.linalg.solve(r, gain) + q

    return _found(residual, out)


def _discrete_riccati(a: Any, b: Any, q: Any, r: Any, e: Any, s: Any, out: Any) -> Any:
    e, s = _or_eye(e, a), _or_zero(s, b)
    a, b, e, s = (np.atleast_2d(one) for one in (a, b, e, s))
    q, r = (hermitian(np.atleast_2d(one)) for one in (q, r))

    def residual(x: Any) -> Any:
        gain = adjoint(b) @ x @ a + adjoint(s)
        back = adjoint(a) @ x @ b + s
        middle = r + adjoint(b) @ x @ b
        full = adjoint(a) @ x @ a - back @ np.linalg.solve(middle, gain) + q
        return full - adjoint(e) @ x @ e

    return _found(residual, out)


def _or_eye(e: Any, a: Any) -> Any:
    return np.eye(np.atleast_2d(a).shape[0]) if e is None else e


def _or_zero(s: Any, b: Any) -> Any:
    return np.zeros(np.shape(b)) if s is None else s


# Matrices made of vectors -------------------------------------------------------------------------


def _block_diag(arrs: Any) -> Any:
    blocks = [np.atleast_2d(a) for a in arrs]
    width = sum(block.shape[1] for block in blocks)
    rows: list[Any] = []
    before = 0
    for block in blocks:
        m, n = block.shape
        parts = [np.zeros((m, before)), block, np.zeros((m, width - before - n))]
        rows.append(np.concatenate(parts, axis=1))
        before += n
    return np.concatenate(rows)


def _circulant(c: Any) -> Any:
    n = c.shape[-1]
    return c[..., (np.arange(n)[:, None] - np.arange(n)) % n]


def _hankel(c: Any, r: Any) -> Any:
    c = np.reshape(c, (-1,))
    r = np.zeros(c.shape) if r is None else np.reshape(r, (-1,))
    values = np.concatenate([c, r[1:]])
    return values[np.arange(len(c))[:, None] + np.arange(len(r))]


def _companion(a: Any) -> Any:
    n = a.shape[-1] - 1
    first = -a[..., 1:] / a[..., :1]
    below = np.broadcast_to(np.eye(n - 1, n), (*a.shape[:-1], n - 1, n))
    return np.concatenate([first[..., None, :], below], axis=-2)


def _fiedler_companion(a: Any) -> Any:
    n = len(a) - 1
    values = np.concatenate([-a / a[0], np.ones(1), np.zeros(1)])
    one, zero = n + 1, n + 2
    places = np.full((n, n), zero)
    places[range(3, n, 2), range(1, n - 2, 2)] = one
    places[range(2, n, 2), range(1, n, 2)] = range(3, n + 1, 2)
    places[range(0, n - 2, 2), range(2, n, 2)] = one
    places[range(0, n - 1, 2), range(1, n, 2)] = range(2, n + 1, 2)
    places[0, 0] = 1
    places[1:2, 0] = one
    return values[places]


def _leslie(f: Any, s: Any) -> Any:
    n = f.shape[-1]
    below = s[..., :, None] * np.eye(n - 1, n)
    return np.concatenate([f[..., None, :], below], axis=-2)


def _convolution_matrix(a: Any, n: Any, mode: Any) -> Any:
    m = a.shape[-1]
    k = np.arange(m + n - 1)[:, None] - np.arange(n)
    padded = np.concatenate([a, np.zeros(1)])
    full = padded[np.where((k >= 0) & (k < m), k, m)]
    length, short = max(m, n), min(m, n)
    if mode == "valid":
        return full[short - 1 : length]
    first = (short - 1) // 2
    return full if mode == "full" else full[first : first + length]


MATRIX_FUNCTIONS = [
    formula("linalg.funm", _funm, "A:2", byproducts=(1,)),
    *(
        Row(f"linalg.{name}", analytic(f"linalg.{name}"), arrays="A", neutral="disp blocksize")
        for name in ("expm", "cosm", "sinm", "tanm", "coshm", "sinhm", "tanhm")
    ),
    Row(
        "linalg.sqrtm",
        Adjoint(
            {"A": lambda g, out: _sylvester(adjoint(out), adjoint(out), g)},
            {"A": lambda t, out: _sylvester(out, out, t)},
        ),
        arrays="A",
        neutral="disp blocksize",
    ),
    formula("linalg.logm", _logm, "A:2", neutral="disp"),
    Row("linalg.signm", analytic("linalg.signm"), arrays="A", neutral="disp"),
    formula("linalg.fractional_matrix_power", _power, "A:2 t"),
    formula("linalg.expm_frechet", _frechet, "A:2 E:2", neutral="method"),
    Row(
        "linalg.solve_sylvester",
        _Sylvester(
            {
                "a": lambda g, a, b, out: -(_sylvester_back(g, a, b) @ adjoint(out)),
                "b": lambda g, a, b, out: -(adjoint(out) @ _sylvester_back(g, a, b)),
                "q": lambda g, a, b: _sylvester_back(g, a, b),
            },
            {
                "a": lambda t, a, b, out: _sylvester(a, b, -(t @ out)),
                "b": lambda t, a, b, out: _sylvester(a, b, -(out @ t)),
            },
        ),
        arrays="a:2 b:2 q:2",
    ),
    formula(
        "linalg.solve_continuous_lyapunov", lambda a, q: _sylvester(a, adjoint(a), q), "a:2 q:2"
    ),
    Row(
        "linalg.solve_discrete_lyapunov",
        Adjoint(
            {"a": _discrete_of_a, "q": lambda g, a: _discrete(adjoint(a), g)},
            {"a": _discrete_along_a, "q": lambda t, a: _discrete(a, t)},
        ),
        arrays="a:2 q:2",
        neutral="method",
    ),
    formula(
        "linalg.solve_continuous_are",
        _continuous_riccati,
        "a:2 b:2 q:2 r:2 e:2 s:2",
        neutral="balanced",
        symmetric="q r",
    ),
    formula(
        "linalg.solve_discrete_are",
        _discrete_riccati,
        "a:2 b:2 q:2 r:2 e:2 s:2",
        neutral="balanced",
        symmetric="q r",
    ),
]
SPECIAL_MATRICES = [
    formula("linalg.block_diag", _block_diag, "arrs:2"),
    formula("linalg.toeplitz", toeplitz, "c:1 r:1"),
    formula("linalg.circulant", _circulant, "c"),
    formula("linalg.hankel", _hankel, "c r"),
    formula("linalg.companion", _companion, "a"),
    formula("linalg.fiedler", lambda a: np.abs(a[..., :, None] - a[..., None, :]), "a"),
    formula("linalg.fiedler_companion", _fiedler_companion, "a:1"),
    formula("linalg.leslie", _leslie, "f:1 s:1"),
    formula("linalg.convolution_matrix", _convolution_matrix, "a:1"),
]
