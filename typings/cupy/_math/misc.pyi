from typing import Any, TypeVar, overload

import numpy as np
from cupy._core.core import _ArrayLike, ndarray
from cupy.typing import NDArray

_ArrayT = TypeVar("_ArrayT", bound=ndarray)
_ScalarT = TypeVar("_ScalarT", bound=np.generic)

def clip(
    a: NDArray[_ScalarT], a_min: Any, a_max: Any, out: ndarray | None = None
) -> NDArray[_ScalarT]: ...
@overload
def convolve(
    a: NDArray[_ScalarT], v: NDArray[_ScalarT], mode: str = "full"
) -> NDArray[_ScalarT]: ...
@overload
def convolve(a: _ArrayLike, v: _ArrayLike, mode: str = "full") -> NDArray[Any]: ...
def interp(
    x: _ArrayLike,
    xp: Any,
    fp: Any,
    left: float | None = None,
    right: float | None = None,
    period: float | None = None,
) -> NDArray[Any]: ...
def nan_to_num(
    x: _ArrayT, copy: bool | None = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None
) -> _ArrayT: ...
def real_if_close(a: _ArrayT, tol: Any = 100) -> _ArrayT: ...
