from collections.abc import Sequence
from typing import Any, Literal, SupportsIndex, TypeAlias, TypeVar

import numpy as np
from cupy._core.core import ndarray
from numpy.typing import ArrayLike as ArrayLike, DTypeLike as DTypeLike, NBitBase as NBitBase

_ScalarType_co = TypeVar("_ScalarType_co", bound=np.generic, covariant=True)

_ShapeLike: TypeAlias = SupportsIndex | Sequence[SupportsIndex]  # noqa: PYI047  used by the stubs of functions
_OrderKACF: TypeAlias = Literal["K", "A", "C", "F"] | None  # noqa: PYI047  used by the stubs of functions
_OrderCF: TypeAlias = Literal["C", "F"] | None  # noqa: PYI047  used by the stubs of functions
NDArray: TypeAlias = ndarray[tuple[Any, ...], np.dtype[_ScalarType_co]]
