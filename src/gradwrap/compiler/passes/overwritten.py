"""Removes writes to elements that are written again before they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.compiler.ir.analysis import uses
from gradwrap.compiler.ir.operations import GETITEM, SETITEM, Kind
from gradwrap.compiler.ir.program import Instr, Loop, Ref, changed, refs, token
from gradwrap.compiler.passes.forwarding import is_fixed, place_of

if TYPE_CHECKING:
    from gradwrap.compiler.ir.program import Program


def remove_overwritten(program: Program) -> None:
    """Remove writes to elements that are written again before they are read."""
    if SETITEM not in program.operations():
        return
    bodies = list(program.bodies())
    writes = [
        step
        for body in bodies
        for step in body
        if isinstance(step, Instr) and step.op.kind is Kind.WRITE
    ]
    everywhere = uses(program)
    arrays = {index for write in writes for index in (write.out, *refs(write.args[0]))}
    for body in bodies:
        readers: dict[int, list[Instr]] = {}
        for step in body:
            if isinstance(step, Instr):
                for index in step.reads:
                    if index in arrays:
                        readers.setdefault(index, []).append(step)
        later: dict[int, dict[tuple[Any, ...], int]] = {}
        """By version of an array: the places that later steps overwrite before they read them.

        The number of their integers is beside them; it is 0 for those that are slices.
        """
        instead: dict[int, Ref] = {}
        """By result of a write that is left out: the array as it was before."""
        for step in reversed(body):
            if not isinstance(step, Instr) or step.op.kind is not Kind.WRITE:
                continue
            target, key = step.args[:2]
            covered = later.pop(step.out, dict[tuple[Any, ...], int]())
            if type(target) is not Ref:
                continue
            shape = program.values[target.index].shape
            if is_fixed(key):
                integers = place_of(key, shape)
                place = integers or (token(key),)
                if any(place[:count] in covered for count in range(1, len(place) + 1)):
                    instead[step.out] = target
                elif step.op is SETITEM:
                    covered[place] = len(integers or ())
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
    covered: dict[tuple[Any, ...], int],
) -> bool:
    """Tell if only the write reads the array before it, but for elements that are not covered.

    Elements that another step reads are taken out of `covered`.
    """
    if 0 in covered.values():  # slices, which overlap
        return all(reader is write for reader in readers) and len(readers) == 1
    for reader in readers:
        if reader is write:
            continue
        place = None
        if reader.op is GETITEM and is_fixed(reader.args[1]):
            place = place_of(reader.args[1], shape)
        if place is None:
            return False
        if len({*covered.values(), len(place)}) > 1:
            return False
        covered.pop(place, None)
    return sum(reader is write for reader in readers) == 1


def _replaced(
    body: list[Instr | Loop], instead: dict[int, Ref], affected: set[int]
) -> list[Instr | Loop]:
    """Return a body without some writes; `instead` has by result the array as it was before."""

    def leaf(one: Any) -> Any:
        while type(one) is Ref and one.index in instead:
            one = instead[one.index]
        return one

    return [
        changed(step, leaf) if id(step) in affected or isinstance(step, Loop) else step
        for step in body
        if isinstance(step, Loop) or step.out not in instead
    ]
