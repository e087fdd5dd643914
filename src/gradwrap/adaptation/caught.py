"""Errors that code catches although tracked values have caused them.

`memoryview(x)` of a tracked `x` raises a `TypeError`, for it takes arrays of bytes alone. If the
code catches that and goes on without the gradient, the result is another one than for plain values.
So a handler begins with `note()`, which notes the error as gradwrap's own refusals are noted.
"""

from __future__ import annotations

import ast
import re
import sys
from opcode import opmap
from typing import TYPE_CHECKING, Any

from gradwrap.adaptation.plain_values import Holder
from gradwrap.adaptation.steps import kinds_of
from gradwrap.core.levels.levels import is_differentiating
from gradwrap.core.levels.wrapper import AnyWrapper, is_recorded
from gradwrap.core.observing.callers import MARK, caller_of, refused
from gradwrap.core.observing.code import package_of
from gradwrap.errors import GradwrapError, TrackedValueError

if TYPE_CHECKING:
    from types import CodeType

NOTE = "__gradwrap_note__"
BROAD = frozenset({"TypeError", "ValueError", "Exception", "BaseException"})
"""The errors that C code raises for values of another type, and what catches these."""
WORD, OWN = re.compile(r"\w+"), "gradwrap"
POP_EXCEPT, CHECK_EXC_MATCH = opmap["POP_EXCEPT"], opmap["CHECK_EXC_MATCH"]


def note() -> None:
    """Note the error that is being handled, if tracked values have caused it."""
    error = sys.exception()
    if not is_differentiating() or isinstance(error, (GradwrapError, type(None))):
        return
    if _names(Holder, AnyWrapper).isdisjoint(WORD.findall(str(error))) and not _met_tracked(error):
        return
    caller = caller_of(error)
    words = f"{type(error).__name__}: {str(error).rstrip('.')}. Code that takes plain values alone "
    refused(
        caller,
        TrackedValueError(
            f"{words}was given tracked ones{'' if caller is None else f' {caller}'}. Fix: "
            'gradwrap.adapting(f, compiled="numerical") takes the derivative by differences; or '
            "make the function that does it one operation with f = gradwrap.primitive(f), and give "
            "it its derivative with gradwrap.defvjp(f, ...)."
        ),
    )


def _names(*kinds: type[Any]) -> set[str]:
    """Return the names of classes, and of those that are derived from them."""
    return {one.__name__ for one in kinds}.union(*(_names(*one.__subclasses__()) for one in kinds))


def _met_tracked(error: BaseException) -> bool:
    """Tell if code that is not adapted raised an error, and held tracked values."""
    traceback: Any = error.__traceback__
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    frame = traceback.tb_frame
    is_known = MARK in frame.f_globals or package_of(frame.f_globals.get("__name__", "")) == OWN
    return not is_known and any(
        isinstance(one, AnyWrapper) and is_recorded(one) for one in frame.f_locals.values()
    )


def may_catch(code: CodeType) -> bool:
    """Tell if a function may catch errors of C code."""
    if not code.co_exceptiontable:
        return False
    kinds = kinds_of(code)
    is_bare = POP_EXCEPT in kinds and CHECK_EXC_MATCH not in kinds
    return is_bare or not BROAD.isdisjoint(code.co_names)


def rewrite(handler: ast.ExceptHandler) -> None:
    """Let a handler begin with the note, if it may catch errors of C code."""
    kind = handler.type
    names = {getattr(one, "id", "") for one in (ast.walk(kind) if kind else ())}
    if kind is None or not BROAD.isdisjoint(names):
        called = ast.Expr(ast.Call(ast.Constant(NOTE), [], []))
        at = handler.body[0]
        handler.body.insert(0, ast.fix_missing_locations(ast.copy_location(called, at)))


NAMES: dict[str, Any] = {NOTE: note}
"""The function that the new code calls, as in `storing`."""
