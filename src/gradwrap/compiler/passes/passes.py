"""Programs made of traces, and the passes that make them shorter.

`program_of` puts the traces of one signature together: they agree up to a guard, and go on in its
branches. `substitute` replaces arrays of one number by the number, drops what changes nothing, and
merges equal instructions. `remove_dead` removes what nobody reads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.ir.analysis import needed_after, roots_of
from gradwrap.compiler.ir.program import (
    NDARRAY,
    UFUNC,
    Block,
    Constant,
    Guard,
    Instr,
    Loop,
    Program,
    Ref,
    Result,
    Value,
    copy,
    full,
    given,
    is_elementwise,
    mapped,
    refs,
    used,
    zeros,
)
from gradwrap.compiler.passes.forwarding import KEYED, NUMBER, Accesses, token
from gradwrap.compiler.tracing.tape import Unhandled, same_content
from gradwrap.core.values.dynamic import TUPLE, type_of

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from gradwrap.compiler.tracing.run import Traced

COMMUTATIVE = frozenset({"add", "multiply", "equal", "not_equal"})
FRESH = frozenset({"copy", "zeros", "full", "empty"})
"""New arrays, which are never merged: a write may go into them."""
NEW = frozenset({"zeros", "full"})
POWERS: dict[float, Any] = {2: np.square, 0.5: np.sqrt, -1: np.reciprocal}
"""The powers for which NumPy's `**` calls another ufunc."""
MERGED = 1 << 16
"""The most bytes of a constant that is compared with others."""
FOLDED = frozenset({"add", "subtract", "multiply", "divide", "negative"})


# Comparing ----------------------------------------------------------------------------------------


def _same_step(one: Instr, other: Instr) -> bool:
    return (
        one.name == other.name
        and one.out == other.out
        and one.fn == other.fn
        and _same_nest(one.args, other.args)
        and _same_nest(one.kw, other.kw)
    )


def _same_nest(one: Any, other: Any) -> bool:
    return bool(token(one) == token(other))


def difference(one: Traced, other: Traced) -> str:
    """Say where two traces of one function differ; "" if they do not."""
    for a, b in zip(one.instrs, other.instrs, strict=False):
        if not _same_step(a, b):
            return f"{_shown(a)} and {_shown(b)}"
    if len(one.instrs) != len(other.instrs):
        return f"{len(one.instrs)} and {len(other.instrs)} operations"
    if one.guards != other.guards:
        return "the values that it branches on"
    if one.constants.keys() != other.constants.keys() or any(
        not same_content(array, other.constants[i]) for i, array in one.constants.items()
    ):
        return "the arrays that it makes or reads"
    if one.tree != other.tree or not _same_nest(one.leaves, other.leaves):
        return "what it returns"
    return ""


def _shown(instr: Instr) -> str:
    return f"{instr.name}{instr.args!r}"


def precisions_of(trace: Traced) -> list[float]:
    """By output: the spacing at 1 of the coarsest dtype that it is computed of."""
    coarsest = [
        0.0 if value.dtype is None or value.dtype.kind not in "fc" else _spacing(value.dtype)
        for value in trace.values
    ]
    for instr in trace.instrs:
        coarsest[instr.out] = max(coarsest[i] for i in (instr.out, *used(instr)))
    return [coarsest[leaf.index] if type(leaf) is Ref else 0.0 for leaf in trace.leaves]


def _spacing(dtype: Any) -> float:
    return float(np.finfo(dtype).eps)


# From traces to a program -------------------------------------------------------------------------


def constants_of(one: Traced, other: Traced) -> dict[int, Constant]:
    """Tell which arrays of the surroundings are the user's own, and which were made in the run."""
    found: dict[int, Constant] = {}
    for index, kept in one.constants.items():
        mine, second = one.originals.get(index), other.originals.get(index)
        own = mine is not None and second is not None and _same_memory(mine, second)
        found[index] = Constant(mine if own else kept, own, "")
    return found


def _same_memory(one: Any, other: Any) -> bool:
    """Tell if two arrays are one, or the same view of one array."""
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
    """Where the first element of an array lies, in the memory of its library."""
    return array.ctypes.data if isinstance(array, NDARRAY) else array.data.ptr


class _Path:
    """A trace on its way into a program: where it is, and its values' numbers there."""

    def __init__(self, trace: Traced, first: bool) -> None:
        self.trace = trace
        self.first = first
        """The first trace's values keep their numbers."""
        self.numbers: dict[int, int] = {}

    def enter(self, lead: _Path, at: int) -> None:
        """Share the values of another trace before an instruction, which are the same."""
        trace = lead.trace
        count = trace.instrs[at - 1].out + 1 if at else len(trace.inputs)
        self.numbers = {i: i for i in range(count)} if lead.first else dict(lead.numbers)

    def leaf(self, leaf: Any) -> Any:
        return Ref(self.numbers[leaf.index]) if type(leaf) is Ref and not self.first else leaf


def program_of(
    traces: Sequence[Traced], constants: Sequence[dict[int, Constant]], names: tuple[str, ...]
) -> Program:
    """Put the traces of one signature together.

    Raises
    ------
    Unhandled
        They differ although the guards had the same outcomes.
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
            block.result = Result(tuple(map(lead.leaf, leaves)), lead.trace.tree)
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
        and all(map(_same_step, one.instrs[start:end], other.instrs[start:end]))
        and (
            len(other.guards) == number
            if guard is None
            else len(other.guards) > number and other.guards[number][:2] == (end, guard)
        )
    )
    if not same:
        raise Unhandled("it does something else although its arguments are alike")


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
    """Enter a stretch of a trace into a block."""
    if path.first:
        block.body.extend(path.trace.instrs[start:end])
        return
    for instr in path.trace.instrs[start:end]:
        _enter_constants(program, path, constants, (instr.args, instr.kw))
        path.numbers[instr.out] = program.new(path.trace.values[instr.out]).index
        block.body.append(
            instr._replace(
                args=mapped(instr.args, path.leaf),
                kw=mapped(instr.kw, path.leaf),
                out=path.numbers[instr.out],
            )
        )


# Simplifying --------------------------------------------------------------------------------------


def substitute(program: Program, *, merge_keys: bool) -> None:
    """Replace values by equal ones: numbers, operands, earlier results, what was written.

    With `merge_keys`, accesses at integer keys are merged too, and products with 1 removed. That is
    left for after the search for loops: to merge what one turn reads with what the next reads, or
    to drop one turn's factor, destroys their period.
    """
    _Walk(program, merge_keys).run()


def _equal_constants(program: Program) -> dict[int, Any]:
    """Return what stands for small frozen arrays: the first that has the same elements."""
    first: dict[Any, int] = {}
    instead: dict[int, Any] = {}
    for index, constant in program.constants.items():
        array = constant.array
        if constant.by_reference or not isinstance(array, NDARRAY) or array.nbytes > MERGED:
            continue
        key = (array.shape, array.dtype, array.strides, array.tobytes())
        if first.setdefault(key, index) != index:
            instead[index] = Ref(first[key])
    return instead


class _Walk:
    """One forward walk through all blocks, with substitution."""

    def __init__(self, program: Program, merge_keys: bool) -> None:
        self.program = program
        self.values = program.values
        self.merge_keys = merge_keys
        self.instead: dict[int, Any] = _equal_constants(program)
        self.made: dict[int, Instr] = {}
        self.numbers: dict[int, tuple[Any, Any]] = {}
        """By array that holds one number throughout: the number, and the dtype."""
        self.depth: int = 0
        """How many loops the body at hand is in. Accesses are followed outside of loops alone."""
        self.accesses = Accesses(program, self.made, newest=merge_keys)

    def run(self) -> None:
        waiting: list[tuple[Block, dict[Any, int]]] = [(self.program.root, {})]
        while waiting:
            block, known = waiting.pop()
            self.accesses.block += 1
            block.body = self.body(block.body, known, frozenset())
            if block.guard is not None:
                block.guard = Guard(block.guard.kind, self.leaf(block.guard.value))
            if block.result is not None:
                leaves = tuple(map(self.leaf, block.result.leaves))
                block.result = Result(leaves, block.result.tree)
            last = len(block.branches) == 1
            waiting.extend((b, known if last else dict(known)) for b in block.branches.values())

    def body(
        self, body: list[Instr | Loop], known: dict[Any, int], handed_on: Collection[int]
    ) -> list[Instr | Loop]:
        """Return a body anew; what it hands on stays where it is given."""
        made: list[Instr | Loop] = []
        for step in body:
            if isinstance(step, Loop):
                made.append(self.loop(step, known))
                continue
            kept = self.one(step, known, handed_on)
            made.extend(self.accesses.extra)
            self.accesses.extra.clear()
            if kept is not None:
                self.made[kept.out] = kept
                if kept.name in NEW:
                    number = kept.args[1] if kept.name == "full" else 0
                    self.numbers[kept.out] = (number, kept.args[-1])
                made.append(kept)
        return made

    def loop(self, loop: Loop, known: dict[Any, int]) -> Loop:
        """Return a loop anew, which reads each stack once."""
        first: dict[int, int] = {}
        for index, stack in loop.reads.items():
            same = first.setdefault(self.leaf(stack).index, index)
            if same != index:
                self.instead[index] = Ref(same)
        loop.reads = {index: Ref(stack) for stack, index in first.items()}
        loop.carries = [one._replace(first=self.leaf(one.first)) for one in loop.carries]
        before = len(known)
        self.depth += 1
        loop.body = self.body(loop.body, known, loop.handed_on)
        self.depth -= 1
        while len(known) > before:  # outside, nothing of the body is there
            known.popitem()
        return loop

    def leaf(self, leaf: Any) -> Any:
        return self.instead.get(leaf.index, leaf) if type_of(leaf) is Ref else leaf

    def one(self, instr: Instr, known: dict[Any, int], handed_on: Collection[int]) -> Instr | None:
        """The instruction as it stays; None if another value stands for its own."""
        if not self.instead.keys().isdisjoint(refs((instr.args, instr.kw))):
            args = mapped(instr.args, self.leaf)
            kw = mapped(instr.kw, self.leaf) if instr.kw else ()
            instr = Instr(instr.fn, instr.name, args, kw, instr.out, instr.views, instr.line)
        instr = self.shorter(instr)
        same: Any = None
        if instr.name not in KEYED:
            same = self.same_as(instr)
        elif not self.depth:
            instr, same = self.accesses.forwarded(instr)
        if same is not None and instr.out not in handed_on:
            self.instead[instr.out] = same
            return None
        if instr.name in FRESH or (not self.merge_keys and _has_integer_key(instr)):
            return instr
        tokens = token(instr.args)
        if instr.name in COMMUTATIVE and len(instr.args) == 2:
            tokens = frozenset({tokens[1:]}) if tokens[1] == tokens[2] else frozenset(tokens[1:])
        key = (instr.name, tokens, token(instr.kw))
        before = known.setdefault(key, instr.out)
        if before == instr.out or instr.out in handed_on:
            return instr
        self.instead[instr.out] = Ref(before)
        self.accesses.forget(instr.out)
        return None

    def described(self, leaf: Any) -> Value:
        """The description of a value that a leaf names."""
        index: int = leaf.index
        return self.values[index]

    def shorter(self, instr: Instr) -> Instr:
        """The same value by a quicker instruction."""
        name, args = instr.name, instr.args
        value = self.values[instr.out]
        if name in ("broadcast_to", "reshape", ".reshape", ".copy", "copy", "ascontiguousarray"):
            number = self.numbers.get(args[0].index) if type(args[0]) is Ref else None
            if number is not None and value.is_ndarray:
                self.numbers[instr.out] = number
                return self.filled(instr, *number) or instr
        if name == "pow" and type(args[0]) is Ref and _is_number(args[1], args[1]):
            base = self.values[args[0].index]
            quicker = POWERS.get(args[1])
            if (
                quicker
                and base.is_ndarray
                and base.dtype.kind == "f"
                and _same_but_order(value, base)
            ):
                return instr._replace(fn=quicker, name=quicker.__name__, args=args[:1])
        if not isinstance(instr.fn, UFUNC) or instr.kw:
            return instr
        folded = self.folded(instr) if name in FOLDED and value.is_ndarray else None
        if folded is not None:
            return folded
        if len(args) != 2 or not is_elementwise(instr):
            return instr
        return instr._replace(args=self.narrow(instr, self.weak(instr, args)))

    def filled(self, instr: Instr, number: Any, dtype: Any) -> Instr | None:
        """Return the instruction that makes the result, an array of one number; None if none can.

        The new array lies in C's order.
        """
        value = self.values[instr.out]
        if len(value.shape) < 2:
            self.values[instr.out] = value._replace(order="C")
        elif value.order != "C":
            return None
        fill: tuple[Any, ...] = (full, "full", (value.shape, number, dtype))
        if type(number) is int and number == 0:
            fill = (zeros, "zeros", (value.shape, dtype))
        return Instr(*fill, (), instr.out, line=instr.line)

    def folded(self, instr: Instr) -> Instr | None:
        """The array of one number that an operation on such arrays and numbers gives, or None."""
        numbers: list[Any] = []
        value = self.values[instr.out]
        for arg in instr.args:
            if type(arg) is not Ref:
                numbers.append(arg)
                continue
            number, dtype = self.numbers.get(arg.index, (arg, None))
            if type(number) is Ref:
                return None
            numbers.append(np.full(1, number, dtype))
        with np.errstate(all="ignore"):
            result = instr.fn(*numbers)
        if result.dtype != value.dtype or not np.all(np.isfinite(result)):
            return None
        self.numbers[instr.out] = (result[0], value.dtype)
        return self.filled(instr, result[0], value.dtype)

    def narrow(self, instr: Instr, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Put what was broadcast in the place of what it was broadcast to."""
        value = self.values[instr.out]
        for mine, other in ((0, 1), (1, 0)):
            made = self.made.get(args[mine].index) if type(args[mine]) is Ref else None
            if made is None or made.name != "broadcast_to" or type(args[other]) is not Ref:
                continue
            whole = self.described(args[other])
            if whole.shape == value.shape and whole.order == value.order == "C":
                args = made.args[:1] + args[1:] if mine == 0 else args[:1] + made.args[:1]
        return args

    def weak(self, instr: Instr, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Put a number in the place of an array that holds it throughout."""
        value = self.values[instr.out]
        for mine, other in ((0, 1), (1, 0)):
            known = self.numbers.get(args[mine].index) if type(args[mine]) is Ref else None
            if known is None or type(known[0]) is Ref or type(args[other]) is not Ref:
                continue
            (number, dtype), whole = known, self.described(args[other])
            if not whole.is_ndarray or whole.shape != value.shape or whole.order != value.order:
                continue
            if whole.dtype.kind in "fc" and dtype == whole.dtype:
                found = _as_weak(number, whole.dtype)
                if found is not None:
                    return (found, args[1]) if mine == 0 else (args[0], found)
        return args

    def same_as(self, instr: Instr) -> Any:
        """The value that an instruction only hands on; None if it does something."""
        name, args = instr.name, instr.args
        if not self.merge_keys and name in ("multiply", "divide", "pow"):
            return None
        if not args or type(args[0]) is not Ref:
            if name == "multiply" and type(args[1]) is Ref and _is_number(args[0], 1):
                return self._alike(instr, args[1])
            return args[0] if name == "copy" else None
        if name in ("multiply", "divide", "true_divide", "pow"):
            return self._alike(instr, args[0]) if _is_number(args[1], 1) else None
        if name == ".astype":
            return self._alike(instr, args[0])
        if name in ("reshape", ".reshape", "broadcast_to", "ascontiguousarray"):
            return self._alike(instr, args[0])
        if name == "copy":
            source = self.made.get(args[0].index)
            is_view = source is None or source.views or source.name == "item"
            return self._alike(instr, args[0]) if not is_view else None
        return None

    def _alike(self, instr: Instr, source: Any) -> Any:
        """The source, if it is described as the result is."""
        return source if self.values[source.index] == self.values[instr.out] else None


def _same_but_order(one: Value, other: Value) -> bool:
    """Tell if two values have one description but for their memory orders."""
    return one._replace(order=other.order) == other


def _is_number(leaf: Any, number: int) -> bool:
    return isinstance(leaf, (int, float, NUMBER)) and not isinstance(leaf, bool) and leaf == number


def _as_weak(number: Any, dtype: Any) -> Any:
    """A number of Python's that a dtype takes for the same; None if there is none."""
    value = dtype.type(number).item()
    return value if isinstance(value, (int, float, complex)) else None


def _has_integer_key(instr: Instr) -> bool:
    if instr.name not in KEYED:
        return False
    key = instr.args[1]
    return any(type(part) is int for part in (key if isinstance(key, TUPLE) else (key,)))


def remove_dead(program: Program) -> None:
    """Remove what neither a result nor a guard needs."""
    needed: dict[int, set[int]] = {}
    for block in reversed(list(program.blocks())):
        block.body, needed[id(block)] = _alive(block.body, needed_after(block, needed))
    live = needed[id(program.root)]
    program.constants = {i: c for i, c in program.constants.items() if i in live}


def _alive(body: list[Instr | Loop], live: set[int]) -> tuple[list[Instr | Loop], set[int]]:
    """Return the steps of a body that give what is needed after it, and what these need."""
    live = set(live)
    kept: list[Instr | Loop] = []
    for step in reversed(body):
        if live.isdisjoint(given(step)):
            continue
        kept.append(_alive_loop(step, live) if isinstance(step, Loop) else step)
        live.difference_update(given(step))
        live.update(used(kept[-1]))
    return kept[::-1], live


def _alive_loop(loop: Loop, live: set[int]) -> Loop:
    """Return a loop with what its needed outputs need."""
    made = Loop(loop.turns)
    made.stacks = {index: out for index, out in loop.stacks.items() if out in live}
    made.finals = {index: out for index, out in loop.finals.items() if out in live}
    while True:
        made.body, read = _alive(loop.body, made.handed_on)
        carries = [carry for carry in loop.carries if carry.value in read]
        if carries == made.carries:
            break
        made.carries = carries
    made.reads = {index: stack for index, stack in loop.reads.items() if index in read}
    return made


# Who owns the outputs -----------------------------------------------------------------------------


def sharing(program: Program, *, traced: bool = False) -> list[list[frozenset[int]]]:
    """For each result, by leaf, the inputs, constants and earlier leaves it shares memory with."""
    roots = roots_of(program, traced=traced)
    outside = frozenset({*program.inputs, *program.constants})
    found: list[list[frozenset[int]]] = []
    for block in program.blocks():
        if block.result is None:
            continue
        of_leaves = [
            roots[leaf.index] if type(leaf) is Ref else frozenset[int]()
            for leaf in block.result.leaves
        ]
        shared: list[frozenset[int]] = []
        for number, mine in enumerate(of_leaves):
            partners = {-1 - i for i in range(number) if mine & of_leaves[i]}
            shared.append(frozenset((mine & outside) | partners))
        found.append(shared)
    return found


def own_outputs(program: Program) -> None:
    """Copy results that share memory with what they shared none with before the passes.

    Results that are arrays made in the run become copies too: a call must not hand out what the
    next one reads. So do broadcast views of what is computed, which nobody could write to.
    """
    made = {
        step.out: step
        for block in program.blocks()
        for step in block.body
        if isinstance(step, Instr) and (step.views or step.name == "broadcast_to")
    }
    blocks = [block for block in program.blocks() if block.result is not None]
    for block, then, now in zip(blocks, program.shares, sharing(program), strict=True):
        assert block.result is not None
        leaves: list[Any] = list(block.result.leaves)
        for number, leaf in enumerate(leaves):
            if type(leaf) is not Ref or not program.values[leaf.index].is_ndarray:
                continue
            frozen = {
                i for i in now[number] if i in program.constants and not program.constants[i][1]
            }
            is_own = all(i < 0 for i in now[number])
            if frozen or not now[number] <= then[number] or (is_own and _is_broadcast(made, leaf)):
                new = program.new(program.values[leaf.index])
                block.body.append(Instr(copy, "copy", (leaf,), (), new.index))
                leaves[number] = new
        block.result = Result(tuple(leaves), block.result.tree)


def _is_broadcast(made: dict[int, Instr], leaf: Any) -> bool:
    """Tell if a value is a broadcast view, or a view of one; `made` has the views by number."""
    while type(leaf) is Ref and leaf.index in made:
        instr = made[leaf.index]
        if instr.name == "broadcast_to":
            return True
        leaf = instr.args[0]
    return False
