from typing import Any

import numpy as np
from cupy._core.core import _ArrayLike, ndarray
from cupy.typing import NDArray

def bincount(x: ndarray, weights: Any = None, minlength: int | None = None) -> NDArray[Any]: ...
def digitize(x: ndarray, bins: ndarray, right: bool = False) -> NDArray[np.int64]: ...
def histogram(
    x: _ArrayLike,
    bins: Any = 10,
    range: Any = None,
    density: bool | None = False,
    weights: Any = None,
) -> Any: ...
def histogram2d(
    x: _ArrayLike,
    y: _ArrayLike,
    bins: Any = 10,
    range: Any = None,
    weights: Any = None,
    density: bool | None = None,
) -> Any: ...
def histogramdd(
    sample: Any,
    bins: Any = 10,
    range: Any = None,
    weights: Any = None,
    density: bool | None = False,
) -> Any: ...
