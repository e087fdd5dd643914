"""SymPy's numbers beside variables: as floats. Tracked ones are never parts of expressions."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from gradwrap.core.calls.general import number_types
from gradwrap.core.levels.wrapper import AnyWrapper, is_recorded, native


def enter_sympy(module: Any) -> None:
    """Let SymPy decline operations with variables, which then take its numbers as floats."""
    sympify: Any = import_module("sympy.core.sympify")

    def decline(value: Any) -> Any:
        if not is_recorded(value):
            return sympify.sympify(native(value))
        raise sympify.SympifyError(type(value).__name__)

    sympify.converter[AnyWrapper] = decline
    number_types.append(module.Expr)
