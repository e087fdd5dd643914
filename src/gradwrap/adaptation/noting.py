"""The code of adapted modules that runs while a function is traced, to be compiled.

Under `adapting`, the function that searches for modules notes their code, too. Under `adapt` and
`adapted`, nobody searches; so a trace asks for a profile hook.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any

from gradwrap.adaptation.modules import adapted_modules
from gradwrap.core.observing.callers import MARK
from gradwrap.core.observing.code import package_of
from gradwrap.core.observing.pausing import PAUSES
from gradwrap.core.values.dynamic import attribute_or_none
from gradwrap.errors import CompileError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from types import FrameType

    from gradwrap.core.levels.modes import Ran

    Hook = Callable[[FrameType, str, Any], None]

OURS = "__gradwrap_notes__"
"""The attribute of a profile function that notes code for a trace."""


@contextmanager
def profiled(hook: Hook) -> Generator[None]:
    """Let a function watch the calls of this thread, but for those that import a module."""
    before = sys.getprofile()
    setattr(hook, PAUSES, True)
    sys.setprofile(hook)
    try:
        yield
    finally:
        if sys.getprofile() is hook:  # and not a profiler that the function has started
            sys.setprofile(before)


def other_profiler(*, is_traced: bool) -> Any:
    """Return a profile function that is at work and not ours; a trace cannot do beside it."""
    before = sys.getprofile()
    if before is None or attribute_or_none(before, OURS):
        return None
    if is_traced and not attribute_or_none(before, PAUSES):
        raise CompileError("a profiler is at work. Fix: compile before it is started")
    return before


def note(ran: Ran, frame: FrameType) -> None:
    """Note the code of a frame if it is adapted, and none of gradwrap's own.

    Modules among its arguments are noted, too, if it reads the `__dict__` of an object.
    """
    namespace, code = frame.f_globals, frame.f_code
    if MARK not in namespace or package_of(str(namespace.get("__name__"))) == "gradwrap":
        return
    ran.code[code] = namespace
    if "__dict__" in code.co_names:
        values = frame.f_locals.values()
        ran.opened.update((id(one), one) for one in values if isinstance(one, ModuleType))


@contextmanager
def noting(ran: Ran) -> Generator[None]:
    """Note the code of modules that are adapted already, as it runs."""
    if not adapted_modules() or other_profiler(is_traced=True) is not None:
        yield
        return

    def enter(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            note(ran, frame)

    setattr(enter, OURS, True)
    with profiled(enter):
        yield
