from typing import Any

from cupy._core.core import ndarray
from cupy.typing import NDArray

def piecewise(x: ndarray, condlist: Any, funclist: Any) -> NDArray[Any]: ...
