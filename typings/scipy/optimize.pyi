# What the examples and tests use; SciPy has no types of its own.
from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

class OptimizeResult:
    x: NDArray[np.float64]
    fun: float
    success: bool
    message: str
    nfev: int

def minimize(
    fun: Callable[[NDArray[np.float64]], tuple[Any, NDArray[np.float64]]],
    x0: ArrayLike,
    *,
    method: str | None = None,
    jac: Literal[True],
    options: Mapping[str, Any] | None = None,
) -> OptimizeResult: ...
