"""What need not be stored: elements overwritten before any read, copies, and zeros."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gradwrap.compiler.ir.analysis import looked_at, uses
from gradwrap.compiler.ir.operations import COPY, GETITEM, SCATTER_ADD, SETITEM, Kind
from gradwrap.compiler.ir.program import (
    Instr,
    Loop,
    Ref,
    changed,
    is_elementwise,
    refs,
    setitem,
    token,
)
from gradwrap.compiler.passes.forwarding import is_fixed, place_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet

    from gradwrap.compiler.ir.program import Program


def remove_overwritten(program: Program) -> None:
    """Remove writes to elements that are written again before they are read."""
    bodies = list(program.bodies())
    writes = [
        step
        for body in bodies
        for step in body
        if isinstance(step, Instr) and step.op.kind is Kind.WRITE
    ]
    if all(write.op is not SETITEM for write in writes):
        return
    everywhere = uses(program)
    arrays = {index for write in writes for index in (write.out, *refs(write.args[0]))}
    for body in bodies:
        readers: dict[int, list[Instr]] = {}
        for step in body:
            if isinstance(step, Instr):
                for index in step.reads:
                    if index in arrays:
                        readers.setdefault(index, []).append(step)
        later: dict[int, set[tuple[Any, ...]]] = {}
        instead: dict[int, Ref] = {}
        for step in reversed(body):
            if not isinstance(step, Instr) or step.op.kind is not Kind.WRITE:
                continue
            target, key = step.args[:2]
            covered = later.pop(step.out, set[tuple[Any, ...]]())
            if type(target) is not Ref:
                continue
            shape = program.values[target.index].shape
            place = (place_of(key, shape) or (token(key),)) if is_fixed(key) else None
            if place is not None:
                if any(place[:count] in covered for count in range(1, len(place) + 1)):
                    instead[step.out] = target
                elif step.op is SETITEM:
                    covered.add(place)
            if covered and len(readers[target.index]) == everywhere[target.index]:
                if _survives(readers[target.index], step, shape, covered):
                    later[target.index] = covered
        if instead:
            affected = {id(step) for index in instead for step in readers.get(index, ())}
            body[:] = _replaced(body, instead, affected)


def _survives(
    readers: list[Instr],
    write: Instr,
    shape: tuple[int, ...],
    covered: set[tuple[Any, ...]],
) -> bool:
    """Tell if only the write reads the covered elements; drop elements that are read."""
    if any(type(number) is not int for one in covered for number in one):  # slices, which overlap
        return all(reader is write for reader in readers) and len(readers) == 1
    for reader in readers:
        if reader is write:
            continue
        place = None
        if reader.op is GETITEM and is_fixed(reader.args[1]):
            place = place_of(reader.args[1], shape)
        if place is None:
            return False
        if len({len(one) for one in covered} | {len(place)}) > 1:
            return False
        covered.discard(place)
    return sum(reader is write for reader in readers) == 1


def _replaced(
    body: list[Instr | Loop], instead: dict[int, Ref], affected: set[int]
) -> list[Instr | Loop]:
    """Return a body without some writes, with their targets in their place."""

    def leaf(one: Any) -> Any:
        while type(one) is Ref and one.index in instead:
            one = instead[one.index]
        return one

    return [
        changed(step, leaf) if id(step) in affected or isinstance(step, Loop) else step
        for step in body
        if isinstance(step, Loop) or step.out not in instead
    ]


def remove_copies(program: Program) -> None:
    """Remove copies of new arrays that nothing else reads: the array stands for its copy."""
    everywhere = uses(program)
    values = program.values
    for body in program.bodies():
        made: dict[int, int] = {}
        gone: set[int] = set()
        for number, step in enumerate(body):
            if isinstance(step, Loop):
                continue
            source: Any = step.args[0] if step.op is COPY and len(step.args) == 1 else None
            if type(source) is Ref and source.index in made and everywhere[source.index] == 1:
                found = values[source.index]
                if found.order == "S":  # a new array has no gaps
                    found = found._replace(order="C")
                if found == values[step.out]:
                    place = made[source.index]
                    maker = body[place]
                    assert isinstance(maker, Instr)
                    body[place] = replace(maker, out=step.out)
                    gone.add(number)
            elif is_elementwise(step) and values[step.out].shape:
                made[step.out] = number
        if gone:
            body[:] = [step for number, step in enumerate(body) if number not in gone]


def keep_what_is_added_back(program: Program) -> None:
    """Leave elements where they are, if they are taken out, set to zero, and added to the zeros.

    The gradient of `x[key] += y` does so. Other terms may be added in between. What else is added
    to zeros, with nothing in between, is written in their place.
    """
    everywhere = uses(program)
    bodies = list(program.bodies())
    kept = {index for block in program.blocks() for index in looked_at(block)}
    kept |= {
        i for body in bodies for step in body if isinstance(step, Loop) for i in step.handed_on
    }
    walk = _AddedBack(program, everywhere, kept)
    for body in program.bodies():
        body[:] = walk.rewritten(body)


class _AddedBack:
    """A walk through all bodies that knows the steps of each so far, rewritten."""

    def __init__(
        self, program: Program, everywhere: Mapping[int, int], kept: AbstractSet[int]
    ) -> None:
        self.program = program
        self.everywhere = everywhere
        self.kept = kept
        self.steps: dict[int, Instr | Loop] = {}
        """By result; a loop by the number of its first result."""
        self.instead: dict[int, Any] = {}
        """By value: the value that replaces it, in later bodies too."""

    def rewritten(self, body: list[Instr | Loop]) -> list[Instr | Loop]:
        """Return a body without superfluous additions and zeros."""
        self.steps = {}
        for one in body:
            step = changed(one, self._leaf) if self.instead else one
            if isinstance(step, Loop) or not self._leaves_out(step):
                self.steps[step.outs[0] if isinstance(step, Loop) else step.out] = step
        return list(self.steps.values())

    def _leaf(self, leaf: Any) -> Any:
        return self.instead.get(leaf.index, leaf) if type(leaf) is Ref else leaf

    def _leaves_out(self, step: Instr) -> bool:
        """Leave out an addition, and the zeros that it is added to; tell if there are some."""
        chain = self._chain(step)
        if not chain:
            return False
        zeros = chain.pop()
        source, (_, key, added) = zeros.args[0], step.args
        is_part = self._is_part(added, source, token(key))
        if chain and not is_part:
            return False
        del self.steps[zeros.out]
        if chain:
            first = chain[-1]
            self.steps[first.out] = first = first.on((source, *first.args[1:]))
            last = self.steps.pop(chain[0].out)
            assert isinstance(last, Instr)
            self.steps[step.out] = replace(last, out=step.out)
            self.program.exact &= len(chain) == 1  # otherwise the terms get another order
        elif is_part and step.out not in self.kept:
            self.instead[step.out] = source
        else:
            args = (source, key, added)
            self.steps[step.out] = Instr(setitem, "setitem", args, (), step.out, line=step.line)
        return True

    def _chain(self, step: Instr) -> list[Instr]:
        """Return the additions before a step, the latest first, and the zeros that they begin with.

        The list is empty if the step does not add to the place of the zeros.
        """
        if step.op is not SCATTER_ADD or not is_fixed(step.args[1]):
            return []
        key = token(step.args[1])
        chain: list[Instr] = []
        target: Any = step.args[0]
        while True:
            maker = self.steps.get(target.index) if type(target) is Ref else None
            if not isinstance(maker, Instr) or self.everywhere[maker.out] != 1:
                return []
            chain.append(maker)
            if maker.op is not SCATTER_ADD:
                break
            target = maker.args[0]
        zero = maker.args[2] if maker.op is SETITEM and token(maker.args[1]) == key else None
        if type(zero) not in (int, float) or zero or type(maker.args[0]) is not Ref:
            return []
        return chain

    def _is_part(self, leaf: Any, source: Ref, key: Any) -> bool:
        """Tell if a value is an array at a key, or a copy of this part."""
        maker = self.steps.get(leaf.index) if type(leaf) is Ref else None
        if isinstance(maker, Instr) and maker.op is COPY:
            maker = self.steps.get(maker.args[0].index)
        if not isinstance(maker, Instr) or maker.op is not GETITEM:
            return False
        return bool(maker.args[0] == source and token(maker.args[1]) == key)
