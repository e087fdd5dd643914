"""What need not be stored: elements that are overwritten before any read, and copies."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gradwrap.compiler.ir.analysis import uses
from gradwrap.compiler.ir.operations import COPY, GETITEM, SETITEM, Kind
from gradwrap.compiler.ir.program import Instr, Loop, Ref, changed, is_elementwise, refs, token
from gradwrap.compiler.passes.forwarding import is_fixed, place_of

if TYPE_CHECKING:
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
