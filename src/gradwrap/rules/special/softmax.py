"""Special functions built from others: softmax and its relatives, and second names."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwrap.core.library.namespace import composite
from gradwrap.rules.matrices import is_complex

if TYPE_CHECKING:
    from collections.abc import Callable


def _largest(xp: Any, x: Any, axis: Any) -> Any:
    """Return the maximum along axes, which is subtracted, or 0 where it is infinite.

    Of complex numbers it is that of the real parts. It is tracked: so the largest term is the
    constant 1, and derivatives are precise where the others vanish beside it.
    """
    top = xp.max(xp.real(x) if is_complex(xp, x) else x, axis=axis, keepdims=True)
    return xp.where(xp.isfinite(top), top, 0.0)


@composite("special.logsumexp")
def logsumexp(
    xp: Any,
    x: Any,
    /,
    axis: int | tuple[int, ...] | None = None,
    b: Any = None,
    keepdims: bool = False,
    return_sign: bool = False,
) -> Any:
    """Return the logarithm of the sum of `b * exp(x)`, without overflow.

    Of a complex sum the sign is its direction, a complex number.
    """
    x = xp.asarray(x)
    top = _largest(xp, x if b is None else xp.where(b == 0, -math.inf, x), axis)
    below = x - top
    if b is not None and not is_complex(xp, x):  # where b is 0, exp(x) may overflow
        below = xp.minimum(below, math.log(float(xp.finfo(below.dtype).max)) - 1.0)
    terms = xp.exp(below)
    total = xp.sum(terms if b is None else b * terms, axis=axis, keepdims=True)
    sign = xp.sign(total if is_complex(xp, total) else xp.stop_gradient(total))
    found = xp.log(xp.abs(total) if return_sign else total) + top
    if not keepdims:
        axes = tuple(range(x.ndim)) if axis is None else axis
        found, sign = xp.squeeze(found, axis=axes), xp.squeeze(sign, axis=axes)
    return (found, sign) if return_sign else found


@composite("special.softmax")
def softmax(xp: Any, x: Any, /, axis: int | tuple[int, ...] | None = None) -> Any:
    """Divide `exp(x)` by its sum along axes, without overflow."""
    x = xp.asarray(x)
    terms = xp.exp(x - _largest(xp, x, axis))
    return terms / xp.sum(terms, axis=axis, keepdims=True)


@composite("special.log_softmax")
def log_softmax(xp: Any, x: Any, /, axis: int | tuple[int, ...] | None = None) -> Any:
    """Return the logarithm of `softmax`, finite even where that underflows to 0."""
    x = xp.asarray(x)
    lower = x - _largest(xp, x, axis)
    return lower - xp.log(xp.sum(xp.exp(lower), axis=axis, keepdims=True))


@composite("special.multigammaln")
def multigammaln(xp: Any, a: Any, d: int, /) -> Any:
    """Return the logarithm of the multivariate gamma function of dimension d, DLMF 35.3.4."""
    a = xp.asarray(a)
    found = xp.special.gammaln(a) + 0.25 * d * (d - 1) * math.log(math.pi)
    for i in range(1, d):
        found = found + xp.special.gammaln(a - 0.5 * i)
    return found


@composite("special.sinc")
def sinc(xp: Any, x: Any, /) -> Any:
    """Return sin(pi x)/(pi x), by a series near 0, so that every derivative is exact there."""
    near = xp.abs(x) < 1e-3
    at = math.pi * xp.where(near, 1.0, x)
    square = (math.pi * xp.where(near, x, 0.0)) ** 2
    series = 1.0 - square / 6.0 * (1.0 - square / 20.0 * (1.0 - square / 42.0))
    return xp.where(near, series, xp.sin(at) / at)


def _of_main_namespace(name: str) -> Callable[[Any, Any], Any]:
    """Write a function of SciPy's that the main namespace has too."""

    def function(xp: Any, x: Any, /) -> Any:
        return getattr(xp, name)(x)

    function.__name__, function.__doc__ = (
        name,
        f"Do what `{name}` does; this is SciPy's name for it.",
    )
    return function


for name in ("cbrt", "exp2", "expm1", "log1p"):
    composite(f"special.{name}")(_of_main_namespace(name))
