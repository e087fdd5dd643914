"""Tracing of Python's memory by `tracemalloc`, for blocks that count bytes."""

from __future__ import annotations

import sys
import threading
import time
import tracemalloc
from typing import TYPE_CHECKING, ClassVar, Self

if TYPE_CHECKING:
    from types import FrameType


STOPS_SAFELY = (3, 12, 9) <= sys.version_info < (3, 13) or sys.version_info >= (3, 13, 2)
"""Whether a trace may stop while other threads ask for memory."""


class TracedMemory:
    """Trace Python's memory in a `with` block, unless it is traced already.

    Blocks of several threads share one trace, which ends with the last block. Before Python 3.12.9
    and 3.13.2, a thread that asks for memory without the GIL, as NumPy's loops do for their
    buffers, crashes if the trace stops at that moment
    (https://github.com/python/cpython/issues/128679). There the trace goes on until the end of a
    block in which all other threads stand still.
    """

    _lock: ClassVar[threading.Lock] = threading.Lock()
    _open: ClassVar[int] = 0
    _first: ClassVar[object] = None
    """An object made when a block started the trace, which knows it until the trace ends."""

    def __init__(self) -> None:
        self._others: dict[int, tuple[FrameType, int]] = {}

    def __enter__(self) -> Self:
        cls = TracedMemory
        with cls._lock:
            if not tracemalloc.is_tracing():
                tracemalloc.start()
                cls._first = object()
            cls._open += 1
        self._others = _other_threads()
        return self

    def __exit__(self, *exc_info: object) -> None:
        cls = TracedMemory
        with cls._lock:
            cls._open -= 1
            if self.is_ours and not cls._open and (STOPS_SAFELY or self._stays_alone()):
                tracemalloc.stop()
        self._others.clear()

    @property
    def is_ours(self) -> bool:
        """Whether a block has started the trace, not the user."""
        return tracemalloc.get_object_traceback(TracedMemory._first) is not None

    def is_alone(self) -> bool:
        """Tell whether every other thread stands where it stood when the block was entered."""
        return all(self._others.get(key) == found for key, found in _other_threads().items())

    def _stays_alone(self) -> bool:
        """Tell whether no other thread goes on when it may have the GIL."""
        if not _other_threads():
            return True
        if self.is_alone():
            time.sleep(0.02)
        return self.is_alone()


def _other_threads() -> dict[int, tuple[FrameType, int]]:
    """Return the frame of each other thread, and the instruction where it stands."""
    frames = sys._current_frames()  # pyright: ignore[reportPrivateUsage]  # documented, private by its name alone
    del frames[threading.get_ident()]  # a frame that holds itself would be garbage
    return {key: (frame, frame.f_lasti) for key, frame in frames.items()}
