"""Programs whose loops have been found, compared with eager."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

import gradwrap as gw
from gradwrap.compiler.ir.evaluate import evaluated
from gradwrap.compiler.ir.program import Instr, Loop, Program
from gradwrap.core.values.tree import flatten

if TYPE_CHECKING:
    from collections.abc import Callable


def compiled_to(function: Callable[..., Any], *args: Any, roll: bool = True) -> Program:
    """Compile a function, compare it with eager at two points, and return its program."""
    compiled: Any = gw.compile(function)
    others = tuple(a * a.dtype.type(0.9) for a in args)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        results = [compiled(*at) for at in (args, others, args)]
    for at, found in zip((args, others, args), results, strict=True):
        wanted = flatten(function(*at))[0]
        for a, b in zip(wanted, flatten(found)[0], strict=True):
            assert type(a) is type(b)
            assert a.dtype == b.dtype
            tolerance = 1e-11 if a.dtype.itemsize == 8 else 1e-4
            np.testing.assert_allclose(b, a, rtol=tolerance, atol=tolerance * np.max(np.abs(a)))
    program: Program = compiled.programs[0]
    assert any(note.startswith("loop") for note in program.notes) == roll, program.notes
    by_steps = evaluated(program, args)
    for a, b in zip(by_steps, flatten(results[0])[0], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12 if b.dtype.itemsize == 8 else 1e-5)
    return program


def steps(program: Program) -> list[Instr | Loop]:
    return program.root.body


def loops(program: Program) -> list[Loop]:
    return [step for step in steps(program) if isinstance(step, Loop)]


def names(program: Program) -> list[str]:
    return names_in(steps(program))


def names_in(body: list[Instr | Loop]) -> list[str]:
    return [step.name for step in body if isinstance(step, Instr)]
