"""Levels and recording modes.

Every transform takes a fresh level from one increasing counter, so that a transform started
inside another one always has the higher level, in whatever thread it runs. Nothing has to be
reset when it ends or raises. The imperative tape is level 0.

A mode is a threshold: levels up to it are not recorded. `no_grad` sets it to the newest level,
so a transform started inside `no_grad` still records, as in `torch.func`. It is kept in a
context variable: each thread and each asyncio task has its own.

What is recorded can be watched, for example by `saved_tensors_hooks`. A compiled call has no time
to ask for that. So while a watch is on, the threshold that compiled calls compare with is above
every level (`Watched`): they take their exit for what is not recorded, and ask there.
"""

from __future__ import annotations

import functools
import itertools
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast, overload

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from gradwrap.core.watching import Watch

__all__ = [
    "TAPE_LEVEL",
    "compiled_threshold",
    "current_watch",
    "differentiating",
    "enable_grad",
    "is_differentiating",
    "is_grad_enabled",
    "new_level",
    "next_sequence_number",
    "no_grad",
    "recording_from",
    "set_grad_enabled",
    "silent_up_to",
    "unwatched",
    "watch_with",
]

TAPE_LEVEL = 0
_RECORD_ALL = -1

_levels = itertools.count(1)
_levels_lock = threading.Lock()
_newest_level = TAPE_LEVEL

_silent_up_to: ContextVar[int] = ContextVar("gradwrap_silent_up_to", default=_RECORD_ALL)
_differentiating: ContextVar[bool] = ContextVar("gradwrap_differentiating", default=False)

compiled_threshold: Callable[[], Any] = _silent_up_to.get
"""What compiled calls compare a level with: the threshold, or a `Watched` above all levels."""


def falling_numbers() -> Callable[[], int]:
    """Numbers no two of which are equal, whatever thread takes them."""
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

F = TypeVar("F", bound=Callable[..., Any])


class Watched(int):
    """Above every level, with the threshold that it stands in front of, and who watches."""

    threshold: int
    watch: Watch


def silent_up_to() -> int:
    """The threshold of this context: an operation of a level up to it is not recorded."""
    threshold = _silent_up_to.get()
    return threshold.threshold if isinstance(threshold, Watched) else threshold


def current_watch() -> Watch | None:
    """Who watches what is recorded in this context."""
    threshold = _silent_up_to.get()
    return threshold.watch if isinstance(threshold, Watched) else None


def watch_with(watch: Watch | None) -> None:
    """Let this context's recordings be watched from now on, or by nobody; keep the threshold."""
    _set(silent_up_to(), watch)


def _set(threshold: int, watch: Watch | None) -> None:
    if watch is None:
        _silent_up_to.set(threshold)
        return
    watched = Watched(sys.maxsize)
    watched.threshold, watched.watch = threshold, watch
    _silent_up_to.set(watched)


@contextmanager
def unwatched() -> Generator[None, None, None]:
    """Neither record at the levels there are nor watch: what a watcher itself does."""
    token = _silent_up_to.set(_newest_level)
    try:
        yield
    finally:
        _silent_up_to.reset(token)


def new_level() -> int:
    """Take the level of a transform that starts now."""
    global _newest_level  # noqa: PLW0603  the counter is the one thing all threads share
    with _levels_lock:
        _newest_level = next(_levels)
        return _newest_level


def is_grad_enabled() -> bool:
    """Whether operations on the tape are recorded in this context.

    >>> import gradwrap as gw
    >>> gw.is_grad_enabled()
    True
    """
    return silent_up_to() < TAPE_LEVEL


class _Mode:
    """A recording mode: a context manager, and a decorator of functions, generators, coroutines."""

    _mode = False

    def __init__(self, function: Any = None) -> None:
        self._outside: list[int] = []

    def _threshold(self) -> int:
        return _RECORD_ALL if self._mode else _newest_level

    def _begin(self) -> None:
        self._outside.append(silent_up_to())
        _set(self._threshold(), current_watch())

    def __enter__(self) -> None:
        self._begin()

    def __exit__(self, *exc_info: object) -> None:
        # not by a token: a generator may be closed in another context than it was started in
        _set(self._outside.pop(), current_watch())

    def __call__(self, function: F) -> F:
        import inspect  # slow to import, and needed by decorators alone

        mode = self._mode
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def in_mode_async(*args: Any, **kwargs: Any) -> Any:
                with _mode(mode):
                    return await function(*args, **kwargs)

            return cast("F", in_mode_async)
        if inspect.isgeneratorfunction(function):

            @functools.wraps(function)
            def in_mode_generator(*args: Any, **kwargs: Any) -> Any:
                return _resumed_in_mode(function(*args, **kwargs), mode)

            return cast("F", in_mode_generator)
        if inspect.isasyncgenfunction(function):

            @functools.wraps(function)
            def in_mode_async_generator(*args: Any, **kwargs: Any) -> Any:
                return _awaited_in_mode(function(*args, **kwargs), mode)

            return cast("F", in_mode_async_generator)

        @functools.wraps(function)
        def in_mode(*args: Any, **kwargs: Any) -> Any:
            with _mode(mode):
                return function(*args, **kwargs)

        return cast("F", in_mode)


def _mode(mode: bool) -> _Mode:
    switch: _Mode = enable_grad() if mode else no_grad()
    return switch


def _resumed_in_mode(generator: Any, mode: bool) -> Generator[Any, Any, Any]:
    """Run every step of `generator` in a mode, and give the caller's mode back at each yield."""
    resume: Callable[[], Any] = functools.partial(next, generator)
    while True:
        try:
            with _mode(mode):
                value = resume()
        except StopIteration as stop:
            return stop.value
        try:
            sent: Any = yield value
        except GeneratorExit:
            with _mode(mode):
                generator.close()
            raise
        except BaseException as error:  # noqa: BLE001  handed on to the generator
            resume = functools.partial(generator.throw, error)
        else:
            resume = functools.partial(generator.send, sent)


async def _awaited_in_mode(generator: Any, mode: bool) -> AsyncGenerator[Any, Any]:
    """The same for an asynchronous generator."""
    resume: Callable[[], Any] = generator.__anext__
    while True:
        try:
            with _mode(mode):
                value = await resume()
        except StopAsyncIteration:
            return
        try:
            sent: Any = yield value
        except GeneratorExit:
            with _mode(mode):
                await generator.aclose()
            raise
        except BaseException as error:  # noqa: BLE001  handed on to the generator
            resume = functools.partial(generator.athrow, error)
        else:
            resume = functools.partial(generator.asend, sent)


class no_grad(_Mode):  # noqa: N801  PyTorch's name
    """Switch recording off: a context manager, or a decorator.

    Inside a function under a transform it stops that transform's recording too; a transform
    that starts inside it records.

    >>> import numpy as np, gradwrap as gw
    >>> x = gw.wrap(np.ones(2), requires_grad=True)
    >>> with gw.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    """

    @overload
    def __new__(cls) -> Self: ...
    @overload
    def __new__(cls, function: F) -> F: ...  # type: ignore[misc]  # applied as a decorator
    def __new__(cls, function: Any = None) -> Any:
        """`@no_grad` does as well as `@no_grad()`."""
        return super().__new__(cls) if function is None else cls()(function)


class enable_grad(_Mode):  # noqa: N801  PyTorch's name
    """Switch recording on again inside `no_grad`: a context manager, or a decorator.

    >>> import numpy as np, gradwrap as gw
    >>> x = gw.wrap(np.ones(2), requires_grad=True)
    >>> with gw.no_grad(), gw.enable_grad():
    ...     y = x * 2
    >>> y.requires_grad
    True
    """

    _mode = True

    @overload
    def __new__(cls) -> Self: ...
    @overload
    def __new__(cls, function: F) -> F: ...  # type: ignore[misc]  # applied as a decorator
    def __new__(cls, function: Any = None) -> Any:
        """`@enable_grad` does as well as `@enable_grad()`."""
        return super().__new__(cls) if function is None else cls()(function)


class set_grad_enabled(_Mode):  # noqa: N801  PyTorch's name
    """Switch recording on or off at once, and back when used as a context manager.

    >>> import gradwrap as gw
    >>> with gw.set_grad_enabled(False):
    ...     gw.is_grad_enabled()
    False
    """

    def __init__(self, mode: bool) -> None:
        super().__init__()
        self._mode = mode
        self._begin()

    def __enter__(self) -> None:
        """Take effect already at construction; `__exit__` restores."""

    def __call__(self, function: F) -> F:
        self.__exit__()
        return super().__call__(function)


@contextmanager
def recording_from(level: int) -> Generator[None, None, None]:
    """Record a level and those above it; leave those below as they are."""
    outside = silent_up_to()
    _set(min(outside, level - 1), current_watch())
    try:
        yield
    finally:
        _set(outside, current_watch())


@contextmanager
def differentiating() -> Generator[None, None, None]:
    """Mark that a transform runs, so that `gradwrap.numpy` makes arrays that can be filled."""
    token = _differentiating.set(True)
    try:
        yield
    finally:
        _differentiating.reset(token)


def is_differentiating() -> bool:
    """Whether this context is inside a function that a transform is differentiating."""
    return _differentiating.get()
