"""The paths that a run takes through the user's code, step by step of its bytecode.

A branch that only a late turn takes may have no effect on one comparison: a recurrence that
converges forgets it. So the run at full size must take no step that the short runs do not take.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from types import CodeType, FrameType

    Step = tuple[CodeType, int, int]
    """A piece of code, and two of its places that followed each other."""


@contextmanager
def paths(is_users: Callable[[str], bool]) -> Generator[set[Step]]:
    """Collect the steps of all code in the user's modules that runs in this thread."""
    found: set[Step] = set()
    known: dict[str, bool] = {}

    def enter(frame: FrameType, _event: str, _: Any) -> Callable[..., Any] | None:
        module: str = frame.f_globals.get("__name__") or ""
        if module not in known:
            known[module] = is_users(module)
        if not known[module]:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        code, last = frame.f_code, -1

        def follow(frame: FrameType, event: str, _: Any) -> Any:
            nonlocal last
            if event == "opcode":
                found.add((code, last, frame.f_lasti))
                last = frame.f_lasti
            return follow

        return follow

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        yield found
    finally:
        sys.settrace(before)
