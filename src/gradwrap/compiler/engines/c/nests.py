"""Nests of loops over the elements of arrays, in C.

A nest runs over blocks of elements, and calls *strips*: small functions of up to `STRIP`
statements, whose loop the compiler turns into vector instructions. Strips with equal text share one
function, so that a program with a thousand similar turns has a few of them. A nest that takes long
is a `Part`, which several threads can share.
"""

from __future__ import annotations

import math
from collections import Counter
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from gradwrap.compiler.engines.c.addresses import Arr, Num, aligned, collapsed, integer
from gradwrap.compiler.engines.c.frame import Frame, Shelved
from gradwrap.compiler.engines.c.functions import (
    Export,
    Library,
    Statement,
    crossing_of,
    one_writer_each,
    slots_of,
    strips_of,
    with_calls_apart,
)
from gradwrap.compiler.engines.c.operations import TYPES, Elementwise, converted, literal
from gradwrap.compiler.engines.c.parts import (
    GRAIN,
    ODD,
    OF_ARRAY,
    WORTH,
    Part,
    nanoseconds,
    split_of,
)
from gradwrap.compiler.engines.c.pool import MOST_SEGMENTS
from gradwrap.compiler.ir.program import Ref

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from gradwrap.compiler.ir.program import Instr, Loop, Value

LARGEST_BLOCK = 512
LONG_ROW = 256
"""The least row length for which each function call gets a strip of its own."""
IN_CACHE = 1 << 20
"""The most elements of all arrays for separate strips: more should load during the calls."""
BUSY = 32
"""The number of statements per array from which computing takes longer than memory access."""
TOTALS = 16 * MOST_SEGMENTS
"""The bytes of a sum's totals, one for each segment."""
CACHED = 600_000
"""The most bytes of a block's arrays together."""


class Nests(Frame):
    """A frame in which nests of loops can be written."""

    def __init__(
        self,
        library: Library,
        name: str,
        steps: Sequence[Instr | Loop],
        values: Sequence[Value],
        outputs: Sequence[int],
        shelves: dict[int, Shelved],
        shelved: Sequence[int],
    ) -> None:
        self.library = library
        self.uncleared: set[int] = set()
        """Arrays of zeros that are cleared just before the first addition to them."""
        self.part: Part | None = None
        """The part of a nest that is being written."""
        self.own_room: int = 0
        """The bytes that each thread needs for itself."""
        self.splits: Counter[str] = Counter()
        """The nests, by the reason why they are not split; those that are split under ""."""
        super().__init__(name, steps, values, outputs, shelves, shelved)

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
        self.nest(target.shape, [statement], [Export(number, target, operator)])
        del self.where[other]

    def clear(self, root: int) -> None:
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

    def nest(
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
                self.clear(arr.root)
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
            parts = [self.around(f"{const}{TYPES[arr.dtype]} *", arr.start)]
            parts += [f"{c} * {self.number(s)}" for c, s in zip(counters, steps, strict=False) if s]
            if blocked and steps[-1]:
                parts.append(f"b * {self.number(steps[-1])}" if steps[-1] != 1 else "b")
            return " + ".join(parts)

        pointers = {
            index: (place_of(arr, reads[index], "const "), reads[index][-1])
            for index, arr in outside.items()
        }
        for index, slot in slots.items():
            row = self.number(slot * block * 8)
            pointers[index] = (f"({TYPES[kinds[index]]} *)({room} + {row})", 1)
        with self.in_part(part, rows * block * 8, list(totals.values())):
            with ExitStack() as loops:
                self.enter_rows(loops, counters, extents)
                if cleared and not blocked:
                    self.clear(cleared[0].root)
                    cleared = []
                if cleared:
                    self._begin_clearing(part, cleared)
                end, step = "high" if is_cut else self.number(inner), self.number(block)
                if block < inner:
                    start = "low" if is_cut else "0"
                    head = f"for (long b = {start}; b < {end}; b += {step})"
                    loops.enter_context(self.block(head))
                    self.line(f"const long n = {end} - b < {step} ? {end} - b : {step};")
                elif is_cut:
                    self.line("const long b = low, n = high - low;")
                if cleared:
                    most = max(arr.offset for arr in cleared)
                    self._clear_up_to(f"b + n + {self.number(most)}", cleared[0])
                for strip in strips:
                    mine = {statement.out for statement in strip}
                    stores = [
                        (export.source, place_of(export.target, steps), steps[-1], export)
                        for export, steps in zip(exports, writes, strict=True)
                        if export.source in mine
                    ]
                    length = "n" if blocked else self.number(inner)
                    own = {out: f"t{n}" if part else totals[out] for n, out in enumerate(totals)}
                    self._strip(strip, pointers, stores, own, slots, kinds, length)
            if cleared:
                end = self.number(self.values[cleared[0].root].shape[0])
                self._clear_up_to("last" if part else end, cleared[0])
                self.uncleared.discard(cleared[0].root)
        for statement in sums:
            total = totals[statement.out]
            kind = TYPES[statement.dtype]
            self.where[statement.out] = self.variable(
                statement.dtype, f"({kind})({total}[0] + {total}[1])"
            )

    def enter_rows(self, loops: ExitStack, counters: Sequence[str], extents: Sequence[int]) -> None:
        """Begin the outer loops of a nest; in a part, one of them runs over a segment."""
        for axis, counter in enumerate(counters):
            is_mine = self.part is not None and self.part.split.axis == axis
            low, high = ("low", "high") if is_mine else ("0", self.number(extents[axis]))
            head = f"for (long {counter} = {low}; {counter} < {high}; {counter}++)"
            loops.enter_context(self.block(head))

    @contextmanager
    def in_part(self, part: Part | None, room: int, totals: Sequence[str]) -> Generator[None]:
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

    def around(self, kind: str, text: str) -> str:
        """Return the text of a value that is computed outside of the part being written."""
        return text if self.part is None else self.part.slot(kind, text)

    def number(self, number: int) -> str:
        """Return the text of an integer that may differ between turns."""
        return integer(number) if self.part is None else self.part.number(number)

    def _begin_clearing(self, part: Part | None, cleared: list[Arr]) -> None:
        """Write the start of the zeros, and in a part also their end.

        Where neighbours overlap, the segments performed first clear all that they add to.
        """
        if part is None:
            self.line("long z = 0;")
            return
        whole = self.number(self.values[cleared[0].root].shape[0])
        offsets = [arr.offset for arr in cleared]
        least, most = self.number(min(offsets)), self.number(max(offsets))
        odd = part.slot(*ODD) if part.split.overlap else "0"
        self.line(f"long z = low ? low + ({odd} ? {most} : {least}) : 0;")
        end = f"high == {self.number(part.inner)} ? {whole} : high + ({odd} ? {least} : {most})"
        self.line(f"const long last = {end};")

    def _clear_up_to(self, end: str, arr: Arr) -> None:
        """Write zeros just before a block adds to them, so that they are in the cache."""
        size = arr.dtype.itemsize
        pointer = self.around(f"{TYPES[arr.dtype]} *", arr.pointer)
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
            step = parameter("const long ", self.number(stride)) if self.in_turns else stride
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
                return parameter(f"const {kind} ", self.around(kind, number.text)), number.dtype
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
