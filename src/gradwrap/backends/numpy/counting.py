"""Count the bytes that NumPy and Python have in use at a time, by `tracemalloc`."""

from __future__ import annotations

import threading
import tracemalloc
from typing import ClassVar, Self

import numpy as np

from gradwrap.core.observing.traced_memory import TracedMemory


class TracedPeak:
    """The most bytes in use at a time in a `with` block, beyond those in use at its start.

    Blocks may be nested, and other threads may run: then all bytes of the process count for each.
    A trace that the user has started keeps its own peak.
    """

    _lock: ClassVar[threading.Lock] = threading.Lock()
    _open: ClassVar[list[TracedPeak]] = []
    _before: ClassVar[int] = 0
    """The peak of a trace that was running when the first block was entered."""

    def __init__(self) -> None:
        self.bytes: int = 0
        self.is_exact: bool = False
        """Whether no other thread ran in the block, so that the bytes are those of this thread."""
        self._start = self._highest = 0
        self._memory = TracedMemory()

    def __enter__(self) -> Self:
        cls = TracedPeak
        self._memory.__enter__()
        with cls._lock:
            if not cls._open:
                cls._before = tracemalloc.get_traced_memory()[1]
            cls._note_peak()
            tracemalloc.reset_peak()
            self._start = self._highest = tracemalloc.get_traced_memory()[0]
            cls._open.append(self)
        return self

    def __exit__(self, *exc_info: object) -> None:
        cls = TracedPeak
        with cls._lock:
            cls._note_peak()
            cls._open.remove(self)
            self.bytes = self._highest - self._start
            self.is_exact = self._memory.is_alone()
            if not (cls._open or self._memory.is_ours):
                # memory that is never written to takes no room
                now = tracemalloc.get_traced_memory()[0]
                np.empty(max(0, cls._before - now), dtype=np.uint8)
        self._memory.__exit__(*exc_info)

    @classmethod
    def _note_peak(cls) -> None:
        """Give the peak since the last reset to each open block."""
        highest = tracemalloc.get_traced_memory()[1]
        cls._before = max(cls._before, highest)
        for one in cls._open:
            one._highest = max(one._highest, highest)
