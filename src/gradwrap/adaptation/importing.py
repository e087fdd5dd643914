"""`import` inside functions of adapted code, which returns stand-ins of modules too.

Such a statement asks `builtins.__import__`, which is exchanged while anything is adapted. For other
code it is unchanged.
"""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

from gradwrap.adaptation.stand_ins import stand_in_of
from gradwrap.core.array.adapted import current_frame
from gradwrap.core.observing.callers import MARK
from gradwrap.core.observing.pausing import paused
from gradwrap.core.values.dynamic import attributes_of

if TYPE_CHECKING:
    from collections.abc import Mapping

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


def install() -> None:
    """Replace the function behind the `import` statement."""
    global _original  # noqa: PLW0603  what was there, which may be another tool's
    _original = builtins.__import__
    builtins.__import__ = _import


def restore() -> None:
    """Restore the original `import`, unless another tool has replaced ours."""
    if builtins.__import__ is _import:
        builtins.__import__ = _original
