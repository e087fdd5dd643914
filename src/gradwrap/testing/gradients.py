"""`check_grads`: the derivatives of a function against differences of its values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.testing.numerical import (
    MODES,
    FlatFunction,
    GradientMismatchError,
    checked_modes,
    derivative,
    direction,
    numerical_slope,
    slope,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.core.dynamic import AnyFunction

__all__ = ["check_grads"]


def check_grads(  # noqa: PLR0913  tolerances by keyword
    fun: AnyFunction[Any],
    args: Sequence[Any],
    order: int = 2,
    modes: Sequence[str] = MODES,
    *,
    rtol: float | None = None,
    eps: float | None = None,
    seed: int = 0,
) -> None:
    """Compare the derivatives of `fun` at `args` with central differences, to an order.

    The derivative along a random direction of the arguments, and one of the output, is taken by
    each of the modes; then that of the derivative, and so on: every nesting of the modes.

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
        `"fwd"`, forward mode, and `"rev"`, reverse mode; both by default.
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
    modes = checked_modes(modes)
    flat = FlatFunction(fun, args, "check_grads")
    checker = _Checker(
        random=np.random.default_rng(seed),
        rtol=rtol or (5e-2 if flat.is_coarse else 1e-6),
        eps=eps or (1e-2 if flat.is_coarse else 1e-5),
        modes=modes,
        order=order,
    )
    if order > 0:
        checker.check(flat, flat.arrays, ())


class _Checker:
    def __init__(
        self,
        random: np.random.Generator,
        rtol: float,
        eps: float,
        modes: tuple[str, ...],
        order: int,
    ) -> None:
        self.random = random
        self.rtol = rtol
        self.eps = eps
        self.modes = modes
        self.order = order

    def check(self, fun: Callable[..., Any], args: list[Any], taken: tuple[str, ...]) -> None:
        """Check the derivative of a function that is itself one, by the modes `taken`."""
        along = [direction(self.random, arg) for arg in args]
        across = [direction(self.random, np.asarray(part)) for part in fun(*args)]
        numerical = numerical_slope(fun, args, along, across, self.eps)
        order = len(taken) + 1
        for mode in self.modes:
            exact = slope(fun, args, along, across, mode)
            tolerance = self.rtol * 10 ** (order - 1) * max(1.0, abs(exact), abs(numerical))
            if not abs(exact - numerical) <= tolerance:
                raise GradientMismatchError(
                    f"derivative of order {order} ({' of '.join((mode, *taken))}) along a random "
                    f"direction: {exact!r} by gradwrap, {numerical!r} by central differences."
                )
        if order < self.order:
            for mode in self.modes:
                self.check(derivative(fun, along, across, mode), args, (mode, *taken))
