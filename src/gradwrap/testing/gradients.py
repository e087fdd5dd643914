"""`check_grads`: compare derivatives with differences of values."""

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


HEADINGS = "order  by           gradwrap      differences  relative error"


def check_grads(  # noqa: PLR0913  tolerances by keyword
    fun: AnyFunction[Any],
    args: Sequence[Any],
    order: int = 2,
    modes: Sequence[str] = MODES,
    *,
    rtol: float | None = None,
    eps: float | None = None,
    seed: int = 0,
    verbose: bool = False,
) -> None:
    """Compare the derivatives of `fun` at `args` with central differences, up to an order.

    Each mode computes the derivative along a random direction of the arguments and of the output;
    then the derivative of that derivative, and so on, for every nesting of the modes.

    Parameters
    ----------
    fun
        A function of NumPy arrays or pytrees of them, which returns the same kinds of values. It
        must be differentiable around `args`.
    args
        A list of its arguments. Floating-point and complex arrays, and Python floats, are
        differentiated; integers and other values are held fixed.
    order
        The highest order of derivatives to check.
    modes
        `"fwd"`, forward mode, and `"rev"`, reverse mode; both by default.
    rtol
        The tolerance, relative to the larger of the two values and to one. By default 1e-6, or 5e-2
        if a single-precision array is among the arguments; ten times as much for each further
        order.
    eps
        The step of the differences. By default 1e-5, and 1e-2 in single precision.
    seed
        The seed of the random directions.
    verbose
        Print a table of the comparisons, with a row for each derivative.

    Raises
    ------
    GradientMismatchError
        The derivatives do not agree; the message has both values.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> gw.testing.check_grads(lambda x: np.sin(x) * x, [np.array([0.3, 0.7])])
    >>> gw.testing.check_grads(np.square, [3.0], order=1, verbose=True)
    order  by           gradwrap      differences  relative error
        1  fwd         ...             ...         ...  ok
        1  rev         ...             ...         ...  ok
    """
    modes = checked_modes(modes)
    flat = FlatFunction(fun, args, "check_grads")
    rtol = flat.tolerance(rtol)
    eps = eps or (1e-2 if flat.is_coarse else 1e-5)
    random = np.random.default_rng(seed)

    if verbose:
        print(HEADINGS)  # noqa: T201  it was asked for
    pending: list[tuple[Callable[..., Any], tuple[str, ...]]] = [(flat, ())] if order > 0 else []
    while pending:
        function, taken = pending.pop()  # a derivative, and the modes by which it was taken
        sample = Sample(function, flat.arrays, random)
        numerical = sample.numerical_slope(eps)
        for mode in modes:
            exact = sample.slope(mode)
            scale = max(1.0, abs(exact), abs(numerical))
            agree = abs(exact - numerical) <= rtol * 10 ** len(taken) * scale
            if verbose:
                row = _row((mode, *taken), exact, numerical, scale)
                print(f"{row}  {'ok' if agree else 'WRONG'}")  # noqa: T201  likewise
            if not agree:
                raise GradientMismatchError(
                    f"derivative of order {len(taken) + 1} ({' of '.join((mode, *taken))}) along "
                    f"a random direction: {exact!r} by gradwrap, {numerical!r} by central "
                    "differences. Fix: correct the rule; or, if the function has a kink or noise "
                    "there, choose other arguments or another eps."
                )
        if len(taken) + 1 < order:
            pending += [(sample.derivative(mode), (mode, *taken)) for mode in reversed(modes)]


def _row(modes: Sequence[str], exact: float, numerical: float, scale: float) -> str:
    """Return a line of the table, without its verdict."""
    by, error = " of ".join(modes), abs(exact - numerical) / scale
    return f"{len(modes):>5}  {by:<10}{exact:>15.8g}{numerical:>17.8g}{error:>16.1e}"
