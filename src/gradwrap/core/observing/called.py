"""The call in a line of code that met a tracked value, and what to write instead."""

from __future__ import annotations

import ast
import builtins
import itertools
import linecache
from contextlib import suppress
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any

from gradwrap.core.observing.caches import syntax_of
from gradwrap.core.observing.parsing import parsed
from gradwrap.core.values.dynamic import attribute_or_none, attributes_of, type_of
from gradwrap.core.values.record import Record

if TYPE_CHECKING:
    from types import FrameType


class Called(Record):
    """A function as a line of code names it, such as `rng.normal`."""

    owner: str
    """The text before the last dot; "" if there is none."""
    name: str
    function: Any
    """The function, or None where the line does not tell which it is."""
    whole: Any = None
    """The object whose attribute the function is, likewise."""


def called_at(frame: FrameType, instruction: int) -> Called | None:
    """Return the call that an instruction of a frame makes, or None."""
    found = _expression_at(frame, instruction)
    if not isinstance(found, ast.Call):
        return None
    function = value_of(found.func, frame)
    if isinstance(found.func, ast.Attribute):
        whole = found.func.value
        return Called(ast.unparse(whole), found.func.attr, function, value_of(whole, frame))
    if isinstance(found.func, ast.Call):  # np.vectorize(f)(x)
        return Called("", ast.unparse(found.func), value_of(found.func.func, frame))
    return Called("", found.func.id, function) if isinstance(found.func, ast.Name) else None


def subscripted_at(frame: FrameType, instruction: int) -> Any:
    """Return the object that an instruction of a frame subscripts, or None."""
    found = _expression_at(frame, instruction)
    return value_of(found.value, frame) if isinstance(found, ast.Subscript) else None


KEYED = frozenset({"get", "setdefault", "pop", "popitem", "move_to_end"})
"""The methods of dictionaries that hash a key."""


def container_at(frame: FrameType, instruction: int) -> str:
    """Return the text of what an instruction subscripts, searches by `in`, or calls `get` of."""
    match _expression_at(frame, instruction):
        case ast.Subscript(value=whole):
            pass
        case ast.Compare(comparators=[*_, whole]):
            pass
        case ast.Call(func=ast.Attribute(value=whole, attr=name)) if name in KEYED:
            pass
        case _:
            return ""
    return ast.unparse(whole)


_expressions: dict[tuple[CodeType, str, int], ast.expr | None] = {}
"""The expressions of instructions: code that adapted functions run may ask often."""
MOST = 4096


def _expression_at(frame: FrameType, instruction: int) -> ast.expr | None:
    """Return the syntax of an instruction's expression, or None if it is not available."""
    key = frame.f_code, frame.f_code.co_filename, instruction
    if key not in _expressions:
        if len(_expressions) >= MOST:
            _expressions.clear()
        found: ast.expr | None = None
        with suppress(SyntaxError, ValueError):
            found = parsed(_text_at(frame, instruction).strip(), mode="eval").body
        _expressions[key] = found
    return _expressions[key]


def _text_at(frame: FrameType, instruction: int) -> str:
    """Return the source of an instruction's expression, or "" if it is not available."""
    positions = itertools.islice(frame.f_code.co_positions(), instruction // 2, None)
    first, last, start, end = next(positions, (None, None, None, None))
    if first is None or last is None or start is None or end is None:
        return ""
    name = frame.f_code.co_filename
    lines = [linecache.getline(name, number, frame.f_globals) for number in range(first, last + 1)]
    if not all(lines):
        return ""
    encoded = [line.encode() for line in lines]  # columns count bytes
    encoded[-1] = encoded[-1][:end]
    encoded[0] = encoded[0][start:]
    return b"".join(encoded).decode(errors="replace")


def value_of(expression: Any, frame: FrameType) -> Any:
    """Find the object of a dotted name in a frame, without running code."""
    if isinstance(expression, ast.Name):
        for names in (frame.f_locals, frame.f_globals, vars(builtins)):
            if expression.id in names:
                return names[expression.id]
        return None
    if not isinstance(expression, ast.Attribute):
        return None
    whole = value_of(expression.value, frame)
    if isinstance(whole, ModuleType):
        return vars(whole).get(expression.attr)
    kinds = (*(whole.__mro__ if isinstance(whole, type) else ()), *type_of(whole).__mro__)
    holders = (attributes_of(whole), *map(vars, kinds))
    return next((names[expression.attr] for names in holders if expression.attr in names), None)


SHOWING = frozenset({"logging", "warnings", "_warnings", "_py_warnings"})
"""The modules whose functions show text."""


def is_shown(frame: FrameType) -> bool:
    """Tell if a frame runs a statement that shows text, and does nothing else.

    That is a call of `print`, of `warnings` or of `logging`, or an error that is raised.
    """
    function = syntax_of(frame.f_code, frame.f_globals)
    line = frame.f_lineno - frame.f_code.co_firstlineno + 1
    found: ast.stmt | None = None
    for node in ast.walk(function) if function is not None else ():
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or line):
            found = node  # the innermost is visited last
    match found:
        case ast.Raise():
            return True
        case ast.Expr(value=ast.Call(func=called, keywords=keywords)):
            shows = value_of(called, frame)
            if shows is print:
                return all(one.arg not in ("file", None) for one in keywords)
            return attribute_or_none(shows, "__module__") in SHOWING
        case _:
            return False


def arguments_at(frame: FrameType, instruction: int) -> list[Any]:
    """Return the arguments of the call at an instruction: their values, or nodes of the syntax."""
    found: Any = _expression_at(frame, instruction)
    values = [(node, value_of(node, frame)) for node in found.args]
    return [node if value is None else value for node, value in values]
