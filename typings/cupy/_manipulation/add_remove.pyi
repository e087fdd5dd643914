from typing import Any, Literal, NamedTuple, TypeVar, overload

import numpy as np
from cupy._core.core import _ArrayLike, ndarray
from cupy.typing import NDArray
from cupy.typing._types import _ShapeLike

_ScalarT = TypeVar("_ScalarT", bound=np.generic)

@overload
def append(
    arr: NDArray[_ScalarT], values: NDArray[_ScalarT], axis: int | None = None
) -> NDArray[_ScalarT]: ...
@overload
def append(arr: _ArrayLike, values: _ArrayLike, axis: int | None = None) -> NDArray[Any]: ...
def delete(arr: NDArray[_ScalarT], indices: Any, axis: int | None = None) -> NDArray[_ScalarT]: ...
def resize(a: NDArray[_ScalarT], new_shape: _ShapeLike) -> NDArray[_ScalarT]: ...
def trim_zeros(filt: NDArray[_ScalarT], trim: str = "fb") -> NDArray[_ScalarT]: ...
@overload
def unique(
    ar: NDArray[_ScalarT],
    return_index: Literal[False] = False,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
) -> NDArray[_ScalarT]: ...
@overload
def unique(
    ar: ndarray,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
) -> Any: ...

class UniqueAllResult(NamedTuple):
    values: NDArray[Any]
    indices: NDArray[np.int64]
    inverse_indices: NDArray[np.int64]
    counts: NDArray[np.int64]

class UniqueCountsResult(NamedTuple):
    values: NDArray[Any]
    counts: NDArray[np.int64]

class UniqueInverseResult(NamedTuple):
    values: NDArray[Any]
    inverse_indices: NDArray[np.int64]

def unique_all(x: ndarray) -> UniqueAllResult: ...
def unique_counts(x: ndarray) -> UniqueCountsResult: ...
def unique_inverse(x: ndarray) -> UniqueInverseResult: ...
def unique_values(x: NDArray[_ScalarT]) -> NDArray[_ScalarT]: ...
