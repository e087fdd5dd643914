"""Polynomials given by coefficients, and convolution, which multiplies them."""

from __future__ import annotations

import functools
import operator
import warnings
from typing import Any

import numpy as np

from gradwrap.backends.numpy.functions.linear_algebra import lstsq
from gradwrap.backends.numpy.functions.table import (
    IMPLEMENTATIONS,
    cast,
    constant,
    implements,
    untyped,
)
from gradwrap.core.values.dynamic import TUPLE, type_of
from gradwrap.errors import NoRuleError


@implements("convolve(a, v, mode='full')", arrays=2)
def convolve(xp: Any, a: Any, v: Any, mode: str) -> Any:
    a, v = (xp.reshape(x, (-1,)) for x in (a, v))
    if a.shape[0] < v.shape[0]:
        a, v = v, a
    return _part(xp.full_convolution(a, v), a.shape[0], v.shape[0], mode)


MODES = ("valid", "same", "full")
"""The modes by NumPy's numbers for them."""


def _part(full: Any, n: int, m: int, mode: str | int) -> Any:
    """Take the part of a full convolution for the mode: all, the middle n, or the valid part."""
    mode = MODES[mode] if isinstance(mode, int) else mode
    if mode == "full":
        return full
    if mode == "same":
        first = (m - 1) // 2
        return full[first : first + n]
    if mode == "valid":
        return full[m - 1 : n]
    raise ValueError(f"mode must be one of 'full', 'same', or 'valid', not {mode!r}")


@implements("correlate(a, v, mode='valid')", arrays=2)
def correlate(xp: Any, a: Any, v: Any, mode: str) -> Any:
    turned = xp.flip(v)
    if xp.isdtype(v.dtype, "complex floating"):
        turned = xp.conj(turned)
    full = xp.full_convolution(a, turned)
    n, m = a.shape[0], v.shape[0]
    if n >= m:
        return _part(full, n, m, mode)
    return xp.flip(_part(xp.flip(full), m, n, mode))


@implements("polyval(p, x)", arrays=2)
def polyval(xp: Any, p: Any, x: Any) -> Any:
    """Evaluate by Horner's rule."""
    total = xp.zeros_like(x)
    for i in range(p.shape[0]):
        total = total * x + p[i]
    return total


@implements("polymul(a1, a2)", arrays=2)
def polymul(xp: Any, a1: Any, a2: Any) -> Any:
    return convolve(xp, a1, a2, "full")


@implements("polyadd polysub(a1, a2)", arrays=2)
def polyadd(xp: Any, name: str, a1: Any, a2: Any) -> Any:
    a1, a2 = (a if a.ndim else xp.reshape(a, (1,)) for a in (a1, a2))
    longer = max(a1.shape[0], a2.shape[0])
    a1, a2 = (
        xp.concat([xp.zeros(longer - a.shape[0], dtype=a.dtype), a]) if a.shape[0] < longer else a
        for a in (a1, a2)
    )
    return a1 + a2 if name == "polyadd" else a1 - a2


@implements("polyder(p, m=1)", arrays=1)
def polyder(xp: Any, p: Any, m: int) -> Any:
    for _ in range(m):
        p = p[:-1] * constant(xp, np.arange(p.shape[0] - 1, 0, -1))
    return p


@implements("polyint(p, m=1, k=None)", arrays=1)
def polyint(xp: Any, p: Any, m: int, k: Any) -> Any:
    constants = constant(xp, np.zeros(m)) if k is None else k
    constants = xp.broadcast_to(xp.asarray(constants), (m,))
    for i in range(m):
        p = xp.concat([p / constant(xp, np.arange(p.shape[0], 0, -1)), constants[i : i + 1]])
    return p


@implements("poly(seq_of_zeros)", arrays=1)
def poly(xp: Any, seq_of_zeros: Any) -> Any:
    """Multiply the factors `x - zero`, in NumPy's order."""
    zeros = seq_of_zeros if seq_of_zeros.ndim else xp.reshape(seq_of_zeros, (1,))
    if zeros.ndim == 2 and zeros.shape[0] == zeros.shape[1] != 0:
        zeros = untyped.linalg.eigvals(zeros)
    if zeros.ndim != 1:
        raise ValueError("input must be 1d or non-empty square 2d array.")
    if zeros.shape[0] == 0:
        return 1.0
    product = xp.ones(1, dtype=zeros.dtype)
    for zero in zeros:
        product = convolve(xp, product, xp.stack([xp.ones_like(zero), -zero]), "full")
    if xp.isdtype(zeros.dtype, "complex floating"):
        is_real = np.all(np.sort(zeros) == np.sort(np.conj(zeros)))
        product = xp.real(product) if is_real else product
    return product


@implements("roots(p)", arrays=1)
def roots(xp: Any, p: Any) -> Any:
    """Return the eigenvalues of the companion matrix."""
    if p.ndim > 1:
        raise ValueError("Input must be a rank-1 array.")
    p = xp.reshape(p, (-1,)) + 0.0
    last = p.shape[0]
    while last and p[last - 1] == 0:
        last -= 1
    trailing, p = p.shape[0] - last, p[:last]
    while p.shape[0] and p[0] == 0:
        p = p[1:]
    if p.shape[0] < 2:
        return constant(xp, np.zeros(trailing if last else 0))
    below = xp.eye(p.shape[0] - 2, p.shape[0] - 1, dtype=p.dtype)
    found = untyped.linalg.eigvals(xp.concat([(-p[1:] / p[0])[None, :], below]))
    return xp.concat([found, xp.zeros(trailing, dtype=found.dtype)]) if trailing else found


@implements("polydiv(u, v)", arrays=2)
def polydiv(xp: Any, u: Any, v: Any) -> tuple[Any, Any]:
    u, v = (xp.reshape(a, (-1,)) + 0.0 for a in (u, v))
    dtype = np.promote_types(u.dtype, v.dtype)
    size, scale, rest = v.shape[0], 1.0 / v[0], cast(xp, u, dtype)
    quotient: list[Any] = []
    for k in range(u.shape[0] - size + 1):
        factor = scale * rest[k]
        quotient.append(factor)
        rest = xp.concat([rest[:k], rest[k : k + size] - factor * v, rest[k + size :]])
    while rest.shape[0] > 1 and np.allclose(rest[0], 0, rtol=1e-14):
        rest = rest[1:]
    return xp.stack(quotient) if quotient else xp.zeros(1, dtype=dtype), rest


@implements("vander(x, N=None, increasing=False)", arrays=1)
def vander(xp: Any, x: Any, N: int | None, increasing: bool) -> Any:
    powers = np.arange(x.shape[0] if N is None else N)
    powers = powers if increasing else powers[::-1]
    x = cast(xp, x, np.promote_types(x.dtype, np.int_))
    return x[:, None] ** constant(xp, powers.astype(x.dtype))


@implements("polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False)", arrays=2)
def polyfit(
    xp: Any, x: Any, y: Any, deg: int, rcond: Any, full: bool, w: Any = None, cov: Any = False
) -> Any:
    """Fit a polynomial by least squares, with columns of length one, as NumPy does."""
    if full or cov:
        raise NoRuleError("np.polyfit with full= or cov= has no rule. Fix: omit them.")
    if deg < 0:
        raise ValueError("expected deg >= 0")
    if x.ndim != 1 or not x.size:
        raise TypeError("expected non-empty vector for x")
    if y.ndim not in (1, 2) or y.shape[0] != x.shape[0]:
        raise TypeError("expected x and y to have same length, and a vector or a matrix for y")
    x, right = x + 0.0, y + 0.0
    left = vander(xp, x, deg + 1, False)
    if w is not None:
        w = xp.asarray(w) + 0.0
        if w.shape != x.shape:
            raise TypeError("expected w and y to have the same length")
        left, right = left * w[:, None], right * (w[:, None] if y.ndim == 2 else w)
    scale = xp.sqrt(xp.sum(left * left, axis=0))
    rcond = x.shape[0] * float(xp.finfo(x.dtype).eps) if rcond is None else rcond
    found, _, rank, _ = lstsq(xp, left / scale, right, rcond)
    if rank != deg + 1:
        warnings.warn("Polyfit may be poorly conditioned", np.exceptions.RankWarning, stacklevel=2)
    return found / (scale[:, None] if y.ndim == 2 else scale)


# Polynomials as objects ---------------------------------------------------------------------------

RETURN_OBJECTS = (np.polyadd, np.polyder, np.polydiv, np.polyint, np.polymul, np.polysub)
"""The functions that return polynomials as objects where they are given such."""
OF_OBJECTS = frozenset((*RETURN_OBJECTS, np.polyval, np.roots))
"""The functions that take polynomials as objects, `np.poly1d`."""


def on_objects(function: Any, call: Any, args: Any, options: dict[str, Any]) -> Any:
    """Call a function on the coefficients of objects, and return objects as NumPy does."""
    given = [*args, *options.values()]
    if function is np.polyval and isinstance(given[-1], np.poly1d):
        return _composed(*given)
    taken = [one.coeffs if isinstance(one, np.poly1d) else one for one in args]
    words = {k: v.coeffs if isinstance(v, np.poly1d) else v for k, v in options.items()}
    found = call(*taken, **words)
    if function not in RETURN_OBJECTS or all(map(operator.is_, [*taken, *words.values()], given)):
        return found
    kind: Any = next(type_of(one) for one in given if isinstance(one, np.poly1d))
    return tuple([kind(one) for one in found]) if isinstance(found, TUPLE) else kind(found)


def _composed(p: Any, x: Any) -> Any:
    """Insert a polynomial into another one by Horner's rule."""
    kind: Any = type_of(x)
    total = kind(0.0)
    for coefficient in p.coeffs if isinstance(p, np.poly1d) else p:
        total = total * x + coefficient
    return total


def _beside_arrays(function: Any, implementation: Any) -> Any:
    """Let an implementation take objects beside arrays."""

    def called(xp: Any, *args: Any, **options: Any) -> Any:
        return on_objects(function, functools.partial(implementation, xp), args, options)

    return called


for _function in OF_OBJECTS:
    IMPLEMENTATIONS[_function] = _beside_arrays(_function, IMPLEMENTATIONS[_function])
