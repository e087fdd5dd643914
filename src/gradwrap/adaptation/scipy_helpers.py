"""Functions of SciPy's private modules that packages import: for tracked values, run in a copy.

SciPy itself is never adapted. Its public functions have rules. What a package takes from a private
module (`make_system` of its solvers, say) has none, and runs in a copy with other names.
"""

from __future__ import annotations

import functools
import inspect
import sys
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from gradwrap.adaptation.builtin_names import BUILTINS
from gradwrap.adaptation.plain_values import are_plain
from gradwrap.core.observing.callers import MARK

if TYPE_CHECKING:
    from collections.abc import Callable


def helper(function: Any, lookup: Callable[[Any], Any]) -> Any:
    """Return the stand-in of a function that no public module of SciPy shows, or None."""
    if type(function) is not FunctionType or _is_public(function):
        return None
    copied = in_copy(lookup)

    @functools.wraps(function)
    def stand_in(*args: Any, **options: Any) -> Any:
        return (function if are_plain(args, options) else copied(function))(*args, **options)

    return stand_in


def in_copy(lookup: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return what copies a function of SciPy's that is written in Python, and keeps the copy."""

    def found(value: Any) -> Any:
        own = lookup(value)
        is_scipys = type(value) is FunctionType and value.__module__.startswith("scipy.")
        return copied(value) if own is None and is_scipys else own

    @functools.cache
    def copied(function: Any) -> Any:
        own = inspect.unwrap(function)
        return _copy(own, found) if type(own) is FunctionType else None

    return copied


def _is_public(function: FunctionType) -> bool:
    """Tell if a function is known by its name in a module whose path has no private part."""
    path = function.__module__.split(".")
    public = next((at for at, part in enumerate(path) if part.startswith("_")), len(path))
    modules = [sys.modules.get(".".join(path[:end])) for end in range(1, public + 1)]
    return any(getattr(one, function.__name__, None) is function for one in modules)


def _copy(function: FunctionType, lookup: Callable[[Any], Any]) -> FunctionType:
    """Copy a function; the names that its code reads are those of stand-ins."""
    known = function.__globals__
    names: dict[str, Any] = {**known, **BUILTINS, MARK: True}
    for name in _names_of(function.__code__) & known.keys():
        names[name] = lookup(known[name]) or known[name]
    made = FunctionType(
        function.__code__, names, function.__name__, function.__defaults__, function.__closure__
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def _names_of(code: CodeType) -> set[str]:
    inner = (_names_of(part) for part in code.co_consts if isinstance(part, CodeType))
    return set(code.co_names).union(*inner)
