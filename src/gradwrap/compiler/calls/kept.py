"""Programs kept in the cache for later processes, by what they were made from.

The key of a program is a hash of the signature, of the code of the function, and of all that is
watched around it: the same places whose changes make this process trace again. An object that has
no name which means the same in another process gives no key, and the program is not kept. A program
from the cache is compared with one run of the function before it is used.
"""

from __future__ import annotations

import functools
import hashlib
import io
import pathlib
import pickle
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import gradwrap.compiler
from gradwrap.compiler import cache
from gradwrap.compiler.ir.operations import OPERATIONS, Operation
from gradwrap.compiler.ir.program import NDARRAY, Program
from gradwrap.compiler.tracing.surroundings import watch
from gradwrap.core.observing.code import package_of
from gradwrap.core.values.dynamic import TUPLE, type_of
from gradwrap.core.values.keys import Identity
from gradwrap.core.values.tree import TreeDef

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradwrap.compiler.calls.signatures import Signature
    from gradwrap.compiler.tracing.surroundings.find import Surroundings

SUFFIX = ".program"
LARGEST = 1 << 25
"""The most bytes of a program that is kept."""
NUMBER: type[Any] = np.generic
UFUNC: type[Any] = np.ufunc
PARTIAL: type[Any] = functools.partial
PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...))
CONTAINERS = (list, tuple, dict, set, frozenset)
WRAPPING = (staticmethod, classmethod, property, functools.cached_property)
PURE = frozenset(
    {"numpy", "scipy", "gradwrap", "math", "cmath", "operator", "functools", "itertools", "numbers"}
    | {"builtins", "typing", "collections", "dataclasses", "types", "abc", "enum", "warnings"}
    | {"array_api_compat", "optree", "contextlib", "__future__", "_operator", "_functools"}
)
"""Packages whose functions depend on their arguments and versions alone."""
OUTSIDE = frozenset(
    {"open", "input", "id", "hash", "exec", "eval", "compile", "__import__", "globals", "vars"}
    | {"environ", "getenv", "load", "loadtxt", "genfromtxt", "fromfile", "memmap", "random"}
    | {"default_rng", "import_module", "modules", "errstate", "seterr", "getcontext"}
)
"""Names in code that reads what is not watched, or differs from process to process."""


class Doubt(Exception):  # noqa: N818  it is caught, and the program is not kept
    """An object has no description that means the same in another process."""


class Kept(NamedTuple):
    """A program, with the facts from its traces that its calls need."""

    program: Program
    precisions: list[float]
    floats: tuple[int, ...]


def key_of(key: Signature, surroundings: Surroundings, engine: str) -> str | None:
    """Return the key of the program for a signature; None if there is a doubt."""
    try:
        parts = [_versions(), engine, _Description(surroundings).text(key)]
    except (Doubt, RecursionError):
        return None
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:40]


def find(key: str, surroundings: Surroundings, told: list[str]) -> Kept | None:
    """Return the program of a key, which reads the arrays around the function; None without one."""
    found = cache.find(key, SUFFIX, told)
    if found is None:
        return None
    try:
        kept: Any = _Reader(io.BytesIO(found[1]), surroundings.array_objects()).load()
    except Exception:  # noqa: BLE001  a class or a function has gone: there is no program
        return None
    return kept if isinstance(kept, Kept) else None


def store(key: str, kept: Kept, surroundings: Surroundings) -> None:
    """Keep a program, if all of it can be found again by name."""
    arrays = surroundings.array_objects()
    known = {id(one) for one in arrays}
    constants = kept.program.constants.values()
    if any(one.by_reference and id(one.array) not in known for one in constants):
        return
    file = io.BytesIO()
    try:
        _Writer(file, arrays).dump(kept)
    except Exception:  # noqa: BLE001  something in it has no name
        return
    if file.tell() <= LARGEST:
        cache.store(key, SUFFIX, file.getvalue())


class _Writer(pickle.Pickler):
    def __init__(self, file: io.BytesIO, arrays: Sequence[Any]) -> None:
        super().__init__(file, protocol=5)
        self._places = {id(one): place for place, one in enumerate(arrays)}

    def persistent_id(self, obj: Any) -> Any:
        """Name operations of the table, and arrays around the function by their place."""
        if isinstance(obj, Operation):
            return obj.name
        return self._places.get(id(obj))


class _Reader(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, arrays: Sequence[Any]) -> None:
        super().__init__(file)
        self._arrays = arrays

    def persistent_load(self, pid: Any) -> Any:
        """Return the operation or the array of a name."""
        return OPERATIONS[pid] if isinstance(pid, str) else self._arrays[pid]


@functools.cache
def _versions() -> str:
    """Return the versions of Python and the packages, and the state of gradwrap's own files."""
    folder = pathlib.Path(gradwrap.compiler.__file__).parents[1]
    files = [(str(path), path.stat()) for path in sorted(folder.rglob("*.py*"))]
    own = [(name, found.st_size, found.st_mtime_ns) for name, found in files]
    return repr((sys.version, platform.machine(), own, np.__version__, _version_of("scipy")))


@functools.cache
def _version_of(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


class _Description:
    """Describes the surroundings of a function by text that means the same in any process."""

    def __init__(self, surroundings: Surroundings) -> None:
        self._surroundings = surroundings
        self._objects = surroundings.objects()
        self._numbers = {id(one): number for number, (one, _) in enumerate(self._objects)}
        self._names: set[str] = set()

    def text(self, key: Signature) -> str:
        parts = [self._of(part) for part in key]
        parts += [f"{self._contents(one)} {inner}" for one, inner in self._objects]
        for place in self._surroundings.places:
            holder = self._numbers.get(id(place.holder), -1)
            name = place.key if isinstance(place.key, str) else ""
            is_set = isinstance(place.holder, (set, frozenset))
            found = self._of(set(place.value) if is_set else place.value)
            parts.append(f"{type(place).__name__} {place.name} {name} {holder} {found}")
        if not self._names.isdisjoint(OUTSIDE):
            raise Doubt
        return "\n".join(parts)

    def _of(self, value: Any) -> str:
        """Describe a value: a number or a text by itself, an object by its place or its name."""
        kind = type_of(value)
        if value is watch.MISSING:
            return "missing"
        if kind in PLAIN:
            if kind is str:
                self._names.add(value)
            return f"{kind.__name__} {value!r}"
        if isinstance(value, NUMBER):
            return f"{value.dtype.str} {value.tobytes().hex()}"
        if isinstance(value, np.dtype):
            return f"dtype {value.str}"
        if id(value) in self._numbers:
            return f"#{self._numbers[id(value)]}"
        if isinstance(value, Identity):
            raise Doubt
        if isinstance(value, CodeType):
            return self._code(value)
        if isinstance(value, TreeDef):
            return f"tree {value!r}"
        if kind is list or isinstance(value, TUPLE):
            return f"{kind.__name__}({', '.join(map(self._of, value))})"
        if kind in (set, frozenset):
            return f"{kind.__name__}({', '.join(sorted(map(self._of, value)))})"
        return self._named(value)

    def _named(self, value: Any) -> str:
        """Describe a function, a class or a module of a library by its name."""
        if isinstance(value, ModuleType):
            module, name = value.__name__, ""
        elif isinstance(value, UFUNC):
            module, name = "numpy", value.__name__
        elif isinstance(value, (type, FunctionType, BuiltinFunctionType)) or callable(value):
            owner = getattr(value, "__self__", None)
            if owner is not None and not isinstance(owner, ModuleType):
                raise Doubt
            module = str(getattr(value, "__module__", None) or getattr(owner, "__name__", ""))
            name = getattr(value, "__qualname__", "") or getattr(value, "__name__", "")
            self._names.add(name)
        else:
            raise Doubt
        found = sys.modules.get(module)
        for part in name.split(".") if name else ():
            found = getattr(found, part, None)
        if package_of(module) not in PURE or (found is not value and not isinstance(value, UFUNC)):
            raise Doubt
        return f"{module}:{name}"

    def _contents(self, value: Any) -> str:
        """Describe an object of the surroundings, without the parts that are watched."""
        kind = type_of(value)
        parts: list[Any]
        if isinstance(value, FunctionType):
            cells = [self._cell(cell) for cell in value.__closure__ or ()]
            kwdefaults = value.__kwdefaults__ or {}
            parts = [value.__code__, value.__defaults__, *kwdefaults, *kwdefaults.values()]
            return f"function {', '.join(map(self._of, parts))} {cells}"
        if isinstance(value, CellType):
            return self._cell(value)
        if isinstance(value, NDARRAY):
            return f"array {value.dtype.str} {value.shape} {value.strides}"
        if kind is dict:
            return f"dict {self._of([*value, *value.values()])}"
        if kind in CONTAINERS:
            return self._of_container(value)
        if isinstance(value, PARTIAL):
            named = value.keywords
            return f"partial {self._of([value.func, *value.args, *named, *named.values()])}"
        if kind is MethodType:
            return f"method {self._of([value.__func__, value.__self__])}"
        if isinstance(value, WRAPPING):
            return kind.__name__
        if isinstance(value, (ModuleType, type)):
            name = getattr(value, "__qualname__", value.__name__)
            return f"{kind.__name__} {getattr(value, '__module__', '')} {name}"
        if self._surroundings.is_users(kind.__module__):
            return f"object {kind.__module__} {kind.__qualname__}"
        raise Doubt

    def _of_container(self, value: Any) -> str:
        described = [self._of(part) for part in value]
        is_set = isinstance(value, (set, frozenset))
        return f"{type_of(value).__name__} {sorted(described) if is_set else described}"

    def _cell(self, cell: CellType) -> str:
        try:
            return f"cell {self._of(cell.cell_contents)}"
        except ValueError:  # it is empty
            return "cell"

    def _code(self, code: CodeType) -> str:
        """Describe code by all that its effect depends on; lines are part of the source."""
        self._names.update(code.co_names)
        shape = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
        names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        lines = (code.co_firstlineno, code.co_linetable, code.co_exceptiontable)
        parts = (code.co_code, *shape, *names, *lines, code.co_name)
        return f"code {parts!r} {self._of(code.co_consts)}"
