"""`check_grads`: a comparison of derivatives with differences of values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.testing.numerical import (
    MODES,
    FlatFunction,
    GradientMismatchError,
    Sample,
    checked_modes,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.core.values.dynamic import AnyFunction


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
    rtol = rtol or (5e-2 if flat.is_coarse else 1e-6)
    eps = eps or (1e-2 if flat.is_coarse else 1e-5)
    random = np.random.default_rng(seed)

    pending: list[tuple[Callable[..., Any], tuple[str, ...]]] = [(flat, ())] if order > 0 else []
    while pending:
        function, taken = pending.pop()  # a derivative, and the modes by which it was taken
        sample = Sample(function, flat.arrays, random)
        numerical = sample.numerical_slope(eps)
        for mode in modes:
            exact = sample.slope(mode)
            tolerance = rtol * 10 ** len(taken) * max(1.0, abs(exact), abs(numerical))
            if not abs(exact - numerical) <= tolerance:
                raise GradientMismatchError(
                    f"derivative of order {len(taken) + 1} ({' of '.join((mode, *taken))}) along "
                    f"a random direction: {exact!r} by gradwrap, {numerical!r} by central "
                    "differences."
                )
        if len(taken) + 1 < order:
            pending += [(sample.derivative(mode), (mode, *taken)) for mode in reversed(modes)]
