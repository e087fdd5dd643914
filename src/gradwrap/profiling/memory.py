"""An account of the arrays that operations made: which are alive, and which are saved."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

from gradwrap.core.library.backend import is_array
from gradwrap.core.library.buffers import buffer_of
from gradwrap.core.observing.held import arrays_in, bytes_of
from gradwrap.core.observing.inspection import parts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


class Moment(NamedTuple):
    """The numbers of bytes at one time."""

    time: float
    """In seconds since the profile began."""
    alive: int
    """The bytes of the arrays that operations have made and that still exist."""
    saved: int
    """Those of them that were saved for backward."""


class Account:
    """The arrays that operations made, identified by their buffers."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._alive: dict[int, tuple[weakref.ref[Any], int]] = {}
        self._saved: set[int] = set()
        self._bytes = self._bytes_saved = 0
        self.moments: list[Moment] = [Moment(0.0, 0, 0)]
        self.peak: Moment = self.moments[0]

    def enter(self, values: Iterable[Any], known: frozenset[int]) -> int:
        """Enter the new arrays among values, and return their bytes.

        `known` are the identities of buffers that the operation was given.
        """
        total = 0
        for array in values:
            buffer = buffer_of(array)
            if id(buffer) in known or id(buffer) in self._alive:
                continue
            size = bytes_of(buffer)
            total += size
            try:
                reference = weakref.ref(buffer, self._leaving(id(buffer)))
            except TypeError:  # a number of NumPy's
                continue
            self._alive[id(buffer)] = reference, size
            self._bytes += size
        if total:
            self._note()
        return total

    def save(self, arrays: Iterable[Any]) -> int:
        """Note that arrays are saved for backward; return the bytes that were not saved before."""
        before = self._bytes_saved
        for array in arrays:
            key = id(buffer_of(array))
            if key in self._alive and key not in self._saved:
                self._saved.add(key)
                self._bytes_saved += self._alive[key][1]
        if self._bytes_saved != before:
            self._note()
        return self._bytes_saved - before

    @property
    def alive(self) -> int:
        """The number of bytes in use."""
        return self._bytes

    def reach(self, alive: int) -> None:
        """Note a short peak of `alive` bytes, some of which are freed again."""
        if alive > self._bytes:
            self._note(alive)
            self._note()

    def _leaving(self, key: int) -> Callable[[Any], None]:
        account = weakref.ref(self)

        def leave(_: Any) -> None:
            own = account()
            if own is not None:
                own._leave(key)

        return leave

    def _leave(self, key: int) -> None:
        _, size = self._alive.pop(key)
        self._bytes -= size
        if key in self._saved:
            self._saved.discard(key)
            self._bytes_saved -= size
        self._note()

    def _note(self, alive: int | None = None) -> None:
        alive = self._bytes if alive is None else alive
        moment = Moment(self._clock(), alive, self._bytes_saved)
        self.moments.append(moment)
        if moment.alive > self.peak.alive:
            self.peak = moment


def arrays_of(value: Any) -> Iterator[Any]:
    """Yield the native arrays of an argument, a result or a cotangent."""
    yield from filter(is_array, parts_of(value))


def buffers_of(values: Iterable[Any]) -> frozenset[int]:
    """Return the identities of the buffers of arguments."""
    return frozenset(id(buffer_of(array)) for value in values for array in arrays_of(value))


def saved_in(edges: list[Any], step: int) -> list[Any]:
    """Return the arrays that the edges of a node keep, from the edges' flat list."""
    return [array for at in range(2, len(edges), step) for array in arrays_in(edges[at])]
