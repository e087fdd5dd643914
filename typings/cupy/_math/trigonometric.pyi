from typing import Any, TypeVar

import numpy as np
from cupy.typing import NDArray

_ScalarT = TypeVar("_ScalarT", bound=np.generic)

def unwrap(
    p: NDArray[_ScalarT], discont: Any = None, axis: int = -1, *, period: float | None = ...
) -> NDArray[_ScalarT]: ...
