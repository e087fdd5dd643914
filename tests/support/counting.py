"""Count what a call does: the lines of Python it executes, the bytes it allocates.

Unlike the time that it takes, neither depends on what else the machine does.
"""

from __future__ import annotations

import gc
import sys
import tracemalloc
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from types import FrameType


def lines(call: Callable[[], object]) -> int:
    """Count the lines of Python that a call executes in this thread.

    A loop on a single line counts as often as it is repeated.
    """
    count = 0

    def trace(_: FrameType, event: str, __: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    with _without_collector():
        sys.settrace(trace)
        try:
            call()
        finally:
            sys.settrace(None)
    return count


def allocated(call: Callable[[], object]) -> int:
    """Sum the bytes that a call allocates, with those that it frees again.

    At each entry into a function and each return from one, tracemalloc says how far the memory in
    use has risen above what it was at the last one.
    """
    total = before = 0

    def profile(*_: object) -> None:
        nonlocal total, before
        now, peak = tracemalloc.get_traced_memory()
        total += peak - before
        tracemalloc.reset_peak()
        before = now

    with _without_collector():
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        sys.setprofile(profile)
        try:
            call()
        finally:
            sys.setprofile(None)
            tracemalloc.stop()
    return total


def early_and_late(
    count: Callable[[Callable[[], object]], int], repeated: Callable[[int], object], times: int
) -> tuple[float, float]:
    """Return what one more repetition costs after `times` of them, and after three times as many.

    `repeated(n)` repeats something `n` times. The two are the same if its cost is linear.
    """
    repeated(2)  # what is done once is done now, for what takes two turns too
    one, two, three, four = (count(partial(repeated, n * times)) for n in range(1, 5))
    return (two - one) / times, (four - three) / times


@contextmanager
def _without_collector() -> Generator[None]:
    """Keep the finalizers of other garbage out of a count."""
    was_on = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
