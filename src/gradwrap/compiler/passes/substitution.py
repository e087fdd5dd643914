"""Substitution: equal values are computed once, and reads return the values written.

One walk merges equal instructions and equal constants, forwards written values to their readers
(`forwarding.py`), and folds numbers (`folding.py`), also in the bodies of loops.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.compiler.ir.program import (
    NDARRAY,
    Block,
    Guard,
    Instr,
    Loop,
    Ref,
    mapped,
    token,
)
from gradwrap.compiler.passes.folding import Folding
from gradwrap.compiler.passes.forwarding import Accesses
from gradwrap.compiler.passes.parameters import parameters_of
from gradwrap.core.values.dynamic import TUPLE, type_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from gradwrap.compiler.ir.program import Program

MERGED = 1 << 16
"""The most bytes of a constant that is compared with others."""


def substitute(program: Program, *, merge_keys: bool, forwards: bool = True) -> None:
    """Replace values by equal ones: numbers, operands, earlier results, written values.

    With `merge_keys`, accesses at integer keys are merged too, and products with 1 removed. This
    runs only after the search for loops: merging the reads of one turn with those of the next,
    or dropping a factor of one turn, destroys the period. Before it, only the reads of parameters
    are merged (`parameters.py`). Without `forwards`, each read stays the
    read of the newest version of its array.
    """
    _Walk(program, merge_keys, forwards=forwards).run()


def _equal_constants(program: Program) -> dict[int, Any]:
    """Map each small frozen array to the first one with equal elements."""
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
    """The forward walk through all blocks that substitutes values."""

    def __init__(self, program: Program, merge_keys: bool, *, forwards: bool) -> None:
        self.program = program
        self.forwards = forwards
        self.merge_keys = merge_keys
        self.instead: dict[int, Any] = _equal_constants(program)
        self.folding = Folding(program.values, keeps_ones=not merge_keys)
        self.depth: int = 0
        """The number of loops around the current body. Accesses are followed outside loops only."""
        self.accesses = Accesses(program, self.folding.made, newest=merge_keys)
        self.parameters = {} if merge_keys else parameters_of(program)
        """The reads of parameters, by array. They follow where the array is made."""

    def run(self) -> None:
        before: list[Instr | Loop] = []
        known: dict[Any, int] = {}
        for index in (*self.program.inputs, *self.program.constants):
            self.read_parameters(index, before, known)
        self.program.root.body[:0] = before
        waiting: list[tuple[Block, dict[Any, int]]] = [(self.program.root, known)]
        while waiting:
            block, known = waiting.pop()
            self.accesses.block += 1
            block.body = self.body(block.body, known, frozenset())
            if block.guard is not None:
                block.guard = Guard(block.guard.kind, self.leaf(block.guard.value))
            if block.result is not None:
                leaves = tuple(map(self.leaf, block.result.leaves))
                block.result = block.result._replace(leaves=leaves)
            last = len(block.branches) == 1
            waiting.extend((b, known if last else dict(known)) for b in block.branches.values())

    def body(
        self, body: list[Instr | Loop], known: dict[Any, int], handed_on: Collection[int]
    ) -> list[Instr | Loop]:
        """Return a body rewritten; values handed on keep their numbers."""
        made: list[Instr | Loop] = []
        for step in body:
            if isinstance(step, Loop):
                made.append(self.loop(step, known))
                continue
            kept = self.one(step, known, handed_on)
            made.extend(self.accesses.extra)
            self.accesses.extra.clear()
            if kept is not None:
                self.folding.enter(kept)
                made.append(kept)
                if kept.out in self.parameters and not self.depth:
                    self.read_parameters(kept.out, made, known)
        return made

    def read_parameters(self, array: int, body: list[Instr | Loop], known: dict[Any, int]) -> None:
        """Read the parameters of an array that was made, and enter them into `known`."""
        for step in self.parameters.get(array, ()):
            body.append(step)
            known[_key(step)] = step.out

    def loop(self, loop: Loop, known: dict[Any, int]) -> Loop:
        """Return a loop rewritten, reading each stack once."""
        first: dict[int, int] = {}
        for index, stack in loop.reads.items():
            same = first.setdefault(self.leaf(stack).index, index)
            if same != index:
                self.instead[index] = Ref(same)
        loop.reads = {index: Ref(stack) for stack, index in first.items()}
        loop.carries = [one._replace(first=self.leaf(one.first)) for one in loop.carries]
        loop.count = self.leaf(loop.count)
        before = len(known)
        self.depth += 1
        loop.body = self.body(loop.body, known, loop.handed_on)
        self.depth -= 1
        while len(known) > before:  # values of the body are not visible outside
            known.popitem()
        return loop

    def leaf(self, leaf: Any) -> Any:
        return self.instead.get(leaf.index, leaf) if type_of(leaf) is Ref else leaf

    def one(self, instr: Instr, known: dict[Any, int], handed_on: Collection[int]) -> Instr | None:
        """Return the instruction rewritten, or None if another value replaces its result."""
        if self.instead and not self.instead.keys().isdisjoint(instr.reads):
            args = mapped(instr.args, self.leaf)
            kw = mapped(instr.kw, self.leaf) if instr.kw else ()
            instr = Instr(instr.fn, instr.name, args, kw, instr.out, instr.views, instr.line)
        instr = self.folding.shorter(instr, instr.op)
        op = instr.op
        same: Any = None
        if not op.has_key:
            same = self.folding.same_as(instr, op)
        elif self.forwards and not self.depth:
            instr, same = self.accesses.forwarded(instr)
        if same is not None and instr.out not in handed_on:
            self.instead[instr.out] = same
            return None
        if op.is_fresh:
            return instr
        key = _key(instr)
        if op.has_key and not self.merge_keys and _has_integer_key(instr):
            before = known.get(key, instr.out)  # a parameter, or none
        else:
            before = known.setdefault(key, instr.out)
        if before == instr.out or instr.out in handed_on:
            return instr
        self.instead[instr.out] = Ref(before)
        self.accesses.forget(instr.out)
        return None


def _key(instr: Instr) -> Any:
    """Return what two instructions have in common if their results are equal."""
    op = instr.op
    tokens = [part.index if type(part) is Ref else token(part) for part in instr.args]
    if op.commutes and len(tokens) == 2:
        mine, other = tokens
        if type(mine) is not int or (type(other) is int and other < mine):
            tokens.reverse()
    kw = token(instr.kw) if instr.kw else None
    return (instr.fn if op.is_opaque else instr.name, kw, *tokens)


def _has_integer_key(instr: Instr) -> bool:
    key = instr.args[1]
    return any(type(part) is int for part in (key if isinstance(key, TUPLE) else (key,)))
