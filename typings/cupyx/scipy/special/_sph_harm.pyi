from typing import Any

from cupy._core.core import _ArrayLike

def sph_harm_y(
    n: _ArrayLike, m: _ArrayLike, theta: _ArrayLike, phi: _ArrayLike, *, diff_n: int = 0
) -> Any: ...
