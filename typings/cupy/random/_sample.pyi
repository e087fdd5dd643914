from collections.abc import Sequence
from typing import Any, TypeAlias, TypeVar, overload

import numpy as np
from cupy._core.core import _DType, _ArrayLike, ndarray
from cupy.typing import NDArray
from numpy.typing import DTypeLike

_ScalarT = TypeVar("_ScalarT", bound=np.generic)

_Size: TypeAlias = int | Sequence[int] | None

@overload
def choice(
    a: int, size: _Size = None, replace: bool = True, p: ndarray | None = None
) -> NDArray[np.int64]: ...
@overload
def choice(
    a: NDArray[_ScalarT], size: _Size = None, replace: bool = True, p: ndarray | None = None
) -> NDArray[_ScalarT]: ...
def multinomial(n: _ArrayLike, pvals: _ArrayLike, size: _Size = None) -> NDArray[Any]: ...
@overload
def rand(*size: int) -> NDArray[np.float64]: ...
@overload
def rand(*size: int, dtype: _DType[_ScalarT]) -> NDArray[_ScalarT]: ...
@overload
def rand(*size: int, **kwarg: Any) -> NDArray[Any]: ...
def randint(
    low: _ArrayLike,
    high: _ArrayLike | None = None,
    size: _Size = None,
    dtype: DTypeLike | None = "l",
) -> NDArray[Any]: ...
@overload
def randn(*size: int) -> NDArray[np.float64]: ...
@overload
def randn(*size: int, dtype: _DType[_ScalarT]) -> NDArray[_ScalarT]: ...
@overload
def randn(*size: int, **kwarg: Any) -> NDArray[Any]: ...
@overload
def random_sample(size: _Size = None, dtype: type[float] = ...) -> NDArray[np.float64]: ...
@overload
def random_sample(size: _Size = None, *, dtype: _DType[_ScalarT]) -> NDArray[_ScalarT]: ...
@overload
def random_sample(size: _Size = None, dtype: DTypeLike | None = ...) -> NDArray[Any]: ...
def random_integers(
    low: _ArrayLike, high: _ArrayLike | None = None, size: _Size = None
) -> NDArray[Any]: ...
