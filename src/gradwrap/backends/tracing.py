"""A formula of the table as C: what it does to symbols is written down, and is one kernel.

A formula runs once, with symbols for the arrays and for `xp`. Each operation is a line of C in
the type `T` of the arrays, Python's numbers too: nothing is computed in double precision for
arrays of single. What a formula cannot be traced through (a branch on a value, a function that is
not in the list) leaves it as it is.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["ARRAY", "NUMBER", "Traced", "Untraceable", "trace"]


class Untraceable(Exception):  # noqa: N818  it ends a trace, and is no error
    """The formula does what has no line of C."""


class _Kind:
    """What an argument is: an array, or a number that is known when the kernel is called."""


ARRAY, NUMBER = _Kind(), _Kind()
DTYPE = object()
"""Stands for the one dtype of all arrays."""


class Traced:
    """A formula as C."""

    def __init__(self, lines: Sequence[str], result: str) -> None:
        self.operations: int = len(lines)
        """How many kernels it would be, one by one."""
        self.lines: tuple[str, ...] = tuple(lines)
        self.result: str = result

    def code(self, out: str) -> str:
        """The statements that leave the result in `out`."""
        return " ".join([*self.lines, f"{out} = {self.result};"])


class _Trace:
    """The lines so far; the same operation on the same values is one line."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._known: dict[tuple[str, str], _Symbol] = {}

    def line(self, code: str, ctype: str = "T") -> _Symbol:
        known = self._known.get((ctype, code))
        if known is None:
            name = f"t{len(self.lines)}"
            self.lines.append(f"const {ctype} {name} = {code};")
            known = self._known[ctype, code] = _Symbol(self, name, ctype)
        return known

    def text(self, value: Any) -> str:
        """A value of the type T in C."""
        if isinstance(value, _Symbol):
            if value.ctype != "T":
                raise Untraceable("a truth value where a number is needed")
            return value.name
        if type(value) not in (int, float) or not math.isfinite(value):
            raise Untraceable(f"{value!r} has no literal")
        return f"T({value!r})"

    def truth(self, value: Any) -> str:
        if not isinstance(value, _Symbol) or value.ctype != "bool":
            raise Untraceable("a number where a truth value is needed")
        return value.name


class _Symbol:
    """A value of a formula that runs on symbols: a number or a truth value for each element."""

    __slots__ = ("ctype", "name", "trace")
    __hash__ = None  # type: ignore[assignment]  # equality is an operation

    def __init__(self, trace: _Trace, name: str, ctype: str = "T") -> None:
        self.trace = trace
        self.name = name
        self.ctype = ctype

    def __bool__(self) -> bool:
        raise Untraceable("a branch on a value")

    def _arithmetic(self, symbol: str, left: Any, right: Any) -> Self:
        text = self.trace.text
        return self.trace.line(f"{text(left)} {symbol} {text(right)}")  # type: ignore[return-value]  # a line is a symbol

    def _comparison(self, symbol: str, other: Any) -> _Symbol:
        text = self.trace.text
        return self.trace.line(f"{text(self)} {symbol} {text(other)}", "bool")

    def __add__(self, other: Any) -> Any:
        return self._arithmetic("+", self, other)

    def __radd__(self, other: Any) -> Any:
        return self._arithmetic("+", other, self)

    def __sub__(self, other: Any) -> Any:
        return self._arithmetic("-", self, other)

    def __rsub__(self, other: Any) -> Any:
        return self._arithmetic("-", other, self)

    def __mul__(self, other: Any) -> Any:
        return self._arithmetic("*", self, other)

    def __rmul__(self, other: Any) -> Any:
        return self._arithmetic("*", other, self)

    def __truediv__(self, other: Any) -> Any:
        return self._arithmetic("/", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._arithmetic("/", other, self)

    def __pow__(self, other: Any) -> Any:
        if not isinstance(other, _Symbol) and other == 2:
            return self * self
        return self.trace.line(f"pow({self.trace.text(self)}, {self.trace.text(other)})")

    def __rpow__(self, other: Any) -> Any:
        return self.trace.line(f"pow({self.trace.text(other)}, {self.trace.text(self)})")

    def __neg__(self) -> Any:
        return self.trace.line(f"-{self.trace.text(self)}")

    def __eq__(self, other: object) -> Any:
        return self._comparison("==", other)

    def __ne__(self, other: object) -> Any:
        return self._comparison("!=", other)

    def __lt__(self, other: Any) -> Any:
        return self._comparison("<", other)

    def __le__(self, other: Any) -> Any:
        return self._comparison("<=", other)

    def __gt__(self, other: Any) -> Any:
        return self._comparison(">", other)

    def __ge__(self, other: Any) -> Any:
        return self._comparison(">=", other)

    def __and__(self, other: Any) -> Any:
        truth = self.trace.truth
        return self.trace.line(f"{truth(self)} && {truth(other)}", "bool")

    def __or__(self, other: Any) -> Any:
        truth = self.trace.truth
        return self.trace.line(f"{truth(self)} || {truth(other)}", "bool")

    def __invert__(self) -> Any:
        return self.trace.line(f"!{self.trace.truth(self)}", "bool")


class _Array(_Symbol):
    """A symbol that a formula takes for an array: it has a dtype."""

    __slots__ = ()

    @property
    def dtype(self) -> Any:
        return DTYPE


FUNCTIONS = {
    "abs": "fabs({})",
    "acos": "acos({})",
    "acosh": "acosh({})",
    "asin": "asin({})",
    "asinh": "asinh({})",
    "atan": "atan({})",
    "atanh": "atanh({})",
    "cos": "cos({})",
    "cosh": "cosh({})",
    "exp": "exp({})",
    "expm1": "expm1({})",
    "floor": "floor({})",
    "log": "log({})",
    "log1p": "log1p({})",
    "log10": "log10({})",
    "log2": "log2({})",
    "sign": "{0} == {0} ? T(({0} > T(0)) - ({0} < T(0))) : {0}",
    "sin": "sin({})",
    "sinh": "sinh({})",
    "sqrt": "sqrt({})",
    "tan": "tan({})",
    "tanh": "tanh({})",
}
"""Functions of one number: the standard's name, and what it is in C, also of NaN."""


class _Namespace:
    """The standard's functions, of symbols."""

    def __init__(self, trace: _Trace) -> None:
        self._trace = trace

    def __getattr__(self, name: str) -> Callable[[Any], Any]:
        code = FUNCTIONS.get(name)
        if code is None:
            raise Untraceable(f"{name} is not in the list")
        return lambda x: self._trace.line(code.format(self._trace.text(x)))

    def astype(self, x: Any, dtype: Any) -> Any:
        if dtype is not DTYPE or not isinstance(x, _Symbol):
            raise Untraceable("a cast to another dtype")
        return self._trace.line(f"T({x.name})") if x.ctype == "bool" else x

    def isdtype(self, dtype: Any, kind: Any) -> bool:
        if dtype is not DTYPE:
            raise Untraceable("the dtype of something else")
        return bool(kind == "real floating")

    def real(self, x: Any) -> Any:
        return x

    def conj(self, x: Any) -> Any:
        return x

    def where(self, condition: Any, x1: Any, x2: Any) -> Any:
        text = self._trace.text
        return self._trace.line(f"{self._trace.truth(condition)} ? {text(x1)} : {text(x2)}")

    def zeros_like(self, x: Any) -> Any:
        return 0


def trace(formula: Callable[..., Any], saved: Sequence[Any], names: Sequence[str]) -> Traced:
    """Run a formula on symbols.

    Parameters
    ----------
    formula
        A formula of an elementwise row, `formula(xp, g, *saved)`.
    saved
        What stands for each value that it saves: `ARRAY`, `NUMBER`, or the value itself.
    names
        The names in C: of the cotangent, and of each saved value.

    Raises
    ------
    Untraceable
        The formula does what has no line of C.
    """
    tracing = _Trace()
    g = _Array(tracing, names[0])
    arguments = [
        _Array(tracing, name)
        if kind is ARRAY
        else _Symbol(tracing, name)
        if kind is NUMBER
        else kind
        for kind, name in zip(saved, names[1:], strict=True)
    ]
    try:
        result = formula(_Namespace(tracing), g, *arguments)
        return Traced(tracing.lines, tracing.text(result))
    except (AttributeError, TypeError) as error:  # it asks for what a symbol does not have
        raise Untraceable(str(error)) from error
