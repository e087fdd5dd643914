from collections.abc import Sequence
from typing import Any, TypeVar, overload

import numpy as np
from cupy._core.core import _DType, ndarray
from cupy.typing import NDArray
from numpy.typing import DTypeLike

_ScalarT = TypeVar("_ScalarT", bound=np.generic)

def column_stack(tup: Sequence[NDArray[_ScalarT]]) -> NDArray[_ScalarT]: ...
@overload
def concatenate(
    tup: Sequence[NDArray[_ScalarT]],
    axis: int | None = 0,
    out: None = None,
    *,
    dtype: None = None,
    casting: str = ...,
) -> NDArray[_ScalarT]: ...
@overload
def concatenate(
    tup: Sequence[ndarray],
    axis: int | None = 0,
    out: None = None,
    *,
    dtype: _DType[_ScalarT],
    casting: str = ...,
) -> NDArray[_ScalarT]: ...
@overload
def concatenate(
    tup: Sequence[ndarray],
    axis: int | None = 0,
    out: ndarray | None = None,
    *,
    dtype: DTypeLike | None = None,
    casting: str = ...,
) -> NDArray[Any]: ...
def dstack(tup: Sequence[NDArray[_ScalarT]]) -> NDArray[_ScalarT]: ...
@overload
def hstack(
    tup: Sequence[NDArray[_ScalarT]], *, dtype: None = None, casting: str = ...
) -> NDArray[_ScalarT]: ...
@overload
def hstack(
    tup: Sequence[ndarray], *, dtype: _DType[_ScalarT], casting: str = ...
) -> NDArray[_ScalarT]: ...
@overload
def hstack(
    tup: Sequence[ndarray], *, dtype: DTypeLike | None = None, casting: str = ...
) -> NDArray[Any]: ...
@overload
def stack(
    tup: Sequence[NDArray[_ScalarT]],
    axis: int = 0,
    out: None = None,
    *,
    dtype: None = None,
    casting: str = ...,
) -> NDArray[_ScalarT]: ...
@overload
def stack(
    tup: Sequence[ndarray],
    axis: int = 0,
    out: None = None,
    *,
    dtype: _DType[_ScalarT],
    casting: str = ...,
) -> NDArray[_ScalarT]: ...
@overload
def stack(
    tup: Sequence[ndarray],
    axis: int = 0,
    out: ndarray | None = None,
    *,
    dtype: DTypeLike | None = None,
    casting: str = ...,
) -> NDArray[Any]: ...
@overload
def vstack(
    tup: Sequence[NDArray[_ScalarT]], *, dtype: None = None, casting: str = ...
) -> NDArray[_ScalarT]: ...
@overload
def vstack(
    tup: Sequence[ndarray], *, dtype: _DType[_ScalarT], casting: str = ...
) -> NDArray[_ScalarT]: ...
@overload
def vstack(
    tup: Sequence[ndarray], *, dtype: DTypeLike | None = None, casting: str = ...
) -> NDArray[Any]: ...
