# What the examples and tests use; SciPy has no types of its own.
from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

class OptimizeResult:
    x: NDArray[np.float64]
    fun: float
    success: bool
    message: str
    nfev: int

@overload
def minimize(
    fun: Callable[..., tuple[Any, NDArray[np.float64]]],
    x0: ArrayLike,
    args: tuple[Any, ...] = (),
    method: str | None = None,
    *,
    jac: Literal[True],
    hess: Callable[..., Any] | None = None,
    hessp: Callable[..., Any] | None = None,
    bounds: Any = None,
    constraints: Any = (),
    tol: float | None = None,
    callback: Callable[..., object] | None = None,
    options: Mapping[str, Any] | None = None,
) -> OptimizeResult: ...
@overload
def minimize(
    fun: Callable[..., Any],
    x0: ArrayLike,
    args: tuple[Any, ...] = (),
    method: str | None = None,
    jac: Callable[..., Any] | Literal["2-point", "3-point", "cs", False] | None = None,
    hess: Callable[..., Any] | None = None,
    hessp: Callable[..., Any] | None = None,
    bounds: Any = None,
    constraints: Any = (),
    tol: float | None = None,
    callback: Callable[..., object] | None = None,
    options: Mapping[str, Any] | None = None,
) -> OptimizeResult: ...

class _LeastSquares(Protocol):
    x: NDArray[np.float64]
    fun: NDArray[np.float64]
    jac: NDArray[np.float64]
    success: bool
    nfev: int
    njev: int

def least_squares(
    fun: Callable[..., NDArray[np.float64]],
    x0: ArrayLike,
    jac: Callable[..., Any] | Literal["2-point", "3-point", "cs"] = "2-point",
    bounds: Any = ...,
    method: Literal["trf", "dogbox", "lm"] = "trf",
    ftol: float | None = 1e-08,
    xtol: float | None = 1e-08,
    gtol: float | None = 1e-08,
    x_scale: Any = None,
    loss: str | Callable[..., Any] = "linear",
    f_scale: float = 1.0,
    diff_step: ArrayLike | None = None,
    tr_solver: Literal["exact", "lsmr"] | None = None,
    tr_options: Mapping[str, Any] | None = None,
    jac_sparsity: Any = None,
    max_nfev: int | None = None,
    verbose: int = 0,
    args: tuple[Any, ...] = (),
    kwargs: Mapping[str, Any] | None = None,
    callback: Callable[..., object] | None = None,
    workers: Any = None,
) -> _LeastSquares: ...
