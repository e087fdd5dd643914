"""Functions whose code is written anew when they are first called.

Few functions of a package run. So a function that needs new code gets a stub, which takes the same
arguments: it asks for the new code, puts it in its own place and calls the function again.
"""

from __future__ import annotations

import functools
import inspect
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from gradwrap.core.observing.pausing import paused
from gradwrap.core.values.dynamic import TUPLE

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable
    from contextlib import AbstractContextManager
    from types import CodeType, FunctionType

lock: AbstractContextManager[bool | None] = threading.RLock()
"""Held while the code of adapted functions is exchanged."""
OBJECT = "the object"
"""What stands for the object in the code of a stub before it is made."""
CALLED = "_gradwrap_called"
"""The variable that a stub has beside its parameters."""
NO_COLUMNS = 0x80 | 13 << 3
"""The kind of an entry in a table of lines that has no columns."""
KINDS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
CALLERS = frozenset({"_getframe", "currentframe", "f_back"})
"""Names in functions that look at their callers, among which a stub would be."""
STACK = frozenset({"inspect", "stack"})
"""Names that do so together."""
_made = 0
_old_codes: WeakKeyDictionary[CodeType, CodeType] = WeakKeyDictionary()
"""By new code: the code that was written by hand."""


class Later:
    """The new code of one function, made when the function is first called."""

    __slots__ = ("_make", "code", "function", "is_as_it_was", "old", "stub")

    def __init__(self, function: FunctionType, make: Callable[[CodeType], CodeType | None]) -> None:
        self.function: FunctionType = function
        self.old: CodeType = function.__code__
        self.code: CodeType | None = None
        """The new code, or a copy of the old one if there is none."""
        self.is_as_it_was: bool = False
        """Whether it is such a copy."""
        self._make = make
        self.stub: CodeType = _stub(self.old, self)

    def __call__(self) -> FunctionType:
        """Put the new code in the place of the stub; return the function."""
        with paused():
            code = self.made()
        with lock:
            if self.function.__code__ is self.stub:  # nobody has undone the adaptation
                self.function.__code__ = code
        return self.function

    def made(self) -> CodeType:
        """Return the new code."""
        return self._kept(self._make(self.old)) if self.code is None else self.code

    def _kept(self, made: CodeType | None) -> CodeType:
        """Keep the code that was made first, whichever threads make it at once."""
        global _made  # noqa: PLW0603  a count for all threads
        with lock:
            if self.code is None:
                self.is_as_it_was = made is None
                self.code = made or self.old.replace()
                note_new_code(self.code, self.old)
                _made += 1
            return self.code

    @property
    def content(self) -> CodeType:
        """The code of the function; the stub stands for what it is exchanged for."""
        code = self.function.__code__
        return self.stub if code is self.code else code

    @content.setter
    def content(self, code: CodeType) -> None:
        with lock:
            self.function.__code__ = self.current(code)

    def current(self, code: CodeType) -> CodeType:
        """Return what stands for code in the function: for the stub, the new code if it is made."""
        return self.code or code if code is self.stub else code


_exchanged: dict[FunctionType, tuple[CodeType, list[CodeType]]] = {}
"""Functions that run with other code for a time: what they had, and what each thread gave them."""


@contextmanager
def exchanged(codes: Iterable[tuple[FunctionType, CodeType]]) -> Generator[None]:
    """Give functions other code for a time; the last of the threads that do gives back theirs."""
    codes = list(codes)
    with lock:
        for function, new in codes:
            _exchanged.setdefault(function, (function.__code__, []))[1].append(new)
            function.__code__ = new
    try:
        yield
    finally:
        with lock:
            for function, new in codes:
                before, given = _exchanged[function]
                del given[next(n for n, one in enumerate(given) if one is new)]
                if function.__code__ is new:
                    function.__code__ = given[-1] if given else before
                if not given:
                    del _exchanged[function]


def may_wait(code: CodeType) -> bool:
    """Tell if the code of a function can be exchanged when it is called."""
    names = code.co_names
    return not code.co_flags & KINDS and CALLERS.isdisjoint(names) and not STACK.issubset(names)


def number_made() -> int:
    """Return how many functions have got their new code since the start."""
    return _made


def new_code_of(function: FunctionType) -> CodeType:
    """Return the code of a function, the new one in place of a stub."""
    later = _later_in(function.__code__)
    return function.__code__ if later is None else later.made()


def note_new_code(new: CodeType, old: CodeType) -> None:
    """Note the code that was written by hand in place of which there is new code."""
    _old_codes[new] = as_written(old)


def as_written(code: CodeType) -> CodeType:
    """Return the code that was written by hand in place of a stub or of new code."""
    return _old_codes.get(code) or written(code)


def written(code: CodeType) -> CodeType:
    """Return the code that was written by hand in place of a stub, and other code as it is."""
    later = _later_in(code)
    return code if later is None else later.old


def _later_in(code: CodeType) -> Later | None:
    return next((one for one in code.co_consts if type(one) is Later), None)


def _stub(code: CodeType, later: Later) -> CodeType:
    """Make code with the parameters of other code that asks for a function and calls it."""
    count = code.co_argcount + code.co_kwonlyargcount
    stars = code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    shape = code.co_posonlyargcount, code.co_argcount, code.co_kwonlyargcount
    template = _template(*shape, stars, code.co_freevars)
    names = (*code.co_varnames[: count + stars.bit_count()], CALLED)
    known = dict(zip(template.co_varnames, names, strict=True))

    def exchanged(constant: Any) -> Any:
        if isinstance(constant, TUPLE):
            return tuple(map(exchanged, constant))
        return later if constant == OBJECT else known.get(constant, constant)

    length = len(template.co_code) // 2
    entries = [min(8, length - start) for start in range(0, length, 8)]
    return template.replace(
        co_varnames=names,
        co_consts=tuple(map(exchanged, template.co_consts)),
        co_name=code.co_name,
        co_qualname=code.co_qualname,
        co_filename=code.co_filename,
        co_firstlineno=code.co_firstlineno,
        co_linetable=b"".join(bytes([NO_COLUMNS | n - 1, 0]) for n in entries),
    )


@functools.cache
def _template(only: int, count: int, named: int, stars: int, free: tuple[str, ...]) -> CodeType:
    """Compile a stub for functions with so many parameters, and these free variables.

    They are set up in its frames, as Python expects.
    """
    places = [f"_{n}" for n in range(count)]
    names = [f"_named{n}" for n in range(named)]
    args = ["*_args"] if stars & inspect.CO_VARARGS else []
    options = ["**_options"] if stars & inspect.CO_VARKEYWORDS else []
    parameters = [*places[:only], *(["/"] if only else []), *places[only:]]
    parameters += args or (["*"] if names else [])
    given = [*places, *args, *(f"{name}={name}" for name in names), *options]
    lines = [
        "def outer():",
        *(f"    {name} = None" for name in free),
        f"    def stub({', '.join([*parameters, *names, *options])}):",
        f"        if 0: ({' '.join(f'{name},' for name in free)})",
        f"        {CALLED} = {OBJECT!r}",
        f"        return {CALLED}()({', '.join(given)})",
        "    return stub",
    ]
    space: dict[str, Any] = {}
    exec(compile("\n".join(lines), "<stub>", "exec"), space)  # noqa: S102  names of variables
    made: CodeType = space["outer"]().__code__
    assert made.co_freevars == free, free
    return made
