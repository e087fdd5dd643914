"""`x.flat`: the elements of an array in C order, whatever its memory order."""

from __future__ import annotations

import operator
from typing import Any, Final, Generic, Self, TypeVar

from gradwrap.core.array.writing.inplace import set_item
from gradwrap.core.levels.wrapper import AnyWrapper
from gradwrap.core.values.dynamic import DICT, SEQUENCE, TUPLE, rebuilt

V = TypeVar("V", bound=Any)
EVERYTHING = slice(None)


class Flat(Generic[V]):
    """The elements of `base` in one row: an iterator, and a sequence to read from and write to.

    Reading copies. Writes go to `base`, repeated or cut to the length that is needed, as NumPy
    does.
    """

    __slots__ = ("base", "index")

    is_of_variable = True
    """An operation that is given this object takes a copy of the elements."""

    def __init__(self, base: V) -> None:
        self.base: V = base
        self.index: int = 0

    def __len__(self) -> int:
        return int(self.base.size)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> V:
        if self.index >= len(self):
            raise StopIteration
        self.index += 1
        return self[self.index - 1]

    @property
    def coords(self) -> tuple[int, ...]:
        """The index in `base` of the next element."""
        return _unravelled(self.index, self.base.shape)

    def copy(self) -> V:
        """Return the elements as a vector."""
        xp: Any = self.base.__array_namespace__()
        copied: V = xp.asarray(xp.reshape(self.base, (-1,)), copy=True)
        return copied

    def __getitem__(self, key: Any) -> V:
        found: V
        position = self._position(key)
        if position is not None:
            found = self.base[_unravelled(position, self.base.shape)]
            return found
        row = self.copy()
        key = _only(key)
        found = row if key is Ellipsis else row[self._positions(key)]
        return found

    def __setitem__(self, key: Any, value: Any) -> None:
        base: Any = self.base
        position = self._position(key)
        if position is not None:
            set_item(base, _unravelled(position, base.shape), value)
            return
        key = _only(key)
        if key is Ellipsis or (isinstance(key, slice) and key == EVERYTHING):
            value = self._filling(value, tuple(base.shape), len(self))
            if value is not None:
                set_item(base, ..., value)
            return
        positions = self._positions(key)
        value = self._filling(value, tuple(positions.shape), int(positions.size))
        if value is not None and positions.size:
            set_item(base, _unravelled(positions, base.shape) or ..., value)

    def _position(self, key: Any) -> int | None:
        """Return the position that an integer key names, or None for any other key."""
        if isinstance(key, bool):
            return None
        try:
            position = operator.index(_only(key))
        except TypeError:
            return None
        if not -len(self) <= position < len(self):
            raise IndexError(f"index {position} is out of bounds for size {len(self)}")
        return position % len(self)

    def _positions(self, key: Any) -> Any:
        """Return the positions that a key names, as an array of integers."""
        if isinstance(key, TUPLE):
            raise IndexError(
                "too many indices for flat iterator: flat iterator is 1-dimensional, "
                f"but {len(key)} were indexed"
            )
        xp = self.base.__array_namespace__()
        return xp.asarray(xp.arange(len(self))[key], copy=True)

    def _filling(self, value: Any, shape: tuple[int, ...], size: int) -> Any:
        """Repeat a value to `size` elements of this shape; return None if the value is empty."""
        if isinstance(value, ANY_FLAT):
            value = value.copy()
        if isinstance(value, range):
            value = list(value)
        if not isinstance(value, (*SEQUENCE, AnyWrapper)) and not getattr(value, "shape", ()):
            return value
        xp: Any = self.base.__array_namespace__()
        value = xp.reshape(xp.asarray(value), (-1,))
        if not value.size:
            return None
        if value.size != size:
            value = value[xp.arange(size) % value.size]
        return xp.reshape(value, shape)

    # NumPy's functions take it for the vector

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.copy().__array__(dtype, copy)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return getattr(ufunc, method)(*_with_vectors(inputs), **_with_vectors(kwargs))

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return function(*_with_vectors(args), **_with_vectors(kwargs))


ANY_FLAT: Final[type[Any]] = Flat


def _only(key: Any) -> Any:
    """Return the single part of a one-element tuple; any other key unchanged."""
    return key[0] if isinstance(key, TUPLE) and len(key) == 1 else key


def _unravelled(position: Any, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Convert positions in C order to one index for each axis."""
    indices: list[Any] = []
    for length in reversed(shape):
        indices.append(position % length)
        position = position // length
    return tuple(reversed(indices))


def _with_vectors(value: Any) -> Any:
    if isinstance(value, ANY_FLAT):
        return value.copy()
    if isinstance(value, SEQUENCE):
        return rebuilt(value, [_with_vectors(part) for part in value])
    if isinstance(value, DICT):
        return {name: _with_vectors(part) for name, part in value.items()}
    return value
