"""The pieces of a chunk on several threads, which run together while NumPy frees Python's lock.

Each result belongs to its piece, so that results do not depend on the number of threads.
"""

from __future__ import annotations

import functools
import os
from collections import deque
from contextlib import suppress
from contextvars import copy_context
from threading import Lock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future, ThreadPoolExecutor

MOST_THREADS = 64


def in_pieces(
    piece: Callable[[int, int, int], Any], count: int, size: int, threads: int
) -> list[Any]:
    """Call `piece(thread, start, end)` for all pieces of `count` elements; return the results.

    The calling thread takes part. It never waits for a thread that has not begun. If another call
    is using the threads, it performs all pieces itself.
    """
    pool, in_use = _pool()
    is_mine = in_use.acquire(blocking=False)
    waiting = deque(range(0, count, size))
    found: list[Any] = [None] * len(waiting)

    def work(me: int) -> None:
        while waiting:
            try:
                start = waiting.popleft()
            except IndexError:  # another thread has taken the last one
                return
            found[start // size] = piece(me, start, min(start + size, count))

    helpers: list[Future[None]] = []
    with suppress(RuntimeError):  # the interpreter ends, or the system has no more threads
        helpers.extend(
            pool.submit(copy_context().run, work, me)  # NumPy's `errstate` is in the context
            for me in range(1, min(threads, len(waiting)) if is_mine else 1)
        )
    try:
        work(0)
    finally:
        waiting.clear()
        begun = [helper for helper in helpers if not helper.cancel()]
        problems = [helper.exception() for helper in begun]
        if is_mine:
            in_use.release()
    for problem in problems:
        if problem is not None:
            raise problem
    return found


@functools.cache
def _pool() -> tuple[ThreadPoolExecutor, Lock]:
    """Return the threads of the process, and their lock; a child made by a fork has its own."""
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(MOST_THREADS, thread_name_prefix="gradwrap"), Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)
