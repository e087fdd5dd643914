from cupy.typing._types import (
    ArrayLike as ArrayLike,
    DTypeLike as DTypeLike,
    NBitBase as NBitBase,
    NDArray as NDArray,
)
