"""Accesses to parts of arrays: what was written is read without the array, where that can be.

A write gives another *version* of an array. Of a read it is found out which versions have what it
reads: either the value that was written is known, or the version that was read before will do as
well, so that few versions are read at all. The search for loops needs that, since turns that write
to different parts depend on each other only through the array. Afterwards the newest version that
will do is read, so that writes can go into its buffer.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.program import Block, Instr, Loop, Program, Ref, Value, mapped, refs, used
from gradwrap.core.values.dynamic import LIST, SLICE, TUPLE, type_of

if TYPE_CHECKING:
    from collections.abc import Iterator

NUMBER: type[Any] = np.generic
KEYED = frozenset({"getitem", "setitem", "scatter_add"})


def token(nest: Any) -> Any:
    """Return what stands for nested arguments in comparisons: numbers with type and sign."""
    kind: Any = type_of(nest)
    if kind is Ref:
        return nest
    if kind is TUPLE or kind is LIST:
        return (kind, *map(token, nest))
    if kind is SLICE:
        return (kind, token(nest.start), token(nest.stop), token(nest.step))
    if kind is float:
        return (kind, nest.hex())
    if kind is complex:
        return (kind, nest.real.hex(), nest.imag.hex())
    if isinstance(nest, NUMBER):
        return (kind, nest.tobytes())
    return (kind, nest)


class _Written:
    """An array that is written to, and what is known to lie where.

    `versions` are the values that it has been, each with the number of its block, and `keys` what
    was written to each but the first. Of elements, `known` says what was written at a place since
    version `root`, None if that cannot be said, and `added` what was added there since then.
    """

    def __init__(self, root: Ref, block: int, shape: tuple[int, ...]) -> None:
        self.root = root
        self.newest: int = root.index
        self.known: dict[Any, Any] = {}
        self.added: dict[Any, list[Any]] = {}
        self.shape = shape
        self.versions: list[tuple[int, int]] = [(root.index, block)]
        self.number: dict[int, int] = {root.index: 0}
        self.writes: list[Instr] = []
        self.read: int = 0
        """The number of the version that was read last."""
        self._stamps: Any = None
        """For each element: the version that was the last to change it."""
        self._stamped: int = 0

    def form(self) -> int | None:
        """How many integers the keys of writes have."""
        for places in (self.known, self.added):
            for place in places:
                return len(place)
        return None

    def write(self, instr: Instr, block: int) -> None:
        """Enter a write to the newest version."""
        self.newest = instr.out
        self.number[instr.out] = len(self.versions)
        self.versions.append((instr.out, block))
        self.writes.append(instr)

    def enough(self, key: Any) -> int:
        """The number of the first version that has what the newest has at a key."""
        if self._stamps is None:
            self._stamps = np.zeros(self.shape, np.int32)
        for number in range(self._stamped, len(self.writes)):
            self._stamps[self.writes[number].args[1]] = number + 1
        self._stamped = len(self.writes)
        return int(np.max(self._stamps[key], initial=0))


class Accesses:
    """Follows the accesses of one walk through a program."""

    def __init__(self, program: Program, made: dict[int, Instr], *, newest: bool) -> None:
        self.program = program
        self.values = program.values
        self.made = made
        self.newest = newest
        """True to read the newest version that will do, False to read few of them."""
        self.written: dict[int, _Written] = {}
        self.extra: list[Instr] = []
        """Instructions to be put before the one at hand."""
        self.block: int = 0
        """The number of the block of the walk."""
        self.looked_at = {b.guard.value.index for b in program.blocks() if b.guard is not None}

    def forget(self, out: int) -> None:
        """Forget a write that another one stands for."""
        writes = self.written.pop(out, None)
        if writes is not None and writes.newest == out:
            writes.newest = -1

    def forwarded(self, instr: Instr) -> tuple[Instr, Any]:
        """Return an access to an array as it stays, and what it reads if that is known."""
        source, key = instr.args[:2]
        if type(source) is not Ref or not self.values[source.index].is_ndarray:
            return instr, None
        value = self.values[source.index]
        place = place_of(key, value.shape)
        writes = self.written.get(source.index)
        if instr.name == "getitem":
            if writes is None:
                return instr, None
            if place is not None and writes.newest == source.index:
                instr, found = self.read(instr, writes, place)
                if found is not None or instr.args[0] != source:
                    return instr, found
            return self.read_part(instr, writes) if is_fixed(key) else (instr, None)
        if not is_fixed(key):
            return instr, None
        if writes is None or writes.newest != source.index:
            writes = _Written(source, self.block, value.shape)
            if source.index in self.made or not self.newest:
                self.written[source.index] = writes
        if place is None or writes.form() not in (None, len(place)):
            writes.known.clear()
            writes.added.clear()
            writes.root = source
        writes.write(instr, self.block)
        self.written[instr.out] = writes
        if place is None:
            writes.root = Ref(instr.out)
            return instr, None
        amount = self.element(instr.args[2], value, place)
        if instr.name == "setitem":
            writes.known[place] = amount
            writes.added.pop(place, None)
        elif place in writes.known and writes.known[place] is None:
            pass
        elif amount is None:
            writes.known[place] = None
        else:
            writes.added.setdefault(place, []).append(amount)
        return instr, None

    def element(self, leaf: Any, value: Value, place: tuple[int, ...]) -> Any:
        """What a leaf becomes as an element of an array; None if it is converted to that."""
        shape = value.shape[len(place) :]
        if type(leaf) is not Ref:
            plain = isinstance(leaf, (int, float, NUMBER)) and not shape and value.dtype.kind == "f"
            return value.dtype.type(leaf) if plain else None
        described = self.values[leaf.index]
        same = described.shape == shape and described.dtype == value.dtype
        return leaf if same and described.is_ndarray == bool(shape) else None

    def read(self, instr: Instr, writes: _Written, place: tuple[int, ...]) -> tuple[Instr, Any]:
        """The element of an array of which it is known what was written to it."""
        if writes.form() != len(place) or self.values[instr.out].is_ndarray != bool(
            self.values[instr.out].shape
        ):
            return instr, None
        found = writes.known.get(place, writes)
        if found is None or (instr.out in self.looked_at and type(found) is not Ref):
            return instr, None
        added = writes.added.pop(place, [])
        if found is writes:
            plain = instr._replace(args=(writes.root, instr.args[1]))
            if not added:
                return plain, None
            first = self.new(instr, plain.fn, plain.name, plain.args, views=instr.views)
            found = first
        for amount in added:
            found = self.new(instr, np.add, "add", (found, amount))
        if added:
            writes.known[place] = found
        return instr, found

    def read_part(self, instr: Instr, writes: _Written) -> tuple[Instr, Any]:
        """A part of an array: what was written there, or the part of another version."""
        source, key = instr.args
        mine, least = writes.number[source.index], writes.enough(key)
        if least > mine:
            return instr, None
        value = self.values[instr.out]
        if least:
            write = writes.writes[least - 1]
            amount = write.args[2]
            if (
                write.name == "setitem"
                and type(amount) is Ref
                and token(write.args[1]) == token(key)
            ):
                described = self.values[amount.index]
                same = (value.shape, value.dtype, value.is_ndarray)
                if same == (described.shape, described.dtype, described.is_ndarray):
                    return instr, amount
        if self.newest:
            is_last = writes.newest in writes.number and writes.versions[-1][1] == self.block
            number = len(writes.versions) - 1 if is_last else mine
        else:
            number = writes.read if least <= writes.read <= mine else mine
            writes.read = number
        return instr._replace(args=(Ref(writes.versions[number][0]), key)), None

    def new(
        self, like: Instr, fn: Any, name: str, args: tuple[Any, ...], *, views: bool = False
    ) -> Ref:
        """Another instruction before the one at hand, with a result like its own."""
        made = self.program.new(self.values[like.out])
        self.extra.append(Instr(fn, name, args, (), made.index, views, like.line))
        self.made[made.index] = self.extra[-1]
        return made


def is_fixed(key: Any) -> bool:
    """Tell if a key has integers, slices of integers, `None` and `...` alone."""
    parts: Any = key if isinstance(key, TUPLE) else (key,)
    return all(
        part is None
        or part is Ellipsis
        or type(part) is int
        or (isinstance(part, SLICE) and not refs(part))
        for part in parts
    )


def place_of(key: Any, shape: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return the integers of a key, counted from the front; None if it has other parts."""
    parts: Any = key if isinstance(key, TUPLE) else (key,)
    if not parts or any(type(part) is not int for part in parts):
        return None
    return tuple(part % length for part, length in zip(parts, shape, strict=False))


# Writes that nobody sees --------------------------------------------------------------------------


def remove_overwritten(program: Program) -> None:
    """Remove writes to elements that are written to again before anybody reads them."""
    everywhere: Counter[int] = Counter()
    for block in program.blocks():
        for step in block.body:
            everywhere.update(used(step))
        everywhere.update(_looked_at(block))
    for block in program.blocks():
        readers: dict[int, list[Instr]] = {}
        for step in block.body:
            if isinstance(step, Instr):
                for index in used(step):
                    readers.setdefault(index, []).append(step)
        later: dict[int, set[tuple[int, ...]]] = {}
        instead: dict[int, Ref] = {}
        for step in reversed(block.body):
            if not isinstance(step, Instr) or step.name not in ("setitem", "scatter_add"):
                continue
            target, key = step.args[:2]
            covered = later.pop(step.out, None)
            if type(target) is not Ref:
                continue
            shape = program.values[target.index].shape
            place = place_of(key, shape) if is_fixed(key) else None
            if covered is None:
                covered = set()
            if place is not None:
                if any(place[:count] in covered for count in range(1, len(place) + 1)):
                    instead[step.out] = target
                elif step.name == "setitem":
                    covered.add(place)
            if covered and len(readers[target.index]) == everywhere[target.index]:
                if _survives(readers[target.index], step, shape, covered):
                    later[target.index] = covered
        if instead:
            _replace(block, instead)


def _looked_at(block: Block) -> Iterator[int]:
    if block.guard is not None:
        yield block.guard.value.index
    if block.result is not None:
        yield from refs(block.result.leaves)


def _survives(
    readers: list[Instr],
    write: Instr,
    shape: tuple[int, ...],
    covered: set[tuple[int, ...]],
) -> bool:
    """Tell if elements of an array are not looked at before the write; drop those that are."""
    for reader in readers:
        if reader is write:
            continue
        place = None
        if reader.name == "getitem" and is_fixed(reader.args[1]):
            place = place_of(reader.args[1], shape)
        if place is None:
            return False
        if len({len(one) for one in covered} | {len(place)}) > 1:
            return False
        covered.discard(place)
    return sum(reader is write for reader in readers) == 1


def _replace(block: Block, instead: dict[int, Ref]) -> None:
    """Take writes out of a block: what was there before stands for them."""

    def leaf(one: Any) -> Any:
        while type(one) is Ref and one.index in instead:
            one = instead[one.index]
        return one

    body: list[Instr | Loop] = []
    for step in block.body:
        if isinstance(step, Instr):
            if step.out in instead:
                continue
            if not instead.keys().isdisjoint(refs(step.args)):
                step = step._replace(args=mapped(step.args, leaf))  # noqa: PLW2901
        body.append(step)
    block.body = body
