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
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

import gradwrap.numpy as drop_in
from gradwrap.adaptation.builtin_names import BUILTINS
from gradwrap.adaptation.later import Later, as_written, may_wait, note_new_code
from gradwrap.adaptation.plain_values import STAND_INS
from gradwrap.adaptation.rewriting import Rewriting, Rewritten, all_codes
from gradwrap.adaptation.search_loops import place_of
from gradwrap.adaptation.stand_ins import stand_in_of
from gradwrap.adaptation.subclasses import constructor
from gradwrap.core.observing.callers import MARK, is_never_adapted
from gradwrap.core.observing.code import library_named, package_of
from gradwrap.core.values.dynamic import (
    DICT,
    LIST,
    TUPLE,
    attribute_or_none,
    attributes_of,
    type_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradwrap.adaptation.search_loops import Loops

Namespace: TypeAlias = dict[str, Any]
ABSENT: Any = object()
"""In the place of a value that is not there."""
HOLDING: dict[type[Any], tuple[str, ...]] = {
    staticmethod: ("__func__",),
    classmethod: ("__func__",),
    property: ("fget", "fset"),
    functools.cached_property: ("func",),
    functools.partial: ("func", "args", "keywords"),
    type(functools.cache(len)): ("__wrapped__",),
    np.vectorize: ("pyfunc",),
}
"""Objects that hold functions, and their attributes that do."""
OURS = package_of(__name__)
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
        if not self.is_item and value is ABSENT:
            delattr(self.holder, self.name)
        elif not self.is_item:
            setattr(self.holder, self.name, value)
        elif value is ABSENT:
            del self.holder[self.name]
        else:
            self.holder[self.name] = value


class Given(dict[str, Any]):
    """A namespace for a given function alone, whose closure and bound object are searched too."""

    def __init__(self, function: Any) -> None:
        super().__init__(function=function)
        self.plan: list[Change] | None = None
        self.rewritings: dict[Rewritten, list[Change]] = {}


class Slot:
    """A slot of an instance, whose content is read and written past the methods of its class."""

    def __init__(self, descriptor: Any, instance: Any) -> None:
        self._descriptor = descriptor
        self._instance = instance

    @property
    def content(self) -> Any:
        """The object in the slot."""
        return self._descriptor.__get__(self._instance)

    @content.setter
    def content(self, value: Any) -> None:
        self._descriptor.__set__(self._instance, value)


class Bases:
    """The bases of a class, which its own dictionary does not hold."""

    def __init__(self, kind: type[Any]) -> None:
        self._kind = kind

    @property
    def content(self) -> Any:
        """The bases."""
        return self._kind.__bases__

    @content.setter
    def content(self, bases: Any) -> None:
        kind: Any = self._kind
        before = kind.__new__
        kind.__bases__ = bases
        if kind.__new__ is object.__new__ and before is not object.__new__:
            # CPython keeps the slot of a `__new__` that is gone, and then refuses arguments
            kind.__new__ = staticmethod(_new_object)


def _new_object(cls: type[Any], *_: Any, **__: Any) -> Any:
    """Do what `object.__new__` does for a class with an `__init__`."""
    return object.__new__(cls)


class Change(NamedTuple):
    """A place, the object there, and the object to replace it."""

    place: Place
    old: Any
    new: Any


def changes(namespace: Namespace) -> list[Change]:
    """Find the objects to replace in a module, or in the globals of generated code."""
    search = _Search(namespace)
    found = list(search.in_dictionary(namespace, 0))
    is_given = isinstance(namespace, Given)  # of a function, whose globals are a module's
    names: Namespace = {} if is_given else {MARK: True, **_builtins_for(namespace)}
    added = [
        Change(Place(namespace, name, is_item=True), ABSENT, value)
        for name, value in names.items()
        if name not in namespace
    ]
    return added + found + list(_new_codes(search))


def _new_codes(search: _Search) -> Iterator[Change]:
    """Find the functions whose code is written anew, when they are first called."""
    written: dict[int, Rewriting] = {}
    for function in search.functions:
        names, old = function.__globals__, function.__code__
        codes = written.setdefault(id(names), Rewriting(names))
        if not codes.needs(old):
            continue
        if may_wait(old) and id(function) not in search.compiled:
            later = Later(function, codes.code_of)
            yield Change(Place(later, "content"), old, later.stub)
            continue
        new = codes.code_of(old)
        if new is not None:
            note_new_code(new, old)
            yield Change(Place(function, "__code__"), old, new)


def _builtins_for(namespace: Namespace) -> dict[str, Any]:
    """Return the stand-ins of builtins that a module's source may name; all without a source."""
    source = "".join(linecache.getlines(str(namespace.get("__file__")), namespace))
    return {name: one for name, one in BUILTINS.items() if name in source or not source}


def rewritings(namespace: Namespace, before: list[Change], what: Rewritten) -> list[Change]:
    """Find the functions of a module whose stores, or calls, too, can be rewritten.

    `before` are the changes that were made there.
    """
    search = _Search(namespace)
    list(search.in_dictionary(namespace, 0))
    known: dict[int, tuple[Place, CodeType]] = {}
    for place, old, _ in before:
        if type_of(place.holder) is Later:
            known[id(place.holder.function)] = place, old
        elif place.name == "__code__":
            known[id(place.holder)] = place, old
    found: list[Change] = []
    written: dict[int, Rewriting] = {}
    needing: list[tuple[Rewriting, Place, CodeType]] = []
    for function in search.functions:
        names = function.__globals__
        codes = written.setdefault(id(names), Rewriting(names, what))
        place, old = known.get(id(function), (Place(function, "__code__"), function.__code__))
        if codes.needs(old):
            codes.write_alone(old)
            needing.append((codes, place, old))
    for codes, place, old in needing:  # once it is known which need all of the source
        new = codes.code_of(old)
        if new is not None:
            note_new_code(new, old)
            found.append(Change(place, place.read(), new))
    return found


def with_shifts(
    namespaces: list[Namespace], loops: Loops, what: Rewritten
) -> list[tuple[FunctionType, CodeType]]:
    """Return functions of modules that search for numbers, and their code with shifts."""
    found: list[tuple[FunctionType, CodeType]] = []
    seen: set[int] = set()
    written: dict[int, Rewriting] = {}
    for namespace in namespaces:
        search = _Search(namespace)
        list(search.in_dictionary(namespace, 0))
        for function in search.functions:
            old = as_written(function.__code__)
            is_new = id(function) not in seen
            seen.add(id(function))
            if is_new and any(place_of(one) in loops for one in all_codes(old)):
                names = function.__globals__
                codes = written.setdefault(id(names), Rewriting(names, what, loops))
                new = codes.code_of(old) if codes.needs(old) else None
                if new is not None:
                    note_new_code(new, old)
                    found.append((function, new))
    return found


class _Search:
    """A walk from the globals of a module through its objects, each visited once."""

    def __init__(self, namespace: Namespace) -> None:
        self.functions: list[FunctionType] = []
        self.compiled: set[int] = set()
        """The identities of those that Numba compiles, from their code as it is."""
        self._namespace = namespace
        self._package = library_named(str(namespace.get("__name__") or ""))
        self._seen: set[int] = {id(vars(builtins)), id(sys.modules)}

    def in_dictionary(self, values: dict[Any, Any], depth: int) -> Iterator[Change]:
        """Search the items of a dictionary."""
        if CONSTANTS.issuperset(map(type, values.values())):
            return
        for key, value in list(values.items()):
            # A key of a package's class may have an `__eq__` that takes its own kind alone.
            is_builtins = type_of(key) is str and key == "__builtins__"
            if type_of(value) not in CONSTANTS and not is_builtins:
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
        elif type_of(value) is TUPLE:
            parts = tuple(map(_or_itself, value))
            if any(a is not b for a, b in zip(parts, value, strict=True)):
                yield Change(place, value, parts)
        elif type_of(value) is np.vectorize:  # in its place, for those who have it already
            yield Change(Place(value, "__class__"), np.vectorize, drop_in.vectorize)
        yield from self._inside(value, depth)

    def _inside(self, value: Any, depth: int) -> Iterator[Change]:
        """Search the contents of a value that belongs to the module."""
        kind = type_of(value)
        if kind is ModuleType or kind is BuiltinFunctionType or id(value) in self._seen:
            return
        self._seen.add(id(value))
        if kind in (DICT, LIST, TUPLE):
            if depth < DEPTH:
                yield from self._in_container(value, depth + 1)
        elif kind is FunctionType:
            yield from self._in_function(value)
        elif kind is MethodType:
            yield from self._inside(value.__func__, depth)
            yield from self._inside(value.__self__, depth)
        elif issubclass(kind, type):
            is_own = attribute_or_none(value, "__module__") == self._namespace.get("__name__")
            if is_own and not value.__flags__ & IMMUTABLE:
                yield from self._in_class(value)
        else:
            yield from self._in_instance(value, kind, depth)

    def _in_container(self, values: Any, depth: int) -> Iterator[Change]:
        if type_of(values) is LIST:
            yield from self._in_list(values, depth)
        elif type_of(values) is TUPLE:
            for part in values:
                yield from self._inside(part, depth)
        elif "__builtins__" not in values:  # of another module
            yield from self.in_dictionary(values, depth)

    def _in_instance(self, value: Any, kind: type[Any], depth: int) -> Iterator[Change]:
        """Search the attributes of an instance of the package's, or of a holder of functions."""
        if self._is_own_class(kind) and depth < DEPTH:
            yield from self.in_dictionary(attributes_of(value), depth + 1)
            yield from self._in_slots(value, kind, depth)
        for owner, names in HOLDING.items():
            if issubclass(kind, owner):
                for name in names:
                    yield from self._inside(attribute_or_none(value, name), depth)
        if any("__wrapped__" in owner.__dict__ for owner in kind.__mro__):  # as `wrapt` has it
            yield from self._inside(attribute_or_none(value, "__wrapped__"), depth)
        compiled = attributes_of(value).get("py_func")  # by Numba
        self.compiled.add(id(compiled))
        yield from self._inside(compiled, depth)

    def _is_own_class(self, kind: type[Any]) -> bool:
        """Tell if instances of a class belong to the package."""
        module = attribute_or_none(kind, "__module__")
        return isinstance(module, str) and self._is_of(module)

    def _in_slots(self, value: Any, kind: type[Any], depth: int) -> Iterator[Change]:
        for owner in kind.__mro__[:-1]:
            for slot in list(owner.__dict__.values()):
                if type_of(slot) is MemberDescriptorType and owner.__module__ != "builtins":
                    place = Place(Slot(slot, value), "content")
                    found = place.read()
                    if found is not ABSENT and type_of(found) not in CONSTANTS:
                        yield from self._at(place, found, depth + 1)

    def _is_own(self, function: Any) -> bool:
        """Tell if a function belongs to the package, or to the given function."""
        names = function.__globals__
        return names is self._namespace or self._is_of(str(names.get("__name__") or ""))

    def _is_of(self, module: str) -> bool:
        is_given = isinstance(self._namespace, Given)
        package = library_named(module)
        if package == OURS:  # the names of a doctest of ours
            return False
        return not is_never_adapted(package) if is_given else package == self._package

    def _in_function(self, function: Any) -> Iterator[Change]:
        if function.__module__ == STAND_INS:  # code may keep one, which has copies of its own
            return
        is_own = self._is_own(function)
        module = str(function.__globals__.get("__name__") or "")
        # another package's decorator has made it, and it may have closed over what it was given
        may_call = is_own or not is_never_adapted(library_named(module))
        if may_call:
            self.functions.append(function)
        if is_own and function.__defaults__:
            stand_ins = tuple(map(_or_itself, function.__defaults__))
            if any(a is not b for a, b in zip(stand_ins, function.__defaults__, strict=True)):
                yield Change(Place(function, "__defaults__"), function.__defaults__, stand_ins)
        if is_own and function.__kwdefaults__:
            yield from self.in_dictionary(function.__kwdefaults__, DEPTH)
        for name, cell in zip(
            function.__code__.co_freevars, function.__closure__ or (), strict=True
        ):
            try:
                value = cell.cell_contents
            except ValueError:  # of a name that has no value yet
                continue
            place = Place(cell, "cell_contents")
            is_exchanged = may_call and name != "__class__"  # which `super()` reads
            yield from self._at(place, value, 0) if is_exchanged else self._inside(value, 0)
        own = attributes_of(function)
        if may_call and own:
            yield from self.in_dictionary(own, DEPTH)
        yield from self._inside(own.get("__wrapped__"), 0)

    def _in_class(self, kind: type[Any]) -> Iterator[Change]:
        new = constructor(kind)
        if new is not None:
            yield Change(Place(kind, "__new__"), vars(kind).get("__new__", ABSENT), new)
        bases = tuple(map(_derived, kind.__bases__))
        if bases != kind.__bases__:
            yield Change(Place(Bases(kind), "content"), kind.__bases__, bases)
        for name, value in list(kind.__dict__.items()):
            stand_in = stand_in_of(value)
            if stand_in is not None and not isinstance(kind, enum.EnumMeta):
                if not hasattr(type_of(value), "__get__"):  # it is not made a method
                    stand_in = staticmethod(stand_in) if callable(stand_in) else stand_in
                yield Change(Place(kind, name), value, stand_in)
            yield from self._inside(value, 0)


def _derived(base: type[Any]) -> type[Any]:
    """Return the class that stands in for a base, if it is derived from it.

    Instances must have the same layout in memory: that of classes in C differs.
    """
    found: Any = stand_in_of(base)
    kinds = (found, found.__base__) if isinstance(found, type_of(int)) else ()
    derived = (one for one in kinds if one is not None and base in one.__bases__)
    return next((one for one in derived if _layout_of(one) == _layout_of(base)), base)


def _layout_of(kind: type[Any]) -> tuple[int, int]:
    return kind.__basicsize__, kind.__dictoffset__


def _or_itself(value: Any) -> Any:
    found = stand_in_of(value)
    return value if found is None else found
