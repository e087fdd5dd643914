from typing import Any

import numpy as np
from cupy._core.core import ndarray
from cupy.typing._types import _OrderCF, _OrderKACF, _ShapeLike
from numpy.typing import DTypeLike, NDArray

def empty_pinned(
    shape: _ShapeLike, dtype: DTypeLike = ..., order: _OrderCF = "C"
) -> NDArray[Any]: ...
def zeros_pinned(
    shape: _ShapeLike, dtype: DTypeLike = ..., order: _OrderCF = "C"
) -> NDArray[Any]: ...
def empty_like_pinned(
    a: ndarray | np.ndarray[Any, Any],
    dtype: DTypeLike | None = None,
    order: _OrderKACF = "K",
    subok: None = None,
    shape: _ShapeLike | None = None,
) -> NDArray[Any]: ...
def zeros_like_pinned(
    a: ndarray | np.ndarray[Any, Any],
    dtype: DTypeLike | None = None,
    order: _OrderKACF = "K",
    subok: None = None,
    shape: _ShapeLike | None = None,
) -> NDArray[Any]: ...
