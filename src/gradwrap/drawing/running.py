"""Calls of functions, recorded for drawing."""

from __future__ import annotations

from typing import Any

from gradwrap.core.library.backend import is_floating
from gradwrap.core.values.dynamic import class_of
from gradwrap.core.values.tree import flatten
from gradwrap.errors import NotAnArrayError
from gradwrap.transforms.argnums import described
from gradwrap.transforms.recording import Recording


def recorded(fun: Any, args: tuple[Any, ...]) -> tuple[Any, dict[str, Any]]:
    """Call a function on tracked arguments; return its result, and the arguments by name."""
    if not callable(fun):
        raise NotAnArrayError(
            f"draw was given arguments for {class_of(fun)}, which is not a function. "
            "Fix: draw(f, *args) for a function f, draw(y) for a tracked array y."
        )
    places = [place for place, arg in enumerate(args) if _has_floats(arg)]
    if not places:
        raise NotAnArrayError(
            f"draw: no argument of {getattr(fun, '__name__', 'the function')} is an array of "
            "floating-point numbers. Fix: draw(f, *args), with the arguments of one call."
        )
    recording = Recording(fun, places, args, {})
    pairs = zip(places, recording.tracked, strict=True)
    return recording.out, {described(fun, place): tracked.value for place, tracked in pairs}


def _has_floats(arg: Any) -> bool:
    leaves, _ = flatten(arg)
    return any(isinstance(leaf, (float, complex)) or is_floating(leaf) for leaf in leaves)
