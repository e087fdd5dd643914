from typing import Any

from cupy._core.core import _ArrayLike
from cupy.typing import NDArray

def polygamma(n: _ArrayLike, x: _ArrayLike) -> NDArray[Any]: ...
