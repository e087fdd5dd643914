from typing import Any

from cupy._core.core import _ArrayLike, ndarray
from cupy.typing import NDArray

def apply_along_axis(
    func1d: Any, axis: int, arr: _ArrayLike, *args: Any, **kwargs: Any
) -> NDArray[Any]: ...
def put_along_axis(arr: ndarray, indices: Any, values: Any, axis: int) -> None: ...
