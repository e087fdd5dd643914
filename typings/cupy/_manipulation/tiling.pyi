from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from cupy._core.core import ndarray
from cupy.typing import NDArray

_ScalarT = TypeVar("_ScalarT", bound=np.generic)

def repeat(
    a: NDArray[_ScalarT], repeats: int | Sequence[int] | ndarray, axis: int | None = None
) -> NDArray[_ScalarT]: ...
def tile(A: Any, reps: int | tuple[int, ...]) -> NDArray[_ScalarT]: ...
