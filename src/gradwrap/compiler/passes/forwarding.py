"""Forwarding of stores to loads: a read of a part returns the value written there, if known.

Each write makes another *version* of an array. For each read the pass finds the versions that
hold the same elements: it either returns the value written, or reads the version that was read
before, so that few versions are read at all. The search for loops needs this, since turns that
write to different parts depend on each other only through the array. After that search, reads use
the newest such version, so that writes can reuse its buffer.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradwrap.compiler.ir.layout import IN_ORDER
from gradwrap.compiler.ir.operations import GETITEM, SETITEM
from gradwrap.compiler.ir.program import (
    NUMBER,
    Instr,
    Program,
    Ref,
    Value,
    refs,
    token,
)
from gradwrap.core.values.dynamic import SLICE, TUPLE

LARGEST = 1 << 24
"""The most elements of an array for which the last write to each element is recorded."""
MOST_ADDED = 3
"""The most additions that are repeated in order to read a part of an earlier version."""


class _Written:
    """An array that is written to: its versions, and the write that made each."""

    def __init__(self, root: int, block: int, shape: tuple[int, ...]) -> None:
        self.versions: list[tuple[int, int]] = [(root, block)]
        """Values, each with the number of its block."""
        self.number: dict[int, int] = {root: 0}
        self.newest: int = root
        self.read: int = 0
        """The number of the version read last."""
        self.known: dict[Any, tuple[int, Any]] = {}
        """By key: the sum of the elements and the additions, and the version it holds for."""
        self.shape = shape
        self._writes: list[tuple[Instr, Any, int]] = []
        """Each write with its key, and the number of the write before it to the same place."""
        self._last: dict[tuple[int, ...], int] = {}
        """By place: the number of the last write, while all keys have equally many integers."""
        self._form: int | None = None
        self._stamps: Any = None
        """For each element: the number of the last write to it."""

    def write(self, instr: Instr, block: int) -> None:
        """Record a write to the newest version."""
        key = instr.args[1]
        place = place_of(key, self.shape)
        number = len(self.versions)
        before = self.enough(key, place)
        if self._stamps is None and place is not None:
            self._form = len(place)
            self._last[place] = number
        else:
            self._stamped()[key] = number
        self._writes.append((instr, token(key) if place is None else place, before))
        self.newest = instr.out
        self.number[instr.out] = number
        self.versions.append((instr.out, block))

    def enough(self, key: Any, place: tuple[int, ...] | None) -> int:
        """Return the first version whose elements at a key equal those of the newest."""
        if self._stamps is None and place is not None and self._form in (None, len(place)):
            return self._last.get(place, 0)
        return int(self._stamped()[key].max(initial=0))

    def _stamped(self) -> Any:
        if self._stamps is None:
            self._stamps = np.zeros(self.shape, np.int32)
            for place, number in self._last.items():
                self._stamps[place] = number
        return self._stamps

    def made_of(self, token_: Any, number: int) -> tuple[Instr | None, list[Instr], int]:
        """Return the writes that determine the elements at a key, from the last one back.

        The result is the write that set them, if known; the additions since; and the number of the
        version described.
        """
        added: list[Instr] = []
        while number:
            instr, mine, before = self._writes[number - 1]
            if mine != token_:
                break
            if instr.op is SETITEM:
                return instr, added[::-1], number
            added.append(instr)
            number = before
        return None, added[::-1], number


class Accesses:
    """Follows the accesses to arrays during one walk through a program."""

    def __init__(self, program: Program, made: dict[int, Instr], *, newest: bool) -> None:
        self.program = program
        self.values: list[Value] = program.values
        self.made = made
        self.newest = newest
        """True to read the newest suitable version, False to read few versions."""
        self.written: dict[int, _Written] = {}
        self.extra: list[Instr] = []
        """Instructions to insert before the current one."""
        self.block: int = 0
        """The number of the current block."""
        guards = [block.guard for block in program.blocks() if block.guard is not None]
        self.looked_at: set[int] = {guard.value.index for guard in guards}

    def forget(self, out: int) -> None:
        """Forget a write whose result was replaced by another value."""
        writes = self.written.pop(out, None)
        if writes is not None and writes.newest == out:
            writes.newest = -1

    def forwarded(self, instr: Instr) -> tuple[Instr, Any]:
        """Return an access to an array, and the value that it reads if known."""
        source, key = instr.args[:2]
        if type(source) is not Ref or not is_fixed(key):
            return instr, None
        value = self.values[source.index]
        if not value.is_ndarray or math.prod(value.shape) > LARGEST:
            return instr, None
        writes = self.written.get(source.index)
        if instr.op is GETITEM:
            return (instr, None) if writes is None else self.read(instr, writes)
        if writes is None or writes.newest != source.index:
            writes = _Written(source.index, self.block, value.shape)
            if source.index in self.made or not self.newest:
                self.written[source.index] = writes
        writes.write(instr, self.block)
        self.written[instr.out] = writes
        return instr, None

    def read(self, instr: Instr, writes: _Written) -> tuple[Instr, Any]:
        """Resolve a read: to a value written, to a sum, or to a read of another version."""
        source, key = instr.args
        place = place_of(key, writes.shape)
        mine, least = writes.number[source.index], writes.enough(key, place)
        if least > mine:
            return instr, None
        value = self.values[instr.out]
        if value.is_ndarray != bool(value.shape):
            return instr, None
        name = token(key) if place is None else place
        known = writes.known.get(name)
        if known is not None and known[0] == least:
            return instr, known[1]
        base, added, number = writes.made_of(name, least)
        amounts = [self.converted(one.args[2], value) for one in added]
        if None in amounts or (place is None and len(added) > (0 if self.newest else MOST_ADDED)):
            base, amounts, number = None, [], least
        found = None if base is None else self.converted(base.args[2], value)
        if found is None:
            if base is not None:  # the elements set are not known: read the sum
                amounts = []
            latest = mine if not amounts else writes.number[added[0].out] - 1
            instr = self.of_version(instr, writes, number if base is None else least, latest)
            if base is not None or not amounts:
                return instr, None
            found = self.new(instr, instr.fn, instr.name, instr.args, views=instr.views)
        elif instr.out in self.looked_at and type(found) is not Ref:
            return instr, None
        for amount in amounts:
            found = self.new(instr, np.add, "add", (found, amount))
        writes.known[name] = (least, found)
        return instr, found

    def converted(self, leaf: Any, value: Value) -> Any:
        """Return a leaf as an element of an array, or None if a conversion would change it."""
        if type(leaf) is not Ref:
            is_real = value.dtype.kind == "f" and not value.shape
            plain = isinstance(leaf, (int, float, NUMBER)) and is_real
            return value.dtype.type(leaf) if plain else None
        described = self.values[leaf.index]
        same = described.shape == value.shape and described.dtype == value.dtype
        if len(value.shape) > 1 and not IN_ORDER.issuperset((described.order, value.order)):
            return None  # results computed from it would have another layout
        return leaf if same and described.is_ndarray == bool(value.shape) else None

    def of_version(self, instr: Instr, writes: _Written, least: int, latest: int) -> Instr:
        """Return a read of one of the versions in a range."""
        if self.newest:
            is_last = writes.newest in writes.number and writes.versions[-1][1] == self.block
            mine = writes.number[instr.args[0].index]
            number = len(writes.versions) - 1 if is_last and latest == mine else latest
        else:
            number = writes.read if least <= writes.read <= latest else latest
            writes.read = number
        return instr.on((Ref(writes.versions[number][0]), *instr.args[1:]))

    def new(
        self, like: Instr, fn: Any, name: str, args: tuple[Any, ...], *, views: bool = False
    ) -> Ref:
        """Insert an instruction before the current one; its result has the same description."""
        made = self.program.new(self.values[like.out])
        self.extra.append(Instr(fn, name, args, (), made.index, views, like.line))
        self.made[made.index] = self.extra[-1]
        return made


def is_fixed(key: Any) -> bool:
    """Tell if a key has only integers, slices of integers, `None` and `...`."""
    parts: Any = key if isinstance(key, TUPLE) else (key,)
    return all(
        part is None
        or part is Ellipsis
        or type(part) is int
        or (isinstance(part, SLICE) and not refs(part))
        for part in parts
    )


def place_of(key: Any, shape: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return the integers of a key, counted from the front; None for other keys."""
    if type(key) is int:
        return (key % shape[0],)
    if not isinstance(key, TUPLE) or not key or any(type(part) is not int for part in key):
        return None
    return tuple(part % length for part, length in zip(key, shape, strict=False))
