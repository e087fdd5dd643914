"""The table of C expressions for elementwise operations, by the kind of their dtype.

Kernels of the CPU, kernels of CUDA and the formulas of gradients read it. The names are those of
NumPy's ufuncs, and two of scipy.special. In CUDA one name of a function serves all types, complex
numbers among them; in C the functions of `float` have an `f` behind their names.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

NUMBERS = {"zero": "0", "one": "1", "degree": "0.017453292519943295"}
"""The numbers in expressions, by the names of their places."""


class Form(NamedTuple):
    """An expression with places for its operands and numbers."""

    template: str
    """The expression as CUDA has it: operands are `{0}` and `{1}`, numbers have names."""
    function: str = ""
    """The function that it calls, if it is a call."""
    is_builtin: bool = False
    """Whether compilers of C know the function, so that it costs no call."""
    is_special: bool = False
    """Whether it is a function of scipy.special."""

    @property
    def text(self) -> str:
        """The expression, with places for its operands."""
        return self.template.format("{0}", "{1}", **NUMBERS)

    def with_numbers_in(self, kind: str) -> str:
        """Return the expression with its numbers converted to a C++ type."""
        numbers = {name: f"{kind}({number})" for name, number in NUMBERS.items()}
        return self.template.format("{0}", "{1}", **numbers)

    def in_c(self, suffix: str) -> str:
        """Return the expression in C; `suffix` is `"f"` for the type `float`."""
        if not self.function:
            return self.text
        prefix = "__builtin_" if self.is_builtin else ""
        return f"{prefix}{self.function}{suffix}{self.text.removeprefix(self.function)}"


FORMS: dict[tuple[str, str], Form] = {}
"""By name, and by the kind of dtype that it is computed in: `f`, `i`, `b` or `c`."""


def _enter(kinds: str, **texts: str) -> None:
    """Enter expressions with operators."""
    FORMS.update({(name, kind): Form(text) for name, text in texts.items() for kind in kinds})


def _enter_calls(kinds: str, names: str, prefix: str = "", count: int = 1, **facts: Any) -> None:
    """Enter functions, whose names have the prefix in NumPy where C has `a`."""
    arguments = ", ".join(f"{{{i}}}" for i in range(count))
    for name in names.split():
        function = f"a{name}" if prefix else name
        for kind in kinds:
            FORMS[prefix + name, kind] = Form(f"{function}({arguments})", function, **facts)


_enter("fic", add="{0} + {1}", subtract="{0} - {1}", multiply="{0} * {1}")
_enter("fc", divide="{0} / {1}")
_enter("fic", negative="-{0}", positive="{0}", square="{0} * {0}")
_enter("f", reciprocal="{one} / {0}")
_enter("fi", conjugate="{0}")
_enter("c", conjugate="conj({0})", absolute="abs({0})", sqrt="sqrt({0})")
_enter("fibc", equal="{0} == {1}", not_equal="{0} != {1}")
_enter("fi", less="{0} < {1}", less_equal="{0} <= {1}")
_enter("fi", greater="{0} > {1}", greater_equal="{0} >= {1}")
_enter("fi", maximum="({0} >= {1} || {0} != {0}) ? {0} : {1}")
_enter("fi", minimum="({0} <= {1} || {0} != {0}) ? {0} : {1}")
_enter("f", fmax="({0} >= {1} || {1} != {1}) ? {0} : {1}")
_enter("f", fmin="({0} <= {1} || {1} != {1}) ? {0} : {1}")
_enter("fi", sign="{0} > {zero} ? {one} : ({0} < {zero} ? -{one} : ({0} == {zero} ? {zero} : {0}))")
_enter("i", absolute="{0} < {zero} ? -{0} : {0}")
_enter(
    "f",
    heaviside="{0} > {zero} ? {one} : ({0} == {zero} ? {1} : ({0} < {zero} ? {zero} : {0}))",
)
_enter("f", deg2rad="{0} * {degree}", radians="{0} * {degree}")
_enter(
    "f",
    isnan="{0} != {0}",
    isfinite="{0} - {0} == {zero}",
    isinf="{0} == {0} && {0} - {0} != {zero}",
)
_enter(
    "fib", logical_and="{0} != {zero} && {1} != {zero}", logical_or="{0} != {zero} || {1} != {zero}"
)
_enter("fib", logical_xor="({0} != {zero}) != ({1} != {zero})", logical_not="{0} == {zero}")
_enter("ib", bitwise_and="{0} & {1}", bitwise_or="{0} | {1}", bitwise_xor="{0} ^ {1}")
_enter("b", invert="!{0}")
_enter_calls("fc", "sin cos tan sinh cosh tanh exp log")
_enter_calls("f", "exp2 expm1 log2 log10 log1p cbrt")
_enter_calls("f", "sin cos tan sinh cosh tanh", "arc")
_enter_calls("f", "tan2", "arc", count=2)
_enter_calls("f", "hypot", count=2)
_enter_calls("f", "erf erfc", is_special=True)
_enter_calls("f", "sqrt fabs floor ceil trunc rint", is_builtin=True)
_enter_calls("f", "copysign", count=2, is_builtin=True)
FORMS["absolute", "f"] = FORMS["fabs", "f"]
FORMS["power", "f"] = Form("pow({0}, {1})", "pow")

FUNCTIONS: dict[str, int] = {
    form.function: form.text.count("{")
    for form in FORMS.values()
    if form.function and not form.is_builtin
}
"""The functions of the library of C that expressions call, with the numbers of arguments."""
POWERS: dict[float, Form] = {
    0.0: Form("{one}"),
    1.0: Form("{0}"),
    2.0: Form("{0} * {0}"),
    3.0: Form("{0} * {0} * {0}"),
    4.0: Form("({0} * {0}) * ({0} * {0})"),
    0.5: FORMS["sqrt", "f"],
    -1.0: Form("{one} / {0}"),
}
"""The powers that need no function, by the exponent."""


def form_of(name: str, fn: Any, kind: str) -> Form | None:
    """Return the expression of a ufunc for a kind of dtype, or None."""
    found = FORMS.get((name, kind))
    is_special = getattr(np, name, None) is not fn
    return None if found is None or found.is_special != is_special else found


REAL: tuple[type[Any], ...] = (int, float, np.integer, np.floating)


def power(exponent: Any) -> Form | None:
    """Return the expression of a power of a number that is known; None if it needs a function."""
    is_real = isinstance(exponent, REAL)
    return POWERS.get(float(exponent)) if is_real and math.isfinite(exponent) else None
