from typing import Any

from cupy._core.core import ndarray
from cupy.typing import NDArray

def multigammaln(a: ndarray, d: int) -> NDArray[Any]: ...
