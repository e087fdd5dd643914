"""Results and callbacks of SciPy's optimisers, in the form of the caller's container."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class OptimizeResult(Protocol[T]):
    """The result of `minimize` and `least_squares`: SciPy's `OptimizeResult`.

    `x` is a container like `x0`, and so is the gradient `jac` of `minimize`. Other entries have
    SciPy's form, for the vector that `gw.ravel_pytree` makes.

    Examples
    --------
    >>> import gradwrap as gw
    >>> result = gw.optimize.minimize(lambda p: (p["a"] - 3.0) ** 2, {"a": 1.0})
    >>> round(float(result.x["a"]), 4), result.success
    (3.0, True)
    """

    x: T
    fun: Any
    jac: Any
    success: bool
    status: int
    message: str
    nfev: int
    njev: int
    nit: int
    cost: float
    """Of `least_squares`, as are the next two: half the sum of the squares of the residuals."""
    optimality: float
    grad: Any
    hess_inv: Any
    """Of some methods of `minimize`, for the vector."""

    def __getitem__(self, name: str) -> Any:
        """Return an entry by its name."""
        ...


def caller(callback: Callable[..., Any] | None) -> Callable[[Any], Any]:
    """Make a function of a result that calls the caller's callback as SciPy would.

    That is with the whole result if its one parameter is named `intermediate_result`, otherwise
    with `x`.
    """
    if callback is None:
        return lambda _: None
    try:
        names = set(inspect.signature(callback).parameters)
    except (TypeError, ValueError):
        names = set[str]()
    if names == {"intermediate_result"}:
        return lambda result: callback(intermediate_result=result)
    return lambda result: callback(result.x)
