from typing import TypeVar

from cupy._core.core import ndarray

_ArrayT = TypeVar("_ArrayT", bound=ndarray)

def softmax(x: _ArrayT, axis: int | tuple[int, ...] | None = None) -> _ArrayT: ...
