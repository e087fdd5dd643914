"""Places from which adapted code gets objects: a module's globals and their contents.

Default arguments, closures and attributes of its functions and classes are places too, and so are
the dictionaries and lists among its globals.
"""

from __future__ import annotations

import builtins
import enum
import functools
import linecache
import sys
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

import gradwrap.numpy as drop_in
from gradwrap.adaptation.builtin_names import BUILTINS
from gradwrap.adaptation.rewriting import NAMES, rewritten
from gradwrap.adaptation.stand_ins import stand_in_of
from gradwrap.adaptation.storing import NAMES as STORING
from gradwrap.core.observing.callers import MARK
from gradwrap.core.values.dynamic import DICT, LIST, type_of

if TYPE_CHECKING:
    from collections.abc import Iterator

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


IMMUTABLE = 1 << 8
"""The flag of a class that compiled code has made, whose attributes cannot be set."""


class Place(NamedTuple):
    """Where a value is stored: an item of a dictionary or list, or an attribute."""

    holder: Any
    name: Any
    is_item: bool = False

    def read(self) -> Any:
        """Return the value, or `ABSENT`."""
        if self.is_item:
            try:
                return self.holder[self.name]
            except (KeyError, IndexError):
                return ABSENT
        if isinstance(self.holder, type):  # as it is there, not bound to the class
            return self.holder.__dict__.get(self.name, ABSENT)
        return getattr(self.holder, self.name, ABSENT)

    def write(self, value: Any) -> None:
        """Store a value there; `ABSENT` removes it."""
        if not self.is_item:
            setattr(self.holder, self.name, value)
        elif value is ABSENT:
            del self.holder[self.name]
        else:
            self.holder[self.name] = value


class Change(NamedTuple):
    """A place, the object there, and the object to replace it."""

    place: Place
    old: Any
    new: Any


def changes(namespace: Namespace) -> list[Change]:
    """Find the objects to replace in a module, or in the globals of generated code."""
    search = _Search(namespace)
    found = list(search.in_dictionary(namespace, 0))
    codes = rewritten([function.__code__ for function in search.functions], namespace)
    names = {MARK: True, **_builtins_for(namespace), **(NAMES if codes else {})}
    added = [
        Change(Place(namespace, name, is_item=True), ABSENT, value)
        for name, value in names.items()
        if name not in namespace
    ]
    new = [
        Change(Place(function, "__code__"), function.__code__, codes[function.__code__])
        for function in search.functions
        if function.__code__ in codes
    ]
    return added + found + new


def _builtins_for(namespace: Namespace) -> dict[str, Any]:
    """Return the stand-ins of builtins that a module's source may name; all without a source."""
    source = "".join(linecache.getlines(str(namespace.get("__file__")), namespace))
    return {name: one for name, one in BUILTINS.items() if name in source or not source}


def changes_of_stores(namespace: Namespace, before: list[Change]) -> list[Change]:
    """Find the functions of a module whose stores can be rewritten.

    `before` are the changes that were made there.
    """
    search = _Search(namespace)
    list(search.in_dictionary(namespace, 0))
    own = {id(c.place.holder): c.old for c in before if c.place.name == "__code__"}
    originals = {f: own.get(id(f), f.__code__) for f in search.functions}
    codes = rewritten(originals.values(), namespace, stores=True)
    return [
        *(
            Change(Place(namespace, name, is_item=True), ABSENT, value)
            for name, value in (STORING | NAMES).items()
            if codes and name not in namespace
        ),
        *(
            Change(Place(function, "__code__"), function.__code__, codes[original])
            for function, original in originals.items()
            if original in codes
        ),
    ]


class _Search:
    """A walk from the globals of a module through its objects, each visited once."""

    def __init__(self, namespace: Namespace) -> None:
        self.functions: list[FunctionType] = []
        self._namespace = namespace
        self._seen: set[int] = {id(vars(builtins)), id(sys.modules)}

    def in_dictionary(self, values: dict[Any, Any], depth: int) -> Iterator[Change]:
        """Search the items of a dictionary."""
        if CONSTANTS.issuperset(map(type, values.values())):
            return
        for key, value in list(values.items()):
            if type_of(value) not in CONSTANTS and key != "__builtins__":
                yield from self._at(Place(values, key, is_item=True), value, depth)

    def _in_list(self, values: list[Any], depth: int) -> Iterator[Change]:
        if CONSTANTS.issuperset(map(type, values)):
            return
        for at, value in enumerate(values):
            if type_of(value) not in CONSTANTS:
                yield from self._at(Place(values, at, is_item=True), value, depth)

    def _at(self, place: Place, value: Any, depth: int) -> Iterator[Change]:
        stand_in = stand_in_of(value)
        if stand_in is not None:
            yield Change(place, value, stand_in)
        elif type_of(value) is np.vectorize:  # in its place, for those who have it already
            yield Change(Place(value, "__class__"), np.vectorize, drop_in.vectorize)
        yield from self._inside(value, depth)

    def _inside(self, value: Any, depth: int) -> Iterator[Change]:
        """Search the contents of a value that belongs to the module."""
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
            is_own = value.__module__ == self._namespace.get("__name__")
            if is_own and not value.__flags__ & IMMUTABLE:
                yield from self._in_class(value)
        else:
            for owner, names in HOLDING.items():
                if isinstance(value, owner):
                    for name in names:
                        yield from self._inside(getattr(value, name), depth)
            members: Any = getattr(value, "__dict__", None) or {}
            compiled = members.get("py_func")  # by Numba
            yield from self._inside(compiled, depth)

    def _in_function(self, function: Any) -> Iterator[Change]:
        is_own = function.__globals__ is self._namespace
        if is_own:
            self.functions.append(function)
        if is_own and function.__defaults__:
            stand_ins = tuple(map(_or_itself, function.__defaults__))
            if any(a is not b for a, b in zip(stand_ins, function.__defaults__, strict=True)):
                yield Change(Place(function, "__defaults__"), function.__defaults__, stand_ins)
        if is_own and function.__kwdefaults__:
            yield from self.in_dictionary(function.__kwdefaults__, DEPTH)
        for cell in function.__closure__ or ():
            try:
                value = cell.cell_contents
            except ValueError:  # of a name that has no value yet
                continue
            place = Place(cell, "cell_contents")
            yield from self._at(place, value, 0) if is_own else self._inside(value, 0)
        yield from self._inside(getattr(function, "__wrapped__", None), 0)

    def _in_class(self, kind: type[Any]) -> Iterator[Change]:
        for name, value in list(kind.__dict__.items()):
            stand_in = stand_in_of(value)
            if stand_in is not None and not isinstance(kind, enum.EnumMeta):
                if not hasattr(type_of(value), "__get__"):  # it is not made a method
                    stand_in = staticmethod(stand_in) if callable(stand_in) else stand_in
                yield Change(Place(kind, name), value, stand_in)
            yield from self._inside(value, 0)


def _or_itself(value: Any) -> Any:
    found = stand_in_of(value)
    return value if found is None else found
