"""Text that a differentiated call has made of tracked values.

What `str` or `repr` gives for a float is exact: a number that is read back from this very text is
the tracked one. From other text, a number has no gradient.
"""

from __future__ import annotations

import re
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.core.levels.levels import is_differentiating, newest_level
from gradwrap.core.levels.modes import is_traced
from gradwrap.core.levels.wrapper import is_batch, layers, native
from gradwrap.core.observing.callers import current_caller
from gradwrap.core.values.dynamic import SEQUENCE, type_of
from gradwrap.errors import TrackedValueError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NUMBER = re.compile(r"(?<![\w.])[-+]?(\d+\.?\d*|\.\d+)(?:e([-+]?\d+))?", re.IGNORECASE)
LEAST = 3
"""The digits of a number from which on it is taken for another one that was rounded to them."""


class Texts:
    """The numbers and texts that were made in a call."""

    def __init__(self, level: int | None = None) -> None:
        self._texts: set[str] = set()
        self._whole: dict[int, tuple[str, Any]] = {}
        """By identity: texts that give a tracked number exactly, which are kept, and the number."""
        self._numbers: list[Any] = []
        self._in_bytes: list[Any] = []
        self._level = level
        """The transform that was the newest; None if the call ends the collection itself."""

    def is_outdated(self) -> bool:
        """Tell if another transform has begun since."""
        return self._level not in (None, newest_level())

    def add(self, variable: Any, text: str = "") -> None:
        """Add a tracked value of which text is made, and the text if it is known.

        A trace has its own way to find text that is read.
        """
        if is_traced():
            return
        if not any(map(is_batch, layers(variable))):
            self._numbers.append(np.ravel(np.asarray(native(variable))))
        if text:
            self._texts.add(text.strip())

    def add_bytes(self, numbers: Any) -> None:
        """Add the numbers of a tracked array whose bytes code has asked for."""
        self._in_bytes.append(np.ravel(numbers))

    def has_in_bytes(self, numbers: Any) -> bool:
        """Tell if one of some numbers, which is not zero, is one whose bytes code has asked for."""
        some = numbers[numbers != 0.0]
        return any(bool(np.any(np.isin(some, one))) for one in self._in_bytes)

    def add_whole(self, text: str, made_of: Any) -> None:
        """Note that a text, as long as it is not altered, gives what it was made of."""
        self._whole[id(text)] = text, made_of

    def made_of(self, text: str) -> Any:
        """Return what a whole text was made of, or None if that is not known."""
        return self._whole.get(id(text), (text, None))[1]

    def found_in(self, text: str) -> str:
        """Return a number in a text that was made of a tracked value, or ""."""
        if not self._numbers:
            return ""
        if text.strip() in self._texts:
            return text.strip()
        return next((one.group() for one in NUMBER.finditer(text) if self._has(one)), "")

    def _has(self, found: re.Match[str]) -> bool:
        """Tell if a number is one of those that were made, but for its last digit."""
        mantissa, exponent = found.groups()
        digits = mantissa.replace(".", "").lstrip("0")
        last = int(exponent or 0) - len(mantissa.partition(".")[2])
        number = float(found.group())
        allowed = 0.500001 * 10.0**last if len(digits) >= LEAST else 0.0
        return any(bool(np.any(np.abs(one - number) <= allowed)) for one in self._numbers)


texts: ContextVar[Texts | None] = ContextVar("gradwrap_texts", default=None)
"""What adapted code has made text of in the running call."""


def texts_of_call() -> Texts:
    """Return what the running call has made text of; code under `adapt` has no call of its own."""
    made = texts.get()
    if made is None or made.is_outdated():
        made = Texts(newest_level())
        texts.set(made)
    return made


def made_of(text: str) -> Any:
    """Return what a text was made of, if it gives that exactly and nothing has altered it, or None.

    The object of the text is what leads back: text that is sliced or joined is another object. Two
    numbers may have equal texts.
    """
    made = texts.get()
    return None if made is None or made.is_outdated() else made.made_of(text)


def refuse_reading(*given: Any) -> None:
    """Refuse to make numbers of text that was made of a tracked value during this call."""
    made = texts.get()
    if made is None or made.is_outdated() or not is_differentiating():
        return
    for text in _texts_in(given):
        found = made.found_in(text)
        caller = current_caller() if found else None
        if found and not (caller is not None and _is_within(text, caller.code.co_consts)):
            place = "" if caller is None else f", {caller}"
            raise TrackedValueError(
                f"{found!r} reads back text that was made of a tracked value{place}: the number "
                "would have no gradient. Fix: keep the number beside the text, or read the whole "
                "text that str(x) gives, as it is, in adapted code; or make the "
                "function that does both one operation with f = gradwrap.primitive(f), and give it "
                "its derivative with gradwrap.defvjp(f, ...), or take it by differences with "
                "gradwrap.numerical(f)."
            )


def refuse_bytes(read: Any, function: str) -> None:
    """Refuse floats that a function has read from bytes which were made of a tracked array."""
    made = texts.get()
    if made is None or made.is_outdated() or not is_differentiating():
        return
    some = [one for one in read if isinstance(one, float)] if type_of(read) in SEQUENCE else read
    numbers = np.asarray(some)
    if numbers.dtype.kind in "fc" and made.has_in_bytes(numbers):
        caller = current_caller()
        place = "" if caller is None else f" {caller}"
        raise TrackedValueError(
            f"{function}{place} reads back the bytes of a tracked array: the numbers would have no "
            "gradient. Fix: keep the array beside its bytes; or take the derivative of the "
            "function by differences, with gradwrap.numerical(f)."
        )


def read(text: str, plainly: Callable[[str], Any]) -> Any:
    """Return the tracked number that a whole text was made of, or what plain code reads."""
    found = made_of(text)
    if found is not None:
        return found
    refuse_reading(text)
    return plainly(text)


def _is_within(text: str, constants: tuple[Any, ...]) -> bool:
    """Tell if a text is one that is written in the code: it may be that of an equal number."""
    return any(
        one is text or (type_of(one) is tuple and _is_within(text, one)) for one in constants
    )


def _texts_in(value: Any) -> Iterator[str]:
    """Yield the texts in nested lists, arrays and files of text."""
    kind = type_of(value)
    if issubclass(kind, str):
        yield value
    elif issubclass(kind, (bytes, bytearray)):
        yield value.decode(errors="replace")
    elif kind in SEQUENCE:
        for part in value:
            yield from _texts_in(part)
    elif kind is np.ndarray and value.dtype.kind in "US":
        yield from map(str, value.flat)
    elif hasattr(value, "getvalue"):
        yield from _texts_in(value.getvalue())
