"""Elementwise operations in C: the expression of each, and the types of its operands."""

from __future__ import annotations

import math
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradwrap.backends.c_expressions import FUNCTIONS, form_of, power
from gradwrap.compiler.ir.operations import ASTYPE, COPY, GETITEM, POWER, Operation
from gradwrap.compiler.ir.program import UFUNC, Instr, Ref, Value, filled_with

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gradwrap.backends.c_expressions import Form

    Express = Callable[[Operation, Any, tuple[Any, ...], Form | None], "Expression | None"]
    """Writes a ufunc on operands of some kinds; a form is that of a power that is known."""

NUMBER: type[Any] = np.generic
DOUBLE, FLOAT, LONG, BOOL = (np.dtype(name) for name in ("f8", "f4", "i8", "?"))
TYPES: dict[Any, str] = {DOUBLE: "double", FLOAT: "float", LONG: "int64_t", BOOL: "uint8_t"}
"""The dtypes that kernels compute in."""


class Expression(NamedTuple):
    """The text of an operation, whatever its operands are."""

    text: str
    dtypes: tuple[Any, ...]
    result: Any
    function: str = ""


class Elementwise(NamedTuple):
    """An elementwise operation in C."""

    expression: str
    """The template, with {0}, {1}, … for the operands."""
    operands: tuple[Any, ...]
    """References and literals."""
    dtypes: tuple[Any, ...]
    """The dtypes that the operands are converted to."""
    result: Any
    """The dtype of the expression, converted to that of the output."""
    function: str = ""
    """The C library function that it calls."""


def elementwise(instr: Instr, values: Any, value: Value) -> Elementwise | None:
    """Return an instruction as a C expression; None if NumPy must perform it."""
    if value.dtype not in TYPES or value.is_tuple or value.is_number:
        return None
    op = instr.op
    if op is ASTYPE:
        if type(instr.args[0]) is not Ref or set(dict(instr.kw)) - {"copy"}:
            return None
        source = values[instr.args[0].index].dtype
        if source not in TYPES or (source in (DOUBLE, FLOAT) and value.dtype == LONG):
            return None
        text = "{0} != 0" if value.dtype == BOOL else "{0}"
        return Elementwise(text, instr.args[:1], (source,), value.dtype)
    if instr.kw:
        return None
    if not value.shape and (op is COPY or _is_whole(instr, values)):
        if type(instr.args[0]) is Ref:
            source = values[instr.args[0].index].dtype
            return Elementwise("{0}", instr.args[:1], (source,), value.dtype)
    number = filled_with(instr)
    if not value.shape and number is not None:
        return Elementwise("{0}", (number,), (value.dtype,), value.dtype)
    if any(type(arg) is Ref and values[arg.index].is_number for arg in instr.args):
        return None
    return in_text(instr, values, value, TYPES, _expression)


def in_text(
    instr: Instr, values: Any, value: Value, types: Mapping[Any, str], express: Express
) -> Elementwise | None:
    """Return a choice or a ufunc as an expression on operands of some dtypes, or None."""
    kinds = tuple([_kind(arg, values, types) for arg in instr.args])
    op = instr.op
    if instr.kw or any(kind is None for kind in kinds):
        return None
    if op.is_choice and len(kinds) == 3:
        dtypes = (kinds[0], value.dtype, value.dtype)
        if dtypes[0] not in types or dtypes[0].kind == "c":
            return None
        return Elementwise("{0} ? {1} : {2}", instr.args, dtypes, value.dtype)
    fn: Any = np.power if op.is_power else instr.fn
    if not isinstance(fn, UFUNC) or fn.nout != 1 or fn.nin != len(kinds) or fn.signature:
        return None
    known = power(instr.args[1]) if op.is_power else None
    found = express(POWER if op.is_power else op, fn, kinds, known)
    return found and Elementwise(found.text, instr.args, *found[1:])


def resolved(fn: Any, kinds: tuple[Any, ...], types: Mapping[Any, str]) -> tuple[Any, ...]:
    """Return the dtypes of the operands and the result of a ufunc; () if one is not in `types`."""
    try:
        found: tuple[Any, ...] = fn.resolve_dtypes((*kinds, None))
    except TypeError:
        return ()
    return found if all(dtype in types for dtype in found) else ()


def _is_whole(instr: Instr, values: Any) -> bool:
    """Tell if an instruction reads the only element of a 0-d array."""
    if instr.op is not GETITEM or type(instr.args[0]) is not Ref:
        return False
    return not values[instr.args[0].index].shape and instr.args[1] in ((), Ellipsis)


def _kind(arg: Any, values: Any, types: Mapping[Any, str]) -> Any:
    """Return the dtype of an operand or the type of a weak number; None for other operands."""
    if type(arg) is Ref:
        value = values[arg.index]
        return None if value.is_tuple or value.dtype not in types else value.dtype
    if isinstance(arg, NUMBER):
        return arg.dtype if arg.dtype in types else None
    if isinstance(arg, bool):
        return BOOL
    if type(arg) is complex and not any(dtype.kind == "c" for dtype in types):
        return None
    return next((kind for kind in (int, float, complex) if type(arg) is kind), None)


@lru_cache(1024)
def _expression(
    op: Operation, fn: Any, kinds: tuple[Any, ...], known: Form | None
) -> Expression | None:
    *dtypes, result = resolved(fn, kinds, TYPES) or (None,)
    found = form_of(op.name, fn, dtypes[0].kind) if dtypes else None
    if found is None:
        return None
    found = known or found
    text = found.in_c("f" if dtypes[0] == FLOAT else "")
    return Expression(text, tuple(dtypes), result, "" if found.is_builtin else found.function)


def literal(value: Any, dtype: Any) -> str:
    """Return a number as a C literal of a dtype."""
    if dtype == BOOL:
        return "1" if value else "0"
    if dtype == LONG:
        return f"INT64_C({int(value)})" if int(value) > -(2**63) else "INT64_MIN"
    number = float(dtype.type(value))
    suffix = "f" if dtype == FLOAT else ""
    if math.isnan(number):
        return f'__builtin_nan{suffix}("")'
    if math.isinf(number):
        return f"({'-' if number < 0 else ''}__builtin_inf{suffix}())"
    return (
        f"({number!r}{suffix})"
        if number < 0 or math.copysign(1, number) < 0
        else f"{number!r}{suffix}"
    )


def converted(text: str, source: Any, target: Any) -> str:
    """Return an expression converted from one dtype to another."""
    if source == target:
        return text
    return f"({text} != 0)" if target == BOOL else f"({TYPES[target]}){text}"


@cache
def prelude(vector_functions: frozenset[str]) -> str:
    """Return the declarations at the start of every source."""
    lines = ["#include <stdint.h>", "#include <string.h>", ""]
    for name, count in sorted(FUNCTIONS.items()):
        vector = ', simd("notinbranch")' if name in vector_functions else ""
        for kind, suffix in (("double", ""), ("float", "f")):
            arguments = ", ".join([kind] * count)
            lines.append(
                f"extern {kind} {name}{suffix}({arguments}) __attribute__((const{vector}));"
            )
    return "\n".join(lines)
