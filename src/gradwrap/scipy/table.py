"""The table of rules: one row for each public function of SciPy with a derivative.

A row has the public path (`linalg.inv`), a kind, the parameters that may be tracked, and the ones
that do not affect the derivative. Any other parameter must have its default value, or the call
raises an error: an option is never ignored.

The rows of `scipy.linalg` are in `gradwrap.scipy.rules.linalg`, and so on. Looking up a row loads
its module.
"""

from __future__ import annotations

import functools
import inspect
import pkgutil
import sys
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from gradwrap.core.levels.modes import called

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence


class Kind:
    """The way to differentiate a call; the kinds are in `gradwrap.scipy.kinds`."""

    name = ""
    tracks_all = False
    """Any argument may be tracked."""
    wanted: frozenset[str] = frozenset()
    """The parameters of the formulas."""

    def answer(self, row: Row, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Perform a call with a variable among its arguments."""
        raise NotImplementedError

    by_columns = False
    """Whether the columns of the only array argument are transformed each by itself."""

    def stand_in(self, row: Row) -> Any:
        """Return the object that replaces SciPy's, or None for a plain dispatcher."""
        return None

    def install(self, row: Row) -> Callable[[], None] | None:
        """Give SciPy's own object the rule, and return the undo function; None if impossible."""
        return None

    def takes(self, parameter: str) -> bool:
        """Tell if the formulas know a parameter; giving an unknown one raises an error.

        A kind without formulas takes every parameter: SciPy's function checks them.
        """
        return True


NEUTRAL = ("check_finite", "lapack_driver", "lwork", "workers")
"""Options that never affect a derivative."""


class Row:
    """Describes one public function of SciPy."""

    def __init__(  # noqa: PLR0913  the words of a row
        self,
        path: str,
        kind: Kind,
        *,
        arrays: str = "",
        groups: str = "",
        neutral: str = "",
        thresholds: str = "",
        symmetric: str = "",
        triangles: str = "",
        byproducts: Sequence[Any] = (),
        note: str = "",
        within: Callable[..., tuple[Any, ...]] | None = None,
        signature: str = "",
        omits: bool = False,
        original: Callable[..., Any] | None = None,
    ) -> None:
        self.path = path
        self.name: str = f"scipy.{path}"
        """The public name in messages."""
        self.kind = kind
        described = [array.partition(":") for array in arrays.split()]
        self.arrays: tuple[str, ...] = tuple(name for name, *_ in described)
        """The arguments that may be tracked: `a b:2 pair:2,1`."""
        self.cores: dict[str, list[int]] = {
            name: [int(count) for count in axes.split(",")] for name, _, axes in described if axes
        }
        """Arguments that may be stacks, with the numbers of axes of one matrix.

        A vector has fewer axes and is not a stack. Commas separate the parts of a pair.
        """
        pairs = [name for name, axes in self.cores.items() if len(axes) > 1]
        self.groups: tuple[str, ...] = (*groups.split(), *pairs)
        """Arguments that are sequences of arrays."""
        self.neutral: tuple[str, ...] = tuple(neutral.split())
        self.thresholds: tuple[str, ...] = tuple(thresholds.split())
        """Neutral arguments with which numbers are only compared: their derivative is zero."""
        self.symmetric: tuple[str, ...] = tuple(symmetric.split())
        self.triangles: tuple[str, ...] = tuple(triangles.split())
        """Matrices of which one triangle is read, which the option `lower` names."""
        self.byproducts: tuple[Any, ...] = tuple(byproducts)
        self.note = note
        self.within = within
        """A function that maps the arguments of a test into the domain of the function."""
        self.omits = omits
        """The array-API path omits NaN with `nan_policy="omit"`."""
        self.forms: dict[Any, Any] = {}
        """The bindings of arguments, by the form of the call."""
        if signature:  # SciPy's cannot be inspected
            self.signature = inspect.signature(eval(f"lambda {signature}: None"))  # noqa: S307  a text of the table
        self.is_own: bool = original is not None
        if original is not None:  # an operation of our own, which the table does not list
            self.original = original

    def knows(self, option: str) -> bool:
        """Tell if the formulas know an option, or do not depend on it."""
        is_neutral = option in (*self.neutral, *self.thresholds, *NEUTRAL, *self.permissions)
        return is_neutral or self.kind.takes(option)

    def __repr__(self) -> str:
        return f"<row scipy.{self.path}: {self.kind.name}>"

    def is_byproduct(self, path: tuple[Any, ...]) -> bool:
        """Tell if a part of the result has no derivative."""
        return bool(self.byproducts) and any(key in self.byproducts for key in path)

    @functools.cached_property
    def original(self) -> Any:
        """Return SciPy's own function."""
        module, _, name = self.path.rpartition(".")
        return getattr(import_module(f"scipy.{module}"), name)

    @property
    def exists(self) -> bool:
        """Tell if the installed SciPy has the function: some came with 1.15 to 1.17."""
        try:
            return self.original is not None
        except (AttributeError, ModuleNotFoundError):
            return False

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Call SciPy's own function on plain data."""
        if self.is_own:
            return self.original(*args, **kwargs)
        return called(self.original, self.name, *args, **kwargs)

    @functools.cached_property
    def signature(self) -> inspect.Signature:
        """Return the signature of SciPy's function."""
        return inspect.signature(self.original)

    @functools.cached_property
    def permissions(self) -> dict[str, int]:
        """Return the options that let SciPy overwrite an argument, with their positions.

        They are always set to False: a derivative may need the array.
        """
        try:
            parameters = self.signature.parameters
        except (TypeError, ValueError):  # a function in C
            return {}
        return {
            name: place
            for place, name in enumerate(parameters)
            if name.startswith("overwrite_") and name not in self.kind.wanted
        }


OWN_MODULES = ("linalg.lapack", "linalg.blas", "special.cython_special")
"""Modules of compiled functions without rows, whose stand-ins are in a module of the rules."""
OWN_FUNCTIONS = ("get_lapack_funcs", "get_blas_funcs")
own: dict[str, Callable[[Any], Any]] = {}
"""What makes the stand-ins of such a function and such a module."""


def is_own(function: Any) -> bool:
    """Tell if a function belongs to one of these modules, or gives functions of one."""
    if type(function).__name__ == "fortran":
        return True
    module = getattr(function, "__module__", None)
    is_special = module == "scipy.special.cython_special" and hasattr(function, "__name__")
    return is_special or getattr(function, "__name__", None) in OWN_FUNCTIONS


def own_stand_in(kind: str, value: Any) -> Any:
    """Return the stand-in of a function, or of a module that is given by its path."""
    rows_of("linalg")  # which loads what makes them
    return own[kind](value)


_rows: dict[str, dict[str, Row]] = {}


def register(rows: Iterable[Row]) -> None:
    """Add rows to the table."""
    for row in rows:
        module, _, name = row.path.rpartition(".")
        _rows.setdefault(module, {})[name] = row


def rows_of(module: str) -> dict[str, Row]:
    """Return the rows of a submodule by name, such as those of `linalg` or `sparse.linalg`."""
    top = f"gradwrap.scipy.rules.{module.partition('.')[0]}"
    if top in sys.modules or find_spec(top) is not None:
        import_module(top)  # it waits while another thread imports it
    return _rows.get(module, {})


def row_of(path: str) -> Row | None:
    """Return the row of a public path."""
    module, _, name = path.rpartition(".")
    return rows_of(module).get(name)


def all_rows() -> Iterator[Row]:
    """Yield the rows of all functions that the installed SciPy has."""
    package: Any = import_module("gradwrap.scipy.rules")
    for chapter in pkgutil.iter_modules(package.__path__):
        import_module(f"gradwrap.scipy.rules.{chapter.name}")
    for rows in tuple(_rows.values()):
        yield from (row for row in rows.values() if row.exists)
