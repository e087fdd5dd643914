"""The cost of programs that compute whole axes in place of ragged ones, beside what else is done.

Without such a program, all turns are traced at the first call, or calls are eager.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gradwrap.compiler.ir.analysis import elements, operations
from gradwrap.compiler.ir.program import Loop

if TYPE_CHECKING:
    from gradwrap.compiler.ir.program import Instr, Program

LARGEST = 1 << 26
"""The most bytes of a matrix of masks, or of places."""
OVERHEAD, EAGER, TRACING = 1e-6, 1e-5, 3e-4
"""The seconds that an operation takes in a program, in an eager call, and in a first call that
traces all turns."""
ELEMENT, BY_NUMPY = 5e-10, 7e-9
"""The seconds that an element takes in a kernel, and in a call of NumPy with a new array."""
MASKED = 1.5
"""The time of an element beside a mask, by one without."""
CALLS = 1000
"""The number of later calls whose time counts beside that of a first call."""


def is_worthwhile(
    program: Program, padding: float, most: int, traced: int | None = None, engine: str = "numpy"
) -> bool:
    """Tell if a program with whole axes saves more time than it takes.

    Without it, all turns would be traced at the first call, if they have `most` operations at most;
    calls would be eager otherwise. Both compute fewer elements. `traced` is the number of these
    operations, if known; else it is that of the program, where operations on all turns count once.
    """
    if any(_bytes(program, step) > LARGEST for step in program.root.body):
        return False
    count = operations(program.root.body) if traced is None else traced
    element = BY_NUMPY if engine == "numpy" else ELEMENT
    more = element * elements(program, program.root.body) * (MASKED - 1 / padding)
    saved = TRACING / CALLS if count <= most else EAGER - OVERHEAD
    return more <= saved * count


def _bytes(program: Program, step: Instr | Loop) -> int:
    """Return the size of an array of booleans or integers that a step makes; 0 for others."""
    if isinstance(step, Loop) or step.views:
        return 0
    _, dtype, *_ = value = program.values[step.out]
    return math.prod(value.shape) * dtype.itemsize if value.is_ndarray and dtype.kind in "bi" else 0
