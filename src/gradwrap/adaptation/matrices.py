"""`np.matrix`, a subclass of `ndarray` that NumPy writes in Python, as packages write theirs.

Its methods run in a copy of NumPy's module whose names are the stand-ins.
"""

from __future__ import annotations

import sys
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.adaptation import subclasses
from gradwrap.adaptation.builtin_names import BUILTINS, StandIn
from gradwrap.adaptation.masked import METHODS
from gradwrap.adaptation.plain_values import are_plain
from gradwrap.core.array.wrapping import wrap
from gradwrap.core.levels.levels import is_differentiating
from gradwrap.core.levels.wrapper import AnyWrapper
from gradwrap.core.observing.callers import MARK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PART = "numpy.matrixlib.defmatrix"
MATRIX: type[Any] = np.matrix
NDARRAY: type[Any] = np.ndarray


def matrices(lookup: Callable[[Any], Any]) -> Iterator[tuple[Any, Any]]:
    """Yield the class and the functions of matrices, with their stand-ins."""
    original = vars(sys.modules[PART])
    names: dict[str, Any] = {**original, **BUILTINS, MARK: True}
    subclasses.namespaces[PART] = names
    new = subclasses.bound_to(MATRIX.__new__, None, names)

    def construct(_: Any, *args: Any, **options: Any) -> Any:
        if are_plain(args, options) and not is_differentiating():
            return MATRIX(*args, **options)
        made = new(MATRIX, *args, **options)
        if type(made) is MATRIX and made.dtype.kind in "biufc":  # of whole numbers, say
            return subclasses.held(wrap(np.array(made, subok=False)), MATRIX)
        return made

    members = {**METHODS, "__getitem__": _element, "__new__": _new}
    metaclass: Any = type("StandIn", (StandIn,), {})
    arrays = type.__new__(metaclass, "ndarray", (NDARRAY,), {**members, "stands_for": NDARRAY})
    metaclass = type("StandIn", (StandIn,), {"__call__": construct})
    passing = type.__new__(metaclass, "matrix", (MATRIX,), {"stands_for": MATRIX})
    for name, value in original.items():
        if value is MATRIX:
            names[name] = passing
        elif type(value) is FunctionType and value.__globals__ is original:
            names[name] = subclasses.bound_to(value, None, names)
        elif not name.startswith("__"):
            names[name] = lookup(value) or value
    names["N"] = ModuleType("numpy")  # by which the module calls NumPy
    names["N"].__dict__.update(vars(lookup(original["N"]) or np), ndarray=arrays)
    yield MATRIX, passing
    for name in ("asmatrix", "bmat"):
        yield original[name], _unless_plain(original[name], names[name])


def _element(array: Any, key: Any) -> Any:
    """Do what `ndarray.__getitem__` does, also for an instance that holds a variable."""
    is_held = isinstance(array, subclasses.HeldArray)
    return (subclasses.HeldArray if is_held else NDARRAY).__getitem__(array, key)


def _new(kind: Any, *args: Any, **options: Any) -> Any:
    """Do what `ndarray.__new__` does, also for a buffer that holds a variable."""
    buffer: Any = options.get("buffer")
    if isinstance(buffer, AnyWrapper):
        return subclasses.held(buffer.reshape(args[0]), kind)
    return NDARRAY.__new__(kind, *args, **options)


def _unless_plain(original: Any, ours: Any) -> Any:
    def stand_in(*args: Any, **options: Any) -> Any:
        is_plain = are_plain(args, options) and not is_differentiating()
        return (original if is_plain else ours)(*args, **options)

    stand_in.__name__ = original.__name__
    return stand_in
