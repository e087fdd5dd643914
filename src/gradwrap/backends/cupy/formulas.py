"""Formulas of the table, translated to C code for one kernel each.

A formula runs once, on symbols in place of the arrays and of `xp`. Each operation becomes a line of
C in the type `T` of the arrays; Python's numbers become `T` too, so that nothing is computed in
double precision for arrays of single precision. A formula that branches on a value, or calls a
function without a line of C, is not translated.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradwrap.backends.c_expressions import FORMS, power

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Untraceable(Exception):  # noqa: N818  it ends a trace, and is no error
    """The formula contains an operation that has no C code."""


class _Kind:
    """A kind of argument: an array, or a number whose value is known at the call."""


ARRAY, NUMBER = _Kind(), _Kind()
DTYPE = object()
"""Stands for the one dtype of all arrays."""


class Traced(NamedTuple):
    """A formula translated to C."""

    lines: Sequence[str]
    result: str

    @property
    def operations(self) -> int:
        """The number of kernels that the formula would launch without fusion."""
        return len(self.lines)

    def code(self, out: str) -> str:
        """The statements that leave the result in `out`."""
        return " ".join([*self.lines, f"{out} = {self.result};"])


class _Trace:
    """The lines of C so far; repeating an operation on the same values adds no line."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._known: dict[tuple[str, str], _Symbol] = {}

    def perform(
        self, code: str, values: Sequence[Any], takes: str = "T", gives: str = "T"
    ) -> _Symbol:
        """Write the line of an operation on values of C type `takes`, and return its result."""
        code = code.format(*(self.text(value, takes) for value in values))
        known = self._known.get((gives, code))
        if known is None:
            name = f"t{len(self.lines)}"
            self.lines.append(f"const {gives} {name} = {code};")
            known = self._known[gives, code] = _Symbol(self, name, gives)
        return known

    def text(self, value: Any, ctype: str = "T") -> str:
        """Return a value of a C type as an expression."""
        if isinstance(value, _Symbol):
            if value.ctype != ctype:
                raise Untraceable(f"{value.ctype} where {ctype} is needed")
            return value.name
        if ctype == "bool" or type(value) not in (int, float) or not math.isfinite(value):
            raise Untraceable(f"{value!r} has no literal")
        return f"T({value!r})"


def _operator(name: str, takes: str = "T", gives: str = "T", *, swapped: bool = False) -> Any:
    """Make a method that writes the line of an operator."""
    code = FORMS[name, "f" if takes == "T" else "b"].text

    def operate(self: _Symbol, *other: Any) -> Any:
        return self.trace.perform(code, (*other, self) if swapped else (self, *other), takes, gives)

    return operate


class _Symbol:
    """A symbolic value in a traced formula: a number or a truth value for each element."""

    __slots__ = ("ctype", "name", "trace")
    __hash__ = None  # type: ignore[assignment]  # equality is an operation

    def __init__(self, trace: _Trace, name: str, ctype: str = "T") -> None:
        self.trace = trace
        self.name = name
        self.ctype = ctype

    def __bool__(self) -> bool:
        raise Untraceable("a branch on a value")

    __add__ = _operator("add")
    __radd__ = _operator("add", swapped=True)
    __sub__ = _operator("subtract")
    __rsub__ = _operator("subtract", swapped=True)
    __mul__ = _operator("multiply")
    __rmul__ = _operator("multiply", swapped=True)
    __truediv__ = _operator("divide")
    __rtruediv__ = _operator("divide", swapped=True)
    __rpow__ = _operator("power", swapped=True)
    __neg__ = _operator("negative")
    __eq__ = _operator("equal", gives="bool")
    __ne__ = _operator("not_equal", gives="bool")
    __lt__ = _operator("less", gives="bool")
    __le__ = _operator("less_equal", gives="bool")
    __gt__ = _operator("greater", gives="bool")
    __ge__ = _operator("greater_equal", gives="bool")
    __and__ = _operator("bitwise_and", "bool", "bool")
    __or__ = _operator("bitwise_or", "bool", "bool")
    __invert__ = _operator("invert", "bool", "bool")

    def __pow__(self, other: Any) -> Any:
        short = None if isinstance(other, _Symbol) else power(other)
        form = FORMS["power", "f"] if short is None else short
        return self.trace.perform(form.with_numbers_in("T"), (self, other))


class _Array(_Symbol):
    """A symbolic array: unlike other symbols, it has a dtype."""

    __slots__ = ()

    @property
    def dtype(self) -> Any:
        return DTYPE


class _Namespace:
    """The standard's functions on symbols."""

    def __init__(self, trace: _Trace) -> None:
        self._trace = trace

    def __getattr__(self, name: str) -> Callable[..., Any]:
        ufunc: Any = getattr(np, name, None)
        form = FORMS.get((getattr(ufunc, "__name__", ""), "f"))
        if form is None:
            raise Untraceable(f"{name} is not in the table of expressions")
        *_, result = ufunc.resolve_dtypes((*[np.dtype("f8")] * ufunc.nin, None))
        gives = "bool" if result.kind == "b" else "T"
        return lambda *args: self._trace.perform(form.with_numbers_in("T"), args, gives=gives)

    def astype(self, x: Any, dtype: Any) -> Any:
        if dtype is not DTYPE or not isinstance(x, _Symbol):
            raise Untraceable("a cast to another dtype")
        return self._trace.perform("T({0})", (x,), "bool") if x.ctype == "bool" else x

    def isdtype(self, dtype: Any, kind: Any) -> bool:
        if dtype is not DTYPE:
            raise Untraceable("the dtype of something else")
        return bool(kind == "real floating")

    def real(self, x: Any) -> Any:
        return x

    conj = real

    def where(self, condition: Any, x1: Any, x2: Any) -> Any:
        return self._trace.perform(
            f"{self._trace.text(condition, 'bool')} ? {{0}} : {{1}}", (x1, x2)
        )

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
        The formula has an operation that C code cannot express.
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
    except (AttributeError, TypeError) as error:  # it uses an attribute that symbols lack
        raise Untraceable(str(error)) from error
