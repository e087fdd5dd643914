from typing import Any, Literal, TypeVar, overload

import numpy as np
from cupy._core.core import ndarray
from cupy.typing import NDArray

_ArrayT = TypeVar("_ArrayT", bound=ndarray)
_InexactT = TypeVar("_InexactT", bound=np.inexact[Any])
_FloatingT = TypeVar("_FloatingT", bound=np.floating[Any])

def cholesky(a: _ArrayT) -> _ArrayT: ...
@overload
def qr(
    a: NDArray[_InexactT], mode: Literal["reduced", "complete"] = "reduced"
) -> tuple[NDArray[_InexactT], NDArray[_InexactT]]: ...
@overload
def qr(a: NDArray[_InexactT], mode: Literal["r"]) -> NDArray[_InexactT]: ...
@overload
def qr(a: ndarray, mode: str = "reduced") -> Any: ...
@overload
def svd(
    a: NDArray[_FloatingT], full_matrices: bool = True, compute_uv: Literal[True] = True
) -> tuple[NDArray[_FloatingT], NDArray[_FloatingT], NDArray[_FloatingT]]: ...
@overload
def svd(
    a: ndarray, full_matrices: bool = True, compute_uv: Literal[True] = True
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]: ...
@overload
def svd(a: ndarray, full_matrices: bool = True, *, compute_uv: Literal[False]) -> NDArray[Any]: ...
