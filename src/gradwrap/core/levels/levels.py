"""Levels, and the threshold up to which they are not recorded.

Every transform takes a fresh level from one increasing counter, so that a transform started
inside another one always has the higher level, in whatever thread it runs. Nothing has to be
reset when it ends or raises. The imperative tape is level 0.

A recording mode is a threshold: levels up to it are not recorded. `no_grad` sets it to the newest
level, so a transform started inside `no_grad` still records, as in `torch.func`. It is kept in a
context variable: each thread and each asyncio task has its own.

Recordings can be watched, for example by `saved_tensors_hooks`. A written call has no time to test
for a watch. So while a watch is on, the threshold that written calls compare with is above every
level (`Watched`): they take their exit for unrecorded operations, and test there.
"""

from __future__ import annotations

import itertools
import sys
import threading
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from contextvars import Token

TAPE_LEVEL = 0
RECORD_ALL = -1

_levels = itertools.count(1)
_levels_lock = threading.Lock()
_newest_level = TAPE_LEVEL

_silent_up_to: ContextVar[int] = ContextVar("gradwrap_silent_up_to", default=RECORD_ALL)
_differentiating: ContextVar[bool] = ContextVar("gradwrap_differentiating", default=False)

inspecting: ContextVar[Any] = ContextVar("gradwrap_inspecting", default=None)
"""The inspection that this context asks of its backward passes; None if it asks for none."""

threshold_of_calls: Callable[[], Any] = _silent_up_to.get
"""The number that written calls compare a level with: the threshold, or a `Watched` above it."""


def falling_numbers() -> Callable[[], int]:
    """Return a function that counts down, without repeating a number in any thread."""
    following = itertools.count(0, -1).__next__
    if getattr(sys, "_is_gil_enabled", lambda: True)():
        return following  # one step of C: no thread comes between
    lock = threading.Lock()

    def take() -> int:
        with lock:
            return following()

    return take


next_sequence_number: Callable[[], int] = falling_numbers()
"""Numbers the nodes, falling, so that a min-heap gives the newest node first."""


class Watched(int):
    """A threshold above every level, which carries the true threshold and the watch."""

    threshold: int
    watch: Any


class ProbeLevel(int):
    """The level of a call by which an implicit rule differentiates its function.

    Only the rule may use the results. What the function keeps of them belongs to the point of that
    call, which does not move with the solution.
    """

    name: str


def probe_level(name: str) -> ProbeLevel:
    """Return a new level for a call by the rule of a name."""
    made = ProbeLevel(new_level())
    made.name = name
    return made


def silent_up_to() -> int:
    """Return this context's threshold: operations of levels up to it are not recorded."""
    threshold = _silent_up_to.get()
    return threshold.threshold if isinstance(threshold, Watched) else threshold


def current_watch() -> Any:
    """Return the watch on this context's recordings, or None."""
    threshold = _silent_up_to.get()
    return threshold.watch if isinstance(threshold, Watched) else None


def watch_with(watch: Any) -> None:
    """Watch this context's recordings from now on (None: stop watching); keep the threshold."""
    set_threshold(silent_up_to(), watch)


def set_threshold(threshold: int, watch: Any) -> None:
    """Record the levels above a threshold from now on, watched by `watch` if it is given."""
    if watch is None:
        _silent_up_to.set(threshold)
        return
    watched = Watched(sys.maxsize)
    watched.threshold, watched.watch = threshold, watch
    _silent_up_to.set(watched)


@contextmanager
def unwatched() -> Generator[None, None, None]:
    """Neither record nor watch in a `with` block: for the work of the watcher itself."""
    token = _silent_up_to.set(_newest_level)
    try:
        yield
    finally:
        _silent_up_to.reset(token)


def newest_level() -> int:
    """Return the level of the newest transform in any thread."""
    return _newest_level


def new_level() -> int:
    """Return a new level, for a transform that starts."""
    global _newest_level  # noqa: PLW0603  the counter is the one thing all threads share
    with _levels_lock:
        _newest_level = next(_levels)
        return _newest_level


@contextmanager
def recording_from(level: int) -> Generator[None, None, None]:
    """Record this level and the levels above it; leave lower levels unchanged."""
    with threshold_at(min(silent_up_to(), level - 1)):
        yield


@contextmanager
def threshold_at(threshold: int) -> Generator[None, None, None]:
    """Record the levels above a threshold in a `with` block, whatever the outer mode."""
    outside = silent_up_to()
    set_threshold(threshold, current_watch())
    try:
        yield
    finally:
        set_threshold(outside, current_watch())


@contextmanager
def differentiating(active: bool = True) -> Generator[None, None, None]:
    """Mark a running transform, so that arrays from `gradwrap.numpy` can store tracked values."""
    token = begin_differentiating(active)
    try:
        yield
    finally:
        end_differentiating(token)


begin_differentiating: Callable[[bool], Token[bool]] = _differentiating.set
end_differentiating: Callable[[Token[bool]], None] = _differentiating.reset

is_differentiating: Callable[[], bool] = _differentiating.get
"""Tell if this context is inside a function that a transform is differentiating."""
