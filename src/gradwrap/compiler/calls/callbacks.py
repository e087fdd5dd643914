"""Programs of the functions that solvers call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.compiler.engines.numpy.engine import numpy_engine
from gradwrap.compiler.passes.from_traces import program_of
from gradwrap.compiler.pipeline import prepared
from gradwrap.compiler.tracing.run import Traced

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwrap.compiler.tracing.callbacks import Path


def function_of(path: Path) -> Callable[..., Any]:
    """Return a way through a callback as a function of its arguments, and of what is around it."""
    count = len(path.values) - len(path.instrs)
    traced = Traced(
        *(path.instrs, path.guards, path.values, tuple(range(count)), {}, {}, frozenset(), {}),
        *(path.leaves, path.tree, (), frozenset(), (), False, None),
    )
    program = program_of([traced], [{}], tuple(f"x{n}" for n in range(count)))
    call: Callable[..., Any] = numpy_engine(prepared(program, roll=False)[0]).call
    return call
