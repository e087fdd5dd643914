from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from cupy._core.core import ndarray
from cupy.typing import NDArray

_ScalarT = TypeVar("_ScalarT", bound=np.generic)

def array_split(
    ary: NDArray[_ScalarT], indices_or_sections: int | Sequence[int] | ndarray, axis: int = 0
) -> list[NDArray[_ScalarT]]: ...
def dsplit(
    ary: NDArray[_ScalarT], indices_or_sections: int | Sequence[int] | ndarray
) -> list[NDArray[_ScalarT]]: ...
def hsplit(
    ary: NDArray[_ScalarT], indices_or_sections: int | Sequence[int] | ndarray
) -> list[NDArray[_ScalarT]]: ...
def split(
    ary: NDArray[_ScalarT], indices_or_sections: int | Sequence[int] | ndarray, axis: int = 0
) -> list[NDArray[_ScalarT]]: ...
def vsplit(
    ary: NDArray[_ScalarT], indices_or_sections: int | Sequence[int] | ndarray
) -> list[NDArray[_ScalarT]]: ...
