from typing import TypeVar

from cupy._core.core import ndarray

_ArrayT = TypeVar("_ArrayT", bound=ndarray)

def around(a: _ArrayT, decimals: int = 0, out: ndarray | None = None) -> _ArrayT: ...
def round(a: _ArrayT, decimals: int = 0, out: ndarray | None = None) -> _ArrayT: ...
