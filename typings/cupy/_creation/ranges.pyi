from typing import Any, Literal, TypeVar, overload

import numpy as np
from cupy._core.core import _DType, _ArrayLike, ndarray
from cupy.typing import NDArray
from numpy.typing import DTypeLike

_ScalarT = TypeVar("_ScalarT", bound=np.generic)

@overload
def arange(
    start: int, stop: int | None = None, step: int = 1, dtype: None = None
) -> NDArray[np.int64]: ...
@overload
def arange(
    start: float, stop: float | None = None, step: float = 1, dtype: None = None
) -> NDArray[np.float64]: ...
@overload
def arange(
    start: float, stop: float | None = None, step: float = 1, *, dtype: _DType[_ScalarT]
) -> NDArray[_ScalarT]: ...
@overload
def arange(
    start: float, stop: float | None = None, step: float = 1, dtype: DTypeLike | None = None
) -> NDArray[Any]: ...
@overload
def linspace(
    start: float,
    stop: float,
    num: int = 50,
    endpoint: bool = True,
    retstep: Literal[False] = False,
    dtype: None = None,
    axis: int = 0,
) -> NDArray[np.float64]: ...
@overload
def linspace(
    start: _ArrayLike,
    stop: _ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    retstep: Literal[False] = False,
    *,
    dtype: _DType[_ScalarT],
    axis: int = 0,
) -> NDArray[_ScalarT]: ...
@overload
def linspace(
    start: _ArrayLike,
    stop: _ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    retstep: Literal[False] = False,
    dtype: DTypeLike | None = None,
    axis: int = 0,
) -> NDArray[Any]: ...
@overload
def linspace(
    start: _ArrayLike,
    stop: _ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    *,
    retstep: Literal[True],
    dtype: DTypeLike | None = None,
    axis: int = 0,
) -> tuple[NDArray[Any], float]: ...
@overload
def logspace(
    start: float,
    stop: float,
    num: int = 50,
    endpoint: bool = True,
    base: float = 10.0,
    dtype: None = None,
    axis: int = 0,
) -> NDArray[np.float64]: ...
@overload
def logspace(
    start: _ArrayLike,
    stop: _ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    base: _ArrayLike = 10.0,
    dtype: DTypeLike | None = None,
    axis: int = 0,
) -> NDArray[Any]: ...
def meshgrid(*xi: ndarray, **kwargs: Any) -> list[NDArray[Any]]: ...
