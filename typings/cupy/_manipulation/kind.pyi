from typing import TypeVar

import numpy as np
from cupy.typing import NDArray
from numpy.typing import DTypeLike

_ScalarT = TypeVar("_ScalarT", bound=np.generic)

def asfortranarray(a: NDArray[_ScalarT], dtype: DTypeLike | None = None) -> NDArray[_ScalarT]: ...
