"""Polynomials by their coefficients, and convolution, which is their product."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwrap.backends.numpy_functions.table import cast, constant, implements


@implements("convolve(a, v, mode='full')", arrays=2)
def convolve(xp: Any, a: Any, v: Any, mode: str) -> Any:
    a, v = (xp.reshape(x, (-1,)) for x in (a, v))
    if a.shape[0] < v.shape[0]:
        a, v = v, a
    return _part(xp.full_convolution(a, v), a.shape[0], v.shape[0], mode)


def _part(full: Any, n: int, m: int, mode: str) -> Any:
    """Take the middle n of n + m - 1 elements, or those in which all elements of both take part."""
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


@implements("vander(x, N=None, increasing=False)", arrays=1)
def vander(xp: Any, x: Any, N: int | None, increasing: bool) -> Any:
    powers = np.arange(x.shape[0] if N is None else N)
    powers = powers if increasing else powers[::-1]
    x = cast(xp, x, np.promote_types(x.dtype, np.int_))
    return x[:, None] ** constant(xp, powers.astype(x.dtype))
