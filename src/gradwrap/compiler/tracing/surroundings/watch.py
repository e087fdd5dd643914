"""Watched places: where the result of a look-up could change, and the object found there.

A successful look-up is watched at the place of the object. An unsuccessful look-up is watched
wherever an object could appear.
"""

from __future__ import annotations

import gc
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.core.observing.holders import parts_held
from gradwrap.core.values.dynamic import TUPLE, type_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MISSING: Any = object()


class Place:
    """A place, and the object it held."""

    __slots__ = ("holder", "is_packages", "key", "name", "value")

    def __init__(self, name: str, holder: Any, key: Any = None) -> None:
        self.name: str = name
        """Its name in messages."""
        self.holder: Any = holder
        self.key: Any = key
        self.is_packages: bool = False
        """Whether it is in an object of a package, whose code may change it."""
        self.value: Any = self.now()

    def now(self) -> Any:
        """Return the object that it holds now."""
        raise NotImplementedError

    def holds(self) -> bool:
        """Tell if it still holds the same object."""
        return self.now() is self.value

    def test(self, number: int) -> str:
        """Return the source of a test that it still holds the same object.

        `P` is the holder, `W` the object and `H` the method `holds`, each followed by the number.
        """
        return f"H{number}()"


class Cell(Place):
    """A variable of a closure."""

    __slots__ = ()

    def now(self) -> Any:
        try:
            return self.holder.cell_contents
        except ValueError:  # it is empty
            return MISSING

    def test(self, number: int) -> str:
        if self.value is MISSING:
            return super().test(number)
        return f"P{number}.cell_contents is W{number}"


class Item(Place):
    """An entry of a dictionary: a variable of a module, an attribute of a class or an object."""

    __slots__ = ()

    def now(self) -> Any:
        return self.holder.get(self.key, MISSING)

    def test(self, number: int) -> str:
        if self.value is MISSING:
            return f"{self.key!r} not in P{number}"
        otherwise = f", P{number}" if self.value is None else ""
        return f"P{number}.get({self.key!r}{otherwise}) is W{number}"


class Attribute(Place):
    """An attribute that is not in a dictionary."""

    __slots__ = ()

    def now(self) -> Any:
        return getattr(self.holder, self.key, MISSING)

    def test(self, number: int) -> str:
        if self.value is MISSING or not self.key.isidentifier():
            return super().test(number)
        return f"P{number}.{self.key} is W{number}"


class Kind(Place):
    """The class of an object."""

    __slots__ = ()

    def now(self) -> Any:
        return type_of(self.holder)

    def test(self, number: int) -> str:
        return f"type(P{number}) is W{number}"


class Keys(Place):
    """The names in a dictionary: a new one could shadow an object found elsewhere."""

    __slots__ = ()

    def now(self) -> Any:
        return frozenset(self.holder)

    def holds(self) -> bool:
        return bool(self.holder.keys() == self.value)

    def test(self, number: int) -> str:
        return f"P{number}.keys() == W{number}"


class Absent(Place):
    """Names that were looked up in a dictionary but are missing."""

    __slots__ = ()

    def now(self) -> Any:
        return frozenset(self.key)

    def holds(self) -> bool:
        return bool(self.holder.keys().isdisjoint(self.value))

    def test(self, number: int) -> str:
        if len(self.value) == 1:
            return f"{next(iter(self.value))!r} not in P{number}"
        return f"P{number}.keys().isdisjoint(W{number})"


class Contents(Place):
    """The objects in a container."""

    __slots__ = ()

    def now(self) -> Any:
        return [*self.holder]

    def holds(self) -> bool:
        now = self.now()
        return len(now) == len(self.value) and all(map(operator.is_, now, self.value))


class Entries(Contents):
    """The keys and values of a mapping."""

    __slots__ = ()

    def now(self) -> Any:
        return [*self.holder, *self.holder.values()]


class Cached(Place):
    """The results that a function under `functools.lru_cache` holds; it may come to hold more.

    A cache of limited size uses the memory of old results again, so it may compute none anew.
    """

    __slots__ = ()

    def now(self) -> Any:
        holder: Any = self.holder
        own = holder.__dict__
        parts: list[dict[Any, Any]] = [
            one for one in gc.get_referents(holder) if type_of(one) is dict and one is not own
        ]
        held: list[Any] = [*parts[0].values()] if parts else []
        is_limited = holder.cache_parameters()["maxsize"] is not None
        return held, holder.cache_info().misses if is_limited else 0

    def holds(self) -> bool:
        (kept, misses), (now, later) = self.value, self.now()
        return misses == later and {*map(id, kept)} <= {*map(id, now)}


class Own(Contents):
    """The attributes of a thread-local object in this thread."""

    __slots__ = ()

    def now(self) -> Any:
        holder: Any = self.holder
        found: dict[str, Any] = holder.__dict__
        return [*found, *found.values()]


class Held(Contents):
    """The arrays that an object of another package holds."""

    __slots__ = ()

    def now(self) -> Any:
        return [part for part in flat(parts_held(self.holder)) if hasattr(part, "tobytes")]


class State(Place):
    """The result of a function of an object, compared by equality."""

    __slots__ = ()
    key: Callable[[Any], Any]

    def now(self) -> Any:
        return self.key(self.holder)

    def holds(self) -> bool:
        return bool(self.now() == self.value)


class Context(Place):
    """The value of a context variable."""

    __slots__ = ()

    def now(self) -> Any:
        return self.holder.get(MISSING)


class Shape(Place):
    """The shape and dtype of an array."""

    __slots__ = ()

    def now(self) -> Any:
        return self.holder.shape, self.holder.dtype

    def holds(self) -> bool:
        return bool(self.now() == self.value)

    def test(self, number: int) -> str:
        return f"P{number}.shape == W{number}[0] and P{number}.dtype == W{number}[1]"


ARRAY: Any = np.ndarray


def content(holder: Any) -> bytes:
    """Return the bytes of a buffer or an array."""
    if isinstance(holder, ARRAY):  # a subclass may refuse, as astropy's Quantity does
        return bytes(ARRAY.tobytes(holder))
    return holder.tobytes() if hasattr(holder, "tobytes") else bytes(holder)


def flat(value: Any) -> Iterator[Any]:
    """Yield the parts of nested tuples."""
    if type_of(value) is not TUPLE:
        yield value
        return
    for part in value:
        yield from flat(part)


def held(holder: Any) -> Any:
    """Return what the value of an object of another package depends on, arrays as their bytes."""
    return [
        (part.dtype.str, part.shape, part.tobytes()) if hasattr(part, "tobytes") else part
        for part in flat(parts_held(holder))
    ]


def writeable(holder: Any) -> bool:
    """Tell if an array is writeable."""
    return bool(holder.flags.writeable)
