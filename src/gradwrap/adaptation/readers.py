"""Stand-ins for functions that make numbers of text: text of tracked values is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.adaptation.plain_values import standing_in
from gradwrap.core.array.adapted import current_frame
from gradwrap.core.array.texts import refuse_reading
from gradwrap.core.values.dynamic import type_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

READERS = {"ast": ("literal_eval",), "json": ("loads",)}
"""The functions of the standard library, by module."""
OF_NUMPY = ("fromstring", "genfromtxt", "loadtxt")


def readers_of(module: ModuleType) -> Iterator[tuple[Any, Any]]:
    """Yield the functions of a module that read text, with their stand-ins."""
    for name in READERS[module.__name__]:
        original = vars(module)[name]
        yield original, reading(original, f"{module.__name__}.{name}")


def readers_of_numpy() -> Iterator[tuple[Any, Any]]:
    """Yield NumPy's functions that read text, with their stand-ins."""
    for name in OF_NUMPY:
        original = getattr(np, name)
        yield original, reading(original, f"numpy.{name}")


def reading(original: Callable[..., Any], path: str) -> Callable[..., Any]:
    """Make the stand-in of a function whose first argument is text, or holds text."""

    @standing_in(original, path)
    def stand_in(*args: Any, **options: Any) -> Any:
        refuse_reading(*args[:1])
        return original(*args, **options)

    return stand_in


def evaluated(source: Any, scope: Any = None, names: Any = None, /) -> Any:
    """Do what `eval` does, in the scope of the caller by default."""
    if type_of(source) is str:
        refuse_reading(source)
    if scope is None:
        frame = current_frame(1)
        scope, names = frame.f_globals, frame.f_locals if names is None else names
    return eval(source, scope, names)  # noqa: S307  the code of a package, which calls it
