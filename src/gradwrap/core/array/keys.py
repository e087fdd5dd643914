"""Hashes of tracked numbers: what adapted code looks for, gathers in a set, or keeps in a cache."""

from __future__ import annotations

import ast
from collections import Counter, OrderedDict, defaultdict
from contextvars import ContextVar
from dis import opname
from types import FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple

from gradwrap.core.levels.wrapper import AnyWrapper, native
from gradwrap.core.observing.caches import aliases_of, caches_of
from gradwrap.core.observing.called import (
    arguments_at,
    called_at,
    container_at,
    subscripted_at,
    value_of,
)
from gradwrap.core.observing.code import is_of_arrays
from gradwrap.core.values.dynamic import DICT, SEQUENCE, TUPLE, type_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType, FrameType

SETS = (set, frozenset)
DICTIONARIES = (DICT, OrderedDict)
GATHERING = (*SETS, list, tuple, sorted)
"""What gives a container, whatever it is given."""
MAKERS = (*SETS, dict, Counter, OrderedDict, defaultdict)
"""What makes a set or a dictionary."""
DISPLAYS = (ast.List, ast.Tuple, ast.Set, ast.ListComp, ast.GeneratorExp)


class Cache(NamedTuple):
    """A cache to which code has added a tracked key."""

    held: dict[Any, Any]
    name: str
    """Its text in the code, such as "self.known"."""
    place: str
    """The function, its module and the line that stores."""


caches: ContextVar[list[Cache] | None] = ContextVar("gradwrap_caches", default=None)
"""The caches to which the adapted function that runs has added tracked keys."""
_caches_of: dict[CodeType, frozenset[str]] = {}


def frame_that_hashes(frame: FrameType) -> FrameType:
    """Return the frame that hashes an object, for that of its method `__hash__`."""
    while frame.f_code.co_name == "__hash__" and frame.f_back is not None:
        frame = frame.f_back
    return frame


def is_key_of_cache(frame: FrameType) -> bool:
    """Tell if a frame looks for a number in a cache that lasts from call to call, or stores it.

    There, a tracked number must not be taken for an equal number: the result that is kept for that
    one has another gradient.
    """
    code, at = frame.f_code, frame.f_lasti
    name = container_at(frame, at)
    if code not in _caches_of:
        aliases = aliases_of(code, frame.f_globals)
        _caches_of[code] = frozenset(
            one for one in caches_of(code, frame.f_globals) if one in aliases or _lasts(one, frame)
        )
    if name not in _caches_of[code]:
        return False
    is_store = opname[code.co_code[at]] == "STORE_SUBSCR"
    called = None if is_store else called_at(frame, at)
    is_default = called is not None and called.name == "setdefault"
    if (is_store or is_default) and (filled := caches.get()) is not None:
        held = called.whole if called is not None else subscripted_at(frame, at)
        if type_of(held) not in DICTIONARIES:
            return False
        module = frame.f_globals.get("__name__", "generated code")
        filled.append(Cache(held, name, f"{code.co_name} ({module}, line {frame.f_lineno})"))
    return True


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


def finds_nothing(frame: FrameType, number: Any) -> bool:
    """Tell if a frame looks for a number in a dictionary, by `d[x]` or `d.get(x)`, in vain.

    The number may be a part of the key that the frame looks for. In a trace, each comparison with a
    key is a branch.
    """
    at = frame.f_lasti
    name = opname[frame.f_code.co_code[at]]
    if "CALL" in name:  # or PRECALL, in Python 3.11
        call = called_at(frame, at)
        found = call.whole if call is not None and call.name == "get" else None
    else:
        found = None if name == "STORE_SUBSCR" else subscripted_at(frame, at)
    if found is None or type_of(found) not in DICTIONARIES:
        return False
    parts = (part for key in found for part in _parts(key))
    return not any(number == part for part in parts if isinstance(part, (int, float, complex)))


def _parts(key: Any) -> Iterator[Any]:
    """Yield the parts of a key, which may be a tuple of tuples; numbers without their wrappers."""
    if not isinstance(key, TUPLE):
        yield native(key).item() if isinstance(key, AnyWrapper) and key.shape == () else key
        return
    for part in key:
        yield from _parts(part)


def is_check(frame: FrameType) -> bool:
    """Tell if a frame calls `hash` and drops the result: it checks that a value can be hashed."""
    code, at = frame.f_code.co_code, frame.f_lasti
    call = called_at(frame, at)
    if call is None or call.function is not hash:
        return False
    passed = ("CACHE", "CALL") if opname[code[at]] == "PRECALL" else ("CACHE",)  # Python 3.11
    at += 2
    while opname[code[at]] in passed:
        at += 2
    return opname[code[at]] == "POP_TOP"


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
    return len(given) == 1 and _is_at_hand(given[0], frame)


OPERATIONS = frozenset(
    {
        *("BUILD_MAP", "MAP_ADD", "SET_UPDATE", "DICT_UPDATE", "DICT_MERGE", "BINARY_OP"),
        *("BINARY_SUBSCR", "STORE_SUBSCR", "DELETE_SUBSCR", "FOR_ITER"),
    }
)
"""The instructions that hash a key, or the elements of a set."""
METHODS = frozenset(dir(set)) | frozenset(dir(Counter)) | frozenset(dir(OrderedDict))


def enters(frame: FrameType) -> bool:
    """Tell if a frame hashes a number for a set or a dictionary that is no name of its module.

    The number is found there as an equal one, as in plain code. That is a comparison of equal
    numbers, which is looked at as every other one.
    """
    at = frame.f_lasti
    code = frame.f_code.co_code
    while opname[code[at]] == "CACHE":  # a call of a function of Python, in Python 3.11
        at -= 2
    name = opname[code[at]]
    if name in OPERATIONS:
        return not _is_of_module(container_at(frame, at), frame)
    call = called_at(frame, at) if "CALL" in name else None
    if call is None or any(_may_cache(one, frame) for one in arguments_at(frame, at)):
        return False
    if call.function in (*MAKERS, *GATHERING) or (call.name == "fromkeys" and call.whole in MAKERS):
        return True
    is_whole = call.whole is None or isinstance(call.whole, MAKERS)
    return call.name in METHODS and is_whole and not _is_of_module(call.owner, frame)


def _is_of_module(text: str, frame: FrameType) -> bool:
    """Tell if an expression begins with a name of the module, or with a default."""
    name = next((text[:n] for n, one in enumerate(text) if not f"_{one}".isidentifier()), text)
    if not name or text[len(name) :].startswith("("):
        return False
    code = frame.f_code
    own = (*code.co_varnames, *code.co_cellvars)
    return name not in (*own, *code.co_freevars) or (name in own and _lasts(name, frame))


def _may_cache(given: Any, frame: FrameType) -> bool:
    """Tell if an argument, or the node of its syntax, may call a cached function from C code."""
    match given:
        case ast.Call(func=ast.Name(id="map"), args=[function, *_]):
            called = value_of(function, frame)
            return not (isinstance(called, type) or type_of(called) is FunctionType)
        case ast.Name() | ast.Attribute() | ast.AST():
            return any(_may_cache(one, frame) for one in ast.iter_child_nodes(given))
        case _:
            return isinstance(given, map)


def _is_at_hand(given: Any, frame: FrameType) -> bool:
    """Tell if an argument, or the node of its syntax, is a container or an array."""
    if isinstance(given, ast.Call):
        called = value_of(given.func, frame)
        if any(called is one for one in GATHERING):
            return True
    return isinstance(given, (*SEQUENCE, *SETS, *DISPLAYS)) or _is_array(given, frame)


def _is_array(given: Any, frame: FrameType) -> bool:
    """Tell if a value, or what a node of the syntax gives, is an array or a list of its numbers."""
    match given:
        case ast.Call(func=ast.Attribute(value=whole)) if _is_array(whole, frame):
            return True
        case ast.Call(func=function):
            called = value_of(function, frame)
            module = "" if isinstance(called, type) else getattr(called, "__module__", None)
            return is_of_arrays(module or "")
        case ast.BinOp(left=left, right=right):
            return _is_array(left, frame) or _is_array(right, frame)
        case ast.UnaryOp(operand=whole) | ast.Subscript(value=whole):
            return _is_array(whole, frame)
        case ast.Name() | ast.Attribute():
            return isinstance(value_of(given, frame), AnyWrapper)
        case _:
            return isinstance(given, AnyWrapper)
