"""A stretch of a program as a function in C.

A kernel takes arrays in C's order and numbers, and fills arrays that its caller has made. What it
needs in between lies in one workspace. Each group is a loop over blocks of elements, in which
*strips* are called: small functions of up to `STRIP` statements, whose loop the compiler turns into
vector instructions. Strips with the same text are one function, so that a program with a thousand
similar turns has a few of them. Numbers are local variables of the kernel. A `Loop` is a loop.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from gradwrap.compiler.c_operations import (
    DOUBLE,
    FLOAT,
    LONG,
    NUMBER,
    TYPES,
    Elementwise,
    converted,
    elementwise,
    literal,
)
from gradwrap.compiler.c_runs import Literal as NumberLiteral
from gradwrap.compiler.c_runs import Local, NumberStatement, Place, Text, written_run
from gradwrap.compiler.groups import Unit, scheduled
from gradwrap.compiler.program import (
    LIST,
    SLICE,
    TUPLE,
    Cur,
    Instr,
    Loop,
    Prev,
    Ref,
    Row,
    Turn,
    Value,
    given,
    mapped,
    refs,
    used,
)
from gradwrap.core.values.dynamic import type_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

STRIP = 96
"""The most statements of one strip."""
LONG_RUN = 64
"""The least operations on numbers in a row that are cut into functions."""
TURNS = 32
"""The most statements of one strip where turns repeat."""
LARGEST_BLOCK = 512
CACHED = 600_000
"""The bytes that a block's arrays may take together."""
SMALL_PRODUCT = 1 << 19
"""The most multiplications of a matrix product in a loop that is not left to NumPy."""
SMALLER_PRODUCT = 1 << 14
"""The same outside of loops."""
REDUCTIONS = ("add.reduce", "maximum.reduce", "minimum.reduce")
REDUCING = {"axis", "keepdims", "dtype"}
COPYING = ("copy", ".copy", "ascontiguousarray")
RESHAPED = ("reshape", ".reshape", "ravel", ".ravel", "squeeze", ".squeeze", "expand_dims")
TRANSPOSED = ("T", "mT", "transpose", ".transpose", "matrix_transpose", "swapaxes", "moveaxis")
JOINING = ("array", "concatenate", "stack")
VIEWING = (*RESHAPED, *TRANSPOSED, "broadcast_to")


class Arr(NamedTuple):
    """Where the elements of an array are: at a pointer, so many elements apart along each axis."""

    dtype: Any
    shape: tuple[int, ...]
    pointer: str
    offset: str
    strides: tuple[int, ...]
    root: int
    """The number of the value whose buffer it lies in; -1 for what may not be written to."""

    @property
    def is_packed(self) -> bool:
        """True if it lies in C's order without gaps."""
        return self.strides == packed(self.shape)

    @property
    def start(self) -> str:
        """The pointer to its first element."""
        return f"{self.pointer} + {self.offset}" if self.offset != "0" else self.pointer


def _anywhere(shape: tuple[int, ...]) -> Arr:
    """Return an array of a shape, to find out where a part of it would be."""
    return Arr(DOUBLE, shape, "", "0", packed(shape), -1)


class Num(NamedTuple):
    """A number: a variable, or a literal."""

    dtype: Any
    text: str


def packed(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the strides of an array in C's order."""
    strides: list[int] = []
    step = 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


# What a kernel can do -----------------------------------------------------------------------------


class Ability:
    """Tells which steps can be part of a kernel."""

    def __init__(self, vector_functions: Collection[str]) -> None:
        self.vector_functions = vector_functions

    def takes(self, step: Instr | Loop, values: Any) -> bool:
        """Tell if a step can be part of a kernel."""
        if isinstance(step, Loop):
            return self._takes_loop(step, values)
        return self._takes(step, values, values[step.out], in_loop=False)

    def _takes_loop(self, loop: Loop, values: Any) -> bool:
        body = unrolled_body(loop, values)
        if body is None:
            return False
        described = _Described(values, body.values)
        return all(
            self._takes(instr, described, described[instr.out], in_loop=True)
            for instr in body.instrs
        )

    def _takes(self, instr: Instr, values: Any, value: Value, *, in_loop: bool) -> bool:
        if value.is_tuple or value.is_number or value.dtype not in TYPES or 0 in value.shape:
            return False
        for index in refs((instr.args, instr.kw)):
            argument = values[index]
            if argument.is_tuple or argument.is_number or 0 in argument.shape:
                return False
            if argument.dtype not in TYPES:
                return False
        found = elementwise(instr, values, value)
        if found is not None:
            return (
                in_loop
                or not value.shape
                or not found.function
                or found.function in self.vector_functions
            )
        name = instr.name
        if name in REDUCTIONS:
            return self._takes_reduction(instr, values, value)
        if name == "matmul":
            return self._takes_product(instr, values, value, in_loop=in_loop)
        if name in ("getitem", "setitem", "scatter_add"):
            source = values[instr.args[0].index] if type(instr.args[0]) is Ref else None
            key = instr.args[1]
            if source is None or any(values[i].dtype != LONG or values[i].shape for i in refs(key)):
                return False
            if not _is_plain_key(key) or not source.shape:
                return False
            return name != "getitem" or _fits(source.shape, key, value.shape)
        if name in VIEWING or name in COPYING:
            words = [arg for arg in instr.args[1:] if isinstance(arg, str) and arg != "C"]
            is_plain = {*dict(instr.kw)} <= {"axis", "copy"} and not words
            return type(instr.args[0]) is Ref and bool(value.shape) and is_plain
        if name in JOINING:
            return _joined(instr, values, value) is not None
        if name == "einsum":
            return summed_axes(instr) is not None and value.dtype in (DOUBLE, FLOAT)
        if name == "add.accumulate":
            return self._takes_running_sum(instr, values, value)
        if name == "full":
            return bool(value.shape) and not isinstance(instr.args[1], complex)
        return name == "zeros" and bool(value.shape)

    def _takes_reduction(self, instr: Instr, values: Any, value: Value) -> bool:
        if type(instr.args[0]) is not Ref or {*dict(instr.kw)} - REDUCING:
            return False
        if dict(instr.kw).get("dtype", value.dtype) != value.dtype:
            return False
        source = values[instr.args[0].index]
        if not source.shape or source.dtype != value.dtype or value.dtype not in (DOUBLE, FLOAT):
            return False
        axes = reduced_axes(instr, len(source.shape))
        return axes is not None

    def _takes_running_sum(self, instr: Instr, values: Any, value: Value) -> bool:
        if type(instr.args[0]) is not Ref or {*dict(instr.kw)} - {"axis"}:
            return False
        axis = instr.args[1] if len(instr.args) > 1 else dict(instr.kw).get("axis", 0)
        source = values[instr.args[0].index]
        is_first = axis == 0 or (axis == -1 and len(source.shape) == 1)
        return is_first and source.dtype == value.dtype and value.dtype in (DOUBLE, FLOAT, LONG)

    def _takes_product(self, instr: Instr, values: Any, value: Value, *, in_loop: bool) -> bool:
        if instr.kw or value.dtype not in (DOUBLE, FLOAT):
            return False
        sides = [values[arg.index] for arg in instr.args if type(arg) is Ref]
        if len(sides) != 2 or any(side.dtype != value.dtype for side in sides):
            return False
        if not sides[0].shape or len(sides[1].shape) not in (1, 2):
            return False
        size = math.prod(sides[0].shape) * (sides[1].shape[1] if len(sides[1].shape) == 2 else 1)
        return size <= (SMALL_PRODUCT if in_loop else SMALLER_PRODUCT)


class _Described:
    """The values of a program, and those of a loop's body beside them."""

    def __init__(self, outer: Any, inner: dict[int, Value]) -> None:
        self.outer = outer
        self.inner = inner

    def __getitem__(self, index: int) -> Value:
        found = self.inner.get(index)
        return self.outer[index] if found is None else found


class LoopBody(NamedTuple):
    """One turn of a loop as instructions. New values have numbers below zero."""

    instrs: list[Instr]
    values: dict[int, Value]
    rows: list[int]
    """The number of the value that each row gives."""
    previous: dict[int, tuple[int, Any]]
    """By row: the number that its value of the turn before has here, and the first one."""
    turns: dict[int, int]
    """By stack: the number of its row of this turn."""


_numbers = iter(range(-1, -(1 << 60), -1))


def unrolled_body(loop: Loop, values: Any) -> LoopBody | None:
    """Return one turn of a loop as instructions; None if it is none that C can carry on."""
    rows = [next(_numbers) for _ in loop.rows]
    body = LoopBody([], {}, rows, {}, {})
    failed: list[Any] = []

    def operand(leaf: Any) -> Any:
        if type(leaf) is Cur:
            return Ref(rows[leaf.row])
        if type(leaf) is Turn:
            index = leaf.stack.index
            if index not in body.turns:
                number = body.turns[index] = next(_numbers)
                stack = values[index]
                shape = stack.shape[1:]
                body.values[number] = Value(shape, stack.dtype, bool(shape))
            return Ref(body.turns[index])
        if type(leaf) is Prev:
            if leaf.row not in body.previous:
                body.previous[leaf.row] = (next(_numbers), leaf.init)
            number, init = body.previous[leaf.row]
            value = body.values[number] = loop.rows[leaf.row].value
            if init != leaf.init:
                failed.append(leaf)
            elif type(init) is Ref:
                first = values[init.index]
                if first.shape != value.shape or first.dtype != value.dtype:
                    failed.append(leaf)
            elif value.shape or not isinstance(init, (int, float, NUMBER)):
                failed.append(leaf)
            return Ref(number)
        return leaf

    for number, row in zip(rows, loop.rows, strict=True):
        body.values[number] = row.value
    for number, row in zip(rows, loop.rows, strict=True):
        args, kw = mapped(row.args, operand), mapped(row.kw, operand)
        body.instrs.append(Instr(row.fn, row.name, args, kw, number, line=row.line))
    if failed or loop.turns < 1:
        return None
    return body


def _no_key(part: Ref, extent: int) -> str:
    """The text of an index that is a value, where only the shape counts."""
    del part, extent
    return ""


def _is_plain_key(key: Any) -> bool:
    """Tell if a key has integers, slices of literals, `None` and `...` alone."""
    parts: Any = key if isinstance(key, TUPLE) else (key,)
    for part in parts:
        if part is None or part is Ellipsis or type(part) is Ref:
            continue
        if isinstance(part, SLICE):
            if any(
                p is not None and not _is_integer(p) for p in (part.start, part.stop, part.step)
            ):
                return False
        elif not _is_integer(part):
            return False
    return True


def _is_integer(part: Any) -> bool:
    return not isinstance(part, bool) and (
        isinstance(part, int) or (isinstance(part, NUMBER) and part.dtype.kind in "iu")  # type: ignore[attr-defined]
    )


def _fits(shape: tuple[int, ...], key: Any, result: tuple[int, ...]) -> bool:
    return taken(_anywhere(shape), key, _no_key).shape == result


def taken(arr: Arr, key: Any, dynamic: Callable[[Ref, int], str]) -> Arr:
    """Return where `x[key]` is. `dynamic` gives the text of an index that is a value."""
    parts: list[Any] = list(key) if isinstance(key, TUPLE) else [key]
    count = sum(part is not None and part is not Ellipsis for part in parts)
    if Ellipsis not in [part for part in parts if type(part) is not Ref]:
        parts.append(Ellipsis)
    offset, fixed, axis = arr.offset, 0, 0
    shape: list[int] = []
    strides: list[int] = []
    for part in parts:
        if part is None:
            shape.append(1)
            strides.append(0)
        elif part is Ellipsis:
            for _ in range(len(arr.shape) - count):
                shape.append(arr.shape[axis])
                strides.append(arr.strides[axis])
                axis += 1
        elif isinstance(part, SLICE):
            start, stop, step = part.indices(arr.shape[axis])
            shape.append(len(range(start, stop, step)))
            strides.append(arr.strides[axis] * step)
            fixed += arr.strides[axis] * start if shape[-1] else 0
            axis += 1
        else:
            if type(part) is Ref:
                offset = f"{offset} + {dynamic(part, arr.shape[axis])} * {arr.strides[axis]}"
            else:
                place = int(part) + (arr.shape[axis] if part < 0 else 0)
                fixed += place * arr.strides[axis]
            axis += 1
    return arr._replace(shape=tuple(shape), strides=tuple(strides), offset=added(offset, fixed))


def added(offset: str, fixed: int) -> str:
    """Return the text of an offset with a number of elements added."""
    if not fixed:
        return offset
    return str(int(offset) + fixed) if _is_number(offset) else f"{offset} + {fixed}"


def _is_number(text: str) -> bool:
    return text.lstrip("-").isdigit()


def reduced_axes(instr: Instr, rank: int) -> tuple[int, ...] | None:
    """Return the axes of a reduction; None if they are not literal."""
    axis: Any = instr.args[1] if len(instr.args) > 1 else dict(instr.kw).get("axis", 0)
    if axis is None:
        return tuple(range(rank))
    axes: Any = axis if isinstance(axis, TUPLE) else (axis,)
    if not all(_is_integer(one) for one in axes):
        return None
    return tuple(int(one) % rank for one in axes)


def summed_axes(instr: Instr) -> tuple[int, ...] | None:
    """Return the axes that an `einsum` of one array sums; None if it does anything else."""
    if len(instr.args) != 2 or not isinstance(instr.args[0], str) or instr.kw:
        return None
    given_, arrow, left = instr.args[0].replace(" ", "").partition("->")
    if not arrow or "." in given_ or len(set(given_)) != len(given_) or left == given_:
        return None
    if "".join(letter for letter in given_ if letter in left) != left:
        return None
    return tuple(axis for axis, letter in enumerate(given_) if letter not in left)


def _joined(instr: Instr, values: Any, value: Value) -> list[tuple[Any, Any]] | None:
    """Return the keys and the parts of an array that is joined of others; None if it is another."""
    parts: Any = instr.args[0] if instr.args else None
    if not isinstance(parts, (TUPLE, LIST)) or not value.shape:
        return None
    if instr.name == "array":
        if instr.kw or any(isinstance(part, (TUPLE, LIST)) for part in parts):
            return None
        return [(number, part) for number, part in enumerate(parts)]
    if {*dict(instr.kw)} - {"axis"} or len(instr.args) > 2:
        return None
    if not all(type(part) is Ref and values[part.index].dtype == value.dtype for part in parts):
        return None
    axis = instr.args[1] if len(instr.args) > 1 else dict(instr.kw).get("axis", 0)
    if not _is_integer(axis):
        return None
    before = (slice(None),) * (axis % len(value.shape))
    if instr.name == "stack":
        return [((*before, number), part) for number, part in enumerate(parts)]
    found: list[tuple[Any, Any]] = []
    start = 0
    for part in parts:
        end = start + values[part.index].shape[len(before)]
        found.append(((*before, slice(start, end)), part))
        start = end
    return found


# Strips -------------------------------------------------------------------------------------------


class Statement(NamedTuple):
    """One line of a strip: an elementwise operation, or a full sum of one."""

    out: int
    found: Elementwise
    dtype: Any
    """That of the output."""
    is_sum: bool = False


class Export(NamedTuple):
    """What a group does with one of its values in every block."""

    source: int
    target: Arr
    """With the strides along the group's axes."""
    operator: str
    """`=` or `+=`."""
    is_part: bool = False
    """True if it is written to a part of an array that is there already."""


class Library:
    """The strips of a source, each text once."""

    def __init__(self) -> None:
        self.functions: dict[str, str] = {}

    def function(self, text: str) -> str:
        """Return the name of a function; its text has `NAME` in its place."""
        return self.functions.setdefault(text, f"f{len(self.functions)}")

    def source(self) -> str:
        """Return the text of all functions."""
        return "\n\n".join(text.replace("NAME", name, 1) for text, name in self.functions.items())


SUMMED = """\
static void sum_in(double *total, double part) {
    double sum = total[0] + part;
    double big = __builtin_fabs(total[0]) >= __builtin_fabs(part) ? total[0] : part;
    double small = __builtin_fabs(total[0]) >= __builtin_fabs(part) ? part : total[0];
    double lost = (big - sum) + small;
    total[0] = sum;
    if (lost - lost == 0) total[1] += lost;
}
"""
"""A sum that keeps what rounding loses, for the sums of blocks."""


class Workspace:
    """Gives out places of one piece of memory; the sizes are in bytes."""

    def __init__(self) -> None:
        self.size = 0
        self.free: dict[int, list[int]] = {}

    def take(self, size: int, *, alone: bool = False) -> int:
        """Return a place; `alone` if nothing else may have used it."""
        size = -(-size // 64) * 64
        found = self.free.get(size)
        if found and not alone:
            return found.pop()
        self.size += size
        return self.size - size

    def give_back(self, place: int, size: int) -> None:
        """Let others use a place."""
        self.free.setdefault(-(-size // 64) * 64, []).append(place)


class Buffer(NamedTuple):
    """A place in the workspace."""

    place: int
    size: int


class Kernel:
    """Writes the function of a stretch of a program."""

    def __init__(
        self,
        name: str,
        steps: Sequence[Instr | Loop],
        values: Sequence[Value],
        outputs: Sequence[int],
        library: Library,
    ) -> None:
        self.name = name
        self.values = _Described(values, {})
        self.library = library
        self.outputs = list(outputs)
        self.workspace = Workspace()
        self.where: dict[int, Arr | Num] = {}
        self.lines: list[str] = []
        self.depth = 1
        self.buffers: dict[int, Buffer] = {}
        self.members: dict[int, set[int]] = {}
        """By root: the values that lie in its buffer and are still needed."""
        self.homes: dict[int, int] = {}
        self.taken_homes: set[int] = set()
        self.count = 0
        self.groups = 0
        self.uncleared: set[int] = set()
        """Arrays of zeros that are to be cleared where they are first added to."""
        made = {index for step in steps for index in given(step)}
        self.inputs = sorted({i for step in steps for i in used(step)} - made)
        self._inputs()
        self._find_homes(steps)
        self._perform(list(steps), set(outputs))
        self._outputs()

    # The frame ------------------------------------------------------------------------------------

    def _inputs(self) -> None:
        for number, index in enumerate(self.inputs):
            value = self.values[index]
            kind = TYPES[value.dtype]
            if value.is_ndarray and value.shape:
                self._line(f"const {kind} *a{number} = DATA(x{number});")
                self.where[index] = Arr(
                    value.dtype, value.shape, f"a{number}", "0", packed(value.shape), -1
                )
            else:
                source = "DATA" if value.is_ndarray else "NUMBER"
                self._line(f"const {kind} a{number} = *(const {kind} *){source}(x{number});")
                self.where[index] = Num(value.dtype, f"a{number}")

    def _find_homes(self, steps: Sequence[Instr | Loop]) -> None:
        """Find what can be made in the buffer of an output at once."""
        for number, index in enumerate(self.outputs):
            if self.values[index].shape:
                self._line(f"{TYPES[self.values[index].dtype]} *o{number} = DATA(y{number});")
                self.homes[index] = number
        for step in reversed(steps):
            if isinstance(step, Loop):
                continue
            if step.name in ("setitem", "scatter_add") and step.out in self.homes:
                self.homes.setdefault(step.args[0].index, self.homes[step.out])

    def _outputs(self) -> None:
        for number, index in enumerate(self.outputs):
            found = self.where[index]
            value = self.values[index]
            kind = TYPES[value.dtype]
            if isinstance(found, Num):
                self._line(f"*({kind} *)DATA(y{number}) = {found.text};")
            elif found.pointer != f"o{number}":
                self._assign(
                    Arr(found.dtype, found.shape, f"o{number}", "0", packed(found.shape), -1),
                    found,
                    "=",
                )

    def text(self) -> str:
        """Return the text of the function."""
        parameters = ["char *w"]
        parameters += [f"char *x{i}" for i in range(len(self.inputs))]
        parameters += [f"char *y{i}" for i in range(len(self.outputs))]
        lines = [f"int {self.name}({', '.join(parameters)}) {{"]
        for number, index in enumerate(self.inputs):
            if self.values[index].is_ndarray and self.values[index].shape:
                lines.append(f"    if (!USABLE(x{number})) return 1;")
        return "\n".join([*lines, *self.lines, "    return 0;", "}"])

    def _line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    # Memory ---------------------------------------------------------------------------------------

    def _new(self, index: int, *, alone: bool = False) -> Arr:
        """Return room for a value: where it is wanted in the end, else in the workspace."""
        value = self.values[index]
        target = self.targets.get(index)
        if target is not None:
            return target
        home = self.homes.get(index)
        self.members[index] = {index}
        if home is not None and home not in self.taken_homes:
            self.taken_homes.add(home)
            return Arr(value.dtype, value.shape, f"o{home}", "0", packed(value.shape), index)
        pointer = self._room(math.prod(value.shape), value.dtype, index, alone=alone)
        return Arr(value.dtype, value.shape, pointer, "0", packed(value.shape), index)

    def _room(self, elements: int, dtype: Any, index: int, *, alone: bool = False) -> str:
        """Return the name of a pointer into the workspace."""
        size = elements * dtype.itemsize
        place = self.workspace.take(size, alone=alone)
        if not alone:
            self.buffers[index] = Buffer(place, size)
        pointer = f"m{self.count}"
        self.count += 1
        self._line(f"{TYPES[dtype]} *{pointer} = ({TYPES[dtype]} *)(w + {place});")
        return pointer

    def _is_last(self, arr: Arr, dying: set[int]) -> bool:
        """Tell if a buffer is ours, and nothing but what dies now lies in it."""
        return arr.root in self.members and self.members[arr.root] <= dying

    def _release(self, dying: Iterable[int]) -> None:
        for index in dying:
            found = self.where.get(index)
            root = found.root if isinstance(found, Arr) else -1
            if root not in self.members:
                continue
            self.members[root].discard(index)
            if not self.members[root]:
                del self.members[root]
                buffer = self.buffers.pop(root, None)
                if buffer is not None:
                    self.workspace.give_back(buffer.place, buffer.size)

    # Steps ----------------------------------------------------------------------------------------

    def _shape_of(self, instr: Instr) -> tuple[int, ...] | None:
        """Return the shape of the group that an instruction may join."""
        value = self.values[instr.out]
        if instr.name == "add.reduce":
            source = self.values[instr.args[0].index]
            axes = reduced_axes(instr, len(source.shape))
            full = axes is not None and len(set(axes)) == len(source.shape)
            return source.shape if full and not value.shape else None
        if instr.name in ("setitem", "scatter_add"):
            return self._written_shape(instr)
        if not value.shape or elementwise(instr, self.values, value) is None:  # type: ignore[arg-type]
            return None
        return value.shape

    def _written_shape(self, instr: Instr) -> tuple[int, ...] | None:
        """Return the shape of what an instruction writes, if a group can write it."""
        target, key, written = instr.args
        if type(written) is not Ref or any(True for _ in refs(key)):
            return None
        if len(self.users.get(target.index, ())) != 1 or target.index in self.kept:
            return None
        source = self.values[target.index]
        shape = taken(_anywhere(source.shape), key, _no_key)
        found = self.values[written.index].shape
        return found if found and shape.shape == found and target.index != written.index else None

    def _perform(self, steps: list[Instr | Loop], kept: set[int]) -> None:
        """Write steps; `kept` are the values that are needed after them."""
        before = self.users, self.kept
        self.users, self.kept = {}, frozenset(kept)
        for step in steps:
            for index in used(step):
                self.users.setdefault(index, []).append(step)
        units = scheduled(steps, self._shape_of, writes=True)
        last: dict[int, int] = {}
        for number, unit in enumerate(units):
            for step in unit.steps:
                for index in (*used(step), *given(step)):
                    last[index] = number
        made = {index for step in steps for index in given(step)}
        dying: list[set[int]] = [set() for _ in units]
        for index, number in last.items():
            if index not in kept and (index in made or index in self.dying_here):
                dying[number].add(index)
        skipped = looked_at = -1
        for number, unit in enumerate(units):
            first = unit.steps[0]
            if number <= skipped:
                continue
            if unit.shape is None and self.depth == 1 and number >= looked_at:
                looked_at = self._end_of_run(units, number)
                if looked_at - number >= LONG_RUN:
                    skipped = self._run(units, number, looked_at, last, dying, kept)
                    looked_at = skipped + 1
                    continue
            if unit.shape is not None:
                needed = {
                    i for step in unit.steps for i in given(step) if last[i] > number or i in kept
                }
                self._group(unit, needed, dying[number])
            elif isinstance(first, Loop):
                self._loop(first)
            else:
                self._step(first, dying[number])
            self._release(dying[number])
        self.users, self.kept = before

    def _end_of_run(self, units: list[Unit], start: int) -> int:
        """Return where the run of operations on numbers ends that begins here."""
        end = start
        while end < len(units) and self._is_on_numbers(units[end]):
            end += 1
        return max(end, start + 1)

    def _run(
        self,
        units: list[Unit],
        start: int,
        end: int,
        last: dict[int, int],
        dying: list[set[int]],
        kept: set[int],
    ) -> int:
        """Write a long run of operations on numbers; return its last unit."""
        statements: list[NumberStatement] = []
        known: dict[int, Any] = {}
        number = start
        while number < end:
            instr = units[number].steps[0]
            assert isinstance(instr, Instr)
            if statements and self._needs_copy(instr, dying[number]):
                break
            statement = self._on_numbers(instr, dying[number], known)
            statements.append(statement)
            self._release(dying[number])
            number += 1
        needed = {i for i in known if i in kept or last[i] >= number}
        room = self._room(0, DOUBLE, next(_numbers), alone=True)
        lines, texts, count = written_run(statements, needed, self.library.function, room)
        self.workspace.take(count * 8, alone=True)
        for line in lines:
            self._line(line)
        for index, text in texts.items():
            self.where[index] = Num(known[index], text)
        return number - 1

    def _is_on_numbers(self, unit: Unit) -> bool:
        """Tell if a unit can be part of a run: it computes, reads or writes one number."""
        instr = unit.steps[0]
        if unit.shape is not None or not isinstance(instr, Instr):
            return False
        value = self.values[instr.out]
        if instr.name in ("getitem", "setitem", "scatter_add"):
            if any(True for _ in refs(instr.args[1])):
                return False
            source = self.values[instr.args[0].index]
            place = taken(_anywhere(source.shape), instr.args[1], _no_key)
            if place.shape:
                return False
            if instr.name == "getitem":
                return True
            found = self.users.get(instr.args[0].index, ())
            return not (type(instr.args[2]) is Ref and self.values[instr.args[2].index].shape) and (
                instr.args[0].index not in self.kept and found[-1] is instr
            )
        return not value.shape and elementwise(instr, self.values, value) is not None  # type: ignore[arg-type]

    def _needs_copy(self, instr: Instr, dying: set[int]) -> bool:
        """Tell if an instruction writes to an array that others see."""
        if instr.name not in ("setitem", "scatter_add"):
            return False
        source = self.where[instr.args[0].index]
        assert isinstance(source, Arr)
        return not (source.is_packed and self._is_last(source, dying))

    def _on_numbers(
        self, instr: Instr, dying: set[int], known: dict[int, Any]
    ) -> NumberStatement:
        """Return the statement of an operation on numbers; enter what it gives."""
        value = self.values[instr.out]

        def operand(leaf: Any, dtype: Any) -> Any:
            if type(leaf) is not Ref:
                return NumberLiteral(literal(leaf, dtype))
            if leaf.index in known:
                return Local(leaf.index, known[leaf.index])
            found = self.where[leaf.index]
            assert isinstance(found, Num)
            return Text(found.text, found.dtype)

        if instr.name in ("getitem", "setitem", "scatter_add"):
            source = self.where[instr.args[0].index]
            assert isinstance(source, Arr)
            self._clear(source.root)
            if instr.name != "getitem":
                if self._needs_copy(instr, dying):
                    room = self._new(instr.out)
                    self._assign(room, source, "=")
                    source = room
                else:
                    self.members[source.root].add(instr.out)
                self.where[instr.out] = source
            found = taken(source, instr.args[1], self._key)
            place = Place(found.pointer, int(found.offset), found.dtype)
            if instr.name == "getitem":
                known[instr.out] = value.dtype
                return NumberStatement(instr.out, value.dtype, "{0}", (place,), (value.dtype,))
            written = operand(instr.args[2], value.dtype)
            operator = "=" if instr.name == "setitem" else "+="
            return NumberStatement(
                instr.out, value.dtype, "{0}", (written,), (value.dtype,), place, operator
            )
        made = elementwise(instr, self.values, value)  # type: ignore[arg-type]
        assert made is not None
        operands = tuple(
            operand(leaf, dtype) for leaf, dtype in zip(made.operands, made.dtypes, strict=True)
        )
        known[instr.out] = value.dtype
        return NumberStatement(instr.out, value.dtype, made.expression, operands, made.dtypes)

    users: dict[int, list[Instr | Loop]] = {}  # noqa: RUF012  replaced, never changed
    kept: frozenset[int] = frozenset()
    dying_here: frozenset[int] = frozenset()
    """Values from outside of a loop's body that end in it."""

    def _step(self, instr: Instr, dying: set[int]) -> None:
        value = self.values[instr.out]
        name = instr.name
        if not value.shape and elementwise(instr, self.values, value) is not None:  # type: ignore[arg-type]
            self._number(instr)
        elif name == "getitem":
            self._getitem(instr)
        elif name in ("setitem", "scatter_add"):
            self._write(instr, dying)
        elif name in REDUCTIONS or name == "einsum":
            self._reduce(instr)
        elif name in JOINING:
            self._join(instr)
        elif name == "add.accumulate":
            self._running_sum(instr)
        elif name == "matmul":
            self._product(instr)
        elif name in ("zeros", "full", *COPYING):
            self._fill(instr)
        else:
            self._view(instr)

    def _operand(self, leaf: Any, dtype: Any) -> Arr | Num:
        if type(leaf) is Ref:
            return self.where[leaf.index]
        return Num(dtype, literal(leaf, dtype))

    def _number(self, instr: Instr) -> None:
        """Write an operation on numbers."""
        value = self.values[instr.out]
        found = elementwise(instr, self.values, value)  # type: ignore[arg-type]
        assert found is not None
        texts: list[str] = []
        for leaf, dtype in zip(found.operands, found.dtypes, strict=True):
            operand = self._operand(leaf, dtype)
            assert isinstance(operand, Num)
            texts.append(converted(operand.text, operand.dtype, dtype))
        self.where[instr.out] = self._variable(value.dtype, found.expression.format(*texts))

    def _variable(self, dtype: Any, text: str) -> Num:
        name = f"v{self.count}"
        self.count += 1
        self._line(f"const {TYPES[dtype]} {name} = {text};")
        return Num(dtype, name)

    def _key(self, part: Ref, extent: int) -> str:
        """Write the test of an index, and return its text."""
        found = self.where[part.index]
        assert isinstance(found, Num)
        place = self._variable(LONG, f"{found.text} < 0 ? {found.text} + {extent} : {found.text}")
        self._line(f"if ({place.text} < 0 || {place.text} >= {extent}) return 2;")
        return place.text

    def _alias(self, index: int, arr: Arr) -> None:
        """Enter a view."""
        self.where[index] = arr
        if arr.root in self.members:
            self.members[arr.root].add(index)

    def _getitem(self, instr: Instr) -> None:
        source = self.where[instr.args[0].index]
        assert isinstance(source, Arr)
        found = taken(source, instr.args[1], self._key)
        if found.shape:
            self._alias(instr.out, found)
        else:
            self.where[instr.out] = self._variable(found.dtype, f"{found.pointer}[{found.offset}]")

    def _view(self, instr: Instr) -> None:
        """Enter a transposed, reshaped or broadcast array."""
        value = self.values[instr.out]
        source = self.where[instr.args[0].index]
        if isinstance(source, Num):
            room = self._new(instr.out)
            self._assign(room, source, "=")
            self.where[instr.out] = room
            return
        if instr.name in TRANSPOSED:
            order = _order(instr, len(source.shape))
            self._alias(
                instr.out,
                source._replace(
                    shape=tuple(source.shape[i] for i in order),
                    strides=tuple(source.strides[i] for i in order),
                ),
            )
        elif instr.name == "broadcast_to":
            self._alias(
                instr.out,
                source._replace(shape=value.shape, strides=aligned(source, value.shape)),
            )
        elif source.is_packed:
            self._alias(instr.out, source._replace(shape=value.shape, strides=packed(value.shape)))
        else:
            room = self._new(instr.out)
            self._assign(
                room._replace(shape=source.shape, strides=packed(source.shape)), source, "="
            )
            self.where[instr.out] = room

    def _fill(self, instr: Instr) -> None:
        value = self.values[instr.out]
        if instr.name not in COPYING and self._is_uniform(instr):
            number: Any = 0 if instr.name == "zeros" else instr.args[1]
            self.where[instr.out] = self._operand(number, value.dtype)
            return
        room = self._new(instr.out)
        if instr.name in COPYING:
            self._assign(room, self.where[instr.args[0].index], "=")
        elif instr.name == "zeros":
            self.where[instr.out] = room
            self.uncleared.add(instr.out)
            users = self.users.get(instr.out, ())
            if len(users) != 1 or not self._is_added_to(users[0]) or instr.out in self.targets:
                self._clear(instr.out)
        else:
            self._assign(room, self._operand(instr.args[1], value.dtype), "=")
        self.where[instr.out] = room

    def _is_added_to(self, step: Instr | Loop) -> bool:
        """Tell if a group may add to the array that a step adds to."""
        is_add = isinstance(step, Instr) and step.name == "scatter_add"
        return is_add and isinstance(step, Instr) and self._written_shape(step) is not None

    def _clear(self, root: int) -> None:
        """Write zeros to a new array, if that was not done yet."""
        if root in self.uncleared:
            self.uncleared.discard(root)
            room = self.where[root]
            assert isinstance(room, Arr)
            self._line(f"memset({room.start}, 0, {math.prod(room.shape) * room.dtype.itemsize});")

    def _is_uniform(self, instr: Instr) -> bool:
        """Tell if a number can stand for a new array: it is only read, element by element."""
        return instr.out not in self.kept and all(
            isinstance(step, Instr)
            and elementwise(step, self.values, self.values[step.out]) is not None  # type: ignore[arg-type]
            for step in self.users.get(instr.out, ())
        )

    def _write(self, instr: Instr, dying: set[int]) -> None:
        """Write `setitem` and `scatter_add`: in place if nobody else sees the array."""
        target, key, written = instr.args
        source = self.where[target.index]
        assert isinstance(source, Arr)
        self._clear(source.root)
        value = self.values[instr.out]
        operand = self._operand(written, value.dtype)
        in_place = target.index in dying and source.is_packed and self._is_last(source, dying)
        if in_place and isinstance(operand, Arr) and operand.root == source.root:
            in_place = False
        if in_place:
            self.members[source.root].add(instr.out)
            room = source
        else:
            room = self._new(instr.out)
            self._assign(room, source, "=")
        self.where[instr.out] = room
        place = taken(room, key, self._key)
        operator = "=" if instr.name == "setitem" else "+="
        if place.shape:
            self._assign(place, operand, operator)
        else:
            text = self._element(operand)
            self._line(f"{place.pointer}[{place.offset}] {operator} {text};")

    def _element(self, operand: Arr | Num) -> str:
        """The text of the one element."""
        return operand.text if isinstance(operand, Num) else f"{operand.pointer}[{operand.offset}]"

    def _assign(self, target: Arr, source: Arr | Num, operator: str) -> None:
        """Write an assignment of all elements."""
        if isinstance(source, Arr) and source.is_packed and target.is_packed and operator == "=":
            if source.shape == target.shape and source.dtype == target.dtype:
                size = math.prod(source.shape) * source.dtype.itemsize
                self._line(f"memcpy({target.start}, {source.start}, {size});")
                return
        if isinstance(source, Arr) and len(source.shape) > len(target.shape):
            extra = len(source.shape) - len(target.shape)
            source = source._replace(shape=source.shape[extra:], strides=source.strides[extra:])
        number = next(_numbers)
        other = next(_numbers)
        self.where[other] = source
        found = Elementwise("{0}", (Ref(other),), (source.dtype,), source.dtype)
        statement = Statement(number, found, target.dtype)
        self._nest(target.shape, [statement], [Export(number, target, operator)])
        del self.where[other]

    # Groups ---------------------------------------------------------------------------------------

    def _group(self, unit: Unit, needed: set[int], dying: set[int]) -> None:
        """Write a group: elementwise operations, full sums of them, and where they are written."""
        assert unit.shape is not None
        first = unit.steps[0]
        if len(unit.steps) == 1 and isinstance(first, Instr) and len(first.args) == 3:
            if first.name in ("setitem", "scatter_add"):
                self._write(first, dying)
                return
        self.groups += 1
        statements: list[Statement] = []
        exports: list[Export] = []
        written_here: set[int] = set()
        for instr in unit.steps:
            assert isinstance(instr, Instr)
            value = self.values[instr.out]
            if instr.name == "add.reduce":
                found = Elementwise("{0}", instr.args[:1], (value.dtype,), value.dtype)
                statements.append(Statement(instr.out, found, value.dtype, is_sum=True))
                continue
            if instr.name in ("setitem", "scatter_add"):
                exports.append(self._written(instr, dying, statements, written_here))
                continue
            found_ = elementwise(instr, self.values, value)  # type: ignore[arg-type]
            assert found_ is not None
            statements.append(Statement(instr.out, found_, value.dtype))
            if instr.out in needed:
                room = self._new(instr.out)
                exports.append(Export(instr.out, room, "="))
        self._nest(unit.shape, statements, _merged(exports, statements))
        for export in exports:
            if export.operator == "=" and export.source in needed and not export.is_part:
                self.where[export.source] = export.target

    def _written(
        self, instr: Instr, dying: set[int], statements: list[Statement], written_here: set[int]
    ) -> Export:
        """Prepare what a group writes to another array."""
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
            room = self._new(instr.out)
            self._assign(room, source, "=")
        self.where[instr.out] = room
        if not any(statement.out == written.index for statement in statements):
            number = next(_numbers)
            dtype = self.values[written.index].dtype
            found = Elementwise("{0}", (written,), (dtype,), dtype)
            statements.append(Statement(number, found, dtype))
            written = Ref(number)
        operator = "=" if instr.name == "setitem" else "+="
        return Export(written.index, taken(room, key, self._key), operator, is_part=True)

    targets: dict[int, Arr] = {}  # noqa: RUF012  replaced, never changed
    """Rows of stacks that values of the loop's body are written to."""

    def _nest(
        self, shape: tuple[int, ...], statements: list[Statement], exports: list[Export]
    ) -> None:
        """Write loops over the elements of a shape, with a call of strips in their midst."""
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
        strips = _strips(statements)
        exports = _one_writer_each(exports, strips)
        cleared = [e.target for e in exports if e.is_part and e.target.root in self.uncleared]
        along_one = len(extents) == 1 and len({arr.root for arr in cleared}) == 1
        if not along_one or any(
            arr.strides != (1,) or not _is_number(arr.offset) for arr in cleared
        ):
            for arr in cleared:
                self._clear(arr.root)
            cleared = []
        crossing = _crossing(strips)
        inner = extents[-1]
        sums = [statement for statement in statements if statement.is_sum]
        slots, rows = _slots(strips, crossing)
        kinds = {statement.out: statement.dtype for strip in strips for statement in strip}
        size = max(rows + len(outside) + len(exports), 1)
        block = max(8, min(CACHED // (8 * size), LARGEST_BLOCK) // 8 * 8)
        whole = len(strips) == 1 and not sums and not cleared
        block = inner if whole else min(block, inner)
        totals: dict[int, str] = {}
        for statement in sums:
            totals[statement.out] = f"s{self.count}"
            self.count += 1
            self._line(f"double {totals[statement.out]}[2] = {{0, 0}};")
        room = ""
        if rows:
            room = f"r{self.count}"
            self.count += 1
            place = self.workspace.take(rows * block * 8)
            self.workspace.give_back(place, rows * block * 8)
            self._line(f"char *{room} = w + {place};")
        counters = [f"i{depth}" for depth in range(len(extents) - 1)]
        self._line("{")
        self.depth += 1
        for counter, extent in zip(counters, extents, strict=False):
            self._line(f"for (long {counter} = 0; {counter} < {extent}; {counter}++) {{")
            self.depth += 1
        blocked = block < inner
        if cleared and not blocked:
            self._clear(cleared[0].root)
            cleared = []
        if cleared:
            self._line("long z = 0;")
        if blocked:
            self._line(f"for (long b = 0; b < {inner}; b += {block}) {{")
            self.depth += 1
            self._line(f"const long n = {inner} - b < {block} ? {inner} - b : {block};")
        if cleared:
            self._clear_up_to(f"b + n + {max(int(arr.offset) for arr in cleared)}", cleared[0])

        def place_of(arr: Arr, steps: tuple[int, ...]) -> str:
            parts = [arr.start]
            parts += [f"{c} * {s}" for c, s in zip(counters, steps, strict=False) if s]
            if blocked and steps[-1]:
                parts.append(f"b * {steps[-1]}" if steps[-1] != 1 else "b")
            return " + ".join(parts)

        pointers = {
            index: (place_of(arr, reads[index]), reads[index][-1]) for index, arr in outside.items()
        }
        for index, slot in slots.items():
            pointers[index] = (f"({TYPES[kinds[index]]} *)({room} + {slot * block * 8})", 1)
        for strip in strips:
            mine = {statement.out for statement in strip}
            stores = [
                (export.source, place_of(export.target, steps), steps[-1], export)
                for export, steps in zip(exports, writes, strict=True)
                if export.source in mine
            ]
            self._strip(
                strip, pointers, stores, totals, slots, kinds, "n" if blocked else str(inner)
            )
        for _ in range(len(counters) + blocked):
            self.depth -= 1
            self._line("}")
        if cleared:
            self._clear_up_to(str(self.values[cleared[0].root].shape[0]), cleared[0])
            self.uncleared.discard(cleared[0].root)
        self.depth -= 1
        self._line("}")
        for statement in sums:
            total = totals[statement.out]
            kind = TYPES[statement.dtype]
            self.where[statement.out] = self._variable(
                statement.dtype, f"({kind})({total}[0] + {total}[1])"
            )

    def _clear_up_to(self, end: str, arr: Arr) -> None:
        """Write zeros before a block adds to them: they are in the cache then."""
        size = arr.dtype.itemsize
        self._line(
            f"if ({end} > z) {{ memset({arr.pointer} + z, 0, ({end} - z) * {size}); z = {end}; }}"
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
        """Write a call of a strip, and its function."""
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
                return parameter(f"const {TYPES[number.dtype]} ", number.text), number.dtype
            argument, stride = pointers[index]
            dtype = kinds[index] if index in kinds else self.where[index].dtype
            name = parameter(f"const {TYPES[dtype]} *restrict ", argument)
            if not stride:
                before.append(f"const {TYPES[dtype]} c{name} = *{name};")
                return f"c{name}", dtype
            place = "i" if stride == 1 else f"i * {stride}"
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
            place = "i" if stride == 1 else f"i * {stride}"
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
        self._line(f"{name}({', '.join(arguments)});")

    # Reductions and products ----------------------------------------------------------------------

    def _reduce(self, instr: Instr) -> None:
        """Write a reduction along some axes."""
        source = self.where[instr.args[-1 if instr.name == "einsum" else 0].index]
        assert isinstance(source, Arr)
        value = self.values[instr.out]
        rank = len(source.shape)
        axes = summed_axes(instr) if instr.name == "einsum" else reduced_axes(instr, rank)
        assert axes is not None
        kept = [i for i in range(len(source.shape)) if i not in axes]
        shape = tuple(source.shape[i] for i in kept)
        kind = TYPES[value.dtype]
        start = {"add": "0", "maximum": "-__builtin_inf()", "minimum": "__builtin_inf()"}
        name = instr.name.partition(".")[0].replace("einsum", "add")
        if value.shape:
            room = self._new(instr.out)
            pointer = room.start
        else:
            pointer = f"u{self.count}"
            self.count += 1
            self._line(f"{kind} {pointer}[1];")
            room = Arr(value.dtype, (), pointer, "0", (), -1)
        steps = iter(packed(shape))
        along = [next(steps) if i in kept else 0 for i in range(len(source.shape))]
        # The axis whose elements lie side by side is the innermost.
        size = math.prod(shape)
        self._line(f"for (long j = 0; j < {size}; j++) ({pointer})[j] = {start[name]};")
        self._line("{")
        self.depth += 1
        extents, ((*read, last), (*write, last_out)) = collapsed(
            source.shape, [source.strides, tuple(along)]
        )
        counters = [f"i{depth}" for depth in range(len(extents) - 1)]
        for counter, extent in zip(counters, extents, strict=False):
            self._line(f"for (long {counter} = 0; {counter} < {extent}; {counter}++) {{")
            self.depth += 1
        places = []
        for first, found in ((source.start, read), (pointer, write)):
            parts = [first, *(f"{c} * {s}" for c, s in zip(counters, found, strict=True) if s)]
            places.append(" + ".join(parts))
        made = _reduction(name, kind, last, last_out)
        function = self.library.function(made)
        self._line(f"{function}({extents[-1]}, {places[0]}, {places[1]});")
        for _ in counters:
            self.depth -= 1
            self._line("}")
        self.depth -= 1
        self._line("}")
        if value.shape:
            self.where[instr.out] = room
        else:
            self.where[instr.out] = self._variable(value.dtype, f"{pointer}[0]")

    def _join(self, instr: Instr) -> None:
        """Write an array of parts that are side by side."""
        parts = _joined(instr, self.values, self.values[instr.out])
        assert parts is not None
        room = self._new(instr.out)
        for key, part in parts:
            place = taken(room, key, _no_key)
            operand = self._operand(part, room.dtype)
            if isinstance(operand, Arr) and instr.name == "array":
                place = place._replace(shape=operand.shape)
            if place.shape:
                self._assign(place, operand, "=")
            else:
                self._line(f"{place.pointer}[{place.offset}] = {self._element(operand)};")
        self.where[instr.out] = room

    def _running_sum(self, instr: Instr) -> None:
        """Write the sums of all rows up to each."""
        source = self.where[instr.args[0].index]
        assert isinstance(source, Arr)
        room = self._new(instr.out)
        self._assign(room, source, "=")
        size = room.strides[0]
        kind = TYPES[room.dtype]
        self._line(f"for (long j = {size}; j < {math.prod(room.shape)}; j++) {{")
        self._line(f"    {kind} *sums = {room.start};")
        self._line(f"    sums[j] += sums[j - {size}];")
        self._line("}")
        self.where[instr.out] = room

    def _in_one_row(self, arr: Arr) -> Arr:
        """Return the array, or a copy of it in C's order."""
        if arr.is_packed:
            return arr
        size = math.prod(arr.shape) * arr.dtype.itemsize
        place = self.workspace.take(size, alone=True)
        pointer = f"(({TYPES[arr.dtype]} *)(w + {place}))"
        copied = Arr(arr.dtype, arr.shape, pointer, "0", packed(arr.shape), -1)
        self._assign(copied, arr, "=")
        return copied

    def _product(self, instr: Instr) -> None:
        """Write a small product of matrices or vectors."""
        left, right = (self.where[arg.index] for arg in instr.args)
        assert isinstance(left, Arr)
        assert isinstance(right, Arr)
        value = self.values[instr.out]
        kind = TYPES[value.dtype]
        if len(left.shape) > 2:
            left = self._in_one_row(left)
            left = left._replace(
                shape=(math.prod(left.shape[:-1]), left.shape[-1]), strides=(left.shape[-1], 1)
            )
        rows = left.shape[0] if len(left.shape) == 2 else 1
        inner = left.shape[-1]
        columns = right.shape[1] if len(right.shape) == 2 else 1
        row_step = left.strides[0] if len(left.shape) == 2 else 0
        column_step = right.strides[1] if len(right.shape) == 2 else 0
        if value.shape:
            room = self._new(instr.out)
            pointer = room.start
        else:
            pointer = f"u{self.count}"
            self.count += 1
            self._line(f"{kind} {pointer}[1];")
        steps = (row_step, left.strides[-1], right.strides[0], column_step)
        if columns > 1 and column_step != 1:
            place = self.workspace.take(inner * columns * value.dtype.itemsize)
            self.workspace.give_back(place, inner * columns * value.dtype.itemsize)
            copied = Arr(
                value.dtype, right.shape, f"(({kind} *)(w + {place}))", "0", packed(right.shape), -1
            )
            self._assign(copied, right, "=")
            right, steps = copied, (*steps[:2], columns, 1)
        text = _matrix_product(kind, (rows, inner, columns), steps)
        self._line(f"{self.library.function(text)}({left.start}, {right.start}, {pointer});")
        if value.shape:
            self.where[instr.out] = room
        else:
            self.where[instr.out] = self._variable(value.dtype, f"{pointer}[0]")

    # Loops ----------------------------------------------------------------------------------------

    def _loop(self, loop: Loop) -> None:
        """Write a recurrence."""
        body = unrolled_body(loop, self.values)
        assert body is not None
        outer = self.values
        self.values = _Described(outer, body.values)
        state = _Carrying(self, loop, body)
        state.before()
        counter = f"k{self.count}"
        self.count += 1
        self._line(f"for (long {counter} = 0; {counter} < {loop.turns}; {counter}++) {{")
        self.depth += 1
        state.turn(counter)
        self.depth -= 1
        self._line("}")
        self.values = outer
        state.after()


class _Carrying:
    """What a loop carries from turn to turn, and what is wanted of it afterwards."""

    def __init__(self, kernel: Kernel, loop: Loop, body: LoopBody) -> None:
        self.kernel = kernel
        self.loop = loop
        self.body = body
        self.stacks: dict[int, Arr] = {}
        self.carried: dict[int, Arr | Num] = {}
        """By row: the variable, or the buffer, with the value of the turn before."""
        self.spare: dict[int, Arr] = {}
        self.last: dict[int, Num] = {}
        self.in_place: set[int] = set()

    def before(self) -> None:
        """Write what comes before the loop."""
        kernel, loop, body = self.kernel, self.loop, self.body
        for row, out in loop.stacks.items():
            self.stacks[row] = kernel._new(out)  # noqa: SLF001  the kernel's other half
            kernel.where[out] = self.stacks[row]
        for row in loop.finals:
            value = loop.rows[row].value
            if not value.shape:
                name = f"e{kernel.count}"
                kernel.count += 1
                kernel._line(f"{TYPES[value.dtype]} {name};")  # noqa: SLF001
                self.last[row] = Num(value.dtype, name)
        for row, (_, init) in body.previous.items():
            value = loop.rows[row].value
            first = kernel._operand(init, value.dtype)  # noqa: SLF001
            kind = TYPES[value.dtype]
            if isinstance(first, Num):
                name = f"q{kernel.count}"
                kernel.count += 1
                kernel._line(f"{kind} {name} = {first.text};")  # noqa: SLF001
                self.carried[row] = Num(value.dtype, name)
            elif row in self.stacks:
                if not first.is_packed:
                    room = self._alone(row)
                    kernel._assign(room, first, "=")  # noqa: SLF001
                    first = room
                name = f"q{kernel.count}"
                kernel.count += 1
                kernel._line(f"const {kind} *{name} = {first.start};")  # noqa: SLF001
                self.carried[row] = Arr(
                    value.dtype, value.shape, name, "0", packed(value.shape), -1
                )
            else:
                room = self._alone(row)
                kernel._assign(room, first, "=")  # noqa: SLF001
                self.carried[row] = room
        for row in {*body.previous, *loop.finals}:
            if loop.rows[row].value.shape and row not in self.stacks:
                self.spare[row] = self._alone(row)

    def _alone(self, row: int) -> Arr:
        """Return room for a row that nothing else uses, whatever happens in a turn."""
        value = self.loop.rows[row].value
        number = next(_numbers)
        pointer = self.kernel._room(  # noqa: SLF001
            math.prod(value.shape), value.dtype, number, alone=True
        )
        return Arr(value.dtype, value.shape, pointer, "0", packed(value.shape), number)

    def turn(self, counter: str) -> None:
        """Write one turn."""
        kernel, loop, body = self.kernel, self.loop, self.body
        for stack, number in body.turns.items():
            found = kernel.where[stack]
            assert isinstance(found, Arr)
            offset = f"{found.offset} + {counter} * {found.strides[0]}"
            row = found._replace(shape=found.shape[1:], strides=found.strides[1:], offset=offset)
            if row.shape:
                kernel.where[number] = row._replace(root=-1)
            else:
                kernel.where[number] = kernel._variable(row.dtype, f"{row.pointer}[{offset}]")  # noqa: SLF001
        targets: dict[int, Arr] = {}
        owned: set[int] = set()
        for row, (number, _) in body.previous.items():
            found = self.carried[row]
            if isinstance(found, Arr) and row not in self.stacks:
                found = found._replace(root=number)
                kernel.members[number] = {number}
                owned.add(number)
            kernel.where[number] = found
        for row, stack in self.stacks.items():
            if loop.rows[row].value.shape:
                offset = f"{stack.offset} + {counter} * {stack.strides[0]}"
                targets[body.rows[row]] = stack._replace(
                    shape=stack.shape[1:], strides=stack.strides[1:], offset=offset, root=-1
                )
        for row, room in self.spare.items():
            targets[body.rows[row]] = room._replace(root=-1)
        before = kernel.targets, kernel.dying_here
        kernel.targets, kernel.dying_here = targets, frozenset(owned)
        kept = {body.rows[row] for row in {*body.previous, *loop.stacks, *loop.finals}}
        kernel._perform(list(body.instrs), kept)  # noqa: SLF001
        kernel.targets, kernel.dying_here = before
        self._carry_on(counter, targets)
        for number in [*body.rows, *owned]:
            kernel._release([number])  # noqa: SLF001

    def _carry_on(self, counter: str, targets: dict[int, Arr]) -> None:
        """Write the end of a turn: results go into stacks, and to the next turn."""
        kernel, loop, body = self.kernel, self.loop, self.body
        swaps: list[str] = []
        for row in sorted({*body.previous, *loop.stacks, *loop.finals}):
            number = body.rows[row]
            found = kernel.where[number]
            if isinstance(found, Num):
                stack = self.stacks.get(row)
                if stack is not None:
                    kernel._line(f"{stack.pointer}[{counter}] = {found.text};")  # noqa: SLF001
                carried = self.carried.get(row)
                if isinstance(carried, Num):
                    swaps.append(f"{carried.text} = {found.text};")
                if row in self.last:
                    swaps.append(f"{self.last[row].text} = {found.text};")
                continue
            target = targets[number]
            carried = self.carried.get(row)
            if isinstance(carried, Arr) and found.pointer == carried.pointer and found.is_packed:
                if row not in self.stacks:
                    self.in_place.add(row)
                    continue
            if found.pointer != target.pointer or found.offset != target.offset:
                kernel._assign(target, found, "=")  # noqa: SLF001
            if isinstance(carried, Arr):
                if row in self.stacks:
                    swaps.append(f"{carried.pointer} = {target.start};")
                else:
                    kind = TYPES[target.dtype]
                    swaps.append(
                        f"{{ {kind} *swap = {carried.pointer}; {carried.pointer} = "
                        f"{target.pointer}; {target.pointer} = swap; }}"
                    )
        for line in swaps:
            kernel._line(line)  # noqa: SLF001

    def after(self) -> None:
        """Enter what the loop has given."""
        kernel, loop = self.kernel, self.loop
        for row, out in loop.finals.items():
            if row in self.last:
                kernel.where[out] = self.last[row]
            elif row in self.stacks:
                stack = self.stacks[row]
                size = stack.strides[0]
                kernel._alias(  # noqa: SLF001
                    out,
                    stack._replace(
                        shape=stack.shape[1:],
                        strides=stack.strides[1:],
                        offset=added(stack.offset, (loop.turns - 1) * size),
                    ),
                )
            else:
                found = self.carried.get(row) or self.spare[row]
                assert isinstance(found, Arr)
                kernel.where[out] = found._replace(root=-1)


# Shapes, strides and strips ------------------------------------------------------------------------


def aligned(arr: Arr, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return an array's strides along the axes of the shape that it is broadcast to."""
    extra = len(shape) - len(arr.shape)
    found = [
        0 if mine == 1 and extent != 1 else stride
        for mine, extent, stride in zip(arr.shape, shape[extra:], arr.strides, strict=True)
    ]
    return (*([0] * extra), *found)


def collapsed(
    shape: tuple[int, ...], strides: Sequence[tuple[int, ...]]
) -> tuple[list[int], list[tuple[int, ...]]]:
    """Return fewer axes for the same elements: those that lie in one row become one."""
    extents: list[int] = []
    found: list[list[int]] = [[] for _ in strides]
    for axis, extent in enumerate(shape):
        if extent == 1:
            continue
        steps = [one[axis] for one in strides]
        if extents and all(
            mine[-1] == step * extent for mine, step in zip(found, steps, strict=True)
        ):
            extents[-1] *= extent
            for mine, step in zip(found, steps, strict=True):
                mine[-1] = step
        else:
            extents.append(extent)
            for mine, step in zip(found, steps, strict=True):
                mine.append(step)
    if not extents:
        return [1], [(1,) for _ in strides]
    return extents, [tuple(mine) for mine in found]


def _order(instr: Instr, rank: int) -> list[int]:
    """The axes of a transposed array."""
    order = list(range(rank))
    if instr.name in ("mT", "matrix_transpose"):
        order[-2:] = order[-1:-3:-1]
    elif instr.name == "swapaxes":
        first, second = (int(axis) % rank for axis in instr.args[1:3])
        order[first], order[second] = order[second], order[first]
    elif instr.name == "moveaxis":
        axis = order.pop(int(instr.args[1]) % rank)
        order.insert(int(instr.args[2]) % rank, axis)
    else:
        axes: Any = instr.args[1:] if len(instr.args) > 1 else ()
        axes = axes[0] if len(axes) == 1 and isinstance(axes[0], (TUPLE, LIST)) else axes
        order = [int(axis) % rank for axis in axes] if axes and axes[0] is not None else order[::-1]
    return order


def _merged(exports: list[Export], statements: list[Statement]) -> list[Export]:
    """Add up what is added to the same place."""
    made: list[Export] = []
    for export in exports:
        same = [e for e in made if e.is_part and e.operator == "+=" and e.target == export.target]
        if not export.is_part or not same:
            made.append(export)
            continue
        before = same[0]
        number = next(_numbers)
        dtype = export.target.dtype
        operands = (Ref(before.source), Ref(export.source))
        found = Elementwise("{0} + {1}", operands, (dtype, dtype), dtype)
        statements.append(Statement(number, found, dtype))
        made[made.index(before)] = before._replace(source=number)
    return made


def _one_writer_each(exports: list[Export], strips: list[list[Statement]]) -> list[Export]:
    """Give every further write to an array a strip of its own: in one, they would overlap."""
    made: list[Export] = []
    roots: set[int] = set()
    for export in exports:
        if export.is_part and export.target.root in roots:
            number = next(_numbers)
            dtype = next(s.dtype for strip in strips for s in strip if s.out == export.source)
            found = Elementwise("{0}", (Ref(export.source),), (dtype,), dtype)
            strips.append([Statement(number, found, dtype)])
            export = export._replace(source=number)  # noqa: PLW2901
        elif export.is_part:
            roots.add(export.target.root)
        made.append(export)
    return made


def _strips(statements: list[Statement]) -> list[list[Statement]]:
    """Cut statements into strips, at the ends of turns if they repeat."""
    if len(statements) <= STRIP:
        return [statements]
    ids: dict[Any, int] = {}
    codes = [ids.setdefault(_code(statement), len(ids)) for statement in statements]
    strips: list[list[Statement]] = []
    start, at = 0, 0
    while at < len(codes):
        period = _period(codes, at)
        if not period:
            at += 1
            if at - start == STRIP:
                strips.append(statements[start:at])
                start = at
            continue
        if at > start:
            strips.append(statements[start:at])
        turns = 1
        while codes[at + turns * period : at + (turns + 1) * period] == codes[at : at + period]:
            turns += 1
        step = period * max(1, TURNS // period)
        for first in range(at, at + turns * period, step):
            strips.append(statements[first : min(first + step, at + turns * period)])
        at += turns * period
        start = at
    if at > start:
        strips.append(statements[start:at])
    return strips


def _period(codes: list[int], at: int) -> int:
    """The length of what repeats from here on, for more than a strip; 0 if nothing does."""
    for period in range(1, TURNS + 1):
        times = max(4, -(-STRIP // period))
        turn = codes[at : at + period]
        if codes[at : at + times * period] == turn * times:
            return period
    return 0


def _code(statement: Statement) -> Any:
    operands = statement.found.operands
    return (
        statement.found.expression,
        statement.dtype,
        tuple("" if type(leaf) is Ref else repr(leaf) for leaf in operands),
    )


def _crossing(strips: list[list[Statement]]) -> dict[int, tuple[int, int]]:
    """The values that a later strip needs: the strips that make them, and that need them last."""
    made: dict[int, int] = {}
    last: dict[int, int] = {}
    for number, strip in enumerate(strips):
        for statement in strip:
            for leaf in statement.found.operands:
                if type(leaf) is Ref and made.get(leaf.index, number) != number:
                    last[leaf.index] = number
            made[statement.out] = number
    return {index: (made[index], end) for index, end in last.items()}


def _slots(
    strips: list[list[Statement]], crossing: dict[int, tuple[int, int]]
) -> tuple[dict[int, int], int]:
    """Number the rows of a block's memory that these values lie in, and count the rows."""
    ends: list[list[int]] = [[] for _ in strips]
    for index, (_, end) in crossing.items():
        ends[end].append(index)
    slots: dict[int, int] = {}
    free: list[int] = []
    rows = 0
    for number, strip in enumerate(strips):
        for statement in strip:
            if statement.out in crossing:
                if free:
                    slots[statement.out] = free.pop()
                else:
                    slots[statement.out] = rows
                    rows += 1
        free.extend(slots[index] for index in ends[number])
    return slots, rows


def _reduction(name: str, kind: str, step: int, out_step: int) -> str:
    """The function that reduces one row, or adds it to another."""
    element = f"x[i * {step}]" if step != 1 else "x[i]"
    head = f"static __attribute__((noinline)) void NAME(const long n, const {kind} *restrict x, {kind} *restrict y) {{"
    if name == "add" and not out_step:
        return "\n".join(
            [
                head,
                "    double total[2] = {0, 0};",
                "    for (long b = 0; b < n; b += 256) {",
                "        const long m = n - b < 256 ? n : b + 256;",
                f"        {kind} t = 0;",
                "        #pragma omp simd reduction(+:t)",
                f"        for (long i = b; i < m; i++) t += {element};",
                "        sum_in(total, t);",
                "    }",
                "    *y += total[0] + total[1];",
                "}",
            ]
        )
    target = f"y[i * {out_step}]" if out_step not in (0, 1) else "y[i]" if out_step else "*y"
    if name == "add":
        step_text = f"{target} += {element};"
    else:
        order = ">" if name == "maximum" else "<"
        step_text = (
            f"{target} = ({element} {order} {target} || {element} != {element}) "
            f"? {element} : {target};"
        )
    lines = [head]
    if out_step:
        lines.append("    #pragma omp simd")
    return "\n".join([*lines, f"    for (long i = 0; i < n; i++) {step_text}", "}"])


def _matrix_product(
    kind: str, sizes: tuple[int, int, int], steps: tuple[int, int, int, int]
) -> str:
    """The function of a product of these sizes; four rows and a few vectors of columns at once."""
    rows, inner, columns = sizes
    row_step, left_step, right_step, _ = steps
    head = (
        f"static __attribute__((noinline)) void NAME(const {kind} *restrict a, "
        f"const {kind} *restrict b, {kind} *restrict c) {{"
    )
    if columns == 1:
        return "\n".join(
            [
                head,
                f"    for (long i = 0; i < {rows}; i++) {{",
                f"        {kind} t = 0;",
                "        #pragma omp simd reduction(+:t)",
                f"        for (long k = 0; k < {inner}; k++)",
                f"            t += a[i * {row_step} + k * {left_step}] * b[k * {right_step}];",
                "        c[i] = t;",
                "    }",
                "}",
            ]
        )
    lines = [head]
    width = 32 if kind == "float" else 16
    full = columns // width * width

    def tile(row: str, height: int, column: str, wide: int) -> list[str]:
        made = [f"{kind} t[{height}][{wide}] = {{0}};", f"for (long k = 0; k < {inner}; k++) {{"]
        for r in range(height):
            made.append(f"    const {kind} a{r} = a[({row} + {r}) * {row_step} + k * {left_step}];")
        made.append("    #pragma omp simd")
        made.append(f"    for (long j = 0; j < {wide}; j++) {{")
        made.append(f"        const {kind} e = b[k * {right_step} + {column} + j];")
        made += [f"        t[{r}][j] += a{r} * e;" for r in range(height)]
        made += ["    }", "}"]
        for r in range(height):
            made.append(
                f"for (long j = 0; j < {wide}; j++) c[({row} + {r}) * {columns} + {column} + j] = t[{r}][j];"
            )
        return made

    def band(row: str, height: int, indent: str) -> None:
        if full:
            lines.append(f"{indent}for (long j0 = 0; j0 < {full}; j0 += {width}) {{")
            lines.extend(f"{indent}    {text}" for text in tile(row, height, "j0", width))
            lines.append(f"{indent}}}")
        if columns > full:
            lines.append(f"{indent}{{")
            lines.extend(
                f"{indent}    {text}" for text in tile(row, height, str(full), columns - full)
            )
            lines.append(f"{indent}}}")

    whole = rows // 4 * 4
    if whole:
        lines.append(f"    for (long i = 0; i < {whole}; i += 4) {{")
        band("i", 4, "        ")
        lines.append("    }")
    for row in range(whole, rows):
        band(str(row), 1, "    ")
    return "\n".join([*lines, "}"])
