from typing import Any, TypeVar, overload

import numpy as np
from cupy._core.core import _ArrayLike, ndarray
from cupy.typing import NDArray

_ScalarT = TypeVar("_ScalarT", bound=np.generic)

def all(
    a: _ArrayLike,
    axis: int | tuple[int, ...] | None = None,
    out: ndarray | None = None,
    keepdims: bool = False,
) -> NDArray[np.bool_]: ...
def any(
    a: _ArrayLike,
    axis: int | tuple[int, ...] | None = None,
    out: ndarray | None = None,
    keepdims: bool = False,
) -> NDArray[np.bool_]: ...
def intersect1d(
    arr1: Any, arr2: Any, assume_unique: bool = False, return_indices: bool = False
) -> Any: ...
def isin(
    element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False
) -> NDArray[np.bool_]: ...
@overload
def setdiff1d(
    ar1: NDArray[_ScalarT], ar2: NDArray[_ScalarT], assume_unique: bool = False
) -> NDArray[_ScalarT]: ...
@overload
def setdiff1d(ar1: _ArrayLike, ar2: _ArrayLike, assume_unique: bool = False) -> NDArray[Any]: ...
@overload
def setxor1d(
    ar1: NDArray[_ScalarT], ar2: NDArray[_ScalarT], assume_unique: bool = False
) -> NDArray[_ScalarT]: ...
@overload
def setxor1d(ar1: _ArrayLike, ar2: _ArrayLike, assume_unique: bool = False) -> NDArray[Any]: ...
@overload
def union1d(arr1: NDArray[_ScalarT], arr2: NDArray[_ScalarT]) -> NDArray[_ScalarT]: ...
@overload
def union1d(arr1: _ArrayLike, arr2: _ArrayLike) -> NDArray[Any]: ...
