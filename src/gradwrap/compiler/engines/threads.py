"""The number of threads that a compiled program may use."""

from __future__ import annotations

import os
import sys

from gradwrap.core.values.dynamic import type_of


def usable() -> int:
    """Return the number of cores that the process may use, or `$OMP_NUM_THREADS` if it is less.

    Schedulers of jobs and of processes set the variable so that all processes together have one
    thread for each core.
    """
    given = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    most = int(given) if given.isdecimal() else 0
    return min(most, _cores()) if most else _cores()


def _cores() -> int:
    if sys.version_info >= (3, 13):
        return os.process_cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def checked(threads: int | None) -> int | None:
    """Return the argument `threads` of `gw.compile`.

    Raises
    ------
    TypeError
        It is neither an integer nor None.
    ValueError
        It is less than one.
    """
    if threads is None:
        return None
    if type_of(threads) is not int:
        raise TypeError(
            f"threads is {threads!r}, which is no integer. Fix: give the number of threads, "
            "or None for one on each core that the process may use"
        )
    if threads < 1:
        raise ValueError(
            f"threads is {threads}; a program runs on at least one thread. Fix: give 1 or more, "
            "or None for one on each core that the process may use"
        )
    return threads
