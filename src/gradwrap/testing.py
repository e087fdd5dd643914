"""Numerical checks of gradients, for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.core.tree import flatten, unflatten
from gradwrap.errors import GradwrapError
from gradwrap.transforms.reverse import vjp

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["GradientMismatchError", "check_grads"]


class GradientMismatchError(GradwrapError, AssertionError):
    """A gradient does not agree with its numerical value."""


def check_grads(  # noqa: PLR0913  tolerances by keyword
    fun: Callable[..., Any],
    args: Sequence[Any],
    order: int = 2,
    modes: Sequence[str] = ("rev",),
    *,
    rtol: float | None = None,
    eps: float | None = None,
    seed: int = 0,
) -> None:
    """Compare the derivatives of `fun` at `args` with central differences, to an order.

    The vector-Jacobian product is compared along a random direction of the arguments and one of
    the output; then its own derivative, and so on.

    Parameters
    ----------
    fun
        A function of NumPy arrays (or pytrees of them) that returns such; differentiable around
        `args`.
    args
        Its arguments. Floating-point and complex arrays, and Python floats, are differentiated;
        integers and all else are held fixed.
    order
        The highest order of derivatives to check.
    modes
        `"rev"`, reverse mode.
    rtol
        The tolerance, relative to the larger of the two values and to one. By default 1e-6, and
        5e-2 where a single-precision array is among the arguments; ten times that for each order.
    eps
        The step of the differences. By default 1e-5, and 1e-2 in single precision.
    seed
        Of the random directions.

    Raises
    ------
    GradientMismatchError
        They do not agree; the message has both values.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> gw.testing.check_grads(lambda x: np.sin(x) * x, [np.array([0.3, 0.7])])
    """
    if set(modes) != {"rev"}:
        raise ValueError(f"modes={modes!r}: known is 'rev'. Fix: modes=('rev',).")
    leaves, treedef = flatten(tuple(args))
    places = [i for i, leaf in enumerate(leaves) if _is_floating(leaf)]
    arrays: list[Any] = [np.asarray(leaves[i]) for i in places]
    if not arrays:
        raise ValueError("check_grads: no argument is a floating-point array. Fix: cast one.")
    coarse = any(array.real.dtype.itemsize < 8 for array in arrays)

    def flat_fun(*values: Any) -> Any:
        filled = list(leaves)
        for place, value in zip(places, values, strict=True):
            filled[place] = value
        return [part for part in flatten(fun(*unflatten(treedef, filled)))[0] if _is_floating(part)]

    checker = _Checker(
        random=np.random.default_rng(seed),
        rtol=rtol or (5e-2 if coarse else 1e-6),
        eps=eps or (1e-2 if coarse else 1e-5),
    )
    for at in range(1, order + 1):
        checker.check(flat_fun, arrays, at)
        flat_fun = checker.derivative(flat_fun)


def _is_floating(value: Any) -> bool:
    if isinstance(value, (float, complex)):
        return True
    return hasattr(value, "dtype") and str(value.dtype).startswith(("float", "complex"))


class _Checker:
    def __init__(self, random: np.random.Generator, rtol: float, eps: float) -> None:
        self.random = random
        self.rtol = rtol
        self.eps = eps
        self.cotangents: list[Any] = []

    def check(self, fun: Callable[..., Any], args: list[Any], order: int) -> None:
        out, pull = vjp(fun, *args)
        self.cotangents = [self._direction(np.asarray(part)) for part in out]
        tangents = [self._direction(arg) for arg in args]
        exact = _inner(pull(self.cotangents), tangents)

        def difference(step: float) -> float:
            above = fun(*(a + step * t for a, t in zip(args, tangents, strict=True)))
            below = fun(*(a - step * t for a, t in zip(args, tangents, strict=True)))
            moved = [
                (np.asarray(a) - np.asarray(b)) / (2 * step)
                for a, b in zip(above, below, strict=True)
            ]
            return _inner(self.cotangents, moved)

        # Richardson's extrapolation of two central differences: an error of the fourth order
        numerical = (4 * difference(self.eps) - difference(2 * self.eps)) / 3
        tolerance = self.rtol * 10 ** (order - 1) * max(1.0, abs(exact), abs(numerical))
        if not abs(exact - numerical) <= tolerance:
            raise GradientMismatchError(
                f"derivative of order {order} along a random direction: {exact!r} by gradwrap, "
                f"{numerical!r} by central differences."
            )

    def derivative(self, fun: Callable[..., Any]) -> Callable[..., Any]:
        """The function that is checked next: the gradient along the direction of the output."""
        cotangents = self.cotangents

        def pulled(*values: Any) -> Any:
            _, pull = vjp(fun, *values)
            return list(pull(cotangents))

        return pulled

    def _direction(self, like: Any) -> Any:
        values = self.random.standard_normal(like.shape)
        if like.dtype.kind == "c":
            values = values + 1j * self.random.standard_normal(like.shape)
        return np.asarray(values, dtype=like.dtype)


def _inner(left: Sequence[Any], right: Sequence[Any]) -> float:
    """The real inner product of two lists of arrays."""
    return float(sum(np.sum((np.conj(a) * b).real) for a, b in zip(left, right, strict=True)))
