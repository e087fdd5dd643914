"""Parts of nests of loops, for several threads: which nests are split, how, and why others are not.

A nest that takes long is cut into segments along one axis. Their number depends on the nest alone,
and each sum has a total for each segment, so results do not depend on the number of threads. The
nest becomes a function that performs some segments (`Part`). What it reads around it is passed in
an array of slots.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from gradwrap.compiler.engines.c.addresses import MARK, integer
from gradwrap.compiler.engines.c.pool import MOST_SEGMENTS

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Sequence

    from gradwrap.compiler.engines.c.addresses import Arr
    from gradwrap.compiler.engines.c.functions import Export, Statement

OF_ARRAY, OF_STATEMENT, OF_FUNCTION = 0.25, 0.1, 1.5
"""The nanoseconds, roughly, for an element of an array, a statement and a call of a function."""
OF_REDUCED = 0.5
"""The nanoseconds, roughly, for an element of a reduction."""
WORTH = 1e5
"""The least nanoseconds of a nest that is split. Waking a thread takes some 5,000."""
SEGMENT = 1e4
"""The least nanoseconds of a segment."""
GRAIN = 512
"""The elements of a row after which it may be cut: whole vectors, so that cuts change no result."""
MEMBERS = {"double": "d", "float": "f", "int64_t": "l", "long": "l", "uint8_t": "b"}
"""By type of a number: its member of a slot."""
ODD = ("long", "0L")
"""The slot that tells if the segments with odd numbers are performed."""


class Split(NamedTuple):
    """How a nest is cut."""

    axis: int
    """The axis, among those of the collapsed nest."""
    units: int
    """The rows along the axis; of the innermost one, the pieces of `grain` elements."""
    grain: int
    segments: int
    is_inner: bool
    """Whether the axis is the innermost one."""
    overlap: bool = False
    """Whether neighbouring segments add to the same elements. Then every other segment is
    performed first, and the rest afterwards."""


def described(splits: Counter[str]) -> list[str]:
    """Describe how many nests are split, and why others are not."""
    count = splits[""]
    found = [f"nests split over threads: {count}"] if count else []
    others = [f"{count} ({reason})" for reason, count in splits.items() if reason and count]
    return [*found, *([f"nests on one thread: {', '.join(others)}"] if others else [])]


def nanoseconds(shape: Sequence[int], statements: Sequence[Statement], arrays: int) -> float:
    """Return roughly how long a nest takes on one thread."""
    functions = sum(bool(statement.found.function) for statement in statements)
    each = OF_ARRAY * arrays + OF_STATEMENT * len(statements) + OF_FUNCTION * functions
    return each * math.prod(shape)


def split_of(
    extents: Sequence[int],
    time: float,
    grain: int,
    reads: Iterable[tuple[Arr, tuple[int, ...]]],
    writes: Sequence[tuple[Export, tuple[int, ...]]],
) -> Split | str:
    """Return how a nest is cut, or why it stays on one thread.

    Reads and writes come with their strides along the axes of the collapsed nest.
    """
    split = _cut(extents, time, grain, range(len(extents)))
    if isinstance(split, str):
        return split
    axis = split.axis
    least = split.units // split.segments * (grain if split.is_inner else 1)
    overlap = False
    written: dict[tuple[int, str], list[tuple[Export, tuple[int, ...]]]] = {}
    for export, steps in writes:
        if not _is_injective(extents, steps):
            return "it writes elements more than once"
        known = written.setdefault((export.target.root, export.target.pointer), [])
        for other, other_steps in known:
            if not _is_apart(axis, extents, least, (export, steps), (other, other_steps)):
                return "its writes to one array overlap"
            overlap = True
        known.append((export, steps))
    for arr, steps in reads:
        for (root, pointer), found in written.items():
            if (arr.root == root != -1 or arr.pointer == pointer) and any(
                arr.start != export.target.start or steps != other for export, other in found
            ):
                return "it reads what it writes"
    return split._replace(overlap=overlap)


def reduction_split(
    extents: Sequence[int], read: Sequence[int], written: Sequence[int]
) -> Split | str:
    """Return how a reduction is cut along an axis that it keeps, or why it is not.

    `read` and `written` are the strides of its operand and of its result.
    """
    kept = [axis for axis, step in enumerate(written) if step and read[axis]]
    if not kept:
        return "a reduction to one number"
    return _cut(extents, OF_REDUCED * math.prod(extents), GRAIN, kept)


def _cut(extents: Sequence[int], time: float, grain: int, axes: Sequence[int]) -> Split | str:
    """Return a cut along the outermost axis that is long enough, or the reason for no cut.

    The innermost axis is cut after multiples of `grain` elements.
    """
    if time < WORTH:
        return "small"
    wanted = min(MOST_SEGMENTS, int(time / SEGMENT))
    units = [*extents[:-1], -(-extents[-1] // grain)]
    many = [axis for axis in axes if units[axis] >= wanted]
    axis = many[0] if many else max(axes, key=units.__getitem__)
    segments = min(wanted, units[axis])
    if segments < 2:
        return "a single row"
    return Split(axis, units[axis], grain, segments, axis == len(extents) - 1)


def _is_injective(extents: Sequence[int], steps: tuple[int, ...]) -> bool:
    """Tell if no two elements of a nest have one place."""
    reach = 0
    for step, extent in sorted(zip(map(abs, steps), extents, strict=True)):
        if extent > 1 and step <= reach:
            return False
        reach += step * (extent - 1)
    return True


def _is_apart(
    axis: int,
    extents: Sequence[int],
    least: int,
    one: tuple[Export, tuple[int, ...]],
    two: tuple[Export, tuple[int, ...]],
) -> bool:
    """Tell if additions to one array meet in neighbouring segments only."""
    (export, steps), (other, other_steps) = one, two
    step = steps[axis]
    if steps != other_steps or step <= 0 or export.operator != "+=" or other.operator != "+=":
        return False
    if export.target.computed != other.target.computed:
        return False
    inner = sum(
        abs(s) * (extent - 1)
        for k, (s, extent) in enumerate(zip(steps, extents, strict=True))
        if k != axis
    )
    return abs(export.target.offset - other.target.offset) + inner < least * step


class Part:
    """Collects the lines of a part, and what it reads around it."""

    def __init__(self, split: Split, inner: int, *, in_turns: bool) -> None:
        self.split = split
        self.inner = inner
        self.in_turns = in_turns
        self.slots: dict[tuple[str, str], int] = {}

    def slot(self, kind: str, text: str) -> str:
        """Return the name of a value around the part, given its type and its text there."""
        return f"c{self.slots.setdefault((kind, text), len(self.slots))}"

    def number(self, number: int) -> str:
        """Return the text of an integer that may differ between turns."""
        return self.slot("long", integer(number)) if self.in_turns else str(number)

    def segment(self) -> list[str]:
        """Return the head of a loop over segments, and the first and the last row of each."""
        split = self.split
        number, count = "q", self.number(split.segments)
        if split.overlap:
            number = f"2 * q + {self.slot(*ODD)}"
        units, grain = self.number(split.units), self.number(split.grain)
        cut = f" * {grain}" if split.is_inner else ""
        lines = [
            "    for (long q = from; q < to; q++) {",
            f"        const long s = {number};",
            f"        const long low = CUT({units}, s, {count}){cut};",
        ]
        high = f"CUT({units}, s + 1, {count}){cut}"
        if split.is_inner:
            end = self.number(self.inner)
            high = f"{high} < {end} ? {high} : {end}"
        return [*lines, f"        const long high = {high};"]

    def text(self, lines: Iterable[str]) -> str:
        """Return the text of the function."""
        parameters = "const slot *c, long from, long to, long me"
        head = [f"static __attribute__((noinline)) void NAME({parameters}) {{"]
        for (kind, _), number in self.slots.items():
            head.append(f"    {kind} c{number} = c[{number}].{MEMBERS.get(kind, 'p')};")
        return "\n".join([*head, *lines, "}"]).replace(MARK, "")

    def call(self, name: str) -> list[str]:
        """Return the lines that call the function of a name."""
        slots = ", ".join(
            f"{{.{MEMBERS[kind]} = {text}}}" if kind in MEMBERS else f"{{.p = (void *)({text})}}"
            for kind, text in self.slots
        )
        count = integer(self.split.segments)
        if not self.split.overlap:
            return [f"slot c[] = {{{slots}}};", f"SPLIT({name}, c, {count});"]
        return [
            f"slot c[] = {{{slots}}};",
            f"SPLIT({name}, c, CUT({count} + 1, 1, 2));",
            f"c[{self.slots[ODD]}].l = 1;",
            f"SPLIT({name}, c, CUT({count}, 1, 2));",
        ]
