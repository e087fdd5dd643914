from typing import Any, TypeVar, overload

import numpy as np
from cupy._core.core import _DType, ndarray
from cupy.typing import NDArray
from numpy.typing import DTypeLike

_ArrayT = TypeVar("_ArrayT", bound=ndarray)
_ScalarT = TypeVar("_ScalarT", bound=np.generic)

@overload
def array(
    obj: NDArray[_ScalarT] | np.ndarray[Any, np.dtype[_ScalarT]],
    dtype: None = None,
    copy: bool | None = True,
    order: str = "K",
    subok: bool = False,
    ndmin: int = 0,
    *,
    blocking: bool = False,
) -> NDArray[_ScalarT]: ...
@overload
def array(
    obj: Any,
    dtype: _DType[_ScalarT],
    copy: bool | None = True,
    order: str = "K",
    subok: bool = False,
    ndmin: int = 0,
    *,
    blocking: bool = False,
) -> NDArray[_ScalarT]: ...
@overload
def array(
    obj: Any,
    dtype: DTypeLike | None = None,
    copy: bool | None = True,
    order: str = "K",
    subok: bool = False,
    ndmin: int = 0,
    *,
    blocking: bool = False,
) -> NDArray[Any]: ...
@overload
def asanyarray(
    a: NDArray[_ScalarT] | np.ndarray[Any, np.dtype[_ScalarT]],
    dtype: None = None,
    order: str | None = None,
    *,
    copy: bool | None = None,
    blocking: bool = False,
) -> NDArray[_ScalarT]: ...
@overload
def asanyarray(
    a: Any,
    dtype: _DType[_ScalarT],
    order: str | None = None,
    *,
    copy: bool | None = None,
    blocking: bool = False,
) -> NDArray[_ScalarT]: ...
@overload
def asanyarray(
    a: Any,
    dtype: DTypeLike | None = None,
    order: str | None = None,
    *,
    copy: bool | None = None,
    blocking: bool = False,
) -> NDArray[Any]: ...
@overload
def asarray(
    a: NDArray[_ScalarT] | np.ndarray[Any, np.dtype[_ScalarT]],
    dtype: None = None,
    order: str | None = None,
    *,
    copy: bool | None = None,
    blocking: bool = False,
) -> NDArray[_ScalarT]: ...
@overload
def asarray(
    a: Any,
    dtype: _DType[_ScalarT],
    order: str | None = None,
    *,
    copy: bool | None = None,
    blocking: bool = False,
) -> NDArray[_ScalarT]: ...
@overload
def asarray(
    a: Any,
    dtype: DTypeLike | None = None,
    order: str | None = None,
    *,
    copy: bool | None = None,
    blocking: bool = False,
) -> NDArray[Any]: ...
def ascontiguousarray(
    a: NDArray[_ScalarT], dtype: DTypeLike | None = None
) -> NDArray[_ScalarT]: ...
def copy(a: _ArrayT, order: str = "K") -> _ArrayT: ...
