"""Adapted code: modules whose globals carry a mark while `gradwrap` differentiates them.

The author of such code did not think of gradients. So `x.item()`, which elsewhere takes a value out
of the graph, keeps the element tracked there, and a tracked value may be formatted as text, which
mostly is a line of a log. The methods that differ ask `is_adapted` about the code that calls them.
"""

from __future__ import annotations

import ast
import itertools
import sys
import warnings
from contextvars import ContextVar
from dis import opname
from typing import TYPE_CHECKING, Any

from gradwrap.core.levels.levels import is_differentiating
from gradwrap.core.levels.wrapper import is_recorded
from gradwrap.core.observing.called import (
    arguments_at,
    called_at,
    container_at,
    subscripted_at,
)
from gradwrap.core.observing.callers import MARK
from gradwrap.core.values.dynamic import DICT, SEQUENCE, TUPLE, type_of
from gradwrap.errors import TrackedTextWarning

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType, FrameType

made_text: ContextVar[tuple[str, int] | None] = ContextVar("gradwrap_text", default=None)
"""The module and the line that last made text of a tracked value."""
subclass_views: list[Any] = []
"""The function that makes an instance of a subclass of NumPy's arrays with a variable in it."""
plain_instances: list[Any] = []
"""The function that makes such an instance of one with plain values; it returns other arguments."""
rounding: ContextVar[str] = ContextVar("gradwrap_rounding", default="zero")
"""The derivative of numbers that adapted code rounds to decimals: "zero" or "through"."""
rounded_at: ContextVar[str] = ContextVar("gradwrap_rounded", default="")
"""The line of adapted code that last rounded a tracked number."""
_warned: set[tuple[str, int]] = set()


def adapted_caller(depth: int = 2) -> FrameType | None:
    """Return the frame that called the calling method if its code is adapted, or None."""
    frame = sys._getframe(depth)  # pyright: ignore[reportPrivateUsage]  # documented, private by its name alone
    return frame if MARK in frame.f_globals else None


def with_instances(ufunc: Any, inputs: tuple[Any, ...], **options: Any) -> Any:
    """Call a ufunc with instances that hold variables, in place of those that were made outside.

    NumPy asks the subclass itself first, which does not know variables.
    """
    if not (plain_instances and is_differentiating() and is_recorded(inputs)):
        return NotImplemented
    given = [plain_instances[0](value) for value in inputs]
    if all(ours is value for ours, value in zip(given, inputs, strict=True)):
        return NotImplemented
    return ufunc(*given, **options)


def by_elements(ufunc: Any, *inputs: Any) -> Any:
    """Let NumPy's loop over objects call a ufunc, or raise the error that is being handled.

    It does that in adapted code, where an array of Python objects meets a tracked one.
    """
    kinds = [getattr(getattr(value, "dtype", None), "kind", "") for value in inputs]
    if "O" not in kinds or adapted_caller(3) is None:
        raise  # noqa: PLE0704  the caller handles it
    return ufunc(*map(_boxed, inputs))


def _boxed(value: Any) -> Any:
    """Return a variable as an array of Python objects."""
    if not is_recorded(value):
        return value
    import numpy as np

    made = np.empty(value.shape, dtype=object)
    for place in np.ndindex(value.shape):
        made[place] = value[place]
    return made


def current_code(depth: int) -> CodeType:
    """Return the code object of the frame `depth` calls above the calling function."""
    return sys._getframe(depth + 1).f_code  # pyright: ignore[reportPrivateUsage]  # documented, private by its name alone


def one_element(variable: Any, places: tuple[Any, ...]) -> Any:
    """Return one element as a 0-d variable, selected as by `item(*places)`."""
    if places and isinstance(places[0], TUPLE):
        (places,) = places
    if len(places) > 1:
        return variable[places]
    flat = variable.reshape(-1)
    if not places and len(flat) != 1:
        raise ValueError("can only convert an array of size 1 to a Python scalar")
    return flat[places[0] if places else 0]


def nested(variable: Any) -> Any:
    """Return the elements as nested lists of 0-d variables."""
    return [nested(part) for part in variable] if variable.ndim else variable[()]


def warn_of_text(variable: Any, frame: FrameType) -> None:
    """Warn, once for each line, that a tracked value is converted to text."""
    line = (frame.f_code.co_filename, frame.f_lineno)
    if not is_recorded(variable):
        return
    made_text.set((str(frame.f_globals.get("__name__", "generated code")), frame.f_lineno))
    if line in _warned:
        return
    _warned.add(line)
    warnings.warn_explicit(
        "text was made of a tracked value. That is right for a message; a number that is read "
        "back from the text has no gradient.",
        TrackedTextWarning,
        *line,
        module=frame.f_globals.get("__name__"),
    )


def rounded(variable: Any, decimals: int, frame: FrameType | None) -> Any:
    """Do what `round(variable, decimals)` does; `frame` is that of adapted code."""
    made = variable.round(decimals)
    if frame is None or not decimals or not is_recorded(variable):
        return made
    if rounding.get() == "through":
        return variable + (made - variable.detach())  # exactly `made`: the difference is exact
    module = frame.f_globals.get("__name__", "generated code")
    rounded_at.set(f"{frame.f_code.co_name} ({module}, line {frame.f_lineno})")
    return made


def formats_text(frame: FrameType) -> bool:
    """Tell if the code runs `text % values`, which asks values for numbers."""
    from dis import get_instructions  # slow to import, and needed where a conversion fails

    current = next(i for i in get_instructions(frame.f_code) if i.offset == frame.f_lasti)
    return current.opname == "BINARY_OP" and current.argrepr in ("%", "%=")


def finds_nothing(frame: FrameType, number: Any) -> bool:
    """Tell if a frame looks for a number in a dictionary, by `d[x]` or `d.get(x)`, in vain.

    The number may be a part of the key that the frame looks for. In a trace, each comparison with a
    key is a branch.
    """
    at = frame.f_lasti
    name = opname[frame.f_code.co_code[at]]
    if name == "BINARY_SUBSCR":
        found = subscripted_at(frame, at)
    elif "CALL" in name:  # or PRECALL, in Python 3.11
        call = called_at(frame, at)
        found = call.whole if call is not None and call.name == "get" else None
    else:
        return False
    if found is None or type_of(found) is not DICT:
        return False
    parts = (part for key in found for part in (key if isinstance(key, TUPLE) else (key,)))
    return not any(number == part for part in parts if isinstance(part, (int, float, complex)))


_memos: dict[CodeType, frozenset[str]] = {}
"""The dictionaries of results that a function's code names."""
memos: ContextVar[list[Any] | None] = ContextVar("gradwrap_memos", default=None)
"""The dictionaries of results to which the adapted function that runs has added tracked keys."""


def is_memo(frame: FrameType) -> bool:
    """Tell if a frame uses a dictionary of results, which lasts from call to call.

    A tracked number is another key there than the numbers of other calls, whose results have other
    gradients. In dictionaries of counts or groups, equal numbers are to be one key.
    """
    code, at = frame.f_code, frame.f_lasti
    if code not in _memos:
        _memos[code] = frozenset(_memos_in(frame))
    if not _memos[code] or container_at(frame, at) not in _memos[code]:
        return False
    if opname[code.co_code[at]] == USES[0] and (kept := memos.get()) is not None:
        kept.append(subscripted_at(frame, at))
    return True


def _memos_in(frame: FrameType) -> Iterator[str]:
    """Yield the lasting dictionaries that a function reads and fills, in different lines.

    It does not change what it reads: a count is read and stored in one line, a group gets methods.
    """
    from dis import get_instructions

    steps = list(get_instructions(frame.f_code))
    lines: tuple[dict[str, set[Any]], dict[str, set[Any]]] = {}, {}
    changed: set[str] = set()
    for step, after in itertools.pairwise(steps):
        if step.opname in USES or step.opname.startswith("CALL"):
            text = container_at(frame, step.offset)
            where = step.positions.lineno if step.positions is not None else None
            lines[step.opname == USES[0]].setdefault(text, set()).add(where)
            if step.opname == USES[1] and after.opname in ("LOAD_METHOD", "LOAD_ATTR"):
                changed.add(text)
    reads, stores = lines
    for text in (reads.keys() & stores.keys()) - changed:
        if not reads[text] & stores[text] and _lasts(text, frame):
            yield text


def _lasts(text: str, frame: FrameType) -> bool:
    """Tell if a name is that of an attribute, a global, a name of a closure, or a default."""
    code, function = frame.f_code, frame.f_globals.get(frame.f_code.co_name)
    if "." in text or text in code.co_freevars:
        return text.replace(".", "").isidentifier()
    if text not in (*code.co_varnames, *code.co_cellvars):
        return text.isidentifier()
    positional: Any = getattr(function, "__defaults__", None) or ()
    named: Any = getattr(function, "__kwdefaults__", None) or {}
    value = frame.f_locals.get(text)
    return any(value is one for one in (*positional, *named.values()))


USES = ("STORE_SUBSCR", "BINARY_SUBSCR", "CONTAINS_OP")


SETS = (set, frozenset)
DISPLAYS = (ast.List, ast.Tuple, ast.Set, ast.ListComp, ast.GeneratorExp)


def makes_set(frame: FrameType) -> bool:
    """Tell if a frame makes a set of values that are at hand, or looks for a value.

    The elements are hashed there, and stay tracked. An iterator of C code such as `map` may hash
    them for a cache.
    """
    at = frame.f_lasti
    name = opname[frame.f_code.co_code[at]]
    if name in ("BUILD_SET", "SET_ADD", "CONTAINS_OP"):
        return True
    if "CALL" not in name:
        return False
    call = called_at(frame, at)
    if call is None or call.function not in SETS:
        return False
    given = arguments_at(frame, at)
    return len(given) == 1 and isinstance(given[0], (*SEQUENCE, *SETS, *DISPLAYS))
