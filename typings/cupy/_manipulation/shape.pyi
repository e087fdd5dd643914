from typing import TypeVar

import numpy as np
from cupy.typing import NDArray
from cupy.typing._types import _ShapeLike

_ScalarT = TypeVar("_ScalarT", bound=np.generic)

def ravel(a: NDArray[_ScalarT], order: str = "C") -> NDArray[_ScalarT]: ...
def reshape(
    a: NDArray[_ScalarT], newshape: _ShapeLike, order: str = "C", *, copy: bool | None = None
) -> NDArray[_ScalarT]: ...
def shape(a: object) -> tuple[int, ...]: ...
