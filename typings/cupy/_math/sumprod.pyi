from typing import Any, TypeVar, overload

import numpy as np
from cupy._core.core import _DType, _ArrayLike, ndarray
from cupy.typing import NDArray
from numpy.typing import DTypeLike

_ScalarT = TypeVar("_ScalarT", bound=np.generic)
_InexactT = TypeVar("_InexactT", bound=np.inexact[Any])

@overload
def cumprod(
    a: NDArray[_InexactT], axis: int | None = None, dtype: None = None, out: None = None
) -> NDArray[_InexactT]: ...
@overload
def cumprod(
    a: NDArray[np.signedinteger[Any] | np.bool_],
    axis: int | None = None,
    dtype: None = None,
    out: None = None,
) -> NDArray[np.int64]: ...
@overload
def cumprod(
    a: ndarray, axis: int | None = None, *, dtype: _DType[_ScalarT], out: ndarray | None = None
) -> NDArray[_ScalarT]: ...
@overload
def cumprod(
    a: ndarray, axis: int | None = None, dtype: DTypeLike | None = None, out: ndarray | None = None
) -> NDArray[Any]: ...
@overload
def cumsum(
    a: NDArray[_InexactT], axis: int | None = None, dtype: None = None, out: None = None
) -> NDArray[_InexactT]: ...
@overload
def cumsum(
    a: NDArray[np.signedinteger[Any] | np.bool_],
    axis: int | None = None,
    dtype: None = None,
    out: None = None,
) -> NDArray[np.int64]: ...
@overload
def cumsum(
    a: ndarray, axis: int | None = None, *, dtype: _DType[_ScalarT], out: ndarray | None = None
) -> NDArray[_ScalarT]: ...
@overload
def cumsum(
    a: ndarray, axis: int | None = None, dtype: DTypeLike | None = None, out: ndarray | None = None
) -> NDArray[Any]: ...
@overload
def cumulative_prod(
    x: NDArray[_InexactT],
    /,
    *,
    axis: int | None = None,
    dtype: None = None,
    out: None = None,
    include_initial: bool = False,
) -> NDArray[_InexactT]: ...
@overload
def cumulative_prod(
    x: NDArray[np.signedinteger[Any] | np.bool_],
    /,
    *,
    axis: int | None = None,
    dtype: None = None,
    out: None = None,
    include_initial: bool = False,
) -> NDArray[np.int64]: ...
@overload
def cumulative_prod(
    x: ndarray,
    /,
    *,
    axis: int | None = None,
    dtype: _DType[_ScalarT],
    out: ndarray | None = None,
    include_initial: bool = False,
) -> NDArray[_ScalarT]: ...
@overload
def cumulative_prod(
    x: ndarray,
    /,
    *,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    out: ndarray | None = None,
    include_initial: bool = False,
) -> NDArray[Any]: ...
@overload
def cumulative_sum(
    x: NDArray[_InexactT],
    /,
    *,
    axis: int | None = None,
    dtype: None = None,
    out: None = None,
    include_initial: bool = False,
) -> NDArray[_InexactT]: ...
@overload
def cumulative_sum(
    x: NDArray[np.signedinteger[Any] | np.bool_],
    /,
    *,
    axis: int | None = None,
    dtype: None = None,
    out: None = None,
    include_initial: bool = False,
) -> NDArray[np.int64]: ...
@overload
def cumulative_sum(
    x: ndarray,
    /,
    *,
    axis: int | None = None,
    dtype: _DType[_ScalarT],
    out: ndarray | None = None,
    include_initial: bool = False,
) -> NDArray[_ScalarT]: ...
@overload
def cumulative_sum(
    x: ndarray,
    /,
    *,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    out: ndarray | None = None,
    include_initial: bool = False,
) -> NDArray[Any]: ...
def diff(
    a: NDArray[_ScalarT], n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None
) -> NDArray[_ScalarT]: ...
def ediff1d(
    arr: NDArray[_ScalarT], to_end: Any = None, to_begin: Any = None
) -> NDArray[_ScalarT]: ...
def gradient(f: Any, *varargs: Any, axis: int | None = None, edge_order: int = 1) -> Any: ...
@overload
def nancumprod(
    a: NDArray[_InexactT], axis: int | None = None, dtype: None = None, out: None = None
) -> NDArray[_InexactT]: ...
@overload
def nancumprod(
    a: NDArray[np.signedinteger[Any] | np.bool_],
    axis: int | None = None,
    dtype: None = None,
    out: None = None,
) -> NDArray[np.int64]: ...
@overload
def nancumprod(
    a: ndarray, axis: int | None = None, *, dtype: _DType[_ScalarT], out: ndarray | None = None
) -> NDArray[_ScalarT]: ...
@overload
def nancumprod(
    a: ndarray, axis: int | None = None, dtype: DTypeLike | None = None, out: ndarray | None = None
) -> NDArray[Any]: ...
@overload
def nancumsum(
    a: NDArray[_InexactT], axis: int | None = None, dtype: None = None, out: None = None
) -> NDArray[_InexactT]: ...
@overload
def nancumsum(
    a: NDArray[np.signedinteger[Any] | np.bool_],
    axis: int | None = None,
    dtype: None = None,
    out: None = None,
) -> NDArray[np.int64]: ...
@overload
def nancumsum(
    a: ndarray, axis: int | None = None, *, dtype: _DType[_ScalarT], out: ndarray | None = None
) -> NDArray[_ScalarT]: ...
@overload
def nancumsum(
    a: ndarray, axis: int | None = None, dtype: DTypeLike | None = None, out: ndarray | None = None
) -> NDArray[Any]: ...
@overload
def nanprod(
    a: NDArray[_InexactT],
    axis: int | tuple[int, ...] | None = None,
    dtype: None = None,
    out: None = None,
    keepdims: bool = False,
) -> NDArray[_InexactT]: ...
@overload
def nanprod(
    a: NDArray[np.signedinteger[Any] | np.bool_],
    axis: int | tuple[int, ...] | None = None,
    dtype: None = None,
    out: None = None,
    keepdims: bool = False,
) -> NDArray[np.int64]: ...
@overload
def nanprod(
    a: ndarray,
    axis: int | tuple[int, ...] | None = None,
    *,
    dtype: _DType[_ScalarT],
    out: ndarray | None = None,
    keepdims: bool = False,
) -> NDArray[_ScalarT]: ...
@overload
def nanprod(
    a: ndarray,
    axis: int | tuple[int, ...] | None = None,
    dtype: DTypeLike | None = None,
    out: ndarray | None = None,
    keepdims: bool = False,
) -> NDArray[Any]: ...
@overload
def nansum(
    a: NDArray[_InexactT],
    axis: int | tuple[int, ...] | None = None,
    dtype: None = None,
    out: None = None,
    keepdims: bool = False,
) -> NDArray[_InexactT]: ...
@overload
def nansum(
    a: NDArray[np.signedinteger[Any] | np.bool_],
    axis: int | tuple[int, ...] | None = None,
    dtype: None = None,
    out: None = None,
    keepdims: bool = False,
) -> NDArray[np.int64]: ...
@overload
def nansum(
    a: ndarray,
    axis: int | tuple[int, ...] | None = None,
    *,
    dtype: _DType[_ScalarT],
    out: ndarray | None = None,
    keepdims: bool = False,
) -> NDArray[_ScalarT]: ...
@overload
def nansum(
    a: ndarray,
    axis: int | tuple[int, ...] | None = None,
    dtype: DTypeLike | None = None,
    out: ndarray | None = None,
    keepdims: bool = False,
) -> NDArray[Any]: ...
@overload
def prod(
    a: NDArray[_InexactT],
    axis: int | tuple[int, ...] | None = None,
    dtype: None = None,
    out: None = None,
    keepdims: bool = False,
) -> NDArray[_InexactT]: ...
@overload
def prod(
    a: NDArray[np.signedinteger[Any] | np.bool_],
    axis: int | tuple[int, ...] | None = None,
    dtype: None = None,
    out: None = None,
    keepdims: bool = False,
) -> NDArray[np.int64]: ...
@overload
def prod(
    a: ndarray,
    axis: int | tuple[int, ...] | None = None,
    *,
    dtype: _DType[_ScalarT],
    out: ndarray | None = None,
    keepdims: bool = False,
) -> NDArray[_ScalarT]: ...
@overload
def prod(
    a: ndarray,
    axis: int | tuple[int, ...] | None = None,
    dtype: DTypeLike | None = None,
    out: ndarray | None = None,
    keepdims: bool = False,
) -> NDArray[Any]: ...
@overload
def sum(
    a: NDArray[_InexactT],
    axis: int | tuple[int, ...] | None = None,
    dtype: None = None,
    out: None = None,
    keepdims: bool = False,
) -> NDArray[_InexactT]: ...
@overload
def sum(
    a: NDArray[np.signedinteger[Any] | np.bool_],
    axis: int | tuple[int, ...] | None = None,
    dtype: None = None,
    out: None = None,
    keepdims: bool = False,
) -> NDArray[np.int64]: ...
@overload
def sum(
    a: ndarray,
    axis: int | tuple[int, ...] | None = None,
    *,
    dtype: _DType[_ScalarT],
    out: ndarray | None = None,
    keepdims: bool = False,
) -> NDArray[_ScalarT]: ...
@overload
def sum(
    a: ndarray,
    axis: int | tuple[int, ...] | None = None,
    dtype: DTypeLike | None = None,
    out: ndarray | None = None,
    keepdims: bool = False,
) -> NDArray[Any]: ...
def trapezoid(
    y: _ArrayLike, x: ndarray | None = None, dx: float = 1.0, axis: int = -1
) -> NDArray[Any]: ...
