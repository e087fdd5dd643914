"""NumPy functions in Python without a rule: their code is run on stand-ins.

NumPy's module is not changed. A copy of its globals has the stand-ins, and its functions are made
again with that copy.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from gradwrap.adaptation.builtin_names import BUILTINS
from gradwrap.adaptation.later import new_code_of
from gradwrap.adaptation.plain_values import are_plain, standing_in
from gradwrap.core.library.labelled import opening
from gradwrap.core.observing.callers import MARK

Lookup = Callable[[Any], Any]
_namespaces: dict[int, dict[str, Any]] = {}
"""From the identity of a module's globals to the copy."""


def shadowing(original: Any, path: str, lookup: Lookup) -> Any:
    """Make a stand-in that runs a function's Python code on stand-ins if given a variable."""
    made: list[Any] = []

    @standing_in(original, path)
    @opening
    def stand_in(*args: Any, **options: Any) -> Any:
        if are_plain(args, options):
            return original(*args, **options)
        if not made:  # at the first use
            made.append(shadow(getattr(original, "__wrapped__", original), lookup))
        return made[0](*args, **options)

    return stand_in


def shadow(function: Any, lookup: Lookup) -> Any:
    """Copy a function, with a copy of its module's globals."""
    namespace = _namespace(function.__globals__, lookup)
    code = new_code_of(function)
    shadow = FunctionType(
        code, namespace, function.__name__, function.__defaults__, function.__closure__
    )
    shadow.__kwdefaults__ = function.__kwdefaults__
    return shadow


def _namespace(original: dict[str, Any], lookup: Lookup) -> dict[str, Any]:
    """Copy a module's globals, with stand-ins and copies of its functions."""
    known = _namespaces.get(id(original))
    if known is not None:
        return known
    made = _namespaces[id(original)] = {**original, **BUILTINS, MARK: True}
    for name, value in original.items():
        stand_in = lookup(value)
        if stand_in is not None:
            made[name] = stand_in
        elif isinstance(value, FunctionType) and value.__globals__ is original:
            made[name] = shadow(value, lookup)
    return made
