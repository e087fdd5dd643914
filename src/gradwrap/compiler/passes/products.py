"""What is computed from what is known: sines by tangents, quotients by reciprocals, multiples.

On some processors NumPy has vector code for the tangent of float64, eight times as quick as sines
and cosines. There `sin(x)` is `2 t / (1 + t**2)` with `t = tan(x / 2)`, and `cos(x)`
is `sin(x) / tan(x)`. Both are exact to 4 units in the last place of each element that is not
subnormal.

Where `1 / d` is computed, as in a logistic function, `x / d` is a product with it, to 2 units in
the last place. That is done only if `d` is far from zero for certain.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.ir.program import Instr, Ref, refs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.compiler.ir.program import Loop, Program, Value


def sine(x: Any, out: Any) -> Any:
    """Return the sine of `x`."""
    np.multiply(x, 0.5, out)
    np.tan(out, out)
    square = np.square(out)
    square += 1.0
    out += out
    return np.divide(out, square, out)


def cosine(x: Any, sine: Any, out: Any) -> Any:
    """Return the cosine of `x`, whose sine is known."""
    np.tan(x, out)
    size = np.absolute(out)
    if size.min() > 1e-300:
        np.divide(sine, out, out)
    else:
        np.divide(sine, out, out, where=~(size <= 1e-300))
        out[size <= 1e-300] = 1.0
    return np.clip(out, -1.0, 1.0, out)


SHARED: dict[str, Callable[..., Any]] = {"sine": sine, "cosine": cosine}
"""Functions of an argument, of its sine in the case of the cosine, and of a buffer."""


def tangent_is_quick() -> bool:
    """Tell if NumPy has vector code of its own for the tangent of float64 on this processor."""
    described: Any = getattr(getattr(np.lib, "introspect", None), "opt_func_info", None)
    if described is None:
        return False
    found: dict[str, Any] = described(func_name="^tan$", signature="float64")
    used = [one.get("current", "") for by_type in found.values() for one in by_type.values()]
    return any("AVX512" in name or name == "X86_V4" for name in used)


QUICK = tangent_is_quick()


def shared(instrs: Sequence[Instr], program: Program) -> list[Instr]:
    """Return elementwise instructions that compute sines and cosines by tangents."""
    values = program.values

    def argument(instr: Instr, fn: Any) -> Any:
        """The number of what it is the function of; None if it is another one."""
        is_one = instr.fn is fn and values[instr.out].dtype == np.float64
        return instr.args[0].index if is_one and type(instr.args[0]) is Ref else None

    sines = {argument(instr, np.sin): instr for instr in instrs} if QUICK else {}
    known: dict[int, Ref] = {}
    made: list[Instr] = []

    def sine_of(index: int, instr: Instr) -> Ref:
        if index not in known:
            instr = sines.get(index) or instr._replace(out=program.new(values[instr.out]).index)
            known[index] = Ref(instr.out)
            made.append(instr._replace(fn=sine, name="sine"))
        return known[index]

    for instr in instrs:
        if QUICK and (index := argument(instr, np.sin)) is not None:
            sine_of(index, instr)
        elif QUICK and (index := argument(instr, np.cos)) is not None:
            args = (instr.args[0], sine_of(index, instr))
            made.append(instr._replace(fn=cosine, name="cosine", args=args))
        else:
            made.append(instr)
    return made


# Quotients ----------------------------------------------------------------------------------------

DTYPES = frozenset({"float32", "float64"})
LEAST = 1e-30
"""A number that has a reciprocal in float32 too."""


def with_products(steps: Sequence[Instr | Loop], values: Sequence[Value]) -> list[Any]:
    """Return steps that multiply by `1 / d` in place of dividing by `d`, where that is known."""
    known: dict[int, Ref] = {}
    positive: set[int] = set()
    far: set[int] = set()
    made: list[Instr | Loop] = []
    for step in steps:
        if not isinstance(step, Instr) or step.kw or _dtype(values, step) not in DTYPES:
            made.append(step)
            continue
        args: Any = step.args
        if step.op.never_negative or (step.fn is np.multiply and args[0] == args[1]):
            positive.add(step.out)
        elif step.fn is np.add:
            numbers = [one for one in args if type(one) is float or type(one) is int]
            others = [one.index for one in args if type(one) is Ref]
            if numbers and numbers[0] >= LEAST and positive.issuperset(others):
                far.add(step.out)
        elif step.fn is np.divide and type(args[1]) is Ref and args[1].index in far:
            divisor: int = args[1].index
            if type(args[0]) is not Ref:
                if args[0] == 1:
                    known[divisor] = Ref(step.out)
            elif divisor in known and values[step.out].dtype == values[divisor].dtype:
                args = (args[0], known[divisor])
                made.append(step._replace(fn=np.multiply, name="multiply", args=args))
                continue
        made.append(step)
    return made


def _dtype(values: Sequence[Value], instr: Instr) -> str:
    """The name of the dtype of a result; "" if it has none."""
    value = values[instr.out]
    return "" if value.dtype is None else str(value.dtype)


# Powers of two ------------------------------------------------------------------------------------

MOST = 2.0**50


def without_multiples(
    instrs: Sequence[Instr], values: Sequence[Value], kept: set[int]
) -> list[Instr]:
    """Return elementwise instructions without those that give a power of two times what is known.

    So `0.5 * x * y + 0.5 * (x * y)` is `x * y`. Values that are `kept` are needed afterwards.
    """
    forms: dict[int, tuple[int, float]] = {}
    """By value: of which other value it is a multiple, and of what power of two."""
    holders: dict[tuple[int, float], int] = {}
    products: dict[tuple[int, int], tuple[int, float]] = {}
    instead: dict[int, Ref] = {}
    made: list[Instr] = []

    def form(instr: Instr) -> tuple[int, float]:
        """What the result is a multiple of: itself, if that is all that is known."""
        alone = (instr.out, 1.0)
        bases = [forms.get(a.index, (a.index, 1.0)) for a in instr.args if type(a) is Ref]
        numbers = [a for a in instr.args if type(a) is float or type(a) is int]
        if _dtype(values, instr) not in DTYPES or len(bases) + len(numbers) != 2 or not bases:
            return alone
        base, factor = bases[0]
        if instr.fn is np.add and len(bases) == 2 and bases[1][0] == base:
            factor += bases[1][1]
        elif instr.fn is np.multiply and numbers:
            factor *= numbers[0]
        elif instr.fn is np.multiply:
            (one, other), factor = sorted((base, bases[1][0])), factor * bases[1][1]
            base, known = products.setdefault((one, other), (instr.out, factor))
            factor /= known
        else:
            return alone
        is_known = 1 / MOST < factor < MOST and math.frexp(factor)[0] == 0.5
        return (base, factor) if is_known and values[base] == values[instr.out] else alone

    for instr in instrs:
        args = tuple(instead.get(a.index, a) if type(a) is Ref else a for a in instr.args)
        step = instr._replace(args=args)
        base, factor = forms[step.out] = form(step)
        holder = base if factor == 1.0 else holders.setdefault((base, factor), step.out)
        if holder != step.out and step.out not in kept:
            instead[step.out] = Ref(holder)
        elif base != step.out:
            made.append(step._replace(fn=np.multiply, name="multiply", args=(Ref(base), factor)))
        else:
            made.append(step)
    needed = set(kept)
    left: list[Instr] = []
    for step in reversed(made):
        if step.out in needed:
            needed.update(refs(step.args))
            left.append(step)
    return left[::-1]
