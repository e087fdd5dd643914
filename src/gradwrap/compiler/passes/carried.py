"""Carried parts: a loop carries an array once, and its parts are read where they are needed.

Reads of a written array are replaced by the values written, and turns hand these on. So a loop over
steps in time may carry its state, and slices of the state too, which each turn would copy. If a
carried value is the same part of the state in the first turn, and after each turn, then it becomes
a read of the state. Its last value becomes a read of the last state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.ir.layout import describe_orders
from gradwrap.compiler.ir.operations import GETITEM, SETITEM
from gradwrap.compiler.ir.program import Instr, Loop, Ref, getitem, token
from gradwrap.compiler.passes.forwarding import is_fixed

if TYPE_CHECKING:
    from gradwrap.compiler.ir.program import Carry, Program


def read_carried_parts(program: Program) -> None:
    """Replace carried values, and last values, that are parts of other ones."""
    bodies = list(program.bodies())
    loops = [(body, step) for body in bodies for step in body if isinstance(step, Loop)]
    if all(len(loop.carries) < 2 for _, loop in loops):
        return
    parts = _Parts(program)
    for body, loop in loops:
        parts.loop(body, loop)
    if parts.read:
        describe_orders(program, len(program.values), parts.read)


class _Parts:
    """Finds parts of arrays, by the steps that compute them."""

    def __init__(self, program: Program) -> None:
        self.program = program
        steps = (step for body in program.bodies() for step in body)
        self.makers = {step.out: step for step in steps if isinstance(step, Instr)}
        self.read: set[int] = set()
        """The values that have become reads."""

    def loop(self, body: list[Instr | Loop], loop: Loop) -> None:
        """Rewrite the carries and the last values of a loop in a body."""
        wholes = list(loop.carries)
        for carry in [one for one in wholes if self.program.values[one.value].shape]:
            for whole in wholes:
                key = self.key(carry.next, whole.next)
                if key is not None and whole in loop.carries and self._begins(carry, whole, key):
                    loop.carries.remove(carry)
                    loop.body.insert(0, self._read(carry.value, whole.value, key))
                    break
        place = body.index(loop) + 1
        for index, out in list(loop.finals.items()):
            for whole in loop.carries:
                key = self.key(index, whole.next)
                if key is not None and self.program.values[index].shape:
                    kept = loop.finals.get(whole.next)
                    if kept is None:
                        kept = self.program.new(self.program.values[whole.next]).index
                        loop.finals[whole.next] = kept
                    del loop.finals[index]
                    body.insert(place, self._read(out, kept, key))
                    break

    def key(self, part: int, whole: int) -> Any:
        """Return the key at which a value is a part of another one, or None."""
        values = self.program.values
        if part == whole or values[part].dtype != values[whole].dtype:
            return None
        read, written = self.makers.get(part), self.makers.get(whole)
        if read is not None and read.op is GETITEM and read.args[0] == Ref(whole):
            return _fixed(read.args[1])
        if written is not None and written.op is SETITEM and written.args[2] == Ref(part):
            key = _fixed(written.args[1])
            shape = (
                () if key is None else getitem(np.broadcast_to(0, values[whole].shape), key).shape
            )
            return key if shape == values[part].shape else None
        return None

    def _begins(self, carry: Carry, whole: Carry, key: Any) -> bool:
        """Tell if the first value of a carry is the part of that of another one."""
        if type(carry.first) is not Ref or type(whole.first) is not Ref:
            return False
        first = self.key(carry.first.index, whole.first.index)
        return first is not None and token(first) == token(key)

    def _read(self, out: int, whole: int, key: Any) -> Instr:
        """Return the step that reads a part."""
        self.read.add(out)
        made = self.makers[out] = Instr(getitem, "getitem", (Ref(whole), key), (), out, views=True)
        return made


def _fixed(key: Any) -> Any:
    return key if is_fixed(key) else None
