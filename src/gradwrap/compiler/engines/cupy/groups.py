"""CuPy kernels: the instructions that form one, and its source.

A kernel is text that defines a callable, with `cp` for CuPy: a `cupy.ElementwiseKernel` for a group
of elementwise instructions, and a function that launches a kernel for a loop of them.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

from gradwrap.compiler.engines.cupy.operations import TYPES, converted, elementwise, literal
from gradwrap.compiler.engines.groups import scheduled
from gradwrap.compiler.ir.program import Instr, Loop, Ref, Value, filled_with, given, item, used

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from gradwrap.compiler.engines.c.operations import Elementwise

    Step: TypeAlias = Instr | Loop

MOST_OPERATIONS = 400
"""The most operations of a kernel, since compile time grows faster than linearly."""
PARAMETERS = 4000
"""The most bytes of a kernel's parameters."""
MOST_ARGUMENTS = 100


class Kernels:
    """The kernels of a program, and the bodies that call them."""

    def __init__(self, values: Sequence[Value], define: Callable[[str, str], Any]) -> None:
        self.values: list[Value] = list(values)
        self.texts: list[str] = []
        self.notes: list[str] = []
        self.outputs: dict[int, int] = {}
        """By tuple of a kernel's outputs: their number."""
        self._uniform: dict[int, Any] = {}
        """By array filled with one number: the number."""
        self._define = define
        """Runs a text, and returns an object that it defines."""

    def body(self, body: Sequence[Step], live: set[int]) -> list[Step]:
        """Return the steps of a block with kernels; `live` are the values live after them."""
        for step in body:
            if isinstance(step, Instr):
                number: Any = filled_with(step)
                if number is not None and type(number) is not Ref:
                    self._uniform[step.out] = number
        users = Counter(index for step in body for index in {*used(step)})
        units: list[list[Step]] = []
        for unit in scheduled(body, self._shape_of):
            steps = list(unit.steps)
            units += [steps] if unit.shape is None else self._cut(steps, users, live)
        made: list[Step] = []
        for steps in units:
            first = steps[0]
            if isinstance(first, Loop):
                made += self._loop(first) or steps
            elif len(steps) > 1:
                made += self._group(steps, self._outputs(steps, users, live))
            else:
                made += steps
        needed = live.union(*map(used, made))
        return [one for one in made if needed & {*given(one)}]

    def _shape_of(self, instr: Instr) -> tuple[int, ...] | None:
        value = self.values[instr.out]
        return None if elementwise(instr, self.values, value) is None else value.shape

    def _outputs(self, steps: Sequence[Step], users: Counter[int], live: set[int]) -> list[int]:
        """Return the results of these steps that later steps read."""
        here = Counter(index for step in steps for index in {*used(step)})
        return [i for step in steps for i in given(step) if i in live or users[i] > here[i]]

    def _cut(self, steps: list[Step], users: Counter[int], live: set[int]) -> list[list[Step]]:
        """Split a group that is too long for one kernel."""
        inside = {index for step in steps for index in given(step)}
        inputs = {index for step in steps for index in used(step)} - inside
        count = len(inputs) + len(self._outputs(steps, users, live))
        axes = max(len(self.values[index].shape) for index in inside)
        most = min(MOST_ARGUMENTS, PARAMETERS // (16 + 16 * max(axes, 1)))
        if len(steps) == 1 or (len(steps) <= MOST_OPERATIONS and count <= most):
            return [steps]
        middle = len(steps) // 2
        return [
            *self._cut(steps[:middle], users, live),
            *self._cut(steps[middle:], users, live),
        ]

    def _group(self, steps: Sequence[Step], outs: list[int]) -> list[Step]:
        """Make a kernel of a group, with instructions that launch it and unpack its outputs."""
        name = f"kernel{len(self.texts)}"
        text = _Text(self.values)
        shape = self.values[outs[0]].shape
        inputs = {index for step in steps for index in used(step)}
        inputs -= {index for step in steps for index in given(step)}
        if any(self.values[index].shape == shape for index in inputs - self._uniform.keys()):
            text.uniform = self._uniform  # other arguments have the shape
        lines: list[str] = []
        written: list[str] = []
        for step in steps:
            assert isinstance(step, Instr)
            value = self.values[step.out]
            found = elementwise(step, self.values, value)
            assert found is not None
            line = text.expression(found, value)
            lines.append(f"const {TYPES[value.dtype]} t{step.out} = {line};")
            text.known[step.out] = f"t{step.out}"
            if step.out in outs:
                written.append(f"{value.dtype.name} o{step.out}")
                lines.append(f"o{step.out} = t{step.out};")
        kernel = _kernel_text(text.parameters, written, lines, f"gradwrap_{name}")
        self.texts.append(f"{name} = {kernel}")
        self.notes.append(
            f"{name}: {len(steps)} operations, {len(text.leaves)} inputs, {len(outs)} outputs"
        )
        function = self._define(self.texts[-1], name)
        return self._calls(function, name, tuple(text.leaves), outs)

    def _calls(
        self, function: Any, name: str, args: tuple[Any, ...], outs: Sequence[int]
    ) -> list[Step]:
        if len(outs) == 1:
            return [Instr(function, name, args, (), outs[0], is_kernel=True)]
        self.values.append(Value((), None, is_ndarray=False, is_tuple=True))
        whole = len(self.values) - 1
        self.outputs[whole] = len(outs)
        made: list[Step] = [Instr(function, name, args, (), whole, is_kernel=True)]
        made += [Instr(item, "item", (Ref(whole), k), (), out) for k, out in enumerate(outs)]
        return made

    # Loops ----------------------------------------------------------------------------------------

    def _loop(self, loop: Loop) -> list[Step] | None:
        """Make a kernel of a loop in which each element depends only on the same element."""
        values = self.values
        instrs = [one for one in loop.body if isinstance(one, Instr)]
        if len(instrs) > MOST_OPERATIONS:
            return None
        shapes = {values[index].shape for index in (*(one.out for one in instrs), *loop.reads)}
        steps = [elementwise(one, values, values[one.out]) for one in instrs]
        if len(shapes) != 1 or None in steps or len(steps) < len(loop.body):
            return None
        (shape,) = shapes
        name = f"loop{len(self.texts)}"
        text = _Text(values)
        at = f"[k * {math.prod(shape)} + i]"
        rows = {one.out: row for row, one in enumerate(instrs)}
        for index, stack in loop.reads.items():
            text.known[index] = f"{text.argument(stack, raw=True)}{at}"
        before: list[str] = []
        moves: list[str] = []
        for carry in loop.carries:
            dtype, row = values[carry.value].dtype, rows[carry.next]
            before.append(f"{TYPES[dtype]} p{row} = {text.operand(carry.first, dtype)};")
            text.known[carry.value] = f"p{row}"
            moves.append(f"p{row} = t{row};")
        lines: list[str] = []
        for row, (one, found) in enumerate(zip(instrs, steps, strict=True)):
            assert found is not None
            value = values[one.out]
            lines.append(f"const {TYPES[value.dtype]} t{row} = {text.expression(found, value)};")
            text.known[one.out] = f"t{row}"
        stacks = {rows[index]: out for index, out in loop.stacks.items()}
        finals = {rows[index]: out for index, out in loop.finals.items()}
        lines += [f"y{row}{at} = t{row};" for row in stacks]
        ends = sorted(finals or {0})  # one output at least, for the number of elements
        lines += [f"if (k == {loop.turns - 1}) z{row} = t{row};" for row in ends]
        lines += moves
        turns = f"for (long long k = 0; k < {loop.turns}; ++k) {{"
        lines = [*before, turns, *(f"    {line}" for line in lines), "}"]
        written = {f"z{row}": (shape, values[instrs[row].out].dtype, "") for row in ends}
        for row, out in stacks.items():
            written[f"y{row}"] = (self.values[out].shape, self.values[out].dtype, "raw ")
        outputs = [f"{raw}{dtype.name} {word}" for word, (_, dtype, raw) in written.items()]
        kernel = _kernel_text(text.parameters, outputs, lines, f"gradwrap_{name}")
        names = [word.split()[-1] for word in text.parameters]
        results = [*(f"y{row}" for row in stacks), *(f"z{row}" for row in finals)]
        definition = [f"{name}_kernel = {kernel}", "", "", f"def {name}({', '.join(names)}):"]
        for word, (of, dtype, _) in written.items():
            definition.append(f'    {word} = cp.empty({of!r}, "{dtype.name}")')
        definition.append(f"    {name}_kernel({', '.join([*names, *written])})")
        definition.append(f"    return {', '.join(results)}")
        self.texts.append("\n".join(definition))
        where = f"line {loop.line}" if loop.line else "a backward pass"
        self.notes.append(f"{name}: {loop.turns} turns of {len(instrs)} operations, {where}")
        function = self._define(self.texts[-1], name)
        return self._calls(function, name, tuple(text.leaves), loop.outs)


class _Text:
    """The expressions of a kernel, and the arguments that they read."""

    def __init__(self, values: Any) -> None:
        self.values = values
        self.known: dict[int, str] = {}
        """By value: its name in the kernel."""
        self.uniform: dict[int, Any] = {}
        """By array filled with one number: the number, written as a literal."""
        self.leaves: list[Any] = []
        self.parameters: list[str] = []

    def argument(self, leaf: Any, *, raw: bool = False) -> str:
        """Add an argument, and return its name."""
        dtype = self.values[leaf.index].dtype if type(leaf) is Ref else leaf.dtype
        name = f"a{len(self.leaves)}"
        self.leaves.append(leaf)
        self.parameters.append(f"{'raw ' if raw else ''}{dtype.name} {name}")
        return name

    def operand(self, leaf: Any, dtype: Any) -> str:
        """Return the text of an operand converted to a dtype."""
        if type(leaf) is not Ref:
            text = literal(leaf, dtype)
            return self.argument(dtype.type(leaf)) if text is None else text
        value = self.values[leaf.index]
        if leaf.index in self.uniform:
            text = literal(value.dtype.type(self.uniform[leaf.index]), dtype)
            if text is not None:
                return text
        text = self.known.get(leaf.index)
        if text is None:
            text = self.known[leaf.index] = self.argument(leaf)
        return converted(text, value.dtype, dtype)

    def expression(self, step: Elementwise, value: Value) -> str:
        """Return the text of an instruction."""
        parts = [
            self.operand(leaf, dtype)
            for leaf, dtype in zip(step.operands, step.dtypes, strict=True)
        ]
        text = step.expression.format(*parts)
        if step.result == value.dtype:
            return text
        return converted(f"({text})", step.result, value.dtype)


def _kernel_text(ins: Sequence[str], outs: Sequence[str], lines: Sequence[str], name: str) -> str:
    """Return the source of the call that makes an elementwise kernel."""
    body = "".join(f"    {line}\n" for line in lines)
    arguments = [f'"{", ".join(ins)}"', f'"{", ".join(outs)}"', f'"""\n{body}    """', f'"{name}"']
    return "cp.ElementwiseKernel(\n{}\n)".format("\n".join(f"    {one}," for one in arguments))
