"""Numerical checks of gradients, for tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradwrap.core.tree import flatten, unflatten
from gradwrap.errors import GradwrapError
from gradwrap.transforms.reverse import vjp

__all__ = ["GradientMismatchError", "check_grads"]


class GradientMismatchError(GradwrapError, AssertionError):
    """A gradient does not agree with its numerical value."""


def check_grads(
    fun: Callable[..., Any],
    args: Sequence[Any],
    order: int = 2,
    modes: Sequence[str] = ("rev",),
    *,
    rtol: float = 1e-6,
    eps: float = 1e-5,
    seed: int = 0,
) -> None:
    """Compare the derivatives of `fun` at `args` with central differences, to an order.

    The vector-Jacobian product is compared along a random direction of the arguments and one of
    the output; then its own derivative, and so on. Arguments are NumPy arrays (or pytrees) of
    float64 or complex128.

    Raises
    ------
    GradientMismatchError
        They do not agree; the message has both values.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> gw.testing.check_grads(lambda x: np.sin(x) * x, [np.array([0.3, 0.7])])
    """
    if "rev" not in modes:
        raise ValueError(f"modes={modes!r}: known is 'rev'.")
    random = np.random.default_rng(seed)
    leaves, treedef = flatten(tuple(args))
    arrays = [np.asarray(leaf) for leaf in leaves]

    def flat_fun(*values: Any) -> Any:
        return flatten(fun(*unflatten(treedef, values)))[0]

    _check(flat_fun, arrays, order, random, rtol, eps)


def _direction(random: np.random.Generator, like: Any) -> Any:
    values = random.standard_normal(np.shape(like))
    if np.iscomplexobj(like):
        values = values + 1j * random.standard_normal(np.shape(like))
    return np.asarray(values, dtype=like.dtype)


def _inner(left: Sequence[Any], right: Sequence[Any]) -> float:
    """The real inner product of two lists of arrays."""
    return float(sum(np.sum((np.conj(a) * b).real) for a, b in zip(left, right, strict=True)))


def _check(  # noqa: PLR0913  the recursion's state
    fun: Callable[..., Any],
    args: list[Any],
    order: int,
    random: np.random.Generator,
    rtol: float,
    eps: float,
) -> None:
    out, pull = vjp(fun, *args)
    cotangents = [_direction(random, np.asarray(part)) for part in out]
    tangents = [_direction(random, arg) for arg in args]
    exact = _inner(pull(cotangents), tangents)

    def along(step: float) -> list[Any]:
        return list(fun(*(a + step * t for a, t in zip(args, tangents, strict=True))))

    def difference(step: float) -> float:
        above, below = along(step), along(-step)
        moved = [
            (np.asarray(a) - np.asarray(b)) / (2 * step) for a, b in zip(above, below, strict=True)
        ]
        return _inner(cotangents, moved)

    # Richardson's extrapolation of two central differences: an error of the fourth order
    numerical = (4 * difference(eps) - difference(2 * eps)) / 3
    if not abs(exact - numerical) <= rtol * max(1.0, abs(exact), abs(numerical)):
        raise GradientMismatchError(
            f"derivative along a random direction: {exact!r} by gradwrap, "
            f"{numerical!r} by central differences."
        )
    if order > 1:

        def pulled(*values: Any) -> Any:
            _, again = vjp(fun, *values)
            return list(again(cotangents))

        _check(pulled, args, order - 1, random, rtol * 10, eps)
