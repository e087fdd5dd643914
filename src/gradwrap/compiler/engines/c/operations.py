"""Elementwise operations in C: the expression of each, and the types it is computed in."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradwrap.compiler.ir.program import UFUNC, Instr, Ref, Value

if TYPE_CHECKING:
    from collections.abc import Collection

NUMBER: type[Any] = np.generic
DOUBLE, FLOAT, LONG, BOOL = (np.dtype(name) for name in ("f8", "f4", "i8", "?"))
TYPES: dict[Any, str] = {DOUBLE: "double", FLOAT: "float", LONG: "int64_t", BOOL: "uint8_t"}
"""The dtypes that kernels compute in."""

INFIX = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "true_divide": "/",
    "equal": "==",
    "not_equal": "!=",
    "less": "<",
    "less_equal": "<=",
    "greater": ">",
    "greater_equal": ">=",
}
EXPRESSIONS = {
    "negative": "-{0}",
    "positive": "{0}",
    "square": "{0} * {0}",
    "reciprocal": "1 / {0}",
    "conjugate": "{0}",
    "maximum": "({0} >= {1} || {0} != {0}) ? {0} : {1}",
    "minimum": "({0} <= {1} || {0} != {0}) ? {0} : {1}",
    "fmax": "({0} >= {1} || {1} != {1}) ? {0} : {1}",
    "fmin": "({0} <= {1} || {1} != {1}) ? {0} : {1}",
    "sign": "{0} > 0 ? 1 : ({0} < 0 ? -1 : ({0} == 0 ? 0 : {0}))",
    "isnan": "{0} != {0}",
    "isfinite": "{0} - {0} == 0",
    "isinf": "{0} == {0} && {0} - {0} != 0",
    "logical_and": "{0} != 0 && {1} != 0",
    "logical_or": "{0} != 0 || {1} != 0",
    "logical_xor": "({0} != 0) != ({1} != 0)",
    "logical_not": "{0} == 0",
    "heaviside": "{0} > 0 ? 1 : ({0} == 0 ? {1} : ({0} < 0 ? 0 : {0}))",
    "deg2rad": "{0} * 0.017453292519943295",
    "radians": "{0} * 0.017453292519943295",
}
BUILTIN = {
    "sqrt": "sqrt",
    "absolute": "fabs",
    "fabs": "fabs",
    "floor": "floor",
    "ceil": "ceil",
    "trunc": "trunc",
    "rint": "rint",
    "copysign": "copysign",
}
FUNCTIONS = {
    **{name: name for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "exp2")},
    **{name: name for name in ("expm1", "log", "log2", "log10", "log1p", "cbrt", "hypot")},
    **{f"arc{name}": f"a{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "tan2")},
}
"""Functions of C's library, by NumPy's names."""
SPECIAL = {"erf": "erf", "erfc": "erfc"}
"""The same, by SciPy's names."""
WHOLE_NUMBERS = {"negative", "positive", "square", "maximum", "minimum", "sign", "conjugate"} | {
    name for name in INFIX if name not in ("divide", "true_divide")
}
"""What integers do in C as in NumPy."""
TRUTHS = {"logical_and", "logical_or", "logical_xor", "logical_not", "equal", "not_equal"}
BITWISE = {"bitwise_and": "{0} & {1}", "bitwise_or": "{0} | {1}", "bitwise_xor": "{0} ^ {1}"}


class Elementwise(NamedTuple):
    """An elementwise operation in C."""

    expression: str
    """The operands' places are {0}, {1}, …"""
    operands: tuple[Any, ...]
    """References and literals."""
    dtypes: tuple[Any, ...]
    """The dtypes that the operands are converted to."""
    result: Any
    """The dtype of the expression's value, which is converted to that of the output."""
    function: str = ""
    """The function of the C library that it calls."""


def elementwise(instr: Instr, values: Any, value: Value) -> Elementwise | None:
    """Return an instruction as an expression in C; None if it is to be left to NumPy."""
    if value.dtype not in TYPES or value.is_tuple or value.is_number:
        return None
    name = instr.name
    if name == ".astype":
        if type(instr.args[0]) is not Ref or set(dict(instr.kw)) - {"copy"}:
            return None
        source = values[instr.args[0].index].dtype
        if source not in TYPES or (source in (DOUBLE, FLOAT) and value.dtype == LONG):
            return None
        text = "{0} != 0" if value.dtype == BOOL else "{0}"
        return Elementwise(text, instr.args[:1], (source,), value.dtype)
    if instr.kw:
        return None
    if not value.shape and (name in ("copy", ".copy") or _is_whole(instr, values)):
        if type(instr.args[0]) is Ref:
            source = values[instr.args[0].index].dtype
            return Elementwise("{0}", instr.args[:1], (source,), value.dtype)
    if not value.shape and name in ("zeros", "full"):
        number = instr.args[1] if name == "full" else 0
        return Elementwise("{0}", (number,), (value.dtype,), value.dtype)
    kinds = [_kind(arg, values) for arg in instr.args]
    if any(kind is None for kind in kinds):
        return None
    if name == "where" and len(kinds) == 3:
        dtypes = (kinds[0], value.dtype, value.dtype)
        if dtypes[0] not in TYPES:
            return None
        return Elementwise("{0} ? {1} : {2}", instr.args, dtypes, value.dtype)
    fn: Any = np.power if name == "pow" else instr.fn
    if not isinstance(fn, UFUNC) or fn.nout != 1 or fn.nin != len(kinds) or fn.signature:
        return None
    try:
        *dtypes, result = fn.resolve_dtypes((*kinds, None))
    except TypeError:
        return None
    if result not in TYPES or any(dtype not in TYPES for dtype in dtypes):
        return None
    found = _expression("power" if name == "pow" else name, fn, instr.args, dtypes[0])
    if found is None:
        return None
    return Elementwise(found[0], instr.args, tuple(dtypes), result, found[1])


def _is_whole(instr: Instr, values: Any) -> bool:
    """Tell if an instruction takes the one element of an array without axes."""
    if instr.name != "getitem" or type(instr.args[0]) is not Ref:
        return False
    return not values[instr.args[0].index].shape and instr.args[1] in ((), Ellipsis)


def _kind(arg: Any, values: Any) -> Any:
    """What decides on the dtype: that of a value, or the type of a weak number."""
    if type(arg) is Ref:
        value = values[arg.index]
        return (
            None if value.is_tuple or value.is_number or value.dtype not in TYPES else value.dtype
        )
    if isinstance(arg, NUMBER):
        return arg.dtype if arg.dtype in TYPES else None
    if isinstance(arg, bool):
        return BOOL
    return next((kind for kind in (int, float) if type(arg) is kind), None)


def _expression(name: str, fn: Any, args: tuple[Any, ...], dtype: Any) -> tuple[str, str] | None:
    if dtype == BOOL:
        if name in TRUTHS:
            return (f"{{0}} {INFIX[name]} {{1}}" if name in INFIX else EXPRESSIONS[name]), ""
        if name == "invert":
            return "!{0}", ""
        return (BITWISE[name], "") if name in BITWISE else None
    if dtype == LONG:
        if name in BITWISE:
            return BITWISE[name], ""
        if name == "absolute":
            return "{0} < 0 ? -{0} : {0}", ""
        if name not in WHOLE_NUMBERS and name not in TRUTHS:
            return None
    suffix = "f" if dtype == FLOAT else ""
    named: Any = getattr(np, name, None)
    if named is not fn:
        if name in SPECIAL:
            return f"{SPECIAL[name]}{suffix}({{0}})", SPECIAL[name]
        return None
    if name in INFIX:
        return f"{{0}} {INFIX[name]} {{1}}", ""
    if name in EXPRESSIONS:
        return EXPRESSIONS[name], ""
    arguments = ", ".join(f"{{{i}}}" for i in range(len(args)))
    if name in BUILTIN:
        return f"__builtin_{BUILTIN[name]}{suffix}({arguments})", ""
    if name == "power":
        short = power(args[1])
        if short is not None:
            return short.replace("sqrt", f"__builtin_sqrt{suffix}"), ""
        return f"pow{suffix}({arguments})", "pow"
    if name in FUNCTIONS:
        return f"{FUNCTIONS[name]}{suffix}({arguments})", FUNCTIONS[name]
    return None


def power(exponent: Any) -> str | None:
    """Return the expression for a power that needs no function; None if it needs one."""
    if type(exponent) is Ref or isinstance(exponent, complex):
        return None
    shorts = {
        0.0: "1",
        1.0: "{0}",
        2.0: "{0} * {0}",
        3.0: "{0} * {0} * {0}",
        4.0: "({0} * {0}) * ({0} * {0})",
        0.5: "sqrt({0})",
        -1.0: "1 / {0}",
    }
    return shorts.get(float(exponent))


def literal(value: Any, dtype: Any) -> str:
    """Return a number as C writes it, in a dtype."""
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
    """Return an expression, converted from one dtype to another."""
    if source == target:
        return text
    return f"({text} != 0)" if target == BOOL else f"({TYPES[target]}){text}"


def prelude(vector_functions: Collection[str]) -> str:
    """Return the declarations that every source begins with."""
    names = sorted({*FUNCTIONS.values(), *SPECIAL.values(), "pow"})
    lines = ["#include <stdint.h>", "#include <string.h>", ""]
    for name in names:
        vector = ', simd("notinbranch")' if name in vector_functions else ""
        count = 2 if name in ("pow", "atan2", "hypot") else 1
        for kind, suffix in (("double", ""), ("float", "f")):
            arguments = ", ".join([kind] * count)
            lines.append(
                f"extern {kind} {name}{suffix}({arguments}) __attribute__((const{vector}));"
            )
    return "\n".join(lines)
