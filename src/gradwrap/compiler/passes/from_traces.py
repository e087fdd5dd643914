"""Programs made from traces, which agree up to a guard and then continue in its branches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.ir.program import (
    NDARRAY,
    Block,
    Constant,
    Guard,
    Instr,
    Program,
    Ref,
    Result,
    mapped,
    refs,
    same_nest,
    same_step,
    used,
)
from gradwrap.compiler.passes.ownership import sharing
from gradwrap.compiler.tracing.callbacks import Solver
from gradwrap.compiler.tracing.tape import Contradiction, Unhandled, same_content

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradwrap.compiler.tracing.run import Traced

# Comparing ----------------------------------------------------------------------------------------


def difference(one: Traced, other: Traced) -> str:
    """Describe the first difference between two traces of one function, or return ""."""
    for a, b in zip(one.instrs, other.instrs, strict=False):
        if not same_step(a, b):
            return f"{_shown(a)} and {_shown(b)}"
    if len(one.instrs) != len(other.instrs):
        return f"{len(one.instrs)} and {len(other.instrs)} operations"
    if one.guards != other.guards:
        return "the values that it branches on"
    if one.constants.keys() != other.constants.keys() or any(
        not same_content(array, other.constants[i]) for i, array in one.constants.items()
    ):
        return "the arrays that it makes or reads"
    if one.tree != other.tree or not same_nest(one.leaves, other.leaves):
        return "what it returns"
    return ""


def _shown(instr: Instr) -> str:
    return f"{instr.name}{instr.args!r}"


def precisions_of(trace: Traced) -> list[float]:
    """Return, for each output, the machine epsilon of the coarsest dtype it depends on.

    If all values have one precision, outputs of integers get 0. They are always compared exactly.
    """
    spacing = {
        dtype: float(np.finfo(dtype).eps) if dtype is not None and dtype.kind in "fc" else 0.0
        for dtype in {value.dtype for value in trace.values}
    }
    coarsest = [spacing[value.dtype] for value in trace.values]
    if len({*spacing.values()} - {0.0}) > 1:
        for instr in trace.instrs:
            coarsest[instr.out] = max(coarsest[i] for i in (instr.out, *used(instr)))
    return [coarsest[leaf.index] if type(leaf) is Ref else 0.0 for leaf in trace.leaves]


# Putting together ---------------------------------------------------------------------------------


def constants_of(one: Traced, other: Traced) -> dict[int, Constant]:
    """Tell the user's own arrays, read by reference, from arrays made during the run."""
    found: dict[int, Constant] = {}
    for index, kept in one.constants.items():
        mine, second = one.originals.get(index), other.originals.get(index)
        own = mine is not None and second is not None and _same_memory(mine, second)
        found[index] = Constant(mine if own else kept, own, "")
    return found


def _same_memory(one: Any, other: Any) -> bool:
    """Tell if two arrays are the same object, or the same view of one array."""
    if one is other:
        return True
    return (
        one.base is not None
        and one.base is other.base
        and (one.shape, one.dtype) == (other.shape, other.dtype)
        and one.strides == other.strides
        and _address(one) == _address(other)
    )


def _address(array: Any) -> Any:
    """Return the address of the first element in the memory of its library."""
    return array.ctypes.data if isinstance(array, NDARRAY) else array.data.ptr


class _Path:
    """A trace while it is added to a program: its position, and its values' numbers there."""

    def __init__(self, trace: Traced, first: bool) -> None:
        self.trace = trace
        self.first = first
        """The values of the first trace keep their numbers."""
        self.numbers: dict[int, int] = {}

    def enter(self, lead: _Path, at: int) -> None:
        """Share the equal values of another trace up to an instruction."""
        trace = lead.trace
        count = trace.instrs[at - 1].out + 1 if at else len(trace.inputs)
        self.numbers = {i: i for i in range(count)} if lead.first else dict(lead.numbers)

    def leaf(self, leaf: Any) -> Any:
        return Ref(self.numbers[leaf.index]) if type(leaf) is Ref and not self.first else leaf


def program_of(
    traces: Sequence[Traced], constants: Sequence[dict[int, Constant]], names: tuple[str, ...]
) -> Program:
    """Merge the traces of one signature into a program.

    Raises
    ------
    Unhandled
        The traces differ although all guards had the same outcomes.
    """
    first = traces[0]  # its values keep their numbers
    program = Program(list(first.values), first.inputs, names, dict(constants[0]), Block())
    paths = [_Path(t, t is first) for t in traces]
    waiting: list[tuple[Block, list[int], int, int]] = [
        (program.root, list(range(len(traces))), 0, 0)
    ]
    while waiting:
        block, group, start, number = waiting.pop()
        lead = paths[group[0]]
        guards = lead.trace.guards
        at, guard, _ = guards[number] if number < len(guards) else (len(lead.trace.instrs), None, 0)
        for other in group[1:]:
            _check_agreement(lead.trace, paths[other].trace, start, at, guard, number)
        _enter(program, block, lead, constants[group[0]], start, at)
        for other in group[1:]:
            paths[other].enter(lead, at)
        if guard is None:
            leaves = lead.trace.leaves
            _enter_constants(program, lead, constants[group[0]], leaves)
            mapped_leaves = tuple(map(lead.leaf, leaves))
            block.result = Result(mapped_leaves, lead.trace.tree, lead.trace.asks)
            continue
        _enter_constants(program, lead, constants[group[0]], guard.value)
        block.guard = Guard(guard.kind, lead.leaf(guard.value))
        outcomes: dict[Any, list[int]] = {}
        for member in group:
            outcomes.setdefault(paths[member].trace.guards[number][2], []).append(member)
        for found, members in outcomes.items():
            block.branches[found] = Block()
            waiting.append((block.branches[found], members, at, number + 1))
    for index in program.constants:
        program.values[index] = program.values[index]._replace(is_ndarray=True)
    program.quiet = tuple(sorted({kind for trace in traces for kind in trace.quiet}))
    program.shares = sharing(program, traced=True)
    return program


def _check_agreement(
    one: Traced, other: Traced, start: int, end: int, guard: Guard | None, number: int
) -> None:
    same = (
        len(other.instrs) >= end
        and all(map(same_step, one.instrs[start:end], other.instrs[start:end]))
        and (
            len(other.guards) == number
            if guard is None
            else len(other.guards) > number and other.guards[number][:2] == (end, guard)
        )
    )
    if same:
        return
    steps = zip(one.instrs[start:end], other.instrs[start:end], strict=False)
    mine, theirs = next((pair for pair in steps if not same_step(*pair)), (None, None))
    if mine and theirs and isinstance(mine.fn, Solver) and isinstance(theirs.fn, Solver):
        raise Unhandled("a solver calls its functions in another way there")
    raise Contradiction("it does something else although its arguments are alike")


def _enter_constants(
    program: Program, path: _Path, constants: dict[int, Constant], nest: Any
) -> None:
    for index in () if path.first else refs(nest):
        if index not in path.numbers and index in constants:
            path.numbers[index] = program.new(path.trace.values[index]).index
            program.constants[path.numbers[index]] = constants[index]


def _enter(
    program: Program,
    block: Block,
    path: _Path,
    constants: dict[int, Constant],
    start: int,
    end: int,
) -> None:
    """Add a range of a trace's instructions to a block."""
    if path.first:
        block.body.extend(path.trace.instrs[start:end])
        return
    for instr in path.trace.instrs[start:end]:
        _enter_constants(program, path, constants, (instr.args, instr.kw))
        path.numbers[instr.out] = program.new(path.trace.values[instr.out]).index
        block.body.append(
            instr.on(
                mapped(instr.args, path.leaf),
                path.numbers[instr.out],
                mapped(instr.kw, path.leaf),
            )
        )
