"""The paths that a run takes through the user's code, step by step of its bytecode.

A branch that only a late turn takes may have no effect on one comparison: a recurrence that
converges forgets it. So the run at full size must take no step that the short runs do not take.
To follow each step takes long. Code whose branches have all been seen is not followed again.
"""

from __future__ import annotations

import dis
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator
    from types import CodeType, FrameType

    Step = tuple[CodeType, int, int]
    """A piece of code, and two of its places that followed each other."""


def covered(steps: set[Step]) -> set[CodeType]:
    """Return the code of which each further step would be among these: it took all its branches.

    Code that handles exceptions is left out.
    """
    after: dict[tuple[CodeType, int], set[int]] = {}
    for code, last, now in steps:
        after.setdefault((code, last), set()).add(now)
    return {
        code
        for code in {code for code, _, _ in steps}
        if not code.co_exceptiontable
        and all(
            len(after[code, one.offset]) > 1
            for one in dis.get_instructions(code)
            if one.opcode in JUMPS and (code, one.offset) in after
        )
    }


JUMPS = {
    number
    for number in (*dis.hasjrel, *dis.hasjabs)
    if not dis.opname[number].startswith("JUMP_") or "_IF_" in dis.opname[number]
}
"""The bytecode instructions that go on at one of two places."""


@contextmanager
def paths(
    is_users: Callable[[str], bool], known: Collection[CodeType] = ()
) -> Generator[set[Step]]:
    """Collect the steps of all code in the user's modules that runs in this thread.

    The steps of `known` code are left out.
    """
    found: set[Step] = set()
    modules: dict[str, bool] = {}

    def enter(frame: FrameType, _event: str, _: Any) -> Callable[..., Any] | None:
        module: str = frame.f_globals.get("__name__") or ""
        if module not in modules:
            modules[module] = is_users(module)
        if not modules[module] or frame.f_code in known:
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
