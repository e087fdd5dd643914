"""Functions that perform operations, and observers that can call them instead.

A function that is registered by `performs` runs unchanged while there is no observer. Inside of
`observing`, its code is exchanged for code that hands each call to the observer of its context; the
function keeps its identity, so wherever it is bound, it is observed.
"""

from __future__ import annotations

import inspect
import threading
import weakref
from contextvars import ContextVar
from functools import cache
from types import FunctionType
from typing import TYPE_CHECKING, Any, Self

from gradwrap.core.values.record import Record

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType
    from typing import Protocol

    class Observer(Protocol):
        """An object that calls the observed functions on behalf of their callers."""

        def __call__(
            self, performer: Performer, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
        ) -> Any:
            """Call the function and return its result."""


class Performer(Record):
    """The description of a function that an observer receives."""

    kind: str
    """"operation", "call" (of a function that brings its own derivative), "pass" (backward),
    "visit" (of a node in it) or "fallback" (of `vmap`)."""
    name_of: Callable[..., str]
    """Gives the name of the operation from the arguments of a call."""


_performers: weakref.WeakKeyDictionary[FunctionType, Performer] = weakref.WeakKeyDictionary()
_codes: weakref.WeakKeyDictionary[FunctionType, tuple[CodeType, CodeType]] = (
    weakref.WeakKeyDictionary()
)
"""The code of each observed function, before and since."""
_current: ContextVar[tuple[Observer, ...]] = ContextVar("gradwrap_observer", default=())
"""The observers of a context, the innermost last. They need not leave in that order."""
_lock = threading.RLock()
_count = 0


def performs(function: Any, kind: str, name: str | Callable[..., str]) -> None:
    """Register a Python function as the performer of the operation that `name` gives."""

    def constant(*_: Any, **__: Any) -> str:
        return str(name)

    performer = Performer(kind, constant if isinstance(name, str) else name)
    with _lock:
        _performers[function] = performer
        if _count:
            _exchange(function, performer)


def name_of_first(first: Any, *_: Any, **__: Any) -> str:
    """Return the name of the first argument, for `performs`."""
    return str(first.name)


class observing:  # noqa: N801  a context manager
    """Let an observer make the calls of this context during a `with` block."""

    def __init__(self, observer: Observer) -> None:
        self._observer = observer

    def __enter__(self) -> Self:
        global _count  # noqa: PLW0603  the functions belong to all threads
        with _lock:
            _count += 1
            if _count == 1:
                for function, performer in list(_performers.items()):
                    _exchange(function, performer)
        _current.set((*_current.get(), self._observer))
        return self

    def __exit__(self, *exc_info: object) -> None:
        global _count  # noqa: PLW0603  likewise
        _current.set(without_last(_current.get(), self._observer))
        with _lock:
            _count -= 1
            if not _count:
                for function, (before, ours) in list(_codes.items()):
                    if function.__code__ is ours:
                        function.__code__ = before
                _codes.clear()


def without_last(values: tuple[Any, ...], value: Any) -> tuple[Any, ...]:
    """Remove the last occurrence of a value from a tuple, if there is one."""
    places = [at for at, one in enumerate(values) if one is value]
    return (*values[: places[-1]], *values[places[-1] + 1 :]) if places else values


def _exchange(function: FunctionType, performer: Performer) -> None:
    own = copy_of(function)
    current = _current.get

    def observed(*args: Any, **kwargs: Any) -> Any:
        observers = current()
        if not observers:
            return own(*args, **kwargs)
        return observers[-1](performer, own, args, kwargs)

    made = calling(observed, function.__code__)
    _codes[function] = function.__code__, made
    function.__code__ = made


def copy_of(function: FunctionType) -> FunctionType:
    """Copy a function with its present code and defaults."""
    copy = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__,
        function.__closure__,
    )  # fmt: skip
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__dict__.update(function.__dict__)
    copy.__doc__ = function.__doc__
    copy.__module__ = function.__module__
    copy.__qualname__ = function.__qualname__
    return copy


def calling(answer: Any, code: CodeType) -> CodeType:
    """Make code that calls `answer`, with the free variables of other code."""
    stub = _stub(code.co_freevars, is_generator=bool(code.co_flags & inspect.CO_GENERATOR))
    constants = tuple(answer if value == "the object" else value for value in stub.co_consts)
    return stub.replace(
        co_consts=constants,
        co_name=code.co_name,
        co_qualname=code.co_qualname,
        co_filename=code.co_filename,
        co_firstlineno=code.co_firstlineno,
    )


@cache
def _stub(free: tuple[str, ...], *, is_generator: bool) -> CodeType:
    """Make code that calls the constant "the object".

    It is compiled as a function that has the free variables, so that Python sets them up in its
    frames, and as a generator function if need be: Python exchanges code of one type alone.
    """
    result = "_called(*_args, **_options)"
    if is_generator:
        result = f"(yield from {result})"
    lines = [
        "def outer():",
        *(f"    {name} = None" for name in free),
        "    def stub(*_args, **_options):",
        f"        if 0: ({' '.join(f'{name},' for name in free)})",
        "        _called = 'the object'",  # a constant, which is exchanged
        f"        return {result}",
        "    return stub",
    ]
    space: dict[str, Any] = {}
    exec("\n".join(lines), space)  # noqa: S102  names of the function's variables
    made: CodeType = space["outer"]().__code__
    assert made.co_freevars == free, free
    return made
