"""The verifier of programs: it checks their structure and the descriptions of their values.

It runs after each pass if the environment variable `GRADWRAP_CHECK` is 1.
"""

from __future__ import annotations

import itertools
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.ir.evaluate import evaluated
from gradwrap.compiler.ir.layout import IN_ORDER, order_of
from gradwrap.compiler.ir.operations import ITEM, OPAQUE
from gradwrap.compiler.ir.program import (
    NDARRAY,
    UFUNC,
    Loop,
    Missed,
    Ref,
    Value,
    given,
    mapped,
    refs,
)
from gradwrap.errors import CompileError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradwrap.compiler.ir.evaluate import Performed
    from gradwrap.compiler.ir.program import Block, Instr, Program

KINDS = frozenset({"bool", "int", "shape", "elements"})
"""The kinds of guards."""


def is_checking() -> bool:
    """Tell if programs are verified and calls compared with the eager run."""
    return os.environ.get("GRADWRAP_CHECK") == "1"


def verify(
    program: Program,
    after: str,
    arguments: Sequence[Any] | None = None,
    wanted: Sequence[Any] = (),
    seen: Seen | None = None,
) -> tuple[Any, ...]:
    """Check that a program is well formed and that its values match their descriptions.

    Parameters
    ----------
    program
        The program.
    after
        The name of the pass that has run last.
    arguments
        The inputs of a call. If given, the program is also evaluated, and each value compared
        with its description.
    wanted
        The results before the passes. An `exact` program must still return them.
    seen
        What earlier checks of the program have found.

    Returns
    -------
    The results of the program; empty without arguments.

    Raises
    ------
    ProgramError
        The program has a fault.
    """
    try:
        seen = Seen() if seen is None else seen
        _Structure(program, seen.steps).check()
        found = () if arguments is None else _evaluated(program, arguments, seen.performed)
        if program.exact:
            same = all(map(_is_identical, wanted, found))
            _require(same, "it has changed the results, and has left the program `exact`")
    except _Fault as fault:
        raise ProgramError(
            f"the program is wrong after the pass {after!r}: {fault}. This is a defect of gradwrap."
        ) from fault
    return found


PRIVATE = "scipy.special._ufuncs."
"""Where the ufuncs are that functions of `scipy.special` call."""


class Seen:
    """What the checks of a program have found that holds after each pass: steps never change."""

    def __init__(self) -> None:
        self.steps: dict[int, Instr] = {}
        """The steps that are right in themselves, by their identities."""
        self.performed: dict[int, Performed] = {}
        """What they gave for the arguments."""


class _Same:
    """A part of a program that never changes; equal to itself alone."""

    __slots__ = ("part",)

    def __init__(self, part: object) -> None:
        self.part: object = part

    def __eq__(self, other: object) -> bool:
        return type(other) is _Same and other.part is self.part

    __hash__ = object.__hash__


def parts_of(program: Program) -> list[object]:
    """Return what a program is made of; equal lists are of the same steps and values.

    A program that a pass has left as it was need not be verified again.
    """
    found: list[object] = [program.names, program.inputs, len(program.values)]
    found += map(_Same, program.values)
    for index, constant in program.constants.items():
        found += (index, _Same(constant.array))
    waiting, seen = [program.root], set[int]()
    while waiting:
        block = waiting.pop()
        if id(block) in seen:  # which a faulty program may have within itself
            continue
        seen.add(id(block))
        found += (_Same(block.guard), _Same(block.result), *block.branches, len(block.body))
        _add_parts(block.body, found)
        waiting += block.branches.values()
    return found


def _add_parts(body: Sequence[Instr | Loop], found: list[object]) -> None:
    for step in body:
        if isinstance(step, Loop):
            held = step.reads.items(), step.stacks.items(), step.finals.items()
            found += (
                step.turns,
                step.count,
                len(step.body),
                *map(len, held),
                *map(_Same, step.carries),
            )
            for index, part in itertools.chain(*held):
                found += (index, part)
            _add_parts(step.body, found)
        else:
            found.append(_Same(step))


def _is_identical(wanted: Any, found: Any) -> bool:
    """Tell if two results have equal elements; NaNs are equal."""
    is_array = isinstance(wanted, (NDARRAY, np.generic))
    equal_nan = is_array and wanted.dtype.kind in "fc"
    return wanted is found or (
        type(wanted) is type(found) and np.array_equal(wanted, found, equal_nan=equal_nan)
    )


class ProgramError(CompileError):
    """The compiler has made a malformed program, or one that contradicts its descriptions."""


class _Fault(Exception):  # noqa: N818  `verify` turns it into an error
    """A program violates the definition in `program.py`."""


def _require(condition: object, fault: str) -> None:
    if not condition:
        raise _Fault(fault)


# Structure ----------------------------------------------------------------------------------------


class _Structure:
    """The check of definitions, operands, branches and loops."""

    def __init__(self, program: Program, right: dict[int, Instr]) -> None:
        self.program, self.right = program, right
        self.values = program.values
        self.given: set[int] = set()
        """All values defined in any block."""

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
            self._check_body(block.body, known)
            self._check_end(block, known)
            waiting += [(branch, set(known)) for branch in block.branches.values()]

    def _check_body(self, body: Sequence[Instr | Loop], known: set[int]) -> None:
        for step in body:
            if isinstance(step, Loop):
                self._check_loop(step, known)
            else:
                self._check_step(step, known)
            for out in given(step):
                self._give(out, step)
                known.add(out)

    def _give(self, index: int, what: str | Instr | Loop) -> None:
        if not 0 <= index < len(self.values):
            raise _Fault(f"{_shown(what)} gives t{index}, which has no description")
        if index in self.given:
            raise _Fault(f"{_shown(what)} gives t{index}, which is given before")
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

    def _check_known(self, nest: Any, known: set[int], what: str | Instr | Loop) -> None:
        self._check_read(refs(nest), known, what)

    def _check_read(self, reads: Sequence[int], known: set[int], what: str | Instr | Loop) -> None:
        for index in reads:
            if index not in known:
                raise _Fault(f"{_shown(what)} reads t{index} before it is given")

    def _check_step(self, step: Instr, known: set[int]) -> None:
        self._check_read(step.reads, known, step)
        if self.right.get(id(step)) is not step:
            self._check_alone(step)
            self.right[id(step)] = step
        if step.op is ITEM:
            whole, place = step.args
            number: int = whole.index
            _require(self.values[number].is_tuple, f"{_shown(step)} takes a part of no tuple")
            _require(type(place) in (int, str), f"{_shown(step)} takes part {place!r}")

    def _check_alone(self, step: Instr) -> None:
        leaves: list[Any] = []
        mapped((step.args, step.kw), leaves.append)
        if any(isinstance(leaf, NDARRAY) for leaf in leaves):
            raise _Fault(f"{_shown(step)} has an array as a literal")
        words = [word for word, _ in step.kw]
        if words != sorted(set(words)):
            raise _Fault(f"{_shown(step)} has keywords out of order")
        fn: Any = step.fn
        if isinstance(fn, UFUNC):
            if step.name not in [f"{path}{fn.__name__}" for path in ("", OPAQUE, PRIVATE)]:
                raise _Fault(f"{_shown(step)} calls {fn.__name__}")
            if len(step.args) != fn.nin:
                raise _Fault(f"{_shown(step)} has {len(step.args)} operands")

    def _check_loop(self, loop: Loop, known: set[int]) -> None:
        what, values = _shown(loop), self.values
        _require(loop.turns > 0, f"{what} has no turns")
        if loop.count is not None:
            self._check_known(loop.count, known, what)
            value = values[refs(loop.count)[0]] if refs(loop.count) else None
            is_integer = value is not None and value.dtype == np.int64 and not value.shape
            _require(is_integer, f"{what} performs {loop.count!r} turns")
            carried = {carry.next for carry in loop.carries}
            _require(carried >= loop.finals.keys(), f"{what} gives what it may not have computed")
        for index, stack in loop.reads.items():
            self._check_known(stack, known, what)
            part = values[index]
            number: int = stack.index
            whole = values[number]
            same = (whole.shape, whole.dtype) == ((loop.turns, *part.shape), part.dtype)
            _require(same, f"{what} reads {part} of {whole}")
        for carry in loop.carries:
            self._check_known(carry.first, known, what)
            value, first, after = values[carry.value], carry.first, values[carry.next]
            found = values[first.index] if type(first) is Ref else value._replace(shape=())
            _require(_same(found, value), f"{what} begins with {found} in place of {value}")
            _require(_same(after, value), f"{what} hands on {after} in place of {value}")
        for index in loop.found:
            self._give(index, what)
        _require(len(loop.found) == len(loop.reads) + len(loop.carries), f"{what} finds one twice")
        self._check_body(loop.body, known | loop.found)
        own = {out for step in loop.body for out in given(step)}
        _require(own >= loop.handed_on, f"{what} hands on what no step of it gives")
        nexts = [carry.next for carry in loop.carries]
        _require(len(nexts) == len({*nexts}), f"{what} hands on one value twice")
        for index, out in loop.stacks.items():
            part, whole = values[index], values[out]
            same = (whole.shape, whole.dtype) == ((loop.turns, *part.shape), part.dtype)
            _require(same and whole.order == "C", f"{what} stacks {part} to {whole}")
        for index, out in loop.finals.items():
            _require(values[index] == values[out], f"{what} gives {values[index]} as {values[out]}")


def _same(one: Value, other: Value) -> bool:
    """Tell if two values have the same shape and dtype."""
    return (one.shape, one.dtype) == (other.shape, other.dtype)


def _shown(step: str | Instr | Loop) -> str:
    if isinstance(step, str):
        return step
    line = f" (line {step.line})" if step.line else ""
    if isinstance(step, Loop):
        return f"a loop of {step.turns} turns{line}"
    return f"{step.name}{step.args!r}{line}"


# Values -------------------------------------------------------------------------------------------


def _evaluated(
    program: Program, arguments: Sequence[Any], kept: dict[int, Performed]
) -> tuple[Any, ...]:
    """Evaluate a program and compare each value with its description."""
    guards = [block.guard for block in program.blocks() if block.guard is not None]
    varying = {guard.value.index for guard in guards if guard.kind == "shape"}

    def observe(step: Instr | Loop, index: int, found: Any) -> None:
        fault = "" if index in varying else misdescribed(program.values[index], found)
        if fault:
            raise _Fault(f"{_shown(step)} gives t{index}: {fault}")

    for index, constant in program.constants.items():
        fault = misdescribed(program.values[index], constant.array)
        _require(not fault, f"constant t{index} is {fault}")
    for index, argument in zip(program.inputs, arguments, strict=True):
        fault = misdescribed(program.values[index], argument)
        _require(not fault, f"input t{index} is {fault}")
    with np.errstate(all="ignore"):
        try:
            return evaluated(program, arguments, observe, kept)
        except Missed as missed:
            raise _Fault("it takes another branch than the trace") from missed


def misdescribed(value: Value, found: Any) -> str:
    """Return how a value differs from its description, or ""."""
    if value.is_tuple:
        return "" if isinstance(found, (tuple, list)) else f"{found!r} in place of several outputs"
    if not isinstance(found, (NDARRAY, np.generic)):
        same = value.is_number and not value.shape
        return "" if same else f"a {type(found).__name__} in place of {value}"
    is_ndarray = isinstance(found, NDARRAY)
    order = order_of(found) if is_ndarray else "C"
    if value.order == "?" or (value.order == "S" and order in IN_ORDER):
        order = value.order
    shape, dtype = found.shape, found.dtype
    told = value.shape, value.dtype, value.is_ndarray, value.order
    if (shape, dtype, is_ndarray, order) == told:
        return ""
    described = Value(shape, dtype, is_ndarray, is_number=value.is_number, order=order)
    return f"{described} in place of {value}"
