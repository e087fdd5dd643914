"""The paths that a run takes through the user's code, step by step of its bytecode.

A branch that only a late turn takes may have no effect on one comparison: a recurrence that
converges forgets it. So the run at full size must take no step that the short runs do not take.
To follow each step takes long. Code whose branches have all been seen is not followed again, and a
run is not followed at all where no other code can run.
"""

from __future__ import annotations

import dis
import functools
import sys
from _thread import get_ident
from contextlib import contextmanager
from itertools import count
from types import CellType, CodeType, FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.ir.program import NDARRAY
from gradwrap.core.graph.backward import backward_pass
from gradwrap.core.graph.thorough import thorough_pass
from gradwrap.core.observing.code import named_module
from gradwrap.core.values.dynamic import LIST, TUPLE, type_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterable
    from types import FrameType

    IsUsers = Callable[[str], bool]
    Step = tuple[CodeType, int, int]
    """A piece of code, and two of its places that followed each other."""


def covered(steps: set[Step]) -> set[CodeType]:
    """Return the code objects that have taken all their branches in these steps.

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


def can_run_other(
    objects: Iterable[Any], steps: set[Step], known: Collection[CodeType], is_users: IsUsers
) -> bool:
    """Tell if code of the user's may run that is not known, given all objects that it can reach.

    `steps` are those of the runs so far. Objects that may lead to functions unseen count, and so
    do the user's classes, whose methods run without being named.
    """
    waiting = {code for code, _, _ in steps}
    for one in objects:
        kind = type_of(one)
        if kind is FUNCTION:
            if is_users(str(one.__globals__.get("__name__") or "")):
                waiting.add(one.__code__)
        elif kind is TUPLE or kind is LIST:
            if any(isinstance(part, np.ufunc) for part in one):  # it may call a function
                return True
        elif kind is NDARRAY:
            if one.dtype.hasobject:
                return True
        elif kind not in (CellType, functools.partial) and not _is_ours(kind):
            return True
    while waiting:
        code = waiting.pop()
        if code not in known:
            return True
        waiting.update(part for part in code.co_consts if type_of(part) is CODE)
    return False


def _is_ours(kind: type[Any]) -> bool:
    return named_module(kind).startswith("gradwrap.")


FUNCTION: type[Any] = FunctionType
CODE: type[Any] = CodeType
JUMPS = {
    number
    for number in (*dis.hasjrel, *dis.hasjabs)
    if not dis.opname[number].startswith("JUMP_") or "_IF_" in dis.opname[number]
}
"""The bytecode instructions that go on at one of two places."""


@contextmanager
def paths(
    is_users: IsUsers,
    known: Collection[CodeType] = (),
    count: Callable[[], None] | None = None,
) -> Generator[set[Step]]:
    """Collect the steps of all code in the user's modules that runs in this thread.

    The steps of `known` code are left out, and `count` is called at each of the others. From Python
    3.12 on, the steps are those at branches, starts of functions and handlers of exceptions.
    """
    found: set[Step] = set()
    modules: dict[str, bool] = {}
    left_out = {id(code) for code in known}  # the hash of code itself takes long

    def follows(frame: FrameType) -> bool:
        if id(frame.f_code) in left_out:
            return False
        module: str = frame.f_globals.get("__name__") or ""
        if module not in modules:
            modules[module] = is_users(module)
        if modules[module] and _is_in_backward_pass(frame):
            found.add((frame.f_code, BACKWARD, 0))
        return modules[module]

    following = _monitoring if sys.version_info >= (3, 12) else _tracing
    with following(found, follows, count):
        yield found


@contextmanager
def _tracing(
    found: set[Step], follows: Callable[[FrameType], bool], count: Callable[[], None] | None
) -> Generator[None]:
    """Collect steps by a trace function, which is called for each instruction."""
    others: dict[int, CodeType] = {}  # by identity: the hash of code itself takes long
    pairs: dict[int, tuple[CodeType, set[tuple[int, int]]]] = {}

    def enter(frame: FrameType, _event: str, _: Any) -> Callable[..., Any] | None:
        code = frame.f_code
        if id(code) in others:
            return None
        if not follows(frame):
            others[id(code)] = code
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        last, add = -1, pairs.setdefault(id(code), (code, set()))[1].add

        def follow(frame: FrameType, event: str, _: Any) -> Any:
            nonlocal last
            if event == "opcode":
                now = frame.f_lasti
                add((last, now))
                last = now
                if count is not None:
                    count()
            return follow

        return follow

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        yield
    finally:
        sys.settrace(before)
        found.update((code, *pair) for code, both in pairs.values() for pair in both)


@contextmanager
def _monitoring(
    found: set[Step], follows: Callable[[FrameType], bool], count: Callable[[], None] | None
) -> Generator[None]:
    """Collect steps by `sys.monitoring`.

    A trace function misses the first run of a function: Python 3.13 and later ask for its
    instructions when it is entered, and call the trace function from the next run on.
    """
    monitoring: Any = vars(sys)["monitoring"]
    events = monitoring.events
    names = BRANCHES if hasattr(events, BRANCHES[0]) else ("BRANCH",)  # until Python 3.13
    branches = [getattr(events, name) for name in names]
    tool = _free_tool()
    if tool is None:  # what runs is not known, so it is among no steps seen so far
        found.add((_monitoring.__code__, -3, next(NUMBERS)))
        yield
        return
    thread = get_ident()
    followed: set[CodeType] = set()

    def start(code: CodeType, offset: int) -> None:
        if get_ident() == thread and follows(sys._getframe(1)):  # pyright: ignore[reportPrivateUsage]  # documented, private by its name alone
            found.add((code, -1, offset))
            if count is not None:
                count()
            if code not in followed:
                followed.add(code)
                monitoring.set_local_events(tool, code, sum(branches))

    def branch(code: CodeType, offset: int, to: int) -> None:
        if get_ident() == thread:
            found.add((code, offset, to))
            if count is not None:
                count()

    def handled(code: CodeType, offset: int, _: BaseException) -> None:
        if get_ident() == thread and code in followed:
            found.add((code, -2, offset))

    monitoring.use_tool_id(tool, "gradwrap")
    callbacks = {events.PY_START: start, events.EXCEPTION_HANDLED: handled}
    callbacks |= dict.fromkeys(branches, branch)
    try:
        for event, callback in callbacks.items():
            monitoring.register_callback(tool, event, callback)
        monitoring.set_events(tool, events.PY_START | events.EXCEPTION_HANDLED)
        yield
    finally:
        monitoring.set_events(tool, 0)
        for code in followed:
            monitoring.set_local_events(tool, code, 0)
        for event in callbacks:
            monitoring.register_callback(tool, event, None)
        monitoring.free_tool_id(tool)


def _free_tool() -> int | None:
    """Return a number of `sys.monitoring` that no other tool uses."""
    monitoring: Any = vars(sys)["monitoring"]
    return next((one for one in TOOLS if monitoring.get_tool(one) is None), None)


def can_follow() -> bool:
    """Tell if paths can be collected; debuggers, profilers and others may use all tools."""
    return sys.version_info < (3, 12) or _free_tool() is not None


def _is_in_backward_pass(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code is backward_pass.__code__ or frame.f_code is thorough_pass.__code__:
            return True
        frame = frame.f_back
    return False


def has_backward_code(steps: Iterable[Step]) -> bool:
    """Tell if code of the user's, such as a rule, ran in a backward pass."""
    return any(last == BACKWARD for _, last, _ in steps)


BACKWARD = -4
"""The place before code that runs in a backward pass."""
SLOWS_ALL = sys.version_info < (3, 12)
"""Whether code of libraries takes several times as long while steps are followed."""
NUMBERS = count()
BRANCHES = ("BRANCH_LEFT", "BRANCH_RIGHT")
TOOLS = (3, 4, 2, 1, 0, 5)
"""The numbers of tools, those first that Python gives to no kind of tool."""
