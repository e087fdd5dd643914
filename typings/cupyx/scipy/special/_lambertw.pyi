from typing import Any

from cupy._core.core import _ArrayLike
from cupy.typing import NDArray

def lambertw(z: _ArrayLike, k: int = 0, tol: float = 1e-08) -> NDArray[Any]: ...
