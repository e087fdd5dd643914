"""The verifier of programs: their structure, and the descriptions of their values.

It runs after each pass if the environment variable `GRADWRAP_CHECK` is 1.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.ir.evaluate import evaluated
from gradwrap.compiler.ir.layout import IN_ORDER, order_of
from gradwrap.compiler.ir.program import (
    NDARRAY,
    UFUNC,
    Cur,
    Instr,
    Loop,
    Missed,
    Prev,
    Ref,
    Turn,
    Value,
    given,
    mapped,
    refs,
)
from gradwrap.core.values.dynamic import type_of
from gradwrap.errors import CompileError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradwrap.compiler.ir.program import Block, Program, Row

KINDS = frozenset({"bool", "int", "shape"})
"""The kinds of guards."""


def is_checking() -> bool:
    """Tell if programs are to be verified, and calls compared with eager."""
    return os.environ.get("GRADWRAP_CHECK") == "1"


def verify(program: Program, after: str, arguments: Sequence[Any] | None = None) -> None:
    """Make sure that a program is well formed, and that it is what its values' descriptions say.

    Parameters
    ----------
    program
        The program.
    after
        The name of the pass that has run last.
    arguments
        The inputs of a call. With them the program is evaluated too, and each value compared with
        its description.

    Raises
    ------
    ProgramError
        The program has a fault.
    """
    try:
        _Structure(program).check()
        if arguments is not None:
            _check_values(program, arguments)
    except _Fault as fault:
        raise ProgramError(
            f"the program is wrong after the pass {after!r}: {fault}. This is a defect of gradwrap."
        ) from fault


class ProgramError(CompileError):
    """The compiler has made a program that is not well formed, or not what its values say."""


class _Fault(Exception):  # noqa: N818  `verify` makes an error of it
    """A program is not as `program.py` defines programs."""


def _require(condition: object, fault: str) -> None:
    if not condition:
        raise _Fault(fault)


# Structure ----------------------------------------------------------------------------------------


class _Structure:
    """The check of definitions, operands, branches and loops."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.values = program.values
        self.given: set[int] = set()
        """All values that any block gives."""

    def check(self) -> None:
        program = self.program
        _require(len(program.names) == len(program.inputs), "inputs and names differ in number")
        for index in program.inputs:
            self._give(index, "an input")
        for index, constant in program.constants.items():
            self._give(index, "a constant")
            shape, dtype = constant.array.shape, constant.array.dtype
            told = (self.values[index].shape, self.values[index].dtype)
            _require(told == (shape, dtype), f"constant t{index} is {dtype}{shape}, not {told}")
        waiting: list[tuple[Block, set[int]]] = [(program.root, set(self.given))]
        while waiting:
            block, known = waiting.pop()
            for step in block.body:
                if isinstance(step, Loop):
                    self._check_loop(step, known)
                else:
                    self._check_step(step, known)
                for out in given(step):
                    self._give(out, _shown(step))
                    known.add(out)
            self._check_end(block, known)
            waiting += [(branch, set(known)) for branch in block.branches.values()]

    def _give(self, index: int, what: str) -> None:
        _require(0 <= index < len(self.values), f"{what} gives t{index}, which has no description")
        _require(index not in self.given, f"{what} gives t{index}, which is given before")
        self.given.add(index)

    def _check_end(self, block: Block, known: set[int]) -> None:
        if block.guard is None:
            _require(block.result is not None, "a block has neither a guard nor a result")
            _require(not block.branches, "a block without a guard has branches")
            self._check_known(block.result.leaves if block.result else (), known, "the result")
            return
        _require(block.result is None, "a block has a guard and a result")
        _require(block.guard.kind in KINDS, f"a guard looks at the {block.guard.kind} of a value")
        _require(block.branches, "a guard has no branches")
        self._check_known(block.guard.value, known, "a guard")

    def _check_known(self, nest: Any, known: set[int], what: str) -> None:
        for index in refs(nest):
            _require(index in known, f"{what} reads t{index} before it is given")

    def _check_step(self, step: Instr, known: set[int]) -> None:
        what = _shown(step)
        self._check_known((step.args, step.kw), known, what)
        self._check_operands(step, what)
        for kind in (Cur, Prev, Turn):
            _require(not _has(step.args, kind), f"{what} has an operand of a loop")
        if step.name == "item":
            whole, place = step.args
            _require(self.values[whole.index].is_tuple, f"{what} takes a part of no tuple")
            _require(type(place) is int, f"{what} takes part {place!r}")

    def _check_operands(self, step: Instr | Row, what: str) -> None:
        """Check what an operation of a body and one of a loop have in common."""
        _require(not _has((step.args, step.kw), NDARRAY), f"{what} has an array as a literal")
        words = [word for word, _ in step.kw]
        _require(words == sorted(set(words)), f"{what} has keywords out of order")
        fn: Any = step.fn
        if isinstance(fn, UFUNC):
            _require(fn.__name__ == step.name, f"{what} calls {fn.__name__}")
            _require(len(step.args) == fn.nin, f"{what} has {len(step.args)} operands")

    def _check_loop(self, loop: Loop, known: set[int]) -> None:
        _require(loop.turns > 0, f"a loop has {loop.turns} turns")
        for number, row in enumerate(loop.rows):
            what = f"row {number} of a loop, {row.name}{row.args!r},"
            self._check_known((row.args, row.kw), known, what)
            self._check_operands(row, what)

            def check(leaf: Any, number: int = number, what: str = what) -> Any:
                kind = type_of(leaf)
                if kind is Cur:
                    _require(0 <= leaf.row < number, f"{what} reads a row after it")
                elif kind is Prev:
                    _require(0 <= leaf.row < len(loop.rows), f"{what} reads no row")
                    self._check_first(loop.rows[leaf.row].value, leaf.init, what)
                elif kind is Turn:
                    shape = self.values[leaf.stack.index].shape
                    _require(shape[:1] == (loop.turns,), f"{what} reads turns of {shape}")
                return leaf

            mapped((row.args, row.kw), check)
        for row, out in (*loop.stacks.items(), *loop.finals.items()):
            _require(0 <= row < len(loop.rows), f"a loop gives t{out} of no row")
        for row, out in loop.stacks.items():
            one, whole = loop.rows[row].value, self.values[out]
            same = (whole.shape, whole.dtype) == ((loop.turns, *one.shape), one.dtype)
            _require(same, f"a loop of {loop.turns} turns stacks {one} to {whole}")
        for row, out in loop.finals.items():
            one, whole = loop.rows[row].value, self.values[out]
            _require(one == whole, f"a loop gives {one} as {whole}")

    def _check_first(self, value: Value, init: Any, what: str) -> None:
        """Check what a row reads in the first turn in place of a value of the turn before."""
        if type(init) is Ref:
            first = self.values[init.index]
            same = (first.shape, first.dtype) == (value.shape, value.dtype)
            _require(same, f"{what} begins with {first} in place of {value}")
        else:
            _require(not value.shape, f"{what} begins with {init!r} in place of {value}")


def _has(nest: Any, kind: type[Any]) -> bool:
    """Tell if a nest has a leaf of a type."""
    found: list[Any] = []
    mapped(nest, lambda leaf: found.append(leaf) if isinstance(leaf, kind) else None)
    return bool(found)


def _shown(step: Instr | Loop | Row) -> str:
    if isinstance(step, Loop):
        return f"a loop of {step.turns} turns"
    line = f" (line {step.line})" if step.line else ""
    return f"{step.name}{step.args!r}{line}"


# Values -------------------------------------------------------------------------------------------


def _check_values(program: Program, arguments: Sequence[Any]) -> None:
    """Evaluate a program, and compare each value with its description."""
    guards = [block.guard for block in program.blocks() if block.guard is not None]
    varying = {guard.value.index for guard in guards if guard.kind == "shape"}

    def observe(step: Instr | Loop | Row, value: Value, found: Any) -> None:
        if isinstance(step, Instr) and step.out in varying:
            return
        fault = misdescribed(value, found)
        _require(not fault, f"{_shown(step)} gives {fault}")

    for index, constant in program.constants.items():
        fault = misdescribed(program.values[index], constant.array)
        _require(not fault, f"constant t{index} is {fault}")
    for index, argument in zip(program.inputs, arguments, strict=True):
        fault = misdescribed(program.values[index], argument)
        _require(not fault, f"input t{index} is {fault}")
    with np.errstate(all="ignore"):
        try:
            evaluated(program, arguments, observe)
        except Missed as missed:
            raise _Fault("it takes another branch than the trace") from missed


def misdescribed(value: Value, found: Any) -> str:
    """Say how a value differs from its description; "" if it does not."""
    if value.is_tuple:
        return "" if isinstance(found, (tuple, list)) else f"{found!r} in place of several outputs"
    if not isinstance(found, (NDARRAY, np.generic)):
        same = value.is_number and not value.shape
        return "" if same else f"a {type(found).__name__} in place of {value}"
    is_ndarray = isinstance(found, NDARRAY)
    order = order_of(found) if is_ndarray else "C"
    if value.order == "?" or (value.order == "S" and order in IN_ORDER):
        order = value.order
    described = Value(found.shape, found.dtype, is_ndarray, is_number=value.is_number, order=order)
    return "" if described == value else f"{described} in place of {value}"
