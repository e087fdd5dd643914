from typing import Any, Literal, TypeVar, overload

import numpy as np
from cupy._core.core import ndarray
from cupy.typing import NDArray

_FloatingT = TypeVar("_FloatingT", bound=np.floating[Any])

def eig(a: ndarray) -> tuple[NDArray[Any], NDArray[Any]]: ...
@overload
def eigh(
    a: NDArray[_FloatingT], UPLO: Literal["L", "U"] = "L"
) -> tuple[NDArray[_FloatingT], NDArray[_FloatingT]]: ...
@overload
def eigh(a: ndarray, UPLO: Literal["L", "U"] = "L") -> tuple[NDArray[Any], NDArray[Any]]: ...
def eigvals(a: ndarray) -> NDArray[Any]: ...
@overload
def eigvalsh(a: NDArray[_FloatingT], UPLO: Literal["L", "U"] = "L") -> NDArray[_FloatingT]: ...
@overload
def eigvalsh(a: ndarray, UPLO: Literal["L", "U"] = "L") -> NDArray[Any]: ...
