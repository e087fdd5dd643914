"""Systems with the same matrix: its factors are computed once.

The gradient of a solution solves a system with the transposed matrix, and steps of an implicit
method solve one with the same matrix in each turn. `np.linalg.solve` factorises it each time. Where
SciPy is installed, LAPACK's factors are computed once, and kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from gradwrap.compiler.ir.factored import BESIDE, factored, solved
from gradwrap.compiler.ir.operations import OPERATIONS
from gradwrap.compiler.ir.program import Instr, Loop, Ref, Value
from gradwrap.compiler.passes.stacks_of_matrices import swaps_last_two

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gradwrap.compiler.ir.program import Program

    Body = list[Instr | Loop]

SOLVE = "linalg.solve"
LEAST = 16
"""The fewest rows of a matrix whose factors are kept."""
FORMS = {(False, False): 0, (True, False): 1, (True, True): 2}
"""LAPACK's forms of a matrix, by whether it is transposed and conjugated."""


class System(NamedTuple):
    """A step that solves a system."""

    body: Body
    step: Instr
    form: int
    outermost: Loop | None
    """The outermost loop around it, in the block's own body."""


def keep_factors(program: Program) -> Program:
    """Return a program that factorises each matrix once, or the same program."""
    if OPERATIONS[SOLVE] not in program.operations() or not _Systems(program).by_matrix():
        return program
    from importlib.util import find_spec

    if find_spec("scipy") is None:
        return program
    made = program.copy()
    for root, home, group in _Systems(made).by_matrix():
        place = _first(home, root, group)
        shape = made.values[root].shape
        value = Value((shape[0], shape[1] + BESIDE), made.values[root].dtype, True, order="F")
        factors = made.new(value)
        home.insert(place, Instr(factored, "factored", (Ref(root),), (), factors.index))
        for system in group:
            number = next(n for n, one in enumerate(system.body) if one is system.step)
            args = (factors, system.step.args[1], system.form)
            step = system.step
            system.body[number] = Instr(solved, "solved", args, (), step.out, line=step.line)
    made.exact = False
    return made


class _Systems:
    """The systems of a program, by their matrices."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.makers: dict[int, Instr] = {}
        self.homes: dict[int, Body] = {}
        """By value: the body that makes it."""
        for index in (*program.inputs, *program.constants):
            self.homes[index] = program.root.body
        self.found: dict[int, list[System]] = {}

    def by_matrix(self) -> list[tuple[int, Body, list[System]]]:
        """Return each matrix of several systems, the body that makes it, and the systems."""
        for block in self.program.blocks():
            for body, step, outermost in _steps(block.body):
                self.makers[step.out], self.homes[step.out] = step, body
                matrix = self.matrix_of(step) if step.name == SOLVE else None
                if matrix is not None:
                    root, form = matrix
                    system = System(body, step, form, outermost)
                    self.found.setdefault(root, []).append(system)
        return [
            (root, self.homes[root], group)
            for root, group in self.found.items()
            if len(group) > 1 or group[0].body is not self.homes[root]
        ]

    def matrix_of(self, step: Instr) -> tuple[int, int] | None:
        """Return the matrix whose factors solve a system, and its form."""
        if step.kw or any(type(arg) is not Ref for arg in step.args):
            return None
        index: int = step.args[0].index
        other: int = step.args[1].index
        first, second = self.program.values[index], self.program.values[other]
        is_one = len(first.shape) == 2 and first.shape[0] >= LEAST and len(second.shape) < 3
        if not is_one or first.dtype.char not in "fdFD" or second.dtype != first.dtype:
            return None
        transposed = conjugated = False
        while True:
            maker = self.makers.get(index)
            if maker is not None and swaps_last_two(maker, 2):
                transposed = not transposed
            elif maker is not None and maker.op.undoes == "conjugate":
                conjugated = not conjugated
            else:
                break
            index = maker.args[0].index
        form = FORMS.get((transposed, conjugated))
        return None if form is None or index not in self.homes else (index, form)


def _steps(body: Body, outermost: Loop | None = None) -> Iterator[tuple[Body, Instr, Loop | None]]:
    """Yield the steps of a body and of its loops, with their bodies."""
    for step in body:
        if isinstance(step, Loop):
            yield from _steps(step.body, outermost or step)
        else:
            yield body, step, outermost


def _first(home: Body, root: int, group: Iterable[System]) -> int:
    """Return the place in a body before which the factors of its matrix are needed."""
    users: list[Any] = [one.step for one in group] + [one.outermost for one in group]
    for number, step in enumerate(home):
        if any(step is user for user in users):
            return number
    return len(home)
