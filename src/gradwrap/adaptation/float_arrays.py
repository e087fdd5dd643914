"""Arrays of floats of the standard library, `array.array("d")`, that hold tracked numbers."""

from __future__ import annotations

import array
from collections import UserList
from typing import TYPE_CHECKING, Any

import numpy as np

import gradwrap.numpy as drop_in
from gradwrap.core.array.adapted import shown_as
from gradwrap.core.array.python_floats import python_float
from gradwrap.core.levels.levels import is_differentiating
from gradwrap.core.levels.wrapper import AnyWrapper, is_recorded
from gradwrap.core.observing.callers import leaving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

NATIVE: Any = array.array
DOUBLE = "d"


class FloatArray(UserList[Any]):
    """An array of floats with the methods of `array.array`, but not its memory."""

    typecode: str = DOUBLE
    itemsize: int = NATIVE(DOUBLE).itemsize

    def __init__(self, values: Iterable[Any] = ()) -> None:
        super().__init__(map(_number, values))

    def __setitem__(self, place: Any, value: Any) -> None:
        is_part = isinstance(place, slice)
        self.data[place] = map(_number, value) if is_part else _number(value)

    def append(self, item: Any) -> None:
        """Append a number."""
        self.data.append(_number(item))

    def insert(self, i: int, item: Any) -> None:
        """Insert a number."""
        self.data.insert(i, _number(item))

    def extend(self, other: Iterable[Any]) -> None:
        """Append several numbers."""
        self.data.extend(map(_number, other))

    fromlist = extend

    def tolist(self) -> list[Any]:
        """Return the numbers as a list."""
        return list(self.data)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        made = drop_in.array(self.data) if is_recorded(self.data) else np.array(self.data)
        return made if dtype is None else made.astype(dtype)

    def __getattr__(self, name: str) -> Any:
        if not hasattr(NATIVE, name):
            raise AttributeError(f"'array.array' object has no attribute {name!r}")
        raise leaving(f"array.array.{name}", "use its numbers, .tolist().")

    def __repr__(self) -> str:
        return f"array('{DOUBLE}', {self.data!r})"


def _number(value: Any) -> Any:
    return python_float(value) if isinstance(value, AnyWrapper) else float(value)


def _shown(_: Any) -> Any:
    return NATIVE


shown_as[id(FloatArray)] = _shown


def _make(_: Any, typecode: Any, *initial: Any) -> Any:
    """Make an array that may hold tracked numbers, if it holds some, or is to be filled."""
    if typecode != DOUBLE or not is_differentiating():
        return NATIVE(typecode, *initial)
    given = initial[0] if initial else ()
    if isinstance(given, (bytes, bytearray, NATIVE)):
        return NATIVE(typecode, given)
    values = list(given)
    is_blank = all(type(one) in (int, float) and one == 0 for one in values)
    return FloatArray(values) if is_blank or is_recorded(values) else NATIVE(typecode, values)


CALLS: tuple[tuple[Any, Callable[..., Any]], ...] = ((NATIVE, _make),)
"""The class, with what answers calls of its stand-in."""
