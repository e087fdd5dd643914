"""Arrays that operations save, and that their owners may write to before backward.

A formula must find the values that its operation had. So a library's `kept` copies the arrays that
it saves, or returns them `Guarded`: shared with the owner, and compared in backward with their
`Content` at the time of saving.
"""

from __future__ import annotations

import linecache
import os
import sys
import weakref
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any

from gradwrap.core.values.dynamic import SEQUENCE, is_immutable
from gradwrap.core.values.space import dtype_and_shape
from gradwrap.errors import BufferChangedError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from types import CodeType, FrameType

    Notes = list[tuple[int, Any]]

    Stack = tuple[tuple[CodeType, int], ...]

PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))  # noqa: PTH120  pathlib is slow to import
GENERATED = "<gradwrap: "
OURS = (PACKAGE, GENERATED)
"""The beginnings of the file names of gradwrap's own code."""


class Content:
    """A record of an array's present content, to be compared with its later content.

    `read` gives a value that tells one content from another.
    """

    __slots__ = ("__weakref__", "_read", "_seen_by", "_then", "array")

    def __init__(self, array: Any, read: Callable[[Any], Any]) -> None:
        self.array: Any = array
        self._read = read
        self._then = read(array)
        self._seen_by: int | None = None

    def is_unchanged(self) -> bool:
        """Tell if the array still has this content."""
        return bool(self._read(self.array) == self._then)

    def is_unchanged_for(self, reader: int) -> bool:
        """Tell if the content is unchanged; compare only once in each backward pass."""
        if self._seen_by != reader:
            if not self.is_unchanged():
                return False
            self._seen_by = reader
        return True


class Guarded:
    """A saved array that must keep its content until backward, and the line that used it."""

    __slots__ = ("_content", "_place", "array")

    def __init__(self, array: Any, content: Content, place: Stack) -> None:
        self.array: Any = array
        self._content = content
        self._place = place

    def held_arrays(self) -> list[Any]:
        """Return the array, without the copy of its content."""
        return [self.array]

    def wrapped(self, wrapper: Any) -> Guarded:
        """Return a wrapper of the array, guarded in the same way."""
        return Guarded(wrapper, self._content, self._place)

    def checked(self, op: str, reader: int) -> Any:
        """Return the array, or raise if it has been written to."""
        if not self._content.is_unchanged_for(reader):
            raise BufferChangedError(
                f"An array that {op} saved for backward, {dtype_and_shape(self.array)}, was "
                "overwritten after that, so the gradient would be wrong. Fix: write to a copy of "
                "it, or after backward. k = k * 2 makes a new array, where k *= 2 overwrites the "
                "old one.\n"
                f"{op} was recorded here (most recent call last):\n{shown(self._place).rstrip()}"
            )
        return self.array


def holds_guarded(value: Any) -> bool:
    """Tell if nested sequences contain a guarded array."""
    if is_immutable(value):
        return False
    return type(value) is Guarded or (
        isinstance(value, SEQUENCE) and any(map(holds_guarded, value))
    )


_notes: ContextVar[Notes | None] = ContextVar("gradwrap_notes", default=None)

notes_wanted: Callable[[], Notes | None] = _notes.get
"""The list in which the contents of the arrays that operations keep are to be noted."""


@contextmanager
def noting() -> Generator[Notes]:
    """Note the contents of the arrays that operations save, and the level of each."""
    notes: Notes = []
    token = _notes.set(notes)
    try:
        yield notes
    finally:
        _notes.reset(token)


originals: dict[int, tuple[weakref.ref[Any], int]] = {}
"""For drawings: what the last saved copies are copies of, by identity."""

MOST = 1 << 14


def copied(copy: Any, array: Any) -> Any:
    """Remember the original of a saved copy."""
    if len(originals) >= MOST:
        originals.clear()
    try:
        originals[id(copy)] = weakref.ref(copy), id(array)
    except TypeError:  # an array that cannot be referred to weakly
        return copy
    return copy


def original(array: Any) -> int:
    """Return the identity of the array from which a saved copy was made, or its own."""
    known = originals.get(id(array))
    return known[1] if known is not None and known[0]() is array else id(array)


# Arrays that wrappers share with the caller -------------------------------------------------------

shared: dict[int, weakref.ref[Any]] = {}
"""The buffers that `wrap` was given, or that were handed out, by their identity."""

exposed: dict[int, weakref.ref[Any]] = {}
"""Those of them that were handed out: results of operations, which may not be views."""


def share(array: Any, *, result: bool = False) -> None:
    """Remember that the caller can write to an array, which is an argument or a result."""
    buffer = buffer_of(array)
    for entries in (shared, exposed) if result else (shared,):
        try:
            entries[id(buffer)] = weakref.ref(buffer, partial(_forget, entries, id(buffer)))
        except TypeError:  # a number, which cannot be written to
            return


def _forget(entries: dict[int, weakref.ref[Any]], key: int, dead: weakref.ref[Any]) -> None:
    if entries.get(key) is dead:
        del entries[key]


def buffer_of(array: Any) -> Any:
    """Return the array whose memory an array is a view of."""
    while True:
        base = getattr(array, "base", None)
        if type(base) is not type(array):
            return array
        array = base


# Places in code -----------------------------------------------------------------------------------


def callers() -> Iterator[tuple[CodeType, int]]:
    """Yield the code and line of each caller outside gradwrap, innermost first."""
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]  # documented, private by its name alone
    while frame is not None:
        code = frame.f_code
        if not code.co_filename.startswith(OURS):
            yield code, frame.f_lineno
        frame = frame.f_back


def calling_line() -> Stack:
    """Return the first of `callers`: the line outside gradwrap that called it."""
    frame: FrameType | None = sys._getframe(2)  # pyright: ignore[reportPrivateUsage]  # documented, private by its name alone
    while frame is not None:
        code = frame.f_code
        if not code.co_filename.startswith(OURS):
            return ((code, frame.f_lineno),)
        frame = frame.f_back
    return ()


def shown(place: Stack) -> str:
    """Format the lines of code of a place as a traceback does."""
    return "".join(
        f'  File "{code.co_filename}", line {line}, in {code.co_name}\n'
        f"    {linecache.getline(code.co_filename, line).strip()}\n"
        for code, line in place
    )
