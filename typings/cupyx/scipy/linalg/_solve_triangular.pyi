from typing import Any, Literal, TypeVar

import numpy as np
from cupy._core.core import ndarray
from cupy.typing import NDArray

_InexactT = TypeVar("_InexactT", bound=np.inexact[Any])

def solve_triangular(
    a: ndarray,
    b: NDArray[_InexactT],
    trans: Literal[0, 1, 2, "N", "T", "C"] = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = False,
) -> NDArray[_InexactT]: ...
