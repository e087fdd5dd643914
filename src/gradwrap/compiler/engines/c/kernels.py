"""C kernels: a stretch of a program as a function in C.

The steps are written into a frame (`frame.py`), which knows the place of each value. Each group is
a loop over blocks of elements that calls *strips*: small functions of up to `STRIP`
statements, whose loop the compiler turns into vector instructions. Strips with equal text share one
function, so that a program with a thousand similar turns has a few of them. A `Loop` becomes a loop
in C (`loops.py`).
"""

from __future__ import annotations

import math
from collections import Counter
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from gradwrap.compiler.engines.c.ability import TRANSPOSED, VIEWING
from gradwrap.compiler.engines.c.addresses import (
    Arr,
    Num,
    aligned,
    anywhere,
    collapsed,
    in_order,
    integer,
    joined,
    no_key,
    order_of,
    packed,
    reduced_axes,
    selected,
    summed_axes,
    taken,
)
from gradwrap.compiler.engines.c.frame import SHELF, Frame, Shelved
from gradwrap.compiler.engines.c.functions import (
    Export,
    Library,
    Statement,
    any_product_text,
    crossing_of,
    merged,
    one_writer_each,
    product_text,
    reduction_text,
    slots_of,
    strips_of,
    vector_product,
    with_calls_apart,
)
from gradwrap.compiler.engines.c.loops import Carrying, grid_of
from gradwrap.compiler.engines.c.operations import (
    LONG,
    TYPES,
    Elementwise,
    converted,
    elementwise,
    literal,
)
from gradwrap.compiler.engines.c.parts import (
    GRAIN,
    ODD,
    OF_ARRAY,
    WORTH,
    Part,
    nanoseconds,
    reduction_split,
    split_of,
)
from gradwrap.compiler.engines.c.pool import MOST_SEGMENTS
from gradwrap.compiler.engines.c.turns import Turns
from gradwrap.compiler.engines.groups import Unit, scheduled
from gradwrap.compiler.ir.operations import ADD_REDUCE, ARRAY, EINSUM, ZEROS, Kind
from gradwrap.compiler.ir.program import Instr, Loop, Ref, Value, filled_with, given, refs, used

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

MANY_STEPS = 64
"""The number of steps from which a kernel is searched for repetition."""
ONE_GROUP = 0.8
"""The largest fraction of the steps that one group may hold."""
REACH = 12
"""If steps repeat: the largest distance between two steps of a group."""
LARGEST_BLOCK = 512
LONG_ROW = 256
"""The least row length for which each function call gets a strip of its own."""
IN_CACHE = 1 << 20
"""The most elements of all arrays for separate strips: more should load during the calls."""
BUSY = 32
"""The number of statements per array from which computing takes longer than memory access."""
LONG_PRODUCT = 1 << 10
"""The least multiplications of a product with a vector that is written for any size."""
TOTALS = 16 * MOST_SEGMENTS
"""The bytes of a sum's totals, one for each segment."""
CACHED = 600_000
"""The most bytes of a block's arrays together."""


class Kernel(Frame):
    """Writes a stretch of a program as a C function."""

    def __init__(
        self,
        name: str,
        steps: Sequence[Instr | Loop],
        values: Sequence[Value],
        outputs: Sequence[int],
        library: Library,
        shelves: dict[int, Shelved] | None = None,
        shelved: Sequence[int] = (),
        ranges: Mapping[int, tuple[int, int]] | None = None,
        tables: Mapping[int, Any] | None = None,
    ) -> None:
        self.library = library
        self.ranges: Mapping[int, tuple[int, int]] = ranges or {}
        """By value: the least and the greatest number of a table of integers."""
        self.tables: Mapping[int, Any] = tables or {}
        """The frozen tables of integers."""
        self.groups: int = 0
        self.users: dict[int, list[Instr | Loop]] = {}
        """By value of the current stretch: the steps that read it."""
        self.kept: frozenset[int] = frozenset()
        self.last: dict[int, int] = {}
        """By value of the current stretch: the last unit that reads it."""
        self.now: int = 0
        """The unit of the current stretch that is being written."""
        self.number_of: dict[int, int] = {}
        """By the identity of a step of the current stretch: its unit."""
        self.uncleared: set[int] = set()
        """Arrays of zeros that are cleared just before the first addition to them."""
        self.part: Part | None = None
        """The part of a nest that is being written."""
        self.own_room: int = 0
        """The bytes that each thread needs for itself."""
        self.splits: Counter[str] = Counter()
        """The nests, by the reason why they are not split; those that are split under ""."""
        self.notes: list[str] = []
        """Notes for `.explain()` on the loops found in the text."""
        super().__init__(name, steps, values, outputs, shelves or {}, shelved)
        self.in_turns: bool = self._repeats(steps)
        made = {index for step in steps for index in given(step)}
        wanted = {index for index in outputs if index in made} | {*shelved}
        if self.in_turns:
            self._perform_in_turns(list(steps), wanted)
        else:
            self.perform(list(steps), wanted)
        self._outputs()

    def _outputs(self) -> None:
        for index in [*self.outputs, *self.shelved]:
            if self.values[index].dtype == SHELF:
                continue
            found, home = self.where[index], self.homes[index]
            if isinstance(found, Num):
                self.line(f"*{home} = {found.text};")
            elif found.pointer != home:
                self.assign(in_order(found.dtype, found.shape, home), found, "=")

    # Steps ----------------------------------------------------------------------------------------

    def _shape_of(self, instr: Instr) -> tuple[int, ...] | None:
        """Return the shape of the group that an instruction can join, or None."""
        value = self.values[instr.out]
        if instr.op is ADD_REDUCE:
            index: int = instr.args[0].index
            source = self.values[index]
            axes = reduced_axes(instr, len(source.shape))
            full = axes is not None and len(set(axes)) == len(source.shape)
            return source.shape if full and not value.shape and value.dtype != LONG else None
        if instr.op.kind is Kind.WRITE:
            return self._written_shape(instr)
        if not value.shape or elementwise(instr, self.values, value) is None:
            return None
        return value.shape

    def _written_shape(self, instr: Instr) -> tuple[int, ...] | None:
        """Return the shape of the region that an instruction writes, if a group can write it."""
        target, key, written = instr.args
        if type(written) is not Ref or any(True for _ in refs(key)):
            return None
        if target.index in self.kept:
            return None
        index: int = target.index
        source = self.values[index]
        shape = taken(anywhere(source.shape), key, no_key)
        found = self.values[written.index].shape
        return found if found and shape.shape == found and target.index != written.index else None

    def perform(
        self, steps: list[Instr | Loop], kept: set[int], turns: Turns | None = None
    ) -> None:
        """Write steps, or pass them to `turns`; `kept` are the values live after them."""
        before = self.users, self.kept, self.last, self.number_of, self.now
        self.users, self.kept = {}, frozenset(kept)
        for step in steps:
            for index in used(step):
                self.users.setdefault(index, []).append(step)
        late = _written_late(steps)
        units = scheduled(late, self._shape_of, writes=True, reach=REACH if turns else None)
        last = self.last = {}
        self.number_of = {}
        for number, unit in enumerate(units):
            for step in unit.steps:
                self.number_of[id(step)] = number
                for index in (*used(step), *given(step)):
                    last[index] = number
        made = {index for step in steps for index in given(step)}
        dying: list[set[int]] = [set() for _ in units]
        for index, number in last.items():
            if index not in kept and (index in made or index in self.dying_here):
                dying[number].add(index)
        written = len(self.lines)
        for number, unit in enumerate(units):
            self.now, first = number, unit.steps[0]
            if unit.shape is not None:
                needed = {
                    i for step in unit.steps for i in given(step) if last[i] > number or i in kept
                }
                self._group(unit, needed, dying[number])
            elif isinstance(first, Loop):
                self._loop(first)
            else:
                self._step(first, dying[number])
            self.release(dying[number])
            if turns and len(self.lines) > written:
                turns.add("\n".join(self.lines[written:]))
                del self.lines[written:]
        self.users, self.kept, self.last, self.number_of, self.now = before

    def _repeats(self, steps: Sequence[Instr | Loop]) -> bool:
        """Tell if there are many steps that do not form one large group."""
        if len(steps) < MANY_STEPS:
            return False
        shapes = Counter(self._shape_of(step) for step in steps if isinstance(step, Instr))
        del shapes[None]
        return max(shapes.values(), default=0) < ONE_GROUP * len(steps)

    def _perform_in_turns(self, steps: list[Instr | Loop], kept: set[int]) -> None:
        """Write steps, with loops over tables where they repeat."""
        turns = Turns(self.types, self.outside, self.library.function)
        self.perform(steps, kept, turns)

        def name_of(found: Arr | Num) -> str:
            return found.text if isinstance(found, Num) else found.pointer

        found = {index: self.where[index] for index in kept}
        needed = {index: one for index, one in found.items() if name_of(one) in self.types}
        wanted = sorted(set(map(name_of, needed.values())))
        lines, texts = turns.written(wanted, lambda size: self.workspace.take(size, alone=True))
        self.lines.extend(lines)
        self.notes = turns.notes
        for index, one in needed.items():
            text = texts[name_of(one)]
            self.where[index] = (
                one._replace(text=text) if isinstance(one, Num) else one._replace(pointer=text)
            )

    def _step(self, instr: Instr, dying: set[int]) -> None:
        value = self.values[instr.out]
        op, kind = instr.op, instr.op.kind
        if not value.shape and elementwise(instr, self.values, value) is not None:
            self._number(instr)
        elif kind is Kind.READ:
            self._getitem(instr)
        elif kind is Kind.WRITE:
            self._write(instr, dying)
        elif kind is Kind.REDUCE or op is EINSUM:
            self._reduce(instr)
        elif kind is Kind.JOIN:
            self._join(instr)
        elif kind is Kind.ACCUMULATE:
            self._running_sum(instr)
        elif kind is Kind.PRODUCT:
            self._product(instr)
        elif kind is Kind.FILL or kind is Kind.COPY:
            self._fill(instr)
        elif kind is Kind.TRIANGLE:
            self._triangle(instr)
        else:
            self._view(instr)

    def _number(self, instr: Instr) -> None:
        """Write an operation on numbers."""
        value = self.values[instr.out]
        found = elementwise(instr, self.values, value)
        assert found is not None
        texts: list[str] = []
        for leaf, dtype in zip(found.operands, found.dtypes, strict=True):
            operand = self.operand(leaf, dtype)
            assert isinstance(operand, Num)
            texts.append(converted(operand.text, operand.dtype, dtype))
        self.where[instr.out] = self.variable(value.dtype, found.expression.format(*texts))

    def _key(self, part: Ref, extent: int) -> str:
        """Write the bounds check of an index that may be out of bounds, and return its text."""
        found = self.where[part.index]
        assert isinstance(found, Num)
        least, greatest = self.ranges.get(part.index, (-1, -1))
        if least >= 0 and greatest < extent:
            return found.text
        end = integer(extent)
        place = self.variable(LONG, f"{found.text} < 0 ? {found.text} + {end} : {found.text}")
        self.line(f"if ({place.text} < 0 || {place.text} >= {end}) return 2;")
        return place.text

    def _getitem(self, instr: Instr) -> None:
        source = self.where[instr.args[0].index]
        assert isinstance(source, Arr)
        found = taken(source, instr.args[1], self._key)
        if found.shape:
            self.alias(instr.out, found)
        else:
            self.where[instr.out] = self.variable(found.dtype, found.element)

    def _view(self, instr: Instr) -> None:
        """Record a transposed, reshaped or broadcast array."""
        value = self.values[instr.out]
        source = self.where[instr.args[0].index]
        if isinstance(source, Num):
            room = self.new(instr.out)
            self.assign(room, source, "=")
            self.where[instr.out] = room
            return
        if instr.op.kind in TRANSPOSED:
            order = order_of(instr, len(source.shape))
            self.alias(
                instr.out,
                source._replace(
                    shape=tuple(source.shape[i] for i in order),
                    strides=tuple(source.strides[i] for i in order),
                ),
            )
        elif instr.op.kind is Kind.SELECT:
            self.alias(instr.out, selected(instr, source))
        elif instr.op.kind is Kind.BROADCAST:
            self.alias(
                instr.out,
                source._replace(shape=value.shape, strides=aligned(source, value.shape)),
            )
        elif source.is_packed:
            self.alias(instr.out, source._replace(shape=value.shape, strides=packed(value.shape)))
        else:
            room = self.new(instr.out)
            self.assign(
                room._replace(shape=source.shape, strides=packed(source.shape)), source, "="
            )
            self.where[instr.out] = room

    def _fill(self, instr: Instr) -> None:
        value = self.values[instr.out]
        number = filled_with(instr)
        if number is not None and self._is_uniform(instr):
            self.where[instr.out] = self.operand(number, value.dtype)
            return
        source = None if number is not None else self.where[instr.args[0].index]
        if isinstance(source, Arr) and self._stands_for(source, instr):
            self.alias(instr.out, source)
            return
        room = self.new(instr.out)
        if source is not None:
            self.assign(room, source, "=")
        elif instr.op is ZEROS:
            self.where[instr.out] = room
            self.uncleared.add(instr.out)
            users = self.users.get(instr.out, ())
            if len(users) != 1 or not self._is_added_to(users[0]) or instr.out in self.targets:
                self._clear(instr.out)
        else:
            self.assign(room, self.operand(number, value.dtype), "=")
        self.where[instr.out] = room

    def _stands_for(self, source: Arr, instr: Instr) -> bool:
        """Tell if an array can be read in place of its copy, or be handed on by a loop as such."""
        if source.root in self.dying_here and source.is_packed:
            if source.shape == self.values[source.root].shape:
                return True
        return self._is_readable(source, instr.out)

    def _is_readable(self, place: Arr, part: int) -> bool:
        """Tell if a value can be read in an array, written only after the last reading of it."""
        readers = self._views({part})
        if not readers.isdisjoint(self.kept) or part in self.homes or part in self.targets:
            return False
        described = self.values[part]
        if (place.shape, place.dtype) != (described.shape, described.dtype):
            return False
        end = max(self.last.get(index, 0) for index in readers)
        return place.strides[-1:] == (1,) and all(
            not self.now < self.number_of[id(step)] <= end
            for index in self._views({*self.members.get(place.root, ())})
            for step in self.users.get(index, ())
            if isinstance(step, Instr) and step.op.kind is Kind.WRITE and step.args[0] == Ref(index)
        )

    def _views(self, members: set[int]) -> set[int]:
        """Return values, and those that may lie in the same memory."""
        found, waiting = {*members}, [*members]
        while waiting:
            for step in self.users.get(waiting.pop(), ()):
                if isinstance(step, Instr) and step.out not in found:
                    if step.op.kind in (*VIEWING, Kind.READ, Kind.COPY):
                        found.add(step.out)
                        waiting.append(step.out)
        return found

    def _triangle(self, instr: Instr) -> None:
        """Write a copy of matrices with zeros above or below a diagonal."""
        room = self.new(instr.out)
        self.assign(room, self.where[instr.args[0].index], "=")
        self.where[instr.out] = room
        rows, columns = map(integer, room.shape[-2:])
        diagonal = integer((*instr.args[1:], *dict(instr.kw).values(), 0)[0])
        keeps_left = instr.op.condition == "<="
        kind = TYPES[room.dtype]
        self.line(f"for (long i = 0; i < {integer(math.prod(room.shape[:-1]))}; i++) {{")
        self.line(f"    {kind} *row = {room.start} + i * {columns};")
        self.line(f"    long end = i % {rows} + {diagonal}{' + 1' if keeps_left else ''};")
        self.line(f"    end = end < 0 ? 0 : end > {columns} ? {columns} : end;")
        if keeps_left:
            self.line(f"    memset(row + end, 0, ({columns} - end) * sizeof({kind}));")
        else:
            self.line(f"    memset(row, 0, end * sizeof({kind}));")
        self.line("}")

    def _is_added_to(self, step: Instr | Loop) -> bool:
        """Tell if a group can perform an addition to part of an array."""
        is_add = isinstance(step, Instr) and step.op.scatters
        return is_add and isinstance(step, Instr) and self._written_shape(step) is not None

    def _clear(self, root: int) -> None:
        """Write zeros to a new array unless already done."""
        if root in self.uncleared:
            self.uncleared.discard(root)
            room = self.where[root]
            assert isinstance(room, Arr)
            if OF_ARRAY * math.prod(room.shape) >= WORTH:
                self.assign(room, Num(room.dtype, "0"), "=")
                return
            size = math.prod(room.shape) * room.dtype.itemsize
            self.line(f"memset({room.start}, 0, {integer(size)});")

    def _is_uniform(self, instr: Instr) -> bool:
        """Tell if a number can replace a new array, which is only read element by element."""
        return instr.out not in self.kept and all(
            isinstance(step, Instr)
            and elementwise(step, self.values, self.values[step.out]) is not None
            for step in self.users.get(instr.out, ())
        )

    def _write(self, instr: Instr, dying: set[int]) -> None:
        """Write `setitem` or `scatter_add`: in place if nothing else reads the array."""
        target, key, written = instr.args
        source = self.where[target.index]
        assert isinstance(source, Arr)
        self._clear(source.root)
        value = self.values[instr.out]
        operand = self.operand(written, value.dtype)
        in_place = target.index in dying and source.is_packed and self.is_last(source, dying)
        if in_place and isinstance(operand, Arr) and operand.root == source.root:
            in_place = False
        if in_place:
            self.members[source.root].add(instr.out)
            room = source
        else:
            room = self.new(instr.out)
            self.assign(room, source, "=")
        self.where[instr.out] = room
        place = taken(room, key, self._key)
        operator = "+=" if instr.op.scatters else "="
        if place.shape:
            self.assign(place, operand, operator)
        else:
            self.line(f"{place.element} {operator} {self.element(operand)};")

    def assign(self, target: Arr, source: Arr | Num, operator: str) -> None:
        """Write an assignment of all elements."""
        if isinstance(source, Arr) and source.is_packed and target.is_packed and operator == "=":
            is_small = 2 * OF_ARRAY * math.prod(target.shape) < WORTH
            if source.shape == target.shape and source.dtype == target.dtype and is_small:
                size = math.prod(source.shape) * source.dtype.itemsize
                self.line(f"memcpy({target.start}, {source.start}, {integer(size)});")
                return
        if isinstance(source, Arr) and len(source.shape) > len(target.shape):
            extra = len(source.shape) - len(target.shape)
            source = source._replace(shape=source.shape[extra:], strides=source.strides[extra:])
        number = self.temporary()
        other = self.temporary()
        self.where[other] = source
        found = Elementwise("{0}", (Ref(other),), (source.dtype,), source.dtype)
        statement = Statement(number, found, target.dtype)
        self._nest(target.shape, [statement], [Export(number, target, operator)])
        del self.where[other]

    # Groups ---------------------------------------------------------------------------------------

    def _group(self, unit: Unit, needed: set[int], dying: set[int]) -> None:
        """Write a group: elementwise operations, full sums, and the stores of their results."""
        assert unit.shape is not None
        first = unit.steps[0]
        if len(unit.steps) == 1 and isinstance(first, Instr) and len(first.args) == 3:
            if first.op.kind is Kind.WRITE:
                self._write(first, dying)
                return
        self.groups += 1
        statements: list[Statement] = []
        exports: list[Export] = []
        written_here: set[int] = set()
        for instr in unit.steps:
            assert isinstance(instr, Instr)
            value = self.values[instr.out]
            if instr.op is ADD_REDUCE:
                found = Elementwise("{0}", instr.args[:1], (value.dtype,), value.dtype)
                statements.append(Statement(instr.out, found, value.dtype, is_sum=True))
                continue
            if instr.op.kind is Kind.WRITE:
                exports.append(self._written(instr, dying, statements, written_here))
                continue
            found_ = elementwise(instr, self.values, value)
            assert found_ is not None
            statements.append(Statement(instr.out, found_, value.dtype))
        parts = {e.source: e.target for e in exports if e.is_part and e.operator == "="}
        for out in [statement.out for statement in statements if statement.out in needed]:
            if out in parts and self._is_readable(parts[out], out):
                self.alias(out, parts[out])
            elif not any(statement.out == out and statement.is_sum for statement in statements):
                exports.append(Export(out, self.new(out), "="))
        self._nest(unit.shape, statements, merged(exports, statements, self.temporary))
        for export in exports:
            if export.operator == "=" and export.source in needed and not export.is_part:
                self.where[export.source] = export.target

    def _written(
        self, instr: Instr, dying: set[int], statements: list[Statement], written_here: set[int]
    ) -> Export:
        """Prepare the store of a group's value to part of an array."""
        target, key, written = instr.args
        source = self.where[target.index]
        assert isinstance(source, Arr)
        written_here.update((target.index, instr.out))
        is_ours = self.members.get(source.root, {-1}) <= written_here and target.index in dying
        if is_ours and source.is_packed:
            self.members[source.root].add(instr.out)
            room = source
        else:
            self._clear(source.root)
            room = self.new(instr.out)
            self.assign(room, source, "=")
        self.where[instr.out] = room
        if not any(statement.out == written.index for statement in statements):
            number = self.temporary()
            index: int = written.index
            dtype = self.values[index].dtype
            found = Elementwise("{0}", (written,), (dtype,), dtype)
            statements.append(Statement(number, found, dtype))
            written = Ref(number)
        operator = "+=" if instr.op.scatters else "="
        return Export(written.index, taken(room, key, self._key), operator, is_part=True)

    def _nest(
        self, shape: tuple[int, ...], statements: list[Statement], exports: list[Export]
    ) -> None:
        """Write nested loops over the elements of a shape that call the strips."""
        local = {statement.out for statement in statements}
        outside: dict[int, Arr] = {}
        for statement in statements:
            for leaf in statement.found.operands:
                if type(leaf) is Ref and leaf.index not in local:
                    found = self.where[leaf.index]
                    if isinstance(found, Arr):
                        outside[leaf.index] = found
        every = [aligned(arr, shape) for arr in outside.values()]
        every += [aligned(export.target, shape) for export in exports]
        extents, strides = collapsed(shape, every)
        reads = dict(zip(outside, strides, strict=False))
        writes = strides[len(outside) :]
        strips = strips_of(statements)
        arrays = len(outside) + len(exports)
        is_in_cache = math.prod(shape) * arrays <= IN_CACHE or len(statements) > BUSY * arrays
        if extents[-1] >= LONG_ROW and is_in_cache:
            strips = with_calls_apart(strips)
        exports = one_writer_each(exports, strips, self.temporary)
        cleared = [e.target for e in exports if e.is_part and e.target.root in self.uncleared]
        along_one = len(extents) == 1 and len({arr.root for arr in cleared}) == 1
        if not along_one or any(arr.strides != (1,) or arr.computed for arr in cleared):
            for arr in cleared:
                self._clear(arr.root)
            cleared = []
        crossing = crossing_of(strips)
        inner = extents[-1]
        sums = [statement for statement in statements if statement.is_sum]
        slots, rows = slots_of(strips, crossing)
        kinds = {statement.out: statement.dtype for strip in strips for statement in strip}
        size = max(rows + len(outside) + len(exports), 1)
        block = max(8, min(CACHED // (8 * size), LARGEST_BLOCK) // 8 * 8)
        whole = len(strips) == 1 and not sums and not cleared
        block = inner if whole else min(block, inner)
        time = nanoseconds(shape, statements, arrays)
        grain = block if block < inner else GRAIN
        from_memory = [(arr, reads[index]) for index, arr in outside.items()]
        split = split_of(extents, time, grain, from_memory, [*zip(exports, writes, strict=True)])
        self.splits[split if isinstance(split, str) else ""] += 1
        part = None if isinstance(split, str) else Part(split, inner, in_turns=self.in_turns)
        totals = {statement.out: self.name_of("s") for statement in sums}
        for number, total in enumerate(totals.values()):
            if part is None:
                self.line(f"double {total}[2] = {{0, 0}};")
            else:
                place = integer(self._scratch(TOTALS * len(totals)) + TOTALS * number)
                self.line(f"double *{total} = (double *)(w + {place});")
        self.part = part
        room = "r" if part else self.name_of("r") if rows else ""
        if rows and part is None:
            self.line(f"char *{room} = w + {integer(self._scratch(rows * block * 8))};")
        counters = [f"i{depth}" for depth in range(len(extents) - 1)]
        is_cut = part is not None and part.split.is_inner
        blocked = block < inner or is_cut

        def place_of(arr: Arr, steps: tuple[int, ...], const: str = "") -> str:
            parts = [self._around(f"{const}{TYPES[arr.dtype]} *", arr.start)]
            parts += [f"{c} * {self._count(s)}" for c, s in zip(counters, steps, strict=False) if s]
            if blocked and steps[-1]:
                parts.append(f"b * {self._count(steps[-1])}" if steps[-1] != 1 else "b")
            return " + ".join(parts)

        pointers = {
            index: (place_of(arr, reads[index], "const "), reads[index][-1])
            for index, arr in outside.items()
        }
        for index, slot in slots.items():
            row = self._count(slot * block * 8)
            pointers[index] = (f"({TYPES[kinds[index]]} *)({room} + {row})", 1)
        with self._part(part, rows * block * 8, list(totals.values())):
            with ExitStack() as loops:
                self._enter_rows(loops, counters, extents)
                if cleared and not blocked:
                    self._clear(cleared[0].root)
                    cleared = []
                if cleared:
                    self._begin_clearing(part, cleared)
                end, step = "high" if is_cut else self._count(inner), self._count(block)
                if block < inner:
                    start = "low" if is_cut else "0"
                    head = f"for (long b = {start}; b < {end}; b += {step})"
                    loops.enter_context(self.block(head))
                    self.line(f"const long n = {end} - b < {step} ? {end} - b : {step};")
                elif is_cut:
                    self.line("const long b = low, n = high - low;")
                if cleared:
                    most = max(arr.offset for arr in cleared)
                    self._clear_up_to(f"b + n + {self._count(most)}", cleared[0])
                for strip in strips:
                    mine = {statement.out for statement in strip}
                    stores = [
                        (export.source, place_of(export.target, steps), steps[-1], export)
                        for export, steps in zip(exports, writes, strict=True)
                        if export.source in mine
                    ]
                    length = "n" if blocked else self._count(inner)
                    own = {out: f"t{n}" if part else totals[out] for n, out in enumerate(totals)}
                    self._strip(strip, pointers, stores, own, slots, kinds, length)
            if cleared:
                end = self._count(self.values[cleared[0].root].shape[0])
                self._clear_up_to("last" if part else end, cleared[0])
                self.uncleared.discard(cleared[0].root)
        for statement in sums:
            total = totals[statement.out]
            kind = TYPES[statement.dtype]
            self.where[statement.out] = self.variable(
                statement.dtype, f"({kind})({total}[0] + {total}[1])"
            )

    def _enter_rows(
        self, loops: ExitStack, counters: Sequence[str], extents: Sequence[int]
    ) -> None:
        """Begin the outer loops of a nest; in a part, one of them runs over a segment."""
        for axis, counter in enumerate(counters):
            is_mine = self.part is not None and self.part.split.axis == axis
            low, high = ("low", "high") if is_mine else ("0", self._count(extents[axis]))
            head = f"for (long {counter} = {low}; {counter} < {high}; {counter}++)"
            loops.enter_context(self.block(head))

    @contextmanager
    def _part(self, part: Part | None, room: int, totals: Sequence[str]) -> Generator[None]:
        """Write the lines that are written meanwhile as a part of a nest, or else as a block.

        A part is a function; its call follows, and the sums over all segments. Each thread needs
        `room` bytes of its own.
        """
        if part is None:
            with self.block():
                yield
            return
        with self.apart() as body:
            yield
        room = -(-room // 64) * 64
        self.own_room = max(self.own_room, room)
        head: list[str] = []
        if room:
            start = part.slot("char *", "TEAM.room")
            head.append(f"    char *r = {start} + me * {part.number(room)};")
        head += part.segment()
        for number, total in enumerate(totals):
            place = part.slot("double *", total)
            head.append(f"        double *t{number} = {place} + 2 * s;")
            head.append(f"        t{number}[0] = t{number}[1] = 0;")
        name = self.library.function(part.text([*head, *body, "    }"]))
        self.part = None
        with self.block():
            for line in part.call(name):
                self.line(line)
        for total in totals:
            self.line(f"join_sums({total}, {integer(part.split.segments)});")

    def _scratch(self, size: int) -> int:
        """Return the place of some bytes of the workspace, which the next call may return too."""
        place = self.workspace.take(size)
        self.workspace.give_back(place, size)
        return place

    def _around(self, kind: str, text: str) -> str:
        """Return the text of a value that is computed outside of the part being written."""
        return text if self.part is None else self.part.slot(kind, text)

    def _count(self, number: int) -> str:
        """Return the text of an integer that may differ between turns."""
        return integer(number) if self.part is None else self.part.number(number)

    def _begin_clearing(self, part: Part | None, cleared: list[Arr]) -> None:
        """Write the start of the zeros, and in a part also their end.

        Where neighbours overlap, the segments performed first clear all that they add to.
        """
        if part is None:
            self.line("long z = 0;")
            return
        whole = self._count(self.values[cleared[0].root].shape[0])
        offsets = [arr.offset for arr in cleared]
        least, most = self._count(min(offsets)), self._count(max(offsets))
        odd = part.slot(*ODD) if part.split.overlap else "0"
        self.line(f"long z = low ? low + ({odd} ? {most} : {least}) : 0;")
        end = f"high == {self._count(part.inner)} ? {whole} : high + ({odd} ? {least} : {most})"
        self.line(f"const long last = {end};")

    def _clear_up_to(self, end: str, arr: Arr) -> None:
        """Write zeros just before a block adds to them, so that they are in the cache."""
        size = arr.dtype.itemsize
        pointer = self._around(f"{TYPES[arr.dtype]} *", arr.pointer)
        if self.part is not None:
            end = f"({end} < last ? {end} : last)"
        self.line(
            f"if ({end} > z) {{ memset({pointer} + z, 0, ({end} - z) * {size}); z = {end}; }}"
        )

    def _strip(
        self,
        strip: list[Statement],
        pointers: dict[int, tuple[str, int]],
        stores: list[tuple[int, str, int, Export]],
        totals: dict[int, str],
        slots: dict[int, int],
        kinds: dict[int, Any],
        length: str,
    ) -> None:
        """Write a strip as a function, and its call."""
        parameters: list[str] = ["const long n"]
        arguments: list[str] = [length]
        before: list[str] = []
        body: list[str] = []
        after: list[str] = []
        texts: dict[int, tuple[str, Any]] = {}

        def parameter(kind: str, argument: str) -> str:
            name = f"p{len(parameters)}"
            parameters.append(f"{kind}{name}")
            arguments.append(argument)
            return name

        def row_place(stride: int) -> str:
            """Return the index of an element; a stride that varies between turns is an argument."""
            if stride in (0, 1):
                return "i" if stride else "0"
            step = parameter("const long ", self._count(stride)) if self.in_turns else stride
            return f"i * {step}"

        def operand(leaf: Any, dtype: Any) -> str:
            if type(leaf) is not Ref:
                return literal(leaf, dtype)
            if leaf.index not in texts:
                texts[leaf.index] = load(leaf.index)
            text, kind = texts[leaf.index]
            return converted(text, kind, dtype)

        def load(index: int) -> tuple[str, Any]:
            if index not in pointers:
                number = self.where[index]
                assert isinstance(number, Num)
                kind = TYPES[number.dtype]
                return parameter(f"const {kind} ", self._around(kind, number.text)), number.dtype
            argument, stride = pointers[index]
            dtype = kinds[index] if index in kinds else self.where[index].dtype
            name = parameter(f"const {TYPES[dtype]} *restrict ", argument)
            if not stride:
                before.append(f"const {TYPES[dtype]} c{name} = *{name};")
                return f"c{name}", dtype
            place = row_place(stride)
            body.append(f"const {TYPES[dtype]} l{name} = {name}[{place}];")
            return f"l{name}", dtype

        clauses: list[str] = []
        for number, statement in enumerate(strip):
            found = statement.found
            leaves = zip(found.operands, found.dtypes, strict=True)
            text = found.expression.format(*[operand(leaf, dtype) for leaf, dtype in leaves])
            if statement.is_sum:
                name = parameter("double *restrict ", totals[statement.out])
                before.append(f"{TYPES[statement.dtype]} t{name} = 0;")
                body.append(f"t{name} += {text};")
                after.append(f"sum_in({name}, t{name});")
                clauses.append(f"t{name}")
                continue
            kind = TYPES[statement.dtype]
            body.append(f"const {kind} v{number} = {text};")
            texts[statement.out] = (f"v{number}", statement.dtype)
            if statement.out in slots:
                name = parameter(f"{kind} *restrict ", pointers[statement.out][0])
                body.append(f"{name}[i] = v{number};")
        for source, argument, stride, export in stores:
            kind = TYPES[export.target.dtype]
            name = parameter(f"{kind} *restrict ", argument)
            place = row_place(stride)
            body.append(f"{name}[{place}] {export.operator} {texts[source][0]};")
        reduction = f" reduction(+:{', '.join(clauses)})" if clauses else ""
        simd = all(stride for *_, stride, _ in stores)
        indent = "    "
        lines = [f"static __attribute__((noinline)) void NAME({', '.join(parameters)}) {{"]
        lines += [indent + line for line in before]
        if simd:
            lines.append(f"    #pragma omp simd{reduction}")
        lines.append("    for (long i = 0; i < n; i++) {")
        lines += [indent * 2 + line for line in body]
        lines.append("    }")
        lines += [indent + line for line in after]
        name = self.library.function("\n".join([*lines, "}"]))
        self.line(f"{name}({', '.join(arguments)});")

    # Reductions and products ----------------------------------------------------------------------

    def _room_for(self, instr: Instr, value: Value) -> Arr:
        """Allocate a result: an array, or a local variable for a number."""
        if value.shape:
            return self.new(instr.out)
        pointer = self.name_of("u")
        self.line(f"{TYPES[value.dtype]} {pointer}[1];")
        return in_order(value.dtype, (), pointer)

    def _reduce(self, instr: Instr) -> None:
        """Write a reduction along some axes."""
        source = self.where[instr.args[-1 if instr.op is EINSUM else 0].index]
        assert isinstance(source, Arr)
        value = self.values[instr.out]
        rank = len(source.shape)
        axes = summed_axes(instr) if instr.op is EINSUM else reduced_axes(instr, rank)
        assert axes is not None
        kept = [i for i in range(len(source.shape)) if i not in axes]
        shape = tuple(source.shape[i] for i in kept)
        kinds = TYPES[source.dtype], TYPES[value.dtype]
        op = ADD_REDUCE if instr.op is EINSUM else instr.op
        room = self._room_for(instr, value)
        pointer = room.start
        steps = iter(packed(shape))
        along = [next(steps) if i in kept else 0 for i in range(len(source.shape))]
        # The axis with contiguous elements is the innermost.
        size = integer(math.prod(shape))
        self.line(f"for (long j = 0; j < {size}; j++) ({pointer})[j] = {op.start};")
        extents, ((*read, last), (*write, last_out)) = collapsed(
            source.shape, [source.strides, tuple(along)]
        )
        split = reduction_split(extents, (*read, last), (*write, last_out))
        self.splits[split if isinstance(split, str) else ""] += 1
        part = None if isinstance(split, str) else Part(split, extents[-1], in_turns=self.in_turns)
        self.part = part
        is_cut = part is not None and part.split.is_inner
        counters = [f"i{depth}" for depth in range(len(extents) - 1)]
        places: list[str] = []
        for first, found in (
            (self._around(f"const {kinds[0]} *", source.start), [*read, last]),
            (self._around(f"{kinds[1]} *", pointer), [*write, last_out]),
        ):
            steps_of = zip([*counters, *["low"] * is_cut], found, strict=False)
            moved = (f"{c} * {self._count(s)}" for c, s in steps_of if s)
            places.append(" + ".join([first, *moved]))
        steps_: list[int | str] = [last, last_out]
        given_steps = ""
        for number, step in enumerate((last, last_out)):
            if self.in_turns and step not in (0, 1):
                steps_[number] = f"step{number}"
                given_steps += f"{self._count(step)}, "
        function = self.library.function(reduction_text(op, kinds, *steps_))
        length = "high - low" if is_cut else self._count(extents[-1])
        with self._part(part, 0, []), ExitStack() as loops:
            self._enter_rows(loops, counters, extents)
            self.line(f"{function}({given_steps}{length}, {', '.join(places)});")
        self.where[instr.out] = self._made(room)

    def _made(self, room: Arr) -> Arr | Num:
        """Return a result: an array, or the number in a local variable."""
        return room if room.shape else self.variable(room.dtype, f"{room.pointer}[0]")

    def _join(self, instr: Instr) -> None:
        """Write an array joined from parts."""
        parts = joined(instr, self.values, self.values[instr.out])
        assert parts is not None
        room = self.new(instr.out)
        for key, part in parts:
            place = taken(room, key, no_key)
            operand = self.operand(part, room.dtype)
            if isinstance(operand, Arr) and instr.op is ARRAY:
                place = place._replace(shape=operand.shape)
            if place.shape:
                self.assign(place, operand, "=")
            else:
                self.line(f"{place.element} = {self.element(operand)};")
        self.where[instr.out] = room

    def _running_sum(self, instr: Instr) -> None:
        """Write running sums along the first axis."""
        source = self.where[instr.args[0].index]
        assert isinstance(source, Arr)
        room = self.new(instr.out)
        self.assign(room, source, "=")
        size = integer(room.strides[0])
        kind = TYPES[room.dtype]
        self.line(f"for (long j = {size}; j < {integer(math.prod(room.shape))}; j++) {{")
        self.line(f"    {kind} *sums = {room.start};")
        self.line(f"    sums[j] += sums[j - {size}];")
        self.line("}")
        self.where[instr.out] = room

    def _in_one_row(self, arr: Arr) -> Arr:
        """Return the array, or a copy of it in C's order."""
        if arr.is_packed:
            return arr
        size = math.prod(arr.shape) * arr.dtype.itemsize
        place = self.workspace.take(size, alone=True)
        pointer = f"(({TYPES[arr.dtype]} *)(w + {integer(place)}))"
        copied = in_order(arr.dtype, arr.shape, pointer)
        self.assign(copied, arr, "=")
        return copied

    def _product(self, instr: Instr) -> None:
        """Write a small product of matrices or vectors."""
        left, right = (self.where[arg.index] for arg in instr.args)
        assert isinstance(left, Arr)
        assert isinstance(right, Arr)
        value = self.values[instr.out]
        kind = TYPES[value.dtype]
        inner, rows = left.shape[-1], math.prod(left.shape[:-1])
        if len(left.shape) > 2:
            left = self._in_one_row(left)._replace(shape=(rows, inner), strides=(inner, 1))
        columns = right.shape[1] if len(right.shape) == 2 else 1
        row_step = left.strides[0] if len(left.shape) == 2 else 0
        column_step = right.strides[1] if len(right.shape) == 2 else 0
        room = self._room_for(instr, value)
        steps = (row_step, left.strides[-1], right.strides[0], column_step)
        if self.in_turns or rows * inner * columns >= LONG_PRODUCT:
            ranks = len(left.shape), len(right.shape)
            found = vector_product(kind, ranks, (rows, inner, columns), steps)
            if found is not None:
                text, given_first, is_left = found
                vector, matrix = (left, right) if is_left else (right, left)
                given = "".join(f"{integer(size)}, " for size in given_first)
                name = self.library.function(text)
                self.line(f"{name}({given}{vector.start}, {matrix.start}, {room.start});")
                self.where[instr.out] = self._made(room)
                return
        if columns > 1 and column_step != 1:
            place = self.workspace.take(inner * columns * value.dtype.itemsize)
            self.workspace.give_back(place, inner * columns * value.dtype.itemsize)
            copied = in_order(value.dtype, right.shape, f"(({kind} *)(w + {integer(place)}))")
            self.assign(copied, right, "=")
            right, steps = copied, (*steps[:2], columns, 1)
        given_sizes = ""
        if self.in_turns:
            ones = [1 if step == 1 else None for step in steps[1:3]]
            text = any_product_text(kind, ones[0], ones[1], columns)
            sizes = (rows, inner, columns, *steps[:3])
            given_sizes = "".join(f"{integer(size)}, " for size in sizes)
        else:
            text = product_text(kind, (rows, inner, columns), steps)
        function = self.library.function(text)
        self.line(f"{function}({given_sizes}{left.start}, {right.start}, {room.start});")
        self.where[instr.out] = self._made(room)

    # Loops ----------------------------------------------------------------------------------------

    def _loop(self, loop: Loop) -> None:
        """Write a recurrence as a loop."""
        state = Carrying(self, loop)
        state.before()
        counter = self.name_of("k")
        known = ((index, self.tables.get(stack.index)) for index, stack in loop.reads.items())
        grid = grid_of({n: table for n, table in known if table is not None and table.ndim == 1})
        extents = [loop.turns] if grid is None else grid.extents
        counters = [counter] if len(extents) == 1 else [self.name_of("i") for _ in extents]
        indices = {} if grid is None else {n: grid.text(n, counters) for n in grid.laws}
        with ExitStack() as loops:
            for name, extent in zip(counters, extents, strict=True):
                loops.enter_context(self.loop(name, extent))
            if len(extents) > 1:
                strides = zip(counters, packed(tuple(extents)), strict=True)
                place = " + ".join(f"{name} * {integer(stride)}" for name, stride in strides)
                self.line(f"const long {counter} = {place};")
            state.turn(counter, indices)
        state.after()


def _written_late(steps: Sequence[Instr | Loop]) -> list[Instr | Loop]:
    """Return steps with each write of a number just before its result is read.

    What is read from the array before is then read in its place.
    """
    made: list[Instr | Loop] = []
    waiting: dict[int, Instr] = {}
    for step in steps:
        if waiting:
            made += [waiting.pop(index) for index in dict.fromkeys(used(step)) if index in waiting]
        if isinstance(step, Instr) and step.op.kind is Kind.WRITE and type(step.args[2]) is not Ref:
            waiting[step.out] = step
        else:
            made.append(step)
    return [*made, *waiting.values()]
