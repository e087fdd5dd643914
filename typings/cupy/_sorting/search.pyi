from typing import Any, Literal, TypeVar, overload

import numpy as np
from cupy._core.core import _ArrayLike, ndarray
from cupy.typing import NDArray
from numpy.typing import DTypeLike

_ScalarT = TypeVar("_ScalarT", bound=np.generic)
_InexactT = TypeVar("_InexactT", bound=np.inexact[Any])

@overload
def argmax(
    a: ndarray,
    axis: int | None = None,
    dtype: None = None,
    out: ndarray | None = None,
    keepdims: bool = False,
) -> NDArray[np.int64]: ...
@overload
def argmax(
    a: ndarray,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    out: ndarray | None = None,
    keepdims: bool = False,
) -> NDArray[Any]: ...
@overload
def argmin(
    a: ndarray,
    axis: int | None = None,
    dtype: None = None,
    out: ndarray | None = None,
    keepdims: bool = False,
) -> NDArray[np.int64]: ...
@overload
def argmin(
    a: ndarray,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    out: ndarray | None = None,
    keepdims: bool = False,
) -> NDArray[Any]: ...
def argwhere(a: ndarray) -> NDArray[np.int64]: ...
def flatnonzero(a: ndarray) -> NDArray[np.int64]: ...
@overload
def nanargmax(
    a: ndarray,
    axis: int | None = None,
    dtype: None = None,
    out: ndarray | None = None,
    keepdims: bool = False,
) -> NDArray[np.int64]: ...
@overload
def nanargmax(
    a: ndarray,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    out: ndarray | None = None,
    keepdims: bool = False,
) -> NDArray[Any]: ...
@overload
def nanargmin(
    a: ndarray,
    axis: int | None = None,
    dtype: None = None,
    out: ndarray | None = None,
    keepdims: bool = False,
) -> NDArray[np.int64]: ...
@overload
def nanargmin(
    a: ndarray,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    out: ndarray | None = None,
    keepdims: bool = False,
) -> NDArray[Any]: ...
def nonzero(a: ndarray) -> tuple[NDArray[np.int64], ...]: ...
def searchsorted(
    a: ndarray, v: _ArrayLike, side: Literal["left", "right"] = "left", sorter: Any = None
) -> NDArray[np.int64]: ...
@overload
def where(
    condition: _ArrayLike, x: None = None, y: None = None
) -> tuple[NDArray[np.int64], ...]: ...
@overload
def where(
    condition: _ArrayLike, x: NDArray[_ScalarT], y: NDArray[_ScalarT]
) -> NDArray[_ScalarT]: ...
@overload
def where(condition: _ArrayLike, x: NDArray[_InexactT], y: float) -> NDArray[_InexactT]: ...
@overload
def where(condition: _ArrayLike, x: float, y: NDArray[_InexactT]) -> NDArray[_InexactT]: ...
@overload
def where(condition: _ArrayLike, x: _ArrayLike, y: _ArrayLike) -> NDArray[Any]: ...
