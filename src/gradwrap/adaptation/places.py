"""Where a module holds what is exchanged: its globals, and what can be reached from them.

Default arguments, closures and attributes of its functions and classes are places too, and so are
the dictionaries and lists among its globals.
"""

from __future__ import annotations

import builtins
import enum
import functools
import sys
from collections.abc import Callable, Iterator
from types import BuiltinFunctionType, CellType, FunctionType, ModuleType
from typing import Any, NamedTuple, TypeAlias

import numpy as np

import gradwrap.numpy as drop_in
from gradwrap.adaptation.builtin_names import BUILTINS
from gradwrap.adaptation.rewriting import NAMES, rewritten
from gradwrap.adaptation.stand_ins import stand_in_of
from gradwrap.core.observing.callers import MARK
from gradwrap.core.values.dynamic import DICT, LIST, type_of

Namespace: TypeAlias = dict[str, Any]
ABSENT: Any = object()
"""In the place of a value that is not there."""
HOLDING: dict[type[Any], tuple[str, ...]] = {
    staticmethod: ("__func__",),
    classmethod: ("__func__",),
    property: ("fget", "fset"),
    functools.cached_property: ("func",),
    functools.partial: ("func",),
    type(functools.cache(len)): ("__wrapped__",),
    np.vectorize: ("pyfunc",),
}
"""Objects that hold functions, and their attributes that do."""
DEPTH = 3
"""So deep are dictionaries and lists looked into."""
CONSTANTS = frozenset({int, float, complex, bool, str, bytes, type(None), np.ndarray, np.float64})


class Place(NamedTuple):
    """Where a value stands: how it is read there and written, or removed by writing `ABSENT`."""

    read: Callable[[], Any]
    write: Callable[[Any], None]


class Change(NamedTuple):
    """What stands at a place, and what is to stand there instead."""

    place: Place
    old: Any
    new: Any


def item(holder: dict[Any, Any], key: Any) -> Place:
    """The place of an item of a dictionary."""

    def write(value: Any) -> None:
        if value is ABSENT:
            del holder[key]
        else:
            holder[key] = value

    return Place(lambda: holder.get(key, ABSENT), write)


def _element(holder: list[Any], at: int) -> Place:
    return Place(
        lambda: holder[at] if at < len(holder) else ABSENT, lambda v: holder.__setitem__(at, v)
    )


def _attribute(holder: Any, name: str) -> Place:
    return Place(lambda: vars(holder).get(name, ABSENT), lambda value: setattr(holder, name, value))


def _defaults(function: Any) -> Place:
    return Place(
        lambda: function.__defaults__, lambda value: setattr(function, "__defaults__", value)
    )


def _cell(cell: CellType) -> Place:
    return Place(lambda: cell.cell_contents, lambda v: setattr(cell, "cell_contents", v))


def _kind(instance: Any) -> Place:
    return Place(lambda: type(instance), lambda value: setattr(instance, "__class__", value))


def _code(function: FunctionType) -> Place:
    return Place(lambda: function.__code__, lambda v: setattr(function, "__code__", v))


def changes(namespace: Namespace) -> list[Change]:
    """Find what is to be exchanged in a module, or in the globals of generated code."""
    search = _Search(namespace)
    found = list(search.in_dictionary(namespace, 0))
    codes = rewritten([function.__code__ for function in search.functions], namespace)
    names = {MARK: True, **BUILTINS, **(NAMES if codes else {})}
    added = [
        Change(item(namespace, name), ABSENT, value)
        for name, value in names.items()
        if name not in namespace
    ]
    new = [
        Change(_code(function), function.__code__, codes[function.__code__])
        for function in search.functions
        if function.__code__ in codes
    ]
    return added + found + new


class _Search:
    """A walk from the globals of a module through what belongs to it, each object once."""

    def __init__(self, namespace: Namespace) -> None:
        self.functions: list[FunctionType] = []
        self._namespace = namespace
        self._seen: set[int] = {id(vars(builtins)), id(sys.modules)}

    def in_dictionary(self, values: dict[Any, Any], depth: int) -> Iterator[Change]:
        """Search the items."""
        if CONSTANTS.issuperset(map(type, values.values())):
            return
        for key, value in list(values.items()):
            if type_of(value) not in CONSTANTS and key != "__builtins__":
                yield from self._at(item(values, key), value, depth)

    def _in_list(self, values: list[Any], depth: int) -> Iterator[Change]:
        if CONSTANTS.issuperset(map(type, values)):
            return
        for at, value in enumerate(values):
            if type_of(value) not in CONSTANTS:
                yield from self._at(_element(values, at), value, depth)

    def _at(self, place: Place, value: Any, depth: int) -> Iterator[Change]:
        stand_in = stand_in_of(value)
        if stand_in is not None:
            yield Change(place, value, stand_in)
        elif type_of(value) is np.vectorize:  # in its place, for those who have it already
            yield Change(_kind(value), np.vectorize, drop_in.vectorize)
        yield from self._inside(value, depth)

    def _inside(self, value: Any, depth: int) -> Iterator[Change]:
        """Search what a value consists of, if it belongs to the module."""
        kind = type_of(value)
        if kind is ModuleType or kind is BuiltinFunctionType or id(value) in self._seen:
            return
        self._seen.add(id(value))
        if kind is FunctionType:
            yield from self._in_function(value)
        elif kind is DICT and depth < DEPTH and "__builtins__" not in value:  # of another module
            yield from self.in_dictionary(value, depth + 1)
        elif kind is LIST and depth < DEPTH:
            yield from self._in_list(value, depth + 1)
        elif isinstance(value, type):
            if value.__module__ == self._namespace.get("__name__"):
                yield from self._in_class(value)
        else:
            for owner, names in HOLDING.items():
                if isinstance(value, owner):
                    for name in names:
                        yield from self._inside(getattr(value, name), depth)
            compiled = getattr(value, "__dict__", {}).get("py_func")  # by Numba
            yield from self._inside(compiled, depth)

    def _in_function(self, function: Any) -> Iterator[Change]:
        is_own = function.__globals__ is self._namespace
        if is_own:
            self.functions.append(function)
        if is_own and function.__defaults__:
            stand_ins = tuple(map(_or_itself, function.__defaults__))
            if any(a is not b for a, b in zip(stand_ins, function.__defaults__, strict=True)):
                yield Change(_defaults(function), function.__defaults__, stand_ins)
        if is_own and function.__kwdefaults__:
            yield from self.in_dictionary(function.__kwdefaults__, DEPTH)
        for cell in function.__closure__ or ():
            try:
                value = cell.cell_contents
            except ValueError:  # of a name that has no value yet
                continue
            yield from self._at(_cell(cell), value, 0) if is_own else self._inside(value, 0)
        yield from self._inside(getattr(function, "__wrapped__", None), 0)

    def _in_class(self, kind: Any) -> Iterator[Change]:
        for name, value in list(vars(kind).items()):
            stand_in = stand_in_of(value)
            if stand_in is not None and not isinstance(kind, enum.EnumMeta):
                if not hasattr(type_of(value), "__get__"):  # it is not made a method
                    stand_in = staticmethod(stand_in) if callable(stand_in) else stand_in
                yield Change(_attribute(kind, name), value, stand_in)
            yield from self._inside(value, 0)


def _or_itself(value: Any) -> Any:
    found = stand_in_of(value)
    return value if found is None else found
