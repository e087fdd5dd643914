from typing import Any, TypeVar

import numpy as np
from cupy.typing import NDArray

_ScalarT = TypeVar("_ScalarT", bound=np.generic)
_InexactT = TypeVar("_InexactT", bound=np.inexact[Any])

def khatri_rao(a: NDArray[_ScalarT], b: NDArray[_ScalarT]) -> NDArray[_ScalarT]: ...
def expm(a: NDArray[_InexactT]) -> NDArray[_InexactT]: ...
