"""Stand-ins for functions that make numbers of text, and for `json.dumps`.

Text that gives tracked numbers exactly, and is not altered, is read with their gradients. Other
text of tracked values is refused.
"""

from __future__ import annotations

import importlib
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.adaptation.plain_values import kind_of, standing_in
from gradwrap.core.array.adapted import adapted_caller, current_frame, warn_of_text
from gradwrap.core.array.conversions import known
from gradwrap.core.array.python_floats import PythonFloat, python_float
from gradwrap.core.array.texts import made_of, refuse_bytes, refuse_reading, texts_of_call
from gradwrap.core.levels.levels import is_differentiating
from gradwrap.core.levels.modes import is_traced
from gradwrap.core.levels.wrapper import AnyWrapper
from gradwrap.core.values.dynamic import type_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

READERS: dict[str, tuple[str, ...]] = {
    "ast": ("literal_eval",),
    "json": ("loads", "dumps"),
    "struct": ("unpack", "unpack_from"),
}
"""The functions of the standard library, by module."""
OF_NUMPY = ("fromstring", "genfromtxt", "loadtxt")


def readers_of(module: ModuleType) -> Iterator[tuple[Any, Any]]:
    """Yield the functions of a module that read text, with their stand-ins."""
    for name in READERS[module.__name__]:
        original, path = vars(module)[name], f"{module.__name__}.{name}"
        make = reading_bytes if module.__name__ == "struct" else reading
        yield original, (writing if name == "dumps" else make)(original, path)


def readers_of_numpy() -> Iterator[tuple[Any, Any]]:
    """Yield NumPy's functions that read text, with their stand-ins."""
    for name in OF_NUMPY:
        original = getattr(np, name)
        yield original, reading(original, f"numpy.{name}")
    yield np.frombuffer, reading_bytes(np.frombuffer, "numpy.frombuffer")


def reading(original: Callable[..., Any], path: str) -> Callable[..., Any]:
    """Make the stand-in of a function whose first argument is text, or holds text."""

    @standing_in(original, path)
    def stand_in(*args: Any, **options: Any) -> Any:
        found = made_of(args[0]) if args and type_of(args[0]) is str else None
        if isinstance(found, Written):
            return found.read(original, options)
        if isinstance(found, PythonFloat) and len(args) == 1 and not options:
            return found
        refuse_reading(*args[:1])
        return original(*args, **options)

    return stand_in


def reading_bytes(original: Callable[..., Any], path: str) -> Callable[..., Any]:
    """Make the stand-in of a function that reads numbers from bytes."""

    @standing_in(original, path)
    def stand_in(*args: Any, **options: Any) -> Any:
        found = original(*args, **options)
        refuse_bytes(found, path)
        return found

    return stand_in


class Written:
    """What `json.dumps` wrote: the same text with a whole number in place of each tracked one."""

    def __init__(self, numbers: dict[str, Any]) -> None:
        self.numbers = numbers
        """The tracked numbers, by the digits that stand for them."""
        self.text: str = ""

    def read(self, loads: Callable[..., Any], options: dict[str, Any]) -> Any:
        """Do what `json.loads` does: what reads whole numbers finds the tracked ones."""
        options = {**options}
        of_whole, of_float = options.pop("parse_int", None), options.pop("parse_float", None)

        def parse(digits: str) -> Any:
            number = self.numbers.get(digits)
            if number is None:
                return (of_whole or int)(digits)
            if of_float is None:
                return number
            text = repr(float(known(number)))
            texts_of_call().add_whole(text, number)
            return of_float(text)

        return loads(self.text, parse_int=parse, parse_float=of_float, **options)


def writing(original: Callable[..., Any], path: str) -> Callable[..., Any]:
    """Make the stand-in of `json.dumps`, which notes what the text is made of."""

    @standing_in(original, path)
    def dumps(value: Any, **options: Any) -> str:
        if not is_differentiating() or is_traced():
            text: str = original(value, **options)
            return text
        written = Written({})
        text = original(value, **_with_numbers(options, known))
        written.text = original(value, **_with_numbers(options, partial(_mark, written.numbers)))
        frame = adapted_caller() or current_frame(1)
        for number in written.numbers.values():
            warn_of_text(number, frame, repr(float(known(number))))
        if written.numbers:
            texts_of_call().add_whole(text, written)
        return text

    return dumps


def _mark(numbers: dict[str, Any], number: Any) -> int:
    """Return the whole number that stands for a tracked number, and note it."""
    mark = MARKS + len(numbers)
    numbers[str(mark)] = number
    return mark


MARKS = int.from_bytes(b"a tracked number of gradwrap", "big") << 32
"""Whole numbers from here on stand for tracked ones: no other ones have such a size."""


def _with_numbers(options: dict[str, Any], write: Callable[[Any], Any]) -> dict[str, Any]:
    """Return options of `json.dumps` by which tracked numbers are written as floats are."""

    def taking_numbers(default: Callable[..., Any]) -> Callable[..., Any]:
        def method(*given: Any) -> Any:
            value = given[-1]
            is_number = isinstance(value, AnyWrapper) and issubclass(kind_of(value), float)
            return write(python_float(value)) if is_number else default(*given)

        return method

    kind: Any = options.get("cls") or importlib.import_module("json").JSONEncoder
    cls: Any = type(kind.__name__, (kind,), {"default": taking_numbers(kind.default)})
    default = options.get("default")
    return {**options, "cls": cls, "default": default and taking_numbers(default)}


def evaluated(source: Any, scope: Any = None, names: Any = None, /) -> Any:
    """Do what `eval` does, in the scope of the caller by default."""
    if type_of(source) is str:
        if isinstance(found := made_of(source), PythonFloat):
            return found
        refuse_reading(source)
    if scope is None:
        frame = current_frame(1)
        scope, names = frame.f_globals, frame.f_locals if names is None else names
    return eval(source, scope, names)  # noqa: S307  the code of a package, which calls it
