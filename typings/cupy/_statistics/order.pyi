from typing import Any, TypeVar, overload

import numpy as np
from cupy._core.core import ndarray
from cupy.typing import NDArray

_ScalarT = TypeVar("_ScalarT", bound=np.generic)
_InexactT = TypeVar("_InexactT", bound=np.inexact[Any])

def amax(
    a: NDArray[_ScalarT],
    axis: int | tuple[int, ...] | None = None,
    out: ndarray | None = None,
    keepdims: bool = False,
) -> NDArray[_ScalarT]: ...
def amin(
    a: NDArray[_ScalarT],
    axis: int | tuple[int, ...] | None = None,
    out: ndarray | None = None,
    keepdims: bool = False,
) -> NDArray[_ScalarT]: ...
def nanmax(
    a: NDArray[_ScalarT],
    axis: int | tuple[int, ...] | None = None,
    out: ndarray | None = None,
    keepdims: bool = False,
) -> NDArray[_ScalarT]: ...
def nanmin(
    a: NDArray[_ScalarT],
    axis: int | tuple[int, ...] | None = None,
    out: ndarray | None = None,
    keepdims: bool = False,
) -> NDArray[_ScalarT]: ...
@overload
def percentile(
    a: NDArray[_InexactT],
    q: Any,
    axis: int | tuple[int, ...] | None = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    interpolation: str | None = None,
) -> NDArray[_InexactT]: ...
@overload
def percentile(
    a: NDArray[np.integer[Any] | np.bool_],
    q: Any,
    axis: int | tuple[int, ...] | None = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    interpolation: str | None = None,
) -> NDArray[np.float64]: ...
@overload
def percentile(
    a: ndarray,
    q: Any,
    axis: int | tuple[int, ...] | None = None,
    out: ndarray | None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    interpolation: str | None = None,
) -> NDArray[Any]: ...
def ptp(
    a: NDArray[_ScalarT],
    axis: int | tuple[int, ...] | None = None,
    out: ndarray | None = None,
    keepdims: bool = False,
) -> NDArray[_ScalarT]: ...
@overload
def quantile(
    a: NDArray[_InexactT],
    q: Any,
    axis: int | tuple[int, ...] | None = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    interpolation: str | None = None,
) -> NDArray[_InexactT]: ...
@overload
def quantile(
    a: NDArray[np.integer[Any] | np.bool_],
    q: Any,
    axis: int | tuple[int, ...] | None = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    interpolation: str | None = None,
) -> NDArray[np.float64]: ...
@overload
def quantile(
    a: ndarray,
    q: Any,
    axis: int | tuple[int, ...] | None = None,
    out: ndarray | None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    interpolation: str | None = None,
) -> NDArray[Any]: ...
