import numpy as np
from cupy._core.core import ndarray
from cupy.typing import NDArray

def count_nonzero(a: ndarray, axis: int | tuple[int, ...] | None = None) -> NDArray[np.int64]: ...
