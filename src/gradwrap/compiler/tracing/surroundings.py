"""What a function finds around itself, and whether it is as it was.

A function reads more than its arguments: variables of its closure and module, defaults, attributes
of objects, items of containers. `Surroundings` finds them. It keeps what each of them holds, so
that a call can tell if something was bound anew. It makes a copy of the function that finds tracers
in the place of the arrays, so that what is read of them is written down like any other operation.
An array that cannot be replaced so is compared by its content instead.
"""

from __future__ import annotations

import dis
import functools
import importlib.util
import operator
import pathlib
import random
import sys
from abc import ABC
from array import array
from collections import deque
from contextvars import ContextVar
from itertools import pairwise
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FunctionType,
    MappingProxyType,
    MethodType,
    MethodWrapperType,
    ModuleType,
)
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, cast
from weakref import ReferenceType

import numpy as np

from gradwrap.compiler.ir.program import NDARRAY
from gradwrap.core.values.dynamic import DICT, LIST, TUPLE, type_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from collections.abc import Set as AbstractSet

NUMBER: type[Any] = np.generic
PLAIN = (bool, int, float, complex, str, bytes, type(None), NUMBER)
"""Values without parts, which never change."""
MISSING: Any = object()
LIBRARIES = (frozenset(sys.stdlib_module_names) - {"__main__"}) | {"gradwrap"}
DATA = frozenset({"types", "argparse", "collections", "configparser", "_thread", "weakref"})
"""The modules of Python's own whose objects hold the user's values as attributes."""
INTERFACES: frozenset[Any] = frozenset({object, ABC, Generic, Protocol})
"""Base classes of libraries that read no attributes."""
INSTALLED = frozenset({"site-packages", "dist-packages"})
"""The folders of packages whose variables nobody binds anew."""
TESTS = frozenset({"isinstance", "issubclass", "type", "ndarray", "singledispatch"})
"""Names in code that can tell an array from what stands for it."""
COMPUTED = frozenset(
    {"getattr", "vars", "__dict__", "__getattribute__", "attrgetter", "getmembers"}
    | {"asdict", "astuple", "deepcopy"}
)
"""Names in code that reads attributes whose names it need not contain."""
COPYING = frozenset({"copy", "dataclasses", "replace", "fields", "dumps", "dir"})
"""The same, of variables: methods have these names too, as `x.copy()`."""
SCOPES = frozenset({"globals", "eval", "exec"})
"""Names in code that reads variables of its module in other ways than by name."""
MODULES = frozenset({"modules", "import_module", "__import__"})
"""Names in code that finds modules by words."""
MOST = 4096
"""The most functions, objects and containers that are looked through."""
CONTAINERS: Any = (list, tuple, dict, set, frozenset, deque, MappingProxyType)
MAPPINGS: Any = (dict, MappingProxyType)
BUFFERS: Any = (bytearray, memoryview, array)
IMMUTABLE: Any = (tuple, frozenset)
PARTIAL: type[Any] = functools.partial
METHODS: Any = (staticmethod, classmethod)
HOLDING: Any = (functools.cached_property, functools.partialmethod)
COPIED: Any = (PARTIAL, MethodType)
GLOBAL = frozenset({"LOAD_GLOBAL", "LOAD_NAME"})
"""The instructions of Python that read a variable of a module."""
HEAP_TYPE = 1 << 9
"""The flag of classes that were defined in Python."""


class Place:
    """A variable, an attribute or a container, and what it held."""

    __slots__ = ("holder", "key", "kind", "name", "value")

    def __init__(self, kind: str, name: str, holder: Any, key: Any = None) -> None:
        self.kind: str = kind
        self.name: str = name
        self.holder: Any = holder
        self.key: Any = key
        self.value: Any = self.now()

    def now(self) -> Any:
        """What it holds."""
        holder = self.holder
        match self.kind:
            case "cell":
                try:
                    return holder.cell_contents
                except ValueError:  # it is empty
                    return MISSING
            case "variable":
                return holder.get(self.key, MISSING)
            case "attribute":
                return getattr(holder, self.key, MISSING)
            case "names":
                return len(holder)
            case "context":
                return holder.get(MISSING)
            case "shape":
                return holder.shape, holder.dtype
            case "content":
                return bytes(holder) if isinstance(holder, bytearray) else holder.tobytes()
            case "mapping":
                return [*holder, *holder.values()]
            case _:
                return list(holder)

    def holds(self) -> bool:
        """Tell if it still holds that."""
        now = self.now()
        if self.kind in ("names", "content", "shape"):
            return bool(now == self.value)
        if self.kind in ("mapping", "items"):
            return len(now) == len(self.value) and all(map(operator.is_, now, self.value))
        return now is self.value

    def test(self, number: int) -> str:
        """The test that it still holds that, as text; `P` is the holder and `W` the value."""
        if self.kind == "cell":
            return f"P{number}.cell_contents is W{number}"
        if self.kind == "variable":
            return f"P{number}.get({self.key!r}) is W{number}"
        if self.kind == "shape":
            return f"P{number}.shape == W{number}[0] and P{number}.dtype == W{number}[1]"
        return f"H{number}()"


class _Import(NamedTuple):
    """An import within a function: how many packages up, and the name."""

    level: int
    name: str


class _Names(NamedTuple):
    """What code names: variables of its module, all names with its words, and imports."""

    variables: frozenset[str]
    names: frozenset[str]
    imports: frozenset[_Import]
    tells_same: bool
    """Whether it asks if two values are one and the same."""


class _Node:
    """A value among the surroundings, and what is reached from it."""

    __slots__ = ("can_be_copied", "name", "parts", "seen", "value")

    def __init__(self, value: Any, name: str) -> None:
        self.value = value
        self.name = name
        self.parts: list[Any] = []
        self.can_be_copied = True
        self.seen: set[str] = set()
        """The names that were looked up in it."""


def _is_numpys(value: Any) -> bool:
    return type_of(value) is NDARRAY


def _is_float(array: Any) -> bool:
    return bool(array.dtype.kind in "fc")


class Surroundings:
    """All that a function can reach by names, and what it holds."""

    def __init__(
        self,
        function: Callable[..., Any],
        leaves: Sequence[Any] = (),
        is_array: Callable[[Any], bool] = _is_numpys,
        is_replaced: Callable[[Any], bool] = _is_float,
    ) -> None:
        self.function = function
        self._is_array = is_array
        self._is_replaced = is_replaced
        self.places: list[Place] = []
        self.is_too_large: bool = False
        self._nodes: dict[int, _Node] = {}
        self._waiting: deque[_Node] = deque()
        self._names: set[str] = set()
        self._unwatched: set[int] = set()
        self._computes_names: bool = False
        """Whether code reads attributes whose names it need not contain."""
        self.tells_same: bool = False
        """Whether code asks if two values are one and the same."""
        self._scopes: dict[int, set[str]] = {}
        """The names that were looked up, by the dictionary of a module's variables."""
        package = (getattr(function, "__module__", "") or "").partition(".")[0]
        self._package: str = "" if package in LIBRARIES else package
        self._visit(function, "the function")
        for leaf in leaves:
            self._visit(leaf, "an argument")
        self._walk()
        self.arrays: dict[int, str] = {
            key: node.name for key, node in self._nodes.items() if is_array(node.value)
        }
        for key, name in self.arrays.items():
            self.places.append(Place("shape", name, self._nodes[key].value))
        self._replaced: set[int] = self._replaceable()
        self._add_contents(key for key in self.arrays if key not in self._replaced)

    @property
    def replaces(self) -> bool:
        """Tell if there are arrays to replace."""
        return bool(self._replaced)

    @property
    def sets_errors(self) -> bool:
        """Tell if code sets what NumPy does about floating point errors."""
        return not self._names.isdisjoint(("errstate", "seterr"))

    def keep_random(self) -> Callable[[], None]:
        """Return what sets generators of random numbers back to their state of now."""
        states: list[Callable[[], None]] = []
        legacy: Any = np.random
        for one in (random, legacy, *(node.value for node in self._nodes.values())):
            if isinstance(one, np.random.Generator):
                bits: Any = one.bit_generator
                states.append(functools.partial(setattr, bits, "state", bits.state))
            elif one is legacy or isinstance(one, np.random.RandomState):
                states.append(functools.partial(one.set_state, one.get_state()))
            elif one is random or isinstance(one, random.Random):
                states.append(functools.partial(one.setstate, one.getstate()))

        def restore() -> None:
            for set_back in states:
                set_back()

        return restore

    def compare_contents(self) -> None:
        """Replace no array; compare the contents of all of them."""
        self._add_contents(self._replaced)
        self._replaced.clear()

    def name_of(self, array: Any) -> str | None:
        """The name of an array, or of one that it is a view of; None if it is not known."""
        while self._is_array(array):
            if id(array) in self.arrays:
                return self.arrays[id(array)]
            array = array.base
        return None

    def changed(self) -> str:
        """The name of something that has changed; "" if nothing has."""
        return next((place.name for place in self.places if not place.holds()), "")

    # Looking through ------------------------------------------------------------------------------

    def _visit(self, value: Any, name: str, parent: _Node | None = None) -> None:
        if isinstance(value, (BuiltinFunctionType, MethodWrapperType)):
            value = value.__self__  # a module, or the object of a method
        elif type_of(value) is ReferenceType:
            value = value()
        if isinstance(value, (*PLAIN, np.ufunc)):
            return
        node = self._nodes.get(id(value))
        if node is None:
            if isinstance(value, (ModuleType, type)) and self._is_library(value):
                return
            if len(self._nodes) >= MOST:
                self.is_too_large = True
                return
            node = self._nodes[id(value)] = _Node(value, name)
            self._waiting.append(node)
        if parent is not None:
            parent.parts.append(id(value))

    def _place(self, node: _Node, kind: str, name: str, holder: Any, key: Any = None) -> None:
        """Enter a place, and visit the one value that it holds."""
        place = Place(kind, name, holder, key)
        if id(holder) not in self._unwatched and not isinstance(place.value, ModuleType):
            self.places.append(place)
        if kind in ("cell", "variable", "attribute", "context"):
            self._visit(place.value, name, node)

    def _walk(self) -> None:
        while self._waiting:
            while self._waiting:
                self._look_through(self._waiting.popleft())
            for node in list(self._nodes.values()):
                self._look_up(node)

    def _look_through(self, node: _Node) -> None:
        """Visit the parts of a value that are no attributes."""
        value = node.value
        if isinstance(value, FunctionType):
            self._function(node, value)
        elif isinstance(value, CellType):
            self._place(node, "cell", node.name, value)
        elif isinstance(value, CONTAINERS):
            self._container(node, value)
        elif isinstance(value, ContextVar):
            self._place(node, "context", node.name, value)
            node.can_be_copied = False
        elif isinstance(value, BUFFERS):
            self._place(node, "content", node.name, value)
        else:
            if isinstance(value, operator.attrgetter):
                named: Any = value.__reduce__()
                self._names.update(part for name in named[1] for part in name.split("."))
            for part in _parts(value):
                self._visit(part, node.name, node)
            is_whole = isinstance(value, ModuleType) or self._is_array(value)
            is_plain = is_whole or _is_plain_object(value)
            node.can_be_copied = isinstance(value, COPIED) or (is_plain and not _is_ours(value))

    def _function(self, node: _Node, function: FunctionType) -> None:
        cells = function.__closure__ or ()
        is_library = self._is_library(function)
        for name, cell in zip(function.__code__.co_freevars, cells, strict=True):
            if is_library:
                self._unwatched.add(id(cell))
            self._visit(cell, name, node)
        for key in ("__defaults__", "__kwdefaults__"):
            if getattr(function, key):
                self._place(node, "attribute", function.__name__, function, key)
        if is_library:
            return
        scope = function.__globals__
        variables, names, imports, tells_same = _names(function.__code__)
        self._names |= names
        if not names.isdisjoint(COMPUTED) or not variables.isdisjoint(COPYING):
            self._computes_names = True
        self.tells_same |= tells_same
        if names & SCOPES:
            variables = frozenset(scope)
        self._modules(node, scope, imports, names if names & MODULES else ())
        known = self._scopes.setdefault(id(scope), set())
        for name in sorted(variables & scope.keys()):
            if name in known:
                self._visit(scope[name], name, node)
            else:
                known.add(name)
                self._place(node, "variable", name, scope, name)

    def _modules(
        self, node: _Node, scope: Any, imports: Iterable[_Import], words: Iterable[str]
    ) -> None:
        """Visit the modules that code imports when it runs, or finds by their names."""
        package: str = scope.get("__package__") or ""
        found = set(words) & sys.modules.keys()
        for one in imports:
            parts = importlib.util.resolve_name("." * one.level + one.name, package).split(".")
            found.update(".".join(parts[: n + 1]) for n in range(len(parts)))
        for name in sorted(found):
            if self.is_users(name):
                self._place(node, "variable", name, sys.modules, name)

    def _container(self, node: _Node, value: Any) -> None:
        node.can_be_copied = type_of(value) in (list, tuple, dict)
        if not isinstance(value, IMMUTABLE):
            kind = "mapping" if isinstance(value, MAPPINGS) else "items"
            self._place(node, kind, node.name, value)
        for part in value.values() if isinstance(value, MAPPINGS) else value:
            self._visit(part, node.name, node)

    def _look_up(self, node: _Node) -> None:
        """Visit the attributes of modules, classes and objects that the code names."""
        value = node.value
        if type_of(value) in (CellType, MethodType, list, tuple, dict) or self._is_array(value):
            return
        if isinstance(value, (ModuleType, type)):
            scope = vars(value)
            special = {name for name in scope if name[:2] == "__" and callable(scope[name])}
            named = _data(scope) if self._computes_names else self._names
            self._look_up_names(node, scope, named | self._names | special)
            for base in (*value.__mro__[1:], type_of(value)) if isinstance(value, type) else ():
                self._visit(base, node.name, node)
            return
        kind = type_of(value)
        if self._is_library(kind) and kind.__module__ not in {*DATA, "builtins"}:
            return
        attributes = getattr(value, "__dict__", None)
        if isinstance(attributes, dict):
            own = cast("dict[str, Any]", attributes)
            if not node.seen and (own or kind is not FunctionType):
                node.seen.add("__dict__")
                self._place(node, "names", node.name, own)
            whole = self._computes_names or self._is_read_elsewhere(kind)
            self._look_up_names(node, own, own.keys() if whole else self._names)
        slots = {name for one in kind.__mro__ for name in _slots(one)}
        for name in sorted(slots & self._names - node.seen):
            node.seen.add(name)
            self._place(node, "attribute", name, value, name)
        self._visit(kind, node.name, node)

    def _is_read_elsewhere(self, kind: type[Any]) -> bool:
        """Tell if code of libraries reads the attributes of an object, by names of its own."""
        bases: Any = (base for base in kind.__mro__ if base not in INTERFACES)
        return kind is not FunctionType and any(map(self._is_library, bases))

    def _look_up_names(self, node: _Node, scope: Any, names: AbstractSet[str]) -> None:
        for name in sorted((names & scope.keys()) - node.seen):
            node.seen.add(name)
            self._place(node, "variable", name, scope, name)

    def _is_library(self, value: Any) -> bool:
        """Tell if a function, class or module belongs to a library, not to the user's code."""
        if isinstance(value, FunctionType):  # what wraps a function names its module
            name = value.__globals__.get("__name__", "")
        else:
            name = value.__name__ if isinstance(value, ModuleType) else value.__module__
        return not self.is_users(str(name or ""))

    def is_users(self, module: str) -> bool:
        """Tell if a module is the user's own code, and not that of an installed package."""
        package = module.partition(".")[0]
        return package == self._package or not is_installed(package)

    # Arrays ---------------------------------------------------------------------------------------

    def _reached(self, start: Iterable[int], edges: Callable[[int], Iterable[int]]) -> set[int]:
        found = set(start)
        waiting = list(found)
        while waiting:
            for key in edges(waiting.pop()):
                if key not in found:
                    found.add(key)
                    waiting.append(key)
        return found

    def _replaceable(self) -> set[int]:
        """The arrays that are reached by what can be copied alone; none if classes are tested."""
        if self._names & TESTS:
            return set()
        fixed = {
            key
            for key, node in self._nodes.items()
            if not node.can_be_copied or isinstance(node.value, type)
        }
        held = self._reached(fixed, lambda key: self._nodes[key].parts)
        return {
            key
            for key in self.arrays
            if key not in held and self._is_replaced(self._nodes[key].value)
        }

    def _add_contents(self, keys: Iterable[int]) -> None:
        for key in keys:
            node = self._nodes[key]
            self.places.append(Place("content", node.name, node.value))

    def with_arrays(
        self, leaves: Sequence[Any], enter: Callable[[Any], Any]
    ) -> tuple[Callable[..., Any], Sequence[Any]]:
        """Return the function and the leaves of its arguments, which find what `enter` gives."""
        parents: dict[int, list[int]] = {}
        for key, node in self._nodes.items():
            for part in node.parts:
                parents.setdefault(part, []).append(key)
        wanted = self._reached(self._replaced, lambda key: parents.get(key, ()))
        copies = _Copies(wanted, self._replaced, enter)
        function = copies.of(self.function)
        found = [copies.of(leaf) for leaf in leaves]
        copies.fill()
        return function, found


class _Copies:
    """Copies of functions, objects and containers, with other arrays in them."""

    def __init__(self, wanted: set[int], arrays: set[int], enter: Callable[[Any], Any]) -> None:
        self._wanted = wanted
        self._arrays = arrays
        self._enter = enter
        self._made: dict[int, Any] = {}
        self._unfilled: list[Callable[[], None]] = []

    def fill(self) -> None:
        """Give the copies their parts, which may refer to each other."""
        while self._unfilled:
            self._unfilled.pop()()

    def of(self, value: Any) -> Any:
        """The copy of a value; the value itself if no other array is in it."""
        if id(value) not in self._wanted:
            return value
        if id(value) not in self._made:
            self._made[id(value)] = self._copied(value)
        return self._made[id(value)]

    def _copied(self, value: Any) -> Any:
        if id(value) in self._arrays:
            return self._enter(value)
        if isinstance(value, FunctionType):
            return self._function(value)
        if isinstance(value, functools.partial):
            named = {name: self.of(one) for name, one in value.keywords.items()}
            return functools.partial(self.of(value.func), *map(self.of, value.args), **named)
        if isinstance(value, MethodType):
            return MethodType(self.of(value.__func__), self.of(value.__self__))
        if isinstance(value, TUPLE):
            return tuple(map(self.of, value))
        made = self._empty(value)
        self._unfilled.append(functools.partial(self._fill, made, value))
        return made

    def _empty(self, value: Any) -> Any:
        if isinstance(value, (CellType, list)):
            return type_of(value)()
        if isinstance(value, DICT):
            return {}
        if isinstance(value, ModuleType):
            return ModuleType(value.__name__)
        kind: Any = type_of(value)
        return object.__new__(kind)

    def _fill(self, made: Any, value: Any) -> None:
        if isinstance(value, CellType):
            made.cell_contents = self.of(value.cell_contents)
        elif isinstance(value, LIST):
            made.extend(map(self.of, value))
        elif isinstance(value, DICT):
            made.update((key, self.of(one)) for key, one in value.items())
        else:
            for name, one in getattr(value, "__dict__", {}).items():
                made.__dict__[name] = self.of(one)
            for kind in type_of(value).__mro__:
                for name in _slots(kind):
                    if hasattr(value, name):
                        object.__setattr__(made, name, self.of(getattr(value, name)))

    def _scope(self, scope: dict[str, Any]) -> dict[str, Any]:
        """The copy of a module's variables, which all copied functions of the module share."""
        if id(scope) not in self._made:
            made = self._made[id(scope)] = self._empty(scope)
            self._unfilled.append(functools.partial(self._fill, made, scope))
        return cast("dict[str, Any]", self._made[id(scope)])

    def _function(self, function: FunctionType) -> FunctionType:
        made = FunctionType(
            function.__code__,
            self._scope(function.__globals__),
            function.__name__,
            self.of(function.__defaults__),
            function.__closure__ and tuple(map(self.of, function.__closure__)),
        )
        made.__kwdefaults__ = self.of(function.__kwdefaults__)
        made.__module__, made.__qualname__ = function.__module__, function.__qualname__
        made.__dict__.update(function.__dict__)
        return made


# Code ---------------------------------------------------------------------------------------------


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


@functools.lru_cache(maxsize=1024)
def _names(code: CodeType) -> _Names:
    """What code names."""
    codes = list(_codes(code))
    steps = [step for one in codes for step in dis.get_instructions(one)]
    variables = {step.argval for step in steps if step.opname in GLOBAL}
    imports = {
        _Import(level.argval, step.argval)
        for level, _, step in zip(steps, steps[1:], steps[2:], strict=False)
        if step.opname == "IMPORT_NAME"
    }
    constants = [constant for one in codes for constant in one.co_consts]
    words = {one for one in constants if isinstance(one, str) and one.isidentifier()}
    names = words.union(*(one.co_names for one in codes))
    tells_same = not names.isdisjoint(("id", "is_")) or any(
        step.opname == "IS_OP" and before.argval not in (None, ...)
        for before, step in pairwise(steps)
    )
    return _Names(frozenset(variables), frozenset(names), frozenset(imports), tells_same)


def _data(scope: Any) -> set[str]:
    """The names of a class's or module's variables that are neither functions nor modules."""
    kinds = (FunctionType, BuiltinFunctionType, ModuleType, type)
    return {name for name, value in scope.items() if not isinstance(value, kinds)}


@functools.lru_cache(maxsize=1024)
def is_installed(package: str) -> bool:
    """Tell if a package is installed, or comes with Python."""
    path = getattr(sys.modules.get(package), "__file__", None) or ""
    return package in LIBRARIES or not INSTALLED.isdisjoint(pathlib.Path(path).parts)


def _is_ours(value: Any) -> bool:
    return type_of(value).__module__.startswith("gradwrap.")


def _slots(kind: Any) -> Iterable[str]:
    found: Any = kind.__dict__.get("__slots__", ())
    return (found,) if isinstance(found, str) else tuple(found)


def _parts(value: Any) -> Iterable[Any]:
    """What functions, and objects of gradwrap's own, were made of."""
    if isinstance(value, PARTIAL):
        return value.func, *value.args, *value.keywords.values()
    if isinstance(value, MethodType):
        return value.__func__, value.__self__
    if isinstance(value, METHODS):
        return (value.__func__,)
    if isinstance(value, property):
        return (value.fget,)
    if isinstance(value, HOLDING):
        return (value.func,)
    if not _is_ours(value):
        return ()
    slots = (name for kind in type_of(value).__mro__ for name in _slots(kind))
    parts: list[Any] = [getattr(value, name, None) for name in slots]
    parts += getattr(value, "__dict__", {}).values()
    nested = [one for part in parts if isinstance(part, TUPLE) for one in part]
    return filter(callable, [getattr(value, "__wrapped__", None), *parts, *nested])


def _is_plain_object(value: Any) -> bool:
    """Tell if all of an object is in its attributes: no class of it was defined in C."""
    kind: Any = type_of(value)
    return not isinstance(value, type) and all(
        base is object or bool(base.__flags__ & HEAP_TYPE) for base in kind.__mro__
    )
