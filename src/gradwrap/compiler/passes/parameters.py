"""Parameters: numbers of a small array that every turn of a loop reads.

`p[0]` in a loop over steps in time is the same number in all turns. It is read once, where the
array is made. If each turn read it anew, the first read could be in another loop than the rest,
and later loops over what was read would differ in their first turns. Numbers of long arrays are
left where they are: which one a turn reads depends on its index. So are those of an array of which
a line of the code reads one or another, such as `p[labels[t]]`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.compiler.ir.operations import Kind
from gradwrap.compiler.ir.program import Instr, Ref, token
from gradwrap.core.values.dynamic import TUPLE, type_of

if TYPE_CHECKING:
    from gradwrap.compiler.ir.program import Program

MOST = 8
"""The most numbers of an array that are parameters: loops of loops are traced with more turns."""
LONGEST = 2 * MOST
"""The most reads of a turn in a line."""
OFTEN = 8
"""The fewest reads of each number, on average."""


def parameters_of(program: Program) -> dict[int, list[Instr]]:
    """Return new reads of numbers that turns read again and again and never write, by array."""
    unfit: set[int] = set()
    reads: dict[int, dict[Any, Instr]] = {}
    counts: dict[int, int] = {}
    lines: dict[tuple[int, Any], list[Any]] = {}
    for block in program.blocks():
        for step in block.body:
            if not isinstance(step, Instr) or not step.op.has_key:
                continue
            source, key = step.args[:2]
            if type_of(source) is not Ref:
                continue
            if step.op.kind is Kind.WRITE:
                unfit.add(source.index)
            elif _is_of_integers(key) and not program.values[step.out].is_ndarray:
                counts[source.index] = counts.get(source.index, 0) + 1
                reads.setdefault(source.index, {}).setdefault(token(key), step)
                lines.setdefault((source.index, step.line), []).append(token(key))
    unfit.update(source for (source, line), keys in lines.items() if line and not _repeat(keys))
    found: dict[int, list[Instr]] = {}
    for source, keys in reads.items():
        if source not in unfit and len(keys) <= MOST and counts[source] >= OFTEN * len(keys):
            made = [program.new(program.values[step.out]).index for step in keys.values()]
            steps = zip(keys.values(), made, strict=True)
            found[source] = [step.on(step.args, out) for step, out in steps]
    return found


def _repeat(keys: list[Any]) -> bool:
    """Tell if a few keys are read in the same order again and again."""
    return any(keys[count:] == keys[:-count] for count in range(1, min(len(keys), LONGEST) + 1))


def _is_of_integers(key: Any) -> bool:
    return all(type_of(part) is int for part in (key if isinstance(key, TUPLE) else (key,)))
