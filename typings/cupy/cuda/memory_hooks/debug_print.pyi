from typing import TextIO

from cupy.cuda.memory_hook import MemoryHook

class DebugPrintHook(MemoryHook):
    def __init__(self, file: TextIO = ..., flush: bool = True) -> None: ...
