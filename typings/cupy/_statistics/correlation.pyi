from typing import Any, TypeVar, overload

import numpy as np
from cupy._core.core import _ArrayLike, ndarray
from cupy.typing import NDArray
from numpy.typing import DTypeLike

_ScalarT = TypeVar("_ScalarT", bound=np.generic)

def corrcoef(
    a: _ArrayLike,
    y: ndarray | None = None,
    rowvar: bool = True,
    bias: Any = None,
    ddof: int | None = None,
    *,
    dtype: DTypeLike | None = None,
) -> NDArray[Any]: ...
@overload
def correlate(
    a: NDArray[_ScalarT], v: NDArray[_ScalarT], mode: str = "valid"
) -> NDArray[_ScalarT]: ...
@overload
def correlate(a: _ArrayLike, v: _ArrayLike, mode: str = "valid") -> NDArray[Any]: ...
def cov(
    a: _ArrayLike,
    y: ndarray | None = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: DTypeLike | None = None,
) -> NDArray[Any]: ...
