from typing import Any, TypeVar, overload

import numpy as np
from cupy._core.core import _DType, ndarray
from cupy.typing import NDArray
from cupy.typing._types import _OrderCF, _OrderKACF, _ShapeLike
from numpy.typing import DTypeLike

_ArrayT = TypeVar("_ArrayT", bound=ndarray)
_ScalarT = TypeVar("_ScalarT", bound=np.generic)
_ShapeT = TypeVar("_ShapeT", bound=tuple[int, ...])

@overload
def astype(
    x: ndarray[_ShapeT, Any], dtype: _DType[_ScalarT], /, *, copy: bool = True
) -> ndarray[_ShapeT, np.dtype[_ScalarT]]: ...
@overload
def astype(x: ndarray, dtype: DTypeLike, /, *, copy: bool = True) -> NDArray[Any]: ...
@overload
def empty(
    shape: _ShapeLike, dtype: type[float] = ..., order: _OrderCF = "C"
) -> NDArray[np.float64]: ...
@overload
def empty(
    shape: _ShapeLike, dtype: _DType[_ScalarT], order: _OrderCF = "C"
) -> NDArray[_ScalarT]: ...
@overload
def empty(
    shape: _ShapeLike, dtype: DTypeLike | None = ..., order: _OrderCF = "C"
) -> NDArray[Any]: ...
@overload
def empty_like(
    prototype: _ArrayT,
    dtype: None = None,
    order: _OrderKACF = "K",
    subok: None = None,
    shape: None = None,
) -> _ArrayT: ...
@overload
def empty_like(
    prototype: ndarray,
    dtype: _DType[_ScalarT],
    order: _OrderKACF = "K",
    subok: None = None,
    shape: _ShapeLike | None = None,
) -> NDArray[_ScalarT]: ...
@overload
def empty_like(
    prototype: ndarray,
    dtype: DTypeLike | None = None,
    order: _OrderKACF = "K",
    subok: None = None,
    shape: _ShapeLike | None = None,
) -> NDArray[Any]: ...
@overload
def eye(
    N: int, M: int | None = None, k: int = 0, dtype: type[float] = ..., order: _OrderCF = "C"
) -> NDArray[np.float64]: ...
@overload
def eye(
    N: int, M: int | None = None, k: int = 0, *, dtype: _DType[_ScalarT], order: _OrderCF = "C"
) -> NDArray[_ScalarT]: ...
@overload
def eye(
    N: int, M: int | None = None, k: int = 0, dtype: DTypeLike | None = ..., order: _OrderCF = "C"
) -> NDArray[Any]: ...
@overload
def full(
    shape: _ShapeLike, fill_value: Any, dtype: _DType[_ScalarT], order: _OrderCF = "C"
) -> NDArray[_ScalarT]: ...
@overload
def full(
    shape: _ShapeLike, fill_value: _ScalarT, dtype: None = None, order: _OrderCF = "C"
) -> NDArray[_ScalarT]: ...
@overload
def full(
    shape: _ShapeLike, fill_value: Any, dtype: DTypeLike | None = None, order: _OrderCF = "C"
) -> NDArray[Any]: ...
@overload
def full_like(
    a: _ArrayT,
    fill_value: Any,
    dtype: None = None,
    order: _OrderKACF = "K",
    subok: None = None,
    shape: None = None,
) -> _ArrayT: ...
@overload
def full_like(
    a: ndarray,
    fill_value: Any,
    dtype: _DType[_ScalarT],
    order: _OrderKACF = "K",
    subok: None = None,
    shape: _ShapeLike | None = None,
) -> NDArray[_ScalarT]: ...
@overload
def full_like(
    a: ndarray,
    fill_value: Any,
    dtype: DTypeLike | None = None,
    order: _OrderKACF = "K",
    subok: None = None,
    shape: _ShapeLike | None = None,
) -> NDArray[Any]: ...
@overload
def identity(n: int, dtype: type[float] = ...) -> NDArray[np.float64]: ...
@overload
def identity(n: int, dtype: _DType[_ScalarT]) -> NDArray[_ScalarT]: ...
@overload
def identity(n: int, dtype: DTypeLike | None = ...) -> NDArray[Any]: ...
@overload
def ones(
    shape: _ShapeLike, dtype: type[float] = ..., order: _OrderCF = "C"
) -> NDArray[np.float64]: ...
@overload
def ones(
    shape: _ShapeLike, dtype: _DType[_ScalarT], order: _OrderCF = "C"
) -> NDArray[_ScalarT]: ...
@overload
def ones(
    shape: _ShapeLike, dtype: DTypeLike | None = ..., order: _OrderCF = "C"
) -> NDArray[Any]: ...
@overload
def ones_like(
    a: _ArrayT, dtype: None = None, order: _OrderKACF = "K", subok: None = None, shape: None = None
) -> _ArrayT: ...
@overload
def ones_like(
    a: ndarray,
    dtype: _DType[_ScalarT],
    order: _OrderKACF = "K",
    subok: None = None,
    shape: _ShapeLike | None = None,
) -> NDArray[_ScalarT]: ...
@overload
def ones_like(
    a: ndarray,
    dtype: DTypeLike | None = None,
    order: _OrderKACF = "K",
    subok: None = None,
    shape: _ShapeLike | None = None,
) -> NDArray[Any]: ...
@overload
def zeros(
    shape: _ShapeLike, dtype: type[float] = ..., order: _OrderCF = "C"
) -> NDArray[np.float64]: ...
@overload
def zeros(
    shape: _ShapeLike, dtype: _DType[_ScalarT], order: _OrderCF = "C"
) -> NDArray[_ScalarT]: ...
@overload
def zeros(
    shape: _ShapeLike, dtype: DTypeLike | None = ..., order: _OrderCF = "C"
) -> NDArray[Any]: ...
@overload
def zeros_like(
    a: _ArrayT, dtype: None = None, order: _OrderKACF = "K", subok: None = None, shape: None = None
) -> _ArrayT: ...
@overload
def zeros_like(
    a: ndarray,
    dtype: _DType[_ScalarT],
    order: _OrderKACF = "K",
    subok: None = None,
    shape: _ShapeLike | None = None,
) -> NDArray[_ScalarT]: ...
@overload
def zeros_like(
    a: ndarray,
    dtype: DTypeLike | None = None,
    order: _OrderKACF = "K",
    subok: None = None,
    shape: _ShapeLike | None = None,
) -> NDArray[Any]: ...
