from typing import Any

from cupy._core.core import ndarray

def logsumexp(
    a: ndarray,
    axis: int | tuple[int, ...] | None = None,
    b: ndarray | None = None,
    keepdims: bool = False,
    return_sign: bool = False,
) -> Any: ...
