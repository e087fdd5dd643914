"""Sines and cosines computed from tangents, for long arrays.

On some processors NumPy has vector code for the tangent of float64, eight times as fast as sines
and cosines. There `sin(x)` is `2 t / (1 + t**2)` with `t = tan(x / 2)`, and `cos(x)`
is `sin(x) / tan(x)`. Both are exact to 4 units in the last place, except for subnormal
elements.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.ir.program import Instr, Ref
from gradwrap.compiler.ir.runtime import cosine, sine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.compiler.ir.program import Program

SHARED: dict[str, Callable[..., Any]] = {"sine": sine, "cosine": cosine}
"""Functions of an argument (for the cosine also of its sine) and of a buffer."""


def tangent_is_quick() -> bool:
    """Tell if NumPy has vector code for the tangent of float64 on this processor."""
    described: Any = getattr(getattr(np.lib, "introspect", None), "opt_func_info", None)
    if described is None:
        return False
    found: dict[str, Any] = described(func_name="^tan$", signature="float64")
    used = [one.get("current", "") for by_type in found.values() for one in by_type.values()]
    return any("AVX512" in name or name == "X86_V4" for name in used)


QUICK = tangent_is_quick()


def with_tangents(instrs: Sequence[Instr], program: Program) -> list[Instr]:
    """Return elementwise instructions with sines and cosines computed from tangents."""
    values = program.values

    def argument(instr: Instr, fn: Any) -> Any:
        """Return the number of the function's argument, or None for another function."""
        is_one = instr.fn is fn and values[instr.out].dtype == np.float64
        return instr.args[0].index if is_one and type(instr.args[0]) is Ref else None

    sines = {argument(instr, np.sin): instr for instr in instrs} if QUICK else {}
    known: dict[int, Ref] = {}
    made: list[Instr] = []

    def sine_of(index: int, instr: Instr) -> Ref:
        if index not in known:
            instr = sines.get(index) or replace(instr, out=program.new(values[instr.out]).index)
            known[index] = Ref(instr.out)
            made.append(replace(instr, fn=sine, name="sine"))
        return known[index]

    for instr in instrs:
        if QUICK and (index := argument(instr, np.sin)) is not None:
            sine_of(index, instr)
        elif QUICK and (index := argument(instr, np.cos)) is not None:
            args = (instr.args[0], sine_of(index, instr))
            made.append(replace(instr, fn=cosine, name="cosine", args=args))
        else:
            made.append(instr)
    return made
