"""Sines and cosines of one argument: the second is computed from the first.

On some processors NumPy has vector code for the tangent of float64, seven times as quick as sines
and cosines. There `cos(x)` is taken as `sin(x) / tan(x)` where `sin(x)` is known, as it is in most
derivatives, and `sin(x)` as `cos(x) * tan(x)`. Both are exact to 3 units in the last place of each
element.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.program import Instr, Ref

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.compiler.program import Value


def cosine(x: Any, sine: Any, out: Any) -> Any:
    """Return the cosine of `x`, whose sine is known."""
    np.tan(x, out)
    if out.all():
        return np.divide(sine, out, out)
    zero = out == 0
    np.divide(sine, out, out, where=~zero)
    out[zero] = 1.0
    return out


def sine(x: Any, cosine: Any, out: Any) -> Any:
    """Return the sine of `x`, whose cosine is known."""
    np.tan(x, out)
    return np.multiply(cosine, out, out)


SHARED: dict[str, Callable[..., Any]] = {"cosine": cosine, "sine": sine}
"""Functions that take an argument, another function of it, and a buffer."""
OTHERS = {"cos": ("sin", "cosine"), "sin": ("cos", "sine")}


def tangent_is_quick() -> bool:
    """Tell if NumPy has vector code of its own for the tangent of float64 on this processor."""
    described: Any = getattr(getattr(np.lib, "introspect", None), "opt_func_info", None)
    if described is None:
        return False
    found: dict[str, Any] = described(func_name="^tan$", signature="float64")
    used = [one.get("current", "") for by_type in found.values() for one in by_type.values()]
    return any("AVX512" in name or name == "X86_V4" for name in used)


QUICK = tangent_is_quick()


def shared(instrs: Sequence[Instr], values: Sequence[Value]) -> list[Instr]:
    """Return elementwise instructions that compute sines and cosines from each other."""
    known: dict[tuple[str, int], int] = {}
    made: list[Instr] = []
    for instr in instrs:
        source: Any = instr.args[0] if instr.args else None
        if QUICK and instr.fn in (np.sin, np.cos) and type(source) is Ref:
            other, name = OTHERS[instr.name]
            before = known.get((other, source.index))
            if before is not None and values[instr.out].dtype == np.float64:
                args = (source, Ref(before))
                instr = instr._replace(fn=SHARED[name], name=name, args=args)  # noqa: PLW2901
            else:
                known[instr.name, source.index] = instr.out
        made.append(instr)
    return made
