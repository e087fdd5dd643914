"""Rules of the functions of scipy.special that are not ufuncs; ufuncs have their own rows.

The equation numbers refer to DLMF, https://dlmf.nist.gov.
"""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.core.array.wrapping import wrap_namespace
from gradwrap.core.levels.wrapper import AnyWrapper
from gradwrap.scipy.dispatching import Refused
from gradwrap.scipy.kinds import formula
from gradwrap.scipy.table import Row, register
from gradwrap.transforms.arguments import stop_gradient

if TYPE_CHECKING:
    from collections.abc import Callable

special: Any = import_module("scipy.special")
UFUNCS: Any = import_module("scipy.special._ufuncs")
"""The ufuncs of the spherical functions, with rows of their own."""


# The gamma function -------------------------------------------------------------------------------


def _polygamma(n: Any, x: Any) -> Any:
    """Return the derivatives of digamma, 25.11.12."""
    order = np.asarray(n, dtype=float)
    factor = (-1.0) ** (order + 1) * special.gamma(order + 1)
    high = factor * special.zeta(np.where(order == 0, 2.0, order + 1), x)
    return np.where(order == 0, special.digamma(x), high)


def _factorial(n: Any) -> Any:
    return np.where(n < 0, 0.0, special.gamma(np.where(n < 0, 0.0, n) + 1.0))


def _choices(N: Any, k: Any) -> Any:
    inside = (k <= N) & (N >= 0) & (k >= 0)
    return np.where(inside, special.binom(np.where(inside, N, 1.0), np.where(inside, k, 1.0)), 0.0)


def _orders(N: Any, k: Any) -> Any:
    inside = (k <= N) & (N >= 0) & (k >= 0)
    n, k = np.where(inside, N, 1.0), np.where(inside, k, 1.0)
    return np.where(inside, special.poch(n - k + 1.0, k), 0.0)


def _table(*arrays: Any) -> Any:
    """Return the special functions of the table, in the namespace of the first variable."""
    variable = next((x for x in arrays if isinstance(x, AnyWrapper)), None)
    return (NUMPY if variable is None else variable.__array_namespace__()).special


NUMPY: Any = wrap_namespace(np)


def _logsumexp(a: Any, axis: Any, b: Any, keepdims: bool, return_sign: bool) -> Any:
    return _table(a, b).logsumexp(a, axis, b, keepdims, return_sign)


# Others -------------------------------------------------------------------------------------------


def _dirichlet_kernel(x: Any, n: Any) -> Any:
    """Return the periodic sinc function, whose derivative is 0 at multiples of 2 pi."""
    sine = np.sin(0.5 * x)
    flat = np.abs(sine) < 1e-9
    ratio = np.sin(0.5 * n * x) / (n * np.where(flat, 1.0, sine))
    return np.where(flat, np.round(stop_gradient(np.cos(0.5 * n * x) * np.cos(0.5 * x))), ratio)


def _spherical(name: str) -> Callable[..., Any]:
    def function(n: Any, z: Any, derivative: bool) -> Any:
        of_positive = getattr(UFUNCS, f"_spherical_{name}{'_d' if derivative else ''}")
        if np.iscomplexobj(z):
            return of_positive(n, z)
        is_odd = (np.asarray(n) + derivative + (name == "yn")) % 2 == 1
        below = z < 0  # 10.47.14 to 10.47.17
        if name == "kn":
            return np.where(below, np.real(of_positive(n, z + 0j)), of_positive(n, np.abs(z)))
        return of_positive(n, np.where(below, -z, z)) * np.where(below & is_odd, -1.0, 1.0)

    return function


def _legendre(n: Any, z: Any, out: Any) -> Any:
    return np.reshape(special.eval_legendre(n, z), np.shape(out))


def _associated_legendre(n: Any, m: Any, z: Any, out: Any) -> Any:
    return np.reshape(special.lpmv(m, n, z), np.shape(out))


def _spherical_harmonic(n: Any, m: Any, theta: Any, phi: Any) -> Any:
    """Return the spherical harmonic, 14.30.1, and 14.30.6 for negative m."""
    order = np.abs(m)
    ways = special.gammaln(n - order + 1.0) - special.gammaln(n + order + 1.0)
    front = np.sqrt((2.0 * n + 1.0) / (4.0 * np.pi) * np.exp(ways))
    front = front * np.where(m < 0, (-1.0) ** order, 1.0)
    return front * special.lpmv(order, n, np.cos(theta)) * np.exp(1j * (m * phi))


def _as_declared(row: Row, like: Callable[..., Any]) -> Row:
    """Give a row the documented parameters of SciPy's function, whose signature is `*args`."""
    row.signature = inspect.signature(like)
    return row


AT_INTEGERS = "it is defined at integers. Fix: special.gamma for a function between them."

register(
    [
        formula("special.polygamma", _polygamma, "x"),
        formula("special.factorial", _factorial, "n"),
        Row("special.factorial2", Refused(AT_INTEGERS)),
        Row("special.factorialk", Refused(AT_INTEGERS)),
        formula("special.comb", _choices, "N k"),
        formula("special.perm", _orders, "N k"),
        formula("special.multigammaln", lambda a, d: _table(a).multigammaln(a, d), "a"),
        formula("special.logsumexp", _logsumexp, "a b"),
        formula("special.softmax", lambda x, axis: _table(x).softmax(x, axis), "x"),
        formula("special.log_softmax", lambda x, axis: _table(x).log_softmax(x, axis), "x"),
        formula("special.diric", _dirichlet_kernel, "x"),
        *(
            formula(f"special.spherical_{name}", _spherical(name), "z")
            for name in ("jn", "yn", "in", "kn")
        ),
        _as_declared(
            formula("special.legendre_p", _legendre, "z"),
            lambda n, z, *, diff_n=0: None,
        ),
        _as_declared(
            formula("special.assoc_legendre_p", _associated_legendre, "z"),
            lambda n, m, z, *, branch_cut=2, norm=False, diff_n=0: None,
        ),
        _as_declared(
            formula("special.sph_harm_y", _spherical_harmonic, "theta phi"),
            lambda n, m, theta, phi, *, diff_n=0: None,
        ),
    ]
)
