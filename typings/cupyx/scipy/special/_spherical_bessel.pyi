from typing import Any

from cupy._core.core import _ArrayLike
from cupy.typing import NDArray

def spherical_yn(n: _ArrayLike, z: _ArrayLike, derivative: bool = False) -> NDArray[Any]: ...
