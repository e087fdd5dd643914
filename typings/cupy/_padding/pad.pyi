from typing import Any, TypeVar

import numpy as np
from cupy.typing import NDArray

_ScalarT = TypeVar("_ScalarT", bound=np.generic)

def pad(
    array: NDArray[_ScalarT], pad_width: Any, mode: str = "constant", **kwargs: Any
) -> NDArray[_ScalarT]: ...
