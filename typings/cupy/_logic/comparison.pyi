from typing import Any

import numpy as np
from cupy._core.core import _ArrayLike
from cupy.typing import NDArray

def allclose(
    a: _ArrayLike, b: _ArrayLike, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> NDArray[np.bool_]: ...
def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> NDArray[np.bool_]: ...
def array_equiv(a1: Any, a2: Any) -> NDArray[np.bool_]: ...
def isclose(
    a: _ArrayLike, b: _ArrayLike, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> NDArray[np.bool_]: ...
