"""The NumPy engine: a program as NumPy source with reused buffers.

Workspaces are kept between calls, one for each call that ran at the same time.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.engines.numpy.buffers import INDENT
from gradwrap.compiler.engines.numpy.factors import keep_factors
from gradwrap.compiler.engines.numpy.tangents import SHARED
from gradwrap.compiler.engines.numpy.text import NUMBER, SHIPPED
from gradwrap.compiler.engines.numpy.writer import Writer
from gradwrap.compiler.engines.register import UNNOTICED, Executable
from gradwrap.compiler.ir.program import NDARRAY, Instr, Program, Value
from gradwrap.compiler.ir.runtime import aligned

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwrap.compiler.engines.numpy.text import Room


LONG = 1 << 14
"""The least bytes of a buffer that is aligned."""


class Source:
    """A program as text, and the objects that the text names."""

    def __init__(self, program: Program, *, in_chunks: bool = True, threads: int = 1) -> None:
        writer = Writer(program, in_chunks=in_chunks, threads=threads)
        self.writer: Writer = writer
        writer.write()
        self.workspace: list[Room] = writer.workspace
        every = [name for room in self.workspace for name in room.buffers.values()]
        names = ", ".join(every) + "," * (len(every) == 1)
        quiet = ", ".join(f'{kind}="ignore"' for kind in program.quiet)
        lines = [f"@np.errstate({quiet})"] if quiet else []
        lines.append(f"def compiled({', '.join(writer.parameters)}):")
        back = f"WORKSPACES.append(({names}))"
        if names:
            lines += [
                f"{INDENT}try:",
                f"{INDENT * 2}{names} = WORKSPACES.pop()",
                f"{INDENT}except IndexError:",
            ]
            for room in self.workspace:
                lines += [INDENT * 2 + line for line in self._made(room)]
        for number, line in enumerate(writer.lines):
            if names and number in writer.returns:
                lines.append(INDENT * writer.returns[number] + back)
            lines.append(line)
        self.body: str = "\n".join(lines)

    def _made(self, room: Room) -> list[str]:
        """Return the lines that make the buffers of a room."""
        shape, name = next(iter(room.buffers.items()))
        size = shape if len(room.buffers) == 1 else (room.size,)
        made = self._kept_array(Value(size, room.dtype, is_ndarray=True))
        parts = [] if len(room.buffers) == 1 else [*room.buffers.items()][::-1]
        return [
            f"{name} = {made}",
            *(f"{one} = {name}[:{math.prod(of)}].reshape({of!r})" for of, one in parts),
        ]

    def _kept_array(self, value: Value) -> str:
        """Return the text of a buffer of the workspace."""
        text = self.writer.new_array("empty", value)
        if math.prod(value.shape) * value.dtype.itemsize < LONG:
            return text
        self.writer.scope["aligned"] = aligned
        return f"aligned{text.removeprefix('np.empty')}"

    @property
    def arrays(self) -> dict[str, Any]:
        """Return the arrays that the program reads, by their names in the source."""
        return {**self.writer.arrays, **self.writer.by_reference}

    def text(self, npz: str = "constants.npz") -> str:
        """Return the whole module, which reads its arrays from a file beside it."""
        from gradwrap.compiler.engines.shipped import shipped

        writer = self.writer
        known = SHIPPED.union(SHARED, ("aligned", "add_at"))
        called = shipped(one for name, one in writer.scope.items() if name in known)
        lines = import_lines({"import numpy as np", *called.imports}, pathlib=bool(self.arrays))
        by_module: dict[str, list[str]] = {}
        for name, module in writer.imports.items():
            by_module.setdefault(module, []).append(name)
        lines += [f"import {module}" for module in sorted(writer.modules)]
        lines += [f"from {m} import {', '.join(sorted(n))}" for m, n in sorted(by_module.items())]
        lines.append("")
        for name, value in writer.scope.items():
            if isinstance(value, NDARRAY) and name[:1] == "c" and name[1:].isdigit():
                number, kind = _python_number(value.item()), self._named_dtype(value.dtype)
                lines.append(f"{name} = np.array({number}{kind})")
            else:
                lines += definition(name, value)
        if self.arrays:
            lines.append(f"with np.load(pathlib.Path(__file__).with_name({npz!r})) as arrays:")
            lines += [f"{INDENT}{name} = arrays[{name!r}]" for name in self.arrays]
        if writer.workspace:
            lines.append("WORKSPACES = []")
        lines += called.lines
        if writer.can_miss:
            lines += ["", "", "class Missed(Exception):"]
            lines.append(f'{INDENT}"""A value has led to a branch that was not traced."""')
        return "\n".join([*lines, "", "", self.body, ""])

    def _named_dtype(self, dtype: Any) -> str:
        return "" if dtype == np.float64 else f", np.{dtype.name}"

    def function(self) -> Callable[..., Any]:
        """Run the text, and return the function that it defines."""
        scope: dict[str, Any] = {**self.writer.scope, "WORKSPACES": []}
        scope["__name__"] = __name__  # gradwrap's own code: nothing adapts it
        exec(compile(self.body, "<gradwrap.compile>", "exec"), scope)  # noqa: S102  written here
        found: Callable[..., Any] = scope["compiled"]
        return found


def import_lines(imports: set[str], *, pathlib: bool) -> list[str]:
    """Return the lines that a module begins with: Python's own modules, then the others."""
    imports = imports | {"import pathlib"} if pathlib else imports
    own = {line for line in imports if line.split()[1] in sys.stdlib_module_names}
    return [*sorted(own), *([""] if own else []), *sorted(imports - own)]


def definition(name: str, value: Any) -> list[str]:
    """Return the line that names a number or a dtype; an empty list for other objects."""
    if isinstance(value, NUMBER):
        return [f"{name} = {_number(value)}"]
    if isinstance(value, np.dtype):
        return [f'{name} = np.dtype("{value.str}")']
    if isinstance(value, bytes):
        return [f"{name} = {value!r}"]
    return [f"{name} = {_python_number(value)}"] if isinstance(value, (float, complex)) else []


def _number(value: Any) -> str:
    text = f"np.{value.dtype.name}"
    plain = value.item()
    return (
        f"{text}({_python_number(plain) if isinstance(plain, (float, complex)) else repr(plain)})"
    )


def _python_number(value: Any) -> str:
    if isinstance(value, complex):
        return f"complex({_python_number(value.real)}, {_python_number(value.imag)})"
    return repr(value) if math.isfinite(value) else f'float("{value!r}")'


def numpy_engine(program: Program, *, in_chunks: bool = True) -> Executable:
    """Write a program as NumPy source, and compile it to a function."""
    program = keep_factors(program) if in_chunks else program
    source = Source(program, in_chunks=in_chunks, threads=program.threads)
    notes = [f"workspace: {source.writer.bytes} bytes in {len(source.workspace)} buffers"]
    if source.writer.chunks:
        notes.append(f"chunks of {', '.join(map(str, source.writer.chunks))} elements")
    exact = program.exact and not source.writer.chunks
    if not any(isinstance(step, Instr) and step.is_kernel for step in program.root.body):
        notes.insert(0, f"threads: {source.writer.used_threads}")
    notes += source.writer.notes
    notices = not source.writer.has_element_loops
    if not notices:
        notes.append(UNNOTICED)
    return Executable(source.function(), source.text, tuple(notes), exact, notices_errors=notices)
