"""Functions that keep the results of their last call, and return them again at the same point.

A cost and its gradient often share what they compute: an object keeps the point of its last call,
and what it found there. A solver's calls, which record nothing, leave it at the solution. There an
implicit rule calls it again, and would get results without derivatives. So such a function is first
called at another point.

An object may also compute a value at its first call, and keep it (`functools.cached_property`). So
a solver's first call of such a function records: what it keeps then has derivatives.
"""

from __future__ import annotations

import dis
import functools
import re
import warnings
from contextlib import contextmanager, suppress
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.core.array.keys import caches
from gradwrap.core.levels.modes import no_grad
from gradwrap.core.levels.wrapper import AnyWrapper, is_recorded, native
from gradwrap.core.library.backend import is_floating
from gradwrap.core.observing.callers import noted
from gradwrap.core.observing.code import is_of_arrays
from gradwrap.core.values.dynamic import (
    DICT,
    TUPLE,
    TYPE,
    attribute_or_none,
    attributes_of,
    type_of,
)
from gradwrap.core.values.tree import map_leaves

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from types import CodeType

APART = 1e-3
"""The change of the arguments for a call at another point, relative to their size or to 1."""
STORES = frozenset({"STORE_ATTR", "STORE_GLOBAL", "STORE_DEREF"})
PARTIAL: Any = functools.partial
ADDED = re.compile("_.*_")
"""The names of attributes that Python's own modules add to classes."""
CACHE: Any = type(functools.cache(len))
DEPTH, MOST = 4, 1000
"""The most functions that call each other in which stores are looked for, and the most objects."""
CONSTANTS: Any = (
    *(AnyWrapper, np.ndarray, np.generic, np.ufunc, int, float, complex, str, bytes, range),
    *(type(None), type(Ellipsis), ModuleType, BuiltinFunctionType),
)


def recomputing(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that does not return what it has kept of its last call."""
    if not may_keep(function):
        return function
    memories = _Memories(function)

    def called(*args: Any, **kwargs: Any) -> Any:
        before = noted.get()
        for change in (APART, -APART):
            try:
                _call_quietly(function, map_leaves(partial(_elsewhere, change), args), kwargs)
            except Exception:  # noqa: BLE001  the function may have no value there
                noted.set(before)
            else:
                break
        if memories.are_any:
            try:
                with memories.hidden():
                    return function(*args, **kwargs)
            except Exception:  # noqa: BLE001  it may need what was hidden
                noted.set(before)
        return function(*args, **kwargs)

    called.__wrapped__ = function  # type: ignore[attr-defined]  # SciPy counts its parameters
    return called


class _Memories:
    """The dictionaries and caches that a function reads, and the keys that they had before."""

    def __init__(self, function: Callable[..., Any]) -> None:
        found = {id(one): one for one in _reached(function)}.values()
        self._dictionaries = [(one, {*one}) for one in found if isinstance(one, DICT)]
        self._caches = [one for one in found if isinstance(one, CACHE)]
        self.are_any: bool = bool(self._dictionaries or self._caches)

    @contextmanager
    def hidden(self) -> Generator[None]:
        """Hide what was added since then; values that are found anew stay.

        In adapted code, calls with tracked values go past the caches of `functools`.
        """
        for cache in self._caches if caches.get() is None else ():
            cache.cache_clear()
        changed: list[tuple[dict[Any, Any], dict[Any, Any]]] = []
        for one, keys in self._dictionaries:
            if len(one) > len(keys) and not is_recorded([*one]):  # tracked keys have no hash
                changed.append((one, {key: one.pop(key) for key in one.keys() - keys}))
        try:
            yield
        finally:
            for one, added in changed:
                for key, value in added.items():
                    one.setdefault(key, value)


def _reached(value: Any) -> Iterator[Any]:
    """Yield the dictionaries and caches that a function may read, also by objects and functions."""
    waiting, seen = [(value, 0)], {id(value)}
    for one, depth in waiting:  # which grows
        if isinstance(one, (DICT, CACHE)):
            yield one
        if depth == DEPTH or isinstance(one, (*CONSTANTS, DICT)):
            continue
        for part in _parts(one):
            if id(part) not in seen and len(waiting) < MOST:
                seen.add(id(part))
                waiting.append((part, depth + 1))


def _parts(value: Any) -> list[Any]:
    """Return what a function, a method or an object reads or holds."""
    if isinstance(value, PARTIAL):
        return [value.func, *value.args, *value.keywords.values()]
    if isinstance(value, MethodType):
        return [value.__self__, value.__func__]
    if isinstance(value, CACHE):
        return [value.__wrapped__]
    if is_of_arrays(str(attribute_or_none(value, "__module__"))):
        return []
    if type_of(value) is FunctionType:
        return list(_read_by(value))
    kind = value if isinstance(value, TYPE) else type_of(value)
    return [*_attributes(kind), *attributes_of(value).values()]


def _attributes(kind: type[Any]) -> Iterator[Any]:
    """Yield the attributes of a class and of its bases, but for those that Python has added."""
    for base in kind.__mro__[:-1]:
        if not is_of_arrays(base.__module__):
            yield from (one for name, one in vars(base).items() if not ADDED.fullmatch(name))


def _call_quietly(function: Callable[..., Any], args: Any, kwargs: Any) -> None:
    with no_grad(), np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        function(*args, **kwargs)


def _elsewhere(change: float, leaf: Any) -> Any:
    found = native(leaf)
    is_moved = isinstance(found, float) or (hasattr(found, "dtype") and is_floating(found))
    return found + change * (1.0 + abs(found)) if is_moved else leaf


def may_keep(value: Any, depth: int = DEPTH) -> bool:
    """Tell if a value may keep something from call to call, or calls what may."""
    if isinstance(value, CONSTANTS):
        return False
    if isinstance(value, TYPE):
        return any(isinstance(one, DICT) for one in _attributes(value))
    if isinstance(value, PARTIAL):
        value = (value.func, value.args, *value.keywords.values())
    elif isinstance(value, MethodType):
        value = (value.__self__, value.__func__)
    if isinstance(value, TUPLE):
        return any(may_keep(part, depth) for part in value)
    if type_of(value) is not FunctionType or depth == 0 or _stores_outside(value.__code__):
        return True
    return any(may_keep(one, depth - 1) for one in _read_by(value))


@functools.lru_cache(1024)
def _stores_outside(code: CodeType) -> bool:
    """Tell if code stores to attributes, globals, or names of an outer function."""
    stored = [one for one in dis.get_instructions(code) if one.opname in STORES]
    own = code.co_cellvars
    return any(one.opname != "STORE_DEREF" or one.argval not in own for one in stored)


def _read_by(function: Callable[..., Any]) -> Iterator[Any]:
    """Yield what a function names from outside: closures, globals, defaults, and of modules."""
    made: Any = function
    names: set[str] = {*made.__code__.co_names}
    read: dict[str, Any] = made.__globals__
    outside: list[Any] = [read[name] for name in read.keys() & names]
    for cell in made.__closure__ or ():
        with suppress(ValueError):  # of a name that has no value yet
            outside.append(cell.cell_contents)
    yield from (*outside, *(made.__defaults__ or ()))
    for module in outside:
        if isinstance(module, ModuleType) and not is_of_arrays(module.__name__):
            held: dict[str, Any] = module.__dict__
            yield from (held[name] for name in held.keys() & names)
