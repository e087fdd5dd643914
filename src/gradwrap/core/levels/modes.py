"""Recording modes, as PyTorch has them: `no_grad`, `enable_grad`, `set_grad_enabled`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast, overload

from gradwrap.core.levels.levels import (
    RECORD_ALL,
    TAPE_LEVEL,
    current_watch,
    newest_level,
    set_threshold,
    silent_up_to,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from contextlib import AbstractContextManager
    from types import CodeType

F = TypeVar("F", bound=Callable[..., Any])
R = TypeVar("R")

new_arrays: ContextVar[Callable[[Any], Any] | None] = ContextVar(
    "gradwrap_new_arrays", default=None
)
"""What a wrapper of a new array is to hold in its place, while a function is traced."""


outer_arrays: ContextVar[Callable[[Any], Any] | None] = ContextVar(
    "gradwrap_outer_arrays", default=None
)
"""What a wrapper of a caller's array is to hold in its place, while a function is traced."""


foreign_calls: ContextVar[Callable[..., Any] | None] = ContextVar(
    "gradwrap_foreign_calls", default=None
)
"""What calls a function of another package while a function is traced."""


equalities: ContextVar[Callable[[Any, Any], None] | None] = ContextVar(
    "gradwrap_equalities", default=None
)
"""What asks in each call of a program if two values are equal, while a function is traced."""


class Ran:
    """What adapted code does while a function is traced."""

    def __init__(self) -> None:
        self.code: dict[CodeType, dict[str, Any]] = {}
        """The code that runs, with its global names."""
        self.asked: set[str] = set()
        """The names of attributes that it asks for by `getattr`."""
        self.opened: dict[int, Any] = {}
        """By identity: the objects whose attributes it gets by `vars`."""
        self.files: set[str] = set()
        """The paths of the files that it opens, also in code that is not adapted."""
        self.looks_for_nan: bool = False
        """Whether a backward pass does other things if NaN arrives, which no operation shows."""


code_that_runs: ContextVar[Ran | None] = ContextVar("gradwrap_code_that_runs", default=None)
"""What adapted code does while a function is traced."""


def note_nan() -> None:
    """Note that adapted code is differentiated, where NaN leads to other passes."""
    ran = code_that_runs.get()
    if ran is not None and ran.code:
        ran.looks_for_nan = True


note_code: list[Callable[[Ran], AbstractContextManager[None]]] = []
"""What notes the code of modules that are adapted before a trace: `adaptation` enters it."""


@contextmanager
def noting_code(ran: Ran) -> Generator[None]:
    """Note what adapted code does."""
    outside = code_that_runs.set(ran)
    try:
        with ExitStack() as notes:
            for note in note_code:
                notes.enter_context(note(ran))
            yield
    finally:
        code_that_runs.reset(outside)


def called(function: Any, name: str, *args: Any, **kwargs: Any) -> Any:
    """Call a function of another package; a trace records it as one operation."""
    call = foreign_calls.get()
    return function(*args, **kwargs) if call is None else call(function, name, args, kwargs)


def is_traced() -> bool:
    """Tell if a function is being traced, to be compiled."""
    return new_arrays.get() is not None


@contextmanager
def untraced() -> Generator[None]:
    """Run code outside of the trace, on values that are no part of it."""
    outside, before = new_arrays.set(None), foreign_calls.set(None)
    around, compared = outer_arrays.set(None), equalities.set(None)
    try:
        yield
    finally:
        equalities.reset(compared)
        outer_arrays.reset(around)
        foreign_calls.reset(before)
        new_arrays.reset(outside)


def entered(array: Any) -> Any:
    """Return a new array that may be written to; a trace returns its stand-in."""
    enter = new_arrays.get()
    return array if enter is None else enter(array)


def represented(array: Any) -> Any:
    """Return an array that the caller can write to; a trace returns its stand-in."""
    enter = outer_arrays.get()
    return array if enter is None else enter(array)


def is_grad_enabled() -> bool:
    """Tell if operations on the tape are recorded in this context.

    Examples
    --------
    >>> import gradwrap as gw
    >>> gw.is_grad_enabled()
    True
    """
    return silent_up_to() < TAPE_LEVEL


def recorded(function: Callable[..., R], *args: Any) -> R:
    """Call a function so that transforms record it, also under `no_grad`.

    A solver calls the user's function without recording. The function may put back a copy of an
    object that holds tracked values, which keep their derivatives so.
    """
    before, watch = silent_up_to(), current_watch()
    set_threshold(min(before, TAPE_LEVEL), watch)
    try:
        return function(*args)
    finally:
        set_threshold(before, watch)


class _Mode:
    """A recording mode: a context manager, and a decorator of functions, generators, coroutines."""

    _mode = False

    def __init__(self, function: Any = None) -> None:
        self._outside: list[int] = []

    def _begin(self) -> None:
        self._outside.append(silent_up_to())
        set_threshold(RECORD_ALL if self._mode else newest_level(), current_watch())

    def __enter__(self) -> None:
        self._begin()

    def __exit__(self, *exc_info: object) -> None:
        # not by a token: a generator may be closed in another context than it was started in
        set_threshold(self._outside.pop(), current_watch())

    def __call__(self, function: F) -> F:
        import inspect  # slow to import, and needed by decorators alone

        mode: Callable[[], _Mode] = enable_grad if self._mode else no_grad
        steps: Callable[..., Any] | None = None
        if inspect.isgeneratorfunction(function):
            steps = _resumed
        elif inspect.isasyncgenfunction(function):
            steps = _awaited

        def called(*args: Any, **kwargs: Any) -> Any:
            if steps is not None:
                return steps(function(*args, **kwargs), mode)
            with mode():
                return function(*args, **kwargs)

        async def awaited(*args: Any, **kwargs: Any) -> Any:
            with mode():
                return await function(*args, **kwargs)

        in_mode: Any = awaited if inspect.iscoroutinefunction(function) else called
        return cast("F", functools.wraps(function)(in_mode))


def _resumed(generator: Any, mode: Callable[[], _Mode]) -> Generator[Any, Any, Any]:
    """Run every step of a generator in a mode, and restore the caller's mode at each yield."""
    resume: Callable[[], Any] = functools.partial(next, generator)
    while True:
        try:
            with mode():
                value = resume()
        except StopIteration as stop:
            return stop.value
        try:
            sent: Any = yield value
        except BaseException as error:  # noqa: BLE001  handed on to the generator, to be closed too
            resume = functools.partial(generator.throw, error)
        else:
            resume = functools.partial(generator.send, sent)


async def _awaited(generator: Any, mode: Callable[[], _Mode]) -> AsyncGenerator[Any, Any]:
    """Do the same for an asynchronous generator."""
    resume: Callable[[], Any] = generator.__anext__
    while True:
        try:
            with mode():
                value = await resume()
        except StopAsyncIteration:
            return
        try:
            sent: Any = yield value
        except BaseException as error:  # noqa: BLE001  handed on to the generator, to be closed too
            resume = functools.partial(generator.athrow, error)
        else:
            resume = functools.partial(generator.asend, sent)


class _Switch(_Mode):
    """A mode that decorates with or without parentheses: `@no_grad` means `@no_grad()`."""

    @overload
    def __new__(cls) -> Self: ...
    @overload
    def __new__(cls, function: F) -> F: ...  # type: ignore[misc]  # applied as a decorator
    def __new__(cls, function: Any = None) -> Any:
        return super().__new__(cls) if function is None else cls()(function)


class no_grad(_Switch):  # noqa: N801  PyTorch's name
    """Switch recording off: a context manager, or a decorator.

    Inside a function under a transform it stops that transform's recording too; a transform
    that starts inside it records.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> x = gw.wrap(np.ones(2), requires_grad=True)
    >>> with gw.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    """


class enable_grad(_Switch):  # noqa: N801  PyTorch's name
    """Switch recording on again inside `no_grad`: a context manager, or a decorator.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> x = gw.wrap(np.ones(2), requires_grad=True)
    >>> with gw.no_grad(), gw.enable_grad():
    ...     y = x * 2
    >>> y.requires_grad
    True
    """

    _mode = True


class set_grad_enabled(_Mode):  # noqa: N801  PyTorch's name
    """Switch recording on or off at once; as a context manager, restore the old state at the end.

    Examples
    --------
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
