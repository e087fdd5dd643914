from typing import Any, Literal, TypeVar, overload

import numpy as np
from cupy._core.core import ndarray
from cupy.typing import NDArray
from numpy.typing import DTypeLike

_InexactT = TypeVar("_InexactT", bound=np.inexact[Any])
_FloatingT = TypeVar("_FloatingT", bound=np.floating[Any])

@overload
def average(
    a: NDArray[_InexactT],
    axis: int | tuple[int, ...] | None = None,
    weights: Any = None,
    returned: Literal[False] = False,
    *,
    keepdims: bool = False,
) -> NDArray[_InexactT]: ...
@overload
def average(
    a: NDArray[np.integer[Any] | np.bool_],
    axis: int | tuple[int, ...] | None = None,
    weights: Any = None,
    returned: Literal[False] = False,
    *,
    keepdims: bool = False,
) -> NDArray[np.float64]: ...
@overload
def average(
    a: ndarray,
    axis: int | tuple[int, ...] | None = None,
    weights: Any = None,
    returned: bool = False,
    *,
    keepdims: bool = False,
) -> Any: ...
@overload
def mean(
    a: NDArray[_InexactT],
    axis: int | tuple[int, ...] | None = None,
    dtype: None = None,
    out: None = None,
    keepdims: bool = False,
) -> NDArray[_InexactT]: ...
@overload
def mean(
    a: NDArray[np.integer[Any] | np.bool_],
    axis: int | tuple[int, ...] | None = None,
    dtype: None = None,
    out: None = None,
    keepdims: bool = False,
) -> NDArray[np.float64]: ...
@overload
def mean(
    a: ndarray,
    axis: int | tuple[int, ...] | None = None,
    dtype: DTypeLike | None = None,
    out: ndarray | None = None,
    keepdims: bool = False,
) -> NDArray[Any]: ...
@overload
def median(
    a: NDArray[_InexactT],
    axis: int | tuple[int, ...] | None = None,
    out: None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> NDArray[_InexactT]: ...
@overload
def median(
    a: NDArray[np.integer[Any] | np.bool_],
    axis: int | tuple[int, ...] | None = None,
    out: None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> NDArray[np.float64]: ...
@overload
def median(
    a: ndarray,
    axis: int | tuple[int, ...] | None = None,
    out: ndarray | None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> NDArray[Any]: ...
@overload
def nanmean(
    a: NDArray[_InexactT],
    axis: int | tuple[int, ...] | None = None,
    dtype: None = None,
    out: None = None,
    keepdims: bool = False,
) -> NDArray[_InexactT]: ...
@overload
def nanmean(
    a: NDArray[np.integer[Any] | np.bool_],
    axis: int | tuple[int, ...] | None = None,
    dtype: None = None,
    out: None = None,
    keepdims: bool = False,
) -> NDArray[np.float64]: ...
@overload
def nanmean(
    a: ndarray,
    axis: int | tuple[int, ...] | None = None,
    dtype: DTypeLike | None = None,
    out: ndarray | None = None,
    keepdims: bool = False,
) -> NDArray[Any]: ...
@overload
def nanmedian(
    a: NDArray[_InexactT],
    axis: int | tuple[int, ...] | None = None,
    out: None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> NDArray[_InexactT]: ...
@overload
def nanmedian(
    a: NDArray[np.integer[Any] | np.bool_],
    axis: int | tuple[int, ...] | None = None,
    out: None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> NDArray[np.float64]: ...
@overload
def nanmedian(
    a: ndarray,
    axis: int | tuple[int, ...] | None = None,
    out: ndarray | None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> NDArray[Any]: ...
@overload
def nanstd(
    a: NDArray[_FloatingT],
    axis: int | tuple[int, ...] | None = None,
    dtype: None = None,
    out: None = None,
    ddof: int | None = 0,
    keepdims: bool = False,
) -> NDArray[_FloatingT]: ...
@overload
def nanstd(
    a: NDArray[np.integer[Any] | np.bool_],
    axis: int | tuple[int, ...] | None = None,
    dtype: None = None,
    out: None = None,
    ddof: int | None = 0,
    keepdims: bool = False,
) -> NDArray[np.float64]: ...
@overload
def nanstd(
    a: ndarray,
    axis: int | tuple[int, ...] | None = None,
    dtype: DTypeLike | None = None,
    out: ndarray | None = None,
    ddof: int | None = 0,
    keepdims: bool = False,
) -> NDArray[Any]: ...
@overload
def nanvar(
    a: NDArray[_FloatingT],
    axis: int | tuple[int, ...] | None = None,
    dtype: None = None,
    out: None = None,
    ddof: int | None = 0,
    keepdims: bool = False,
) -> NDArray[_FloatingT]: ...
@overload
def nanvar(
    a: NDArray[np.integer[Any] | np.bool_],
    axis: int | tuple[int, ...] | None = None,
    dtype: None = None,
    out: None = None,
    ddof: int | None = 0,
    keepdims: bool = False,
) -> NDArray[np.float64]: ...
@overload
def nanvar(
    a: ndarray,
    axis: int | tuple[int, ...] | None = None,
    dtype: DTypeLike | None = None,
    out: ndarray | None = None,
    ddof: int | None = 0,
    keepdims: bool = False,
) -> NDArray[Any]: ...
@overload
def std(
    a: NDArray[_FloatingT],
    axis: int | tuple[int, ...] | None = None,
    dtype: None = None,
    out: None = None,
    ddof: float = 0,
    keepdims: bool = False,
) -> NDArray[_FloatingT]: ...
@overload
def std(
    a: NDArray[np.integer[Any] | np.bool_],
    axis: int | tuple[int, ...] | None = None,
    dtype: None = None,
    out: None = None,
    ddof: float = 0,
    keepdims: bool = False,
) -> NDArray[np.float64]: ...
@overload
def std(
    a: ndarray,
    axis: int | tuple[int, ...] | None = None,
    dtype: DTypeLike | None = None,
    out: ndarray | None = None,
    ddof: float = 0,
    keepdims: bool = False,
) -> NDArray[Any]: ...
@overload
def var(
    a: NDArray[_FloatingT],
    axis: int | tuple[int, ...] | None = None,
    dtype: None = None,
    out: None = None,
    ddof: int | None = 0,
    keepdims: bool = False,
) -> NDArray[_FloatingT]: ...
@overload
def var(
    a: NDArray[np.integer[Any] | np.bool_],
    axis: int | tuple[int, ...] | None = None,
    dtype: None = None,
    out: None = None,
    ddof: int | None = 0,
    keepdims: bool = False,
) -> NDArray[np.float64]: ...
@overload
def var(
    a: ndarray,
    axis: int | tuple[int, ...] | None = None,
    dtype: DTypeLike | None = None,
    out: ndarray | None = None,
    ddof: int | None = 0,
    keepdims: bool = False,
) -> NDArray[Any]: ...
