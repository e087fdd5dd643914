from typing import TextIO

from cupy.cuda.memory_hook import MemoryHook

class LineProfileHook(MemoryHook):
    def __init__(self, max_depth: int = 0) -> None: ...
    def alloc_preprocess(self, device_id: int, mem_size: int) -> None: ...  # type: ignore[override]  # as it is
    def malloc_preprocess(self, device_id: int, size: int, mem_size: int) -> None: ...  # type: ignore[override]  # as it is
    def print_report(self, file: TextIO = ...) -> None: ...
