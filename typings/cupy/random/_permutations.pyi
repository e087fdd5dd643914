from typing import TypeVar, overload

import numpy as np
from cupy._core.core import ndarray
from cupy.typing import NDArray

_ArrayT = TypeVar("_ArrayT", bound=ndarray)

@overload
def permutation(a: int) -> NDArray[np.int64]: ...
@overload
def permutation(a: _ArrayT) -> _ArrayT: ...
def shuffle(a: ndarray) -> None: ...
