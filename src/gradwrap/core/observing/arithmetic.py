"""Warnings of arithmetic in gradwrap's code, told with the operation and the user's line.

A library that can pass its warnings on, such as NumPy, enters a `Listening` into `PLACE`. Backward
passes and transforms then have its warnings passed to `warn`. A pass without warnings costs two
changes of a context variable.
"""

from __future__ import annotations

import linecache
import warnings
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from gradwrap.core.levels.wrapper import innermost
from gradwrap.core.library.buffers import GENERATED, OURS
from gradwrap.core.observing.callers import PASSED_BY, current_caller
from gradwrap.core.observing.code import package_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType
    from typing import Protocol

    class Listening(Protocol):
        """A way to receive the warnings of an array library in this context."""

        def begin(self) -> Any:
            """Begin to pass warnings on; return a token for `end`."""

        def end(self, begun: Any) -> None:
            """Restore the treatment of warnings before `begin`."""


held: ContextVar[list[Callable[[], None]] | None] = ContextVar("gradwrap_held", default=None)
"""What issues the warnings that a pass holds back until its end."""
F = TypeVar("F", bound="Callable[..., Any]")


class _Silent:
    def begin(self) -> None:
        """Do nothing."""

    def end(self, begun: Any) -> None:
        """Do nothing."""


class _Place:
    """The way in which this process receives warnings."""

    listening: Listening = _Silent()


PLACE = _Place()


_VARIABLES: dict[CodeType, tuple[str, str, str]] = {}
"""By function: its local variables of the node, of what was asked, and of the cotangent."""
UNKNOWN = ("", "", "")


def computes_derivative(*, node: str, asked: str = "", cotangent: str = "") -> Callable[[F], F]:
    """Declare that a function calls the formulas of the node in a local variable.

    `asked` and `cotangent` are given together: the variables with the inspection, which may let
    zeros annihilate, and with the formula's cotangent. A frame is looked at when there is a
    warning, so that this costs a call nothing.
    """

    def declare(function: F) -> F:
        code: CodeType = function.__code__
        variables = {node, asked, cotangent} - {""}
        missing = variables - {*code.co_varnames, *code.co_cellvars}
        if missing:
            raise NameError(f"{function.__qualname__} has no local variable {sorted(missing)}")
        _VARIABLES[code] = (node, asked, cotangent)
        return function

    return declare


BACKWARD = "backward pass"
NAN = (
    " Where a value does not matter, as where an index leaves it out, its derivative gets 0, and 0 "
    "times infinity is NaN. Fix: `with gradwrap.strong_zeros():` lets zeros annihilate, or "
    "gradwrap.apply_where(condition, x, f, fill) gives f only the values that are taken. "
    "`with gradwrap.detect_anomaly():` shows the line that called the operation."
)


def warn(text: str, frame: FrameType) -> None:
    """Issue a warning of the arithmetic in a frame, as the library words it.

    A warning of the user's own arithmetic stays as it is. Others get the user's line, and name the
    operation whose derivative was computed.
    """
    op, way, at = "", "", frame
    ours = False
    while not _is_users(at):
        ours = ours or at.f_code.co_filename.startswith(OURS)
        found = _derivative(at)
        if found is not None:
            if _is_annihilated(at):
                return
            if way != BACKWARD:  # the innermost pass, whose formula may run in forward mode
                op, way = found
        if at.f_back is None:
            break
        at = at.f_back
    if not ours or not _is_users(at):
        at = frame
    elif op:
        place = current_caller() or ""
        remedy = NAN if text.startswith("invalid") else ""
        text = f"{text}, in the derivative of {op} ({way} {place}).{remedy}"
    issue = partial(
        warnings.warn_explicit,
        text,
        RuntimeWarning,
        at.f_code.co_filename,
        at.f_lineno,
        module=str(at.f_globals.get("__name__", "")),
        registry=at.f_globals.setdefault("__warningregistry__", {}),
    )
    waiting = held.get()
    if waiting is None:
        issue()
    else:
        waiting.append(issue)


def _is_users(frame: FrameType) -> bool:
    if frame.f_code.co_filename.startswith(OURS):
        return False
    return package_of(str(frame.f_globals.get("__name__", ""))) not in PASSED_BY


def _derivative(frame: FrameType) -> tuple[str, str] | None:
    """Return the operation whose derivative a frame computes, and in which mode."""
    if not frame.f_code.co_filename.startswith(OURS):
        return None
    variable, _, _ = _VARIABLES.get(frame.f_code, UNKNOWN)
    node: Any = frame.f_locals.get(variable)
    op = getattr(node, "op", None)
    if op is not None:
        return str(op.name), BACKWARD
    name = frame.f_code.co_filename
    if not name.startswith(GENERATED) or ", Forward of" not in name:
        return None
    if linecache.getline(name, frame.f_lineno).lstrip().startswith("out = "):
        return None  # it computes the value
    return str(frame.f_globals["bound"].name), "forward mode"


def _is_annihilated(frame: FrameType) -> bool:
    """Tell if strong zeros replace what a formula makes of the zeros in what it is given."""
    _, asked_of, cotangent_of = _VARIABLES.get(frame.f_code, UNKNOWN)
    if not asked_of:
        tangents = (one for name, one in frame.f_locals.items() if name.endswith("_t"))
        return "annihilated" in frame.f_globals and any(map(_has_zeros, tangents))
    asked, cotangent = frame.f_locals[asked_of], frame.f_locals[cotangent_of]
    return bool(asked.zeros_annihilate) and _has_zeros(cotangent)


def _has_zeros(value: Any) -> bool:
    value = innermost(getattr(value, "mask", value))
    return bool((value == 0).any())
