"""Recording modes, as PyTorch has them: `no_grad`, `enable_grad`, `set_grad_enabled`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast, overload

from gradwrap.core.levels import (
    RECORD_ALL,
    TAPE_LEVEL,
    current_watch,
    newest_level,
    set_threshold,
    silent_up_to,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

__all__ = ["enable_grad", "is_grad_enabled", "no_grad", "set_grad_enabled"]

F = TypeVar("F", bound=Callable[..., Any])


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
        return RECORD_ALL if self._mode else newest_level()

    def _begin(self) -> None:
        self._outside.append(silent_up_to())
        set_threshold(self._threshold(), current_watch())

    def __enter__(self) -> None:
        self._begin()

    def __exit__(self, *exc_info: object) -> None:
        # not by a token: a generator may be closed in another context than it was started in
        set_threshold(self._outside.pop(), current_watch())

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
