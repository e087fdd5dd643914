from typing import Any

from cupy.typing import NDArray

def einsum(*operands: Any, **kwargs: Any) -> NDArray[Any]: ...
