from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from cupy._core.core import _ArrayLike, ndarray
from cupy.typing import NDArray

_ScalarT = TypeVar("_ScalarT", bound=np.generic)

def choose(
    a: _ArrayLike, choices: Any, out: ndarray | None = None, mode: str = "raise"
) -> NDArray[Any]: ...
def compress(
    condition: Any, a: NDArray[_ScalarT], axis: int | None = None, out: ndarray | None = None
) -> NDArray[_ScalarT]: ...
def diagonal(
    a: NDArray[_ScalarT], offset: int = 0, axis1: int = 0, axis2: int = 1
) -> NDArray[_ScalarT]: ...
def extract(condition: Any, a: NDArray[_ScalarT]) -> NDArray[_ScalarT]: ...
def select(condlist: Any, choicelist: Any, default: Any = 0) -> NDArray[Any]: ...
def take(
    a: NDArray[_ScalarT],
    indices: ndarray | int | Sequence[int],
    axis: int | None = None,
    out: ndarray | None = None,
) -> NDArray[_ScalarT]: ...
def take_along_axis(a: NDArray[_ScalarT], indices: Any, axis: int) -> NDArray[_ScalarT]: ...
