"""The C engine: stretches of a program become functions in C, the rest stays with NumPy.

A program is cut into phases. The kernel of a phase performs every step that C can perform on the
values known by then; the NumPy calls that have no C form (products of large matrices, `linalg`,
`fft`, arrays of indices) follow. The result is a shorter program with a kernel as one
instruction, which the NumPy engine writes as source.
"""

from __future__ import annotations

import ctypes
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.engines.c.ability import VIEWING, Ability
from gradwrap.compiler.engines.c.frame import SHELF, Shelved
from gradwrap.compiler.engines.c.functions import SUMMED, Library
from gradwrap.compiler.engines.c.kernels import Kernel
from gradwrap.compiler.engines.c.library import (
    FLAGS,
    HEAD,
    USABLE,
    compiler,
    data_can_be_found,
    loaded,
)
from gradwrap.compiler.engines.c.operations import prelude
from gradwrap.compiler.engines.c.parts import described
from gradwrap.compiler.engines.c.pool import HEAD as TEAM_HEAD
from gradwrap.compiler.engines.c.pool import MOST_THREADS, TEAM, Team, pool
from gradwrap.compiler.engines.c.sweeps import Sweep, swept
from gradwrap.compiler.engines.numpy.engine import numpy_engine
from gradwrap.compiler.engines.numpy.factors import keep_factors
from gradwrap.compiler.engines.register import UNNOTICED, Executable, Unsupported
from gradwrap.compiler.ir.analysis import liveness
from gradwrap.compiler.ir.operations import GETITEM, NAMES, Kind
from gradwrap.compiler.ir.program import (
    NDARRAY,
    Block,
    Instr,
    Loop,
    Program,
    Ref,
    Value,
    bodies_of,
    given,
    item,
    used,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_LINES = 40_000
"""The most lines of one kernel, since compile time grows faster than linearly."""
MOST_ARGUMENTS = 1000
SHELVED = 16
"""The number of values passed between kernels from which they share one array."""
LARGE = 1 << 14
"""The number of elements from which it matters where an array is computed."""
SMALL_COPY = 4096
"""The most elements per write for which a kernel copies an array in order to write to it."""


class CompiledKernel:
    """A function of a C library, called with arrays and numbers."""

    def __init__(self, name: str, kernel: Kernel, outputs: Sequence[Value]) -> None:
        self.__name__ = name
        self.run: Any = None
        self.size: int = kernel.workspace.size
        self.own_room: int = kernel.own_room
        self.threads: int = 1
        self.split: int = 0
        """The address of the pool's function, if there are several threads."""
        self.inputs: int = len(kernel.inputs)
        self.made: list[tuple[tuple[int, ...], Any]] = [
            (value.shape, value.dtype) for value in outputs
        ]
        self.numbers: list[int] = [i for i, value in enumerate(outputs) if not value.is_ndarray]
        self.is_one: bool = len(outputs) == 1
        self.checked: list[tuple[int, tuple[int, ...], Any]] = []
        """The places, shapes and dtypes of inputs whose form may depend on values."""
        self.workspaces: list[tuple[int, Any]] = []

    def bind(self, library: ctypes.CDLL, threads: int, split: int) -> None:
        """Look up the function in a library; set its threads, and the pool's function."""
        self.threads, self.split = threads, split
        self.run = library[self.__name__]  # unlike an attribute, the library does not keep it
        self.run.argtypes = [ctypes.c_void_p] + [ctypes.py_object] * (self.inputs + len(self.made))
        self.run.restype = ctypes.c_int

    def __call__(self, *args: Any) -> Any:
        """Call the function; return its output, or a tuple of several."""
        for place, shape, dtype in self.checked:
            given = args[place]
            if given.shape != shape or given.dtype != dtype:
                raise TypeError(f"an array of {given.dtype}{given.shape}, not {dtype}{shape}")
        outs: list[Any] = [np.empty(shape, dtype) for shape, dtype in self.made]
        try:
            workspace = self.workspaces.pop()
        except IndexError:
            workspace = self._workspace()
        failed = self.run(workspace[0], *args, *outs)
        if failed == 1:  # an argument is not in C's order
            args = tuple(map(_in_order, args))
            failed = self.run(workspace[0], *args, *outs)
        self.workspaces.append(workspace)
        if failed:
            raise IndexError("an index that was computed is out of bounds")
        for number in self.numbers:
            outs[number] = outs[number][()]
        return outs[0] if self.is_one else tuple(outs)

    def _workspace(self) -> tuple[int, Any]:
        own = self.own_room * self.threads
        memory = np.empty(TEAM_HEAD + self.size + 64 + own + 64, np.uint8)
        start: int = -(-memory.ctypes.data // 64) * 64 + TEAM_HEAD
        room = start + -(-self.size // 64) * 64
        team = Team(self.threads, self.split, room)
        ctypes.memmove(start - ctypes.sizeof(team), ctypes.addressof(team), ctypes.sizeof(team))
        return start, memory


def _in_order(argument: Any) -> Any:
    """Return an array in C's order; return a number unchanged."""
    if isinstance(argument, NDARRAY):
        return np.require(argument, requirements=["C", "A"])
    return argument


class _Cut:
    """Cuts blocks into kernels and NumPy calls."""

    def __init__(self, program: Program, ability: Ability) -> None:
        self.values: list[Value] = list(program.values)
        self.ability = ability
        self.library = Library()
        self.kernels: list[tuple[Kernel, CompiledKernel]] = []
        self.shelves: dict[int, Shelved] = {}
        self.tables = _tables(program)
        self.ranges = _ranges(program, self.tables)
        self._uncertain: set[int] = set()
        """The values whose shape and dtype may depend on values, as those of `linalg.eigvals`."""
        for body in (body for block in program.blocks() for body in bodies_of(block.body)):
            for step in body:
                is_foreign = isinstance(step, Instr) and step.name not in NAMES
                if (is_foreign and self._kind(step) == "native") or (
                    not self._uncertain.isdisjoint(used(step))
                ):
                    self._uncertain.update(given(step))

    def block(self, block: Block, live: set[int]) -> Block:
        """Return a block with kernels; `live` are the values live after its body."""
        kinds = [self._kind(step) for step in block.body]
        while True:
            phases, natives = self._phases(block.body, kinds)
            poor: list[int] = []
            for numbers in phases:
                if not self._is_worth([block.body[number] for number in numbers]):
                    poor += numbers
                poor += self._costly(block.body, numbers)
            if not poor:
                break
            for number in poor:
                kinds[number] = "native"
        return self._rewritten(block, phases, natives, kinds, live)

    def _kind(self, step: Instr | Loop) -> str:
        if not self.ability.takes(step, self.values):
            return "native"
        if isinstance(step, Instr):
            is_view = step.op.kind in VIEWING or (
                step.op is GETITEM and bool(self.values[step.out].shape)
            )
            if is_view and step.views:
                return "view"
        return "c"

    def _is_worth(self, steps: Sequence[Instr | Loop]) -> bool:
        """Tell if a kernel saves time."""
        return len(steps) > 1 or any(isinstance(step, Loop) for step in steps)

    def _costly(self, body: Sequence[Instr | Loop], numbers: Sequence[int]) -> list[int]:
        """Find the writes of a kernel that would force it to copy large arrays."""
        made: set[int] = set()
        copied: dict[int, int] = {}
        writes: dict[int, list[int]] = {}
        for number in numbers:
            step = body[number]
            if isinstance(step, Instr) and step.op.kind is Kind.WRITE:
                target: int = step.args[0].index
                if target in copied or target not in made:
                    copied[step.out] = copied.get(target, target)
                    writes.setdefault(copied[step.out], []).append(number)
            made.update(given(step))
        return [
            number
            for root, found in writes.items()
            if math.prod(self.values[root].shape) > SMALL_COPY * len(found)
            for number in found
        ]

    def _phases(
        self, body: Sequence[Instr | Loop], kinds: list[str]
    ) -> tuple[list[list[int]], list[list[int]]]:
        """Return, for each phase, the steps of its kernel and its NumPy steps."""
        in_c: dict[int, int] = {}
        in_numpy: dict[int, int] = {}
        kernels: list[list[int]] = []
        natives: list[list[int]] = []
        for number, step in enumerate(body):
            c_phase = max((in_c.get(i, 0) for i in used(step)), default=0)
            numpy_phase = max((in_numpy.get(i, 0) for i in used(step)), default=0)
            kind = kinds[number]
            if kind == "view":
                for out in given(step):
                    in_c[out], in_numpy[out] = c_phase, numpy_phase
                phase = numpy_phase
            elif kind == "c":
                for out in given(step):
                    in_c[out] = in_numpy[out] = c_phase
                phase = c_phase
            else:
                for out in given(step):
                    in_c[out], in_numpy[out] = numpy_phase + 1, numpy_phase
                phase = numpy_phase
            while len(kernels) <= phase:
                kernels.append([])
                natives.append([])
            (kernels if kind == "c" else natives)[phase].append(number)
        return self._deferred(body, kinds, kernels, natives), natives

    def _deferred(
        self,
        body: Sequence[Instr | Loop],
        kinds: list[str],
        kernels: list[list[int]],
        natives: list[list[int]],
    ) -> list[list[int]]:
        """Move large results of small operands, such as outer products, to where they are read.

        The memory between two kernels then holds the operands only.
        """
        phase_of = {n: phase for phase, numbers in enumerate(kernels) for n in numbers}
        phase_of |= {n: phase for phase, numbers in enumerate(natives) for n in numbers}
        latest: dict[int, int] = {}
        """By value: the last kernel that may compute it."""
        for number in range(len(body) - 1, -1, -1):
            step, phase = body[number], phase_of[number]
            if isinstance(step, Instr):
                wanted = latest.get(step.out, phase)
                if kinds[number] == "view" or (
                    kinds[number] == "c" and wanted > phase and self._grows(step)
                ):
                    phase = phase_of[number] = wanted
            for index in used(step):
                latest[index] = min(latest.get(index, phase), phase)
        made: list[list[int]] = [[] for _ in kernels]
        for number, kind in enumerate(kinds):
            if kind == "c":
                made[phase_of[number]].append(number)
        return made

    def _grows(self, step: Instr) -> bool:
        """Tell if the result of a step is large, and larger than its operands together."""
        size = math.prod(self.values[step.out].shape)
        return size > LARGE and size > sum(math.prod(self.values[i].shape) for i in used(step))

    def _rewritten(
        self,
        block: Block,
        phases: list[list[int]],
        natives: list[list[int]],
        kinds: list[str],
        live: set[int],
    ) -> Block:
        """Build the kernels, and the block that calls them."""
        body = block.body
        views = {
            i: body[n] for n, kind in enumerate(kinds) if kind == "view" for i in given(body[n])
        }
        stretches: list[list[Instr | Loop]] = []
        for numbers in phases:
            steps = [body[number] for number in numbers]
            stretches.append(_with_views(steps, views))
        wanted, outside = set(live), set(live)  # live values, and those live outside of kernels
        placed: list[tuple[list[Instr | Loop], list[int], list[int], list[Instr | Loop]]] = []
        for stretch, numbers in zip(reversed(stretches), reversed(natives), strict=True):
            left: list[Instr | Loop] = []
            for number in reversed(numbers):
                step = body[number]
                if kinds[number] == "view" and not wanted & {*given(step)}:
                    continue
                left.append(step)
                wanted.update(used(step))
                outside.update(used(step))
            outputs = [i for step in stretch for i in given(step) if i in wanted and i not in views]
            shelved = [index for index in outputs if index not in outside]
            if len(shelved) >= SHELVED:
                outputs = [index for index in outputs if index in outside]
            else:
                shelved = []
            for step in stretch:  # it has its own views
                wanted.update(index for index in used(step) if index not in views)
            placed.append((stretch, outputs, shelved, left[::-1]))
        made = Block(guard=block.guard, result=block.result)
        for stretch, outputs, shelved, left in reversed(placed):
            if outputs or shelved:
                made.body.extend(self._calls(stretch, outputs, shelved))
            for steps in swept(left, self.values, views):
                if len(steps) == 1:
                    made.body.extend(steps)
                else:
                    outs = [i for step in steps for i in given(step)]
                    made.body.extend(self._calls(_with_views(steps, views), outs, [], Sweep))
        return made

    def _calls(
        self,
        stretch: list[Instr | Loop],
        outputs: list[int],
        shelved: list[int],
        written: type[Kernel] = Kernel,
    ) -> list[Instr | Loop]:
        """Build a kernel, and the instructions that call it and unpack its outputs."""
        if shelved:
            outputs = [*outputs, self._shelf(shelved)]
        number = len(self.kernels)
        kernel = written(
            *(f"kernel{number}", stretch, self.values, outputs, self.library),
            *(self.shelves, shelved, self.ranges, self.tables),
        )
        if len(kernel.inputs) + len(outputs) > MOST_ARGUMENTS:
            raise Unsupported(f"a stretch of it has more than {MOST_ARGUMENTS} inputs and outputs")
        if len(kernel.lines) > MOST_LINES:
            raise Unsupported(f"{len(kernel.lines)} lines are too many for a C compiler")
        described = [self.values[index] for index in outputs]
        compiled = CompiledKernel(kernel.name, kernel, described)
        compiled.checked = [
            (place, self.values[index].shape, self.values[index].dtype)
            for place, index in enumerate(kernel.inputs)
            if index in self._uncertain
        ]
        self.kernels.append((kernel, compiled))
        args = tuple(Ref(index) for index in kernel.inputs)
        if compiled.is_one:
            return [Instr(compiled, kernel.name, args, (), outputs[0], is_kernel=True)]
        self.values.append(Value((), None, is_ndarray=False, is_tuple=True))
        whole = len(self.values) - 1
        calls: list[Instr | Loop] = [Instr(compiled, kernel.name, args, (), whole, is_kernel=True)]
        calls += [
            Instr(item, "item", (Ref(whole), place), (), index)
            for place, index in enumerate(outputs)
        ]
        return calls

    def _shelf(self, shelved: list[int]) -> int:
        """Allocate one array for values that only other kernels read, and assign their offsets."""
        size = 0
        number = len(self.values)
        for index in shelved:
            value = self.values[index]
            self.shelves[index] = Shelved(number, size)
            size += -(-math.prod(value.shape) * value.dtype.itemsize // 8) * 8
        self.values.append(Value((size,), SHELF, is_ndarray=True))
        return number

    def source(self) -> str:
        """Return the C source of all kernels."""
        parts = [
            prelude(self.ability.vector_functions),
            TEAM,
            f"#define DATA(x) (*(void **)((x) + {HEAD}))",
            f"#define NUMBER(x) ((void *)((x) + {HEAD}))",
            f"#define USABLE(x) ((*(int *)((x) + {FLAGS}) & {USABLE}) == {USABLE})",
            SUMMED,
            self.library.source(),
            *(kernel.text() for kernel, _ in self.kernels),
        ]
        return "\n\n".join(parts) + "\n"


def _tables(program: Program) -> dict[int, Any]:
    """Return the frozen tables of integers."""
    return {
        index: array
        for index, (array, by_reference, _) in program.constants.items()
        if not by_reference and array.dtype.kind == "i" and array.size
    }


def _ranges(program: Program, tables: dict[int, Any]) -> dict[int, tuple[int, int]]:
    """Return the least and the greatest number of each frozen table of integers, and of its parts.

    The parts are those that loops read turn by turn.
    """
    found = {index: (int(one.min()), int(one.max())) for index, one in tables.items()}
    steps = (step for body in program.bodies() for step in body)
    for loop in (step for step in steps if isinstance(step, Loop)):
        for index, stack in loop.reads.items():
            if stack.index in found:
                found[index] = found[stack.index]
    return found


def _with_views(steps: list[Instr | Loop], views: dict[int, Instr | Loop]) -> list[Instr | Loop]:
    """Insert the views that steps read before them."""
    made: list[Instr | Loop] = []
    known: set[int] = set()

    def add(index: int) -> None:
        view = views.get(index)
        if view is None or index in known:
            return
        known.add(index)
        for other in used(view):
            add(other)
        made.append(view)

    for step in steps:
        for index in used(step):
            add(index)
        made.append(step)
    return made


def with_kernels(program: Program, told: list[str]) -> tuple[Program, str, list[str]]:
    """Return a program that calls kernels, their source, and notes for `.explain()`.

    `told` receives the texts of warnings.

    Raises
    ------
    Unsupported
        There is no C compiler, it failed, or it cannot handle the program.
    """
    if not data_can_be_found():
        raise Unsupported("this Python keeps the data of arrays elsewhere than CPython does")
    found = compiler()
    cut = _Cut(program, Ability(found.vector_functions, program.length()))
    after = liveness(program).after
    made: dict[int, Block] = {}
    for block in reversed(list(program.blocks())):
        made[id(block)] = cut.block(block, after[id(block)])
        made[id(block)].branches = {
            outcome: made[id(branch)] for outcome, branch in block.branches.items()
        }
    left = replace(program, values=cut.values, root=made[id(program.root)])
    if not cut.kernels:
        return left, "", ["kernels: none; nothing in it is quicker in C"]
    source = cut.source()
    library = loaded(source, told, by=found)
    threads, split, notes = _threads(cut, program.threads)
    for kernel, compiled in cut.kernels:
        try:
            compiled.bind(library, threads, split)
        except AttributeError as error:
            raise Unsupported(
                f"the C compiler left out a function: {error}. Fix: name another compiler in $CC"
            ) from error
        notes.append(
            f"{kernel.name}: {kernel.groups} groups, {len(kernel.inputs)} inputs, "
            f"{len(kernel.outputs)} outputs, workspace of {kernel.workspace.size} bytes"
        )
        notes += [f"in {kernel.name}: {note}" for note in kernel.notes]
        if program.threads > 1:
            notes += [f"in {kernel.name}: {note}" for note in described(kernel.splits)]
    return left, source, notes


def _threads(cut: _Cut, wanted: int) -> tuple[int, int, list[str]]:
    """Return the number of threads, the address of the pool's function, and a note on them."""
    if wanted == 1:
        return 1, 0, ["threads: 1"]
    if not any(kernel.splits[""] for kernel, _ in cut.kernels):
        return 1, 0, ["threads: 1, since no nest of its kernels is split"]
    found = pool()
    if found.reason:
        return 1, 0, [f"threads: 1, since {found.reason}"]
    count = min(wanted, MOST_THREADS)
    return count, found.split, [f"threads: {count}"]


def c_engine(program: Program) -> Executable:
    """Compile a program with kernels in C.

    Raises
    ------
    Unsupported
        There is no C compiler, it failed, or it cannot handle the program.
    """
    told: list[str] = []
    left, source, notes = with_kernels(keep_factors(program), told)
    made = numpy_engine(left)

    def text() -> str:
        return f"{made.text()}\n\n# The kernels:\n\n{_commented(source)}"

    if not source:
        return made._replace(notes=(*notes, *made.notes), told=tuple(told))
    shown = (*notes, *made.notes, *([UNNOTICED] if made.notices_errors else []))
    return Executable(
        *(made.call, text, shown),
        exact=False,
        in_c_order=True,
        told=tuple(told),
        notices_errors=False,
    )


def _commented(source: str) -> str:
    return "".join(f"# {line}".rstrip() + "\n" for line in source.splitlines())
