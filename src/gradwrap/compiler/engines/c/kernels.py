"""C kernels: a stretch of a program as a function in C.

The steps are written into a frame (`frame.py`), which knows the place of each value. Each group of
elementwise steps becomes a nest of loops (`nests.py`), and a `Loop` a loop in C (`loops.py`).
"""

from __future__ import annotations

import math
from collections import Counter
from contextlib import ExitStack
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
from gradwrap.compiler.engines.c.frame import SHELF, Shelved
from gradwrap.compiler.engines.c.functions import (
    Export,
    Library,
    Statement,
    any_product_text,
    merged,
    product_text,
    reduction_text,
    vector_product,
)
from gradwrap.compiler.engines.c.loops import Carrying, grid_of, line_of
from gradwrap.compiler.engines.c.nests import Nests
from gradwrap.compiler.engines.c.operations import (
    LONG,
    TYPES,
    Elementwise,
    converted,
    elementwise,
)
from gradwrap.compiler.engines.c.parts import (
    Part,
    reduction_split,
)
from gradwrap.compiler.engines.c.turns import Turns
from gradwrap.compiler.engines.groups import Unit, scheduled
from gradwrap.compiler.ir.operations import ADD_REDUCE, ARRAY, EINSUM, ZEROS, Kind
from gradwrap.compiler.ir.program import Instr, Loop, Ref, Value, filled_with, given, refs, used

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MANY_STEPS = 64
"""The number of steps from which a kernel is searched for repetition."""
ONE_GROUP = 0.8
"""The largest fraction of the steps that one group may hold."""
REACH = 12
"""If steps repeat: the largest distance between two steps of a group."""
LONG_PRODUCT = 1 << 10
"""The least multiplications of a product with a vector that is written for any size."""


class Kernel(Nests):
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
        self.ranges: Mapping[int, tuple[int, int]] = ranges or {}
        """By value: the least and the greatest number of a table of integers."""
        self.tables: Mapping[int, Any] = tables or {}
        """The frozen tables of integers."""
        self.groups: int = 0
        self.loops: int = 0
        """The loops of the program around what is being written."""
        self.users: dict[int, list[Instr | Loop]] = {}
        """By value of the current stretch: the steps that read it."""
        self.kept: frozenset[int] = frozenset()
        self.last: dict[int, int] = {}
        """By value of the current stretch: the last unit that reads it."""
        self.now: int = 0
        """The unit of the current stretch that is being written."""
        self.number_of: dict[int, int] = {}
        """By the identity of a step of the current stretch: its unit."""
        self.notes: list[str] = []
        """Notes for `.explain()` on the loops found in the text."""
        self._elementwise: dict[int, tuple[Instr, Elementwise | None]] = {}
        super().__init__(library, name, steps, values, outputs, shelves or {}, shelved)
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

    def _expressed(self, instr: Instr) -> Elementwise | None:
        """Return an instruction as a C expression, or None."""
        known = self._elementwise.get(instr.out)
        if known is None or known[0] is not instr:
            known = instr, elementwise(instr, self.values, self.values[instr.out])
            self._elementwise[instr.out] = known
        return known[1]

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
        if not value.shape or self._expressed(instr) is None:
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
                self._loop(first, dying[number])
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
        if not value.shape and self._expressed(instr) is not None:
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
        found = self._expressed(instr)
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
                self.clear(instr.out)
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

    def _is_uniform(self, instr: Instr) -> bool:
        """Tell if a number can replace a new array, which is only read element by element."""
        return instr.out not in self.kept and all(
            isinstance(step, Instr) and self._expressed(step) is not None
            for step in self.users.get(instr.out, ())
        )

    def _write(self, instr: Instr, dying: set[int]) -> None:
        """Write `setitem` or `scatter_add`: in place if nothing else reads the array."""
        target, key, written = instr.args
        source = self.where[target.index]
        assert isinstance(source, Arr)
        self.clear(source.root)
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
            found_ = self._expressed(instr)
            assert found_ is not None
            statements.append(Statement(instr.out, found_, value.dtype))
        parts = {e.source: e.target for e in exports if e.is_part and e.operator == "="}
        for out in [statement.out for statement in statements if statement.out in needed]:
            if out in parts and self._is_readable(parts[out], out):
                self.alias(out, parts[out])
            elif not any(statement.out == out and statement.is_sum for statement in statements):
                exports.append(Export(out, self.new(out), "="))
        self.nest(unit.shape, statements, merged(exports, statements, self.temporary))
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
            self.clear(source.root)
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
            (self.around(f"const {kinds[0]} *", source.start), [*read, last]),
            (self.around(f"{kinds[1]} *", pointer), [*write, last_out]),
        ):
            steps_of = zip([*counters, *["low"] * is_cut], found, strict=False)
            moved = (f"{c} * {self.number(s)}" for c, s in steps_of if s)
            places.append(" + ".join([first, *moved]))
        steps_: list[int | str] = [last, last_out]
        given_steps = ""
        for number, step in enumerate((last, last_out)):
            if self.in_turns and step not in (0, 1):
                steps_[number] = f"step{number}"
                given_steps += f"{self.number(step)}, "
        function = self.library.function(reduction_text(op, kinds, *steps_))
        length = "high - low" if is_cut else self.number(extents[-1])
        with self.in_part(part, 0, []), ExitStack() as loops:
            self.enter_rows(loops, counters, extents)
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

    def _loop(self, loop: Loop, dying: set[int]) -> None:
        """Write a recurrence as a loop."""
        state = Carrying(self, loop, dying if self.loops else set())
        state.before()
        counter = self.name_of("k")
        known = ((index, self.tables.get(stack.index)) for index, stack in loop.reads.items())
        tables = {n: table for n, table in known if table is not None and table.ndim == 1}
        grid = grid_of(tables) if loop.count is None else line_of(tables)
        extents = [loop.turns] if grid is None else grid.extents
        counters = [counter] if len(extents) == 1 else [self.name_of("i") for _ in extents]
        indices = {} if grid is None else {n: grid.text(n, counters) for n in grid.laws}
        with ExitStack() as loops:
            if loop.count is not None:
                count = self.operand(loop.count, LONG)
                loops.enter_context(self.loop(counter, self.element(count)))
                counters, extents = [], []
            for name, extent in zip(counters, extents, strict=True):
                loops.enter_context(self.loop(name, extent))
            if len(extents) > 1:
                strides = zip(counters, packed(tuple(extents)), strict=True)
                place = " + ".join(f"{name} * {integer(stride)}" for name, stride in strides)
                self.line(f"const long {counter} = {place};")
            self.loops += 1
            state.turn(counter, indices)
            self.loops -= 1
        state.after()


def _written_late(steps: Sequence[Instr | Loop]) -> list[Instr | Loop]:
    """Return steps with each write of a number just before its result is read.

    Reads of the old array then come first, and the write can be in place.
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
