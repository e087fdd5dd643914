"""The CuPy engine: a program as CuPy source, its elementwise groups as kernels.

A group becomes one `cupy.ElementwiseKernel` with several outputs. A loop of elementwise
operations becomes a kernel in which each thread performs all turns for its element. All other
steps are CuPy calls. No buffers are kept between calls: a call on another stream could write to
them while an earlier call still reads. CuPy's memory pool, which knows of streams, replaces them.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.engines.cupy import calls as cupy_calls
from gradwrap.compiler.engines.cupy.groups import Kernels
from gradwrap.compiler.engines.numpy.buffers import INDENT
from gradwrap.compiler.engines.numpy.engine import definition, import_lines
from gradwrap.compiler.engines.numpy.writer import Writer
from gradwrap.compiler.engines.register import Executable, Unsupported
from gradwrap.compiler.engines.shipped import shipped
from gradwrap.compiler.ir.analysis import liveness
from gradwrap.compiler.ir.operations import ARRAY, COPY, GETITEM, ITEM, MT, SETITEM, Operation
from gradwrap.compiler.ir.program import (
    Block,
    Constant,
    Instr,
    Loop,
    Missed,
    Program,
    Ref,
    Value,
    copy,
    full,
    is_elementwise,
    mapped,
    refs,
)
from gradwrap.core.values.dynamic import LIST, TUPLE, type_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwrap.compiler.engines.numpy.text import Buffer, State

    cupy: Any  # if it is not installed, a type checker takes this file for it
else:
    import cupy


def numpys(program: Program) -> Executable:
    """Refuse a program of NumPy arrays; a program of CuPy arrays goes to `cupy_engine`.

    Raises
    ------
    Unsupported
        Always.
    """
    raise Unsupported("it takes CuPy's arrays, and was given NumPy's. Fix: cupy.asarray(x)")


def cupy_engine(program: Program, *, plainly: bool = False) -> Executable:
    """Compile a program to CuPy calls, with kernels unless `plainly`.

    Raises
    ------
    Unsupported
        CuPy has no such function.
    """
    source = CupySource(_prepared(program), plainly=plainly)
    cupy.cuda.get_current_stream().synchronize()  # other streams may use the constants
    return Executable(source.function, source.text, tuple(source.notes), False, source)


# Preparation for CuPy -----------------------------------------------------------------------------


def _prepared(program: Program) -> Program:
    """Return a program with arrays in place of lists of indices, and single elements as views."""
    constants = dict(program.constants)
    values = list(program.values)

    def entered(content: Any) -> Ref:
        found = np.array(content)
        found = found if found.dtype.kind == "b" else found.astype(np.int64)
        values.append(Value(found.shape, found.dtype, is_ndarray=True))
        constants[len(values) - 1] = Constant(found, False, "")
        return Ref(len(values) - 1)

    def part(one: Any) -> Any:
        return entered(one) if isinstance(one, (LIST, TUPLE)) and not refs(one) else one

    def key(whole: Any) -> Any:
        return tuple(map(part, whole)) if isinstance(whole, TUPLE) else part(whole)

    def keyed(one: Instr) -> Instr:
        if not one.op.has_key:
            return one
        return one.on((one.args[0], key(one.args[1]), *one.args[2:]))

    def step(one: Instr | Loop) -> Instr | Loop:
        if isinstance(one, Loop):
            body = [keyed(i) if isinstance(i, Instr) else step(i) for i in one.body]
            return replace(one, body=body)
        if is_elementwise(one) and not (refs(one.args) or one.kw):  # of numbers, on the host
            value = values[one.out]
            args = (value.shape, one.fn(*one.args), value.dtype)
            return Instr(full, "full", args, (), one.out, line=one.line)
        chosen = _chosen(one, values)
        if chosen is not None:
            return chosen
        return replace(keyed(one), views=one.op is GETITEM) if one.op.has_key else one

    numbers = {  # NumPy returns a number, CuPy a view
        one.out
        for block in program.blocks()
        for one in block.body
        if isinstance(one, Instr) and one.op is GETITEM and not (one.views or values[one.out].shape)
    }
    made: dict[int, Block] = {}
    for block in reversed(list(program.blocks())):
        body = [step(one) for one in block.body]
        branches = {found: made[id(branch)] for found, branch in block.branches.items()}
        result = block.result
        if result is not None:
            viewed = [i for i in {*refs(result.leaves)} if i in numbers]
            copies = dict(zip(viewed, range(len(values), len(values) + len(viewed)), strict=True))
            values += [values[i] for i in viewed]
            body += [Instr(copy, "copy", (Ref(i),), (), copies[i]) for i in viewed]
            leaves = mapped(result.leaves, partial(_renumbered, copies))
            result = result._replace(leaves=leaves)
        made[id(block)] = Block(body, block.guard, branches, result)
    root = made[id(program.root)]
    return replace(program, values=values, constants=constants, root=root)


def _chosen(instr: Instr, values: Any) -> Instr | None:
    """Return a write of one number by a mask as an elementwise choice; None for others.

    For a write by a mask CuPy counts the selected elements, and the host waits for it.
    """
    if instr.op is not SETITEM or not all(type_of(one) is Ref for one in instr.args[:2]):
        return None
    target, mask, number = instr.args
    whole, chosen = values[target.index], values[mask.index]
    if chosen.dtype.kind != "b" or chosen.shape != whole.shape or not whole.shape:
        return None
    if type_of(number) is not Ref:
        number = whole.dtype.type(number)
    elif values[number.index].shape or values[number.index].dtype != whole.dtype:
        return None
    return Instr(np.where, "where", (mask, number, target), (), instr.out, line=instr.line)


def _renumbered(numbers: dict[int, int], leaf: Any) -> Any:
    if type_of(leaf) is not Ref:
        return leaf
    index: int = leaf.index
    return Ref(numbers.get(index, index))


# Source -------------------------------------------------------------------------------------------


class CupySource:
    """A program as a module of CuPy calls, and its function."""

    def __init__(self, program: Program, *, plainly: bool) -> None:
        self._scope: dict[str, Any] = {"np": np, "cp": cupy, "Missed": Missed}
        self._scope["__name__"] = __name__  # gradwrap's own code: nothing adapts it
        kernels = Kernels(program.values, self._defined)
        if not plainly:
            after = liveness(program).after
            made: dict[int, Block] = {}
            for block in reversed(list(program.blocks())):
                body = kernels.body(block.body, after[id(block)])
                branches = {found: made[id(branch)] for found, branch in block.branches.items()}
                made[id(block)] = Block(body, block.guard, branches, block.result)
            program = replace(program, values=kernels.values, root=made[id(program.root)])
        self._kernels = kernels.texts
        self.notes: list[str] = kernels.notes or ["kernels: none"]
        self._writer = _Writer(program, kernels.outputs)
        self._writer.write()
        names = ", ".join(self._writer.parameters)
        self._body = "\n".join([f"def compiled({names}):", *self._writer.lines])
        self._scope.update(self._writer.scope)
        self.function: Callable[..., Any] = self._defined(self._body, "compiled")

    def _defined(self, text: str, name: str) -> Any:
        """Run a text, and return an object that it defines."""
        exec(compile(text, "<gradwrap.compile>", "exec"), self._scope)  # noqa: S102  written here
        return self._scope[name]

    @property
    def arrays(self) -> dict[str, Any]:
        """Return the arrays that the program reads, by their names in the source."""
        return {**self._writer.arrays, **self._writer.by_reference}

    def text(self, npz: str = "constants.npz") -> str:
        """Return the whole module, which reads its arrays from a file beside it."""
        helpers = (cupy_calls.add_at, cupy_calls.add_masked)
        called = shipped(one for one in helpers if one.__name__ in self._writer.scope)
        imports = {"import cupy as cp", "import numpy as np", *called.imports}
        lines = import_lines(imports, pathlib=bool(self.arrays))
        if self._writer.has_special:
            lines.append("from cupyx.scipy import special")
        lines.append("")
        for name, value in self._writer.scope.items():
            lines += definition(name, value)
        if self.arrays:
            lines.append(f"with np.load(pathlib.Path(__file__).with_name({npz!r})) as arrays:")
            lines += [f"{INDENT}{name} = cp.asarray(arrays[{name!r}])" for name in self.arrays]
            lines.append("cp.cuda.get_current_stream().synchronize()")
        for kernel in self._kernels:
            lines += [kernel, ""]
        lines += called.lines
        if self._writer.can_miss:
            lines += ["", "class Missed(Exception):"]
            lines.append(f'{INDENT}"""A value has led to a branch that was not traced."""')
        return "\n".join([*lines, "", self._body, ""])


class _Writer(Writer):
    """Writes a program as CuPy calls, each of which allocates its result."""

    module = "cp"

    def __init__(self, program: Program, outputs: dict[int, int]) -> None:
        super().__init__(program, in_chunks=False)
        self._outputs = outputs
        self._parts: dict[int, list[str]] = {}
        """By tuple of a kernel's outputs: their names."""
        self.has_special: bool = False

    def write(self) -> None:
        super().write()
        for name, array in self.arrays.items():
            self.scope[name] = self.arrays[name] = cupy.asarray(array)

    def instruction(self, instr: Instr, state: State, depth: int, dying: frozenset[int]) -> None:
        count = self._outputs.get(instr.out)
        parts = self._parts.get(instr.args[0].index) if instr.op is ITEM else None
        if count is not None:
            names = self._parts[instr.out] = [self.new_name(instr.line) for _ in range(count)]
            self.line(depth, f"{', '.join(names)} = {self.expression(instr, state)}")
        elif parts is not None:
            state.names[instr.out] = parts[instr.args[1]]
            self.own_result(instr, state.names[instr.out], state)
        else:
            super().instruction(instr, state, depth, dying)

    def takes_out(self, instr: Instr) -> bool:
        return False

    def new_buffer(self, value: Value, most: float | None = None) -> Buffer | None:
        return None

    def write_text(self, how: Operation, name: str, key: Any, value: Any, state: State) -> str:
        is_mask = type_of(key) is Ref and self.values[key.index].dtype.kind == "b"
        if how.scatters and is_mask and self.values[key.index].shape:
            self.scope["add_masked"] = cupy_calls.add_masked
            return f"add_masked({name}, {self.text(key, state)}, {self._nest(value, state)})"
        text = super().write_text(how, name, key, value, state)
        if "add_at" in self.scope:
            self.scope["add_at"] = cupy_calls.add_at
        return text

    def expression(self, instr: Instr, state: State) -> str:
        op = instr.op
        args: Any = instr.args
        if op is COPY:
            return f'{self.text(args[0], state)}.copy("{(*args, "K")[1]}")'
        if op is GETITEM and self.loops and not self.values[instr.out].shape:
            return f"{super().expression(instr, state)}.copy()"  # a view in CuPy, not a number
        if op is ARRAY:
            return self._joined(args[0], args[1], state)
        if op is MT:
            return f"{self._operand(args[0], state)}.swapaxes(-1, -2)"
        if op.method:
            kw = dict(instr.kw)
            axis = args[1] if len(args) > 1 else kw.pop("axis", 0)
            rest = self._arguments((), (("axis", axis), *kw.items()), state)
            return f"{self._operand(args[0], state)}.{op.method}({rest})"
        return super().expression(instr, state)

    def _joined(self, nest: Any, dtype: Any, state: State) -> str:
        """Return the text of an array made from nested values and numbers."""
        if isinstance(nest, (TUPLE, LIST)):
            parts = ", ".join(self._joined(part, dtype, state) for part in nest)
            return f"cp.stack([{parts}])" if parts else f"cp.zeros(0, {self._literal(dtype)})"
        text = self._nest(nest, state)
        if type_of(nest) is not Ref:
            return f"cp.full((), {text}, {self._literal(dtype)})"
        same = self.values[nest.index].dtype == dtype
        return text if same else f"{text}.astype({self._literal(dtype)})"

    def _function(self, instr: Instr) -> str:
        if instr.is_kernel:
            return super()._function(instr)
        name = instr.name
        found = cupy_calls.named(name, instr.fn)
        if found is None:
            raise Unsupported(f"CuPy has no {name}")
        if found.text.startswith("special."):
            self.has_special = True
            self.scope["special"] = cupy_calls.special()
        return found.text
