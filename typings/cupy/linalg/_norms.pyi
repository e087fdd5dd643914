from typing import Any, TypeVar, overload

import numpy as np
from cupy._core.core import _DType, ndarray
from cupy.typing import NDArray
from numpy.typing import DTypeLike

_ScalarT = TypeVar("_ScalarT", bound=np.generic)
_InexactT = TypeVar("_InexactT", bound=np.inexact[Any])
_FloatingT = TypeVar("_FloatingT", bound=np.floating[Any])

@overload
def trace(
    a: NDArray[_InexactT],
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    dtype: None = None,
    out: None = None,
) -> NDArray[_InexactT]: ...
@overload
def trace(
    a: NDArray[np.signedinteger[Any] | np.bool_],
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    dtype: None = None,
    out: None = None,
) -> NDArray[np.int64]: ...
@overload
def trace(
    a: ndarray,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    *,
    dtype: _DType[_ScalarT],
    out: ndarray | None = None,
) -> NDArray[_ScalarT]: ...
@overload
def trace(
    a: ndarray,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    dtype: DTypeLike | None = None,
    out: ndarray | None = None,
) -> NDArray[Any]: ...
def cond(x: ndarray, p: Any = None) -> NDArray[Any]: ...
def det(a: NDArray[_InexactT]) -> NDArray[_InexactT]: ...
def matrix_rank(M: ndarray, tol: float | None = None) -> NDArray[np.int64]: ...
@overload
def norm(
    x: NDArray[_FloatingT],
    ord: Any = None,
    axis: int | tuple[int, int] | None = None,
    keepdims: bool = False,
) -> NDArray[_FloatingT]: ...
@overload
def norm(
    x: ndarray, ord: Any = None, axis: int | tuple[int, int] | None = None, keepdims: bool = False
) -> NDArray[Any]: ...
def slogdet(a: ndarray) -> tuple[NDArray[Any], NDArray[Any]]: ...
