from typing import Any, Literal, TypeVar, overload

import numpy as np
from cupy._core.core import ndarray
from cupy.typing import NDArray

_InexactT = TypeVar("_InexactT", bound=np.inexact[Any])

def lu_factor(
    a: NDArray[_InexactT], overwrite_a: bool = False, check_finite: bool = True
) -> tuple[NDArray[_InexactT], NDArray[Any]]: ...
@overload
def lu(
    a: NDArray[_InexactT],
    permute_l: Literal[False] = False,
    overwrite_a: bool = False,
    check_finite: bool = True,
) -> tuple[NDArray[_InexactT], NDArray[_InexactT], NDArray[_InexactT]]: ...
@overload
def lu(
    a: NDArray[_InexactT],
    permute_l: Literal[True],
    overwrite_a: bool = False,
    check_finite: bool = True,
) -> tuple[NDArray[_InexactT], NDArray[_InexactT]]: ...
def lu_solve(
    lu_and_piv: tuple[ndarray, ndarray],
    b: NDArray[_InexactT],
    trans: Literal[0, 1, 2] = 0,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> NDArray[_InexactT]: ...
