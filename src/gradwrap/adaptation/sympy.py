"""SymPy's numbers beside variables are floats; tracked numbers in its expressions are symbols.

The symbol of a tracked number is real, and prints itself as a look at the number. So the functions
that `lambdify` writes compute with tracked numbers, and `float` of an expression is such a
function without arguments. A symbol is known as long as the adapted function runs that met it.
"""

from __future__ import annotations

from contextvars import ContextVar
from importlib import import_module
from typing import Any

from gradwrap.adaptation.after_import import exchange
from gradwrap.adaptation.builtin_names import number_readers
from gradwrap.adaptation.exact_numbers import returned
from gradwrap.core.calls.general import number_types
from gradwrap.core.levels.levels import is_differentiating
from gradwrap.core.levels.wrapper import AnyWrapper, is_recorded, native
from gradwrap.core.library.labelled import holders
from gradwrap.errors import TrackedValueError

symbols: ContextVar[dict[int, Any] | None] = ContextVar("gradwrap_symbols", default=None)
"""The tracked numbers in expressions of the running function, by the numbers of their symbols."""
LOOK = "__import__('importlib').import_module('gradwrap.adaptation.sympy').number_of({})"
PRINTED = ("_pythoncode", "_numpycode", "_mpmathcode", "_lambdacode")
"""The methods by which SymPy's printers for Python ask an object for its code."""


def number_of(symbol: int) -> Any:
    """Return the tracked number of a symbol."""
    known = symbols.get()
    if known is None or symbol not in known:
        raise TrackedValueError(
            "an expression of SymPy keeps a tracked number of an earlier call, and has no "
            "derivative now. Fix: make the expression, and the function of it, in each call; or "
            "pass the number as an argument to the function that sympy.lambdify returns."
        )
    return known[symbol]


def _telling(module: Any, symbol: Any) -> Any:
    """Return what lets a relation of tracked numbers be true or false: a branch."""

    def telling(theirs: Any) -> Any:
        def truth(relation: Any) -> bool:
            if relation.free_symbols or not relation.atoms(symbol):
                return bool(theirs(relation))
            return bool(module.lambdify((), relation, "numpy")())

        return truth

    return telling


def enter_sympy(module: Any) -> None:
    """Let tracked numbers be symbols of expressions, and take SymPy's own numbers as floats."""
    sympify: Any = import_module("sympy.core.sympify")

    class TrackedNumber(module.Dummy):  # type: ignore[misc]  # a class of SymPy's
        """The symbol of a tracked number, which no code has to give a value."""

        @property
        def free_symbols(self) -> set[Any]:
            return set()

    def code(symbol: Any, _: Any) -> str:
        return LOOK.format(symbol.dummy_index)

    for name in PRINTED:
        setattr(TrackedNumber, name, code)

    def as_symbol(value: Any) -> Any:
        if not is_recorded(value):
            return sympify.sympify(native(value))
        known = symbols.get()
        if known is None or value.shape or not is_differentiating():
            raise sympify.SympifyError(type(value).__name__)
        made = TrackedNumber("tracked", real=True)
        known[made.dummy_index] = value
        return made

    def number_in(expression: Any) -> Any:
        """Return the tracked number that an expression has; others are returned as they are."""
        if expression.free_symbols or not expression.atoms(TrackedNumber):
            return expression
        return module.lambdify((), expression, "numpy")()

    exchange(module.core.relational.Relational, "__bool__", _telling(module, TrackedNumber))
    number_readers[module.Expr.__float__] = number_in
    sympify.converter[AnyWrapper] = as_symbol
    number_types.append(module.Expr)
    holders.append(lambda value: number_in(value) if isinstance(value, module.Expr) else value)
    returned.append((module.Expr, number_in))
