"""The modules that stand for SciPy's: dispatchers for names with a row, else SciPy's objects."""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable
from importlib import import_module
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, cast

from gradwrap.core.array.adapted import callers_for
from gradwrap.core.library.labelled import opening
from gradwrap.scipy.dispatching import dispatching
from gradwrap.scipy.kinds import Untried
from gradwrap.scipy.table import OWN_MODULES, Row, is_own, own_stand_in, row_of, rows_of

Attribute = Callable[[str], Any]
"""A module's `__getattr__`."""
Names = Callable[[], list[str]]
"""A module's `__dir__`."""

_lock = threading.RLock()
_dispatchers: dict[str, Any] = {}


def dispatcher(path: str) -> Any:
    """Return the dispatcher of a public path: the row's rule for variables, else SciPy's code."""
    found = _dispatchers.get(path)
    if found is None:
        row = row_of(path)
        assert row is not None, path
        with _lock:
            found = _dispatchers.setdefault(path, _made(row))
    return found


@functools.cache
def unchecked(path: str) -> Any:
    """Return a solver for formulas: NaN in a cotangent gives NaN, where SciPy's checks raise."""
    return functools.partial(dispatcher(path), check_finite=False)


def _made(row: Row) -> Any:
    made = row.kind.stand_in(row)
    if made is None:
        return dispatching(row, row.original)
    if isinstance(made, type):
        for name, method in [*vars(made).items()]:
            if name.startswith("_") and name not in CALLED:
                continue
            if isinstance(method, FunctionType):
                setattr(made, name, opening(method))
            elif isinstance(method, staticmethod):
                setattr(made, name, staticmethod(opening(method.__func__)))
    return opening(made) if isinstance(made, FunctionType) else made


_opened: Any = opening(_made)
callers_for.add(_opened.__code__)  # of all that it has wrapped
CALLED = ("__new__", "__init__", "__call__")
"""The methods of classes that take arrays, beside those with names of their own."""


def is_function(found: Any) -> bool:
    """Tell if an object is a function in Python or C; a ufunc dispatches by itself."""
    return isinstance(found, (FunctionType, BuiltinFunctionType))


UNTRIED = Untried()
SPECIAL = ("__all__", "__version__")
"""The special names taken from SciPy; not `__path__`, which would import its files again."""


# Modules ------------------------------------------------------------------------------------------


def door(module: str) -> tuple[Attribute, Names]:
    """Make `__getattr__` and `__dir__` of the module that stands for a submodule of SciPy."""
    native: Any = import_module(f"scipy.{module}" if module else "scipy")
    ours = f"gradwrap.scipy.{module}".rstrip(".")
    public: frozenset[str] = frozenset(getattr(native, "__all__", ()) if module else ())

    def __getattr__(name: str) -> Any:  # noqa: N807  a module's
        if name.startswith("__") and name not in SPECIAL:
            raise AttributeError(f"module {ours!r} has no attribute {name!r}")
        path = f"{module}.{name}".lstrip(".")
        found = getattr(native, name)
        if isinstance(found, ModuleType):
            found = _submodule(path, found)
        elif name in rows_of(module):
            found = dispatcher(path)
        elif is_own(found):
            found = own_stand_in("function", found)
        elif name in public and is_function(found):
            found = dispatching(Row(path, UNTRIED), found)
        vars(sys.modules[ours])[name] = found
        return found

    def __dir__() -> list[str]:  # noqa: N807  a module's
        return dir(native)

    return __getattr__, __dir__


def _submodule(path: str, native: ModuleType) -> ModuleType:
    """Return the module that stands for a submodule of SciPy, or SciPy's own."""
    if path in OWN_MODULES:
        return cast("ModuleType", own_stand_in("module", path))
    try:
        return import_module(f"gradwrap.scipy.{path}")
    except ModuleNotFoundError:
        return _forwarding(native)


@functools.cache
def _forwarding(native: ModuleType) -> ModuleType:
    """Return the module that stands for one whose functions are those of others, or itself.

    Such modules are `scipy.stats.mstats` and the deprecated ones.
    """
    if "__getattr__" not in vars(native) and not any(
        is_function(one) and stand_in(one) for one in [*vars(native).values()]
    ):
        return native

    def __getattr__(name: str) -> Any:  # noqa: N807  a module's
        found = getattr(native, name)
        return stand_in(found) or found

    made = ModuleType(native.__name__, native.__doc__)
    made.__dict__.update(__getattr__=__getattr__, __dir__=lambda: dir(native))
    return made


# For packages that are adapted --------------------------------------------------------------------


def stand_in(found: object) -> object | None:
    """Return the object that stands for a module, function or class of SciPy, or None.

    Examples
    --------
    >>> import scipy.linalg, gradwrap.scipy
    >>> gradwrap.scipy.stand_in(scipy.linalg.inv) is gradwrap.scipy.linalg.inv
    True
    """
    if isinstance(found, ModuleType):
        name, _, rest = found.__name__.partition(".")
        if name != "scipy":
            return None
        made = import_module("gradwrap.scipy") if not rest else _submodule(rest, found)
        return None if made is found else made
    if is_own(found):
        return cast("object", own_stand_in("function", found))
    if "SuperLU" in (type(found).__name__, type(getattr(found, "__self__", None)).__name__):
        return cast("object", import_module("gradwrap.scipy.rules.sparse").of_factors(found))
    try:
        path = _paths(str(getattr(found, "__module__", None))).get(found)
    except TypeError:  # not hashable
        return None
    return None if path is None else dispatcher(path)


def _paths(where: str) -> dict[Any, str]:
    """Return the public paths of SciPy's objects with rows, for the modules that are loaded.

    Those of the subpackage that has the module `where` are among them; others may be.
    """
    top = ".".join(where.split(".")[:2])
    if top.startswith("scipy._"):  # shared by the subpackages
        top = "scipy"
    if _searched.get(top) != len(sys.modules):
        for name in [one for one in tuple(sys.modules) if f"{one}.".startswith(f"{top}.")]:
            _enter_rows(name)
        _searched[top] = len(sys.modules)
    return _path_of


def _enter_rows(name: str) -> None:
    """Enter the functions of a module of SciPy, unless it is private."""
    module = name.removeprefix("scipy.")
    if module not in _known and not any(part.startswith("_") for part in name.split(".")):
        with _lock:
            for row in rows_of(module).values():
                if row.exists:
                    _path_of.setdefault(row.original, row.path)
            _known.add(module)


_searched: dict[str, int] = {}
"""The packages that were searched, with the number of loaded modules."""
_known: set[str] = set()
_path_of: dict[Any, str] = {}
