"""Kinds of values for adapted code: plain values, and variables that stand for arrays."""

from __future__ import annotations

import functools
import operator
from collections import UserList, deque
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np

from gradwrap.core.array.adapted import stands_for_python
from gradwrap.core.array.python_floats import PythonFloat
from gradwrap.core.array.writing.loans import lend
from gradwrap.core.calls.general import floats_in
from gradwrap.core.levels.wrapper import AnyWrapper, batched_parts, data_of, innermost, is_batch
from gradwrap.core.library.backend import backend_of
from gradwrap.core.library.labelled import holders
from gradwrap.core.values.dynamic import DICT, SEQUENCE, type_of

F = TypeVar("F", bound=Callable[..., Any])


class Holder:
    """The base of instances of other classes that hold a variable."""

    __slots__ = ("_gradwrap_array",)

    _gradwrap_array: Any
    __array_wrap__: Any

    def gradwrap_array(self) -> Any:
        """Return the variable."""
        return self._gradwrap_array


HOLDERS = (AnyWrapper, Holder)
PLAIN: set[type[Any]] = {
    *(int, float, complex, bool, str, bytes, type, slice, range, type(None), type(Ellipsis)),
    *(np.ndarray, np.float64, np.float32, np.complex128, np.int64, np.intp, np.bool_),
}
"""Types that are no variables, and hold none."""

are_plain_types: Callable[[Iterable[object]], bool] = PLAIN.issuperset


QUEUES: tuple[type[Any], ...] = (deque, UserList)
"""What NumPy takes for a list."""
ROWS: tuple[type[Any], ...] = (*SEQUENCE, *QUEUES)


def at_hand(value: Any) -> Any:
    """Compute a tracked array of a library whose arrays are computed later; return others."""
    compute = getattr(type_of(value), "compute", None) if isinstance(value, AnyWrapper) else None
    return value if compute is None else compute(value)


def is_plain(values: Iterable[Any]) -> bool:
    """Tell if values, and the lists, tuples and dictionaries in them, hold no variable."""
    values = tuple(values)
    if are_plain_types(map(type, values)):
        return True
    for value in values:
        if isinstance(value, HOLDERS):
            return False
        if isinstance(value, ROWS):
            if not is_plain(value):
                return False
        elif isinstance(value, DICT) and not is_plain(value.values()):
            return False
    return True


def are_plain(args: Iterable[Any], options: dict[str, Any]) -> bool:
    """Tell if the arguments of a call hold no variable."""
    return is_plain(args) and (not options or is_plain(options.values()))


def unheld(value: Any) -> Any:
    """Return the variable that an instance of another class holds, also in containers."""
    if isinstance(value, Holder):
        return value.gradwrap_array()
    if type_of(value) in SEQUENCE:
        parts = [unheld(part) for part in value]
        is_same = all(a is b for a, b in zip(parts, value, strict=True))
        return value if is_same else type_of(value)(parts)
    if type_of(value) is DICT:
        return {key: unheld(part) for key, part in value.items()}
    if isinstance(value, QUEUES) and not is_plain(value):
        return list(map(unheld, value))
    return value


def open_instances() -> None:
    """Let stores, and SciPy's functions, take what instances of other classes hold."""
    if unheld not in holders:
        holders.append(unheld)


def operands(value: Any) -> Any:
    """Return what instances hold, and floats for exact numbers, also in containers."""
    return floats_in(unheld(value))


def lent(value: Any) -> Any:
    """Return plain arrays of the memory of untracked variables, also in containers.

    They may be written to.
    """
    if isinstance(value, AnyWrapper):
        return lend(value)
    if type_of(value) in SEQUENCE:
        parts = list(map(lent, value))
        is_same = all(a is b for a, b in zip(parts, value, strict=True))
        return value if is_same else type_of(value)(parts)
    if type_of(value) is DICT:
        return {key: lent(part) for key, part in value.items()}
    return value


def objects(values: Any) -> Any:
    """Return an array of Python objects from nested lists and arrays, as NumPy does."""
    made = np.empty(np.array(_outline(values), dtype=object).shape, dtype=object)
    for place in np.ndindex(made.shape):
        found = functools.reduce(operator.getitem, place, values)
        is_lone = isinstance(found, (AnyWrapper, np.ndarray)) and not found.ndim
        made[place] = found[()] if is_lone else found
    return made


def _outline(value: Any) -> Any:
    """Return the same nested lists, with empty arrays in place of arrays, and None of objects."""
    if isinstance(value, (AnyWrapper, np.ndarray)):
        return np.empty(value.shape, dtype=object) if value.ndim else None
    return list(map(_outline, value)) if isinstance(value, SEQUENCE) else None


def of_objects(value: Any) -> bool:
    """Tell if a value is a plain array of Python objects, among which are variables."""
    is_objects = type_of(value) is np.ndarray and value.dtype.kind == "O"
    return is_objects and any(isinstance(part, HOLDERS) for part in value.flat)


def number_in(value: Any) -> Any:
    """Return the plain number in a tracked one; None in other cases.

    This is asked first where adapted code computes with numbers: a variable of no batch, no trace
    and no second transform is most often what it meets.
    """
    data = data_of(value) if isinstance(value, AnyWrapper) else None
    return data if type_of(data) is np.float64 else None


def kind_of(variable: Any) -> type[Any]:
    """Return the type of the array or scalar that a variable stands for."""
    if isinstance(variable, PythonFloat) or stands_for_python(variable):
        return float
    data = data_of(variable)
    if type_of(data) in PLAIN and not is_batch(variable):
        return type_of(data)
    data = innermost(variable)
    data = backend_of(data).concrete(data)
    if next(batched_parts(variable), None) is not None and not variable.shape:
        scalar: type[Any] = data.dtype.type
        return scalar
    return type_of(data)


STAND_INS = "gradwrap.adaptation.stand_ins"
"""The module where pickle finds stand-ins."""


def standing_in(original: Any, path: str) -> Callable[[F], F]:
    """Give a function the name, docstring and signature of the one that it stands in for.

    Pickle finds it by `path`, which is the original's, in the module that has the stand-ins.
    """

    def named(function: F) -> F:
        functools.wraps(original)(function)
        function.__module__ = STAND_INS
        function.__qualname__ = path
        return function

    return named
