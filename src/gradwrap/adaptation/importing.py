"""`import` inside functions of adapted code, which returns stand-ins of modules too.

Such a statement asks `builtins.__import__`, which is exchanged while anything is adapted, and so
are the functions of the standard library that find a module by its name. For other code they are
unchanged.
"""

from __future__ import annotations

import builtins
import functools
import importlib
import pkgutil
from typing import TYPE_CHECKING, Any

from gradwrap.adaptation.stand_ins import stand_in_of
from gradwrap.core.array.adapted import current_frame
from gradwrap.core.observing.callers import MARK
from gradwrap.core.observing.code import STANDARD, package_of
from gradwrap.core.observing.pausing import paused
from gradwrap.core.values.dynamic import attributes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import FrameType

receivers: dict[int, Any] = {}
"""The namespaces that import names from adapted modules, by identity."""
_original: Any = builtins.__import__


def _import(
    name: str,
    globals: Mapping[str, Any] | None = None,
    locals: Mapping[str, Any] | None = None,
    fromlist: Any = (),
    level: int = 0,
) -> Any:
    with paused():
        found = _original(name, globals, locals, fromlist, level)
    if globals is None:
        return found
    if fromlist and MARK in attributes_of(found):  # a stand-in may be among what it gets
        receivers[id(globals)] = globals
    if MARK not in globals:
        return found
    if current_frame(1).f_code.co_name == "<module>":  # of a module that is adapted when it is made
        return found
    stand_in = stand_in_of(found)
    return found if stand_in is None else stand_in


def _by_name(original: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function that returns the stand-in of what it finds, if adapted code asks for it.

    Functions of the standard library, such as `mock.patch`, ask on behalf of the code that called
    them.
    """

    @functools.wraps(original)
    def find(*args: Any, **options: Any) -> Any:
        with paused():
            found = original(*args, **options)
        stand_in = stand_in_of(found) if _is_for_adapted() else None
        return found if stand_in is None else stand_in

    return find


def _is_for_adapted() -> bool:
    frame: FrameType | None = current_frame(2)
    while frame is not None and package_of(str(frame.f_globals.get("__name__"))) in STANDARD:
        frame = frame.f_back
    return frame is not None and MARK in frame.f_globals


_finders: list[tuple[Any, str, Any, Any]] = [
    (module, name, getattr(module, name), _by_name(getattr(module, name)))
    for module, name in ((importlib, "import_module"), (pkgutil, "resolve_name"))
]
"""Functions that find modules by their names: where they are, themselves, and ours."""


def install() -> None:
    """Replace the function behind the `import` statement."""
    global _original  # noqa: PLW0603  what was there, which may be another tool's
    _original = builtins.__import__
    builtins.__import__ = _import
    for module, name, original, ours in _finders:
        if getattr(module, name) is original:
            setattr(module, name, ours)


def restore() -> None:
    """Restore the original `import`, unless another tool has replaced ours."""
    if builtins.__import__ is _import:
        builtins.__import__ = _original
    for module, name, original, ours in _finders:
        if getattr(module, name) is ours:
            setattr(module, name, original)
