"""Count the bytes of a GPU that CuPy's pool has lent at a time."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    cupy: Any  # where it is not installed, a checker takes this file for it
else:
    import cupy


class _Hook(cupy.cuda.MemoryHook):  # type: ignore[misc]  # CuPy is Any here
    """Adds up the sizes of the pieces that the pool lends and takes back."""

    def __init__(self, number: int) -> None:
        self.name: str = f"gradwrap peak {number}"  # CuPy takes one hook of a name
        self._sizes: dict[int, int] = {}
        self._used = 0
        self.peak: int = 0

    def malloc_postprocess(self, *, mem_size: int, pmem_id: int, **_: Any) -> None:
        self._sizes[pmem_id] = mem_size
        self._used += mem_size
        self.peak = max(self.peak, self._used)

    def free_postprocess(self, *, pmem_id: int, **_: Any) -> None:
        self._used -= self._sizes.pop(pmem_id, 0)  # 0 if it is older than the block


class PoolPeak:
    """The most bytes lent at a time in a `with` block, beyond those lent at its start."""

    def __init__(self) -> None:
        self.bytes: int = 0
        self.is_exact: bool = True  # a hook counts what its own thread takes
        self._hook: Any = _Hook(id(self) ^ threading.get_ident())

    def __enter__(self) -> Self:
        self._hook.__enter__()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._hook.__exit__(*exc_info)
        self.bytes = self._hook.peak
