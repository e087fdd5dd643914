"""Elementwise operations in CUDA: expressions, literals and conversions.

The expressions are those of `gradwrap.backends.c_expressions`.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.backends.c_expressions import form_of
from gradwrap.compiler.engines.c.operations import Elementwise, Expression, in_text, resolved
from gradwrap.compiler.ir.operations import ASTYPE
from gradwrap.compiler.ir.program import Instr, Ref, Value

if TYPE_CHECKING:
    from gradwrap.backends.c_expressions import Form
    from gradwrap.compiler.ir.operations import Operation

TYPES: dict[Any, str] = {
    np.dtype("f8"): "double",
    np.dtype("f4"): "float",
    np.dtype("i8"): "long long",
    np.dtype("i4"): "int",
    np.dtype("?"): "bool",
    np.dtype("c16"): "complex<double>",
    np.dtype("c8"): "complex<float>",
}
"""The dtypes that kernels compute in."""


def elementwise(instr: Instr, values: Any, value: Value) -> Elementwise | None:
    """Return an instruction as a CUDA expression; None if CuPy must perform it."""
    if value.is_tuple or value.dtype not in TYPES or 0 in value.shape:
        return None
    op = instr.op
    if op is ASTYPE:
        source: Any = values[instr.args[0].index].dtype if type(instr.args[0]) is Ref else None
        if source not in TYPES or set(dict(instr.kw)) - {"copy"} or len(instr.args) != 2:
            return None
        drops = source.kind == "c" and value.dtype.kind != "c"
        if drops or (source.kind == "f" and value.dtype.kind == "i"):
            return None
        return Elementwise("{0}", instr.args[:1], (source,), source)
    if not any(type(arg) is Ref for arg in instr.args):
        return None
    found = in_text(instr, values, value, TYPES, _expression)
    return found if found is not None and found.result == value.dtype else None


@lru_cache(1024)
def _expression(
    op: Operation, fn: Any, kinds: tuple[Any, ...], known: Form | None
) -> Expression | None:
    *dtypes, result = resolved(fn, kinds, TYPES) or (None,)
    if not dtypes:
        return None
    if known is not None and dtypes[0].kind in "fc":
        text = known.with_numbers_in(TYPES[dtypes[0]])
    else:
        found = form_of(op.name, fn, dtypes[0].kind)
        if found is None:
            return None
        text = found.text
    return Expression(text, tuple(dtypes), result)


def literal(value: Any, dtype: Any) -> str | None:
    """Return a number as a CUDA literal of a dtype; None if it must be an argument."""
    if dtype.kind == "b":
        return "true" if value else "false"
    if dtype.kind == "i":
        number = int(value)
        if number == np.iinfo(dtype).min:
            return None
        text = f"{number}{'LL' if dtype.itemsize == 8 else ''}"
        return f"({text})" if number < 0 else text
    if dtype.kind == "c":
        both = complex(value)
        real = np.dtype(f"f{dtype.itemsize // 2}")
        parts = [literal(part, real) for part in (both.real, both.imag)]
        return None if None in parts else f"{TYPES[dtype]}({parts[0]}, {parts[1]})"
    real_number = float(dtype.type(value))
    if not math.isfinite(real_number):
        return None
    text = f"{real_number!r}{'f' if dtype.itemsize == 4 else ''}"
    return f"({text})" if text[0] == "-" else text


def converted(text: str, source: Any, target: Any) -> str:
    """Return an expression converted from one dtype to another."""
    if source == target:
        return text
    if target.kind == "b":
        return f"({text} != ({TYPES[source]})(0))"
    if target.kind == "c" and source.kind != "c":
        part = np.dtype(f"f{target.itemsize // 2}")
        return f"{TYPES[target]}({converted(text, source, part)})"
    return f"({TYPES[target]})({text})"
