from typing import Any, TypeVar

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
def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> NDArray[_ScalarT]: ...
def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> NDArray[_ScalarT]: ...
def union1d(arr1: Any, arr2: Any) -> NDArray[_ScalarT]: ...
