"""The surroundings of a function: find the objects it reads, and tell if they have changed.

A function reads more than its arguments: variables of its closure and module, defaults, attributes
of objects, items of containers. `Surroundings` finds them, and watches the places where the
results of its look-ups could change. It copies the function with tracers in place of the arrays,
so that reads of arrays are recorded like any other operation. An array that cannot be replaced in
this way is compared by its content instead.
"""

from __future__ import annotations

import builtins
import functools
import importlib.util
import operator
import random
import sys
from abc import ABC
from array import array
from collections import deque
from contextvars import ContextVar
from types import (
    BuiltinFunctionType,
    CellType,
    FunctionType,
    MappingProxyType,
    MethodType,
    MethodWrapperType,
    ModuleType,
)
from typing import TYPE_CHECKING, Any, Generic, Protocol
from weakref import ReferenceType

import numpy as np

from gradwrap.compiler.ir.program import NDARRAY
from gradwrap.compiler.tracing.surroundings import files, process, watch
from gradwrap.compiler.tracing.surroundings.copies import Copies
from gradwrap.compiler.tracing.surroundings.names import names_of
from gradwrap.core.observing.code import (
    ARRAYS,
    LIBRARIES,
    is_installed,
    named_module,
    package_of,
)
from gradwrap.core.observing.holders import parts_held
from gradwrap.core.values.dynamic import DICT, TUPLE, slots_of, type_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from collections.abc import Set as AbstractSet
    from types import CodeType

    from gradwrap.compiler.tracing.surroundings.names import Import, Names
    from gradwrap.compiler.tracing.surroundings.watch import Place
    from gradwrap.core.levels.modes import Ran

NUMBER: type[Any] = np.generic
PLAIN = (bool, int, float, complex, str, bytes, type(None), NUMBER)
"""Types of immutable values without parts."""
READ_BY_RULES = frozenset({"numpy", "scipy"})
"""The packages whose objects are read by code that no trace is told of."""
DATA = frozenset({"types", "argparse", "collections", "configparser", "weakref"})
"""The standard modules whose objects hold the user's values as attributes."""
INTERFACES: frozenset[Any] = frozenset({object, ABC, Generic, Protocol})
"""Base classes of libraries that read no attributes."""
TESTS = frozenset({"isinstance", "issubclass", "type", "ndarray", "singledispatch"})
"""Names in code that can tell an array from its tracer."""
TYPES = frozenset({"type", "singledispatch", "hasattr", "getattr", "dir", "inspect"})
"""Names in code that can tell a Python float from its tracer, although it shows its class."""
COMPUTED = frozenset(
    {"getattr", "vars", "__dict__", "__getattribute__", "attrgetter", "getmembers"}
    | {"asdict", "astuple", "deepcopy"}
)
"""Names in code that reads attributes by computed names."""
WORDED = frozenset({"getattr", "hasattr", "vars", "__dict__", "attrgetter", "getmembers", "dir"})
"""Names in code that looks up attributes of functions by strings."""
TOLD = frozenset({"getattr", "vars"})
"""Of these, those of which a trace is told the names or the objects, in code of packages."""
LISTING = frozenset({"dir", "getmembers"})
"""Those that also read the names of modules that are variables of a function."""
COPYING = frozenset({"copy", "dataclasses", "replace", "fields", "dumps", "dir"})
"""Like `COMPUTED`, for variables only, since methods share these names: `x.copy()`."""
SCOPES = frozenset({"globals", "eval", "exec"})
"""Names in code that reads variables of its module other than by name."""
MODULES = frozenset({"modules", "import_module", "__import__"})
"""Names in code that finds modules by strings."""
DRAWING = frozenset({"random", "default_rng", "RandomState", "rvs", "random_state", "seed"})
"""Names in code that draws random numbers, or seeds generators."""
FLAGS = frozenset({"flags", "writeable", "setflags"})
"""Names in code that tests if arrays are writeable."""
MOST = 8192
"""The most functions, objects and containers that are searched."""
LARGE = 64
"""The length of the longest container of a package whose items are searched; others are tables."""
MANY = 512
"""The most objects in nested containers of a package that are searched; others are tables, too."""
CONTAINERS: Any = (list, tuple, dict, set, frozenset, deque, MappingProxyType)
MAPPINGS: Any = (dict, MappingProxyType)
BUFFERS: Any = (bytearray, memoryview, array)
IMMUTABLE: Any = (tuple, frozenset)
PARTIAL: type[Any] = functools.partial
CACHED: type[Any] = type(functools.lru_cache(maxsize=None)(len))
METHODS: Any = (staticmethod, classmethod)
HOLDING: Any = (functools.cached_property, functools.partialmethod)
COPIED: Any = (PARTIAL, MethodType)
HEAP_TYPE = 1 << 9
"""The flag of classes defined in Python, and of some that are defined in C."""


class _Node:
    """An object in the surroundings, and the objects reached from it."""

    __slots__ = ("can_be_copied", "is_in_table", "name", "parts", "seen", "value")

    def __init__(self, value: Any, name: str) -> None:
        self.value = value
        self.name = name
        self.parts: list[Any] = []
        self.can_be_copied = True
        self.seen: set[str] = set()
        """The names that were looked up in it."""
        self.is_in_table = False
        """Whether the objects in it, a container in a table, are not searched."""


def _is_numpys(value: Any) -> bool:
    return type_of(value) is NDARRAY


def _is_float(array: Any) -> bool:
    return bool(array.dtype.kind in "fc")


class Surroundings:
    """All objects that a function can reach by names, and the places where they could change."""

    def __init__(
        self,
        function: Callable[..., Any],
        leaves: Sequence[Any] = (),
        is_array: Callable[[Any], bool] = _is_numpys,
        is_replaced: Callable[[Any], bool] = _is_float,
        ran: Ran | None = None,
    ) -> None:
        self.function = function
        self._leaves = leaves
        self._is_array = is_array
        self._is_replaced = is_replaced
        self._ran: dict[CodeType, dict[str, Any]] = dict(ran.code if ran else {})
        """The code of adapted packages that runs: it is the user's code here."""
        self._asked = frozenset(ran.asked if ran else ())
        self._opened = dict(ran.opened if ran else {})
        self._places_of_code = {_place(code) for code in self._ran}
        self._adapted = {str(scope.get("__name__")) for scope in self._ran.values()}
        self._packages = set(map(package_of, self._adapted)) - ARRAYS - {"scipy"}
        self.places: list[Place] = []
        self._of_code: list[Place] = []
        """The places that only code of adapted packages reads."""
        self._files: set[str] = set()
        """The files that the function has read."""
        self.problem: str = ""
        """The reason why the variables cannot be watched, and a remedy; or ""."""
        self._nodes: dict[int, _Node] = {}
        self._waiting: deque[_Node] = deque()
        self._names: set[str] = set(self._asked)
        self._attributes: set[str] = set(self._asked)
        self._described: set[str] = set()
        """The variables whose attributes are read."""
        self._unwatched: set[int] = set()
        self._held: list[tuple[str, Any]] = []
        """The arrays that objects of other packages hold, which make views of them."""
        self._computes_names: bool = False
        """Whether code of the user's reads attributes by computed names."""
        self._opens_objects: bool = False
        """Whether code reads attributes of packages' objects so, and no trace is told which."""
        self._opens_modules: bool = False
        """Whether it reads those of packages' modules, too."""
        self.tells_same: bool = False
        """Whether code tests two values for identity."""
        self._scopes: dict[int, set[str]] = {}
        """By the dictionary of a module's variables: the names looked up."""
        self._absent: dict[int, tuple[str, Any, set[str]]] = {}
        """By dictionary: the names looked up but missing."""
        package = package_of(getattr(function, "__module__", "") or "")
        self._package: str = "" if package in LIBRARIES else package
        try:
            self._visit(function, "the function")
            for leaf in leaves:
                self._visit(leaf, "an argument")
            for code, scope in self._ran.items():
                self._code(_Node(code, code.co_name), code, scope, builtins.__dict__)
            self._walk()
        except Exception as error:  # noqa: BLE001  code of the user's classes
            self._nodes.clear()
            self.problem = (
                f"to look at an object that it reads raises {type(error).__name__}: {error}. "
                "Fix: pass what it reads of the object as an argument"
            )
        self.arrays: dict[int, str] = {
            key: node.name for key, node in self._nodes.items() if is_array(node.value)
        }
        for key, name in self.arrays.items():
            self.places.append(watch.Shape(name, self._nodes[key].value))
            if self.tells_flags and isinstance(self._nodes[key].value, NDARRAY):
                self._add_state(self._nodes[key], watch.writeable)
        self.places += process.states(self._names)
        self.reads_files: bool = files.may_read(self._names)
        """Whether code may read files, of which a trace is then told."""
        self._replaced: set[int] = self._replaceable()
        self._add_contents(key for key in self.arrays if key not in self._replaced)

    @property
    def replaces(self) -> bool:
        """Tell if there are arrays to replace."""
        return bool(self._replaced)

    @property
    def has_ranges(self) -> bool:
        """Tell if code names Python's `range`."""
        return "range" in self._names

    @property
    def sets_errors(self) -> bool:
        """Tell if code sets NumPy's handling of floating point errors."""
        return not self._names.isdisjoint(("errstate", "seterr"))

    @property
    def tells_types(self) -> bool:
        """Tell if code can tell a Python float from its tracer."""
        return not self._names.isdisjoint(TYPES)

    @property
    def tells_flags(self) -> bool:
        """Tell if code tests whether arrays are writeable."""
        return not self._names.isdisjoint(FLAGS)

    def keep_random(self) -> Callable[[], None]:
        """Return a function that restores the current state of random generators.

        Only if code names a function that draws: another thread may use the same generators.
        """
        states: list[Callable[[], None]] = []
        legacy: Any = np.random
        found: list[Any] = [node.value for node in self._nodes.values()]
        for one in found if self._names.isdisjoint(DRAWING) else (random, legacy, *found):
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

    def objects(self) -> list[tuple[Any, list[int]]]:
        """Return all objects in the order of the search, each with the places of its parts."""
        places = {key: place for place, key in enumerate(self._nodes)}
        return [(node.value, [places[one] for one in node.parts]) for node in self._nodes.values()]

    def array_objects(self) -> list[Any]:
        """Return all arrays found, in the order of the search."""
        return [self._nodes[key].value for key in self.arrays]

    def compare_contents(self) -> None:
        """Compare all arrays by content from now on, and replace none."""
        self._add_contents(self._replaced)
        self._replaced.clear()

    def name_of(self, array: Any) -> str | None:
        """Return the name of an array, or of the array it is a view of; None if unknown."""
        view = array
        while self._is_array(array):
            if id(array) in self.arrays:
                return self.arrays[id(array)]
            array = array.base
        if not _is_numpys(view):
            return None
        found = next((name for name, one in self._held if np.may_share_memory(view, one)), None)
        return found or self._name_of_memory(view)

    def _name_of_memory(self, view: Any) -> str | None:
        """Return the name of an array that is a view itself, of the memory of which this is one."""
        if view.base is None:
            return None
        known = ((self._nodes[key].value, name) for key, name in self.arrays.items())
        return next(
            (
                name
                for one, name in known
                if one.base is view.base and np.may_share_memory(one, view)
            ),
            None,
        )

    def changed(self) -> str:
        """Return the name of an object that has changed, or ""."""
        return next((place.name or "globals" for place in self.places if not place.holds()), "")

    def watch_content(self, name: str, array: Any) -> None:
        """Compare the content of an array that code has looked into."""
        self.places.append(watch.State(name, array, watch.content))

    def watch_caches(self) -> None:
        """Watch the results that functions under `functools.lru_cache` hold now."""
        self.places = [place for place in self.places if type_of(place) is not watch.Cached]
        for node in self._nodes.values():
            if type_of(node.value) is CACHED:
                self._watch(watch.Cached(node.name, node.value))

    def with_code(self, ran: Ran) -> Surroundings:
        """Return what the function reads together with code of adapted packages."""
        return Surroundings(self.function, self._leaves, self._is_array, ran=ran)

    def watch_code(self, ran: Ran) -> str:
        """Watch what code of adapted packages and files hold, too; return why it fails, or ""."""
        self.places += files.states(ran.files - self._files)
        self._files |= ran.files
        is_known = ran.code.keys() <= self._ran.keys() and ran.asked <= self._asked
        if is_known and ran.opened.keys() <= self._opened.keys():
            return ""
        self._ran.update(ran.code)
        self._asked, self._opened = frozenset(ran.asked), dict(ran.opened)
        whole = self.with_code(ran)
        self.reads_files |= whole.reads_files
        whole._add_contents(whole._replaced - self._replaced)  # the trace took their numbers
        known = {(type_of(one), id(one.holder), str(one.key)) for one in self.places}
        found = [
            one
            for one in whole.places
            if (type_of(one), id(one.holder), str(one.key)) not in known
            and not (one.key is watch.content and id(one.holder) in self._replaced)
        ]
        self.places += found
        self._of_code += found
        return whole.problem

    def forget_written(self) -> None:
        """Do not watch what the code of packages writes itself: both traces were the same.

        What it wrote into its objects, such as a cache, is watched as it is now.
        """
        for place in [one for one in self.places if one.is_packages and not one.holds()]:
            place.value = place.now()
            if self._is_array(place.value):
                self.watch_content(place.name, place.value)
        written = {id(place) for place in self._of_code if not place.holds()}
        self.places = [place for place in self.places if id(place) not in written]

    # Search ---------------------------------------------------------------------------------------

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
                if value is random:
                    self._names.add("random")
                return
            if len(self._nodes) >= MOST:
                self.problem = "it reads too many objects outside. Fix: pass them as arguments"
                return
            node = self._nodes[id(value)] = _Node(value, name)
            self._waiting.append(node)
        if parent is not None:
            parent.parts.append(id(value))

    def _watch(self, place: Place) -> None:
        """Watch a place."""
        if id(place.holder) not in self._unwatched:
            self.places.append(place)

    def _follow(self, node: _Node, place: Place) -> None:
        """Watch a place, and visit the object in it."""
        self._watch(place)
        self._visit(place.value, place.name, node)

    def _add_state(self, node: _Node, state: Callable[[Any], Any]) -> None:
        self._watch(watch.State(node.name, node.value, state))

    def _lacks(self, name: str, scope: Any, names: AbstractSet[str]) -> None:
        """Record names that were looked up in a dictionary but are missing."""
        if names:
            self._absent.setdefault(id(scope), (name, scope, set()))[2].update(names)

    def _walk(self) -> None:
        while self._waiting:
            while self._waiting:
                self._look_through(self._waiting.popleft())
            for node in list(self._nodes.values()):
                self._look_up(node)
        for node in self._nodes.values():
            self._look_for_more(node)
        for name, scope, names in self._absent.values():
            missing = names - scope.keys()
            if missing:
                self.places.append(watch.Absent(name, scope, missing))

    def _look_through(self, node: _Node) -> None:
        """Visit the parts of an object other than attributes."""
        value = node.value
        if isinstance(value, FunctionType):
            self._function(node, value)
        elif isinstance(value, CellType):
            self._follow(node, watch.Cell(node.name, value))
        elif parts_held(value) is not None:
            self._holder(node)
        elif isinstance(value, CONTAINERS):
            self._container(node, value)
        elif isinstance(value, ContextVar):
            self._follow(node, watch.Context(node.name, value))
            node.can_be_copied = False
        elif isinstance(value, BUFFERS) or _is_foreign(value):
            self._add_state(node, watch.content)
            node.can_be_copied = False
        else:
            if isinstance(value, operator.attrgetter):
                named: Any = value.__reduce__()
                words = [part for name in named[1] for part in name.split(".")]
                self._names.update(words)
                self._attributes.update(words)
            if type_of(value) is PARTIAL:
                self._watch(watch.Entries(node.name, _keywords_of(value)))
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
                place = watch.Attribute(function.__name__, function, key)
                if is_library:
                    self._visit(place.value, place.name, node)
                else:
                    self._follow(node, place)
        if is_library:
            return
        self._watch(watch.Attribute(function.__name__, function, "__code__"))
        around: dict[str, Any] = getattr(function, "__builtins__", {})
        self._code(node, function.__code__, function.__globals__, around)

    def _code(
        self, node: _Node, code: CodeType, scope: dict[str, Any], around: dict[str, Any]
    ) -> None:
        """Visit the variables that code names."""
        named = names_of(code)
        variables = named.variables
        self._names |= named.names
        self._attributes |= named.attributes
        self._described |= named.described
        computed = (named.names & COMPUTED) | (variables & COPYING)
        if computed:
            is_packages = self._is_of_package(scope)
            self._computes_names |= not is_packages
            is_told = is_packages or _place(code) in self._places_of_code
            self._opens_objects |= not (is_told and computed <= TOLD)
            may_open = "__dict__" in computed and _may_open_module(named, scope)
            self._opens_modules |= not is_told or may_open or not computed.isdisjoint(LISTING)
        self.tells_same |= named.tells_same
        known = self._scopes.setdefault(id(scope), set())
        if named.names & SCOPES:
            variables = variables.union(scope)
            if "" not in known:
                known.add("")
                self._watch(watch.Keys(str(scope.get("__name__") or ""), scope))
        self._modules(node, scope, named.imports, named.names if named.names & MODULES else ())
        for name in sorted(variables):
            found = scope if name in scope else around
            if name in known:
                self._visit(found.get(name), name, node)
                continue
            known.add(name)
            if found is not scope:
                self._lacks(name, scope, {name})
            if name in found:
                self._follow(node, watch.Item(name, found, name))
            else:
                self._lacks(name, found, {name})

    def _is_of_package(self, scope: Any) -> bool:
        """Tell if names are those of a module or a class of an adapted package."""
        module = str(scope.get("__module__") or scope.get("__name__") or "")
        return self._is_adapted(module) and is_installed(package_of(module))

    def _reads_all(self, value: Any) -> bool:
        """Tell if code may read all attributes of a module, a class or an object."""
        if self._opens_modules or id(value) in self._opened:
            return True
        if self._opens_objects and not isinstance(value, ModuleType):
            return True
        owner = value if isinstance(value, (ModuleType, type)) else type_of(value)
        return self._computes_names and not self._is_of_package(vars(owner))

    def _modules(
        self, node: _Node, scope: Any, imports: Iterable[Import], words: Iterable[str]
    ) -> None:
        """Visit the modules that code imports when it runs, or finds by strings."""
        package: str = scope.get("__package__") or ""
        found = set(words) & sys.modules.keys()
        for one in imports:
            parts = importlib.util.resolve_name("." * one.level + one.name, package).split(".")
            found.update(".".join(parts[: n + 1]) for n in range(len(parts)))
        for name in sorted(found):
            if name in sys.modules:
                self._follow(node, watch.Item(name, sys.modules, name))
            elif self.is_users(name):
                self._lacks(name, sys.modules, {name})

    def _container(self, node: _Node, value: Any) -> None:
        node.can_be_copied = type_of(value) in (list, tuple, dict)
        if not isinstance(value, IMMUTABLE):
            make = watch.Entries if isinstance(value, MAPPINGS) else watch.Contents
            self._watch(make(node.name, value))
        if self._ran and len(value) > LARGE:
            return
        is_table = node.is_in_table or (self._ran and _objects_in(value, MANY) > MANY)
        for part in _items_of(value):
            if not is_table:
                self._visit(part, node.name, node)
            elif isinstance(part, CONTAINERS):
                is_new = id(part) not in self._nodes
                self._visit(part, node.name, node)
                if is_new and id(part) in self._nodes:
                    self._nodes[id(part)].is_in_table = True

    def _holder(self, node: _Node) -> None:
        """Watch an object of another package that holds arrays, such as a sparse matrix."""
        node.can_be_copied = False
        self._add_state(node, watch.held)
        place = watch.Held(node.name, node.value)
        if place.holds():  # it makes none anew
            self._watch(place)
        for part in place.value:
            self._unwatched.add(id(part))  # its content is a part of the state
            self._visit(part, node.name, node)
            self._held.append((node.name, part))

    def _look_up(self, node: _Node) -> None:
        """Visit the attributes of modules, classes and objects that the code names."""
        value = node.value
        if type_of(value) in (CellType, MethodType, list, tuple, dict):
            return
        if self._is_array(value):
            self._look_into(node)  # of a subclass
            return
        if isinstance(value, (ModuleType, type)):
            scope = vars(value)
            special = {name for name in scope if name[:2] == "__" and callable(scope[name])}
            named = _data(scope) if self._reads_all(value) else self._names
            if len(named) > LARGE and id(value) in self._opened:  # a table
                if "__dict__" not in node.seen:
                    node.seen.add("__dict__")
                    self._watch(watch.Entries(node.name, scope))
                named = self._names
            self._look_up_names(node, scope, named | self._names | special)
            for base in (*value.__mro__[1:], type_of(value)) if isinstance(value, type) else ():
                self._visit(base, node.name, node)
            return
        kind = type_of(value)
        if named_module(kind) == "_thread":
            if not node.seen and hasattr(value, "__dict__"):
                node.seen.add("__dict__")
                self._watch(watch.Own(node.name, value))
                for part in _attributes_of(value).values():
                    self._visit(part, node.name, node)
            return
        if self._is_library(kind) and named_module(kind) not in {*DATA, "builtins"}:
            package, own = package_of(named_module(kind)), _own_attributes(value)
            if package in READ_BY_RULES:
                self._look_into(node)
            elif package not in LIBRARIES and own is not None:
                self._look_up_names(node, own, self._names)
            return
        own = _own_attributes(value)
        if own is not None:
            whole = self._reads_all(value) or self._is_read_elsewhere(kind)
            self._look_up_names(node, own, own.keys() if whole else self._names)
        slots = {name for one in kind.__mro__ for name in slots_of(one)}
        for name in sorted(slots & self._names - node.seen):
            node.seen.add(name)
            self._follow(node, watch.Attribute(name, value, name))
        self._visit(kind, node.name, node)

    def _look_into(self, node: _Node) -> None:
        """Watch all attributes of an object or array, of which a package's code may read any."""
        value, kind = node.value, type_of(node.value)
        own = None if node.seen else _own_attributes(value)
        if own is None:
            return
        node.can_be_copied = False
        is_packages = self._is_library(kind)
        places = [watch.Item(name, own, name) for name in own]
        for place in (*places, watch.Keys(node.name, own)):
            place.is_packages = is_packages
            self._watch(place)
        for place in places:
            node.seen.add(place.key)
            if type_of(place.value) is not MethodType or place.value.__self__ is not value:
                self._visit(place.value, node.name, node)

    def _look_for_more(self, node: _Node) -> None:
        """Watch for new names, which may shadow objects found elsewhere."""
        value = node.value
        if isinstance(value, ModuleType):
            self._lacks(node.name, vars(value), self._attributes - vars(value).keys())
        elif isinstance(value, type):
            self._watch(watch.Keys(node.name, vars(value)))
            self._watch(watch.Attribute(node.name, value, "__mro__"))
        elif isinstance(value, FunctionType):
            known_as = (node.name, value.__name__)
            is_asked = not (self._described.isdisjoint(known_as) and self._names.isdisjoint(WORDED))
            if (is_asked or value.__dict__) and not self._is_library(value):
                self._watch(watch.Keys(node.name, value.__dict__))
        elif not self._is_library(type_of(value)) or named_module(type_of(value)) in DATA:
            if not self._is_library(type_of(value)):
                self._watch(watch.Kind(node.name, value))
            own = _own_attributes(value)
            if own is not None:
                self._watch(watch.Keys(node.name, own))

    def _is_read_elsewhere(self, kind: type[Any]) -> bool:
        """Tell if library code reads the attributes of an object, by names of its own."""
        bases: Any = (base for base in kind.__mro__ if base not in INTERFACES)
        return kind is not FunctionType and any(map(self._is_library, bases))

    def _look_up_names(self, node: _Node, scope: Any, names: AbstractSet[str]) -> None:
        for name in sorted((names & scope.keys()) - node.seen):
            node.seen.add(name)
            self._follow(node, watch.Item(name, scope, name))

    def _is_library(self, value: Any) -> bool:
        """Tell if a function, class or module belongs to a library, not to the user's code."""
        if isinstance(value, FunctionType):  # a wrapper copies `__module__`
            name = value.__globals__.get("__name__", "")
            if self._is_adapted(name):
                return _place(value.__code__) not in self._places_of_code
        elif isinstance(value, type) and value.__flags__ & HEAP_TYPE:
            if not named_module(value):  # compiled, and tells only of its instances
                return True
            name = value.__module__ if value.__module__ != "builtins" else ""  # of `exec`
        else:
            name = value.__name__ if isinstance(value, ModuleType) else named_module(value)
        return not self.is_users(str(name or ""))

    def is_users(self, module: str) -> bool:
        """Tell if a module is the user's own code, or adapted, and not an installed package.

        The methods of named tuples, which Python writes, are nobody's.
        """
        package = package_of(module)
        is_own = package == self._package or self._is_adapted(module)
        return is_own or not (is_installed(package) or package.startswith("namedtuple_"))

    def _is_adapted(self, module: str) -> bool:
        return module in self._adapted or package_of(module) in self._packages

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
        """Return the arrays reached only through copyable objects; none if code tests classes."""
        if not self.arrays or self._names & TESTS:
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
            self._add_state(node, watch.content)

    watch: None = None

    def with_arrays(
        self,
        leaves: Sequence[Any],
        enter: Callable[[Any], Any],
        builtins: dict[str, Any] | None = None,
        number: Callable[[int], int] | None = None,
    ) -> tuple[Callable[..., Any], Sequence[Any]]:
        """Return the function and the leaves of its arguments with arrays replaced by `enter`.

        `builtins` replace Python's own in copies of the user's functions, and `number` the integers
        in the variables around them.
        """
        parents: dict[int, list[int]] = {}
        for key, node in self._nodes.items():
            for part in node.parts:
                parents.setdefault(part, []).append(key)
        wanted = self._reached(self._replaced, lambda key: parents.get(key, ()))
        if builtins is not None:
            wanted |= self._reached(
                [
                    key
                    for key, node in self._nodes.items()
                    if self._is_users_function(node.value)
                    or (number is not None and self._can_be_copied(key) and _holds_int(node.value))
                ],
                lambda key: filter(self._can_be_copied, parents.get(key, ())),
            )
        copies = Copies(wanted, self._replaced, enter, builtins, self.is_users, number)
        function = copies.of(self.function)
        found = [copies.of(leaf) for leaf in leaves]
        copies.fill()
        return function, found

    def _is_users_function(self, value: Any) -> bool:
        return isinstance(value, FunctionType) and not self._is_library(value)

    def _can_be_copied(self, key: int) -> bool:
        node = self._nodes[key]
        return node.can_be_copied and not isinstance(node.value, type)


# Values -------------------------------------------------------------------------------------------


def _place(code: CodeType) -> tuple[str, str, int]:
    """Return where code was written; adapted code is written anew at the same place."""
    return code.co_filename, code.co_qualname, code.co_firstlineno


def _items_of(container: Any) -> Iterable[Any]:
    found: Iterable[Any] = container.values() if isinstance(container, MAPPINGS) else container
    return found


def _objects_in(container: Any, most: int) -> int:
    """Count the objects in a container and in the containers in it, up to more than `most`."""
    found = 0
    waiting = [container]
    seen: set[int] = set()
    while waiting and found <= most:
        one = waiting.pop()
        if id(one) in seen or len(one) > LARGE:
            continue
        seen.add(id(one))
        for part in _items_of(one):
            if isinstance(part, CONTAINERS):
                waiting.append(part)
            elif not isinstance(part, PLAIN):
                found += 1
    return found


def _may_open_module(named: Names, scope: dict[str, Any]) -> bool:
    """Tell if code reads the `__dict__` of a module other than of one in a variable of its own."""
    if not named.names.isdisjoint(MODULES):
        return True
    ends = {name.rpartition(".")[2] for name in sys.modules}
    return any(
        isinstance(scope[name], ModuleType) if name in scope else name in ends
        for name in named.opened
    )


def _data(scope: Any) -> set[str]:
    """Return the names of variables in a scope that are neither functions, classes nor modules."""
    kinds = (FunctionType, BuiltinFunctionType, ModuleType, type)
    return {name for name, value in scope.items() if not isinstance(value, kinds)}


def _holds_int(value: Any) -> bool:
    """Tell if a variable of a closure, or an attribute of an object, is an integer."""
    if isinstance(value, CellType):
        try:
            return type_of(value.cell_contents) is int
        except ValueError:  # it is not bound yet
            return False
    own = _own_attributes(value) if _is_plain_object(value) else None
    return any(type_of(one) is int for one in (own or {}).values())


def _is_ours(value: Any) -> bool:
    return named_module(type_of(value)).startswith("gradwrap.")


def _is_foreign(value: Any) -> bool:
    """Tell if a value is C data: a number, a structure or an array of `ctypes`."""
    kinds = () if isinstance(value, type) else type_of(value).__mro__
    return any(named_module(base) == "_ctypes" for base in kinds)


def _parts(value: Any) -> Iterable[Any]:
    """Return the parts of wrapped functions, and of gradwrap's own objects."""
    if isinstance(value, PARTIAL):
        return value.func, *value.args, *value.keywords.values()
    if isinstance(value, MethodType):
        return value.__func__, value.__self__
    if isinstance(value, (*METHODS, CACHED)):
        return (getattr(value, "__wrapped__", None),)
    if isinstance(value, property):
        return (value.fget,)
    if isinstance(value, HOLDING):
        return (value.func,)
    if not _is_ours(value):
        return ()
    slots = (name for kind in type_of(value).__mro__ for name in slots_of(kind))
    parts: list[Any] = [getattr(value, name, None) for name in slots]
    parts += getattr(value, "__dict__", {}).values()
    nested = [one for part in parts if isinstance(part, TUPLE) for one in part]
    return filter(callable, [getattr(value, "__wrapped__", None), *parts, *nested])


def _is_plain_object(value: Any) -> bool:
    """Tell if attributes hold all of an object's state: none of its classes is defined in C."""
    kind: Any = type_of(value)
    return not isinstance(value, type) and all(
        base is object
        or (
            base.__flags__ & HEAP_TYPE
            and not isinstance(base.__dict__.get("__new__"), BuiltinFunctionType)
        )
        for base in kind.__mro__
    )


def _keywords_of(partial: Any) -> Any:
    """Return the keyword arguments that a `functools.partial` holds."""
    return partial.keywords


def _own_attributes(value: Any) -> dict[str, Any] | None:
    """Return the dictionary of an object, if it has one. Its class may raise any other error."""
    try:
        found: Any = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None
    return found if isinstance(found, DICT) else None


def _attributes_of(value: Any) -> dict[str, Any]:
    """Return the attributes that an object holds itself."""
    found: dict[str, Any] = value.__dict__
    return found
